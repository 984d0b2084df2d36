//! The simulated application that makes measurements, and the agent that puts these into buffers.
//! Both are tasks of a producer. Not here: the pools between them, and the writing of buffers to
//! the database.

use std::sync::Arc;

use model::{NS_PER_S, ProducerContext, ProducerTask, Producing, Rng, Stream, raised, until};

use super::measurement::{Buffer, Chunk, Head, Status};
use super::parameters::{Class, PoolEmpty};
use super::pools::{Lacking, Pools};

/// Maximum number of measurements that an application thread passes to the agent at once; fewer if
/// the pools have no room for so many from each thread.
pub(super) const CHUNK_MAX: u64 = 64;
/// Minimum sleep, in nanoseconds, of an application thread that makes measurements at a given rate.
/// When it wakes up, it makes all measurements that became due, because waking costs many times as
/// much as a measurement.
const SLEEP_NS_MIN: u64 = 1_000_000;
/// Virtual time that a measurement takes, in nanoseconds. If it took none, virtual time would never
/// advance in a load without a rate.
const VIRTUAL_NS: u64 = 1000;
/// Number of consecutive measurements that form a group. The first is the parent of the others, if
/// its class has a correlator (an id by which ARM names the parent of a measurement).
const FAMILY: u64 = 4;
/// Characters from which context values and diagnostic details are drawn.
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/// Settings of the simulated application whose measurements are stored, shared by its threads.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) seed: u64,
    pub(super) classes: Vec<Class>,
    pub(super) context_bytes: u64,
    /// Number of simulated transactions per million that get the status failed, on average: each
    /// status is drawn at random.
    pub(super) failed_per_million: i64,
    /// Number of simulated transactions per million that get the status aborted, on average: each
    /// status is drawn at random.
    pub(super) aborted_per_million: i64,
    pub(super) diagnostic_bytes: u8,
    pub(super) n_threads: u64,
    /// Number of measurements that all application threads make together; 0 for no limit.
    pub(super) n_measurements: u64,
    /// Number of measurements per second that all application threads make together; 0 for as many
    /// as possible.
    pub(super) rate_per_s: f64,
    pub(super) pool_empty: PoolEmpty,
    /// Maximum number of measurements that an application thread passes to the agent at once; more
    /// follow in further chunks.
    pub(super) n_chunk: u64,
}

impl Shape {
    fn total_weight(&self) -> i64 {
        self.classes.iter().map(|class| class.weight as i64).sum()
    }

    /// Draws the class of a measurement by the weights of the classes, and returns its index.
    fn class(&self, rng: &mut Rng) -> usize {
        if self.classes.len() == 1 {
            return 0;
        }
        let mut left = rng.uniform(1, self.total_weight());
        let is_it = |class: &Class| {
            left -= class.weight as i64;
            left <= 0
        };
        self.classes.iter().position(is_it).expect("weights add up")
    }

    /// Draws the status of a measured transaction: good, failed or aborted.
    fn status(&self, rng: &mut Rng) -> Status {
        let aborted_to = self.failed_per_million + self.aborted_per_million;
        if aborted_to == 0 {
            return Status::Good;
        }
        match rng.uniform(1, 1_000_000) {
            drawn if drawn <= self.failed_per_million => Status::Failed,
            drawn if drawn <= aborted_to => Status::Aborted,
            _ => Status::Good,
        }
    }

    /// Returns the number of measurements per nanosecond that one application thread must make for
    /// the requested rate.
    fn rate_per_ns(&self) -> f64 {
        self.rate_per_s / self.n_threads as f64 / NS_PER_S as f64
    }

    /// Returns the minimum sleep of an application thread, in nanoseconds. It is at most the time
    /// in which a whole chunk of measurements becomes due, since more at once might not fit into
    /// the pools.
    fn sleep_ns(&self) -> u64 {
        SLEEP_NS_MIN.min((self.n_chunk as f64 / self.rate_per_ns()) as u64).max(1)
    }

