//! The questions of RuozhiBench-Gen (Zhai et al. 2025, 2.2 and 2.3), which models answer (3.1).

use super::{Annotatable, Prompt, drafts};
use crate::stages::draft::{Draft, Slot};
use riddlemill_text::record::{Post, Question};

impl Annotatable for Question {
    fn of_post(post: Post) -> Option<Question> {
        Some(post.into())
    }

    fn prompt(&self, draft: Draft, slot: &Slot) -> Option<Prompt> {
        match draft {
            Draft::Declared(draft) => drafts::prompt(self, draft),
            Draft::Respond => {
                let asked = if slot.to_pair { &self.pair } else { &self.question_en };
                Some(Prompt::new("ruozhibench/respond", [("question", asked.as_deref()?)]))
            }
            _ => None,
        }
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
