//! Resources of a process: the generator's own, or those of the server with its children.
//!
//! Sources: proc_pid_stat(5), proc_pid_statm(5), proc_pid_io(5). A process that restarts with
//! another ID is found again. Not here: the choice of the process (process_locator).

use std::fs;

use model::{Fact, NS_PER_S};

use crate::collector::Collector;
use crate::kernel_files::read;
use crate::readings::{Readings, What};
use crate::tasks::{SharedTasks, Task, Tasks, field};

/// Limit on the threads or children that are read per second. If there are more, they are read in
/// turn. Each takes up to 50 µs on a slow machine, so 0.25 % of a core in all. With 128 it was 1.4
/// % at 900 clients.
const TASKS_A_SECOND: usize = 48;

/// Limit on the threads with gauges of their own, which are the busiest ones; a chart cannot show
/// more.
const THREADS_SHOWN: usize = 8;

/// Minimum CPU use of a thread, in percent of a core, for gauges of its own.
const SHOWN_PERCENT_MIN: f64 = 0.5;

/// Limit on the child processes that are read; further ones are left out. A server with more has a
/// connection pooler in front, or needs one.
const CHILDREN_MAX: usize = 1_024;

/// Interval, in seconds, between searches for child processes if the kernel does not list them.
/// Each search scans all processes.
const CHILDREN_EVERY: u32 = 5;

const USER: What<'_> =
    What::new("cpu_user", "%", "CPU time in user mode: 100 % is one CPU, always busy.");
const SYSTEM: What<'_> = What::new("cpu_system", "%", "CPU time in kernel mode.");
const MEMORY: What<'_> = What::new(
    "memory",
    "B",
    "Resident memory; memory shared by several processes of a server is counted once.",
);
const THREADS: What<'_> = What::new("threads", "", "Threads, including those of child processes.");
const DELAY: What<'_> = What::new(
    "run_delay",
    "ms/s",
    "Time in which its threads were ready to run but waited for a CPU, summed over threads. With \
     more than 48 threads, this and all other per-thread counters are read in turn.",
);
const VOLUNTARY: What<'_> = What::new(
    "switches_voluntary",
    "1/s",
    "Voluntary context switches: a thread gave up its CPU to wait.",
);
const INVOLUNTARY: What<'_> = What::new(
    "switches_involuntary",
    "1/s",
    "Involuntary context switches: a thread lost its CPU.",
);
const MIGRATIONS: What<'_> =
    What::new("migrations", "1/s", "Migrations of threads to another CPU.");
const READ: What<'_> = What::new("disk_read", "B/s", "Data read from disk.");
const WRITTEN: What<'_> = What::new(
    "disk_written",
    "B/s",
    "Data that it wrote past the page cache, and parts of files that it changed in it, as the \
     kernel counts them: where such a part is large, a small write counts as all of it, and this \
     is many times what the disk gets (machine.disk_written).",
);
const THREAD: What<'_> = What::new(
    "thread_cpu",
    "%",
    "CPU time of one thread, for the 8 busiest threads when the load began; the gauge threads has \
     their number.",
);

const THREAD_VOLUNTARY: What<'_> = What::new(
    "thread_switches_voluntary",
    "1/s",
    "Voluntary context switches of one of these threads.",
);
const THREAD_INVOLUNTARY: What<'_> = What::new(
    "thread_switches_involuntary",
    "1/s",
    "Involuntary context switches of one of these threads.",
);
const THREAD_MIGRATIONS: What<'_> =
    What::new("thread_migrations", "1/s", "Migrations of one of these threads to another CPU.");

/// Function that finds the id of a process, which may change; `None` if there is no such process.
pub type Locate = Box<dyn FnMut() -> Option<u32> + Send>;

/// Collector that reads CPU time, memory and file traffic of a process, and of its threads or
/// children.
pub(crate) struct Process {
    about: String,
    locate: Locate,
    threads: SharedTasks,
    has_children: bool,
    root: Option<u32>,
    /// ID and start time of the process at the last reading; `None` before the first.
    read_last: Option<(u32, u64)>,
    children: Vec<u32>,
    n_threads: u64,
    n_read: u32,
    n_cpus: usize,
    shown: Vec<(Task, String)>,
}

impl Process {
    /// Creates the collector of this process, the load generator. Other parts of dbdyno use
    /// `threads` as well.
    pub(crate) fn generator(threads: SharedTasks) -> Process {
        let process = std::process::id();
        Process::new("generator".to_owned(), Box::new(move || Some(process)), threads, false)
    }

