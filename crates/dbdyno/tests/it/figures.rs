//! Tests of figures by name: compared, limited, in histories, required, listed.

use crate::home::{Home, at, number};
use crate::http::Web;

const FAST: &str = "sim:?service=exponential:2ms&servers=4";
const SLOW: &str = "sim:?service=exponential:3ms&servers=4";

fn experiment(home: &Home) -> String {
    let targets = format!("--vary=target={FAST},{SLOW}");
    let printed = home.json(&[
        "run",
        "empty",
        &targets,
        "--repeat=5",
        "--placement=simulated",
        "--duration=2s",
        "--ramp-up=0s",
        "--clients=8",
    ]);
    at(&printed, "id").as_str().expect("a text").to_owned()
}

#[test]
fn any_figure_is_compared_gated_and_shown_over_an_axis() {
    let home = Home::new();
    let id = experiment(&home);
    let printed = home.json(&["compare", &id, "--by=target", "--figure=reads"]);
    assert_eq!(at(&printed, "primary"), "reads");
    let judged = &at(&printed, "pairs.0.points.0.primary");
    assert_eq!(at(judged, "verdict"), "worse");
    assert!((number(judged, "ratio.value") - 2.0 / 3.0).abs() < 0.05, "{judged:#}");
    let gate = |limit: &str| home.run(&["compare", &id, "--by=target", "--fail-if", limit]);
    gate("reads<-5%").code(1).says(&["FAILED reads<-5%"]);
    gate("round_trips_per_transaction>+5%")
        .good()
        .says(&["within the limit round_trips_per_transaction"]);
    gate("p99/p50>+500%").good().says(&["within the limit p99/p50>+500%"]);
    gate("speed<-5%").code(2).warns(&["speed<-5%: there is no figure 'speed'"]);
    let page = home.run(&["experiments", "show", &id, "--figure=service_p99"]).good();
    page.says(&["service_p99 ms", "worse"]);
    let no = home.run(&["experiments", "show", &id, "--figure=raeds"]).code(2);
    no.warns(&[
        "no run here has the figure raeds (did you mean 'reads'?)",
        "runs show RUN --figures",
    ]);
}

#[test]
fn a_requirement_that_does_not_hold_ends_with_exit_code_1() {
    let home = Home::new();
    let run = |limits: &[&str]| {
        let words = ["run", "empty", "--target", FAST, "--placement=simulated", "--duration=20s"];
        let limits: Vec<String> = limits.iter().map(|limit| format!("--require={limit}")).collect();
        let limits: Vec<&str> = limits.iter().map(String::as_str).collect();
        home.run(&[&words[..], &["--ramp-up=0s", "--clients=8"], &limits].concat())
    };
    run(&["tps>100", "p99<1s"]).good().says(&["passed tps>100: ", "95 % CI "]);
    // Common spellings of rates and quotients.
    run(&["rate>1000/min", "p99/p50>1", "p99 / p50>1", "unfinished<=8"]).good();
    run(&["p75<1s"]).code(2).warns(&["no figure p75: a run keeps p50, p90, p95, p99 and p999"]);
    run(&["p99/bogus>1"]).code(2).warns(&["a run of this plan has no figure p99/bogus"]);
    run(&["tps>100", "p99<1ms"]).code(1).says(&["FAILED p99<1ms: "]);
    for limit in ["bogus.bogus>1", "build.rows>1", "nopm>1", "new_order.p99<1s"] {
        let (figure, _) = limit.split_once(['<', '>']).expect("a limit");
        run(&[limit]).code(2).warns(&[&format!("a run of this plan has no figure {figure}")]);
    }
    run(&["tps>5rows/s"]).code(2).warns(&["--require: tps>5rows/s: tps does not count rows"]);
    run(&["p99>5%"]).code(2).warns(&[
        "p99_ms is not in percent, and a limit on one run needs a value, such as p99<300ms",
    ]);
    run(&["empty.p99>2k/s"]).code(2).warns(&["empty.p99_ms is not a rate: its unit is ms"]);
    run(&["tps>2min"]).code(2).warns(&["tps is not a time, but its bound is"]);
    run(&["below(5ms)>5ms"]).code(2).warns(&["is not a time, but its bound is"]);
    run(&["db1/server.disk_written>=0B/s"]).code(1).says(&["no run here has the figure db1/"]);
    run(&["tps>fast"])
        .code(2)
        .warns(&["--require: 'tps>fast' is not a limit: its bound is not a number"]);
    let printed = home.json(&["runs", "show", "last", "--require=reads>60/min"]);
    assert_eq!(at(&printed, "required.results.0.figure"), "reads");
    assert_eq!(at(&printed, "required.results.0.holds"), "surely");
}

