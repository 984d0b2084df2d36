//! `dbdyno compare`: compares sides (sets of runs) with the first side, the baseline, and tests
//! `--fail-if` limits.

use app::Error;
use app::compare::{CompareBy, by_its_axis, compare as hold};
use app::stored_report::is_default;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::numbers::count;
use model::{JudgedLimit, LimitOutcome};
use render::document::{Document, Tone};
use render::list::short_id;
use render::terminal::PAGE_WIDTH;
use render::{comparison, comparison_short, for_shell};
use serde_json::json;
use store::Store;
use study::ComparisonReport;
use study::comparison::{Difference, Gate, GateResult, Judge, Passed, UndecidedBy, Verdict};

use super::flags::Output;
use super::runs::{full_flag, naming_sections, of_sections, section_flag};
use super::stored::store;
use super::{
    DONE, FAILED, Outcome, UNDECIDED, experiments, flags, github, last_line, print_document,
};
use crate::shell::Shell;

/// Page of the documentation that explains each verdict of a comparison, and the next step.
const PAGE: &str = "docs/reference/compare.md";

pub(crate) fn command() -> Command {
    Command::new("compare")
        .about("Compares two or more sides of runs, with a verdict")
        .after_help(format!(
            "dbdyno run WORKLOAD --vary NAME=A,B --repeat 6 interleaves two sides; dbdyno \
             compare last then compares them. Other sides are a label (build=1.2), an experiment, \
             or runs separated by commas; the first is the baseline. dbdyno compare EXPERIMENT \
             --by target compares the values of one of several varied parameters.\n\n\
             Verdicts, explained in {PAGE}: {}.",
            Verdict::ALL.map(|verdict| format!("\"{}\"", verdict.name())).join(", ")
        ))
        .arg(Arg::new("sides").required(true).num_args(1..).value_name("SIDE").help(
            "KEY=VALUE of a label, an experiment, or runs separated by commas, each by id or name; \
             'last' is the newest experiment, or a newer run",
        ))
        .arg(
            Arg::new("by")
                .long("by")
                .value_name("AXIS")
                .help("Compare the values of this varied parameter (axis) of one experiment"),
        )
        .args(judged())
        .arg(full_flag("The full page: each transaction, metrics, all figures, plans"))
        .arg(section_flag(render::COMPARISON_SECTIONS))
        .arg(flags::quiet("Only the results of the limits, or without limits the verdicts"))
        .arg(
            Arg::new("fail_if").long("fail-if").action(ArgAction::Append).value_name("LIMIT").help(
                "Exit with code 1 if the change is surely beyond this limit, with 0 if it is \
                 surely within, with 3 if that is undecided, with 2 if a side has fewer than three \
                 runs: \"p99>+5%\", \"tps<-3%\" (six repeats or more). To catch a loss of 5 %, \
                 set a limit of about 2.5 %",
            ),
        )
        .arg(
            flags::undecided(
                "Whether limits that the runs leave undecided pass or fail [default: fail]",
            )
            .requires("fail_if"),
        )
}

/// Creates the flags `--figure` (the figure to judge) and `--min-effect` (the smallest difference
/// that matters).
pub(super) fn judged() -> [Arg; 2] {
    let value = |name: &'static str, value_name: &'static str, help: &'static str| {
        Arg::new(name).long(name.replace("_", "-")).value_name(value_name).help(help)
    };
    [
        value(
            "figure",
            "NAME",
            "Figure to judge: tps, p99, reads, new_order.p99 or any other of the runs",
        ),
        value(
            "min_effect",
            "PERCENT",
            "Smallest change that counts: a difference beyond chance is called better or worse if \
             the measured change is larger, and too small to matter if its whole CI is within this \
             [default: 1%]",
        )
        .allow_hyphen_values(true),
    ]
}

