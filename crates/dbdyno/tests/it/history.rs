//! Tests of histories: builds in order, changes of level, regressions as exit codes, and imported
//! figures.

use std::path::Path;

use serde_json::json;

use crate::home::{Home, at, number, number_in};
use crate::http::Web;

const RUNS: &str = "SELECT count(*) FROM run";

/// Runs a simulated database with the given service time for each build.
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
fn a_build_that_is_still_being_measured_is_not_judged_yet() {
    let home = Home::new();
    let begun = |build: &str| {
        let label = format!("--label=build={build}");
        let words = ["run", "empty", "--target=sim:?service=constant:5ms", "--rate=50"];
        home.start(&[&words[..], &["--duration=600s", "--check=off", &label]].concat())
    };
    let gate = ["history", "--fail-on-regression"];
    let mut run = begun("1.1");
    run.wait_until("a run in the store", |_| number_in(&home.store(), RUNS) == Some(1));
    home.run(&gate).code(2).warns(&["no run with the label build has ended: one is still running"]);
    run.interrupt();
    run.end().code(130);

    // The last build must not pass because of an earlier good one.
    builds(&home, &[("1.2", "2ms"), ("1.3", "2ms"), ("1.4", "2ms"), ("1.5", "2ms")]);
    home.run(&gate).good();
    let mut run = begun("1.6");
    run.wait_until("a run in the store", |_| number_in(&home.store(), RUNS) == Some(6));
    let undecided = "--fail-on-regression is undecided: 1.6 is still being measured";
    home.run(&gate).code(3).says(&["1.6 is still being measured"]).warns(&[undecided]);
    home.run(&[&gate[..], &["--undecided=pass"]].concat()).good();
    home.run(&["runs", "label", "last", "build=1.2"]).good();
    // Another repeat of an older build does not affect the last.
    home.run(&gate).good();
    run.interrupt();
    run.end().code(130);
}

#[test]
fn the_last_of_a_few_builds_is_held_against_the_ones_before() {
    let home = Home::new();
    builds(&home, &[("1.2", "2ms")]);
    // Whether the first build is worse is undecided, which is not a pass.
    let gate = ["history", "--fail-on-regression"];
    home.run(&gate).code(3).warns(&[
        "is undecided: the last build 1.2 cannot be judged, since too few",
        "--undecided pass",
    ]);
    home.run(&[&gate[..], &["--undecided=pass"]].concat()).good();
    home.run(&["history"]).good();
    builds(&home, &[("1.10", "2ms"), ("1.9", "2ms"), ("1.10-rc1", "2ms")]);
    // The build measured last is not the last version.
    let before_last = home.run(&gate).code(3);
    before_last.says(&["TPS by build", "4 builds"]).warns(&["1.10-rc1 was measured last"]);
    home.run(&["history", "--fail-on-regression", "--order=time"]).good();
    builds(&home, &[("1.11", "2200us")]);
    let shown = home.run(&["history", "--fail-on-regression", "--output=json"]).code(1).json();
    assert_eq!(at(&shown, "schema"), "dbdyno.history/1");
    let point = &at(&shown, "points")[0];
    let series = at(point, "builds").as_array().expect("a list");
    let names: Vec<&str> = series.iter().filter_map(|one| at(one, "build").as_str()).collect();
    assert_eq!(names, ["1.2", "1.9", "1.10-rc1", "1.10", "1.11"]);
    assert!((number(point, "last.ratio") - 1.0 / 1.1).abs() < 0.03, "{point:#}");
    home.run(&["history"]).good().says(&["the last build (1.11) is WORSE", "5 of the 10"]);
    home.run(&gate)
        .code(1)
        .warns(&["--fail-on-regression: 1.11 is worse: tps -9."])
        .is_a_sentence();
    let annotated = home.run(&[&gate[..], &["--output=github"]].concat()).code(1);
    let annotated =
        annotated.says(&["::error title=dbdyno::--fail-on-regression: 1.11 is worse: tps -9."]);
    // One regression is one error, and none beside exit code 0.
    assert_eq!(annotated.out.matches("::error").count(), 1, "{}", annotated.out);
    let shown = home.run(&["history", "--output=github"]).good();
    assert!(!shown.out.contains("::error"), "{}", shown.out);
    let refused = home.run(&["history", "--by=kernel", "--output=github"]).code(2);
    refused.says(&["::error title=dbdyno::no run has the label kernel"]);
    let csv = home.run(&["history", "--output=csv"]).good();
    csv.says(&["point,build,runs,figure,value", ",1.10-rc1,1,tps,"]);
    let markdown = home.run(&["history", "--output=markdown"]).good();
    let headline = "**TPS by build: 5 builds, the last build (1.11) is WORSE**";
    let rest = ["| build | runs |", "| 1.10-rc1 | 1 |", "99.5 % interval)"];
    markdown.says(&[headline]).says(&rest);
    home.run(&["history", "--by=kernel"]).code(2).warns(&["no run has the label kernel"]);
    // Properties of every run need no label.
    for by in ["day", "database", "dbdyno"] {
        let shown = home.run(&["history", "--by", by, "--output=json"]).good().json();
        // The last build has another target.
        let runs = &at(&shown, "points")[0]["builds"][0]["runs"];
        assert_eq!(runs.as_array().map(Vec::len), Some(4), "{by}: {shown:#}");
    }
    home.run(&["history", "--by="]).code(2).warns(&["'' is not a label: name the one whose"]);
}

