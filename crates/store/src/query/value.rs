//! Values of conditions: words with units are converted to numbers here. Not here: SQL.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::finding_catalog::{CATALOG, catalog_entry};
use model::{FigureBound, NS_PER_MS, did_you_mean, parse_duration, without_scale};

use super::{Field, Figures, Kind, Operator};

/// A value with which a query compares a field, in the unit of the field's column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    /// Value of a label, which is compared as a version, so that 1.10 is above 1.9.
    Version(String),
    /// Whole id of a run or experiment, or its start or end.
    Id(String),
    /// Beginning or end of an id, or a whole name; with the SQL expression of the name.
    IdOrName(String, &'static str),
    /// Name that must be among the names of a column that joins several with `+`.
    OneOf(String),
    /// Name of a product, alone or with the start of its version.
    Product(String),
    /// Id of a finding that a run must have.
    Finding(String),
    Number(f64),
    Whole(i64),
    /// Range of numbers: from the first up to, but without, the second. Dates and times are such
    /// ranges, in milliseconds since 1970.
    Within(i64, i64),
    /// Name of a figure, and the value to compare it with as written, because its unit is known
    /// only per run.
    Bound(String, String, Figures),
}

/// Error in the value or operator of a condition, in a sentence.
pub(super) struct BadValue {
    /// True if the error is that the operator does not fit the column; false if the value is
    /// invalid.
    pub(super) is_of_operator: bool,
    pub(super) words: String,
}

fn bad(words: impl Into<String>) -> BadValue {
    BadValue { is_of_operator: false, words: words.into() }
}

/// Returns the error for the operator `~` (contains) on the column `name`, which has no text.
fn no_text(name: &str) -> BadValue {
    let words = format!("'{name}' is not a text: ~ cannot search it");
    BadValue { is_of_operator: true, words }
}

impl Value {
    pub(super) fn read(
        field: &Field,
        operator: Operator,
        written: &str,
        now_unix_ms: i64,
    ) -> Result<Value, BadValue> {
        let contains = operator == Operator::Contains;
        let kind = match field {
            Field::Column(column) => column.kind,
            Field::Label(_) if operator.is_of_order() => {
                return Ok(Value::Version(written.to_owned()));
            }
            Field::Label(_) => return Ok(Value::Text(written.to_owned())),
            Field::Figure(name, _) if contains => return Err(no_text(name)),
            Field::Figure(name, figures) => {
                let bound = || Value::Bound(name.clone(), written.to_owned(), *figures);
                let bad_bound = |why| bad(format!("'{written}': {why}"));
                return (figures.check)(name, written).map(|()| bound()).map_err(bad_bound);
            }
        };
        let is_text = matches!(
            kind,
            Kind::Id | Kind::IdOrName(_) | Kind::Text | Kind::Names | Kind::Product | Kind::Finding
        ) || matches!(kind, Kind::Word(_) | Kind::Rank(_));
        let name = field.name();
        if let (Kind::Rank(words), true) = (kind, operator.is_of_order()) {
            let place = place(&name, words, written)?;
            return Ok(Value::Whole(i64::try_from(place).unwrap_or(i64::MAX)));
        }
        if is_text && operator.is_of_order() {
            let words = format!("'{name}' is a text: compare it with =, != or ~");
            return Err(BadValue { is_of_operator: true, words });
        }
        if !is_text && contains {
            return Err(no_text(&name));
        }
        match kind {
            Kind::Finding if contains => Ok(Value::Finding(written.to_owned())),
            Kind::Finding => finding(written),
            _ if contains => Ok(Value::Text(written.to_owned())),
            Kind::Text => Ok(Value::Text(written.to_owned())),
            Kind::Id => Ok(Value::Id(written.to_ascii_lowercase())),
            Kind::IdOrName(name) => Ok(Value::IdOrName(written.to_owned(), name)),
            Kind::Names => Ok(Value::OneOf(written.to_owned())),
            Kind::Product => Ok(Value::Product(written.to_owned())),
            Kind::Word(words) | Kind::Rank(words) => {
                place(&name, words, written).map(|place| Value::Text(words[place].to_owned()))
            }
            Kind::Count | Kind::Number => number(&name, written).map(Value::Number),
            Kind::Duration => {
                let ns = parse_duration(written).map_err(|why| bad(why.0))?;
                Ok(Value::Whole(i64::try_from(ns).unwrap_or(i64::MAX)))
            }
            Kind::Instant => instant(operator, written, now_unix_ms),
        }
    }
}

