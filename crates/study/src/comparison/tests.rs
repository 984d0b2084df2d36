//! Tests of comparisons, on made-up runs: verdicts, error rates, gates and warnings. Not here: the
//! statistical test itself (stats).

use analysis::report::PrimaryMetricReport;
use model::{ArrivalRate, Arrivals, Load, QueueAtEnd, QueueFull, Rng, Stream};

use super::*;
use crate::fixtures::sides::{self, FIVE, PLAIN, held, only, side, times};

#[test]
fn more_is_better_of_rates_and_worse_of_times() {
    let report = held(&FIVE, &times(1.1), 1);
    assert_eq!((report.primary.as_str(), only(&report).verdict), ("tps", Verdict::Better));
    let others = &report.pairs[0].points[0].others;
    let p99 = others.iter().find(|judged| judged.figure == "p99_ms").expect("it has p99");
    assert_eq!(p99.verdict, Verdict::Better);
    let ratio = only(&report).ratio.expect("five of each");
    assert!((ratio.value - 1.1).abs() < 1e-9, "{ratio:?}");
    let back = held(&times(1.1), &FIVE, 1);
    assert_eq!(only(&back).verdict, Verdict::Worse);
}

#[test]
fn the_run_that_stands_for_a_side_is_its_median_at_the_first_point_of_all() {
    let odd = side("old", &[("8", &[3.0, 1.0, 2.0, 9.0, 1.5], 0)]);
    let even = side("new", &[("2", &FIVE, 1), ("8", &[4.0, 2.0, 3.0, 1.0], 1)]);
    let report = ComparisonReport::new(&[odd, even], &PLAIN).expect("both have runs");
    let drawn = |side: usize| report.sides[side].median_run.as_ref().expect("it has TPS");
    assert_eq!(drawn(0).run, "run-4", "of 1, 1.5, 2, 3 and 9");
    assert_eq!(drawn(1).run, "run-3", "of 1, 2, 3 and 4 the lower one in the middle");
    assert_eq!(drawn(1).values, Named(vec![("clients".to_owned(), "8".to_owned())]));
}

/// Makes a comparison at eight points, with five runs a side at each; the first `n` points differ.
fn sweep(n: usize) -> ComparisonReport {
    let side_of = |name: &str, n: usize| {
        let figures: Vec<[f64; 5]> =
            (0..8).map(|place| times(if place < n { 0.5 } else { 1.0 })).collect();
        let clients = ["1", "2", "3", "4", "5", "6", "8", "16"];
        let points = clients.iter().zip(&figures).map(|(at, tps)| (*at, &tps[..], 0));
        side(name, &points.collect::<Vec<(&str, &[f64], usize)>>())
    };
    let sides = [side_of("old", 0), side_of("new", n)];
    ComparisonReport::new(&sides, &PLAIN).expect("eight points")
}

#[test]
fn many_points_that_all_differ_are_all_judged_and_one_alone_takes_more_runs() {
    let all = sweep(8);
    let points = &all.pairs[0].points;
    assert!(points.iter().all(|point| point.primary.verdict == Verdict::Worse), "{points:?}");
    // Five runs a side are too few for eight points, though not for one.
    assert!(points.iter().all(|point| point.primary.detectable.is_none()));
    let alone = sweep(1);
    let point = &alone.pairs[0].points[0].primary;
    assert_eq!(point.verdict, Verdict::CannotBeJudged);
    let why = point.why.as_deref().expect("it is not plain");
    assert!(why.contains("5 runs per side are too few") && why.contains("at least 6 of"), "{why}");
    assert_eq!(alone.pairs[0].points[1].primary.verdict, Verdict::NoEvidence);
}

#[test]
fn runs_that_lack_a_figure_do_not_leave_the_judging_to_the_others() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &times(2.0), 1)])];
    let p99 = |sides: &[Side]| {
        let judge =
            Judge { primary: Some("p99_ms".to_owned()), min_effect: MIN_EFFECT, also: Vec::new() };
        ComparisonReport::new(sides, &judge).expect("five of each")
    };
    assert_eq!(only(&p99(&sides)).verdict, Verdict::Better);
    // A run without a p99 for lack of samples may have any.
    sides[1].points[0].reports[4].block.offered_ms.p99 = None;
    let report = p99(&sides);
    assert_eq!(only(&report).verdict, Verdict::CannotBeJudged);
    assert_eq!(only(&report).why.as_deref(), Some("4 of 5 runs of a side have p99 ms"));
    assert!(only(&report).side.is_none() && only(&report).baseline.is_some(), "no mean of some");
    // A p99 among unfinished transactions is known to be long.
    let unended = &mut sides[1].points[0].reports[4].block.offered_ms;
    unended.at_least.push("p99", 24_042.0);
    assert_eq!(only(&p99(&sides)).verdict, Verdict::NoEvidence);
}

#[test]
fn a_figure_that_no_run_has_is_refused() {
    let sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    let nopm = Judge { primary: Some("nopm".to_owned()), min_effect: MIN_EFFECT, also: Vec::new() };
    let no = ComparisonReport::new(&sides, &nopm).expect_err("no new orders");
    assert!(no.contains("the runs of old have no NOPM") && no.contains("--figure tps"), "{no}");
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    let gate: Gate = "nopm<-3%".parse().expect("it is one");
    let never = gate.hold(&report).expect_err("never");
    assert!(never.contains("can never be broken: no run that is compared has nopm"), "{never}");
}

#[test]
fn one_run_a_side_cannot_be_judged() {
    let report = held(&FIVE[..1], &times(2.0)[..1], 1);
    assert_eq!(only(&report).verdict, Verdict::CannotBeJudged);
    let ratio = only(&report).ratio.expect("a ratio, without an interval");
    assert_eq!((ratio.value, ratio.interval), (2.0, None));
    assert!(only(&report).why.as_deref().is_some_and(|why| why.starts_with("1 run per side")));
}

