//! Forms: types that parse the values of a parameter, and print them so that they parse to the same
//! value.
//!
//! A form is a type without values that the declaration of a parameter names (in module `table`),
//! such as `Duration`. An enum of choices is its own form. Not here: the list of parameters, and
//! conflicts between two of them (decide).

use std::convert::Infallible;
use std::marker::PhantomData;

use analysis::figures::Required;
use model::{
    AgentShare, ArrivalRate, Choice, DbErrorKind, Metric, NS_PER_S, Objective, ParameterKind,
    RetryOn, StopCondition, Target, byte_rate, did_you_mean, format_duration, in_range,
    is_agent_name, parse_bytes, parse_count, parse_duration, parse_number, parse_rate,
};
use toml::Value;

use crate::rates_file;
use crate::target::check_target;

/// A form of parameter values, such as durations: parses them from text and converts them to TOML.
pub(crate) trait Form {
    type Value;

    /// The kind of values (such as number or choice), which help texts show.
    const KIND: ParameterKind;

    /// Parses a value. The text of an error does not name the parameter, which the caller adds.
    fn read(text: &str) -> Result<Self::Value, String>;

    /// Parses a value that is written as a list in TOML: by default as the text of its items,
    /// joined by commas.
    fn read_list(items: &[String]) -> Result<Self::Value, String> {
        Self::read(&items.join(","))
    }

    /// Returns the value of a parameter that has no default and is not written; `None` if
    /// parameters of this form must have a default or be written.
    fn absent() -> Option<Self::Value> {
        None
    }

    /// Returns the value as it is written in TOML, so that it parses to the same value; `None` to
    /// leave out the key.
    fn print(value: &Self::Value) -> Option<Value>;
}

impl<C: Choice> Form for C {
    type Value = C;
    const KIND: ParameterKind = ParameterKind::Choice(C::NAMES);

    fn read(text: &str) -> Result<C, String> {
        C::by_name(text).ok_or_else(|| {
            let hint = did_you_mean(text, C::NAMES.iter().copied());
            format!("'{text}' is not one of {}{hint}", C::NAMES.join(", "))
        })
    }

    fn print(value: &C) -> Option<Value> {
        Some(value.name().into())
    }
}

/// Form of a value that may be left out; a value that is given has the form `F`.
pub(crate) enum Optional<F> {
    #[expect(dead_code, reason = "a form has no values")]
    Never(PhantomData<F>, Infallible),
}

impl<F: Form> Form for Optional<F> {
    type Value = Option<F::Value>;
    const KIND: ParameterKind = F::KIND;

    fn read(text: &str) -> Result<Option<F::Value>, String> {
        F::read(text).map(Some)
    }

    fn read_list(items: &[String]) -> Result<Option<F::Value>, String> {
        F::read_list(items).map(Some)
    }

    fn absent() -> Option<Option<F::Value>> {
        Some(None)
    }

    fn print(value: &Option<F::Value>) -> Option<Value> {
        value.as_ref().and_then(F::print)
    }
}

/// Form of the agents of a run: a number of them, or names with shares.
pub(crate) enum Agents {}

impl Form for Agents {
    type Value = Vec<AgentShare>;
    const KIND: ParameterKind = ParameterKind::Words;

    fn read(text: &str) -> Result<Vec<AgentShare>, String> {
        AgentShare::parse_list(text)
    }

    fn print(value: &Vec<AgentShare>) -> Option<Value> {
        Some(AgentShare::print_list(value).into())
    }
}

/// Form of a list of names of agents, with commas between them.
pub(crate) enum AgentNames {}

impl Form for AgentNames {
    type Value = Vec<String>;
    const KIND: ParameterKind = ParameterKind::Words;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let mut names: Vec<String> = Vec::new();
        for name in text.split(',').map(str::trim) {
            if !is_agent_name(name) {
                return Err(format!(
                    "'{name}' is no name of an agent ('dbdyno agents' lists them)"
                ));
            }
            if names.iter().any(|known| known == name) {
                return Err(format!("the agent {name} is named twice"));
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }

    fn print(value: &Vec<String>) -> Option<Value> {
        Some(value.join(",").into())
    }
}

pub(crate) enum Text {}

impl Form for Text {
    type Value = String;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn print(value: &String) -> Option<Value> {
        Some(value.as_str().into())
    }
}

/// Form of a name: one line of at most 200 characters, so that it fits into lists and tables.
pub(crate) enum Name {}

impl Form for Name {
    type Value = String;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<String, String> {
        if text.contains(model::is_control_char) {
            return Err("a name is one line, without control or invisible characters".to_owned());
        }
        // As long as a label: a line of a list.
        const CHARACTERS_MAX: usize = 200;
        match text.chars().count() > CHARACTERS_MAX {
            true => Err(format!("a name is no longer than {CHARACTERS_MAX} characters")),
            false => Ok(text.to_owned()),
        }
    }

