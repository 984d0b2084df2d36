//! A command line of sysbench: its options, its test, and its command.
//!
//! Not here: the list of options (`sysbench_table`), and those of scripts.

use app::Error;
use model::{Secret, Target, suggestion};

use super::connection::Place;
use super::sysbench_table::{Owner, all, help, of_line};
use crate::cli::target_from::tls_mode;
use crate::shell::Shell;

/// Returns what sysbench says if no test is named.
pub(super) fn usage() -> String {
    format!(
        "Usage:\n  dbdyno sysbench [options]... [testname] [command]\n\nCommands implemented by \
         most tests: prepare run cleanup help\n\n{}testname is a Lua script, or one of the \
         package sysbench, such as oltp_read_write. See 'dbdyno\nsysbench <testname> help' for \
         its options. Runs are stored as any other: see 'dbdyno runs'.\n\n",
        help()
    )
}

/// Options that dbdyno does not have, and what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("report-checkpoints", "every second is kept: write dbdyno runs show last --full"),
    ("mysql-dry-run", "write --target sim: with dbdyno run to measure the tool itself"),
    ("mysql-compression", "connections are not compressed"),
    ("mysql-compression-algorithms", "connections are not compressed"),
    ("mysql-ssl-cipher", "TLS chooses its cipher itself"),
];

/// A command line of sysbench.
pub(super) struct Options {
    /// Options with their values, the last of each name, in the order of the command line.
    given: Vec<(String, String)>,
    pub(super) test: Option<String>,
    pub(super) command: Option<String>,
    /// Options that were given by names of earlier versions, with their values.
    former: Vec<(&'static str, String)>,
    /// File that stores the run; an empty one for none. It is an option of dbdyno.
    pub(super) store: Option<String>,
}

impl Options {
    /// Reads a command line: options, the test, and its command.
    ///
    /// # Errors
    ///
    /// An option that dbdyno does not have, or a configuration file that cannot be read.
    pub(super) fn read(words: &[String], shell: &Shell) -> Result<Options, Error> {
        let mut options = Options {
            given: Vec::new(),
            test: None,
            command: None,
            former: Vec::new(),
            store: None,
        };
        for word in words {
            match word.strip_prefix("--") {
                Some(option) => {
                    let (name, value) = option.split_once('=').unwrap_or((option, "on"));
                    options.take(name, value)?;
                }
                None if options.test.is_none() => options.test = Some(word.clone()),
                None if options.command.is_none() => options.command = Some(word.clone()),
                None => {
                    return Err(Error::Usage(format!(
                        "Unrecognized command line argument: {word}"
                    )));
                }
            }
        }
        // Before version 1.0 the test was an option.
        if let Some(test) = options.text("test").map(str::to_owned) {
            options.command = options.test.take().or(options.command.take());
            options.test = Some(test);
            options.given.retain(|(name, _)| name != "test");
        }
        if options.test.as_deref() == Some("-") {
            let text = shell.read(model::Source::BYTES_MAX);
            let text = text.map_err(|error| Error::Usage(format!("stdin: {error}")))?;
            plan::read_script("stdin.lua", &text)?;
            options.test = Some("stdin.lua".to_owned());
        }
        Ok(options)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let name = name.replace('_', "-");
        let former = all().find_map(|row| match row.owner {
            Owner::Former(today) if row.name == name => Some((row.name, today)),
            _ => None,
        });
        let name = former.map_or(name, |(_, today)| today.to_owned());
        self.former.extend(former.map(|(former, _)| (former, value.to_owned())));
        match name.as_str() {
            "store" => self.store = Some(value.to_owned()),
            "no-store" => self.store = Some(String::new()),
            "config-file" => self.take_file(value)?,
            _ => {
                if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name)
                    && !matches!(value, "off" | "false" | "0" | "")
                {
                    return Err(super::unsupported("sysbench", &format!("--{name}"), instead));
                }
                self.given.retain(|(other, _)| *other != name);
                self.given.push((name, value.to_owned()));
            }
        }
        Ok(())
    }