#[test]
fn a_ratio_is_the_quotient_of_the_figures_that_stand_beside_it() {
    let check = |base: &[f64], other: &[f64], first: usize, is_within: bool| {
        let report = held(base, other, first);
        let judged = only(&report);
        assert_eq!(judged.is_within_repeats, is_within);
        assert_eq!(judged.center, Center::GeometricMean);
        let [Some(base), Some(side)] = judged.centers else { panic!("{judged:?}") };
        let ratio = judged.ratio.expect("it is judged").value;
        assert!((side / base / ratio - 1.0).abs() < 1e-12, "{judged:?}");
    };
    // The medians of these say more, and the pairs of runs less.
    let (old, new) = ([100.0, 200.0, 300.0, 400.0, 500.0], [90.0, 95.0, 310.0, 320.0, 330.0]);
    check(&old, &new, 1, false);
    check(&old[..1], &new[..1], 1, false);
    check(&old[..3], &new, 1, false);
    let six = |five: [f64; 5], sixth: f64| [&five[..], &[sixth]].concat();
    check(&six(old, 600.0), &six(new, 90.0), 1, true);
    // A repeat that one side has alone is in neither column.
    check(&[&six(old, 600.0)[..], &[9_000.0]].concat(), &six(new, 90.0), 1, true);
}

#[test]
fn work_that_was_lost_has_no_mean_and_medians_stand_beside_its_ratio() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    let p99 = &mut sides[1].points[0].reports[0].block.offered_ms;
    (p99.p99, p99.infinite) = (None, vec!["p99".to_owned()]);
    let judge = Judge { primary: Some("p99_ms".to_owned()), ..PLAIN };
    let report = ComparisonReport::new(&sides, &judge).expect("five of each");
    assert_eq!(only(&report).center, Center::Median);
    assert_eq!(only(&report).centers, only(&report).medians);
}

#[test]
fn each_of_several_workloads_has_a_verdict_of_its_own_figure_and_none_over_all() {
    let side_of_two = |name: &str, faster: f64, first: usize| {
        let mut made = side(name, &[("tpcc", &FIVE, first), ("oltp", &times(faster), first + 20)]);
        for (point, workload) in made.points.iter_mut().zip(["tpcc", "oltp"]) {
            point.values = Named(vec![("workload".to_owned(), workload.to_owned())]);
            for report in &mut point.reports {
                report.workload = workload.to_owned();
                report.block.primary_metrics = Named::default();
            }
        }
        for report in &mut made.points[0].reports {
            let primary = PrimaryMetricReport {
                title: "orders/s".to_owned(),
                value: report.block.tps.map(|tps| tps * 27.0 / faster),
                half_width: None,
                reason: None,
                better: None,
            };
            report.block.primary_metrics = Named(vec![("orders_per_s".to_owned(), primary)]);
        }
        made
    };
    let sides = [side_of_two("old", 1.0, 0), side_of_two("new", 1.2, 1)];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    let pair = &report.pairs[0];
    assert_eq!((&pair.overall, pair.overall_others.len()), (&None, 0));
    let verdicts: Vec<(&str, &str, Verdict)> = pair
        .by_workload
        .iter()
        .map(|pair| (&*pair.workload, &*pair.primary.figure, pair.primary.verdict))
        .collect();
    let expected = [("tpcc", "orders_per_s", Verdict::Worse), ("oltp", "tps", Verdict::Better)];
    assert_eq!(verdicts, expected);
    let figures: Vec<&str> = pair.points.iter().map(|at| &*at.primary.figure).collect();
    assert_eq!(figures, ["orders_per_s", "tps"]);
    // A figure that the user named is the primary one of every workload.
    let judge = Judge { primary: Some("tps".to_owned()), ..PLAIN };
    let report = ComparisonReport::new(&sides, &judge).expect("five of each");
    assert!(report.pairs[0].by_workload.iter().all(|pair| pair.primary.figure == "tps"));
}

#[test]
fn which_way_a_primary_metric_is_better_is_what_its_workload_declares() {
    let with_cost = |name: &str, factor: f64, first: usize, better: Option<Direction>| {
        let mut made = side(name, &[("8", &times(factor), first)]);
        for report in &mut made.points[0].reports {
            let value = report.block.tps;
            let (title, reason) = ("cost".to_owned(), None);
            let cost = PrimaryMetricReport { title, value, half_width: None, reason, better };
            report.block.primary_metrics = Named(vec![("cost".to_owned(), cost)]);
        }
        made
    };
    let check = |better: Option<Direction>, expect: Verdict| {
        let sides = [with_cost("old", 1.0, 0, better), with_cost("new", 1.2, 1, better)];
        let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
        assert_eq!((&*report.primary, only(&report).verdict), ("cost", expect), "{better:?}");
    };
    check(Some(Direction::Lower), Verdict::Worse);
    check(Some(Direction::Higher), Verdict::Better);
    check(Some(Direction::Neither), Verdict::Higher);
    // Older runs store no direction: a name that is not that of a time counts as that of a rate.
    check(None, Verdict::Better);
}

#[test]
fn runs_that_took_turns_are_told_from_blocks() {
    assert!(held(&FIVE, &times(1.1), 1).pairs[0].is_interleaved);
    assert!(!held(&FIVE, &times(1.1), 20).pairs[0].is_interleaved);
}

#[test]
fn runs_of_one_second_have_the_order_of_their_milliseconds() {
    // As texts, `52.81Z` is after `52.815Z`, and `53Z` after `53.005Z`.
    let in_turns = |at: i64| {
        let mut both = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &times(1.1), 1)])];
        for (of_side, side) in both.iter_mut().enumerate() {
            for (n, report) in side.points[0].reports.iter_mut().enumerate() {
                let ms = 1_796_018_692_785 + at + 10 * n as i64 + 5 * of_side as i64;
                report.started = Timestamp::from_millisecond(ms).expect("a time");
            }
        }
        ComparisonReport::new(&both, &PLAIN).expect("five of each").pairs[0].is_interleaved
    };
    assert!((0..250).all(in_turns));
}

