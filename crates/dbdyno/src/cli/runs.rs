//! `dbdyno runs`: what the store remembers.

use clap::{Arg, ArgAction, ArgMatches, Command};
use lab::Trouble;
use lab::experiment::read_report;
use model::{NS_PER_S, RunId};
use results::Tally;
use results::render::{as_json, run_list};
use results::report::{Options, Report};
use results::store::{Filter, RunRow, Status, Store};
use serde_json::{Value, json};

use super::run::told;
use super::{DONE, Outcome, flags, print};

/// Runs listed unless told otherwise.
const LISTED: &str = "20";

pub(crate) fn command() -> Command {
    let id = || {
        Arg::new("id")
            .required(true)
            .value_name("ID")
            .help("A run's id, the beginning or end of one, or 'last'")
    };
    let list = Command::new("list")
        .about("Lists runs, newest first")
        .arg(Arg::new("workload").long("workload").value_name("NAME").help("Of this workload"))
        .arg(
            Arg::new("status")
                .long("status")
                .value_name("STATUS")
                .value_parser(["running", "completed", "interrupted", "failed"])
                .help("In this status"),
        )
        .arg(Arg::new("label").long("label").value_name("KEY[=VALUE]").help("With this label"))
        .arg(
            Arg::new("limit")
                .long("limit")
                .value_name("N")
                .default_value(LISTED)
                .help("At most so many; 0 lists all"),
        );
    let show = Command::new("show")
        .about("Shows a run's report, or its plan")
        .arg(id())
        .arg(
            Arg::new("per_client")
                .long("per-client")
                .action(ArgAction::SetTrue)
                .help("Tell the figures of each client too"),
        )
        .arg(
            Arg::new("plan")
                .long("plan")
                .action(ArgAction::SetTrue)
                .help("Its plan alone, as a file that 'dbdyno run' repeats"),
        );
    Command::new("runs")
        .about("Lists, shows, exports, labels and removes the runs that were kept")
        .subcommand(list)
        .subcommand(show)
        .subcommand(Command::new("export").about("Writes a run as JSON, complete").arg(id()))
        .subcommand(
            Command::new("rm")
                .about("Removes runs")
                .arg(id().num_args(1..).action(ArgAction::Append)),
        )
        .subcommand(
            Command::new("label")
                .about("Labels a run: key=value sets, key= removes, no label lists")
                .arg(id())
                .arg(Arg::new("labels").value_name("KEY=VALUE").num_args(0..)),
        )
}

pub(crate) fn runs(matches: &ArgMatches) -> Outcome {
    match matches.subcommand() {
        Some(("show", sub)) => show(sub),
        Some(("export", sub)) => export(sub),
        Some(("rm", sub)) => remove(sub),
        Some(("label", sub)) => label(sub),
        Some((_, sub)) => list(sub),
        None => list_filtered(matches, &Filter { limit: Some(20), ..Filter::default() }),
    }
}

/// The store, which must be there.
pub(super) fn store(matches: &ArgMatches) -> Result<Store, Trouble> {
    let path = flags::store_path(matches)?;
    Store::open_existing(&path).map_err(said)
}

/// What the store says, as trouble.
pub(super) fn said(error: results::store::StoreError) -> Trouble {
    Trouble::Failed(error.to_string())
}

fn found(store: &Store, matches: &ArgMatches) -> Result<RunId, Trouble> {
    let name = matches.get_one::<String>("id").expect("clap requires it");
    store.find(name).map_err(said)
}

fn list(matches: &ArgMatches) -> Outcome {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let limit = flags::number(matches, "limit")?;
    let label = text("label").map(|label| match label.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (label, None),
    });
    let filter = Filter {
        workload: text("workload"),
        status: text("status").and_then(|name| Status::by_name(&name)),
        label,
        limit: (limit > 0).then_some(limit as usize),
        ..Filter::default()
    };
    list_filtered(matches, &filter)
}

fn list_filtered(matches: &ArgMatches, filter: &Filter) -> Outcome {
    let rows = store(matches)?.list(filter).map_err(said)?;
    if flags::is_json(matches) {
        let rows: Vec<Value> = rows.iter().map(row_json).collect();
        return print(&format!("{:#}\n", json!({"schema": "dbdyno.runs/1", "runs": rows})));
    }
    print(&run_list(&rows))
}

fn row_json(row: &RunRow) -> Value {
    let labels: serde_json::Map<String, Value> =
        row.labels.iter().map(|(k, v)| (k.clone(), Value::from(v.as_str()))).collect();
    json!({
        "run_id": row.run.0,
        "started_unix_ms": row.started_unix_ms,
        "ended_unix_ms": row.ended_unix_ms,
        "status": row.status.name(),
        "name": row.name,
        "workload": row.workload,
        "target": row.target,
        "database": row.database,
        "clients": row.clients,
        "tps": row.tps,
        "nopm": row.nopm,
        "p99_ms": row.p99_ns.map(|ns| ns as f64 / 1e6),
        "measured_seconds": row.measured_ns.map(|ns| ns as f64 / NS_PER_S as f64),
        "worst_finding": row.worst_finding,
        "events_lost": row.events_lost,
        "dbdyno": row.dbdyno,
        "labels": labels,
    })
}

/// The report as it was kept, or made now from what there is of a run that did not end.
fn report(store: &Store, run: &RunId, options: Options) -> Result<Report, Trouble> {
    if !options.per_client
        && let Some(report) = read_report(store, run)?
    {
        return Ok(report);
    }
    let mut tally = Tally::new();
    store.events(run, &mut |event| tally.add(&event)).map_err(said)?;
    let filter = Filter { run: Some(run.clone()), ..Filter::default() };
    let rows = store.list(&filter).map_err(said)?;
    let status = rows.first().map_or(Status::Interrupted, |row| row.status);
    Ok(Report::with_status(&tally, options, status))
}

fn show(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let run = found(&store, matches)?;
    if matches.get_flag("plan") {
        return print(&store.plan(&run).map_err(said)?);
    }
    let options = Options { per_client: matches.get_flag("per_client") };
    let report = report(&store, &run, options)?;
    print(&told(&report, matches))
}

fn export(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let run = found(&store, matches)?;
    let report = report(&store, &run, Options { per_client: true })?;
    print(&as_json(&report))
}

fn remove(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let names = matches.get_many::<String>("id").expect("clap requires one");
    let runs = names.map(|name| store.find(name).map_err(said)).collect::<Result<Vec<_>, _>>()?;
    store.remove(&runs).map_err(said)?;
    let told: String = runs.iter().map(|run| format!("removed {run}\n")).collect();
    print(&told)
}

fn label(matches: &ArgMatches) -> Outcome {
    let store = store(matches)?;
    let run = found(&store, matches)?;
    let written = matches.get_many::<String>("labels").into_iter().flatten();
    // All are read before the first is set: a mistake changes nothing.
    let labels: Vec<(&str, &str)> =
        written.map(|label| key_value(label)).collect::<Result<_, _>>()?;
    for (key, value) in labels {
        match value {
            "" => store.unlabel(&run, key).map(|_| ()).map_err(said)?,
            value => store.label(&run, key, value).map_err(said)?,
        }
    }
    let labels = store.labels(&run).map_err(said)?;
    let told: String = labels.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    print(&told).map(|_| DONE)
}

fn key_value(label: &str) -> Result<(&str, &str), Trouble> {
    let pair = label.split_once('=').filter(|(key, _)| !key.is_empty());
    pair.ok_or_else(|| Trouble::Usage(format!("'{label}' is not a label: write key=value")))
}
