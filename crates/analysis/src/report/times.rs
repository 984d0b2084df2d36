//! Distributions of times, as they are reported: a quantile is given only if there are enough
//! samples for it, and otherwise the reason why there is none.

use model::{NS_PER_MS, NS_PER_S, NS_PER_US, numbers};
use serde::{Deserialize, Serialize};
use stats::{
    Histogram, InTime, NoInterval, Offered, OfferedInterval, OfferedQuantile, TooFew, TooFewSlots,
    dependent_mean, dependent_ranks, enough,
};

use super::{CountsReport, Named, Report};

/// Quantiles of a [`Latency`], by the names of their fields.
const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.50), ("p90", 0.90), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

const CONFIDENCE: f64 = 0.95;

/// Number of percentiles in [`Latency::distribution`] for each factor of ten in the share of
/// samples above them, such as from 99 % to 99.9 %.
const STEPS_PER_TENFOLD: usize = 8;
/// Largest number of percentiles in [`Latency::distribution`], the last of which has one sample in
/// 10^8 above it.
const DISTRIBUTION_MOST: usize = 8 * STEPS_PER_TENFOLD;

/// A distribution of times in milliseconds: count, mean, quantiles and extremes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub count: u64,
    pub min: Option<f64>,
    pub mean: Option<f64>,
    pub sd: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    /// The longest time, exact; null if there is none. Quantiles have the resolution of the
    /// histogram from which they come.
    pub max: Option<f64>,
    /// The 95 % CIs of mean and quantiles within this run, as low and high end by name, such as
    /// `p99`. They allow for autocorrelation, but errors between runs are larger. A high end of
    /// `None` falls among lost or unfinished transactions; if the low end does, there is no CI.
    pub intervals: Named<(f64, Option<f64>)>,
    /// Reasons why a known mean or quantile has no confidence interval, by its name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub interval_reasons: Named<String>,
    /// The whole distribution: percentages of samples, rising, each with the time that these
    /// samples do not exceed. Empty where only quantiles are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<(f64, f64)>,
    /// Number of samples above the range of the histogram; a quantile among them is given as the
    /// maximum.
    pub overflow: u64,
    /// Lower bounds of quantiles that are null because they fall among unfinished transactions, by
    /// name.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub at_least: Named<f64>,
    /// Names of quantiles that are null because they fall among failed or dropped transactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub infinite: Vec<String>,
    /// Reasons why fields are null, by name of the field.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub reasons: Named<String>,
    /// A remark on the whole distribution; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Lag of the generator in microseconds: time from when a transaction was due and its client free
/// until its first request was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LagTimes {
    pub count: u64,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// Times of connecting to the server, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectTimes {
    /// Times of successful connections.
    #[serde(flatten)]
    pub times: Latency,
    /// Number of clients that could not connect.
    pub failed: u64,
}

pub(super) fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS as f64
}

pub(super) fn us(ns: u64) -> f64 {
    ns as f64 / NS_PER_US as f64
}

/// Rounds a number to six decimals; `None` if it is infinite or NaN.
pub(super) fn known(value: f64) -> Option<f64> {
    value.is_finite().then(|| (value * 1e6).round() / 1e6)
}

/// Describes in words why a quantile is missing: there are too few samples.
pub(crate) fn too_few(few: TooFew) -> String {
    let (needed, have) = (model::format_count(few.needed), model::format_count(few.have));
    match few.have {
        0 => "no samples".to_owned(),
        1 => format!("too few samples: needs at least {needed}, has one"),
        _ => format!("too few samples: needs at least {needed}, has {have}"),
    }
}

/// Reason why an extreme, a count, or a sum over the whole run has no confidence interval.
pub(crate) const ONE_NUMBER: &str =
    "a run has one number of it: repeat the run to see how much it varies";

/// Describes in words why a rate or a mean has no confidence interval: the run is too short for how
/// slowly the figure varies. `varies` begins the sentence, such as `commits vary`.
pub(crate) fn too_short(varies: &str, few: TooFewSlots, slot_ns: u64) -> String {
    let seconds = |slots: u64| slots as f64 * slot_ns as f64 / NS_PER_S as f64;
    let (needed, have) = (seconds(few.needed), seconds(few.have));
    format!(
        "{varies} too slowly for a run of {have:.1} s: use at least {:.1} s",
        needed.max(have + 0.1)
    )
}

