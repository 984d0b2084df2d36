//! Tests of jobs of `dbdyno web`: starting, stopping, rejections, roles and passwords, through HTTP
//! requests.
//!
//! Not here: the same by clicks (browser), and authentication (web).

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use servers::for_tests::POSTGRES;

use crate::home::{Home, at};
use crate::http::{Answer, Web};
use crate::real::{url, url_and_password};
use crate::waiting::{LIMIT, look_again, now};

/// Plan of a run in virtual time, which ends at once.
const QUICK: &str = "target = \"sim:?service=exponential:2ms\"\nplacement = \"simulated\"\n\
                     duration = \"60s\"\nramp_up = \"0s\"\n[[group]]\nworkload = \"empty\"\n";
/// Plan of a run that continues until it is stopped.
const LONG: &str = "target = \"sim:?service=constant:20ms\"\nduration = \"1h\"\n\
                    ramp_up = \"0s\"\n[[group]]\nworkload = \"empty\"\n";

fn form(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| {
        let value = value.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        format!("{name}={value}")
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// Requests a run of this plan by the form; `more` are further fields.
fn ask(web: &Web, plan: &str, more: &[(&str, &str)]) -> Answer {
    web.post("/new", &form(&[&[("was", plan), ("toml", plan), ("do", "run")], more].concat()))
}

/// Starts a run of a plan, and returns the number of its job.
#[track_caller]
fn start(web: &Web, plan: &str) -> i64 {
    number(&ask(web, plan, &[]))
}

#[track_caller]
fn number(answer: &Answer) -> i64 {
    assert_eq!(answer.status, 303, "{}", answer.body);
    let number = answer.header("location").strip_prefix("/jobs/");
    number.and_then(|number| number.parse().ok()).expect("it leads to the job")
}

fn job(web: &Web, number: i64) -> Value {
    let all = web.json("/api/jobs");
    let mut jobs = all["jobs"].as_array().cloned().unwrap_or_default().into_iter();
    jobs.find(|job| job["job"] == number).expect("it is listed")
}

/// Waits until `is_so` holds for the JSON of a job, and returns the JSON.
#[track_caller]
fn until(web: &Web, number: i64, is_so: impl Fn(&Value) -> bool) -> Value {
    let began = now();
    loop {
        let job = job(web, number);
        if is_so(&job) {
            return job;
        }
        let page = || web.page(&format!("/jobs/{number}"));
        assert!(began.elapsed() < LIMIT, "never so: {job:#}\n{}", page());
        look_again();
    }
}

#[track_caller]
fn ended(web: &Web, number: i64) -> Value {
    until(web, number, |job| !job["ended_unix_ms"].is_null())
}

/// Waits until the run of a job has started, and returns its id.
#[track_caller]
fn running(web: &Web, number: i64) -> String {
    let job = until(web, number, |job| job["page"].is_string());
    let page = job["page"].as_str().expect("it has a page");
    page.strip_prefix("/runs/").expect("it is a run").to_owned()
}

/// Process id of a job, as the store has it.
fn pid(home: &Home, number: i64) -> i32 {
    let sql = format!("SELECT pid FROM job WHERE number = {number}");
    let pid = crate::home::number_in(&home.store(), &sql).expect("it has begun");
    i32::try_from(pid).expect("it is a process")
}

#[test]
fn a_plan_from_a_page_runs_and_what_was_done_is_kept() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let answer = ask(&web, QUICK, &[("plan.name", "=1+1"), ("labels", "build=1\r\nhost=a")]);
    let job = number(&answer);
    let done = ended(&web, job);
    assert_eq!((&done["status"], &done["kind"]), (&"done".into(), &"run".into()), "{done:#}");
    let page = web.page(&format!("/jobs/{job}"));
    assert!(page.contains("--label build=1 --label host=a"), "{page}");
    let again = web.page(&format!("/new?job={job}"));
    assert!(again.contains("build=1\nhost=a"), "{again}");
    let run = done["page"].as_str().expect("it has a run").strip_prefix("/runs/").expect("a run");
    let report = home.json(&["runs", "show", run]);
    assert_eq!(at(&report, "status"), "completed");
    let listed = web.json("/api/runs");
    assert_eq!(listed["runs"][0]["labels"], serde_json::json!({"build": "1", "host": "a"}));
    // A spreadsheet would evaluate it.
    let csv = web.page("/api/runs.csv");
    assert!(csv.contains("'=1+1") && !csv.contains(",=1+1"), "{csv}");
    web.post(&format!("/runs/{run}/label"), "remove=host");
    web.post(&format!("/runs/{run}/remove"), "sure=yes");
    let actions = web.json("/api/jobs")["actions"].clone();
    let what = |index: usize| actions[index]["what"].as_str().unwrap_or_default().to_owned();
    assert_eq!(what(0), format!("removed run {run}"));
    assert_eq!(what(1), format!("labelled run {run}: without host"));
    assert!(what(2).starts_with("started run =1+1 on sim:"), "{}", what(2));
    assert_eq!(actions[2]["who"], "user at 127.0.0.1");
}

#[test]
fn jobs_wait_for_each_other_and_are_stopped_as_ctrl_c_does() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let (first, second, third) = (start(&web, LONG), start(&web, LONG), start(&web, QUICK));
    let run = running(&web, first);
    assert_eq!(job(&web, second)["status"], "queued");
    // A load at low priority would measure other programs.
    let nice = |process: &str| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let fields = stat.rsplit_once(')').expect("it has a name").1.to_owned();
        fields.split_ascii_whitespace().nth(16).map(str::to_owned)
    };
    assert_eq!(nice(&pid(&home, first).to_string()), nice("self"));
    assert_eq!(web.post(&format!("/jobs/{second}/stop"), "").status, 303);
    assert_eq!(web.post(&format!("/jobs/{first}/stop"), "").status, 303);
    let stopped = ended(&web, first);
    assert_eq!((&stopped["status"], &stopped["exit_code"]), (&"stopped".into(), &130.into()));
    assert_eq!(at(&home.json(&["runs", "show", &run]), "status"), "interrupted");
    assert_eq!(ended(&web, third)["status"], "done");
    let never = ended(&web, second);
    assert_eq!((&never["status"], &never["page"]), (&"stopped".into(), &Value::Null));
    assert_eq!(web.post(&format!("/jobs/{first}/stop"), "").status, 409);
    assert_eq!(web.post("/jobs/99/stop", "").status, 404);
}

