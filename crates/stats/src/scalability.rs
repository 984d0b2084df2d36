//! The Universal Scalability Law: how throughput follows from the number of clients.
//!
//! X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)) (N. J. Gunther, "Guerrilla Capacity Planning", 2007,
//! chapter 4): λ is what one client gets, σ the share that is done one after the other, κ what
//! clients cost each other by keeping things coherent. Errors of throughputs are shares of them,
//! so the fit is least squares of logarithms. Not here: which runs the points come from.

use crate::unit;

/// Fewer different numbers of clients than this say nothing about three parameters.
const POINTS_MIN: usize = 4;
/// Refits of the bootstrap.
const RESAMPLES: usize = 400;
/// Gauss-Newton steps; a handful is enough where it converges at all.
const STEPS_MAX: usize = 60;

/// A fitted law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// λ: what one client gets.
    pub lambda: f64,
    /// σ: contention, 0 to 1.
    pub sigma: f64,
    /// κ: coherency, not negative.
    pub kappa: f64,
    /// 90 % intervals of λ, σ and κ, by resampling residuals.
    pub intervals: [(f64, f64); 3],
    /// The root of the mean square of the residuals' logarithms: 0.05 is about 5 %.
    pub residual: f64,
    /// The largest of the residuals, as a share, and at how many clients.
    pub worst: (f64, u32),
}

/// Why no law is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFit {
    /// It takes four different numbers of clients at least; so many there are.
    TooFewPoints(usize),
    /// Throughputs must be above zero.
    NoThroughput,
}

impl Scalability {
    /// The throughput at so many clients.
    pub fn throughput(&self, clients: f64) -> f64 {
        self.lambda * shape(clients, self.sigma, self.kappa)
    }

    /// The number of clients at which throughput is highest; none where it only levels off.
    pub fn peak_clients(&self) -> Option<f64> {
        let is_falling = self.kappa > 0.0 && self.sigma < 1.0;
        is_falling.then(|| ((1.0 - self.sigma) / self.kappa).sqrt().max(1.0))
    }

    /// The law of points of clients and throughput; several of the same number are repeats.
    /// `bits` are random, and decide nothing but the intervals.
    pub fn fit(points: &[(u32, f64)], bits: &mut dyn FnMut() -> u64) -> Result<Scalability, NoFit> {
        let mut clients: Vec<u32> = points.iter().map(|point| point.0).collect();
        clients.sort_unstable();
        clients.dedup();
        if clients.len() < POINTS_MIN || clients[0] == 0 {
            return Err(NoFit::TooFewPoints(clients.len()));
        }
        if points.iter().any(|point| !point.1.is_finite() || point.1 <= 0.0) {
            return Err(NoFit::NoThroughput);
        }
        let measured: Vec<(f64, f64)> =
            points.iter().map(|&(n, x)| (f64::from(n), x.ln())).collect();
        let best = fit_logs(&measured);
        let fitted = |n: f64| best[0].ln() + shape(n, best[1], best[2]).ln();
        let residuals: Vec<f64> = measured.iter().map(|&(n, ln_x)| ln_x - fitted(n)).collect();
        let n_free = (points.len() - 3).max(1) as f64;
        let residual = (residuals.iter().map(|r| r * r).sum::<f64>() / n_free).sqrt();
        let worst = residuals.iter().zip(points).map(|(r, point)| (r.exp() - 1.0, point.0));
        let worst = worst.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap_or((0.0, 0));
        // Residuals of a fit are too small by the parameters that it took.
        let widening = (points.len() as f64 / n_free).sqrt();
        let mut drawn: [Vec<f64>; 3] = Default::default();
        for _ in 0..RESAMPLES {
            let pick = |bits: u64| residuals[(unit(bits) * residuals.len() as f64) as usize];
            let again: Vec<(f64, f64)> =
                measured.iter().map(|&(n, _)| (n, fitted(n) + widening * pick(bits()))).collect();
            let fit = fit_logs(&again);
            drawn.iter_mut().zip(fit).for_each(|(list, value)| list.push(value));
        }
        let [lambda, sigma, kappa] = best;
        let intervals = drawn.map(|mut list| {
            list.sort_by(f64::total_cmp);
            (list[RESAMPLES / 20], list[RESAMPLES - 1 - RESAMPLES / 20])
        });
        Ok(Scalability { lambda, sigma, kappa, intervals, residual, worst })
    }
}

