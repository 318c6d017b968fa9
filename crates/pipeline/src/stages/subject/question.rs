//! The questions of RuozhiBench-Gen (Zhai et al., 2.2 and 2.3).

use super::{Annotatable, Decision, Drafted, Prompt, discard, list, noted, only, text};
use crate::stages::Review;
use crate::stages::draft::{Draft, SCREEN_REASONS, Slot, check};
use riddlemill_review::ballot::{Drafts, KEEP, Step};
use riddlemill_review::item::Content;
use riddlemill_review::{Item, Value, Values};
use riddlemill_text::record::{Post, Question, Standing};

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

    /// The question as far as it is decided, the step's draft, and what the self-checks found in it.
    fn items(&self, review: Review, step: &Step, _: u64) -> Vec<Item> {
        let mut content = Content::new();
        let mut show = |key: &str, text: Option<&str>| {
            if let Some(text) = text {
                content.insert(key.to_owned(), Value::from(text));
            }
        };
        let english = self.question_en.as_deref();
        match review {
            Review::Screen | Review::Suitability | Review::Translation => {
                show("question_zh", Some(&self.text))
            }
            Review::Irrationality => {
                show("question_en", english);
                show("question_zh", Some(&self.text));
            }
            _ => {
                show("question_en", english);
                show("question_zh", Some(&self.text));
                show("irrationality", self.irrationality.as_deref());
            }
        }
        show("note", self.note.as_deref());
        let drafts = step.drafts == Drafts::Shown;
        if drafts && review == Review::Screen && !self.screen_reasons.is_empty() {
            content.insert("draft_reasons".to_owned(), Value::List(self.screen_reasons.clone()));
        }
        let flags = self.flags_of(step.name);
        if drafts && !flags.is_empty() {
            content.insert("flags".to_owned(), Value::List(flags));
        }
        let mut item = Item::new(step, &self.id, content, draft(self, review));
        if review == Review::Category && !self.category_draft.is_empty() {
            item.ranked.insert("categories", self.category_draft.clone());
        }
        vec![item]
    }

    fn decided(
        &mut self,
        review: Review,
        decisions: &[Option<Decision>],
        standing: Standing,
        votes: Vec<String>,
    ) {
        let Some(Decision { values, .. }) = only(decisions) else { return };
        let (stands, basis) = match review {
            Review::Screen => {
                if let Some(text) = text(values, "question_zh").filter(|text| *text != self.text) {
                    self.original = Some(std::mem::replace(&mut self.text, text));
                }
                (&mut self.screen_status, &mut self.screen_basis)
            }
            Review::Suitability => (&mut self.suitability_status, &mut self.suitability_basis),
            Review::Translation => {
                self.question_en = text(values, "question_en");
                (&mut self.translation_status, &mut self.translation_basis)
            }
            Review::Irrationality => {
                self.irrationality = text(values, "irrationality");
                (&mut self.irrationality_status, &mut self.irrationality_basis)
            }
            Review::Category => {
                self.categories = list(values, "categories");
                self.categories.sort();
                (&mut self.category_status, &mut self.category_basis)
            }
            Review::Pair => {
                self.pair = text(values, "pair").filter(|_| values.text("pairing") != Some("none"));
                (&mut self.pair_status, &mut self.pair_basis)
            }
            _ => return,
        };
        *stands = Some(standing.code().to_owned());
        basis.extend(votes);
    }

    fn before(&self, review: Review) -> String {
        let drafted = match review {
            Review::Screen => return self.screen_draft.join("; "),
            Review::Category => return self.category_draft.join("; "),
            Review::Translation => &self.translation_draft,
            Review::Irrationality => &self.irrationality_draft,
            Review::Pair => &self.pair_draft,
            _ => &None,
        };
        drafted.clone().unwrap_or_default()
    }

    fn after(&self, review: Review) -> String {
        let decided = match review {
            Review::Screen if self.original.is_some() => return format!("{KEEP}: {}", self.text),
            Review::Screen | Review::Suitability => return KEEP.into(),
            Review::Category => return self.categories.join("; "),
            Review::Translation => &self.question_en,
            Review::Irrationality => &self.irrationality,
            Review::Pair => &self.pair,
            _ => &None,
        };
        decided.clone().unwrap_or_else(|| "none".into())
    }
}

/// The drafted answers; empty where nothing was drafted.
fn draft(question: &Question, review: Review) -> Values {
    let mut values = Values::new();
    let mut text = |field: &str, text: &Option<String>| {
        if let Some(text) = text {
            values.set(field, text.as_str());
        }
    };
    match review {
        Review::Screen => match question.screen_draft.as_slice() {
            [] => {}
            [keep] if keep == KEEP => values.set("screen", KEEP),
            against => values.set("screen", against.to_vec()),
        },
        Review::Translation => text("question_en", &question.translation_draft),
        Review::Irrationality => text("irrationality", &question.irrationality_draft),
        Review::Category if !question.category_draft.is_empty() => {
            let mut categories = question.category_draft.clone();
            categories.sort();
            values.set("categories", categories);
        }
        Review::Pair => {
            text("pair", &question.pair_draft);
            match (&question.pair_draft, question.pair_basis.is_empty()) {
                (Some(_), _) => values.set("pairing", "accept"),
                (None, false) => values.set("pairing", "none"),
                (None, true) => {}
            }
        }
        _ => {}
    }
    values
}
