//! The Universal Scalability Law: throughput as a function of the number of clients.
//!
//! X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)) (N. J. Gunther, "Guerrilla Capacity Planning", 2007,
//! chapter 4): λ is the throughput of one client, σ the share of work that is done one after the
//! other, κ the cost of keeping clients coherent. Errors of throughputs are relative, so logarithms
//! are fitted by least squares. Intervals are those of a parametric bootstrap that also draws the
//! variance of the residuals: for a linear law they would be Student's, so they are valid with few
//! points as well. If repeats show that the law itself does not fit, the number of distinct client
//! counts, and not that of runs, decides how wide they are. Not here: which runs the points come
//! from.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::draw::normal;

/// Smallest number of distinct client counts for a fit of three parameters: with four, an interval
/// has a single degree of freedom.
const POINTS_MIN: usize = 6;
/// Number of simulated data sets to which the Universal Scalability Law is fitted for confidence
/// intervals (bootstrap).
const RESAMPLES: usize = 400;
/// Limit on the Gauss-Newton steps of a fit, after which the parameters found so far are used. A
/// handful of steps is enough if the fit converges.
const STEPS_MAX: usize = 60;

/// The Universal Scalability Law fitted to throughputs at several numbers of clients, with
/// confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// λ: throughput of a single client, in the unit of the measured throughputs.
    pub lambda: f64,
    /// σ: contention, the share of work that is done one after the other, from 0 to 1.
    pub sigma: f64,
    /// κ: coherency cost per pair of clients, at least 0.
    pub kappa: f64,
    /// 90 % confidence intervals of λ, σ and κ.
    pub intervals: [(f64, f64); 3],
    /// Highest throughput that the fitted law predicts, or the reason why none is reported.
    pub peak: Result<Peak, NoPeak>,
    /// Root mean square of the residuals of the logarithm of throughput: 0.05 is about 5 %.
    pub residual: f64,
    /// Largest residual, as a share of the fitted throughput, and the number of clients at which it
    /// occurs.
    pub worst: (f64, u32),
    /// p-value of the F test for lack of fit, which compares the distances of points from the law
    /// with the scatter of repeats; `None` without repeats.
    pub lack_of_fit: Option<f64>,
}

/// Highest throughput over the number of clients, with 90 % confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Number of clients at which throughput is highest.
    pub clients: f64,
    /// 90 % confidence interval of the number of clients at which throughput is highest.
    pub clients_interval: (f64, f64),
    /// The highest throughput, in the unit of the measured throughputs.
    pub throughput: f64,
    /// 90 % confidence interval of the highest throughput.
    pub throughput_interval: (f64, f64),
}

/// Reason why no highest throughput is reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoPeak {
    /// Throughput may only level off, because κ is not significantly above 0.
    LevelsOff,
    /// Throughput is highest beyond the largest measured number of clients, at about this many.
    Beyond(f64),
}

/// Reason why the scalability law cannot be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFit {
    /// There are fewer distinct numbers of clients than [`Scalability::POINTS_MIN`]: only this
    /// many.
    TooFewPoints(usize),
    /// A measured throughput is not above zero.
    NoThroughput,
}

impl Scalability {
    /// Smallest number of distinct client counts for a fit of the Universal Scalability Law. With
    /// fewer, [`Scalability::fit`] fails.
    pub const POINTS_MIN: usize = POINTS_MIN;
    /// p-value of the test for lack of fit below which the measurements contradict the Universal
    /// Scalability Law itself, whatever its parameters.
    pub const LACK_OF_FIT: f64 = 0.01;

    /// Returns the throughput of the fitted law for a number of clients, in the unit of the
    /// measured throughputs.
    pub fn throughput(&self, clients: f64) -> f64 {
        Scalability::throughput_of([self.lambda, self.sigma, self.kappa], clients)
    }

