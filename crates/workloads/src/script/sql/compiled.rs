//! A script file that was read: its transaction types with all that is known of their commands,
//! and its checks.
//!
//! Not here: the values of variables, and the execution of commands.

use std::collections::BTreeSet;

use model::{BadParameter, RetryOn, Source, interned};

use super::givable::Flow;
use super::sections::{Of, declared, divide};
use super::words::{self, Control, Told};
use super::{CLIENTS, PREDEFINED, ROW, ROW_COUNT};
use crate::script::pgbench::{
    self, Command, Expression, MARKS_MAX, Names, Operand, Script, Sql, Store, VariableId, What,
};

/// What is wrong with a script that leaves a transaction open.
pub(super) const ENDS_OPEN: &str = "the script ends within a transaction: write COMMIT or ROLLBACK";

/// A script file that was read.
pub(super) struct Compiled {
    pub(super) types: Vec<Type>,
    /// Scripts that create tables and rows, in order.
    pub(super) builds: Vec<Build>,
    /// Scripts that remove what the others have created, in order.
    pub(super) drops: Vec<Type>,
    /// Scripts that each client executes before its first transaction, in order.
    pub(super) starts: Vec<Type>,
    pub(super) checks: Vec<CheckSection>,
    pub(super) names: Names,
    /// Variable [`ROW_COUNT`], if the file reads it.
    pub(super) row_count: Option<VariableId>,
    /// Variables that the file declares, each with its default and its help.
    pub(super) declared: Vec<(VariableId, &'static str, &'static str)>,
    /// Variables on which the data depend, because a section that builds mentions them.
    built_with: BTreeSet<VariableId>,
    /// Variables that stand in a statement where a value is needed, each with the place of its
    /// first occurrence.
    needed: Vec<(VariableId, String)>,
}

/// A transaction type: a script with all that is known of its commands.
pub(super) struct Type {
    pub(super) name: &'static str,
    pub(super) weight: u64,
    pub(super) script: Script,
    /// For each command of the script, what is known of it.
    pub(super) commands: Vec<Known>,
    /// Errors that are expected: the transaction is then rolled back, and has not failed.
    pub(super) may_fail: Vec<RetryOn>,
}

impl Type {
    /// Creates a script that is no transaction type, such as one that builds.
    fn of_section(name: &'static str, script: Script, commands: Vec<Known>) -> Type {
        Type { name, weight: 0, script, commands, may_fail: Vec::new() }
    }
}

/// What is known of a command before it is executed.
pub(super) struct Known {
    /// Place of the command, such as `bank.sql:7`.
    pub(super) place: &'static str,
    /// What its statements do; `None` if it is no SQL command.
    pub(super) told: Option<Told>,
    /// Variables of its placeholders, in order.
    pub(super) variables: Vec<VariableId>,
}

/// A script that builds data.
pub(super) struct Build {
    /// How often it is executed; `None` for once, outside of a transaction.
    pub(super) times: Option<Expression>,
    pub(super) of: Type,
}

/// A check of the data: a query with variables.
pub(super) struct CheckSection {
    pub(super) title: &'static str,
    pub(super) sql: Sql,
}

impl Compiled {
    fn empty() -> Compiled {
        Compiled {
            types: Vec::new(),
            builds: Vec::new(),
            drops: Vec::new(),
            starts: Vec::new(),
            checks: Vec::new(),
            names: Names::new(),
            row_count: None,
            declared: Vec::new(),
            built_with: BTreeSet::new(),
            needed: Vec::new(),
        }
    }

