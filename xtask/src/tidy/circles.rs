//! Finds cycles of modules: no two sibling modules may depend on each other, even indirectly. This
//! holds for the modules in the root of a crate, and for those within a module.
//!
//! It reads paths that begin with `crate::`, or with enough `super::` to reach the crate's root. A
//! name that the root re-exports belongs to its module; one that the root of a crate defines makes
//! the root itself one of the modules. A module and its submodules may depend on each other. Not
//! here: glob imports, and imports of tests.

use std::collections::{BTreeMap, BTreeSet};

use super::rust::{Source, block_length, sources};
use super::{Trouble, line_at, places_of_word};
use crate::tree::Tree;

/// Name under which the root of a crate is one of its modules.
const ROOT: &str = "lib";

/// Dependencies of each module on others, with the file and line where each is first written.
type Needs<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (&'a str, usize)>>;

/// Finds the cycles of modules in each crate.
pub(super) fn modules_form_no_circle(tree: &Tree) -> Vec<Trouble> {
    let sources = sources(tree);
    let crates: BTreeSet<&str> = tree.folders_with("crates", "Cargo.toml").collect();
    let folders = crates.into_iter().map(|name| format!("crates/{name}/src/"));
    let folder_troubles = |folder: String| {
        let mut troubles = circles_of(&sources, &folder);
        for place in places_within(&sources, &folder) {
            troubles.extend(circles_within(&sources, &folder, &place));
        }
        troubles
    };
    folders.flat_map(folder_troubles).collect()
}

/// Returns the folders that have sibling modules, relative to the folder of a crate's sources.
fn places_within(sources: &[Source<'_>], folder: &str) -> BTreeSet<String> {
    let paths = sources.iter().filter_map(|source| source.path.strip_prefix(folder));
    let places =
        paths.flat_map(|path| path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
    places.collect()
}

/// Returns violations for cycles of the modules within one module, which is at `place` in the
/// crate's folder of sources.
fn circles_within(sources: &[Source<'_>], folder: &str, place: &str) -> Vec<Trouble> {
    let (within, beside) = (format!("{folder}{place}/"), format!("{folder}{place}.rs"));
    let root = format!("{within}mod.rs");
    let is_root = |source: &&Source<'_>| source.path == root || source.path == beside;
    let Some(root_names) = sources.iter().find(is_root).map(|root| RootNames::new(&root.product))
    else {
        return Vec::new();
    };
    let start: Vec<&str> = place.split('/').collect();
    let mut needs: Needs<'_> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.path != root) {
        let Some(path) = source.path.strip_prefix(&within) else { continue };
        let modules = modules_of(path);
        for (name, at) in names_within(&source.product, &start, modules.len()) {
            let to = root_names.module_of(name).filter(|to| *to != ROOT);
            if let Some(to) = to {
                need(&mut needs, modules[0], to, (source.path, line_at(&source.product, at)));
            }
        }
    }
    troubles_of(&needs)
}

/// Returns violations for cycles of the modules in the root of a crate, whose sources are in
/// `folder`: one for each group of modules that depend on each other.
fn circles_of(sources: &[Source<'_>], folder: &str) -> Vec<Trouble> {
    let mut ours: Vec<(&str, &Source<'_>)> = sources
        .iter()
        .filter_map(|source| Some((source.path.strip_prefix(folder)?, source)))
        .collect();
    if ours.iter().any(|(path, _)| *path == "lib.rs") {
        // A program beside its library is a separate crate of one file.
        ours.retain(|(path, _)| *path != "main.rs");
    }
    let Some((_, root)) = ours.iter().find(|(path, _)| ["lib.rs", "main.rs"].contains(path)) else {
        return Vec::new();
    };
    let root_names = RootNames::new(&root.product);
    let mut needs: Needs<'_> = BTreeMap::new();
    for (path, source) in &ours {
        if ["lib.rs", "main.rs"].contains(path) {
            for (name, at) in root_names.used_in(&root.product) {
                need(&mut needs, ROOT, name, (source.path, line_at(&source.product, at)));
            }
            continue;
        }
        let modules = modules_of(path);
        for (name, at) in names_at_root(&source.product, modules.len()) {
            if let Some(to) = root_names.module_of(name) {
                need(&mut needs, modules[0], to, (source.path, line_at(&source.product, at)));
            }
        }
    }
    troubles_of(&needs)
}

/// Returns violations for a graph of modules, one for each group that depend on each other, with
/// the group's shortest cycle.
fn troubles_of(needs: &Needs<'_>) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let mut reported: BTreeSet<&str> = BTreeSet::new();
    for start in needs.keys().copied() {
        if reported.contains(start) {
            continue;
        }
        let Some(circle) = shortest_circle(needs, start) else { continue };
        let all = reached_from(needs, start).into_iter();
        reported.extend(all.filter(|to| reached_from(needs, to).contains(start)));
        let (path, line) = needs[circle[0]][circle[1]];
        let text = format!(
            "modules form a circle: {}; move what they share below both",
            circle.join(" -> ")
        );
        troubles.push(Trouble::new(path, line, text));
    }
    troubles
}

fn need<'a>(needs: &mut Needs<'a>, from: &'a str, to: &'a str, place: (&'a str, usize)) {
    if from != to {
        needs.entry(from).or_default().entry(to).or_insert(place);
    }
}

/// Returns all modules on which a module depends, directly or indirectly.
fn reached_from<'a>(needs: &Needs<'a>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut left = vec![start];
    while let Some(from) = left.pop() {
        for to in needs.get(from).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(*to) {
                left.push(to);
            }
        }
    }
    reached
}

/// Returns the shortest cycle from a module back to itself, which is both the first and the last in
/// it; `None` if there is none.
fn shortest_circle<'a>(needs: &Needs<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut ways = vec![vec![start]];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = way.last().expect("a way begins somewhere");
            for to in needs.get(last).into_iter().flat_map(BTreeMap::keys) {
                let next: Vec<&str> = way.iter().copied().chain([*to]).collect();
                if *to == start {
                    return Some(next);
                }
                if seen.insert(*to) {
                    longer.push(next);
                }
            }
        }
        ways = longer;
    }
    None
}

