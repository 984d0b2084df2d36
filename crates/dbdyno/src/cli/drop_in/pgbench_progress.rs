//! Progress of a run on stderr as pgbench prints it. Not here: the report.

use std::sync::Arc;

use analysis::Tally;
use app::build::Progress as BuildProgress;
use app::by_end::{ByEnd, Ended, ended_with};
use app::watcher::{Intervals, Watcher};
use model::{DbErrorKind, Event, KindIndex, NS_PER_MS};
use render::drop_in::{Progress, RETRIED, pgbench_progress};

use crate::shell::Shell;

/// Watcher that prints a line of progress every few seconds.
pub(super) struct Told {
    pub(super) shell: Shell,
    pub(super) intervals: Intervals,
    pub(super) by_end: Arc<ByEnd>,
    pub(super) has_time_stamps: bool,
    pub(super) has_rate: bool,
    /// Whether late transactions are skipped.
    pub(super) has_limit: bool,
    /// Whether transactions are tried again.
    pub(super) has_retries: bool,
}

impl Told {
    /// Prints the lines of all seconds before `end`.
    pub(super) fn tell(&mut self, end: i64) {
        while let Some(seconds) = self.intervals.next(end) {
            let every = seconds.end - seconds.start;
            let ended = self.by_end.take((seconds.start / every) as u64);
            let (n, times) = (ended.response.count(), &ended.response);
            let in_ms = |ns: f64| if n == 0 { 0.0 } else { ns / NS_PER_MS as f64 };
            let progress = Progress {
                at_s: match self.has_time_stamps {
                    true => app::unix_ms() as f64 / 1e3,
                    false => seconds.end as f64,
                },
                tps: n as f64 / every as f64,
                mean_ms: in_ms(times.mean()),
                sd_ms: in_ms(times.sd()),
                failed: failed(&ended, None),
                lag_ms: self.has_rate.then(|| in_ms(ended.lag.mean())),
                skipped: self.has_limit.then_some(ended.skipped),
                retried: self.has_retries.then(|| retried(&ended, None)),
            };
            self.shell.say(&pgbench_progress(&progress, self.has_time_stamps));
        }
    }
}

/// Returns how many transactions failed, of one type or of all. pgbench does not count those whose
/// error ended their client.
pub(super) fn failed(ended: &Ended, kind: Option<KindIndex>) -> u64 {
    RETRIED.iter().map(|error| failed_with(ended, kind, error)).sum()
}

/// Returns how many transactions failed with an error of this name, of one type or of all.
pub(super) fn failed_with(ended: &Ended, kind: Option<KindIndex>, error: &str) -> u64 {
    let is_it = |of: &(u32, KindIndex, DbErrorKind)| {
        of.2.name() == error && kind.is_none_or(|kind| kind == of.1)
    };
    ended.failures.iter().filter(|(of, _)| is_it(of)).map(|(_, count)| count).sum()
}

/// Returns how many transactions were retried, and their retries, of one type or of all.
pub(super) fn retried(ended: &Ended, kind: Option<KindIndex>) -> (u64, u64) {
    let of = ended.retried.iter().filter(|(of, _)| kind.is_none_or(|kind| kind == **of));
    of.fold((0, 0), |(sum, all), (_, (count, retries))| (sum + count, all + retries))
}

impl Watcher for Told {
    fn event(&mut self, event: &Event, tally: &Tally) {
        if let Some(end) = ended_with(event, tally) {
            self.tell(end);
        }
    }

    fn building(&mut self, _progress: &BuildProgress) {}

    /// pgbench prints no such lines, and programs that read its output do not expect them.
    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}
}
