//! PostgreSQL, on a thin client of our own: protocol 3.0, prepared statements in binary, one
//! write and one read a round trip.
//!
//! Types, messages that happen once and MD5 come from `postgres-protocol`; sockets and TLS are
//! net's. `CHAR(n)` is read as the server sends it, padded with blanks.

mod binary;
mod dialect;
mod facts;
mod load;
mod messages;
mod numeric;
mod protocol;
mod refusals;
mod row;
mod scram;
mod sign_in;
mod statements;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod types;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use model::{
    BadParameter, Connecting, Database, Dialect, Fact, Parameter, ParameterKind, Place, Places,
    Refusal, RefusalKind, Settings, Statement, Target,
};
use postgres_protocol::message::frontend;

use crate::net::{self, CancelKey, Connector, Tls, TlsMode, Wire, WireSession};
use crate::{CannotOpen, Entry, Opened, Opening};
use scram::KeyCache;
use sign_in::{Account, PostgresSignIn};

/// PostgreSQL in the list of databases.
pub(crate) static ENTRY: Entry = Entry {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    summary: "PostgreSQL over TCP or a Unix socket",
    example: "postgres://user@host/database?tls=require",
    parameters: PARAMETERS,
    verified: Ok("PostgreSQL 15"),
    dialect: &dialect::DIALECT,
    open,
};

const PORT: u16 = 5432;

const fn parameter(
    name: &'static str,
    kind: ParameterKind,
    default: &'static str,
    help: &'static str,
) -> Parameter {
    Parameter { name, kind, default, help, shapes_data: false }
}

static PARAMETERS: &[Parameter] = &[
    parameter(
        "tls",
        ParameterKind::Choice(TlsMode::NAMES),
        "prefer",
        "Whether connections are secured, and how the server must prove itself",
    ),
    parameter(
        "tls_ca",
        ParameterKind::Text,
        "",
        "A PEM file of authorities to trust instead of the system's",
    ),
    parameter(
        "socket",
        ParameterKind::Text,
        "",
        "The directory of the server's Unix socket, instead of a host",
    ),
    parameter(
        "statements",
        ParameterKind::Choice(&["named", "unnamed", "simple"]),
        "named",
        "Prepared once (named), at each call (unnamed), or sent as text (simple: old PgBouncer)",
    ),
    parameter(
        "connect_timeout",
        ParameterKind::Duration,
        "10s",
        "How long connecting and signing in may wait for the server",
    ),
    parameter(
        "application_name",
        ParameterKind::Text,
        "dbdyno",
        "What the server calls our sessions in pg_stat_activity and its log",
    ),
];

/// How statements reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Prepared once a connection.
    Named,
    /// Prepared at each call, without a name.
    Unnamed,
    /// As text, values and all.
    Simple,
}

impl Way {
    fn by_name(name: &str) -> Way {
        match name {
            "named" => Way::Named,
            "unnamed" => Way::Unnamed,
            _ => Way::Simple,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Way::Named => "named",
            Way::Unnamed => "unnamed",
            Way::Simple => "simple",
        }
    }
}

/// A server, or several of them, and who signs in there.
struct Server {
    connector: Connector,
    account: Arc<Account>,
}

impl net::Server for Server {
    type SignIn = PostgresSignIn;

    fn connector(&self) -> &Connector {
        &self.connector
    }

    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> PostgresSignIn {
        let mut nonce = [0; 18];
        getrandom::fill(&mut nonce).expect("the system has random bytes");
        PostgresSignIn::new(Arc::clone(&self.account), statements, nonce)
    }

    fn message_bytes_max(&self) -> usize {
        messages::ROW_BYTES_MAX
    }

    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]) {
        let mut processes = Vec::new();
        for key in keys {
            if let CancelKey::Secret(process, secret) = *key {
                processes.push(process.to_string());
                let mut request = BytesMut::new();
                frontend::cancel_request(process, secret, &mut request);
                // The server has done it when it ends the connection; nobody hears of trouble.
                let _ = net::tell(self, place, &request);
            }
        }
        // A request that comes before the statement has been read is lost, and a server does not
        // look whether anybody waits for what it does.
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN ({}) AND \
             usename = current_user AND application_name = current_setting('application_name')",
            processes.join(", ")
        );
        if let (false, Ok(mut session)) =
            (processes.is_empty(), WireSession::connect_here(self, place))
        {
            let _ = session.ask_here(&sql, &mut |_| Ok(()));
        }
    }
}

