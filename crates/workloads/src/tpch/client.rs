//! Clients of the tests: each executes its sequence of queries and refresh functions.
//!
//! Not here: the sequences (course), and the rows of refresh functions (refresh).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Beginning, Client, Conversation, DbError, DbErrorKind, Done, Fact, Input, KindIndex, Number,
    Producer, ProducerTask, Request, Session, Signal, StatementKind, TxContext, query,
};

use super::Substitution;
use super::course::{Course, RF1, RF2, Role};
use super::queries;
use super::refresh::{self, NOT_EXECUTED, Set, State};
use super::substitution::{self, Parameters};
use crate::tx_control::{control, end};

/// Lets the clients of the throughput test begin when the power test of the same run has ended.
#[derive(Debug, Default)]
pub(super) struct PowerTest {
    has_ended: AtomicBool,
    /// Refresh sets that were used when the power test ended; `None` if its client lost its session
    /// and so does not know them.
    state: Mutex<Option<State>>,
    for_clients: Arc<Signal>,
    for_tasks: Arc<Signal>,
}

impl PowerTest {
    fn end(&self, state: Option<State>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.has_ended.store(true, Ordering::Release);
        self.for_clients.raise();
    }
}

impl Producer for PowerTest {
    fn begin(&self) -> Vec<Box<dyn ProducerTask>> {
        self.has_ended.store(false, Ordering::Release);
        Vec::new()
    }

    fn is_limited(&self) -> bool {
        false
    }

    fn for_clients(&self) -> Arc<Signal> {
        Arc::clone(&self.for_clients)
    }

    fn for_tasks(&self) -> Arc<Signal> {
        Arc::clone(&self.for_tasks)
    }

    fn account(&self) -> Vec<Fact> {
        Vec::new()
    }
}

/// Client that executes the sequence of its role.
pub(super) struct Executor {
    seed: u64,
    scale: f64,
    substitution: Substitution,
    course: Course,
    role: Role,
    power_test: Arc<PowerTest>,
    kind: KindIndex,
    parameters: Parameters,
    /// Whether the current transaction is the last one of the sequence.
    is_last: bool,
    /// Whether the client knows that the power test of the same run has ended.
    follows: bool,
    refresh: Refresh,
}

/// Progress of a client that executes refresh functions.
#[derive(Debug, Default)]
struct Refresh {
    state: State,
    /// Set for the next RF1, generated before the function is due.
    set: Set,
    /// Whether the state was read before.
    has_begun: bool,
    /// Whether `state` may be wrong, because a session was lost, maybe during a commit.
    is_unsure: bool,
    /// Number of sets that were inserted before the last RF1 began; `None` before the first RF1.
    inserted_before: Option<i64>,
}

impl Executor {
    pub(super) fn new(
        (seed, scale, substitution): (u64, f64, Substitution),
        (course, role): (Course, Role),
        power_test: Arc<PowerTest>,
    ) -> Executor {
        let (kind, parameters) = (0, Parameters::new());
        let (is_last, follows) = (false, false);
        let refresh = Refresh::default();
        Executor {
            seed,
            scale,
            substitution,
            course,
            role,
            power_test,
            kind,
            parameters,
            is_last,
            follows,
            refresh,
        }
    }

    async fn execute(&mut self, context: &mut TxContext<'_>) -> Result<Done, DbError> {
        let (kind, scale) = (self.kind, self.scale);
        if kind < RF1 {
            // It takes some microseconds, and a query milliseconds.
            let sql = queries::query(kind).sql(&self.parameters, context.dialect);
            let request = Request::Text { kind: StatementKind::Read, sql: &sql };
            query(context.session(), request, &mut |_| Ok(())).await?;
            return Ok(Done::Committed);
        }
        let done = self.refresh.execute(context.session(), kind, scale).await;
        self.refresh.is_unsure |= done.as_ref().is_err_and(|no| no.kind.breaks_session());
        done
    }
}