    /// Reads a script file.
    ///
    /// # Errors
    ///
    /// The first error in the file, with its line.
    pub(super) fn read(source: &'static Source) -> Result<Compiled, BadParameter> {
        let mut compiled = Compiled::empty();
        for one in declared(&source.name, &source.text)? {
            let id = compiled.names.add(one.name).map_err(|bad| BadParameter::new(bad.message))?;
            compiled.declared.push((id, one.default, one.help));
        }
        for section in divide(&source.name, source.stem(), &source.text)? {
            let at = |line: u32| section.place.line(line);
            let script = pgbench::parse(section.text, &mut compiled.names)
                .map_err(|bad| BadParameter::new(format!("{}: {}", at(bad.line), bad.message)))?;
            let commands: Vec<Known> = script
                .commands
                .iter()
                .map(|command| known(&at(command.line), &command.what))
                .collect();
            match section.of {
                Of::Transaction { name, weight, may_fail } => {
                    let may_fail = error_codes(may_fail)
                        .map_err(|why| BadParameter::new(format!("{}: {why}", at(0))))?;
                    let name = interned(name);
                    if compiled.types.iter().any(|known| known.name == name) {
                        return Err(BadParameter::new(format!(
                            "{}: there are two transaction types '{name}'",
                            at(0)
                        )));
                    }
                    compiled.types.push(Type { name, weight, script, commands, may_fail });
                }
                Of::Check { title } => {
                    let sql = only_query(script).ok_or_else(|| {
                        let why = format!("the check '{title}' is not one query");
                        BadParameter::new(format!("{}: {why}", at(0)))
                    })?;
                    compiled.checks.push(CheckSection { title: interned(title), sql });
                }
                Of::Build { times } => {
                    let mentioned = mentioned(section.text, times);
                    let names = &mut compiled.names;
                    let times = times.map(|text| Expression::parse(text, names)).transpose();
                    let times = times.map_err(|bad| {
                        BadParameter::new(format!("{}: build times: {}", at(0), bad.message))
                    })?;
                    let found = mentioned.iter().filter_map(|name| names.lookup(name));
                    compiled.built_with.extend(found);
                    let of = Type::of_section("build", script, commands);
                    compiled.builds.push(Build { times, of });
                }
                Of::Drop => {
                    compiled.drops.push(Type::of_section("drop", script, commands));
                }
                Of::StartClient => {
                    compiled.starts.push(Type::of_section("start client", script, commands));
                }
            }
        }
        compiled.row_count = compiled.names.lookup(ROW_COUNT);
        compiled.check_weights(source)?;
        compiled.note_needed();
        Ok(compiled)
    }

    fn check_weights(&self, source: &Source) -> Result<(), BadParameter> {
        let total = self.types.iter().try_fold(0u64, |sum, one| sum.checked_add(one.weight));
        let why = match total {
            Some(1..=0x7fff_ffff) => return Ok(()),
            Some(0) if self.types.is_empty() => "there is no section transaction",
            Some(0) => "no transaction type has a weight above 0",
            _ => "the weights are too large",
        };
        // A composed script has the files of its types.
        let places = self.types.iter().filter_map(|one| one.commands.first());
        let files = places.filter_map(|known| known.place.rsplit_once(':'));
        let files: BTreeSet<&str> = files.map(|(file, _)| file).collect();
        let files = match files.is_empty() {
            true => source.name.clone(),
            false => files.into_iter().collect::<Vec<_>>().join(", "),
        };
        Err(BadParameter::new(format!("{files}: {why}")))
    }

    /// Refuses scripts that leave a transaction open at each execution.
    ///
    /// # Errors
    ///
    /// The place of the last command of the first such script.
    pub(super) fn check_ends(&self) -> Result<(), BadParameter> {
        let once = self.builds.iter().filter(|build| build.times.is_none()).map(|build| &build.of);
        let all = self.types.iter().chain(once).chain(&self.drops).chain(&self.starts);
        for one in all {
            if let Some(place) = stays_open(one) {
                return Err(BadParameter::new(format!("{place}: {ENDS_OPEN}")));
            }
        }
        Ok(())
    }

    /// Refuses statements with more variables than can be prepared, among those that are:
    /// repeated ones that build, and transactions if `is_prepared` says so.
    ///
    /// # Errors
    ///
    /// The place of the first such statement.
    pub(super) fn check_marks(&self, is_prepared: bool) -> Result<(), BadParameter> {
        let repeated = self.builds.iter().filter(|build| build.times.is_some());
        let prepared = self.types.iter().filter(|_| is_prepared);
        for one in prepared.chain(repeated.map(|build| &build.of)) {
            let commands = one.script.commands.iter().zip(&one.commands);
            let has_too_many =
                |what: &What| matches!(what, What::Sql(sql) if sql.n_marks() > MARKS_MAX);
            let mut too_many = commands.filter(|(command, _)| has_too_many(&command.what));
            if let Some((_, known)) = too_many.next() {
                return Err(BadParameter::new(format!(
                    "{}: a prepared statement has at most {MARKS_MAX} variables",
                    known.place
                )));
            }
        }
        Ok(())
    }

