//! Opening a connection: a socket, optionally TLS, and a sign-in, all within a time limit.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use model::{Clock, DbError, DbErrorKind, NS_PER_MS, Place, Placement, Statement};

use super::address::Address;
use super::broken;
use super::cancel::Handle;
use super::deadline::Deadline;
use super::input::Input;
use super::line::{Line, cancelled, here};
use super::socket::{Got, Socket, Wait};
use super::stream::{Channel, Stream};
use super::{Connector, Protocol, Server, SignIn, Step};

/// Limit on the number of times that a sign-in waits for bytes. Then the sign-in fails, so that a
/// faulty server cannot continue it forever.
const WAITS_MAX: u32 = 1_000;
/// Multiple of the option `connect_timeout`: if a request has no reply for this long, dbdyno checks
/// whether the server still accepts connections.
const SILENCE_TIMES: u32 = 6;
/// Pause, in nanoseconds, before dbdyno tries again to connect to a Unix socket whose queue of
/// connections is full.
const CROWDED_NS: u64 = NS_PER_MS;

/// The way in which a session waits: by blocking its thread, or on an event loop.
#[derive(Clone)]
pub(super) enum ExecContext {
    /// The session blocks its thread while it waits.
    Thread,
    /// The session is polled by an event loop, and the clock measures its time limits.
    Loop(Rc<dyn Clock>),
}

impl ExecContext {
    pub(super) fn for_place(place: &Place) -> ExecContext {
        match place.placement {
            Placement::Loop => ExecContext::Loop(Rc::clone(&place.clock)),
            Placement::Thread | Placement::Simulated => ExecContext::Thread,
        }
    }
}

/// Server, host index, statements and other parameters for connecting a session, which are kept so
/// that it can reconnect.
pub(super) struct ConnectSpec<S> {
    pub(super) server: Arc<S>,
    /// Index of the host to connect to, in the target's [`Connector`].
    pub(super) place: usize,
    /// Number of the simulated client; `None` for an auxiliary session, which loads or checks data,
    /// queries the server or measures round trips.
    pub(super) client: Option<u32>,
    pub(super) exec: ExecContext,
    pub(super) statements: Arc<[Statement]>,
    pub(super) handle: Arc<Handle<S>>,
}

impl<S: Server> ConnectSpec<S> {
    /// Creates the parameters of an auxiliary session (one that loads, checks or queries). The
    /// session blocks this thread, has no prepared statements and cannot be cancelled. `place` is
    /// the index of its host.
    pub(super) fn here(server: &Arc<S>, place: usize) -> ConnectSpec<S> {
        ConnectSpec {
            server: Arc::clone(server),
            place,
            client: None,
            exec: ExecContext::Thread,
            statements: Arc::from([]),
            handle: Arc::new(Handle::new(None)),
        }
    }
}

impl<S: Server> ConnectSpec<S> {
    /// Selects the next host of the target for the next attempt to connect, because the current one
    /// does not respond.
    pub(super) fn go_on(&mut self) {
        self.place = self.server.connector().place_after(self.place, self.client);
    }
}

impl<S> Clone for ConnectSpec<S> {
    fn clone(&self) -> ConnectSpec<S> {
        ConnectSpec {
            server: Arc::clone(&self.server),
            place: self.place,
            client: self.client,
            exec: self.exec.clone(),
            statements: Arc::clone(&self.statements),
            handle: Arc::clone(&self.handle),
        }
    }
}

pub(super) type ProtocolOf<S> = <<S as Server>::SignIn as SignIn>::Protocol;

/// Connects to a host, begins TLS if necessary, and signs in, within the time limit of the target.
/// Errors contain the server's address.
pub(super) async fn connect<S: Server>(
    spec: ConnectSpec<S>,
) -> Result<Line<ProtocolOf<S>>, DbError> {
    let connector = spec.server.connector();
    let (place, handle) = (spec.place, &spec.handle);
    let made = async {
        let stream = open(&spec).await?;
        sign_in(&spec, stream).await
    };
    let limited = match &spec.exec {
        ExecContext::Thread => made.await,
        ExecContext::Loop(clock) => within(clock.as_ref(), connector.timeout, made).await,
    };
    match limited {
        Ok(line) => {
            handle.know(place, line.protocol.cancel_key());
            Ok(line)
        }
        Err(_) if handle.is_cancelled() => Err(cancelled()),
        Err(no) => Err(without_password(spec.server.as_ref(), no).during(connector.address(place))),
    }
}

