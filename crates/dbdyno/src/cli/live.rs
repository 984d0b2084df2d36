//! Progress of a command, drawn on a terminal and printed as lines elsewhere. It is always on
//! stderr, so that stdout has only the result.

use std::time::{Duration, Instant};

use analysis::Tally;
use app::Error;
use app::build::Progress;
use app::time_left::TimeLeft;
use app::trial_runner::ExperimentWatcher;
use app::watcher::Watcher;
use clap::ArgMatches;
use model::{Event, NS_PER_S, Phase, format_count, format_duration};
use render::live::{beginning, disturbance, ended, has_intervals, interval, lines};

use super::drawing::Drawing;
use super::flags;
use super::metrics::Metrics;
use crate::shell::Shell;

/// Interval of printed progress lines while no load runs, if there is no terminal.
const TOLD_EVERY: Duration = Duration::from_secs(5);

enum Shown {
    Nothing,
    Lines,
    Drawn(Drawing),
}

/// Watcher that shows the progress of a command, and passes events to the metrics.
pub(crate) struct Live {
    shell: Shell,
    shown: Shown,
    /// Start of the last phase of the run: the instant at which it was seen, and its time in
    /// nanoseconds since the start of the measured phase. `None` before the first phase.
    phase: Option<(Instant, i64)>,
    printed: Option<Instant>,
    /// First second of the load that no printed progress line covers yet; `None` before the first
    /// line.
    untold: Option<i64>,
    metrics: Option<Metrics>,
}

impl Live {
    pub(crate) fn new(shell: &Shell, is_quiet: bool) -> Live {
        let shown = match (is_quiet, shell.draws_on_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Drawing::begin().map_or(Shown::Lines, Shown::Drawn),
            (false, false) => Shown::Lines,
        };
        Live {
            shell: shell.clone(),
            shown,
            phase: None,
            printed: None,
            untold: None,
            metrics: None,
        }
    }

    /// Creates the view of a command with a load, with the server of Prometheus metrics that its
    /// options ask for, which receives every event. Fails if that cannot listen.
    pub(crate) fn with_metrics(matches: &ArgMatches, shell: &Shell) -> Result<Live, Error> {
        let live = Live::new(shell, flags::is_quiet(matches, shell));
        Ok(Live { metrics: Metrics::begin(matches, shell)?, ..live })
    }

    /// Keeps serving the metrics for the time of `--metrics-linger`, so that the last figures can
    /// be scraped. Ends early after a stop.
    pub(crate) fn linger(&self, stop: &app::Stop) {
        if let Some(metrics) = &self.metrics {
            metrics.linger(stop, &self.shell);
        }
    }

    /// Removes the drawing from the terminal, if there is one.
    pub(crate) fn end(&mut self) {
        if let Shown::Drawn(drawing) = &mut self.shown {
            drawing.end();
        }
    }

    fn is_due(&mut self) -> bool {
        let now = now();
        let is_due = self.printed.is_none_or(|printed| now - printed >= TOLD_EVERY);
        if is_due {
            self.printed = Some(now);
        }
        is_due
    }

    /// Returns the time since the start of the measured phase, in nanoseconds; negative in the
    /// ramp-up, and 0 before the first phase.
    fn now_ns(&self) -> i64 {
        self.phase.map_or(0, |(since, at_ns)| at_ns + since.elapsed().as_nanos() as i64)
    }

    fn draw(&mut self, tally: &Tally) {
        let now_ns = self.now_ns();
        if let Shown::Drawn(drawing) = &mut self.shown {
            let shell = &self.shell;
            let legible = |line: &String| shell.legible(line);
            drawing.draw(|width| lines(tally, now_ns, width).iter().map(legible).collect());
        }
    }

