//! Settles a database: makes it do its pending background work (such as purging old row versions,
//! or a checkpoint) now, waits until it is done, and measures that.
//!
//! Not here: the steps for each product (drivers: `Settling`), and when to settle (run, the command
//! line).

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::Stop;
use model::finding_catalog::catalog_entry;
use model::{
    Database, DbError, DbErrorKind, Event, Fact, Finding, NothingLeft, Row, Settling,
    SettlingLevel, SettlingStep, Severity, Target, Value, did_you_mean, format_count,
    format_duration, numbers,
};
use monitor::{CounterSession, wall_clock};

use crate::admin_session::{AdminSession, cut_off};
use crate::error::Error;
use crate::open::{OpenTarget, Opened};
use crate::settings::{Momentary, restore_command, with_user};
use crate::watcher::Watcher;

mod settled;

pub use settled::{Incomplete, Settled, StepDone};

/// Time after the limit of settling within which the server must answer, or settling fails: as long
/// as a connect.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Interval at which the remaining work of a settling step is read.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Time after which settling gives up a step whose remaining work does not fall any more
/// (HammerDB's rule).
const FROZEN: Duration = Duration::from_secs(10);

/// Number of readings without progress after which settling asks the server whether work is left.
const STILL_LOOKS: u32 = 4;

/// Advice if other sessions commit while the database is settled.
const END_OTHERS: &str = "End the other sessions.";

/// Length of the latest period over which the pace of the work is measured, to estimate the
/// remaining time.
const PACE_OVER: Duration = Duration::from_secs(3);
/// Rate of commits per second above which other sessions count as still working (HammerDB's rule).
const COMMITS_PER_S: f64 = 100.0;
/// Name of the settling step that comes before the driver's own steps: waiting for other sessions.
const WAIT: &str = "wait";
/// Name of the commit rate, which falls during the settling step [`WAIT`].
const COMMIT_RATE: &str = "commits_per_s";
/// Time after which PostgreSQL's checkpointer has added its writes to the server's statistics.
const COUNTED_WITHIN: Duration = Duration::from_millis(500);
/// Period over which a server's commits are counted to get a rate.
const COUNTED_OVER: Duration = Duration::from_secs(1);

/// Arguments of settling (bringing a database to rest): server, tables and time limit.
pub struct ToSettle<'a> {
    pub(crate) database: &'a dyn Database,
    /// Target to connect to; of a `managed:` target, that of the started server.
    pub(crate) target: &'a Target,
    /// Names of the tables that the workloads use.
    pub(crate) tables: Vec<String>,
    /// Path of the store with the restore journal; `None` for a server that ends with the run.
    pub(crate) journal: Option<&'a Path>,
    /// Time limit of all settling steps together.
    pub(crate) limit: Duration,
}

impl<'a> ToSettle<'a> {
    /// Creates the arguments for settling the data of one workload at an open target. `store` has
    /// the restore journal.
    pub fn new(
        open_target: &'a OpenTarget,
        target: &'a Target,
        opened: &'a Opened,
        store: &'a Path,
        limit: Duration,
    ) -> ToSettle<'a> {
        let server = open_target.server.as_ref();
        ToSettle {
            database: opened.database.as_ref(),
            target: server.map_or(target, |server| &server.target),
            tables: tables_of(std::slice::from_ref(opened)),
            journal: server.is_none().then_some(store),
            limit,
        }
    }
}

/// Returns the names of the workloads' tables, each once.
pub(crate) fn tables_of(groups: &[Opened]) -> Vec<String> {
    let populations = groups.iter().filter_map(|opened| opened.workload.population());
    let tables = populations.flat_map(|population| population.tables());
    let all: BTreeSet<String> = tables.map(|table| table.name.to_string()).collect();
    all.into_iter().collect()
}

