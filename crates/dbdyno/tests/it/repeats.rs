//! Tests of repeats by level (runs, server starts, data builds) and until a precision is reached.

use servers::for_tests::MARIADB;

use crate::home::{Home, at, number, number_in};
use crate::real::url;

/// Target that is a simulated database of about 2,000 TPS, whose starts differ by 3 %.
const SPREAD: &str = "--target=sim:?service=exponential:2ms&servers=4&spread=3";

fn sim<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let base = ["run", "empty", target, "--placement=simulated", "--ramp-up=0s", "--clients=8"];
    [&base, more].concat()
}

#[test]
fn repeats_end_when_intervals_are_narrow_and_going_on_changes_nothing() {
    let home = Home::new();
    let args = sim(SPREAD, &["--duration=2s", "--repeat=until=4%,max=25"]);
    let shown = home.json(&args);
    let n = number(&shown, "stop_condition.repeats");
    assert!((4.0..25.0).contains(&n), "{:#}", at(&shown, "stop_condition"));
    assert_eq!(at(&shown, "stop_condition.is_reached"), true);
    assert_eq!((number(&shown, "trials"), number(&shown, "trials_done")), (n, n));
    let share = number(&shown, "stop_condition.points.0.half_width_share");
    let mean = number(&shown, "points.0.figures.tps.mean");
    let half_width = number(&shown, "points.0.figures.tps.half_width");
    assert!(share <= 0.04 && (half_width / mean - share).abs() < 1e-9, "{shown:#}");
    home.run(&["experiments", "show", "last"]).good().says(&[
        "of at most 25, ",
        "(until=4%,min=4,max=25).",
        "Every interval of TPS is as narrow as requested.",
        "Method: Student's t at 97.7 %",
    ]);
    home.run(&["experiments", "list"]).good().says(&["of at most 25"]);
    home.run(&["experiments", "resume", "last"]).good();
    assert_eq!(number_in(&home.store(), "SELECT count(*) FROM run"), Some(n as i64));
    // The stored plan defines the same experiment.
    let plan = home.run(&["experiments", "show", "last", "--plan"]).good();
    let plan = plan.says(&["repeat = \"until=4%,min=4,max=25\""]).out.clone();
    let again = home.write("again.toml", &plan);
    let again = home.json(&["run", &again, "--quiet"]);
    assert_eq!(number(&again, "stop_condition.repeats"), n);
}

#[test]
fn repeats_that_were_killed_go_on_to_the_same_end() {
    let args = sim(SPREAD, &["--duration=20s", "--repeat=until=4%,max=25"]);
    let whole = Home::new().json(&args);
    let home = Home::new();
    let mut killed = home.start(&args);
    killed.wait_until("a third repeat", |said| said.contains("trial 3 of"));
    killed.kill();
    assert_eq!(killed.end().code, None);
    // Completed trials are kept and count, and the output says how to resume.
    let kept = home.json(&["experiments", "show", "last"]);
    let n_kept = number(&kept, "stop_condition.repeats");
    assert!(n_kept >= 2.0 && n_kept < number(&whole, "stop_condition.repeats"), "{kept:#}");
    assert_eq!(
        (at(&kept, "status"), at(&kept, "stop_condition.is_reached")),
        (&"interrupted".into(), &false.into())
    );
    let on =
        [", interrupted\ndbdyno experiments resume ", ": interrupted after ", "Not precise enough"];
    home.run(&["experiments", "show", "last"]).good().says(&on);
    let shown = home.json(&["experiments", "resume", "last", "--quiet"]);
    let same = [
        "stop_condition.repeats",
        "stop_condition.is_reached",
        "stop_condition.points",
        "points.0.figures",
        "trials_done",
    ];
    for path in same {
        assert_eq!(at(&shown, path), at(&whole, path), "{path}");
    }
    let completed = "SELECT count(*) FROM run WHERE status = 'completed'";
    let n_runs = number_in(&home.store(), completed).map(|n| n as f64);
    assert_eq!(n_runs, Some(number(&whole, "stop_condition.repeats")), "none is made twice");
}

#[test]
fn repeats_end_when_a_comparison_is_decided() {
    let home = Home::new();
    let vary = "--vary=target=sim:?service=exponential:2ms&servers=4,\
                sim:?service=exponential:2200us&servers=4";
    let more = ["--duration=2s", "--repeat=until=decided,max=20", vary];
    let base = ["run", "empty", "--placement=simulated", "--ramp-up=0s", "--clients=8"];
    let shown = home.json(&[&base[..], &more].concat());
    assert_eq!(
        at(&shown, "stop_condition.pairs.0.verdict"),
        "worse",
        "{:#}",
        at(&shown, "stop_condition")
    );
    let ratio = number(&shown, "stop_condition.pairs.0.ratio");
    assert!((ratio - 2.0 / 2.2).abs() < 0.01, "{ratio}");
    assert!(number(&shown, "stop_condition.repeats") < 8.0);
    home.run(&["experiments", "show", "last"])
        .good()
        .says(&["Every difference of TPS is decided."]);
    let id = at(&shown, "id").as_str().expect("a text").to_owned();
    let words = "The results decided the number of repeats";
    home.run(&["compare", &id, "--by=target"]).good().says(&[words]);
}

