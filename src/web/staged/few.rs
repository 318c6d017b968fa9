//! A bounded cache of the last values, keyed by a hash of everything they were made from, so that entries
//! never become stale. Contents of files that may change are in [`file_cache`](crate::web::file_cache).

use std::sync::{Arc, Mutex, PoisonError};

use crate::store::Error;

/// The last values, by the hash of their inputs.
pub(super) struct Few<T> {
    held: Mutex<Vec<(String, Arc<Slot<T>>)>>,
}

/// A value, possibly still being made.
type Slot<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { held: Mutex::default() }
    }
}

impl<T> Few<T> {
    /// Whether there is an entry for a key, finished or being made.
    pub(super) fn holds(&self, key: &str) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter().any(|(known, _)| known == key)
    }

    /// The value of a key, made now if necessary; concurrent requests wait for it. The oldest are removed
    /// while the total size exceeds `budget`.
    pub(super) fn get(
        &self,
        key: &str,
        weigh: impl Fn(&T) -> usize,
        budget: usize,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = {
            let mut held = held();
            let known = held.iter().position(|(known, _)| known == key).map(|at| held.remove(at));
            let entry = known.unwrap_or_else(|| (key.to_string(), Arc::default()));
            held.push(entry.clone());
            entry.1
        };
        let made = {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = &*slot {
                return Ok(made.clone());
            }
            let made = Arc::new(make()?);
            *slot = Some(made.clone());
            made
        };
        let weight =
            |slot: &Slot<T>| slot.try_lock().ok().and_then(|made| made.as_ref().map(|made| weigh(made)));
        let mut held = held();
        while held.len() > 1 && held.iter().filter_map(|(_, slot)| weight(slot)).sum::<usize>() > budget {
            held.remove(0);
        }
        Ok(made)
    }
}
