//! Helpers that run plans on real databases, each in its own database on a server that all tests
//! share.
//!
//! Not here: the tests.

use std::path::PathBuf;
use std::sync::Arc;

use analysis::Tally;
use analysis::report::Status;
use app::build::Progress;
use app::run::{RunOptions, RunResult, run};
use app::watcher::Watcher;
use app::{Error, Stop};
use model::{Event, Finding, Request, Severity, StatementKind, Target};
use plan::{decide, read_toml};
use servers::Server;

struct Nobody;

impl Watcher for Nobody {
    fn event(&mut self, _: &Event, _: &Tally) {}
    fn building(&mut self, _: &Progress) {}
    fn note(&mut self, _: &str) {}
    fn doing(&mut self, _: &str) {}
}

/// Creates a database on a server, and returns its target.
pub(crate) fn database(server: &Server, name: &str) -> Target {
    say(&server.target(), &format!("CREATE DATABASE {name}"));
    Target { path: name.to_owned(), ..server.target() }
}

pub(crate) fn say(target: &Target, sql: &str) {
    ask(target, sql);
}

/// Executes a statement on a target, and returns the number of rows that it returned.
pub(crate) fn ask(target: &Target, sql: &str) -> usize {
    let opened = app::open::open(target, 1, false).expect("opens");
    let clock = std::rc::Rc::new(engine::ThreadClock::unstopped());
    let place = model::Place { placement: model::Placement::Thread, clock, client: 0 };
    let session = engine::block_on(opened.connect(place, Arc::from(Vec::new())));
    let request = Request::Text { kind: StatementKind::Other, sql };
    let mut session = session.expect("connects");
    let mut n_rows = 0;
    let mut count = |_: &dyn model::Row| {
        n_rows += 1;
        Ok(())
    };
    engine::block_on(model::query(session.as_mut(), request, &mut count)).expect("accepted");
    n_rows
}

/// Runs one group until it has done this number of transactions, with checks afterwards.
pub(crate) fn drive(
    target: &Target,
    workload: &str,
    (clients, transactions): (u32, u64),
    parameters: &[(&str, &str)],
) -> Result<RunResult, Error> {
    drive_plan(target, &one_group(workload, (clients, transactions), parameters), None)
}

/// Returns the error of a run whose data fail the checks before the load.
pub(crate) fn refused_by_checks(
    target: &Target,
    workload: &str,
    parameters: &[(&str, &str)],
) -> Error {
    let plan = one_group(workload, (1, 1), parameters);
    let ran = run_plan(target, &plan, RunOptions { check_before: true, ..options(None) });
    ran.err().expect("the checks do not hold")
}

fn one_group(
    workload: &str,
    (clients, transactions): (u32, u64),
    parameters: &[(&str, &str)],
) -> String {
    let text = |(name, value): &(&str, &str)| format!("{name} = \"{value}\"");
    let parameters: Vec<String> = parameters.iter().map(text).collect();
    format!(
        "[phases]\nramp_up = \"0s\"\nmeasure = \"300s\"\n[[group]]\nworkload = \"{workload}\"\n\
         clients = {clients}\nuntil = \"{transactions} transactions\"\n\
         parameters = {{ {} }}\n",
        parameters.join(", ")
    )
}

/// Runs a plan in TOML without the checks before the load, and stores the run if `store` is given.
pub(crate) fn drive_plan(
    target: &Target,
    plan: &str,
    store: Option<PathBuf>,
) -> Result<RunResult, Error> {
    run_plan(target, plan, options(store))
}

fn options(store: Option<PathBuf>) -> RunOptions {
    RunOptions { check_after: true, build: true, ..RunOptions::on_data_as_they_are(store) }
}

fn run_plan(target: &Target, plan: &str, options: RunOptions) -> Result<RunResult, Error> {
    let draft = read_toml("plan.toml", plan).expect("a plan");
    let plan = decide(&draft, &|_| Ok(target.clone()))?;
    run(plan, options, &Arc::new(Stop::default()), &mut Nobody)
}

/// Runs one group as [`drive`] does, and panics unless all transactions are finished and the run is
/// valid.
pub(crate) fn drive_well(
    target: &Target,
    workload: &str,
    (clients, transactions): (u32, u64),
    parameters: &[(&str, &str)],
) -> RunResult {
    let ran = drive(target, workload, (clients, transactions), parameters);
    let ran = ran.unwrap_or_else(|trouble| panic!("{workload} on {target}: {trouble}"));
    let (block, findings) = (&ran.report.block, &ran.report.findings);
    let what = format!("{workload} on {target} with {clients} clients");
    // A count on a fast machine takes less than a second; the rate does not matter here.
    let of_length = ["too_short", "count_too_small"];
    let speaks_against =
        |one: &&Finding| one.severity == Severity::Invalid && !of_length.contains(&one.id.as_str());
    assert_eq!(findings.iter().find(speaks_against), None, "{what}");
    assert_eq!(ran.report.status, Status::Completed, "{what}");
    let counts = block.counts;
    assert_eq!((counts.failed, counts.unfinished), (0, 0), "{what}: {:?}", block.errors);
    assert_eq!(counts.finished, transactions, "{what}");
    ran
}
