//! Tests of added workloads, as a user runs them. Custom metrics and figures computed over a run
//! are figures like all others, and parameters are flags and can be varied.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

const SIM: &str = "--target=sim:?service=exponential:1ms&servers=4";

/// Temporary home folder of a user who runs the program with the added workloads.
struct Home(TempDir);

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().expect("temporary folders can be made"))
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_made_up"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.folder());
        command.env("XDG_DATA_HOME", self.folder().join("data")).current_dir(self.folder());
        let ran = command.args(args).output().expect("the program is there");
        let [out, err] = [ran.stdout, ran.stderr].map(String::from_utf8);
        let text = |bytes: Result<String, _>| bytes.expect("it writes UTF-8");
        Ran { code: ran.status.code(), out: text(out), err: text(err) }
    }

    /// Runs the workload `postings` in virtual time, with further arguments.
    fn load(&self, words: &[&str]) -> Ran {
        let all = ["run", "postings", SIM, "--placement=simulated", "--duration=20s"];
        self.run(&[&all[..], &["--ramp-up=0s"], words].concat())
    }

    fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--output=json"]].concat()).ends(0).json()
    }

    /// Runs an experiment that varies `axis` with five repeats, and returns the experiment's id.
    fn experiment(&self, axis: &str, words: &[&str]) -> String {
        let words = [&["--vary", axis, "--repeat=5", "--output=json"], words].concat();
        let shown = self.load(&words).ends(0).json();
        shown["id"].as_str().expect("a text").to_owned()
    }
}

impl Ran {
    #[track_caller]
    fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn says(self, fragments: &[&str]) -> Ran {
        for fragment in fragments {
            assert!(self.out.contains(fragment), "no '{fragment}' in:\n{}", self.out);
        }
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|bad| panic!("{bad}:\n{}", self.out))
    }
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn its_parameters_are_flags_with_help_and_limits() {
    let home = Home::new();
    home.run(&["list", "workloads"]).ends(0).says(&["tpcc ", "postings ", "made-up ledger"]);
    let help = home.run(&["run", "postings", "--help"]).ends(0);
    help.says(&["--accounts", "--lines", "Postings of a transaction", "[default: 3]"]);
    home.run(&["list", "parameters"]).ends(0).says(&["Workload postings", "--accounts"]);
    let no = home.load(&["--lines=0"]).ends(2).err;
    assert!(no.contains("lines"), "{no}");
}

#[test]
fn its_metric_is_charted_over_clients_and_required_at_each_point() {
    let home = Home::new();
    let id = home.experiment("clients=1,2,4,8", &[]);
    let shown = home.json(&["experiments", "show", &id, "--figure=posted"]);
    assert_eq!(shown["primary"], "posted.per_second");
    let curve = &shown["curve"];
    assert_eq!(curve["figure"], "posted.per_second");
    // Four servers: four clients are four times as fast as one.
    let gain = number(&curve["last"]) / number(&curve["first"]);
    assert!((3.5..4.5).contains(&gain), "{curve:#}");
    let chart = |file: &str| {
        let words = ["report", &id, "--figure=posted", "--chart=curves-clients-posted-per-second"];
        home.run(&[&words[..], &["-o", file]].concat()).ends(0)
    };
    chart("-").says(&["<svg", "posted per second", "rows/s"]);
    chart("posted.csv");
    let table = std::fs::read_to_string(home.folder().join("posted.csv")).expect("written");
    assert_eq!(table.lines().count(), 5, "{table}");
    let show = |limit: &str| home.run(&["experiments", "show", &id, "--require", limit]);
    show("posted>1/s").ends(0).says(&["clients=8: passed posted>1/s: "]);
    show("posted>1000/s").ends(1).says(&["clients=1: FAILED posted>1000/s"]);
}

