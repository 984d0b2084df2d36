//! Rows of the coverage table for intervals within one run, on random times or rates: mixtures and
//! heavy tails, a rate that wanders, and rates that a plan changes. Where no closed form exists,
//! the truth is the result of all runs together.

use std::ops::Range;

use analysis::findings::{commits_warm_up, is_drifting, times_warm_up};
use model::{NS_PER_MS, NS_PER_S, Rng, Stream};
use stats::{
    Course, Due, Histogram, InTime, Intensity, Stretch, Stretches, dependent_mean, dependent_ranks,
    kiefer_wolfowitz, rank, together, within_planned_run, within_run,
};

use super::row::{Row, add_held};

const SLOT_NS: u64 = 100 * NS_PER_MS;
const SLOTS_PER_S: u32 = 10;

/// Nanoseconds per unit of the histograms: microseconds, since histograms of nanoseconds take much
/// longer to add up.
const UNIT_NS: u64 = 1_000;
const RANGE: stats::Range = stats::Range { highest_ns: 1_000 * NS_PER_S / UNIT_NS };

const QUANTILES: [(&str, f64); 3] = [("p50", 0.50), ("p90", 0.90), ("p95", 0.95)];

/// Random numbers that follow from a seed, so that a test can be repeated.
struct Draws(Rng);

impl Draws {
    fn new(seed: u32) -> Draws {
        Draws(Rng::new(u64::from(seed), Stream::Constants, 1))
    }

    fn exponential(&mut self) -> f64 {
        stats::exponential(self.0.bits())
    }

    fn normal(&mut self) -> f64 {
        stats::normal(&mut || self.0.bits())
    }
}

/// An offered load: mean number of random arrivals per second, and a function that draws the
/// service time of one in nanoseconds.
type Offered = (f64, fn(&mut Draws) -> f64);

/// A queue of four servers: its arrivals, and the length of its warm-up.
struct Queue {
    model: &'static str,
    offered: &'static [Offered],
    warm_s: u32,
}

const SERVERS: usize = 4;

const QUEUES: [Queue; 2] = [
    Queue {
        model: "800/s of 2 ms and 12/s of 120 ms, 4 servers, load 0.76",
        offered: &[
            (800.0, |draws| 2e6 * draws.exponential()),
            (12.0, |draws| (0..60).map(|_| 2e6 * draws.exponential()).sum()),
        ],
        warm_s: 20,
    },
    // The mean of a lognormal with σ 1.5 is e^1.125 times its median.
    Queue {
        model: "M/lognormal(σ 1.5)/4, load 0.93",
        offered: &[(140.0, |draws| {
            4.0 * 0.93 / 140.0 * 1e9 * (1.5 * draws.normal() - 1.125).exp()
        })],
        warm_s: 100,
    },
];

/// Simulates a queue, and returns the response times of its requests by second after the warm-up.
fn seconds(queue: &Queue, length_s: u32, seed: u32) -> Vec<Stretch> {
    let mut draws = Draws::new(seed);
    let within = u64::from(queue.warm_s) * NS_PER_S..u64::from(queue.warm_s + length_s) * NS_PER_S;
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (per_s, service_ns) in queue.offered {
        let mut now_ns = draws.exponential() * 1e9 / per_s;
        while now_ns < within.end as f64 {
            all.push((now_ns as u64, service_ns(&mut draws) as u64));
            now_ns += draws.exponential() * 1e9 / per_s;
        }
    }
    by_second(all, within)
}

/// Simulates a queue of four servers, and returns the response times of requests that arrive within
/// a period, by second. `all` has the arrival and service time of each request; all times are in
/// nanoseconds.
fn by_second(mut all: Vec<(u64, u64)>, within: Range<u64>) -> Vec<Stretch> {
    all.sort_unstable();
    let (arrivals, services): (Vec<u64>, Vec<u64>) = all.into_iter().unzip();
    let served = kiefer_wolfowitz(&arrivals, &services, SERVERS);
    let times = arrivals.iter().zip(&served).map(|(came, one)| (*came, one.finish_ns - came));
    let empty = Stretch { offered: 0, finished: Histogram::new(RANGE) };
    let mut seconds = vec![empty; ((within.end - within.start) / NS_PER_S) as usize];
    for (came_ns, response_ns) in times.filter(|(came_ns, _)| within.contains(came_ns)) {
        let second = &mut seconds[((came_ns - within.start) / NS_PER_S) as usize];
        second.offered += 1;
        second.finished.record(response_ns / UNIT_NS);
    }
    seconds
}

