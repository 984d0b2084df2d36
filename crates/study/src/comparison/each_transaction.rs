//! Cost of the average transaction on both sides of a comparison: its service time by parts, CPU
//! time, bytes, round trips, context switches, waits. Figures that explain most of a difference
//! come first.
//!
//! Nothing is judged here: each interval is that of one figure among many. Not here: gauges that
//! are not divided by transactions (beside).

use std::borrow::Cow;
use std::collections::BTreeMap;

use analysis::report::{
    Named, OUTSIDE_SERVICE, Report, SAMPLES_LEAST, TimeProfile, is_of_samples, part_title,
};
use model::{Choice, ServerSummary, SummaryOf};
use serde::{Deserialize, Serialize};
use stats::ratio_of_means;

use super::SidePoint;

/// Smallest change of a figure, as a share, that counts as a change.
const CHANGE_MIN: f64 = 0.05;

/// Confidence of the intervals of ratios between the sides of a comparison.
const CONFIDENCE: f64 = 0.95;

/// Smallest part of the service time, as a share, that is reported; smaller parts are left out.
const PART_MIN: f64 = 0.001;

/// A figure of the average transaction, such as its CPU time, for the baseline and for the compared
/// side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EachTransaction {
    /// Name of the figure, such as `time.lock`, `server.cpu` or `locks.warehouse.time`.
    pub name: String,
    pub unit: String,
    /// Mean of the figure over the baseline's runs, at the points (combinations of varied
    /// parameters) that both sides of the comparison have.
    pub baseline: f64,
    /// Mean of the figure over the compared side's runs, at the points that both sides have.
    pub side: f64,
    /// The compared side's value divided by the baseline's; null if one of them is 0 or almost 0.
    pub ratio: Option<f64>,
    /// Reason why there is no ratio; null if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The 95 % confidence interval of the ratio, from the variation between runs; null without a
    /// ratio, or if there are too few runs.
    pub interval: Option<(f64, f64)>,
    /// True for times, and for other figures that changed by more than 5 % with a confidence
    /// interval that excludes 1 or is not known.
    pub is_change: bool,
}

/// Key figures, listed in this order whether they changed or not. Each entry has the beginning and
/// the end of a figure's name.
const KEYS: [(&str, &str); 11] = [
    ("round_trips", ""),
    ("connections.", ""),
    ("database.Bytes_received", ""),
    ("database.Bytes_sent", ""),
    ("machine.net_out/lo", ""),
    ("locks.", ".time"),
    ("database.Innodb_row_lock_time", ""),
    ("machine.softirqs/NET_RX", ""),
    ("generator.switches_voluntary", ""),
    ("server.switches_voluntary", ""),
    ("machine.context_switches", ""),
];

impl EachTransaction {
    /// Returns the index of the figure in `KEYS`, the key figures that are always listed; `None`
    /// for any other figure.
    pub fn key_rank(&self) -> Option<usize> {
        let name = &self.name;
        KEYS.iter().position(|(begin, end)| name.starts_with(begin) && name.ends_with(end))
    }

    /// Returns true if the figure is the service time, a part of it, or activity measured outside
    /// of it.
    pub fn is_time(&self) -> bool {
        self.name.starts_with(TIME)
    }

    /// Returns true if the figure is the whole service time.
    pub fn is_service_time(&self) -> bool {
        self.name == SERVICE
    }

    /// Returns true if the figure is activity that was measured outside of the service time, such
    /// as CPU time after the reply.
    pub fn is_beside(&self) -> bool {
        self.name.starts_with(BESIDE)
    }

    /// Returns true if the figure is a part of the service time that is estimated from samples of
    /// the server's sessions, or is the unexplained rest.
    pub fn is_of_samples(&self) -> bool {
        let part = self.name.strip_prefix(BESIDE).or_else(|| self.name.strip_prefix(TIME));
        part.is_some_and(is_of_samples)
    }

