//! Made-up runs for tests: the events of a run as the engine would send them, made from a few
//! numbers.

pub mod subjects;

use model::{
    Arrivals, CheckResult, ClientMoments, CustomMetricDescription, CustomMetricKind,
    CustomMetricSecond, DbErrorKind, Description, ErrorCount, Event, Fact, Gauge, GroupDescription,
    KindDescription, KindIndex, Load, NS_PER_MS, NS_PER_S, NS_PER_US, Phase, Phases, Placement,
    PrimaryMetricDescription, QueueAtEnd, QueueFull, Readings, RunId, Second, StopCondition,
    StopReason, Traffic,
};
use stats::Histogram;

/// A made-up run that can be changed before it is reported.
pub struct Made {
    pub description: Description,
    /// Figures of seconds of the run; a second may be in several parts, in the order of events.
    pub seconds: Vec<Second>,
    /// Length of the measured phase, in nanoseconds.
    pub measured_ns: u64,
    /// Reason why the run ended; `None` for a run in progress.
    pub reason: Option<StopReason>,
    /// Number of clients that could not connect.
    pub connect_failed: u32,
    /// Counts and response times of each client and transaction type.
    pub moments: Vec<ClientMoments>,
    /// Results of the consistency checks before the load; `None` if they were not made.
    pub before: Option<Vec<CheckResult>>,
    /// Results of the consistency checks after the load; `None` if they were not made.
    pub after: Option<Vec<CheckResult>>,
    /// Further events of the made-up run, which come last.
    pub more: Vec<Event>,
}

const KINDS: [(&str, u64, u64); 5] = [
    ("new_order", 45, 6),
    ("payment", 43, 3),
    ("order_status", 4, 1),
    ("delivery", 4, 14),
    ("stock_level", 4, 2),
];

impl Made {
    /// Creates a plain run: TPC-C on SQLite with 8 clients in closed load for a minute, and a dip
    /// at second 42.
    pub fn closed() -> Made {
        let mut made = Made::bare();
        let mut draw = Draw(1);
        for second in -5..60 {
            let n = match second {
                -5..=-3 => 300,
                42 => 310,
                _ => 440 + draw.next(35),
            };
            made.seconds.push(closed_second(&mut draw, second, n));
        }
        made
    }

    /// Creates the run of [`Made::closed`] without figures of its seconds.
    pub fn bare() -> Made {
        Made::new(Load::Closed)
    }

    /// Creates an overloaded run in open load: of 500 arrivals per second, 400 can be processed.
    /// The queue fills, and arrivals are dropped.
    pub fn open_overloaded() -> Made {
        let mut made = Made::new(Load::Open {
            arrivals: Arrivals::Poisson,
            rate: model::ArrivalRate::Constant(500.0),
            queue: 1000,
            queue_full: QueueFull::Drop,
            queue_wait_ns: None,
            queue_at_end: QueueAtEnd::Serve,
        });
        let mut draw = Draw(2);
        made.description.name = "too-fast".to_owned();
        made.description.target = "mariadb://bench@db7.example/bench".to_owned();
        made.description.database = "MariaDB 11.8.2".to_owned();
        made.description.modes = vec!["innodb_flush_log_at_trx_commit=1".to_owned()];
        made.description.groups[0].clients = 6;
        for second in -5..60 {
            // The queue grows by 100 per second, and is full after ten seconds.
            let waited = u64::try_from(second + 5).unwrap_or(0).min(10);
            made.seconds.push(open_second(&mut draw, second, waited * 250));
        }
        made.seconds[4].kind(0).carried = 250;
        let last = made.seconds.last_mut().expect("there are seconds");
        let late = last.kind(0);
        late.counts.committed -= 150;
        late.counts.unfinished += 150;
        late.carried += 150;
        let mut kept = Histogram::default();
        let response = late.response.as_ref().expect("it has response times");
        (151..=response.count()).for_each(|rank| {
            kept.record(response.value_at_rank(rank).expect("a rank within the count"));
        });
        late.response = Some(kept);
        let mut ages = Histogram::default();
        (0..150).for_each(|i| ages.record((1_000 + i) * NS_PER_MS));
        late.unfinished = Some(ages);
        let finished = late.counts.finished();
        for times in [&mut late.service, &mut late.wait].into_iter().flatten() {
            let value = times.max();
            times.clear();
            times.record_n(value, finished);
        }
        made
    }

