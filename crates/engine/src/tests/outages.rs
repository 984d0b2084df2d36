//! Tests of lost connections: an outage must be included in the response times of the transactions
//! that were due during the outage.

use super::*;

/// An instant after the end of any run, in nanoseconds.
const NEVER_NS: u64 = u64::MAX;

/// Expected pauses between a client's attempts to reconnect, in milliseconds; the last one repeats.
const PAUSES_MS: [u64; 8] = [10, 20, 40, 80, 160, 320, 640, 1000];

/// Returns the instant at which a client that lost its connection at `lost_ns` is connected again,
/// in nanoseconds.
fn reconnected_ns(lost_ns: u64, outage_ns: &Range<u64>) -> u64 {
    let pauses = PAUSES_MS.iter().chain(std::iter::repeat(&PAUSES_MS[7]));
    let mut attempts = std::iter::once(lost_ns).chain(pauses.scan(lost_ns, |now_ns, pause_ms| {
        *now_ns += pause_ms * NS_PER_MS;
        Some(*now_ns)
    }));
    attempts.find(|now_ns| !outage_ns.contains(now_ns)).expect("an outage ends")
}

fn with_outage(mut job: Job, outage_ns: Range<u64>) -> Job {
    job.groups[0].database = Arc::new(Fake { outage_ns, ..Fake::new(two_ms, no) });
    job
}

/// Expected or measured times and outcome of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Done {
    client: u32,
    nth: u64,
    intended_ns: u64,
    started_ns: u64,
    is_committed: bool,
}

impl Done {
    /// Returns the response time in nanoseconds; `None` if the transaction failed.
    fn response_ns(&self) -> Option<u64> {
        self.is_committed.then(|| self.started_ns + 2 * NS_PER_MS - self.intended_ns)
    }
}

fn done(samples: &[Sample]) -> Vec<Done> {
    let done = |sample: &Sample| {
        let Number::OfClient { client, nth } = sample.slot.number else {
            panic!("these clients have their own")
        };
        assert_eq!(sample.finished_ns - sample.started_ns, 2 * NS_PER_MS);
        let (intended_ns, started_ns) = (sample.slot.intended_ns, sample.started_ns);
        let is_committed = sample.outcome == model::Outcome::Committed;
        Done { client, nth, intended_ns, started_ns, is_committed }
    };
    let mut all: Vec<Done> = samples.iter().map(done).collect();
    all.sort_unstable();
    all
}

/// Computes the transactions of a run with an outage from those of a run without one: the
/// transaction that the outage hits fails, and those that its client could not start until it
/// reconnects wait in a queue.
fn hit(all: &[Done], outage_ns: &Range<u64>) -> Vec<Done> {
    let mut expected: Vec<Done> = Vec::new();
    let mut connected_ns = 0;
    for one in all {
        let previous = expected.last().filter(|previous| previous.client == one.client);
        let free_ns = match previous {
            Some(previous) => previous.started_ns + 2 * NS_PER_MS,
            None => {
                connected_ns = 0;
                0
            }
        };
        let started_ns = one.intended_ns.max(connected_ns).max(free_ns);
        let finished_ns = started_ns + 2 * NS_PER_MS;
        let is_committed = !outage_ns.contains(&finished_ns);
        if !is_committed {
            connected_ns = reconnected_ns(finished_ns, outage_ns);
        }
        let is_late = started_ns > one.intended_ns;
        assert!(!is_late || one.intended_ns < connected_ns, "a case for another test");
        expected.push(Done { started_ns, is_committed, ..*one });
    }
    expected
}

