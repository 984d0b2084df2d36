//! A search as planned: the range, the objectives and the budget, and the plan of a probe.
//!
//! Both ends of the range are decided before the first probe: what cannot be is told at once. Not
//! here: where probes go (app).

use std::cmp::Ordering;

use model::{
    Condition, Metric, Objective, ParameterKind, Plan, Seek, Setting, Target, format_duration,
    is_arrival_rate, parse_duration,
};

use analysis::seek::METHOD;

use crate::bad_plan::BadPlan;
use crate::condition::{can_be_asked, decide_until};
use crate::decide::decide;
use crate::draft::{Draft, From, VaryDraft, Written, spelled};
use crate::place::{Place, check_axes, parameters_of, places, put, written_at};
use crate::search_budget::{budget_ns_for, budget_ns_min};
use crate::toml_file::read_toml;

/// A search as decided from a draft.
pub struct SeekPlan {
    /// What is sought.
    pub seek: Seek,
    /// What must hold before each probe.
    pub until: Option<Condition>,
    /// What every probe is, but for what is sought.
    draft: Draft,
    axis: VaryDraft,
}

/// Whether a draft is a search.
pub fn is_seek(draft: &Draft) -> bool {
    draft.values.contains_key("experiment.seek")
}

/// Refuses words of a search where nothing is sought.
pub(crate) fn is_not_half(draft: &Draft) -> Result<(), BadPlan> {
    let paths = ["experiment.objectives", "experiment.seek_budget"];
    match paths.iter().find_map(|path| draft.values.get(path)) {
        Some(written) => {
            let seek = spelled("experiment.seek", "rate=100..5000", &written.from);
            Err(written.bad(format!("nothing is sought: write {seek} too")))
        }
        None => Ok(()),
    }
}

/// Decides a search.
pub fn decide_seek(
    draft: &Draft,
    default_target: &dyn Fn(&str) -> Result<Target, String>,
) -> Result<SeekPlan, BadPlan> {
    let written = draft.plan("experiment.seek").unwrap_or_else(|| unreachable!("it is sought"));
    let (name, low, high) = range(&written)?;
    let objectives = objectives(draft, &written)?;
    if let Some(vary) = draft.vary.first() {
        let vary = Written { text: String::new(), from: vary.from.clone() };
        return Err(vary.bad("an experiment varies or seeks: leave one of the two out"));
    }
    check_ignored(draft)?;
    for group in &draft.groups {
        if let Some(until) = group.values.get("until") {
            let budget = spelled("experiment.seek_budget", "10m", &until.from);
            let why = "a search measures for a time, not for a number of transactions: write";
            return Err(until.bad(format!("{why} {budget} instead")));
        }
    }
    let Ok(Some(Setting::Duration(budget_ns))) = draft.plan_setting("experiment.seek_budget")
    else {
        return Err(draft
            .plan_setting("experiment.seek_budget")
            .err()
            .unwrap_or_else(|| written.bad("a search needs a budget")));
    };
    let is_whole = !is_arrival_rate(&name);
    let method = METHOD;
    let seek = Seek { axis: name.clone(), low, high, is_whole, objectives, budget_ns, method };
    let axis = VaryDraft { name, values: Vec::new(), from: written.from.clone() };
    check_axes(draft, std::slice::from_ref(&axis))?;
    can_be_sought(draft, &axis)?;
    let until = decide_until(draft)?;
    let seek_plan = SeekPlan { seek, until, draft: draft.clone(), axis };
    seek_plan.plan(high, 0, default_target)?;
    let plan = seek_plan.plan(low, 0, default_target)?;
    can_be_asked(draft, std::iter::once(&plan.target))?;
    // The budget may be nobody's but the table's; then the search itself is the place.
    let place = draft.values.get("experiment.seek_budget").unwrap_or(&written);
    let budget = spelled("experiment.seek_budget", "", &place.from);
    is_enough(&seek_plan.seek, plan.phases.ramp_up_ns, &budget).map_err(|why| place.bad(why))?;
    Ok(seek_plan)
}

