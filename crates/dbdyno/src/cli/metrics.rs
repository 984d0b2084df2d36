//! `--metrics-listen`: serves figures of the current run as OpenMetrics text, for Prometheus and
//! similar readers. They are read-only, and have no secrets, since the target is shown without its
//! password.
//!
//! A measuring thread never waits for a reader: figures are copied from the tally once a second,
//! and a separate thread formats them on request. Not here: finished runs (store).

use std::collections::BTreeMap;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use analysis::tally::{GroupTally, Tally};
use app::{Error, Stop};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use axum::response::IntoResponse;
use axum::routing::get;
use clap::{Arg, ArgMatches};
use model::{Counts, Event, KindSecond, NS_PER_S, NS_PER_US, Phase};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::asked_host::asked_host;
use crate::shell::Shell;

/// Content type of OpenMetrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the buckets of response times, in microseconds: three per decade, from a cache
/// hit to a very slow reply.
const BUCKETS_US: [u64; 20] = [
    50,
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
];

const PHASES: [(Phase, &str); 4] = [
    (Phase::Connect, "connect"),
    (Phase::RampUp, "ramp_up"),
    (Phase::Measure, "measure"),
    (Phase::Drain, "drain"),
];

/// Interval of checks for Ctrl-C while metrics are still served after the end.
const LOOK: Duration = Duration::from_millis(100);

/// Creates the flags `--metrics-listen` and `--metrics-linger`.
pub(super) fn flags() -> [Arg; 2] {
    let listen = Arg::new("metrics_listen").long("metrics-listen").value_name("ADDRESS:PORT").help(
        "Serve metrics to Prometheus during the run, at http://ADDRESS:PORT/metrics (such as \
         127.0.0.1:9187)",
    );
    let linger = Arg::new("metrics_linger")
        .long("metrics-linger")
        .value_name("DURATION")
        .requires("metrics_listen")
        .help(
            "Keep serving the last metrics for this long after the end, so that they are scraped: \
             at least Prometheus' scrape interval, such as 15s [default: 0s]",
        );
    [listen, linger]
}

/// Metrics of a run for Prometheus: copies the figures from the results so far (the tally), and
/// serves them by HTTP.
pub(crate) struct Metrics {
    shared: Arc<Mutex<Snapshot>>,
    /// Second of the newest event from which the figures were copied, counted from the start of the
    /// measured phase. Further events of the same second do not cause another copy.
    taken: Option<i64>,
    /// Time for which the last figures are still served after the end of the run
    /// (`--metrics-linger`).
    linger: Duration,
}

impl Metrics {
    /// Listens at the address of `--metrics-listen`, prints it, and starts the thread that serves
    /// metrics. `None` without the flag.
    pub(super) fn begin(matches: &ArgMatches, shell: &Shell) -> Result<Option<Metrics>, Error> {
        let Some(written) = matches.get_one::<String>("metrics_listen") else { return Ok(None) };
        let address: SocketAddr = written.parse().map_err(|_| {
            Error::Usage(format!(
                "--metrics-listen: '{written}' is not an address and port: write 127.0.0.1:9187"
            ))
        })?;
        let linger = match matches.get_one::<String>("metrics_linger") {
            Some(text) => model::parse_duration(text)
                .map_err(|bad| Error::Usage(format!("--metrics-linger: {bad}")))?,
            None => 0,
        };
        let listened = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        });
        let (address, listener) = listened.map_err(|error| {
            Error::Failed(format!("--metrics-listen: cannot listen at {address}: {error}"))
        })?;
        shell.say(&format!("metrics are at http://{address}/metrics"));
        if !address.ip().is_loopback() {
            shell.say(
                "anybody who can reach that address can read them; they contain no \
                       passwords",
            );
        }
        let shared = Arc::new(Mutex::new(Snapshot::default()));
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Figures(Arc::clone(&shared))));
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        let is_loopback = address.ip().is_loopback();
        let heard = shell.clone();
        let begun = thread.spawn(move || serve(listener, is_loopback, Arc::new(registry), &heard));
        begun.map_err(|error| Error::Failed(format!("no thread for the metrics: {error}")))?;
        Ok(Some(Metrics { shared, taken: None, linger: Duration::from_nanos(linger) }))
    }

    /// Waits as long as `--metrics-linger` says, so that the last figures of a run can be scraped;
    /// ends early after a stop.
    pub(super) fn linger(&self, stop: &Stop, shell: &Shell) {
        if self.linger.is_zero() || stop.is_asked() {
            return;
        }
        shell.say(&format!(
            "metrics are served for {} s more (Ctrl-C ends it)",
            self.linger.as_secs_f64()
        ));
        let (_nobody, nothing) = mpsc::channel::<()>();
        let mut left = self.linger;
        while !left.is_zero() && !stop.is_asked() {
            let step = left.min(LOOK);
            // Only a timer: there is no sender.
            let _ = nothing.recv_timeout(step);
            left -= step;
        }
    }

    pub(super) fn event(&mut self, event: &Event, tally: &Tally) {
        let is_new = match event {
            Event::Second(part) => self.taken != Some(part.second),
            Event::Begun { .. } | Event::Phase { .. } | Event::Ended { .. } => true,
            _ => false,
        };
        if let Event::Second(part) = event {
            self.taken = Some(part.second);
        }
        if is_new {
            let snapshot = Snapshot::from_tally(tally);
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
        }
    }
}