/// Returns the index of `written` among `words`, the values that column `name` may have; case is
/// ignored. If `written` is none of them, the error lists them.
fn place(name: &str, words: &[&str], written: &str) -> Result<usize, BadValue> {
    let lower = written.to_ascii_lowercase();
    words.iter().position(|word| *word == lower).ok_or_else(|| {
        let meant = did_you_mean(&lower, words.iter().copied());
        bad(format!("'{written}' is not a {name}{meant}: choose one of {}", words.join(", ")))
    })
}

/// Parses the id of a finding. An unknown id is an error, because the condition would never match.
fn finding(written: &str) -> Result<Value, BadValue> {
    let lower = written.to_ascii_lowercase();
    if catalog_entry(&lower).is_some() {
        return Ok(Value::Finding(lower));
    }
    let meant = did_you_mean(&lower, CATALOG.iter().map(|entry| entry.id));
    Err(bad(format!(
        "there is no finding '{written}'{meant}: 'dbdyno list findings' has all, and ~ searches \
         for a part"
    )))
}

/// Parses a number such as `50000`, `1_000.5`, `50k`, `2M`. For the columns `tps` and `nopm` also a
/// rate such as `30k/min`, which is converted to the column's unit.
fn number(name: &str, written: &str) -> Result<f64, BadValue> {
    let clean = written.replace('_', "").replace('K', "k");
    let (digits, factor) = without_scale(&clean);
    let number: Option<f64> = digits.parse().ok();
    let number = number.map(|number| number * factor).filter(|number| number.is_finite());
    let unit = match name {
        "tps" => "1/s",
        "nopm" => "1/min",
        _ => "",
    };
    let rate = || FigureBound::read(written).ok()?.in_unit(unit).ok();
    let number = number.or_else(rate);
    number.ok_or_else(|| bad(format!("'{written}' is not a number: write {name}>50000 or 50k")))
}

/// Parses a date, an instant (in UTC unless it has a zone), or a time ago such as `-7d`, as
/// milliseconds since 1970. A date means the start of the day in UTC, and with the operators `=`
/// and `!=` the whole day.
fn instant(operator: Operator, written: &str, now_unix_ms: i64) -> Result<Value, BadValue> {
    if let Some(ago) = written.strip_prefix('-') {
        let ns = parse_duration(ago).map_err(|why| bad(why.0))?;
        let ms = i64::try_from(ns / NS_PER_MS).unwrap_or(i64::MAX);
        return Ok(Value::Whole(now_unix_ms.saturating_sub(ms)));
    }
    let at_utc = |date: DateTime| {
        let instant = date.to_zoned(TimeZone::UTC).ok()?;
        Some(instant.timestamp().as_millisecond())
    };
    let only_date = written.len() <= "2026-01-01".len();
    if let Some(date) = written.parse::<Date>().ok().filter(|_| only_date) {
        let day = at_utc(date.into()).zip(date.tomorrow().ok().and_then(|d| at_utc(d.into())));
        let is_day = matches!(operator, Operator::Equal | Operator::Unequal);
        return match day {
            Some((from, to)) if is_day => Ok(Value::Within(from, to)),
            Some((from, _)) => Ok(Value::Whole(from)),
            None => Err(bad(format!("'{written}' is not a possible date"))),
        };
    }
    let with_zone = written.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
    let utc = || written.parse::<DateTime>().ok().and_then(at_utc);
    with_zone.or_else(utc).map(Value::Whole).ok_or_else(|| {
        let forms = "write 2026-01-31, '2026-01-31 12:00' (UTC) or -7d";
        bad(format!("'{written}' is not a date or time: {forms}"))
    })
}
