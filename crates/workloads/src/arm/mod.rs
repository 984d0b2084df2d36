//! `arm`: measurements of transactions, as defined by ARM 4.0 (The Open Group, C807), on their way
//! from an application into a database.
//!
//! A simulated application makes measurements on threads of its own, an agent puts them into
//! buffers, and each client writes full buffers, one per transaction. Not here: threads and time
//! (engine).

mod application;
mod checks;
mod checksum;
mod claim;
mod measurement;
mod parameters;
mod pools;
mod tables;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};

use model::{
    BadParameter, Check, Choice, Client, Crosscheck, CustomMetric, CustomMetricKind, Dialect,
    Direction, Fact, FactValue, Finding, Identity, Kind, KindIndex, MEGABYTE, NS_PER_S, Number,
    Places, Population, PrimaryMetric, PrimaryOf, Producer, ProducerTask, Severity, Signal,
    Statement, StatementKind, Workload, format_count, numbers,
};

use self::application::{Agent, Application, CHUNK_MAX, Shape};
use self::measurement::encoded_bytes;
use self::parameters::{Class, PARAMETERS};
use self::pools::{Counts, Lacking, Limits, Pools};
use self::tables::{BUFFER, CONTEXT, Layout, MEASUREMENT, METRIC};
use self::writer::{Shared, Writer};
use crate::empty_tables::EmptyTables;
use crate::storage_engine::{self, StorageEngine};
use crate::{Entry, Make};

pub(crate) static ENTRY: Entry = Entry {
    name: NAME,
    data: NAME,
    summary: "ARM transaction measurements: an application fills buffers, clients write them",
    parameters: PARAMETERS,
    roles: &[],
    make,
    source: None,
};

const NAME: &str = "arm";

/// Minimum number of measurements that must wait at the end of a run, in multiples of a full
/// buffer, for the finding that the database cannot keep up.
const PILED_LEAST: u64 = 32;

/// Number of filled buffers in a run below which a finding says that the rates are coarse.
const BUFFERS_FEW: u64 = 20;

/// Share of the requested rate below which a finding says that the simulated application does not
/// reach the rate.
const OFFERED_LEAST: f64 = 0.95;

/// Custom metrics of the workload, in the order of the index constants in the module `writer`.
static CUSTOM_METRICS: [CustomMetric; 4] = [
    CustomMetric {
        name: "measurements",
        unit: "measurements",
        kind: CustomMetricKind::Counter,
        better: Direction::Higher,
    },
    CustomMetric {
        name: "rows",
        unit: "rows",
        kind: CustomMetricKind::Counter,
        better: Direction::Higher,
    },
    CustomMetric {
        name: "measured_bytes",
        unit: "bytes",
        kind: CustomMetricKind::Counter,
        better: Direction::Higher,
    },
    CustomMetric {
        name: "age_at_commit",
        unit: "ns",
        kind: CustomMetricKind::Histogram,
        better: Direction::Lower,
    },
];

static KINDS: [Kind; 1] = [Kind { name: "buffer", weight: 1, keying_ns: 0, thinking_ns: 0 }];

struct Arm {
    identity: Identity,
    shared: Arc<Shared>,
    buffer_bytes: u64,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    Ok(Arc::new(decided(make)?))
}

