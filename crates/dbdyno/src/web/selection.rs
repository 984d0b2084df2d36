//! Makes sides of a comparison (sets of runs) from runs selected in the list: each run alone, or
//! grouped by a label, a varied parameter or their name. Only a group has repeats.
//!
//! Not here: the comparison (study).

use store::{Filter, RunRow, Store};

use super::live::row_of;

/// Name of the grouping in which each selected run alone is a side (set of runs) of the comparison.
const ALONE: &str = "run";
/// Prefix of the name of a grouping of runs by the values of a varied parameter of an experiment.
const AXIS: &str = "axis.";
/// Name of the grouping in which runs with the same name form a side (set of runs) of the
/// comparison.
const NAME: &str = "name";

/// Selected runs, grouped as sides of a comparison (sets of runs).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grouped {
    /// Sides of the comparison (sets of runs), as text for a request; the first is the baseline.
    pub(super) sides: Vec<String>,
    /// Possible ways of grouping the selected runs, including the chosen one.
    pub(super) ways: Vec<Way>,
}

/// Way of grouping selected runs as sides of a comparison (sets of runs), such as by a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Name of the way of grouping in an address: `run`, `name`, a label's key after `label.` or a
    /// varied parameter after `axis.`.
    pub(super) by: String,
    /// Description of the way of grouping for people.
    pub(super) words: String,
    pub(super) is_chosen: bool,
}

/// Groups the named runs as sides of a comparison (sets of runs): by the way `asked`, or else by
/// the first label or varied parameter that makes several sides with repeats. `None` if a name is
/// not that of a single run, or if no way makes sides with repeats.
pub(super) fn grouped(store: &Store, names: &[String], asked: Option<&str>) -> Option<Grouped> {
    let mut rows = names.iter().map(|name| row(store, name)).collect::<Option<Vec<RunRow>>>()?;
    let ways = ways(&rows);
    let default = ways.iter().find(|by| *by != NAME).map_or(ALONE, String::as_str);
    let chosen = asked.filter(|by| *by == ALONE || ways.iter().any(|way| way == by));
    let chosen = chosen.unwrap_or(default).to_owned();
    if ways.is_empty() {
        return None;
    }
    let sides = match chosen.as_str() {
        ALONE => names.to_vec(),
        by => {
            // Oldest first: new ones are compared with older ones.
            rows.sort_by_key(|row| row.started_unix_ms);
            // Or in the order of the experiment's axis.
            if let Some(axis) = by.strip_prefix(AXIS) {
                let values = axis_values(store, &rows, axis);
                rows.sort_by_key(|row| {
                    values.iter().position(|known| Some(known.as_str()) == value(row, by))
                });
            }
            sides(&rows, by, &|label| n_labelled(store, label))
        }
    };
    let all = std::iter::once(ALONE).chain(ways.iter().map(String::as_str));
    let way = |by: &str| Way {
        by: by.to_owned(),
        words: match by.strip_prefix("label.") {
            Some(key) => format!("by label {key}"),
            None if by == NAME => "by name".to_owned(),
            None => match by.strip_prefix(AXIS) {
                Some(axis) => format!("by {axis}"),
                None => "each run".to_owned(),
            },
        },
        is_chosen: by == chosen,
    };
    Some(Grouped { sides, ways: all.map(way).collect() })
}

/// Returns the values of a varied parameter in the order of the experiment of which the first run
/// is a trial; empty if the run is no trial.
fn axis_values(store: &Store, rows: &[RunRow], axis: &str) -> Vec<String> {
    let id = rows.first().and_then(|row| row.experiment.as_deref());
    let experiment = id.and_then(|id| store.find_experiment(id).ok());
    let axes = experiment.into_iter().flat_map(|experiment| experiment.axes);
    axes.filter(|one| one.name == axis).flat_map(|one| one.values).collect()
}

/// Returns the row of a single run; `None` for a label, a list, an experiment or an unknown run.
fn row(store: &Store, name: &str) -> Option<RunRow> {
    let is_one = !name.contains(['=', ',']) && store.find_experiment(name).is_err();
    let run = is_one.then(|| store.find(name).ok()).flatten()?;
    row_of(store, &run).ok()
}