    fn print(value: &String) -> Option<Value> {
        Text::print(value)
    }
}

/// Form of SQL: one statement or a list of statements, none of them empty.
pub(crate) enum Statements {}

impl Form for Statements {
    type Value = Vec<String>;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<Vec<String>, String> {
        Statements::read_list(&[text.to_owned()])
    }

    fn read_list(items: &[String]) -> Result<Vec<String>, String> {
        match items.iter().all(|item| !item.trim().is_empty()) && !items.is_empty() {
            true => Ok(items.to_vec()),
            false => Err("there is no statement".to_owned()),
        }
    }

    fn print(value: &Vec<String>) -> Option<Value> {
        Some(match value.as_slice() {
            [one] => one.as_str().into(),
            all => all.to_vec().into(),
        })
    }
}

/// Form of a database URL, with a known scheme and known options.
pub(crate) enum Url {}

impl Form for Url {
    type Value = Target;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<Target, String> {
        let target = Target::parse(text).map_err(|bad| bad.0)?;
        check_target(&target).map_err(|bad| bad.to_string())?;
        Ok(target)
    }

    /// Returns the URL of the target, without its password, as a TOML text.
    fn print(value: &Target) -> Option<Value> {
        Some(value.to_string().into())
    }
}

/// Form of a whole number of up to 64 bits, from `MIN` to `MAX`.
pub(crate) enum Count<const MIN: u64, const MAX: u64> {}

impl<const MIN: u64, const MAX: u64> Form for Count<MIN, MAX> {
    type Value = u64;
    const KIND: ParameterKind = ParameterKind::Count { min: MIN, max: MAX };

    fn read(text: &str) -> Result<u64, String> {
        let count = parse_count(text).map_err(|bad| bad.0)?;
        in_range(count, MIN, MAX)?;
        Ok(count)
    }

    /// Returns a TOML integer, or a text if the number exceeds the 63 bits of TOML's integers.
    fn print(value: &u64) -> Option<Value> {
        Some(i64::try_from(*value).map_or_else(|_| value.to_string().into(), Value::from))
    }
}

/// Form of a whole number of up to 32 bits, from `MIN` to `MAX`.
pub(crate) enum Few<const MIN: u32, const MAX: u32> {}

impl<const MIN: u32, const MAX: u32> Form for Few<MIN, MAX> {
    type Value = u32;
    const KIND: ParameterKind = ParameterKind::Count { min: MIN as u64, max: MAX as u64 };

    fn read(text: &str) -> Result<u32, String> {
        let count = parse_count(text).map_err(|bad| bad.0)?;
        in_range(count, MIN.into(), MAX.into())?;
        u32::try_from(count).map_err(|error| error.to_string())
    }

    fn print(value: &u32) -> Option<Value> {
        Some(i64::from(*value).into())
    }
}

/// Form of a factor for keying and think times, from a millionth to 1,000.
pub(crate) enum Factor {}

impl Factor {
    const MIN: f64 = 0.000_001;
    const MAX: f64 = 1000.0;
}

impl Form for Factor {
    type Value = f64;
    const KIND: ParameterKind = ParameterKind::Number { min: Factor::MIN, max: Factor::MAX };

    fn read(text: &str) -> Result<f64, String> {
        let value = parse_number(text).map_err(|bad| bad.0)?;
        in_range(value, Factor::MIN, Factor::MAX)?;
        Ok(value)
    }

    fn print(value: &f64) -> Option<Value> {
        Some((*value).into())
    }
}

pub(crate) enum Duration {}

impl Form for Duration {
    type Value = u64;
    const KIND: ParameterKind = ParameterKind::Duration;

    fn read(text: &str) -> Result<u64, String> {
        parse_duration(text).map_err(|bad| bad.0)
    }

    /// Returns the duration, given in nanoseconds, as a text with its unit, such as `30s`, without
    /// loss.
    fn print(value: &u64) -> Option<Value> {
        Some(exact(*value).into())
    }
}

/// Formats a duration in nanoseconds with its unit, so that it parses to the same value.
pub(crate) fn exact(ns: u64) -> String {
    let rounded = format_duration(ns);
    if parse_duration(&rounded) == Ok(ns) { rounded } else { format!("{ns}ns") }
}

pub(crate) enum DurationWithin<const MIN_S: u64, const MAX_S: u64> {}

impl<const MIN_S: u64, const MAX_S: u64> Form for DurationWithin<MIN_S, MAX_S> {
    type Value = u64;
    const KIND: ParameterKind = ParameterKind::Duration;

