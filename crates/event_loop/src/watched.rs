//! File descriptors that an event loop watches: whether they can be read and written, and the bytes
//! of sockets.
//!
//! With `epoll`, a task reads and writes the socket itself when it is ready. With `io_uring`, the
//! kernel does that at the next wait of the loop, together for all sockets.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use slab::Slab;

use crate::ring::{Completion, Operation, ROOM_BYTES, Ring};

/// Limit on the events that one `epoll_wait` returns; further events come with the next call. The
/// limit is low, so that the tasks of the first events run soon.
const EVENTS_MAX: usize = 64;
/// Owner of the descriptor by which other threads wake the loop. All other owners are keys of
/// watched descriptors.
const THE_REMOTE: usize = usize::MAX;

thread_local! {
    /// File descriptors that the event loop of this thread watches.
    static CURRENT: RefCell<Weak<Sources>> = const { RefCell::new(Weak::new()) };
}

/// Interface of the kernel by which an event loop waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// `epoll`, which every kernel has.
    Epoll,
    /// `io_uring` of Linux 6.1 or newer, which a container or an administrator may forbid.
    IoUring,
}

impl Backend {
    /// Returns the name of the interface.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Epoll => "epoll",
            Backend::IoUring => "io_uring",
        }
    }

    /// Checks whether the kernel lets this process use the interface. Fails with the kernel's
    /// error.
    pub fn probe(self) -> io::Result<()> {
        Poller::new(self).map(drop)
    }
}

enum Poller {
    Epoll { epoll: OwnedFd, events: Cell<Vec<epoll::Event>> },
    Ring(Box<RefCell<Ring>>),
}

impl Poller {
    fn new(backend: Backend) -> io::Result<Poller> {
        Ok(match backend {
            Backend::Epoll => Poller::Epoll {
                epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
                events: Cell::new(Vec::with_capacity(EVENTS_MAX)),
            },
            Backend::IoUring => Poller::Ring(Box::new(RefCell::new(Ring::new()?))),
        })
    }
}

/// All descriptors watched by one event loop, with their readiness.
pub(crate) struct Sources {
    // Before `poller`, because operations end with the ring.
    all: RefCell<Slab<Source>>,
    poller: Poller,
    /// Key of the remote in the ring.
    remote: Cell<usize>,
    /// Whether the timer of the ring has expired.
    timer: RefCell<Direction>,
}

impl Sources {
    /// Creates the set of file descriptors that this thread's event loop watches, with `remote`,
    /// through which other threads wake it. From now on, new [`Watched`] descriptors of the thread
    /// are added to it.
    pub(crate) fn enter(backend: Backend, remote: &Arc<OwnedFd>) -> io::Result<Rc<Sources>> {
        let poller = Poller::new(backend)?;
        let mut key = 0;
        match &poller {
            Poller::Epoll { epoll, .. } => {
                let data = epoll::EventData::new_u64(THE_REMOTE as u64);
                epoll::add(epoll, remote, data, EventFlags::IN | EventFlags::ET)?;
            }
            Poller::Ring(ring) => {
                let mut ring = ring.borrow_mut();
                key = ring.add(THE_REMOTE, Arc::clone(remote));
                ring.wait_for(key, Operation::Readable);
            }
        }
        let (remote, all) = (Cell::new(key), RefCell::default());
        let sources = Rc::new(Sources { poller, all, remote, timer: RefCell::default() });
        CURRENT.set(Rc::downgrade(&sources));
        Ok(sources)
    }

    /// Makes the ring wait until a descriptor is ready; `epoll` always does.
    fn begin(&self, port: usize, operation: Operation) {
        if let Poller::Ring(ring) = &self.poller {
            ring.borrow_mut().wait_for(port, operation);
        }
    }

    pub(crate) fn backend(&self) -> Backend {
        match self.poller {
            Poller::Epoll { .. } => Backend::Epoll,
            Poller::Ring(_) => Backend::IoUring,
        }
    }

    /// Takes what has happened to the descriptors, and wakes the tasks that wait for it. With
    /// `is_blocking`, waits until something happens. Returns whether another thread has woken the
    /// loop.
    pub(crate) fn wait(&self, is_blocking: bool) -> io::Result<bool> {
        match &self.poller {
            Poller::Epoll { epoll, events } => {
                let mut room = events.take();
                let result = self.wait_for_events(epoll, &mut room, is_blocking);
                events.set(room);
                result
            }
            Poller::Ring(ring) => self.wait_for_completions(ring, is_blocking),
        }
    }

