//! One client that keys and thinks: when its next transaction is due.
//!
//! Not here: who waits until then (pacer), and how long users key and think (workloads).

use model::{Kind, KindIndex, NS_PER_S, Number, Rng, Slot, Stream, Workload};

/// Think times are cut at this many times their mean (TPC-C 5.2.5.4).
const THINK_CAP: f64 = 10.0;
/// The throw that says where a client is found when load begins; no transaction has this number.
const AT_THE_START: u64 = u64::MAX;
/// A client is found at one of this many first transactions of its own: kinds may come from a deck,
/// and then what follows depends on what was drawn from it already.
const FOUND_AMONG: u64 = 1 << 20;
/// So often a place of the right kind is looked for; a kind of one in a thousand is found.
const LOOKS_MAX: u32 = 100_000;

/// A user who keys, has its transaction, and thinks.
pub(crate) struct ThinkTime {
    client: u32,
    seed: u64,
    /// All times are multiplied by it.
    scale: f64,
    /// The kind of the last transaction; none before the first.
    previous: Option<KindIndex>,
    /// When the last transaction was over, or would have been; before the first, when that is due.
    free_ns: u64,
    /// When the client was last connected again.
    pub(crate) connected_ns: u64,
    /// The last transaction had to wait for a connection, so the next one may be late.
    pub(crate) is_behind: bool,
}

/// Where in its cycle a client is found.
enum Found {
    /// It thinks after one of this kind for so much longer, and then keys.
    Thinking { kind: KindIndex, left_ns: u64 },
    /// It keys a transaction of this kind for so much longer.
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

    /// A transaction has finished. What a user would have begun while there was no connection is
    /// intended when it would have been begun, so the wait for the connection delays no other.
    pub(crate) fn finished(&mut self, kind: KindIndex, slot: Slot, finished_ns: u64) {
        let wait_ns = slot.claimed_ns.saturating_sub(slot.intended_ns);
        let was_unconnected = slot.intended_ns < self.connected_ns;
        self.previous = Some(kind);
        self.is_behind = wait_ns > 0;
        self.free_ns = finished_ns - if was_unconnected { wait_ns } else { 0 };
    }

    /// The end of thinking (after the last transaction) and keying (before this one).
    pub(crate) fn intend(&self, number: Number, kind: KindIndex, kinds: &[Kind]) -> u64 {
        let Some(previous) = self.previous else { return self.free_ns };
        let mut rng = Rng::new(self.seed, Stream::Thinking(self.client), number.nth());
        let (mean_ns, cap_ns) = self.thinking(&kinds[usize::from(previous)]);
        let think_ns = stats::truncated_exponential_ns(rng.bits(), mean_ns, cap_ns);
        self.free_ns + think_ns + self.keying_ns(&kinds[usize::from(kind)])
    }

    /// Load begins: the client is found as somebody who has keyed and thought for ever, so that
    /// the rate is the same from the first instant on. Gives the number of its first transaction:
    /// the one that it keys, or that comes after the one after which it thinks.
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

    /// Where somebody comes upon a client at a random instant: in a pause as often as such pauses
    /// are long, and at any place within it alike. How long transactions take is not known
    /// beforehand, and counts as nothing.
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
        // There are no pauses, or the sum was rounded: at the end of one.
        Found::Thinking { kind: 0, left_ns: 0 }
    }

    /// The mean of the thinking after a transaction of this kind, and where it is cut.
    fn thinking(&self, kind: &Kind) -> (f64, u64) {
        let mean_ns = kind.thinking_ns as f64 * self.scale;
        (mean_ns, (mean_ns * THINK_CAP) as u64)
    }

    fn keying_ns(&self, kind: &Kind) -> u64 {
        (kind.keying_ns as f64 * self.scale) as u64
    }
}
