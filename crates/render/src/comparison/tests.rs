//! Tests of the pages of comparisons, on made-up runs. Not here: how the runs are judged (study).

use analysis::report::{TimePart, TimeProfile};
use study::ComparisonReport;
use study::comparison::*;
use study::fixtures::sides::{self, FIVE, PLAIN, held, only, side, times};

use super::words::{change_within, smallest};
use super::*;

fn page_of(report: &ComparisonReport, gates: &[GateResult]) -> String {
    crate::terminal::text(&comparison(report, gates), &Default::default())
}

/// Returns the page of a comparison as text without line breaks.
fn in_a_line(report: &ComparisonReport) -> String {
    page_of(report, &[]).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn titles_of_sides_are_what_tells_them_apart_the_database_first() {
    let check = |names: [&str; 2], expect: [&str; 2]| {
        assert_eq!(titles(names[0], names[1]), expect.map(str::to_owned), "{names:?}");
    };
    check(["build=1.2", "build=1.3"], ["build=1.2", "build=1.3"]);
    let mariadb = "MariaDB 10.11.19, duration=4s";
    check(["SQLite 3.54.1, duration=10s", mariadb], ["SQLite 3.54.1", "MariaDB 10.11.19"]);
    let slow = "service=exponential:3ms, duration=3s";
    let fast = "service=exponential:2ms, duration=5s";
    check([fast, slow], ["exponential:2ms", "exponential:3ms"]);
    // Neither value is distinct alone.
    check(["SQLite 3.54.1, clients=4", "SQLite 3.54.1, clients=8"], ["baseline", "side"]);
    check(["a name that is too long for it", "b"], ["baseline", "side"]);
}

#[test]
fn plan_values_that_the_names_do_not_state_are_below_the_headline() {
    let plan = |clients: u32, warehouses: u32, duration: &str| {
        let load = format!("clients = {clients}\nparameters = {{ warehouses = {warehouses} }}");
        format!("[phases]\nmeasure = \"{duration}\"\n[[group]]\nworkload = \"tpcc\"\n{load}")
    };
    let made = |name: &str, first: usize, plan: &str| {
        let mut made = Side { is_unnamed: true, ..side(name, &[("8", &FIVE, first)]) };
        made.points[0].reports.iter_mut().for_each(|report| report.plan = plan.to_owned());
        made
    };
    let sides = [made("a", 0, &plan(10, 1, "10s")), made("b", 1, &plan(14, 2, "60s"))];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    assert_eq!(report.sides[1].name, "clients=14");
    let expected = "They also differ in duration (60s against 10s), warehouses (2 against 1); part \
                    of the difference may come from them.";
    for page in [comparison(&report, &[]), comparison_short(&report, &[], &[])] {
        let details: Vec<String> = page.verdicts[0].details.iter().map(Text::plain).collect();
        assert_eq!(details.iter().filter(|words| *words == expected).count(), 1, "{details:?}");
    }
    let page = first_page(&report, &[]);
    assert_eq!(page.matches("60s").count(), 1, "{page}");
}

#[test]
fn memory_of_the_servers_stands_beside_the_databases() {
    let made = |name: &str, first: usize, memory: &str| {
        let mut made = side(name, &[("8", &FIVE, first)]);
        for report in &mut made.points[0].reports {
            let facts = report.facts.entry("server_memory".to_owned()).or_default();
            facts.insert("cache".to_owned(), memory.into());
        }
        made
    };
    let line = |new: &str| {
        let sides = [made("old", 0, "shared_buffers 128MB"), made("new", 1, new)];
        let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
        assert!(in_a_line(&report).contains(" (shared_buffers 128MB"));
        first_page(&report, &[]).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let alike = line("shared_buffers 128MB");
    let setup = "setup tpcc on SQLite 3.54.1 (shared_buffers 128MB), 8 clients";
    assert!(alike.contains(setup), "{alike}");
    let apart = line("shared_buffers 1GB");
    assert!(apart.contains("(shared_buffers 128MB and shared_buffers 1GB), 8"), "{apart}");
}

#[test]
fn each_of_several_workloads_has_a_line_of_its_own() {
    let side_of = |name: &str, faster: f64, first: usize| {
        let of_oltp = times(faster);
        let mut made = side(name, &[("1", &FIVE, first), ("2", &of_oltp, first + 20)]);
        for (point, workload) in made.points.iter_mut().zip(["tpcc", "oltp"]) {
            point.values = Named(vec![("workload".to_owned(), workload.to_owned())]);
            point.reports.iter_mut().for_each(|report| report.workload = workload.to_owned());
        }
        made
    };
    let sides = [side_of("old", 1.0, 0), side_of("new", 1.2, 1)];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    for page in [comparison(&report, &[]), comparison_short(&report, &[], &[])] {
        let lines: Vec<String> =
            page.verdicts.iter().map(|verdict| verdict.headline.plain()).collect();
        let expected = [
            "tpcc: new vs. old: TPS 0 % (96.8 % CI -1.5 to +1.5 %), undecided: the \
             true change may be anywhere in the interval",
            "oltp: new vs. old: TPS +20.0 % (96.8 % CI +18.2 to +21.8 %; higher in 5 of 5 repeats), better",
        ];
        assert_eq!(lines, expected);
        let words: Vec<&str> = page.verdicts.iter().map(|verdict| verdict.word.as_str()).collect();
        assert_eq!(words, ["Undecided.", "Better."]);
    }
    assert!(is_open(&report));
}

#[test]
fn a_long_name_is_told_by_its_last_words() {
    let [one, zero] = ["1", "0"].map(|value| format!("innodb_flush_log_at_trx_commit={value}"));
    assert_eq!(titles(&one, &zero), ["…trx_commit=1", "…trx_commit=0"]);
    assert_eq!(
        titles("aVeryLongWordWithoutAnyEnd=1", "aVeryLongWordWithoutAnyEnd=2"),
        ["=1", "=2"]
    );
}

#[test]
fn a_remark_that_is_too_long_ends_with_a_clause() {
    use crate::first_page::up_to_clause;
    let text = "It waited for a CPU for 17 % of the time, 5 ms on average, and more";
    assert_eq!(
        up_to_clause(text, 60),
        "It waited for a CPU for 17 % of the time, 5 ms on average …"
    );
    assert_eq!(up_to_clause(text, 30), "It waited for a CPU for 17 % of the time …");
    let bracket =
        "Other programs took 31 % of the CPU time (0.61 of 2 processors, user time alone)";
    assert_eq!(up_to_clause(bracket, 70), "Other programs took 31 % of the CPU time …");
    assert_eq!(
        up_to_clause("TPS of both groups fell to 14.8 %", 20),
        "TPS of both groups fell to 14.8 %"
    );
    assert_eq!(up_to_clause(text, 90), text);
}

#[test]
fn what_so_few_runs_cannot_show_in_reach_is_not_told() {
    let wild = [500.0, 1_500.0, 700.0, 2_000.0, 900.0];
    let report = held(&wild, &FIVE, 1);
    let words = detectable(&report, only(&report)).expect("it is no evidence");
    let expected = "Smallest detectable difference: 193 % with 5 runs a side, 71 % with 20.";
    assert_eq!(words, expected);
}

#[test]
fn what_does_not_differ_enough_is_equal_or_undecided() {
    assert_eq!(only(&held(&FIVE, &times(1.002), 1)).verdict, Judgement::NoEvidence);
    // Significantly different, by half of the minimum effect.
    let exact = [1000.0, 1000.1, 1000.2, 1000.3, 1000.4];
    let report = held(&exact, &exact.map(|tps| tps * 1.005), 1);
    assert_eq!(only(&report).verdict, Judgement::TooSmallToMatter);
    let page = in_a_line(&report);
    let words = "TPS +0.50 % (96.8 % CI +0.4";
    assert!(page.contains(words), "{page}");
    assert!(page.contains("too small to matter: equal within the minimum effect of 1 %"), "{page}");
}

#[test]
fn a_time_that_lost_work_has_made_infinite_is_worse_than_any_other() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    let lose = |side: &mut Side| {
        for report in &mut side.points[0].reports {
            report.block.offered_ms.p99 = None;
            report.block.offered_ms.infinite = vec!["p99".to_owned()];
        }
    };
    lose(&mut sides[1]);
    let p99 =
        Judge { primary: Some("p99_ms".to_owned()), min_effect: MIN_EFFECT, also: Vec::new() };
    let report = ComparisonReport::new(&sides, &p99).expect("five of each");
    assert_eq!(only(&report).verdict, Judgement::Worse);
    assert_eq!(only(&report).ratio.map(|ratio| ratio.value), Some(f64::INFINITY));
    let page = in_a_line(&report);
    assert!(page.contains("because work was lost, worse TPS"), "{page}");
    let gate: Gate = "p99>+5%".parse().expect("it is one");
    assert_eq!(gate.hold(&report).map(|gate| gate.passed), Ok(Passed::Broken));
    // If both have lost transactions, it is not known which is worse.
    lose(&mut sides[0]);
    let report = ComparisonReport::new(&sides, &p99).expect("five of each");
    assert_eq!(only(&report).verdict, Judgement::NoEvidence);
}

#[test]
fn a_limit_says_what_was_measured_and_how_many_runs_it_takes() {
    let report = held(&FIVE, &FIVE, 20);
    let limit: Gate = "tps<-5%".parse().expect("it is one");
    let mut result = limit.hold(&report).expect("it has TPS");
    result.worst = Some(Worst { bound: 0.9503, measured: 1.0021 });
    result.too_few = Some(TooFew { runs: 3, are_pairs: true, detectable: 0.48, needed: Some(28) });
    result.pairs_least = None;
    let said = |result: &GateResult| super::gate::gate(result).headline.plain();
    insta::assert_snapshot!(
        said(&result),
        @"within the limit tps<-5%: +0.21 % measured, one-sided 95 % bound -4.97 %"
    );
    result.passed = Passed::Undecided;
    result.at = vec!["+0.2 % at new clients=8".to_owned()];
    insta::assert_snapshot!(
        said(&result),
        @"undecided tps<-5%: +0.2 % at new clients=8; too noisy for this limit: 3 pairs of runs can only rule out a fall of more than 48 %, even between equal builds; about 28 repeats could rule out 5 %"
    );
    result.too_few = None;
    result.pairs_least = Some(3);
    for (outcome, words) in [
        (
            Passed::Held,
            "; if the change stays as measured, roughly 10 repeats would show it within this limit; with so few repeats, only the whole CI can fail a limit, and the bound of the pairs can only pass it",
        ),
        (Passed::Broken, "roughly 10 repeats would show it beyond this limit (FAILED); with"),
        (Passed::Undecided, "; the change is closer to this limit than its noise, so that more"),
    ] {
        (result.decided_after, result.decided_as) = (Some(10), Some(outcome));
        assert!(said(&result).contains(words), "{}", said(&result));
    }
    (result.decided_after, result.pairs_least) = (None, None);
    result.runs_least = 2;
    result.side_least = "new".to_owned();
    insta::assert_snapshot!(
        said(&result),
        @"undecided tps<-5%: +0.2 % at new clients=8; new has 2 runs, which can decide nothing: run 6 or more a side (--repeat 6)"
    );
    result.from_zero = Some("errors".to_owned());
    result.passed = Passed::Broken;
    insta::assert_snapshot!(
        said(&result),
        @"FAILED tps<-5%: +0.2 % at new clients=8; no percentage describes a rise from 0: limit the value itself, with --require 'errors<VALUE' of 'dbdyno run'"
    );
}

#[test]
fn a_limit_is_undecided_where_only_one_side_has_a_run_that_counts() {
    let old = side("old", &[("1", &FIVE, 0), ("8", &FIVE, 1)]);
    let sides = [old, side("new", &[("1", &FIVE, 20)])];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("a point in common");
    let gate: Gate = "tps<-3%".parse().expect("it is one");
    let held = gate.hold(&report).expect("it has TPS");
    assert_eq!(held.passed, Passed::Undecided);
    assert_eq!(held.at, ["only old has valid runs at clients=8"]);
    let page = in_a_line(&report);
    let words = "Left out: 1 point of old, where new has none: clients=8.";
    assert!(page.contains(words), "{page}");
}

#[test]
fn a_point_that_a_side_could_not_do_is_said_first_and_breaks_a_limit() {
    let old = side("rate=1", &[("1", &FIVE, 0), ("8", &FIVE, 20)]);
    let mut new = side("rate=2", &[("1", &times(1.5), 1)]);
    new.not_counted = sides::lost(2);
    for run in &mut new.not_counted {
        run.values = Some(old.points[1].values.clone());
    }
    let report = ComparisonReport::new(&[old.clone(), new.clone()], &PLAIN).expect("one in common");
    let page = in_a_line(&report);
    let words = "tpcc: rate=2 vs. 1: NO valid run of rate=2 at 1 of 2 points; at clients=1, TPS +";
    assert!(page.starts_with(words), "{page}");
    let words =
        "Left out: 1 point of rate=1, where rate=2 was attempted without a valid run: clients=8.";
    assert!(page.contains(words), "{page}");
    // All of its runs are reported, and the curve is of their common points.
    assert_eq!((report.sides[0].runs.len(), report.sides[0].curve.is_none()), (5, true));
    let gate: Gate = "tps<-3%".parse().expect("it is one");
    let held = gate.hold(&report).expect("it has TPS");
    assert_eq!((held.passed, held.at.len()), (Passed::Broken, 1));
    // If only the baseline failed, no limit on the change is violated.
    let report = ComparisonReport::new(&[new, old], &PLAIN).expect("one in common");
    assert!(!in_a_line(&report).contains("NO run"));
    let gate: Gate = "tps<-50%".parse().expect("it is one");
    assert_eq!(gate.hold(&report).expect("it has TPS").passed, Passed::Undecided);
}

#[test]
fn a_rate_of_nothing_is_all_less_and_no_work_that_was_lost() {
    let page = in_a_line(&held(&FIVE, &[0.0; 5], 1));
    assert!(page.starts_with("tpcc: new vs. old: TPS -100 %"), "{page}");
    assert!(page.contains("0.000 (0.000 to 0.000)"), "{page}");
}

#[test]
fn a_finding_of_both_sides_is_not_said_to_slow_the_one_that_has_it_more_often() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &times(1.1), 1)])];
    for (at, n) in [(0, 1), (1, 5)] {
        for report in &mut sides[at].points[0].reports[..n] {
            let text = "10 to 11 % of the time was outside.";
            let severity = model::Severity::Warning;
            report.findings.push(model::Finding::new("client_time_outside", severity, text));
        }
    }
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    let words = explains(&report, "client_time_outside");
    assert_eq!(words.as_deref(), Some("in more runs of new, but not there alone"));
}

