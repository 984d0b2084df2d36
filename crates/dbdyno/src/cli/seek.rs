//! `dbdyno run` with something to seek, and what the store remembers of it.

use std::path::Path;

use analysis::SeekReport;
use app::seek::{Search, SeekResult, Use, forecast};
use app::watcher::Watcher;
use clap::ArgMatches;
use model::Experiment;
use plan::{Draft, decide_seek};
use render::{Style, as_json};

use super::live::Live;
use super::metrics::Metrics;
use super::run::own_target;
use super::{
    DONE, FAILED, INTERRUPTED, Outcome, experiments, flags, password, print, print_document, runs,
};

/// Runs a draft that seeks something.
pub(crate) fn run(draft: &Draft, matches: &ArgMatches) -> Outcome {
    experiments::is_kept(matches)?;
    let sought = decide_seek(draft, &own_target)?;
    let note = sought.note();
    let search = Search::new(sought, runs::labels(matches)?, &own_target)?;
    make(search, matches, true, note.as_deref())
}

/// Goes on with a stored search.
pub(crate) fn resume(
    store: &Path,
    experiment: Experiment,
    named: Option<&Draft>,
    matches: &ArgMatches,
) -> Outcome {
    make(Search::stored(store, experiment, Use::ToGoOn(named))?, matches, false, None)
}

fn make(mut search: Search, matches: &ArgMatches, is_new: bool, note: Option<&str>) -> Outcome {
    password::give(search.target(), matches)?;
    let options = experiments::options(matches)?;
    let stop = super::stop_on_signals();
    let mut live = Live::new(matches.get_flag("quiet")).telling(Metrics::begin(matches)?);
    note.into_iter().for_each(|note| live.note(note));
    live.note(&forecast(&search));
    let result = search.run(is_new, &options, &stop, &mut live);
    live.end();
    let SeekResult { report, is_good, is_interrupted } = result?;
    told(&report, matches)?;
    live.linger(&stop);
    Ok(match (is_interrupted, is_good) {
        (true, _) => {
            let id = &report.id;
            super::say(&format!("interrupted; go on with: dbdyno experiments resume {id}"));
            INTERRUPTED
        }
        (false, true) => DONE,
        (false, false) => FAILED,
    })
}

/// Prints a search as it is asked for.
pub(crate) fn told(report: &SeekReport, matches: &ArgMatches) -> Outcome {
    match flags::is_json(matches) {
        true => print(&as_json(report)),
        false => print_document(&render::seek(report), &Style::default(), matches),
    }
}
