//! What happens around a run: read once a second, each source on a thread of its own, and told as
//! events beside those of the load.
//!
//! A source is anything that declares gauges and reads them: this machine, a process, a database;
//! one day an agent on the server's host, whose gauges have that host's name before what they are
//! about. A source that hangs leaves a gap in its own gauges and holds up nobody. Not here: what a
//! gauge means (each source says it), and how it is shown (results).

mod counters;
mod machine;
mod process;
mod server;
mod sheet;
mod sources;
mod tasks;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use model::{Event, Fact, NS_PER_MS, NS_PER_S, Readings};
use rustix::time::{ClockId, clock_gettime};

use crate::curtain::{Curtain, Woken, since};
use crate::wall;

pub(crate) use counters::{Counted, Hand};
pub(crate) use machine::{CpuTicks, Machine, busy_of, steal_of};
pub(crate) use process::{Locate, Process};
pub(crate) use server::{Whereabouts, proxy};
pub(crate) use sheet::Sheet;
pub(crate) use sources::{Surroundings, lookout};
pub(crate) use tasks::{Counters, SharedTasks, Task, field};

/// A source that is reading when the load is over may end so long; then its query is cut off, and
/// as long again later it is left behind.
const PATIENCE: Duration = Duration::from_secs(1);

/// The last reading is made if so much has passed since the one before: rates over less are noise.
const LAST_NS_MIN: i64 = 200 * NS_PER_MS as i64;

const SECOND_NS: i64 = NS_PER_S as i64;

/// Something that is read once a second.
pub(crate) trait Source {
    /// Whose gauges these are, as [`model::Gauge::about`] has it.
    fn about(&self) -> String;

    /// Writes what it reads on the sheet. What cannot be read is left out.
    fn read(&mut self, sheet: &mut Sheet);

    /// What is to be known when it is over: what was not read, and why.
    fn facts(&self) -> Vec<Fact>;
}

/// Makes a source on the thread that reads it: a connection stays on its thread.
pub(crate) type Make = Box<dyn FnOnce() -> Option<Box<dyn Source>> + Send>;

enum Said {
    Read { second: i64, gauges: Vec<model::Gauge>, values: Vec<(u16, f64)> },
    Ended { facts: Vec<Fact>, cpu_ns: u64 },
}

/// All sources of a run.
pub(crate) struct Lookout {
    curtain: Arc<Curtain>,
    hear: Receiver<(usize, Said)>,
    /// By source: the places of its gauges among all that were told.
    places: Vec<Vec<u16>>,
    n_gauges: u16,
    /// Sources that have not ended.
    n_left: usize,
    hand: Hand,
    cpu_ns: u64,
    facts: Vec<Fact>,
}

impl Lookout {
    /// Each source waits for [`Lookout::begin`] on a thread of its own; `hand` cuts off what
    /// hangs. A source without a thread is told as a fact.
    pub(crate) fn over(sources: Vec<Make>, hand: Hand) -> Lookout {
        let (tell, hear) = channel();
        let curtain: Arc<Curtain> = Arc::default();
        let (mut n_left, mut facts) = (0, Vec::new());
        let places = vec![Vec::new(); sources.len()];
        for (index, make) in sources.into_iter().enumerate() {
            let (curtain, tell) = (Arc::clone(&curtain), tell.clone());
            let named = thread::Builder::new().name(format!("around-{index}"));
            match named.spawn(move || look(index, make, &curtain, &tell)) {
                Ok(_) => n_left += 1,
                Err(error) => facts.push(Fact::new("around", "thread", format!("none: {error}"))),
            }
        }
        Lookout { curtain, hear, places, n_gauges: 0, n_left, hand, cpu_ns: 0, facts }
    }

    /// Whether anything is read.
    pub(crate) fn has_sources(&self) -> bool {
        !self.places.is_empty()
    }

    /// Says how long from now the measured phase begins.
    pub(crate) fn begin(&self) -> impl Fn(Duration) + use<> {
        let curtain = Arc::clone(&self.curtain);
        move |ahead| curtain.rise(wall::now() + ahead)
    }

    /// Tells what was read since it was asked last.
    pub(crate) fn follow(&mut self, tell: &mut dyn FnMut(Event)) {
        while let Ok((index, said)) = self.hear.try_recv() {
            self.heard(index, said, tell);
        }
    }

