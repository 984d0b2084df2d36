//! Tests of histories: order of builds, changes of level, verdicts on the last build, and
//! acknowledgements.

use model::{Rng, Stream};

use super::*;
use crate::fixtures::sides;

fn builds(figures: &[(&str, &[f64])]) -> Vec<Side> {
    figures.iter().map(|(name, tps)| sides::side(name, &[("8", *tps, 0)])).collect()
}

fn history(sides: &[Side]) -> HistoryReport {
    let mut rng = Rng::new(1, Stream::Order, 0);
    let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
    let question = Question::new("build", judge);
    HistoryReport::new(&question, sides, &mut || rng.bits()).expect("they have runs")
}

#[test]
fn series_are_told_by_as_little_as_tells_them_apart() {
    let point = |values: &[(&str, &str)]| {
        let values = values.iter().map(|(axis, value)| (axis.to_string(), value.to_string()));
        let alone = history(&builds(&[("1", &[100.0]), ("2", &[100.0])])).points.remove(0);
        PointHistory { values: Named(values.collect()), ..alone }
    };
    let named_point = |workload, clients, mode, target| {
        let shared = [("shrink", "1"), ("home", "fixed")];
        let own = [("workload", workload), ("clients", clients), ("mode", mode)];
        point(&[&own[..], &shared, &[("target", target)]].concat())
    };
    let mut points = [
        named_point("tpcc", "4", "prepared", "a"),
        named_point("tpcc", "8", "prepared", "a"),
        named_point("tpcc", "4", "prepared", "b"),
        named_point("empty", "4", "none", "a"),
    ];
    tell_apart(&mut points);
    let names: Vec<String> = points.iter().map(PointHistory::name).collect();
    assert_eq!(names[0], "workload=tpcc clients=4 target=a");
    assert_eq!(
        names[2..],
        ["workload=tpcc clients=4 target=b", "workload=empty clients=4 target=a"]
    );
}

#[test]
fn builds_stand_in_the_order_of_versions() {
    let sides = builds(&[
        ("1.10", &[110.0]),
        ("1.9", &[109.0]),
        ("1.10-rc1", &[108.0]),
        ("1.2", &[100.0, 121.0]),
    ]);
    let shown = history(&sides);
    let series = &shown.points[0].builds;
    let names: Vec<&str> = series.iter().map(|build| build.build.as_str()).collect();
    assert_eq!(names, ["1.2", "1.9", "1.10-rc1", "1.10"]);
    assert!((series[0].value - 110.0).abs() < 1e-9, "the geometric mean");
    assert!((series[1].mean_of_ten - 109.5).abs() < 1e-9);
}

/// Makes builds `1.0` to `1.n` of a history, which are a tenth slower from index `from` on.
fn long(n_builds: usize, from: usize) -> Vec<Side> {
    let tps = |n: usize| {
        let level = if n < from { 1000.0 } else { 900.0 };
        level * (1.0 + 0.01 * [0.3, -0.7, 0.9, -0.2, -0.4, 0.6][n % 6])
    };
    let side = |n: usize| sides::side(&format!("1.{n}"), &[("8", &[tps(n)], n)]);
    (0..n_builds).map(side).collect()
}

#[test]
fn a_recent_change_for_the_worse_is_a_regression_and_an_old_one_is_not() {
    let shown = history(&long(30, 24));
    let changes = shown.points[0].changes.as_ref().expect("long enough");
    let [change] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((change.build.as_str(), change.is_worse), ("1.24", true));
    assert!((change.ratio - 0.9).abs() < 0.01 && shown.points[0].has_regressed);
    let old = history(&long(40, 20));
    assert_eq!(old.points[0].changes.as_ref().map(Vec::len), Some(1));
    assert!(!old.points[0].has_regressed);
    assert_eq!(history(&long(30, 30)).points[0].changes, Some(Vec::new()));
}

fn series(tps: impl IntoIterator<Item = f64>) -> Vec<Side> {
    let side = |(n, tps): (usize, f64)| {
        sides::side(&format!("1.{n}"), &[("8", &[tps * (1.0 + wobble(n))], n)])
    };
    tps.into_iter().enumerate().map(side).collect()
}