    /// Creates the collector of another process of dbdyno, such as an agent. Its gauges have the
    /// subject `about`.
    pub(crate) fn helper(about: String, process: u32) -> Process {
        Process::new(about, Box::new(move || Some(process)), SharedTasks::default(), false)
    }

    /// Creates the collector of a server and its child processes. Its gauges have the subject
    /// `about`; `locate` finds the process, also after a restart.
    pub(crate) fn server(about: String, locate: Locate) -> Process {
        Process::new(about, locate, SharedTasks::default(), true)
    }

    fn new(about: String, locate: Locate, threads: SharedTasks, has_children: bool) -> Process {
        Process {
            about,
            locate,
            threads,
            has_children,
            root: None,
            read_last: None,
            children: Vec::new(),
            n_threads: 0,
            n_read: 0,
            n_cpus: cpu_count(),
            shown: Vec::new(),
        }
    }

    /// Returns the ID of the process and its `/proc/<pid>/stat`. If the process has ended, looks
    /// for it again; `None` if it is not found.
    fn root(&mut self) -> Option<(u32, Stat)> {
        if let Some(root) = self.root {
            let is_same = |stat: &Stat| self.read_last.is_none_or(|(_, began)| began == stat.began);
            if let Some(stat) = Stat::parse(&read(format!("/proc/{root}/stat"))).filter(is_same) {
                return Some((root, stat));
            }
            // A new process starts with empty counters and other threads.
            self.root = None;
            self.shown.clear();
            self.children.clear();
            *self.threads.lock() = Tasks::default();
        }
        let root = (self.locate)()?;
        let stat = Stat::parse(&read(format!("/proc/{root}/stat")))?;
        self.root = Some(root);
        (self.n_threads, self.n_read) = (0, 0);
        Some((root, stat))
    }

    /// Finds the threads or child processes to read, if they may have changed since the last
    /// search.
    fn find_tasks(&mut self, root: u32, stat: &Stat) {
        let is_due = self.n_read.is_multiple_of(CHILDREN_EVERY);
        self.n_read += 1;
        let mut has_changed = stat.n_threads != self.n_threads;
        let told = if self.has_children { children_told(root) } else { None };
        if self.has_children && (is_due || told.is_some()) {
            let children = told.unwrap_or_else(|| children_of(root));
            has_changed |= children != self.children;
            self.children = children;
        }
        if has_changed {
            self.n_threads = stat.n_threads;
            let mut list = Task::of_process(root);
            list.extend(self.children.iter().map(|&process| Task { process, thread: process }));
            self.threads.lock().set_list(list);
        }
    }

    fn put_tasks(&mut self, readings: &mut Readings) {
        let shown: Vec<Task> = self.shown.iter().map(|(task, _)| *task).collect();
        let mut tasks = self.threads.lock();
        tasks.read_some(&shown, TASKS_A_SECOND);
        let total = tasks.total_in_turn();
        let counted = [
            (DELAY, total.run_delay_ns, 1e-6),
            (VOLUNTARY, total.voluntary_switches, 1.0),
            (INVOLUNTARY, total.involuntary_switches, 1.0),
            (MIGRATIONS, total.migrations, 1.0),
        ];
        for (what, count, scale) in counted {
            count.into_iter().for_each(|count| readings.total(what, count as f64 * scale));
        }
        for (task, name) in &self.shown {
            let Some(seen) = tasks.seen(*task) else { continue };
            // Nanoseconds per second, in percent.
            let percent = 100.0 / NS_PER_S as f64;
            let counted = [
                (THREAD, seen.cpu_ns, percent),
                (THREAD_VOLUNTARY, seen.voluntary_switches, 1.0),
                (THREAD_INVOLUNTARY, seen.involuntary_switches, 1.0),
                (THREAD_MIGRATIONS, seen.migrations, 1.0),
            ];
            for (what, count, scale) in counted {
                let total = count.map(|count| count as f64 * scale);
                total.into_iter().for_each(|total| readings.total_of(what, name, total));
            }
        }
        if self.shown.is_empty() && self.children.is_empty() && self.n_read > 1 {
            let busiest = tasks.busiest(THREADS_SHOWN, SHOWN_PERCENT_MIN);
            drop(tasks);
            let named = busiest.into_iter().map(|task| (task, task.name()));
            self.shown = with_own_names(named.collect());
        }
    }

    fn put_memory(&self, root: u32, readings: &mut Readings) {
        let mut memory = Memory::default();
        for process in std::iter::once(&root).chain(&self.children) {
            memory.add(&read(format!("/proc/{process}/statm")));
        }
        if let Some(bytes) = memory.bytes() {
            readings.level(MEMORY, bytes as f64);
        }
    }

