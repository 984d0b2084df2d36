//! Driver for PostgreSQL, with its own thin client: protocol 3.0, prepared statements in binary
//! format, one write and one read per round trip.
//!
//! Messages of the sign-in and MD5 come from `postgres-protocol`; sockets and TLS are in net.
//! `CHAR(n)` is returned as the server sends it, padded with blanks.

mod administration;
mod binary;
mod completion;
mod db_errors;
mod facts;
mod load;
mod messages;
mod monitoring;
mod numeric;
mod protocol;
mod row;
mod scram;
mod settling;
mod sign_in;
mod sql;
mod statements;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use model::{
    BadParameter, DbError, DbErrorKind, Fact, NS_PER_MS, Parameter, ParameterKind, Product, Row,
    Secret, Settings, Statement, Target,
};
use postgres_protocol::message::frontend;

use crate::net::{self, CancelKey, Connector, NetSession};
use crate::{Entry, LocalServer, Opened, Opening};
use scram::KeyCache;
use sign_in::{Account, ChannelBinding, PostgresSignIn};

pub(crate) static ENTRY: Entry = Entry {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    summary: "PostgreSQL over TCP or a Unix socket",
    example: "postgres://user@host/database?tls=require",
    parameters: PARAMETERS,
    verified: Ok("PostgreSQL 15.18 and 18.4"),
    file: |_| None,
    is_over_network: |target| {
        // A host that is a folder contains a socket.
        let is_folder = |host: &model::Host| host.name.starts_with('/');
        target.option("socket").is_none() && !target.hosts.iter().any(is_folder)
    },
    local_server: Some(LocalServer {
        title: "PostgreSQL",
        port: 5432,
        sockets: &["/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432"],
        programs: &["postgres"],
    }),
    product: &PRODUCT,
    check: |target| server(target).map(drop),
    open,
};

const PORT: u16 = 5432;

/// Name of PostgreSQL's protocol for TLS (ALPN).
const ALPN: &str = "postgresql";

/// Description of PostgreSQL, in all versions, for the list of drivers: its capabilities and SQL.
static PRODUCT: Product = Product {
    dialect: sql::DIALECT,
    administration: administration::ADMINISTRATION,
    monitoring: monitoring::MONITORING,
};

static PARAMETERS: &[Parameter] = &[
    net::TLS,
    net::TLS_CA,
    net::TLS_CERT,
    net::TLS_KEY,
    Parameter::option(
        "channel_binding",
        ParameterKind::Choice(ChannelBinding::NAMES),
        "prefer",
        "Binding of a SCRAM sign-in to its TLS connection: require rejects every sign-in without it",
    ),
    Parameter::option(
        "sslnegotiation",
        ParameterKind::Choice(&["postgres", "direct"]),
        "postgres",
        "Ask the server for TLS first, or begin with TLS (direct: a round trip less; PostgreSQL 17 \
         or later)",
    ),
    Parameter::option(
        "socket",
        ParameterKind::Text,
        "",
        "Directory of the server's Unix socket (or the socket itself), instead of a host",
    ),
    Parameter::option(
        "statements",
        ParameterKind::Choice(&["named", "unnamed", "simple"]),
        "named",
        "Prepare statements once (named) or at each call (unnamed), or send them as text (simple: \
         old PgBouncer)",
    ),
    net::CONNECT_TIMEOUT,
    Parameter::option(
        "statement_timeout",
        ParameterKind::Duration,
        "0s",
        "Time limit that the server sets for a statement; 0 for none",
    ),
    net::ISOLATION,
    net::SESSION,
    net::MAX_PACKET,
    net::CLEAR_PASSWORD,
    Parameter::option(
        "application_name",
        ParameterKind::Text,
        "dbdyno",
        "Name of dbdyno's sessions in pg_stat_activity and in the server's log",
    ),
];

/// The way in which statements are sent, as chosen by the option `statements`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Statements are prepared once per connection, with a name.
    Named,
    /// Statements are prepared at each execution, without a name.
    Unnamed,
    /// Statements are sent as text, with their values as literals.
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

