//! Tests of plans: each printed plan parses to the same plan, and mistakes are reported with their
//! source position.

use model::{Parameter, ParameterKind};

use super::{Draft, Varied, decide, decide_all, draft_to_toml, read_toml, to_toml, varied_to_toml};
use super::{EXPERIMENT, GROUP, PLAN};
use model::{Experiment, Plan, Target};

fn decided(text: &str) -> Result<Plan, String> {
    let draft = read_toml("plan.toml", text).map_err(|bad| bad.0)?;
    let target = |_: &str| Target::parse("sqlite::memory:").map_err(|bad| bad.0);
    decide(&draft, &target).map_err(|bad| bad.0)
}

#[test]
fn a_value_that_a_driver_cannot_read_is_refused_before_the_first_trial() {
    let text = "[[group]]\nworkload = \"empty\"\n[experiment.vary]\n\
                target = [\"sim:\", \"sim:?service=zzz\"]";
    let draft = read_toml("plan.toml", text).expect("TOML");
    let why = decide_all(&draft, &|_| Err("none".to_owned())).expect_err("no service time");
    assert!(why.0.contains("service: 'zzz'"), "{why:?}");
}

#[test]
fn a_group_has_a_workload_or_a_script_and_not_both() {
    let why = decided("[[group]]\nworkload = \"tpcb\"\nscript = \"SELECT 1\"").expect_err("both");
    assert!(why.contains("plan.toml:2:12: a group has a workload or a script"), "{why}");
    // A printed plan has both: the name of its script.
    let plan = decided("[[group]]\nscript = \"SELECT 1\"").expect("a script");
    assert_eq!(plan.groups[0].workload, "script.sql");
    assert_eq!(decided(&to_toml(&plan)), Ok(plan));
}

#[test]
fn a_plan_without_a_name_is_called_by_all_its_workloads() {
    let groups = |workloads: &[&str]| {
        let all = workloads.iter().enumerate();
        let all = all.map(|(nth, workload)| {
            format!("[[group]]\nname = \"g{nth}\"\nworkload = \"{workload}\"\n")
        });
        decided(&all.collect::<String>()).map(|plan| plan.name)
    };
    assert_eq!(groups(&["arm", "tpcc", "arm"]), Ok("arm+tpcc".to_owned()));
    assert_eq!(groups(&["tpcc"]), Ok("tpcc".to_owned()));
}

#[test]
fn a_workload_that_is_a_sequence_decides_clients_ramp_up_and_end() {
    let plan = |more: &str, of_group: &str| {
        decided(&format!("{more}\n[[group]]\nworkload = 'tpch'\n{of_group}"))
    };
    let of = |plan: Plan| {
        let group = &plan.groups[0];
        (group.clients, group.stop_condition, plan.phases.ramp_up_ns, plan.phases.measure_ns)
    };
    use model::StopCondition::{Sequence, Transactions};
    assert_eq!(of(plan("", "").expect("valid")), (1, Sequence, 0, 0));
    let throughput = plan("", "parameters = { test = 'throughput', streams = 4 }").expect("valid");
    assert_eq!(of(throughput), (5, Sequence, 0, 0));
    assert_eq!(of(plan("", "transactions = '5'").expect("valid")), (1, Transactions(5), 0, 0));
    assert_eq!(of(plan("duration = '10s'", "").expect("valid")).3, 10_000_000_000);
    let check = |more: &str, of_group: &str, expect: &str| {
        let why = plan(more, of_group).expect_err("refused");
        assert!(why.contains(expect), "{more} {of_group}: {why}");
    };
    check("ramp_up = '2s'", "", "tpch executes each of its transactions once");
    let open = "load = 'open'\nrate = 5";
    check("", open, "tpch executes one query after the other: its load is closed");
}

fn experiment(varied: Varied) -> Experiment {
    varied.into_experiment("id".to_owned(), 0, 1, Vec::new()).0
}

const WHOLE: &str = r#"
name = "everything"
seed = 18446744073709551615
placement = "thread"

[target]
url = "sqlite://bench:hunter2@db1:3306/shop?journal=wal"

[phases]
ramp_up = "1500ms"
measure = "1h30m"
drain = "0s"

[retry]
attempts = 3
on = ["deadlock", "busy"]
backoff = "250us"

[recording]
histogram_max = "10m"

[[group]]
name = "writers"
workload = "tpcc"
clients = 8
load = { model = "open", rate = 0.1, arrivals = "uniform", queue = 0, queue_full = "stop" }
parameters = { warehouses = 4, weights = [1, 1, 0, 0, 0] }

[[group]]
workload = "tpcc"
load = { model = "keythink", scale = 0.5 }
until = "100 per client"