#[test]
fn blocks_that_a_drift_explains_are_no_verdict_on_a_side() {
    // Each side rises by 0.4 % per run, and the second continues where the first ended.
    let rising = [1000.0, 1004.0, 1008.5, 1012.0, 1016.0];
    let on = rising.map(|tps| tps * 1.02);
    let report = held(&rising, &on, 20);
    let judged = only(&report);
    assert_eq!(judged.verdict, Verdict::DiffersOrTheMachineDrifted, "{judged:?}");
    assert!(judged.why.as_deref().is_some_and(|why| why.contains("were not interleaved")));
    let gate: Gate = "tps>+0.5%".parse().expect("it is one");
    assert_eq!(gate.hold(&report).expect("it has TPS").passed, Passed::Undecided);
    // If the sides alternate, or are far apart, it is not a drift.
    assert_eq!(only(&held(&rising, &on, 1)).verdict, Verdict::Better);
    assert_eq!(only(&held(&FIVE, &times(1.1), 20)).verdict, Verdict::Better);
    // The same over all points.
    let points = |tps: &[f64], at| [("1", at), ("8", at + 40)].map(|(c, at)| (c, tps.to_vec(), at));
    let named = |name: &str, tps: &[f64], at: usize| {
        let points = points(tps, at);
        side(name, &points.each_ref().map(|(clients, tps, at)| (*clients, &tps[..], *at)))
    };
    let sides = [named("old", &rising, 0), named("new", &on, 20)];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("two points");
    let overall = report.pairs[0].overall.as_ref().expect("two points");
    assert_eq!(overall.verdict, Verdict::DiffersOrTheMachineDrifted, "{overall:?}");
}

#[test]
fn three_runs_a_side_are_judged_by_means_alone() {
    let report = held(&FIVE[..3], &times(1.1)[..3], 1);
    let judged = only(&report);
    assert_eq!((judged.verdict, judged.is_by_means), (Verdict::Better, true));
    let ratio = judged.ratio.expect("three of each");
    assert!(ratio.confidence.is_some_and(|confidence| (confidence - 0.99).abs() < 1e-9));
    assert!(ratio.interval.is_some_and(|(low, high)| low > 1.0 && high > 1.1), "{ratio:?}");
    let near = held(&FIVE[..3], &times(1.02)[..3], 1);
    assert_eq!(only(&near).verdict, Verdict::NoEvidence);
    assert!(only(&near).detectable.is_some_and(|share| (0.03..0.3).contains(&share)));
}

#[test]
fn points_are_paired_by_their_values_and_corrected_together() {
    let sides = [
        side("old", &[("1", &FIVE, 0), ("8", &FIVE, 20), ("64", &FIVE, 40)]),
        side("new", &[("8", &times(1.1), 21), ("1", &times(1.003), 1), ("128", &FIVE, 50)]),
    ];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("two points in common");
    let pair = &report.pairs[0];
    assert_eq!((pair.points.len(), pair.points_unpaired.len()), (2, 2));
    let better = &pair.points[0].primary;
    assert_eq!((better.p, better.verdict), (Some(2.0 / 252.0), Verdict::Better));
    assert_eq!(better.p_corrected, Some(4.0 / 252.0), "the other may be chance");
    let overall = pair.overall.as_ref().expect("both have five of each");
    assert!((overall.ratio.expect("five").value - (1.1_f64 * 1.003).sqrt()).abs() < 1e-6);
    let curve = report.sides[0].curve.as_ref().expect("clients are numbers");
    assert_eq!((curve.first, curve.best_at.as_str()), (1000.0, "1"));
}

#[test]
fn sides_without_runs_or_points_in_common_are_refused() {
    let no = |sides: &[Side]| ComparisonReport::new(sides, &PLAIN).expect_err("it makes no sense");
    assert!(no(&[side("old", &[("8", &FIVE, 0)])]).contains("name another side"));
    let mut lost = side("new", &[]);
    lost.not_counted = sides::lost(3);
    assert!(no(&[side("old", &[("8", &FIVE, 0)]), lost]).contains("counts: failed (3)"));
    let apart = [side("old", &[("8", &FIVE, 0)]), side("new", &[("9", &FIVE, 0)])];
    let words = "old and new have no point in common; they differ in clients (8 and 9): name runs";
    assert!(no(&apart).starts_with(words), "{}", no(&apart));
}

#[test]
fn what_differs_is_reported_and_what_was_measured_is_not() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    for report in &mut sides[0].points[0].reports {
        report.plan =
            "[phases]\nmeasure = \"60s\"\n[[group]]\nname = \"a\"\nclients = 8".to_owned();
    }
    for report in &mut sides[1].points[0].reports {
        report.plan =
            "[phases]\nmeasure = \"30s\"\n[[group]]\nname = \"a\"\nclients = 8".to_owned();
        let database = report.facts.entry("database".to_owned()).or_default();
        database.insert("version".to_owned(), "99".into());
        let memory = report.facts.entry("memory".to_owned()).or_default();
        memory.insert("available_bytes".to_owned(), "7".into());
        let path = report.facts.entry("network_path".to_owned()).or_default();
        path.insert("round_trip_s".to_owned(), "0.004".into());
        for when in ["settle_before", "settle_after"] {
            let settled = report.facts.entry(when.to_owned()).or_default();
            settled.insert("dirty_pages_before".to_owned(), "6391".into());
        }
    }
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    let names: Vec<String> =
        report.differences.iter().map(|d| format!("{}.{}", d.about, d.name)).collect();
    assert_eq!(names, ["plan.duration", "database.version"]);
    assert_eq!(report.differences[1].values[1].as_deref(), Some("99"));
}

#[test]
fn settings_of_the_server_that_all_sides_know_are_held_against_each_other() {
    let mut sides = [side("a", &[("8", &[400.0], 0)]), side("b", &[("8", &[500.0], 30)])];
    let set = |side: &mut Side, settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        side.points[0].reports[0].settings = Named(settings.collect());
    };
    set(&mut sides[0], &[("jit", "on"), ("old", "1"), ("same", "x"), ("told", "1")]);
    set(&mut sides[1], &[("jit", "off"), ("new", "1"), ("same", "x"), ("told", "2")]);
    for (side, value) in sides.iter_mut().zip(["1", "2"]) {
        let facts = &mut side.points[0].reports[0].facts;
        let mut tell = |about: &str, name: &str, value: &str| {
            facts.entry(about.into()).or_default().insert(name.into(), value.into());
        };
        tell("database", "told", value);
        // The place of a managed server, and counts.
        tell("managed", "folder", &format!("/tmp/{value}"));
        // A requested setting and the server's own value, equal and different.
        tell("managed", "flush", value);
        tell("mode", "flush", value);
        tell("managed", "told", &format!("{value}K"));
        tell("disk", "path", &format!("/tmp/{value}"));
        tell("connection", "address", &format!("127.0.0.1:{value}"));
        tell("commits", "ours", value);
    }
    let reports: Vec<Vec<&Report>> = sides.iter().map(|side| reports(side).collect()).collect();
    let differences = super::differences::between(&reports);
    let found: Vec<(&str, &str)> =
        differences.iter().map(|one| (one.about.as_str(), one.name.as_str())).collect();
    let expect = [("database", "told"), ("managed", "told"), ("mode", "flush"), ("setting", "jit")];
    assert_eq!(found, expect);
}

