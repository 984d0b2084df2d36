//! Tests that run the commands of README, tutorial and how-tos in a shell, in the reader's order,
//! with small data and short runs, and without other tools.
//!
//! Not here: parsing the commands of all other pages (cli/examples).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::Home;
use crate::real::url_of;

/// Script that takes the place of dbdyno. It calls the real program with smaller data, shorter
/// runs, the reader's servers, and a service that ends. An undecided limit does not count as an
/// error of the page.
const DBDYNO: &str = r#"#!/bin/bash
set -e
has_duration=
# Puts the words into args, with another value behind an option.
with_value() {
    local option=$1 value=$2 before= word
    shift 2
    args=()
    for word in "$@"; do
        if [ "$before" = "$option" ]; then word=$value; fi
        args+=("$word")
        before=$word
    done
}
words=()
for word in "$@"; do
    case "$word" in
        --ask-password) ;;
        *) words+=("$word") ;;
    esac
done
set -- "${words[@]//mariadb:\/\/bench@127.0.0.1\/bench/$MARIADB_URL}"
set -- "${@//postgres:\/\/bench@127.0.0.1\/bench/$POSTGRES_URL}"
# A default target has no password: who relies on it has that in the environment.
password=${MARIADB_URL#*:*:}
password=${password%%@*}
case "$*" in *:*) ;; *) export DBDYNO_PASSWORD=$password ;; esac
case "$1" in
    config) set -- "${@/:$password@/@}" ;;
    run) case "$*" in *" empty "*) ;; *) set -- "$@" --shrink=10 ;; esac
         set -- "$@" --quiet; for word in "$@"; do
             case "$word" in --duration | --seek) has_duration=yes ;; esac
         done
         if [ -z "$has_duration" ]; then set -- "$@" --duration=1s; fi
         with_value --duration 1s "$@"
         # A search takes minutes: here they are virtual.
         case "$*" in
             *--seek*) set -- "${args[@]/#sqlite:*/sim:?service=exponential:5ms\&servers=4}"
                 set -- "${@/#tpcc/empty}" --placement=simulated
                 set -- "${@/#--shrink=10/--seed=1}" ;;
             *) set -- "${args[@]}" --ramp-up=0s ;;
         esac ;;
    build) with_value --warehouses 1 "$@"
         set -- "${args[@]}" --shrink=10 --quiet ;;
    web) "$PROGRAM" "$@" --listen=127.0.0.1:0 > web.out 2>&1 &
         until grep -q 'Ctrl-C ends it' web.out; do kill -0 $!; sleep 0.05; done
         kill $!
         echo "0 dbdyno $*" >> walked
         exit 0 ;;
esac
code=0
"$PROGRAM" "$@" > last.out 2> last.err || code=$?
echo "$code dbdyno $*" >> walked
case "$1 $* $code" in
    compare*--fail-if*\ [13] | history*--fail-on-regression*\ [13]) exit 0 ;;
esac
# In a second a busy machine has too few transactions for a p99.
if grep -q ' p99[<>][^ ]* can never be broken: no run' last.err; then exit 0; fi
if grep -q '^Exit code 3: an undecided limit fails' last.out last.err; then exit 0; fi
if [ $code != 0 ]; then
    cat last.out last.err >&2
    # A shell goes on after a failure before && or a pipe.
    echo "$code dbdyno $*" >> failed
fi
exit $code
"#;

/// Script that takes the place of cargo, where a page runs dbdyno with it.
const CARGO: &str = "#!/bin/bash\nif [ \"$1\" = run ]; then shift; while [ \"$1\" != -- ]; do shift; \
                     done; shift; exec dbdyno \"$@\"; fi\n";

/// Commands that a page uses to install, start or stop something, and that do nothing here.
const ASIDE: [&str; 7] =
    ["sudo", "podman", "start_old", "start_new", "stop_old", "stop_new", "start_build"];

/// Returns the commands in the shell blocks of a page.
fn shell_blocks(page: &str) -> String {
    let blocks = page.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|block| Some(block.split_once("```")?.0));
    blocks.collect::<Vec<_>>().join("\n")
}

