//! Facts: observations about machine, build, data and database, as typed values.
//!
//! A fact is stored and exported as text, and parsed from it. The last word of its **name is the
//! unit** (`longest_pause_s`, `total_bytes`, `steal_percent`); the text has only the value.
//! Formatting a parsed value returns the same text, so a stored fact is as good as a new one.
//!
//! Not here: judgement of facts (findings).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bucket_counts::BucketCounts;
use crate::digits::put_decimal;

/// An observation about the circumstances or the result of a run, such as subject `cpu`, name
/// `model` and the model as value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "AsText", into = "AsText")]
pub struct Fact {
    /// Subject of the observation: `machine`, `cpu`, `memory`, `disk`, `network`, `build`,
    /// `database`...
    pub about: String,
    /// Name of the observed property. If the value has a unit, its name ends in the unit, such as
    /// `bytes`, `percent` or `s`.
    pub name: String,
    /// Observed value. When a fact is made or read, its type is derived from its text and the unit
    /// in the name.
    pub value: FactValue,
}

impl Fact {
    /// Creates a fact from its subject, name and value. Text that is a number, or `true` or
    /// `false`, becomes a value of that type.
    pub fn new(about: &str, name: &str, value: impl Into<FactValue>) -> Fact {
        let value = match value.into() {
            FactValue::Text(text) => FactValue::read(name, text),
            FactValue::Count(count) => FactValue::read(name, count.to_string()),
            value => {
                let read = FactValue::read(name, value.to_string());
                debug_assert_eq!(read, value, "the name {name} tells the unit");
                value
            }
        };
        Fact { about: about.to_owned(), name: name.to_owned(), value }
    }
}

/// Form in which a fact is serialized, with its value as text.
#[derive(Serialize, Deserialize)]
struct AsText {
    about: String,
    name: String,
    value: String,
}

impl From<AsText> for Fact {
    fn from(AsText { about, name, value }: AsText) -> Fact {
        let value = FactValue::read(&name, value);
        Fact { about, name, value }
    }
}

impl From<Fact> for AsText {
    fn from(fact: Fact) -> AsText {
        AsText { value: fact.value.to_string(), about: fact.about, name: fact.name }
    }
}

/// Value of a fact, with a type such as text, number or size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactValue {
    /// Text that has none of the other types, such as a version.
    Text(String),
    /// A truth value, with the text `true` or `false`.
    YesNo(bool),
    /// A whole number without a unit, such as a number of clients.
    Count(i64),
    /// A size in bytes; the name of the fact ends in `bytes`.
    Bytes(u64),
    /// A share in percent; the name of the fact ends in `percent`.
    Percent(Decimal),
    /// A time in seconds; the name of the fact ends in `s`.
    Seconds(Decimal),
    /// Several numbers of the same unit, such as one per event loop.
    List(Vec<FactValue>),
    /// A coarse histogram: how many numbers fell between rising bounds.
    Buckets(BucketCounts),
}

/// A decimal number that keeps its number of digits after the point, so that `1.50` stays `1.50`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Number without its decimal point: 150 for `1.50`.
    unscaled: i64,
    /// Number of digits after the decimal point: 2 for `1.50`.
    scale: u8,
}

/// Limit on the digits after the decimal point; a number with more of them stays text.
const SCALE_MAX: u8 = 9;

impl Decimal {
    fn new(value: f64, scale: u8) -> Decimal {
        let scale = scale.min(SCALE_MAX);
        Decimal { unscaled: (value * 10_f64.powi(scale.into())).round() as i64, scale }
    }

    fn parse(text: &str) -> Option<Decimal> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let scale = u8::try_from(decimals.len()).ok().filter(|scale| *scale <= SCALE_MAX)?;
        let unscaled = format!("{whole}{decimals}").parse().ok()?;
        Some(Decimal { unscaled, scale })
    }

    fn value(self) -> f64 {
        self.unscaled as f64 / 10_f64.powi(self.scale.into())
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = Vec::new();
        put_decimal(&mut digits, self.unscaled, self.scale);
        f.write_str(std::str::from_utf8(&digits).expect("digits are ASCII"))
    }
}

/// Separator between the values of a list in its text form.
const BETWEEN: &str = ", ";

impl FactValue {
    /// Creates a fact's value that is a percentage, rounded to `decimals` digits after the decimal
    /// point.
    pub fn percent(percent: f64, decimals: u8) -> FactValue {
        FactValue::Percent(Decimal::new(percent, decimals))
    }

    /// Creates a fact's value that is a time in seconds, rounded to `decimals` digits after the
    /// decimal point.
    pub fn seconds(seconds: f64, decimals: u8) -> FactValue {
        FactValue::Seconds(Decimal::new(seconds, decimals))
    }

    /// Creates a list of values of the same unit; a single value stays as it is.
    pub fn list(values: impl IntoIterator<Item = FactValue>) -> FactValue {
        let mut values: Vec<FactValue> = values.into_iter().collect();
        match values.len() {
            1 => values.remove(0),
            _ => FactValue::List(values),
        }
    }

