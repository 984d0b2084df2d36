//! `dbdyno web`: serves the pages, in the foreground or in the background.
//!
//! Not here: the pages (web).

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::Arc;

use app::Error;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::numbers::{amount, count};
use render::for_shell;
use store::{Filter, Store, default_path};
use tokio::sync::Notify;

use super::signals::on_signals;
use super::stored::said;
use super::{DONE, FAILED, INTERRUPTED, Outcome, flags, password};
use crate::shell::Shell;
use crate::web::{JobContext, Options, PidFile, Writers, bind, log_path, own_certificate};

const PORT: u16 = 8421;
const VARIABLE: &str = "DBDYNO_WEB_PASSWORD";
const VIEWER_VARIABLE: &str = "DBDYNO_WEB_VIEWER_PASSWORD";
/// Environment variables that jobs must not inherit. The pages ask for the passwords of databases.
const HIDDEN: [&str; 3] = [VARIABLE, VIEWER_VARIABLE, password::VARIABLE];
/// Maximum of `--jobs`, the number of parallel jobs; a larger one is rejected. It is low because
/// loads on one machine disturb each other.
const JOBS_MAX: u64 = 16;
/// Maximum bytes that are read of a background process's error, or of the passwords passed to it;
/// the rest is ignored.
const WORDS_BYTES_MAX: u64 = 4096;

pub(crate) fn command() -> Command {
    Command::new("web")
        .about("Serves runs to a browser, including those in progress")
        .after_help(
            "Pages are served at http://127.0.0.1:8421/ until Ctrl-C; 'start' does it in the \
             background. Runs that pages start go on when it ends. An address that other machines \
             can reach needs a password, and uses TLS: see docs/reference/web.md.",
        )
        .args(listening())
        .subcommand(Command::new("start").about("Serves the pages in the background"))
        .subcommand(Command::new("stop").about("Stops the service of this store"))
        .subcommand(Command::new("status").about("Shows whether this store's pages are served"))
        .subcommand(writer_command())
}

fn writer_command() -> Command {
    let name = || Arg::new("name").required(true).value_name("NAME").help("Name of the writer");
    Command::new("writer")
        .about("Decides who may push runs into this store")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("add").about("Adds a writer, and prints its token once").arg(name()),
        )
        .subcommand(Command::new("remove").about("Removes a writer").arg(name()))
        .subcommand(Command::new("list").about("Lists the writers"))
}

/// Adds, removes or lists the writers of a store. The service reads them at each push, so it may
/// run meanwhile.
fn writer(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let (what, sub) = matches.subcommand().expect("clap requires it");
    let store = flags::store_to_write(sub, shell)?;
    let mut writers = Writers::of_store(&store)?;
    let name = || sub.get_one::<String>("name").expect("clap requires it");
    match what {
        "add" => {
            let fingerprint = match certificate(sub) {
                // Its authority may sign another one later.
                Some(_) => None,
                None => Some(own_certificate(&store, listen(sub)?.ip())?.digest),
            };
            let token = writers.add(name(), fingerprint)?;
            shell.print(&format!(
                "{}\n\nwith this token, which is not shown again, {} pushes runs:\n  export \
                 DBDYNO_PUSH_TOKEN=...\n  dbdyno runs push https://THIS_HOST:{PORT}\n",
                token.text(),
                name()
            ))
        }
        "remove" => {
            writers.remove(name())?;
            shell.print(&format!("the token of {} opens nothing any more\n", name()))
        }
        _ => {
            let names: Vec<&str> = writers.names().collect();
            match names.is_empty() {
                true => shell.print("no writers: 'dbdyno web writer add NAME' adds one\n"),
                false => shell.print(&format!("{}\n", names.join("\n"))),
            }
        }
    }
}

