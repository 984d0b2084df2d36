//! Tests of comparisons: sides (sets of runs) of every kind, verdicts, and limits as exit codes.

use serde_json::Value;

use crate::home::{Home, at, number, number_in};
use crate::waiting::Started;

const RUNS: &str = "SELECT count(*) FROM run";
const FAST: &str = "sim:?service=exponential:2ms&servers=4";
const SLOW: &str = "sim:?service=exponential:3ms&servers=4";

/// Runs an experiment with both databases and two numbers of clients, with five repeats; returns
/// its id.
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
    let shown = home.json(&words);
    at(&shown, "id").as_str().expect("a text").to_owned()
}

#[test]
fn the_values_of_an_axis_are_held_against_the_first() {
    let home = Home::new();
    let id = experiment(&home);
    let shown = home.json(&["compare", &id, "--by=target"]);
    assert_eq!(at(&shown, "schema"), "dbdyno.comparison/1");
    let pair = &at(&shown, "pairs")[0];
    assert_eq!(at(pair, "is_interleaved"), true);
    assert_eq!(at(pair, "points").as_array().map(Vec::len), Some(2));
    for point in at(pair, "points").as_array().expect("a list") {
        assert_eq!(at(point, "primary.verdict"), "worse", "{point:#}");
        assert!((number(point, "primary.ratio.value") - 2.0 / 3.0).abs() < 0.05, "{point:#}");
    }
    let differs = at(&shown, "differences").as_array().expect("a list");
    let names: Vec<&str> = differs.iter().filter_map(|one| at(one, "name").as_str()).collect();
    assert_eq!(names, ["service"]);
    home.run(&["compare", &id, "--by=target"]).good().says(&["of 2 points: worse", "interleaved"]);
    let csv = home.run(&["compare", &id, "--by=target", "--output=csv"]).good();
    csv.says(&["side,point,figure,baseline", "clients=16,tps,"]);
    let csv = ["compare", &id, "--by=target", "--output=csv", "--fail-if=tps<-1%"];
    home.run(&csv).code(1).warns(&["FAILED tps<-1%: "]);
    // The first page, and the full one.
    let next = format!("Next:\n  dbdyno compare {id} --by target --full");
    home.run(&["compare", &id, "--by=target"]).good().says(&[&next, "of 2 points: worse"]);
    let full = home.run(&["compare", &id, "--by=target", "--full"]).good();
    full.says(&["geometric means over the runs of each side", "Sections: ", "--section NAME"]);
    let part = home.run(&["compare", &id, "--by=target", "--section=changed"]).good();
    assert!(!part.out.contains("geometric means over"), "{}", part.out);
    // Verdict and validity are a line each.
    let part = part.says(&["Valid, with ", "what differs"]);
    assert!(!part.out.contains("\nwarning "), "{}", part.out);
    let absent = home.run(&["compare", &id, "--by=target", "--section=each_transaction"]).good();
    absent.says(&["each_transaction: statements and waits were not counted."]);
    // In brief: the limits, or else the verdicts.
    let brief = ["compare", &id, "--by=target", "-q"];
    let verdict = home.run(&brief).good();
    assert!(verdict.out.contains("of 2 points: worse") && verdict.out.lines().count() < 8);
    let limit = home.run(&[&brief[..], &["--fail-if=tps<-1%"]].concat()).code(1);
    assert!(limit.out.starts_with("FAILED tps<-1%: ") && !limit.out.contains("of 2 points"));
    // The page to hand on has the limit, too.
    let page = ["report", &id, "--by=target", "--fail-if=tps<-1%", "-o", "gate.html"];
    home.run(&page).good();
    let page = std::fs::read_to_string(home.path("gate.html")).expect("it was written");
    assert!(page.contains("FAILED tps&#60;-1%: "));
    // `last` may not be the most recent run of a pipeline.
    let gate = ["compare", "last", "--by=target", "--fail-if=tps<-50%"];
    let fresh = home.run(&gate).good();
    assert!(!fresh.err.contains("ago") && !fresh.out.contains("ago"), "{}{}", fresh.err, fresh.out);
    let store = rusqlite::Connection::open(home.store()).expect("a store");
    let sql = "UPDATE run SET report = json_set(report, '$.started', '2026-01-31T10:00:00Z')";
    assert_eq!(store.execute(sql, ()).expect("it is written"), 20);
    home.run(&gate).good().says(&[" d ago)"]).warns(&["last is from ", " d ago: if a run before"]);
    let named = ["compare", &id, "--by=target", "--fail-if=tps<-50%"];
    assert!(!home.run(&named).good().err.contains("ago"));
    // All trials are exported into one file.
    home.run(&["runs", "export", &id, "-o", "all.dbdyno"]).good().says(&["wrote 20 runs"]);
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
    compare("tps<-10%").code(1).says(&["FAILED tps<-10%: -", "at build=2 clients="]);
    compare("tps<-60%").good().says(&["within the limit tps<-60%"]);
    // One run per side decides nothing.
    let list = at(&runs, "runs").as_array().expect("a list");
    let [one, other] = [FAST, SLOW].map(|target| {
        let is_it = |run: &&Value| at(run, "target") == target && number(run, "clients") == 4.0;
        at(list.iter().find(is_it).expect("five"), "run_id").as_str().expect("a text")
    });
    let words = ["compare", one, other, "--fail-if=tps<-1%"];
    let few = home.run(&words).code(2);
    few.warns(&["--fail-if tps<-1%: ", " has 1 run", "--repeat 6", "--undecided pass"]);
    let passes = home.run(&[&words[..], &["--undecided=pass"]].concat()).good();
    passes.says(&["undecided tps<-1%", " has 1 run, which", "cannot be judged: 1 run per"]);
}