/// Returns the modules of a file, the outermost first: `a/b.rs` and `a/b/mod.rs` are `[a, b]`.
fn modules_of(path: &str) -> Vec<&str> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.strip_suffix("/mod").unwrap_or(path).split('/').collect()
}

/// Returns the names after `crate::`, and after as many `super::` as lead from `depth` to the
/// crate's root. Each has its position in the code.
fn names_at_root(code: &str, depth: usize) -> Vec<(&str, usize)> {
    names_within(code, &[], depth)
}

/// Returns the names after `crate::` and the path of a module, and after as many `super::` as lead
/// to that module from `depth` within it. Each has its position in the code.
fn names_within<'c>(code: &'c str, module: &[&str], depth: usize) -> Vec<(&'c str, usize)> {
    let mut names: Vec<(&str, usize)> = Vec::new();
    let way: String = module.iter().map(|name| format!("{name}::")).collect();
    let way = format!("crate::{way}");
    for at in places_of_word(code, &way) {
        names.extend(first_names(&code[at + way.len()..]).into_iter().map(|name| (name, at)));
    }
    let inner = inner_modules(code);
    let is_first = |at: &usize| !code[..*at].ends_with("super::");
    for at in places_of_word(code, "super::").into_iter().filter(is_first) {
        let behind = code[at..].trim_start_matches("super::");
        let n_up = (code.len() - at - behind.len()) / "super::".len();
        let n_inner = inner.iter().filter(|(start, end)| (*start..*end).contains(&at)).count();
        if n_up == depth + n_inner {
            names.extend(first_names(behind).into_iter().map(|name| (name, at)));
        }
    }
    names
}

/// Returns the ranges of bytes of the inline modules in a file.
fn inner_modules(code: &str) -> Vec<(usize, usize)> {
    let body = |at: usize| {
        let brace = at + code[at..].find(['{', ';'])?;
        let is_inner = code[brace..].starts_with('{');
        is_inner.then(|| (brace, brace + block_length(&code[brace..])))
    };
    places_of_word(code, "mod ").into_iter().filter_map(body).collect()
}

/// Returns the first names of a path in an import: one, or several in braces.
fn first_names(path: &str) -> Vec<&str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let name = |text: &'_ str| text.find(|c| !part(c)).unwrap_or(text.len());
    if !path.starts_with('{') {
        return vec![&path[..name(path)]];
    }
    let inside = &path[1..block_length(path).max(2) - 1];
    let mut names = Vec::new();
    let mut depth = 0;
    let mut is_at_start = true;
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => is_at_start = true,
            letter if is_at_start && part(letter) => {
                names.push(&inside[at..at + name(&inside[at..])]);
                is_at_start = false;
            }
            _ => {}
        }
    }
    names
}