    pub(super) fn metrics_max(&self) -> u64 {
        self.classes.iter().map(|class| class.n_metrics).max().unwrap_or(0)
    }
}

/// Thread of the simulated application, which makes measurements and passes them to the agent.
pub(super) struct Application {
    pub(super) shape: Arc<Shape>,
    pub(super) pools: Arc<Pools>,
    pub(super) index: u64,
}

impl ProducerTask for Application {
    fn name(&self) -> String {
        format!("application-{}", self.index % 100)
    }

    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a> {
        Box::pin(async move {
            let begun_ns = context.clock.now();
            self.pools.count(|counts| {
                counts.begun_ns = Some(counts.begun_ns.map_or(begun_ns, |ns| ns.min(begun_ns)));
            });
            let blocked_ns = self.make_all(context, begun_ns).await;
            let lived_ns = context.clock.now() - begun_ns;
            let cpu_ns = (context.cpu_ns)();
            self.pools.count(|counts| {
                counts.blocked_ns += blocked_ns;
                counts.lived_ns += lived_ns;
                counts.application_cpu_ns += cpu_ns;
            });
            self.pools.end_application();
        })
    }
}

impl Application {
    /// Makes measurements until there are enough or the load is over. Returns the nanoseconds for
    /// which the thread waited for room in the pools.
    async fn make_all(&self, context: &ProducerContext<'_>, begun_ns: u64) -> u64 {
        let shape = self.shape.as_ref();
        let n_all = match shape.n_measurements {
            0 => u64::MAX,
            n => n / shape.n_threads + u64::from(self.index < n % shape.n_threads),
        };
        let mut scratch = Chunk::default();
        let (mut made, mut blocked_ns) = (0, 0);
        while made < n_all && !(context.is_over)() {
            let n = shape.n_chunk.min(n_all - made);
            let Some(n) = self.due(context, begun_ns, made, n).await else { break };
            let n_metrics = n * shape.metrics_max();
            let chunk = match self.pools.reserve(n, n_metrics) {
                Ok(chunk) => Some(chunk),
                Err(_) if shape.pool_empty == PoolEmpty::Drop => None,
                Err(lacking) => {
                    let waited_ns = context.clock.now();
                    let chunk = self.wait_for_room(context, n, n_metrics, lacking).await;
                    blocked_ns += context.clock.now() - waited_ns;
                    if chunk.is_none() {
                        break;
                    }
                    chunk
                }
            };
            match chunk {
                Some(mut chunk) => {
                    self.fill(context, &mut chunk, made, n);
                    self.pools.hand_over(chunk);
                }
                None => {
                    // Dropped measurements cost the application CPU time, too.
                    scratch.clear();
                    self.fill(context, &mut scratch, made, n);
                    self.pools.count(|counts| {
                        counts.generated += n;
                        counts.dropped += n;
                    });
                }
            }
            made += n;
            if context.is_virtual {
                until(context.clock, context.clock.now() + n * VIRTUAL_NS).await;
            }
        }
        blocked_ns
    }

    /// Waits until at least one of the thread's next measurements is due. Returns how many of the
    /// next `n` are due; `None` when the load is over.
    async fn due(
        &self,
        context: &ProducerContext<'_>,
        begun_ns: u64,
        made: u64,
        n: u64,
    ) -> Option<u64> {
        if self.shape.rate_per_s == 0.0 {
            return Some(n);
        }
        let rate_per_ns = self.shape.rate_per_ns();
        let sleep_ns = self.shape.sleep_ns();
        loop {
            let passed_ns = (context.clock.now() - begun_ns) as f64;
            let n_due = ((passed_ns * rate_per_ns) as u64 + 1).saturating_sub(made);
            if n_due > 0 {
                return Some(n_due.min(n));
            }
            let next_ns = begun_ns + (made as f64 / rate_per_ns).ceil() as u64;
            until(context.clock, next_ns.max(context.clock.now() + sleep_ns)).await;
            if (context.is_over)() {
                return None;
            }
        }
    }

