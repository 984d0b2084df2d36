//! A simulated database without data, which answers any statement after a random service time.
//!
//! Given the same random draws, dbdyno's samples must equal those that queueing theory computes (by
//! recursion). Without a service time a statement costs nanoseconds, so that dbdyno's own overhead
//! is visible. Rows that are written are discarded.

mod servers;
mod service;
mod session;
#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::{
    Administration, BadParameter, Clock, ColumnType, Connecting, Counter, Counters, Database,
    DbError, DbErrorKind, Dialect, Fact, Monitoring, NS_PER_S, Parameter, ParameterKind, Place,
    Places, Product, Reading, Session, Settings, Statement, Target, Woken,
};

use crate::{CannotOpen, Entry, Opened, Opening};
use servers::{Servers, Stall};
use service::{Failures, draw};
use session::{SimSession, cancelled};

pub use service::{SimService, service_draw_ns};

pub(crate) static ENTRY: Entry = Entry {
    name: "sim",
    schemes: &["sim"],
    summary: "Simulated database that answers after a random service time, for calibration and \
              first steps; --placement simulated runs it in virtual time, which takes a second",
    example: "sim:?servers=4&service=exponential:2ms",
    parameters: PARAMETERS,
    verified: Ok("arithmetic, tested against the queueing recursion"),
    file: |_| None,
    is_over_network: |_| false,
    local_server: None,
    product: &PRODUCT,
    check: |target| Decided::new(&decide(target)?, 0).map(drop),
    open,
};

static PARAMETERS: &[Parameter] = &[
    Parameter::option(
        "servers",
        ParameterKind::Count { min: 0, max: 1_000_000 },
        "1",
        "Statements served at the same time; further ones wait in a queue; 0: no limit",
    ),
    Parameter::option(
        "service",
        ParameterKind::Text,
        "constant:0s",
        "Service time of a statement: constant:2ms, exponential:2ms or list:1ms/2ms/5ms in order",
    ),
    Parameter::option(
        "draws",
        ParameterKind::Choice(&["order", "key"]),
        "order",
        "How a statement is assigned a random draw: by order of arrival, or by its first value",
    ),
    Parameter::option(
        "fail",
        ParameterKind::Text,
        "",
        "Failures by probability, such as 0.01:deadlock/0.001:connection_lost",
    ),
    Parameter::option(
        "stall_at",
        ParameterKind::Duration,
        "0s",
        "Time in the run at which all servers stop",
    ),
    Parameter::option("stall", ParameterKind::Duration, "0s", "Length of this stop"),
    Parameter::option(
        "drift",
        ParameterKind::Number { min: 0.0, max: 1000.0 },
        "0",
        "Percent by which service times grow each time one process opens the target again; \
         simulates a machine that changes during an experiment",
    ),
    Parameter::option(
        "spread",
        ParameterKind::Number { min: 0.0, max: 100.0 },
        "0",
        "Standard deviation, in percent, of service times between openings of the target, drawn \
         from the seed; simulates a server whose starts differ. Both sides of a repeat share \
         its seed, and so this draw: for noise that differs between sides, give each run its own \
         --seed",
    ),
    Parameter::option(
        "slowing",
        ParameterKind::Number { min: 0.0, max: 1000.0 },
        "0",
        "Percent by which service times grow with each minute of the run",
    ),
    Parameter::option("connect", ParameterKind::Duration, "0s", "Time to open a connection"),
    Parameter::option(
        "rows",
        ParameterKind::Count { min: 0, max: 1_000_000 },
        "0",
        "Rows that a read returns",
    ),
    Parameter::option(
        "transaction_control",
        ParameterKind::Choice(&["free", "statement"]),
        "free",
        "Time of BEGIN, COMMIT and ROLLBACK: none (free), or that of a statement",
    ),
];

/// Options of an opened simulated database, and the state that all its sessions share.
struct Decided {
    seed: u64,
    service: SimService,
    /// Factor by which drawn service times are multiplied, from the options `drift` and `spread`.
    slowness: f64,
    /// Growth of service times per minute of the run, as a fraction of those at its start (0.1 for
    /// 10 %), from the option `slowing`.
    slowing: f64,
    failures: Failures,
    by_key: bool,
    stall: Stall,
    /// The simulated servers, which serve one statement each at a time; `None` for an unlimited
    /// number.
    servers: Option<Mutex<Servers>>,
    n_draws: AtomicU64,
    /// Total service time of all statements that have arrived so far, in nanoseconds.
    served_ns: AtomicU64,
    /// Total time, in nanoseconds, that all statements so far have to wait for a server or for the
    /// end of a stall.
    waited_ns: AtomicU64,
    connect_ns: u64,
    n_rows: u64,
    control_is_served: bool,
    /// Whether statements take no time and never fail, so that no lock is taken and no clock read.
    at_once: bool,
}

