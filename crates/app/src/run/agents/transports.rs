//! The available transports: pipes, one that a program adds, and that of hosts which were chosen
//! for a run. Not here: the trait (link).

use std::sync::OnceLock;

use model::{Host, Plan, Target};

use super::link::{AgentHost, Hosts, Transport};
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
}

impl Processes {
    /// Chooses the hosts of a run's processes. Fails if the plan names agents that are not there,
    /// or that cannot reach its target.
    pub(crate) fn choose(plan: &Plan, hosts: Option<&dyn Hosts>) -> Result<Processes, Error> {
        if plan.agents.is_empty() {
            return Ok(Processes { hosts: Vec::new(), chosen: None });
        }
        let none = "agents: this dbdyno has no connection to other hosts: it was built without the \
                    feature 'agents'";
        let hosts = hosts.ok_or_else(|| Error::Usage(none.to_owned()))?;
        let chosen = hosts.choose(&plan.agents)?;
        if let Some(far) = chosen.hosts.iter().find(|host| !host.is_here) {
            let beside = plan.groups.iter().filter_map(|group| group.target_beside(&plan.target));
            for target in std::iter::once(plan.target.clone()).chain(beside) {
                may_reach(far, &target)?;
            }
        }
        Ok(Processes { hosts: chosen.hosts, chosen: Some(chosen.transport) })
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