    /// Prints a progress line for each complete report interval. An interval is complete when a
    /// second after it has samples, when the clock has passed it, or at the end of the run
    /// (`is_end`).
    fn tell_intervals(&mut self, tally: &Tally, is_end: bool) {
        if !matches!(self.shown, Shown::Lines) || !has_intervals(tally) {
            return;
        }
        // Without any reply of the database, there is nothing to report.
        let newest = tally.newest();
        // The second before the current one; in the ramp-up both are negative.
        let by_clock = self.now_ns().div_euclid(NS_PER_S as i64) - 1;
        let planned_ns = tally.description.as_ref().map_or(0, |run| run.phases.measure_ns);
        let planned = i64::try_from(planned_ns.div_ceil(NS_PER_S)).unwrap_or(i64::MAX);
        let planned = if planned > 0 { planned } else { i64::MAX };
        let over = if is_end {
            tally.seconds().end
        } else {
            newest.unwrap_or(i64::MIN).max(by_clock).min(planned)
        };
        let mut from =
            self.untold.unwrap_or_else(|| newest.map_or(0, |newest| tally.commits_until(newest).0));
        while from < over {
            let length = tally.interval_seconds();
            let end = ((from.div_euclid(length) + 1) * length).min(planned);
            if end > over && !is_end {
                break;
            }
            let to = end.min(over);
            self.shell.say(&interval(tally, from..to));
            from = to;
            self.untold = Some(from);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how often a line is printed is no measurement")]
fn now() -> Instant {
    Instant::now()
}

impl Watcher for Live {
    fn event(&mut self, event: &Event, tally: &Tally) {
        if let Some(metrics) = &mut self.metrics {
            metrics.event(event, tally);
        }
        match event {
            // The earlier run has another clock.
            Event::Begun { .. } => (self.phase, self.untold) = (None, None),
            Event::Phase { phase: Phase::Connect, .. } => {}
            Event::Phase { phase, at_ns } => {
                if let Shown::Drawn(drawing) = &mut self.shown {
                    drawing.clear_passing();
                }
                self.phase = Some((now(), *at_ns));
                self.draw(tally);
                if matches!(self.shown, Shown::Lines) && *phase != Phase::Drain {
                    self.shell.say(&beginning(tally, *at_ns));
                }
            }
            Event::Second(_) => self.draw(tally),
            // On a terminal it is part of the drawing.
            Event::Disturbance(printed) if matches!(self.shown, Shown::Lines) => {
                self.shell.say(&disturbance(printed));
            }
            Event::Executions { group, executions } if matches!(self.shown, Shown::Lines) => {
                ended(tally, *group, executions).iter().for_each(|line| self.shell.say(line));
            }
            Event::Executions { .. } => self.draw(tally),
            Event::Ended { .. } => self.end(),
            _ => {}
        }
        self.tell_intervals(tally, matches!(event, Event::Ended { .. }));
    }

    fn building(&mut self, progress: &Progress) {
        let left = progress.left_s.map_or(String::new(), |left| format!(", {left:.0} s left"));
        let (doing, n_rows) = (&progress.doing, format_count(progress.n_rows));
        let rate = match progress.rows_per_s as u64 {
            // No rows are loaded while tables and indexes are made.
            0 => String::new(),
            rate => format!(", {} rows/s", format_count(rate)),
        };
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                if self.is_due() {
                    let total = format_count(progress.n_rows_total);
                    let rows = match progress.n_rows {
                        0 => String::new(),
                        _ => format!(": {n_rows} of about {total} rows"),
                    };
                    self.shell.say(&format!("building {doing}{rows}{rate}{left}"));
                }
            }
            Shown::Drawn(drawing) => {
                // The bar shows the share of all rows.
                let text = format!("{doing}: {n_rows} rows{rate}{left}");
                drawing.building(progress.n_rows, progress.n_rows_total, &text);
            }
        }
    }

    fn doing(&mut self, text: &str) {
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                if self.is_due() {
                    self.shell.say(text);
                }
            }
            Shown::Drawn(drawing) => drawing.doing(text),
        }
    }

    fn note(&mut self, text: &str) {
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Lines => self.shell.say(text),
            Shown::Drawn(drawing) => drawing.note(text),
        }
    }

    fn to_act_on(&mut self, text: &str) {
        match self.shown {
            Shown::Nothing => self.shell.say(text),
            Shown::Lines | Shown::Drawn(_) => self.note(text),
        }
    }
}

impl ExperimentWatcher for Live {
    fn trial(&mut self, nth: u64, total: u64, values: &str, left: Option<TimeLeft>) {
        self.end();
        let left = left.map_or(String::new(), |left| {
            let (word, ns) = match left {
                TimeLeft::AtLeast(ns) => ("at least", ns),
                TimeLeft::About(ns) => ("about", ns),
            };
            format!(", {word} {} left", format_duration(rounded(ns)))
        });
        let at = if values.is_empty() { String::new() } else { format!(": {values}") };
        self.note(&format!("trial {nth} of {total}{at}{left}"));
    }
}

/// Rounds a remaining time in nanoseconds to the nearest multiple of a step that grows with it,
/// from 1 s to 10 min.
fn rounded(ns: u64) -> u64 {
    let seconds = ns.div_ceil(NS_PER_S).max(1);
    let step = match seconds {
        0..20 => 1,
        20..120 => 5,
        120..600 => 10,
        600..7_200 => 60,
        _ => 600,
    };
    (seconds + step / 2) / step * step * NS_PER_S
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("nobody else").write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn notes_to_act_on_are_printed_even_if_progress_is_not() {
        let check = |is_quiet: bool, expect: &str| {
            let err = Shared::default();
            let shell = Shell::new(std::io::sink(), err.clone(), |_| None);
            let mut live = Live::new(&shell, is_quiet);
            live.note("trial 1 of 2");
            live.to_act_on("not all settings are restored");
            let text = String::from_utf8(err.0.lock().expect("nobody else").clone());
            assert_eq!(text.expect("text"), expect);
        };
        check(true, "not all settings are restored\n");
        check(false, "trial 1 of 2\nnot all settings are restored\n");
    }

    #[test]
    fn a_time_left_has_no_more_digits_than_are_known() {
        let check = |seconds: u64, expect: &str| {
            assert_eq!(format_duration(rounded(seconds * NS_PER_S)), expect);
        };
        check(0, "1s");
        check(7, "7s");
        check(47, "45s");
        check(124, "2m");
        check(601, "10m");
        check(3_700, "1h2m");
        check(100_000, "27h50m");
        let all: Vec<u64> = (0..20_000).map(|seconds| rounded(seconds * NS_PER_S)).collect();
        assert!(all.is_sorted());
    }
}
