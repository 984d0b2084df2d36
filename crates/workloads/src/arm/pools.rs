//! Bounded pools between the application and the writers, and counts of their contents. Not here:
//! the threads that put measurements in and take them out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Signal;

use super::measurement::{Buffer, Chunk, Head};

/// Capacities of the pools through which measurements pass: numbers of measurements, metrics and
/// buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) transactions: u64,
    pub(super) metrics: u64,
    pub(super) buffers: u64,
}

/// The pool that has no room, so that measurements have to wait or are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lacking {
    Transactions = 0,
    Metrics = 1,
    Buffers = 2,
}

/// Counts of measurements, buffers and waits over the whole load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) generated: u64,
    pub(super) dropped: u64,
    pub(super) stored: u64,
    /// Number of measurements that the agent has copied into buffers.
    pub(super) handled: u64,
    /// Number of buffers that were full when they were queued for writing. The last buffer of a run
    /// that made all its measurements counts as full.
    pub(super) filled_buffers: u64,
    /// Number of waits for room in each pool, in the order of the variants of [`Lacking`].
    pub(super) waits: [u64; 3],
    /// Time for which application threads waited for room in a pool, in nanoseconds, summed over
    /// the threads.
    pub(super) blocked_ns: u64,
    pub(super) lived_ns: u64,
    /// CPU time that all application threads used, in nanoseconds.
    pub(super) application_cpu_ns: u64,
    pub(super) agent_cpu_ns: u64,
    /// Start of the first application thread, in nanoseconds of the run's clock; `None` before it.
    pub(super) begun_ns: Option<u64>,
    pub(super) last_commit_ns: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Number of measurements that occupy room in the transaction pool.
    transactions: u64,
    metrics: u64,
    buffers: u64,
    chunks: VecDeque<Chunk>,
    spare_chunks: Vec<Chunk>,
    full: VecDeque<Buffer>,
    spare_buffers: Vec<Buffer>,
    /// Number of application threads that have not ended yet.
    n_applications: u64,
    /// Whether all measurements are in buffers that were queued for writers.
    is_flushed: bool,
    /// Number of measurements in the buffer that was only partly filled when the load was over.
    in_part: u64,
    /// Number of measurements in buffers that writers have taken but not written yet.
    with_writers: u64,
    counts: Counts,
}

#[derive(Debug)]
pub(super) struct Pools {
    limits: Limits,
    state: Mutex<State>,
    pub(super) for_clients: Arc<Signal>,
    pub(super) for_tasks: Arc<Signal>,
}

impl Pools {
    pub(super) fn new(limits: Limits) -> Pools {
        Pools {
            limits,
            state: Mutex::default(),
            for_clients: Arc::default(),
            for_tasks: Arc::default(),
        }
    }

