//! Tests of clients that prepare their connections, and of clients that open several sessions.

use model::{Beginning, FurtherSession, Identity, Sessions};

use super::*;

/// A workload whose clients prepare each connection with the statement [`BEGINS`], and send each
/// transaction over the session that `over` selects.
struct Prepares {
    kinds: Vec<Kind>,
    over: Over,
    n_begun: Arc<AtomicU32>,
}

/// Session over which a transaction is sent.
#[derive(Clone, Copy, PartialEq)]
enum Over {
    Own,
    /// A second session, which the client opens when it begins.
    Second,
    /// A new session for each transaction, which is closed when the transaction has ended.
    Fresh,
}

/// Number of the statement with which clients prepare a connection.
const BEGINS: i64 = 1_000_000;

struct Prepared {
    nth: u64,
    over: Over,
    second: Option<FurtherSession>,
    n_begun: Arc<AtomicU32>,
}

impl Prepares {
    fn new(over: Over) -> Prepares {
        let kind = Kind { name: "only", weight: 1, keying_ns: 0, thinking_ns: 0 };
        Prepares { kinds: vec![kind], over, n_begun: Arc::default() }
    }
}

impl Workload for Prepares {
    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn statements(&self, _: &Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _: Number) -> KindIndex {
        0
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        let n_begun = Arc::clone(&self.n_begun);
        Box::new(Prepared { nth: 0, over: self.over, second: None, n_begun })
    }
}

impl Prepared {
    async fn send(&self, sessions: &mut Sessions) -> Result<(), DbError> {
        let fresh = match self.over {
            Over::Own => None,
            Over::Second => self.second,
            Over::Fresh => Some(sessions.open().await?),
        };
        let session = match fresh {
            Some(fresh) => sessions.further(fresh).expect("it is open"),
            None => sessions.own(),
        };
        let values = [Value::Int(self.nth as i64)];
        let sent = model::execute(session, StatementId(0), &values).await;
        if let (Over::Fresh, Some(fresh)) = (self.over, fresh) {
            sessions.close(fresh);
            assert!(sessions.further(fresh).is_none());
        }
        sent.map(drop)
    }
}

impl Client for Prepared {
    fn begin<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        Some(Box::pin(async move {
            self.n_begun.fetch_add(1, Ordering::SeqCst);
            model::execute(context.session(), StatementId(0), &[Value::Int(BEGINS)]).await?;
            if self.over == Over::Second {
                self.second = Some(context.sessions.open().await?);
            }
            Ok(())
        }))
    }

    fn inputs(&mut self, number: Number) -> KindIndex {
        self.nth = number.nth();
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            self.send(context.sessions).await?;
            Ok(Done::Committed)
        })
    }
}

/// Runs three clients for one second with transactions of 2 ms. Returns how often a connection was
/// prepared, with the result and events of the run.
fn run_conversations(
    over: Over,
    placement: Placement,
    database: Fake,
) -> (u32, Result<(Ran, Vec<Event>), String>) {
    let workload = Prepares::new(over);
    let n_begun = Arc::clone(&workload.n_begun);
    let mut job = job(Load::Closed, 3, NS_PER_S, two_ms);
    job.placement = placement;
    job.groups[0].workload = Arc::new(workload);
    job.groups[0].database = Arc::new(database);
    let mut events = Vec::new();
    let ran = run(job, &Arc::new(Stop::default()), &mut |now| now, &mut |event| events.push(event));
    (n_begun.load(Ordering::SeqCst), ran.map(|ran| (ran, events)).map_err(|no| no.to_string()))
}

/// Returns how many transactions of a run were committed, and how many reading statements its
/// transactions executed.
fn totals(events: &[Event]) -> (u64, u64) {
    let seconds = events.iter().filter_map(|event| match event {
        Event::Second(second) => Some(second),
        _ => None,
    });
    let (mut commits, mut reads) = (0, 0);
    for kind in seconds.flat_map(|second| &second.kinds) {
        commits += kind.commits;
        reads += kind.traffic.reads;
    }
    (commits, reads)
}

#[test]
fn a_connection_is_prepared_once_and_what_that_sends_is_in_no_figure() {
    for placement in [Placement::Simulated, Placement::Thread, Placement::Loop] {
        for over in [Over::Own, Over::Second, Over::Fresh] {
            let (n_begun, ran) = run_conversations(over, placement, Fake::new(two_ms, no));
            let (_, events) = ran.expect("it runs");
            let (commits, reads) = totals(&events);
            assert_eq!(n_begun, 3, "{placement:?}");
            assert!(commits > 0 && commits == reads, "{placement:?}: {commits} {reads}");
            if placement == Placement::Simulated {
                // The last transaction of each client ends with the window, and its commit is in no
                // second of it.
                assert_eq!(commits, 3 * 499);
            }
        }
    }
}

#[test]
fn a_connection_that_broke_is_prepared_again_and_the_others_are_closed_with_it() {
    for over in [Over::Own, Over::Second, Over::Fresh] {
        let outage_ns = 500 * NS_PER_MS..501 * NS_PER_MS;
        let database = Fake { outage_ns, ..Fake::new(two_ms, no) };
        let present = Arc::clone(&database.present);
        let (n_begun, ran) = run_conversations(over, Placement::Simulated, database);
        let (_, events) = ran.expect("it runs");
        let (commits, reads) = totals(&events);
        // Each of three clients loses one transaction, whose statement was already sent.
        assert_eq!((n_begun, reads - commits), (6, 3), "{commits}");
        assert!(commits > 3 * 450);
        assert_eq!(present.now.load(Ordering::SeqCst), 0, "all are closed");
    }
}

#[test]
fn a_client_that_cannot_prepare_its_connection_is_refused() {
    let refuses = |nth, _| (nth == BEGINS as u64).then_some(DbErrorKind::Other);
    let (n_begun, ran) =
        run_conversations(Over::Own, Placement::Simulated, Fake::new(two_ms, refuses));
    assert_eq!(n_begun, 3);
    assert!(ran.expect_err("it cannot begin").contains("as told"));
}

#[test]
fn without_a_connector_there_is_one_session() {
    let database = Fake::new(two_ms, no);
    let clock: Rc<dyn Clock> =
        Rc::new(crate::clock::ThreadClock::new(Origin::now(), Arc::new(Stop::default())));
    let place = Place { placement: Placement::Thread, clock, client: 0 };
    let connecting = database.connect(place, Arc::from(Vec::new()));
    let session = crate::place::threads::block_on(connecting).expect("it accepts everyone");
    let mut sessions = Sessions::single(session);
    let opened = crate::place::threads::block_on(sessions.open());
    assert_eq!(opened.expect_err("it has none").kind, DbErrorKind::Unsupported);
}
