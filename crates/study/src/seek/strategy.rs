//! Strategy of a search: the next probe (run), and the answer, from the probes so far.
//!
//! Both are pure functions of a list of probes. There is no other state, so an interrupted search
//! resumes from its stored runs, and the answer of a completed one can be computed again. The
//! *boundary* is the highest value of the searched parameter at which all objectives are met.
//!
//! 1. *Bracket.* Short probes halve the range (by ratios) until its ends differ by at most 15 %. An
//!    end of the range is probed itself if the boundary may lie beyond it.
//! 2. *Refine.* Long probes lie around the boundary. Each is scored by the share of transactions
//!    beyond an objective's time, divided by the allowed share; a share is linear, so it is nearly
//!    unbiased even if transactions are autocorrelated. A curve is fitted to these ratios
//!    (`stats::Crossing`), and the next place follows from it.
//! 3. *Confirm.* New probes are made at the lower end of the confidence interval, which is the
//!    recommended value. They confirm it if they show that every objective is met there. If they
//!    cannot show it any more, the value is lowered, as long as there are probes left.
//!
//! A probe that fails for another reason than long times is repeated before it counts: two of three
//! decide. Not here: the execution of a probe, and its judgement (seek).

use stats::{Crossing, Grows, RatioPoint, students_t};

use super::{Answer, Beyond, CONFIDENCE, Judged, Stage, Verdict};

/// Share of a search's budget of time that one short probe (run) takes.
pub const SHORT_PROBE_SHARE: f64 = 1.0 / 32.0;
/// Number of the first method that scores probes by shares of transactions, and not by their times.
pub const METHOD_OF_SHARES: u32 = 2;
/// Ratio of the upper to the lower end of the remaining range at which a search makes no more short
/// probes.
const RATIO_NARROW: f64 = 1.15;
/// Largest number of short probes (runs) of a search, however wide the range is.
const BRACKETS_MOST: usize = 12;
/// Number of long probes that a search makes around the boundary, the highest value that meets the
/// objectives.
const REFINES: usize = 9;
/// Largest number of long probes with which a search confirms the recommended value.
const CONFIRMS: usize = 7;
/// Number of long probes that a search makes at the lowest or highest value of the range, if the
/// boundary lies beyond it.
const CONFIRMS_OF_END: usize = 3;
/// Positions of successive long probes relative to the boundary (the highest value that meets the
/// objectives), as multiples of the largest distance from it.
const OFFSETS: [f64; 9] = [-1.0, 1.0, 0.0, -0.5, 0.5, -0.8, 0.8, -0.25, 0.25];
/// Smallest and largest distance of a search's long probes from the boundary (the highest value
/// that meets the objectives), as a difference in the logarithm of the probes' ratio.
const REACH: (f64, f64) = (0.15, 2.0);
/// Distance of long probes from the boundary (the highest value that meets the objectives), in
/// standard deviations of a probe's ratio. More noise needs a larger distance, but over a wide
/// range the curve bends.
const REACH_IN_NOISE: f64 = 1.5;
/// Smallest and largest distance of a search's long probes from the boundary (the highest value
/// that meets the objectives), as a difference in the logarithm of the searched value.
const AROUND: (f64, f64) = (0.002, 0.12);
/// Distance from the boundary (the highest value that meets the objectives) beyond which probes are
/// left out when a curve is fitted, as a multiple of the distance at which long probes are made.
const NEAR: f64 = 2.5;
/// Distance from the boundary (the highest value that meets the objectives) beyond which probes are
/// left out when a curve is fitted, because over a wide range the curve bends; as a difference in
/// the logarithm of the searched value.
const NEAR_VALUES: f64 = 0.12;
/// Number of long probes (runs of a search) after which, if all are on one side of the boundary
/// (the highest value that meets the objectives), the next ones are made farther on the other side.
const ONE_SIDED_LEAST: usize = 3;
/// Factor by which the distance of long probes from the middle of the range grows with each one, as
/// long as their ratios show no slope.
const WIDER: f64 = 1.35;
/// Smallest number of probes (runs of a search) to which a curve is fitted.
const CURVE_LEAST: usize = 5;
/// Smallest effective sample size of a long probe (run of a search). If the median over probes is
/// smaller, they cannot decide, since the result of one does not predict that of another.
const INDEPENDENT_LEAST: f64 = 5.0;
/// z value of the rank test above which the ratios of a search's probes count as rising with the
/// searched value: random ranks exceed it with a probability of 1 %.
const RISES_LEAST: f64 = 2.33;
/// Number of confirming probes at a value before a search may give up the value for a lower one. It
/// does so only if at least as many confirming probes are left.
const STEP_AFTER: usize = 3;
/// Degrees of freedom of an error that is estimated from batches within several probes.
const FREEDOM_WITHIN: usize = 30;
/// Smallest step to a lower value while a search confirms its answer, as a difference in the
/// logarithm of the value.
const STEP_LEAST: f64 = 0.002;

