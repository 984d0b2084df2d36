//! Parts of a run's report as separate tables, for programs too: figures, timing by transaction
//! type and client, the transaction counter, configuration, and the server's settings.
//!
//! Not here: the page of a run (run), and how figures are computed (analysis).

mod parts;

use analysis::Tally;
use analysis::figures::{NamedFigure, all_of, direction};
use analysis::report::{GroupReport, Report};
use analysis::tally::Quantiles;
use model::numbers::{self, exact};
use model::{FactValue, NS_PER_S};

use super::table::{Align, Cell, Column, Table};

pub use parts::{disturbances, errors, intervals, latency};

/// Returns the columns with which tables of response times by transaction type begin: elapsed time
/// (for programs only), numbers of calls and failures, and times.
fn times() -> Vec<Column> {
    vec![
        Column::data("elapsed_s"),
        Column::count("calls", "calls"),
        Column::count("failed", "failed"),
        Column::number("min_ms", "min", 3),
        Column::number("avg_ms", "avg", 3),
        Column::number("max_ms", "max", 3),
        Column::number("total_ms", "total", 4),
    ]
}

/// Returns the columns for p50, p95 and p99, in milliseconds.
fn quantiles() -> Vec<Column> {
    vec![
        Column::number("p50_ms", "p50", 3),
        Column::number("p95_ms", "p95", 3),
        Column::number("p99_ms", "p99", 3),
    ]
}

fn spread(ratio: &'static str) -> Vec<Column> {
    vec![Column::number("sd_ms", "sd", 3), Column::percent("ratio_percent", ratio)]
}

fn elapsed(report: &Report) -> String {
    numbers::seconds(report.measured_seconds)
}

/// Returns the table of all figures of a run, with the names under which comparisons, histories and
/// bounds refer to them.
pub fn figures(report: &Report) -> Table {
    let columns = vec![
        Column::words("figure", "figure"),
        Column::number("value", "value", 4),
        // A page of 80 columns has no room for more beside the longest names.
        Column::spare("±", Align::Right, 2).key("half_width").digits(2),
        Column::spare("unit", Align::Left, 1).key("unit"),
        Column::spare("better", Align::Left, 3).key("better"),
        Column::data("no_half_width"),
    ];
    let row = |figure: NamedFigure| {
        let better = direction(&figure.name).name();
        let (name, unit) = (Cell::Words(figure.name), Cell::Words(figure.unit));
        let why = figure.reason.map_or(Cell::None, Cell::Words);
        vec![name, figure.value.into(), figure.half_width.into(), unit, better.into(), why]
    };
    let rows = all_of(report).into_iter().map(row).collect();
    let title = format!("Figures of run {}; 'better' says which way", report.run_id);
    Table::filled("figures", title, columns, rows)
}

/// Returns the table of response times by transaction type, of finished transactions in the
/// measured phase. The column `total` is the sum of service times, and `ratio %` its share over all
/// types.
pub fn timing(report: &Report) -> Table {
    let columns = [
        vec![Column::words("transaction", "transaction")],
        times(),
        quantiles(),
        spread("ratio %"),
    ];
    let mut rows = Vec::new();
    for (name, kind) in report.block.transactions.iter() {
        let response = &kind.response_ms;
        rows.push(vec![
            name.into(),
            report.measured_seconds.into(),
            kind.calls.into(),
            kind.failed.into(),
            response.min.into(),
            response.mean.into(),
            response.max.into(),
            kind.total_ms.into(),
            response.p50.into(),
            response.p95.into(),
            response.p99.into(),
            response.sd.into(),
            kind.ratio_percent.into(),
        ]);
    }
    let title = format!("Timing of run {} over {}, in ms", report.run_id, elapsed(report));
    Table::filled("timing", title, columns.concat(), rows)
}

/// Returns the table of response times by client and transaction type. Quantiles are accurate to
/// 3.2 %. The last column is the type's share of its client's time. Empty if the report has no
/// figures of clients.
pub fn per_client(report: &Report) -> Table {
    let columns = [
        vec![Column::count("client", "client"), Column::words("transaction", "transaction")],
        times(),
        quantiles(),
        spread("of its time %"),
    ];
    let mut rows = Vec::new();
    for client in report.block.per_client.iter().flatten() {
        let all_ms: f64 = client.transactions.iter().map(|(_, kind)| kind.total_ms).sum();
        for (name, kind) in client.transactions.iter() {
            rows.push(vec![
                u64::from(client.client).into(),
                name.into(),
                report.measured_seconds.into(),
                kind.calls.into(),
                kind.failed.into(),
                kind.min_ms.into(),
                kind.mean_ms.into(),
                kind.max_ms.into(),
                kind.total_ms.into(),
                kind.p50_ms.into(),
                kind.p95_ms.into(),
                kind.p99_ms.into(),
                kind.sd_ms.into(),
                (100.0 * kind.total_ms / all_ms).into(),
            ]);
        }
    }
    let title =
        format!("Timing by client of run {} over {}, in ms", report.run_id, elapsed(report));
    Table::filled("per_client", title, columns.concat(), rows)
}

