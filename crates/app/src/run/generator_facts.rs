//! Facts about the generator and its connections during the load. Not here: findings that follow
//! from these facts (analysis).

use analysis::Tally;
use engine::{Ran, Schedule, Share};
use model::{
    Database, Description, Fact, FactValue, GroupDescription, Load, NS_PER_S, Placement, Plan,
};
use monitor::Usage;

use crate::client_threads::ThreadUse;
use crate::connection_count::ConnectionCount;

/// Number of first arrivals that a fact lists: enough to show that the gaps between arrivals
/// differ.
const FIRST_ARRIVALS: usize = 20;

/// Returns a fact with the initial number of clients per host, to which clients are assigned in
/// turn; `None` with a single host.
pub(super) fn spread(plan: &Plan, database: &dyn Database) -> Option<Fact> {
    let hosts = database.hosts()?.list();
    let clients: u32 = plan.groups.iter().map(|group| group.clients).sum();
    let (n, all) = (hosts.len() as u32, hosts.iter().zip(0..));
    let shown = all.map(|(host, index): (_, u32)| {
        format!("{host} {}", clients / n + u32::from(index < clients % n))
    });
    let shown: Vec<String> = shown.collect();
    (n > 1).then(|| Fact::new("connection", "clients_per_host", shown.join(", ")))
}

/// Returns a fact for each open-load group with the times of its first arrivals over all processes,
/// in seconds from the start of the load.
pub(super) fn first_arrivals(plan: &Plan, description: &Description) -> Vec<Fact> {
    let of_group = |(index, group): (u16, &GroupDescription)| {
        let Load::Open { arrivals, rate, .. } = &group.load else { return None };
        let ramp_up_ns = plan.phases.ramp_up_ns;
        let mut schedule =
            Schedule::new(plan.seed, index, *arrivals, rate, ramp_up_ns, Share::whole());
        let next = |_| {
            let (_, instant_ns) = schedule.peek();
            schedule.advance();
            FactValue::seconds(instant_ns as f64 / NS_PER_S as f64, 6)
        };
        let instants = FactValue::list((0..FIRST_ARRIVALS).map(next));
        Some(Fact::new("arrivals", &format!("{}_first_s", group.name), instants))
    };
    (0..).zip(&description.groups).filter_map(of_group).collect()
}

/// Returns facts about the generator during the load: its pauses, threads, lost connections and
/// CPU. Empty in virtual time.
pub(super) fn facts_of(
    ran: &Ran,
    usage: &Usage,
    thread_use: &ThreadUse,
    tally: &Tally,
) -> Vec<Fact> {
    let mut list = Vec::new();
    let shown = tally.description.as_ref();
    if shown.is_some_and(|shown| shown.placement == Placement::Simulated) {
        // A run in virtual time has no facts about this machine.
        return list;
    }
    if ran.pauses.count > 0 {
        let seconds = |ns: f64| FactValue::seconds(ns / NS_PER_S as f64, 3);
        let longest_s = seconds(ran.pauses.longest_ns as f64);
        list.push(Fact::new("client", "pauses", ran.pauses.count));
        list.push(Fact::new("client", "longest_pause_s", longest_s));
        let at_s = seconds(ran.pauses.longest_at_ns as f64);
        list.push(Fact::new("client", "longest_pause_at_s", at_s));
    }
    if let Some(granted) = ran.granted {
        list.push(Fact::new("client", "timer_slack_1ns", granted.timer_slack));
        if let Some(is_granted) = granted.short_slice {
            list.push(Fact::new("client", "scheduling_slice_100us", is_granted));
        }
        list.push(Fact::new("client", "loops_pinned", granted.pinned));
        list.extend(granted.event_loop.map(|name| Fact::new("client", "event_loop", name)));
    }
    if ran.n_left_behind > 0 {
        list.push(Fact::new("client", "clients_abandoned", ran.n_left_behind));
    }
    list.extend(thread_use.facts());
    let share = run_delay_share_percent(thread_use, tally);
    let share = share.map(|percent| FactValue::percent(percent, 2));
    list.extend(share.map(|share| Fact::new("client", "run_delay_share_percent", share)));
    if ran.n_idle_losses > 0 {
        list.push(Fact::new("client", "idle_connections_lost", ran.n_idle_losses));
    }
    if let Some(why) = &ran.no_reply_lag {
        list.push(Fact::new("client", "no_reply_lag", why));
    }
    if !ran.waits_for_input
        && let Some(percent) = tally.outside_percent()
    {
        list.push(Fact::new("client", "outside_percent", FactValue::percent(percent, 2)));
    }
    if let Some(steal) = usage.steal_share {
        let percent = FactValue::percent(steal * 100.0, 2);
        list.push(Fact::new("machine", "steal_percent", percent));
    }
    if let Some(busy) = usage.system_busy_share {
        let percent = FactValue::percent(busy * 100.0, 1);
        list.push(Fact::new("machine", "busy_percent", percent));
    }
    list
}

/// Returns the time for which client threads were runnable without a CPU, in percent of all service
/// time. It is a lower bound, because late wake-ups while waiting for a transaction are lag, not
/// service, and all lag is subtracted. `None` if clients run on event loops.
fn run_delay_share_percent(thread_use: &ThreadUse, tally: &Tally) -> Option<f64> {
    let run_delay_ns = thread_use.run_delay_ns()? as f64;
    let groups: Vec<usize> = (0..tally.groups.len()).collect();
    let service_ns = analysis::tally::Sum::from_tally(tally, &groups).service.sum() as f64;
    let lags = tally.groups.iter().filter_map(|group| group.measured.lag.as_ref());
    let lag_ns: f64 = lags.map(|lag| lag.sum() as f64).sum();
    let share = (run_delay_ns - lag_ns).max(0.0) / service_ns;
    (service_ns > 0.0).then(|| share.min(1.0) * 100.0)
}

/// Returns facts about how long connecting took, and the number of connections according to dbdyno
/// and to the server.
pub(super) fn facts_of_connections(
    connected_ns: u64,
    connection_count: Option<ConnectionCount>,
    tally: &Tally,
) -> Vec<Fact> {
    let counted = connection_count.map(ConnectionCount::end).unwrap_or_default();
    let mut facts = Vec::new();
    if connected_ns > 0 {
        let seconds = FactValue::seconds(connected_ns as f64 / NS_PER_S as f64, 3);
        facts.push(Fact::new("client", "connecting_s", seconds));
    }
    if !counted.is_empty() {
        let ours: u32 = tally.groups.iter().map(|group| group.connected).sum();
        facts.push(Fact::new("connections", "ours", ours));
    }
    facts.extend(counted);
    facts
}