[[group]]
name = "counted"
workload = "empty"
until = "1000000 transactions"
"#;

#[test]
fn a_draft_that_is_printed_reads_back_as_the_same() {
    let varied = "[[group]]\nworkload = \"tpcc\"\n[experiment]\nrepeat = 2\n[experiment.vary]\n\
                  \"server.a\" = [\"on\", 1.5]\nclients = [1, \"2\"]\n[server]\nb = true\n";
    for text in [WHOLE, DISTURBED, varied] {
        let texts = |draft: &Draft| {
            let values = draft.values.iter().chain(&draft.experiment);
            let values = values.chain(draft.groups.iter().flat_map(|group| &group.values));
            let values = values.chain(draft.at.iter().flat_map(|at| &at.values));
            let values = values.map(|(name, written)| (name.to_string(), written.text.clone()));
            let named = draft.groups.iter().flat_map(|group| &group.parameters);
            let named = named.chain(&draft.server);
            let named = named.map(|(name, written)| (name.clone(), written.text.clone()));
            let axes = draft.vary.iter().map(|axis| (axis.name.clone(), axis.values.join(",")));
            values.chain(named).chain(axes).collect::<Vec<_>>()
        };
        let draft = read_toml("plan.toml", text).expect("TOML");
        let printed = draft_to_toml(&draft);
        let again =
            read_toml("plan.toml", &printed).unwrap_or_else(|bad| panic!("{bad}\n{printed}"));
        assert_eq!(texts(&again), texts(&draft), "{printed}");
    }
}

#[test]
fn pauses_are_printed_only_for_a_load_that_keeps_them() {
    let printed = |keying: &str, load: &str| {
        let parameters = format!("keying = '{keying}', thinking = '12s/12s/10s/5s/5s'");
        let text = format!(
            "[[group]]\nworkload = 'tpcc'\nclients = 4\n{load}parameters = {{ {parameters} }}\n"
        );
        to_toml(&decided(&text).expect("a right plan"))
    };
    let default = "18s/3s/2s/2s/2s";
    let has_pauses = |text: &str| [text.contains("keying = \""), text.contains("thinking = \"")];
    assert_eq!(has_pauses(&printed(default, "")), [false, false]);
    assert_eq!(has_pauses(&printed(default, "load = 'open'\nrate = 10\n")), [false, false]);
    assert_eq!(has_pauses(&printed(default, "load = 'keythink'\n")), [true, true]);
    // A value other than the default is printed under any load.
    assert_eq!(has_pauses(&printed("1s/1s/1s/1s/1s", "")), [true, false]);
}

#[test]
fn an_experiment_of_a_version_that_printed_more_is_printed_too() {
    let text = "target = 'sqlite::memory:'\n[[group]]\nworkload = 'tpcc'\n\
                [experiment]\nvary.clients = [1, 2]\n";
    let mut stored = experiment(varied(text).expect("a right plan"));
    for point in &mut stored.points {
        let parameters = "[group.parameters]\n";
        let more = format!("{parameters}keying = \"18s/3s/2s/2s/2s\"\n");
        assert!(point.plan.contains(parameters), "{}", point.plan);
        point.plan = point.plan.replace(parameters, &more);
    }
    assert!(varied_to_toml(&stored).is_some());
}

#[test]
fn a_plan_without_its_defaults_is_the_same_plan() {
    for text in [WHOLE, DISTURBED, "[[group]]\nworkload = \"tpcc\"\nclients = 4\n"] {
        let whole = to_toml(&decided(text).expect("a right plan"));
        let short = draft_to_toml(&read_toml("x", &whole).expect("TOML").without_defaults());
        assert!(short.len() < whole.len(), "{short}");
        assert_eq!(to_toml(&decided(&short).expect("a right plan")), whole, "{short}");
    }
    let whole = to_toml(&decided("[[group]]\nworkload = \"tpcc\"\n").expect("a right plan"));
    let short = draft_to_toml(&read_toml("x", &whole).expect("TOML").without_defaults());
    assert_eq!(short, "target = \"sqlite::memory:\"\n\n[[group]]\nworkload = \"tpcc\"\n");
}

const DISTURBED: &str = r#"
[target]
url = "managed:mariadb"
[phases]
measure = "60s"
[[group]]
workload = "empty"
[[at]]
time = "1500ms"
sql = ["CREATE TABLE a (x INT)", "DROP TABLE a"]
every = "10s"
until = "45s"
for = "250us"
[[at]]
time = "2s"
name = "freeze"
server = "pause 1500ms"
"#;

