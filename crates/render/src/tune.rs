//! The page of a tuner: whether the best configuration is better than the defaults, its values, and
//! which parameters matter.
//!
//! Not here: how configurations are chosen and judged (study).

use analysis::figures::title;
use model::numbers::{NONE, count, significant};
use model::{TuneGoal, short_axis};
use store::utc;
use study::TuneReport;
use study::tune::{
    DEFAULTS, Gain, ParameterEffect, TunedConfiguration, TunedTrial, Verdict as Found,
};

use super::document::{Block, Document, Tone, Verdict};
use super::experiment::again;
use super::scene::scene;
use super::wording::not_completed;
use super::{Align, Cell, Column, Table};

/// Most configurations in the first table.
const CONFIGURATIONS_MOST: usize = 10;

/// Returns the page of a tuner, which looks for the configuration with the best figure.
pub fn tune(report: &TuneReport) -> Document {
    let kind = format!("Tuning, started {} UTC", utc(report.started_unix_ms));
    let mut page = Document::new(kind, report.name.clone());
    page.question = vec![question(report)];
    page.scene = report.scene.iter().map(scene).collect();
    page.verdicts = vec![verdict(report)];
    page.section(
        "best",
        "Best configuration",
        vec![Block::Table(best(report)), Block::paragraphs(apply(report))],
    );
    page.section("parameters", "Parameters", vec![Block::Table(parameters(report))]);
    page.section("configurations", "Configurations", vec![Block::Table(configurations(report))]);
    page.n_answering = 3;
    page.section(
        "trials",
        "Trials",
        vec![Block::Table(tuned_trials(report)), Block::paragraphs(failures(report))],
    );
    page.repeat = Some(again(&report.id, report.status, false));
    page
}

fn question(report: &TuneReport) -> String {
    let extreme = match report.tune.goal {
        TuneGoal::Maximize => "highest",
        TuneGoal::Minimize => "lowest",
    };
    let with = match report.tune.limits.is_empty() {
        true => String::new(),
        false => format!(" and keep {}", report.tune.limits.join(", ")),
    };
    format!("Which values have the {extreme} {}{with}?", title(&report.tune.figure))
}

/// Returns the change as text: `+14 % (95 % CI +9 to +19 %)`.
fn change(gain: &Gain) -> String {
    let percent = |ratio: f64| {
        let percent = (ratio - 1.0) * 100.0;
        let sign = if percent >= 0.0 { "+" } else { "-" };
        format!("{sign}{}", significant(percent.abs(), 2))
    };
    let (low, high) = gain.interval;
    format!("{} % (95 % CI {} to {} %)", percent(gain.ratio), percent(low), percent(high))
}

fn verdict(report: &TuneReport) -> Verdict {
    let figure = title(&report.tune.figure);
    let gain = report.gain.as_ref().map(|gain| format!("{figure} {}", change(gain)));
    let gain = gain.unwrap_or_else(|| figure.clone());
    let (tone, text) = match report.verdict {
        Found::Better => {
            (Tone::Good, format!("{gain} with the best configuration, against the defaults"))
        }
        Found::Worse => {
            let why = "the configuration that looked best is worse than the defaults: keep them";
            (Tone::Warning, format!("{gain}: {why}"))
        }
        Found::NoEvidence => {
            (Tone::Plain, format!("undecided whether any configuration is better: {gain}"))
        }
        Found::BreaksLimits => {
            let limits = report.tune.limits.join(", ");
            let why = "breaks the limits in the pairs that were to confirm it";
            (Tone::Warning, format!("the best configuration {why} ({limits})"))
        }
        Found::Failed => {
            let why = "a trial that was to confirm the best configuration failed";
            (Tone::Warning, why.to_owned())
        }
        Found::NoneWorks => (Tone::Bad, "no configuration works".to_owned()),
        Found::Unfinished => (Tone::Warning, "no answer yet".to_owned()),
    };
    let n = count(report.trials.len() as u64, "trial");
    let how_far = not_completed(report.status).map(|word| format!("{word} after {n}; "));
    let headline = format!("{}: {}{text}", report.name, how_far.unwrap_or_default());
    let details = vec![explained(report).into()];
    Verdict { tone, word: String::new(), headline: headline.into(), details }
}

/// Describes how the answer was found.
fn explained(report: &TuneReport) -> String {
    let tried = report.configurations.iter().skip(1).filter(|one| one.n_trials > 0);
    let n_trials = count(report.trials.len() as u64, "trial");
    let tried = count(tried.count() as u64, "configuration");
    let failed = report.trials.iter().filter(|trial| trial.value.is_none()).count();
    let failed = match failed {
        0 => String::new(),
        n => format!(", of which {n} failed"),
    };
    let pairs = match report.pairs.len() {
        0 => String::new(),
        n => format!(
            "; the change is from {} of new trials, best and defaults in turn",
            count(n as u64, "pair")
        ),
    };
    format!("{n_trials} of {tried}{failed}{pairs}.")
}

fn best_of(report: &TuneReport) -> Option<&TunedConfiguration> {
    report.configurations.get(report.best? as usize)
}

fn best(report: &TuneReport) -> Table {
    let columns =
        vec![Column::words("parameter", "parameter"), Column::words("value", "best value")];
    let values = best_of(report).into_iter().flat_map(|best| report.axes.iter().zip(&best.values));
    let row = |(axis, value): (&model::Axis, &String)| {
        vec![axis.name.as_str().into(), value.as_str().into()]
    };
    Table::filled("best", "", columns, values.map(row).collect())
}

