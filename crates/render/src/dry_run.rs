//! What a plan would do, as a page and as JSON, if it is only checked.
//!
//! Not here: the checks (app).

use model::numbers::{count, load};
use model::{Axis, Group, Plan, StopCondition, format_count, format_duration};
use serde_json::{Value, json};

use super::document::{Block, Document, Section, Text, Tone, Verdict};

/// Schema of the JSON.
const SCHEMA: &str = "dbdyno.dry_run/1";
/// Most groups, and most disturbances, that the page lists.
const LISTED_MOST: usize = 4;
/// Most values of a varied parameter that the page lists.
const VALUES_MOST: usize = 8;

/// A plan that was checked, and that would be executed.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// What the plan makes: `run`, `experiment` or `search`.
    pub kind: &'static str,
    /// The plan; of an experiment or a search, that of its first run.
    pub plan: Plan,
    /// The plan in TOML.
    pub toml: String,
    /// Varied parameters; empty for a run.
    pub axes: Vec<Axis>,
    /// Number of points (combinations of varied values), and of their repeats; `None` if the runs
    /// are chosen while they are made.
    pub points: Option<(u64, u64)>,
    /// Number of runs and their time in words.
    pub forecast: String,
    /// Limits that the result is tested on.
    pub limits: Vec<String>,
    /// Files that were read.
    pub files: Vec<String>,
    /// Whether missing data are built.
    pub builds: bool,
    /// Sentences on the plan.
    pub notes: Vec<String>,
}

/// Returns the page of a plan that was checked, which fits on a screen.
pub fn dry_run(dry: &DryRun) -> Document {
    let mut page = Document::new("Dry run", dry.plan.name.clone());
    page.verdicts.push(Verdict {
        tone: Tone::Good,
        word: "Valid.".to_owned(),
        headline: format!("The plan of this {} is valid. Nothing was executed.", dry.kind).into(),
        details: dry.notes.iter().map(|note| note.as_str().into()).collect(),
    });
    let mut pairs: Vec<(String, Text)> = Vec::new();
    let mut put = |label: &str, lines: Vec<String>| {
        for (nth, line) in lines.into_iter().enumerate() {
            let label = if nth == 0 { label } else { "" };
            pairs.push((label.to_owned(), line.into()));
        }
    };
    let plan = &dry.plan;
    put("target", vec![plan.target.to_string()]);
    let data = if dry.builds { "built if missing" } else { "not built" };
    put("data", vec![data.to_owned()]);
    let settings = plan.settings.iter().map(|(name, value)| format!("{name}={value}"));
    let settings: Vec<String> = settings.collect();
    put("settings", if settings.is_empty() { vec![] } else { vec![settings.join(", ")] });
    let name = |group: &Group| match plan.groups.len() {
        1 => String::new(),
        _ => format!("{}: ", group.name),
    };
    let groups = plan.groups.iter().map(|group| name(group) + &group_words(group));
    put("load", shortened(groups.collect(), "group"));
    put("phases", vec![phases(plan)]);
    let at =
        plan.disturbances.iter().map(|at| format!("{} at {}", at.name, format_duration(at.at_ns)));
    put("disturbed", shortened(at.collect(), "disturbance"));
    put("varied", dry.axes.iter().filter(|axis| !axis.values.is_empty()).map(axis_words).collect());
    if let Some((points, repeats)) = dry.points {
        let of_each = count(repeats, "repeat");
        put("points", vec![format!("{}, {of_each} of each", count(points, "point"))]);
    }
    put("in all", vec![dry.forecast.clone()]);
    put("limits", if dry.limits.is_empty() { vec![] } else { vec![dry.limits.join(", ")] });
    put("files", if dry.files.is_empty() { vec![] } else { vec![dry.files.join(", ")] });
    page.sections.push(Section::new("plan", "", vec![Block::Pairs(pairs)]));
    page
}

/// Returns what a plan would do as JSON.
pub fn dry_run_json(dry: &DryRun) -> Value {
    let plan = &dry.plan;
    let seconds = |ns: u64| ns as f64 / 1e9;
    let group = |group: &Group| {
        let parameters: Vec<[&str; 2]> =
            group.parameters.iter().map(|(name, value)| [name.as_str(), value.as_str()]).collect();
        json!({
            "name": group.name,
            "workload": group.workload,
            "clients": group.clients,
            "processes": group.processes,
            "load": load(&group.load),
            "until": until(group),
            "parameters": parameters,
        })
    };
    let axis = |axis: &Axis| json!({ "name": axis.name, "values": axis.values });
    json!({
        "schema": SCHEMA,
        "kind": dry.kind,
        "name": plan.name,
        "target": plan.target.to_string(),
        "ramp_up_s": seconds(plan.phases.ramp_up_ns),
        "measure_s": (plan.phases.measure_ns > 0).then(|| seconds(plan.phases.measure_ns)),
        "drain_s": seconds(plan.phases.drain_ns),
        "groups": plan.groups.iter().map(group).collect::<Vec<_>>(),
        "axes": dry.axes.iter().map(axis).collect::<Vec<_>>(),
        "points": dry.points.map(|(points, _)| points),
        "repeats": dry.points.map(|(_, repeats)| repeats),
        "forecast": dry.forecast,
        "limits": dry.limits,
        "files": dry.files,
        "builds": dry.builds,
        "notes": dry.notes,
        "plan": dry.toml,
    })
}

/// Returns the first lines, and how many more there are.
fn shortened(mut lines: Vec<String>, what: &str) -> Vec<String> {
    if lines.len() > LISTED_MOST {
        let more = lines.split_off(LISTED_MOST - 1).len() as u64;
        lines.push(format!("and {}", count(more, &format!("more {what}"))));
    }
    lines
}

fn group_words(group: &Group) -> String {
    let mut parts =
        vec![group.workload.clone(), count(group.clients.into(), "client"), load(&group.load)];
    if group.processes > 0 {
        parts.push(format!("client processes: {}", group.processes));
    }
    parts.extend(until(group));
    parts.extend(group.parameters.iter().map(|(name, value)| format!("{name}={value}")));
    parts.join(", ")
}

/// Returns what ends the load of a group, in words; `None` if it is the time.
fn until(group: &Group) -> Option<String> {
    match group.stop_condition {
        StopCondition::Time => None,
        StopCondition::Transactions(n) => Some(format!("{} transactions", format_count(n))),
        StopCondition::TransactionsPerClient(n) => {
            Some(format!("{} transactions per client", format_count(n)))
        }
        StopCondition::Sequence => Some("until its sequence is complete".to_owned()),
    }
}

fn phases(plan: &Plan) -> String {
    let is_timed =
        plan.groups.iter().any(|group| matches!(group.stop_condition, StopCondition::Time));
    let measured = match (plan.phases.measure_ns, is_timed) {
        (0, _) => "measured until the load is complete".to_owned(),
        (ns, true) => format!("measured {}", format_duration(ns)),
        (ns, false) => {
            format!("measured until the load is complete, at most {}", format_duration(ns))
        }
    };
    let [ramp_up, drain] = [plan.phases.ramp_up_ns, plan.phases.drain_ns].map(format_duration);
    format!("ramp-up {ramp_up}, {measured}, drain at most {drain}")
}

fn axis_words(axis: &Axis) -> String {
    let n = axis.values.len();
    let shown: Vec<&str> = axis.values.iter().take(VALUES_MOST).map(String::as_str).collect();
    let more =
        if n > shown.len() { format!(" and {} more", n - shown.len()) } else { String::new() };
    format!("{}={}{more}", axis.name, shown.join(", "))
}
