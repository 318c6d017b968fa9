//! The cunning texts of FLUB (Li et al., 2.1).

use super::{Annotatable, Decision, Drafted, Prompt, discard, list, noted, only, text};
use crate::stages::Review;
use crate::stages::draft::{Draft, Slot, check};
use riddlemill_review::ballot::Step;
use riddlemill_review::item::Content;
use riddlemill_review::{Item, Value, Values};
use riddlemill_text::record::{CunningText, Post, Standing};
use riddlemill_text::text::interrogative;

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

    fn items(&self, review: Review, step: &Step, _: u64) -> Vec<Item> {
        let mut content = Content::from([("text".to_owned(), Value::from(self.text.as_str()))]);
        content.extend(self.note.as_deref().map(|note| ("note".to_owned(), Value::from(note))));
        if review == Review::Wrong {
            let explanation = self.explanation.as_deref().unwrap_or_default();
            content.insert("explanation".to_owned(), Value::from(explanation));
            content.insert("candidates".to_owned(), Value::List(self.candidates.clone()));
        }
        if review == Review::Final {
            let shown = [("type", &self.cunning_type), ("explanation", &self.explanation)];
            let shown = shown.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?)));
            let wrong = WRONG.into_iter().zip(&self.wrong).map(|(key, text)| (key.to_owned(), text.as_str()));
            content.extend(shown.chain(wrong).map(|(key, text)| (key, Value::from(text))));
        }
        let mut item = Item::new(step, &self.id, content, draft(self, review));
        // What is a wrong answer says something else than the right one, which its writers do not see.
        if matches!(review, Review::WrongCandidates | Review::Final) {
            item.apart.extend(self.explanation.clone());
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
        let Some(Decision { values, given }) = only(decisions) else { return };
        let (stands, basis) = match review {
            Review::Clean => {
                self.is_question = values.text("is_question").map(|answer| answer == "yes");
                if let Some(text) = text(values, "text").filter(|text| *text != self.text) {
                    self.original = Some(std::mem::replace(&mut self.text, text));
                }
                (&mut self.clean_status, &mut self.clean_basis)
            }
            Review::Type => {
                self.cunning_type = text(values, "type");
                (&mut self.type_status, &mut self.type_basis)
            }
            Review::Explanation => {
                self.explanation = text(values, "explanation");
                (&mut self.explanation_status, &mut self.explanation_basis)
            }
            Review::WrongCandidates => {
                self.candidates = match given.as_slice() {
                    [] => self.wrong_draft.clone(),
                    given => {
                        given.iter().flat_map(|one| WRONG.map(|field| text(one, field))).flatten().collect()
                    }
                };
                (&mut self.candidates_status, &mut self.candidates_basis)
            }
            Review::Wrong => {
                let place =
                    |number: &String| self.candidates.get(number.parse::<usize>().ok()?.checked_sub(1)?);
                self.wrong = list(values, "wrong").iter().filter_map(place).cloned().collect();
                (&mut self.wrong_status, &mut self.wrong_basis)
            }
            Review::Final => {
                if let Some(code) = text(values, "type") {
                    self.cunning_type = Some(code);
                }
                if let Some(explanation) = text(values, "explanation") {
                    self.explanation = Some(explanation);
                }
                for (wrong, field) in self.wrong.iter_mut().zip(WRONG) {
                    if let Some(text) = text(values, field) {
                        *wrong = text;
                    }
                }
                (&mut self.final_status, &mut self.final_basis)
            }
            _ => return,
        };
        *stands = Some(standing.code().to_owned());
        basis.extend(votes);
    }

    fn before(&self, review: Review) -> String {
        let drafted = match review {
            Review::Clean => return self.text.clone(),
            Review::WrongCandidates => return self.wrong_draft.join("\n"),
            Review::Final => return finished(self),
            Review::Type => &self.type_draft,
            Review::Explanation => &self.explanation_draft,
            _ => &None,
        };
        drafted.clone().unwrap_or_default()
    }

    fn after(&self, review: Review) -> String {
        let decided = match review {
            Review::Clean => return self.text.clone(),
            Review::WrongCandidates => return self.candidates.join("\n"),
            Review::Wrong => return self.wrong.join("\n"),
            Review::Final => return finished(self),
            Review::Type => &self.cunning_type,
            Review::Explanation => &self.explanation,
            _ => &None,
        };
        decided.clone().unwrap_or_else(|| "none".into())
    }
}

/// Type, explanation and wrong answers, a line each.
fn finished(text: &CunningText) -> String {
    let right = [&text.cunning_type, &text.explanation].into_iter().flatten();
    right.chain(&text.wrong).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The drafted answers; empty where nothing was drafted. Of a text as it was posted that is the text
/// itself and whether rules take it for a question.
fn draft(text: &CunningText, review: Review) -> Values {
    let mut values = Values::new();
    match review {
        Review::Clean => {
            let asks = interrogative::judge(&text.text).is_question;
            values.set("text", text.text.as_str());
            values.set("is_question", if asks { "yes" } else { "no" });
        }
        Review::Type => {
            if let Some(code) = &text.type_draft {
                values.set("type", code.as_str());
            }
        }
        Review::Explanation => {
            if let Some(explanation) = &text.explanation_draft {
                values.set("explanation", explanation.as_str());
            }
        }
        // Every third one is the first of its reply.
        Review::WrongCandidates if !text.wrong_draft.is_empty() => {
            for (at, field) in WRONG.into_iter().enumerate() {
                let of_field = text.wrong_draft.iter().skip(at).step_by(WRONG.len());
                values.set(field, of_field.cloned().collect::<Vec<_>>());
            }
        }
        _ => {}
    }
    values
}