/// Target, tables and journal for settling steps that a disturbance executes during the load.
pub(crate) struct SettlingAt {
    /// Target to connect to; of a `managed:` target, that of the started server.
    pub(crate) target: Target,
    /// Names of the tables that the load uses.
    pub(crate) tables: Vec<String>,
    /// Path of the store with the restore journal; `None` for a server that ends with the run.
    pub(crate) journal: Option<PathBuf>,
}

impl SettlingAt {
    /// Finds a settling step by name. The error for an unknown one lists the steps that exist.
    pub(crate) fn step(
        &self,
        database: &dyn Database,
        name: &str,
    ) -> Result<&'static SettlingStep, String> {
        let facts = database.facts().map_err(|db_error| db_error.to_string())?;
        let settling = settling_of(database, &facts).map_err(|error| error.to_string())?;
        settling.steps.iter().find(|step| step.name == name).ok_or_else(|| {
            let names: Vec<&str> = settling.steps.iter().map(|step| step.name).collect();
            let hint = did_you_mean(name, names.iter().copied());
            let known = names.join(", ");
            format!("{} has no step '{name}' of settling{hint}; it has: {known}", self.target)
        })
    }
}

/// Returns the finding that settling failed, so that it is unknown whether work is left.
pub(crate) fn not_done(when: &str, error: &Error) -> Event {
    not_settled(when, &format!("{error}."))
}

/// Returns the finding that the database was not at rest `when`, such as `before the load`.
fn not_settled(when: &str, why: &str) -> Event {
    let observed = format!("Not at rest {when}: {why}");
    Event::Finding(Finding::from_catalog("not_settled", Severity::Warning, observed))
}

/// Returns a note that settings of the server (`in_force`) differ from the values advised for
/// loads; `None` if none does.
pub(crate) fn not_advised(settling: &Settling, in_force: &[(String, String)]) -> Option<Event> {
    let differs = |(name, advised): &(&str, &str)| {
        let (_, value) = in_force.iter().find(|(known, _)| known == name)?;
        (value != advised).then(|| format!("{name} is {value} (advised: {advised})"))
    };
    let differ: Vec<String> = settling.advised.iter().filter_map(differs).collect();
    let known = catalog_entry("settings_not_advised").expect("it is in the list of all");
    let observed = format!("{}.", differ.join(", "));
    let advice = match differ.as_slice() {
        [_] => known.advice.replacen("Set them", "Set it", 1),
        _ => known.advice.to_owned(),
    };
    let finding = Finding::with_advice(known.id, Severity::Note, observed, &advice);
    (!differ.is_empty()).then_some(Event::Finding(finding))
}

/// Returns the settling steps of a database, chosen by its facts. Fails if there are none for it.
pub(crate) fn settling_of(database: &dyn Database, facts: &[Fact]) -> Result<Settling, Error> {
    (database.administration().settling)(facts)
        .map_err(|why| Error::Usage(format!("settle: {why}; leave out --settle")))
}

/// Reads the facts of a database, and returns its settling steps. Fails if there are none for it.
pub fn settling_at(to_settle: &ToSettle<'_>) -> Result<Settling, Error> {
    settling_of(to_settle.database, &to_settle.database.facts()?)
}

/// Settles a database: executes all steps until they are done, the limit is reached, or the user
/// stops. Returns what was done and what is left.
pub fn settle(
    to_settle: &ToSettle<'_>,
    settling: &Settling,
    stop: &Stop,
    watcher: &mut dyn Watcher,
) -> Result<Settled, Error> {
    let is_over = || stop.is_asked();
    let mut doing = |text: &str| watcher.doing(text);
    let work = Work::new(to_settle, &is_over, &mut doing)?;
    // Otherwise a lost server would be awaited as long as creating an index may take.
    let (late, cancel) = (work.until + ANSWER_LIMIT, work.session.canceller());
    let is_late = || wall_clock::now() > late;
    let settled = cut_off(&*cancel, &is_late, || settle_all(work, settling));
    settled.map_err(|error| match is_late() {
        true => Error::Failed(format!(
            "settle: the server does not answer: its last words are {} after the time limit \
             (--settle-limit) of {}; check its log and its host: {error}",
            format_duration(ANSWER_LIMIT.as_nanos() as u64),
            format_duration(to_settle.limit.as_nanos() as u64)
        )),
        false => error,
    })
}