/// Compares two runs whose plans differ in one parameter.
#[test]
fn what_is_undecided_is_followed_by_an_experiment_that_decides_it_and_by_no_gate() {
    let home = Home::new();
    let sim = ["run", "empty", "--placement=simulated", "--ramp-up=0s", "--duration=1s"];
    let target = format!("--target={FAST}");
    for clients in ["--clients=4", "--clients=8"] {
        home.run(&[&sim[..], &[&target, clients]].concat()).good();
    }
    let ids: Vec<String> = at(&home.json(&["runs", "list", "--sort=started"]), "runs")
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| at(run, "run_id").as_str().expect("a text").to_owned())
        .collect();
    let page = home.run(&["compare", &ids[0], &ids[1]]).good();
    let command = "--plan > plan.toml && dbdyno run plan.toml --vary clients=4,8 --repeat \
                   until=decided";
    let line = page.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains(command), "{}", page.out);
    assert!(!page.out.contains("--fail-if"), "{}", page.out);
    // Sides that take more than one parameter to make have no such command.
    home.run(&[&sim[..], &[&format!("--target={SLOW}"), "--clients=8"]].concat()).good();
    let page = home.run(&["compare", &ids[0], "last"]).good();
    assert!(!page.out.contains("--vary") && !page.out.contains("--fail-if"), "{}", page.out);
}

/// Runs two sets of runs in turn, `n_runs` times, each run with its own seed. Their labels begin
/// with `old` and `new`.
fn interleave(home: &Home, services: [&str; 2], n_runs: u32) {
    for nth in 0..n_runs {
        for (side, service) in ["old", "new"].into_iter().zip(services) {
            let label = format!("{side}-{service}-{n_runs}");
            let seed = format!("--seed={}", 2 * nth + u32::from(side == "new") + 1);
            let target = format!("constant:{service}&servers=4&spread=1");
            let target = format!("--target=sim:?service={target}");
            let words = ["run", "empty", &target, &seed, "--placement=simulated", "--ramp-up=0s"];
            let more = ["--duration=1s", "--quiet", "--label", &format!("build={label}")];
            home.run(&[&words[..], &more].concat()).good();
        }
    }
}

