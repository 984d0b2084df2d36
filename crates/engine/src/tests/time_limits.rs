//! Tests of transactions with a time limit, in virtual time.
//!
//! Not here: their cancellation on threads and event loops, which needs real databases (dbdyno).

use model::Outcome;

use super::*;

/// Returns a service time of 100 s for each fifth statement, and of 2 ms for the others, in
/// nanoseconds.
fn sometimes_long(nth: u64) -> u64 {
    if nth.is_multiple_of(5) { 100 * NS_PER_S } else { 2 * NS_PER_MS }
}

#[test]
fn a_transaction_that_exceeds_its_limit_fails_at_that_instant_and_its_client_goes_on() {
    let mut job = job(Load::Closed, 1, 3600 * NS_PER_S, sometimes_long);
    job.groups[0].workload = Arc::new(Asks { limit_ns: Some(2 * NS_PER_S), ..Asks::new(0, 0) });
    job.groups[0].stop_condition = StopCondition::Transactions(20);
    let database = Arc::new(Fake::new(sometimes_long, no));
    let present = Arc::clone(&database.present);
    job.groups[0].database = database;
    // Its session was cancelled, so it cannot try again with the same one.
    job.retry.on = vec![RetryOn::Kind(DbErrorKind::Timeout)];
    let shown = tell(job);
    let took = |sample: &Sample| sample.finished_ns - sample.started_ns;
    for (nth, sample) in (0_u64..).zip(&shown.samples) {
        // Only even transactions have a limit.
        let is_cut = nth.is_multiple_of(10);
        let expect_ns = if is_cut { 2 * NS_PER_S } else { sometimes_long(nth) };
        assert_eq!(took(sample), expect_ns, "{nth}");
        let expect =
            if is_cut { Outcome::Failed(DbErrorKind::Timeout) } else { Outcome::Committed };
        assert_eq!((sample.outcome, sample.retries), (expect, 0), "{nth}");
    }
    assert_eq!((shown.samples.len(), shown.measured.failed), (20, 2));
    assert_eq!(shown.ran.reason, StopReason::Completed);
    // Cancelled sessions were closed.
    assert_eq!(present.asked.load(Ordering::SeqCst), 20);
    assert_eq!(present.now.load(Ordering::SeqCst), 0);
    let of_second = |event: &Event| match event {
        Event::Second(second) => second.errors.clone(),
        _ => Vec::new(),
    };
    for error in shown.events.iter().flat_map(of_second) {
        assert_eq!((error.count, &error.message[..]), (1, "even timed out after 2 s"));
    }
}
