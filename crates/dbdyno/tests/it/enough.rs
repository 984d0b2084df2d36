//! Runs that end when they have shown enough: they are planned to last far longer, so that no test
//! depends on how much a machine does in a given time.

use serde_json::Value;

use crate::home::{Home, at, number, number_in};
use crate::journey::nothing_is_lost;
use crate::waiting::Started;

const INTERRUPTED: i32 = 130;

/// Lets the only run of a store go on until its report so far has enough, and interrupts it.
/// Returns its whole report.
#[track_caller]
pub(crate) fn report_once(
    home: &Home,
    mut run: Started,
    what: &str,
    is_enough: impl Fn(&Value) -> bool,
) -> Value {
    wait_for_report(home, &mut run, what, is_enough);
    run.interrupt();
    let report = run.end().code(INTERRUPTED).json();
    nothing_is_lost(&report);
    report
}

/// Waits until the report so far of the only run of a store has enough. It is read again whenever
/// the store has more of the run.
#[track_caller]
pub(crate) fn wait_for_report(
    home: &Home,
    run: &mut Started,
    what: &str,
    is_enough: impl Fn(&Value) -> bool,
) {
    let (store, mut n_seen) = (home.store(), None);
    run.wait_until(what, |_| {
        let n_events = number_in(&store, "SELECT count(*) FROM second");
        if n_events == n_seen {
            return false;
        }
        n_seen = n_events;
        let shown = home.call(&["runs", "show", "last", "--output=json"]);
        shown.code == Some(0) && is_enough(&shown.json())
    });
}

/// Commits in the whole seconds between two instants of the measured phase.
pub(crate) fn commits(report: &Value, from_s: f64, to_s: f64) -> f64 {
    let seconds = at(report, "seconds").as_array().expect("a list").iter();
    let within = |second: &&Value| {
        let begins_s = number(second, "second");
        begins_s >= from_s && begins_s + 1.0 <= to_s
    };
    seconds.filter(within).map(|second| number(second, "commits")).sum()
}

/// When the disturbance of this name ended, in seconds of the measured phase; none before.
pub(crate) fn ended_s(report: &Value, name: &str) -> Option<f64> {
    let all = report["disturbances"].as_array()?;
    all.iter().find(|one| one["name"] == name)?["ended_s"].as_f64()
}

/// Whether something was committed in a whole second after the disturbance of this name.
pub(crate) fn went_on_after(report: &Value, name: &str) -> bool {
    ended_s(report, name).is_some_and(|ended_s| commits(report, ended_s, f64::INFINITY) > 0.0)
}