/// The range and the budget of a search. The next probe follows from these and the probes made so
/// far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchStrategy {
    pub low: f64,
    pub high: f64,
    /// True if only whole numbers are probed, such as numbers of clients.
    pub is_whole: bool,
    /// Time for all probes with their ramp-ups, in nanoseconds.
    pub budget_ns: u64,
    /// Duration of the ramp-up of each probe, in nanoseconds.
    pub ramp_up_ns: u64,
    /// Number of the method by which the search chooses probes; [`METHOD_OF_SHARES`] or later.
    pub method: u32,
}

/// A probe (run of a search) that is to be made next, with its value, length and stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedProbe {
    /// Value of the searched parameter, such as a rate.
    pub at: f64,
    /// Duration of the probe's measured phase, in nanoseconds.
    pub measure_ns: u64,
    pub stage: Stage,
}

/// A probe (run of a search) that was made, with its judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The probe (run) as the search requested it.
    pub planned: PlannedProbe,
    pub judged: Judged,
}

/// Result of a search, concluded from its probes.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    pub answer: Answer,
    /// True if the confirming probes show that the objectives are met at the lower end of the
    /// answer (or, if even the lowest value fails, that they are not met there). False if they do
    /// not show this, and `None` before these probes were made.
    pub confirmed: Option<bool>,
    /// Standard deviation of a long probe's [ratio](super::Beyond::ratio) at the objective's bound;
    /// `None` without a curve.
    pub noise: Option<f64>,
    /// Growth of the [ratio](super::Beyond::ratio) in percent, at the answer, when the searched
    /// value grows by one percent; `None` without a curve.
    pub steepness: Option<f64>,
    /// Verdict on each probe, with the error that is known from the variation between probes. If
    /// that is not known, the verdict from the probe alone.
    pub verdicts: Vec<Verdict>,
}

/// The range of searched values that remains after the short probes, and whether probes have shown
/// that its lower end is below and its upper end above the boundary (the highest value that meets
/// the objectives).
struct Bracket {
    low: f64,
    high: f64,
    is_low_known: bool,
    is_high_known: bool,
    count: usize,
}

/// State of a searched value, by its probes. A probe is broken if it fails for another reason than
/// long times, such as a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No probe at the value is broken, or at least two others outvoted a broken one.
    Sound,
    /// One probe at the value is broken, and another one has to decide.
    Doubtful,
    /// At least two probes at the value are broken, and these are half or more of all.
    Broken,
}

impl SearchStrategy {
    /// Returns the next probe; `None` when the search is complete.
    pub fn next(&self, probes: &[Probe]) -> Option<PlannedProbe> {
        let bracket = self.bracket(probes);
        if let Some(at) = self.next_of_bracket(probes, &bracket) {
            let measure_ns = self.measure_ns(self.budget_ns as f64 * SHORT_PROBE_SHARE);
            return Some(PlannedProbe { at, measure_ns, stage: Stage::Bracket });
        }
        let measure_ns = self.long_ns(probes);
        let probe_at = |at, stage| Some(PlannedProbe { at, measure_ns, stage });
        let n_long = long(probes).count();
        if let Some(end) = self.end(probes) {
            let is_left = n_long < CONFIRMS_OF_END
                || (standing(probes, end) == Standing::Doubtful && n_long < REFINES);
            return if is_left { probe_at(end, Stage::Confirm) } else { None };
        }
        let last = probes.last().filter(|probe| probe.planned.stage != Stage::Bracket);
        let doubtful = last.filter(|last| standing(probes, last.planned.at) == Standing::Doubtful);
        match (n_long, doubtful) {
            (REFINES.., _) if n_long >= REFINES + CONFIRMS => None,
            (_, Some(last)) => probe_at(last.planned.at, last.planned.stage),
            (..REFINES, None) => probe_at(self.refined(probes, &bracket, n_long), Stage::Refine),
            (_, None) => probe_at(self.confirming(probes)?, Stage::Confirm),
        }
    }

