//! Tests of dips: which seconds are in one, which cause is reported, and which gauges moved.

use super::*;
use crate::fixtures::{Draw, Made};
use crate::report::Report;

/// Second of the measured phase in which the run of [`Made::closed`] has a dip.
const DIP: i64 = 42;

/// Returns the dips of a run in closed load with these gauges: subject, name, usual value and value
/// in the dip.
fn with(gauges: &[(&str, &str, f64, f64)]) -> Vec<Dip> {
    let mut made = Made::closed();
    let names: Vec<(&str, &str)> = gauges.iter().map(|gauge| (gauge.0, gauge.1)).collect();
    made.gauges(&names, &|second, at| match gauges[at] {
        (.., then) if second == DIP => then,
        // Some scatter, so that there is a spread.
        (.., usual, _) => usual * (1.0 + (second % 5) as f64 / 100.0),
    });
    made.fact("cpu", "logical", "2");
    Report::from_tally(&made.tally()).dips
}

fn causes(gauges: &[(&str, &str, f64, f64)]) -> Vec<Cause> {
    let dips = with(gauges);
    assert_eq!(dips.len(), 1, "{dips:?}");
    assert_eq!((dips[0].from_s, dips[0].to_s), (DIP, DIP + 1));
    dips[0].causes.iter().map(|seen| seen.cause).collect()
}

const LOCK: (&str, &str, f64, f64) = ("database", "sessions/lock", 0.2, 5.0);
const QUIET: (&str, &str, f64, f64) = ("database", "sessions/executing", 1.0, 1.0);

#[test]
fn a_dip_without_gauges_has_no_cause_and_tells_how_deep_it_is() {
    let dips = with(&[]);
    let ratio = dips[0].rate_ratio.expect("closed load has a rate of its own");
    assert!((0.6..0.75).contains(&ratio), "{ratio}");
    assert_eq!((dips[0].causes.as_slice(), dips[0].moved.as_slice()), (&[][..], &[][..]));
}

#[test]
fn what_takes_most_of_the_clients_time_is_named_first() {
    assert_eq!(causes(&[LOCK, QUIET]), [Cause::Locks]);
    let less = ("database", "sessions/latch", 0.1, 2.0);
    assert_eq!(causes(&[less, LOCK]), [Cause::Locks, Cause::Latches]);
    let more = ("database", "sessions/latch", 0.1, 7.0);
    assert_eq!(causes(&[more, LOCK]), [Cause::Latches, Cause::Locks]);
}

#[test]
fn what_most_sessions_waited_for_is_named_with_a_lock() {
    let on = |name, then| ("database", name, 0.0, then);
    let [stock, warehouse] =
        [("lock_waits/stock.PRIMARY", 1.0), ("lock_waits/warehouse.PRIMARY", 4.0)];
    let words = |gauges: &[(&str, &str, f64, f64)]| {
        let dips = with(gauges);
        let is_listed = |moved: &Moved| moved.gauge.starts_with(LOCK_WAITS);
        assert!(!dips[0].moved.iter().any(is_listed), "it is named already");
        dips[0].words(dips[0].causes[0].cause)
    };
    let both = [LOCK, on(stock.0, stock.1), on(warehouse.0, warehouse.1)];
    assert_eq!(words(&both), "sessions waited for locks on warehouse.PRIMARY");
    // Most sessions waited for something that the server does not name.
    assert_eq!(words(&both[..2]), "sessions waited for locks");
    assert_eq!(words(&[LOCK]), "sessions waited for locks");
}

/// A gauge: subject, name, and value by second.
type Gauged<'g> = (&'g str, &'g str, &'g dyn Fn(i64) -> f64);

