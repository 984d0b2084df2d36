//! Tests of experiments: points, repeats, resuming, results.

use serde_json::Value;
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, at, number, number_in};
use crate::real::url;
use crate::waiting::Started;

/// Flags for the shortest run that is valid.
const SHORT: [&str; 2] = ["--duration=1s", "--ramp-up=0s"];

const SIM: &str = "--target=sim:?service=exponential:2ms&servers=4";

fn sim(more: &[&'static str]) -> Vec<&'static str> {
    let base = ["run", "empty", SIM, "--placement=simulated", "--duration=4s", "--ramp-up=0s"];
    [&base, more].concat()
}

#[test]
fn a_quiet_experiment_prints_its_verdict_alone() {
    let home = Home::new();
    let ran = home.run(&sim(&["--vary=clients=1,2", "--repeat=5", "-q"])).good();
    assert!((1..=4).contains(&ran.out.trim_end().lines().count()), "{}", ran.out);
    assert!(ran.out.contains("clients=2 vs. 1"), "{}", ran.out);
    let limits = sim(&["--vary=clients=1,2", "--repeat=5", "-q", "--require=tps>1"]);
    home.run(&limits).good().says(&["passed"]);
}

#[test]
fn every_point_is_tried_as_often_as_asked_and_is_a_run_of_its_own() {
    let home = Home::new();
    let printed = home.json(&sim(&["--vary=clients=1,2,4,8,16,32", "--repeat=3"]));
    assert_eq!((number(&printed, "trials"), number(&printed, "trials_done")), (18.0, 18.0));
    let points = at(&printed, "points").as_array().expect("a list");
    assert_eq!(points.len(), 6);
    for point in points {
        assert_eq!(at(point, "runs").as_array().map(Vec::len), Some(3), "{point:#}");
        assert_eq!(number(point, "figures.tps.count"), 3.0);
    }
    // Four servers of 2 ms: one client gets 500 per second, and no number gets more than 2,000.
    assert!((number(&points[0], "figures.tps.mean") - 500.0).abs() < 25.0);
    assert!((number(&printed, "curve.best") - 2000.0).abs() < 100.0, "{:#}", at(&printed, "curve"));
    assert!(number(&printed, "scalability.residual") > 0.0);
    let runs = home.json(&["runs", "list", "--limit=0"]);
    assert_eq!(at(&runs, "runs").as_array().map(Vec::len), Some(18));
    let id = at(&printed, "id").as_str().expect("a text").to_owned();
    let shown = home.json(&["experiments", "show", &id]);
    assert_eq!(at(&shown, "points"), at(&printed, "points"));
    home.run(&["experiments", "show", "last"]).good().says(&["most TPS at clients=", "peak"]);
    home.run(&["experiments"]).good().says(&["clients=1,2,4,8,16,32", "18 of 18"]);
    let list = |condition: &str| home.run(&["experiments", "list", "--where", condition]);
    list("workload=empty and axis=clients and done>=18").good().says(&["18 of 18"]);
    list("axis=rate").good().says(&["no experiments"]);
    list("axes=rate").code(2).warns(&["--where", "did you mean 'axis'"]).is_a_sentence();
}

#[test]
fn the_verdict_of_a_page_is_in_its_json() {
    let home = Home::new();
    let printed = home.json(&sim(&["--vary=clients=1,4", "--repeat=4"]));
    let verdict = at(&printed, "verdicts")[0].as_str().expect("a text").to_owned();
    assert!(verdict.starts_with("empty: clients=4 vs. 1: TPS +"), "{verdict}");
    assert!(verdict.ends_with(", better"), "{verdict}");
    let judged = &at(at(&printed, "comparison"), "pairs")[0];
    assert_eq!(at(&at(judged, "points")[0], "primary.verdict"), "better");
    // Curves have a verdict, too, and no sides.
    let many = home.json(&sim(&["--vary=clients=1,2,3,4"]));
    let verdict = at(&many, "verdicts")[0].as_str().expect("a text").to_owned();
    assert!(verdict.contains("most TPS at clients="), "{verdict}");
    assert!(many.get("comparison").is_none());
}

#[test]
fn a_rate_that_is_varied_is_reported_by_how_much_of_it_is_kept() {
    let home = Home::new();
    // Four servers of 2 ms reach 2,000 per second.
    home.run(&sim(&["--vary=rate=500,1500,4000", "--clients=64"]))
        .good()
        .says(&["keeps up with the offered rate up to rate=1500; p99 ms there: ", "achieved %"]);
    let printed = home.json(&["experiments", "show", "last"]);
    assert_eq!(number(&printed, "rate.kept"), 1.0, "{:#}", at(&printed, "rate"));
    let over = home.run(&sim(&["--vary=rate=3000,4000", "--clients=64"])).good();
    over.says(&["no value of rate keeps up with the offered rate"]);
}

#[test]
fn a_point_with_too_few_samples_is_not_one_without_any() {
    let home = Home::new();
    let ran = home.run(&sim(&["--vary=clients=2,4", "--rate=20"])).good();
    let words = ["no p99 ms: too few samples: needs at least", "too few"];
    assert!(!ran.says(&words).out.contains("nothing measured yet"));
}

#[test]
fn figures_of_a_file_beside_the_plan_stand_below_those_of_the_experiment() {
    let home = Home::new();
    let file = "# a page of 2015\nsystem,clients,figure,value,error\nold,2,tps,900,10\n\
                old,64,tps,905,10\nold,2,rows.per_second,7,1\n";
    home.write("theirs.csv", file);
    let plan = home.write(
        "plan.toml",
        "target = 'sim:?service=exponential:2ms&servers=4'\nplacement = 'simulated'\n\
         ramp_up = '0s'\nduration = '4s'\n[[group]]\nworkload = 'empty'\n[experiment]\n\
         reference = 'theirs.csv'\nvary = { clients = [1, 2], statements = [1, 2] }\n",
    );
    let shown = home.run(&["run", &plan]).good();
    shown.says(&[
        "TPS (1/s) over clients and statements",
        "theirs (imported): TPS (1/s) over clients and system",
        "old: best at clients 64; 2 is as good, within error",
        "Imported: theirs (a page of 2015).",
        "theirs (imported): rows per second over clients",
    ]);
    // The figures are in the store: the file may be deleted.
    std::fs::remove_file(home.path("theirs.csv")).expect("it was there");
    let plan = home.run(&["experiments", "show", "last", "--plan"]).good();
    plan.says(&["reference = ", "theirs.csv"]);
    let id =
        at(&home.json(&["experiments", "show", "last"]), "id").as_str().expect("one").to_owned();
    home.run(&["experiments", "show", &id]).good().says(&["theirs (imported): TPS"]);
    let chart = home.run(&["report", &id, "--chart=curves-clients-tps", "-o=-"]).good();
    assert!(chart.out.contains("theirs system=old (imported)"), "{}", chart.out);
    let page = home.run(&["report", &id, "-o=-"]).good().out;
    assert!(page.contains("By rows and columns") && page.contains("a page of 2015"), "{page}");
    let web = crate::http::Web::start(&home, &[]).page(&format!("/experiments/{id}"));
    assert!(web.contains("theirs (imported): TPS"), "{web}");
    // A missing file, or a search, is rejected before anything runs.
    let none = home.run(&sim(&["--vary=clients=1,2", "--reference=none.csv"])).code(2);
    none.warns(&["reference: none.csv: No such file"]);
    let seek = ["run", "empty", SIM, "--seek=rate=50..100", "--objective=p99<1s"];
    home.run(&[&seek[..], &["--reference=none.csv"]].concat())
        .code(2)
        .warns(&["--reference: a search has no table"]);
}

#[test]
fn clients_of_all_targets_live_where_those_of_each_can() {
    let home = Home::new();
    let file = home.path("a.db").display().to_string();
    let targets = format!("--vary=target={},sqlite:{file}", url(POSTGRES.shared()));
    // More clients than cores: on event loops, if SQLite supported them.
    let words = ["run", "empty", &targets, "--vary=clients=2,64", "--duration=1s", "--ramp-up=0s"];
    home.run(&[&words[..], &["--quiet"]].concat()).good();
    let runs = home.json(&["runs", "list", "--limit=0"]);
    let placed = at(&runs, "runs").as_array().expect("a list").iter().map(|run| {
        let report = home.json(&["runs", "show", run["run_id"].as_str().expect("an id")]);
        let is_sqlite = report["target"].as_str().is_some_and(|target| target.contains("sqlite"));
        (is_sqlite, report["placement"].as_str().expect("a place").to_owned())
    });
    let mut placed: Vec<(bool, String)> = placed.collect();
    placed.sort();
    placed.dedup();
    let expect = [false, true].map(|is_sqlite| (is_sqlite, "thread".to_owned()));
    assert_eq!(placed, expect);
    home.run(&["compare", "last", "--by=target", "--figure=tps"]).good();
}

#[test]
fn the_last_is_the_newest_of_what_a_command_takes() {
    let home = Home::new();
    home.run(&sim(&[])).good();
    let alone = ["last is the single run ", "'dbdyno compare RUN last'"];
    home.run(&["compare", "last"]).code(2).warns(&alone).is_a_sentence();
    let id = at(&home.json(&sim(&["--vary=clients=1,2", "--repeat=5"])), "id").clone();
    let short = &id.as_str().expect("a text")[id.as_str().expect("a text").len() - 8..];
    home.run(&["compare", "last"]).good().says(&["clients=2 vs. 1"]);
    home.run(&["report", "last", "-o", "-"]).good().says(&["10 of 10 trials"]);
    home.run(&["experiments", "show", "last"]).good().says(&["10 of 10 trials"]);
    let shown_note =
        format!("this is the last trial of experiment {short}: 'dbdyno experiments show");
    home.run(&["runs", "show", "last"]).good().warns(&[&shown_note]);
    // An older experiment is not compared in place of a newer run.
    home.run(&sim(&[])).good();
    home.run(&["compare", "last"]).code(2).warns(&alone);
    home.run(&["compare", "last", "--by=clients"]).code(2).warns(&alone);
    let page = home.run(&["report", "last", "-o", "-"]).good().out;
    assert!(!page.contains("10 of 10 trials"));
}

#[test]
fn two_axes_are_all_their_combinations() {
    let home = Home::new();
    let printed = home.json(&sim(&["--vary=clients=2,4", "--vary=rate=100,200,300"]));
    let points = at(&printed, "points").as_array().expect("a list");
    let values: Vec<String> = points
        .iter()
        .map(|point| format!("{}/{}", at(point, "values.clients"), at(point, "values.rate")))
        .map(|pair| pair.replace('"', ""))
        .collect();
    assert_eq!(values, ["2/100", "2/200", "2/300", "4/100", "4/200", "4/300"]);
    assert_eq!(at(&printed, "curve"), &Value::Null);
    for (point, rate) in points.iter().zip([100.0, 200.0, 300.0].into_iter().cycle()) {
        assert!((number(point, "figures.tps.mean") - rate).abs() < rate * 0.3, "{point:#}");
    }
}

#[test]
fn a_killed_experiment_goes_on_at_the_first_trial_not_made() {
    let home = Home::new();
    let args = [
        "run",
        "empty",
        "--target=sim:?service=constant:1ms",
        "--vary=clients=1,2",
        "--repeat=2",
        "--duration=1s",
        "--ramp-up=0s",
    ];
    let mut killed = home.start(&args);
    killed.wait_until("a second trial", |said| said.contains("trial 2 of 4"));
    let resume = ["experiments", "resume", "last"];
    home.run(&["experiments", "list"]).good().says(&["1 of 4", "running"]);
    let words = format!("is being run by process {} (since ", killed.id());
    home.run(&resume).code(2).warns(&[&words, "wait for it or end it"]);
    home.run(&["experiments", "rm", "last"]).code(2).warns(&["is running: stop it first"]);
    killed.kill();
    killed.end();
    home.run(&["experiments", "list"]).good().says(&["of 4", "interrupted"]);
    let words = [", interrupted\ndbdyno experiments resume ", "interrupted after 1 of 4 trials"];
    home.run(&["experiments", "show", "last"]).good().says(&words);
    // One of two concurrent resumes runs.
    let both = [home.start(&resume), home.start(&resume)].map(Started::end);
    let mut codes = both.each_ref().map(|ran| ran.code);
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)], "{both:#?}");
    home.run(&["experiments", "list"]).good().says(&["4 of 4", "completed"]);
    let completed = "SELECT count(*) FROM run WHERE status = 'completed'";
    assert_eq!(number_in(&home.store(), completed), Some(4), "none is made twice");
    let printed = home.json(&["experiments", "show", "last"]);
    assert_eq!((number(&printed, "trials"), number(&printed, "trials_done")), (4.0, 4.0));
    // Nothing is left, and nothing is repeated.
    let again = home.json(&resume);
    assert_eq!(again, printed);
}