    fn read(text: &str) -> Result<u64, String> {
        let ns = Duration::read(text)?;
        let (min_ns, max_ns) = (MIN_S * NS_PER_S, MAX_S * NS_PER_S);
        if !(min_ns..=max_ns).contains(&ns) {
            let (min, max) = (format_duration(min_ns), format_duration(max_ns));
            return Err(format!("'{text}' does not lie between {min} and {max}"));
        }
        Ok(ns)
    }

    fn print(value: &u64) -> Option<Value> {
        Duration::print(value)
    }
}

pub(crate) enum PositiveDuration {}

impl Form for PositiveDuration {
    type Value = u64;
    const KIND: ParameterKind = ParameterKind::Duration;

    fn read(text: &str) -> Result<u64, String> {
        match Duration::read(text)? {
            0 => Err("it must be above 0".to_owned()),
            ns => Ok(ns),
        }
    }

    fn print(value: &u64) -> Option<Value> {
        Duration::print(value)
    }
}

pub(crate) enum Seconds {}

impl Form for Seconds {
    type Value = u32;
    const KIND: ParameterKind = ParameterKind::Duration;

    fn read(text: &str) -> Result<u32, String> {
        let ns = Duration::read(text)?;
        match u32::try_from(ns / NS_PER_S) {
            Ok(seconds) if seconds > 0 && ns.is_multiple_of(NS_PER_S) => Ok(seconds),
            _ => Err(format!("'{text}' must be whole seconds, such as 10s")),
        }
    }

    fn print(value: &u32) -> Option<Value> {
        Duration::print(&(u64::from(*value) * NS_PER_S))
    }
}

pub(crate) enum Rate {}

impl Form for Rate {
    type Value = f64;
    const KIND: ParameterKind = ParameterKind::Rate;

    fn read(text: &str) -> Result<f64, String> {
        parse_rate(text).map_err(|bad| bad.0)
    }

    fn print(value: &f64) -> Option<Value> {
        Some((*value).into())
    }
}

pub(crate) enum ByteRate {}

impl Form for ByteRate {
    type Value = u64;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<u64, String> {
        let per_s = text.trim();
        let bytes = parse_bytes(per_s.strip_suffix("/s").unwrap_or(per_s).trim_end());
        match bytes {
            Ok(0) => {
                Err("it must be above 0, such as 10MB/s; leave it out for no limit".to_owned())
            }
            Ok(bytes) => Ok(bytes),
            Err(_) => Err(format!(
                "'{text}' is not a bandwidth: write a whole number of bytes per second, such as \
                 10MB/s (units: kB, KiB, MB, MiB, GB, GiB)"
            )),
        }
    }

    fn print(value: &u64) -> Option<Value> {
        let (count, unit) = byte_rate(*value);
        Some(format!("{count}{unit}").into())
    }
}

/// Form of an arrival rate, constant or changing over time.
pub(crate) enum RateOverTime {}

impl Form for RateOverTime {
    type Value = ArrivalRate;
    const KIND: ParameterKind = ParameterKind::ArrivalRate;

    fn read(text: &str) -> Result<ArrivalRate, String> {
        match text.strip_prefix("file ") {
            Some(path) => rates_file::read(path.trim()),
            None => text.parse().map_err(|bad: model::BadUnit| bad.0),
        }
    }

    fn print(value: &ArrivalRate) -> Option<Value> {
        Some(match value {
            ArrivalRate::Constant(per_s) => (*per_s).into(),
            changing => changing.to_string().into(),
        })
    }
}

/// Form of a truth value, printed as `true` or `false`.
pub(crate) enum Switch {}

impl Form for Switch {
    type Value = bool;
    const KIND: ParameterKind = ParameterKind::Switch;

    fn read(text: &str) -> Result<bool, String> {
        model::parse_switch(text)
    }

    fn print(value: &bool) -> Option<Value> {
        Some((*value).into())
    }
}

/// Form of a number of transactions, in all or per client, after which a group ends.
pub(crate) enum Transactions {}

impl Form for Transactions {
    type Value = StopCondition;
    const KIND: ParameterKind = ParameterKind::Text;

