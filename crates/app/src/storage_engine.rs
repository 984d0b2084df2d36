//! Effects that the storage engine of a workload's tables has on checks of the data, notes of a
//! run, and the durability of commits.
//!
//! Not here: the guarantees of an engine (drivers), and its effect on a build (build).

use model::numbers::list;
use model::{
    Check, CommitRisk, Crosscheck, Database, DbError, Dialect, Fact, NO_TRANSACTIONS, NOT_CHECKED,
    Row, StorageEngine, Workload,
};

use crate::admin_session::AdminSession;
use crate::error::Error;

/// Returns the storage engine that the user requested for the workload's tables; `None` for the
/// database's default, or if the dialect does not know it.
pub(crate) fn asked(dialect: &Dialect, workload: &dyn Workload) -> Option<StorageEngine> {
    dialect.engine(workload.population()?.storage_engine()?)
}

/// Fails if the server does not have the requested storage engine, because some servers would
/// silently use another one.
pub(crate) fn is_on_server(
    session: &mut AdminSession,
    database: &dyn Database,
    workload: &dyn Workload,
) -> Result<(), Error> {
    let asked = workload.population().and_then(|population| population.storage_engine());
    let Some((engine, list)) = asked.zip(database.administration().list_storage_engines) else {
        return Ok(());
    };
    let mut there = Vec::new();
    session.read(list, &mut |row: &dyn Row| {
        there.push(row.text(0)?.to_owned());
        Ok(())
    })?;
    if there.iter().any(|name| name.eq_ignore_ascii_case(engine)) {
        return Ok(());
    }
    // The error lists only engines that can be requested, by the values of the parameter.
    let dialect = database.dialect();
    let has =
        |known: &&StorageEngine| there.iter().any(|name| name.eq_ignore_ascii_case(known.name));
    let known = dialect.storage_engines.iter().filter(has);
    let there: Vec<&str> = known.map(|engine| engine.name).collect();
    let plugin = dialect.engine(engine).and_then(|engine| engine.plugin);
    let remedy = plugin.map_or("use a server that has it".to_owned(), |plugin| {
        format!(
            "load its plugin, if the server has it (a managed server with \
             ?plugin_load_add={plugin} in the target, another one with INSTALL SONAME '{plugin}')"
        )
    });
    let why = format!(
        "the server has no storage engine {engine}: choose one that it has ({}), or {remedy}",
        there.join(", ")
    );
    Err(Error::Usage(why))
}

/// Reads the storage engine of an existing table; `None` if it is not one that can be requested.
pub(crate) fn of_table(
    session: &mut AdminSession,
    database: &dyn Database,
    table: &str,
) -> Result<Option<&'static str>, DbError> {
    let Some(query) = database.administration().storage_engine_of else { return Ok(None) };
    let mut found = None;
    session.read(&query(table), &mut |row: &dyn Row| {
        found = database.dialect().engine(row.text(0)?).map(|engine| engine.name);
        Ok(())
    })?;
    Ok(found)
}

/// Returns true if a server crash empties tables in the requested storage engine.
pub(crate) fn may_be_emptied(dialect: &Dialect, workload: &dyn Workload) -> bool {
    asked(dialect, workload).is_some_and(|engine| engine.is_emptied_by_crash)
}

/// Fails if a table of complete data is empty that should have rows, as after a server crash.
pub(crate) fn has_its_rows(database: &dyn Database, workload: &dyn Workload) -> Result<(), Error> {
    let mut session = AdminSession::at(database)?;
    let Some(population) = workload.population() else { return Ok(()) };
    for (index, table) in population.tables().iter().enumerate() {
        let sql = format!("SELECT COUNT(*) FROM (SELECT 1 FROM {} LIMIT 1) t", table.name);
        if population.n_rows(index) > 0 && session.number(&sql)? == Some(0) {
            return Err(Error::Failed(format!(
                "the table {} is empty, as a crash of the server leaves tables of its storage \
                 engine: drop the data and build them again",
                table.name
            )));
        }
    }
    Ok(())
}

/// Returns the workload's consistency checks, without those that cannot pass in a storage engine
/// without transactions. Empty if the database keeps no data.
pub(crate) fn checks(database: &dyn Database, workload: &dyn Workload) -> Vec<Check> {
    match database.administration().keeps_data {
        true => checks_in(database.dialect(), workload),
        false => Vec::new(),
    }
}

