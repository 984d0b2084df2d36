//! Exact results of queueing theory: closed forms of M/M/1, M/M/c and M/G/1, and recursions that
//! compute the service of given arrivals with given service times. Measurements are tested against
//! both.
//!
//! Not here: random draws of arrivals and services, and any database. Closed forms take rates per
//! second and give nanoseconds as floats; recursions are integer nanoseconds, exact. Customers are
//! served first come, first served. Formulas after Kleinrock, Queueing Systems I (1975).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

const NS_PER_S: f64 = 1e9;

/// Returns the mean number of customers in a system with this throughput and mean response time, by
/// Little's law: L = lambda W (Little, Operations Research 9, 383, 1961).
pub fn little_in_system(throughput_per_s: f64, response_ns_mean: f64) -> f64 {
    throughput_per_s * response_ns_mean / NS_PER_S
}

/// The M/M/1 queue: Poisson arrivals, exponential service times, one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1 {
    /// Mean arrival rate of customers, per second.
    pub arrivals_per_s: f64,
    /// Mean service time of a customer, in nanoseconds.
    pub service_ns_mean: f64,
}

impl Mm1 {
    /// Returns the share of time in which the server is busy. From 1 on there is no steady state,
    /// and every mean and quantile is infinite.
    pub fn utilisation(&self) -> f64 {
        little_in_system(self.arrivals_per_s, self.service_ns_mean)
    }

    /// Returns the mean response time (wait plus service), in nanoseconds: 1 / (mu - lambda).
    pub fn response_ns_mean(&self) -> f64 {
        let idle = 1.0 - self.utilisation();
        if idle <= 0.0 { f64::INFINITY } else { self.service_ns_mean / idle }
    }

    /// Returns the q-quantile of the response time (wait plus service), in nanoseconds: ln(1 / (1 -
    /// q)) / (mu - lambda).
    pub fn response_ns_quantile(&self, q: f64) -> f64 {
        if q <= 0.0 { 0.0 } else { -(-q).ln_1p() * self.response_ns_mean() }
    }
}

/// The M/M/c queue: Poisson arrivals, exponential service times, c servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    /// Mean arrival rate of customers, per second.
    pub arrivals_per_s: f64,
    /// Mean service time of a customer, in nanoseconds.
    pub service_ns_mean: f64,
    /// Number of servers of the queue, at least 1.
    pub servers: u32,
}

impl Mmc {
    /// Returns the mean share of servers that are busy. From 1 on there is no steady state, all
    /// customers wait, and every mean and quantile is infinite.
    pub fn utilisation(&self) -> f64 {
        self.offered_erlang() / f64::from(self.servers)
    }

    /// Returns the offered load a = lambda / mu: the mean number of busy servers, if there is a
    /// steady state.
    fn offered_erlang(&self) -> f64 {
        little_in_system(self.arrivals_per_s, self.service_ns_mean)
    }

    /// Returns the rate per nanosecond at which the queue of waiting customers drains: c mu -
    /// lambda; 0 when overloaded.
    fn drain_per_ns(&self) -> f64 {
        let free = f64::from(self.servers) - self.offered_erlang();
        free.max(0.0) / self.service_ns_mean
    }

    /// Returns the probability C that a customer has to wait (Erlang C), computed by the recursion
    /// of Erlang B, `B(k) = a B(k-1) / (k + a B(k-1))`, and `C = B / (1 - rho (1 - B))`.
    pub fn wait_probability(&self) -> f64 {
        let rho = self.utilisation();
        if rho >= 1.0 {
            return 1.0;
        }
        let offered = self.offered_erlang();
        let blocked = (1..=self.servers)
            .fold(1.0, |blocked, k| offered * blocked / (f64::from(k) + offered * blocked));
        blocked / (1.0 - rho * (1.0 - blocked))
    }

    /// Returns the mean wait before service, in nanoseconds: C / (c mu - lambda).
    pub fn wait_ns_mean(&self) -> f64 {
        self.wait_probability() / self.drain_per_ns()
    }

    /// Returns the probability of waiting longer than `wait_ns`: C exp(-(c mu - lambda) t).
    pub fn wait_tail(&self, wait_ns: f64) -> f64 {
        self.wait_probability() * (-self.drain_per_ns() * wait_ns.max(0.0)).exp()
    }