#[test]
fn over_all_points_count_the_repeats_that_every_point_has() {
    let mut sides = [
        side("old", &[("1", &FIVE, 0), ("8", &FIVE, 20)]),
        side("new", &[("1", &times(1.1), 1), ("8", &times(1.1), 21)]),
    ];
    let compared = |sides: &[Side]| {
        let mut report = ComparisonReport::new(sides, &PLAIN).expect("two points");
        report.pairs.swap_remove(0)
    };
    let whole = compared(&sides).overall.expect("two points");
    assert_eq!(whole.side.map(|figure| figure.count), Some(5));
    // One trial is lost: its repeat is left out at the other point too.
    sides[1].points[0].reports.remove(2);
    sides[1].points[0].repeats.remove(2);
    let pair = compared(&sides);
    let overall = pair.overall.as_ref().expect("two points");
    assert_eq!((pair.repeats_left_out, overall.verdict), (1, Verdict::Better));
    assert_eq!(overall.side.map(|figure| figure.count), Some(4));
    assert!((overall.ratio.expect("four").value - 1.1).abs() < 0.01);
    // One run has no such figure: the others may be the good ones.
    sides[1].points[0].reports[0].block.tps = None;
    let lacking = compared(&sides).overall.expect("two points");
    assert_eq!(lacking.verdict, Verdict::CannotBeJudged);
    assert_eq!(lacking.why.as_deref(), Some("some of the runs do not have the figure"));
    // No repeat is complete.
    sides[1].points[0].repeats = vec![5, 6, 7, 8];
    let none = compared(&sides).overall.expect("two points");
    assert!(none.why.is_some_and(|why| why.contains("at every point")) && none.ratio.is_none());
}

#[test]
fn a_limit_is_broken_where_the_whole_interval_lies_beyond() {
    let passed = |text: &str, factor: f64| {
        let gate: Gate = text.parse().expect("it is one");
        assert_eq!(gate.to_string(), text);
        gate.hold(&held(&FIVE, &times(factor), 1)).expect("it has TPS").passed
    };
    assert_eq!(passed("tps<-3%", 0.9), Passed::Broken);
    assert_eq!(passed("tps<-3%", 0.97), Passed::Undecided);
    assert_eq!(passed("tps<-3%", 1.0), Passed::Held);
    assert_eq!(passed("p99>+5%", 0.9), Passed::Broken);
    assert_eq!(passed("p99>+5%", 1.1), Passed::Held);
    let alone = held(&FIVE[..1], &times(0.5)[..1], 1);
    for text in ["tps<-14%", "p99>+7%", "tps<-28%", "p99>+0.57%", "tps<-1500%", "p99>+1500%"] {
        let Ok(gate) = text.parse::<Gate>() else { continue };
        assert_eq!(gate.to_string(), text, "it is written as it was");
    }
    let gate: Gate = " TPS < -3 % ".parse().expect("blanks do not matter");
    assert_eq!(gate.hold(&alone).expect("it has TPS").passed, Passed::Undecided);
}

#[test]
fn a_limit_is_undecided_where_one_side_lost_many_of_its_runs() {
    let gate: Gate = "tps<-3%".parse().expect("it is one");
    let passed = |n_old: usize, n_new: usize, factor: f64| {
        let mut old = sides::side("old", &[("8", &FIVE, 0)]);
        let mut new = sides::side("new", &[("8", &times(factor), 1)]);
        (old.not_counted, new.not_counted) = (sides::lost(n_old), sides::lost(n_new));
        let report = ComparisonReport::new(&[old, new], &PLAIN).expect("they have runs");
        gate.hold(&report).expect("it has TPS")
    };
    assert_eq!(passed(0, 1, 1.0).passed, Passed::Held);
    let lost = passed(0, 3, 1.0);
    assert_eq!(lost.passed, Passed::Undecided);
    assert_eq!(lost.at, ["3 of 8 runs of new do not count: failed (3)"]);
    assert_eq!(passed(3, 0, 1.0).passed, Passed::Undecided);
    // A side that lost most of its runs has failed, whatever the others show.
    let most = passed(0, 6, 1.0);
    assert_eq!((most.passed, most.undecided_by), (Passed::Broken, UndecidedBy::LostRuns));
    assert_eq!(passed(6, 0, 1.0).passed, Passed::Undecided, "the baseline's own");
    // Equal losses favour no side, and a failed limit stays failed.
    assert_eq!(passed(3, 3, 1.0).passed, Passed::Held);
    assert_eq!(passed(0, 3, 0.8).passed, Passed::Broken);
}

#[test]
fn a_limit_is_undecided_where_the_sides_ran_another_load_unless_they_are_named_by_it() {
    let gate: Gate = "tps<-3%".parse().expect("it is one");
    let held = |names: [&str; 2], factor: f64, plans: [&str; 2]| {
        let mut both = [(0, 1.0), (1, factor)]
            .map(|(at, factor)| sides::side(names[at], &[("8", &times(factor), at)]));
        for (side, plan) in both.iter_mut().zip(plans) {
            let reports = side.points.iter_mut().flat_map(|point| &mut point.reports);
            reports.for_each(|report| report.plan = plan.to_owned());
        }
        let report = ComparisonReport::new(&both, &PLAIN).expect("they have runs");
        gate.hold(&report).expect("it has TPS")
    };
    let (four, eight) = ("[[group]]\nclients = 4", "[[group]]\nclients = 8");
    let builds = ["build=old", "build=new"];
    let other = held(builds, 1.0, [four, eight]);
    assert_eq!((other.passed, other.undecided_by), (Passed::Undecided, UndecidedBy::Load));
    assert_eq!(other.at, ["build=new differs in clients (8, baseline 4)"]);
    assert_eq!(held(builds, 0.8, [four, eight]).passed, Passed::Broken);
    assert_eq!(held(builds, 1.0, [four, four]).passed, Passed::Held);
    assert_eq!(held(["clients=4", "clients=8"], 1.0, [four, eight]).passed, Passed::Held);
    // A name states the values in it, and not the others.
    let longer = "[phases]\nmeasure = \"60s\"\n[[group]]\nclients = 8";
    let other = held(["clients=4", "clients=8"], 1.0, [four, longer]);
    assert_eq!((other.passed, other.undecided_by), (Passed::Undecided, UndecidedBy::Load));
    assert_eq!(other.at, ["clients=8 differs in duration (60s, baseline not set)"]);
    // A setting of the server is not part of the load.
    let [low, high] = ["4MB", "64MB"].map(|size| format!("[server]\nwork_mem = '{size}'"));
    assert_eq!(held(builds, 1.0, [&low, &high]).passed, Passed::Held);
}

