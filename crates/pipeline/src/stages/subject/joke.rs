//! The jokes of Chumor (He et al., 2 and 3).

use super::{Annotatable, Decision, Drafted, Prompt, noted, only, text, votes_of};
use crate::stages::Review;
use crate::stages::draft::{Draft, Slot, check};
use riddlemill_review::ballot::{KEEP, Step};
use riddlemill_review::item::Content;
use riddlemill_review::{Item, Value, Values};
use riddlemill_text::record::{Joke, Post, Standing, derived};

impl Annotatable for Joke {
    fn of_post(post: Post) -> Option<Joke> {
        Some(post.into())
    }

    fn prompt(&self, draft: Draft, _: &Slot) -> Option<Prompt> {
        let joke = noted(&self.text, self.note.as_deref());
        (draft == Draft::Opponent).then(|| Prompt::new("chumor/explanation", [("joke", &joke)]))
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        if draft != Draft::Opponent {
            return Vec::new();
        }
        self.opponents = drafts.iter().map(|draft| draft.slot.model.clone()).collect();
        self.opponent_basis = drafts.iter().map(|draft| draft.basis.clone()).collect();
        self.opponent_explanations =
            drafts.iter().map(|draft| text(&draft.values, "explanation").unwrap_or_default()).collect();
        let pairs = self.opponents.iter().zip(&self.opponent_explanations);
        let found = |(model, explanation): (&String, &String)| match check::unusable(&self.text, explanation)
        {
            Some(unusable) => vec![format!("{model}: {unusable}")],
            None => check::opponent(model, explanation),
        };
        pairs.flat_map(found).collect()
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }

    /// One item, or one an opponent where explanations are compared or judged.
    fn items(&self, review: Review, step: &Step, seed: u64) -> Vec<Item> {
        let content = || {
            let mut content = Content::from([("joke".to_owned(), Value::from(self.text.as_str()))]);
            content.extend(self.note.as_deref().map(|note| ("note".to_owned(), Value::from(note))));
            content
        };
        let explanation = self.explanation.clone().unwrap_or_default();
        let opponents = self.opponents.iter().zip(&self.opponent_explanations);
        match review {
            Review::Preference => {
                let pair = |(model, theirs): (&String, &String)| {
                    let sides = [("human", explanation.clone()), ("llm", theirs.clone())];
                    let mut item =
                        Item::paired(step, against(self, model), content(), "explanation", sides, seed);
                    if step.not_by.is_some() {
                        item.written_in = votes_of(&self.explanation_basis);
                    }
                    item
                };
                opponents.map(pair).collect()
            }
            Review::Errors => {
                let judged = |(model, theirs): (&String, &String)| {
                    let mut content = content();
                    content.insert("reference".to_owned(), Value::from(explanation.as_str()));
                    content.insert("explanation".to_owned(), Value::from(theirs.as_str()));
                    Item::new(step, against(self, model), content, Values::new())
                };
                opponents.map(judged).collect()
            }
            _ => vec![Item::new(step, &self.id, content(), Values::new())],
        }
    }

    fn decided(
        &mut self,
        review: Review,
        decisions: &[Option<Decision>],
        standing: Standing,
        votes: Vec<String>,
    ) {
        let (stands, basis) = match review {
            Review::JokeScreen => (&mut self.screen_status, &mut self.screen_basis),
            Review::JokeExplanation => {
                self.explanation = only(decisions).and_then(|decision| text(&decision.values, "explanation"));
                (&mut self.explanation_status, &mut self.explanation_basis)
            }
            Review::Preference => {
                let code = |values: &Values| text(values, "preference");
                let votes = |decision: &Decision| {
                    decision.given.iter().filter_map(code).collect::<Vec<_>>().join(" ")
                };
                self.votes = each(decisions, votes);
                self.verdicts = each(decisions, |decision| code(&decision.values).unwrap_or_default());
                (&mut self.preference_status, &mut self.preference_basis)
            }
            Review::Errors => {
                self.errors = each(decisions, |decision| super::list(&decision.values, "errors").join(" "));
                (&mut self.errors_status, &mut self.errors_basis)
            }
            _ => return,
        };
        *stands = Some(standing.code().to_owned());
        basis.extend(votes);
    }

    fn before(&self, _: Review) -> String {
        String::new()
    }

    fn after(&self, review: Review) -> String {
        match review {
            Review::JokeScreen => KEEP.into(),
            Review::JokeExplanation => self.explanation.clone().unwrap_or_default(),
            Review::Preference => {
                let pairs = self.opponents.iter().zip(&self.verdicts);
                pairs.map(|(model, verdict)| format!("{model}: {verdict}")).collect::<Vec<_>>().join("; ")
            }
            _ => self.errors.join("; "),
        }
    }
}

/// The name of what is voted on where the joke's explanation stands against a model's.
fn against(joke: &Joke, model: &str) -> String {
    derived("against", &[&joke.id, model])
}

/// What was decided on each opponent; empty where nothing was.
fn each(decisions: &[Option<Decision>], what: impl Fn(&Decision) -> String) -> Vec<String> {
    decisions.iter().map(|decision| decision.as_ref().map(&what).unwrap_or_default()).collect()
}