    /// Returns the estimated number of probes that are left, and the nanoseconds of load that are
    /// left in the budget.
    pub fn left(&self, probes: &[Probe]) -> (u64, u64) {
        let spent: u64 =
            probes.iter().map(|probe| probe.planned.measure_ns + self.ramp_up_ns).sum();
        let n_long = long(probes).count();
        let bracket = self.bracket(probes);
        let ratio = (bracket.high / bracket.low).ln() / RATIO_NARROW.ln();
        let n_short = match self.next_of_bracket(probes, &bracket) {
            Some(_) => ratio.max(1.0).log2().ceil() as u64,
            None => 0,
        };
        let n_long_left = match self.end(probes) {
            Some(_) => CONFIRMS_OF_END.saturating_sub(n_long),
            None => (REFINES + CONFIRMS).saturating_sub(n_long),
        };
        (n_short + n_long_left as u64, self.budget_ns.saturating_sub(spent))
    }

    /// Returns the conclusion from the probes made so far; its answer is [`Answer::Unfinished`]
    /// until all are made.
    pub fn conclude(&self, probes: &[Probe]) -> Conclusion {
        match self.next(probes) {
            None => self.conclude_as_they_are(probes),
            Some(_) => {
                let concluded = self.conclude_as_they_are(probes);
                Conclusion { answer: Answer::Unfinished, confirmed: None, ..concluded }
            }
        }
    }

    /// Returns the conclusion from these probes as if the search were complete. Searches by an
    /// older method need this, since their probes are not those that the present method would make.
    pub fn conclude_as_they_are(&self, probes: &[Probe]) -> Conclusion {
        let answer = self.answer_with_fresh(probes);
        let curves = self.curves(probes);
        let binding = binding(&curves);
        let verdict = |probe: &Probe| verdict(probe, &curves);
        let weight = self.long_ns(probes) as f64 / 1e9;
        Conclusion {
            answer,
            confirmed: self.confirmed(probes),
            noise: binding.map(|curve| noise(curve, weight)),
            steepness: binding.map(|curve| curve.slope),
            verdicts: probes.iter().map(verdict).collect(),
        }
    }

    fn measure_ns(&self, with_ramp_up_ns: f64) -> u64 {
        let measure_ns = (with_ramp_up_ns as u64).saturating_sub(self.ramp_up_ns);
        // Whole seconds, so that the parts of a window are equally long.
        (measure_ns / 1_000_000_000).max(1) * 1_000_000_000
    }

    /// Returns the length of the measured phase of a long probe, in nanoseconds. All long probes
    /// share equally the time that short ones leave.
    fn long_ns(&self, probes: &[Probe]) -> u64 {
        let short = probes.iter().filter(|probe| probe.planned.stage == Stage::Bracket);
        let short: u64 = short.map(|probe| probe.planned.measure_ns + self.ramp_up_ns).sum();
        let long = (self.budget_ns.saturating_sub(short)) as f64 / (REFINES + CONFIRMS) as f64;
        self.measure_ns(long)
    }

    /// Rounds a value to a whole number or to five significant digits, and moves it into the range
    /// of the search.
    fn rounded(&self, at: f64) -> f64 {
        let digits = |at: f64| format!("{at:.4e}").parse().unwrap_or(at);
        let at = if self.is_whole { at.round() } else { digits(at) };
        at.clamp(self.low, self.high)
    }

    /// Rounds a value down to a whole number or to five significant digits, and moves it into the
    /// range of the search.
    fn rounded_down(&self, at: f64) -> f64 {
        let at = if self.is_whole { at.floor() } else { at * (1.0 - 5e-5) };
        self.rounded(at)
    }

    fn bracket(&self, probes: &[Probe]) -> Bracket {
        let mut bracket = Bracket {
            low: self.low,
            high: self.high,
            is_low_known: false,
            is_high_known: false,
            count: 0,
        };
        for probe in probes.iter().filter(|probe| probe.planned.stage == Stage::Bracket) {
            let at = probe.planned.at;
            bracket.count += 1;
            // A doubtful place counts by its best estimate: long probes will check it.
            match is_place_above(probes, at) {
                false => {
                    bracket.low = bracket.low.max(at);
                    bracket.is_low_known = true;
                    bracket.is_high_known |= at >= self.high;
                }
                true => {
                    bracket.high = bracket.high.min(at);
                    bracket.is_high_known = true;
                    bracket.is_low_known |= at <= self.low;
                }
            }
        }
        bracket
    }

