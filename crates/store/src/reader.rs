//! Reads a store: lists, names, and runs as streams of events.
//!
//! Not here: any write. Readers and writers never wait for each other.

use std::path::Path;

use model::{
    ClientMoments, Event, Fact, FactValue, Finding, NS_PER_MS, ReportField, RunId, Second,
    Severity, Status,
};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::codec::{self, Unreadable};
use super::error::{StoreError, StoreErrorKind};
use super::process::{Fate, Process};
use super::query::{Figures, Query, Sort, Sql, list};
use super::schema::VERSION;
use super::summary::{INFINITE_NS, PrimaryFigure};
use super::wall_clock::unix_ms;

/// Name by which users select the newest run or experiment. Where both are possible, it selects the
/// experiment if the newest run is a trial of one.
pub const LAST: &str = "last";

/// Milliseconds without a heartbeat of its writer after which a run counts as interrupted.
/// Heartbeats are a second apart, but a writer whose disk is full may pause for this long.
pub(super) const SILENCE_MS_MAX: i64 = 30_000;

/// Number of characters of an id that lists show, from its end. Its beginning is a time, in which
/// neighbouring ids are alike.
pub const ID_SHOWN: usize = 8;

/// Minimum number of characters of an id by which users may select a run; fewer are rejected, since
/// they could be a mistake.
const NAME_CHARACTERS_MIN: usize = 4;

/// Filter and order of a list of runs. Fields that are `None` exclude no run; the default lists all
/// runs, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Selects only the run with this id; `None` for all.
    pub run: Option<RunId>,
    /// Selects runs that have a group with this workload, such as `tpcc`; `None` for all.
    pub workload: Option<String>,
    /// Selects the trials of the experiment with this id; `None` for all runs.
    pub experiment: Option<String>,
    /// Selects runs with this status; `None` for all.
    pub status: Option<Status>,
    /// Selects runs that have a label with this key and, if given, this value; `None` for all.
    pub label: Option<(String, Option<String>)>,
    /// Selects runs that match this query; `None` for all.
    pub query: Option<Query>,
    /// Order of the list; runs that are equal in it are listed newest first.
    pub sort: Sort,
    /// Maximum number of runs in the list; `None` for all.
    pub limit: Option<usize>,
}

/// A run as an entry of a list, with its summary figures.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub run: RunId,
    /// Start of the run, in milliseconds since 1970-01-01T00:00:00Z.
    pub started_unix_ms: i64,
    /// End of the run, in milliseconds since 1970-01-01T00:00:00Z; `None` if it is running or was
    /// killed.
    pub ended_unix_ms: Option<i64>,
    /// Status of the run: running, or the way in which it ended.
    pub status: Status,
    /// Name of the run's plan.
    pub name: String,
    /// Names of the workloads of the run's groups, joined by `+`.
    pub workload: String,
    /// URL of the database under test, without a password.
    pub target: String,
    /// Product and version of the database.
    pub database: String,
    /// Number of clients of the run, in all groups.
    pub clients: u64,
    /// Commits per second in the measured phase, so far if the run has not ended; `None` if
    /// unknown.
    pub tps: Option<f64>,
    /// Value of the workload's primary metric, such as NOPM, so far if the run has not ended;
    /// `None` if the workload has none.
    pub primary: Option<PrimaryFigure>,
    /// 99th percentile of the response times, in milliseconds; infinite if it falls among lost
    /// transactions; `None` if unknown.
    pub p99_ms: Option<f64>,
    /// Length of the measured phase in nanoseconds, so far if the run has not ended; `None` before
    /// it begins.
    pub measured_ns: Option<u64>,
    /// Severity of the worst finding; `None` if there is no finding.
    pub worst_finding: Option<Severity>,
    /// Number of events that could not be written to the store.
    pub events_lost: u64,
    /// Version of dbdyno that executed the run.
    pub dbdyno: String,
    /// Labels as (key, value), sorted by key.
    pub labels: Vec<(String, String)>,
    /// Values that the run's experiment set for this trial, as (axis, value) such as `clients` and
    /// `8`; empty if the run is no trial.
    pub point: Vec<(String, String)>,
    /// Id of the experiment of which the run is a trial; `None` if it is no trial.
    pub experiment: Option<String>,
    /// Figures of the report that the filter's query and order name: each name as written, with its
    /// value, `None` if the run lacks it.
    pub figures: Vec<(String, Option<f64>)>,
}

