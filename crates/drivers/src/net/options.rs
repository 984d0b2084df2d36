//! Options of targets that all databases with a network protocol share, and opening such targets.
//! Not here: options of a single product.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{
    BadParameter, Connecting, Database, DbError, DbErrorKind, Fact, Hosts, Parameter,
    ParameterKind, PathEntrance, Place, Places, Product, Settings, Statement, Target,
};

use super::{Channel, Connector, NetDatabase, NetSession, Server, Tls, TlsMode, TlsOptions};
use crate::{CannotOpen, Opened, Opening};

pub(crate) const TLS: Parameter = Parameter::option(
    "tls",
    ParameterKind::Choice(TlsMode::NAMES),
    "prefer",
    "Use of TLS: prefer and require accept any certificate, verify-ca one of a trusted authority, \
     verify-full one that also names the host",
);

pub(crate) const TLS_CA: Parameter = Parameter::option(
    "tls_ca",
    ParameterKind::Text,
    "",
    "File of trusted certificate authorities (PEM) [default: those of the system]",
);

pub(crate) const TLS_CERT: Parameter = Parameter::option(
    "tls_cert",
    ParameterKind::Text,
    "",
    "File with the client's certificate (PEM), which the server may demand; with tls_key",
);

pub(crate) const TLS_KEY: Parameter = Parameter::option(
    "tls_key",
    ParameterKind::Text,
    "",
    "File with the private key (PEM) of tls_cert, without a passphrase, readable by you alone",
);

pub(crate) const CONNECT_TIMEOUT: Parameter = Parameter::option(
    "connect_timeout",
    ParameterKind::Duration,
    "10s",
    "Time limit for connecting and signing in, all waits together",
);

pub(crate) const MAX_PACKET: Parameter = Parameter::option(
    "max_packet",
    ParameterKind::Bytes,
    "64MiB",
    "Longest row (or other packet) accepted from the server",
);

pub(crate) const CLEAR_PASSWORD: Parameter = Parameter::option(
    "clear_password",
    ParameterKind::Switch,
    "false",
    "Send the password itself (in clear text, or under the server's own RSA key) even to a \
     server whose certificate is not verified (tls=verify-ca)",
);

/// Returns the value of the option `max_packet`, in bytes. Fails if it is out of range.
pub(crate) fn packet_bytes_max(settings: &Settings) -> Result<usize, BadParameter> {
    let n_bytes = settings.count("max_packet");
    if !(1 << 16..=1 << 30).contains(&n_bytes) {
        return Err(BadParameter::named("max_packet", "it must be from 64KiB to 1GiB"));
    }
    Ok(n_bytes as usize)
}

/// Checks that the password itself may be sent over `channel`: the channel is a Unix socket, the
/// server's certificate is verified, or the user allows it (`may_be_clear`). Fails otherwise.
pub(crate) fn check_clear(channel: &Channel, may_be_clear: bool) -> Result<(), DbError> {
    let is_verified = matches!(channel.tls_mode, TlsMode::VerifyCa | TlsMode::VerifyFull);
    if channel.is_local || is_verified || may_be_clear {
        return Ok(());
    }
    let message = "the server asks for the password itself, but its identity is not verified: \
                   use tls=verify-full, tls=verify-ca or a socket, or, if you trust the network, \
                   clear_password=true in the target's URL";
    Err(DbError::new(DbErrorKind::Denied, message))
}

