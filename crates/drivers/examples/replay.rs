//! Measures the smallest possible client cost of writing to MariaDB: bare threads send the same
//! bytes again that dbdyno sent in a recorded run. The difference between dbdyno's throughput and
//! that of this example is dbdyno's own cost.
//!
//!     cargo run --release -p drivers --example replay -- record 127.0.0.1:4000 HOST:PORT FILE
//!     dbdyno run arm --target mariadb://bench@127.0.0.1:4000/bench ...   # then end the first
//!     DBDYNO_PASSWORD=… … --example replay -- play mariadb://bench@HOST:PORT/bench FILE
//!
//! `record` is a proxy that stores the commands of each connection after its sign-in, until the
//! standard input ends. `play` opens as many connections, sends each command once the previous one
//! is answered, and prints the number of commands, bytes and seconds. Not here: reading replies.

use std::io::{self, BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::Instant;
use std::{env, fs, thread};

use model::Target;

#[path = "shared/mariadb_wire.rs"]
mod mariadb_wire;

use mariadb_wire::{Failure, packet, sign_in};

const COM_QUIT: u8 = 1;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const ERROR: u8 = 0xff;
/// Capability flags that dbdyno uses when it signs in: `CLIENT_DEPRECATE_EOF`, without EOF packets
/// after lists, and `MARIADB_CLIENT_CACHE_METADATA`, with which a prepared statement's columns are
/// sent only once.
const AS_DBDYNO: u64 = 1 << 24 | 1 << 36;

/// A recorded command with its packet header, and the number of packets with which the server
/// replied.
struct Command {
    bytes: Vec<u8>,
    n_replies: u32,
    /// The server's ID of the statement, if this command prepared one; 0 for any other command.
    prepared: u32,
}

/// Recorded commands by connection, in the order in which the connections were made.
type Recording = Arc<Mutex<Vec<Vec<Command>>>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["record", listen, server, file] => record(listen, server, file),
        ["play", url, file] => play(url, file),
        _ => Err("expected: replay record LISTEN SERVER FILE, or replay play URL FILE".into()),
    };
    match done {
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

fn record(listen: &str, server: &str, file: &str) -> Result<String, Failure> {
    let listener = TcpListener::bind(listen)?;
    let recording = Recording::default();
    let (kept, server) = (Arc::clone(&recording), server.to_owned());
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(&server) else { continue };
            let mut all = kept.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(Vec::new());
            pass_on(client, server, all.len() - 1, &kept);
        }
    });
    io::stdin().read_to_end(&mut Vec::new())?;
    let recorded = recording.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = BufWriter::new(fs::File::create(file)?);
    // Connections without an INSERT only queried the server, and are not replayed.
    let writers = || recorded.iter().filter(|commands| commands.iter().any(is_insert));
    for commands in writers() {
        out.write_all(&(commands.len() as u32).to_le_bytes())?;
        for command in commands {
            out.write_all(&command.n_replies.to_le_bytes())?;
            out.write_all(&command.prepared.to_le_bytes())?;
            out.write_all(&(command.bytes.len() as u32).to_le_bytes())?;
            out.write_all(&command.bytes)?;
        }
    }
    out.flush()?;
    Ok(format!("connections: {}", writers().count()))
}

fn is_insert(command: &Command) -> bool {
    command.bytes.get(5..).is_some_and(|text| text.starts_with(b"INSERT INTO "))
}

/// Forwards a client's connection to the server, packet by packet on two threads, and records its
/// commands.
fn pass_on(client: TcpStream, server: TcpStream, index: usize, recording: &Recording) {
    let pair = || -> io::Result<_> { Ok((client.try_clone()?, server.try_clone()?)) };
    let (Ok(up), Ok(down)) = (pair(), pair()) else { return };
    let (of_client, of_server) = (Arc::clone(recording), Arc::clone(recording));
    thread::spawn(move || {
        // A packet with number 0 begins a command; packets before the first belong to the sign-in.
        let keep = |number: u8, bytes: &[u8]| {
            if number == 0 && bytes[4] != COM_QUIT {
                let command = Command { bytes: bytes.to_vec(), n_replies: 0, prepared: 0 };
                of_client.lock().unwrap_or_else(PoisonError::into_inner)[index].push(command);
            }
        };
        // When one direction ends, the other ends as well.
        let _ = packets(up.0, &up.1, keep);
        let _ = up.1.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let keep = |_: u8, bytes: &[u8]| {
            let mut all = of_server.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(command) = all[index].last_mut() {
                if command.n_replies == 0 && command.bytes[4] == COM_STMT_PREPARE {
                    command.prepared = statement_of(&bytes[4..]);
                }
                command.n_replies += 1;
            }
        };
        let _ = packets(down.1, &down.0, keep);
        let _ = down.0.shutdown(Shutdown::Both);
    });
}

