//! Processes of a private server: finds, signals and ends all of them.
//!
//! They are identified by their command lines, which contain the server's folder or PostgreSQL's
//! cluster name. This works after their parent is gone and in containers with a restricted /proc,
//! and never matches an unrelated process that has reused a process ID. watchdog.sh ends them in
//! the same way if dbdyno's process is killed.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, pidfd_send_signal};

use crate::deadline::{Deadline, handle};

/// Texts that occur only in the command lines of one server's processes, by which these processes
/// are found.
pub(crate) struct Marks {
    cluster: Vec<Vec<u8>>,
    folder: Vec<Vec<u8>>,
}

/// A process with its pidfd. A signal sent through the pidfd never reaches another process that has
/// got the same ID.
pub(crate) struct Process {
    pub(crate) pid: u32,
    handle: OwnedFd,
}

/// Time that PostgreSQL gets after SIGQUIT to release its System V shared memory, which would be
/// left behind by SIGKILL.
const QUIT_LIMIT: Duration = Duration::from_secs(1);
/// Time limit for killed processes to end. A process with much memory takes a while to release it.
const KILL_LIMIT: Duration = Duration::from_secs(30);
/// Limit on the rounds of listing and signalling a server's processes, after which signalling
/// fails. No server can start as many generations of children while it is being killed.
const ROUNDS_MAX: usize = 100;

impl Marks {
    /// Returns the texts by which the processes of the server in the folder `dir` are found.
    pub(crate) fn in_dir(dir: &Path) -> Marks {
        let name = dir.file_name().unwrap_or(dir.as_os_str()).as_bytes();
        let data = dir.join("data");
        let data = data.as_os_str().as_bytes();
        Marks {
            cluster: vec![[b"cluster_name=", name].concat(), [b"postgres: ", name, b": "].concat()],
            folder: vec![
                [b"--datadir=", data].concat(),
                [b"--pgdata=", data].concat(),
                // rsync, with which a Galera node receives all data.
                [data, b"/rsync_sst.conf"].concat(),
            ],
        }
    }

    /// Returns all living processes of the private server.
    pub(crate) fn processes(&self) -> io::Result<Vec<Process>> {
        find(&[&self.cluster, &self.folder])
    }

    /// Sends `signal` once to every process of the server, including processes that start in the
    /// meantime. Fails if new ones are still found after [`ROUNDS_MAX`] rounds.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let mut signalled: Vec<u32> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let mut new = self.processes()?;
            new.retain(|process| !signalled.contains(&process.pid));
            if new.is_empty() {
                return Ok(());
            }
            new.iter().for_each(|process| process.signal(signal));
            signalled.extend(new.iter().map(|process| process.pid));
        }
        Err(io::Error::other("the server starts processes faster than they can be signalled"))
    }

    /// Kills every process of the server and waits until all have ended, including those that were
    /// ending already, since they still hold shared memory that prevents a new start. Fails if that
    /// takes longer than [`KILL_LIMIT`].
    pub(crate) fn kill(&self) -> io::Result<()> {
        let deadline = Deadline::new(KILL_LIMIT)?;
        for _ in 0..ROUNDS_MAX {
            let processes = with_ending_children(&[&self.cluster, &self.folder])?;
            if processes.is_empty() {
                return Ok(());
            }
            processes.iter().for_each(|process| process.signal(Signal::KILL));
            for process in processes {
                if !deadline.sees_end_of(process.handle.as_fd()) {
                    let text = format!("process {} was killed but does not end", process.pid);
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
            }
        }
        Err(io::Error::other("the server starts processes faster than they can be killed"))
    }

    /// Ends every process of the server by SIGKILL. PostgreSQL first gets SIGQUIT and a second to
    /// release its shared memory.
    pub(crate) fn end(&self) -> io::Result<()> {
        let deadline = Deadline::new(QUIT_LIMIT)?;
        let cluster = find(&[&self.cluster])?;
        for process in &cluster {
            process.signal(Signal::QUIT);
            // The process may be paused.
            process.signal(Signal::CONT);
        }
        let _ended = cluster.iter().all(|process| deadline.sees_end_of(process.handle.as_fd()));
        self.kill()
    }
}

impl Process {
    fn signal(&self, signal: Signal) {
        // Fails only if it has ended.
        let _ended = pidfd_send_signal(&self.handle, signal);
    }
}

fn find(marks: &[&Vec<Vec<u8>>]) -> io::Result<Vec<Process>> {
    let all = seen()?.into_iter().filter(|one| one.has(marks));
    Ok(all.map(|one| one.process).collect())
}

