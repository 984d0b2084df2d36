//! Every example runs, so that none rots.
//!
//! Not here: whether its figures are worth anything after a second.

use std::path::Path;

use serde_json::Value;

use crate::home::{Home, number};
use crate::journey::nothing_is_lost;

/// The report of an example, cut short.
fn report(home: &Home, name: &str, flags: &[&str]) -> Value {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let example = example.to_string_lossy().into_owned();
    let args = ["run", &example, "--duration=1s", "--ramp-up=0s", "--quiet"];
    let report = home.report(&[&args[..], flags].concat());
    assert_eq!(number(&report, "measured_seconds"), 1.0);
    assert!(number(&report, "counts.finished") > 0.0);
    nothing_is_lost(&report);
    report
}

#[test]
fn the_examples_on_tpcc_run() {
    let home = Home::new();
    home.put_tpcc();
    let target = format!("--target=sqlite:{}", home.database("tpcc").display());
    let closed = report(&home, "tpcc.toml", &[&target]);
    assert!(number(&closed, "nopm") > 0.0);
    let open = report(&home, "open.toml", &[&target]);
    assert!((100.0..300.0).contains(&number(&open, "counts.offered")), "{}", open["counts"]);
    let keythink = report(&home, "keythink.toml", &[&target]);
    // A client rests for two seconds and more, so few have had their turn.
    assert!(number(&keythink, "counts.offered") < 40.0, "{}", keythink["counts"]);
}

#[test]
fn the_example_on_oltp_runs() {
    let home = Home::new();
    let report = report(&home, "oltp.toml", &["--table-size=1000"]);
    assert_eq!(number(&report, "counts.failed"), 0.0);
    assert!(number(&report, "reads_per_second") > number(&report, "writes_per_second"));
}

#[test]
fn the_example_in_virtual_time_runs() {
    let home = Home::new();
    let report = report(&home, "sim-queue.toml", &[]);
    assert_eq!(report["placement"], "simulated");
}
