//! Runs a shell command as a disturbance, in its own process group. Keeps the last part of its
//! output, and ends the whole group when the command ends, is cut off, or dbdyno is killed. A
//! process that leaves the group (`setsid`) is not ended.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use model::{Disturbed, Secret, Target};
use monitor::{PhaseSignal, Woken, wall_clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};
use servers::Watchdog;

use super::limit::Limit;
use crate::managed::Managed;

/// Largest number of bytes kept of a command's output: the last ones, which contain the error.
const OUTPUT_BYTES_MOST: usize = 4096;
/// Longest time spent on reading the rest of a command's output once its process group has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Time between SIGTERM and SIGKILL when a command is cut off; the same as in watchdog_group.sh.
const PATIENCE: Duration = Duration::from_secs(2);
/// Shell script that starts the command only after a line has arrived on its standard input, which
/// is sent once the watchdog exists. If dbdyno ends first, so does the shell.
const SHELL: &str = r#"IFS= read -r _ && exec sh -c "$0" </dev/null"#;

/// Environment variables that describe the target to a command (`DBDYNO_HOST` and so on).
pub(super) struct CommandEnvironment {
    variables: Vec<(&'static str, String)>,
    /// Password of the target, passed as `DBDYNO_PASSWORD` and hidden in the output; `None` if the
    /// target has none.
    password: Option<Secret>,
}

impl CommandEnvironment {
    pub(super) fn for_target(target: &Target, server: Option<&mut Managed>) -> CommandEnvironment {
        let mut reached = target.clone();
        let mut socket = None;
        if let Some(managed) = server {
            reached = managed.target.clone();
            socket = Some(managed.control().socket().to_string_lossy().into_owned());
        }
        let option = reached.options.iter().find(|(name, _)| name == "socket");
        let socket = socket.or_else(|| option.map(|(_, value)| value.clone()));
        let host = reached.hosts.first();
        let password = reached.password.clone();
        let all = [
            ("DBDYNO_TARGET", Some(reached.to_string())),
            ("DBDYNO_HOST", host.map(|host| host.name.clone())),
            ("DBDYNO_PORT", host.and_then(|host| host.port).map(|port| port.to_string())),
            ("DBDYNO_SOCKET", socket),
            ("DBDYNO_USER", reached.user.clone()),
            ("DBDYNO_DATABASE", Some(reached.path.clone())),
        ];
        let given = all.into_iter().filter_map(|(name, value)| Some((name, value?)));
        CommandEnvironment { variables: given.collect(), password }
    }

