//! Made-up subjects of charts and pages for tests.

use std::sync::LazyLock;

use model::{DataPolicy, Dice, Disturbed, Event, Experiment, Gauge, Order, Readings, Stream};

use crate::comparison::made::{run, side};
use crate::comparison::{ComparisonReport, Judge};
use crate::experiment::Trialled;
use crate::history::Question;
use crate::made_up::Made;
use crate::report::{Named, Options, Report};
use crate::seek::{Answer, Beyond, Judged, ProbeReport, Stage, Verdict, curve};
use crate::{ExperimentReport, HistoryReport, SeekReport};

/// What nobody should call anything.
pub(crate) const HOSTILE: &str = "</script><script>alert('x')</script> & \"<b>\"";

/// The closed run with a disturbance, gauges and clients.
pub(crate) fn closed() -> Report {
    static MADE: LazyLock<Report> = LazyLock::new(make_closed);
    MADE.clone()
}

fn make_closed() -> Report {
    let mut made = Made::closed();
    made.disturbance(42_000, Some(43_300), Disturbed::Done);
    gauges(&mut made);
    Report::with(&made.tally(), Options { per_client: true })
}

fn gauges(made: &mut Made) {
    let gauge = |about: &str, name: &str, unit: &str| Gauge {
        about: about.to_owned(),
        name: name.to_owned(),
        unit: unit.to_owned(),
        help: "What it means.".to_owned(),
    };
    let gauges = vec![
        gauge("machine", "cpu_user", "%"),
        gauge("machine", "cpu_system", "%"),
        gauge("machine", "disk_written/vda", "B/s"),
        gauge("database", "commits", "1/s"),
    ];
    made.more.push(Event::Gauges { gauges });
    for second in (-5..60).filter(|second| *second != 30) {
        let cpu = 40.0 + (second % 7) as f64;
        let values = vec![(0, cpu), (1, cpu / 4.0), (2, 3e6 + cpu * 1e4), (3, 10.0 * cpu)];
        made.more.push(Event::Readings(Readings { second, values }));
    }
}

/// The run whose queue is full.
pub(crate) fn open() -> Report {
    static MADE: LazyLock<Report> = LazyLock::new(make_open);
    MADE.clone()
}

fn make_open() -> Report {
    Report::of(&Made::open_overloaded().tally())
}

/// Runs that are not as runs should be: nothing measured, failed, interrupted, going on.
pub(crate) fn odd() -> Vec<Report> {
    static MADE: LazyLock<Vec<Report>> = LazyLock::new(make_odd);
    MADE.clone()
}

fn make_odd() -> Vec<Report> {
    let mut failed = Made::running();
    failed.reason = Some(model::StopReason::Failed { why: "the server went away".to_owned() });
    let made = [Made::interrupted(), Made::running(), failed];
    let mut odd: Vec<Report> = made.iter().map(|made| Report::of(&made.tally())).collect();
    odd.push(Report::of(&crate::Tally::new()));
    let mut nothing = Made::closed();
    nothing.seconds.clear();
    nothing.measured_ns = 0;
    odd.push(Report::of(&nothing.tally()));
    odd
}

/// The closed run with hostile words wherever people or servers put them.
pub(crate) fn hostile() -> Report {
    static MADE: LazyLock<Report> = LazyLock::new(make_hostile);
    MADE.clone()
}

fn make_hostile() -> Report {
    let mut made = Made::closed();
    let bad = || HOSTILE.to_owned();
    made.description.name = bad();
    made.description.database = bad();
    made.description.target = bad();
    made.description.groups[0].name = bad();
    made.description.groups[0].workload = bad();
    made.description.groups[0].kinds[0].name = bad();
    made.description.groups[0].declarations.push(bad());
    made.disturbance(42_000, Some(43_300), Disturbed::Failed { why: bad() });
    gauges(&mut made);
    if let Some(Event::Gauges { gauges }) =
        made.more.iter_mut().find(|event| matches!(event, Event::Gauges { .. }))
    {
        gauges[3].name = bad();
        gauges[3].help = bad();
    }
    made.fact(HOSTILE, HOSTILE, HOSTILE);
    let mut report = Report::with(&made.tally(), Options { per_client: true });
    report.findings.iter_mut().for_each(|finding| finding.text = bad());
    report.block.errors.iter_mut().for_each(|error| error.message = bad());
    report.plan = bad();
    report.output = vec![bad()];
    report
}

/// Clients from 1 to 16, three trials of each but the last.
pub(crate) fn experiment() -> (ExperimentReport, Vec<Trialled>) {
    sweep([1, 2, 4, 8, 16])
}

/// The same over other numbers of clients.
pub(crate) fn sweep(clients: [u32; 5]) -> (ExperimentReport, Vec<Trialled>) {
    let (experiment, trials) = sweep_of(clients);
    (reported(&experiment, &trials), trials)
}

/// What such a report is made of.
pub(crate) fn sweep_of(clients: [u32; 5]) -> (Experiment, Vec<Trialled>) {
    let (experiment, mut trials) = walked(vec![axis("group.users.clients", &clients)], &clients);
    trials.pop();
    (experiment, trials)
}

/// Clients from 1 to 32, enough for a law that falls from 10 on.
pub(crate) fn long_sweep() -> (ExperimentReport, Vec<Trialled>) {
    let clients = [1, 2, 4, 8, 16, 32];
    let (experiment, trials) = walked(vec![axis("group.users.clients", &clients)], &clients);
    (reported(&experiment, &trials), trials)
}