/// Runs a job and returns its transactions, samples, counts, and the age of the oldest unfinished
/// transaction in nanoseconds. Events are not kept, because a run of an hour has too many.
fn watch(mut job: Job) -> (Vec<Done>, Vec<Sample>, Counts, u64) {
    let samples: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let kept = Arc::clone(&samples);
    let sample_hook: SampleHook = Arc::new(move |recorded: &Recorded<'_>| {
        kept.lock().expect("no panics here").push(*recorded.sample);
    });
    job.sample_hook = Some(sample_hook);
    let (mut counts, mut oldest_ns) = (Counts::default(), 0);
    let ran = run(job, &Arc::new(Stop::default()), &mut |now_ns| now_ns, &mut |event| {
        let Event::Second(second) = event else { return };
        counts.add(&second.counts());
        let ages = second.kinds.iter().filter_map(|kind| kind.unfinished.as_ref());
        oldest_ns = ages.map(|ages| ages.max()).fold(oldest_ns, u64::max);
    });
    ran.expect("the made-up database accepts everyone");
    let samples = std::mem::take(&mut *samples.lock().expect("no panics here"));
    (done(&samples), samples, counts, oldest_ns)
}

fn an_hour_of_users() -> Job {
    let mut job = job(Load::KeyThink { scale: 1.0 }, 200, 3600 * NS_PER_S, two_ms);
    let users = Asks::as_users_do(|number| [0, 0, 1, 1, 2][bits_of(number) % 5]);
    job.groups[0].workload = Arc::new(users);
    job
}

#[test]
fn an_outage_of_a_minute_is_in_a_minutes_share_of_an_hour_of_key_think_load() {
    let outage_ns = 1800 * NS_PER_S..1860 * NS_PER_S;
    let (without, ..) = watch(an_hour_of_users());
    let (with, samples, counts, _) = watch(with_outage(an_hour_of_users(), outage_ns.clone()));
    let expected = hit(&without, &outage_ns);
    let differs = with.iter().zip(&expected).find(|(is, should_be)| is != should_be);
    assert_eq!((differs, with.len()), (None, expected.len()));
    // The offered load is the same, and transactions intended in 60 of 3,600 seconds are bad.
    let offered = with.len();
    assert_eq!((offered as u64, offered), (counts.offered(), without.len()));
    let is_good = |one: &&Done| one.response_ns().is_some_and(|ns| ns < 100 * NS_PER_MS);
    let bad = offered - with.iter().filter(is_good).count();
    let share = bad as f64 / offered as f64;
    assert!((share - 60.0 / 3600.0).abs() < 0.001, "{bad} of {offered}");
    // One transaction of each user fails; the others wait. A failed one counts as infinite, so the
    // p99 is among these.
    assert_eq!(counts.failed, 200);
    let mut responses: Vec<u64> =
        with.iter().map(|one| one.response_ns().unwrap_or(u64::MAX)).collect();
    responses.sort_unstable();
    let p99_ns = responses[offered * 99 / 100];
    assert!((20 * NS_PER_S..35 * NS_PER_S).contains(&p99_ns), "{p99_ns}");
    // None of this delay is the generator's fault.
    assert!(samples.iter().all(|sample| sample.lag_ns() == 0));
}

#[test]
fn users_who_are_never_connected_again_leave_what_they_would_have_begun_unfinished() {
    let outage_ns = 1800 * NS_PER_S..7200 * NS_PER_S;
    let (without, ..) = watch(an_hour_of_users());
    let mut job = with_outage(an_hour_of_users(), outage_ns.clone());
    job.phases.drain_ns = 0;
    let (_, _, counts, oldest_ns) = watch(job);
    assert_eq!(counts.failed, 200);
    let is_after = |one: &&Done| outage_ns.contains(&(one.intended_ns + 2 * NS_PER_MS));
    // Their durations are unknown, so they count as nothing: 2 ms of 20 s.
    let expected = without.iter().filter(is_after).count() as u64 - 200;
    assert!(counts.unfinished.abs_diff(expected) < 20, "{counts:?}, not {expected}");
    assert!((1770 * NS_PER_S..=1800 * NS_PER_S).contains(&oldest_ns), "{oldest_ns}");
}