#[test]
fn builds_that_are_too_few_for_their_noise_say_what_would_be_seen() {
    let home = Home::new();
    for seed in 1..=4 {
        let target = "--target=sim:?service=constant:2ms&servers=4&spread=5";
        let (seed, label) = (format!("--seed={seed}1"), format!("--label=build=1.{seed}"));
        let words = ["run", "empty", target, "--placement=simulated", "--duration=2s"];
        home.run(&[&words[..], &["--ramp-up=0s", &seed, &label]].concat()).good();
    }
    home.run(&["history", "--fail-on-regression"]).code(3).warns(&[
        "since the 3 builds before it are too few for their noise: only a loss of more than ",
        "let it pass with --undecided pass (exit code 3)",
    ]);
}

#[test]
fn a_change_of_level_is_marked_where_it_came() {
    let home = Home::new();
    let names: Vec<String> = (0..24).map(|n| format!("1.{n}")).collect();
    let speeds = (0..24).map(|n| if n < 18 { "2ms" } else { "2200us" });
    builds(&home, &names.iter().map(String::as_str).zip(speeds).collect::<Vec<_>>());
    let shown = home.run(&["history", "--output=json", "--fail-on-regression"]).code(1).json();
    let changes = at(&shown, "points")[0]["changes"].as_array().expect("long enough").clone();
    assert_eq!(changes.len(), 1, "{changes:#?}");
    assert_eq!(at(&changes[0], "build"), "1.18");
    assert!((number(&changes[0], "ratio") - 1.0 / 1.1).abs() < 0.02);
    home.run(&["history"]).good().says(&["-9.", "worse: "]);
    let chart = "dbdyno report --history build -o history.html  # charts";
    home.run(&["history"]).good().says(&["Next:", chart, "A comparison of two builds has"]);
}