/// Order in which times were recorded, from which their autocorrelation is estimated.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// The order is known: times in consecutive intervals of the run.
    Known(&'a InTime),
    /// The order was not kept, for the given reason, so that confidence intervals cannot be
    /// computed.
    Unknown(&'static str),
}

/// Returns the 95 % CI of quantiles, in nanoseconds, and reasons why some have none, both by name.
/// A high end among lost or unfinished transactions is `None`.
pub(super) fn intervals(
    quantiles: &[(&str, f64)],
    all: &Offered,
    order: Order,
) -> (Named<(u64, Option<u64>)>, Named<String>) {
    let (mut intervals, mut reasons) = (Named::default(), Named::default());
    let in_time = match order {
        Order::Known(in_time) => in_time,
        Order::Unknown(why) => {
            quantiles.iter().for_each(|(name, _)| reasons.push(*name, why.to_owned()));
            return (intervals, reasons);
        }
    };
    let at: Vec<f64> = quantiles.iter().map(|(_, q)| *q).collect();
    let found = dependent_ranks(in_time, &at, CONFIDENCE);
    for ((name, _), ranks) in quantiles.iter().zip(found) {
        match ranks.map(|ranks| all.between(ranks)) {
            Ok(OfferedInterval { low: Some(low), high }) => intervals.push(*name, (low, high)),
            Ok(OfferedInterval { low: None, .. }) => {
                reasons.push(*name, "both ends fall among lost transactions".to_owned());
            }
            Err(why) => reasons.push(*name, no_interval(why, in_time)),
        }
    }
    (intervals, reasons)
}

/// Words before the length of a run from which on a time has a confidence interval.
const A_CI_NEEDS: &str = "a CI needs ";

/// Returns the length of a run, such as `20 s`, that a reason why a time has no confidence interval
/// asks for; `None` for other reasons.
pub(crate) fn length_needed(reason: &str) -> Option<&str> {
    reason.rsplit_once(A_CI_NEEDS).map(|(_, length)| length)
}

/// Describes in words why a quantile has no confidence interval, and how long a run must be for
/// one.
pub(super) fn no_interval(why: NoInterval, in_time: &InTime) -> String {
    let run_s = in_time.stretches.len() as f64 * in_time.width_s as f64;
    match why {
        NoInterval::TooFew(few) => too_few(few),
        NoInterval::TooShort { needed, .. } => {
            let needed_s = needed as f64 * in_time.width_s as f64;
            let kept = match in_time.width_s {
                1 => "second".to_owned(),
                width_s => numbers::seconds(width_s as f64),
            };
            let needed_s = numbers::seconds(needed_s);
            format!("the run is too short: times are kept per {kept}, and {A_CI_NEEDS}{needed_s}")
        }
        NoInterval::Planned => {
            "the planned rate changes and does not repeat often enough: repeat the plan within the \
             run, or use a constant rate"
                .to_owned()
        }
        NoInterval::TooDependent { times_as_long } => {
            let needed_s = numbers::rounded_up(run_s * times_as_long);
            let needed = numbers::seconds(needed_s);
            format!("it needs a run of about {needed}")
        }
    }
}

impl Latency {
    /// Returns true if the quantile `name` falls among failed or dropped transactions, and so is
    /// infinite.
    pub fn is_infinite(&self, name: &str) -> bool {
        self.infinite.iter().any(|lost| lost == name)
    }

    /// Returns true if the quantile `name` falls among lost or unfinished transactions. Its value
    /// is not known, but is above every measured time.
    pub fn is_among_lost(&self, name: &str) -> bool {
        self.at_least.get(name).is_some() || self.is_infinite(name)
    }

    /// Returns the distribution of times in nanoseconds that were all measured to their end,
    /// without the field `distribution`.
    pub fn from_histogram(histogram: &Histogram, order: Order) -> Latency {
        let mut latency = Latency::extremes(histogram);
        for (name, q) in QUANTILES {
            let enough = enough(histogram.count(), q, CONFIDENCE);
            match (enough, histogram.quantile(q)) {
                (Ok(_), Some(value)) => latency.set(name, ms(value)),
                (Err(few), _) => latency.reasons.push(name, too_few(few)),
                (Ok(_), None) => latency.reasons.push(name, "no samples".to_owned()),
            }
        }
        let unfinished = Histogram::default();
        let all = Offered { finished: histogram, unfinished: &unfinished, lost: 0 };
        latency.add_intervals(&all, order);
        latency
    }

    /// Adds the confidence intervals of the mean and of the known quantiles, or the reasons why
    /// they have none.
    fn add_intervals(&mut self, all: &Offered, order: Order) {
        let is_known = |(name, _): &&(&str, f64)| {
            self.get(name).is_some() || self.at_least.get(name).is_some()
        };
        let known: Vec<(&str, f64)> = QUANTILES.iter().filter(is_known).copied().collect();
        let (found, reasons) = intervals(&known, all, order);
        self.interval_reasons = reasons;
        for (name, (low, high)) in found.iter() {
            self.intervals.push(name, (ms(*low), high.map(ms)));
        }
        self.add_interval_of_mean(order);
    }

    /// Adds the confidence interval of the mean, from sums and counts of consecutive intervals of
    /// time.
    fn add_interval_of_mean(&mut self, order: Order) {
        let (Some(_), Order::Known(in_time)) = (self.mean, order) else { return };
        match dependent_mean(in_time, CONFIDENCE) {
            Ok((low, high)) => {
                let in_ms = |ns: f64| known(ns / NS_PER_MS as f64);
                if let Some((low, high)) = in_ms(low).zip(in_ms(high)) {
                    self.intervals.push("mean", (low, Some(high)));
                }
            }
            Err(why) => self.interval_reasons.push("mean", no_interval(why, in_time)),
        }
    }

    /// Returns the distribution of times in nanoseconds that were all measured to their end, with
    /// the field `distribution`.
    pub fn whole(histogram: &Histogram, order: Order) -> Latency {
        Latency::from_histogram(histogram, order).with_distribution(|q| histogram.quantile(q))
    }

    /// Returns the distribution of response times over all offered transactions, including lost and
    /// unfinished ones, with all percentiles that are known.
    pub fn offered(offered: &Offered, counts: &CountsReport, order: Order) -> Latency {
        let mut latency = Latency::extremes(offered.finished);
        latency.count = offered.count();
        if offered.count() > offered.finished.count() {
            let lost = "not known: not all offered transactions have finished";
            latency.mean = None;
            latency.sd = None;
            latency.max = None;
            for name in ["mean", "sd", "max"] {
                latency.reasons.push(name, lost.to_owned());
            }
        }
        for (name, q) in QUANTILES {
            if let Err(few) = enough(offered.count(), q, CONFIDENCE) {
                latency.reasons.push(name, too_few(few));
                continue;
            }
            match offered.quantile(q) {
                OfferedQuantile::Exact(ns) => latency.set(name, ms(ns)),
                OfferedQuantile::AtLeast(ns) => {
                    let unfinished = transactions(counts.unfinished);
                    let reason = format!(">= {}: {unfinished} unfinished", ms(ns));
                    latency.at_least.push(name, ms(ns));
                    latency.reasons.push(name, reason);
                }
                OfferedQuantile::Infinite => {
                    latency.infinite.push(name.to_owned());
                    latency.reasons.push(name, infinite(counts));
                }
                OfferedQuantile::Empty => latency.reasons.push(name, "no samples".to_owned()),
            }
        }
        latency.add_intervals(offered, order);
        latency.with_distribution(|q| match offered.quantile(q) {
            OfferedQuantile::Exact(ns) => Some(ns),
            _ => None,
        })
    }

    /// Returns a distribution with count, extremes, mean and standard deviation of times in
    /// nanoseconds, but without quantiles.
    fn extremes(histogram: &Histogram) -> Latency {
        let any = !histogram.is_empty();
        Latency {
            count: histogram.count(),
            min: any.then(|| ms(histogram.min())),
            mean: known(histogram.mean() / NS_PER_MS as f64),
            sd: known(histogram.sd() / NS_PER_MS as f64),
            max: any.then(|| ms(histogram.max())),
            overflow: histogram.overflow(),
            ..Latency::default()
        }
    }

    /// Adds percentiles up to the last sample, eight for each factor of ten in 1 / (1 - q).
    /// `quantile` returns nanoseconds.
    fn with_distribution(self, quantile: impl Fn(f64) -> Option<u64>) -> Latency {
        let steps = (0..=DISTRIBUTION_MOST).map(|step| step as f64 / STEPS_PER_TENFOLD as f64);
        let described = steps
            .map(|step| 10_f64.powf(step))
            .take_while(|one_in| *one_in <= self.count as f64)
            .filter_map(|one_in| {
                let q = 1.0 - 1.0 / one_in;
                Some((known(q * 100.0)?, ms(quantile(q)?)))
            });
        Latency { distribution: described.collect(), ..self }
    }

    fn set(&mut self, name: &str, value: f64) {
        let field = match name {
            "p50" => &mut self.p50,
            "p90" => &mut self.p90,
            "p95" => &mut self.p95,
            "p99" => &mut self.p99,
            "p999" => &mut self.p999,
            _ => unreachable!("{name} is not in QUANTILES"),
        };
        *field = Some(value);
    }

    /// Returns the number of samples that the quantile `name` needs, if it is not known because
    /// there are too few; else `None`.
    pub fn samples_needed(&self, name: &str) -> Option<u64> {
        let (_, q) = QUANTILES.iter().find(|(quantile, _)| *quantile == name)?;
        let is_unknown = self.count > 0 && self.get(name).is_none();
        let few = enough(self.count, *q, CONFIDENCE).err().filter(|_| is_unknown);
        few.map(|few| few.needed)
    }

    /// Returns the quantile `name`, such as `p99`, in milliseconds; `None` if it is not known.
    pub fn get(&self, name: &str) -> Option<f64> {
        match name {
            "p50" => self.p50,
            "p90" => self.p90,
            "p95" => self.p95,
            "p99" => self.p99,
            "p999" => self.p999,
            _ => None,
        }
    }
}

fn infinite(counts: &CountsReport) -> String {
    let lost = counts.failed + counts.dropped;
    let (lost, offered) = (model::format_count(lost), transactions(counts.offered));
    format!("infinite: {lost} of {offered} were dropped or failed")
}

fn transactions(count: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} transaction{plural}", model::format_count(count))
}