#[test]
fn runs_of_a_start_count_as_one_and_the_variation_is_where_it_is() {
    let home = Home::new();
    let args = sim(SPREAD, &["--duration=5s", "--repeat=4", "--repeat-restart=6"]);
    let shown = home.json(&args);
    assert_eq!(number(&shown, "trials_done"), 24.0);
    assert_eq!(at(&shown, "levels.levels.0.level"), "restart", "{:#}", at(&shown, "levels"));
    assert!(number(&shown, "levels.levels.0.share") > 0.7, "{:#}", at(&shown, "levels"));
    // Six starts that differ by 3 %: the error of their mean is about 3 %, even with 24 runs.
    let figure = |name: &str| number(&shown, &format!("points.0.figures.tps.{name}"));
    let share = figure("half_width") / figure("mean");
    assert!((0.01..0.08).contains(&share), "{share}");
    let page = home.run(&["experiments", "show", "last"]).good();
    page.says(&[
        "of the variation of TPS",
        "is between restarts",
        "to find a difference of 2 % between points:",
    ]);
    let plan = home.run(&["experiments", "show", "last", "--plan"]).good();
    plan.says(&["repeat = 4", "repeat_restart = 6"]);
}

#[test]
fn a_managed_server_is_restarted_and_its_data_are_rebuilt_for_repeats() {
    let home = Home::new();
    let args = [
        "run",
        "oltp-point-select",
        "--target=managed:mariadb?innodb_buffer_pool_size=64M",
        "--table-size=500",
        "--clients=2",
        "--duration=1s",
        "--ramp-up=0s",
        "--repeat=1",
        "--repeat-restart=2",
        "--repeat-rebuild=2",
        "--output=json",
    ];
    let ran = home.run(&args).good();
    // One server, whose data are built twice.
    assert_eq!(ran.err.matches("was started in").count(), 1, "{}", ran.err);
    assert_eq!(ran.err.matches("built 500 rows").count(), 2, "{}", ran.err);
    let shown = ran.json();
    assert_eq!(number(&shown, "trials_done"), 4.0);
    let levels = at(&shown, "levels.levels").as_array().expect("a list").len();
    assert_eq!(levels, 2, "runs are not repeated: {:#}", at(&shown, "levels"));
    let uptime = |run: &str| {
        let report = home.json(&["runs", "show", run]);
        at(&report, "facts.trial").clone()
    };
    let runs = at(&shown, "points.0.runs").as_array().expect("a list");
    let facts: Vec<_> = runs.iter().map(|run| uptime(run.as_str().expect("a text"))).collect();
    assert!(facts.iter().all(|fact| fact["restart_s"].is_string()), "{facts:?}");
    let built = |fact: &&serde_json::Value| fact["rebuild_s"].is_string();
    assert_eq!(facts.iter().filter(built).count(), 2, "{facts:?}");
}

#[test]
fn repeats_that_cannot_be_are_reported_before_the_first_run() {
    let home = Home::new();
    let check = |more: &[&str], words: &str| {
        home.run(&sim(SPREAD, more)).code(2).warns(&[words]).is_a_sentence();
    };
    check(&["--repeat=0"], "below the minimum of 1");
    check(&["--repeat=often"], "write a number such as 5, or a rule such as until=2%,max=20");
    check(&["--repeat=until=2"], "write a share of at most 50 %, such as until=2%");
    check(&["--repeat=until=2%,most=9"], "'most' is not part of a rule");
    check(&["--repeat=until=2%,min=2"], "write 4 or more");
    check(&["--repeat=until=2%,max=3"], "it lies between 4 and 10000");
    let twice = "the rule has max twice, as 5 and as 6: remove one";
    check(&["--repeat=until=2%,max=5,max=6"], twice);
    check(&["--repeat=until=2%,until=3%"], "the rule has until twice");
    check(&["--repeat=until=2%,figure=speed"], "choose one of");
    check(&["--repeat=until=2%,min_effect=1%"], "belongs to until=decided");
    check(&["--repeat=until=2%,min-effect=1%"], "belongs to until=decided");
    check(&["--repeat=until=decided"], "vary something");
    let ordered = ["--repeat=until=decided", "--vary=rate=1,2", "--order=sequential"];
    check(&ordered, "compares points round by round");
    let both = ["--repeat=until=2%", "--repeat-restart=3"];
    check(&both, "write a number here, and --repeat-restart 'until=2%,max=10'");
    check(&["--repeat-rebuild=2"], "has no data to rebuild");
    let server = MARIADB.shared();
    let target = format!("--target={}", url(server));
    let args = ["run", "empty", &target, "--repeat=2", "--repeat-restart=2"];
    home.run(&args).code(2).warns(&["dbdyno cannot restart", "managed"]).is_a_sentence();
    let data = ["run", "oltp-point-select", "--repeat-rebuild=2", "--data=rebuild"];
    home.run(&data).code(2).warns(&["gives each trial its own data"]).is_a_sentence();
}
