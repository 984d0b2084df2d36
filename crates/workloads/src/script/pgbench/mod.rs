//! pgbench's script language as of PostgreSQL 18: scripts are parsed, expressions evaluated.
//!
//! Everything is pure. Not here: what sends statements, waits and runs shell commands; clocks and
//! files. Written from the manual of pgbench and from what the program does; a test compares
//! thousands of expressions with the program itself.

mod command;
mod commands;
mod error;
mod expression;
mod functions;
mod operand;
mod parser;
mod pipelines;
mod prng;
mod random;
mod scan;
mod script;
mod sql;
mod tokens;
mod value;
mod variables;

pub use command::{Command, Script, What};
pub use error::Error;
pub use expression::Expression;
pub use operand::{Distribution, Operand, SetRandom, sleep_ns};
pub use prng::Prng;
pub use script::{NO_COMMANDS, parse};
pub use sql::{MARKS_MAX, Part, Sql, Store};
pub use value::Value;
pub use variables::{Names, VariableId, Variables, is_valid_name};
