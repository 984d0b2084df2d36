//! Tests of the simulated database through its sessions, with a clock that jumps to the awaited
//! instant.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::{
    Clock, Database, DbErrorKind, Place, Placement, Request, Rng, Row, Statement, StatementId,
    StatementKind, Stream, Target, Value, Woken, query, reconnect,
};

use super::{SimService, WITHOUT_KEY, open, service_draw_ns};
use crate::conformance::{TestSession, block_on, refused};
use crate::{CannotOpen, Opening};

const SEED: u64 = 7;

/// A clock that jumps to the instant for which a session waits.
#[derive(Default)]
struct JumpingClock {
    now_ns: Cell<u64>,
    cut_off: Cell<bool>,
}

impl Clock for JumpingClock {
    fn now(&self) -> u64 {
        self.now_ns.get()
    }

    fn poll_until(&self, _instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        panic!("a statement is waited for through the drain");
    }

    fn poll_through(&self, instant_ns: u64, _context: &mut Context<'_>) -> Poll<Woken> {
        if self.cut_off.get() {
            return Poll::Ready(Woken::Stopped);
        }
        self.now_ns.set(self.now_ns.get().max(instant_ns));
        Poll::Ready(Woken::Due)
    }
}

fn opened(url: &str) -> Arc<dyn Database> {
    let target = Target::parse(url).expect("a valid URL");
    open(&target, Opening { create: false, seed: SEED }).unwrap_or_else(|no| panic!("{url}: {no}"))
}

fn connected(url: &str) -> (TestSession, Rc<JumpingClock>) {
    connected_to(&opened(url), &Rc::default())
}

fn connected_to(
    database: &Arc<dyn Database>,
    clock: &Rc<JumpingClock>,
) -> (TestSession, Rc<JumpingClock>) {
    let statement = |kind| Statement::new("any", kind, "anything".to_owned());
    let statements = [StatementKind::Read, StatementKind::Write].map(statement).into();
    let place = Place { placement: Placement::Simulated, clock: clock.clone(), client: 0 };
    (TestSession(block_on(database.connect(place, statements)).expect("connected")), clock.clone())
}

const READ: u32 = 0;
const WRITE: u32 = 1;

/// Returns the instants, in nanoseconds, at which `n` statements, executed one after the other, are
/// answered.
fn instants(url: &str, n: u64) -> Vec<u64> {
    let (mut session, clock) = connected(url);
    (0..n)
        .map(|_| {
            session.call(READ, &[]).expect("answered");
            clock.now()
        })
        .collect()
}

#[test]
fn a_list_of_services_is_taken_in_order() {
    assert_eq!(instants("sim:?service=list:1ns/2ns/5ns", 4), [1, 3, 8, 9]);
}

#[test]
fn statements_take_the_draws_that_calibration_takes() {
    let service = SimService::Exponential(2e6);
    let mut sum_ns = 0;
    let expect: Vec<u64> = (0..100)
        .map(|n| {
            sum_ns += service_draw_ns(SEED, &service, n);
            sum_ns
        })
        .collect();
    for servers in [0, 1, 4] {
        let url = format!("sim:?service=exponential:2ms&servers={servers}");
        assert_eq!(instants(&url, 100), expect);
    }
}

#[test]
fn sessions_share_the_servers() {
    let database = opened("sim:?service=constant:10ns&servers=2");
    let clock = Rc::default();
    let mut sessions: Vec<TestSession> =
        (0..5).map(|_| connected_to(&database, &clock).0).collect();
    let request = || Request::Text { kind: StatementKind::Read, sql: "" };
    for session in &mut sessions {
        session.0.start(request()).expect("started");
    }
    let done: Vec<u64> = sessions
        .iter_mut()
        .map(|session| {
            let poll = |context: &mut Context<'_>| session.0.poll_reply(context, &mut |_| Ok(()));
            block_on(std::future::poll_fn(poll)).expect("answered");
            clock.now()
        })
        .collect();
    assert_eq!(done, [10, 10, 20, 20, 30]);
}

#[test]
fn any_number_of_servers_is_no_queue() {
    let database = opened("sim:?service=constant:10ns&servers=0");
    let clock = Rc::default();
    let mut sessions: Vec<TestSession> =
        (0..5).map(|_| connected_to(&database, &clock).0).collect();
    for session in &mut sessions {
        session.0.start(Request::Text { kind: StatementKind::Read, sql: "" }).expect("started");
    }
    for session in &mut sessions {
        let poll = |context: &mut Context<'_>| session.0.poll_reply(context, &mut |_| Ok(()));
        block_on(std::future::poll_fn(poll)).expect("answered");
    }
    assert_eq!(clock.now(), 10);
}

#[test]
fn a_stall_stops_every_server() {
    let url = "sim:?service=constant:10ns&stall_at=15ns&stall=100ns";
    assert_eq!(instants(url, 3), [10, 120, 130]);
    assert_eq!(instants("sim:?stall_at=0s&stall=100ns", 2), [100, 100]);
    let unlimited = format!("{url}&servers=0");
    assert_eq!(instants(&unlimited, 3), [10, 120, 130]);
}

#[test]
fn draws_by_key_do_not_depend_on_the_order() {
    let (mut session, clock) = connected("sim:?service=exponential:2ms&draws=key");
    let service = SimService::Exponential(2e6);
    for key in [5, 3, 5, 0] {
        let before_ns = clock.now();
        session.call(READ, &[Value::Int(key)]).expect("answered");
        assert_eq!(clock.now() - before_ns, service_draw_ns(SEED, &service, key as u64));
    }
    let before_ns = clock.now();
    session.call(READ, &[Value::Null]).expect("answered");
    assert_eq!(clock.now() - before_ns, service_draw_ns(SEED, &service, WITHOUT_KEY));
}

