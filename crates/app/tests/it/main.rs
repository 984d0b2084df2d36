//! Tests that need several crates: data through builds, servers, imported runs.

mod bench;
mod builds;
mod damaged;
mod engines;
mod flaky;
mod houses;
mod monitoring;
mod oltp;
mod record;
mod routines;
mod several;