#[test]
fn why_a_trial_does_not_count_is_reported_and_one_that_would_end_so_again_is_made_once() {
    let home = Home::new();
    let load = ["--load=open", "--clients=4", "--queue=100", "--queue-full=stop", "--repeat=2"];
    let args = sim(&[&load[..], &["--vary=rate=1000,9000", "--ramp-up=1s"]].concat());
    let args: Vec<&str> = args.into_iter().filter(|word| *word != "--ramp-up=0s").collect();
    let ran = home.run(&args).code(1);
    let why = "does not count, and is not repeated because it would fail again: The queue was full";
    assert_eq!(ran.err.matches(why).count(), 2, "{}", ran.err);
    let runs = "SELECT count(*) FROM run";
    assert_eq!(number_in(&home.store(), runs), Some(4));
    // Nothing is left.
    home.run(&["experiments", "resume", "last"]).code(1);
    assert_eq!(number_in(&home.store(), runs), Some(4));
    // A trial that can never be valid is rejected at once.
    let args = sim(&["--vary=clients=1"]).into_iter().filter(|word| *word != "--duration=4s");
    let args: Vec<&str> = args.collect();
    let short = [&args[..], &["--duration=500ms"]].concat();
    let refused = home.run(&short).code(2);
    refused
        .warns(&["--duration: a measured phase of 500ms is too short for a trial to count"])
        .is_a_sentence();
    assert_eq!(number_in(&home.store(), runs), Some(4));
    // Too short a trial is repeated three times, each with the reason.
    let ran = home.run(&[&args[..], &["--transactions=100"]].concat()).code(1);
    for (words, count) in [("does not count, it is repeated: ", 2), ("it is given up: ", 1)] {
        assert_eq!(ran.err.matches(words).count(), count, "{}", ran.err);
    }
    assert!(ran.err.contains("were measured"), "{}", ran.err);
}

