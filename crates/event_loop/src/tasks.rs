//! Tasks of an event loop, and handles for their results.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::ready::Handle;

type Boxed = Pin<Box<dyn Future<Output = ()>>>;

/// A task of an event loop, with its future and waker; `None` while the task is being polled.
pub(crate) struct Task(Option<Work>);

/// The future of a task, with the waker of that task.
pub(crate) struct Work {
    future: Boxed,
    handle: Arc<Handle>,
    waker: Waker,
}

impl Task {
    /// Creates a task from a future, and queues it for its first poll.
    pub(crate) fn new(future: Boxed, handle: Handle) -> Task {
        let handle = Arc::new(handle);
        let waker = Waker::from(Arc::clone(&handle));
        waker.wake_by_ref();
        Task(Some(Work { future, handle, waker }))
    }

    pub(crate) fn take(&mut self) -> Option<Work> {
        self.0.take()
    }

    pub(crate) fn give_back(&mut self, work: Work) {
        self.0 = Some(work);
    }
}

impl Work {
    pub(crate) fn poll(&mut self) -> Poll<()> {
        self.handle.begin();
        self.future.as_mut().poll(&mut Context::from_waker(&self.waker))
    }
}

/// Future of the result of a task, from [`crate::EventLoop::spawn`]: `Err(Panicked)` if the task
/// panicked. The task also runs if this future is dropped. Panics if it is polled again after it
/// was ready.
pub struct Join<T>(Rc<RefCell<State<T>>>);

enum State<T> {
    UnderWay(Option<Waker>),
    Done(Result<T, Panicked>),
    Taken,
}

/// Error of a task that panicked, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked(String);

impl Panicked {
    fn new(payload: &(dyn Any + Send)) -> Panicked {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Panicked(text.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panicked {}

impl<T> Future for Join<T> {
    type Output = Result<T, Panicked>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.borrow_mut();
        match std::mem::replace(&mut *state, State::Taken) {
            State::UnderWay(_) => {
                *state = State::UnderWay(Some(context.waker().clone()));
                Poll::Pending
            }
            State::Done(result) => Poll::Ready(result),
            State::Taken => panic!("the value of a task is taken once"),
        }
    }
}

/// Wraps a future so that its result goes to the returned [`Join`]. If the future panics, only its
/// task ends, and the panic is the result.
pub(crate) fn joined<T: 'static>(future: impl Future<Output = T> + 'static) -> (Join<T>, Boxed) {
    let state = Rc::new(RefCell::new(State::UnderWay(None)));
    let join = Join(Rc::clone(&state));
    let caught = async move {
        let mut future = pin!(future);
        let result = poll_fn(|context| {
            match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
                Ok(polled) => polled.map(Ok),
                Err(payload) => Poll::Ready(Err(Panicked::new(payload.as_ref()))),
            }
        });
        let result = result.await;
        let before = state.replace(State::Done(result));
        if let State::UnderWay(Some(waiting)) = before {
            waiting.wake();
        }
    };
    (join, Box::pin(caught))
}

/// Lets the other ready tasks run once before the calling task continues.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
