//! The questions of a puzzle's group: their topics are drafted (appendix A.1), nothing more is decided on them.

use super::{Annotatable, Drafted, Prompt, text};
use crate::stages::draft::{Draft, Slot};
use riddlemill_text::record::{Post, Variant};

impl Annotatable for Variant {
    fn of_post(_: Post) -> Option<Variant> {
        None
    }

    fn prompt(&self, draft: Draft, _: &Slot) -> Option<Prompt> {
        (draft == Draft::Topic).then(|| Prompt::new("brainteaser/topic", [("puzzle", &self.question)]))
    }

    fn drafted(&mut self, _: Draft, drafts: &[Drafted]) -> Vec<String> {
        if let [Drafted { values, basis, .. }] = drafts {
            self.topic = text(values, "topic");
            self.topic_basis = vec![basis.clone()];
        }
        Vec::new()
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
