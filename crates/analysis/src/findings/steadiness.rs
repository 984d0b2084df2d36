//! Findings on the course of the run: was it long enough, did it end as planned, and was it steady?

use model::{
    DisturbanceEvent, Disturbed, GroupDescription, Load, NS_PER_S, Severity, StopCondition,
    StopReason, numbers, parse_count,
};
use stats::{Cold, Stability, Stall, WarmUp, trend, warm_up};

use super::{FindingText, count, duration, others_cpu, percent_text};
use crate::tally::{SLOT_NS, Tally};

/// Shortest measured phase whose result is valid, in nanoseconds.
const MEASURED_NS_MIN: u64 = NS_PER_S;

/// Shortest measured phase without a note, in nanoseconds: a shorter one may have no checkpoint,
/// flush or vacuum.
const MEASURED_NS_SHORT: u64 = 10 * NS_PER_S;

/// Length of the measured phase that findings advise, in nanoseconds.
const WANTED_NS: u64 = 60 * NS_PER_S;

/// Smallest change of commits over the measured phase that counts as a drift, in percent of the
/// rate at its beginning, however significant the change is.
const TREND_PERCENT_MIN: f64 = 5.0;

/// Smallest z score of a drift in a long run. Of simulated steady runs whose rate wanders slowly,
/// with a time constant of 10 s, 1 to 3 % have such a trend by chance
/// (`docs/explanation/intervals.md`). A fall of 10 % in a minute is found in 66 % of runs whose
/// seconds scatter by 5 %, and in all at 2 %.
const TREND_Z_MIN: f64 = 2.6;

/// Number of seconds from which a run is long enough for [`TREND_Z_MIN`]. A shorter one does not
/// show whether a rate merely wanders, and needs [`SHORT_Z_MIN`].
const TREND_SECONDS_LONG: usize = 48;
/// Smallest z score at which a trend of commits counts as a drift, in a run of fewer than
/// [`TREND_SECONDS_LONG`] seconds.
const SHORT_Z_MIN: f64 = 2.85;

/// Number of seconds below which only a steep trend is a drift: one effect of a cache or a
/// checkpoint looks like a trend.
const TREND_SECONDS_MIN: usize = 24;
/// Smallest change of commits, in percent of the rate at the beginning, at which a trend in a run
/// below [`TREND_SECONDS_MIN`] is steep enough to be a drift.
const STEEP_PERCENT_MIN: f64 = 10.0;
const STEEP_Z_MIN: f64 = 3.3;

/// Largest coefficient of variation of the commits per second, beyond chance, without a finding.
const CV_MAX: f64 = 0.30;

/// Share of time in stalls, in percent, from which the finding on them is a warning instead of a
/// note.
const STALLED_PERCENT_NOTED: f64 = 1.0;

/// Share of time in stalls that planned disturbances cause, in percent, from which the finding on
/// them is a warning instead of a note: figures of the whole run then mean little.
const PLANNED_PERCENT_NOTED: f64 = 10.0;

enum Time {
    Failed { why: String },
    QueueFull { at_ns: u64 },
    QueueFullEarly,
    Interrupted { measured_ns: u64, planned_ns: u64 },
    TooShort { measured_ns: u64 },
    Short { measured_ns: u64 },
    CountTooSmall { measured_ns: u64, ended_by: Counted },
    NoRampUp,
    ShortRampUp(ShortRampUp),
    WarmingUp(Warming),
    Drifting(Drift),
    Uneven { cv: f64 },
    Stalled(Stalls),
}

