//! `dbdyno selfcheck`: prints how exact and accurate dbdyno itself is. Not here: the checks
//! (`selfcheck`).

use app::Error;
use clap::{Arg, ArgMatches, Command};
use render::document::{Block, Document};
use render::terminal::LIST_WIDTH;
use render::{Cell, Column, Table};
use selfcheck::{Item, Row, Verdict, coverage, selfcheck as check};
use serde_json::json;

use super::flags::Output;
use super::signals::stop_on_signals;
use super::{DONE, FAILED, Outcome, flags, print_document};
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    Command::new("selfcheck")
        .about("Checks dbdyno itself: exactness, accuracy, overhead and delay")
        .arg(
            Arg::new("seeds")
                .long("seeds")
                .value_name("FIRST..LAST")
                .default_value("1..20")
                .help("Seeds of the simulated runs whose p99 is compared with queueing theory"),
        )
        .subcommand(
            Command::new("intervals")
                .about("Checks on simulated data how often intervals and verdicts are right")
                .arg(
                    Arg::new("runs")
                        .long("runs")
                        .value_name("N")
                        .default_value("60")
                        .value_parser(clap::value_parser!(u32).range(10..=10_000))
                        .help("Simulated runs of each model"),
                )
                .arg(
                    Arg::new("seconds")
                        .long("seconds")
                        .value_name("LIST")
                        .default_value("60")
                        .value_delimiter(',')
                        .value_parser(clap::value_parser!(u32).range(10..=3600))
                        .help("Lengths of the runs, in seconds of virtual time"),
                ),
        )
}

/// Returns true if the arguments make the command print a document, so that it supports all output
/// formats: only `intervals` does.
pub(crate) fn is_document(matches: &ArgMatches) -> bool {
    matches.subcommand_name() == Some("intervals")
}

fn intervals(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let runs = *matches.get_one::<u32>("runs").expect("it has a default");
    let lengths_s: Vec<u32> = matches.get_many("seconds").into_iter().flatten().copied().collect();
    let stop = stop_on_signals(shell);
    let is_text = flags::output_of(matches) == Output::Text;
    let rows = coverage(runs, &lengths_s, &stop, &mut |row| {
        if is_text {
            shell.say(&format!("{}: {}", row.model, row.what));
        }
    })?;
    let is_good = rows.iter().all(|row| row.is_good);
    if flags::is_json(matches) {
        let value = json!({ "schema": "dbdyno.coverage/1", "rows": rows, "good": is_good });
        shell.print(&format!("{value:#}\n"))?;
    } else {
        print_document(&document(&rows, is_good), LIST_WIDTH, matches, shell)?;
    }
    Ok(if is_good { DONE } else { FAILED })
}

fn document(rows: &[Row], is_good: bool) -> Document {
    let mut page = Document::default();
    let words = [
        "'within error': off the target by at most two standard errors of this number of runs; use \
         more runs (--runs) to decide",
        match is_good {
            true => "intervals and verdicts are right as often as they claim",
            false => {
                "intervals or verdicts of a row marked NO are right less often than they \
                      claim"
            }
        },
    ];
    page.section("coverage", "", vec![Block::Table(table(rows)), Block::paragraphs(words)]);
    page
}

fn table(rows: &[Row]) -> Table {
    let columns = [
        Column::sentences("model").key("model"),
        Column::sentences("claim").key("what"),
        Column::words("made", "made of"),
        Column::percent("nominal_percent", "nominal %"),
        Column::count("runs", "runs"),
        Column::count("given", "given"),
        Column::count("counted", "counted"),
        Column::percent("share_percent", "share %"),
        Column::sentences("target").key("target"),
        Column::words("holds", "holds"),
    ];
    let row = |row: &Row| {
        let count = |n: u32| Cell::from(u64::from(n));
        vec![
            row.model.as_str().into(),
            row.what.as_str().into(),
            row.made.into(),
            (100.0 * row.nominal).into(),
            count(row.runs),
            count(row.given),
            count(row.counted),
            row.share().map(|share| 100.0 * share).into(),
            row.target.into(),
            match (row.is_met, row.is_good) {
                (true, _) => "yes",
                (false, true) => "within error",
                (false, false) => "NO",
            }
            .into(),
        ]
    };
    Table::filled("coverage", "", columns, rows.iter().map(row).collect())
}

pub(crate) fn selfcheck(matches: &ArgMatches, shell: &Shell) -> Outcome {
    if let Some(matches) = matches.subcommand_matches("intervals") {
        return intervals(matches, shell);
    }
    let text = matches.get_one::<String>("seeds").expect("it has a default");
    let seeds = text.split_once("..").and_then(|(first, last)| {
        let last = last.trim_start_matches('=');
        Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
    });
    let (first, last) = seeds.filter(|(first, last)| first < last).ok_or_else(|| {
        Error::Usage(format!("--seeds: '{text}' is not FIRST..LAST, such as 1..20"))
    })?;
    let stop = stop_on_signals(shell);
    let is_json = flags::is_json(matches);
    let checked = check(first..=last, &stop, &mut |item| {
        if !is_json {
            // Ignore a closed pipe.
            let _ = shell.print(&item_text(item));
        }
    })?;
    if is_json {
        let value = serde_json::to_value(&checked).expect("figures and words are JSON");
        shell.print(&format!("{value:#}\n"))?;
    } else {
        shell.print(match checked.is_good() {
            true => "the selfcheck found no error in dbdyno\n",
            false => "dbdyno is BROKEN on this machine: do not use its figures\n",
        })?;
    }
    Ok(if checked.is_good() { DONE } else { FAILED })
}

fn item_text(item: &Item) -> String {
    let verdict = match item.verdict {
        Verdict::Good => "good  ",
        Verdict::Missed => "missed",
        Verdict::Broken => "BROKEN",
    };
    let mut text = format!("{verdict}  {}\n", item.what);
    for (name, value) in &item.figures {
        let value = match value.fract() == 0.0 {
            true => model::format_count(*value as u64),
            false => format!("{value:.3}"),
        };
        text += &format!("          {name:<28} {value:>14}\n");
    }
    text + &format!("          target: {}\n", item.target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_coverage_is_markdown_too() {
        let row = Row {
            what: "interval of TPS".to_owned(),
            model: "M/M/4, load 0.8, 60 s".to_owned(),
            made: "whole runs",
            nominal: 0.95,
            runs: 60,
            given: 0,
            counted: 0,
            target: "92 to 98 %",
            is_met: false,
            is_good: false,
        };
        let text = table(&[row]).markdown();
        let last = text.lines().last().expect("a row");
        let cells: Vec<&str> = last.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[..3], ["M/M/4, load 0.8, 60 s", "interval of TPS", "whole runs"]);
        assert_eq!(cells[3..], ["95.0", "60", "0", "0", "–", "92 to 98 %", "NO"]);
    }
}