    fn wait_for_events(
        &self,
        epoll: &OwnedFd,
        events: &mut Vec<epoll::Event>,
        is_blocking: bool,
    ) -> io::Result<bool> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        events.clear();
        match epoll::wait(epoll, spare_capacity(events), (!is_blocking).then_some(&now)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let (mut is_woken, mut all) = (false, self.all.borrow_mut());
        for event in events {
            match event.data.u64() as usize {
                THE_REMOTE => is_woken = true,
                // It may not be watched any more.
                key => drop(all.get_mut(key).map(|source| source.happened(event.flags))),
            }
        }
        Ok(is_woken)
    }

    fn wait_for_completions(&self, ring: &RefCell<Ring>, is_blocking: bool) -> io::Result<bool> {
        let (mut is_woken, mut all) = (false, self.all.borrow_mut());
        let mut ring = ring.borrow_mut();
        ring.wait(is_blocking)?;
        while let Some(completion) = ring.next() {
            match completion {
                Completion::Timer => self.timer.borrow_mut().set_ready(),
                Completion::Of { owner: THE_REMOTE, .. } => {
                    is_woken = true;
                    ring.wait_for(self.remote.get(), Operation::Readable);
                }
                Completion::Of { owner, operation, result } => {
                    all[owner].completed(operation, result);
                }
            }
        }
        Ok(is_woken)
    }
}

/// Marks this thread as having no event loop, so that nothing can be watched any more.
pub(crate) fn leave() {
    // A thread that is about to end may have none already.
    let _ = CURRENT.try_with(|current| current.replace(Weak::new()));
}

/// The timer of this thread's event loop, if it waits with `io_uring`: to set it is no system call
/// of its own. With `epoll`, a timer is one more descriptor.
pub struct Timer(Rc<Sources>);

impl Timer {
    /// Returns the timer of the event loop of this thread; `None` with `epoll`. Panics if the
    /// thread has no event loop.
    pub fn of_this_loop() -> Option<Timer> {
        let sources = CURRENT.with_borrow(Weak::upgrade).expect("this thread has an event loop");
        (sources.backend() == Backend::IoUring).then_some(Timer(sources))
    }

    /// Sets the timer to an instant of the monotonic clock, in place of the instant before.
    pub fn set(&self, at: Timespec) {
        if let Poller::Ring(ring) = &self.0.poller {
            ring.borrow_mut().set_timer(at);
        }
    }

    /// Waits until the timer has expired since the last call that was ready.
    pub fn poll_expired(&self, context: &Context<'_>) -> Poll<()> {
        let mut timer = self.0.timer.borrow_mut();
        let polled = timer.poll(context);
        timer.is_ready = false;
        polled
    }
}

/// State of one watched descriptor.
struct Source {
    readable: Direction,
    writable: Direction,
    /// Whether an event of `epoll` has reported the end of what the other side sends, which it does
    /// not report again. The descriptor remains readable then.
    has_ended: bool,
    /// Key of the descriptor in the ring.
    port: usize,
    receiving: Receiving,
    /// Error of the last send, which the caller did not see, because it did not wait for it.
    send_error: Option<Errno>,
}

/// State of the receiving of a socket by the ring.
#[derive(Clone, Copy)]
enum Receiving {
    /// Nothing is under way.
    Idle,
    /// The last read may have left bytes in the socket.
    MoreMayBe,
    UnderWay,
    /// Bytes of the ring's buffer, from index to index, are to be read; none at index 0 if the
    /// connection has ended.
    Received(usize, usize),
    Failed(Errno),
}

#[derive(Default)]
struct Direction {
    /// Whether reads (or writes) of the descriptor may succeed: an event reported so, and no read
    /// (or write) has blocked since.
    is_ready: bool,
    /// Whether a task waits until the descriptor can be read (or written); `waker` wakes that task.
    is_awaited: bool,
    /// Waker of the last task that waited. It is kept because the next task to wait is mostly the
    /// same.
    waker: Option<Waker>,
}

impl Direction {
    fn set_ready(&mut self) {
        self.is_ready = true;
        self.wake();
    }

