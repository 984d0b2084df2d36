//! The scale of an axis: conversion of numbers to pixels, and ticks.

use model::numbers::fixed;

use crate::charts::{Axis, Scale};

/// Allowed distances between the ticks of a time axis, in seconds.
const SECONDS: [f64; 12] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0];

/// Conversion of an axis's numbers to pixels, given by the numbers and pixels at its two ends.
#[derive(Clone, Debug)]
pub(super) struct AxisScale {
    is_log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// Margin that an axis has beyond the lowest and highest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// No margin, for traces that are lines and begin at the edge of the plot.
    Tight,
    /// Enough margin that dots at the ends of the axis are not cut.
    Dots,
    /// Margin up to the next tick at both ends of the axis.
    Round,
}

impl AxisScale {
    /// Creates the scale of an axis that contains all `values`, with the margin `room`. Its ends
    /// are rounded as for about `n_ticks` ticks. Pixels are set afterwards, by
    /// [`AxisScale::between`].
    pub(super) fn for_axis(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        room: Room,
        n_ticks: usize,
    ) -> AxisScale {
        let is_log = axis.scale == Scale::Log;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!is_log || *value > 0.0)) {
            (low, high) = (low.min(value), high.max(value));
        }
        let (low, high) = match axis.scale {
            _ if !axis.categories.is_empty() => (-0.5, axis.categories.len() as f64 - 0.5),
            _ if low > high => (if is_log { 0.1 } else { 0.0 }, 1.0),
            Scale::Log => ratios(low, high, room),
            Scale::FromZero => linear(low.min(0.0), high.max(0.0), room, n_ticks),
            Scale::Linear => linear(low, high, room, n_ticks),
        };
        AxisScale { is_log, low, high, from: 0.0, to: 1.0 }
    }

    /// Sets the pixels between which the axis is drawn: `from` at its low end, `to` at its high
    /// end.
    pub(super) fn between(self, from: f64, to: f64) -> AxisScale {
        AxisScale { from, to, ..self }
    }

    /// Returns the pixel of a number, also of one beyond the axis's ends; `None` if no pixel
    /// exists, as for 0 on a logarithmic axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        Some(self.from + self.share(value) * (self.to - self.from))
    }

    /// Returns the position of a number as a share of the axis: 0 at its low end, 1 at its high
    /// end.
    fn share(&self, value: f64) -> f64 {
        let along = |value: f64| if self.is_log { value.max(0.0).ln() } else { value };
        (along(value) - along(self.low)) / (along(self.high) - along(self.low))
    }

    /// Returns true if a number is outside of the axis by more than a rounding error.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        const SLACK: f64 = 1e-6;
        !(-SLACK..=1.0 + SLACK).contains(&self.share(value))
    }

    /// Returns the numbers at the low and the high end of the axis.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns the pixel of a number, or that of the nearer end if the number is outside of the
    /// axis. `None` only if the axis's ends have no pixel.
    pub(super) fn within(&self, value: f64) -> Option<f64> {
        let lowest = if self.is_log { self.low } else { f64::NEG_INFINITY };
        self.place(value.max(lowest).clamp(self.low, self.high))
    }

    /// Returns the pixel of the axis's high end.
    pub(super) fn end(&self) -> f64 {
        self.to
    }

    /// Returns the number at the axis's high end divided by that at its low end.
    fn ratio(&self) -> f64 {
        self.high / self.low
    }

    /// Returns true if a number lies between the axis's ends.
    pub(super) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns true if the whole axis lies between the numbers `from` and `to`.
    pub(super) fn is_within(&self, from: f64, to: f64) -> bool {
        from <= self.low && to >= self.high
    }

    /// Returns about `n` ticks at round numbers, with labels. On a time axis, for which `axis` has
    /// the unit `s`, they are whole seconds, minutes or hours apart.
    pub(super) fn ticks(&self, axis: &Axis, n: usize) -> Vec<Tick> {
        if self.is_log && self.ratio() >= 10.0 {
            return self.ratio_ticks(n);
        }
        let step = match axis.unit.as_str() {
            "s" => of_seconds(self.high - self.low, n),
            _ => nice((self.high - self.low) / n as f64),
        };
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        let decimals = decimals(step);
        let tick = |nth: i64| {
            let at = nth as f64 * step;
            Tick { at, label: fixed(if nth == 0 { 0.0 } else { at }, decimals) }
        };
        (first as i64..=last as i64).map(tick).collect()
    }

    /// Returns the ticks of a logarithmic axis: powers of ten, and also 2 and 5 times these if the
    /// axis spans few powers.
    fn ratio_ticks(&self, n: usize) -> Vec<Tick> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let n_tens = usize::try_from(last - first).unwrap_or(1);
        let between: &[f64] = match n_tens * 3 <= n + 2 {
            true => &[1.0, 2.0, 5.0],
            false => &[1.0],
        };
        let every = (n_tens / n.max(1)).max(1);
        let tens = (first..=last).step_by(every);
        let all = tens.flat_map(|ten| between.iter().map(move |m| m * 10_f64.powi(ten)));
        let slack = 1.0 + 1e-9;
        all.filter(|at| (self.low / slack..=self.high * slack).contains(at))
            .map(|at| Tick { at, label: fixed(at, decimals(at)) })
            .collect()
    }
}

