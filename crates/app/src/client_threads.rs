//! Measures how busy the client threads are: each event loop alone, or all threads that serve one
//! client each together.
//!
//! A thread is busy while it runs or waits for a CPU. Both times are kernel counters
//! (`/proc/<pid>/task/<tid>/schedstat`), so measured queries are not slowed down. Not here: reading
//! the files (monitor).

use std::collections::BTreeMap;
use std::time::Instant;

use engine::{ClientThread, ClientThreads};
use model::{Fact, FactValue};
use monitor::wall_clock;

use monitor::{SharedTasks, Task, TaskCounters};
use serde::{Deserialize, Serialize};

/// Counters of a run's client threads at the start of a period, from which [`ThreadWatch::read`]
/// computes their CPU use in the period.
#[derive(Debug)]
pub(crate) struct ThreadWatch {
    began: Instant,
    before: BTreeMap<ClientThread, TaskCounters>,
}

/// CPU time and CPU waiting time of client threads in a period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadUse {
    wall_ns: u64,
    /// Client threads for which both counters could be read at the beginning and at the end of the
    /// period.
    threads: Vec<OfThread>,
}

/// CPU time and CPU waiting time of one client thread in a period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct OfThread {
    /// Index of the event loop that runs on this thread; `None` if the thread serves one client.
    loop_index: Option<u32>,
    /// Time that the thread was on a CPU, in nanoseconds.
    cpu_ns: u64,
    /// Time during which the thread was runnable but had no CPU, in nanoseconds.
    run_delay_ns: u64,
}

fn last_read<'a>(
    threads: &SharedTasks,
    list: impl IntoIterator<Item = &'a ClientThread>,
) -> BTreeMap<ClientThread, TaskCounters> {
    let tasks = threads.lock();
    let process = std::process::id();
    let reading = |thread: &ClientThread| {
        let task = Task { process, thread: thread.thread };
        Some((*thread, tasks.last_read(task)?))
    };
    list.into_iter().filter_map(reading).collect()
}

impl ThreadWatch {
    /// Starts a period with the counters that the monitor has read last. Must be called right after
    /// the monitor has read those of all threads.
    pub(crate) fn begin(threads: &SharedTasks, clients: &ClientThreads) -> ThreadWatch {
        ThreadWatch { began: wall_clock::now(), before: last_read(threads, &clients.list()) }
    }

    /// Returns CPU time and CPU waiting time of each client thread since [`ThreadWatch::begin`].
    /// Must be called right after the monitor has read the counters again.
    pub(crate) fn read(&self, threads: &SharedTasks) -> ThreadUse {
        let grown = |(thread, now): (&ClientThread, &TaskCounters)| {
            let before = self.before.get(thread)?;
            let grown = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
            Some(OfThread {
                loop_index: thread.loop_index,
                cpu_ns: grown(now.cpu_ns, before.cpu_ns)?,
                run_delay_ns: grown(now.run_delay_ns, before.run_delay_ns)?,
            })
        };
        let now = last_read(threads, self.before.keys());
        ThreadUse {
            wall_ns: self.began.elapsed().as_nanos() as u64,
            threads: now.iter().filter_map(grown).collect(),
        }
    }
}

impl ThreadUse {
    /// Adds the threads of another process of the run. `first_loop` is the run-wide index of its
    /// first event loop.
    pub(crate) fn add(&mut self, first_loop: u32, other: &ThreadUse) {
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.threads.extend(other.threads.iter().map(|thread| OfThread {
            loop_index: thread.loop_index.map(|index| first_loop + index),
            ..*thread
        }));
    }

    /// Returns the total time that threads with one client each waited for a CPU, in nanoseconds;
    /// `None` if clients run on event loops.
    pub(crate) fn run_delay_ns(&self) -> Option<u64> {
        let own = self.threads.iter().filter(|thread| thread.loop_index.is_none());
        own.map(|thread| thread.run_delay_ns).reduce(|sum, ns| sum + ns)
    }

