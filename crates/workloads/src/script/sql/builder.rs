//! The client that executes the sections of a script that build and remove its tables.
//!
//! Not here: the execution of single commands (client).

use std::sync::Arc;

use model::{
    Client, Conversation, DbError, Done, KindIndex, Number, Request, Rng, Stream, TxContext,
};

use super::ROW;
use super::client::{Mode, Progress, Shared, User, last_place, wrong};
use super::compiled::{Build, Type};
use crate::script::pgbench::{Error, Prng, Store, Value, What};
use crate::tx_control::{control, end};

/// Rows that are built in one transaction.
const ROWS_IN_TRANSACTION: i64 = 1_000;
/// Statements that are sent at once.
const STATEMENTS_AT_ONCE: usize = 100;
/// Largest number of repetitions, against slips of the pen.
const TIMES_MAX: i64 = 10_000_000_000;

/// What a builder does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Build,
    Drop,
}

/// A client whose only transaction is all sections that build, or all that remove.
pub(super) struct Builder {
    shared: Arc<Shared>,
    user: User,
    work: Work,
}

impl Builder {
    pub(super) fn new(shared: Arc<Shared>, work: Work) -> Builder {
        Builder { user: User::new(Arc::clone(&shared), 0), shared, work }
    }

    async fn work(&mut self, context: &mut TxContext<'_>) -> Result<(), DbError> {
        let shared = Arc::clone(&self.shared);
        match self.work {
            Work::Drop => {
                for of in &shared.compiled.drops {
                    self.once(context, of).await?;
                }
            }
            Work::Build => {
                for (nth, build) in shared.compiled.builds.iter().enumerate() {
                    // Each section has numbers of its own.
                    let stream = Stream::Data(nth as u16);
                    self.user.prng = Prng::new(Rng::new(shared.seed, stream, 0).bits());
                    match &build.times {
                        None => self.once(context, &build.of).await?,
                        Some(_) => self.repeated(context, build, nth as u16).await?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Executes a section once. Its statements are sent as text, since many of them cannot be
    /// prepared.
    async fn once(&mut self, context: &mut TxContext<'_>, of: &Type) -> Result<(), DbError> {
        self.user.mode = Mode::Simple;
        let mut progress = Progress::default();
        self.user.execute_all(context, of, None, &mut progress).await?;
        match progress.is_open {
            true => Err(wrong(last_place(of), "the section ends within a transaction")),
            false => Ok(()),
        }
    }

    /// Executes a section many times, in transactions of many rows.
    async fn repeated(
        &mut self,
        context: &mut TxContext<'_>,
        build: &Build,
        nth: u16,
    ) -> Result<(), DbError> {
        let of = &build.of;
        let failed = |error: Error| wrong(last_place(of), &format!("times: {}", error.message));
        let user = &mut self.user;
        let times = build.times.as_ref().expect("the section is repeated");
        let times = times.evaluate(&user.variables, &mut user.prng, &mut |_| {}).map_err(failed)?;
        let times = match times {
            Value::Int(times) if (0..=TIMES_MAX).contains(&times) => times,
            other => {
                let why = format!("'{}' is no number of times up to {TIMES_MAX}", other.text());
                return Err(wrong(last_place(of), &why));
            }
        };
        user.mode = Mode::Prepared;
        // Statements of several sections have the same places.
        user.prepared.clear();
        let row = self.shared.compiled.names.lookup(ROW);
        let mut first = 1;
        while first <= times {
            let last = times.min(first + ROWS_IN_TRANSACTION - 1);
            control(context.session(), Request::Begin).await?;
            let built = self.rows(context, of, row, first..=last, nth).await;
            end(context.session(), built.map(|()| Done::Committed)).await?;
            first = last + 1;
        }
        Ok(())
    }

    async fn rows(
        &mut self,
        context: &mut TxContext<'_>,
        of: &Type,
        row: Option<crate::script::pgbench::VariableId>,
        numbers: std::ops::RangeInclusive<i64>,
        nth: u16,
    ) -> Result<(), DbError> {
        let seed = self.shared.seed;
        let user = &mut self.user;
        // Rows that are read back cannot wait for others.
        let is_read = |what: &What| matches!(what, What::Sql(sql) if sql.store != Store::Nothing);
        let is_piped = !of.script.commands.iter().any(|command| is_read(&command.what));
        user.pipeline = is_piped.then(Vec::new);
        for number in numbers {
            // A row depends on its number alone.
            user.prng = Prng::new(Rng::new(seed, Stream::Data(nth), number as u64).bits());
            if let Some(row) = row {
                user.set(row, Value::Int(number));
            }
            user.execute_all(context, of, None, &mut Progress::default()).await?;
            if user.pipeline.as_ref().is_some_and(|piped| piped.len() >= STATEMENTS_AT_ONCE) {
                user.flush(context, last_place(of)).await?;
            }
        }
        if is_piped {
            user.flush(context, last_place(of)).await?;
        }
        user.pipeline = None;
        Ok(())
    }
}

impl Client for Builder {
    fn inputs(&mut self, _number: Number) -> KindIndex {
        0
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        Box::pin(async move {
            self.work(context).await?;
            Ok(Done::Committed)
        })
    }
}
