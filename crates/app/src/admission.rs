//! Decides before a run whether all its clients can be served: chooses their placement, and checks
//! limits of this process, the machine and the server.
//!
//! Not here: the placements themselves (engine).

use model::{
    EventLoopChoice, Fact, Group, Load, Placement, PlacementChoice, Plan, Sent, format_count,
    numbers,
};
use plan::disagreement;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::Error;
use crate::open::{Data, Opened};

/// Largest number of clients with scheduled transactions (open load, or keying and thinking times)
/// for which `auto` chooses threads: the kernel wakes each thread in time, independent of others.
/// `selfcheck` measures where event loops become better on a machine.
const THREADS_MOST: u32 = 512;
/// Largest number of closed-load clients for which `auto` chooses threads, on a server with a
/// thread per client. Above it, event loops reach the same rate with less CPU time
/// (docs/explanation/placement.md).
const CLOSED_THREADS_MOST: u32 = 256;
/// Largest number of client threads, above which a run is rejected: each takes three of the 65,530
/// memory mappings that Linux allows a process by default.
const THREADS_LIMIT: u32 = 16_000;
/// File descriptors that a run needs in addition to one per client: for store, checks, monitor and
/// server.
const DESCRIPTORS_BESIDE: u64 = 32;

/// Raises the limit of open files to the hard limit. Fails if even that is too low for the clients
/// of `plan`, before any client connects.
pub(crate) fn has_descriptors(plan: &Plan) -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    // A database in memory needs no descriptors.
    if drivers::of_target(&plan.target)
        .is_some_and(|entry| !entry.product.administration.keeps_data)
    {
        return Ok(());
    }
    let clients: u64 = plan.groups.iter().map(|group| u64::from(group.clients)).sum();
    let needed = clients + DESCRIPTORS_BESIDE;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed => Err(Error::Usage(format!(
            "{clients} clients need {needed} open files, and the limit is {limit}: raise it \
             (ulimit -n {needed}), or use fewer clients; a proxy on this host needs two more for \
             each client"
        ))),
        _ => Ok(()),
    }
}

/// Fails if `plan` asks for event loops with `io_uring`, and the kernel forbids that to this
/// process.
pub(crate) fn has_io_uring(plan: &Plan) -> Result<(), Error> {
    use PlacementChoice::{Auto, Fixed};
    let has_loops = matches!(plan.placement, Auto | Fixed(Placement::Loop));
    if plan.event_loop != EventLoopChoice::IoUring || !has_loops {
        return Ok(());
    }
    engine::probe_io_uring().map_err(|error| {
        Error::Usage(format!(
            "event_loop: the kernel refuses io_uring ({error}), as in most containers and before \
             Linux 6.1: leave the option out to use epoll there"
        ))
    })
}

/// Fails if the memory that all workloads together may allocate in this process during a run
/// exceeds the memory of this machine.
pub(crate) fn has_memory(groups: &[Opened]) -> Result<(), Error> {
    let of_group = |opened: &Opened| opened.workload.memory_bytes();
    let asked = groups.iter().map(of_group).fold(0, u64::saturating_add);
    let machine = rustix::system::sysinfo();
    let total = machine.totalram.saturating_mul(machine.mem_unit.into());
    if asked <= total {
        return Ok(());
    }
    let names: Vec<String> = groups
        .iter()
        .filter(|opened| of_group(opened) > 0)
        .map(|opened| opened.workload.identity().workload)
        .collect();
    Err(Error::Usage(format!(
        "the pools of {} may take {}, and this machine has {} of memory: make them smaller",
        names.join(" and "),
        numbers::bytes(asked),
        numbers::bytes(total)
    )))
}

/// Smallest number of statements that each client must be able to keep prepared, so that it does
/// not close one that it needs in the same transaction.
const STATEMENTS_LEAST: u64 = 64;

/// Number of statements that each client's session keeps prepared, and why it is not all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementsKept {
    /// Number of statements, to be given to [`model::Database::keep_statements`].
    pub(crate) most: usize,
    /// Sentence for the user; `None` if every session can keep all statements of its workload.
    pub(crate) note: Option<String>,
}

