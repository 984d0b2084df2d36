//! Private temporary database servers: start, stop, settings, clean-up.
//!
//! Here: finding an installed MariaDB, MySQL or PostgreSQL, giving it a folder, sockets, settings,
//! a user and a password of its own, waiting until it answers, and leaving nothing behind, however
//! this process ends. Not here: SQL (drivers), and the use of the server (app). A database server
//! of the system, its data and its configuration are never touched.
//!
//! - Several servers can run at once: each has a folder `dbdyno-server-*`, a Unix socket in it, and
//!   a port of 127.0.0.1 that stays reserved for the server, also during restarts.
//! - If dbdyno runs as root, a server runs as `mysql`, `postgres` or `nobody`; otherwise as the
//!   current user.
//! - Several MariaDB servers can form a Galera cluster ([`Cluster`]), whose nodes can be killed and
//!   restarted; further nodes can join.
//! - Dropping a [`Server`] kills it and removes its folder. If this process is killed, a watchdog
//!   shell does both; if that fails too, the next start in the same parent folder does.

mod cluster;
mod control;
mod copy;
mod credentials;
mod data_dir;
mod deadline;
mod defaults;
mod error;
pub mod for_tests;
mod galera;
mod instance;
mod mysql;
mod options;
mod os_user;
mod port;
mod postgres;
mod processes;
mod program;
mod server;
mod template;
mod watchdog;

pub use cluster::Cluster;
pub use control::ServerControl;
pub use data_dir::sweep;
pub use defaults::{DEFAULTS, DefaultSetting, defaults};
pub use error::{ServerError, ServerErrorKind};
pub use instance::END_OF_LOG;
pub use model::managed::{Kind, Options};
pub use options::Setting;
pub use program::check_installed;
pub use server::{Server, start};
pub use watchdog::Watchdog;
