//! Decides when a client's transactions start, by load model.
//!
//! There are two steps: `claim` determines the next transaction, so that its inputs are ready
//! before it is due; `wait` waits until it is due. Not here: execution (client_loop).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Clock, Kind, KindIndex, Load, Number, QueueAtEnd, QueueFull, Slot, StopCondition, StopReason,
    Woken, Workload,
};

use crate::clock;
use crate::job::{GroupJob, Job};
use crate::schedule::Schedule;
use crate::stop::{NEVER, Stop};
use crate::think_time::ThinkTime;

/// Number of transactions that may still start in the measured phase, for all clients of a group
/// together or for one client, as the stop condition says.
pub(crate) struct Budget(AtomicI64);

impl Budget {
    pub(crate) fn new(count: u64) -> Budget {
        Budget(AtomicI64::new(i64::try_from(count).unwrap_or(i64::MAX)))
    }

    fn take(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) > 0
    }
}

/// An arrival in open load that was dropped: the queue was full, or it had waited too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) nth: u64,
    pub(crate) intended_ns: u64,
    /// Whether it had waited too long; else the queue was full.
    pub(crate) is_late: bool,
}

/// Arrivals of an open-load group, and the queue of arrivals that are due and that no client has
/// claimed yet.
pub(crate) struct Arrivals {
    group: u16,
    queue_full: QueueFull,
    /// Longest wait in the queue, in nanoseconds; [`NEVER`] if there is no limit.
    queue_wait_ns: u64,
    queue_at_end: QueueAtEnd,
    stop: Arc<Stop>,
    state: Mutex<Queue>,
}

struct Queue {
    schedule: Schedule,
    bound: usize,
    /// Number and due time, in nanoseconds, of each arrival that is due and not claimed.
    waiting: VecDeque<(u64, u64)>,
    /// Number of arrivals that may still come in the measured phase.
    left: u64,
    /// Whether the load ends because the queue was full and the plan says to stop then, so that no
    /// further arrivals come.
    is_over: bool,
}

impl Queue {
    /// Returns number and due time (in nanoseconds) of the next arrival; `None` if the load ends
    /// before it.
    fn peek(&self, measure_start_ns: u64, end_ns: u64) -> Option<(u64, u64)> {
        let (nth, instant_ns) = self.schedule.peek();
        let is_over = self.is_over
            || instant_ns >= end_ns
            || (instant_ns >= measure_start_ns && self.left == 0);
        (!is_over).then_some((nth, instant_ns))
    }

    fn advance(&mut self, instant_ns: u64, measure_start_ns: u64) {
        if instant_ns >= measure_start_ns {
            self.left = self.left.saturating_sub(1);
        }
        self.schedule.advance();
    }
}

impl Arrivals {
    fn new(index: u16, group: &GroupJob, schedule: Schedule, stop: &Arc<Stop>) -> Option<Arrivals> {
        let Load::Open { queue, queue_full, queue_wait_ns, queue_at_end, .. } = group.load else {
            return None;
        };
        let queue = group.share.as_ref()?.of_limit(queue);
        let bound = usize::try_from(queue).unwrap_or(usize::MAX);
        let stop_condition = group.stop_condition;
        let left = match stop_condition {
            StopCondition::Transactions(count) => count,
            StopCondition::Time
            | StopCondition::TransactionsPerClient(_)
            | StopCondition::Sequence => u64::MAX,
        };
        let waiting = VecDeque::with_capacity(bound.min(1 << 16));
        let state = Mutex::new(Queue { schedule, bound, waiting, left, is_over: false });
        let (queue_wait_ns, stop) = (queue_wait_ns.unwrap_or(NEVER), Arc::clone(stop));
        Some(Arrivals { group: index, queue_full, queue_wait_ns, queue_at_end, stop, state })
    }

    /// Moves the schedule of arrivals so that it begins at the start of the load.
    pub(crate) fn begin(&self, load_start_ns: u64) {
        let mut queue = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        queue.schedule.begin(load_start_ns);
    }

