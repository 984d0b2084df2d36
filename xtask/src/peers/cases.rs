//! Servers, data and programs of the comparison with sysbench and pgbench. Not here: running them.

use std::path::Path;

use anyhow::{Context, Result};
use servers::{Kind, Options, Server, for_tests};

use super::measure::Program;

/// Database server on which a case of the comparison runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    MariaDb,
    MariaDb114,
    MySql,
    Postgres,
    Postgres18,
}

/// Tables that both dbdyno and the compared program use; dbdyno builds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// Table `sbtest1` of sysbench, with 100,000 rows.
    Oltp,
    /// Tables of pgbench (TPC-B) at scale 16.
    Tpcb,
}

/// Load generator with which dbdyno is compared, with the workload that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// sysbench with the script of this name.
    Sysbench(&'static str),
    /// pgbench with its default transaction.
    Pgbench,
    /// pgbench with a script that selects one row of sysbench's table by its key.
    PgbenchSelect,
}

/// A case of the comparison: a workload of dbdyno and of another load generator on one server, with
/// several numbers of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) place: Where,
    pub(super) workload: &'static str,
    pub(super) peer: Peer,
    pub(super) data: &'static [Data],
    pub(super) clients: &'static [u32],
}

/// Statement of `oltp-point-select` as a pgbench script.
const POINT_SELECT: &str = "\\set id random(1, 100000)\nSELECT c FROM sbtest1 WHERE id = :id;\n";

const fn against_sysbench(
    place: Where,
    workload: &'static str,
    script: &'static str,
    clients: &'static [u32],
) -> Case {
    Case { place, workload, peer: Peer::Sysbench(script), data: &[Data::Oltp], clients }
}

const fn read_write(place: Where) -> Case {
    against_sysbench(place, "oltp-read-write", "oltp_read_write", &[16])
}

pub(super) static CASES: &[Case] = &[
    against_sysbench(Where::MariaDb, "oltp-point-select", "oltp_point_select", &[8, 64, 256]),
    read_write(Where::MariaDb),
    read_write(Where::MariaDb114),
    read_write(Where::MySql),
    Case {
        place: Where::Postgres,
        workload: "oltp-point-select",
        peer: Peer::PgbenchSelect,
        data: &[Data::Oltp],
        clients: &[8, 64, 256],
    },
    read_write(Where::Postgres),
    Case {
        place: Where::Postgres,
        workload: "tpcb",
        peer: Peer::Pgbench,
        data: &[Data::Tpcb],
        clients: &[16],
    },
    read_write(Where::Postgres18),
];

impl Where {
    pub(super) const ALL: &[Where] =
        &[Where::MariaDb, Where::MariaDb114, Where::MySql, Where::Postgres, Where::Postgres18];

    pub(super) fn title(self) -> &'static str {
        match self {
            Where::MariaDb => "MariaDB",
            Where::MariaDb114 => "MariaDB 11.4",
            Where::MySql => "MySQL",
            Where::Postgres => "PostgreSQL",
            Where::Postgres18 => "PostgreSQL 18",
        }
    }

    /// Returns the name of the database product without its version.
    pub(super) fn product(self) -> &'static str {
        self.title().split(' ').next().expect("a title has a word")
    }

    /// Starts a server of this kind. It does not wait for the disk at each commit, since only the
    /// load generators are compared.
    pub(super) fn start(self) -> Result<Server> {
        let server = match self {
            Where::MariaDb => &for_tests::MARIADB,
            Where::MariaDb114 => &for_tests::MARIADB_11_4,
            Where::MySql => &for_tests::MYSQL_5_6,
            Where::Postgres => &for_tests::POSTGRES,
            Where::Postgres18 => &for_tests::POSTGRES_18,
        };
        let settings: &[(&str, &str)] = match server.kind {
            Kind::Postgres => &[("synchronous_commit", "off")],
            Kind::MariaDb => &[("innodb_flush_log_at_trx_commit", "2")],
            Kind::MySql => &[("innodb_flush_log_at_trx_commit", "2"), ("max_connections", "400")],
        };
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let settings = settings.iter().map(own).collect();
        servers::start(server.kind, &Options { settings, ..server.options() })
            .with_context(|| format!("{} does not start", self.title()))
    }
}

impl Data {
    /// Builds the tables with dbdyno on a server.
    pub(super) fn make(self, dbdyno: &Path, server: &Server) -> Result<()> {
        let options: &[&str] = match self {
            Data::Oltp => &["oltp-point-select", "--table-size", "100000"],
            Data::Tpcb => &["tpcb", "--scale", "16"],
        };
        Program::build(dbdyno, server, options).measure_quietly()
    }
}

impl Peer {
    pub(super) fn name(self) -> String {
        match self {
            Peer::Sysbench(script) => format!("sysbench {script}"),
            Peer::Pgbench => "pgbench -M prepared -j 2".to_owned(),
            Peer::PgbenchSelect => "pgbench -M prepared -j 2, same statement".to_owned(),
        }
    }

    pub(super) fn program(self, server: &Server, clients: u32, seconds: u32) -> Program {
        match self {
            Peer::Sysbench(script) => Program::sysbench(server, script, clients, seconds),
            Peer::Pgbench => Program::pgbench(server, "tpcb", clients, seconds, None),
            Peer::PgbenchSelect => {
                let database = server.target().path;
                Program::pgbench(server, &database, clients, seconds, Some(POINT_SELECT))
            }
        }
    }
}

impl Case {
    /// Returns true if the minimal client supports the workload on this server.
    pub(super) fn has_bare_client(&self) -> bool {
        matches!(self.place, Where::MariaDb | Where::Postgres)
            && self.workload == "oltp-point-select"
    }

    /// Returns the line that names a case, such as `MariaDB oltp-point-select 8 clients`.
    pub(super) fn line(&self, clients: u32) -> String {
        let client = if clients == 1 { "client" } else { "clients" };
        format!("{} {} {clients} {client}", self.place.title(), self.workload)
    }
}