#[test]
fn in_closed_load_an_outage_is_one_slow_transaction_a_client() {
    let outage_ns = 300 * NS_PER_S..360 * NS_PER_S;
    let job = with_outage(job(Load::Closed, 4, 600 * NS_PER_S, two_ms), outage_ns.clone());
    let shown = tell(job);
    assert_eq!((shown.measured.failed, shown.measured.unfinished), (4, 0));
    let slow: Vec<&Sample> = shown.samples.iter().filter(|one| one.wait_ns() > 0).collect();
    assert_eq!(slow.len(), 4);
    for sample in slow {
        let lost_ns = sample.slot.intended_ns;
        assert_eq!(lost_ns, outage_ns.start, "the end of what was under way");
        assert_eq!(sample.started_ns, reconnected_ns(lost_ns, &outage_ns));
        assert_eq!(sample.response_ns(), sample.started_ns - lost_ns + 2 * NS_PER_MS);
    }
    // Each transaction is due when the previous one has ended: clients are busy at every moment.
    for client in 0..4 {
        let is_mine = |number| matches!(number, Number::OfClient { client: c, .. } if c == client);
        let mut at_ns = 0;
        for sample in shown.samples.iter().filter(|sample| is_mine(sample.slot.number)) {
            assert_eq!(sample.slot.intended_ns, at_ns);
            at_ns = sample.finished_ns;
        }
        assert!(at_ns >= 600 * NS_PER_S);
    }
}

#[test]
fn a_closed_client_that_is_never_connected_again_leaves_one_unfinished() {
    let outage_ns = NS_PER_S..1000 * NS_PER_S;
    let shown = tell(with_outage(job(Load::Closed, 3, 10 * NS_PER_S, two_ms), outage_ns.clone()));
    let counts = shown.measured;
    assert_eq!((counts.failed, counts.unfinished), (3, 3));
    assert_eq!(counts.offered(), counts.finished() + 6);
    let ages = shown.events.iter().find_map(|event| match event {
        Event::Second(second) => second.kinds.iter().find_map(|kind| kind.unfinished.clone()),
        _ => None,
    });
    assert_eq!(ages.expect("unfinished").min(), 9 * NS_PER_S);
    // Time after the requested duration does not count as run time.
    let until = |until| {
        let mut job = with_outage(job(Load::Closed, 3, 10 * NS_PER_S, two_ms), outage_ns.clone());
        job.groups[0].stop_condition = until;
        tell(job).measured
    };
    let counted = until(StopCondition::Transactions(1502));
    assert_eq!((counted.offered(), counted.unfinished), (1502, 2), "the third is not asked");
    let each = until(StopCondition::TransactionsPerClient(501));
    assert_eq!((each.offered(), each.unfinished), (1503, 3));
}

#[test]
fn a_load_that_ends_after_its_transactions_ends_a_minute_after_its_server() {
    let mut job = with_outage(job(Load::Closed, 2, 0, two_ms), NS_PER_S..NEVER_NS);
    job.groups[0].stop_condition = StopCondition::Transactions(1_000_000);
    let shown = tell(job);
    let StopReason::Failed { why, .. } = &shown.ran.reason else {
        panic!("{:?}", shown.ran.reason)
    };
    assert!(why.contains("a client could not reconnect for 1m"), "{why}");
    assert_eq!(shown.measured.offered(), shown.measured.finished() + shown.measured.unfinished + 2);
}

#[test]
fn in_open_load_a_client_without_a_connection_takes_nothing_from_the_others() {
    let outage_ns = 5 * NS_PER_S..1000 * NS_PER_S;
    let shown = tell(with_outage(job(open(100.0, 10_000), 2, 10 * NS_PER_S, two_ms), outage_ns));
    let counts = shown.measured;
    let all = arrivals(100.0, 10 * NS_PER_S).len() as u64;
    assert_eq!(counts.offered(), all);
    assert_eq!(counts.failed, 2, "each lost what it had under way");
    assert!(counts.unfinished > 400, "{counts:?}");
}

