//! Random keying and think times of one client in key/think load, which determine when its next
//! transaction is due.
//!
//! Not here: waiting (pacer), and the mean times of a workload (workloads).

use model::{Kind, KindIndex, NS_PER_S, Number, Rng, Slot, Stream, Workload};

/// Limit on a think time, as a multiple of the mean (TPC-C 5.2.5.4). A longer draw is reduced to
/// it.
const THINK_CAP: f64 = 10.0;
/// Number in the random stream from which a client's initial state is drawn. No transaction has
/// this number.
const AT_THE_START: u64 = u64::MAX;
/// Upper bound of the number of a client's first transaction. The number is chosen at random so
/// that its transaction type fits the state in which the client starts; later types follow from the
/// number, such as in a shuffled deck.
const FOUND_AMONG: u64 = 1 << 20;
/// Limit on the draws in search of a first transaction of a given type: enough for a type with a
/// share of 1/1000 in the mix. If none is found, transaction 0 is taken instead.
const LOOKS_MAX: u32 = 100_000;

/// Keying and think times of one key/think client, which decide when its transactions are due. Such
/// a client keys the input, executes the transaction, thinks about the result, and begins again.
pub(crate) struct ThinkTime {
    client: u32,
    seed: u64,
    /// Factor by which keying and think times are multiplied.
    scale: f64,
    /// Type of the last transaction; `None` before the first one.
    previous: Option<KindIndex>,
    /// End of the last transaction in nanoseconds, less the time that it waited for a connection.
    /// Before the first transaction, the instant at which the first one is due.
    free_ns: u64,
    /// Instant at which the client last reconnected, in nanoseconds.
    pub(crate) connected_ns: u64,
    /// Whether the last transaction had to wait for a connection, so that the next one may be late
    /// too.
    pub(crate) is_behind: bool,
}

/// The state in its cycle of keying and thinking in which a client is at the start of the load.
enum Found {
    /// The client still thinks for `left_ns` nanoseconds after a transaction of this type, and then
    /// keys the next one.
    Thinking { kind: KindIndex, left_ns: u64 },
    /// The client still keys for `left_ns` nanoseconds before a transaction of this type.
    Keying { kind: KindIndex, left_ns: u64 },
}

impl ThinkTime {
    pub(crate) fn new(client: u32, seed: u64, scale: f64) -> ThinkTime {
        ThinkTime {
            client,
            seed,
            scale,
            previous: None,
            free_ns: 0,
            connected_ns: 0,
            is_behind: false,
        }
    }

    /// Records the end of a transaction, from which the next due time follows. The time that the
    /// transaction waited for a connection is subtracted, so that the wait delays no later
    /// transaction.
    pub(crate) fn finished(&mut self, kind: KindIndex, slot: Slot, finished_ns: u64) {
        let wait_ns = slot.claimed_ns.saturating_sub(slot.intended_ns);
        let was_unconnected = slot.intended_ns < self.connected_ns;
        self.previous = Some(kind);
        self.is_behind = wait_ns > 0;
        self.free_ns = finished_ns - if was_unconnected { wait_ns } else { 0 };
    }

    /// Returns when a transaction is due, in nanoseconds of the run's clock: when the client has
    /// thought about the last transaction and keyed this one.
    pub(crate) fn intend(&self, number: Number, kind: KindIndex, kinds: &[Kind]) -> u64 {
        let Some(previous) = self.previous else { return self.free_ns };
        let mut rng = Rng::new(self.seed, Stream::Thinking(self.client), number.nth());
        let (mean_ns, cap_ns) = self.thinking(&kinds[usize::from(previous)]);
        let think_ns = stats::truncated_exponential_ns(rng.bits(), mean_ns, cap_ns);
        self.free_ns + think_ns + self.keying_ns(&kinds[usize::from(kind)])
    }

    /// Starts the load of this client in the middle of its cycle, as if it had been running
    /// forever, so that the rate is stationary from the start. Returns the number of the client's
    /// first transaction.
    pub(crate) fn begin(&mut self, load_start_ns: u64, workload: &dyn Workload) -> u64 {
        let kinds = workload.kinds();
        let kind_of =
            |nth: &u64| workload.kind_of(Number::OfClient { client: self.client, nth: *nth });
        let mut rng = Rng::new(self.seed, Stream::Thinking(self.client), AT_THE_START);
        let found = self.find(kinds, &mut rng);
        let (Found::Thinking { kind, .. } | Found::Keying { kind, .. }) = found;
        let mut places = (0..LOOKS_MAX).map(|_| rng.bits() % FOUND_AMONG);
        let place = places.find(|nth| kind_of(nth) == kind).unwrap_or(0);
        let (nth, left_ns) = match found {
            Found::Keying { left_ns, .. } => (place, left_ns),
            Found::Thinking { left_ns, .. } => {
                let next = usize::from(kind_of(&(place + 1)));
                (place + 1, left_ns + self.keying_ns(&kinds[next]))
            }
        };
        self.free_ns = load_start_ns + left_ns;
        nth
    }

    /// Draws the pause of its cycle (keying or thinking) in which a client is at a random instant,
    /// and how much of it is left. Long pauses are more likely in proportion. The unknown duration
    /// of transactions counts as 0.
    fn find(&self, kinds: &[Kind], rng: &mut Rng) -> Found {
        let mean_s = |kind: &Kind| {
            let weight = kind.weight as f64 / NS_PER_S as f64;
            let (mean_ns, _) = self.thinking(kind);
            [mean_ns * -(-THINK_CAP).exp_m1() * weight, self.keying_ns(kind) as f64 * weight]
        };
        let shares: Vec<[f64; 2]> = kinds.iter().map(mean_s).collect();
        let mut place = stats::unit(rng.bits()) * shares.iter().flatten().sum::<f64>();
        for (kind, [thinking, keying]) in (0..).zip(shares) {
            if place < thinking {
                let (mean_ns, cap_ns) = self.thinking(&kinds[usize::from(kind)]);
                let left_ns = stats::residual_exponential_ns(rng.bits(), mean_ns, cap_ns);
                return Found::Thinking { kind, left_ns };
            }
            place -= thinking;
            if place < keying {
                let keying_ns = self.keying_ns(&kinds[usize::from(kind)]);
                let left_ns = (keying_ns as f64 * stats::unit(rng.bits())) as u64;
                return Found::Keying { kind, left_ns };
            }
            place -= keying;
        }
        // Without pauses, or by rounding, the client is at the end of a pause.
        Found::Thinking { kind: 0, left_ns: 0 }
    }

    /// Returns the mean and the largest think time after a transaction of this type, in
    /// nanoseconds.
    fn thinking(&self, kind: &Kind) -> (f64, u64) {
        let mean_ns = kind.thinking_ns as f64 * self.scale;
        (mean_ns, (mean_ns * THINK_CAP) as u64)
    }

    fn keying_ns(&self, kind: &Kind) -> u64 {
        (kind.keying_ns as f64 * self.scale) as u64
    }
}
