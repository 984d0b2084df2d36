//! Findings on the load: what was offered and could not be taken, and what closed load hides.

use model::{Load, Severity};

use super::{View, Words, count, percent, percent_text};
use crate::render::figures::significant;

/// Clients that are busy for more of their time than this cannot take more: the rate is too high,
/// and not the queue too small.
const BUSY_PERCENT_MAX: f64 = 90.0;

enum Offer {
    Dropped { dropped: u64, offered: u64, why: &'static str },
    QueueTooSmall { queue: u64, busy_percent: f64 },
    QueueGrew { first: f64, last: f64, per_s: f64, late_s: Option<usize> },
    Unfinished { unfinished: u64, offered: u64 },
    CarriedIn { carried_in: u64, clients: u32 },
    Closed,
}

impl Offer {
    fn words(self) -> Words {
        match self {
            Offer::Dropped { dropped, offered, why } => Words {
                id: "dropped_arrivals",
                severity: Severity::Warning,
                text: format!(
                    "{} of {} found the queue full and were dropped ({}){why}.",
                    model::format_count(dropped),
                    count(offered, "arrival"),
                    percent_text(percent(dropped, offered))
                ),
            },
            Offer::QueueTooSmall { queue, busy_percent } => Words {
                id: "queue_too_small",
                severity: Severity::Warning,
                text: format!(
                    "The queue of {} was full at times, although clients were at work for only \
                     {busy_percent:.0} % of the time.",
                    count(queue, "place")
                ),
            },
            Offer::QueueGrew { first, last, per_s, late_s } => Words {
                id: "queue_grew",
                severity: Severity::Warning,
                text: format!(
                    "The queue grew from {} to {} over {}: {} more came each second than were \
                     done.",
                    significant(first, 3),
                    significant(last, 3),
                    late_s.map_or_else(
                        || "the measured phase".to_owned(),
                        |seconds| format!("the last {seconds} s of the measured phase")
                    ),
                    significant(per_s, 3)
                ),
            },
            Offer::Unfinished { unfinished, offered } => Words {
                id: "unfinished",
                severity: Severity::Warning,
                text: format!(
                    "{} of {} had not ended when the run was over ({}); nobody knows how long \
                     they would have taken.",
                    model::format_count(unfinished),
                    count(offered, "transaction"),
                    percent_text(percent(unfinished, offered))
                ),
            },
            Offer::CarriedIn { carried_in, clients } => Words {
                id: "carried_in",
                severity: Severity::Warning,
                text: format!(
                    "{} of the ramp-up {} still queued or under way when the measured phase \
                     began, with {}: the first response times contain that backlog.",
                    count(carried_in, "transaction"),
                    if carried_in == 1 { "was" } else { "were" },
                    count(clients.into(), "client")
                ),
            },
            Offer::Closed => Words {
                id: "closed_load",
                severity: Severity::Note,
                text: "Closed load: a slow database is asked less often.".to_owned(),
            },
        }
    }
}

pub(super) fn look(view: &View) -> Vec<Words> {
    let counts = &view.sum.counts;
    let (offered, dropped, unfinished) = (counts.offered(), counts.dropped, counts.unfinished);
    let queue_too_small = queue_too_small(view);
    let why = match queue_too_small {
        Some(_) => "",
        None => ": the rate is more than the system can take",
    };
    let all = [
        (dropped > 0).then_some(Offer::Dropped { dropped, offered, why }),
        queue_too_small,
        queue_grew(view),
        (unfinished > 0).then_some(Offer::Unfinished { unfinished, offered }),
        carried_in(view),
        closed(view),
    ];
    all.into_iter().flatten().map(Offer::words).collect()
}

/// Where arrivals were dropped, and the clients had time left for more.
fn queue_too_small(view: &View) -> Option<Offer> {
    let told = view.told?;
    let Load::Open { queue, .. } = told.load else { return None };
    let all_ns = view.tally.measured_ns() as f64 * f64::from(told.clients);
    let times = &view.sum;
    let busy_ns = times.service.sum() + times.failures.sum();
    let busy_percent = 100.0 * busy_ns as f64 / all_ns;
    let is_small = times.counts.dropped > 0 && busy_percent < BUSY_PERCENT_MAX;
    is_small.then_some(Offer::QueueTooSmall { queue, busy_percent })
}

/// Where more came than was done, from the beginning or from the last quarter on to the end. As
/// many as there are clients may wait at one instant and not at another.
fn queue_grew(view: &View) -> Option<Offer> {
    let told = view.told?;
    let read = |second: i64| {
        let second = view.group.series.get(second)?;
        Some((second.waiting? as f64, second.counts.offered()))
    };
    let (waiting, offered): (Vec<f64>, Vec<u64>) = view.tally.seconds().filter_map(read).unzip();
    let begins = match stats::rises(&waiting) {
        true => 0,
        false => {
            // As many have come as gone, where they keep pace.
            let most = offered.iter().max().copied()? as f64 * 2.0;
            stats::rises_late(&waiting, most)?
        }
    };
    let (first, last) = (*waiting.get(begins)?, *waiting.last()?);
    // At the end of the first second and of the last.
    let steps = waiting.len() - 1 - begins;
    let per_s = (last - first) / (steps as f64).max(1.0);
    let late_s = (begins > 0).then_some(steps);
    (last - first > f64::from(told.clients)).then_some(Offer::QueueGrew {
        first,
        last,
        per_s,
        late_s,
    })
}

/// In open load, a transaction a client is always under way; more is a queue. Other loads have
/// no queue.
fn carried_in(view: &View) -> Option<Offer> {
    let told = view.told?;
    let carried_in = view.group.carried_in();
    let open = matches!(told.load, Load::Open { .. });
    let is_measured = !super::is_full_early(view.tally);
    let backlog = open && is_measured && carried_in > u64::from(told.clients);
    backlog.then_some(Offer::CarriedIn { carried_in, clients: told.clients })
}

/// Said once, with the first closed group, and only of times that somebody may misread.
fn closed(view: &View) -> Option<Offer> {
    let told = view.told?;
    let first = (0..view.index).all(|earlier| !view.tally.is_closed(earlier));
    let any = view.sum.counts.finished() > 0;
    (told.load == Load::Closed && first && any).then_some(Offer::Closed)
}
