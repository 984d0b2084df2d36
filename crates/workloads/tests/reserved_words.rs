//! Tests that no SQL of a workload uses a word as a name that some server version reserves, in any
//! execution mode. Not here: the words (drivers).

use std::collections::BTreeSet;

use drivers::for_tests::reserved_names;
use model::{Dialect, ParameterKind, Settings, Workload};
use workloads::{ALL, Entry, Make};

/// Returns the SQL dialect of the servers that reserve more words with each version.
fn dialect() -> Dialect {
    let entry = drivers::by_scheme("mysql").expect("there is a driver");
    entry.product.dialect
}

/// Returns sets of parameter values that lead to different statements of a workload.
fn variants(entry: &Entry) -> Vec<Vec<(&'static str, String)>> {
    let mut all = vec![Vec::new()];
    for parameter in entry.parameters {
        let values: Vec<String> = match parameter.kind {
            ParameterKind::Choice(names) => names.iter().map(ToString::to_string).collect(),
            ParameterKind::Switch => vec!["true".to_owned(), "false".to_owned()],
            // Partitions, indexes, contexts.
            ParameterKind::Count { .. } => vec!["2".to_owned()],
            _ => Vec::new(),
        };
        all.extend(values.into_iter().map(|value| vec![(parameter.name, value)]));
    }
    let of_roles = entry.roles.iter().map(|role| role.parameters);
    let owned = |(name, value): &(&'static str, &str)| (*name, value.to_string());
    all.extend(of_roles.map(|written| written.iter().map(owned).collect()));
    all
}

/// Returns all SQL texts of a workload in this dialect.
fn texts(workload: &dyn Workload, dialect: &Dialect) -> Vec<String> {
    let statements = workload.statements(dialect).into_iter();
    let mut texts: Vec<String> = statements.map(|statement| statement.sql.to_string()).collect();
    texts.extend(workload.routines_ever(dialect).into_iter().map(|routine| routine.create));
    texts.extend(workload.checks(dialect).into_iter().map(|check| check.sql));
    texts.extend(workload.crosscheck(dialect).map(|crosscheck| crosscheck.sql));
    let tables = workload.population().map(|population| population.tables()).unwrap_or_default();
    for table in tables {
        texts.push(dialect.create_table(table));
        texts.push(dialect.insert(table));
        texts.extend(table.indexes.iter().map(|index| dialect.create_index(table, index)));
    }
    texts
}

#[test]
fn no_name_in_sql_of_a_workload_is_reserved_anywhere() {
    let dialect = dialect();
    let mut n_texts = 0;
    let mut found = BTreeSet::new();
    for entry in ALL {
        for written in variants(entry) {
            let pairs = written.iter().map(|(name, value)| (*name, value.as_str()));
            // Some values are invalid without others.
            let Ok(settings) = Settings::decide(entry.name, entry.parameters, pairs) else {
                continue;
            };
            let make = Make { settings: &settings, seed: 42, data: None, source: None };
            let Ok(workload) = (entry.make)(&make) else { continue };
            for sql in texts(workload.as_ref(), &dialect) {
                n_texts += 1;
                let names = reserved_names(&sql).into_iter().map(str::to_owned);
                found.extend(names.map(|name| (entry.name, name, sql.clone())));
            }
        }
    }
    assert_eq!(found, BTreeSet::new());
    assert!(n_texts > 1_000, "{n_texts} texts were seen");
}