    /// Returns the maximum size of all pools in bytes, without texts that wait for room in a
    /// buffer.
    pub(super) fn bytes(&self, buffer_bytes: u64) -> u64 {
        let Limits { transactions, metrics, buffers } = self.limits;
        let heads = transactions.saturating_mul(size_of::<Head>() as u64);
        let rest = metrics.saturating_mul(8).saturating_add(heads);
        buffers.saturating_mul(buffer_bytes).saturating_add(rest)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties the pools and resets the counts, at the start of a run with `n_applications`
    /// application threads.
    pub(super) fn begin(&self, n_applications: u64) {
        *self.lock() = State { n_applications, ..State::default() };
    }

    /// Reserves room for `n` measurements with `n_metrics` metrics in all, and returns an empty
    /// chunk for them. `Err` names the pool that has no room.
    pub(super) fn reserve(&self, n: u64, n_metrics: u64) -> Result<Chunk, Lacking> {
        let mut state = self.lock();
        if state.transactions + n > self.limits.transactions {
            return Err(Lacking::Transactions);
        }
        if state.metrics + n_metrics > self.limits.metrics {
            return Err(Lacking::Metrics);
        }
        state.transactions += n;
        state.metrics += n_metrics;
        let chunk = state.spare_chunks.pop().unwrap_or_default();
        Ok(Chunk { n_metrics_reserved: n_metrics, ..chunk })
    }

    pub(super) fn hand_over(&self, chunk: Chunk) {
        let mut state = self.lock();
        state.counts.generated += chunk.heads.len() as u64;
        state.chunks.push_back(chunk);
        drop(state);
        self.for_tasks.raise();
    }

    /// Takes the oldest chunk of measurements that waits for the agent; `None` if there is none.
    /// The flag is true if a chunk was returned or more may come, and false after the last one.
    pub(super) fn take_chunk(&self) -> (Option<Chunk>, bool) {
        let mut state = self.lock();
        let chunk = state.chunks.pop_front();
        let may_come = chunk.is_some() || state.n_applications > 0;
        (chunk, may_come)
    }

    /// Frees the room of a chunk, after all its measurements were copied into buffers.
    pub(super) fn release(&self, mut chunk: Chunk) {
        let mut state = self.lock();
        state.counts.handled += chunk.heads.len() as u64;
        state.transactions -= chunk.heads.len() as u64;
        state.metrics -= chunk.n_metrics_reserved;
        chunk.clear();
        state.spare_chunks.push(chunk);
        drop(state);
        self.for_tasks.raise();
    }

    /// Counts the measurements of a chunk that was being copied into buffers when the load ended:
    /// those before index `from` are in buffers; the others are pending, since they are never
    /// written.
    pub(super) fn leave(&self, chunk: &Chunk, from: usize) {
        let mut state = self.lock();
        state.counts.handled += from as u64;
        state.in_part += (chunk.heads.len() - from) as u64;
    }

    /// Takes an empty buffer from the pool; `None` if all are in use.
    pub(super) fn empty_buffer(&self) -> Option<Buffer> {
        let mut state = self.lock();
        if state.buffers == self.limits.buffers {
            return None;
        }
        state.buffers += 1;
        Some(state.spare_buffers.pop().unwrap_or_default())
    }

    /// Queues a buffer for a writer. `is_full` is also true for the last buffer of a run that made
    /// all its measurements; it is false for a buffer that was only partly filled when the load was
    /// over.
    pub(super) fn fill(&self, buffer: Buffer, is_full: bool) {
        let mut state = self.lock();
        state.counts.filled_buffers += u64::from(is_full);
        state.full.push_back(buffer);
        drop(state);
        self.for_clients.raise();
    }

    /// Ends the filling of buffers, and wakes the clients, which end after the last buffer.
    /// `n_in_part` measurements remain in a partly filled buffer; `is_flushed` is true if all
    /// measurements are in queued buffers.
    pub(super) fn end_filling(&self, n_in_part: u64, is_flushed: bool) {
        let mut state = self.lock();
        state.in_part += n_in_part;
        state.is_flushed = is_flushed;
        drop(state);
        self.for_clients.raise();
    }

    /// Takes a full buffer for a writer. `Err(true)` means that no more buffers will come,
    /// `Err(false)` that none is ready yet.
    pub(super) fn take_buffer(&self) -> Result<Buffer, bool> {
        let mut state = self.lock();
        match state.full.pop_front() {
            Some(buffer) => {
                state.with_writers += buffer.n;
                Ok(buffer)
            }
            None => Err(state.is_flushed),
        }
    }

    /// Frees a buffer whose measurements were committed at `now_ns`, and counts these as stored.
    pub(super) fn stored(&self, mut buffer: Buffer, now_ns: u64) {
        let mut state = self.lock();
        state.with_writers -= buffer.n;
        state.counts.stored += buffer.n;
        state.counts.last_commit_ns = state.counts.last_commit_ns.max(now_ns);
        state.buffers -= 1;
        buffer.clear();
        state.spare_buffers.push(buffer);
        drop(state);
        self.for_tasks.raise();
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.lock().counts);
    }

    /// Counts down the application threads that have not ended, and wakes the agent, which ends
    /// after the last thread.
    pub(super) fn end_application(&self) {
        self.lock().n_applications -= 1;
        self.for_tasks.raise();
    }

    /// Returns the counts of the run so far, and the number of measurements that were made but not
    /// stored.
    pub(super) fn account(&self) -> (Counts, u64) {
        let state = self.lock();
        let in_chunks: u64 = state.chunks.iter().map(|chunk| chunk.heads.len() as u64).sum();
        let in_buffers: u64 = state.full.iter().map(|buffer| buffer.n).sum();
        (state.counts, in_chunks + in_buffers + state.in_part + state.with_writers)
    }
}
