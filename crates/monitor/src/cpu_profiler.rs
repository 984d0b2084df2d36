//! Samples the call stacks of the database server and of dbdyno (the generator) in the measured
//! phase, with Linux `perf`.
//!
//! If the kernel allows it, one recording covers the whole machine, and only the processes of
//! server and generator are evaluated: this costs nothing at a context switch, and a run with
//! 25,000 switches per second lost 1.5 % of its throughput. Otherwise server and generator each
//! have a recording that is attached to their processes, whose timers are set at each switch: the
//! same run lost 15 %. Recordings begin before clients connect, with their events disabled, so that
//! threads and processes that begin later are included; the measured phase only enables and
//! disables the events. Recordings are written to unnamed files, so nothing is left behind if this
//! process is killed, and `perf record` ends with its command, a `cat` whose input only this
//! process holds open.
//!
//! Stacks are unwound by DWARF: distributions build servers without frame pointers, and by these
//! their stacks would end after a frame or two. It costs a copy of 16 KiB of stack per sample, so
//! the frequency is lower in a long run or with many CPUs. Not here: folding stacks (stacks), and
//! choosing the parts to show (analysis).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Seek, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use model::{Choice, CpuProfile, Database, Event, Fact, Phase, ProfileSide};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::FdFlags;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::kernel_files::read;
use crate::process::{Locate, children_of};
use crate::process_locator::{ProcessLocator, proxy};
use crate::stacks::{Folded, Folder};

/// Maximum number of samples per second of a busy CPU. It is odd, so that events that occur ten
/// times per second are not sampled always or never.
const FREQUENCY_HZ_MAX: u64 = 99;

/// Minimum number of samples per second of a busy CPU; fewer make no useful profile.
const FREQUENCY_HZ_MIN: u64 = 5;

/// Target number of samples in a run in which all CPUs are busy: at most 250 MB of stacks, and
/// about 10 s to resolve names.
const SAMPLES_AIMED: u64 = 15_000;

/// Option of `perf record` for the maximum size of a recording, at which `perf` stops recording.
const RECORDING_MAX: &str = "--max-size=512M";

/// Option of `perf record` for the unwinding method, and the bytes of stack copied per sample. With
/// 8 KiB, two fifths of MariaDB's stacks were incomplete.
const CALL_GRAPH: &str = "dwarf,16384";

/// Time limit for `perf` to report that it has attached to the processes.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// Time limit for `perf` to write its data after its input has ended.
const END_WITHIN: Duration = Duration::from_secs(20);

/// Search path for programs that `perf` starts, which inherits nothing from the user's environment.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Subject under which facts about CPU profiles are reported.
const ABOUT: &str = "cpu_profile";

/// Programs and processes that a CPU profile of a run needs, and the run's expected duration.
pub struct ProfileScope {
    /// Path of the Linux program `perf`, which samples the stacks.
    pub perf: PathBuf,
    /// Ids of the server's processes, without their children. `Err` is the reason, in a sentence,
    /// why they are not known.
    pub server: Result<Vec<u32>, String>,
    /// Ids of the processes of dbdyno that run clients of the load.
    pub generator: Vec<u32>,
    /// Expected length of the measured phase; `None` if it ends after a number of transactions.
    pub measured: Option<Duration>,
}

pub struct CpuProfiler {
    perf: PathBuf,
    recordings: Vec<Recording>,
    facts: Vec<Fact>,
}

/// Server or generator, with the processes to sample for its CPU profile.
#[derive(Clone, Debug)]
struct Side {
    side: ProfileSide,
    /// Ids of the processes that the caller gave for sampling.
    roots: Vec<u32>,
    /// Ids of the processes to sample: those that the caller gave and, for a server, their
    /// children.
    processes: Vec<u32>,
}