    /// Reads a file with lines of name and value.
    fn take_file(&mut self, path: &str) -> Result<(), Error> {
        let text = files::read_text(path, model::Source::BYTES_MAX)
            .map_err(|error| Error::Usage(format!("--config-file={path}: {error}")))?;
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (name, value) = line.split_once('=').unwrap_or((line, "on"));
            // The command line has priority over the file.
            let name = name.trim().replace('_', "-");
            if !self.given.iter().any(|(other, _)| *other == name) {
                self.take(&name, value.trim())?;
            }
        }
        Ok(())
    }

    /// Whether an option belongs to sysbench itself and not to a script.
    pub(super) fn is_general(name: &str) -> bool {
        let name = name.replace('_', "-");
        let is_refused = REFUSED.iter().any(|(refused, _)| *refused == name);
        is_refused || of_line(&name).is_some()
    }

    /// Creates the error for an option that neither sysbench nor the script has, whose `others` are
    /// named as users write them.
    pub(super) fn unknown(name: &str, value: &str, others: &[String]) -> Error {
        let names = all().map(|row| row.name.to_owned()).chain(others.iter().cloned());
        let names: Vec<String> = names.collect();
        let meant = suggestion(name, names.iter().map(String::as_str));
        let meant = meant.map(|meant| format!(" (did you mean '--{meant}'?)"));
        Error::Usage(format!("invalid option: --{name}={value}{}", meant.unwrap_or_default()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Returns the value of an option, or its default; `None` if it is neither given nor known.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let given = self.given.iter().find(|(other, _)| other == name);
        let given = given.map(|(_, value)| value.as_str());
        given.or_else(|| of_line(name).map(|row| row.default))
    }

    /// Returns a whole number that an option gives.
    pub(super) fn number(&self, name: &str) -> Result<u64, Error> {
        let text = self.text(name).unwrap_or("0");
        text.parse::<u64>()
            .map_err(|_| Error::Usage(format!("Invalid value for the '{name}' option: '{text}'")))
    }

    /// Returns whether an option is switched on.
    pub(super) fn switch(&self, name: &str) -> Result<bool, Error> {
        let text = self.text(name).unwrap_or("off");
        match text {
            "on" | "true" | "1" => Ok(true),
            "off" | "false" | "0" => Ok(false),
            _ => Err(Error::Usage(format!("--{name}: '{text}' is neither on nor off"))),
        }
    }

    /// Returns the options that may belong to a script, with the names that scripts know.
    pub(super) fn of_script(&self) -> impl Iterator<Item = (&str, &str)> {
        // A script may read any option, so even the general ones are offered to it.
        const CONSUMED: [&str; 4] = ["threads", "events", "time", "rate"];
        let of = self.given.iter().filter(|(name, _)| !CONSUMED.contains(&name.as_str()));
        of.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns all general options with the names that scripts know, passwords apart.
    pub(super) fn general(&self) -> String {
        let is_shown = |name: &str| !name.ends_with("password");
        let all = all().filter(|row| row.owner == Owner::Line && is_shown(row.name));
        let pairs = all.map(|row| {
            let value = self.text(row.name).unwrap_or(row.default);
            format!("{}={value}", row.name.replace('-', "_"))
        });
        let former = self.former.iter().map(|(name, value)| {
            // Scripts read these by their former names too.
            format!("{}={value}", name.replace('-', "_"))
        });
        pairs.chain(former).collect::<Vec<_>>().join(";")
    }

    /// Returns the database that the options name.
    ///
    /// # Errors
    ///
    /// A driver that dbdyno does not have, or an invalid address.
    pub(super) fn target(&self) -> Result<Target, Error> {
        let text = |name: &str| self.text(name).unwrap_or_default();
        let (scheme, prefix) = match text("db-driver") {
            "mysql" => ("mysql", "mysql"),
            "pgsql" => ("postgres", "pgsql"),
            other => {
                let why = format!("--db-driver={other}: write mysql or pgsql");
                return Err(Error::Usage(why));
            }
        };
        let of = |name: &str| text(&format!("{prefix}-{name}"));
        let mut place = Place::new(scheme, of("user"), of("db"));
        match text("mysql-socket") {
            socket if prefix == "mysql" && !socket.is_empty() => place.socket = Some(socket.into()),
            _ => place.set_hosts(of("host"), of("port"))?,
        }
        if prefix == "mysql" {
            place.option("tls", mysql_tls(text("mysql-ssl"))?);
            for name in ["ca", "cert", "key"] {
                let file = text(&format!("mysql-ssl-{name}"));
                if !file.is_empty() {
                    place.option(&format!("tls_{name}"), file);
                }
            }
        } else if self.given.iter().any(|(name, _)| name == "pgsql-sslmode") {
            place.option("tls", tls_mode(text("pgsql-sslmode")));
        }
        let mut target = place.target()?;
        if !of("password").is_empty() {
            target.password = Some(Secret::new(of("password")));
        }
        Ok(target)
    }
}

/// Returns dbdyno's name of a mode of TLS.
fn mysql_tls(mode: &str) -> Result<&'static str, Error> {
    match mode.to_ascii_lowercase().as_str() {
        "off" | "false" | "0" | "disabled" => Ok("disable"),
        "preferred" => Ok("prefer"),
        "on" | "true" | "1" | "required" => Ok("require"),
        "verify_ca" => Ok("verify-ca"),
        "verify_identity" => Ok("verify-full"),
        other => Err(Error::Usage(format!("--mysql-ssl={other} is no mode of TLS"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&words, &Shell::of_process()).map_err(|error| error.to_string())
    }

    #[test]
    fn options_test_and_command_are_read_in_any_order() {
        let options = read("--threads=4 oltp_read_write --table_size=100 run --histogram");
        let options = options.expect("a command line of sysbench");
        assert_eq!(options.test.as_deref(), Some("oltp_read_write"));
        assert_eq!(options.command.as_deref(), Some("run"));
        assert_eq!(options.number("threads"), Ok(4));
        assert_eq!(options.switch("histogram"), Ok(true));
        assert!(options.of_script().any(|pair| pair == ("table-size", "100")));
    }

    #[test]
    fn names_of_earlier_versions_mean_todays() {
        let options = read("--test=a.lua --num-threads=8 --max-requests=5 --max-time=0 run");
        let options = options.expect("a command line of sysbench 0.5");
        assert_eq!(options.test.as_deref(), Some("a.lua"));
        assert_eq!(options.command.as_deref(), Some("run"));
        assert_eq!(options.number("threads"), Ok(8));
        assert_eq!((options.number("events"), options.number("time")), (Ok(5), Ok(0)));
    }

    #[test]
    fn the_target_is_what_the_options_of_its_driver_say() {
        let check = |line: &str, expect: &str| {
            let target = read(line).expect("valid").target().expect("a target");
            assert_eq!(target.to_string(), expect);
        };
        check("--mysql-host=a,b --mysql-user=me", "mysql://me@a:3306,b:3306/sbtest?tls=disable");
        check(
            "--mysql-socket=/run/x.sock --mysql-db=d",
            "mysql://sbtest@/d?socket=/run/x.sock&tls=disable",
        );
        check("--db-driver=pgsql --pgsql-port=5433", "postgres://sbtest@localhost:5433/sbtest");
        check(
            "--mysql-user=me@home --mysql-db=a?b --mysql-host=::1",
            "mysql://me%40home@[::1]:3306/a%3Fb?tls=disable",
        );
        check(
            "--db-driver=pgsql --pgsql-host=/run/pg",
            "postgres://sbtest@/sbtest?socket=/run/pg/.s.PGSQL.5432",
        );
        let target = read("--mysql-password=a/b%c@d").expect("valid").target().expect("a target");
        assert_eq!(
            target.password.map(|word| word.reveal().to_owned()).as_deref(),
            Some("a/b%c@d")
        );
    }

    #[test]
    fn the_help_has_each_option_in_its_group() {
        let page = usage();
        for words in [
            "\nGeneral options:\n  --threads=N ",
            "\nPseudo-Random Numbers Generator options:\n  --rand-type=STRING ",
            "\nLog options:\n  --verbosity=N ",
            "\nGeneral database options:\n  --db-driver=STRING ",
            "\nmysql options:\n  --mysql-host=[LIST,...] ",
            "\npgsql options:\n  --pgsql-host=STRING ",
            "print the distribution of the latency [off]\n",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }

    #[test]
    fn options_that_are_not_there_are_refused_by_name() {
        let why = read("--mysql-dry-run oltp_read_only run").err().expect("refused");
        assert!(why.contains("--mysql-dry-run"), "{why}");
        assert!(read("--mysql-dry-run=off oltp_read_only run").is_ok());
    }
}
