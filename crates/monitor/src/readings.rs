//! The readings of one collector: makes gauges from names, and rates from counters.
//!
//! A rate is the growth of a counter over the time between two readings. A counter that fell was
//! reset, and has no value for that second. Not here: the sources of values.

use std::collections::HashMap;
use std::time::Instant;

use model::{Gauge, NS_PER_S};

use crate::wall_clock;

/// Limit on the gauges of one collector, enough for all counters of a server. Further ones, as from
/// a faulty server, are not reported.
const GAUGES_MAX: usize = 2_000;

/// Time in nanoseconds after which a counter that stays lower than before counts as reset.
const FELL_NS: i64 = 5 * NS_PER_S as i64 / 2;

/// Factor by which a measured rate may exceed its possible maximum, because counters of ticks and
/// the clock are not read at the same instant.
const ABOVE_MAX: f64 = 1.1;

/// Name, unit and help text of a [`Gauge`], as an argument of the methods of [`Readings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct What<'a> {
    pub name: &'a str,
    /// Unit of the gauge's value, such as `%` or `bytes`; empty for a plain number.
    pub unit: &'a str,
    /// Description of the gauge, in a sentence.
    pub help: &'a str,
}

impl<'a> What<'a> {
    pub const fn new(name: &'a str, unit: &'a str, help: &'a str) -> What<'a> {
        What { name, unit, help }
    }
}

#[derive(Clone, Copy, Debug)]
struct Known {
    place: u16,
    /// Time (in nanoseconds, as in [`Readings::at`]) and value of a counter at its last reading;
    /// `None` before the first.
    before: Option<(i64, f64)>,
    /// Numerator and denominator of a ratio at its last reading; `None` before the first.
    ratio_before: Option<(f64, f64)>,
}

/// Gauges that one collector has declared, with the values of the current reading.
#[derive(Debug)]
pub struct Readings {
    about: String,
    /// Instant from which the times of readings count; `None` if the caller sets times by
    /// [`Readings::at`].
    origin: Option<Instant>,
    at_ns: i64,
    known: HashMap<String, Known>,
    new: Vec<Gauge>,
    values: Vec<(u16, f64)>,
}

impl Readings {
    /// Creates readings without gauges. All gauges added later have the subject `about`.
    pub fn new(about: String) -> Readings {
        let (known, new, values) = (HashMap::new(), Vec::new(), Vec::new());
        Readings { about, origin: None, at_ns: 0, known, new, values }
    }

    /// Sets the instant from which the times of readings count, for [`Readings::again`].
    pub fn from(mut self, origin: Instant) -> Readings {
        self.origin = Some(origin);
        self
    }

    /// Begins another reading, and takes the current time for the values that follow. Does nothing
    /// if [`Readings::from`] was not called.
    pub fn again(&mut self) {
        if let Some(origin) = self.origin {
            self.at_ns = wall_clock::since(origin, wall_clock::now());
        }
    }

    /// Returns the time of the current reading, in nanoseconds since the instant given to
    /// [`Readings::from`].
    pub fn at_ns(&self) -> i64 {
        self.at_ns
    }

    /// Begins another reading, whose values have the time `at_ns`, in nanoseconds.
    pub fn at(&mut self, at_ns: i64) {
        self.at_ns = at_ns;
    }

    /// Adds the value of a gauge, which is reported unchanged, such as memory in use.
    pub fn level(&mut self, what: What<'_>, value: f64) {
        self.level_of(what, "", value);
    }

    /// Adds the value of a gauge for one of several items, such as the disk `item`. The value is
    /// reported unchanged.
    pub fn level_of(&mut self, what: What<'_>, item: &str, value: f64) {
        if let Some(place) = self.known(what, item).map(|known| known.place) {
            self.put(place, value);
        }
    }

    /// Adds the value of a counter, and reports its growth per second since the last reading.
    /// Reports nothing at the first reading, or if the counter fell.
    pub fn total(&mut self, what: What<'_>, total: f64) {
        self.total_of(what, "", total);
    }

    /// Adds the value of a counter for one of several items, such as the disk `item`, and reports
    /// its rate as [`Readings::total`] does.
    pub fn total_of(&mut self, what: What<'_>, item: &str, total: f64) {
        let at_ns = self.at_ns;
        let Some(known) = self.known(what, item) else { return };
        let before = known.before.replace((at_ns, total));
        let place = known.place;
        if let Some((before_ns, before)) = before
            && at_ns > before_ns
            && total >= before
        {
            let seconds = (at_ns - before_ns) as f64 / NS_PER_S as f64;
            self.put(place, (total - before) / seconds);
        }
    }

