//! A connection to the hub's broker (NATS), with a thread of its own. It reconnects by itself; what
//! is published meanwhile is lost, as it may be at any time (delivery sends it again).
//!
//! Not here: what the messages mean.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectOptions, Event, StatusCode, Subscriber};
use futures_util::StreamExt;
use futures_util::stream::SelectAll;
use model::Host;
use rustls::ClientConfig;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::MissedTickBehavior;

/// Port of a broker if none is given, that of NATS.
pub const PORT: u16 = 4222;
/// Longest time for connecting, with the exchange of certificates.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Longest wait before another attempt to connect again.
const RECONNECT_WITHIN: Duration = Duration::from_secs(1);
/// Interval at which [`Listener::tick`] is called.
const TICK: Duration = Duration::from_millis(100);
/// Longest time for sending what is left when a connection is closed.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
/// Interval at which the connection is probed.
const PING_EVERY: Duration = Duration::from_secs(5);

/// Address of a broker: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

impl Address {
    /// Reads an address such as `nats://host:4222`, `host` or `[::1]:4222`.
    pub fn parse(text: &str) -> Result<Address, String> {
        let bad = || format!("'{text}' is no address of a hub: give one like nats://host:{PORT}");
        let plain = text.trim().trim_end_matches('/');
        let rest = plain.strip_prefix("nats://").or_else(|| plain.strip_prefix("tls://"));
        let host = Host::parse(rest.unwrap_or(plain)).map_err(|_| bad())?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
        let is_address = host.name.chars().all(is_plain) && host.port != Some(0);
        if is_address { Ok(Address::from(host)) } else { Err(bad()) }
    }

    /// Returns the address at which clients reach a server that listens here. On a host that
    /// listens on all of its addresses, that is `name`.
    pub(crate) fn reached_at(&self, name: &str) -> Address {
        let is_any = matches!(self.host.as_str(), "0.0.0.0" | "::");
        let host = if is_any { name } else { &self.host };
        Address { host: host.to_owned(), port: self.port }
    }

    /// Returns host and port, such as `[::1]:4222`.
    pub(crate) fn host_and_port(&self) -> String {
        Host { name: self.host.clone(), port: Some(self.port) }.to_string()
    }
}

/// A host without a port has that of NATS.
impl From<Host> for Address {
    fn from(host: Host) -> Address {
        Address { host: host.name, port: host.port.unwrap_or(PORT) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nats://{}", self.host_and_port())
    }
}

/// A message that the broker has delivered to this side.
pub(crate) struct Message<'a> {
    pub(crate) subject: &'a str,
    /// Whether the broker reports that a published message had no responders (NATS status 503). The
    /// report arrives on the reply subject of that message.
    pub(crate) has_no_responder: bool,
    pub(crate) bytes: &'a [u8],
}

/// Handles what happens on a connection, on the connection's thread; it must not wait.
pub(crate) trait Listener: Send + Sync {
    /// A message has arrived.
    fn message(&self, message: &Message<'_>, broker: &Broker);

    /// The connection is there: at first, and again after each loss.
    fn connected(&self, _broker: &Broker) {}

    /// The connection is lost, or the broker has refused something.
    fn trouble(&self, _what: &str) {}

    /// A tenth of a second has passed.
    fn tick(&self, _broker: &Broker) {}
}

enum Command {
    Publish {
        subject: String,
        reply: Option<String>,
        bytes: Vec<u8>,
    },
    /// Closes the connection, and then drops this.
    Close(Sender<()>),
}

/// A connection to a broker, until [`Broker::close`].
#[derive(Clone)]
pub(crate) struct Broker {
    commands: UnboundedSender<Command>,
    is_connected: Arc<AtomicBool>,
    /// Whether the connection was there, and is lost.
    was_lost: Arc<AtomicBool>,
}

/// Arguments for connecting to a broker.
pub(crate) struct Connect {
    pub(crate) address: Address,
    pub(crate) tls: ClientConfig,
    /// Name of this side in the broker's log.
    pub(crate) name: String,
    /// Subjects whose messages are received.
    pub(crate) subjects: Vec<String>,
}

impl Broker {
    /// Connects, and passes everything that is received to `listener`. Fails with a sentence if the
    /// broker cannot be reached or refuses.
    pub(crate) fn connect(connect: Connect, listener: Arc<dyn Listener>) -> Result<Broker, String> {
        let (commands, received) = unbounded_channel();
        let broker = Broker { commands, is_connected: Arc::default(), was_lost: Arc::default() };
        let (outcome, outcomes) = channel();
        let work = {
            let broker = broker.clone();
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = match runtime {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(outcome.send(Err(error.to_string()))),
                };
                runtime.block_on(live(connect, &broker, &listener, received, &outcome));
            }
        };
        let thread = thread::Builder::new().name("broker".to_owned()).spawn(work);
        thread.map_err(|error| error.to_string())?;
        outcomes.recv().map_err(|_| "the connection ended".to_owned())??;
        Ok(broker)
    }

