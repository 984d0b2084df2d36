//! Response times in consecutive stretches of equal length, kept in bounded memory, from which the
//! autocorrelation of the samples of a run is estimated.
//!
//! If a run exceeds [`STRETCHES_MAX`] stretches, neighbouring pairs are merged, so that a longer
//! run always has between half as many and all of them. Not here: the seconds themselves.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use crate::{Course, Histogram, InTime, Stretch};

/// Limit on the number of stretches (equal parts) of a run. Beyond it, neighbours are merged. It is
/// several per batch of the error estimate.
pub const STRETCHES_MAX: usize = 80;

/// Limit on the number of unpacked histograms of a series, 264 KiB each: one for the current
/// stretch, and one that receives late samples. Beyond it, the one used least recently is packed.
const OPEN_MAX: usize = 2;

/// Histogram of a part of a run, packed into a few kB unless it was just used.
#[derive(Clone, Debug, Default)]
pub enum Packed {
    /// Nothing was added to the histogram yet.
    #[default]
    Empty,
    /// The histogram is unpacked and ready for further additions.
    Open(Box<Histogram>),
    /// The histogram is packed into the bytes of [`Histogram::to_bytes`].
    Bytes(Vec<u8>),
}

impl Packed {
    /// Returns the histogram, unpacked if necessary; `None` if nothing was added.
    pub fn histogram(&self) -> Option<Cow<'_, Histogram>> {
        match self {
            Packed::Empty => None,
            Packed::Open(histogram) => Some(Cow::Borrowed(histogram)),
            Packed::Bytes(bytes) => {
                let histogram = Histogram::from_bytes(bytes);
                Some(Cow::Owned(histogram.expect("bytes that we have packed ourselves")))
            }
        }
    }

    /// Adds all samples of `other`, and keeps the histogram unpacked.
    pub fn add(&mut self, other: &Histogram) {
        *self = match std::mem::take(self) {
            Packed::Empty => Packed::Open(Box::new(other.clone())),
            Packed::Open(mut mine) => {
                mine.add(other);
                Packed::Open(mine)
            }
            bytes @ Packed::Bytes(_) => {
                let mut mine = bytes.histogram().expect("bytes are a histogram").into_owned();
                mine.add(other);
                Packed::Open(Box::new(mine))
            }
        };
    }

    /// Packs the histogram if it is unpacked, to save memory.
    pub fn pack(&mut self) {
        if let Packed::Open(histogram) = self {
            *self = Packed::Bytes(histogram.to_bytes());
        }
    }
}

#[derive(Clone, Debug, Default)]
struct One {
    offered: u64,
    finished: Packed,
}

/// Offered work and response times of one transaction type, by stretch: consecutive parts of the
/// measured phase, of equal length.
#[derive(Clone, Debug)]
pub struct Stretches {
    /// Length of a stretch (an equal part of the run), in seconds.
    width: i64,
    all: Vec<One>,
    /// Indexes of the stretches with an unpacked histogram, the one used last at the end.
    open: VecDeque<usize>,
}

impl Stretches {
    /// Creates an empty series with stretches of `width` seconds, at least 1. The width doubles
    /// whenever a run becomes too long for [`STRETCHES_MAX`] stretches.
    pub fn new(width: i64) -> Stretches {
        Stretches { width: width.max(1), all: Vec::new(), open: VecDeque::new() }
    }

    /// Adds the number of transactions offered in a second, and the times of those that finished,
    /// if any. Seconds of the ramp-up, which are negative, are ignored.
    pub fn add(&mut self, second: i64, offered: u64, finished: Option<&Histogram>) {
        let index = loop {
            let Ok(index) = usize::try_from(second.div_euclid(self.width)) else { return };
            match index < STRETCHES_MAX {
                true => break index,
                false => self.double(),
            }
        };
        if index >= self.all.len() {
            self.all.resize_with(index + 1, One::default);
        }
        self.all[index].offered += offered;
        let Some(finished) = finished else { return };
        self.all[index].finished.add(finished);
        self.open.retain(|open| *open != index);
        self.open.push_back(index);
        if self.open.len() > OPEN_MAX
            && let Some(oldest) = self.open.pop_front()
        {
            self.all[oldest].finished.pack();
        }
    }

    /// Merges neighbouring pairs of stretches, which doubles their length.
    fn double(&mut self) {
        let add = |mut first: One, second: &One| {
            first.offered += second.offered;
            if let Some(finished) = second.finished.histogram() {
                first.finished.add(&finished);
            }
            first.finished.pack();
            first
        };
        let pairs = self.all.chunks(2);
        let pair = |pair: &[One]| pair[1..].iter().fold(pair[0].clone(), add);
        self.all = pairs.map(pair).collect();
        // A stretch without a partner may still be unpacked; packed together with the next one that
        // is used.
        self.all.iter_mut().for_each(|one| one.finished.pack());
        self.open.clear();
        self.width *= 2;
    }
}