/// Decides how many statements each session keeps prepared, so that all clients together stay
/// within the limit that the server has according to `facts`. Fails if these are too few.
pub(crate) fn statements_kept(
    plan: &Plan,
    groups: &[Opened],
    facts: &[Fact],
) -> Result<StatementsKept, Error> {
    let unlimited = StatementsKept { most: drivers::STATEMENTS_KEPT, note: None };
    let Some(first) = groups.first() else { return Ok(unlimited) };
    let limit = (first.database.administration().statement_limit)(facts);
    let n_hosts = first.database.hosts().map_or(1, |hosts| hosts.list().len().max(1)) as u64;
    let of_group = |(group, opened): (&Group, &Opened)| {
        let all = opened.workload.statements(opened.database.dialect());
        let prepared = all.iter().filter(|statement| statement.sent == Sent::Prepared);
        (u64::from(group.clients).div_ceil(n_hosts), prepared.count() as u64)
    };
    let sessions: Vec<(u64, u64)> = plan.groups.iter().zip(groups).map(of_group).collect();
    let is_text = facts.iter().any(|fact| {
        let value = fact.value.to_string();
        fact.name == "statements" && ["text", "simple", "unnamed"].contains(&value.as_str())
    });
    match is_text {
        true => Ok(unlimited),
        false => kept_within(limit, &sessions).map_err(Error::Usage),
    }
}

/// Decides how many statements each session keeps prepared. `limit` is the server's setting that
/// limits their sum, with its value; `sessions` has the number of sessions of each group and of
/// the statements that each may prepare.
fn kept_within(
    limit: Option<(&str, u64)>,
    sessions: &[(u64, u64)],
) -> Result<StatementsKept, String> {
    let n_most = sessions.iter().map(|(_, n_statements)| *n_statements).max().unwrap_or(0);
    let remedy = "raise it, use fewer clients or tables, or put ?statements=text into the target's \
                  URL";
    let (most, why) = match limit {
        None => {
            let most = drivers::STATEMENTS_KEPT as u64;
            (most, "to save memory".to_owned())
        }
        Some((setting, limit)) => {
            let needed: u64 = sessions.iter().map(|(n, n_statements)| n * n_statements).sum();
            let n_sessions = sessions.iter().map(|(n, _)| *n).sum::<u64>().max(1);
            // Other sessions of the server prepare statements too.
            let share = (limit - limit / 16) / n_sessions;
            let fits = needed <= limit;
            if !fits && share < STATEMENTS_LEAST {
                return Err(format!(
                    "the clients prepare up to {} statements, and the server keeps {} ({setting}): \
                     {remedy}",
                    format_count(needed),
                    format_count(limit)
                ));
            }
            let most = if fits { share.max(n_most) } else { share };
            (most, format!("since the server keeps {} ({setting}): {remedy}", format_count(limit)))
        }
    };
    let note = (n_most > most).then(|| {
        format!(
            "each client keeps {} of its {} statements prepared, and closes the one that it has \
             used least recently, {why}",
            format_count(most),
            format_count(n_most)
        )
    });
    Ok(StatementsKept { most: most as usize, note })
}

/// Fails if groups that share a workload's data, which are still to be built, ask for different
/// scales.
pub(crate) fn agree_on_data(plan: &Plan, groups: &[Opened]) -> Result<(), Error> {
    let all: Vec<_> = plan.groups.iter().zip(groups).collect();
    for (index, (group, opened)) in all.iter().enumerate() {
        let identity = opened.workload.identity();
        let is_missing = matches!(opened.data, Data::Absent | Data::Unfinished);
        let before = all[..index].iter().filter(|_| is_missing);
        for (other, first) in before {
            let held = first.workload.identity();
            if held.workload != identity.workload {
                continue;
            }
            let given = identity.scale.iter().filter(|(name, _)| opened.settings.is_given(name));
            for (name, value) in given {
                if let Some(built) = held.scale_of(name).filter(|built| *built != value) {
                    let groups = [other.name.as_str(), group.name.as_str()];
                    return Err(Error::Usage(disagreement(groups, name, [&built, value])));
                }
            }
        }
    }
    Ok(())
}

/// Chooses the placement of all clients: the one of the plan, or that of `auto`. Fails if the
/// driver or a workload does not support it.
///
/// The rule of `auto` follows from measurements (docs/explanation/placement.md). Scheduled clients
/// belong on threads, since the kernel wakes each in time even if others are busy. Closed-load
/// clients belong on threads if the server has a thread per client, and on event loops if it has a
/// process per client, or if that is unknown.
pub(crate) fn place(plan: &Plan, groups: &[Opened]) -> Result<Placement, Error> {
    let n_clients = n_clients(plan);
    let can = |placement| can_live(plan, groups, placement);
    match plan.placement {
        PlacementChoice::Fixed(placement) => can(placement),
        // Threads have no event loop.
        PlacementChoice::Auto if plan.event_loop != EventLoopChoice::Auto => can(Placement::Loop),
        PlacementChoice::Auto => {
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
            let is_closed = plan.groups.iter().all(|group| group.load == Load::Closed);
            let has_threads =
                groups.iter().all(|opened| opened.database.administration().thread_per_session);
            match preferred(n_clients, is_closed, has_threads, cores) {
                Placement::Thread => can(Placement::Thread).or_else(|_| can(Placement::Loop)),
                _ => can(Placement::Loop).or_else(|_| can(Placement::Thread)),
            }
        }
    }
}

