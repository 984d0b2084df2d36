//! Rows of the coverage table for statistical claims that are tested on random figures instead of
//! runs.

use model::{NS_PER_MS, Rng, Stream};
use stats::{
    Build, Comparison, Component, Held, Scalability, anytime, design_for, hommel, latest_builds,
    precise, students_t, within_run,
};

use super::row::{Row, add_held};

/// Returns the number of seeds from 1 to `runs` for which the function `is_so` returns true with
/// the random numbers of the seed.
fn count(runs: u32, is_so: impl Fn(&mut Draws) -> bool) -> u32 {
    (1..=runs).filter(|seed| is_so(&mut Draws::new(*seed))).count() as u32
}

/// Random numbers that follow from a seed, so that a test can be repeated.
struct Draws(Rng);

impl Draws {
    fn new(seed: u32) -> Draws {
        Draws(Rng::new(u64::from(seed), Stream::Constants, 0))
    }

    fn normal(&mut self) -> f64 {
        stats::normal(&mut || self.0.bits())
    }

    fn normals(&mut self, n: usize, mean: f64, sd: f64) -> Vec<f64> {
        (0..n).map(|_| mean + sd * self.normal()).collect()
    }
}

/// Tests how often the interval of TPS contains the true value, for 200 random commits per second
/// whose number in each tenth of a second varies slowly (5 % of the variance, time constant 5 s).
pub(super) fn slow_component(length_s: u32, runs: u32) -> Row {
    const PER_SLOT: f64 = 20.0;
    const SLOT_NS: u64 = 100 * NS_PER_MS;
    let (spread, phi) = ((0.05 / 0.95 / PER_SLOT).sqrt(), (-0.1_f64 / 5.0).exp());
    let mut counts = (0, 0);
    for seed in 1..=runs {
        let mut draws = Draws::new(seed);
        let mut level = draws.normal();
        let mut slots = Vec::new();
        let mut left = stats::exponential(draws.0.bits());
        for _ in 0..10 * length_s {
            let mut due = PER_SLOT * (1.0 + spread * level).max(0.0);
            let mut count = 0;
            while left <= due {
                due -= left;
                left = stats::exponential(draws.0.bits());
                count += 1;
            }
            left -= due;
            slots.push(count);
            level = phi * level + (1.0 - phi * phi).sqrt() * draws.normal();
        }
        let rate = within_run(&slots, SLOT_NS);
        let interval = rate.half_width.ok().map(|half| (rate.per_s - half, rate.per_s + half));
        add_held(&mut counts, interval, 10.0 * PER_SLOT);
    }
    let model = format!("slow component, 5 % of the variance, 5 s; {length_s} s");
    Row::of_interval("interval of TPS", &model, (runs, counts.0, counts.1))
}

/// Tests how often comparisons find a difference, where there is one and where there is none:
/// between two sets of runs, several sets, and sets that alternate during a common drift.
pub(super) fn comparisons(runs: u32) -> Vec<Row> {
    let p = |one: &[f64], two: &[f64]| Comparison::new(one, two, 0.95).map_or(1.0, |found| found.p);
    let of_five = |more: f64, sd: f64| {
        count(runs, |draws| p(&draws.normals(5, 0.0, sd), &draws.normals(5, more, sd)) < 0.05)
    };
    // Two percent per repeat.
    let interleaved = |more: f64| {
        count(runs, |draws| {
            let [one, two] = [0.0, more].map(|more| {
                let noise = draws.normals(6, more, 0.01).into_iter().enumerate();
                noise.map(|(repeat, x)| x + 0.02 * repeat as f64).collect::<Vec<f64>>()
            });
            let apart: Vec<f64> = one.iter().zip(&two).map(|(one, two)| two - one).collect();
            Comparison::of_pairs(&apart, 0.95).is_ok_and(|found| found.p < 0.05)
        })
    };
    let of_several = count(runs, |draws| {
        let first = draws.normals(12, 0.0, 0.01);
        let p_values: Vec<f64> = (0..5).map(|_| p(&first, &draws.normals(4, 0.0, 0.03))).collect();
        hommel(&p_values).into_iter().any(|p| p < 0.05)
    });
    let (seen, most) = ("a difference is found", "at most 5 %");
    let errors = |model, wrong| Row::of_errors(seen, model, 0.05, most, (runs, wrong));
    let found = |model, found| Row::at_least(seen, model, POWER, (runs, runs, found));
    vec![
        errors("two equal sides of 5 runs, 2 % noise", of_five(0.0, 0.02)),
        found("5 runs against 5 with 3 % more, 1 % noise", of_five(0.03, 0.01)),
        errors("12 runs against 5 sides of 4 with three times the spread, equal", of_several),
        errors("two equal sides of 6 interleaved runs, drift of 10 %", interleaved(0.0)),
        found("6 runs against 6 with 3 % more, interleaved, drift of 10 %", interleaved(0.03)),
    ]
}

/// Required power of a test if the difference is as large as claimed: nominal share, smallest
/// accepted share, and the target in words.
const POWER: (f64, f64, &str) = (0.8, 0.8, "at least 80 %");

/// Tests stop rules with at most thirty repeats: how often the interval of the mean contains the
/// true value, and how often a difference is decided, where there is one and where there is none.
pub(super) fn sequences(runs: u32) -> Vec<Row> {
    const MOST: usize = 30;
    // Ratios of two sides, examined after each repeat.
    let decides = |more: f64| {
        count(runs, |draws| {
            let ratios = draws.normals(MOST, more, 0.02);
            (stats::FIGURES_MIN..=MOST).any(|n| {
                anytime(&ratios[..n], 0.95)
                    .is_some_and(|mean| mean.half_width.is_some_and(|half| mean.value.abs() > half))
            })
        })
    };
    let said = "a difference is decided";
    vec![
        repeated_until(runs),
        Row::of_errors(
            said,
            "until=decided: equal sides, a test after each of 30 repeats",
            0.05,
            "at most 5 %",
            (runs, decides(0.0)),
        ),
        Row::at_least(
            said,
            "until=decided: 3 % more, ratios with 2 % noise, 30 repeats",
            POWER,
            (runs, runs, decides(0.03)),
        ),
    ]
}