fn checks_in(dialect: &Dialect, workload: &dyn Workload) -> Vec<Check> {
    let mut checks = workload.checks(dialect);
    checks.retain(|check| !has_no_transactions(dialect, workload) || !needs(workload, check));
    checks
}

/// Returns the comparison of dbdyno's commits with a value in the workload's tables; `None` if the
/// workload has none, or if the storage engine of its tables cannot pass it.
pub(crate) fn crosscheck(database: &dyn Database, workload: &dyn Workload) -> Option<Crosscheck> {
    let is_kept = database.administration().keeps_data;
    crosscheck_in(database.dialect(), workload).filter(|_| is_kept)
}

fn crosscheck_in(dialect: &Dialect, workload: &dyn Workload) -> Option<Crosscheck> {
    let is_left_out =
        has_no_transactions(dialect, workload) && workload.needs_transactions().crosscheck;
    workload.crosscheck(dialect).filter(|_| !is_left_out)
}

fn needs(workload: &dyn Workload, check: &Check) -> bool {
    workload.needs_transactions().checks.contains(&check.id)
}

/// Returns true if the requested storage engine has no transactions.
pub(crate) fn has_no_transactions(dialect: &Dialect, workload: &dyn Workload) -> bool {
    asked(dialect, workload).is_some_and(|engine| !engine.is_transactional)
}

/// Returns notes for the report about the requested storage engine, or that the database keeps no
/// data. Empty for the default engine.
pub(crate) fn notes(database: &dyn Database, workload: &dyn Workload) -> Vec<String> {
    let dialect = database.dialect();
    match database.administration().keeps_data {
        true => notes_in(dialect, workload),
        false => nothing_is_stored(dialect, workload).into_iter().collect(),
    }
}

fn notes_in(dialect: &Dialect, workload: &dyn Workload) -> Vec<String> {
    let Some(engine) = asked(dialect, workload) else { return Vec::new() };
    let mut notes = vec![format!("The tables are in the storage engine {}.", engine.name)];
    if !engine.is_transactional {
        notes.push(format!(
            "{NO_TRANSACTIONS}: each statement is committed by itself, what a failed or \
             rolled-back transaction has written stays, and no lock outlives its statement."
        ));
        notes.extend(left_out(dialect, workload));
    }
    if let Some(loss) = engine.loss {
        notes.push(format!("Whatever the settings of the server are, {loss}."));
    }
    if !engine.keeps_marks() {
        let why = "A build that was interrupted begins again with empty tables: this engine does \
                   not keep rows and the mark that they are there together.";
        notes.push(why.to_owned());
    }
    notes
}

/// Returns the sentence that lists the checks which are omitted because they need transactions;
/// `None` if there are none.
fn left_out(dialect: &Dialect, workload: &dyn Workload) -> Option<String> {
    let needs_them = |check: &Check| needs(workload, check);
    let of_commits = workload.needs_transactions().crosscheck;
    let all = all_of(dialect, workload, &needs_them, of_commits)?;
    Some(format!("{NOT_CHECKED}, since it cannot hold without transactions: {all}."))
}

/// Returns the sentence that lists the checks which are omitted because the database keeps no data;
/// `None` if there are none.
fn nothing_is_stored(dialect: &Dialect, workload: &dyn Workload) -> Option<String> {
    let all = all_of(dialect, workload, &|_| true, true)?;
    Some(format!("{NOT_CHECKED}, since {} stores nothing: {all}.", dialect.name))
}

/// Returns the names of the workload's consistency checks for which `is_named` is true, as a list
/// in words. With `of_commits`, adds the crosscheck of commits. `None` if the list is empty.
fn all_of(
    dialect: &Dialect,
    workload: &dyn Workload,
    is_named: &dyn Fn(&Check) -> bool,
    of_commits: bool,
) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for check in workload.checks(dialect).iter().filter(|check| is_named(check)) {
        if !all.contains(&check.id) {
            all.push(check.id);
        }
    }
    if of_commits && workload.crosscheck(dialect).is_some() {
        all.push("the database's own count of commits");
    }
    Some(list(&all)).filter(|names| !names.is_empty())
}