/// Returns the relative deviation of the n-th build, without a pattern and with a standard
/// deviation of 1 %.
fn wobble(n: usize) -> f64 {
    let bits = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    0.035 * ((bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
}

fn levels(parts: &[(usize, f64)]) -> Vec<f64> {
    parts.iter().flat_map(|(n, level)| vec![*level; *n]).collect()
}

fn ack(build: &str, point: &str) -> Acknowledged {
    let (build, point, reason) = (build.into(), point.into(), "known".into());
    Acknowledged { build, point, reason, size: None }
}

#[test]
fn a_regression_that_is_mended_in_part_is_one() {
    let shown = history(&series(levels(&[(30, 1000.0), (5, 800.0), (5, 880.0)])));
    let point = &shown.points[0];
    let fall = point.fall.as_ref().expect("it is worse than ten builds ago");
    assert_eq!(fall.since, "1.29");
    assert!((fall.ratio - 0.88).abs() < 0.02 && shown.has_regressed(), "{fall:?}");
    let places: Vec<usize> = point.changes.iter().flatten().map(|change| change.at).collect();
    assert_eq!(places, [30, 35]);
    // A change that was later repaired is reported, but is not a regression.
    let shown = history(&series(levels(&[(30, 1000.0), (5, 800.0), (8, 1000.0)])));
    assert!(!shown.has_regressed(), "{:?}", shown.points[0]);
    assert_eq!(shown.points[0].changes.as_ref().map(Vec::len), Some(2));
}

#[test]
fn a_baseline_that_a_list_of_commits_lacks_is_said_to_be_lacking() {
    let sides = builds(&[("deadbeef", &[100.0]), ("f00dbab1", &[100.0])]);
    let why = |baseline: &str| {
        let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
        let question = Question {
            baseline: Some(baseline.to_owned()),
            order: Some(Order::Commits(vec!["f00dbab122".to_owned()])),
            ..Question::new("build", judge)
        };
        let mut rng = Rng::new(1, Stream::Order, 0);
        HistoryReport::new(&question, &sides, &mut || rng.bits()).expect_err("it is refused")
    };
    let lacking = why("deadbeef");
    assert!(lacking.starts_with("the baseline deadbeef is not among these commits"), "{lacking}");
    let unknown = why("9.9");
    assert!(unknown.starts_with("no run has the label build=9.9"), "{unknown}");
}

#[test]
fn builds_with_a_change_are_those_that_can_be_acknowledged() {
    let shown = history(&series(levels(&[(30, 1000.0), (6, 880.0)])));
    assert_eq!(shown.changed(""), ["1.30"]);
    assert_eq!(shown.point_names(), ["clients=8"]);
    let check = |build: &str, point: &str, expect: bool| {
        let found = shown.change_at(build, point).map(|(build, _)| build);
        assert_eq!(found.as_deref(), expect.then_some("1.30"), "{build} {point}");
    };
    check("1.30", "", true);
    check("1.30", "clients=8", true);
    check("1.32", "", true);
    check("1.30", "clients=64", false);
    check("1.12", "", false);
    check("9.9", "", false);
    // The last build is outside of its expected range before it makes a level of its own.
    let shown = history(&series(levels(&[(30, 1000.0), (1, 880.0)])));
    assert_eq!(shown.changed(""), ["1.30"]);
    let (build, size) = shown.change_at("1.30", "").expect("it is outside");
    assert!(build == "1.30" && (size - (1.0_f64 / 0.88).ln()).abs() < 0.03, "{size}");
    assert_eq!(shown.change_at("1.20", ""), None);
    assert_eq!(history(&series(levels(&[(30, 1000.0)]))).changed(""), [""; 0]);
}

#[test]
fn what_is_acknowledged_is_no_alarm_and_what_is_worse_still_is_one() {
    let with_acknowledged = |sides: &[Side], acknowledged: Vec<Acknowledged>| {
        let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
        let question = Question { acknowledged, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        HistoryReport::new(&question, sides, &mut || rng.bits()).expect("they have runs")
    };
    let sides = series(levels(&[(30, 1000.0), (6, 880.0)]));
    assert!(with_acknowledged(&sides, Vec::new()).has_regressed());
    let shown = with_acknowledged(&sides, vec![ack("1.30", "")]);
    assert!(!shown.has_regressed(), "{shown:?}");
    let [change] = &shown.points[0].changes.as_ref().expect("long enough")[..] else {
        panic!("{shown:?}")
    };
    assert_eq!(change.acknowledged.as_deref(), Some("known"));
    assert!(!with_acknowledged(&sides, vec![ack("1.30", "clients=8")]).has_regressed());
    assert!(with_acknowledged(&sides, vec![ack("1.30", "clients=64")]).has_regressed());
    assert!(with_acknowledged(&sides, vec![ack("1.12", "")]).has_regressed());
    let worse = series(levels(&[(30, 1000.0), (6, 880.0), (4, 800.0)]));
    let shown = with_acknowledged(&worse, vec![ack("1.30", "")]);
    assert!(shown.has_regressed(), "{shown:#?}");
    // Before there is a level: the build itself, and the next ones that are as slow.
    for n in 1..3 {
        let sides = series(levels(&[(30, 1000.0), (n, 880.0)]));
        assert!(with_acknowledged(&sides, Vec::new()).has_regressed(), "{n}");
        assert!(!with_acknowledged(&sides, vec![ack("1.30", "")]).has_regressed(), "{n}");
    }
    let worse = series(levels(&[(30, 1000.0), (1, 880.0), (1, 700.0)]));
    let shown = with_acknowledged(&worse, vec![ack("1.30", "")]);
    assert!(shown.has_regressed(), "{:#?} {:?}", shown.points[0].last, shown.points[0].changes);
}

#[test]
fn the_suggested_acknowledgement_is_one_that_is_accepted() {
    for n_slower in [1, 2, 3, 5, 8] {
        for falls in [vec![0.95], vec![0.88], vec![0.95, 0.9]] {
            let mut lengths = vec![(13, 1000.0)];
            lengths.extend(falls.iter().map(|fall| (n_slower, 1000.0 * fall)));
            let report = history(&series(levels(&lengths)));
            for command in report.accepting() {
                let words: Vec<&str> = command.split(' ').collect();
                assert_eq!(words[..3], ["dbdyno", "history", "ack"], "{command}");
                let change = report.change_at(words[3], "");
                assert!(
                    change.is_some(),
                    "{n_slower} {falls:?}: {command} {:?}",
                    report.changed("")
                );
            }
            assert_eq!(report.accepting().is_empty(), !report.has_regressed(), "{n_slower}");
        }
    }
}

#[test]
fn an_acknowledged_change_that_the_data_no_longer_show_is_named() {
    let points_with = |sides: &[Side], acknowledged: Vec<Acknowledged>| {
        let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
        let question = Question { acknowledged, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        HistoryReport::new(&question, sides, &mut || rng.bits()).expect("they have runs").points
    };
    // The build was outside when it was the last; later ones are as fast as before.
    let passed = series(levels(&[(24, 1000.0)]));
    let shown = points_with(&passed, vec![ack("1.12", "")]);
    assert_eq!(shown[0].changes.as_deref(), Some(&[][..]));
    assert_eq!(shown[0].unseen, [ack("1.12", "")]);
    // Without levels it cannot be decided.
    assert!(points_with(&passed[..8], vec![ack("1.5", "")])[0].unseen.is_empty());
    // A change that was found is not listed, even if its size is below the minimum effect.
    for level in [880.0, 985.0] {
        let there = series(levels(&[(30, 1000.0), (12, level)]));
        assert!(points_with(&there, vec![ack("1.30", "")])[0].unseen.is_empty(), "{level}");
    }
    let outside = series(levels(&[(30, 1000.0), (1, 880.0)]));
    assert!(points_with(&outside, vec![ack("1.30", "")])[0].unseen.is_empty());
    // An acknowledgement for all points is found if any point has the change.
    let both = |n: usize| {
        let (one, other) = (levels(&[(30, 1000.0), (6, 880.0)])[n], levels(&[(36, 1000.0)])[n]);
        sides::side(&format!("1.{n}"), &[("8", &[one], n), ("64", &[other], n)])
    };
    let both: Vec<Side> = (0..36).map(both).collect();
    assert!(points_with(&both, vec![ack("1.30", "")]).iter().all(|point| point.unseen.is_empty()));
    let unseen = points_with(&both, vec![ack("1.30", "clients=64")]);
    assert_eq!(unseen.iter().map(|point| point.unseen.len()).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn builds_after_an_acknowledged_change_are_compared_with_each_other() {
    let with_size = |sides: &[Side], size: Option<f64>| {
        let judge = Judge { primary: None, min_effect: 0.01, also: Vec::new() };
        let acknowledged = vec![Acknowledged { size, ..ack("1.11", "") }];
        let question = Question { acknowledged, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        HistoryReport::new(&question, sides, &mut || rng.bits()).expect("they have runs")
    };
    for after in [800.0, 900.0, 1_100.0] {
        for n_since in 2..8 {
            for size in [Some((after / 1_000.0_f64).ln().abs()), None] {
                let same = series(levels(&[(11, 1000.0), (n_since, after)]));
                let shown = with_size(&same, size);
                let point = &shown.points[0];
                let last = point.last.as_ref().expect("earlier ones show the noise");
                let what = format!("{n_since} since {after}: {last:?}");
                assert!(!shown.has_regressed() && shown.n_undecided() == 0, "{what}");
                assert!(
                    (last.before / after - 1.0).abs() < 0.03 && last.seen_from < 0.09,
                    "{what}"
                );
                assert!(point.unseen.is_empty() && !last.is_of_former_level, "{what}");
                let worse = levels(&[(11, 1000.0), (n_since - 1, after), (1, after * 0.85)]);
                assert!(with_size(&series(worse), size).has_regressed(), "worse than {what}");
            }
        }
    }
    // The acknowledged build was an outlier: later ones are as fast as those before.
    for n_since in 2..5 {
        let passed = series(levels(&[(11, 1000.0), (1, 900.0), (n_since - 1, 1000.0)]));
        let shown = with_size(&passed, None);
        let last = shown.points[0].last.as_ref().expect("there are eleven");
        assert!(!shown.has_regressed() && shown.n_undecided() == 0, "{n_since}: {last:?}");
        // The first one after it is better than what was acknowledged.
        let before = if n_since == 2 { 900.0 } else { 1000.0 };
        assert!((last.before / before - 1.0).abs() < 0.02, "{n_since}: {last:?}");
    }
}

#[test]
fn an_acknowledgement_at_the_first_builds_leaves_them_in_their_level() {
    let sides = series(levels(&[(12, 1000.0)]));
    let before = |acknowledged: Vec<Acknowledged>| {
        let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
        let question = Question { acknowledged, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        let shown = HistoryReport::new(&question, &sides, &mut || rng.bits()).expect("runs");
        shown.points[0].last.as_ref().expect("eleven are before it").before
    };
    assert_eq!(before(vec![ack("1.2", "")]), before(Vec::new()));
}

#[test]
fn a_level_that_has_only_begun_is_not_taken_for_noise() {
    for n_since in 1..6 {
        let sides = series(levels(&[(11, 1000.0), (n_since, 800.0)]));
        let shown = history(&sides);
        let last = shown.points[0].last.as_ref().expect("there are eleven");
        assert!(shown.has_regressed() && !last.is_noisy, "{n_since}: {last:?}");
    }
}

#[test]
fn an_acknowledged_change_does_not_hide_a_much_larger_one_beside_it() {
    let with_size = |sides: &[Side], size: Option<f64>| {
        let judge = Judge { primary: None, min_effect: 0.01, also: Vec::new() };
        let acknowledged = vec![Acknowledged { size, ..ack("1.30", "") }];
        let question = Question { acknowledged, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        HistoryReport::new(&question, sides, &mut || rng.bits()).expect("they have runs")
    };
    let accepted = Some((1.0_f64 / 0.95).ln());
    for n in [1, 2, 6] {
        // The acknowledged build, and later ones as slow as it.
        let same = series(levels(&[(30, 1000.0), (n, 950.0)]));
        assert!(!with_size(&same, accepted).has_regressed(), "{n}");
        // The next ones are far slower: with time the two steps look like one.
        let more = series(levels(&[(30, 1000.0), (1, 950.0), (n, 830.0)]));
        assert!(with_size(&more, accepted).has_regressed(), "{n}");
    }
}

#[test]
fn a_last_build_that_lost_many_of_its_runs_is_undecided() {
    let mut sides = series(levels(&[(12, 1000.0)]));
    let last = sides.last_mut().expect("there are some");
    last.not_counted = sides::lost(3);
    let shown = history(&sides);
    assert!(shown.points[0].lost.starts_with("3 of 4 runs of "), "{}", shown.points[0].lost);
    assert_eq!((shown.n_undecided(), shown.has_regressed()), (1, false));
    // An invalid run of an older build says nothing about the last.
    let mut sides = series(levels(&[(12, 1000.0)]));
    sides[3].not_counted = sides::lost(3);
    let shown = history(&sides);
    assert!(shown.points[0].lost.is_empty() && shown.n_undecided() == 0);
}

#[test]
fn a_pinned_baseline_shows_what_many_small_steps_have_done() {
    let with_baseline = |baseline: Option<&str>| {
        let judge = Judge { primary: None, min_effect: 0.02, also: Vec::new() };
        let baseline = baseline.map(str::to_owned);
        let question = Question { baseline, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        let sides = series(levels(&[(12, 1000.0), (30, 900.0)]));
        HistoryReport::new(&question, &sides, &mut || rng.bits())
    };
    assert!(!with_baseline(None).expect("runs").has_regressed(), "it is older than ten builds");
    let shown = with_baseline(Some("1.5")).expect("runs");
    let held = shown.points[0].baseline.as_ref().expect("it is there");
    assert!(held.is_outside && held.is_worse && shown.has_regressed(), "{held:?}");
    assert!(!with_baseline(Some("1.20")).expect("runs").has_regressed());
    assert!(with_baseline(Some("7")).expect_err("there is none").contains("build=7"));
}

#[test]
fn another_machine_or_setting_begins_a_series_and_another_version_does_not() {
    let with = |from: usize, change: &dyn Fn(&mut Report)| {
        let mut sides = series(levels(&[(20, 1000.0), (8, 800.0)]));
        for side in &mut sides[from..] {
            side.points[0].reports.iter_mut().for_each(change);
        }
        let shown = history(&sides);
        (shown.has_regressed(), shown.points[0].starts.clone())
    };
    let fact = |run: &mut Report, about: &str, name: &str, value: &str| {
        let facts = run.facts.entry(about.to_owned()).or_default();
        facts.insert(name.to_owned(), value.into());
    };
    let machine = |run: &mut Report| fact(run, "cpu", "model", "another");
    let (has_regressed, starts) = with(20, &machine);
    let [start] = &starts[..] else { panic!("{starts:?}") };
    assert_eq!((has_regressed, start.build.as_str(), start.at), (false, "1.20", 20));
    assert_eq!(start.changed[0].values[1].as_deref(), Some("another"));
    let kernel = |run: &mut Report| {
        let release = run.facts.get("os").and_then(|os| os.get("kernel_release")).cloned();
        let release = release.map(|release| release.to_string()).unwrap_or_default();
        fact(run, "os", "kernel_release", &format!("{release}-2"));
    };
    assert_eq!(with(20, &kernel), (true, Vec::new()), "a small step of the kernel is none");
    let version = |run: &mut Report| run.database = "MariaDB 99".to_owned();
    assert_eq!(with(20, &version), (true, Vec::new()));
    let old = |run: &mut Report| machine(run);
    let (has_regressed, starts) = with(10, &old);
    assert!(has_regressed && starts.len() == 1, "the fall is in the new series");
}

#[test]
fn settings_begin_a_series_unless_a_version_brings_them() {
    let with_settings = |is_newer: bool| {
        let mut sides = series(levels(&[(20, 1000.0), (8, 800.0)]));
        for (n, side) in sides.iter_mut().enumerate() {
            let run = &mut side.points[0].reports[0];
            let size = if n < 20 { "134217728" } else { "1073741824" };
            run.settings.push("innodb_buffer_pool_size", size.to_owned());
            run.settings.push("pid_file", format!("/tmp/{n}"));
            if is_newer && n >= 20 {
                run.database = "MariaDB 99".to_owned();
            }
        }
        history(&sides)
    };
    let shown = with_settings(false);
    let starts = &shown.points[0].starts;
    assert_eq!((starts.len(), starts[0].changed.len(), shown.has_regressed()), (1, 1, false));
    assert_eq!(starts[0].changed[0].name, "innodb_buffer_pool_size");
    let first = &starts[0];
    let values: Vec<_> = first.changed[0].values.iter().map(Option::as_deref).collect();
    assert_eq!((&*first.build, values), ("1.20", vec![Some("134217728"), Some("1073741824")]));
    // A new version is under test; its settings are listed beside the change.
    let shown = with_settings(true);
    assert!(shown.points[0].starts.is_empty() && shown.has_regressed());
    let changes = shown.points[0].changes.as_ref().expect("long enough");
    assert!(changes[0].changed.iter().any(|one| one.name == "innodb_buffer_pool_size"));
}

#[test]
fn one_run_after_twenty_builds_of_five_is_seldom_an_alarm() {
    let mut rng = Rng::new(7, Stream::Order, 0);
    // The sum of twelve uniform numbers is nearly normal.
    let mut noise = || {
        let all = (0..12).map(|_| (rng.bits() >> 11) as f64 / (1_u64 << 53) as f64);
        0.02 * (all.sum::<f64>() - 6.0)
    };
    let mut n_alarms = 0;
    for _ in 0..200 {
        let mut build = |n: usize| {
            let tps: Vec<f64> =
                (0..if n < 20 { 5 } else { 1 }).map(|_| 1000.0 * (1.0 + noise())).collect();
            sides::side(&format!("1.{n}"), &[("8", &tps, n)])
        };
        let sides: Vec<Side> = (0..21).map(&mut build).collect();
        n_alarms += usize::from(history(&sides).has_regressed());
    }
    assert!(n_alarms <= 2, "{n_alarms} of 200");
}

/// Runs `rounds` random histories whose twelfth build changed by `change`, and in which the last
/// build, `n_since` builds later, falls by `fall`. Returns how many of them found and acknowledged
/// the change, and how many of these end with an alarm, or with an undecided last build.
fn n_alarms_since(change: f64, n_since: usize, fall: f64, rounds: usize) -> (usize, usize, usize) {
    let mut rng = Rng::new(8, Stream::Order, 0);
    let mut noise = |sd: f64| {
        let all = (0..12).map(|_| (rng.bits() >> 11) as f64 / (1_u64 << 53) as f64);
        sd * (all.sum::<f64>() - 6.0)
    };
    let (mut n_acknowledged, mut n_alarms, mut n_undecided) = (0, 0, 0);
    for _ in 0..rounds {
        let mut build = |n: usize| {
            let level = if n < 11 { 1000.0 } else { 1000.0 * (1.0 + change) };
            let fallen = if n == 11 + n_since { 1.0 + fall } else { 1.0 };
            let of_build = level * fallen * (1.0 + noise(0.005));
            let tps: Vec<f64> = (0..3).map(|_| of_build * (1.0 + noise(0.005))).collect();
            sides::side(&format!("1.{n}"), &[("8", &tps, n)])
        };
        let sides: Vec<Side> = (0..=11 + n_since).map(&mut build).collect();
        let first = history(&sides[..12]);
        let Some((build, size)) = first.change_at("1.11", "") else { continue };
        n_acknowledged += 1;
        let acknowledged = vec![Acknowledged { size: Some(size), ..ack(&build, "") }];
        let judge = Judge { primary: None, min_effect: 0.01, also: Vec::new() };
        let question = Question { acknowledged, ..Question::new("build", judge) };
        let mut rng = Rng::new(1, Stream::Order, 0);
        let shown = HistoryReport::new(&question, &sides, &mut || rng.bits()).expect("runs");
        n_alarms += usize::from(shown.has_regressed());
        n_undecided += usize::from(shown.n_undecided() > 0);
    }
    (n_acknowledged, n_alarms, n_undecided)
}

#[test]
fn after_an_acknowledged_change_alarms_are_as_rare_and_as_sure_as_before() {
    for (change, n_since) in [(-0.05, 1), (-0.2, 2), (0.1, 3)] {
        let what = format!("{n_since} since {change}");
        let (n, n_alarms, n_undecided) = n_alarms_since(change, n_since, 0.0, 100);
        // A quarter of a percent, and about one.
        assert!(n >= 95 && n_alarms <= 2 && n_undecided <= 4, "{what}: {n_alarms} {n_undecided}");
        let (n, n_alarms, _) = n_alarms_since(change, n_since, -0.08, 100);
        assert!(n_alarms * 100 >= n * 90, "{what}: {n_alarms} of {n} falls");
    }
}

fn last_of(newest: f64, level: &[f64], figure: &str, min_effect: f64) -> Option<Last> {
    let sides: Vec<Side> = level
        .iter()
        .chain([&newest])
        .enumerate()
        .map(|(n, value)| sides::side(&format!("1.{n}"), &[("8", &[value.exp()], n)]))
        .collect();
    let judge = Judge { primary: Some(figure.to_owned()), min_effect, also: Vec::new() };
    let mut rng = Rng::new(1, Stream::Order, 0);
    let shown = HistoryReport::new(&Question::new("build", judge), &sides, &mut || rng.bits());
    shown.expect("they have runs").points.swap_remove(0).last
}

#[test]
fn the_last_build_of_a_long_series_is_held_against_its_level() {
    // One build alone makes no level.
    let point = history(&long(40, 39)).points.swap_remove(0);
    assert_eq!(point.changes.as_deref(), Some(&[][..]));
    assert!(point.has_regressed, "{:?}", point.last);
    // A second slow build is not compared with the first.
    let mut level = vec![7.0, 7.01, 6.99, 7.0, 7.02, 6.98, 6.5, 6.51];
    let last = last_of(6.5, &level, "tps", 0.02).expect("six before");
    assert!(last.is_outside && last.is_worse && (last.before.ln() - 7.0).abs() < 0.01);
    level.truncate(6);
    assert!(last_of(6.98, &level, "tps", 0.02).is_some_and(|last| !last.is_outside));
    let steady = history(&long(40, 40)).points.swap_remove(0);
    assert!(steady.last.is_some_and(|last| !last.is_outside) && !steady.has_regressed);
}

#[test]
fn a_point_that_is_run_no_more_fails_no_later_build() {
    let at = |clients: &'static str, n: usize, tps: f64| {
        sides::side(&format!("1.{n}"), &[(clients, &[tps * (1.0 + wobble(n))], n)])
    };
    let mut all: Vec<Side> = (0..12).map(|n| at("8", n, 1000.0)).collect();
    all.push(at("8", 12, 500.0));
    let shown = history(&all);
    assert_eq!(shown.regressions().len(), 1, "{:?}", shown.points[0]);
    assert!(shown.regressions()[0].starts_with("1.12 is worse"));
    // Later builds run only the other point.
    all.extend((13..18).map(|n| at("4", n, 700.0)));
    let shown = history(&all);
    assert!(shown.points[0].lacks.is_some() && shown.points[0].has_regressed);
    assert_eq!(shown.regressions(), Vec::<String>::new());
}

#[test]
fn where_noise_hides_a_tenth_it_is_said_and_else_it_is_not() {
    let last = |spread: f64, figure: &str, min_effect: f64| {
        let level = [7.0, 7.0 + spread, 7.0 - spread, 7.0, 7.0 + spread, 7.0 - spread, 7.0];
        last_of(7.0, &level, figure, min_effect).expect("six before")
    };
    let quiet = last(0.01, "tps", 0.01);
    assert!(!quiet.is_noisy && (0.02..0.06).contains(&quiet.seen_from), "{quiet:?}");
    let noisy = last(0.1, "tps", 0.01);
    assert!(noisy.is_noisy && !noisy.is_outside, "{noisy:?}");
    // A rate falls to its lower bound, a time rises to its upper bound, which is farther away.
    assert!((noisy.seen_from - (1.0 - noisy.expected.0 / noisy.before)).abs() < 1e-9);
    assert!(last(0.1, "p99_ms", 0.01).seen_from > noisy.seen_from);
    // Changes below the minimum effect are not reported, so they cannot be seen.
    assert_eq!(last(0.01, "tps", 0.2).seen_from, 0.2);
    assert!(!last(0.01, "tps", 0.2).is_noisy);
}

#[test]
fn builds_that_lost_work_or_have_no_run_that_counts_do_not_vanish() {
    let mut sides = long(8, 8);
    for report in &mut sides[7].points[0].reports {
        report.block.offered_ms.p99 = None;
        report.block.offered_ms.infinite = vec!["p99".to_owned()];
    }
    let mut rng = Rng::new(1, Stream::Order, 0);
    let judge = Judge { primary: Some("p99_ms".to_owned()), min_effect: 0.02, also: Vec::new() };
    let mut reported = |sides: &[Side]| {
        let question = Question::new("build", judge.clone());
        HistoryReport::new(&question, sides, &mut || rng.bits()).expect("runs")
    };
    let shown = reported(&sides);
    let point = &shown.points[0];
    assert!(point.builds.len() == 8 && point.builds[7].value.is_infinite());
    assert!(point.has_regressed && shown.has_regressed() && shown.left_out.is_empty());
    // Only a missing last build matters.
    sides[7].points.clear();
    sides[7].not_counted = sides::lost(5);
    let shown = reported(&sides);
    assert!(
        shown.left_out[0].is_last && shown.has_regressed() && shown.points[0].builds.len() == 7
    );
    sides.push(sides::side("2.0", &[("8", &[1000.0], 9)]));
    let shown = reported(&sides);
    assert!(!shown.left_out[0].is_last && !shown.has_regressed());
    // The same at a single point that the last build lacks.
    let both: [(&str, &[f64], usize); 2] = [("8", &[1000.0], 9), ("64", &[1000.0], 9)];
    sides.iter_mut().take(7).for_each(|build| *build = sides::side(&build.name, &both));
    sides[8].not_counted = sides::lost(3);
    let shown = reported(&sides);
    let lacks: Vec<bool> = shown.points.iter().map(|point| point.lacks.is_some()).collect();
    assert_eq!((lacks, shown.has_regressed()), (vec![false, true], true));
    sides[8].not_counted = sides::lost(0);
    assert!(!reported(&sides).has_regressed());
    // A figure that no run has makes no series.
    let nopm = Judge { primary: Some("nopm".to_owned()), min_effect: 0.02, also: Vec::new() };
    let none = HistoryReport::new(&Question::new("build", nopm), &sides, &mut || rng.bits());
    assert!(none.expect_err("no new orders").contains("has the figure"));
}

#[test]
fn the_last_build_of_a_short_series_is_held_against_the_ones_before() {
    let shown = history(&long(9, 8));
    let point = &shown.points[0];
    assert_eq!(point.changes, None);
    let last = point.last.as_ref().expect("eight before");
    assert!(last.is_outside && point.has_regressed && (last.ratio - 0.9).abs() < 0.02);
    assert!(!history(&long(9, 9)).points[0].has_regressed);
    assert_eq!(history(&long(3, 3)).points[0].last, None);
}
