//! Tests of clients that connect before each transaction.

use super::*;

const CONNECT_NS: u64 = 3 * NS_PER_MS;

/// Returns a run of four clients that connect in 3 ms before each transaction, which takes 2 ms.
fn connecting(load: Load, placement: Placement) -> Job {
    let mut job = job(load, 4, NS_PER_S, two_ms);
    job.placement = placement;
    job.groups[0].connections = Connections::PerTransaction;
    job.groups[0].database = Arc::new(Fake { connect_ns: CONNECT_NS, ..Fake::new(two_ms, no) });
    job
}

/// Returns number and sum, in nanoseconds, of the recorded times to connect before a transaction.
fn connects(shown: &WorkerMessage) -> (u64, u128) {
    let of_event = |event: &Event| match event {
        Event::Second(second) => second.connects.as_ref().map(|times| (times.count(), times.sum())),
        _ => None,
    };
    let all = shown.events.iter().filter_map(of_event);
    all.fold((0, 0), |sum, (count, ns)| (sum.0 + count, sum.1 + ns))
}

#[test]
fn connecting_is_apart_from_the_latency_of_closed_load_and_lowers_its_rate() {
    let shown = tell(connecting(Load::Closed, Placement::Simulated));
    // A client needs 5 ms for each transaction.
    // The last commits finish at the very end of the window.
    assert_eq!((shown.measured.committed, shown.commits), (800, 796));
    for sample in &shown.samples {
        assert_eq!((sample.response_ns(), sample.lag_ns(), sample.wait_ns()), (2_000_000, 0, 0));
    }
    assert_eq!(connects(&shown), (800, 800 * u128::from(CONNECT_NS)));
}

#[test]
fn a_due_transaction_waits_for_its_connection() {
    let shown = tell(connecting(open(100.0, 1000), Placement::Simulated));
    assert_eq!(shown.measured.offered(), arrivals(100.0, NS_PER_S).len() as u64);
    for sample in &shown.samples {
        assert_eq!((sample.service_ns(), sample.lag_ns()), (2_000_000, 0));
        assert!(sample.wait_ns() >= CONNECT_NS, "{sample:?}");
    }
    assert_eq!(connects(&shown).0, shown.samples.len() as u64);
}

#[test]
fn what_waits_at_the_end_is_executed_on_new_connections() {
    let shown = tell(connecting(open(1000.0, 1_000_000), Placement::Simulated));
    let offered = arrivals(1000.0, NS_PER_S).len() as u64;
    assert_eq!((shown.measured.committed, shown.measured.unfinished), (offered, 0));
    assert_eq!(connects(&shown).0, offered);
}

#[test]
fn a_count_of_transactions_holds_with_keying_and_thinking_and_a_connection_for_each() {
    let mut job = connecting(Load::KeyThink { scale: 1.0 }, Placement::Simulated);
    job.groups[0].workload = Arc::new(Asks::new(10 * NS_PER_MS, 10 * NS_PER_MS));
    job.groups[0].stop_condition = StopCondition::TransactionsPerClient(20);
    let shown = tell(job);
    assert_eq!(shown.measured.committed, 80);
    assert!(shown.samples.iter().all(|sample| sample.wait_ns() == CONNECT_NS));
}

#[test]
fn an_outage_while_clients_connect_is_in_the_latency_and_nothing_is_lost() {
    for load in [Load::Closed, open(100.0, 1_000_000)] {
        let mut job = connecting(load.clone(), Placement::Simulated);
        let outage_ns = 300 * NS_PER_MS..500 * NS_PER_MS;
        job.groups[0].database =
            Arc::new(Fake { connect_ns: CONNECT_NS, outage_ns, ..Fake::new(two_ms, no) });
        let shown = tell(job);
        let longest = shown.samples.iter().map(Sample::response_ns).max().expect("some");
        assert!(longest >= 190 * NS_PER_MS, "{load:?}: {longest}");
        assert_eq!(shown.measured.unfinished, 0);
        assert_eq!(shown.ran.reason, StopReason::Completed);
        let finished = shown.measured.finished() + shown.measured.failed;
        assert_eq!(shown.measured.offered(), finished);
    }
}

#[test]
fn threads_and_loops_connect_for_each_transaction() {
    for placement in [Placement::Thread, Placement::Loop] {
        let mut job = connecting(Load::Closed, placement);
        job.groups[0].stop_condition = StopCondition::Transactions(100);
        let shown = tell(job);
        assert_eq!(shown.measured.committed, 100, "{placement:?}");
        // A client may have connected when the last transaction is taken by another.
        let (count, ns) = connects(&shown);
        assert!((100..=104).contains(&count), "{placement:?}: {count}");
        assert!(ns >= u128::from(count * CONNECT_NS), "{placement:?}: {ns}");
    }
}
