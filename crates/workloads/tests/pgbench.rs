//! Comparison with pgbench itself: thousands of generated expressions, with the same random seed,
//! have the same values.
//!
//! pgbench is that of the operating system, beside the server on which the test runs; from
//! PostgreSQL 15 on, it draws the same numbers. Not here: what cannot be compared since it ends
//! pgbench's client, such as divisions by zero.

use std::fmt::Write;
use std::process::Command;

use model::Secret;
use servers::for_tests::POSTGRES;
use workloads::script::pgbench::{Names, Prng, Value, VariableId, Variables, What, parse};

/// Number of expressions that are compared. As many more are generated that have no value, because
/// of their types or a range.
const EXPRESSIONS: usize = 6_000;
/// Number of operators and functions around each other.
const DEPTH: u32 = 4;
const SEED: u64 = 5432;

/// Text that is generated at random.
struct Generator {
    prng: Prng,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.prng.range_u64(0, n as u64 - 1) as usize
    }

    fn one_of(&mut self, texts: &[&'static str]) -> &'static str {
        let index = self.below(texts.len());
        texts[index]
    }

    fn leaf(&mut self) -> String {
        match self.below(8) {
            0 => self.prng.range_i64(-5, 100).to_string(),
            1 => (self.prng.next_u64() >> 1 >> self.below(63)).to_string(),
            2 => format!("{:.3}", self.prng.next_f64() * 100.0),
            3 => self.one_of(&["1e10", ".5", "2.", "1.5E-3", "0.0", "7e+2"]).to_owned(),
            4 => self.one_of(&["true", "FALSE", "null"]).to_owned(),
            5 => self.one_of(&["pi()", "-9223372036854775808", "9223372036854775807"]).to_owned(),
            _ => self.one_of(&[":i", ":d", ":b", ":n", ":x", ":scale", ":client_id"]).to_owned(),
        }
    }

    /// Writes an expression, often without the parentheses that would make precedence plain.
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.below(16) {
            0 => self.leaf(),
            1..=4 => {
                let operator = self
                    .one_of(&["+", "-", "*", "/", "%", "+", "-", "*", "&", "|", "#", "<<", ">>"]);
                format!("{} {operator} {}", self.expression(depth), self.expression(depth))
            }
            5 => {
                let operator = self.one_of(&["<", "<=", ">", ">=", "=", "<>", "!="]);
                format!("{} {operator} {}", self.expression(depth), self.expression(depth))
            }
            6 => {
                let operator = self.one_of(&["and", "OR"]);
                format!("{} {operator} {}", self.expression(depth), self.expression(depth))
            }
            7 => {
                let sign = self.one_of(&["-", "+", "~", "not "]);
                format!("{sign} {}", self.expression(depth))
            }
            8 => {
                let test =
                    self.one_of(&["is null", "is not true", "IS FALSE", "isnull", "notnull"]);
                format!("{} {test}", self.expression(depth))
            }
            9..=10 => format!("({})", self.expression(depth)),
            11 => self.case(depth),
            12 => self.draw(depth),
            _ => self.function(depth),
        }
    }

    fn case(&mut self, depth: u32) -> String {
        let mut text = "case".to_owned();
        for _ in 0..=self.below(2) {
            let (condition, value) = (self.expression(depth), self.expression(depth));
            write!(text, " when {condition} then {value}").expect("strings take all");
        }
        if self.below(2) == 0 {
            write!(text, " else {}", self.expression(depth)).expect("strings take all");
        }
        text + " end"
    }

    fn draw(&mut self, depth: u32) -> String {
        let low = self.prng.range_i64(-1_000, 1_000);
        let high = low + (self.prng.next_u64() >> 2 >> self.below(60)) as i64;
        match self.below(5) {
            0 => format!("random({low}, {high})"),
            1 => format!("random_gaussian({low}, {high}, {})", 2.0 + self.prng.next_f64() * 5.0),
            2 => format!("random_exponential({low}, {high}, {})", 0.1 + self.prng.next_f64() * 9.0),
            3 => format!("random_zipfian({low}, {high}, {})", 1.1 + self.prng.next_f64() * 3.0),
            _ => format!("random({low}, {low} + {})", self.expression(depth)),
        }
    }

    fn function(&mut self, depth: u32) -> String {
        let names = [
            "int",
            "double",
            "sqrt",
            "ln",
            "Exp",
            "abs",
            "mod",
            "pow",
            "power",
            "hash",
            "hash_fnv1a",
            "hash_murmur2",
            "permute",
            "least",
            "greatest",
            "debug",
        ];
        let name = self.one_of(&names);
        let n = match name {
            "mod" | "pow" | "power" => 2,
            "hash" | "hash_fnv1a" | "hash_murmur2" | "least" | "greatest" => 1 + self.below(2),
            "permute" => 2 + self.below(2),
            _ => 1,
        };
        let arguments: Vec<String> = (0..n).map(|_| self.expression(depth)).collect();
        format!("{name}({})", arguments.join(", "))
    }
}

