//! A process that monitors its host for a run on another one, and executes no clients: it reads the
//! machine and the server's process once a second of the run, and sends what it reads.
//!
//! Not here: what is read (monitor), and the load (serve).

use std::io;
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use engine::Origin;
use model::Event;

use super::link::Incoming;
use super::message::{FromAgent, Output, ToAgent, WatchJob, receive};
use super::permissions::Permissions;

/// Interval at which readings are sent.
const SEND_EVERY: Duration = Duration::from_millis(100);

/// Monitors this host until the run orders the end, and sends facts and readings. It exits when the
/// connection to the run ends.
pub(super) fn watch(
    job: WatchJob,
    permissions: Option<&Permissions>,
    origin: Origin,
    incoming: Box<dyn Incoming>,
    output: &Output,
) -> io::Result<()> {
    if let Some(Err(refused)) = permissions.map(Permissions::check_monitor) {
        output.send(&FromAgent::Failed { why: refused.to_string() });
        return Ok(());
    }
    let (order, orders) = channel();
    let named = thread::Builder::new().name("orders".to_owned());
    let clock = output.clone();
    let obeying = named.spawn(move || obey(incoming, origin, &clock, &order))?;
    let (mut monitor, facts) = monitor::start_for_other_host(&job.hosts, job.programs);
    let has_server = !facts.iter().any(monitor::is_no_server);
    let tell = &mut |event: Event| output.send(&FromAgent::Event(event));
    facts.into_iter().for_each(|fact| tell(Event::Fact(fact)));
    output.send(&FromAgent::Watches { has_server });
    let begin = monitor.begin();
    loop {
        match orders.recv_timeout(SEND_EVERY) {
            Ok(ToAgent::Start { unix_ns, .. }) => {
                let now_ns = origin.unix_ns() + origin.elapsed_ns();
                let measured_ns = unix_ns + job.ramp_up_ns;
                begin(Duration::from_nanos(measured_ns.saturating_sub(now_ns)));
            }
            Ok(_) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => monitor.follow(tell),
        }
    }
    let facts = monitor.end(tell);
    facts.into_iter().for_each(|fact| tell(Event::Fact(fact)));
    output.send(&FromAgent::Watched);
    // Questions for the clock are answered until the connection ends.
    let _ = obeying.join();
    Ok(())
}

/// Answers questions for the clock, and passes other orders on, until the connection ends. Then it
/// exits the process.
fn obey(mut incoming: Box<dyn Incoming>, origin: Origin, output: &Output, order: &Sender<ToAgent>) {
    while let Some(message) = receive(incoming.as_mut()) {
        match message {
            ToAgent::ReadClock => output.send_clock(origin),
            message => drop(order.send(message)),
        }
    }
    exit(0);
}
