//! Private throwaway database servers: start, stop, settings, clean-up.
//!
//! Here: finding an installed MariaDB, MySQL or PostgreSQL, giving it a folder, sockets, settings,
//! a user and a password of its own, waiting until it answers, and leaving nothing behind, however
//! we end. Not here: speaking SQL to it (drivers), and what it is started for (app). The system's
//! own server, its data and its configuration are never touched.
//!
//! - Several run at once: each has a folder `dbdyno-server-*`, a Unix socket in it, and a port of
//!   127.0.0.1 that stays reserved for as long as the server is ours, restarts included.
//! - Started by root, it runs as `mysql`, `postgres` or `nobody`; else as whoever we are.
//! - Several MariaDB can be a Galera cluster ([`Cluster`]): nodes are killed, come back and join.
//! - A [`Server`] that is dropped is killed and its folder removed. If we are killed ourselves, a
//!   watchdog does it; if that is killed too (or the machine is), the next start does.

mod cluster;
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
pub use data_dir::sweep;
pub use defaults::{DEFAULTS, DefaultSetting, defaults};
pub use error::{ServerError, ServerErrorKind};
pub use instance::END_OF_LOG;
pub use model::managed::{Kind, Options};
pub use options::Setting;
pub use program::check_installed;
pub use server::{Server, start};
pub use watchdog::Watchdog;