fn listening() -> [Arg; 8] {
    let value = |name: &'static str, value_name: &'static str, help: &'static str| {
        Arg::new(name).long(name.replace('_', "-")).value_name(value_name).global(true).help(help)
    };
    [
        value("listen", "ADDRESS[:PORT]", "Where to listen [default: 127.0.0.1:8421]"),
        value("tls_cert", "FILE", "A certificate (PEM) instead of a self-signed one")
            .requires("tls_key"),
        value("tls_key", "FILE", "The key (PEM) of that certificate").requires("tls_cert"),
        value(
            "password_file",
            "FILE",
            "File whose first line is the pages' password (or put the password itself in \
             DBDYNO_WEB_PASSWORD)",
        ),
        Arg::new("ask_password")
            .long("ask-password")
            .global(true)
            .action(ArgAction::SetTrue)
            .conflicts_with("password_file")
            .help("Ask for the pages' password on the terminal"),
        value(
            "viewer_password_file",
            "FILE",
            "File whose first line is the password of viewers, who change nothing (or put the \
             password itself in DBDYNO_WEB_VIEWER_PASSWORD)",
        ),
        value("jobs", "N", "Jobs that pages start at the same time [default: 1]"),
        // Hidden flag that 'start' uses for the background process.
        Arg::new("detached").long("detached").action(ArgAction::SetTrue).hide(true),
    ]
}

pub(crate) fn web(matches: &ArgMatches, shell: &Shell) -> Outcome {
    match matches.subcommand() {
        Some(("start", sub)) => start(sub, shell),
        Some(("stop", sub)) => stop(sub, shell),
        Some(("writer", sub)) => writer(sub, shell),
        Some((_, sub)) => status(sub, shell),
        None => serve(matches, shell),
    }
}

fn serve(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let is_detached = matches.get_flag("detached");
    if is_detached {
        // Outlive the terminal; fails if it leads a session already, which is fine.
        let _ = rustix::process::setsid();
    }
    let Passwords { full, viewer } = match is_detached {
        true => handed_passwords(shell)?,
        false => given_passwords(matches, shell)?,
    };
    let job_context = JobContext {
        program: own_program()?,
        hidden: &HIDDEN,
        password: password::VARIABLE,
        jobs: jobs(matches)?,
        draft_of: super::draft_of,
        target_of: super::own_folder::own_target,
        folder: app::open::data_folder(&|name| shell.variable(name)),
    };
    let serving = bind(Options {
        listen: listen(matches)?,
        store: flags::store_to_write(matches, shell)?,
        password: full,
        viewer_password: viewer,
        job_context,
        certificate: certificate(matches),
        shell: shell.clone(),
        stop: stop_command(&flags::store_path(matches, shell)?, shell),
    })?;
    match is_detached {
        // 'start' reads this one line, and exits.
        true => shell.print(&format!("{}\n", serving.shown().replace('\n', "\t"))).map(drop)?,
        false => shell.say(&format!("{}\nCtrl-C ends it", serving.shown())),
    }
    serving.until(ended_by_signals(shell))?;
    Ok(DONE)
}

/// Returns a notice for the first signal that ends the program, such as Ctrl-C. A second signal
/// exits at once.
fn ended_by_signals(shell: &Shell) -> Arc<Notify> {
    let ended = Arc::new(Notify::new());
    let heard = Arc::clone(&ended);
    if !shell.is_process() {
        return ended;
    }
    let handled = on_signals(move |nth, _| match nth {
        1 => heard.notify_one(),
        _ => std::process::exit(i32::from(INTERRUPTED)),
    });
    if let Err(error) = handled {
        shell.say(&format!("dbdyno: Ctrl-C cannot be handled, and would end it at once: {error}"));
    }
    ended
}

fn listen(matches: &ArgMatches) -> Result<SocketAddr, Error> {
    let local = Ipv4Addr::LOCALHOST;
    let Some(text) = matches.get_one::<String>("listen") else {
        return Ok(SocketAddr::new(local.into(), PORT));
    };
    let numbered = text.replace("localhost", &local.to_string());
    let bare = numbered.trim_start_matches('[').trim_end_matches(']');
    let address = numbered.parse::<SocketAddr>().ok();
    let address = address.or_else(|| Some(SocketAddr::new(bare.parse::<IpAddr>().ok()?, PORT)));
    let port = || Some(SocketAddr::new(local.into(), text.trim_start_matches(':').parse().ok()?));
    address.or_else(port).ok_or_else(|| {
        Error::Usage(format!(
            "--listen {text}: write an address of this machine and a port, such as 127.0.0.1:8421 \
             or 0.0.0.0:8421"
        ))
    })
}

