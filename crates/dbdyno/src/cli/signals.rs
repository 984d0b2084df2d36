//! Signals that end the program: Ctrl-C, SIGTERM, and SIGHUP unless it was ignored at the start.
//!
//! Not here: the work that is ended.

use std::fs;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use app::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::INTERRUPTED;
use crate::shell::Shell;

/// Returns a stop that Ctrl-C and other signals trigger: the first signal lets running work finish,
/// the second one cancels it, and the third one exits at once.
///
/// If the shell is not that of the process, as in tests, signals have no effect.
pub(crate) fn stop_on_signals(shell: &Shell) -> Arc<Stop> {
    stop_after(0, None, shell)
}

/// Returns a stop that cancels running work at the first signal, and exits at once at the second.
pub(crate) fn cancel_on_signals(shell: &Shell) -> Arc<Stop> {
    stop_after(1, None, shell)
}

/// Returns a stop for a service, which ends at the first signal and says then what that means for
/// those who use it.
#[cfg(feature = "agents")]
pub(crate) fn end_on_signals(meaning: &'static str, shell: &Shell) -> Arc<Stop> {
    stop_after(0, Some(meaning), shell)
}

/// Returns a stop for which the first signal counts as the one after the first `skipped`. At the
/// first signal it says `meaning`, or else that the work in progress is finished.
fn stop_after(skipped: u32, meaning: Option<&'static str>, shell: &Shell) -> Arc<Stop> {
    let stop = Arc::new(Stop::default());
    if !shell.is_process() {
        return stop;
    }
    let (pulled, signal_shell) = (Arc::clone(&stop), shell.clone());
    let handled = on_signals(move |nth, signal| {
        let nth = nth + skipped;
        match nth {
            1 if meaning.is_some() => signal_shell.say(&format!("\n{}", meaning.unwrap_or_default())),
            1 => signal_shell.say(match signal {
                SIGHUP => {
                    "\nthe terminal is gone (SIGHUP): stopping after the work in progress, as on Ctrl-C; \
                     what is started by nohup or in tmux goes on"
                }
                SIGTERM => "\nSIGTERM: stopping",
                _ => "\ninterrupted: stopping after the work in progress (press Ctrl-C again to cancel it)",
            }),
            2 if skipped > 0 => signal_shell.say("\ninterrupted: cancelling the work in progress"),
            2 => signal_shell.say("\ncancelling the work in progress"),
            _ => std::process::exit(i32::from(INTERRUPTED)),
        }
        if nth == skipped + 1 {
            (0..skipped).for_each(|_| pulled.ask());
        }
        pulled.ask();
        if nth == 2 && !is_heard_soon(&pulled) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    if let Err(error) = handled {
        shell.say(&format!(
            "dbdyno: Ctrl-C cannot be handled, and would end it without a report: \
                            {error}"
        ));
    }
    stop
}

/// Waits until the current work has noticed the stop, at most 3 s. Returns false if it has not:
/// work checks every second, unless it waits for the system.
fn is_heard_soon(stop: &Stop) -> bool {
    const LOOKS: u32 = 60;
    const EVERY: Duration = Duration::from_millis(50);
    (0..LOOKS).any(|_| {
        if !stop.is_heard() {
            thread::park_timeout(EVERY);
        }
        stop.is_heard()
    })
}

/// Calls `heard` on a separate thread for each signal that ends the program, with the number of
/// such signals so far (1 for the first) and the signal.
pub(crate) fn on_signals(heard: impl Fn(u32, i32) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // nohup means that the process outlives the terminal.
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let listen = move || (1..).zip(signals.forever()).for_each(|(nth, signal)| heard(nth, signal));
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

/// Returns true if this process ignores `signal`, as inherited from its parent.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    is_ignored_in(&status, signal)
}

/// Returns true if a signal is ignored according to the text of `/proc/self/status`, which has a
/// hexadecimal mask whose lowest bit is signal 1 (proc_pid_status(5)).
fn is_ignored_in(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_begins_with_signal_1() {
        let check = |mask: &str, expect: [bool; 2]| {
            let status = format!("SigBlk:\tffffffffffffffff\nSigIgn:\t{mask}\nSigCgt:\t3\n");
            assert_eq!([SIGHUP, SIGINT].map(|signal| is_ignored_in(&status, signal)), expect);
        };
        check("0000000000000000", [false, false]);
        check("0000000000001001", [true, false]);
        check("0000000000001002", [false, true]);
        check("nonsense", [false, false]);
        assert!(!is_ignored_in("", SIGHUP));
    }
}
