//! Allowed imports between crates: every `Cargo.toml` must follow the table in ARCHITECTURE.md, and
//! light crates must not depend on heavy packages.

use std::collections::{BTreeMap, BTreeSet};

use super::Trouble;
use crate::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Who may import whom";

/// Crates that must not depend on an event loop, TLS or a socket, not even in their tests.
const LIGHT_ROOMS: &[&str] = &["stats", "model", "workloads"];

/// Packages that bring an event loop, TLS or a socket. A `-` at the end of a name means every
/// package with that prefix.
const HEAVY_PACKAGES: &[&str] = &[
    "async-",
    "event_loop",
    "hyper",
    "mio",
    "native-tls",
    "openssl",
    "reqwest",
    "rustls",
    "rustls-",
    "smol",
    "socket2",
    "tokio",
    "tokio-",
];

/// A crate in the table of ARCHITECTURE.md, with the crates that it may import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Room {
    line: usize,
    imports: BTreeSet<String>,
    /// Crates that only the tests of this crate may import, in addition.
    test_imports: BTreeSet<String>,
}

/// A dependency in a `Cargo.toml`, with its line there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dependency {
    package: String,
    line: usize,
    for_tests: bool,
}

/// Finds imports between crates that the table of ARCHITECTURE.md does not allow, and crates that
/// only the table or only the tree has.
pub(super) fn table_is_kept(tree: &Tree) -> Vec<Trouble> {
    let rooms: BTreeSet<&str> = tree.folders_with("crates", "Cargo.toml").collect();
    let table = match tree.text(ARCHITECTURE).and_then(parse_table) {
        Some(table) => table,
        None => {
            let remedy = format!("no fenced table under '{HEADING}'; add a line a room: 'a: b c'");
            return vec![Trouble::new(ARCHITECTURE, 1, remedy)];
        }
    };
    let mut troubles = Vec::new();
    for (name, room) in &table {
        for unknown in room.imports.union(&room.test_imports).chain([name]) {
            if !rooms.contains(unknown.as_str()) {
                let text = format!("there is no crates/{unknown}; take it out of the table");
                troubles.push(Trouble::new(ARCHITECTURE, room.line, text));
            }
        }
    }
    for name in &rooms {
        let path = format!("crates/{name}/Cargo.toml");
        match table.get(*name) {
            Some(room) => troubles.extend(imports_of(tree, &path, room, &rooms)),
            None => {
                let text = format!("'{name}' is not in the table under '{HEADING}'; add its line");
                troubles.push(Trouble::new(ARCHITECTURE, 1, text));
            }
        }
    }
    troubles
}

/// Finds dependencies of light crates on packages for event loops, TLS or sockets, also those for
/// tests.
pub(super) fn light_rooms_stay_light(tree: &Tree) -> Vec<Trouble> {
    let heavy = |package: &str| {
        HEAVY_PACKAGES.iter().any(|heavy| {
            if heavy.ends_with('-') { package.starts_with(heavy) } else { package == *heavy }
        })
    };
    let mut troubles = Vec::new();
    for name in LIGHT_ROOMS {
        let path = format!("crates/{name}/Cargo.toml");
        for dependency in dependencies(tree.text(&path).unwrap_or_default()) {
            if heavy(&dependency.package) {
                let text = format!(
                    "{name} must not know '{}': no event loop, TLS or socket here; \
                     what needs it belongs to engine or drivers",
                    dependency.package
                );
                troubles.push(Trouble::new(&path, dependency.line, text));
            }
        }
    }
    troubles
}

fn imports_of(tree: &Tree, path: &str, room: &Room, rooms: &BTreeSet<&str>) -> Vec<Trouble> {
    let not_allowed = |dependency: &Dependency| {
        let name = &dependency.package;
        let allowed = room.imports.contains(name)
            || (dependency.for_tests && room.test_imports.contains(name));
        rooms.contains(name.as_str()) && !allowed
    };
    dependencies(tree.text(path).unwrap_or_default())
        .into_iter()
        .filter(not_allowed)
        .map(|dependency| {
            let text = format!(
                "must not import '{}': see '{HEADING}' in {ARCHITECTURE}; \
                 move the code, or argue the new line there",
                dependency.package
            );
            Trouble::new(path, dependency.line, text)
        })
        .collect()
}

