//! A single private server, or the nodes of a Galera cluster.
//!
//! The first node bootstraps the cluster; the others join it and receive all its data. A node that
//! starts while no other runs bootstraps the cluster again, with its own data. Not here: the
//! options and states of a node (galera).

use std::path::{Path, PathBuf};

use model::{BadParameter, Host, Target};

use crate::control::ServerControl;
use crate::galera::{self, Member};
use crate::options::Setting;
use crate::program::Program;
use crate::server::{self, Server};
use crate::{Kind, Options, ServerError};

/// A private database server, or a Galera cluster of several, which dbdyno has started. Dropping it
/// kills all nodes and removes their data.
pub struct Cluster {
    kind: Kind,
    options: Options,
    nodes: Vec<Server>,
    /// Number of nodes that [`Cluster::start`] started. Restoring the cluster removes nodes that
    /// joined later.
    n_made: usize,
}

impl Cluster {
    /// Starts a single server, or the `options.nodes` nodes of a cluster, one after the other. On
    /// return all nodes accept connections and have the same data.
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

    /// Returns all nodes of the cluster, including those whose process has ended.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// Returns the cluster node with this index, from 0; `None` if there is no such node.
    pub fn node(&mut self, index: usize) -> Option<&mut Server> {
        self.nodes.get_mut(index)
    }

    /// Returns the first node of the cluster. The node always exists, but its process may have
    /// ended.
    pub fn first(&self) -> &Server {
        &self.nodes[0]
    }

    /// Shuts all nodes down. The first node is shut down last, because it bootstraps the cluster at
    /// the next start and so must have all data.
    fn shut_down_all(&mut self) -> Result<(), ServerError> {
        self.nodes.iter_mut().rev().try_for_each(Server::shut_down)
    }

    /// Whether any node of the cluster other than the one at `index` is running.
    fn runs_besides(&mut self, index: usize) -> bool {
        let mut others = self.nodes.iter_mut().enumerate().filter(|(other, _)| *other != index);
        others.any(|(_, node)| node.ended().is_none())
    }
}

impl ServerControl for Cluster {
    fn title(&self) -> String {
        format!("{} {}", self.kind.title(), self.first().version())
    }

    fn is_cluster(&self) -> bool {
        self.options.nodes.is_some()
    }

    fn hosts(&self) -> Vec<Host> {
        self.nodes.iter().flat_map(|node| node.target().hosts).collect()
    }

    fn target(&self, by_socket: bool) -> Target {
        if by_socket {
            return self.first().socket_target();
        }
        let n_loaded = self.options.load_on.map_or(self.nodes.len(), |n| n as usize);
        let loaded = self.nodes.iter().take(n_loaded.max(1));
        let hosts = loaded.flat_map(|node| node.target().hosts).collect();
        Target { hosts, ..self.first().target() }
    }

    fn socket(&self) -> PathBuf {
        self.first().socket()
    }

    fn folder(&self) -> &Path {
        self.first().folder()
    }

    fn settings(&self) -> &[Setting] {
        self.first().settings()
    }

    fn process_ids(&self) -> Vec<Option<u32>> {
        self.nodes.iter().map(Server::process_id).collect()
    }

    fn how_node_ended(&mut self, node: usize) -> Option<String> {
        self.nodes.get_mut(node)?.ended()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter> {
        for node in &mut self.nodes {
            node.set(name, value)?;
        }
        // Nodes that join later get it too.
        self.options.settings.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    fn unset(&mut self, name: &str) {
        self.nodes.iter_mut().for_each(|node| node.unset(name));
        self.options.settings.retain(|(other, _)| other != name);
    }

    fn load_on(&mut self, n_nodes: Option<u32>) {
        self.options.load_on = n_nodes;
    }

    fn restart(&mut self, node: usize) -> Result<(), ServerError> {
        self.nodes[node].shut_down()?;
        let is_first = !self.runs_besides(node);
        let peers = self.nodes.iter().enumerate().filter(|(other, _)| *other != node);
        let peers = peers.filter_map(|(_, other)| other.group_port()).collect();
        self.nodes[node].meet(peers, is_first);
        self.nodes[node].restart()
    }

    fn shut_down(&mut self, node: usize) -> Result<(), ServerError> {
        self.nodes[node].shut_down()
    }

    fn kill(&mut self, node: usize) -> Result<(), ServerError> {
        self.nodes[node].kill()
    }

    fn pause(&mut self, node: usize) -> Result<(), ServerError> {
        self.nodes[node].pause()
    }

    fn resume(&mut self, node: usize) -> Result<(), ServerError> {
        self.nodes[node].resume()
    }

    fn join(&mut self) -> Result<usize, ServerError> {
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

    fn restart_all(&mut self) -> Result<(), ServerError> {
        self.shut_down_all()?;
        (0..self.nodes.len()).try_for_each(|node| self.restart(node))
    }

    fn restore(&mut self) -> Result<bool, ServerError> {
        let mut has_changed = self.nodes.len() > self.n_made;
        // Done before nodes that joined later are removed: they may be the only ones that have all
        // data.
        for node in 0..self.n_made {
            if self.nodes[node].ended().is_some() {
                self.restart(node)?;
                has_changed = true;
            }
        }
        while self.nodes.len() > self.n_made
            && let Some(mut node) = self.nodes.pop()
        {
            // An orderly shutdown, so that the others need not wait for a time-out.
            node.shut_down()?;
            node.stop()?;
        }
        Ok(has_changed)
    }

    fn copy_data(&mut self) -> Result<(), ServerError> {
        self.shut_down_all()?;
        self.nodes.iter_mut().try_for_each(Server::copy_data)
    }

    fn has_copy(&self) -> bool {
        self.nodes.iter().all(Server::has_copy)
    }

    fn put_back(&mut self) -> Result<(), ServerError> {
        self.nodes.iter_mut().rev().try_for_each(Server::put_back)
    }
}