    /// Creates the run of [`Made::closed`], interrupted by the user after 7.4 s.
    pub fn interrupted() -> Made {
        let mut made = Made::closed();
        made.measured_ns = 7_400 * NS_PER_MS;
        made.reason = Some(StopReason::Interrupted);
        made.seconds.retain(|second| second.second < 7);
        let mut last = closed_second(&mut Draw(3), 7, 188);
        last.commits_tenths = [47, 47, 47, 47, 0, 0, 0, 0, 0, 0];
        made.seconds.push(last);
        made.after = None;
        made.more.clear();
        made
    }

    /// Creates the run of [`Made::closed`] as it is 23.4 s after its start, still in progress.
    pub fn running() -> Made {
        let mut made = Made::closed();
        made.reason = None;
        made.seconds.retain(|second| second.second < 23);
        made.after = None;
        made.more.clear();
        made
    }

    fn new(load: Load) -> Made {
        let crosscheck = Event::Crosschecked {
            group: 0,
            kind: 0,
            change: 13_000,
            committed: 13_000,
            unknown: 0,
        };
        Made {
            description: description(load),
            seconds: Vec::new(),
            measured_ns: 60 * NS_PER_S,
            reason: Some(StopReason::Completed),
            connect_failed: 0,
            moments: (0..8).map(moments).collect(),
            before: Some(vec![check("3.3.2.1", 0), check("3.3.2.2", 0)]),
            after: Some(vec![check("3.3.2.1", 0), check("3.3.2.2", 0)]),
            more: vec![crosscheck],
        }
    }

    /// Returns the sums of a transaction type in the first measured second, so that a test can
    /// change them.
    pub fn kind(&mut self, kind: KindIndex) -> &mut model::KindSecond {
        let second = self.seconds.iter_mut().find(|second| second.second == 0);
        second.expect("a measured second").kind(kind)
    }

    /// Adds a disturbance that drops a table. Times are in milliseconds of the measured phase.
    pub fn disturbance(&mut self, began_ms: i64, ended_ms: Option<i64>, outcome: model::Disturbed) {
        self.more.push(Event::Disturbance(model::DisturbanceEvent {
            index: 0,
            nth: 0,
            name: "drop".to_owned(),
            what: "DROP TABLE big".to_owned(),
            began_ns: began_ms * NS_PER_MS as i64,
            ended_ns: ended_ms.map(|ms| ms * NS_PER_MS as i64),
            outcome,
            output: String::new(),
        }));
    }

    /// Adds gauges, by subject and name. `value` gives the value of a gauge, by its index, in each
    /// second of a minute; if it is not finite, the reading is missing.
    pub fn gauges(&mut self, names: &[(&str, &str)], value: &dyn Fn(i64, usize) -> f64) {
        let gauge = |(about, name): &(&str, &str)| Gauge {
            about: (*about).to_owned(),
            name: (*name).to_owned(),
            unit: String::new(),
            help: String::new(),
        };
        self.more.push(Event::Gauges { gauges: names.iter().map(gauge).collect() });
        for second in 0..60 {
            let values = (0..names.len()).map(|at| (at as u16, value(second, at)));
            let values = values.filter(|(_, value)| value.is_finite()).collect();
            self.more.push(Event::Readings(Readings { second, values }));
        }
    }

    pub fn fact(&mut self, about: &str, name: &str, value: &str) {
        self.more.push(Event::Fact(Fact::new(about, name, value)));
    }

    /// Returns the events of the run, in order.
    pub fn events(&self) -> Vec<Event> {
        let mut events = self.events_before();
        events.extend(self.seconds.iter().cloned().map(Event::Second));
        events.extend(self.events_after());
        events
    }

    /// Returns the tally of the run, without a copy of its seconds, which are large.
    pub fn tally(&self) -> crate::Tally {
        let mut tally = crate::Tally::new();
        self.events_before().iter().for_each(|event| tally.add(event));
        self.seconds.iter().for_each(|second| tally.add_second(second));
        self.events_after().iter().for_each(|event| tally.add(event));
        tally
    }

    /// Returns the events of the made-up run before its first second, such as its description.
    fn events_before(&self) -> Vec<Event> {
        let mut times = Histogram::default();
        (1..=8).for_each(|i| times.record(i * 210 * NS_PER_US));
        let mut events = vec![
            Event::Begun {
                run: RunId("019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d".to_owned()),
                plan: "name = \"quick\"\nseed = 7\n".to_owned(),
                description: Box::new(self.description.clone()),
            },
            Event::Fact(Fact::new("build", "profile", "release")),
            Event::Fact(Fact::new("cpu", "model", "Made-Up 9000")),
            // Clients connect before the beginning of the measured phase is known.
            Event::Phase { phase: Phase::Connect, at_ns: 1 },
            Event::Connected {
                group: 0,
                connected: self.description.groups[0].clients - self.connect_failed,
                failed: self.connect_failed,
                times: Some(times),
            },
            Event::Phase { phase: Phase::RampUp, at_ns: -5 * NS_PER_S as i64 },
            Event::Phase { phase: Phase::Measure, at_ns: 0 },
        ];
        let before = self.before.iter().cloned();
        events.extend(before.map(|results| Event::Checked { after: false, results }));
        events
    }