/// One or several PostgreSQL servers of a target, with the account there.
struct Server {
    connector: Connector,
    packet_bytes_max: usize,
    account: Arc<Account>,
}

impl net::Server for Server {
    type SignIn = PostgresSignIn;

    const PRODUCT: &'static Product = &PRODUCT;

    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError> {
        facts::facts(self)
    }

    fn learn(self: &Arc<Self>, session: &mut NetSession<Server>) -> bool {
        // A pooler draws the process ID that it reports to its clients.
        let mut number = None;
        let _ = session.ask_here("SELECT pg_backend_pid()", &mut |row: &dyn Row| {
            number = Some(row.int(0)?);
            Ok(())
        });
        let is_pooled = match (session.cancel_key(), number) {
            (Some(CancelKey::Secret(process, _)), Some(number)) => i64::from(process) != number,
            _ => false,
        };
        self.account.is_pooled.store(is_pooled, Ordering::Relaxed);
        is_pooled
    }

    fn connector(&self) -> &Connector {
        &self.connector
    }

    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> PostgresSignIn {
        let mut nonce = [0; 18];
        getrandom::fill(&mut nonce).expect("the system has random bytes");
        let statements = (statements, self.connector.statements_kept());
        PostgresSignIn::new(Arc::clone(&self.account), statements, nonce)
    }

    fn secret(&self) -> Option<&Secret> {
        self.account.password.as_ref()
    }

    fn message_bytes_max(&self) -> usize {
        self.packet_bytes_max
    }

    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]) {
        let mut keys: BTreeMap<i64, i32> = keys
            .iter()
            .filter_map(|key| match *key {
                CancelKey::Secret(process, secret) => Some((i64::from(process), secret)),
                CancelKey::KillQuery(_) => None,
            })
            .collect();
        // Errors are ignored: no caller waits for them.
        let _ = terminate(self, place, &mut keys);
        // A server does not know a pooler's keys, and a full one accepts no session: for the
        // remaining keys, a cancel request is sent on a connection each, as long as these succeed.
        for (process, secret) in keys {
            let mut request = BytesMut::new();
            frontend::cancel_request(process as i32, secret, &mut request);
            if net::tell(self, place, &request).is_err() {
                return;
            }
        }
    }
}

/// Terminates sessions that were cancelled, by SQL, and removes from `keys` those that the server
/// knows. A cancel request is not enough: it is lost if it arrives before the statement, and a
/// server does not check whether its client still waits.
fn terminate(
    server: &Arc<Server>,
    place: usize,
    keys: &mut BTreeMap<i64, i32>,
) -> Result<(), DbError> {
    let processes: Vec<String> = keys.keys().map(i64::to_string).collect();
    if processes.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN ({}) AND \
         usename = current_user AND application_name = current_setting('application_name')",
        processes.join(", ")
    );
    let mut session = NetSession::connect_here(server, place)?;
    session.ask_here(&sql, &mut |row: &dyn Row| {
        keys.remove(&row.int(0)?);
        Ok(())
    })?;
    Ok(())
}

fn open(target: &Target, opening: Opening) -> Opened {
    net::open(server(target), opening, || make_database(target))
}

/// Databases to which dbdyno connects in order to create another. They exist on every server unless
/// somebody removed them.
const ALWAYS_THERE: [&str; 2] = ["postgres", "template1"];

/// Creates the target's database if it does not exist, and ignores that another client does so at
/// the same time.
fn make_database(target: &Target) -> Result<(), DbError> {
    let decided = |target: &Target| server(target).expect("it was decided before");
    let name = decided(target).account.database.replace('"', "\"\"");
    let connect = |path: &str| {
        let target = Target { path: path.to_owned(), ..target.clone() };
        NetSession::connect_admin(&Arc::new(decided(&target)))
    };
    let [usual, last] = ALWAYS_THERE;
    let mut session = match connect(usual) {
        Err(no) if no.kind == DbErrorKind::Missing => connect(last)?,
        session => session?,
    };
    match session.ask_here(&format!("CREATE DATABASE \"{name}\""), &mut |_| Ok(())) {
        // The error is a duplicate key if two clients create the database at once.
        Err(no) if matches!(no.kind, DbErrorKind::Exists | DbErrorKind::Duplicate) => Ok(()),
        made => made.map(drop),
    }
}

