//! Time and work of a transaction on each side of a comparison: a table of ratios at several
//! points, which also has published ratios, and then a table for each point.
//!
//! Not here: the figures and their order (study), and published values (published).

use std::borrow::Cow;

use model::numbers::{NONE, amount, count, significant};
use study::comparison::{
    ComparisonReport, EachTransaction, EachTransactionAt, PairReport, Ratio, figure_title,
};

use super::published::{self, TOTALS};
use super::{change_of, sign, titles};
use crate::axis_names::{axes_of, told};
use crate::document::{Block, Details, Length};
use crate::wording::roughly;
use crate::{Align, Cell, Column, Table};

/// Title of the column with the difference between baseline and compared side, which narrow pages
/// leave out because readers can subtract.
const DIFFERENCE: &str = "difference";

/// Largest number of changed figures per point (combination of varied parameters) that are shown
/// without unfolding; further ones are folded.
const CHANGES_MAX: usize = 32;
/// Largest number of points (combinations of varied parameters) up to which the page also has,
/// folded, the less important figures of each transaction; with more points, it only says how many
/// there are.
const POINTS_MAX: usize = 8;
/// Largest number of changed figures, besides times and key figures, in the table of a comparison's
/// ratios at all points; the others are left out.
const CHANGES_OF_ALL_MAX: usize = 12;
/// Significant digits of a time estimated from samples of sessions: with 1,000 samples its standard
/// error is up to 1.6 %.
const DIGITS_OF_SAMPLES: usize = 2;
/// Name of the figure for a transaction's network time.
const NETWORK: &str = "time.network";
/// Prefix of the names of figures of the whole machine.
const MACHINE: &str = "machine.";
/// Prefix of the names of sockets in MariaDB and MySQL statistics, which tables leave out.
const SOCKET: &str = "wait/io/socket/sql/";

/// Returns the tables of the time and work of a transaction, for each compared side and point.
/// Empty if the runs have no such figures.
pub(super) fn blocks(report: &ComparisonReport) -> Vec<Block> {
    let n_points: usize = report.pairs.iter().map(|pair| pair.each_transaction.len()).sum();
    if n_points == 0 {
        return Vec::new();
    }
    let mut blocks = vec![Block::paragraphs([words(report)])];
    for pair in &report.pairs {
        let side = (report.pairs.len() > 1).then(|| pair.side.clone());
        let lines = match pair.each_transaction.len() {
            0 | 1 => Vec::new(),
            _ => in_order(&pair.each_transaction),
        };
        if !lines.is_empty() {
            let title = format!("{} of all points", ratio_name(report, pair));
            let title = side.clone().into_iter().chain([title]).collect::<Vec<_>>().join(", ");
            blocks.push(Block::Part(title, vec![Block::Table(ratios(report, pair, &lines))]));
        }
        for at in &pair.each_transaction {
            let title: Vec<String> = side.clone().into_iter().chain(name_of(report, at)).collect();
            let part = point(report, pair, at, &lines, n_points);
            blocks.push(Block::Part(title.join(", "), part));
        }
    }
    blocks
}