fn decided(make: &Make<'_>) -> Result<Arm, BadParameter> {
    let settings = make.settings;
    let classes = parameters::classes(settings)?;
    let layout = Layout::from_settings(settings);
    let context_bytes = settings.count("context_bytes");
    let diagnostic_bytes = settings.count("diagnostic_bytes");
    let buffer_bytes = settings.count("buffer_bytes");
    let per_million = |name| (settings.number(name) * 1e4).round() as i64;
    // Only failed transactions have a diagnostic detail.
    let detail = if per_million("failed_percent") > 0 { diagnostic_bytes } else { 0 };
    let bytes_of =
        |class: &Class| encoded_bytes(class.n_metrics, class.n_contexts, context_bytes, detail);
    if let Some(class) = classes.iter().find(|class| bytes_of(class) > buffer_bytes) {
        let (name, bytes) = (&class.name, bytes_of(class));
        let why = format!("a measurement of {name} takes {bytes} bytes: give more");
        return Err(BadParameter::named("buffer_bytes", why));
    }
    let n_threads = settings.count("application_threads");
    let limits = Limits {
        transactions: settings.count("transaction_pool"),
        metrics: settings.count("metric_pool"),
        buffers: settings.count("buffer_pool"),
    };
    if per_million("failed_percent") + per_million("aborted_percent") > 1_000_000 {
        let why = "with --failed-percent it is more than 100".to_owned();
        return Err(BadParameter::named("aborted_percent", why));
    }
    let mut shape = Shape {
        seed: make.seed,
        classes,
        context_bytes,
        failed_per_million: per_million("failed_percent"),
        aborted_per_million: per_million("aborted_percent"),
        diagnostic_bytes: diagnostic_bytes as u8,
        n_threads,
        n_measurements: settings.count(model::PRODUCER_COUNT),
        rate_per_s: settings.number(model::PRODUCER_RATE),
        pool_empty: settings.chosen("pool_empty"),
        n_chunk: CHUNK_MAX.min(limits.transactions / n_threads).max(1),
    };
    if let Some(n_fit) = limits.metrics.checked_div(shape.metrics_max()) {
        if n_fit == 0 {
            let why = format!("one measurement has {} metrics: give more", shape.metrics_max());
            return Err(BadParameter::named("metric_pool", why));
        }
        shape.n_chunk = shape.n_chunk.min((n_fit / n_threads).max(1));
    }
    let engine: StorageEngine = settings.chosen(storage_engine::NAME);
    let scale = [
        ("contexts", layout.contexts.name().to_owned()),
        ("context_bytes", context_bytes.to_string()),
        ("keys", layout.has_keys.to_string()),
        engine.scale(),
    ];
    let shared = Shared {
        pools: Arc::new(Pools::new(limits)),
        layout,
        tables: EmptyTables { all: layout.tables(), engine },
        shape: Arc::new(shape),
        write: settings.chosen("write"),
        rows_per_insert: settings.count("rows_per_insert") as usize,
        claim: Mutex::new(None),
    };
    let seed = make.data.map_or(make.seed, |data| data.seed);
    let identity = Identity::new(NAME, 2, scale, seed);
    Ok(Arm { identity, shared: Arc::new(shared), buffer_bytes })
}

impl Workload for Arm {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        &CUSTOM_METRICS
    }

    /// Declares the primary metrics: rates of committed measurements and of their bytes. Response
    /// times are those of buffers.
    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        let primary = |name, title, metric, per_ns| {
            let rate = PrimaryOf::Rate { kinds: Vec::new(), metric: Some(metric), per_ns };
            PrimaryMetric { name, title, of: rate, better: Direction::Higher }
        };
        vec![
            primary("measurements_per_s", "measurements/s", 0, NS_PER_S),
            primary("mb_per_s", "MB/s", 2, NS_PER_S / MEGABYTE),
        ]
    }

    fn notes(&self) -> Vec<String> {
        let limit = match self.shared.shape.n_measurements {
            0 => " Their number has no limit (measurements=0).",
            _ => "",
        };
        vec![format!(
            "A transaction writes one buffer of measurements; its response time excludes the wait \
             for a full buffer.{limit}"
        )]
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        use StatementKind::{Read, Write};
        let tables = &self.shared.tables.all;
        let insert = |name, table: usize| {
            // Without a table for context values the statement is never executed.
            let table = tables.get(table).unwrap_or(&tables[MEASUREMENT]);
            Statement::new(name, Write, dialect.insert(table))
        };
        let read = |name, sql| Statement::new(name, Read, dialect.sql(sql));
        vec![
            insert("insert measurement", MEASUREMENT),
            insert("insert metric", METRIC),
            insert("insert buffer", BUFFER),
            insert("insert context", CONTEXT),
            read("last id", "SELECT MAX(last_id) FROM arm_buffer"),
            read("is stored", "SELECT COUNT(*) FROM arm_buffer WHERE id = ?"),
            read("classes", "SELECT DISTINCT class, class_name FROM arm_buffer"),
        ]
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, _number: Number) -> KindIndex {
        0
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(Writer::new(Arc::clone(&self.shared)))
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.shared.tables)
    }

    fn producer(&self) -> Option<&dyn Producer> {
        Some(self)
    }

    fn memory_bytes(&self) -> u64 {
        self.shared.pools.bytes(self.buffer_bytes)
    }

    fn refuses_processes(&self) -> Option<String> {
        let why = "the application of arm and its pools must be in one process: leave it out";
        Some(why.to_owned())
    }

    fn is_blind(&self) -> bool {
        true
    }

    fn checks(&self, dialect: &Dialect) -> Vec<Check> {
        checks::checks(self.shared.layout, dialect)
    }

    /// Declares the comparison of dbdyno's commits with the buffers counted in the database. Each
    /// buffer is one commit, and has one row per class of its measurements in `arm_buffer`. Rows
    /// that reserve ids do not count.
    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        let sql = "SELECT COUNT(DISTINCT id) FROM arm_buffer WHERE measurements > 0".to_owned();
        Some(Crosscheck { sql, kind: 0, per_commit: 1 })
    }
}