    fn next_of_bracket(&self, probes: &[Probe], bracket: &Bracket) -> Option<f64> {
        if long(probes).next().is_some() {
            return None;
        }
        let is_narrow = bracket.high <= bracket.low * RATIO_NARROW
            || (self.is_whole && bracket.high - bracket.low <= 1.0)
            || bracket.count >= BRACKETS_MOST;
        let is_doubtful = is_narrow && bracket.is_high_known && is_said_once(probes, bracket.high);
        match (is_narrow, bracket.is_low_known, bracket.is_high_known) {
            (false, _, _) => Some(self.rounded((bracket.low * bracket.high).sqrt())),
            // A probe that was broken by chance must not keep the search below it.
            _ if is_doubtful => Some(bracket.high),
            _ if bracket.count >= BRACKETS_MOST => None,
            (true, false, _) => Some(self.low),
            (true, true, false) => Some(self.high),
            (true, true, true) => None,
        }
    }

    /// Returns the lowest or highest value of the range if short probes show that the boundary is
    /// beyond it: the objectives fail at the lowest, or are met at the highest value. `None`
    /// otherwise.
    fn end(&self, probes: &[Probe]) -> Option<f64> {
        let short = |at: f64| {
            probes
                .iter()
                .any(|probe| probe.planned.stage == Stage::Bracket && probe.planned.at == at)
        };
        let short_ones =
            || probes.iter().filter(|probe| probe.planned.stage == Stage::Bracket).cloned();
        let short_ones: Vec<Probe> = short_ones().collect();
        match () {
            () if short(self.low) && is_place_above(&short_ones, self.low) => Some(self.low),
            () if short(self.high) && !is_place_above(&short_ones, self.high) => Some(self.high),
            () => None,
        }
    }

    /// Returns the searched value for the next long probe around the boundary (the highest value
    /// that meets the objectives); `nth` such probes were made before.
    fn refined(&self, probes: &[Probe], bracket: &Bracket, nth: usize) -> f64 {
        let (low, high) = (bracket.low.ln(), bracket.high.ln());
        let (first, first_around) = (f64::midpoint(low, high), ((high - low) / 2.0).max(0.02));
        let step = first_around * WIDER.powi(nth as i32);
        let curves = self.curves(probes);
        let weight = self.long_ns(probes) as f64 / 1e9;
        let steering = curves.iter().flatten().filter(|curve| curve.slope > 0.0);
        let steering = steering.min_by(|a, b| a.at.total_cmp(&b.at));
        let places: Vec<f64> = long(probes).map(|probe| probe.planned.at.ln()).collect();
        let least = places.iter().copied().fold(low, f64::min);
        let most = places.iter().copied().fold(high, f64::max);
        let n_above = long(probes).filter(|probe| is_above(probe)).count();
        let is_one_sided = places.len() >= ONE_SIDED_LEAST;
        let (centre, around) = match steering {
            Some(curve) => {
                let around = around(curve, weight).max(self.spacing(curve.at));
                (curve.at.clamp(least - around, most + around), around)
            }
            // All are on one side, so the boundary is on the other.
            None if is_one_sided && n_above == 0 => (most + step, 0.0),
            None if is_one_sided && n_above == places.len() => (least - step, 0.0),
            // The slope is not known yet: widen with each probe.
            None => (first, step),
        };
        let at = (centre + OFFSETS[nth % OFFSETS.len()] * around).exp();
        match edge(probes) {
            // Beyond the edge there is nothing to measure.
            Some(edge) if at >= edge => {
                let below = probes.iter().map(|probe| probe.planned.at).filter(|at| *at < edge);
                let below = below.fold(bracket.low.min(edge / RATIO_NARROW), f64::max);
                self.rounded((below * edge).sqrt())
            }
            _ => self.rounded(at),
        }
    }

    /// Fits a curve of ratios for each objective on a time; `None` where none can be fitted.
    fn curves(&self, probes: &[Probe]) -> Vec<Option<Crossing>> {
        let most = probes.iter().map(|probe| probe.judged.beyond.len()).max().unwrap_or(0);
        (0..most).map(|index| self.curve(probes, index)).collect()
    }