#[test]
fn a_run_of_a_terminal_is_stopped_from_its_page() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let file = home.write("long.toml", LONG);
    let run = home.start(&["run", &file, "--quiet"]);
    web.wait_for_a_run();
    assert_eq!(web.post("/runs/last/stop", "").status, 303);
    run.end().code(130);
    assert_eq!(web.post("/runs/last/stop", "").status, 409);
}

#[test]
fn a_job_whose_process_is_killed_has_failed_and_the_next_one_begins() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let (first, second) = (start(&web, LONG), start(&web, QUICK));
    let run = running(&web, first);
    let pid = Pid::from_raw(pid(&home, first)).expect("it is a process");
    kill_process(pid, Signal::KILL).expect("it is ours");
    let killed = ended(&web, first);
    assert_eq!((&killed["status"], &killed["exit_code"]), (&"failed".into(), &Value::Null));
    assert!(web.page(&format!("/jobs/{first}")).contains("ended by signal 9"));
    assert_eq!(web.json(&format!("/api/runs/{run}"))["status"], "interrupted");
    assert_eq!(ended(&web, second)["status"], "done");
}

#[test]
fn a_job_survives_the_service_and_the_next_service_stops_it() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let (first, second) = (start(&web, LONG), start(&web, QUICK));
    // The server of the third job may need a password, which is not stored.
    let simulated = QUICK.lines().next().expect("it has a target");
    let third = start(&web, &QUICK.replace(simulated, "target = \"mariadb://me@127.0.0.1/shop\""));
    let run = running(&web, first);
    web.process.interrupt();
    web.process.end().good();
    let web = Web::start(&home, &[]);
    assert_eq!(job(&web, first)["status"], "running");
    assert_eq!(job(&web, second)["status"], "queued");
    assert_eq!(job(&web, third)["status"], "lost");
    assert_eq!(web.post(&format!("/jobs/{first}/stop"), "").status, 303);
    assert_eq!(ended(&web, first)["status"], "stopped");
    assert_eq!(ended(&web, second)["status"], "done");
    assert_eq!(at(&home.json(&["runs", "show", &run]), "status"), "interrupted");
}

