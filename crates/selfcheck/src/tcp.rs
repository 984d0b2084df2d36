//! Accuracy over TCP: a scripted server logs when it wrote each reply, so that the delay until the
//! client has it is known.
//!
//! The server implements the part of PostgreSQL's protocol (version 3.0, simple queries) that one
//! statement needs. It runs on its own thread, with random service times that follow from a seed.
//! The logged times are the truth, so the server need not be punctual. Not here: any real database.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use drivers::{Opening, SimService, service_draw_ns};
use engine::{
    ClientThreads, GroupJob, Job, Origin, Recorded, RecordedAs, SampleHook, Schedule, Share, Stop,
};
use model::{
    ArrivalRate, Arrivals, Event, Load, NS_PER_MS, NS_PER_S, Phases, Placement, QueueAtEnd,
    QueueFull, Recording, Retry, Sample, Settings, StopCondition, Target,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use stats::{Histogram, Range};

use app::Error;

/// Longest time, in nanoseconds, that the scripted server waits before it checks whether it should
/// stop.
const LOOK_NS: u64 = 20 * NS_PER_MS;
/// Time in nanoseconds from the last connection to the first arrival.
const LEAD_NS: u64 = 20 * NS_PER_MS;
const RATE_PER_S: f64 = 1000.0;
const CLIENTS: u32 = 64;
const SERVICE_NS_MEAN: f64 = 2e6;
const SEED: u64 = 1;

/// Accuracy of response times over TCP, from one run against a scripted server that logs when it
/// sent its replies.
pub struct TcpAccuracy {
    pub n_arrivals: u64,
    /// Number of arrivals that both dbdyno and the server recorded.
    pub n_measured: u64,
    /// Error of each response time: nanoseconds from just before the server writes a reply until
    /// the client has it.
    pub errors: Histogram,
    /// Number of replies that a client received before the server wrote them; any of them means
    /// that a clock is wrong.
    pub n_too_early: u64,
    /// Reply lag of the same run, in nanoseconds: how long replies lay in the sockets before dbdyno
    /// read them.
    pub reply_lag: Histogram,
}

/// Runs an open load of 1,000 arrivals per second with 64 clients against the scripted server, and
/// compares the response times with the server's log.
pub fn accuracy_over_tcp(placement: Placement, measure_ns: u64) -> Result<TcpAccuracy, Error> {
    let server = ScriptedServer::start().map_err(|error| {
        Error::Failed(format!("the selfcheck needs a TCP port of its own: {error}"))
    })?;
    let samples: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let kept = Arc::clone(&samples);
    let sample_hook: SampleHook = Arc::new(move |recorded: &Recorded<'_>| {
        if recorded.recorded_as == RecordedAs::Ended {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(*recorded.sample);
        }
    });
    let job = job(server.address, placement, measure_ns, sample_hook)?;
    let mut origin_ns = 0;
    let mut reply_lag = Histogram::new(Range::default());
    let mut start = |now_ns| {
        origin_ns = monotonic_ns() - now_ns;
        now_ns + LEAD_NS
    };
    let ran = engine::run(job, &Arc::new(Stop::default()), &mut start, &mut |event| {
        if let Event::Second(second) = event {
            second.reply_lag.iter().for_each(|lag| reply_lag.add(lag));
        }
    });
    ran.map_err(Error::failed)?;
    let written = server.end();
    let samples = std::mem::take(&mut *samples.lock().unwrap_or_else(PoisonError::into_inner));
    let mut accuracy = TcpAccuracy {
        n_arrivals: n_arrivals(measure_ns),
        n_measured: 0,
        errors: Histogram::new(Range::default()),
        n_too_early: 0,
        reply_lag,
    };
    for sample in &samples {
        let Some(written_ns) = written.get(&sample.slot.number.nth()) else { continue };
        accuracy.n_measured += 1;
        match (origin_ns + sample.finished_ns).checked_sub(*written_ns) {
            Some(late_ns) => accuracy.errors.record(late_ns),
            None => accuracy.n_too_early += 1,
        }
    }
    Ok(accuracy)
}

fn rate() -> ArrivalRate {
    ArrivalRate::Constant(RATE_PER_S)
}

fn n_arrivals(measure_ns: u64) -> u64 {
    let mut schedule = Schedule::new(SEED, 0, Arrivals::Poisson, &rate(), 0, Share::whole());
    let mut n_arrivals = 0;
    while schedule.peek().1 < measure_ns {
        n_arrivals += 1;
        schedule.advance();
    }
    n_arrivals
}