    /// Returns the throughput that the Universal Scalability Law predicts for a number of clients,
    /// with these λ, σ and κ.
    pub fn throughput_of([lambda, sigma, kappa]: [f64; 3], clients: f64) -> f64 {
        lambda * shape(clients, sigma, kappa)
    }

    /// Whether repeats show that the measurements do not follow the Universal Scalability Law;
    /// false without repeats.
    pub fn lacks_fit(&self) -> bool {
        self.lack_of_fit.is_some_and(|p| p < Scalability::LACK_OF_FIT)
    }

    /// Fits the Universal Scalability Law to points (clients, throughput); several points with the
    /// same number of clients are repeats. `bits` returns 64 random bits per call, which affect the
    /// intervals only. Fails for too few distinct numbers of clients, or a throughput that is not
    /// above zero.
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
        let squares = residuals.iter().map(|r| r * r).sum::<f64>();
        let worst = residuals.iter().zip(points).map(|(r, point)| (r.exp() - 1.0, point.0));
        let worst = worst.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap_or((0.0, 0));
        let means = means_of(&measured);
        let lack_of_fit = lack_of_fit(&measured, &means, squares);
        let [lambda, sigma, kappa] = best;
        let mut law = Scalability {
            lambda,
            sigma,
            kappa,
            intervals: [(f64::NAN, f64::NAN); 3],
            peak: Err(NoPeak::LevelsOff),
            residual: (squares / (points.len() - 3) as f64).sqrt(),
            worst,
            lack_of_fit,
        };
        // Runs with the same number of clients share the deviation from the law there.
        let (client_counts, squares): (Vec<f64>, f64) = match law.lacks_fit() {
            true => (
                means.iter().map(|mean| mean.0).collect(),
                means.iter().map(|&(n, ln_x)| (ln_x - fitted(n)).powi(2)).sum(),
            ),
            false => (measured.iter().map(|point| point.0).collect(), squares),
        };
        law.draw_intervals(&client_counts, squares, bits);
        Ok(law)
    }

    /// Sets `intervals` and `peak` by a parametric bootstrap: refits simulated points at these
    /// client counts, with residuals of log throughput whose sum of squares is `squares`.
    fn draw_intervals(&mut self, clients: &[f64], squares: f64, bits: &mut dyn FnMut() -> u64) {
        let n_free = clients.len() - 3;
        let mut drawn: [Vec<f64>; 5] = Default::default();
        for _ in 0..RESAMPLES {
            let chi_square: f64 = (0..n_free).map(|_| normal(bits).powi(2)).sum();
            let sd = (squares / chi_square).sqrt();
            let mut again = |&n: &f64| (n, self.throughput(n).ln() + sd * normal(bits));
            let again: Vec<(f64, f64)> = clients.iter().map(&mut again).collect();
            let [lambda, sigma, kappa] = fit_logs(&again);
            let peak = peak_clients(sigma, kappa);
            let top = lambda * peak.map_or(f64::INFINITY, |peak| shape(peak, sigma, kappa));
            let all = [lambda, sigma, kappa, peak.unwrap_or(f64::INFINITY), top];
            drawn.iter_mut().zip(all).for_each(|(list, value)| list.push(value));
        }
        let [lambda, sigma, kappa, peak, top] = drawn.map(|mut list| {
            list.sort_by(f64::total_cmp);
            (list[RESAMPLES / 20], list[RESAMPLES - 1 - RESAMPLES / 20])
        });
        self.intervals = [lambda, sigma, kappa];
        let most = clients.iter().copied().fold(0.0, f64::max);
        self.peak = match peak_clients(self.sigma, self.kappa) {
            Some(at) if at > most => Err(NoPeak::Beyond(at)),
            Some(at) if peak.1.is_finite() => Ok(Peak {
                clients: at,
                clients_interval: peak,
                throughput: self.throughput(at),
                throughput_interval: top,
            }),
            _ => Err(NoPeak::LevelsOff),
        };
    }
}