fn put_program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, text).expect("the folder is ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Pages whose commands run here, each with the minimum number of commands.
const WALKED: [(&str, usize); 9] = [
    ("README.md", 7),
    ("docs/tutorial/first-run.md", 6),
    ("docs/how-to/ci-gate.md", 15),
    ("docs/how-to/compare.md", 10),
    ("docs/how-to/find-max-rate.md", 2),
    ("docs/how-to/install.md", 0),
    ("docs/how-to/nightly.md", 12),
    ("docs/how-to/own-server.md", 8),
    ("docs/how-to/share.md", 8),
];

/// Pages whose commands are only parsed, since they repeat commands of other tools at full size, or
/// need tables or hosts of the reader.
const PARSED: [&str; 3] =
    ["docs/how-to/from-other-tools.md", "docs/how-to/own-sql.md", "docs/how-to/several-hosts.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs all commands of a page, none of which may fail.
#[track_caller]
fn walk(page: &str) {
    let (_, n_least) =
        WALKED.into_iter().find(|(listed, _)| *listed == page).expect("it is listed");
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    let home = Home::new();
    let programs = home.path("programs");
    fs::create_dir(&programs).expect("the folder is ours");
    put_program(&programs, "dbdyno", DBDYNO);
    put_program(&programs, "cargo", CARGO);
    ASIDE.iter().for_each(|name| put_program(&programs, name, "#!/bin/sh\n"));
    let mut name = page.replace(['/', '.', '-'], "_");
    name.make_ascii_lowercase();
    let mut shell = home.command("/bin/bash");
    shell
        .args(["-e", "-u", "-o", "pipefail", "-c", &shell_blocks(&text)])
        .env("PATH", format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", programs.display()))
        .env("PROGRAM", env!("CARGO_BIN_EXE_dbdyno"))
        .env("MARIADB_URL", url_of(MARIADB.shared(), &name))
        .env("POSTGRES_URL", url_of(POSTGRES.shared(), &name))
        .env("OLD", format!("sqlite:{}", home.path("old.db").display()))
        .env("NEW", format!("sqlite:{}", home.path("new.db").display()))
        .env("URL", format!("sqlite:{}", home.path("one.db").display()));
    let ran = shell.output().expect("a shell is installed");
    let walked = fs::read_to_string(home.path("walked")).unwrap_or_default();
    let said = String::from_utf8_lossy(&ran.stderr);
    let failed = fs::read_to_string(home.path("failed")).unwrap_or_default();
    assert!(ran.status.success(), "{page}: {said}\n{walked}");
    assert!(failed.is_empty(), "{page}: {said}\n{failed}");
    assert!(!said.contains("command not found"), "{page}: {said}");
    assert!(walked.lines().count() >= n_least, "{page}: {walked}");
}

#[test]
fn every_page_with_commands_is_walked() {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs/tutorial", "docs/how-to"] {
        let all = fs::read_dir(root().join(folder)).expect("the folder is there");
        let names = all.map(|file| file.expect("it is readable").file_name());
        pages.extend(names.map(|name| format!("{folder}/{}", name.display())));
    }
    let mut known: Vec<&str> = WALKED.iter().map(|(page, _)| *page).chain(PARSED).collect();
    for page in &pages {
        let text = fs::read_to_string(root().join(page)).expect("the page is there");
        let has_commands = !shell_blocks(&text).is_empty();
        assert_eq!(has_commands, known.contains(&&**page), "{page}: list it in WALKED");
        known.retain(|known_page| known_page != page);
    }
    assert!(known.is_empty(), "these pages are gone: {known:?}");
}

#[test]
fn the_commands_of_the_readme_work() {
    walk("README.md");
}

#[test]
fn the_commands_of_the_tutorial_work() {
    walk("docs/tutorial/first-run.md");
}

#[test]
fn the_commands_of_gates_and_installing_work() {
    walk("docs/how-to/ci-gate.md");
    walk("docs/how-to/install.md");
}

#[test]
fn the_commands_of_comparing_work() {
    walk("docs/how-to/compare.md");
}

#[test]
fn the_commands_of_seeking_a_rate_work() {
    walk("docs/how-to/find-max-rate.md");
}

#[test]
fn the_commands_of_watching_builds_work() {
    walk("docs/how-to/nightly.md");
}

#[test]
fn the_commands_of_measuring_a_server_work() {
    walk("docs/how-to/own-server.md");
}

#[test]
fn the_commands_of_showing_results_work() {
    walk("docs/how-to/share.md");
}
