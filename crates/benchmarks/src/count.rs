//! Numbers that a folder states, or the setting that does.

use crate::reader::Keys;

/// A setting: its table and key.
pub type Key = (&'static str, &'static str);

/// A number, or the setting that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Fixed(u32),
    /// As this setting says.
    Setting(Key),
}

/// The setting that a key names; `None` where the key is not there, `Some(None)` where it names none.
pub(crate) fn setting(keys: &Keys<'_>, key: &str, like: &str) -> Option<Option<Key>> {
    let named = keys.text(key)?;
    let parted = named.split_once('.');
    if parted.is_none() {
        keys.problem(key, format!("{named:?} is not a setting; an example is {like:?}"));
    }
    Some(parted)
}

/// The number of replies under a key, or the setting with it.
pub(crate) fn replies(keys: &Keys<'_>, key: &str) -> Option<Count> {
    if keys.is_text(key) {
        return setting(keys, key, "respond.samples").flatten().map(Count::Setting);
    }
    let several = keys.count(key)?;
    if !(1..=100).contains(&several) {
        keys.problem(key, "between 1 and 100 replies");
    }
    Some(Count::Fixed(u32::try_from(several).unwrap_or(1)))
}
