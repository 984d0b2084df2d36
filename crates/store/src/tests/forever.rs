//! Tests of stored formats: all versions remain readable.

use super::*;

fn golden_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-data/store-v1.sql")
}

fn schema_of(connection: &Connection) -> Vec<String> {
    let sql = "SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid";
    let mut select = connection.prepare(sql).expect("a schema");
    let statements = select.query_map((), |row| row.get(0)).expect("a schema");
    statements.map(|statement| statement.expect("a statement")).collect()
}

/// Returns the whole content of a store as SQL text.
fn dump(connection: &Connection) -> String {
    let mut text = format!("PRAGMA application_id = {};\n", schema::APPLICATION_ID);
    text.push_str("PRAGMA user_version = 1;\n");
    for statement in schema_of(connection) {
        text.push_str(&format!("{statement};\n"));
    }
    for table in ["run", "fact", "event", "second", "client", "finding", "label"] {
        let mut select = connection.prepare(&format!("SELECT * FROM {table}")).expect("a table");
        let names: Vec<&str> = select.column_names().collect();
        let names = names.join("\"), quote(\"");
        let sql = format!("SELECT concat_ws(', ', quote(\"{names}\")) FROM {table}");
        select = connection.prepare(&sql).expect("a table");
        let mut rows = select.query(()).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let values: String = row.get(0).expect("text");
            text.push_str(&format!("INSERT INTO {table} VALUES ({values});\n"));
        }
    }
    text
}

/// Reads a file that the first version of the store wrote, and that never changes. For another
/// format, a second file is added: `DBDYNO_WRITE_GOLDEN=1` writes one if it does not exist.
#[test]
fn a_store_of_version_1_is_read_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let begun = begun("01970000-0000-7000-8000-000000000001", 1_700_000_000_000);
    if std::env::var("DBDYNO_WRITE_GOLDEN").is_ok() && !golden_path().exists() {
        let store = Store::open(&folder.path().join("new.sqlite")).expect("a store");
        write(&store, &begun, first_events()).expect("written");
        store.label(&run_of(&begun), "host", "left").expect("a run");
        fs::write(golden_path(), dump(&raw(&store))).expect("a file");
    }
    let golden = fs::read_to_string(golden_path()).expect("the golden file");
    Connection::open(&path).expect("a database").execute_batch(&golden).expect("a store");

    let store = Store::open_existing(&path).expect("a store of version 1");
    // Later versions store times of clients there.
    let mut first_events = first_events();
    for event in &mut first_events {
        if let Event::Clients { moments, .. } = event {
            moments.iter_mut().for_each(|client| client.times.clear());
        }
    }
    assert_eq!(replay(&store, &run_of(&begun))[1..], first_events);
    assert_eq!(replay(&store, &run_of(&begun))[0], begun);
    let row = only(&store);
    assert_eq!((row.status, row.p99_ms), (Status::Completed, Some(1.234567)));
    assert_eq!(row.labels, [("host".to_owned(), "left".to_owned())]);
    assert!(store.report_json(&row.run).expect("a run").is_some());

    let (_folder, new) = new_store();
    assert_eq!(schema_of(&raw(&store)), schema_of(&raw(&new)), "old stores become as new ones");
}

#[test]
fn what_is_stored_keeps_the_names_of_old_stores() {
    let has = |value: &serde_json::Value, name: &str| {
        assert!(value.get(name).is_some(), "{name} is missing: {value}");
    };
    let group = serde_json::to_value(group("tpcc")).expect("it is JSON");
    ["until", "headlines", "measures", "declarations"].iter().for_each(|name| has(&group, name));
    let (_folder, store) = new_store();
    let wait_until = Some(model::Condition { sql: "SELECT 1".to_owned(), at_most_ns: 9 });
    let waiting = Experiment { wait_until, ..experiment() };
    has(&serde_json::to_value(&waiting).expect("it is JSON"), "until");
    store.add_experiment(&waiting).expect("stored");
    assert_eq!(store.find_experiment(&waiting.id).expect("read"), waiting);
}

#[test]
fn the_store_lies_where_the_environment_says() {
    let check = |variables: &[(&str, &str)], expect: Option<&str>| {
        let look = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(default_path(&look), expect.map(PathBuf::from), "{variables:?}");
    };
    check(&[], None);
    check(&[("HOME", "/h")], Some("/h/.local/share/dbdyno/runs.sqlite"));
    check(&[("HOME", "/h"), ("XDG_DATA_HOME", "/d")], Some("/d/dbdyno/runs.sqlite"));
    let relative = [("HOME", "/h"), ("XDG_DATA_HOME", "d")];
    check(&relative, Some("/h/.local/share/dbdyno/runs.sqlite"));
    check(&[("HOME", "/h"), ("DBDYNO_STORE", "my.db")], Some("my.db"));
    check(&[("HOME", "/h"), ("DBDYNO_STORE", "")], Some("/h/.local/share/dbdyno/runs.sqlite"));
}