    /// Returns the events of the made-up run after its last second, such as its end.
    fn events_after(&self) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(reason) = &self.reason {
            events.push(Event::Clients { group: 0, moments: self.moments.clone() });
            events.push(Event::Ended {
                reason: reason.clone(),
                measured_ns: self.measured_ns,
                elapsed_ns: self.measured_ns + 5_120 * NS_PER_MS,
                cpu_ns: 41_300 * NS_PER_MS,
                max_rss_bytes: 34 << 20,
            });
        }
        let after = self.after.iter().cloned();
        events.extend(after.map(|results| Event::Checked { after: true, results }));
        events.extend(self.more.iter().cloned());
        events
    }
}

/// A pseudo-random sequence of numbers, always the same for a seed (SplitMix64).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn next(&mut self, below: u64) -> u64 {
        self.bits() % below
    }

    fn service_ns(&mut self, kind: KindIndex) -> u64 {
        let mean_ns = KINDS[usize::from(kind)].2 * 4 * NS_PER_MS;
        mean_ns / 3 + stats::exponential_ns(self.bits(), mean_ns as f64 * 2.0 / 3.0)
    }

    fn kind(&mut self) -> KindIndex {
        let mut place = self.next(100);
        let is_it = |(_, weight, _): &(&str, u64, u64)| {
            let is_here = place < *weight;
            place = place.wrapping_sub(*weight);
            is_here
        };
        let found = KINDS.iter().position(is_it).expect("weights add up to 100");
        KindIndex::try_from(found).expect("five kinds")
    }
}

fn closed_second(draw: &mut Draw, index: i64, n: u64) -> Second {
    let mut second = Second::new(0, index);
    for i in 0..n {
        let kind = draw.kind();
        let response_ns = draw.service_ns(kind);
        let rolled_back = kind == 0 && draw.next(100) == 0;
        let part = second.kind(kind);
        part.counts.retried += u64::from(i % 97 == 0);
        part.ended += 1;
        part.traffic += TRAFFIC;
        part.response.get_or_insert_default().record(response_ns);
        if rolled_back {
            part.counts.rolled_back += 1;
        } else {
            part.counts.committed += 1;
            part.commits += 1;
            second.commits_tenths[(i * 10 / n) as usize] += 1;
        }
    }
    if index == 17 {
        let part = second.kind(1);
        part.counts.failed += 2;
        part.failures.get_or_insert_default().record_n(5 * NS_PER_S, 2);
    }
    second.kind(3).carried += 8 * u64::from(index == -1);
    if index.rem_euclid(10) == 0 {
        second.lag = Some(lag());
    }
    second.errors = errors(index);
    second.custom_metrics.push(delivered(n));
    second
}

fn open_second(draw: &mut Draw, index: i64, wait_ms: u64) -> Second {
    let mut second = Second::new(0, index);
    for i in 0..500 {
        let kind = draw.kind();
        let service_ns = draw.service_ns(kind);
        let part = second.kind(kind);
        if wait_ms == 2_500 && i % 5 == 0 {
            part.counts.dropped += 1;
            continue;
        }
        let wait_ns = wait_ms * NS_PER_MS + i * NS_PER_US * wait_ms / 10;
        part.counts.committed += 1;
        part.ended += 1;
        part.traffic += TRAFFIC;
        part.response.get_or_insert_default().record(wait_ns + 20_000 + service_ns);
        if i % 5 > 0 {
            part.commits += 1;
            second.commits_tenths[(i / 50) as usize] += 1;
        }
    }
    if index.rem_euclid(10) == 0 || index == -5 {
        // The times of a window arrive together: as many as finish in it.
        second.lag = Some(lag());
    }
    for kind in &mut second.kinds {
        let finished = kind.counts.finished();
        kind.service.get_or_insert_default().record_n(draw.service_ns(kind.kind), finished);
        kind.wait.get_or_insert_default().record_n(wait_ms * NS_PER_MS, finished);
    }
    // Little's law, for the 400 transactions per second that finish.
    second.waiting = Some(wait_ms * 400 / 1000);
    second
}

