//! Runs a load generator, and reads its output and the resources that it used.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use servers::{Kind, Server};
use wait4::Wait4;

/// Result of one run of a load generator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// Number of statements that the server answered.
    pub(super) queries: f64,
    /// Duration of the run in seconds.
    pub(super) seconds: f64,
    /// CPU time of the whole process, user and system, in seconds.
    pub(super) cpu_s: f64,
    /// Greatest memory use of the process: its peak resident set, in bytes.
    pub(super) resident_bytes: u64,
}

impl Measured {
    pub(super) fn queries_per_s(&self) -> f64 {
        self.queries / self.seconds
    }

    pub(super) fn cpu_us_per_query(&self) -> f64 {
        self.cpu_s * 1e6 / self.queries
    }
}

/// Parser of a program's output: number of statements and seconds; `None` if the output has none.
type Said = fn(&str) -> Option<(f64, f64)>;

/// Command line of a load generator, and the parser of its output.
#[derive(Clone, Debug)]
pub(super) struct Program {
    words: Vec<String>,
    environment: Vec<(&'static str, String)>,
    /// Text that is written to the program's standard input.
    input: &'static str,
    said: Said,
}

impl Program {
    /// Returns the command line of dbdyno without ramp-up and checks, which sysbench and pgbench
    /// lack, and without a store.
    pub(super) fn ours(
        dbdyno: &Path,
        server: &Server,
        workload: &str,
        (clients, seconds): (u32, u32),
        placement: &str,
    ) -> Program {
        let (clients, duration) = (clients.to_string(), format!("{seconds}s"));
        let mut options = vec![workload, "--clients", &clients, "--duration", &duration];
        options.extend(["--placement", placement]);
        options.extend(["--ramp-up", "0s", "--check", "off", "--no-build", "--no-store"]);
        options.extend(["--output", "json"]);
        if workload.starts_with("oltp") {
            options.extend(["--rand-type", "uniform"]);
        }
        let mut program = Program::dbdyno(dbdyno, server, "run", &options);
        program.said = ours_said;
        program
    }

    /// Returns the command line of the minimal client (example `bare` of `drivers`).
    pub(super) fn bare(
        program: &Path,
        server: &Server,
        (clients, seconds): (u32, u32),
        placement: &str,
    ) -> Program {
        let mut target = server.target();
        let password = target.password.take().expect("a managed server has one");
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let words = [target.to_string(), clients, seconds, placement.to_owned()];
        Program {
            words: [program.display().to_string()].into_iter().chain(words).collect(),
            environment: vec![("DBDYNO_PASSWORD", password.reveal().to_owned())],
            input: "",
            said: bare_said,
        }
    }

    pub(super) fn build(dbdyno: &Path, server: &Server, options: &[&str]) -> Program {
        Program::dbdyno(dbdyno, server, "build", &[options, &["--no-store"]].concat())
    }

    fn dbdyno(dbdyno: &Path, server: &Server, command: &str, options: &[&str]) -> Program {
        let mut target = server.target();
        // A database has the data of one workload.
        if options.contains(&"tpcb") {
            target.path = "tpcb".to_owned();
        }
        let password = target.password.take().expect("a managed server has one");
        let mut words = vec![dbdyno.display().to_string(), command.to_owned()];
        words.extend(options.iter().map(|word| (*word).to_owned()));
        words.extend(["--target".to_owned(), target.to_string()]);
        let environment = vec![("DBDYNO_PASSWORD", password.reveal().to_owned())];
        Program { words, environment, input: "", said: nothing_said }
    }

    pub(super) fn sysbench(server: &Server, script: &str, clients: u32, seconds: u32) -> Program {
        let target = server.target();
        let driver = if server.kind() == Kind::Postgres { "pgsql" } else { "mysql" };
        let password = target.password.as_ref().map_or("", |password| password.reveal());
        let words = vec![
            "sysbench".to_owned(),
            script.to_owned(),
            format!("--db-driver={driver}"),
            format!("--{driver}-host=127.0.0.1"),
            format!("--{driver}-port={}", server.port()),
            format!("--{driver}-user={}", target.user.as_deref().unwrap_or_default()),
            format!("--{driver}-password={password}"),
            format!("--{driver}-db={}", target.path),
            "--tables=1".to_owned(),
            "--table-size=100000".to_owned(),
            "--rand-type=uniform".to_owned(),
            format!("--threads={clients}"),
            format!("--time={seconds}"),
            "run".to_owned(),
        ];
        Program { words, environment: Vec::new(), input: "", said: sysbench_said }
    }

