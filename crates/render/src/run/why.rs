//! The section on where time goes: the parts of a transaction's time, dips of throughput with their
//! causes, and the server's own summaries by statement, wait and table.
//!
//! Not here: how the parts are computed (analysis).

use analysis::findings::replicas::is_replica;
use analysis::report::{
    Dip, DisturbanceReport, Moved, OUTSIDE_SERVICE, Report, SAMPLES_LEAST, TimePart, TimeProfile,
    is_of_samples,
};
use model::numbers::{NONE, amount, capital, count, duration, seconds, significant};
use model::{Load, NS_PER_MS, NS_PER_S, ServerSummary, SummaryOf};

use crate::document::{Block, Length, Place, Section};
use crate::table::{Align, Cell, Column, Table};
use crate::wording::{roughly, to_one_digit};

/// Largest number of rows of a server's summary that is short enough to be printed on paper; a
/// longer one stays folded there.
const ROWS_MAX: usize = 10;

/// Smallest overlap of the parts of the service time at which the page calls the split rough. The
/// overlap is what the parts add up to beyond the service time, as a share of it.
const OVERLAP_LEAST: f64 = 0.1;

/// Smallest overlap of the parts of the service time at which a run's first page calls the split
/// rough. The overlap is what the parts add up to beyond the service time, as a share of it.
const OVERLAP_MOST: f64 = 0.25;

/// Smallest share of the service time that all smaller parts must have together for the first page
/// to name them as `others`.
const OTHERS_LEAST: f64 = 0.005;

/// Smallest share of the service time for a part to be listed; smaller parts are left out.
const SHARE_MIN: f64 = 0.0005;

pub(super) fn section(report: &Report) -> Section {
    let mut blocks = Vec::new();
    let is_few = n_samples_if_few(report).is_some();
    let connecting_ms = report.block.new_connections_ms.as_ref().and_then(|times| times.mean);
    blocks.extend(report.time_profile.as_ref().map(|split| profile(split, connecting_ms, is_few)));
    let remarks = report.time_profile.iter().flat_map(|split| {
        [few_samples(report), overlap(split), within_cpu_time(split), as_planned(report)]
    });
    blocks.push(Block::paragraphs(
        remarks
            .flatten()
            .chain(connecting(report))
            .chain(replicas(report).into_iter().map(|words| format!("Replica: {words}"))),
    ));
    let no_profile = report.time_profile_reason.as_ref();
    blocks.extend(no_profile.map(|why| Block::paragraphs([format!("Not shown: {why}.")])));
    // Without gauges there is no cause to show.
    let told = if report.gauges.is_empty() { &[] } else { report.dips.as_slice() };
    blocks.extend(dips(told));
    blocks.extend(report.server.iter().map(|summary| of_server(report, summary)));
    let section = Section::new("why", "Where the time goes", blocks);
    let meaning = report.time_profile.as_ref().map(|profile| {
        // While the run is in progress, they are of the last seconds, but the profile is of the
        // whole run.
        let mut all = report.server.iter().filter(|_| !is_so_far(report));
        let samples = all.find(|summary| summary.of == SummaryOf::Samples);
        let asked = samples.and_then(|summary| summary.source.split_once(", "));
        let asked = asked.map(|(_, times)| format!(" ({times})")).unwrap_or_default();
        format!(
            "mean times of {}, from samples of the server's sessions{asked}, CPU clocks and probes",
            count(profile.transactions, "transaction")
        )
    });
    let where_drawn = if meaning.is_some() { Place::Early } else { Place::InOrder };
    Section { note: meaning.unwrap_or_default(), where_drawn, ..section }
}

