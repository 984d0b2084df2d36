//! The figures of a test, from the times of its queries and refresh functions (clause 5.4).
//!
//! A figure has no value if one of its queries or refresh functions failed or did not end. Not
//! here: the rules of an official result, such as the lower of two runs and a price.

use model::numbers::duration;
use model::{ComputedFigure, DbError, DbErrorKind, Direction, Execution, PrimaryMetric, PrimaryOf};

use super::course::{Course, RF1, RF2, Test};
use super::queries::{ALL, QUERIES};
use super::refresh::NOT_EXECUTED;

/// Name of the composite of power and throughput.
const QPHH: &str = "qphh_at_size";
const POWER: &str = "power_at_size";
const THROUGHPUT: &str = "throughput_at_size";
/// Name of the geometric mean of the queries' times in stream 0, in seconds.
const GEOMETRIC_MEAN: &str = "query_geomean_s";
/// Name of the arithmetic mean of the queries' times in stream 0, in seconds.
const ARITHMETIC_MEAN: &str = "query_mean_s";

/// Share of the longest time of a query that a shorter one counts as in the power metric and in
/// the geometric mean (clause 5.4.1.4).
const LEAST_SHARE: f64 = 1e-3;
const SECONDS_PER_HOUR: f64 = 3600.0;

/// Largest number of queries that the reason for a missing figure names; if there are more, it
/// gives their number.
const REASONS_MOST: usize = 3;

/// Returns the primary metrics of a test, the most important first.
pub(super) fn declared(course: Course) -> Vec<PrimaryMetric> {
    use Direction::{Higher, Lower};
    let metric =
        |name, title, better| PrimaryMetric { name, title, of: PrimaryOf::Computed, better };
    let power = metric(POWER, "Power@Size", Higher);
    let throughput = metric(THROUGHPUT, "Throughput@Size", Higher);
    let means = [
        metric(GEOMETRIC_MEAN, "s geometric mean", Lower),
        metric(ARITHMETIC_MEAN, "s mean", Lower),
    ];
    let tests = match course.test {
        Test::Queries => Vec::new(),
        Test::Power => vec![power],
        Test::Throughput => return vec![throughput],
        Test::Both => vec![metric(QPHH, "QphH@Size", Higher), power, throughput],
    };
    tests.into_iter().chain(means).collect()
}

/// Executions of a test, from which its figures are computed.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    pub(super) course: Course,
    pub(super) scale: f64,
    /// Longest time of a query, in nanoseconds; `None` if there was no limit.
    pub(super) query_limit_ns: Option<u64>,
    pub(super) executions: &'a [Execution],
}

