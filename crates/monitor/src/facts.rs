//! Facts about the machine, stored with every run.
//!
//! Nothing here fails: unreadable values are left out. A result may be published, so data that
//! identify a person or a host are deliberately absent: host name, network addresses, serial
//! numbers, users, the kernel's command line. The paths of disks are reported as they were given.
//!
//! Not here: facts about the database (drivers), judgement of facts (findings), and the resources
//! that this process uses ([`crate::Watch`]).

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use model::{Fact, FactValue};
use procfs::{CpuInfo, FromBufRead, FromRead, LoadAverage, Meminfo};

use crate::kernel_files::read;

/// Maximum number of network interfaces that are reported; further ones are left out, because a
/// container host has hundreds.
const INTERFACES_MAX: usize = 16;

/// Returns all facts about this machine, this build of dbdyno, and the disks that hold `paths`.
///
/// Cheap enough for the start of every run: reads about a hundred small files.
pub fn machine(paths: &[&Path]) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(build());
    facts.extend(kernel());
    facts.extend(uptime(&read("/proc/uptime"), &read("/proc/stat"), &read("/proc/loadavg")));
    facts.extend(limits());
    facts.extend(cpu(&read("/proc/cpuinfo")));
    facts.extend(topology(&siblings(Path::new("/sys/devices/system/cpu"))));
    facts.extend(caches(Path::new("/sys/devices/system/cpu/cpu0/cache")));
    facts.extend(frequency(Path::new("/sys/devices/system/cpu")));
    facts.extend(memory(
        &read("/proc/meminfo"),
        &read("/sys/kernel/mm/transparent_hugepage/enabled"),
    ));
    let mounts = parse_mounts(&read("/proc/self/mountinfo"));
    facts.extend(control_group(&mounts, &read("/proc/self/cgroup")));
    for (index, path) in paths.iter().enumerate() {
        facts.extend(disk(&disk_name(index), path, &mounts));
    }
    facts.extend(network(Path::new("/sys/class/net")));
    facts
}

/// Reads a file with one line; `None` if the file is missing or empty.
fn read_line(path: impl AsRef<Path>) -> Option<String> {
    let line = read(path).trim().to_owned();
    (!line.is_empty()).then_some(line)
}

/// Reads a file with one number; `None` if the file is missing or contains something else.
fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    read_line(path)?.parse().ok()
}

/// Returns the names of the entries in a folder, sorted; none if the folder cannot be read.
fn entries(folder: &Path) -> Vec<String> {
    let Ok(listing) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        listing.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Returns the fact `name` about the subject `about`; `None` if there is no value.
fn fact(about: &str, name: &str, value: Option<impl Into<FactValue>>) -> Option<Fact> {
    value.map(|value| Fact::new(about, name, value))
}

/// Returns the word in brackets, which marks the current choice in a kernel file: `madvise` in
/// `always [madvise] never`. `None` if there are no brackets.
fn chosen(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0)
}

// Ourselves.

fn build() -> Vec<Fact> {
    // The compiler's version and the full target triple would take a build script.
    let abi = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    let target = format!("{}-{}-{abi}", std::env::consts::ARCH, std::env::consts::OS);
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    vec![
        Fact::new("build", "version", env!("CARGO_PKG_VERSION")),
        Fact::new("build", "profile", profile),
        Fact::new("build", "target", target),
    ]
}

// The operating system.