#[test]
fn the_outcome_of_a_limit_is_kept_with_its_run_or_experiment() {
    let home = Home::new();
    let words = ["run", "empty", "--target", FAST, "--placement=simulated", "--duration=20s"];
    let limits = ["--ramp-up=0s", "--require=tps>100", "--require=p99<1ms"];
    home.run(&[&words[..], &limits].concat()).code(1);
    for show in [&["runs", "show", "last"][..], &["runs", "show", "last", "--full"]] {
        home.run(show).good().says(&["passed tps>100: ", "FAILED p99<1ms: "]);
    }
    let kept = home.json(&["runs", "show", "last"]);
    let limit = |n: usize| &kept["limits"][n];
    assert_eq!(at(limit(0), "option"), "require");
    assert_eq!(at(limit(0), "outcome"), "passed");
    assert_eq!(at(limit(1), "outcome"), "failed");
    let run = at(&kept, "run_id").as_str().expect("an id");
    let page = Web::start(&home, &[]).page(&format!("/runs/{run}"));
    assert!(page.contains("FAILED p99&#60;1ms: "), "{page}");
    // An experiment keeps the limits on its points and those on changes between its sides.
    let varied = ["--vary=clients=4,8", "--repeat=6", "--require=tps>100"];
    home.run(&[&words[..], &varied].concat()).good();
    home.run(&["compare", "last", "--fail-if=p99>+5%"]).code(1);
    let shown = home.run(&["experiments", "show", "last"]).good();
    shown.says(&["clients=4: passed tps>100: ", "FAILED p99>+5%: "]);
    let file = home.path("all.dbdyno");
    let file = file.to_str().expect("a name");
    let id = home.json(&["experiments", "show", "last"])["id"].as_str().expect("an id").to_owned();
    home.run(&["runs", "export", &id, "-o", file]).good();
    let other = Home::new();
    other.run(&["runs", "import", file]).good();
    other
        .run(&["experiments", "show", "last"])
        .good()
        .says(&["passed tps>100: ", "FAILED p99>+5%: "]);
}

#[test]
fn a_limit_is_held_whatever_part_of_a_run_is_shown_and_fails_on_a_run_that_does_not_count() {
    let home = Home::new();
    let words = ["run", "empty", "--target", FAST, "--placement=simulated", "--duration=20s"];
    home.run(&[&words[..], &["--ramp-up=0s", "--clients=8", "--quiet"]].concat()).good();
    let show = |more: &[&str]| home.run(&[&["runs", "show", "last"], more].concat());
    for part in ["--figures", "--timing", "--counter", "--settings", "--section=latency"] {
        show(&[part, "--require=tps>1"]).good().says(&["passed tps>1: "]);
        show(&[part, "--require=p99<1us"]).code(1).says(&["FAILED p99<1us: "]);
    }
    show(&["--plan", "--require=tps>1"]).code(2).warns(&["cannot be used with"]);
    // JSON and CSV are for programs; the reason of a failed job goes to stderr.
    for output in [&["--output=json"][..], &["--output=csv", "--figures"]] {
        let with = |limit| show(&[output, &[limit]].concat());
        with("--require=p99<1us").code(1).warns(&["FAILED p99<1us: "]);
        let passed = with("--require=tps>1").good();
        assert!(!passed.err.contains("passed"), "{}", passed.err);
    }
    let page = show(&["--output=markdown", "--require=p99<1us"]).code(1);
    assert!(page.out.starts_with("**FAILED p99"), "{}", page.out);
    // An interrupted run fails although its figures are within the limit.
    let store = rusqlite::Connection::open(home.store()).expect("a store");
    let sql = "UPDATE run SET report = json_set(report, '$.status', 'interrupted')";
    assert_eq!(store.execute(sql, ()).expect("it is written"), 1);
    for more in ["--figures", "--full"] {
        let shown = show(&[more, "--require=tps>1"]).code(1);
        shown.says(&["passed tps>1: ", "FAILED: the run does not count: "]);
    }
}

