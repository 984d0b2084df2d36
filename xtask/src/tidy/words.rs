//! Words that belong to somebody's own machine and not into the repository.

use super::Trouble;
use crate::tree::Tree;

/// First folders of paths that exist on one machine only.
const PRIVATE_FOLDERS: &[&str] = &["root", "work"];

/// No file names a path on the machine where it was written.
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

/// Whether a path begins so, not merely goes through a folder of that name.
fn names_path(line: &str, path: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || ['.', '_', '-', '~', '}', '*'].contains(&c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_told_with_its_line() {
        let folder = PRIVATE_FOLDERS[1];
        let text = format!("fine\nsee /{folder}/notes\n");
        let found = no_private_paths(&Tree::of(&[("docs/a.md", &text)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("docs/a.md", 2));
        let fine = format!("at https://example.org/{folder}/x and ./{folder}/y\n");
        assert_eq!(no_private_paths(&Tree::of(&[("docs/a.md", &fine)])), []);
    }
}
