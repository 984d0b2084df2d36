//! Work that blocks (connecting, starting a server, a long query) on a thread of its own, so that
//! a stop is noticed meanwhile. Not here: the load, which has a stop word for that.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use engine::Stop;
use monitor::wall_clock;

use crate::error::Error;

/// How soon a stop is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Work that looks at the stop word itself may end in its own way for so long.
const GRACE: Duration = Duration::from_millis(800);

enum Message<P, T> {
    Far(P),
    Done(T),
}

/// Does `work`, whose words go to `hear` on this thread. It is left behind when somebody asks to
/// stop and it does not end by itself soon after, at once if they ask twice; that is reported as
/// `interrupted`.
pub(crate) fn run_interruptible_with_progress<P, T>(
    stop: &Stop,
    interrupted: &str,
    hear: &mut dyn FnMut(&P),
    work: impl FnOnce(&mut dyn FnMut(&P)) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error>
where
    P: Clone + Send + 'static,
    T: Send + 'static,
{
    let (sender, receiver) = channel::<Message<P, Result<T, Error>>>();
    let spawned = thread::Builder::new().name("work".to_owned()).spawn(move || {
        // Whoever has left hears nothing any more.
        let result = work(&mut |far| drop(sender.send(Message::Far(far.clone()))));
        let _ = sender.send(Message::Done(result));
    });
    let worker = spawned.map_err(|error| Error::no_thread(&error))?;
    let mut asked = None;
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(Message::Far(far)) => hear(&far),
            Ok(Message::Done(result)) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("work tells its result before it ends"),
            },
        }
        if stop.is_asked() {
            let since = *asked.get_or_insert_with(wall_clock::now);
            if since.elapsed() > GRACE || stop.asked() > 1 {
                return Err(Error::Interrupted(interrupted.to_owned()));
            }
        }
    }
}

/// The same for work that has nothing to say before it is done.
pub(crate) fn run_interruptible<T: Send + 'static>(
    stop: &Stop,
    interrupted: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    run_interruptible_with_progress::<(), T>(stop, interrupted, &mut |()| {}, |_| work())
}
