//! Tests of sentences and tables of an experiment's page, with made-up trials. Not here: whole
//! pages.

use analysis::report::Named;
use model::{Finding, Rng, Severity, Stream};
use study::ExperimentReport;
use study::experiment::*;
use study::fixtures::studies::{long_sweep, sweep_of};
use study::trials::TrialReport;

use super::*;

fn page_of(report: &ExperimentReport) -> String {
    crate::terminal::text(&experiment(report, &[], None), &Default::default())
}

/// Returns the page of an experiment as text without line breaks.
fn in_a_line(report: &ExperimentReport) -> String {
    page_of(report).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn report(change: impl FnOnce(&mut Vec<TrialReport>)) -> ExperimentReport {
    let (sweep, mut trials) = sweep_of([1, 2, 4, 8, 16]);
    change(&mut trials);
    let mut rng = Rng::new(1, Stream::Order, 0);
    ExperimentReport::new(&sweep, &trials, None, &mut || rng.bits()).expect("it has trials")
}

#[test]
fn an_experiment_that_went_on_under_another_kernel_says_so() {
    let on = |kernels: [&'static str; 2]| {
        report(|trials| {
            for (index, trial) in trials.iter_mut().enumerate() {
                let os = trial.report.facts.entry("os".to_owned()).or_default();
                os.insert("kernel_release".to_owned(), kernels[index % 2].to_owned().into());
            }
        })
    };
    assert_eq!(on(["6.1.0", "6.1.0"]).findings, []);
    let two = on(["2.6.18", "2.6.32"]);
    let text = in_a_line(&two);
    assert!(text.contains("Trials ran on 2 kernels (2.6.18, 2.6.32)"), "{text}");
}

#[test]
fn memory_of_the_server_stands_beside_the_database() {
    let (sweep, mut trials) = sweep_of([1, 2, 4, 8, 16]);
    for trial in &mut trials {
        let facts = trial.report.facts.entry("server_memory".to_owned()).or_default();
        facts.insert("cache".to_owned(), "InnoDB buffer pool 128 MiB".into());
    }
    let mut rng = Rng::new(1, Stream::Order, 0);
    let report = ExperimentReport::new(&sweep, &trials, None, &mut || rng.bits());
    let page = experiment(&report.expect("it has trials"), &trials, None);
    let lines = page.verdicts.iter().flat_map(|verdict| &verdict.details).map(Text::plain);
    let scene = lines.into_iter().find(|line| line.contains("each measured"));
    let scene = scene.expect("it says how runs were made");
    assert!(scene.contains(" (InnoDB buffer pool 128 MiB), "), "{scene}");
}

#[test]
fn points_that_may_lose_commits_are_told_from_those_that_do_not() {
    let (sweep, mut trials) = sweep_of([1, 2, 4, 8, 16]);
    for trial in &mut trials {
        let risk = (trial.point == 1).then(|| model::CommitRisk {
            mode: "fsync=off".to_owned(),
            loss: "a crash may lose commits".to_owned(),
        });
        for fact in model::CommitRisk::facts(risk) {
            trial.report.facts.entry(fact.about).or_default().insert(fact.name, fact.value);
        }
    }
    let mut rng = Rng::new(1, Stream::Order, 0);
    let report = ExperimentReport::new(&sweep, &trials, None, &mut || rng.bits());
    let page = experiment(&report.expect("it has trials"), &trials, None);
    let words = "Not equally durable: with group.users.clients=2, a crash may lose commits; with \
                 group.users.clients=1 and 3 others, it does not.";
    assert_eq!(page.verdicts[0].details[0].plain(), words);
}

#[test]
fn a_figure_that_some_runs_of_a_point_lack_is_not_the_points() {
    let why = "too few samples: needs at least 368, has 200";
    let few = report(|trials| {
        let times = &mut trials[1].report.block.offered_ms;
        (times.count, times.p99) = (200, None);
        times.reasons.push("p99", why.to_owned());
    });
    let [one, two] = [&few.points[0], &few.points[1]];
    assert_eq!(one.figures.get("p99_ms"), None);
    let printed = one.reasons.get("p99_ms").map(String::as_str);
    assert_eq!(printed, Some(&*format!("only 2 of 3 runs: {why}")));
    assert_eq!(one.samples_needed.0, [("p99_ms".to_owned(), 368)]);
    assert_eq!(one.runs_with.0, [("p99_ms".to_owned(), 2)]);
    assert_eq!(one.figures.get("p50_ms").map(|figure| figure.count), Some(3));
    assert!(two.figures.get("p99_ms").is_some_and(|figure| figure.count == 3));
    let page = page_of(&few);
    assert!(page.contains("only 2 of 3 runs"), "{page}");
    assert!(page.contains("\np99 ms: too few samples: needs at least 368\n"), "{page}");
    assert!(!page.contains("that have it"), "{page}");
    let of_time = Curve { figure: "p99_ms".to_owned(), ..few.curve.clone().expect("an axis") };
    let of_time = ExperimentReport { curve: Some(of_time), ..few.clone() };
    let page = page_of(&of_time);
    assert!(page.contains("clients, at 4 of 5 points"), "{page}");
    let document = experiment(&few, &[], None);
    let rows = document.tables()[0].json();
    assert!(rows[0]["p99_ms"].is_null() && rows[1]["p99_ms"].is_number(), "{rows}");
}

#[test]
fn a_curve_is_named_once_on_every_page() {
    let document = experiment(&report(|_| {}), &[], None);
    let text = crate::terminal::text(&document, &Default::default());
    let lines: Vec<&str> = text.lines().collect();
    let named = lines.iter().position(|line| line.starts_with("TPS over ")).expect("a name");
    assert_eq!(text.matches("TPS over ").count(), 1, "{text}");
    assert_eq!(lines[named + 1], "lowest bar 101.0, highest 454.5");
    assert_eq!(lines[named + 2].chars().count(), 5, "a block for each point: {text}");
    let html = crate::html::body(&document, crate::html::Medium::File);
    assert_eq!(html.matches("<p>TPS over ").count(), 1, "{html}");
}

#[test]
fn a_law_that_does_not_fit_says_why() {
    let (made, trials) = long_sweep();
    let check = |residual: f64, lack_of_fit: Option<f64>, why: Option<&str>| {
        let mut report = made.clone();
        let law = report.scalability.as_mut().expect("six points");
        (law.residual, law.lack_of_fit, law.fits) = (residual, lack_of_fit, why.is_none());
        let page = in_a_line(&report);
        let charts = crate::charts::of_experiment(&report, &trials);
        let chart = charts.into_iter().find(|chart| chart.id == "law").expect("it is drawn");
        let words = why.map(|why| format!("It does not fit: {why}. The "));
        let words = words.as_deref();
        assert_eq!(chart.note.is_some(), why.is_some());
        for text in [page, chart.note.unwrap_or_default()] {
            assert_eq!(text.contains("It does not fit"), why.is_some(), "{text}");
            assert!(words.is_none_or(|words| text.contains(words)), "{text}");
        }
    };
    let far = "residuals of 20.0 % are too large";
    let lacks = "points lie farther from it than repeats vary (p = 0.0010)";
    check(0.02, Some(0.4), None);
    check(0.02, Some(0.001), Some(lacks));
    check(0.2, None, Some(far));
    check(0.2, Some(0.001), Some(&format!("{far}, and {lacks}")));
}

#[test]
fn warnings_show_what_was_measured_in_the_runs_that_have_them() {
    let warn = |trials: &mut Vec<TrialReport>| {
        for (n, trial) in trials.iter_mut().take(4).enumerate() {
            let observed = format!("Busy for 9{n}.5 % of the time.");
            let text = format!("{observed} Use another machine.");
            let finding = Finding::new("generator_saturated", Severity::Warning, text);
            trial.report.findings.push(Finding { observed: Some(observed), ..finding });
        }
    };
    let report = report(warn);
    let page = in_a_line(&report);
    let words = "4 of 14 runs: Busy for 90.5 to 93.5 % of the time (generator late)";
    assert!(page.contains(words), "{page}");
    // If texts differ, or reports are older, there is an example.
    let mut older = report.clone();
    older.points.iter_mut().for_each(|point| point.case_ranges = Named::default());
    let words = "4 of 14 runs, the highest: Busy for 93.5 % of the time (generator late)";
    assert!(in_a_line(&older).contains(words));
    let cases = report.points.iter().filter_map(|point| point.cases.get("generator_saturated"));
    assert!(cases.count() > 0);
    // Without an observation there is the condition for the finding.
    let mut before = report.clone();
    for point in &mut before.points {
        (point.cases, point.case_ranges) = (Named::default(), Named::default());
    }
    let page = in_a_line(&before);
    assert!(page.contains("(generator late)") && !page.contains("90.5"), "{page}");
}

#[test]
fn points_of_too_few_runs_are_not_tied_and_the_banner_shows_warnings() {
    let mut plain = report(|_| {});
    // A missing trial may change which point is the best.
    let early = in_a_line(&plain);
    let words = "unfinished after 14 of 15 trials; no best point yet";
    assert!(early.contains(words) && !early.contains("peak"), "{early}");
    plain.points[4].runs_not_counted = 1;
    let tied = in_a_line(&plain);
    assert!(tied.contains("; CIs overlap at 16"), "{tied}");
    let mut wide = plain.clone();
    for point in &mut wide.points[..2] {
        let (name, figure) = &mut point.figures.0[0];
        assert_eq!(*name, wide.primary);
        (figure.half_width, figure.count) = (Some(9.0 * figure.mean), 2);
    }
    let page = in_a_line(&wide);
    let words = "CIs overlap at 16; 2 runs per point are too few to tell from 1, 2";
    assert!(page.contains(words), "{page}");

    for point in &mut wide.points {
        let figure = &mut point.figures.0[0].1;
        (figure.half_width, figure.count) = (Some(9.0 * figure.mean), 2);
    }
    let page = in_a_line(&wide);
    assert!(page.contains(": highest mean TPS at group.users.clients="), "{page}");
    let words = " in 2 runs, too few for a CI";
    assert!(page.contains(words) && page.contains("the lowest and the highest run"), "{page}");
    assert!(!page.contains("most TPS"), "{page}");

    let tone = |report: &ExperimentReport| experiment(report, &[], None).verdicts[0].tone;
    let done = ExperimentReport { trials: plain.trials_done, ..plain };
    let warned = |severity| {
        let finding = Finding::new("not_durable", severity, "A crash may lose commits.");
        ExperimentReport { findings: vec![finding], ..done.clone() }
    };
    assert_eq!(tone(&done), Tone::Good);
    assert_eq!(tone(&warned(Severity::Note)), Tone::Plain);
    assert_eq!(tone(&warned(Severity::Warning)), Tone::Warning);
    let verdict = &experiment(&warned(Severity::Warning), &[], None).verdicts[0];
    assert_eq!(verdict.word, "Valid, with 1 warning.");
}

#[test]
fn trials_that_were_lost_are_told_apart_from_those_that_were_not_made() {
    let page = page_of(&report(|_| {}));
    assert!(
        page.contains("\n5 points, 14 of 15 trials done and counted, 1 not run, inter"),
        "{page}"
    );
    let lose = |trials: &mut Vec<TrialReport>, n: usize| {
        for trial in trials.iter_mut().take(n) {
            let text = "The queue was full.";
            let finding = Finding::new("queue_full", Severity::Invalid, text);
            trial.report.findings.push(finding);
        }
    };
    let page = page_of(&report(|trials| lose(trials, 4)));
    assert!(
        page.contains("10 of 15 trials done and counted, 4 not counted, 1 not run, "),
        "{page}"
    );
    let line = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("Not counted: 4 attempts: a full queue stopped the run"), "{page}");
    assert!(line.contains(" none, 3 attempts not counted "), "{page}");
    // A trial that was repeated is there twice, and is valid.
    let again = page_of(&report(|trials| {
        let mut again = trials[0].clone();
        lose(trials, 1);
        again.report.run_id.push('2');
        trials.push(again);
    }));
    assert!(again.contains("14 of 15 trials done and counted, 1 not run, "), "{again}");
    assert!(page.lines().all(|line| line.chars().count() <= 96), "{page}");
}

