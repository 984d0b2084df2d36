//! Finding on a generator that had too little CPU time, on threads and event loops alike. It then
//! measures its own queue.
//!
//! Four figures show it: how busy an event loop was, how long threads waited for a CPU, how long
//! replies lay in sockets, and the longest single delay.

use model::{FactValue, NS_PER_MS, NS_PER_S, NS_PER_US, Severity, numbers};

use super::{FindingText, duration};
use crate::report::ReplyLagReport;
use crate::tally::{Sum, Tally};

/// Largest load of an event loop, in percent, without a finding. Above it clients wait for each
/// other: at 90 %, nine wait on average in an M/M/1 queue.
const LOOP_BUSY_PERCENT_MAX: f64 = 90.0;

/// Largest share of the service time, in percent, for which threads may wait for a CPU, or replies
/// lie in sockets, without a finding.
const WAIT_PERCENT_MAX: f64 = 10.0;
/// Shortest mean wait of threads for a CPU, or of replies in sockets, for a finding, in
/// nanoseconds: no generator escapes the wake-up of a sleeping thread. For threads it is the wait
/// per transaction, whose response time includes it; for replies it is the wait per round trip.
const WAIT_NS_MIN: f64 = (100 * NS_PER_US) as f64;

/// Share of the service time, in percent, above which threads wait for a CPU too long, however
/// short the transaction: a wake-up on a free CPU takes microseconds.
const RUN_DELAY_PERCENT_MOST: f64 = 50.0;

/// Shortest single delay of the generator, in nanoseconds, for a finding. It must also exceed the
/// median service time.
const LATE_NS_MAX: u64 = 25 * NS_PER_MS;

pub(super) fn look(tally: &Tally) -> Vec<FindingText> {
    let seen = [loops(tally), threads(tally), replies(tally), late(tally)];
    let seen: Vec<String> = seen.into_iter().flatten().collect();
    if seen.is_empty() {
        return Vec::new();
    }
    vec![FindingText {
        id: "generator_saturated",
        severity: Severity::Warning,
        text: format!("{}. Response times include this delay.", seen.join(". ")),
    }]
}

/// Returns the percentages in a fact about the generator, one for each event loop.
fn percents(tally: &Tally, name: &str) -> Vec<f64> {
    let all = tally.fact("client", name).map_or(&[][..], FactValue::all);
    all.iter().filter_map(FactValue::as_percent).collect()
}

fn loops(tally: &Tally) -> Option<String> {
    let busy = percents(tally, "loop_busy_percent");
    let waiting = percents(tally, "loop_run_delay_percent");
    let (index, most) = busy.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    if *most <= LOOP_BUSY_PERCENT_MAX {
        return None;
    }
    let waiting = waiting.get(index).filter(|waiting| **waiting >= 1.0);
    let waiting = waiting.map(|waiting| format!(", {waiting:.0} % without a CPU"));
    Some(format!(
        "Event loop {index} of the generator was busy for {most:.0} % of the time{}",
        waiting.unwrap_or_default()
    ))
}

fn threads(tally: &Tally) -> Option<String> {
    let percent = tally.fact("client", "run_delay_share_percent")?.as_percent()?;
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let delay_ns = percent / 100.0 * Sum::from_tally(tally, &all).service.mean();
    let is_most = percent > RUN_DELAY_PERCENT_MOST;
    (is_most || changes_what_is_measured(percent, delay_ns)).then(|| {
        format!(
            "The generator waited for a CPU for {percent:.0} % of the service time, {} on average",
            duration(delay_ns as u64)
        )
    })
}

fn replies(tally: &Tally) -> Option<String> {
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let lag = ReplyLagReport::from_tally(tally, &all);
    let (mean_us, split) = (lag.mean?, lag.service?);
    let mean_ns = mean_us * NS_PER_US as f64;
    changes_what_is_measured(split.generator_percent, mean_ns).then(|| {
        format!(
            "Replies lay in the generator's sockets for {:.0} % of the service time, {} on average \
             for each reply",
            split.generator_percent,
            duration(mean_ns as u64)
        )
    })
}

/// Returns true if a wait of the generator distorts the measurement. `percent` is its share of the
/// service time, and `mean_ns` its mean length.
fn changes_what_is_measured(percent: f64, mean_ns: f64) -> bool {
    percent > WAIT_PERCENT_MAX && mean_ns > WAIT_NS_MIN
}

/// Returns true if an event loop or a read was late, as [`late`] describes.
pub(super) fn is_late(tally: &Tally) -> bool {
    late(tally).is_some()
}

/// Describes the longest delay of an event loop, or else the longest time for which a reply lay
/// unread. `None` if neither is long, or if a pause of the whole generator explains it.
fn late(tally: &Tally) -> Option<String> {
    if tally.fact("client", "pauses").is_some() {
        return None;
    }
    let all: Vec<usize> = (0..tally.groups.len()).collect();
    let service_ns = Sum::from_tally(tally, &all).service.quantile(0.5)?;
    let is_late = |ns: u64| ns >= LATE_NS_MAX && ns > service_ns;
    let latest = tally.heartbeats.iter().max_by_key(|of_loop| of_loop.lag.max());
    if let Some(of_loop) = latest.filter(|of_loop| is_late(of_loop.lag.max())) {
        return Some(format!(
            "Event loop {} of the generator was up to {} late, at {}",
            of_loop.loop_index,
            duration(of_loop.lag.max()),
            numbers::seconds(of_loop.most_delayed_at_ns as f64 / NS_PER_S as f64)
        ));
    }
    let measured = tally.groups.iter().map(|group| &group.measured);
    let lags = measured.flat_map(|group| [&group.reply_lag, &group.late_replies]);
    let longest_ns = lags.flatten().map(stats::Histogram::max).max()?;
    is_late(longest_ns).then(|| {
        format!("Replies lay in the generator's sockets for up to {}", duration(longest_ns))
    })
}
