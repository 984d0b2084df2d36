//! A decided search: its range, objectives and budget, and the plan of each probe (run).
//!
//! The plans at both ends of the range are checked before the first probe, so that errors are
//! reported at once. Not here: the choice of probes (study).

use model::{
    Choice, Condition, DataPolicy, ParameterKind, Plan, Seek, Target, format_duration,
    is_arrival_rate, numbers,
};

use study::seek::METHOD;

use crate::bad_plan::BadPlan;
use crate::condition::{can_be_asked, decide_wait};
use crate::decide::decide;
use crate::draft::{Draft, VaryDraft, spelled};
use crate::place::{Place, check_axes, parameters_of, places, put, written_at};
use crate::search_budget::{arrivals_needed, budget_ns_min};
use crate::table::ExperimentValues;
use crate::toml_file::read_toml;
use crate::vary::is_no_tuner;
use crate::written::{From, Values, Written};

/// A search for the highest value at which objectives are met, parsed and checked from a draft.
pub struct SeekPlan {
    pub seek: Seek,
    /// Query that has to return true before each probe (run) of the search; `None` if there is
    /// none.
    pub wait_until: Option<Condition>,
    /// Draft from which the plan of every probe (run) is decided, without a value for the searched
    /// parameter.
    draft: Draft,
    axis: VaryDraft,
}

