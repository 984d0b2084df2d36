//! Advice of errors in the words of another program: its options in place of those of dbdyno.
//!
//! Not here: the errors (drivers, app).

use app::Error;

/// Options with which a program names a server, a password and TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// Options of sysbench that begin with `--mysql-`.
    Mysql,
    /// Options of sysbench that begin with `--pgsql-`.
    Pgsql,
    /// Options and environment variables that libpq's programs read.
    Libpq,
}

/// Advice of dbdyno, and what it is in the words of each program.
const ADVICE: &[(&str, [&str; 3])] = &[
    (
        ", or let dbdyno start one (managed:mariadb, managed:postgres)",
        [
            ", and --mysql-host, --mysql-port or --mysql-socket",
            ", and --pgsql-host and --pgsql-port",
            ", and -h and -p",
        ],
    ),
    (
        "use --ask-password, --password-file or DBDYNO_PASSWORD",
        ["give --mysql-password", "give --pgsql-password", "set PGPASSWORD, or write ~/.pgpass"],
    ),
    (
        "user and password of the target (--ask-password)",
        [
            "--mysql-user and --mysql-password",
            "--pgsql-user and --pgsql-password",
            "-U and PGPASSWORD",
        ],
    ),
    ("the user of the target", ["--mysql-user", "--pgsql-user", "-U"]),
    (
        "name another in the target's URL",
        ["name another by --mysql-db", "name another by --pgsql-db", "name another"],
    ),
    (
        "name another database in the target",
        [
            "name another database by --mysql-db",
            "name another database by --pgsql-db",
            "name another database",
        ],
    ),
];

/// Modes of TLS of a target, and their names in `--mysql-ssl`.
const TLS_OF_MYSQL: [(&str, &str); 5] = [
    ("disable", "off"),
    ("prefer", "PREFERRED"),
    ("require", "on"),
    ("verify-ca", "VERIFY_CA"),
    ("verify-full", "VERIFY_IDENTITY"),
];

impl Speaks {
    /// Returns a text with advice in this program's words.
    pub(super) fn reworded(self, text: &str) -> String {
        let mut text = text.to_owned();
        for (ours, theirs) in ADVICE {
            text = text.replace(ours, theirs[self as usize]);
        }
        let mut parts = text.split("tls=");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '-';
            let end = part.find(|letter| !is_letter(letter)).unwrap_or(part.len());
            let (mode, rest) = part.split_at(end);
            out += &self.tls(mode);
            out += rest;
        }
        out
    }

    fn tls(self, mode: &str) -> String {
        match self {
            Speaks::Mysql => {
                let known = TLS_OF_MYSQL.iter().find(|(ours, _)| *ours == mode);
                format!("--mysql-ssl={}", known.map_or(mode, |(_, theirs)| theirs))
            }
            Speaks::Pgsql => format!("--pgsql-sslmode={mode}"),
            Speaks::Libpq => format!("PGSSLMODE={mode}"),
        }
    }

    /// Returns an error with advice in this program's words.
    pub(super) fn error(self, error: Error) -> Error {
        match error {
            Error::Usage(why) => Error::Usage(self.reworded(&why)),
            Error::Failed(why) => Error::Failed(self.reworded(&why)),
            Error::Unreachable(why) => Error::Unreachable(self.reworded(&why)),
            Error::Script(error) => Error::Failed(self.reworded(&error.to_string())),
            Error::Interrupted(why) => Error::Interrupted(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_options_of_the_program() {
        let check = |text: &str, expect: [&str; 3]| {
            let all = [Speaks::Mysql, Speaks::Pgsql, Speaks::Libpq];
            assert_eq!(all.map(|speaks| speaks.reworded(text)), expect);
        };
        check(
            "the server does not offer TLS, which tls=require requires; use tls=prefer",
            [
                "the server does not offer TLS, which --mysql-ssl=on requires; use \
                 --mysql-ssl=PREFERRED",
                "the server does not offer TLS, which --pgsql-sslmode=require requires; use \
                 --pgsql-sslmode=prefer",
                "the server does not offer TLS, which PGSSLMODE=require requires; use \
                 PGSSLMODE=prefer",
            ],
        );
        check(
            "no password; use --ask-password, --password-file or DBDYNO_PASSWORD, or check the \
             user of the target",
            [
                "no password; give --mysql-password, or check --mysql-user",
                "no password; give --pgsql-password, or check --pgsql-user",
                "no password; set PGPASSWORD, or write ~/.pgpass, or check -U",
            ],
        );
    }
}
