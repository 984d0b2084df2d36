//! Experiments from the outside: points, repeats, resuming, and what they show.

use serde_json::Value;

use crate::home::{Home, at, number};

const SIM: &str = "--target=sim:?service=exponential:2ms&servers=4";

fn sim(more: &[&'static str]) -> Vec<&'static str> {
    let base = ["run", "empty", SIM, "--placement=simulated", "--duration=4s", "--ramp-up=0s"];
    [&base, more].concat()
}

#[test]
fn every_point_is_tried_as_often_as_asked_and_is_a_run_of_its_own() {
    let home = Home::new();
    let told = home.json(&sim(&["--vary=clients=1,2,4,8,16,32", "--repeat=3"]));
    assert_eq!((number(&told, "trials"), number(&told, "trials_done")), (18.0, 18.0));
    let points = at(&told, "points").as_array().expect("a list");
    assert_eq!(points.len(), 6);
    for point in points {
        assert_eq!(at(point, "runs").as_array().map(Vec::len), Some(3), "{point:#}");
        assert_eq!(number(point, "figures.tps.count"), 3.0);
    }
    // Four servers of 2 ms: one client gets 500 a second, and no number gets more than 2,000.
    assert!((number(&points[0], "figures.tps.mean") - 500.0).abs() < 25.0);
    assert!((number(&told, "curve.best") - 2000.0).abs() < 100.0, "{:#}", at(&told, "curve"));
    assert!(number(&told, "scalability.residual") > 0.0);
    let runs = home.json(&["runs", "list", "--limit=0"]);
    assert_eq!(at(&runs, "runs").as_array().map(Vec::len), Some(18));
    let id = at(&told, "id").as_str().expect("a text").to_owned();
    let shown = home.json(&["experiments", "show", &id]);
    assert_eq!(at(&shown, "points"), at(&told, "points"));
    home.run(&["experiments", "show", "last"]).good().says(&["most TPS at clients=", "peak"]);
    home.run(&["experiments"]).good().says(&["clients=1,2,4,8,16,32", "18 of 18"]);
}

#[test]
fn two_axes_are_all_their_combinations() {
    let home = Home::new();
    let told = home.json(&sim(&["--vary=clients=2,4", "--vary=rate=100,200,300"]));
    let points = at(&told, "points").as_array().expect("a list");
    let values: Vec<String> = points
        .iter()
        .map(|point| format!("{}/{}", at(point, "values.clients"), at(point, "values.rate")))
        .map(|pair| pair.replace('"', ""))
        .collect();
    assert_eq!(values, ["2/100", "2/200", "2/300", "4/100", "4/200", "4/300"]);
    assert_eq!(at(&told, "curve"), &Value::Null);
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
    killed.kill();
    home.run(&["experiments", "list"]).good().says(&["1 of 4"]);
    let told = home.json(&["experiments", "resume", "last"]);
    assert_eq!((number(&told, "trials"), number(&told, "trials_done")), (4.0, 4.0));
    // Nothing is left to be done, and nothing is done again.
    let again = home.json(&["experiments", "resume", "last"]);
    assert_eq!(at(&again, "points"), at(&told, "points"));
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
    let ran = ran.says(&["server.innodb_flush_log_at_trx_commit", "most TPS at"]);
    // The data were built once.
    assert_eq!(ran.err.matches("built 1,000 rows").count(), 1, "{}", ran.err);
}

#[test]
fn what_shapes_the_data_is_varied_with_new_data() {
    let home = Home::new();
    let args = ["run", "oltp-point-select", "--vary=table-size=100,200", "--duration=1s"];
    let keeps = home.run(&args).code(2);
    keeps.warns(&["shapes the data", "--data rebuild"]).is_a_sentence();
    let told = home.json(&[&args[..], &["--ramp-up=0s", "--data=rebuild", "--repeat=2"]].concat());
    assert_eq!(number(&told, "trials_done"), 4.0, "{told:#}");
}

#[test]
fn a_mistake_in_an_experiment_is_told_before_the_first_run() {
    let home = Home::new();
    let check = |more: &[&'static str], words: &str| {
        home.run(&sim(more)).code(2).warns(&[words]).is_a_sentence();
    };
    check(&["--vary=clints=1,2"], "nothing called 'clints' to vary (did you mean 'clients'?)");
    check(&["--vary=clients="], "no values");
    check(&["--vary=clients"], "is not an axis");
    check(&["--vary=clients=1,1"], "twice");
    check(&["--vary=clients=1,none"], "none");
    check(&["--vary=clients=1,2", "--no-store"], "are kept");
    check(&["--vary=server.x=1,2"], "managed");
    check(&["--vary=group.others.clients=1"], "no group is called 'others'");
    let plan = home.write(
        "bad.toml",
        "[[group]]\nworkload = 'empty'\n[experiment]\nvary = { clients = [1, 0] }\n",
    );
    home.run(&["run", &plan]).code(2).warns(&["bad.toml:4:"]).is_a_sentence();
}