    /// Parses the text of a stored fact into a value; the unit at the end of `name` decides its
    /// type. If formatting the result would not give the same text again, the value stays
    /// [`FactValue::Text`].
    pub fn read(name: &str, text: String) -> FactValue {
        let unit = name.rsplit('_').next().filter(|unit| unit.len() < name.len());
        let one = |text: &str| match unit {
            Some("percent") => Decimal::parse(text).map(FactValue::Percent),
            Some("s") => Decimal::parse(text).map(FactValue::Seconds),
            Some("bytes") => text.parse().ok().map(FactValue::Bytes),
            _ => text.parse().ok().map(FactValue::Count),
        };
        let several = || {
            let all: Option<Vec<FactValue>> = text.split(BETWEEN).map(one).collect();
            all.filter(|all| all.len() > 1 && unit.is_some()).map(FactValue::List)
        };
        let buckets = || {
            let has_unit = unit.is_some();
            has_unit.then(|| BucketCounts::parse(&text)).flatten().map(FactValue::Buckets)
        };
        let yes_no = || text.parse().ok().map(FactValue::YesNo);
        let read = one(&text).or_else(several).or_else(buckets).or_else(yes_no);
        read.filter(|read| *read == text).unwrap_or(FactValue::Text(text))
    }

    /// Returns the value if it is text; `None` if it has any other type.
    pub fn text(&self) -> Option<&str> {
        match self {
            FactValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value if it is a truth value; `None` if it has any other type.
    pub fn yes_no(&self) -> Option<bool> {
        match self {
            FactValue::YesNo(is_so) => Some(*is_so),
            _ => None,
        }
    }

    /// Returns the value if it is a whole number without unit; `None` if it has any other type.
    pub fn integer(&self) -> Option<i64> {
        match self {
            FactValue::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// Returns the value if it is a whole number without unit and not negative; otherwise `None`.
    pub fn count(&self) -> Option<u64> {
        self.integer().and_then(|count| count.try_into().ok())
    }

    /// Returns the value, in bytes, if it is a size; `None` if it has any other type.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            FactValue::Bytes(bytes) => Some(*bytes),
            _ => None,
        }
    }

    /// Returns the value, in percent, if it is a percentage; `None` if it has any other type.
    pub fn as_percent(&self) -> Option<f64> {
        match self {
            FactValue::Percent(percent) => Some(percent.value()),
            _ => None,
        }
    }

    /// Returns the value, in seconds, if it is a time; `None` if it has any other type.
    pub fn as_seconds(&self) -> Option<f64> {
        match self {
            FactValue::Seconds(seconds) => Some(seconds.value()),
            _ => None,
        }
    }

    /// Returns the value if it is a coarse histogram; `None` if it has any other type.
    pub fn buckets(&self) -> Option<&BucketCounts> {
        match self {
            FactValue::Buckets(counts) => Some(counts),
            _ => None,
        }
    }

    /// Returns the values of a list; for a value of any other type, a slice with only this value.
    pub fn all(&self) -> &[FactValue] {
        match self {
            FactValue::List(values) => values,
            one => std::slice::from_ref(one),
        }
    }
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Text(text) => f.pad(text),
            FactValue::YesNo(is_so) => write!(f, "{is_so}"),
            FactValue::Count(count) => write!(f, "{count}"),
            FactValue::Bytes(bytes) => write!(f, "{bytes}"),
            FactValue::Percent(number) | FactValue::Seconds(number) => write!(f, "{number}"),
            FactValue::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { BETWEEN })?;
                }
                Ok(())
            }
            FactValue::Buckets(counts) => write!(f, "{counts}"),
        }
    }
}

/// Compares a text with the formatted text of the fact's value.
impl PartialEq<str> for FactValue {
    fn eq(&self, text: &str) -> bool {
        match self {
            FactValue::Text(own) => own == text,
            value => {
                let shown = value.to_string();
                shown == text
            }
        }
    }
}

