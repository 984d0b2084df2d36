//! Made-up sides for tests: runs of given throughputs.

use std::sync::LazyLock;

use super::{NotCounted, Side, SidePoint};
use crate::made_up::Made;
use crate::report::{Named, Report};

/// A run that had so many TPS, and p99 to match; `minute` is when it began.
pub(crate) fn run(tps: f64, minute: usize) -> Report {
    static PLAIN: LazyLock<Report> = LazyLock::new(|| Report::of(&Made::closed().tally()));
    let mut report = PLAIN.clone();
    report.run_id = format!("run-{minute}");
    report.started = format!("2026-11-21T10:{minute:02}:00Z");
    report.block.nopm = None;
    report.block.tps = Some(tps);
    report.block.offered_ms.p99 = Some(1e4 / tps);
    report
}

/// Points by clients, figures, and when the first run began; the next are two minutes apart.
pub(crate) fn side(name: &str, points: &[(&str, &[f64], usize)]) -> Side {
    let one = |tps: f64, minute: usize| Report { seed: minute as u64, ..run(tps, minute) };
    let point = |&(clients, figures, first): &(&str, &[f64], usize)| SidePoint {
        values: Named(vec![("clients".to_owned(), clients.to_owned())]),
        reports: figures.iter().enumerate().map(|(i, tps)| one(*tps, first + 2 * i)).collect(),
        repeats: (0..figures.len() as u32).collect(),
    };
    let points = points.iter().map(point).collect();
    Side { points, ..Side::named(name.to_owned()) }
}

/// So many runs that do not count.
pub(crate) fn lost(n_runs: usize) -> Vec<NotCounted> {
    let one = |n: usize| NotCounted {
        run: format!("lost-{n}"),
        values: None,
        why: "it is failed".to_owned(),
    };
    (0..n_runs).map(one).collect()
}
