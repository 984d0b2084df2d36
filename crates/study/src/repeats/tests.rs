//! Tests of stop rules and levels of variation, on made-up figures with known means and variances.

use model::{Axis, DataPolicy, Nesting, Order, Point, Rng, Stream};

use super::*;

fn experiment(n_points: usize, repeats: u32, stop: Option<StopRule>) -> Experiment {
    let values: Vec<String> = (1..=n_points).map(|n| n.to_string()).collect();
    let axes = vec![Axis { name: "clients".to_owned(), values }];
    let point = |values| Point { values, plan: String::new() };
    Experiment {
        id: "x".to_owned(),
        name: "x".to_owned(),
        started_unix_ms: 0,
        points: model::combinations(&axes).into_iter().map(point).collect(),
        axes,
        repeats,
        nesting: Nesting::default(),
        stop,
        order: Order::Interleaved,
        data: DataPolicy::Keep,
        pause_ns: 0,
        wait_until: None,
        seed: 7,
        walk: model::Walk::Grid,
        labels: Vec::new(),
        reference: None,
    }
}

fn rule(goal: Goal) -> Option<StopRule> {
    Some(StopRule { goal, figure: None, min: 4 })
}

fn measured(point: u32, repeat: u32, tps: f64) -> Measured {
    let figures = vec![("tps".to_owned(), tps)];
    let primary = "tps".to_owned();
    Measured {
        point,
        repeat,
        figures,
        primary,
        less_is_better: Vec::new(),
        within: None,
        spent_s: [60.0, 5.0, 0.0],
        uncertain: Vec::new(),
    }
}

#[test]
fn of_a_figure_that_is_declared_so_less_is_better() {
    let planned = experiment(2, 30, rule(Goal::Decided { min_effect: 0.01 }));
    let cost = |one: Measured, less_is_better: &[&str]| Measured {
        figures: vec![("cost".to_owned(), one.figures[0].1)],
        primary: "cost".to_owned(),
        less_is_better: less_is_better.iter().map(|name| (*name).to_owned()).collect(),
        ..one
    };
    let check = |less_is_better: &[&str], expect: PairVerdict| {
        let all: Vec<Measured> = (0..12)
            .flat_map(|repeat| {
                let with_noise = |point: u32, value: f64| {
                    let noise = f64::from(repeat % 3);
                    cost(measured(point, repeat, value + noise), less_is_better)
                };
                [with_noise(0, 1_000.0), with_noise(1, 800.0)]
            })
            .collect();
        let report = stop_report(&planned, &all).expect("it has a rule");
        assert_eq!((&*report.figure, report.pairs[0].verdict), ("cost", expect));
    };
    check(&["cost"], PairVerdict::Better);
    check(&[], PairVerdict::Worse);
}

fn normal(rng: &mut Rng) -> f64 {
    stats::normal(&mut || rng.bits())
}

/// Makes repeats of all points of an experiment until the stop rule ends them, with figures that
/// vary around `means` by the coefficient of variation `cv`.
fn walk(experiment: &Experiment, means: &[f64], cv: f64, seed: u64) -> Vec<Measured> {
    let mut rng = Rng::new(seed, Stream::Sim, 0);
    let mut all = Vec::new();
    for round in experiment.rounds() {
        if is_reached(experiment, &all, round.point, round.unit) {
            break;
        }
        for (point, repeat) in round.trials {
            let tps = means[point as usize] * (1.0 + cv * normal(&mut rng));
            all.push(measured(point, repeat, tps));
        }
    }
    all
}

#[test]
fn intervals_at_the_stop_hold_in_95_of_100_experiments() {
    for (cv, most) in [(0.005, 30), (0.015, 30), (0.03, 30), (0.04, 12)] {
        let planned = experiment(1, most, rule(Goal::Precise { share: 0.02 }));
        let (mut held, mut n_runs) = (0, 0);
        for seed in 0..500 {
            let all = walk(&planned, &[1_000.0], cv, seed);
            let figures: Vec<(u32, f64)> =
                all.iter().map(|one| (one.repeat, one.figures[0].1)).collect();
            let mean = mean_of(&planned, &figures).expect("there are some");
            held += u64::from((mean.value - 1_000.0).abs() <= mean.half_width.expect("several"));
            n_runs += all.len();
            let shown = stop_report(&planned, &all).expect("there is a rule");
            assert_eq!(shown.repeats, all.len() as u64);
            assert!(shown.is_reached || all.len() == most as usize, "{shown:?}");
        }
        // 475 of 500, less two standard errors of a binomial count.
        assert!(held >= 465, "{held} of 500 at a cv of {cv}, {n_runs} runs");
    }
}

