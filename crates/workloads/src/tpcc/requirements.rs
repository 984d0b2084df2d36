//! Requirements of the TPC-C specification for a run, clause by clause, with their limits.
//!
//! Not here: the measured values and the verdict (analysis).

use model::{KindIndex, NS_PER_S, Requirement, RequirementFigure as Figure, Standard};

use super::inputs::{DELIVERY, NEW_ORDER, ORDER_STATUS, PAYMENT};
use super::parameters::{Decided, N_KINDS};
use super::{
    KINDS, LINES_ENTERED, ORDER_STATUSES_BY_NAME, PAYMENTS_BY_NAME, REMOTE_LINES, REMOTE_PAYMENTS,
    SHORT_DELIVERIES,
};

const STOCK_LEVEL: KindIndex = 4;

/// Required keying times in seconds, by transaction type (clause 5.2.5.7).
const KEYING_S: [u64; N_KINDS] = [18, 3, 2, 2, 2];
/// Required means of think times in seconds, by transaction type (clause 5.2.5.7).
const THINKING_S: [u64; N_KINDS] = [12, 12, 10, 5, 5];

/// Returns the requirements of TPC-C that a run can measure, with the standard's name and a note.
pub(super) fn standard(decided: &Decided) -> Standard {
    let mut requirements = response_times();
    requirements.extend(mix());
    requirements.extend(inputs(decided));
    requirements.extend(pacing(decided));
    Standard {
        name: "TPC-C 5.11".to_owned(),
        note: "A test run need not meet them: they are for runs of 2 h with keying and thinking \
               times and ten terminals per warehouse. This is not a TPC-C result, which needs the \
               complete specification, an audit and a price. Limits are those of the clauses, \
               taken literally."
            .to_owned(),
        requirements,
    }
}

fn requirement(clause: &str, title: String, figure: Figure) -> Requirement {
    Requirement {
        clause: clause.to_owned(),
        title,
        figure,
        min: None,
        max: None,
        is_below: false,
        or_count: 0,
        pauses_ns: Vec::new(),
        not_applicable: None,
    }
}

fn between(clause: &str, title: &str, figure: Figure, min: f64, max: f64) -> Requirement {
    let (min, max) = (Some(min), Some(max));
    Requirement { min, max, ..requirement(clause, title.to_owned(), figure) }
}

fn at_least(clause: &str, title: &str, figure: Figure, min: f64) -> Requirement {
    Requirement { min: Some(min), ..requirement(clause, title.to_owned(), figure) }
}

/// Returns the limits of the p90 response times (clause 5.2.5.3). The response time of a Delivery
/// is that of queueing it; its execution may take 80 s (clauses 2.7.2.2 and 5.2.5.7).
fn response_times() -> Vec<Requirement> {
    let limit = |clause: &str, kind: KindIndex, seconds: f64| {
        let title = format!("p90 of the response time of {}", KINDS[usize::from(kind)]);
        let figure = Figure::ResponseTimeP90 { kind };
        Requirement { max: Some(seconds), is_below: true, ..requirement(clause, title, figure) }
    };
    let queueing = Requirement {
        max: Some(5.0),
        is_below: true,
        not_applicable: Some(
            "deliveries are executed at once, so there is no response to queueing one".to_owned(),
        ),
        ..requirement("5.2.5.3", "p90 of queueing a delivery, in s".to_owned(), Figure::Nothing)
    };
    vec![
        limit("5.2.5.3", NEW_ORDER, 5.0),
        limit("5.2.5.3", PAYMENT, 5.0),
        limit("5.2.5.3", ORDER_STATUS, 5.0),
        queueing,
        Requirement { is_below: false, ..limit("2.7.2.2", DELIVERY, 80.0) },
        limit("5.2.5.3", STOCK_LEVEL, 20.0),
    ]
}

/// Returns the minimum shares of transaction types in the mix, without tolerance (clause 5.2.3).
/// New-Order has none.
fn mix() -> Vec<Requirement> {
    let least = |kind: KindIndex, percent: f64| {
        let title = format!("share of {} in the mix", KINDS[usize::from(kind)]);
        at_least("5.2.3", &title, Figure::KindShare { kind }, percent)
    };
    vec![
        least(PAYMENT, 43.0),
        least(ORDER_STATUS, 4.0),
        least(DELIVERY, 4.0),
        least(STOCK_LEVEL, 4.0),
    ]
}

