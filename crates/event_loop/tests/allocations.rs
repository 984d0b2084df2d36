//! Counts what an event loop allocates for requests and replies.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use event_loop::{Backend, EventLoop, Watched};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// The allocator of the system, which counts the allocations of this thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator can only be wrapped so")]
// SAFETY: all calls go to the allocator of the system as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Waits for bytes and sends them back.
async fn pass(watched: &Watched, room: &mut [u8]) {
    poll_fn(|context| watched.poll_receive(context, room)).await.expect("bytes");
    send(watched, room).await;
}

async fn send(watched: &Watched, bytes: &[u8]) {
    poll_fn(|context| match watched.send(context, bytes) {
        Ok(0) => std::task::Poll::Pending,
        sent => std::task::Poll::Ready(sent),
    })
    .await
    .expect("room");
}

fn watch() -> [Watched; 2] {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let (one, other) = pair.expect("two descriptors");
    let watch = |end: OwnedFd| Watched::new(Arc::new(end)).expect("the kernel watches it");
    [watch(one), watch(other)]
}

#[test]
fn nothing_is_allocated_for_a_request_and_its_reply() {
    for backend in [Backend::Epoll, Backend::IoUring] {
        if let Err(error) = backend.probe() {
            eprintln!("skipped: {}, which the kernel refuses: {error}", backend.name());
            continue;
        }
        let event_loop = EventLoop::new(backend).expect("descriptors to wait with");
        for _ in 0..100 {
            let [here, there] = watch();
            drop(event_loop.spawn(async move {
                let mut room = [0; 100];
                loop {
                    pass(&there, &mut room).await;
                }
            }));
            drop(event_loop.spawn(async move {
                let mut room = [7; 100];
                send(&here, &room).await;
                loop {
                    pass(&here, &mut room).await;
                }
            }));
        }
        let turn = |n_turns| {
            event_loop.block_on(async {
                for _ in 0..n_turns {
                    event_loop::yield_now().await;
                }
            });
        };
        turn(100);
        // Each call allocates its waker.
        let before = ALLOCATIONS.get();
        turn(1);
        let of_a_call = ALLOCATIONS.get() - before;
        let before = ALLOCATIONS.get();
        turn(1000);
        assert_eq!(ALLOCATIONS.get() - before, of_a_call, "with {}", backend.name());
    }
}