fn primary_of(row: &Row<'_>) -> rusqlite::Result<Option<PrimaryFigure>> {
    let [name, title]: [Option<String>; 2] = [row.get("primary_name")?, row.get("primary_title")?];
    let value: Option<f64> = row.get("primary_value")?;
    let both = name.zip(value);
    Ok(both.map(|(name, value)| {
        let title = title.unwrap_or_else(|| name.clone());
        PrimaryFigure { name, title, value }
    }))
}

/// A store's file, opened for reading, with what is needed to list runs and replay their events.
pub(super) struct Reader<'a> {
    pub path: &'a Path,
    pub connection: &'a Connection,
}

const LIST: &str = r#"
SELECT number, id, started_unix_ms, ended_unix_ms, name, workload, target, "database", clients,
       tps, primary_name, primary_title, primary_value, p99_ns, measured_ns, worst_finding, events_lost, dbdyno, status,
       (SELECT experiment.id FROM trial JOIN experiment ON experiment.number = trial.experiment
        WHERE trial.run = run.number) AS experiment"#;
const OF_RUNS: &str = " FROM run WHERE TRUE";
const OF_WORKLOAD: &str = " AND instr('+' || workload || '+', '+' || ? || '+') > 0";
const WITH_LABEL: &str = " AND EXISTS (SELECT 1 FROM label WHERE label.run = number AND key = ?)";
const WITH_VALUE: &str =
    " AND EXISTS (SELECT 1 FROM label WHERE label.run = number AND key = ? AND value = ?)";
const OF_ID: &str = " AND id = ?";
const OF_EXPERIMENT: &str = " AND number IN (SELECT run FROM trial JOIN experiment \
     ON experiment.number = trial.experiment WHERE experiment.id = ?)";
const NEWEST_FIRST: &str = "started_unix_ms DESC, id DESC";

/// SQL that selects the columns that decide whether a run with the status 'running' is still being
/// written or its process has ended.
const RUNNING: &str = "
SELECT number, heartbeat_unix_ms, boot_id, pid_namespace, pid, pid_start_time
FROM run WHERE status = 'running'
";

/// SQL that selects all events of a run in the order in which they were sent, merged from six
/// tables.
const EVENTS: &str = r#"
SELECT seq, 'fact' AS source, about AS a, name AS b, value AS c
FROM fact WHERE run = ?1 AND seq > ?2
UNION ALL
SELECT seq, 'event', kind, body, NULL FROM event WHERE run = ?1 AND seq > ?2
UNION ALL
SELECT seq, 'second', format, body, NULL FROM second WHERE run = ?1 AND seq > ?2
UNION ALL
SELECT seq, 'client', "group", format, body FROM client WHERE run = ?1 AND seq > ?2
UNION ALL
SELECT seq, 'around', kind, format, body FROM around WHERE run = ?1 AND seq > ?2
UNION ALL
SELECT seq, 'finding', id, severity, text FROM finding WHERE run = ?1 AND seq > ?2
ORDER BY seq
"#;

/// SQL that selects the events with results of single clients of a run.
const CLIENTS: &str = r#"
SELECT seq, 'client', "group", format, body FROM client WHERE run = ?1 AND seq > ?2
ORDER BY seq
"#;

