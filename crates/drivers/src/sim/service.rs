//! Random draws of the simulated database: service times and failures.
//!
//! Every draw is a function of the seed and the statement's number, so that a model can use the
//! same draws. Not here: the numbering of statements (the database), and queueing (servers).

use model::{BadParameter, DbErrorKind, Rng, Stream, parse_duration};

/// Distribution of the service times of a simulated database.
#[derive(Clone, Debug, PartialEq)]
pub enum SimService {
    /// The same service time for every statement, in nanoseconds.
    Constant(u64),
    /// Exponentially distributed service times with this mean, in nanoseconds.
    Exponential(f64),
    /// List of service times in nanoseconds, which the random draws take in turn by their numbers;
    /// after the last one follows the first.
    List(Vec<u64>),
}

/// Limit on the number of service times in the option `service=list:...`; a longer list is
/// rejected.
const LIST_LENGTH_MAX: usize = 10_000;

impl SimService {
    /// Parses the option `service`: `constant:2ms`, `exponential:2ms` or `list:1ms/2ms/5ms`. Fails
    /// for other forms.
    pub fn parse(text: &str) -> Result<SimService, BadParameter> {
        let bad = |why: &str| BadParameter::named("service", format!("'{text}': {why}"));
        let forms = "write constant:2ms, exponential:2ms or list:1ms/2ms/5ms";
        let (form, rest) = text.split_once(':').ok_or_else(|| bad(forms))?;
        let duration = |text: &str| parse_duration(text).map_err(|no| bad(&no.0));
        match form {
            "constant" => Ok(SimService::Constant(duration(rest)?)),
            "exponential" => Ok(SimService::Exponential(duration(rest)? as f64)),
            "list" => {
                let times: Vec<u64> = rest.split('/').map(duration).collect::<Result<_, _>>()?;
                if times.len() > LIST_LENGTH_MAX {
                    return Err(bad("the list has more than 10,000 values"));
                }
                Ok(SimService::List(times))
            }
            _ => Err(bad(forms)),
        }
    }

    /// Returns the service time of the random draw with the number `n`, from 0, in nanoseconds.
    /// `bits`, which is called only if needed, returns the 64 random bits of that draw.
    fn time_ns(&self, n: u64, bits: impl FnOnce() -> u64) -> u64 {
        match self {
            SimService::Constant(ns) => *ns,
            SimService::Exponential(mean_ns) => stats::exponential_ns(bits(), *mean_ns),
            SimService::List(times) => times[(n % times.len() as u64) as usize],
        }
    }
}

/// Returns the service time, in nanoseconds, of the random draw with the number `n`. Draws are
/// numbered from 0 in the order in which statements arrive or, with the option `draws=key`, by the
/// statement's key. A queueing model can thus compute with the same times as the simulated
/// database.
pub fn service_draw_ns(seed: u64, service: &SimService, n: u64) -> u64 {
    service.time_ns(n, || Rng::new(seed, Stream::Sim, n).bits())
}

/// Probabilities of simulated errors. The number beside each kind of error is the cumulative
/// probability: its own, and those of the kinds before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Failures(Vec<(f64, DbErrorKind)>);

impl Failures {
    /// Parses the option `fail`, such as `0.01:deadlock/0.001:connection_lost` (probability and
    /// kind of error); an empty text means no errors.
    pub(super) fn parse(text: &str) -> Result<Failures, BadParameter> {
        let bad = |why: String| BadParameter::named("fail", format!("'{text}': {why}"));
        let mut thresholds = Vec::new();
        let mut sum = 0.0;
        for part in text.split('/').filter(|part| !part.is_empty()) {
            let forms = || bad("write 0.01:deadlock, and separate several with /".to_owned());
            let (probability, name) = part.split_once(':').ok_or_else(forms)?;
            let probability: f64 = probability.parse().map_err(|_| forms())?;
            if !(0.0..=1.0).contains(&probability) {
                return Err(bad(format!("{probability} is not a probability from 0 to 1")));
            }
            let kind = DbErrorKind::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = DbErrorKind::ALL.iter().map(|kind| kind.name()).collect();
                bad(format!(
                    "there is no database error '{name}': choose one of {}",
                    known.join(", ")
                ))
            })?;
            sum += probability;
            thresholds.push((sum, kind));
        }
        match sum > 1.0 + 1e-9 {
            true => Err(bad("the probabilities add up to more than 1".to_owned())),
            false => Ok(Failures(thresholds)),
        }
    }

    /// Whether no statement ever fails, since no probability of an error is set.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn drawn(&self, bits: u64) -> Option<DbErrorKind> {
        let throw = stats::unit(bits);
        self.0.iter().find(|(below, _)| throw < *below).map(|(_, kind)| *kind)
    }
}

