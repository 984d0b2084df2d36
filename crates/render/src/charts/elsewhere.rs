//! Imported figures (measured by other programs), drawn into charts of dbdyno's figures: as a line
//! over the same varied parameter, or as a horizontal line for a value that belongs to no position.
//!
//! Not here: the choice of imported figures (app).

use analysis::figures::number;
use model::{Imported, ImportedValue, numbers, short_axis};

use super::{Chart, Mark, Point, Shape, Trace};

/// Largest number of lines of imported figures in a chart; the chart's note says that others are
/// left out.
const MOST: usize = 12;

/// Adds imported values of `figure` to a chart over a varied parameter (`axis`: its name and
/// values). Imported values of this parameter become broken lines; values of imports without such a
/// column become horizontal lines. A broken line has the colour of the measured line in `ours` with
/// the same values in all other columns.
pub(super) fn add(
    chart: &mut Chart,
    imported: &[Imported],
    figure: &str,
    axis: (&str, &[String]),
    ours: &[String],
) {
    let (name, values) = axis;
    let mut n = 0;
    let mut n_alone = 0;
    let mut levels: Vec<(f64, Vec<String>, &str)> = Vec::new();
    for import in imported {
        let is_axis = |column: &String| column == name || column == short_axis(name);
        let along = import.columns.iter().position(is_axis);
        let mut lines: Vec<Trace> = Vec::new();
        for value in import.values.iter().filter(|value| value.figure == figure) {
            let others = others(import, value, along);
            let line = named(import, &others);
            let place = along.map(|column| place(&value.at[column], values));
            match (place, lines.iter_mut().find(|known| known.name == line)) {
                (Some(None), _) => {}
                (None, _) => {
                    n += 1;
                    if n > MOST {
                        continue;
                    }
                    // Texts of equal levels would overlap.
                    let is_same_level = |level: &&mut (f64, Vec<String>, &str)| {
                        level.0 == value.value && level.2 == import.name
                    };
                    let others = others.join(" ");
                    match levels.iter_mut().find(is_same_level) {
                        Some((_, all, _)) => all.push(others),
                        None => levels.push((value.value, vec![others], &import.name)),
                    }
                }
                (Some(Some(x)), Some(known)) => known.points.push(point(x, value)),
                (Some(Some(x)), None) => {
                    let of_ours = ours.iter().position(|name| is_same(name, &others));
                    let shares = of_ours.unwrap_or_else(|| {
                        n_alone += 1;
                        ours.len() + n_alone - 1
                    });
                    let line = Trace::new(line, Shape::Joined, vec![point(x, value)]);
                    lines.push(Trace { shares: Some(shares), ..line });
                }
            }
        }
        for mut line in lines {
            n += 1;
            if n <= MOST {
                line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
                chart.traces.push(line);
            }
        }
    }
    for (at, all, name) in levels {
        let words = all.join(", ");
        let between = if words.is_empty() { "" } else { " " };
        let value = numbers::significant(at, 4);
        chart.marks.push(Mark::level(at, format!("{name}{between}{words} (imported): {value}")));
    }
    let shown = imported.iter().filter(|import| import.figures().contains(&figure));
    let sources = shown.filter(|import| !import.source.is_empty());
    let mut notes: Vec<String> = chart.note.take().into_iter().collect();
    notes.extend(sources.map(|import| format!("Imported: {} ({}).", import.name, import.source)));
    notes.extend((n > MOST).then(|| format!("The first {MOST} of {n} imported lines.")));
    chart.note = (!notes.is_empty()).then(|| notes.join(" "));
}

/// Returns an imported value's columns and values, such as `kernel=a`, without the column at index
/// `along`, which is the chart's x axis.
fn others(import: &Imported, value: &ImportedValue, along: Option<usize>) -> Vec<String> {
    let others = import.columns.iter().zip(&value.at).enumerate();
    let others = others.filter(|(index, _)| Some(*index) != along);
    others.map(|(_, (column, at))| format!("{column}={at}")).collect()
}

/// Returns the name of an imported line, such as `paper kernel=a (imported)`: the name of the
/// import and the columns in `others`.
fn named(import: &Imported, others: &[String]) -> String {
    let words: Vec<String> = others.iter().map(|word| format!(" {word}")).collect();
    format!("{}{} (imported)", import.name, words.concat())
}

/// Returns true if `ours`, the name of a measured line such as `mode=text kernel=a`, has the same
/// values as `others`, the columns of an imported line.
fn is_same(ours: &str, others: &[String]) -> bool {
    let short = |word: &String| {
        let (column, at) = word.split_once('=').unwrap_or((word, ""));
        format!("{}={at}", short_axis(column))
    };
    let mut theirs: Vec<String> = others.iter().map(short).collect();
    let mut ours: Vec<&str> = ours.split(' ').collect();
    theirs.sort_unstable();
    ours.sort_unstable();
    // A value may have blanks.
    ours == theirs || (theirs.len() == 1 && ours.join(" ") == theirs[0])
}

/// Returns the x value of the imported value `at` in a chart over a varied parameter with these
/// values: the number itself, or the index of the name. `None` if the parameter does not have it.
fn place(at: &str, values: &[String]) -> Option<f64> {
    match values.iter().all(|value| number(value).is_some()) {
        true => number(at),
        false => values.iter().position(|value| value == at).map(|index| index as f64),
    }
}

fn point(x: f64, value: &ImportedValue) -> Point {
    let half = value.half_width;
    let band = half.map(|half| ((value.value - half).max(0.0), value.value + half));
    Point { band, ..Point::at(x, Some(value.value)) }
}