    /// Fits a curve of the ratios of the objective with this index, to the probes near the value
    /// where it crosses 1; `None` if no curve can be fitted.
    fn curve(&self, probes: &[Probe], index: usize) -> Option<Crossing> {
        let edge = edge(probes).unwrap_or(f64::INFINITY);
        let counted = |probe: &&Probe| probe.planned.at < edge;
        let points: Vec<RatioPoint> =
            steering(probes).filter(counted).filter_map(|probe| point(probe, index)).collect();
        let allowed = probes.iter().find_map(|probe| probe.judged.beyond.get(index))?.allowed();
        let grows = match allowed > 0.0 {
            true => Grows::Share(allowed),
            // Whole numbers are numbers of clients, and not rates.
            false if self.is_whole || self.method <= METHOD_OF_SHARES => Grows::Time,
            false => Grows::TimeOfQueue,
        };
        let weight = points.iter().map(|point| point.weight).fold(0.0, f64::max);
        let mut curve = Crossing::fit(&points, grows, CONFIDENCE)?;
        // The crossing decides which probes are near, and these decide the crossing: a few
        // iterations settle.
        for _ in 0..4 {
            if curve.slope <= 0.0 {
                break;
            }
            let reach = reach(&curve, weight);
            let near_values = NEAR_VALUES.max(NEAR * self.spacing(curve.at));
            let mut near = points.clone();
            near.sort_by(|a, b| curve.link_at(a.x).abs().total_cmp(&curve.link_at(b.x).abs()));
            let is_near = |point: &&RatioPoint| {
                curve.link_at(point.x).abs() <= NEAR * reach
                    && (point.x - curve.at).abs() <= near_values
            };
            let n_near = near.iter().filter(is_near).count();
            near.truncate(n_near.max(CURVE_LEAST));
            match Crossing::fit(&near, grows, CONFIDENCE) {
                Some(nearer) if nearer.slope > 0.0 => curve = nearer,
                _ => break,
            }
        }
        Some(curve)
    }

    /// Returns the smallest distance between a value near `at` and the next one, as a difference of
    /// logarithms: small whole numbers are far apart. `at` is a logarithm.
    fn spacing(&self, at: f64) -> f64 {
        if self.is_whole { (1.0 / at.exp()).ln_1p() } else { 0.0 }
    }

