//! The mathematics of measuring: histograms and exact moments, quantiles with their error,
//! rates with theirs, stalls, the closed forms and exact recursions of queueing theory, and
//! draws from random bits.
//!
//! Not here: clocks, random generators, files, and opinions on a result. Time is integer
//! nanoseconds; floats appear where a number is derived (a mean, a rate, a probability). A
//! derived float that does not exist (the mean of nothing) is NaN, never a made-up zero; what
//! can be refused with a reason is a `Result`.

mod batches;
mod change;
mod comparison;
mod crossing;
mod disturbance;
mod draw;
mod histogram;
mod intensity;
mod mean;
mod median;
mod moments;
mod quantile;
mod queueing;
mod rate;
mod scalability;
mod share;
mod trend;

pub use batches::ratio_error;
pub use change::{
    ChangePoint, Newcomer, NotDivided, SERIES_MAX, SERIES_MIN, change_points, newcomer,
};
pub use comparison::{Comparison, FIGURES_MAX, Incomparable, POWER, detectable, hommel, needed};
pub use crossing::{Crossing, RatioPoint};
pub use disturbance::{Recovery, Windows, recovery, windows};
pub use draw::{
    exponential, exponential_ns, residual_exponential_ns, truncated_exponential_ns, unit,
};
pub use histogram::{HIGHEST_NS_MAX, Histogram, Malformed, Range, Sparse};
pub use intensity::Intensity;
pub use mean::{Mean, mean, students_t};
pub use median::{Median, median};
pub use moments::Moments;
pub use quantile::{
    Interval, Offered, OfferedInterval, OfferedQuantile, TooFew, order_statistic_interval, rank,
};
pub use queueing::{
    Mg1, Mm1, Mmc, Served, kiefer_wolfowitz, kiefer_wolfowitz_bounded, lindley, little_in_system,
};
pub use rate::{
    Rate, STALLS_KEPT_MAX, SlowestSecond, Stability, Stall, TooFewSlots, stability,
    stability_against, within_run,
};
pub use scalability::{NoFit, Scalability};
pub use share::binomial_interval;
pub use trend::{TREND_VALUES_MIN, Trend, ends_high, pieces, rank_trend, rises, rises_late, trend};