impl Time {
    fn text(self) -> FindingText {
        match self {
            Time::Failed { why } => FindingText {
                id: "run_failed",
                severity: Severity::Invalid,
                text: format!("An error stopped the run: {}.", why.trim_end_matches('.')),
            },
            Time::QueueFull { at_ns } => FindingText {
                id: "queue_full",
                severity: Severity::Warning,
                text: format!(
                    "The queue was full {} into the measured phase, which stops the run: the \
                     system cannot handle this rate.",
                    seconds(at_ns)
                ),
            },
            Time::QueueFullEarly => FindingText {
                id: "queue_full",
                severity: Severity::Invalid,
                text: "The queue was full during the ramp-up, which stops the run: nothing was \
                       measured, since the system cannot handle this rate."
                    .to_owned(),
            },
            Time::Interrupted { measured_ns, planned_ns } => FindingText {
                id: "interrupted",
                severity: Severity::Note,
                text: format!(
                    "The run was interrupted: {} were measured of {} planned.",
                    seconds(measured_ns),
                    seconds(planned_ns)
                ),
            },
            Time::TooShort { measured_ns } => too_short(measured_ns),
            Time::Short { measured_ns } => FindingText {
                id: "short",
                severity: Severity::Note,
                text: format!(
                    "{} were measured, possibly without any checkpoint, flush or vacuum.",
                    seconds(measured_ns)
                ),
            },
            Time::CountTooSmall { measured_ns, ended_by } => ended_by.text(measured_ns),
            Time::NoRampUp => FindingText {
                id: "no_ramp_up",
                severity: Severity::Note,
                text: "There was no ramp-up: filling caches is part of the figures.".to_owned(),
            },
            Time::ShortRampUp(times) => times.text(),
            Time::WarmingUp(found) => found.text(),
            Time::Drifting(drift) => drift.text(),
            Time::Uneven { cv } => FindingText {
                id: "uneven",
                severity: Severity::Warning,
                text: format!(
                    "Uneven: the standard deviation of the seconds is {:.0} % of their mean.",
                    100.0 * cv
                ),
            },
            Time::Stalled(stalls) => stalls.text(),
        }
    }
}

fn too_short(measured_ns: u64) -> FindingText {
    FindingText {
        id: "too_short",
        severity: Severity::Invalid,
        text: match measured_ns {
            0 => "Nothing was measured.".to_owned(),
            _ => format!("Only {} were measured.", duration(measured_ns)),
        },
    }
}

/// Number of transactions (or measurements, for producers) after which a run ended.
pub(super) struct Counted {
    n: u64,
    noun: &'static str,
    /// Command-line option that sets the number of transactions or measurements.
    flag: &'static str,
    /// Time until the number of transactions or measurements was reached, in nanoseconds.
    took_ns: u64,
    /// Time that a run with a large enough number should take, in nanoseconds.
    wanted_ns: u64,
    ramp_up_ns: u64,
}

impl Counted {
    fn text(self, measured_ns: u64) -> FindingText {
        let Counted { n, noun, flag, took_ns, wanted_ns, ramp_up_ns } = self;
        let measured = match (measured_ns, ramp_up_ns) {
            (0, 1..) => format!(
                "Nothing was measured: the ramp-up of {} took all of them, give --ramp-up 0s",
                duration(ramp_up_ns)
            ),
            (0, 0) => "Nothing was measured".to_owned(),
            _ => format!("Only {} were measured", duration(measured_ns)),
        };
        // Two digits suffice for a rate from so short a run.
        let needed = n as f64 * wanted_ns as f64 / took_ns as f64;
        let digit = 10_f64.powf(needed.log10().floor() - 1.0).max(1.0);
        let needed = ((needed / digit).ceil() * digit) as u64;
        FindingText {
            id: "count_too_small",
            severity: match measured_ns {
                ..MEASURED_NS_MIN => Severity::Invalid,
                _ => Severity::Note,
            },
            text: format!(
                "{measured}. The load of {} took {}. At that rate, a minute takes {} \
                 ({flag} {needed}).",
                count(n, noun),
                duration(took_ns),
                model::format_count(needed),
            ),
        }
    }
}