/// Returns the paragraph above the tables of a transaction's time and work: what they contain, how
/// certain it is, and which side of the comparison is divided by which.
fn words(report: &ComparisonReport) -> String {
    let each = || report.pairs.iter().flat_map(|pair| &pair.each_transaction);
    let has_intervals = each().flat_map(|at| &at.figures).any(|figure| figure.interval.is_some());
    let n_least = report.sides.iter().map(|side| side.runs.len()).min().unwrap_or(0);
    let n_points = report.pairs.iter().map(|pair| pair.each_transaction.len()).max();
    let is_one = n_least <= n_points.unwrap_or(1);
    let sure = match (has_intervals, is_one) {
        (true, _) => "with 95 % intervals over runs where there are enough, not tested",
        (false, true) => "of one run a side and point, so without intervals, and not tested",
        (false, false) => "of too few runs for intervals, and not tested",
    };
    let has_parts = each().flat_map(|at| &at.figures).any(EachTransaction::is_time);
    let has_several = report.pairs.iter().any(|pair| pair.each_transaction.len() > 1);
    let what = match has_parts {
        _ if has_several => {
            "What a transaction takes on average: its time by parts, then what is asked for most \
             (round trips, connections, locks), then what else changed most"
        }
        true => {
            "Mean time of a transaction by its parts, the largest difference first; then what \
             else it takes: what changed, the largest ratio first, then what did not"
        }
        false => {
            "What a transaction takes on average: what changed, the largest ratio first, then what \
             did not"
        }
    };
    let base = &report.sides[0].name;
    let side = match &report.pairs[..] {
        [pair] => pair.side.as_str(),
        _ => "the side",
    };
    let is_inverse = report.pairs.iter().any(|pair| is_of_procedures(report, pair));
    let [a, b] = if is_inverse { [base, side] } else { [side, base] };
    let is_of_machine =
        each().flat_map(|at| &at.figures).any(|figure| figure.name.starts_with(MACHINE));
    let others = if is_of_machine {
        " Figures that begin with 'machine' include what other programs did meanwhile."
    } else {
        ""
    };
    let inverse =
        if is_inverse { ", the other way round than in the tables of figures" } else { "" };
    let few = each().find_map(EachTransactionAt::samples_if_few).is_some();
    let least = each().filter(|at| at.has_parts_of_samples()).filter_map(|at| at.samples).min();
    let few = least.map_or_else(String::new, |n| {
        let n = count(n, "sample");
        let rough = if few { "Rough (≈): " } else { "" };
        format!(" {rough}{n} of sessions on a side stand behind waits and what is left.")
    });
    let is_beside_post = report
        .pairs
        .iter()
        .any(|pair| pair.each_transaction.len() > 1 && is_of_procedures(report, pair));
    let post = if is_beside_post { published::EXPLAINED } else { "" };
    let of_ratios = match is_inverse || has_several {
        true => format!(
            "Ratios are {a} divided by {b}{inverse}: a ratio of 2 means that {a} takes twice as \
             much."
        ),
        false => format!("Changes are those of {a} from {b}."),
    };
    format!("{what} ({sure}). {of_ratios}{few}{others}{post}")
}

fn name_of(report: &ComparisonReport, at: &EachTransactionAt) -> Vec<String> {
    let values = told(&axes_of(report), &at.values);
    values.iter().map(|(axis, value)| format!("{axis}={value}")).collect()
}

/// Returns the tables of a point (combination of varied parameters). The first has the figures in
/// `lines`, or, if `lines` is empty, times, key figures and changed ones. The other figures are
/// folded or, if there are many points (`n_points`), replaced by their number.
fn point(
    report: &ComparisonReport,
    pair: &PairReport,
    at: &EachTransactionAt,
    lines: &[&str],
    n_points: usize,
) -> Vec<Block> {
    let mut n_changed = 0;
    let (first, rest): (Vec<&EachTransaction>, Vec<&EachTransaction>) =
        at.figures.iter().partition(|figure| {
            let is_time = figure.is_time();
            n_changed += usize::from(figure.is_change && !is_time);
            let is_shown = is_time && !figure.is_beside()
                || figure.is_change && n_changed <= CHANGES_MAX && !is_time;
            match lines.is_empty() {
                true => is_shown || figure.key_rank().is_some(),
                false => lines.contains(&figure.name.as_str()),
            }
        });
    let first: Vec<(&str, Option<&EachTransaction>)> = match lines.is_empty() {
        true => first.iter().map(|figure| (figure.name.as_str(), Some(*figure))).collect(),
        false => lines.iter().map(|name| (*name, find(at, name))).collect(),
    };
    let rest: Vec<(&str, Option<&EachTransaction>)> =
        rest.into_iter().map(|figure| (figure.name.as_str(), Some(figure))).collect();
    let mut part = vec![Block::Table(of_transaction(report, pair, at, &first))];
    if !rest.is_empty() {
        let title = format!("{} figures more", rest.len());
        let otherwise = vec![Block::paragraphs([format!("{title} (--output json has all)")])];
        match n_points > POINTS_MAX {
            true => part.extend(otherwise),
            false => part.push(Block::Details(Details {
                title,
                blocks: vec![Block::Table(of_transaction(report, pair, at, &rest))],
                length: Length::Long,
                otherwise,
            })),
        }
    }
    part
}

fn names(report: &ComparisonReport, pair: &PairReport) -> [String; 2] {
    titles(&report.sides[0].name, &pair.side)
}

/// Names the ratio that tables show, such as `new / old`: compared side divided by baseline. For
/// stored procedures it is the inverse, as in published ratios of client SQL to procedures.
fn ratio_name(report: &ComparisonReport, pair: &PairReport) -> String {
    let names = names(report, pair);
    let key = |name: &String| name.split_once('=').map(|(key, _)| key.to_owned());
    let is_alike = key(&names[0]).is_some() && key(&names[0]) == key(&names[1]);
    let value = |name: String| match name.split_once('=') {
        Some((_, value)) if is_alike => value.to_owned(),
        _ => name,
    };
    let [base, side] = names.map(value);
    match is_of_procedures(report, pair) {
        true => format!("{base} / {side}"),
        false => format!("{side} / {base}"),
    }
}

