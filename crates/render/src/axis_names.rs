//! Short, distinct names for the values of a parameter that an experiment varies (an axis). Not
//! here: measurements at these values.

use std::collections::BTreeSet;

use model::{Axis, Named, short_axis};
use study::ComparisonReport;

/// Returns a short name for each value of a varied parameter (`axis`), all distinct. Target URLs
/// lose their options (after `?`) that do not distinguish them; if the URLs differ only in options,
/// a name has only the options, such as `nodes=2`. Values of other parameters are unchanged.
pub(crate) fn names(axis: &Axis) -> Vec<String> {
    let options = |value: &str| -> Vec<String> {
        let query = value.split_once('?').map_or("", |(_, options)| options);
        query.split('&').filter(|option| !option.is_empty()).map(str::to_owned).collect()
    };
    let all: Vec<(&str, Vec<String>)> = axis
        .values
        .iter()
        .map(|value| (value.split('?').next().unwrap_or(value), options(value)))
        .collect();
    let is_common = |option: &String| all.iter().all(|(_, options)| options.contains(option));
    let is_one = all.len() > 1 && all.iter().all(|(base, _)| *base == all[0].0);
    let bases: BTreeSet<&str> = all.iter().map(|(base, _)| *base).collect();
    let short = |(base, options): &(&str, Vec<String>)| {
        let kept: Vec<&str> =
            options.iter().filter(|option| !is_common(option)).map(String::as_str).collect();
        match (is_one, kept.is_empty()) {
            (true, false) => kept.join("&"),
            (_, true) => (*base).to_owned(),
            (false, false) => format!("{base}?{}", kept.join("&")),
        }
    };
    match short_axis(&axis.name) {
        "target" if all.len() == 1 => axis.values.clone(),
        "target" if bases.len() == all.len() => {
            all.iter().map(|(base, _)| (*base).to_owned()).collect()
        }
        "target" => all.iter().map(short).collect(),
        _ => axis.values.clone(),
    }
}

/// Returns the short name that [`names`] gives `value`; `value` itself if the varied parameter
/// (`axis`) does not have it.
pub(crate) fn name_of(axis: &Axis, value: &str) -> String {
    let at = axis.values.iter().position(|known| known == value);
    at.map_or_else(|| value.to_owned(), |at| names(axis).swap_remove(at))
}

/// Returns the varied parameters (axes) of a comparison, each with the distinct values that it has
/// at the points (combinations of values) of the comparison.
pub(crate) fn axes_of(report: &ComparisonReport) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    let points = report.pairs.iter().flat_map(|pair| &pair.points);
    for (name, value) in points.flat_map(|point| point.values.iter()) {
        let at = axes.iter().position(|axis| axis.name == name).unwrap_or_else(|| {
            axes.push(Axis { name: name.to_owned(), values: Vec::new() });
            axes.len() - 1
        });
        if !axes[at].values.contains(value) {
            axes[at].values.push(value.clone());
        }
    }
    axes
}

/// Replaces each value of a point (combination of varied parameters) by its short name from
/// [`names`]: target URLs become short, other values stay. `values` has the names of the parameters
/// and the point's value of each.
pub(crate) fn told(axes: &[Axis], values: &Named<String>) -> Named<String> {
    let told = |(name, value): (&str, &String)| {
        let axis = axes.iter().find(|axis| axis.name == name);
        (name.to_owned(), axis.map_or_else(|| value.clone(), |axis| name_of(axis, value)))
    };
    Named(values.iter().map(told).collect())
}

/// Names a point (combination of varied parameters) in a few words: its value of the only varied
/// parameter, or else `mode=text clients=4`.
pub(crate) fn short_point_name(axes: &[Axis], values: &Named<String>) -> String {
    let told = told(axes, values);
    match &told.0[..] {
        [] => "all".to_owned(),
        [(_, value)] => value.clone(),
        _ => told.pairs(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_called_by_what_tells_them_apart() {
        let check = |name: &str, values: &[&str], expect: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(names(&Axis { name: name.to_owned(), values }), expect);
        };
        let nodes = ["managed:mariadb?nodes=1&a=1", "managed:mariadb?nodes=2&a=1"];
        check("target", &nodes, &["nodes=1", "nodes=2"]);
        check("clients", &["1?a&b", "2?a&b"], &["1?a&b", "2?a&b"]);
        check("target", &["managed:mariadb?a=1"], &["managed:mariadb?a=1"]);
        let two = ["managed:mariadb?a=1", "managed:postgres?a=1", "managed:postgres?a=1&b=2"];
        check("target", &two, &["managed:mariadb", "managed:postgres", "managed:postgres?b=2"]);
        let products = ["managed:mariadb?a=1", "managed:mysql?bin=/x&a=1", "managed:postgres?b=2"];
        check("target", &products, &["managed:mariadb", "managed:mysql", "managed:postgres"]);
        let with_default = ["sqlite:a.db", "sqlite:a.db?synchronous=off"];
        check("target", &with_default, &["sqlite:a.db", "synchronous=off"]);
    }
}