/// Returns the processes whose command lines contain one of `marks`, and children of these that are
/// ending. Such a child has no command line any more, so it is identified by its parent.
fn with_ending_children(marks: &[&Vec<Vec<u8>>]) -> io::Result<Vec<Process>> {
    let all = seen()?;
    let parents: Vec<u32> =
        all.iter().filter(|one| one.has(marks)).map(|one| one.process.pid).collect();
    let parent_of = |pid: u32| parent_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    let is_ending = |one: &Seen| {
        let parent = one.line.is_empty().then(|| parent_of(one.process.pid)).flatten();
        parent.is_some_and(|parent| parents.contains(&parent))
    };
    let found = all.into_iter().filter(|one| one.has(marks) || is_ending(one));
    Ok(found.map(|one| one.process).collect())
}

/// A process as found in /proc, with its command line, which is empty while the process is ending.
struct Seen {
    process: Process,
    line: Vec<u8>,
}

impl Seen {
    fn has(&self, marks: &[&Vec<Vec<u8>>]) -> bool {
        marks.iter().copied().flatten().any(|mark| contains(&self.line, mark))
    }
}

fn seen() -> io::Result<Vec<Seen>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // Handle first, so that the command line belongs to it. Both fail for a process that has
        // ended in between.
        let Ok(handle) = handle(pid) else { continue };
        let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { continue };
        all.push(Seen { process: Process { pid, handle }, line });
    }
    Ok(all)
}

/// Parses the parent's process ID from the content of `/proc/PID/stat` (proc(5)); `None` if it is
/// malformed. The ID is the second field after the process name, which is in parentheses and may
/// itself contain parentheses.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn contains(line: &[u8], mark: &[u8]) -> bool {
    line.windows(mark.len()).any(|window| window == mark)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, WaitOptions, waitpid};

    use super::*;

    #[test]
    fn a_server_is_known_by_its_folder_and_by_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let marks = Marks::in_dir(folder.path());
        // `sh` waits for its stdin and has the argument on its command line. That is empty for a
        // moment after the start, so it reports when it is ready.
        let start = |argument: String| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo; read -r _", &argument]);
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh");
            let mut newline = [0u8];
            child.stdout.as_mut().expect("a pipe").read_exact(&mut newline).expect("told");
            child
        };
        let path = folder.path().display();
        let mut own = start(format!("--datadir={path}/data"));
        let mut other = start(format!("{path}/data"));
        let pids = || marks.processes().expect("/proc").iter().map(|p| p.pid).collect::<Vec<_>>();
        assert_eq!(pids(), [own.id()]);
        marks.kill().expect("killed");
        assert_eq!(pids(), [0; 0]);
        assert!(!own.wait().expect("reaped").success());
        assert_eq!(other.try_wait().expect("asked"), None);
        other.kill().expect("killed");
        other.wait().expect("reaped");
    }

    #[test]
    fn a_child_that_is_ending_is_waited_for_although_it_has_no_command_line_any_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let marks = Marks::in_dir(folder.path());
        let mut command = Command::new("sh");
        let datadir = format!("--datadir={}/data", folder.path().display());
        // A shell that is stopped reaps no child, unlike one that waits for input.
        let script = "sleep 1000 & echo $!; kill -STOP $$";
        command.args(["-c", script, &datadir]);
        let mut parent = command.stdout(Stdio::piped()).spawn().expect("sh");
        let mut shown = BufReader::new(parent.stdout.take().expect("a pipe")).lines();
        let pid: u32 = shown.next().expect("shown").expect("text").parse().expect("a number");
        let stopped = waitpid(Some(Pid::from_child(&parent)), WaitOptions::UNTRACED);
        assert!(stopped.expect("a child").is_some_and(|(_, status)| status.stopped()));
        let child = Process { pid, handle: handle(pid).expect("it sleeps") };
        child.signal(Signal::KILL);
        // The child has ended once all its memory is released, although it is not reaped.
        let deadline = Deadline::new(KILL_LIMIT).expect("a clock");
        assert!(deadline.sees_end_of(child.handle.as_fd()));
        let pids = |all: Vec<Process>| all.iter().map(|one| one.pid).collect::<Vec<u32>>();
        let marked = [&marks.cluster, &marks.folder];
        assert_eq!(pids(find(&marked).expect("/proc")), [parent.id()]);
        let both = pids(with_ending_children(&marked).expect("/proc"));
        assert!(both.len() == 2 && both.contains(&pid), "{both:?}");
        marks.kill().expect("killed");
        assert!(!parent.wait().expect("reaped").success());
    }

    #[test]
    fn a_parent_is_read_whatever_its_child_is_called() {
        assert_eq!(parent_in("12 (a) b (c)) S 34 12 12 0"), Some(34));
        assert_eq!(parent_in("12 (a"), None);
    }
}