/// Parses the table of allowed imports, a fenced block in ARCHITECTURE.md; `None` if there is none.
/// Lines are `engine: model stats`, and `dev engine: drivers` for additional imports of tests.
fn parse_table(text: &str) -> Option<BTreeMap<String, Room>> {
    let lines = text.lines().enumerate().skip_while(|(_, line)| line.trim_end() != HEADING).skip(1);
    let in_section = lines.take_while(|(_, line)| !line.starts_with("## "));
    let fenced = in_section.skip_while(|(_, line)| !line.starts_with("```")).skip(1);
    let mut table: BTreeMap<String, Room> = BTreeMap::new();
    for (index, line) in fenced.take_while(|(_, line)| !line.starts_with("```")) {
        let Some((name, imports)) = line.split_once(':') else { continue };
        let imports = imports.split([' ', ',']).filter(|name| !name.is_empty()).map(str::to_owned);
        match name.trim().strip_prefix("dev ") {
            Some(name) => {
                let room = table.entry(name.trim().to_owned()).or_default();
                room.test_imports.extend(imports);
                room.line = index + 1;
            }
            None => {
                let room = table.entry(name.trim().to_owned()).or_default();
                room.imports.extend(imports);
                room.line = index + 1;
            }
        }
    }
    (!table.is_empty()).then_some(table)
}

/// Returns all dependencies of a `Cargo.toml`, including those of single platforms. Empty if the
/// file is invalid, which cargo reports.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    // Cargo reports invalid manifests.
    let Ok(table) = manifest.parse::<toml::Table>() else { return Vec::new() };
    let platforms = table.get("target").and_then(toml::Value::as_table);
    let platforms = platforms.into_iter().flat_map(|all| all.values());
    let mut found = Vec::new();
    for holder in platforms.filter_map(toml::Value::as_table).chain([&table]) {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let named = holder.get(section).and_then(toml::Value::as_table);
            for (key, value) in named.into_iter().flatten() {
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
                found.push(Dependency {
                    package: package.to_owned(),
                    line: line_of_key(manifest, key),
                    for_tests: section == "dev-dependencies",
                });
            }
        }
    }
    found
}

fn line_of_key(manifest: &str, key: &str) -> usize {
    let names = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    manifest.lines().position(names).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# x\n\n## Who may import whom\n\nwords\n\n```text\nstats:\nmodel: stats\n\
                         engine: model, stats\ndev engine: drivers\ndrivers: model\n```\n\n## y\n";

    fn troubles(table: &str, manifests: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![("ARCHITECTURE.md", table)];
        files.extend(manifests);
        let tree = Tree::from_files(&files);
        let found = table_is_kept(&tree).into_iter().chain(light_rooms_stay_light(&tree));
        found.map(|trouble| trouble.to_string()).collect()
    }

    /// Returns the violations in the test workspace with one `Cargo.toml` replaced.
    fn with(path: &str, manifest: &str) -> Vec<String> {
        let mut manifests = vec![
            ("crates/stats/Cargo.toml", ""),
            ("crates/model/Cargo.toml", "[dependencies]\nstats.workspace = true\nserde = \"1\"\n"),
            ("crates/drivers/Cargo.toml", "[dependencies]\nmodel.workspace = true\n"),
            ("crates/engine/Cargo.toml", "[dependencies]\nmodel.workspace = true\ntokio = \"1\"\n"),
        ];
        manifests.retain(|(known, _)| *known != path);
        manifests.push((path, manifest));
        troubles(TABLE, &manifests)
    }

    #[test]
    fn what_the_table_allows_is_allowed() {
        let engine = "crates/engine/Cargo.toml";
        assert_eq!(with(engine, "[dev-dependencies]\ndrivers.workspace = true\n"), [""; 0]);
    }

    #[test]
    fn what_the_table_does_not_allow_is_reported() {
        let found = with("crates/engine/Cargo.toml", "[dependencies]\ndrivers.workspace = true\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/engine/Cargo.toml:2: must not import 'drivers'"));
        let renamed =
            "[target.'cfg(unix)'.dependencies]\nx = { package = \"drivers\", path = \"\" }";
        assert_eq!(with("crates/stats/Cargo.toml", renamed).len(), 1);
    }

    #[test]
    fn table_and_folders_name_the_same_rooms() {
        let found = with("crates/app/Cargo.toml", "");
        assert!(found[0].contains("'app' is not in the table"), "{found:?}");
        let found = troubles(TABLE, &[("crates/stats/Cargo.toml", "")]);
        assert!(found.iter().any(|text| text.contains("there is no crates/engine")), "{found:?}");
        assert!(troubles("", &[])[0].contains("no fenced table"));
    }

    #[test]
    fn light_rooms_know_no_event_loop() {
        let found = with("crates/stats/Cargo.toml", "[dev-dependencies]\nasync-std = \"1\"\n");
        assert!(
            found[0].starts_with("crates/stats/Cargo.toml:2: stats must not know"),
            "{found:?}"
        );
        assert_eq!(with("crates/model/Cargo.toml", "[dependencies]\ntokio-util = \"1\"").len(), 1);
    }
}
