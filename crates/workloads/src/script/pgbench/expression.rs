//! Expressions of `\set`, `\if` and `\elif`: their form and their evaluation.
//!
//! Not here: how they are parsed (parser), and what functions compute (functions).

use super::error::Error;
use super::functions::{self, ARGUMENTS_MAX, Function};
use super::prng::Prng;
use super::value::Value;
use super::variables::{VariableId, Variables};

/// Expression whose functions have the right numbers of arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(super) root: Node,
}

/// Part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Constant(Value),
    Variable {
        id: VariableId,
        name: Box<str>,
    },
    /// Function of its arguments, at most [`ARGUMENTS_MAX`]. Operators are functions too.
    Call {
        function: Function,
        arguments: Box<[Node]>,
    },
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// Value of the first arm whose condition holds.
    Case {
        arms: Box<[(Node, Node)]>,
        otherwise: Box<Node>,
    },
}

/// What an evaluation reads and changes.
struct World<'a> {
    variables: &'a Variables,
    prng: &'a mut Prng,
    debug: &'a mut dyn FnMut(&str),
}

impl Expression {
    /// Returns the value. `debug` gets what `debug(x)` writes, such as `int 5`, without the number
    /// of the script and the command.
    ///
    /// # Errors
    ///
    /// A variable is not set, a value has the wrong type or is out of range, or an integer is
    /// divided by zero.
    pub fn evaluate(
        &self,
        variables: &Variables,
        prng: &mut Prng,
        debug: &mut dyn FnMut(&str),
    ) -> Result<Value, Error> {
        evaluate(&self.root, &mut World { variables, prng, debug })
    }

    /// Returns the variables that the expression reads, in the order in which it names them.
    pub fn variables(&self) -> Vec<VariableId> {
        let mut found = Vec::new();
        self.root.collect(&mut found);
        found
    }
}

impl Node {
    fn collect(&self, found: &mut Vec<VariableId>) {
        match self {
            Node::Constant(_) => {}
            Node::Variable { id, .. } => found.push(*id),
            Node::Call { arguments, .. } => arguments.iter().for_each(|node| node.collect(found)),
            Node::And(both) | Node::Or(both) => both.iter().for_each(|node| node.collect(found)),
            Node::Case { arms, otherwise } => {
                for (condition, value) in arms {
                    condition.collect(found);
                    value.collect(found);
                }
                otherwise.collect(found);
            }
        }
    }
}

fn evaluate(node: &Node, world: &mut World) -> Result<Value, Error> {
    match node {
        Node::Constant(value) => Ok(*value),
        Node::Variable { id, name } => match world.variables.is_set(*id) {
            true => world
                .variables
                .value(*id)
                .map_err(|error| Error::new(format!("variable '{name}': {}", error.message))),
            false => Err(Error::new(format!("variable '{name}' is not set"))),
        },
        Node::Call { function, arguments } => call(*function, arguments, world),
        Node::And(sides) => connect(sides, false, world),
        Node::Or(sides) => connect(sides, true, world),
        Node::Case { arms, otherwise } => {
            for (condition, value) in arms {
                if evaluate(condition, world)?.is_true() {
                    return evaluate(value, world);
                }
            }
            evaluate(otherwise, world)
        }
    }
}

/// Evaluates `AND` and `OR`; `decisive` is the value of the left side with which the right one is
/// not evaluated. Other than in SQL, it is not either if the left side is null.
fn connect(sides: &[Node; 2], decisive: bool, world: &mut World) -> Result<Value, Error> {
    let to_bool = |value: Value| match value {
        Value::Null => Ok(None),
        value => value.to_bool().map(Some),
    };
    let to_value = |value: Option<bool>| value.map_or(Value::Null, Value::Bool);
    let left = to_bool(evaluate(&sides[0], world)?)?;
    if left != Some(!decisive) {
        return Ok(to_value(left));
    }
    Ok(to_value(to_bool(evaluate(&sides[1], world)?)?))
}

fn call(function: Function, arguments: &[Node], world: &mut World) -> Result<Value, Error> {
    let mut values = [Value::Null; ARGUMENTS_MAX];
    let values = &mut values[..arguments.len()];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = evaluate(argument, world)?;
    }
    if function == Function::Debug {
        let text = match values[0] {
            Value::Null => "null".to_owned(),
            value => format!("{} {}", value.type_name(), value.text()),
        };
        (world.debug)(&text);
        return Ok(values[0]);
    }
    functions::call(function, values, world.prng)
}