/// Returns the number of clients with the highest throughput, by the Universal Scalability Law with
/// these parameters; `None` if throughput only levels off.
fn peak_clients(sigma: f64, kappa: f64) -> Option<f64> {
    let is_falling = kappa > 0.0 && sigma < 1.0;
    is_falling.then(|| ((1.0 - sigma) / kappa).sqrt().max(1.0))
}

/// Returns the mean log throughput at each number of clients, as (clients, mean).
fn means_of(measured: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = measured.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean_of = |same: &[(f64, f64)]| {
        (same[0].0, same.iter().map(|point| point.1).sum::<f64>() / same.len() as f64)
    };
    sorted.chunk_by(|a, b| a.0 == b.0).map(mean_of).collect()
}

/// Returns the p-value of the F test for lack of fit: the residuals beyond the scatter of repeats,
/// compared with that scatter (N. R. Draper and H. Smith, "Applied Regression Analysis", 1998,
/// section 2.1). `squares` is the sum of the squared residuals. `None` without repeats, or if all
/// repeats are equal.
fn lack_of_fit(measured: &[(f64, f64)], means: &[(f64, f64)], squares: f64) -> Option<f64> {
    let (of_means, of_repeats) = (means.len() - 3, measured.len() - means.len());
    let mean = |n: f64| means.iter().find(|mean| mean.0 == n).map_or(f64::NAN, |mean| mean.1);
    let pure: f64 = measured.iter().map(|&(n, ln_x)| (ln_x - mean(n)).powi(2)).sum();
    if of_repeats == 0 || pure <= 0.0 {
        return None;
    }
    let lack = (squares - pure).max(0.0) / of_means as f64;
    let ratio = lack / (pure / of_repeats as f64);
    let distribution = FisherSnedecor::new(of_means as f64, of_repeats as f64).ok()?;
    Some(distribution.sf(ratio))
}

/// Returns the throughput that the Universal Scalability Law predicts for a number of clients if
/// its factor λ is 1.
fn shape(clients: f64, sigma: f64, kappa: f64) -> f64 {
    clients / (1.0 + sigma * (clients - 1.0) + kappa * clients * (clients - 1.0))
}

/// Fits the parameters λ, σ and κ of the Universal Scalability Law to points (clients, log
/// throughput) by Gauss-Newton with step halving, within 0 <= σ <= 1 and κ >= 0. λ is the geometric
/// mean of throughput over [`shape`].
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