/// Removes the password from an error's message, since a server may repeat it there.
pub(super) fn without_password<S: Server>(server: &S, mut no: DbError) -> DbError {
    if let Some(password) = server.secret() {
        no.message = password.hide_in(&no.message);
    }
    no
}

/// Runs `work` on an event loop. Fails if it takes longer than `timeout`.
async fn within<T>(
    clock: &dyn Clock,
    timeout: Duration,
    work: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    let deadline_ns = clock.now().saturating_add(timeout.as_nanos() as u64);
    let mut work = pin!(work);
    poll_fn(|context| {
        if let Poll::Ready(result) = work.as_mut().poll(context) {
            return Poll::Ready(result);
        }
        clock.poll_through(deadline_ns, context).map(|_| {
            let error = io::ErrorKind::TimedOut.into();
            Err(broken::db_error(error))
        })
    })
    .await
}

async fn open<S: Server>(spec: &ConnectSpec<S>) -> Result<Stream, DbError> {
    let connector = spec.server.connector();
    // On an event loop the caller limits the total time.
    let deadline = Deadline::after(connector.timeout);
    let socket = match connector.address(spec.place) {
        Address::Socket(path) => {
            let socket = Socket::unix().map_err(no_socket)?;
            spec.handle.watch(socket.descriptor());
            open_unix(spec, socket, path, deadline).await.map_err(unreachable)
        }
        Address::Host(..) => {
            let mut found = Err(unreachable(io::ErrorKind::AddrNotAvailable.into()));
            let addresses = match &spec.exec {
                ExecContext::Thread => connector.resolve(spec.place)?,
                ExecContext::Loop(_) => connector.resolved(spec.place)?,
            };
            // Sessions that build, check or query have no statements, and connect directly.
            let entrance = connector.entrance().filter(|_| !spec.statements.is_empty());
            // The process of the network path connects to these addresses, in the order in which
            // they would be tried here.
            let greeting = entrance.map(|entrance| entrance.greeting(&addresses));
            let addresses = match entrance {
                Some(entrance) => vec![SocketAddr::from((Ipv4Addr::LOCALHOST, entrance.port))],
                None => addresses,
            };
            let n_addresses = addresses.len();
            for (index, address) in addresses.into_iter().enumerate() {
                let socket = Socket::tcp(&address).map_err(no_socket)?;
                spec.handle.watch(socket.descriptor());
                // The remaining addresses share the remaining time.
                let share = (n_addresses - index) as u32;
                let made = match deadline.left() {
                    Ok(left) => open_tcp(spec, socket, &address, left / share).await,
                    Err(error) => Err(error),
                };
                found = made.map_err(unreachable);
                if found.is_ok() || spec.handle.is_cancelled() {
                    break;
                }
            }
            if let (Ok(socket), Some(greeting)) = (&mut found, greeting) {
                socket.greet(greeting.as_bytes()).map_err(unreachable)?;
            }
            found.inspect_err(|_| connector.doubt(spec.place))
        }
    };
    let mut stream = Stream::new(socket?);
    stream.set_deadline(deadline).map_err(no_socket)?;
    Ok(stream)
}

async fn open_tcp<S: Server>(
    spec: &ConnectSpec<S>,
    mut socket: Socket,
    address: &std::net::SocketAddr,
    limit: Duration,
) -> io::Result<Socket> {
    socket.connect_tcp(address)?;
    if let ExecContext::Loop(_) = spec.exec {
        socket.watch()?;
    }
    poll_fn(|context| socket.poll_connected(context, limit)).await?;
    Ok(socket)
}

