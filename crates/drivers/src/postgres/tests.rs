//! Tests of the PostgreSQL driver, on real servers where possible, otherwise on scripted bytes.

mod odd;
mod on_server;
mod pgbouncer;
mod transcripts;
mod users;

use std::sync::Arc;

use servers::Kind;
use servers::for_tests::{POSTGRES, POSTGRES_18};

use crate::conformance::{OnLoops, holds, on_io_uring};
use crate::on_servers::{Site, keeps};

keeps! {
    laws [named_statements_hold_all_laws];
    on postgres_18: POSTGRES_18;
}

keeps! {
    laws [
        named_statements_hold_all_laws,
        unnamed_statements_hold_all_laws,
        simple_statements_hold_all_laws,
        clients_on_event_loops_hold_all_laws,
        clients_on_io_uring_hold_all_laws,
    ];
    on postgres: POSTGRES;
    named Kind::Postgres;
}

fn named_statements_hold_all_laws(site: &Site) {
    holds(&|| site.open("named", &[]));
}

fn unnamed_statements_hold_all_laws(site: &Site) {
    holds(&|| site.open("unnamed", &[("statements", "unnamed")]));
}

fn simple_statements_hold_all_laws(site: &Site) {
    holds(&|| site.open("simple", &[("statements", "simple")]));
}

fn clients_on_event_loops_hold_all_laws(site: &Site) {
    holds(&|| Arc::new(OnLoops(site.open("loops", &[]))));
}

fn clients_on_io_uring_hold_all_laws(site: &Site) {
    on_io_uring(|| holds(&|| Arc::new(OnLoops(site.open("ring", &[])))));
}
