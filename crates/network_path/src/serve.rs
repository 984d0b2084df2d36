//! Code of a network path's process: accepts connections of clients, connects to the servers that
//! they name, and passes bytes on when they are due. There is one thread, which waits for
//! descriptors only.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use model::PathEntrance;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use slab::Slab;

use crate::clock::{cpu_ns, now_ns, timespec};
use crate::link::{Link, PIECE_BYTES_MAX};
use crate::sockets::{Got, accept, begin_connect, end, is_connected, listen_here, read, write};

/// Limit on the bytes per direction of a connection that are on their way or wait to be written.
/// Beyond it, nothing more is read from the sender. It is a second at 8 MB/s, or 8 ms at 1 GB/s.
const UNDER_WAY_MAX: usize = 8 << 20;
/// Largest size of a client's greeting, in bytes: a secret and dozens of addresses. The connection
/// of a client that sends a longer one is closed.
const GREETING_MAX: usize = 4_096;
/// Limit on the number of events handled before due bytes are delivered; further events are handled
/// after that.
const EVENTS_MAX: usize = 64;
/// Event data of standard input, on which requests of dbdyno's main process arrive. Sockets of
/// connections have event data from `FIRST` on, two values per connection.
const INPUT: u64 = 0;
const LISTENER: u64 = 1;
const TIMER: u64 = 2;
const FIRST: u64 = 3;

/// Index of the client's socket among the two sockets of a connection.
const CLIENT: usize = 0;
/// Index of the server's socket among the two sockets of a connection.
const SERVER: usize = 1;

/// Bytes on their way from one socket of a connection to the other.
struct Parcel {
    due_ns: u64,
    connection: usize,
    /// Serial number of the connection, which is unique, while its index is reused.
    serial: u64,
    /// Bytes to deliver; empty if the sender has closed its end.
    bytes: Vec<u8>,
}

/// Socket of a connection whose received bytes wait until the link has room.
struct Paused {
    connection: usize,
    serial: u64,
    since_ns: u64,
}

#[derive(Default)]
struct Side {
    socket: Option<OwnedFd>,
    /// Events for which the event loop watches the socket; `None` if the socket is not watched.
    watched: Option<EventFlags>,
    /// Whether the client or server behind this socket has closed its end.
    has_ended: bool,
    /// Whether bytes received from this socket wait until the link has room.
    is_paused: bool,
    /// Number of bytes received from this socket that are not yet written to the connection's other
    /// socket.
    n_under_way: usize,
    /// Bytes that are due to be written to this socket. The first `n_written` of them are already
    /// written.
    unwritten: Vec<u8>,
    /// Number of bytes at the start of `unwritten` that are written already.
    n_written: usize,
    /// Whether nothing follows the bytes in `unwritten`, because the sender has closed its end.
    is_last: bool,
}

impl Side {
    /// Whether more bytes may be read from this socket, since fewer than [`UNDER_WAY_MAX`] are on
    /// their way.
    fn has_room(&self) -> bool {
        self.n_under_way < UNDER_WAY_MAX
    }
}

/// State of a connection, from the client's greeting on.
enum State {
    /// The client is sending its greeting, with the secret and the addresses of its servers. Holds
    /// the bytes received so far.
    Greeting(Vec<u8>),
    /// The path is connecting to a server. Holds the addresses to try next, and the bytes that the
    /// client has sent after its greeting.
    Connecting(VecDeque<SocketAddr>, Vec<u8>),
    /// Client and server are connected, and bytes are passed on in both directions.
    Open,
}

struct Connection {
    serial: u64,
    state: State,
    sides: [Side; 2],
}

/// State of a network path's process: its connections, and its links in both directions.
struct Paths {
    epoll: OwnedFd,
    timer: OwnedFd,
    listener: OwnedFd,
    token: String,
    connections: Slab<Connection>,
    n_connections: u64,
    /// Links of both directions, by the index of the socket that sends (client or server).
    links: [Link; 2],
    parcels: [VecDeque<Parcel>; 2],
    paused: [VecDeque<Paused>; 2],
    room: Vec<u8>,
    n_bytes: [u64; 2],
    n_parcels: u64,
    late_ns: u64,
    late_ns_max: u64,
}

/// Runs a network path until standard input ends. The first input line has the secret and the
/// conditions, later lines are requests. Answers go to standard output; the first one is the port.
/// Fails if the conditions cannot be read, or the system refuses a socket.
pub fn serve() -> io::Result<()> {
    let mut first = String::new();
    // One byte at a time: later lines are read later.
    let stdin = io::stdin();
    let mut byte = [0];
    while rustix::io::read(&stdin, &mut byte)? == 1 && byte[0] != b'\n' {
        first.push(char::from(byte[0]));
    }
    let Some((token, conditions)) = first.split_once(' ') else { return Err(bad(&first)) };
    let (delay_ns, bytes_per_s) = read_conditions(conditions)?;
    // Two descriptors per client, and as many clients as the owner may have.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _fewer = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let link = Link::new(delay_ns, bytes_per_s);
    let (mut paths, port) = Paths::new(token.to_owned(), link)?;
    say(&port.to_string())?;
    paths.run()
}