impl Arm {
    /// Returns the finding that measurements were dropped because a pool had no room.
    fn too_many(&self, counts: &Counts) -> Finding {
        let Counts { dropped, generated, .. } = *counts;
        let percent = numbers::percent_text(100.0 * dropped as f64 / generated as f64);
        let [dropped, generated] = [dropped, generated].map(format_count);
        let observed = format!(
            "{dropped} of {generated} measurements were dropped ({percent}): a pool was empty."
        );
        let advice = "The rates are those of what was stored; lower --application-rate, add \
                      clients, or use --pool-empty block.";
        Finding::with_advice("dropped_measurements", Severity::Warning, observed, advice)
    }

    /// Returns the finding that the application generated fewer measurements than the requested
    /// rate demands; `None` if it generated enough.
    fn too_slow(&self, counts: &Counts) -> Option<Finding> {
        let shape = &self.shared.shape;
        let lived_s = counts.lived_ns as f64 / NS_PER_S as f64 / shape.n_threads as f64;
        let offered = (shape.rate_per_s * lived_s) as u64;
        let percent = |part: u64, whole: u64| {
            numbers::percent_text(100.0 * part as f64 / whole.max(1) as f64)
        };
        if counts.generated as f64 >= OFFERED_LEAST * offered as f64 {
            return None;
        }
        let share = percent(counts.generated, offered);
        let [generated, offered] = [counts.generated, offered].map(format_count);
        let blocked = percent(counts.blocked_ns, counts.lived_ns);
        Some(Self::behind(format!(
            "{generated} of {offered} measurements that --application-rate offers were generated \
             ({share}): the application waited for a pool {blocked} of the time."
        )))
    }

    /// Returns the finding that more and more measurements wait in the pools at the requested rate;
    /// `None` if they do not.
    fn piles_up(&self, counts: &Counts, pending: u64) -> Option<Finding> {
        let each = counts.handled.checked_div(counts.filled_buffers).unwrap_or(0).max(1);
        let share = pending as f64 / counts.generated.max(1) as f64;
        let is_rate = self.shared.shape.rate_per_s > 0.0;
        if !is_rate || share <= 1.0 - OFFERED_LEAST || pending / each < PILED_LEAST {
            return None;
        }
        let percent = numbers::percent_text(100.0 * share);
        let [pending, generated] = [pending, counts.generated].map(format_count);
        Some(Self::behind(format!(
            "{pending} of {generated} measurements that were generated waited in the pools when \
             the load ended ({percent}): less was stored than --application-rate offers."
        )))
    }

    /// Returns the finding that the requested rate is too high, with what was observed.
    fn behind(observed: String) -> Finding {
        let advice = "The database or the application cannot keep up with this rate: lower it, \
                      add clients or application threads.";
        Finding::with_advice("application_behind", Severity::Warning, observed, advice)
    }

    /// Returns the finding that too few buffers were filled for a precise rate; `None` if there
    /// were enough.
    fn few_buffers(counts: &Counts) -> Option<Finding> {
        let n = counts.filled_buffers;
        (1..BUFFERS_FEW).contains(&n).then(|| {
            let text = format!(
                "Only {} filled, of some {} measurements each, and each is stored as a whole: \
                 rates are known to about one of them. Give less --buffer-bytes, or run longer.",
                if n == 1 { "1 buffer was".to_owned() } else { format!("{n} buffers were") },
                format_count(counts.handled / n)
            );
            Finding::new("few_buffers", Severity::Note, text)
        })
    }

    /// Returns the finding that no measurement was stored, or fewer than the requested number;
    /// `None` if enough were stored.
    fn too_little(&self, counts: &Counts, pending: u64) -> Option<Finding> {
        let warning =
            |id, text, advice| Some(Finding::with_advice(id, Severity::Warning, text, advice));
        if counts.filled_buffers == 0 && counts.generated > counts.dropped {
            let (n, buffer) = (format_count(counts.generated), numbers::bytes(self.buffer_bytes));
            let text = format!(
                "No buffer was filled, so nothing was stored: {n} measurements were generated, and \
                 a buffer has {buffer}."
            );
            let advice = "Give less --buffer-bytes, or run longer.";
            return warning("no_buffer_filled", text, advice);
        }
        let asked = self.shared.shape.n_measurements;
        if asked > 0 && (counts.generated < asked || pending > 0) {
            let (stored, asked) = (format_count(counts.stored), format_count(asked));
            let text = format!("The run ended with {stored} of {asked} measurements stored.");
            return warning("measurements_short", text, "Give a longer --duration.");
        }
        None
    }
}

