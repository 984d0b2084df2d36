//! MariaDB and MySQL, over their own protocol. The server's greeting tells which of them it is.
//!
//! Not here: sockets, TLS and sessions (net), and SQL beyond transaction control.

mod administration;
mod columns;
mod compression;
mod dates;
mod db_errors;
mod facts;
mod key;
mod load;
mod monitoring;
mod packets;
mod protocol;
pub(crate) mod reserved;
mod rows;
mod server;
mod sessions;
mod settling;
mod sign_in;
mod sql;
mod statements;
#[cfg(test)]
mod tests;
mod values;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use model::{BadParameter, DbError, Parameter, ParameterKind, Product, Settings, Target};

use crate::net::{self, NetSession};
use crate::{Entry, LocalServer, Opened, Opening};
use server::MysqlServer;

pub(crate) static ENTRY: Entry = Entry {
    name: "mysql",
    schemes: &["mariadb", "mysql"],
    summary: "MariaDB and MySQL",
    example: "mariadb://user:password@host:3306/database?tls=require",
    parameters: PARAMETERS,
    verified: Ok(
        "MariaDB 10.11.19, 11.4.5 and 11.8.9, MySQL 5.6.24 and 9.7.4; only with a scripted server: MySQL \
         5.7 and 8, parsec",
    ),
    file: |_| None,
    is_over_network: |target| target.option("socket").is_none(),
    local_server: Some(LocalServer {
        title: "MariaDB or MySQL",
        port: 3306,
        sockets: &["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"],
        programs: &["mariadbd", "mysqld"],
    }),
    product: &PRODUCT,
    check: |target| decide(target).map(drop),
    open,
};

/// Description of MySQL and MariaDB for the list of drivers, with the capabilities of both.
static PRODUCT: Product = Product {
    dialect: sql::DIALECT,
    administration: administration::ADMINISTRATION,
    monitoring: monitoring::MONITORING,
};

static PARAMETERS: &[Parameter] = &[
    Parameter::option(
        "socket",
        ParameterKind::Text,
        "",
        "Path of a Unix socket, instead of a host",
    ),
    net::TLS,
    net::TLS_CA,
    net::TLS_CERT,
    net::TLS_KEY,
    Parameter::option(
        "statements",
        ParameterKind::Choice(&["binary", "text"]),
        "binary",
        "Prepare each statement once per session and execute it in binary form, or send it as text \
         each time",
    ),
    Parameter::option(
        "compress",
        ParameterKind::Choice(&["none", "zlib"]),
        "none",
        "Compression of packets in both directions",
    ),
    Parameter::option(
        "local_infile",
        ParameterKind::Switch,
        "true",
        "Bulk loads by LOAD DATA LOCAL, streamed from memory; no file is ever read",
    ),
    net::CONNECT_TIMEOUT,
    Parameter::option(
        "statement_timeout",
        ParameterKind::Duration,
        "0s",
        "Time limit that the server sets for a statement (MySQL: SELECT only); 0 for none",
    ),
    net::ISOLATION,
    net::SESSION,
    net::MAX_PACKET,
    net::CLEAR_PASSWORD,
];

fn open(target: &Target, opening: Opening) -> Opened {
    net::open(decide(target), opening, || make_database(target))
}

fn decide(target: &Target) -> Result<MysqlServer, BadParameter> {
    let written = target.options.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = Settings::decide("mysql", PARAMETERS, written)?;
    let missing = |what: &str| {
        BadParameter::new(format!("{what}: write {}://user@host/database", target.scheme))
    };
    let user = target.user.clone().ok_or_else(|| missing("the target names no user"))?;
    let database = target.path.trim_start_matches('/');
    if database.is_empty() {
        return Err(missing("name a database"));
    }
    let socket = settings.text_given("socket").map(PathBuf::from);
    let connector = net::connector(target, &settings, socket, 3306, None)?;
    Ok(MysqlServer {
        connector,
        user,
        password: target.password.clone(),
        database: Some(database.to_owned()),
        as_text: settings.text("statements") == "text",
        compress: settings.text("compress") == "zlib",
        local_infile: settings.switch("local_infile"),
        clear_password: settings.switch("clear_password"),
        packet_bytes_max: net::packet_bytes_max(&settings)?,
        statement_timeout_ns: settings.duration_ns("statement_timeout"),
        session: net::SessionSettings::read(&settings)?,
        // A single server is queried when it is opened.
        chains: AtomicBool::new(target.hosts.len() > 1),
        sql_mode: OnceLock::new(),
        version: Mutex::default(),
    })
}

/// Creates the target's database if it does not exist.
fn make_database(target: &Target) -> Result<(), DbError> {
    let mut server = decide(target).expect("it was decided before");
    let name = server.database.take().expect("a target has a database");
    let mut session = NetSession::connect_admin(&Arc::new(server))?;
    let sql = format!("CREATE DATABASE IF NOT EXISTS `{}`", name.replace('`', "``"));
    session.ask_here(&sql, &mut |_| Ok(())).map(drop)
}

/// Creates a MySQL sign-in that waits for the server's greeting, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_sign_in(
    as_text: bool,
    compress: bool,
    packet_bytes_max: usize,
    statements: Arc<[model::Statement]>,
) -> impl crate::net::SignIn {
    let target = Target::parse("mysql://fuzz:secret@nowhere/db?tls=disable").expect("a URL");
    let server = decide(&target).expect("a target");
    let server = MysqlServer { as_text, compress, packet_bytes_max, ..server };
    sign_in::MysqlSignIn::new(Arc::new(server), statements)
}

/// Creates a MySQL connection that is already signed in, for fuzzing. Bits of `options` set the
/// capabilities agreed with the server.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_protocol(
    options: u8,
    packet_bytes_max: usize,
    statements: Arc<[model::Statement]>,
) -> impl crate::net::Protocol {
    let agreed = protocol::Agreed {
        connection_id: 1,
        has_column_end: options & 8 != 0,
        leaves_out_columns: options & 16 != 0,
        can_load: true,
        status: 0,
    };
    let as_text = options & 32 != 0;
    let protocol = protocol::MySql::new(agreed, as_text, packet_bytes_max, (&statements, 0));
    let compressor =
        (options & 64 != 0).then(|| Box::new(compression::Compressor::new(packet_bytes_max)));
    compression::Connection::new(protocol, compressor)
}

/// Returns bytes recorded from a real server, as a seed for fuzzing.
#[cfg(test)]
pub(crate) fn fuzz_recorded() -> Vec<u8> {
    let hex = include_str!("tests/mysql-5.6.txt").lines().flat_map(str::as_bytes);
    let digits: Vec<u8> = hex.copied().collect();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.as_chunks().0.iter().filter_map(byte).take(20_000).collect()
}
