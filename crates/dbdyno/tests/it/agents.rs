//! Tests of agents on other hosts: they do the same as clients of one process, whatever happens to
//! them and to the hub in between, and nothing that they do not allow.
//!
//! Other hosts are network namespaces of this machine, with a network stack of their own.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use servers::for_tests::POSTGRES;

use crate::home::{Home, Ran, at, number};
use crate::journey::nothing_is_lost;
use crate::proxies::free_port;
use crate::real::url_of;
use crate::waiting::{Started, eventually, now, rest};

const FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNREACHABLE: i32 = 4;

/// A simulated database whose answers do not depend on who asks, so any number of processes gives
/// the same samples.
const SIM: &str = "--target=sim:?servers=0&draws=key&service=exponential:2ms";

/// A hub, in a home that runs share with it.
pub(crate) struct Hub {
    pub(crate) home: Home,
    port: u16,
    token: String,
    hub: Started,
    n_agents: u32,
}

/// Waits until a file has this text, and returns its content.
#[track_caller]
fn until_said(home: &Home, name: &str, what: &str) -> String {
    let path = home.path(name);
    let read = || fs::read_to_string(&path).unwrap_or_default();
    assert!(eventually(|| read().contains(what)), "{name} never said {what}: {}", read());
    read()
}

fn to_file(home: &Home, name: &str) -> Stdio {
    File::create(home.path(name)).expect("the folder is ours").into()
}

impl Hub {
    pub(crate) fn new() -> Hub {
        Hub::listening("127.0.0.1")
    }

    fn listening(address: &str) -> Hub {
        let (home, port) = (Home::new(), free_port());
        let hub = Hub::start(&home, address, port);
        let said = until_said(&home, "hub.out", "--allow");
        let token = said.split_whitespace().find(|word| word.starts_with("dd1:"));
        let token = token.expect("it prints the token").to_owned();
        Hub { home, port, token, hub, n_agents: 0 }
    }

    fn start(home: &Home, address: &str, port: u16) -> Started {
        let mut command = home.dbdyno(&["hub", &format!("--listen={address}:{port}")]);
        command.stdout(to_file(home, "hub.out")).stderr(Stdio::piped());
        Started::as_it_is(command)
    }

