//! Options of sysbench 1.0.20 and its unreleased successor 1.1, in the groups in which sysbench
//! lists them.
//!
//! Not here: how a command line is read (`sysbench_options`), and options of scripts.

use render::drop_in::sysbench::{OptionRow, option_group};

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Switch,
    Number,
    Size,
    Text,
    List,
    File,
}

/// An option that sysbench has for all tests.
pub(super) struct Row {
    /// Name with hyphens; users may write underscores.
    pub(super) name: &'static str,
    takes: Takes,
    pub(super) default: &'static str,
    help: &'static str,
    pub(super) owner: Owner,
}

/// Reader of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The command line, which offers its value to scripts.
    Line,
    /// The script, as one of its parameters.
    Script,
    /// The command line of dbdyno alone.
    Dbdyno,
    /// Nobody: another name of an option.
    Former(&'static str),
}

/// Options under one title.
struct Group {
    title: &'static str,
    rows: &'static [Row],
}

const fn row(name: &'static str, takes: Takes, default: &'static str, help: &'static str) -> Row {
    Row { name, takes, default, help, owner: Owner::Line }
}

const fn of_script(
    name: &'static str,
    takes: Takes,
    default: &'static str,
    help: &'static str,
) -> Row {
    Row { name, takes, default, help, owner: Owner::Script }
}

const fn former(name: &'static str, of: &'static str, help: &'static str) -> Row {
    Row { name, takes: Takes::Number, default: "0", help, owner: Owner::Former(of) }
}

const fn of_dbdyno(name: &'static str, takes: Takes, help: &'static str) -> Row {
    Row { name, takes, default: "", help, owner: Owner::Dbdyno }
}