#[test]
fn its_metric_is_compared_over_its_parameter_and_gated() {
    let home = Home::new();
    let id = home.experiment("lines=2,4", &["--clients=8"]);
    let shown = home.json(&["compare", &id, "--by=lines", "--figure=posted"]);
    assert_eq!(shown["primary"], "posted.per_second");
    let judged = &shown["pairs"][0]["points"][0]["primary"];
    assert_eq!(judged["verdict"], "better", "{shown:#}");
    // Begin and commit weigh less beside four postings.
    assert!((1.0..1.5).contains(&number(&judged["ratio"]["value"])), "{judged:#}");
    let gate = |limit: &str| home.run(&["compare", &id, "--by=lines", "--fail-if", limit]);
    gate("posted<-5%").ends(0).says(&["within the limit posted<-5%"]);
    gate("posted>+1%").ends(1).says(&["FAILED posted>+1%"]);
}

#[test]
fn its_metric_has_a_history() {
    let home = Home::new();
    for (seed, build) in ["1.0", "1.1", "1.2", "1.3", "1.4"].into_iter().enumerate() {
        let (seed, label) = (format!("--seed={seed}"), format!("--label=build={build}"));
        home.load(&["--clients=8", &seed, &label]).ends(0);
    }
    let shown = home.json(&["history", "--figure=posted"]);
    assert_eq!(shown["figure"], "posted.per_second");
    assert_eq!(shown["points"][0]["builds"].as_array().map(Vec::len), Some(5), "{shown:#}");
    home.run(&["history", "--figure=posted", "--output=csv"])
        .ends(0)
        .says(&[",1.4,1,posted.per_second,"]);
}

#[test]
fn its_metric_is_exported_with_its_unit() {
    let home = Home::new();
    home.load(&["--clients=8"]).ends(0).says(&["posted", "rows"]);
    let csv = home.run(&["runs", "show", "last", "--figures", "--output=csv"]).ends(0);
    csv.says(&["\nposted.per_second,", ",rows/s,higher,", "\nposted.p99,3,"]);
    home.run(&["runs", "export", "last", "-o", "run.json"]).ends(0);
    let text = std::fs::read_to_string(home.folder().join("run.json")).expect("written");
    assert!(text.contains("\"posted\"") && text.contains("\"rows\""), "{text}");
}

#[test]
fn its_data_are_built_run_and_checked_on_sqlite() {
    let home = Home::new();
    let words = ["run", "postings", "--accounts=50", "--lines=2", "--clients=2", "--ramp-up=0s"];
    let words = [&words[..], &["--transactions=200", "--require=posted>1/s"]].concat();
    // So short a run is found invalid, which is exit code 1.
    let report = home.run(&[&words[..], &["--output=json"]].concat()).ends(1).json();
    assert_eq!(report["required"]["results"][0]["figure"], "posted.per_second");
    let [posts, reads] = ["post", "read"].map(|kind| &report["transactions"][kind]["finished"]);
    assert_eq!(number(posts) + number(reads), 200.0);
    assert!(number(reads) > 0.0);
    let posted = &report["custom_metrics"]["posted"];
    assert_eq!(number(&posted["sum"]), 2.0 * number(posts));
    assert_eq!(posted["unit"], "rows");
    home.run(&["check", "postings"]).ends(0).says(&["balance"]);
    let other = home.run(&["run", "postings", "--accounts=60", "--transactions=1"]).ends(2).err;
    assert!(other.contains("accounts"), "{other}");
}

