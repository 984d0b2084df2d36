//! The monitor of a run, which reads each collector once a second on a thread of its own and turns
//! the readings into events.
//!
//! A collector that hangs leaves a gap in its own gauges and does not delay others. Not here: the
//! meaning of a gauge (each collector), and charts (analysis).

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use model::{Event, Fact, FactValue, NS_PER_MS, NS_PER_S};
use rustix::time::{ClockId, clock_gettime};

use crate::collector::{Collector, Make};
use crate::phase_signal::{PhaseSignal, Woken};
use crate::query_session::Canceller;
use crate::readings::Readings;
use crate::wall_clock::{self, since};

/// Time limit for a reading that is still in progress when the load ends. Then its query is
/// cancelled, and after the same time again its thread is abandoned. The final sums of a busy
/// server take more than a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// Minimum time between the last two readings, in nanoseconds. If the load ends sooner after a
/// reading, no further one is made, since rates over a shorter time are noise.
const LAST_NS_MIN: i64 = 200 * NS_PER_MS as i64;

const SECOND_NS: i64 = NS_PER_S as i64;

enum Message {
    Read { second: i64, gauges: Vec<model::Gauge>, values: Vec<(u16, f64)> },
    Meanwhile { events: Vec<Event> },
    Ended { events: Vec<Event>, facts: Vec<Fact>, cpu_ns: u64 },
}

/// Monitor of a run: its collectors, each read by its own thread, while the load runs.
pub struct Monitor {
    signal: Arc<PhaseSignal>,
    hear: Receiver<(usize, Message)>,
    /// Index of each gauge among all gauges of the run, by collector and by the gauge's index
    /// within the collector.
    places: Vec<Vec<u16>>,
    n_gauges: u16,
    /// Number of collectors whose threads have not ended yet.
    n_left: usize,
    canceller: Canceller,
    cpu_ns: u64,
    facts: Vec<Fact>,
}

impl Monitor {
    /// Starts a thread for each collector, which waits for [`Monitor::begin`]; `canceller` cancels
    /// queries that hang. If a thread cannot be started, a fact at the end of the run says so.
    pub fn over(collectors: Vec<Make>, canceller: Canceller) -> Monitor {
        let (tell, hear) = channel();
        let signal: Arc<PhaseSignal> = Arc::default();
        let (mut n_left, mut facts) = (0, Vec::new());
        let places = vec![Vec::new(); collectors.len()];
        for (index, make) in collectors.into_iter().enumerate() {
            let (signal, tell) = (Arc::clone(&signal), tell.clone());
            let named = thread::Builder::new().name(format!("monitor-{index}"));
            match named.spawn(move || look(index, make, &signal, &tell)) {
                Ok(_) => n_left += 1,
                Err(error) => facts.push(Fact::new("monitor", "thread", format!("none: {error}"))),
            }
        }
        Monitor { signal, hear, places, n_gauges: 0, n_left, canceller, cpu_ns: 0, facts }
    }

    pub fn has_collectors(&self) -> bool {
        !self.places.is_empty()
    }

    /// Returns a function to be called once the start of the measured phase is known. Its argument
    /// is the time that remains until this start.
    pub fn begin(&self) -> impl Fn(Duration) + use<> {
        let signal = Arc::clone(&self.signal);
        move |ahead| signal.begin(wall_clock::now() + ahead)
    }

    /// Passes all gauges and values that were read since the last call of `follow`, as events, to
    /// `tell`.
    pub fn follow(&mut self, tell: &mut dyn FnMut(Event)) {
        while let Ok((index, message)) = self.hear.try_recv() {
            self.take(index, message, tell);
        }
    }

