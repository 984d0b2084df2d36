//! What workloads know when the load is over: primary metrics that are not rates, and where scripts
//! were cut off.

use model::{CUT_OFF_AT, Event, Fact, KindTotals, format_count};

use super::RunSink;
use crate::open::Opened;

/// Lets each group's workload compute its primary metrics from the totals of its transaction types,
/// and reports the results.
pub(super) fn compute(groups: &[Opened], sink: &mut RunSink<'_>) {
    for (index, opened) in groups.iter().enumerate() {
        let mut kinds = vec![KindTotals::default(); opened.workload.kinds().len()];
        let of_group = sink.tally.groups.get(index);
        for one in of_group.map_or(&[][..], |group| &group.clients) {
            kinds[usize::from(one.kind)].add(KindTotals {
                finished: one.count,
                failed: one.failed,
                min_ns: one.min_ns,
                max_ns: one.max_ns,
                sum_ns: one.sum_ns,
            });
        }
        let executions = of_group.map_or(&[][..], |group| &group.executions);
        let figures = opened.workload.computed(&kinds, executions);
        if !figures.is_empty() {
            sink.tell(Event::Computed { group: index as u16, figures });
        }
    }
}

/// Reports which lines of scripts clients were executing when the run ended and cut off their
/// transactions.
pub(super) fn tell_cut_off(groups: &[Opened], sink: &mut RunSink<'_>) {
    let names: Vec<String> = sink
        .tally
        .description
        .iter()
        .flat_map(|described| described.groups.iter().map(|group| group.name.clone()))
        .collect();
    for (index, opened) in groups.iter().enumerate() {
        let script = opened.workload.script();
        let places = script.map_or_else(Vec::new, |script| script.cut_off_at());
        let Some(described) = sink.tally.description(index).filter(|_| !places.is_empty()) else {
            continue;
        };
        let name = match names.len() {
            1 => CUT_OFF_AT.to_owned(),
            _ => format!("{}.{CUT_OFF_AT}", described.name),
        };
        let fact = Fact::new(&described.workload, &name, in_words(&places));
        sink.tell(Event::Fact(fact));
    }
}

/// Most lines of a script that are listed.
const PLACES_MOST: usize = 3;

/// Lists lines with their numbers of clients: `bank.sql:7 (3 clients), bank.sql:9 (1 client)`.
fn in_words(places: &[(String, u64)]) -> String {
    let one = |(place, n): &(String, u64)| {
        let s = if *n == 1 { "" } else { "s" };
        format!("{place} ({} client{s})", format_count(*n))
    };
    let mut words: Vec<String> = places.iter().take(PLACES_MOST).map(one).collect();
    if places.len() > PLACES_MOST {
        words.push("elsewhere".to_owned());
    }
    words.join(", ")
}
