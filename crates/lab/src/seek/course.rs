//! The course of a search: from the probes so far, where the next one goes, and what they show.
//!
//! Two pure functions of a list of probes. Nothing is remembered beside it, so a search that was
//! interrupted goes on from its stored runs, and one that has ended is concluded again from them.
//!
//! 1. *Bracket.* Short probes halve the range (by ratios) until it is within 15 %. An end of the
//!    range that nobody has contradicted is tried itself.
//! 2. *Refine.* Long probes lie around the boundary, and 1 - bound / time over ln(value) is taken
//!    as a line there: that of a queue is nearly straight, while its times are bent. The next place
//!    follows from the line so far; how far around, from how steep it is and how much probes
//!    differ: times shall vary by about 15 %, or by three times their noise, for a line to be known
//!    and no bend to matter yet.
//! 3. *Confirm.* Fresh probes at the lower end of the interval.
//!
//! What errs between probes is known from their residuals alone: samples of one run depend on
//! each other (a busy period of a queue near its capacity lasts for hundreds of arrivals), so the
//! interval within a run is too narrow. Not here: how a probe is made, and what it says by itself.

use results::seek::{Answer, CONFIDENCE, Judged, Stage, Verdict};
use stats::{Crossing, students_t};

/// Bracketing ends at this ratio.
const RATIO_NARROW: f64 = 1.15;
/// And after so many probes, whatever the range.
const BRACKETS_MOST: usize = 12;
/// A short probe has this share of the budget.
const BRACKET_SHARE: f64 = 1.0 / 32.0;
/// Long probes.
const REFINES: usize = 12;
/// Fresh probes at the end.
const CONFIRMS: usize = 3;
/// Where long probes lie around the boundary, in units of how far around.
const OFFSETS: [f64; REFINES] =
    [-1.0, 1.0, 0.0, -0.5, 0.5, -0.8, 0.8, -0.25, 0.25, -0.65, 0.65, 0.1];
/// By how much a logarithm of times shall vary to either side.
const REACH: f64 = 0.15;
/// And no less than so many standard deviations of probes.
const REACH_IN_NOISE: f64 = 3.0;
/// How far around at least and at most, as a logarithm of the value.
const AROUND: (f64, f64) = (0.003, 0.15);
/// Probes further away than this many times how far around are left out of the line.
const NEAR: f64 = 2.2;
/// So many long probes on one side of the boundary are looked beyond.
const ONE_SIDED_LEAST: usize = 3;
/// By how much the search widens with each probe that has shown no slope.
const WIDER: f64 = 1.35;
/// Probes that a line is drawn through at least.
const LINE_LEAST: usize = 5;
/// A slope is believed if it would seem so steep by chance less often than this.
const SLOPE_ERROR: f64 = 0.01;
/// Fresh probes disagree if that would happen by chance less often than this.
const DISAGREE: f64 = 0.01;
/// And whatever chance may do, if their times are so far above the bound, as a logarithm: probes
/// that differ by more than that confirm nothing.
const ABOVE_MOST: f64 = 0.1;

/// What is to be found, and for how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// The least value.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Whether values are whole numbers.
    pub is_whole: bool,
    /// Load in all, ramp-ups included, in nanoseconds.
    pub budget_ns: u64,
    /// The ramp-up of each probe.
    pub ramp_up_ns: u64,
}

/// A probe to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// Where.
    pub at: f64,
    /// Measured for so long, in nanoseconds.
    pub measure_ns: u64,
    /// What for.
    pub stage: Stage,
}

/// A probe that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// As it was asked for.
    pub ask: Ask,
    /// What it says.
    pub judged: Judged,
}

/// What the probes show.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// The answer.
    pub answer: Answer,
    /// Whether fresh probes agree.
    pub confirmed: Option<bool>,
    /// The standard deviation of the logarithms of long probes around their line.
    pub residual: Option<f64>,
    /// The line's slope: how many percent of time one percent of the axis costs.
    pub elasticity: Option<f64>,
    /// What each probe says, now that the error between them is known.
    pub verdicts: Vec<Verdict>,
}

/// Where bracketing stands.
struct Bracket {
    low: f64,
    high: f64,
    is_low_known: bool,
    is_high_known: bool,
    count: usize,
}

impl Course {
    /// The shortest budget with which probes measure for longer than they ramp up.
    pub fn budget_ns_least(&self) -> u64 {
        self.budget_ns_for(self.ramp_up_ns.max(500_000_000) as f64)
    }

    /// The shortest budget with which short probes measure for so long, in whole seconds.
    pub fn budget_ns_for(&self, measure_ns: f64) -> u64 {
        let seconds = (measure_ns / 1e9).ceil() * 1e9;
        ((seconds + self.ramp_up_ns as f64) / BRACKET_SHARE) as u64
    }