/// A running `perf record`, which samples the whole machine, or the processes of the server or the
/// generator.
struct Recording {
    sides: Vec<Side>,
    is_system_wide: bool,
    event: &'static str,
    frequency_hz: u64,
    child: Child,
    /// Input of the command `cat` that `perf` runs. The kernel closes it when this process ends,
    /// which ends `cat` and so `perf`.
    pipe: Option<ChildStdin>,
    control: PipeWriter,
    /// Reading end of the pipe into which `perf` acknowledges commands. It stays open, because
    /// `perf` would end by SIGPIPE otherwise.
    acknowledged: PipeReader,
    data: File,
}

/// Finds the ids of the server's processes for a CPU profile: those that dbdyno started or, if
/// there are none, the one that listens where clients connect. `Err` is the reason, in a sentence,
/// why no process is found.
pub fn server_processes(
    database: Option<&dyn Database>,
    started: Option<Vec<(String, Locate)>>,
    programs: &[String],
) -> Result<Vec<u32>, String> {
    let roots: Vec<u32> = match started {
        Some(all) => all.into_iter().filter_map(|(_, mut locate)| locate()).collect(),
        None => match database
            .and_then(Database::hosts)
            .map(|hosts| ProcessLocator::for_hosts(&hosts.list()))
        {
            None => {
                return Err("the database runs within dbdyno: see the graph of dbdyno".to_owned());
            }
            Some(ProcessLocator::Elsewhere) => {
                return Err("no server process on this machine".to_owned());
            }
            Some(locator) => locator.process(programs).into_iter().collect(),
        },
    };
    if let Some(name) = roots.iter().find_map(|root| proxy(*root)) {
        return Err(format!("a proxy ({name}) listens at the target, not the server"));
    }
    if roots.is_empty() {
        let why = "no server process was found on this machine, or this user may not see it";
        return Err(why.to_owned());
    }
    Ok(roots)
}

impl Side {
    fn new(side: ProfileSide, roots: Vec<u32>) -> Side {
        let mut side = Side { side, processes: roots.clone(), roots };
        side.find_children();
        side
    }

    /// Adds the current children of a server's processes, since a server may have a process per
    /// session. Does nothing for the generator, whose client processes are given by the caller.
    fn find_children(&mut self) {
        if self.side == ProfileSide::Server {
            self.processes.extend(self.roots.iter().flat_map(|root| children_of(*root)));
            self.processes.sort_unstable();
            self.processes.dedup();
        }
    }
}

impl CpuProfiler {
    /// Starts `perf` for the server and the generator, with sampling disabled at first. If one of
    /// them cannot be sampled, a fact about it has the reason.
    pub fn start(scope: ProfileScope) -> CpuProfiler {
        let mut profiler =
            CpuProfiler { perf: scope.perf, recordings: Vec::new(), facts: Vec::new() };
        let mut sides = vec![Side::new(ProfileSide::Generator, scope.generator)];
        match scope.server {
            // The server's recording starts first: that of the generator would otherwise include
            // its `perf`, which is a child process of dbdyno.
            Ok(roots) => sides.insert(0, Side::new(ProfileSide::Server, roots)),
            Err(why) => profiler.facts.push(none(ProfileSide::Server, &why)),
        }
        let frequency_hz = frequency_hz(scope.measured);
        if let Ok(recording) = Recording::start(&profiler.perf, &sides, true, frequency_hz) {
            profiler.recordings.push(recording);
            return profiler;
        }
        for side in sides {
            match Recording::start(&profiler.perf, std::slice::from_ref(&side), false, frequency_hz)
            {
                Ok(recording) => profiler.recordings.push(recording),
                Err(why) => profiler.facts.push(none(side.side, &why)),
            }
        }
        profiler
    }

