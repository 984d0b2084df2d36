//! Histories from the outside: builds in order, changes of level, and regressions as exit codes.

use serde_json::json;

use crate::home::{Home, at, number};
use crate::http::Web;

/// Runs of a database that is as fast as it says, one for each build.
fn builds(home: &Home, builds: &[(&str, &str)]) {
    for (seed, (build, service)) in builds.iter().enumerate() {
        let target = format!("--target=sim:?service=exponential:{service}&servers=4");
        let seed = format!("--seed={seed}");
        let words = ["run", "empty", &target, &seed, "--placement=simulated", "--clients=8"];
        let label = format!("--label=build={build}");
        home.run(&[&words[..], &["--duration=20s", "--ramp-up=0s", &label]].concat()).good();
    }
}

#[test]
fn the_last_of_a_few_builds_is_held_against_the_ones_before() {
    let home = Home::new();
    builds(&home, &[("1.2", "2ms"), ("1.10", "2ms"), ("1.9", "2ms"), ("1.10-rc1", "2ms")]);
    home.run(&["history", "--fail-on-regression"]).good().says(&["TPS by build", "4 builds"]);
    builds(&home, &[("1.11", "2200us")]);
    let told = home.run(&["history", "--fail-on-regression", "--output=json"]).code(1).json();
    assert_eq!(at(&told, "schema"), "dbdyno.history/1");
    let point = &at(&told, "points")[0];
    let series = at(point, "builds").as_array().expect("a list");
    let names: Vec<&str> = series.iter().filter_map(|one| at(one, "build").as_str()).collect();
    assert_eq!(names, ["1.2", "1.9", "1.10-rc1", "1.10", "1.11"]);
    assert!((number(point, "last.ratio") - 1.0 / 1.1).abs() < 0.03, "{point:#}");
    home.run(&["history"]).good().says(&["the last is WORSE", "5 of the 20 builds"]);
    let csv = home.run(&["history", "--output=csv"]).good();
    csv.says(&["point,build,runs,figure,value", ",1.10-rc1,1,tps,"]);
    let markdown = home.run(&["history", "--output=markdown"]).good();
    let headline = "**TPS by build: 5 builds, the last is WORSE**";
    let rest = ["| build | runs |", "| 1.10-rc1 | 1 |", "was to be expected (99 %)"];
    markdown.says(&[headline]).says(&rest);
    home.run(&["history", "--by=kernel"]).code(2).warns(&["no run has the label kernel"]);
    home.run(&["history", "--by="]).code(2).warns(&["'' is no label: name the one whose"]);
}

#[test]
fn a_change_of_level_is_marked_where_it_came() {
    let home = Home::new();
    let names: Vec<String> = (0..24).map(|n| format!("1.{n}")).collect();
    let speeds = (0..24).map(|n| if n < 18 { "2ms" } else { "2200us" });
    builds(&home, &names.iter().map(String::as_str).zip(speeds).collect::<Vec<_>>());
    let told = home.run(&["history", "--output=json", "--fail-on-regression"]).code(1).json();
    let changes = at(&told, "points")[0]["changes"].as_array().expect("long enough").clone();
    assert_eq!(changes.len(), 1, "{changes:#?}");
    assert_eq!(at(&changes[0], "build"), "1.18");
    assert!((number(&changes[0], "ratio") - 1.0 / 1.1).abs() < 0.02);
    home.run(&["history"]).good().says(&["-9.", "worse: "]);
}

#[test]
fn a_damaged_run_is_left_out_and_told() {
    let home = Home::new();
    builds(&home, &[("1.1", "2ms"), ("1.2", "2ms"), ("1.2", "2ms"), ("1.3", "2ms")]);
    let break_newest = || {
        let store = rusqlite::Connection::open(home.store());
        let store = store.expect("a store");
        let newest = "SELECT id FROM run WHERE json_valid(report) ORDER BY number DESC LIMIT 1";
        let run: String = store.query_row(newest, (), |row| row.get(0)).expect("there are runs");
        let broken = "UPDATE run SET report = '{broken' WHERE id = ?";
        assert_eq!(store.execute(broken, [&run]).expect("it is written"), 1);
        run
    };
    home.run(&["history", "--fail-on-regression"]).good();
    // That of the last build leaves nothing of it that counts.
    let last = break_newest();
    let told = home.run(&["history", "--fail-on-regression"]).code(1);
    let left_out = "1.3 is left out: of 1 run none is completed and valid; it is the last";
    told.says(&[left_out, "Left out: 1 run with a damaged report", &last, "runs rm"]);
    // Of a build before it the other one stays.
    let second = break_newest();
    let told = home.json(&["history"]);
    let runs = |n: usize| told["points"][0]["builds"][n]["runs"].as_array().map(Vec::len);
    assert_eq!((at(&told, "damaged").clone(), runs(1)), (json!([second, last]), Some(1)));
    let web = Web::start(&home, &[]);
    let page = web.page("/history?by=build");
    assert!(page.contains("Left out: 2 runs") && page.contains(&second), "{page}");
}