#[test]
fn too_few_samples_leave_a_requirement_undecided() {
    let home = Home::new();
    let words = ["run", "empty", "--target=sim:?service=constant:200ms", "--placement=simulated"];
    let more = ["--clients=1", "--duration=3s", "--ramp-up=0s", "--require=empty.p99<1s"];
    let run = [&words[..], &more].concat();
    home.run(&run).code(3).says(&[
        "undecided empty.p99<1s: –",
        "too few samples",
        "Exit code 3: an undecided limit fails: run more often",
    ]);
    let passed = home.run(&[&run[..], &["--undecided=pass"]].concat()).good();
    passed.says(&["undecided empty.p99<1s: –"]);
    let show = ["runs", "show", "last", "--require=p999<1s"];
    home.run(&show).code(3).says(&["too few samples"]);
    home.run(&[&show[..], &["--undecided=pass"]].concat()).good();
    let json = home.run(&[&show[..], &["--output=json"]].concat()).code(3);
    assert_eq!(at(&json.json(), "required.results.0.holds"), "undecided");
    let github = home.run(&[&run[..], &["--output=github"]].concat()).code(3);
    github.says(&["::error title=dbdyno Limit::undecided empty.p99<1s"]);
    let points = [&words[..], &more[1..], &["--vary=clients=1,2"]].concat();
    let said = ["clients=1: undecided empty.p99<1s: – (too few samples"];
    home.run(&points).code(3).says(&said);
    home.run(&[&points[..], &["--undecided=pass"]].concat()).good().says(&said);
    let alone = home.run(&["runs", "show", "last", "--undecided=pass"]).code(2);
    alone.warns(&["--require"]).is_a_sentence();
}

#[test]
fn rates_that_a_workload_is_known_by_have_a_unit_everywhere() {
    let home = Home::new();
    let words = ["run", "events", "--target=sim:?service=constant:500us", "--placement=simulated"];
    let more = ["--writers=1", "--readers=0", "--rate=1MB/s", "--duration=20s", "--ramp-up=0s"];
    let ids = ["1", "2"].map(|build| {
        let label = format!("--label=build={build}");
        let printed = home.run(&[&words[..], &more, &["--output=json", &label]].concat()).json();
        at(&printed, "run_id").as_str().expect("a text").to_owned()
    });
    let show = |limit: &str| home.run(&["runs", "show", "last", &format!("--require={limit}")]);
    for limit in ["mb_per_s>0.5MB/s", "records_per_s>500 records/s", "records_per_s>0.03M/min"] {
        show(limit).good();
    }
    show("records>0.5k records/s").good().says(&["records/s"]);
    show("mb_per_s>2MB/s").code(1).says(&["FAILED mb_per_s>2MB/s: ", " MB/s"]);
    show("mb_per_s<5 records/s").code(2).warns(&["does not count records: its unit is MB/s"]);
    home.run(&["runs", "show", "last", "--figures"]).good().says(&["mb_per_s", "MB/s"]);
    let compared = home.run(&["compare", &ids[0], &ids[1], "--figure=mb_per_s"]).good();
    compared.says(&["mb_per_s (MB/s)"]);
    home.run(&["history", "--by=build", "--figure=mb_per_s"]).says(&["mb_per_s (MB/s)"]);
    let no = home.run(&["report", "last", "--figure=reads", "-o", "-"]).code(2);
    no.warns(&["--figure is for experiments, comparisons and histories"]);
}

