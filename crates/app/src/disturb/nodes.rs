//! Runs disturbances that act on a managed server or a node of a cluster (kill, stop, start, pause,
//! join), or change the list of hosts that clients use.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::{Disturbed, Host, Hosts, HostsChange, ServerAction, Which, format_count};
use monitor::{PhaseSignal, Woken, wall_clock};
use servers::{ServerControl, ServerError};

use super::limit::cut_off_by_end;
use super::worker::{Came, Worker, failed};
use crate::managed::Managed;

/// Time that clients have to end their transactions on a host that a disturbance has removed from
/// the hosts in use, before their connections are cut off.
const FAREWELL: Duration = Duration::from_secs(1);
/// Interval of checks whether all clients have left a host that a disturbance has removed from the
/// hosts in use.
const LOOK_EVERY: Duration = Duration::from_millis(10);

impl Worker {
    /// Locks the managed server, and runs an action on it, so that no other disturbance acts on the
    /// server meanwhile. An error becomes a failed outcome.
    pub(super) fn handle(
        &self,
        action: &dyn Fn(&mut Managed) -> Result<Came, ServerError>,
    ) -> Came {
        let Some(server) = &self.server else { return failed("there is no managed server") };
        // Only one action at a time, so a kill waits for the end of a pause.
        let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(managed) = server.as_mut() else { return failed("the load is over") };
        self.signal.count_server_action();
        let came = action(managed);
        self.signal.count_server_action();
        came.unwrap_or_else(|error| failed(error.to_string()))
    }

    /// Restarts, kills, pauses, stops or starts a node, numbered from 1; a single server is node 1.
    /// If the action starts the node, moves clients back to it. Returns the outcome, and a text
    /// about moved clients.
    pub(super) fn act(
        &self,
        managed: &mut Managed,
        number: u32,
        action: ServerAction,
    ) -> Result<Came, ServerError> {
        let node = number as usize - 1;
        let wait = |until| self.signal.wait(Some(until), &|| false);
        Ok(match act_on(managed.control(), node, action, &wait)? {
            Acted::Done => (Disturbed::Done, String::new()),
            Acted::Started => (Disturbed::Done, self.call_back(node)),
            Acted::CutOff => (cut_off_by_end(), String::new()),
            Acted::Impossible(why) => failed(why),
        })
    }

    /// Moves clients back to a node that is running again, if it is one of several hosts that
    /// clients use. Returns a sentence about it; empty if no client is moved.
    fn call_back(&self, index: usize) -> String {
        let node = self.nodes().get(index).cloned();
        let (Some(hosts), Some(host)) = (self.database.hosts(), node) else {
            return String::new();
        };
        let is_used = hosts.list().len() > 1 && hosts.list().contains(&host);
        // The host is known already, so adding it needs no look-up and no room.
        match is_used.then(|| hosts.add(&host)) {
            Some(Ok(n_clients)) => format!("returning clients: {}", count(n_clients)),
            _ => String::new(),
        }
    }

    /// Adds a node to the cluster and moves a share of the clients to it. Returns the outcome, with
    /// a text such as `node 4 has joined; moving clients: 8`.
    pub(super) fn join(&self, managed: &mut Managed) -> Result<Came, ServerError> {
        let number = managed.control().join()? + 1;
        self.nodes().clone_from(&managed.hosts());
        let hosts = self.database.hosts().zip(self.nodes().last().cloned());
        let n_clients = hosts.map_or(Ok(0), |(hosts, host)| hosts.add(&host));
        let n_clients = match n_clients {
            Ok(n_clients) => count(n_clients),
            Err(why) => return Ok(failed(format!("node {number} has joined, but {why}"))),
        };
        Ok((Disturbed::Done, format!("node {number} has joined; moving clients: {n_clients}")))
    }

    /// Locks the addresses of the nodes that exist now. An action on the server does not hold this
    /// lock.
    fn nodes(&self) -> MutexGuard<'_, Vec<Host>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a host (given by address or by number of a node) to the hosts that clients use, or
    /// removes it, and moves clients accordingly. Returns the outcome, with a text such as `moving
    /// clients: 8`.
    pub(super) fn change_hosts(&self, change: HostsChange, which: &Which) -> Came {
        let host = match which {
            Which::Host(host) => Some(host.clone()),
            Which::Node(number) => self.nodes().get(*number as usize - 1).cloned(),
        };
        let Some(host) = host else { return failed(format!("there is no {which} yet")) };
        let Some(hosts) = self.database.hosts() else { return failed("the target has no hosts") };
        let changed = match change {
            HostsChange::Add => hosts.add(&host),
            HostsChange::Remove => hosts.remove(&host),
        };
        let n_moved = match changed {
            Ok(n_moved) => format!("moving clients: {}", count(n_moved)),
            Err(why) => return failed(why),
        };
        if change == HostsChange::Add {
            return (Disturbed::Done, n_moved);
        }
        match farewell(hosts, &host, &self.signal) {
            0 => (Disturbed::Done, n_moved),
            n_cut => (Disturbed::Done, format!("{n_moved}, of them cut off: {}", count(n_cut))),
        }
    }
}

