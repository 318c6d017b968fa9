//! Records of a type in tests, as drafts and reviews see them.

use super::*;
use riddlemill_text::record::Typed;

/// What stages do with the rows of a type whose columns are those of a kind.
pub(in crate::stages) trait TypedSubject: Typed + Clone {
    fn changed<T>(&mut self, change: impl FnOnce(&mut Row) -> T) -> T {
        let mut row = Row::from(self.clone());
        let result = change(&mut row);
        *self = row.typed();
        result
    }

    fn prompt(&self, draft: Draft, slot: &Slot) -> Option<Prompt> {
        draft_items(&Row::from(self.clone()), draft).ok()?.first()?.prompt(draft, slot)
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        self.changed(|row| drafted(row, draft, drafts))
    }

    fn decided(
        &mut self,
        step: &Ballot,
        decisions: &[Option<Decision>],
        standing: Standing,
        basis: Vec<String>,
    ) {
        self.changed(|row| decided(row, step, decisions, standing, basis));
    }

    fn lacks(&self, step: &Ballot) -> Option<Reason> {
        lacks(&Row::from(self.clone()), step)
    }

    fn items(&self, step: &Ballot, seed: u64) -> Vec<Item> {
        items(&Row::from(self.clone()), step, seed)
    }
}

impl<T: Typed + Clone> TypedSubject for T {}