/// Tests how often the interval of a mean contains the true value, if runs are repeated until it is
/// ±2 %, at most thirty times.
fn repeated_until(runs: u32) -> Row {
    let mut counts = (0, 0);
    for seed in 1..=runs {
        let figures = Draws::new(seed).normals(30, 100.0, 2.5);
        let stops = |n: &usize| {
            let half = precise(&figures[..*n]).and_then(|mean| mean.half_width);
            *n == figures.len() || half.is_some_and(|half| half <= 2.0)
        };
        let n = (stats::FIGURES_MIN..=figures.len()).find(stops).expect("it stops at the last");
        let mean = precise(&figures[..n]).expect("four figures and more");
        let interval = mean.half_width.map(|half| (mean.value - half, mean.value + half));
        add_held(&mut counts, interval, 100.0);
    }
    let model = "until=2%: runs with 2.5 % noise";
    Row::of_interval("interval at the stop", model, (runs, counts.0, counts.1))
}

/// Required coverage of the intervals of the Universal Scalability Law, which are slightly narrow:
/// nominal share, smallest accepted share, and the target in words. With six points it is 85 to 90
/// %.
const LAW: (f64, f64, &str) = (0.9, 0.85, "at least 85 %");

/// Tests how often the intervals of the Universal Scalability Law contain the true values, if it is
/// fitted to throughputs at eight numbers of clients with 3 % of noise.
pub(super) fn laws(runs: u32) -> Vec<Row> {
    const CLIENTS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    const TRUTH: [f64; 3] = [1000.0, 0.05, 0.0004];
    let peak_clients = ((1.0 - TRUTH[1]) / TRUTH[2]).sqrt();
    let (mut of_sigma, mut of_peak) = ((0, 0), (0, 0));
    for seed in 1..=runs {
        let mut draws = Draws::new(seed);
        let mut point = |clients: u32| {
            let exact = Scalability::throughput_of(TRUTH, f64::from(clients));
            (clients, exact * (0.03 * draws.normal()).exp())
        };
        let points = CLIENTS.map(&mut point);
        let Ok(law) = Scalability::fit(&points, &mut || draws.0.bits()) else { continue };
        add_held(&mut of_sigma, Some(law.intervals[1]), TRUTH[1]);
        let peak = law.peak.ok().map(|peak| peak.clients_interval);
        add_held(&mut of_peak, peak, peak_clients);
    }
    let row = |what: &str, (given, held): (u32, u32)| {
        let model = "scalability law, 8 points, 3 % noise";
        Row::at_least(what, model, LAW, (runs, given, held))
    };
    vec![row("interval of σ", of_sigma), row("interval of the clients at the peak", of_peak)]
}

/// Tests the power of the numbers of repeats that the variance by level recommends for a difference
/// of 3 %, if runs vary by 1 % and restarts by 2 %.
pub(super) fn designs(runs: u32) -> Row {
    let known = |sd: f64| Some(Component { variance: sd * sd, freedom: 10, is_negative: false });
    let design = design_for(&[known(0.01), known(0.02), None], [60.0, 10.0, 0.0], 0.03);
    let [of_restart, restarts, _] = design.expect("a few are enough");
    let found = count(runs, |draws| {
        let mut side = |more: f64| {
            let mut restart = || {
                let level = more + 0.02 * draws.normal();
                draws.normals(of_restart, level, 0.01).iter().sum::<f64>() / of_restart as f64
            };
            let means: Vec<f64> = (0..restarts).map(|_| restart()).collect();
            stats::mean(&means, 0.95).expect("restarts")
        };
        let (one, two) = (side(0.0), side(1.03_f64.ln()));
        let error = ((one.sd.powi(2) + two.sd.powi(2)) / restarts as f64).sqrt();
        (two.value - one.value) / error > students_t(0.975, 2 * (restarts - 1))
    });
    let model = "variance by level: runs 1 %, restarts 2 %, as many as it recommends for 3 %";
    Row::at_least("the difference is found", model, POWER, (runs, runs, found))
}

/// Tests the alarms of a history on the last of 21 builds with three runs each, at forty points of
/// which none or one has changed.
pub(super) fn histories(runs: u32) -> Vec<Row> {
    let is_outside = |change: f64| {
        count(runs, |draws| {
            let mut build = |more: f64| {
                let of_build = more + 0.01 * draws.normal();
                Build::from_figures(&draws.normals(3, of_build, 0.01))
            };
            let mut series = |more: f64| Held {
                before: (0..20).map(|_| build(0.0)).collect(),
                earlier: Vec::new(),
                last: build(more),
                pinned: None,
            };
            let all: Vec<Held> =
                (0..40).map(|point| series(if point == 0 { change } else { 0.0 })).collect();
            let found = latest_builds(&all, study::history::ERROR);
            found.into_iter().flatten().any(|found| found.is_outside)
        })
    };
    let said = "an alarm is raised";
    let nothing = "last of 21 builds, 40 points, nothing changed";
    let changed = "last of 21 builds, 40 points, one has 8 % less";
    vec![
        Row::of_errors(said, nothing, 0.02, "at most 2 %", (runs, is_outside(0.0))),
        Row::at_least(said, changed, POWER, (runs, runs, is_outside(-0.08))),
    ]
}