/// Returns the dips of a run in closed load with the given commits in each second, one long
/// transaction (second, nanoseconds), and gauges.
fn minute(commits: &dyn Fn(i64) -> u64, long: Option<(i64, u64)>, gauges: &[Gauged]) -> Vec<Dip> {
    let mut made = Made::closed();
    for second in made.seconds.iter_mut().filter(|second| second.second >= 0) {
        let n = commits(second.second);
        second.commits_tenths = [(n / 10) as u32; 10];
        second.kinds.iter_mut().for_each(|kind| kind.commits = 0);
        second.kinds[0].commits = n;
        let long = long.filter(|(at, _)| *at == second.second);
        if let (Some((_, ns)), Some(times)) = (long, &mut second.kinds[0].response) {
            times.record_n(ns, 1);
        }
    }
    let names: Vec<(&str, &str)> = gauges.iter().map(|gauge| (gauge.0, gauge.1)).collect();
    let scatter = |second: i64| 1.0 + (second % 5) as f64 / 99.0;
    made.gauges(&names, &|second, at| gauges[at].2(second) * scatter(second));
    made.fact("cpu", "logical", "2");
    Report::from_tally(&made.tally()).dips
}

#[test]
fn one_client_that_waits_long_for_a_lock_is_found_where_commits_hardly_fall() {
    let lock = |second: i64| if (20..22).contains(&second) { 0.9 } else { 0.1 };
    let gauges: [Gauged; 1] = [("database", "sessions/lock", &lock)];
    let dips = minute(&|_| 200, Some((20, 2_000_000_000)), &gauges);
    assert_eq!(dips.len(), 1, "{dips:?}");
    assert_eq!((dips[0].from_s, dips[0].to_s), (20, 22));
    assert!(dips[0].longest_ms.is_some_and(|ms| ms > 1_900.0), "{dips:?}");
    let causes: Vec<Cause> = dips[0].causes.iter().map(|seen| seen.cause).collect();
    assert_eq!(causes, [Cause::Locks]);
    // Without locks there is no cause, and without a long transaction no dip.
    let none: [Gauged; 1] = [("database", "sessions/lock", &|_| 0.1)];
    assert_eq!(minute(&|_| 200, Some((20, 2_000_000_000)), &none)[0].causes, []);
    assert_eq!(minute(&|_| 200, None, &gauges), []);
}

#[test]
fn commits_that_wait_while_a_cluster_changes_or_pauses_wait_for_its_nodes() {
    let commits = |second: i64| if (20..23).contains(&second) { 5 } else { 200 };
    let leaps = |usual: f64, then: f64| {
        move |second: i64| if (20..23).contains(&second) { then } else { usual }
    };
    let first = |gauges: &[Gauged]| minute(&commits, None, gauges)[0].causes[0].cause;
    let waits = leaps(0.5, 7.0);
    let waits: Gauged = ("database", "sessions/commit", &waits);
    let flushed = leaps(10.0, 5_000.0);
    let flushed: Gauged = ("database", "Innodb_buffer_pool_pages_flushed", &flushed);
    assert_eq!(first(&[waits]), Cause::Disk);
    assert_eq!(first(&[waits, flushed]), Cause::Checkpoint);
    // The test function scatters values; a size of 0 stays.
    let lost = |second: i64| if second < 21 { 3.0 } else { 0.0 };
    let lost: Gauged = ("database", "wsrep_cluster_size", &lost);
    assert_eq!(first(&[waits, lost]), Cause::Replication);
    assert_eq!(first(&[waits, flushed, lost]), Cause::Replication);
    let paused = leaps(1e6, 8e8);
    let paused: Gauged = ("database", "wsrep_flow_control_paused_ns", &paused);
    assert_eq!(first(&[waits, paused]), Cause::Replication);
    let quiet: Gauged = ("database", "wsrep_flow_control_paused_ns", &|_| 1e6);
    assert_eq!(first(&[waits, quiet]), Cause::Disk);
}

#[test]
fn what_leaps_while_commits_fall_makes_a_dip_among_seconds_that_scatter() {
    // From 120 to 300 commits/s, and 100 where a gauge leaps.
    let commits = |second: i64| match second {
        20..23 => 100,
        _ => 120 + 20 * (second as u64 * 7 % 10),
    };
    let leaps = |usual: f64, then: f64| {
        move |second: i64| if (20..23).contains(&second) { then } else { usual }
    };
    let rows = leaps(100.0, 1e7);
    let work: Gauged = ("database", "sessions/executing", &leaps(1.0, 3.0));
    let rows: [Gauged; 2] = [("database", "database_tup_returned", &rows), work];
    let dips = minute(&commits, None, &rows);
    assert_eq!((dips.len(), dips[0].from_s, dips[0].to_s), (1, 20, 23), "{dips:?}");
    assert_eq!(dips[0].causes[0].cause, Cause::RowsRead);
    assert_eq!(minute(&commits, None, &[work]), []);
}