/// A setting of two values, named first, with clients from 1 to 16 for each.
pub(crate) fn two_axes() -> (ExperimentReport, Vec<Trialled>) {
    let clients = [1, 2, 4, 8, 16];
    let axes = vec![axis("server.flush", &[1, 2]), axis("group.users.clients", &clients)];
    let (experiment, trials) = walked(axes, &clients);
    (reported(&experiment, &trials), trials)
}

fn axis(name: &str, values: &[u32]) -> model::Axis {
    model::Axis { name: name.to_owned(), values: values.iter().map(u32::to_string).collect() }
}

fn reported(experiment: &Experiment, trials: &[Trialled]) -> ExperimentReport {
    let mut dice = Dice::new(1, Stream::Order, 0);
    ExperimentReport::new(experiment, trials, &mut || dice.bits())
}

/// Three trials of every point, of which clients are the last axis.
fn walked(axes: Vec<model::Axis>, clients: &[u32]) -> (Experiment, Vec<Trialled>) {
    let tps = [100.0, 190.0, 340.0, 450.0, 420.0, 310.0];
    let point = |values: Vec<String>| model::Point { values, plan: String::new() };
    let points = model::combinations(&axes).into_iter().map(point).collect();
    let experiment = Experiment {
        id: "019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d".to_owned(),
        name: "sweep".to_owned(),
        started_unix_ms: 1_772_000_000_000,
        axes,
        points,
        repeats: 3,
        nesting: model::Nesting::default(),
        stop: None,
        order: Order::Interleaved,
        data: DataPolicy::Keep,
        pause_ns: 0,
        until: None,
        seed: 1,
        seek: None,
        labels: Vec::new(),
    };
    let mut trials = Vec::new();
    for index in 0..experiment.points.len() {
        for repeat in 0..3_u32 {
            let tps = tps[index % clients.len()] * (1.0 + 0.01 * f64::from(repeat));
            let mut report = run(tps, index * 3);
            report.clients = clients[index % clients.len()];
            trials.push(Trialled { point: index as u32, repeat, report });
        }
    }
    (experiment, trials)
}

/// A rate that keeps p99 below 20 ms.
pub(crate) fn seek() -> SeekReport {
    let probe = |(rate, p99, verdict): (f64, f64, Verdict)| ProbeReport {
        at: rate,
        measure_s: 20.0,
        stage: Stage::Refine,
        run: format!("run-{rate}"),
        verdict,
        judged: Judged {
            verdict,
            score: Some((p99 / 20.0_f64).ln()),
            half_width: Some(0.05),
            beyond: vec![Beyond {
                objective: "p99<20ms".parse().expect("an objective"),
                ratio: p99 / 20.0,
                error: Some(0.05),
                independent: Some(40_000.0),
            }],
            is_broken: false,
            lacks: None,
            reasons: Vec::new(),
        },
        figures: Named(vec![("tps".to_owned(), Some(rate)), ("p99_ms".to_owned(), Some(p99))]),
        reasons: Named::default(),
    };
    let probes: Vec<ProbeReport> = [
        (300.0, 8.0, Verdict::Meets),
        (1200.0, 19.4, Verdict::Undecided),
        (1200.0, 20.1, Verdict::Undecided),
        (1500.0, 70.0, Verdict::Fails),
    ]
    .into_iter()
    .map(probe)
    .collect();
    SeekReport {
        schema: crate::seek::SCHEMA.to_owned(),
        id: "019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d".to_owned(),
        name: "how much".to_owned(),
        started_unix_ms: 1_772_000_000_000,
        status: None,
        seek: model::Seek {
            axis: "rate".to_owned(),
            low: 300.0,
            high: 3000.0,
            is_whole: false,
            objectives: vec!["p99<20ms".parse().expect("an objective")],
            budget_ns: 300_000_000_000,
            method: crate::seek::METHOD,
        },
        answer: Answer::Found { value: 1_205.0, low: 1_150.0, high: 1_260.0 },
        confidence: 0.9,
        confirmed: Some(true),
        recommended: Some(1_150.0),
        residual: None,
        elasticity: None,
        noise: Some(0.4),
        steepness: Some(24.0),
        curve: curve(&probes),
        probes,
    }
}

/// One side a fifth better at two of three points.
pub(crate) fn comparison() -> ComparisonReport {
    let around = |tps: f64| [0.99, 1.0, 1.01, 1.005, 0.995].map(|share| share * tps);
    let sides = [
        side(
            "build=1.1",
            &[("1", &around(100.0), 0), ("8", &around(400.0), 10), ("64", &around(500.0), 20)],
        ),
        side(
            "build=1.2",
            &[("1", &around(100.1), 1), ("8", &around(480.0), 11), ("64", &around(610.0), 21)],
        ),
    ];
    ComparisonReport::new(&sides, &Judge { primary: None, floor: 0.01 }).expect("they have runs")
}

/// Thirty builds, from the 25th on a tenth slower.
pub(crate) fn history() -> HistoryReport {
    let tps = |n: usize| {
        let level = if n < 24 { 1000.0 } else { 900.0 };
        level * (1.0 + 0.01 * [0.3, -0.7, 0.9, -0.2, -0.4, 0.6][n % 6])
    };
    let builds: Vec<_> = (0..30).map(|n| side(&format!("1.{n}"), &[("8", &[tps(n)], n)])).collect();
    let mut dice = Dice::new(1, Stream::Order, 0);
    let judge = Judge { primary: None, floor: 0.02 };
    let question = Question::of("build", judge);
    HistoryReport::new(&question, &builds, &mut || dice.bits()).expect("they have runs")
}
