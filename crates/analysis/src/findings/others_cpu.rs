//! CPU time that other programs took of the machine, second by second, and whether commits went up
//! and down with the CPU time that these left.
//!
//! Not here: how much is too much (environment).

use std::collections::BTreeMap;

use model::NS_PER_S;
use model::numbers::percent_text;
use stats::trend;

use crate::gauges::{points, whose};
use crate::host::{self, Machine, Place};
use crate::tally::Tally;

/// Largest share of the machine's CPU time, in percent, that other programs may use without a
/// finding. Less is within the error of readings at different instants and of clocks of 10 ms.
pub(super) const OTHERS_PERCENT_MAX: f64 = 10.0;

/// Smallest number of seconds in which a relation between commits and the CPU time of other
/// programs is looked for: ten unrelated seconds have a correlation of [`TOGETHER_MIN`] with a
/// probability of 1/10.
const SECONDS_MIN: usize = 10;
/// Smallest strength of the negative correlation between commits and the CPU time of other programs
/// at which these programs are taken for the cause.
const TOGETHER_MIN: f64 = 0.5;
/// Largest variation of commits per CPU second, as a share of the variation of commits, at which
/// other programs are taken for the cause: commits then follow the CPU time that they left.
const PER_CPU_MAX: f64 = 0.5;
/// Advice on findings that other programs cause, instead of the catalog's.
const ADVICE: &str = "Other programs took more CPU time when commits fell, and commits per CPU \
                      second hardly changed: measure on an idle machine.";
/// Ids of findings whose advice blames the database, but which other programs may cause.
const BLAMING: [&str; 4] = ["drifting", "warming_up", "slow_seconds", "uneven"];

/// CPU time in one second, in percent of the machine's.
#[derive(Clone, Copy, Debug)]
pub(super) struct CpuSecond {
    /// CPU time of generator and server; of the generator alone, if the server's is not known.
    own: f64,
    /// Lower bound of the CPU time of all other programs. Kernel time is left out, since interrupts
    /// and kernel threads also work for the network and disks of this run.
    pub(super) others: f64,
}

/// Returns the CPU time of a machine in each second of the measured phase. Seconds are left out if
/// a reading is missing, or if the plan disturbed the database in them, since a disturbance may be
/// a program of its own. `None` without the gauges of machine and generator or, where the server
/// runs alone, of the server.
pub(super) fn by_second(tally: &Tally, machine: Machine<'_>) -> Option<BTreeMap<i64, CpuSecond>> {
    let processors = machine.processors(tally)?;
    let of_machine = machine.about("machine");
    // Gauges of the machine are shares of all processors, those of a process of one.
    let weights = |about: &str, name: &str| match name {
        "cpu_user" | "cpu_nice" if about == of_machine => Some((0.0, 1.0)),
        "cpu_user" if machine.has_process(tally, about) => {
            Some((1.0 / processors, -1.0 / processors))
        }
        "cpu_system" if machine.has_process(tally, about) => Some((1.0 / processors, 0.0)),
        _ => None,
    };
    let reads = |is_it: &dyn Fn(&str) -> bool| {
        tally.gauges.iter().any(|gauge| gauge.name == "cpu_user" && is_it(&gauge.about))
    };
    let has_process = reads(&|about| machine.has_process(tally, about));
    let is_complete = match machine == Machine::OURS {
        true => has(tally, "generator") && !is_server_hidden(tally),
        // Clients that an agent executes there would count as other programs.
        false => !machine.has_clients(tally),
    };
    if !reads(&|about| about == of_machine) || !has_process || !is_complete {
        return None;
    }
    let measured = tally.seconds();
    let (mut seconds, mut n_series) = (BTreeMap::<i64, (usize, CpuSecond)>::new(), 0);
    for (gauge, points) in tally.gauges.iter().zip(points(&tally.gauges, &tally.readings)) {
        let Some((own, others)) = weights(&gauge.about, &gauge.name) else { continue };
        n_series += 1;
        for (second, value) in points.into_iter().filter(|(s, _)| measured.contains(s)) {
            let (count, sum) =
                seconds.entry(second).or_insert((0, CpuSecond { own: 0.0, others: 0.0 }));
            *count += 1;
            *sum = CpuSecond { own: sum.own + own * value, others: sum.others + others * value };
        }
    }
    let is_whole = |second: i64, count: usize| count == n_series && !is_disturbed(tally, second);
    let whole = seconds.into_iter().filter(|(second, (count, _))| is_whole(*second, *count));
    Some(whole.map(|(second, (_, cpu))| (second, cpu)).collect())
}

/// Returns true if the CPU time of `wanted` was read: `generator` or `server`.
fn has(tally: &Tally, wanted: &str) -> bool {
    tally.gauges.iter().any(|gauge| whose(&gauge.about) == wanted && gauge.name == "cpu_user")
}

