//! Reads and writes `dbdyno_meta`, a table in the target database that describes the data there.
//!
//! Each row is a name and a value: `workload`, `version`, `seed`, `scale.*`, `constant.*`, `state`;
//! a row `done.TABLE.CHUNK` for each built chunk, `done.TABLE.index.N` for each index, and `run.ID`
//! for each run that uses or recently used the data. If a database has the data of several
//! workloads, the names of all but one have the workload as a prefix: `tpcb/state`. `done` rows
//! need no prefix, since a table belongs to one workload. Data without `dbdyno_meta` are accepted,
//! with a finding.

use std::collections::HashSet;

use model::{Column, ColumnType, Database, DbError, DbErrorKind, Identity, Row, Table, Value};

use crate::admin_session::AdminSession;

pub(crate) const NAME: &str = "dbdyno_meta";

/// Result of reading what `dbdyno_meta` says about a workload's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// `dbdyno_meta` does not exist, or has no entry of the workload.
    Nothing,
    /// A build of the data was begun, and is not complete.
    Unfinished(Identity),
    /// The data are complete; the identity has their workload, version, seed and scale.
    Complete(Identity),
}

/// Returns the definition of the table `dbdyno_meta`.
pub(crate) fn table() -> Table {
    Table {
        name: NAME.into(),
        columns: vec![
            Column { name: "name", of: ColumnType::VarChar(100), nullable: false },
            Column { name: "value", of: ColumnType::VarChar(1000), nullable: false },
        ],
        primary_key: vec!["name"],
        indexes: Vec::new(),
    }
}

/// Entries of `dbdyno_meta` about the data of one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Beginning of the names of this workload's entries: empty, or the workload's name and
    /// [`SEPARATOR`].
    prefix: String,
    pub(crate) identity: Identity,
    /// True if the build of the data is complete.
    pub(crate) is_complete: bool,
}

/// Character that separates the workload from the rest of the name of an entry in `dbdyno_meta`, as
/// in `tpcb/state`.
const SEPARATOR: char = '/';

/// Reads what `dbdyno_meta` says about the data of `workload`, a name as in [`Identity::workload`].
pub(crate) fn read(session: &mut AdminSession, workload: &str) -> Result<Found, DbError> {
    Ok(match held_of(session, workload)? {
        None => Found::Nothing,
        Some(Held { identity, is_complete: true, .. }) => Found::Complete(identity),
        Some(Held { identity, .. }) => Found::Unfinished(identity),
    })
}

fn held_of(session: &mut AdminSession, workload: &str) -> Result<Option<Held>, DbError> {
    let mut all = read_all(session)?.into_iter();
    Ok(all.find(|held| held.identity.workload == workload))
}