/// Confidence intervals of a run, in the order of the rows: mean, then percentiles.
type Intervals = [Option<(f64, f64)>; 1 + QUANTILES.len()];

fn intervals(in_time: &InTime, all: &Histogram) -> Intervals {
    let at = QUANTILES.map(|(_, q)| q);
    let ranks = dependent_ranks(in_time, &at, 0.95);
    let value = |rank: u64| all.value_at_rank(rank).map(|value| value as f64);
    let mut found = [None; 1 + QUANTILES.len()];
    found[0] = dependent_mean(in_time, 0.95).ok();
    for (found, ranks) in found[1..].iter_mut().zip(ranks) {
        *found = ranks.ok().and_then(|ranks| value(ranks.low).zip(value(ranks.high)));
    }
    found
}

/// Tests intervals of mean and percentiles for mixed and heavy-tailed service times: the share of
/// them that contain the true value, and the share whose upper end is below it, with which a limit
/// would wrongly pass.
pub(super) fn queues(length_s: u32, runs: u32) -> Vec<Row> {
    QUEUES.iter().flat_map(|queue| rows_of(queue, length_s, runs)).collect()
}

fn rows_of(queue: &Queue, length_s: u32, runs: u32) -> Vec<Row> {
    let mut pooled = Histogram::new(RANGE);
    let mut found: Vec<Intervals> = Vec::new();
    let (mut drifts, mut warms_up) = (0, 0);
    for seed in 1..=runs {
        let mut in_time = Stretches::new(1);
        let mut all = Histogram::new(RANGE);
        let seconds = seconds(queue, length_s, seed);
        // Without overload, arrivals and commits have the same rate.
        drifts += u32::from(is_drifting(
            &seconds.iter().map(|second| second.offered).collect::<Vec<_>>(),
        ));
        let median_ns = |second: &Stretch| second.finished.quantile(0.5).unwrap_or(0) * UNIT_NS;
        warms_up += u32::from(times_warm_up(&seconds.iter().map(median_ns).collect::<Vec<_>>()));
        for (index, second) in seconds.iter().enumerate() {
            in_time.add(index as i64, second.offered, Some(&second.finished));
            all.add(&second.finished);
        }
        let in_time = together(&[&in_time], i64::from(length_s)).expect("one of them");
        found.push(intervals(&in_time, &all));
        pooled.add(&all);
    }
    let truth = |q: f64| pooled.value_at_rank(rank(q, pooled.count())).unwrap_or(0) as f64;
    let figures = std::iter::once(("mean", pooled.mean()))
        .chain(QUANTILES.iter().map(|(name, q)| (*name, truth(*q))));
    let model = format!("{}, {length_s} s", queue.model);
    let rows = |(index, (name, truth)): (usize, (&str, f64))| {
        let (mut counts, mut too_low) = ((0, 0), 0);
        for interval in found.iter().map(|found| found[index]) {
            add_held(&mut counts, interval, truth);
            too_low += u32::from(interval.is_some_and(|(_, high)| high < truth));
        }
        let (given, held) = counts;
        let what = format!("interval of {name}");
        let low = format!("the upper end of {name} is too low");
        [
            Row::of_interval(&what, &model, (runs, given, held)),
            Row { runs, ..Row::of_errors(&low, &model, 0.05, "at most 5 %", (given, too_low)) },
        ]
    };
    figures.enumerate().flat_map(rows).chain(alarms(&model, runs, drifts, warms_up)).collect()
}

/// Required coverage for runs that are as long as three time constants of a rate that varies
/// slowly: nominal share, smallest accepted share, and the target in words. Nothing is claimed for
/// shorter runs.
const WANDERS: (f64, f64, &str) = (0.95, 0.80, "at least 80 %: three time constants");

/// Largest accepted share of runs with a steady load in which a finding reports a change (a false
/// alarm), and the target in words.
const FALSE_ALARMS: (f64, &str) = (0.03, "at most 3 %");

