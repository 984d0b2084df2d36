//! A single server, or the nodes of a Galera cluster.
//!
//! The first node begins the cluster, the others join it and get all its data. A node that starts
//! while no other runs bootstraps the cluster again, with its own data. Not here: the options and
//! states of a node (galera), and the choice of loaded nodes (the target's hosts).

use model::{BadParameter, Target};

use crate::galera::{self, Member};
use crate::options::Setting;
use crate::program::Program;
use crate::server::{self, Server};
use crate::{Kind, Options, ServerError};

/// A server, or a cluster of several. Drop kills all nodes and removes their data.
pub struct Cluster {
    kind: Kind,
    options: Options,
    nodes: Vec<Server>,
    /// Number of nodes at first.
    n_made: usize,
}

impl Cluster {
    /// Starts one server, or the number of nodes in `options`, one after the other. On return all
    /// answer and have the same data.
    pub fn start(kind: Kind, options: &Options) -> Result<Cluster, ServerError> {
        let mut cluster = Cluster { kind, options: options.clone(), nodes: Vec::new(), n_made: 1 };
        let Some(n_nodes) = options.nodes else {
            cluster.nodes.push(server::start(kind, options)?);
            return Ok(cluster);
        };
        if n_nodes > 1 {
            galera::has_rsync()?;
        }
        for _ in 0..n_nodes {
            cluster.join()?;
        }
        cluster.n_made = cluster.nodes.len();
        Ok(cluster)
    }

    /// Whether it is a Galera cluster, which may have a single node.
    pub fn is_galera(&self) -> bool {
        self.options.nodes.is_some()
    }

    /// All nodes, including those that have ended.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// Returns a node; `None` if the index is out of range.
    pub fn node(&mut self, index: usize) -> Option<&mut Server> {
        self.nodes.get_mut(index)
    }

    /// The first node. It always exists, but may have ended.
    pub fn first(&self) -> &Server {
        &self.nodes[0]
    }

    /// Target with the hosts of the loaded nodes. The user has all privileges.
    pub fn target(&self) -> Target {
        let n_loaded = self.options.load_on.map_or(self.nodes.len(), |n| n as usize);
        let loaded = self.nodes.iter().take(n_loaded.max(1));
        let hosts = loaded.flat_map(|node| node.target().hosts).collect();
        Target { hosts, ..self.first().target() }
    }

    /// Adds a node to the cluster and returns its index. On return it has all data and answers.
    pub fn join(&mut self) -> Result<usize, ServerError> {
        if !self.nodes.is_empty() {
            galera::has_rsync()?;
        }
        let index = self.nodes.len();
        let program = Program::find(self.kind, self.options.bin.as_deref())?;
        let mut member = Member::new(&program)?;
        member.peers = self.nodes.iter().filter_map(Server::group_port).collect();
        member.is_first = !self.runs_besides(index);
        let password = self.nodes.first().map(|first| first.password().clone());
        let options = &self.options;
        self.nodes.push(server::start_node(self.kind, options, member, password)?);
        Ok(index)
    }

    /// Shuts a node down if it runs, and starts it with the current settings.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn restart(&mut self, index: usize) -> Result<(), ServerError> {
        self.nodes[index].shut_down()?;
        let is_first = !self.runs_besides(index);
        let peers = self.nodes.iter().enumerate().filter(|(other, _)| *other != index);
        let peers = peers.filter_map(|(_, node)| node.group_port()).collect();
        self.nodes[index].meet(peers, is_first);
        self.nodes[index].restart()
    }

    /// Changes a setting of all nodes; it takes effect with the next restart.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter> {
        for node in &mut self.nodes {
            node.set(name, value)?;
        }
        // For nodes that join later.
        self.options.settings.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Limits the load to the first `n_nodes` nodes; `None` means all.
    pub fn load_on(&mut self, n_nodes: Option<u32>) {
        self.options.load_on = n_nodes;
    }

    /// Shuts all nodes down and copies their data, as [`Server::copy_data`] does;
    /// [`Cluster::restart_all`] starts them again.
    pub fn copy_data(&mut self) -> Result<(), ServerError> {
        self.shut_down()?;
        self.nodes.iter_mut().try_for_each(Server::copy_data)
    }

    /// Whether there is a copy of the data of all nodes.
    pub fn has_copy(&self) -> bool {
        self.nodes.iter().all(Server::has_copy)
    }

    /// Kills all nodes and restores their data from the copy; [`Cluster::restart_all`] starts them
    /// again.
    pub fn put_back(&mut self) -> Result<(), ServerError> {
        self.nodes.iter_mut().rev().try_for_each(Server::put_back)
    }

    /// Shuts all nodes down, the first one last: it bootstraps the cluster again.
    fn shut_down(&mut self) -> Result<(), ServerError> {
        self.nodes.iter_mut().rev().try_for_each(Server::shut_down)
    }

    /// Shuts all nodes down and starts all again.
    pub fn restart_all(&mut self) -> Result<(), ServerError> {
        self.shut_down()?;
        (0..self.nodes.len()).try_for_each(|index| self.restart(index))
    }

    /// Restores the original set of nodes: removes those that joined later, and starts those that
    /// have ended. Returns whether anything was changed.
    pub fn restore(&mut self) -> Result<bool, ServerError> {
        let mut has_changed = self.nodes.len() > self.n_made;
        // A node that has ended is started while another still has all data.
        for index in 0..self.n_made {
            if self.nodes[index].ended().is_some() {
                self.restart(index)?;
                has_changed = true;
            }
        }
        while self.nodes.len() > self.n_made
            && let Some(mut node) = self.nodes.pop()
        {
            // An orderly shutdown: the others do not wait for its time-out.
            node.shut_down()?;
            node.stop()?;
        }
        Ok(has_changed)
    }

    /// Exit status and last log lines of a node that has ended, if any.
    pub fn ended(&mut self) -> Option<String> {
        let is_galera = self.is_galera();
        let mut ended = (1..).zip(&mut self.nodes);
        ended.find_map(|(number, node)| {
            let how = node.ended()?;
            Some(if is_galera { format!("(node {number}) {how}") } else { how })
        })
    }

    /// Settings of all nodes, including defaults.
    pub fn settings(&self) -> &[Setting] {
        self.first().settings()
    }

    /// Whether a node other than the one at `index` runs.
    fn runs_besides(&mut self, index: usize) -> bool {
        let mut others = self.nodes.iter_mut().enumerate().filter(|(other, _)| *other != index);
        others.any(|(_, node)| node.ended().is_none())
    }
}
