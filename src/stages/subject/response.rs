//! The responses of RuozhiBench, which judges rate (Zhai et al., 3.1).

use super::{Decision, Drafted, Prompt, Subject};
use crate::record::{Post, Response, Standing};
use crate::review::Item;
use crate::review::ballot::Step;
use crate::stages::Review;
use crate::stages::draft::{Draft, Slot};

impl Subject for Response {
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

    /// Ratings are taken one by one, by the stage that asks for them.
    fn drafted(&mut self, _: Draft, _: &[Drafted]) -> Vec<String> {
        Vec::new()
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }

    /// No person looks at responses: the paper has none do so (section 4.1).
    fn items(&self, _: Review, _: &Step, _: u64) -> Vec<Item> {
        Vec::new()
    }

    fn decided(&mut self, _: Review, _: &[Option<Decision>], _: Standing, _: Vec<String>) {}

    fn before(&self, _: Review) -> String {
        String::new()
    }

    fn after(&self, _: Review) -> String {
        String::new()
    }
}
