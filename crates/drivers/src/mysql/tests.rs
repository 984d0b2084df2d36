//! Laws of the MySQL family: on a real server where there is one, else on made-up bytes.

mod on_server;
mod peer;
mod rude;
mod transcripts;

use std::sync::Arc;

use model::{Database, Target};

use super::ENTRY;
use crate::{Opening, conformance};

/// The server that `DBDYNO_TEST_MYSQL_URL` names. Its database is written to.
#[expect(clippy::disallowed_methods, reason = "a test that needs a server asks for it by name")]
fn url() -> Option<String> {
    let url = std::env::var("DBDYNO_TEST_MYSQL_URL").ok();
    if url.is_none() {
        eprintln!("SKIPPED: DBDYNO_TEST_MYSQL_URL names no server");
    }
    url
}

/// Opens a database of its own on the server, with an option.
fn open(url: &str, name: &str, option: Option<(&str, &str)>) -> Arc<dyn Database> {
    let mut target = Target::parse(url).expect("a URL");
    target.path = format!("{}_{name}", target.path);
    target.options.extend(option.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let opening = Opening { create: true, seed: 1 };
    (ENTRY.open)(&target, opening).unwrap_or_else(|no| panic!("{no}"))
}

#[test]
fn the_family_keeps_all_laws() {
    let Some(url) = url() else { return };
    conformance::holds(&|| open(&url, "binary", None));
}

#[test]
fn statements_as_text_keep_all_laws() {
    let Some(url) = url() else { return };
    conformance::holds(&|| open(&url, "text", Some(("statements", "text"))));
}

#[test]
fn compressed_connections_keep_all_laws() {
    let Some(url) = url() else { return };
    let database = open(&url, "deflated", Some(("compress", "zlib")));
    let facts = database.facts().expect("it answers");
    let is_told =
        |value: &str| facts.iter().any(|fact| fact.name == "compress" && fact.value == value);
    assert!(is_told("zlib"), "{facts:?}");
    conformance::holds(&|| Arc::clone(&database));
    on_server::packets_of_more_than_16_mib(&database);
    on_server::loads_are_small_on_the_wire(&database);
}

#[test]
fn clients_on_event_loops_keep_all_laws() {
    let Some(url) = url() else { return };
    conformance::holds(&|| Arc::new(conformance::OnLoops(open(&url, "loops", None))));
}