/// Returns the Gauss-Newton step of σ and κ, which solves the linearized least squares. A parameter
/// at its bound that the step would move beyond it stays there; `None` if both do. `mean_left`
/// returns the logarithm of λ that fits best to a σ and κ.
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
        // λ absorbs the mean of all residuals.
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
        let found = fit(&points(1000.0, 0.02, 0.0005), 1).peak.expect("it is measured");
        assert!((found.clients - 44.27).abs() < 0.01, "{found:?}");
        assert_eq!(fit(&points(1000.0, 0.1, 0.0), 1).peak, Err(NoPeak::LevelsOff));
        // √(0.98 / 10^-5) = 313 clients, and 256 were measured.
        let beyond = fit(&points(1000.0, 0.02, 0.000_01), 1).peak;
        assert!(
            matches!(beyond, Err(NoPeak::Beyond(at)) if (at - 313.0).abs() < 1.0),
            "{beyond:?}"
        );
    }

    #[test]
    fn a_peak_that_noise_may_have_made_is_refused() {
        // Points level off; a few percent of noise bend them down or up.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let laws = (0..60).map(|trial| {
            let mut noisy = points(1000.0, 0.1, 0.0);
            noisy.iter_mut().for_each(|(_, x)| {
                *x *= (0.05 * normal(&mut || random.next_u64())).exp();
            });
            fit(&noisy, trial)
        });
        let shown = laws.filter(|law| law.peak.is_ok()).count();
        // κ > 0 at 95 % one-sided: 3 of 60 are expected.
        assert!(shown <= 8, "{shown} of 60");
    }

    /// Returns how often the 90 % intervals of λ, σ, κ and the highest throughput contain the
    /// truth, and how often a highest throughput is reported.
    fn held(clients: &[u32], repeats: usize, noise: f64, n_trials: u64) -> ([u64; 4], u64) {
        let (lambda, sigma, kappa) = (1000.0, 0.05, 0.0004);
        let peak = peak_clients(sigma, kappa).expect("it falls");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let (mut n_held, mut n_peaks) = ([0; 4], 0);
        for trial in 0..n_trials {
            let mut noisy = Vec::new();
            for &n in clients {
                for _ in 0..repeats {
                    let error = noise * normal(&mut || random.next_u64());
                    noisy.push((n, lambda * shape(f64::from(n), sigma, kappa) * error.exp()));
                }
            }
            let found = fit(&noisy, trial);
            let holds =
                |(low, high): (f64, f64), truth: f64| u64::from(low <= truth && truth <= high);
            for (held, (interval, truth)) in
                n_held.iter_mut().zip(found.intervals.iter().zip([lambda, sigma, kappa]))
            {
                *held += holds(*interval, truth);
            }
            if let Ok(shown) = found.peak {
                n_peaks += 1;
                n_held[3] += holds(shown.clients_interval, peak);
            }
        }
        (n_held, n_peaks)
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        // 90 % of 200 is 180; four standard errors of that are 17.
        for (clients, repeats) in
            [(&CLIENTS[..], 2), (&CLIENTS[..], 1), (&[1, 4, 16, 48, 128, 256][..], 1)]
        {
            let (n_held, n_peaks) = held(clients, repeats, 0.03, 200);
            let [lambda, sigma, kappa, peak] = n_held;
            assert!([lambda, sigma, kappa].iter().all(|n| *n >= 163), "{n_held:?}");
            assert!(n_peaks > 150 && peak as f64 >= 0.815 * n_peaks as f64, "{peak} of {n_peaks}");
        }
    }

    #[test]
    fn a_law_that_is_off_by_more_than_repeats_scatter_lacks_fit() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut noise = |sd: f64| (sd * normal(&mut || random.next_u64())).exp();
        let mut n_lack = 0;
        for trial in 0..100 {
            let straight: Vec<(u32, f64)> = points(1000.0, 0.05, 0.0004)
                .into_iter()
                .flat_map(|point| [point, point, point])
                .map(|(n, x)| (n, x * noise(0.02)))
                .collect();
            n_lack += u32::from(fit(&straight, trial).lacks_fit());
        }
        // One of a hundred by chance.
        assert!(n_lack <= 5, "{n_lack}");
        // A jump of 8 % from 16 clients on, and repeats within 1 %.
        let bent: Vec<(u32, f64)> = points(1000.0, 0.05, 0.0004)
            .into_iter()
            .flat_map(|point| [point, point, point])
            .map(|(n, x)| (n, x * noise(0.01) * if n < 16 { 1.0 } else { 1.08 }))
            .collect();
        let found = fit(&bent, 1);
        assert!(found.lacks_fit(), "{found:?}");
        assert_eq!(fit(&points(1000.0, 0.05, 0.0004), 1).lack_of_fit, None);
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
        let few = [(1, 10.0), (1, 11.0), (2, 19.0), (4, 30.0), (8, 50.0), (16, 60.0)];
        assert_eq!(Scalability::fit(&few, &mut bits), Err(NoFit::TooFewPoints(5)));
        let none = [(1, 10.0), (2, 0.0), (4, 30.0), (8, 40.0), (16, 50.0), (32, 50.0)];
        assert_eq!(Scalability::fit(&none, &mut bits), Err(NoFit::NoThroughput));
    }
}