/// Result of an action on a server or a node of a cluster.
#[derive(Debug, PartialEq, Eq)]
enum Acted {
    Done,
    /// The action was done, and has started the node.
    Started,
    /// The load ended while the node was paused, so the pause was cut off.
    CutOff,
    /// The action does not fit the state of the node, for the reason in this sentence.
    Impossible(String),
}

/// Restarts, kills, pauses, stops or starts a node, counted from 0. `wait` blocks until an instant
/// or the end of the load, and tells which came first; it is called during a pause.
fn act_on(
    control: &mut dyn ServerControl,
    node: usize,
    action: ServerAction,
    wait: &dyn Fn(Instant) -> Woken,
) -> Result<Acted, ServerError> {
    let what =
        if control.is_cluster() { format!("node {}", node + 1) } else { "the server".into() };
    if node >= control.n_nodes() {
        return Ok(Acted::Impossible(format!("there is no {what} yet")));
    }
    match (action, control.how_node_ended(node).is_some()) {
        (ServerAction::Restart, _) | (ServerAction::Start, true) => {
            control.restart(node)?;
            return Ok(Acted::Started);
        }
        (ServerAction::Start, false) => {
            return Ok(Acted::Impossible(format!("{what} is running")));
        }
        (_, true) => return Ok(Acted::Impossible(format!("{what} is not running"))),
        (ServerAction::Kill, false) => control.kill(node)?,
        (ServerAction::Stop, false) => control.shut_down(node)?,
        (ServerAction::Pause { for_ns }, false) => {
            let until = wall_clock::now() + Duration::from_nanos(for_ns);
            control.pause(node)?;
            let woken = wait(until);
            control.resume(node)?;
            if woken == Woken::Over {
                return Ok(Acted::CutOff);
            }
        }
    }
    Ok(Acted::Done)
}

/// Waits until no client uses `host` any more, which a disturbance has removed from the hosts in
/// use, at most a second or until the load is over. Then cuts off the connections of the remaining
/// clients, which might otherwise never end their transactions, and returns their number.
fn farewell(hosts: &dyn Hosts, host: &Host, signal: &PhaseSignal) -> usize {
    let until = wall_clock::now() + FAREWELL;
    while hosts.left(host) > 0 {
        let look = (wall_clock::now() + LOOK_EVERY).min(until);
        if signal.wait(Some(look), &|| false) == Woken::Over || wall_clock::now() >= until {
            return hosts.cut(host);
        }
    }
    0
}

fn count(n_clients: usize) -> String {
    format_count(n_clients as u64)
}

