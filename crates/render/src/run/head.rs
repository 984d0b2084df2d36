//! The head of a run's page: title, setup, verdict, validity, and tiles with the main figures.

use analysis::report::{
    Block as Figures, GroupReport, PrimaryMetricReport, Report, SecondReport, Status,
};
use model::numbers::{self, NONE, count, significant};
use model::{Finding, Load, Severity, format_count};

use super::latency::quantile;
use crate::document::{NO_USABLE_CI, Quantity, Text, Tile, Tone, Uncertainty, Value, Verdict};
use crate::list::in_short;
use crate::wording::begun;

/// Words that follow an error estimated from a single run, which says nothing about other runs.
pub(super) const WITHIN: &str = "within this run";

/// Word of the verdict on a run that is still in progress.
const PROVISIONAL: &str = "Provisional figures";

pub(super) fn kind(report: &Report) -> String {
    let status = report.status.name().replace('_', " ");
    let status = match report.status {
        Status::Running => String::new(),
        _ => format!(", {status}"),
    };
    format!("Run{status}, started {}", begun(report.started))
}

/// Returns the title of a run's page: `tpcc on MariaDB 10.11.19`. The plan's name, if it has one,
/// replaces the workload.
pub(super) fn title(report: &Report) -> String {
    let names = [&report.name, &report.workload, &report.run_id];
    let name = names.into_iter().find(|name| !name.is_empty()).cloned().unwrap_or_default();
    match report.database.is_empty() {
        true => name,
        false => format!("{name} on {}", in_short(&report.database)),
    }
}

/// Describes the setup of a run: `4 clients, closed load, measured 30 s`.
pub(super) fn setup(report: &Report) -> String {
    let has_name = !report.name.is_empty() && report.name != report.workload;
    let workload =
        Some(report.workload.clone()).filter(|workload| has_name && !workload.is_empty());
    let clients = count(u64::from(report.clients), "client");
    // For a run in progress, the live view shows the measured time.
    let measured = match report.status {
        Status::Running => None,
        _ => Some(format!("measured {}", numbers::seconds(report.measured_seconds))),
    };
    let parts = workload.into_iter().chain([clients, load(report)]).chain(measured);
    parts.collect::<Vec<_>>().join(", ")
}

/// Describes the load: `open load, 200 arrivals/s`. If groups have different loads, gives the
/// number of groups instead.
pub(super) fn load(report: &Report) -> String {
    match &report.load {
        Some(Load::Open { rate, .. }) => format!("open load, {}", numbers::arrival_rate(rate)),
        Some(Load::Closed) => "closed load".to_owned(),
        Some(load) => numbers::load(load),
        None => count(report.groups.len() as u64, "group"),
    }
}

/// Returns the verdict on a run, without its headline.
pub(super) fn verdict(report: &Report) -> Verdict {
    let n = |severity| {
        report.findings.iter().filter(|finding| finding.severity == severity).count() as u64
    };
    let n_warnings = n(Severity::Warning);
    let with = |word: &str| format!("{word}, with {}", count(n_warnings, "warning"));
    let (tone, word) = match report.status {
        Status::Running => (Tone::Plain, PROVISIONAL.to_owned()),
        Status::Failed => (Tone::Bad, "Failed".to_owned()),
        _ if n(Severity::Invalid) > 0 => (Tone::Bad, "Not valid".to_owned()),
        // Findings are not the reason of an interruption.
        Status::Interrupted if report.reason.is_none() && n_warnings > 0 => {
            (Tone::Warning, with("Interrupted"))
        }
        Status::Interrupted => (Tone::Warning, "Interrupted".to_owned()),
        Status::QueueFull => (Tone::Warning, "Stopped: the queue was full".to_owned()),
        // An infinite p99 from lost transactions stands out from mere uncertainty.
        Status::Completed if n_warnings > 0 => match is_overloaded(report) {
            true => (Tone::Bad, with("Valid")),
            false => (Tone::Warning, with("Valid")),
        },
        Status::Completed => (Tone::Good, "Valid".to_owned()),
    };
    let word = match why(report) {
        Some(why) => format!("{word}: {why}."),
        None => format!("{word}."),
    };
    Verdict { tone, word, headline: Text::default(), details: Vec::new() }
}

/// Returns true if so many transactions were lost that the p99 over all offered transactions, in
/// which lost ones take forever, is infinite.
fn is_overloaded(report: &Report) -> bool {
    of_all_offered(report, "p99").value == Value::Infinite
}