/// Executes a script of `\set`s as pgbench's first client does. Returns the lines of `debug(x)`.
struct Ours {
    names: Names,
    variables: Variables,
    prng: Prng,
}

impl Ours {
    fn new() -> Ours {
        let mut base = Prng::new(SEED);
        let mut names = Names::new();
        let known = ["scale", "client_id", "default_seed", "i", "d", "b", "n", "x", "y"];
        let ids: Vec<VariableId> =
            known.iter().map(|name| names.add(name).expect("there are few names")).collect();
        let mut variables = Variables::new(names.len());
        let prng = Prng::new(base.next_u64());
        variables.set_value(ids[0], Value::Int(1));
        variables.set_value(ids[1], Value::Int(0));
        variables.set_value(ids[2], Value::Int(base.next_u64() as i64));
        Ours { names, variables, prng }
    }

    /// Executes one command. Nothing is changed if it fails.
    fn execute(&mut self, line: &str) -> Result<Vec<String>, String> {
        let script = parse(line, &mut self.names).map_err(|error| error.message)?;
        let [command] = script.commands.as_slice() else {
            panic!("one command was written: {line}");
        };
        let What::Set { variable, expression } = &command.what else {
            panic!("\\set was written: {line}");
        };
        let mut prng = self.prng;
        let mut lines = Vec::new();
        let mut debug = |line: &str| lines.push(line.to_owned());
        let value = expression.evaluate(&self.variables, &mut prng, &mut debug);
        let value = value.map_err(|error| error.message)?;
        self.variables.set_value(*variable, value);
        self.prng = prng;
        Ok(lines)
    }
}

#[test]
fn expressions_have_the_values_that_pgbench_gives_them() {
    let mut generator = Generator { prng: Prng::new(7) };
    let mut ours = Ours::new();
    let mut script = String::new();
    let mut expected = Vec::new();
    let mut n_written = 0;
    for given in ["i -3", "d 2.5", "b true", "n null", "x 0", "y 0"] {
        let line = format!("\\set {given}\n");
        ours.execute(&line).expect("constants have values");
        script += &line;
    }
    while n_written < EXPRESSIONS {
        let expression = generator.expression(DEPTH);
        let line = format!("\\set {} debug({expression})\n", generator.one_of(&["x", "y"]));
        // The absolute value of a boolean is undefined in pgbench, but an error here.
        if let Ok(lines) = ours.execute(&line) {
            expected.extend(lines.iter().map(|text| (text.clone(), line.clone())));
            script += &line;
            n_written += 1;
        }
    }
    let found = lines_of_pgbench(&script);
    for (index, (line, (wanted, command))) in found.iter().zip(&expected).enumerate() {
        assert_eq!(line, wanted, "line {index}, of {command}");
    }
    assert_eq!(found.len(), expected.len());
}

/// Executes a script by pgbench. Returns what `debug(x)` wrote.
fn lines_of_pgbench(script: &str) -> Vec<String> {
    let server = POSTGRES.shared();
    let target = server.target();
    let file = server.put_file("expressions.sql", script.as_bytes()).expect("there is space");
    let mut command = Command::new("pgbench");
    let password = target.password.as_ref().map_or("", Secret::reveal);
    command.env("PGPASSWORD", password);
    command.args(["--no-vacuum", "--transactions=1", "--username"]);
    command.arg(target.user.as_deref().expect("the server has a user"));
    command.args(["--host", "127.0.0.1", "--port", &server.port().to_string()]);
    command.args([&format!("--random-seed={SEED}"), "--file"]).arg(file).arg(&target.path);
    let output = command.output().expect("pgbench comes with the server of the operating system");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let lines = text.lines().filter(|line| line.starts_with("debug("));
    lines.map(|line| line.split_once(": ").expect("it has a value").1.to_owned()).collect()
}