pub(crate) fn compare(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let asked = asked(matches)?;
    let mut judge = judge(matches)?;
    let gates = gates(matches)?;
    judge.also = gates.iter().map(|gate| gate.figure.clone()).collect();
    let store = store(matches, shell)?;
    let compared = by_its_axis(&store, &asked);
    let (mut report, compared) =
        compared.and_then(|sides| Ok((hold(&store, &sides, &judge)?, sides)))?;
    report.seen_unix_ms = Some(app::unix_ms());
    if let Some(command) = &mut report.command {
        for limit in matches.get_many::<String>("fail_if").into_iter().flatten() {
            command.push_str(&format!(" --fail-if {}", for_shell(limit)));
        }
    }
    let gates = held(&gates, &report, matches, shell)?;
    keep(&store, &compared, &gates);
    match flags::output_of(matches) {
        Output::Json => {
            let mut value = serde_json::to_value(&report).expect("numbers, words and lists");
            let gates = gates.iter().map(|gate| {
                let mut value = json!(gate);
                value["fails"] = json!(fails(gate, matches));
                value
            });
            value["gates"] = gates.collect();
            shell.print(&format!("{value:#}\n"))
        }
        _ => {
            let mut page = page_of(&report, &compared, &gates, matches);
            tone(&mut page, &gates, matches);
            let output = flags::output_of(matches);
            if matches.get_flag("quiet") && matches!(output, Output::Text | Output::Github) {
                page = in_brief(page, gates.len());
            }
            if flags::output_of(matches) == Output::Csv {
                // A table has no room for them.
                page.verdicts[..gates.len()]
                    .iter()
                    .for_each(|verdict| shell.say(&verdict.headline.plain()));
            }
            print_document(&page, PAGE_WIDTH, matches, shell)
        }
    }?;
    let code = match gates.iter().any(|gate| gate.passed == Passed::Broken) {
        true => FAILED,
        false if gates.iter().any(|gate| fails(gate, matches)) => UNDECIDED,
        false => DONE,
    };
    if !gates.is_empty() {
        let has_undecided = gates.iter().any(|gate| gate.passed == Passed::Undecided);
        last_line::print(code, has_undecided, matches, shell);
    }
    Ok(code)
}

/// Stores the outcomes of limits with the experiment that is compared. A store that cannot be
/// written keeps none, and neither does one for other sides, which are of no single experiment.
fn keep(store: &Store, compared: &CompareBy, gates: &[GateResult]) {
    let CompareBy::Axis { experiment, .. } = compared else { return };
    let judged = |gate: &GateResult| JudgedLimit {
        option: FAIL_IF.to_owned(),
        outcome: match gate.passed {
            Passed::Held => LimitOutcome::Passed,
            Passed::Broken => LimitOutcome::Failed,
            Passed::Undecided => LimitOutcome::Undecided,
        },
        text: render::gate_in_words(gate),
    };
    let judged: Vec<JudgedLimit> = gates.iter().map(judged).collect();
    if let (false, Ok(found)) = (judged.is_empty(), store.experiment_or_run(experiment)) {
        let _ = store.put_experiment_limits(&found.id, FAIL_IF, &judged);
    }
}

/// Name of the option that sets a limit on a change.
const FAIL_IF: &str = "fail-if";

/// Parses the sets of runs to compare. With `--by AXIS`, they are the values of a varied parameter
/// of exactly one experiment.
fn asked(matches: &ArgMatches) -> Result<CompareBy, Error> {
    let names: Vec<String> =
        matches.get_many::<String>("sides").expect("clap requires one").cloned().collect();
    match (matches.get_one::<String>("by"), &names[..]) {
        (None, _) => Ok(CompareBy::Sides(names)),
        (Some(axis), [experiment]) => {
            Ok(CompareBy::Axis { experiment: experiment.clone(), axis: axis.clone() })
        }
        (Some(_), _) => {
            let why = "--by compares within one experiment: name one";
            Err(Error::Usage(why.to_owned()))
        }
    }
}

/// Relative change, as a fraction, from which on a `--fail-if` limit gets a warning, since a limit
/// so large is probably a mistake.
const LARGE: f64 = 0.9;

/// Tests the `--fail-if` limits on a comparison and returns their results. Fails if a compared set
/// of runs has too few runs to decide a limit at all, unless `--undecided pass` is given. Prints
/// warnings of limits that are very large or that a better figure would break.
fn held(
    gates: &[Gate],
    report: &ComparisonReport,
    matches: &ArgMatches,
    shell: &Shell,
) -> Result<Vec<GateResult>, Error> {
    let gates: Result<Vec<GateResult>, String> =
        gates.iter().map(|gate| gate.hold(report)).collect();
    let gates = gates.map_err(|why| Error::Usage(format!("--fail-if: {why}")))?;
    let is_open = |gate: &&GateResult| {
        // A side that is still being measured may get more runs.
        let is_running = gate.undecided_by == UndecidedBy::Running;
        gate.has_too_few_runs() && gate.passed != Passed::Broken && !is_running
    };
    if let Some(gate) = gates.iter().find(is_open)
        && flags::fails_undecided(matches)
    {
        return Err(Error::Usage(format!(
            "--fail-if {}: {} has {}, which can decide nothing: run 6 or more a side \
             (--repeat 6), or let it pass with --undecided pass",
            gate.gate,
            gate.side_least,
            count(gate.runs_least as u64, "run")
        )));
    }
    for gate in gates.iter().filter(|gate| gate.limit.abs() >= LARGE) {
        let text = format!(
            "warning: --fail-if {} allows a change of {} %",
            gate.gate,
            model::numbers::exact(gate.limit.abs() * 100.0)
        );
        github::say("warning", &text, matches, shell);
    }
    for gate in &gates {
        let Some(meant) = &gate.meant else { continue };
        let text = format!(
            "warning: --fail-if {} fails when the figure gets better; did you mean '{meant}'?",
            gate.gate
        );
        github::say("warning", &text, matches, shell);
    }
    if !gates.is_empty() {
        for text in cautions(report).into_iter().chain(is_old(report, matches)) {
            github::say("warning", &format!("warning: {text}"), matches, shell);
        }
    }
    Ok(gates)
}

