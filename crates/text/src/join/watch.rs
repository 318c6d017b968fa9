//! The caller's view of a running join: it is informed of the progress and can stop the join.

/// Observes a join. A join of a million texts takes minutes.
pub trait Watch: Sync {
    /// Whether to stop. The join's result is not usable then.
    fn is_stopped(&self) -> bool;
    /// Another share of the whole is done; all shares sum to 1.
    fn report_share(&self, share: f64);
    /// What the join and its callers' work on its pairs will take, once that can be foretold.
    fn report_forecast(&self, _expected: Expected) {}
}

/// What is foretold of a join, in nanoseconds of a core: only the proportion counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The join itself.
    pub join: f64,
    /// Figures of the pairs that are found, as any string library gives them.
    pub figures: f64,
}

/// For joins that are not observed.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn is_stopped(&self) -> bool {
        false
    }

    fn report_share(&self, _share: f64) {}
}

/// A part of the work, as a share of the whole.
#[derive(Clone, Copy)]
pub(super) struct WorkPart<'w> {
    watch: &'w dyn Watch,
    share: f64,
    /// Of a join: how much of it is spent on looking records up.
    probing: f64,
}

/// What looking records up takes of a join of which nothing is known.
const PROBING: f64 = 0.70;

impl<'w> WorkPart<'w> {
    pub fn of_whole(watch: &'w dyn Watch) -> Self {
        WorkPart { watch, share: 1.0, probing: PROBING }
    }

    pub fn without_watch() -> WorkPart<'static> {
        WorkPart::of_whole(&Unwatched)
    }

    /// This share of the part.
    pub fn narrow_to(self, share: f64) -> Self {
        WorkPart { share: self.share * share, ..self }
    }

    /// As a join that spends so much on looking records up.
    pub fn as_join(self, probing: f64) -> Self {
        WorkPart { probing, ..self }
    }

    /// What looking records up takes of the part, and all else.
    pub fn of_join(self) -> (Self, Self) {
        (self.narrow_to(self.probing), self.narrow_to(1.0 - self.probing))
    }

    /// Tells what is foretold of the whole.
    pub fn report_forecast(self, expected: Expected) {
        self.watch.report_forecast(expected);
    }

    /// This share of the part is done.
    pub fn report_share(self, share: f64) {
        self.watch.report_share(self.share * share);
    }

    /// Whether to stop.
    pub fn is_stopped(self) -> bool {
        self.watch.is_stopped()
    }

    /// The part as so many items.
    pub fn over_items(self, items: usize) -> Items<'w> {
        Items { watch: self.watch, each: self.share / items.max(1) as f64 }
    }
}

/// Items that are done one after the other, or at once.
#[derive(Clone, Copy)]
pub(super) struct Items<'w> {
    watch: &'w dyn Watch,
    each: f64,
}

impl<'w> Items<'w> {
    /// This many of the items as so much work, where some are more work than others.
    pub fn weigh_by_work(self, items: usize, work: u64) -> Self {
        Self { each: self.each * items as f64 / work.max(1) as f64, ..self }
    }

    /// What a thread does of the items, told in portions of this many.
    pub fn in_portions(self, of: u64) -> Portions<'w> {
        Portions { items: self, of, untold: 0, left: 0, goes_on: self.may_go_on() }
    }

    /// Called before this many items; returns whether to process them.
    pub fn begin_items(&self, items: usize) -> bool {
        self.report_items(items);
        self.may_go_on()
    }

    /// Called after this many items, where one item may take long.
    pub fn report_items(&self, items: usize) {
        self.watch.report_share(self.each * items as f64);
    }

    /// Whether to process further items.
    pub fn may_go_on(&self) -> bool {
        !self.watch.is_stopped()
    }
}

/// What a thread does of [`Items`], told in portions: a report takes a lock, and most of what is told of is short.
pub(super) struct Portions<'w> {
    items: Items<'w>,
    of: u64,
    untold: u64,
    /// What is left of the task that was begun.
    left: u64,
    goes_on: bool,
}

impl Portions<'_> {
    /// Begins a task of so many items, once what was left of the one before is done; returns whether to do it.
    pub fn begin_task(&mut self, items: u64) -> bool {
        let may_go_on = self.end_task();
        self.left = items;
        may_go_on
    }

    /// What is left of the task.
    pub fn remaining_items(&self) -> u64 {
        self.left
    }

    /// So many items of the task are done, or all that are left of it; returns whether to go on.
    pub fn report_items(&mut self, items: u64) -> bool {
        let items = items.min(self.left);
        self.left -= items;
        self.untold += items;
        if self.untold >= self.of {
            self.report_untold();
        }
        self.goes_on
    }

    /// The task is done; returns whether to go on.
    fn end_task(&mut self) -> bool {
        self.report_items(self.left)
    }

    /// All is done.
    pub fn finish(&mut self) {
        self.end_task();
        self.report_untold();
    }

    /// Tells what is not told yet.
    fn report_untold(&mut self) {
        self.items.report_items(std::mem::take(&mut self.untold) as usize);
        self.goes_on = self.items.may_go_on();
    }
}

/// Somebody who adds the shares up, in tests.
#[cfg(test)]
#[derive(Default)]
pub(super) struct Sum(std::sync::Mutex<(f64, f64)>);

#[cfg(test)]
impl Sum {
    /// The sum of the shares, and the largest.
    pub fn sum_and_largest(&self) -> (f64, f64) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Watch for Sum {
    fn is_stopped(&self) -> bool {
        false
    }

    fn report_share(&self, share: f64) {
        let mut found = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *found = (found.0 + share, found.1.max(share));
    }
}

/// Somebody who gives up at once, in tests.
#[cfg(test)]
pub(crate) struct Stopped;

#[cfg(test)]
impl Watch for Stopped {
    fn is_stopped(&self) -> bool {
        true
    }

    fn report_share(&self, _: f64) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each task counts once, however much of it is told on the way.
        #[test]
        fn portions_sum_to_the_whole(
            tasks in prop::collection::vec((0u64..50, prop::collection::vec(0u64..40, 0..4)), 0..20),
            of in 1u64..100,
        ) {
            let sum = Sum::default();
            let all: u64 = tasks.iter().map(|(items, _)| items).sum();
            let mut portions = WorkPart::of_whole(&sum).over_items(7).weigh_by_work(7, all).in_portions(of);
            for (items, parts) in &tasks {
                prop_assert!(portions.begin_task(*items));
                for part in parts {
                    prop_assert!(portions.report_items(*part));
                }
                prop_assert!(portions.remaining_items() <= *items);
            }
            portions.finish();
            let whole = if all == 0 { 0.0 } else { 1.0 };
            prop_assert!((sum.sum_and_largest().0 - whole).abs() < 1e-9);
        }
    }
}