fn settle_all(mut work: Work<'_, '_>, settling: &Settling) -> Result<Settled, Error> {
    let is_over = work.is_over;
    let began = work.lap;
    let (commits, bytes) = (work.commits(settling), work.written(settling));
    // Read before the first step, because a step may do work of another one.
    let mut first_levels = Vec::new();
    work.wait_for_others(settling, commits);
    for step in settling.steps {
        let level = step.level.as_ref().map(|level| work.level(step, level)).transpose()?;
        first_levels.push(level.flatten());
    }
    for (step, first) in settling.steps.iter().zip(first_levels) {
        if !is_over() {
            work.step(step, first)?;
        }
    }
    if is_over() {
        work.done.is_interrupted = true;
        let why = "It was interrupted before it was done".to_owned();
        work.note("interrupted".to_owned(), why, "");
    }
    work.done.seconds = work.lap.duration_since(began).as_secs_f64();
    let grown = |before: Option<i64>, after: Option<i64>| {
        let grown = after?.checked_sub(before?)?;
        u64::try_from(grown).ok()
    };
    let commits_now = work.commits(settling);
    work.done.commits = commits.zip(commits_now).map(|(before, now)| now.since(before));
    let ended = wall_clock::now();
    work.done.written_bytes = grown(bytes, work.written(settling));
    while !is_over() && work.done.written_bytes == Some(0) && ended.elapsed() < COUNTED_WITHIN {
        wall_clock::rest_ms(50);
        work.done.written_bytes = grown(bytes, work.written(settling));
    }
    Ok(work.done)
}