impl Producer for Arm {
    fn begin(&self) -> Vec<Box<dyn ProducerTask>> {
        self.shared.pools.begin(self.shared.shape.n_threads);
        *self.shared.claim.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let (buffer_bytes, context_bytes) = (self.buffer_bytes, self.shared.shape.context_bytes);
        let agent = Agent { pools: Arc::clone(&self.shared.pools), buffer_bytes, context_bytes };
        let mut tasks: Vec<Box<dyn ProducerTask>> = vec![Box::new(agent)];
        for index in 0..self.shared.shape.n_threads {
            let (shape, pools) = (Arc::clone(&self.shared.shape), Arc::clone(&self.shared.pools));
            tasks.push(Box::new(Application { shape, pools, index }));
        }
        tasks
    }

    fn is_limited(&self) -> bool {
        self.shared.shape.n_measurements > 0
    }

    fn for_clients(&self) -> Arc<Signal> {
        Arc::clone(&self.shared.pools.for_clients)
    }

    fn for_tasks(&self) -> Arc<Signal> {
        Arc::clone(&self.shared.pools.for_tasks)
    }

    fn findings(&self) -> Vec<Finding> {
        let (counts, pending) = self.shared.pools.account();
        let dropped = (counts.dropped > 0).then(|| self.too_many(&counts));
        let slow = self.too_slow(&counts).or_else(|| self.piles_up(&counts, pending));
        let little = self.too_little(&counts, pending);
        [dropped, slow, little, Arm::few_buffers(&counts)].into_iter().flatten().collect()
    }

