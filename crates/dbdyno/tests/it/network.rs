//! Tests of a simulated network with known delay and bandwidth: its effect on figures and facts,
//! and that it is removed after the run.
//!
//! Not here: invalid conditions (bad_input).

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use app::NETWORK_PATH;
use model::NetworkConditions;
use network_path::NetworkPath;
use serde_json::Value;
use servers::for_tests::{MARIADB, POSTGRES, TestServer};

use crate::home::{Home, at, number};
use crate::real::{url_of, with_password};
use crate::waiting::{eventually, now};

/// Delay of the simulated network, far longer than a query on a busy machine.
const DELAY_MS: u64 = 400;

fn path(delay: Duration, bytes_per_s: Option<u64>) -> NetworkPath {
    let conditions = NetworkConditions { delay_ns: delay.as_nanos() as u64, bytes_per_s };
    let program = Path::new(env!("CARGO_BIN_EXE_dbdyno"));
    NetworkPath::start(program, NETWORK_PATH, conditions).expect("it starts")
}

/// Connects to `to` through a simulated network.
fn through(path: &NetworkPath, to: &[SocketAddr]) -> TcpStream {
    let entrance = path.entrance();
    let mut stream = TcpStream::connect(("127.0.0.1", entrance.port)).expect("it listens");
    stream.write_all(entrance.greeting(to).as_bytes()).expect("it reads");
    stream.set_nodelay(true).expect("ours");
    stream
}

/// Starts a server that runs `does` for each connection on a separate thread; returns its address.
fn server(does: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let does = does.clone();
            thread::spawn(move || does(stream));
        }
    });
    address
}

fn echo(mut stream: TcpStream) {
    let mut room = [0; 1 << 16];
    while let Ok(n_bytes @ 1..) = stream.read(&mut room) {
        if stream.write_all(&room[..n_bytes]).is_err() {
            return;
        }
    }
}

#[test]
fn bytes_come_back_in_order_after_two_delays_on_hundreds_of_connections() {
    const CONNECTIONS: usize = 300;
    let delay = Duration::from_millis(50);
    let (path, to) = (path(delay, None), server(echo));
    // No server listens at the first address: the next one is tried.
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let mut all: Vec<TcpStream> = (0..CONNECTIONS).map(|_| through(&path, &[nobody, to])).collect();
    let message = |index: usize| format!("{index:08}").repeat(100);
    let began = now();
    for (index, stream) in all.iter_mut().enumerate() {
        stream.write_all(message(index).as_bytes()).expect("there is room");
    }
    for (index, stream) in all.iter_mut().enumerate() {
        let mut room = vec![0; message(index).len()];
        stream.read_exact(&mut room).expect("it comes back");
        assert!(began.elapsed() >= 2 * delay, "{:?}", began.elapsed());
        assert_eq!(String::from_utf8(room).expect("as sent"), message(index));
    }
    // In sequence they would take twice as long as this.
    assert!(began.elapsed() < CONNECTIONS as u32 * delay, "{:?}", began.elapsed());
    // The end of a connection is forwarded too.
    let mut last = all.pop().expect("one");
    last.shutdown(std::net::Shutdown::Write).expect("open");
    assert_eq!(last.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn all_connections_together_get_the_bandwidth_in_each_direction() {
    const BYTES_PER_S: u64 = 4_000_000;
    const BYTES: usize = 2_000_000;
    let path = path(Duration::from_millis(2), Some(BYTES_PER_S));
    let to = server(|mut stream| {
        let mut first = [0];
        if matches!(stream.read(&mut first), Ok(1)) {
            // The client may close the connection early.
            let _gone = stream.write_all(&vec![7; BYTES]);
        }
    });
    let began = now();
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = through(&path, &[to]);
            thread::spawn(move || {
                stream.write_all(&[1]).expect("there is room");
                let mut all = Vec::new();
                stream.read_to_end(&mut all).expect("the end");
                assert!(all.len() == BYTES && all.iter().all(|byte| *byte == 7));
                now()
            })
        })
        .collect();
    let ended: Vec<_> =
        clients.into_iter().map(|client| client.join().expect("all came")).collect();
    let all = ended.iter().max().expect("four").duration_since(began).as_secs_f64();
    let ideal = 4.0 * BYTES as f64 / BYTES_PER_S as f64;
    assert!(all >= ideal, "{all} s of {ideal}");
    // They shared the bandwidth: none was served before the others.
    let first = ended.iter().min().expect("four").duration_since(began).as_secs_f64();
    assert!(first > 0.8 * ideal, "{first} s of {ideal}");
    let sink = server(|mut stream| {
        let mut n_bytes = 0;
        let mut room = vec![0; 1 << 16];
        while let Ok(n @ 1..) = stream.read(&mut room) {
            n_bytes += n;
        }
        let _gone = stream.write_all(&n_bytes.to_le_bytes());
    });
    let (mut stream, began) = (through(&path, &[sink]), now());
    stream.write_all(&vec![7; 4 * BYTES]).expect("the path takes it");
    stream.shutdown(std::net::Shutdown::Write).expect("open");
    let mut count = [0; 8];
    stream.read_exact(&mut count).expect("the server's count");
    assert_eq!(usize::from_le_bytes(count), 4 * BYTES);
    let all = began.elapsed().as_secs_f64();
    assert!(all >= ideal, "{all} s of {ideal}");
}