    fn answer(&self, probes: &[Probe]) -> Answer {
        if let Some(end) = self.end(probes) {
            return match end <= self.low {
                true => Answer::LowestFails { value: end },
                false => Answer::HighestMeets { value: end },
            };
        }
        let all = long(probes).map(|probe| probe.planned.at);
        let (least, most) = all
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, at| (ends.0.min(at), ends.1.max(at)));
        if least <= most && is_too_short(probes) {
            return Answer::TooShort { low: least, high: most };
        }
        if let Some(answer) = self.beyond_an_end(probes) {
            return answer;
        }
        let edge = edge(probes);
        let curves = self.curves(probes);
        if let Some(curve) = binding(&curves).filter(|_| rises(probes)) {
            // Without a certain slope among those nearby, the range of the probes is used.
            let known = |end: f64, looked: f64| if end.is_finite() { end } else { looked };
            let (least, most) = (least.ln().min(curve.at), most.ln().max(curve.at));
            let all = || curves.iter().flatten().filter(|curve| curve.slope > 0.0);
            let low = all().map(|curve| known(curve.interval.0, least));
            let low = low.fold(f64::INFINITY, f64::min);
            let high = all().map(|curve| known(curve.interval.1, most));
            let high = high.fold(f64::INFINITY, f64::min);
            match curve.at.exp() {
                value if value < self.low => return Answer::LowestFails { value: self.low },
                value if edge.is_some_and(|edge| value >= edge) => {}
                value if value >= self.high => return Answer::HighestMeets { value: self.high },
                value => return self.found(value, (low, high), edge),
            }
        }
        let fails = |probe: &&Probe| is_above(probe) && !is_outvoted(probes, probe);
        let high = long(probes).filter(fails).map(|probe| probe.planned.at);
        let high = high.fold(edge.unwrap_or(f64::INFINITY), f64::min);
        let meets = |probe: &&Probe| !is_above(probe) && probe.planned.at < high;
        let low =
            probes.iter().filter(meets).map(|probe| probe.planned.at).fold(self.low, f64::max);
        match (edge.is_some(), least <= most) {
            (true, _) => Answer::Between { low, high },
            (false, true) => Answer::Flat { low: least, high: most },
            (false, false) => Answer::Unfinished,
        }
    }

    /// Returns the answer if at least three long probes at an end of the range agree that the
    /// boundary is beyond it; then hardly any other value was probed, and there is no curve. `None`
    /// otherwise.
    fn beyond_an_end(&self, probes: &[Probe]) -> Option<Answer> {
        let all_say = |end: f64, verdict: Verdict| {
            let here = || long(probes).filter(|probe| probe.planned.at == end);
            here().count() >= CONFIRMS_OF_END && here().all(|p| p.judged.verdict == verdict)
        };
        match () {
            () if all_say(self.low, Verdict::Fails) => {
                Some(Answer::LowestFails { value: self.low })
            }
            () if all_say(self.high, Verdict::Meets) => {
                Some(Answer::HighestMeets { value: self.high })
            }
            () => None,
        }
    }

    /// Returns the answer for a curve that crosses the bound at `value`, with its confidence
    /// interval. It is limited to the range and to `edge`, the lowest value with broken probes.
    /// Whole numbers are rounded down, so that the objectives are met there.
    fn found(&self, value: f64, (low, high): (f64, f64), edge: Option<f64>) -> Answer {
        let whole = |at: f64| if self.is_whole { at.floor() } else { at };
        // The edge itself is not in the interval of whole numbers below it.
        let below = edge.map(|edge| if self.is_whole { edge - 1.0 } else { edge });
        let most = below.unwrap_or(f64::INFINITY).min(self.high);
        let value = whole(value).max(self.low);
        let low = self.rounded_down(low.exp()).clamp(self.low, value);
        let high = whole(high.exp()).min(most).max(value);
        Answer::Found { value, low, high }
    }

    /// Returns the answer of a search from all probes, the confirming ones included. Its lower end
    /// is at most the value at which confirming probes were made, and its `value` is at least that
    /// if they show that the objectives are met.
    fn answer_with_fresh(&self, probes: &[Probe]) -> Answer {
        let site = fresh(probes).last().map(|probe| probe.planned.at);
        // A value that is lower only by rounding is the place itself.
        let lower = |low: f64, site: f64| if low < self.rounded_down(site) { low } else { site };
        match (self.answer(probes), site) {
            (Answer::Found { value, low, high }, Some(site)) => {
                let shown = if self.confirmed(probes) == Some(true) { site } else { value };
                let low = lower(low, site);
                Answer::Found { value: value.max(shown), low, high: high.max(shown) }
            }
            (Answer::Between { low, high }, Some(site)) => {
                Answer::Between { low: lower(low, site), high }
            }
            (answer, _) => answer,
        }
    }

    /// Returns the value for the next confirming probe; `None` if there is no answer to confirm.
    fn confirming(&self, probes: &[Probe]) -> Option<f64> {
        let low_end = |probes: &[Probe]| match self.answer(probes) {
            Answer::Found { low, .. } | Answer::Between { low, .. } => Some(low),
            Answer::LowestFails { value } | Answer::HighestMeets { value } => Some(value),
            Answer::Flat { .. } | Answer::TooShort { .. } | Answer::Unfinished => None,
        };
        let Some(site) = fresh(probes).last().map(|probe| probe.planned.at) else {
            return low_end(&refined(probes));
        };
        let n_here = fresh(probes).filter(|probe| probe.planned.at == site).count();
        let n_left = REFINES + CONFIRMS - long(probes).count();
        let is_given_up = n_here >= STEP_AFTER
            && n_left >= STEP_AFTER
            && !self.shows(probes, site, n_here + n_left);
        if !is_given_up {
            return Some(site);
        }
        let step = (site.ln() - STEP_LEAST).exp();
        let lower = low_end(probes).map_or(step, |low| low.min(step));
        Some(self.rounded_down(lower))
    }

    /// Returns true if the confirming probes at the value `site` would show that every objective is
    /// met, if there were `count` of them with the same mean. It is a one-sided test of the
    /// hypothesis that the ratio is not below 1.
    fn shows(&self, probes: &[Probe], site: f64, count: usize) -> bool {
        let here = || fresh(probes).filter(|probe| probe.planned.at == site);
        if here().filter(|probe| probe.judged.is_broken).count() > 1 {
            return false;
        }
        let sound: Vec<&Probe> = here().filter(|probe| !probe.judged.is_broken).collect();
        let most = sound.iter().map(|probe| probe.judged.beyond.len()).max().unwrap_or(0);
        !sound.is_empty()
            && (0..most).all(|index| {
                let points: Vec<RatioPoint> =
                    sound.iter().filter_map(|probe| point(probe, index)).collect();
                points.len() == sound.len() && is_below(&points, count)
            })
    }

    /// Returns true if the confirming probes agree with the answer, false if they do not, or are
    /// too few; `None` if there are none.
    fn confirmed(&self, probes: &[Probe]) -> Option<bool> {
        let site = fresh(probes).last()?.planned.at;
        let here: Vec<&Probe> = fresh(probes).filter(|probe| probe.planned.at == site).collect();
        if let Answer::LowestFails { .. } = self.answer(&refined(probes)) {
            return Some(here.iter().all(|probe| is_above(probe)));
        }
        Some(here.len() >= CONFIRMS_OF_END && self.shows(probes, site, here.len()))
    }
}