#[test]
fn a_plan_varies_a_servers_settings_and_its_data_stay() {
    let home = Home::new();
    let plan = home.write(
        "flush.toml",
        "[target]\nurl = 'managed:mariadb?innodb_buffer_pool_size=64M'\n\
         [phases]\nramp_up = '0s'\nmeasure = '1s'\n\
         [[group]]\nworkload = 'oltp-update-index'\nclients = 2\n\
         parameters = { table_size = 1000 }\n\
         [experiment]\nrepeat = 2\norder = 'random'\n\
         vary = { 'server.innodb_flush_log_at_trx_commit' = [1, 2] }\n",
    );
    let ran = home.run(&["run", &plan]).good();
    let ran = ran.says(&["server.innodb_flush_log_at_trx_commit"]);
    // With two runs of a second each, no value is called best.
    let ran = ran.says(&["innodb_flush_log_at_trx_commit=2 vs. "]);
    let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2 runs per side cannot show"), "{words}");
    let ran = ran.warns(&[
        "2 repeats can show no difference between points: run --repeat 6 or more (at least 12s)",
    ]);
    assert!(!ran.out.contains("most TPS at"), "{}", ran.out);
    // The data were built once.
    assert_eq!(ran.err.matches("built 1,000 rows").count(), 1, "{}", ran.err);
}