/// Required share of advised run lengths that are right within a factor of two: nominal share,
/// smallest accepted share, and the target in words.
const ADVICE: (f64, f64, &str) = (0.9, 0.7, "at least 70 %");

/// Tests 200 random commits per second at a constant rate, and at one that wanders by 6 % with a
/// time constant of 10 s: the interval of TPS, the run length advised for ±1 %, and false alarms.
pub(super) fn steady(length_s: u32, runs: u32) -> Vec<Row> {
    [("200/s at random", 0.0), ("rate that wanders by 6 %, 10 s", 0.06)]
        .into_iter()
        .flat_map(|(model, spread)| {
            steady_rows(&format!("{model}; {length_s} s"), spread, length_s, runs)
        })
        .collect()
}

fn steady_rows(model: &str, spread: f64, length_s: u32, runs: u32) -> Vec<Row> {
    const PER_SLOT: f64 = 20.0;
    const TIME_CONSTANT_S: u32 = 10;
    let phi = (-0.1_f64 / f64::from(TIME_CONSTANT_S)).exp();
    let right_slots = PER_SLOT * (1.96 / (0.01 * PER_SLOT)).powi(2);
    let (mut counts, mut advised, mut advised_well) = ((0, 0), 0, 0);
    let (mut drifts, mut warms_up) = (0, 0);
    for seed in 1..=runs {
        let mut draws = Draws::new(seed);
        let mut level = draws.normal();
        let mut due = Vec::new();
        for _ in 0..SLOTS_PER_S * length_s {
            due.push(PER_SLOT * (1.0 + spread * level).max(0.0));
            level = phi * level + (1.0 - phi * phi).sqrt() * draws.normal();
        }
        let slots = at_random(&mut draws, &due);
        let rate = within_run(&slots, SLOT_NS);
        let interval = rate.half_width.ok().map(|half| (rate.per_s - half, rate.per_s + half));
        add_held(&mut counts, interval, PER_SLOT * f64::from(SLOTS_PER_S));
        if let Some(slots) = rate.slots_to_1_percent {
            advised += 1;
            advised_well += u32::from((0.5..=2.0).contains(&(slots / right_slots)));
        }
        let seconds: Vec<u64> =
            slots.chunks_exact(SLOTS_PER_S as usize).map(|second| second.iter().sum()).collect();
        drifts += u32::from(is_drifting(&seconds));
        warms_up += u32::from(commits_warm_up(&slots));
    }
    let what = "interval of TPS";
    let n = (runs, counts.0, counts.1);
    let is_slow = spread > 0.0 && length_s < 6 * TIME_CONSTANT_S;
    let mut rows = Vec::new();
    match is_slow {
        true if length_s < 3 * TIME_CONSTANT_S => {}
        true => rows.push(Row::at_least(what, model, WANDERS, n)),
        false => rows.push(Row::of_interval(what, model, n)),
    }
    if spread == 0.0 {
        let what = "run length for ±1 % of TPS within a factor of 2";
        rows.push(Row::at_least(what, model, ADVICE, (runs, advised, advised_well)));
    }
    rows.extend(alarms(model, runs, drifts, warms_up));
    rows
}

fn alarms(model: &str, runs: u32, drifts: u32, warms_up: u32) -> [Row; 2] {
    let (most, target) = FALSE_ALARMS;
    [("'drifting' is raised", drifts), ("'warming_up' is raised", warms_up)]
        .map(|(what, wrong)| Row::of_errors(what, model, most, target, (runs, wrong)))
}

/// Draws a number of random arrivals for each slot of time; `due` has the expected numbers.
fn at_random(draws: &mut Draws, due: &[f64]) -> Vec<u64> {
    let mut left = draws.exponential();
    let mut count = |due: &f64| {
        let (mut due, mut n) = (*due, 0);
        while left <= due {
            due -= left;
            left = draws.exponential();
            n += 1;
        }
        left -= due;
        n
    };
    due.iter().map(&mut count).collect()
}

