//! Measures the smallest possible client cost of a point select in PostgreSQL or MariaDB: it only
//! sends requests that were encoded beforehand and receives the replies, on threads, on bare
//! `epoll` loops, or with `poll`, as pgbench waits. The difference between dbdyno's throughput and
//! that of this example is dbdyno's own cost.
//!
//!     DBDYNO_PASSWORD=… cargo run --release -p drivers --example bare -- \
//!         postgres://bench@127.0.0.1:5432/bench 64 5 loop
//!
//! The table is that of `oltp-point-select`. It prints queries and seconds. Not here: checks of
//! any kind, and latencies.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use bytes::BytesMut;
use model::{Rng, Stream, Target};
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};

#[path = "shared/mariadb_wire.rs"]
mod mariadb_wire;

use mariadb_wire::Failure;

const N_ROWS: u64 = 100_000;
/// Number of event loops, as many as `pgbench -j 2` has threads.
const N_LOOPS: u32 = 2;
static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a measurement of its own, outside of any run")]
fn run(arguments: &[String]) -> Result<String, Failure> {
    let [url, clients, seconds, placement] = arguments else {
        return Err("expected: bare URL CLIENTS SECONDS thread|loop|poll".into());
    };
    let mut target = Target::parse(url).map_err(|bad| bad.to_string())?;
    if let Ok(password) = env::var("DBDYNO_PASSWORD") {
        target.password = Some(model::Secret::new(password));
    }
    let (clients, seconds): (u32, u64) = (clients.parse()?, seconds.parse()?);
    let lines: Result<Vec<Line>, Failure> =
        (0..clients).map(|client| Line::connect(&target, client)).collect();
    let mut lines = lines?;
    let begun = Instant::now();
    let n_queries: u64 = thread::scope(|scope| {
        let serving: Vec<_> = if placement != "thread" {
            let serve = if placement == "poll" { serve_polled } else { serve_many };
            let mut hands: Vec<Vec<Line>> = (0..N_LOOPS).map(|_| Vec::new()).collect();
            for (index, line) in lines.drain(..).enumerate() {
                hands[index % N_LOOPS as usize].push(line);
            }
            hands.into_iter().map(|hand| scope.spawn(move || serve(hand))).collect()
        } else {
            lines.drain(..).map(|line| scope.spawn(|| serve_one(line))).collect()
        };
        thread::park_timeout(Duration::from_secs(seconds));
        STOP.store(true, Ordering::Relaxed);
        let counted = serving.into_iter().map(|one| one.join().expect("no panic"));
        counted.sum::<io::Result<u64>>()
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(format!("queries: {n_queries}\nseconds: {seconds:.6}"))
}

/// A connection with the bytes of its only request, a point select, in which only the row's id
/// changes.
struct Line {
    stream: TcpStream,
    rng: Rng,
    request: Vec<u8>,
    /// Offset of the row's id in the encoded request, in bytes.
    id_at: usize,
    /// Function that encodes a row's id in the byte order of the server's protocol.
    id_bytes: fn(u32) -> [u8; 4],
    is_whole: fn(&[u8]) -> bool,
}

impl Line {
    fn connect(target: &Target, client: u32) -> Result<Line, Failure> {
        let host = target.hosts.first().ok_or("a host is missing")?;
        let is_postgres = target.scheme.starts_with("postgres");
        let port = host.port.unwrap_or(if is_postgres { 5432 } else { 3306 });
        let stream = TcpStream::connect((host.name.as_str(), port))?;
        stream.set_nodelay(true)?;
        let rng = Rng::new(1, Stream::Backoff(client), 0);
        match is_postgres {
            true => postgres::line(stream, target, rng),
            false => mariadb::line(stream, target, rng),
        }
    }

    fn ask(&mut self) -> io::Result<()> {
        let id = 1 + (self.rng.bits() % N_ROWS) as u32;
        self.request[self.id_at..self.id_at + 4].copy_from_slice(&(self.id_bytes)(id));
        self.stream.write_all(&self.request)
    }

    /// Receives the reply to a point select into `room`. Fails unless one read returns all of it,
    /// with a row.
    fn take(&mut self, room: &mut [u8]) -> io::Result<()> {
        let n_bytes = self.stream.read(room)?;
        let whole = n_bytes > 100 && (self.is_whole)(&room[..n_bytes]);
        if whole { Ok(()) } else { Err(io::Error::other("the reply is not the one expected")) }
    }
}

fn serve_one(mut line: Line) -> io::Result<u64> {
    let (mut room, mut n_queries) = ([0; 16 << 10], 0);
    while !STOP.load(Ordering::Relaxed) {
        line.ask()?;
        line.take(&mut room)?;
        n_queries += 1;
    }
    Ok(n_queries)
}

/// Runs point selects on all connections from one thread, waiting with `poll` for replies, as
/// pgbench does. Returns the number of queries.
fn serve_polled(mut lines: Vec<Line>) -> io::Result<u64> {
    for line in &mut lines {
        line.ask()?;
    }
    let (mut room, mut n_queries) = ([0; 16 << 10], 0);
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    while !STOP.load(Ordering::Relaxed) {
        let mut polled: Vec<PollFd<'_>> =
            lines.iter().map(|line| PollFd::new(&line.stream, PollFlags::IN)).collect();
        poll(&mut polled, Some(&second))?;
        let ready: Vec<bool> = polled.iter().map(|one| !one.revents().is_empty()).collect();
        for (line, _) in lines.iter_mut().zip(ready).filter(|(_, is_ready)| *is_ready) {
            line.take(&mut room)?;
            n_queries += 1;
            line.ask()?;
        }
    }
    Ok(n_queries)
}

fn serve_many(mut lines: Vec<Line>) -> io::Result<u64> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (index, line) in lines.iter_mut().enumerate() {
        let data = epoll::EventData::new_u64(index as u64);
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&poll, line.stream.as_fd(), data, flags)?;
        line.ask()?;
    }
    let (mut room, mut n_queries) = ([0; 16 << 10], 0);
    let mut events = Vec::with_capacity(lines.len());
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    while !STOP.load(Ordering::Relaxed) {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), Some(&second))?;
        for event in &events {
            let line = &mut lines[event.data.u64() as usize];
            line.take(&mut room)?;
            n_queries += 1;
            line.ask()?;
        }
    }
    Ok(n_queries)
}

