//! Reply lag: the time that replies wait in a socket before they are read.
//!
//! The kernel can timestamp what a TCP socket receives (`SO_TIMESTAMPING` with `RX_SOFTWARE`,
//! Documentation/networking/timestamping.rst); `recvmsg` then returns the timestamp of the last
//! byte. The kernel timestamps all sockets of the host as soon as one requests it, which costs each
//! query some CPU time. So timestamps are switched on for short periods only, called spells
//! ([`Spells`]); only replies within a spell are sampled. A reply that waited long is noticed
//! outside of spells too: after each long round trip the kernel reports how long ago the last data
//! came (`TCP_INFO`), in ticks of its clock.
//!
//! Not here: the use of reply lags (engine).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use model::{NS_PER_MS, NS_PER_S, ReplyLags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};

use super::timestamping::set_timestamping;

/// Period in which the kernel's timestamps of received packets are switched on once, at an offset
/// that varies from period to period.
const PERIOD: Duration = Duration::from_secs(1);
/// Time for which timestamps of received packets are switched on in each period of 1 s, so that one
/// reply in 40 has one. `examples/reply_lag.rs` measures the cost (docs/explanation/generator.md).
const SPELL: Duration = Duration::from_millis(25);
/// Interval between checks whether requested packet timestamps are in force. The kernel switches
/// them on in a worker, which may wait long for a CPU.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Number of checks after which requested packet timestamps count as in force, even if no reply has
/// had one.
const LOOKS_MAX: u32 = 100;
/// Time after timestamps were switched off, during which replies that had arrived before are still
/// read with their timestamps. A reply that waits longer is noticed by its long round trip.
const GRACE: Duration = Duration::from_millis(10);

/// Reply lag, in nanoseconds, from which a reply counts as late. After a round trip that takes at
/// least as long, the kernel is asked whether the reply was late. The next reply is then read with
/// its timestamp in any case, since timestamps may be switched on after its request.
const LATE_NS: u64 = 10 * NS_PER_MS;

/// Size of the buffer for the kernel's control message with a packet's timestamps, in bytes. The
/// message has three times; only the first one is used.
const CONTROL_BYTES: usize = 128;

/// Buffer for a control message of `recvmsg`, aligned as the kernel requires.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Switch of the kernel's timestamps of received packets, one for all measured sockets of this
/// process. They are on for 25 ms in every second (a spell), until no socket is measured any more.
struct Spells {
    /// Socket that receives nothing, and whose option switches timestamps on for all sockets of the
    /// machine.
    asking: OwnedFd,
    /// Whether replies are read with their timestamps: true while timestamps are on and shortly
    /// after.
    are_read: AtomicBool,
    /// Whether any reply with a timestamp was read since timestamps were last switched on.
    has_begun: AtomicBool,
}

static SPELLS: Mutex<Weak<Spells>> = Mutex::new(Weak::new());

impl Spells {
    /// Returns this process's switch of the kernel's packet timestamps. The first call starts the
    /// thread that turns them on for 25 ms in every second. Fails if the kernel does not support
    /// them.
    fn shared() -> io::Result<Arc<Spells>> {
        let mut shared = SPELLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spells) = shared.upgrade() {
            return Ok(spells);
        }
        let (family, flags) = (AddressFamily::INET, SocketFlags::CLOEXEC);
        let asking = rustix::net::socket_with(family, SocketType::DGRAM, flags, None)?;
        let (are_read, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
        let spells = Arc::new(Spells { asking, are_read, has_begun });
        // The first spell starts at once, and shows whether the kernel makes timestamps.
        spells.open()?;
        let weak = Arc::downgrade(&spells);
        *shared = weak.clone();
        thread::Builder::new().name("reply-lag".to_owned()).spawn(move || keep_time(&weak))?;
        Ok(spells)
    }

    fn open(&self) -> io::Result<()> {
        self.has_begun.store(false, Ordering::Relaxed);
        self.are_read.store(true, Ordering::Relaxed);
        self.stamp(true)
    }

    fn stamp(&self, is_on: bool) -> io::Result<()> {
        set_timestamping(&self.asking, if is_on { libc::SOF_TIMESTAMPING_RX_SOFTWARE } else { 0 })
    }

    #[inline]
    fn are_read(&self) -> bool {
        self.are_read.load(Ordering::Relaxed)
    }
}

