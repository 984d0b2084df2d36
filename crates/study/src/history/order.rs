//! The order of builds in a history. Not here: which runs form a build.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::HistoryRun;
use crate::comparison::Side;

/// An order of builds that the user requests for a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Builds by version, compared as package managers do; builds of equal versions by time.
    Version,
    /// Builds by the start of each build's first run, the oldest first.
    Time,
    /// Builds by their positions in this list of commits, the oldest first, as `git log --reverse
    /// --format=%H` prints them.
    Commits(Vec<String>),
}

/// The order of the builds in a report, with the reason for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ordered {
    #[default]
    Version,
    /// Builds by the start of their first run, as the user requested.
    Time,
    /// Builds by the start of their first run, because their names are hashes of commits and have
    /// no order.
    TimeOfHashes,
    /// Builds by the start of their first run, because their names are not versions of one series:
    /// some have no number, or another word before it.
    TimeOfWords,
    /// Builds by their position in a list of commits that the user gave.
    Commit,
}

impl Ordered {
    /// Returns the name of the order in sentences, such as `time of the first run`.
    pub fn name(self) -> &'static str {
        match self {
            Ordered::Version => "version",
            Ordered::Time | Ordered::TimeOfHashes | Ordered::TimeOfWords => "time of the first run",
            Ordered::Commit => "commit",
        }
    }
}

/// A build that can be ordered by its name or by time.
pub(super) trait Dated {
    fn name(&self) -> &str;

    /// Returns the start of the build's first run and the run's id (a UUID of version 7), which
    /// orders runs of the same millisecond. `None` without a run.
    fn first(&self) -> Option<(Timestamp, &str)>;
}

impl<R: HistoryRun> Dated for Side<R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn first(&self) -> Option<(Timestamp, &str)> {
        let all = self.points.iter().flat_map(|point| &point.reports);
        all.map(|run| (run.started(), run.run_id())).min()
    }
}

/// The builds of a history in the order in which they are judged and shown, with the builds that
/// are left out because they have no place in it.
pub(super) struct InOrder<'s, B> {
    pub(super) builds: Vec<&'s B>,
    pub(super) ordered: Ordered,
    pub(super) unlisted: Vec<String>,
    /// The build that was measured last, if another build is last in the order, so that readers are
    /// told that this one is not judged; it may be in `unlisted`. `None` if the last build is also
    /// the one measured last.
    pub(super) measured_last: Option<String>,
}

/// Orders builds as requested, or by version. If most names are hashes of commits, or they are not
/// versions of one series, the default order is by time.
pub(super) fn in_order<'s, B: Dated>(builds: &'s [B], asked: Option<&Order>) -> InOrder<'s, B> {
    let mut all: Vec<&B> = builds.iter().collect();
    let mut unlisted: Vec<String> = Vec::new();
    // A build without a run is placed by its name: last.
    let by_time = |a: &&B, b: &&B| {
        let (a, b) = (a.first(), b.first());
        (a.is_none(), a).cmp(&(b.is_none(), b))
    };
    let ordered = match asked {
        Some(Order::Version) => Ordered::Version,
        Some(Order::Time) => Ordered::Time,
        Some(Order::Commits(_)) => Ordered::Commit,
        None if are_hashes(&all) => Ordered::TimeOfHashes,
        None if !are_versions(&all) => Ordered::TimeOfWords,
        None => Ordered::Version,
    };
    match asked {
        Some(Order::Commits(commits)) => {
            let place = |build: &B| commits.iter().position(|commit| is_of(commit, build.name()));
            let (mut listed, lost): (Vec<&B>, Vec<&B>) =
                all.into_iter().partition(|build| place(build).is_some());
            listed.sort_by_key(|build| place(build));
            unlisted.extend(lost.into_iter().map(|build| build.name().to_owned()));
            all = listed;
        }
        _ if ordered == Ordered::Version => all.sort_by(|a, b| {
            let ((word_a, a_number), (word_b, b_number)) =
                (number_of(a.name()), number_of(b.name()));
            word_a
                .cmp(&word_b)
                .then_with(|| libversion::version_compare2(a_number, b_number))
                .then_with(|| by_time(a, b))
        }),
        _ => all.sort_by(|a, b| by_time(a, b).then_with(|| a.name().cmp(b.name()))),
    }
    let last_at = all.last().and_then(|build| build.first());
    let newest = builds.iter().max_by_key(|build| build.first());
    // A last build without a valid run has no time; that is reported elsewhere.
    let is_unlisted = |build: &B| unlisted.iter().any(|name| name == build.name());
    let is_after =
        |build: &&B| build.first() > last_at && (last_at.is_some() || is_unlisted(build));
    let measured_last = newest.filter(is_after).map(|build| build.name().to_owned());
    InOrder { builds: all, ordered, unlisted, measured_last }
}

/// Returns true if the name of a build is this commit. Either hash may be abbreviated, to seven
/// digits or more.
fn is_of(commit: &str, name: &str) -> bool {
    let least = commit.len().min(name.len());
    least >= HASH_MIN && commit.as_bytes()[..least].eq_ignore_ascii_case(&name.as_bytes()[..least])
        || commit == name
}

