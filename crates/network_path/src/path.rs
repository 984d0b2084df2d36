//! Starts and controls the separate process of a network path, which ends together with dbdyno.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use model::{NetworkConditions, PathEntrance};

/// Emulated network between clients and servers, with a known delay and bandwidth, in a separate
/// process. That process ends when this value is dropped, or when dbdyno's process ends.
pub struct NetworkPath {
    child: Child,
    /// Standard input of the path's process. The kernel closes the pipe when dbdyno's process ends,
    /// even by a kill, since no other process has it.
    pipe: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
    entrance: PathEntrance,
}

/// Report of a network path on itself since its start, which shows whether the path kept its delay
/// and bandwidth: traffic, lateness of deliveries, and CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathReport {
    pub bytes_to_servers: u64,
    pub bytes_to_clients: u64,
    /// Mean time by which deliveries were later than the delay and bandwidth of the path require,
    /// in nanoseconds.
    pub late_ns_mean: u64,
    /// Longest time by which a delivery was later than the delay and bandwidth of the path require,
    /// in nanoseconds.
    pub late_ns_max: u64,
    /// CPU time of the path's process, in nanoseconds.
    pub cpu_ns: u64,
}

impl NetworkPath {
    /// Starts the process of a network path: `program` with the argument `word`, which must make it
    /// call [`crate::serve()`]. Sets its delay and bandwidth. Fails if the process cannot be
    /// started or does not answer.
    pub fn start(
        program: &Path,
        word: &str,
        conditions: NetworkConditions,
    ) -> io::Result<NetworkPath> {
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(io::Error::other)?;
        // In a separate process group: Ctrl-C must not end the path while clients still need it.
        let mut child = Command::new(program)
            .arg0("dbdyno")
            .arg(word)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let pipe = child.stdin.take().expect("stdin was asked to be a pipe");
        let said = child.stdout.take().expect("stdout was asked to be a pipe");
        let entrance = PathEntrance { port: 0, token };
        let mut path =
            NetworkPath { child, pipe: Some(pipe), said: BufReader::new(said), entrance };
        let wanted = format!("{} {}", path.entrance.token_hex(), in_numbers(conditions));
        let port = path.ask(&wanted)?;
        path.entrance.port = port.parse().map_err(|_| unexpected(&port))?;
        Ok(path)
    }

    /// Returns the local port and the secret with which clients connect through the path.
    pub fn entrance(&self) -> PathEntrance {
        self.entrance
    }

    /// Returns the process ID of the path's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Changes delay and bandwidth of the path during a run. Fails if the path's process has ended.
    pub fn change(&mut self, conditions: NetworkConditions) -> io::Result<()> {
        self.ask(&format!("change {}", in_numbers(conditions))).map(drop)
    }

    /// Returns traffic, delays and CPU time since the start. Fails if the path's process has ended.
    pub fn report(&mut self) -> io::Result<PathReport> {
        let shown = self.ask("report")?;
        let numbers: Result<Vec<u64>, _> = shown.split(' ').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[bytes_to_servers, bytes_to_clients, late_ns_mean, late_ns_max, cpu_ns]) => {
                Ok(PathReport {
                    bytes_to_servers,
                    bytes_to_clients,
                    late_ns_mean,
                    late_ns_max,
                    cpu_ns,
                })
            }
            _ => Err(unexpected(&shown)),
        }
    }

    /// Sends a request line to the path's process, and returns the line that it answers. Fails if
    /// the process has ended.
    fn ask(&mut self, line: &str) -> io::Result<String> {
        let pipe = self.pipe.as_mut().expect("it is open until the end");
        pipe.write_all(format!("{line}\n").as_bytes())?;
        let mut answer = String::new();
        self.said.read_line(&mut answer)?;
        match answer.strip_suffix('\n') {
            Some(line) => Ok(line.to_owned()),
            None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "its process has ended")),
        }
    }
}

fn in_numbers(conditions: NetworkConditions) -> String {
    let NetworkConditions { delay_ns, bytes_per_s } = conditions;
    format!("{delay_ns} {}", bytes_per_s.unwrap_or(0))
}

impl Drop for NetworkPath {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _reaped = self.child.wait();
    }
}

fn unexpected(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("its process said '{line}'"))
}