impl LagTimes {
    /// Returns the distribution of lags from a histogram of nanoseconds; without samples if there
    /// is no histogram.
    pub fn from_histogram(histogram: Option<&Histogram>) -> LagTimes {
        let Some(lag) = histogram else { return LagTimes::default() };
        let quantile = |q| {
            let is_enough = enough(lag.count(), q, CONFIDENCE).is_ok();
            lag.quantile(q).filter(|_| is_enough).map(us)
        };
        LagTimes {
            count: lag.count(),
            p50: quantile(0.50),
            p99: quantile(0.99),
            max: (!lag.is_empty()).then(|| us(lag.max())),
        }
    }
}

/// Adds up all histograms; `None` if there are none.
pub(super) fn merged<'a>(parts: impl Iterator<Item = &'a Option<Histogram>>) -> Option<Histogram> {
    let mut sum: Option<Histogram> = None;
    for part in parts.flatten() {
        match &mut sum {
            Some(sum) => sum.add(part),
            None => sum = Some(part.clone()),
        }
    }
    sum
}

impl Report {
    /// Returns true if throughput or a shown quantile of response times has no confidence interval
    /// because too little was measured.
    pub fn lacks_intervals(&self) -> bool {
        let reasons = &self.block.offered_ms.interval_reasons;
        let lacks = ["p50", "p95", "p99"].iter().any(|name| reasons.get(name).is_some());
        lacks || self.block.tps_ci95.is_none() && self.block.tps.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram_of(values_ms: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values_ms.into_iter().for_each(|value| histogram.record(value * NS_PER_MS));
        histogram
    }

    /// Spreads the times of `histogram` over 20 stretches in the same proportions, as independent
    /// samples would be.
    fn alike(histogram: &Histogram, offered: u64) -> InTime {
        let n = 20;
        let mut stretches = vec![stats::Stretch::default(); n];
        let values = histogram.recorded().flat_map(|(v, n)| std::iter::repeat_n(v, n as usize));
        for (index, value) in values.enumerate() {
            stretches[7 * index % n].finished.record(value);
        }
        let add = |(index, stretch): (usize, &mut stats::Stretch)| {
            stretch.offered = offered / n as u64 + u64::from((index as u64) < offered % n as u64);
        };
        stretches.iter_mut().enumerate().for_each(add);
        InTime { stretches, width_s: 1, ..InTime::default() }
    }

    fn in_any_order(histogram: &Histogram) -> Latency {
        Latency::from_histogram(histogram, Order::Known(&alike(histogram, histogram.count())))
    }

    fn of_offered(offered: &Offered, counts: &CountsReport) -> Latency {
        let in_time = alike(offered.finished, offered.count());
        Latency::offered(offered, counts, Order::Known(&in_time))
    }

    #[test]
    fn a_quantile_without_an_interval_says_how_long_a_run_has_one() {
        let times = histogram_of(1..=5000);
        let latency = Latency::from_histogram(&times, Order::Unknown("nobody knows"));
        assert_eq!(latency.interval_reasons.get("p99").map(String::as_str), Some("nobody knows"));
        let mut in_time = alike(&times, 5000);
        in_time.stretches.truncate(6);
        let latency = Latency::from_histogram(&times, Order::Known(&in_time));
        let reason = latency.interval_reasons.get("p50").map(String::as_str);
        assert_eq!(
            reason,
            Some("the run is too short: times are kept per second, and a CI needs 20 s")
        );
        // All slow times are in one second of a minute.
        let mut in_time = alike(&times, 5000);
        in_time.stretches.iter_mut().for_each(|stretch| stretch.finished = histogram_of([1; 247]));
        in_time.stretches[7].finished = histogram_of(1..=250);
        let latency = Latency::from_histogram(&times, Order::Known(&in_time));
        let reason = latency.interval_reasons.get("p99").map(String::as_str).unwrap_or_default();
        assert!(reason.starts_with("it needs a run of about"), "{reason}");
    }

    #[test]
    fn a_quantile_without_enough_samples_is_a_reason() {
        let latency = in_any_order(&histogram_of(1..=3000));
        assert!(latency.p99.is_some() && latency.p999.is_none());
        let reason = latency.reasons.get("p999").map(String::as_str);
        assert_eq!(reason, Some("too few samples: needs at least 3,688, has 3,000"));
        assert_eq!(latency.max, Some(3000.0));
        let (low, high) = *latency.intervals.get("p99").expect("enough samples");
        let p99 = latency.p99.expect("enough samples");
        assert!(low < p99 && high.is_some_and(|high| p99 < high), "{low} {p99} {high:?}");
    }

    #[test]
    fn nothing_has_no_figures_and_says_so() {
        let latency = in_any_order(&Histogram::default());
        assert_eq!((latency.count, latency.min, latency.mean), (0, None, None));
        assert!(latency.reasons.iter().all(|(_, why)| why == "no samples"));
        assert_eq!(latency.reasons.iter().count(), QUANTILES.len());
    }

    #[test]
    fn offered_quantiles_tell_the_truth_about_loss() {
        let finished = histogram_of(std::iter::repeat_n(10, 9_000));
        let unfinished = histogram_of(std::iter::repeat_n(500, 800));
        let offered = Offered { finished: &finished, unfinished: &unfinished, lost: 200 };
        let counts =
            CountsReport { offered: 10_000, unfinished: 800, dropped: 200, ..Default::default() };
        let latency = of_offered(&offered, &counts);
        assert!(latency.p50.is_some_and(|p50| (p50 - 10.0).abs() < 0.1));
        assert_eq!((latency.p95, latency.p99, latency.max), (None, None, None));
        assert!(latency.at_least.get("p95").is_some_and(|p95| (p95 - 500.0).abs() < 1.0));
        let reason = |name| latency.reasons.get(name).map(String::as_str).unwrap_or_default();
        assert!(reason("p95").ends_with(": 800 transactions unfinished"), "{}", reason("p95"));
        assert_eq!(reason("p99"), "infinite: 200 of 10,000 transactions were dropped or failed");
        assert_eq!(latency.infinite, ["p99", "p999"]);
        // The lower end of p95 is the age of an unfinished transaction; its upper end is not known.
        // Nothing is known of p99 and beyond, where at least 170 of the 200 lost ones are.
        let close = |value: f64, expect: f64| (value / expect - 1.0).abs() < 0.01;
        let p50 = latency.intervals.get("p50").copied();
        assert!(p50.is_some_and(
            |(low, high)| close(low, 10.0) && high.is_some_and(|high| close(high, 10.0))
        ));
        let p95 = latency.intervals.get("p95").copied();
        assert!(p95.is_some_and(|(low, high)| close(low, 500.0) && high.is_none()), "{p95:?}");
        assert_eq!(latency.intervals.get("p99"), None);
    }

    #[test]
    fn intervals_of_all_that_was_offered_are_those_of_the_finished_where_nothing_was_lost() {
        let finished = histogram_of((1..=5000).map(|n| n * n % 700));
        let unfinished = Histogram::default();
        let offered = Offered { finished: &finished, unfinished: &unfinished, lost: 0 };
        let latency = of_offered(&offered, &CountsReport::default());
        assert_eq!(latency.intervals, in_any_order(&finished).intervals);
        // One in fifty was lost: p95 is known, and p99 is infinite from its lower end on.
        let offered = Offered { lost: 102, ..offered };
        let latency = of_offered(&offered, &CountsReport::default());
        let p95 = latency.intervals.get("p95").copied().expect("enough samples");
        assert!(p95.0 <= latency.p95.expect("known") && p95.1 >= latency.p95, "{p95:?}");
        assert_eq!((latency.is_infinite("p99"), latency.intervals.get("p99")), (true, None));
        let json = serde_json::to_string(&latency).expect("numbers and names");
        let again: Latency = serde_json::from_str(&json).expect("what was written is read");
        assert_eq!(again, latency);
    }
}
