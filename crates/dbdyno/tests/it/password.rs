//! Tests of all sources of passwords, which must not leak.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, Ran};
use crate::real::{url, url_and_password};
use crate::waiting::Started;

const QUICK: [&str; 6] = ["run", "empty", "--duration=1s", "--ramp-up=0s", "--quiet", "--rate=20"];

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], more].concat()
}

/// Asserts that `secret` is neither in the output nor in any file of the home.
#[track_caller]
fn silent(home: &Home, ran: &Ran, secret: &str) {
    assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{}{}", ran.out, ran.err);
    for file in ["data/dbdyno/runs.sqlite", "data/dbdyno/runs.sqlite-wal"] {
        let bytes = fs::read(home.path(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{file}");
    }
}

#[test]
fn the_list_of_processes_does_not_show_the_password_of_a_url() {
    for server in [POSTGRES.shared(), MARIADB.shared()] {
        let home = Home::new();
        let (url, (_, secret)) = (url(server), url_and_password(server));
        let target = format!("--target={url}");
        let words = ["run", "empty", "--duration=600s", "--ramp-up=0s", "--rate=20", &target];
        let mut run = home.start(&words);
        run.wait_until("the load", |said| said.contains("of 10m"));
        let shown = fs::read(format!("/proc/{}/cmdline", run.id())).expect("it lives");
        let shown = String::from_utf8_lossy(&shown).replace('\0', " ");
        assert!(shown.contains("run empty --duration=600s"), "{shown}");
        assert!(shown.contains(":***@127.0.0.1") && !shown.contains(&secret), "{shown}");
        run.interrupt();
        silent(&home, &run.end().code(130), &secret);
    }
}

#[test]
fn passwords_of_varied_targets_are_kept_nowhere() {
    let server = MARIADB.shared();
    let home = Home::new();
    let (url, (_, secret)) = (url(server), url_and_password(server));
    let vary = format!("--vary=target={url},{url}?tls=disable");
    let ran = home.run(&["run", "empty", &vary, "--duration=1s", "--ramp-up=0s", "--rate=20"]);
    silent(&home, &ran.good(), &secret);
    silent(&home, &home.run(&["experiments", "show", "last", "--output=json"]).good(), &secret);
    for file in ["x.json", "x.csv", "x.hlog", "x.dbdyno"] {
        home.run(&["runs", "export", "last", "-o", file]).good();
        let bytes = fs::read(home.path(file)).expect("it was written");
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{file}");
    }
    silent(&home, &home.run(&["runs", "show", "last", "--config", "--settings"]).good(), &secret);
    let twice = format!("--vary=target={url},{url}");
    let ran = home.run(&["run", "empty", &twice, "--duration=1s"]).code(2);
    silent(&home, &ran.warns(&["twice"]), &secret);
}

#[test]
fn a_password_comes_from_the_environment_or_a_file() {
    let home = Home::new();
    let (url, secret) = url_and_password(POSTGRES.shared());
    let target = format!("--target={url}");
    home.run(&args(&[&target])).code(1).warns(&["password"]).is_a_sentence();

    let mut command = home.dbdyno(&args(&[&target]));
    command.env("DBDYNO_PASSWORD", &secret);
    let ran = Started::new(command).end().good();
    assert!(ran.out.contains("TPS"), "{}", ran.err);
    silent(&home, &ran, &secret);

    // Some editors write a byte order mark, and CR LF at the end of lines.
    for text in [format!("{secret}\nnothing of interest\n"), format!("\u{feff}{secret}\r\n")] {
        let file = home.write("password", text);
        let ran = home.run(&args(&[&target, "--password-file", &file])).good();
        assert!(ran.out.contains("TPS"), "{}", ran.err);
        silent(&home, &ran, &secret);
    }
}

#[test]
fn a_flag_holds_over_the_url_and_the_url_over_the_environment() {
    let home = Home::new();
    let (plain, secret) = url_and_password(POSTGRES.shared());
    let wrong = plain.replacen('@', ":wrong@", 1);
    let right = url(POSTGRES.shared());
    let file = home.write("password", &secret);
    let ran = home.run(&args(&["--target", &wrong, "--password-file", &file]));
    assert!(ran.out.contains("TPS"), "{}", ran.err);
    let mut command = home.dbdyno(&args(&["--target", &right]));
    command.env("DBDYNO_PASSWORD", "wrong");
    let ran = Started::new(command).end();
    assert!(ran.out.contains("TPS"), "{}", ran.err);
    let ran = home.run(&args(&["--target", &wrong])).code(1);
    ran.warns(&["check user and password"]).is_a_sentence();
}

#[test]
fn a_password_that_cannot_be_had_is_reported_with_the_other_ways() {
    let home = Home::new();
    let target = "--target=postgres://me@127.0.0.1/shop";
    let check = |more: &[&str], fragments: &[&str]| {
        home.run(&args(&[&[target], more].concat())).code(2).warns(fragments).is_a_sentence();
    };
    check(&["--password-file=nowhere"], &["--password-file nowhere", "No such file"]);
    let empty = home.write("empty", "\n");
    check(&["--password-file", &empty], &["its first line is empty"]);
    let ran = home.run(&["run", "tpcc", "--target=sqlite:a.db", "--password-file=x"]).code(2);
    ran.warns(&["--password-file: sqlite:a.db has no sign-in"]).is_a_sentence();
    let both = home.run(&args(&[target, "--password-file=x", "--ask-password"])).code(2);
    both.warns(&["--ask-password", "cannot be used with"]);
    // In a new session a process has no terminal.
    let mut command = home.command("setsid");
    command.arg("--wait").arg(env!("CARGO_BIN_EXE_dbdyno"));
    command.args(args(&[target, "--ask-password"]));
    let ran = Started::new(command).end().code(2);
    ran.warns(&["no terminal to ask on", "--password-file", "DBDYNO_PASSWORD"]).is_a_sentence();
}

/// Opens a pseudo-terminal; returns the controlling side, a command that uses the terminal, and the
/// other side.
pub(crate) fn on_a_terminal(home: &Home, words: &[&str]) -> (File, Command, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().expect("a path"));
    let mut command = home.command("setsid");
    command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_dbdyno")]).args(words);
    let theirs = theirs.expect("it is unlocked");
    command.stdin(Stdio::from(theirs.try_clone().expect("it is open")));
    (File::from(ours), command, theirs)
}

#[test]
fn a_password_is_asked_for_without_echo() {
    let home = Home::new();
    let (url, secret) = url_and_password(POSTGRES.shared());
    let words = args(&["--target", &url, "--ask-password"]);
    let (mut terminal, command, _theirs) = on_a_terminal(&home, &words);
    let started = Started::new(command);
    let asked = read_until(&mut terminal, "Password for postgres://dbdyno@127.0.0.1");
    assert!(!asked.contains(&secret));
    terminal.write_all(format!("{secret}\n").as_bytes()).expect("it listens");
    let echoed = read_until(&mut terminal, "\n");
    assert!(!echoed.contains(&secret), "{echoed}");
    let ran = started.end();
    assert!(ran.out.contains("TPS"), "{}", ran.err);
    silent(&home, &ran, &secret);
}

#[test]
fn an_interrupted_question_ends_with_its_code() {
    let home = Home::new();
    let words = args(&["--target=postgres://me@127.0.0.1/shop", "--ask-password"]);
    let (mut terminal, command, _theirs) = on_a_terminal(&home, &words);
    let started = Started::new(command);
    read_until(&mut terminal, "Password for");
    terminal.write_all(&[3]).expect("it listens");
    started.end().code(130).warns(&["interrupted while the password was asked for"]);
}

/// Reads the output of a terminal up to `what`, and returns it.
pub(crate) fn read_until(terminal: &mut File, what: &str) -> String {
    let mut shown = String::new();
    let mut bytes = [0; 256];
    while !shown.contains(what) {
        let n = terminal.read(&mut bytes).expect("the other side is open");
        shown += &String::from_utf8_lossy(&bytes[..n]);
    }
    shown
}
