//! A map that keeps the order of insertion and is serialized as a JSON object.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An ordered map from names to values, serialized as a JSON object. A name may occur several
/// times.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// Returns the value with this name, the first if there are several; `None` if there is none.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Appends a name with its value, even if the name exists already.
    pub fn push(&mut self, name: impl Into<String>, value: T) {
        self.0.push((name.into(), value));
    }

    /// Returns the pairs of name and value in order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Named<u64> {
    /// Adds `n` to the count with this name. If there is no such count, appends one with the value
    /// `n`.
    pub fn count(&mut self, name: &str, n: u64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += n,
            None => self.push(name, n),
        }
    }
}

impl<T: fmt::Display> Named<T> {
    /// Formats all entries as `name=value`, with the text `between` as separator.
    pub fn pairs(&self, between: &str) -> String {
        let pairs: Vec<String> =
            self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(between)
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        deserializer.deserialize_map(Object(PhantomData))
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let mut named = Named::default();
        while let Some((name, value)) = map.next_entry::<String, T>()? {
            named.push(name, value);
        }
        Ok(named)
    }
}
