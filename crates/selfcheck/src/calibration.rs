//! Runs of all of dbdyno against the simulated database `sim`, which can keep every sample. Not
//! here: the true values.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use analysis::Tally;
use analysis::report::Report;
use engine::{Recorded, SampleHook, Schedule, Share, Stop};
use model::{
    ArrivalRate, Arrivals, Event, EventLoopChoice, Group, Load, Phases, Placement, PlacementChoice,
    Plan, QueueAtEnd, QueueFull, Sample, Target,
};
use plan::{decide, read_toml};

use app::Error;
use app::build::Progress;
use app::run::{RunOptions, RunResult, run};
use app::watcher::Watcher;

/// A run of the workload `empty` against the simulated database `sim`, whose true response times
/// are known.
pub struct Calibration {
    pub seed: u64,
    /// Options of the simulated database, as in the target URL after `sim:?`.
    pub sim: String,
    pub clients: u32,
    /// Arrivals per second in open load; `None` for closed load.
    pub rate_per_s: Option<f64>,
    pub arrivals: Arrivals,
    /// Largest number of arrivals that wait for a free client; further ones are dropped.
    pub queue: u64,
    /// Duration of the ramp-up, in nanoseconds.
    pub ramp_up_ns: u64,
    /// Duration of the measured phase, in nanoseconds.
    pub measure_ns: u64,
    /// Longest duration of the drain after the measured phase, in nanoseconds.
    pub drain_ns: u64,
    pub placement: Placement,
}

/// The result of a calibration run, from which its response times can be compared with true ones.
pub struct Calibrated {
    pub report: Report,
    /// All samples of the run, by transaction number; empty if they were not kept.
    pub samples: BTreeMap<u64, Sample>,
    /// Events of the run, without those that differ between runs of one seed, such as names, facts
    /// and costs.
    pub events: Vec<Event>,
}

/// Runs a calibration through all of dbdyno, like a run that a user starts. Every sample is kept if
/// `keeps_samples`.
pub fn calibrate(plan: &Calibration, keeps_samples: bool) -> Result<Calibrated, Error> {
    let samples: Arc<Mutex<BTreeMap<u64, Sample>>> = Arc::default();
    let kept = Arc::clone(&samples);
    let sample_hook: SampleHook = Arc::new(move |recorded: &Recorded<'_>| {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(recorded.sample.slot.number.nth(), *recorded.sample);
    });
    let options = RunOptions {
        sample_hook: keeps_samples.then_some(sample_hook),
        ..RunOptions::on_data_as_they_are(None)
    };
    let mut listener = Listener::default();
    let stop = Arc::new(Stop::default());
    let RunResult { report, .. } = run(plan.plan()?, options, &stop, &mut listener)?;
    let samples = std::mem::take(&mut *samples.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Calibrated { report, samples, events: listener.0 })
}

impl Calibration {
    /// Creates the plan of the run. Everything that the calibration does not set is as in any other
    /// run.
    fn plan(&self) -> Result<Plan, Error> {
        let text = "monitor = \"off\"\nretry_attempts = 1\n[[group]]\nworkload = \"empty\"\n";
        let draft = read_toml("selfcheck", text)?;
        let decided =
            decide(&draft, &|_| Target::parse(&format!("sim:?{}", self.sim)).map_err(|bad| bad.0))?;
        let load = match self.rate_per_s {
            None => Load::Closed,
            Some(rate_per_s) => Load::Open {
                arrivals: self.arrivals,
                rate: ArrivalRate::Constant(rate_per_s),
                queue: self.queue,
                queue_full: QueueFull::Drop,
                queue_wait_ns: None,
                queue_at_end: QueueAtEnd::Serve,
            },
        };
        let of_clients =
            |group: Group| Group { clients: self.clients, load: load.clone(), ..group };
        Ok(Plan {
            name: "selfcheck".to_owned(),
            seed: self.seed,
            phases: Phases {
                ramp_up_ns: self.ramp_up_ns,
                measure_ns: self.measure_ns,
                drain_ns: self.drain_ns,
            },
            groups: decided.groups.into_iter().map(of_clients).collect(),
            placement: PlacementChoice::Fixed(self.placement),
            event_loop: EventLoopChoice::Auto,
            ..decided
        })
    }

    /// Returns the instants of all arrivals in the measured phase, in nanoseconds from the start of
    /// the load. Panics for closed load.
    pub fn arrivals_ns(&self) -> Vec<u64> {
        let per_s = self.rate_per_s.expect("only an open load has arrivals");
        let rate = ArrivalRate::Constant(per_s);
        let mut schedule = Schedule::new(self.seed, 0, self.arrivals, &rate, 0, Share::whole());
        let mut arrivals = Vec::new();
        while schedule.peek().1 < self.measure_ns {
            arrivals.push(schedule.peek().1);
            schedule.advance();
        }
        arrivals
    }
}

/// Collects the events of a run, without those that differ between two simulated runs of the same
/// plan.
#[derive(Default)]
struct Listener(Vec<Event>);

impl Watcher for Listener {
    fn event(&mut self, event: &Event, _tally: &Tally) {
        match event {
            Event::Begun { .. } | Event::Fact(_) | Event::Output { .. } | Event::Finding(_) => {}
            Event::Ended { reason, measured_ns, elapsed_ns, .. } => self.0.push(Event::Ended {
                reason: reason.clone(),
                measured_ns: *measured_ns,
                elapsed_ns: *elapsed_ns,
                cpu_ns: 0,
                max_rss_bytes: 0,
            }),
            event => self.0.push(event.clone()),
        }
    }

    fn building(&mut self, _progress: &Progress) {}

    fn note(&mut self, _text: &str) {}

    fn doing(&mut self, _text: &str) {}
}