fn packets(
    mut from: TcpStream,
    mut to: &TcpStream,
    mut keep: impl FnMut(u8, &[u8]),
) -> io::Result<()> {
    loop {
        let mut bytes = vec![0; 4];
        from.read_exact(&mut bytes)?;
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize;
        bytes.resize(4 + length, 0);
        from.read_exact(&mut bytes[4..])?;
        keep(bytes[3], &bytes);
        to.write_all(&bytes)?;
    }
}

#[expect(clippy::disallowed_methods, reason = "a measurement of its own, outside of any run")]
fn play(url: &str, file: &str) -> Result<String, Failure> {
    let mut target = Target::parse(url).map_err(|bad| bad.to_string())?;
    if let Ok(password) = env::var("DBDYNO_PASSWORD") {
        target.password = Some(model::Secret::new(password));
    }
    let host = target.hosts.first().ok_or("a host is missing")?;
    let address = (host.name.as_str(), host.port.unwrap_or(3306));
    let mut connections = read(file)?;
    let mut lines = Vec::new();
    for commands in &mut connections {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        sign_in(&mut stream, &target, AS_DBDYNO)?;
        lines.push((stream, commands));
    }
    let together = Barrier::new(lines.len() + 1);
    let (begun, bytes) = thread::scope(|scope| -> io::Result<(Instant, usize)> {
        let players: Vec<_> = lines
            .into_iter()
            .map(|(stream, commands)| {
                let together = &together;
                scope.spawn(move || {
                    together.wait();
                    play_one(stream, commands)
                })
            })
            .collect();
        together.wait();
        let begun = Instant::now();
        let bytes = players.into_iter().map(|one| one.join().expect("no panic"));
        Ok((begun, bytes.sum::<io::Result<usize>>()?))
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let n: usize = connections.iter().map(Vec::len).sum();
    Ok(format!("commands: {n}\nbytes: {bytes}\nseconds: {seconds:.6}"))
}

fn play_one(mut stream: TcpStream, commands: &mut [Command]) -> io::Result<usize> {
    let mut n_bytes = 0;
    // Pairs of the number of each prepared statement in the recording and in this replay.
    let mut statements: Vec<(u32, u32)> = Vec::new();
    for command in commands {
        if command.bytes[4] == COM_STMT_EXECUTE {
            let then = statement_of(&command.bytes[4..]);
            let known = statements.iter().find(|known| known.0 == then);
            let (_, now) = known.ok_or_else(|| io::Error::other("it was not prepared"))?;
            command.bytes[5..9].copy_from_slice(&now.to_le_bytes());
        }
        stream.write_all(&command.bytes)?;
        n_bytes += command.bytes.len();
        for nth in 0..command.n_replies {
            let reply = packet(&mut stream)?;
            if reply.first() == Some(&ERROR) {
                return Err(io::Error::other(String::from_utf8_lossy(&reply).into_owned()));
            }
            if nth == 0 && command.prepared > 0 {
                statements.push((command.prepared, statement_of(&reply)));
            }
        }
    }
    Ok(n_bytes)
}

/// Returns the ID of a prepared statement from the payload of a packet about it, in which the ID
/// follows the first byte.
fn statement_of(payload: &[u8]) -> u32 {
    payload.get(1..5).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four")))
}

fn read(file: &str) -> Result<Vec<Vec<Command>>, Failure> {
    let bytes = fs::read(file)?;
    let mut left = bytes.as_slice();
    let number = |left: &mut &[u8]| -> Result<u32, Failure> {
        let (head, rest) = left.split_first_chunk::<4>().ok_or("the file ends too early")?;
        *left = rest;
        Ok(u32::from_le_bytes(*head))
    };
    let mut connections = Vec::new();
    while !left.is_empty() {
        let mut commands = Vec::new();
        for _ in 0..number(&mut left)? {
            let n_replies = number(&mut left)?;
            let prepared = number(&mut left)?;
            let length = number(&mut left)? as usize;
            let (bytes, rest) = left.split_at_checked(length).ok_or("the file ends too early")?;
            left = rest;
            commands.push(Command { bytes: bytes.to_vec(), n_replies, prepared });
        }
        connections.push(commands);
    }
    Ok(connections)
}