/// Returns the number of transactions or measurements that ended a run before its planned time;
/// `None` if something else ended it.
pub(super) fn counted(tally: &Tally) -> Option<Counted> {
    let (ended, description) = (tally.ended.as_ref()?, tally.description.as_ref()?);
    let phases = &description.phases;
    let is_early = phases.measure_ns == 0 || ended.measured_ns < phases.measure_ns;
    if ended.reason != StopReason::Completed || !is_early {
        return None;
    }
    let of_group = |group: &GroupDescription| {
        let made = group.parameters.iter().find(|(name, _)| name == model::PRODUCER_COUNT);
        let n_made = made.and_then(|(_, n)| parse_count(n).ok()).filter(|n| *n > 0);
        let (n, noun, flag) = match (n_made, group.stop_condition) {
            (Some(n), _) => (n, "measurement", "--measurements"),
            (None, StopCondition::Transactions(n)) => (n, "transaction", "--transactions"),
            (None, StopCondition::TransactionsPerClient(n)) => {
                (n * u64::from(group.clients), "transaction", "--transactions")
            }
            (None, StopCondition::Time | StopCondition::Sequence) => return None,
        };
        // Transactions are counted from the end of the ramp-up, measurements from its beginning.
        let (took_ns, wanted_ns) = match n_made {
            Some(_) => {
                let took = tally.fact_of_group(group, model::PRODUCER_ELAPSED_S)?.as_seconds()?;
                ((took * NS_PER_S as f64) as u64, phases.ramp_up_ns + WANTED_NS)
            }
            None => (ended.measured_ns, WANTED_NS),
        };
        let ramp_up_ns = phases.ramp_up_ns;
        (took_ns > 0).then_some(Counted { n, noun, flag, took_ns, wanted_ns, ramp_up_ns })
    };
    description.groups.iter().find_map(of_group)
}

/// Stalls that one finding reports together.
struct Stalls {
    n: u64,
    stalled_ns: u64,
    percent: f64,
    longest: Stall,
    /// Words for the disturbance at which the longest of these stalls began; `None` for stalls
    /// without a disturbance.
    at: Option<String>,
    /// Stalls at planned disturbances that another finding reports: their total length in
    /// nanoseconds, and words for the disturbance of the longest. `None` if there are none.
    apart: Option<(u64, String)>,
    /// True if all stalls lie in the seconds that the finding `warming_up` reports.
    is_at_first: bool,
}

impl Stalls {
    fn text(self) -> FindingText {
        let is_planned = self.at.is_some();
        let noted = if is_planned { PLANNED_PERCENT_NOTED } else { STALLED_PERCENT_NOTED };
        let is_noted = self.percent < noted || self.is_at_first;
        let id = if is_planned { "stalled_at_disturbance" } else { "stalled" };
        let at = self.at.map_or_else(String::new, |at| format!(", {at}"));
        let apart = self.apart.map_or_else(String::new, |(ns, at)| {
            format!("; planned disturbances caused another {}, {at}", duration(ns))
        });
        FindingText {
            id,
            severity: if is_noted { Severity::Note } else { Severity::Warning },
            text: format!(
                "{} of commits, {} in all ({} of the time); the longest took {} and began at \
                 {:.1} s{at}{apart}.",
                count(self.n, "stall"),
                duration(self.stalled_ns),
                percent_text(self.percent),
                duration(length_ns(&self.longest)),
                self.longest.start_index as f64 / 10.0
            ),
        }
    }
}

fn length_ns(stall: &Stall) -> u64 {
    stall.length_slots as u64 * SLOT_NS
}

