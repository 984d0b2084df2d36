//! Load of a machine: processors, memory, pressure, disks and network.
//!
//! Each parser accepts any text of a file of /proc, and leaves out values that it does not find.
//! Sources: proc(5) and the kernel's Documentation/admin-guide/iostats.rst and
//! Documentation/accounting/psi.rst. Not here: processes.

use std::collections::BTreeMap;
use std::fs;

use model::Fact;
use procfs::{FromBufRead, FromRead, LoadAverage, Meminfo};

use crate::collector::Collector;
use crate::kernel_files::read;
use crate::readings::{Readings, What};

/// Limit on the number of disks, and of network interfaces, that have gauges of their own; further
/// ones have none. A container host has hundreds of interfaces.
const DEVICES_MAX: usize = 16;

/// Size of a sector in /proc/diskstats, in bytes, which is the same for every device.
const SECTOR_BYTES: f64 = 512.0;

/// Collector of the whole machine's gauges: CPU, memory, disks, network and kernel.
#[derive(Default)]
pub(crate) struct Machine {
    cpu: Option<CpuTicks>,
    /// CPU times at the last reading, by the core's number.
    cores: BTreeMap<String, CpuTicks>,
}

impl Collector for Machine {
    fn about(&self) -> String {
        "machine".to_owned()
    }

    fn read(&mut self, readings: &mut Readings) {
        let stat = read("/proc/stat");
        put_cpu(&stat, &mut self.cpu, readings);
        put_cores(&stat, &mut self.cores, readings);
        put_counts(&stat, readings);
        put_load(&read("/proc/loadavg"), readings);
        put_memory(&read("/proc/meminfo"), readings);
        for resource in ["cpu", "io", "memory"] {
            put_pressure(resource, &read(format!("/proc/pressure/{resource}")), readings);
        }
        put_disks(&read("/proc/diskstats"), &whole_disks(), readings);
        put_network(&read("/proc/net/dev"), readings);
        put_softirqs(&read("/proc/softirqs"), readings);
        put_numa(&read("/proc/vmstat"), readings);
    }

    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }
}

/// Processor time since boot, in ticks: user, nice, system, idle, iowait, irq, softirq, steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CpuTicks([u64; 8]);

impl CpuTicks {
    /// Parses the CPU times of the whole machine from `/proc/stat`. The guests' times at the end of
    /// the line are ignored, because user and nice include them. `None` if malformed.
    pub(crate) fn parse(stat: &str) -> Option<CpuTicks> {
        CpuTicks::of_line(stat.lines().find_map(|line| line.strip_prefix("cpu "))?)
    }

    /// Parses the numbers in the line of a CPU in `/proc/stat`, after the CPU's name. `None` if
    /// malformed.
    fn of_line(line: &str) -> Option<CpuTicks> {
        let ticks: Vec<u64> = numbers(line).collect();
        Some(CpuTicks(*ticks.first_chunk()?))
    }

    /// Returns, for each kind of CPU time, its share of all time since an earlier reading, from 0
    /// to 1. A counter that fell counts as unchanged; `None` if no counter has grown.
    pub(crate) fn shares_since(&self, earlier: &CpuTicks) -> Option<[f64; 8]> {
        let mut growth = [0; 8];
        for (kind, growth) in growth.iter_mut().enumerate() {
            // iowait sometimes decreases; that counts as no growth.
            *growth = self.0[kind].saturating_sub(earlier.0[kind]);
        }
        let all: u64 = growth.iter().try_fold(0_u64, |sum, one| sum.checked_add(*one))?;
        (all > 0).then(|| growth.map(|one| one as f64 / all as f64))
    }
}

/// Returns the busy share of the processors, from 0 to 1: the sum of user, nice, system, irq and
/// softirq in `shares`, as [`CpuTicks::shares_since`] returns them. Time waiting for I/O and stolen
/// time are not included.
pub(crate) fn busy_of(shares: &[f64; 8]) -> f64 {
    let [user, nice, system, _, _, irq, softirq, _] = shares;
    user + nice + system + irq + softirq
}

