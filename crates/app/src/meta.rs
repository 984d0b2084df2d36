//! `dbdyno_meta`: what the data in a database are, kept beside them.
//!
//! Names and values: workload, version, seed, `scale.*`, `constant.*`, `state`, and a row
//! `done.TABLE.CHUNK` for each chunk that is built, `done.TABLE.index.N` for each index. Data
//! without it are accepted, with a finding.

use std::collections::HashSet;

use model::{Column, ColumnType, Database, Identity, Refusal, RefusalKind, Row, Table, Value};

use crate::admin_session::AdminSession;

const NAME: &str = "dbdyno_meta";

/// What was found about a database's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No meta table.
    Nothing,
    /// A build that was begun and not ended.
    Unfinished(Identity),
    /// A build that was ended.
    Complete(Identity),
}

/// The meta table's description.
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

/// Reads what is there.
pub(crate) fn read(session: &mut AdminSession) -> Result<Found, Refusal> {
    let mut identity = Identity::default();
    let mut is_complete = false;
    let sql = format!("SELECT name, value FROM {NAME} WHERE name NOT LIKE 'done.%' ORDER BY name");
    let asked = session.read(&sql, &mut |row: &dyn Row| {
        let (name, value) = (row.text(0)?, row.text(1)?.to_owned());
        match name.split_once('.') {
            Some(("scale", name)) => identity.scale.push((name.to_owned(), value)),
            Some(("constant", name)) => identity.constants.push((name.to_owned(), value)),
            _ => match name {
                "workload" => identity.workload = value,
                "version" => identity.version = number(&value)?,
                "seed" => identity.seed = number(&value)?,
                "state" => is_complete = value == "complete",
                _ => {}
            },
        }
        Ok(())
    });
    match asked {
        Ok(_) if identity.workload.is_empty() => Ok(Found::Nothing),
        Ok(_) if is_complete => Ok(Found::Complete(identity)),
        Ok(_) => Ok(Found::Unfinished(identity)),
        Err(refusal) if refusal.kind == RefusalKind::Missing => Ok(Found::Nothing),
        Err(refusal) => Err(refusal),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Refusal> {
    let bad = || Refusal::new(RefusalKind::Shape, format!("{NAME} holds '{text}', not a number"));
    text.parse().map_err(|_| bad())
}

/// Creates the table and writes what is about to be built.
pub(crate) fn begin(
    session: &mut AdminSession,
    database: &dyn Database,
    identity: &Identity,
) -> Result<(), Refusal> {
    let dialect = database.dialect();
    if !session.has_table(NAME)? {
        session.write(&dialect.create_table(&table()))?;
    }
    let mut rows = vec![
        ("workload".to_owned(), identity.workload.clone()),
        ("version".to_owned(), identity.version.to_string()),
        ("seed".to_owned(), identity.seed.to_string()),
        ("state".to_owned(), "building".to_owned()),
    ];
    rows.extend(identity.scale.iter().map(|(k, v)| (format!("scale.{k}"), v.clone())));
    rows.extend(identity.constants.iter().map(|(k, v)| (format!("constant.{k}"), v.clone())));
    session.ask(model::Request::Begin)?;
    let insert = session.prepare(dialect.insert(&table()))?;
    for (name, value) in &rows {
        session.execute(insert, &[Value::Text(name), Value::Text(value)])?;
    }
    session.ask(model::Request::Commit)?;
    Ok(())
}

/// The name under which a chunk is marked done.
pub(crate) fn done_name(table: &str, chunk: u64) -> String {
    format!("done.{table}.{chunk}")
}

/// The chunks that are done, by name.
pub(crate) fn read_done(session: &mut AdminSession) -> Result<HashSet<String>, Refusal> {
    let mut done = HashSet::new();
    let sql = format!("SELECT name FROM {NAME} WHERE name LIKE 'done.%'");
    session.read(&sql, &mut |row: &dyn Row| {
        done.insert(row.text(0)?.to_owned());
        Ok(())
    })?;
    Ok(done)
}

/// Forgets what is done of a table, which is not there any more.
pub(crate) fn forget_done(session: &mut AdminSession, table: &str) -> Result<(), Refusal> {
    session.write(&format!("DELETE FROM {NAME} WHERE name LIKE 'done.{table}.%'"))?;
    Ok(())
}

/// Whether a chunk or an index is done, by its name, which is ours and needs no quoting.
pub(crate) fn is_done(session: &mut AdminSession, name: &str) -> Result<bool, Refusal> {
    let sql = format!("SELECT count(*) FROM {NAME} WHERE name = '{name}'");
    Ok(session.number(&sql)? == Some(1))
}

/// Marks a chunk or an index as done, by its name, which is ours and needs no quoting.
pub(crate) fn mark(session: &mut AdminSession, name: &str, what: &str) -> Result<(), Refusal> {
    session.write(&format!("INSERT INTO {NAME} (name, value) VALUES ('{name}', '{what}')"))?;
    Ok(())
}

/// Says that the build is ended.
pub(crate) fn complete(session: &mut AdminSession) -> Result<(), Refusal> {
    session.write(&format!("UPDATE {NAME} SET value = 'complete' WHERE name = 'state'"))?;
    Ok(())
}

/// Says that the data are not whole any more, before the first of them goes.
pub(crate) fn undo_complete(session: &mut AdminSession) -> Result<(), Refusal> {
    session.write(&format!("UPDATE {NAME} SET value = 'building' WHERE name = 'state'"))?;
    Ok(())
}

/// Drops the table.
pub(crate) fn drop_table(session: &mut AdminSession) -> Result<(), Refusal> {
    session.write(&format!("DROP TABLE {NAME}"))?;
    Ok(())
}