/// Answers scrapes of Prometheus on the calling thread until the process ends. If the listener is
/// on loopback (`is_loopback`), requests must name a host of loopback.
fn serve(listener: TcpListener, is_loopback: bool, registry: Arc<Registry>, shell: &Shell) {
    let metrics = move |uri: Uri, headers: HeaderMap| {
        let registry = Arc::clone(&registry);
        async move {
            // Another site's name that points here would give its pages access.
            if let Err(refused) = asked_host(&uri, &headers, is_loopback) {
                return refused.into_response();
            }
            let mut page = String::new();
            // Writing to a String fails only for an invalid metric.
            let _ = text::encode(&mut page, &registry);
            ([(CONTENT_TYPE, OPEN_METRICS)], page).into_response()
        }
    };
    let app = Router::new().route("/metrics", get(metrics));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, app).await
        })
    });
    if let Err(error) = served {
        shell.say(&format!("dbdyno: metrics are no longer served: {error}"));
    }
}

/// Names and values of the labels of a metric.
type Labels = Vec<(&'static str, String)>;

/// Copy of a run's figures, from which scrapes of Prometheus are answered.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    run: Labels,
    phase: Option<Phase>,
    seconds: f64,
    /// Number of transactions offered in the last complete second, and of commits that finished in
    /// it; `None` before the first complete second.
    last: Option<(u64, u64)>,
    /// Transactions that waited for a client at the end of the last complete second, for each group
    /// with open load.
    waiting: Vec<(Labels, u64)>,
    kinds: Vec<KindFigures>,
    gauges: Vec<(Labels, f64)>,
}

/// Metrics of one transaction type in a group and phase of a run.
#[derive(Clone, Debug)]
struct KindFigures {
    labels: Labels,
    counts: Counts,
    sum_s: f64,
    count: u64,
    /// Buckets of response times: upper bound in seconds, and number of values in this bucket
    /// alone.
    buckets: Vec<(f64, u64)>,
}

impl Snapshot {
    fn from_tally(tally: &Tally) -> Snapshot {
        let mut kinds = Vec::new();
        for (index, group) in tally.groups.iter().enumerate() {
            for (phase, second) in [("ramp_up", &group.ramp_up), ("measure", &group.measured)] {
                for kind in &second.kinds {
                    kinds.push(KindFigures::from_tally(tally, index, phase, kind));
                }
            }
        }
        let newest = tally.newest();
        let last = newest.and_then(|newest| tally.shown_second((newest + 1) * NS_PER_S as i64));
        let waiting = last.map_or_else(Vec::new, |second| waiting(tally, second));
        let last = last.map(|second| tally.second(second));
        Snapshot {
            run: run_labels(tally),
            phase: tally.phases.last().map(|(phase, _)| *phase),
            seconds: tally.measured_ns() as f64 / NS_PER_S as f64,
            last: last.map(|second| (second.counts.offered(), second.commits)),
            waiting,
            kinds,
            gauges: gauges(tally),
        }
    }
}

/// Returns the numbers of transactions that waited at the end of a second, for each group with open
/// load.
fn waiting(tally: &Tally, second: i64) -> Vec<(Labels, u64)> {
    let queue = |(index, group): (usize, &GroupTally)| {
        let waiting = group.series.get(second)?.waiting?;
        Some((vec![("group", tally.name_of(index))], waiting))
    };
    tally.groups.iter().enumerate().filter_map(queue).collect()
}

