//! Variables of scripts: their names, which all clients share, and their values, one set a client.

use std::cell::Cell;
use std::collections::HashMap;

use super::error::Error;
use super::value::Value;

/// Number of a variable in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u16);

/// Names of all variables of all scripts of a workload.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Box<str>>,
    ids: HashMap<Box<str>, VariableId>,
}

impl Names {
    pub fn new() -> Names {
        Names::default()
    }

    /// Returns the variable with this name, which is added if it is new. The name may be one that
    /// no command can set ([`is_valid_name`]): the variable is never set then.
    ///
    /// # Errors
    ///
    /// There are 65,536 variables already.
    pub fn add(&mut self, name: &str) -> Result<VariableId, Error> {
        if let Some(id) = self.lookup(name) {
            return Ok(id);
        }
        let Ok(number) = u16::try_from(self.names.len()) else {
            return Err(Error::new("a workload has at most 65,536 variables"));
        };
        let id = VariableId(number);
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        Ok(id)
    }

    /// Returns the variable with this name; `None` if no script mentions it, so that nobody can
    /// see its value.
    pub fn lookup(&self, name: &str) -> Option<VariableId> {
        self.ids.get(name).copied()
    }

    pub fn name_of(&self, id: VariableId) -> &str {
        &self.names[usize::from(id.0)]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Whether a variable can be given this name: ASCII letters, digits, underscores and any character
/// beyond ASCII, not beginning with a digit.
pub fn is_valid_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(is_name_start) && bytes.all(is_name_byte)
}

/// Whether a name of a variable may begin with this byte of UTF-8.
pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// Whether a name of a variable may go on with this byte of UTF-8.
pub(super) fn is_name_byte(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

/// Values of the variables of one client.
#[derive(Clone, Debug)]
pub struct Variables {
    slots: Vec<Slot>,
}

/// One variable. The buffer of its text stays when it is set again, so setting allocates nothing.
#[derive(Clone, Debug, Default)]
struct Slot {
    is_set: bool,
    text: String,
    /// Value of the text; `None` as long as no expression needed it.
    value: Cell<Option<Value>>,
}

impl Variables {
    /// Returns the given number of variables, as of [`Names::len`], none of which is set.
    pub fn new(n_variables: usize) -> Variables {
        Variables { slots: vec![Slot::default(); n_variables] }
    }

    fn slot(&self, id: VariableId) -> &Slot {
        &self.slots[usize::from(id.0)]
    }

    fn slot_mut(&mut self, id: VariableId) -> &mut Slot {
        &mut self.slots[usize::from(id.0)]
    }

    pub fn is_set(&self, id: VariableId) -> bool {
        self.slot(id).is_set
    }

    /// Returns the text by which the variable stands in a statement; `None` if it is not set.
    pub fn text(&self, id: VariableId) -> Option<&str> {
        let slot = self.slot(id);
        slot.is_set.then_some(slot.text.as_str())
    }

    /// Returns the value for an expression. A text is converted once.
    ///
    /// # Errors
    ///
    /// The variable is not set, or its text is no value.
    pub fn value(&self, id: VariableId) -> Result<Value, Error> {
        let slot = self.slot(id);
        if !slot.is_set {
            return Err(Error::new("the variable is not set"));
        }
        if let Some(value) = slot.value.get() {
            return Ok(value);
        }
        let value = Value::of_text(&slot.text)?;
        slot.value.set(Some(value));
        Ok(value)
    }

    pub fn set_value(&mut self, id: VariableId, value: Value) {
        let slot = self.slot_mut(id);
        slot.is_set = true;
        slot.text.clear();
        value.write_to(&mut slot.text);
        slot.value.set(Some(value));
    }

    pub fn set_text(&mut self, id: VariableId, text: &str) {
        let slot = self.slot_mut(id);
        slot.is_set = true;
        slot.text.clear();
        slot.text.push_str(text);
        slot.value.set(None);
    }

    pub fn unset(&mut self, id: VariableId) {
        self.slot_mut(id).is_set = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_text_and_value() {
        let mut names = Names::new();
        let a = names.add("a").unwrap();
        assert_eq!((names.add("a").unwrap(), names.lookup("A"), names.len()), (a, None, 1));
        let mut variables = Variables::new(names.len());
        assert_eq!((variables.text(a), variables.is_set(a)), (None, false));
        assert!(variables.value(a).is_err());
        variables.set_text(a, "007");
        assert_eq!((variables.text(a), variables.value(a)), (Some("007"), Ok(Value::Int(7))));
        variables.set_value(a, Value::Double(0.5));
        assert_eq!((variables.text(a), variables.value(a)), (Some("0.5"), Ok(Value::Double(0.5))));
        variables.set_text(a, "x y");
        assert!(variables.value(a).is_err());
        variables.unset(a);
        assert_eq!(variables.text(a), None);
    }

    #[test]
    fn names_begin_with_no_digit() {
        for name in ["a", "_1", "Aä9", "日本"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", "a$"] {
            assert!(!is_valid_name(name), "{name}");
        }
    }
}