fn job(
    address: SocketAddr,
    placement: Placement,
    measure_ns: u64,
    sample_hook: SampleHook,
) -> Result<Job, Error> {
    // Statements are sent as text, so that the server can parse the transaction number.
    let url = format!("postgres://selfcheck@{address}/selfcheck?tls=disable&statements=simple");
    let target = Target::parse(&url).map_err(|bad| Error::Usage(bad.0))?;
    let entry = drivers::by_scheme("postgres")?;
    let opening = Opening { create: false, seed: SEED };
    let database = (entry.open)(&target, opening).map_err(Error::failed)?;
    let entry = workloads::by_name("empty")?;
    let settings = Settings::decide("empty", entry.parameters, [])?;
    let workload = entry.made(&settings, SEED, None)?;
    let group = GroupJob {
        name: "empty".to_owned(),
        statements: workload.statements(database.dialect()).into(),
        workload,
        database,
        first_client: 0,
        clients: CLIENTS,
        share: Some(Share::whole()),
        load: Load::Open {
            arrivals: Arrivals::Poisson,
            rate: rate(),
            queue: 100_000,
            queue_full: QueueFull::Drop,
            queue_wait_ns: None,
            queue_at_end: QueueAtEnd::Serve,
        },
        connections: model::Connections::Kept,
        stop_condition: StopCondition::Time,
    };
    Ok(Job {
        seed: SEED,
        phases: Phases { ramp_up_ns: 0, measure_ns, drain_ns: 5 * NS_PER_S },
        groups: vec![group],
        placement,
        retry: Retry { ignored: Vec::new(), attempts: 1, on: Vec::new(), backoff_ns: 0 },
        connect: model::Connect::default(),
        recording: Recording { histogram_max_ns: 3600 * NS_PER_S, window_seconds: 10 },
        origin: Origin::now(),
        event_loop: model::EventLoopChoice::Auto,
        pin: false,
        workers: thread::available_parallelism().map_or(1, |n| n.get()),
        threads: ClientThreads::default(),
        sample_hook: Some(sample_hook),
    })
}

/// Returns the nanoseconds of the monotonic clock, which the engine uses too.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// Time just before each reply was written, by the number of its transaction.
type Written = BTreeMap<u64, u64>;

/// A scripted database server on its own thread. The server stops when this handle is dropped.
struct ScriptedServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Written>>,
}

