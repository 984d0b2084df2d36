//! Primary metrics that are not rates: workloads compute them when the load is over.

use model::{Event, KindTotals};

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