/// Returns the reason why the run ended early, or else its most important finding; `None` if there
/// is neither.
fn why(report: &Report) -> Option<String> {
    let why = report.reason.clone().or_else(|| worst(report))?;
    Some(why.trim_end_matches('.').to_owned())
}

/// Smallest share of lost transactions or time that the verdict mentions.
const CONSEQUENCE_LEAST: f64 = 0.01;

/// Smallest share of lost transactions or time that the verdict on an invalid result mentions.
const MOST_LEAST: f64 = 0.5;

/// Smallest share of time without commits that the verdict mentions.
const STALLED_LEAST: f64 = 0.1;

/// A loss that the verdict on a run mentions, of transactions or of time, as a share of all.
struct Consequence {
    share: f64,
    text: String,
}

/// Describes what most limits the use of the figures: the largest loss of transactions or time, or
/// else the most severe finding. For an invalid result, the finding comes first. `None` if there
/// are only notes.
fn worst(report: &Report) -> Option<String> {
    match (gravest(report)?, consequence(report), gravest_finding(report)) {
        // The reason for an invalid result comes first, followed by the loss.
        (Severity::Invalid, Some(lost), Some(why)) => {
            Some(format!("{}; {lost}", why.trim_end_matches('.')))
        }
        (_, Some(lost), _) => Some(lost),
        (_, None, why) => why,
    }
}

/// Describes the largest loss, as a share of the offered transactions or of the measured time: `12
/// % of the transactions failed`. `None` if it is small, or if there are only notes.
fn consequence(report: &Report) -> Option<String> {
    let gravest = gravest(report)?;
    let least = if gravest == Severity::Invalid { MOST_LEAST } else { CONSEQUENCE_LEAST };
    let all = [dropped(report), failed(report), without_commits(report)];
    let all = all.into_iter().flatten().filter(|one| one.share >= least);
    all.max_by(|a, b| a.share.total_cmp(&b.share)).map(|most| most.text)
}

fn gravest(report: &Report) -> Option<Severity> {
    let all = report.findings.iter().map(|finding| finding.severity);
    all.max().filter(|gravest| *gravest > Severity::Note)
}

fn gravest_finding(report: &Report) -> Option<String> {
    let gravest = gravest(report)?;
    // A debug build matters less than events of the run.
    let worst = report.findings.iter().filter(|finding| finding.severity == gravest);
    let first = worst.min_by_key(|finding| finding.id == "debug_build")?;
    let text = first.observed.as_ref().unwrap_or(&first.text);
    // Further lines are log output.
    Some(begun_lower(text.lines().next()?))
}

fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, 2))
}

/// Returns `n` as a share of the offered transactions.
fn share_of_offered(report: &Report, n: u64) -> f64 {
    n as f64 / report.block.counts.offered.max(1) as f64
}

fn dropped(report: &Report) -> Option<Consequence> {
    let share = share_of_offered(report, report.block.counts.dropped);
    // If clients had time left, the short queue dropped arrivals, and not the system.
    let is_queue = report.findings.iter().any(|finding| finding.id == "queue_too_small");
    let tps = report.block.tps.filter(|_| !is_queue);
    let saturated = tps.map(|tps| numbers::rate(Some(tps)));
    let saturated = saturated.map_or_else(String::new, |tps| format!("; saturated at {tps} TPS"));
    let text = format!("{} of the offered load was dropped{saturated}", percent(share));
    Some(Consequence { share, text })
}

fn failed(report: &Report) -> Option<Consequence> {
    let share = share_of_offered(report, report.block.counts.failed);
    Some(Consequence { share, text: format!("{} of the transactions failed", percent(share)) })
}

/// Describes for how long nothing was committed, and whether the plan or dbdyno itself caused it;
/// `None` if that was short, or no finding reports stalls.
fn without_commits(report: &Report) -> Option<Consequence> {
    let stalls = |finding: &&Finding| finding.id.starts_with("stalled");
    let first = report.findings.iter().find(stalls)?;
    let stalled_s = report.block.stability.stalled_ms / 1e3;
    let share = stalled_s / report.measured_seconds.max(f64::MIN_POSITIVE);
    let is_paused = || report.findings.iter().any(|finding| finding.id == "generator_paused");
    let why = match first.id.as_str() {
        "stalled_at_disturbance" => ", as planned",
        _ if is_paused() => ", in part because dbdyno itself was paused",
        _ => "",
    };
    let time = numbers::seconds(stalled_s);
    if share < STALLED_LEAST {
        return None;
    }
    let text = format!(
        "nothing was committed for {time}, {} of the measured time{why}; TPS includes it",
        percent(share)
    );
    Some(Consequence { share, text })
}

