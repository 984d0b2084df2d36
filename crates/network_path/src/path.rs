//! The path as its owner has it: a process that ends with us.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use model::{NetworkConditions, PathEntrance};

/// A path to servers. It ends when this is dropped, or when we die.
pub struct NetworkPath {
    child: Child,
    /// Closed by the system when we die, however we die; no other process has it.
    pipe: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
    entrance: PathEntrance,
}

/// What a path has done until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathReport {
    /// Bytes from clients to servers.
    pub bytes_to_servers: u64,
    /// Bytes from servers to clients.
    pub bytes_to_clients: u64,
    /// By how much bytes were delivered later than they should, on average.
    pub late_ns_mean: u64,
    /// The same at most.
    pub late_ns_max: u64,
    /// What its process has used of the CPUs.
    pub cpu_ns: u64,
}

impl NetworkPath {
    /// Starts `program`, which calls [`crate::serve`] when `word` is its argument.
    pub fn start(
        program: &Path,
        word: &str,
        conditions: NetworkConditions,
    ) -> io::Result<NetworkPath> {
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(io::Error::other)?;
        // In a process group of its own: the Ctrl-C that ends us is not for it, since clients that
        // are still at work need it.
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

    /// Where clients connect to it.
    pub fn entrance(&self) -> PathEntrance {
        self.entrance
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// From now on its conditions are these.
    pub fn change(&mut self, conditions: NetworkConditions) -> io::Result<()> {
        self.ask(&format!("change {}", in_numbers(conditions))).map(drop)
    }

    /// What it has done until now.
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

    /// A line to it, and the line that it answers.
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

/// Its process ends with its input.
impl Drop for NetworkPath {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _reaped = self.child.wait();
    }
}

fn unexpected(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("its process said '{line}'"))
}