    /// Returns the command line of pgbench in `database`, with its default transaction, or with one
    /// statement, which it reads from its standard input. It gets two threads, which are best for
    /// it on two cores.
    pub(super) fn pgbench(
        server: &Server,
        database: &str,
        clients: u32,
        seconds: u32,
        statement: Option<&'static str>,
    ) -> Program {
        let target = server.target();
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        let mut words = vec!["pgbench", "-n", "-M", "prepared", "-j", "2", "-c", &clients];
        words.extend(["-T", &seconds]);
        if statement.is_some() {
            words.extend(["-f", "-"]);
        }
        let password = target.password.as_ref().map_or("", |password| password.reveal());
        let environment = vec![
            ("PGHOST", "127.0.0.1".to_owned()),
            ("PGPORT", server.port().to_string()),
            ("PGUSER", target.user.clone().unwrap_or_default()),
            ("PGDATABASE", database.to_owned()),
            ("PGPASSWORD", password.to_owned()),
        ];
        Program {
            words: words.into_iter().map(str::to_owned).collect(),
            environment,
            input: statement.unwrap_or_default(),
            said: if statement.is_some() { pgbench_select_said } else { pgbench_said },
        }
    }

    /// Runs the program, and returns its throughput, CPU time and memory. Fails if the program
    /// fails, or if its output cannot be parsed.
    pub(super) fn measure(&self) -> Result<Measured> {
        let (text, used) = self.run()?;
        let (queries, seconds) = (self.said)(&text)
            .with_context(|| format!("{} did not say how much it did:\n{text}", self.words[0]))?;
        let cpu_s = (used.utime + used.stime).as_secs_f64();
        Ok(Measured { queries, seconds, cpu_s, resident_bytes: used.maxrss })
    }

    /// Runs the program without reading its output. Fails if the program does.
    pub(super) fn measure_quietly(&self) -> Result<()> {
        self.run().map(|_| ())
    }

    fn run(&self) -> Result<(String, wait4::ResourceUsage)> {
        // A file, not a pipe, so that its output need not be read meanwhile.
        let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut input = tempfile::tempfile()?;
        input.write_all(self.input.as_bytes())?;
        input.rewind()?;
        let child = Command::new(&self.words[0])
            .args(&self.words[1..])
            .envs(self.environment.iter().map(|(name, value)| (*name, value)))
            .stdin(input)
            .stdout(out.try_clone()?)
            .stderr(err.try_clone()?)
            .spawn()
            .with_context(|| format!("{} cannot be started", self.words[0]))?;
        let ended = child.wait4()?;
        let text = whole(&mut out)?;
        if !ended.status.success() {
            let name = &self.words[0];
            bail!("{name} ended with {}:\n{text}{}", ended.status, whole(&mut err)?);
        }
        Ok((text, ended.rusage))
    }
}

fn whole(file: &mut File) -> Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn nothing_said(_: &str) -> Option<(f64, f64)> {
    None
}

fn ours_said(text: &str) -> Option<(f64, f64)> {
    let report: serde_json::Value = serde_json::from_str(text).ok()?;
    let seconds = report["measured_seconds"].as_f64()?;
    Some((report["qps"].as_f64()? * seconds, seconds))
}

fn bare_said(text: &str) -> Option<(f64, f64)> {
    Some((number_behind(text, "queries:")?, number_behind(text, "seconds:")?))
}

fn sysbench_said(text: &str) -> Option<(f64, f64)> {
    let queries = number_behind(text, "queries:")?;
    Some((queries, number_behind(text, "total time:")?))
}

fn pgbench_select_said(text: &str) -> Option<(f64, f64)> {
    pgbench(text, 1.0)
}

/// Parses the output of pgbench for its default transaction, which has seven statements.
fn pgbench_said(text: &str) -> Option<(f64, f64)> {
    pgbench(text, 7.0)
}

fn pgbench(text: &str, statements: f64) -> Option<(f64, f64)> {
    let transactions = number_behind(text, "number of transactions actually processed:")?;
    Some((transactions * statements, transactions / number_behind(text, "tps =")?))
}

/// Returns the number that follows `words` in a text; `None` if there is none.
fn number_behind(text: &str, words: &str) -> Option<f64> {
    let (_, rest) = text.split_once(words)?;
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let rest = rest.trim_start();
    let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_is_read() {
        let sysbench = "    transactions:      351 (70.1 per sec.)\n    queries:      7020   (1402 \
                        per sec.)\nGeneral statistics:\n    total time:        5.0071s\n";
        assert_eq!(sysbench_said(sysbench), Some((7020.0, 5.0071)));
        let pgbench = "duration: 5 s\nnumber of transactions actually processed: 200\n\
                       tps = 40.000000 (without initial connection time)\n";
        assert_eq!(pgbench_said(pgbench), Some((1400.0, 5.0)));
        assert_eq!(pgbench_select_said(pgbench), Some((200.0, 5.0)));
        let ours = r#"{"qps": 10.5, "measured_seconds": 2.0}"#;
        assert_eq!(ours_said(ours), Some((21.0, 2.0)));
        assert_eq!(sysbench_said("FATAL: no such table"), None);
    }
}
