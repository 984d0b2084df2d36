//! What is seen while something goes on: on a terminal it is drawn, elsewhere told in lines.
//!
//! Always on stderr, so that stdout has the result alone.

use std::io::Write;
use std::time::{Duration, Instant};

use analysis::Tally;
use app::build::Progress;
use app::trial_runner::ExperimentWatcher;
use app::watcher::Watcher;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use model::{Event, NS_PER_S, Phase, format_count, format_duration};
use render::live::{disturbance, lines, plain};

use super::metrics::Metrics;
use crate::shell::{Shell, harmless};

/// Longer lines are not read, and one that wraps would be drawn over wrongly.
const WIDTH_MOST: usize = 120;
/// Away from a terminal, a line is told this often.
const TOLD_EVERY: Duration = Duration::from_secs(5);

enum Shown {
    Nothing,
    Lines,
    /// With the width of the terminal when it was drawn last.
    Drawn {
        all: MultiProgress,
        bars: Vec<ProgressBar>,
        width: usize,
    },
}

/// The one who looks on for the user.
pub(crate) struct Live {
    shell: Shell,
    shown: Shown,
    building: Option<ProgressBar>,
    passing: Option<ProgressBar>,
    /// The instant and place of the last phase, in nanoseconds from the measured phase's start.
    phase: Option<(Instant, i64)>,
    printed: Option<Instant>,
    metrics: Option<Metrics>,
}

impl Live {
    pub(crate) fn new(shell: &Shell, is_quiet: bool) -> Live {
        let shown = match (is_quiet, shell.writes_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => {
                Shown::Drawn { all: MultiProgress::new(), bars: Vec::new(), width: console_width() }
            }
            (false, false) => Shown::Lines,
        };
        Live {
            shell: shell.clone(),
            shown,
            building: None,
            passing: None,
            phase: None,
            printed: None,
            metrics: None,
        }
    }

    /// The same; what metrics are asked for learn of everything.
    pub(crate) fn telling(mut self, metrics: Option<Metrics>) -> Live {
        self.metrics = metrics;
        self
    }

    /// What is to be done after the end: readers of metrics may want the last of them.
    pub(crate) fn linger(&self, stop: &app::Stop) {
        if let Some(metrics) = &self.metrics {
            metrics.linger(stop, &self.shell);
        }
    }

    /// Clears what was drawn.
    pub(crate) fn end(&mut self) {
        self.clear_passing();
        if let Shown::Drawn { bars, .. } = &mut self.shown {
            bars.drain(..).for_each(|bar| bar.finish_and_clear());
        }
    }

    /// Clears what is shown of work that is over.
    fn clear_passing(&mut self) {
        self.fit();
        let passing = self.building.take().into_iter().chain(self.passing.take());
        passing.for_each(|bar| bar.finish_and_clear());
    }