/// Returns true if the mean of the ratios is below 1 by more than its error over `count` probes:
/// mean + t·se ≤ 1. The error is the largest of that between probes, that within them, and that of
/// a ratio of 1 in windows with the same autocorrelation, since late transactions may be rare and
/// cluster.
fn is_below(points: &[RatioPoint], count: usize) -> bool {
    let n = points.len() as f64;
    let ratios: Vec<f64> = points.iter().map(|point| point.ratio).collect();
    let mean = stats::mean(&ratios, CONFIDENCE).expect("there are some");
    let square = |error_of: &dyn Fn(&RatioPoint) -> Option<f64>| {
        let known: Vec<f64> =
            points.iter().filter_map(error_of).map(|error| error * error).collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64
    };
    let expected = square(&|point| point.error).max(square(&|point| point.error_at_bound));
    let between = if n > 1.0 { mean.sd * mean.sd } else { f64::INFINITY };
    let freedom = if between > expected { points.len() - 1 } else { FREEDOM_WITHIN };
    let error = (between.max(expected) / count as f64).sqrt();
    mean.value + students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom) * error <= 1.0
}

fn point(probe: &Probe, index: usize) -> Option<RatioPoint> {
    let beyond = probe.judged.beyond.get(index)?;
    let Beyond { ratio, error, .. } = *beyond;
    let error_at_bound = beyond.error_at_bound();
    let weight = probe.planned.measure_ns as f64 / 1e9;
    Some(RatioPoint { x: probe.planned.at.ln(), ratio, weight, error, error_at_bound })
}

/// Returns the curve that crosses its objective's bound at the lowest value; `None` if no curve
/// rises.
fn binding(curves: &[Option<Crossing>]) -> Option<&Crossing> {
    let rising = curves.iter().flatten().filter(|curve| curve.slope > 0.0);
    rising.min_by(|a, b| a.at.total_cmp(&b.at))
}

/// Returns the probes by which a search finds the boundary (the highest value that meets the
/// objectives): only the long ones once there are [`CURVE_LEAST`], since short ones may have
/// measured the system in another state.
fn steering(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    let is_enough = long(probes).count() >= CURVE_LEAST;
    probes.iter().filter(move |probe| !is_enough || probe.planned.stage != Stage::Bracket)
}

/// Returns true if ratios rise significantly with the searched value, over all probes or over those
/// that locate the boundary ([`steering`]).
fn rises(probes: &[Probe]) -> bool {
    ranks_rise(probes.iter()) || ranks_rise(steering(probes))
}

fn ranks_rise<'p>(probes: impl Iterator<Item = &'p Probe>) -> bool {
    let mut all: Vec<&Probe> = probes.filter(|probe| !probe.judged.beyond.is_empty()).collect();
    all.sort_by(|a, b| a.planned.at.total_cmp(&b.planned.at));
    let worst =
        |probe: &&Probe| probe.judged.beyond.iter().map(|beyond| beyond.ratio).fold(0.0, f64::max);
    stats::rank_trend(&all.iter().map(worst).collect::<Vec<f64>>()) > RISES_LEAST
}

/// Returns the verdict on a probe, with the error between probes if a curve shows it, otherwise
/// from the probe alone.
fn verdict(probe: &Probe, curves: &[Option<Crossing>]) -> Verdict {
    if probe.judged.is_broken || probe.judged.lacks.is_some() {
        return probe.judged.verdict;
    }
    let to_verdict = |(index, beyond): (usize, &Beyond)| {
        let curve = curves.get(index).copied().flatten()?;
        let weight = probe.planned.measure_ns as f64 / 1e9;
        let error = noise_at(&curve, weight, beyond.ratio).max(beyond.error.unwrap_or(0.0));
        let t = students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, curve.freedom);
        Some(beyond.verdict(t * error))
    };
    let all: Option<Vec<Verdict>> =
        probe.judged.beyond.iter().enumerate().map(to_verdict).collect();
    match all {
        Some(all) if all.contains(&Verdict::Fails) => Verdict::Fails,
        Some(all) if all.contains(&Verdict::Undecided) => Verdict::Undecided,
        Some(all) if !all.is_empty() && probe.judged.verdict != Verdict::Undecided => {
            Verdict::Meets
        }
        _ => probe.judged.verdict,
    }
}

/// Returns all probes of a search except those that confirm the answer.
fn refined(probes: &[Probe]) -> Vec<Probe> {
    probes.iter().filter(|probe| probe.planned.stage != Stage::Confirm).cloned().collect()
}