#[test]
fn a_figure_that_is_computed_over_a_run_is_one_like_all_others() {
    const NAME: &str = "mean_question_ms";
    let home = Home::new();
    let run = |service: &str, words: &[&str]| {
        let target = format!("--target=sim:?service=constant:{service}&servers=4");
        let all = ["run", "questions", &target, "--placement=simulated", "--duration=20s"];
        home.run(&[&all[..], &["--ramp-up=0s", "--clients=2"], words].concat())
    };
    let report = run("1ms", &["--output=json"]).ends(0).json();
    // One statement takes 1 ms, three take 3 ms.
    let value = number(&report["primary_metrics"][NAME]["value"]);
    assert!((value - 3.0_f64.sqrt()).abs() < 1e-6, "{value}");
    assert_eq!(report["primary_metrics"][NAME]["half_width"], Value::Null);
    run("1ms", &[]).ends(0).says(&["1.732 ms a question"]);
    home.run(&["runs", "list"]).ends(0).says(&["ms a question"]);
    let listed = home.json(&["runs", "list", "--where", "primary<2"]);
    assert_eq!(number(&listed["runs"][0]["primary"]["value"]), value);
    home.run(&["runs", "list", "--where=mean_question_ms<1.7"]).ends(0).says(&["no runs"]);
    // A time is better lower, and what is stored says the same as what was measured.
    let shown = home.json(&["runs", "show", "last"]);
    assert_eq!(shown["primary_metrics"], report["primary_metrics"]);
    let csv = home.run(&["runs", "show", "last", "--figures", "--output=csv"]).ends(0);
    csv.says(&["mean_question_ms,1.732", ",lower,"]);
    run("1ms", &["--require=mean_question_ms<2"]).ends(0).says(&["passed"]);
    run("1ms", &["--require=mean_question_ms<1"]).ends(1).says(&["FAILED"]);
    for build in ["1", "2"] {
        let service = format!("{build}ms");
        for seed in ["1", "2", "3"] {
            let (label, seed) = (format!("--label=build={build}"), format!("--seed={seed}"));
            run(&service, &[&label, &seed]).ends(0);
        }
    }
    let gate = ["compare", "build=1", "build=2", "--fail-if=mean_question_ms>+5%"];
    home.run(&gate).ends(1).says(&["FAILED mean_question>+5%"]);
}

#[test]
fn a_figure_that_cannot_be_computed_says_why() {
    let home = Home::new();
    let words = ["run", "questions", SIM, "--placement=simulated", "--transactions=1"];
    let report = home.run(&[&words[..], &["--ramp-up=0s", "--output=json"]].concat()).json();
    let metric = &report["primary_metrics"]["mean_question_ms"];
    assert_eq!(metric["value"], Value::Null);
    assert_eq!(metric["reason"], "no long question ended", "{report:#}");
}

const PAYMENTS: &str = "
parameter account 7
transaction pay 3
write UPDATE account SET balance = balance + 1 WHERE id = {account}
read SELECT balance FROM account WHERE id = {account}
transaction look 1
read SELECT balance FROM account WHERE id = {account}
check negative SELECT id FROM account WHERE balance < 0
";

#[test]
fn a_workload_that_is_written_in_a_file_has_its_own_names_everywhere() {
    let home = Home::new();
    let file = home.folder().join("payments.steps");
    std::fs::write(&file, PAYMENTS).expect("room");
    let name = "payments.steps";
    home.run(&["run", name, "--help"]).ends(0).says(&["--account", "[default: 7]"]);
    let sim = ["run", name, SIM, "--ramp-up=0s", "--duration=20s", "--clients=4"];
    let sim = [&sim[..], &["--placement=simulated", "--output=json"]].concat();
    let report = home.run(&sim).ends(0).json();
    let finished = |kind: &str| number(&report["transactions"][kind]["finished"]);
    let share = finished("pay") / (finished("pay") + finished("look"));
    assert!((0.7..0.8).contains(&share), "{share}");
    let steps = number(&report["custom_metrics"]["payments_steps"]["sum"]);
    // A metric belongs to the second of the end, which may lie behind the measured phase.
    let sent = 2.0 * finished("pay") + finished("look");
    assert!((steps - sent).abs() <= 2.0 * 4.0 * 2.0, "{steps} {sent}");
    // A parameter is an axis, and a plan in a file may name it.
    let varied = home.run(&[&sim[..], &["--vary=account=1,2"]].concat()).ends(0).json();
    assert_eq!(varied["points"].as_array().map(Vec::len), Some(2), "{varied:#}");
    let plan = home.run(&["runs", "show", "last", "--plan"]).ends(0).out;
    std::fs::write(home.folder().join("plan.toml"), plan).expect("room");
    home.run(&["run", "plan.toml", "--output=json"]).ends(0);
    // A new text of the same name is another workload.
    std::fs::write(&file, PAYMENTS.replace("pay", "transfer")).expect("room");
    let report = home.run(&sim).ends(0).json();
    assert!(number(&report["transactions"]["transfer"]["finished"]) > 0.0);
    assert_eq!(report["transactions"]["pay"], Value::Null);
}