/// The law where one client gets 1.
fn shape(clients: f64, sigma: f64, kappa: f64) -> f64 {
    clients / (1.0 + sigma * (clients - 1.0) + kappa * clients * (clients - 1.0))
}

/// λ, σ and κ: Gauss-Newton with the step halved while it makes things worse, within 0 <= σ <= 1
/// and κ >= 0. λ is the mean of what the two others leave.
fn fit_logs(points: &[(f64, f64)]) -> [f64; 3] {
    let mean_left = |sigma: f64, kappa: f64| {
        let left = points.iter().map(|&(n, ln_x)| ln_x - shape(n, sigma, kappa).ln());
        left.sum::<f64>() / points.len() as f64
    };
    let error = |sigma: f64, kappa: f64| {
        let ln_lambda = mean_left(sigma, kappa);
        let square =
            |&(n, ln_x): &(f64, f64)| (ln_x - ln_lambda - shape(n, sigma, kappa).ln()).powi(2);
        points.iter().map(square).sum::<f64>()
    };
    let n_most = points.iter().map(|point| point.0).fold(1.0, f64::max);
    let starts = [(0.01, 0.0), (0.1, 0.1 / (n_most * n_most)), (0.5, 1.0 / (n_most * n_most))];
    let mut best = (f64::INFINITY, 0.0, 0.0);
    for (mut sigma, mut kappa) in starts {
        let mut now = error(sigma, kappa);
        for _ in 0..STEPS_MAX {
            let Some((by_sigma, by_kappa)) = newton_step(points, sigma, kappa, mean_left) else {
                break;
            };
            let mut share = 1.0;
            let before = now;
            while share > 1e-9 {
                let next = (
                    (sigma + share * by_sigma).clamp(0.0, 1.0),
                    (kappa + share * by_kappa).max(0.0),
                );
                let then = error(next.0, next.1);
                if then < now {
                    (sigma, kappa, now) = (next.0, next.1, then);
                    break;
                }
                share /= 2.0;
            }
            if before - now <= 1e-14 * before {
                break;
            }
        }
        if now < best.0 {
            best = (now, sigma, kappa);
        }
    }
    [mean_left(best.1, best.2).exp(), best.1, best.2]
}

