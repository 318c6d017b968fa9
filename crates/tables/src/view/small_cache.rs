//! A bounded cache of the last values, keyed by a hash of everything they were made from, so that entries
//! never become stale. It is not for contents of files that may change.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Error;

/// The last values, by the hash of their inputs.
pub struct SmallCache<T> {
    slots: Mutex<Vec<(String, Arc<Slot<T>>)>>,
}

/// A value, possibly still being made.
type Slot<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for SmallCache<T> {
    fn default() -> SmallCache<T> {
        SmallCache { slots: Mutex::default() }
    }
}

impl<T> SmallCache<T> {
    /// Whether there is an entry for a key, finished or being made.
    pub(super) fn holds(&self, key: &str) -> bool {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.iter().any(|(known, _)| known == key)
    }

    /// The value of a key, made now if necessary; concurrent requests wait for it. The oldest are removed
    /// while the total size exceeds `budget`.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get(
        &self,
        key: &str,
        weigh: impl Fn(&T) -> usize,
        budget: usize,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let slots = || self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        // The list is unlocked before the value is made, so that only requests for the same key wait.
        let slot = {
            let mut slots = slots();
            let known = slots.iter().position(|(known, _)| known == key).map(|at| slots.remove(at));
            let entry = known.unwrap_or_else(|| (key.to_string(), Arc::default()));
            // At the end, because those at the front are removed first.
            slots.push(entry.clone());
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
            // A value that is still being made is not waited for: that would block every request.
            |slot: &Slot<T>| slot.try_lock().ok().and_then(|made| made.as_ref().map(|made| weigh(made)));
        let mut slots = slots();
        // The newest stays, even if it exceeds the budget alone.
        while slots.len() > 1 && slots.iter().filter_map(|(_, slot)| weight(slot)).sum::<usize>() > budget {
            slots.remove(0);
        }
        Ok(made)
    }
}
