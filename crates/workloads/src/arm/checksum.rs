//! Checksums of measurements, computed by the client for each buffer and by SQL from the tables.
//!
//! A row adds the product of its id and of all its values, each modulo a prime, so any one value
//! that changes changes the sum. Texts contribute their length and some of their letters, since
//! databases have no function of a whole text in common. Not here: what is compared (checks).

use model::Dialect;

use super::measurement::Measurement;
use super::parameters::Contexts;
use super::tables::{CONTEXT_COLUMNS, GAUGE, Layout};

const PRIME: i64 = 65_521;
/// Maximum number of a text's letters from which its checksum is computed. Of a longer text,
/// letters are taken that are spread evenly over it.
const LETTERS_MAX: usize = 8;
/// Number of letters, from the first one, that a diagnostic detail contributes to the checksum.
const DIAGNOSTIC_LETTERS: usize = LETTERS_MAX;

/// Returns the positions, from 0, of the letters from which a text's checksum is computed, for a
/// text of `letters` letters. There are at most eight, spread evenly over the text.
fn places(letters: usize) -> impl Iterator<Item = usize> {
    let n = letters.min(LETTERS_MAX);
    (0..n).map(move |nth| if n < 2 { 0 } else { nth * (letters - 1) / (n - 1) })
}

fn row(id: i64, values: i64) -> i64 {
    (1 + id % PRIME) * (1 + values % PRIME)
}

/// Returns the SQL expression for the number that a row adds to a checksum, from the SQL
/// expressions for the row's id and the sum of its values. The function `row` computes the same
/// number.
fn row_sql(id: &str, values: &str) -> String {
    format!("(1 + {id} % {PRIME}) * (1 + ({values}) % {PRIME})")
}

fn text(text: &str, letters: usize) -> i64 {
    let bytes = text.as_bytes();
    let letter = |(nth, place): (usize, usize)| {
        (nth as i64 + 2) * i64::from(bytes.get(place).copied().unwrap_or(0))
    };
    bytes.len() as i64 + places(letters).enumerate().map(letter).sum::<i64>()
}

/// Returns the SQL expression for the checksum of the SQL expression `text`, which is not null.
/// `letters` is the usual length of the text, by which the positions of its letters are chosen.
fn text_sql(dialect: &Dialect, text: &str, letters: usize) -> String {
    let code = dialect.letter_code;
    let letter = |(nth, place): (usize, usize)| {
        let (weight, at) = (nth + 2, place + 1);
        format!(" + {weight} * COALESCE({code}(SUBSTR({text}, {at}, 1)), 0)")
    };
    let letters: String = places(letters).enumerate().map(letter).collect();
    format!("LENGTH({text}){letters}")
}

/// Returns the number that a measurement, without its metrics and context values, adds to the
/// checksum of all measurements.
pub(super) fn measurement(measured: &Measurement<'_>, id: i64, parent: Option<i64>) -> i64 {
    let head = &measured.head;
    let (start_ns, stop_ns) = (head.start_ns as i64, head.stop_ns as i64);
    let correlator = if head.has_correlator { id + 1 } else { 0 };
    let parent = parent.map_or(0, |parent| parent + 1);
    let diagnostic = measured.diagnostic().map_or(0, |detail| 1 + text(detail, DIAGNOSTIC_LETTERS));
    let values = start_ns
        + 3 * stop_ns
        + 5 * (stop_ns - start_ns)
        + 7 * head.status as i64
        + 11 * correlator
        + 13 * parent
        + 17 * diagnostic;
    row(id, values)
}

/// Returns the SQL expression for the number that a measurement's row adds to the checksum of all
/// measurements. It gives the same number as [`measurement`].
pub(super) fn measurement_sql(dialect: &Dialect) -> String {
    let diagnostic = text_sql(dialect, "diagnostic", DIAGNOSTIC_LETTERS);
    let values = format!(
        "start_ns + 3 * stop_ns + 5 * response_ns + 7 * status + 11 * COALESCE(correlator + 1, 0) \
         + 13 * COALESCE(parent_correlator + 1, 0) + 17 * COALESCE(1 + {diagnostic}, 0)"
    );
    row_sql("id", &values)
}