#[test]
fn a_printed_plan_does_the_same_in_mid_run() {
    let plan = decided(DISTURBED).expect("a right plan");
    let printed = to_toml(&plan);
    let again = decided(&printed).expect(&printed);
    assert_eq!((again.disturbances.len(), &again.disturbances), (2, &plan.disturbances));
    assert_eq!(again.disturbances[0].name, "CREATE TABLE a (x INT) (and 1 more)");
}

#[test]
fn what_is_done_at_the_end_of_a_run_or_after_it_is_refused() {
    let check = |time: &str, expect: &str| {
        let plan = format!(
            "[[group]]\nworkload = \"empty\"\n[[at]]\nsql = \"SELECT 1\"\ntime = \"{time}\"\n"
        );
        let error = decided(&plan).expect_err(time);
        assert!(error.contains(expect), "{time} said: {error}");
    };
    check("30s", "30s is the end itself of the run: the measured phase lasts 30s");
    check("31s", "31s is after the end of the run: the measured phase lasts 30s");
}

#[test]
fn what_is_done_to_nodes_and_hosts_is_printed_and_refused() {
    let plan = |url: &str, words: &str| {
        decided(&format!(
            "[target]\nurl = \"{url}\"\n[[group]]\nworkload = \"empty\"\n\
             [[at]]\ntime = \"1s\"\n{words}\n"
        ))
    };
    let (nodes, one) = ("managed:mariadb?nodes=2", "managed:mariadb");
    let hosts = "mariadb://a@db1,db2/x";
    for (url, words, name) in [
        (nodes, "server = \"kill\"\nnode = 2", "node 2 kill"),
        (nodes, "server = \"pause 1500ms\"\nnode = 1", "node 1 pause 1.5s"),
        (nodes, "server = \"join\"", "a node joins"),
        (nodes, "hosts = \"remove\"\nnode = 1", "hosts remove node 1"),
        (hosts, "hosts = \"add db3:3307\"", "hosts add db3:3307"),
    ] {
        let plan = plan(url, words).expect(words);
        assert_eq!(plan.disturbances[0].name, name);
        assert_eq!(decided(&to_toml(&plan)).expect("again").disturbances, plan.disturbances);
    }
    let check = |url: &str, words: &str, expect: &str| {
        let error = plan(url, words).expect_err(words);
        assert!(error.contains(expect), "{words}\nsaid: {error}\nexpected: {expect}");
    };
    check(nodes, "server = \"kill\"", "7:10: server: a cluster has several nodes: name one");
    for with_user in ["add bench:hunter2@db3", "bench:hunter2@db3"] {
        let with_user = format!("hosts = \"{with_user}\"");
        check(hosts, &with_user, "7:9: hosts: a host has no user or password");
        assert!(!plan(hosts, &with_user).expect_err("a user").contains("hunter2"));
    }
    check(
        nodes,
        "server = \"kill\"\nnode = 3",
        "8:8: node: there is no node 3: 2 at first, 0 join",
    );
    check(
        one,
        "server = \"kill\"\nnode = 1",
        "8:8: node: managed:mariadb is not a managed cluster",
    );
    check(one, "server = \"join\"", "server: there is no cluster to join");
    check(nodes, "server = \"join\"\nnode = 1", "node: a joining node has no number yet");
    check(nodes, "hosts = \"remove\"", "hosts: name a node");
    check("sqlite:x", "hosts = \"remove db1\"", "7:9: hosts: sqlite:x has no hosts");
    check(nodes, "sql = \"DROP TABLE a\"\nnode = 2", "8:8: node: is for server and hosts");
    check(hosts, "hosts = \"remove\"", "hosts: 'remove' names no host: write 'remove db2:3307'");
    check(hosts, "hosts = \"drop db1\"", "hosts: 'drop' is not add or remove");
    check(hosts, "hosts = \"add db3:0\"", "hosts: the target's port");
}

#[test]
fn a_database_in_memory_is_not_divided_among_processes() {
    let text = |url: &str| {
        format!("target.url = '{url}'\n[[group]]\nworkload = 'empty'\nclients = 2\nprocesses = 2\n")
    };
    let error = decided(&text("sqlite::memory:")).expect_err("it is refused");
    assert_eq!(
        error,
        "plan.toml:5:13: processes: other processes cannot see sqlite::memory:, which is in the \
         memory of one: name a file, such as sqlite:bench.db, or leave processes out"
    );
    assert!(decided(&text("sqlite:a.db")).is_ok());
}