#[test]
fn equal_sides_are_told_apart_in_at_most_5_of_100_experiments() {
    let wrong = |n_points: usize, cv: f64| {
        let planned = experiment(n_points, 20, rule(Goal::Decided { min_effect: 0.01 }));
        let is_wrong = |seed: u64| {
            let all = walk(&planned, &vec![1_000.0; n_points], cv, seed);
            let shown = stop_report(&planned, &all).expect("there is a rule");
            let apart = [PairVerdict::Better, PairVerdict::Worse];
            shown.pairs.iter().any(|pair| apart.contains(&pair.verdict))
        };
        (0..500).filter(|seed| is_wrong(*seed)).count()
    };
    assert!(wrong(2, 0.01) <= 25, "{}", wrong(2, 0.01));
    assert!(wrong(2, 0.03) <= 25, "{}", wrong(2, 0.03));
    // Three pairs hold together.
    assert!(wrong(4, 0.02) <= 25, "{}", wrong(4, 0.02));
}

#[test]
fn sides_that_differ_are_decided_soon_and_rightly() {
    let planned = experiment(3, 30, rule(Goal::Decided { min_effect: 0.01 }));
    let (mut n_right, mut n_rounds) = (0, 0);
    for seed in 0..200 {
        let all = walk(&planned, &[1_000.0, 1_060.0, 950.0], 0.01, seed);
        let shown = stop_report(&planned, &all).expect("there is a rule");
        let verdicts: Vec<PairVerdict> = shown.pairs.iter().map(|pair| pair.verdict).collect();
        n_right += u32::from(verdicts == [PairVerdict::Better, PairVerdict::Worse]);
        n_rounds += shown.repeats;
    }
    assert!(n_right >= 195, "{n_right}");
    assert!(n_rounds <= 200 * 8, "{n_rounds}");
    // A difference of one percent less than the minimum effect: equivalent after enough repeats.
    let planned = experiment(2, 60, rule(Goal::Decided { min_effect: 0.02 }));
    let shown = stop_report(&planned, &walk(&planned, &[1_000.0, 1_002.0], 0.01, 3))
        .expect("there is a rule");
    assert_eq!(shown.pairs[0].verdict, PairVerdict::Equivalent, "{shown:?}");
}

#[test]
fn who_goes_on_after_a_crash_stops_at_the_same_repeat() {
    let planned = experiment(2, 30, rule(Goal::Precise { share: 0.02 }));
    for seed in 0..50 {
        let all = walk(&planned, &[1_000.0, 300.0], 0.015, seed);
        let n_units = all.len() as u64 / 2;
        assert_eq!(trials_of_points(&planned, &all), [n_units; 2]);
        // Killed in mid-round, it is not complete before.
        let killed = &all[..all.len() - 1];
        let n = trials_of_points(&planned, killed)[0];
        assert!(n >= n_units || n == 30, "{n} of {n_units}");
    }
}

#[test]
fn points_that_follow_each_other_end_each_by_itself() {
    let mut planned = experiment(2, 30, rule(Goal::Precise { share: 0.02 }));
    planned.order = Order::Sequential;
    let mut rng = Rng::new(3, Stream::Sim, 0);
    let mut all = Vec::new();
    for round in planned.rounds() {
        if is_reached(&planned, &all, round.point, round.unit) {
            continue;
        }
        let (point, repeat) = round.trials[0];
        let cv = if point == 0 { 0.001 } else { 0.03 };
        all.push(measured(point, repeat, 100.0 * (1.0 + cv * normal(&mut rng))));
    }
    let trials = trials_of_points(&planned, &all);
    assert_eq!(trials[0], 4);
    assert!(trials[1] > 6 && trials.iter().sum::<u64>() == all.len() as u64, "{trials:?}");
}

