//! The kernel's queues of `io_uring`: operations on descriptors that are submitted together, and
//! their completions.
//!
//! All unsafe code of the event loop is here. The kernel reads and writes the buffers of an
//! operation until that has completed, so the buffers belong to the ring: nobody can borrow or free
//! them before. Not here: which task waits for what (`watched`).
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::squeue::Entry;
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, TimeoutFlags, Timespec};
use io_uring::{EnterFlags, IoUring, opcode};
use rustix::io::Errno;
use slab::Slab;

/// Number of operations that are submitted at once; if there are more, a further system call
/// submits them.
const SUBMISSIONS: u32 = 256;
/// Number of completions for which the queue has room. The kernel keeps further ones until there is
/// room again.
const COMPLETIONS: u32 = 4096;
/// Size, in bytes, of the buffers of a socket for sending and receiving. Most requests and replies
/// fit; the rest of a longer one is sent or received without the ring.
pub(crate) const ROOM_BYTES: usize = 2048;
/// Limit on the requests that wait to be submitted. With this many, they are submitted at once, so
/// that a request does not wait until all ready tasks have run.
const UNSENT_MAX: u32 = 8;
/// `IORING_RECVSEND_POLL_FIRST`: an operation first waits until the socket is ready, because an
/// attempt to receive a reply just after the request would be futile.
const POLL_FIRST: u16 = 1;
/// User data of an operation whose completion says nothing: a cancellation, or a change of the
/// timer.
const NOBODY: u64 = u64::MAX;
/// User data of the timer.
const TIMER: u64 = u64::MAX - 1;

/// Kind of an operation on a descriptor. A descriptor has at most one operation of each kind at a
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Waits until the descriptor can be read.
    Readable = 0,
    /// Waits until the descriptor can be written.
    Writable = 1,
    /// Receives bytes from a socket.
    Receive = 2,
    /// Sends bytes on a socket.
    Send = 3,
}

const OPERATIONS: [Operation; 4] =
    [Operation::Readable, Operation::Writable, Operation::Receive, Operation::Send];

/// What the kernel has completed since it was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// An operation on the descriptor of `owner`, a number that was given to [`Ring::add`]. Its
    /// result is a number of bytes, or flags of poll.
    Of { owner: usize, operation: Operation, result: Result<u32, Errno> },
    /// The timer has expired.
    Timer,
}

/// A descriptor with the buffers of its operations.
struct Port {
    owner: usize,
    /// Keeps the descriptor open, because operations name it by number until they are submitted.
    descriptor: Arc<OwnedFd>,
    /// Bit for each operation that has not completed.
    under_way: u8,
    /// Whether the owner needs the port no more. It is freed with its last completion.
    is_closed: bool,
    /// Whether operations of this socket may wait for it, which requires that it is not
    /// non-blocking.
    may_wait: bool,
    received: Vec<u8>,
    to_send: Vec<u8>,
    /// Number of bytes of `to_send` that are sent.
    n_sent: usize,
}

/// Submission and completion queues of one thread, with all descriptors on which it has operations.
pub(crate) struct Ring {
    uring: IoUring,
    ports: Slab<Port>,
    /// Number of operations that have not completed.
    n_under_way: usize,
    n_unsent: u32,
    wait_flags: EnterFlags,
    /// Instant of the timer, which the kernel reads when the timer is submitted.
    timer: Box<Timespec>,
    is_timer_set: bool,
    /// Whether the ring is being dropped, so that nothing more is started.
    is_ending: bool,
}