    pub fn title(&self) -> Cow<'_, str> {
        figure_title(&self.name)
    }
}

/// Returns the title of a figure per transaction, as pages show it. Parts of the service time have
/// the same titles as on the page of a run.
pub fn figure_title(name: &str) -> Cow<'_, str> {
    let part = |begin: &str| name.strip_prefix(begin).map(part_title);
    match (part(BESIDE), part(TIME)) {
        (Some(title), _) => format!("{OUTSIDE_SERVICE}{title}").into(),
        (None, Some(title)) => title.into(),
        (None, None) => name.into(),
    }
}

/// Figures of the average transaction at one point (combination of varied parameters), or over all
/// points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EachTransactionAt {
    /// Values of the varied parameters at the point, by parameter; empty for all points together.
    pub values: Named<String>,
    /// The figures: first the service time and its parts by change in milliseconds, then activity
    /// outside of it, other figures that changed by ratio, and all others by name.
    pub figures: Vec<EachTransaction>,
    /// Number of samples of the server's sessions from which the parts of the service time are
    /// estimated, on the side of the comparison with fewer; null if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}

impl EachTransactionAt {
    /// Returns the number of session samples on the side of the comparison with fewer, if it is
    /// below [`SAMPLES_LEAST`] and so too small for an exact split of the service time; `None`
    /// otherwise.
    pub fn samples_if_few(&self) -> Option<u64> {
        self.samples.filter(|n| *n < SAMPLES_LEAST && self.has_parts_of_samples())
    }

    /// Returns true if any figure is estimated from samples of the server's sessions.
    pub fn has_parts_of_samples(&self) -> bool {
        self.figures.iter().any(EachTransaction::is_of_samples)
    }
}

/// Largest number of points (combinations of varied parameters) for which the average transaction
/// is reported one by one; for more, only the mean over all points is reported.
const POINTS_MAX: usize = 12;

/// Returns the figures of the average transaction on both sides of a comparison: an entry for each
/// point that both have, or one over all points if these are more than [`POINTS_MAX`]. Entries
/// without a change are left out.
pub(super) fn each_transaction(both: &[(&SidePoint, &SidePoint)]) -> Vec<EachTransactionAt> {
    let at = |values: Named<String>, both: &[(&SidePoint, &SidePoint)]| EachTransactionAt {
        values,
        figures: figures_of(both),
        samples: samples(both),
    };
    let all: Vec<EachTransactionAt> = match both.len() > POINTS_MAX {
        true => vec![at(Named::default(), both)],
        false => both.iter().map(|pair| at(pair.0.values.clone(), &[*pair])).collect(),
    };
    all.into_iter().filter(|at| at.figures.iter().any(|figure| figure.is_change)).collect()
}

/// Returns the number of samples of the server's sessions over all runs of a side of a comparison,
/// for the side with fewer; `None` if a run has none.
fn samples(both: &[(&SidePoint, &SidePoint)]) -> Option<u64> {
    let of_side = |points: &mut dyn Iterator<Item = &SidePoint>| {
        points.flat_map(|point| &point.reports).map(Report::session_samples).sum::<Option<u64>>()
    };
    let base = of_side(&mut both.iter().map(|(base, _)| *base))?;
    Some(base.min(of_side(&mut both.iter().map(|(_, side)| *side))?))
}

