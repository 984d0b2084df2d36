//! The mathematics of measuring: histograms and exact moments, quantiles and rates with their
//! errors, stalls, closed forms and exact recursions of queueing theory, and draws from random
//! bits.
//!
//! Not here: clocks, random generators, files, and judgements on a result. Time is integer
//! nanoseconds; floats are used for derived numbers (a mean, a rate, a probability). A derived
//! float that does not exist (the mean of no values) is NaN and never 0. A function that may fail
//! for a reason returns a `Result`.

#![warn(missing_docs)]

mod batches;
mod blocks;
mod change;
mod coarse;
mod comparison;
mod course;
mod crossing;
mod dependence;
mod disturbance;
mod draw;
mod effects;
mod histogram;
mod intensity;
mod latest_build;
mod levels;
mod mean;
mod median;
mod moments;
mod order_statistics;
mod outstanding;
mod pattern;
mod planned;
mod quantile;
mod queueing;
mod rate;
mod scalability;
mod sequential;
mod series;
mod share;
mod stretches;
mod trend;
mod usual;
mod warm_up;
mod waves;

pub use batches::ratio_error;
pub use blocks::{bounds_beside_drift, shift_beside_drift};
pub use change::{ChangePoint, Levels, NotDivided, SERIES_MAX, SERIES_MIN, levels};
pub use coarse::{CoarseHistogram, coarse_quantile};
pub use comparison::{
    BOUNDS_MIN, Comparison, FIGURES_MAX, Incomparable, POWER, bounds, bounds_of_pairs, detectable,
    detectable_by_means, detectable_of_pairs, difference, hommel, needed, pairs_needed,
    ratio_of_means,
};
pub use course::Course;
pub use crossing::{Crossing, Grows, RatioPoint};
pub use dependence::{
    Dispersion, InTime, NoInterval, Stretch, dependent_mean, dependent_ranks, dispersion_at,
    share_dispersions,
};
pub use disturbance::{Recovery, Windows, recovery, windows};
pub use draw::{
    exponential, exponential_ns, normal, residual_exponential_ns, truncated_exponential_ns, unit,
};
pub use effects::{Effect, main_effects};
pub use histogram::{HIGHEST_NS_MAX, Histogram, Malformed, Range, Sparse};
pub use intensity::Intensity;
pub use latest_build::{Held, LatestBuild, latest_builds};
pub use levels::{Component, Components, Design, LEVELS, Nested, components, cost_of, design_for};
pub use mean::{Mean, mean, students_t};
pub use median::{Median, median};
pub use moments::Moments;
pub use order_statistics::{Ranks, TooFew, enough, rank};
pub use outstanding::{period, set_apart, stands_out, stands_out_at_load};
pub use planned::{Due, around_due};
pub use quantile::{Offered, OfferedInterval, OfferedQuantile};
pub use queueing::{
    Mg1, Mm1, Mmc, Served, kiefer_wolfowitz, kiefer_wolfowitz_bounded, lindley, little_in_system,
};
pub use rate::{
    NORMAL_95, Rate, STALLS_KEPT_MAX, SlowestSecond, Stability, Stall, TooFewSlots,
    mean_within_planned_run, mean_within_run, ratio_within_planned_run, ratio_within_run,
    slots_at_random, stability, stability_against, within_planned_run, within_run,
};
pub use scalability::{NoFit, NoPeak, Peak, Scalability};
pub use sequential::{FIGURES_MIN, LOOK_CONFIDENCE, anytime, precise, precise_needs};
pub use series::Build;
pub use share::{binomial_interval, share_interval};
pub use stretches::{Intervals, Packed, STRETCHES_MAX, Stretches, together};
pub use trend::{TREND_VALUES_MIN, Trend, ends_high, pieces, rank_trend, rises, rises_late, trend};
pub use usual::{STRETCHES_MIN, Usual};
pub use warm_up::{Cold, WarmUp, warm_up};