fn kernel() -> Vec<Fact> {
    let uname = rustix::system::uname();
    let clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let of_product = |name: &str| read_line(Path::new("/sys/class/dmi/id").join(name));
    [
        fact("machine", "vendor", of_product("sys_vendor")),
        fact("machine", "product", of_product("product_name")),
        fact("os", "name", os_name(&read("/etc/os-release"))),
        fact("os", "kernel_release", uname.release().to_str().ok()),
        fact("os", "kernel_version", uname.version().to_str().ok()),
        fact("os", "architecture", uname.machine().to_str().ok()),
        fact("os", "clocksource", read_line(clock)),
        fact("os", "perf_event_paranoid", read_line("/proc/sys/kernel/perf_event_paranoid")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn os_name(os_release: &str) -> Option<String> {
    let value_of = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    };
    value_of("PRETTY_NAME").or_else(|| value_of("NAME")).filter(|name| !name.is_empty())
}

fn uptime(uptime: &str, stat: &str, loadavg: &str) -> Vec<Fact> {
    let uptime_s = uptime.split('.').next().and_then(|text| text.parse::<u64>().ok());
    let booted = stat.lines().find_map(|line| line.strip_prefix("btime "));
    let load = LoadAverage::from_read(loadavg.as_bytes()).ok();
    [
        fact("os", "uptime_s", uptime_s),
        fact("os", "booted_unix_s", booted.map(str::trim)),
        fact("os", "load_1_min", load.as_ref().map(|load| load.one.to_string())),
        fact("os", "load_5_min", load.as_ref().map(|load| load.five.to_string())),
        fact("os", "load_15_min", load.as_ref().map(|load| load.fifteen.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn limits() -> Vec<Fact> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let words = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |n| n.to_string());
    vec![
        Fact::new("os", "open_files_max", words(limit.current)),
        Fact::new("os", "open_files_max_allowed", words(limit.maximum)),
    ]
}

// The processor.

fn cpu(cpuinfo: &str) -> Vec<Fact> {
    let info = CpuInfo::from_buf_read(cpuinfo.as_bytes()).ok();
    let info = info.as_ref();
    // Other architectures than x86 have no flags, so the hypervisor is unknown.
    let hypervisor = info
        .and_then(|info| info.flags(0))
        .map(|flags| if flags.contains(&"hypervisor") { "yes" } else { "no" });
    let mhz = info.and_then(|info| info.get_field(0, "cpu MHz")?.parse::<f64>().ok());
    let usable = thread::available_parallelism().ok();
    [
        fact("cpu", "model", info.and_then(|info| info.model_name(0))),
        fact("cpu", "hypervisor", hypervisor),
        fact("cpu", "mhz_seen", mhz.map(|mhz| mhz.round() as u64)),
        fact("cpu", "usable_threads", usable.map(NonZero::get)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A logical processor: the id of its package, and the kernel's list of the processors that share
/// its core.
#[derive(Debug, PartialEq, Eq)]
struct Sibling {
    package: String,
    core: String,
}

fn siblings(folder: &Path) -> Vec<Sibling> {
    let of_processor = |name: String| {
        let number = name.strip_prefix("cpu")?;
        number.parse::<u32>().ok()?;
        let topology = folder.join(&name).join("topology");
        // The first is the name since Linux 5.3, the second the older one.
        let core = read_line(topology.join("core_cpus_list"))
            .or_else(|| read_line(topology.join("thread_siblings_list")))?;
        Some(Sibling { package: read_line(topology.join("physical_package_id"))?, core })
    };
    entries(folder).into_iter().filter_map(of_processor).collect()
}

fn topology(siblings: &[Sibling]) -> Vec<Fact> {
    if siblings.is_empty() {
        return Vec::new();
    }
    let cores: BTreeSet<&str> = siblings.iter().map(|one| one.core.as_str()).collect();
    let packages: BTreeSet<&str> = siblings.iter().map(|one| one.package.as_str()).collect();
    let threads_per_core =
        cores.iter().map(|core| siblings.iter().filter(|one| one.core == **core).count()).max();
    [
        fact("cpu", "logical", Some(siblings.len())),
        fact("cpu", "cores", Some(cores.len())),
        fact("cpu", "sockets", Some(packages.len())),
        fact("cpu", "threads_per_core", threads_per_core),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns facts about the caches of the first processor: size, and number of processors that share
/// the cache.
fn caches(folder: &Path) -> Vec<Fact> {
    let of_cache = |name: String| {
        let cache = folder.join(name);
        let level = read_line(cache.join("level"))?;
        let kind = read_line(cache.join("type"))?.to_lowercase();
        let bytes = cache_bytes(&read_line(cache.join("size"))?)?;
        let kind = if kind == "unified" { String::new() } else { format!("_{kind}") };
        let mut facts = vec![Fact::new("cpu", &format!("cache_l{level}{kind}_bytes"), bytes)];
        let shared_by =
            read_line(cache.join("shared_cpu_list")).and_then(|list| list_length(&list));
        facts.extend(fact("cpu", &format!("cache_l{level}{kind}_shared_by"), shared_by));
        Some(facts)
    };
    entries(folder).into_iter().filter_map(of_cache).flatten().collect()
}

/// Parses the size of a cache, such as `32K` or `8M`, into bytes; `None` if it is malformed.
fn cache_bytes(text: &str) -> Option<u64> {
    let (number, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    Some(number.parse::<u64>().ok()? * unit)
}

/// Counts the numbers in a list of the kernel: five in `0-3,8`. `None` if it is malformed.
fn list_length(list: &str) -> Option<u32> {
    list.trim().split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        Some(sum + last.checked_sub(first)? + 1)
    })
}

fn frequency(folder: &Path) -> Vec<Fact> {
    let policies = entries(&folder.join("cpufreq"));
    let of_policies = |file: &str| {
        let values = policies.iter().filter(|name| name.starts_with("policy"));
        let values: BTreeSet<String> = values
            .filter_map(|name| read_line(folder.join("cpufreq").join(name).join(file)))
            .collect();
        (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
    };
    let mhz_of = |file: &str| Some(read_number(folder.join("cpu0/cpufreq").join(file))? / 1000);
    let nodes = read_line("/sys/devices/system/node/online").and_then(|list| list_length(&list));
    [
        fact("cpu", "governor", of_policies("scaling_governor")),
        fact("cpu", "governor_driver", of_policies("scaling_driver")),
        fact("cpu", "mhz_now", mhz_of("scaling_cur_freq")),
        fact("cpu", "mhz_max", mhz_of("cpuinfo_max_freq")),
        fact("cpu", "numa_nodes", nodes),
    ]
    .into_iter()
    .flatten()
    .collect()
}

// Memory.

fn memory(meminfo: &str, huge_pages: &str) -> Vec<Fact> {
    let seen = Meminfo::from_buf_read(meminfo.as_bytes()).ok();
    let seen = seen.as_ref();
    [
        fact("memory", "total_bytes", seen.map(|memory| memory.mem_total)),
        fact("memory", "available_bytes", seen.and_then(|memory| memory.mem_available)),
        fact("memory", "swap_total_bytes", seen.map(|memory| memory.swap_total)),
        fact("memory", "swap_free_bytes", seen.map(|memory| memory.swap_free)),
        fact("memory", "huge_pages", seen.and_then(|memory| memory.hugepages_total)),
        fact("memory", "huge_page_bytes", seen.and_then(|memory| memory.hugepagesize)),
        fact("memory", "transparent_huge_pages", chosen(huge_pages)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

// The control group (version 2).

/// Returns facts about the strictest CPU and memory limits of this process's control group and of
/// all groups that contain it.
fn control_group(mounts: &[Mount], membership: &str) -> Vec<Fact> {
    let Some(mount) = mounts.iter().find(|mount| mount.kind == "cgroup2") else {
        return Vec::new();
    };
    let Some(ours) = membership.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Vec::new();
    };
    let along = |file: &str| -> Vec<String> {
        let levels = Path::new(ours).ancestors();
        levels.filter_map(|level| read_line(mount.point.join(level).join(file))).collect()
    };
    [
        fact("cgroup", "cpu_limit_cores", strictest(&along("cpu.max"), cores_of)),
        fact("cgroup", "memory_limit_bytes", strictest(&along("memory.max"), bytes_of)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the lowest limit among several control groups as text: `none` if all say `max`. `None`
/// if no group has a value.
fn strictest(levels: &[String], limit_of: fn(&str) -> Option<f64>) -> Option<String> {
    if levels.is_empty() {
        return None;
    }
    let limits = levels.iter().filter_map(|text| limit_of(text));
    let least = limits.min_by(f64::total_cmp);
    Some(least.map_or("none".to_owned(), |limit| limit.to_string()))
}

/// Converts `cpu.max`, a control group's quota of CPU time, to cores: 2 for `200000 100000`. `None`
/// for `max 100000`, which has no limit, and for malformed text.
fn cores_of(cpu_max: &str) -> Option<f64> {
    let (quota, period) = cpu_max.split_once(' ')?;
    let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
    (period > 0.0).then(|| quota / period)
}

fn bytes_of(memory_max: &str) -> Option<f64> {
    memory_max.parse().ok()
}

// Disks.

/// Mount point, device and file system of a mount, from one line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    /// Major and minor number of the device, such as `254:0`.
    device: String,
    point: PathBuf,
    kind: String,
    source: String,
    options: String,
}

fn parse_mounts(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(parse_mount).collect()
}

/// Parses a line of `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`): id, parent, major:minor,
/// root, point, options, any number of tags, a hyphen, type, source, options of the file system.
/// `None` if it is malformed.
fn parse_mount(line: &str) -> Option<Mount> {
    let (here, of_file_system) = line.split_once(" - ")?;
    let mut here = here.split(' ').skip(2);
    let (device, _root, point) = (here.next()?, here.next()?, here.next()?);
    let mut of_file_system = of_file_system.splitn(3, ' ');
    let options_here = here.next()?;
    Some(Mount {
        device: device.to_owned(),
        point: PathBuf::from(unescape(point)),
        kind: of_file_system.next()?.to_owned(),
        source: unescape(of_file_system.next()?),
        options: telling_options(options_here, of_file_system.next().unwrap_or_default()),
    })
}

/// Decodes the kernel's escapes in a path, such as `\040` for a blank.
fn unescape(text: &str) -> String {
    let mut out = text.to_owned();
    for (code, letter) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        out = out.replace(code, letter);
    }
    out
}

/// Returns the mount options that describe the behaviour of the file system, each once. Options
/// with a path, an address or a user (`lowerdir=/a:/b`, `addr=10.0.0.1`, `username=x`) are private
/// and left out.
fn telling_options(here: &str, of_file_system: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for option in here.split(',').chain(of_file_system.split(',')) {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let names_someone = ["user", "username", "domain"].contains(&key);
        let names_a_place = value.contains(['/', ':', '.']);
        if !option.is_empty() && !names_someone && !names_a_place && !kept.contains(&option) {
            kept.push(option);
        }
    }
    kept.join(",")
}

/// Finds the mount that holds `path`: the one with the longest mount point that is a prefix of it.
/// Of several mounts with the same mount point, returns the last, which hides the others. `None` if
/// no mount holds the path.
fn mount_of<'a>(path: &Path, mounts: &'a [Mount]) -> Option<&'a Mount> {
    let holding = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    holding.max_by_key(|mount| mount.point.components().count())
}

fn disk_name(index: usize) -> String {
    if index == 0 { "disk".to_owned() } else { format!("disk {}", index + 1) }
}

fn disk(about: &str, path: &Path, mounts: &[Mount]) -> Vec<Fact> {
    // A file that does not exist yet belongs to the mount of its folder.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Some(real) = absolute.ancestors().find_map(|folder| folder.canonicalize().ok()) else {
        return Vec::new();
    };
    let mut facts = vec![Fact::new(about, "path", path.display().to_string())];
    if let Some(mount) = mount_of(&real, mounts) {
        facts.extend([
            Fact::new(about, "mount_point", mount.point.display().to_string()),
            Fact::new(about, "file_system", &mount.kind),
            Fact::new(about, "mount_options", &mount.options),
        ]);
        facts.extend(device_folder(mount).map(|folder| device(about, &folder)).unwrap_or_default());
    }
    if let Ok(space) = rustix::fs::statvfs(&real) {
        facts.push(Fact::new(about, "total_bytes", space.f_blocks * space.f_frsize));
        facts.push(Fact::new(about, "free_bytes", space.f_bavail * space.f_frsize));
    }
    facts
}

/// Finds the folder under `/sys` of the disk that a mount is on. For a partition, that is the whole
/// disk's folder, because a partition lacks most attributes. `None` if the mount is on no disk.
fn device_folder(mount: &Mount) -> Option<PathBuf> {
    let number = if mount.device.starts_with("0:") && mount.source.starts_with("/dev/") {
        // Btrfs and similar file systems mount under their own device number.
        let device = rustix::fs::stat(&mount.source).ok()?.st_rdev;
        format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
    } else {
        mount.device.clone()
    };
    let folder = Path::new("/sys/dev/block").join(number).canonicalize().ok()?;
    let mut parents = folder.ancestors().take(2);
    parents.find(|folder| folder.join("queue").is_dir()).map(Path::to_owned)
}

fn device(about: &str, folder: &Path) -> Vec<Fact> {
    let queue = folder.join("queue");
    let rotational = read_number(queue.join("rotational"));
    let scheduler = read(queue.join("scheduler"));
    [
        fact(about, "device", folder.file_name().map(|name| name.display().to_string())),
        fact(about, "device_model", read_line(folder.join("device/model"))),
        fact(about, "rotational", rotational.map(|n| if n == 0 { "no" } else { "yes" })),
        fact(about, "scheduler", chosen(&scheduler)),
        fact(about, "write_cache", read_line(queue.join("write_cache"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

// The network.

fn network(folder: &Path) -> Vec<Fact> {
    let names = entries(folder).into_iter().filter(|name| folder.join(name).join("mtu").exists());
    let of_interface = |(index, name): (usize, String)| {
        let interface = folder.join(&name);
        let shown = reported_name(&name, index);
        // A link that is down or has no speed reports -1 or an error.
        let speed = read_number(interface.join("speed"));
        [
            fact("network", &format!("{shown}_state"), read_line(interface.join("operstate"))),
            fact("network", &format!("{shown}_mbit_per_s"), speed),
            fact("network", &format!("{shown}_mtu_bytes"), read_number(interface.join("mtu"))),
        ]
    };
    names.take(INTERFACES_MAX).enumerate().flat_map(of_interface).flatten().collect()
}

/// Returns the name of a network interface for reports: its index if the name contains the hardware
/// address, such as `enx0123456789ab`, because addresses are private.
fn reported_name(name: &str, index: usize) -> String {
    let address = name.strip_prefix("enx").or_else(|| name.strip_prefix("wlx"));
    match address {
        Some(address) if address.len() == 12 && address.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("interface_{index}")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns facts as lines `about/name = value`, for tests.
    fn page(facts: &[Fact]) -> Vec<String> {
        facts.iter().map(|fact| format!("{}/{} = {}", fact.about, fact.name, fact.value)).collect()
    }

    fn sibling(package: &str, core: &str) -> Sibling {
        Sibling { package: package.to_owned(), core: core.to_owned() }
    }

    #[test]
    fn the_name_of_the_system_comes_without_its_quotes() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(os_name(text).as_deref(), expect);
        check(
            "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
            Some("Debian GNU/Linux 12"),
        );
        check("NAME=Alpine\n", Some("Alpine"));
        check("PRETTY_NAME=\"\"\n", None);
        check("", None);
    }

    #[test]
    fn uptime_boot_and_load_are_read() {
        let facts = uptime("86400.52 9.9\n", "cpu 1 2\nbtime 1700000000\n", "0.5 1.25 2 1/99 7\n");
        assert_eq!(
            page(&facts),
            [
                "os/uptime_s = 86400",
                "os/booted_unix_s = 1700000000",
                "os/load_1_min = 0.5",
                "os/load_5_min = 1.25",
                "os/load_15_min = 2",
            ]
        );
        assert_eq!(uptime("", "", ""), []);
    }

    #[test]
    fn the_processor_says_what_it_is_and_whether_it_is_a_guest() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 2.00GHz\ncpu MHz\t\t: 1999.9\n\
                    flags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: A CPU @ 2.00GHz\n\
                    cpu MHz\t\t: 2100.1\nflags\t\t: fpu hypervisor\n\n";
        let facts = page(&cpu(text));
        assert_eq!(
            facts[..3],
            ["cpu/model = A CPU @ 2.00GHz", "cpu/hypervisor = yes", "cpu/mhz_seen = 2000"]
        );
        // Other architectures have neither flags nor a clock rate: nothing is reported, nothing
        // guessed.
        let other = page(&cpu("processor\t: 0\nFeatures\t: fp asimd\n\n"));
        assert!(other.iter().all(|line| line.starts_with("cpu/usable_threads")), "{other:?}");
    }

    #[test]
    fn cores_are_counted_by_their_siblings() {
        let two_sockets_with_threads = [
            sibling("0", "0,4"),
            sibling("0", "1,5"),
            sibling("1", "2,6"),
            sibling("1", "3,7"),
            sibling("0", "0,4"),
            sibling("0", "1,5"),
            sibling("1", "2,6"),
            sibling("1", "3,7"),
        ];
        assert_eq!(
            page(&topology(&two_sockets_with_threads)),
            ["cpu/logical = 8", "cpu/cores = 4", "cpu/sockets = 2", "cpu/threads_per_core = 2"]
        );
        assert_eq!(topology(&[]), []);
    }

    #[test]
    fn sizes_and_lists_of_the_kernel_are_read() {
        assert_eq!(cache_bytes("32K"), Some(32768));
        assert_eq!(cache_bytes("8M"), Some(8 << 20));
        assert_eq!(cache_bytes("lots"), None);
        assert_eq!(list_length("0-3,8"), Some(5));
        assert_eq!(list_length("0"), Some(1));
        assert_eq!(list_length("3-1"), None);
        assert_eq!(chosen("none [mq-deadline] kyber"), Some("mq-deadline"));
        assert_eq!(chosen("none"), None);
    }

    #[test]
    fn memory_is_reported_in_bytes() {
        let text = "MemTotal: 2048 kB\nMemFree: 1 kB\nMemAvailable: 1024 kB\nBuffers: 1 kB\n\
                    Cached: 1 kB\nSwapCached: 0 kB\nActive: 1 kB\nInactive: 1 kB\n\
                    SwapTotal: 4 kB\nSwapFree: 3 kB\nDirty: 0 kB\nWriteback: 0 kB\nMapped: 1 kB\n\
                    Slab: 1 kB\nVmallocTotal: 1 kB\nVmallocUsed: 1 kB\nVmallocChunk: 0 kB\n\
                    Committed_AS: 1 kB\nHugePages_Total: 5\nHugepagesize: 2048 kB\n";
        let facts = page(&memory(text, "always [madvise] never\n"));
        assert_eq!(
            facts,
            [
                "memory/total_bytes = 2097152",
                "memory/available_bytes = 1048576",
                "memory/swap_total_bytes = 4096",
                "memory/swap_free_bytes = 3072",
                "memory/huge_pages = 5",
                "memory/huge_page_bytes = 2097152",
                "memory/transparent_huge_pages = madvise",
            ]
        );
        assert_eq!(memory("", ""), []);
    }

    #[test]
    fn the_strictest_limit_of_all_levels_holds() {
        let levels = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let cores = |texts: &[&str]| strictest(&levels(texts), cores_of);
        assert_eq!(cores(&["max 100000", "200000 100000", "50000 100000"]).as_deref(), Some("0.5"));
        assert_eq!(cores(&["max 100000"]).as_deref(), Some("none"));
        assert_eq!(cores(&[]), None);
        let bytes = strictest(&levels(&["max", "17179869184"]), bytes_of);
        assert_eq!(bytes.as_deref(), Some("17179869184"));
    }

    #[test]
    fn a_path_lies_on_the_longest_mount_and_the_last_of_equals() {
        let mounts = parse_mounts(
            "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
             30 27 8:17 / /data\\040one rw,noatime shared:1 master:2 - xfs /dev/sdb1 rw,noquota\n\
             31 27 0:40 / / rw - overlay overlay rw,lowerdir=/a:/b,metacopy=on\n\
             32 27 0:50 / /net rw - nfs4 h:/x rw,addr=10.1.1.1,vers=4.2,hard,username=eve\n\
             a line that is none\n",
        );
        let kind = |path: &str| mount_of(Path::new(path), &mounts).map(|mount| mount.kind.as_str());
        assert_eq!(mounts.len(), 4);
        assert_eq!(kind("/data one/db"), Some("xfs"));
        assert_eq!(kind("/data"), Some("overlay"));
        assert_eq!(kind("/network"), Some("overlay"));
        assert_eq!(mounts[1].options, "rw,noatime,noquota");
        assert_eq!(mounts[2].options, "rw,metacopy=on");
        assert_eq!(mounts[3].options, "rw,hard", "places and people are left out");
    }

    #[test]
    fn an_interface_named_by_its_address_is_not_named() {
        assert_eq!(reported_name("enx0a1b2c3d4e5f", 2), "interface_2");
        assert_eq!(reported_name("enp3s0", 2), "enp3s0");
    }

    #[test]
    fn this_machine_tells_about_itself_and_not_about_its_owner() {
        let facts = machine(&[Path::new("."), Path::new("no/such/folder/yet.sqlite")]);
        let value = |about: &str, name: &str| {
            facts
                .iter()
                .find(|fact| fact.about == about && fact.name == name)
                .map(|f| f.value.to_string())
        };
        assert_eq!(value("build", "version").as_deref(), Some(env!("CARGO_PKG_VERSION")));
        let profile = value("build", "profile");
        assert_eq!(profile.as_deref(), Some("debug").filter(|_| cfg!(debug_assertions)));
        for (about, name) in [
            ("os", "kernel_release"),
            ("os", "uptime_s"),
            ("cpu", "usable_threads"),
            ("memory", "total_bytes"),
            ("disk", "file_system"),
            ("disk", "free_bytes"),
            ("disk 2", "mount_point"),
        ] {
            assert!(value(about, name).is_some_and(|value| !value.is_empty()), "{about}/{name}");
        }
        let host = rustix::system::uname();
        let host = host.nodename().to_str().unwrap_or_default();
        if host.len() > 4 {
            let shown = facts.iter().any(|fact| fact.name.contains("host") || fact.value == host);
            assert!(!shown, "the host is not named");
        }
        let mut names: Vec<(&str, &str)> =
            facts.iter().map(|fact| (&*fact.about, &*fact.name)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "no fact is reported twice");
    }
}