/// The completion of a simulated statement: its instant, and its error if it fails.
#[derive(Clone, Copy)]
struct Served {
    completion_ns: u64,
    failure: Option<DbErrorKind>,
}

impl Served {
    const AT_ONCE: Served = Served { completion_ns: 0, failure: None };
}

/// Bit that is set in the number of a random draw for a statement without a key, so that it differs
/// from the numbers of draws for statements with a key (option `draws=key`).
const WITHOUT_KEY: u64 = 1 << 63;

impl Decided {
    fn new(settings: &Settings, seed: u64) -> Result<Decided, BadParameter> {
        let service = SimService::parse(settings.text("service"))?;
        let fail = settings.text_given("fail").unwrap_or_default();
        let failures = Failures::parse(fail)?;
        let (at_ns, length_ns) = (settings.duration_ns("stall_at"), settings.duration_ns("stall"));
        let stall = Stall { at_ns, length_ns };
        let no_time = service == SimService::Constant(0) && length_ns == 0;
        let servers = match settings.count("servers") {
            0 => None,
            count => Some(Mutex::new(Servers::new(count as usize, stall))),
        };
        Ok(Decided {
            seed,
            at_once: no_time && failures.is_empty(),
            service,
            slowness: (1.0 + settings.number("drift") / 100.0 * drifted(settings))
                * spread(seed, settings.number("spread") / 100.0),
            slowing: settings.number("slowing") / 100.0,
            failures,
            by_key: settings.text("draws") == "key",
            stall,
            servers,
            n_draws: AtomicU64::new(0),
            served_ns: AtomicU64::new(0),
            waited_ns: AtomicU64::new(0),
            connect_ns: settings.duration_ns("connect"),
            n_rows: settings.count("rows"),
            control_is_served: settings.text("transaction_control") == "statement",
        })
    }

    /// Draws the service time and the error of a statement that arrives now, and returns its
    /// completion. With the option `draws=key`, `key` selects the random draw.
    fn serve(&self, clock: &dyn Clock, key: Option<i64>) -> Served {
        if self.at_once {
            return Served::AT_ONCE;
        }
        let Some(servers) = &self.servers else {
            let now_ns = clock.now();
            let (service_ns, failure) = self.draw(key, now_ns);
            let completion_ns = self.stall.completion_ns(now_ns, service_ns);
            self.count(completion_ns - now_ns, service_ns);
            return Served { completion_ns, failure };
        };
        // The order of the lock is the order of arrival: time and draw are taken within it.
        let mut servers = servers.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ns = clock.now();
        let (service_ns, failure) = self.draw(key, now_ns);
        let completion_ns = servers.completion_ns(now_ns, service_ns);
        drop(servers);
        self.count(completion_ns - now_ns, service_ns);
        Served { completion_ns, failure }
    }

    /// Adds a statement's times to the totals: `here_ns` is the time from arrival to completion,
    /// `service_ns` the part of it that is service.
    fn count(&self, here_ns: u64, service_ns: u64) {
        self.served_ns.fetch_add(service_ns, Ordering::Relaxed);
        self.waited_ns.fetch_add(here_ns.saturating_sub(service_ns), Ordering::Relaxed);
    }

    fn draw(&self, key: Option<i64>, now_ns: u64) -> (u64, Option<DbErrorKind>) {
        let minutes = now_ns as f64 / (60 * NS_PER_S) as f64;
        let slowness = self.slowness * (1.0 + self.slowing * minutes);
        let slower = |service_ns: u64| match slowness == 1.0 {
            true => service_ns,
            false => (service_ns as f64 * slowness) as u64,
        };
        if let (SimService::Constant(service_ns), true) = (&self.service, self.failures.is_empty())
        {
            return (slower(*service_ns), None);
        }
        let n = match key {
            Some(key) if self.by_key => key as u64,
            _ if self.by_key => WITHOUT_KEY | self.n_draws.fetch_add(1, Ordering::Relaxed),
            _ => self.n_draws.fetch_add(1, Ordering::Relaxed),
        };
        let (service_ns, failure) = draw(self.seed, &self.service, &self.failures, n);
        (slower(service_ns), failure)
    }
}

