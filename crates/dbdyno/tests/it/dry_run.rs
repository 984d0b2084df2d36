//! Tests of `dbdyno run --dry-run`: what it prints, and that it rejects what a run rejects, without
//! a connection.
//!
//! Not here: the checks of single values (plan).

use crate::home::{Home, at, number};

/// Target that nothing listens at.
const NOWHERE: &str = "postgres://bench@127.0.0.1:1/bench";
/// Most lines of a page.
const SCREEN: usize = 24;

fn plan(more: &str) -> String {
    format!(
        "name = \"gate\"\ntarget = \"{NOWHERE}\"\nduration = \"30s\"\nramp_up = 0\n[[group]]\n\
         name = \"writers\"\nworkload = \"tpcc\"\nclients = 8\n[[group]]\nname = \"pings\"\n\
         workload = \"empty\"\nload = \"open\"\nrate = 50\n{more}"
    )
}

#[test]
fn a_plan_is_shown_on_a_screen_without_a_connection() {
    let home = Home::new();
    let script = home.write("mine.sql", "\\set id random(1, 9)\nSELECT :id;\n");
    let one = home.write("one.toml", plan(""));
    let vary =
        "[experiment]\nrepeat = 6\n[experiment.vary]\n\"group.writers.clients\" = [1, 2, 4]\n";
    let many = home.write("many.toml", plan(vary));
    let target = format!("--target={NOWHERE}");
    let seek = ["tpcc", "--load=open", "--seek=rate=200..1000", "--objective=p99<100ms"];
    for (words, expect) in [
        (
            vec![one.as_str()],
            vec!["run is valid", "writers: tpcc, 8 clients, closed", "at least 30s"],
        ),
        (vec![one.as_str(), "--require=p99<50ms"], vec!["p99<50ms", "one.toml"]),
        (vec![many.as_str()], vec!["experiment is valid", "18 trials, at least 9m", "=1, 2, 4"]),
        (vec![script.as_str(), &target], vec!["mine.sql", "4 clients, closed"]),
        (
            [&seek[..], &[&target]].concat(),
            vec!["search is valid", "seeking rate from 200 to 1000"],
        ),
    ] {
        let ran = home.run(&[&["run", "--dry-run"], &words[..]].concat()).good();
        let page = ran.out.as_str();
        assert!(expect.iter().all(|words| page.contains(words)), "{expect:?}: {page}");
        assert!(page.contains("Nothing was executed"), "{page}");
        assert!(page.contains(NOWHERE) && page.lines().count() <= SCREEN, "{page}");
    }
    let json = home.json(&["run", &many, "--dry-run"]);
    assert_eq!(at(&json, "schema"), "dbdyno.dry_run/1");
    assert_eq!((number(&json, "points"), number(&json, "repeats")), (3.0, 6.0), "{json:#}");
    assert_eq!(number(&json, "ramp_up_s"), 0.0);
    // The plan in it is one.
    let again = home.write("again.toml", at(&json, "plan").as_str().expect("a text"));
    home.run(&["run", &again, "--dry-run"]).good();
    assert!(!home.store().exists(), "a dry run stores nothing");
}

#[test]
fn a_dry_run_rejects_what_a_run_rejects_in_the_same_words() {
    let home = Home::new();
    let script = home.write("mine.sql", "SELECT :missing;\n");
    let shell = home.write("shell.sql", "\\shell true\nSELECT 1;\n");
    let wrong = home.write("wrong.toml", plan("").replace("clients = 8", "clients = \"many\""));
    let lua = home.write("x.lua", "function prepare() end");
    let target = format!("--target=sqlite:{}", home.path("x.db").display());
    let vary = ["tpcc", "--vary=clients=1,2", "--no-store"];
    let mut all: Vec<Vec<&str>> = vec![
        vec![&wrong],
        vec![&script, &target],
        vec![&shell, &target],
        vec!["tpcc", "--duration=30"],
        vec!["tpcc", "--duration=0"],
        vec!["tpcc", "--require=p98"],
        vec!["tpcc", "--engine=rocksdb", &target],
        vec!["tpcd"],
        vary.to_vec(),
        vec!["nowhere.toml"],
    ];
    if cfg!(feature = "lua") {
        all.push(vec![&lua, &target]);
    }
    for words in all {
        let real = home.run(&[&["run"], &words[..]].concat()).code(2);
        let dry = home.run(&[&["run", "--dry-run"], &words[..]].concat()).code(2);
        assert_eq!(dry.err, real.err, "{words:?}");
        assert_eq!(dry.out, "", "{words:?}");
    }
}

#[test]
fn zero_needs_no_unit() {
    let home = Home::new();
    for words in [
        ["--ramp-up=0", "--drain=0"],
        ["--retry-backoff=0", "--connect-limit=0"],
        ["--load=open", "--rate=ramp 0..50 over 0"],
    ] {
        let ran = home.run(&[&["run", "empty", "--dry-run"], &words[..]].concat());
        assert!(!ran.err.contains("no unit"), "{}", ran.err);
    }
    let zeros = "name = \"x\"\nramp_up = 0\ndrain = \"0\"\nduration = \"1s\"\n[[group]]\n\
                 workload = \"empty\"\n";
    let file = home.write("zeros.toml", zeros);
    let ran = home.run(&["run", &file, "--dry-run"]).good();
    assert!(ran.out.contains("ramp-up 0s, measured 1s, drain at most 0s"), "{}", ran.out);
    home.run(&["run", "empty", "--ramp-up=30"]).code(2).warns(&["it has no unit"]);
}