    fn note_needed(&mut self) {
        for one in self.starts.iter().chain(&self.types) {
            for (command, known) in one.script.commands.iter().zip(&one.commands) {
                let read = match &command.what {
                    What::Sql(sql) => words::needed(sql),
                    What::Set { expression, .. } => expression.variables(),
                    What::JumpUnless { condition, .. } => condition.variables(),
                    What::Sleep { n: Operand::Variable { id, .. }, .. } => vec![*id],
                    _ => Vec::new(),
                };
                for id in read {
                    if self.needed.iter().all(|(other, _)| *other != id) {
                        self.needed.push((id, known.place.to_owned()));
                    }
                }
            }
        }
    }

    /// Returns the names of the variables that commands of the script set, except by `\gset` and
    /// `\aset`, whose columns are known only when they are executed.
    fn set(&self) -> BTreeSet<VariableId> {
        self.all_commands()
            .filter_map(|command| match &command.what {
                What::Set { variable, .. } | What::SetShell { variable, .. } => Some(*variable),
                What::SetRandom(set) => Some(set.variable),
                _ => None,
            })
            .collect()
    }

    /// Returns the commands of all sections but checks.
    fn all_commands(&self) -> impl Iterator<Item = &Command> {
        let builds = self.builds.iter().map(|build| &build.of);
        let all = self.types.iter().chain(builds).chain(&self.drops).chain(&self.starts);
        all.flat_map(|one| &one.script.commands)
    }

    /// Whether the data depend on a variable.
    pub(super) fn shapes_data(&self, id: VariableId) -> bool {
        self.built_with.contains(&id)
    }

    /// Returns the names of the variables on which the data depend, and which a user may give.
    pub(super) fn shaping_names(&self) -> Vec<String> {
        let declared = self.declared.iter().map(|(id, ..)| self.names.name_of(*id).to_owned());
        let all = declared.chain(self.variables());
        let is_shaping =
            |name: &String| self.names.lookup(name).is_some_and(|id| self.shapes_data(id));
        all.filter(is_shaping).collect()
    }

    /// Returns the names of the tables that the sections `build` create, where they are written
    /// without quotes and variables.
    pub(super) fn created_tables(&self) -> Vec<String> {
        let commands = self.builds.iter().flat_map(|build| &build.of.script.commands);
        let sqls = commands.filter_map(|command| match &command.what {
            What::Sql(sql) => Some(words::created_tables(sql)),
            _ => None,
        });
        sqls.flatten().collect()
    }