    /// Returns facts with the time, in percent, that client threads were busy (running or waiting
    /// for a CPU) and that they waited for a CPU: for each event loop, or the mean over threads
    /// with one client each.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        if self.wall_ns == 0 || self.threads.is_empty() {
            return Vec::new();
        }
        let percent = |ns: u64| (100.0 * ns as f64 / self.wall_ns as f64).min(100.0);
        let listed = |percents: Vec<f64>| {
            FactValue::list(percents.into_iter().map(|percent| FactValue::percent(percent, 1)))
        };
        let loops: Vec<_> =
            self.threads.iter().filter(|thread| thread.loop_index.is_some()).collect();
        if !loops.is_empty() {
            let busy =
                loops.iter().map(|thread| percent(thread.cpu_ns + thread.run_delay_ns)).collect();
            let waiting = loops.iter().map(|thread| percent(thread.run_delay_ns)).collect();
            return vec![
                Fact::new("client", "loop_busy_percent", listed(busy)),
                Fact::new("client", "loop_run_delay_percent", listed(waiting)),
            ];
        }
        let n = self.threads.len() as u64;
        let mean = |ns: u64| FactValue::percent(percent(ns / n), 2);
        let cpu_ns: u64 = self.threads.iter().map(|thread| thread.cpu_ns).sum();
        let delay_ns: u64 = self.threads.iter().map(|thread| thread.run_delay_ns).sum();
        vec![
            Fact::new("client", "thread_busy_percent", mean(cpu_ns + delay_ns)),
            Fact::new("client", "thread_run_delay_percent", mean(delay_ns)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(threads: &[(Option<u32>, u64, u64)]) -> ThreadUse {
        let thread_use = |(loop_index, cpu_ns, run_delay_ns): &(Option<u32>, u64, u64)| {
            let (loop_index, cpu_ns, run_delay_ns) = (*loop_index, *cpu_ns, *run_delay_ns);
            OfThread { loop_index, cpu_ns, run_delay_ns }
        };
        ThreadUse { wall_ns: 1_000, threads: threads.iter().map(thread_use).collect() }
    }

    fn facts(used: &ThreadUse) -> Vec<(String, String)> {
        used.facts().into_iter().map(|fact| (fact.name, fact.value.to_string())).collect()
    }

    #[test]
    fn each_loop_is_reported_and_threads_are_together() {
        let pairs = |list: [(&str, &str); 2]| list.map(|(a, b)| (a.to_owned(), b.to_owned()));
        let loops = used(&[(Some(0), 600, 300), (Some(1), 200, 1)]);
        let expected =
            [("loop_busy_percent", "90.0, 20.1"), ("loop_run_delay_percent", "30.0, 0.1")];
        assert_eq!(facts(&loops), pairs(expected));
        assert_eq!(loops.run_delay_ns(), None);
        let mut both = loops.clone();
        both.add(2, &loops);
        let expected = [
            ("loop_busy_percent", "90.0, 20.1, 90.0, 20.1"),
            ("loop_run_delay_percent", "30.0, 0.1, 30.0, 0.1"),
        ];
        assert_eq!(facts(&both), pairs(expected));
        assert_eq!(both.threads.last().and_then(|thread| thread.loop_index), Some(3));
        let threads = used(&[(None, 100, 300), (None, 0, 0)]);
        let expected = [("thread_busy_percent", "20.00"), ("thread_run_delay_percent", "15.00")];
        assert_eq!(facts(&threads), pairs(expected));
        assert_eq!(threads.run_delay_ns(), Some(300));
        assert_eq!(facts(&used(&[])), []);
    }

    #[test]
    fn a_thread_that_works_is_busy_and_one_that_waits_is_not() {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || released.recv());
        let threads = SharedTasks::default();
        let mut watch = monitor::Watch::over(&threads);
        let tasks = Task::of_process(std::process::id());
        let list: Vec<ClientThread> = tasks
            .iter()
            .map(|task| ClientThread { loop_index: None, thread: task.thread })
            .collect();
        let begun = ThreadWatch { began: wall_clock::now(), before: last_read(&threads, &list) };
        let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        assert!(begun.before.keys().any(|thread| thread.thread == own));
        std::hint::black_box((0..2_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        watch.read();
        let used = begun.read(&threads);
        assert!(used.threads.iter().any(|thread| thread.cpu_ns > 10_000), "{used:?}");
        release.send(()).expect("it waits");
        waiting.join().expect("no panic").expect("it was released");
    }
}