/// Executes one settling step while a load runs, until it is done or `is_over` returns true.
pub(crate) fn settle_step(
    to_settle: &ToSettle<'_>,
    step: &SettlingStep,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<Settled, Error> {
    let mut doing = |_: &str| {};
    let mut work = Work::new(to_settle, is_over, &mut doing)?;
    let began = work.lap;
    let first = step.level.as_ref().map(|level| work.level(step, level)).transpose()?;
    work.step(step, first.flatten())?;
    work.done.seconds = work.lap.duration_since(began).as_secs_f64();
    work.done.is_interrupted = work.is_cut;
    Ok(work.done)
}

/// Adds to the error of a settling step that `n_left` settings could not be restored, and the
/// command that restores them.
fn with_settings_left(error: Error, n_left: usize, target: &Target) -> Error {
    if n_left == 0 {
        return error;
    }
    let settings = numbers::count(n_left as u64, "setting");
    let command = restore_command(target);
    Error::Failed(format!(
        "settling: {error}; {settings} not set back: when the server answers again, run: {command}"
    ))
}

/// Readings of a server's commit counters.
#[derive(Clone, Copy, Debug)]
struct Commits {
    counted: i64,
    /// Number of row-changing statements that the server counted; 0 if it counts them as commits.
    changes: i64,
}

impl Commits {
    /// Returns the growth of `counted` or `changes` since `before`, whichever grew more.
    fn since(self, before: Commits) -> u64 {
        let grown = (self.counted - before.counted).max(self.changes - before.changes);
        u64::try_from(grown).unwrap_or(0)
    }
}

struct Work<'a, 'w> {
    to_settle: &'a ToSettle<'a>,
    session: AdminSession,
    /// Server settings changed to make the current step faster; `None` until the first change.
    momentary: Option<Momentary>,
    /// Instant at which the time limit of settling is reached.
    until: Instant,
    /// Instant at which the last step of settling ended, so that steps add up to the total.
    lap: Instant,
    /// Function that returns true if the user stops the settling, or the load has ended.
    is_over: &'a (dyn Fn() -> bool + Sync),
    /// True if a settling step was cut off because `is_over` returned true.
    is_cut: bool,
    /// Function that is called with the current step, for display.
    doing: &'w mut dyn FnMut(&str),
    done: Settled,
}

impl<'a, 'w> Work<'a, 'w> {
    fn new(
        to_settle: &'a ToSettle<'a>,
        is_over: &'a (dyn Fn() -> bool + Sync),
        doing: &'w mut dyn FnMut(&str),
    ) -> Result<Work<'a, 'w>, Error> {
        Ok(Work {
            session: AdminSession::at(to_settle.database)?,
            momentary: None,
            until: wall_clock::now() + to_settle.limit,
            lap: wall_clock::now(),
            to_settle,
            is_over,
            is_cut: false,
            doing,
            done: Settled::default(),
        })
    }

    /// Records that a step has ended, with its duration and the amounts of work before and after.
    fn done(&mut self, name: &'static str, level: Option<(&'static str, i64, i64)>) {
        let now = wall_clock::now();
        let seconds = now.duration_since(self.lap).as_secs_f64();
        self.lap = now;
        self.done.steps.push(StepDone { name, seconds, level });
    }

    /// Waits until other sessions hardly commit any more. This is the settling step [`WAIT`].
    fn wait_for_others(&mut self, settling: &Settling, before: Option<Commits>) {
        let Some(before) = before else { return };
        let mut rates = None;
        self.watch_commits(settling, before, &mut rates);
        let level = rates.map(|(first, last)| (COMMIT_RATE, first, last));
        self.done(WAIT, level);
    }

    /// Reads the commit rate every second until it is low, does not fall, or the time limit is
    /// reached. Stores the first and last rate in `rates`.
    fn watch_commits(
        &mut self,
        settling: &Settling,
        mut before: Commits,
        rates: &mut Option<(i64, i64)>,
    ) {
        let mut at = wall_clock::now();
        let (mut least, mut fell_at) = (f64::INFINITY, at);
        while self.rest(COUNTED_OVER) {
            let Some(now) = self.commits(settling) else { return };
            let per_s = now.since(before) as f64 / at.elapsed().as_secs_f64();
            (before, at) = (now, wall_clock::now());
            let rate = per_s.round() as i64;
            *rates = Some((rates.map_or(rate, |(first, _)| first), rate));
            if per_s <= COMMITS_PER_S {
                return;
            }
            if per_s < least {
                (least, fell_at) = (per_s, at);
            }
            let shown = format!("{per_s:.0} commits/s of other sessions");
            if fell_at.elapsed() > FROZEN || at > self.until {
                let why = format!("The database is used meanwhile: {shown}");
                return self.note(shown, why, END_OTHERS);
            }
            (self.doing)(&format!("settling: waiting for {shown} to end"));
        }
    }

    fn step(&mut self, step: &SettlingStep, first: Option<i64>) -> Result<(), Error> {
        let names_tables = step.statements.iter().any(|sql| sql.contains("{tables}"));
        if names_tables && self.to_settle.tables.is_empty() {
            return Ok(());
        }
        (self.doing)(&format!("settling: {}", step.doing));
        let refused = self.raise(step);
        let n_noted = self.done.incomplete.len();
        let said = self.say(step);
        let is_refused = self.done.incomplete.len() > n_noted;
        let passed_over = match said {
            Ok(true) => self.passed_over(step),
            Ok(false) | Err(_) => Vec::new(),
        };
        let last = match (first, &step.level) {
            // The remaining work will not fall, because a part was passed over.
            (_, Some(level)) if !passed_over.is_empty() => self.level(step, level),
            // Nor will it fall without the privilege to change settings.
            (_, Some(level)) if step.needs_settings && refused.is_some() => self.level(step, level),
            (Some(first), Some(level)) if matches!(said, Ok(true)) => {
                self.fall(step, level, first, step.repeats && !is_refused)
            }
            (_, Some(level)) if matches!(said, Ok(false)) => self.level(step, level),
            (first, _) => Ok(first),
        };
        // Settings are restored in any case.
        let notes = self.momentary.take().map(|mut set| set.end()).unwrap_or_default();
        let n_left = notes.len();
        notes.into_iter().for_each(|note| self.note("settings not set back".to_owned(), note, ""));
        let target = self.to_settle.target;
        let with_left = |error| with_settings_left(error, n_left, target);
        said.map_err(with_left)?;
        if !passed_over.is_empty() {
            let tables = passed_over.join(", ");
            let why = format!("The {} passed over {tables}", step.name.replace('_', " "));
            let left = format!("{tables} not done by the {}", step.name.replace('_', " "));
            self.note(left, why, &with_user(step.if_denied, self.to_settle.target));
        }
        let last = last.map_err(with_left)?;
        if let (Some(error), false) = (refused, last == Some(0)) {
            let name = step.name.replace('_', " ");
            let left = match (&step.level, last) {
                (Some(level), Some(last)) => level_left(level, last),
                _ => format!("{name} not done"),
            };
            self.note(left, format!("The {name} cannot change settings: {error}"), "");
        }
        let level = match (&step.level, first, last) {
            (Some(level), Some(first), Some(last)) => Some((level.name, first, last)),
            _ => None,
        };
        self.done(step.name, level);
        Ok(())
    }

    /// Changes settings that make a settling step faster. Returns the first error; `None` if none.
    fn raise(&mut self, step: &SettlingStep) -> Option<Error> {
        let to_settle = self.to_settle;
        let mut refused = None;
        for (name, value) in step.settings {
            if self.momentary.is_none() {
                match Momentary::at(to_settle.database, to_settle.target, to_settle.journal) {
                    Ok(made) => self.momentary = Some(made),
                    Err(error) => refused = refused.or(Some(error)),
                }
            }
            let Some(momentary) = &mut self.momentary else { break };
            if let Err(error) = momentary.set(name, value, "settling") {
                refused = refused.or(Some(error));
            }
        }
        if let Some(error) = &refused {
            let name = step.name.replace('_', " ");
            (self.doing)(&format!("settling: the {name} cannot change settings: {error}"));
        }
        refused
    }

    fn note(&mut self, left: String, why: String, advice: &str) {
        self.done.incomplete.push(Incomplete::new(left, why, advice));
    }

    /// Records that a step exceeded the time limit of settling, with its remaining work if known.
    fn note_limit(&mut self, step: &SettlingStep, last: Option<i64>) {
        let limit = format_duration(self.to_settle.limit.as_nanos() as u64);
        let name = step.name.replace('_', " ");
        let why = format!("The {name} was not done within the limit of {limit}");
        let left = match (&step.level, last) {
            (Some(level), Some(last)) => level_left(level, last),
            _ => format!("{name} not done"),
        };
        // If waiting for other sessions has used up the time, more of it does not help.
        let is_used = self.done.incomplete.iter().any(|one| one.advice == END_OTHERS);
        let advice = if is_used { "" } else { "Allow more time (--settle-limit)." };
        self.note(left, why, advice);
    }

    /// Records that the work of a settling step no longer got less, with the step's explanation.
    fn note_stays(&mut self, step: &SettlingStep, level: &SettlingLevel, last: i64) {
        let name = level_name(level.name);
        let why = format!("The {name} stayed at {} for 10 s", shown(last));
        self.note(level_left(level, last), why, step.if_stays);
    }

    fn says_nothing_left(&mut self, query: &NothingLeft) -> bool {
        let mut is_said = false;
        let asked = self.session.read(query.sql, &mut |row: &dyn Row| {
            if let Some(last) = row.width().checked_sub(1) {
                is_said = query.is_said(row.text(last)?);
            }
            Ok(())
        });
        asked.is_ok() && is_said
    }

    /// Executes the statements of a settling step, and records a rejected one. Returns false if a
    /// statement was cancelled because of the time limit or a stop.
    fn say(&mut self, step: &SettlingStep) -> Result<bool, Error> {
        for sql in step.statements {
            let sql = self.with_tables(sql);
            let (is_over, until) = (self.is_over, self.until);
            let is_cut = || is_over() || wall_clock::now() > until;
            let said = self.session.until(&is_cut, |session| session.write(&sql));
            match said {
                Ok(_) => {}
                // Cancelling a statement may end its session.
                Err(_) if is_cut() => {
                    self.session = AdminSession::at(self.to_settle.database)?;
                    match is_over() {
                        true => self.is_cut = true,
                        false => self.note_limit(step, None),
                    }
                    return Ok(false);
                }
                Err(db_error) if db_error.kind.breaks_session() => return Err(db_error.into()),
                Err(db_error) => {
                    let advice = match (db_error.kind, step.if_denied) {
                        (DbErrorKind::Denied, sql) => with_user(sql, self.to_settle.target),
                        _ => String::new(),
                    };
                    let name = step.name.replace('_', " ");
                    let why = format!("The {name} was refused: {db_error}");
                    self.note(format!("{name} refused"), why, &advice);
                }
            }
            if is_over() {
                break;
            }
        }
        Ok(true)
    }

    /// Waits until the remaining work of a settling step is 0 or no longer falls, or until time is
    /// up; with `repeats` it executes the statements again while it does not fall. Returns the
    /// remaining work that was read last; `first` was read before the wait.
    fn fall(
        &mut self,
        step: &SettlingStep,
        level: &SettlingLevel,
        first: i64,
        repeats: bool,
    ) -> Result<Option<i64>, Error> {
        let began = wall_clock::now();
        let (mut last, mut least, mut fell_at) = (first, i64::MAX, began);
        let mut looks: VecDeque<(Duration, i64)> = VecDeque::new();
        let mut n_still = 0;
        loop {
            last = self.level(step, level)?.unwrap_or(last);
            let name = level_name(level.name);
            if last == 0 {
                return Ok(Some(last));
            }
            n_still += 1;
            if last < least {
                (least, fell_at, n_still) = (last, wall_clock::now(), 0);
            }
            if n_still >= STILL_LOOKS
                && step.nothing_left.is_some_and(|query| self.says_nothing_left(&query))
            {
                return Ok(Some(last));
            }
            // What held the work may have ended meanwhile.
            if n_still >= STILL_LOOKS && repeats && !self.is_cut {
                n_still = 0;
                if !self.say(step)? {
                    return self.level(step, level);
                }
                continue;
            }
            if self.is_cut {
                return Ok(Some(last));
            }
            if wall_clock::now() > self.until {
                self.note_limit(step, Some(last));
                return Ok(Some(last));
            }
            if fell_at.elapsed() > FROZEN {
                self.note_stays(step, level, last);
                return Ok(Some(last));
            }
            let at = began.elapsed();
            looks.push_back((at, last));
            while looks.front().is_some_and(|(before, _)| at - *before > PACE_OVER) {
                looks.pop_front();
            }
            let left = time_left(&looks, fell_at.elapsed());
            let now = shown(last);
            (self.doing)(&format!("settling: {}: {name} {now}{left}", step.doing));
            self.is_cut = !self.rest(LOOK_EVERY);
        }
    }

    /// Reads how much work of a settling step is left; records an error and returns `None` for it.
    fn level(&mut self, step: &SettlingStep, level: &SettlingLevel) -> Result<Option<i64>, Error> {
        let sql = self.with_tables(level.sql);
        match number(&mut self.session, &sql, level.column) {
            Ok(number) => Ok(number.map(|number| number.max(0))),
            Err(db_error) if db_error.kind.breaks_session() => Err(db_error.into()),
            Err(db_error) if wall_clock::now() > self.until + ANSWER_LIMIT => Err(db_error.into()),
            Err(db_error) => {
                let step = step.name.replace('_', " ");
                let why = format!("The progress of the {step} cannot be read: {db_error}");
                if !self.done.incomplete.iter().any(|known| known.why == why) {
                    self.note(format!("{} unknown", level_name(level.name)), why, "");
                }
                Ok(None)
            }
        }
    }

    fn with_tables(&self, sql: &str) -> String {
        let quoted: Vec<String> =
            self.to_settle.tables.iter().map(|name| format!("'{name}'")).collect();
        let names = if quoted.is_empty() { "''".to_owned() } else { quoted.join(", ") };
        sql.replace("{tables}", &self.to_settle.tables.join(", ")).replace("{names}", &names)
    }

    fn commits(&mut self, settling: &Settling) -> Option<Commits> {
        let sql = self.to_settle.database.monitoring().commit_counter?.sql;
        let counted = self.session.counted(sql).ok().flatten()?;
        let changes = match settling.changes {
            "" => 0,
            sql => self.session.counted(sql).ok().flatten().unwrap_or(0),
        };
        Some(Commits { counted, changes })
    }

    /// Returns the tables that a settling step omits because the user lacks privileges on them.
    fn passed_over(&mut self, step: &SettlingStep) -> Vec<String> {
        let names = step.passed_over.iter().find_map(|sql| {
            let mut names = Vec::new();
            let sql = self.with_tables(sql);
            let asked = self.session.read(&sql, &mut |row: &dyn Row| {
                names.push(row.text(0)?.to_owned());
                Ok(())
            });
            asked.ok().map(|_| names)
        });
        names.unwrap_or_default()
    }

    fn written(&mut self, settling: &Settling) -> Option<i64> {
        let mut queries = settling.written_bytes.iter();
        queries.find_map(|sql| self.session.counted(sql).ok().flatten())
    }

    /// Waits for this time, unless settling should end; returns false in that case.
    fn rest(&self, how_long: Duration) -> bool {
        let began = wall_clock::now();
        while began.elapsed() < how_long && !(self.is_over)() {
            wall_clock::rest_ms(50);
        }
        !(self.is_over)()
    }
}

