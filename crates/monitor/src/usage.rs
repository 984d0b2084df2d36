//! Resources that dbdyno's process used between two instants, and the load of its machine from
//! others in that time.
//!
//! CPU time is exact. Run delay and context switches are sampled by thread (see [`SharedTasks`]): a
//! thread's work after the last reading before its end is not counted.

use rustix::time::{ClockId, clock_gettime};

use crate::kernel_files::read;
use crate::machine::{CpuTicks, busy_of, steal_of};
use crate::tasks::{SharedTasks, Task, TaskCounters, field};

const NS_PER_S: u64 = 1_000_000_000;

/// Limit on the threads that one call of [`look`] reads. If there are more, the next call continues
/// with the others.
const THREADS_A_LOOK: usize = 256;

/// Measurement of this process's use of CPU and memory, which begins when this value is created.
#[derive(Debug)]
pub struct Watch {
    cpu_ns_begin: u64,
    machine_begin: Option<CpuTicks>,
    threads_begin: TaskCounters,
    threads: SharedTasks,
}

/// Use of CPU and memory by this process since [`Watch::start`] or [`Watch::over`]. A value that
/// could not be read is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time of all threads of this process, user and system, including those that have ended,
    /// in nanoseconds.
    pub cpu_ns: u64,
    /// Peak memory of the process in bytes, since the process started and not since the measurement
    /// began.
    pub max_rss_bytes: Option<u64>,
    /// Share of all processors' time that the hypervisor gave to other guests, from 0 to 1.
    pub steal_share: Option<f64>,
    /// Share of all processors' time in which they executed any process, including this one, from 0
    /// to 1. Waiting for a disk and time given to other guests are not included.
    pub system_busy_share: Option<f64>,
    /// Time in which threads were ready to run but had no processor, summed over all threads, in
    /// nanoseconds.
    pub run_delay_ns: Option<u64>,
    /// Number of context switches because a thread waited for something, over all threads.
    pub voluntary_switches: Option<u64>,
    /// Number of context switches because the kernel gave a thread's processor to another one, over
    /// all threads.
    pub involuntary_switches: Option<u64>,
}

/// Reads the counters of all threads of this process, and returns their sum.
fn read_all(threads: &SharedTasks) -> TaskCounters {
    let mut tasks = threads.lock();
    tasks.set_list(Task::of_process(std::process::id()));
    tasks.read_all();
    tasks.total()
}

/// Reads the counters of some threads of this process. Called while the load runs, so that the work
/// of threads that end before [`Watch::read`] is not lost.
pub fn look(threads: &SharedTasks) {
    let mut tasks = threads.lock();
    if tasks.count() <= THREADS_A_LOOK {
        tasks.set_list(Task::of_process(std::process::id()));
    }
    tasks.read_some(&[], THREADS_A_LOOK);
}

impl Watch {
    /// Begins a measurement over the threads of this process. If other code reads their counters
    /// too, call [`Watch::over`] instead.
    pub fn start() -> Watch {
        Watch::over(&SharedTasks::default())
    }

    /// Begins a measurement over the threads of this process, whose counters other code also reads
    /// from `threads`.
    pub fn over(threads: &SharedTasks) -> Watch {
        Watch {
            cpu_ns_begin: cpu_ns(),
            machine_begin: CpuTicks::parse(&read("/proc/stat")),
            threads_begin: read_all(threads),
            threads: threads.clone(),
        }
    }

    /// Returns the resources used since the beginning of the measurement. Reads all threads, which
    /// is cheap at the end of a phase, but too slow for a measured loop.
    pub fn read(&mut self) -> Usage {
        let total = read_all(&self.threads).join(self.threads_begin, |now, then| now - then);
        let now = CpuTicks::parse(&read("/proc/stat"));
        let shares = now.zip(self.machine_begin).and_then(|(now, then)| now.shares_since(&then));
        Usage {
            cpu_ns: cpu_ns().saturating_sub(self.cpu_ns_begin),
            max_rss_bytes: field(&read("/proc/self/status"), "VmHWM").map(|kib| kib * 1024),
            steal_share: shares.as_ref().map(steal_of),
            system_busy_share: shares.as_ref().map(busy_of),
            run_delay_ns: total.run_delay_ns,
            voluntary_switches: total.voluntary_switches,
            involuntary_switches: total.involuntary_switches,
        }
    }
}

fn cpu_ns() -> u64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let positive = |n: i64| u64::try_from(n).expect("a process has not spent less than nothing");
    positive(spent.tv_sec) * NS_PER_S + positive(spent.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_is_seen_on_this_machine() {
        let mut watch = Watch::start();
        let (say, heard) = std::sync::mpsc::channel::<u64>();
        let worker = std::thread::spawn(move || heard.recv());
        // CPU time is exact to the nanosecond, so a million steps are visible.
        let sum = (0..1_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n));
        let usage = watch.read();
        say.send(sum).unwrap();
        worker.join().unwrap().unwrap();
        assert!(usage.cpu_ns > 10_000, "{usage:?}");
        assert!(usage.max_rss_bytes.is_some_and(|bytes| bytes > 1 << 20), "{usage:?}");
        assert!(usage.voluntary_switches.is_some(), "{usage:?}");
        for share in [usage.steal_share, usage.system_busy_share].into_iter().flatten() {
            assert!((0.0..=1.0).contains(&share), "{usage:?}");
        }
        let later = watch.read();
        assert!(later.cpu_ns >= usage.cpu_ns && later.run_delay_ns >= usage.run_delay_ns);
    }

    #[test]
    fn two_watches_over_the_same_threads_count_each_from_its_own_beginning() {
        let threads = SharedTasks::default();
        let mut first = Watch::over(&threads);
        let before = first.read().voluntary_switches;
        let (say, heard) = std::sync::mpsc::channel::<()>();
        let (shown, hear) = std::sync::mpsc::channel::<()>();
        let worker = std::thread::spawn(move || {
            shown.send(()).unwrap();
            heard.recv().unwrap();
        });
        hear.recv().unwrap();
        let mut second = Watch::over(&threads);
        look(&threads);
        say.send(()).unwrap();
        worker.join().unwrap();
        let (first, second) = (first.read(), second.read());
        assert!(first.voluntary_switches >= before);
        assert!(first.voluntary_switches >= second.voluntary_switches, "{first:?} {second:?}");
    }
}
