//! The last things that were made, under a bound: of what is under a hash of all that it was made of, and so never
//! grows old. What was read from a file that may change is in [`file_cache`](crate::web::file_cache).

use std::sync::{Arc, Mutex, PoisonError};

use crate::store::Error;

/// The last things that were made, by what they were made of.
pub(super) struct Few<T> {
    held: Mutex<Vec<(String, Arc<Slot<T>>)>>,
}

/// Something made, or being made.
type Slot<T> = Mutex<Option<Arc<T>>>;

impl<T> Default for Few<T> {
    fn default() -> Few<T> {
        Few { held: Mutex::default() }
    }
}

impl<T> Few<T> {
    /// Whether something is known by a key, or being made.
    pub(super) fn holds(&self, key: &str) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.iter().any(|(known, _)| known == key)
    }

    /// What is known by a key, or made now; whoever asks while it is being made waits for it. The oldest go
    /// while all together weigh more than `budget`.
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