    async fn wait_for_room(
        &self,
        context: &ProducerContext<'_>,
        n: u64,
        n_metrics: u64,
        mut lacking: Lacking,
    ) -> Option<Chunk> {
        let signal = Arc::clone(&self.pools.for_tasks);
        loop {
            self.pools.count(|counts| counts.waits[lacking as usize] += 1);
            // Other threads are woken too and may be first; waiting again counts as the same wait.
            loop {
                let seen = signal.count();
                match self.pools.reserve(n, n_metrics) {
                    Ok(chunk) => return Some(chunk),
                    Err(other) if other != lacking => {
                        lacking = other;
                        break;
                    }
                    Err(_) => {}
                }
                if (context.is_over)() {
                    return None;
                }
                raised(context.clock, &signal, seen).await;
            }
        }
    }

    /// Fills a chunk with the thread's next `n` measurements; `made` is the number of its earlier
    /// ones. Their numbers in the run alternate with those of other threads.
    fn fill(&self, context: &ProducerContext<'_>, chunk: &mut Chunk, made: u64, n: u64) {
        let shape = self.shape.as_ref();
        let mut parent = 0;
        for nth in made..made + n {
            let number = nth * shape.n_threads + self.index + 1;
            let start_ns = context.clock.now();
            let mut rng = Rng::new(shape.seed, Stream::Producer(self.index as u32), nth);
            let index = shape.class(&mut rng);
            let class = &shape.classes[index];
            let status = shape.status(&mut rng);
            for _ in 0..class.n_metrics {
                chunk.metrics.push(rng.uniform(0, 1_000_000));
            }
            let diagnostic_bytes = match status {
                Status::Failed => shape.diagnostic_bytes,
                Status::Good | Status::Aborted => 0,
            };
            let n_text = class.n_contexts * shape.context_bytes + u64::from(diagnostic_bytes);
            put_letters(&mut chunk.text, n_text as usize, &mut rng);
            let is_parent = nth % FAMILY == 0;
            chunk.heads.push(Head {
                number,
                class: index as u16,
                status,
                start_ns,
                stop_ns: context.clock.now(),
                parent: if class.has_correlator && !is_parent { parent } else { 0 },
                has_correlator: class.has_correlator,
                n_metrics: class.n_metrics as u8,
                n_contexts: class.n_contexts as u8,
                diagnostic_bytes,
            });
            if is_parent {
                parent = if class.has_correlator { number } else { 0 };
            }
        }
    }
}

fn put_letters(out: &mut Vec<u8>, n: usize, rng: &mut Rng) {
    let mut left = n;
    while left > 0 {
        // Ten letters of six bits each come from one random number.
        let mut bits = rng.bits();
        let n_now = left.min(10);
        for _ in 0..n_now {
            out.push(LETTERS[(bits & 63) as usize]);
            bits >>= 6;
        }
        left -= n_now;
    }
}

/// Agent that copies the application's measurements into buffers, which clients (writers) then
/// store in the database.
pub(super) struct Agent {
    pub(super) pools: Arc<Pools>,
    pub(super) buffer_bytes: u64,
    pub(super) context_bytes: u64,
}

impl ProducerTask for Agent {
    fn name(&self) -> String {
        "agent".to_owned()
    }

    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a> {
        Box::pin(async move {
            let (rest, is_flushed) = self.fill_all(context).await;
            let cpu_ns = (context.cpu_ns)();
            self.pools.count(|counts| counts.agent_cpu_ns += cpu_ns);
            self.pools.end_filling(rest, is_flushed);
        })
    }
}