/// Passwords of the web pages, for users with all rights and for viewers; `None` without the
/// respective password.
struct Passwords {
    full: Option<String>,
    viewer: Option<String>,
}

fn given_passwords(matches: &ArgMatches, shell: &Shell) -> Result<Passwords, Error> {
    let of_file =
        |name: &str| matches.get_one::<String>(name).map(|path| password::read_file(path));
    let full = match (of_file("password_file"), matches.get_flag("ask_password")) {
        (Some(read), _) => Some(read?),
        (None, true) => Some(password::ask("the web pages", VARIABLE)?),
        (None, false) => shell.variable(VARIABLE),
    };
    let viewer = of_file("viewer_password_file").transpose()?;
    let viewer = viewer.or_else(|| shell.variable(VIEWER_VARIABLE));
    match full.is_none() && viewer.is_some() {
        true => Err(Error::Usage(format!(
            "a password of viewers needs the full one too: set {VARIABLE}, or use --password-file \
             or --ask-password"
        ))),
        false => Ok(Passwords { full, viewer }),
    }
}

/// Reads the passwords that `web start` passes on stdin: the full one on the first line, the
/// viewers' on the second. An empty line is no password.
fn handed_passwords(shell: &Shell) -> Result<Passwords, Error> {
    let read = shell.read(WORDS_BYTES_MAX);
    let text = read.map_err(|error| Error::Failed(format!("no passwords are read: {error}")))?;
    let mut lines = text.lines().map(|line| (!line.is_empty()).then(|| line.to_owned()));
    let mut next = || lines.next().flatten();
    Ok(Passwords { full: next(), viewer: next() })
}

fn jobs(matches: &ArgMatches) -> Result<usize, Error> {
    let Some(text) = matches.get_one::<String>("jobs") else { return Ok(1) };
    let count = model::parse_count(text).map_err(|bad| Error::Usage(format!("--jobs: {bad}")))?;
    match count {
        1..=JOBS_MAX => Ok(count as usize),
        _ => Err(Error::Usage(format!("--jobs {text}: write a number from 1 to {JOBS_MAX}"))),
    }
}

fn certificate(matches: &ArgMatches) -> Option<(PathBuf, PathBuf)> {
    let path = |name: &str| matches.get_one::<String>(name).map(PathBuf::from);
    path("tls_cert").zip(path("tls_key"))
}

/// Starts a background process that serves the pages, and waits until it listens. Passwords go
/// through a pipe, so that they are in no argument.
fn start(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = flags::store_path(matches, shell)?;
    if let Some(pidfile) = PidFile::for_store(&store) {
        let shown = format!("{} (process {})", pidfile.address, pidfile.pid());
        let is_elsewhere = matches.contains_id("listen") && !pidfile.listens_at(listen(matches)?);
        return match is_elsewhere {
            true => Err(Error::Failed(format!(
                "this store is served already, at {shown}: open that, or stop it with '{}' and \
                 start again",
                stop_command(&store, shell)
            ))),
            false => shell.print(&format!("{shown}\n")),
        };
    }
    let Passwords { full, viewer } = given_passwords(matches, shell)?;
    let log_path = log_path(&store);
    let (log, began_at) = open_log(&log_path)?;
    let mut command = Process::new(own_program()?);
    command.arg("web").arg("--detached").arg("--store").arg(&store);
    for name in HIDDEN {
        command.env_remove(name);
    }
    if let Some(jobs) = matches.get_one::<String>("jobs") {
        command.arg("--jobs").arg(jobs);
    }
    command.arg("--listen").arg(listen(matches)?.to_string());
    if let Some((certificate, key)) = certificate(matches) {
        command.arg("--tls-cert").arg(certificate).arg("--tls-key").arg(key);
    }
    command.stdin(if full.is_some() { Stdio::piped() } else { Stdio::null() });
    let failed = |error: std::io::Error| Error::Failed(format!("it cannot be started: {error}"));
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().map_err(failed)?;
    if let (Some(full), Some(mut pipe)) = (full, child.stdin.take()) {
        // If it has ended already, its output has the reason.
        let _ = writeln!(pipe, "{full}\n{}", viewer.unwrap_or_default());
    }
    let mut shown = String::new();
    if let Some(pipe) = child.stdout.take() {
        BufReader::new(pipe).read_line(&mut shown).map_err(failed)?;
    }
    if shown.is_empty() {
        let code = child.wait().map_err(failed)?.code();
        let words = last_words(&log_path, began_at).unwrap_or_default();
        let words = words.trim().trim_start_matches("dbdyno: ").to_owned();
        return Err(match code {
            Some(2) => Error::Usage(words),
            _ => Error::Failed(words),
        });
    }
    shell.print(&shown.replace('\t', "\n"))?;
    let end = stop_command(&store, shell);
    shell.say(&format!("it runs in the background (process {}); stop it: {end}", child.id()));
    Ok(DONE)
}