/// Makes an experiment of server starts that differ by 3 %, each with runs that differ by 0.5 %.
fn nested(restarts: u32, runs: u32, seed: u64) -> (Experiment, Vec<Measured>) {
    let mut planned = experiment(1, restarts * runs, None);
    planned.nesting = Nesting { restarts: Some(restarts), rebuilds: None };
    let mut rng = Rng::new(seed, Stream::Sim, 0);
    let mut all = Vec::new();
    for restart in 0..restarts {
        let start = 1_000.0 * (1.0 + 0.03 * normal(&mut rng));
        for run in 0..runs {
            let tps = start * (1.0 + 0.005 * normal(&mut rng));
            all.push(measured(0, restart * runs + run, tps));
        }
    }
    (planned, all)
}

#[test]
fn nested_runs_are_no_independent_ones() {
    let (mut held, mut held_flat) = (0, 0);
    for seed in 0..400 {
        let (planned, all) = nested(3, 10, seed);
        let figures: Vec<(u32, f64)> =
            all.iter().map(|one| (one.repeat, one.figures[0].1)).collect();
        let holds = |mean: Mean| (mean.value - 1_000.0).abs() <= mean.half_width.expect("several");
        held += u32::from(holds(mean_of(&planned, &figures).expect("some")));
        let flat = experiment(1, 30, None);
        held_flat += u32::from(holds(mean_of(&flat, &figures).expect("some")));
    }
    // 380 of 400, and three standard errors; with runs taken for independent, it is far from that.
    assert!(held >= 367, "{held}");
    assert!(held_flat < 240, "{held_flat}");
}

#[test]
fn where_the_variation_is_and_what_a_difference_takes_is_reported() {
    let (planned, all) = nested(6, 4, 1);
    let shown = levels(&planned, &all).expect("restarts are repeated");
    let [restart, run] = &shown.levels[..] else { panic!("{shown:?}") };
    assert_eq!((restart.level, run.level), (Level::Restart, Level::Run));
    assert!(restart.share > 0.8 && run.sd_percent < 1.0, "{shown:?}");
    // Starts differ by 3 %: to find 2 % takes many of them, with one run each.
    let advice = shown.advice.iter().find(|one| one.difference_percent == 2.0).expect("few enough");
    assert!(advice.runs == 1 && advice.restarts.is_some_and(|n| n > 15), "{advice:?}");
    let seconds = advice.restarts.expect("some") as f64 * 65.0;
    assert!((advice.seconds.expect("known") - seconds).abs() < 1.0, "{advice:?}");
    assert_eq!(levels(&experiment(1, 5, None), &all), None);
}

#[test]
fn a_quantile_of_runs_that_are_too_short_for_it_has_a_caution() {
    let goal = Goal::Precise { share: 0.1 };
    let rule = StopRule { figure: Some("p99_ms".to_owned()), ..rule(goal).expect("one") };
    let planned = experiment(1, 8, Some(rule));
    let with = |n_uncertain: u32| {
        let one = |repeat: u32| Measured {
            figures: vec![("p99_ms".to_owned(), 40.0 + f64::from(repeat % 3))],
            uncertain: vec![if repeat < n_uncertain { "p99" } else { "p999" }.to_owned()],
            ..measured(0, repeat, 1_000.0)
        };
        stop_report(&planned, &(0..8).map(one).collect::<Vec<Measured>>()).expect("a rule").caution
    };
    let caution = with(5).expect("most are too short");
    assert!(caution.starts_with("5 of 8 runs are too short for an interval"), "{caution}");
    assert_eq!(with(4), None);
}

#[test]
fn a_report_with_the_former_name_of_the_stop_condition_is_read() {
    let planned = experiment(1, 9, rule(Goal::Precise { share: 0.01 }));
    let stop = stop_report(&planned, &walk(&planned, &[1_000.0], 0.01, 3));
    let (today, _) = crate::fixtures::studies::experiment();
    let today = crate::ExperimentReport { stop_condition: stop, ..today };
    let mut json = serde_json::to_value(&today).expect("a report is JSON");
    let fields = json.as_object_mut().expect("an object");
    let value = fields.remove("stop_condition").expect("today's name");
    fields.insert("until".to_owned(), value);
    let read: crate::ExperimentReport =
        serde_json::from_value(json).expect("an old report is read");
    let rule = |report: &crate::ExperimentReport| {
        report.stop_condition.as_ref().map(|stop| (stop.rule.clone(), stop.repeats))
    };
    assert!(rule(&today).is_some());
    assert_eq!(rule(&read), rule(&today));
}