impl Measured<'_> {
    /// Computes the primary metrics of the test.
    pub(super) fn computed(self) -> Vec<ComputedFigure> {
        let queries = if self.course.test == Test::Throughput {
            Err("there is no query stream 0".to_owned())
        } else {
            self.stream_times_s()
        };
        let mean = |of: fn(&[f64]) -> f64| queries.as_deref().map(of).map_err(String::clone);
        let power = queries.clone().and_then(|queries| self.power(&queries));
        let throughput = self.throughput();
        let of = |name: &str| match name {
            POWER => power.clone(),
            THROUGHPUT => throughput.clone(),
            QPHH => power.clone().and_then(|power| Ok((power * throughput.clone()?).sqrt())),
            GEOMETRIC_MEAN => mean(geometric_mean),
            _ => mean(arithmetic_mean),
        };
        let figure = |metric: PrimaryMetric| ComputedFigure::new(metric.name, of(metric.name));
        declared(self.course).into_iter().map(figure).collect()
    }

    /// Returns the time, in seconds, of the only execution of a transaction type by client 0.
    /// Fails, with the reason, unless it was executed once and did not fail.
    fn only_time_s(self, kind: usize) -> Result<f64, String> {
        let is_it = |one: &&Execution| one.client == 0 && usize::from(one.kind) == kind;
        let mut all = self.executions.iter().filter(is_it);
        let name = name(kind);
        match (all.next(), all.count()) {
            (None, _) => Err(format!("{name} did not end")),
            (Some(one), _) if !one.is_finished => Err(self.failure(one, name)),
            (Some(_), more @ 1..) => {
                Err(format!("{name} was executed {} times instead of once", more + 1))
            }
            (Some(one), 0) => Ok(one.took_ns() as f64 / 1e9),
        }
    }

    /// Says how the execution `one` of what is called `name` failed: `q9 timed out after 2 s`.
    fn failure(self, one: &Execution, name: &str) -> String {
        match (one.error, self.query_limit_ns) {
            (Some(DbErrorKind::Timeout), Some(limit_ns)) => {
                DbError::timed_out(name, &duration(limit_ns)).to_string()
            }
            _ if self.was_left_out(one) => NOT_EXECUTED.to_owned(),
            _ => format!("{name} failed"),
        }
    }

    /// Whether `one` is an RF2 that was not executed because the RF1 before it had failed.
    fn was_left_out(self, one: &Execution) -> bool {
        let is_rf1 = |other: &&Execution| {
            let is_before = other.client == one.client && other.ended_ns <= one.started_ns;
            other.kind == RF1 && is_before
        };
        let rf1 = self.executions.iter().filter(is_rf1).max_by_key(|other| other.ended_ns);
        one.kind == RF2
            && one.error == Some(DbErrorKind::Other)
            && rf1.is_some_and(|rf1| !rf1.is_finished)
    }

    /// Returns the times of the queries of stream 0 in seconds, in the order of the queries. Fails,
    /// with the reasons, unless each was executed once and did not fail.
    fn stream_times_s(self) -> Result<Vec<f64>, String> {
        let (mut times_s, mut reasons) = (Vec::new(), Vec::new());
        for kind in 0..QUERIES {
            match self.only_time_s(kind) {
                Ok(time_s) => times_s.push(time_s),
                Err(why) => reasons.push(why),
            }
        }
        let more = reasons.len().saturating_sub(REASONS_MOST);
        reasons.truncate(REASONS_MOST);
        match (reasons.is_empty(), more) {
            (true, _) => Ok(times_s),
            (false, 0) => Err(reasons.join(", ")),
            (false, more) => Err(format!("{} and {more} more", reasons.join(", "))),
        }
    }

    /// Returns Power@Size (clause 5.4.1.1): queries per hour times the scale factor, by the
    /// geometric mean of the times of 22 queries and two refresh functions.
    fn power(self, queries_s: &[f64]) -> Result<f64, String> {
        let [insert, delete] = [RF1, RF2].map(|kind| self.only_time_s(usize::from(kind)));
        if delete.as_ref().is_err_and(|why| why == NOT_EXECUTED) {
            return Err(NOT_EXECUTED.to_owned());
        }
        let times = raised(queries_s).chain([insert?, delete?]);
        let logs: f64 = times.map(f64::ln).sum();
        Ok(SECONDS_PER_HOUR * self.scale / (logs / (QUERIES + 2) as f64).exp())
    }

    /// Returns Throughput@Size (clause 5.4.2): queries of all streams per hour times the scale
    /// factor, from the first start of a query or refresh function to the last end.
    fn throughput(self) -> Result<f64, String> {
        let course = self.course;
        let first = course.first_stream();
        let refresh_stream = first + course.streams;
        let ours: Vec<&Execution> =
            self.executions.iter().filter(|one| one.client >= first).collect();
        for client in first..=refresh_stream {
            let stream = client - first + 1;
            let what = match client == refresh_stream {
                true => "the refresh stream".to_owned(),
                false => format!("stream {stream}"),
            };
            let own = || ours.iter().filter(|one| one.client == client);
            if let Some(failed) = own().find(|one| !one.is_finished) {
                return Err(
                    self.failure(failed, &format!("{} of {what}", name(failed.kind.into())))
                );
            }
            let wanted = course.length(course.role(client));
            let n_ended = own().count() as u64;
            if n_ended != wanted {
                return Err(format!("{what} executed {n_ended} of {wanted} transactions"));
            }
        }
        let began_ns = ours.iter().map(|one| one.started_ns).min().unwrap_or(0);
        let ended_ns = ours.iter().map(|one| one.ended_ns).max().unwrap_or(0);
        let took_s = (ended_ns - began_ns) as f64 / 1e9;
        let n_queries = f64::from(course.streams) * QUERIES as f64;
        Ok(n_queries * SECONDS_PER_HOUR * self.scale / took_s)
    }
}