/// Creates a plain second of group 0 with `n` commits of one type, which take 10 ms each.
pub fn second(index: i64, n: u64) -> Second {
    let mut second = Second::new(0, index);
    let part = second.kind(0);
    part.counts.committed = n;
    part.commits = n;
    part.response.get_or_insert_default().record_n(10 * NS_PER_MS, n);
    let tenth = u32::try_from(n / 10).expect("a small number");
    second.commits_tenths = [tenth; 10];
    second
}

fn lag() -> Histogram {
    let mut lag = Histogram::default();
    (1..=1000).for_each(|i| lag.record(i * 60));
    lag
}

fn errors(second: i64) -> Vec<ErrorCount> {
    if second % 20 != 17 {
        return Vec::new();
    }
    let message = "database is locked".to_owned();
    vec![ErrorCount {
        ignored: 0,
        kind: DbErrorKind::Busy,
        code: 5,
        sqlstate: String::new(),
        message,
        count: 5,
    }]
}

fn delivered(n: u64) -> CustomMetricSecond {
    let mut histogram = Histogram::default();
    histogram.record_n(10, n);
    CustomMetricSecond { metric: 0, count: n, sum: 10 * n, histogram: Some(histogram) }
}

const TRAFFIC: Traffic = Traffic {
    reads: 12,
    writes: 11,
    others: 2,
    round_trips: 25,
    bytes_out: 2_100,
    bytes_in: 3_900,
    rows: 30,
    refused: 0,
};

fn moments(client: u32) -> ClientMoments {
    let mut times = stats::CoarseHistogram::default();
    (1..=4).for_each(|ms| times.record(ms * NS_PER_MS));
    ClientMoments {
        client,
        kind: 0,
        count: 4,
        failed: 1,
        min_ns: NS_PER_MS,
        max_ns: 4 * NS_PER_MS,
        sum_ns: 10 * NS_PER_MS,
        sum_sq_ns2: 30.0 * 1e12,
        times: times.counts(),
    }
}

/// Creates the result of a consistency check that found `n_failed` wrong rows.
pub fn check(id: &str, n_failed: u64) -> CheckResult {
    let examples = if n_failed > 0 { vec!["w_id=1, w_ytd=300000".to_owned()] } else { Vec::new() };
    CheckResult {
        id: id.to_owned(),
        title: "a warehouse's year to date is the sum of its districts'".to_owned(),
        n_failed,
        examples,
    }
}

fn description(load: Load) -> Description {
    let primary = |name: &str, kinds: Vec<KindIndex>| PrimaryMetricDescription {
        name: name.to_owned(),
        title: name.to_uppercase(),
        kinds,
        metric: None,
        per_ns: 60 * NS_PER_S,
        is_computed: false,
        better: None,
    };
    let kind = |(name, weight, _): &(&str, u64, u64)| KindDescription {
        name: (*name).to_owned(),
        weight: *weight,
    };
    let declared = "Derived from TPC-C; not a TPC result, and not comparable with one.";
    Description {
        name: "quick".to_owned(),
        seed: 7,
        target: "sqlite:/tmp/tpcc.sqlite".to_owned(),
        database: "SQLite 3.54.1".to_owned(),
        modes: vec!["journal=wal".to_owned(), "synchronous=full".to_owned()],
        placement: Placement::Thread,
        phases: Phases {
            ramp_up_ns: 5 * NS_PER_S,
            measure_ns: 60 * NS_PER_S,
            drain_ns: 10 * NS_PER_S,
        },
        groups: vec![GroupDescription {
            target: None,
            name: "users".to_owned(),
            workload: "tpcc".to_owned(),
            clients: 8,
            processes: 0,
            load,
            stop_condition: StopCondition::Time,
            source: None,
            parameters: vec![("warehouses".to_owned(), "4".to_owned())],
            kinds: KINDS.iter().map(kind).collect(),
            primary_metrics: vec![primary("nopm", vec![0]), primary("tpm", vec![0, 1, 2, 3, 4])],
            custom_metrics: vec![CustomMetricDescription {
                name: "lines".to_owned(),
                unit: "rows".to_owned(),
                kind: CustomMetricKind::Histogram,
                better: None,
            }],
            notes: vec![declared.to_owned()],
            closed_form: None,
            standard: None,
            hot_rows: None,
            sequence: None,
        }],
        dbdyno: "0.1.0".to_owned(),
        started_unix_ms: 1_772_000_000_000,
        trial: None,
        interval_seconds: model::INTERVAL_SECONDS,
        window_seconds: 10,
    }
}
