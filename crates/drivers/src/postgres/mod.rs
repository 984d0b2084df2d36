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
    Refusal, Settings, Statement, Target,
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
    verified: Ok("PostgreSQL 15.18 and 18.4"),
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
        "The directory of the server's Unix socket (or the socket), instead of a host",
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
        Err(no) if no.sqlstate == NO_SUCH_DATABASE && opening.create => {
            make_database(target).map_err(CannotOpen::Refused)?;
        }
        Err(no) => return Err(CannotOpen::Refused(no)),
    }
    Ok(Arc::new(Postgres { wire }))
}

/// "invalid_catalog_name" (PostgreSQL's errcodes.txt).
const NO_SUCH_DATABASE: &str = "3D000";

/// What every server has, unless somebody took it away: databases to make others from.
const ALWAYS_THERE: [&str; 2] = ["postgres", "template1"];

/// Makes the target's database. Somebody else may be faster, which is as good.
fn make_database(target: &Target) -> Result<(), Refusal> {
    let decided = |target: &Target| server(target).expect("it was decided before");
    let name = decided(target).account.database.replace('"', "\"\"");
    let connect = |path: &str| {
        let target = Target { path: path.to_owned(), ..target.clone() };
        WireSession::connect_here(&Arc::new(decided(&target)), 0)
    };
    let [usual, last] = ALWAYS_THERE;
    let mut session = match connect(usual) {
        Err(no) if no.sqlstate == NO_SUCH_DATABASE => connect(last)?,
        session => session?,
    };
    match session.ask_here(&format!("CREATE DATABASE \"{name}\""), &mut |_| Ok(())) {
        // "duplicate_database", or its name's unique key where two come at once.
        Err(no) if matches!(no.sqlstate.as_str(), "42P04" | "23505") => Ok(()),
        made => made.map(drop),
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
    if timeout.is_zero() {
        return Err(bad("connect_timeout: 0 is no time; write 10s"));
    }
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
/// (`postgres://user@%2Fvar%2Frun%2Fpostgresql/database`). Either may be the socket itself.
fn socket(target: &Target, directory: &str) -> Option<PathBuf> {
    let host = target.hosts.first();
    let port = host.and_then(|host| host.port).unwrap_or(PORT);
    let directory = match host {
        _ if !directory.is_empty() => directory,
        Some(host) if host.name.starts_with('/') => &host.name,
        _ => return None,
    };
    let path = Path::new(directory);
    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Some(match file.starts_with(".s.PGSQL.") {
        true => path.to_owned(),
        false => path.join(format!(".s.PGSQL.{port}")),
    })
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

#[cfg(any(test, feature = "fuzzing"))]
const FUZZ_WAYS: [Way; 3] = [Way::Named, Way::Unnamed, Way::Simple];

/// A sign-in for [`crate::fuzzing`].
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_sign_in(way: usize) -> impl net::SignIn {
    let target = Target::parse("postgres://fuzz:secret@nowhere/db?tls=disable").expect("a URL");
    let server = server(&target).expect("a target");
    let account = Arc::into_inner(server.account).expect("nobody else has it");
    let account = Account { way: FUZZ_WAYS[way], ..account };
    PostgresSignIn::new(Arc::new(account), crate::fuzzing::statements(), [7; 18])
}

/// A signed-in connection for [`crate::fuzzing`].
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_protocol(way: usize) -> impl net::Protocol {
    let statements = crate::fuzzing::statements();
    protocol::Postgres::new(FUZZ_WAYS[way], statements, CancelKey::Secret(1, 2), b'I')
}

/// What a server has said, for [`crate::fuzzing`].
#[cfg(test)]
pub(crate) fn fuzz_recorded() -> Vec<u8> {
    let of = |line: &'static str| line.split_once(' ').map_or("", |(_, hex)| hex).as_bytes();
    let digits: Vec<u8> =
        include_str!("tests/recorded.txt").lines().flat_map(of).copied().collect();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.as_chunks().0.iter().filter_map(byte).take(20_000).collect()
}