    fn account(&self) -> Vec<Fact> {
        let (counts, pending) = self.shared.pools.account();
        let begun_ns = counts.begun_ns.unwrap_or(0);
        let elapsed_ns = counts.last_commit_ns.saturating_sub(begun_ns);
        let per = |part: u64, whole: u64| match whole {
            0 => 0,
            _ => u64::try_from(u128::from(part) / u128::from(whole)).unwrap_or(u64::MAX),
        };
        let count = |name: &str, value: u64| Fact::new(NAME, name, value);
        let tenths = |tenths: u64| format!("{}.{}", tenths / 10, tenths % 10);
        let waits = |lacking: Lacking| counts.waits[lacking as usize];
        let blocked = tenths(per(counts.blocked_ns.saturating_mul(1000), counts.lived_ns));
        let elapsed = format!("{}.{:03}", elapsed_ns / NS_PER_S, elapsed_ns % NS_PER_S / 1_000_000);
        let mut facts = vec![
            count("generated", counts.generated),
            count("stored", counts.stored),
            count("dropped", counts.dropped),
            count("pending", pending),
            Fact::new(NAME, model::PRODUCER_ELAPSED_S, elapsed),
            count("stored_per_s", per(counts.stored.saturating_mul(NS_PER_S), elapsed_ns)),
            Fact::new(NAME, "application_blocked_percent", blocked),
            count("waits_for_transactions", waits(Lacking::Transactions)),
            count("waits_for_metrics", waits(Lacking::Metrics)),
            count("waits_for_buffers", waits(Lacking::Buffers)),
        ];
        if counts.application_cpu_ns > 0 {
            let application_ns = per(counts.application_cpu_ns, counts.generated);
            facts.push(count("application_cpu_ns_per_measurement", application_ns));
            let agent_ns = per(counts.agent_cpu_ns, counts.handled);
            facts.push(count("agent_cpu_ns_per_measurement", agent_ns));
            let producer_ns = counts.application_cpu_ns + counts.agent_cpu_ns;
            // If nothing was stored, the load took its time all the same.
            let load_ns = elapsed_ns.max(per(counts.lived_ns, self.shared.shape.n_threads));
            let percent = 100.0 * producer_ns as f64 / load_ns.max(1) as f64;
            let percent = FactValue::percent(percent, 1);
            facts.push(Fact::new(NAME, model::PRODUCER_CPU_PERCENT, percent));
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::measurement::{Head, Status};
    use super::*;

    const HEAD: Head = Head {
        number: 1,
        class: 0,
        status: Status::Good,
        start_ns: 0,
        stop_ns: 0,
        parent: 0,
        has_correlator: false,
        n_metrics: 0,
        n_contexts: 0,
        diagnostic_bytes: 0,
    };

    #[test]
    fn a_run_without_a_number_of_measurements_says_that_there_is_no_limit() {
        let notes = |count: Option<&str>| {
            let given = count.map(|n| (model::PRODUCER_COUNT, n));
            let settings = Settings::decide(NAME, PARAMETERS, given).expect("valid");
            decided(&Make { settings: &settings, seed: 7, data: None, source: None })
                .expect("valid")
                .notes()
        };
        for unlimited in [None, Some("0")] {
            assert!(notes(unlimited)[0].ends_with("no limit (measurements=0)."), "{unlimited:?}");
        }
        assert!(notes(Some("5000"))[0].ends_with("a full buffer."));
    }

    #[test]
    fn where_nothing_is_stored_a_producer_takes_its_share_of_its_own_time() {
        let settings = Settings::decide(NAME, PARAMETERS, []).expect("valid");
        let arm = decided(&Make { settings: &settings, seed: 7, data: None, source: None })
            .expect("valid");
        drop(arm.begin());
        arm.shared.pools.count(|counts| {
            counts.begun_ns = Some(5);
            (counts.application_cpu_ns, counts.lived_ns) = (NS_PER_S / 2, 2 * NS_PER_S);
        });
        let facts = arm.account();
        assert_eq!(arm.findings(), [], "without a rate nothing is offered");
        let percent = facts.iter().find(|fact| fact.name == model::PRODUCER_CPU_PERCENT);
        assert_eq!(percent.and_then(|fact| fact.value.as_percent()), Some(25.0));
    }

    #[test]
    fn an_application_that_falls_behind_its_rate_says_by_how_much() {
        let given = [(model::PRODUCER_RATE, "1k"), ("application_threads", "2")];
        let settings = Settings::decide(NAME, PARAMETERS, given).expect("valid");
        let arm = decided(&Make { settings: &settings, seed: 7, data: None, source: None })
            .expect("valid");
        drop(arm.begin());
        // Two threads that ran for two seconds each.
        arm.shared.pools.count(|counts| {
            (counts.lived_ns, counts.blocked_ns) = (4 * NS_PER_S, 3 * NS_PER_S);
            (counts.generated, counts.filled_buffers) = (1_950, 20);
        });
        assert_eq!(arm.findings(), []);
        arm.shared.pools.count(|counts| counts.generated = 500);
        let findings = arm.findings();
        let [found] = findings.as_slice() else { panic!("{findings:#?}") };
        assert_eq!((&*found.id, found.severity), ("application_behind", Severity::Warning));
        let seen = "500 of 2,000 measurements that --application-rate offers were generated \
                    (25.0 %): the application waited for a pool 75.0 % of the time. ";
        assert!(found.text.starts_with(seen), "{}", found.text);
    }

    #[test]
    fn what_was_dropped_costs_the_agent_nothing_and_is_a_finding_with_its_share() {
        let settings = Settings::decide(NAME, PARAMETERS, []).expect("valid");
        let arm = decided(&Make { settings: &settings, seed: 7, data: None, source: None })
            .expect("valid");
        let pools = &arm.shared.pools;
        drop(arm.begin());
        let mut chunk = pools.reserve(10, 0).expect("there is room");
        chunk.heads = vec![HEAD; 10];
        pools.hand_over(chunk);
        let (chunk, _) = pools.take_chunk();
        pools.release(chunk.expect("it was handed over"));
        pools.count(|counts| {
            (counts.application_cpu_ns, counts.agent_cpu_ns) = (100_000, 400);
            counts.filled_buffers = 20;
        });
        assert_eq!(arm.findings(), []);
        pools.count(|counts| {
            counts.generated += 9_990;
            counts.dropped += 9_990;
        });
        let facts = arm.account();
        let fact = |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value);
        let counted = |name: &str| fact(name).and_then(model::FactValue::count);
        assert_eq!(counted("application_cpu_ns_per_measurement"), Some(10));
        assert_eq!(counted("agent_cpu_ns_per_measurement"), Some(40));
        let findings = arm.findings();
        let [found] = findings.as_slice() else { panic!("{findings:#?}") };
        assert_eq!((&*found.id, found.severity), ("dropped_measurements", Severity::Warning));
        let seen = "9,990 of 10,000 measurements were dropped (99.9 %): a pool was empty. ";
        assert!(found.text.starts_with(seen), "{}", found.text);
    }
}
