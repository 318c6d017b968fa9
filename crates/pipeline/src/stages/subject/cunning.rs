//! The cunning texts of FLUB (Li et al., 2.1).

use super::{Annotatable, Drafted, Prompt, discard, noted, text};
use crate::stages::draft::{Draft, Slot, check};
use riddlemill_text::record::{CunningText, Post};

/// The fields that hold the wrong answers of one person or reply.
const WRONG: [&str; 3] = ["wrong_1", "wrong_2", "wrong_3"];

impl Annotatable for CunningText {
    fn of_post(post: Post) -> Option<CunningText> {
        Some(post.into())
    }

    fn prompt(&self, draft: Draft, _: &Slot) -> Option<Prompt> {
        let explanation = self.explanation.as_deref().unwrap_or_default();
        let text = noted(&self.text, self.note.as_deref());
        Some(match draft {
            Draft::Type => Prompt::new("flub/type", [("text", &self.text)]),
            Draft::Explanation => Prompt::new("flub/explanation", [("text", &text)]),
            Draft::Wrong => Prompt::new("flub/wrong", [("text", &self.text), ("explanation", explanation)]),
            _ => return None,
        })
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        let basis = drafts.iter().map(|draft| draft.basis.clone()).collect();
        let first = drafts.first().map(|draft| &draft.values);
        match draft {
            Draft::Type => {
                self.type_draft = first.and_then(|values| text(values, "type"));
                self.type_basis = basis;
                Vec::new()
            }
            Draft::Explanation => {
                self.explanation_draft = first.and_then(|values| text(values, "explanation"));
                self.explanation_basis = basis;
                discard(&mut self.explanation_draft, &self.text).into_iter().collect()
            }
            Draft::Wrong => {
                let wrong = |drafted: &Drafted| WRONG.map(|field| text(&drafted.values, field));
                self.wrong_draft = drafts.iter().flat_map(wrong).flatten().collect();
                self.candidates_basis = basis;
                let explanation = self.explanation.as_deref().unwrap_or_default();
                let mut findings = check::wrong(explanation, &self.wrong_draft);
                for (text, number) in self.wrong_draft.iter().zip(1..) {
                    let found = check::unusable(&self.text, text);
                    findings.extend(found.map(|found| format!("number {number} {found}")));
                }
                findings
            }
            _ => Vec::new(),
        }
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