#[test]
fn what_shapes_the_data_is_varied_with_new_data() {
    let home = Home::new();
    let args = ["run", "oltp-point-select", "--vary=table-size=100,200", "--rate=100"];
    let keeps = home.run(&args).code(2);
    keeps.warns(&["changes the data", "--data rebuild"]).is_a_sentence();
    let printed = home.json(&[&args[..], &SHORT, &["--data=rebuild", "--repeat=2"]].concat());
    assert_eq!(number(&printed, "trials_done"), 4.0, "{printed:#}");
}

#[test]
fn storage_engines_are_an_axis_whose_data_are_rebuilt() {
    let home = Home::new();
    let server = MARIADB.start_with(&[("plugin_load_add", "ha_rocksdb")]);
    let target = format!("--target={}", url(&server));
    let axis = "--vary=engine=innodb,myisam,rocksdb";
    let args = ["run", "oltp-read-write", &target, axis, "--data=rebuild", "--clients=2"];
    let short = ["--table-size=1000", "--rate=100", "--repeat=1", "--quiet"];
    let printed = home.json(&[&args[..], &SHORT, &short].concat());
    assert_eq!(number(&printed, "trials_done"), 3.0, "{printed:#}");
    assert_eq!(printed["axes"][0]["name"], "engine", "{printed:#}");
    let runs = home.json(&["runs", "list"]);
    let runs = runs["runs"].as_array().expect("a list");
    let mut engines: Vec<String> = Vec::new();
    for run in runs {
        let id = run["run_id"].as_str().expect("a name");
        let report = home.json(&["runs", "show", id]);
        engines.push(at(&report, "facts.data")["engine"].as_str().expect("told").to_owned());
        let notes = report["notes"].as_array().expect("a list");
        let is_flat = notes.iter().any(|it| it.to_string().contains("no transactions"));
        assert_eq!(is_flat, engines.last().is_some_and(|last| last == "myisam"), "{notes:#?}");
    }
    engines.sort();
    assert_eq!(engines, ["innodb", "myisam", "rocksdb"]);
}

