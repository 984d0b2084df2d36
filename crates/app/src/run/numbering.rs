//! Translates the indexes of event loops and gauges in events of several processes, each of which
//! counts its own from 0, into indexes that are unique in the run.
//!
//! Not here: reading gauges (monitor), and the processes (agents).

use std::collections::BTreeMap;

use model::Event;

/// An event of a run, and the process that it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sourced {
    /// Number of the process; 0 is dbdyno itself.
    pub(super) process: u32,
    pub(super) event: Event,
}

/// Gives event loops and gauges indexes that are unique in the whole run, since each process counts
/// its own from 0.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// Number of event loops in each process.
    loops_each: u32,
    /// Indexes in the whole run of the gauges of each process, by number of the process. A process
    /// counts its own gauges from 0.
    gauges: BTreeMap<u32, Vec<u16>>,
    n_gauges: u16,
    /// Names of the agents that monitor their hosts, by the number of their process.
    monitored: BTreeMap<u32, String>,
    /// Number of the process that monitors the host of the run's only server; `None` if that is
    /// this host, or not known.
    of_server: Option<u32>,
}

/// Subject of the gauges of a run's server.
const SERVER: &str = "server";

impl Numbering {
    pub(super) fn new(loops_each: u32) -> Numbering {
        Numbering { loops_each, ..Numbering::default() }
    }

    /// Sets the name of the agent that monitors its host as a process of the run. It stands before
    /// the subjects of its gauges and facts, as in `db1/machine`.
    pub(super) fn name_monitored(&mut self, process: u32, name: &str) {
        self.monitored.insert(process, name.to_owned());
    }

    /// Returns the index in the run of the first event loop of a process.
    pub(super) fn first_loop(&self, process: u32) -> u32 {
        process * self.loops_each
    }

    /// Sets the process that monitors the host of the run's only server, whose gauges then have the
    /// subject that they have on this host.
    pub(super) fn set_process_of_server(&mut self, process: u32) {
        self.of_server = Some(process);
    }

    /// Returns the event with indexes that count over all processes of the run, instead of those of
    /// its process. A gauge of another process gets that process's number in its name.
    pub(super) fn in_run(&mut self, sourced: Sourced) -> Event {
        let Sourced { process, event } = sourced;
        match event {
            Event::Heartbeats { loop_index, most_delayed_at_ns, lag } => {
                let loop_index = self.first_loop(process) + loop_index;
                Event::Heartbeats { loop_index, most_delayed_at_ns, lag }
            }
            Event::Gauges { mut gauges } => {
                for gauge in &mut gauges {
                    let is_server = self.of_server == Some(process) && gauge.about == SERVER;
                    gauge.about = match self.monitored.get(&process) {
                        _ if is_server => continue,
                        Some(name) => format!("{name}/{}", gauge.about),
                        None if process > 0 => format!("process {process}/{}", gauge.about),
                        None => continue,
                    };
                }
                let first = self.n_gauges;
                self.n_gauges += gauges.len() as u16;
                self.gauges.entry(process).or_default().extend(first..self.n_gauges);
                Event::Gauges { gauges }
            }
            Event::Readings(mut readings) => {
                let known = self.gauges.get(&process).map_or(&[][..], Vec::as_slice);
                readings.values = readings
                    .values
                    .into_iter()
                    .filter_map(|(index, value)| Some((*known.get(usize::from(index))?, value)))
                    .collect();
                Event::Readings(readings)
            }
            Event::Fact(mut fact) => {
                if let Some(name) = self.monitored.get(&process) {
                    fact.about = format!("{name}/{}", fact.about);
                }
                Event::Fact(fact)
            }
            event => event,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Fact, Gauge, Readings};

    use super::*;

    fn declared(names: &[&str]) -> Event {
        let gauge = |name: &&str| Gauge {
            about: "machine".to_owned(),
            name: (*name).to_owned(),
            unit: "%".to_owned(),
            help: "A gauge.".to_owned(),
        };
        Event::Gauges { gauges: names.iter().map(gauge).collect() }
    }

    fn read(values: &[(u16, f64)]) -> Event {
        Event::Readings(Readings { second: 3, values: values.to_vec() })
    }

    #[test]
    fn gauges_of_several_processes_keep_their_values_apart() {
        let mut numbering = Numbering::new(2);
        let mut in_run = |process, event| numbering.in_run(Sourced { process, event });
        assert_eq!(in_run(0, declared(&["a", "b"])), declared(&["a", "b"]));
        let Event::Gauges { gauges } = in_run(2, declared(&["a"])) else { panic!("gauges") };
        assert_eq!(gauges[0].about, "process 2/machine");
        assert_eq!(in_run(0, declared(&["c"])), declared(&["c"]));
        assert_eq!(in_run(0, read(&[(1, 1.0), (2, 2.0)])), read(&[(1, 1.0), (3, 2.0)]));
        assert_eq!(in_run(2, read(&[(0, 5.0)])), read(&[(2, 5.0)]));
        // A value of a gauge that was never declared has no name, and is left out.
        assert_eq!(in_run(1, read(&[(0, 5.0)])), read(&[]));
    }

    #[test]
    fn what_an_agent_monitors_has_its_name_but_for_the_only_server() {
        let mut numbering = Numbering::new(2);
        for (process, name) in [(3, "db1"), (4, "db2")] {
            numbering.name_monitored(process, name);
        }
        numbering.set_process_of_server(3);
        let mut abouts = |process: u32| {
            let gauge = |about: &str| Gauge {
                about: about.to_owned(),
                name: "cpu_user".to_owned(),
                unit: "%".to_owned(),
                help: "A gauge.".to_owned(),
            };
            let gauges = ["machine", "server"].map(gauge).into();
            let event = Event::Gauges { gauges };
            let Event::Gauges { gauges } = numbering.in_run(Sourced { process, event }) else {
                panic!("gauges")
            };
            gauges.into_iter().map(|gauge| gauge.about).collect::<Vec<_>>()
        };
        assert_eq!(abouts(3), ["db1/machine", "server"]);
        assert_eq!(abouts(4), ["db2/machine", "db2/server"]);
        let fact = |about: &str| Event::Fact(Fact::new(about, "logical", 4_u64));
        let event = numbering.in_run(Sourced { process: 3, event: fact("cpu") });
        assert_eq!(event, fact("db1/cpu"));
    }

    #[test]
    fn event_loops_are_numbered_through_all_processes() {
        let mut numbering = Numbering::new(4);
        let beats = |loop_index| Event::Heartbeats { loop_index, most_delayed_at_ns: 0, lag: None };
        for (process, index) in [(0, 1), (1, 5), (2, 9)] {
            let event = numbering.in_run(Sourced { process, event: beats(1) });
            assert_eq!(event, beats(index));
        }
        assert_eq!(numbering.first_loop(3), 12);
    }
}