/// Refuses an axis of which more is not more load.
fn can_be_sought(draft: &Draft, axis: &VaryDraft) -> Result<(), BadPlan> {
    let counts = |index: usize| {
        let rows = parameters_of(&draft.groups[index]).iter();
        rows.filter(|row| !row.shapes_data && matches!(row.kind, ParameterKind::Count { .. }))
    };
    let is_load = |place: &Place| match place {
        Place::Group(_, path) => ["clients", "load.rate"].contains(path),
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
    Err(axis.bad(format!("'{name}' cannot be sought, only varied; what can be: {known}")))
}

/// Refuses what a search would not do.
fn check_ignored(draft: &Draft) -> Result<(), BadPlan> {
    for path in [
        "experiment.repeat",
        "experiment.repeat_restart",
        "experiment.repeat_rebuild",
        "experiment.order",
    ] {
        if let Some(written) = draft.values.get(path) {
            return Err(written.bad("a search decides by itself where and how often it measures"));
        }
    }
    let is_flag = |written: &&Written| matches!(written.from, From::Flag(_));
    if let Some(written) = draft.values.get("phases.measure").filter(is_flag) {
        return Err(written.bad(
            "a search decides by itself how long it measures: --seek-budget is its load in all",
        ));
    }
    draft.plan_setting("experiment.data")?;
    if let Some(written) = draft.values.get("experiment.data").filter(|it| it.text != "keep") {
        return Err(written.bad(format!(
            "'{}': a search leaves the data as the probe before has left them: leave it out, or \
             vary values instead of seeking",
            written.text
        )));
    }
    draft.plan_setting("experiment.pause")?;
    match draft.values.get("experiment.pause").filter(|it| parse_duration(&it.text) != Ok(0)) {
        Some(written) => Err(written.bad("a search makes no pauses: leave it out")),
        None => Ok(()),
    }
}

/// A probe must last longer than it ramps up, and have samples for the quantiles that are asked.
fn is_enough(seek: &Seek, ramp_up_ns: u64, budget: &str) -> Result<(), String> {
    let least_ns = budget_ns_min(ramp_up_ns);
    if seek.budget_ns < least_ns {
        let (least, ramp_up) = (format_duration(least_ns), format_duration(ramp_up_ns));
        return Err(format!(
            "with a ramp-up of {ramp_up} a search needs at least {least}: raise {budget}, or \
             shorten the ramp-up"
        ));
    }
    let samples = |objective: &Objective| match objective.metric {
        Metric::P999 => 4_800.0,
        Metric::P99 => 480.0,
        _ => 100.0,
    };
    let samples = seek.objectives.iter().map(samples).fold(0.0, f64::max);
    let least_ns = budget_ns_for(ramp_up_ns, samples / seek.low * 1e9);
    if !seek.is_whole && seek.budget_ns < least_ns {
        return Err(format!(
            "from {} a second on, short probes need {samples} arrivals, and {} in all: raise \
             {budget}, or seek from a higher rate",
            seek.low,
            format_duration(least_ns)
        ));
    }
    Ok(())
}

impl SeekPlan {
    /// The plan of a probe.
    pub fn plan(
        &self,
        at: f64,
        measure_ns: u64,
        default_target: &dyn Fn(&str) -> Result<Target, String>,
    ) -> Result<Plan, BadPlan> {
        let mut draft = self.draft.clone();
        draft.values.retain(|path, _| !path.starts_with("experiment."));
        put(&mut draft, &self.axis, self.value(at))?;
        let mut plan = decide(&draft, default_target)?;
        if measure_ns > 0 {
            plan.phases.measure_ns = measure_ns;
        }
        let is_open = |group: &model::Group| matches!(group.load, model::Load::Open { .. });
        if is_arrival_rate(&self.axis.name) && !plan.groups.iter().any(is_open) {
            let why = "nothing arrives at a rate: the load of no group is open";
            return Err(Written { text: String::new(), from: self.axis.from.clone() }.bad(why));
        }
        Ok(plan)
    }

    /// What of the plan a search does not do, if there is anything.
    pub fn note(&self) -> Option<String> {
        let written = self.draft.values.get("phases.measure")?;
        Some(format!(
            "{}: the measured phase of {} is not that of probes: the search decides how long they \
             measure",
            written.from, written.text
        ))
    }

    /// A value of the axis as one would write it.
    pub fn value(&self, at: f64) -> String {
        format!("{at}")
    }

    /// What a stored plan has where a value is sought, if that can be read.
    pub fn value_in(&self, plan: &str) -> Option<f64> {
        let draft = read_toml("a stored plan", plan).ok()?;
        let place = places(&draft, &self.axis).ok()?.into_iter().next()?;
        let text = &written_at(&draft, &place)?.text;
        match is_arrival_rate(&self.axis.name) {
            true => model::parse_rate(text).ok(),
            false => model::parse_count(text).ok().map(|count| count as f64),
        }
    }

    /// The search of a stored experiment: its plan is read, and what is sought is known.
    pub fn stored(draft: Draft, seek: Seek) -> SeekPlan {
        let from = From::Flag("seek".to_owned());
        let axis = VaryDraft { name: seek.axis.clone(), values: Vec::new(), from };
        // Its experiment knows what is waited for.
        SeekPlan { seek, until: None, draft, axis }
    }
}

/// Reads `rate=100..5000`.
fn range(written: &Written) -> Result<(String, f64, f64), BadPlan> {
    let text = &written.text;
    let like = || format!("'{text}' is no range to seek in: write rate=100..5000");
    let (name, range) = text.split_once('=').ok_or_else(|| written.bad(like()))?;
    let (low, high) = range.split_once("..").ok_or_else(|| written.bad(like()))?;
    let name = name.trim();
    let number = |part: &str| {
        let part = part.trim();
        let value = match is_arrival_rate(name) {
            true => model::parse_rate(part).map_err(|bad| written.bad(bad))?,
            false => model::parse_count(part).map_err(|bad| written.bad(bad))? as f64,
        };
        Ok(value)
    };
    let (low, high) = (number(low)?, number(high)?);
    if name.is_empty() {
        return Err(written.bad(like()));
    }
    let why = match low.total_cmp(&high) {
        _ if low <= 0.0 => "a range begins above zero",
        Ordering::Equal => "this is one value, and no range: let it end higher than it begins",
        Ordering::Greater => "this is an empty range: let it end higher than it begins",
        Ordering::Less => return Ok((name.to_owned(), low, high)),
    };
    Err(written.bad(format!("'{text}': {why}")))
}

fn objectives(draft: &Draft, seek: &Written) -> Result<Vec<Objective>, BadPlan> {
    let Some(written) = draft.plan("experiment.objectives") else {
        let objective = spelled("experiment.objectives", "p99<20ms", &seek.from);
        return Err(seek.bad(format!("a search needs an objective: {objective}")));
    };
    let read = |word: &str| word.parse::<Objective>().map_err(|bad| written.bad(bad));
    let all = written.text.split(',').map(read).collect::<Result<Vec<_>, _>>()?;
    for (index, objective) in all.iter().enumerate() {
        if all[..index].iter().any(|other| other.metric == objective.metric) {
            let name = objective.metric.name();
            return Err(written.bad(format!("there are two objectives of {name}: leave one out")));
        }
    }
    Ok(all)
}