#[test]
fn short_forms_are_understood_in_limits_and_conditions() {
    let home = Home::new();
    for build in ["--label=build=1", "--label=build=2"] {
        let words = ["run", "events", "--rate=100kB/s", "--duration=2s", "--ramp-up=0s"];
        home.run(&[&words[..], &["--readers=2", "--read-interval=25ms", build]].concat());
    }
    for form in
        ["age_p90", "age.p90", "duplicates", "records", "age.below(50ms)", "readers.age_p90"]
    {
        let limit = format!("--fail-if={form}>+900000%");
        home.run(&["compare", "build=1", "build=2", &limit, "--undecided=pass"]).good();
        let condition = format!("--where={form}>=0");
        let printed = home.json(&["runs", "list", &condition]);
        assert_eq!(at(&printed, "runs").as_array().map(Vec::len), Some(2), "{form}");
    }
    let listed = |words: &[&str]| home.run(&[&["runs", "list"], words].concat());
    for quotient in ["records.mean/records.mean=1", "age.p90 / age.p50>=1 and tps>0"] {
        let printed = home.json(&["runs", "list", &format!("--where={quotient}")]);
        assert_eq!(at(&printed, "runs").as_array().map(Vec::len), Some(2), "{quotient}");
    }
    // A misspelt figure is an error, unlike one that no run reaches.
    listed(&["--where=new_order.p99<10ms"]).good();
    let meant = "no run has the figure 'new_ordr.p99' (did you mean 'new_order.p99'?)";
    listed(&["--where=new_ordr.p99<10ms"]).code(2).warns(&[meant]);
    listed(&["--sort=-new_ordr.p99"]).code(2).warns(&[meant]);
    let compared = home.json(&["compare", "build=1", "build=2", "--figure=duplicates"]);
    assert_eq!(at(&compared, "primary"), "readers.duplicates.per_second");
    let bad = |condition: &str, why: &str| {
        home.run(&["runs", "list", &format!("--where={condition}")]).code(2).warns(&[why]);
    };
    bad("qps>1MB/s", "'1MB/s': qps does not count B: its unit is 1/s");
    bad("reads>1000MB/s", "does not count B");
    bad("new_order.p99>5%", "does not count %: its unit is ms");
    bad("stalls<5ms", "is not a time");
    bad("duplicates>5ms", "is not a time");
    bad("age_p90>5/s", "is not a rate: its unit is ms");
    bad("duplicate>1", "there is no column 'duplicate'");
}

#[test]
fn a_requirement_is_held_at_each_point_of_an_experiment() {
    let home = Home::new();
    let id = experiment(&home);
    let show = |limit: &str| home.run(&["experiments", "show", &id, "--require", limit]);
    show("tps>10").good().says(&["servers=4: passed tps>10: "]);
    show("mean<1us").code(1).says(&["FAILED mean<1us: "]);
}

#[test]
fn runs_are_found_and_sorted_by_any_figure() {
    let home = Home::new();
    experiment(&home);
    let targets = |words: &[&str]| -> Vec<String> {
        let printed = home.json(&[&["runs", "list"], words].concat());
        let all = at(&printed, "runs").as_array().expect("a list").clone();
        all.iter().map(|run| at(run, "target").as_str().expect("a text").to_owned()).collect()
    };
    // Four servers of 2 ms are 2,000 per second, of 3 ms 1,333.
    assert_eq!(targets(&["--where=reads>1600"]), [FAST; 5]);
    assert_eq!(targets(&["--where=reads<96k/min"]), [SLOW; 5]);
    assert_eq!(targets(&["--where=empty.mean<5ms and reads>1"]), [FAST; 5]);
    assert!(targets(&["--where=machine.no_such>1"]).is_empty());
    assert_eq!(targets(&["--sort=-service_mean_ms"])[..5], [SLOW; 5]);
    let bad = home.run(&["runs", "list", "--where=reads>many"]).code(2);
    bad.warns(&["--where: at character 7: 'many': its bound is not a number"]);
}

#[test]
fn any_figure_is_drawn_over_an_axis_on_a_page_and_in_the_web() {
    let home = Home::new();
    let id = experiment(&home);
    let chart = |figure: &str| {
        let figure = format!("--figure={figure}");
        home.run(&["report", &id, &figure, "--chart=curves-target-reads", "-o", "-"])
    };
    chart("reads").good().says(&["<svg", "reads", "1/s"]);
    chart("tps").code(2).warns(&["did you mean curves-target-tps"]);
    let web = Web::start(&home, &[]);
    let open = |query: &str| web.get(&format!("/experiments/{id}{query}"));
    let page = open("?figure=reads");
    let list = "<input name=\"figure\" value=\"reads\" list=\"figures\"";
    for part in [list, "charts/curves-target-reads?figure=reads", "empty.p99"] {
        assert!(page.body.contains(part), "no {part} in {}", page.body);
    }
    let no = open("?figure=raeds");
    assert!(no.status == 400 && no.body.contains("did you mean"), "{}", no.body);
    let compared = web.get(&format!("/compare?side={id}&by=target&figure=empty.p99"));
    assert!(compared.body.contains("empty.p99 ms"), "{}", compared.body);
}

