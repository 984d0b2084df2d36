//! Tests of `dbdyno tune`: the best values of parameters, whether they are better, and errors.

use serde_json::Value;

use crate::home::{Home, at, number};

/// Four servers of 2 ms: one client gets 500 transactions per second, and no number of clients
/// gets more than 2,000.
const ONE_CLIENT: &str = "\
target = \"sim:?service=exponential:2ms&servers=4\"
placement = \"simulated\"
ramp_up = \"1s\"
duration = \"5s\"

[[group]]
workload = \"empty\"
clients = 1
";

fn tuned<'a>(plan: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let base = ["tune", plan, "--maximize=tps", "--trials=40", "--quiet"];
    [&base, more].concat()
}

fn trials(shown: &Value) -> &Vec<Value> {
    at(shown, "trials").as_array().expect("a list")
}

#[test]
fn the_best_values_are_found_and_new_pairs_confirm_them() {
    let home = Home::new();
    let plan = home.write("one.toml", ONE_CLIENT);
    let shown = home.json(&tuned(&plan, &["--vary=clients=1..8"]));
    assert_eq!(at(&shown, "verdict"), "better", "{shown:#}");
    assert!((number(&shown, "gain.ratio") - 4.0).abs() < 0.3, "{:#}", at(&shown, "gain"));
    let [low, high] = [0, 1].map(|end| at(&shown, "gain.interval")[end].as_f64());
    assert!(low > Some(3.0) && high < Some(5.0), "{low:?} {high:?}");
    assert_eq!(at(&shown, "pairs").as_array().map(Vec::len), Some(6));
    let best = number(&shown, "best") as usize;
    let value = &at(&shown, "configurations")[best]["values"][0];
    assert!(value.as_str().and_then(|value| value.parse::<u32>().ok()) >= Some(4), "{value}");
    // Each trial is a run; the stored ones give the same report, and nothing is left to resume.
    let runs = home.json(&["runs", "list", "--limit=0"]);
    let n_runs = at(&runs, "runs").as_array().map(Vec::len);
    assert!(trials(&shown).len() <= 40 && n_runs == Some(trials(&shown).len()), "{n_runs:?}");
    assert_eq!(home.json(&["experiments", "show", "last"]), shown);
    assert_eq!(home.json(&["experiments", "resume", "last", "--quiet"]), shown);
    home.run(&["experiments", "show", "last"]).good().says(&[
        "with the best configuration, against the defaults",
        "best value",
        "the change is from 6 pairs of new trials",
    ]);
    home.run(&["experiments"]).good().says(&["clients=1,2,3,4,5,6,7,8"]);
    let file = home.path("page.html").display().to_string();
    home.run(&["report", "last", "-o", &file]).good();
    let page = std::fs::read_to_string(&file).expect("it was written");
    assert!(page.contains("<html") && page.contains("Best configuration"), "{page}");
    // The plan that it prints makes the same.
    let printed = home.run(&["experiments", "show", "last", "--plan"]).good().out;
    let again = home.write("again.toml", printed);
    let repeated = home.json(&["run", &again, "--quiet"]);
    assert_eq!(at(&repeated, "gain"), at(&shown, "gain"));
}

#[test]
fn where_no_value_matters_nothing_is_claimed() {
    let home = Home::new();
    let plan = home.write("one.toml", ONE_CLIENT.replace("clients = 1", "clients = 8"));
    let shown = home.json(&tuned(&plan, &["--vary=clients=8..12"]));
    assert_eq!(at(&shown, "verdict"), "no_evidence", "{shown:#}");
    home.run(&["experiments", "show", "last"])
        .good()
        .says(&["undecided whether any configuration is better"]);
}

