//! The caller's view of a running join: it is informed of the progress and can stop the join.

/// Observes a join. A join of a million texts takes minutes.
pub trait Watch: Sync {
    /// Whether to stop. The join's result is not usable then.
    fn stopped(&self) -> bool;
    /// Another share of the whole is done; all shares sum to 1.
    fn advance(&self, share: f64);
}

/// For joins that are not observed.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn stopped(&self) -> bool {
        false
    }

    fn advance(&self, _share: f64) {}
}

/// A part of the work, as a share of the whole.
#[derive(Clone, Copy)]
pub(super) struct Part<'w> {
    watch: &'w dyn Watch,
    share: f64,
}

impl<'w> Part<'w> {
    pub fn whole(watch: &'w dyn Watch) -> Self {
        Part { watch, share: 1.0 }
    }

    pub fn unwatched() -> Part<'static> {
        Part::whole(&Unwatched)
    }

    /// This share of the part.
    pub fn share(self, share: f64) -> Self {
        Part { share: self.share * share, ..self }
    }

    /// Whether to stop.
    pub fn stopped(self) -> bool {
        self.watch.stopped()
    }

    /// The part as so many items.
    pub fn over(self, items: usize) -> Items<'w> {
        Items { watch: self.watch, each: self.share / items.max(1) as f64 }
    }
}

/// Items that are done one after the other, or at once.
#[derive(Clone, Copy)]
pub(super) struct Items<'w> {
    watch: &'w dyn Watch,
    each: f64,
}

impl Items<'_> {
    /// Called before this many items; returns whether to process them.
    pub fn go(&self, items: usize) -> bool {
        self.done(items);
        self.goes_on()
    }

    /// Called after this many items, where one item may take long.
    pub fn done(&self, items: usize) {
        self.watch.advance(self.each * items as f64);
    }

    /// Whether to process further items.
    pub fn goes_on(&self) -> bool {
        !self.watch.stopped()
    }
}

/// Somebody who gives up at once, in tests.
#[cfg(test)]
pub(crate) struct Stopped;

#[cfg(test)]
impl Watch for Stopped {
    fn stopped(&self) -> bool {
        true
    }

    fn advance(&self, _: f64) {}
}
