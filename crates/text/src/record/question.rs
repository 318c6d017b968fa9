//! A trick question on its way through drafts and reviews.

use super::PostKind;
use super::cell::record;
use super::post::from_post;

record! {
    /// A question of RuozhiBench-Gen. What a step drafts, what is decided on it, how sure that is and
    /// what it rests on stand side by side: `<step>_draft`, the field itself, `<step>_status`
    /// ([`super::Standing`]) and `<step>_basis` (`reply:<key>`, `sample:<key>`, `vote:<id>`).
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
        /// What the thread's owner notes under it.
        note: Option<String>,
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
        /// The question as it was posted, where people edited it at screening.
        original: Option<String>,
        /// How sure it is that the question can be told in English; null where nobody is asked.
        suitability_status: Option<String>,
        /// What that rests on.
        suitability_basis: Vec<String>,
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

from_post!(Question);

impl Question {
    /// The findings on one step's draft, without the step's name.
    pub fn flags_of(&self, step: &str) -> Vec<String> {
        super::flags_of(&self.flags, step)
    }
}