#[test]
fn a_damaged_run_is_left_out_and_reported() {
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
    let passes = ["history", "--fail-on-regression", "--undecided=pass"];
    home.run(&passes).good();
    // After damage to the run of the last build, that build has no valid run.
    let last = break_newest();
    let shown = home.run(&["history", "--fail-on-regression"]).code(1);
    let left_out = "1.3 is omitted: none of 1 run is completed and valid (its report is damaged)";
    shown.says(&[left_out, "Left out: 1 run with a damaged report", &last, "runs rm"]);
    home.run(&passes).code(1).warns(&["--fail-on-regression: 1.3 has no valid run ("]);
    // An earlier build keeps its other run.
    let second = break_newest();
    let shown = home.json(&["history"]);
    let runs = |n: usize| shown["points"][0]["builds"][n]["runs"].as_array().map(Vec::len);
    assert_eq!((at(&shown, "damaged").clone(), runs(1)), (json!([second, last]), Some(1)));
    let web = Web::start(&home, &[]);
    let page = web.page("/history?by=build");
    assert!(page.contains("Left out: 2 runs") && page.contains(&second), "{page}");
}

#[test]
fn a_history_reads_a_report_once_and_then_one_of_each_setup() {
    let home = Home::new();
    levels(&home, &[(14, "2ms"), (6, "2200us")]);
    let first = home.json(&["history"]);
    let changes = at(&first, "points")[0]["changes"].as_array().expect("long enough").len();
    assert_eq!(changes, 1, "{first:#}");
    let p99 = home.json(&["history", "--figure=p99"]);
    // The reports of other runs than those at the change and the first of each setup are no longer
    // read: a report of the same length in their place is not noticed.
    let store = rusqlite::Connection::open(home.store()).expect("a store");
    let spoilt = "UPDATE run SET report = '{' || printf('%*c', octet_length(report) - 1, '-')
                  WHERE number > 1 AND number NOT IN (14, 15)";
    assert_eq!(store.execute(spoilt, ()).expect("it is written"), 17);
    assert_eq!(home.json(&["history"]), first);
    assert_eq!(home.json(&["history", "--figure=p99"]), p99);
    // Without their digests, they are damaged.
    store.execute("DELETE FROM digest", ()).expect("it is written");
    let damaged = home.json(&["history"])["damaged"].as_array().map(Vec::len);
    assert_eq!(damaged, Some(17));
}