/// Divides the stalls of a run between two findings: those at planned disturbances, and all others.
/// Only the longest stalls are known one by one. The remaining ones, of which only number and total
/// length are known, are added to the others, or to those at disturbances if there are no others.
fn stalls(tally: &Tally, found: &Stability) -> Vec<Stalls> {
    let is_disturbed = |stall: &Stall| disturbance_at(tally, stall).is_some();
    let (at, others): (Vec<Stall>, Vec<Stall>) =
        found.stalls.iter().partition(|one| is_disturbed(one));
    let sum = |all: &[Stall]| (all.len() as u64, all.iter().map(length_ns).sum::<u64>());
    let (n, stalled_ns) = (found.n_stalls as u64, found.stalled_ns);
    let rest = |(n_of, ns_of): (u64, u64)| (n - n_of, stalled_ns - ns_of);
    let of_disturbances = if others.is_empty() { (n, stalled_ns) } else { sum(&at) };
    let of_others = rest(sum(&at));
    let reported = |all: &[Stall], (n, stalled_ns): (u64, u64)| {
        let longest = *all.iter().max_by_key(|stall| stall.length_slots)?;
        let percent = super::percent(stalled_ns, tally.measured_ns());
        let at = disturbance_at(tally, &longest);
        Some(Stalls { n, stalled_ns, percent, longest, at, apart: None, is_at_first: false })
    };
    let planned = reported(&at, of_disturbances);
    let apart = planned.as_ref().and_then(|all| Some((all.stalled_ns, all.at.clone()?)));
    let others = reported(&others, of_others).map(|all| Stalls { apart, ..all });
    others.into_iter().chain(planned).collect()
}

/// Time after the start of a disturbance for which it explains a stall even if it has ended, in
/// nanoseconds.
const JUST_BEGUN_NS: i64 = NS_PER_S as i64;

/// Returns words for the disturbance that explains a stall, such as `during 'kill' (8 s)`: the last
/// one that was active or had just begun when the stall began, or that began within the first half
/// of the stall. `None` if there is none.
fn disturbance_at(tally: &Tally, stall: &Stall) -> Option<String> {
    let slot_ns = SLOT_NS as i64;
    let start_ns = stall.start_index as i64 * slot_ns;
    let soon_ns = (length_ns(stall) as i64 / 2).clamp(slot_ns, JUST_BEGUN_NS);
    let ended_ns = |one: &DisturbanceEvent| one.ended_ns.unwrap_or(i64::MAX);
    let is_reason = |one: &&DisturbanceEvent| {
        let until_ns = ended_ns(one).max(one.began_ns + JUST_BEGUN_NS);
        let is_begun = !matches!(one.outcome, Disturbed::Skipped { .. });
        is_begun && one.began_ns < start_ns + soon_ns && start_ns <= until_ns
    };
    // An earlier disturbance comes before a later one: a server that was killed is started again.
    let is_before = |one: &DisturbanceEvent| one.began_ns <= start_ns + slot_ns;
    let reasons = tally.disturbances.iter().filter(is_reason);
    let last = reasons.max_by_key(|one| (is_before(one), one.began_ns))?;
    let word = if start_ns <= ended_ns(last) { "during" } else { "right after" };
    let began = numbers::seconds(last.began_ns as f64 / NS_PER_S as f64);
    Some(format!("{word} '{}' ({began})", last.name))
}

fn seconds(ns: u64) -> String {
    numbers::seconds(ns as f64 / NS_PER_S as f64)
}

/// Returns the findings on how the load of fixed sequences of transactions ended.
pub(super) fn look_at_end(tally: &Tally) -> Vec<FindingText> {
    let is_empty = tally.ended.is_some() && tally.measured_ns() == 0;
    let empty = is_empty.then_some(Time::TooShort { measured_ns: 0 });
    ended(tally).into_iter().chain(empty).map(Time::text).collect()
}