fn run_labels(tally: &Tally) -> Labels {
    let Some(described) = tally.description.as_deref() else { return Vec::new() };
    let clients: u32 = described.groups.iter().map(|group| group.clients).sum();
    vec![
        ("run_id", tally.run.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("name", described.name.clone()),
        ("workload", described.workloads().join("+")),
        ("target", described.target.clone()),
        ("database", described.database.clone()),
        ("clients", clients.to_string()),
        ("placement", described.placement.name().to_owned()),
        ("dbdyno", described.dbdyno.clone()),
    ]
}

/// Returns the newest value of each gauge, from the last two seconds, because each source reports
/// its seconds at slightly different times.
fn gauges(tally: &Tally) -> Vec<(Labels, f64)> {
    let Some(last) = tally.readings.last() else { return Vec::new() };
    let mut values = BTreeMap::new();
    let recent = tally.readings.iter().rev().take_while(|one| one.second + 1 >= last.second);
    for (place, value) in recent.flat_map(|one| &one.values) {
        values.entry(*place).or_insert(*value);
    }
    let described = |(place, value): (u16, f64)| {
        let gauge = tally.gauges.get(usize::from(place))?;
        let labels = vec![
            ("about", gauge.about.clone()),
            ("name", gauge.name.clone()),
            ("unit", gauge.unit.clone()),
        ];
        Some((labels, value))
    };
    values.into_iter().filter_map(described).collect()
}

impl KindFigures {
    fn from_tally(tally: &Tally, group: usize, phase: &str, totals: &KindSecond) -> KindFigures {
        let described = tally.description(group);
        let kind = described.and_then(|described| described.kinds.get(usize::from(totals.kind)));
        let labels = vec![
            ("group", tally.name_of(group)),
            (
                "kind",
                kind.map_or_else(|| format!("kind_{}", totals.kind), |kind| kind.name.clone()),
            ),
            ("phase", phase.to_owned()),
        ];
        let mut buckets: Vec<(f64, u64)> =
            BUCKETS_US.iter().map(|us| (*us as f64 / 1e6, 0)).collect();
        buckets.push((f64::INFINITY, 0));
        let (mut sum_s, mut count, mut place) = (0.0, 0, 0);
        if let Some(response) = &totals.response {
            (sum_s, count) = (response.sum() as f64 / NS_PER_S as f64, response.count());
            for (value_ns, n) in response.recorded() {
                while BUCKETS_US.get(place).is_some_and(|us| us * NS_PER_US < value_ns) {
                    place += 1;
                }
                buckets[place].1 += n;
            }
        }
        KindFigures { labels, counts: totals.counts, sum_s, count, buckets }
    }
}

/// Source of the figures for the Prometheus client library, which encodes them again at each
/// scrape.
#[derive(Debug)]
struct Figures(Arc<Mutex<Snapshot>>);

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let snapshot = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let run = "The run, described by the labels";
        if !snapshot.run.is_empty() {
            let mut info = encoder.encode_descriptor("dbdyno_run", run, None, MetricType::Info)?;
            info.encode_info(&snapshot.run)?;
        }
        let help = "1 for the current phase of the run";
        let mut phases =
            encoder.encode_descriptor("dbdyno_phase", help, None, MetricType::Gauge)?;
        for (phase, name) in PHASES {
            let is_it = i64::from(snapshot.phase == Some(phase));
            let labels = vec![("phase", name.to_owned())];
            phases.encode_family(&labels)?.encode_gauge(&is_it)?;
        }
        let help = "Measured time so far";
        gauge(&mut encoder, ("dbdyno_measured", help, Some(Unit::Seconds)), snapshot.seconds)?;
        if let Some((offered, commits)) = snapshot.last {
            let help = "Transactions that were intended in the last second";
            gauge(&mut encoder, ("dbdyno_offered_per_second", help, None), offered as f64)?;
            let help = "Commits that finished in the last second";
            gauge(&mut encoder, ("dbdyno_tps", help, None), commits as f64)?;
        }
        let help = "Transactions of open load that waited for a free client at the end of the last \
                    second";
        let mut waiting =
            encoder.encode_descriptor("dbdyno_waiting", help, None, MetricType::Gauge)?;
        for (labels, n) in &snapshot.waiting {
            waiting.encode_family(labels)?.encode_gauge(n)?;
        }
        transactions(&mut encoder, &snapshot.kinds)?;
        let help = "System and database metrics of the last second, in their units";
        let mut monitor =
            encoder.encode_descriptor("dbdyno_monitor", help, None, MetricType::Gauge)?;
        for (labels, value) in &snapshot.gauges {
            monitor.encode_family(labels)?.encode_gauge(value)?;
        }
        Ok(())
    }
}

fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help, unit): (&str, &str, Option<Unit>),
    value: f64,
) -> Result<(), fmt::Error> {
    encoder.encode_descriptor(name, help, unit.as_ref(), MetricType::Gauge)?.encode_gauge(&value)
}

fn transactions(
    encoder: &mut DescriptorEncoder<'_>,
    kinds: &[KindFigures],
) -> Result<(), fmt::Error> {
    let help = "Transactions intended in a phase, by outcome";
    let name = "dbdyno_transactions";
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for kind in kinds {
        let counts = &kind.counts;
        let outcomes = [
            ("committed", counts.committed),
            ("rolled_back", counts.rolled_back),
            ("failed", counts.failed),
            ("dropped", counts.dropped),
            ("unfinished", counts.unfinished),
        ];
        for (outcome, n) in outcomes {
            let mut labels = kind.labels.clone();
            labels.push(("outcome", outcome.to_owned()));
            count(&mut family, &labels, n)?;
        }
    }
    let help = "Attempts beyond the first";
    let mut family =
        encoder.encode_descriptor("dbdyno_retries", help, None, MetricType::Counter)?;
    for kind in kinds {
        count(&mut family, &kind.labels, kind.counts.retried)?;
    }
    let help = "Response times of finished transactions, from the intended instant";
    let (name, unit) = ("dbdyno_response", Unit::Seconds);
    let mut family = encoder.encode_descriptor(name, help, Some(&unit), MetricType::Histogram)?;
    for kind in kinds {
        let mut histogram = family.encode_family(&kind.labels)?;
        histogram.encode_histogram::<NoLabelSet>(kind.sum_s, kind.count, &kind.buckets, None)?;
    }
    Ok(())
}

fn count(family: &mut MetricEncoder<'_>, labels: &Labels, n: u64) -> Result<(), fmt::Error> {
    family.encode_family(labels)?.encode_counter::<NoLabelSet, u64, f64>(&n, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_bucket_and_labels_cannot_end_early() {
        let mut second = model::Second::new(0, 0);
        let kind = second.kind(0);
        kind.counts.committed = 4;
        let response = kind.response.get_or_insert_default();
        for us in [10, 90, 3_000, 500_000_000] {
            response.record(us * NS_PER_US);
        }
        let mut tally = Tally::new();
        second.waiting = Some(7);
        tally.add(&Event::Second(second));
        let gauge = |about: &str| model::Gauge {
            about: about.to_owned(),
            name: "cpu".to_owned(),
            unit: "%".to_owned(),
            help: String::new(),
        };
        tally.add(&Event::Gauges { gauges: vec![gauge("machine"), gauge("server")] });
        for (second, place, value) in [(3, 0, 1.0), (4, 0, 2.0), (4, 1, 3.0)] {
            let values = vec![(place, value)];
            tally.add(&Event::Readings(model::Readings { second, values }));
        }
        let mut snapshot = Snapshot::from_tally(&tally);
        snapshot.run = vec![("name", "a\"b\\c\nd".to_owned())];
        let buckets: Vec<u64> = snapshot.kinds[0].buckets.iter().map(|(_, n)| *n).collect();
        assert_eq!(buckets.iter().sum::<u64>(), 4);
        assert_eq!((buckets[0], buckets[1], buckets[6], buckets[20]), (1, 1, 1, 1));
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Figures(Arc::new(Mutex::new(snapshot)))));
        let mut page = String::new();
        text::encode(&mut page, &registry).expect("text");
        for line in [
            "dbdyno_run_info{name=\"a\\\"b\\\\c\\nd\"} 1\n",
            "# UNIT dbdyno_response_seconds seconds\n",
            "dbdyno_response_seconds_count{group=\"\",kind=\"kind_0\",phase=\"measure\"} 4\n",
            "dbdyno_response_seconds_bucket{le=\"+Inf\",group=\"\",kind=\"kind_0\",phase=\"measure\"} 4\n",
            "dbdyno_monitor{about=\"machine\",name=\"cpu\",unit=\"%\"} 2.0\n",
            "dbdyno_monitor{about=\"server\",name=\"cpu\",unit=\"%\"} 3.0\n",
            "dbdyno_waiting{group=\"\"} 7\n",
            "phase=\"measure\",outcome=\"committed\"} 4\n",
            "dbdyno_phase{phase=\"measure\"} 0\n",
        ] {
            assert!(page.contains(line), "no {line} in\n{page}");
        }
        assert!(page.ends_with("# EOF\n"), "{page}");
    }
}
