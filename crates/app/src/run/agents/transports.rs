//! The available transports: pipes, one that a program adds, and that of hosts which were chosen
//! for a run. Not here: the trait (link).

use std::io;
use std::sync::OnceLock;

use model::{Host, Plan, Target};

use super::link::{AgentHost, Chosen, Hosts, Link, Peer, Transport};
use super::permissions::Work;
use super::pipe::PIPES;
use crate::error::Error;

/// Transport added by a program that links dbdyno, used instead of pipes.
static ADDED: OnceLock<&'static dyn Transport> = OnceLock::new();

/// Makes all client processes use this transport instead of pipes. Call it once, before any run;
/// panics at a second call.
pub fn add_transport(transport: &'static dyn Transport) {
    assert!(ADDED.set(transport).is_ok(), "a transport is added once");
}

/// How the client processes of a run are started.
pub(crate) struct Processes {
    /// Hosts of the processes, in their order; empty if all are on this host.
    pub(super) hosts: Vec<AgentHost>,
    /// Transport of those hosts; `None` for processes on this host.
    chosen: Option<Box<dyn Transport>>,
    /// Hosts that are monitored by their agents.
    pub(super) monitors: Vec<AgentHost>,
    /// Transport of these agents; `None` without any.
    to_monitors: Option<Box<dyn Transport>>,
}

impl Processes {
    /// Chooses the hosts of a run's processes. Fails if the plan names agents that are not there,
    /// or that cannot reach its target.
    pub(crate) fn choose(plan: &Plan, hosts: Option<&dyn Hosts>) -> Result<Processes, Error> {
        let (hosts_of, monitors_of) = (&plan.agents, &plan.monitor_agents);
        if hosts_of.is_empty() && monitors_of.is_empty() {
            let (hosts, monitors) = (Vec::new(), Vec::new());
            return Ok(Processes { hosts, chosen: None, monitors, to_monitors: None });
        }
        let none = "agents: this dbdyno has no connection to other hosts: it was built without the \
                    feature 'agents'";
        let hosts = hosts.ok_or_else(|| Error::Usage(none.to_owned()))?;
        let choose = |is_any: bool, choose: &dyn Fn() -> Result<Chosen, Error>| match is_any {
            true => choose().map(|chosen| (chosen.hosts, Some(chosen.transport))),
            false => Ok((Vec::new(), None)),
        };
        let (monitors, to_monitors) =
            choose(!monitors_of.is_empty(), &|| hosts.choose_named(monitors_of, Work::Monitor))?;
        let (hosts, chosen) = choose(!hosts_of.is_empty(), &|| {
            hosts.choose(hosts_of, &|permissions| permissions.check_servers(plan))
        })?;
        if let Some(far) = hosts.iter().find(|host| !host.is_here) {
            plan.targets().try_for_each(|target| may_reach(far, &target))?;
        }
        Ok(Processes { hosts, chosen, monitors, to_monitors })
    }

    /// Starts the process that monitors host `number`, counted from 1.
    pub(super) fn start_monitor(&self, number: u32) -> io::Result<(Link, Box<dyn Peer>)> {
        let none = || io::Error::other("no agent was chosen for it");
        self.to_monitors.as_ref().ok_or_else(none)?.start(number)
    }

    pub(super) fn transport(&self) -> &dyn Transport {
        match &self.chosen {
            Some(chosen) => chosen.as_ref(),
            None => ADDED.get().copied().unwrap_or(&PIPES),
        }
    }
}

/// Fails if a target is obviously one of this host alone, which an agent elsewhere would look for
/// on its own host.
fn may_reach(agent: &AgentHost, target: &Target) -> Result<(), Error> {
    let is_here = drivers::of_target(target).is_some_and(|entry| {
        let is_elsewhere = (entry.is_over_network)(target)
            && !target.hosts.is_empty()
            && !target.hosts.iter().any(Host::is_here);
        entry.product.administration.keeps_data && !is_elsewhere
    });
    match is_here {
        true => Err(Error::Usage(format!(
            "agents: {target} is on this host, and the agent {} on {}: name the server by an \
             address that both reach",
            agent.name, agent.machine
        ))),
        false => Ok(()),
    }
}

/// Returns the transport with this name, given on the command line of a client process; `None` if
/// there is none.
pub(super) fn transport_named(name: &str) -> Option<&'static dyn Transport> {
    let all = ADDED.get().copied().into_iter().chain([&PIPES as &dyn Transport]);
    all.into_iter().find(|transport| transport.name() == name)
}