pub(super) fn look(tally: &Tally) -> Vec<FindingText> {
    let mut all: Vec<Time> = Vec::new();
    all.extend(ended(tally));
    all.extend(short(tally));
    let no_ramp_up =
        tally.description.as_ref().is_some_and(|described| described.phases.ramp_up_ns == 0);
    all.extend(no_ramp_up.then_some(Time::NoRampUp));
    let short_ramp_up = short_ramp_up(tally);
    let is_explained = short_ramp_up.is_some();
    all.extend(short_ramp_up);
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let slots = tally.commits_100ms(&groups);
    if slots.iter().any(|&n| n > 0) {
        let seconds = tally.commits_per_second(&groups, tally.whole_seconds());
        let warming = beginning(tally, &slots);
        // A beginning that differs is one finding: the rest is judged without it.
        let from = warming.as_ref().map_or(0, |found| found.seconds.min(seconds.len()));
        all.extend(warming.filter(|_| !is_explained).map(Time::WarmingUp));
        if !tally.is_planned_to_change() {
            let drift = drifting(&seconds[from..]);
            let drift = drift.map(|drift| Drift { cpu: others_cpu::drift(tally), ..drift });
            all.extend(drift.map(Time::Drifting).or_else(|| uneven(&seconds[from..])));
        }
        let found = tally.stability(&groups);
        let is_first = |stall: &Stall| stall.start_index + stall.length_slots <= 10 * from;
        let is_at_first = from > 0 && found.stalls.iter().all(is_first);
        let mark_first = |stalls| Stalls { is_at_first, ..stalls };
        all.extend(stalls(tally, &found).into_iter().map(mark_first).map(Time::Stalled));
    }
    all.into_iter().map(Time::text).collect()
}

/// Smallest difference between the beginning and the rest of the measured phase for the finding
/// `warming_up`, as a share of the rest.
const WARM_UP_EFFECT_MIN: f64 = 0.01;

/// Shortest measured phase, in seconds, for the finding `warming_up`. A checkpoint or stall that is
/// under way when the measured phase begins looks like a warm-up, and a shorter run does not show
/// whether it recurs.
const SECONDS_MIN: usize = 20;
/// Length of the measured phase, in seconds, below which a warm-up is reported only if it lasts at
/// most a third of the phase: a longer one may be a recurring state of the system, such as a
/// checkpoint.
const SECONDS_FEW: usize = 30;
const PHASE_SHARE_MAX: usize = 3;

/// Number of slots of 100 ms in a second.
const SLOTS_PER_S: usize = (NS_PER_S / SLOT_NS) as usize;

/// A beginning of the measured phase that differs from the rest of it.
struct Warming {
    /// Length of the differing beginning, in seconds.
    seconds: usize,
    /// The difference between the beginning and the rest of the measured phase, in words.
    what: String,
    ramp_up_ns: u64,
}

impl Warming {
    fn text(self) -> FindingText {
        let needed_s = self.ramp_up_ns as f64 / NS_PER_S as f64 + self.seconds as f64;
        let (first, differ) = match self.seconds {
            1 => ("second".to_owned(), "differs"),
            n => (format!("{n} seconds"), "differ"),
        };
        FindingText {
            id: "warming_up",
            severity: Severity::Warning,
            text: format!(
                "The first {first} of the measured phase {differ}: {}. Use --ramp-up {}s.",
                self.what,
                numbers::rounded_up(needed_s)
            ),
        }
    }
}

/// Returns the number of seconds at the beginning of the measured phase that the finding
/// `warming_up` reports; 0 if the run does not have the finding.
pub(super) fn seconds_at_first(tally: &Tally) -> usize {
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    beginning(tally, &tally.commits_100ms(&groups)).map_or(0, |found| found.seconds)
}

/// Returns the seconds at the beginning of the measured phase that differ from the rest, by commits
/// in `slots` of 100 ms and by response times. `None` if there are none, if nothing was committed,
/// or if the plan changes the rate.
fn beginning(tally: &Tally, slots: &[u64]) -> Option<Warming> {
    if tally.is_planned_to_change() || slots.iter().all(|&n| n == 0) {
        return None;
    }
    warming(tally, slots)
}