/// Returns the number that a measurement's metrics together add to the checksum of all metrics.
pub(super) fn metrics(measured: &Measurement<'_>, id: i64) -> i64 {
    let metric = |(slot, value): (usize, i64)| row(id, 3 * (slot as i64 + 1) + 5 * GAUGE + value);
    measured.metrics().enumerate().map(metric).sum()
}

/// Returns the SQL expression for the number that a metric's row adds to the checksum of all
/// metrics. The sum over a measurement's rows is the result of [`metrics`].
pub(super) fn metric_sql() -> String {
    row_sql("measurement", "3 * slot + 5 * kind + value")
}

/// Returns the number that a measurement's context values together add to the checksum of all
/// context values.
pub(super) fn contexts(measured: &Measurement<'_>, id: i64, layout: Layout) -> i64 {
    let letters = usize::from(layout.context_bytes);
    let context = |(slot, value)| row(id, 3 * (slot as i64 + 1) + text(value, letters));
    measured.contexts().enumerate().map(context).sum()
}

/// Returns the query for the number of stored context values (`n_stored`) and their checksum
/// (`sum_stored`).
pub(super) fn contexts_sql(dialect: &Dialect, layout: Layout) -> String {
    let letters = usize::from(layout.context_bytes);
    let context_sql = |slot: &str, value: &str, id: &str| {
        row_sql(id, &format!("3 * {slot} + {}", text_sql(dialect, value, letters)))
    };
    let (table, count, sum) = match layout.contexts {
        Contexts::Rows => {
            ("arm_context", "1".to_owned(), context_sql("slot", "value", "measurement"))
        }
        Contexts::Columns => in_slots(
            CONTEXT_COLUMNS.map(|name| (name.to_owned(), format!("{name} IS NOT NULL"))),
            context_sql,
        ),
        Contexts::Json => {
            let mut at = 1;
            let places = CONTEXT_COLUMNS.map(|name| {
                // Skip a brace or comma, the quoted name, a colon and a quote.
                let begin = at + 1 + name.len() + 2 + 2;
                at = begin + letters + 1;
                let value = format!("SUBSTR(contexts, {begin}, {letters})");
                (value, format!("LENGTH(contexts) >= {begin}"))
            });
            in_slots(places, context_sql)
        }
    };
    format!(
        "SELECT COALESCE(SUM({count}), 0) AS n_stored, COALESCE(SUM({sum}), 0) AS sum_stored \
         FROM {table}"
    )
}

/// Returns a table's name, and the SQL expressions for the number and the checksum of the context
/// values in one row of it. Each element of `places` has an expression for a value, and the
/// condition that the row has this value.
fn in_slots(
    places: [(String, String); CONTEXT_COLUMNS.len()],
    context_sql: impl Fn(&str, &str, &str) -> String,
) -> (&'static str, String, String) {
    let case = |is_there: &str, then: &str| format!("CASE WHEN {is_there} THEN {then} ELSE 0 END");
    let count = places.iter().map(|(_, is_there)| case(is_there, "1"));
    let sum = places.iter().enumerate().map(|(slot, (value, is_there))| {
        case(is_there, &context_sql(&(slot + 1).to_string(), value, "id"))
    });
    let [count, sum] = [count.collect::<Vec<_>>(), sum.collect()].map(|all| all.join(" + "));
    ("arm_measurement", count, sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_count_are_spread_over_a_text() {
        let spread = |letters| places(letters).collect::<Vec<_>>();
        assert_eq!(spread(1), [0]);
        assert_eq!(spread(3), [0, 1, 2]);
        assert_eq!(spread(8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(spread(32), [0, 4, 8, 13, 17, 22, 26, 31]);
    }

    #[test]
    fn any_value_that_changes_changes_what_a_row_adds() {
        assert_ne!(text("abcd", 4), text("abdc", 4));
        assert_ne!(text("abcd", 4), text("abc", 4));
        // Ids that are multiples of the prime count, too.
        for id in [PRIME, 2 * PRIME, 7] {
            assert_ne!(row(id, 12), row(id, 13));
            assert_ne!(row(id, PRIME - 1), row(id, PRIME));
        }
    }
}