impl ScriptedServer {
    fn start() -> io::Result<ScriptedServer> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let builder = thread::Builder::new().name("selfcheck-server".to_owned());
        let thread = builder.spawn(move || {
            let slack = NonZeroU64::new(1).expect("one is not zero");
            // If it fails, the server wakes later, but its log remains true.
            let _ = rustix::thread::set_current_timer_slack(Some(slack));
            let mut serving = Serving { listener, peers: Vec::new(), due: BTreeSet::new() };
            let mut written = Written::new();
            while !over.load(Ordering::Relaxed) {
                serving.turn(&mut written);
            }
            written
        })?;
        Ok(ScriptedServer { address, is_over, thread: Some(thread) })
    }

    fn end(mut self) -> Written {
        self.is_over.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it ends once");
        thread.join().expect("the scripted server does not panic")
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Peer {
    stream: TcpStream,
    /// Bytes that were received from the client but not parsed yet.
    input: Vec<u8>,
    is_signed_in: bool,
}

struct Serving {
    listener: TcpListener,
    /// Connected clients, in the order of their connections; `None` for those that have
    /// disconnected.
    peers: Vec<Option<Peer>>,
    /// Replies to send: due time in nanoseconds, transaction number, and index in `peers`.
    due: BTreeSet<(u64, u64, usize)>,
}

impl Serving {
    /// Sends the replies that are due and notes their times in `written`, then waits for the next
    /// reply or message.
    fn turn(&mut self, written: &mut Written) {
        let now_ns = monotonic_ns();
        while let Some((due_ns, nth, peer)) = self.due.first().copied() {
            if due_ns > now_ns {
                break;
            }
            self.due.pop_first();
            let Some(peer) = self.peers.get_mut(peer).and_then(Option::as_mut) else { continue };
            written.insert(nth, monotonic_ns());
            // A disconnected client misses its reply, which the result shows.
            let _ = peer.stream.write_all(&REPLY);
        }
        let next_ns = self.due.first().map_or(u64::MAX, |(due_ns, ..)| *due_ns);
        let wait_ns = next_ns.saturating_sub(monotonic_ns()).min(LOOK_NS);
        let timeout = Timespec { tv_sec: 0, tv_nsec: wait_ns as _ };
        let living = self.peers.iter().flatten();
        let mut polled: Vec<PollFd<'_>> = [PollFd::new(&self.listener, PollFlags::IN)]
            .into_iter()
            .chain(living.map(|peer| PollFd::new(&peer.stream, PollFlags::IN)))
            .collect();
        // The code below handles every outcome of the wait.
        let _ = poll(&mut polled, Some(&timeout));
        let ready: Vec<bool> = polled.iter().map(|socket| !socket.revents().is_empty()).collect();
        drop(polled);
        let mut ready = ready.into_iter();
        if ready.next() == Some(true) {
            self.accept();
        }
        let living: Vec<usize> =
            (0..self.peers.len()).filter(|index| self.peers[*index].is_some()).collect();
        for (index, _) in living.into_iter().zip(ready).filter(|(_, is_ready)| *is_ready) {
            if !self.hear(index) {
                self.peers[index] = None;
            }
        }
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let is_ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
            let peer = Peer { stream, input: Vec::new(), is_signed_in: false };
            self.peers.push(is_ready.is_ok().then_some(peer));
        }
    }

    /// Reads messages from the client with this index and schedules the replies; returns false if
    /// it has disconnected.
    fn hear(&mut self, index: usize) -> bool {
        let Some(peer) = self.peers[index].as_mut() else { return false };
        let mut room = [0; 4096];
        match peer.stream.read(&mut room) {
            Ok(0) => return false,
            Ok(n_bytes) => peer.input.extend_from_slice(&room[..n_bytes]),
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
        while let Some(message) = next_message(&mut peer.input, peer.is_signed_in) {
            if !peer.is_signed_in {
                peer.is_signed_in = true;
                let _ = peer.stream.write_all(&WELCOME);
            } else if let [b'Q', text @ ..] = message.as_slice() {
                let nth = first_number(text);
                let service = SimService::Exponential(SERVICE_NS_MEAN);
                let service_ns = service_draw_ns(SEED, &service, nth);
                self.due.insert((monotonic_ns() + service_ns, nth, index));
            } else {
                // The only other message is Terminate.
                return false;
            }
        }
        true
    }
}

/// Takes the next complete message from the input; `None` if it is incomplete. A message is a type
/// byte (if `has_tag`, false only for a connection's first message), a length that includes itself,
/// and the body.
fn next_message(input: &mut Vec<u8>, has_tag: bool) -> Option<Vec<u8>> {
    let at = usize::from(has_tag);
    let length = input.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)?;
    let end = at + length as usize;
    (input.len() >= end).then(|| input.drain(..end).collect())
}

/// Returns the first number in the SQL of a message, such as 17 in `SELECT CAST(17 AS BIGINT)`.
fn first_number(text: &[u8]) -> u64 {
    let sql = text.get(4..).unwrap_or_default();
    let digits = sql.iter().skip_while(|byte| !byte.is_ascii_digit());
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Reply to the start of a connection: AuthenticationOk, BackendKeyData and ReadyForQuery.
const WELCOME: [u8; 28] = *b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\0\x01\0\0\0\x02Z\0\0\0\x05I";

/// Reply to a query: RowDescription (one BIGINT), DataRow (1), CommandComplete and ReadyForQuery.
const REPLY: [u8; 59] = *b"T\0\0\0\x1a\0\x01n\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0\
    D\0\0\0\x0b\0\x01\0\0\0\x011C\0\0\0\rSELECT 1\0Z\0\0\0\x05I";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_out_whole() {
        let mut input = b"\0\0\0\x08\0\x03\0\0Q\0\0\0\x0eSELECT 42\0X\0\0".to_vec();
        assert_eq!(next_message(&mut input, false), Some(b"\0\0\0\x08\0\x03\0\0".to_vec()));
        let asked = next_message(&mut input, true).expect("a query");
        assert_eq!((asked[0], first_number(&asked[1..])), (b'Q', 42));
        assert_eq!(next_message(&mut input, true), None);
        assert_eq!(input, b"X\0\0");
    }
}