#[test]
fn a_round_trip_that_takes_longer_while_others_have_the_cpus_is_no_network() {
    let network = ("database", "round_trip", 0.112, 0.171);
    let others = ("machine", "cpu_user", 30.0, 95.0);
    let ours = ("server", "cpu_user", 50.0, 40.0);
    let delay = ("server", "run_delay", 100.0, 1_500.0);
    let server = ("generator", "cpu_user", 10.0, 8.0);
    assert!(!causes(&[network, others, ours, server, delay]).contains(&Cause::Network));
    let far = ("database", "round_trip", 0.112, 40.0);
    assert!(causes(&[far, others, ours, server, delay]).contains(&Cause::Network));
}

#[test]
fn a_stop_that_is_shorter_than_a_second_is_named_before_what_it_makes_wait() {
    // Half a second of a usual CPU time of 80 %.
    let [answer, cpu] =
        [("database", "session_query", 3.0, 950.0), ("server", "cpu_user", 80.0, 40.0)];
    let first = |gauges: &[(&str, &str, f64, f64)]| causes(gauges).first().copied();
    assert_eq!(first(&[LOCK, answer, cpu]), Some(Cause::ServerStopped));
    // It answers late but keeps working; or it answers in time.
    let busy = ("server", "cpu_user", 80.0, 80.0);
    assert_eq!(first(&[LOCK, answer, busy]), Some(Cause::Locks));
    let soon = ("database", "session_query", 3.0, 60.0);
    assert_eq!(first(&[LOCK, soon, cpu]), Some(Cause::Locks));
}

#[test]
fn deadlocks_are_reported_with_the_locks_that_they_make() {
    let quiet = ("database", "database_deadlocks", 0.0, 0.0);
    let words = |gauges: &[(&str, &str, f64, f64)]| {
        let dips = with(gauges);
        dips[0].words(dips[0].causes[0].cause)
    };
    assert_eq!(words(&[LOCK, quiet]), "sessions waited for locks");
    let found = ("database", "database_deadlocks", 0.0, 2.0);
    assert_eq!(words(&[LOCK, found]), "sessions waited for locks, with 2 deadlocks");
    let latches = ("database", "sessions/latch", 0.1, 7.0);
    assert_eq!(words(&[latches, found]), Cause::Latches.words());
}

#[test]
fn files_are_waited_for_because_of_a_checkpoint_or_not() {
    let waits = ("database", "sessions/commit", 0.5, 5.0);
    assert_eq!(causes(&[waits, ("database", "sessions/io", 0.0, 0.0)]), [Cause::Disk]);
    let flushed = ("database", "Innodb_buffer_pool_pages_flushed", 20.0, 9_000.0);
    assert_eq!(causes(&[waits, flushed]), [Cause::Checkpoint]);
}

#[test]
fn a_checkpoint_that_takes_cpu_time_from_the_sessions_is_named() {
    let written = ("database", "bgwriter_buffers_checkpoint", 0.0, 134_214.0);
    let waits = [("database", "sessions/commit", 0.2, 0.5), QUIET];
    let delay = ("server", "run_delay", 750.0, 2_750.0);
    assert_eq!(causes(&[written, waits[0], waits[1], delay]), [Cause::Checkpoint]);
    let none = ("server", "run_delay", 750.0, 750.0);
    assert_eq!(causes(&[written, waits[0], waits[1], none]), []);
    let at_work = ("database", "sessions/executing", 1.0, 3.0);
    assert_eq!(causes(&[written, waits[0], at_work, none]), [Cause::Checkpoint]);
    let no_pages = ("database", "bgwriter_buffers_checkpoint", 0.0, 0.0);
    assert_eq!(causes(&[no_pages, waits[0], waits[1], delay]), []);
}

