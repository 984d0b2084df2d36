//! The files of the repository, read once, so that every check is a function of text.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// A text file that git tracks or would add.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Path of the file from the root of the repository, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All text files of the repository, sorted by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// Subjects of the commits since [`SUBJECTS_SINCE`]; empty without git.
    pub(crate) subjects: Vec<String>,
}

/// Commit after which the length of all subjects is checked.
const SUBJECTS_SINCE: &str = "837a5d3";

impl Tree {
    /// Reads the files that git tracks or would add; without git, all but build outputs. Files that
    /// are not text are left out.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let mut paths = known_to_git(root).map_or_else(|| walk(root), Ok)?;
        paths.sort();
        let read = |path: String| {
            // Binary files, and deleted ones that are not committed, have no rules.
            let text = std::fs::read_to_string(root.join(&path)).ok()?;
            Some(File { path, text })
        };
        let subjects = git(root, &["log", "--no-merges", "--format=%s", &range()]);
        let subjects = subjects.unwrap_or_default().lines().map(str::to_owned).collect();
        Ok(Tree { files: paths.into_iter().filter_map(read).collect(), subjects })
    }

    /// Creates a tree of paths and texts, for tests.
    #[cfg(test)]
    pub(crate) fn from_files(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| File { path: path.into(), text: text.into() };
        Tree { files: files.iter().map(file).collect(), ..Tree::default() }
    }

    /// Returns the text of the file at `path`; `None` if there is no such file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// Returns the files with this extension, which is given without its dot.
    pub(crate) fn ending(&self, ending: &str) -> impl Iterator<Item = &File> {
        let ending = format!(".{ending}");
        self.files.iter().filter(move |file| file.path.ends_with(&ending))
    }

    /// Returns the names of the folders directly in `folder` that contain a file `name`.
    pub(crate) fn folders_with<'a>(
        &'a self,
        folder: &str,
        name: &str,
    ) -> impl Iterator<Item = &'a str> {
        let (start, end) = (format!("{folder}/"), format!("/{name}"));
        self.files.iter().filter_map(move |file| {
            let inner = file.path.strip_prefix(&start)?.strip_suffix(&end)?;
            (!inner.contains('/')).then_some(inner)
        })
    }
}

fn range() -> String {
    format!("{SUBJECTS_SINCE}..HEAD")
}

/// Returns the output of a git command; `None` without git, outside of a clone, or after an error.
fn git(root: &Path, args: &[&str]) -> Option<String> {
    // A clone of another user may be read, too.
    let output = Command::new("git")
        .args(["-c", "safe.directory=*"])
        .args(args)
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

fn known_to_git(root: &Path) -> Option<Vec<String>> {
    let text = git(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let mut paths: Vec<String> =
        text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    paths.dedup();
    Some(paths)
}

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let listing = std::fs::read_dir(root.join(&folder))
            .with_context(|| format!("cannot list {}", root.join(&folder).display()))?;
        for entry in listing {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let skipped = entry.file_name() == "target" || entry.file_name() == ".git";
            if skipped {
                continue;
            } else if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if let Some(path) = path.to_str() {
                paths.push(path.to_owned());
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_git_the_same_sources_are_found() {
        let root = crate::root();
        let found = |paths: Vec<String>| paths.contains(&"xtask/src/tree.rs".to_owned());
        assert!(found(walk(&root).unwrap()));
        assert!(Tree::read(&root).unwrap().text("xtask/src/tree.rs").is_some());
    }

    #[test]
    fn folders_are_found_by_the_file_that_makes_them_members() {
        let tree =
            Tree::from_files(&[("a/src/one/mod.rs", ""), ("a/src/one/deep/mod.rs", ""), ("b", "")]);
        assert_eq!(tree.folders_with("a/src", "mod.rs").collect::<Vec<_>>(), ["one"]);
    }
}
