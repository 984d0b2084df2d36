//! The table of results of `cargo xtask peers`: medians, and ratios with their intervals.

use std::path::Path;

use anyhow::Result;
use stats::{Median, median};

use super::Asked;
use super::cases::Case;
use super::measure::Measured;

/// Confidence of the intervals of medians: either end is wrong with a probability of at most 5 %.
const CONFIDENCE: f64 = 0.90;

/// Results of a case with a number of clients, for one variant of dbdyno.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) case: &'static Case,
    pub(super) clients: u32,
    /// Name of the variant of dbdyno: placement of its clients, and the program if there are
    /// several.
    pub(super) ours: String,
    pub(super) server: String,
    pub(super) rounds: Vec<[Measured; 2]>,
}

/// Returns the lines above the table of results: number of rounds, versions, and the machine.
pub(super) fn head(asked: &Asked, dbdyno: &Path) -> Result<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo")?;
    let name = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let name = name.map_or("unknown CPU", |name| name.trim_start_matches([' ', '\t', ':']));
    let n_cores = std::thread::available_parallelism()?;
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let version = std::process::Command::new(dbdyno).arg("--version").output()?;
    Ok(format!(
        "{} rounds of {} s each, interleaved; {}; {name}, {n_cores} cores for generator and \
         server together, Linux {}. TCP over loopback; commits do not wait for the disk.\n",
        asked.rounds,
        asked.seconds,
        String::from_utf8_lossy(&version.stdout).trim(),
        kernel.trim()
    ))
}

/// Formats rows as a Markdown table that compares dbdyno with the other load generator.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut lines = vec![
        "| server | workload | clients | ours | peer | queries/s: peer | ours | ratio | \
         client CPU µs/query: peer | ours | ratio | memory MiB: peer | ours |"
            .to_owned(),
        "| --- | --- | ---: | --- | --- | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: |"
            .to_owned(),
    ];
    lines.extend(rows.iter().map(row));
    lines.join("\n")
}

fn row(row: &Row) -> String {
    let each = |figure: &dyn Fn(&Measured) -> f64, side: usize| {
        let figures: Vec<f64> = row.rounds.iter().map(|round| figure(&round[side])).collect();
        median(&figures, CONFIDENCE).map_or(f64::NAN, |median| median.value)
    };
    let ratio = |figure: &dyn Fn(&Measured) -> f64| {
        let quotient = |round: &[Measured; 2]| figure(&round[1]) / figure(&round[0]);
        let ratios: Vec<f64> = row.rounds.iter().map(quotient).collect();
        median(&ratios, CONFIDENCE).map_or_else(String::new, with_interval)
    };
    let rate: &dyn Fn(&Measured) -> f64 = &Measured::queries_per_s;
    let cpu: &dyn Fn(&Measured) -> f64 = &Measured::cpu_us_per_query;
    let memory: &dyn Fn(&Measured) -> f64 = &|one| one.resident_bytes as f64 / f64::from(1 << 20);
    format!(
        "| {} {} | {} | {} | {} | {} | {:.0} | {:.0} | {} | {:.1} | {:.1} | {} | {:.0} | {:.0} |",
        row.case.place.product(),
        short(&row.server),
        row.case.workload,
        row.clients,
        row.ours,
        row.case.peer.name(),
        each(rate, 0),
        each(rate, 1),
        ratio(rate),
        each(cpu, 0),
        each(cpu, 1),
        ratio(cpu),
        each(memory, 0),
        each(memory, 1),
    )
}

/// Formats rows as a Markdown table that compares each variant of dbdyno with the first one, in the
/// same rounds.
pub(super) fn among_ours(rows: &[Row]) -> String {
    let mut lines = vec![
        "| server | workload | clients | ours | against | ratio of queries/s | of client CPU \
         µs/query |"
            .to_owned(),
        "| --- | --- | ---: | --- | --- | --- | --- |".to_owned(),
    ];
    let is_same = |a: &Row, b: &Row| (a.case, a.clients) == (b.case, b.clients);
    for rows in rows.chunk_by(is_same) {
        let (first, others) = rows.split_first().expect("a chunk has rows");
        lines.extend(others.iter().map(|row| {
            let ratio = |figure: fn(&Measured) -> f64| {
                let pairs = first.rounds.iter().zip(&row.rounds);
                let ratios = pairs.map(|(first, own)| figure(&own[1]) / figure(&first[1]));
                median(&ratios.collect::<Vec<f64>>(), CONFIDENCE)
                    .map_or_else(String::new, with_interval)
            };
            format!(
                "| {} {} | {} | {} | {} | {} | {} | {} |",
                row.case.place.product(),
                short(&row.server),
                row.case.workload,
                row.clients,
                row.ours,
                first.ours,
                ratio(Measured::queries_per_s),
                ratio(Measured::cpu_us_per_query),
            )
        }));
    }
    lines.join("\n")
}

/// Formats a median with its interval, such as `1.06 (1.02 to 1.11)`.
fn with_interval(found: Median) -> String {
    match found.interval {
        Ok((low, high)) => format!("{:.2} ({low:.2} to {high:.2})", found.value),
        Err(_) => format!("{:.2}", found.value),
    }
}

/// Shortens a version, such as `10.11.19-MariaDB-0+deb12u1` to `10.11.19`.
fn short(version: &str) -> &str {
    version.split(['-', ' ']).next().unwrap_or(version)
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::*;

    #[test]
    fn a_row_has_medians_and_ratios_of_rounds() {
        let measured =
            |queries, cpu_s| Measured { queries, seconds: 2.0, cpu_s, resident_bytes: 3 << 20 };
        let round = |n: f64| [measured(100.0 * n, 1.0), measured(200.0 * n, 1.0)];
        let rounds = (1..=5).map(|n| round(f64::from(n))).collect();
        let version = "10.11.19-MariaDB".to_owned();
        let (case, ours) = (&CASES[0], "loop".to_owned());
        let row = Row { case, clients: 8, ours, server: version, rounds };
        let text = markdown(std::slice::from_ref(&row));
        let expect = "| MariaDB 10.11.19 | oltp-point-select | 8 | loop | sysbench oltp_point_select | \
                      150 | 300 | 2.00 (2.00 to 2.00) | 3333.3 | 1666.7 | 0.50 (0.50 to 0.50) | \
                      3 | 3 |";
        assert_eq!(text.lines().last(), Some(expect));
        let twice = row.rounds.iter().map(|[peer, own]| {
            let faster = Measured { queries: own.queries * 2.0, ..*own };
            [*peer, faster]
        });
        let other = Row { ours: "thread".to_owned(), rounds: twice.collect(), ..row.clone() };
        let expect = "| MariaDB 10.11.19 | oltp-point-select | 8 | thread | loop | \
                      2.00 (2.00 to 2.00) | 0.50 (0.50 to 0.50) |";
        assert_eq!(among_ours(&[row, other]).lines().last(), Some(expect));
    }
}