/// Unit of each figure by its name, and the values of the figure in single runs, listed by point
/// (combination of varied parameters) and there by baseline and compared side.
type Values = BTreeMap<String, (&'static str, Vec<[Vec<f64>; 2]>)>;

/// Returns the figures of the average transaction of baseline and compared side over these points,
/// in the order of [`EachTransactionAt::figures`].
fn figures_of(both: &[(&SidePoint, &SidePoint)]) -> Vec<EachTransaction> {
    let mut all = Values::new();
    for (at, (base, side)) in both.iter().enumerate() {
        for (which, point) in [base, side].into_iter().enumerate() {
            // The transactions of a build are chunks of rows, whose figures would mislead.
            for report in point.reports.iter().filter(|report| !report.is_build()) {
                for (name, unit, value) in figures(report) {
                    let none = || (unit, vec![Default::default(); both.len()]);
                    all.entry(name).or_insert_with(none).1[at][which].push(value);
                }
            }
        }
    }
    let all = all.into_iter().filter_map(|(name, (unit, values))| beside(name, unit, &values));
    let all = all.filter(|figure| !is_nothing(figure.baseline.max(figure.side), &figure.unit));
    let all = without_twins(all.collect());
    let (mut times, others): (Vec<_>, Vec<_>) = all.into_iter().partition(EachTransaction::is_time);
    let service = times.iter().find(|figure| figure.is_service_time());
    let least = service.map_or(0.0, |figure| PART_MIN * figure.baseline.max(figure.side));
    times.retain(|figure| figure.baseline.abs().max(figure.side.abs()) > least);
    times
        .iter_mut()
        .filter(|figure| figure.baseline.min(figure.side) < least)
        .for_each(leave_out_ratio);
    let change = |figure: &EachTransaction| match &*figure.name {
        SERVICE => f64::INFINITY,
        _ => (figure.side - figure.baseline).abs(),
    };
    times.sort_by(|a, b| {
        a.is_beside().cmp(&b.is_beside()).then_with(|| change(b).total_cmp(&change(a)))
    });
    // A figure that only one side has comes last, since it has no ratio.
    let far = |figure: &EachTransaction| figure.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    let is_change = |figure: &EachTransaction| {
        let is_sure = figure.interval.is_none_or(|(low, high)| low > 1.0 || high < 1.0);
        let is_other = figure.ratio.is_none() && figure.baseline != figure.side;
        is_sure && (is_other || far(figure) > CHANGE_MIN.ln_1p())
    };
    let (mut changed, mut same): (Vec<_>, Vec<_>) = others.into_iter().partition(is_change);
    changed.sort_by(|a, b| far(b).total_cmp(&far(a)).then_with(|| a.name.cmp(&b.name)));
    same.iter_mut().for_each(|figure| figure.is_change = false);
    times.into_iter().chain(changed).chain(same).collect()
}

/// Returns true if an amount per transaction is so small that it is left out. `most` is the larger
/// amount of both sides of the comparison, in `unit`.
fn is_nothing(most: f64, unit: &str) -> bool {
    most < match unit {
        "B" => 0.5,
        "ms" => 1e-6,
        _ => 1e-3,
    }
}

/// Share of the other side's value below which a value of one side of a comparison counts as almost
/// 0 and has no ratio.
const ALMOST_NOTHING: f64 = 1e-4;

/// Returns true if the value of the baseline or of the compared side is almost 0, so that their
/// ratio would be noise.
fn is_beside_nothing(baseline: f64, side: f64, unit: &str) -> bool {
    let (least, most) = (baseline.min(side), baseline.max(side));
    is_nothing(least, unit) || least < ALMOST_NOTHING * most
}

fn leave_out_ratio(figure: &mut EachTransaction) {
    let which = if figure.baseline < figure.side { "the baseline" } else { "the side" };
    (figure.ratio, figure.interval) = (None, None);
    figure.reason = Some(format!("{which} has almost none"));
}

/// Pairs of names for the same quantity, such as statements counted by server and client. The first
/// is left out if both have about the same value.
const TWINS: [(&str, &str); 5] = [
    ("statements", "round_trips"),
    ("database.Questions", "statements"),
    ("database.Queries", "statements"),
    ("machine.packets_out/lo", "machine.packets_in/lo"),
    ("machine.net_in/lo", "machine.net_out/lo"),
];
/// Largest difference between the two figures of [`TWINS`] that are left out, as a share. They
/// differ a little because the server counts dbdyno's own queries too.
const TWINS_DIFFER: f64 = 0.05;

/// Removes the first figure of each pair in [`TWINS`] if its values agree with those of the second;
/// likewise a wait that `connections.` counts too, and a disk that has the traffic of all.
fn without_twins(all: Vec<EachTransaction>) -> Vec<EachTransaction> {
    let is_twin = |figure: &EachTransaction| {
        let of_waits = figure.name.strip_prefix("waits.").map(|name| format!("connections.{name}"));
        let names = TWINS.iter().filter(|(name, _)| *name == figure.name).map(|(_, twin)| *twin);
        // A disk that had all the traffic is a twin of all disks.
        let of_all =
            figure.name.split_once('/').filter(|(all, _)| all.starts_with("machine.disk_"));
        let names = names.chain(of_all.map(|(all, _)| all));
        let near = |a: f64, b: f64| (a - b).abs() <= TWINS_DIFFER * a.abs().max(b.abs());
        names.chain(of_waits.as_deref()).any(|twin| {
            let twin = all.iter().find(|known| known.name == twin);
            twin.is_some_and(|twin| {
                near(figure.baseline, twin.baseline) && near(figure.side, twin.side)
            })
        })
    };
    all.iter().filter(|figure| !is_twin(figure)).cloned().collect()
}

const TIME: &str = "time.";
const SERVICE: &str = "time.service";
/// Beginning of the names of activity measured outside of the service time.
const BESIDE: &str = "time.beside.";

/// Returns the service time of a transaction, its parts, and the activity measured outside of it,
/// each with name, unit and milliseconds.
fn times(profile: &TimeProfile) -> impl Iterator<Item = (String, &'static str, f64)> {
    let part = |begin: &str, name: &str, ms: f64| (format!("{begin}{name}"), "ms", ms);
    let parts =
        profile.parts.iter().map(move |time_part| part(TIME, &time_part.name, time_part.ms));
    // Older reports do not record it separately, and have a negative unexplained time.
    let has_beside = !profile.beside.is_empty() || profile.unexplained_ms >= 0.0;
    let beside = profile.parts.iter().filter(move |_| has_beside).map(move |time_part| {
        let beside = profile.beside.iter().find(|beside| beside.name == time_part.name);
        part(BESIDE, &time_part.name, beside.map_or(0.0, |beside| beside.ms))
    });
    let sum = [
        part(TIME, "service", profile.service_ms),
        part(TIME, "unexplained", profile.unexplained_ms),
    ];
    sum.into_iter().chain(parts).chain(beside)
}

/// Returns the figures per transaction of a run, each with name, unit and value.
fn figures(report: &Report) -> Vec<(String, &'static str, f64)> {
    let mut all: Vec<(String, &'static str, f64)> = Vec::new();
    if let Some(profile) = &report.time_profile {
        all.extend(times(profile));
    }
    let each = &report.block.per_transaction;
    let counts = [("round_trips", each.round_trips), ("statements", each.statements)];
    all.extend(counts.into_iter().filter_map(|(name, n)| Some((name.to_owned(), "", n?))));
    let Some(tps) = report.block.tps.filter(|tps| *tps > 0.0) else { return all };
    for gauge in report.gauges.iter().filter(|gauge| !gauge.is_of_cached_writes()) {
        let Some(mean) = gauge.mean else { continue };
        // Rates, and shares of a CPU; levels do not belong to a transaction.
        let (unit, scale) = match &*gauge.unit {
            "1/s" => ("", 1.0),
            "B/s" => ("B", 1.0),
            "ms/s" => ("ms", 1.0),
            "%" if gauge.name.starts_with("cpu_") && gauge.about != "machine" => ("ms", 10.0),
            _ => continue,
        };
        all.push((gauge.figure(), unit, mean * scale / tps));
    }
    // Texts of statements differ between sides.
    let is_statement = |summary: &&ServerSummary| summary.of == SummaryOf::Statements;
    for summary in report.server.iter().filter(|summary| !is_statement(summary)) {
        let summary_name = summary.of.name();
        let commits = tps * summary.seconds();
        for row in &summary.rows {
            for (column, value) in summary.columns.iter().zip(&row.values) {
                let (unit, scale) = match &*column.unit {
                    "s" => ("ms", 1e3),
                    "B" => ("B", 1.0),
                    _ => ("", 1.0),
                };
                let state = row.state.as_deref().map(|state| format!("{state} "));
                let what = format!("{}{}", state.unwrap_or_default(), row.what);
                let name = format!("{summary_name}.{}.{}", what.trim_end(), column.name);
                all.push((name, unit, value * scale / commits));
            }
        }
    }
    all.retain(|(.., value)| value.is_finite());
    all
}

/// Compares one figure of the average transaction of both sides of a comparison, given its values
/// by point, then baseline and side. `None` if a side lacks it at a point.
fn beside(name: String, unit: &str, values: &[[Vec<f64>; 2]]) -> Option<EachTransaction> {
    if values.iter().flatten().any(Vec::is_empty) {
        return None;
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let of_side = |which: usize| {
        let means: Vec<f64> = values.iter().map(|of_point| mean(&of_point[which])).collect();
        mean(&means)
    };
    let (baseline, side) = (of_side(0), of_side(1));
    let ratio = (baseline > 0.0 && side > 0.0).then(|| side / baseline);
    // Of the same means as the ratio, so that it contains the ratio.
    let sets =
        |which: usize| values.iter().map(|of_point| &of_point[which][..]).collect::<Vec<_>>();
    let interval = ratio.and(ratio_of_means(&sets(0), &sets(1), CONFIDENCE));
    let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    let reason = None;
    let is_noise = is_beside_nothing(baseline, side, unit);
    let unit = unit.to_owned();
    let is_change = true;
    let mut figure =
        EachTransaction { name, unit, baseline, side, ratio, reason, interval, is_change };
    if is_noise {
        leave_out_ratio(&mut figure);
    }
    Some(figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::sides::{gauge, side};
    use analysis::report::{TimePart, TimeProfile};

    fn profile(lock_ms: f64, cpu_ms: f64) -> TimeProfile {
        let part = |name: &str, ms| TimePart { name: name.to_owned(), ms };
        TimeProfile {
            service_ms: lock_ms + cpu_ms + 1.0,
            transactions: 1_000,
            parts: vec![part("server_cpu", cpu_ms), part("lock", lock_ms)],
            unexplained_ms: 1.0,
            beside: Vec::new(),
        }
    }

    fn point(minute: usize, change: &dyn Fn(&mut Report)) -> SidePoint {
        let mut point = side("x", &[("8", &[1e3, 1e3, 1e3, 1e3], minute)]).points.remove(0);
        point.reports.iter_mut().for_each(change);
        point
    }

    #[test]
    fn the_part_of_the_time_that_changed_most_comes_first_and_ratios_have_intervals() {
        let base = point(0, &|report| {
            report.time_profile = Some(profile(1.0, 2.0));
            report.gauges = vec![
                gauge("server", "cpu_user", "%", 100.0),
                gauge("database", "Bytes_sent", "B/s", 5e6),
                gauge("database", "sessions/lock", "", 3.0),
            ];
        });
        let other = point(1, &|report| {
            report.time_profile = Some(profile(4.0, 2.5));
            report.gauges = vec![
                gauge("server", "cpu_user", "%", 101.0),
                gauge("database", "Bytes_sent", "B/s", 40e6),
                gauge("database", "sessions/lock", "", 9.0),
            ];
        });
        let found = figures_of(&[(&base, &other)]);
        let names: Vec<&str> = found.iter().map(|figure| figure.name.as_str()).collect();
        let expected = [
            "time.service",
            "time.lock",
            "time.server_cpu",
            "time.unexplained",
            "database.Bytes_sent",
            "round_trips",
            "server.cpu_user",
        ];
        assert_eq!(names, expected);
        assert!(
            found.iter().enumerate().all(|(nth, figure)| figure.is_change == (nth < 5)),
            "{found:?}"
        );
        let bytes = &found[4];
        assert_eq!((bytes.unit.as_str(), bytes.ratio), ("B", Some(8.0)));
        // 5 MB/s at 1,000 transactions per second.
        assert!((bytes.baseline - 5_000.0).abs() < 1.0, "{bytes:?}");
        let (low, high) = bytes.interval.expect("four runs a side");
        assert!(low <= 8.0 + 1e-9 && high >= 8.0 - 1e-9, "{bytes:?}");
    }

    #[test]
    fn what_was_measured_beside_the_time_follows_its_parts_with_the_titles_of_a_run() {
        let overlapped = |of_first: f64| {
            point(0, &|report| {
                let mut profile = profile(1.0, 2.0);
                let ms = if report.seed == 0 { of_first } else { 0.5 };
                profile.beside = vec![TimePart { name: "server_cpu".to_owned(), ms }];
                report.time_profile = Some(profile);
            })
        };
        let found = figures_of(&[(&overlapped(2.5), &overlapped(0.5))]);
        let times = found.iter().filter(|figure| figure.is_time());
        let titles: Vec<_> = times.map(EachTransaction::title).collect();
        let expected = [
            "service time",
            "server: waiting for locks",
            "server: CPU",
            "unexplained",
            "outside the service time: server: CPU",
        ];
        assert_eq!(titles, expected);
        let beside = found.iter().find(|figure| figure.is_beside()).expect("it overlaps");
        assert_eq!((beside.name.as_str(), beside.baseline), ("time.beside.server_cpu", 1.0));
        // A run without any has 0, if its parts are recorded separately.
        let whole = point(0, &|report| report.time_profile = Some(profile(1.0, 2.0)));
        let found = figures_of(&[(&overlapped(0.5), &whole)]);
        let beside = found.iter().find(|figure| figure.is_beside()).expect("one side has it");
        assert_eq!((beside.baseline, beside.side, beside.ratio), (0.5, 0.0, None));
    }

    #[test]
    fn a_ratio_is_that_of_the_shown_means_and_lies_within_its_interval() {
        let mut rng = model::Rng::new(7, model::Stream::Order, 0);
        for _ in 0..500 {
            let n_points = 1 + (rng.bits() % 3) as usize;
            let mut set = || -> Vec<f64> {
                let n_runs = 3 + rng.bits() % 5;
                // A few runs far above the others, as those with a checkpoint are.
                let value = |bits: u64| 1.0 + (bits % 100) as f64 + 1e4 * (bits % 7 / 6) as f64;
                (0..n_runs).map(|_| value(rng.bits() >> 8)).collect()
            };
            let values: Vec<[Vec<f64>; 2]> = (0..n_points).map(|_| [set(), set()]).collect();
            let found = beside("machine.net_out".to_owned(), "B", &values).expect("both have it");
            let ratio = found.ratio.expect("neither is 0");
            assert!((found.side / found.baseline / ratio - 1.0).abs() < 1e-12, "{found:?}");
            let (low, high) = found.interval.expect("three runs a side");
            assert!(low <= ratio && ratio <= high, "{found:?} of {values:?}");
        }
    }

    #[test]
    fn what_has_two_names_is_there_once_and_what_readers_ask_for_has_a_rank() {
        let figure = |name: &str, baseline: f64, side: f64| EachTransaction {
            name: name.to_owned(),
            unit: String::new(),
            baseline,
            side,
            ratio: Some(side / baseline),
            reason: None,
            interval: None,
            is_change: true,
        };
        let socket = "wait/io/socket/sql/client_connection.count";
        let all = vec![
            figure(&format!("connections.{socket}"), 57.12, 3.03),
            figure("database.Questions", 28.8, 1.013),
            figure("locks.warehouse.time", 1.0, 1.0),
            figure("machine.packets_in/lo", 59.3, 4.73),
            figure("machine.packets_out/lo", 59.3, 4.73),
            figure("round_trips", 28.7, 1.0),
            figure("statements", 28.7, 20.0),
            figure(&format!("waits.{socket}"), 57.2, 3.03),
            figure("waits.wait/io/file/sql/binlog.count", 57.2, 3.03),
        ];
        let kept = without_twins(all);
        let names: Vec<&str> = kept.iter().map(|one| one.name.as_str()).collect();
        let expected = [
            "connections.wait/io/socket/sql/client_connection.count",
            "database.Questions",
            "locks.warehouse.time",
            "machine.packets_in/lo",
            "round_trips",
            "statements",
            "waits.wait/io/file/sql/binlog.count",
        ];
        assert_eq!(names, expected);
        let is_key: Vec<bool> = kept.iter().map(|one| one.key_rank().is_some()).collect();
        assert_eq!(is_key, [true, false, true, false, true, false, false]);
    }

    #[test]
    fn few_points_stand_for_themselves_and_many_are_taken_together() {
        let point = |clients: usize| {
            let mut point = point(0, &|report| report.time_profile = Some(profile(1.0, 2.0)));
            point.values = Named(vec![("clients".to_owned(), clients.to_string())]);
            point
        };
        let points: Vec<SidePoint> = (0..=POINTS_MAX).map(point).collect();
        let both: Vec<(&SidePoint, &SidePoint)> = points.iter().map(|one| (one, one)).collect();
        assert_eq!(each_transaction(&both).len(), 1);
        let few = each_transaction(&both[1..]);
        assert_eq!((few.len(), few[0].values.clone()), (POINTS_MAX, points[1].values.clone()));
    }

    #[test]
    fn what_a_side_lacks_is_not_compared() {
        assert_eq!(beside("x".to_owned(), "", &[[vec![1.0], vec![]]]), None);
        let new = beside("x".to_owned(), "", &[[vec![0.0], vec![1.0]]]).expect("both have it");
        assert_eq!((new.ratio, new.interval), (None, None));
    }

    #[test]
    fn a_side_with_almost_nothing_makes_no_ratio_and_the_figure_says_why() {
        let compared = |unit: &'static str, base: f64, side: f64| {
            beside("x".to_owned(), unit, &[[vec![base; 4], vec![side; 4]]]).expect("both have it")
        };
        for (unit, base, side) in
            [("ms", 4e-16, 0.3), ("ms", 0.3, 4e-16), ("B", 0.01, 9_000.0), ("", 1e-9, 20.0)]
        {
            let found = compared(unit, base, side);
            assert_eq!((found.ratio, found.interval), (None, None), "{found:?}");
            let which = if base < side { "the baseline" } else { "the side" };
            assert_eq!(found.reason, Some(format!("{which} has almost none")));
        }
        assert_eq!(compared("B", 5.0, 5_000.0).ratio, Some(1_000.0));
        // For a time, less than a thousandth of the service time is almost 0.
        let unexplained = |ms: f64| {
            move |report: &mut Report| {
                let profile = TimeProfile { unexplained_ms: ms, ..profile(1.0, 2.0) };
                report.time_profile = Some(profile);
            }
        };
        let (base, other) = (point(0, &unexplained(0.002)), point(1, &unexplained(1.0)));
        let found = figures_of(&[(&base, &other)]);
        let found =
            found.iter().find(|figure| figure.name == "time.unexplained").expect("it changed");
        assert_eq!((found.ratio, found.is_change), (None, true), "{found:?}");
    }
}
