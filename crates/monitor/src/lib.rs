//! System and database metrics of a host: the machine, its processes, the database's own counters.
//!
//! A collector declares gauges and reads their values once per second on its own thread; the values
//! are sent as events. This crate also has the facts about the machine, and the resources that this
//! process used between two instants. Not here: a plan, a load, a driver, and judging a reading
//! (analysis). A program that links only this crate gets a monitor, and provides the sessions that
//! query the database.

mod collector;
mod collectors;
mod cpu_profiler;
mod database_counters;
pub mod facts;
mod kernel_files;
mod machine;
mod monitor;
mod phase_signal;
mod process;
mod process_locator;
mod query_session;
mod readings;
mod replica_lag;
mod round_trips;
mod server_process;
mod server_summaries;
mod session_states;
mod stacks;
mod tasks;
mod usage;
pub mod wall_clock;

pub use collector::{Collector, Make};
pub use collectors::{Scope, is_no_server, start, start_for_other_host};

pub use cpu_profiler::{CpuProfiler, ProfileScope, server_processes};
pub use monitor::Monitor;
pub use phase_signal::{PhaseSignal, Woken};
pub use process::Locate;
pub use query_session::{Canceller, Connect, CounterSession};
pub use readings::{Readings, What};
pub use replica_lag::Replica;
pub use server_process::{ServerProcess, server_process};
pub use tasks::{SharedTasks, Task, TaskCounters, Tasks};
pub use usage::{Usage, Watch, look};
