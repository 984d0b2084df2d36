//! Tests of searches: an answer with its interval, probes as runs, and errors.

use std::path::Path;

use serde_json::Value;

use crate::home::{Home, at, number};
use crate::http::Web;

const SIM: &str = "--target=sim:?service=exponential:10ms&servers=4";

fn sim(more: &[&'static str]) -> Vec<&'static str> {
    let base = ["run", "empty", SIM, "--placement=simulated", "--ramp-up=1s", "--quiet"];
    [&base, more].concat()
}

fn probes(shown: &Value) -> &Vec<Value> {
    at(shown, "probes").as_array().expect("a list")
}

#[test]
fn the_example_that_seeks_finds_what_theory_says() {
    let home = Home::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/seek.toml");
    let example = example.to_string_lossy().into_owned();
    let shown = home.json(&["run", &example, "--seek-budget=25m", "--quiet"]);
    assert_eq!(at(&shown, "answer.kind"), "found", "{:#}", at(&shown, "answer"));
    let value = number(&shown, "answer.value");
    assert!((value / 340.0 - 1.0).abs() < 0.06, "{value}");
    assert!(number(&shown, "answer.low") < value && value < number(&shown, "answer.high"));
    // The recommendation is useful: the example itself searches several times as long.
    let recommended = number(&shown, "recommended");
    assert!((0.9..1.02).contains(&(recommended / 340.0)), "{recommended}");
    // Each probe is a run with its own seed.
    let runs = home.json(&["runs", "list", "--limit=0"]);
    let runs = at(&runs, "runs").as_array().expect("a list");
    assert_eq!(runs.len(), probes(&shown).len());
    let verdicts: Vec<&Value> = probes(&shown).iter().map(|probe| at(probe, "verdict")).collect();
    assert!(verdicts.contains(&&Value::from("meets")) && verdicts.contains(&&Value::from("fails")));
    // The stored probes give the same conclusion, and nothing is left to resume.
    assert_eq!(home.json(&["experiments", "show", "last"]), shown);
    assert_eq!(home.json(&["experiments", "resume", "last", "--quiet"]), shown);
    home.run(&["experiments", "show", "last"]).good().says(&[
        "p99<85.6ms and errors<0.1% hold up to rate=",
        "confirm",
        "p99 over rate",
    ]);
    home.run(&["experiments"]).good().says(&["rate=50..1000 sought"]);
    // The probes of a search have one value each: there is nothing to compare.
    home.run(&["compare", "last", "--by=rate"]).code(2).warns(&["is a search"]).is_a_sentence();
}

#[test]
fn a_queue_that_is_full_is_an_answer_to_a_search() {
    let home = Home::new();
    let search = ["--seek=rate=50..1000", "--objective=p99<200ms", "--seek-budget=8m"];
    let queue = ["--load=open", "--queue=50", "--queue-full=stop", "--output=json"];
    // The answer need not be confirmed here.
    let shown = home.run(&sim(&[&search[..], &queue].concat())).json();
    let full = "the queue was full, and the run stopped";
    let n_full =
        probes(&shown).iter().filter(|p| at(p, "judged.reasons").to_string().contains(full));
    assert!(n_full.count() > 0, "{shown:#}");
    let kind = at(&shown, "answer.kind");
    assert!(["between", "found"].contains(&kind.as_str().unwrap()), "{:#}", at(&shown, "answer"));
}

#[test]
fn a_killed_search_goes_on_and_ends_with_the_same_answer() {
    let home = Home::new();
    let search = ["--seek=rate=50..1000", "--objective=p50<12ms", "--seek-budget=5m"];
    let whole = home.json(&sim(&search));
    let loud: Vec<&str> = sim(&search).into_iter().filter(|word| *word != "--quiet").collect();
    let mut killed = home.start(&loud);
    killed.wait_until("a third probe", |said| said.contains("trial 3 of"));
    killed.kill();
    let shown = home.json(&["experiments", "resume", "last", "--quiet"]);
    assert_eq!(at(&shown, "answer"), at(&whole, "answer"));
    assert_eq!(probes(&shown).len(), probes(&whole).len());
}

#[test]
fn clients_are_sought_in_whole_numbers() {
    let home = Home::new();
    // Four servers and closed load: from the fifth client on, times grow with their number.
    let shown = home.json(&sim(&[
        "--seek=clients=1..64",
        "--objective=mean<50ms",
        "--objective=errors<1%",
        "--seek-budget=10m",
    ]));
    for probe in probes(&shown) {
        assert_eq!(number(probe, "at").fract(), 0.0);
    }
    assert!((number(&shown, "answer.value") - 20.0).abs() <= 1.0, "{:#}", at(&shown, "answer"));
    let ends = ["answer.low", "answer.value", "answer.high"].map(|path| number(&shown, path));
    assert!(ends.is_sorted() && ends.iter().all(|end| end.fract() == 0.0), "{ends:?}");
    let [low, value, high] = ends;
    let words = format!("up to clients={low}; the boundary is at {value} ({low} to {high})");
    home.run(&["experiments", "show", "last"]).good().says(&[&words]);
}

#[test]
fn any_figure_of_a_run_is_an_objective() {
    let home = Home::new();
    // Four servers that take 10 ms each: twenty clients see 50 ms.
    let shown = home.json(&sim(&[
        "--seek=clients=1..64",
        "--objective=empty.mean<50ms",
        "--seek-budget=10m",
    ]));
    assert_eq!(at(&shown, "seek.objectives")[0], "empty.mean<50ms");
    // Probes that only pass or fail tell two neighbours, and no value between them.
    assert_eq!(at(&shown, "answer.kind"), "between");
    let ends = ["answer.low", "answer.high"].map(|path| number(&shown, path));
    assert!(19.0 <= ends[0] && ends[0] < ends[1] && ends[1] <= 21.0, "{ends:?}");
}

#[test]
fn a_time_with_too_few_samples_is_said_to_be_one() {
    let home = Home::new();
    let search = ["--seek=clients=1..2", "--objective=mean<1s", "--seek-budget=3m"];
    let slow = "--target=sim:?service=constant:200ms";
    let args: Vec<&str> =
        sim(&search).into_iter().map(|word| if word == SIM { slow } else { word }).collect();
    let words = ["too few", "p99 ms: too few samples: needs at least"];
    home.run(&args).good().says(&words);
}

#[test]
fn the_ends_of_a_range_are_reported_as_such() {
    let home = Home::new();
    let seek = |objective: &'static str| {
        home.run(&sim(&["--seek=rate=50..200", objective, "--seek-budget=10m"]))
    };
    let none = "the search has no answer: not even the lowest rate, 50.00, meets p50<1ms";
    seek("--objective=p50<1ms").code(1).says(&[none, "New probes confirm that."]);
    seek("--objective=p99<10s").good().says(&["even the highest meets", "rate=200"]);
    // The stored plan defines the same search.
    let plan = home.run(&["experiments", "show", "last", "--plan"]).good().out;
    assert!(!plan.contains("duration =") && !plan.contains("rate = "), "{plan}");
    home.write("again.toml", &plan);
    home.run(&["run", "again.toml"]).good().says(&["even the highest meets", "rate=200"]);
    let search = |n: &str| at(&home.json(&["experiments", "show", n]), "seek").clone();
    let ids = home.json(&["experiments", "list"]);
    let id = |n: usize| at(&ids, "experiments")[n]["id"].as_str().expect("an id").to_owned();
    assert_eq!(search(&id(0)), search(&id(1)));
    // A completed search cannot be resumed.
    let web = Web::start(&home, &[]);
    let all = web.json("/api/experiments");
    let id = all["experiments"][0]["id"].as_str().expect("it is kept").to_owned();
    let page = web.page(&format!("/experiments/{id}"));
    assert!(
        page.to_lowercase().contains("even the highest meets") && !page.contains("id=\"resume\"")
    );
    let again = web.page(&format!("/new?experiment={id}"));
    assert!(again.contains("rate=50..200") && again.contains("p99&#60;10s"), "{again}");
    let points = web.get(&format!("/api/experiments/{id}/points.csv"));
    let named = format!("{}-points.csv", &id[28..]);
    assert!(points.header("content-disposition").contains(&named), "{named}");
}

#[test]
fn a_mistake_in_a_search_is_reported_before_the_first_probe() {
    let home = Home::new();
    let check = |more: &[&'static str], words: &str| {
        home.run(&sim(more)).code(2).warns(&[words]).is_a_sentence();
    };
    let p99 = "--objective=p99<20ms";
    check(&["--seek=rate=100..900"], "needs an objective");
    check(&[p99], "it needs a search");
    check(&["--seek=rate", p99], "is not a range");
    check(&["--seek=rate=9..1", p99], "range is empty");
    check(&["--seek=rate=100..100", p99], "this is one value");
    check(&["--seek=rate=100..900", p99, "--data=copy"], "'copy': a search keeps the data");
    // All spellings need the same minimum.
    check(&["--seek=rate=100..900", p99, "--duration=5s"], "at least 3m12s");
    check(&["--seek=rate=100..900", p99, "--rate=5"], "--rate: 'rate' is set twice");
    check(&["--seek=rate=100..900", p99, "--wait-until=SELECT 1"], "to query");
    check(&["--seek=rate=100..900", "--objective=errors<0"], "nothing is below zero");
    check(&["--seek=rate=0..9", p99], "must be above zero");
    check(&["--seek=rat=1..9", p99], "did you mean 'rate'?");
    for axis in ["seed=1..9", "queue=1..9", "connect.rate=1..9", "server.x=1..9"] {
        let seek: &'static str = format!("--seek={axis}").leak();
        check(&[seek, p99], "cannot be searched for, only varied; choose one of rate, clients");
    }
    check(&["--seek=rate=100..900", "--objective=p98<20ms"], "there is no figure p98");
    check(&["--seek=rate=100..900", "--objective=p99_s<20ms"], "has no figure p99_s");
    check(&["--seek=rate=100..900", "--objective=tps>20ms"], "is not a time, but its bound is");
    check(&["--seek=rate=100..900", "--objective=p99<20"], "no unit");
    check(&["--seek=rate=100..900", p99, "--objective=p99<1s"], "two objectives of p99");
    check(&["--seek=rate=100..900", p99, "--vary=clients=1,2"], "varies or seeks");
    check(&["--seek=rate=100..900", p99, "--repeat=2"], "chooses the number");
    check(&["--seek=rate=100..900", p99, "--load=closed"], "belongs to open load");
    check(&["--seek=rate=100..900", p99, "--no-store"], "are kept");
    let least = "needs at least 3m12s, since each of its short probes needs a ramp-up of 1s and \
                 480 arrivals at 100/s: raise --seek-budget to 3m12s, or shorten the ramp-up, or \
                 seek from a higher rate";
    for budget in ["--seek-budget=1s", "--seek-budget=2m", "--seek-budget=3m11s"] {
        check(&["--seek=rate=100..900", p99, budget], least);
    }
    let at_once = "needs 480 arrivals at 100/s: raise --seek-budget to 2m40s, or seek from";
    let base = ["run", "empty", SIM, "--ramp-up=0s", "--seek=rate=100..900", p99];
    home.run(&[&base[..], &["--seek-budget=9s"]].concat()).code(2).warns(&[at_once]);
    let clients = ["--seek=clients=1..9", p99, "--seek-budget=9s"];
    check(&clients, "needs at least 1m4s, since each of its short probes needs a ramp-up of 1s:");
    check(&["--seek=rate=1..9", p99, "--seek-budget=1h"], "480 arrivals at 1/s");
    let plan = home.write(
        "bad.toml",
        "[[group]]\nworkload = 'empty'\n[experiment]\nseek = 'rate=1..9'\n\
         objectives = ['p99<20ms', 'fast']\n",
    );
    home.run(&["run", &plan]).code(2).warns(&["bad.toml:5:", "'fast'"]).is_a_sentence();
    // An error in a file is reported for the file.
    let half = home
        .write("half.toml", "[[group]]\nworkload = 'empty'\n[experiment]\nseek = 'clients=1..9'\n");
    let words = ["half.toml:4:", "needs an objective: experiment.objective = \"p99<20ms\""];
    home.run(&["run", &half]).code(2).warns(&words).is_a_sentence();
}

/// Returns the part of docs/reference/json.md that describes searches.
fn documented() -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json.md");
    let docs = std::fs::read_to_string(docs).expect("it is there");
    let part = docs.split("\n## ").find(|part| part.starts_with("The report of a search"));
    part.expect("docs/reference/json.md describes searches").to_owned()
}

/// Collects the keys of all objects in a value, at any depth.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.push(key.clone());
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_search_is_documented() {
    let home = Home::new();
    let search = ["--seek=rate=50..1000", "--objective=p99<200ms", "--seek-budget=8m"];
    let shown = home.run(&sim(&[&search[..], &["--output=json"]].concat())).json();
    let (mut names, docs) = (Vec::new(), documented());
    keys(&shown, &mut names);
    assert!(names.len() > 100, "{shown:#}");
    for name in names {
        // `judged.beyond` names a field by its path.
        let is_there = [format!("`{name}`"), format!(".{name}`")];
        assert!(
            is_there.iter().any(|word| docs.contains(word)),
            "docs/reference/json.md lacks {name}"
        );
    }
}
