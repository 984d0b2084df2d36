//! What targets behind a wire have in common: options of their URLs, how they are opened, and the
//! database that comes of it. Not here: what a product has for itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{
    BadParameter, Connecting, Database, Dialect, Fact, Parameter, ParameterKind, Place, Places,
    Refusal, RefusalKind, Settings, Statement, Target,
};

use super::{Connector, Server, Tls, TlsMode, Wire, WireSession};
use crate::{CannotOpen, Opened, Opening};

pub(crate) const TLS: Parameter = Parameter::option(
    "tls",
    ParameterKind::Choice(TlsMode::NAMES),
    "prefer",
    "prefer and require accept any certificate, verify-ca a trusted one, verify-full the host's",
);

pub(crate) const TLS_CA: Parameter = Parameter::option(
    "tls_ca",
    ParameterKind::Text,
    "",
    "File of trusted authorities (PEM); else the system's",
);

pub(crate) const CONNECT_TIMEOUT: Parameter = Parameter::option(
    "connect_timeout",
    ParameterKind::Duration,
    "10s",
    "How long connecting and signing in may wait for the server",
);

/// How connections are made to `target`, as its options say: to the Unix socket at `socket` where
/// it has one, else to its hosts.
pub(crate) fn connector(
    target: &Target,
    settings: &Settings,
    socket: Option<PathBuf>,
    default_port: u16,
) -> Result<Connector, BadParameter> {
    let mode = TlsMode::by_name(settings.text("tls")).expect("the table has these names only");
    let tls = Tls::new(mode, settings.text_given("tls_ca").map(Path::new))?;
    let timeout = Duration::from_nanos(settings.duration_ns("connect_timeout"));
    if timeout.is_zero() {
        return Err(BadParameter("connect_timeout: 0 is no time; write 10s".to_owned()));
    }
    let addresses = Connector::addresses(target, socket, default_port);
    Ok(Connector::new(addresses, tls, timeout))
}

/// Opens the target that `server` is: whatever is wrong with it is told before a thousand clients
/// meet it. `make` makes its database, where that is not there and may be made.
pub(crate) fn open<S: Server>(
    server: Result<S, BadParameter>,
    opening: Opening,
    make: impl FnOnce() -> Result<(), Refusal>,
) -> Opened {
    let wire = Wire::new(server.map_err(CannotOpen::Bad)?);
    match WireSession::connect_here(wire.server(), 0) {
        Ok(_) => {}
        Err(no) if no.kind == RefusalKind::Missing && opening.create => {
            make().map_err(CannotOpen::Refused)?;
        }
        Err(no) => return Err(CannotOpen::Refused(no)),
    }
    Ok(Arc::new(wire))
}

impl<S: Server> Database for Wire<S> {
    fn dialect(&self) -> &Dialect {
        S::DIALECT
    }

    fn places(&self) -> Places {
        Places { thread: true, event_loop: true, simulated: false }
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        self.connect_client(place, statements)
    }

    fn facts(&self) -> Result<Vec<Fact>, Refusal> {
        S::facts(self.server())
    }
}
