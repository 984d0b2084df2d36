//! The workload of a script file, with its parameters decided.
//!
//! Not here: the execution of its commands (client).

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use model::{
    BadParameter, Check, Client, Command, CustomMetric, CustomMetricKind, Dialect, Direction,
    Identity, Kind, KindIndex, Number, Places, ScriptHost, Source, Statement, Workload, interned,
};

use super::builder::{Builder, Work};
use super::client::{Draws, Given, Mode, Shared, User};
use super::compiled::{Compiled, Type};
use super::sections::{Of, Section, divide};
use super::{
    COMMAND_TIMES, END_CLIENT, MODE, ON_ERROR, PREDEFINED, RANDOM_CLIENTS, RANDOM_SEED, UNSET,
};
use crate::Make;
use crate::script::pgbench::{Prng, VariableId, What};
use crate::script::places::CutOffPlaces;

/// Name of the command that executes the sections that build.
const PREPARE: &str = "prepare";
/// Name of the command that executes the sections that remove.
const CLEANUP: &str = "cleanup";

pub(super) struct Scripts {
    name: &'static str,
    kinds: Vec<Kind>,
    metrics: Vec<CustomMetric>,
    shared: Arc<Shared>,
}

impl Scripts {
    /// Decides the parameters of a script.
    ///
    /// # Errors
    ///
    /// A variable that has no value, or parameters that contradict each other.
    pub(super) fn new(
        compiled: Compiled,
        source: &'static Source,
        make: &Make<'_>,
    ) -> Result<Scripts, BadParameter> {
        let settings = make.settings;
        let given = |name: &str| {
            let declared = settings.has(name).then(|| settings.text(name));
            declared.filter(|text| !text.is_empty())
        };
        if settings.text(UNSET) == "refuse" {
            compiled.check_values(&|name| given(name).is_some())?;
        }
        let draws = draws(settings.text_given(RANDOM_SEED), make)?;
        let values = values_of(&compiled, &given, &draws);
        let kind =
            |one: &Type| Kind { name: one.name, weight: one.weight, keying_ns: 0, thinking_ns: 0 };
        let ends_at_errors = settings.text(ON_ERROR) == END_CLIENT;
        let mode = match settings.text(MODE) {
            "simple" if ends_at_errors => Mode::Simple,
            text => mode_of(text, &compiled),
        };
        compiled.check_marks(mode == Mode::Prepared)?;
        if !ends_at_errors {
            // As in pgbench, the first execution ends the client otherwise.
            compiled.check_ends()?;
        }
        let has_times = settings.text(COMMAND_TIMES) == "on";
        let (metrics, times) = if has_times { metrics(&compiled) } else { Default::default() };
        Ok(Scripts {
            name: interned(source.stem()),
            kinds: compiled.types.iter().map(kind).collect(),
            metrics,
            shared: Arc::new(Shared {
                compiled,
                given: values,
                draws,
                mode,
                ends_at_errors,
                times,
                seed: make.seed,
                cut_off: CutOffPlaces::default(),
                host: OnceLock::new(),
                clients: AtomicU32::new(1),
            }),
        })
    }
}

/// Returns the values that variables have before the first transaction: those that are `given`, and
/// predefined ones.
fn values_of<'a>(
    compiled: &Compiled,
    given: &dyn Fn(&str) -> Option<&'a str>,
    draws: &Draws,
) -> Vec<(VariableId, Given)> {
    let is_own = |name: &str| super::OWN.iter().any(|own| own.name == name);
    let mut values: Vec<(VariableId, Given)> = Vec::new();
    let variables = compiled.variables();
    let others = variables.iter().map(String::as_str).filter(|name| !is_own(name));
    let declared = compiled.declared.iter().map(|(id, ..)| compiled.names.name_of(*id));
    for name in declared.chain(others) {
        let id = compiled.names.lookup(name).expect("it is one of them");
        values.extend(given(name).map(|text| (id, as_written(text))));
    }
    let predefined = [
        ("scale", 1),
        ("random_seed", draws.seed as i64),
        ("default_seed", draws.default_seed as i64),
    ];
    for (name, value) in predefined {
        debug_assert!(PREDEFINED.contains(&name));
        let id = compiled.names.lookup(name);
        let is_new = |id: &VariableId| values.iter().all(|(other, _)| other != id);
        if let Some(id) = id.filter(is_new) {
            values.push((id, Given::Int(value)));
        }
    }
    values
}

