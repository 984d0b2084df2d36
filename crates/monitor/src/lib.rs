//! What happens on a host: the machine, its processes, and what a database counts itself.
//!
//! Each collector is read once a second on a thread of its own, and what it reads is told as
//! events; beside them stand the facts of the machine, and what this process used between two
//! instants. A collector may be anything that declares gauges and reads them. Not here: a plan, a
//! load, a driver, and what is to be thought of a reading (analysis): whoever links this alone has
//! a monitor, and brings the sessions by which databases are asked.

mod collector;
mod collectors;
mod database_counters;
pub mod facts;
mod kernel_files;
mod machine;
mod monitor;
mod phase_signal;
mod process;
mod process_locator;
mod readings;
mod tasks;
mod usage;
pub mod wall_clock;

pub use collector::{Collector, Make};
pub use collectors::{Scope, start};
pub use database_counters::{Canceller, Connect, CounterSession};
pub use monitor::Monitor;
pub use phase_signal::{PhaseSignal, Woken};
pub use process::Locate;
pub use readings::{Readings, What};
pub use tasks::{SharedTasks, Task, TaskCounters, Tasks};
pub use usage::{Usage, Watch, look};