    fn read(text: &str) -> Result<StopCondition, String> {
        let text = text.trim();
        let (number, per_client) = match text.strip_suffix("per client") {
            Some(number) => (number, true),
            None => (text, false),
        };
        let number = number.trim().trim_end_matches("transactions").trim();
        match parse_count(number) {
            Ok(0) => Err("nothing would be measured: write at least 1".to_owned()),
            Ok(count) if per_client => Ok(StopCondition::TransactionsPerClient(count)),
            Ok(count) => Ok(StopCondition::Transactions(count)),
            Err(bad) => Err(format!("{bad}; such as 100000, or '1000 per client'")),
        }
    }

    fn print(value: &StopCondition) -> Option<Value> {
        match value {
            StopCondition::Time | StopCondition::Sequence => None,
            StopCondition::Transactions(count) => Some(format!("{count} transactions").into()),
            StopCondition::TransactionsPerClient(count) => {
                Some(format!("{count} per client").into())
            }
        }
    }
}

/// Form of database errors after which a transaction is retried: names of error kinds, the server's
/// error numbers, or SQLSTATEs.
pub(crate) enum Retried {}

impl Form for Retried {
    type Value = Vec<RetryOn>;
    const KIND: ParameterKind = ParameterKind::Words;

    fn read(text: &str) -> Result<Vec<RetryOn>, String> {
        read_errors(text, "it is not retried, but the client reconnects")
    }

    fn print(value: &Vec<RetryOn>) -> Option<Value> {
        Some(print_errors(value))
    }
}

/// Word for all errors that can be ignored.
const EVERY_ERROR: &str = "all";

/// Form of database errors that are ignored, by name, number or SQLSTATE.
pub(crate) enum IgnoredErrors {}

impl Form for IgnoredErrors {
    type Value = Vec<RetryOn>;
    const KIND: ParameterKind = ParameterKind::Words;

    fn read(text: &str) -> Result<Vec<RetryOn>, String> {
        if text.trim() == EVERY_ERROR {
            let is_possible =
                |kind: &DbErrorKind| !kind.breaks_session() && *kind != DbErrorKind::Cancelled;
            let all = DbErrorKind::ALL.into_iter().filter(is_possible);
            return Ok(all.map(RetryOn::Kind).collect());
        }
        read_errors(text, "it cannot be ignored, since the client must reconnect")
    }

    fn print(value: &Vec<RetryOn>) -> Option<Value> {
        Some(print_errors(value))
    }
}

/// Reads names of error kinds, numbers of the server's and SQLSTATEs. `but` says what happens with
/// an error that ends the session, which cannot be named.
fn read_errors(text: &str, but: &str) -> Result<Vec<RetryOn>, String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let kind = |word: &str| match DbErrorKind::by_name(word) {
        Some(kind) if kind.breaks_session() => Err(format!("'{word}' ends the session: {but}")),
        Some(kind) => Ok(RetryOn::Kind(kind)),
        None => RetryOn::by_code(word).ok_or_else(|| {
            let hint = did_you_mean(word, DbErrorKind::ALL.map(DbErrorKind::name));
            format!(
                "there is no database error '{word}'{hint}; a number of the server's, such as \
                 3101, and an SQLSTATE, such as 40001, can be named too"
            )
        }),
    };
    words.map(kind).collect()
}

fn print_errors(errors: &[RetryOn]) -> Value {
    Value::Array(errors.iter().map(|error| error.name().into()).collect())
}

/// Form of the objectives of a search, such as `p99<20ms`; at most one for each metric.
pub(crate) enum Objectives {}

impl Form for Objectives {
    type Value = Vec<Objective>;
    const KIND: ParameterKind = ParameterKind::Words;

    fn read(text: &str) -> Result<Vec<Objective>, String> {
        let read = |word: &str| {
            let objective = word.parse::<Objective>().map_err(|bad| bad.0)?;
            if matches!(objective.metric, Metric::Figure(_)) {
                word.parse::<Required>()?;
            }
            Ok::<Objective, String>(objective)
        };
        let all = text.split(',').map(read).collect::<Result<Vec<_>, _>>()?;
        for (index, objective) in all.iter().enumerate() {
            if all[..index].iter().any(|other| other.metric == objective.metric) {
                let name = objective.metric.name();
                return Err(format!("there are two objectives of {name}: remove one"));
            }
        }
        Ok(all)
    }

    fn print(value: &Vec<Objective>) -> Option<Value> {
        Some(Value::Array(value.iter().map(|objective| objective.to_string().into()).collect()))
    }
}