/// Returns the share of time, from 0 to 1, that the hypervisor gave to other guests, from `shares`
/// as [`CpuTicks::shares_since`] returns them.
pub(crate) fn steal_of(shares: &[f64; 8]) -> f64 {
    shares[7]
}

const CPU: [What<'_>; 8] = [
    What::new("cpu_user", "%", "Share of all CPU time spent in programs."),
    What::new("cpu_nice", "%", "Share spent in low-priority programs."),
    What::new("cpu_system", "%", "Share spent in the kernel for programs."),
    What::new("cpu_idle", "%", "Share in which CPUs were idle."),
    What::new("cpu_iowait", "%", "Share in which CPUs were idle while a task waited for a disk."),
    What::new("cpu_irq", "%", "Share spent in interrupts."),
    What::new("cpu_softirq", "%", "Share spent in softirqs, mostly network and timers."),
    What::new(
        "cpu_steal",
        "%",
        "Share that the hypervisor gave to other virtual machines (steal).",
    ),
];

fn put_cpu(stat: &str, before: &mut Option<CpuTicks>, readings: &mut Readings) {
    let Some(now) = CpuTicks::parse(stat) else { return };
    let shares = before.replace(now).and_then(|before| now.shares_since(&before));
    for (what, share) in CPU.iter().zip(shares.iter().flatten()) {
        readings.level(*what, share * 100.0);
    }
}

const CORE: What<'_> = What::new(
    "core_busy",
    "%",
    "Share of one core's time in which it worked, in programs or in the kernel.",
);

/// Limit on the number of cores for gauges per core. If the machine has more, no core has its own
/// gauge.
const CORES_MAX: usize = 64;

fn put_cores(stat: &str, before: &mut BTreeMap<String, CpuTicks>, readings: &mut Readings) {
    let core = |line: &str| {
        let (name, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        Some((name.to_owned(), CpuTicks::of_line(rest).filter(|_| is_number)?))
    };
    let now: BTreeMap<String, CpuTicks> = stat.lines().filter_map(core).collect();
    if now.len() > CORES_MAX {
        return;
    }
    for (name, ticks) in &now {
        let shares = before.get(name).and_then(|before| ticks.shares_since(before));
        if let Some(shares) = shares {
            readings.level_of(CORE, name, busy_of(&shares) * 100.0);
        }
    }
    *before = now;
}

const SWITCHES: What<'_> = What::new("context_switches", "1/s", "Context switches of all CPUs.");
const INTERRUPTS: What<'_> = What::new("interrupts", "1/s", "Interrupts of all devices.");
const FORKS: What<'_> = What::new("forks", "1/s", "New processes and threads.");
const RUNNING: What<'_> = What::new(
    "processes_running",
    "",
    "Threads running or ready to run, on all CPUs, when the counters are read.",
);
const BLOCKED: What<'_> =
    What::new("processes_blocked", "", "Threads waiting for a disk when the counters are read.");

fn put_counts(stat: &str, readings: &mut Readings) {
    let value = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    for (name, what) in [("ctxt", SWITCHES), ("intr", INTERRUPTS), ("processes", FORKS)] {
        value(name).into_iter().for_each(|total| readings.total(what, total as f64));
    }
    for (name, what) in [("procs_running", RUNNING), ("procs_blocked", BLOCKED)] {
        value(name).into_iter().for_each(|level| readings.level(what, level as f64));
    }
}

const LOAD: What<'_> = What::new("load_1_min", "", "The kernel's load average over a minute.");

fn put_load(loadavg: &str, readings: &mut Readings) {
    if let Ok(load) = LoadAverage::from_read(loadavg.as_bytes()) {
        readings.level(LOAD, f64::from(load.one));
    }
}