    /// The next probe; none when all are made.
    pub fn next(&self, probes: &[Probe]) -> Option<Ask> {
        let bracket = self.bracket(probes);
        if let Some(at) = self.next_of_bracket(&bracket) {
            let measure_ns = self.measure_ns(self.budget_ns as f64 * BRACKET_SHARE);
            return Some(Ask { at, measure_ns, stage: Stage::Bracket });
        }
        let count = |stage: Stage| probes.iter().filter(|probe| probe.ask.stage == stage).count();
        let short: u64 = probes
            .iter()
            .filter(|probe| probe.ask.stage == Stage::Bracket)
            .map(|probe| probe.ask.measure_ns + self.ramp_up_ns)
            .sum();
        let long = (self.budget_ns.saturating_sub(short)) as f64 / (REFINES + CONFIRMS) as f64;
        let measure_ns = self.measure_ns(long);
        let n_confirms = count(Stage::Confirm);
        if let Some(end) = self.end(probes) {
            let is_left = n_confirms < CONFIRMS;
            return is_left.then_some(Ask { at: end, measure_ns, stage: Stage::Confirm });
        }
        let n_refines = count(Stage::Refine);
        if n_refines < REFINES {
            let at = self.refined(probes, &bracket, n_refines);
            return Some(Ask { at, measure_ns, stage: Stage::Refine });
        }
        if n_confirms >= CONFIRMS {
            return None;
        }
        let at = match self.answer(&refined(probes)) {
            Answer::Found { low, .. } | Answer::Between { low, .. } => self.rounded(low),
            Answer::LowestFails { value } | Answer::HighestMeets { value } => value,
            Answer::Flat { .. } | Answer::Unfinished => return None,
        };
        Some(Ask { at, measure_ns, stage: Stage::Confirm })
    }

    /// How many probes are left, and how many nanoseconds of load, as far as that can be known.
    pub fn left(&self, probes: &[Probe]) -> (u64, u64) {
        let spent: u64 = probes.iter().map(|probe| probe.ask.measure_ns + self.ramp_up_ns).sum();
        let n_long = long(probes).count();
        let bracket = self.bracket(probes);
        let ratio = (bracket.high / bracket.low).ln() / RATIO_NARROW.ln();
        let n_short = match self.next_of_bracket(&bracket) {
            Some(_) => ratio.max(1.0).log2().ceil() as u64,
            None => 0,
        };
        let n_long_left = match self.end(probes) {
            Some(_) => CONFIRMS.saturating_sub(n_long),
            None => (REFINES + CONFIRMS).saturating_sub(n_long),
        };
        (n_short + n_long_left as u64, self.budget_ns.saturating_sub(spent))
    }

    /// What the probes show.
    pub fn conclude(&self, probes: &[Probe]) -> Conclusion {
        let answer = match self.next(probes) {
            None => self.answer(probes),
            Some(_) => Answer::Unfinished,
        };
        let line = self.line(probes);
        let residual = line.map(|line| line.residual);
        let verdict = |probe: &Probe| match (probe.judged.score, line) {
            // Between long probes the error is known; what is broken stays so.
            (Some(score), Some(line)) if probe.ask.stage != Stage::Bracket => {
                let t = students_t(1.0 - (1.0 - CONFIDENCE) / 2.0, line.freedom);
                let by_time = Verdict::of(score, t * line.residual);
                let is_of_time_alone = probe.judged.verdict
                    == Verdict::of(score, probe.judged.half_width.unwrap_or(0.0));
                match probe.judged.is_broken {
                    true => Verdict::Fails,
                    false if is_of_time_alone || by_time == Verdict::Fails => by_time,
                    false => Verdict::Undecided,
                }
            }
            _ => probe.judged.verdict,
        };
        Conclusion {
            answer,
            confirmed: self.confirmed(probes),
            residual,
            elasticity: line.map(|line| line.slope),
            verdicts: probes.iter().map(verdict).collect(),
        }
    }

    fn measure_ns(&self, with_ramp_up_ns: f64) -> u64 {
        let measure_ns = (with_ramp_up_ns as u64).saturating_sub(self.ramp_up_ns);
        // Whole seconds: so many pieces of a window are as long as each other.
        (measure_ns / 1_000_000_000).max(1) * 1_000_000_000
    }

    /// A value as it can be asked for: within the range, to four digits, or whole.
    fn rounded(&self, at: f64) -> f64 {
        let digits = |at: f64| format!("{at:.4e}").parse().unwrap_or(at);
        let at = if self.is_whole { at.round() } else { digits(at) };
        at.clamp(self.low, self.high)
    }