/// Returns the name of a query or refresh function by the index of its transaction type.
fn name(kind: usize) -> &'static str {
    ALL.get(kind).map_or(if kind == usize::from(RF1) { "rf1" } else { "rf2" }, |query| query.name)
}

/// Returns times of which those below a thousandth of the longest count as that (clause 5.4.1.4).
fn raised(times_s: &[f64]) -> impl Iterator<Item = f64> {
    let least = times_s.iter().copied().fold(0.0, f64::max) * LEAST_SHARE;
    times_s.iter().map(move |time| time.max(least))
}

fn geometric_mean(times_s: &[f64]) -> f64 {
    let logs: f64 = raised(times_s).map(f64::ln).sum();
    (logs / times_s.len() as f64).exp()
}

fn arithmetic_mean(times_s: &[f64]) -> f64 {
    times_s.iter().sum::<f64>() / times_s.len() as f64
}

#[cfg(test)]
mod tests {
    use model::KindIndex;

    use super::*;

    /// Executions of a test by all its clients, whose times differ by client and type.
    fn executions(course: Course) -> Vec<Execution> {
        let mut all = Vec::new();
        let mut power_ended_ns = 0;
        for client in 0..course.n_clients() {
            let role = course.role(client);
            let mut at_ns: i64 = if client < course.first_stream() { 0 } else { power_ended_ns };
            for nth in 0..course.length(role) {
                let kind = course.kind(role, nth);
                let took_ns = 1_000_000 * (i64::from(kind) + 1) * (i64::from(client) + 7);
                all.push(Execution {
                    client,
                    kind,
                    started_ns: at_ns,
                    ended_ns: at_ns + took_ns,
                    is_finished: true,
                    error: None,
                });
                at_ns += took_ns;
            }
            if client < course.first_stream() {
                power_ended_ns = at_ns;
            }
        }
        all
    }

    fn computed(course: Course, executions: &[Execution]) -> Vec<ComputedFigure> {
        let query_limit_ns = Some(2_000_000_000);
        Measured { course, scale: 0.1, query_limit_ns, executions }.computed()
    }

    fn values(course: Course, executions: &[Execution]) -> Vec<(String, Option<f64>)> {
        let figures = computed(course, executions);
        figures.into_iter().map(|one| (one.name, one.value)).collect()
    }

    fn reasons(course: Course, executions: &[Execution]) -> Vec<Option<String>> {
        computed(course, executions).into_iter().map(|one| one.reason).collect()
    }

    fn course(test: Test) -> Course {
        Course { test, streams: 3 }
    }

    /// Computes all figures a second time, by products and roots instead of logarithms.
    fn second_opinion(executions: &[Execution]) -> [f64; 5] {
        let seconds = |one: &Execution| (one.ended_ns - one.started_ns) as f64 * 1e-9;
        let of_client_0: Vec<&Execution> =
            executions.iter().filter(|one| one.client == 0).collect();
        let longest = of_client_0
            .iter()
            .filter(|one| one.kind < 22)
            .map(|one| seconds(one))
            .fold(0.0, f64::max);
        let (mut product, mut queries, mut sum) = (1.0, 1.0, 0.0);
        for one in of_client_0 {
            let time = seconds(one);
            let counts_as = if one.kind < 22 { time.max(longest / 1000.0) } else { time };
            product *= counts_as.powf(1.0 / 24.0);
            if one.kind < 22 {
                queries *= counts_as.powf(1.0 / 22.0);
                sum += time;
            }
        }
        let power = 360.0 / product;
        let streams = || executions.iter().filter(|one| one.client > 0);
        let began = streams().map(|one| one.started_ns).min().expect("streams");
        let ended = streams().map(|one| one.ended_ns).max().expect("streams");
        let throughput = 3.0 * 22.0 * 360.0 / ((ended - began) as f64 * 1e-9);
        [(power * throughput).sqrt(), power, throughput, queries, sum / 22.0]
    }

