//! Control of a server's processes: start, stop, kill, pause, settings and data.
//!
//! [`Cluster`](crate::Cluster) implements [`ServerControl`] for servers that dbdyno starts; code
//! that disturbs, restarts or watches a server needs only this trait. Not here: SQL (drivers), and
//! when to act (app).

use std::path::{Path, PathBuf};

use model::{BadParameter, Host, Target};

use crate::ServerError;
use crate::options::Setting;

/// Control of the processes of a server or of all nodes of a cluster. Nodes are numbered from 0; a
/// single server is node 0.
pub trait ServerControl: Send {
    /// Returns product and version of the first node's server, such as `MariaDB 10.11.19`.
    fn title(&self) -> String;

    /// Whether this is a cluster, even with a single node, and not a single server.
    fn is_cluster(&self) -> bool;

    /// Returns the TCP addresses of all nodes, including those whose process has ended.
    fn hosts(&self) -> Vec<Host>;

    /// Returns the target to which benchmark clients connect, with a user that has all privileges.
    /// It has the TCP addresses of the nodes that [`ServerControl::load_on`] has selected or, with
    /// `by_socket`, the Unix socket of the first node.
    fn target(&self, by_socket: bool) -> Target;

    /// Returns the path of the Unix socket of the first node.
    fn socket(&self) -> PathBuf;

    /// Returns the folder of the first node, which contains its data directory.
    fn folder(&self) -> &Path;

    /// Returns the server settings of all nodes, including dbdyno's defaults.
    fn settings(&self) -> &[Setting];

    /// Returns the process ID of each node's main process; `None` for a node that is not running.
    fn process_ids(&self) -> Vec<Option<u32>>;

    /// Returns exit status and last log lines of a node that has ended; `None` while it runs, or if
    /// there is no such node.
    fn how_node_ended(&mut self, node: usize) -> Option<String>;

    /// Changes a server setting of all nodes, which takes effect at the next restart of each. Fails
    /// if name or value is malformed, or if dbdyno itself controls the setting.
    fn set(&mut self, name: &str, value: &str) -> Result<(), BadParameter>;

    /// Returns a server setting of all nodes to dbdyno's default for it, or else the server's, at
    /// the next restart of each.
    fn unset(&mut self, name: &str);

    /// Limits the benchmark's load to the first `n_nodes` nodes: [`ServerControl::target`] then
    /// names only these. `None` means all nodes.
    fn load_on(&mut self, n_nodes: Option<u32>);

    /// Shuts a node down if it runs, and starts it with the current settings.
    ///
    /// # Panics
    /// If there is no such node. `shut_down`, `kill`, `pause` and `resume` panic likewise.
    fn restart(&mut self, node: usize) -> Result<(), ServerError>;

    /// Shuts a node down without losing commits, and waits for its end.
    fn shut_down(&mut self, node: usize) -> Result<(), ServerError>;

    /// Kills all processes of a node at once, as a crash would.
    fn kill(&mut self, node: usize) -> Result<(), ServerError>;

    /// Suspends all processes of a node until [`ServerControl::resume`].
    fn pause(&mut self, node: usize) -> Result<(), ServerError>;

    /// Resumes the processes of a node that [`ServerControl::pause`] has suspended.
    fn resume(&mut self, node: usize) -> Result<(), ServerError>;

    /// Starts another node of the cluster and returns its index. On return the node has all data
    /// and accepts connections.
    fn join(&mut self) -> Result<usize, ServerError>;

    /// Shuts all nodes down and starts them again, with the current settings.
    fn restart_all(&mut self) -> Result<(), ServerError>;

    /// Restores the original set of nodes: starts original nodes that have ended, and removes nodes
    /// that joined later. Returns whether anything was changed.
    fn restore(&mut self) -> Result<bool, ServerError>;

    /// Shuts all nodes down and copies their data, for [`ServerControl::put_back`]. The nodes stay
    /// stopped until [`ServerControl::restart_all`].
    fn copy_data(&mut self) -> Result<(), ServerError>;

    /// Whether the data of all nodes have been copied by [`ServerControl::copy_data`].
    fn has_copy(&self) -> bool;

    /// Kills all nodes and restores their data from the copy that [`ServerControl::copy_data`] has
    /// made. The nodes stay stopped until [`ServerControl::restart_all`]. Panics if there is no
    /// copy.
    fn put_back(&mut self) -> Result<(), ServerError>;

    /// Returns the number of nodes, including those whose process has ended.
    fn n_nodes(&self) -> usize {
        self.process_ids().len()
    }

    /// Returns exit status and last log lines of the first node that has ended; `None` while all
    /// nodes run. In a cluster the text begins with the node's number, from 1.
    fn how_it_ended(&mut self) -> Option<String> {
        let is_cluster = self.is_cluster();
        (0..self.n_nodes()).find_map(|node| {
            let how = self.how_node_ended(node)?;
            Some(if is_cluster { format!("(node {}) {how}", node + 1) } else { how })
        })
    }
}
