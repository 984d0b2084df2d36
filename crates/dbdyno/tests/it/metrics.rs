//! Figures of a run that goes on, as Prometheus reads them.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::home::Home;

/// What is at this address, head and body.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
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
        "--duration=30s",
        "--ramp-up=1s",
        "--metrics-listen=127.0.0.1:0",
    ]);
    run.wait_until("the address", |said| said.contains("/metrics\n"));
    let mut address = String::new();
    run.wait_until("the load", |said| {
        if let Some((_, rest)) = said.split_once("metrics are at http://") {
            address = rest.split('/').next().unwrap_or_default().to_owned();
        }
        said.contains("of 30 s")
    });
    let page = get(&address, "/metrics");
    for told in [
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
        assert!(page.contains(told), "no {told} in\n{page}");
    }
    assert!(get(&address, "/other").starts_with("HTTP/1.1 404"));
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
    run("localhost").code(2).warns(&["'localhost' is no address and port: write 127.0.0.1:9187"]);
    run("192.0.2.1:9187").code(1).warns(&["cannot listen at 192.0.2.1:9187"]);
}