static GROUPS: &[Group] = &[
    Group {
        title: "General options:",
        rows: &[
            row("threads", Takes::Number, "1", "clients, each with a connection"),
            row("events", Takes::Number, "0", "end after this number of events; 0: no limit"),
            row("time", Takes::Number, "10", "end after this number of seconds; 0: no limit"),
            row("warmup-time", Takes::Number, "0", "seconds of load before the figures begin"),
            row(
                "forced-shutdown",
                Takes::Text,
                "off",
                "without effect: events at the end are cut off",
            ),
            row("thread-stack-size", Takes::Size, "64K", "without effect"),
            row("thread-init-timeout", Takes::Number, "30", "without effect"),
            row("rate", Takes::Number, "0", "events per second that arrive; 0: as many as can be"),
            row("report-interval", Takes::Number, "0", "seconds between lines of figures; 0: none"),
            row("debug", Takes::Switch, "off", "named among the options; for scripts that read it"),
            row(
                "validate",
                Takes::Switch,
                "off",
                "named among the options; for scripts that read it",
            ),
            row("help", Takes::Switch, "off", "print this page"),
            row("version", Takes::Switch, "off", "print the version"),
            of_dbdyno("config-file", Takes::File, "file with an option and its value on each line"),
            row("luajit-cmd", Takes::Text, "", "without effect"),
            former("tx-rate", "rate", "former name of --rate"),
            former("max-requests", "events", "former name of --events"),
            former("max-time", "time", "former name of --time"),
            former("num-threads", "threads", "former name of --threads"),
            former("init-rng", "rand-seed", "former name of --rand-seed"),
        ],
    },
    Group {
        title: "Pseudo-Random Numbers Generator options:",
        rows: &[
            of_script(
                "rand-type",
                Takes::Text,
                "special",
                "distribution of numbers {uniform,gaussian,special,pareto,zipfian}",
            ),
            of_script(
                "rand-spec-iter",
                Takes::Number,
                "12",
                "uniform numbers of which a gaussian one is the mean",
            ),
            of_script(
                "rand-spec-pct",
                Takes::Number,
                "1",
                "width of the middle of the distribution special, in % of the range",
            ),
            of_script(
                "rand-spec-res",
                Takes::Number,
                "75",
                "share of the numbers that are in that middle, in %",
            ),
            row(
                "rand-seed",
                Takes::Number,
                "0",
                "seed of all numbers; 0: another one for each run",
            ),
            of_script("rand-pareto-h", Takes::Number, "0.2", "h of the distribution pareto"),
            of_script(
                "rand-zipfian-exp",
                Takes::Number,
                "0.8",
                "exponent of the distribution zipfian",
            ),
        ],
    },
    Group {
        title: "Log options:",
        rows: &[
            row("verbosity", Takes::Number, "3", "below 3: only errors, and what scripts print"),
            row("percentile", Takes::Number, "95", "percentile of the latency; 0: none"),
            row("histogram", Takes::Switch, "off", "print the distribution of the latency"),
        ],
    },
    Group {
        title: "General database options:",
        rows: &[
            row("db-driver", Takes::Text, "mysql", "database {mysql,pgsql}"),
            of_script(
                "db-ps-mode",
                Takes::Text,
                "auto",
                "prepared statements {auto,disable}; disable: they are sent as text",
            ),
            row("db-debug", Takes::Switch, "off", "without effect"),
        ],
    },
    Group {
        title: "mysql options:",
        rows: &[
            row("mysql-host", Takes::List, "localhost", "hosts of the server"),
            row("mysql-port", Takes::List, "3306", "ports of the server"),
            row("mysql-socket", Takes::List, "", "socket of the server, instead of a host"),
            row("mysql-user", Takes::Text, "sbtest", "user"),
            row("mysql-password", Takes::Text, "", "password, which is neither stored nor printed"),
            row("mysql-db", Takes::Text, "sbtest", "database"),
            row(
                "mysql-ssl",
                Takes::Text,
                "off",
                "TLS {off,on} or a mode of 1.1, such as VERIFY_CA",
            ),
            row("mysql-ssl-ca", Takes::File, "", "certificate authority of the server"),
            row("mysql-ssl-cert", Takes::File, "", "certificate of the client"),
            row("mysql-ssl-key", Takes::File, "", "private key of the client"),
            row("mysql-debug", Takes::Switch, "off", "without effect"),
            of_script(
                "mysql-ignore-errors",
                Takes::List,
                "1213,1020,1205",
                "errors after which an event is run again, or all",
            ),
        ],
    },
    Group {
        title: "pgsql options:",
        rows: &[
            row(
                "pgsql-host",
                Takes::Text,
                "localhost",
                "hosts of the server, or folder of its socket",
            ),
            row("pgsql-port", Takes::Number, "5432", "port of the server"),
            row("pgsql-user", Takes::Text, "sbtest", "user"),
            row("pgsql-password", Takes::Text, "", "password, which is neither stored nor printed"),
            row("pgsql-db", Takes::Text, "sbtest", "database"),
            row("pgsql-sslmode", Takes::Text, "prefer", "mode of TLS, as libpq names them"),
        ],
    },
    Group {
        title: "dbdyno options:",
        rows: &[
            of_dbdyno("store", Takes::File, "file that keeps the run"),
            of_dbdyno("no-store", Takes::Switch, "do not keep the run"),
        ],
    },
];

/// Returns all options, in the order in which sysbench lists them.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    GROUPS.iter().flat_map(|group| group.rows)
}

/// Returns the option that the command line reads by this name.
pub(super) fn of_line(name: &str) -> Option<&'static Row> {
    all().find(|row| row.name == name && row.owner == Owner::Line)
}

/// Returns the help on all options, group by group.
pub(super) fn help() -> String {
    let mut page = String::new();
    for group in GROUPS {
        let rows: Vec<OptionRow> = group.rows.iter().map(Row::shown).collect();
        page += &option_group(group.title, &rows);
        page.push('\n');
    }
    page
}

impl Row {
    fn shown(&self) -> OptionRow {
        let form = match self.takes {
            Takes::Switch => "[=on|off]",
            Takes::Number => "=N",
            Takes::Size => "=SIZE",
            Takes::Text => "=STRING",
            Takes::List => "=[LIST,...]",
            Takes::File => "=FILENAME",
        };
        OptionRow {
            flag: format!("--{}{form}", self.name),
            help: self.help.to_owned(),
            default: (self.owner != Owner::Dbdyno).then(|| self.default.to_owned()),
        }
    }
}