const AVAILABLE: What<'_> =
    What::new("memory_available", "B", "Memory available to programs without swapping.");
const CACHED: What<'_> = What::new("memory_cached", "B", "Page cache.");
const DIRTY: What<'_> = What::new("memory_dirty", "B", "Dirty pages, not yet written to disk.");
const WRITEBACK: What<'_> = What::new("memory_writeback", "B", "Pages being written to disk.");
const SWAP: What<'_> = What::new("swap_used", "B", "Swap space in use.");

fn put_memory(meminfo: &str, readings: &mut Readings) {
    let Ok(seen) = Meminfo::from_buf_read(meminfo.as_bytes()) else { return };
    if let Some(available) = seen.mem_available {
        readings.level(AVAILABLE, available as f64);
    }
    readings.level(CACHED, seen.cached as f64);
    readings.level(DIRTY, seen.dirty as f64);
    readings.level(WRITEBACK, seen.writeback as f64);
    readings.level(SWAP, seen.swap_total.saturating_sub(seen.swap_free) as f64);
}

/// Gauges of pressure stall information: the resource, the line of its file in /proc/pressure, and
/// the gauge. For the CPU, the line `full` is undefined for a whole machine.
const PRESSURE: [(&str, &str, What<'_>); 5] = [
    (
        "cpu",
        "some",
        What::new("pressure_cpu_some", "%", "Share of time in which some thread waited for a CPU."),
    ),
    (
        "io",
        "some",
        What::new("pressure_io_some", "%", "Share of time in which some thread waited for I/O."),
    ),
    (
        "io",
        "full",
        What::new("pressure_io_full", "%", "Share of time in which all threads waited for I/O."),
    ),
    (
        "memory",
        "some",
        What::new(
            "pressure_memory_some",
            "%",
            "Share of time in which some thread waited for memory.",
        ),
    ),
    (
        "memory",
        "full",
        What::new(
            "pressure_memory_full",
            "%",
            "Share of time in which all threads waited for memory.",
        ),
    ),
];

/// Reports the pressure of a resource from lines such as `some avg10=0.00 avg60=0.00 avg300=0.00
/// total=12345`, whose total is in microseconds.
fn put_pressure(resource: &str, text: &str, readings: &mut Readings) {
    for (_, line, what) in PRESSURE.iter().filter(|(name, _, _)| *name == resource) {
        let found = text.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(' '));
        let mut fields = found.into_iter().flat_map(str::split_ascii_whitespace);
        let total = fields.find_map(|field| field.strip_prefix("total=")?.parse::<u64>().ok());
        // Microseconds per second / 1e4 = percent.
        total.into_iter().for_each(|us| readings.total(*what, us as f64 / 1e4));
    }
}

/// Returns the machine's block devices that are not partitions, by name. The flag is true if the
/// device stores data itself, and false if it passes them on to another device or a file, as LVM
/// does.
fn whole_disks() -> BTreeMap<String, bool> {
    let Ok(listing) = fs::read_dir("/sys/block") else { return BTreeMap::new() };
    let stores = |name: &str| {
        let below = fs::read_dir(format!("/sys/block/{name}/slaves"));
        let has_below = below.is_ok_and(|mut below| below.next().is_some());
        !has_below && !["loop", "ram", "zram"].iter().any(|kind| name.starts_with(kind))
    };
    let names = listing.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.map(|name| (stores(&name), name)).map(|(stores, name)| (name, stores)).collect()
}