#[test]
fn a_slow_disk_is_named_where_a_server_does_not_say_that_it_waits_for_files() {
    let executing = ("database", "sessions/executing", 1.0, 7.0);
    let io = ("database", "sessions/io", 0.0, 0.0);
    let commit = ("database", "sessions/commit", 0.0, 0.0);
    let cpu = ("server", "cpu_user", 80.0, 10.0);
    let disk = ("machine", "disk_latency/vda", 3.0, 90.0);
    assert_eq!(causes(&[executing, io, commit, cpu, disk]), [Cause::Disk]);
    let flushed = ("database", "Innodb_buffer_pool_pages_flushed", 20.0, 9_000.0);
    assert_eq!(causes(&[executing, io, commit, cpu, disk, flushed]), [Cause::Checkpoint]);
    // All of them have a CPU, or wait for one.
    let delay = ("server", "run_delay", 100.0, 5_000.0);
    let busy = ("server", "cpu_user", 80.0, 200.0);
    assert_eq!(causes(&[executing, io, commit, busy, delay, disk]), []);
    let quick = ("machine", "disk_latency/vda", 3.0, 3.0);
    assert_eq!(causes(&[executing, io, commit, cpu, quick]), []);
}

#[test]
fn other_programs_matter_as_far_as_ours_waited_for_a_cpu() {
    let machine = ("machine", "cpu_user", 50.0, 98.0);
    let ours = ("generator", "cpu_user", 40.0, 20.0);
    let server = ("server", "cpu_user", 60.0, 30.0);
    assert_eq!(causes(&[machine, ours, server]), [], "nobody waited");
    let delay = ("server", "run_delay", 100.0, 4_000.0);
    assert_eq!(causes(&[machine, ours, server, delay]), [Cause::OtherCpuLoad]);
    // With CPUs that are always busy, other programs take all that these lose, and no more threads
    // wait.
    let always = ("server", "run_delay", 2_000.0, 2_000.0);
    assert_eq!(causes(&[machine, ours, server, always]), [Cause::OtherCpuLoad]);
    let as_usual = [("generator", "cpu_user", 40.0, 40.0), ("server", "cpu_user", 60.0, 60.0)];
    assert_eq!(causes(&[machine, as_usual[0], as_usual[1], always]), [], "nothing was lost");
}

#[test]
fn rows_and_round_trips_are_told_by_how_many_there_are_of_each_transaction() {
    let rows = ("database", "Handler_read_rnd_next", 4_000.0, 900_000.0);
    let executing = ("database", "sessions/executing", 1.0, 7.0);
    assert_eq!(causes(&[rows, executing]), [Cause::RowsRead]);
    // Twice as many are not another plan.
    let rows = ("database", "Handler_read_rnd_next", 4_000.0, 5_000.0);
    assert_eq!(causes(&[rows, executing]), []);
    // The usual number of rows, of transactions that do not end, is not another plan either.
    let rows = ("database", "Handler_read_rnd_next", 4_000.0, 20.0);
    assert_eq!(causes(&[rows, executing]), []);
    // Nor are a few more per second, however few the transactions.
    assert_eq!(causes(&[("database", "Handler_read_rnd_next", 4_000.0, 5_500.0), executing]), []);
    // Some microseconds more come from a busier machine.
    assert_eq!(causes(&[("database", "round_trip", 0.113, 0.134)]), []);
    assert_eq!(causes(&[("database", "round_trip", 0.1, 5.0)]), [Cause::Network]);
}

#[test]
fn a_server_without_cpu_time_stands_still_if_it_does_not_answer() {
    let cpu = ("server", "cpu_user", 80.0, 1.0);
    assert_eq!(
        causes(&[cpu, ("database", "sessions/executing", 1.0, f64::NAN)]),
        [Cause::ServerStopped]
    );
    assert_eq!(causes(&[cpu, QUIET]), [], "it may have nothing to do");
}

/// Returns the dips of a run in closed load with these gauges, whose values depend on second and
/// gauge index; a value that is not finite stands for a missing reading.
fn dips_of(gauges: &[(&str, &str)], value: &dyn Fn(i64, usize) -> f64) -> Vec<Dip> {
    let mut made = Made::closed();
    made.gauges(gauges, value);
    Report::from_tally(&made.tally()).dips
}