impl Ring {
    /// Creates the queues. Fails if the kernel has no `io_uring`, forbids it, or is older than
    /// Linux 6.1, whose completions could overtake what the thread receives itself.
    pub(crate) fn new() -> io::Result<Ring> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(COMPLETIONS)
            .setup_submit_all()
            .build(SUBMISSIONS)?;
        // Saves looking up the descriptor of the ring; without it the ring works as well.
        let _ = uring.submitter().register_ring_fd();
        // Otherwise waiting for a reply would count as waiting for a disk.
        let wait_flags = match uring.params().is_feature_no_iowait() {
            true => EnterFlags::NO_IOWAIT,
            false => EnterFlags::empty(),
        };
        Ok(Ring {
            uring,
            ports: Slab::new(),
            n_under_way: 0,
            n_unsent: 0,
            wait_flags,
            timer: Box::default(),
            is_timer_set: false,
            is_ending: false,
        })
    }

    /// Adds a descriptor whose completions carry the number `owner`. Returns its key.
    pub(crate) fn add(&mut self, owner: usize, descriptor: Arc<OwnedFd>) -> usize {
        self.ports.insert(Port {
            owner,
            descriptor,
            under_way: 0,
            is_closed: false,
            may_wait: false,
            received: Vec::new(),
            to_send: Vec::new(),
            n_sent: 0,
        })
    }

    /// Removes a descriptor. What it waits for and receives is cancelled; what is being sent is
    /// still sent. The descriptor is closed when all its operations have completed.
    pub(crate) fn remove(&mut self, key: usize) {
        let port = &mut self.ports[key];
        port.is_closed = true;
        if port.under_way == 0 {
            drop(self.ports.remove(key));
            return;
        }
        for operation in [Operation::Readable, Operation::Writable, Operation::Receive] {
            if self.is_under_way(key, operation) {
                let which = CancelBuilder::user_data(user_data(key, operation));
                let entry = opcode::AsyncCancel2::new(which).build().user_data(NOBODY);
                // SAFETY: a cancellation has no buffers.
                unsafe { self.push(&entry) };
            }
        }
    }

    pub(crate) fn is_under_way(&self, key: usize, operation: Operation) -> bool {
        self.ports[key].under_way & bit(operation) != 0
    }

    /// Starts to wait until the descriptor can be read or written. Does nothing if that is under
    /// way.
    pub(crate) fn wait_for(&mut self, key: usize, operation: Operation) {
        let flags = match operation {
            Operation::Writable => libc::POLLOUT,
            _ => libc::POLLIN | libc::POLLRDHUP,
        };
        if self.is_under_way(key, operation) {
            return;
        }
        let descriptor = Fd(self.ports[key].descriptor.as_raw_fd());
        let entry = opcode::PollAdd::new(descriptor, flags as u32).build();
        // SAFETY: waiting for a descriptor has no buffers.
        unsafe { self.start(key, operation, entry) };
    }

    /// Starts to receive bytes from a socket, once there are some; see [`Ring::received`].
    ///
    /// # Panics
    ///
    /// Panics if bytes are being received already.
    pub(crate) fn receive(&mut self, key: usize) -> Result<(), Errno> {
        assert!(!self.is_under_way(key, Operation::Receive), "one receive is under way at a time");
        let port = &mut self.ports[key];
        port.let_wait()?;
        port.received.resize(ROOM_BYTES, 0);
        let descriptor = Fd(port.descriptor.as_raw_fd());
        let room = port.received.as_mut_ptr();
        let entry = opcode::Recv::new(descriptor, room, ROOM_BYTES as u32).ioprio(POLL_FIRST);
        // SAFETY: `received` has ROOM_BYTES bytes. Until the operation has completed, `received`
        // and `receive` panic, and the port is not freed.
        unsafe { self.start(key, Operation::Receive, entry.build()) };
        Ok(())
    }

    /// Returns the buffer into which [`Ring::receive`] has received.
    ///
    /// # Panics
    ///
    /// Panics if bytes are being received.
    pub(crate) fn received(&self, key: usize) -> &[u8] {
        assert!(!self.is_under_way(key, Operation::Receive), "the kernel writes into the buffer");
        &self.ports[key].received
    }

    /// Starts to send bytes on a socket.
    ///
    /// # Panics
    ///
    /// Panics if bytes are being sent already.
    pub(crate) fn send(&mut self, key: usize, bytes: &[u8]) -> Result<(), Errno> {
        assert!(!self.is_under_way(key, Operation::Send), "one send is under way at a time");
        let port = &mut self.ports[key];
        port.let_wait()?;
        port.to_send.clear();
        port.to_send.extend_from_slice(bytes);
        port.n_sent = 0;
        self.send_rest(key);
        self.n_unsent += 1;
        if self.n_unsent >= UNSENT_MAX {
            self.submit();
        }
        Ok(())
    }

    fn send_rest(&mut self, key: usize) {
        let port = &self.ports[key];
        let descriptor = Fd(port.descriptor.as_raw_fd());
        let rest = &port.to_send[port.n_sent..];
        let entry = opcode::Send::new(descriptor, rest.as_ptr(), rest.len() as u32);
        let entry = entry.flags(libc::MSG_NOSIGNAL).build();
        // SAFETY: `rest` is a part of `to_send`, which until the operation has completed is neither
        // changed, because `send` panics, nor freed with the port.
        unsafe { self.start(key, Operation::Send, entry) };
    }

    /// Sets the timer to an instant of the monotonic clock, in place of the instant before.
    pub(crate) fn set_timer(&mut self, at: rustix::event::Timespec) {
        *self.timer = Timespec::new().sec(at.tv_sec as u64).nsec(at.tv_nsec as u32);
        let instant = &raw const *self.timer;
        let entry = if self.is_timer_set {
            // If it has expired meanwhile, its completion says so.
            let update = opcode::TimeoutUpdate::new(TIMER, instant).flags(TimeoutFlags::ABS);
            update.build().user_data(NOBODY)
        } else {
            opcode::Timeout::new(instant).flags(TimeoutFlags::ABS).build().user_data(TIMER)
        };
        self.is_timer_set = true;
        // SAFETY: the kernel reads the instant when it gets the operation; until then the box is
        // not freed, and a change of it is what a later call wants.
        unsafe { self.push(&entry) };
    }

    /// Puts an operation of the port `key` into the queue, to be submitted later.
    ///
    /// # Safety
    ///
    /// Buffers of the operation must live unchanged until it has completed: they belong to the
    /// port.
    unsafe fn start(&mut self, key: usize, operation: Operation, entry: Entry) {
        self.ports[key].under_way |= bit(operation);
        self.n_under_way += 1;
        // SAFETY: the caller's promise; the port keeps the descriptor open.
        unsafe { self.push(&entry.user_data(user_data(key, operation))) };
    }

    /// # Safety
    ///
    /// Buffers and descriptors of the operation must live until it has completed.
    unsafe fn push(&mut self, entry: &Entry) {
        // SAFETY: the caller's promise.
        while unsafe { self.uring.submission().push(entry) }.is_err() {
            self.submit();
        }
    }

    fn submit(&mut self) {
        self.n_unsent = 0;
        match self.uring.submit() {
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(error) => panic!("operations of an event loop cannot be submitted: {error}"),
        }
    }

    /// Submits what is queued. With `is_blocking`, waits until something has completed.
    pub(crate) fn wait(&mut self, is_blocking: bool) -> io::Result<()> {
        self.n_unsent = 0;
        let result = if is_blocking && self.uring.completion().is_empty() {
            let submitter = self.uring.submitter();
            submitter.submit_with_args_and_flags(1, &SubmitArgs::new(), self.wait_flags)
        } else {
            let submission = self.uring.submission();
            if submission.is_empty() && !submission.taskrun() && !submission.cq_overflow() {
                return Ok(());
            }
            drop(submission);
            self.uring.submit_and_wait(0)
        };
        match result {
            Ok(_) => Ok(()),
            Err(error) if is_passing(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the next completed operation whose descriptor was not removed; `None` if there is
    /// none now.
    pub(crate) fn next(&mut self) -> Option<Completion> {
        loop {
            let entry = self.uring.completion().next()?;
            match entry.user_data() {
                NOBODY => continue,
                TIMER => {
                    self.is_timer_set = false;
                    return Some(Completion::Timer);
                }
                _ => {}
            }
            let key = (entry.user_data() >> 2) as usize;
            let operation = OPERATIONS[(entry.user_data() & 3) as usize];
            let result = u32::try_from(entry.result())
                .map_err(|_| Errno::from_raw_os_error(-entry.result()));
            let port = &mut self.ports[key];
            port.under_way &= !bit(operation);
            self.n_under_way -= 1;
            if operation == Operation::Send && port.sent(result) && !self.is_ending {
                self.send_rest(key);
                continue;
            }
            if !port.is_closed {
                return Some(Completion::Of { owner: port.owner, operation, result });
            }
            if port.under_way == 0 {
                drop(self.ports.remove(key));
            }
        }
    }
}

impl Port {
    /// Lets operations wait for the socket. The thread itself never waits: it says so with each
    /// call.
    fn let_wait(&mut self) -> Result<(), Errno> {
        if !self.may_wait {
            rustix::io::ioctl_fionbio(&self.descriptor, false)?;
            self.may_wait = true;
        }
        Ok(())
    }

    /// Notes the result of a send. Returns whether bytes are left that can be sent.
    fn sent(&mut self, result: Result<u32, Errno>) -> bool {
        match result {
            Ok(n_bytes) => self.n_sent += n_bytes as usize,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return false,
        }
        self.n_sent < self.to_send.len()
    }
}

impl Drop for Ring {
    /// Cancels all operations and waits until none is left, because the kernel uses their buffers.
    fn drop(&mut self) {
        if self.n_under_way == 0 {
            return;
        }
        self.is_ending = true;
        let entry = opcode::AsyncCancel2::new(CancelBuilder::any().all()).build();
        // SAFETY: a cancellation has no buffers.
        unsafe { self.push(&entry.user_data(NOBODY)) };
        while self.n_under_way > 0 {
            if self.wait(true).is_err() {
                // The kernel may still use the buffers.
                std::mem::forget(std::mem::take(&mut self.ports));
                return;
            }
            while self.next().is_some() {}
        }
    }
}

fn bit(operation: Operation) -> u8 {
    1 << operation as u8
}

fn user_data(key: usize, operation: Operation) -> u64 {
    (key as u64) << 2 | operation as u64
}

/// Whether a system call on the ring failed for a reason that passes: a signal, or completions that
/// must be taken first.
fn is_passing(error: &io::Error) -> bool {
    let passing = [Errno::INTR, Errno::BUSY, Errno::AGAIN];
    Errno::from_io_error(error).is_some_and(|errno| passing.contains(&errno))
}