/// Changes the first letter of a sentence to lower case, so that it can follow a colon, unless its
/// first word looks like a name.
fn begun_lower(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    let is_name =
        letters.clone().next().is_none_or(|second| !second.is_lowercase() && second != ' ');
    match first {
        Some(first) if !is_name => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Returns the headline of a run: its main figures, and how it ended unless it completed.
pub(super) fn headline(report: &Report, figures: fn(Text, &Report) -> Text) -> Text {
    let what = if report.workload.is_empty() { &report.name } else { &report.workload };
    let text = figures(Text::from(format!("{what} on {}: ", report.database)), report);
    match ending(report) {
        Some(ending) => text.and(", ").and(ending),
        None => text,
    }
}

/// Formats a primary metric with its error, or followed by `mark` if it has none: `62,856 NOPM ±
/// 2,900`, `62,856 NOPM (no CI)`.
pub(super) fn known_words(value: f64, metric: &PrimaryMetricReport, mark: &str) -> String {
    let quantity = Quantity::rate(Some(value), metric.half_width);
    let (value, error) = (quantity.value(), quantity.error());
    match quantity.error {
        Uncertainty::Unknown if lacks_interval(&quantity) => {
            format!("{value} {}{mark}", metric.title)
        }
        Uncertainty::Unknown => format!("{value} {}", metric.title),
        Uncertainty::HalfWidth(_) if !quantity.is_unusable() => {
            format!("{value} {} {error}", metric.title)
        }
        _ => format!("{value} {} ({error})", metric.title),
    }
}

/// Returns the known primary metrics of a run, each with its value. A metric that several workloads
/// have is left out, since its sum would look like that of one of them.
pub(super) fn known(report: &Report) -> Vec<(f64, &PrimaryMetricReport)> {
    let is_of_several = |name: &str| {
        let counts = |group: &&GroupReport| {
            group.block.as_ref().is_some_and(|block| block.primary_metrics.get(name).is_some())
        };
        let mut workloads = report.groups.iter().filter(counts).map(|group| &group.workload);
        workloads.next().is_some_and(|first| workloads.any(|other| other != first))
    };
    let all = report.block.primary_metrics.iter().filter(|(name, _)| !is_of_several(name));
    all.filter_map(|(_, metric)| Some((metric.value?, metric))).collect()
}

/// Adds TPS with its error to a text, followed by the first mark, such as ` within this run`, or,
/// if it has no error, by the second; in open load also the offered rate.
pub(super) fn tps(text: Text, report: &Report, [error_of, none]: [&str; 2]) -> Text {
    let tps = rate_of(&report.block, "TPS");
    let text = match (tps.value, tps.error) {
        (Value::Unknown, _) => text.and(format!("{NONE} TPS")),
        (_, Uncertainty::Unknown) => {
            let mark = if lacks_interval(&tps) { none } else { "" };
            text.and(tps).and(mark)
        }
        _ if tps.is_unusable() => text.and(tps),
        _ => text.and(tps).and(error_of),
    };
    match offered(report) {
        Some(offered) => text.and("; ").and(offered).and(" offered"),
        None => text,
    }
}

/// Longest run that a page advises for a usable confidence interval, in seconds. A run that would
/// need to be longer is too uneven for any length.
const ADVISED_S_MOST: f64 = 3_600.0;

/// Says which rates and response times have no usable confidence interval, and what to do: `no
/// usable CI of TPS: the error is larger than the value; measure 2m or longer`. `None` if all
/// intervals are usable.
pub(super) fn unusable(report: &Report) -> Option<String> {
    let mut all = vec![("TPS", rate_of(&report.block, ""))];
    let rate = |(value, metric): &(f64, &PrimaryMetricReport)| {
        Quantity::rate(Some(*value), metric.half_width)
    };
    let known = known(report);
    all.extend(known.iter().map(|one| (one.1.title.as_str(), rate(one))));
    let quantiles = ["p50", "p90", "p95", "p99", "p99.9"];
    all.extend(quantiles.iter().map(|title| {
        (*title, of_all_offered(report, if *title == "p99.9" { "p99_9" } else { title }))
    }));
    all.retain(|(_, quantity)| quantity.is_unusable());
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    // The error falls with the square root of the length; it is usable at half of the value.
    let times = all.iter().map(|(_, quantity)| (2.0 * quantity.relative_error()).powi(2));
    let needed_s = times.fold(0.0, f64::max) * report.measured_seconds;
    let longer = match needed_s <= ADVISED_S_MOST {
        true => format!("measure {} or longer", numbers::seconds(numbers::rounded_up(needed_s))),
        false => "find out why the run is so uneven".to_owned(),
    };
    let sentence = format!(
        "{NO_USABLE_CI} of {}: the error is larger than the value; {longer}",
        names.join(", ")
    );
    (!names.is_empty()).then_some(sentence)
}

/// Returns the rate of offered transactions; `None` unless the load is open.
pub(super) fn offered(report: &Report) -> Option<Quantity> {
    let is_open = matches!(report.load, Some(Load::Open { .. })) && report.measured_seconds > 0.0;
    let rate = report.block.counts.offered as f64 / report.measured_seconds;
    is_open.then(|| Quantity::number(rate, 4, ""))
}

/// Returns TPS and the half-width of its confidence interval, with `unit`.
pub(super) fn rate_of(block: &Figures, unit: &'static str) -> Quantity {
    let half_width = block.tps_ci95.as_ref().map(|ci95| ci95.half_width);
    Quantity { unit, ..Quantity::rate(block.tps, half_width) }
}

/// Mark after a figure without a confidence interval.
pub(super) const NO_CI: &str = " (no CI)";

/// Returns true if a figure has a value but no confidence interval. Rates of 0, lower bounds and
/// infinite times need none.
pub(super) fn lacks_interval(quantity: &Quantity) -> bool {
    let is_number = matches!(quantity.value, Value::Known(value) if value > 0.0);
    is_number && quantity.error == Uncertainty::Unknown
}

/// Describes how a run ended early, or that it is still running; `None` if it completed.
pub(super) fn ending(report: &Report) -> Option<String> {
    let why = match report.status {
        Status::Completed => return None,
        Status::Running => return Some("still running".to_owned()),
        Status::Failed => return Some("FAILED".to_owned()),
        Status::QueueFull if report.measured_seconds == 0.0 => {
            return Some("queue full before anything was measured".to_owned());
        }
        Status::QueueFull => "queue full",
        Status::Interrupted => "interrupted",
    };
    let (measured, planned) = (report.measured_seconds, report.phases.measure_s);
    let of_planned = match planned > measured {
        true => format!(" of {}", numbers::seconds(planned)),
        false => String::new(),
    };
    Some(format!("{why} after {}{of_planned}", numbers::seconds(measured)))
}

/// Describes how a run ended, for the beginning of the sentence on its validity. `None` if it
/// completed, or if it failed, which a finding reports.
fn standing(report: &Report) -> Option<String> {
    match report.status {
        Status::Completed | Status::Failed => None,
        Status::Running => Some(PROVISIONAL.to_owned()),
        Status::Interrupted | Status::QueueFull => {
            ending(report).map(|words| numbers::capital(&words))
        }
    }
}

/// Returns the sentence on the validity of a run's result.
pub(super) fn answer(report: &Report) -> String {
    let n = |severity| report.findings.iter().filter(|f| f.severity == severity).count() as u64;
    match (n(Severity::Invalid), n(Severity::Warning)) {
        (0, _) if report.measured_seconds == 0.0 => match report.status {
            Status::Running => "Nothing was measured yet.".to_owned(),
            _ => "Nothing was measured.".to_owned(),
        },
        (0, 0) => match standing(report) {
            Some(standing) => format!("{standing}."),
            None => "Valid: no problem was found.".to_owned(),
        },
        // The findings follow: this sentence only counts them.
        (0, warnings) => {
            let warnings = count(warnings, "warning");
            let standing = standing(report).unwrap_or_else(|| "Valid".to_owned());
            match consequence(report) {
                Some(lost) => format!("{standing}, with {warnings}: {lost}."),
                None => format!("{standing}, with {warnings}."),
            }
        }
        _ => match worst(report) {
            Some(worst) => format!("NOT VALID: {}.", worst.trim_end_matches('.')),
            None => "NOT VALID.".to_owned(),
        },
    }
}

/// Returns the tile with the number of failed, dropped and unfinished transactions.
pub(super) fn errors_tile(report: &Report) -> Tile {
    let counts = &report.block.counts;
    let lost = counts.failed + counts.dropped + counts.unfinished;
    let name = match (counts.failed, counts.dropped, counts.unfinished) {
        (0, 1.., 0) => "dropped",
        (1.., 0, 0) => "failed",
        (0, 0, 1..) => "unfinished",
        (0, 0, 0) => "errors",
        _ => "lost",
    };
    Tile {
        name: name.to_owned(),
        value: Quantity::number(lost as f64, 1, ""),
        note: format!("of {}", format_count(counts.offered)),
        trend: over_time(report, &|row| Some((row.failed + row.dropped) as f64)),
    }
}

/// Returns the figure that `value` takes from each measured second, NaN where it is unknown. Empty
/// if there are several groups, whose figures cannot be added up.
pub(super) fn over_time(report: &Report, value: &dyn Fn(&SecondReport) -> Option<f64>) -> Vec<f64> {
    let measured = report.seconds.iter().filter(|row| row.second >= 0);
    match report.groups.len() {
        1 => measured.map(|row| value(row).unwrap_or(f64::NAN)).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn of_primary_metric((value, metric): (f64, &PrimaryMetricReport)) -> Tile {
    rate_tile(&metric.title, Quantity::rate(Some(value), metric.half_width))
}

pub(super) fn rate_tile(name: &str, value: Quantity) -> Tile {
    let has_error = value.error != Uncertainty::Unknown && !value.is_unusable();
    let note = if has_error { WITHIN } else { "" };
    Tile { name: name.to_owned(), value, note: note.to_owned(), trend: Vec::new() }
}

/// Returns a quantile of response time over all offered transactions, in milliseconds; infinite if
/// too many were lost. If all have finished, it has the confidence interval of finished
/// transactions where the report lacks its own, as before dbdyno 0.1.0.
pub(super) fn of_all_offered(report: &Report, field: &str) -> Quantity {
    let Figures { counts, response_ms, offered_ms, .. } = &report.block;
    let of_finished =
        || response_ms.intervals.get(field).filter(|_| counts.offered == counts.finished);
    let value = quantile(offered_ms, field);
    let interval = offered_ms.intervals.get(field).or_else(of_finished);
    let error = match (value, interval) {
        (Value::Known(_) | Value::AtLeast(_), Some((low, high))) => {
            Uncertainty::Interval(*low, *high)
        }
        _ => Uncertainty::Unknown,
    };
    Quantity { value, error, unit: "ms", digits: 3 }
}

/// Describes the loss that makes a response time infinite, in percent of transactions: `12 % lost`.
pub(super) fn lost(report: &Report) -> String {
    format!("{} % lost", significant(report.block.counts.lost_percent(), 2))
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use model::Disturbed;

    use super::*;

    #[test]
    fn the_banner_names_the_largest_share_of_lost_time_or_work_before_other_warnings() {
        let mut made = Made::closed();
        made.seconds.retain(|second| !(8..36).contains(&second.second));
        made.disturbance(8_000, Some(36_000), Disturbed::Done);
        let mut report = Report::from_tally(&made.tally());
        let text = "Other programs took 38 % of the CPU time.";
        report.findings.insert(0, Finding::new("other_cpu_load", Severity::Warning, text));
        let word = |report: &Report| verdict(report).word;
        assert_eq!(
            word(&report),
            "Valid, with 3 warnings: nothing was committed for 28 s, 47 % of the measured time, as \
             planned; TPS includes it."
        );
        let mut built = Report { findings: Vec::new(), ..report.clone() };
        let text = "dbdyno was built without optimisation.";
        built.findings.push(Finding::new("debug_build", Severity::Warning, text));
        built.findings.push(report.findings[0].clone());
        assert!(word(&built).contains("other programs took 38 %"), "{}", word(&built));
        report.block.counts.dropped = report.block.counts.offered / 10;
        assert!(word(&report).contains("nothing was committed"), "{}", word(&report));
        report.block.counts.dropped = report.block.counts.offered * 6 / 10;
        assert!(
            word(&report).contains("60 % of the offered load was dropped"),
            "{}",
            word(&report)
        );
        // The reason for an invalid result comes before a loss of less than half.
        report.block.counts.dropped = report.block.counts.offered / 10;
        let text = "The data are inconsistent.";
        report.findings.insert(0, Finding::new("checks_failed", Severity::Invalid, text));
        assert_eq!(word(&report), "Not valid: the data are inconsistent.");
    }

    #[test]
    fn a_queue_that_is_too_small_saturates_nothing() {
        let mut report = Report::from_tally(&Made::closed().tally());
        report.block.counts.dropped = report.block.counts.offered * 6 / 10;
        let text = "The queue was full while clients had nothing to do.";
        report.findings = vec![Finding::new("queue_too_small", Severity::Warning, text)];
        let word = verdict(&report).word;
        assert!(word.contains("60 % of the offered load was dropped"), "{word}");
        assert!(!word.contains("saturated"), "{word}");
        report.findings[0].id = "overloaded".to_owned();
        let word = verdict(&report).word;
        assert!(word.contains("60 % of the offered load was dropped; saturated at"), "{word}");
    }
}