/// A plan of arrivals: its words, its rate over time, and the largest number of commits that the
/// system can do in a slot of 100 ms.
type Planned = (&'static str, PerS, u64);

/// A rate in arrivals per second, as a function of the time in seconds.
type PerS = fn(f64) -> f64;

const PLANS: [Planned; 3] = [
    ("sine 1200 swing 500 every 20s", |at| 1_200.0 + 500.0 * (at * 0.1 * PI).sin(), u64::MAX),
    ("8 s of 400/s, 2 s of 2,200/s, at most 2,000/s", bursts, 200),
    ("ramp 200 to 1800 over 60s", |at| (200.0 + 1_600.0 * at / 60.0).min(1_800.0), u64::MAX),
];

const PI: f64 = std::f64::consts::PI;

fn bursts(at: f64) -> f64 {
    if at % 10.0 < 8.0 { 400.0 } else { 2_200.0 }
}

/// Required share of intervals of TPS that are at most twice as wide as necessary: nominal share,
/// smallest accepted share, and the target in words. With constant rates it is larger.
const WIDTH: (f64, f64, &str) = (0.75, 0.70, "at least 70 %");

/// Required share of intervals of response times that are at most twice as wide as necessary:
/// nominal share, smallest accepted share, and the target in words. A plan can hide slow changes of
/// the system, so the intervals allow for everything that the run cannot rule out.
const WIDTH_OF_TIMES: (f64, f64, &str) = (0.5, 0.5, "at least 50 %");

/// Tests intervals of TPS for random arrivals at planned rates: the share of them that contain the
/// true value, and the share that are at most twice as wide as necessary.
pub(super) fn plans(length_s: u32, runs: u32) -> Vec<Row> {
    let rows = |(plan, per_s, most): &Planned| {
        let slots = SLOTS_PER_S * length_s;
        let per_slot = |slot: u32| per_s((f64::from(slot) + 0.5) / 10.0) / 10.0;
        let per_slot: Vec<f64> = (0..slots).map(per_slot).collect();
        let due = Due { per_slot, waiting: 0.0, beside_others: false };
        let run = |seed: u32| {
            let came = at_random(&mut Draws::new(seed), &due.per_slot);
            within_planned_run(&done(&came, *most), SLOT_NS, Some(&due))
        };
        let found: Vec<stats::Rate> = (1..=runs).map(run).collect();
        let n = f64::from(runs);
        let truth = found.iter().map(|rate| rate.per_s).sum::<f64>() / n;
        let squares = found.iter().map(|rate| (rate.per_s - truth).powi(2)).sum::<f64>();
        let right = 1.96 * (squares / (n - 1.0)).sqrt();
        let (mut counts, mut narrow) = ((0, 0), 0);
        for rate in &found {
            let half = rate.half_width.ok();
            let interval = half.map(|half| (rate.per_s - half, rate.per_s + half));
            add_held(&mut counts, interval, truth);
            narrow += u32::from(half.is_some_and(|half| half <= 2.0 * right));
        }
        let model = format!("{plan}; {length_s} s");
        let what = "half-width of TPS at most twice the right one";
        [
            Row::of_interval("interval of TPS", &model, (runs, counts.0, counts.1)),
            Row::at_least(what, &model, WIDTH, (runs, counts.0, narrow)),
        ]
    };
    PLANS.iter().flat_map(rows).collect()
}

/// Plans of arrivals in words, each with its rate over time, for a queue of four servers with a
/// mean service time of 2 ms. The servers keep up, except for bursts of 2,200/s.
const QUEUED: [(&str, PerS); 5] = [
    (PLANS[0].0, PLANS[0].1),
    ("8 s of 400/s, 2 s of 2,200/s", bursts),
    ("7 s of 600/s, 4.5 s of 1,600/s", |at| if at % 11.5 < 7.0 { 600.0 } else { 1_600.0 }),
    (PLANS[2].0, PLANS[2].1),
    ("steps 1700 for 25s, 600", |at| if at < 25.0 { 1_700.0 } else { 600.0 }),
];

const PLANNED_NS: f64 = 2e6;
const PLANNED_WARM_S: u32 = 10;

/// Number of slots of time per second into which a planned rate is divided.
const COURSE_SLOTS: u32 = 20;

/// Tests intervals of mean and percentiles of response times at planned rates: the share of them
/// that contain the true value, and the share that are at most twice as wide as necessary.
pub(super) fn planned_queues(length_s: u32, runs: u32) -> Vec<Row> {
    QUEUED.iter().flat_map(|plan| planned_rows(*plan, length_s, runs)).collect()
}

fn planned_rows((plan, per_s): (&str, PerS), length_s: u32, runs: u32) -> Vec<Row> {
    let slot = |slot: u32| per_s((f64::from(slot) + 0.5) / f64::from(COURSE_SLOTS));
    let slots = (0..COURSE_SLOTS * length_s).map(slot).collect();
    let course = Course::from_rates(&[slots], length_s as usize);
    let mut pooled = Histogram::new(RANGE);
    let mut found: Vec<([f64; 1 + QUANTILES.len()], Intervals)> = Vec::new();
    for seed in 1..=runs {
        let stretches = planned_seconds(per_s, length_s, seed);
        let in_time = InTime { stretches, width_s: 1, course: course.clone() };
        let mut all = Histogram::new(RANGE);
        in_time.stretches.iter().for_each(|second| all.add(&second.finished));
        found.push((figures(&all), intervals(&in_time, &all)));
        pooled.add(&all);
    }
    let model = format!("{plan}, 4 servers of 2 ms; {length_s} s");
    let names = std::iter::once("mean").chain(QUANTILES.iter().map(|(name, _)| *name));
    let rows = |(index, (name, truth)): (usize, (&str, f64))| {
        let squares = found.iter().map(|(values, _)| (values[index] - truth).powi(2)).sum::<f64>();
        let right = 1.96 * (squares / f64::from(runs)).sqrt();
        let (mut counts, mut narrow) = ((0, 0), 0);
        for interval in found.iter().map(|(_, found)| found[index]) {
            add_held(&mut counts, interval, truth);
            narrow += u32::from(interval.is_some_and(|(low, high)| high - low <= 4.0 * right));
        }
        let what = format!("half-width of {name} at most twice the right one");
        [
            Row::of_interval(&format!("interval of {name}"), &model, (runs, counts.0, counts.1)),
            Row::at_least(&what, &model, WIDTH_OF_TIMES, (runs, counts.0, narrow)),
        ]
    };
    names.zip(figures(&pooled)).enumerate().flat_map(rows).collect()
}

/// Returns the mean and the percentiles of a histogram, in the histogram's unit.
fn figures(all: &Histogram) -> [f64; 1 + QUANTILES.len()] {
    let mut figures = [all.mean(); 1 + QUANTILES.len()];
    for (figure, (_, q)) in figures[1..].iter_mut().zip(QUANTILES) {
        *figure = all.value_at_rank(rank(q, all.count())).unwrap_or(0) as f64;
    }
    figures
}

/// Simulates a queue whose arrivals follow a planned rate, and returns its response times by
/// second, after a warm-up at the first rate.
fn planned_seconds(per_s: PerS, length_s: u32, seed: u32) -> Vec<Stretch> {
    const LINES_PER_S: u32 = 100;
    let mut draws = Draws::new(seed);
    let until_s = PLANNED_WARM_S + length_s;
    let point = |line: u32| {
        let at = f64::from(line) / f64::from(LINES_PER_S);
        (at, per_s((at - f64::from(PLANNED_WARM_S)).max(0.0)))
    };
    let points: Vec<(f64, f64)> = (0..=LINES_PER_S * until_s).map(point).collect();
    let rate = Intensity::new(&points, false).expect("a rate at each hundredth of a second");
    let within = u64::from(PLANNED_WARM_S) * NS_PER_S..u64::from(until_s) * NS_PER_S;
    let (mut due, mut all) = (draws.exponential(), Vec::new());
    loop {
        let came_ns = (rate.reached(due) * 1e9) as u64;
        if came_ns >= within.end {
            return by_second(all, within);
        }
        all.push((came_ns, (PLANNED_NS * draws.exponential()) as u64));
        due += draws.exponential();
    }
}

/// Returns how many arrivals a system finishes in each slot of time, at most `most`, given the
/// number that came in it. The rest waits for the next slot.
fn done(came: &[u64], most: u64) -> Vec<u64> {
    let mut waits = 0;
    let mut slot = |came: &u64| {
        let all = waits + came;
        waits = all.saturating_sub(most);
        all - waits
    };
    came.iter().map(&mut slot).collect()
}