/// Returns the error that the user interrupted the settling.
pub fn interrupted() -> Error {
    Error::Interrupted("interrupted while the database was settled".to_owned())
}

/// Executes a query and returns the number in one column of its last row, which may also be text;
/// `None` for NULL or without rows.
fn number(session: &mut AdminSession, sql: &str, column: usize) -> Result<Option<i64>, DbError> {
    let mut number = None;
    session.read(sql, &mut |row: &dyn Row| {
        if column < row.width() && row.value(column) != Value::Null {
            number = match row.optional_int(column) {
                Ok(number) => number,
                Err(_) => row.text(column)?.parse().ok(),
            };
        }
        Ok(())
    })?;
    Ok(number)
}

/// Returns the remaining work of a settling step as text, such as `history list 1,068`.
fn level_left(level: &SettlingLevel, last: i64) -> String {
    format!("{} {}", level_name(level.name), shown(last))
}

fn level_name(name: &str) -> String {
    name.replace("_per_s", "/s").replace('_', " ")
}

fn shown(number: i64) -> String {
    format_count(number.max(0) as u64)
}

fn shown_time(seconds: f64) -> String {
    format_duration((seconds * 1e3).round() as u64 * model::NS_PER_MS)
}

/// Returns a text on how long the remaining work will take at the pace of the last readings, or
/// when settling will give up because the work does not fall. `since_fell` is the time since it
/// last fell. Empty if unknown.
fn time_left(looks: &VecDeque<(Duration, i64)>, since_fell: Duration) -> String {
    let (Some((from, first)), Some((to, last))) = (looks.front(), looks.back()) else {
        return String::new();
    };
    if since_fell >= PACE_OVER {
        let left = FROZEN.saturating_sub(since_fell).as_secs_f64();
        return format!(", not falling: given up in {}", shown_time(left.ceil()));
    }
    let (done, took) = ((first - last) as f64, *to - *from);
    if done <= 0.0 || took < PACE_OVER / 3 {
        return String::new();
    }
    let left = *last as f64 / done * took.as_secs_f64();
    format!(", about {} left", shown_time(left.ceil()))
}

#[cfg(test)]
mod tests;