#[test]
fn users_who_never_pause_are_up_to_date_again_when_they_have_made_up_for_the_outage() {
    let outage_ns = 2 * NS_PER_S..4 * NS_PER_S;
    let job = job(Load::KeyThink { scale: 1.0 }, 2, 10 * NS_PER_S, two_ms);
    let shown = tell(with_outage(job, outage_ns.clone()));
    let connected_ns = reconnected_ns(outage_ns.start, &outage_ns);
    let made_up_ns = connected_ns + (connected_ns - outage_ns.start) + 2 * NS_PER_MS;
    assert!(shown.samples.iter().all(|sample| sample.lag_ns() == 0));
    for sample in shown.samples {
        let is_late = (connected_ns..made_up_ns).contains(&sample.started_ns);
        let wait_ns = if is_late { connected_ns - outage_ns.start } else { 0 };
        assert_eq!(sample.wait_ns(), wait_ns, "{sample:?}");
    }
}

#[test]
fn what_the_ramp_up_leaves_behind_is_timed_beyond_it() {
    fn long(_: u64) -> u64 {
        2_500 * NS_PER_MS
    }
    let mut job = job(Load::Closed, 4, 3 * NS_PER_S, long);
    job.phases.ramp_up_ns = NS_PER_S;
    let shown = tell(job);
    let (mut ramp_up, mut measured) = (Second::new(0, -1), Second::new(0, 0));
    for event in &shown.events {
        let Event::Second(part) = event else { continue };
        if part.second < 0 { ramp_up.add(part) } else { measured.add(part) }
    }
    let sum = |second: &Second, figure: fn(&model::KindSecond) -> u64| -> u64 {
        second.kinds.iter().map(figure).sum()
    };
    // Each client has one transaction from -1 s to 1.5 s, and one from there to 4 s, a second
    // beyond the window.
    assert_eq!(sum(&ramp_up, |kind| kind.carried), 4);
    assert_eq!(sum(&ramp_up, |kind| kind.carried_ns), 4 * 1_500 * NS_PER_MS);
    assert_eq!(ramp_up.kinds[0].carried_max_ns, 2_500 * NS_PER_MS);
    assert_eq!(sum(&measured, |kind| kind.carried_ns), 4 * NS_PER_S);
}

fn with_read_only(mut job: Job, read_only_ns: Range<u64>) -> Job {
    job.groups[0].database = Arc::new(Fake { read_only_ns, ..Fake::new(two_ms, no) });
    job
}

/// Returns the instants, in nanoseconds, at which a client whose statement is rejected at `lost_ns`
/// tries again until one is accepted. Each time it reconnects, and waits 2 ms for the answer.
fn asks_again_ns(lost_ns: u64, read_only_ns: &Range<u64>) -> Vec<u64> {
    let pauses = [0].iter().chain(&PAUSES_MS).chain(std::iter::repeat(&PAUSES_MS[7]));
    let mut answered_ns = lost_ns;
    let mut asks = Vec::new();
    for pause_ms in pauses {
        asks.push(answered_ns + pause_ms * NS_PER_MS);
        answered_ns = asks[asks.len() - 1] + 2 * NS_PER_MS;
        if !read_only_ns.contains(&answered_ns) {
            return asks;
        }
    }
    unreachable!("a pause follows each pause")
}

#[test]
fn a_server_that_takes_no_more_writes_is_left_until_another_one_takes_them() {
    let read_only_ns = 30 * NS_PER_S..32 * NS_PER_S;
    let job = job(Load::Closed, 4, 60 * NS_PER_S, two_ms);
    let shown = tell(with_read_only(job, read_only_ns.clone()));
    assert_eq!(shown.ran.reason, StopReason::Completed);
    let asks = asks_again_ns(30 * NS_PER_S, &read_only_ns);
    assert_eq!(shown.measured.failed, 4 * asks.len() as u64, "one at first, and all but the last");
    // Each rejection is counted in the second in which it occurred.
    let failed_in = |event: &Event| match event {
        Event::Second(second) if second.counts().failed > 0 => Some(second.second),
        _ => None,
    };
    // The first rejected transaction belongs to the second in which it was due.
    let seconds: Vec<i64> = shown.events.iter().filter_map(failed_in).collect();
    assert!(seconds.iter().all(|second| (29..33).contains(second)), "{seconds:?}");
    let errors = |event: &Event| match event {
        Event::Second(second) => second.errors.iter().map(|error| error.count).sum::<u64>(),
        _ => 0,
    };
    assert_eq!(shown.events.iter().map(errors).sum::<u64>(), shown.measured.failed);
    // The transactions of the client cover the outage without a gap.
    let is_first = |number| matches!(number, Number::OfClient { client: 0, .. });
    let mut at_ns = 0;
    for sample in shown.samples.iter().filter(|sample| is_first(sample.slot.number)) {
        assert_eq!(sample.slot.intended_ns, at_ns);
        at_ns = sample.finished_ns;
    }
    let first = shown.samples.iter().filter(|sample| is_first(sample.slot.number));
    let again: Vec<u64> = first
        .map(|sample| sample.started_ns)
        .skip_while(|ns| *ns < 30 * NS_PER_S)
        .take(asks.len())
        .collect();
    assert_eq!(again, asks);
}

