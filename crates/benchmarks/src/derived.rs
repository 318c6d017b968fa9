//! Values made once of all benchmarks.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a workspace's folders were read.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// From now on, values are made with the workspace's folders.
pub(crate) fn mark_open() {
    IS_OPEN.store(true, Ordering::Release);
}

/// A value that is made of all benchmarks when it is first used. What was made before the workspace's folders
/// were read is not used afterwards: it is made again, with them. So no list can be filled too early.
#[derive(Debug)]
pub struct Derived<T> {
    built_in: OnceLock<T>,
    opened: OnceLock<T>,
    make: fn() -> T,
}

impl<T> Derived<T> {
    /// A value that `make` computes from all benchmarks.
    pub const fn new(make: fn() -> T) -> Derived<T> {
        Derived { built_in: OnceLock::new(), opened: OnceLock::new(), make }
    }
}

impl<T> Deref for Derived<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let value = if IS_OPEN.load(Ordering::Acquire) { &self.opened } else { &self.built_in };
        value.get_or_init(self.make)
    }
}