    /// Claims the next arrival for a client that is free at `now_ns`: the first one in the queue,
    /// or else the next one of the schedule. Returns its number and due time (in nanoseconds);
    /// `None` if the load is over. Arrivals that found the queue full until now, or have waited too
    /// long, are added to `dropped`.
    fn claim(&self, now_ns: u64, dropped: &mut Vec<Dropped>) -> Option<(Number, u64)> {
        let (start_ns, end_ns) = (self.stop.measure_start_ns(), self.stop.end_ns());
        let mut queue = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.admit(&mut queue, now_ns, dropped);
        if self.queue_at_end == QueueAtEnd::Leave && now_ns >= end_ns {
            return None;
        }
        let is_late = |(_, intended_ns): &mut (u64, u64)| {
            now_ns.saturating_sub(*intended_ns) > self.queue_wait_ns
        };
        while let Some((nth, intended_ns)) = queue.waiting.pop_front_if(is_late) {
            dropped.push(Dropped { nth, intended_ns, is_late: true });
        }
        let next = queue.waiting.pop_front().or_else(|| {
            let next = queue.peek(start_ns, end_ns)?;
            queue.advance(next.1, start_ns);
            Some(next)
        });
        next.map(|(nth, intended_ns)| (Number::Arrival { group: self.group, nth }, intended_ns))
    }

    /// Adds the arrivals that were due before `now_ns` to the queue, or to `dropped` if it is full.
    fn admit(&self, queue: &mut Queue, now_ns: u64, dropped: &mut Vec<Dropped>) {
        let start_ns = self.stop.measure_start_ns();
        while let Some((nth, intended_ns)) = queue.peek(start_ns, self.stop.end_ns()) {
            if intended_ns >= now_ns {
                return;
            }
            queue.advance(intended_ns, start_ns);
            if queue.waiting.len() < queue.bound {
                queue.waiting.push_back((nth, intended_ns));
                continue;
            }
            dropped.push(Dropped { nth, intended_ns, is_late: false });
            if self.queue_full == QueueFull::Stop {
                // The measured window ends only when a full queue is noticed, since other clients
                // have committed until then.
                queue.is_over = true;
                self.stop.drain(|| now_ns, StopReason::QueueFull);
            }
        }
    }

    /// Returns the number of arrivals in the queue at `now_ns`. Arrivals that found the queue full
    /// until then are added to `dropped`.
    pub(crate) fn waiting(&self, now_ns: u64, dropped: &mut Vec<Dropped>) -> u64 {
        let mut queue = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.admit(&mut queue, now_ns, dropped);
        queue.waiting.len() as u64
    }

    /// Returns number and due time (in nanoseconds) of the arrivals that were in the queue when the
    /// run ended, and the arrivals that were dropped because the queue was full.
    pub(crate) fn leftovers(&self, now_ns: u64) -> (Vec<(u64, u64)>, Vec<Dropped>) {
        let mut dropped = Vec::new();
        let mut queue = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.admit(&mut queue, now_ns, &mut dropped);
        (queue.waiting.drain(..).collect(), dropped)
    }
}

/// A transaction that a client has claimed but not started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) number: Number,
    claimed_ns: u64,
    /// Instant at which the transaction should start, in nanoseconds of the run's clock. `None` in
    /// closed and key/think load, where [`Pacer::wait`] computes it, unless the client has just
    /// reconnected.
    intended_ns: Option<u64>,
}

enum Pace {
    /// Closed load: each transaction is due as soon as the one before has ended.
    Closed {
        free_ns: u64,
    },
    Open(Arc<Arrivals>),
    KeyThink(ThinkTime),
}

/// Pacer of one client, which decides by the load model when the client's transactions start.
pub(crate) struct Pacer {
    client: u32,
    nth: u64,
    stop: Arc<Stop>,
    budget: Option<Arc<Budget>>,
    pace: Pace,
    /// Arrivals that were dropped because the queue was full, as the last claim has found out. The
    /// recorder counts them.
    pub(crate) dropped: Vec<Dropped>,
}

