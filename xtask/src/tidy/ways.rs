//! Rules for the call paths that ARCHITECTURE.md lists: the functions that an option or a sample
//! passes. Without a check, such a list becomes false with the next change.

use super::Trouble;
use crate::tree::Tree;

const PAGE: &str = "ARCHITECTURE.md";

/// Words after which a sentence counts the functions and files of the call path below it.
const COUNTED: [&str; 2] = [" functions in ", " files:"];

/// Finds call paths in ARCHITECTURE.md that are wrong: a function is not in the files of its line,
/// or the sentence above the list counts functions or files wrongly.
pub(super) fn ways_are_true(tree: &Tree) -> Vec<Trouble> {
    let Some(text) = tree.text(PAGE) else { return Vec::new() };
    let mut troubles = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let Some(claimed) = counted(line) else { continue };
        let is_list = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with("```");
        let list: Vec<(usize, &str)> =
            lines.by_ref().skip_while(|entry| !is_list(entry)).take_while(is_list).collect();
        let mut files: Vec<String> = list.iter().flat_map(|(_, row)| files_of(row)).collect();
        files.sort();
        files.dedup();
        let found = (list.iter().map(|(_, row)| functions_of(row).count()).sum(), files.len());
        if found != claimed {
            let text = format!("the list has {} functions in {} files", found.0, found.1);
            troubles.push(Trouble::new(PAGE, index + 1, text));
        }
        troubles.extend(list.into_iter().flat_map(|(index, row)| false_names(tree, index, row)));
    }
    troubles
}

/// Returns the numbers of functions and files that a sentence claims for the list below it.
fn counted(line: &str) -> Option<(usize, usize)> {
    let (before, after) = line.split_once(COUNTED[0])?;
    let functions = before.rsplit(' ').next()?.parse().ok()?;
    Some((functions, after.strip_suffix(COUNTED[1])?.parse().ok()?))
}

/// Splits a row of a call path into its columns: files, functions, and a remark.
fn columns(row: &str) -> impl Iterator<Item = &str> {
    row.split("  ").map(str::trim).filter(|column| !column.is_empty())
}

/// Returns the paths of the files in a row, relative to the workspace. Paths with a placeholder
/// (`workloads/<name>`) stay as they are.
fn files_of(row: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for name in columns(row).next().unwrap_or_default().split(", ") {
        let path = match name.split_once('/') {
            Some((room, file)) => format!("crates/{room}/src/{file}"),
            // A name without a folder is beside the file before it.
            None => {
                let folder = files.last().and_then(|path| path.rsplit_once('/'));
                format!("{}/{name}", folder.map_or("", |(folder, _)| folder))
            }
        };
        files.push(path);
    }
    files
}

fn functions_of(row: &str) -> impl Iterator<Item = &str> {
    columns(row).nth(1).unwrap_or_default().split(", ")
}

/// Finds files in a row that do not exist, and functions that none of its files has.
fn false_names(tree: &Tree, index: usize, row: &str) -> Vec<Trouble> {
    let files = files_of(row);
    if files.iter().any(|path| path.contains('<')) {
        return Vec::new();
    }
    let trouble = |text: String| Trouble::new(PAGE, index + 1, text);
    let absent = files.iter().filter(|path| tree.text(path).is_none());
    let mut troubles: Vec<Trouble> =
        absent.map(|path| trouble(format!("there is no {path}"))).collect();
    // Words such as 'the closure in drive' name no function of their own.
    for name in functions_of(row).filter(|name| !name.contains(' ')) {
        let name = name.rsplit("::").next().unwrap_or(name);
        let begins = ["(", "<"].map(|next| format!("fn {name}{next}"));
        let has_it = |path: &String| {
            tree.text(path).is_some_and(|text| begins.iter().any(|begins| text.contains(begins)))
        };
        if !files.iter().any(has_it) {
            troubles.push(trouble(format!("no function '{name}' in {}", files.join(", "))));
        }
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: [(&str, &str); 3] = [
        ("crates/a/src/cli/run.rs", "pub fn run() {}\nfn read<T>(of: T) {}"),
        ("crates/a/src/cli/page.rs", "impl Page { fn show(&self) {} }"),
        ("crates/b/src/lib.rs", "fn ended() {}"),
    ];

    /// Returns the violations on a page that shows the call path `list`, below a sentence that says
    /// how many functions and files the path has (`counts`).
    fn troubles(counts: &str, list: &str) -> Vec<String> {
        let page = format!("An option takes {counts}:\n\n```text\n{list}\n```\n\nfn nobody\n");
        let files = [&CODE[..], &[(PAGE, page.as_str())]].concat();
        ways_are_true(&Tree::from_files(&files)).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn a_list_that_names_functions_where_they_are_is_true() {
        let list = "a/cli/run.rs, page.rs   run, read, Page::show   shown\n\
                    workloads/<name>        Client::inputs\n\
                    b/lib.rs                ended, the closure in it";
        assert_eq!(troubles("6 functions in 4 files", list), Vec::<String>::new());
    }

    #[test]
    fn a_function_that_moved_a_file_that_went_and_a_wrong_count_are_reported() {
        let found = troubles("2 functions in 2 files", "a/cli/run.rs  run, ended\nb/gone.rs  run");
        let expected = [
            "the list has 3 functions in 2 files",
            "no function 'ended' in crates/a/src/cli/run.rs",
            "there is no crates/b/src/gone.rs",
            "no function 'run' in crates/b/src/gone.rs",
        ];
        assert_eq!(found, expected);
    }
}
