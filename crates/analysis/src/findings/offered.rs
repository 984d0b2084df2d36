//! Findings on the offered load: arrivals that were dropped, queued or unfinished, and what closed
//! load hides.

use std::ops::Range;

use model::numbers::significant;
use model::{Load, Severity, StopReason, parse_number};

use super::{FindingText, View, count, percent, percent_text};
use crate::tally::{Ended, Tally};

/// Share of time for which clients were busy, in percent, from which dropped arrivals are blamed on
/// a rate too high for the clients, and not on a queue too small.
const BUSY_PERCENT_MAX: f64 = 90.0;

/// Share of the clients' time that all arrivals, including dropped ones, would need, in percent,
/// from which dropped arrivals are blamed on the rate, and not on the size of the queue.
const NEEDED_PERCENT_MAX: f64 = 95.0;

enum Offer {
    Dropped { dropped: u64, offered: u64, cause: &'static str, why: &'static str },
    QueueTooSmall { queue: u64, busy_percent: f64 },
    QueueGrew { first: f64, last: f64, per_s: f64, late_s: Option<usize> },
    QueueAtEnd { first: f64, last: f64, steps: usize },
    CutOff { unfinished: u64, offered: u64 },
    Unfinished { unfinished: u64, offered: u64 },
    BacklogAtStart { backlog_at_start: u64, clients: u32 },
    Closed,
}

impl Offer {
    fn text(self) -> FindingText {
        match self {
            Offer::Dropped { dropped, offered, cause, why } => FindingText {
                id: "dropped_arrivals",
                severity: Severity::Warning,
                text: format!(
                    "{} of {} {cause} and were dropped ({}){why}.",
                    model::format_count(dropped),
                    count(offered, "arrival"),
                    percent_text(percent(dropped, offered))
                ),
            },
            Offer::QueueTooSmall { queue, busy_percent } => FindingText {
                id: "queue_too_small",
                severity: Severity::Warning,
                text: format!(
                    "The queue of {} was full at times, although clients were busy for only \
                     {busy_percent:.0} % of the time.",
                    count(queue, "place")
                ),
            },
            Offer::QueueGrew { first, last, per_s, late_s } => FindingText {
                id: "queue_grew",
                severity: Severity::Warning,
                text: format!(
                    "The queue grew from {} to {} over {}: each second, {} more arrived than \
                     finished.",
                    significant(first, 3),
                    significant(last, 3),
                    late_s.map_or_else(
                        || "the measured phase".to_owned(),
                        |seconds| format!("the last {seconds} s of the measured phase")
                    ),
                    significant(per_s, 3)
                ),
            },
            Offer::QueueAtEnd { first, last, steps } => at_end(first, last, steps),
            Offer::CutOff { unfinished, offered } => cut_off(unfinished, offered),
            Offer::Unfinished { unfinished, offered } => FindingText {
                id: "unfinished",
                severity: Severity::Warning,
                text: format!(
                    "{} of {} were unfinished at the end of the run ({}); their response times \
                     are not known.",
                    model::format_count(unfinished),
                    count(offered, "transaction"),
                    percent_text(percent(unfinished, offered))
                ),
            },
            Offer::BacklogAtStart { backlog_at_start, clients } => FindingText {
                id: "backlog_at_start",
                severity: Severity::Warning,
                text: format!(
                    "{} of the ramp-up {} still queued or running when the measured phase began, \
                     with {}: the first response times include that backlog.",
                    count(backlog_at_start, "transaction"),
                    if backlog_at_start == 1 { "was" } else { "were" },
                    count(clients.into(), "client")
                ),
            },
            Offer::Closed => FindingText {
                id: "closed_load",
                severity: Severity::Note,
                text: "Closed load: a slow database gets fewer requests.".to_owned(),
            },
        }
    }
}

fn cut_off(unfinished: u64, offered: u64) -> FindingText {
    FindingText {
        id: "unfinished",
        severity: Severity::Note,
        text: format!(
            "{} of {} {} still running when the user stopped the run, at most one per client; \
             their response times are not known.",
            model::format_count(unfinished),
            count(offered, "transaction"),
            if unfinished == 1 { "was" } else { "were" },
        ),
    }
}