/// Checks the exit codes of limits on a change, on which pipelines depend.
#[test]
fn a_gate_has_these_exit_codes() {
    let home = Home::new();
    for (services, n_runs) in [(["2ms", "2ms"], 5), (["2ms", "2.2ms"], 5), (["2ms", "2ms"], 2)] {
        interleave(&home, services, n_runs);
    }
    let (same, slower, few) =
        (["old-2ms-5", "new-2ms-5"], ["old-2ms-5", "new-2.2ms-5"], ["old-2ms-2", "new-2ms-2"]);
    for (sides, limit, more, code, word) in [
        (same, "tps<-5%", "", 0, "within the limit tps<-5%"),
        (same, "p99>+5%", "", 0, "within the limit p99>+5%"),
        (slower, "tps<-5%", "", 1, "FAILED tps<-5%"),
        (slower, "p99>+5%", "", 1, "FAILED p99>+5%"),
        // Closer than the noise of the runs: undecided, which is not a pass.
        (same, "tps<-0.1%", "", 3, "undecided tps<-0.1%"),
        (same, "tps<-0.1%", "--undecided=pass", 0, "undecided tps<-0.1%"),
        (slower, "tps<-5%", "--undecided=pass", 1, "FAILED tps<-5%"),
        (slower, "tps<=-5%", "", 1, "FAILED tps<=-5%"),
        (few, "tps<-5%", "", 2, "has 2 runs"),
        // All runs are too short for it.
        (same, "p999>+5%", "", 3, "undecided p999>+5%"),
        (same, "p999>+5%", "--undecided=pass", 0, "needs at least"),
        (same, "nopm<-5%", "", 2, "it is a figure of another workload"),
        (same, "tsp<-5%", "", 2, "there is no figure 'tsp' (did you mean 'tps'?)"),
        // The last line has the exit code.
        (same, "tps<-5%", "", 0, "\nExit code 0: every limit is held.\n"),
        (slower, "tps<-5%", "", 1, "\nExit code 1: a limit is broken.\n"),
        (same, "tps<-0.1%", "", 3, "\nExit code 3: an undecided limit fails: "),
        (same, "tps<-0.1%", "--undecided=pass", 0, "\nExit code 0: no limit is broken, and "),
        (same, "tps<5", "", 2, "tps<5"),
        (same, "speed<-5%", "", 2, "speed"),
    ] {
        let [old, new] = sides.map(|side| format!("build={side}"));
        let words = ["compare", &old, &new, "--fail-if", limit, more];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let ran = home.run(&words);
        assert_eq!(ran.code, Some(code), "{sides:?} {limit} {more}: {}{}", ran.out, ran.err);
        assert!((ran.out.clone() + &ran.err).contains(word), "{word}: {}{}", ran.out, ran.err);
    }
    // On GitHub the verdicts are annotations, and the page is the summary of the job.
    let summary = home.write("summary.md", "# Before\n");
    let words = ["compare", "build=old-2ms-5", "build=new-2.2ms-5", "--fail-if=tps<-5%"];
    let mut command = home.dbdyno(&[&words[..], &["--output=github"]].concat());
    let ran = command.env("GITHUB_STEP_SUMMARY", &summary).output().expect("it is built");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.starts_with("::error title=dbdyno Limit::FAILED tps<-5%25: -"), "{said}");
    assert!(!said.contains("| figure |"), "{said}");
    let summary = std::fs::read_to_string(summary).expect("it is there");
    assert!(summary.starts_with("# Before\n") && summary.contains("| figure |"), "{summary}");
    // An undecided limit is an error if it fails the job, and a warning if it may pass.
    let [old, new] = same.map(|side| format!("build={side}"));
    for (more, level) in [("--undecided=fail", "error"), ("--undecided=pass", "warning")] {
        let words = ["compare", &old, &new, "--fail-if=tps<-0.1%", more, "--output=github"];
        let said = home.run(&words).out;
        let begins = format!("::{level} title=dbdyno Limit::undecided tps<-0.1%25: ");
        assert!(said.starts_with(&begins), "{said}");
    }
    // A usage error has an annotation too; a bad verdict within the limits is no error.
    for (limit, code, begins) in [
        ("speed<-5%", 2, "::error title=dbdyno::--fail-if: speed<-5%25: there is no figure"),
        ("tps<-60%", 0, "::notice title=dbdyno Limit::within the limit tps<-60%25"),
    ] {
        let words = ["compare", "build=old-2ms-5", "build=new-2.2ms-5", "--fail-if", limit];
        let ran = home.run(&[&words[..], &["--output=github"]].concat());
        assert_eq!(ran.code, Some(code), "{}", ran.out);
        assert!(ran.out.starts_with(&begins.replace("5% ", "5%25 ")), "{}", ran.out);
        assert_eq!(ran.out.contains("::error"), code != 0, "{}", ran.out);
    }
    // With --quiet there is nothing but the limits, and the page says how to repeat the gate.
    let brief = home.run(&[&words[..], &["--output=github", "--quiet"]].concat()).code(1);
    assert!(brief.out.starts_with("::error title=dbdyno Limit::FAILED"), "{}", brief.out);
    assert!(!brief.out.contains("| figure |"), "{}", brief.out);
    let whole = home.run(&[&words[..], &["--output=github"]].concat()).code(1);
    whole.says(&["How to repeat it", "--fail-if 'tps<-5%'"]);
    // If the summary cannot be written, the verdict goes to stdout.
    let mut command = home.dbdyno(&[&words[..], &["--output=github"]].concat());
    let ran = command.env("GITHUB_STEP_SUMMARY", "/none/summary.md").output().expect("it is built");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.starts_with("::error") && said.contains("| figure |"), "{said}");
    assert_eq!(ran.status.code(), Some(1), "{said}");
    home.run(&["runs", "--output=github"]).code(2).warns(&["this command does not write it"]);
}