#[test]
fn a_mistake_in_an_experiment_is_reported_before_the_first_run() {
    let home = Home::new();
    let check = |more: &[&'static str], words: &str| {
        home.run(&sim(more)).code(2).warns(&[words]).is_a_sentence();
    };
    check(&["--vary=clints=1,2"], "'clints' cannot be varied (did you mean 'clients'?)");
    check(&["--vary=repeat=1,2"], "'repeat' applies to the whole experiment and is not an axis");
    check(&["--vary=repeat=1,2"], "write --repeat, beside it");
    check(&["--vary=clients="], "no values");
    check(&["--vary=clients"], "is not an axis");
    check(&["--vary=clients=1,1"], "twice");
    check(&["--vary=clients=1,none"], "none");
    check(&["--vary=clients=1,2", "--no-store"], "are kept");
    check(&["--vary=server.x=1,2"], "managed:mariadb");
    check(&["--vary=group.others.clients=1"], "no group is called 'others'");
    check(&["--vary=clients=0,1"], "--vary clients: ");
    check(&["--data=rebuild", "--no-build"], "must be built");
    check(&["--vary=clients=1,2", "--wait-until=SELECT 1"], "to query");
    // Rejected after they were stored, but before their first trial: they are removed.
    let lost = ["run", "empty", "--vary=clients=1,2", "--target=mariadb://u@127.0.0.1:1/x"];
    home.run(&lost).code(4);
    assert_eq!(home.json(&["experiments"])["experiments"].as_array().map(Vec::len), Some(0));
    let plan = home.write(
        "bad.toml",
        "[[group]]\nworkload = 'empty'\n[experiment]\nvary = { clients = [1, 0] }\n",
    );
    home.run(&["run", &plan]).code(2).warns(&["bad.toml:4:"]).is_a_sentence();
}