fn of_transaction(
    report: &ComparisonReport,
    pair: &PairReport,
    at: &EachTransactionAt,
    figures: &[(&str, Option<&EachTransaction>)],
) -> Table {
    // With several points, ratios are what readers want, and the introduction names them.
    let has_difference = pair.each_transaction.len() < 2;
    let is_inverse = is_of_procedures(report, pair);
    let difference = has_difference.then(|| DIFFERENCE.to_owned());
    // The usual direction needs no name.
    let ratio = match (is_inverse, has_difference) {
        (true, _) => ratio_name(report, pair),
        (false, true) => "change".to_owned(),
        (false, false) => "ratio".to_owned(),
    };
    let has_intervals =
        figures.iter().any(|(_, one)| one.is_some_and(|one| one.interval.is_some()));
    let ratio = if has_intervals && !is_inverse { format!("{ratio} (95 % CI)") } else { ratio };
    let names = names(report, pair).into_iter().chain(difference).chain([ratio]);
    let columns = names.map(|name| match name == DIFFERENCE {
        true => Column::spare(name, Align::Right, 1),
        false => Column::new(name, Align::Right),
    });
    let figure = Column::sentences("per transaction").head();
    let mut table = Table::new([figure].into_iter().chain(columns).collect::<Vec<_>>());
    for (name, one) in figures.iter().filter_map(|(name, one)| Some((name, (*one)?))) {
        let by = one.side - one.baseline;
        let is_rough = is_rough(at, one);
        let number = |value: f64| Cell::said(taken(one, value, is_rough), Some(value));
        let change = has_difference.then(|| match is_rough {
            true => Cell::said(format!("{}{}", sign(by), rough(by.abs(), &one.unit)), Some(by)),
            false => Cell::said(signed(by, &one.unit), Some(by)),
        });
        let both = [Cell::from(&*label(name)), number(one.baseline), number(one.side)].into_iter();
        let ratio = match has_difference && !is_inverse {
            true => change_cell(at, one),
            false => ratio_cell(at, one, is_inverse),
        };
        table.row(both.chain(change).chain([ratio]));
    }
    table
}

/// Returns the table of the figures in `lines` with the ratio to the baseline at each point of a
/// comparison, and for stored procedures also the published ratios.
fn ratios(report: &ComparisonReport, pair: &PairReport, lines: &[&str]) -> Table {
    let points = &pair.each_transaction;
    let axes = axes_of(report);
    let title = |at: &EachTransactionAt| {
        let values = told(&axes, &at.values);
        let name = |(axis, value): (&str, &String)| match axis {
            "target" => value.trim_start_matches("managed:").to_owned(),
            axis => format!("{axis}={value}"),
        };
        values.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let has_post = is_of_procedures(report, pair);
    let of_post = [published::EACH, TOTALS].map(str::to_owned).into_iter().filter(|_| has_post);
    let titles = points.iter().map(title).chain(of_post);
    let figure = Column::sentences("per transaction").head();
    let columns = titles.map(|title| Column::new(title, Align::Right));
    let mut table = Table::new([figure].into_iter().chain(columns).collect::<Vec<_>>());
    for name in lines {
        let label = label(name);
        let cell = |at, one| ratio_cell(at, one, has_post);
        let ratios = points.iter().map(|at| find(at, name).map_or(Cell::None, |one| cell(at, one)));
        let post = published::cells(&label).into_iter().filter(|_| has_post);
        table.row([Cell::from(&*label)].into_iter().chain(ratios).chain(post));
    }
    table
}

fn find<'a>(at: &'a EachTransactionAt, name: &str) -> Option<&'a EachTransaction> {
    at.figures.iter().find(|figure| figure.name == name)
}