#[test]
fn with_too_few_seconds_to_compare_with_nothing_is_known() {
    let known_since = |from: i64| {
        let value = |second, _| match second {
            DIP => 5.0,
            second if second < from => f64::NAN,
            _ => 0.2,
        };
        let dips = dips_of(&[("database", "sessions/lock")], &value);
        (
            dips[0].n_stretches,
            dips[0].seconds_lacking() > 0,
            dips[0].causes.len(),
            dips[0].moved.len(),
        )
    };
    assert_eq!(known_since(51), (Some(9), false, 1, 1));
    assert_eq!(known_since(52), (Some(8), true, 0, 0));
}

#[test]
fn what_takes_half_of_the_clients_time_is_named_where_the_usual_varies() {
    // Five robust standard deviations above 2 are more than all clients.
    let causes_of = |then: f64, highest: f64| {
        let value = |second: i64, _| match second {
            DIP => then,
            7 => highest,
            _ => [0.0, 2.0, 4.0][second as usize % 3],
        };
        let dips = dips_of(&[("database", "sessions/lock")], &value);
        dips[0].causes.iter().map(|seen| seen.cause).collect::<Vec<_>>()
    };
    assert_eq!(causes_of(8.0, 5.0), [Cause::Locks]);
    assert_eq!(causes_of(8.0, 8.0), [], "it is as high elsewhere");
    assert_eq!(causes_of(5.5, 5.0), [], "it takes less than half");
}

#[test]
fn rows_of_a_few_transactions_are_named_and_listed_before_traffic_of_others() {
    let gauges = [
        ("database", "Handler_read_next"),
        ("machine", "net_in/eth0"),
        ("database", "sessions/executing"),
        ("database", "Innodb_row_lock_waits"),
    ];
    let value = |second: i64, at: usize| {
        let [usual, then] = [[4e3, 9e4], [1e2, 9e5], [1.0, 1.0], [2.0, 9.0]][at];
        if second == DIP { then } else { usual * (1.0 + (second % 5) as f64 / 100.0) }
    };
    let dips = dips_of(&gauges, &value);
    assert_eq!(dips[0].causes[0].cause, Cause::RowsRead);
    let longer = 1.0 - dips[0].rate_ratio.expect("a rate");
    assert!((dips[0].causes[0].share - longer).abs() < 0.05, "{dips:?}");
    let names: Vec<&str> = dips[0].moved.iter().map(|moved| moved.gauge.as_str()).collect();
    let rows = [ROWS_READ_EACH, "database.Handler_read_next", ROWS_READ];
    assert_eq!(names[..3], rows);
    assert_eq!(names[3..], ["database.Innodb_row_lock_waits", "machine.net_in/eth0"]);
}

/// Checks the rate of false causes. Sessions are sampled some times per second: eight clients wait
/// for a lock for a part of the time, also in a dip with another cause.
#[test]
fn locks_that_are_waited_for_as_always_are_seldom_a_cause() {
    let mut draw = Draw(5);
    for waiting in [10, 30, 50] {
        let mut sampled = || {
            let waits = (0..5 * 8).filter(|_| draw.next(100) < waiting).count();
            waits as f64 / 5.0
        };
        let n_named = (0..1_000).filter(|_| {
            let drawn: Vec<f64> = (0..20).map(|_| sampled()).collect();
            let gauge = ("database.sessions/lock".to_owned(), (String::new(), drawn));
            let is_dip = (0..20).map(|second| second == 12).collect();
            let machine = MachineOfServer {
                gauges: "machine.".to_owned(),
                processors: None,
                has_generator: true,
            };
            let series = Series { is_dip, all: [gauge].into(), machine };
            let stretch = super::causes::Stretch {
                series: &series,
                within: 12..13,
                clients: 8.0,
                rate: 1.0,
                usual_rate: 2.0,
                is_long: false,
                round_trips: None,
            };
            !stretch.causes().is_empty()
        });
        let n_named = n_named.count();
        assert!(n_named <= 10, "{n_named} of 1,000, waiting for {waiting} % of the time");
    }
}

#[test]
fn what_is_as_high_at_other_times_is_no_cause() {
    let value = |second: i64, _| if second % 6 == 0 { 5.0 } else { 0.2 };
    let dips = dips_of(&[("database", "sessions/lock")], &value);
    assert_eq!((dips.len(), dips[0].causes.as_slice()), (1, &[][..]));
}