    /// Enables sampling when the measured phase begins, and disables it when the drain begins. Call
    /// it with each event of the run.
    pub fn follow(&mut self, event: &Event) {
        let command: &[u8] = match event {
            Event::Phase { phase: Phase::Measure, .. } => b"enable\n",
            Event::Phase { phase: Phase::Drain, .. } => b"disable\n",
            _ => return,
        };
        let is_end = command == b"disable\n";
        for recording in &mut self.recordings {
            if is_end {
                recording.sides.iter_mut().for_each(Side::find_children);
            }
            // Fails only if `perf` has ended, which is reported at the end.
            let _ended = recording.control.write_all(command);
        }
    }

    /// Ends `perf` after the load, and returns the CPU profiles of server and generator. If one of
    /// them has no profile, a fact has the reason.
    pub fn end(mut self) -> (Vec<CpuProfile>, Vec<Fact>) {
        let mut profiles = Vec::new();
        for recording in std::mem::take(&mut self.recordings) {
            for (side, profile) in recording.end(&self.perf) {
                match profile {
                    Ok(profile) => profiles.push(profile),
                    Err(why) => self.facts.push(none(side, &why)),
                }
            }
        }
        (profiles, self.facts)
    }

    /// Ends `perf` without a profile, as when a run fails. Returns facts with the reason `why`.
    pub fn abandon(mut self, why: &str) -> Vec<Fact> {
        for recording in std::mem::take(&mut self.recordings) {
            self.facts.extend(recording.sides.iter().map(|side| none(side.side, why)));
        }
        self.facts
    }
}

/// Returns the fact that the server or generator (`side`) has no CPU profile, with the reason
/// `why`.
fn none(side: ProfileSide, why: &str) -> Fact {
    Fact::new(ABOUT, side.name(), why.to_owned())
}

/// Returns how many samples per second `perf` takes of a busy CPU: fewer for a long run or many
/// CPUs, so that the data stay small. `None`, a run of unknown length, counts as 60 s.
fn frequency_hz(measured: Option<Duration>) -> u64 {
    let seconds = measured.unwrap_or(Duration::from_secs(60)).as_secs().max(1);
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let aimed = SAMPLES_AIMED / seconds.saturating_mul(cpus).max(1);
    aimed.clamp(FREQUENCY_HZ_MIN, FREQUENCY_HZ_MAX) | 1
}

/// Returns the `perf` event to sample: `cycles` or, if the CPU has no counter of them, as in many
/// virtual machines, `cpu-clock`. Cycles include kernel code with interrupts disabled.
fn event() -> &'static str {
    match Path::new("/sys/bus/event_source/devices/cpu/events/cpu-cycles").exists() {
        true => "cycles",
        false => "cpu-clock",
    }
}

/// Prepares a command that runs `perf` with an empty environment, so that it reads no user settings
/// and downloads no symbols.
fn perf(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", PATH).env("LC_ALL", "C").env("PERF_CONFIG", "/dev/null");
    // In its own process group, so that Ctrl-C does not reach it.
    command.current_dir("/").process_group(0);
    command
}

/// Creates a file without a name, which disappears when this process ends.
fn nameless_file() -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    // Not every file system supports unnamed files; tmpfs does.
    let made = rustix::fs::open("/var/tmp", flags, mode)
        .or_else(|_| rustix::fs::open("/tmp", flags, mode))
        .or_else(|_| rustix::fs::memfd_create("dbdyno-stacks", MemfdFlags::CLOEXEC))?;
    Ok(File::from(made))
}

/// Lets child processes inherit a file descriptor, and returns its number. Another child started at
/// the same time inherits it too, which is harmless.
fn inherited(fd: BorrowedFd<'_>) -> io::Result<i32> {
    rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
    Ok(fd.as_raw_fd())
}

/// Waits until `fd` has data or has ended, for at most `limit`. Returns the flags of the event, or
/// none after the limit.
fn is_readable_within(fd: BorrowedFd<'_>, limit: Duration) -> PollFlags {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: 0 };
    let mut polled = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    match poll(&mut polled, Some(&limit)) {
        Ok(_) => polled[0].revents(),
        Err(_) => PollFlags::empty(),
    }
}

