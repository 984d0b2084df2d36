//! Tests of output on a terminal: width of pages, colours, encodings, and lines without a terminal.
//!
//! Not here: content of the pages.

use std::path::PathBuf;

use crate::home::{Home, Ran};

const SIM: &[&str] = &[
    "run",
    "empty",
    "--target=sim:?service=constant:2ms",
    "--placement=simulated",
    "--monitor=off",
    "--ramp-up=1s",
    "--duration=12s",
];

/// Runs a command line with these environment variables in addition to those of the home folder.
fn with(home: &Home, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let own = [("HOME", home.path("home")), ("XDG_DATA_HOME", home.path("data"))];
    let more = variables.iter().map(|(name, value)| (*name, PathBuf::from(value)));
    home.call_with(&own.into_iter().chain(more).collect::<Vec<_>>(), args)
}

/// Runs a command in a terminal with this number of columns; returns its output with escape codes.
fn in_terminal(home: &Home, columns: usize, variables: &str, args: &str) -> String {
    let program = env!("CARGO_BIN_EXE_dbdyno");
    let line = format!("stty cols {columns}; env {variables} {program} {args}");
    let ran = home.run_other("script", &["-qec", &line, "/dev/null"]);
    ran.out.replace('\r', "")
}

fn widest(text: &str) -> usize {
    // A word that is longer than a line is not broken, nor a command that can be pasted.
    let is_command = |line: &str| line.trim_start_matches("Next").trim().starts_with("dbdyno ");
    let lines = text.lines().filter(|line| line.trim().contains(' ') && !is_command(line));
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn pages_are_as_wide_as_the_terminal() {
    let home = Home::new();
    home.call(SIM).good();
    home.call(
        &[SIM, &["--vary=clients=1,2", "--repeat=2", "--name=a-name-that-is-quite-long"]].concat(),
    )
    .good();
    let pages: &[&[&str]] = &[
        &["runs", "show", "last"],
        &["runs", "show", "last", "--full"],
        &["runs", "show", "last", "--timing", "--counter"],
        &["runs"],
        &["experiments"],
        &["experiments", "show", "last"],
        &["experiments", "show", "last", "--full"],
        &["list", "findings"],
        &["list", "figures"],
        &["list", "workloads"],
        &["config"],
    ];
    for width in [60, 80, 120, 160] {
        for page in pages {
            let ran = with(&home, &[("COLUMNS", &width.to_string())], page);
            let out = ran.good().out;
            assert!(widest(&out) <= width, "{width} {page:?}: {out}");
        }
    }
    for columns in [60, 80, 120, 160] {
        let page = in_terminal(&home, columns, "TERM=xterm NO_COLOR=1", "runs show last --full");
        let shown = widest(&page);
        assert!((columns - 20..=columns).contains(&shown), "{columns} {shown}: {page}");
    }
}

#[test]
fn a_list_names_every_column_for_which_it_has_no_room() {
    let home = Home::new();
    home.call(&[SIM, &["--name=a-name-that-is-quite-long", "--label=kernel=6.12"]].concat()).good();
    let titles = "id, started UTC, name, database, clients, measured, TPS, p99 ms, \
                  validity, labels";
    for width in ["40", "60", "80", "120", "160"] {
        let out = with(&home, &[("COLUMNS", width)], &["runs"]).good().out;
        // The sentence may break within a title.
        let out = out.replace('\n', " ");
        let missing: Vec<&str> = titles.split(", ").filter(|title| !out.contains(title)).collect();
        assert_eq!(missing, [""; 0], "{width}: {out}");
    }
}

#[test]
fn a_locale_without_our_letters_gets_ascii() {
    let home = Home::new();
    home.call(SIM).good();
    let check = |variables: &[(&str, &str)], is_ascii: bool| {
        let ran = with(&home, variables, &["runs", "show", "last", "--full"]).good();
        assert_eq!(ran.out.is_ascii(), is_ascii, "{variables:?}: {}", ran.out);
        let run = with(&home, variables, SIM).good();
        assert!(!is_ascii || run.err.is_ascii(), "{variables:?}: {}", run.err);
    };
    check(&[], false);
    check(&[("LC_ALL", "C")], true);
    check(&[("LC_ALL", "C.UTF-8")], false);
    check(&[("LANG", "de_DE.ISO-8859-1")], true);
    check(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8"), ("COLUMNS", "60")], true);
    let json = with(&home, &[("LC_ALL", "C")], &["runs", "show", "last", "--output=json"]).good();
    assert_eq!(json.json()["schema"], home.json(&["runs", "show", "last", "--full"])["schema"]);
}

#[test]
fn colours_are_for_terminals_that_have_them() {
    let home = Home::new();
    home.call(SIM).good();
    let check = |variables: &str, is_colored: bool| {
        let page = in_terminal(&home, 80, variables, "runs show last --full");
        assert_eq!(page.contains("\x1b[1m"), is_colored, "{variables}: {page:?}");
        assert!(page.contains("latency in ms"), "{page:?}");
    };
    check("TERM=xterm", true);
    check("TERM=xterm NO_COLOR=1", false);
    check("TERM=dumb", false);
    assert!(!home.run(&["runs", "show", "last", "--full"]).good().out.contains('\x1b'));
    home.call(&["config", "set", "color", "off"]).good();
    check("TERM=xterm", false);
}

#[test]
fn where_nothing_can_be_drawn_an_interval_is_a_line() {
    let home = Home::new();
    let lines = |text: &str| -> Vec<String> {
        let ends = text.lines().filter_map(|line| line.strip_prefix('['));
        ends.filter_map(|line| Some(line.split_once(']')?.0.trim().to_owned())).collect()
    };
    let args = [SIM, &["--report-interval=5s", "--no-store"]].concat();
    let piped = home.call(&args).good();
    assert_eq!(lines(&piped.err), ["ramp-up 1 s", "5 s", "10 s", "12 s"], "{}", piped.err);
    assert!(piped.err.contains(" TPS  ") && piped.err.contains("  p99 "), "{}", piped.err);
    let two = home.call(&[SIM, &["--report-interval=5s", "--repeat=2"]].concat()).good();
    let both: Vec<String> = [lines(&piped.err), lines(&piped.err)].concat();
    assert_eq!(lines(&two.err), both, "{}", two.err);
    assert!(!two.err.contains("] 0 TPS"), "{}", two.err);
    assert_eq!(home.call(&[&args[..], &["--quiet"]].concat()).good().err, "");
    let dumb = in_terminal(&home, 100, "TERM=dumb", &args.join(" ").replace('?', "\\?"));
    assert_eq!(lines(&dumb), ["ramp-up 1 s", "5 s", "10 s", "12 s"], "{dumb}");
}

/// Checks that progress lines without a terminal have the commits of their interval in the ramp-up,
/// too.
#[test]
fn seconds_of_the_ramp_up_have_their_rates() {
    let home = Home::new();
    let how = ["--ramp-up=4s", "--duration=1s", "--report-interval=1s", "--no-store"];
    let target = "--target=sim:?service=constant:1ms&servers=0";
    let ran = home.run(&[&["run", "empty", target, "--clients=2"], &how[..]].concat()).good();
    let lines: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("[ ramp-up ")).collect();
    assert_eq!(lines.len(), 4, "{}", ran.err);
    assert!(lines.iter().all(|line| !line.contains("] 0 TPS")), "{}", ran.err);
}

#[test]
fn what_to_do_first_is_said_by_what_is_there() {
    let home = Home::new();
    let nothing = home.call(&[]).good().out;
    assert!(nothing.contains("  dbdyno run tpcc\n") && !nothing.contains("runs show"), "{nothing}");
    home.call(&["build", "tpcb"]).good();
    let built = home.call(&[]).good().out;
    assert!(built.contains("Data are there already") && built.contains("run tpcb"), "{built}");
    assert!(built.contains("dbdyno runs show last"), "{built}");
    home.run::<&str>(&[]).good();
}

#[test]
fn lasting_defaults_go_behind_what_is_said() {
    let home = Home::new();
    let default = home.call(&["config", "--output=json"]).good().json();
    assert_eq!(default["store"], serde_json::Value::Null);
    home.call(&["config", "set", "store", "off"]).good();
    home.call(&["config", "set", "report-interval", "4s"]).good();
    assert_eq!(home.call(&["config", "--output=json"]).good().json()["store"], "off");
    let ran = home.call(SIM).good();
    assert!(ran.err.contains("[  4 s ]"), "{}", ran.err);
    assert!(!home.store().exists());
    home.call(&[SIM, &["--label=a=b"]].concat()).code(2).warns(&["the store is off", "--store"]);
    let named = home.path("named.sqlite");
    let named = named.to_str().expect("a path of ours");
    home.call(&[SIM, &["--store", named, "--report-interval=6s"]].concat()).good();
    assert_eq!(home.json(&["runs", "--store", named])["runs"].as_array().map(Vec::len), Some(1));
    home.call(&["config", "unset", "store"]).good();
    home.call(&["config", "set", "live", "off"]).good();
    assert_eq!(home.call(SIM).good().err, "");
    assert!(home.store().exists());
    home.call(&["config", "set", "target", "sim:?service=constant:2ms"]).good();
    home.call(&["run", "empty", "--placement=simulated", "--duration=2s"]).good();

    let check = |args: &[&str], fragments: &[&str]| {
        home.call(args).code(2).warns(fragments).is_a_sentence();
    };
    check(&["config", "set", "colour", "off"], &["no setting 'colour'", "color"]);
    check(&["config", "set", "color", "red"], &["auto or off"]);
    check(&["config", "set", "store", "here.sqlite"], &["whole path"]);
    check(&["config", "set", "target", "mariadb://me:pw@h/d"], &["leave the password out"]);
    check(&["config", "set", "target", "mariadb://h/d"], &["the target names no user"]);
    check(&["config", "set", "target", "managed:mariadb?start_limit=5"], &["start_limit"]);
    let file = home.path("home/.config/dbdyno/config.toml");
    std::fs::write(&file, "store = 7\n").expect("the folder is there");
    check(&["runs"], &["config.toml", "store is no text"]);
}

#[test]
fn shells_and_man_know_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.call(&["completions", shell]).good().out;
        for option in ["--warehouses", "--record-size", "--cpu-profile"] {
            assert!(script.contains(&option[2..]), "{shell}: {option}");
        }
        let has_values = ["bash", "zsh"].contains(&shell);
        assert!(!has_values || script.contains("oltp-read-write"), "{shell}");
        assert!(script.contains("experiments") && script.contains("report-interval"), "{shell}");
    }
    let page = home.call(&["man", "runs", "list"]).good().out;
    assert!(page.starts_with(".ie") && page.contains(".TH dbdyno-runs-list"), "{page}");
    assert!(page.contains("Examples:"), "{page}");
    for code in ["0", "1", "2", "130"] {
        assert!(page.contains(&format!(".TP\n\\fB{code}\\fR\n")), "{page}");
    }
    assert!(page.contains(".SH \"EXIT STATUS\"\n") && page.contains("\\-\\-require"), "{page}");
    home.call(&["man", "frobnicate"]).code(2).warns(&["no command 'frobnicate'"]);
}