/// Smallest number of digits of an abbreviated commit hash; a shorter name is not taken for one.
const HASH_MIN: usize = 7;
/// Number of digits of a SHA-1 hash; a longer name is not taken for a hash.
const HASH_MAX: usize = 40;

/// Returns true if most names look like commit hashes, and most of these contain a letter. Names of
/// digits alone may be dates.
fn are_hashes<B: Dated>(builds: &[&B]) -> bool {
    let is_hex = |name: &str| {
        (HASH_MIN..=HASH_MAX).contains(&name.len())
            && name.bytes().all(|letter| letter.is_ascii_hexdigit())
    };
    let has_letter = |name: &str| name.bytes().any(|letter| letter.is_ascii_alphabetic());
    let n_hashes = builds.iter().filter(|build| is_hex(build.name())).count();
    let n_with_letters =
        builds.iter().filter(|build| is_hex(build.name()) && has_letter(build.name())).count();
    // One in 27 hashes of seven digits has no letter.
    2 * n_hashes > builds.len() && 2 * n_with_letters > n_hashes
}

/// Splits the name of a build into the word before its first digit, in lower case, and the rest.
/// The word `v` alone is left out, so that `v1.2` is of the same kind as `1.2`.
fn number_of(name: &str) -> (String, &str) {
    let at = name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(name.len());
    match name[..at].to_lowercase() {
        word if word == "v" => (String::new(), &name[at..]),
        word => (word, &name[at..]),
    }
}

/// Returns true if all names contain a number, with the same word before it.
fn are_versions<B: Dated>(builds: &[&B]) -> bool {
    let mut all = builds.iter().map(|build| number_of(build.name()));
    let Some((first, number)) = all.next() else { return true };
    !number.is_empty() && all.all(|(word, number)| word == first && !number.is_empty())
}

/// Reads a list of commits: the first word of each line. Further text on a line is ignored.
pub fn commits_of(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::sides;

    fn check(names: &[&str], asked: Option<Order>, expected: (&[&str], Ordered)) {
        let side = |(minute, name): (usize, &&str)| sides::side(name, &[("8", &[1e3], minute)]);
        let sides: Vec<Side> = names.iter().enumerate().map(side).collect();
        let found = in_order(&sides, asked.as_ref());
        let names: Vec<&str> = found.builds.iter().map(|side| side.name.as_str()).collect();
        assert_eq!((&names[..], found.ordered), expected);
        // The last of these was measured last.
        let given = sides.last().map(|side| side.name.as_str());
        assert_eq!(
            found.measured_last.as_deref(),
            given.filter(|given| names.last() != Some(given))
        );
    }

    #[test]
    fn hashes_stand_by_time_and_versions_and_dates_do_not() {
        let hashes = ["f00dbab", "1234567", "0a1b2c3", "deadbeef00"];
        check(&hashes, None, (&hashes, Ordered::TimeOfHashes));
        check(&["1.10", "1.9"], None, (&["1.9", "1.10"], Ordered::Version));
        let dates = ["20261102", "20261101"];
        check(&dates, None, (&["20261101", "20261102"], Ordered::Version));
        let words = ["tuned", "default", "b"];
        check(&words, None, (&words, Ordered::TimeOfWords));
        check(&["main", "1.2"], None, (&["main", "1.2"], Ordered::TimeOfWords));
        check(&words, Some(Order::Version), (&["b", "default", "tuned"], Ordered::Version));
        check(&["1.10", "1.9"], Some(Order::Time), (&["1.10", "1.9"], Ordered::Time));
        check(&["v1.11", "1.9", "V1.10"], None, (&["1.9", "V1.10", "v1.11"], Ordered::Version));
        check(&["pg-17", "pg-9"], None, (&["pg-9", "pg-17"], Ordered::Version));
        let branches = ["main-1", "feature-2", "main-3"];
        check(&branches, None, (&branches, Ordered::TimeOfWords));
        let described = ["1.2-14-gabcdef0", "1.2-9-g0123abc"];
        check(&described, None, (&["1.2-9-g0123abc", "1.2-14-gabcdef0"], Ordered::Version));
    }

    #[test]
    fn commits_stand_as_they_are_listed_whole_or_short() {
        let text = "deadbeef00112233 a subject\n0a1b2c3\n\nf00dbab0123 more\n";
        let commits = Order::Commits(commits_of(text));
        let names = ["f00dbab", "0a1b2c3d4e", "deadbeef00"];
        let sides: Vec<Side> = names.map(|name| sides::side(name, &[("8", &[1e3], 1)])).into();
        let lost = sides::side("9999999", &[("8", &[1e3], 1)]);
        let sides = [&sides[..], &[lost]].concat();
        let found = in_order(&sides, Some(&commits));
        let names: Vec<&str> = found.builds.iter().map(|side| side.name.as_str()).collect();
        assert_eq!(names, ["deadbeef00", "0a1b2c3d4e", "f00dbab"]);
        assert_eq!(found.unlisted, ["9999999"]);
        assert_eq!(found.measured_last, None);
        // A build measured after all listed ones is the one that the user asks about.
        let newest = sides::side("8888888", &[("8", &[1e3], 2)]);
        let sides = [&sides[..], &[newest]].concat();
        let found = in_order(&sides, Some(&commits));
        assert_eq!(found.measured_last.as_deref(), Some("8888888"));
    }
}
