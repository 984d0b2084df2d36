//! Parts of a run's page as tables: its latency, its stretches, its disturbances, its errors.

use super::{counted, number, words};
use crate::render::sheet::{Cell, Holds, Sheet, SheetColumn};
use crate::report::{DisturbanceReport, Latency, Report, WindowReport};

/// Response, service and wait of what finished, times of all that was offered and of the failed.
/// A quantile that is infinite or known as a bound alone is in words.
pub fn latency(report: &Report) -> Sheet {
    let block = &report.block;
    let all = [
        ("response", &block.response_ms),
        ("service", &block.service_ms),
        ("wait", &block.wait_ms),
        ("offered", &block.offered_ms),
        ("failed", &block.failed_ms),
    ];
    let row = |(name, of): (&str, &Latency)| {
        let quantile = |field: &str| match (of.get(field), of.at_least.get(field)) {
            (Some(value), _) => value.into(),
            (None, Some(least)) => Cell::Words(format!(">= {least}")),
            _ if of.infinite.iter().any(|name| name == field) => "infinite".into(),
            _ => Cell::None,
        };
        let quantiles = ["p50", "p90", "p95", "p99", "p999"].map(quantile);
        let head = vec![name.into(), of.count.into(), of.min.into(), of.mean.into(), of.sd.into()];
        head.into_iter().chain(quantiles).chain([of.max.into()]).collect()
    };
    Sheet {
        name: "latency",
        title: format!("Latency of run {}, in ms", report.run_id),
        columns: vec![
            words("time", "time"),
            counted("count", "count"),
            number("min_ms", "min", 3),
            number("mean_ms", "mean", 3),
            number("sd_ms", "sd", 3),
            number("p50_ms", "p50", 3),
            number("p90_ms", "p90", 3),
            number("p95_ms", "p95", 3),
            number("p99_ms", "p99", 3),
            number("p999_ms", "p99.9", 3),
            number("max_ms", "max", 3),
        ],
        rows: all.into_iter().filter(|(_, of)| of.count > 0).map(row).collect(),
    }
}

/// The run in stretches.
pub fn probes(report: &Report) -> Sheet {
    let row = |probe: &crate::report::ProbeReport| {
        vec![
            probe.from_s.into(),
            probe.to_s.into(),
            probe.offered_per_second.into(),
            probe.tps.into(),
            probe.p50_ms.into(),
            probe.p95_ms.into(),
            probe.p99_ms.into(),
            probe.wait_percent.into(),
            probe.queue_mean.into(),
            probe.failed.into(),
            probe.dropped.into(),
            probe.unfinished.into(),
        ]
    };
    Sheet {
        name: "probes",
        title: format!("Stretches of run {}", report.run_id),
        columns: vec![
            number("from_s", "from s", 4),
            number("to_s", "to s", 4),
            number("offered_per_second", "offered/s", 4),
            number("tps", "TPS", 4),
            number("p50_ms", "p50 ms", 3),
            number("p95_ms", "p95", 3),
            number("p99_ms", "p99", 3),
            SheetColumn { key: "wait_percent", title: "wait %", holds: Holds::Percent },
            number("queue_mean", "queued", 3),
            counted("failed", "failed"),
            counted("dropped", "dropped"),
            counted("unfinished", "unfinished"),
        ],
        rows: report.probes.iter().map(row).collect(),
    }
}

/// What was done to the database in mid-run: a row for the time before, during and after each.
pub fn disturbances(report: &Report) -> Sheet {
    let rows = |one: &DisturbanceReport| {
        let windows = [("before", &one.before), ("during", &one.during), ("after", &one.after)];
        let row = |(when, of): (&str, &Option<WindowReport>)| {
            let of = of.as_ref();
            vec![
                one.name.as_str().into(),
                one.what.as_str().into(),
                one.outcome.as_str().into(),
                one.began_s.into(),
                one.ended_s.into(),
                one.recovery_s.into(),
                when.into(),
                of.and_then(|of| of.tps).into(),
                of.and_then(|of| of.response_ms.p50).into(),
                of.and_then(|of| of.response_ms.p99).into(),
                of.and_then(|of| of.response_ms.max).into(),
            ]
        };
        windows.map(row)
    };
    Sheet {
        name: "disturbances",
        title: format!("Disturbances of run {}", report.run_id),
        columns: vec![
            words("disturbance", "disturbance"),
            words("what", "what"),
            words("outcome", "outcome"),
            number("began_s", "began s", 4),
            number("ended_s", "ended s", 4),
            number("recovery_s", "back after s", 4),
            words("window", "window"),
            number("tps", "TPS", 4),
            number("p50_ms", "p50 ms", 3),
            number("p99_ms", "p99", 3),
            number("max_ms", "max", 3),
        ],
        rows: report.disturbances.iter().flat_map(rows).collect(),
    }
}

/// What was refused, by its number: those of attempts that were tried again are among them.
pub fn errors(report: &Report) -> Sheet {
    let phases = [("measured", &report.block.errors), ("ramp-up", &report.block.ramp_up_errors)];
    let all = phases.iter().flat_map(|(phase, all)| all.iter().map(move |one| (*phase, one)));
    let row = |(phase, one): (&str, &crate::report::ErrorReport)| {
        let (kind, message) = (one.kind.as_str().into(), one.message.as_str().into());
        vec![phase.into(), one.count.into(), kind, Cell::Count(one.code), message]
    };
    Sheet {
        name: "errors",
        title: format!("Errors of run {}", report.run_id),
        columns: vec![
            words("phase", "phase"),
            counted("count", "count"),
            words("kind", "kind"),
            counted("code", "code"),
            words("first_message", "the first of them"),
        ],
        rows: all.map(row).collect(),
    }
}