    /// Returns the q-quantile of the wait, in nanoseconds; 0 for a `q` up to the share of customers
    /// who do not wait.
    pub fn wait_ns_quantile(&self, q: f64) -> f64 {
        let waits = self.wait_probability();
        let beyond = 1.0 - q;
        if beyond >= waits { 0.0 } else { (waits / beyond).ln() / self.drain_per_ns() }
    }

    /// Returns the mean response time (wait plus service), in nanoseconds.
    pub fn response_ns_mean(&self) -> f64 {
        self.wait_ns_mean() + self.service_ns_mean
    }

    /// Returns the probability that the response time (wait plus service) is at most `response_ns`.
    pub fn response_cdf(&self, response_ns: f64) -> f64 {
        1.0 - self.response_tail(response_ns)
    }

    /// Returns the probability that the response time exceeds t = `response_ns`: of a service time
    /// alone, or with probability C of a service time and a wait, both exponential. It is `(1 - C)
    /// e^-mu t + C (f e^-s t - s e^-f t) / (f - s)`, where s and f are the slower and the faster of
    /// mu and c mu - lambda; written so that it stays exact as f nears s.
    fn response_tail(&self, response_ns: f64) -> f64 {
        let t = response_ns.max(0.0);
        let (serve, drain) = (1.0 / self.service_ns_mean, self.drain_per_ns());
        let (slow, fast) = (serve.min(drain), serve.max(drain));
        let gap = fast - slow;
        let late = if gap == 0.0 { slow * t } else { slow * -(-gap * t).exp_m1() / gap };
        let waits = self.wait_probability();
        (1.0 - waits) * (-serve * t).exp() + waits * (-slow * t).exp() * (1.0 + late)
    }

    /// Returns the q-quantile of the response time (wait plus service), in nanoseconds, by
    /// bisection to the last bit.
    pub fn response_ns_quantile(&self, q: f64) -> f64 {
        if q <= 0.0 {
            return 0.0;
        }
        if q >= 1.0 || self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        let beyond = 1.0 - q;
        let (mut low, mut high) = (0.0, self.service_ns_mean);
        while self.response_tail(high) > beyond {
            (low, high) = (high, high * 2.0);
        }
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return high;
            }
            if self.response_tail(middle) > beyond { low = middle } else { high = middle }
        }
    }
}

/// The M/G/1 queue: Poisson arrivals, service times of any distribution, one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mg1 {
    /// Mean arrival rate of customers, per second.
    pub arrivals_per_s: f64,
    /// Mean service time of a customer, in nanoseconds.
    pub service_ns_mean: f64,
    /// Standard deviation of the service time, in nanoseconds.
    pub service_ns_sd: f64,
}

impl Mg1 {
    /// Returns the share of time in which the server is busy. From 1 on every mean is infinite.
    pub fn utilisation(&self) -> f64 {
        little_in_system(self.arrivals_per_s, self.service_ns_mean)
    }

    /// Returns the mean wait before service, in nanoseconds (Pollaczek-Khinchine): lambda E(S^2) /
    /// (2 (1 - rho)).
    pub fn wait_ns_mean(&self) -> f64 {
        let idle = 1.0 - self.utilisation();
        if idle <= 0.0 {
            return f64::INFINITY;
        }
        let service_sq = self.service_ns_mean.powi(2) + self.service_ns_sd.powi(2);
        self.arrivals_per_s / NS_PER_S * service_sq / (2.0 * idle)
    }

    /// Returns the mean response time (wait plus service), in nanoseconds.
    pub fn response_ns_mean(&self) -> f64 {
        self.wait_ns_mean() + self.service_ns_mean
    }
}

/// Start and end of the service of one customer in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Start of the customer's service, in nanoseconds from the origin of the arrivals.
    pub start_ns: u64,
    /// End of the customer's service, in nanoseconds from the origin of the arrivals.
    pub finish_ns: u64,
}

impl Served {
    fn from(start_ns: u64, service_ns: u64) -> Served {
        Served { start_ns, finish_ns: start_ns.saturating_add(service_ns) }
    }
}

/// Computes when one server serves customers in the order of arrival: start = max(arrival, last
/// finish) (Lindley, Proc. Camb. Phil. Soc. 48, 277, 1952).
///
/// Arrivals must be in the order of time; the i-th arrival has the i-th service time.
pub fn lindley(arrivals_ns: &[u64], services_ns: &[u64]) -> Vec<Served> {
    check(arrivals_ns, services_ns);
    let mut free_ns = 0;
    let serve = |(&arrival_ns, &service_ns): (&u64, &u64)| {
        let served = Served::from(free_ns.max(arrival_ns), service_ns);
        free_ns = served.finish_ns;
        served
    };
    arrivals_ns.iter().zip(services_ns).map(serve).collect()
}