#[test]
fn a_figure_over_two_axes_is_a_table_with_the_best_of_each_line() {
    let home = Home::new();
    let targets = format!("--vary=target={FAST},{SLOW}");
    let words = ["run", "empty", &targets, "--vary=clients=1,2,4,8,16", "--repeat=5"];
    let rest = ["--placement=simulated", "--duration=10s", "--ramp-up=0s"];
    let printed = home.json(&[&words[..], &rest].concat());
    let id = at(&printed, "id").as_str().expect("a text").to_owned();
    let show = ["experiments", "show", &id, "--rows=clients", "--figure=reads"];
    let printed = home.json(&[&show[..], &["--columns=target"]].concat());
    assert_eq!(at(&printed, "schema"), "dbdyno.matrix/1");
    assert_eq!(at(&printed, "figure"), "reads");
    for line in at(&printed, "tables.0.lines").as_array().expect("a list") {
        // Four servers: four clients reach as much as more, and two do not.
        assert_eq!(at(line, "smallest"), 2, "{printed:#}");
    }
    let page = home.run(&show).good();
    page.says(&[
        "reads (1/s) over clients and target",
        " *",
        "best at clients 4; no smaller value",
    ]);
    let written = |how: &str| home.run(&[&show[..], &[how]].concat()).good().out;
    let csv = written("--output=csv");
    let (titles, rows) = csv.split_once('\n').expect("titles");
    assert_eq!(titles, format!("figure,clients,{FAST},{SLOW}"), "{csv}");
    assert_eq!(rows.lines().count(), 5, "{csv}");
    for row in rows.lines() {
        let n_numbers = row.split(',').filter(|cell| cell.parse::<f64>().is_ok()).count();
        assert_eq!((n_numbers, row.contains('*')), (3, false), "{csv}");
    }
    let markdown = written("--output=markdown");
    let begin = "**reads (1/s) over clients and target**\n\n| clients \\\\ target |";
    assert!(markdown.starts_with(begin), "{markdown}");
    assert_eq!(markdown.lines().filter(|line| line.starts_with("| ")).count(), 7, "{markdown}");
    let relative = [&show[..], &["--relative-to=1"]].concat();
    let printed = home.json(&relative);
    assert_eq!(at(&printed, "relative_to.value"), "1");
    let four = &at(&printed, "tables.0.ratios.2.0");
    // Four servers: four clients do four times as much, and each repeat has its own seed.
    assert!((number(four, "value") - 4.0).abs() < 0.05, "{four:#}");
    let [low, high] = ["interval.0", "interval.1"].map(|end| number(four, end));
    assert!(3.9 < low && low <= high && high < 4.1, "{four:#}");
    let page = home.run(&relative).good();
    page.says(&["reads (1/s) over clients and target, relative to clients 1", "clients 1: mean"]);
    let page = ["report", &id, "--rows=clients", "--relative-to=1", "--figure=reads", "-o", "-"];
    home.run(&page).good().says(&["relative to clients 1", "<h1"]);
    home.run(&[&show[..], &["--relative-to=3"]].concat()).code(2).warns(&[
        "--relative-to 3 is not a value of rows or columns: choose one of target",
        "or clients (1, 2, 4, 8, 16)",
    ]);
    let no = home.run(&["experiments", "show", &id, "--relative-to=1"]).code(2);
    no.warns(&["--relative-to: name the --rows too"]);
    home.run(&["experiments", "show", &id, "--rows=threads"])
        .code(2)
        .warns(&["threads is not varied here: choose one of target, clients"]);
    let no = home.run(&["experiments", "show", &id, "--columns=target"]).code(2);
    no.warns(&["--columns: name the --rows too"]);
}

