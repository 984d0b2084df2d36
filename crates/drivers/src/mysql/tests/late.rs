//! Tests of the reply lag (the time that a reply waits in its socket before it is read) with a
//! client that reads late.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use model::{Database, NS_PER_MS, NS_PER_S, ReplyLags, Request, StatementKind};
use rustix::time::{ClockId, clock_gettime};

use super::rude::{OK, hear, opened, say, server, sign_in};
use crate::conformance::{OnLoops, TestSession, block_on, on_io_uring};

/// Limit on the round trips until the lag of a reply is sampled. The kernel's timestamps are on
/// for only 25 ms of each second; this limit is many times the round trips that fit between two
/// such periods.
const ROUND_TRIPS: usize = 1_000_000;

fn unix_ns() -> u64 {
    read_ns(ClockId::Realtime)
}

fn read_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// Recorded reply lags in nanoseconds, each with the instant at which its reply arrived.
#[derive(Default)]
struct Kept {
    arrived_unix_ns: RefCell<u64>,
    recorded: RefCell<Vec<(u64, u64)>>,
    late: RefCell<Vec<u64>>,
    reasons: RefCell<Vec<String>>,
}

impl ReplyLags for Kept {
    fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64> {
        self.arrived_unix_ns.replace(arrived_unix_ns);
        Some(unix_ns() - arrived_unix_ns)
    }

    fn coarse_ns(&self) -> u64 {
        read_ns(ClockId::MonotonicCoarse)
    }

    fn record(&self, lag_ns: u64) {
        self.recorded.borrow_mut().push((*self.arrived_unix_ns.borrow(), lag_ns));
    }

    fn record_late(&self, lag_ns: u64) {
        self.late.borrow_mut().push(lag_ns);
    }

    fn unavailable(&self, why: &str) {
        self.reasons.borrow_mut().push(why.to_owned());
    }
}

/// Sends requests until the lag of a reply is sampled, and reads each reply `late` after it was
/// sent. Returns two instants between which the server sent the sampled reply, and its recorded
/// arrival and lag, all in nanoseconds.
fn ask_late(
    session: &mut TestSession,
    kept: &Kept,
    answered: &mpsc::Receiver<(u64, u64)>,
    late: Duration,
) -> ((u64, u64), (u64, u64)) {
    for _ in 0..ROUND_TRIPS {
        let asked = Request::Text { kind: StatementKind::Read, sql: "ask" };
        session.0.start(asked).expect("it is put out");
        // Sends the request without waiting for the reply. With io_uring, the loop sends it after
        // this poll.
        block_on(poll_fn(|context| {
            let _ = session.0.poll_reply(context, &mut |_| Ok(()));
            Poll::Ready(())
        }));
        block_on(event_loop::yield_now());
        let sent = answered.recv().expect("the server answers");
        let sent_ns = sent.1;
        while unix_ns() < sent_ns + late.as_nanos() as u64 {
            thread::park_timeout(late);
        }
        let reply = block_on(poll_fn(|context| session.0.poll_reply(context, &mut |_| Ok(()))));
        reply.expect("it is answered");
        if let Some(recorded) = kept.recorded.borrow_mut().pop() {
            return (sent, recorded);
        }
    }
    panic!("no reply was sampled: {:?}", kept.reasons.borrow());
}

#[test]
fn a_reply_that_is_read_late_is_reported_as_late_as_it_was() {
    replies_are_as_late_as_they_were();
    on_io_uring(replies_are_as_late_as_they_were);
}

fn replies_are_as_late_as_they_were() {
    let (say_when, answered) = mpsc::channel();
    let port = server(move |stream| {
        sign_in(stream);
        while let Some(asked) = hear(stream) {
            let before_ns = unix_ns();
            say(stream, 1, OK);
            if asked == b"\x03ask" {
                say_when.send((before_ns, unix_ns())).expect("somebody listens");
            }
        }
    });
    let database = Arc::new(OnLoops(opened(port))) as Arc<dyn Database>;
    let mut session = TestSession::connect(&database, &[]);
    let kept = Rc::new(Kept::default());
    session.0.measure_reply_lag(Rc::clone(&kept) as Rc<dyn ReplyLags>);
    // The kernel begins to timestamp packets a moment after it was requested; earlier ones have no
    // timestamp.
    ask_late(&mut session, &kept, &answered, Duration::ZERO);
    for late_ms in [5, 20, 5] {
        let late = Duration::from_millis(late_ms);
        let ((before_ns, after_ns), (arrived_ns, lag_ns)) =
            ask_late(&mut session, &kept, &answered, late);
        let read_ns = arrived_ns + lag_ns;
        assert!((before_ns..=after_ns).contains(&arrived_ns), "it came while it was sent");
        assert!(lag_ns >= late_ms * NS_PER_MS, "{lag_ns} ns of {late_ms} ms");
        assert!(read_ns <= unix_ns(), "it was read before now");
    }
}

#[test]
fn the_lag_is_measured_after_a_reconnect_too() {
    the_lag_is_measured_after_a_reconnect();
    on_io_uring(the_lag_is_measured_after_a_reconnect);
}

fn the_lag_is_measured_after_a_reconnect() {
    let (say_when, answered) = mpsc::channel();
    let port = server(move |stream| {
        sign_in(stream);
        while let Some(asked) = hear(stream) {
            say(stream, 1, OK);
            if asked == b"\x03ask" {
                say_when.send((0, unix_ns())).expect("somebody listens");
            }
        }
    });
    let database = Arc::new(OnLoops(opened(port))) as Arc<dyn Database>;
    let mut session = TestSession::connect(&database, &[]);
    let kept = Rc::new(Kept::default());
    session.0.measure_reply_lag(Rc::clone(&kept) as Rc<dyn ReplyLags>);
    block_on(model::reconnect(session.0.as_mut())).expect("it is let in again");
    ask_late(&mut session, &kept, &answered, Duration::ZERO);
}