/// Parses a line with a delay in nanoseconds and a bandwidth in bytes per second, where 0 means
/// unlimited and becomes `None`. Fails if the line is not two whole numbers.
fn read_conditions(line: &str) -> io::Result<(u64, Option<u64>)> {
    let numbers: Result<Vec<u64>, _> = line.split(' ').map(str::parse).collect();
    match numbers.as_deref() {
        Ok(&[delay_ns, bytes_per_s]) => Ok((delay_ns, (bytes_per_s > 0).then_some(bytes_per_s))),
        _ => Err(bad(line)),
    }
}

fn bad(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("no conditions: '{line}'"))
}

/// Writes a line to standard output, for dbdyno's main process, which started this one.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

impl Paths {
    fn new(token: String, link: Link) -> io::Result<(Paths, u16)> {
        let (listener, port) = listen_here()?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, io::stdin(), EventData::new_u64(INPUT), EventFlags::IN)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        let paths = Paths {
            epoll,
            timer,
            listener,
            token,
            connections: Slab::new(),
            n_connections: 0,
            links: [link.clone(), link],
            parcels: Default::default(),
            paused: Default::default(),
            room: vec![0; PIECE_BYTES_MAX],
            n_bytes: [0; 2],
            n_parcels: 0,
            late_ns: 0,
            late_ns_max: 0,
        };
        Ok((paths, port))
    }

    /// Serves clients, and requests of dbdyno's main process, until that process has ended.
    fn run(&mut self) -> io::Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_MAX);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    INPUT if self.hear()? => return Ok(()),
                    INPUT => {}
                    LISTENER => self.welcome()?,
                    TIMER => {
                        let mut count = [0; 8];
                        let _none = rustix::io::read(&self.timer, &mut count);
                    }
                    key => {
                        let (index, side) =
                            ((key - FIRST) as usize / 2, (key - FIRST) as usize % 2);
                        self.ready(index, side, event.flags);
                    }
                }
            }
            self.deliver();
            self.resume();
            self.set_timer()?;
        }
    }

    /// Handles a request of dbdyno's main process: new conditions or a report. Returns true if that
    /// process has ended.
    fn hear(&mut self) -> io::Result<bool> {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(true);
        }
        if let Some(conditions) = line.strip_prefix("change ") {
            let (delay_ns, bytes_per_s) = read_conditions(conditions.trim_end())?;
            self.links.iter_mut().for_each(|link| link.change(delay_ns, bytes_per_s));
            say("changed")?;
            return Ok(false);
        }
        let late_ns_mean = self.late_ns / self.n_parcels.max(1);
        let [to_servers, to_clients] = self.n_bytes;
        let (late_ns_max, cpu_ns) = (self.late_ns_max, cpu_ns());
        say(&format!("{to_servers} {to_clients} {late_ns_mean} {late_ns_max} {cpu_ns}"))?;
        Ok(false)
    }

    /// Accepts all clients that wait to connect.
    fn welcome(&mut self) -> io::Result<()> {
        while let Some(socket) = accept(&self.listener)? {
            self.n_connections += 1;
            let mut sides: [Side; 2] = Default::default();
            sides[CLIENT].socket = Some(socket);
            let state = State::Greeting(Vec::new());
            let index =
                self.connections.insert(Connection { serial: self.n_connections, state, sides });
            self.watch(index);
        }
        Ok(())
    }

    /// Handles an event of one socket (`side`: client's or server's) of a connection: the socket is
    /// readable, writable or broken.
    fn ready(&mut self, index: usize, side: usize, flags: EventFlags) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        match &mut connection.state {
            State::Greeting(_) => self.greeted(index),
            State::Connecting(..) if side == SERVER => self.connected(index),
            // A client that leaves now is noticed later.
            State::Connecting(..) => {}
            State::Open => {
                if flags.contains(EventFlags::OUT) {
                    self.flush(index, side);
                }
                let is_there = EventFlags::IN | EventFlags::HUP | EventFlags::ERR;
                if flags.intersects(is_there) {
                    self.take(index, side);
                }
                self.watch(index);
            }
        }
    }

    /// Reads a client's greeting. When it is complete, connects to the first server that the
    /// greeting names. Closes the connection if the secret is wrong or the greeting too long.
    fn greeted(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let State::Greeting(said) = &mut connection.state else { return };
        let socket = connection.sides[CLIENT].socket.as_ref().expect("it has connected");
        match read(socket, &mut self.room) {
            Got::Bytes(n_bytes) => said.extend(&self.room[..n_bytes]),
            Got::Nothing => return,
            Got::End => return self.remove(index),
        }
        let Some(end) = said.iter().position(|byte| *byte == b'\n') else {
            if said.len() > GREETING_MAX {
                self.remove(index);
            }
            return;
        };
        let rest = said.split_off(end + 1);
        let line = str::from_utf8(&said[..end]).unwrap_or_default();
        let Some(to) = PathEntrance::read_greeting(&self.token, line) else {
            return self.remove(index);
        };
        connection.state = State::Connecting(to.into(), rest);
        self.connect_next(index);
    }

    /// Starts to connect to the next server address of a connection. Closes the connection if there
    /// is none left.
    fn connect_next(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let server = &mut connection.sides[SERVER];
        if let (Some(socket), Some(_)) = (server.socket.take(), server.watched.take()) {
            let _gone = epoll::delete(&self.epoll, &socket);
        }
        let State::Connecting(to, _) = &mut connection.state else { return };
        while let Some(address) = to.pop_front() {
            if let Ok(socket) = begin_connect(address) {
                server.socket = Some(socket);
                return self.watch(index);
            }
        }
        self.remove(index);
    }

    /// Handles the outcome of connecting to a server: starts passing bytes on, or tries the next
    /// address.
    fn connected(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if !connection.sides[SERVER].socket.as_ref().is_some_and(is_connected) {
            return self.connect_next(index);
        }
        let before = std::mem::replace(&mut connection.state, State::Open);
        if let State::Connecting(_, said) = before
            && !said.is_empty()
        {
            self.send(index, CLIENT, now_ns(), said);
        }
        self.watch(index);
    }

    /// Reads bytes from one socket (`side`: client's or server's) of a connection and puts them on
    /// the link. If the link has no room, the socket must wait.
    fn take(&mut self, index: usize, side: usize) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        let from = &mut connection.sides[side];
        if from.has_ended || from.is_paused || !from.has_room() {
            return;
        }
        let since_ns = now_ns();
        if self.links[side].is_full(since_ns) {
            from.is_paused = true;
            let serial = connection.serial;
            return self.paused[side].push_back(Paused { connection: index, serial, since_ns });
        }
        self.take_piece(index, side, since_ns);
    }

    /// Reads bytes from one socket of a connection, which has waited since `since_ns`, and puts
    /// them on the link. Returns true if the socket may have more bytes, and the connection has
    /// room for them.
    fn take_piece(&mut self, index: usize, side: usize, since_ns: u64) -> bool {
        let from = &mut self.connections[index].sides[side];
        let n_bytes_max = self.links[side].piece_bytes();
        let socket = from.socket.as_ref().expect("both are connected");
        match read(socket, &mut self.room[..n_bytes_max]) {
            Got::Bytes(n_bytes) => {
                let bytes = self.room[..n_bytes].to_vec();
                self.send(index, side, since_ns, bytes);
                let is_there_room = || self.connections[index].sides[side].has_room();
                n_bytes == n_bytes_max && is_there_room()
            }
            Got::Nothing => false,
            Got::End => {
                from.has_ended = true;
                self.send(index, side, since_ns, Vec::new());
                false
            }
        }
    }

    /// Puts bytes from one socket of a connection, which has waited since `since_ns`, on the link
    /// of its direction. Empty `bytes` mean that the sender has closed its end.
    fn send(&mut self, index: usize, side: usize, since_ns: u64, bytes: Vec<u8>) {
        let connection = &mut self.connections[index];
        connection.sides[side].n_under_way += bytes.len();
        self.n_bytes[side] += bytes.len() as u64;
        let due_ns = self.links[side].send(now_ns(), since_ns, bytes.len());
        let serial = connection.serial;
        self.parcels[side].push_back(Parcel { due_ns, connection: index, serial, bytes });
    }

    /// Delivers all bytes that are due to the sockets at the other end, in the order in which they
    /// came.
    fn deliver(&mut self) {
        for from in [CLIENT, SERVER] {
            loop {
                let now_ns = now_ns();
                let is_due = |parcel: &mut Parcel| parcel.due_ns <= now_ns;
                let Some(parcel) = self.parcels[from].pop_front_if(is_due) else { break };
                let late_ns = now_ns - parcel.due_ns;
                self.n_parcels += 1;
                self.late_ns += late_ns;
                self.late_ns_max = self.late_ns_max.max(late_ns);
                let index = parcel.connection;
                let connection = self.connections.get_mut(index);
                let Some(connection) = connection.filter(|current| current.serial == parcel.serial)
                else {
                    continue;
                };
                let to = &mut connection.sides[1 - from];
                match parcel.bytes.is_empty() {
                    true => to.is_last = true,
                    false if to.unwritten.is_empty() => to.unwritten = parcel.bytes,
                    false => to.unwritten.extend(parcel.bytes),
                }
                self.flush(index, 1 - from);
                self.watch(index);
            }
        }
    }

    /// Writes due bytes to one socket of a connection, as many as fit. Closes the connection if
    /// that fails, or if client and server have received everything.
    fn flush(&mut self, index: usize, side: usize) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        let to = &mut connection.sides[side];
        let socket = to.socket.as_ref().expect("both are connected");
        let mut n_written = 0;
        while to.n_written < to.unwritten.len() {
            match write(socket, &to.unwritten[to.n_written..]) {
                Ok(0) => break,
                Ok(n_bytes) => {
                    to.n_written += n_bytes;
                    n_written += n_bytes;
                }
                Err(_) => return self.remove(index),
            }
        }
        let is_all = to.n_written == to.unwritten.len();
        if is_all {
            to.unwritten.clear();
            to.n_written = 0;
        }
        if is_all && to.is_last {
            end(socket);
        }
        connection.sides[1 - side].n_under_way -= n_written;
        let is_over = |receiver: &Side| receiver.is_last && receiver.unwritten.is_empty();
        if connection.sides.iter().all(is_over) {
            self.remove(index);
        }
    }

    /// Reads again from sockets that waited until a link has room, first come first served.
    fn resume(&mut self) {
        for side in [CLIENT, SERVER] {
            while !self.paused[side].is_empty() && !self.links[side].is_full(now_ns()) {
                let Some(paused) = self.paused[side].pop_front() else { break };
                let index = paused.connection;
                let connection = self.connections.get(index);
                if connection.is_none_or(|current| current.serial != paused.serial) {
                    continue;
                }
                if self.take_piece(index, side, paused.since_ns) {
                    self.paused[side].push_back(paused);
                } else {
                    self.connections[index].sides[side].is_paused = false;
                    self.watch(index);
                }
            }
        }
    }

    /// Sets the timer to the next delivery, or to the instant at which a link has room for waiting
    /// sockets; without either, stops it.
    fn set_timer(&mut self) -> io::Result<()> {
        let due = self.parcels.iter().filter_map(|queue| queue.front()).map(|parcel| parcel.due_ns);
        let waiting = self.links.iter().zip(&self.paused).filter(|(_, queue)| !queue.is_empty());
        let room = waiting.map(|(link, _)| link.has_room_ns());
        // An instant of 0 would disarm the timer.
        let next_ns = due.chain(room).min().map_or(0, |next_ns| next_ns.max(1));
        let value = Itimerspec { it_interval: timespec(0), it_value: timespec(next_ns) };
        timerfd_settime(self.timer.as_fd(), TimerfdTimerFlags::ABSTIME, &value)?;
        Ok(())
    }

    /// Updates the events for which the event loop watches both sockets of a connection.
    fn watch(&mut self, index: usize) {
        let Some(connection) = self.connections.get_mut(index) else { return };
        for (side, endpoint) in connection.sides.iter_mut().enumerate() {
            let Some(socket) = &endpoint.socket else { continue };
            let mut flags = EventFlags::empty();
            let can_read = match &connection.state {
                State::Greeting(_) => true,
                State::Connecting(..) => false,
                State::Open => !endpoint.has_ended && !endpoint.is_paused && endpoint.has_room(),
            };
            let is_connecting = side == SERVER && matches!(connection.state, State::Connecting(..));
            flags.set(EventFlags::IN, can_read);
            flags.set(EventFlags::OUT, is_connecting || !endpoint.unwritten.is_empty());
            let wanted = (!flags.is_empty()).then_some(flags);
            let data = EventData::new_u64(FIRST + (index * 2 + side) as u64);
            // A socket for which no events are wanted is not watched: an error would be reported
            // forever.
            let changed = match (endpoint.watched, wanted) {
                (before, now) if before == now => Ok(()),
                (None, Some(flags)) => epoll::add(&self.epoll, socket, data, flags),
                (Some(_), Some(flags)) => epoll::modify(&self.epoll, socket, data, flags),
                (_, None) => epoll::delete(&self.epoll, socket),
            };
            endpoint.watched = wanted;
            changed.expect("a socket of ours can be watched");
        }
    }

    /// Closes both sockets of a connection and removes it. Bytes on their way are lost, as when a
    /// connection breaks.
    fn remove(&mut self, index: usize) {
        drop(self.connections.remove(index));
    }
}