/// Computes when several servers serve customers in the order of arrival, each customer by the
/// server that is free first (Kiefer and Wolfowitz, Trans. AMS 78, 1, 1955). The choice among
/// equally free servers makes no difference. Arrivals must be in the order of time.
pub fn kiefer_wolfowitz(arrivals_ns: &[u64], services_ns: &[u64], servers: usize) -> Vec<Served> {
    check(arrivals_ns, services_ns);
    let mut free = Free::new(servers);
    let serve = |(&arrival_ns, &service_ns): (&u64, &u64)| free.serve(arrival_ns, service_ns);
    arrivals_ns.iter().zip(services_ns).map(serve).collect()
}

/// Computes when several servers serve customers, as [`kiefer_wolfowitz`] does, with room for only
/// `queue` waiting customers; `None` for a customer who is dropped.
///
/// An arrival is dropped if at its instant all servers are busy and `queue` customers wait. A
/// service that begins or ends at exactly that instant has begun or ended before it. The service
/// time of a dropped arrival is not used: the i-th arrival always has the i-th service time.
pub fn kiefer_wolfowitz_bounded(
    arrivals_ns: &[u64],
    services_ns: &[u64],
    servers: usize,
    queue: usize,
) -> Vec<Option<Served>> {
    check(arrivals_ns, services_ns);
    let mut free = Free::new(servers);
    // When those who wait will begin, rising, because they begin in the order of arrival.
    let mut starts_ns: VecDeque<u64> = VecDeque::new();
    let serve = |(&arrival_ns, &service_ns): (&u64, &u64)| {
        while starts_ns.front().is_some_and(|&start_ns| start_ns <= arrival_ns) {
            starts_ns.pop_front();
        }
        let busy = free.earliest_ns() > arrival_ns;
        if busy && starts_ns.len() >= queue {
            return None;
        }
        let served = free.serve(arrival_ns, service_ns);
        if busy {
            starts_ns.push_back(served.start_ns);
        }
        Some(served)
    };
    arrivals_ns.iter().zip(services_ns).map(serve).collect()
}

fn check(arrivals_ns: &[u64], services_ns: &[u64]) {
    assert_eq!(arrivals_ns.len(), services_ns.len(), "every arrival has a service");
    assert!(arrivals_ns.is_sorted(), "arrivals come in the order of time");
}

/// Instants, in nanoseconds, at which each server becomes free; the earliest is on top.
struct Free(BinaryHeap<Reverse<u64>>);

impl Free {
    fn new(servers: usize) -> Free {
        assert!(servers > 0, "somebody must serve");
        Free(vec![Reverse(0); servers].into())
    }

    fn earliest_ns(&self) -> u64 {
        self.0.peek().expect("there is a server").0
    }