#[test]
fn what_a_page_may_not_ask_for_is_refused_with_its_reason() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let check = |plan: &str, expect: &str| {
        let answer = ask(&web, plan, &[]);
        assert_eq!(answer.status, 400, "{plan}");
        assert!(answer.body.contains(expect), "{plan}: {}", answer.body);
    };
    let group = "[[group]]\nworkload = \"empty\"\n";
    let touched = home.path("touched");
    let command = format!("touch {}", touched.display());
    let at =
        |what: &str| format!("target = \"managed:mariadb\"\n{group}[[at]]\ntime = \"1s\"\n{what}");
    check(&at(&format!("command = \"{command}\"")), "command: a page starts no programs");
    check(&at("sql = \"SELECT 1\""), "SQL is executed only on a server");
    check(&format!("target = \"managed:mariadb?bin=/tmp\"\n{group}"), "a page names no programs");
    check(&format!("target = \"sqlite:/tmp/evil.db\"\n{group}"), "database files are in");
    check(&format!("clients = 1\n{group}"), "plan.toml:1:1: unknown key");
    check(&format!("{group}clients = 0\n"), "too small");
    let dropped = web.post("/new", &form(&[("was", QUICK), ("toml", QUICK), ("do", "drop")]));
    assert_eq!(dropped.status, 400, "a drop is confirmed");
    assert_eq!(web.json("/api/jobs")["jobs"], serde_json::json!([]));
    // The same sentence as on the command line.
    let ran = home.run(&["run", "empty", "--clients", "0"]).code(2);
    let sentence = ran.err.trim().trim_start_matches("dbdyno: ").to_owned();
    let answer = ask(&web, group, &[("group.0.clients", "0")]);
    assert!(answer.body.contains(&sentence), "{sentence}: {}", answer.body);
    // A plan from standard input is not trusted.
    let plan = at(&format!("command = \"{command}\""));
    let mut command = home.dbdyno(&["run", "-"]);
    command.stdin(fs::File::open(home.write("plan.txt", plan)).expect("it was written"));
    crate::waiting::Started::new(command).end().code(2).warns(&["only a plan that is a file"]);
    assert!(!touched.exists());
}