#[test]
fn a_workload_in_a_file_is_sent_to_the_processes_of_its_clients() {
    let home = Home::new();
    std::fs::write(home.folder().join("one.steps"), "transaction ask 1\nread SELECT 1")
        .expect("room");
    let words = ["run", "one.steps", "--target=sqlite:one.db", "--processes=2", "--clients=4"];
    let words = [&words[..], &["--duration=1s", "--ramp-up=0s", "--output=json"]].concat();
    let ran = home.run(&words);
    let report = ran.json();
    assert!(number(&report["transactions"]["ask"]["finished"]) > 0.0, "{}", ran.err);
}

#[test]
fn a_file_that_is_wrong_is_one_sentence_with_its_line() {
    let home = Home::new();
    let bad = |text: &str, why: &str| {
        std::fs::write(home.folder().join("bad.steps"), text).expect("room");
        let said = home.run(&["run", "bad.steps", SIM]).ends(2).err;
        assert!(said.contains(why) && said.contains("bad.steps"), "{said}");
    };
    bad("", "it has no transaction");
    bad("transaction pay many", "line 1: 'many' is no weight");
    bad("transaction pay 1\nselect it", "line 2: there is no 'select'");
    let said = home.run(&["run", "none.steps", SIM]).ends(2).err;
    assert!(said.contains("none.steps' cannot be read"), "{said}");
}

#[test]
fn a_member_of_runs_acts_before_the_load_and_after_it() {
    let home = Home::new();
    let report = home.load(&["--output=json"]).ends(0).json();
    let facts = report["facts"]["marked"].as_object().expect("facts of the member");
    let number = |name: &str| facts[name].as_str().expect("a text").parse::<u64>().expect("ns");
    assert_eq!(number("measured_ns"), 20_000_000_000);
    assert_eq!(number("steps"), 11, "{facts:?}");
    // Another run has a member of its own, and an error of one is that of the run.
    let said = home.load(&["--seed=13"]).ends(2).err;
    assert!(said.contains("the made-up member wants no seed 13"), "{said}");
    let listed = home.json(&["runs", "list", "--where=status=failed"]);
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(1), "{listed:#}");
}

#[test]
fn a_database_has_words_of_its_own() {
    let home = Home::new();
    home.run(&["list", "targets"]).ends(0).says(&["hinted:/path/file.db"]);
    let words = ["run", "tpcc", "--target=hinted:one.db", "--warehouses=1", "--clients=2"];
    let words = [&words[..], &["--ramp-up=0s", "--transactions=200", "--output=json"]].concat();
    let report = home.run(&words).json();
    let kinds = report["transactions"].as_object().expect("types of transactions");
    let sum = |count: &str| kinds.values().map(|kind| number(&kind[count])).sum::<f64>();
    assert_eq!((sum("finished"), sum("failed")), (200.0, 0.0), "{report:#}");
    home.run(&["check", "tpcc", "--target=hinted:one.db"]).ends(0);
    let traced = home.run(&["show", "tpcc", "--target=hinted:one.db"]).ends(0);
    traced.says(&["customer /* UPDLOCK */ WHERE c_w_id = @P1"]);
    // Without a file the target is refused.
    let said = home.run(&["run", "tpcc", "--target=hinted:"]).ends(2).err;
    assert!(said.contains("name a file"), "{said}");
}

#[test]
fn client_processes_are_reached_by_a_transport_of_its_own() {
    let home = Home::new();
    let target = "--target=sqlite:bench.db";
    let shape = ["--accounts=50", "--clients=4", "--processes=2"];
    let load = ["--duration=2s", "--ramp-up=0s"];
    let report = home.json(&[&["run", "postings", target][..], &shape, &load].concat());
    assert_eq!(report["facts"]["processes"]["transport"], "sockets", "{:#}", report["facts"]);
    assert_eq!(report["facts"]["processes"]["process_2_clients"], "postings 2");
    assert!(number(&report["custom_metrics"]["posted"]["sum"]) > 0.0);
    assert_eq!(report["groups"][0]["clients"], 4);
}