fn fresh(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    probes.iter().filter(|probe| probe.planned.stage == Stage::Confirm)
}

fn long(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    probes.iter().filter(|probe| probe.planned.stage != Stage::Bracket)
}

fn standing(probes: &[Probe], at: f64) -> Standing {
    let here = || probes.iter().filter(|probe| probe.planned.at == at);
    let (n, n_broken) = (here().count(), here().filter(|probe| probe.judged.is_broken).count());
    match (n_broken, n - n_broken) {
        (0, _) => Standing::Sound,
        (2.., n_sound) if n_broken >= n_sound => Standing::Broken,
        (_, 2..) => Standing::Sound,
        _ => Standing::Doubtful,
    }
}

/// Returns true if a probe is broken, but enough others at the same value are not.
fn is_outvoted(probes: &[Probe], probe: &Probe) -> bool {
    probe.judged.is_broken && standing(probes, probe.planned.at) == Standing::Sound
}

/// Returns true if more than half of the probes at a value miss an objective, so that it is above
/// the boundary (the highest value that meets the objectives).
fn is_place_above(probes: &[Probe], at: f64) -> bool {
    let here = || probes.iter().filter(|probe| probe.planned.at == at);
    2 * here().filter(|probe| is_above(probe)).count() > here().count()
}

/// Returns true if the probes at a value do not agree yet: neither two of them miss an objective
/// nor two meet all, so that another probe has to decide.
fn is_said_once(probes: &[Probe], at: f64) -> bool {
    let here = || probes.iter().filter(|probe| probe.planned.at == at);
    let n_above = here().filter(|probe| is_above(probe)).count();
    n_above < 2 && here().count() - n_above < 2
}

/// Returns true if a probe is broken or its measured times miss an objective, so that its value is
/// above the boundary (the highest value that meets the objectives).
fn is_above(probe: &Probe) -> bool {
    probe.judged.is_broken || probe.judged.is_late()
}

/// Returns the lowest value with broken probes (which failed for another reason than long times,
/// such as a full queue); `None` if there is none.
fn edge(probes: &[Probe]) -> Option<f64> {
    let places = probes.iter().map(|probe| probe.planned.at);
    let broken = places.filter(|at| standing(probes, *at) == Standing::Broken);
    let edge = broken.fold(f64::INFINITY, f64::min);
    edge.is_finite().then_some(edge)
}

/// Returns how far from the boundary (the highest value that meets the objectives) probes should
/// lie, as a difference in (nearly) the logarithm of the ratio. `weight` is the measured phase of a
/// probe in seconds.
fn reach(curve: &Crossing, weight: f64) -> f64 {
    (REACH_IN_NOISE * noise(curve, weight)).clamp(REACH.0, REACH.1)
}

/// Returns the standard deviation of a probe's ratio at the objective's bound. `weight` is the
/// measured phase of the probe in seconds.
fn noise(curve: &Crossing, weight: f64) -> f64 {
    noise_at(curve, weight, 1.0)
}

/// Returns the standard deviation of the ratio of a probe whose expected ratio is `mean`. `weight`
/// is the measured phase of the probe in seconds.
fn noise_at(curve: &Crossing, weight: f64, mean: f64) -> f64 {
    (curve.dispersion * curve.variance_at(mean).max(0.0) / weight).sqrt()
}

/// Returns how far from the boundary (the highest value that meets the objectives) probes should
/// lie, as a difference in the logarithm of the searched value: at least a quarter of the width of
/// the boundary's confidence interval, within [`AROUND`]. `weight` is the measured phase of a probe
/// in seconds.
fn around(curve: &Crossing, weight: f64) -> f64 {
    let open = (curve.interval.1 - curve.interval.0) / 4.0;
    let open = if open.is_finite() { open } else { 0.0 };
    (reach(curve, weight) / curve.slope).max(open).clamp(AROUND.0, AROUND.1)
}

/// Returns true if response times are autocorrelated over such long times that probes of this
/// length cannot decide.
fn is_too_short(probes: &[Probe]) -> bool {
    let known = |probe: &Probe| {
        probe.judged.beyond.iter().filter_map(|beyond| beyond.independent).reduce(f64::min)
    };
    let near = long(probes).filter(|probe| probe.planned.stage == Stage::Refine);
    let all: Vec<f64> = near.filter_map(known).collect();
    stats::median(&all, CONFIDENCE).is_some_and(|median| median.value < INDEPENDENT_LEAST)
}

#[cfg(test)]
mod tests;
