//! The jokes of Chumor (He et al., 2 and 3).

use super::{Annotatable, Drafted, Prompt, noted, text};
use crate::stages::draft::{Draft, Slot, check};
use riddlemill_text::record::{Joke, Post};

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
}
