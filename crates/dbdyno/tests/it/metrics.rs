//! Tests of the figures of a running run, as read by Prometheus.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::home::Home;

/// Returns the response to a GET of this path at this address, with its headers.
fn get(address: &str, path: &str) -> String {
    get_as(address, address, path)
}

/// Returns the response to a GET of this path at this address, with `host` as the requested host
/// name.
fn get_as(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("text");
    said
}

#[test]
fn a_run_tells_its_figures_while_it_goes_on() {
    let home = Home::new();
    let mut run = home.start(&[
        "run",
        "empty",
        "--target=sim:?service=constant:5ms&servers=4",
        "--placement=thread",
        "--clients=4",
        "--duration=1h",
        "--ramp-up=1s",
        "--report-interval=1s",
        "--metrics-listen=127.0.0.1:0",
    ]);
    run.wait_until("the address", |said| said.contains("/metrics\n"));
    let mut address = String::new();
    run.wait_until("the load", |said| {
        if let Some((_, rest)) = said.split_once("metrics are at http://") {
            address = rest.split('/').next().unwrap_or_default().to_owned();
        }
        said.contains("[  2 s ]")
    });
    let page = get(&address, "/metrics");
    for shown in [
        "HTTP/1.1 200 OK",
        "content-type: application/openmetrics-text",
        "# TYPE dbdyno_transactions counter",
        "dbdyno_run_info{run_id=\"",
        "workload=\"empty\"",
        "outcome=\"committed\"}",
        "dbdyno_response_seconds_bucket{le=\"",
        "dbdyno_phase{phase=\"measure\"} 1",
        "# EOF",
    ] {
        assert!(page.contains(shown), "no {shown} in\n{page}");
    }
    assert!(get(&address, "/other").starts_with("HTTP/1.1 404"));
    // Another site whose name points here cannot read it.
    let of_other = get_as(&address, "evil.example", "/metrics");
    assert!(of_other.starts_with("HTTP/1.1 421") && !of_other.contains("dbdyno_run"), "{of_other}");
    run.interrupt();
    run.end().code(130);
}

#[test]
fn an_address_that_cannot_be_listened_at_is_refused_before_the_run() {
    let home = Home::new();
    let run = |address: &str| {
        let flag = format!("--metrics-listen={address}");
        home.run(&["run", "empty", "--target=sim:", "--duration=1s", &flag])
    };
    run("localhost")
        .code(2)
        .warns(&["'localhost' is not an address and port: write 127.0.0.1:9187"]);
    run("192.0.2.1:9187").code(1).warns(&["cannot listen at 192.0.2.1:9187"]);
}

#[test]
fn the_last_figures_are_reported_as_long_as_asked_for_and_ctrl_c_ends_it() {
    let home = Home::new();
    let sim = "--target=sim:?service=constant:1ms";
    let words = ["run", "empty", sim, "--placement=simulated", "--clients=1", "--duration=2s"];
    let more = ["--ramp-up=0s", "--load=open", "--rate=100", "--metrics-listen=127.0.0.1:0"];
    let all = [&words[..], &more, &["--metrics-linger=10m", "--full"]].concat();
    let mut run = home.start(&all);
    let mut address = String::new();
    run.wait_until("the end", |said| {
        if let Some((_, rest)) = said.split_once("metrics are at http://") {
            address = rest.split('/').next().unwrap_or_default().to_owned();
        }
        said.contains("metrics are served for 600 s more")
    });
    let page = get(&address, "/metrics");
    let committed = "phase=\"measure\",outcome=\"committed\"} ";
    let (_, rest) = page.split_once(committed).unwrap_or_else(|| panic!("{page}"));
    let shown: u64 = rest.lines().next().and_then(|n| n.parse().ok()).expect("a number");
    run.interrupt();
    let ran = run.end().good().says(&["committed"]);
    assert!(ran.out.contains(&shown.to_string()), "{shown} in {}", ran.out);
    let alone = home.run(&["run", "empty", "--target=sim:", "--metrics-linger=5s"]).code(2);
    alone.warns(&["--metrics-listen"]);
    let wrong = home.run(&[&words[..], &more, &["--metrics-linger=5"]].concat()).code(2);
    wrong.warns(&["--metrics-linger: '5' is not a duration"]);
}