/// Parameters from which a client's [`Pacer`] is created.
pub(crate) struct Pacing<'a> {
    pub(crate) load: &'a Load,
    pub(crate) arrivals: Option<&'a Arc<Arrivals>>,
    pub(crate) seed: u64,
    pub(crate) budget: Option<Arc<Budget>>,
}

impl Pacer {
    pub(crate) fn new(client: u32, pacing: Pacing<'_>, stop: Arc<Stop>) -> Pacer {
        let pace = match (pacing.load, pacing.arrivals) {
            (Load::Open { .. }, Some(arrivals)) => Pace::Open(Arc::clone(arrivals)),
            (Load::KeyThink { scale }, _) => {
                Pace::KeyThink(ThinkTime::new(client, pacing.seed, *scale))
            }
            _ => Pace::Closed { free_ns: 0 },
        };
        Pacer { client, nth: 0, stop, budget: pacing.budget, pace, dropped: Vec::new() }
    }

    /// Whether transactions have due times for which a client waits, as in open and key/think load.
    pub(crate) fn keeps_time(&self) -> bool {
        !matches!(self.pace, Pace::Closed { .. })
    }

    /// Whether the client has its own sequence of transactions; false in open load, where clients
    /// share arrivals.
    pub(crate) fn has_own(&self) -> bool {
        !matches!(self.pace, Pace::Open(_))
    }

    /// Claims the client's next transaction; `None` when the load is over.
    pub(crate) fn claim(&mut self, clock: &dyn Clock) -> Option<Claim> {
        let own = Number::OfClient { client: self.client, nth: self.nth };
        match &mut self.pace {
            Pace::Closed { .. } => Some(Claim { number: own, claimed_ns: 0, intended_ns: None }),
            Pace::KeyThink(_) => {
                Some(Claim { number: own, claimed_ns: clock.now(), intended_ns: None })
            }
            Pace::Open(arrivals) => {
                let now_ns = clock.now();
                let (number, intended_ns) = arrivals.claim(now_ns, &mut self.dropped)?;
                Some(Claim { number, claimed_ns: now_ns, intended_ns: Some(intended_ns) })
            }
        }
    }

    /// Waits until the claimed transaction is due. Returns its slot (number, intended start, claim
    /// time) and its actual start, which is [`NEVER`] if the end of the run cut it off. `None` if
    /// the load ends before the transaction is due; then it does not count at all.
    pub(crate) async fn wait(
        &mut self,
        claim: Claim,
        kind: KindIndex,
        kinds: &[Kind],
        clock: &dyn Clock,
    ) -> Option<(Slot, u64)> {
        let intended_ns = match claim.intended_ns {
            Some(intended_ns) => intended_ns,
            None => match &self.pace {
                Pace::KeyThink(think_time) => think_time.intend(claim.number, kind, kinds),
                Pace::Closed { .. } | Pace::Open(_) => {
                    return self.start_now(claim.number, clock);
                }
            },
        };
        if intended_ns >= self.stop.end_ns() {
            return None;
        }
        // In key/think load clients never queue: lateness is the generator's lag, unless there was
        // no connection.
        let claimed_ns = match (&self.pace, claim.intended_ns) {
            (Pace::KeyThink(think_time), None) if !think_time.is_behind => {
                claim.claimed_ns.min(intended_ns)
            }
            _ => claim.claimed_ns,
        };
        let is_queued = claimed_ns > intended_ns;
        if !is_queued && clock::until(clock, intended_ns).await == Woken::Stopped {
            // The run ends early. A transaction that is due before its end is still executed.
            if intended_ns >= self.stop.end_ns() {
                return None;
            }
            clock::through(clock, intended_ns).await;
        }
        if self.stop.is_aborted() {
            return self.give_up(claim, intended_ns);
        }
        if claim.intended_ns.is_none() && !self.take(intended_ns) {
            return None;
        }
        let slot = Slot { number: claim.number, intended_ns, claimed_ns };
        Some((slot, clock.now()))
    }