/// Returns the names of the figures in the table of ratios at all points of a comparison, in order:
/// parts of the time, key figures such as round trips, and the figures that changed most.
fn in_order(points: &[EachTransactionAt]) -> Vec<&str> {
    let all = || points.iter().flat_map(|at| &at.figures);
    let mut names: Vec<&str> = Vec::new();
    let mut keys: Vec<&EachTransaction> =
        all().filter(|figure| figure.key_rank().is_some()).collect();
    keys.sort_by_key(|figure| (figure.key_rank(), figure.name.as_str()));
    let far = |figure: &EachTransaction| figure.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    let mut changed: Vec<&EachTransaction> = all()
        .filter(|figure| figure.is_change && figure.ratio.is_some() && figure.key_rank().is_none())
        .collect();
    changed.retain(|figure| !figure.is_time());
    changed.sort_by(|a, b| far(b).total_cmp(&far(a)));
    let times = all().filter(|figure| figure.is_time());
    for figure in times.chain(keys) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    let most = names.len() + CHANGES_OF_ALL_MAX;
    for figure in changed {
        if names.len() < most && !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

/// Returns true if the baseline runs client SQL and the compared side runs stored procedures.
fn is_of_procedures(report: &ComparisonReport, pair: &PairReport) -> bool {
    let Some(side) = report.sides.iter().position(|side| side.name == pair.side) else {
        return false;
    };
    let is_mode = |name: &str| name.ends_with("parameters.mode");
    report
        .differences
        .iter()
        .filter(|difference| difference.about == "plan" && is_mode(&difference.name))
        .any(|difference| {
            let value = |at: usize| difference.values.get(at).and_then(|value| value.as_deref());
            value(0).is_some_and(|mode| mode != "procedures") && value(side) == Some("procedures")
        })
}

fn label(name: &str) -> Cow<'_, str> {
    match name.starts_with("connections.") {
        true => name.replace(SOCKET, "").into(),
        false => figure_title(name),
    }
}

/// Returns the cell with the ratio of compared side to baseline and its confidence interval, if
/// there is one. With `is_inverse`, it is the ratio of baseline to side.
fn ratio_cell(at: &EachTransactionAt, figure: &EachTransaction, is_inverse: bool) -> Cell {
    let digits = |value: f64| significant(value, 3);
    let (ratio, interval) = match is_inverse {
        true => (
            figure.ratio.map(|ratio| 1.0 / ratio),
            figure.interval.map(|(low, high)| (1.0 / high, 1.0 / low)),
        ),
        false => (figure.ratio, figure.interval),
    };
    let said = match (ratio, interval) {
        (Some(ratio), Some((low, high))) => {
            format!("{} ({} to {})", digits(ratio), digits(low), digits(high))
        }
        (Some(ratio), None) if is_rough(at, figure) => roughly(ratio),
        (Some(ratio), None) => digits(ratio),
        (None, _) => {
            figure.reason.as_ref().map_or_else(|| NONE.to_owned(), |why| format!("{NONE} ({why})"))
        }
    };
    Cell::said(said, ratio)
}

/// Returns the cell with the change from the baseline and its confidence interval, if there is one.
fn change_cell(at: &EachTransactionAt, figure: &EachTransaction) -> Cell {
    let said = match figure.ratio {
        Some(ratio) if figure.interval.is_none() && is_rough(at, figure) => {
            format!("×{}", roughly(ratio))
        }
        Some(value) => {
            let ratio = Ratio { value, interval: figure.interval, confidence: None };
            change_of(&figure.name, &ratio)
        }
        None => {
            figure.reason.as_ref().map_or_else(|| NONE.to_owned(), |why| format!("{NONE} ({why})"))
        }
    };
    Cell::said(said, figure.ratio)
}

/// Returns true if the figure is a part of a transaction's time that was estimated from too few
/// samples of sessions.
fn is_rough(at: &EachTransactionAt, figure: &EachTransaction) -> bool {
    at.samples_if_few().is_some() && figure.is_of_samples()
}

/// Formats a figure per transaction. Text `none seen` stands for a part of the time that no sample
/// showed but that may exist. The network has no value if CPU time explains the whole round trip.
fn taken(figure: &EachTransaction, value: f64, is_rough: bool) -> String {
    // Differences of parts are never exactly 0.
    match value.abs() < 0.5e-6 {
        true if figure.name == NETWORK => NONE.to_owned(),
        true if figure.is_of_samples() => "none seen".to_owned(),
        false if is_rough => rough(value, &figure.unit),
        false if figure.is_of_samples() => {
            format!("{} {}", significant(value, DIGITS_OF_SAMPLES), figure.unit)
        }
        _ => amount(value, &figure.unit),
    }
}

/// Formats a rough value with its unit, to one digit.
fn rough(value: f64, unit: &str) -> String {
    format!("{} {unit}", roughly(value))
}

/// Formats a difference with its sign and unit.
fn signed(difference: f64, unit: &str) -> String {
    format!("{}{}", sign(difference), amount(difference.abs(), unit))
}