/// An opened PostgreSQL database.
struct Postgres {
    wire: Wire<Server>,
}

fn open(target: &Target, opening: Opening) -> Opened {
    let wire = Wire::new(server(target).map_err(CannotOpen::Bad)?);
    // Whatever is wrong with the target, it is told before a thousand clients meet it.
    match WireSession::connect_here(wire.server(), 0) {
        Ok(_) => {}
        Err(no) if no.kind == RefusalKind::Missing && opening.create => {
            make_database(target, &wire.server().account.database)?;
        }
        Err(no) => return Err(CannotOpen::Refused(no)),
    }
    Ok(Arc::new(Postgres { wire }))
}

/// Makes the target's database, asked for in the one that every server has.
fn make_database(target: &Target, name: &str) -> Result<(), CannotOpen> {
    let known = Target { path: "postgres".to_owned(), ..target.clone() };
    let server = Arc::new(server(&known).map_err(CannotOpen::Bad)?);
    let sql = format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\""));
    let made = WireSession::connect_here(&server, 0)
        .and_then(|mut session| session.ask_here(&sql, &mut |_| Ok(())));
    match made {
        Ok(_) => Ok(()),
        // Somebody else has just made it.
        Err(no) if no.sqlstate == "42P04" => Ok(()),
        Err(no) => {
            let what = format_args!("the database '{name}' is not there and cannot be made");
            Err(CannotOpen::Refused(no.during(what)))
        }
    }
}

fn server(target: &Target) -> Result<Server, BadParameter> {
    let written = target.options.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = Settings::decide("postgres", PARAMETERS, written)?;
    let bad = |words: &str| BadParameter(words.to_owned());
    let user = target.user.clone().filter(|user| !user.is_empty());
    let user =
        user.ok_or_else(|| bad("name a user: postgres://user@host/database (a host or socket=)"))?;
    // `postgres:///name` keeps its slash as a file's path would.
    let database = match target.path.trim_start_matches('/') {
        "" => user.clone(),
        name => name.to_owned(),
    };
    let text = |name: &str| if settings.has(name) { settings.text(name) } else { "" };
    let mode = TlsMode::by_name(text("tls")).expect("one of the choices");
    let ca = Some(Path::new(text("tls_ca"))).filter(|path| !path.as_os_str().is_empty());
    let timeout = Duration::from_nanos(settings.duration_ns("connect_timeout"));
    let addresses = Connector::addresses(target, socket(target, text("socket")), PORT);
    let account = Account {
        user,
        password: target.password.clone(),
        database,
        application_name: text("application_name").to_owned(),
        way: Way::by_name(text("statements")),
        keys: KeyCache::default(),
    };
    let connector = Connector::new(addresses, Tls::new(mode, ca)?, timeout);
    Ok(Server { connector, account: Arc::new(account) })
}

/// The Unix socket of a target: in `directory`, or in a host that is written as a path
/// (`postgres://user@%2Fvar%2Frun%2Fpostgresql/database`).
fn socket(target: &Target, directory: &str) -> Option<PathBuf> {
    let host = target.hosts.first();
    let port = host.and_then(|host| host.port).unwrap_or(PORT);
    let directory = match host {
        _ if !directory.is_empty() => directory,
        Some(host) if host.name.starts_with('/') => &host.name,
        _ => return None,
    };
    Some(Path::new(directory).join(format!(".s.PGSQL.{port}")))
}

impl Database for Postgres {
    fn dialect(&self) -> &Dialect {
        &dialect::DIALECT
    }

    fn places(&self) -> Places {
        Places { thread: true, event_loop: true, simulated: false }
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        self.wire.connect(place, statements)
    }

    fn facts(&self) -> Result<Vec<Fact>, Refusal> {
        facts::facts(self.wire.server())
    }
}