const READS: What<'_> = What::new("disk_reads", "1/s", "Read requests of a whole device.");
const WRITES: What<'_> = What::new("disk_writes", "1/s", "Write requests.");
const READ: What<'_> = What::new("disk_read", "B/s", "Data read.");
const WRITTEN: What<'_> = What::new("disk_written", "B/s", "Data written.");
const ALL_READ: What<'_> = What::new("disk_read", "B/s", "Data read from all disks.");
const ALL_WRITTEN: What<'_> = What::new("disk_written", "B/s", "Data written to all disks.");
const BUSY: What<'_> = What::new(
    "disk_busy",
    "%",
    "Share of time with a request in progress; a device that serves several at once may have \
     capacity left at 100 %.",
);
const QUEUE: What<'_> = What::new("disk_queue", "", "Requests in progress, on average over time.");
const LATENCY: What<'_> = What::new(
    "disk_latency",
    "ms",
    "Mean time of the requests completed in this second, including time in the queue.",
);

/// Reports gauges of the disks that had any activity since boot.
fn put_disks(diskstats: &str, whole: &BTreeMap<String, bool>, readings: &mut Readings) {
    let (mut all_read, mut all_written, mut n_stores) = (0.0, 0.0, 0);
    let shown = diskstats.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(2);
        let name = fields.next()?;
        let stores = *whole.get(name)?;
        let counts: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let counts: [u64; 11] = *counts.first_chunk()?;
        (counts[0].saturating_add(counts[4]) > 0).then_some((
            name,
            stores,
            counts.map(|count| count as f64),
        ))
    });
    for (nth, (name, stores, counts)) in shown.enumerate() {
        if stores {
            all_read += counts[2] * SECTOR_BYTES;
            all_written += counts[6] * SECTOR_BYTES;
            n_stores += 1;
        }
        if nth >= DEVICES_MAX {
            continue;
        }
        let [reads, _, read, reading_ms, writes, _, written, writing_ms, _, busy_ms, waits_ms] =
            counts;
        readings.total_of(READS, name, reads);
        readings.total_of(WRITES, name, writes);
        readings.total_of(READ, name, read * SECTOR_BYTES);
        readings.total_of(WRITTEN, name, written * SECTOR_BYTES);
        // Milliseconds per second / 10 = percent.
        readings.total_of(BUSY, name, busy_ms / 10.0);
        readings.total_of(QUEUE, name, waits_ms / 1e3);
        readings.ratio_of(LATENCY, name, reading_ms + writing_ms, reads + writes);
    }
    if n_stores > 0 {
        readings.total(ALL_READ, all_read);
        readings.total(ALL_WRITTEN, all_written);
    }
}

const BYTES_IN: What<'_> = What::new("net_in", "B/s", "Data received by an interface.");
const BYTES_OUT: What<'_> = What::new("net_out", "B/s", "Data sent by an interface.");
const PACKETS_IN: What<'_> = What::new("packets_in", "1/s", "Packets received.");
const PACKETS_OUT: What<'_> = What::new("packets_out", "1/s", "Packets sent.");
const DROPS: What<'_> = What::new("packets_dropped", "1/s", "Packets dropped, received and sent.");

/// Reports gauges of the network interfaces that had any traffic since boot, including the
/// loopback.
fn put_network(dev: &str, readings: &mut Readings) {
    let shown = dev.lines().filter_map(|line| {
        // A long name has no blank after the colon.
        let (name, counts) = line.rsplit_once(':')?;
        let counts: Vec<u64> = numbers(counts).collect();
        let counts: [u64; 12] = *counts.first_chunk()?;
        let moved = counts[1].saturating_add(counts[9]) > 0;
        moved.then_some((name.trim(), counts.map(|count| count as f64)))
    });
    for (name, counts) in shown.take(DEVICES_MAX) {
        readings.total_of(BYTES_IN, name, counts[0]);
        readings.total_of(BYTES_OUT, name, counts[8]);
        readings.total_of(PACKETS_IN, name, counts[1]);
        readings.total_of(PACKETS_OUT, name, counts[9]);
        readings.total_of(DROPS, name, counts[3] + counts[11]);
    }
}

