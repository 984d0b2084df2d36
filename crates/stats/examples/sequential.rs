//! Shows how often confidence intervals contain the true value if the number of repeats depends on
//! the results, in simulations where the truth is known: `cargo run --example sequential -p stats`.
//!
//! Experiments with [`stats::precise`] stop as soon as the half-width is at most 2 % of the mean,
//! those with [`stats::anytime`] as soon as a ratio is decided. For comparison, Student's interval
//! of 95 % is stopped in the same way.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::{FIGURES_MIN, Mean, anytime, mean, precise, unit};

/// Number of simulated experiments for each row of the output.
const TRIALS: u64 = 2_000;

struct Draws {
    random: Xoshiro256PlusPlus,
    last: f64,
}

impl Draws {
    fn new(seed: u64) -> Draws {
        Draws { random: Xoshiro256PlusPlus::seed_from_u64(seed), last: f64::NAN }
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (unit(self.random.next_u64()), unit(self.random.next_u64()));
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// Draws a random value with mean 1 and this coefficient of variation.
    fn figure(&mut self, model: &str, cv: f64) -> f64 {
        match model {
            "normal" => 1.0 + cv * self.normal(),
            "lognormal" => {
                let variance = (1.0 + cv * cv).ln();
                (variance.sqrt() * self.normal() - variance / 2.0).exp()
            }
            "t3" => {
                let chi_square: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
                // A t of 3 degrees has a variance of 3.
                1.0 + cv * self.normal() / (chi_square / 3.0).sqrt() / 3_f64.sqrt()
            }
            "skewed" => {
                // A steady rate with now and then a slow run: an exponential loss.
                1.0 + cv * (1.0 + (1.0 - unit(self.random.next_u64())).ln())
            }
            _ => {
                let share: f64 =
                    model.strip_prefix("ar").map_or(0.0, |number| number.parse().unwrap_or(0.0));
                let last = if self.last.is_nan() { self.normal() } else { self.last };
                self.last = share * last + (1.0 - share * share).sqrt() * self.normal();
                1.0 + cv * self.last
            }
        }
    }
}

type Interval = fn(&[f64]) -> Option<Mean>;

/// Returns in how many simulated experiments the interval contains the truth when the repeats stop,
/// and the mean number of repeats.
fn narrow(model: &str, cv: f64, most: usize, interval: Interval) -> (u64, f64) {
    let (mut held, mut n_all) = (0, 0);
    for seed in 0..TRIALS {
        let mut draws = Draws::new(seed);
        let mut figures = Vec::new();
        let found = loop {
            figures.push(draws.figure(model, cv));
            if figures.len() < FIGURES_MIN {
                continue;
            }
            let found = interval(&figures).expect("there are some");
            let half_width = found.half_width.expect("there are several");
            if half_width <= 0.02 * found.value || figures.len() == most {
                break (found.value - 1.0).abs() <= half_width;
            }
        };
        held += u64::from(found);
        n_all += figures.len();
    }
    (held, n_all as f64 / TRIALS as f64)
}

/// Compares two systems that differ by the share `truth`, in many simulated experiments. Returns
/// how many are decided correctly, wrongly and not at all, and the mean number of rounds.
fn decided(model: &str, cv: f64, truth: f64, most: usize, interval: Interval) -> ([u64; 3], f64) {
    let (mut counts, mut n_all) = ([0; 3], 0);
    let floor = 1.01_f64.ln();
    for seed in 0..TRIALS {
        let (mut first, mut second) = (Draws::new(seed), Draws::new(seed + 1_000_000));
        let mut figures = Vec::new();
        let outcome = loop {
            let ratio = second.figure(model, cv) * (1.0 + truth) / first.figure(model, cv);
            figures.push(ratio.ln());
            if figures.len() < FIGURES_MIN {
                continue;
            }
            let found = interval(&figures).expect("there are some");
            let half_width = found.half_width.expect("there are several");
            let (low, high) = (found.value - half_width, found.value + half_width);
            let truth = (1.0 + truth).ln();
            if -floor <= low && high <= floor {
                break usize::from(truth.abs() > floor);
            }
            if (low > 0.0 || high < 0.0) && found.value.abs() > floor {
                break usize::from(truth == 0.0 || (truth > 0.0) != (low > 0.0));
            }
            if figures.len() == most {
                break 2;
            }
        };
        counts[outcome] += 1;
        n_all += figures.len();
    }
    (counts, n_all as f64 / TRIALS as f64)
}

fn student(figures: &[f64]) -> Option<Mean> {
    mean(figures, 0.95)
}

fn always(figures: &[f64]) -> Option<Mean> {
    anytime(figures, 0.95)
}

fn main() {
    println!("until=2%: intervals of {TRIALS} that hold, and runs on average");
    println!("{:<10} {:>6} {:>5} {:>18} {:>18}", "model", "cv %", "max", "precise", "Student 95 %");
    for model in ["normal", "lognormal", "t3", "skewed", "ar0.3", "ar0.6"] {
        for (cv, most) in [
            (0.2, 30),
            (1.0, 30),
            (2.0, 30),
            (3.0, 30),
            (3.0, 10),
            (5.0, 30),
            (5.0, 200),
            (10.0, 400),
        ] {
            let coverage = |interval| {
                let (held, n) = narrow(model, cv / 100.0, most, interval);
                format!("{:.1} % in {n:.1}", held as f64 * 100.0 / TRIALS as f64)
            };
            let (ours, plain) = (coverage(precise), coverage(student));
            println!("{model:<10} {cv:>6.1} {most:>5} {ours:>18} {plain:>18}");
        }
    }
    println!(
        "\nuntil=decided, minimum effect 1 %, at most 30 rounds: right, wrong, undecided, rounds"
    );
    println!(
        "{:<10} {:>6} {:>8} {:>26} {:>26}",
        "model", "cv %", "truth %", "anytime", "Student 95 %"
    );
    for model in ["normal", "lognormal", "t3", "skewed", "ar0.3", "ar0.6"] {
        for (cv, truth) in
            [(0.5, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 2.0), (1.0, 5.0), (3.0, 5.0), (1.0, -5.0)]
        {
            let outcomes = |interval| {
                let ([right, wrong, open], n) =
                    decided(model, cv / 100.0, truth / 100.0, 30, interval);
                format!("{right} {wrong} {open} in {n:.1}")
            };
            let (ours, plain) = (outcomes(always), outcomes(student));
            println!("{model:<10} {cv:>6.1} {truth:>8.1} {ours:>26} {plain:>26}");
        }
    }
}
