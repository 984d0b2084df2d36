//! What this process used between two instants, and how noisy its machine was meanwhile.
//!
//! Processor time is exact. Run delay and context switches are sampled: the kernel keeps them by
//! thread and forgets them with the thread, so what a thread did after the last reading before its
//! end is not counted. Whoever must not miss it reads before the threads end.

use std::collections::HashMap;
use std::fs;

use rustix::time::{ClockId, clock_gettime};

use super::read;

const NS_PER_S: u64 = 1_000_000_000;

/// An accounting that began at some instant.
#[derive(Debug)]
pub struct Watch {
    cpu_ns_begin: u64,
    machine_begin: Option<Ticks>,
    threads: Threads,
}

/// What was used since the watch began. What could not be read is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Processor time of all our threads, user and system, with those that have ended.
    pub cpu_ns: u64,
    /// The most memory that the process ever held: since its beginning, not the watch's.
    pub max_rss_bytes: Option<u64>,
    /// Share of all processors' time that the hypervisor gave to others, 0 to 1.
    pub steal_share: Option<f64>,
    /// Share of all processors' time in which somebody worked, we among them, 0 to 1. Waiting for
    /// a disk is not work, and stolen time is not ours.
    pub system_busy_share: Option<f64>,
    /// Time in which our threads could have run and had no processor, summed over them.
    pub run_delay_ns: Option<u64>,
    /// How often our threads gave up their processor to wait.
    pub voluntary_switches: Option<u64>,
    /// How often it was taken from them.
    pub involuntary_switches: Option<u64>,
}

impl Watch {
    /// Begins now.
    pub fn start() -> Watch {
        Watch {
            cpu_ns_begin: cpu_ns(),
            machine_begin: parse_ticks(&read("/proc/stat")),
            threads: Threads::starting_from(read_threads()),
        }
    }

    /// What was used since the beginning. Reads two small files a thread, some 20 µs each: once a
    /// second is cheap, in a measured loop it is not.
    pub fn read(&mut self) -> Usage {
        self.threads.sample(read_threads());
        let total = self.threads.total;
        let machine = self.machine_begin.zip(parse_ticks(&read("/proc/stat")));
        let share_of = |ticks: fn(&Ticks) -> u64| {
            let (begin, end) = machine.as_ref()?;
            share(ticks(end).checked_sub(ticks(begin))?, end.all().checked_sub(begin.all())?)
        };
        Usage {
            cpu_ns: cpu_ns().saturating_sub(self.cpu_ns_begin),
            max_rss_bytes: field(&read("/proc/self/status"), "VmHWM").map(|kib| kib * 1024),
            steal_share: share_of(|ticks| ticks.steal),
            system_busy_share: share_of(|ticks| ticks.busy),
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

/// Where the processors' time went since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    idle: u64,
    steal: u64,
}

impl Ticks {
    fn all(&self) -> u64 {
        self.busy + self.idle + self.steal
    }
}

/// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal. The
/// guests' times that follow are within user and nice already.
fn parse_ticks(stat: &str) -> Option<Ticks> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|text| text.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    Some(Ticks { busy: user + nice + system + irq + softirq, idle: idle + iowait, steal })
}

/// A share needs something to be a share of: between two readings within one tick there is none.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What the kernel keeps of one thread, or of several summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    run_delay_ns: Option<u64>,
    voluntary_switches: Option<u64>,
    involuntary_switches: Option<u64>,
}

impl Counters {
    /// Each counter of the two, joined where both are known.
    fn join(self, other: Counters, join: fn(u64, u64) -> u64) -> Counters {
        let each = |ours: Option<u64>, theirs: Option<u64>| match (ours, theirs) {
            (Some(ours), Some(theirs)) => Some(join(ours, theirs)),
            (one, None) | (None, one) => one,
        };
        Counters {
            run_delay_ns: each(self.run_delay_ns, other.run_delay_ns),
            voluntary_switches: each(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: each(self.involuntary_switches, other.involuntary_switches),
        }
    }

    /// Counters only grow; one that fell belongs to a younger thread with the same number.
    fn continues(&self, earlier: &Counters) -> bool {
        self.run_delay_ns >= earlier.run_delay_ns
            && self.voluntary_switches >= earlier.voluntary_switches
            && self.involuntary_switches >= earlier.involuntary_switches
    }
}

/// The threads as last seen, and what all that ever lived have added up to.
#[derive(Debug, Default)]
struct Threads {
    seen: HashMap<u32, Counters>,
    total: Counters,
}

impl Threads {
    fn starting_from(seen: HashMap<u32, Counters>) -> Threads {
        let nothing = |counters: Counters| counters.join(counters, |a, b| a - b);
        let sum = |sum: Counters, &one: &Counters| sum.join(nothing(one), |a, b| a + b);
        Threads { total: seen.values().fold(Counters::default(), sum), seen }
    }

