//! Placement in virtual time: all clients are tasks on one thread, polled in the order of the
//! instants for which they wait. If two wait for the same instant, the lower index is first.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use model::{Clock, Placement, ProducerContext, ProducerTask};

use super::{ConnectLimiter, WorkerMessage, connect};
use crate::client_loop::ClientLoop;
use crate::client_loop::ClientSpec;
use crate::clock::{Agenda, SimulatedClock, through};
use crate::stop::Stop;

/// The task of a client or producer in virtual time; `None` once it has ended.
type Task<'a> = Option<Pin<Box<dyn Future<Output = ()> + 'a>>>;

/// Waker of a task in virtual time, which adds the task to the set of those that a signal has
/// woken.
struct WakesTask {
    task: usize,
    woken: Arc<Mutex<BTreeSet<usize>>>,
}

impl Wake for WakesTask {
    fn wake(self: Arc<Self>) {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner).insert(self.task);
    }
}

/// A run in virtual time, which executes all clients on one thread.
pub(crate) struct Simulation {
    agenda: Rc<Agenda>,
    clock: Rc<dyn Clock>,
    stop: Arc<Stop>,
}

impl Simulation {
    pub(crate) fn new(stop: Arc<Stop>) -> Simulation {
        let agenda = Rc::new(Agenda::default());
        let clock = Rc::new(SimulatedClock::new(Rc::clone(&agenda), Arc::clone(&stop)));
        Simulation { agenda, clock, stop }
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.agenda.now_ns()
    }

    /// Connects all clients in virtual time, and returns those that succeeded, in order.
    pub(crate) fn connect(
        &self,
        specs: Vec<ClientSpec>,
        limiter: &ConnectLimiter,
        tell: &dyn Fn(WorkerMessage),
    ) -> Vec<ClientLoop> {
        let clients = RefCell::new(Vec::new());
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for spec in specs {
            let (clients, clock) = (&clients, Rc::clone(&self.clock));
            tasks.push(Some(Box::pin(async move {
                let client = connect(spec, Placement::Simulated, clock, limiter, tell).await;
                clients.borrow_mut().extend(client);
            })));
        }
        self.run(&mut tasks, &mut |_| None);
        drop(tasks);
        let mut clients = clients.into_inner();
        clients.sort_by_key(|client| client.client);
        clients
    }

    /// Serves all clients and runs the producers' tasks until they end. Calls `ahead` with each
    /// instant before time advances to it; `ahead` returns the instant at which running
    /// transactions must be cut off, if there is one.
    pub(crate) fn serve(
        &self,
        clients: Vec<ClientLoop>,
        producing: Vec<Box<dyn ProducerTask>>,
        load_start_ns: u64,
        tell: &dyn Fn(WorkerMessage),
        ahead: &mut dyn FnMut(u64) -> Option<u64>,
    ) {
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for mut client in clients {
            tasks.push(Some(Box::pin(async move {
                client.serve(load_start_ns, Placement::Simulated).await;
                tell(WorkerMessage::left(&mut client));
            })));
        }
        for mut task in producing {
            let (clock, stop) = (self.clock.as_ref(), &self.stop);
            tasks.push(Some(Box::pin(async move {
                through(clock, load_start_ns).await;
                let is_over = || stop.is_over(clock.now());
                let context =
                    ProducerContext { clock, cpu_ns: &|| 0, is_over: &is_over, is_virtual: true };
                task.produce(&context).await;
            })));
        }
        self.run(&mut tasks, ahead);
    }

    /// Polls tasks and advances the virtual time until all tasks have ended, or none of them waits
    /// for an instant or a signal.
    fn run(&self, tasks: &mut [Task<'_>], ahead: &mut dyn FnMut(u64) -> Option<u64>) {
        let mut seen = self.stop.word();
        let woken = Arc::new(Mutex::new(BTreeSet::new()));
        let wakers: Vec<Waker> = (0..tasks.len())
            .map(|task| Arc::new(WakesTask { task, woken: Arc::clone(&woken) }).into())
            .collect();
        let next_woken = || woken.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
        for index in 0..tasks.len() {
            self.poll(tasks, index, &wakers);
        }
        loop {
            // A signal takes no time, so its waiters act at the same instant.
            if let Some(index) = next_woken() {
                self.poll(tasks, index, &wakers);
                continue;
            }
            let word = self.stop.word();
            if word != seen {
                seen = word;
                for index in self.agenda.take_all() {
                    self.poll(tasks, index as usize, &wakers);
                }
                continue;
            }
            let Some((next_ns, _)) = self.agenda.next() else {
                return;
            };
            match ahead(next_ns) {
                Some(cut_off_ns) if next_ns > cut_off_ns => {
                    self.agenda.go_to(cut_off_ns);
                    self.stop.abort();
                }
                _ if self.stop.word() != seen => {}
                _ => {
                    if let Some(index) = self.agenda.advance() {
                        self.poll(tasks, index as usize, &wakers);
                    }
                }
            }
        }
    }

    fn poll(&self, tasks: &mut [Task<'_>], index: usize, wakers: &[Waker]) {
        self.agenda.act(index as u32);
        if let Some(task) = &mut tasks[index] {
            let mut context = Context::from_waker(&wakers[index]);
            if task.as_mut().poll(&mut context).is_ready() {
                tasks[index] = None;
            }
        }
    }
}