#[test]
fn a_limit_has_its_figures_at_every_place_and_says_when_it_is_near() {
    let gate: Gate = "tps<-3%".parse().expect("it is one");
    let held_by = |factor: f64| gate.hold(&held(&FIVE, &times(factor), 1)).expect("it has TPS");
    let fine = held_by(1.0);
    let [place] = &fine.places[..] else { panic!("one side, one point") };
    assert_eq!((place.passed, place.figure.as_str()), (Passed::Held, "tps"));
    assert_eq!((place.pairs, fine.pairs_least), (Some(5), Some(5)));
    assert!(place.bounds.is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high));
    let near = held_by(0.97);
    assert_eq!((near.passed, near.undecided_by), (Passed::Undecided, UndecidedBy::Near));
    let noisy: [f64; 5] = [800.0, 1210.0, 990.0, 1105.0, 895.0];
    let noisy = gate.hold(&held(&noisy, &times(1.0), 1)).expect("it has TPS");
    assert_eq!((noisy.passed, noisy.undecided_by), (Passed::Undecided, UndecidedBy::Noise));
}

#[test]
fn a_limit_on_a_figure_that_runs_lack_is_undecided_and_not_for_want_of_runs() {
    let gate: Gate = "p99>+5%".parse().expect("it is one");
    let mut both = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    both[1].points[0].reports.iter_mut().for_each(|run| run.block.offered_ms.p99 = None);
    let judge = Judge { primary: Some("tps".to_owned()), ..PLAIN };
    let report = ComparisonReport::new(&both, &judge).expect("they have runs");
    let lacking = gate.hold(&report).expect("one side has it");
    assert_eq!((lacking.passed, lacking.undecided_by), (Passed::Undecided, UndecidedBy::Samples));
    assert!(!lacking.has_too_few_runs() && lacking.at[0].contains("0 of 5 runs"), "{lacking:?}");
}

#[test]
fn a_limit_on_a_figure_that_all_runs_have_too_few_samples_for_is_undecided() {
    let mut both = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    for run in both.iter_mut().flat_map(|side| &mut side.points[0].reports) {
        let times = &mut run.block.offered_ms;
        (times.p99, times.count) = (None, 60);
        times.reasons.push("p99", "too few samples: needs at least 299, has 60".to_owned());
        // For open load, this is the primary figure.
        run.load = Some(Load::Open {
            arrivals: Arrivals::Poisson,
            rate: ArrivalRate::Constant(5.0),
            queue: 10,
            queue_full: QueueFull::Drop,
            queue_wait_ns: None,
            queue_at_end: QueueAtEnd::Serve,
        });
    }
    let hold = |limit: &str| {
        let gate: Gate = limit.parse().expect("it is one");
        let judge = Judge { also: vec![gate.figure.clone()], ..PLAIN };
        gate.hold(&ComparisonReport::new(&both, &judge).expect("they have TPS"))
    };
    let lacking = hold("p99>+5%").expect("a longer run has it");
    assert_eq!((lacking.passed, lacking.undecided_by), (Passed::Undecided, UndecidedBy::Samples));
    assert!(!lacking.has_too_few_runs(), "{lacking:?}");
    assert!(lacking.at[0].contains("0 of 5 runs"), "{lacking:?}");
    assert!(lacking.at[0].ends_with("needs at least 299, has 60"), "{lacking:?}");
    // A figure that no run could have is an error at any length.
    assert!(hold("nopm<-5%").is_err());
}

#[test]
fn runs_that_go_on_leave_a_pass_undecided_and_a_failure_a_failure() {
    let gate: Gate = "tps<-3%".parse().expect("it is one");
    for (factor, passed) in [(1.0, Passed::Undecided), (0.9, Passed::Broken)] {
        for running in [0, 1] {
            let mut both =
                [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &times(factor), 1)])];
            both[running].running = vec!["r9".to_owned()];
            let report = ComparisonReport::new(&both, &PLAIN).expect("both have runs");
            let held = gate.hold(&report).expect("it has TPS");
            assert_eq!(held.passed, passed, "{held:?}");
            if passed == Passed::Undecided {
                let name = &both[running].name;
                assert_eq!(held.at, [format!("{name} is still being measured (r9)")]);
            }
        }
    }
}

/// Returns the shares of comparisons in which the gate `text` fails, is undecided and passes: with
/// `n` interleaved repeats of each side, 1 % of noise, a difference of `more` percent, and a drift.
fn shares_of_repeats(text: &str, n: usize, more: f64, drift: f64) -> [f64; 3] {
    const ROUNDS: u64 = 200;
    let gate: Gate = text.parse().expect("it is one");
    let judge = Judge { primary: None, min_effect: 0.01, also: vec!["p99_ms".to_owned()] };
    let mut shares = [0.0; 3];
    for seed in 0..ROUNDS {
        let mut draws = draws(1_000 + seed);
        let baseline = Varied { sd: 1.0, more: 0.0, drift, is_interleaved: true };
        let sides =
            [draws.side(0, n, 1, baseline), draws.side(1, n, 1, Varied { more, ..baseline })];
        let report = ComparisonReport::new(&sides, &judge).expect("all have runs");
        let passed = gate.hold(&report).expect("it has the figure").passed;
        let all = [Passed::Broken, Passed::Undecided, Passed::Held];
        shares[all.iter().position(|one| *one == passed).expect("these are all")] += 1.0;
    }
    shares.map(|n| n / ROUNDS as f64)
}