/// Names in the root of a crate or of a module, and the modules that they belong to.
struct RootNames<'a> {
    modules: BTreeSet<&'a str>,
    /// Names that the root imports or re-exports from its modules.
    imported: BTreeMap<&'a str, &'a str>,
}

impl<'a> RootNames<'a> {
    fn new(root: &'a str) -> RootNames<'a> {
        let mut modules = BTreeSet::new();
        for at in places_of_word(root, "mod ") {
            modules.extend(first_names(root[at + "mod ".len()..].trim_start()));
        }
        let mut imported = BTreeMap::new();
        for (from, to) in uses(root) {
            let path = root[from..to].trim_start_matches("use ").trim();
            let path = path.strip_prefix("self::").or(path.strip_prefix("crate::")).unwrap_or(path);
            let Some((module, names)) = path.split_once("::") else { continue };
            if let Some(module) = modules.get(module.trim()) {
                imported.extend(last_names(names).into_iter().map(|name| (name, *module)));
            }
        }
        RootNames { modules, imported }
    }

    /// Returns the module that a name belongs to. A name that the root defines belongs to the root;
    /// `None` if there is no name.
    fn module_of(&self, name: &'a str) -> Option<&'a str> {
        match (self.modules.get(name), self.imported.get(name)) {
            (Some(module), _) | (None, Some(module)) => Some(module),
            (None, None) if name.is_empty() || name == "self" => None,
            (None, None) => Some(ROOT),
        }
    }

    /// Returns the modules that the root's own code uses, beyond declaring and re-exporting them,
    /// with the positions.
    fn used_in(&self, root: &'a str) -> Vec<(&'a str, usize)> {
        let uses = uses(root);
        let is_code = |at: &usize| {
            !uses.iter().any(|(from, to)| (*from..*to).contains(at))
                && !root[..*at].ends_with("mod ")
        };
        let mut used = Vec::new();
        for module in &self.modules {
            let path = format!("{module}::");
            let places = places_of_word(root, &path).into_iter().filter(is_code);
            used.extend(places.map(|at| (*module, at)));
        }
        for (name, module) in &self.imported {
            let places = places_of_word(root, name).into_iter().filter(is_code);
            used.extend(places.map(|at| (*module, at)));
        }
        used
    }
}

/// Returns the ranges of bytes of the `use` declarations in a source.
fn uses(code: &str) -> Vec<(usize, usize)> {
    let to = |at: usize| at + code[at..].find(';').unwrap_or(code.len() - at);
    places_of_word(code, "use ").into_iter().map(|at| (at, to(at))).collect()
}

/// Returns the names that a path imports: the last one, or those in braces; a renamed one by its
/// new name.
fn last_names(path: &str) -> Vec<&str> {
    let inside = path.find('{').map_or(path, |at| &path[at + 1..]);
    let pieces = inside.split([',', '{', '}']).map(str::trim).filter(|piece| !piece.is_empty());
    pieces.filter_map(|piece| piece.rsplit([' ', ':']).next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![("crates/a/Cargo.toml", "")];
        all.extend(files);
        let found = modules_form_no_circle(&Tree::from_files(&all));
        found.iter().map(|trouble| trouble.to_string()).collect()
    }

    fn check(root: &str, files: &[(&str, &str)], expect: &[&str]) {
        let mut all = vec![("crates/a/src/lib.rs", root)];
        all.extend(files);
        let found = circles(&all);
        let shown: Vec<&str> = found
            .iter()
            .filter_map(|text| text.split("circle: ").nth(1)?.split(';').next())
            .collect();
        assert_eq!(shown, expect, "{found:?}");
    }

    #[test]
    fn two_modules_that_need_each_other_are_reported_with_their_place() {
        let found = circles(&[
            ("crates/a/src/lib.rs", "mod b; mod c;"),
            ("crates/a/src/b.rs", "//! B.\nuse crate::c::C;"),
            ("crates/a/src/c/mod.rs", "mod d;"),
            ("crates/a/src/c/d.rs", "fn f() { crate::b::f() }"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/b.rs:2: modules form a circle: b -> c -> b;"));
    }

    #[test]
    fn a_program_beside_its_library_is_none_of_its_modules() {
        let files = [
            ("crates/a/src/lib.rs", "mod b;\npub fn f() { b::g() }"),
            ("crates/a/src/main.rs", "fn main() { a::f() }"),
            ("crates/a/src/b.rs", "pub fn g() {}"),
        ];
        assert_eq!(circles(&files), Vec::<String>::new());
    }

    #[test]
    fn the_shortest_of_circles_that_hang_together_is_reported_once() {
        let root = "mod b; mod c; mod d; mod e;";
        let (b, c) = ("use crate::{c::{self, C}, d};", "use crate::d;");
        let files = [
            ("crates/a/src/b.rs", b),
            ("crates/a/src/c.rs", c),
            ("crates/a/src/d.rs", "use crate::b;"),
            ("crates/a/src/e.rs", "use crate::{b, c};"),
        ];
        check(root, &files, &["b -> d -> b"]);
    }

    #[test]
    fn a_way_that_leads_down_only_is_none() {
        let root = "mod b; mod c; pub use c::C;";
        let files = [("crates/a/src/b.rs", "use crate::C;"), ("crates/a/src/c.rs", "fn f() {}")];
        check(root, &files, &[]);
    }

    #[test]
    fn what_the_root_re_exports_is_its_module_s() {
        let root = "mod b; mod c; pub use b::{B as Bee, Other}; pub use c::C;";
        let files =
            [("crates/a/src/b.rs", "use crate::C;"), ("crates/a/src/c.rs", "use crate::Bee;")];
        check(root, &files, &["b -> c -> b"]);
    }

    #[test]
    fn what_the_root_defines_makes_it_one_of_them() {
        let root = "mod b; struct Own; impl From<b::B> for Own {}";
        check(root, &[("crates/a/src/b.rs", "use crate::Own;")], &["b -> lib -> b"]);
        let root = "mod b; use b::B; struct Own; impl From<B> for Own {}";
        check(root, &[("crates/a/src/b.rs", "use crate::Own;")], &["b -> lib -> b"]);
        check("mod b; struct Own;", &[("crates/a/src/b.rs", "use crate::Own;")], &[]);
    }

    #[test]
    fn super_counts_where_it_leads_to_the_root() {
        let root = "mod b; mod c;";
        let c = ("crates/a/src/c.rs", "use crate::b;");
        check(root, &[c, ("crates/a/src/b.rs", "use super::c::C;")], &["b -> c -> b"]);
        check(root, &[c, ("crates/a/src/b/d.rs", "use super::super::c;")], &["b -> c -> b"]);
        check(root, &[c, ("crates/a/src/b/d.rs", "use super::c;")], &[]);
        check(root, &[c, ("crates/a/src/b.rs", "mod inner { use super::c; }")], &[]);
        check(
            root,
            &[c, ("crates/a/src/b.rs", "mod i { use super::super::c; }")],
            &["b -> c -> b"],
        );
    }

    #[test]
    fn modules_within_one_form_no_circle_either() {
        let root = "mod b;";
        let (c, d) = ("crates/a/src/b/c.rs", "crates/a/src/b/d.rs");
        for at in ["crates/a/src/b.rs", "crates/a/src/b/mod.rs"] {
            let b = (at, "mod c; mod d; pub use c::Sea; fn own() {}");
            for uses in ["use super::d;", "use crate::b::d;", "use super::{d::D, own};"] {
                check(root, &[b, (c, uses), (d, "use super::Sea;")], &["c -> d -> c"]);
            }
            check(root, &[b, (c, "use super::d;"), (d, "use super::own;")], &[]);
            // A module and its submodules may depend on each other.
            check(root, &[(at, "mod c; fn own() { c::f() }"), (c, "use super::own;")], &[]);
        }
    }

    #[test]
    fn tests_may_need_anything() {
        let root = "mod b; mod c; #[cfg(test)] mod tests;";
        let files = [
            ("crates/a/src/b.rs", "#[cfg(test)] mod tests { use crate::c; }"),
            ("crates/a/src/b/tests.rs", "use crate::c;"),
            ("crates/a/src/c.rs", "use crate::b; // crate::c"),
            ("crates/a/src/tests.rs", "use crate::b;"),
        ];
        check(root, &files, &[]);
    }
}