fn at_end(first: f64, last: f64, steps: usize) -> FindingText {
    FindingText {
        id: "queue_at_end",
        severity: Severity::Warning,
        text: format!(
            "{} waited at the end of the measured phase, and {} did {steps} s before: waiting \
             transactions finish after the measured phase or not at all, so the percentiles show \
             only the beginning of a backlog.",
            count(last as u64, "transaction"),
            if first > 0.0 { significant(first, 3) } else { "none".to_owned() },
        ),
    }
}

pub(super) fn look(view: &View) -> Vec<FindingText> {
    let counts = &view.sum.counts;
    let (offered, dropped, unfinished) = (counts.offered(), counts.dropped, counts.unfinished);
    let busy_percent = busy_percent(view);
    let is_too_much = |percent: f64| {
        let needed_percent = percent * offered as f64 / (offered - dropped) as f64;
        percent >= BUSY_PERCENT_MAX || needed_percent >= NEEDED_PERCENT_MAX
    };
    let why = match busy_percent.is_some_and(is_too_much) {
        true => ": the rate is higher than the system can handle",
        false => "",
    };
    let idle_percent = busy_percent.filter(|percent| dropped > 0 && !is_too_much(*percent));
    let load = view.described.map(|described| &described.load);
    let cause = match load {
        Some(Load::Open { queue_wait_ns: Some(_), .. }) => "waited too long",
        _ => "found the queue full",
    };
    let all = [
        (dropped > 0).then_some(Offer::Dropped { dropped, offered, cause, why }),
        idle_percent.and_then(|percent| queue_too_small(view, percent)),
        queue_grew(view).or_else(|| queue_at_end(view)),
        (unfinished > 0).then_some(match is_cut_off(view) {
            true => Offer::CutOff { unfinished, offered },
            false => Offer::Unfinished { unfinished, offered },
        }),
        backlog_at_start(view),
        closed(view),
    ];
    all.into_iter().flatten().map(Offer::text).collect()
}

/// Returns true if the user stopped the run and thereby cut off what was unfinished: at most one
/// transaction per client. Of more, some waited in a queue.
fn is_cut_off(view: &View) -> bool {
    let is_stopped = |ended: &Ended| ended.reason == StopReason::Interrupted;
    let clients = view.described.map_or(0, |described| u64::from(described.clients));
    view.tally.ended.as_ref().is_some_and(is_stopped) && view.sum.counts.unfinished <= clients
}

/// Returns an upper bound of the share of time for which clients were busy, in percent. Failed
/// transactions count with their wait, new connections with the time to connect, and each
/// unfinished transaction with the age of the oldest. `None` if it is not known: service times are
/// reported later than counts, and not at all if a run was killed.
fn busy_percent(view: &View) -> Option<f64> {
    let clients = u64::from(view.described?.clients);
    let sum = &view.sum;
    let (timed, ended) = (sum.service.count(), sum.counts.finished());
    let unfinished = (sum.unfinished.count(), sum.counts.unfinished);
    let failed = (sum.failures.count(), sum.counts.failed);
    let is_known = timed >= ended && unfinished.0 >= unfinished.1 && failed.0 >= failed.1;
    let measured_ns = view.tally.measured_ns();
    let all_ns = measured_ns as f64 * clients as f64;
    let at_end_ns = sum.unfinished.max().min(measured_ns) as f64;
    let at_end_ns = at_end_ns * unfinished.1.min(clients) as f64;
    let connects_ns = view.group.measured.connects.as_ref().map_or(0, |times| times.sum());
    let busy_ns = (sum.service.sum() + sum.failures.sum() + connects_ns) as f64 + at_end_ns;
    (is_known && view.tally.ended.is_some() && all_ns > 0.0).then(|| 100.0 * busy_ns / all_ns)
}

/// Returns the finding that arrivals were dropped although clients had time left, so that the queue
/// was too small; `None` unless the load is open.
fn queue_too_small(view: &View, busy_percent: f64) -> Option<Offer> {
    let Load::Open { queue, .. } = view.described?.load else { return None };
    Some(Offer::QueueTooSmall { queue, busy_percent })
}