async fn open_unix<S: Server>(
    spec: &ConnectSpec<S>,
    mut socket: Socket,
    path: &std::path::Path,
    deadline: Deadline,
) -> io::Result<Socket> {
    let ExecContext::Loop(clock) = &spec.exec else {
        socket.set_connect_timeout(deadline.left()?)?;
        socket.connect_unix(path)?;
        return Ok(socket);
    };
    loop {
        match socket.connect_unix(path) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let instant_ns = clock.now() + CROWDED_NS;
                poll_fn(|context| clock.poll_through(instant_ns, context)).await;
            }
            result => {
                result?;
                socket.watch()?;
                return Ok(socket);
            }
        }
        if spec.handle.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
}

fn unreachable(error: io::Error) -> DbError {
    let advice = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            ": nothing listens there; check that the server is running, or let dbdyno start one \
             (managed:mariadb, managed:postgres)"
        }
        io::ErrorKind::NotFound => ": this socket does not exist; check that the server is running",
        io::ErrorKind::TimedOut => ": no answer; check the address and firewalls",
        _ => "",
    };
    let message = format!("cannot connect ({error}){advice}");
    match error.kind() {
        io::ErrorKind::TimedOut => DbError::silence(message),
        _ => DbError::new(DbErrorKind::ConnectionLost, message),
    }
}

fn no_socket(error: io::Error) -> DbError {
    let advice = match error.raw_os_error() {
        // The errors EMFILE and ENFILE.
        Some(24 | 23) => "; raise the limit of open files (ulimit -n), or use fewer clients",
        _ => "",
    };
    let message = format!("cannot create a socket: {error}{advice}");
    DbError::new(DbErrorKind::ConnectionLost, message)
}

async fn sign_in<S: Server>(
    spec: &ConnectSpec<S>,
    stream: Stream,
) -> Result<Line<ProtocolOf<S>>, DbError> {
    let connector = spec.server.connector();
    let address = connector.address(spec.place);
    let mut channel = channel(connector, address);
    let sign_in = spec.server.sign_in(Arc::clone(&spec.statements));
    let input = Input::new(spec.server.message_bytes_max());
    let mut line = Line::new(sign_in, stream, input, Vec::new());
    let mut waits = 0;
    loop {
        let Line { protocol, input, out, .. } = &mut line;
        let step = protocol.advance(input, out, &channel)?;
        poll_fn(|context| line.poll_send(context)).await?;
        match step {
            Step::Done(protocol) => {
                watch_over(spec, &mut line)?;
                return Ok(line.with(protocol));
            }
            Step::StartTls => {
                channel.certificate = start_tls(connector, address, &mut line).await?;
                channel.is_tls = true;
            }
            Step::Send => {}
            Step::More => {
                waits += 1;
                if waits > WAITS_MAX {
                    let message = "the server does not complete the sign-in; check that the \
                                   target's scheme matches the server";
                    return Err(DbError::new(DbErrorKind::ConnectionLost, message));
                }
                let received = poll_fn(|context| line.poll_receive(context, Wait::Bytes)).await;
                if let Err(no) = received {
                    return Err(if line.stream.bytes_in == 0 { unheard(no) } else { no });
                }
            }
        }
    }
}

/// Adds advice to the error of a connection that was lost before the server had sent anything.
fn unheard(no: DbError) -> DbError {
    if no.is_silence() {
        return no;
    }
    let advice = "nothing came before; a proxy there may have no server that answers, or no room";
    DbError { message: format!("{} ({advice})", no.message), ..no }
}

fn channel(connector: &Connector, address: &Address) -> Channel {
    Channel {
        tls_mode: connector.tls.mode_for(address),
        is_direct: connector.tls.is_direct,
        is_tls: false,
        is_local: matches!(address, Address::Socket(_)),
        certificate: None,
    }
}