impl Agent {
    /// Fills buffers until all measurements are in buffers or the load is over. Returns the number
    /// of measurements in a partly filled buffer that was not queued, and whether all measurements
    /// were queued.
    async fn fill_all(&self, context: &ProducerContext<'_>) -> (u64, bool) {
        let signal = Arc::clone(&self.pools.for_tasks);
        let Some(mut buffer) = self.empty_buffer(context).await else { return (0, false) };
        loop {
            let seen = signal.count();
            match self.pools.take_chunk() {
                (Some(chunk), _) => match self.put(context, buffer, chunk).await {
                    Ok(other) => buffer = other,
                    Err(()) => return (0, false),
                },
                (None, false) if buffer.n > 0 => {
                    let is_asked_for = !(context.is_over)();
                    self.pools.fill(buffer, is_asked_for);
                    return (0, true);
                }
                (None, false) => return (0, true),
                (None, true) if (context.is_over)() => return (buffer.n, false),
                (None, true) => _ = raised(context.clock, &signal, seen).await,
            }
        }
    }

    /// Copies the measurements of `chunk` into `buffer`, and into further buffers when it is full.
    /// Returns the buffer that is filled at the end; `Err` if the load ends while no buffer is
    /// free.
    async fn put(
        &self,
        context: &ProducerContext<'_>,
        mut buffer: Buffer,
        chunk: Chunk,
    ) -> Result<Buffer, ()> {
        let (mut metrics, mut text) = (&chunk.metrics[..], &chunk.text[..]);
        for (index, head) in chunk.heads.iter().enumerate() {
            let n_text = usize::from(head.n_contexts) * self.context_bytes as usize
                + usize::from(head.diagnostic_bytes);
            let (own_metrics, other_metrics) = metrics.split_at(usize::from(head.n_metrics));
            let (own_text, other_text) = text.split_at(n_text);
            let before = buffer.bytes.len();
            buffer.put(head, own_metrics, own_text);
            if buffer.bytes.len() as u64 > self.buffer_bytes {
                // The measurement goes into the next buffer.
                buffer.bytes.truncate(before);
                buffer.n -= 1;
                self.pools.fill(buffer, true);
                let Some(next) = self.empty_buffer(context).await else {
                    self.pools.leave(&chunk, index);
                    return Err(());
                };
                buffer = next;
                buffer.put(head, own_metrics, own_text);
            }
            (metrics, text) = (other_metrics, other_text);
        }
        self.pools.release(chunk);
        Ok(buffer)
    }

    async fn empty_buffer(&self, context: &ProducerContext<'_>) -> Option<Buffer> {
        let signal = Arc::clone(&self.pools.for_tasks);
        let mut has_waited = false;
        loop {
            let seen = signal.count();
            if let Some(buffer) = self.pools.empty_buffer() {
                return Some(buffer);
            }
            if !std::mem::replace(&mut has_waited, true) {
                self.pools.count(|counts| counts.waits[Lacking::Buffers as usize] += 1);
            }
            if (context.is_over)() {
                return None;
            }
            raised(context.clock, &signal, seen).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_sleeps_for_a_millisecond_or_until_a_chunk_is_due() {
        let sleep_ns = |rate_per_s: f64, n_threads: u64| {
            let shape = Shape {
                seed: 1,
                classes: Vec::new(),
                context_bytes: 1,
                failed_per_million: 0,
                aborted_per_million: 0,
                diagnostic_bytes: 0,
                n_threads,
                n_measurements: 0,
                rate_per_s,
                pool_empty: PoolEmpty::Block,
                n_chunk: 50,
            };
            shape.sleep_ns()
        };
        assert_eq!([sleep_ns(100.0, 1), sleep_ns(20_000.0, 1)], [1_000_000; 2]);
        assert_eq!(sleep_ns(1e6, 1), 50_000);
        assert_eq!(sleep_ns(1e6, 4), 200_000);
        assert_eq!(sleep_ns(1e12, 1), 1);
    }
}
