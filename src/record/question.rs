//! A trick question on its way through drafts and reviews.

use super::cell::record;
use super::{Post, PostKind};

record! {
    /// A question of RuozhiBench-Gen. What a step drafts, what is decided on it, how sure that is and
    /// what it rests on stand side by side: `<step>_draft`, the field itself, `<step>_status`
    /// ([`Standing`]) and `<step>_basis` (`reply:<key>`, `sample:<key>`, `vote:<id>`).
    pub struct Question {
        /// The post's id.
        id: String,
        /// The question in Chinese.
        text: String,
        /// What part of a forum it was.
        kind: PostKind,
        /// The score its readers gave it.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// When it was written, as the source says.
        time: Option<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line or item in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
        /// The drafted decision: `keep` alone, or the codes of what speaks against the question.
        screen_draft: Vec<String>,
        /// The draft's reasons, `code: sentence`.
        screen_reasons: Vec<String>,
        /// How sure it is that the question stays.
        screen_status: Option<String>,
        /// What that rests on.
        screen_basis: Vec<String>,
        /// The drafted translation.
        translation_draft: Option<String>,
        /// The question in English.
        question_en: Option<String>,
        /// How sure the English question is.
        translation_status: Option<String>,
        /// What it rests on.
        translation_basis: Vec<String>,
        /// The drafted analysis.
        irrationality_draft: Option<String>,
        /// What is irrational about the question, in English.
        irrationality: Option<String>,
        /// How sure the analysis is.
        irrationality_status: Option<String>,
        /// What it rests on.
        irrationality_basis: Vec<String>,
        /// The three closest categories by priority, `1` to `6`.
        category_draft: Vec<String>,
        /// The final set of categories, ascending.
        categories: Vec<String>,
        /// How sure the set is.
        category_status: Option<String>,
        /// What it rests on.
        category_basis: Vec<String>,
        /// The drafted normal question; null where the draft says that none fits.
        pair_draft: Option<String>,
        /// The normal question; null where none fits or nobody decided.
        pair: Option<String>,
        /// How sure the pair, or that there is none, is; null where nobody decided.
        pair_status: Option<String>,
        /// What it rests on.
        pair_basis: Vec<String>,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

/// How sure a reviewed field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// People said so.
    Confirmed,
    /// A draft says so, and people have not looked at it yet.
    Provisional,
    /// It takes a sample's votes to say so.
    Synthetic,
}

impl Standing {
    /// The word in rows.
    pub fn code(self) -> &'static str {
        match self {
            Standing::Confirmed => "confirmed",
            Standing::Provisional => "provisional",
            Standing::Synthetic => "synthetic",
        }
    }
}

impl From<Post> for Question {
    fn from(post: Post) -> Question {
        Question {
            id: post.id,
            text: post.text,
            kind: post.kind,
            score: post.score,
            number: post.number,
            time: post.time,
            source: post.source,
            file: post.file,
            position: post.position,
            licence: post.licence,
            ..Question::default()
        }
    }
}

impl Question {
    /// The findings on one step's draft, without the step's name.
    pub fn flags_of(&self, step: &str) -> Vec<String> {
        let finding = |flag: &String| flag.strip_prefix(step)?.strip_prefix(": ").map(str::to_owned);
        self.flags.iter().filter_map(finding).collect()
    }

    /// Replaces the findings on one step's draft.
    pub fn set_flags(&mut self, step: &str, findings: impl IntoIterator<Item = String>) {
        self.flags.retain(|flag| !flag.strip_prefix(step).is_some_and(|rest| rest.starts_with(": ")));
        self.flags.extend(findings.into_iter().map(|finding| format!("{step}: {finding}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_replaced_step_by_step() {
        let mut question = Question::default();
        question.set_flags("translation", ["the number 3 is lost".to_owned()]);
        question.set_flags("pair", ["equals its question".to_owned()]);
        question.set_flags("translation", ["is no question".to_owned()]);
        assert_eq!(question.flags, ["pair: equals its question", "translation: is no question"]);
        assert_eq!(question.flags_of("pair"), ["equals its question"]);
    }
}
