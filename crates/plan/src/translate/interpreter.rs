//! Execution of a script as far as a translation needs it: variables, loops, conditions and
//! procedures.
//!
//! Commands go to [`Commands`]. What depends on the outside has unknown values. Not here: what a
//! command means, and the texts of scripts.

use std::collections::{BTreeMap, BTreeSet};

use super::steps::{Expr, Fault, Line, Step, UNSET, Value};

/// Largest number of steps that are executed, so that each translation ends.
const STEPS_MOST: usize = 100_000;
/// Deepest nesting of calls.
const CALLS_MOST: usize = 50;
/// Largest number of items of a list.
const ITEMS_MOST: usize = 10_000;

/// What a script can learn about the machine on which it is translated.
pub struct Environment<'a> {
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Number of CPUs, which scripts take as the number of users.
    pub cpus: usize,
}

/// Receiver of the commands of a script.
pub(super) trait Commands {
    /// Executes a command, and returns its value.
    fn call(&mut self, line: usize, name: &str, args: &[Value]) -> Value;
    /// Takes note of something in the script that is not executed, with the reason.
    fn left_out(&mut self, line: usize, what: &str, reason: &str);
    /// Takes note of a value from outside of the script.
    fn learned(&mut self, line: usize, what: &str, value: &str);
}

/// How a step ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
    Exit,
}

/// Variables of a procedure.
#[derive(Default)]
struct Frame {
    variables: BTreeMap<String, Value>,
    globals: BTreeSet<String>,
}

/// Executes scripts, and passes their commands on.
pub(super) struct Interpreter<'a, C> {
    pub(super) commands: C,
    environment: &'a Environment<'a>,
    frames: Vec<Frame>,
    procedures: BTreeMap<String, (Vec<String>, Vec<Line>)>,
    line: usize,
    /// Line from which the lines of the steps are counted.
    first_line: usize,
    n_steps: usize,
    /// Number of conditions that were not known.
    n_unknown: usize,
    has_ended: bool,
    fault: Option<Fault>,
}