    #[test]
    fn figures_are_those_of_a_second_computation_to_the_last_printed_digit() {
        let both = course(Test::Both);
        let mut all = executions(both);
        let check = |all: &[Execution]| {
            let found = values(both, all);
            let names = [QPHH, POWER, THROUGHPUT, GEOMETRIC_MEAN, ARITHMETIC_MEAN];
            for ((name, value), (wanted_name, wanted)) in
                found.iter().zip(names.into_iter().zip(second_opinion(all)))
            {
                let value = value.expect("a value");
                assert_eq!(name, wanted_name);
                assert_eq!(format!("{value:.1}"), format!("{wanted:.1}"), "{name}");
                assert!((value / wanted - 1.0).abs() < 1e-12, "{name}: {value} and {wanted}");
            }
        };
        check(&all);
        // One query of the power test takes 2,000 times as long as the shortest, which is raised.
        let long = all.iter_mut().find(|one| one.kind == 5).expect("there");
        long.ended_ns = long.started_ns + 2_000 * 7_000_000;
        check(&all);
        // Refresh functions are not raised, and do not raise.
        let long = all.iter_mut().find(|one| one.kind == RF2).expect("there");
        long.ended_ns = long.started_ns + 900_000 * 7_000_000;
        check(&all);
    }

    #[test]
    fn a_time_below_a_thousandth_of_the_longest_counts_as_that() {
        let mean = geometric_mean(&[100.0, 1e-6]);
        assert!((mean - (100.0_f64 * 0.1).sqrt()).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn what_failed_or_did_not_end_voids_the_figures_that_need_it() {
        let both = course(Test::Both);
        let fail = |client: u32, kind: KindIndex| {
            let mut all = executions(both);
            let one = all.iter_mut().find(|one| one.client == client && one.kind == kind);
            one.expect("there").is_finished = false;
            reasons(both, &all)
        };
        let some = |why: &str| Some(why.to_owned());
        let q3 = some("q3 failed");
        assert_eq!(fail(0, 2), [q3.clone(), q3.clone(), None, q3.clone(), q3]);
        let rf2 = some("rf2 failed");
        assert_eq!(fail(0, RF2), [rf2.clone(), rf2, None, None, None]);
        let stream = some("q9 of stream 2 failed");
        assert_eq!(fail(2, 8), [stream.clone(), None, stream, None, None]);
        let refresh = some("rf1 of the refresh stream failed");
        assert_eq!(fail(4, RF1), [refresh.clone(), None, refresh, None, None]);
        let time_out = |client: u32, kind: KindIndex| {
            let mut all = executions(both);
            let one = all.iter_mut().find(|one| one.client == client && one.kind == kind);
            let one = one.expect("there");
            (one.is_finished, one.error) = (false, Some(DbErrorKind::Timeout));
            reasons(both, &all)
        };
        let q9 = some("q9 timed out after 2 s");
        assert_eq!(time_out(0, 8), [q9.clone(), q9.clone(), None, q9.clone(), q9]);
        let stream = some("q9 of stream 2 timed out after 2 s");
        assert_eq!(time_out(2, 8), [stream.clone(), None, stream, None, None]);
        let mut all = executions(both);
        all.retain(|one| (one.client, one.kind) != (3, 0));
        let missing = some("stream 3 executed 21 of 22 transactions");
        assert_eq!(reasons(both, &all), [missing.clone(), None, missing, None, None]);
        all = executions(course(Test::Queries));
        all.push(all[0]);
        let twice = some("q14 was executed 2 times instead of once");
        assert_eq!(reasons(course(Test::Queries), &all), [twice.clone(), twice]);
    }

    #[test]
    fn each_test_has_its_own_figures() {
        let names = |test| {
            let declared = declared(course(test)).into_iter().map(|metric| metric.name);
            declared.collect::<Vec<&str>>()
        };
        assert_eq!(names(Test::Queries), [GEOMETRIC_MEAN, ARITHMETIC_MEAN]);
        assert_eq!(names(Test::Power), [POWER, GEOMETRIC_MEAN, ARITHMETIC_MEAN]);
        assert_eq!(names(Test::Throughput), [THROUGHPUT]);
        let throughput = course(Test::Throughput);
        let [(_, value)] = &values(throughput, &executions(throughput))[..] else {
            panic!("one figure")
        };
        assert!(value.is_some_and(|value| value > 0.0));
    }
}