#[test]
fn one_knob_under_two_names_is_one_axis() {
    let home = Home::new();
    let check = |words: &[&'static str], why: &str| {
        home.run(&sim(words)).code(2).warns(&[why]).is_a_sentence();
    };
    let twice = |words: &[&'static str]| check(words, "is varied twice");
    twice(&["--vary=load.rate=10,20", "--vary=rate=30,40"]);
    twice(&["--vary=clients=1,2", "--vary=group.empty.clients=3,4"]);
    twice(&["--vary=clients=1,2", "--vary=clients=3,4"]);
    check(&["--vary=clients=1,2", "--clients=4"], "--clients: 'clients' is set twice");
    check(&["--vary=load.rate=10,20", "--rate=4"], "--rate: ");
    for target in ["--target=managed:mariadb", "--target=mariadb://db1/x"] {
        for other in ["innodb-io-capacity", "INNODB_IO_CAPACITY", "innodb_io_capacity"] {
            let other = format!("--vary=server.{other}=400,500");
            let args = ["run", "empty", target, "--vary=server.innodb_io_capacity=300", &other];
            home.run(&args).code(2).warns(&["is varied twice"]).is_a_sentence();
        }
    }
    let axis = "--vary=server.innodb_io_capacity=300,400";
    let args = ["run", "empty", "--target=mariadb://db1,db2/x", axis];
    home.run(&args).code(2).warns(&["the target has 2 hosts"]).is_a_sentence();
    let plan = "[target]\nurl = 'mariadb://db1/x'\n[[group]]\nworkload = 'empty'\n[server]\n\
                innodb-io-capacity = 200\n[experiment]\n\
                vary = { 'server.innodb_io_capacity' = [300, 400] }\n";
    let plan = home.write("both.toml", plan);
    home.run(&["run", &plan]).code(2).warns(&["both.toml:6:", "drop one"]).is_a_sentence();
}

#[test]
fn an_axis_of_the_line_goes_before_one_of_the_file_under_any_name() {
    let home = Home::new();
    let plan = "[target]\nurl = 'sim:'\n[[group]]\nworkload = 'empty'\n\
                load = { model = 'open', rate = 5 }\n[experiment]\nvary = { rate = [10, 20] }\n";
    let plan = home.write("rates.toml", plan);
    let short = ["--placement=simulated", "--duration=2s", "--ramp-up=0s", "--vary=load.rate=30"];
    let printed = home.json(&[&["run", &plan][..], &short].concat());
    assert_eq!(number(&printed, "trials"), 1.0, "{printed:#}");
}

/// Returns the ratio of the TPS of two equal points, the second to the first, on a machine that
/// becomes slower by a fifth meanwhile.
fn drifted(order: &str) -> f64 {
    let home = Home::new();
    // 16 trials and 16 steps: the last is 20 % slower than the first.
    let target = "--target=sim:?service=constant:2ms&servers=4&drift=1.3333";
    let order = format!("--order={order}");
    let printed = home.json(&[
        "run",
        "empty",
        target,
        "--placement=simulated",
        "--ramp-up=0s",
        "--duration=60s",
        "--clients=4",
        // The report interval does not affect the load.
        "--vary=report_interval=10s,20s",
        "--repeat=8",
        &order,
        "--quiet",
    ]);
    let tps = |point: &str| number(&printed, &format!("points.{point}.figures.tps.mean"));
    tps("1") / tps("0")
}

#[test]
fn a_drift_leaves_interleaved_points_equal_and_blocked_ones_not() {
    let (interleaved, sequential) = (drifted("interleaved"), drifted("sequential"));
    // Service times are constant, so a mean has no error.
    assert!((interleaved - 1.0).abs() < 0.005, "{interleaved}");
    assert!(sequential < 0.92, "{sequential}");
}

#[test]
fn a_killed_server_costs_a_trial_and_not_the_experiment() {
    let mut server = MARIADB.start();
    let home = Home::new();
    let target = format!("--target={}", url(&server));
    let base = ["run", "empty", &target, "--vary=server.innodb_io_capacity=300,400"];
    let more = ["--rate=20", "--duration=2s", "--ramp-up=0s", "--repeat=2", "--output=json"];
    let mut run = home.start(&[&base[..], &more].concat());
    let (store, sql) = (home.store(), "SELECT count(*) FROM run");
    run.wait_until("a second trial", |_| number_in(&store, sql) == Some(2));
    server.kill().expect("it is ours");
    run.wait_until("somebody notices", |said| said.contains("does not answer; waiting"));
    server.restart().expect("it comes back");
    let ran = run.end().good();
    let printed = ran.json();
    assert_eq!((number(&printed, "trials"), number(&printed, "trials_done")), (4.0, 4.0));
    let lost = |point: &str| number(&printed, &format!("points.{point}.runs_not_counted"));
    assert_eq!((lost("0"), lost("1")), (0.0, 1.0), "{printed:#}");
    home.run(&["experiments", "show", "last"]).good().says(&["2, 1 attempt not counted"]);
    home.run(&["restore"]).good().says(&["no setting"]);
}

#[test]
fn a_killed_managed_server_is_started_anew_for_the_next_trial() {
    let home = Home::new();
    let args = ["run", "oltp-point-select", "--target=managed:mariadb?innodb_buffer_pool_size=64M"];
    let more = ["--table-size=1000", "--vary=clients=1,2", "--duration=4s", "--ramp-up=0s"];
    let mut run = home.start(&[&args[..], &more, &["--rate=100", "--output=json"]].concat());
    let (store, sql) = (home.store(), "SELECT count(*) FROM second");
    run.wait_until("a first second", |_| number_in(&store, sql) >= Some(1));
    run.kill_children("mariadbd");
    let printed = run.end().good().warns(&["does not count"]).json();
    assert_eq!(number(&printed, "trials_done"), 2.0, "{printed:#}");
    assert_eq!(number(&printed, "points.0.runs_not_counted"), 1.0);
}

#[test]
fn each_trial_begins_from_a_copy_of_the_data() {
    let mariadb = "managed:mariadb?innodb_buffer_pool_size=64M&innodb_log_file_size=32M";
    for target in [mariadb, "managed:postgres?fsync=off&shared_buffers=64MB"] {
        let home = Home::new();
        let target = format!("--target={target}");
        // Inserted rows are removed before the next trial: each starts with the same number.
        let args = ["run", "oltp-insert", &target, "--table-size=1000"];
        let rows = "--wait-until=SELECT count(*) = 1000 FROM sbtest1";
        let more = ["--data=copy", "--vary=clients=1,2", rows, "--wait-at-most=0s"];
        let last = ["--rate=100", "--output=json"];
        let ran = home.run(&[&args[..], &more, &SHORT, &last].concat()).good();
        assert_eq!(number(&ran.json(), "trials_done"), 2.0);
        assert_eq!(ran.err.matches("built 1,000 rows").count(), 1, "{}", ran.err);
        assert!(!ran.err.contains("the condition was not met"), "{}", ran.err);
    }
    let home = Home::new();
    let args = ["run", "oltp-insert", "--data=copy", "--vary=clients=1,2"];
    home.run(&args).code(2).warns(&["dbdyno cannot stop and copy"]).is_a_sentence();
}

#[test]
fn a_condition_is_waited_for_and_reported() {
    let home = Home::new();
    let sqlite = |until: &str, more: &[&str]| {
        let until = format!("--wait-until={until}");
        let args = ["run", "oltp-point-select", "--table-size=100", "--rate=100", &until];
        home.run(&[&args[..], &SHORT, &["--output=json"], more].concat())
    };
    // True in the second half of each second.
    let now = "SELECT CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) >= 500";
    sqlite(now, &[]).good();
    let kept = home.json(&["runs", "show", "last", "--full"]);
    let output = at(&kept, "output").to_string();
    assert!(output.contains("until SELECT CAST"), "{output}");
    let never = sqlite("SELECT count(*) > 100 FROM sbtest1", &["--wait-at-most=300ms"]).good();
    never.warns(&["although the condition was not met", "returned 0"]);
    let kept = home.json(&["runs", "show", "last", "--full"]);
    let findings = at(&kept, "findings").to_string();
    assert!(findings.contains("condition_not_met"), "{findings}");
    sqlite("SELECT nonsense", &[]).code(2).warns(&["--wait-until: no such column: nonsense"]);
    let half = home.run(&["run", "empty", "--wait-at-most=3s"]).code(2);
    half.warns(&["it needs a query to wait for"]).is_a_sentence();
}

#[test]
fn commands_of_a_resumed_experiment_come_from_a_named_plan_alone() {
    let home = Home::new();
    let plan = |command: &str| {
        format!(
            "[target]\nurl = 'sqlite:shop.db'\n[phases]\nramp_up = '0s'\nmeasure = '1s'\n\
             [[group]]\nworkload = 'empty'\nload = 'open'\nrate = 50\n\
             [[at]]\ntime = '100ms'\ncommand = '{command}'\n\
             [experiment]\nrepeat = 3\nvary = {{ clients = [1, 2] }}\n"
        )
    };
    home.write("plan.toml", plan("echo mine"));
    home.write("other.toml", plan("echo others"));
    let mut run = home.start(&["run", "plan.toml"]);
    run.wait_until("a second trial", |said| said.contains("trial 2 of 6"));
    run.kill();
    run.end();
    let resume = ["experiments", "resume", "last"];
    let refused = "only a plan that is a file named on this machine's command line";
    home.run(&resume).code(2).warns(&[refused, "--plan FILE"]).is_a_sentence();
    let others = [&resume[..], &["--plan=other.toml"]].concat();
    home.run(&others).code(2).warns(&["this plan is not", "echo mine"]).is_a_sentence();
    let mine = [&resume[..], &["--plan=plan.toml"]].concat();
    assert_eq!(number(&home.json(&mine), "trials_done"), 6.0);
    home.run(&mine).good().warns(&["all trials have run: there is nothing to resume"]);
}

#[test]
fn a_value_that_a_managed_server_refuses_is_reported_before_the_first_trial() {
    let home = Home::new();
    let axis = "--vary=server.sql_mode=ANSI,NONSENSE,TRADITIONAL";
    let args = ["run", "empty", "--target=managed:mariadb", axis, "--duration=1s", "--ramp-up=0s"];
    let refused = home.run(&args).code(2);
    let words = "trying each server once before the first trial";
    refused.warns(&[words, "the server rejects a setting", "NONSENSE"]);
    for what in ["runs", "experiments"] {
        assert_eq!(home.json(&[what])[what].as_array().map(Vec::len), Some(0), "{what}");
    }
}

#[test]
fn what_remains_of_an_experiment_may_have_another_label() {
    let home = Home::new();
    home.run(&sim(&["--vary=clients=1,2", "--repeat=2", "--label=kernel=5.15", "--label=host=a"]))
        .good();
    let labels = || -> Vec<String> {
        let listed = home.json(&["runs", "list", "--sort=started"]);
        let runs = at(&listed, "runs").as_array().expect("a list").clone();
        let kernel = |run: &serde_json::Value| at(run, "labels.kernel").as_str().map(str::to_owned);
        runs.iter().map(|run| kernel(run).expect("each is labelled")).collect()
    };
    assert_eq!(labels(), ["5.15"; 4]);
    home.run(&["runs", "rm", "last"]).good();
    let resume = ["experiments", "resume", "last", "--label=kernel=6.1"];
    home.run(&resume).good();
    assert_eq!(labels(), ["5.15", "5.15", "5.15", "6.1"]);
    home.run(&["compare", "kernel=5.15", "kernel=6.1"]).good().says(&["clients=1"]);
    // A label with another key stays.
    let both = home.json(&["runs", "list", "--where=label.host=a"]);
    assert_eq!(at(&both, "runs").as_array().map(Vec::len), Some(4), "{both:#}");
    let twice = ["experiments", "resume", "last", "--label=k=1", "--label=k=2"];
    home.run(&twice).code(2).warns(&["'k' is '1' already"]);
}

#[test]
fn a_server_that_never_answered_is_reported_before_any_trial_whatever_the_placement() {
    let home = Home::new();
    let target = "--target=mariadb://root@127.0.0.1:1/none";
    let words = ["run", "oltp-read-only", target, "--duration=1s"];
    let once = home.run(&words);
    for more in [
        &["--repeat=3"][..],
        &["--repeat=3", "--placement=thread"],
        &["--vary=clients=1,2", "--placement=simulated"],
    ] {
        let ran = home.run(&[&words[..], more].concat());
        assert_eq!(ran.code, once.code, "{}", ran.err);
        assert!(!ran.err.contains("waiting for it"), "{}", ran.err);
        ran.warns(&["127.0.0.1:1"]);
    }
}

/// Checks that each trial starts its managed server. If some trials reused it, repeats would not be
/// independent.
#[test]
fn managed_servers_that_take_turns_have_a_start_of_their_own_for_each_trial() {
    let home = Home::new();
    let words = ["run", "oltp-point-select", "--vary=target=managed:postgres,managed:mariadb"];
    let small = ["--tables=1", "--table-size=100", "--repeat=2", "--clients=1", "--check=off"];
    let short = ["--duration=1s", "--ramp-up=0s", "--quiet"];
    home.run(&[&words[..], &small, &short].concat()).good();
    let listed = home.json(&["runs", "list"]);
    let runs = at(&listed, "runs").as_array().expect("a list");
    let folder = |run: &Value| {
        let report = home.json(&["runs", "show", at(run, "run_id").as_str().expect("an id")]);
        at(&report, "facts.managed.folder").as_str().expect("a folder").to_owned()
    };
    let mut folders: Vec<String> = runs.iter().map(folder).collect();
    folders.sort();
    folders.dedup();
    assert_eq!((runs.len(), folders.len()), (4, 4), "{folders:?}");
}
