//! Tests of `dbdyno selfcheck intervals`: claims are compared with known true values.

use crate::home::{Home, at};

const USAGE: i32 = 2;

#[test]
fn intervals_and_verdicts_are_held_against_the_truth() {
    let home = Home::new();
    let found = home.json(&["selfcheck", "intervals", "--runs=10"]);
    assert_eq!(found["schema"], "dbdyno.coverage/1");
    assert_eq!(found["good"], true, "{found:#}");
    let rows = at(&found, "rows").as_array().expect("rows");
    let claims: Vec<&str> = rows.iter().filter_map(|row| row["what"].as_str()).collect();
    for claim in [
        "interval of TPS",
        "interval of mean",
        "interval of p95",
        "interval of p99",
        "the upper end of p95 is too low",
        "half-width of TPS at most twice the right one",
        "interval at the stop",
        "an alarm is raised",
        "interval of the boundary",
        "the confirmed value lies above",
        "interval of the clients at the peak",
        "a difference is decided",
    ] {
        assert!(claims.contains(&claim), "{claim} in {claims:?}");
    }
    let made = |row: &serde_json::Value| row["made"].as_str().map(str::to_owned);
    let whole = rows.iter().filter(|row| made(row).as_deref() == Some("whole runs")).count();
    assert_eq!((whole, rows.iter().all(|row| made(row).is_some())), (24, true), "{found:#}");
    // A busy minute has no CI for p99, and says so.
    let is_busy = |row: &&serde_json::Value| {
        row["model"] == "M/M/1, load 0.9, 60 s" && row["what"] == "interval of p99"
    };
    let busy = rows.iter().find(is_busy).expect("a row");
    assert!(busy["given"].as_u64() < Some(3), "{busy}");
    home.run(&["selfcheck", "intervals", "--runs=3"]).code(USAGE);
}