#[test]
fn transaction_control_takes_time_only_where_that_is_asked_for() {
    for (options, expect_ns) in [("", 10), ("&transaction_control=statement", 30)] {
        let (mut session, clock) = connected(&format!("sim:?service=constant:10ns{options}"));
        session.ask(Request::Begin).expect("begun");
        session.call(WRITE, &[]).expect("written");
        session.ask(Request::Commit).expect("committed");
        assert_eq!(clock.now(), expect_ns);
        let traffic = session.0.traffic();
        assert_eq!((traffic.writes, traffic.others, traffic.round_trips), (1, 2, 3));
    }
}

#[test]
fn a_read_returns_as_many_rows_as_asked_for() {
    let (mut session, _) = connected("sim:?rows=3");
    let mut seen = Vec::new();
    let call = model::Call { statement: StatementId(READ), values: &[] };
    let visit = &mut |row: &dyn Row| {
        seen.push((row.result_set(), row.int(0)?));
        Ok(())
    };
    let request = Request::Batch(&[call, call]);
    let reply = block_on(query(&mut *session.0, request, visit)).expect("answered");
    assert_eq!(reply.n_rows, 6);
    assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    assert_eq!(session.call(WRITE, &[]).expect("written").n_affected, 1);
}

#[test]
fn statements_of_a_batch_are_served_one_after_the_other() {
    let (mut session, clock) = connected("sim:?service=list:1ns/10ns/100ns&servers=4");
    let call = model::Call { statement: StatementId(WRITE), values: &[] };
    session.ask(Request::Batch(&[call, call, call])).expect("answered");
    assert_eq!(clock.now(), 111);
}

#[test]
fn a_failure_comes_after_its_service_time() {
    let (mut session, clock) = connected("sim:?service=constant:10ns&fail=1:deadlock");
    refused(session.call(WRITE, &[]), DbErrorKind::Deadlock);
    assert_eq!(clock.now(), 10);
    refused(session.call(WRITE, &[]), DbErrorKind::Deadlock);
}

#[test]
fn the_same_seed_fails_the_same_statements() {
    let failed = || -> Vec<bool> {
        let (mut session, _) = connected("sim:?fail=0.1:deadlock");
        (0..1000).map(|_| session.call(WRITE, &[]).is_err()).collect()
    };
    let (one, two) = (failed(), failed());
    assert_eq!(one, two);
    let expect: Vec<bool> = (0..1000)
        .map(|n| {
            let mut rng = Rng::new(SEED, Stream::Sim, n);
            rng.bits();
            stats::unit(rng.bits()) < 0.1
        })
        .collect();
    assert_eq!(one, expect);
}

#[test]
fn a_lost_connection_is_lost_until_it_is_made_anew() {
    let (mut session, clock) = connected("sim:?fail=1:connection_lost&connect=50ns");
    assert_eq!(clock.now(), 50);
    refused(session.call(WRITE, &[]), DbErrorKind::ConnectionLost);
    refused(session.ask(Request::Begin), DbErrorKind::ConnectionLost);
    block_on(reconnect(&mut *session.0)).expect("made again");
    assert_eq!(clock.now(), 100);
    session.ask(Request::Begin).expect("begun");
}

#[test]
fn a_connection_lost_while_committing_leaves_the_outcome_unknown() {
    let url = "sim:?fail=1:connection_lost&transaction_control=statement";
    let (mut session, _) = connected(url);
    refused(session.ask(Request::Commit), DbErrorKind::UnknownCommit);
    refused(session.ask(Request::Begin), DbErrorKind::ConnectionLost);
}

#[test]
fn what_is_cut_off_is_cancelled() {
    let (mut session, clock) = connected("sim:?service=constant:10ns");
    clock.cut_off.set(true);
    refused(session.call(READ, &[]), DbErrorKind::Cancelled);
    let (mut session, _) = connected("sim:");
    session.call(READ, &[]).expect("answered");
    session.0.canceller().cancel();
    refused(session.call(READ, &[]), DbErrorKind::Cancelled);
}

#[test]
fn a_url_that_cannot_be_right_is_reported_with_its_remedy() {
    let check = |url: &str, words: &str| {
        let target = Target::parse(url).expect("a valid URL");
        match open(&target, Opening { create: false, seed: SEED }) {
            Err(CannotOpen::Bad(bad)) => assert!(bad.to_string().contains(words), "{url}: {bad}"),
            _ => panic!("{url} must be bad"),
        }
    };
    check("sim:?servers=many", "not a count");
    check("sim:?service=2ms", "constant:2ms");
    check("sim:?fail=0.1:sunshine", "sunshine");
    check("sim:/somewhere", "no path");
    check("sim:?server=2", "did you mean 'servers'?");
}

/// Tests a session without statements, such as one that inspects the data. It runs in real time, so
/// it must not wait for a simulated connect time: the clock of this test would jump, but a real one
/// would wait for an hour.
#[test]
fn a_session_that_measures_nothing_does_not_wait_for_its_connection() {
    let (_, clock) = connected("sim:?connect=1h");
    assert_eq!(clock.now(), 3_600 * model::NS_PER_S);
    let database = opened("sim:?connect=1h");
    let clock = Rc::new(JumpingClock::default());
    let place = Place { placement: Placement::Simulated, clock: clock.clone(), client: 0 };
    block_on(database.connect(place, Vec::new().into())).expect("connected");
    assert_eq!(clock.now(), 0);
}