/// Describes the `most` largest parts of a transaction's mean time in a line; `None` if the time
/// was not split.
pub(super) fn shortly(report: &Report, most: usize) -> Option<String> {
    let profile = report.time_profile.as_ref()?;
    let mut parts: Vec<_> = profile.parts.iter().collect();
    let is_few = n_samples_if_few(report).is_some();
    let is_rough = |part: &TimePart| is_few && is_of_samples(&part.name);
    let percent = |part: &TimePart| 100.0 * part.ms / profile.service_ms;
    // In the order of the shares as they are shown.
    let shown_percent = |part: &TimePart| match is_rough(part) {
        true => to_one_digit(percent(part)),
        false => as_shown(percent(part)),
    };
    parts.sort_by(|a, b| shown_percent(b).total_cmp(&shown_percent(a)));
    let shown = parts.iter().take(most).filter(|part| part.ms / profile.service_ms >= SHARE_MIN);
    let shown = shown.map(|part| (part.title(), shown_percent(part), is_rough(part)));
    let shown = adding_up(shown.collect(), is_few);
    let shown: Vec<String> = shown
        .iter()
        .map(|(title, percent, is_rough)| {
            let mark = if *is_rough { "≈" } else { "" };
            format!("{title} {mark}{} %", significant(*percent, 2).trim_end_matches(".0"))
        })
        .collect();
    let mean_ms = significant(profile.service_ms, 3);
    let few = n_samples_if_few(report).map(|n| format!("{} of sessions", count(n, "sample")));
    let overlap = Some(overlap_of(profile)).filter(|share| *share > OVERLAP_MOST);
    let overlap = overlap.map(|share| format!("{} % overlap", significant(100.0 * share, 2)));
    let rough: Vec<String> = few.into_iter().chain(overlap).collect();
    let rough = match rough.is_empty() {
        true => String::new(),
        false => format!("; a rough estimate: {}", rough.join(", ")),
    };
    Some(format!("{}, of a mean of {mean_ms} ms{rough}", shown.join(", ")))
}

/// Rounds a percentage as it is shown.
fn as_shown(percent: f64) -> f64 {
    significant(percent, 2).parse().unwrap_or(percent)
}

/// A part of a transaction's time: its title, its share in percent, and whether that is rough.
type Share<'t> = (&'t str, f64, bool);

