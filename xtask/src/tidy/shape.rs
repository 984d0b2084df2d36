//! Shape of sources: their first lines, and the length of lines, functions and files.

use std::collections::BTreeMap;

use super::Trouble;
use super::rust::{Function, Source, functions, sources};
use crate::tree::Tree;

const LINE_LETTERS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 800;
/// Maximum lines of code of a crate, without tests, comments and blank lines.
const CRATE_LINES_MAX: usize = 12_000;
/// Crate that may exceed [`CRATE_LINES_MAX`], since it implements several protocols, a folder each.
const MAY_BE_LONGER: &str = "drivers";

/// Finds sources that do not begin with a description of what they contain and what not.
pub(super) fn files_say_what_they_are(tree: &Tree) -> Vec<Trouble> {
    tree.ending("rs")
        .filter(|file| !file.text.starts_with("//!"))
        .map(|file| {
            let text = "the file does not begin with '//!'; say what is here, and what is not";
            Trouble::new(&file.path, 1, text)
        })
        .collect()
}

/// Finds lines that are too long. Literals, tables in comments and addresses cannot be broken, and
/// are allowed.
pub(super) fn lines_fit(tree: &Tree) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for source in sources(tree) {
        // The content of a literal is blank in `code`: within a long one, the whole line is.
        for (index, (line, code)) in source.text.lines().zip(source.code.lines()).enumerate() {
            let n_letters = line.chars().count();
            let trimmed = line.trim_start();
            let comment = trimmed.starts_with("//");
            let literal = !comment && (code.contains('"') || code.trim().is_empty());
            let table = comment && trimmed.trim_start_matches(['/', '!', ' ']).starts_with('|');
            let address = comment && line.contains("://");
            if n_letters > LINE_LETTERS_MAX && !literal && !table && !address {
                let text = format!("{n_letters} letters; a line has at most {LINE_LETTERS_MAX}");
                troubles.push(Trouble::new(source.path, index + 1, text));
            }
        }
    }
    troubles
}

/// Finds crates with so much code that they may contain more than one layer.
pub(super) fn crates_fit(tree: &Tree) -> Vec<Trouble> {
    crates_fit_in(tree, CRATE_LINES_MAX)
}

fn crates_fit_in(tree: &Tree, n_lines_max: usize) -> Vec<Trouble> {
    let mut n_lines_of: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources(tree) {
        let within = source.path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/"));
        if let Some((name, _)) = within {
            let n_lines = source.product.lines().filter(|line| !line.trim().is_empty()).count();
            *n_lines_of.entry(name.to_owned()).or_default() += n_lines;
        }
    }
    let is_long =
        |(name, n_lines): &(String, usize)| *n_lines > n_lines_max && name != MAY_BE_LONGER;
    let reported = |(name, n_lines): (String, usize)| {
        let text = format!(
            "{n_lines} lines of code, more than {n_lines_max}: which part is another crate?"
        );
        Trouble::new(&format!("crates/{name}/src/lib.rs"), 1, text)
    };
    n_lines_of.into_iter().filter(is_long).map(reported).collect()
}

/// Finds functions outside of tests that do not fit a screen.
pub(super) fn functions_fit(tree: &Tree) -> Vec<Trouble> {
    let of_product = |source: &Source<'_>| long_functions(source.path, &source.product);
    sources(tree).iter().flat_map(of_product).collect()
}

/// Finds functions of tests that do not fit a screen. A table of cases may be longer.
pub(super) fn long_tests(tree: &Tree) -> Vec<Trouble> {
    let of_tests = |source: &Source<'_>| {
        let product = long_functions(source.path, &source.product);
        let mut all = long_functions(source.path, &source.code);
        all.retain(|trouble| !product.contains(trouble));
        all
    };
    sources(tree).iter().flat_map(of_tests).collect()
}

fn long_functions(path: &str, code: &str) -> Vec<Trouble> {
    let is_long = |function: &Function| function.n_lines > FUNCTION_LINES_MAX;
    let reported = |function: Function| {
        let text = format!(
            "'{}' has {} lines; what fits a screen ({FUNCTION_LINES_MAX}) is read at once",
            function.name, function.n_lines
        );
        Trouble::new(path, function.line, text)
    };
    functions(code).into_iter().filter(is_long).map(reported).collect()
}