/// Returns warnings for users who see only the results of `--fail-if` limits: the baseline is newer
/// than a set of runs that is compared with it, runs do not count, or runs are still in progress.
fn cautions(report: &ComparisonReport) -> Vec<String> {
    let reversed = report.pairs.iter().filter_map(|pair| report.reversed_words(pair));
    let lost = report.sides.iter().filter(|side| side.runs_not_counted > 0);
    let running = report.running_words();
    reversed.chain(lost.map(|side| side.lost_words())).chain(running).collect()
}

/// Returns a warning if `last` is one of the compared sets and its newest run began an hour ago or
/// earlier, since a later run may have failed; else `None`.
fn is_old(report: &ComparisonReport, matches: &ArgMatches) -> Option<String> {
    let mut sides = matches.get_many::<String>("sides").into_iter().flatten();
    let age_s = report.age_s().filter(|_| sides.any(|side| side == store::LAST))?;
    let (last, ago) = (store::LAST, render::ago(age_s));
    Some(format!("{last} is from {ago}: if a run before this failed, join both with &&"))
}

/// Returns true if a limit makes the command fail: it is broken, or it is undecided and
/// `--undecided pass` is not given.
fn fails(gate: &GateResult, matches: &ArgMatches) -> bool {
    match gate.passed {
        Passed::Broken => true,
        Passed::Undecided => flags::fails_undecided(matches),
        Passed::Held => false,
    }
}

/// Returns of a page only the results of the first `n_gates` verdicts, those of limits, or without
/// limits all verdicts, each in a sentence.
fn in_brief(mut page: Document, n_gates: usize) -> Document {
    page.verdicts.truncate(if n_gates > 0 { n_gates } else { usize::MAX });
    page.verdicts.iter_mut().for_each(|verdict| verdict.details.clear());
    Document { verdicts: page.verdicts, ..Document::default() }
}

/// Sets the tones (good, warning or bad) of the verdicts on a page. The first verdicts are those on
/// `--fail-if` limits: a verdict that makes the command fail is bad, and one that is undecided and
/// let pass says so. With `--output github`, all
/// others are warnings at most.
fn tone(page: &mut Document, gates: &[GateResult], matches: &ArgMatches) {
    github::soften(&mut page.verdicts, matches);
    for (verdict, gate) in page.verdicts.iter_mut().zip(gates) {
        if fails(gate, matches) {
            verdict.tone = Tone::Bad;
        } else if gate.passed == Passed::Undecided {
            verdict.headline = verdict.headline.clone().and(last_line::LET_PASS);
        }
    }
}

/// Creates the page of a comparison: only the sections that the user requests, the short page if
/// the output is text or Markdown without `--full`, or else the full page.
fn page_of(
    report: &ComparisonReport,
    compared: &CompareBy,
    gates: &[GateResult],
    matches: &ArgMatches,
) -> Document {
    let whole = || comparison(report, gates);
    if let Some(page) = of_sections(matches, whole) {
        return page;
    }
    let output = flags::output_of(matches);
    match (matches!(output, Output::Text | Output::Markdown), matches.get_flag("full")) {
        (false, _) => whole(),
        (true, true) if output == Output::Markdown => whole(),
        (true, true) => naming_sections(whole(), &render::COMPARISON_SECTIONS, "--section NAME"),
        (true, false) => {
            // Readers of Markdown, as in a pull request, lack the store with these ids.
            let next = match output {
                Output::Markdown => Vec::new(),
                _ => next_commands(report, compared, !gates.is_empty(), matches),
            };
            comparison_short(&without_defaults(report), gates, &next)
        }
    }
}

/// Copies the report of a comparison without those size parameters of the data that have default
/// values, for which the short page has no room. With several workloads it keeps them all.
fn without_defaults(report: &ComparisonReport) -> ComparisonReport {
    let mut report = report.clone();
    if let [workload] = &report.scene.workloads[..] {
        let is_shown = |parameter: &&str| {
            let is_default = |(name, value)| is_default(workload, name, value);
            !parameter.split_once(' ').is_some_and(is_default)
        };
        for size in &mut report.scene.data {
            *size = size.split(", ").filter(is_shown).collect::<Vec<_>>().join(", ");
        }
        report.scene.data.retain(|size| !size.is_empty());
    }
    report
}