/// Reads what `dbdyno_meta` says about each workload's data; empty if the table does not exist.
pub(crate) fn read_all(session: &mut AdminSession) -> Result<Vec<Held>, DbError> {
    let mut all: Vec<Held> = Vec::new();
    let sql = format!("SELECT name, value FROM {NAME} WHERE name NOT LIKE 'done.%' ORDER BY name");
    let asked = session.read(&sql, &mut |row: &dyn Row| {
        let (name, value) = (row.text(0)?, row.text(1)?.to_owned());
        let begins = name.rfind(SEPARATOR).map_or(0, |at| at + SEPARATOR.len_utf8());
        let (prefix, name) = name.split_at(begins);
        let place = all.iter().position(|held| held.prefix == prefix).unwrap_or_else(|| {
            all.push(Held { prefix: prefix.to_owned(), ..Held::default() });
            all.len() - 1
        });
        let Held { identity, is_complete, .. } = &mut all[place];
        match name.split_once('.') {
            Some(("scale", name)) => identity.scale.push((name.to_owned(), value)),
            Some(("constant", name)) => identity.constants.push((name.to_owned(), value)),
            _ => match name {
                "workload" => identity.workload = value,
                "version" => identity.version = number(&value)?,
                "seed" => identity.seed = number(&value)?,
                "state" => *is_complete = value == "complete",
                _ => {}
            },
        }
        Ok(())
    });
    match asked {
        Ok(_) => {
            all.retain(|held| !held.identity.workload.is_empty());
            Ok(all)
        }
        Err(db_error) if db_error.kind == DbErrorKind::Missing => Ok(Vec::new()),
        Err(db_error) => Err(db_error),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, DbError> {
    let bad = || DbError::new(DbErrorKind::Shape, format!("{NAME} holds '{text}', not a number"));
    text.parse().map_err(|_| bad())
}

/// Records that the data of `identity` are being built. Creates `dbdyno_meta` if needed.
pub(crate) fn begin(
    session: &mut AdminSession,
    database: &dyn Database,
    identity: &Identity,
) -> Result<(), DbError> {
    let dialect = database.dialect();
    if !session.has_table(NAME)? {
        session.write(&dialect.create_table(&table()))?;
    }
    let is_first = read_all(session)?.iter().all(|held| !held.prefix.is_empty());
    let prefix = match is_first {
        true => String::new(),
        false => format!("{}{SEPARATOR}", identity.workload),
    };
    let mut rows = vec![
        (format!("{prefix}workload"), identity.workload.clone()),
        (format!("{prefix}version"), identity.version.to_string()),
        (format!("{prefix}seed"), identity.seed.to_string()),
        (format!("{prefix}state"), "building".to_owned()),
    ];
    let all = |kind: &str, pairs: &[(String, String)]| -> Vec<(String, String)> {
        pairs.iter().map(|(k, v)| (format!("{prefix}{kind}.{k}"), v.clone())).collect()
    };
    rows.extend(all("scale", &identity.scale));
    rows.extend(all("constant", &identity.constants));
    session.ask(model::Request::Begin)?;
    let insert = session.prepare(dialect.insert(&table()))?;
    for (name, value) in &rows {
        session.execute(insert, &[Value::Text(name), Value::Text(value)])?;
    }
    session.ask(model::Request::Commit)?;
    Ok(())
}

/// Returns the name of the entry in `dbdyno_meta` that marks a chunk of a table as built.
pub(crate) fn done_name(table: &str, chunk: u64) -> String {
    format!("done.{table}.{chunk}")
}

/// Reads from `dbdyno_meta` the names of the entries that mark chunks and indexes as built.
pub(crate) fn read_done(session: &mut AdminSession) -> Result<HashSet<String>, DbError> {
    let mut done = HashSet::new();
    let sql = format!("SELECT name FROM {NAME} WHERE name LIKE 'done.%'");
    session.read(&sql, &mut |row: &dyn Row| {
        done.insert(row.text(0)?.to_owned());
        Ok(())
    })?;
    Ok(done)
}

/// Reads the names of all tables with at least one chunk or index that is marked as built.
pub(crate) fn read_done_tables(session: &mut AdminSession) -> Result<Vec<String>, DbError> {
    let done = read_done(session)?;
    let table = |name: &String| Some(name.strip_prefix("done.")?.split('.').next()?.to_owned());
    let mut tables: Vec<String> = done.iter().filter_map(table).collect();
    tables.sort();
    tables.dedup();
    Ok(tables)
}

/// Returns those marks of chunks and indexes in `done` that belong to one of `tables`.
pub(crate) fn done_of<'t>(
    done: &HashSet<String>,
    tables: impl Iterator<Item = &'t str>,
) -> Vec<String> {
    let tables: HashSet<&str> = tables.collect();
    let is_theirs = |name: &&String| {
        let table = name.strip_prefix("done.").and_then(|rest| rest.split('.').next());
        table.is_some_and(|table| tables.contains(table))
    };
    done.iter().filter(is_theirs).cloned().collect()
}

/// Removes entries by their names, many in one statement: a statement for each would be slow, and
/// one for each table could not use the key.
pub(crate) fn forget_names(session: &mut AdminSession, names: &[String]) -> Result<(), DbError> {
    for names in names.chunks(500) {
        let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        session.write(&format!("DELETE FROM {NAME} WHERE name IN ({})", list.join(", ")))?;
    }
    Ok(())
}

/// Returns true if the chunk or index whose mark in `dbdyno_meta` has this name was built. `name`
/// is not quoted, so it must come from dbdyno itself.
pub(crate) fn is_done(session: &mut AdminSession, name: &str) -> Result<bool, DbError> {
    let sql = format!("SELECT count(*) FROM {NAME} WHERE name = '{name}'");
    Ok(session.number(&sql)? == Some(1))
}

/// Inserts the entry in `dbdyno_meta` that marks a chunk or an index as built; `name` is that of
/// the entry, and `what` its value, such as `index`. Neither is quoted, so both must come from
/// dbdyno itself.
pub(crate) fn mark(session: &mut AdminSession, name: &str, what: &str) -> Result<(), DbError> {
    session.write(&format!("INSERT INTO {NAME} (name, value) VALUES ('{name}', '{what}')"))?;
    Ok(())
}

/// Beginning of the name of each entry in `dbdyno_meta` about a run that uses the data, as in
/// `run.ID`.
const RUN: &str = "run.";

/// Writes the entry in `dbdyno_meta` that the run with id `run` uses the data, and replaces an
/// earlier one. `value` is the start and end of its use, as text.
pub(crate) fn mark_run(session: &mut AdminSession, run: &str, value: &str) -> Result<(), DbError> {
    session.whole(&mut |session| {
        unmark_run(session, run)?;
        mark(session, &format!("{RUN}{run}"), value)
    })
}

/// Removes the entry in `dbdyno_meta` of a run that uses the data.
pub(crate) fn unmark_run(session: &mut AdminSession, run: &str) -> Result<(), DbError> {
    let name = quoted(&format!("{RUN}{run}"));
    session.write(&format!("DELETE FROM {NAME} WHERE name = {name}")).map(drop)
}

/// Reads the entries in `dbdyno_meta` of all runs that use the data: for each one the id of the
/// run, and the text given to [`mark_run`].
pub(crate) fn marked_runs(session: &mut AdminSession) -> Result<Vec<(String, String)>, DbError> {
    let mut all = Vec::new();
    let sql = format!("SELECT name, value FROM {NAME} WHERE name LIKE '{RUN}%' ORDER BY name");
    session.read(&sql, &mut |row: &dyn Row| {
        if let Some(run) = row.text(0)?.strip_prefix(RUN) {
            all.push((run.to_owned(), row.text(1)?.to_owned()));
        }
        Ok(())
    })?;
    Ok(all)
}

pub(crate) fn complete(session: &mut AdminSession, workload: &str) -> Result<(), DbError> {
    set_state(session, workload, "complete")
}

/// Marks the data of a workload as incomplete, before tables are dropped.
pub(crate) fn undo_complete(session: &mut AdminSession, workload: &str) -> Result<(), DbError> {
    set_state(session, workload, "building")
}

fn set_state(session: &mut AdminSession, workload: &str, state: &str) -> Result<(), DbError> {
    let prefix = held_of(session, workload)?.map_or_else(String::new, |held| held.prefix);
    let name = quoted(&format!("{prefix}state"));
    session.write(&format!("UPDATE {NAME} SET value = '{state}' WHERE name = {name}"))?;
    Ok(())
}

/// Removes all entries of a workload's data and of its `tables` from `dbdyno_meta`. Drops the table
/// if no other workload has entries.
pub(crate) fn forget(
    session: &mut AdminSession,
    workload: &str,
    tables: &[Table],
) -> Result<(), DbError> {
    let all = read_all(session)?;
    if all.iter().all(|held| held.identity.workload == workload) {
        session.write(&format!("DROP TABLE {NAME}"))?;
        return Ok(());
    }
    let done = read_done(session)?;
    forget_names(session, &done_of(&done, tables.iter().map(|table| &*table.name)))?;
    let Some(held) = all.iter().find(|held| held.identity.workload == workload) else {
        return Ok(());
    };
    let names = match held.prefix.as_str() {
        "" => format!("name NOT LIKE 'done.%' AND name NOT LIKE '%{SEPARATOR}%'"),
        prefix => format!("substr(name, 1, {}) = {}", prefix.chars().count(), quoted(prefix)),
    };
    session.write(&format!("DELETE FROM {NAME} WHERE {names}"))?;
    Ok(())
}

/// Quotes a text as an SQL string, because names of workloads may come from other programs.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use drivers::for_tests::{Interceptor, intercept, reserved_names};
    use model::{Request, Session, Target};

    use super::*;

    /// Interceptor that records the text of each SQL statement that it passes on.
    struct Recorder(Arc<Mutex<Vec<String>>>);

    impl Interceptor for Recorder {
        fn start(
            &mut self,
            session: &mut dyn Session,
            request: Request<'_>,
        ) -> Result<(), DbError> {
            if let Request::Text { sql, .. } = request {
                self.0.lock().expect("nobody failed").push(sql.to_owned());
            }
            session.start(request)
        }
    }

    /// Returns the SQL of all operations on `dbdyno_meta`.
    fn texts() -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("meta.db").display().to_string();
        let target = Target::parse(&format!("sqlite:{path}")).expect("a target");
        let database = crate::open::open(&target, 1, true).expect("it opens");
        let texts = Arc::new(Mutex::new(Vec::new()));
        let recorder = Arc::clone(&texts);
        let database = intercept(&database, move || Recorder(Arc::clone(&recorder)));
        let mut session = AdminSession::at(database.as_ref()).expect("it lets us in");
        for workload in ["tpcb", "it's"] {
            let pairs = vec![("a".to_owned(), "1".to_owned())];
            let identity = Identity {
                workload: workload.to_owned(),
                version: 1,
                seed: 1,
                scale: pairs.clone(),
                constants: pairs,
            };
            begin(&mut session, database.as_ref(), &identity).expect("begun");
        }
        let session = &mut session;
        let done = done_name("t", 1);
        mark(session, &done, "rows").expect("marked");
        assert_eq!(is_done(session, &done), Ok(true));
        assert_eq!(read_done_tables(session), Ok(vec!["t".to_owned()]));
        mark_run(session, "r", "now").expect("marked");
        assert_eq!(marked_runs(session), Ok(vec![("r".to_owned(), "now".to_owned())]));
        unmark_run(session, "r").expect("unmarked");
        complete(session, "tpcb").expect("complete");
        assert!(matches!(read(session, "tpcb"), Ok(Found::Complete(_))));
        undo_complete(session, "tpcb").expect("undone");
        // One workload whose names have a prefix, then the last one.
        for workload in ["it's", "tpcb"] {
            forget(session, workload, &[table()]).expect("forgotten");
        }
        let texts = std::mem::take(&mut *texts.lock().expect("nobody failed"));
        texts.into_iter().filter(|sql| sql.contains(NAME)).collect()
    }

    #[test]
    fn no_name_in_sql_of_what_the_data_are_is_reserved_anywhere() {
        let mysql = drivers::by_scheme("mysql").expect("there is a driver");
        let dialect = mysql.product.dialect;
        let mut texts = texts();
        for verb in ["CREATE", "SELECT", "INSERT", "UPDATE", "DELETE", "DROP"] {
            assert!(texts.iter().any(|sql| sql.starts_with(verb)), "no {verb}: {texts:#?}");
        }
        texts.extend([dialect.create_table(&table()), dialect.insert(&table())]);
        for sql in texts {
            assert_eq!(reserved_names(&sql), [""; 0], "{sql}");
        }
    }
}
