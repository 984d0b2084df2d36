//! Texts that several pages and charts have in common.

use analysis::figures::{Figure, is_time, title};
use jiff::Timestamp;
use model::Status;
use model::finding_catalog::CATALOG;
use model::numbers::{self, INFINITE, count, significant, with_error};
use study::comparison::{Difference, Ratio};
use study::experiment::{RESIDUAL_MOST, ScalabilityReport};

/// Returns the index of the finding `id` in the catalog of findings, which begins with those that
/// make a result invalid. An unknown id gets an index after all others.
pub(crate) fn catalog_place(id: &str) -> usize {
    CATALOG.iter().position(|entry| entry.id == id).unwrap_or(CATALOG.len())
}

/// Lists the first few differences in setup, each as `name old → new`, and counts further ones.
pub(crate) fn changed(all: &[Difference]) -> String {
    const SHOWN_MAX: usize = 4;
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let one = |one: &Difference| {
        format!("{} {} → {}", one.name, value(&one.values[0]), value(&one.values[1]))
    };
    let shown = all.iter().take(SHOWN_MAX).map(one).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        n => format!("{shown} and {n} more"),
    }
}

/// Returns a figure's title with its unit, unless the title has it: `machine.cpu_user (%)`.
pub(crate) fn title_with_unit(name: &str, unit: &str) -> String {
    let (title, unit) = (title(name), numbers::unit(unit));
    // `p99 ms` has its unit already.
    match unit.is_empty() || title.ends_with(&format!(" {unit}")) {
        true => title,
        false => format!("{title} ({unit})"),
    }
}

/// Returns a sentence without its full stop, to be used within another sentence.
pub(crate) fn without_stop(sentence: &str) -> &str {
    sentence.strip_suffix('.').unwrap_or(sentence)
}

/// Formats the start of a run, in whole seconds: `2026-11-28 02:10:52 UTC`.
pub(crate) fn begun(started: Timestamp) -> String {
    started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Returns the reason why the Universal Scalability Law does not fit the measured points; `None` if
/// it fits.
pub(crate) fn misfit(law: &ScalabilityReport) -> Option<String> {
    let lacks = law.lack_of_fit.filter(|p| *p < stats::Scalability::LACK_OF_FIT);
    let lacks = lacks.map(|p| {
        let p = if p < 1e-4 { "< 0.0001".to_owned() } else { format!("= {}", significant(p, 2)) };
        format!("points lie farther from it than repeats vary (p {p})")
    });
    let is_far = law.residual > RESIDUAL_MOST;
    let far = is_far.then(|| format!("residuals of {:.1} % are too large", law.residual * 100.0));
    let all: Vec<String> = [far, lacks].into_iter().flatten().collect();
    (!law.fits).then(|| all.join(", and "))
}

/// Formats the ratio of a compared side's figure to the baseline's: `1.234`. It is `∞` if the
/// baseline is 0, or if the side's time is infinite because transactions were lost, and `1/∞` if
/// only the baseline's time is.
fn times(figure: &str, ratio: f64) -> String {
    match ratio {
        f64::INFINITY => INFINITE.to_owned(),
        0.0 if is_time(figure) => format!("1/{INFINITE}"),
        ratio if ratio >= 10.0 => significant(ratio, 4),
        ratio => format!("{ratio:.3}"),
    }
}

/// Formats a ratio with its confidence interval, if it has one.
pub(crate) fn ratio_text(figure: &str, ratio: &Ratio) -> String {
    let times = |ratio| times(figure, ratio);
    match ratio.interval {
        Some((low, high)) => format!("{} ({} to {})", times(ratio.value), times(low), times(high)),
        None => times(ratio.value),
    }
}

/// Formats a rough value with one significant digit: `≈20`.
pub(crate) fn roughly(value: f64) -> String {
    format!("≈{}", significant(to_one_digit(value), 1))
}

/// Rounds a number to one significant digit.
pub(crate) fn to_one_digit(value: f64) -> f64 {
    let digit = 10_f64.powf(value.abs().log10().floor());
    if value == 0.0 { 0.0 } else { (value / digit).round() * digit }
}

/// Returns true if all of several runs have exactly the same value of the figure, so that no error
/// is printed. The true error need not be 0: counts of a few large steps, such as whole buffers,
/// are often equal.
fn is_same(figure: &Figure) -> bool {
    // Of published values only the mean and its error are known.
    let is_sure = figure.half_width.is_some_and(|width| width <= figure.mean.abs() * 1e-9);
    figure.count > 1 && figure.min == figure.max && is_sure
}

/// Returns the words that mark the text of a finding as that of one run of several, which is the
/// one with the highest number.
pub(crate) fn example(text: &str) -> &'static str {
    match text.contains(|letter: char| letter.is_ascii_digit()) {
        true => "the highest",
        false => "e.g.",
    }
}

