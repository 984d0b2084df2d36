//! Reply lag: how long replies lay unread in the generator's sockets, and what part of the service
//! time that is.

use std::collections::BTreeMap;

use model::{NS_PER_MS, NS_PER_US, Placement};
use serde::{Deserialize, Serialize};
use stats::{Histogram, enough, ratio_error};

use super::Named;
use super::per_transaction::per_transaction;
use super::times::{known, merged, too_few, us};
use crate::tally::{Sum, Tally};

const CONFIDENCE: f64 = 0.95;

/// Reply lag: time for which replies lay in the generator's sockets before it read them, in
/// microseconds, for a sample of round trips. It runs from the kernel's receive timestamp of the
/// last byte until the read. Replies that lay for 10 ms or more are counted for all round trips.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyLagReport {
    /// Number of sampled round trips.
    pub count: u64,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    /// The longest time for which a reply lay unread, sampled or not; null if neither is known.
    pub max: Option<f64>,
    /// Number of late replies in all round trips: unread for 10 ms or more. A lag is exact to a
    /// tick of the kernel's clock. 0 in older reports.
    #[serde(default)]
    pub late: u64,
    /// Reasons why fields are null, by their names; under `count` if nothing was sampled.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// Mean service time, divided into the reply lag and all other time; null if nothing was
    /// sampled.
    #[serde(default)]
    pub service: Option<ServiceSplit>,
}

/// Mean service time, divided into the generator's delay in reading replies and all other time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceSplit {
    /// Mean service time of finished transactions, the sum of both parts.
    pub mean_ms: f64,
    /// Part of `mean_ms` until the last byte of each reply had arrived: server, network, and the
    /// time in which the generator made and sent its requests.
    pub server_and_network_ms: f64,
    /// Part of `mean_ms` from the arrival of replies until the generator read them: the mean reply
    /// lag times the round trips per transaction.
    pub generator_ms: f64,
    /// Standard error of `generator_ms`, from the scatter of seconds: samples of one second are
    /// milliseconds apart, and so are not independent. `None` with fewer than eight seconds, and in
    /// older reports.
    #[serde(default)]
    pub generator_ms_error: Option<f64>,
    /// Share of `generator_ms` in `mean_ms`, in percent.
    pub generator_percent: f64,
}

impl ReplyLagReport {
    /// Returns the reply lag over `groups` in the measured phase.
    pub(crate) fn from_tally(tally: &Tally, groups: &[usize]) -> ReplyLagReport {
        let within = || groups.iter().filter_map(|index| tally.groups.get(*index));
        let late = merged(within().map(|group| &group.measured.late_replies));
        let longest_late = late.as_ref().map(|late| us(late.max()));
        let mut report = ReplyLagReport {
            max: longest_late,
            late: late.map_or(0, |late| late.count()),
            ..ReplyLagReport::default()
        };
        let Some(lag) = merged(within().map(|group| &group.measured.reply_lag)) else {
            report.reasons.push("count", why_none(tally));
            return report;
        };
        report.count = lag.count();
        report.mean = known(lag.mean() / NS_PER_US as f64);
        report.max = Some(us(lag.max()).max(longest_late.unwrap_or(0.0)));
        report.service = split(tally, groups, &lag);
        for (name, field, q) in [("p50", &mut report.p50, 0.50), ("p99", &mut report.p99, 0.99)] {
            match enough(lag.count(), q, CONFIDENCE) {
                Ok(_) => *field = lag.quantile(q).map(us),
                Err(few) => report.reasons.push(name, too_few(few)),
            }
        }
        report
    }
}

fn why_none(tally: &Tally) -> String {
    let placement = tally.description.as_ref().map(|described| described.placement);
    match tally.fact("client", "no_reply_lag") {
        Some(why) => why.to_string(),
        None if placement == Some(Placement::Simulated) => "virtual time has no sockets".to_owned(),
        None => "no round trip was sampled".to_owned(),
    }
}

fn split(tally: &Tally, groups: &[usize], lag: &Histogram) -> Option<ServiceSplit> {
    let ms = |ns: f64| known(ns / NS_PER_MS as f64);
    let service_ns = Sum::from_tally(tally, groups).service.mean();
    let round_trips = per_transaction(tally, groups).round_trips?;
    // Sampled and finished transactions are not exactly the same ones.
    let generator_ns = (lag.mean() * round_trips).min(service_ns);
    let error = ratio_error(&per_second(tally, groups)).map(|error_ns| error_ns * round_trips);
    Some(ServiceSplit {
        mean_ms: ms(service_ns)?,
        server_and_network_ms: ms(service_ns - generator_ns)?,
        generator_ms: ms(generator_ns)?,
        generator_ms_error: error.and_then(ms),
        generator_percent: known(100.0 * generator_ns / service_ns)?,
    })
}

/// Returns the sum of the sampled reply lags in nanoseconds and their number, for each second that
/// has any.
fn per_second(tally: &Tally, groups: &[usize]) -> Vec<(f64, f64)> {
    let mut seconds: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    let groups = groups.iter().filter_map(|index| tally.groups.get(*index));
    for (second, (count, sum_ns)) in groups.flat_map(|group| &group.reply_lags_in_time) {
        let (sum, n) = seconds.entry(*second).or_default();
        (*sum, *n) = (*sum + *sum_ns as f64, *n + *count as f64);
    }
    seconds.into_values().collect()
}