#[test]
fn different_workloads_are_the_first_thing_that_a_comparison_says() {
    let sides = [("old", "tpcb", 0), ("new", "tpcc", 1)].map(|(name, workload, minute)| {
        let mut side = side(name, &[("8", &FIVE, minute)]);
        for report in &mut side.points[0].reports {
            report.plan = format!("[[group]]\nworkload = \"{workload}\"\n");
        }
        side
    });
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    let page = comparison_short(&report, &[], &[]);
    let first = page.verdicts[0].details[0].plain();
    assert!(first.starts_with("These are different workloads (tpcc and tpcb)"), "{first}");
}

#[test]
fn what_speaks_against_it_is_reported_in_sentences() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &times(1.1), 1)])];
    let warning = |id: &str| {
        let text = "Steal took 12 %. Measure on another machine.";
        let finding = model::Finding::new(id, model::Severity::Warning, text);
        model::Finding { observed: Some("Steal took 12 %.".to_owned()), ..finding }
    };
    for report in &mut sides[1].points[0].reports[..3] {
        report.findings.push(warning("noisy_machine"));
    }
    for report in sides.iter_mut().flat_map(|side| &mut side.points[0].reports) {
        report.findings.push(warning("short_run"));
    }
    sides[0].not_counted = sides::lost(2);
    let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
    let page = crate::markdown::markdown(&comparison(&report, &[]));
    for words in [
        "Steal took 12 % in 0 of 5 runs of old, 3 of 5 runs of new (noisy machine); unevenly: \
         it slows new, so the difference may be larger without it",
        "in all 10 runs (short run).",
        "2 of 7 runs of old do not count: failed (2); the remaining runs may be the better",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn the_warnings_that_are_named_are_the_first_that_are_shown_and_the_reason_for_caution() {
    let mut report = held(&FIVE, &times(1.1), 1);
    for side in &mut report.sides {
        for id in ["debug_build", "noisy_machine", "warming_up", "stalled", "generator_saturated"] {
            side.findings.0.push((id.to_owned(), 5));
        }
    }
    report.sides[0].findings.0.retain(|(id, _)| id != "stalled");
    for page in [comparison(&report, &[]), comparison_short(&report, &[], &[])] {
        let validity = page.validity.expect("there are warnings");
        let words = "Valid, with 5 warnings (stalled, generator late, warming up, ...).";
        assert_eq!(validity.answer, words);
        // The full page has the ids, by which the reference lists them.
        let shown = [
            ("stalled", "stalled"),
            ("generator late", "generator_saturated"),
            ("warming up", "warming_up"),
        ];
        for (remark, (label, id)) in validity.remarks.iter().zip(shown) {
            let text = remark.text.plain();
            assert!(text.contains(label) || text.contains(id), "{id}: {remark:?}");
        }
        assert_eq!(page.verdicts[0].word, "Better, with caution.");
        let words = "Treat every verdict here with caution: stalled in 5 of 5 runs of new.";
        assert_eq!(page.verdicts[0].details[0].plain(), words);
    }
}

/// Sets the facts that say which commits of a run a crash may lose (`loss`); with `None`, that it
/// loses none.
fn at_risk(report: &mut analysis::Report, loss: Option<&str>) {
    let words = |loss: &str| model::CommitRisk { mode: "a=b".to_owned(), loss: loss.to_owned() };
    for fact in model::CommitRisk::facts(loss.map(words)) {
        report.facts.entry(fact.about).or_default().insert(fact.name, fact.value);
    }
}

#[test]
fn a_gain_that_costs_durability_says_so_below_its_verdict() {
    let crash = Some("a crash may lose the last commits");
    let check = |losses: [Option<Option<&str>>; 2], expect: Option<&str>| {
        let mut sides = [side("on", &[("8", &FIVE, 0)]), side("off", &[("8", &times(13.0), 1)])];
        for (side, loss) in sides.iter_mut().zip(losses) {
            let reports = side.points[0].reports.iter_mut();
            reports.for_each(|report| loss.iter().for_each(|loss| at_risk(report, *loss)));
        }
        let report = ComparisonReport::new(&sides, &PLAIN).expect("five of each");
        assert_eq!(report.pairs[0].durability.as_deref(), expect);
        for page in [comparison(&report, &[]), comparison_short(&report, &[], &[])] {
            let first = page.verdicts[0].details.first().map(Text::plain);
            let is_first = first.filter(|words| words.starts_with("Not equally durable"));
            assert_eq!(is_first.as_deref(), expect);
        }
    };
    let words = "Not equally durable: with off, a crash may lose the last commits; with on, ";
    check([Some(None), Some(crash)], Some(&format!("{words}it does not.")));
    check([None, Some(crash)], Some(&format!("{words}that is not known.")));
    check([Some(crash), Some(crash)], None);
    check([Some(None), Some(None)], None);
    check([Some(None), None], None);
    let power = Some("a loss of power may lose commits");
    let both = "Not equally durable: with off, a crash may lose the last commits; with on, a loss \
                of power may lose commits.";
    check([Some(power), Some(crash)], Some(both));
}

#[test]
fn what_cannot_be_judged_is_named_and_so_is_a_side_that_is_still_being_measured() {
    let mut sides = [side("old", &[("8", &FIVE, 0)]), side("new", &[("8", &FIVE, 1)])];
    for report in &mut sides[1].points[0].reports {
        (report.block.offered_ms.p95, report.block.offered_ms.p99) = (None, None);
    }
    sides[1].running = vec!["r9".to_owned(), "r10".to_owned()];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("they have TPS");
    let page = in_a_line(&report);
    for words in [
        "p95 ms: cannot be judged, because 0 of 5 runs of a side have p95 ms.",
        "p99 ms: cannot be judged, because 0 of 5 runs of a side have p99 ms.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let words = "Preliminary: new is still being measured (r9 and 1 more); only runs that have \
                 ended are compared.";
    for page in [comparison(&report, &[]), comparison_short(&report, &[], &[])] {
        assert_eq!(page.verdicts[0].details[0].plain(), words);
    }
    // Both sides are points of one experiment.
    sides[0].running = sides[1].running.clone();
    let report = ComparisonReport::new(&sides, &PLAIN).expect("they have TPS");
    let words = "Preliminary: old and new are still being measured (r9 and 1 more); only runs";
    assert!(in_a_line(&report).contains(words));
    let alone = held(&FIVE[..1], &times(1.1)[..1], 1);
    let [words] = &not_plain(alone.pairs[0].points[0].others.iter())[..] else {
        panic!("they have one reason")
    };
    let begins = "p50 ms, p95 ms and p99 ms: cannot be judged, because 1 run per side";
    assert!(words.starts_with(begins), "{words}");
}

#[test]
fn runs_that_are_older_than_an_hour_say_so() {
    let mut report = held(&FIVE, &times(1.1), 1);
    let (_, newest) = report.scene.begun.expect("it has runs");
    let newest_ms = newest.as_millisecond();
    for (minutes, words) in [(0, None), (59, None), (61, Some("1 h ago")), (8_000, Some("5 d ago"))]
    {
        report.seen_unix_ms = Some(newest_ms + minutes * 60_000);
        let short = comparison_short(&report, &[], &[]);
        let short = crate::terminal::text(&short, &Default::default());
        for page in [in_a_line(&report), short] {
            match words {
                Some(words) => assert!(page.contains(words), "{words}: {page}"),
                None => assert!(!page.contains(" ago"), "{page}"),
            }
        }
    }
}

/// Checks that a sentence does not mix percentages with factors.
#[test]
fn what_is_far_away_is_a_factor_with_its_whole_interval() {
    let check = |value: f64, interval: (f64, f64), expect: &str| {
        let ratio = Ratio { value, interval: Some(interval), confidence: Some(0.95) };
        assert_eq!(change_within("tps", &ratio), expect);
    };
    check(1.12, (1.05, 1.19), "+12.0 % (95 % CI +5.0 to +19.0 %)");
    check(1.044, (0.193, 5.41), "×1.04 (95 % CI ×0.193 to ×5.41)");
    check(22.0, (3.43, 181.0), "×22.0 (95 % CI ×3.43 to ×181)");
    let one = |share: f64| smallest(share, is_manifold(share));
    assert_eq!([0.051, 1.4, 105.0].map(one), ["5.1 %", "140 %", "×106"]);
}

#[test]
fn what_differs_is_a_table_and_what_some_sides_know_is_folded() {
    let mut report = held(&FIVE, &times(1.1), 1);
    let differs = |about: &str, n: usize, values: [Option<&str>; 2]| Difference {
        about: about.to_owned(),
        name: format!("name{n}"),
        values: values.map(|value| value.map(str::to_owned)).to_vec(),
    };
    let both = [Some("DROP\nTABLE big"), Some("none")];
    report.differences = (0..32).map(|n| differs("plan", n, both)).collect();
    report.differences.extend((0..3).map(|n| differs("setting", n, [Some("1"), None])));
    let page = comparison(&report, &[]);
    let text = crate::terminal::text(&page, &Default::default());
    for line in [
        "what differs  old             new",
        "name29        DROP TABLE big  none",
        "and 2 more differences (--output json has all)",
        "3 facts only some sides have (--output json has all)",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(!text.contains("name30") && !text.contains("setting.name0"), "{text}");
    let html = crate::html::body(&page, crate::html::Medium::File);
    assert!(html.contains("name31") && html.contains("setting.name2"), "{html}");
    assert!(html.contains("<summary>3 facts only some sides have</summary>"), "{html}");
    // They are not rows of the figures.
    assert!(!crate::csv::csv(&page).contains("plan.name"));
}

#[test]
fn each_of_several_sides_has_a_table_and_programs_read_all_in_one() {
    let sides = [("old", 1.0), ("new", 1.1), ("newer", 1.2)].map(|(name, factor)| {
        let tps = times(factor);
        side(name, &[("1", &tps, 0), ("8", &tps, 20)])
    });
    let report = ComparisonReport::new(&sides, &PLAIN).expect("two points");
    let page = comparison(&report, &[]);
    let text = crate::terminal::text(&page, &Default::default());
    assert!(text.contains("\nnew vs. old\npoint"), "{text}");
    assert!(text.contains("\n\nnewer vs. old\npoint"), "{text}");
    let csv = crate::csv::csv(&page);
    assert_eq!(csv.matches("side,point").count(), 1, "{csv}");
    for row in ["new,clients=1,tps,", "newer,clients=8,p99_ms,", "newer,all,tps,"] {
        assert_eq!(csv.matches(&format!("\n{row}")).count(), 1, "{row}: {csv}");
    }
}

#[test]
fn it_reads_like_a_page() {
    let sides = [
        side("old", &[("1", &FIVE, 0), ("8", &FIVE, 20)]),
        side("new", &[("1", &times(1.1), 1), ("8", &times(1.001), 21)]),
    ];
    let report = ComparisonReport::new(&sides, &PLAIN).expect("two points");
    insta::assert_snapshot!(page_of(&report, &[]), @r"
    tpcc: new vs. old: over all points, TPS +4.9 % (96.8 % CI +3.4 to +6.5 %; higher in 5 of 5
    repeats), better; point by point, of 2 points: better at 1, undecided at 1
    p99 ms -4.7 % (96.8 % CI -6.1 to -3.3 %), better.

    Valid, with notes.

    point      figure    old    new  change (CI)                verdict                  p
    clients=1  TPS     1,000  1,100  +10.0 % (+8.4 to +11.7 %)  better               0.016
    clients=8  TPS     1,000  1,001  +0.10 % (-1.4 to +1.6 %)   undecided            0.848
    all        TPS     1,000  1,049  +4.9 % (+3.4 to +6.5 %)    better               0.010
    all        p50 ms  13.52  13.52  0 %                        too small to matter  1.000
    all        p95 ms  50.33  50.33  0 %                        too small to matter  1.000
    all        p99 ms  10.00  9.530  -4.7 % (-6.1 to -3.3 %)    better               0.016
    column hidden, too narrow: detectable (COLUMNS=98 shows all)
    Values are geometric means over the runs of each side (in the row 'all' over the points, too),
    and changes are those of their quotients, with CIs of at least 96.8 %, not corrected; p is
    corrected for all sides, points and figures of the first lines. Better or worse needs p < 0.05
    and a ratio beyond the minimum effect of 1 %.
    Detectable: the smallest difference that so many runs would show, in four of five such
    comparisons.
    The runs were interleaved, and compared unpaired (in pairs from 6 repeats on).

    Plan, database, machine and build are the same on all sides.

    TPS over clients  first  mean of points   peak  at   last
    old               1,000           1,000  1,000   1  1,000
    new               1,100           1,051  1,100   1  1,001

    baseline    old: 10 runs
    side        new: 10 runs

    tpcc on SQLite 3.54.1: 8 clients on threads, load: closed; 20 runs of 60 s after 5 s of ramp-up,
    started between 2026-11-21 10:00:00 UTC and 2026-11-21 10:29:00 UTC. On all sides: journal=wal,
    synchronous=full. By dbdyno 0.1.0.
    Derived from TPC-C; not a TPC result, and not comparable with one.

    note        2 of 27,227 transactions failed (less than 0.01 %).
    note        299 further attempts after conflicts, for 27,227 transactions.
    note        Closed load: a slow database gets fewer requests.
    note        The database runs in the generator's process and shares its CPUs. The client's CPU
                time includes the database's.
    ");
    let gate: Gate = "p99>+5%".parse().expect("it is one");
    let one = held(&FIVE, &times(0.9), 20);
    insta::assert_snapshot!(page_of(&one, &[gate.hold(&one).expect("it has p99")]), @r"
    FAILED p99>+5%: +11.1 % (96.8 % CI +9.5 to +12.8 %) at new clients=8
    tpcc: new vs. old: TPS -10.0 % (96.8 % CI -11.3 to -8.6 %), worse
    p99 ms +11.1 % (96.8 % CI +9.5 to +12.8 %), worse.

    Valid, with notes.

    figure    old    new  change (CI)                verdict                  p  detectable
    TPS     1,000  900.0  -10.0 % (-11.3 to -8.6 %)  worse                0.010       1.9 %
    p50 ms  13.52  13.52  0 %                        too small to matter  1.000         0 %
    p95 ms  50.33  50.33  0 %                        too small to matter  1.000         0 %
    p99 ms  10.00  11.11  +11.1 % (+9.5 to +12.8 %)  worse                0.008       1.9 %
    Values are geometric means over the runs of each side, and changes are those of their quotients,
    with CIs of at least 96.8 %, not corrected; p is corrected for all sides, points and figures of
    the first lines. Better or worse needs p < 0.05 and a ratio beyond the minimum effect of 1 %.
    Detectable: the smallest difference that so many runs would show, in four of five such
    comparisons.

    Plan, database, machine and build are the same on all sides.

    baseline    old: 5 runs
    side        new: 5 runs

    tpcc on SQLite 3.54.1: 8 clients on threads, load: closed; 10 runs of 60 s after 5 s of ramp-up,
    started between 2026-11-21 10:00:00 UTC and 2026-11-21 10:28:00 UTC. On all sides: journal=wal,
    synchronous=full. By dbdyno 0.1.0.
    Derived from TPC-C; not a TPC result, and not comparable with one.

    note        Runs of old and new were not interleaved: a drift in the meantime (of the machine,
                of the data) counts as a difference. To interleave them, run one experiment that
                varies both values (--vary).
    note        2 of 27,227 transactions failed (less than 0.01 %).
    note        299 further attempts after conflicts, for 27,227 transactions.
    note        Closed load: a slow database gets fewer requests.
    note        The database runs in the generator's process and shares its CPUs. The client's CPU
                time includes the database's.
    ");
}

#[test]
fn it_is_written_for_others() {
    let one = held(&FIVE, &times(0.9), 20);
    let page = comparison(&one, &[]);
    insta::assert_snapshot!(crate::markdown::markdown(&page), @r"
    **tpcc: new vs. old: TPS -10.0 % (96.8 % CI -11.3 to -8.6 %), worse**

    p99 ms +11.1 % (96.8 % CI +9.5 to +12.8 %), worse.

    ### Result

    | figure | old | new | change (CI) | verdict | p | detectable |
    | --- | ---: | ---: | --- | --- | ---: | ---: |
    | TPS | 1,000 | 900.0 | -10.0 % (-11.3 to -8.6 %) | worse | 0.010 | 1.9 % |
    | p50 ms | 13.52 | 13.52 | 0 % | too small to matter | 1.000 | 0 % |
    | p95 ms | 50.33 | 50.33 | 0 % | too small to matter | 1.000 | 0 % |
    | p99 ms | 10.00 | 11.11 | +11.1 % (+9.5 to +12.8 %) | worse | 0.008 | 1.9 % |

    Values are geometric means over the runs of each side, and changes are those of their quotients, with CIs of at least 96.8 %, not corrected; p is corrected for all sides, points and figures of the first lines. Better or worse needs p \< 0.05 and a ratio beyond the minimum effect of 1 %.

    Detectable: the smallest difference that so many runs would show, in four of five such comparisons.

    ### What changed

    Plan, database, machine and build are the same on all sides.

    ### Sides

    - **baseline** old: 5 runs

    - **side** new: 5 runs

    tpcc on SQLite 3.54.1: 8 clients on threads, load: closed; 10 runs of 60 s after 5 s of ramp-up, started between 2026-11-21 10:00:00 UTC and 2026-11-21 10:28:00 UTC. On all sides: journal=wal, synchronous=full. By dbdyno 0.1.0.

    Derived from TPC-C; not a TPC result, and not comparable with one.

    ### Valid, with notes.

    - **Note** Runs of old and new were not interleaved: a drift in the meantime (of the machine, of the data) counts as a difference. To interleave them, run one experiment that varies both values (--vary).
    - **Note** 2 of 27,227 transactions failed (less than 0.01 %).
    - **Note** 299 further attempts after conflicts, for 27,227 transactions.
    - **Note** Closed load: a slow database gets fewer requests.
    - **Note** The database runs in the generator's process and shares its CPUs. The client's CPU time includes the database's.
    ");
    insta::assert_snapshot!(crate::csv::csv(&page), @r"
    side,point,figure,baseline,value,ratio,low,high,p,p_corrected,detectable_percent,verdict,unit,confidence_percent,baseline_runs,value_runs,baseline_name,workload,reason
    new,clients=8,tps,999.974999249956,899.9774993249607,0.9000000000000004,0.8866336633663374,0.9135678391959798,0.007936507936507936,0.009920634920634929,1.9069072480485616,worse,1/s,96.82539682539682,5,5,old,tpcc,
    new,clients=8,p50_ms,13.516799000000002,13.516799000000002,1,1,1,1,1,0,too small to matter,ms,96.82539682539682,5,5,old,tpcc,
    new,clients=8,p95_ms,50.33164699999997,50.33164699999997,1,1,1,1,1,0,too small to matter,ms,96.82539682539682,5,5,old,tpcc,
    new,clients=8,p99_ms,10.000250013750968,11.111388904167747,1.1111111111111116,1.0946094609460946,1.1278615298715802,0.007936507936507936,0.007936507936507936,1.9069072480485838,worse,ms,96.82539682539682,5,5,old,tpcc,
    ");
}

/// Compares two sets of runs with one run per seed on `target`. `first` is the position in time of
/// the second set's first run; with 1 the sets alternate.
fn of_seeds(target: &str, seeds: [&[u64]; 2], first: usize) -> ComparisonReport {
    let side_of = |name: &str, seeds: &[u64], first: usize| {
        let figures: Vec<f64> = (0..seeds.len()).map(|nth| 1_000.0 + nth as f64).collect();
        let mut side = side(name, &[("8", &figures, first)]);
        for (report, seed) in side.points[0].reports.iter_mut().zip(seeds) {
            (report.seed, report.target) = (*seed, target.to_owned());
            if target.starts_with("sim:") {
                let facts = report.facts.entry("database".to_owned()).or_default();
                facts.insert("seed".to_owned(), (*seed).into());
            }
        }
        side
    };
    let sides = [side_of("old", seeds[0], 0), side_of("new", seeds[1], first)];
    ComparisonReport::new(&sides, &PLAIN).expect("both have runs")
}

#[test]
fn sides_that_a_simulated_database_drew_from_the_same_seeds_are_not_independent() {
    let words = "share 1 seed: a simulated database draws the same random numbers";
    let says = |report: &ComparisonReport| in_a_line(report).contains(words);
    assert!(says(&of_seeds("sim:?servers=4", [&[1], &[1]], 1)));
    assert!(says(&of_seeds("sim:?servers=4", [&[1, 1, 1], &[1, 1, 1]], 1)));
    assert!(says(&of_seeds("sim:", [&[1, 2, 3], &[3, 4, 5]], 20)));
    assert!(!says(&of_seeds("sim:", [&[1, 2, 3], &[4, 5, 6]], 20)));
    // Other databases do not draw, and repeats of one experiment share their seeds on purpose.
    assert!(!says(&of_seeds("sqlite:x.db", [&[1], &[1]], 1)));
    let many = [1, 2, 3, 4, 5, 6];
    assert_eq!(of_seeds("sim:", [&many, &many], 1).pairs[0].seeds_shared, 0);
    assert_eq!(of_seeds("sim:", [&many[..3], &many[..3]], 1).pairs[0].seeds_shared, 0);
    assert_eq!(of_seeds("sim:", [&many[..3], &many[1..4]], 1).pairs[0].seeds_shared, 2);
}

#[test]
fn runs_of_a_side_that_all_have_one_seed_are_warned_of() {
    let words = "All 3 runs of old have the same seed: they replay the same inputs";
    let says = |report: &ComparisonReport| in_a_line(report).contains(words);
    let compared = |seeds: [&[u64]; 2]| of_seeds("sqlite:x.db", seeds, 1);
    assert!(says(&compared([&[1, 1, 1], &[1, 2, 3]])));
    assert!(!says(&compared([&[1, 1, 2], &[1, 2, 3]])));
    assert!(!says(&compared([&[1], &[1]])));
}

/// Compares client SQL with procedures at `n_points` points, with `n_runs` runs each.
fn of_modes(n_points: usize, n_runs: usize) -> ComparisonReport {
    let tps = [1000.0; 5];
    let names = ["1", "8", "64"];
    let points: Vec<(&str, &[f64], usize)> = names[..n_points]
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, &tps[..n_runs], at))
        .collect();
    let of_mode = |mode: &str, packets: f64| {
        let mut side = side(&format!("mode={mode}"), &points);
        for report in side.points.iter_mut().flat_map(|point| &mut point.reports) {
            report.plan = format!("[[group]]\nparameters = {{ mode = \"{mode}\" }}");
            report.gauges = vec![
                sides::gauge("machine", "softirqs/NET_RX", "1/s", packets),
                sides::gauge("database", "Bytes_sent", "B/s", 1e6),
            ];
        }
        side
    };
    let sides = [of_mode("prepared", 59_000.0), of_mode("procedures", 5_000.0)];
    ComparisonReport::new(&sides, &PLAIN).expect("points in common")
}

#[test]
fn what_a_transaction_takes_is_one_table_of_all_points_beside_what_others_published() {
    let page = in_a_line(&of_modes(2, 1));
    for words in [
        "(of one run a side and point, so without intervals, and not tested)",
        "Ratios are mode=prepared divided by mode=procedures, the other way round than in the tables of figures: a ratio of 2 means that mode=prepared",
        "prepared / procedures of all points per transaction clients=1 clients=8 HammerDB post, per transaction its totals",
        "in which procedures did 1.3 times as many transactions",
        "machine.softirqs/NET_RX 11.8 11.8 8.8 (time) 6.8 (time)",
        // It did not change, but is a key figure.
        "database.Bytes_sent 1.00 1.00 10.4 8.00",
        "clients=8 per transaction",
        "machine.softirqs/NET_RX 59 5 11.8",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("95 % intervals over runs"), "{page}");
    let markdown = crate::markdown::markdown(&comparison(&of_modes(2, 1), &[]));
    assert!(markdown.contains("NET\\_RX | 11.8 | 11.8 | 8.8"), "{markdown}");
}

#[test]
fn ratios_of_a_transaction_are_the_sides_to_the_baselines_and_inverse_of_procedures() {
    let page = in_a_line(&of_modes(1, 5));
    for words in [
        "with 95 % intervals over runs where there are enough, not tested",
        "Ratios are mode=prepared divided by mode=procedures",
        "machine.softirqs/NET_RX 59 5 -54 11.8 (11.8 to 11.8)",
        "database.Bytes_sent",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("HammerDB"), "{page}");
    // Except for stored procedures, it is the change of the side from the baseline, as in the other
    // tables.
    let mut others = of_modes(1, 5);
    others.differences.clear();
    let page = in_a_line(&others);
    for words in [
        "Changes are those of mode=procedures from mode=prepared.",
        "machine.softirqs/NET_RX 59 5 -54 ×0.0847",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// Returns the first page of a comparison as text of 80 columns.
fn first_page(report: &ComparisonReport, gates: &[GateResult]) -> String {
    let next = [("dbdyno compare a b --full".to_owned(), "all figures".to_owned())];
    let page = comparison_short(report, gates, &next);
    crate::terminal::text(&page, &crate::Style { color: false, width: 80 })
}

#[test]
fn the_first_page_of_two_sides_fits_a_screen_of_80_columns() {
    // Without evidence there are more lines above the table.
    let mut report = of_commits(&[3.0, 3.1, 2.9, 3.05, 2.95], &[1.0, 1.1, 0.9, 1.05, 0.95]);
    let pair = &mut report.pairs[0];
    assert_eq!(pair.points[0].primary.verdict, Judgement::NoEvidence);
    let mut fifth = pair.points[0].primary.clone();
    fifth.figure = "nopm".to_owned();
    pair.points[0].others.push(fifth);
    pair.durability = Some(
        "Not equally durable: with innodb_flush_log_at_trx_commit=0, a crash may lose the last \
         second of commits; with innodb_flush_log_at_trx_commit=1, it does not."
            .to_owned(),
    );
    report.scene.notices = vec!["Not an official result of anybody.".to_owned()];
    for (at, side) in report.sides.iter_mut().enumerate() {
        side.modes = vec![format!("fsync={at}")];
        side.modes.extend((0..4).map(|n| format!("a_setting_with_a_long_name_{n}=of_side_{at}")));
        // More findings than a screen has room for, with longer texts than a line.
        for entry in
            model::finding_catalog::CATALOG.iter().filter(|entry| entry.id != "noisy_machine")
        {
            side.findings.0.push((entry.id.to_owned(), 5));
            side.cases.0.push((entry.id.to_owned(), "A server does many things. ".repeat(20)));
        }
        side.findings.0.push(("noisy_machine".to_owned(), 5 * at as u64));
    }
    let page = first_page(&report, &[]);
    assert!(page.lines().count() <= 45, "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    // Findings that may explain the difference come first, and the rest is counted.
    let warning = page.lines().find(|line| line.starts_with("warning")).expect("there are some");
    assert!(warning.contains("noisy machine in 0 of 5 runs of old, 5 of 5 runs of new"), "{page}");
    for words in ["more, with --full.", "commits     old: fsync=0, ", "Not an official"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn the_first_page_has_the_verdict_the_figures_and_what_comes_next() {
    let slower = held(&FIVE, &times(0.9), 1);
    insta::assert_snapshot!(first_page(&slower, &[]), @r"
    tpcc: new vs. old: TPS -10.0 % (96.8 % CI -11.3 to -8.6 %; lower in 5 of 5
    repeats), worse

    Valid, with notes.

    figure    old    new  change (CI)                verdict
    TPS     1,000  900.0  -10.0 % (-11.3 to -8.6 %)  worse
    p50 ms  13.52  13.52  0 %                        too small to matter
    p95 ms  50.33  50.33  0 %                        too small to matter
    p99 ms  10.00  11.11  +11.1 % (+9.5 to +12.8 %)  worse
    baseline old at clients=8; geometric means of 5 runs a side, interleaved, and
    compared unpaired (in pairs from 6 repeats on); changes with 96.8 % CIs (so few
    runs allow none of exactly 95 %); p-values with --full

    differences Plan, database, machine and build are the same on all sides.
    setup       tpcc on SQLite 3.54.1, 8 clients on threads, closed, 60 s after 5 s
                of ramp-up, from 2026-11-21 10:00:00 UTC
    note        2 of 27,227 transactions failed (less than 0.01 %).
    note        299 further attempts after conflicts, for 27,227 transactions.
    note        2 more, with --full

    Derived from TPC-C; not a TPC result, and not comparable with one.

    Next:
      dbdyno compare a b --full  # all figures
    ");
    let single = first_page(&held(&FIVE[..1], &FIVE[..1], 1), &[]);
    assert!(single.contains("baseline old at clients=8; a single run each"), "{single}");
    let alike = held(&FIVE, &times(1.002), 1);
    let page = first_page(&alike, &[]);
    assert!(page.contains("Smallest detectable difference: "), "{page}");
    assert!(page.contains("with 5 runs a side"), "{page}");
    let line = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("; 1 % takes about 19 runs a side (42 min)."), "{page}");
    let three = of_modes(3, 5);
    let page = first_page(&three, &[]);
    assert!(page.contains("over all points, "), "{page}");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("'all': over all points"), "{page}");
    // Five runs at each of three points.
    assert!(page.contains("geometric means of 5 runs a side and point, "), "{page}");
    let six = [FIVE.as_slice(), &[1_002.0]].concat();
    let page =
        first_page(&held(&six, &six.iter().map(|tps| tps * 0.9).collect::<Vec<_>>(), 1), &[]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "of 6 runs a side, interleaved, and compared in pairs within each repeat; changes";
    assert!(page.contains(words), "{page}");
}

#[test]
fn modes_that_are_varied_are_not_called_unknown() {
    let mut sides = [side("old", &[("1", &FIVE, 0), ("8", &FIVE, 20)]), of_two_modes()];
    for report in sides[0].points.iter_mut().flat_map(|point| &mut point.reports) {
        report.modes = vec!["fsync=on".to_owned()];
    }
    let report = ComparisonReport::new(&sides, &PLAIN).expect("two points");
    assert_eq!(short::commits(&report), "old: fsync=on; new: not the same at all points");
    // Only the point that both sides have counts.
    sides[0].points.truncate(1);
    let report = ComparisonReport::new(&sides, &PLAIN).expect("one point");
    assert_eq!(short::commits(&report), "");
}

/// Makes a side of two points, of which the second is another mode.
fn of_two_modes() -> Side {
    let mut made = side("new", &[("1", &FIVE, 1), ("8", &FIVE, 21)]);
    for (point, mode) in made.points.iter_mut().zip(["fsync=on", "fsync=off"]) {
        point.reports.iter_mut().for_each(|report| report.modes = vec![mode.to_owned()]);
    }
    made
}

/// Compares two sets of runs, each with one run per given mean wait for commits, in milliseconds.
fn of_commits(base_ms: &[f64], side_ms: &[f64]) -> ComparisonReport {
    let waited = |name: &str, ms: &[f64], first: usize| {
        let mut side = side(name, &[("8", &FIVE[..ms.len()], first)]);
        for (report, ms) in side.points[0].reports.iter_mut().zip(ms) {
            let part = |name: &str, ms: f64| TimePart { name: name.to_owned(), ms };
            let parts = vec![part("server_cpu", 2.0), part("commit", *ms)];
            report.time_profile = Some(TimeProfile {
                service_ms: 2.0 + ms,
                transactions: 1_000,
                parts,
                unexplained_ms: 0.0,
                beside: vec![part("server_cpu", 0.5)],
            });
        }
        side
    };
    let sides = [waited("old", base_ms, 0), waited("new", side_ms, 1)];
    ComparisonReport::new(&sides, &PLAIN).expect("both have runs")
}

#[test]
fn where_the_time_goes_has_an_interval_or_is_within_the_noise_in_the_words_of_a_run() {
    let line = |report: &ComparisonReport| {
        let page = first_page(report, &[]);
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, line) = words.split_once("time goes ").expect("it is there");
        line.split_once(" setup ").expect("it follows").0.to_owned()
    };
    let slow = [3.0, 3.1, 2.9, 3.05, 2.95];
    let less = slow.map(|ms| ms - 2.0);
    let less = line(&of_commits(&slow, &less));
    insta::assert_snapshot!(less, @"3.00 ms a transaction, baseline 5.00, -40.0 % (95 % CI -41.9 to -38.0 %); most: server: committing (log) -2.0 ms");
    let same = line(&of_commits(&slow, &[2.9, 3.2, 2.8, 3.1, 3.0]));
    insta::assert_snapshot!(same, @"5.00 ms a transaction, baseline 5.00, 0 % (95 % CI -3.8 to +4.0 %): the sum is within the noise");
    let single = line(&of_commits(&slow[..1], &[1.0]));
    insta::assert_snapshot!(single, @"3.00 ms a transaction, baseline 5.00 (too few runs for a CI); most: server: committing (log) -2.0 ms");
    // Parts within the noise are marked as such.
    let mut noisy = of_commits(&slow, &slow.map(|ms| ms - 2.0));
    noisy.pairs[0].each_transaction[0].figures.push(EachTransaction {
        name: "time.lock".to_owned(),
        unit: "ms".to_owned(),
        baseline: 1.0,
        side: 4.0,
        ratio: Some(4.0),
        reason: None,
        interval: Some((0.5, 9.0)),
        is_change: true,
    });
    let words = "most: server: waiting for locks +3.0 ms (within the noise), server: committing (log) -2.0 ms";
    assert!(line(&noisy).ends_with(words), "{}", line(&noisy));
    let page = in_a_line(&of_commits(&slow, &slow));
    // What stands in the sum, too, is folded.
    assert!(!page.contains("outside the service time"), "{page}");
    assert!(!page.contains("time.commit") && page.contains("server: committing (log)"), "{page}");
}

#[test]
fn parts_of_the_time_from_few_samples_are_rough_in_comparisons_too() {
    let with = |n_samples: u64| {
        let mut report = of_commits(&[3.04], &[0.0]);
        report.pairs[0].each_transaction[0].samples = Some(n_samples);
        report
    };
    let (few, many) = (in_a_line(&with(14)), in_a_line(&with(30)));
    assert!(few.contains("server: committing (log) ≈3 ms none seen"), "{few}");
    assert!(few.contains("Rough (≈): 14 samples of sessions on a side"), "{few}");
    assert!(many.contains("server: committing (log) 3.0 ms none seen"), "{many}");
    assert!(!many.contains("Rough") && many.contains("30 samples of sessions"), "{many}");
    assert!(first_page(&with(14), &[]).contains("a rough estimate: 14 samples"));
}

/// Checks that the headline has a decided figure if the primary one is undecided.
#[test]
fn a_figure_that_is_decided_stands_beside_one_that_is_not() {
    let old = side("old", &[("8", &FIVE, 0)]);
    let mut new = side("new", &[("8", &times(1.0), 1)]);
    for report in &mut new.points[0].reports {
        let p50 = &mut report.block.offered_ms.p50;
        *p50 = p50.map(|ms| ms / 2.0);
    }
    let mut report = ComparisonReport::new(&[old, new], &PLAIN).expect("they have runs");
    let headline = headline(&report, &report.pairs[0]);
    assert!(headline.contains(" in the interval; p50 ms -50"), "{headline}");
    // The word is of one figure, where another says more.
    assert_eq!(judgement_of(&report.pairs[0]).1, "TPS: undecided.");
    // A warning is about each verdict, also if that on the primary figure is open.
    report.sides.iter_mut().for_each(|side| side.findings.push("debug_build", 5));
    let words = "Treat every verdict here with caution: debug build in all 10 runs.";
    for page in [comparison(&report, &[]), comparison_short(&report, &[], &[])] {
        assert_eq!(page.verdicts[0].details[0].plain(), words);
    }
}

#[test]
fn what_both_names_begin_with_is_said_once_and_a_url_is_no_key() {
    let check = |side: &str, base: &str, expect: &str| assert_eq!(versus(side, base), expect);
    check("build=1.3", "build=1.2", "build=1.3 vs. 1.2");
    check("server.work_mem=64MB", "server.work_mem=4MB", "server.work_mem=64MB vs. 4MB");
    check("build=1.3", "mode=text", "build=1.3 vs. mode=text");
    let [slow, fast] = ["3ms", "2ms"].map(|ms| format!("sim:?servers=4&service=constant:{ms}"));
    check(&slow, &fast, &format!("{slow} vs. {fast}"));
    check(
        "mode=text, clients=8",
        "mode=text, clients=4",
        "mode=text, clients=8 vs. mode=text, clients=4",
    );
}
