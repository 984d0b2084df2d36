//! How long replies lie in a socket before they are read, of a sample of the round trips.
//!
//! The kernel stamps what a TCP socket receives (`SO_TIMESTAMPING` with `RX_SOFTWARE`,
//! Documentation/networking/timestamping.rst) and hands the stamp of the last byte to `recvmsg`. A
//! sampled round trip is read by that call, all others by a plain `recv`. Not here: what becomes of
//! a reply lag (the engine), and any clock.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use model::{NS_PER_S, ReplyLags};
use rustix::io::Errno;
use rustix::net::RecvFlags;

/// One round trip in so many is sampled. A prime, so that the statements of a transaction take
/// turns. `examples/reply_lag.rs` measures what it costs (docs/measuring.md).
const ROUND_TRIPS_PER_SAMPLE: u32 = 11;

/// The message of `recvmsg` in which the stamps come: three times, of which the first is ours.
const CONTROL_BYTES: usize = 128;

/// Aligned as the kernel's header of a control message must be.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// The sampling of one socket.
pub(super) struct Probe {
    lags: Rc<dyn ReplyLags>,
    /// Round trips before the next that is sampled.
    until_sample: u32,
    /// Whether the round trip under way is sampled.
    pub(super) is_sampling: bool,
    /// The lag of what was read last in it.
    lag_ns: Option<u64>,
}

impl Probe {
    /// Asks the kernel for stamps of all that a TCP socket receives.
    pub(super) fn new(descriptor: &OwnedFd, lags: Rc<dyn ReplyLags>) -> Option<Probe> {
        if let Err(error) = ask_for_stamps(descriptor) {
            lags.unavailable(&format!("the kernel refuses receive timestamps: {error}"));
            return None;
        }
        // Clients do the same in step: each begins elsewhere.
        let until_sample = descriptor.as_raw_fd() as u32 % ROUND_TRIPS_PER_SAMPLE;
        let is_sampling = false;
        Some(Probe { lags, until_sample, is_sampling, lag_ns: None })
    }

    /// A request went out, and its reply is waited for.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.end();
        match self.until_sample.checked_sub(1) {
            Some(until_sample) => self.until_sample = until_sample,
            None => {
                self.until_sample = ROUND_TRIPS_PER_SAMPLE - 1;
                self.is_sampling = true;
            }
        }
    }

    /// The reply is complete: its last byte is that of what was read last.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.is_sampling {
            self.is_sampling = false;
            if let Some(lag_ns) = self.lag_ns.take() {
                self.lags.record(lag_ns);
            }
        }
    }

    /// Receives, and sees how long ago the last byte of it came.
    #[cold]
    pub(super) fn receive(
        &mut self,
        descriptor: &OwnedFd,
        room: &mut [u8],
        flags: RecvFlags,
    ) -> Result<usize, Errno> {
        let (n_bytes, arrived_unix_ns) = receive_stamped(descriptor, room, flags)?;
        // The end of a connection has no stamp.
        if n_bytes > 0 {
            match arrived_unix_ns {
                Some(arrived) => self.lag_ns = self.lags.since_ns(arrived),
                None => self.lags.unavailable("the kernel gives no receive timestamps"),
            }
        }
        Ok(n_bytes)
    }
}

#[allow(unsafe_code)]
fn ask_for_stamps(descriptor: &OwnedFd) -> io::Result<()> {
    let wanted = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the kernel reads the four bytes of `wanted`, which lives through the call.
    let result = unsafe {
        libc::setsockopt(
            descriptor.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const wanted).cast(),
            size_of_val(&wanted) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What has come, and when its last byte did, in nanoseconds of `CLOCK_REALTIME`.
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
        // this function for longer than the call, and nobody else uses them meanwhile.
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

    /// Keeps what it hears.
    #[derive(Default)]
    struct Heard {
        arrived: RefCell<Vec<u64>>,
        recorded: RefCell<Vec<u64>>,
        reasons: RefCell<Vec<String>>,
    }

    impl ReplyLags for Heard {
        fn since_ns(&self, arrived_unix_ns: u64) -> Option<u64> {
            self.arrived.borrow_mut().push(arrived_unix_ns);
            Some(self.arrived.borrow().len() as u64)
        }

        fn record(&self, lag_ns: u64) {
            self.recorded.borrow_mut().push(lag_ns);
        }

        fn unavailable(&self, why: &str) {
            self.reasons.borrow_mut().push(why.to_owned());
        }
    }

    fn pair() -> (TcpStream, OwnedFd) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        let (far, _) = listener.accept().expect("accepted");
        (far, OwnedFd::from(near))
    }

    #[test]
    fn one_round_trip_in_eleven_is_sampled_by_its_last_read() {
        let (mut far, near) = pair();
        let heard = Rc::new(Heard::default());
        let mut probe = Probe::new(&near, Rc::clone(&heard) as Rc<dyn ReplyLags>).expect("stamps");
        let mut sampled = Vec::new();
        let mut room = [0; 8];
        for round_trip in 0..50 {
            probe.begin();
            if probe.is_sampling {
                sampled.push(round_trip);
                // The reply comes in two pieces.
                for _ in 0..2 {
                    far.write_all(b"x").expect("sent");
                    let got = probe.receive(&near, &mut room, RecvFlags::empty());
                    assert_eq!(got, Ok(1));
                }
            }
        }
        probe.end();
        let gaps: Vec<i32> = sampled.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(sampled[0] < 11 && gaps.iter().all(|gap| *gap == 11), "{sampled:?}");
        let n = sampled.len() as u64;
        assert_eq!(
            heard.arrived.borrow().len() as u64 + heard.reasons.borrow().len() as u64,
            2 * n
        );
        // What since_ns says counts the reads: the second of each reply is what is recorded.
        let expected: Vec<u64> = (1..=n).map(|nth| 2 * nth).collect();
        assert!(!heard.reasons.borrow().is_empty() || *heard.recorded.borrow() == expected);
    }

    #[test]
    fn a_stamp_is_of_the_last_byte_and_stamps_follow_each_other() {
        let (mut far, near) = pair();
        let heard = Rc::new(Heard::default());
        let probe = Probe::new(&near, heard as Rc<dyn ReplyLags>);
        assert!(probe.is_some(), "this kernel stamps");
        let mut room = [0; 64];
        // The kernel begins to stamp a moment after the first socket has asked.
        let mut stamps = Vec::new();
        while stamps.len() < 10 {
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