    /// Returns the place of the first command that starts a program; `None` if there is none.
    pub(super) fn starts_programs(&self) -> Option<&'static str> {
        let builds = self.builds.iter().map(|build| &build.of);
        let all = self.types.iter().chain(builds).chain(&self.drops).chain(&self.starts);
        let mut commands = all.flat_map(|one| one.script.commands.iter().zip(&one.commands));
        let is_shell = |what: &What| matches!(what, What::Shell { .. } | What::SetShell { .. });
        commands.find(|(command, _)| is_shell(&command.what)).map(|(_, known)| known.place)
    }

    fn stores_columns(&self) -> bool {
        let all = self.types.iter().chain(&self.starts);
        all.flat_map(|one| &one.script.commands)
            .any(|command| matches!(&command.what, What::Sql(sql) if sql.store != Store::Nothing))
    }

    /// Returns the names of the variables that a user may give and the file does not declare: those
    /// that are read before the script sets them.
    pub(super) fn variables(&self) -> Vec<String> {
        let read = self.read_before_set();
        let is_new = |id: &VariableId| self.declared.iter().all(|(other, ..)| other != id);
        let named = read.into_iter().filter(is_new).map(|id| self.names.name_of(id));
        let is_asked = |name: &&str| {
            pgbench::is_valid_name(name)
                && !["client_id", CLIENTS, "random_seed", ROW, ROW_COUNT].contains(name)
        };
        named.filter(is_asked).map(str::to_owned).collect()
    }

    /// Returns the variables that the script reads before it sets them, in the order of its text:
    /// those for which a value that the user gives makes a difference.
    fn read_before_set(&self) -> BTreeSet<VariableId> {
        let mut flow = Flow::new(&self.names);
        self.starts.iter().for_each(|one| flow.follow(&one.script));
        let at_start = flow.clone_set();
        for one in &self.types {
            // Another type, which may set them too, need not come first.
            flow.begin_with(&at_start);
            flow.follow(&one.script);
        }
        flow.begin_with(&BTreeSet::new());
        for build in &self.builds {
            let times = build.times.iter().flat_map(|times| times.variables());
            times.for_each(|id| flow.read(id));
            flow.follow(&build.of.script);
        }
        self.drops.iter().for_each(|one| flow.follow(&one.script));
        flow.begin_with(&BTreeSet::new());
        self.checks.iter().for_each(|check| flow.sql(&check.sql));
        flow.read_first()
    }

    /// Refuses a variable that has no value where a statement needs one. `is_given` says whether a
    /// user gave the variable.
    ///
    /// # Errors
    ///
    /// The place of the first such variable, and the remedy.
    pub(super) fn check_values(&self, is_given: &dyn Fn(&str) -> bool) -> Result<(), BadParameter> {
        let set = self.set();
        // Columns of a result may set any variable.
        if self.stores_columns() {
            return Ok(());
        }
        let missing = self.needed.iter().find(|(id, _)| {
            let name = self.names.name_of(*id);
            let is_declared = self.declared.iter().any(|(other, ..)| other == id);
            let is_set = set.contains(id) || is_declared || PREDEFINED.contains(&name);
            !is_set && !is_given(name)
        });
        let Some((id, place)) = missing else { return Ok(()) };
        let name = self.names.name_of(*id);
        let known = set.iter().map(|id| self.names.name_of(*id));
        let near = model::did_you_mean(name, known);
        Err(BadParameter::new(format!(
            "{place}: the variable :{name} has no value{near}: set it with \\set {name} ..., or \
             give -D {name}=VALUE"
        )))
    }
}

/// Reads error numbers and SQLSTATEs, such as `1062,23505`.
///
/// # Errors
///
/// A word that is neither.
pub(super) fn error_codes(text: &str) -> Result<Vec<RetryOn>, String> {
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    let code = |word: &str| {
        let why = || format!("'{word}' is no error number or SQLSTATE: write 1062,23505");
        RetryOn::by_code(word).ok_or_else(why)
    };
    words.map(code).collect()
}

/// Returns the last place of a script without conditions that leaves a transaction open; `None` if
/// it leaves none, or that depends on conditions.
fn stays_open(of: &Type) -> Option<&'static str> {
    let is_straight = |command: &Command| !matches!(command.what, What::JumpUnless { .. });
    let controls = of.commands.iter().filter_map(|known| known.told.as_ref());
    let last = controls.flat_map(|told| &told.controls).rfind(|one| **one != Control::None);
    let is_open = last == Some(&Control::Begin) && of.script.commands.iter().all(is_straight);
    of.commands.last().filter(|_| is_open).map(|known| known.place)
}

/// Returns the names of the variables in a section that builds and was read before.
fn mentioned(text: &str, times: Option<&str>) -> Vec<String> {
    let mut names = Names::new();
    // Errors were told when the section was read.
    let _ = pgbench::parse(text, &mut names);
    let _ = times.map(|times| Expression::parse(times, &mut names));
    let all = (0..names.len()).map(|number| VariableId(number as u16));
    all.map(|id| names.name_of(id).to_owned()).collect()
}

/// Returns the only SQL command of a script; `None` if there is none, or more than one.
fn only_query(script: Script) -> Option<Sql> {
    let mut sqls = script.commands.into_iter().filter_map(|command| match command.what {
        What::Sql(sql) => Some(sql),
        _ => None,
    });
    let first = sqls.next();
    first.filter(|_| sqls.next().is_none())
}

fn known(place: &str, what: &What) -> Known {
    let (told, variables) = match what {
        What::Sql(sql) => (Some(words::told(sql)), sql.with_marks(&mut |_| String::new()).1),
        _ => (None, Vec::new()),
    };
    Known { place: interned(place), told, variables }
}