#[test]
fn values_that_break_a_limit_do_not_win() {
    let home = Home::new();
    let plan = home.write("one.toml", ONE_CLIENT);
    // With more than four clients the mean time grows beyond 2 ms.
    let limit = ["--vary=clients=1..16", "--require=mean<3ms", "--strategy=grid", "--trials=60"];
    let base = ["tune", &plan, "--maximize=tps", "--quiet"];
    let shown = home.json(&[&base[..], &limit].concat());
    let best = number(&shown, "best") as usize;
    let value = at(&shown, "configurations")[best]["values"][0].as_str().map(str::to_owned);
    assert!(value.as_deref() == Some("4") || value.as_deref() == Some("2"), "{value:?}");
    assert!(trials(&shown).iter().any(|trial| at(trial, "keeps_limits") == false));
}

#[test]
fn a_killed_tuner_goes_on_and_ends_with_the_same_answer() {
    let home = Home::new();
    let plan = home.write("one.toml", ONE_CLIENT);
    let whole = home.json(&tuned(&plan, &["--vary=clients=1..8"]));
    let args = tuned(&plan, &["--vary=clients=1..8"]);
    let loud: Vec<&str> = args.into_iter().filter(|word| *word != "--quiet").collect();
    let mut killed = home.start(&loud);
    killed.wait_until("a third trial", |said| said.contains("trial 3 of"));
    killed.kill();
    let shown = home.json(&["experiments", "resume", "last", "--quiet"]);
    assert_eq!(at(&shown, "gain"), at(&whole, "gain"));
    assert_eq!(trials(&shown).len(), trials(&whole).len());
}

#[test]
fn a_server_that_rejects_a_value_is_a_result() {
    let home = Home::new();
    let shown = home.json(&[
        "tune",
        "tpcb",
        "--target=managed:postgres?fsync=off",
        "--maximize=tps",
        "--vary=server.shared_buffers=1MB,16MB,999TB",
        "--duration=1s",
        "--ramp-up=0s",
        "--trials=26",
        "--check=off",
        "--quiet",
    ]);
    let failed = |trial: &&Value| at(trial, "value").is_null();
    let trials = trials(&shown);
    let rejected: Vec<&Value> = trials.iter().filter(failed).collect();
    assert_eq!(rejected.len(), 1, "{trials:#?}");
    let of = |trial: &Value| number(trial, "configuration") as usize;
    let values = &at(&shown, "configurations")[of(rejected[0])]["values"];
    assert_eq!(values[0], "999TB");
    assert_ne!(at(&shown, "verdict"), "unfinished");
}

#[test]
fn a_tuner_that_makes_no_sense_is_refused_in_a_sentence() {
    let home = Home::new();
    let plan = home.write("one.toml", ONE_CLIENT);
    let refused = |more: &[&str], words: &[&str]| {
        let args = [&["tune", plan.as_str()], more].concat();
        home.run(&args).code(2).warns(words).is_a_sentence();
    };
    let clients = "--vary=clients=1..8";
    refused(&[clients], &["needs a figure", "--maximize tps"]);
    refused(&["--maximize=tps"], &["needs parameters to change"]);
    refused(&[clients, "--maximize=tpz"], &["tpz"]);
    refused(&[clients, "--maximize=tps", "--minimize=p99"], &["one figure"]);
    refused(&[clients, "--maximize=tps", "--trials=9"], &["too few", "at least"]);
    refused(&[clients, "--maximize=tps", "--repeat=5"], &["--trials"]);
    refused(&[clients, "--maximize=tps", "--confirm-pairs=5"], &["at least 6"]);
    refused(&["--vary=clients=8..2", "--maximize=tps"], &["higher than the beginning"]);
    refused(&["--vary=target=sim:,sim:?servers=2", "--maximize=tps"], &["target"]);
    let run = ["run", plan.as_str(), clients, "--trials=50"];
    home.run(&run).code(2).warns(&["needs a tuner", "--maximize"]).is_a_sentence();
    let dry = ["tune", plan.as_str(), clients, "--maximize=tps", "--dry-run"];
    home.run(&dry).good().says(&["tuning", "in 60 trials"]);
}