/// Returns the beginning of the measured phase in which commits or response times were not steady
/// yet. `None` if both were steady, or if a disturbance began in these first seconds. `slots` has
/// the commits of each 100 ms.
fn warming(tally: &Tally, slots: &[u64]) -> Option<Warming> {
    let of_commits = (!follows_arrivals(tally)).then(|| commits_at_first(slots)).flatten();
    let medians = tally.whole_seconds().map(|second| tally.second(second).quantiles);
    let medians: Option<Vec<u64>> = medians.map(|quantiles| Some(quantiles?.p50_ns)).collect();
    let of_times = medians.and_then(|medians| times_at_first(&medians));
    let (seconds, what) = of_commits.into_iter().chain(of_times).max_by_key(|found| found.0)?;
    let is_disturbed =
        tally.disturbances.iter().any(|one| one.began_ns <= (seconds as u64 * NS_PER_S) as i64);
    let ramp_up_ns = tally.description.as_ref()?.phases.ramp_up_ns;
    (!is_disturbed).then_some(Warming { seconds, what, ramp_up_ns })
}

/// Returns true if all groups have open load. Commits at the beginning then follow the arrivals, or
/// the queue of the ramp-up, and say nothing about the system.
fn follows_arrivals(tally: &Tally) -> bool {
    let groups = tally.description.iter().flat_map(|described| &described.groups);
    groups.into_iter().all(|group| matches!(group.load, Load::Open { .. }))
}

/// Returns the warm-up at the beginning of a series with `per_s` values in each second; `None` if
/// there is none, or if the run is too short to tell it from a recurring state, such as a
/// checkpoint.
fn beginning_of(series: &[f64], cold: Cold, effect_min: f64, per_s: usize) -> Option<WarmUp> {
    let found = warm_up(series, cold, effect_min)?;
    let is_phase =
        series.len() < SECONDS_FEW * per_s && PHASE_SHARE_MAX * found.length > series.len();
    (series.len() >= SECONDS_MIN * per_s && !is_phase).then_some(found)
}

/// Returns the number of seconds at the beginning in which commits differ from those later, and the
/// difference in words; `None` if there is no such beginning. A slot is 100 ms.
fn commits_at_first(slots: &[u64]) -> Option<(usize, String)> {
    let commits: Vec<f64> = slots.iter().map(|&n| n as f64).collect();
    let mean = commits.iter().sum::<f64>() / commits.len() as f64;
    let found = beginning_of(&commits, Cold::Lower, WARM_UP_EFFECT_MIN * mean, SLOTS_PER_S)?;
    // A system that does nothing stalls, which is another finding.
    let n_empty = slots[..found.length].iter().filter(|n| **n == 0).count();
    if 2 * n_empty > found.length {
        return None;
    }
    let rate = |per_slot: f64| numbers::significant(SLOTS_PER_S as f64 * per_slot, 4);
    let what = format!("{} commits/s, {} afterwards", rate(found.first), rate(found.rest));
    Some((found.length.div_ceil(10), what))
}

/// Returns the number of seconds at the beginning whose median response times differ from later
/// ones, and the difference in words; `None` if there is no such beginning. `medians_ns` has one
/// value per second. Logarithms are compared, which are nearly normal, unlike the times of a queue.
fn times_at_first(medians_ns: &[u64]) -> Option<(usize, String)> {
    let logarithms: Vec<f64> = medians_ns.iter().map(|&ns| (ns.max(1) as f64).ln()).collect();
    let found = beginning_of(&logarithms, Cold::Higher, WARM_UP_EFFECT_MIN.ln_1p(), 1)?;
    let ms = |seconds: &[u64]| {
        let sum: f64 = seconds.iter().map(|&ns| ns as f64 / model::NS_PER_MS as f64).sum();
        numbers::significant(sum / seconds.len() as f64, 3)
    };
    let (first, rest) = medians_ns.split_at(found.length);
    let (first, rest) = (ms(first), ms(rest));
    Some((found.length, format!("a median response of {first} ms, {rest} ms afterwards")))
}

/// A ramp-up that was shorter than the time to connect all clients.
struct ShortRampUp {
    ramp_up_ns: u64,
    connecting_ns: u64,
}

