//! Histories from the outside: builds in order, changes of level, and regressions as exit codes.

use crate::home::{Home, at, number};

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
    home.run(&["history", "--by=kernel"]).code(2).warns(&["no run has the label kernel"]);
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