/// Gives clients the list of hosts that they used before the load.
pub(super) fn restore(hosts: &dyn Hosts, before: &[Host]) {
    let now = hosts.list();
    // The hosts are known, and at least one remains, so neither call can fail.
    for host in before.iter().filter(|host| !now.contains(host)) {
        let _n_moved = hosts.add(host);
    }
    for host in now.iter().filter(|host| !before.contains(host)) {
        let _n_moved = hosts.remove(host);
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use model::{BadParameter, Target};
    use servers::Setting;

    use super::*;

    /// A server control that does nothing but record the calls.
    #[derive(Default)]
    struct Recorded {
        is_cluster: bool,
        runs: Vec<bool>,
        calls: Vec<String>,
    }

    impl Recorded {
        fn call(&mut self, name: &str, node: usize, runs: Option<bool>) -> Result<(), ServerError> {
            self.calls.push(format!("{name} {node}"));
            if let Some(runs) = runs {
                self.runs[node] = runs;
            }
            Ok(())
        }
    }

    impl ServerControl for Recorded {
        fn title(&self) -> String {
            "recorded".to_owned()
        }
        fn is_cluster(&self) -> bool {
            self.is_cluster
        }
        fn hosts(&self) -> Vec<Host> {
            Vec::new()
        }
        fn target(&self, _by_socket: bool) -> Target {
            Target::parse("sim:").expect("a target")
        }
        fn socket(&self) -> PathBuf {
            PathBuf::new()
        }
        fn folder(&self) -> &Path {
            Path::new("/")
        }
        fn settings(&self) -> &[Setting] {
            &[]
        }
        fn process_ids(&self) -> Vec<Option<u32>> {
            self.runs.iter().map(|runs| runs.then_some(7)).collect()
        }
        fn how_node_ended(&mut self, node: usize) -> Option<String> {
            (!self.runs[node]).then(|| "killed".to_owned())
        }
        fn set(&mut self, _name: &str, _value: &str) -> Result<(), BadParameter> {
            Ok(())
        }
        fn unset(&mut self, _name: &str) {}
        fn load_on(&mut self, _n_nodes: Option<u32>) {}
        fn restart(&mut self, node: usize) -> Result<(), ServerError> {
            self.call("restart", node, Some(true))
        }
        fn shut_down(&mut self, node: usize) -> Result<(), ServerError> {
            self.call("shut down", node, Some(false))
        }
        fn kill(&mut self, node: usize) -> Result<(), ServerError> {
            self.call("kill", node, Some(false))
        }
        fn pause(&mut self, node: usize) -> Result<(), ServerError> {
            self.call("pause", node, None)
        }
        fn resume(&mut self, node: usize) -> Result<(), ServerError> {
            self.call("resume", node, None)
        }
        fn join(&mut self) -> Result<usize, ServerError> {
            self.runs.push(true);
            Ok(self.runs.len() - 1)
        }
        fn restart_all(&mut self) -> Result<(), ServerError> {
            Ok(())
        }
        fn restore(&mut self) -> Result<bool, ServerError> {
            Ok(false)
        }
        fn copy_data(&mut self) -> Result<(), ServerError> {
            Ok(())
        }
        fn has_copy(&self) -> bool {
            false
        }
        fn put_back(&mut self) -> Result<(), ServerError> {
            Ok(())
        }
    }

    #[test]
    fn an_action_fits_the_state_of_its_node_or_says_why_not() {
        let mut control =
            Recorded { is_cluster: true, runs: vec![true, true], ..Recorded::default() };
        let pause = ServerAction::Pause { for_ns: 1_000 };
        let mut check = |node, action, woken, expect: Acted| {
            let acted = act_on(&mut control, node, action, &|_| woken);
            assert_eq!(acted.expect("it does not fail"), expect, "{action:?}");
        };
        let impossible = |why: &str| Acted::Impossible(why.to_owned());
        check(1, ServerAction::Start, Woken::Due, impossible("node 2 is running"));
        check(1, ServerAction::Kill, Woken::Due, Acted::Done);
        check(1, pause, Woken::Due, impossible("node 2 is not running"));
        check(1, ServerAction::Stop, Woken::Due, impossible("node 2 is not running"));
        check(1, ServerAction::Start, Woken::Due, Acted::Started);
        check(0, pause, Woken::Due, Acted::Done);
        check(0, pause, Woken::Over, Acted::CutOff);
        check(0, ServerAction::Stop, Woken::Due, Acted::Done);
        check(0, ServerAction::Restart, Woken::Due, Acted::Started);
        check(2, ServerAction::Kill, Woken::Due, impossible("there is no node 3 yet"));
        // A pause ends in any case, so that a server is never left stopped.
        let calls = ["kill 1", "restart 1", "pause 0", "resume 0", "pause 0", "resume 0"];
        assert_eq!(control.calls, [&calls[..], &["shut down 0", "restart 0"]].concat());
    }

    /// List of a target's hosts whose clients leave one by one, except the last `stubborn` ones.
    struct Leaving {
        left: AtomicUsize,
        stubborn: usize,
    }

    impl Hosts for Leaving {
        fn list(&self) -> Vec<Host> {
            Vec::new()
        }

        fn add(&self, _host: &Host) -> Result<usize, String> {
            Err("it only leaves".to_owned())
        }

        fn remove(&self, _host: &Host) -> Result<usize, String> {
            Err("it is gone".to_owned())
        }

        fn left(&self, _host: &Host) -> usize {
            let fewer = self.left.load(Ordering::Relaxed).saturating_sub(1).max(self.stubborn);
            self.left.store(fewer, Ordering::Relaxed);
            fewer
        }

        fn cut(&self, host: &Host) -> usize {
            self.left(host)
        }

        fn silent(&self) -> Vec<Host> {
            Vec::new()
        }
    }

    #[test]
    fn a_host_that_is_taken_away_is_done_with_as_soon_as_nobody_is_left_there() {
        let cut_off = |stubborn| {
            let hosts = Leaving { left: AtomicUsize::new(4), stubborn };
            let began = wall_clock::now();
            let n_cut =
                farewell(&hosts, &Host { name: "db1".into(), port: None }, &PhaseSignal::default());
            (n_cut, began.elapsed())
        };
        let (n_cut, took) = cut_off(0);
        assert!(n_cut == 0 && took < FAREWELL, "{n_cut} {took:?}");
        let (n_cut, took) = cut_off(2);
        assert!(n_cut == 2 && took >= FAREWELL, "{n_cut} {took:?}");
    }
}