/// Checks that an experiment whose values are compared has one estimator: runs that are far above
/// the others move arithmetic means and ratios of geometric means by different amounts.
#[test]
fn the_change_of_a_comparison_is_the_quotient_of_the_rows_below_it() {
    let (sweep, mut trials) = sweep_of([1, 2, 4, 8, 16]);
    trials.retain(|trial| trial.point < 2);
    let tps = [100.0, 100.0, 1600.0, 400.0, 500.0, 400.0];
    for (trial, tps) in trials.iter_mut().zip(tps) {
        trial.report.block.tps = Some(tps);
    }
    let mut rng = Rng::new(1, Stream::Order, 0);
    let report = ExperimentReport::new(&sweep, &trials, None, &mut || rng.bits());
    let report = report.expect("it has trials");
    let side = |point: u32, name: &str| {
        let here = || trials.iter().filter(|trial| trial.point == point);
        let point = study::comparison::SidePoint {
            values: Named::default(),
            reports: here().map(|trial| trial.report.clone()).collect(),
            repeats: here().map(|trial| trial.repeat).collect(),
        };
        study::comparison::Side {
            points: vec![point],
            ..study::comparison::Side::named(name.to_owned())
        }
    };
    let sides = [side(0, "clients=1"), side(1, "clients=2")];
    let judge = study::comparison::Judge::asked(Some("tps"), None).expect("it is valid");
    let sides = ComparisonReport::new(&sides, &judge).expect("both have runs");
    let page = experiment(&report, &trials, Some(&sides));
    let text = crate::terminal::text(&page, &Default::default());
    // The cube roots of 16 and 5/4 times 100 and 400: 252.0 and 430.9.
    let all = [
        "TPS ×1.71 (99 % CI ×",
        "252.0 (100.0 to 1,600)",
        "430.9 (400.0 to 500.0)",
        "geometric means over runs ± 95 % CIs; the change above is their quotient",
    ];
    assert!(all.iter().all(|words| text.contains(words)), "{text}");
    // Programs have both.
    let rows = page.tables()[0].json();
    assert_eq!(rows[0]["tps"].as_f64(), Some(600.0), "{rows}");
    assert!(
        (report.points[0].geometric.get("tps").expect("it is above 0").mean - 252.0).abs() < 0.1
    );
}

#[test]
fn a_point_without_a_trial_that_counts_is_said_first_and_has_no_verdict() {
    let failed = report(|trials| {
        for trial in trials.iter_mut().filter(|trial| trial.point == 1) {
            trial.report.status = analysis::report::Status::Failed;
            let text = "An error stopped the run: no luck.";
            trial.report.findings = vec![Finding::new("run_failed", Severity::Invalid, text)];
        }
    });
    let page = in_a_line(&failed);
    let all = [
        "FAILED at group.users.clients=2: no trial there counts, so there is no verdict on it",
        "NOT VALID at group.users.clients=2; the others: unfinished",
        "None of 3 attempts at group.users.clients=2 counts: An error stopped the run: no luck.",
    ];
    assert!(all.iter().all(|words| page.contains(words)), "{page}");
    assert!(!page.contains("most TPS") && !page.contains("Valid,"), "{page}");
    let quiet = experiment(&failed, &[], None).validity.and_then(Validity::if_invalid);
    assert!(quiet.is_some_and(|quiet| quiet.answer.starts_with("NOT VALID")));
    assert!(validity::validity(&report(|_| {})).and_then(Validity::if_invalid).is_none());
}
