//! Rules for lists that must be complete: drivers, workloads, pages of docs and examples. An entry
//! that is not listed cannot be found by users.

use super::rust::sources;
use super::{Trouble, places_of_word};
use crate::tree::Tree;

/// Folders of crates in which each subfolder is an entry of the crate's list `ALL`, such as a
/// driver.
const FAMILIES: &[&str] = &["crates/drivers/src", "crates/workloads/src"];

/// Subfolders in [`FAMILIES`] that are not entries of `ALL`, since several entries share them.
const SHARED: &[&str] = &[
    "crates/drivers/src/embedded",
    "crates/drivers/src/net",
    "crates/drivers/src/wire",
    // Languages, in which users write workloads.
    "crates/workloads/src/script",
];

/// Beginnings of the paths of tests that may run an example.
const EXAMPLE_TESTS: &[&str] = &["crates/dbdyno/tests/", "crates/app/"];

/// Finds folders of drivers and workloads that the crate's list `ALL` does not name.
pub(super) fn members_are_listed(tree: &Tree) -> Vec<Trouble> {
    let sources = sources(tree);
    let mut troubles = Vec::new();
    for family in FAMILIES {
        let library = format!("{family}/lib.rs");
        let list = sources.iter().find(|source| source.path == library);
        let list = list.and_then(|source| list_named_all(&source.code)).unwrap_or_default();
        for member in tree.folders_with(family, "mod.rs") {
            let path = format!("{family}/{member}/mod.rs");
            let for_tests = sources
                .iter()
                .any(|source| source.path == path && source.product.trim().is_empty());
            let shared = SHARED.contains(&format!("{family}/{member}").as_str());
            if !for_tests && !shared && places_of_word(list, member).is_empty() {
                let text = format!("'{member}' is not named in ALL of {library}; add it there");
                troubles.push(Trouble::new(&path, 1, text));
            }
        }
    }
    troubles
}

/// Returns the value of the item `ALL` in a source, from its `=` to its `;`; `None` if the source
/// has no such item.
fn list_named_all(code: &str) -> Option<&str> {
    let declared = |at: &usize| {
        let before = code[..*at].trim_end();
        before.ends_with("static") || before.ends_with("const")
    };
    let start = places_of_word(code, "ALL").into_iter().find(declared)?;
    let (_, value) = code[start..].split_once('=')?;
    Some(value.split_once(';').map_or(value, |(value, _)| value))
}

/// Finds pages of docs to which neither the README, ARCHITECTURE nor the index of docs links.
pub(super) fn docs_are_linked(tree: &Tree) -> Vec<Trouble> {
    let front = [tree.text("README.md"), tree.text("ARCHITECTURE.md")];
    let index = tree.text("docs/README.md");
    let linked = |path: &str| {
        let in_docs = path.trim_start_matches("docs/");
        front.iter().flatten().any(|text| text.contains(path))
            || index.iter().any(|text| text.contains(in_docs))
    };
    tree.ending("md")
        .filter(|file| file.path.starts_with("docs/") && !linked(&file.path))
        .map(|file| {
            let text =
                "no reader finds it; link it from README.md, ARCHITECTURE.md or docs/README.md";
            Trouble::new(&file.path, 1, text)
        })
        .collect()
}

/// Finds examples that no test names. Such an example becomes outdated without notice.
pub(super) fn examples_are_tested(tree: &Tree) -> Vec<Trouble> {
    let tests = || {
        tree.ending("rs")
            .filter(|file| EXAMPLE_TESTS.iter().any(|start| file.path.starts_with(start)))
    };
    let tested = |path: &str| {
        let name = path.trim_start_matches("examples/");
        tests().any(|file| file.text.contains(name))
    };
    tree.ending("toml")
        .filter(|file| file.path.starts_with("examples/") && !tested(&file.path))
        .map(|file| {
            let text = "no test names it; run it in crates/dbdyno/tests or crates/app";
            Trouble::new(&file.path, 1, text)
        })
        .collect()
}

/// Finds Rust examples whose tests are not declared to Cargo, which then leaves them out.
pub(super) fn tests_of_examples_run(tree: &Tree) -> Vec<Trouble> {
    let declared = |path: &str| {
        let (folder, file) = path.split_once("/examples/")?;
        let manifest = tree.text(&format!("{folder}/Cargo.toml"))?;
        let named = format!("name = \"{}\"\ntest = true", file.trim_end_matches(".rs"));
        Some(manifest.contains(&named))
    };
    sources(tree)
        .iter()
        .filter(|source| source.path.contains("/examples/") && source.text.contains("#[test]"))
        .filter(|source| declared(source.path) != Some(true))
        .map(|source| {
            let text = "no suite runs its tests; add an [[example]] with test = true to Cargo.toml";
            Trouble::new(source.path, 1, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_an_example_that_cargo_leaves_out_are_reported() {
        let test = "fn main() {}\n#[test]\nfn it_holds() {}\n";
        let tree = Tree::from_files(&[
            ("crates/a/Cargo.toml", "[[example]]\nname = \"run\"\ntest = true\n"),
            ("crates/a/examples/run.rs", test),
            ("crates/a/examples/left_out.rs", test),
            ("crates/a/examples/plain.rs", "fn main() {}\n"),
        ]);
        let found = tests_of_examples_run(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "crates/a/examples/left_out.rs");
    }

    #[test]
    fn a_folder_that_all_does_not_name_is_reported() {
        let library = "mod sim; mod lite;\nfn f() { ALL.len(); lite::x(); }\n\
                       pub static ALL: &[&Entry; 1] = &[&sim::ENTRY];\n#[cfg(test)] mod suite;";
        let tree = Tree::from_files(&[
            ("crates/drivers/src/lib.rs", library),
            ("crates/drivers/src/sim/mod.rs", "x"),
            ("crates/drivers/src/lite/mod.rs", "x"),
            ("crates/drivers/src/suite/mod.rs", "x"),
            ("crates/drivers/src/net/mod.rs", "x"),
            ("crates/drivers/src/sim/deep/mod.rs", "x"),
        ]);
        let found = members_are_listed(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "crates/drivers/src/lite/mod.rs");
    }

    #[test]
    fn a_page_without_a_link_is_reported() {
        let tree = Tree::from_files(&[
            ("README.md", "[a](docs/a.md)"),
            ("ARCHITECTURE.md", "see docs/b.md"),
            ("docs/a.md", ""),
            ("docs/b.md", ""),
            ("docs/c.md", ""),
        ]);
        let found = docs_are_linked(&tree);
        assert_eq!(found.iter().map(|trouble| &*trouble.path).collect::<Vec<_>>(), ["docs/c.md"]);
    }

    #[test]
    fn an_example_without_a_test_is_reported() {
        let tree = Tree::from_files(&[
            ("examples/a.toml", ""),
            ("examples/b.toml", ""),
            ("crates/dbdyno/tests/examples.rs", "run(\"a.toml\")"),
            ("crates/model/src/x.rs", "\"b.toml\""),
        ]);
        let found = examples_are_tested(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "examples/b.toml");
    }
}