/// Turns the kernel's packet timestamps on and off in every period, until no socket is measured any
/// more. Runs as a thread of its own.
fn keep_time(spells: &Weak<Spells>) {
    // The offset of a spell in its period follows a Weyl sequence, so that it does not coincide
    // with any other period.
    let mut nth: u32 = 0;
    let slack = PERIOD - SPELL - GRACE;
    let mut before = Duration::ZERO;
    loop {
        for _ in 0..LOOKS_MAX {
            let Some(spells) = after(LOOK_EVERY, spells) else { return };
            if spells.has_begun.load(Ordering::Relaxed) {
                break;
            }
        }
        // The socket has switched timestamps on before, so this cannot fail.
        let Some(_) = after(SPELL, spells).map(|spells| spells.stamp(false)) else { return };
        let Some(ended) = after(GRACE, spells) else { return };
        ended.are_read.store(false, Ordering::Relaxed);
        drop(ended);
        nth = nth.wrapping_add(0x9E37_79B9);
        let next = slack.mul_f64(f64::from(nth) / f64::from(u32::MAX));
        let pause = slack - before + next;
        before = next;
        let Some(_) = after(pause, spells).map(|spells| spells.open()) else { return };
    }
}

/// Pauses the thread for about `pause`, and returns the process's switch of packet timestamps;
/// `None` if no socket is measured any more.
fn after(pause: Duration, spells: &Weak<Spells>) -> Option<Arc<Spells>> {
    thread::park_timeout(pause);
    spells.upgrade()
}

/// Measurement, on one socket, of reply lags: the times from the arrival of a reply to its reading.
pub(super) struct Probe {
    lags: Rc<dyn ReplyLags>,
    spells: Arc<Spells>,
    is_under_way: bool,
    /// Time at which the last round trip ended, in nanoseconds on the clock of
    /// [`ReplyLags::coarse_ns`].
    ended_ns: u64,
    /// Whether the last round trip took at least [`LATE_NS`].
    took_long: bool,
    /// Whether the current reply is read with the kernel's timestamp of its arrival.
    pub(super) is_sampling: bool,
    /// Reply lag of the last read of the current reply, in nanoseconds; `None` if it had no
    /// timestamp.
    lag_ns: Option<u64>,
}

impl Probe {
    /// Prepares a TCP socket for the measurement of reply lags. If the kernel rejects timestamps,
    /// reports that to `lags` and returns `None`.
    pub(super) fn new(descriptor: &OwnedFd, lags: Rc<dyn ReplyLags>) -> Option<Probe> {
        let reported = set_timestamping(descriptor, libc::SOF_TIMESTAMPING_SOFTWARE);
        let spells = match reported.and_then(|()| Spells::shared()) {
            Ok(spells) => spells,
            Err(error) => {
                lags.unavailable(&format!("the kernel refuses receive timestamps: {error}"));
                return None;
            }
        };
        let (is_under_way, ended_ns) = (false, lags.coarse_ns());
        let (took_long, is_sampling, lag_ns) = (true, false, None);
        Some(Probe { lags, spells, is_under_way, ended_ns, took_long, is_sampling, lag_ns })
    }

    /// Starts the measurement of a reply, after a request was sent on the socket.
    #[inline]
    pub(super) fn begin(&mut self, descriptor: &OwnedFd) {
        self.end(descriptor);
        self.is_under_way = true;
        self.is_sampling = self.took_long || self.spells.are_read();
    }

    /// Ends the measurement of a reply that is complete. If the kernel has timestamped the reply,
    /// records its lag: the time from the arrival of its last byte until that byte was read.
    #[inline]
    pub(super) fn end(&mut self, descriptor: &OwnedFd) {
        if !std::mem::take(&mut self.is_under_way) {
            return;
        }
        // Includes a pause before it: a long round trip is only checked more often.
        let now_ns = self.lags.coarse_ns();
        self.took_long = now_ns - self.ended_ns >= LATE_NS;
        self.ended_ns = now_ns;
        if std::mem::take(&mut self.is_sampling)
            && let Some(lag_ns) = self.lag_ns.take()
        {
            self.lags.record(lag_ns);
        }
        if self.took_long {
            self.look_whether_late(descriptor);
        }
    }

    #[cold]
    fn look_whether_late(&self, descriptor: &OwnedFd) {
        if let Some(lag_ns) = since_last_data_ns(descriptor).filter(|lag_ns| *lag_ns >= LATE_NS) {
            self.lags.record_late(lag_ns);
        }
    }