#[test]
fn a_stranger_on_the_machine_gets_nowhere() {
    let (path, to) = (path(Duration::ZERO, Some(1_000)), server(echo));
    let mut stream = TcpStream::connect(("127.0.0.1", path.entrance().port)).expect("it listens");
    stream.write_all(format!("{} {to}\n", "0".repeat(32)).as_bytes()).expect("it reads");
    assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
}

fn fact(report: &Value, name: &str) -> f64 {
    let value = at(report, &format!("facts.network_path.{name}"));
    let text = value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string());
    text.parse().unwrap_or_else(|_| panic!("{name} is {text}"))
}

#[test]
fn a_query_takes_two_delays_longer_and_facts_say_so() {
    let check = |server: &TestServer, placement: &str| {
        let home = Home::new();
        let target = format!("--target={}", with_password(&server.shared().target()));
        let (delay, placement) =
            (format!("--network-delay={DELAY_MS}ms"), format!("--placement={placement}"));
        let words = ["run", "empty", "--clients=4", "--duration=4s", "--ramp-up=0s", "--quiet"];
        let args = [&words[..], &[&target, &delay, &placement]].concat();
        let report = home.json(&args);
        // Two delays: not one, and not three.
        let (least, most) = (2.0 * DELAY_MS as f64, 3.0 * DELAY_MS as f64);
        // The fastest, since others may wait for a CPU.
        let quickest = number(&report, "response_ms.min");
        assert!((least..most).contains(&quickest), "{quickest} ms");
        let [asked, trip, direct] =
            ["delay_s", "round_trip_s", "round_trip_direct_s"].map(|name| fact(&report, name));
        assert_eq!(asked * 1e3, DELAY_MS as f64);
        assert!((least..most).contains(&(trip * 1e3)), "{trip} s");
        assert!(direct * 1e3 < DELAY_MS as f64, "{direct} s");
        assert!(fact(&report, "to_servers_bytes") > 0.0 && fact(&report, "late_mean_s") >= 0.0);
        home.run(&["runs", "show", "last", "--full"]).good().says(&["a path with 400 ms of delay"]);
        let plan = home.run(&["runs", "show", "last", "--plan"]).good();
        plan.says(&["network_delay = \"400ms\""]);
    };
    check(&MARIADB, "thread");
    check(&POSTGRES, "loop");
}

#[test]
fn records_arrive_at_no_more_than_the_bandwidth() {
    let home = Home::new();
    let words = ["run", "record", "--record-size=1000", "--records-per-commit=50"];
    let rest = ["--rows-per-statement=50", "--duration=4s", "--ramp-up=1s", "--quiet"];
    let target = format!("--target={}", url_of(MARIADB.shared(), "bandwidth"));
    let network = [&*target, "--network-bandwidth=2MB/s"];
    let report = home.json(&[&words[..], &rest, &network].concat());
    // A record of 1,000 bytes has some overhead. At either end of the four seconds, each of four
    // clients may be in a commit of 0.05 MB.
    let mb_per_s = number(&report, "primary_metrics.mb_per_s.value");
    assert!(mb_per_s > 0.0 && mb_per_s < 2.1, "{mb_per_s} MB/s");
}

/// Returns the command lines of the processes that simulate a network for the process `owner`.
fn paths_of(owner: u32) -> Vec<String> {
    let numbers = fs::read_dir("/proc").expect("Linux has it").filter_map(Result::ok);
    let numbers = numbers.filter_map(|entry| entry.file_name().into_string().ok());
    let is_one = |pid: &String| {
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
        let is_child = |stat: String| {
            let rest = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
            rest.is_some_and(|rest| rest.split(' ').nth(1) == Some(&owner.to_string()))
        };
        let is_path = |words: String| words.split('\0').any(|word| word == NETWORK_PATH);
        read("cmdline").is_ok_and(is_path) && read("stat").is_ok_and(is_child)
    };
    numbers.filter(is_one).collect()
}

#[test]
fn a_killed_run_leaves_no_path() {
    let home = Home::new();
    let target = format!("--target={}", with_password(&MARIADB.shared().target()));
    let words = ["run", "empty", "--duration=1h", "--ramp-up=0s", "--network-delay=1ms"];
    let mut run = home.start(&[&words[..], &[&target]].concat());
    let mut paths = Vec::new();
    let owner = run.id();
    run.wait_until("a path", |_| {
        paths = paths_of(owner);
        !paths.is_empty()
    });
    run.kill();
    run.end();
    let is_there = |pid: &String| {
        let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.contains(NETWORK_PATH)
    };
    assert!(eventually(|| !paths.iter().any(is_there)), "{paths:?} is still there");
}
