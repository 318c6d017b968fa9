//! Tables of keys, and their values as types.

use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::kind::{Key, Kind};

/// A table of keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Its name in the file.
    pub name: &'static str,
    /// A description, for the commented file and the reference.
    pub doc: &'static str,
    /// In the order of the reference.
    pub keys: &'static [Key],
}

impl Section {
    /// A key of the table itself.
    pub fn find_key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Every key that has a value, in subtables too: `sampling.seed`.
    pub fn dotted_keys(&self) -> Vec<(String, &'static Key)> {
        let mut found = Vec::new();
        dotted_below("", self.keys, &mut found);
        found
    }
}

/// The same of a table whose keys begin with `prefix`.
fn dotted_below(prefix: &str, keys: &'static [Key], found: &mut Vec<(String, &'static Key)>) {
    for key in keys {
        let name = format!("{prefix}{}", key.name);
        match key.kind {
            Kind::Table(inner) => dotted_below(&format!("{name}."), inner, found),
            _ => found.push((name, key)),
        }
    }
}

/// A type whose fields are the keys of a table, declared with [`table!`](crate::table).
pub trait Table {
    /// The table.
    const SECTION: Section;
}

/// A table with every default.
///
/// # Panics
/// If a default does not fit its type or a key is required, which a test of the type excludes.
pub fn default_table<T: Table + DeserializeOwned>() -> T {
    match serde_json::from_value(Value::Object(Map::new())) {
        Ok(table) => table,
        Err(error) => unreachable!("the defaults of [{}]: {error}", T::SECTION.name),
    }
}

/// The fields of a table while they are read: what `table!` expands to uses it.
pub struct Fields<T> {
    values: Map<String, Value>,
    of: PhantomData<T>,
}

impl<T: Table> Fields<T> {
    /// All values of a table.
    ///
    /// # Errors
    /// If it is no table.
    pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Fields<T>, D::Error> {
        let mut values = Map::<String, Value>::deserialize(from)?;
        values.retain(|_, value| !value.is_null());
        Ok(Fields { values, of: PhantomData })
    }

    /// The value of a key, checked by its kind; its default if it is missing.
    ///
    /// # Errors
    /// A message with the key.
    pub fn take<V: DeserializeOwned, E: Error>(&mut self, name: &'static str) -> Result<V, E> {
        let key = T::SECTION.find_key(name);
        let written = self.values.remove(name);
        if let (Some(key), Some(value)) = (key, &written) {
            key.kind.check_value(value).map_err(|mismatch| E::custom(format_args!("{name}: {mismatch}")))?;
        }
        let value = match (written.or_else(|| key?.default_value()), key) {
            (Some(value), _) => value,
            (None, Some(key)) if key.is_required => return Err(E::missing_field(name)),
            // A subtable has defaults of its own.
            (None, Some(Key { kind: Kind::Table(_), .. })) => Value::Object(Map::new()),
            (None, _) => Value::Null,
        };
        V::deserialize(value).map_err(|error| E::custom(format_args!("{name}: {error}")))
    }

    /// The value of a field that is no key of the file; its type's default if it is missing.
    ///
    /// # Errors
    /// A message with the field.
    pub fn beside<V: DeserializeOwned + Default, E: Error>(&mut self, name: &'static str) -> Result<V, E> {
        let value = self.values.remove(name).map(V::deserialize).transpose();
        value.map(Option::unwrap_or_default).map_err(|error| E::custom(format_args!("{name}: {error}")))
    }

    /// Reports a key that no field took.
    ///
    /// # Errors
    /// A message with the first one.
    pub fn finish<E: Error>(self) -> Result<(), E> {
        let known = || T::SECTION.keys.iter().map(|key| key.name);
        match self.values.keys().next() {
            None => Ok(()),
            Some(name) => Err(E::custom(crate::hint::unknown("key", name, known()))),
        }
    }
}