    /// Receives bytes into `room` and returns their number. Stores the lag of the last byte if the
    /// kernel has timestamped it.
    #[cold]
    pub(super) fn receive(
        &mut self,
        descriptor: &OwnedFd,
        room: &mut [u8],
        flags: RecvFlags,
    ) -> Result<usize, Errno> {
        let (n_bytes, arrived_unix_ns) = receive_stamped(descriptor, room, flags)?;
        // Without a timestamp outside of a spell.
        self.lag_ns = arrived_unix_ns.and_then(|arrived| self.lags.since_ns(arrived));
        if self.lag_ns.is_some() && !self.spells.has_begun.load(Ordering::Relaxed) {
            self.spells.has_begun.store(true, Ordering::Relaxed);
        }
        Ok(n_bytes)
    }
}

/// Returns the nanoseconds since a TCP socket last received data, rounded to whole milliseconds;
/// `None` if the kernel does not provide this.
#[allow(unsafe_code)]
fn since_last_data_ns(descriptor: &OwnedFd) -> Option<u64> {
    // SAFETY: a `tcp_info` of zeros is valid: it is made of numbers alone.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut n_bytes = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the kernel writes at most `n_bytes` bytes into `info`; both live through the call.
    let result = unsafe {
        libc::getsockopt(
            descriptor.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut n_bytes,
        )
    };
    (result == 0).then(|| u64::from(info.tcpi_last_data_recv) * NS_PER_MS)
}

