//! Kernel counters of a process's threads, summed: CPU time, run delay, context switches,
//! migrations.
//!
//! A thread's counters disappear when it ends, so its work after the last reading is not counted,
//! unless the counters are read before the thread ends. Not here: the totals of a process
//! (process), and when they are read.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::NS_PER_S;

use crate::kernel_files::read;

/// A thread of any process, identified as the kernel does, whose counters can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Task {
    /// ID of the process to which the thread belongs.
    pub process: u32,
    /// Kernel ID of the thread.
    pub thread: u32,
}

impl Task {
    fn file(self, name: &str) -> String {
        format!("/proc/{}/task/{}/{name}", self.process, self.thread)
    }

    /// Returns the name that the program gave to the thread. All characters except letters, digits,
    /// `-`, `_` and `.` are removed.
    pub fn name(self) -> String {
        let name = read(self.file("comm"));
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        name.trim().chars().filter(is_plain).collect()
    }

    pub fn of_process(process: u32) -> Vec<Task> {
        let Ok(folder) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
        let task = |entry: fs::DirEntry| {
            let thread = entry.file_name().to_str()?.parse().ok()?;
            Some(Task { process, thread })
        };
        folder.flatten().filter_map(task).collect()
    }

    /// Reads the thread's counters; `None` if the thread has ended.
    fn counters(self) -> Option<TaskCounters> {
        let schedstat = read(self.file("schedstat"));
        // Not every kernel has it; it has more counters than `status`.
        let sched = read(self.file("sched"));
        let status = if sched.is_empty() { read(self.file("status")) } else { String::new() };
        let counters = TaskCounters::parse(&schedstat, &sched, &status);
        (counters != TaskCounters::default()).then_some(counters)
    }
}

/// Kernel counters of one thread, or their sums over several. A counter that the kernel does not
/// report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskCounters {
    /// CPU time that the thread has used, in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time in which the thread was ready to run but had no processor, in nanoseconds.
    pub run_delay_ns: Option<u64>,
    /// Number of context switches because the thread waited for something.
    pub voluntary_switches: Option<u64>,
    /// Number of context switches because the kernel gave the thread's processor to another thread.
    pub involuntary_switches: Option<u64>,
    /// Number of times that the thread moved to another processor.
    pub migrations: Option<u64>,
}

impl TaskCounters {
    /// Parses the texts of a thread's files `schedstat`, `sched` and `status` in /proc. `status`
    /// may be empty unless `sched` is.
    fn parse(schedstat: &str, sched: &str, status: &str) -> TaskCounters {
        let mut times = schedstat.split_ascii_whitespace().map(|text| text.parse().ok());
        let mut time = || times.next().flatten();
        let either = |of_sched: &str, of_status: &str| {
            field(sched, of_sched).or_else(|| field(status, of_status))
        };
        TaskCounters {
            cpu_ns: time(),
            run_delay_ns: time(),
            voluntary_switches: either("nr_voluntary_switches", "voluntary_ctxt_switches"),
            involuntary_switches: either("nr_involuntary_switches", "nonvoluntary_ctxt_switches"),
            migrations: field(sched, "se.nr_migrations"),
        }
    }

    /// Combines each counter with that of `other` by the function `join`, such as a sum. A counter
    /// that only one of them has is kept.
    pub fn join(self, other: TaskCounters, join: fn(u64, u64) -> u64) -> TaskCounters {
        let each = |ours: Option<u64>, theirs: Option<u64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Some(join(ours, theirs)),
            (one, None) | (None, one) => one,
        };
        TaskCounters {
            cpu_ns: each(self.cpu_ns, other.cpu_ns),
            run_delay_ns: each(self.run_delay_ns, other.run_delay_ns),
            voluntary_switches: each(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: each(self.involuntary_switches, other.involuntary_switches),
            migrations: each(self.migrations, other.migrations),
        }
    }

    /// Whether no counter is lower than in `earlier`. Otherwise a new thread has got the ID of one
    /// that has ended.
    fn continues(&self, earlier: &TaskCounters) -> bool {
        self.cpu_ns >= earlier.cpu_ns
            && self.run_delay_ns >= earlier.run_delay_ns
            && self.voluntary_switches >= earlier.voluntary_switches
            && self.involuntary_switches >= earlier.involuntary_switches
            && self.migrations >= earlier.migrations
    }
}

/// Returns the number after `name:` in the text of a file such as `/proc/self/status`, with or
/// without blanks around it. `None` if there is no such line or number.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| {
        line.strip_prefix(name)?.trim_start_matches([' ', '\t']).strip_prefix(':')
    })?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

/// Threads of a process, shared by several readers of their counters.
#[derive(Clone, Debug, Default)]
pub struct SharedTasks(Arc<Mutex<Tasks>>);