#[test]
fn a_gate_fails_on_a_regression_and_rarely_on_an_equal_build() {
    for drift in [0.0, 0.3] {
        let shares = |n, percent: f64| {
            let more = 100.0 * (1.0 + percent / 100.0).ln();
            let found = shares_of_repeats("tps<-3%", n, more, drift);
            println!("tps<-3%, {n} repeats, {percent} %, drift {drift}: {found:?}");
            found
        };
        // In pairs, a drift does not matter.
        let n_cases = if drift == 0.0 { 3 } else { 1 };
        for (n, fails, passes) in
            [(5, 0.5, 0.96), (6, 0.55, 0.98), (10, 0.9, 0.99)].into_iter().take(n_cases)
        {
            let ([_, _, equal], [worse, _, missed]) = (shares(n, 0.0), shares(n, -5.0));
            assert!(equal >= passes && worse >= fails && missed <= 0.02, "{n} {drift}");
            // A build exactly at the limit should not pass.
            let [_, _, at_limit] = shares(n, -3.0);
            assert!(at_limit <= 0.1, "{n} {drift}: {at_limit}");
        }
    }
    // Half the loss that must be caught.
    let [fails, _, missed] = shares_of_repeats("tps<-2.5%", 6, 100.0 * 0.95_f64.ln(), 0.0);
    assert!(fails >= 0.75 && missed == 0.0, "{fails} {missed}");
}

/// Returns the shares in which a gate on five runs a side in blocks passes, fails, and is undecided
/// because a drift may hide a change. Noise is 1 %, the machine gets faster by `drift` percent from
/// one block to the next, and the second side is `more` percent above the first.
fn shares_of_blocks(text: &str, more: f64, drift: f64) -> [f64; 3] {
    const ROUNDS: u64 = 200;
    const RUNS: usize = 5;
    let gate: Gate = text.parse().expect("it is one");
    let mut shares = [0.0; 3];
    for seed in 0..ROUNDS {
        let mut draws = draws(2_000 + seed);
        let varied =
            |more| Varied { sd: 1.0, more, drift: drift / RUNS as f64, is_interleaved: false };
        let both =
            [draws.side(0, RUNS, 1, varied(0.0)), draws.side(1, RUNS, 1, varied(more + drift))];
        let report = ComparisonReport::new(&both, &PLAIN).expect("all have runs");
        let held = gate.hold(&report).expect("it has the figure");
        let is_hidden = held.undecided_by == UndecidedBy::HiddenByDrift;
        let is = [
            held.passed == Passed::Held,
            held.passed == Passed::Broken,
            held.passed == Passed::Undecided && is_hidden,
        ];
        shares.iter_mut().zip(is).for_each(|(share, is)| *share += f64::from(u8::from(is)));
    }
    shares.map(|n| n / ROUNDS as f64)
}

#[test]
fn a_drift_in_blocks_hides_no_regression_beyond_the_limit() {
    // The drift is as large as the regression: both blocks measure the same.
    for (more, drift) in [(-6.0, 6.0), (-8.0, 8.0), (-5.2, 10.0)] {
        let [passes, fails, hidden] = shares_of_blocks("tps<-5%", more, drift);
        assert!(passes <= 0.06 && hidden >= 0.9, "{more} {drift}: {passes} {fails} {hidden}");
    }
    // Without a drift a regression does not pass, and an equal build does.
    let [passes, ..] = shares_of_blocks("tps<-5%", -6.0, 0.0);
    assert!(passes <= 0.06, "{passes}");
    for drift in [0.0, 1.0] {
        let [passes, fails, _] = shares_of_blocks("tps<-5%", 0.0, drift);
        assert!(passes >= 0.88 && fails == 0.0, "{drift}: {passes} {fails}");
    }
}

#[test]
fn a_limit_that_makes_no_sense_is_refused() {
    let no = |text: &str| text.parse::<Gate>().expect_err("it makes no sense");
    assert!(no("p99").contains("neither < nor >"));
    assert!(no("<-3%").contains("name a figure"));
    let gate: Gate = "speed<-3%".parse().expect("a workload may bring it");
    let no_run = gate.hold(&held(&FIVE, &FIVE, 1)).expect_err("these do not");
    assert!(no_run.contains("there is no figure 'speed'"), "{no_run}");
    let gate: Gate = "tsp<-3%".parse().expect("a workload may bring it");
    let no_run = gate.hold(&held(&FIVE, &FIVE, 1)).expect_err("these do not");
    assert!(no_run.contains("no figure 'tsp' (did you mean 'tps'?); 'dbdyno list"), "{no_run}");
    assert!(no("p99>5").contains("without %"));
    for (odd, meant) in [
        ("p99>-5%", "p99>+5%"),
        ("p99<5%", "p99>+5%"),
        ("tps>-3%", "tps<-3%"),
        ("tps<3%", "tps<-3%"),
    ] {
        assert!(no(odd).ends_with(&format!("did you mean '{meant}'?")), "{}", no(odd));
    }
    // A limit on a gain is one, and may be meant the other way round.
    let meant = |text: &str| {
        let gate: Gate = text.parse().expect("it is one");
        gate.hold(&held(&FIVE, &FIVE, 1)).expect("they have TPS").meant
    };
    assert_eq!(meant("tps>+3%").as_deref(), Some("tps<-3%"));
    assert_eq!(meant("tps>+300%").as_deref(), Some("tps<-75%"));
    assert_eq!(meant("tps<-3%"), None);
    for odd in ["tps<-x%", "tps<nan%", "p99>inf%"] {
        assert!(no(odd).contains("not a number"), "{odd}");
    }
    assert!(no("tps<-300%").contains("more than 100 %"));
    assert!(no("p99>5ms").contains("--require of 'dbdyno run'"));
}

/// Random numbers, normally distributed, that follow from a seed.
struct Draws(Rng);

