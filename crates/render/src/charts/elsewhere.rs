//! Figures that were measured elsewhere, drawn beside ours: a line over the same axis, or a level
//! where only one value is known.
//!
//! Not here: which ones (app).

use analysis::figures::number;
use model::{Imported, ImportedValue, numbers, short_axis};

use super::{Chart, Mark, Point, Shape, Trace};

/// More are not distinguished.
const MOST: usize = 12;

/// Adds the values of a chart's figure: those with a place along its axis, which goes over these
/// values, to a line, and all others as levels.
pub(super) fn add(chart: &mut Chart, imported: &[Imported], figure: &str, axis: (&str, &[String])) {
    let (name, values) = axis;
    let mut n = 0;
    for of in imported {
        let is_axis = |column: &String| column == name || column == short_axis(name);
        let along = of.columns.iter().position(is_axis);
        let mut lines: Vec<Trace> = Vec::new();
        for value in of.values.iter().filter(|value| value.figure == figure) {
            let line = named(of, value, along);
            let place = along.map(|column| place(&value.at[column], values));
            match (place, lines.iter_mut().find(|known| known.name == line)) {
                (Some(None), _) => {}
                (None, _) => {
                    n += 1;
                    if n <= MOST {
                        let text = format!("{line}: {}", numbers::significant(value.value, 4));
                        chart.marks.push(Mark::level(value.value, text));
                    }
                }
                (Some(Some(x)), Some(known)) => known.points.push(point(x, value)),
                (Some(Some(x)), None) => {
                    lines.push(Trace::new(line, Shape::Joined, vec![point(x, value)]));
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
    let shown = imported.iter().filter(|of| of.figures().contains(&figure));
    let sources = shown.filter(|of| !of.source.is_empty());
    let mut notes: Vec<String> = chart.note.take().into_iter().collect();
    notes.extend(sources.map(|of| format!("Imported: {} ({}).", of.name, of.source)));
    notes.extend((n > MOST).then(|| format!("The first {MOST} of {n} imported lines.")));
    chart.note = (!notes.is_empty()).then(|| notes.join(" "));
}

/// What a line is called: the figures' name, and all columns but that of the axis.
fn named(of: &Imported, value: &ImportedValue, along: Option<usize>) -> String {
    let others = of.columns.iter().zip(&value.at).enumerate();
    let others = others.filter(|(index, _)| Some(*index) != along);
    let words: Vec<String> = others.map(|(_, (column, at))| format!(" {column}={at}")).collect();
    format!("{}{} (imported)", of.name, words.concat())
}

/// Where a value stands along an axis of these values: by its number, or where its name does.
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