    /// Takes away what a terminal that is wider or narrower now has made of the lines that were
    /// drawn: what is drawn next believes that they stand as they did.
    fn fit(&mut self) {
        let others = self.building.iter().len() + self.passing.iter().len();
        let Shown::Drawn { bars, width, .. } = &mut self.shown else { return };
        let (before, now) = (*width, console_width());
        *width = now;
        let n_lines = bars.len() + others;
        if before != now && n_lines > 0 {
            // A terminal that is gone is nobody's.
            let _ = std::io::stderr().write_all(refitted(n_lines, before, now).as_bytes());
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

    fn draw(&mut self, tally: &Tally) {
        self.fit();
        let now_ns =
            self.phase.map_or(0, |(since, at_ns)| at_ns + since.elapsed().as_nanos() as i64);
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                if self.is_due() {
                    self.shell.say(&plain(tally, now_ns));
                }
            }
            Shown::Drawn { all, bars, width } => {
                let lines = lines(tally, now_ns, (*width).min(WIDTH_MOST));
                while bars.len() < lines.len() {
                    let bar = all.add(ProgressBar::new_spinner());
                    bar.set_style(style("{msg}"));
                    bars.push(bar);
                }
                bars.drain(lines.len()..).for_each(|bar| bar.finish_and_clear());
                for (bar, line) in bars.iter().zip(lines) {
                    bar.set_message(harmless(&line));
                    bar.tick();
                }
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how often a person is told is no measurement")]
fn now() -> Instant {
    Instant::now()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates here are constant and right")
}

fn console_width() -> usize {
    let (_, columns) = console::Term::stderr().size();
    usize::from(columns)
}

/// What brings the cursor to the end of `n_lines` empty lines where lines stood that were drawn
/// when the terminal was `before` columns wide.
///
/// Each was filled to its end with blanks, so that all of them are one long line to the terminal,
/// which has broken it anew at `now` columns; the cursor is at its end.
fn refitted(n_lines: usize, before: usize, now: usize) -> String {
    let n_rows = (n_lines * before).div_ceil(now.max(1));
    let up = if n_rows > 1 { format!("\x1b[{}A", n_rows - 1) } else { String::new() };
    format!("{up}\r\x1b[J{}", "\n".repeat(n_lines - 1))
}

impl Watcher for Live {
    fn event(&mut self, event: &Event, tally: &Tally) {
        if let Some(metrics) = &mut self.metrics {
            metrics.event(event, tally);
        }
        match event {
            Event::Phase { phase, at_ns } if *phase != Phase::Connect => {
                self.clear_passing();
                self.phase = Some((now(), *at_ns));
                self.draw(tally);
            }
            Event::Second(_) => self.draw(tally),
            // On a terminal it is a line of what is drawn.
            Event::Disturbance(printed) if matches!(self.shown, Shown::Lines) => {
                self.shell.say(&disturbance(printed));
            }
            Event::Ended { .. } => self.end(),
            _ => {}
        }
    }

    fn building(&mut self, progress: &Progress) {
        self.fit();
        let left = progress.left_s.map_or(String::new(), |left| format!(", {left:.0} s left"));
        let text = format!(
            "building {}: {} of {} rows, {} rows/s{left}",
            progress.doing,
            format_count(progress.n_rows),
            format_count(progress.n_rows_total),
            format_count(progress.rows_per_s as u64),
        );
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                if self.is_due() {
                    self.shell.say(&text);
                }
            }
            Shown::Drawn { all, .. } => {
                let bar = self.building.get_or_insert_with(|| {
                    let bar = all.add(ProgressBar::new(progress.n_rows_total));
                    bar.set_style(style("{bar:30} {percent:>3}% {msg}"));
                    bar
                });
                bar.set_length(progress.n_rows_total);
                bar.set_position(progress.n_rows);
                bar.set_message(harmless(&text));
            }
        }
    }

    fn doing(&mut self, text: &str) {
        self.fit();
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                if self.is_due() {
                    self.shell.say(text);
                }
            }
            Shown::Drawn { all, .. } => {
                let bar = self.passing.get_or_insert_with(|| {
                    let bar = all.add(ProgressBar::new_spinner());
                    bar.set_style(style("{spinner} {wide_msg}"));
                    bar
                });
                bar.set_message(harmless(text));
                bar.tick();
            }
        }
    }

    fn note(&mut self, text: &str) {
        self.clear_passing();
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => self.shell.say(text),
            Shown::Drawn { all, .. } => {
                // A note that cannot be drawn is lost with its terminal.
                let _ = all.println(harmless(text));
            }
        }
    }
}

impl ExperimentWatcher for Live {
    fn trial(&mut self, nth: u64, of: u64, values: &str, left_ns: Option<u64>) {
        self.end();
        let left = left_ns.map_or(String::new(), |left| {
            let whole = (left / NS_PER_S).max(1) * NS_PER_S;
            format!(", about {} left", format_duration(whole))
        });
        let at = if values.is_empty() { String::new() } else { format!(": {values}") };
        self.note(&format!("trial {nth} of {of}{at}{left}"));
    }
}

#[cfg(test)]
mod tests {
    use super::refitted;

    #[test]
    fn lines_are_taken_away_as_a_terminal_of_another_width_has_broken_them() {
        assert_eq!(refitted(4, 100, 60), "\x1b[6A\r\x1b[J\n\n\n");
        assert_eq!(refitted(4, 60, 120), "\x1b[1A\r\x1b[J\n\n\n");
        assert_eq!(refitted(1, 60, 120), "\r\x1b[J");
    }
}
