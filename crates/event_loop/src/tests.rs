//! Tests of the event loop with real file descriptors.

use std::cell::Cell;
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use rustix::io::Errno;

use super::*;

/// Returns the interfaces that this kernel has: `epoll`, and `io_uring` if it is not forbidden.
fn backends() -> Vec<Backend> {
    let mut backends = vec![Backend::Epoll];
    match Backend::IoUring.probe() {
        Ok(()) => backends.push(Backend::IoUring),
        Err(error) => eprintln!("skipped: io_uring, which the kernel refuses: {error}"),
    }
    backends
}

/// How an [`End`] reads and writes its socket.
#[derive(Clone, Copy)]
enum Way {
    /// It waits until the socket is ready, and reads or writes itself.
    Itself,
    /// It leaves that to the event loop.
    Loop,
}

/// Runs a test with an event loop of each interface and in both ways, on this thread.
fn with_each(test: impl Fn(EventLoop, Way)) {
    for backend in backends() {
        for way in [Way::Itself, Way::Loop] {
            let event_loop = EventLoop::new(backend).expect("descriptors to wait with");
            assert_eq!(event_loop.backend(), backend);
            test(event_loop, way);
        }
    }
}

fn new_loop() -> EventLoop {
    EventLoop::new(Backend::Epoll).expect("an epoll and a counter")
}

/// Makes a connected pair of sockets that do not block.
fn pair() -> (Arc<OwnedFd>, Arc<OwnedFd>) {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let (one, other) = pair.expect("two descriptors");
    (Arc::new(one), Arc::new(other))
}

/// One of two connected sockets, watched by the event loop.
struct End(Arc<OwnedFd>, Watched, Way);

impl End {
    fn new(descriptor: Arc<OwnedFd>, way: Way) -> End {
        End(Arc::clone(&descriptor), Watched::new(descriptor).expect("the kernel watches it"), way)
    }

    async fn read(&self, room: &mut [u8]) -> io::Result<usize> {
        poll_fn(|context| {
            if let Way::Loop = self.2 {
                return self.1.poll_receive(context, room);
            }
            loop {
                std::task::ready!(self.1.poll_readable(context));
                match rustix::io::read(&self.0, &mut *room) {
                    Err(Errno::AGAIN) => self.1.clear_readable(),
                    result => return Poll::Ready(result.map_err(io::Error::from)),
                }
            }
        })
        .await
    }

    async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|context| {
            if let Way::Loop = self.2 {
                return match self.1.send(context, bytes) {
                    Ok(0) => Poll::Pending,
                    result => Poll::Ready(result),
                };
            }
            loop {
                std::task::ready!(self.1.poll_writable(context));
                match rustix::io::write(&self.0, bytes) {
                    Err(Errno::AGAIN) => self.1.clear_writable(),
                    result => return Poll::Ready(result.map_err(io::Error::from)),
                }
            }
        })
        .await
    }
}

