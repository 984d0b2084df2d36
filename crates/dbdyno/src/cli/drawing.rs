//! Draws lines and progress bars on a terminal, repeatedly in the same place.
//!
//! Not here: the text of the lines (`live`).

use std::io::Write;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::shell::{harmless, wrapped};

/// Maximum columns of a drawn line. Longer ones are hard to read, and a line that the terminal
/// wraps would be redrawn wrongly.
const WIDTH_MOST: usize = 120;

/// Lines and progress bars that are on the terminal now.
pub(super) struct Drawing {
    all: MultiProgress,
    bars: Vec<ProgressBar>,
    building: Option<ProgressBar>,
    passing: Option<ProgressBar>,
    /// Columns of the terminal when it was last drawn on.
    width: usize,
}

impl Drawing {
    /// Creates an empty drawing. Always `Some` here; `None` in a build without drawing
    /// (`no_drawing`).
    pub(super) fn begin() -> Option<Drawing> {
        Some(Drawing {
            all: MultiProgress::new(),
            bars: Vec::new(),
            building: None,
            passing: None,
            width: console_width(),
        })
    }

    /// Clears everything that is drawn on the terminal.
    pub(super) fn end(&mut self) {
        self.clear_passing();
        self.bars.drain(..).for_each(|bar| bar.finish_and_clear());
    }

    /// Clears the progress of a build and the current step, and keeps the lines.
    pub(super) fn clear_passing(&mut self) {
        self.fit();
        let passing = self.building.take().into_iter().chain(self.passing.take());
        passing.for_each(|bar| bar.finish_and_clear());
    }

    /// Replaces the lines by those that `lines` returns for the given number of columns.
    pub(super) fn draw(&mut self, lines: impl FnOnce(usize) -> Vec<String>) {
        self.fit();
        let lines = lines(self.width.min(WIDTH_MOST));
        while self.bars.len() < lines.len() {
            let bar = self.all.add(ProgressBar::new_spinner());
            bar.set_style(style("{msg}"));
            self.bars.push(bar);
        }
        self.bars.drain(lines.len()..).for_each(|bar| bar.finish_and_clear());
        for (bar, line) in self.bars.iter().zip(lines) {
            bar.set_message(harmless(&line));
            bar.tick();
        }
    }

    /// Draws the progress of a build of data: a bar with `n_rows` of `n_rows_total` rows, followed
    /// by a text.
    pub(super) fn building(&mut self, n_rows: u64, n_rows_total: u64, text: &str) {
        self.fit();
        let all = &self.all;
        let bar = self.building.get_or_insert_with(|| {
            let bar = all.add(ProgressBar::new(n_rows_total));
            bar.set_style(style("building {bar:12} {percent:>3}% {wide_msg}"));
            bar
        });
        bar.set_length(n_rows_total);
        bar.set_position(n_rows);
        bar.set_message(harmless(text));
    }

    /// Draws a spinner with the current step.
    pub(super) fn doing(&mut self, text: &str) {
        self.fit();
        let all = &self.all;
        let bar = self.passing.get_or_insert_with(|| {
            let bar = all.add(ProgressBar::new_spinner());
            bar.set_style(style("{spinner} {wide_msg}"));
            bar
        });
        bar.set_message(harmless(text));
        bar.tick();
    }

    /// Prints a line that stays above the drawing, and clears the progress bars.
    pub(super) fn note(&mut self, text: &str) {
        self.clear_passing();
        // Fails only if the terminal is gone.
        let _ = self.all.println(wrapped(&harmless(text), console_width()));
    }

    /// Clears the drawn lines if the width of the terminal has changed: the terminal wraps them
    /// again, so they cannot be redrawn in place.
    fn fit(&mut self) {
        let (before, now) = (self.width, console_width());
        self.width = now;
        let n_lines = self.bars.len() + self.building.iter().len() + self.passing.iter().len();
        if before != now && n_lines > 0 {
            // Fails only if the terminal is gone.
            let _ = std::io::stderr().write_all(refitted(n_lines, before, now).as_bytes());
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates here are constant and right")
}

fn console_width() -> usize {
    let (_, columns) = console::Term::stderr().size();
    usize::from(columns)
}

/// Returns the escape codes that clear `n_lines` lines drawn when the terminal was `before` columns
/// wide, and move the cursor to the end of the last.
///
/// Each line was filled with blanks, so the terminal treats all of them as one long line, wrapped
/// again at `now` columns, with the cursor at its end.
fn refitted(n_lines: usize, before: usize, now: usize) -> String {
    let n_rows = (n_lines * before).div_ceil(now.max(1));
    let up = if n_rows > 1 { format!("\x1b[{}A", n_rows - 1) } else { String::new() };
    format!("{up}\r\x1b[J{}", "\n".repeat(n_lines - 1))
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