/// Explains values that are printed without an error because they were equal in all runs; `None` if
/// there are no such values.
pub(crate) fn same_in_all<'f>(mut all: impl Iterator<Item = &'f Figure>) -> Option<String> {
    // Zero in all runs, such as no errors, needs no explanation.
    all.any(|figure| is_same(figure) && figure.mean != 0.0).then(|| {
        "A value without ± was the same in all its runs. That does not make it exact: counts of \
         few or large steps, such as transactions of whole buffers, often come out alike."
            .to_owned()
    })
}

/// Way in which a column of a table shows how much the runs of each row vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Means with their errors: `451.8 ± 6.8`.
    Error,
    /// Means with minimum and maximum of the runs: `600.0 (100.0 to 1,600)`.
    Range,
}

impl Spread {
    /// Returns the way that holds for all `figures` of a column: ranges, if the error of one of
    /// them exceeds its mean.
    pub(crate) fn of_column<'f>(mut figures: impl Iterator<Item = &'f Figure>) -> Spread {
        if figures.any(Figure::is_wide) { Spread::Range } else { Spread::Error }
    }
}

/// Formats a figure of a column: `451.8 ± 6.8`, or `46.50 (3.000 to 90.00)`. A single run or equal
/// values have neither.
pub(crate) fn shown(figure: &Figure, spread: Spread) -> String {
    match figure.half_width {
        Some(_) if spread == Spread::Range && figure.min < figure.max => {
            let [mean, min, max] =
                [figure.mean, figure.min, figure.max].map(|value| significant(value, 4));
            format!("{mean} ({min} to {max})")
        }
        Some(half_width) if half_width.is_finite() && !is_same(figure) => {
            with_error(figure.mean, half_width)
        }
        _ => significant(figure.mean, 4),
    }
}

/// Formats a mean with its error for a sentence. If the error exceeds the mean, it is the range
/// instead: `3 to 90 in 4 runs, too few for a CI`.
pub(crate) fn answered(figure: &Figure) -> String {
    if !figure.is_wide() {
        return shown(figure, Spread::Error);
    }
    let runs = count(figure.count, "run");
    format!(
        "{} to {} in {runs}, too few for a CI",
        significant(figure.min, 4),
        significant(figure.max, 4),
    )
}

/// Returns a word for the status of an experiment or search that did not complete, such as
/// `interrupted`; `None` if it completed or the status is not known.
pub(crate) fn not_completed(status: Option<Status>) -> Option<&'static str> {
    match status? {
        Status::Interrupted => Some("interrupted"),
        Status::Failed => Some("failed"),
        Status::Running => Some("still running"),
        Status::Completed => None,
    }
}