    fn wake(&mut self) {
        if std::mem::take(&mut self.is_awaited)
            && let Some(waker) = &self.waker
        {
            waker.wake_by_ref();
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.is_ready {
            return Poll::Ready(());
        }
        self.await_it(context);
        Poll::Pending
    }

    fn await_it(&mut self, context: &Context<'_>) {
        let is_same = self.waker.as_ref().is_some_and(|kept| kept.will_wake(context.waker()));
        if !is_same {
            self.waker = Some(context.waker().clone());
        }
        self.is_awaited = true;
    }
}

impl Source {
    /// Records that an event has made the descriptor readable or writable. Errors and the end of a
    /// connection do both, so that a read or write encounters them.
    fn happened(&mut self, flags: EventFlags) {
        let is_over = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if is_over || flags.intersects(EventFlags::IN | EventFlags::RDHUP) {
            self.readable.set_ready();
        }
        if is_over || flags.contains(EventFlags::OUT) {
            self.writable.set_ready();
        }
        self.has_ended |= flags.contains(EventFlags::RDHUP);
    }

    /// Records the completion of an operation of the ring.
    fn completed(&mut self, operation: Operation, result: Result<u32, Errno>) {
        match operation {
            // After an error, a read or write encounters it.
            Operation::Readable => self.readable.set_ready(),
            Operation::Writable => self.writable.set_ready(),
            Operation::Receive => {
                self.receiving = match result {
                    Ok(n_bytes) => Receiving::Received(0, n_bytes as usize),
                    Err(Errno::INTR | Errno::AGAIN) => Receiving::Idle,
                    Err(error) => Receiving::Failed(error),
                };
                self.readable.wake();
            }
            Operation::Send => {
                self.send_error = self.send_error.or(result.err());
                self.writable.wake();
            }
        }
    }
}

/// A file descriptor that the event loop of this thread watches until this value is dropped.
///
/// A task may ask whether the descriptor can be read or written, and do that itself:
/// after a read or write that is incomplete or fails with `EAGAIN`, call
/// [`Watched::clear_readable`] or [`Watched::clear_writable`]; otherwise the next wait returns at
/// once. Bytes of a socket go through [`Watched::send`] and [`Watched::poll_receive`].
pub struct Watched {
    sources: Rc<Sources>,
    key: usize,
    descriptor: Arc<OwnedFd>,
}

/// What [`Watched::step`] has come to.
enum Step {
    Received(usize),
    Failed(Errno),
    /// Nothing has arrived; the loop will notice when something does.
    Waits,
}

impl Watched {
    /// Starts to watch a descriptor, which must be non-blocking. Fails if the kernel cannot watch
    /// it; panics if the thread has no event loop.
    pub fn new(descriptor: Arc<OwnedFd>) -> io::Result<Watched> {
        let sources = CURRENT.with_borrow(Weak::upgrade).expect("this thread has an event loop");
        let mut all = sources.all.borrow_mut();
        let entry = all.vacant_entry();
        let key = entry.key();
        let mut port = 0;
        match &sources.poller {
            Poller::Epoll { epoll, .. } => {
                let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
                epoll::add(epoll, &descriptor, epoll::EventData::new_u64(key as u64), flags)?;
            }
            Poller::Ring(ring) => port = ring.borrow_mut().add(key, Arc::clone(&descriptor)),
        }
        entry.insert(Source {
            readable: Direction::default(),
            writable: Direction::default(),
            has_ended: false,
            port,
            receiving: Receiving::Idle,
            send_error: None,
        });
        drop(all);
        Ok(Watched { sources, key, descriptor })
    }

    /// Waits until a read may succeed. Returns at once unless [`Watched::clear_readable`] was
    /// called after the last event.
    #[inline]
    pub fn poll_readable(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|source| {
            let polled = source.readable.poll(context);
            if polled.is_pending() {
                self.sources.begin(source.port, Operation::Readable);
            }
            polled
        })
    }

    /// Waits until a write may succeed. Returns at once unless [`Watched::clear_writable`] was
    /// called after the last event.
    #[inline]
    pub fn poll_writable(&self, context: &Context<'_>) -> Poll<()> {
        self.with(|source| {
            let polled = source.writable.poll(context);
            if polled.is_pending() {
                self.sources.begin(source.port, Operation::Writable);
            }
            polled
        })
    }

    /// Records that a read would block, so that [`Watched::poll_readable`] waits for the next
    /// event. Has no effect once the other side sends nothing more.
    #[inline]
    pub fn clear_readable(&self) {
        self.with(|source| source.readable.is_ready = source.has_ended);
    }

    /// Records that a write would block, so that [`Watched::poll_writable`] waits for the next
    /// event.
    #[inline]
    pub fn clear_writable(&self) {
        self.with(|source| source.writable.is_ready = false);
    }