/// Returns the number of decimals needed to show the first significant digit of `value`, at most 9.
fn decimals(value: f64) -> usize {
    usize::try_from((-value.log10() - 1e-9).ceil() as i64).unwrap_or(0).min(9)
}

/// Returns the smallest number not below `raw` that is 1, 2, 5 or 10 times a power of ten.
fn nice(raw: f64) -> f64 {
    let ten = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * ten >= raw * (1.0 - 1e-9));
    step.unwrap_or(10.0) * ten
}

fn of_seconds(range: f64, n: usize) -> f64 {
    let raw = range / n as f64;
    let known = SECONDS.into_iter().find(|step| *step >= raw);
    match known.filter(|_| raw >= 1.0) {
        Some(step) => step,
        None if raw < 1.0 => nice(raw),
        None => nice(raw / 3600.0) * 3600.0,
    }
}

fn linear(low: f64, high: f64, room: Room, n_ticks: usize) -> (f64, f64) {
    let (low, high) = match high > low {
        true => (low, high),
        // A single value, or only zeros.
        false if low == 0.0 => (0.0, 1.0),
        false => (low - low.abs() * 0.5, low + low.abs() * 0.5),
    };
    match room {
        Room::Tight => (low, high),
        Room::Dots => (low - (high - low) * 0.03, high + (high - low) * 0.03),
        Room::Round => {
            let step = nice((high - low) / n_ticks as f64);
            ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
        }
    }
}

fn ratios(low: f64, high: f64, room: Room) -> (f64, f64) {
    let (low, high) = if high > low { (low, high) } else { (low / 2.0, high * 2.0) };
    match room {
        Room::Tight => (low, high),
        Room::Dots | Room::Round if high / low < 10.0 => {
            let spare = (high / low).powf(0.06);
            (low / spare, high * spare)
        }
        Room::Dots => {
            let spare = (high / low).powf(0.03);
            (low / spare, high * spare)
        }
        Room::Round => (rounded(low, false), rounded(high, true)),
    }
}

/// Rounds a number to 1, 2, 5 or 10 times a power of ten, up if `is_up`, else down.
fn rounded(value: f64, is_up: bool) -> f64 {
    let ten = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * ten);
    let slack = 1e-9;
    let found = match is_up {
        true => steps.into_iter().find(|step| *step >= value * (1.0 - slack)),
        false => steps.into_iter().rev().find(|step| *step <= value * (1.0 + slack)),
    };
    found.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: Scale, unit: &str, values: [f64; 2], expect: &str) {
        let axis = Axis { unit: unit.to_owned(), scale, ..Axis::default() };
        let scale = AxisScale::for_axis(&axis, values.into_iter(), Room::Round, 5);
        let labels: Vec<String> =
            scale.ticks(&axis, 5).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels.join(" "), expect, "{scale:?} {values:?}");
    }

    #[test]
    fn numbers_along_an_axis_are_round() {
        check(Scale::FromZero, "", [310.0, 474.0], "0 100 200 300 400 500");
        check(Scale::FromZero, "", [0.0, 0.0], "0.0 0.2 0.4 0.6 0.8 1.0");
        check(Scale::FromZero, "", [12.0, 28_394.0], "0 10,000 20,000 30,000");
        check(Scale::Linear, "", [99.2, 101.1], "99.0 99.5 100.0 100.5 101.0 101.5");
        check(Scale::Linear, "s", [-5.0, 60.0], "-20 0 20 40 60");
        check(Scale::Linear, "s", [0.0, 3600.0], "0 1,800 3,600");
        check(Scale::Log, "ms", [0.3, 31_000.0], "1 10 100 1,000 10,000");
        check(Scale::Log, "ms", [1.3, 60.0], "1 2 5 10 20 50 100");
        check(Scale::Log, "", [0.95, 1.12], "0.95 1.00 1.05 1.10");
    }

    #[test]
    fn a_number_is_beyond_an_axis_by_more_than_rounding() {
        for scale in [Scale::Log, Scale::Linear] {
            let axis = Axis { scale, ..Axis::default() };
            let scale = AxisScale::for_axis(&axis, [0.7, 2.1].into_iter(), Room::Tight, 5);
            let beyond = [0.0, 0.69, 2.2, f64::INFINITY, f64::NEG_INFINITY];
            assert!(beyond.into_iter().all(|value| scale.is_beyond(value)));
            assert!([0.7 - 1e-12, 1.0, 2.1 + 1e-12].into_iter().all(|v| !scale.is_beyond(v)));
        }
    }

    #[test]
    fn what_has_no_place_among_ratios_is_not_drawn() {
        let axis = Axis { scale: Scale::Log, ..Axis::default() };
        let scale = AxisScale::for_axis(&axis, [0.0, 1.0, 100.0].into_iter(), Room::Tight, 5);
        let scale = scale.between(0.0, 200.0);
        assert_eq!(scale.place(0.0), None);
        assert_eq!(scale.within(0.0), Some(0.0));
        assert!(scale.place(10.0).is_some_and(|at| (at - 100.0).abs() < 1e-9));
        let nothing = AxisScale::for_axis(&axis, std::iter::empty(), Room::Round, 5);
        assert!(nothing.place(1.0).is_some());
    }
}
