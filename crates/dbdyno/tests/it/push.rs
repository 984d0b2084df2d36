//! Tests of runs that are pushed to the store of a team: they arrive whole and once, and only from
//! those who may write.

use crate::home::{Home, at};
use crate::http::Web;
use crate::waiting::Started;

const FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNREACHABLE: i32 = 4;

/// Runs a load in virtual time, and stores it.
const RUN: [&str; 7] = [
    "run",
    "empty",
    "--target=sim:?service=exponential:2ms",
    "--placement=simulated",
    "--duration=20s",
    "--ramp-up=0s",
    "--quiet",
];

/// Adds a writer to the store of a team. Returns its token.
fn writer(team: &Home, name: &str) -> String {
    let said = team.run(&["web", "writer", "add", name]).good();
    said.out.lines().next().expect("a token").to_owned()
}

/// Runs dbdyno with the token of a writer in its environment.
fn with_token(home: &Home, token: &str, args: &[&str]) -> crate::home::Ran {
    let mut command = home.dbdyno(args);
    command.env("DBDYNO_PUSH_TOKEN", token);
    Started::new(command).end()
}

/// Starts the service of a team, which others reach with a password and TLS.
fn service(team: &Home) -> Web {
    let password = team.write("password", "correct horse");
    Web::start(team, &[&format!("--password-file={password}")])
}

#[test]
fn runs_are_pushed_once_with_their_writer_and_the_same_report() {
    let (team, home) = (Home::new(), Home::new());
    let token = writer(&team, "ci");
    let web = service(&team);
    let url = web.base.clone();
    for seed in ["--seed=1", "--seed=2"] {
        home.run(&[&RUN[..], &[seed]].concat()).good();
    }
    let push = |more: &[&str]| {
        with_token(&home, &token, &[&["runs", "push", url.as_str()][..], more].concat())
    };
    push(&["last"]).good().says(&["pushed 1 run to https://127.0.0.1:"]);
    push(&[]).good().says(&["pushed 1 run to", "; 1 were there already"]);
    push(&[]).good().says(&["pushed 0 runs to", "; 2 were there already"]);
    let report = |home: &Home| {
        let mut report = home.json(&["runs", "show", "last"]);
        let entries = report.as_object_mut().expect("an object");
        entries.remove("labels");
        report
    };
    assert_eq!(report(&team), report(&home));
    let labels = team.run(&["runs", "label", "last"]).good();
    assert!(labels.out.contains("pushed_by") && labels.out.contains("ci"), "{}", labels.out);
    assert!(labels.out.contains("pushed_from"), "{}", labels.out);
    // A run that is measured is pushed when it has ended, with its experiment.
    let vary = [&RUN[..], &["--vary=clients=1,2", "--repeat=1", "--push", &url]].concat();
    let ran = with_token(&home, &token, &vary).good();
    assert!(ran.err.contains("pushed 2 runs to https://"), "{}", ran.err);
    let experiments = team.json(&["experiments", "list"]);
    assert_eq!(at(&experiments, "experiments").as_array().map(Vec::len), Some(1));
}

#[test]
fn only_writers_push_and_only_whole_runs() {
    let (team, home) = (Home::new(), Home::new());
    let (token, gone) = (writer(&team, "ci"), writer(&team, "former"));
    team.run(&["web", "writer", "add", "ci"]).code(USAGE).warns(&["there is a writer ci"]);
    let web = service(&team);
    let url = web.base.clone();
    home.run(&RUN).good();
    let push = |token: &str| with_token(&home, token, &["runs", "push", &url]);
    push("dw1:no").code(USAGE).warns(&["the token is damaged"]);
    home.run(&["runs", "push", &url]).code(USAGE).warns(&["a push needs a token"]);
    team.run(&["web", "writer", "remove", "former"]).good();
    push(&gone).code(FAILED).warns(&["this token is not known here"]);
    // The secret of a token is shown to its service alone.
    let (other, secret) = (Home::new(), token.rsplit(':').next().expect("a secret"));
    let elsewhere = writer(&other, "ci");
    let fingerprint = elsewhere.split(':').nth(1).expect("a fingerprint");
    push(&format!("dw1:{fingerprint}:{secret}"))
        .code(UNREACHABLE)
        .warns(&["it shows another certificate than that of the token"]);
    let plain = url.replace("https://", "http://");
    with_token(&home, &token, &["runs", "push", &plain]).code(FAILED).warns(&["it answers 400"]);
    // A writer reads nothing, and changes nothing else.
    let bearer = format!("Bearer {secret}");
    let ask = |method: &str, path: &str, body: &str| {
        web.ask(method, path, &[("Authorization", &bearer)], body).status
    };
    assert_eq!(ask("GET", "/api/runs", ""), 401);
    assert_eq!(ask("POST", "/runs/last/remove", "sure=yes"), 403);
    assert_eq!(web.ask("POST", "/api/push", &[], "x").status, 401);
    // A damaged file is refused as a whole.
    assert_eq!(ask("POST", "/api/push", "no store"), 400);
    home.run(&["runs", "export", "last", "-o", "one.dbdyno"]).good();
    push(&token).good();
    assert_eq!(ask("GET", "/api/push", ""), 405);
}

#[test]
fn a_push_that_fails_leaves_the_run_and_its_exit_code() {
    let (team, home) = (Home::new(), Home::new());
    let token = writer(&team, "ci");
    let url = format!("https://127.0.0.1:{}", crate::proxies::free_port());
    let args = [&RUN[..], &["--push", &url]].concat();
    let ran = with_token(&home, &token, &args).good();
    let said = ["warning: not pushed", "cannot be reached", "dbdyno runs push https://"];
    assert!(said.iter().all(|words| ran.err.contains(words)), "{}", ran.err);
    // What is wrong with the command is said before the load.
    with_token(&home, &token, &[&args[..], &["--no-store"]].concat())
        .code(USAGE)
        .warns(&["there is nothing to send"]);
    home.run(&args).code(USAGE).warns(&["a push needs a token"]);
    home.run(&[&RUN[..], &["--push=bench.example"]].concat())
        .code(USAGE)
        .warns(&["is no address of a service"]);
}