    /// Sends as many of `bytes` on a socket as possible without waiting, and returns their number.
    /// If there is no space it returns 0, and the task is woken when there is. With `io_uring` the
    /// kernel may send them at the next wait of the loop only, and a later call then returns the
    /// error of this one.
    #[inline]
    pub fn send(&self, context: &Context<'_>, bytes: &[u8]) -> io::Result<usize> {
        let Poller::Ring(ring) = &self.sources.poller else {
            loop {
                if self.poll_writable(context).is_pending() {
                    return Ok(0);
                }
                match self.send_now(bytes) {
                    Err(Errno::AGAIN) => self.clear_writable(),
                    result => return Ok(result?),
                }
            }
        };
        self.with(|source| {
            let mut ring = ring.borrow_mut();
            if ring.is_under_way(source.port, Operation::Send) {
                source.writable.await_it(context);
                return Ok(0);
            }
            if let Some(error) = source.send_error.take() {
                return Err(error.into());
            }
            if bytes.len() <= ROOM_BYTES {
                ring.send(source.port, bytes)?;
                return Ok(bytes.len());
            }
            match self.send_now(bytes) {
                Err(Errno::AGAIN) => {
                    source.writable.await_it(context);
                    ring.wait_for(source.port, Operation::Writable);
                    Ok(0)
                }
                result => Ok(result?),
            }
        })
    }

    fn send_now(&self, bytes: &[u8]) -> Result<usize, Errno> {
        loop {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(&self.descriptor, bytes, flags) {
                Err(Errno::INTR) => {}
                result => return result,
            }
        }
    }

    /// Waits until bytes have arrived at a socket, receives them into `room`, and returns their
    /// number; 0 if the other side has closed the connection.
    #[inline]
    pub fn poll_receive(&self, context: &Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_steps(context, room, By::Loop, receive_now)
    }

