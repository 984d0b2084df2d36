//! Servers that belong together: one alone, or the nodes of a Galera cluster.
//!
//! The first node begins the cluster, the others join it and get all its data. Who starts while no
//! other node runs begins the cluster again, with the data it has. Not here: how a node learns all
//! that (galera), and who is to be loaded (the target's hosts).

use model::{BadParameter, Target};

use crate::galera::{self, Member};
use crate::options::Setting;
use crate::program::Program;
use crate::server::{self, Server};
use crate::{Kind, Options, ServerError};

/// One server, or several that are a cluster. Dropped, all are killed and all their data removed.
pub struct Cluster {
    kind: Kind,
    options: Options,
    nodes: Vec<Server>,
    /// How many there were at first.
    n_made: usize,
}

impl Cluster {
    /// Starts one server, or as many nodes as `options` say, one after the other; each answers and
    /// has the same data when this returns.
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

    /// Whether it is a Galera cluster, even one of one node.
    pub fn is_galera(&self) -> bool {
        self.options.nodes.is_some()
    }

    /// All nodes, those that have ended too.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// A node; none if there is none of this index.
    pub fn node(&mut self, index: usize) -> Option<&mut Server> {
        self.nodes.get_mut(index)
    }

    /// The first node. It is always there, though it may have ended.
    pub fn first(&self) -> &Server {
        &self.nodes[0]
    }

    /// How to sign in to the first nodes, as many as are to be loaded. The user may do everything.
    pub fn target(&self) -> Target {
        let n_loaded = self.options.load_on.map_or(self.nodes.len(), |n| n as usize);
        let loaded = self.nodes.iter().take(n_loaded.max(1));
        let hosts = loaded.flat_map(|node| node.target().hosts).collect();
        Target { hosts, ..self.first().target() }
    }

    /// A further node joins: it is sent all data, and answers when this returns. Tells its index.
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

    /// Stops a node in its own way if it runs, and starts it with the settings that hold now.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn restart(&mut self, index: usize) -> Result<(), ServerError> {
        self.nodes[index].shut_down()?;
        let is_first = !self.runs_besides(index);
        let peers = self.nodes.iter().enumerate().filter(|(other, _)| *other != index);
        let peers = peers.filter_map(|(_, node)| node.group_port()).collect();
        self.nodes[index].meet(peers, is_first);
        self.nodes[index].restart()
    }

    /// Changes a setting of all nodes, from the next restart on.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter> {
        for node in &mut self.nodes {
            node.set(name, value)?;
        }
        // Nodes that join later have it too.
        self.options.settings.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Loads the first nodes alone, as many as that; all without a number.
    pub fn load_on(&mut self, n_nodes: Option<u32>) {
        self.options.load_on = n_nodes;
    }

    /// Stops all nodes in their own way and copies their data, as [`Server::copy_data`] does;
    /// [`Cluster::restart_all`] starts them again.
    pub fn copy_data(&mut self) -> Result<(), ServerError> {
        self.shut_down()?;
        self.nodes.iter_mut().try_for_each(Server::copy_data)
    }

    /// Whether the data of all nodes were copied.
    pub fn has_copy(&self) -> bool {
        self.nodes.iter().all(Server::has_copy)
    }

    /// Ends all nodes and puts their data back as they were copied; [`Cluster::restart_all`]
    /// starts them again.
    pub fn put_back(&mut self) -> Result<(), ServerError> {
        self.nodes.iter_mut().rev().try_for_each(Server::put_back)
    }

    /// Stops all nodes in their own way, the first one last: it is the one that begins again.
    fn shut_down(&mut self) -> Result<(), ServerError> {
        self.nodes.iter_mut().rev().try_for_each(Server::shut_down)
    }

    /// Stops all nodes in their own way and starts all again.
    pub fn restart_all(&mut self) -> Result<(), ServerError> {
        self.shut_down()?;
        (0..self.nodes.len()).try_for_each(|index| self.restart(index))
    }

    /// Makes it what it was at first: nodes that joined later are gone, those that have ended run
    /// again. Whether there was anything to do.
    pub fn restore(&mut self) -> Result<bool, ServerError> {
        let mut has_changed = self.nodes.len() > self.n_made;
        // Who ended is started while there is somebody who has all data.
        for index in 0..self.n_made {
            if self.nodes[index].ended().is_some() {
                self.restart(index)?;
                has_changed = true;
            }
        }
        while self.nodes.len() > self.n_made
            && let Some(mut node) = self.nodes.pop()
        {
            // It says good-bye: nobody waits for it.
            node.shut_down()?;
            node.stop()?;
        }
        Ok(has_changed)
    }

    /// How a node ended and what it said last, if one has ended.
    pub fn ended(&mut self) -> Option<String> {
        let is_galera = self.is_galera();
        let mut ended = (1..).zip(&mut self.nodes);
        ended.find_map(|(number, node)| {
            let how = node.ended()?;
            Some(if is_galera { format!("(node {number}) {how}") } else { how })
        })
    }

    /// The settings of all nodes, defaults included, as they were written.
    pub fn settings(&self) -> &[Setting] {
        self.first().settings()
    }

    /// Whether somebody other than the node at `index` runs.
    fn runs_besides(&mut self, index: usize) -> bool {
        let mut others = self.nodes.iter_mut().enumerate().filter(|(other, _)| *other != index);
        others.any(|(_, node)| node.ended().is_none())
    }
}
