//! `dbdyno check --against`: compares the answers of a workload's queries with those of a second
//! database.
//!
//! Not here: how answers are compared (app).

use std::sync::Arc;

use app::answers_compared::compare_answers;
use app::build::{BuildOptions, build_interruptible};
use app::open::{Data, Opened, has_all_tables, open_target, resolve_workload_interruptible};
use app::watcher::Watcher;
use app::{Error, Stop};
use clap::ArgMatches;
use model::{CheckResult, Target};
use plan::managed::is_managed;

use super::live::Live;
use super::no_data::no_data;
use super::{flags, password, script_words};
use crate::shell::Shell;

/// Opens the database that the command line names, and compares its answers with those of the
/// workload in `ours`. In a database in memory, which begins empty, the data are built first. Empty
/// if the command line names none.
pub(super) fn compare(
    ours: &Opened,
    matches: &ArgMatches,
    stop: &Arc<Stop>,
    live: &mut Live,
    shell: &Shell,
) -> Result<Vec<CheckResult>, Error> {
    let Some(url) = matches.get_one::<String>("against") else { return Ok(Vec::new()) };
    let bad = |why: String| Error::Usage(format!("--against: {why}"));
    let mut target = Target::parse(url).map_err(|no| bad(no.to_string()))?;
    if is_managed(&target) {
        return Err(bad("a managed server begins empty: name a database with data".to_owned()));
    }
    drivers::check(&target).map_err(|no| bad(no.to_string()))?;
    if target.user.is_some() {
        password::give(&mut target, matches, shell)?;
    }
    let is_new = drivers::is_in_memory(&target);
    let name = matches.get_one::<String>("workload").expect("clap requires it");
    let entry = workloads::by_name(name)?;
    let seed = flags::number(matches, "seed")?;
    // An empty database has no scale of its own.
    let parameters = match is_new {
        true => ours.data_parameters(),
        false => script_words::parameters(matches, entry)?,
    };
    let opened_target = open_target(&target, seed, is_new, stop, &mut |text| live.doing(text))?;
    let database = &opened_target.database;
    let theirs = resolve_workload_interruptible(database, &target, name, &parameters, seed, stop)?;
    match theirs.data {
        Data::Absent if is_new => {
            let options = BuildOptions::default();
            build_interruptible(&theirs, options, stop, &mut |far| live.building(far))?;
        }
        Data::Absent | Data::Unfinished => return Err(no_data(&target, name, theirs.data)),
        Data::None | Data::Unmarked | Data::Built => has_all_tables(&theirs, &target, stop)?,
    }
    compare_answers([ours, &theirs], stop, &mut |title| live.doing(&format!("comparing {title}")))
}

/// Returns lines for the answers that differ, and a line with the number of those that are equal;
/// empty if none were compared.
pub(super) fn text(results: &[CheckResult]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let differs = |result: &&CheckResult| result.n_failed > 0;
    let mut text = String::new();
    for CheckResult { id, title, n_failed, examples } in results.iter().filter(differs) {
        let more = *n_failed - examples.len() as u64;
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        text += &format!("DIFFERS {id:<10} answer: {title}: {}{more}\n", examples.join("; "));
    }
    let n_equal = results.len() - results.iter().filter(differs).count();
    text + &format!("{n_equal} of {} answers are equal in both databases\n", results.len())
}