/// Number of simulated databases with the option `drift` that this process has opened so far.
static OPENINGS: AtomicU64 = AtomicU64::new(0);

fn drifted(settings: &Settings) -> f64 {
    match settings.number("drift") > 0.0 {
        true => OPENINGS.fetch_add(1, Ordering::Relaxed) as f64,
        false => 0.0,
    }
}

/// Returns a random lognormal factor with mean 1 and a standard deviation of about `sd`, which
/// depends only on the seed.
fn spread(seed: u64, sd: f64) -> f64 {
    let mut rng = model::Rng::new(seed, model::Stream::Sim, u64::MAX);
    // The sum of twelve uniform draws minus six is close to normal.
    let normal: f64 = (0..12).map(|_| stats::unit(rng.bits())).sum::<f64>() - 6.0;
    (sd * normal - sd * sd / 2.0).exp()
}

struct Sim {
    decided: Arc<Decided>,
    settings: Settings,
}

static PRODUCT: Product = Product {
    dialect: Dialect { name: "sim", type_name: ColumnType::standard_name, ..Dialect::PLAIN },
    administration: Administration {
        keeps_data: false,
        is_in_process: true,
        parallel_load: true,
        ..Administration::PLAIN
    },
    monitoring: Monitoring {
        counters: Some(Counters {
            ask: |_| Vec::new(),
            chosen: STATES,
            reading: |_| (Reading::Total, ""),
        }),
        ..Monitoring::NONE
    },
};

/// Counters of the total time, in seconds, that statements have spent in each state. The growth per
/// second is the mean number of statements in that state, without sampling.
const STATES: &[Counter] = &[
    Counter {
        name: "sessions/executing",
        reading: Reading::Total,
        unit: "",
        help: "Statements that are served.",
    },
    Counter {
        name: "sessions/other",
        reading: Reading::Total,
        unit: "",
        help: "Statements that wait for a server, or for the end of a stall.",
    },
];

/// Parses the options of a target for the simulated database. Fails if the target also has a path,
/// a host or a user.
fn decide(target: &Target) -> Result<Settings, BadParameter> {
    if !target.path.is_empty() || !target.hosts.is_empty() || target.user.is_some() {
        let words = "sim has no path and no host: write sim: or sim:?service=exponential:2ms";
        return Err(BadParameter::new(words));
    }
    let written = target.options.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Settings::decide("sim", PARAMETERS, written)
}

fn open(target: &Target, opening: Opening) -> Opened {
    let settings = decide(target).map_err(CannotOpen::Bad)?;
    let decided = Decided::new(&settings, opening.seed).map_err(CannotOpen::Bad)?;
    Ok(Arc::new(Sim { decided: Arc::new(decided), settings }))
}

impl Database for Sim {
    fn product(&self) -> &Product {
        &PRODUCT
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn refuses_processes(&self) -> Option<&'static str> {
        let is_divisible = self.decided.servers.is_none() && self.decided.by_key;
        let why = "the servers of one sim, and its draws in order, are those of one process: take \
                   sim:?servers=0&draws=key, or leave it out";
        (!is_divisible).then_some(why)
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        Box::pin(async move {
            let decided = Arc::clone(&self.decided);
            // Sessions that build, check or query have no statements, and run in real time even if
            // the load runs in virtual time.
            if decided.connect_ns > 0 && !statements.is_empty() {
                let clock = &place.clock;
                let instant_ns = clock.now() + decided.connect_ns;
                let woken = poll_fn(|context| clock.poll_through(instant_ns, context)).await;
                if woken == Woken::Stopped {
                    return Err(cancelled());
                }
            }
            let session = SimSession::new(decided, place.clock, statements);
            Ok(Box::new(session) as Box<dyn Session>)
        })
    }

    fn counted(&self) -> Vec<(&'static str, f64)> {
        let seconds = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / NS_PER_S as f64;
        let all = [&self.decided.served_ns, &self.decided.waited_ns].map(seconds);
        STATES.iter().map(|state| state.name).zip(all).collect()
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        let mut facts = vec![
            Fact::new("database", "product", "sim"),
            Fact::new("database", "version", env!("CARGO_PKG_VERSION")),
            Fact::new("database", "seed", self.decided.seed),
        ];
        let settings = self.settings.written();
        facts.extend(settings.map(|(name, text)| Fact::new("database", name, text)));
        Ok(facts)
    }
}