/// Returns the table of counts and response times in intervals of `every_s` seconds, summed over
/// all groups. Seconds of the ramp-up are negative. Rates of an incomplete last interval use its
/// real length.
pub fn counter(tally: &Tally, every_s: u32) -> Table {
    let every = i64::from(every_s.max(1));
    let columns = vec![
        Column::count("from_s", "from s"),
        Column::data("length_s"),
        Column::count("offered", "offered"),
        Column::count("finished", "finished"),
        Column::count("failed", "failed"),
        Column::count("dropped", "dropped"),
        Column::count("commits", "commits"),
        Column::number("tps", "TPS", 4),
        Column::number("tpm", "TPM", 4),
        Column::number("p50_ms", "p50 ms", 3),
        Column::number("p95_ms", "p95", 3),
        Column::number("p99_ms", "p99", 3),
        Column::number("max_ms", "max", 3),
    ];
    let first = tally.groups.iter().filter_map(|group| group.series.first()).min().unwrap_or(0);
    let end = tally.seconds().end;
    // Intervals start from the beginning of the measured phase, in both directions.
    let mut from = first.min(0).div_euclid(every) * every;
    let mut rows = Vec::new();
    while from < end {
        rows.push(stretch(tally, from.max(first.min(0)), (from + every).min(end)));
        from += every;
    }
    let run = tally.run.as_ref().map(ToString::to_string).unwrap_or_default();
    let title = format!("Transactions of run {run}, every {every} s");
    Table::filled("counter", title, columns, rows)
}

fn stretch(tally: &Tally, from: i64, to: i64) -> Vec<Cell> {
    let span = tally.span(from..to);
    // The measured window may end within a second.
    let measured_s = tally.measured_ns() as f64 / NS_PER_S as f64;
    let length_s =
        if to > 0 { (to as f64).min(measured_s) - from as f64 } else { (to - from) as f64 };
    let quantiles = Quantiles::from_histogram(&span.response).filter(|_| span.is_whole);
    let ms = |ns: u64| Cell::Number(ns as f64 / model::NS_PER_MS as f64);
    let cell = |quantile: fn(Quantiles) -> u64| quantiles.map_or(Cell::None, |q| ms(quantile(q)));
    let tps = span.commits as f64 / length_s;
    vec![
        Cell::Count(from),
        length_s.into(),
        span.counts.offered().into(),
        span.counts.finished().into(),
        span.counts.failed.into(),
        span.counts.dropped.into(),
        span.commits.into(),
        tps.into(),
        (tps * 60.0).into(),
        cell(|q| q.p50_ns),
        cell(|q| q.p95_ns),
        cell(|q| q.p99_ns),
        quantiles.map_or(Cell::None, |_| ms(span.response.max())),
    ]
}

/// Returns the table of a run's configuration: the plan that was carried out, with defaults filled
/// in.
pub fn config(report: &Report) -> Table {
    let mut rows = Vec::new();
    let mut put = |section: &str, name: &str, value: String| {
        if !value.is_empty() {
            rows.push(vec![Cell::from(section), name.into(), Cell::Words(value)]);
        }
    };
    put("run", "id", report.run_id.clone());
    put("run", "name", report.name.clone());
    put("run", "started", report.started.to_string());
    put("run", "status", report.status.name().to_owned());
    put("run", "dbdyno", report.dbdyno.clone());
    put("run", "seed", report.seed.to_string());
    put("run", "placement", report.placement.clone());
    put("database", "target", report.target.clone());
    put("database", "product", report.database.clone());
    for mode in &report.modes {
        let (name, value) = mode.split_once('=').unwrap_or((mode.as_str(), "on"));
        put("database", name, value.to_owned());
    }
    let phases = [
        ("ramp_up_s", report.phases.ramp_up_s),
        ("measure_s", report.phases.measure_s),
        ("drain_s", report.phases.drain_s),
    ];
    for (name, seconds) in phases {
        put("phases", name, exact(seconds));
    }
    for group in &report.groups {
        let section = format!("group {}", group.name);
        for (name, value) in of_group(group) {
            put(&section, &name, value);
        }
    }
    let columns = ["section", "name", "value"].map(|name| Column::words(name, name));
    let title = format!("Configuration of run {}", report.run_id);
    Table::filled("config", title, columns, rows)
}

fn of_group(group: &GroupReport) -> Vec<(String, String)> {
    let until = match group.stop_condition {
        model::StopCondition::Time => "the end of the measured phase".to_owned(),
        model::StopCondition::Sequence => "the end of the sequence".to_owned(),
        model::StopCondition::Transactions(n) => numbers::count(n, "transaction"),
        model::StopCondition::TransactionsPerClient(n) => {
            format!("{} of each client", numbers::count(n, "transaction"))
        }
    };
    let own = [
        ("workload", group.workload.clone()),
        ("clients", group.clients.to_string()),
        ("load", numbers::load(&group.load)),
        ("stop condition", until),
    ];
    let parameters = group.parameters.iter();
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.clone()));
    own.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(parameters).collect()
}

/// Subjects of those facts in a report that are settings: modes and facts of the database, settings
/// made for the run, and settings that changed during it.
const SETTINGS: [&str; 6] = ["mode", "database", "server", "setting", "settings", "changed"];

/// Returns the table of the server's settings: facts about the database, and all variables that
/// were read before the load.
pub fn settings(report: &Report) -> Table {
    let mut rows = Vec::new();
    for (about, facts) in &report.facts {
        // An agent's facts have its host before the subject.
        let kind = about.rsplit('/').next().unwrap_or(about);
        if SETTINGS.contains(&kind) {
            let row = |(name, value): (&String, &FactValue)| {
                vec![Cell::from(about.as_str()), name.as_str().into(), (&*value.to_string()).into()]
            };
            rows.extend(facts.iter().map(row));
        }
    }
    let asked = report.settings.iter();
    rows.extend(
        asked.map(|(name, value)| vec![Cell::from("asked"), name.into(), value.as_str().into()]),
    );
    let columns = ["about", "name", "value"].map(|name| Column::words(name, name));
    let title = format!("Settings of run {}", report.run_id);
    Table::filled("settings", title, columns, rows)
}

#[cfg(test)]
mod tests;