/// Returns `placement` if the driver and the workloads of all groups support it for this number of
/// clients, or else an error that says why not.
pub(crate) fn can_live(
    plan: &Plan,
    groups: &[Opened],
    placement: Placement,
) -> Result<Placement, Error> {
    let n_clients = n_clients(plan);
    if placement == Placement::Thread && n_clients > THREADS_LIMIT {
        return Err(Error::Usage(format!(
            "{n_clients} clients are more threads than a process can have: use at most \
             {THREADS_LIMIT}, or event loops if the driver supports them (--placement loop)"
        )));
    }
    let refuses = |opened: &&Opened| {
        !opened.workload.places().has(placement) || !opened.database.places().has(placement)
    };
    match groups.iter().find(refuses) {
        None => Ok(placement),
        Some(opened) => {
            let (what, name) = if opened.workload.places().has(placement) {
                ("the driver", opened.database.dialect().name.to_owned())
            } else {
                ("the workload", opened.workload.identity().workload)
            };
            let placement = placement.name();
            let why = format!("{what} {name} does not support placement '{placement}'");
            Err(Error::Usage(format!("{why}: leave --placement out")))
        }
    }
}

fn n_clients(plan: &Plan) -> u32 {
    plan.groups.iter().map(|group| group.clients).sum()
}

/// Fails if `plan` divides its clients over several processes although the database does not allow
/// that.
pub(crate) fn may_be_divided(plan: &Plan, groups: &[Opened]) -> Result<(), Error> {
    if plan.groups.iter().all(|group| group.processes == 0) {
        return Ok(());
    }
    let flag = if plan.agents.is_empty() { "processes" } else { "agents" };
    let refused = groups.iter().find_map(|opened| opened.database.refuses_processes());
    match refused {
        Some(why) => Err(Error::Usage(format!("{flag}: {why}"))),
        None => Ok(()),
    }
}

/// Returns the placement (threads or event loops) of `n_clients` clients that `auto` tries first,
/// on a machine with `cores` cores. `is_closed` says that all load is closed, `has_threads` that
/// the server has a thread per client.
fn preferred(n_clients: u32, is_closed: bool, has_threads: bool, cores: u32) -> Placement {
    let most = match (is_closed, has_threads) {
        (false, _) => THREADS_MOST,
        (true, true) => CLOSED_THREADS_MOST.max(cores),
        (true, false) => cores,
    };
    if n_clients <= most { Placement::Thread } else { Placement::Loop }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sessions_together_stay_within_the_server_s_limit() {
        let kept = |limit, sessions: &[(u64, u64)]| {
            kept_within(Some(("max_prepared_stmt_count", limit)), sessions)
        };
        // All fit, even if a session has more than its share.
        assert_eq!(kept(100, &[(1, 90), (10, 1)]), Ok(StatementsKept { most: 90, note: None }));
        assert_eq!(kept(16_382, &[(8, 9)]), Ok(StatementsKept { most: 1_919, note: None }));
        let bounded = kept(16_382, &[(8, 450_000)]).expect("possible");
        assert_eq!(bounded.most, 1_919);
        let note = bounded.note.expect("a note");
        assert!(note.starts_with("each client keeps 1,919 of its 450,000 statements"), "{note}");
        assert!(note.contains("max_prepared_stmt_count"), "{note}");
        let no = kept(16_382, &[(1_000, 90)]).expect_err("16 for each client are too few");
        assert!(no.contains("up to 90,000 statements") && no.contains("statements=text"), "{no}");
        // Scripts prepare what they like.
        assert_eq!(kept(16_382, &[(1_000, 0)]).expect("possible").most, 15);
        let kept = kept_within(None, &[(8, 450_000)]).expect("possible");
        assert_eq!(kept.most, drivers::STATEMENTS_KEPT);
        assert!(kept.note.expect("a note").contains("to save memory"));
    }

    #[test]
    fn auto_follows_the_table_of_the_documentation() {
        let model = |n, is_closed, has_threads| preferred(n, is_closed, has_threads, 8).name();
        for (is_closed, has_threads, threads_most) in
            [(true, false, 8), (true, true, 256), (false, false, 512), (false, true, 512)]
        {
            assert_eq!(model(threads_most, is_closed, has_threads), "thread");
            assert_eq!(model(threads_most + 1, is_closed, has_threads), "loop");
        }
    }
}