/// Sets how long a new session waits for replies. A benchmark client waits without limit, since a
/// run cancels its clients in the end. An auxiliary session, which loads, checks or queries and has
/// no declared statements, may wait an hour for an index, but after a long silence it checks
/// whether the server still responds.
fn watch_over<S: Server, P>(spec: &ConnectSpec<S>, line: &mut Line<P>) -> Result<(), DbError> {
    if !spec.statements.is_empty() {
        return line.stream.set_receive_timeout(None).map_err(no_socket);
    }
    let (server, place) = (Arc::clone(&spec.server), spec.place);
    let timeout = server.connector().timeout;
    let silence = timeout * SILENCE_TIMES;
    line.read_watchdog = Some(Box::new(move || match is_there(&server, place) {
        true => Ok(()),
        false => {
            let message = format!(
                "the server sent nothing for {silence:?} and does not answer a new connection \
                 within {timeout:?}: it is stopped or hangs; check its log and its host"
            );
            Err(DbError::silence(message))
        }
    }));
    line.stream.set_receive_timeout(Some(silence)).map_err(no_socket)
}

/// Whether a new connection to the server with the index `place` gives no sign that the server
/// hangs. False only if the server accepts it and then sends nothing in time. True if it answers,
/// even with an error, or if connecting fails, which proves nothing about existing connections.
fn is_there<S: Server>(server: &Arc<S>, place: usize) -> bool {
    let spec = ConnectSpec::here(server, place);
    let (connector, address) = (server.connector(), server.connector().address(place));
    let heard = async {
        let stream = open(&spec).await?;
        let sign_in = server.sign_in(Arc::clone(&spec.statements));
        let mut line = Line::new(sign_in, stream, Input::new(1 << 16), Vec::new());
        let Line { protocol, input, out, .. } = &mut line;
        let step = protocol.advance(input, out, &channel(connector, address))?;
        if let Step::StartTls = step {
            return match start_tls(connector, address, &mut line).await {
                Err(no) if no.is_silence() => Ok(Got::Silence),
                shaken => shaken.map(|_| Got::Nothing),
            };
        }
        poll_fn(|context| line.poll_send(context)).await?;
        let Line { stream, input, .. } = &mut line;
        poll_fn(|context| stream.poll_receive(context, input, Wait::Bytes)).await
    };
    !matches!(here(|context| pin!(heard).poll(context)), Ok(Got::Silence))
}

async fn start_tls<T>(
    connector: &Connector,
    address: &Address,
    line: &mut Line<T>,
) -> Result<Option<Vec<u8>>, DbError> {
    if !line.input.bytes().is_empty() {
        // An attacker on the path may have sent these bytes.
        let message = "unexpected bytes before the TLS handshake; check for a proxy that changes \
                       the connection";
        return Err(DbError::new(DbErrorKind::Denied, message));
    }
    line.stream.begin_tls(connector.tls.begin(address)?);
    let shaken = poll_fn(|context| line.stream.poll_handshake(context)).await;
    shaken.map_err(|mut no| {
        if connector.tls.is_direct && no.kind == DbErrorKind::ConnectionLost && !no.is_silence() {
            no.message += NOT_DIRECT;
        }
        no
    })
}

/// Advice for a server that does not take TLS as the first bytes of a connection.
const NOT_DIRECT: &str = "; sslnegotiation=direct needs PostgreSQL 17 or later with TLS: leave it \
                          out, and the server is asked for TLS first";

/// Sends bytes, such as a cancel request, to the server with the index `place` on a separate
/// connection, and blocks this thread until the server closes it.
pub(crate) fn tell<S: Server>(server: &Arc<S>, place: usize, bytes: &[u8]) -> Result<(), DbError> {
    let spec = ConnectSpec::here(server, place);
    let telling = async {
        let stream = open(&spec).await?;
        let mut line = Line::new((), stream, Input::new(1 << 10), bytes.to_owned());
        poll_fn(|context| line.poll_send(context)).await?;
        // The server closes the connection at the end, which is no error.
        let _ = poll_fn(|context| line.poll_receive(context, Wait::Bytes)).await;
        Ok(())
    };
    here(|context| pin!(telling).poll(context))
}