const SOFTIRQS: What<'_> = What::new(
    "softirqs",
    "1/s",
    "Softirqs of one kind, of all CPUs: NET_RX is work of received packets, TIMER and HRTIMER of \
     timers, SCHED of the scheduler, BLOCK of disks, RCU of the kernel itself.",
);

/// Reports a gauge for each kind of softirq that occurred since boot. Each line of the text has a
/// kind, and a number per CPU.
fn put_softirqs(softirqs: &str, readings: &mut Readings) {
    for (kind, counts) in softirqs.lines().filter_map(|line| line.split_once(':')) {
        let n = numbers(counts).fold(0_u64, u64::saturating_add);
        if n > 0 {
            readings.total_of(SOFTIRQS, kind.trim(), n as f64);
        }
    }
}

/// Gauges of page counters that matter on machines with several NUMA nodes.
const NUMA: [(&str, What<'_>); 3] = [
    (
        "numa_miss",
        What::new("numa_miss", "1/s", "Pages allocated on another NUMA node than intended."),
    ),
    (
        "numa_other",
        What::new("numa_other", "1/s", "Pages allocated for a process of another NUMA node."),
    ),
    ("numa_pages_migrated", What::new("numa_migrated", "1/s", "Pages moved to another NUMA node.")),
];

/// Reports the NUMA page counters that are not zero. They are all zero on a machine with one node.
fn put_numa(vmstat: &str, readings: &mut Readings) {
    for (name, what) in NUMA {
        let parse = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok();
        let total: Option<u64> = vmstat.lines().find_map(parse);
        total.filter(|n| *n > 0).into_iter().for_each(|n| readings.total(what, n as f64));
    }
}

/// Parses the numbers at the start of a line, up to the first word that is no number.
fn numbers(line: &str) -> impl Iterator<Item = u64> {
    line.split_ascii_whitespace().map_while(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::by_name;

    const S: i64 = 1_000_000_000;

    #[test]
    fn softirqs_are_told_by_kind_and_pages_of_other_nodes_where_there_are_any() {
        let texts = [
            "            CPU0       CPU1\n  HI:   0   0\nNET_RX:   100   50\n nonsense",
            "            CPU0       CPU1\n  HI:   0   0\nNET_RX:   130   60\n TIMER: x",
        ];
        let shown = between(&mut |text, readings| put_softirqs(text, readings), texts);
        assert_eq!(shown, [("softirqs/NET_RX".to_owned(), 40.0)]);
        let texts = ["numa_hit 9\nnuma_miss 0\nnuma_pages_migrated 5\n", "numa_pages_migrated 8"];
        let shown = between(&mut |text, readings| put_numa(text, readings), texts);
        assert_eq!(shown, [("numa_migrated".to_owned(), 3.0)]);
    }

    /// Returns names and values of the gauges that `put` reports for the second between two
    /// readings of a file, with these two texts.
    fn between(put: &mut dyn FnMut(&str, &mut Readings), texts: [&str; 2]) -> Vec<(String, f64)> {
        let mut readings = Readings::new("machine".to_owned());
        let mut names = Vec::new();
        let mut shown = Vec::new();
        for (second, text) in (0..).zip(texts) {
            readings.at(second * S);
            put(text, &mut readings);
            shown = by_name(&mut readings, &mut names);
        }
        shown
    }

    fn named(name: &str, value: f64) -> (String, f64) {
        (name.to_owned(), value)
    }

    #[test]
    fn guests_are_not_counted_twice_and_disk_waits_are_idle() {
        let stat = "cpu  100 10 50 800 40 5 15 20 70 7\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        let ticks = CpuTicks::parse(stat).unwrap();
        assert_eq!(ticks, CpuTicks([100, 10, 50, 800, 40, 5, 15, 20]));
        assert_eq!(CpuTicks::parse("cpu  1 2 3\n"), None);
        assert_eq!(CpuTicks::parse(""), None);
        let later = CpuTicks([110, 10, 60, 860, 60, 5, 15, 20]);
        let shares = later.shares_since(&ticks).unwrap();
        assert_eq!((busy_of(&shares), steal_of(&shares)), (0.2, 0.0));
        assert_eq!(ticks.shares_since(&ticks), None);
        assert_eq!(CpuTicks([u64::MAX; 8]).shares_since(&CpuTicks([0; 8])), None);
    }

    #[test]
    fn each_core_is_reported_by_its_number_in_percent_of_its_own_time() {
        let mut before = BTreeMap::new();
        let mut put = |text: &str, readings: &mut Readings| put_cores(text, &mut before, readings);
        let shown = between(
            &mut put,
            [
                "cpu  9 0 9 9 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0\ncpu11 0 0 0 50 0 0 0 0\nintr 5\n",
                "cpu  9 0 9 9 0 0 0 0\ncpu0 150 0 20 120 0 0 5 5\ncpu11 0 0 0 90 10 0 0 0\nintr 6\n",
            ],
        );
        // Waiting for a disk is idle time, and stolen time is no work.
        assert_eq!(shown, [named("core_busy/0", 75.0), named("core_busy/11", 0.0)]);
        let many: String = (0..65).map(|n| format!("cpu{n} 1 1 1 1 1 1 1 1\n")).collect();
        let mut put = |text: &str, readings: &mut Readings| {
            put_cores(text, &mut BTreeMap::new(), readings);
        };
        assert_eq!(between(&mut put, [&many, &many]), []);
    }

    #[test]
    fn processors_are_reported_by_kind_in_percent_of_all() {
        let mut before = None;
        let mut put = |text: &str, readings: &mut Readings| put_cpu(text, &mut before, readings);
        let shown = between(
            &mut put,
            ["cpu  100 0 100 1000 10 0 0 0\n", "cpu  150 0 110 1130 5 0 6 4 0 0\n"],
        );
        // iowait decreased, as it sometimes does, and counts as nothing.
        assert_eq!(shown[0], named("cpu_user", 25.0));
        assert_eq!(shown[3], named("cpu_idle", 65.0));
        assert_eq!(shown[4], named("cpu_iowait", 0.0));
        assert_eq!(shown[7], named("cpu_steal", 2.0));
    }

    #[test]
    fn switches_and_interrupts_are_rates_and_the_run_queue_is_as_it_stands() {
        let first = "intr 100 1 2 3\nctxt 5000\nprocesses 10\nprocs_running 2\nprocs_blocked 0\n";
        let second = "intr 350 9 9\nctxt 6000\nprocesses 11\nprocs_running 7\nprocs_blocked 1\n";
        let shown = between(&mut |text, readings| put_counts(text, readings), [first, second]);
        let expect = [
            named("context_switches", 1000.0),
            named("interrupts", 250.0),
            named("forks", 1.0),
            named("processes_running", 7.0),
            named("processes_blocked", 1.0),
        ];
        assert_eq!(shown, expect);
    }

    #[test]
    fn pressure_is_the_share_of_time_from_its_totals() {
        let texts = [
            "some avg10=6.05 avg60=1 avg300=1 total=1000000\nfull avg10=0 total=0\n",
            "some avg10=6.05 avg60=1 avg300=1 total=1250000\nfull avg10=0 total=10000\n",
        ];
        let shown = between(&mut |text, readings| put_pressure("io", text, readings), texts);
        assert_eq!(shown, [named("pressure_io_some", 25.0), named("pressure_io_full", 1.0)]);
        let shown = between(&mut |text, readings| put_pressure("cpu", text, readings), texts);
        assert_eq!(shown, [named("pressure_cpu_some", 25.0)]);
        let none =
            between(&mut |text, readings| put_pressure("cpu", text, readings), ["", "some total="]);
        assert!(none.is_empty());
    }

    #[test]
    fn whole_disks_that_did_anything_are_reported() {
        // Data of a volume on the disk are not counted again.
        let whole = [("vda", true), ("loop0", false), ("dm-0", false)];
        let whole: BTreeMap<String, bool> =
            whole.map(|(name, stores)| (name.to_owned(), stores)).into();
        let line = |reads: u64, ms: u64| {
            format!(
                " 7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n 254 0 vda {reads} 0 800 {ms} 20 0 160 20 1 {ms} \
                 {ms} 0 0 0 0 0 0\n 254 1 vda1 9 9 9 9 9 9 9 9 9 9 9\n"
            )
        };
        let (first, second) = (line(100, 1000), line(150, 1500));
        let mut put = |text: &str, readings: &mut Readings| put_disks(text, &whole, readings);
        let shown = between(&mut put, [&first, &second]);
        let (first_of, volume) = (first.replace("vda ", "dm-0 "), second.replace("vda ", "dm-0 "));
        let with_volume = between(&mut put, [&(first_of + &first), &(volume + &second)]);
        assert_eq!(with_volume[14..], shown[7..]);
        let expect = [
            named("disk_reads/vda", 50.0),
            named("disk_writes/vda", 0.0),
            named("disk_read/vda", 0.0),
            named("disk_written/vda", 0.0),
            named("disk_busy/vda", 50.0),
            named("disk_queue/vda", 0.5),
            named("disk_latency/vda", 10.0),
            named("disk_read", 0.0),
            named("disk_written", 0.0),
        ];
        assert_eq!(shown, expect);
        // A second without requests has no latency, not 0.
        let shown = between(&mut put, [&second, &second]);
        assert_eq!((shown.len(), shown[4].1), (8, 0.0));
    }

    #[test]
    fn an_interface_with_a_long_name_is_read_too() {
        let text = |bytes: u64| {
            format!(
                "Inter-| Receive | Transmit\n face |bytes packets|bytes\n    lo: {bytes} 20 0 1 0 0 \
                 0 0 {bytes} 20 0 1 0 0 0 0\n  ifb0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
                 verylongname0:{bytes} 1 0 0 0 0 0 0 5 6 0 0 0 0 0 0\n"
            )
        };
        let (first, second) = (text(1000), text(3000));
        let shown = between(&mut |text, readings| put_network(text, readings), [&first, &second]);
        assert_eq!(shown.len(), 10, "{shown:?}");
        assert_eq!(shown[0], named("net_in/lo", 2000.0));
        assert_eq!(shown[5], named("net_in/verylongname0", 2000.0));
        assert_eq!(shown[6], named("net_out/verylongname0", 0.0));
    }

    #[test]
    fn whatever_stands_in_the_files_nothing_breaks() {
        let long = "9".repeat(1 << 16);
        let texts = ["", "\n", ":", "cpu", "cpu  -1", "some", "\u{0}\u{0}", long.as_str()];
        let lines = ["cpu  1 2 3 4 5 6 7", "a b vda 1 2", "vda:1 2 3", "intr", "ctxt x"];
        let whole: BTreeMap<String, bool> = [("vda".to_owned(), true)].into();
        for text in texts.into_iter().chain(lines) {
            let mut readings = Readings::new("machine".to_owned());
            put_cpu(text, &mut None, &mut readings);
            put_counts(text, &mut readings);
            put_load(text, &mut readings);
            put_memory(text, &mut readings);
            put_pressure("io", text, &mut readings);
            put_disks(text, &whole, &mut readings);
            put_network(text, &mut readings);
            assert!(readings.take().1.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn this_machine_is_read() {
        let (mut machine, mut readings) = (Machine::default(), Readings::new("machine".to_owned()));
        let mut names = Vec::new();
        machine.read(&mut readings);
        by_name(&mut readings, &mut names);
        readings.at(S);
        machine.read(&mut readings);
        by_name(&mut readings, &mut names);
        for name in ["memory_available", "context_switches", "load_1_min", "net_in/lo"] {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
    }
}