fn list(processes: &[u32]) -> String {
    let numbers: Vec<String> = processes.iter().map(u32::to_string).collect();
    numbers.join(",")
}

impl Recording {
    /// Starts a recording with disabled events. `Err` is the reason, in a sentence, why it cannot
    /// be started.
    fn start(
        program: &Path,
        sides: &[Side],
        is_system_wide: bool,
        frequency_hz: u64,
    ) -> Result<Recording, String> {
        let begin = |event| Recording::begin(program, sides, is_system_wide, event, frequency_hz);
        let recording = match begin(event()) {
            Err(Refused::Perf(_)) if event() != "cpu-clock" => begin("cpu-clock"),
            first => first,
        };
        recording.map_err(|refused| refused.sentence())
    }

    fn begin(
        program: &Path,
        sides: &[Side],
        is_system_wide: bool,
        event: &'static str,
        frequency_hz: u64,
    ) -> Result<Recording, Refused> {
        let whom = match is_system_wide {
            true => vec!["-a".to_owned()],
            false => {
                let all: Vec<u32> = sides.iter().flat_map(|side| side.processes.clone()).collect();
                vec!["-p".to_owned(), list(&all)]
            }
        };
        // The clock also ticks on idle CPUs, which are excluded.
        let but_idle = if is_system_wide && event == "cpu-clock" { ":I" } else { "" };
        let (commands, control) = pipe()?;
        let (acknowledged, acknowledging) = pipe()?;
        let (data, output) = nameless_file().and_then(|file| Ok((file.try_clone()?, file)))?;
        let ends = [inherited(commands.as_fd())?, inherited(acknowledging.as_fd())?];
        let mut child = perf(program)
            .args([
                "record",
                "-o",
                "-",
                "-e",
                &format!("{event}{but_idle}"),
                "-F",
                &frequency_hz.to_string(),
            ])
            .args(["--call-graph", CALL_GRAPH, RECORDING_MAX, "-N", "-B", "-D", "-1"])
            .args(["--no-bpf-event", "--control", &format!("fd:{},{}", ends[0], ends[1])])
            .args(whom)
            .args(["--", "cat"])
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()?;
        drop((commands, acknowledging));
        let pipe = child.stdin.take();
        let mut recording = Recording {
            sides: sides.to_vec(),
            is_system_wide,
            event,
            frequency_hz,
            child,
            pipe,
            control,
            acknowledged,
            data,
        };
        match recording.is_ready() {
            true => Ok(recording),
            false => Err(Refused::Perf(recording.close())),
        }
    }

    /// Whether `perf` answers a ping, which it does once it has attached. The command `disable`
    /// cannot test this, because it also disables the records of new threads and processes.
    fn is_ready(&mut self) -> bool {
        let asked = self.control.write_all(b"ping\n");
        let polled = is_readable_within(self.acknowledged.as_fd(), READY_WITHIN);
        asked.is_ok()
            && polled.contains(PollFlags::IN)
            && self.acknowledged.read(&mut [0; 8]).is_ok_and(|n| n > 0)
    }