    /// Replaces the password in `text` by asterisks.
    fn hide(&self, text: String) -> String {
        match &self.password {
            Some(password) => password.hide_in(&text),
            None => text,
        }
    }
}

/// Runs a shell command until it ends, its limit is reached, or the load is over. Returns the
/// outcome and the end of the output.
pub(super) fn run(
    command: &str,
    environment: &CommandEnvironment,
    signal: &Arc<PhaseSignal>,
    limit: &Limit,
) -> (Disturbed, String) {
    match start(command, environment) {
        Ok(started) => {
            let (outcome, output) = attend(started, signal, limit);
            (outcome, environment.hide(output))
        }
        Err(error) => (Disturbed::Failed { why: format!("sh: {error}") }, String::new()),
    }
}

/// A running command, with the watchdog that ends its process group if dbdyno dies.
struct Started {
    child: Child,
    output: PipeReader,
    watchdog: Watchdog,
}

fn start(command: &str, environment: &CommandEnvironment) -> io::Result<Started> {
    let (output, writer) = io::pipe()?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", SHELL, command])
        .envs(environment.variables.iter().map(|(name, value)| (name, value)))
        .env_remove("DBDYNO_PASSWORD")
        .envs(environment.password.iter().map(|password| ("DBDYNO_PASSWORD", password.reveal())))
        .stdin(Stdio::piped())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        // Ctrl-C does not reach the command, which is ended with the load.
        .process_group(0);
    let mut child = shell.spawn()?;
    let go = child.stdin.take();
    let held = output.try_clone();
    let watched = held.and_then(|held| Watchdog::over_group(child.id(), held));
    let watched = watched.and_then(|watchdog| {
        go.map_or(Ok(()), |mut go| go.write_all(b"\n"))?;
        Ok(watchdog)
    });
    match watched {
        Ok(watchdog) => Ok(Started { child, output, watchdog }),
        Err(error) => {
            // The child ends with the pipe.
            child.wait()?;
            Err(error)
        }
    }
}

fn attend(started: Started, signal: &Arc<PhaseSignal>, limit: &Limit) -> (Disturbed, String) {
    let Started { mut child, output, watchdog } = started;
    let pid = Pid::from_child(&child);
    let (tell, read_to_end) = channel();
    let tail = Arc::new(Mutex::new(Tail::default()));
    let is_ended = Arc::new(AtomicBool::new(false));
    // These threads are not joined: both end with the group.
    let reader = thread::Builder::new().name("output".to_owned()).spawn({
        let tail = Arc::clone(&tail);
        move || {
            read(output, &tail);
            // The receiver may be gone.
            let _ = tell.send(());
        }
    });
    let waiter = thread::Builder::new().name("command".to_owned()).spawn({
        let (is_ended, signal) = (Arc::clone(&is_ended), Arc::clone(signal));
        move || {
            wait_unreaped(pid);
            is_ended.store(true, Ordering::Release);
            signal.wake();
        }
    });
    let threads = reader.and(waiter);
    let woken = match &threads {
        Ok(_) => signal.wait(limit.at, &|| is_ended.load(Ordering::Acquire)),
        Err(_) => Woken::Over,
    };
    let cut_off = limit.cut_off();
    if woken != Woken::Done {
        ask_to_end(pid);
    }
    // Background processes of the command end with it.
    let _gone = kill_process_group(pid, Signal::KILL);
    let status = child.wait();
    drop(watchdog);
    // No more output follows, unless a process has left the group with the pipe open.
    let _all = read_to_end.recv_timeout(LAST_WORDS);
    let output = tail.lock().unwrap_or_else(PoisonError::into_inner).text();
    let outcome = match (threads, woken, status) {
        (Err(error), ..) | (_, _, Err(error)) => Disturbed::Failed { why: error.to_string() },
        (_, Woken::Done, Ok(status)) => ended(status),
        (_, Woken::Due | Woken::Over, _) => cut_off,
    };
    (outcome, output)
}

/// Sends SIGTERM to a process group, and waits until it has ended, for at most two seconds.
fn ask_to_end(group: Pid) {
    let _gone = kill_process_group(group, Signal::TERM);
    let until = wall_clock::now() + PATIENCE;
    while let Some(member) = one_of(group) {
        let left = until.saturating_duration_since(wall_clock::now());
        let Ok(left) = Timespec::try_from(left) else { return };
        let mut end = [PollFd::new(&member, PollFlags::IN)];
        // The clock decides, even after an interruption.
        let _n_ended = poll(&mut end, Some(&left));
        if wall_clock::now() >= until {
            return;
        }
    }
}

/// Returns a pidfd of a living process of a group, whose leader may already be a zombie; `None` if
/// there is none.
fn one_of(group: Pid) -> Option<OwnedFd> {
    let all = procfs::process::all_processes().ok()?;
    let stats = all.filter_map(|process| process.ok()?.stat().ok());
    let mut ours = stats.filter(|stat| stat.pgrp == group.as_raw_nonzero().get());
    ours.find_map(|stat| match stat.state {
        'Z' | 'X' => None,
        _ => pidfd_open(Pid::from_raw(stat.pid)?, PidfdFlags::empty()).ok(),
    })
}

/// Waits for the end of a process without reaping it, so that its id is not reused meanwhile.
fn wait_unreaped(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while waitid(WaitId::Pid(pid), options).is_err_and(|no| no == Errno::INTR) {}
}

fn ended(status: ExitStatus) -> Disturbed {
    let why = match (status.code(), status.signal()) {
        (Some(0), _) => return Disturbed::Done,
        (Some(code), _) => format!("it ended with code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    };
    Disturbed::Failed { why }
}

fn read(mut output: PipeReader, tail: &Mutex<Tail>) {
    let mut buffer = [0; 4096];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => tail.lock().unwrap_or_else(PoisonError::into_inner).add(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The last bytes of a command's output, and the number of bytes dropped before them.
#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
    n_lost: u64,
}

impl Tail {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let too_many = self.bytes.len().saturating_sub(OUTPUT_BYTES_MOST);
        self.bytes.drain(..too_many);
        self.n_lost += too_many as u64;
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        match self.n_lost {
            0 => text.to_owned(),
            lost => format!("({} bytes before)\n{text}", model::format_count(lost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn environment(url: &str) -> CommandEnvironment {
        CommandEnvironment::for_target(&Target::parse(url).unwrap(), None)
    }

    fn none() -> Limit {
        Limit { at: None, why: String::new() }
    }

    fn ran(command: &str) -> (Disturbed, String) {
        run(command, &environment("mariadb://me:s3cr3t@db:3307/shop"), &Arc::default(), &none())
    }

    #[test]
    fn a_command_tells_its_output_and_how_it_ended() {
        assert_eq!(ran("echo one; echo two >&2"), (Disturbed::Done, "one\ntwo".to_owned()));
        let why = "it ended with code 3".to_owned();
        assert_eq!(ran("exit 3"), (Disturbed::Failed { why }, String::new()));
    }

    #[test]
    fn a_command_learns_of_the_target_and_its_password_is_not_shown() {
        let (_, shown) = ran("echo $DBDYNO_HOST $DBDYNO_PORT $DBDYNO_USER $DBDYNO_DATABASE; \
             test \"$DBDYNO_PASSWORD\" = s3cr\"\"3t && echo $DBDYNO_PASSWORD $DBDYNO_TARGET");
        assert_eq!(shown, "db 3307 me shop\n*** mariadb://me@db:3307/shop");
    }

    #[test]
    fn of_a_long_output_the_end_is_kept() {
        let (_, shown) = ran("seq 1 20000");
        assert!(shown.starts_with('(') && shown.ends_with("\n20000"), "{shown}");
        assert!(shown.len() < OUTPUT_BYTES_MOST + 100);
    }

    #[test]
    fn a_command_ends_with_its_limit_and_its_children_with_it() {
        let limit = Limit {
            at: Some(wall_clock::now() + Duration::from_millis(50)),
            why: "late".to_owned(),
        };
        let (outcome, _) =
            run("sleep 1000 & sleep 1000", &environment("sqlite:a"), &Arc::default(), &limit);
        assert_eq!(outcome, Disturbed::CutOff { why: "late".to_owned() });
        // The last process closes the pipe: background processes do not outlive the command.
        let (outcome, shown) = ran("(sleep 1000; echo late) & echo now");
        assert_eq!((outcome, shown), (Disturbed::Done, "now".to_owned()));
    }

    fn cut_off_at_once(command: &str) -> (Disturbed, String) {
        let signal: Arc<PhaseSignal> = Arc::default();
        let limit = Limit { at: None, why: String::new() };
        let started = start(command, &environment("sqlite:a")).unwrap();
        // The first output of the command shows that its traps are set.
        let mut word = [0; 6];
        (&started.output).read_exact(&mut word).unwrap();
        assert_eq!(&word, b"begun\n");
        signal.end();
        attend(started, &signal, &limit)
    }

    #[test]
    fn a_command_that_is_cut_off_may_tidy_up_and_its_children_too() {
        let why = "the load was over".to_owned();
        let child = "(trap 'echo child; exit' TERM; sleep 1000 & echo begun; wait)";
        let (outcome, shown) = cut_off_at_once(&format!("trap 'echo parent; exit' TERM; {child}"));
        assert_eq!(outcome, Disturbed::CutOff { why });
        let mut shown: Vec<&str> = shown.lines().filter(|line| *line != "Terminated").collect();
        shown.sort_unstable();
        assert_eq!(shown, ["child", "parent"]);
    }

    #[test]
    fn a_command_that_will_not_end_is_killed_after_two_seconds() {
        let began = wall_clock::now();
        let stubborn = "trap '' TERM; echo begun; sleep 1000";
        assert!(matches!(cut_off_at_once(stubborn), (Disturbed::CutOff { .. }, _)));
        assert!((PATIENCE..PATIENCE * 3).contains(&began.elapsed()));
    }

    #[test]
    fn a_command_ends_with_the_load() {
        let signal: Arc<PhaseSignal> = Arc::default();
        signal.end();
        let (outcome, _) = run("sleep 1000", &environment("sqlite:a"), &signal, &none());
        assert_eq!(outcome, Disturbed::CutOff { why: "the load was over".to_owned() });
    }
}
