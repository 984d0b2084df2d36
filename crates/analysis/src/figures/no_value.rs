//! Figures that a run has by name, but for which it has no value, such as the time of a query that
//! timed out.
//!
//! Not here: percentiles of too few samples (catalog).

use super::of_type::{OF_TYPE, of_type};
use crate::report::{ExecutionReport, ONE_NUMBER, Report};

/// Returns the reason why a run has no value for the figure `name`, which belongs to one of its
/// transaction types or is one of its primary metrics: `q9 timed out`. `None` if the run has a
/// value, or no figure of this name.
pub fn why_no_value(report: &Report, name: &str) -> Option<String> {
    if let Some(primary) = report.block.primary_metrics.get(name) {
        if primary.value.is_some() {
            return None;
        }
        let why = primary.reason.clone().filter(|why| why != ONE_NUMBER);
        return Some(why.unwrap_or_else(|| "the run did not reach it".to_owned()));
    }
    let (part, last) = name.rsplit_once('.')?;
    let kind = report.block.transactions.get(part)?;
    OF_TYPE.iter().find(|(name, ..)| *name == last)?;
    // Other figures of finished transactions lack samples.
    let has_none = of_type(report, name).is_none() && kind.response_ms.count == 0;
    has_none.then(|| why_not_finished(report, part))
}

/// Returns the reason why no transaction of the type `kind` finished.
fn why_not_finished(report: &Report, kind: &str) -> String {
    let own = report.executions.iter().filter(|one| one.transaction == kind);
    let own: Vec<&ExecutionReport> = own.collect();
    let has_timed_out = |one: &&ExecutionReport| one.error.as_deref() == Some("timeout");
    let failed = report.block.transactions.get(kind).map_or(0, |types| types.failed);
    match own.len() {
        0 if failed > 0 => format!("all {failed} transactions of {kind} failed"),
        0 if report.is_sequence() => format!("{kind} did not end"),
        0 => format!("no transaction of {kind} finished"),
        _ if own.iter().all(has_timed_out) => format!("{kind} timed out"),
        _ => format!("{kind} failed"),
    }
}

/// Returns the title of a primary metric without the unit that follows its number: `geometric
/// mean` for `s geometric mean`.
pub fn title_without_number(title: &str) -> &str {
    ["s ", "ms ", "us "].iter().find_map(|unit| title.strip_prefix(unit)).unwrap_or(title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{Holds, Required, RequiredResult, resolve};
    use crate::fixtures::subjects;
    use crate::report::Latency;

    /// A run of a fixed sequence in which `payment` failed with `error`.
    fn failed(error: Option<&str>) -> Report {
        let mut report = subjects::closed();
        report.groups[0].sequence = Some(22);
        report.executions = vec![ExecutionReport {
            group: "users".to_owned(),
            client: 0,
            transaction: "payment".to_owned(),
            started_s: 0.0,
            took_s: 2.0,
            is_finished: false,
            error: error.map(str::to_owned),
        }];
        let kinds = &mut report.block.transactions.0;
        let kind = kinds.iter_mut().find(|(name, _)| name == "payment").expect("it has them");
        (kind.1.failed, kind.1.response_ms) = (1, Latency::default());
        report
    }

    fn result(report: &Report, limit: &str) -> RequiredResult {
        let limit: Required = limit.parse().expect("a limit");
        limit.of_run(report).expect("the run has the figure by name")
    }

    #[test]
    fn a_limit_on_a_query_that_did_not_finish_says_so() {
        let check = |report: &Report, expect: &str| {
            let found = result(report, "payment<2s");
            assert_eq!((found.figure.as_str(), found.value), ("payment.mean_ms", None));
            assert_eq!(found.holds, Holds::Beyond);
            assert_eq!(found.to_string(), format!("FAILED payment<2s: – ({expect})"));
        };
        check(&failed(Some("timeout")), "payment timed out");
        check(&failed(Some("other")), "payment failed");
        let mut none = failed(None);
        none.executions.clear();
        check(&none, "all 1 transactions of payment failed");
        none.block.transactions.0.iter_mut().for_each(|(_, kind)| kind.failed = 0);
        check(&none, "payment did not end");
        none.groups[0].sequence = None;
        check(&none, "no transaction of payment finished");
    }

    #[test]
    fn a_primary_metric_without_a_value_says_why() {
        let mut report = failed(Some("timeout"));
        let metric = &mut report.block.primary_metrics.0[0].1;
        (metric.value, metric.reason) = (None, Some("q9 timed out after 2 s".to_owned()));
        report.block.nopm = None;
        report.block.primary_metrics.0[0].0 = "power_at_size".to_owned();
        let found = result(&report, "power_at_size>1");
        assert_eq!(found.to_string(), "FAILED power_at_size>1: – (q9 timed out after 2 s)");
    }

    #[test]
    fn a_name_that_no_run_has_is_still_refused() {
        let report = failed(Some("timeout"));
        let found = resolve("payments", std::iter::once(&report));
        assert!(found.is_err_and(|why| why.contains("did you mean 'payment'?")));
        assert_eq!(why_no_value(&report, "tps"), None);
    }
}