    fn sample(&mut self, now: HashMap<u32, Counters>) {
        for (thread, &counters) in &now {
            let growth = match self.seen.get(thread) {
                Some(earlier) if counters.continues(earlier) => {
                    counters.join(*earlier, |now, then| now - then)
                }
                // Born since: all that it has done counts.
                _ => counters,
            };
            self.total = self.total.join(growth, |a, b| a + b);
        }
        self.seen = now;
    }
}

fn read_threads() -> HashMap<u32, Counters> {
    let Ok(folder) = fs::read_dir("/proc/self/task") else { return HashMap::new() };
    let of_thread = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let (schedstat, status) =
            (read(entry.path().join("schedstat")), read(entry.path().join("status")));
        // A thread that ended while we looked has no files any more.
        (!status.is_empty()).then(|| (number, parse_thread(&schedstat, &status)))
    };
    folder.flatten().filter_map(of_thread).collect()
}

/// `schedstat` holds time on a processor, time waiting for one, and the number of turns.
fn parse_thread(schedstat: &str, status: &str) -> Counters {
    Counters {
        run_delay_ns: schedstat.split_whitespace().nth(1).and_then(|text| text.parse().ok()),
        voluntary_switches: field(status, "voluntary_ctxt_switches"),
        involuntary_switches: field(status, "nonvoluntary_ctxt_switches"),
    }
}

/// The number behind `name:` in a file such as `/proc/self/status`.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(run_delay_ns: u64, voluntary: u64, involuntary: u64) -> Counters {
        Counters {
            run_delay_ns: Some(run_delay_ns),
            voluntary_switches: Some(voluntary),
            involuntary_switches: Some(involuntary),
        }
    }

    #[test]
    fn guests_are_not_counted_twice_and_disk_waits_are_idle() {
        let stat = "cpu  100 10 50 800 40 5 15 20 70 7\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(parse_ticks(stat), Some(Ticks { busy: 180, idle: 840, steal: 20 }));
        assert_eq!(parse_ticks("cpu  1 2 3\n"), None);
        assert_eq!(parse_ticks(""), None);
        assert_eq!(share(1, 4), Some(0.25));
        assert_eq!(share(0, 0), None);
    }

    #[test]
    fn a_thread_is_read_from_its_two_files() {
        let status = "Name:\tx\nVmHWM:\t    1234 kB\nvoluntary_ctxt_switches:\t15\n\
                      nonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(parse_thread("900 77 18\n", status), counters(77, 15, 3));
        assert_eq!(field(status, "VmHWM"), Some(1234));
        // A kernel without scheduler statistics.
        assert_eq!(parse_thread("", status).run_delay_ns, None);
    }

    #[test]
    fn what_happened_before_the_watch_is_not_counted() {
        let mut threads = Threads::starting_from(HashMap::from([(7, counters(100, 10, 1))]));
        assert_eq!(threads.total, counters(0, 0, 0));
        threads.sample(HashMap::from([(7, counters(150, 12, 1))]));
        assert_eq!(threads.total, counters(50, 2, 0));
    }

    #[test]
    fn threads_that_ended_keep_what_they_did() {
        let mut threads = Threads::starting_from(HashMap::new());
        threads.sample(HashMap::from([(8, counters(30, 3, 0))]));
        threads.sample(HashMap::from([(9, counters(5, 1, 1))]));
        assert_eq!(threads.total, counters(35, 4, 1));
    }

    #[test]
    fn a_reused_number_is_another_thread() {
        let mut threads = Threads::starting_from(HashMap::from([(8, counters(1000, 50, 9))]));
        threads.sample(HashMap::from([(8, counters(4, 1, 0))]));
        assert_eq!(threads.total, counters(4, 1, 0));
    }

    #[test]
    fn a_thread_that_works_is_seen_on_this_machine() {
        let mut watch = Watch::start();
        let (say, heard) = std::sync::mpsc::channel::<u64>();
        let worker = std::thread::spawn(move || heard.recv());
        // Processor time is exact to the nanosecond, so a million steps cannot go unseen.
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
}