impl SharedTasks {
    /// Locks the list of threads. The panic of another reader is ignored, because the counters stay
    /// consistent.
    pub fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Last counters of each thread, and the sum over all threads since the first reading.
#[derive(Debug, Default)]
struct Ledger {
    seen: HashMap<Task, TaskCounters>,
    total: TaskCounters,
    is_begun: bool,
}

impl Ledger {
    /// Adds a reading of several threads. Returns by how much the CPU time of each has grown, in
    /// nanoseconds.
    fn enter(&mut self, now: &[(Task, TaskCounters)]) -> Vec<(Task, u64)> {
        let mut grown = Vec::new();
        for &(task, counters) in now {
            let growth = match self.seen.insert(task, counters) {
                Some(earlier) if counters.continues(&earlier) => {
                    counters.join(earlier, |now, then| now - then)
                }
                // Work before the first reading does not count.
                _ if !self.is_begun => counters.join(counters, |now, then| now - then),
                // The thread is new: all its work counts.
                _ => counters,
            };
            grown.push((task, growth.cpu_ns.unwrap_or(0)));
            self.total = self.total.join(growth, |a, b| a.saturating_add(b));
        }
        self.is_begun = true;
        grown
    }
}

/// Counters of a process's threads, which are read in two ways. [`Tasks::read_all`] reads all
/// threads, for sums between two instants. [`Tasks::read_some`] reads some of them in turn, for
/// values per second at a small cost. The sums for `read_all` include the readings in turn, but
/// those for `read_some` include nothing else.
#[derive(Debug, Default)]
pub struct Tasks {
    /// Threads of which [`Tasks::read_some`] reads some in turn, and [`Tasks::read_all`] reads all.
    list: Vec<Task>,
    next: usize,
    all: Ledger,
    in_turn: Ledger,
    /// Growth of CPU time, in nanoseconds, of each thread that the last [`Tasks::read_some`] read.
    grown: Vec<(Task, u64)>,
}

impl Tasks {
    /// Returns the growth of each counter since the first reading, summed over the threads, by
    /// readings of either kind.
    pub fn total(&self) -> TaskCounters {
        self.all.total
    }

    /// Returns the growth of each counter since the first reading, summed over the threads, by
    /// calls of [`Tasks::read_some`] alone.
    pub fn total_in_turn(&self) -> TaskCounters {
        self.in_turn.total
    }

    /// Returns the counters of a thread at its last reading of either kind; `None` if it was never
    /// read.
    pub fn last_read(&self, task: Task) -> Option<TaskCounters> {
        self.all.seen.get(&task).copied()
    }

    /// Returns the number of threads whose counters are read.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Returns the counters of a thread when [`Tasks::read_some`] last read it; `None` if that
    /// never happened.
    pub fn seen(&self, task: Task) -> Option<TaskCounters> {
        self.in_turn.seen.get(&task).copied()
    }

    /// Returns the threads that used most CPU time in the last [`Tasks::read_some`], busiest first:
    /// at most `n_most`, and none below `percent_min` percent of a core, if calls are a second
    /// apart.
    pub fn busiest(&self, n_most: usize, percent_min: f64) -> Vec<Task> {
        let least_ns = percent_min / 100.0 * NS_PER_S as f64;
        let mut busy = self.grown.clone();
        busy.retain(|(_, cpu_ns)| *cpu_ns as f64 >= least_ns);
        busy.sort_by_key(|(task, cpu_ns)| (std::cmp::Reverse(*cpu_ns), *task));
        busy.into_iter().map(|(task, _)| task).take(n_most).collect()
    }

    /// Sets the threads to be read from now on. Forgets the last counters of threads that are not
    /// in the list, but not their part of the sums.
    pub fn set_list(&mut self, list: Vec<Task>) {
        let alive: HashSet<Task> = list.iter().copied().collect();
        for ledger in [&mut self.all, &mut self.in_turn] {
            ledger.seen.retain(|task, _| alive.contains(task));
        }
        self.list = list;
    }

    /// Reads the counters of all threads, from two small files each, which take about 5 µs each.
    /// Work before the first reading does not count.
    pub fn read_all(&mut self) {
        let now = read_each(self.list.iter().copied());
        self.all.enter(&now);
    }

    /// Reads the counters of the threads `first`, and of up to `n_most` others in turn; the next
    /// call continues with the next ones. What a thread has used since its last reading is counted
    /// when it is read.
    pub fn read_some(&mut self, first: &[Task], n_most: usize) {
        // The first reading is the base of growth.
        let is_first = !self.in_turn.is_begun;
        let n = if is_first { self.list.len() } else { n_most.min(self.list.len()) };
        let turn: Vec<Task> = self.list.iter().cycle().skip(self.next).take(n).copied().collect();
        self.next = (self.next + n) % self.list.len().max(1);
        let others = turn.into_iter().filter(|task| !first.contains(task));
        let now = read_each(first.iter().copied().chain(others));
        self.look(&now);
    }