    /// The load is over: the last readings, and what is to be known of all of them.
    pub(crate) fn end(mut self, tell: &mut dyn FnMut(Event)) -> Vec<Fact> {
        let covered_ns = self.curtain.now_ns();
        self.curtain.fall();
        let mut is_cut_off = false;
        while self.n_left > 0 {
            match self.hear.recv_timeout(PATIENCE) {
                Ok((index, said)) => self.heard(index, said, tell),
                Err(RecvTimeoutError::Timeout) if !is_cut_off => {
                    self.hand.cut_off();
                    is_cut_off = true;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let text = "a source did not end with the load, and was left behind";
                    self.facts.push(Fact::new("around", "left_behind", text));
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if covered_ns > 0 && self.cpu_ns > 0 {
            // Of one core, over the measured phase and the drain; what the ramp-up took is in it.
            let percent = self.cpu_ns as f64 / covered_ns as f64 * 100.0;
            let fact = Fact::new("client", "around_cpu_percent", format!("{percent:.2}"));
            self.facts.push(fact);
        }
        std::mem::take(&mut self.facts)
    }

    fn heard(&mut self, index: usize, said: Said, tell: &mut dyn FnMut(Event)) {
        match said {
            Said::Read { second, gauges, values } => {
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
                    tell(Event::Readings(Readings { second, values }));
                }
            }
            Said::Ended { facts, cpu_ns } => {
                self.n_left -= 1;
                self.cpu_ns += cpu_ns;
                self.facts.extend(facts);
            }
        }
    }
}

/// Reads a source at the end of each second, from the beginning of the load to its end.
fn look(index: usize, make: Make, curtain: &Curtain, tell: &Sender<(usize, Said)>) {
    // Whoever has left hears nothing any more.
    let say = |said| drop(tell.send((index, said)));
    let source = make();
    let facts = match (source, curtain.wait_to_rise()) {
        (Some(mut source), Some(start)) => {
            look_from(start, source.as_mut(), curtain, &say);
            source.facts()
        }
        _ => Vec::new(),
    };
    say(Said::Ended { facts, cpu_ns: own_cpu_ns() });
}

fn look_from(start: Instant, source: &mut dyn Source, curtain: &Curtain, say: &dyn Fn(Said)) {
    let mut sheet = Sheet::new(source.about()).from(start);
    let mut next = whole_second_from(since(start, wall::now()));
    let mut before = None;
    loop {
        let woken = curtain.wait(at(start, next), &|| false);
        let now_ns = since(start, wall::now());
        let is_over = woken == Woken::Over;
        if is_over && before.is_none_or(|before| now_ns - before < LAST_NS_MIN) {
            return;
        }
        sheet.at(now_ns);
        source.read(&mut sheet);
        match before {
            // The first reading is what rates are counted from.
            None => sheet.forget_values(),
            Some(before) => {
                let second = second_between(before, now_ns);
                let (gauges, values) = sheet.take();
                say(Said::Read { second, gauges, values });
            }
        }
        if is_over {
            return;
        }
        before = Some(now_ns);
        // Who took longer than a second has missed one.
        next = whole_second_from(since(start, wall::now())).max(next + 1);
    }
}

/// The instant of a second from the start; none that is not this machine's.
fn at(start: Instant, second: i64) -> Option<Instant> {
    let away = Duration::from_secs(second.unsigned_abs());
    if second < 0 { start.checked_sub(away) } else { start.checked_add(away) }
}

/// The first whole second that is not before an instant.
fn whole_second_from(at_ns: i64) -> i64 {
    -((-at_ns).div_euclid(SECOND_NS))
}

/// Which second a reading is of that was made at an instant: the one that has just ended, though
/// its reader be woken a little late; at the end, the one in which most of it lies.
fn second_between(before_ns: i64, at_ns: i64) -> i64 {
    let back_ns = ((at_ns - before_ns) / 2).min(SECOND_NS / 2);
    (at_ns - back_ns).div_euclid(SECOND_NS)
}

/// What this thread has used.
fn own_cpu_ns() -> u64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    let positive = |n: i64| u64::try_from(n).unwrap_or(0);
    positive(spent.tv_sec) * NS_PER_S + positive(spent.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::sheet::What;
    use super::*;

    const GAUGE: What<'_> = What::new("gauge", "", "A gauge.");

    /// Counts its readings.
    struct Counting(u32);

    impl Source for Counting {
        fn about(&self) -> String {
            "machine".to_owned()
        }

        fn read(&mut self, sheet: &mut Sheet) {
            self.0 += 1;
            sheet.level(GAUGE, f64::from(self.0));
        }

        fn facts(&self) -> Vec<Fact> {
            vec![Fact::new("around", "readings", self.0)]
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
        // At the end, a part of one.
        check(0, 1, 0);
        check(0, 300, 0);
        check(1000, 1300, 1);
        check(0, 1001, 0);
        // Seconds that were missed are the last one's.
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
    fn gauges_of_several_sources_are_told_apart() {
        let mut lookout = Lookout::over(Vec::new(), Hand::default());
        lookout.places = vec![Vec::new(); 2];
        let gauge = |about: &str, name: &str| model::Gauge {
            about: about.to_owned(),
            name: name.to_owned(),
            unit: String::new(),
            help: String::new(),
        };
        let mut told = Vec::new();
        let mut hear = |index, gauges, values| {
            let said = Said::Read { second: 3, gauges, values };
            lookout.heard(index, said, &mut |event| told.push(event));
        };
        hear(0, vec![gauge("machine", "a"), gauge("machine", "b")], vec![(1, 5.0)]);
        hear(1, vec![gauge("server", "a")], vec![(0, 6.0)]);
        hear(0, vec![gauge("machine", "c")], vec![(2, 7.0), (0, 8.0), (9, 9.0)]);
        let readings: Vec<&Readings> = told
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
        let lookout = Lookout::over(vec![counting(), none], Hand::default());
        let mut n_told = 0;
        let facts = lookout.end(&mut |_| n_told += 1);
        assert_eq!((n_told, facts), (0, Vec::new()));
    }

    #[test]
    fn a_source_is_read_from_the_beginning_of_the_load_to_its_end() {
        let mut lookout = Lookout::over(vec![counting()], Hand::default());
        let begin = lookout.begin();
        begin(Duration::ZERO);
        let mut told = Vec::new();
        // It is told by itself, once a second.
        let (index, said) = lookout.hear.recv().expect("a reading");
        lookout.heard(index, said, &mut |event| told.push(event));
        let facts = lookout.end(&mut |event| told.push(event));
        assert!(matches!(&told[0], Event::Gauges { gauges } if gauges[0].about == "machine"));
        let Event::Readings(readings) = &told[1] else { panic!("{told:?}") };
        // The first reading is only what rates are counted from.
        assert_eq!(readings.values, [(0, 2.0)]);
        assert!(facts.iter().any(|fact| fact.name == "readings"), "{facts:?}");
    }
}