/// Adds the share of all other parts, so that the shares as they are shown add up to 100 %. If they
/// already exceed it, because some are rounded to one digit, the largest of these gives way.
fn adding_up(mut shown: Vec<Share<'_>>, is_few: bool) -> Vec<Share<'_>> {
    let rest = 100.0 - shown.iter().map(|(_, percent, _)| percent).sum::<f64>();
    if rest >= 100.0 * OTHERS_LEAST {
        shown.push(("others", as_shown(rest), is_few));
    } else {
        let rough = shown.iter_mut().filter(|(_, _, is_rough)| *is_rough);
        if let Some((_, percent, _)) = rough.max_by(|a, b| a.1.total_cmp(&b.1)) {
            *percent += rest;
        }
    }
    shown
}

/// Returns the number of samples of the server's sessions, if they are too few for an exact split;
/// else `None`.
fn n_samples_if_few(report: &Report) -> Option<u64> {
    report.session_samples().filter(|n| *n < SAMPLES_LEAST)
}

/// Formats a number with `digits` significant digits, or with one and a `≈` before it if it is
/// rough.
fn rough_or(value: f64, digits: usize, is_rough: bool) -> String {
    match is_rough {
        true => roughly(value),
        false => significant(value, digits),
    }
}

/// Returns a warning that the split of a transaction's time is rough, because the server's sessions
/// were sampled only a few times; `None` if there are enough samples.
fn few_samples(report: &Report) -> Option<String> {
    let n = n_samples_if_few(report)?;
    let error = significant(100.0 * 0.5 / (n.max(1) as f64).sqrt(), 1);
    Some(format!(
        "Rough: {} of sessions stand behind it, so that a share of 50 % has a standard error of \
         about {error} %. Measure longer.",
        count(n, "sample")
    ))
}

/// Explains that the network has no part of the time, since the CPU time of both sides is as long
/// as a probe's round trip. `None` if the network has a part.
fn within_cpu_time(profile: &TimeProfile) -> Option<String> {
    let is_within = |part: &TimePart| part.name == "network" && part.ms == 0.0;
    profile.parts.iter().any(is_within).then(|| {
        "The network has no part: round trips of the probes took no longer than the CPU time of \
         both sides, which is counted apart."
            .to_owned()
    })
}

/// Describes how long clients took to connect before their transactions, and which other figures
/// include it; `None` if they kept their connections.
pub(super) fn connecting(report: &Report) -> Option<String> {
    let times = report.block.new_connections_ms.as_ref()?;
    let quantile = |field| {
        let value = times.get(field)?;
        Some(format!("{field} {}", significant(value, 3)))
    };
    let mut parts: Vec<String> = ["p50", "p95", "p99"].into_iter().filter_map(quantile).collect();
    parts.extend(times.max.map(|max| format!("max {} ms", significant(max, 3))));
    let within = match report.load {
        Some(Load::Closed) => "not in the latency",
        Some(_) => "in the latency, as wait",
        None => "in the latency, as wait, unless the load is closed",
    };
    let connections = count(times.count, "new connection");
    Some(format!("{connections}: {}, {within}", parts.join(", ")))
}

/// Describes for each replica that clients used how far it was behind the run's target: `lag mean
/// 1.2 ms, max 35 ms (postgres://...)`.
pub(super) fn replicas(report: &Report) -> Vec<String> {
    let all = report.facts.iter().filter(|(about, _)| is_replica(about));
    let described = all.filter_map(|(about, facts)| {
        let target = facts.get("target")?;
        let lag = report.gauges.iter().find(|gauge| gauge.about == *about && gauge.name == "lag");
        let measured = lag.and_then(|gauge| gauge.mean.zip(gauge.max));
        let why = || report.facts.get("monitor")?.get(&format!("{about}_lag"));
        let lag = match (measured, why()) {
            (Some((mean, max)), _) => {
                let [mean, max] = [mean, max].map(|ms| duration((ms * NS_PER_MS as f64) as u64));
                format!("lag mean {mean}, max {max}")
            }
            (None, Some(why)) => format!("lag {why}"),
            (None, None) => "lag not read".to_owned(),
        };
        Some(format!("{lag} ({target})"))
    });
    described.collect()
}

/// Returns the table of the parts of a transaction's mean time, and the mean time to connect before
/// it. `is_few` marks parts estimated from too few samples as rough.
fn profile(profile: &TimeProfile, connecting_ms: Option<f64>, is_few: bool) -> Block {
    let mut table = Table::new([
        Column::new("part of a transaction", Align::Left),
        Column::new("ms", Align::Right),
        Column::new("share", Align::Right),
    ]);
    let share = |ms: f64| ms / profile.service_ms;
    let percent = |ms: f64, is_rough| format!("{} %", rough_or(100.0 * share(ms), 2, is_rough));
    for part in profile.parts.iter().filter(|part| share(part.ms) >= SHARE_MIN) {
        let is_rough = is_few && is_of_samples(&part.name);
        table.row([
            Cell::from(part.title()),
            Cell::said(rough_or(part.ms, 3, is_rough), Some(part.ms)),
            Cell::said(percent(part.ms, is_rough), Some(share(part.ms))),
        ]);
    }
    // If the parts sum up to the whole, only a rounding error remains.
    let rest = profile.unexplained_ms;
    if share(rest).abs() >= SHARE_MIN {
        table.row([
            Cell::from("unexplained"),
            Cell::said(rough_or(rest, 2, is_few), Some(rest)),
            Cell::said(percent(rest, is_few), Some(share(rest))),
        ]);
    }
    table.row([
        Cell::from("service time"),
        Cell::said(significant(profile.service_ms, 3), Some(profile.service_ms)),
        Cell::said("100 %", Some(1.0)),
    ]);
    if let Some(ms) = connecting_ms {
        table.row([
            Cell::from(format!("{OUTSIDE_SERVICE}connecting before it")),
            Cell::said(significant(ms, 3), Some(ms)),
            Cell::from(""),
        ]);
    }
    for part in profile.beside.iter().filter(|part| share(part.ms) >= SHARE_MIN) {
        table.row([
            Cell::from(format!("{OUTSIDE_SERVICE}{}", part.title())),
            Cell::said(rough_or(part.ms, 3, is_few && is_of_samples(&part.name)), Some(part.ms)),
            Cell::from(""),
        ]);
    }
    Block::Table(table)
}

/// Explains that planned disturbances held up transactions, so that the mean times include waiting
/// for them; `None` if none lowered the rate.
fn as_planned(report: &Report) -> Option<String> {
    let fell = report.disturbances.iter().filter(|disturbance| disturbance.fell == Some(true));
    let one = |disturbance: &DisturbanceReport| {
        let took = disturbance
            .ended_s
            .map(|ended_s| format!(" for {}", seconds(ended_s - disturbance.began_s)));
        format!(
            "'{}' at {}{}",
            disturbance.name,
            seconds(disturbance.began_s),
            took.unwrap_or_default()
        )
    };
    let all: Vec<String> = fell.map(one).collect();
    let (first, more) = (all.first()?, all.len() as u64 - 1);
    let more =
        if more > 0 { format!(" and {}", count(more, "disturbance")) } else { String::new() };
    Some(format!(
        "The means include {first}{more}, as planned: what clients waited for then is within these \
         parts and has none of its own. A run without it has the usual parts."
    ))
}

/// Returns how much the parts of the service time overlap: what they add up to beyond the service
/// time, as a share of it.
fn overlap_of(profile: &TimeProfile) -> f64 {
    profile.beside.iter().map(|part| part.ms).sum::<f64>() / profile.service_ms
}

/// Returns a warning that the parts of a transaction's time overlap too much for an exact split;
/// `None` if they do not.
fn overlap(profile: &TimeProfile) -> Option<String> {
    let share = overlap_of(profile);
    (share > OVERLAP_LEAST).then(|| {
        format!(
            "The measured parts add up to {} % of the service time: they were scaled down to fit, \
             and the surplus stands below as 'outside the service time'. Read CPU and waiting for a \
             CPU as rough figures, or measure where CPUs are idle.",
            significant(100.0 * (1.0 + share), 3)
        )
    })
}

/// Returns the table of dips of throughput, with their causes; `None` if there are none.
fn dips(all: &[Dip]) -> Option<Block> {
    let mut table = Table::new([
        Column::new("dip at s", Align::Right),
        Column::new("TPS", Align::Right),
        Column::new("p95", Align::Right),
        Column::sentences("with it"),
    ]);
    for dip in all {
        let times = |ratio: Option<f64>| {
            let words = ratio.map(|ratio| format!("×{}", significant(ratio, 2)));
            Cell::said(words.unwrap_or_else(|| NONE.to_owned()), ratio)
        };
        let rate = times(dip.rate_ratio);
        table.row([Cell::from(dip.seconds()), rate, times(dip.p95_ratio), with_it(dip).into()]);
    }
    (!table.is_empty()).then_some(Block::Table(table))
}

/// Describes events in a dip (seconds of low throughput or long response times): its longest
/// transaction, the one cause that finding and chart name, too, and other gauges that changed.
fn with_it(dip: &Dip) -> String {
    let change = |moved: &Moved| {
        let formatted = |value| amount(value, &moved.unit);
        format!("{} {} to {}", moved.gauge, formatted(moved.usual), formatted(moved.then))
    };
    let cause = |seen: &analysis::report::CauseSeen| {
        format!(
            "{} ({}, as high by chance in {} % of intervals as long)",
            dip.words(seen.cause),
            change(&seen.shown_by),
            significant(100.0 * seen.chance, 2)
        )
    };
    let first = dip.causes.first();
    let others = dip.causes.iter().skip(1).map(|seen| &seen.shown_by);
    let is_new = |moved: &&Moved| dip.causes.iter().all(|seen| seen.shown_by.gauge != moved.gauge);
    let moved: Vec<String> = others.chain(dip.moved.iter().filter(is_new)).map(change).collect();
    let longest = dip.longest_ms.map(|ms| format!("a transaction of {}; ", seconds(ms / 1e3)));
    longest.unwrap_or_default() + &what_moved(dip, first.map(cause), &moved)
}

fn what_moved(dip: &Dip, cause: Option<String>, moved: &[String]) -> String {
    match (cause, moved) {
        (None, []) if dip.seconds_lacking() > 0 => format!(
            "too few seconds to compare with: run at least {} s longer",
            dip.seconds_lacking()
        ),
        (None, []) => "nothing else that is read moved".to_owned(),
        (None, moved) => format!("cause unknown; with it: {}", moved.join(", ")),
        (Some(cause), []) => cause,
        (Some(cause), moved) => format!("{cause}; also {}", moved.join(", ")),
    }
}

/// Returns the title of a table that shows one of the server's own statistics, such as waits or
/// rows by table.
fn title(summary: SummaryOf) -> &'static str {
    match summary {
        SummaryOf::Statements => "top statements of the server",
        SummaryOf::Waits => "waits that the server counts",
        SummaryOf::Samples => "what the server's sessions did",
        SummaryOf::Locks => "table locks (row locks are among what the server's sessions did)",
        SummaryOf::Tables => "rows by table",
        SummaryOf::Connections => "reads and writes on client connections",
    }
}