#[test]
fn pages_of_other_sites_and_hosts_start_nothing() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let body = form(&[("was", QUICK), ("toml", QUICK), ("do", "run")]);
    let asked = |headers: &[(&str, &str)]| web.ask("POST", "/new", headers, &body).status;
    assert_eq!(asked(&[]), 403);
    assert_eq!(asked(&[("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(asked(&[("Origin", "null"), ("Sec-Fetch-Site", "same-origin")]), 403);
    let forged = [("Host", "evil.example"), ("Origin", "http://evil.example")];
    assert_eq!(asked(&forged), 421);
    let long = format!("toml={}", "x".repeat(600_000));
    assert_eq!(web.post("/new", &long).status, 413);
    assert_eq!(web.post("/new", &format!("toml={}", "x".repeat(100_000))).status, 413);
    assert_eq!(web.json("/api/jobs")["jobs"], serde_json::json!([]));
}

fn signed_in(web: &Web, password: &str) -> String {
    let answer = web.post("/login", &form(&[("password", password)]));
    assert_eq!(answer.status, 303, "{}", answer.body);
    answer.header("set-cookie").split(';').next().expect("a cookie").to_owned()
}

#[test]
fn a_viewer_sees_everything_and_changes_nothing() {
    let home = Home::new();
    let [full, viewer] = [("full", "correct horse"), ("viewer", "only looking")]
        .map(|(name, password)| home.write(name, format!("{password}\n")));
    let alone = home.run(&["web", "--viewer-password-file", &viewer]);
    alone.code(2).warns(&["a password of viewers needs the full one too"]);
    let args = ["--password-file", &full, "--viewer-password-file", &viewer];
    let web = Web::start(&home, &args);
    let [full, viewer] = ["correct horse", "only looking"].map(|it| signed_in(&web, it));
    let get = |cookie: &str, path: &str| web.ask("GET", path, &[("Cookie", cookie)], "");
    let post = |cookie: &str, path: &str, body: &str| {
        web.ask("POST", path, &[("Cookie", cookie), ("Origin", &web.base)], body)
    };
    let run = form(&[("was", LONG), ("toml", LONG), ("do", "run")]);
    let number = number(&post(&full, "/new", &run));
    let api = |cookie: &str| -> Value {
        serde_json::from_str(&get(cookie, "/api/jobs").body).expect("it is JSON")
    };
    let began = now();
    while api(&full)["jobs"][0]["page"].is_null() {
        assert!(began.elapsed() < LIMIT, "{:#}", api(&full));
        look_again();
    }
    let paths = ["/runs/last/label", "/runs/last/remove", "/runs/last/stop", "/experiments/x/stop"];
    let job = format!("/jobs/{number}/stop");
    for path in paths.into_iter().chain(["/experiments/x/resume", "/new", &job]) {
        let answer = post(&viewer, path, &run);
        assert_eq!(answer.status, 403, "{path}");
        assert!(answer.body.contains("viewers see everything and change nothing"), "{path}");
    }
    assert_eq!(get(&viewer, "/new").status, 403);
    let id = api(&viewer)["jobs"][0]["page"].as_str().expect("it runs").to_owned();
    for path in ["/", "/jobs", &format!("/jobs/{number}"), &id] {
        let (seen, all) = (get(&viewer, path), get(&full, path));
        assert_eq!((seen.status, all.status), (200, 200), "{path}");
        for button in ["href=\"/new", "/stop\"", "/label\"><label", "/remove\""] {
            assert!(!seen.body.contains(button), "{path}: {button}");
        }
        assert!(all.body.contains("href=\"/new\""), "{path}");
    }
    assert_eq!(post(&full, &job, "").status, 303);
    assert_eq!(post(&viewer, "/logout", "").status, 303);
    assert_eq!(get(&viewer, "/").status, 303);
}

#[test]
fn a_password_is_its_sessions_alone_and_is_written_nowhere() {
    let home = Home::new();
    let (target, secret) = url_and_password(POSTGRES.shared());
    let web = Web::start(&home, &[]);
    let plan = format!(
        "target = \"{target}\"\nduration = \"1s\"\nramp_up = \"0s\"\n[[group]]\n\
         workload = \"empty\"\nclients = 1\n"
    );
    let begun = ask(&web, &plan, &[("password", &secret)]);
    let cookie = begun.header("set-cookie").split(';').next().expect("a cookie").to_owned();
    assert!(begun.header("set-cookie").contains("HttpOnly"), "{cookie}");
    let first = ended(&web, number(&begun));
    assert!(first["page"].is_string(), "it ran: {first:#}");
    // This session has it, another does not.
    let again = format!("/new?job={}", first["job"]);
    let mine = web.ask("GET", &again, &[("Cookie", &cookie)], "").body;
    assert!(mine.contains("typed before") && !mine.contains(&secret));
    assert!(!web.page(&again).contains("typed before"));
    let stranger = ended(&web, start(&web, &plan));
    assert_eq!((&stranger["status"], &stranger["page"]), (&"failed".into(), &Value::Null));
    let headers = [("Cookie", cookie.as_str()), ("Origin", &web.base)];
    let body = form(&[("was", &plan), ("toml", &plan), ("do", "run")]);
    let mine = ended(&web, number(&web.ask("POST", "/new", &headers, &body)));
    assert!(mine["page"].is_string(), "it ran: {mine:#}");
    // A password in a URL is removed from it.
    let open = plan.replace(&target, &url(POSTGRES.shared()));
    let body = form(&[("was", ""), ("toml", &open), ("do", "show")]);
    let shown = web.post("/new", &body);
    assert_eq!(shown.status, 200);
    assert!(!shown.body.contains(&secret) && shown.body.contains("typed before"), "{}", shown.body);
    assert!(ended(&web, number(&ask(&web, &open, &[])))["page"].is_string());
    // A wrong one is not used again.
    let typed = form(&[("was", &plan), ("toml", &plan), ("do", "run"), ("password", "not this")]);
    let failed = number(&web.ask("POST", "/new", &headers, &typed));
    assert_eq!(ended(&web, failed)["status"], "failed");
    let page = web.page(&format!("/jobs/{failed}"));
    assert!(page.contains("The password that was typed for it is forgotten"), "{page}");
    let mine = web.ask("GET", &again, &[("Cookie", &cookie)], "").body;
    assert!(!mine.contains("typed before"), "{mine}");
    // A terminal has no cookie, and the password is stored nowhere.
    for path in ["/jobs", "/jobs/1", "/jobs/2", "/jobs/3", "/jobs/4", "/api/jobs", "/new?job=4"] {
        assert!(!web.page(path).contains(&secret), "{path}");
    }
    let folder = home.path("data/dbdyno");
    for file in fs::read_dir(folder).expect("it is there").map(|file| file.expect("a file").path())
    {
        let bytes = fs::read(&file).unwrap_or_default();
        let found = bytes.windows(secret.len()).any(|bytes| bytes == secret.as_bytes());
        assert!(!found, "{}", file.display());
    }
}

#[test]
fn ten_thousand_requests_and_a_slow_reader_keep_nobody_out() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    // The slow reader requests a file repeatedly, more than a socket holds, and reads nothing.
    let page = web.page("/compare");
    let script =
        page.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a script");
    let ask = |path: &str, how: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: {how}\r\n\r\n", web.host())
    };
    let mut slow = TcpStream::connect(web.host()).expect("it listens");
    slow.write_all(ask(script, "keep-alive").repeat(1_000).as_bytes()).expect("it is taken");
    let css = page.split("href=\"/assets/").nth(1).and_then(|rest| rest.split('"').next());
    let css = format!("/assets/{}", css.expect("a style"));
    let ten = ask(&css, "keep-alive").repeat(9) + &ask("/api/jobs", "keep-alive");
    let many = ten.repeat(99) + &ask(&css, "keep-alive").repeat(9) + &ask("/api/jobs", "close");
    for _ in 0..10 {
        let answers = String::from_utf8_lossy(&web.send(many.as_bytes())).into_owned();
        assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 1000);
    }
    assert_eq!(ended(&web, start(&web, QUICK))["status"], "done");
    let mut first = [0; 12];
    slow.read_exact(&mut first).expect("it was answered");
    assert_eq!(&first, b"HTTP/1.1 200");
}