impl ShortRampUp {
    fn text(self) -> FindingText {
        FindingText {
            id: "short_ramp_up",
            severity: Severity::Warning,
            text: format!(
                "The ramp-up ({}) was shorter than the time to connect all clients ({}).",
                seconds(self.ramp_up_ns),
                seconds(self.connecting_ns)
            ),
        }
    }
}

/// Shortest time to connect all clients for the finding `short_ramp_up`, in nanoseconds.
const CONNECTING_NS_MIN: u64 = NS_PER_S;

fn short_ramp_up(tally: &Tally) -> Option<Time> {
    let ramp_up_ns = tally.description.as_ref()?.phases.ramp_up_ns;
    let connecting_s = tally.fact("client", "connecting_s")?.as_seconds()?;
    let connecting_ns = (connecting_s * NS_PER_S as f64) as u64;
    let is_short = ramp_up_ns < connecting_ns && connecting_ns >= CONNECTING_NS_MIN;
    is_short.then_some(Time::ShortRampUp(ShortRampUp { ramp_up_ns, connecting_ns }))
}

fn ended(tally: &Tally) -> Option<Time> {
    let measured_ns = tally.measured_ns();
    match &tally.ended.as_ref()?.reason {
        StopReason::Completed => None,
        StopReason::Failed { why, .. } => Some(Time::Failed { why: why.clone() }),
        StopReason::QueueFull if super::is_full_early(tally) => Some(Time::QueueFullEarly),
        StopReason::QueueFull => Some(Time::QueueFull { at_ns: measured_ns }),
        StopReason::Interrupted => {
            let planned_ns = tally.description.as_ref()?.phases.measure_ns;
            Some(Time::Interrupted { measured_ns, planned_ns })
        }
    }
}

fn short(tally: &Tally) -> Option<Time> {
    tally.ended.as_ref()?;
    match tally.measured_ns() {
        _ if super::is_full_early(tally) || super::is_failed(tally) => None,
        measured_ns @ ..MEASURED_NS_SHORT if let Some(ended_by) = counted(tally) => {
            Some(Time::CountTooSmall { measured_ns, ended_by })
        }
        measured_ns @ ..MEASURED_NS_MIN => Some(Time::TooShort { measured_ns }),
        measured_ns @ ..MEASURED_NS_SHORT => Some(Time::Short { measured_ns }),
        _ => None,
    }
}

/// A trend of commits over the whole measured phase.
struct Drift {
    first_per_s: f64,
    last_per_s: f64,
    /// Change of CPU time and of commits per CPU second, in words; `None` unless other programs
    /// caused the trend.
    cpu: Option<String>,
}

impl Drift {
    fn text(self) -> FindingText {
        let Drift { first_per_s, last_per_s, cpu } = self;
        FindingText {
            id: "drifting",
            severity: Severity::Warning,
            text: format!(
                "Not steady: over the measured phase commits went from {}/s to {}/s ({:+.0} %).{}",
                numbers::fixed(first_per_s, 1),
                numbers::fixed(last_per_s, 1),
                100.0 * (last_per_s / first_per_s - 1.0),
                cpu.map_or_else(String::new, |cpu| format!(" {cpu}"))
            ),
        }
    }
}

/// Returns the trend of commits over the whole measured phase if it is significant and large enough
/// to matter; `None` otherwise. `seconds` has the commits of each second.
fn drifting(seconds: &[u64]) -> Option<Drift> {
    let (percent_min, z_min) = match seconds.len() {
        TREND_SECONDS_LONG.. => (TREND_PERCENT_MIN, TREND_Z_MIN),
        TREND_SECONDS_MIN.. => (TREND_PERCENT_MIN, SHORT_Z_MIN),
        _ => (STEEP_PERCENT_MIN, STEEP_Z_MIN),
    };
    let trend = trend(seconds)?;
    let matters = 100.0 * trend.change().abs() > percent_min && trend.z.abs() > z_min;
    let (first_per_s, last_per_s) = (trend.first, trend.last.max(0.0));
    matters.then_some(Drift { first_per_s, last_per_s, cpu: None })
}