/// Parses and checks a draft of a search, with the plans at both ends of its range. An error has
/// the source position and the remedy.
pub fn decide_seek(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<SeekPlan, BadPlan> {
    let values = ExperimentValues::read(&draft.experiment)?;
    let ExperimentValues { seek: sought, objective, seek_budget, .. } = &values;
    let Some(range) = &sought.value else {
        return Err(sought.bad("--seek names no range: write rate=100..5000"));
    };
    let Some(objectives) = &objective.value else {
        let objective = spelled("objective", "p99<20ms", &sought.from);
        return Err(sought.bad(format!("a search needs an objective: {objective}")));
    };
    if let Some(vary) = draft.vary.first() {
        return Err(vary.bad("an experiment either varies or seeks: drop one of them"));
    }
    check_ignored(&values)?;
    is_no_tuner(&values)?;
    for group in &draft.groups {
        if let Some(transactions) = group.values.get("transactions") {
            let budget = spelled("seek_budget", "10m", &transactions.from);
            let why = "a search measures for a time, not for a number of transactions: write";
            return Err(transactions.bad(format!("{why} {budget} instead")));
        }
    }
    let seek = Seek {
        axis: range.axis.clone(),
        low: range.low,
        high: range.high,
        is_whole: !is_arrival_rate(&range.axis),
        objectives: objectives.clone(),
        budget_ns: seek_budget.value,
        method: METHOD,
    };
    let axis =
        VaryDraft { name: range.axis.clone(), values: Vec::new(), from: sought.from.clone() };
    check_axes(draft, std::slice::from_ref(&axis))?;
    can_be_sought(draft, &axis)?;
    let wait_until = decide_wait(&values)?;
    let (low, high) = (range.low, range.high);
    let seek_plan = SeekPlan { seek, wait_until, draft: draft.clone(), axis };
    seek_plan.plan(high, 0, default_target)?;
    let plan = seek_plan.plan(low, 0, default_target)?;
    can_be_asked(&values, std::iter::once(&plan.target))?;
    check_duration(draft, &seek_plan.seek, plan.phases.ramp_up_ns)?;
    // The budget may be the default; then the error is placed at the search itself.
    let from = if seek_budget.is_written() { &seek_budget.from } else { &sought.from };
    let budget = spelled("seek_budget", "", from);
    is_enough(&seek_plan.seek, plan.phases.ramp_up_ns, &budget).map_err(|why| from.bad(why))?;
    Ok(seek_plan)
}

/// Rejects a search for a parameter whose higher values do not mean more load. Accepts `clients`,
/// `rate`, and counts of the workload that do not change its data.
fn can_be_sought(draft: &Draft, axis: &VaryDraft) -> Result<(), BadPlan> {
    let counts = |index: usize| {
        let rows = parameters_of(&draft.groups[index]).iter();
        rows.filter(|row| !row.shapes_data && matches!(row.kind, ParameterKind::Count { .. }))
    };
    let is_load = |place: &Place| match place {
        Place::Group(_, name) => ["clients", "rate"].contains(name),
        Place::Parameter(index, name) => counts(*index).any(|row| row.name == *name),
        Place::Plan(_) | Place::Server(_) => false,
    };
    if places(draft, axis)?.iter().all(is_load) {
        return Ok(());
    }
    let mut known = vec!["rate", "clients"];
    for row in (0..draft.groups.len()).flat_map(counts) {
        if !known.contains(&row.name) {
            known.push(row.name);
        }
    }
    let (name, known) = (&axis.name, known.join(", "));
    Err(axis.bad(format!("'{name}' cannot be searched for, only varied; choose one of {known}")))
}

/// Rejects parameters of `[experiment]` that a search would ignore.
fn check_ignored(values: &ExperimentValues) -> Result<(), BadPlan> {
    let ExperimentValues {
        repeat,
        repeat_restart,
        repeat_rebuild,
        order,
        data,
        pause,
        reference,
        ..
    } = values;
    let repeats = [repeat, repeat_restart, repeat_rebuild];
    let why = "a search chooses the number and values of its probes";
    if let Some(written) = repeats.into_iter().find(|level| level.is_written()) {
        return Err(written.bad(why));
    }
    if order.is_written() {
        return Err(order.bad(why));
    }
    if data.value != DataPolicy::Keep {
        return Err(data.bad(format!(
            "'{}': a search keeps the data between probes: leave it out, or vary values instead \
             of seeking",
            data.value.name()
        )));
    }
    if reference.is_written() {
        return Err(reference.bad("a search has no table beside which figures could stand"));
    }
    match pause.value {
        0 => Ok(()),
        _ => Err(pause.bad("a search has no pauses: leave it out")),
    }
}

/// Rejects a duration given as a flag, because a search chooses the length of its probes (runs);
/// the error names the smallest budget instead.
fn check_duration(draft: &Draft, seek: &Seek, ramp_up_ns: u64) -> Result<(), BadPlan> {
    let is_flag = |written: &&Written| matches!(written.from, From::Flag(_));
    match draft.values.get("duration").filter(is_flag) {
        Some(written) => Err(written.bad(format!(
            "a search chooses the length of its probes: write --seek-budget instead, its total \
             load time, here at least {}",
            format_duration(budget_ns_min(seek, ramp_up_ns))
        ))),
        None => Ok(()),
    }
}

/// Returns an error if the time budget of a search is too small. The error names the needed budget,
/// the reasons for it, and alternatives.
fn is_enough(seek: &Seek, ramp_up_ns: u64, budget: &str) -> Result<(), String> {
    let least_ns = budget_ns_min(seek, ramp_up_ns);
    if seek.budget_ns >= least_ns {
        return Ok(());
    }
    let mut whys = Vec::new();
    let mut others = Vec::new();
    if ramp_up_ns > 0 {
        whys.push(format!("a ramp-up of {}", format_duration(ramp_up_ns)));
        others.push("shorten the ramp-up");
    }
    if let Some(arrivals) = arrivals_needed(seek) {
        let (arrivals, low) = (numbers::exact(arrivals), numbers::exact(seek.low));
        whys.push(format!("{arrivals} arrivals at {low}/s"));
        others.push("seek from a higher rate");
    }
    let why = match whys.is_empty() {
        true => "to measure for a second".to_owned(),
        false => whys.join(" and "),
    };
    let others: String = others.iter().map(|other| format!(", or {other}")).collect();
    Err(format!(
        "a search needs at least {least}, since each of its short probes needs {why}: raise \
         {budget} to {least}{others}",
        least = format_duration(least_ns)
    ))
}

impl SeekPlan {
    /// Returns the plan of a probe (run of the search) with the value `at` of the searched
    /// parameter. Its measured phase lasts `measure_ns` nanoseconds; if `measure_ns` is 0, as long
    /// as the plan says.
    pub fn plan(
        &self,
        at: f64,
        measure_ns: u64,
        default_target: &dyn Fn(&str) -> Result<Target, String>,
    ) -> Result<Plan, BadPlan> {
        let mut draft = self.draft.clone();
        draft.experiment = Values::new();
        put(&mut draft, &self.axis, self.value(at))?;
        let mut plan = decide(&draft, default_target)?;
        if measure_ns > 0 {
            plan.phases.measure_ns = measure_ns;
        }
        let is_open = |group: &model::Group| matches!(group.load, model::Load::Open { .. });
        if is_arrival_rate(&self.axis.name) && !plan.groups.iter().any(is_open) {
            let why = "no group has open load, so there is no rate";
            return Err(self.axis.bad(why));
        }
        Ok(plan)
    }

    /// Returns a note that the search ignores the plan's duration; `None` if the plan has no
    /// duration.
    pub fn note(&self) -> Option<String> {
        let written = self.draft.values.get("duration")?;
        Some(format!(
            "{}: the duration of {} is ignored: the search chooses the length of its probes",
            written.from, written.text
        ))
    }

    /// Formats a value of the searched parameter as it would be written in a plan.
    pub fn value(&self, at: f64) -> String {
        format!("{at}")
    }

    /// Returns the value of the searched parameter in a stored plan; `None` if it cannot be read.
    pub fn value_in(&self, plan: &str) -> Option<f64> {
        let draft = read_toml("a stored plan", plan).ok()?;
        let place = places(&draft, &self.axis).ok()?.into_iter().next()?;
        let text = &written_at(&draft, &place)?.text;
        match is_arrival_rate(&self.axis.name) {
            true => model::parse_rate(text).ok(),
            false => model::parse_count(text).ok().map(|count| count as f64),
        }
    }

    /// Restores the search that a stored experiment contains, from its draft and its searched
    /// range.
    pub fn stored(draft: Draft, seek: Seek) -> SeekPlan {
        let from = From::Flag("seek".to_owned());
        let axis = VaryDraft { name: seek.axis.clone(), values: Vec::new(), from };
        // The stored experiment has the condition.
        SeekPlan { seek, wait_until: None, draft, axis }
    }
}