    /// Starts an agent with these options, and waits until it has joined.
    fn agent(&mut self, name: &str, allows: &[&str]) -> Started {
        self.agent_at(&self.address(), name, allows, &[])
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Starts an agent that takes this host for another one.
    fn agent_elsewhere(&mut self, name: &str, allows: &[&str]) -> Started {
        let boot = self.home.write(&format!("{name}.boot"), format!("{name} is another host\n"));
        let mount = format!("mount --bind '{boot}' /proc/sys/kernel/random/boot_id && exec \"$@\"");
        self.agent_at(
            &self.address(),
            name,
            allows,
            &["unshare", "-m", "bash", "-c", &mount, "bash"],
        )
    }

    /// Starts an agent by a program that is given the command line, such as `ip netns exec`.
    fn agent_at(&mut self, hub: &str, name: &str, allows: &[&str], by: &[&str]) -> Started {
        let allows = allows.iter().map(|allowed| format!("--allow={allowed}"));
        let allows: Vec<String> = allows.collect();
        self.agent_with(hub, name, &allows.iter().map(String::as_str).collect::<Vec<_>>(), by)
    }

    pub(crate) fn agent_with(
        &mut self,
        hub: &str,
        name: &str,
        options: &[&str],
        by: &[&str],
    ) -> Started {
        let dbdyno = env!("CARGO_BIN_EXE_dbdyno");
        let words: Vec<&str> = by.iter().copied().chain([dbdyno, "agent", "join", hub]).collect();
        let mut command = self.home.command(words[0]);
        command.args(&words[1..]).args(["--name", name]).args(options);
        command.env("DBDYNO_TOKEN", &self.token);
        let said = format!("{name}.out");
        command.stdout(to_file(&self.home, &said)).stderr(Stdio::piped());
        let started = Started::as_it_is(command);
        until_said(&self.home, &said, "has joined");
        self.n_agents += 1;
        started
    }

    fn agents(&mut self, names: &[&str]) -> Vec<Started> {
        names.iter().map(|name| self.agent(name, &[])).collect()
    }

    /// Starts a run of `empty` on a simulated database, in open load, with these agents.
    fn begin(&self, agents: &str, more: &[&str]) -> Started {
        let agents = format!("--agents={agents}");
        let args = ["run", "empty", SIM, &agents, "--clients=12", "--load=open", "--rate=300"];
        self.home.start(
            &[&args[..], &["--ramp-up=0s", "--report-interval=1s", "--output=json"], more].concat(),
        )
    }
}

/// Waits until the run has measured some seconds.
fn until_measured(run: &mut Started) {
    run.wait_until("two seconds", |said| said.contains("[  2 s ]"));
}

fn report_of(ran: Ran) -> Value {
    let report = ran.json();
    nothing_is_lost(&report);
    report
}

#[test]
fn agents_do_what_one_process_does_sample_for_sample() {
    let mut hub = Hub::new();
    let _agents = hub.agents(&["gen1", "gen2", "gen3"]);
    for load in [&["--load=open", "--rate=3000", "--clients=120"][..], &["--clients=12"]] {
        let args = ["run", "empty", SIM, "--placement=simulated", "--duration=20s"];
        let run = |more: &[&str]| {
            let report = hub.home.json(&[&args[..], load, more].concat());
            nothing_is_lost(&report);
            let of_load = ["counts", "ramp_up_counts", "response_ms", "latency_heat", "seconds"];
            of_load.map(|name| at(&report, name).clone())
        };
        let whole = run(&[]);
        assert_eq!(run(&["--agents=3"]), whole);
        assert_eq!(run(&["--agents=gen3,gen1=2,gen2=4"]), whole);
        assert_eq!(run(&["--processes=2"]), whole);
    }
}

#[test]
fn a_plan_names_agents_and_their_shares_and_the_report_too() {
    let mut hub = Hub::new();
    let _agents = hub.agents(&["gen1", "gen2"]);
    let plan = "target = 'sim:?servers=0&draws=key'\nramp_up = '0s'\nduration = '2s'\n\
                [[agent]]\nname = 'gen1'\n[[agent]]\nname = 'gen2'\nshare = 3\n\
                [[group]]\nworkload = 'empty'\nclients = 8\nload = 'open'\nrate = 200\n";
    let plan = hub.home.write("plan.toml", plan);
    let report = hub.home.json(&["run", &plan]);
    nothing_is_lost(&report);
    for (process, agent, clients) in [(1, "gen1", "empty 2"), (2, "gen2", "empty 6")] {
        let fact = |name: &str| at(&report, &format!("facts.processes.process_{process}_{name}"));
        assert_eq!((fact("agent"), fact("clients")), (&agent.into(), &clients.into()));
        let margin: f64 = fact("start_margin_s").as_str().expect("a text").parse().expect("s");
        assert!(margin > -0.01, "{margin}");
    }
    hub.home.run(&["runs", "show", "last", "--full"]).good().says(&["on 2 agents", "gen2"]);
    hub.home.run(&["agents"]).good().says(&["gen1", "gen2", "free", "nothing but sim", "±"]);
    let listed = hub.home.json(&["agents"]);
    assert_eq!(at(&listed, "agents.1.name"), "gen2");
}

#[test]
fn a_load_on_a_server_is_divided_among_agents_and_counted_by_the_server() {
    let mut hub = Hub::new();
    let server = POSTGRES.shared();
    // One that may not load the target is not taken, though it is free.
    let _monitor = hub.agent("db1", &["monitor"]);
    let _one = hub.agent("gen1", &["127.0.0.1"]);
    let _other = hub.agent("gen2", &[&format!("127.0.0.1:{}", server.port())]);
    let target = format!("--target={}", url_of(server, "agents"));
    let args = ["run", "tpcb", &target, "--clients=6", "--agents=2", "--duration=2s"];
    let report = hub.home.json(&[&args[..], &["--ramp-up=0s"]].concat());
    nothing_is_lost(&report);
    assert!(number(&report, "counts.committed") > 0.0);
    let counted = at(&report, "crosschecks").as_array().expect("a list");
    assert!(!counted.is_empty() && counted.iter().all(|one| one["matches"] == true));
    let with = |agents: &str| {
        let agents = format!("--agents={agents}");
        let args = ["run", "tpcb", &target, "--clients=6", &agents, "--duration=1s"];
        hub.home.run(&[&args[..], &["--no-store"]].concat()).code(FAILED)
    };
    with("db1").warns(&["the agent db1: the agent may not load 127.0.0.1:"]);
    with("3").warns(&["3 agents are asked for, and 2 are free, 1 more are busy, may not load"]);
}

/// Returns the arguments for a run that knows this host by the name `db1.test`.
fn under_another_name<'a>(hosts_file: &'a str, args: &[&'a str]) -> Vec<String> {
    let mount = format!("mount --bind '{hosts_file}' /etc/hosts && exec \"$@\"");
    let by = ["-m", "bash", "-c", &mount, "bash", env!("CARGO_BIN_EXE_dbdyno")];
    by.iter().chain(args).map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_host_of_the_server_is_in_the_report_if_its_agent_monitors_it() {
    let mut hub = Hub::new();
    let server = POSTGRES.shared();
    let _monitor = hub.agent_elsewhere("db1", &["monitor"]);
    let _other = hub.agent("gen1", &["127.0.0.1"]);
    let hosts_file = hub.home.write("hosts", "127.0.0.1 localhost db1.test\n");
    let target = url_of(server, "monitored").replace("127.0.0.1", "db1.test");
    let target = format!("--target={target}");
    let run = |monitors: &str| {
        let monitors = format!("--monitor-agents={monitors}");
        let args = ["run", "tpcb", &target, &monitors, "--clients=2", "--duration=3s"];
        let args = [&args[..], &["--ramp-up=0s", "--output=json"]].concat();
        let args = under_another_name(&hosts_file, &args);
        hub.home.run_other("unshare", &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let report = report_of(run("db1"));
    assert_eq!(at(&report, "facts.monitor_agents.server"), "db1");
    assert_eq!(at(&report, "facts.monitor_agents.server_is_here"), "false");
    let gauges = at(&report, "gauges").as_array().expect("a list");
    let mean = |about: &str, name: &str| {
        let found = gauges.iter().find(|gauge| gauge["about"] == about && gauge["name"] == name);
        found.and_then(|gauge| gauge["mean"].as_f64())
    };
    for (about, name) in [
        ("db1/machine", "cpu_idle"),
        ("db1/machine", "memory_available"),
        ("server", "cpu_user"),
        ("machine", "cpu_idle"),
    ] {
        assert!(mean(about, name).is_some(), "{about} {name}: {gauges:?}");
    }
    assert!(mean("server", "memory").is_some_and(|bytes| bytes > 1e6));
    let n_cpus = at(&report, "facts.db1/cpu.logical").as_str().map(str::to_owned);
    assert!(n_cpus.is_some_and(|n_cpus| n_cpus.parse::<u32>().is_ok()));
    // One that does not allow it is not asked.
    run("gen1").code(FAILED).warns(&["does not let its host be monitored", "--allow monitor"]);
    run("db1,db2").code(FAILED).warns(&["the agent db2 does not answer"]);
}

#[test]
fn a_monitor_that_is_killed_costs_the_run_its_readings_alone() {
    let mut hub = Hub::new();
    let mut monitor = hub.agent("db1", &["monitor"]);
    let args = ["run", "empty", SIM, "--monitor-agents=db1", "--clients=4", "--duration=8s"];
    let more = ["--ramp-up=0s", "--report-interval=1s", "--output=json", "--placement=thread"];
    let mut run = hub.home.start(&[&args[..], &more].concat());
    until_measured(&mut run);
    monitor.kill();
    let report = report_of(run.end().good());
    let found = at(&report, "findings").as_array().expect("a list");
    let lost = found.iter().find(|finding| finding["id"] == "monitor_lost").expect("it is said");
    assert!(lost["text"].as_str().is_some_and(|text| text.contains("db1")), "{lost}");
}

#[test]
fn an_agent_that_is_killed_fails_the_run_or_is_marked() {
    let mut hub = Hub::new();
    let mut agents = hub.agents(&["gen1", "gen2"]);
    let mut run = hub.begin("gen1,gen2", &["--duration=1h"]);
    until_measured(&mut run);
    agents[1].kill();
    let report = report_of(run.end().code(FAILED));
    assert_eq!(report["status"], "failed");
    let why = report["reason"].as_str().expect("a text").to_owned();
    assert!(why.contains("gen2") && why.contains("closed"), "{why}");

    agents[1] = hub.agent("gen2", &[]);
    let mut run = hub.begin("gen1,gen2", &["--duration=12s", "--agent-loss=mark"]);
    until_measured(&mut run);
    agents[1].kill();
    let report = report_of(run.end().good());
    assert_eq!(report["status"], "completed");
    let found = at(&report, "findings").as_array().expect("a list");
    let lost = found.iter().find(|finding| finding["id"] == "agent_lost").expect("it is said");
    assert!(lost["text"].as_str().is_some_and(|text| text.contains("gen2")), "{lost}");
    // The other agent has its whole half.
    let offered = number(&report, "counts.offered");
    assert!((1800.0..3600.0).contains(&offered), "{offered}");

    agents[1] = hub.agent("gen2", &[]);
    let mut run = hub.begin("gen1,gen2", &["--duration=1h", "--agent-loss=mark"]);
    until_measured(&mut run);
    agents.iter_mut().for_each(Started::kill);
    // Without any agent there is nothing to go on with, and what was measured has its time.
    let report = report_of(run.end().code(FAILED));
    let seconds = number(&report, "measured_seconds");
    assert!((1.0..3600.0).contains(&seconds), "{seconds}");
}

#[test]
fn a_client_process_that_is_killed_or_stands_still_is_told_and_not_left() {
    let mut hub = Hub::new();
    let agents = hub.agents(&["gen1", "gen2"]);
    let mut run = hub.begin("gen1,gen2", &["--duration=1h"]);
    until_measured(&mut run);
    agents[0].kill_children("client-process");
    let report = report_of(run.end().code(FAILED));
    let why = report["reason"].as_str().expect("a text").to_owned();
    assert!(why.contains("gen1") && why.contains("SIGKILL"), "{why}");
    assert!(eventually(|| agents[1].children("client-process").is_empty()));

    let mut run = hub.begin("gen1,gen2", &["--duration=4s", "--drain=1s"]);
    until_measured(&mut run);
    let stopped = agents[1].children("client-process");
    stopped.iter().for_each(|pid| stand_still(*pid));
    let report = report_of(run.end().code(FAILED));
    let why = report["reason"].as_str().expect("a text").to_owned();
    assert!(why.contains("gen2") && why.contains("no longer answers"), "{why}");
    assert!(eventually(|| agents[1].children("client-process").is_empty()));
}

fn stand_still(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).expect("it is there");
}

#[test]
fn a_run_goes_on_through_a_restart_of_the_broker_and_nothing_is_counted_twice() {
    let mut hub = Hub::new();
    let agents = hub.agents(&["gen1", "gen2"]);
    let mut run = hub.begin("gen1,gen2", &["--duration=10s", "--arrivals=uniform"]);
    until_measured(&mut run);
    hub.hub.kill_children("nats-server");
    // Its agent stands still for a while as well, and catches up.
    agents[0].pause(std::time::Duration::from_secs(2));
    let report = report_of(run.end().good());
    // Arrivals every 3.3 ms, of which that at 10 s is not in the window.
    assert_eq!(number(&report, "counts.offered"), 2999.0);
    hub.hub.wait_until("the hub says it", |said| said.contains("started again"));
    hub.home.run(&["agents"]).good().says(&["gen1", "gen2", "free"]);
}

#[test]
fn agents_are_free_again_after_a_run_that_was_killed() {
    let mut hub = Hub::new();
    let agents = hub.agents(&["gen1"]);
    let mut run = hub.begin("gen1", &["--duration=1h"]);
    until_measured(&mut run);
    hub.home.run(&["agents"]).good().says(&["a run on"]);
    let busy = hub.begin("gen1", &["--duration=1s"]).end().code(FAILED);
    busy.warns(&["the agent gen1 is busy with a run on"]);
    run.kill();
    report_of(hub.begin("gen1", &["--duration=1s"]).end().good());
    assert!(eventually(|| agents[0].children("client-process").is_empty()));
}

#[test]
fn an_agent_does_nothing_that_it_does_not_allow() {
    let mut hub = Hub::new();
    let server = POSTGRES.shared();
    let allowed = hub.home.path("allowed.db").to_string_lossy().into_owned();
    let _agent = hub.agent("gen1", &[&allowed, &format!("127.0.0.1:{}", server.port() - 1)]);
    let target = format!("--target={}", url_of(server, "not_allowed"));
    let lua = hub.home.write("event.lua", "function event() os.execute('touch harm') end\n");
    let run = |args: &[&str]| {
        let args = [&["run"], args, &["--agents=1", "--clients=1", "--duration=1s"]].concat();
        hub.home.run(&[&args[..], &["--ramp-up=0s", "--no-store"]].concat())
    };
    run(&["tpcb", &target]).code(FAILED).warns(&["may not load 127.0.0.1:", "--allow 127.0.0.1"]);
    let other = format!("--target=sqlite:{}", hub.home.path("other.db").display());
    run(&["tpcb", &other]).code(FAILED).warns(&["may not use the file", "other.db"]);
    run(&[&lua, SIM]).code(FAILED).warns(&["executes no scripts", "--allow scripts"]);
    assert!(!hub.home.path("harm").exists());
    let sql = hub.home.write("own.sql", "ATTACH 'harm' AS harm;\n");
    let target = format!("--target=sqlite:{allowed}");
    run(&[&sql, &target]).code(FAILED).warns(&["executes no scripts on sqlite:"]);
    run(&["tpcb", &target]).good();
    hub.home.command("ln").args(["-s", "other.db", "link.db"]).status().expect("ln");
    let link = format!("--target=sqlite:{}", hub.home.path("link.db").display());
    run(&["tpcb", &link]).code(FAILED).warns(&["may not use the file"]);
}

#[test]
fn what_cannot_be_joined_or_chosen_is_said_in_one_sentence() {
    let home = Home::new();
    home.run(&["agents"]).code(USAGE).warns(&["there is no hub in", "dbdyno hub"]);
    let no_hub = ["run", "empty", SIM, "--agents=1", "--clients=1"];
    home.run(&no_hub).code(USAGE).warns(&["there is no hub in"]);
    let port = free_port().to_string();
    let token = format!("--token=dd1:{}:{}", "ab".repeat(32), "f".repeat(72));
    let at_port = format!("127.0.0.1:{port}");
    let join = |home: &Home, more: &[&str]| home.run(&[&["agent", "join"], more].concat());
    join(&home, &[&at_port]).code(USAGE).warns(&["give the --token"]);
    join(&home, &[&at_port, "--token=abc"]).code(USAGE).warns(&["--token: it is not whole"]);
    join(&home, &[&at_port, &token]).code(UNREACHABLE).warns(&["cannot be joined", "refused"]);
    join(&home, &["a b"]).code(USAGE).warns(&["is no address of a hub"]);
    join(&home, &[&at_port, "--name=7"]).code(USAGE).warns(&["is no name of an agent"]);
    join(&home, &[&at_port, "--allow=a@b"]).code(USAGE).warns(&["--allow"]);

    let mut hub = Hub::new();
    let at_hub = format!("127.0.0.1:{}", hub.port);
    let stranger = Home::new();
    join(&stranger, &[&at_hub, &token]).code(UNREACHABLE).warns(&["another one than that"]);
    // The right hub, and a secret that it did not give.
    let (head, secret) = hub.token.rsplit_once(':').expect("it has parts");
    let wrong = secret.replace(['0', '1'], "2");
    let wrong = format!("--token={head}:{wrong}");
    join(&stranger, &[&at_hub, &wrong]).code(UNREACHABLE).warns(&["cannot be joined"]);
    let expired = format!("--token={head}:{}{:08x}", &secret[..64], 1_700_000_000);
    join(&stranger, &[&at_hub, &expired]).code(USAGE).warns(&["the token has expired"]);

    let _agents = hub.agents(&["gen1"]);
    let run = |agents: &str| hub.begin(agents, &["--duration=1s"]).end();
    run("2").code(FAILED).warns(&["2 agents are asked for, and 1 are free", "gen1"]);
    run("gen9").code(FAILED).warns(&["the agent gen9 does not answer", "there are gen1"]);
    run("0").code(USAGE).warns(&["1 to 256"]);
    run("13").code(USAGE).warns(&["13 agents are more than there are clients (12)"]);
    let again = hub.home.run(&["agent", "join", &at_hub, "--name=gen1"]);
    again.code(USAGE).warns(&["an agent of this name runs here already"]);
    let check = hub.home.run(&["agent", "check", &at_hub, "--name=gen1", "--allow=db1:5432"]);
    check.good().says(&["as gen1, by its certificate", "db1:5432", "opens no port"]);
    let listen = format!("--listen=127.0.0.1:{}", hub.port);
    let again = hub.home.run(&["hub", &listen]);
    again.code(USAGE).warns(&["a hub of this folder runs already"]);
    stranger.run(&["hub", &listen]).code(FAILED).warns(&["does not start", "in use"]);
}

#[test]
fn a_token_is_in_no_process_list() {
    let mut hub = Hub::new();
    let mut command = hub.home.dbdyno(&["agent", "join", &format!("127.0.0.1:{}", hub.port)]);
    command.args(["--name=gen1", &format!("--token={}", hub.token)]);
    command.stdout(to_file(&hub.home, "gen1.out"));
    let agent = Started::as_it_is(command);
    until_said(&hub.home, "gen1.out", "has joined");
    let shown = fs::read(format!("/proc/{}/cmdline", agent.id())).expect("it runs");
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(shown.contains("--token=***") && !shown.contains("dd1"), "{shown}");
    hub.hub.kill();
}

#[test]
fn what_starts_agents_elsewhere_is_printed_without_the_token() {
    let home = Home::new();
    let manifest = |kind: &str, more: &[&str]| {
        let args = ["agent", "manifest", kind, "bench1:4222", "--allow=db1:5432"];
        let printed = home.run(&[&args[..], more].concat()).good().out;
        assert!(!printed.contains("dd1:"), "{printed}");
        printed
    };
    let unit = manifest("systemd", &[]);
    assert!(unit.contains("ExecStart=/usr/bin/dbdyno agent join bench1:4222"), "{unit}");
    let path = home.write("dbdyno-agent.service", &unit);
    if let Ok(checked) = Command::new("systemd-analyze").args(["verify", &path]).output() {
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(!said.contains("Unknown") && !said.contains("Invalid"), "{said}");
    }
    let lines = manifest("ssh", &["--host=gen1", "--host=user@gen2"]);
    assert_eq!(lines.matches("| ssh ").count(), 2, "{lines}");
    let checked = home.command("sh").args(["-n", &home.write("lines.sh", &lines)]).status();
    assert!(checked.expect("sh").success(), "{lines}");
    let job = manifest("kubernetes", &["--count=5"]);
    for part in ["completionMode: Indexed", "completions: 5", "kind: NetworkPolicy", "port: 5432"] {
        assert!(job.contains(part), "no {part} in:\n{job}");
    }
}

/// Passes bytes on, each piece `delay` after it has arrived, until one end closes.
fn pass_later(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        for (due, piece) in pieces {
            rest(due.saturating_duration_since(now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let mut buffer = vec![0; 65_536];
    while let Ok(n_read @ 1..) = from.read(&mut buffer) {
        if sender.send((now() + delay, buffer[..n_read].to_vec())).is_err() {
            break;
        }
    }
}

/// Starts a path to a port of this host that delays what goes there, and what comes back. Returns
/// its own port.
fn delayed_path(port: u16, there: Duration, back: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let own_port = listener.local_addr().expect("it has one").port();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
            let copies = (client.try_clone(), server.try_clone());
            let (Ok(to_client), Ok(to_server)) = copies else { continue };
            thread::spawn(move || pass_later(client, to_server, there));
            thread::spawn(move || pass_later(server, to_client, back));
        }
    });
    own_port
}

#[test]
fn agents_behind_long_and_unequal_paths_begin_together_and_their_clocks_are_within_the_bound() {
    let mut hub = Hub::new();
    let paths = [(0, 0), (60, 0), (5, 40)].map(|(there, back)| {
        delayed_path(hub.port, Duration::from_millis(there), Duration::from_millis(back))
    });
    let mut agents = Vec::new();
    for (number, port) in (1..).zip(paths) {
        agents.push(hub.agent_at(&format!("127.0.0.1:{port}"), &format!("gen{number}"), &[], &[]));
    }
    let run = hub.begin("gen1,gen2,gen3", &["--duration=4s", "--arrivals=uniform"]);
    let report = report_of(run.end().good());
    assert_eq!(number(&report, "counts.offered"), 1199.0);
    for (process, round_trip_ms) in [(1, 0.0), (2, 60.0), (3, 45.0)] {
        let seconds = |name: &str| fact_in_seconds(&report, process, name);
        for when in ["first", "last"] {
            let offset = seconds(&format!("clock_offset_{when}"));
            let error = seconds(&format!("clock_offset_{when}_error"));
            // All clocks here are one, so the offset is 0.
            assert!(offset.abs() <= error + 50e-6, "{process} {when}: {offset} ± {error}");
            assert!(2e3 * error >= round_trip_ms, "{process} {when}: ± {error}");
        }
        assert!(seconds("start_margin") > -0.01, "{}", seconds("start_margin"));
    }
}

/// Returns a fact about a client process of a run, in seconds.
fn fact_in_seconds(report: &Value, process: u32, name: &str) -> f64 {
    let fact = format!("facts.processes.process_{process}_{name}_s");
    at(report, &fact).as_str().expect("a text").parse::<f64>().expect("seconds")
}

/// Network namespaces with an address each in one network, removed when dropped.
struct Hosts {
    names: Vec<String>,
    bridge: String,
    number: u32,
}

fn ip(args: &str) {
    let done = Command::new("ip").args(args.split(' ')).output().expect("ip is installed");
    assert!(done.status.success(), "ip {args}: {}", String::from_utf8_lossy(&done.stderr));
}

impl Hosts {
    fn new(n_hosts: u32) -> Hosts {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Distinct for each process of tests, and each test in it.
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let number = (std::process::id() + 125 * nth) % 250;
        let bridge = format!("dyno{number}");
        let mut hosts = Hosts { names: Vec::new(), bridge: bridge.clone(), number };
        ip(&format!("link add {bridge} type bridge"));
        ip(&format!("addr add {}/24 dev {bridge}", hosts.address(0)));
        ip(&format!("link set {bridge} up"));
        for host in 1..=n_hosts {
            let (name, end) = (format!("{bridge}-{host}"), format!("{bridge}.{host}"));
            ip(&format!("netns add {name}"));
            hosts.names.push(name.clone());
            ip(&format!("link add {end} type veth peer name eth0 netns {name}"));
            ip(&format!("link set {end} master {bridge} up"));
            ip(&format!("-n {name} addr add {}/24 dev eth0", hosts.address(host)));
            ip(&format!("-n {name} link set eth0 up"));
            ip(&format!("-n {name} link set lo up"));
        }
        hosts
    }

    /// Returns the address of a host; 0 is this one.
    fn address(&self, host: u32) -> String {
        format!("10.213.{}.{}", self.number, host + 1)
    }

    fn set_up(&self, host: u32, is_up: bool) {
        let state = if is_up { "up" } else { "down" };
        ip(&format!("link set {}.{host} {state}", self.bridge));
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
        let _ = Command::new("ip").args(["link", "del", &self.bridge]).status();
    }
}

#[test]
fn results_that_no_longer_fit_while_the_network_is_cut_end_the_run_with_a_sentence() {
    let hosts = Hosts::new(1);
    let mut hub = Hub::listening(&hosts.address(0));
    let address = format!("{}:{}", hosts.address(0), hub.port);
    let by = ["ip", "netns", "exec", &hosts.names[0]];
    let small = ["--spool=8KiB"];
    let mut agent = hub.agent_with(&address, "gen1", &small, &by);
    let mut run = hub.begin("gen1", &["--duration=1h"]);
    until_measured(&mut run);
    hosts.set_up(1, false);
    agent.wait_until("that it is full", |said| said.contains("--spool"));
    hosts.set_up(1, true);
    let report = report_of(run.end().code(FAILED));
    let why = report["reason"].as_str().expect("a text").to_owned();
    assert!(why.contains("gen1") && why.contains("--spool"), "{why}");
}

#[test]
fn hosts_of_their_own_begin_together_and_a_cut_network_loses_nothing() {
    let hosts = Hosts::new(3);
    let mut hub = Hub::listening(&hosts.address(0));
    let address = format!("{}:{}", hosts.address(0), hub.port);
    let mut agents = Vec::new();
    for (host, name) in (1..).zip(&hosts.names) {
        let by = ["ip", "netns", "exec", name];
        agents.push(hub.agent_at(&address, &format!("gen{host}"), &[], &by));
    }
    let more = ["--duration=12s", "--arrivals=uniform"];
    let mut run = hub.begin("gen1,gen2,gen3", &more);
    until_measured(&mut run);
    hosts.set_up(2, false);
    rest(Duration::from_secs(4));
    hosts.set_up(2, true);
    let report = report_of(run.end().good());
    assert_eq!(number(&report, "counts.offered"), 3599.0);
    for process in 1..=3 {
        let seconds = |name: &str| fact_in_seconds(&report, process, name);
        // All hosts here have one clock: the offset is 0, and lies within its bound.
        for when in ["first", "last"] {
            let offset = seconds(&format!("clock_offset_{when}"));
            let error = seconds(&format!("clock_offset_{when}_error"));
            assert!(offset.abs() <= error + 50e-6, "{process} {when}: {offset} ± {error}");
        }
        assert!(seconds("start_margin") > -0.01, "{}", seconds("start_margin"));
    }
    drop(agents);
}
