//! Tests of servers whose dbdyno process is killed, and of dbdyno processes that do not run as
//! root.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use servers::Kind;

use crate::another::{Holder, copy_for_all, task};
use crate::client::{ask, parent, start_small};
use crate::waiting::{LIMIT, ends_within, gone_within};

fn watchdog_of(holder: &Holder) -> Pid {
    let entries = fs::read_dir("/proc").expect("listed").map(|entry| entry.expect("listed"));
    let is_it = |pid: &i32| {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        let parent = format!("PPid:\t{}\n", holder.child.id());
        read("status").is_ok_and(|status| status.contains(&parent))
            && read("cmdline").is_ok_and(|line| line.contains("dbdyno-watchdog"))
    };
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    Pid::from_raw(pids.find(is_it).expect("a watchdog")).expect("not 0")
}

/// Returns the number of processes whose command lines contain the server's folder: the server and
/// its children, but not the watchdog's `rm`, which ends a moment after the folder is gone.
fn n_processes_of(holder: &Holder) -> usize {
    let name = holder.dir.file_name().and_then(|name| name.to_str()).expect("ASCII");
    let entries = fs::read_dir("/proc").expect("listed").map(|entry| entry.expect("listed"));
    let names = |path: std::path::PathBuf| {
        let line = fs::read(path).unwrap_or_default();
        !line.starts_with(b"rm\0") && String::from_utf8_lossy(&line).contains(name)
    };
    entries.filter(|entry| names(entry.path().join("cmdline"))).count()
}

#[test]
fn a_server_does_not_outlive_its_owner() {
    for kind in [Kind::MariaDb, Kind::Postgres] {
        let parent = parent();
        let what = if kind == Kind::Postgres { "keep-busy" } else { "hold" };
        let mut holder = Holder::start(what, kind, parent.path());
        assert!(!ends_within(holder.server_pid, Duration::ZERO) && holder.dir.exists());
        assert!(n_processes_of(&holder) > 0);
        holder.kill();
        assert!(gone_within(&holder.dir, LIMIT), "{} is still there", holder.dir.display());
        assert!(ends_within(holder.server_pid, Duration::ZERO), "{kind:?} lives on");
        assert_eq!(n_processes_of(&holder), 0, "{kind:?} lives on");
    }
}

#[test]
fn what_even_the_watchdog_could_not_end_is_swept_by_the_next_start() {
    for kind in [Kind::MariaDb, Kind::Postgres] {
        let parent = parent();
        let mut holder = Holder::start("hold", kind, parent.path());
        kill_process(watchdog_of(&holder), Signal::KILL).expect("killed");
        holder.kill();
        assert!(!ends_within(holder.server_pid, Duration::from_millis(500)) && holder.dir.exists());
        let server = start_small(kind, parent.path());
        assert!(ends_within(holder.server_pid, Duration::ZERO) && !holder.dir.exists());
        assert_eq!(ask(&server, "SELECT 1"), "1");
        assert_eq!(servers::sweep(parent.path()).expect("swept"), 0);
    }
}

#[test]
fn whoever_is_not_root_has_servers_too() {
    // For other users, every other test here covers this.
    if !geteuid().is_root() {
        return;
    }
    for kind in [Kind::MariaDb, Kind::Postgres] {
        let parent = parent();
        let copy = copy_for_all(parent.path());
        let open = parent.path().join("open");
        fs::create_dir(&open).expect("made");
        fs::set_permissions(&open, Permissions::from_mode(0o1777)).expect("opened");
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]).arg(copy);
        let output = task(&mut command, &format!("visit {}", kind.name()), &open).output();
        let output = output.expect("setpriv is part of Debian's util-linux");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && error.contains("@@"), "{kind:?}: {error}");
        assert_eq!(open.read_dir().expect("a folder").count(), 0);
    }
}