    /// Adds two counters that together grow by at most `rate_max` per second, and reports the
    /// growth of each per second. If the sum exceeds `rate_max` by up to 10 %, both are reduced in
    /// proportion; if by more, nothing is reported. A short fall is ignored, because the CPU time
    /// of a child process that has ended appears in its parent's counters a little later.
    pub fn totals_within(&mut self, counters: [(What<'_>, f64); 2], rate_max: f64) {
        let at_ns = self.at_ns;
        let mut before = [None; 2];
        for (before, (what, _)) in before.iter_mut().zip(counters) {
            *before = self.known(what, "").and_then(|known| known.before);
        }
        if let [Some(first), Some(second)] = before {
            let grown = [counters[0].1 - first.1, counters[1].1 - second.1];
            let elapsed_ns = at_ns - first.0;
            if elapsed_ns <= 0 || (grown.iter().any(|n| *n < 0.0) && elapsed_ns < FELL_NS) {
                return;
            }
            let rates = grown.map(|grown| grown * NS_PER_S as f64 / elapsed_ns as f64);
            let share = rate_max / rates.iter().sum::<f64>();
            let is_possible = rates.iter().all(|rate| *rate >= 0.0) && share * ABOVE_MAX >= 1.0;
            for ((what, _), rate) in counters.iter().zip(rates).filter(|_| is_possible) {
                self.level(*what, rate * share.min(1.0));
            }
        }
        for (what, total) in counters {
            if let Some(known) = self.known(what, "") {
                known.before = Some((at_ns, total));
            }
        }
    }

    /// Forgets the last values of all counters, since the next values come from another process,
    /// such as a restarted server.
    pub fn begin_anew(&mut self) {
        for known in self.known.values_mut() {
            (known.before, known.ratio_before) = (None, None);
        }
    }

    /// Adds two counters for one of several items, such as the disk `item`, and reports the growth
    /// of `part` since the last reading divided by the growth of `whole`. Reports nothing if
    /// `whole` has not grown.
    pub fn ratio_of(&mut self, what: What<'_>, item: &str, part: f64, whole: f64) {
        let Some(known) = self.known(what, item) else { return };
        let before = known.ratio_before.replace((part, whole));
        let place = known.place;
        if let Some((part_before, whole_before)) = before
            && whole > whole_before
            && part >= part_before
        {
            self.put(place, (part - part_before) / (whole - whole_before));
        }
    }

    /// Adds the value of the gauge with the index `place`, rounded to seven digits. That is more
    /// than the precision of any source, and takes half the bytes in the store.
    fn put(&mut self, place: u16, value: f64) {
        let short = f64::from(value as f32);
        if short.is_finite() {
            self.values.push((place, short));
        }
    }

    /// Finds a gauge by name and item, or declares it as new; `None` if the collector has too many
    /// gauges.
    fn known(&mut self, what: What<'_>, item: &str) -> Option<&mut Known> {
        let name = match item {
            "" => what.name.to_owned(),
            item => format!("{}/{item}", what.name),
        };
        if !self.known.contains_key(&name) {
            let place = u16::try_from(self.known.len()).ok()?;
            if self.known.len() >= GAUGES_MAX {
                return None;
            }
            self.new.push(Gauge {
                about: self.about.clone(),
                name: name.clone(),
                unit: what.unit.to_owned(),
                help: what.help.to_owned(),
            });
            self.known.insert(name.clone(), Known { place, before: None, ratio_before: None });
        }
        self.known.get_mut(&name)
    }

    /// Returns what is new since the last call: gauges that were declared, and values, each with
    /// the index of its gauge. Gauges are numbered from 0 in the order in which the collector
    /// declared them.
    pub fn take(&mut self) -> (Vec<Gauge>, Vec<(u16, f64)>) {
        (std::mem::take(&mut self.new), std::mem::take(&mut self.values))
    }

    /// Drops the values of the current reading without reporting them. Rates of counters still
    /// continue from them.
    pub fn forget_values(&mut self) {
        self.values.clear();
    }
}

/// Returns the values reported since the last call, with the names of their gauges, for tests.
#[cfg(test)]
pub(crate) fn by_name(readings: &mut Readings, names: &mut Vec<String>) -> Vec<(String, f64)> {
    let (new, values) = readings.take();
    names.extend(new.into_iter().map(|gauge| gauge.name));
    values.into_iter().map(|(place, value)| (names[usize::from(place)].clone(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: What<'_> = What::new("reads", "1/s", "Reads.");

    #[test]
    fn a_rate_is_growth_over_time_and_a_counter_that_fell_has_none() {
        let mut readings = Readings::new("database".to_owned());
        let mut rate = |at_ns: i64, total: f64| {
            readings.at(at_ns);
            readings.total(READS, total);
            let (_, values) = readings.take();
            values.first().map(|(_, value)| *value)
        };
        let s = NS_PER_S as i64;
        assert_eq!(rate(-2 * s, 1000.0), None);
        assert_eq!(rate(-s, 1500.0), Some(500.0));
        assert_eq!(rate(s, 1600.0), Some(50.0));
        // The server restarted: the growth is unknown, and never negative.
        assert_eq!(rate(2 * s, 3.0), None);
        assert_eq!(rate(3 * s, 3.0), Some(0.0));
        // Two readings at the same time have no rate.
        assert_eq!(rate(3 * s, 9.0), None);
        assert_eq!(rate(4 * s, f64::NAN), None);
    }

    #[test]
    fn counters_with_a_limit_never_grow_faster_and_wait_for_a_child_that_has_ended() {
        let other = What::new("writes", "1/s", "Writes.");
        let mut readings = Readings::new("server".to_owned());
        let mut rates = |at_s: i64, totals: [f64; 2]| {
            readings.at(at_s * NS_PER_S as i64);
            readings.totals_within([(READS, totals[0]), (other, totals[1])], 200.0);
            readings.take().1.into_iter().map(|(_, value)| value).collect::<Vec<f64>>()
        };
        assert_eq!(rates(0, [1000.0, 0.0]), []);
        assert_eq!(rates(1, [1100.0, 50.0]), [100.0, 50.0]);
        // Slightly above the maximum, both rates are reduced in proportion. Far above, there is a
        // gap.
        assert_eq!(rates(2, [1265.0, 105.0]), [150.0, 50.0]);
        assert_eq!(rates(3, [9000.0, 105.0]), []);
        // A child has ended, and appears in its parent's counters a second later.
        assert_eq!(rates(4, [8000.0, 105.0]), []);
        assert_eq!(rates(5, [9100.0, 125.0]), [50.0, 10.0]);
        // The counter stays lower, so it was reset.
        assert_eq!(rates(6, [10.0, 10.0]), []);
        assert_eq!(rates(8, [20.0, 20.0]), []);
        assert_eq!(rates(9, [30.0, 30.0]), [10.0, 10.0]);
    }

    #[test]
    fn nothing_goes_on_from_where_somebody_else_stood() {
        let mut readings = Readings::new("server".to_owned());
        for (second, total) in [(0, 10.0), (1, 20.0)] {
            readings.at(second * NS_PER_S as i64);
            readings.total(READS, total);
        }
        assert_eq!(readings.take().1.len(), 1);
        readings.begin_anew();
        readings.at(2 * NS_PER_S as i64);
        readings.total(READS, 5000.0);
        assert_eq!(readings.take().1, []);
    }

    #[test]
    fn a_gauge_is_declared_once_and_one_of_a_kind_has_its_own() {
        let mut readings = Readings::new("machine".to_owned());
        let busy = What::new("disk_busy", "%", "Busy.");
        readings.level_of(busy, "vda", 1.0);
        readings.level_of(busy, "vdb", 2.0);
        let (gauges, values) = readings.take();
        let names: Vec<&str> = gauges.iter().map(|gauge| gauge.name.as_str()).collect();
        assert_eq!(names, ["disk_busy/vda", "disk_busy/vdb"]);
        assert_eq!(values, [(0, 1.0), (1, 2.0)]);
        readings.level_of(busy, "vdb", 0.1);
        assert_eq!(readings.take(), (Vec::new(), vec![(1, f64::from(0.1_f32))]));
    }

    #[test]
    fn gauges_without_end_are_not_kept() {
        let mut readings = Readings::new("database".to_owned());
        for n in 0..3 * GAUGES_MAX {
            readings.level_of(READS, &n.to_string(), 1.0);
        }
        let (gauges, values) = readings.take();
        assert_eq!((gauges.len(), values.len()), (GAUGES_MAX, GAUGES_MAX));
    }
}
