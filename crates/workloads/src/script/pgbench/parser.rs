//! How expressions are parsed: by the precedence of operators.

use model::did_you_mean;

use super::error::Error;
use super::expression::{Expression, Node};
use super::functions::{self, Function};
use super::tokens::{Token, tokens};
use super::value::Value;
use super::variables::Names;

/// Limit of nesting, so that neither parsing nor evaluating can exhaust the stack of a thread.
const DEPTH_MAX: usize = 200;

/// Precedence of operators. Those of a level are left-associative, except comparisons, which
/// cannot be chained.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Is,
    Comparison,
    Bits,
    Sum,
    Product,
    Sign,
}

impl Level {
    /// The level of the right side of an operator.
    fn above(self) -> Level {
        match self {
            Level::Or => Level::And,
            Level::And => Level::Not,
            Level::Not => Level::Is,
            Level::Is => Level::Comparison,
            Level::Comparison => Level::Bits,
            Level::Bits => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product | Level::Sign => Level::Sign,
        }
    }
}

/// Operator between two operands.
#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Function(Function),
    /// The function of the right side, which is evaluated first, and the left one.
    Swapped(Function),
}

impl Expression {
    /// Parses an expression. The names of its variables are added to those known.
    ///
    /// # Errors
    ///
    /// The first error in the text.
    pub fn parse(text: &str, names: &mut Names) -> Result<Expression, Error> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, names };
        if parser.tokens.is_empty() {
            return Err(Error::new("the expression is missing"));
        }
        let root = parser.level(Level::Or)?.node;
        match parser.tokens.get(parser.at) {
            None => Ok(Expression { root }),
            Some(token) => Err(unexpected(token)),
        }
    }
}

/// Part of an expression, with the number of nodes on its longest branch.
struct Branch {
    node: Node,
    depth: usize,
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// Number of parts that are being parsed around the next token.
    depth: usize,
    names: &'a mut Names,
}

fn unexpected(token: &Token) -> Error {
    Error::new(format!("unexpected '{}' in an expression", token.written()))
}

fn too_deep() -> Error {
    Error::new(format!("the expression is nested more than {DEPTH_MAX} times"))
}

fn leaf(node: Node) -> Branch {
    Branch { node, depth: 1 }
}

fn constant(value: Value) -> Branch {
    leaf(Node::Constant(value))
}

/// Joins branches into one.
fn join(
    branches: impl IntoIterator<Item = Branch>,
    make: impl FnOnce(Vec<Node>) -> Node,
) -> Result<Branch, Error> {
    let mut depth = 0;
    let mut nodes = Vec::new();
    for branch in branches {
        depth = depth.max(branch.depth);
        nodes.push(branch.node);
    }
    match depth < DEPTH_MAX {
        true => Ok(Branch { node: make(nodes), depth: depth + 1 }),
        false => Err(too_deep()),
    }
}