    fn bracket(&self, probes: &[Probe]) -> Bracket {
        let mut bracket = Bracket {
            low: self.low,
            high: self.high,
            is_low_known: false,
            is_high_known: false,
            count: 0,
        };
        for probe in probes.iter().filter(|probe| probe.ask.stage == Stage::Bracket) {
            let at = probe.ask.at;
            bracket.count += 1;
            // One that is undecided goes by its best guess: long probes will look again.
            match is_above(probe) {
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

    fn next_of_bracket(&self, bracket: &Bracket) -> Option<f64> {
        if bracket.count >= BRACKETS_MOST {
            return None;
        }
        let is_narrow = bracket.high <= bracket.low * RATIO_NARROW
            || (self.is_whole && bracket.high - bracket.low <= 1.0);
        match (is_narrow, bracket.is_low_known, bracket.is_high_known) {
            (false, _, _) => Some(self.rounded((bracket.low * bracket.high).sqrt())),
            (true, false, _) => Some(self.low),
            (true, true, false) => Some(self.high),
            (true, true, true) => None,
        }
    }

    /// The end of the range, if even that fails or meets.
    fn end(&self, probes: &[Probe]) -> Option<f64> {
        let bracketing = probes.iter().filter(|probe| probe.ask.stage == Stage::Bracket);
        bracketing.filter_map(|probe| at_end(self, probe)).next()
    }

    /// The next place of a long probe.
    fn refined(&self, probes: &[Probe], bracket: &Bracket, nth: usize) -> f64 {
        let (low, high) = (bracket.low.ln(), bracket.high.ln());
        let (first, first_around) = (f64::midpoint(low, high), ((high - low) / 2.0).max(0.02));
        let step = first_around * WIDER.powi(nth as i32);
        let line = self.line(probes).filter(|line| line.rises(SLOPE_ERROR));
        let places: Vec<f64> = long(probes).map(|probe| probe.ask.at.ln()).collect();
        let least = places.iter().copied().fold(f64::INFINITY, f64::min);
        let most = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let n_above = long(probes).filter(|probe| is_above(probe)).count();
        let is_one_sided = places.len() >= ONE_SIDED_LEAST;
        let (centre, around) = match line {
            Some(line) => {
                let around = around(&line);
                (line.at.clamp(least - around, most + around), around)
            }
            // All are on one side: the boundary is on the other.
            None if is_one_sided && n_above == 0 => (most + step, 0.0),
            None if is_one_sided && n_above == places.len() => (least - step, 0.0),
            // Nothing is known of a slope yet: wider, the longer that is so.
            None => (first, step),
        };
        let at = (centre + OFFSETS[nth % REFINES] * around).exp();
        match edge(probes) {
            // Beyond the edge there is nothing to be measured.
            Some(edge) if at >= edge => {
                let below = long(probes).map(|probe| probe.ask.at).filter(|at| *at < edge);
                let below = below.fold(bracket.low.min(edge / RATIO_NARROW), f64::max);
                self.rounded((below * edge).sqrt())
            }
            _ => self.rounded(at),
        }
    }

    /// The line through the long probes that are near where it crosses.
    fn line(&self, probes: &[Probe]) -> Option<Crossing> {
        let edge = edge(probes).unwrap_or(f64::INFINITY);
        let points: Vec<(f64, f64)> = long(probes)
            .filter(|probe| !probe.judged.is_broken && probe.ask.at < edge)
            .filter_map(|probe| Some((probe.ask.at.ln(), straight(probe.judged.score?))))
            .collect();
        let mut line = Crossing::fit(&points, CONFIDENCE)?;
        // Where it crosses decides what is near, and that where it crosses: a few rounds settle.
        for _ in 0..4 {
            if !line.rises(SLOPE_ERROR) {
                break;
            }
            let reach = NEAR * around(&line);
            let mut near = points.clone();
            near.sort_by(|a, b| (a.0 - line.at).abs().total_cmp(&(b.0 - line.at).abs()));
            let n_near = near.iter().filter(|(x, _)| (x - line.at).abs() <= reach).count();
            near.truncate(n_near.max(LINE_LEAST));
            match Crossing::fit(&near, CONFIDENCE) {
                Some(nearer) if nearer.rises(SLOPE_ERROR) => line = nearer,
                _ => break,
            }
        }
        Some(line)
    }

    fn answer(&self, probes: &[Probe]) -> Answer {
        if let Some(end) = self.end(probes) {
            return match end <= self.low {
                true => Answer::LowestFails { value: end },
                false => Answer::HighestMeets { value: end },
            };
        }
        let edge = edge(probes);
        let line = self.line(probes).filter(|line| line.rises(SLOPE_ERROR));
        if let Some((line, interval)) = line.and_then(|line| Some((line, line.interval?))) {
            match line.at.exp() {
                value if value < self.low => return Answer::LowestFails { value: self.low },
                value if edge.is_some_and(|edge| value >= edge) => {}
                value if value >= self.high => return Answer::HighestMeets { value: self.high },
                value => return self.found(value, interval, edge),
            }
        }
        let fails = |probe: &&Probe| is_above(probe);
        let high = long(probes).filter(fails).map(|probe| probe.ask.at);
        let high = high.fold(edge.unwrap_or(f64::INFINITY), f64::min);
        let meets = |probe: &&Probe| !is_above(probe) && probe.ask.at < high;
        let low = probes.iter().filter(meets).map(|probe| probe.ask.at).fold(self.low, f64::max);
        let all = long(probes).map(|probe| probe.ask.at);
        let (least, most) = all
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, at| (ends.0.min(at), ends.1.max(at)));
        match (edge.is_some(), least <= most) {
            (true, _) => Answer::Between { low, high },
            (false, true) => Answer::Flat { low: least, high: most },
            (false, false) => Answer::Unfinished,
        }
    }

    /// Where a line crosses, within the range and below the edge. Of whole numbers it is the
    /// highest at which times are within their bound, so each end of the interval is rounded down.
    fn found(&self, value: f64, (low, high): (f64, f64), edge: Option<f64>) -> Answer {
        let whole = |at: f64| if self.is_whole { at.floor() } else { at };
        // What broke at the edge is not in the interval of whole numbers below it.
        let below = edge.map(|edge| if self.is_whole { edge - 1.0 } else { edge });
        let most = below.unwrap_or(f64::INFINITY).min(self.high);
        let value = whole(value);
        let low = whole(low.exp()).clamp(self.low, value);
        let high = whole(high.exp()).min(most).max(value);
        Answer::Found { value, low, high }
    }

    /// Whether the fresh probes agree with the answer that they are to confirm.
    fn confirmed(&self, probes: &[Probe]) -> Option<bool> {
        let fresh: Vec<&Probe> =
            probes.iter().filter(|probe| probe.ask.stage == Stage::Confirm).collect();
        if fresh.len() < CONFIRMS {
            return None;
        }
        let n_above = fresh.iter().filter(|probe| is_above(probe)).count();
        let refined = refined(probes);
        match self.answer(&refined) {
            Answer::LowestFails { .. } => return Some(n_above == CONFIRMS),
            Answer::HighestMeets { .. } => return Some(n_above == 0),
            _ if fresh.iter().any(|probe| probe.judged.is_broken) => return Some(false),
            _ => {}
        }
        let scores: Option<Vec<f64>> = fresh.iter().map(|probe| probe.judged.score).collect();
        let Some((line, scores)) = self.line(&refined).zip(scores) else {
            return Some(n_above == 0);
        };
        // They lie at the lower end, where the line is below its bound: above it, by more than
        // they differ, they disagree.
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let error = line.residual / (scores.len() as f64).sqrt();
        let most = error * students_t(1.0 - DISAGREE, line.freedom);
        Some(mean <= most.min(ABOVE_MOST))
    }
}

/// The probes that an answer is drawn from, before fresh ones are made to confirm it.
fn refined(probes: &[Probe]) -> Vec<Probe> {
    probes.iter().filter(|probe| probe.ask.stage != Stage::Confirm).cloned().collect()
}

fn at_end(course: &Course, probe: &Probe) -> Option<f64> {
    let at = probe.ask.at;
    match probe.judged.verdict {
        Verdict::Fails if at <= course.low => Some(at),
        Verdict::Meets if at >= course.high => Some(at),
        _ => None,
    }
}

fn long(probes: &[Probe]) -> impl Iterator<Item = &Probe> {
    probes.iter().filter(|probe| probe.ask.stage != Stage::Bracket)
}

/// The score on a scale on which a queue's is nearly straight: near its capacity, times are inverse
/// to the capacity that is left. At the bound both are zero and equally steep. Times of less than
/// half the bound stay logarithms, lest those far below it weigh more than all others.
fn straight(score: f64) -> f64 {
    let half = -std::f64::consts::LN_2;
    match score < half {
        true => -1.0 + 2.0 * (score - half),
        false => -(-score).exp_m1(),
    }
}

/// On which side of the boundary a probe lies, by its best guess.
fn is_above(probe: &Probe) -> bool {
    probe.judged.is_broken || probe.judged.score.is_some_and(|score| score > 0.0)
}

/// The lowest value from which on things break in another way than by times that rise.
fn edge(probes: &[Probe]) -> Option<f64> {
    let broken = probes.iter().filter(|probe| probe.judged.is_broken).map(|probe| probe.ask.at);
    let edge = broken.fold(f64::INFINITY, f64::min);
    edge.is_finite().then_some(edge)
}

/// How far around its crossing a line is looked for, as a logarithm of the value.
fn around(line: &Crossing) -> f64 {
    let reach = REACH.max(REACH_IN_NOISE * line.residual).min(0.4);
    (reach / line.slope).clamp(AROUND.0, AROUND.1)
}

#[cfg(test)]
mod tests;