/// Returns the custom metrics for the times of all commands, and for each type the index of the
/// first of its own.
fn metrics(compiled: &Compiled) -> (Vec<CustomMetric>, Vec<u16>) {
    let mut metrics = Vec::new();
    let mut firsts = Vec::new();
    for one in &compiled.types {
        firsts.push(metrics.len() as u16);
        let of_command = |at| time_metric(interned(&metric_of(one.name, at)));
        metrics.extend((0..one.commands.len()).map(of_command));
    }
    (metrics, firsts)
}

fn time_metric(name: &'static str) -> CustomMetric {
    let kind = CustomMetricKind::Histogram;
    CustomMetric { name, unit: "ns", kind, better: Direction::Lower }
}

/// Returns the name of the custom metric for the command with index `at` of a type.
fn metric_of(kind: &str, at: usize) -> String {
    format!("{kind}_command_{}", at + 1)
}

/// A command of a script whose times are recorded (see [`COMMAND_TIMES`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCommand {
    /// Index of the command within its script.
    pub at: usize,
    /// Custom metric of its times.
    pub metric: String,
    /// First line of its text.
    pub first_line: String,
}

/// Returns the commands of each transaction type of a script. Ends of conditions are no commands.
///
/// # Errors
///
/// The script cannot be read.
pub fn timed_commands(source: &'static Source) -> Result<Vec<Vec<TimedCommand>>, BadParameter> {
    let compiled = Compiled::read(source)?;
    let sections = divide(&source.name, source.stem(), &source.text)?;
    let transactions = sections.iter().filter(|one| matches!(one.of, Of::Transaction { .. }));
    let of_type = |(one, section): (&Type, &Section<'_>)| {
        let commands = one.script.commands.iter().enumerate();
        let listed = commands.filter_map(|(at, command)| {
            let text = match &command.what {
                What::Jump { .. } => return None,
                What::Sql(sql) => sql.written(),
                _ => section.text.lines().nth(command.line as usize - 1)?.to_owned(),
            };
            let first = text.trim_start().lines().next().unwrap_or_default().trim_end();
            let metric = metric_of(one.name, at);
            Some(TimedCommand { at, metric, first_line: first.to_owned() })
        });
        listed.collect()
    };
    Ok(compiled.types.iter().zip(transactions).map(of_type).collect())
}

/// Returns the value of a variable that a user gave: an integer if the text is one as dbdyno would
/// write it.
fn as_written(text: &str) -> Given {
    match text.parse::<i64>() {
        Ok(value) if value.to_string() == text => Given::Int(value),
        _ => Given::Text(text.to_owned()),
    }
}

/// Returns the way in which statements are sent. Pipelines need prepared statements.
fn mode_of(text: &str, compiled: &Compiled) -> Mode {
    let mut commands = compiled.types.iter().flat_map(|one| &one.script.commands);
    let has_pipeline = commands.any(|command| matches!(command.what, What::StartPipeline));
    match text {
        "simple" if !has_pipeline => Mode::Simple,
        _ => Mode::Prepared,
    }
}

fn draws(random_seed: Option<&str>, make: &Make<'_>) -> Result<Draws, BadParameter> {
    let n_clients = make.settings.count(RANDOM_CLIENTS) as u32;
    let Some(text) = random_seed else {
        let mut rng = model::Rng::new(make.seed, model::Stream::Constants, 0);
        return Ok(Draws { seed: make.seed, default_seed: rng.bits(), as_pgbench: None });
    };
    let seed = text.parse::<u64>().or_else(|_| text.parse::<i64>().map(|seed| seed as u64));
    let seed = seed.map_err(|_| {
        BadParameter::named(RANDOM_SEED, format!("'{text}' is no whole number of 64 bits"))
    })?;
    // pgbench seeds its clients first, then the hash functions, then each thread three times.
    let mut base = Prng::new(seed);
    let clients: Vec<u64> = (0..n_clients).map(|_| base.next_u64()).collect();
    let default_seed = base.next_u64();
    let choices = (0..n_clients)
        .map(|_| {
            let choice = base.next_u64();
            base.next_u64();
            base.next_u64();
            choice
        })
        .collect();
    Ok(Draws { seed, default_seed, as_pgbench: Some((clients, choices)) })
}