fn call<const N: usize>(function: Function, arguments: [Branch; N]) -> Result<Branch, Error> {
    join(arguments, |nodes| Node::Call { function, arguments: nodes.into() })
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Result<Token<'a>, Error> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(Error::new("the expression ends too early"));
        };
        self.at += 1;
        Ok(token.clone())
    }

    /// Takes the next token if it is this symbol.
    fn takes_symbol(&mut self, symbol: &'static str) -> bool {
        let is_it = self.tokens.get(self.at) == Some(&Token::Symbol(symbol));
        self.at += usize::from(is_it);
        is_it
    }

    /// Takes the next token if it is this keyword.
    fn takes_word(&mut self, keyword: &str) -> bool {
        let is_it = self.tokens.get(self.at).is_some_and(|token| token.is_word(keyword));
        self.at += usize::from(is_it);
        is_it
    }

    fn expect_symbol(&mut self, symbol: &'static str) -> Result<(), Error> {
        match self.takes_symbol(symbol) {
            true => Ok(()),
            false => Err(self.expected(symbol)),
        }
    }

    fn expect_word(&mut self, keyword: &str) -> Result<(), Error> {
        match self.takes_word(keyword) {
            true => Ok(()),
            false => Err(self.expected(&keyword.to_ascii_uppercase())),
        }
    }

    fn expected(&self, wanted: &str) -> Error {
        match self.tokens.get(self.at) {
            Some(token) => Error::new(format!(
                "'{wanted}' is expected instead of '{}' in an expression",
                token.written()
            )),
            None => Error::new(format!("'{wanted}' is missing at the end of an expression")),
        }
    }

    /// Parses operators of a level and those that bind tighter.
    fn level(&mut self, level: Level) -> Result<Branch, Error> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let mut left = self.prefix()?;
        let mut is_comparison = false;
        loop {
            if level <= Level::Is
                && let Some(test) = self.test()?
            {
                left = test.apply(left)?;
                is_comparison = false;
                continue;
            }
            let Some((of_operator, operator)) = self.peek_operator() else {
                break;
            };
            if of_operator < level {
                break;
            }
            if is_comparison && of_operator == Level::Comparison {
                return Err(Error::new("comparisons cannot be chained: add parentheses"));
            }
            self.at += 1;
            let right = self.level(of_operator.above())?;
            left = binary(operator, left, right)?;
            is_comparison = of_operator == Level::Comparison;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// Returns the operator that comes next between operands, and its precedence.
    fn peek_operator(&self) -> Option<(Level, Operator)> {
        use Operator::{Function as Of, Swapped};
        let token = self.tokens.get(self.at)?;
        if token.is_word("or") {
            return Some((Level::Or, Operator::Or));
        }
        if token.is_word("and") {
            return Some((Level::And, Operator::And));
        }
        let Token::Symbol(symbol) = token else {
            return None;
        };
        Some(match *symbol {
            "<" => (Level::Comparison, Of(Function::Less)),
            "<=" => (Level::Comparison, Of(Function::LessOrEqual)),
            ">" => (Level::Comparison, Swapped(Function::Less)),
            ">=" => (Level::Comparison, Swapped(Function::LessOrEqual)),
            "=" => (Level::Comparison, Of(Function::Equal)),
            "<>" | "!=" => (Level::Comparison, Of(Function::NotEqual)),
            "&" => (Level::Bits, Of(Function::BitAnd)),
            "|" => (Level::Bits, Of(Function::BitOr)),
            "#" => (Level::Bits, Of(Function::BitXor)),
            "<<" => (Level::Bits, Of(Function::ShiftLeft)),
            ">>" => (Level::Bits, Of(Function::ShiftRight)),
            "+" => (Level::Sum, Of(Function::Add)),
            "-" => (Level::Sum, Of(Function::Subtract)),
            "*" => (Level::Product, Of(Function::Multiply)),
            "/" => (Level::Product, Of(Function::Divide)),
            "%" => (Level::Product, Of(Function::Modulo)),
            _ => return None,
        })
    }

    /// Takes `IS [NOT] ...`, `ISNULL` or `NOTNULL`.
    fn test(&mut self) -> Result<Option<Test>, Error> {
        if self.takes_word("isnull") {
            return Ok(Some(Test { value: Value::Null, is_negated: false }));
        }
        if self.takes_word("notnull") {
            return Ok(Some(Test { value: Value::Null, is_negated: true }));
        }
        if !self.takes_word("is") {
            return Ok(None);
        }
        let is_negated = self.takes_word("not");
        let token = self.next()?;
        match literal(&token) {
            Some(value) => Ok(Some(Test { value, is_negated })),
            None => Err(unexpected(&token)),
        }
    }

    /// Parses an operand with the signs and `NOT`s before it.
    fn prefix(&mut self) -> Result<Branch, Error> {
        if self.takes_symbol("+") {
            return self.level(Level::Sign);
        }
        if self.takes_symbol("-") {
            if self.tokens.get(self.at) == Some(&Token::LeastInt) {
                self.at += 1;
                return Ok(constant(Value::Int(i64::MIN)));
            }
            let operand = self.level(Level::Sign)?;
            return call(Function::Subtract, [constant(Value::Int(0)), operand]);
        }
        if self.takes_symbol("~") {
            // Looser than signs: the operand of ~ 1 + 2 is the sum.
            let operand = self.level(Level::Bits.above())?;
            return call(Function::BitXor, [constant(Value::Int(-1)), operand]);
        }
        if self.takes_word("not") {
            let operand = self.level(Level::Not)?;
            return call(Function::Not, [operand]);
        }
        self.operand()
    }

    fn operand(&mut self) -> Result<Branch, Error> {
        let token = self.next()?;
        if let Some(value) = literal(&token) {
            return Ok(constant(value));
        }
        match token {
            Token::Int(value) => Ok(constant(Value::Int(value))),
            Token::Double(value) => Ok(constant(Value::Double(value))),
            Token::LeastInt => Err(Error::new(format!("{} is out of range", token.written()))),
            Token::Variable(name) => self.variable(name),
            Token::Symbol("(") => {
                let inner = self.level(Level::Or)?;
                self.expect_symbol(")")?;
                Ok(inner)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("case") => self.case(),
            Token::Word(word) if !is_keyword(word) => self.function(word),
            token => Err(unexpected(&token)),
        }
    }

    fn variable(&mut self, name: &str) -> Result<Branch, Error> {
        Ok(leaf(Node::Variable { id: self.names.add(name)?, name: name.into() }))
    }

    /// Parses what follows `CASE`.
    fn case(&mut self) -> Result<Branch, Error> {
        let mut branches = Vec::new();
        self.expect_word("when")?;
        loop {
            branches.push(self.level(Level::Or)?);
            self.expect_word("then")?;
            branches.push(self.level(Level::Or)?);
            if !self.takes_word("when") {
                break;
            }
        }
        let otherwise = match self.takes_word("else") {
            true => self.level(Level::Or)?,
            false => constant(Value::Null),
        };
        self.expect_word("end")?;
        branches.push(otherwise);
        join(branches, |mut nodes| {
            let otherwise = Box::new(nodes.pop().expect("it was pushed last"));
            let mut arms = Vec::new();
            let mut nodes = nodes.into_iter();
            while let (Some(condition), Some(value)) = (nodes.next(), nodes.next()) {
                arms.push((condition, value));
            }
            Node::Case { arms: arms.into(), otherwise }
        })
    }

    /// Parses the arguments of a function.
    fn function(&mut self, name: &str) -> Result<Branch, Error> {
        let is_named = |row: &&functions::Named| row.name.eq_ignore_ascii_case(name);
        let Some(row) = functions::ALL.iter().find(is_named) else {
            let hint = did_you_mean(name, functions::ALL.iter().map(|row| row.name));
            return Err(Error::new(format!("there is no function '{name}'{hint}")));
        };
        self.expect_symbol("(")?;
        let mut arguments = Vec::new();
        if !self.takes_symbol(")") {
            arguments.push(self.level(Level::Or)?);
            while self.takes_symbol(",") {
                arguments.push(self.level(Level::Or)?);
            }
            self.expect_symbol(")")?;
        }
        let n = arguments.len();
        if n < row.arguments_min || n > row.arguments_max {
            return Err(Error::new(wrong_number(row, n)));
        }
        if row.is_seeded && n == row.arguments_min {
            arguments.push(self.variable("default_seed")?);
        }
        join(arguments, |nodes| Node::Call { function: row.function, arguments: nodes.into() })
    }
}

fn wrong_number(row: &functions::Named, n: usize) -> String {
    let functions::Named { name, arguments_min: min, arguments_max: max, .. } = row;
    let wanted = match (min, max) {
        (1, 1) => "1 argument".to_owned(),
        _ if min == max => format!("{min} arguments"),
        _ => format!("{min} to {max} arguments"),
    };
    format!("{name} takes {wanted}, not {n}")
}

/// The value of a keyword that is one.
fn literal(token: &Token) -> Option<Value> {
    if token.is_word("null") {
        Some(Value::Null)
    } else if token.is_word("true") {
        Some(Value::Bool(true))
    } else if token.is_word("false") {
        Some(Value::Bool(false))
    } else {
        None
    }
}

/// Whether a word cannot be the name of a function.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] =
        &["and", "case", "else", "end", "is", "isnull", "not", "notnull", "or", "then", "when"];
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

fn binary(operator: Operator, left: Branch, right: Branch) -> Result<Branch, Error> {
    let sides = |nodes: Vec<Node>| Box::new(<[Node; 2]>::try_from(nodes).expect("two were joined"));
    match operator {
        Operator::Or => join([left, right], |nodes| Node::Or(sides(nodes))),
        Operator::And => join([left, right], |nodes| Node::And(sides(nodes))),
        Operator::Function(function) => call(function, [left, right]),
        Operator::Swapped(function) => call(function, [right, left]),
    }
}

/// Test of a value by `IS`.
struct Test {
    value: Value,
    is_negated: bool,
}

impl Test {
    fn apply(self, operand: Branch) -> Result<Branch, Error> {
        let test = call(Function::Is, [operand, constant(self.value)])?;
        if self.is_negated { call(Function::Not, [test]) } else { Ok(test) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::script::pgbench::{Prng, Variables};

    /// Variables of the tests, as text.
    const GIVEN: &[(&str, &str)] = &[
        ("foo", "-10.1"),
        ("bla", "false"),
        ("i", "+3"),
        ("n", "null"),
        ("t", "t"),
        ("f", "of"),
        ("d", "1.0"),
        ("default_seed", "5432"),
    ];

    /// Returns what `debug(...)` of an expression would write, or the error.
    fn value_of(text: &str, prng: &mut Prng) -> String {
        let mut names = Names::new();
        let expression = match Expression::parse(text, &mut names) {
            Ok(expression) => expression,
            Err(error) => return error.message,
        };
        let mut variables = Variables::new(names.len());
        for (name, value) in GIVEN {
            if let Some(id) = names.lookup(name) {
                variables.set_text(id, value);
            }
        }
        match expression.evaluate(&variables, prng, &mut |_| {}) {
            Ok(Value::Null) => "null".to_owned(),
            Ok(value) => format!("{} {}", value.type_name(), value.text()),
            Err(error) => error.message,
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(value_of(text, &mut Prng::new(0)), expected, "{text}");
    }

    #[test]
    fn arithmetic_follows_types_and_precedence() {
        check("17 / (4|1) + ( 4 + (7 >> 2))", "int 8");
        check("- (3 * 4 - (-(~ 1) + -(~ 0))) / -1 + 3 % -1", "int 9");
        check("64 % (((2 + 1 * 2 + (1 # 2) | 4 * (2 & 11)) - (1 << 2)) + 2)", "int 12");
        check("sqrt(+1.5 * 2.0) * abs(-0.8E1)", "double 13.856406460551");
        check("double(1 + 1) * (-75.0 / :foo)", "double 14.8514851485149");
        check("pi() * 4.9", "double 15.39380400259");
        check("greatest(4, 2, -1.17) * 4.0 * Ln(Exp(1.0))", "double 16");
        check("least(-5.18, .0E0, 1.0/0) * -3.3", "double 17.094");
        check("10 + mod(13 * 7 + 12, 13) - mod(-19 * 11 - 17, 19)", "int 39");
        check("~ 1 + 2", "int -4");
        check("~ 1 & 3", "int 2");
        check("1 << 65", "int 2");
        check("-8 >> 1", "int -4");
        check("2 - -2", "int 4");
        check("0.5 % 2", "int 0");
        check("-9223372036854775808", "int -9223372036854775808");
        check("-9223372036854775808 % -1", "int 0");
        check("int(2.5) + int(3.5)", "int 6");
        check("1e3", "double 1000");
    }

    #[test]
    fn powers_are_doubles() {
        check("pow(-3,3)", "double -27");
        check("pow(2.0,10)", "double 1024");
        check("pow(0,0)", "double 1");
        check("pow(-2,-3)", "double -0.125");
        check("power(-5.0,-5.0)", "double -0.00032");
        check("pow(9223372036854775807, 2)", "double 8.50705917302346e+37");
        check("pow(10,30)", "double 1e+30");
    }

    #[test]
    fn logic_knows_null_and_is_lazy() {
        check("1.0 = 0.0 and 1.0 != 0.0", "boolean false");
        check("0 = 1 Or 1.0 = 1", "boolean true");
        check("case when false THEN -1 when 1 = 1 then 13 + 19 + 2.0 end", "double 34");
        check("CASE WHEN NOT FALSE THEN 3 * 12.3333334 END", "double 37.0000002");
        check("case when false then 0 end", "null");
        check("NOT (0 > 1) AND (1 <= 1) AND NOT (false and true) AND NOT :f", "boolean true");
        check("NULL + NULL * exp(NULL)", "null");
        check("NULL ISNULL AND NOT NULL IS TRUE AND NULL IS NOT FALSE", "boolean true");
        check("CASE WHEN :n IS NULL THEN 46 ELSE NULL END", "int 46");
        check(":n IS NULL AND NOT :f AND :t", "boolean true");
        check("CASE WHEN 1 THEN TRUE END AND CASE WHEN :n THEN NULL ELSE TRUE END", "boolean true");
        check("false and 1 / 0 = 1", "boolean false");
        check("true or 1 / 0 = 1", "boolean true");
        check("null and false", "null");
        check("false and null", "boolean false");
        check("1 < 2 is true", "boolean true");
        check("not 1 = 2", "boolean true");
        check("1 = 1 is null isnull", "boolean false");
        check("1 isnull", "boolean false");
        check("1 notnull", "boolean true");
    }

    #[test]
    fn hashes_and_permutations_are_those_of_pgbench() {
        check("hash(10, 5432)", "int -5817877081768721676");
        check("hash_fnv1a(10, 5432)", "int -7793829335365542153");
        check("hash(10) = hash_murmur2(10, :default_seed)", "boolean true");
        check("permute(0, 4) + permute(1, 4) + permute(2, 4) + permute(3, 4)", "int 6");
        check("permute(0, 2, 5431)", "int 0");
        check("permute(0, 2, 5433)", "int 1");
        check("permute(9, 1)", "int 0");
        let size = i64::MAX - 10;
        check(&format!("permute({} - 1, {size}, 5432)", size), "int 520382784483822430");
        check(&format!("permute({} - 7, {size}, 5432)", size), "int 4542876852200565125");
    }

    /// What pgbench draws in this order with `--random-seed=5432`.
    #[test]
    fn draws_are_those_of_pgbench() {
        let mut base = Prng::new(5432);
        let mut prng = Prng::new(base.next_u64());
        let mut check =
            |text: &str, expected: &str| assert_eq!(value_of(text, &mut prng), expected);
        check("random(10, 19)", "int 17");
        check("random_exponential(100, 199, 10.0)", "int 104");
        check("random_gaussian(1000, 1999, 10.0)", "int 1498");
        check("random_zipfian(1, 9, 1.3)", "int 3");
    }

    #[test]
    fn errors_say_what_is_wrong() {
        check("9223372036854775807 + 1", "9223372036854775807 + 1 is out of range for int");
        check("-9223372036854775808 / -1", "-9223372036854775808 / -1 is out of range for int");
        check("1 / 0", "division by zero");
        check("5 % 0", "division by zero");
        check("int(1e30)", "1e+30 is out of range for int");
        check("not 1", "a value of type int cannot be used as boolean");
        check("true + 1", "a value of type boolean cannot be used as int");
        check("abs(true)", "a value of type boolean cannot be used as double");
        check(":x + 1", "variable 'x' is not set");
        check("random(2, 1)", "the range from 2 to 1 is empty");
        check("random_gaussian(1, 2, 1.9)", "parameter 1.9 of random_gaussian is less than 2");
        check("random_zipfian(1, 2, 1)", "parameter 1 of random_zipfian is not from 1.001 to 1000");
        check("permute(1, 0)", "size 0 of permute is not above 0");
        check("", "the expression is missing");
        check("1 +", "the expression ends too early");
        check("(1", "')' is missing at the end of an expression");
        check("1 2", "unexpected '2' in an expression");
        check("1 = 1 = 1", "comparisons cannot be chained: add parentheses");
        check("1 ; 2", "unexpected ';' in an expression");
        check("randon(1, 2)", "there is no function 'randon' (did you mean 'random'?)");
        check("random(1)", "random takes 2 arguments, not 1");
        check("hash(1, 2, 3)", "hash takes 1 to 2 arguments, not 3");
        check("9223372036854775808", "9223372036854775808 is out of range");
        check("1e999", "1e999 is out of range");
        check("case 1 end", "'WHEN' is expected instead of '1' in an expression");
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        let too_deep = "the expression is nested more than 200 times";
        check(&"(".repeat(100_000), too_deep);
        check(&"-".repeat(100_000), too_deep);
        check(&format!("1{}", " + 1".repeat(100_000)), too_deep);
        check(&format!("1{}", " is null".repeat(100_000)), too_deep);
        check(&format!("1{}", " + 1".repeat(190)), "int 191");
    }

    proptest! {
        #[test]
        fn no_expression_makes_the_parser_panic(text in any::<String>()) {
            value_of(&text, &mut Prng::new(0));
        }

        #[test]
        fn no_list_of_tokens_makes_the_parser_panic(
            words in prop::collection::vec(prop::sample::select(vec![
                "1", "2.5", ":i", ":n", "null", "true", "(", ")", ",", "+", "-", "*", "/", "%", "~",
                "not", "and", "or", "is", "isnull", "case", "when", "then", "else", "end", "abs",
                "random", "hash", "<", ">=", "<<", "&", "9223372036854775808",
            ]), 0..20),
        ) {
            value_of(&words.join(" "), &mut Prng::new(0));
        }
    }
}
