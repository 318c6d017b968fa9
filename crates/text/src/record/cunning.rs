//! A cunning text on its way through FLUB's drafts and reviews.

use super::PostKind;
use super::cell::record;
use super::post::from_post;

record! {
    /// A text of FLUB (Li et al., 2.1). As in a [`super::Question`], what a step drafts, what is decided,
    /// how sure that is and what it rests on stand side by side.
    pub struct CunningText {
        /// The post's id.
        id: String,
        /// The text as one complete sentence, as people left it.
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
        /// What the post said, where people rewrote it.
        original: Option<String>,
        /// Whether it asks, as people said.
        is_question: Option<bool>,
        /// How sure it is that the text stays, and so.
        clean_status: Option<String>,
        /// What that rests on.
        clean_basis: Vec<String>,
        /// The drafted type.
        type_draft: Option<String>,
        /// The code of the main type; `undefined` where none of the eight fits.
        cunning_type: Option<String>,
        /// How sure it is.
        type_status: Option<String>,
        /// What it rests on.
        type_basis: Vec<String>,
        /// The drafted explanation.
        explanation_draft: Option<String>,
        /// The correct explanation.
        explanation: Option<String>,
        /// How sure it is.
        explanation_status: Option<String>,
        /// What it rests on.
        explanation_basis: Vec<String>,
        /// Drafted wrong answers, three from each reply.
        wrong_draft: Vec<String>,
        /// The wrong answers to choose from, three from each of three people, or the drafted ones.
        candidates: Vec<String>,
        /// How sure they are; `provisional` where a model wrote them.
        candidates_status: Option<String>,
        /// What they rest on.
        candidates_basis: Vec<String>,
        /// The three wrong answers that a senior picked.
        wrong: Vec<String>,
        /// How sure they are.
        wrong_status: Option<String>,
        /// What they rest on.
        wrong_basis: Vec<String>,
        /// How sure it is that whoever read the finished row agreed with it; null where nobody is asked.
        final_status: Option<String>,
        /// What that rests on.
        final_basis: Vec<String>,
        /// The explanation and the wrong answers in the order of A to D.
        options: Vec<String>,
        /// The place of the explanation among them, from 0.
        answer: Option<u64>,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

from_post!(CunningText);