    /// Serves one customer by the server that becomes free first, and returns start and end of the
    /// service.
    fn serve(&mut self, arrival_ns: u64, service_ns: u64) -> Served {
        let mut earliest = self.0.peek_mut().expect("there is a server");
        let served = Served::from(earliest.0.max(arrival_ns), service_ns);
        earliest.0 = served.finish_ns;
        served
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::exponential_ns;

    fn near(got: f64, wanted: f64, relative: f64) -> bool {
        (got - wanted).abs() <= relative * wanted.abs()
    }

    #[test]
    fn erlang_c_is_the_one_in_the_tables() {
        // Two servers: C = 2 rho^2 / (1 + rho); eight with 6 erlang: 0.35698.
        let two = Mmc { arrivals_per_s: 150.0, service_ns_mean: 1e7, servers: 2 };
        assert!(near(two.wait_probability(), 2.0 * 0.75 * 0.75 / 1.75, 1e-12));
        let eight = Mmc { arrivals_per_s: 600.0, service_ns_mean: 1e7, servers: 8 };
        assert!(near(eight.wait_probability(), 0.356_98, 1e-4), "{}", eight.wait_probability());
    }

    #[test]
    fn one_server_of_many_is_one_server() {
        let one = Mm1 { arrivals_per_s: 80.0, service_ns_mean: 1e7 };
        let many = Mmc { arrivals_per_s: 80.0, service_ns_mean: 1e7, servers: 1 };
        let general = Mg1 { arrivals_per_s: 80.0, service_ns_mean: 1e7, service_ns_sd: 1e7 };
        assert!(near(one.response_ns_mean(), 5e7, 1e-12));
        assert!(near(many.response_ns_mean(), one.response_ns_mean(), 1e-12));
        assert!(near(general.response_ns_mean(), one.response_ns_mean(), 1e-12));
        for q in [0.01, 0.5, 0.99, 0.9999] {
            let (one, many) = (one.response_ns_quantile(q), many.response_ns_quantile(q));
            assert!(near(many, one, 1e-9), "{q}: {many} {one}");
        }
    }

    #[test]
    fn quantiles_invert_their_distributions() {
        // With 4 servers and 3 erlang the wait drains as fast as a service: the double pole.
        for arrivals_per_s in [10.0, 299.999_999_9, 300.0, 300.000_000_1, 399.0] {
            let queue = Mmc { arrivals_per_s, service_ns_mean: 1e7, servers: 4 };
            for q in [0.001, 0.5, 0.9, 0.99, 0.999] {
                let response = queue.response_ns_quantile(q);
                assert!(near(queue.response_cdf(response), q, 1e-9), "{arrivals_per_s} {q}");
                let wait = queue.wait_ns_quantile(q);
                assert!(wait == 0.0 || near(queue.wait_tail(wait), 1.0 - q, 1e-9));
            }
        }
        let far = Mmc { arrivals_per_s: 399.0, service_ns_mean: 1e7, servers: 4 };
        assert_eq!(far.response_cdf(1e18), 1.0);
    }

    #[test]
    fn the_mean_response_is_the_integral_of_its_tail() {
        let queue = Mmc { arrivals_per_s: 350.0, service_ns_mean: 1e7, servers: 4 };
        let step = 1e4;
        let integral: f64 = (0..100_000)
            .map(|i| (1.0 - queue.response_cdf((f64::from(i) + 0.5) * step)) * step)
            .sum();
        assert!(near(integral, queue.response_ns_mean(), 1e-6));
    }

    #[test]
    fn an_overloaded_queue_grows_for_ever() {
        let queue = Mmc { arrivals_per_s: 500.0, service_ns_mean: 1e7, servers: 4 };
        assert_eq!((queue.wait_probability(), queue.wait_tail(1e12)), (1.0, 1.0));
        assert_eq!(queue.wait_ns_mean(), f64::INFINITY);
        assert_eq!(queue.wait_ns_quantile(0.5), f64::INFINITY);
        assert_eq!(queue.response_ns_quantile(0.5), f64::INFINITY);
        let one = Mm1 { arrivals_per_s: 100.0, service_ns_mean: 1e7 };
        assert_eq!(one.response_ns_quantile(0.5), f64::INFINITY);
        assert_eq!(one.response_ns_mean(), f64::INFINITY);
    }

    #[test]
    fn constant_services_wait_half_as_long() {
        let drawn = Mg1 { arrivals_per_s: 80.0, service_ns_mean: 1e7, service_ns_sd: 1e7 };
        let constant = Mg1 { service_ns_sd: 0.0, ..drawn };
        assert!(near(constant.wait_ns_mean(), drawn.wait_ns_mean() / 2.0, 1e-12));
        assert_eq!(little_in_system(500.0, 4e6), 2.0);
    }

    #[test]
    fn one_server_serves_in_the_order_of_arrival() {
        let served = lindley(&[0, 5, 30], &[10, 10, 1]);
        let starts: Vec<u64> = served.iter().map(|served| served.start_ns).collect();
        assert_eq!(starts, [0, 10, 30]);
        assert_eq!(served[2].finish_ns, 31);
    }

    #[test]
    fn an_arrival_at_a_full_queue_is_dropped() {
        let served = kiefer_wolfowitz_bounded(&[0, 1, 2, 3], &[10; 4], 1, 1);
        let starts: Vec<_> = served.iter().map(|s| s.map(|s| s.start_ns)).collect();
        assert_eq!(starts, [Some(0), Some(10), None, None]);
    }

    #[test]
    fn what_ends_at_the_instant_of_an_arrival_makes_room_for_it() {
        // At 10 the first ends and the second begins: the queue is empty.
        let served = kiefer_wolfowitz_bounded(&[0, 1, 10, 10], &[10; 4], 1, 1);
        let starts: Vec<_> = served.iter().map(|s| s.map(|s| s.start_ns)).collect();
        assert_eq!(starts, [Some(0), Some(10), Some(20), None]);
        // Without room to wait, a server that ends now is free now.
        let served = kiefer_wolfowitz_bounded(&[0, 9, 10], &[10; 3], 1, 0);
        let starts: Vec<_> = served.iter().map(|s| s.map(|s| s.start_ns)).collect();
        assert_eq!(starts, [Some(0), None, Some(10)]);
    }

    /// Draws `n` arrival times and service times of an M/M/c queue, in nanoseconds.
    fn draws(seed: u64, n: usize, queue: &Mmc) -> (Vec<u64>, Vec<u64>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut now_ns = 0;
        let mut arrive = || {
            now_ns += exponential_ns(random.next_u64(), NS_PER_S / queue.arrivals_per_s);
            (now_ns, exponential_ns(random.next_u64(), queue.service_ns_mean))
        };
        (0..n).map(|_| arrive()).unzip()
    }

    #[test]
    fn recursions_meet_the_closed_forms() {
        for servers in [1, 4] {
            let queue =
                Mmc { arrivals_per_s: 70.0 * f64::from(servers), service_ns_mean: 1e7, servers };
            let (n, warm_up) = (50_000, 5_000);
            let mut figures = [const { Vec::new() }; 3];
            for seed in 0..20 {
                let (arrivals, services) = draws(seed, n, &queue);
                let served = kiefer_wolfowitz(&arrivals, &services, servers as usize);
                let mut responses = crate::Histogram::default();
                let mut waits = crate::Moments::default();
                for (arrival, served) in arrivals.iter().zip(&served).skip(warm_up) {
                    responses.record(served.finish_ns - arrival);
                    waits.record(served.start_ns - arrival);
                }
                figures[0].push(responses.mean());
                figures[1].push(waits.mean());
                figures[2].push(responses.quantile(0.99).expect("samples") as f64);
            }
            let theory =
                [queue.response_ns_mean(), queue.wait_ns_mean(), queue.response_ns_quantile(0.99)];
            for (figures, theory) in figures.iter().zip(theory) {
                let n = figures.len() as f64;
                let mean = figures.iter().sum::<f64>() / n;
                let variance = figures.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
                let error = (variance / n).sqrt();
                assert!((mean - theory).abs() < 3.0 * error, "{mean} {theory} {error}");
                assert!(error < 0.02 * theory);
            }
        }
    }

    fn customers() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        prop::collection::vec((0_u64..20, 0_u64..50), 0..100).prop_map(|gaps| {
            let mut now = 0;
            gaps.into_iter()
                .map(|(gap, service)| {
                    now += gap;
                    (now, service)
                })
                .unzip()
        })
    }

