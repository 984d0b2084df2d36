//! Syntax of a search range, such as `rate=100..5000`.
//!
//! Not here: which parameters can be searched for (seek_plan).

use std::cmp::Ordering;

use model::{ParameterKind, Seek, is_arrival_rate, parse_count, parse_rate};
use toml::Value;

use crate::form::Form;

/// A searched parameter with the lowest and the highest value to try, such as `rate=100..5000`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) axis: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

pub(crate) fn range_of(seek: &Seek) -> Range {
    Range { axis: seek.axis.clone(), low: seek.low, high: seek.high }
}

impl Form for Range {
    type Value = Range;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<Range, String> {
        let like = || format!("'{text}' is not a range: write rate=100..5000");
        let (name, range) = text.split_once('=').ok_or_else(like)?;
        let (low, high) = range.split_once("..").ok_or_else(like)?;
        let name = name.trim();
        let number = |part: &str| match is_arrival_rate(name) {
            true => parse_rate(part.trim()).map_err(|bad| bad.0),
            false => parse_count(part.trim()).map(|count| count as f64).map_err(|bad| bad.0),
        };
        let (low, high) = (number(low)?, number(high)?);
        if name.is_empty() {
            return Err(like());
        }
        let why = match low.total_cmp(&high) {
            _ if low <= 0.0 => "a range begins above zero",
            Ordering::Equal => "this is one value: the end must be higher than the beginning",
            Ordering::Greater => "this range is empty: the end must be higher than the beginning",
            Ordering::Less => return Ok(Range { axis: name.to_owned(), low, high }),
        };
        Err(format!("'{text}': {why}"))
    }

    fn print(value: &Range) -> Option<Value> {
        let Range { axis, low, high } = value;
        Some(format!("{axis}={low}..{high}").into())
    }
}