#[test]
fn in_open_load_what_arrives_while_writes_are_refused_is_served_late_or_has_failed() {
    let read_only_ns = 5 * NS_PER_S..7 * NS_PER_S;
    let job = job(open(100.0, 10_000), 2, 20 * NS_PER_S, two_ms);
    let shown = tell(with_read_only(job, read_only_ns));
    assert_eq!(shown.ran.reason, StopReason::Completed);
    let counts = shown.measured;
    assert_eq!(counts.offered(), arrivals(100.0, 20 * NS_PER_S).len() as u64);
    assert_eq!((counts.dropped, counts.unfinished), (0, 0));
    assert!((10..30).contains(&counts.failed), "{counts:?}");
    let late = shown.samples.iter().filter(|sample| sample.wait_ns() > NS_PER_S).count();
    assert!(late > 50, "{late}");
}

#[test]
fn a_server_that_never_takes_writes_again_ends_the_run_after_half_a_minute() {
    let job = job(Load::Closed, 4, 60 * NS_PER_S, two_ms);
    let shown = tell(with_read_only(job, 10 * NS_PER_S..NEVER_NS));
    let StopReason::Failed { why, .. } = &shown.ran.reason else {
        panic!("{:?}", shown.ran.reason)
    };
    assert_eq!(why, "every attempt is refused: a standby");
    assert!((40 * NS_PER_S..42 * NS_PER_S).contains(&shown.ran.measured_ns));
}

#[test]
fn a_connection_that_is_closed_while_its_client_thinks_is_made_again_and_nothing_fails() {
    // Two of the three kinds think for 12 s, and the third for 5 s.
    let (without, ..) = watch(an_hour_of_users());
    let mut job = an_hour_of_users();
    job.groups[0].database =
        Arc::new(Fake { idle_limit_ns: 8 * NS_PER_S, ..Fake::new(two_ms, no) });
    let with = tell(job);
    assert_eq!(with.measured.failed, 0);
    assert_eq!(done(&with.samples), without, "each begins when it was to begin");
    let errors = |event: &Event| match event {
        Event::Second(second) => second.errors.iter().map(|error| error.count).sum::<u64>(),
        _ => 0,
    };
    let n_lost = with.ran.n_idle_losses;
    assert_eq!(with.events.iter().map(errors).sum::<u64>(), n_lost);
    assert!(n_lost > without.len() as u64 / 2, "{n_lost} of {}", without.len());
}

#[test]
fn a_transaction_whose_connection_was_closed_and_never_comes_back_is_unfinished() {
    for load in [Load::KeyThink { scale: 1.0 }, open(0.05, 10)] {
        let mut job = job(load, 1, 600 * NS_PER_S, two_ms);
        let users = Asks::as_users_do(|_| 0);
        job.groups[0].workload = Arc::new(users);
        let outage_ns = 0..NEVER_NS;
        let idle_limit_ns = NS_PER_S;
        job.groups[0].database =
            Arc::new(Fake { outage_ns, idle_limit_ns, ..Fake::new(two_ms, no) });
        let shown = tell(job);
        let counts = shown.measured;
        assert_eq!((counts.finished(), counts.failed), (0, 0));
        assert!(counts.unfinished > 10, "{counts:?}");
    }
}