/// Draws service time (in nanoseconds) and error of a statement by the random draw with the number
/// `n`. The service time is that of [`service_draw_ns`]; the error is `None` if the statement
/// succeeds.
pub(super) fn draw(
    seed: u64,
    service: &SimService,
    failures: &Failures,
    n: u64,
) -> (u64, Option<DbErrorKind>) {
    if failures.is_empty() {
        return (service_draw_ns(seed, service, n), None);
    }
    let mut rng = Rng::new(seed, Stream::Sim, n);
    let bits = rng.bits();
    (service.time_ns(n, || bits), failures.drawn(rng.bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_read_as_written() {
        let check =
            |text: &str, expect: SimService| assert_eq!(SimService::parse(text), Ok(expect));
        check("constant:0s", SimService::Constant(0));
        check("exponential:2ms", SimService::Exponential(2e6));
        check("list:1ms/2ms/5ms", SimService::List(vec![1_000_000, 2_000_000, 5_000_000]));
        for bad in ["2ms", "constant:2", "normal:2ms", "list:", "list:1ms//2ms"] {
            assert!(SimService::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn failures_are_read_as_written() {
        assert_eq!(Failures::parse(""), Ok(Failures::default()));
        let two = Failures::parse("0.25:deadlock/0.5:connection_lost").expect("valid");
        let expect = [(0.25, DbErrorKind::Deadlock), (0.75, DbErrorKind::ConnectionLost)];
        assert_eq!(two.0, expect);
        for bad in ["0.1", "x:deadlock", "2:deadlock", "0.1:sunshine", "0.6:deadlock/0.6:busy"] {
            assert!(Failures::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_same_seed_and_number_draw_the_same() {
        let service = SimService::Exponential(2e6);
        let draws = |seed| (0..100).map(|n| service_draw_ns(seed, &service, n)).collect::<Vec<_>>();
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }

    #[test]
    fn failures_do_not_change_the_times() {
        let service = SimService::Exponential(2e6);
        let failures = Failures::parse("0.5:deadlock").expect("valid");
        for n in 0..100 {
            let alone = service_draw_ns(7, &service, n);
            assert_eq!(draw(7, &service, &failures, n).0, alone);
        }
    }

    #[test]
    fn the_mean_of_the_draws_is_the_mean_that_was_asked_for() {
        let service = SimService::Exponential(2e6);
        let n = 200_000;
        let sum: u64 = (0..n).map(|number| service_draw_ns(7, &service, number)).sum();
        let mean_ns = sum as f64 / n as f64;
        // Five standard errors of a mean of exponentials.
        assert!((mean_ns - 2e6).abs() < 5.0 * 2e6 / (n as f64).sqrt(), "{mean_ns}");
    }

    #[test]
    fn failures_come_as_often_as_asked_for() {
        let failures = Failures::parse("0.1:deadlock/0.05:busy").expect("valid");
        let n = 100_000u64;
        let service = SimService::Constant(0);
        let count = |wanted| {
            (0..n).filter(|n| draw(7, &service, &failures, *n).1 == Some(wanted)).count() as f64
        };
        // Five standard errors of a binomial count: 475 and 345.
        assert!((count(DbErrorKind::Deadlock) - 10_000.0).abs() < 475.0);
        assert!((count(DbErrorKind::Busy) - 5_000.0).abs() < 345.0);
    }
}