impl<'a, C: Commands> Interpreter<'a, C> {
    pub(super) fn new(commands: C, environment: &'a Environment<'a>) -> Interpreter<'a, C> {
        let mut outer = Frame::default();
        outer.variables.insert("__name__".to_owned(), Value::Text("__main__".to_owned()));
        Interpreter {
            commands,
            environment,
            frames: vec![outer],
            procedures: BTreeMap::new(),
            line: 0,
            first_line: 0,
            n_steps: 0,
            n_unknown: 0,
            has_ended: false,
            fault: None,
        }
    }

    /// Executes a whole script.
    ///
    /// # Errors
    ///
    /// A script that does not end, or that the language does not allow.
    pub(super) fn run(&mut self, lines: &[Line]) -> Result<(), Fault> {
        self.execute(lines);
        if self.n_steps >= STEPS_MOST {
            self.is_endless(self.line, 0);
        }
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Takes note of what does not end, of which the innermost is named.
    fn is_endless(&mut self, line: usize, steps_before: usize) {
        // A loop with an end within one without has only a part of the steps.
        if self.fault.is_none() && self.n_steps - steps_before > STEPS_MOST / 2 {
            let why = format!("it does not end within {STEPS_MOST} steps");
            self.fault = Some(Fault { line, why });
        }
    }

    fn execute(&mut self, lines: &[Line]) -> Flow {
        for line in lines {
            self.n_steps += 1;
            if self.n_steps >= STEPS_MOST {
                return Flow::Exit;
            }
            if line.number > 0 {
                self.line = self.first_line + line.number;
            }
            match self.step(&line.step) {
                Flow::Next if self.has_ended => return Flow::Exit,
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn step(&mut self, step: &Step) -> Flow {
        match step {
            Step::Do(expr) => drop(self.value(expr)),
            Step::Set(name, expr) => {
                let value = self.value(expr);
                self.set(name, value);
            }
            Step::ForEach(names, list, body) => return self.for_each(names, list, body),
            Step::While(condition, body) => return self.while_true(condition, body),
            Step::If(branches) => return self.branch(branches),
            Step::Block(body) => return self.execute(body),
            Step::Define(name, parameters, body) => {
                self.procedures.insert(name.clone(), (parameters.clone(), body.clone()));
            }
            Step::Global(names) => {
                let frame = self.frames.last_mut().expect("there is always a frame");
                frame.globals.extend(names.iter().cloned());
            }
            Step::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value));
                return Flow::Return(value.unwrap_or(Value::Text(String::new())));
            }
            Step::Break => return Flow::Break,
            Step::Continue => return Flow::Continue,
            Step::Unknown(text) => {
                self.commands.left_out(self.line, text, "dbdyno does not understand this");
            }
            Step::Fault(why) => {
                self.fault = Some(Fault { line: self.line, why: why.clone() });
                return Flow::Exit;
            }
        }
        Flow::Next
    }

    fn for_each(&mut self, names: &[String], list: &Expr, body: &[Line]) -> Flow {
        let line = self.line;
        let items = match self.value(list) {
            Value::Unknown(why) => {
                let why = format!("the values are not known: {why}; the loop is read once");
                self.commands.left_out(line, &format!("a loop over {}", names.join(", ")), &why);
                vec![Value::Unknown(names.join(", "))]
            }
            known => known.items().unwrap_or_default(),
        };
        for group in items.chunks(names.len().max(1)) {
            for (index, name) in names.iter().enumerate() {
                // In a loop over pairs, an item is a list itself.
                let inner = match group {
                    [Value::List(inner)] if names.len() > 1 => inner.get(index),
                    group => group.get(index),
                };
                self.set(name, inner.cloned().unwrap_or(Value::Text(String::new())));
            }
            match self.execute(body) {
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn while_true(&mut self, condition: &Expr, body: &[Line]) -> Flow {
        let line = self.line;
        let (steps_before, unknown_before) = (self.n_steps, self.n_unknown);
        loop {
            self.n_steps += 1;
            match self.value(condition).truth() {
                Some(true) if self.n_steps < STEPS_MOST => {}
                Some(true) => {
                    self.is_endless(line, steps_before);
                    return Flow::Exit;
                }
                Some(false) => return Flow::Next,
                None => {
                    let why = "its condition is not known: the loop is left out";
                    self.commands.left_out(line, "while", why);
                    return Flow::Next;
                }
            }
            match self.execute(body) {
                Flow::Break => return Flow::Next,
                Flow::Next | Flow::Continue => {}
                flow => {
                    if self.n_steps >= STEPS_MOST {
                        self.is_endless(line, steps_before);
                    }
                    return flow;
                }
            }
            if matches!(condition, Expr::Value(_)) && self.n_unknown > unknown_before {
                let why = "a condition in it is not known: the loop is read once";
                self.commands.left_out(line, "while", why);
                return Flow::Next;
            }
        }
    }

    fn branch(&mut self, branches: &[(Expr, Vec<Line>)]) -> Flow {
        let line = self.line;
        for (condition, body) in branches {
            let value = self.value(condition);
            match (value.truth(), value) {
                (Some(true), _) => return self.execute(body),
                (None, Value::Unknown(why)) => {
                    self.n_unknown += 1;
                    let why = format!("the condition is not known ({why}) and taken as false");
                    self.commands.left_out(line, "if", &why);
                }
                _ => {}
            }
        }
        Flow::Next
    }

    fn set(&mut self, name: &str, value: Value) {
        let last = self.frames.len() - 1;
        let frame = if self.frames[last].globals.contains(name) { 0 } else { last };
        self.frames[frame].variables.insert(name.to_owned(), value);
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let inner = self.frames.last().and_then(|frame| frame.variables.get(name));
        inner.or_else(|| self.frames[0].variables.get(name))
    }

    fn value(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Value(value) => value.clone(),
            Expr::Variable(name) => {
                let unset = || Value::Unknown(format!("{name} is not set"));
                self.get(name).cloned().unwrap_or_else(unset)
            }
            Expr::Environment(name, default) => self.environment_value(name, default.as_deref()),
            Expr::IsInEnvironment(name) => {
                let name = self.value(name).text().unwrap_or_default();
                Value::of_truth((self.environment.variable)(&name).is_some())
            }
            Expr::IsSet(name) => Value::of_truth(self.get(name).is_some()),
            Expr::Joined(parts) => {
                let parts: Vec<Value> = parts.iter().map(|part| self.value(part)).collect();
                joined(&parts)
            }
            Expr::List(items) => Value::List(items.iter().map(|item| self.value(item)).collect()),
            Expr::Item(list, index) => {
                let (list, index) = (self.value(list), self.value(index));
                item(&list, &index)
            }
            Expr::Call(name, args) => {
                let args: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
                self.call(name, &args)
            }
            Expr::Succeeded(steps) => self.succeeded(steps),
            Expr::Binary(operator, left, right) => self.binary(operator, left, right),
            Expr::Not(inner) => {
                let value = self.value(inner);
                value.truth().map_or(value, |is_true| Value::of_truth(!is_true))
            }
            Expr::Negative(inner) => {
                let value = self.value(inner);
                value.number().map_or(value, |number| Value::of(-number))
            }
            Expr::Choice(condition, yes, no) => match self.value(condition) {
                Value::Unknown(why) => Value::Unknown(why),
                known if known.truth() == Some(true) => self.value(yes),
                _ => self.value(no),
            },
        }
    }

    /// Executes steps within an expression, and returns that they did not fail.
    fn succeeded(&mut self, steps: &[Line]) -> Value {
        let (line, before) = (self.line, self.first_line);
        self.first_line = line.saturating_sub(1);
        if let Flow::Exit = self.execute(steps) {
            self.has_ended = true;
        }
        (self.line, self.first_line) = (line, before);
        Value::of_truth(false)
    }

    fn environment_value(&mut self, name: &Expr, default: Option<&Expr>) -> Value {
        let name = self.value(name).text().unwrap_or_default();
        if let Some(value) = (self.environment.variable)(&name) {
            let what = format!("environment variable {name}");
            // Its value may be a password.
            self.commands.learned(self.line, &what, "its value here");
            return Value::Text(value);
        }
        match default {
            Some(default) => self.value(default),
            None => Value::Unknown(format!("{UNSET} {name} is not set")),
        }
    }

    fn binary(&mut self, operator: &str, left: &Expr, right: &Expr) -> Value {
        let left = self.value(left);
        if let ("in" | "ni", Expr::Variable(name)) = (operator, right)
            && name.ends_with("environ")
        {
            let name = left.text().unwrap_or_default();
            let is_set = (self.environment.variable)(&name).is_some();
            return Value::of_truth(is_set == (operator == "in"));
        }
        // The right side does not count if the left one decides.
        match (operator, left.truth()) {
            ("or", Some(true)) | ("and", Some(false)) => return left,
            ("or", Some(false)) | ("and", Some(true)) => return self.value(right),
            _ => {}
        }
        let right = self.value(right);
        match (operator, &left, right.truth()) {
            ("or", Value::Unknown(_), Some(true)) | ("and", Value::Unknown(_), Some(false)) => {
                right
            }
            _ => operated(operator, &left, &right),
        }
    }

    fn call(&mut self, name: &str, args: &[Value]) -> Value {
        if let Some((parameters, body)) = self.procedures.get(name).cloned() {
            return self.call_procedure(&parameters, &body, args);
        }
        let text = |nth: usize| args.get(nth).and_then(Value::text).unwrap_or_default();
        match name {
            "numberOfCPUs" | "os.cpu_count" | "cpu_count" | "multiprocessing.cpu_count" => {
                let cpus = self.environment.cpus;
                self.commands.learned(self.line, "CPUs of this machine", &cpus.to_string());
                return Value::Text(cpus.to_string());
            }
            // HammerDB's Tcl, called from Python: the command with its words.
            "tclpy.eval" => {
                let words: Vec<Value> = Value::Text(text(0)).items().unwrap_or_default();
                let Some((name, rest)) = words.split_first() else { return text_of("") };
                return self.call(&name.text().unwrap_or_default(), rest);
            }
            "exit" | "sys.exit" | "quit" | "os._exit" => {
                // A script ends with another code if something is wrong.
                self.has_ended |= matches!(text(0).as_str(), "" | "0");
                return text_of("");
            }
            "vwait" => {
                self.has_ended = true;
                return text_of("");
            }
            _ => {}
        }
        builtin(name, args).unwrap_or_else(|| self.commands.call(self.line, name, args))
    }

    fn call_procedure(&mut self, parameters: &[String], body: &[Line], args: &[Value]) -> Value {
        if self.frames.len() > CALLS_MOST {
            return Value::Unknown("procedures call each other without end".to_owned());
        }
        let mut frame = Frame::default();
        for (nth, name) in parameters.iter().enumerate() {
            let value = args.get(nth).cloned();
            let value = value.unwrap_or_else(|| Value::Unknown(format!("{name} has no value")));
            frame.variables.insert(name.clone(), value);
        }
        let (line, first_line) = (self.line, std::mem::take(&mut self.first_line));
        self.frames.push(frame);
        let flow = self.execute(body);
        self.frames.pop();
        (self.line, self.first_line) = (line, first_line);
        match flow {
            Flow::Return(value) => value,
            Flow::Exit => {
                self.has_ended = true;
                text_of("")
            }
            _ => text_of(""),
        }
    }
}

fn text_of(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn joined(parts: &[Value]) -> Value {
    let unknown = parts.iter().find(|part| matches!(part, Value::Unknown(_)));
    match unknown {
        Some(unknown) => unknown.clone(),
        None => Value::Text(parts.iter().filter_map(Value::text).collect()),
    }
}

fn item(list: &Value, index: &Value) -> Value {
    let unknown = || Value::Unknown("an item of a list".to_owned());
    let (Some(items), Some(key)) = (list.items(), index.text()) else { return unknown() };
    // A dictionary is a list of pairs.
    let pair = items.iter().find_map(|item| match item {
        Value::List(pair) if pair.len() == 2 && pair[0].text().as_ref() == Some(&key) => {
            Some(pair[1].clone())
        }
        _ => None,
    });
    let at = key.parse::<i64>().ok();
    let at = at.map(|at| if at < 0 { items.len() as i64 + at } else { at });
    let nth = at.and_then(|at| items.get(usize::try_from(at).ok()?).cloned());
    pair.or(nth).unwrap_or_else(unknown)
}

/// Computes a function of the languages; `None` if the name is not one.
fn builtin(name: &str, args: &[Value]) -> Option<Value> {
    let first = || args.first().cloned().unwrap_or(Value::Text(String::new()));
    let numbers = || args.iter().map(Value::number).collect::<Option<Vec<f64>>>();
    Some(match name {
        "int" | "float" | "round" | "entier" => match first().number() {
            Some(number) if name == "float" => Value::of(number),
            Some(number) if name == "round" => Value::of(number.round()),
            Some(number) => Value::of(number.trunc()),
            None => first(),
        },
        "str" | "bool" | "double" | "string trim" | ".strip" | ".trim" => match first() {
            Value::Text(text) => Value::Text(text.trim().to_owned()),
            other => other,
        },
        "string tolower" | ".lower" | "string toupper" | ".upper" => match first() {
            Value::Text(text) if name.ends_with("lower") => Value::Text(text.to_lowercase()),
            Value::Text(text) => Value::Text(text.to_uppercase()),
            other => other,
        },
        "list" | "tuple" | "set" | "sorted" | "split" | ".split" => {
            first().items().map_or_else(first, Value::List)
        }
        "concat" => {
            let all: Option<Vec<Vec<Value>>> = args.iter().map(Value::items).collect();
            let unknown = || Value::Unknown("a list of unknown values".to_owned());
            all.map_or_else(unknown, |all| Value::List(all.concat()))
        }
        "len" | "llength" => {
            first().items().map_or_else(first, |items| Value::of(items.len() as f64))
        }
        "lindex" => item(args.first()?, args.get(1)?),
        "range" => ranged(&numbers()?),
        "min" | "max" => {
            let numbers = numbers()?.into_iter();
            let found =
                if name == "min" { numbers.reduce(f64::min) } else { numbers.reduce(f64::max) };
            Value::of(found?)
        }
        "abs" => Value::of(first().number()?.abs()),
        _ => return None,
    })
}

/// Returns the numbers of Python's `range`.
fn ranged(bounds: &[f64]) -> Value {
    let (start, end, step) = match bounds {
        [end] => (0.0, *end, 1.0),
        [start, end] => (*start, *end, 1.0),
        [start, end, step, ..] => (*start, *end, *step),
        [] => (0.0, 0.0, 1.0),
    };
    let mut items = Vec::new();
    let mut next = start;
    while step != 0.0 && items.len() < ITEMS_MOST && ((next < end) == (step > 0.0)) && next != end {
        items.push(Value::of(next));
        next += step;
    }
    Value::List(items)
}

fn operated(operator: &str, left: &Value, right: &Value) -> Value {
    if let (Value::Unknown(_), _) | (_, Value::Unknown(_)) = (left, right) {
        return if let Value::Unknown(_) = left { left.clone() } else { right.clone() };
    }
    if let ("+", Value::List(one), Value::List(other)) = (operator, left, right) {
        return Value::List([one.as_slice(), other].concat());
    }
    let texts = || (left.text().unwrap_or_default(), right.text().unwrap_or_default());
    if let "in" | "ni" = operator {
        let items = right.items().unwrap_or_default();
        let is_in = items.iter().any(|item| item.text() == left.text());
        return Value::of_truth(is_in == (operator == "in"));
    }
    let (Some(one), Some(other)) = (left.number(), right.number()) else {
        let (one, other) = texts();
        return match operator {
            "==" => Value::of_truth(one == other),
            "!=" => Value::of_truth(one != other),
            "<" => Value::of_truth(one < other),
            ">" => Value::of_truth(one > other),
            "+" => Value::Text(one + &other),
            _ => Value::Unknown(format!("{one} {operator} {other}")),
        };
    };
    // Tcl divides integers to integers; numbers of users are integers in Python too.
    let are_integers = one.fract() == 0.0 && other.fract() == 0.0;
    match operator {
        "==" => Value::of_truth(one == other),
        "!=" => Value::of_truth(one != other),
        "<" => Value::of_truth(one < other),
        "<=" => Value::of_truth(one <= other),
        ">" => Value::of_truth(one > other),
        ">=" => Value::of_truth(one >= other),
        "+" => Value::of(one + other),
        "-" => Value::of(one - other),
        "*" => Value::of(one * other),
        "**" => Value::of(one.powf(other)),
        "/" | "//" | "%" if other == 0.0 => Value::Unknown("a division by zero".to_owned()),
        "/" if !are_integers => Value::of(one / other),
        "/" | "//" => Value::of((one / other).floor()),
        "%" => Value::of(one.rem_euclid(other)),
        _ => Value::Unknown(operator.to_owned()),
    }
}