/// Creates the connector of a target from its options: to the Unix socket at `socket` if there is
/// one, otherwise to its hosts. `direct` is the protocol (ALPN) of a server with which connections
/// begin with TLS, if they do. Fails if an option is invalid or a host is named twice.
pub(crate) fn connector(
    target: &Target,
    settings: &Settings,
    socket: Option<PathBuf>,
    default_port: u16,
    direct: Option<&'static str>,
) -> Result<Connector, BadParameter> {
    let mode = TlsMode::by_name(settings.text("tls")).expect("the table has these names only");
    let file = |name| settings.text_given(name).filter(|path| !path.is_empty()).map(Path::new);
    let options =
        TlsOptions { ca: file("tls_ca"), cert: file("tls_cert"), key: file("tls_key"), direct };
    let tls = Tls::new(mode, options)?;
    let timeout = Duration::from_nanos(settings.duration_ns("connect_timeout"));
    if timeout.is_zero() {
        return Err(BadParameter::named("connect_timeout", "it must be above 0, such as 10s"));
    }
    target.refuse_twice(Some(default_port)).map_err(|bad| BadParameter::new(bad.0))?;
    let addresses = Connector::addresses(target, socket, default_port);
    Ok(Connector::new(addresses, tls, timeout).with_default_port(default_port))
}

/// Opens the target of `server` and connects once, so that errors are reported before many clients
/// connect. If the database does not exist and `opening` allows creating it, calls `make` to do so.
pub(crate) fn open<S: Server>(
    server: Result<S, BadParameter>,
    opening: Opening,
    make: impl FnOnce() -> Result<(), DbError>,
) -> Opened {
    let mut database = NetDatabase::new(server.map_err(CannotOpen::Bad)?);
    match NetSession::connect_admin(database.server()) {
        Ok(mut session) => database.learn(&mut session),
        Err(no) if no.kind == DbErrorKind::Missing && opening.create => {
            make().map_err(CannotOpen::Refused)?;
            let mut session = connect_to_new(&database).map_err(CannotOpen::Refused)?;
            database.learn(&mut session);
        }
        Err(no) => return Err(CannotOpen::Refused(no)),
    }
    database.server().connector().resolve_all();
    Ok(Arc::new(database))
}

/// Time for which connecting to a newly created database is retried, since a pooler rejects a
/// database that the server recently did not know (PgBouncer: `server_login_retry`, 15 s).
const POOLER_WAITS: Duration = Duration::from_secs(16);

/// Connects to a newly created database, and retries while a connection pooler does not know it
/// yet.
fn connect_to_new<S: Server>(database: &NetDatabase<S>) -> Result<NetSession<S>, DbError> {
    let timeout_ms = database.server().connector().timeout.as_millis().max(1);
    let n_attempts = POOLER_WAITS.as_millis().div_ceil(timeout_ms);
    let mut connected = NetSession::connect_admin(database.server());
    for _ in 1..n_attempts {
        match connected {
            Err(no) if no.kind.breaks_session() => {}
            _ => break,
        }
        connected = NetSession::connect_admin(database.server());
    }
    connected
}

impl<S: Server> Database for NetDatabase<S> {
    fn keep_statements(&self, most: usize) {
        self.server().connector().keep_statements(most);
    }

    fn enter_through(&self, entrance: Option<PathEntrance>) -> bool {
        self.server().connector().enter_through(entrance)
    }

    fn hosts(&self) -> Option<&dyn Hosts> {
        Some(self)
    }

    fn product(&self) -> &Product {
        NetDatabase::product(self)
    }

    fn places(&self) -> Places {
        Places { thread: true, event_loop: true, simulated: false }
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        self.connect_client(place, statements)
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        let mut facts = S::facts(self.server())?;
        facts.extend((S::PRODUCT.administration.durability)(&facts));
        facts.extend(S::PRODUCT.monitoring.facts());
        let n_places = self.server().connector().n_places();
        let why_not = match n_places {
            2.. => Some(format!("the target has {n_places} hosts")),
            _ if self.is_pooled() => Some("it is reported late through a pooler".to_owned()),
            _ => None,
        };
        if let (Some(why), Some(counter)) = (why_not, S::PRODUCT.monitoring.commit_counter) {
            let why = format!("{} is not read, because {why}", counter.name);
            facts.push(Fact::new("commits", "server_counter", why));
        }
        if self.is_pooled() {
            facts.push(Fact::new("connection", "pooler", true));
        }
        Ok(facts)
    }
}
