//! Sparklines: a series of values as one line of block characters, or as a small SVG.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Character for a value of 0, which looks different from a small value, so that stalls are
/// visible.
const STANDSTILL: char = '_';

/// Character that leaves a gap in a sparkline for an unknown value.
const GAP: char = ' ';

/// Draws `values` as at most `width` block characters, scaled from 0 to their maximum. Values that
/// are not finite are blanks.
///
/// If there are more values than blocks, each block shows the smallest of its values, because a
/// mean would hide a single bad second.
pub fn sparkline(values: &[f64], width: usize) -> String {
    let most = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let n = values.len().min(width);
    let lowest = |block: usize| {
        let (from, to) = (block * values.len() / n, (block + 1) * values.len() / n);
        let known = values[from..to].iter().copied().filter(|value| value.is_finite());
        known.reduce(f64::min)
    };
    (0..n).map(|block| lowest(block).map_or(GAP, |lowest| level(lowest, most))).collect()
}

/// Number of x positions of a sparkline in SVG. If there are more values, several share a position.
const PLACES: usize = 60;

/// Draws `values` as a small SVG, scaled from 0 to their maximum. If there are more values than x
/// positions, a vertical stroke at each position spans its smallest to its largest value. Values
/// that are not finite are gaps. Empty if there are fewer than two values, or none above 0.
pub fn spark_svg(values: &[f64]) -> String {
    const HEIGHT: f64 = 20.0;
    let most = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    if values.len() < 2 || most <= 0.0 {
        return String::new();
    }
    let n = values.len().min(PLACES);
    let width = 100.0 / (n - 1) as f64;
    let mut path = String::new();
    let mut is_begun = false;
    for place in 0..n {
        let (from, to) = (place * values.len() / n, (place + 1) * values.len() / n);
        let known = || values[from..to].iter().copied().filter(|value| value.is_finite());
        let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
        if low > high {
            is_begun = false;
            continue;
        }
        let begin = if is_begun { 'L' } else { 'M' };
        let at = |value: f64| HEIGHT - 1.0 - value / most * (HEIGHT - 2.0);
        let x = place as f64 * width;
        path += &format!("{begin}{x:.1} {:.1}", at(low));
        if at(low) - at(high) > 0.5 {
            path += &format!("V{:.1}", at(high));
        } else if !is_begun {
            // A value between gaps is visible too.
            path += "h0.5";
        }
        is_begun = true;
    }
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 100 {HEIGHT}\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><path d=\"{path}\"/></svg>"
    )
}

/// Returns a line to print below a sparkline of `n_values` values in `width` columns. It has a mark
/// below the block of each index in `at`.
pub fn marks(at: &[usize], n_values: usize, width: usize) -> String {
    let n = n_values.min(width);
    let mut line = vec![' '; n];
    for index in at.iter().filter(|index| **index < n_values) {
        // The block of [`sparkline`] that contains this value.
        line[((index + 1) * n - 1) / n_values] = '▲';
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn level(value: f64, most: f64) -> char {
    if value <= 0.0 || most <= 0.0 {
        return STANDSTILL;
    }
    let level = (value / most * LEVELS.len() as f64).ceil() as usize;
    LEVELS[level.clamp(1, LEVELS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_at_zero() {
        assert_eq!(sparkline(&[0.0, 1.0, 4.0, 8.0], 10), "_▁▄█");
        assert_eq!(sparkline(&[0.0, 0.0], 10), "__");
        assert_eq!(sparkline(&[], 10), "");
    }

    #[test]
    fn what_is_not_known_leaves_a_gap() {
        let values = [8.0, f64::NAN, f64::NAN, 0.0, 4.0, f64::INFINITY, 8.0];
        assert_eq!(sparkline(&values, 10), "█  _▄ █");
        let svg = spark_svg(&values);
        assert_eq!(svg.matches('M').count(), 3, "a line begins again behind each gap: {svg}");
        assert_eq!(svg.matches('L').count(), 1, "{svg}");
    }

    #[test]
    fn a_mark_stands_below_the_block_of_its_value() {
        assert_eq!(marks(&[0, 2], 4, 10), "▲ ▲");
        assert_eq!(marks(&[9], 9, 9), "");
        for n_values in 1..40 {
            for index in 0..n_values {
                let mut values = vec![1.0; n_values];
                values[index] = 0.0;
                let block = |line: String, mark| line.chars().position(|c| c == mark);
                let expect = block(sparkline(&values, 7), STANDSTILL);
                assert_eq!(block(marks(&[index], n_values, 7), '▲'), expect, "{index} {n_values}");
            }
        }
    }

    #[test]
    fn the_worst_second_stays_visible_in_a_narrow_line() {
        let mut values = vec![100.0; 3600];
        values[1234] = 0.0;
        let line = sparkline(&values, 60);
        assert_eq!(line.chars().count(), 60);
        assert_eq!(line.chars().filter(|c| *c == STANDSTILL).count(), 1);
        assert_eq!(line.chars().position(|c| c == STANDSTILL), Some(1234 * 60 / 3600));
    }
}