#[test]
fn an_engine_that_a_product_cannot_have_is_refused_by_the_name_of_the_product() {
    let refused = |url: &str, engine: &str| {
        let text = format!(
            "target.url = '{url}'\n[[group]]\nworkload = 'record'\nparameters.engine = '{engine}'\n"
        );
        decided(&text).err()
    };
    for url in ["managed:mariadb", "mariadb://db/shop"] {
        let why = refused(url, "unlogged").expect("it is refused");
        let words = "plan.toml:4:21: engine: 'unlogged' cannot be had on mariadb: choose ";
        assert!(why.starts_with(words) && why.ends_with("or leave out --engine"), "{why}");
        assert_eq!(refused(url, "myisam"), None);
    }
    let why = refused("managed:postgres", "rocksdb").expect("it is refused");
    assert!(why.contains("'rocksdb' cannot be had on postgres: choose unlogged, or"), "{why}");
    let why = refused("sqlite:a.db", "aria").expect("it is refused");
    assert!(why.contains("since sqlite has no choice of storage engines: leave out"), "{why}");
    assert_eq!(refused("sqlite:a.db", "default"), None);
}

#[test]
fn trials_that_are_too_short_to_count_are_refused_unless_a_number_ends_them() {
    let decided_with = |duration: &str, group: &str| {
        varied(&format!(
            "target.url = 'sim:'\nphases.measure = '{duration}'\n[[group]]\n{group}\n\
             [experiment]\nrepeat = 2\n"
        ))
    };
    let error = decided_with("500ms", "workload = 'empty'").expect_err("it is refused");
    let words =
        "duration: a measured phase of 500ms is too short for a trial to count: give at least 1s";
    assert!(error.contains(words), "{error}");
    for (duration, group) in [
        ("1s", "workload = 'empty'"),
        ("500ms", "workload = 'empty'\nuntil = '10 transactions'"),
        ("500ms", "workload = 'arm'\nparameters.measurements = 1000"),
    ] {
        assert_eq!(decided_with(duration, group).err(), None, "{duration} {group}");
    }
}

#[test]
fn a_plan_from_elsewhere_runs_no_command() {
    let text = "[[group]]\nworkload = \"empty\"\n[[at]]\ntime = \"1s\"\ncommand = \"ls\"\n";
    let error = decided(text).expect_err("it is refused");
    assert!(error.starts_with("plan.toml:5:11: command: only a plan"), "{error}");
    let local = Draft { is_local: true, ..read_toml("plan.toml", text).expect("a draft") };
    let target = |_: &str| Target::parse("sqlite:a").map_err(|bad| bad.0);
    assert_eq!(decide(&local, &target).expect("decided").disturbances.len(), 1);
}

#[test]
fn a_printed_plan_decides_to_the_same_plan() {
    let plan = decided(WHOLE).expect("a right plan");
    let printed = to_toml(&plan);
    let again = decided(&printed).expect(&printed);
    assert_eq!(to_toml(&again), printed);
    assert_eq!(again.groups, plan.groups);
    assert_eq!((again.phases, again.retry, again.seed), (plan.phases, plan.retry, plan.seed));
    assert!(!printed.contains("hunter2"), "a password was printed");
}