impl PartialEq<&str> for FactValue {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl PartialEq<String> for FactValue {
    fn eq(&self, text: &String) -> bool {
        self == text.as_str()
    }
}

impl From<&str> for FactValue {
    fn from(text: &str) -> FactValue {
        FactValue::Text(text.to_owned())
    }
}

impl From<&String> for FactValue {
    fn from(text: &String) -> FactValue {
        FactValue::Text(text.clone())
    }
}

impl From<String> for FactValue {
    fn from(text: String) -> FactValue {
        FactValue::Text(text)
    }
}

impl From<bool> for FactValue {
    fn from(is_so: bool) -> FactValue {
        FactValue::YesNo(is_so)
    }
}

impl From<BucketCounts> for FactValue {
    fn from(counts: BucketCounts) -> FactValue {
        FactValue::Buckets(counts)
    }
}

/// Implements the conversion of integer types to [`FactValue`]: a count, or text if the number
/// exceeds `i64`, as a seed may.
macro_rules! from_integers {
    ($($integer:ty)*) => {
        $(impl From<$integer> for FactValue {
            fn from(count: $integer) -> FactValue {
                match i64::try_from(count) {
                    Ok(count) => FactValue::Count(count),
                    Err(_) => FactValue::Text(count.to_string()),
                }
            }
        })*
    };
}

from_integers!(u16 u32 u64 usize i64);

impl Serialize for FactValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Map of facts: values by the subject and then the name of the fact.
pub type Facts = BTreeMap<String, BTreeMap<String, FactValue>>;

/// Deserializes [`Facts`] whose values are texts. Fails if the input is not a map of maps of texts.
pub fn read_facts<'de, D: Deserializer<'de>>(texts: D) -> Result<Facts, D::Error> {
    let read = |(name, text): (String, String)| {
        let value = FactValue::read(&name, text);
        (name, value)
    };
    let facts = BTreeMap::<String, BTreeMap<String, String>>::deserialize(texts)?.into_iter();
    Ok(facts.map(|(about, by_name)| (about, by_name.into_iter().map(read).collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_its_name_tell_what_a_fact_is() {
        let check = |name: &str, text: &str, expect: FactValue| {
            let read = FactValue::read(name, text.to_owned());
            assert_eq!(read, expect, "{name} = {text}");
            assert_eq!(read.to_string(), text);
        };
        let words = |text: &str| FactValue::Text(text.to_owned());
        check("pauses", "12", FactValue::Count(12));
        check("server_change", "-3", FactValue::Count(-3));
        check("total_bytes", "17179869184", FactValue::Bytes(1 << 34));
        check("steal_percent", "4.2", FactValue::percent(4.2, 1));
        check("busy_percent", "0.05", FactValue::percent(0.05, 2));
        check("longest_pause_s", "2.003", FactValue::seconds(2.003, 3));
        check("restarted_ago_s", "21", FactValue::seconds(21.0, 0));
        check("offset_s", "-0.250", FactValue::seconds(-0.25, 3));
        check("counts_single_statements", "false", FactValue::YesNo(false));
        let both = [FactValue::percent(41.0, 1), FactValue::percent(39.5, 1)];
        check("loop_busy_percent", "41.0, 39.5", FactValue::List(both.to_vec()));
        let counts = BucketCounts::new([(40, 3), (100, 1)], 0);
        check("reader_1_ages_ms", "<40: 3, <100: 1, >=100: 0", FactValue::Buckets(counts));
        check("product", "MariaDB", words("MariaDB"));
        check("version", "10.11", words("10.11"));
        check("seed", "18446744073709551615", words("18446744073709551615"));
        // Text that would be printed differently than it was read stays as it is.
        for (name, text) in [
            ("build", "007"),
            ("build", "+7"),
            ("wait_s", "soon"),
            ("wait_s", "1."),
            ("wait_s", ".5"),
            ("wait_s", "--5"),
            ("wait_s", ""),
            ("wait_s", "0.1234567891"),
            ("sizes", "1, 2"),
            ("ages", "<40: 3, <100: 1, >=100: 0"),
            ("ages_ms", "<40: 03, >=40: 0"),
            ("memory_limit_bytes", "none"),
            ("memory_limit_bytes", "-1"),
            ("percent", "x"),
        ] {
            check(name, text, words(text));
        }
    }

    #[test]
    fn a_fact_is_the_same_after_it_was_stored() {
        let check = |name: &str, value: FactValue| {
            let fact = Fact::new("client", name, value);
            let stored = FactValue::read(name, fact.value.to_string());
            assert_eq!(stored, fact.value, "{name}");
        };
        check("outside_percent", FactValue::percent(61.036, 2));
        check("connecting_s", FactValue::seconds(1e-9, 3));
        check("pinned", true.into());
        check("seed", u64::MAX.into());
        check("total_bytes", 7_u64.into());
        check("loop_busy_percent", FactValue::list([FactValue::percent(41.0, 1)]));
        check("loop_busy_percent", FactValue::list([1.0, 2.0].map(|p| FactValue::percent(p, 1))));
        check("ages_ms", BucketCounts::new([(1, 0)], 2).into());
        check("nodes", "3".into());
        check("version", "8.4.0-log".into());
    }

    #[test]
    fn a_number_is_rounded_once_and_reported_with_its_decimals() {
        assert_eq!(FactValue::percent(61.036, 2).to_string(), "61.04");
        assert_eq!(FactValue::percent(61.036, 2).as_percent(), Some(61.04));
        assert_eq!(FactValue::percent(0.0, 2).to_string(), "0.00");
        assert_eq!(FactValue::seconds(-0.004, 2).to_string(), "0.00");
        assert_eq!(FactValue::seconds(12.0, 0).to_string(), "12");
        assert_eq!(FactValue::seconds(12.0, 0).as_percent(), None);
    }
}