/// The step by which linear least squares would get there; a parameter that is at its bound and
/// would leave it stays.
fn newton_step(
    points: &[(f64, f64)],
    sigma: f64,
    kappa: f64,
    mean_left: impl Fn(f64, f64) -> f64,
) -> Option<(f64, f64)> {
    let ln_lambda = mean_left(sigma, kappa);
    let below = |n: f64| 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
    let slopes: Vec<(f64, f64)> =
        points.iter().map(|&(n, _)| (-(n - 1.0) / below(n), -n * (n - 1.0) / below(n))).collect();
    let count = points.len() as f64;
    let mean = slopes.iter().fold((0.0, 0.0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
    let mean = (mean.0 / count, mean.1 / count);
    let (mut ss, mut sk, mut kk, mut sr, mut kr) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (&(n, ln_x), slope) in points.iter().zip(&slopes) {
        // λ takes the mean out of everything.
        let (s, k) = (slope.0 - mean.0, slope.1 - mean.1);
        let left = ln_x - ln_lambda - shape(n, sigma, kappa).ln();
        ss += s * s;
        sk += s * k;
        kk += k * k;
        sr += s * left;
        kr += k * left;
    }
    let alone = |xx: f64, xr: f64| if xx > 0.0 { xr / xx } else { 0.0 };
    let together = ss * kk - sk * sk;
    let (by_sigma, by_kappa) = match together > 1e-12 * ss * kk {
        true => ((sr * kk - kr * sk) / together, (kr * ss - sr * sk) / together),
        false => (alone(ss, sr), 0.0),
    };
    let sigma_leaves = (sigma <= 0.0 && by_sigma < 0.0) || (sigma >= 1.0 && by_sigma > 0.0);
    let kappa_leaves = kappa <= 0.0 && by_kappa < 0.0;
    match (sigma_leaves, kappa_leaves) {
        (true, true) => None,
        (true, false) => Some((0.0, alone(kk, kr))),
        (false, true) => Some((alone(ss, sr), 0.0)),
        (false, false) => Some((by_sigma, by_kappa)),
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const CLIENTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

    fn points(lambda: f64, sigma: f64, kappa: f64) -> Vec<(u32, f64)> {
        CLIENTS.map(|n| (n, lambda * shape(f64::from(n), sigma, kappa))).to_vec()
    }

    fn fit(points: &[(u32, f64)], seed: u64) -> Scalability {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Scalability::fit(points, &mut || random.next_u64()).unwrap()
    }

    #[test]
    fn an_exact_law_is_found_again() {
        let near = |found: f64, true_value: f64| {
            assert!((found - true_value).abs() <= 1e-6 * true_value.max(1e-3), "{found}");
        };
        for (lambda, sigma, kappa) in
            [(995.6, 0.02, 0.0001), (50_000.0, 0.3, 0.0), (7.0, 0.0, 0.0), (100.0, 0.0, 0.002)]
        {
            let found = fit(&points(lambda, sigma, kappa), 1);
            near(found.lambda, lambda);
            near(found.sigma, sigma);
            near(found.kappa, kappa);
            assert!(found.residual < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn the_peak_is_where_the_law_says() {
        let found = fit(&points(1000.0, 0.02, 0.0005), 1);
        assert!((found.peak_clients().unwrap() - 44.27).abs() < 0.01);
        assert_eq!(fit(&points(1000.0, 0.1, 0.0), 1).peak_clients(), None);
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let (lambda, sigma, kappa) = (1000.0, 0.05, 0.0004);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut n_held = [0; 3];
        let n_trials = 200;
        for trial in 0..n_trials {
            let mut normal = || (0..12).map(|_| unit(random.next_u64())).sum::<f64>() - 6.0;
            let noisy: Vec<(u32, f64)> = points(lambda, sigma, kappa)
                .iter()
                .flat_map(|&(n, x)| [(n, x), (n, x)])
                .map(|(n, x)| (n, x * (0.03 * normal()).exp()))
                .collect();
            let found = fit(&noisy, trial);
            for (held, (interval, truth)) in
                n_held.iter_mut().zip(found.intervals.iter().zip([lambda, sigma, kappa]))
            {
                *held += usize::from(interval.0 <= truth && truth <= interval.1);
            }
        }
        // 90 % of 200 is 180; four standard errors of that are 17.
        assert!(n_held.iter().all(|n| (163..=197).contains(n)), "{n_held:?}");
    }

    #[test]
    fn what_is_no_such_law_leaves_large_residuals() {
        // Twice as much from 32 clients on.
        let stepped: Vec<(u32, f64)> =
            CLIENTS.map(|n| (n, if n < 32 { 100.0 } else { 400.0 })).to_vec();
        assert!(fit(&stepped, 1).residual > 0.2);
    }

    #[test]
    fn too_few_points_are_refused() {
        let mut bits = || 0;
        let few = [(1, 10.0), (1, 11.0), (2, 19.0), (4, 30.0)];
        assert_eq!(Scalability::fit(&few, &mut bits), Err(NoFit::TooFewPoints(3)));
        let none = [(1, 10.0), (2, 0.0), (4, 30.0), (8, 40.0)];
        assert_eq!(Scalability::fit(&none, &mut bits), Err(NoFit::NoThroughput));
    }
}