/// Returns how to apply the best configuration to a server by hand; empty if it has no settings of
/// a server, or is not better.
fn apply(report: &TuneReport) -> Vec<String> {
    let (Some(best), Found::Better) = (best_of(report), report.verdict) else { return Vec::new() };
    let setting = |(axis, value): (&model::Axis, &String)| {
        Some(format!("{} = {value}", axis.name.strip_prefix("server.")?))
    };
    let settings: Vec<String> = report.axes.iter().zip(&best.values).filter_map(setting).collect();
    match settings.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "To keep it, write into the server's configuration file and restart it: {}",
            settings.join("; ")
        )],
    }
}

fn parameters(report: &TuneReport) -> Table {
    let columns = vec![
        Column::words("parameter", "parameter"),
        Column::words("values", "values near the best"),
        Column::new("change %", Align::Right).key("change_percent"),
        Column::new("95 % CI", Align::Right).key("interval"),
        Column::words("matters", "matters"),
    ];
    let row = |effect: &ParameterEffect| {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let shown = |ratio: f64| significant(percent(ratio), 2);
        let interval = effect.interval;
        let interval = interval.map(|(low, high)| format!("{} to {}", shown(low), shown(high)));
        let interval = interval.filter(|_| effect.is_known());
        let matters = match (interval.as_ref(), effect.matters()) {
            (None, _) => "too few trials",
            (Some(_), true) => "yes",
            (Some(_), false) => "not shown",
        };
        vec![
            short_axis(&effect.parameter).into(),
            effect.values.join(", ").into(),
            Cell::said(
                effect.ratio.filter(|_| effect.is_known()).map_or_else(|| NONE.to_owned(), shown),
                effect.ratio.map(percent),
            ),
            interval.unwrap_or_else(|| NONE.to_owned()).into(),
            matters.into(),
        ]
    };
    Table::filled("parameters", "", columns, report.effects.iter().map(row).collect())
}

/// Returns the values of a configuration as text.
fn values(report: &TuneReport, configuration: u32) -> String {
    let Some(one) = report.configurations.get(configuration as usize) else { return String::new() };
    let pair =
        |(axis, value): (&model::Axis, &String)| format!("{}={value}", short_axis(&axis.name));
    match configuration {
        DEFAULTS => "the defaults".to_owned(),
        _ => report.axes.iter().zip(&one.values).map(pair).collect::<Vec<_>>().join(" "),
    }
}

/// Returns the table of the best configurations and the defaults, by their mean before the pairs
/// that confirm.
fn configurations(report: &TuneReport) -> Table {
    let columns = vec![
        Column::words("configuration", "configuration"),
        Column::new("trials", Align::Right).key("trials"),
        Column::new("failed", Align::Right).key("failed"),
        Column::new(title(&report.tune.figure), Align::Right).key("mean"),
    ];
    let mut tried: Vec<(usize, &TunedConfiguration)> =
        report.configurations.iter().enumerate().filter(|(_, one)| one.n_trials > 0).collect();
    let sign = if report.tune.goal == TuneGoal::Maximize { 1.0 } else { -1.0 };
    let mean = |one: &TunedConfiguration| one.mean.map_or(f64::MIN, |mean| sign * mean);
    tried.sort_by(|a, b| mean(b.1).total_cmp(&mean(a.1)));
    let is_shown = |(place, (index, _)): &(usize, (usize, &TunedConfiguration))| {
        *place < CONFIGURATIONS_MOST || *index == DEFAULTS as usize
    };
    let row = |(_, (index, one)): (usize, (usize, &TunedConfiguration))| {
        vec![
            values(report, index as u32).into(),
            u64::from(one.n_trials).into(),
            u64::from(one.n_failed).into(),
            figure(one.mean),
        ]
    };
    let rows = tried.into_iter().enumerate().filter(is_shown).map(row).collect();
    Table::filled("configurations", "", columns, rows)
}

fn figure(value: Option<f64>) -> Cell {
    Cell::said(value.map_or_else(|| NONE.to_owned(), |value| significant(value, 4)), value)
}

/// Returns the table of a tuner's trials, in their order.
pub fn tuned_trials(report: &TuneReport) -> Table {
    let columns = vec![
        Column::new("trial", Align::Right).key("trial"),
        Column::words("stage", "stage"),
        Column::words("configuration", "configuration"),
        Column::new(title(&report.tune.figure), Align::Right).key("value"),
        Column::words("limits", "limits"),
        Column::words("run", "run"),
    ];
    let row = |(nth, trial): (u64, &TunedTrial)| {
        let limits = match (trial.value, trial.keeps_limits) {
            (None, _) => "failed",
            (Some(_), true) => "kept",
            (Some(_), false) => "broken",
        };
        vec![
            nth.into(),
            trial.stage.name().into(),
            values(report, trial.configuration).into(),
            figure(trial.value),
            limits.into(),
            trial.run.as_deref().map_or(NONE, super::list::short_id).into(),
        ]
    };
    Table::filled("trials", "", columns, (1..).zip(&report.trials).map(row).collect())
}

/// Returns a line for each configuration that failed, with the reason.
fn failures(report: &TuneReport) -> Vec<String> {
    let failed = report.trials.iter().filter_map(|trial| {
        let why = trial.why.as_ref().filter(|_| trial.value.is_none())?;
        Some(format!("{} failed: {why}", values(report, trial.configuration)))
    });
    let mut all: Vec<String> = failed.collect();
    all.dedup();
    all
}
