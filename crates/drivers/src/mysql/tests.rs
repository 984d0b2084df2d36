//! Tests of the MySQL driver, on real servers where possible, otherwise with scripted ones.

mod late;
mod odd;
mod on_server;
mod one_at_a_time;
mod peer;
mod rude;
mod transcripts;
mod users;

use std::sync::Arc;

use servers::Kind;
use servers::for_tests::{MARIADB, MARIADB_11_4, MARIADB_11_8, MYSQL_5_6, MYSQL_9_7};

use crate::conformance::{OnLoops, holds, on_io_uring};
use crate::net::{Channel, TlsMode};
use crate::on_servers::{Site, keeps};

/// Returns the channel of a TCP connection without TLS.
fn channel_in_clear() -> Channel {
    Channel {
        tls_mode: TlsMode::Disable,
        is_direct: false,
        is_tls: false,
        is_local: false,
        certificate: None,
    }
}

keeps! {
    laws [prepared_statements_keep_all_laws];
    on mariadb_11_4: MARIADB_11_4, mariadb_11_8: MARIADB_11_8, mysql_5_6: MYSQL_5_6,
        mysql_9_7: MYSQL_9_7;
}

keeps! {
    laws [
        prepared_statements_keep_all_laws,
        statements_as_text_keep_all_laws,
        clients_on_event_loops_keep_all_laws,
        clients_on_io_uring_keep_all_laws,
        compressed_connections_keep_all_laws,
    ];
    on mariadb: MARIADB;
    named Kind::MariaDb, Kind::MySql;
}

fn prepared_statements_keep_all_laws(site: &Site) {
    holds(&|| site.open("binary", &[]));
}

fn statements_as_text_keep_all_laws(site: &Site) {
    holds(&|| site.open("text", &[("statements", "text")]));
}

fn clients_on_event_loops_keep_all_laws(site: &Site) {
    holds(&|| Arc::new(OnLoops(site.open("loops", &[]))));
}

fn clients_on_io_uring_keep_all_laws(site: &Site) {
    on_io_uring(|| holds(&|| Arc::new(OnLoops(site.open("ring", &[])))));
}

fn compressed_connections_keep_all_laws(site: &Site) {
    let database = site.open("deflated", &[("compress", "zlib")]);
    let facts = database.facts().expect("it answers");
    let is_reported =
        |value: &str| facts.iter().any(|fact| fact.name == "compress" && fact.value == value);
    assert!(is_reported("zlib"), "{facts:?}");
    holds(&|| Arc::clone(&database));
    on_server::packets_of_more_than_16_mib(&database);
    on_server::loads_are_small_on_the_wire(&database);
}
