//! Values made once of all benchmarks.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often the set of benchmarks changed: 0 for the built-in ones, 1 with a workspace's folders, 2 when some of these
/// were set aside.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// The sets that there can be.
const SETS: usize = 3;

/// From now on, values are made with the present benchmarks.
pub(crate) fn mark_changed() {
    // More changes than there are sets would only make values of the last one.
    let _ = CHANGES.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| Some((n + 1).min(SETS - 1)));
}

/// A value that is made of all benchmarks when it is first used. What was made before the workspace's folders
/// were read is not used afterwards: it is made again, with them. So no list can be filled too early.
#[derive(Debug)]
pub struct Derived<T> {
    made: [OnceLock<T>; SETS],
    make: fn() -> T,
}

impl<T> Derived<T> {
    /// A value that `make` computes from all benchmarks.
    pub const fn new(make: fn() -> T) -> Derived<T> {
        Derived { made: [const { OnceLock::new() }; SETS], make }
    }
}

impl<T> Deref for Derived<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.made[CHANGES.load(Ordering::Acquire)].get_or_init(self.make)
    }
}
