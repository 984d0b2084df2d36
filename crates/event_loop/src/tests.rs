//! Tests of the event loop with real file descriptors.

use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::*;

fn new_loop() -> EventLoop {
    EventLoop::new().expect("an epoll and a counter")
}

/// Makes a connected pair of sockets that do not block.
fn pair() -> (Arc<OwnedFd>, Arc<OwnedFd>) {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let (one, other) = pair.expect("two descriptors");
    (Arc::new(one), Arc::new(other))
}

/// One of two connected sockets, watched by the event loop.
struct End(Arc<OwnedFd>, Watched);

impl End {
    fn new(descriptor: Arc<OwnedFd>) -> End {
        End(Arc::clone(&descriptor), Watched::new(descriptor).expect("the kernel watches it"))
    }

    async fn read(&self, room: &mut [u8]) -> io::Result<usize> {
        poll_fn(|context| {
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
    let event_loop = new_loop();
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
}

#[test]
fn hundreds_of_connections_are_answered() {
    const ROUNDS: u32 = 50;
    let event_loop = new_loop();
    let tasks: Vec<Join<u32>> = (0..300u32)
        .flat_map(|client| {
            let (here, there) = pair();
            let asking = event_loop.spawn(async move {
                let end = End::new(here);
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
                let end = End::new(there);
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
}

#[test]
fn whoever_fills_a_socket_waits_until_there_is_room() {
    let event_loop = new_loop();
    let (here, there) = pair();
    const BYTES: usize = 4 << 20;
    let writing = event_loop.spawn(async move {
        let end = End::new(here);
        let mut left = BYTES;
        while left > 0 {
            left -= end.write(&vec![7; left.min(1 << 16)]).await.expect("room, after a while");
        }
    });
    let n_read = event_loop.block_on(async {
        let end = End::new(there);
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
}

#[test]
fn another_thread_wakes_a_loop_that_waits() {
    let event_loop = new_loop();
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
}

#[test]
fn a_panic_ends_one_task_alone() {
    let event_loop = new_loop();
    let bad = event_loop.spawn(async { panic!("number {}", 7) });
    let good = event_loop.spawn(async {
        yield_now().await;
        5
    });
    let (bad, good): (Result<(), Panicked>, _) =
        event_loop.block_on(async { (bad.await, good.await) });
    assert_eq!(bad.map_err(|panicked| panicked.to_string()), Err("number 7".to_owned()));
    assert_eq!(good, Ok(5));
}

#[test]
fn who_was_ready_when_a_wait_ended_has_its_turn_in_the_next() {
    let event_loop = new_loop();
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
}

#[test]
fn a_loop_that_ends_lets_go_of_what_its_tasks_hold() {
    let (here, there) = pair();
    let event_loop = new_loop();
    let held = Arc::clone(&here);
    drop(event_loop.spawn(async move {
        let end = End::new(held);
        end.read(&mut [0]).await.expect("never");
    }));
    event_loop.block_on(yield_now());
    assert_eq!(Arc::strong_count(&here), 3);
    drop(event_loop);
    assert_eq!(Arc::strong_count(&here), 1);
    drop(there);
    // The thread may have another event loop after the first is dropped.
    assert_eq!(new_loop().block_on(async { 3 }), 3);
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
    let (here, there) = pair();
    let ended = thread::spawn(move || {
        LOOP.with(|event_loop| {
            let event_loop = event_loop.get_or_init(new_loop);
            drop(event_loop.spawn(async move { End::new(here).read(&mut [0]).await }));
            event_loop.block_on(yield_now());
        });
    });
    ended.join().expect("no panic");
    assert_eq!(rustix::io::read(&there, &mut [0; 1]), Ok(0));
}