/// Returns the commands that a comparison's short page suggests, each with its purpose. With
/// `is_gate`, the command has a `--fail-if` limit already, so that none is suggested.
fn next_commands(
    report: &ComparisonReport,
    compared: &CompareBy,
    is_gate: bool,
    matches: &ArgMatches,
) -> Vec<(String, String)> {
    let names = matches.get_many::<String>("sides").into_iter().flatten();
    let names: Vec<String> = names.map(|name| for_shell(name)).collect();
    let names = names.join(" ");
    let by = |axis: &str| format!(" --by {}", for_shell(axis));
    let asked = matches.get_one::<String>("by").map_or_else(String::new, |axis| by(axis));
    // A report of an experiment alone is no comparison.
    let axis = match compared {
        CompareBy::Axis { axis, .. } => by(model::short_axis(axis)),
        CompareBy::Sides(_) => String::new(),
    };
    let limit = experiments::limit_on_losses(report);
    let commands = [
        (format!("dbdyno compare {names}{asked} --full"), "all figures"),
        (format!("dbdyno report {names}{axis} -o compare.html"), "charts"),
        (format!("dbdyno compare {names}{asked} --fail-if '{limit}'"), "a gate"),
    ];
    // If there is a gate already, do not suggest another one; nor if nothing is decided.
    let is_open = render::is_open(report);
    let n_shown =
        if is_gate || is_open || !experiments::has_runs_of_a_gate(report) { 2 } else { 3 };
    let more = match compared {
        // What the rule of an experiment says holds, and not the verdict on a fixed number.
        _ if !is_open || report.by_rule.is_some() => None,
        CompareBy::Axis { experiment, .. } if is_gate => {
            Some(experiments::more_repeats(experiment, report))
        }
        CompareBy::Axis { experiment, .. } => {
            Some(experiments::until_decided(experiment, report, render::compared_repeat_s(report)))
        }
        CompareBy::Sides(_) => varied_until_decided(report, is_gate),
    };
    let rest = commands.into_iter().take(n_shown).map(|(command, why)| (command, why.to_owned()));
    more.into_iter().chain(rest).collect()
}

/// Returns the command that repeats both compared sets of runs as one experiment until their
/// difference is decided, with the command's description. `None` unless the plans differ in exactly
/// one parameter, or only in the target, which must be a file and no server. With `is_gate`, the
/// number of repeats is fixed.
fn varied_until_decided(report: &ComparisonReport, is_gate: bool) -> Option<(String, String)> {
    let [base, _] = report.sides.as_slice() else { return None };
    let of_plan: Vec<&Difference> =
        report.differences.iter().filter(|one| one.about == "plan").collect();
    let of_target: Vec<&Difference> =
        report.differences.iter().filter(|one| one.about == "target").collect();
    let one = match (&of_plan[..], &of_target[..]) {
        ([one], []) => one,
        ([], [one]) if one.name == "url" => one,
        _ => return None,
    };
    let [Some(first), Some(second)] = &one.values[..] else { return None };
    // The user of a server is not in its identity.
    let is_server = |value: &String| value.contains("://");
    if one.about == "target" && [first, second].into_iter().any(is_server) {
        return None;
    }
    let name = match one.name.strip_prefix("group.").unwrap_or(&one.name) {
        "url" => "target",
        name => name.strip_prefix("parameters.").unwrap_or(name),
    };
    let (run, varied) = (&base.median_run.as_ref()?.run, format!("{name}={first},{second}"));
    let command = format!(
        "dbdyno runs show {} --plan > plan.toml && dbdyno run plan.toml --vary {} {}",
        short_id(run),
        for_shell(&varied),
        match is_gate {
            true => experiments::repeat_for_gate(report),
            false => experiments::repeat_until_decided(report),
        }
    );
    let words = match is_gate {
        true => experiments::FOR_GATE.to_owned(),
        false => experiments::until_decided_words(report, render::compared_repeat_s(report)),
    };
    Some((command, words))
}

/// Parses the limits of `--fail-if`.
pub(super) fn gates(matches: &ArgMatches) -> Result<Vec<Gate>, Error> {
    let gates = matches.get_many::<String>("fail_if").into_iter().flatten();
    gates
        .map(|text| text.parse::<Gate>().map_err(|why| Error::Usage(format!("--fail-if: {why}"))))
        .collect()
}

/// Parses `--figure` and `--min-effect` of a comparison.
pub(super) fn judge(matches: &ArgMatches) -> Result<Judge, Error> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    Judge::asked(text("figure"), text("min_effect")).map_err(|bad| Error::Usage(format!("--{bad}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_explains_each_verdict_once_and_no_other() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
        let (_, table) = page.split_once("| verdict | meaning | next step |\n").unwrap();
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        let words: Vec<&str> = rows.map(|row| row.split('|').nth(1).unwrap().trim()).collect();
        assert_eq!(words, Verdict::ALL.map(Verdict::name));
    }
}