    /// Ends all collectors after the load. Passes their last values to `tell`, and returns facts
    /// that say what could not be read.
    pub fn end(mut self, tell: &mut dyn FnMut(Event)) -> Vec<Fact> {
        let covered_ns = self.signal.now_ns();
        self.signal.end();
        let mut is_cut_off = false;
        while self.n_left > 0 {
            match self.hear.recv_timeout(PATIENCE) {
                Ok((index, message)) => self.take(index, message, tell),
                Err(RecvTimeoutError::Timeout) if !is_cut_off => {
                    self.canceller.cut_off();
                    is_cut_off = true;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let text = "a collector did not stop with the load and was abandoned";
                    self.facts.push(Fact::new("monitor", "readers_abandoned", text));
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if covered_ns > 0 && self.cpu_ns > 0 {
            // In percent of one core, over the measured phase and the drain; the numerator includes
            // the ramp-up.
            let percent = self.cpu_ns as f64 / covered_ns as f64 * 100.0;
            let percent = FactValue::percent(percent, 2);
            let fact = Fact::new("client", "monitor_cpu_percent", percent);
            self.facts.push(fact);
        }
        std::mem::take(&mut self.facts)
    }

    fn take(&mut self, index: usize, message: Message, tell: &mut dyn FnMut(Event)) {
        match message {
            Message::Read { second, gauges, values } => {
                let places = &mut self.places[index];
                if !gauges.is_empty() {
                    let next = self.n_gauges..;
                    places.extend(next.take(gauges.len()));
                    self.n_gauges = self.n_gauges.saturating_add(gauges.len() as u16);
                    tell(Event::Gauges { gauges });
                }
                let place =
                    |(place, value): (u16, f64)| Some((*places.get(usize::from(place))?, value));
                let values: Vec<(u16, f64)> = values.into_iter().filter_map(place).collect();
                if !values.is_empty() {
                    tell(Event::Readings(model::Readings { second, values }));
                }
            }
            Message::Meanwhile { events } => events.into_iter().for_each(tell),
            Message::Ended { events, facts, cpu_ns } => {
                events.into_iter().for_each(tell);
                self.n_left -= 1;
                self.cpu_ns += cpu_ns;
                self.facts.extend(facts);
            }
        }
    }
}

/// Body of a collector's thread: reads the collector at the end of each second until the load is
/// over, and sends the values to `tell`.
fn look(index: usize, make: Make, signal: &PhaseSignal, tell: &Sender<(usize, Message)>) {
    // The receiver may be gone.
    let send = |message| drop(tell.send((index, message)));
    let collector = make();
    let (events, facts) = match (collector, signal.wait_for_start()) {
        (Some(mut collector), Some(start)) => {
            look_from(start, collector.as_mut(), signal, &send);
            let events = collector.end(since(start, wall_clock::now()));
            (events, collector.facts())
        }
        _ => (Vec::new(), Vec::new()),
    };
    send(Message::Ended { events, facts, cpu_ns: own_cpu_ns() });
}

fn look_from(
    start: Instant,
    collector: &mut dyn Collector,
    signal: &PhaseSignal,
    send: &dyn Fn(Message),
) {
    let mut readings = Readings::new(collector.about()).from(start);
    let mut next = whole_second_from(since(start, wall_clock::now()));
    let mut before = None;
    loop {
        let woken = look_until(start, next, collector, signal);
        let now_ns = since(start, wall_clock::now());
        let is_over = woken == Woken::Over;
        if is_over && before.is_none_or(|before| now_ns - before < LAST_NS_MIN) {
            return;
        }
        readings.at(now_ns);
        collector.read(&mut readings);
        match before {
            // The first reading is the base of the rates.
            None => readings.forget_values(),
            Some(before) => {
                let second = second_between(before, now_ns);
                let (gauges, values) = readings.take();
                send(Message::Read { second, gauges, values });
            }
        }
        if is_over {
            return;
        }
        let events = collector.so_far();
        if !events.is_empty() {
            send(Message::Meanwhile { events });
        }
        before = Some(now_ns);
        // After a reading that took longer than a second, skip the missed ones.
        next = whole_second_from(since(start, wall_clock::now())).max(next + 1);
    }
}

/// Waits until second number `next` of the measured phase begins or the load is over, and returns
/// which. Until then, calls [`Collector::look`] as often as the collector wants.
fn look_until(
    start: Instant,
    next: i64,
    collector: &mut dyn Collector,
    signal: &PhaseSignal,
) -> Woken {
    let every_ns = SECOND_NS / i64::from(collector.looks_per_second().max(1));
    loop {
        let now_ns = since(start, wall_clock::now());
        let look_ns = (now_ns.div_euclid(every_ns) + 1) * every_ns;
        let is_last = look_ns >= next * SECOND_NS;
        let woken = signal.wait(at(start, look_ns.min(next * SECOND_NS)), &|| false);
        if is_last || woken == Woken::Over {
            return woken;
        }
        collector.look(since(start, wall_clock::now()));
    }
}

/// Returns the instant that is `at_ns` nanoseconds after `start`; `None` if this machine cannot
/// represent it.
fn at(start: Instant, at_ns: i64) -> Option<Instant> {
    let away = Duration::from_nanos(at_ns.unsigned_abs());
    if at_ns < 0 { start.checked_sub(away) } else { start.checked_add(away) }
}

/// Returns the first whole second at or after the time `at_ns`, in nanoseconds, as a number of
/// seconds.
fn whole_second_from(at_ns: i64) -> i64 {
    -((-at_ns).div_euclid(SECOND_NS))
}

/// Returns the second to which a reading belongs: the one that has just ended, even if the thread
/// woke up a little late. At the end of the load, it is the second that contains most of the time
/// since the previous reading.
fn second_between(before_ns: i64, at_ns: i64) -> i64 {
    let back_ns = ((at_ns - before_ns) / 2).min(SECOND_NS / 2);
    (at_ns - back_ns).div_euclid(SECOND_NS)
}

/// Returns the CPU time that this thread has used, in nanoseconds.
fn own_cpu_ns() -> u64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    let positive = |n: i64| u64::try_from(n).unwrap_or(0);
    positive(spent.tv_sec) * NS_PER_S + positive(spent.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::What;

    const GAUGE: What<'_> = What::new("gauge", "", "A gauge.");

    struct Counting(u32);

    impl Collector for Counting {
        fn about(&self) -> String {
            "machine".to_owned()
        }

        fn read(&mut self, readings: &mut Readings) {
            self.0 += 1;
            readings.level(GAUGE, f64::from(self.0));
        }

        fn facts(&self) -> Vec<Fact> {
            vec![Fact::new("monitor", "readings", self.0)]
        }
    }

    fn counting() -> Make {
        Box::new(|| Some(Box::new(Counting(0))))
    }

    #[test]
    fn a_reading_belongs_to_the_second_that_has_ended() {
        let ms = |ms: i64| ms * NS_PER_MS as i64;
        let check = |before: i64, at: i64, expect: i64| {
            assert_eq!(second_between(ms(before), ms(at)), expect, "{before} to {at}");
        };
        check(0, 1000, 0);
        check(-2000, -1000, -2);
        check(-1000, 3, -1);
        check(4003, 5240, 4);
        // At the end of the load, a reading covers a part of a second.
        check(0, 1, 0);
        check(0, 300, 0);
        check(1000, 1300, 1);
        check(0, 1001, 0);
        // Seconds that were missed belong to the last one.
        check(3000, 7001, 6);
    }

    #[test]
    fn reading_begins_with_a_whole_second() {
        let s = SECOND_NS;
        for (at_ns, expect) in
            [(0, 0), (1, 1), (s, 1), (-1, 0), (-s, -1), (-s - 1, -1), (-s + 1, 0)]
        {
            assert_eq!(whole_second_from(at_ns), expect, "{at_ns}");
        }
    }

    #[test]
    fn gauges_of_several_collectors_are_told_apart() {
        let mut monitor = Monitor::over(Vec::new(), Canceller::default());
        monitor.places = vec![Vec::new(); 2];
        let gauge = |about: &str, name: &str| model::Gauge {
            about: about.to_owned(),
            name: name.to_owned(),
            unit: String::new(),
            help: String::new(),
        };
        let mut shown = Vec::new();
        let mut hear = |index, gauges, values| {
            let message = Message::Read { second: 3, gauges, values };
            monitor.take(index, message, &mut |event| shown.push(event));
        };
        hear(0, vec![gauge("machine", "a"), gauge("machine", "b")], vec![(1, 5.0)]);
        hear(1, vec![gauge("server", "a")], vec![(0, 6.0)]);
        hear(0, vec![gauge("machine", "c")], vec![(2, 7.0), (0, 8.0), (9, 9.0)]);
        let readings: Vec<&model::Readings> = shown
            .iter()
            .filter_map(|event| match event {
                Event::Readings(readings) => Some(readings),
                _ => None,
            })
            .collect();
        assert_eq!(readings[0].values, [(1, 5.0)]);
        assert_eq!(readings[1].values, [(2, 6.0)]);
        assert_eq!(readings[2].values, [(3, 7.0), (0, 8.0)]);
    }

    #[test]
    fn a_load_that_is_over_before_it_began_is_read_by_nobody() {
        let none: Make = Box::new(|| None);
        let monitor = Monitor::over(vec![counting(), none], Canceller::default());
        let mut n_reported = 0;
        let facts = monitor.end(&mut |_| n_reported += 1);
        assert_eq!((n_reported, facts), (0, Vec::new()));
    }

    #[test]
    fn a_collector_is_read_from_the_beginning_of_the_load_to_its_end() {
        let mut monitor = Monitor::over(vec![counting()], Canceller::default());
        let begin = monitor.begin();
        begin(Duration::ZERO);
        let mut shown = Vec::new();
        // The collector reports by itself, once a second.
        let (index, message) = monitor.hear.recv().expect("a reading");
        monitor.take(index, message, &mut |event| shown.push(event));
        let facts = monitor.end(&mut |event| shown.push(event));
        assert!(matches!(&shown[0], Event::Gauges { gauges } if gauges[0].about == "machine"));
        let Event::Readings(readings) = &shown[1] else { panic!("{shown:?}") };
        // The first reading is the base of the rates.
        assert_eq!(readings.values, [(0, 2.0)]);
        assert!(facts.iter().any(|fact| fact.name == "readings"), "{facts:?}");
    }
}
