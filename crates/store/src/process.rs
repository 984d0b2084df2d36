//! Which process writes a run, and whether it still lives. Not here: what follows from that.
//!
//! A process is named by boot, PID namespace, PID and start time, since PIDs are used again.
//! Where there is no `/proc`, and from within another container, nothing is known of it, and its
//! heartbeat alone decides.

use std::fs;

use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// A process, told from all others of its machine, past ones too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The kernel's name for this boot; empty where there is none.
    pub boot_id: String,
    /// The namespace that `pid` belongs to; empty where there is none.
    pub pid_namespace: String,
    /// Its number.
    pub pid: u32,
    /// Its start in clock ticks since the boot: field 22 of `/proc/<pid>/stat`.
    pub start_ticks: u64,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It lives.
    Alive,
    /// It has ended, or the machine was booted since.
    Gone,
    /// It cannot be seen from here.
    Unknown,
}

impl Process {
    /// When it began, as a column has it.
    pub(super) fn start_column(&self) -> i64 {
        i64::try_from(self.start_ticks).unwrap_or(0)
    }

    /// The one that asks.
    pub fn current() -> Process {
        Process::of_pid(std::process::id())
    }

    /// The one that has this number here.
    pub fn of_pid(pid: u32) -> Process {
        let start_ticks = match read_stat(pid) {
            Seen::Started(ticks) => ticks,
            Seen::Nothing | Seen::Dead => 0,
        };
        Process { boot_id: boot_id(), pid_namespace: pid_namespace(), pid, start_ticks }
    }

    /// The one that a row of the store names.
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Process> {
        let start: i64 = row.get("pid_start_time")?;
        Ok(Process {
            boot_id: row.get("boot_id")?,
            pid_namespace: row.get("pid_namespace")?,
            pid: row.get("pid")?,
            start_ticks: u64::try_from(start).unwrap_or(0),
        })
    }

    /// What has become of it, as seen from `here`.
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

/// What `/proc/<pid>/stat` shows.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// A process that was started at this tick.
    Started(u64),
    /// A process that has ended and that nobody has waited for.
    Dead,
    /// No process, or nothing that can be read.
    Nothing,
}

fn read_stat(pid: u32) -> Seen {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default())
}

/// Reads state (field 3) and start time (field 22); the command (field 2) may contain anything,
/// so fields are counted from the last bracket. See proc_pid_stat(5).
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