#[test]
fn a_run_that_goes_on_leaves_a_gate_undecided_unless_it_fails() {
    let home = Home::new();
    for services in [["2ms", "2ms"], ["2ms", "2.2ms"]] {
        interleave(&home, services, 5);
    }
    let mut runs: Vec<Started> = Vec::new();
    for (nth, build) in ["new-2ms-5", "new-2.2ms-5"].into_iter().enumerate() {
        let label = format!("--label=build={build}");
        let words = ["run", "empty", "--target=sim:?service=constant:5ms", "--rate=50"];
        let mut run =
            home.start(&[&words[..], &["--duration=600s", "--check=off", &label]].concat());
        let n_runs = 21 + nth as i64;
        run.wait_until("a run in the store", |_| number_in(&home.store(), RUNS) == Some(n_runs));
        runs.push(run);
    }
    let gate = |new: &str, more: &'static str| {
        let new = format!("build={new}");
        home.run(&["compare", "build=old-2ms-5", &new, "--fail-if=tps<-5%", more])
    };
    let going = "build=new-2ms-5 is still being measured (";
    gate("new-2ms-5", "--undecided=fail")
        .code(3)
        .says(&["undecided tps<-5%: build=new-2ms-5 is still being measured"])
        .warns(&[going]);
    gate("new-2ms-5", "--undecided=pass").good();
    gate("new-2.2ms-5", "--undecided=pass")
        .code(1)
        .says(&["FAILED tps<-5%: -", "at build=new-2.2ms-5"]);
    for run in runs {
        run.interrupt();
        run.end().code(130);
    }
}

#[test]
fn what_cannot_be_compared_is_said_in_a_sentence() {
    let home = Home::new();
    let id = experiment(&home);
    let no = |words: &[&str], why: &str| {
        home.run(words).code(2).warns(&[why]);
    };
    no(&["compare", &id], "varies target and clients: say which of them makes the sides");
    no(&["compare", &id, "--by=rate"], "the experiment varies target, clients");
    no(&["compare", &id, &id], "cannot be compared with itself");
    no(&["compare", "last", "last"], "cannot be compared with itself");
    no(&["compare", "last", "nix"], "'nix'");
    no(&["compare", "last", "nobody-knows"], "'nobody-knows': 'dbdyno runs' lists them\n");
    no(&["compare", "build=1", &id], "no run has the label build=1");
    no(&["compare", &id, "--by=target", "--figure=speed"], "no run here has the figure speed");
    no(&["compare", &id, "--by=target", "--fail-if=p99>5"], "it ends without %");
    no(&["compare", &id, "--by=target", "--fail-if=tsp<-5%"], "did you mean 'tps'?");
    let gains = home.run(&["compare", &id, "--by=target", "--fail-if=tps>+900%"]);
    gains.good().warns(&[
        "--fail-if tps>+900% fails when the figure gets better; did you mean 'tps<-90%'?",
    ]);
    no(&["compare", &id, "--by=target", "--fail-if=p99<5%"], "did you mean 'p99>+5%'?");
    for floor in ["--min-effect=x", "--min-effect=5", "--min-effect=0.05", "--min-effect=-5%"] {
        no(&["compare", &id, "--by=target", floor], "write a share such as 2%");
    }
    for command in [&["compare", &id, "--by=target"][..], &["history"]] {
        let words = [command, &["--min-effect", "-5%"]].concat();
        no(&words, "--min-effect -5% is below zero: write a share such as 2%");
    }
    let all = ["compare", &id, "--by=target", "--fail-if=tps<-100%"];
    no(&all, "nothing can fall by more than 100 %");
    no(&["compare", &id, &id, "--by=target"], "name one");
    no(&["runs", "label", "last", "--output=csv"], "this command does not write it");
}