#[test]
fn a_mistake_is_reported_with_its_line_and_column() {
    let check = |text: &str, expect: &str| {
        let error = decided(text).expect_err(text);
        assert!(error.contains(expect), "{text}\nsaid: {error}\nexpected: {expect}");
    };
    check(
        "[target]\nurl = \"sqlite:a?journl=wal\"\n[[group]]\nworkload = \"tpcc\"",
        "plan.toml:2:7: ",
    );
    check("[target]\nurl = \"sqlit:a\"\n[[group]]\nworkload = \"tpcc\"", "did you mean 'sqlite'");
    check("seed = 1\n[[group]]\nclients = 1", "plan.toml:2:");
    let group = "[[group]]\nworkload = \"tpcc\"\n";
    check("seed = ", "plan.toml:1:");
    check("sead = 1", "plan.toml:1:1: unknown key 'sead' (did you mean 'seed'?)");
    check(
        "[[group]]\nworkload = \"empty\"\nmeasure = \"3s\"",
        "plan.toml:3:1: unknown key 'measure': it is 'duration' at the top",
    );
    check("clients = 3", "unknown key 'clients': it is 'clients' in [[group]]");
    check(
        &format!("{group}warehouses = 3"),
        "plan.toml:3:1: unknown key 'warehouses': it is a parameter of tpcc: write parameters = { \
         warehouses = ... } in [[group]]",
    );
    check("[phases]\nseed = 3", "unknown key 'phases.seed': it is 'seed' at the top");
    check("rate = 3", "unknown key 'rate': it is 'rate' in [[group]]");
    check("[[group]]\nrepeat = 3", "unknown key 'repeat': it is 'repeat' in [experiment]");
    check("threads = 3", "unknown key 'threads': it is 'clients' in [[group]]");
    check("vary = 3", "unknown key 'vary': it is a table of its own: [experiment.vary]");
    check("label = \"a=b\"", "a label is an option of the command: --label KEY=VALUE");
    check("[phases]\nmesure = \"1s\"", "plan.toml:2:1: unknown key 'phases.mesure'");
    check(&format!("{group}clients = 0"), "plan.toml:3:11: clients: 0 is too small");
    check(&format!("{group}load = \"close\""), "plan.toml:3:8: load: 'close' is not one of closed");
    check("[[group]]\nworkload = \"tpc\"", "plan.toml:2:12: there is no workload 'tpc'");
    check(
        &format!("{group}parameters = {{ warehuoses = 1 }}"),
        "plan.toml:3:29: tpcc has no parameter 'warehuoses' (did you mean 'warehouses'?)",
    );
    check(&format!("{group}load = {{ model = \"closed\", rate = 5 }}"), "belongs to open load");
    check(&format!("{group}load = {{ model = \"open\" }}"), "needs a rate");
    check("[phases]\nmeasure = 30\n[[group]]\nworkload = \"empty\"", "no unit");
    check(
        "[experiment]\nrepeats = 5",
        "plan.toml:2:1: unknown key 'repeats' (did you mean 'repeat'?)",
    );
    check("seed = 1", "no [[group]]");
    check("[group]\nworkload = \"tpcc\"", "write [[group]]");
    let server = |url: &str, line: &str| {
        format!("[target]\nurl = '{url}'\n[server]\n{line}\n[[group]]\nworkload = 'empty'")
    };
    check(&server("sqlite:a", "x = 1"), "plan.toml:4:5: sqlite has no settings of a server");
    check(&server("mysql://a@h/d", "'a b' = 1"), "plan.toml:4:9: 'a b' cannot be a setting");
    check(&server("mysql://a@h/d", "a = ''"), "plan.toml:4:5: server.a: ");
    check(&server("managed:mysql", "port = 1"), "plan.toml:4:8: ");
    check("server = 1\n[[group]]\nworkload = 'empty'", "plan.toml:1:1: server is a table");
}

#[test]
fn settings_of_a_managed_server_are_its_targets_and_those_of_another_are_the_plans() {
    let plan = |url: &str| {
        let text = format!("[target]\nurl = '{url}'\n[server]\nmax_connections = 70\n");
        let plan = decided(&(text + "[[group]]\nworkload = 'empty'")).expect("a right plan");
        assert_eq!(to_toml(&decided(&to_toml(&plan)).expect("again")), to_toml(&plan));
        plan
    };
    let managed = plan("managed:mariadb?max_connections=50");
    assert_eq!(managed.target.to_string(), "managed:mariadb?max_connections=70");
    assert_eq!(managed.settings, []);
    let other = plan("mariadb://me@h/d");
    assert_eq!(other.settings, [("max_connections".to_owned(), "70".to_owned())]);
}

#[test]
fn a_setting_of_the_plan_goes_over_that_of_the_target_in_any_spelling() {
    let url = "managed:mariadb?innodb-io-capacity=200&local_infile=false&local-infile=0";
    let settings = "INNODB_IO_CAPACITY = 300\nlocal-infile = 1\n";
    let text =
        format!("[target]\nurl = '{url}'\n[[group]]\nworkload = 'empty'\n[server]\n{settings}");
    let plan = decided(&text).expect("valid");
    let mut options: Vec<String> =
        plan.target.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    options.sort();
    assert_eq!(options, ["INNODB_IO_CAPACITY=300", "local-infile=1", "local_infile=false"]);
}

fn varied(text: &str) -> Result<Varied, String> {
    let draft = read_toml("plan.toml", text).map_err(|bad| bad.0)?;
    decide_all(&draft, &|_| Err("no target".to_owned())).map_err(|bad| bad.0)
}

#[test]
fn settings_of_a_server_that_is_varied_itself_are_taken_in_whatever_order() {
    let targets = "target = ['managed:mariadb', 'mariadb://me@db/shop']";
    let settings = "'server.sync_binlog' = [0, 1]";
    for axes in [format!("{targets}, {settings}"), format!("{settings}, {targets}")] {
        let text = format!("[[group]]\nworkload = 'tpcc'\n[experiment]\nvary = {{ {axes} }}");
        let points = varied(&text).expect("it decides").points;
        let wanted = "managed:mariadb?sync_binlog=1";
        let has_it = points.iter().filter(|(_, plan)| to_toml(plan).contains(wanted));
        assert_eq!((points.len(), has_it.count()), (4, 1));
    }
}

