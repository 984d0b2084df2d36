//! Calls that are banned from some crates or from all, found by their text.
//!
//! The compiler's lints (clippy.toml) also find calls through imports. This check knows crates,
//! tests and macros, which lints do not.

use super::rust::{Source, sources};
use super::{Trouble, line_at, places_of_word};
use crate::tree::Tree;

/// A ban of some calls in the sources, with the places where they are allowed.
struct Ban {
    calls: &'static [&'static str],
    /// Beginnings of the paths of files that may contain the banned calls.
    allowed: &'static [&'static str],
    /// Whether tests may contain the calls anywhere (`Free`), or are under the ban too (`Held`).
    tests: Tests,
    /// Reason for the ban, or what to do instead of the calls.
    remedy: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tests {
    Free,
    Held,
}

const BANS: &[Ban] = &[
    Ban {
        calls: &[
            "Instant::now",
            "SystemTime::now",
            "Timestamp::now",
            "Zoned::now",
            "clock_gettime",
        ],
        allowed: &[
            "crates/engine/src/clock",
            "crates/monitor/",
            // Remaining time of a wait on a blocking socket.
            "crates/drivers/src/net/deadline.rs",
            "crates/network_path/src/clock.rs",
            "crates/selfcheck/src/tcp.rs",
            "crates/store/",
            "crates/dbdyno/",
            "xtask/",
        ],
        tests: Tests::Free,
        remedy: "time comes in as an argument; take a model::Clock or an instant",
    },
    Ban {
        calls: &["println!", "eprintln!", "print!", "eprint!"],
        allowed: &["crates/dbdyno/", "xtask/"],
        tests: Tests::Free,
        remedy: "only the faces print; return the value or send an Event",
    },
    Ban {
        calls: &[".unwrap()"],
        allowed: &[],
        tests: Tests::Free,
        remedy: "return the error, or expect(\"why this cannot fail\")",
    },
    Ban {
        calls: &["todo!(", "unimplemented!(", "dbg!("],
        allowed: &[],
        tests: Tests::Held,
        remedy: "finish it, or take it out",
    },
    Ban {
        calls: &["#[ignore"],
        allowed: &[],
        tests: Tests::Held,
        remedy: "a test runs or is deleted; one that needs a server skips loudly",
    },
    Ban {
        calls: &["thread::sleep", "time::sleep", "nanosleep"],
        allowed: &["crates/engine/src/clock"],
        tests: Tests::Held,
        remedy: "wait for the event itself, or on a simulated clock",
    },
    Ban {
        calls: &["thread_rng", "rand::rng", "rand::random"],
        allowed: &[],
        tests: Tests::Held,
        remedy: "draw from model::Rng, so that the seed decides",
    },
    Ban {
        calls: &["std::env::", "std::env;", "std::{env", "env::var", "env::vars"],
        allowed: &[
            "crates/dbdyno/",
            "crates/monitor/src/facts.rs",
            "crates/servers/src/for_tests.rs",
            "xtask/",
        ],
        tests: Tests::Free,
        remedy: "the environment comes in as an argument, from dbdyno",
    },
];

/// Finds calls where they are banned. Build scripts may print and read the environment.
pub(super) fn banned_calls(tree: &Tree) -> Vec<Trouble> {
    let sources = sources(tree);
    let mut troubles = Vec::new();
    for source in sources.iter().filter(|source| !source.path.ends_with("/build.rs")) {
        for ban in BANS.iter().filter(|ban| !allowed(ban, source.path)) {
            troubles.extend(broken(ban, source));
        }
    }
    troubles
}

fn allowed(ban: &Ban, path: &str) -> bool {
    ban.allowed.iter().any(|start| path.starts_with(start))
}

fn broken(ban: &Ban, source: &Source<'_>) -> Vec<Trouble> {
    let code = if ban.tests == Tests::Free { &source.product } else { &source.code };
    let mut lines: Vec<(usize, &str)> = Vec::new();
    for call in ban.calls {
        lines.extend(places_of_word(code, call).into_iter().map(|at| (line_at(code, at), *call)));
    }
    lines.sort_unstable();
    // A line may match several calls: `std::env::var` matches two.
    lines.dedup_by_key(|(line, _)| *line);
    let to_trouble = |(line, call)| {
        Trouble::new(source.path, line, format!("'{call}' is banned here; {}", ban.remedy))
    };
    lines.into_iter().map(to_trouble).collect()
}

