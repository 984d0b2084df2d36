//! `dbdyno report`: a run, an experiment, a comparison or a history as a single-file page, or one
//! of its charts.

use app::Error;
use app::compare::{CompareBy, by_its_axis, compare, history};
use app::report_source::ReportSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use render::as_json;
use render::chart_backends::{Drawn, Theme};
use render::charts::{Chart, chart_named};
use render::list::short_id;
use study::history::Question;

use super::compare::{gates, judge, judged};
use super::experiments::{asked_tables, table_flags};
use super::export::STDOUT;
use super::flags::Output;
use super::imported::{imported_flag, imported_of};
use super::output_file::{OutputFile, extension};
use super::page;
use super::stored::store;
use super::{DONE, Outcome, flags};
use crate::shell::Shell;

#[cfg(feature = "pictures")]
/// Pixels of a PNG per CSS pixel: sharp on high-resolution screens and in print.
const PNG_SCALE: f32 = 2.0;
/// Allowed widths and heights of a chart, in CSS pixels.
const SIDES: std::ops::RangeInclusive<u32> = 200..=4_000;

pub(crate) fn command() -> Command {
    Command::new("report")
        .about("Writes an HTML page of a run, experiment, comparison, or a chart")
        .after_help(format!(
            "One name is a run or an experiment, several are compared, the first is the baseline. \
             The page is one file without external resources. A chart is an .svg, {} a .html, or \
             its data as .csv or .json.",
            if cfg!(feature = "pictures") { "a .png," } else { "no .png in this build," }
        ))
        .arg(
            Arg::new("names")
                .num_args(1..)
                .required_unless_present("history")
                .value_name("NAME")
                .help(
                    "A run, an experiment, or the sides of a comparison (see 'dbdyno compare'); \
                     'last' is the newest experiment, or a newer run",
                ),
        )
        .arg(
            Arg::new("file")
                .long("file")
                .short('o')
                .value_name("FILE")
                .help("Output file, overwritten if it exists; - is the standard output"),
        )
        .args(page::flags())
        .arg(Arg::new("chart").long("chart").value_name("NAME").help("Only this chart"))
        .arg(flag("charts", "List the available charts, and write nothing"))
        .arg(
            Arg::new("theme")
                .long("theme")
                .value_parser(["auto", "light", "dark"])
                .default_value("auto")
                .help("Colours of a single chart; auto is light in a PNG"),
        )
        .arg(
            Arg::new("size")
                .long("size")
                .value_name("WIDTHxHEIGHT")
                .default_value("960x480")
                .help("Size of a single chart; a PNG has twice as many pixels"),
        )
        .arg(
            Arg::new("by")
                .long("by")
                .value_name("AXIS")
                .help("Compare the values of this varied parameter (axis) of one experiment"),
        )
        .arg(
            Arg::new("history")
                .long("history")
                .value_name("LABEL")
                .conflicts_with_all(["names", "by"])
                .help("The history of this label's values, such as build"),
        )
        .args(judged())
        .arg(limit_flag())
        .args(table_flags().map(|flag| flag.conflicts_with_all(["history", "by", "chart"])))
        .arg(imported_flag())
}

/// Creates the flag for limits whose results begin the page of a comparison.
fn limit_flag() -> Arg {
    Arg::new("fail_if")
        .long("fail-if")
        .action(ArgAction::Append)
        .value_name("LIMIT")
        .conflicts_with("history")
        .help(
            "The page of a comparison begins with the result of this limit, as that of 'dbdyno \
             compare' does: \"p99>+5%\"",
        )
}

pub(crate) fn report(matches: &ArgMatches, shell: &Shell) -> Outcome {
    if flags::output_of(matches) != Output::Text {
        let why = "--output: a report is a page: name its file with -o; 'dbdyno runs export', \
                   'compare' and 'experiments show' write JSON";
        return Err(Error::Usage(why.to_owned()));
    }
    let file = matches.get_one::<String>("file");
    if file.is_none() && !matches.get_flag("charts") {
        return Err(Error::Usage(no_file(shell)));
    }
    let source = source(matches, shell)?;
    if matches.get_flag("charts") {
        let line = |chart: &Chart| format!("{:<24}  {}\n", chart.id, chart.title);
        return shell.print(&source.charts().iter().map(line).collect::<String>());
    }
    let name = file.expect("checked above");
    let file = match name.as_str() {
        STDOUT => None,
        name => Some(OutputFile::named(name, matches, shell)?),
    };
    let bytes = match matches.get_one::<String>("chart") {
        Some(chart_name) => chart(&source, chart_name, name, matches)?,
        None => {
            is_page(name)?;
            page::of_source(&source, matches)?.into_bytes()
        }
    };
    match file {
        Some(file) => {
            file.write(&bytes)?;
            let what = match matches.get_one::<String>("chart") {
                Some(chart_name) => format!("the chart {chart_name}"),
                None => format!("the page of {}", named_source(&source)),
            };
            shell.say(&format!("{name}: {what}, {}", model::numbers::bytes(bytes.len() as u64)));
            Ok(DONE)
        }
        None => shell.print_bytes(&bytes),
    }
}

