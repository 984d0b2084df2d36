//! Listens and accepts connections of the web service: with TLS, and with limits of number and
//! time.
//!
//! Everything runs on one thread, except reading the store, and at low priority, since a run may be
//! measured on the same machine. Not here: responses (routes) and authorization (request_policy).

use std::future::pending;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use app::Error;
use axum::http::StatusCode;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use super::auth::Auth;
use super::connection_limiter::{ConnectionLimiter, Guest, Peer};
use super::experiments::{EXPERIMENTS_MAX, RESULTS_MAX};
use super::jobs::Jobs;
use super::list::TRENDS_MAX;
use super::live::LiveRuns;
use super::memo::Memo;
use super::passwords::Passwords;
use super::pidfile::PidFile;
use super::tls::{self, Identity};
use super::turns::Turns;
use super::{App, Options, Shared, make_store, routes};

/// Maximum number of connections to the web service; before a further one is served, an idle one is
/// closed. A browser opens six per host, so these are many users.
const CONNECTIONS_MAX: usize = 128;
/// Maximum number of threads that read the store, which mostly wait for the disk.
const READERS_MAX: usize = 4;
/// Time limit for a new connection to send its first request, after which the connection is closed,
/// since browsers open spare connections.
const FIRST_MAX: Duration = Duration::from_secs(10);
/// Time limit of a TLS handshake, after which the connection is closed.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Time limit for the headers of a request, and for the pause between two requests of a connection,
/// after which the connection is closed.
const HEADERS_MAX: Duration = Duration::from_secs(30);
/// Time limit of a connection to the web service, after which it is closed, against clients that
/// read slowly.
const CONNECTION_MAX: Duration = Duration::from_secs(1800);
/// First byte of a TLS handshake, which tells TLS from plain HTTP (RFC 8446, 5.1).
const TLS_HANDSHAKE: u8 = 22;
/// Maximum bytes of a connection's buffer; a request with longer headers is rejected, but usual
/// ones are far shorter.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Pause after a connection could not be accepted, as with too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Time that open requests have to finish when the web service ends.
const END_MAX: Duration = Duration::from_secs(2);
/// Nice value of the web service, so that a run on the same machine has priority.
const NICE: i32 = 10;

/// Web service that listens already. [`Serving::until`] answers requests.
pub(crate) struct Serving {
    listener: std::net::TcpListener,
    app: App,
    identity: Option<Identity>,
    pidfile: PidFile,
}

/// Starts listening: connections are accepted from then on. Fails if the options are unsafe, the
/// address is taken, or the store is served already.
pub(crate) fn bind(options: Options) -> Result<Serving, Error> {
    let listen = options.listen;
    let is_loopback = listen.ip().is_loopback();
    if options.password.is_none() && !is_loopback {
        return Err(Error::Usage(format!(
            "--listen {listen}: others can reach that address, so it needs a password: set \
             DBDYNO_WEB_PASSWORD, or use --password-file or --ask-password"
        )));
    }
    make_store(&options)?;
    if let Some(pidfile) = PidFile::for_store(&options.store) {
        return Err(Error::Failed(format!(
            "{} serves this store already (process {}): open that, or stop it with '{}'",
            pidfile.address,
            pidfile.pid(),
            options.stop
        )));
    }
    let auth = options.password.as_deref();
    let viewer = options.viewer_password.as_deref();
    let auth = auth.map(|password| Auth::new(password, viewer, options.shell.clone()));
    let auth = auth.transpose()?;
    let identity = match (&auth, &options.certificate) {
        (None, None) => None,
        (None, Some(_)) => {
            let why = "--tls-cert: TLS is used only with a password: set one";
            return Err(Error::Usage(why.to_owned()));
        }
        (Some(_), Some((certificate, key))) => Some(tls::of_files(certificate, key)?),
        (Some(_), None) => Some(tls::own(&options.store, listen.ip())?),
    };
    let listener = std::net::TcpListener::bind(listen).map_err(|error| taken(listen, &error))?;
    let failed = |error: std::io::Error| Error::Failed(format!("--listen {listen}: {error}"));
    listener.set_nonblocking(true).map_err(failed)?;
    let scheme = if auth.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}/", shown(listener.local_addr().map_err(failed)?));
    let pidfile = PidFile::announce(&options.store, &address)?;
    let Options { store, job_context, shell, .. } = options;
    let jobs = Jobs::begin(&store, &job_context, &shell)?;
    let shared = Shared {
        store,
        turns: Turns::default(),
        is_loopback,
        auth,
        lives: LiveRuns::default(),
        pushes: tokio::sync::Mutex::default(),
        trends: Memo::with_capacity(TRENDS_MAX),
        identities: Memo::with_capacity(TRENDS_MAX),
        results: Memo::with_capacity(RESULTS_MAX),
        experiments: Memo::with_capacity(EXPERIMENTS_MAX),
        jobs,
        passwords: Passwords::default(),
        job_context,
        shell,
    };
    Ok(Serving { listener, app: App(Arc::new(shared)), identity, pidfile })
}

