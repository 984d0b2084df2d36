//! What stands between the application and the writers: bounded pools, and a count of all that is
//! in them. Not here: who puts in and who takes out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::Signal;

use super::measurement::{Buffer, Chunk, Head};

/// How large the pools are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) transactions: u64,
    pub(super) metrics: u64,
    pub(super) buffers: u64,
}

/// A pool in which something was lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lacking {
    Transactions = 0,
    Metrics = 1,
    Buffers = 2,
}

/// What was counted, over the whole load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) generated: u64,
    pub(super) dropped: u64,
    pub(super) stored: u64,
    /// Put into buffers by the agent.
    pub(super) handled: u64,
    /// Buffers that were full, or the last of all that was asked for.
    pub(super) filled_buffers: u64,
    /// How often somebody waited, by [`Lacking`].
    pub(super) waits: [u64; 3],
    /// How long application threads waited for a pool, and all that they lived.
    pub(super) blocked_ns: u64,
    pub(super) lived_ns: u64,
    /// CPU time of the application, and of who fills the buffers.
    pub(super) application_cpu_ns: u64,
    pub(super) agent_cpu_ns: u64,
    /// When the first began, and when the last commit was.
    pub(super) begun_ns: Option<u64>,
    pub(super) last_commit_ns: u64,
}

#[derive(Debug, Default)]
struct State {
    /// In use at present.
    transactions: u64,
    metrics: u64,
    buffers: u64,
    chunks: VecDeque<Chunk>,
    spare_chunks: Vec<Chunk>,
    full: VecDeque<Buffer>,
    spare_buffers: Vec<Buffer>,
    /// Application threads that still make measurements.
    n_applications: u64,
    /// All that was made is in full buffers.
    is_flushed: bool,
    /// Measurements in the buffer that was being filled when the load was over.
    in_part: u64,
    /// Measurements in buffers that writers have taken and not written yet.
    with_writers: u64,
    counts: Counts,
}

/// The pools of a run.
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

    /// What all pools hold at most, without texts that wait for room in a buffer.
    pub(super) fn bytes(&self, buffer_bytes: u64) -> u64 {
        let Limits { transactions, metrics, buffers } = self.limits;
        let heads = transactions.saturating_mul(size_of::<Head>() as u64);
        let rest = metrics.saturating_mul(8).saturating_add(heads);
        buffers.saturating_mul(buffer_bytes).saturating_add(rest)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets an earlier run.
    pub(super) fn begin(&self, n_applications: u64) {
        *self.lock() = State { n_applications, ..State::default() };
    }

    /// Takes room for so many measurements with their metrics, and gives a chunk to put them in.
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

    /// Hands over a filled chunk.
    pub(super) fn hand_over(&self, chunk: Chunk) {
        let mut state = self.lock();
        state.counts.generated += chunk.heads.len() as u64;
        state.chunks.push_back(chunk);
        drop(state);
        self.for_tasks.raise();
    }

    /// The next chunk that goes into buffers; and whether another may come.
    pub(super) fn take_chunk(&self) -> (Option<Chunk>, bool) {
        let mut state = self.lock();
        let chunk = state.chunks.pop_front();
        let may_come = chunk.is_some() || state.n_applications > 0;
        (chunk, may_come)
    }

    /// A chunk's measurements lie in buffers now: their room is free.
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

    /// The measurements of a chunk from `from` on stay where they are: the load is over.
    pub(super) fn leave(&self, chunk: &Chunk, from: usize) {
        let mut state = self.lock();
        state.counts.handled += from as u64;
        state.in_part += (chunk.heads.len() - from) as u64;
    }

    /// An empty buffer, if there is one left.
    pub(super) fn empty_buffer(&self) -> Option<Buffer> {
        let mut state = self.lock();
        if state.buffers == self.limits.buffers {
            return None;
        }
        state.buffers += 1;
        Some(state.spare_buffers.pop().unwrap_or_default())
    }

    /// A buffer waits for a writer: it is full, or the last of all that was asked for; or it is
    /// what there was when the load was over.
    pub(super) fn fill(&self, buffer: Buffer, is_full: bool) {
        let mut state = self.lock();
        state.counts.filled_buffers += u64::from(is_full);
        state.full.push_back(buffer);
        drop(state);
        self.for_clients.raise();
    }

    /// The load ends with this buffer being filled; all is flushed if nothing is missing in it.
    pub(super) fn end_filling(&self, n_in_part: u64, is_flushed: bool) {
        let mut state = self.lock();
        state.in_part += n_in_part;
        state.is_flushed = is_flushed;
        drop(state);
        self.for_clients.raise();
    }

    /// A full buffer for a writer, or whether none will come.
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

    /// A buffer was committed, at this instant.
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

    /// Changes what is counted.
    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.lock().counts);
    }

    /// An application thread has made all it was asked for, or the load is over.
    pub(super) fn end_application(&self) {
        self.lock().n_applications -= 1;
        self.for_tasks.raise();
    }

    /// What was counted, and how many measurements still lie somewhere.
    pub(super) fn account(&self) -> (Counts, u64) {
        let state = self.lock();
        let in_chunks: u64 = state.chunks.iter().map(|chunk| chunk.heads.len() as u64).sum();
        let in_buffers: u64 = state.full.iter().map(|buffer| buffer.n).sum();
        (state.counts, in_chunks + in_buffers + state.in_part + state.with_writers)
    }
}