/// Finds files other than tests that are so long that they may hold more than one idea.
pub(super) fn files_fit(tree: &Tree) -> Vec<Trouble> {
    long_files(tree, |source| !source.product.trim().is_empty())
}

/// Finds files of tests that are so long that they may hold more than one idea.
pub(super) fn long_test_files(tree: &Tree) -> Vec<Trouble> {
    long_files(tree, |source| source.product.trim().is_empty())
}

fn long_files(tree: &Tree, is_meant: fn(&Source<'_>) -> bool) -> Vec<Trouble> {
    let n_lines = |source: &Source<'_>| source.text.lines().count();
    let reported = |source: &Source<'_>| {
        Trouble::new(source.path, 1, format!("{} lines; is it one idea?", n_lines(source)))
    };
    let sources = sources(tree);
    let long = sources.iter().filter(|source| n_lines(source) > FILE_LINES_MAX && is_meant(source));
    long.map(reported).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        Tree::from_files(&[("crates/a/src/b.rs", text)])
    }

    #[test]
    fn a_file_without_a_purpose_is_reported() {
        assert_eq!(files_say_what_they_are(&tree("//! Here: b.\n")), []);
        assert_eq!(files_say_what_they_are(&tree("use x;\n//! Late.\n")).len(), 1);
        assert_eq!(files_say_what_they_are(&tree("")).len(), 1);
    }

    #[test]
    fn a_long_line_is_reported_unless_it_cannot_be_broken() {
        let long = "x".repeat(101);
        let check = |text: String, n_expected: usize| {
            assert_eq!(lines_fit(&tree(&text)).len(), n_expected, "{text}");
        };
        check(long.clone(), 1);
        check(format!("// {long}"), 1);
        check(format!("// \"{long}\""), 1);
        check("é".repeat(100), 0);
        check(format!("say(\"{long}\")"), 0);
        check(format!("say(\"\n{long}\n\")"), 0);
        check(format!("/// | {long} |"), 0);
        check(format!("// https://example.org/{long}"), 0);
    }

    #[test]
    fn a_crate_that_is_too_long_is_reported_and_tests_do_not_count() {
        let check = |files: &[(&str, &str)], n_expected: usize| {
            assert_eq!(crates_fit_in(&Tree::from_files(files), 3).len(), n_expected, "{files:?}");
        };
        let three = "//! B.\n\nfn f() {\n    x();\n}\n";
        check(&[("crates/a/src/b.rs", three)], 0);
        check(&[("crates/a/src/b.rs", three), ("crates/a/src/c/d.rs", "use x;\n")], 1);
        check(&[("crates/a/src/b.rs", three), ("crates/a/src/tests.rs", "use x;\n")], 0);
        check(&[("crates/a/src/b.rs", three), ("crates/c/src/d.rs", "use x;\n")], 0);
        check(&[("crates/drivers/src/b.rs", three), ("crates/drivers/src/c.rs", "use x;\n")], 0);
    }

    #[test]
    fn a_long_function_is_reported_and_one_of_tests_is_worth_a_thought() {
        let long = format!("fn f() {{\n{}}}\n", "x();\n".repeat(70));
        let check = |text: &str, n_expected: [usize; 2]| {
            let tree = tree(text);
            assert_eq!([functions_fit(&tree).len(), long_tests(&tree).len()], n_expected);
        };
        check("fn f() {\n}\n", [0, 0]);
        check(&long, [1, 0]);
        check(&format!("#[cfg(test)]\nmod tests {{\n{long}}}\n"), [0, 1]);
    }

    #[test]
    fn a_long_file_is_reported_and_one_of_tests_is_worth_a_thought() {
        let check = |path: &str, n_lines: usize, n_expected: [usize; 2]| {
            let text = "x();\n".repeat(n_lines);
            let tree = Tree::from_files(&[(path, text.as_str())]);
            assert_eq!([files_fit(&tree).len(), long_test_files(&tree).len()], n_expected);
        };
        check("crates/a/src/b.rs", 800, [0, 0]);
        check("crates/a/src/b.rs", 801, [1, 0]);
        check("crates/a/src/tests.rs", 801, [0, 1]);
    }
}