/// SQL that selects the events of a run that declare gauges or have readings of gauges.
const READINGS: &str = r#"
SELECT seq, 'event', kind, body, NULL FROM event WHERE run = ?1 AND seq > ?2 AND kind = 'gauges'
UNION ALL
SELECT seq, 'around', kind, format, body FROM around
WHERE run = ?1 AND seq > ?2 AND kind = 'readings'
ORDER BY seq
"#;

/// SQL that selects the events of a run with CPU profiles.
const CPU_PROFILES: &str = r#"
SELECT seq, 'around', kind, format, body FROM around
WHERE run = ?1 AND seq > ?2 AND kind = 'cpu_profile'
ORDER BY seq
"#;

impl Reader<'_> {
    /// Lists the runs that `filter` selects, in the order that it sets.
    pub(super) fn list(&self, filter: &Filter) -> Result<Vec<RunRow>, StoreError> {
        let alive = alive(self.connection).map_err(|e| self.said(&e))?;
        let named = figures_of(filter);
        let Sql { text, values, figures } = select(filter, &named, &alive);
        if let Some(figures) = figures {
            figures.teach(self.connection).map_err(|e| self.said(&e))?;
        }
        let mut select = self.connection.prepare_cached(&text).map_err(|e| self.said(&e))?;
        let selected = select.query(params_from_iter(values));
        let mut rows = selected.map_err(|e| self.said(&e))?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next().map_err(|e| self.said(&e))? {
            let status = self.status(row, &alive)?;
            // A status is derived, so its filter applies here.
            if filter.status.is_none_or(|wanted| wanted == status) {
                runs.push(self.run_row(row, status, &named)?);
            }
            if filter.limit.is_some_and(|limit| runs.len() >= limit) {
                break;
            }
        }
        Ok(runs)
    }

    fn run_row(
        &self,
        row: &Row<'_>,
        status: Status,
        named: &[(&str, Figures)],
    ) -> Result<RunRow, StoreError> {
        let number: i64 = row.get("number").map_err(|e| self.said(&e))?;
        let labels = self.labels(number)?;
        let point = self.point(number)?;
        let read = || -> rusqlite::Result<RunRow> {
            Ok(RunRow {
                run: RunId(row.get("id")?),
                started_unix_ms: row.get("started_unix_ms")?,
                ended_unix_ms: row.get("ended_unix_ms")?,
                status,
                name: row.get("name")?,
                workload: row.get("workload")?,
                target: row.get("target")?,
                database: row.get("database")?,
                clients: row.get("clients").map(unsigned)?,
                tps: row.get("tps")?,
                primary: primary_of(row)?,
                p99_ms: row.get::<_, Option<i64>>("p99_ns")?.map(unsigned).map(p99_ms),
                measured_ns: row.get::<_, Option<i64>>("measured_ns")?.map(unsigned),
                worst_finding: worst_of(row, status)?,
                events_lost: row.get("events_lost").map(unsigned)?,
                dbdyno: row.get("dbdyno")?,
                labels,
                point,
                experiment: row.get("experiment")?,
                figures: named
                    .iter()
                    .enumerate()
                    .map(|(at, (name, _))| {
                        Ok(((*name).to_owned(), row.get(figure_column(at).as_str())?))
                    })
                    .collect::<rusqlite::Result<_>>()?,
            })
        };
        read().map_err(|e| self.said(&e))
    }

    fn status(&self, row: &Row<'_>, alive: &[i64]) -> Result<Status, StoreError> {
        let stored: String = row.get("status").map_err(|e| self.said(&e))?;
        let stored = Status::by_name(&stored).ok_or_else(|| {
            let what = Unreadable::Newer(format!("the status '{stored}'"));
            self.unreadable("the list", what)
        })?;
        let number: i64 = row.get("number").map_err(|e| self.said(&e))?;
        let is_gone = stored == Status::Running && !alive.contains(&number);
        Ok(if is_gone { Status::Interrupted } else { stored })
    }

    /// Finds a run by `name`: its id, a unique start or end of its id, its name if no other run has
    /// it, or `last`.
    pub(super) fn find(&self, name: &str) -> Result<RunId, StoreError> {
        self.find_in("run", name).map(RunId)
    }

    /// Finds the id of a run or experiment by its id, a unique part of its id, its name or `last`.
    /// `table` is `run` or `experiment`, which is also the noun in errors.
    pub(super) fn find_in(&self, table: &str, name: &str) -> Result<String, StoreError> {
        let given = name.trim();
        let name = given.to_ascii_lowercase();
        if name == LAST {
            let sql =
                format!("SELECT id FROM {table} ORDER BY started_unix_ms DESC, id DESC LIMIT 1");
            let last = self.connection.query_row(&sql, (), |row| row.get(0)).optional();
            let none = || format!("the store {} has no {table} yet", self.path.display());
            return last
                .map_err(|e| self.said(&e))?
                .ok_or_else(|| StoreError::new(StoreErrorKind::UnknownRun, none()));
        }
        let mut ids = match name.len() >= NAME_CHARACTERS_MIN {
            true => self.called(table, &name).map_err(|e| self.said(&e))?,
            false => Vec::new(),
        };
        let is_by_name = ids.is_empty();
        if is_by_name {
            ids = self.named(table, given).map_err(|e| self.said(&e))?;
        }
        if ids.is_empty() && name.len() < NAME_CHARACTERS_MIN {
            let is_of_id = name.chars().all(|letter| letter.is_ascii_hexdigit());
            let what = match is_of_id {
                true => format!("'{name}' is too short"),
                false => format!("no {table} or label is called '{name}'"),
            };
            let message = format!(
                "{what}: give at least {NAME_CHARACTERS_MIN} characters of the {table}'s id, or \
                 'last'"
            );
            return Err(StoreError::new(StoreErrorKind::UnknownRun, message));
        }
        match ids.as_slice() {
            [id] => Ok(id.clone()),
            [] => {
                let store = self.path.display();
                let other = if table == "run" { "experiment" } else { "run" };
                let is_other = !self.called(other, &name).map_err(|e| self.said(&e))?.is_empty();
                let message = match is_other {
                    true => format!(
                        "{name} is of the {other}s, not of the {table}s: 'dbdyno {other}s show \
                         {name}' shows it"
                    ),
                    false => format!(
                        "no {table} in {store} is called '{name}': 'dbdyno {table}s' lists them"
                    ),
                };
                Err(StoreError::new(StoreErrorKind::UnknownRun, message))
            }
            _ => {
                let shown = ids.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if ids.len() > 5 { ", ..." } else { "" };
                let n = ids.len();
                let message = match is_by_name {
                    true => format!(
                        "{n} {table}s are named '{given}' ({shown}{more}): give the end of an id"
                    ),
                    false => format!(
                        "'{name}' may be any of {n} {table}s ({shown}{more}): give more \
                         characters, of the beginning or of the end"
                    ),
                };
                Err(StoreError::new(StoreErrorKind::AmbiguousRun, message))
            }
        }
    }

    /// Returns the ids of the table's entries that begin or end with `name`, or whose last
    /// [`ID_SHOWN`] characters begin with it. Returns only `name` if it is a whole id.
    fn called(&self, table: &str, name: &str) -> rusqlite::Result<Vec<String>> {
        let sql = format!(
            "SELECT id FROM {table}
             WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
                OR substr(id, -{ID_SHOWN}, length(?1)) = ?1
             ORDER BY id = ?1 DESC, started_unix_ms DESC, id DESC"
        );
        let mut select = self.connection.prepare_cached(&sql)?;
        let ids = select.query_map([name], |row| row.get(0))?;
        let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
        if ids.first().is_some_and(|id| id == name) { Ok(vec![name.to_owned()]) } else { Ok(ids) }
    }

    /// Returns the ids of the table's entries with this name, newest first.
    fn named(&self, table: &str, name: &str) -> rusqlite::Result<Vec<String>> {
        let sql =
            format!("SELECT id FROM {table} WHERE name = ? ORDER BY started_unix_ms DESC, id DESC");
        let mut select = self.connection.prepare_cached(&sql)?;
        select.query_map([name], |row| row.get(0))?.collect()
    }

    /// Returns the number by which all tables of this store identify a run. Fails if the store has
    /// no such run.
    pub(super) fn number(&self, run: &RunId) -> Result<i64, StoreError> {
        let sql = "SELECT number FROM run WHERE id = ?";
        let number = self.connection.query_row(sql, [&run.0], |row| row.get(0)).optional();
        number.map_err(|e| self.said(&e))?.ok_or_else(|| {
            let message = format!("the store {} has no run {run}", self.path.display());
            StoreError::new(StoreErrorKind::UnknownRun, message)
        })
    }

    /// Returns the text in `column` of a run's row in the table `run`; `None` if the column has no
    /// text.
    pub(super) fn text(&self, run: &RunId, column: &str) -> Result<Option<String>, StoreError> {
        let number = self.number(run)?;
        let sql = format!("SELECT {column} FROM run WHERE number = ?");
        let text = self.connection.query_row(&sql, [number], |row| row.get(0));
        text.map_err(|e| self.said(&e))
    }

    /// Returns the report of a run as JSON; `None` if the run has none. Fields in `emptied` have
    /// the given empty JSON value in place of their own.
    pub(super) fn report_but(
        &self,
        run: &RunId,
        emptied: &[ReportField],
    ) -> Result<Option<String>, StoreError> {
        let number = self.number(run)?;
        let mut sql = Sql::default();
        sql.put("SELECT json_replace(report");
        for (field, empty) in emptied {
            sql.put(", ?, json(?)");
            sql.bind(format!("$.{field}"));
            sql.bind((*empty).to_owned());
        }
        sql.put(") FROM run WHERE number = ?");
        sql.bind(number);
        let read = || {
            let mut select = self.connection.prepare_cached(&sql.text)?;
            select.query_row(params_from_iter(&sql.values), |row| row.get(0))
        };
        // The only possible error is a report that is no JSON.
        read().map_err(|error| {
            StoreError::damaged(self.path, format!("the report of run {run}: {error}"))
        })
    }

    pub(super) fn labels(&self, number: i64) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let sql = "SELECT key, value FROM label WHERE run = ? ORDER BY key";
            let mut select = self.connection.prepare_cached(sql)?;
            let pairs = select.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
            pairs.collect()
        };
        read().map_err(|e| self.said(&e))
    }

    /// Returns the values that an experiment set for the trial whose run has the number `number`,
    /// as (axis, value) such as `clients` and `8`; empty if the run is no trial.
    fn point(&self, number: i64) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Option<String>> {
            let sql = "SELECT CASE WHEN json_valid(description)
                       THEN description -> '$.trial.values' END
                       FROM trial JOIN run ON run.number = trial.run WHERE trial.run = ?";
            let mut select = self.connection.prepare_cached(sql)?;
            select.query_row([number], |row| row.get(0)).optional().map(Option::flatten)
        };
        let values = read().map_err(|e| self.said(&e))?;
        // Readers of the run report a damaged description; the list stays readable.
        Ok(values.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
    }

    /// Passes the events of a run after position `after` to `visit`, and returns the position of
    /// the last one.
    ///
    /// All events are read from one snapshot.
    pub(super) fn events_after(
        &self,
        run: &RunId,
        after: u64,
        visit: &mut dyn FnMut(Event),
    ) -> Result<u64, StoreError> {
        let snapshot = self.connection.unchecked_transaction().map_err(|e| self.said(&e))?;
        let number = self.number(run)?;
        if after == 0 {
            visit(self.begun(run, number)?);
        }
        let last = self.visit(&snapshot, EVENTS, run, (number, after), visit)?;
        Ok(last.unwrap_or(after))
    }

    /// Passes each event of a run with gauges, or with readings of them, to `visit`.
    pub(super) fn readings(
        &self,
        run: &RunId,
        visit: &mut dyn FnMut(Event),
    ) -> Result<(), StoreError> {
        self.visit_all(READINGS, run, visit)
    }

    /// Passes each event of a run with a CPU profile to `visit`.
    pub(super) fn cpu_profiles(
        &self,
        run: &RunId,
        visit: &mut dyn FnMut(Event),
    ) -> Result<(), StoreError> {
        self.visit_all(CPU_PROFILES, run, visit)
    }

    /// Passes each event of a run with the results of one client to `visit`.
    pub(super) fn clients(
        &self,
        run: &RunId,
        visit: &mut dyn FnMut(Event),
    ) -> Result<(), StoreError> {
        self.visit_all(CLIENTS, run, visit)
    }

    /// Passes all events of a run that `sql` selects to `visit`.
    fn visit_all(
        &self,
        sql: &str,
        run: &RunId,
        visit: &mut dyn FnMut(Event),
    ) -> Result<(), StoreError> {
        let number = self.number(run)?;
        self.visit(self.connection, sql, run, (number, 0), visit).map(|_| ())
    }

    /// Passes the events of a run that `sql` selects, if they come after the position `after`, to
    /// `visit`. Returns the position of the last one; `None` if there are none.
    fn visit(
        &self,
        connection: &Connection,
        sql: &str,
        run: &RunId,
        (number, after): (i64, u64),
        visit: &mut dyn FnMut(Event),
    ) -> Result<Option<u64>, StoreError> {
        let mut last = None;
        let mut select = connection.prepare_cached(sql).map_err(|e| self.said(&e))?;
        let selected = select.query(params![number, i64::try_from(after).unwrap_or(i64::MAX)]);
        let mut rows = selected.map_err(|e| self.said(&e))?;
        while let Some(row) = rows.next().map_err(|e| self.said(&e))? {
            let place = row.get(0).map(unsigned).map_err(|e| self.said(&e))?;
            match event_of(row).map_err(|e| self.said(&e))? {
                Ok(event) => visit(event),
                Err(why) => return Err(self.unreadable(&format!("event {place} of {run}"), why)),
            }
            last = Some(place);
        }
        Ok(last)
    }

    /// Returns the last value of the fact `name` about `about`; `None` if the run has no such fact.
    pub(super) fn fact(
        &self,
        run: &RunId,
        about: &str,
        name: &str,
    ) -> Result<Option<FactValue>, StoreError> {
        let sql = "SELECT value FROM fact WHERE run = ? AND about = ? AND name = ?
                   ORDER BY seq DESC LIMIT 1";
        let asked = params![self.number(run)?, about, name];
        let text = self.connection.query_row(sql, asked, |row| row.get(0)).optional();
        let text = text.map_err(|error| self.said(&error))?;
        Ok(text.map(|text| FactValue::read(name, text)))
    }

    /// Passes the counts and response times of each group in each second of a run to `visit`, in
    /// order of time and, within a second, of the groups. Each is the sum of the rows stored for
    /// it.
    pub(super) fn seconds(
        &self,
        run: &RunId,
        visit: &mut dyn FnMut(Second),
    ) -> Result<(), StoreError> {
        let snapshot = self.connection.unchecked_transaction().map_err(|e| self.said(&e))?;
        let number = self.number(run)?;
        let order = "SELECT seq FROM second WHERE run = ? ORDER BY second, \"group\", seq";
        let places = || -> rusqlite::Result<Vec<i64>> {
            let mut select = snapshot.prepare_cached(order)?;
            select.query_map([number], |row| row.get(0))?.collect()
        };
        let part = "SELECT format, body FROM second WHERE run = ? AND seq = ?";
        let mut select = snapshot.prepare_cached(part).map_err(|e| self.said(&e))?;
        let mut sum: Option<Second> = None;
        for place in places().map_err(|e| self.said(&e))? {
            let read = select.query_row([number, place], |row| {
                Ok(codec::from_blob::<Second>(row.get(0)?, row.get_ref(1)?.as_blob()?))
            });
            let part = read.map_err(|e| self.said(&e))?;
            let what = || format!("event {place} of {run}");
            let part = part.map_err(|why| self.unreadable(&what(), why))?;
            match &mut sum {
                Some(sum) if (sum.group, sum.second) == (part.group, part.second) => sum.add(&part),
                _ => sum.replace(part).into_iter().for_each(&mut *visit),
            }
        }
        sum.into_iter().for_each(visit);
        Ok(())
    }

    pub(super) fn begun(&self, run: &RunId, number: i64) -> Result<Event, StoreError> {
        let sql = "SELECT plan, description FROM run WHERE number = ?";
        let texts = self.connection.query_row(sql, [number], |row| Ok((row.get(0)?, row.get(1)?)));
        let (plan, description): (String, String) = texts.map_err(|e| self.said(&e))?;
        let description = codec::from_json(&description)
            .map_err(|why| self.unreadable(&format!("the description of {run}"), why))?;
        Ok(Event::Begun { run: run.clone(), plan, description: Box::new(description) })
    }

    fn unreadable(&self, what: &str, why: Unreadable) -> StoreError {
        match why {
            Unreadable::Damaged(why) => {
                StoreError::damaged(self.path, format!("{what} cannot be read: {why}"))
            }
            Unreadable::Newer(why) => {
                let kind = StoreErrorKind::Newer { found: VERSION, known: VERSION };
                let message = format!(
                    "the store {} has, in {what}, {why} that this dbdyno does not support: use a \
                     newer dbdyno",
                    self.path.display()
                );
                StoreError::new(kind, message)
            }
        }
    }

    pub(super) fn said(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(self.path, error)
    }
}