mod postgres {
    use super::*;

    pub(crate) fn line(mut stream: TcpStream, target: &Target, rng: Rng) -> Result<Line, Failure> {
        sign_in(&mut stream, target)?;
        let mut out = BytesMut::new();
        frontend::parse("s", "SELECT c FROM sbtest1 WHERE id = $1", [23], &mut out)?;
        frontend::sync(&mut out);
        stream.write_all(&out)?;
        let mut bytes = BytesMut::new();
        loop {
            match next(&mut stream, &mut bytes)? {
                Message::ReadyForQuery(_) => break,
                Message::ErrorResponse(_) => return Err("build oltp-point-select first".into()),
                _ => {}
            }
        }
        let mut request = BytesMut::new();
        let value = |(), out: &mut BytesMut| {
            out.extend_from_slice(&[0; 4]);
            Ok(postgres_protocol::IsNull::No)
        };
        frontend::bind("", "s", [1], [()], value, [1], &mut request)
            .map_err(|_| "a request cannot be made")?;
        frontend::execute("", 0, &mut request)?;
        frontend::sync(&mut request);
        Ok(Line {
            stream,
            rng,
            request: request.to_vec(),
            // Position of the id in Bind: after type and length, two names, the number of
            // formats with a format, the number of values, and the length of this value.
            id_at: 1 + 4 + 1 + 2 + 4 + 2 + 4,
            id_bytes: u32::to_be_bytes,
            // A complete reply ends with ReadyForQuery.
            is_whole: |reply| reply[reply.len() - 6..].starts_with(&[b'Z', 0, 0, 0, 5]),
        })
    }

    fn sign_in(stream: &mut TcpStream, target: &Target) -> Result<(), Failure> {
        let user = target.user.as_deref().unwrap_or("postgres");
        let password = target.password.as_ref().map_or("", |password| password.reveal());
        let mut out = BytesMut::new();
        frontend::startup_message([("user", user), ("database", target.path.as_str())], &mut out)?;
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        stream.write_all(&out)?;
        let mut bytes = BytesMut::new();
        loop {
            out.clear();
            match next(stream, &mut bytes)? {
                Message::AuthenticationSasl(_) => {
                    frontend::sasl_initial_response("SCRAM-SHA-256", scram.message(), &mut out)?;
                }
                Message::AuthenticationSaslContinue(body) => {
                    scram.update(body.data())?;
                    frontend::sasl_response(scram.message(), &mut out)?;
                }
                Message::AuthenticationSaslFinal(body) => scram.finish(body.data())?,
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(_) => return Err("the server refuses to let us in".into()),
                _ => {}
            }
            stream.write_all(&out)?;
        }
    }

    fn next(stream: &mut TcpStream, bytes: &mut BytesMut) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(bytes)? {
                return Ok(message);
            }
            let mut room = [0; 4096];
            match stream.read(&mut room)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n_bytes => bytes.extend_from_slice(&room[..n_bytes]),
            }
        }
    }
}

/// Requests and replies of MariaDB (<https://mariadb.com/kb/en/clientserver-protocol/>).
mod mariadb {
    use mariadb_wire::{framed, packet, send, sign_in};

    use super::*;

    pub(crate) fn line(mut stream: TcpStream, target: &Target, rng: Rng) -> Result<Line, Failure> {
        sign_in(&mut stream, target, 0)?;
        let mut prepare = vec![0x16];
        prepare.extend_from_slice(b"SELECT c FROM sbtest1 WHERE id = ?");
        send(&mut stream, 0, &prepare)?;
        let prepared = packet(&mut stream)?;
        if prepared[0] != 0 {
            return Err("build oltp-point-select first".into());
        }
        // The reply lists one parameter and one column, each list followed by an EOF packet.
        for _ in 0..4 {
            packet(&mut stream)?;
        }
        let mut request = vec![0x17];
        request.extend_from_slice(&prepared[1..5]);
        // No cursor, one iteration, no NULL, and the parameter's type: an integer of four bytes.
        request.extend_from_slice(&[0, 1, 0, 0, 0, 0, 1, 3, 0]);
        let id_at = 4 + request.len();
        request.extend_from_slice(&[0; 4]);
        Ok(Line {
            stream,
            rng,
            request: framed(0, &request),
            id_at,
            id_bytes: u32::to_le_bytes,
            // A complete reply ends with the packet that ends the rows.
            is_whole: |reply| {
                let end = &reply[reply.len() - 9..];
                end[..3] == [5, 0, 0] && end[4] == 0xfe
            },
        })
    }
}