fn taken(listen: SocketAddr, error: &std::io::Error) -> Error {
    let (ip, port) = (listen.ip(), listen.port());
    match error.kind() {
        ErrorKind::AddrInUse => Error::Failed(format!(
            "{listen} is taken by another program: name another port with --listen {}",
            SocketAddr::new(ip, port.checked_add(1).unwrap_or(0))
        )),
        ErrorKind::PermissionDenied => Error::Failed(format!(
            "--listen {listen}: ports below 1024 need more privileges: name another"
        )),
        ErrorKind::AddrNotAvailable => {
            Error::Usage(format!("--listen {listen}: this machine has no such address"))
        }
        _ => Error::Failed(format!("--listen {listen}: {error}")),
    }
}

/// Returns the host and port of an address for a browser. A wildcard address becomes the machine's
/// name.
fn shown(listens: SocketAddr) -> String {
    match listens.ip().is_unspecified() {
        true => {
            let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
            format!("{machine}:{}", listens.port())
        }
        false => listens.to_string(),
    }
}

impl Serving {
    /// Returns the address of the pages, with its scheme.
    pub(crate) fn address(&self) -> &str {
        &self.pidfile.address
    }

    /// Returns the message for the user who starts the service: address, store and certificate.
    pub(crate) fn shown(&self) -> String {
        let address = self.address();
        let mut text = format!("{address} shows the runs of {}", self.app.0.store.display());
        if let Some(identity) = &self.identity {
            text += &match &identity.own {
                Some(path) => format!(
                    "\nits certificate is self-signed ({}): a browser warns of it once; compare \
                     its SHA-256 fingerprint\n{}",
                    path.display(),
                    identity.fingerprint()
                ),
                None => format!("\nSHA-256 of its certificate: {}", identity.fingerprint()),
            };
        }
        text
    }

    /// Serves requests until `ended` is notified, then gives open requests two seconds to finish.
    pub(crate) fn until(self, ended: Arc<Notify>) -> Result<(), Error> {
        // Without permission it continues at normal priority.
        let _ = rustix::process::setpriority_process(None, NICE);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(READERS_MAX)
            .build()
            .map_err(|error| Error::Failed(format!("cannot create an event loop: {error}")))?;
        let Serving { listener, app, identity, pidfile } = self;
        let store = app.0.store.clone();
        let served = runtime.block_on(async {
            let listener = TcpListener::from_std(listener)
                .map_err(|error| Error::Failed(format!("it cannot listen: {error}")))?;
            tokio::select! {
                () = accept_all(listener, identity, routes(app)) => {}
                () = ended.notified() => {}
            }
            Ok(())
        });
        runtime.shutdown_timeout(END_MAX);
        pidfile.withdraw(&store);
        served
    }
}

async fn accept_all(listener: TcpListener, identity: Option<Identity>, routes: Router) {
    let (room, limiter) =
        (Arc::new(Semaphore::new(CONNECTIONS_MAX)), Arc::new(ConnectionLimiter::default()));
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                // Only a timer.
                let _ = timeout(PAUSE, pending::<()>()).await;
                continue;
            }
        };
        if room.available_permits() == 0 {
            limiter.give_way();
        }
        // If all are being answered, wait for one of them.
        let permit = Arc::clone(&room).acquire_owned().await.expect("it is never closed");
        let guest = Arc::new(limiter.enter(peer.ip()));
        let acceptor = identity.as_ref().map(|identity| identity.acceptor.clone());
        let routes = routes.clone().layer(Extension(Peer(peer.ip())));
        let routes = routes.layer(Extension(Arc::clone(&guest)));
        tokio::spawn(async move {
            // Connections that break off or take too long get no response.
            tokio::select! {
                _ = timeout(CONNECTION_MAX, secured(stream, acceptor, routes)) => {}
                () = guest.gives_way() => {}
                () = stays_silent(&guest) => {}
            }
            drop(permit);
        });
    }
}

/// Completes when a connection has sent no request within [`FIRST_MAX`]; never completes if it has
/// sent one.
async fn stays_silent(guest: &Guest) {
    // Only a timer.
    let _ = timeout(FIRST_MAX, pending::<()>()).await;
    if guest.has_asked() {
        pending::<()>().await;
    }
}

async fn secured(stream: TcpStream, acceptor: Option<tokio_rustls::TlsAcceptor>, routes: Router) {
    // Responses are written whole; small ones must not wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    match acceptor {
        None => answered(stream, routes).await,
        Some(_) if is_clear(&stream).await => answered(stream, only_tls()).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await {
                answered(stream, routes).await;
            }
        }
    }
}

/// Returns true if a client sends plain HTTP instead of TLS: its first byte does not begin a TLS
/// handshake.
async fn is_clear(stream: &TcpStream) -> bool {
    let mut first = [TLS_HANDSHAKE];
    let seen = timeout(HANDSHAKE_MAX, stream.peek(&mut first)).await;
    matches!(seen, Ok(Ok(1))) && first[0] != TLS_HANDSHAKE
}

/// Creates the routes for plain HTTP on a port that needs TLS: an error for every path.
fn only_tls() -> Router {
    let words = "this service uses TLS: use https:// instead of http://\n";
    Router::new().fallback(async move || (StatusCode::BAD_REQUEST, words))
}

async fn answered(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, routes: Router) {
    let service = TowerToHyperService::new(routes);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_MAX);
    builder.max_buf_size(BUFFER_BYTES_MAX);
    // A broken connection is not our error.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
