//! Measures the network path between database and clients before the load: round-trip time, and
//! bandwidth from the time of a large reply.
//!
//! Not here: round trips during a load (monitor).

use std::sync::Arc;
use std::time::Duration;

use engine::Stop;
use model::numbers::significant;
use model::{Database, DbError, Fact, FactValue, LARGE_TEXTS};
use monitor::{CounterSession, wall_clock};

use crate::admin_session::for_round_trips;
use crate::interruptible::run_interruptible;

const ROUND_TRIPS: usize = 20;
/// Number of large replies that are timed. The shortest time is the result, since a connection is
/// slow at first.
const LARGE_REPLIES: usize = 3;
/// Longest time that a large reply may take. If it would take longer, the bandwidth of the path is
/// not measured.
const LARGE_MAX: Duration = Duration::from_secs(5);

const MEBIBYTE_BITS: f64 = 8.0 * 1_048_576.0;

/// Measures round-trip time and bandwidth of the clients' path, and returns them as facts. Empty if
/// the database is not reached over a network, or does not answer.
pub(crate) fn probe(database: &Arc<dyn Database>, stop: &Stop) -> Vec<Fact> {
    let database = Arc::clone(database);
    let probed = run_interruptible(stop, "interrupted before the run began", move || {
        Ok(ask(database.as_ref()).unwrap_or_default())
    });
    probed.unwrap_or_default()
}

fn ask(database: &dyn Database) -> Result<Vec<Fact>, DbError> {
    let Some(sql) = database.monitoring().round_trip else { return Ok(Vec::new()) };
    let mut session = for_round_trips(database)?;
    let mut times = Vec::new();
    for _ in 0..ROUND_TRIPS {
        times.push(time(session.as_mut(), sql)?);
    }
    times.sort();
    let seconds = |time: Duration| FactValue::seconds(time.as_secs_f64(), 6);
    let mut facts = vec![
        Fact::new("path", "round_trip_min_s", seconds(times[0])),
        Fact::new("path", "round_trip_median_s", seconds(times[ROUND_TRIPS / 2])),
    ];
    if let Some(sql) = database.monitoring().mebibyte
        && let Some(fastest) = large_reply(session.as_mut(), sql)
    {
        // Without the time of a round trip.
        facts.push(Fact::new("path", "mebibyte_s", seconds(fastest.saturating_sub(times[0]))));
        if fastest * LARGE_TEXTS < LARGE_MAX
            && let Some(sql) = database.monitoring().mebibytes
            && let Some(all) = large_reply(session.as_mut(), sql)
            && let Some(gbit_s) = gbit_per_s(fastest, all)
        {
            facts.push(Fact::new(
                "path",
                "bandwidth",
                format!("{} Gbit/s", significant(gbit_s, 3)),
            ));
        }
    }
    Ok(facts)
}

/// Computes the bandwidth in Gbit/s from the times of a reply of one mebibyte and one of
/// [`LARGE_TEXTS`] mebibytes. Only the difference counts, so that the latency of a reply has no
/// effect. `None` if the larger reply took no longer.
fn gbit_per_s(one: Duration, all: Duration) -> Option<f64> {
    let beyond_s = all.checked_sub(one)?.as_secs_f64();
    let bits = f64::from(LARGE_TEXTS - 1) * MEBIBYTE_BITS;
    (beyond_s > 0.0).then(|| bits / beyond_s / 1e9)
}

/// Executes a query with a large reply three times and returns the shortest time; `None` if the
/// server rejects it. Stops after a reply that took longer than [`LARGE_MAX`].
fn large_reply(session: &mut dyn CounterSession, sql: &str) -> Option<Duration> {
    let mut fastest: Option<Duration> = None;
    for _ in 0..LARGE_REPLIES {
        let took = time(session, sql).ok()?;
        fastest = Some(fastest.map_or(took, |fastest| fastest.min(took)));
        if took > LARGE_MAX {
            break;
        }
    }
    fastest
}

fn time(session: &mut dyn CounterSession, sql: &str) -> Result<Duration, DbError> {
    let began = wall_clock::now();
    session.read(sql, &mut |_| Ok(()))?;
    Ok(began.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_is_what_comes_beyond_the_first_mebibyte() {
        let ms = Duration::from_millis;
        // Seven mebibytes in 70 ms.
        let found = gbit_per_s(ms(30), ms(100)).expect("it took longer");
        assert!((found - 7.0 * 8.0 * 1.048_576e6 / 0.07 / 1e9).abs() < 1e-9, "{found}");
        assert_eq!(gbit_per_s(ms(30), ms(30)), None);
        assert_eq!(gbit_per_s(ms(30), ms(20)), None);
    }
}