#[test]
fn figures_are_listed_in_general_and_of_a_run() {
    let home = Home::new();
    experiment(&home);
    home.run(&["list", "figures"]).good().says(&["tps ", "TYPE.p50_ms", "higher", "lower"]);
    let csv = home.run(&["runs", "show", "last", "--figures", "--output=csv"]).good();
    csv.says(&["figure,value,half_width,unit,better", "reads,", "empty.p99_ms,"]);
    let all = home.json(&["list", "figures"]);
    assert!(all.as_array().is_some_and(|all| all.len() > 30), "{all:#}");
}

#[test]
fn a_share_below_a_bound_is_compared_gated_required_and_found_by_its_bound() {
    let home = Home::new();
    let id = experiment(&home);
    // Eight clients on four servers: with a service time of 2 ms more are below 5 ms than with 3
    // ms.
    let printed = home.json(&["compare", &id, "--by=target", "--figure=below(5ms)"]);
    assert_eq!(at(&printed, "primary"), "below_5ms");
    let judged = &at(&printed, "pairs.0.points.0.primary");
    assert_eq!(at(judged, "verdict"), "worse");
    let (two, three) = (number(judged, "baseline.mean"), number(judged, "side.mean"));
    assert!(70.0 < two && two < 79.0 && 41.0 < three && three < 51.0, "{two} {three}");
    let gate = |limit: &str| home.run(&["compare", &id, "--by=target", "--fail-if", limit]);
    gate("below(0.005s)<-5%").code(1).says(&["FAILED below(0.005s)<-5%"]);
    gate("below(125us)<-5%").code(2).warns(&["bounds of two digits, such as 120us and 130us"]);
    let show = |limit: &str| home.run(&["experiments", "show", &id, "--require", limit]);
    show("below(1s)>99%").good().says(&["servers=4: passed below(1s)>99%: 100.0 %"]);
    show("empty.below(5ms)>99%").code(1).says(&["FAILED "]);
    let points = home.json(&["experiments", "show", &id, "--figure=empty.below_5ms"]);
    assert!(number(&at(&points, "points.0.figures")["empty.below_5ms"], "mean") > 70.0);
    let targets = |condition: &str| -> Vec<String> {
        let printed = home.json(&["runs", "list", "--where", condition, "--sort=-below(5ms)"]);
        let all = at(&printed, "runs").as_array().expect("a list").clone();
        all.iter().map(|run| at(run, "target").as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(targets("below(5ms)>60% and not(below(5ms)>99%)"), [FAST; 5]);
    assert_eq!(targets("empty.below_5ms<60"), [SLOW; 5]);
    assert_eq!(targets("below(5ms)>0")[..5], [FAST; 5]);
    let bad = home.run(&["runs", "list", "--where=below(5)>1"]).code(2);
    bad.warns(&["at character 1: 'below(5)'", "needs a unit, such as below(20ms)"]);
    let chart = home.run(&[
        "report",
        &id,
        "--figure=below(5ms)",
        "--chart=curves-target-below-5ms",
        "-o",
        "-",
    ]);
    chart.good().says(&["<svg", "below 5ms", "%"]);
    let limit = ["runs", "show", "last", "--require=below(5ms)>10%"];
    home.run(&limit).code(3).says(&[
        "undecided below(5ms)>10%: ",
        " is within it, but a pass needs its CI: it takes a run of at least 20 s (this one: ",
    ]);
    let shown = || home.json(&[&limit[..], &["--undecided=pass"]].concat());
    let (two_seconds, short) = (shown(), "it takes a run of at least 20 s (this one: ");
    let result = at(&two_seconds, "required.results.0");
    assert_eq!((at(result, "holds"), at(result, "unit")), (&"undecided".into(), &"%".into()));
    assert!(at(result, "reason").as_str().is_some_and(|why| why.contains(short)), "{result:#}");
    let words = ["run", "empty", "--target", SLOW, "--placement=simulated", "--duration=20s"];
    home.run(&[&words[..], &["--ramp-up=0s", "--clients=8"]].concat()).good();
    let longer = shown();
    let result = at(&longer, "required.results.0");
    assert_eq!(at(result, "holds"), "surely");
    let (low, high) = (number(result, "interval.0"), number(result, "interval.1"));
    let share = number(result, "value");
    assert!(low < share && share < high && high - low < 20.0, "{low} {share} {high}");
    let csv = home.run(&["runs", "show", "last", "--figures", "--output=csv"]).good();
    csv.says(&["below_5ms,", ",%,higher,"]);
}