    /// Returns when the claimed transaction of a disconnected client is due, as if the client were
    /// connected. `None` in open load, or if the load ends before the transaction is due.
    pub(crate) fn expect(&mut self, claim: &Claim, kind: KindIndex, kinds: &[Kind]) -> Option<u64> {
        let intended_ns = match &self.pace {
            Pace::KeyThink(think_time) => think_time.intend(claim.number, kind, kinds),
            Pace::Closed { free_ns } if !self.stop.has_reason() => *free_ns,
            Pace::Closed { .. } | Pace::Open(_) => return None,
        };
        (intended_ns < self.stop.end_ns() && self.take(intended_ns)).then_some(intended_ns)
    }

    /// Returns a claim for a client that has reconnected at `now_ns`: the claim time is that
    /// instant, and the due time is `intended_ns`, which passed in the meantime.
    pub(crate) fn reconnected(&mut self, claim: Claim, intended_ns: u64, now_ns: u64) -> Claim {
        if let Pace::KeyThink(think_time) = &mut self.pace {
            think_time.connected_ns = now_ns;
        }
        Claim { claimed_ns: now_ns, intended_ns: Some(intended_ns), ..claim }
    }

    /// Records the end of a transaction. Must be called each time, since the next due time follows
    /// from it in closed and key/think load.
    pub(crate) fn finished(&mut self, kind: KindIndex, slot: Slot, finished_ns: u64) {
        match &mut self.pace {
            Pace::Closed { free_ns } => *free_ns = finished_ns,
            Pace::KeyThink(think_time) => think_time.finished(kind, slot, finished_ns),
            Pace::Open(_) => {}
        }
    }

    /// Returns a claimed transaction that can no longer start, because the run was cut off, so that
    /// it is counted as unfinished: its slot, and [`NEVER`] as its actual start. `None` if its due
    /// time is not known yet, so that it does not count at all.
    fn give_up(&mut self, claim: Claim, intended_ns: u64) -> Option<(Slot, u64)> {
        claim.intended_ns?;
        let slot = Slot { number: claim.number, intended_ns, claimed_ns: claim.claimed_ns };
        Some((slot, NEVER))
    }

    /// Starts a closed-load transaction at once, with the current instant as intended and actual
    /// start; `None` if the load is over.
    fn start_now(&mut self, number: Number, clock: &dyn Clock) -> Option<(Slot, u64)> {
        let now_ns = clock.now();
        if now_ns >= self.stop.end_ns() || self.stop.has_reason() || !self.take(now_ns) {
            return None;
        }
        Some((Slot { number, intended_ns: now_ns, claimed_ns: now_ns }, now_ns))
    }

    /// Uses up one of the transactions that the client may still start, if it is due at
    /// `intended_ns` in the measured phase. Returns false if none is left.
    fn take(&mut self, intended_ns: u64) -> bool {
        let is_measured = intended_ns >= self.stop.measure_start_ns();
        let is_wanted = match &self.budget {
            Some(budget) if is_measured => budget.take(),
            _ => true,
        };
        self.nth += u64::from(is_wanted);
        is_wanted
    }

    /// Starts the load of this client. A client in key/think load starts in the middle of its cycle
    /// of keying and thinking.
    pub(crate) fn begin(&mut self, load_start_ns: u64, workload: &dyn Workload) {
        match &mut self.pace {
            Pace::Closed { free_ns } => *free_ns = load_start_ns,
            Pace::KeyThink(think_time) => self.nth = think_time.begin(load_start_ns, workload),
            Pace::Open(_) => {}
        }
    }
}

/// Returns the arrivals of an open-load group that this process must serve; `None` for other load
/// models, or if no client of the group runs in this process.
pub(crate) fn arrivals_of(
    index: u16,
    group: &GroupJob,
    job: &Job,
    stop: &Arc<Stop>,
) -> Option<Arc<Arrivals>> {
    let Load::Open { arrivals, rate, .. } = &group.load else {
        return None;
    };
    let share = group.share.clone()?;
    let schedule = Schedule::new(job.seed, index, *arrivals, rate, job.phases.ramp_up_ns, share);
    Arrivals::new(index, group, schedule, stop).map(Arc::new)
}