/// Returns the limits for the shares of inputs, such as remote lines (clauses 5.5.1.5 and 5.5.1.6).
fn inputs(decided: &Decided) -> Vec<Requirement> {
    const CLAUSE: &str = "5.5.1.5";
    let of_kind = |counter, kind| Figure::CounterOfKind { counter, kind };
    let lines = Figure::CounterOfCounter { counter: REMOTE_LINES, of: LINES_ENTERED };
    let remote_payments = of_kind(REMOTE_PAYMENTS, PAYMENT);
    let mut remote = [
        between(CLAUSE, "order lines from another warehouse", lines, 0.95, 1.05),
        between(CLAUSE, "payments by customers of another warehouse", remote_payments, 14.0, 16.0),
    ];
    if decided.data.warehouses == 1 {
        let why = "there is one warehouse, so nothing is remote";
        remote.iter_mut().for_each(|one| one.not_applicable = Some(why.to_owned()));
    }
    let rolled_back = Figure::RolledBackShare { kind: NEW_ORDER };
    let mean = Figure::CounterMean { counter: LINES_ENTERED, kind: NEW_ORDER };
    let [remote_lines, remote_payments] = remote;
    let short = Requirement {
        max: Some(1.0),
        or_count: 1,
        ..requirement(
            "5.5.1.6",
            "deliveries that skip a district".to_owned(),
            of_kind(SHORT_DELIVERIES, DELIVERY),
        )
    };
    let (payments, statuses) =
        (of_kind(PAYMENTS_BY_NAME, PAYMENT), of_kind(ORDER_STATUSES_BY_NAME, ORDER_STATUS));
    vec![
        between(CLAUSE, "new orders rolled back", rolled_back, 0.9, 1.1),
        between(CLAUSE, "mean number of lines per order", mean, 9.5, 10.5),
        remote_lines,
        remote_payments,
        between(CLAUSE, "payments by last name", payments, 57.0, 63.0),
        between(CLAUSE, "order statuses by last name", statuses, 57.0, 63.0),
        short,
    ]
}

/// Returns the limits for keying and think times (5.2.5.2, 5.2.5.7), terminals and throughput per
/// warehouse (4.2.2, 4.1.3), and the measurement interval with its checkpoints (5.5.2). The
/// throughput includes rolled-back orders (5.4.2).
fn pacing(decided: &Decided) -> Vec<Requirement> {
    let scale = decided.data.warehouses as u64;
    let pauses = |clause, title, times_ns: &[u64; N_KINDS], required_s: &[u64; N_KINDS]| {
        let both = times_ns.iter().zip(required_s);
        let pauses_ns: Vec<(u64, u64)> = both.map(|(ns, s)| (*ns, *s * NS_PER_S)).collect();
        let share = |(ns, required): &(u64, u64)| *ns as f64 / *required as f64 * 100.0;
        let percent = pauses_ns.iter().map(share).fold(f64::INFINITY, f64::min);
        Requirement { pauses_ns, ..at_least(clause, title, Figure::Pauses { percent }, 100.0) }
    };
    let rate = Figure::FinishedPerMinute { kind: NEW_ORDER, scale };
    let terminals = Figure::ClientsPer { scale };
    vec![
        pauses("5.2.5.2", "keying times by type", &decided.keying_ns, &KEYING_S),
        pauses("5.2.5.7", "mean thinking times by type", &decided.thinking_ns, &THINKING_S),
        between("4.2.2", "terminals per warehouse", terminals, 10.0, 10.0),
        between(
            "4.1.3",
            "new orders per minute per warehouse, with those rolled back (NOPM: without)",
            rate,
            9.0,
            12.86,
        ),
        at_least("5.5.2.1", "length of the measured interval", Figure::MeasuredMinutes, 120.0),
        at_least("5.5.2.2", "checkpoints in the measured interval", Figure::Checkpoints, 4.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::parameters::tests::decide;
    use super::*;

    fn named<'a>(standard: &'a Standard, title: &str) -> &'a Requirement {
        let found = standard.requirements.iter().find(|one| one.title == title);
        found.unwrap_or_else(|| panic!("no '{title}'"))
    }

    #[test]
    fn what_is_configured_for_pauses_is_held_against_the_kind_that_has_least() {
        let percent =
            |written: &[(&str, &str)], title| match named(&standard(&decide(1, written)), title)
                .figure
            {
                Figure::Pauses { percent } => percent,
                other => panic!("{other:?}"),
            };
        let (keying, thinking) = ("keying times by type", "mean thinking times by type");
        assert_eq!(percent(&[], keying), 100.0);
        assert_eq!(percent(&[], thinking), 100.0);
        assert_eq!(percent(&[("keying", "18s/3s/2s/1s/2s")], keying), 50.0);
        assert_eq!(percent(&[("thinking", "24s/24s/20s/10s/10s")], thinking), 200.0);
    }

    #[test]
    fn with_one_warehouse_nothing_is_remote() {
        let title = "order lines from another warehouse";
        let applies = |warehouses| {
            let all = standard(&decide(1, &[("warehouses", warehouses)]));
            named(&all, title).not_applicable.is_none()
        };
        assert!(!applies("1") && applies("2"));
    }
}