/// Runs builds one after the other: for each element of `parts`, a number of builds with the same
/// service time. Builds are named from `1.0` on.
fn levels(home: &Home, parts: &[(usize, &'static str)]) {
    let speeds: Vec<&str> = parts.iter().flat_map(|(n, speed)| vec![*speed; *n]).collect();
    let names: Vec<String> = (0..speeds.len()).map(|n| format!("1.{n}")).collect();
    builds(home, &names.iter().map(String::as_str).zip(speeds).collect::<Vec<_>>());
}

#[test]
fn a_build_after_an_acknowledged_change_is_compared_with_the_acknowledged_one() {
    let home = Home::new();
    levels(&home, &[(11, "2ms"), (1, "2500us")]);
    let gate = ["history", "--fail-on-regression"];
    home.run(&gate).code(1);
    home.run(&["history", "ack", "1.11", "--reason=checksums"]).good();
    home.run(&gate).good().says(&["worse (acknowledged)"]);
    for next in ["1.12", "1.13", "1.14"] {
        builds(&home, &[(next, "2500us")]);
        let shown = home.run(&gate).good();
        assert!(!shown.out.contains("too noisy"), "{}", shown.out);
    }
    builds(&home, &[("1.15", "3ms")]);
    home.run(&gate).code(1).warns(&["1.15 is worse: tps -1"]);
}

#[test]
fn what_is_mended_in_part_fails_until_it_is_acknowledged() {
    let home = Home::new();
    levels(&home, &[(12, "2ms"), (4, "2500us"), (4, "2270us")]);
    let shown = home.run(&["history", "--fail-on-regression"]).code(1);
    let shown = shown.says(&["% WORSE than 1.9", "build=1.11", "build=1.12"]);
    shown.says(&["At 1.12", "service", "nothing changes: at most 1 in 100 builds"]);
    home.run(&["history", "ack", "1.12"]).code(2).warns(&["--reason"]);
    home.run(&["history", "ack", "9.9", "--reason=x"]).code(2).warns(&["no run has the label"]);
    let refused = home.run(&["history", "ack", "1.4", "--reason=x"]).code(2);
    refused.warns(&["1.4 has no change", "1.12, 1.16 have one"]).is_a_sentence();
    let elsewhere = ["history", "ack", "1.16", "--reason=x", "--point=clients=9"];
    home.run(&elsewhere).code(2).warns(&["no point is clients=9"]).is_a_sentence();
    home.run(&["history", "ack", "--list"]).good().says(&["nothing is acknowledged"]);
    home.run(&["history", "ack", "1.16", "--reason=slower codec"]).good();
    home.run(&["history", "ack", "--list"])
        .good()
        .says(&["1.16: slower codec (the figure that changed most changed by about "]);
    home.run(&["history", "--fail-on-regression"]).good().says(&["Acknowledged: slower codec"]);
    // A build close to the change means it, as it does to acknowledge it.
    let undone = home.run(&["history", "ack", "1.18", "--undo"]).good();
    undone.says(&["1.16 is no longer acknowledged"]);
    let none = home.run(&["history", "ack", "1.16", "--undo"]).code(2);
    none.warns(&["1.16 is not acknowledged; nothing is"]).is_a_sentence();
    home.run(&["history", "--fail-on-regression"]).code(1);
    // A point may have the short name of its series, or the full one.
    let target = "--target=sim:?service=exponential:2ms&servers=4";
    let other = ["run", "empty", target, "--placement=simulated"];
    let more = ["--clients=4", "--statements=2", "--duration=10s", "--label=build=1.0"];
    home.run(&[&other[..], &more].concat()).good();
    home.run(&["history"]).good().says(&["TPS by build clients=8: 20 builds"]);
    let mut point = "clients=8".to_owned();
    for _ in 0..2 {
        let named = format!("--point={point}");
        home.run(&["history", "ack", "1.16", "--reason=slower codec", &named]).good();
        home.run(&["history", "--fail-on-regression"]).good().says(&["Acknowledged: slower codec"]);
        let list = home.run(&["history", "ack", "--list"]).good().out;
        let whole = list.strip_prefix("1.16 ").and_then(|line| line.split_once(": "));
        point = whole.expect("it has a point").0.to_owned();
        home.run(&["history", "ack", "1.16", "--undo", &format!("--point={point}")]).good();
    }
    assert!(point.contains("statements=1"), "{point}");
}

#[test]
fn a_pinned_baseline_is_compared_with_each_time() {
    let home = Home::new();
    levels(&home, &[(3, "2ms"), (14, "2200us")]);
    home.run(&["history", "--fail-on-regression"]).good();
    let words = ["history", "--baseline=1.1", "--fail-on-regression"];
    home.run(&words).code(1).says(&["Compared with the baseline 1.1, the last build is WORSE"]);
    home.run(&["history", "baseline"]).good().says(&["no baseline is pinned"]);
    home.run(&["history", "baseline", "7"]).code(2).warns(&["no run has the label build=7"]);
    let list = ["history", "baseline", "--list"];
    home.run(&list).good().says(&["no baseline is pinned"]);
    home.run(&["history", "baseline", "1.1"]).good();
    let day = home.json(&["history", "--by=day"])["points"][0]["builds"][0]["build"].clone();
    let day = day.as_str().expect("they ran on some day");
    home.run(&["history", "baseline", "--by=day", day]).good();
    let listed = home.run(&list).good();
    assert_eq!(listed.out, format!("build=1.1\nday={day}\n"));
    let listed = home.json(&list);
    assert_eq!(listed, json!([{"by": "build", "build": "1.1"}, {"by": "day", "build": day}]));
    home.run(&[&list[..], &["1.1"]].concat()).code(2);
    let worse = home.run(&["history", "--fail-on-regression"]).code(1);
    worse.warns(&["accept it: 'dbdyno history baseline 1.16'"]);
    home.run(&["history", "baseline", "--clear"]).good().says(&["1.1 is no longer the baseline"]);
    home.run(&["history", "--fail-on-regression"]).good();
}

#[test]
fn commit_hashes_stand_by_time_or_as_a_list_has_them() {
    let home = Home::new();
    let hashes = ["f00dbab1", "0a1b2c3d", "deadbeef", "1234567a"];
    builds(&home, &hashes.map(|hash| (hash, "2ms")));
    let order = |words: &[&str]| -> Vec<String> {
        let shown = home.json(&[&["history"], words].concat());
        let builds = at(&shown, "points")[0]["builds"].as_array().expect("a list").clone();
        builds.iter().filter_map(|one| at(one, "build").as_str().map(str::to_owned)).collect()
    };
    assert_eq!(order(&[]), hashes);
    assert_ne!(order(&["--order=version"]), hashes);
    home.run(&["history"]).good().says(&["their names are commit hashes"]);
    let list = home.write("commits.txt", "1234567a00\ndeadbeef11\nf00dbab122\n");
    let list = format!("--commits={list}");
    assert_eq!(order(&[&list]), ["1234567a", "deadbeef", "f00dbab1"]);
    home.run(&["history", &list])
        .good()
        .says(&["the list of commits lacks them: 1 build (0a1b2c3d)"]);
    // The list lacks the build that was measured last.
    let without = home.write("without.txt", "deadbeef11\nf00dbab122\n0a1b2c3d11\n");
    let without = ["history", "--commits", &without, "--fail-on-regression"];
    let lacking = home.run(&without).code(3);
    lacking
        .says(&["Omitted, because the list of commits lacks them: 1 build (1234567a)"])
        .warns(&["--commits lacks 1234567a"]);
    home.run(&[&without[..], &["--undecided=pass"]].concat()).good();
    home.run(&["history", "--order=commit"]).code(2).warns(&["needs --commits FILE"]);
    home.run(&["history", "--commits=/none"]).code(2).warns(&["cannot be read"]);
}

#[test]
fn the_page_links_builds_to_their_runs_and_compares_them() {
    let home = Home::new();
    levels(&home, &[(12, "2ms"), (4, "2500us")]);
    let web = Web::start(&home, &[]);
    let page = web.page("/history?by=build");
    let link = "/compare?side=build%3D1.11&#38;side=build%3D1.12\">Compare 1.11 with 1.12</a>";
    assert!(page.contains(link) && page.contains("<a href=\"/runs/"), "{page}");
    let compared = web.page("/compare?side=build%3D1.11&side=build%3D1.12");
    assert!(compared.contains("build=1.12"), "{compared}");
}

/// Returns the path of the example file with published figures.
fn arm() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/arm-by-version.csv");
    file.to_string_lossy().into_owned()
}

#[test]
fn published_figures_give_the_means_that_were_published_with_them() {
    let home = Home::new();
    home.run(&["history", "import", &arm(), "--name=arm"]).good().says(&[
        "imported 350 values of tps by version, writers, scenario as arm",
        "dbdyno history --imported arm --by version",
    ]);
    let words = ["history", "--imported=arm", "--by=version"];
    let shown = home.json(&words);
    let points = at(&shown, "points").as_array().expect("a list").clone();
    assert_eq!(points.len(), 35);
    assert!(points.iter().all(|point| point["builds"].as_array().map(Vec::len) == Some(10)));
    assert_eq!(at(&points[0], "imported"), "arm");
    let words = [&words[..], &["--rows=writers", "--columns=scenario"]].concat();
    let csv = home.run(&[&words[..], &["--output=csv"]].concat()).good().out;
    let expect =
        "figure,writers,Simple,ParentCorr,Metrics,Context 1,Context 5,Context 10,Context 20
tps,1,5102,5275,2722,4010,2794,2283,1629
tps,4,12760,12138,6821,9553,5562,3729,1994
tps,8,16010,15176,8641,11857,6208,3571,1916
tps,12,17624,16330,9525,12841,5963,3352,1925
tps,16,17578,16404,9609,12686,5627,3329,1871
";
    let rounded = |cell: &str| match cell.parse::<f64>() {
        // Rounded half away from zero, as in the publication.
        Ok(mean) => format!("{}", mean.round()),
        Err(_) => cell.to_owned(),
    };
    let line = |line: &str| line.split(',').map(rounded).collect::<Vec<_>>().join(",") + "\n";
    assert_eq!(csv.lines().map(line).collect::<String>(), expect);
    // Their rule is 10 to 14 writers: it holds for four scenarios of seven.
    let tables = home.json(&words);
    let lines = at(&tables, "tables")[0]["lines"].as_array().expect("a list").clone();
    let writers = at(&tables, "rows.values").clone();
    let smallest = lines.iter().map(|line| {
        let index = line["smallest"].as_u64().expect("all have an interval") as usize;
        writers[index].as_str().expect("a value").to_owned()
    });
    assert_eq!(smallest.collect::<Vec<_>>(), ["12", "12", "12", "12", "8", "4", "4"]);
    home.run(&words).good().says(&["17,624 ± 147 *", "Means of the last 10 versions", "10 cores"]);
    // As published: versions by scenario for each number of writers, then their means.
    let by_version = ["history", "--imported=arm", "--by=version", "--rows=version"];
    let of_builds = home.run(&[&by_version[..], &["--output=csv"]].concat()).good().out;
    let lines: Vec<&str> = of_builds.lines().collect();
    assert_eq!(lines.len(), 1 + 5 * 11, "{of_builds}");
    assert_eq!(lines[10], "tps,1,4.0.5685.0,4659,5462,2767,3720,2828,2266,1626");
    assert_eq!(line(lines[11]), "tps,1,mean of 10,5102,5275,2722,4010,2794,2283,1629\n");
    home.run(&by_version).good().says(&["writers=12", "mean of 10", "17,624 ± 147"]);
    // The pages have the same tables.
    let web = Web::start(&home, &[]);
    let query = "imported=arm&by=version&rows=writers&columns=scenario";
    assert_eq!(web.json(&format!("/api/history?{query}")), tables);
    assert_eq!(web.page(&format!("/api/history.csv?{query}")), csv);
    let page = web.page(&format!("/history?{query}"));
    assert!(page.contains("17,624 ± 147") && page.contains("--rows=writers"), "{page}");
    let no = web.get("/history?imported=arm&by=version&columns=scenario");
    assert!(no.status == 400 && no.body.contains("name the rows too"), "{}", no.body);
    // The example of an experiment has these means with their intervals.
    let published = std::fs::read_to_string(arm().replace("by-version", "published"));
    let published = published.expect("an example");
    let mut published = published.lines().skip(2).map(|line| line.split(',').collect::<Vec<_>>());
    for row in at(&tables, "tables")[0]["cells"].as_array().expect("a list") {
        for cell in row.as_array().expect("a list") {
            let [_, _, _, mean, error, "10"] = &published.next().expect("a cell")[..] else {
                panic!("a value with its error, of ten builds")
            };
            let rounded = |name: &str| number(cell, name).round().to_string();
            assert_eq!(
                (rounded("mean"), rounded("half_width")),
                (mean.to_string(), error.to_string())
            );
        }
    }
}

#[test]
fn imported_figures_stand_beside_runs_and_are_no_runs() {
    let home = Home::new();
    builds(&home, &[("1.1", "2ms"), ("1.2", "2ms"), ("1.3", "2ms"), ("1.4", "2ms")]);
    let alone = home.json(&["history"]);
    let file = home.write("theirs.csv", "build,figure,value\n1.3,tps,5000\n1.4,tps,1000\n");
    home.run(&["history", "import", &file, "--source=a page"]).good();
    let runs = home.json(&["runs", "list"]);
    assert_eq!(at(&runs, "runs").as_array().map(Vec::len), Some(4), "{runs:#}");
    assert_eq!(home.json(&["history"]), alone, "it is as before unless they are asked for");
    let beside = home.json(&["history", "--imported=theirs"]);
    let points = at(&beside, "points").as_array().expect("a list").clone();
    assert_eq!((points.len(), &points[0]), (2, &at(&alone, "points")[0]));
    assert_eq!(at(&points[1], "imported"), "theirs");
    let shown = home.run(&["history", "--imported=theirs"]).good();
    shown.says(&["TPS by build (imported: theirs): 2 builds", "Imported: theirs (a page)."]);
    let web = Web::start(&home, &[]);
    let page = web.page("/history?by=build&imported=theirs");
    assert!(page.contains("(imported: theirs)") && page.contains("selected>theirs"), "{page}");
    // Imported figures are replaced only on request.
    let again = home.run(&["history", "import", &file]).code(2);
    again.warns(&["theirs is imported already", "--replace", "--name"]).is_a_sentence();
    let words = ["history", "import", &file, "--replace"];
    home.run(&words).good().says(&["imported 2 values of tps by build as theirs"]);
    let list = home.json(&["history", "import", "--list"]);
    assert_eq!((at(&list, "0.name"), at(&list, "0.values")), (&json!("theirs"), &json!(2)));
    home.run(&["history", "import", "--list", "--output=csv"]).good().says(&["name,since,values"]);
    home.run(&["history", "import", "--remove=theirs"]).good();
    home.run(&["history", "import", "--list"]).good().says(&["nothing is imported"]);
}

#[test]
fn a_figure_of_which_only_a_mean_is_known_is_a_level_in_the_charts_of_an_experiment() {
    let home = Home::new();
    let run = ["run", "empty", "--target=sim:?service=exponential:2ms&servers=4"];
    let rest = ["--placement=simulated", "--vary=clients=1,2,4", "--duration=5s", "--ramp-up=0s"];
    let id = at(&home.json(&[&run[..], &rest].concat()), "id").as_str().expect("one").to_owned();
    let mean = home.write("previous.csv", "figure,value\noperations,4033\n");
    home.run(&["history", "import", &mean]).good().says(&["report EXPERIMENT --imported previous"]);
    let line =
        home.write("line.csv", "clients,figure,value\n1,operations,400\n4,operations,1500\n");
    home.run(&["history", "import", &line]).good();
    let words = ["report", &id, "--figure=operations", "--imported=previous", "--imported=line"];
    home.run(&[&words[..], &["-o", "page.html"]].concat()).good();
    let page = std::fs::read_to_string(home.path("page.html")).expect("it is written");
    assert!(page.contains("previous (imported): 4,033"), "{page}");
    let chart = ["--chart=curves-clients-operations", "-o", "chart.csv"];
    home.run(&[&words[..], &chart].concat()).good();
    let chart = std::fs::read_to_string(home.path("chart.csv")).expect("it is written");
    assert!(chart.contains("line (imported),4,1500,,,"), "{chart}");
    let web = Web::start(&home, &[]);
    let address = format!("/experiments/{id}?figure=operations&imported=previous");
    assert!(web.page(&address).contains("imported=previous"), "{}", web.page(&address));
    let refused = home.run(&["report", &id, "--imported=previous", "-o", "page.html"]).code(2);
    refused
        .warns(&["no chart here shows the figure operations of the imported previous"])
        .is_a_sentence();
    let run = home.json(&["runs", "show", "last"])["run_id"].as_str().expect("an id").to_owned();
    let run = home.run(&["report", &run, "--imported=previous", "-o", "page.html"]).code(2);
    run.warns(&["only with an experiment, a comparison or a history"]);
}
