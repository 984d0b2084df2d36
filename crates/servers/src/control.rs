//! Control of a server's processes: start, stop, kill, pause, settings and data.
//!
//! A server may be started by us ([`Cluster`](crate::Cluster)) or elsewhere; whoever disturbs,
//! restarts or watches one needs no more than this. Not here: SQL (drivers), and when to act (app).

use std::path::{Path, PathBuf};

use model::{BadParameter, Host, Target};

use crate::ServerError;
use crate::options::Setting;

/// A server, or the nodes of a cluster, whose processes can be controlled. Nodes are numbered from
/// 0; a single server is node 0.
pub trait ServerControl: Send {
    /// Product and version of a node, such as `MariaDB 10.11.19`.
    fn title(&self) -> String;

    /// Whether it is a cluster, which may have a single node.
    fn is_cluster(&self) -> bool;

    /// Addresses of all nodes, including those that have ended.
    fn hosts(&self) -> Vec<Host>;

    /// Target with the hosts of the loaded nodes, or the socket of the first one. The user has all
    /// privileges.
    fn target(&self, by_socket: bool) -> Target;

    /// Unix socket of the first node.
    fn socket(&self) -> PathBuf;

    /// Folder of the first node's data.
    fn folder(&self) -> &Path;

    /// Settings of all nodes, including defaults.
    fn settings(&self) -> &[Setting];

    /// Id of each node's first process, while it runs.
    fn process_ids(&self) -> Vec<Option<u32>>;

    /// Exit status and last log lines of a node; `None` while it runs, and if there is no such
    /// node.
    fn how_node_ended(&mut self, node: usize) -> Option<String>;

    /// Changes a setting of all nodes; it takes effect with the next restart.
    fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter>;

    /// Limits the load to the first `n_nodes` nodes; `None` means all.
    fn load_on(&mut self, n_nodes: Option<u32>);

    /// Shuts a node down if it runs, and starts it with the current settings.
    ///
    /// # Panics
    /// If there is no such node; likewise in the next four.
    fn restart(&mut self, node: usize) -> Result<(), ServerError>;

    /// Shuts a node down and waits for its end.
    fn shut_down(&mut self, node: usize) -> Result<(), ServerError>;

    /// Kills a node at once, as a crash would.
    fn kill(&mut self, node: usize) -> Result<(), ServerError>;

    /// Stops all processes of a node until [`ServerControl::resume`].
    fn pause(&mut self, node: usize) -> Result<(), ServerError>;

    /// Continues a paused node.
    fn resume(&mut self, node: usize) -> Result<(), ServerError>;

    /// Adds a node to the cluster and returns its number. On return it has all data and answers.
    fn join(&mut self) -> Result<usize, ServerError>;

    /// Shuts all nodes down and starts all again.
    fn restart_all(&mut self) -> Result<(), ServerError>;

    /// Restores the original set of nodes: removes those that joined later, and starts those that
    /// have ended. Returns whether anything was changed.
    fn restore(&mut self) -> Result<bool, ServerError>;

    /// Shuts all nodes down and copies their data; [`ServerControl::restart_all`] starts them
    /// again.
    fn copy_data(&mut self) -> Result<(), ServerError>;

    /// Whether there is a copy of the data of all nodes.
    fn has_copy(&self) -> bool;

    /// Kills all nodes and restores their data from the copy; [`ServerControl::restart_all`] starts
    /// them again.
    fn put_back(&mut self) -> Result<(), ServerError>;

    /// Number of nodes, including those that have ended.
    fn n_nodes(&self) -> usize {
        self.process_ids().len()
    }

    /// Describes the end of the first node that has ended, with its number in a cluster.
    fn how_it_ended(&mut self) -> Option<String> {
        let is_cluster = self.is_cluster();
        (0..self.n_nodes()).find_map(|node| {
            let how = self.how_node_ended(node)?;
            Some(if is_cluster { format!("(node {}) {how}", node + 1) } else { how })
        })
    }
}
