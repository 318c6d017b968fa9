//! The responses of RuozhiBench, which judges rate (Zhai et al., 3.1).

use super::{Annotatable, Prompt};
use crate::stages::draft::{Draft, Slot};
use riddlemill_text::record::{Post, Response};

/// No person looks at responses: the paper has none do so (section 4.1).
impl Annotatable for Response {
    fn of_post(_: Post) -> Option<Response> {
        None
    }

    /// Nothing is asked of a judge who is barred from the model.
    fn prompt(&self, draft: Draft, slot: &Slot) -> Option<Prompt> {
        if draft != Draft::Judge || slot.bars.iter().any(|barred| barred.matches(&self.model)) {
            return None;
        }
        let (asked, answer) = (self.asked.as_str(), self.text.as_str());
        Some(match &self.irrationality {
            Some(analysis) => Prompt::new(
                "ruozhibench/judge",
                [("question", asked), ("irrationality", analysis.as_str()), ("answer", answer)],
            ),
            None => Prompt::new("ruozhibench/judge_normal", [("question", asked), ("answer", answer)]),
        })
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