fn value<'r>(row: &'r RunRow, by: &str) -> Option<&'r str> {
    let find = |all: &'r [(String, String)], key: &str| {
        all.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    };
    match (by.strip_prefix("label."), by.strip_prefix(AXIS)) {
        (Some(key), _) => find(&row.labels, key),
        (None, Some(axis)) => find(&row.point, axis),
        (None, None) => Some(&row.name),
    }
}

/// Returns the names of the ways of grouping these runs that make several sides of a comparison
/// (sets of runs), at least one of them with repeats.
fn ways(rows: &[RunRow]) -> Vec<String> {
    let Some(first) = rows.first() else { return Vec::new() };
    let labels = first.labels.iter().map(|(key, _)| format!("label.{key}"));
    // Trials of one experiment are grouped by its axes.
    let is_one =
        first.experiment.is_some() && rows.iter().all(|row| row.experiment == first.experiment);
    let axes = first.point.iter().filter(|_| is_one).map(|(axis, _)| format!("{AXIS}{axis}"));
    let falls = |by: &String| {
        let values: Option<Vec<&str>> = rows.iter().map(|row| value(row, by)).collect();
        values.is_some_and(|mut values| {
            values.sort_unstable();
            values.dedup();
            (2..rows.len()).contains(&values.len())
        })
    };
    labels.chain(axes).chain([NAME.to_owned()]).filter(falls).collect()
}

/// Divides the selected runs into sides of a comparison (sets of runs), one for each value of `by`.
/// A side is written as the label, `build=1.2`, if all runs with that label were selected; else as
/// run ids.
fn sides(rows: &[RunRow], by: &str, n_labelled: &dyn Fn((&str, &str)) -> usize) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let own = value(row, by).unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, runs)) => runs.push(&row.run.0),
            None => groups.push((own, vec![&row.run.0])),
        }
    }
    let side = |(value, runs): (&str, Vec<&str>)| match by.strip_prefix("label.") {
        Some(key) if n_labelled((key, value)) == runs.len() => format!("{key}={value}"),
        _ => runs.join(","),
    };
    groups.into_iter().map(side).collect()
}

fn n_labelled(store: &Store, (key, value): (&str, &str)) -> usize {
    let label = Some((key.to_owned(), Some(value.to_owned())));
    store.list(&Filter { label, ..Filter::default() }).map_or(0, |rows| rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, name: &str, build: Option<&str>) -> RunRow {
        let labels = build.map(|build| ("build".to_owned(), build.to_owned()));
        let labels = labels.into_iter().collect();
        RunRow { name: name.to_owned(), labels, ..crate::web::tests::row(id) }
    }

    #[test]
    fn runs_are_grouped_by_what_makes_sides_with_repeats() {
        let check = |rows: &[RunRow], expect: &[&str]| assert_eq!(ways(rows), expect);
        let (one, two) = (Some("1"), Some("2"));
        let named = |name, build| run("a", name, build);
        check(&[named("x", one), named("x", one), named("x", two)], &["label.build"]);
        check(&[named("x", one), named("x", one), named("y", two)], &["label.build", "name"]);
        check(&[named("x", one), named("x", two)], &[]);
        check(&[named("x", one), named("x", one), named("x", None)], &[]);
        check(&[named("x", one), named("x", one), named("x", one)], &[]);
        check(&[], &[]);
    }

    #[test]
    fn trials_of_one_experiment_are_grouped_by_what_it_varied() {
        let trial = |experiment: &str, target: &str| RunRow {
            experiment: Some(experiment.to_owned()),
            point: vec![("target".to_owned(), target.to_owned())],
            ..run("a", "x", None)
        };
        let rows = [trial("e", "a:"), trial("e", "b:"), trial("e", "a:")];
        assert_eq!(ways(&rows), ["axis.target"]);
        let others = [trial("e", "a:"), trial("f", "b:"), trial("e", "a:")];
        assert_eq!(ways(&others), Vec::<String>::new());
    }

    #[test]
    fn a_side_is_a_label_where_all_of_its_runs_were_ticked() {
        let rows = [run("a", "x", Some("1")), run("b", "x", Some("2")), run("c", "x", Some("1"))];
        let all = |label: (&str, &str)| if label.1 == "1" { 2 } else { 9 };
        assert_eq!(sides(&rows, "label.build", &all), ["build=1", "b"]);
        let more = |_: (&str, &str)| 9;
        assert_eq!(sides(&rows, "label.build", &more), ["a,c", "b"]);
        assert_eq!(sides(&rows, "name", &all), ["a,b,c"]);
    }
}
