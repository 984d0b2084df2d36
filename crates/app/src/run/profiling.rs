//! Records CPU profiles of server and generator, if the plan of a run asks for them.
//!
//! Not here: sampling of stacks (monitor).

use std::path::PathBuf;
use std::time::Duration;

use engine::Stop;
use model::{Choice, Database, Event, Fact, Placement, Plan, ProfileSide, StopReason};
use monitor::{CpuProfiler, Locate, ProfileScope, server_processes};

use super::sink::RunSink;
use crate::interruptible::run_interruptible;

/// Name of the program that samples stacks for CPU profiles.
const PERF: &str = "perf";

/// CPU profiles that are being recorded, and facts about missing ones. Empty unless the plan asks
/// for profiles.
pub(super) struct Profiling {
    profiler: Option<CpuProfiler>,
    facts: Vec<Fact>,
}

impl Profiling {
    /// Attaches the profiler to server and generator, before clients connect. In virtual time there
    /// is no profile.
    pub(super) fn start(
        plan: &Plan,
        placement: Placement,
        database: Option<&dyn Database>,
        servers: Option<Vec<(String, Locate)>>,
        agents: Vec<u32>,
    ) -> Profiling {
        if !plan.cpu_profile {
            return Profiling { profiler: None, facts: Vec::new() };
        }
        if placement == Placement::Simulated {
            let why = "in virtual time no CPU is used that belongs to the run";
            let none = |side: ProfileSide| Fact::new("cpu_profile", side.name(), why);
            let facts = [ProfileSide::Server, ProfileSide::Generator].map(none);
            return Profiling { profiler: None, facts: facts.into() };
        }
        let measured = plan.phases.measure_ns;
        let profiler = CpuProfiler::start(ProfileScope {
            perf: PathBuf::from(PERF),
            server: server_processes(database, servers, &drivers::programs_of(&plan.target)),
            generator: std::iter::once(std::process::id()).chain(agents).collect(),
            measured: (measured > 0).then(|| Duration::from_nanos(measured)),
        });
        Profiling { profiler: Some(profiler), facts: Vec::new() }
    }

    /// Must be called with each event of the load, so that only the measured phase is sampled.
    pub(super) fn follow(&mut self, event: &Event) {
        if let Some(profiler) = &mut self.profiler {
            profiler.follow(event);
        }
    }

    /// Ends the recordings after the load, and reports the profiles unless the user interrupted the
    /// run.
    pub(super) fn end(self, reason: &StopReason, stop: &Stop, sink: &mut RunSink<'_>) {
        let mut facts = self.facts;
        if let Some(profiler) = self.profiler {
            let is_wanted = matches!(reason, StopReason::Completed | StopReason::QueueFull);
            if is_wanted {
                sink.watcher.doing("naming the functions of the CPU profiles");
                let interrupted = "interrupted while the functions of the CPU profiles were named";
                match run_interruptible(stop, interrupted, move || Ok(profiler.end())) {
                    Ok((profiles, missing)) => {
                        profiles
                            .into_iter()
                            .for_each(|profile| sink.tell(Event::CpuProfile(profile)));
                        facts.extend(missing);
                    }
                    Err(error) => sink.note(error.to_string()),
                }
            } else {
                facts.extend(profiler.abandon("the run did not reach its end"));
            }
        }
        for fact in facts {
            sink.note(format!("no CPU flame graph of the {}: {}", fact.name, fact.value));
            sink.tell(Event::Fact(fact));
        }
    }
}