    /// Ends `perf`, waits until it has written its data, and returns its error output.
    fn close(&mut self) -> String {
        drop(self.pipe.take());
        let Some(mut errors) = self.child.stderr.take() else { return String::new() };
        let mut said = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            let polled = is_readable_within(errors.as_fd(), END_WITHIN);
            if polled.is_empty() {
                let _gone = self.child.kill();
                break;
            }
            match errors.read(&mut bytes) {
                Ok(n) if n > 0 => said.extend_from_slice(&bytes[..n]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    fn end(mut self, program: &Path) -> Vec<(ProfileSide, Result<CpuProfile, String>)> {
        let said = self.close();
        let recording_cpu_ns = ended_cpu_ns(&mut self.child);
        let sides = std::mem::take(&mut self.sides);
        let profile =
            |side: &Side| (side.side, self.profile(program, side, recording_cpu_ns, &said));
        sides.iter().map(profile).collect()
    }

    fn profile(
        &self,
        program: &Path,
        side: &Side,
        recording_cpu_ns: u64,
        said: &str,
    ) -> Result<CpuProfile, String> {
        let folded = self.fold(program, side).map_err(|error| error.to_string());
        let (folded, naming_cpu_ns) = folded?;
        if folded.samples == 0 {
            let said = match said.lines().find(|line| line.contains("rror")) {
                Some(line) => format!(": {}", line.trim()),
                None => String::new(),
            };
            return Err(format!("no samples: nothing of it ran on a CPU while it was seen{said}"));
        }
        let Folded { samples, stacks, stacks_cut, samples_cut } = folded;
        Ok(CpuProfile {
            side: side.side,
            is_system_wide: self.is_system_wide,
            event: self.event.to_owned(),
            frequency_hz: self.frequency_hz as u32,
            samples,
            stacks,
            stacks_cut,
            samples_cut,
            recording_cpu_ns,
            naming_cpu_ns,
        })
    }

    /// Resolves the function names of recorded stacks of one side (server or generator). Returns
    /// the folded stacks, and the CPU time of `perf script` in nanoseconds.
    fn fold(&self, program: &Path, side: &Side) -> io::Result<(Folded, u64)> {
        let mut data = self.data.try_clone()?;
        data.rewind()?;
        let mut command = perf(program);
        // Inlined functions are left out, since finding them would take minutes.
        command.args(["script", "-i", "-", "--no-inline", "-F", "comm,event,ip,sym,dso"]);
        // A recording of a server's processes contains only these and their children, whenever they
        // started. That of the generator also contains other programs that dbdyno starts: servers,
        // and `perf`.
        if self.is_system_wide || side.side == ProfileSide::Generator {
            command.args(["--pid", &list(&side.processes)]);
        }
        // `perf` ends when its output is no longer read.
        let mut child = command.stdin(data).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut folder = Folder::default();
        if let Some(output) = child.stdout.take() {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line)? > 0 {
                folder.line(String::from_utf8_lossy(&line).trim_end_matches('\n'));
                line.clear();
            }
        }
        let cpu_ns = ended_cpu_ns(&mut child);
        Ok((folder.end(), cpu_ns))
    }
}

/// Waits for a child process to end, and reaps it. Returns the CPU time that it has used, in
/// nanoseconds; 0 if that cannot be read.
fn ended_cpu_ns(child: &mut Child) -> u64 {
    if let Some(process) = Pid::from_raw(child.id() as i32) {
        let _ended = waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    }
    let schedstat = read(format!("/proc/{}/schedstat", child.id()));
    let _status = child.wait();
    schedstat.split_ascii_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

impl Drop for Recording {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Reason why `perf` does not record call stacks.
enum Refused {
    /// The program `perf` cannot be started.
    Start(io::Error),
    /// The program `perf` did not begin to record; the text is its error output.
    Perf(String),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Start(error)
    }
}

impl Refused {
    /// Describes in a sentence why `perf` does not record, and the remedy.
    fn sentence(&self) -> String {
        match self {
            Refused::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                "perf is not installed: install the package linux-perf".to_owned()
            }
            Refused::Start(error) => format!("perf cannot be started: {error}"),
            Refused::Perf(said) => why(said, &paranoid()),
        }
    }
}

fn paranoid() -> String {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    level.trim().to_owned()
}

/// Explains in a sentence why `perf` did not record, from its error output `said`. `paranoid` is
/// the value of the kernel setting `perf_event_paranoid`.
fn why(said: &str, paranoid: &str) -> String {
    let lower = said.to_ascii_lowercase();
    let is_refused = ["paranoid", "permission", "not permitted", "is limited", "no permission"]
        .iter()
        .any(|word| lower.contains(word));
    if is_refused {
        return format!(
            "the kernel does not allow it (kernel.perf_event_paranoid is {paranoid}): \
             'sysctl kernel.perf_event_paranoid=1' allows it for processes of this user, \
             CAP_PERFMON for all"
        );
    }
    match said.lines().map(str::trim).find(|line| !line.is_empty() && *line != "Error:") {
        Some(line) => format!("perf ended: {line}"),
        None => "perf did not begin to record".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::*;

    fn scope(perf: &Path) -> ProfileScope {
        ProfileScope {
            perf: perf.to_owned(),
            server: Err("no server process on this machine".to_owned()),
            generator: vec![std::process::id()],
            measured: None,
        }
    }

    /// Returns the reason for a missing profile of the generator, with a script in place of `perf`.
    fn reason(script: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("perf");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("a program");
        let (profiles, facts) = CpuProfiler::start(scope(&program)).end();
        assert_eq!(profiles, []);
        let own = facts.iter().find(|fact| fact.name == "generator").expect("a reason");
        own.value.to_string()
    }

    #[test]
    fn what_cannot_be_sampled_has_a_reason() {
        let (_, facts) = CpuProfiler::start(scope(Path::new("/nowhere/perf"))).end();
        let shown: Vec<String> = facts.iter().map(|fact| fact.value.to_string()).collect();
        let install = "perf is not installed: install the package linux-perf";
        assert_eq!(shown, ["no server process on this machine", install]);
        let refused = reason("echo 'Error:\nAccess to performance monitoring is limited.' >&2");
        assert!(refused.contains("'sysctl kernel.perf_event_paranoid=1' allows it"), "{refused}");
        assert!(refused.contains("CAP_PERFMON"), "{refused}");
        assert_eq!(reason("echo 'Error:\nno such thing' >&2"), "perf ended: no such thing");
        assert_eq!(reason("exit 1"), "perf did not begin to record");
    }

    #[test]
    fn a_recording_without_samples_says_so() {
        let script = "[ $1 = record ] || exit 0\n\
                      fd=$(echo \"$*\" | sed 's/.*--control fd:[0-9]*,\\([0-9]*\\).*/\\1/')\n\
                      echo ack >/proc/self/fd/$fd; exec cat >/dev/null";
        let said = reason(script);
        assert!(said.starts_with("no samples"), "{said}");
    }

    #[test]
    fn we_are_sampled_in_the_measured_phase_or_there_is_a_reason() {
        let mut profiler = CpuProfiler::start(scope(Path::new("perf")));
        let phase = |phase| Event::Phase { phase, at_ns: 0 };
        profiler.follow(&phase(Phase::Measure));
        let busy = thread::spawn(|| (0..200_000_000_u64).fold(0, |sum, n| sum ^ n.rotate_left(7)));
        busy.join().expect("it ends");
        profiler.follow(&phase(Phase::Drain));
        let (profiles, facts) = profiler.end();
        match profiles.as_slice() {
            [profile] => {
                assert_eq!((facts.len(), profile.side), (1, ProfileSide::Generator));
                let kept: u64 = profile.stacks.iter().map(|(_, count)| count).sum();
                assert_eq!(kept + profile.samples_cut, profile.samples);
                assert!(profile.recording_cpu_ns > 0 && profile.naming_cpu_ns > 0);
            }
            _ => {
                let of_us: Vec<&Fact> = facts.iter().filter(|f| f.name == "generator").collect();
                assert_eq!((profiles.len(), of_us.len()), (0, 1), "{facts:?}");
            }
        }
    }

    #[test]
    fn long_runs_are_sampled_less_often() {
        assert_eq!(frequency_hz(Some(Duration::from_secs(1))), FREQUENCY_HZ_MAX);
        assert_eq!(frequency_hz(Some(Duration::from_secs(1_000_000))), FREQUENCY_HZ_MIN);
        assert_eq!(frequency_hz(None) % 2, 1);
    }
}