    /// Reports the bytes that the process and its children read from and wrote to files. For other
    /// users' processes this needs permission to trace them.
    fn put_files(&self, root: u32, readings: &mut Readings) {
        let (mut read_bytes, mut written) = (None::<u64>, None::<u64>);
        for process in std::iter::once(&root).chain(&self.children) {
            let io = read(format!("/proc/{process}/io"));
            let add = |sum: &mut Option<u64>, name: &str| {
                if let Some(bytes) = field(&io, name) {
                    *sum = Some(sum.unwrap_or(0).saturating_add(bytes));
                }
            };
            add(&mut read_bytes, "read_bytes");
            add(&mut written, "write_bytes");
        }
        for (what, bytes) in [(READ, read_bytes), (WRITTEN, written)] {
            bytes.into_iter().for_each(|bytes| readings.total(what, bytes as f64));
        }
    }
}

impl Collector for Process {
    fn about(&self) -> String {
        self.about.clone()
    }

    fn read(&mut self, readings: &mut Readings) {
        let Some((root, stat)) = self.root() else { return };
        // The counters of a new process start again.
        if self.read_last.replace((root, stat.began)) != Some((root, stat.began)) {
            readings.begin_anew();
        }
        self.find_tasks(root, &stat);
        // Time of commands in a plan that we waited for is not the generator's.
        let (mut user, mut system) = match self.has_children {
            true => (stat.user_all(), stat.system_all()),
            false => (stat.user, stat.system),
        };
        let mut n_threads = stat.n_threads;
        for child in &self.children {
            if let Some(stat) = Stat::parse(&read(format!("/proc/{child}/stat"))) {
                user = user.saturating_add(stat.user_all());
                system = system.saturating_add(stat.system_all());
                n_threads = n_threads.saturating_add(stat.n_threads);
            }
        }
        let percent = 100.0 / procfs::ticks_per_second() as f64;
        let cpu = [(USER, user as f64 * percent), (SYSTEM, system as f64 * percent)];
        readings.totals_within(cpu, 100.0 * self.n_cpus as f64);
        readings.level(THREADS, n_threads as f64);
        self.put_memory(root, readings);
        self.put_tasks(readings);
        self.put_files(root, readings);
    }

    fn facts(&self) -> Vec<Fact> {
        match self.root {
            Some(_) => Vec::new(),
            None => {
                let text = "not read: its process was not found, or this user may not inspect it";
                vec![Fact::new("monitor", &self.about, text)]
            }
        }
    }
}

/// Appends thread IDs to names that several threads share.
fn with_own_names(tasks: Vec<(Task, String)>) -> Vec<(Task, String)> {
    let is_alone = |name: &str| tasks.iter().filter(|(_, other)| other == name).count() == 1;
    let named = |(task, name): &(Task, String)| match is_alone(name) {
        true => (*task, name.clone()),
        false => (*task, format!("{name}-{}", task.thread)),
    };
    tasks.iter().map(named).collect()
}

/// Fields of `/proc/<pid>/stat`; times are in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    user: u64,
    system: u64,
    /// User time of child processes that ended and were waited for, in clock ticks.
    user_of_children: u64,
    system_of_children: u64,
    n_threads: u64,
    /// Start time of the process, in clock ticks since boot.
    began: u64,
}

impl Stat {
    /// Parses `/proc/<pid>/stat`. Fields are counted from the last parenthesis, since the command
    /// (field 2) may contain anything. `None` if malformed, or for a zombie, which uses nothing any
    /// more.
    fn parse(text: &str) -> Option<Stat> {
        let (_, fields) = text.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let numbers: Vec<&str> = fields.take(19).collect();
        let number = |field: usize| numbers.get(field - 4)?.parse::<u64>().ok();
        Some(Stat {
            parent: u32::try_from(number(4)?).ok()?,
            user: number(14)?,
            system: number(15)?,
            user_of_children: number(16)?,
            system_of_children: number(17)?,
            n_threads: number(20)?,
            began: number(22)?,
        })
    }

    fn user_all(&self) -> u64 {
        self.user.saturating_add(self.user_of_children)
    }

    fn system_all(&self) -> u64 {
        self.system.saturating_add(self.system_of_children)
    }
}

/// Returns the number of CPUs of this machine.
fn cpu_count() -> usize {
    let stat = read("/proc/stat");
    let is_one = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    stat.lines().filter(is_one).count().max(1)
}

