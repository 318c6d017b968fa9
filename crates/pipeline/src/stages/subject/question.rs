//! The questions of RuozhiBench-Gen (Zhai et al., 2.2 and 2.3).

use super::{Annotatable, Drafted, Prompt, discard, list, noted, text};
use crate::stages::draft::{Draft, SCREEN_REASONS, Slot, check};
use riddlemill_text::record::{Post, Question};

impl Annotatable for Question {
    fn of_post(post: Post) -> Option<Question> {
        Some(post.into())
    }

    /// Everything after the translation rests on the reviewed English.
    fn prompt(&self, draft: Draft, slot: &Slot) -> Option<Prompt> {
        let english = self.question_en.as_deref().unwrap_or_default();
        let analysis = self.irrationality.as_deref().unwrap_or_default();
        Some(match draft {
            Draft::Screen => Prompt::new("ruozhibench/screen", [("question", &self.text)]),
            Draft::Translation => Prompt::new("ruozhibench/translate", [("question", &self.text)]),
            Draft::Irrationality => {
                let question = noted(english, self.note.as_deref());
                let chinese = ("question_zh", self.text.as_str());
                Prompt::new("ruozhibench/irrationality", [("question", question.as_str()), chinese])
            }
            Draft::Category => {
                let chinese = ("question_zh", self.text.as_str());
                Prompt::new(
                    "ruozhibench/category",
                    [("question", english), ("irrationality", analysis), chinese],
                )
            }
            Draft::Pair => {
                Prompt::new("ruozhibench/pair", [("question", english), ("irrationality", analysis)])
            }
            Draft::Respond if slot.to_pair => {
                Prompt::new("ruozhibench/respond", [("question", self.pair.as_deref()?)])
            }
            Draft::Respond => {
                Prompt::new("ruozhibench/respond", [("question", self.question_en.as_deref()?)])
            }
            _ => return None,
        })
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        let [Drafted { values, basis, .. }] = drafts else { return Vec::new() };
        let basis = vec![basis.clone()];
        match draft {
            Draft::Screen => {
                self.screen_draft = list(values, "screen");
                self.screen_reasons = list(values, SCREEN_REASONS);
                self.screen_basis = basis;
                Vec::new()
            }
            Draft::Translation => {
                self.translation_draft = text(values, "question_en");
                self.translation_basis = basis;
                let unusable = discard(&mut self.translation_draft, &self.text);
                let english = self.translation_draft.as_deref();
                let lost = english.map(|english| check::translation(&self.text, english));
                unusable.into_iter().chain(lost.into_iter().flatten()).collect()
            }
            Draft::Irrationality => {
                self.irrationality_draft = text(values, "irrationality");
                self.irrationality_basis = basis;
                let english = self.question_en.clone().unwrap_or_default();
                let unusable = discard(&mut self.irrationality_draft, &english);
                let checked = self.irrationality_draft.as_deref().map(check::irrationality);
                unusable.into_iter().chain(checked.into_iter().flatten()).collect()
            }
            Draft::Category => {
                self.category_draft = list(values, "categories");
                self.category_basis = basis;
                check::category(&self.category_draft)
            }
            Draft::Pair => {
                self.pair_draft = text(values, "pair");
                self.pair_basis = basis;
                let english = self.question_en.clone().unwrap_or_default();
                let refusal = self.pair_draft.as_deref().and_then(|pair| check::unusable("", pair));
                if let Some(refusal) = refusal {
                    // That no pair fits was not said either.
                    (self.pair_draft, self.pair_basis) = (None, Vec::new());
                    return vec![refusal.to_owned()];
                }
                self.pair_draft.as_deref().map(|pair| check::pair(&english, pair)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