/// Returns the name of the storage engine of the tables: the requested one, or the database's
/// default. `None` if there are no tables or engines.
pub(crate) fn used(dialect: &Dialect, workload: &dyn Workload) -> Option<&'static str> {
    workload.population()?;
    Some(asked(dialect, workload).or(dialect.storage_engine)?.name)
}

/// Returns `facts` with the durability of commits judged again for tables in the storage engines
/// `used`: without the settings of other engines, whose names begin with the name of their engine.
pub(crate) fn durability(facts: Vec<Fact>, database: &dyn Database, used: &[&str]) -> Vec<Fact> {
    let engines = database.dialect().storage_engines.iter();
    let others: Vec<String> = engines
        .filter(|engine| !used.is_empty() && !used.contains(&engine.name))
        .map(|engine| format!("{}_", engine.name))
        .collect();
    let is_of_others = |fact: &&Fact| others.iter().any(|other| fact.name.starts_with(other));
    if !facts.iter().any(|fact| is_of_others(&fact)) {
        return facts;
    }
    let theirs: Vec<Fact> = facts.iter().filter(|fact| !is_of_others(fact)).cloned().collect();
    let said = (database.administration().durability)(&theirs);
    CommitRisk::replaced(facts, said)
}

/// Returns the risk for commits that the requested storage engine has whatever the server's
/// settings are; `None` if there is none.
pub(crate) fn risk(dialect: &Dialect, workload: &dyn Workload) -> Option<CommitRisk> {
    let engine = asked(dialect, workload)?;
    Some(CommitRisk { mode: format!("engine={}", engine.name), loss: engine.loss?.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::Settings;

    use super::*;

    const HEAP: StorageEngine = StorageEngine::with_clause("innodb", "");
    const FLAT: StorageEngine = StorageEngine {
        is_transactional: false,
        loss: Some("a crash may damage them"),
        ..StorageEngine::with_clause("myisam", "")
    };

    fn workload(name: &str, engine: &str) -> Arc<dyn Workload> {
        let entry = workloads::by_name(name).expect("known");
        let settings = Settings::decide(name, entry.parameters, [("engine", engine)]);
        entry.made(&settings.expect("valid"), 7, None).expect("valid")
    }

    #[test]
    fn every_workload_with_tables_has_the_parameter_and_its_population_says_so() {
        for entry in workloads::all() {
            let settings = Settings::decide(entry.name, entry.parameters, []).expect("valid");
            let workload = entry.made(&settings, 7, None).expect("valid");
            if workload.population().is_none() {
                continue;
            }
            let engine = workload.population().and_then(|population| population.storage_engine());
            assert_eq!(engine, None, "{}", entry.name);
            let workload = self::workload(entry.name, "myisam");
            let engine = workload.population().and_then(|population| population.storage_engine());
            assert_eq!(engine, Some("myisam"), "{}", entry.name);
            assert_eq!(workload.identity().scale_of("engine"), Some("myisam"), "{}", entry.name);
        }
    }

    #[test]
    fn what_needs_transactions_is_left_out_where_there_are_none_and_it_is_said() {
        let dialect = Dialect { storage_engines: &[HEAP, FLAT], ..Dialect::PLAIN };
        let check = |engine, n_checks, has_crosscheck, n_notes| {
            let workload = workload("tpcc", engine);
            assert_eq!(checks_in(&dialect, workload.as_ref()).len(), n_checks, "{engine}");
            assert_eq!(crosscheck_in(&dialect, workload.as_ref()).is_some(), has_crosscheck);
            let notes = notes_in(&dialect, workload.as_ref());
            assert_eq!(notes.len(), n_notes, "{notes:#?}");
            notes
        };
        check("default", 13, true, 0);
        check("innodb", 13, true, 1);
        let notes = check("myisam", 4, false, 5);
        assert!(notes[1].contains("no lock outlives its statement"), "{notes:#?}");
        assert_eq!(
            notes[2],
            "Not checked, since it cannot hold without transactions: 3.3.2.2, 3.3.2.3, 3.3.2.4, \
             3.3.2.5, 3.3.2.6, 3.3.2.7, 3.3.2.10, 3.3.2.11, 3.3.2.12 and the database's own count \
             of commits."
        );
        assert_eq!(notes[3], "Whatever the settings of the server are, a crash may damage them.");
        let others = notes_in(&dialect, workload("record", "myisam").as_ref());
        assert_eq!(others.len(), 4, "{others:#?}");
    }
}
