//! dbdyno puts a database on the dyno: builds its data, drives its load, measures honestly.
//!
//! The interfaces of `app`: the command line and the web's pages. They decide nothing.

mod asked_host;
mod cli;
mod lists;
mod shell;
mod web;

pub use crate::cli::{main, run};
pub use crate::shell::Shell;