fn p99_ms(ns: u64) -> f64 {
    if ns == INFINITE_NS { f64::INFINITY } else { ns as f64 / NS_PER_MS as f64 }
}

/// Converts a signed integer of SQLite back to the unsigned number that was stored in it.
fn unsigned(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// Returns the figures of reports that a filter names: those of its order, then those of its query,
/// each once, with the functions that read it.
fn figures_of(filter: &Filter) -> Vec<(&str, Figures)> {
    let mut all: Vec<(&str, Figures)> = Vec::new();
    let asked = filter.query.iter().flat_map(Query::figures);
    for (name, figures) in filter.sort.figures().into_iter().chain(asked) {
        if all.iter().all(|(known, _)| *known != name) {
            all.push((name, figures));
        }
    }
    all
}

fn figure_column(at: usize) -> String {
    format!("figure_{at}")
}

fn select(filter: &Filter, named: &[(&str, Figures)], alive: &[i64]) -> Sql {
    // Only conditions that were given are added: one that allows NULL would use no index.
    let (label, run) = (filter.label.as_ref(), filter.run.as_ref().map(|run| &run.0));
    let value = label.and_then(|(_, value)| value.as_ref());
    let with_label = if value.is_some() { WITH_VALUE } else { WITH_LABEL };
    let asked = [
        (with_label, [label.map(|(key, _)| key), value]),
        (OF_WORKLOAD, [filter.workload.as_ref(), None]),
        (OF_ID, [run, None]),
        (OF_EXPERIMENT, [filter.experiment.as_ref(), None]),
    ];
    let mut sql = Sql::default();
    sql.put(LIST);
    for (at, (name, figures)) in named.iter().enumerate() {
        sql.put(", ");
        sql.put_figure(name, *figures);
        sql.put(&format!(" AS {}", figure_column(at)));
    }
    sql.put(OF_RUNS);
    for (condition, values) in asked.into_iter().filter(|(_, values)| values[0].is_some()) {
        sql.put(condition);
        values.into_iter().flatten().for_each(|value| sql.bind(value.clone()));
    }
    let alive = list(alive);
    if let Some(query) = &filter.query {
        sql.put(" AND ");
        query.to_sql(&alive, &mut sql);
    }
    sql.put(" ORDER BY ");
    filter.sort.to_sql(&alive, &mut sql);
    sql.put(NEWEST_FIRST);
    sql
}

/// Returns the severity of a run's worst finding, `None` without findings. A run that was killed,
/// or could not write everything, has at least a warning.
fn worst_of(row: &Row<'_>, status: Status) -> rusqlite::Result<Option<Severity>> {
    let printed: Option<String> = row.get("worst_finding")?;
    let printed = printed.and_then(|name| Severity::by_name(&name));
    let has_ended = row.get::<_, Option<i64>>("ended_unix_ms")?.is_some();
    let was_killed = status == Status::Interrupted && !has_ended;
    let is_incomplete = row.get::<_, i64>("events_lost")? > 0;
    Ok(printed.max((was_killed || is_incomplete).then_some(Severity::Warning)))
}

/// Returns true if any living process writes a run to the store now.
pub(super) fn any_alive(connection: &Connection) -> rusqlite::Result<bool> {
    alive(connection).map(|alive| !alive.is_empty())
}

/// Returns the `number` of each run that a living process writes now.
fn alive(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let here = Process::current();
    let now_ms = unix_ms();
    let mut select = connection.prepare_cached(RUNNING)?;
    let mut rows = select.query(())?;
    let mut alive = Vec::new();
    while let Some(row) = rows.next()? {
        if is_alive(row, &here, now_ms)? {
            alive.push(row.get("number")?);
        }
    }
    Ok(alive)
}

/// Returns true if the process that writes the run in `row`, which has no end yet, is alive: it
/// sends heartbeats and, as far as visible from here, exists.
fn is_alive(row: &Row<'_>, here: &Process, now_ms: i64) -> rusqlite::Result<bool> {
    let heartbeat_ms: i64 = row.get("heartbeat_unix_ms")?;
    if now_ms.saturating_sub(heartbeat_ms) > SILENCE_MS_MAX {
        return Ok(false);
    }
    Ok(Process::from_row(row)?.fate(here) != Fate::Gone)
}

fn event_of(row: &Row<'_>) -> rusqlite::Result<Result<Event, Unreadable>> {
    let source = row.get_ref(1)?.as_str()?;
    Ok(match source {
        "fact" => {
            let (about, name): (String, String) = (row.get(2)?, row.get(3)?);
            Ok(Event::Fact(Fact::new(&about, &name, row.get::<_, String>(4)?)))
        }
        "event" => codec::event_from_json(row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?),
        "second" => codec::from_blob(row.get(2)?, row.get_ref(3)?.as_blob()?).map(Event::Second),
        "client" => {
            let group = row.get(2)?;
            codec::from_blob::<Vec<ClientMoments>>(row.get(3)?, row.get_ref(4)?.as_blob()?)
                .map(|moments| Event::Clients { group, moments })
        }
        "around" => {
            let (kind, blob) = (row.get_ref(2)?.as_str()?, row.get_ref(4)?.as_blob()?);
            codec::event_from_blob(kind, row.get(3)?, blob)
        }
        _ => {
            let name: String = row.get(3)?;
            let (id, text): (String, String) = (row.get(2)?, row.get(4)?);
            Severity::by_name(&name)
                .map(|severity| Event::Finding(Finding::new(id, severity, text)))
                .ok_or_else(|| Unreadable::Newer(format!("the severity '{name}'")))
        }
    })
}