impl Draws {
    /// Draws a number by the Box-Muller method.
    fn normal(&mut self) -> f64 {
        let mut share = || ((self.0.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let (size, turn) = (share(), share());
        (-2.0 * size.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }

    /// Makes a side of a comparison with `n` repeats at `points` points, which vary as `varied`
    /// says.
    fn side(&mut self, name: usize, n: usize, points: usize, varied: Varied) -> Side {
        let mut side = Side::named(format!("side {name}"));
        for point in 0..points {
            let one = |repeat: usize, draws: &mut Draws| {
                let percent =
                    varied.more + varied.drift * repeat as f64 + varied.sd * draws.normal();
                let minute = if varied.is_interleaved { repeat } else { name };
                let mut run = sides::short(1000.0 * (percent / 100.0).exp(), minute);
                // Percentiles of the same run vary by themselves too.
                let p99 = 10.0 * ((varied.sd * draws.normal() - percent) / 100.0).exp();
                run.block.offered_ms.p99 = Some(p99);
                run
            };
            let reports = (0..n).map(|repeat| one(repeat, self)).collect();
            let values = Named(vec![("clients".to_owned(), (1 << point).to_string())]);
            side.points.push(SidePoint { values, reports, repeats: (0..n as u32).collect() });
        }
        side
    }
}

#[derive(Clone, Copy, Default)]
struct Varied {
    sd: f64,
    more: f64,
    drift: f64,
    is_interleaved: bool,
}

/// Returns true if any headline of a comparison states a difference.
fn says_any(report: &ComparisonReport) -> bool {
    let is_said = |judged: &Judged| {
        matches!(judged.verdict, Verdict::Better | Verdict::Worse | Verdict::DiffersSizeNotKnown)
    };
    report.pairs.iter().any(|pair| {
        let aside =
            |others: &[Judged]| others.iter().any(|one| one.figure == "p99_ms" && is_said(one));
        pair.overall.as_ref().is_some_and(is_said)
            || pair.points.iter().any(|point| is_said(&point.primary))
            || aside(&pair.overall_others)
            || (pair.points.len() == 1 && aside(&pair.points[0].others))
    })
}

fn share_that_says(rounds: usize, mut sides: impl FnMut() -> Vec<Side>) -> f64 {
    let judge = Judge { primary: None, min_effect: 0.0, also: Vec::new() };
    let said = (0..rounds)
        .filter(|_| says_any(&ComparisonReport::new(&sides(), &judge).expect("all have runs")));
    said.count() as f64 / rounds as f64
}

fn draws(seed: u64) -> Draws {
    Draws(Rng::new(seed, Stream::Order, 0))
}

#[test]
fn headlines_of_many_equal_sides_are_rarely_wrong() {
    let mut draws = draws(21);
    for (n_others, rounds) in [(1, 300), (3, 120), (9, 60)] {
        let varied = Varied { sd: 1.0, ..Varied::default() };
        let share = share_that_says(rounds, || {
            (0..=n_others).map(|name| draws.side(name, 5, 3, varied)).collect()
        });
        assert!(share <= 0.06, "{n_others} other sides: {share}");
    }
}

#[test]
fn headlines_of_equal_sides_of_unequal_number_and_spread_are_rarely_wrong() {
    let mut draws = draws(23);
    let varied = |sd: f64| Varied { sd, ..Varied::default() };
    for (n_others, rounds) in [(1, 300), (3, 200), (9, 100)] {
        // A few runs that vary much, compared with many that do not.
        let share = share_that_says(rounds, || {
            let others = (1..=n_others).map(|name| (name, 4, 3.0));
            let all = std::iter::once((0, 12, 1.0)).chain(others);
            all.map(|(name, n, sd)| draws.side(name, n, 3, varied(sd))).collect()
        });
        assert!(share <= 0.07, "{n_others} other sides: {share}");
    }
}

#[test]
fn a_drift_over_interleaved_repeats_hides_no_difference() {
    let mut draws = draws(22);
    let varied = Varied { sd: 1.0, drift: 2.0, is_interleaved: true, ..Varied::default() };
    let mut share = |n: usize, more: f64| {
        share_that_says(100, || {
            vec![draws.side(0, n, 1, varied), draws.side(1, n, 1, Varied { more, ..varied })]
        })
    };
    let (found, wrong) = (share(6, 3.0), share(6, 0.0));
    assert!(found >= 0.8 && wrong <= 0.06, "{found} {wrong}");
    // With five repeats no signs are surprising, so that all runs are compared with all.
    assert!(share(5, 3.0) < 0.2);
}

#[test]
fn a_floor_is_a_share_in_percent_and_not_below_zero() {
    let min_effect = |text: &str| Judge::asked(None, Some(text)).map(|judge| judge.min_effect);
    assert_eq!(min_effect("2%"), Ok(0.02));
    assert_eq!(min_effect("0%"), Ok(0.0));
    let check = |text: &str, words: &str| assert_eq!(min_effect(text), Err(words.to_owned()));
    check("-5%", "min-effect -5% is below zero: write a share such as 2%");
    check("-5", "min-effect -5: write a share such as 2%");
    check("0.05", "min-effect 0.05: write a share such as 2%");
    check("200%", "min-effect 200%: write a share such as 2%");
}

#[test]
fn too_small_to_matter_is_hardly_ever_said_of_what_matters() {
    // The truth is +1.2 %, the minimum effect 1 %, and runs vary by 1 %.
    let mut rng = Rng::new(4, Stream::Order, 0);
    let mut normal = || (0..12).map(|_| stats::unit(rng.bits())).sum::<f64>() - 6.0;
    let mut runs = |level: f64| -> Vec<f64> {
        (0..6).map(|_| 1000.0 * (level + 0.01 * normal()).exp()).collect()
    };
    let verdicts: Vec<Verdict> =
        (0..200).map(|_| only(&held(&runs(0.0), &runs(0.012), 20)).verdict).collect();
    let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
    assert!(count(Verdict::TooSmallToMatter) <= 10, "{} of 200", count(Verdict::TooSmallToMatter));
    assert_eq!(count(Verdict::Worse), 0);
    // It certainly differs, by about 0.8 %; that this is less than 1 % is not shown.
    let narrow = [1000.0, 1001.0, 999.0, 1002.0, 998.0];
    let wide = [0.0, 0.004, -0.004, 0.003, -0.003].map(|noise| 1008.0 * (1.0 + noise));
    let judged = held(&narrow, &wide, 20);
    let (_, high) = only(&judged).ratio.and_then(|ratio| ratio.interval).expect("five of each");
    assert!(high > 1.01 && only(&judged).ratio.is_some_and(|ratio| ratio.value < 1.01));
    assert_eq!(only(&judged).verdict, Verdict::DiffersSizeNotKnown);
}

/// Makes a side of a comparison from five runs in closed load whose transactions take exponential
/// times with a mean of 10 ms; those above `most_ms` fail.
fn refusing(name: &str, most_ms: f64) -> Side {
    let mut made = analysis::fixtures::Made::closed();
    let mut rng = Rng::new(8, Stream::Order, 0);
    made.seconds.retain(|second| (0..10).contains(&second.second));
    for kind in made.seconds.iter_mut().flat_map(|second| &mut second.kinds) {
        let n = kind.counts.offered();
        let mut times = stats::Histogram::default();
        for _ in 0..n {
            let ms = -10.0 * (1.0 - stats::unit(rng.bits())).ln();
            if ms <= most_ms {
                times.record((ms * 1e6) as u64);
            }
        }
        kind.counts = model::Counts::default();
        (kind.counts.committed, kind.counts.failed) = (times.count(), n - times.count());
        (kind.response, kind.unfinished) = (Some(times), None);
    }
    let report = Report::from_tally(&made.tally());
    assert_eq!(report.load, Some(model::Load::Closed));
    let mut side = side(name, &[("8", &FIVE, 0)]);
    for run in &mut side.points[0].reports {
        run.block.offered_ms = report.block.offered_ms.clone();
        run.block.response_ms = report.block.response_ms.clone();
    }
    side
}

#[test]
fn a_closed_load_that_refuses_what_is_slow_is_no_faster_for_it() {
    let sides = [refusing("all", f64::INFINITY), refusing("refusing", 40.0)];
    let p99 = |side: &Side, offered: bool| {
        let block = &side.points[0].reports[0].block;
        if offered { block.offered_ms.p99 } else { block.response_ms.p99 }
    };
    // Finished transactions look a fifth faster: the others never finished.
    let finished = sides.each_ref().map(|side| p99(side, false).expect("it is known"));
    assert!(finished[1] < 0.85 * finished[0], "{finished:?}");
    assert!(p99(&sides[0], true).is_some() && p99(&sides[1], true).is_none());
    let judge =
        Judge { primary: Some("p99_ms".to_owned()), min_effect: MIN_EFFECT, also: Vec::new() };
    let report = ComparisonReport::new(&sides, &judge).expect("five of each");
    assert_eq!(only(&report).verdict, Verdict::Worse, "{:?}", only(&report));
}

#[test]
fn json_has_the_words_of_a_verdict_that_pages_have() {
    for verdict in Verdict::ALL {
        let words = match verdict {
            Verdict::NoEvidence => "no_evidence".to_owned(),
            verdict => verdict.name().replace(',', "").replace(' ', "_"),
        };
        assert_eq!(serde_json::json!(verdict), words);
    }
}

/// Draws the throughput of runs, some far above the others.
fn drawn(rng: &mut model::Rng, n_runs: usize) -> Vec<f64> {
    let value = |bits: u64| 500.0 + (bits % 997) as f64 + 5e3 * (bits % 5 / 4) as f64;
    (0..n_runs).map(|_| value(rng.bits() >> 9)).collect()
}

#[test]
fn a_ratio_is_the_quotient_of_the_shown_means_and_lies_within_its_interval() {
    let mut rng = model::Rng::new(11, model::Stream::Order, 0);
    for _ in 0..100 {
        let [n, m] = [3, 3].map(|least| least + (rng.bits() % 6) as usize);
        let (base, other) = (drawn(&mut rng, n), drawn(&mut rng, m));
        // Interleaved, in blocks, and after each other.
        let first = [1, 2 * n, 1_000][(rng.bits() % 3) as usize];
        let report = held(&base, &other, first);
        let point = &report.pairs[0].points[0];
        for judged in std::iter::once(&point.primary).chain(&point.others) {
            let [Some(base), Some(side)] = judged.centers else { panic!("{judged:?}") };
            let ratio = judged.ratio.expect("all runs have it");
            assert!((side / base / ratio.value - 1.0).abs() < 1e-9, "{judged:?}");
            let (low, high) = ratio.interval.expect("three runs a side");
            let rounding = 1e-12;
            assert!(low <= ratio.value * (1.0 + rounding), "{judged:?}");
            assert!(ratio.value <= high * (1.0 + rounding), "{judged:?}");
        }
    }
}

#[test]
fn pairs_of_runs_are_counted_by_the_sign_of_their_difference() {
    let report = held(&FIVE, &[1100.0, 1000.0, 990.0, 1200.0, 1100.0], 1);
    let pairs = only(&report).pairs.expect("they took turns");
    assert_eq!(pairs, RunPairs { n: 5, higher: 3, lower: 1 });
    assert_eq!(only(&held(&FIVE, &times(1.1), 100)).pairs, None, "in blocks");
}

#[test]
fn runs_at_points_that_the_other_side_lacks_say_nothing_about_the_comparison() {
    let old = side("old", &[("8", &FIVE, 0)]);
    let mut new = side("new", &[("8", &FIVE, 1), ("16", &FIVE, 2)]);
    for report in &mut new.points[1].reports {
        let warning = model::Severity::Warning;
        report.findings.push(model::Finding::new("debug_build", warning, "It is slow."));
        "another".clone_into(&mut report.workload);
    }
    let report = ComparisonReport::new(&[old, new], &PLAIN).expect("one point");
    let new = &report.sides[1];
    assert_eq!((new.runs.len(), new.findings.get("debug_build")), (5, None));
    assert!(!report.scene.workloads.iter().any(|name| name == "another"));
    assert_eq!(report.pairs[0].points_unpaired.len(), 1);
}

#[test]
fn a_setting_of_one_plan_is_no_difference_where_the_servers_had_the_same_value() {
    let with = |values: [&str; 2]| {
        let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
        for (side, value) in sides.iter_mut().zip(values) {
            for report in &mut side.points[0].reports {
                report.settings.push("flush_log", value.to_owned());
            }
        }
        for report in &mut sides[1].points[0].reports {
            report.plan = format!("{}\n[server]\nflush_log = \"1\"\n", report.plan);
        }
        let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
        report.differences.iter().any(|one| one.name.contains("flush_log"))
    };
    assert!(!with(["1", "1"]));
    assert!(with(["0", "1"]));
}
