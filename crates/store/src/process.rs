//! Identity of a process that writes a run, and whether it is alive. Not here: what follows for the
//! run.
//!
//! A process is identified by boot, PID namespace, PID and start time, since PIDs are reused.
//! Without `/proc`, or from another container, nobody can see whether it lives, and only its
//! heartbeat counts.

use std::fs;

use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// Identity of a process, by which another process finds out whether it is alive. An identity is
/// never reused on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The kernel's boot id, a UUID; empty if unknown.
    pub boot_id: String,
    /// PID namespace in which `pid` is the process's id; empty if unknown.
    pub pid_namespace: String,
    pub pid: u32,
    /// Start time in clock ticks since boot: field 22 of `/proc/<pid>/stat`.
    pub start_ticks: u64,
}

/// State of a process, as far as another process can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Alive,
    /// The process has ended, or the machine was rebooted since it ran.
    Gone,
    /// Nothing is known: the process is in another PID namespace, or its identity is incomplete.
    Unknown,
}

impl Process {
    /// Returns the process's start time in clock ticks as a signed number, as the store's column
    /// has it.
    pub(super) fn start_column(&self) -> i64 {
        i64::try_from(self.start_ticks).unwrap_or(0)
    }

    /// Returns the identity of this process.
    pub fn current() -> Process {
        Process::of_pid(std::process::id())
    }

    /// Returns the identity of the process with id `pid`; `start_ticks` is 0 if its start time
    /// cannot be read.
    pub fn of_pid(pid: u32) -> Process {
        let start_ticks = match read_stat(pid) {
            Seen::Started(ticks) => ticks,
            Seen::Nothing | Seen::Dead => 0,
        };
        Process { boot_id: boot_id(), pid_namespace: pid_namespace(), pid, start_ticks }
    }

    /// Reads a process's identity from the columns of a row of the store.
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Process> {
        let start: i64 = row.get("pid_start_time")?;
        Ok(Process {
            boot_id: row.get("boot_id")?,
            pid_namespace: row.get("pid_namespace")?,
            pid: row.get("pid")?,
            start_ticks: u64::try_from(start).unwrap_or(0),
        })
    }

    /// Returns whether this process is alive, as far as the process `here` can see.
    pub fn fate(&self, here: &Process) -> Fate {
        if self.boot_id.is_empty() || here.boot_id.is_empty() || self.start_ticks == 0 {
            return Fate::Unknown;
        }
        if self.boot_id != here.boot_id {
            return Fate::Gone;
        }
        if self.pid_namespace != here.pid_namespace {
            return Fate::Unknown;
        }
        match read_stat(self.pid) {
            Seen::Started(ticks) if ticks == self.start_ticks => Fate::Alive,
            Seen::Started(_) | Seen::Nothing | Seen::Dead => Fate::Gone,
        }
    }
}

fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

fn pid_namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// State of a process, as read from its file `/proc/<pid>/stat`.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// Start time of a living process, in clock ticks since boot.
    Started(u64),
    /// The process has ended, but its parent has not reaped it (a zombie).
    Dead,
    /// No process has the id, or its file in `/proc` cannot be read.
    Nothing,
}

fn read_stat(pid: u32) -> Seen {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default())
}

/// Parses state (field 3) and start time (field 22) in the content of `/proc/<pid>/stat`. The
/// command (field 2) may contain anything, so fields are counted from the last parenthesis. See
/// proc_pid_stat(5).
fn parse_stat(stat: &str) -> Seen {
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return Seen::Nothing;
    };
    let mut fields = fields.split_ascii_whitespace();
    if matches!(fields.next(), Some("Z" | "X")) {
        return Seen::Dead;
    }
    match fields.nth(18).and_then(|ticks| ticks.parse().ok()) {
        Some(ticks) => Seen::Started(ticks),
        None => Seen::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_found_behind_any_command() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 99";
        assert_eq!(parse_stat(&format!("12 (a) b) R {rest}")), Seen::Started(4711));
        assert_eq!(parse_stat(&format!("12 (gone) Z {rest}")), Seen::Dead);
        assert_eq!(parse_stat(""), Seen::Nothing);
    }

    #[test]
    fn a_process_lives_until_its_number_boot_or_start_is_another() {
        let here = Process::current();
        assert_eq!(here.fate(&here), Fate::Alive);
        let later = Process { start_ticks: here.start_ticks + 1, ..here.clone() };
        assert_eq!(later.fate(&here), Fate::Gone);
        let booted = Process { boot_id: "another".to_owned(), ..here.clone() };
        assert_eq!(booted.fate(&here), Fate::Gone);
        let elsewhere = Process { pid_namespace: "pid:[1]".to_owned(), ..here.clone() };
        assert_eq!(elsewhere.fate(&here), Fate::Unknown);
    }
}