/// Returns true if a planned disturbance was active, or may have been active, in a second of the
/// measured phase.
fn is_disturbed(tally: &Tally, second: i64) -> bool {
    let (from_ns, s) = (second * NS_PER_S as i64, NS_PER_S as i64);
    let touches = |described: &model::DisturbanceEvent| {
        described.began_ns < from_ns + s
            && described.ended_ns.is_none_or(|ended_ns| ended_ns >= from_ns)
    };
    tally.disturbances.iter().any(touches)
}

/// Returns true if the server is on this machine but its CPU time was not read, and so would count
/// as that of another program.
fn is_server_hidden(tally: &Tally) -> bool {
    matches!(host::place(tally), Some(Place::ThisHost)) && !has(tally, "server")
}

/// CPU time and commits of a run, both for the same seconds.
struct Together<'t> {
    machine: Machine<'t>,
    cpu: Vec<CpuSecond>,
    commits: Vec<f64>,
}

impl<'t> Together<'t> {
    /// Returns CPU time and commits by second if other programs used much CPU time and commits fell
    /// at the same times; `None` otherwise.
    fn from_tally(tally: &'t Tally) -> Option<Together<'t>> {
        Machine::all(tally).find_map(|machine| Together::on(tally, machine))
    }

    fn on(tally: &Tally, machine: Machine<'t>) -> Option<Together<'t>> {
        let groups: Vec<usize> = (0..tally.groups.len()).collect();
        let all = tally.commits_per_second(&groups, tally.whole_seconds());
        let committed = |second: &i64| all.get(usize::try_from(*second).ok()?).map(|n| *n as f64);
        let known = by_second(tally, machine)?;
        let both = known.iter().filter_map(|(second, cpu)| Some((*cpu, committed(second)?)));
        let (cpu, commits) = both.filter(|(cpu, n)| cpu.own > 0.0 && *n > 0.0).unzip();
        let together = Together { machine, cpu, commits };
        together.is_their_doing().then_some(together)
    }

    fn is_their_doing(&self) -> bool {
        let others: Vec<f64> = self.cpu.iter().map(|cpu| cpu.others).collect();
        let own: Vec<f64> = self.cpu.iter().map(|cpu| cpu.own.ln()).collect();
        let commits: Vec<f64> = self.commits.iter().map(|n| n.ln()).collect();
        let per_cpu: Vec<f64> = commits.iter().zip(&own).map(|(n, own)| n - own).collect();
        let spread = |values: &[f64]| product(values, values).sqrt();
        let correlation = product(&others, &commits) / (spread(&others) * spread(&commits));
        commits.len() >= SECONDS_MIN
            && mean(&others) > OTHERS_PERCENT_MAX
            && correlation < -TOGETHER_MIN
            && spread(&per_cpu) < PER_CPU_MAX * spread(&commits)
    }
}

/// Returns the advice that replaces the catalog's on the finding `id`, if other programs cause it;
/// `None` otherwise.
pub(super) fn advice(tally: &Tally, id: &str) -> Option<&'static str> {
    (BLAMING.contains(&id) && Together::from_tally(tally).is_some()).then_some(ADVICE)
}

/// Describes how CPU time and commits per CPU second changed while commits drifted; `None` if other
/// programs are not the cause.
pub(super) fn drift(tally: &Tally) -> Option<String> {
    let Together { machine, cpu, commits } = Together::from_tally(tally)?;
    // Trends are defined on counts.
    let count = |value: f64| (value * 1e3).round() as u64;
    let own: Vec<u64> = cpu.iter().map(|cpu| count(cpu.own)).collect();
    let per_cpu: Vec<u64> = commits.iter().zip(&cpu).map(|(n, cpu)| count(n / cpu.own)).collect();
    let (own, per_cpu) = (trend(&own)?, trend(&per_cpu)?);
    let changed = match (100.0 * per_cpu.change()).round() {
        0.0 => "did not change".to_owned(),
        percent => format!("changed by {percent:+} %"),
    };
    Some(format!(
        "The CPU time that {} got went from {} to {} of {}; commits per CPU second {changed}.",
        match (machine == Machine::OURS, machine.has_process(tally, "server")) {
            (true, true) if has(tally, "server") => "generator and server",
            (true, _) => "the generator",
            (false, _) => "the server",
        },
        percent_text(own.first.max(0.0) / 1e3),
        percent_text(own.last.max(0.0) / 1e3),
        machine.title()
    ))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the sum of the products of both series' deviations from their means.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let (of_a, of_b) = (mean(a), mean(b));
    a.iter().zip(b).map(|(a, b)| (a - of_a) * (b - of_b)).sum()
}
