//! Figures of a transaction type, such as `new_order.p99_ms`.

use crate::report::{Report, TransactionReport};

type OfType = fn(&TransactionReport) -> Option<f64>;

/// Figures of each transaction type, in the order of lists: name, unit and value.
pub(super) const OF_TYPE: [(&str, &str, OfType); 8] = [
    ("tps", "1/s", |kind| kind.tps),
    ("p50_ms", "ms", |kind| kind.response_ms.p50),
    ("p90_ms", "ms", |kind| kind.response_ms.p90),
    ("p95_ms", "ms", |kind| kind.response_ms.p95),
    ("p99_ms", "ms", |kind| kind.response_ms.p99),
    ("mean_ms", "ms", |kind| kind.response_ms.mean),
    ("errors_percent", "%", |kind| {
        let ended = kind.finished + kind.failed + kind.dropped;
        (ended > 0).then(|| (kind.failed + kind.dropped) as f64 / ended as f64 * 100.0)
    }),
    ("round_trips", "", |kind| kind.round_trips),
];

/// Returns the value of a figure of a transaction type, such as `new_order.tps`.
pub(super) fn of_type(report: &Report, name: &str) -> Option<f64> {
    let (kind, last) = name.rsplit_once('.')?;
    let value = OF_TYPE.iter().find(|(name, ..)| *name == last)?.2;
    value(report.block.transactions.get(kind)?)
}