    /// Does the same as [`Watched::poll_receive`] with `receive`, which must not wait. Bytes that
    /// the loop was receiving already do not pass through it.
    pub fn poll_receive_with(
        &self,
        context: &Context<'_>,
        room: &mut [u8],
        receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> Poll<io::Result<usize>> {
        self.poll_steps(context, room, By::Caller, receive)
    }

    /// Receives bytes that have already arrived, with `receive`, which must not wait; `None` if
    /// there are none. With `epoll`, these are the bytes that the loop has noticed, which saves a
    /// system call.
    pub fn receive_noticed(
        &self,
        room: &mut [u8],
        receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> io::Result<Option<usize>> {
        self.receive_by(room, By::Noticed, receive)
    }

    /// Does the same as [`Watched::receive_noticed`], and asks the kernel for bytes that the loop
    /// has not noticed.
    pub fn receive_asked(
        &self,
        room: &mut [u8],
        receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> io::Result<Option<usize>> {
        self.receive_by(room, By::Asked, receive)
    }

    fn receive_by(
        &self,
        room: &mut [u8],
        by: By,
        receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> io::Result<Option<usize>> {
        match self.step(room, by, receive) {
            Step::Received(n_bytes) => Ok(Some(n_bytes)),
            Step::Failed(error) => Err(error.into()),
            Step::Waits => Ok(None),
        }
    }

    #[inline]
    fn poll_steps(
        &self,
        context: &Context<'_>,
        room: &mut [u8],
        by: By,
        receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> Poll<io::Result<usize>> {
        match self.step(room, by, receive) {
            Step::Received(n_bytes) => Poll::Ready(Ok(n_bytes)),
            Step::Failed(error) => Poll::Ready(Err(error.into())),
            Step::Waits => {
                self.with(|source| source.readable.await_it(context));
                Poll::Pending
            }
        }
    }

    #[inline]
    fn step(
        &self,
        room: &mut [u8],
        by: By,
        receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> Step {
        match &self.sources.poller {
            Poller::Epoll { .. } => self.step_of_epoll(room, by, receive),
            Poller::Ring(ring) => self.step_of_ring(ring, room, by, receive),
        }
    }

    #[inline]
    fn step_of_epoll(
        &self,
        room: &mut [u8],
        by: By,
        mut receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> Step {
        if by != By::Asked && !self.with(|source| source.readable.is_ready) {
            return Step::Waits;
        }
        match receive(&self.descriptor, room) {
            Err(Errno::AGAIN) => {
                self.clear_readable();
                Step::Waits
            }
            Ok(n_bytes) => {
                // Less than fits was received, so nothing is left, which saves another system call.
                if n_bytes > 0 && n_bytes < room.len() {
                    self.clear_readable();
                }
                Step::Received(n_bytes)
            }
            Err(error) => Step::Failed(error),
        }
    }

    #[inline]
    fn step_of_ring(
        &self,
        ring: &RefCell<Ring>,
        room: &mut [u8],
        by: By,
        mut receive: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, Errno>,
    ) -> Step {
        let (receiving, port, is_readable) =
            self.with(|source| (source.receiving, source.port, source.readable.is_ready));
        match receiving {
            // What this thread receives itself comes first: the kernel receives for the ring only
            // when the loop waits.
            Receiving::UnderWay if by == By::Asked => {
                return self.take(receive(&self.descriptor, room));
            }
            Receiving::UnderWay => return Step::Waits,
            Receiving::Failed(error) => {
                self.with(|source| source.receiving = Receiving::Idle);
                return self.failed(error);
            }
            Receiving::Received(0, 0) => return self.ended(),
            Receiving::Received(start, end) => return self.take_received(ring, room, start..end),
            Receiving::Idle if by == By::Loop => {}
            Receiving::Idle if by == By::Caller && !is_readable => {}
            Receiving::Idle | Receiving::MoreMayBe => {
                let result = receive(&self.descriptor, room);
                let is_full = result == Ok(room.len());
                self.with(|source| {
                    source.readable.is_ready = is_full;
                    source.receiving = if is_full { Receiving::MoreMayBe } else { Receiving::Idle };
                });
                if result != Err(Errno::AGAIN) {
                    return self.take(result);
                }
            }
        }
        match by {
            By::Loop => match ring.borrow_mut().receive(port) {
                Ok(()) => self.with(|source| source.receiving = Receiving::UnderWay),
                Err(error) => return Step::Failed(error),
            },
            By::Caller => ring.borrow_mut().wait_for(port, Operation::Readable),
            By::Noticed | By::Asked => {}
        }
        Step::Waits
    }

    /// Copies bytes that the ring has received, the `unread` ones of its buffer, into `room`.
    #[inline]
    fn take_received(&self, ring: &RefCell<Ring>, room: &mut [u8], unread: Range<usize>) -> Step {
        let n_bytes = room.len().min(unread.len());
        let next = unread.start + n_bytes;
        self.with(|source| {
            let ring = ring.borrow();
            room[..n_bytes].copy_from_slice(&ring.received(source.port)[unread.start..next]);
            source.receiving = match next {
                next if next < unread.end => Receiving::Received(next, unread.end),
                ROOM_BYTES => Receiving::MoreMayBe,
                _ => Receiving::Idle,
            };
        });
        Step::Received(n_bytes)
    }

    /// What the caller's own receive has come to.
    fn take(&self, result: Result<usize, Errno>) -> Step {
        match result {
            Ok(0) => self.ended(),
            Ok(n_bytes) => Step::Received(n_bytes),
            Err(Errno::AGAIN) => Step::Waits,
            Err(error) => self.failed(error),
        }
    }

    /// The end of the connection, with the error of the last send if that is why.
    fn ended(&self) -> Step {
        self.with(|source| source.send_error.take()).map_or(Step::Received(0), Step::Failed)
    }

    fn failed(&self, error: Errno) -> Step {
        Step::Failed(self.with(|source| source.send_error.take()).unwrap_or(error))
    }

    #[inline]
    fn with<T>(&self, act: impl FnOnce(&mut Source) -> T) -> T {
        act(&mut self.sources.all.borrow_mut()[self.key])
    }
}

/// How a receive goes on if no bytes are at hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// The loop receives them when they arrive.
    Loop,
    /// The caller receives them after the loop has noticed them.
    Caller,
    /// There is no wait: the loop has noticed bytes, or there are none.
    Noticed,
    /// There is no wait: the kernel is asked for bytes.
    Asked,
}

fn receive_now(descriptor: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::net::recv(descriptor, &mut *room, RecvFlags::DONTWAIT) {
            Err(Errno::INTR) => {}
            result => return result.map(|(n_bytes, _)| n_bytes),
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let source = self.sources.all.borrow_mut().try_remove(self.key);
        match &self.sources.poller {
            // The descriptor may be closed already, so an error is ignored.
            Poller::Epoll { epoll, .. } => drop(epoll::delete(epoll, &self.descriptor)),
            Poller::Ring(ring) => {
                if let Some(source) = &source {
                    ring.borrow_mut().remove(source.port);
                }
            }
        }
        drop(source);
    }
}