#[test]
fn settings_beside_servers_that_are_varied_are_in_the_urls_of_the_plan_that_is_written() {
    let text = "server = { innodb_io_capacity = 300 }\n[[group]]\nworkload = 'tpcc'\n\
                [experiment]\nrepeat = 2\n\
                vary = { target = ['managed:mariadb', 'managed:mysql'], clients = [1, 2] }";
    let plan = |text: &str| experiment(varied(text).expect("it decides"));
    let stored = plan(text);
    let written = varied_to_toml(&stored).expect("it is a plan");
    assert!(written.contains("managed:mysql?innodb_io_capacity=300"), "{written}");
    let plans = |experiment: &Experiment| -> Vec<String> {
        experiment.points.iter().map(|point| point.plan.clone()).collect()
    };
    assert_eq!(plans(&plan(&written)), plans(&stored));
}

#[test]
fn a_value_that_is_written_twice_is_refused_however_it_is_written() {
    let check = |axis: &str, expect: &str| {
        let text = format!(
            "target.url = 'mariadb://db/shop'\n[[group]]\nworkload = 'tpcc'\n[experiment]\n\
             vary.{axis}"
        );
        let why = varied(&text).err().unwrap_or_else(|| panic!("{axis} is taken"));
        assert!(why.contains(expect), "{why}");
    };
    check("clients = [1, '01']", "has the value 1 twice, also as 01: for repeats");
    check("clients = [1000, '1k']", "has the value 1000 twice, also as 1k: for repeats");
    check("duration = ['1m', '60s']", "has the value 1m twice, also as 60s: for repeats");
    check("clients = [4, 4]", "has the value 4 twice: for repeats");
    check("'server.sync_binlog' = [4, 4]", "has the value 4 twice: for repeats");
    let server = "target.url = 'mariadb://db/shop'\n[[group]]\nworkload = 'tpcc'\n[experiment]\n\
                  vary.'server.version' = ['1.1', '1.10']";
    assert_eq!(varied(server).map(|found| found.points.len()), Ok(2));
}

#[test]
fn an_experiment_is_written_as_the_plan_with_axes_that_makes_it_again() {
    let check = |text: &str| {
        let draft = read_toml("plan.toml", text).expect("it is a plan");
        let decide = || decide_all(&draft, &|_| Err("no target".to_owned())).expect("it decides");
        let stored = experiment(decide());
        let written = varied_to_toml(&stored).expect("axes alone differ");
        let again = read_toml("again.toml", &written).expect("it is a plan again");
        let again = decide_all(&again, &|_| Err("no target".to_owned())).expect("it decides again");
        let again = experiment(again);
        let order: Vec<Option<usize>> =
            stored.axes.iter().map(|axis| text.rfind(&axis.name)).collect();
        assert!(order.is_sorted(), "axes are as they were written: {text}");
        assert_eq!((&again.axes, &again.points), (&stored.axes, &stored.points), "{text}");
        let settings_of =
            |e: &Experiment| (e.repeats, e.order, e.data, e.pause_ns, e.wait_until.clone());
        assert_eq!(settings_of(&again), settings_of(&stored), "{text}");
        let repeats = |e: &Experiment| (e.nesting, e.stop.clone());
        assert_eq!(repeats(&again), repeats(&stored), "{text}");
        assert!(!written.contains("secret"), "{written}");
    };
    let head = "target.url = 'mariadb://app:secret@db/shop'\n[[group]]\nworkload = 'tpcc'\n\
                parameters = { warehouses = 4 }\n[experiment]\n";
    check(&format!("{head}vary = {{ clients = [1, 2, '1k'], mode = ['prepared', 'text'] }}"));
    check(&format!("{head}repeat = 5\norder = 'random'\npause = '1500ms'\nvary.clients = [4]"));
    check(&format!("{head}data = 'rebuild'\nvary.warehouses = [1, 2]"));
    check(&format!("{head}repeat = 'until=1.5%,max=12,figure=p99'\nvary.clients = [1, 2]"));
    check(&format!("{head}repeat = 'until=decided,min_effect=0.5%'\nvary.clients = [1, 2]"));
    check(&format!("{head}repeat = 2\nrepeat_rebuild = 'until=3%'\nvary.clients = [1, 2]"));
    check(
        "target.url = 'managed:postgres'\n[[group]]\nworkload = 'tpcc'\n[experiment]\nrepeat = 3\n\
         repeat_restart = 4\nrepeat_rebuild = 2\nvary = { clients = [1, 2] }\n",
    );
    check(&format!("{head}until = \"SELECT 'a' <> ''\"\nvary.duration = ['5s', '1m']"));
    check(&format!("{head}vary = {{ 'server.sync_binlog' = [0, 1], 'load.rate' = [10, 20] }}"));
    check(
        "target.url = 'managed:mariadb?max_connections=99&innodb_io_capacity=100'\n\
           [[group]]\nworkload = 'tpcc'\n[experiment]\n\
           vary = { 'server.innodb-io-capacity' = [1, 2], clients = [4, 900] }\n\
           repeat = 2",
    );
    check(&format!("{head}vary.target = ['mariadb://a:secret@b/c', 'managed:mariadb?x=1']"));
    check(
        "target.url = 'managed:mariadb'\n[[group]]\nworkload = 'tpcc'\n[experiment]\n\
           vary.workload = ['tpcc', 'oltp-read-only']",
    );
    let groups = "target.url = 'managed:postgres'\n[[group]]\nname = 'a'\nclients = 2\n\
                  workload = 'oltp-read-only'\n[[group]]\nname = 'b'\n\
                  workload = 'oltp-read-write'\nload = { model = 'open', rate = 10 }\n\
                  [experiment]\n";
    check(&format!("{groups}vary.'group.b.rate' = [10, 100]"));
    check(&format!("{groups}repeat = 3"));
}