    proptest! {
        #[test]
        fn one_server_of_many_serves_like_one((arrivals, services) in customers()) {
            let one = lindley(&arrivals, &services);
            prop_assert_eq!(kiefer_wolfowitz(&arrivals, &services, 1), one);
        }

        #[test]
        fn a_queue_without_end_drops_nobody(
            (arrivals, services) in customers(), servers in 1_usize..6,
        ) {
            let all: Vec<_> =
                kiefer_wolfowitz(&arrivals, &services, servers).into_iter().map(Some).collect();
            let bounded = kiefer_wolfowitz_bounded(&arrivals, &services, servers, usize::MAX);
            prop_assert_eq!(bounded, all);
        }

        #[test]
        fn the_bounds_hold_at_every_arrival(
            (arrivals, services) in customers(), servers in 1_usize..4, queue in 0_usize..4,
        ) {
            let served = kiefer_wolfowitz_bounded(&arrivals, &services, servers, queue);
            for (i, (&now, outcome)) in arrivals.iter().zip(&served).enumerate() {
                let before = || served[..i].iter().flatten();
                let waiting = before().filter(|s| s.start_ns > now).count();
                let busy = before().filter(|s| s.start_ns <= now && s.finish_ns > now).count();
                prop_assert!(waiting <= queue && busy <= servers);
                let full = busy == servers && waiting == queue;
                prop_assert_eq!(outcome.is_none(), full);
                if let Some(outcome) = outcome {
                    prop_assert_eq!(outcome.start_ns > now, busy == servers);
                }
            }
        }
    }
}