impl Workload for Scripts {
    fn script(&self) -> Option<&dyn model::Script> {
        Some(self)
    }

    fn identity(&self) -> Identity {
        Identity { workload: self.name.to_owned(), version: 1, ..Identity::default() }
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        &self.metrics
    }

    fn notes(&self) -> Vec<String> {
        let sent = match self.shared.mode {
            Mode::Simple => "as text with their values in it",
            Mode::Prepared => "prepared once per connection",
        };
        let random = match self.shared.draws.as_pgbench {
            Some(_) => " Random numbers are those of pgbench with this seed.",
            None => "",
        };
        vec![format!("Own SQL: statements are sent {sent}.{random}")]
    }

    fn statements(&self, _dialect: &Dialect) -> Vec<Statement> {
        // A statement may need a table that the script itself creates, so each is prepared when it
        // is first executed.
        Vec::new()
    }

    fn refuses_clients(&self, clients: u32) -> Option<String> {
        self.shared.clients.store(clients, Ordering::Relaxed);
        None
    }

    fn places(&self) -> Places {
        // A program keeps its thread waiting.
        match self.shared.compiled.starts_programs() {
            None => Places::ALL,
            Some(_) => Places::THREAD,
        }
    }

    fn refuses_processes(&self) -> Option<String> {
        let place = self.shared.compiled.starts_programs()?;
        Some(format!("{place}: a script that starts programs runs in one process"))
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        self.shared.kind_of(number)
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        Box::new(User::new(Arc::clone(&self.shared), client))
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        let variables = self.shared.variables();
        let of = |(nth, check): (usize, &super::compiled::CheckSection)| {
            let mut sql = String::new();
            check.sql.text_into(&variables, &mut sql);
            Check {
                id: interned(&(nth + 1).to_string()),
                title: Cow::Borrowed(check.title),
                sql: sql.trim_end().trim_end_matches(';').to_owned(),
            }
        };
        self.shared.compiled.checks.iter().enumerate().map(of).collect()
    }
}

impl model::Script for Scripts {
    fn commands(&self) -> Result<Vec<Command>, BadParameter> {
        let compiled = &self.shared.compiled;
        let has = [!compiled.builds.is_empty(), !compiled.drops.is_empty()];
        let named = [PREPARE, CLEANUP].into_iter().zip(has).filter(|(_, has)| *has);
        Ok(named.map(|(name, _)| Command { name: name.to_owned(), is_parallel: false }).collect())
    }

    fn commander(&self, command: &str, _thread: u32, _threads: u32) -> Option<Box<dyn Client>> {
        let work = match command {
            PREPARE => Work::Build,
            CLEANUP => Work::Drop,
            _ => return None,
        };
        Some(Box::new(Builder::new(Arc::clone(&self.shared), work)))
    }

    fn section_of(&self, command: &str) -> Option<&'static str> {
        match command {
            PREPARE => Some("-- dbdyno: build"),
            CLEANUP => Some("-- dbdyno: drop"),
            _ => None,
        }
    }

    fn shaping_parameters(&self) -> Vec<String> {
        self.shared.compiled.shaping_names()
    }

    fn created_tables(&self) -> Vec<String> {
        self.shared.compiled.created_tables()
    }

    fn starts_programs(&self) -> Option<&'static str> {
        self.shared.compiled.starts_programs()
    }

    fn set_host(&self, host: &Arc<dyn ScriptHost>) {
        self.shared.host.get_or_init(|| Arc::clone(host));
    }

    fn cut_off_at(&self) -> Vec<(String, u64)> {
        self.shared.cut_off.all()
    }
}