/// Returns a value of the parameter that is not its default.
fn another(row: &Parameter) -> String {
    match (row.name, row.kind) {
        ("target", _) => "mariadb://another/shop".to_owned(),
        ("workload", _) => "oltp-read-only".to_owned(),
        ("network_bandwidth", _) => "7MB/s".to_owned(),
        ("transactions", _) => "7 transactions".to_owned(),
        ("processes" | "agents", _) => "3".to_owned(),
        ("wait_until", _) => "SELECT 1".to_owned(),
        (_, ParameterKind::Text) if row.default == "1" => "3".to_owned(),
        (_, ParameterKind::Choice(names)) => {
            names.iter().rfind(|name| **name != row.default).expect("two choices").to_string()
        }
        (_, ParameterKind::Duration) => "7s".to_owned(),
        (_, ParameterKind::Switch) if row.default == "off" => "true".to_owned(),
        (_, ParameterKind::Switch) => "false".to_owned(),
        (_, ParameterKind::Words) => "deadlock".to_owned(),
        (_, ParameterKind::Text) => "another".to_owned(),
        (_, ParameterKind::Count { .. } | ParameterKind::Number { .. }) => "7".to_owned(),
        (_, ParameterKind::Rate | ParameterKind::ArrivalRate) => "7".to_owned(),
        (name, kind) => panic!("{name}: what is a value of {kind:?}?"),
    }
}

/// Returns the value at a path of keys in a printed plan; if the path leads through several groups,
/// that of the first group.
fn at<'t>(table: &'t toml::Table, path: &[&str]) -> Option<&'t toml::Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    let value = value.as_array().filter(|_| *first == "group").map_or(value, |all| &all[0]);
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}

#[test]
fn every_parameter_is_read_and_printed_as_it_is_declared() {
    let head = "name = 'plan'\n";
    let check = |text: &str, path: &[&str], row: &Parameter| {
        let printed = to_toml(&decided(text).expect(text));
        assert_eq!(to_toml(&decided(&printed).expect(&printed)), printed);
        let table: toml::Table = printed.parse().expect("it is TOML");
        let value = at(&table, path).unwrap_or_else(|| panic!("{path:?}: {printed}"));
        let written = match value {
            toml::Value::Array(items) => items[0].as_str().unwrap_or_default().to_owned(),
            toml::Value::String(text) => text.clone(),
            other => other.to_string().trim_end_matches(".0").to_owned(),
        };
        assert_eq!(written, another(row), "{path:?}");
    };
    for row in PLAN.iter().map(|row| &row.parameter) {
        let head = match row.name {
            "name" => "",
            "network_delay" | "network_bandwidth" | "agents" => {
                "name = 'plan'\ntarget = 'mariadb://a@b/c'\n"
            }
            _ => head,
        };
        let line = format!("{} = '{}'\n", row.name, another(row));
        check(&format!("{head}{line}[[group]]\nworkload = 'empty'\n"), &[row.name], row);
    }
    for row in GROUP.iter().map(|row| &row.parameter) {
        let beside = match row.name {
            "workload" | "script" => "",
            "arrivals" | "queue" | "queue_full" | "queue_wait" | "queue_at_end" => {
                "workload = 'empty'\nrate = 5\n"
            }
            _ => "workload = 'empty'\n",
        };
        let line = format!("{} = '{}'\n", row.name, another(row));
        let target = if row.name == "target" { "mariadb://one/shop" } else { "sqlite:a.db" };
        check(
            &format!("{head}target = '{target}'\n[[group]]\n{beside}{line}"),
            &["group", row.name],
            row,
        );
    }
}