/// Finds declarations that allow unsafe code, so that reviewers read it twice.
pub(super) fn unsafe_code(tree: &Tree) -> Vec<Trouble> {
    let mut found = Vec::new();
    for source in sources(tree) {
        for declared in ["allow(unsafe_code", "expect(unsafe_code"] {
            found.extend(places_of_word(&source.code, declared).into_iter().map(|at| {
                let n_uses = places_of_word(&source.code, "unsafe").len();
                let text = format!("unsafe code is allowed here; uses of 'unsafe': {n_uses}");
                Trouble::new(source.path, line_at(&source.code, at), text)
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expect: &[&str]) {
        let tree = Tree::from_files(&[(path, text)]);
        let found: Vec<String> = banned_calls(&tree)
            .into_iter()
            .map(|trouble| {
                let call = trouble.text.split('\'').nth(1).unwrap_or_default();
                format!("{}: {call}", trouble.line)
            })
            .collect();
        assert_eq!(found, expect, "{path}: {text}");
    }

    #[test]
    fn the_clock_is_read_at_the_edges_only() {
        check("crates/engine/src/pace.rs", "\nlet t = Instant::now();", &["2: Instant::now"]);
        check("crates/render/src/page.rs", "jiff::Zoned::now()", &["1: Zoned::now"]);
        check("crates/engine/src/clock/real.rs", "Instant::now()", &[]);
        check("crates/store/src/lib.rs", "SystemTime::now()", &[]);
        check("crates/engine/src/a.rs", "#[cfg(test)] mod tests { Instant::now(); }", &[]);
        check("crates/engine/src/a.rs", "// Instant::now()\n\"Instant::now()\"", &[]);
    }

    #[test]
    fn only_the_faces_print() {
        check("crates/app/src/run.rs", "eprintln!(\"x\")", &["1: eprintln!"]);
        check("crates/dbdyno/src/cli/run.rs", "println!(\"x\")", &[]);
        check("crates/app/build.rs", "println!(\"cargo::rerun-if-changed=x\")", &[]);
    }

    #[test]
    fn nothing_is_unwrapped_outside_tests() {
        check("crates/a/src/b.rs", "x\n.unwrap()\n; y.unwrap_or(1)", &["2: .unwrap()"]);
        check("crates/a/src/tests.rs", "x.unwrap()", &[]);
        check("crates/a/tests/b.rs", "x.unwrap()", &[]);
    }

    #[test]
    fn unfinished_sleeping_and_unseeded_code_is_banned_from_tests_too() {
        check("crates/a/tests/b.rs", "todo!()", &["1: todo!("]);
        check("crates/a/tests/b.rs", "#[ignore = \"slow\"]", &["1: #[ignore"]);
        check("crates/a/tests/b.rs", "std::thread::sleep(d)", &["1: thread::sleep"]);
        check("crates/a/tests/b.rs", "rand::rng()", &["1: rand::rng"]);
        check("crates/engine/src/clock/real.rs", "thread::sleep(d)", &[]);
    }

    #[test]
    fn the_environment_is_read_at_the_edges_only() {
        check("crates/drivers/src/a.rs", "std::env::var(\"X\")", &["1: env::var"]);
        check("crates/drivers/src/a.rs", "use std::env;", &["1: std::env;"]);
        check("crates/drivers/src/a.rs", "env!(\"CARGO_PKG_VERSION\")", &[]);
        check("crates/monitor/src/facts.rs", "std::env::consts::OS", &[]);
    }

    #[test]
    fn unsafe_code_is_listed() {
        let text = "#![allow(unsafe_code, reason = \"x\")]\nfn f() { unsafe { g() } }";
        let found = unsafe_code(&Tree::from_files(&[("crates/a/src/b.rs", text)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].text.ends_with(": 1"), "{found:?}");
    }
}