    /// Sends a message, if the connection is there; else it is lost.
    pub(crate) fn publish(&self, subject: &str, bytes: Vec<u8>) {
        self.publish_with_reply(subject, None, bytes);
    }

    /// Publishes a message with a reply subject, on which the broker reports "no responders".
    /// Without a connection, the message is lost.
    pub(crate) fn publish_with_reply(&self, subject: &str, reply: Option<&str>, bytes: Vec<u8>) {
        if self.is_connected() {
            let (subject, reply) = (subject.to_owned(), reply.map(str::to_owned));
            let _ = self.commands.send(Command::Publish { subject, reply, bytes });
        }
    }

    /// Whether the connection is there now.
    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    /// Flushes and closes the connection. Blocks until then, at most two seconds.
    pub(crate) fn close(&self) {
        let (closing, closed) = channel();
        if self.commands.send(Command::Close(closing)).is_ok() {
            let _ = closed.recv_timeout(2 * CLOSE_WITHIN);
        }
    }

    fn happened(&self, event: &Event, listener: &dyn Listener) {
        match event {
            Event::Connected => {
                if self.was_lost.swap(false, Ordering::AcqRel) {
                    listener.trouble("the connection to the hub is there again");
                }
                self.is_connected.store(true, Ordering::Release);
                listener.connected(self);
            }
            Event::Disconnected | Event::Closed => {
                self.is_connected.store(false, Ordering::Release);
                if !self.was_lost.swap(true, Ordering::AcqRel) {
                    listener.trouble("the connection to the hub is lost; trying to connect again");
                }
            }
            Event::LameDuckMode | Event::Draining => {}
            // Each attempt to connect again fails in the library's words.
            _ if self.was_lost.load(Ordering::Acquire) => {}
            other => listener.trouble(&format!("the hub's broker: {other}")),
        }
    }
}

/// Connects, tells `outcome`, and serves the connection until it is closed.
async fn live(
    connect: Connect,
    broker: &Broker,
    listener: &Arc<dyn Listener>,
    mut received: UnboundedReceiver<Command>,
    outcome: &Sender<Result<(), String>>,
) {
    let (client, mut messages) = match open(connect, broker, listener).await {
        Ok(opened) => opened,
        Err(why) => return drop(outcome.send(Err(why))),
    };
    let _ = outcome.send(Ok(()));
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let _closing = loop {
        tokio::select! {
            Some(message) = messages.next() => listener.message(
                &Message {
                    subject: message.subject.as_str(),
                    has_no_responder: message.status == Some(StatusCode::NO_RESPONDERS),
                    bytes: &message.payload,
                },
                broker,
            ),
            command = received.recv() => match command {
                // Fails only for a subject that cannot be, or a message that is too large.
                Some(Command::Publish { subject, reply, bytes }) => drop(match reply {
                    Some(reply) => client.publish_with_reply(subject, reply, bytes.into()).await,
                    None => client.publish(subject, bytes.into()).await,
                }),
                Some(Command::Close(closing)) => break Some(closing),
                None => break None,
            },
            _ = ticks.tick() => listener.tick(broker),
        }
    };
    broker.is_connected.store(false, Ordering::Release);
    let _ = tokio::time::timeout(CLOSE_WITHIN, client.drain()).await;
    let _ = tokio::time::timeout(CLOSE_WITHIN, client.flush()).await;
}

async fn open(
    connect: Connect,
    broker: &Broker,
    listener: &Arc<dyn Listener>,
) -> Result<(Client, SelectAll<Subscriber>), String> {
    let Connect { address, tls, name, subjects } = connect;
    let (events_of, told) = (broker.clone(), Arc::clone(listener));
    let options = ConnectOptions::new()
        .name(name)
        .tls_client_config(tls)
        .require_tls(true)
        .ignore_discovered_servers()
        .connection_timeout(CONNECT_WITHIN)
        .ping_interval(PING_EVERY)
        .reconnect_delay_callback(|attempts| match attempts {
            0 | 1 => Duration::ZERO,
            attempts => RECONNECT_WITHIN.min(TICK * attempts as u32),
        })
        .event_callback(move |event| {
            let (broker, listener) = (events_of.clone(), Arc::clone(&told));
            async move { broker.happened(&event, listener.as_ref()) }
        });
    let connected = options.connect(address.to_string()).await;
    let client = connected.map_err(|error| sentence_of(&address, &error))?;
    broker.is_connected.store(true, Ordering::Release);
    let mut all = SelectAll::new();
    for subject in subjects {
        all.push(client.subscribe(subject).await.map_err(|error| error.to_string())?);
    }
    Ok((client, all))
}

/// Returns why a connection failed, in one sentence.
fn sentence_of(address: &Address, error: &ConnectError) -> String {
    let mut causes = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    let cause = causes.last().cloned().unwrap_or_else(|| error.to_string());
    format!("{address}: {cause}")
}
