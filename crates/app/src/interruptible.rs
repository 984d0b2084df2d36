//! Runs blocking work, such as connecting, starting a server or a long query, on a separate thread,
//! so that a stop requested by the user is noticed meanwhile. Not here: the load, which checks for
//! a stop itself.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use engine::Stop;
use monitor::wall_clock;

use crate::error::Error;

/// Interval at which the calling thread checks whether to stop waiting for the work.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time after a stop that the work has to end by itself before it is abandoned.
const GRACE: Duration = Duration::from_millis(800);

enum Message<P, T> {
    Far(P),
    Done(T),
}

/// Runs `work` on another thread, and returns its result; calls `hear` with its progress on this
/// thread. After a stop, abandons the work if it does not end within 800 ms, or at once after a
/// second stop. The error is then `Error::Interrupted` with the text `interrupted`.
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
    let mut asked = None;
    let mut is_given_up = || {
        let since = stop.is_asked().then(|| *asked.get_or_insert_with(wall_clock::now));
        since.is_some_and(|since| since.elapsed() > GRACE || stop.asked() > 1)
    };
    run_until(&mut is_given_up, interrupted, hear, work)
}

/// Runs work that must be done even after a stop, such as restoring changed settings. Gives up
/// after a second stop, or after the first one once `work` has run longer than `patience`.
pub(crate) fn run_unless_asked_twice<T: Send + 'static>(
    stop: &Stop,
    patience: Duration,
    interrupted: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let began = wall_clock::now();
    let is_late = || stop.is_asked() && began.elapsed() > patience;
    let mut is_given_up = || stop.asked() > 1 || is_late();
    run_until::<(), T>(&mut is_given_up, interrupted, &mut |()| {}, |_| work())
}

fn run_until<P, T>(
    is_given_up: &mut dyn FnMut() -> bool,
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
        // The receiver may be gone.
        let result = work(&mut |far| drop(sender.send(Message::Far(far.clone()))));
        let _ = sender.send(Message::Done(result));
    });
    let worker = spawned.map_err(|error| Error::no_thread(&error))?;
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
        if is_given_up() {
            return Err(Error::Interrupted(interrupted.to_owned()));
        }
    }
}

/// Runs work as [`run_interruptible_with_progress`] does, without reporting progress.
pub(crate) fn run_interruptible<T: Send + 'static>(
    stop: &Stop,
    interrupted: &str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    run_interruptible_with_progress::<(), T>(stop, interrupted, &mut |()| {}, |_| work())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_after_a_stopped_load_is_done_unless_somebody_asks_twice() {
        let stop = Stop::default();
        stop.ask();
        // Longer than interrupted work may continue.
        let (_never, wait) = channel::<()>();
        let long = move || {
            let _ = wait.recv_timeout(2 * GRACE);
            Ok(7)
        };
        assert_eq!(run_unless_asked_twice(&stop, Duration::MAX, "given up", long).ok(), Some(7));

        let (begin, has_begun) = channel::<()>();
        let (_never, wait) = channel::<()>();
        let endless = move || {
            let _ = begin.send(());
            let _ = wait.recv();
            Ok(7)
        };
        let given_up = thread::scope(|scope| {
            let stop = &stop;
            scope.spawn(move || has_begun.recv().map(|()| stop.ask()));
            run_unless_asked_twice(stop, Duration::MAX, "given up", endless)
        });
        assert!(matches!(given_up, Err(Error::Interrupted(_))));
    }
}