fn server(target: &Target) -> Result<Server, BadParameter> {
    let written = target.options.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings = Settings::decide("postgres", PARAMETERS, written)?;
    let user = target.user.clone().filter(|user| !user.is_empty());
    let user = user.ok_or_else(|| {
        BadParameter::new("name a user: postgres://user@host/database (a host or socket=)")
    })?;
    // `postgres:///name` keeps its slash, like the path of a file.
    let database = match target.path.trim_start_matches('/') {
        "" => user.clone(),
        name => name.to_owned(),
    };
    let socket = socket(target, settings.text_given("socket").unwrap_or_default());
    let direct = (settings.text("sslnegotiation") == "direct").then_some(ALPN);
    let connector = net::connector(target, &settings, socket, PORT, direct)?;
    let channel_binding = ChannelBinding::by_name(settings.text("channel_binding"));
    if channel_binding == ChannelBinding::Require && connector.tls.mode.is_none() {
        let why = "require needs TLS, which tls=disable switches off";
        return Err(BadParameter::named("channel_binding", why));
    }
    let account = Account {
        user,
        password: target.password.clone(),
        database,
        application_name: settings.text("application_name").to_owned(),
        way: Way::by_name(settings.text("statements")),
        clear_password: settings.switch("clear_password"),
        channel_binding,
        // Rounded up, since 0 milliseconds would mean no limit.
        statement_timeout_ms: settings.duration_ns("statement_timeout").div_ceil(NS_PER_MS),
        session: net::SessionSettings::read(&settings)?,
        keys: KeyCache::default(),
        is_pooled: AtomicBool::new(false),
    };
    let packet_bytes_max = net::packet_bytes_max(&settings)?;
    Ok(Server { connector, packet_bytes_max, account: Arc::new(account) })
}

/// Returns the path of a target's Unix socket: in `directory`, or in a host written as a path
/// (`postgres://user@%2Fvar%2Frun%2Fpostgresql/database`). Instead of a directory, either may be
/// the path of the socket itself. `None` if the target is reached over TCP.
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

#[cfg(any(test, feature = "fuzzing"))]
const FUZZ_WAYS: [Way; 3] = [Way::Named, Way::Unnamed, Way::Simple];

/// Creates a PostgreSQL sign-in that has sent nothing yet, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_sign_in(way: usize, statements: Arc<[Statement]>) -> impl net::SignIn {
    let target = Target::parse("postgres://fuzz:secret@nowhere/db?tls=disable").expect("a URL");
    let server = server(&target).expect("a target");
    let account = Arc::into_inner(server.account).expect("nobody else has it");
    let account = Account { way: FUZZ_WAYS[way], ..account };
    PostgresSignIn::new(Arc::new(account), (statements, 0), [7; 18])
}

/// Creates a PostgreSQL connection that is already signed in, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_protocol(way: usize, statements: Arc<[Statement]>) -> impl net::Protocol {
    protocol::Postgres::new(FUZZ_WAYS[way], (statements, 0), CancelKey::Secret(1, 2), b'I')
}

/// Returns bytes recorded from a real server, as a seed for fuzzing.
#[cfg(test)]
pub(crate) fn fuzz_recorded() -> Vec<u8> {
    let digits_of = |line: &'static str| line.split_once(' ').map_or("", |(_, hex)| hex).as_bytes();
    let digits: Vec<u8> =
        include_str!("tests/recorded.txt").lines().flat_map(digits_of).copied().collect();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.as_chunks().0.iter().filter_map(byte).take(20_000).collect()
}