/// Receives bytes into `room`. Returns their number and the arrival time of the last one, in
/// nanoseconds of `CLOCK_REALTIME`; the time is `None` if the kernel has not timestamped it.
#[allow(unsafe_code)]
fn receive_stamped(
    descriptor: &OwnedFd,
    room: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Option<u64>), Errno> {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: a `msghdr` of zeros is valid: no name, no parts, no control bytes.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    let n_bytes = loop {
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        // SAFETY: `message` points to `room` and `control` with their lengths; both are lent to
        // this function for longer than the call, and nothing else uses them meanwhile.
        let result = unsafe {
            libc::recvmsg(descriptor.as_raw_fd(), &raw mut message, flags.bits() as libc::c_int)
        };
        match usize::try_from(result) {
            Ok(n_bytes) => break n_bytes,
            Err(_) => match Errno::from_io_error(&io::Error::last_os_error()) {
                Some(Errno::INTR) => {}
                error => return Err(error.unwrap_or(Errno::IO)),
            },
        }
    };
    // SAFETY: the kernel has filled `control` with whole messages and has set their length; the
    // macros stay within it, and the stamp is copied from where it may not be aligned.
    let stamp = unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&raw const message);
        loop {
            let Some(head) = header.as_ref() else { break None };
            if (head.cmsg_level, head.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) {
                let stamp = libc::CMSG_DATA(header).cast::<libc::timespec>();
                break Some(stamp.read_unaligned());
            }
            header = libc::CMSG_NXTHDR(&raw const message, header);
        }
    };
    let unix_ns = |at: libc::timespec| at.tv_sec as u64 * NS_PER_S + at.tv_nsec as u64;
    Ok((n_bytes, stamp.map(unix_ns).filter(|unix_ns| *unix_ns > 0)))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A receiver of reply lags that keeps all of them, and whose clock counts its own calls.
    #[derive(Default)]
    struct Heard {
        arrived: RefCell<Vec<u64>>,
        recorded: RefCell<Vec<u64>>,
        late: RefCell<Vec<u64>>,
    }

    impl ReplyLags for Heard {
        fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64> {
            self.arrived.borrow_mut().push(arrived_unix_ns);
            Some(self.arrived.borrow().len() as u64)
        }

        fn coarse_ns(&self) -> u64 {
            coarse_ns()
        }

        fn record(&self, lag_ns: u64) {
            self.recorded.borrow_mut().push(lag_ns);
        }

        fn record_late(&self, lag_ns: u64) {
            self.late.borrow_mut().push(lag_ns);
        }

        fn unavailable(&self, why: &str) {
            panic!("{why}");
        }
    }

    fn coarse_ns() -> u64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
        now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
    }

    fn pair() -> (TcpStream, OwnedFd) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        let (far, _) = listener.accept().expect("accepted");
        (far, OwnedFd::from(near))
    }

    fn probe(near: &OwnedFd, heard: &Rc<Heard>) -> Probe {
        Probe::new(near, Rc::clone(heard) as Rc<dyn ReplyLags>).expect("this kernel stamps")
    }

    /// Sends a reply in two pieces and receives it as a session does.
    fn round_trip(probe: &mut Probe, far: &mut TcpStream, near: &OwnedFd) {
        let mut room = [0; 8];
        probe.begin(near);
        for _ in 0..2 {
            far.write_all(b"x").expect("sent");
            if probe.is_sampling {
                assert_eq!(probe.receive(near, &mut room, RecvFlags::empty()), Ok(1));
            } else {
                assert!(rustix::net::recv(near, &mut room, RecvFlags::empty()).is_ok());
            }
        }
        probe.end(near);
    }

    #[test]
    fn spells_come_and_go_and_their_replies_are_sampled_by_the_last_read() {
        let (mut far, near) = pair();
        let heard = Rc::new(Heard::default());
        let mut probe = probe(&near, &heard);
        let began_ns = coarse_ns();
        let (mut n_round_trips, mut n_spells, mut was_read) = (0_u64, 0, false);
        while n_spells < 4 {
            round_trip(&mut probe, &mut far, &near);
            n_round_trips += 1;
            let is_read = probe.spells.are_read();
            n_spells += usize::from(is_read && !was_read);
            was_read = is_read;
        }
        let took_ns = coarse_ns() - began_ns;
        assert!(took_ns > 2 * PERIOD.as_nanos() as u64, "three periods less a spell: {took_ns} ns");
        let recorded = heard.recorded.borrow();
        assert!(!recorded.is_empty(), "what came within a spell has a stamp");
        assert!((recorded.len() as u64) < n_round_trips / 2, "{} sampled", recorded.len());
        // since_ns returns the number of timestamps so far. A reply is recorded by its second
        // piece. If timestamps began between its pieces it has one, and if they ended there it is
        // not recorded.
        let gaps = recorded.windows(2).map(|two| two[1] - two[0]);
        let n_odd = gaps.clone().filter(|gap| *gap != 2).count();
        assert!(n_odd <= 2 * n_spells, "{n_odd} of {} are not the second", recorded.len());
    }

    #[test]
    fn a_reply_that_lay_long_is_late_whether_or_not_it_has_a_stamp() {
        let (mut far, near) = pair();
        let heard = Rc::new(Heard::default());
        let mut probe = probe(&near, &heard);
        let mut room = [0; 8];
        let lies = Duration::from_millis(50);
        for _ in 0..3 {
            probe.begin(&near);
            far.write_all(b"x").expect("sent");
            thread::park_timeout(lies);
            assert!(rustix::net::recv(&near, &mut room, RecvFlags::empty()).is_ok());
            probe.end(&near);
        }
        // The server took long, and the reply was read at once.
        probe.begin(&near);
        thread::park_timeout(lies);
        let sent_ns = coarse_ns();
        far.write_all(b"x").expect("sent");
        assert!(rustix::net::recv(&near, &mut room, RecvFlags::empty()).is_ok());
        probe.end(&near);
        // This does not hold if the thread had no CPU just then.
        let was_at_once = coarse_ns() - sent_ns < LATE_NS;
        let late = heard.late.borrow();
        assert!(late.len() == 3 || !was_at_once, "{late:?}");
        // A tick is at most 10 ms.
        assert!(late.iter().all(|lag_ns| *lag_ns >= 40 * NS_PER_MS), "{late:?}");
    }

    #[test]
    fn a_stamp_is_of_the_last_byte_and_stamps_follow_each_other() {
        let (mut far, near) = pair();
        let probe = probe(&near, &Rc::new(Heard::default()));
        let mut room = [0; 64];
        let mut stamps = Vec::new();
        while stamps.len() < 10 {
            probe.spells.stamp(true).expect("it is asked again");
            far.write_all(b"ab").expect("sent");
            let got = receive_stamped(&near, &mut room, RecvFlags::empty()).expect("received");
            stamps.extend(got.1);
        }
        assert!(stamps.is_sorted(), "{stamps:?}");
        assert_eq!(receive_stamped(&near, &mut room, RecvFlags::DONTWAIT), Err(Errno::AGAIN));
        drop(far);
        assert_eq!(receive_stamped(&near, &mut room, RecvFlags::empty()), Ok((0, None)));
    }
}
