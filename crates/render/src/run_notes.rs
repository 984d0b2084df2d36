//! Notes of several runs on one page, each once, with the runs that have it.
//!
//! Not here: notes of a single run (run), and warnings (comparison, experiment).

use analysis::report::Named;
use model::numbers::count;
use study::highest;
use study::in_ranges;
use study::trials::RunNote;

use super::wording::{catalog_place, without_stop};

/// Runs that a page shows together, such as those of a side of a comparison.
pub(crate) struct Runs<'r> {
    pub name: &'r str,
    pub n_runs: u64,
    pub notes: &'r Named<RunNote>,
}

/// Returns a sentence for each note of the runs, in the order of the catalog of findings, with the
/// runs that have it, unless all have: `... (in 5 of 5 runs of old, 2 of 5 of new).`
pub(crate) fn run_notes(all: &[Runs<'_>]) -> Vec<String> {
    let mut ids: Vec<&str> = Vec::new();
    for (id, _) in all.iter().flat_map(|runs| runs.notes.iter()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids.sort_by_key(|id| catalog_place(id));
    ids.into_iter().filter_map(|id| sentence(id, all)).collect()
}

fn sentence(id: &str, all: &[Runs<'_>]) -> Option<String> {
    let texts = || all.iter().filter_map(|runs| Some(runs.notes.get(id)?.text.as_str()));
    let text = in_ranges(texts()).or_else(|| highest(texts()).map(str::to_owned))?;
    let n_with = |runs: &Runs<'_>| runs.notes.get(id).map_or(0, |note| note.runs);
    if all.iter().all(|runs| n_with(runs) == runs.n_runs) {
        return Some(text);
    }
    let with = all.iter().filter(|runs| n_with(runs) > 0).map(|runs| match runs.name {
        "" => format!("{} of {}", n_with(runs), count(runs.n_runs, "run")),
        name => format!("{} of {} of {name}", n_with(runs), count(runs.n_runs, "run")),
    });
    let with: Vec<String> = with.collect();
    // A list of many points would hide the note.
    let with = match with.len() > NAMED_MOST {
        true => format!(
            "{} of {}",
            all.iter().map(n_with).sum::<u64>(),
            count(all.iter().map(|runs| runs.n_runs).sum(), "run")
        ),
        false => with.join(", "),
    };
    Some(format!("{} (in {with}).", without_stop(&text)))
}

/// Largest number of groups of runs that a note names.
const NAMED_MOST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_there_once_with_the_runs_that_have_it() {
        let note = |runs, text: &str| RunNote { runs, text: text.to_owned() };
        let host = "Generator and server share one host.";
        let short = |s: u64| format!("{s} s were measured.");
        let old = Named(vec![
            ("short".to_owned(), note(2, &short(3))),
            ("same_host".to_owned(), note(5, host)),
        ]);
        let new = Named(vec![
            ("same_host".to_owned(), note(5, host)),
            ("short".to_owned(), note(1, &short(4))),
        ]);
        let runs = |name, notes| Runs { name, n_runs: 5, notes };
        let of_short = "3 to 4 s were measured (in 2 of 5 runs of old, 1 of 5 runs of new).";
        let mut found = run_notes(&[runs("old", &old), runs("new", &new)]);
        found.sort();
        assert_eq!(found, [of_short, host]);
        let none = Named::default();
        let found = run_notes(&[runs("old", &none), runs("new", &new)]);
        assert!(found.contains(&format!("{} (in 5 of 5 runs of new).", without_stop(host))));
    }
}
