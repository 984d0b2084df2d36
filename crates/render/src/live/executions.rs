//! Lines of the live view on clients that execute fixed sequences of transactions: each execution
//! as it ends. Not here: rates over time, which mean nothing there (live).

use analysis::tally::Tally;
use model::numbers;
use model::{Execution, NS_PER_S, format_count};

use super::{labelled, took};

/// Number of executions in the live view: the latest.
const SHOWN: usize = 8;

/// Describes executions that have just ended, each in a log line that begins with the time of its
/// end: `[ 12 s ] client 1  q9  2.31 s  (5 of 22)`. A failed one gives the class of its error.
pub fn ended(tally: &Tally, group: u16, executions: &[Execution]) -> Vec<String> {
    let line = |execution: &Execution| {
        let at = numbers::seconds((execution.ended_ns as f64 / NS_PER_S as f64).round());
        format!(
            "[ {at:>4} ] {}{}",
            described(tally, group, execution),
            place(tally, group, execution)
        )
    };
    executions.iter().map(line).collect()
}

/// Returns the lines of the live view on sequences: what has ended, and the latest executions.
pub(super) fn lines(tally: &Tally) -> Vec<String> {
    let groups = tally.groups.iter().zip(0u16..);
    let all = groups.flat_map(|(group, at)| group.executions.iter().map(move |one| (at, one)));
    let mut all: Vec<(u16, &Execution)> = all.collect();
    all.sort_by_key(|(_, execution)| execution.ended_ns);
    let failed = all.iter().filter(|(_, execution)| !execution.is_finished).count();
    let ended = format!(
        "{} finished, {} failed",
        format_count((all.len() - failed) as u64),
        format_count(failed as u64)
    );
    let latest = all.iter().skip(all.len().saturating_sub(SHOWN));
    let latest = latest.map(|(group, execution)| described(tally, *group, execution));
    labelled("total", [ended]).into_iter().chain(labelled("ended", latest)).collect()
}

/// Describes an execution: client (if there are several), transaction type, duration and failure.
fn described(tally: &Tally, group: u16, execution: &Execution) -> String {
    let of_group = tally.description(usize::from(group));
    let kinds = of_group.map_or(&[][..], |described| &described.kinds);
    let name = kinds.get(usize::from(execution.kind)).map_or("?", |kind| &kind.name);
    let several = tally.groups.len() > 1 || of_group.is_some_and(|group| group.clients > 1);
    let whose = match (several, tally.groups.len() > 1) {
        (false, _) => String::new(),
        (true, false) => format!("client {}  ", execution.client),
        (true, true) => {
            format!("{} {}  ", tally.name_of(usize::from(group)), execution.client)
        }
    };
    let took = took(execution.took_ns() as f64 / NS_PER_S as f64);
    let failed = match (execution.is_finished, execution.error) {
        (true, _) => String::new(),
        (false, None) => "  FAILED".to_owned(),
        (false, Some(error)) => format!("  FAILED: {}", error.name()),
    };
    format!("{whose}{name:<4}  {took}{failed}")
}

/// Says how many executions of all clients have ended: `  (5 of 22)`; empty if the number of all is
/// not known.
fn place(tally: &Tally, group: u16, execution: &Execution) -> String {
    let of_group = usize::from(group);
    let Some(all) = tally.description(of_group).and_then(|described| described.sequence) else {
        return String::new();
    };
    let until = &tally.groups[of_group].executions;
    let nth = until.iter().filter(|one| one.ended_ns <= execution.ended_ns).count();
    format!("  ({} of {})", format_count(nth as u64), format_count(all))
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use model::{DbErrorKind, Event};

    use super::*;

    /// Returns a tally of a fixed sequence of three transactions, of which the second failed.
    fn tally(clients: u32) -> Tally {
        let mut made = Made::closed();
        made.description.groups[0].sequence = Some(3);
        made.description.groups[0].clients = clients;
        let mut tally = made.tally();
        let s = NS_PER_S as i64;
        let one = |kind, started_s, ended_s, error| Execution {
            client: clients - 1,
            kind,
            started_ns: started_s * s,
            ended_ns: ended_s * s,
            is_finished: error,
            error: (!error).then_some(DbErrorKind::Timeout),
        };
        let executions = vec![one(1, 3, 12, false), one(0, 0, 3, true)];
        tally.add(&Event::Executions { group: 0, executions });
        tally
    }

    #[test]
    fn an_execution_has_a_line_as_it_ends() {
        let tally = tally(1);
        let executions = &tally.groups[0].executions;
        let told = ended(&tally, 0, executions);
        assert_eq!(
            told,
            [
                "[  3 s ] new_order  3 s  (1 of 3)",
                "[ 12 s ] payment  9 s  FAILED: timeout  (2 of 3)",
            ]
        );
        let all = crate::live::lines(&tally, 13 * NS_PER_S as i64, 80);
        assert_eq!(
            all[1..],
            [
                "total  1 finished, 1 failed",
                "ended  new_order  3 s",
                "       payment  9 s  FAILED: timeout"
            ]
        );
        assert!(all.iter().all(|line| !line.contains("TPS")), "{all:?}");
    }

    #[test]
    fn one_of_several_clients_is_named() {
        let tally = tally(2);
        let told = ended(&tally, 0, &tally.groups[0].executions[..1]);
        assert_eq!(told, ["[  3 s ] client 1  new_order  3 s  (1 of 3)"]);
    }
}