/// Returns the ID of a process's parent; `None` if the process has ended.
pub(crate) fn parent_of(process: u32) -> Option<u32> {
    Stat::parse(&read(format!("/proc/{process}/stat"))).map(|stat| stat.parent)
}

/// Returns the IDs of a process's children as listed by the kernel, sorted; at most
/// [`CHILDREN_MAX`]. `None` if the process has several threads, or this kernel has no such lists.
fn children_told(root: u32) -> Option<Vec<u32>> {
    let mut threads = fs::read_dir(format!("/proc/{root}/task")).ok()?;
    let is_single = threads.next().is_some() && threads.next().is_none();
    let text = fs::read_to_string(format!("/proc/{root}/task/{root}/children")).ok();
    let text = text.filter(|_| is_single)?;
    let all = text.split_ascii_whitespace().filter_map(|number| number.parse().ok());
    let mut children: Vec<u32> = all.take(CHILDREN_MAX).collect();
    children.sort_unstable();
    Some(children)
}

/// Returns the IDs of a process's children, found by a scan of all processes, sorted; at most
/// [`CHILDREN_MAX`].
pub(crate) fn children_of(root: u32) -> Vec<u32> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let all = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        Stat::parse(&read(format!("/proc/{process}/stat"))).is_some_and(|stat| stat.parent == root)
    };
    let mut children: Vec<u32> = all.filter(is_child).take(CHILDREN_MAX).collect();
    children.sort_unstable();
    children
}

/// Memory used by several processes that share a part of it.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    own_pages: u64,
    shared_pages_max: u64,
    is_known: bool,
}

impl Memory {
    /// Adds the memory of a process from the text of its `statm`, in pages: total, resident, and
    /// resident ones backed by a file or shared memory. The file `status` has the same counters at
    /// several times the cost.
    fn add(&mut self, statm: &str) {
        let mut pages = statm.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
        let (Some(Ok(resident)), Some(Ok(shared))) = (pages.next(), pages.next()) else { return };
        self.own_pages = self.own_pages.saturating_add(resident.saturating_sub(shared));
        self.shared_pages_max = self.shared_pages_max.max(shared);
        self.is_known = true;
    }

    fn bytes(&self) -> Option<u64> {
        let pages = self.own_pages.saturating_add(self.shared_pages_max);
        self.is_known.then(|| pages.saturating_mul(rustix::param::page_size() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::by_name;

    #[test]
    fn a_process_is_read_behind_any_command() {
        let stat = "12 (a) R) S 3 5 6 7 8 9 10 11 12 13 1400 1500 1600 1700 18 19 20 21 22";
        let stat = Stat::parse(stat).expect("it is there");
        assert_eq!((stat.parent, stat.n_threads), (3, 20));
        assert_eq!((stat.user_all(), stat.system_all(), stat.began), (3000, 3200, 22));
        for nonsense in ["", ")", "1 (x) R", "1 (x) Z 1 2 3", "1 (x) R -1 2 3 4 5 6", "(((("] {
            assert_eq!(Stat::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn what_processes_share_is_counted_once() {
        let mut memory = Memory::default();
        assert_eq!(memory.bytes(), None);
        memory.add("9000 1120 1020 8 0 700 0\n");
        memory.add("9000 1570 1520 8 0 700 0\n");
        memory.add("nothing of that kind");
        let page_bytes = rustix::param::page_size() as u64;
        assert_eq!(memory.bytes(), Some((150 + 1520) * page_bytes));
    }

    #[test]
    fn threads_of_one_name_are_told_apart() {
        let task = |thread| Task { process: 1, thread };
        let named = vec![
            (task(1), "loop".to_owned()),
            (task(2), "client".to_owned()),
            (task(3), "client".to_owned()),
        ];
        let names: Vec<String> = with_own_names(named).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["loop", "client-2", "client-3"]);
    }

    #[test]
    fn we_are_read_ourselves_and_nobody_is_reported_as_not_found() {
        let mut readings = Readings::new("generator".to_owned());
        let mut generator = Process::generator(SharedTasks::default());
        let mut names = Vec::new();
        for second in 0..2 {
            readings.at(second * NS_PER_S as i64);
            generator.read(&mut readings);
            by_name(&mut readings, &mut names);
        }
        for name in ["cpu_user", "memory", "threads", "switches_voluntary", "disk_written"] {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
        assert!(generator.facts().is_empty());
        let mut nobody = Process::server("server".to_owned(), Box::new(|| None));
        nobody.read(&mut readings);
        assert!(readings.take().1.is_empty());
        let why = &nobody.facts()[0].value;
        assert!(why.text().is_some_and(|why| why.starts_with("not read")), "{why}");
    }
}