/// Explains why some values are shown with minimum and maximum, and how many repeats give a CI
/// instead; `None` if none are. `repeat_s` is the time that a repeat takes in seconds, if known.
pub(crate) fn ranges<'f>(
    all: impl Iterator<Item = &'f Figure>,
    repeat_s: Option<f64>,
) -> Option<String> {
    let wide: Vec<&Figure> = all.filter(|figure| figure.is_wide()).collect();
    let most = wide.iter().map(|figure| figure.runs_needed()).reduce(|a, b| Some(a?.max(b?)))?;
    let repeat = match most {
        Some(n) => {
            let takes = repeat_s.map(|each_s| numbers::seconds(each_s * n as f64));
            let takes = takes.map_or_else(String::new, |takes| format!(" (at least {takes})"));
            format!("--repeat {n} or more gives ±{takes}")
        }
        None => "repeat more often for ±".to_owned(),
    };
    Some(format!(
        "in brackets the lowest and the highest run: some row of the column has too few runs for a \
         CI (±); {repeat}"
    ))
}

/// Lists runs that a page leaves out because their reports are damaged, with the command that
/// removes them; `None` if there are none.
pub(crate) fn left_out(damaged: &[String]) -> Option<String> {
    let runs = damaged.join(" ");
    (!damaged.is_empty()).then(|| {
        let n = count(damaged.len() as u64, "run");
        format!(
            "Left out: {n} with a damaged report; 'dbdyno runs rm {runs}' removes what is left."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_have_their_letter_in_titles() {
        assert_eq!(title_with_unit("lag_p99_us", "us"), "lag_p99_us (µs)");
        assert_eq!(title_with_unit("p99_ms", "ms"), "p99 ms");
    }

    #[test]
    fn what_is_known_roughly_has_one_digit() {
        let all = [75.0, 21.3, 9.6, 0.246, 3.04, 0.0].map(roughly);
        assert_eq!(all, ["≈80", "≈20", "≈10", "≈0.2", "≈3", "≈0"]);
    }

    #[test]
    fn runs_that_all_have_a_value_have_no_error_of_zero() {
        let figure = |mean: f64, half_width: f64, max: f64| Figure {
            mean,
            half_width: Some(half_width),
            min: mean,
            max,
            count: 3,
        };
        let (same, other) = (figure(49_150.0, 0.0, 49_150.0), figure(49_150.0, 21.0, 49_180.0));
        let shown = |figure: &Figure| shown(figure, Spread::of_column([figure].into_iter()));
        assert_eq!((shown(&same), shown(&other)), ("49,150".into(), "49,150 ± 21".into()));
        let note = same_in_all([other, same].iter()).expect("one is the same in all");
        assert!(note.starts_with("A value without ± was the same in all its runs."), "{note}");
        let published = figure(17_624.0, 147.0, 17_624.0);
        assert_eq!(shown(&published), "17,624 ± 147");
        assert_eq!(same_in_all([other, published].iter()), None);
        assert_eq!(same_in_all([Figure { count: 1, ..same }].iter()), None);
    }

    #[test]
    fn an_interval_wider_than_the_value_is_no_answer() {
        let figure = |half_width: f64| Figure {
            mean: 19_170.0,
            half_width: Some(half_width),
            min: 13_800.0,
            max: 24_540.0,
            count: 2,
        };
        // One rule for all rows of a column.
        let column = [figure(68_232.0), figure(130.0)];
        let spread = Spread::of_column(column.iter());
        let shown = |figure: &Figure| super::shown(figure, spread);
        assert_eq!(column.each_ref().map(shown), ["19,170 (13,800 to 24,540)"; 2]);
        let shown = |figure: &Figure| super::shown(figure, Spread::of_column([figure].into_iter()));
        assert_eq!(answered(&figure(68_232.0)), "13,800 to 24,540 in 2 runs, too few for a CI");
        assert_eq!((shown(&figure(130.0)), answered(&figure(130.0))), {
            let same = "19,170 ± 130".to_owned();
            (same.clone(), same)
        });
        let note =
            ranges([figure(130.0), figure(68_232.0)].iter(), Some(4.0)).expect("one is wide");
        let words = "too few runs for a CI (±); --repeat 5 or more gives ± (at least 20 s)";
        assert!(note.ends_with(words), "{note}");
        assert_eq!(ranges([figure(130.0)].iter(), None), None);
    }
}