/// Returns the command that stops the web service of a store. The command names the store unless
/// that is the default one.
fn stop_command(store: &Path, shell: &Shell) -> String {
    match default_path(&|name| shell.variable(name)).is_some_and(|default| default == store) {
        true => "dbdyno web stop".to_owned(),
        false => format!("dbdyno web stop --store {}", for_shell(&store.display().to_string())),
    }
}

fn own_program() -> Result<PathBuf, Error> {
    std::env::current_exe()
        .map_err(|error| Error::Failed(format!("the program dbdyno cannot be found: {error}")))
}

/// Opens the log of the background process to append to it; also returns its length before that.
fn open_log(path: &Path) -> Result<(fs::File, u64), Error> {
    let failed = |error| Error::Failed(format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let log = opened.map_err(failed)?;
    let length = log.metadata().map_err(failed)?.len();
    Ok((log, length))
}

fn last_words(path: &Path, from: u64) -> std::io::Result<String> {
    let mut log = fs::File::open(path)?;
    log.seek(SeekFrom::Start(from))?;
    let mut words = String::new();
    log.take(WORDS_BYTES_MAX).read_to_string(&mut words)?;
    Ok(words)
}

fn stop(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = flags::store_path(matches, shell)?;
    let Some(pidfile) = PidFile::for_store(&store) else {
        return shell.print("nothing serves this store\n");
    };
    pidfile.end()?;
    shell.print(&format!("ended (process {})\n", pidfile.pid()))
}

fn status(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = flags::store_path(matches, shell)?;
    match PidFile::for_store(&store) {
        Some(pidfile) => shell.print(&format!(
            "{} (process {})\n{}\n",
            pidfile.address,
            pidfile.pid(),
            size(&store)?
        )),
        None => shell.print("nothing serves this store\n").map(|_| FAILED),
    }
}

/// Describes how many runs a store has, their size on disk, and how long they stay.
fn size(path: &Path) -> Result<String, Error> {
    let store = Store::open_existing(path).map_err(said)?;
    let n_runs = store.list(&Filter::default()).map_err(said)?.len();
    // What was written last is in a file beside it.
    let log = PathBuf::from(format!("{}-wal", path.display()));
    let files = [path, log.as_path()];
    let bytes: u64 =
        files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).sum();
    let size = amount(bytes as f64, "B");
    Ok(format!("{}, {size}; runs stay until 'dbdyno runs rm'", count(n_runs as u64, "run")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_written_in_full_or_in_part() {
        let check = |text: &str, expect: Option<&str>| {
            let matches = command().try_get_matches_from(["web", "--listen", text]).unwrap();
            let listens = listen(&matches).ok().map(|address| address.to_string());
            assert_eq!(listens.as_deref(), expect, "{text}");
        };
        check("127.0.0.1:9000", Some("127.0.0.1:9000"));
        check("localhost:9000", Some("127.0.0.1:9000"));
        check("localhost", Some("127.0.0.1:8421"));
        check("0.0.0.0", Some("0.0.0.0:8421"));
        check("[::1]:9000", Some("[::1]:9000"));
        check("::1", Some("[::1]:8421"));
        check("9000", Some("127.0.0.1:9000"));
        check(":9000", Some("127.0.0.1:9000"));
        check("host.example:9000", None);
        check("70000", None);
    }
}
