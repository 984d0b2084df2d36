//! Confirmation before tables are dropped that dbdyno did not build: typed on the terminal, or
//! given by a flag with the name of the database.
//!
//! Not here: dropping them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use app::{Error, Stop};
use model::{Target, format_count};

use crate::shell::Shell;

/// Interval of checks for Ctrl-C while waiting for input.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Asks the user to confirm that the given tables (name, number of rows) may be dropped. The name
/// of the database confirms it, from `--confirm` (`named`) or typed. Fails without it; succeeds at
/// once if there are no tables.
pub(crate) fn is_to_be_dropped(
    target: &Target,
    tables: &[(String, u64)],
    named: Option<&str>,
    stop: &Stop,
    shell: &Shell,
) -> Result<(), Error> {
    if tables.is_empty() {
        return Ok(());
    }
    let name = name_of(target);
    let rows = |(table, n_rows): &(String, u64)| match n_rows {
        1 => format!("{table} (1 row)"),
        n_rows => format!("{table} ({} rows)", format_count(*n_rows)),
    };
    let listed: Vec<String> = tables.iter().map(rows).collect();
    let listed = listed.join(", ");
    if let Some(named) = named {
        return match named == name {
            true => Ok(()),
            false => Err(Error::Usage(format!(
                "--confirm {named}: the database is '{name}', and dbdyno did not build its \
                 tables {listed}; nothing was dropped"
            ))),
        };
    }
    if !shell.reads_terminal() {
        return Err(Error::Failed(format!(
            "nothing was dropped: dbdyno did not build these tables: {listed}, and there is no \
             terminal to ask on whether their rows may be lost"
        )));
    }
    shell.say(&format!("dbdyno did not build these tables: {listed}. Their rows would be lost."));
    shell.say(&format!("Type the name of the database ({name}) to drop them:"));
    match typed(stop)? == name {
        true => Ok(()),
        false => Err(Error::Failed("not confirmed: nothing was dropped".to_owned())),
    }
}

/// Returns the name that the user must type to confirm a drop: that of the database at the server,
/// or of the SQLite file.
fn name_of(target: &Target) -> String {
    let name = Path::new(&target.path).file_name();
    name.map_or_else(|| target.to_string(), |name| name.to_string_lossy().into_owned())
}

/// Reads a line from the terminal, without surrounding blanks. Fails if there is no terminal, or
/// after Ctrl-C.
fn typed(stop: &Stop) -> Result<String, Error> {
    let terminal = File::open("/dev/tty");
    let terminal = terminal.map_err(|error| Error::Failed(format!("the terminal: {error}")))?;
    let (tell, answer) = channel();
    // A reader cannot be woken; after Ctrl-C it ends with the process.
    thread::spawn(move || {
        let mut line = String::new();
        let _ = tell.send(BufReader::new(terminal).read_line(&mut line).map(|_| line));
    });
    loop {
        match answer.recv_timeout(LOOK_EVERY) {
            Ok(Ok(line)) => return Ok(line.trim().to_owned()),
            Ok(Err(error)) => return Err(Error::Failed(format!("the terminal: {error}"))),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the reader answers"),
            Err(RecvTimeoutError::Timeout) if stop.is_asked() => {
                let why = "interrupted before it was confirmed; nothing was dropped";
                return Err(Error::Interrupted(why.to_owned()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_called_by_its_name_at_the_server_or_by_its_file() {
        let check = |url: &str, expect: &str| {
            assert_eq!(name_of(&Target::parse(url).expect("a target")), expect);
        };
        check("mariadb://me@db1:3307/shop?tls=require", "shop");
        check("postgres:///shop?socket=/run", "shop");
        check("sqlite:/var/lib/shop.db", "shop.db");
    }
}
