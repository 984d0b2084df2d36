//! Ends long runs as soon as they have shown enough, so that no test depends on the work of a
//! machine in a given time.

use serde_json::Value;

use crate::home::{Home, at, number, number_in};
use crate::journey::nothing_is_lost;
use crate::waiting::Started;

const INTERRUPTED: i32 = 130;

/// Waits until `is_enough` holds for the report so far of the only run in a store, then interrupts
/// the run. Returns its final report.
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

/// Waits until `is_enough` holds for the report so far of the only run in a store. Reads the report
/// again whenever the store has more of the run.
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

/// Returns the number of commits in the whole seconds between two instants of the measured phase.
pub(crate) fn commits(report: &Value, from_s: f64, to_s: f64) -> f64 {
    let seconds = at(report, "seconds").as_array().expect("a list").iter();
    let within = |second: &&Value| {
        let begins_s = number(second, "second");
        begins_s >= from_s && begins_s + 1.0 <= to_s
    };
    seconds.filter(within).map(|second| number(second, "commits")).sum()
}

/// Returns the time at which the disturbance of this name ended, in seconds of the measured phase;
/// `None` if it has not ended.
pub(crate) fn ended_s(report: &Value, name: &str) -> Option<f64> {
    let all = report["disturbances"].as_array()?;
    all.iter().find(|one| one["name"] == name)?["ended_s"].as_f64()
}

/// Returns true if a transaction was committed in a whole second after the end of this disturbance.
pub(crate) fn went_on_after(report: &Value, name: &str) -> bool {
    ended_s(report, name).is_some_and(|ended_s| commits(report, ended_s, f64::INFINITY) > 0.0)
}
