//! Simulated servers of a database with one queue, first come first served, in integer nanoseconds.
//!
//! By the recursion of Kiefer and Wolfowitz (1955), completion = max(arrival, time at which a
//! server becomes free) + service. Not here: clocks, random draws and locks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A period in which the simulated database serves nothing, as if it were suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stall {
    /// Start of the stall, in nanoseconds on the run's clock.
    pub(super) at_ns: u64,
    /// Length of the stall, in nanoseconds; 0 for none.
    pub(super) length_ns: u64,
}

impl Stall {
    /// Returns when a service ends that begins at `begin_ns` and takes `service_ns`, if no service
    /// is possible during the stall. All times are in nanoseconds.
    pub(super) fn completion_ns(self, begin_ns: u64, service_ns: u64) -> u64 {
        let end_ns = self.at_ns.saturating_add(self.length_ns);
        let completion_ns = begin_ns.saturating_add(service_ns);
        if begin_ns >= end_ns || (begin_ns < self.at_ns && completion_ns <= self.at_ns) {
            completion_ns
        } else if begin_ns >= self.at_ns {
            end_ns.saturating_add(service_ns)
        } else {
            completion_ns.saturating_add(self.length_ns)
        }
    }
}

/// The simulated servers of a database, a fixed number with one common queue, first come first
/// served.
pub(super) struct Servers {
    /// Times, in nanoseconds on the run's clock, at which each server becomes free; the earliest is
    /// taken first.
    free_ns: BinaryHeap<Reverse<u64>>,
    stall: Stall,
    last_arrival_ns: u64,
}

impl Servers {
    /// Creates `count` simulated servers, all of them free.
    pub(super) fn new(count: usize, stall: Stall) -> Servers {
        assert!(count > 0, "no servers would never answer");
        Servers { free_ns: vec![Reverse(0); count].into(), stall, last_arrival_ns: 0 }
    }

    /// Assigns a statement that arrives at `arrival_ns` and needs `service_ns` of service to a
    /// server, and returns when it completes, in nanoseconds on the run's clock. Arrivals must be
    /// in order; an earlier one than the last begins another run, in which all servers are free.
    pub(super) fn completion_ns(&mut self, arrival_ns: u64, service_ns: u64) -> u64 {
        if arrival_ns < self.last_arrival_ns {
            self.free_ns = vec![Reverse(0); self.free_ns.len()].into();
        }
        self.last_arrival_ns = arrival_ns;
        let mut earliest = self.free_ns.peek_mut().expect("there is at least one server");
        let begin_ns = arrival_ns.max(earliest.0);
        let completion_ns = self.stall.completion_ns(begin_ns, service_ns);
        // Reordered when it goes out of scope.
        earliest.0 = completion_ns;
        completion_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_STALL: Stall = Stall { at_ns: 0, length_ns: 0 };

    #[test]
    fn one_server_serves_in_order() {
        // Arrivals 0, 1, 5, 20; services 4, 3, 2, 1: computed by hand.
        let mut servers = Servers::new(1, NO_STALL);
        let done = [(0, 4), (1, 3), (5, 2), (20, 1)].map(|(at, s)| servers.completion_ns(at, s));
        assert_eq!(done, [4, 7, 9, 21]);
    }

    #[test]
    fn another_run_finds_all_servers_free() {
        let mut servers = Servers::new(1, NO_STALL);
        assert_eq!(servers.completion_ns(100, 50), 150);
        assert_eq!(servers.completion_ns(3, 4), 7);
    }

    #[test]
    fn the_earliest_free_of_two_servers_takes_the_next() {
        // Server A: 0-10, 12-13; server B: 1-3, 3-9, 9-14.
        let mut servers = Servers::new(2, NO_STALL);
        let arrivals = [(0, 10), (1, 2), (2, 6), (4, 5), (12, 1)];
        let done = arrivals.map(|(at, s)| servers.completion_ns(at, s));
        assert_eq!(done, [10, 3, 9, 14, 13]);
    }

    #[test]
    fn servers_equal_the_recursion() {
        let mut arrival_ns = 0;
        let jobs: Vec<(u64, u64)> = (0..1000u64)
            .map(|n| {
                arrival_ns += n * 7919 % 13;
                (arrival_ns, n * 104_729 % 31)
            })
            .collect();
        for count in [1, 2, 5] {
            let mut servers = Servers::new(count, NO_STALL);
            let mut free_ns = vec![0u64; count];
            for &(arrival_ns, service_ns) in &jobs {
                free_ns.sort_unstable();
                free_ns[0] = arrival_ns.max(free_ns[0]) + service_ns;
                assert_eq!(servers.completion_ns(arrival_ns, service_ns), free_ns[0]);
            }
        }
    }

    #[test]
    fn a_stall_prolongs_by_exactly_the_overlap() {
        let stall = Stall { at_ns: 100, length_ns: 50 };
        let check = |begin_ns, service_ns, expect: u64| {
            assert_eq!(
                stall.completion_ns(begin_ns, service_ns),
                expect,
                "{begin_ns}+{service_ns}"
            );
        };
        check(10, 20, 30); // Over before it.
        check(90, 10, 100); // Over as it begins.
        check(90, 11, 151); // One nanosecond was left.
        check(100, 0, 150); // Nothing is done within, not even nothing.
        check(100, 5, 155);
        check(149, 5, 155);
        check(150, 5, 155); // The stall is over at its end.
        check(0, 1000, 1050);
        assert_eq!(NO_STALL.completion_ns(0, 5), 5);
        assert_eq!(NO_STALL.completion_ns(7, 5), 12);
    }
}