/// Runs a simulated database with a label; returns the id of the run.
fn labelled_run(home: &Home, service: &str, label: &str, more: &[&str]) -> String {
    let target = format!("--target=sim:?service={service}&servers=4");
    let label = format!("--label={label}");
    let words = ["run", "empty", &target, &label, "--placement=simulated", "--ramp-up=0s"];
    let report = home.report_with_code(0, &[&words[..], more].concat());
    at(&report, "run_id").as_str().expect("a text").to_owned()
}

#[test]
fn two_runs_that_differ_in_one_thing_are_compared_and_it_is_named_first() {
    let home = Home::new();
    let run = |service: &str, clients: &str| {
        labelled_run(&home, service, "of=test", &["--duration=2s", clients])
    };
    let (fast, slow) =
        (run("exponential:2ms", "--clients=4"), run("exponential:3ms", "--clients=4"));
    let many = run("exponential:2ms", "--clients=8");
    let says = |one: &str, other: &str, words: &[&str]| {
        let page = home.run(&["compare", one, other]).good().out;
        // Cells of a table without padding.
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().for_each(|words| assert!(page.contains(words), "no '{words}' in {page}"));
    };
    let words = "service=exponential:3ms vs. exponential:2ms: TPS -";
    says(&fast, &slow, &[words, "differences service alone"]);
    says(&fast, &many, &["clients=8 vs. 4: TPS ", "differences clients alone"]);
    // With two differences, both are named: what the names do not state is below the headline.
    let words = "service=exponential:2ms vs. exponential:3ms: TPS ";
    let load =
        "They also differ in clients (8 against 4); part of the difference may come from it.";
    says(&slow, &many, &[words, load]);
}

#[test]
fn runs_of_one_label_that_differ_are_not_pooled() {
    let home = Home::new();
    let mixture = |label: &str| {
        for seed in ["--seed=1", "--seed=2"] {
            labelled_run(&home, "exponential:2ms", label, &["--duration=2s", seed]);
            labelled_run(&home, "exponential:3ms", label, &["--duration=2s", seed]);
        }
    };
    mixture("build=1");
    mixture("build=2");
    let shown = home.json(&["compare", "build=1", "build=2"]);
    let points = at(&shown, "pairs")[0]["points"].as_array().expect("a list").clone();
    assert_eq!(points.len(), 2, "{points:#?}");
    for point in &points {
        assert_eq!(number(point, "primary.ratio.value"), 1.0, "{point:#}");
    }
    let page = home.run(&["compare", "build=1", "build=2"]).good();
    page.says(&["service=exponential:2ms", "Plan, database, machine and build are the same"]);
    // A side that mixes conditions which the other side lacks is rejected, with a remedy.
    labelled_run(&home, "exponential:4ms", "build=3", &["--duration=2s"]);
    let why = "build=1 has runs of service exponential:2ms, exponential:3ms, and another side has \
               none of these: compare runs of one service per side";
    home.run(&["compare", "build=1", "build=3"]).code(2).warns(&[why]);
    // A history separates them too: each has its own series.
    let shown = home.json(&["history"]);
    let series = at(&shown, "points").as_array().map(Vec::len);
    assert_eq!(series, Some(3), "{shown:#}");
}

#[test]
fn a_search_is_no_axis_to_compare_by() {
    let home = Home::new();
    let target = format!("--target={FAST}");
    let mut words = vec!["run", "empty", &target, "--placement=simulated", "--clients=8"];
    words.extend(["--seek=rate=50..1000", "--objective=p50<12ms", "--seek-budget=3m"]);
    let shown = home.json(&words);
    let id = at(&shown, "id").as_str().expect("a text");
    home.run(&["compare", id, "--by=rate"]).code(2).warns(&["is a search, which has no axis"]);
}