#[test]
fn tasks_take_turns_in_the_order_in_which_they_were_woken() {
    with_each(|event_loop, _| {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<Join<()>> = (0..3)
            .map(|task| {
                let seen = Rc::clone(&seen);
                event_loop.spawn(async move {
                    for turn in 0..2 {
                        seen.borrow_mut().push((turn, task));
                        yield_now().await;
                    }
                })
            })
            .collect();
        event_loop.block_on(async {
            for task in tasks {
                task.await.expect("no panic");
            }
        });
        assert_eq!(*seen.borrow(), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    });
}

#[test]
fn hundreds_of_connections_are_answered() {
    with_each(|event_loop, way| {
        const ROUNDS: u32 = 50;
        let tasks: Vec<Join<u32>> = (0..300u32)
            .flat_map(|client| {
                let (here, there) = pair();
                let asking = event_loop.spawn(async move {
                    let end = End::new(here, way);
                    let mut sum = 0;
                    for round in 0..ROUNDS {
                        end.write(&(client + round).to_be_bytes()).await.expect("room");
                        let mut room = [0; 4];
                        assert_eq!(end.read(&mut room).await.expect("an answer"), 4);
                        sum += u32::from_be_bytes(room) - client - round;
                    }
                    sum
                });
                let answering = event_loop.spawn(async move {
                    let end = End::new(there, way);
                    let mut room = [0; 16];
                    let mut answered = 0;
                    loop {
                        let n_bytes = end.read(&mut room).await.expect("a question or the end");
                        if n_bytes == 0 {
                            return answered;
                        }
                        let asked = u32::from_be_bytes([room[0], room[1], room[2], room[3]]);
                        end.write(&(asked + 1).to_be_bytes()).await.expect("room");
                        answered += 1;
                    }
                });
                [asking, answering]
            })
            .collect();
        event_loop.block_on(async {
            for task in tasks {
                assert_eq!(task.await.expect("no panic"), ROUNDS);
            }
        });
    });
}

#[test]
fn whoever_fills_a_socket_waits_until_there_is_room() {
    with_each(|event_loop, way| {
        let (here, there) = pair();
        const BYTES: usize = 4 << 20;
        let writing = event_loop.spawn(async move {
            let end = End::new(here, way);
            let mut left = BYTES;
            while left > 0 {
                left -= end.write(&vec![7; left.min(1 << 16)]).await.expect("room, after a while");
            }
        });
        let n_read = event_loop.block_on(async {
            let end = End::new(there, way);
            let (mut room, mut n_read) = (vec![0; 1 << 16], 0);
            loop {
                match end.read(&mut room).await.expect("bytes or the end") {
                    0 => return n_read,
                    n_bytes => n_read += n_bytes,
                }
            }
        });
        event_loop.block_on(writing).expect("no panic");
        assert_eq!(n_read, BYTES);
    });
}

#[test]
fn another_thread_wakes_a_loop_that_waits() {
    with_each(|event_loop, _| {
        let shared = Arc::new(Mutex::new((false, None::<Waker>)));
        let theirs = Arc::clone(&shared);
        let helper = thread::spawn(move || {
            loop {
                let mut state = theirs.lock().expect("no panic");
                if let Some(waker) = state.1.take() {
                    state.0 = true;
                    drop(state);
                    waker.wake();
                    return;
                }
                drop(state);
                thread::yield_now();
            }
        });
        let waiting = event_loop.spawn(poll_fn(move |context| {
            let mut state = shared.lock().expect("no panic");
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        }));
        event_loop.block_on(waiting).expect("no panic");
        helper.join().expect("no panic");
    });
}

#[test]
fn a_panic_ends_one_task_alone() {
    with_each(|event_loop, _| {
        let bad = event_loop.spawn(async { panic!("number {}", 7) });
        let good = event_loop.spawn(async {
            yield_now().await;
            5
        });
        let (bad, good): (Result<(), Panicked>, _) =
            event_loop.block_on(async { (bad.await, good.await) });
        assert_eq!(bad.map_err(|panicked| panicked.to_string()), Err("number 7".to_owned()));
        assert_eq!(good, Ok(5));
    });
}

#[test]
fn who_was_ready_when_a_wait_ended_has_its_turn_in_the_next() {
    with_each(|event_loop, _| {
        let n_done = Rc::new(Cell::new(0));
        // This task was woken before the others, so the first wait ends before they run.
        let mut has_spawned = false;
        event_loop.block_on(poll_fn(|context| {
            if std::mem::replace(&mut has_spawned, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            for _ in 0..10 {
                let n_done = Rc::clone(&n_done);
                drop(event_loop.spawn(async move { n_done.set(n_done.get() + 1) }));
            }
            Poll::Pending
        }));
        assert_eq!(n_done.get(), 0);
        event_loop.block_on(async {
            while n_done.get() < 10 {
                yield_now().await;
            }
        });
    });
}

#[test]
fn a_loop_that_ends_lets_go_of_what_its_tasks_hold() {
    with_each(|event_loop, way| {
        let (here, there) = pair();
        let held = Arc::clone(&here);
        drop(event_loop.spawn(async move {
            let end = End::new(held, way);
            end.read(&mut [0]).await.expect("never");
        }));
        event_loop.block_on(yield_now());
        assert!(Arc::strong_count(&here) >= 3);
        drop(event_loop);
        assert_eq!(Arc::strong_count(&here), 1);
        drop(there);
        // The thread may have another event loop after the first is dropped.
        assert_eq!(new_loop().block_on(async { 3 }), 3);
    });
}

#[test]
#[should_panic(expected = "one event loop at a time")]
fn a_thread_has_one_loop() {
    let _first = new_loop();
    let _second = new_loop();
}

#[test]
fn a_loop_may_end_with_its_thread() {
    thread_local! {
        static LOOP: std::cell::OnceCell<EventLoop> = const { std::cell::OnceCell::new() };
    }
    for backend in backends() {
        let (here, there) = pair();
        let ended = thread::spawn(move || {
            LOOP.with(|event_loop| {
                let make = || EventLoop::new(backend).expect("descriptors to wait with");
                let event_loop = event_loop.get_or_init(make);
                let read = async move { End::new(here, Way::Loop).read(&mut [0]).await };
                drop(event_loop.spawn(read));
                event_loop.block_on(yield_now());
            });
        });
        ended.join().expect("no panic");
        assert_eq!(rustix::io::read(&there, &mut [0; 1]), Ok(0));
    }
}

#[test]
fn what_comes_in_pieces_and_beyond_a_buffer_is_read_in_order() {
    with_each(|event_loop, way| {
        let (here, there) = pair();
        let sent: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
        let theirs = sent.clone();
        let sending = event_loop.spawn(async move {
            let end = End::new(there, way);
            let (mut rest, mut lengths) = (&theirs[..], [1, 2048, 2049, 40_000].iter().cycle());
            while !rest.is_empty() {
                let length = rest.len().min(*lengths.next().expect("a cycle has no end"));
                let n_bytes = end.write(&rest[..length]).await.expect("room, after a while");
                rest = &rest[n_bytes..];
                yield_now().await;
            }
        });
        let read = event_loop.block_on(async {
            let end = End::new(here, way);
            let (mut read, mut rooms) = (Vec::new(), [7, 5_000, 2048].iter().cycle());
            while read.len() < sent.len() {
                let mut room = vec![0; *rooms.next().expect("a cycle has no end")];
                let n_bytes = end.read(&mut room).await.expect("bytes");
                assert!(n_bytes > 0, "the other side is open");
                read.extend_from_slice(&room[..n_bytes]);
            }
            read
        });
        event_loop.block_on(sending).expect("no panic");
        assert!(read == sent);
    });
}

#[test]
fn a_socket_that_waits_for_bytes_may_be_closed() {
    with_each(|event_loop, way| {
        for round in 0..50u8 {
            let (here, there) = pair();
            let end = End::new(here, way);
            event_loop.block_on(poll_fn(|context| {
                let mut room = [0];
                let reading = std::pin::pin!(end.read(&mut room)).poll(context);
                assert!(reading.is_pending(), "nothing was sent");
                Poll::Ready(())
            }));
            if round % 2 == 0 {
                // The kernel has begun to receive, and the bytes arrive when nobody waits for them.
                event_loop.block_on(yield_now());
                rustix::io::write(&there, &[round]).expect("it is open");
            }
            drop(end);
            event_loop.block_on(yield_now());
            // A new socket, probably with the number of the old one, gets its own bytes only.
            let (here, new) = pair();
            let end = End::new(here, way);
            rustix::io::write(&new, &[100 + round]).expect("it is open");
            let mut room = [0; 2];
            assert_eq!(event_loop.block_on(end.read(&mut room)).expect("a byte"), 1);
            assert_eq!(room[0], 100 + round);
            drop(end);
            event_loop.block_on(yield_now());
            // The other side notices both.
            rustix::io::ioctl_fionbio(&there, false).expect("a socket");
            let ended = rustix::io::read(&there, &mut [0; 1]);
            assert!(matches!(ended, Ok(0) | Err(Errno::CONNRESET)), "{ended:?}");
            rustix::io::ioctl_fionbio(&new, false).expect("a socket");
            assert_eq!(rustix::io::read(&new, &mut [0; 1]), Ok(0));
        }
    });
}

#[test]
fn what_was_sent_before_a_socket_is_closed_arrives() {
    with_each(|event_loop, way| {
        let (here, there) = pair();
        let end = End::new(here, way);
        assert_eq!(event_loop.block_on(end.write(b"goodbye")).expect("room"), 7);
        drop(end);
        drop(event_loop);
        let mut room = [0; 9];
        rustix::io::ioctl_fionbio(&there, false).expect("a socket");
        assert_eq!(rustix::io::read(&there, &mut room), Ok(7));
        assert_eq!(rustix::io::read(&there, &mut room), Ok(0));
    });
}

#[test]
fn the_last_words_of_the_other_side_are_read_before_its_end() {
    with_each(|event_loop, way| {
        let (here, there) = pair();
        rustix::io::write(&there, b"no").expect("it is open");
        drop(there);
        event_loop.block_on(async move {
            let end = End::new(here, way);
            let mut refused = end.write(b"a question").await.is_err();
            let mut room = [0; 9];
            assert_eq!(end.read(&mut room).await.expect("the last words"), 2);
            // With io_uring the error comes afterwards.
            for _ in 0..2 {
                match end.read(&mut room).await {
                    Ok(n_bytes) => assert_eq!(n_bytes, 0),
                    Err(_) => refused = true,
                }
            }
            assert!(refused);
        });
    });
}

#[test]
fn a_caller_may_receive_itself_between_receives_of_the_loop() {
    with_each(|event_loop, _| {
        let (here, there) = pair();
        let watched = Watched::new(here).expect("the kernel watches it");
        let own = |descriptor: &OwnedFd, room: &mut [u8]| {
            rustix::net::recv(descriptor, room, rustix::net::RecvFlags::DONTWAIT)
                .map(|(n_bytes, _)| n_bytes)
        };
        let mut room = [0; 4];
        assert_eq!(watched.receive_noticed(&mut room, own).expect("it is open"), None);
        for round in 0..20u8 {
            let helper = rustix::io::dup(&there).expect("a descriptor");
            let sending = thread::spawn(move || rustix::io::write(&helper, &[round]));
            let n_bytes = event_loop.block_on(poll_fn(|context| match round % 2 {
                0 => watched.poll_receive(context, &mut room),
                _ => watched.poll_receive_with(context, &mut room, own),
            }));
            assert_eq!((n_bytes.expect("a byte"), room[0]), (1, round));
            assert!(sending.join().is_ok_and(|written| written == Ok(1)));
            assert_eq!(watched.receive_noticed(&mut room, own).expect("it is open"), None);
        }
        rustix::io::write(&there, b"xy").expect("it is open");
        assert_eq!(watched.receive_asked(&mut room, own).expect("it is open"), Some(2));
        drop(there);
        assert_eq!(watched.receive_asked(&mut room, own).expect("its end"), Some(0));
    });
}

#[test]
fn the_timer_of_a_loop_expires_in_order_and_can_be_set_earlier() {
    let now = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    };
    let at = |ns: u64| rustix::event::Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    };
    for backend in backends() {
        let event_loop = EventLoop::new(backend).expect("descriptors to wait with");
        let Some(timer) = Timer::of_this_loop() else {
            assert_eq!(backend, Backend::Epoll);
            continue;
        };
        let expired = || event_loop.block_on(poll_fn(|context| timer.poll_expired(context)));
        let began = now();
        timer.set(at(began + 3_600_000_000_000));
        // The kernel has the first instant already.
        event_loop.block_on(yield_now());
        timer.set(at(began + 20_000_000));
        expired();
        assert!((began + 20_000_000..began + 3_600_000_000_000).contains(&now()));
        // One that is past expires at once.
        timer.set(at(began));
        expired();
        timer.set(at(now() + 1_000_000));
        expired();
    }
}