#[test]
fn every_parameter_of_an_experiment_is_printed_as_it_is_declared() {
    const OF_SEARCH: [&str; 3] = ["seek", "objective", "seek_budget"];
    const OF_TUNER: [&str; 6] =
        ["maximize", "minimize", "limits", "trials", "confirm_pairs", "strategy"];
    let is_other = |name: &str| OF_SEARCH.contains(&name) || OF_TUNER.contains(&name);
    for row in EXPERIMENT.iter().map(|row| &row.parameter).filter(|row| !is_other(row.name)) {
        let beside = if row.name == "wait_at_most" { "wait_until = 'SELECT 1'\n" } else { "" };
        let value = another(row);
        let text = format!(
            "target = 'managed:mariadb'\n[[group]]\nworkload = 'empty'\n[experiment]\n{beside}\
             {} = '{value}'\nvary.clients = [1, 2]\n",
            row.name
        );
        let varied = varied(&text).expect(&text);
        let reference = varied.reference.clone();
        let mut experiment = experiment(varied);
        experiment.reference = reference.map(|file| model::Reference {
            file: file.display().to_string(),
            figures: model::Imported::default(),
        });
        let printed = varied_to_toml(&experiment).expect("a plan");
        let table: toml::Table = printed.parse().expect("it is TOML");
        let found = at(&table, &["experiment", row.name]).map(toml::Value::to_string);
        assert_eq!(found.map(|found| found.replace('"', "")), Some(value), "{printed}");
    }
}

#[test]
fn a_plan_of_an_earlier_version_is_read_and_printed_with_todays_keys() {
    let printed = to_toml(&decided(WHOLE).expect("an old plan"));
    let today = [
        "target = \"sqlite://bench@db1:3306/shop?journal=wal\"",
        "duration = \"1h30m\"",
        "retry_attempts = 3",
        "histogram_max = \"10m\"",
        "load = \"keythink\"",
        "keythink_scale = 0.5",
        "transactions = \"100 per client\"",
    ];
    for line in today {
        assert!(printed.contains(line), "{line} is missing:\n{printed}");
    }
    for table in ["[phases]", "[retry]", "[recording]", "[target]", "load]", "until"] {
        assert!(!printed.contains(table), "{table}:\n{printed}");
    }
    let old = "[recording]\naround = 'chosen'\n[[group]]\nworkload = 'tpcc'\n\
               parameters.calls = 'text'\n[experiment]\nuntil = 'SELECT 1'\nuntil_at_most = '9s'\n\
               vary.'phases.measure' = ['5s', '6s']\n[target]\nurl = 'mariadb://db/shop'\n";
    let old = experiment(varied(old).expect("an old experiment"));
    let wait = old.wait_until.as_ref().expect("it waits");
    assert_eq!((wait.sql.as_str(), wait.at_most_ns), ("SELECT 1", 9 * model::NS_PER_S));
    assert!(old.points[1].plan.contains("duration = \"6s\""), "{}", old.points[1].plan);
    let twice = "duration = '5s'\nphases.measure = '6s'\n[[group]]\nworkload = 'empty'";
    let why = decided(twice).expect_err("it is written twice");
    assert!(why.contains("'phases.measure' is 'duration', which is written at"), "{why}");
}

#[test]
fn a_tuner_is_printed_as_it_is_declared() {
    let text = "target = 'managed:mariadb'\n[[group]]\nworkload = 'empty'\nclients = 2\n\
                [experiment]\nmaximize = 'tps'\nlimits = 'p99<50ms, mean<1s'\ntrials = 70\n\
                confirm_pairs = 8\nstrategy = 'model'\npause = '1s'\n\
                vary.'server.max_connections' = ['10..1000']\nvary.clients = [4, 8]\n";
    let draft = read_toml("plan.toml", text).expect("TOML");
    let no_default = |_: &str| Err("it names its target".to_owned());
    let decided = crate::decide_tune(&draft, &no_default).expect("a tuner");
    assert_eq!((decided.tune.n_trials, decided.tune.n_pairs), (70, 8));
    assert_eq!(decided.tune.limits, ["p99<50ms", "mean<1s"]);
    assert_eq!(decided.axes[0].values.len(), 8, "{:?}", decided.axes[0]);
    let defaults = decided.plan(None, &no_default).expect("a plan");
    assert_eq!(defaults.groups[0].clients, 2);
    let of_levels = decided.plan(Some(&[7, 1]), &no_default).expect("a plan");
    assert_eq!(of_levels.groups[0].clients, 8);
    assert!(of_levels.target.to_string().contains("max_connections=1000"), "{}", of_levels.target);
}