    fn look(&mut self, now: &[(Task, TaskCounters)]) {
        self.all.enter(now);
        self.grown = self.in_turn.enter(now);
    }
}

/// Reads the counters of those threads that still exist.
fn read_each(tasks: impl Iterator<Item = Task>) -> Vec<(Task, TaskCounters)> {
    tasks.filter_map(|task| Some((task, task.counters()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(run_delay_ns: u64, voluntary: u64, involuntary: u64) -> TaskCounters {
        TaskCounters {
            run_delay_ns: Some(run_delay_ns),
            voluntary_switches: Some(voluntary),
            involuntary_switches: Some(involuntary),
            ..TaskCounters::default()
        }
    }

    /// Returns a thread that does not exist, for tests.
    const fn task(thread: u32) -> Task {
        Task { process: u32::MAX, thread }
    }

    #[test]
    fn a_thread_is_read_from_its_files() {
        let status = "Name:\tx\nVmHWM:\t    1234 kB\nvoluntary_ctxt_switches:\t15\n\
                      nonvoluntary_ctxt_switches:\t3\n";
        let sched = "x (1, #threads: 1)\n-----\nse.nr_migrations      :       7\n\
                     nr_voluntary_switches :    16\nnr_involuntary_switches : 4\n";
        let of_status = TaskCounters { cpu_ns: Some(900), ..counters(77, 15, 3) };
        assert_eq!(TaskCounters::parse("900 77 18\n", "", status), of_status);
        let of_sched =
            TaskCounters { cpu_ns: Some(900), migrations: Some(7), ..counters(77, 16, 4) };
        assert_eq!(TaskCounters::parse("900 77 18\n", sched, ""), of_sched);
        assert_eq!(field(status, "VmHWM"), Some(1234));
        // A kernel without scheduler statistics; a thread that ended meanwhile; garbage.
        assert_eq!(TaskCounters::parse("", "", status).run_delay_ns, None);
        assert_eq!(TaskCounters::parse("", "", ""), TaskCounters::default());
        let nonsense =
            TaskCounters::parse("x -1 2", "se.nr_migrations : 99999999999999999999", ":");
        assert_eq!(nonsense, TaskCounters::default());
    }

    #[test]
    fn what_happened_before_the_first_look_is_not_counted() {
        let mut tasks = Tasks::default();
        tasks.look(&[(task(7), counters(100, 10, 1))]);
        assert_eq!(tasks.total(), counters(0, 0, 0));
        tasks.look(&[(task(7), counters(150, 12, 1))]);
        assert_eq!(tasks.total(), counters(50, 2, 0));
    }

    #[test]
    fn threads_that_ended_keep_what_they_did() {
        let mut tasks = Tasks::default();
        tasks.look(&[]);
        tasks.look(&[(task(8), counters(30, 3, 0))]);
        tasks.look(&[(task(9), counters(5, 1, 1))]);
        assert_eq!(tasks.total(), counters(35, 4, 1));
    }

    #[test]
    fn a_reused_number_is_another_thread() {
        let mut tasks = Tasks::default();
        tasks.look(&[(task(8), counters(1000, 50, 9))]);
        tasks.look(&[(task(8), counters(4, 1, 0))]);
        assert_eq!(tasks.total(), counters(4, 1, 0));
    }

    #[test]
    fn a_reading_of_all_does_not_show_in_what_is_read_in_turn() {
        let mut tasks = Tasks::default();
        tasks.look(&[(task(1), counters(0, 0, 0)), (task(2), counters(0, 0, 0))]);
        tasks.all.enter(&[(task(1), counters(500, 5, 0)), (task(2), counters(500, 5, 0))]);
        assert_eq!(tasks.total(), counters(1000, 10, 0));
        assert_eq!(tasks.total_in_turn(), counters(0, 0, 0));
        tasks.look(&[(task(1), counters(510, 6, 0))]);
        assert_eq!(tasks.total(), counters(1010, 11, 0));
        assert_eq!(tasks.total_in_turn(), counters(510, 6, 0));
    }

    #[test]
    fn the_busiest_threads_are_those_of_the_last_second() {
        let ms = |cpu_ms: u64| TaskCounters {
            cpu_ns: Some(cpu_ms * 1_000_000),
            ..TaskCounters::default()
        };
        let mut tasks = Tasks::default();
        tasks.look(&[(task(1), ms(9000)), (task(2), ms(10)), (task(3), ms(0))]);
        tasks.look(&[(task(1), ms(9001)), (task(2), ms(500)), (task(3), ms(600))]);
        assert_eq!(tasks.busiest(8, 0.5), [task(3), task(2)]);
        assert_eq!(tasks.busiest(1, 0.5), [task(3)]);
    }

    #[test]
    fn many_threads_are_read_in_turn_and_none_is_forgotten() {
        let mut tasks = Tasks::default();
        tasks.set_list((0..10).map(task).collect());
        tasks.look(&[]);
        let mut seen = Vec::new();
        for _ in 0..5 {
            seen.push(tasks.next);
            tasks.read_some(&[], 3);
        }
        assert_eq!(seen, [0, 3, 6, 9, 2]);
        tasks.set_list(Vec::new());
        tasks.read_some(&[], 3);
        assert_eq!(tasks.total(), TaskCounters::default());
    }

    #[test]
    fn our_own_threads_are_seen() {
        let process = std::process::id();
        let mut tasks = Tasks::default();
        tasks.set_list(Task::of_process(process));
        tasks.read_all();
        assert!(tasks.count() > 0 && tasks.total().voluntary_switches.is_some());
        assert!(tasks.list.iter().any(|task| !task.name().is_empty()));
    }
}