impl Refresh {
    /// Reads which sets were used. The first time, deletes those sets that belong to earlier RF1s
    /// whose RF2 was not executed, because a run ended in between, and fails unless `n_needed` sets
    /// are left. `n_needed` is `None` for a client beside which another one does that.
    async fn begin(
        &mut self,
        session: &mut dyn Session,
        scale: f64,
        n_needed: Option<i64>,
    ) -> Result<(), DbError> {
        self.state = State::read(session).await?;
        self.is_unsure = false;
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        if let Some(n_needed) = n_needed {
            self.state.check()?;
            // Read again each time, since a session that only shows transactions does not commit.
            for _ in self.state.deleted..self.state.inserted {
                control(session, Request::Begin).await?;
                let said = refresh::delete(session, self.state, scale).await;
                end(session, said.map(|()| Done::Committed)).await?;
                self.state = State::read(session).await?;
            }
            self.state.check_left(n_needed)?;
        }
        // Generates the text of which comments are parts, which takes a second.
        self.generate(scale);
        Ok(())
    }

    /// Executes a refresh function in a transaction. An RF2 fails without a statement if the RF1
    /// before it has not committed, since it would delete orders in place of which none came.
    async fn execute(
        &mut self,
        session: &mut dyn Session,
        kind: KindIndex,
        scale: f64,
    ) -> Result<Done, DbError> {
        if kind == RF1 {
            // Until it is known, so that an RF1 that fails before it begins counts as failed too.
            self.inserted_before = Some(i64::MAX);
        }
        if std::mem::take(&mut self.is_unsure) {
            self.state = State::read(session).await?;
            self.generate(scale);
        }
        match (kind, self.inserted_before) {
            (RF1, _) => {
                self.state.check_left(1)?;
                self.inserted_before = Some(self.state.inserted);
            }
            (_, Some(before)) if self.state.inserted <= before => {
                return Err(DbError::new(DbErrorKind::Other, NOT_EXECUTED));
            }
            _ => {}
        }
        control(session, Request::Begin).await?;
        let said = match kind {
            RF1 => refresh::insert(session, self.state, &self.set).await,
            _ => refresh::delete(session, self.state, scale).await,
        };
        let done = end(session, said.map(|()| Done::Committed)).await?;
        match kind {
            RF1 => self.state.inserted += 1,
            _ => self.state.deleted += 1,
        }
        Ok(done)
    }

    /// Generates the set of the next RF1, unless it is there.
    fn generate(&mut self, scale: f64) {
        let number = self.state.inserted + 1;
        if self.set.number != number {
            self.set = Set::new(scale, number);
        }
    }
}

impl Client for Executor {
    fn begin<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Option<Beginning<'a>> {
        if matches!(self.role, Role::Stream(_)) {
            return None;
        }
        let scale = self.scale;
        // Of two clients that both repaired, one would fail.
        let is_first = self.role == Role::Power || !self.course.has_power();
        let n_needed = is_first.then(|| self.course.n_sets());
        Some(Box::pin(async move { self.refresh.begin(context.session(), scale, n_needed).await }))
    }

    fn inputs(&mut self, number: Number) -> KindIndex {
        let (nth, length) = (number.nth(), self.course.length(self.role));
        self.kind = self.course.kind(self.role, nth);
        self.is_last = nth + 1 == length;
        match self.kind {
            RF1 => self.refresh.generate(self.scale),
            RF2 => {}
            kind => {
                self.parameters = match self.substitution {
                    Substitution::Validation => substitution::validation(kind, self.scale),
                    Substitution::Drawn => {
                        substitution::drawn(kind, self.scale, &mut number.rng(self.seed))
                    }
                };
            }
        }
        self.kind
    }

    fn take_input(&mut self) -> Input {
        if !self.course.has_power() || self.role == Role::Power || self.follows {
            return Input::Ready;
        }
        if !self.power_test.has_ended.load(Ordering::Acquire) {
            return Input::Later;
        }
        self.follows = true;
        if self.role == Role::Refresh {
            let state = *self.power_test.state.lock().unwrap_or_else(PoisonError::into_inner);
            self.refresh.is_unsure = state.is_none();
            self.refresh.state = state.unwrap_or(self.refresh.state);
            self.refresh.generate(self.scale);
        }
        Input::Ready
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            let done = self.execute(context).await;
            if self.is_last && self.role == Role::Power {
                let Refresh { state, is_unsure, .. } = self.refresh;
                self.power_test.end((!is_unsure).then_some(state));
            }
            done
        })
    }
}
