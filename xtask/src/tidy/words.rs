//! Words that do not belong into the repository: paths of a developer's machine, outdated names and
//! unusual words.

use super::{Trouble, line_at, places_of_word};
use crate::tree::{File, Tree};

/// First folders of paths that exist on a developer's machine only.
const PRIVATE_FOLDERS: &[&str] = &["root", "work"];

/// Outdated names that users knew, and their replacements. No name occurs in any other sense.
const RETIRED: &[(&str, &str)] = &[
    ("--around", "--monitor"),
    ("recording.around", "recording.monitor"),
    ("--probe", "--report-interval"),
    ("recording.probe", "recording.report_interval"),
    ("--highest", "--histogram-max"),
    ("recording.highest", "recording.histogram_max"),
    ("--calls", "--mode"),
    ("books_disagree", "internal_count_mismatch"),
    ("generator_stood_still", "generator_paused"),
    ("server_counts_fewer", "server_commit_count_low"),
    ("setting_differs", "setting_adjusted"),
    ("checks_not_made", "checks_not_run"),
    ("crosscheck_not_made", "crosscheck_not_run"),
    ("Can it be trusted?", "Valid"),
];

/// Outdated names in the code, and their replacements. Each is a whole word that occurs in no other
/// sense.
const RETIRED_IN_CODE: &[(&str, &str)] = &[
    ("Refusal", "DbError"),
    ("RefusalKind", "DbErrorKind"),
    ("refusal", "db_error, in comments 'database error'"),
    ("refusals", "db_errors, in comments 'database errors'"),
    ("Seating", "ClientSpec"),
    ("Blueprint", "ClientSpec"),
    ("Surroundings", "RunContext"),
    ("seating", "spec"),
    ("Thinker", "ThinkTime"),
    ("thinker", "think_time"),
    ("furnish", "populate"),
    ("Lookout", "Monitor"),
    ("Whereabouts", "ProcessLocator"),
    ("Recount", "RunSink"),
    ("Trialled", "TrialReport"),
    ("SoFar", "writer queue"),
    ("Newcomer", "LatestBuild"),
    ("NoPage", "HttpError"),
    ("Vigil", "read_watchdog"),
    ("Sweeper", "Canceller"),
    ("Scrap", "FixedBuf"),
    ("census", "connection_count"),
    ("made_up", "fixtures"),
    ("ticked", "selected"),
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("told apart", "distinguished"),
];

/// Unusual words, which readers of technical English may not know.
const QUAINT: &[(&str, &str)] = &[
    ("anew", "again"),
    ("asunder", "apart"),
    ("for want of", "for lack of"),
    ("standstill", "stall"),
    ("carried in", "backlog at start"),
];

/// Maximum characters of a commit's subject, which `git log --oneline` then shows in full.
const SUBJECT_MAX: usize = 72;

/// Finds outdated names and unusual words: in all files, and those of the code in Rust files.
pub(super) fn no_retired_names(tree: &Tree) -> Vec<Trouble> {
    let here = |path: &str| path.ends_with("tidy/words.rs");
    let files = tree.files.iter().filter(|file| !here(&file.path));
    let everywhere = files.flat_map(|file| said(file, RETIRED));
    let quaint = tree.files.iter().filter(|file| !here(&file.path));
    let quaint = quaint.flat_map(|file| said(file, QUAINT));
    let code = tree.files.iter().filter(|file| file.path.ends_with(".rs") && !here(&file.path));
    everywhere.chain(quaint).chain(code.flat_map(|file| said(file, RETIRED_IN_CODE))).collect()
}

fn said(file: &File, words: &[(&str, &str)]) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for (old, new) in words {
        for at in places_of_word(&file.text, old) {
            let text = format!("'{old}' is not what users know; say '{new}'");
            troubles.push(Trouble::new(&file.path, line_at(&file.text, at), text));
        }
    }
    troubles
}

/// Finds subjects of commits that are too long for a line.
pub(super) fn subjects_fit(tree: &Tree) -> Vec<Trouble> {
    let long = tree.subjects.iter().filter(|subject| subject.chars().count() > SUBJECT_MAX);
    long.map(|subject| {
        let text =
            format!("the subject of a commit has at most {SUBJECT_MAX} characters: {subject}");
        Trouble::new("git log", 1, text)
    })
    .collect()
}

/// Finds paths of the machine where a file was written.
pub(super) fn no_private_paths(tree: &Tree) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for folder in PRIVATE_FOLDERS {
        let path = format!("/{folder}/");
        for file in &tree.files {
            for (index, line) in file.text.lines().enumerate() {
                if names_path(line, &path) {
                    let text = format!("'{path}' is a path on one machine only; take it out");
                    troubles.push(Trouble::new(&file.path, index + 1, text));
                }
            }
        }
    }
    troubles
}

/// Returns true if a line names a path that begins with `path`, not one that has it in the middle.
fn names_path(line: &str, path: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || ['.', '_', '-', '~', '}', '*'].contains(&c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retired_name_is_found_with_its_successor() {
        let text = format!("fine\nrun tpcc --{}=all\n", "around");
        let found = no_retired_names(&Tree::from_files(&[("docs/a.md", &text), ("a.rs", "new")]));
        assert_eq!(found.len(), 1);
        assert!(found[0].line == 2 && found[0].text.contains("--monitor"));
        let files =
            [("README.md", "it is built anew"), ("a.rs", "// made anew"), ("b.md", "SoFar")];
        assert_eq!(no_retired_names(&Tree::from_files(&files)).len(), 2);
        assert_eq!(no_retired_names(&Tree::from_files(&[("a.rs", "struct SoFar;")])).len(), 1);
        assert_eq!(no_retired_names(&Tree::from_files(&[("a.md", "--probes, renewed")])), []);
    }

    #[test]
    fn a_long_subject_is_found() {
        let subjects = vec!["Short".to_owned(), "x".repeat(SUBJECT_MAX + 1)];
        assert_eq!(subjects_fit(&Tree { subjects, ..Tree::default() }).len(), 1);
    }

    #[test]
    fn a_path_of_one_machine_is_reported_with_its_line() {
        let folder = PRIVATE_FOLDERS[1];
        let text = format!("fine\nsee /{folder}/notes\n");
        let found = no_private_paths(&Tree::from_files(&[("docs/a.md", &text)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("docs/a.md", 2));
        let fine = format!("at https://example.org/{folder}/x and ./{folder}/y\n");
        assert_eq!(no_private_paths(&Tree::from_files(&[("docs/a.md", &fine)])), []);
    }
}