/// Adds up several transaction types or groups by stretch, over the measured phase up to but not
/// including second `end`. `None` if `kinds` is empty, or if the lengths of their stretches do not
/// divide each other, as for loads that were recorded differently.
pub fn together(kinds: &[&Stretches], end: i64) -> Option<InTime> {
    let width = kinds.iter().map(|kind| kind.width).max()?;
    if kinds.iter().any(|kind| width % kind.width != 0) {
        return None;
    }
    let n = usize::try_from((end - 1).div_euclid(width) + 1).unwrap_or(0);
    // Not copies of one: memory that was never written to costs nothing.
    let mut stretches: Vec<Stretch> = (0..n).map(|_| Stretch::default()).collect();
    for kind in kinds {
        for (index, one) in kind.all.iter().enumerate() {
            let second = index as i64 * kind.width;
            let Some(sum) = stretches.get_mut((second / width) as usize) else { continue };
            sum.offered += one.offered;
            match one.finished.histogram() {
                // The first one brings the range, beyond which values are overflow.
                Some(finished) if sum.finished.is_empty() => sum.finished = finished.into_owned(),
                Some(finished) => sum.finished.add(&finished),
                None => {}
            }
        }
    }
    Some(InTime { stretches, width_s: width, course: Course::default() })
}

/// Limit on the report intervals whose response times are kept: a day of 10 s each, some 40 MB.
/// Beyond it, the oldest are dropped.
const INTERVALS_MAX: usize = 8640;

/// Response times of all groups by report interval, over the length of a run.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    times: BTreeMap<i64, Packed>,
    open: VecDeque<i64>,
}

impl Intervals {
    /// Adds response times to the report interval that begins at second `from`. Beyond 8640
    /// intervals (a day of 10 s each), the oldest are dropped.
    pub fn add(&mut self, from: i64, times: &Histogram) {
        let oldest = self.times.keys().next().is_some_and(|oldest| from < *oldest);
        if oldest && self.times.len() >= INTERVALS_MAX {
            return;
        }
        self.times.entry(from).or_default().add(times);
        self.open.retain(|open| *open != from);
        self.open.push_back(from);
        if self.open.len() > OPEN_MAX
            && let Some(used) = self.open.pop_front()
            && let Some(times) = self.times.get_mut(&used)
        {
            times.pack();
        }
        if self.times.len() > INTERVALS_MAX {
            self.times.pop_first();
        }
    }

    /// Returns the response times of the report interval that begins at second `from`; `None` if
    /// they are not kept.
    pub fn get(&self, from: i64) -> Option<Cow<'_, Histogram>> {
        self.times.get(&from)?.histogram()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram_of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn a_run_of_any_length_has_a_bounded_number_of_stretches() {
        for n in [1, 79, 80, 81, 1_000, 100_000_i64] {
            let mut stretches = Stretches::new(1);
            for second in 0..n {
                stretches.add(second, 2, None);
            }
            assert!(stretches.all.len() <= STRETCHES_MAX);
            assert!(n < 80 || stretches.all.len() > STRETCHES_MAX / 2, "{n}");
            let all = together(&[&stretches], n).expect("one width");
            assert_eq!(all.stretches.iter().map(|s| s.offered).sum::<u64>(), 2 * n as u64);
        }
    }

    #[test]
    fn parts_in_any_order_make_the_same_stretches() {
        let (mut forward, mut backward) = (Stretches::new(1), Stretches::new(1));
        for second in -5..300 {
            forward.add(second, 1, Some(&histogram_of([second.unsigned_abs() + 1])));
            backward.add(294 - second, 1, Some(&histogram_of([(294 - second).unsigned_abs() + 1])));
        }
        let open = |s: &Stretches| {
            s.all.iter().filter(|one| matches!(one.finished, Packed::Open(_))).count()
        };
        assert!(open(&forward) <= OPEN_MAX && open(&backward) <= OPEN_MAX);
        let [forward, backward] =
            [forward, backward].map(|one| together(&[&one], 300).expect("one width"));
        assert_eq!(forward.width_s, 4);
        for (one, other) in forward.stretches.iter().zip(&backward.stretches) {
            assert_eq!((one.offered, &one.finished), (other.offered, &other.finished));
        }
    }

    #[test]
    fn kinds_of_different_widths_fit_together_and_windows_do_not_fit_seconds() {
        let (mut often, mut once, mut windows) =
            (Stretches::new(1), Stretches::new(1), Stretches::new(10));
        (0..200).for_each(|second| often.add(second, 1, Some(&histogram_of([5]))));
        once.add(7, 1, Some(&histogram_of([9])));
        windows.add(10, 1, None);
        let all = together(&[&often, &once], 200).expect("powers of two");
        assert_eq!((all.width_s, all.stretches[1].offered, all.stretches.len()), (4, 5, 50));
        assert!(together(&[&often, &windows], 200).is_none());
        // Time without arrivals counts as well.
        assert_eq!(together(&[&windows], 60).expect("one").stretches.len(), 6);
    }
}