/// Returns the number of waiting arrivals at the end of each of `seconds`, as far as it was read,
/// and the largest change between two readings that is plausible: twice the most arrivals of a
/// second.
fn waiting(view: &View, seconds: Range<i64>) -> (Vec<f64>, f64) {
    let read = |second: i64| {
        let second = view.group.series.get(second)?;
        Some((second.waiting? as f64, second.counts.offered()))
    };
    let (waiting, offered): (Vec<f64>, Vec<u64>) = seconds.filter_map(read).unzip();
    let most = offered.into_iter().max().unwrap_or(0) as f64 * 2.0;
    (waiting, most)
}

/// Returns a finding if the queue grew until the end of the measured phase, from its beginning or
/// from its last quarter on. The growth must exceed one arrival per client, since so many may wait
/// at any instant. `None` otherwise.
fn queue_grew(view: &View) -> Option<Offer> {
    let described = view.described?;
    let (waiting, most) = waiting(view, view.tally.seconds());
    let begins = match stats::rises(&waiting) {
        true => 0,
        false => stats::rises_late(&waiting, most)?,
    };
    let (first, last) = (*waiting.get(begins)?, *waiting.last()?);
    // From the end of the first second to that of the last.
    let steps = waiting.len() - 1 - begins;
    let per_s = (last - first) / (steps as f64).max(1.0);
    let late_s = (begins > 0).then_some(steps);
    (last - first > f64::from(described.clients)).then_some(Offer::QueueGrew {
        first,
        last,
        per_s,
        late_s,
    })
}

/// Returns a finding if many more arrivals waited at the end of the measured phase than before, in
/// a time too short to show growth. `None` otherwise, and for a run that has not ended, stopped at
/// a full queue or dropped arrivals: other findings report those.
fn queue_at_end(view: &View) -> Option<Offer> {
    let described = view.described?;
    let (measured, ended) = (view.tally.seconds(), view.tally.ended.as_ref()?);
    if ended.reason == StopReason::QueueFull || view.sum.counts.dropped > 0 {
        return None;
    }
    // The second before gives the beginning of the first; without a ramp-up nothing waited there.
    let (mut waiting, most) = waiting(view, -1..measured.end);
    if view.tally.description.as_ref()?.phases.ramp_up_ns == 0 {
        waiting.insert(0, 0.0);
    }
    let begins = stats::ends_high(&waiting, most)?;
    let (first, last) = (*waiting.get(begins)?, *waiting.last()?);
    let steps = waiting.len() - 1 - begins;
    let is_more = last - first > f64::from(described.clients);
    is_more.then_some(Offer::QueueAtEnd { first, last, steps })
}

/// Returns a finding if a backlog was left at the start of the measured phase in open load: more
/// than one transaction of the ramp-up per client was queued or running. `None` otherwise, and for
/// other loads, which have no queue.
fn backlog_at_start(view: &View) -> Option<Offer> {
    let described = view.described?;
    let backlog_at_start = view.group.backlog_at_start();
    let open = matches!(described.load, Load::Open { .. });
    let is_measured = !super::is_over_early(view.tally);
    let backlog = open && is_measured && backlog_at_start > u64::from(described.clients);
    backlog.then_some(Offer::BacklogAtStart { backlog_at_start, clients: described.clients })
}

/// Returns the finding that closed load hides waiting: response times do not include the time until
/// a client is free (coordinated omission). `None` except for the first closed group, and if no
/// transaction finished.
fn closed(view: &View) -> Option<Offer> {
    // The work of a fixed sequence does not depend on its pace.
    let is_sequence =
        |index| view.tally.description(index).is_some_and(|group| group.sequence.is_some());
    let is_it = |index: usize| {
        view.tally.is_closed(index) && !has_rate(view.tally, index) && !is_sequence(index)
    };
    let first = view.described.is_some() && (0..view.index).all(|earlier| !is_it(earlier));
    let any = view.sum.counts.finished() > 0;
    (is_it(view.index) && first && any).then_some(Offer::Closed)
}

/// Returns true if a producer with a rate of its own makes the load of a group, so that the load
/// does not depend on the clients.
fn has_rate(tally: &Tally, group: usize) -> bool {
    let rate = tally.description(group).and_then(|described| {
        described.parameters.iter().find(|(name, _)| name == model::PRODUCER_RATE)
    });
    rate.is_some_and(|(_, rate)| parse_number(rate).is_ok_and(|rate| rate > 0.0))
}
