//! Comparisons from the outside: sides of every kind, verdicts, and limits as exit codes.

use serde_json::Value;

use crate::home::{Home, at, number};

const FAST: &str = "sim:?service=exponential:2ms&servers=4";
const SLOW: &str = "sim:?service=exponential:3ms&servers=4";

/// Both databases over two numbers of clients, five times.
fn experiment(home: &Home) -> String {
    let targets = format!("--vary=target={FAST},{SLOW}");
    let words = [
        "run",
        "empty",
        &targets,
        "--vary=clients=4,16",
        "--repeat=5",
        "--placement=simulated",
        "--duration=2s",
        "--ramp-up=0s",
    ];
    let told = home.json(&words);
    at(&told, "id").as_str().expect("a text").to_owned()
}

#[test]
fn the_values_of_an_axis_are_held_against_the_first() {
    let home = Home::new();
    let id = experiment(&home);
    let told = home.json(&["compare", &id, "--by=target"]);
    assert_eq!(at(&told, "schema"), "dbdyno.comparison/1");
    let pair = &at(&told, "pairs")[0];
    assert_eq!(at(pair, "is_interleaved"), true);
    assert_eq!(at(pair, "points").as_array().map(Vec::len), Some(2));
    for point in at(pair, "points").as_array().expect("a list") {
        assert_eq!(at(point, "primary.verdict"), "worse", "{point:#}");
        assert!((number(point, "primary.ratio.value") - 2.0 / 3.0).abs() < 0.05, "{point:#}");
    }
    let differs = at(&told, "differences").as_array().expect("a list");
    let names: Vec<&str> = differs.iter().filter_map(|one| at(one, "name").as_str()).collect();
    assert_eq!(names, ["target.url", "service"]);
    home.run(&["compare", &id, "--by=target"]).good().says(&["worse at 2", "took turns"]);
    let csv = home.run(&["compare", &id, "--by=target", "--output=csv"]).good();
    csv.says(&["side,point,figure,baseline", "clients=16,tps,"]);
    home.run(&["compare", &id, "--by=target", "--output=markdown"]).good().says(&["| point |"]);
}

#[test]
fn labelled_runs_are_sides_and_a_broken_limit_fails() {
    let home = Home::new();
    experiment(&home);
    let runs = home.json(&["runs", "list", "--limit=0"]);
    for run in at(&runs, "runs").as_array().expect("a list") {
        let label = if at(run, "target") == FAST { "build=1" } else { "build=2" };
        home.run(&["runs", "label", at(run, "run_id").as_str().expect("a text"), label]).good();
    }
    let compare = |limit: &str| home.run(&["compare", "build=1", "build=2", "--fail-if", limit]);
    compare("tps<-10%").code(1).says(&["BROKEN: tps<-10% at build=2 clients="]);
    compare("tps<-60%").good().says(&["holds: tps<-60%"]);
    // One run a side decides nothing.
    let list = at(&runs, "runs").as_array().expect("a list");
    let [one, other] = [FAST, SLOW].map(|target| {
        let is_it = |run: &&Value| at(run, "target") == target && number(run, "clients") == 4.0;
        at(list.iter().find(is_it).expect("five"), "run_id").as_str().expect("a text")
    });
    let words = ["compare", one, other, "--fail-if=tps<-1%"];
    home.run(&words).good().says(&["cannot judge", "1 run of a side"]);
    home.run(&[&words[..], &["--undecided=fail"]].concat()).code(1);
}

#[test]
fn what_cannot_be_compared_is_said_in_a_sentence() {
    let home = Home::new();
    let id = experiment(&home);
    let no = |words: &[&str], why: &str| {
        home.run(words).code(2).warns(&[why]);
    };
    no(&["compare", &id], "name another side");
    no(&["compare", &id, "--by=rate"], "the experiment varies target, clients");
    no(&["compare", &id, &id], "nothing is compared with itself");
    no(&["compare", "last", "last"], "nothing is compared with itself");
    no(&["compare", "last", "nix"], "'nix'");
    no(&["compare", "last", "nobody-knows"], "'nobody-knows': list them to see all\n");
    no(&["compare", "build=1", &id], "no run has the label build=1");
    no(
        &["compare", &id, "--by=target", "--figure=speed"],
        "choose one of nopm, tps, p50, p95, p99",
    );
    no(&["compare", &id, "--by=target", "--fail-if=p99>5"], "it ends without %");
    for floor in ["--floor=x", "--floor=5", "--floor=0.05", "--floor=-5%"] {
        no(&["compare", &id, "--by=target", floor], "write a share such as 2%");
    }
    let all = ["compare", &id, "--by=target", "--fail-if=tps<-100%"];
    no(&all, "nothing falls by more than all of it");
    no(&["compare", &id, &id, "--by=target"], "name one");
    no(&["runs", "label", "last", "--output=csv"], "this command does not write it");
}
