//! Findings on the load: what was offered and could not be taken, and what closed load hides.

use model::{Load, Severity};

use super::{View, Words, count, percent, percent_text};

enum Offer {
    Dropped { dropped: u64, offered: u64 },
    Unfinished { unfinished: u64, offered: u64 },
    CarriedIn { carried_in: u64, clients: u32 },
    Closed,
}

impl Offer {
    fn words(self) -> Words {
        match self {
            Offer::Dropped { dropped, offered } => Words {
                id: "dropped_arrivals",
                severity: Severity::Warning,
                text: format!(
                    "{} of {} found the queue full and were dropped ({}): the rate is more than \
                     the system can take.",
                    model::format_count(dropped),
                    count(offered, "arrival"),
                    percent_text(percent(dropped, offered))
                ),
                advice: "Read the offered percentiles, not the finished ones; lower the rate or \
                         add clients.",
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
                advice: "Read the offered percentiles, in which they count at least their age; \
                         lower the rate or allow a longer drain.",
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
                advice: "Lower the rate, or lengthen the ramp-up until the backlog is gone.",
            },
            Offer::Closed => Words {
                id: "closed_load",
                severity: Severity::Note,
                text: "Closed load: a slow database is asked less often.".to_owned(),
                advice: "For what users see who arrive at a rate, offer one (--rate).",
            },
        }
    }
}

pub(super) fn look(view: &View) -> Vec<Words> {
    let counts = &view.sum.counts;
    let (offered, dropped, unfinished) = (counts.offered(), counts.dropped, counts.unfinished);
    let all = [
        (dropped > 0).then_some(Offer::Dropped { dropped, offered }),
        (unfinished > 0).then_some(Offer::Unfinished { unfinished, offered }),
        carried_in(view),
        closed(view),
    ];
    all.into_iter().flatten().map(Offer::words).collect()
}

/// In open load, a transaction a client is always under way; more is a queue. Other loads have
/// no queue.
fn carried_in(view: &View) -> Option<Offer> {
    let told = view.told?;
    let carried_in = view.group.carried_in();
    let open = matches!(told.load, Load::Open { .. });
    let backlog = open && carried_in > u64::from(told.clients);
    backlog.then_some(Offer::CarriedIn { carried_in, clients: told.clients })
}

/// Said once, with the first closed group, and only of times that somebody may misread.
fn closed(view: &View) -> Option<Offer> {
    let told = view.told?;
    let first = (0..view.index).all(|earlier| !view.tally.is_closed(earlier));
    let any = view.sum.counts.finished() > 0;
    (told.load == Load::Closed && first && any).then_some(Offer::Closed)
}