/// Returns true if the run is still in progress, so that the server's statistics cover its last
/// seconds only.
fn is_so_far(report: &Report) -> bool {
    report.elapsed_seconds.is_none()
}

/// Returns the folded table of one of the server's own statistics, with amounts per transaction
/// unless the run is in progress.
fn of_server(report: &Report, summary: &ServerSummary) -> Block {
    let mut columns = Vec::new();
    let has_states = summary.rows.iter().any(|row| row.state.is_some());
    if has_states {
        columns.push(Column::new("state", Align::Left));
    }
    columns.push(Column::new("of", Align::Left));
    let sums = summary.columns.iter().map(|column| column.name.replace('_', " "));
    columns.extend(sums.map(|name| Column::new(name, Align::Right)));
    let is_so_far = is_so_far(report);
    let commits = report.block.tps.map(|tps| tps * summary.seconds());
    let first_unit = summary.columns.first().map_or("", |column| column.unit.as_str());
    if !is_so_far {
        columns.push(Column::new("per transaction", Align::Right));
    }
    let mut table = Table::new(columns);
    for row in summary.rows.iter().chain(&summary.others) {
        let mut cells = Vec::new();
        if has_states {
            cells.push(Cell::from(row.state.as_deref().unwrap_or("")));
        }
        cells.push(Cell::from(if row.what.is_empty() { NONE } else { row.what.as_str() }));
        for (value, column) in row.values.iter().zip(&summary.columns) {
            cells.push(Cell::said(amount(*value, &column.unit), Some(*value)));
        }
        let each = commits.filter(|n| *n > 0.0).zip(row.values.first());
        let each = each.map(|(commits, value)| value / commits);
        let words = match each {
            Some(each) if first_unit == "s" => format!("{} ms", significant(each * 1e3, 3)),
            Some(each) => significant(each, 3),
            None => NONE.to_owned(),
        };
        if !is_so_far {
            cells.push(Cell::said(words, each));
        }
        table.row(cells);
    }
    let seconds = if is_so_far {
        format!("last {} s", summary.seconds().round())
    } else {
        format!("{} s", (summary.to_ns - summary.from_ns) / NS_PER_S as i64)
    };
    let title = format!("{} ({}, {seconds})", capital(title(summary.of)), summary.source);
    let length = if summary.rows.len() > ROWS_MAX { Length::Long } else { Length::Short };
    Block::details(title, length, vec![Block::Table(table)])
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use analysis::report::{Cause, CauseSeen};

    use super::*;
    use crate::document::Document;

    /// Returns a run with `n_samples` samples of the server's sessions, and a time split that
    /// overlaps by `beside_ms`.
    fn with_profile(n_samples: u32, beside_ms: f64) -> Report {
        let part = |name: &str, ms: f64| TimePart { name: name.to_owned(), ms };
        let mut report = Report::from_tally(&Made::closed().tally());
        report.time_profile = Some(TimeProfile {
            service_ms: 4.0,
            transactions: 1_000,
            parts: vec![part("network", 0.0), part("server_cpu", 1.0), part("commit", 3.0)],
            unexplained_ms: 1e-12,
            beside: vec![part("server_cpu", beside_ms)],
        });
        report.server = vec![ServerSummary {
            of: SummaryOf::Samples,
            source: ServerSummary::source_of_samples(n_samples, n_samples),
            from_ns: 0,
            to_ns: 1,
            columns: Vec::new(),
            rows: Vec::new(),
            others: None,
        }];
        report
    }

    #[test]
    fn few_samples_and_much_overlap_make_a_rough_split_and_the_line_says_so() {
        let rough = |n_samples, beside_ms| {
            let line = shortly(&with_profile(n_samples, beside_ms), 2).expect("a profile");
            line.split_once(" a mean of 4.00 ms").unwrap_or_else(|| panic!("{line}")).1.to_owned()
        };
        assert_eq!(rough(30, 0.0), "");
        assert_eq!(rough(29, 0.0), "; a rough estimate: 29 samples of sessions");
        assert_eq!(rough(30, 1.0), "");
        assert_eq!(rough(30, 1.2), "; a rough estimate: 30 % overlap");
        assert_eq!(rough(25, 1.2), "; a rough estimate: 25 samples of sessions, 30 % overlap");
    }

    #[test]
    fn the_parts_of_the_line_add_up() {
        let line = |most| shortly(&with_profile(30, 0.0), most).expect("a profile");
        assert_eq!(line(1), "server: committing (log) 75 %, others 25 %, of a mean of 4.00 ms");
        let both = "server: committing (log) 75 %, server: CPU 25 %, of a mean of 4.00 ms";
        assert_eq!(line(2), both);
    }

    #[test]
    fn shares_add_up_to_all_however_they_are_rounded() {
        let mut rng = model::Rng::new(3, model::Stream::Order, 0);
        let reports = [20, 40].map(|n_samples| with_profile(n_samples, 0.0));
        for nth in 0..1_000 {
            let mut report = Report { seconds: Vec::new(), ..reports[nth % 2].clone() };
            let profile = report.time_profile.as_mut().expect("a profile");
            let names = ["network", "server_cpu", "commit", "lock", "io", "latch", "client_cpu"];
            let ms = names.map(|_| (rng.bits() % 1_000) as f64 / 100.0 + 0.01);
            profile.parts = names
                .iter()
                .zip(ms)
                .map(|(name, ms)| TimePart { name: (*name).to_owned(), ms })
                .collect();
            profile.service_ms = ms.iter().sum();
            let line = shortly(&report, 4).expect("a profile");
            let shares = line.split(" %").map(|part| part.rsplit([' ', '≈']).next());
            let shares: Vec<f64> = shares.filter_map(|share| share?.parse().ok()).collect();
            let sum: f64 = shares.iter().sum();
            assert!((sum - 100.0).abs() <= 1.0, "{sum}: {line}");
        }
    }

    #[test]
    fn a_network_without_time_of_its_own_is_explained_and_no_part_of_nothing_is_shown() {
        let page = |report: &Report| {
            let mut document = Document::new("Run", "x");
            document.sections.push(section(report));
            let text = crate::terminal::text(&document, &Default::default());
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text = page(&with_profile(16, 0.0));
        assert!(text.contains("The network has no part: round trips of the probes"), "{text}");
        assert!(!text.contains("network and system calls"), "{text}");
        assert!(!text.contains("unexplained"), "{text}");
        assert!(text.contains("Rough: 16 samples of sessions"), "{text}");
        assert!(text.contains("committing (log) ≈3 ≈80 %"), "{text}");
        assert!(text.contains("server: CPU 1.00 25 %"), "a clock counts it: {text}");
        assert!(text.contains("standard error of about 13 %"), "{text}");
        let mut report = with_profile(100, 0.0);
        report.time_profile.as_mut().expect("a profile").parts[0].ms = 0.5;
        let text = page(&report);
        assert!(text.contains("network and system calls") && !text.contains("no part"), "{text}");
        assert!(!text.contains("Rough") && text.contains("committing (log) 3.00 75 %"), "{text}");
    }

    #[test]
    fn a_dip_has_one_cause_and_other_evidence_is_among_what_moved() {
        let moved = |gauge: &str| Moved {
            gauge: gauge.to_owned(),
            unit: String::new(),
            usual: 1.0,
            then: 4.0,
        };
        let seen =
            |cause, gauge| CauseSeen { cause, shown_by: moved(gauge), share: 0.3, chance: 0.02 };
        let dip = Dip {
            from_s: 9,
            to_s: 12,
            rate_ratio: Some(0.04),
            p95_ratio: None,
            longest_ms: None,
            causes: vec![seen(Cause::Disk, "disk"), seen(Cause::OtherCpuLoad, "others")],
            moved: vec![moved("others"), moved("rows")],
            n_stretches: Some(40),
            deadlocks: 0,
            locked: None,
        };
        let words = with_it(&dip);
        assert!(
            words.starts_with("sessions waited for the log or data files (disk) (disk "),
            "{words}"
        );
        assert!(words.ends_with("; also others 1 to 4, rows 1 to 4"), "{words}");
    }

    #[test]
    fn that_nothing_moved_is_said_only_where_there_is_something_to_compare_with() {
        let with = |n_stretches| {
            with_it(&Dip {
                from_s: 9,
                to_s: 12,
                rate_ratio: Some(0.04),
                p95_ratio: None,
                longest_ms: None,
                causes: Vec::new(),
                moved: Vec::new(),
                n_stretches,
                deadlocks: 0,
                locked: None,
            })
        };
        assert_eq!(with(Some(9)), "nothing else that is read moved");
        assert_eq!(with(None), with(Some(9)), "an old report");
        let few = "too few seconds to compare with: run at least 1 s longer";
        assert_eq!(with(Some(8)), few);
    }
}