/// Returns true if commits have a trend: a run with `seconds` as the commits of each second has the
/// finding `drifting`, unless its plan changes the rate.
pub fn is_drifting(seconds: &[u64]) -> bool {
    drifting(seconds).is_some()
}

/// Returns true if commits differ at the beginning: a run with `slots` as the commits of each 100
/// ms has the finding `warming_up`, unless all its load is open.
pub fn commits_warm_up(slots: &[u64]) -> bool {
    commits_at_first(slots).is_some()
}

/// Returns true if response times differ at the beginning: a run with `medians_ns` as the median of
/// each second, in nanoseconds, has the finding `warming_up`.
pub fn times_warm_up(medians_ns: &[u64]) -> bool {
    times_at_first(medians_ns).is_some()
}

/// Returns a finding if commits per second vary by much more than chance: the standard deviation of
/// random arrivals is the root of their mean. `None` otherwise, and for fewer than 10 seconds.
fn uneven(seconds: &[u64]) -> Option<Time> {
    let mut moments = stats::Moments::default();
    seconds.iter().for_each(|&n| moments.record(n));
    let (mean, sd) = (moments.mean(), moments.sd());
    let beyond_chance = (sd * sd / (mean * mean) - 1.0 / mean).max(0.0).sqrt();
    let enough = seconds.len() >= 10;
    (enough && beyond_chance > CV_MAX).then_some(Time::Uneven { cv: sd / mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_few_seconds_only_a_steep_trend_is_a_finding() {
        let slowing = |n: u64, lost: u64| -> Vec<u64> {
            (0..n).map(|i| 1000 - lost * i / n + 4 * (i * 7 % 5)).collect()
        };
        for n in [12, 20, 23] {
            assert!(drifting(&slowing(n, 600)).is_some(), "{n}");
            assert!(drifting(&slowing(n, 80)).is_none(), "{n}");
        }
        assert!(drifting(&slowing(24, 80)).is_some());
        assert!(drifting(&slowing(11, 600)).is_none());
    }

    #[test]
    fn a_stall_or_a_checkpoint_under_way_at_the_beginning_is_no_warm_up() {
        let slots = |n: usize, n_slow: usize, slow: u64| -> Vec<u64> {
            let level = |index: usize| if index < n_slow { slow } else { 40 };
            (0..n).map(|index| level(index) + (index * 7 % 5) as u64).collect()
        };
        assert!(commits_warm_up(&slots(300, 50, 20)));
        // A run of 10 s may show one checkpoint of many.
        assert!(!commits_warm_up(&slots(100, 20, 20)) && !times_warm_up(&[9, 9, 9, 5, 5, 5, 5, 5]));
        let stalled: Vec<u64> = std::iter::repeat_n(0, 5).chain(slots(295, 0, 0)).collect();
        assert!(!commits_warm_up(&stalled));
    }

    #[test]
    fn a_significant_trend_of_two_percent_is_no_finding() {
        let slow: Vec<u64> = (0..60).map(|i| 1000 + i / 3).collect();
        assert!(drifting(&slow).is_none());
        let fast: Vec<u64> = (0..60).map(|i| 1000 + i * 10).collect();
        assert!(drifting(&fast).is_some());
    }

    #[test]
    fn random_arrivals_of_a_low_rate_are_not_uneven() {
        let poisson_like = [4, 2, 6, 3, 5, 1, 4, 7, 3, 5, 4, 2, 6, 3, 5];
        assert!(uneven(&poisson_like).is_none());
        let waves: Vec<u64> = (0..30).map(|i| if i % 10 < 5 { 1000 } else { 200 }).collect();
        assert!(uneven(&waves).is_some());
    }
}