/// Names what a page is about: `run 01a2003e`, `experiment clients`.
fn named_source(source: &ReportSource) -> String {
    match source {
        ReportSource::Run(report) => format!("run {}", short_id(&report.run_id)),
        ReportSource::Experiment(of) => format!("experiment {}", short_id(&of.report.id)),
        ReportSource::Seek(report) => format!("search {}", short_id(&report.id)),
        ReportSource::Tune(report) => format!("tuning {}", short_id(&report.id)),
        ReportSource::Comparison(report, ..) => render::comparison_title(report),
        ReportSource::History(report) => format!("the history of {}", report.by),
    }
}

fn source(matches: &ArgMatches, shell: &Shell) -> Result<ReportSource, Error> {
    let store = store(matches, shell)?;
    let gates = gates(matches)?;
    let mut judge = judge(matches)?;
    judge.also = gates.iter().map(|gate| gate.figure.clone()).collect();
    let compared = |asked: &CompareBy| {
        let report = compare(&store, asked, &judge)?;
        let held: Result<Vec<_>, String> = gates.iter().map(|gate| gate.hold(&report)).collect();
        let held = held.map_err(|why| Error::Usage(format!("--fail-if: {why}")))?;
        ReportSource::of_comparison(&store, report, held)
    };
    let imported = imported_of(&store, matches)?;
    if let Some(label) = matches.get_one::<String>("history") {
        let question = Question { imported, ..Question::new(label, judge) };
        return Ok(ReportSource::History(Box::new(history(&store, &question)?)));
    }
    let names = matches.get_many::<String>("names").into_iter().flatten();
    let names: Vec<String> = names.cloned().collect();
    match (matches.get_one::<String>("by"), &names[..]) {
        (None, _) if !gates.is_empty() => {
            let asked = by_its_axis(&store, &CompareBy::Sides(names))?;
            compared(&asked)?.with_imported(imported)
        }
        (None, _) => {
            let source = ReportSource::named(&store, &names, &judge)?;
            let figure = judge.primary.as_deref();
            let has_own_figure = matches!(
                source,
                ReportSource::Run(_) | ReportSource::Seek(_) | ReportSource::Tune(_)
            );
            if has_own_figure && figure.is_some() {
                let why = "--figure is for experiments, comparisons and histories";
                return Err(Error::Usage(why.to_owned()));
            }
            source.with_tables(&store, figure, asked_tables(matches))?.with_imported(imported)
        }
        (Some(axis), [experiment]) => {
            let asked = CompareBy::Axis { experiment: experiment.clone(), axis: axis.clone() };
            compared(&asked)?.with_imported(imported)
        }
        (Some(_), _) => {
            let why = "--by compares within one experiment: name one";
            Err(Error::Usage(why.to_owned()))
        }
    }
}

/// Returns the error for a missing `-o`, with the whole command to type.
fn no_file(shell: &Shell) -> String {
    format!("the output file is missing: '{}'", shell.again("-o report.html"))
}

/// Checks that an output file can be an HTML page. Fails if its name has another extension; accepts
/// a name without one.
fn is_page(file: &str) -> Result<(), Error> {
    match extension(file).as_str() {
        "html" | "htm" | "" => Ok(()),
        _ => Err(Error::Usage(format!(
            "-o {file}: a report is HTML: name it .html, or one of its charts with --chart \
             (--charts lists them)"
        ))),
    }
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

#[cfg(feature = "pictures")]
fn png(chart: &Chart, drawn: Drawn) -> Result<Vec<u8>, Error> {
    chart.to_png(drawn, PNG_SCALE).map_err(Error::Failed)
}

#[cfg(not(feature = "pictures"))]
fn png(_: &Chart, _: Drawn) -> Result<Vec<u8>, Error> {
    let why = "this dbdyno was built without PNG: name the file .svg, or build dbdyno with \
               --features pictures";
    Err(Error::Usage(why.to_owned()))
}

/// Returns a single chart, drawn in the format that the extension of the output file names; as SVG
/// without an extension.
fn chart(
    source: &ReportSource,
    name: &str,
    file: &str,
    matches: &ArgMatches,
) -> Result<Vec<u8>, Error> {
    let charts = source.charts();
    let chart = chart_named(&charts, name)
        .map_err(|why| Error::Usage(format!("--chart {name}: {why} (--charts lists them)")))?;
    let drawn = drawn(matches)?;
    Ok(match extension(file).as_str() {
        "png" => png(chart, drawn)?,
        "html" | "htm" => page::of_chart(chart, matches)?.into_bytes(),
        "csv" => chart.to_csv().into_bytes(),
        "json" => as_json(chart).into_bytes(),
        "svg" | "" => chart.to_svg(drawn).into_bytes(),
        other => {
            return Err(Error::Usage(format!(
                "-o {file}: a chart is an svg, png, html, csv or json, and no {other}"
            )));
        }
    })
}

fn drawn(matches: &ArgMatches) -> Result<Drawn, Error> {
    let theme = match matches.get_one::<String>("theme").map(String::as_str) {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => Theme::Auto,
    };
    let size = matches.get_one::<String>("size").expect("it has a default");
    let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
    let sides = size.split_once('x').and_then(|(w, h)| Some((side(w)?, side(h)?)));
    let Some((width, height)) = sides else {
        let (least, most) = (SIDES.start(), SIDES.end());
        return Err(Error::Usage(format!(
            "--size {size}: write it as 960x480, each from {least} to {most}"
        )));
    };
    Ok(Drawn { width, height, theme })
}
