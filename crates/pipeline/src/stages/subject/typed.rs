//! Records of a type in tests, as drafts and reviews see them.

use super::*;
use riddlemill_text::record::Typed;

/// [`Annotatable`] of a type whose columns are those of a kind.
pub(in crate::stages) trait TypedSubject: Typed + Clone {
    fn changed<T>(&mut self, change: impl FnOnce(&mut Row) -> T) -> T {
        let mut row = Row::from(self.clone());
        let result = change(&mut row);
        *self = row.typed();
        result
    }

    fn prompt(&self, draft: Draft, slot: &Slot) -> Option<Prompt> {
        Row::from(self.clone()).draft_items(draft).ok()?.first()?.prompt(draft, slot)
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        self.changed(|row| row.drafted(draft, drafts))
    }

    fn decided(
        &mut self,
        step: &Ballot,
        decisions: &[Option<Decision>],
        standing: Standing,
        basis: Vec<String>,
    ) {
        self.changed(|row| row.decided(step, decisions, standing, basis));
    }

    fn lacks(&self, step: &Ballot) -> Option<Reason> {
        Row::from(self.clone()).lacks(step)
    }

    fn items(&self, step: &Ballot, seed: u64) -> Vec<Item> {
        Row::from(self.clone()).items(step, seed)
    }
}

impl<T: Typed + Clone> TypedSubject for T {}
