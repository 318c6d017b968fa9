//! Drafts: what a model proposes for people to confirm or correct.
//!
//! One file a step. Each reads the reply into the answers of the step's ballot, and checks the draft
//! before a person's time is spent on it; what a prompt is made of and where the answers go is said in
//! [`super::subject`]. [`ask`] holds what all share.

mod ask;
mod category;
mod consent;
mod declared;
mod endpoints;
mod explanation;
mod flight;
mod irrationality;
mod judge;
mod kind;
mod opened;
mod opponent;
mod pair;
mod puzzle;
mod respond;
mod schema;
mod screen;
mod translation;
mod unusable;
mod wrong;

pub(super) use ask::{DraftOutcome, draft_outcome};
pub use ask::{
    LlmContext, Replied, Request, ask_endpoints, draft, evidence, no_endpoint, optional, papers_own, prompts,
    replies, requests,
};
pub(super) use consent::agreed;
pub use endpoints::{Slot, endpoints, is_skipped, is_unseen, named, sends, slots, wants_unseen};
pub use judge::{rated, rating_schema};
pub use opened::{open_damaged_store, open_store, refuse_lost_replies};
pub(super) use puzzle::{DISTRACTORS, OVERTURNED, PREMISES};
pub(super) use screen::REASONS as SCREEN_REASONS;

use super::subject::Subjects;
use riddlemill_llm::parse::Unreadable;
use riddlemill_review::Values;

/// Every draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// What speaks against a question (RuozhiBench 2.2).
    Screen,
    /// The question in English (2.3).
    Translation,
    /// What is irrational about it (2.3, figure 10).
    Irrationality,
    /// The three closest categories (2.3, figure 11).
    Category,
    /// The normal question next to it (2.3, figure 3).
    Pair,
    /// The type of a cunning text (FLUB 2.1, figure 2).
    Type,
    /// Its explanation (2.1).
    Explanation,
    /// Wrong answers to it, three a reply (2.1).
    Wrong,
    /// A model's explanation of a joke: what the person's is compared with (Chumor 3).
    Opponent,
    /// Whether a riddle is a lateral puzzle, and of which kind (BrainTeaser 3.1, 3.2).
    PuzzleKind,
    /// What a sentence puzzle makes one believe (3.3).
    Premises,
    /// Three wrong answers to it (3.3).
    Distractors,
    /// Three others, where people found none of those sensible.
    Again,
    /// The puzzle in other words (3.4).
    Semantic,
    /// The puzzle in another situation (3.4).
    Context,
    /// Three wrong answers to that, by the same process (3.4).
    ContextDistractors,
    /// Three others, where people found none of those sensible.
    ContextAgain,
    /// What a question is about (appendix A.1).
    Topic,
    /// A model's answer to a question and to its pair (RuozhiBench 3.1).
    Respond,
    /// A judge's rating of an answer (3.1, figures 12 and 13).
    Judge,
    /// What the folder of a benchmark declares.
    Declared(&'static riddlemill_benchmarks::draft::Draft),
}

impl Draft {
    /// Every draft of records that have a type in Rust.
    pub const ALL: [Draft; 20] = [
        Draft::Screen,
        Draft::Translation,
        Draft::Irrationality,
        Draft::Category,
        Draft::Pair,
        Draft::Type,
        Draft::Explanation,
        Draft::Wrong,
        Draft::Opponent,
        Draft::PuzzleKind,
        Draft::Premises,
        Draft::Distractors,
        Draft::Again,
        Draft::Semantic,
        Draft::Context,
        Draft::ContextDistractors,
        Draft::ContextAgain,
        Draft::Topic,
        Draft::Respond,
        Draft::Judge,
    ];

    /// The name of the step in flags and settings: that of the review that looks at it.
    pub fn name(self) -> &'static str {
        match self {
            Draft::Screen => "screen",
            Draft::Translation => "translation",
            Draft::Irrationality => "irrationality",
            Draft::Category => "category",
            Draft::Pair => "pair",
            Draft::Type => "type",
            Draft::Explanation => "explanation",
            Draft::Wrong => "wrong-candidates",
            Draft::Opponent => "opponents",
            Draft::PuzzleKind => "kind",
            Draft::Premises => "premises",
            Draft::Distractors => "distractors",
            Draft::Again => "again",
            Draft::Semantic => "semantic",
            Draft::Context => "context",
            Draft::ContextDistractors => "context-distractors",
            Draft::ContextAgain => "context-again",
            Draft::Topic => "topic",
            Draft::Respond => "respond",
            Draft::Judge => "judge",
            Draft::Declared(draft) => draft.called(),
        }
    }

    /// Whose fields it fills in, or whom it is asked about.
    pub fn subjects(self) -> Subjects {
        match self {
            Draft::Screen
            | Draft::Translation
            | Draft::Irrationality
            | Draft::Category
            | Draft::Pair
            | Draft::Respond => Subjects::Questions,
            Draft::Type | Draft::Explanation | Draft::Wrong => Subjects::Texts,
            Draft::Opponent => Subjects::Jokes,
            Draft::PuzzleKind
            | Draft::Premises
            | Draft::Distractors
            | Draft::Again
            | Draft::Semantic
            | Draft::Context
            | Draft::ContextDistractors
            | Draft::ContextAgain => Subjects::Puzzles,
            Draft::Topic => Subjects::Variants,
            Draft::Judge => Subjects::Responses,
            Draft::Declared(_) => Subjects::Declared,
        }
    }

    /// Its prompts.
    pub fn templates(self) -> &'static [&'static str] {
        match self {
            Draft::Screen => &["ruozhibench/screen"],
            Draft::Translation => &["ruozhibench/translate"],
            Draft::Irrationality => &["ruozhibench/irrationality"],
            Draft::Category => &["ruozhibench/category"],
            Draft::Pair => &["ruozhibench/pair"],
            Draft::Type => &["flub/type"],
            Draft::Explanation => &["flub/explanation"],
            Draft::Wrong => &["flub/wrong"],
            Draft::Opponent => &["chumor/explanation"],
            Draft::PuzzleKind => &["brainteaser/kind"],
            Draft::Premises => &["brainteaser/premises"],
            Draft::Distractors | Draft::Again | Draft::ContextDistractors | Draft::ContextAgain => {
                &["brainteaser/distractors_sentence", "brainteaser/distractors_word"]
            }
            Draft::Semantic => &["brainteaser/semantic"],
            Draft::Context => &["brainteaser/context", "brainteaser/context_word"],
            Draft::Topic => &["brainteaser/topic"],
            Draft::Respond => &["ruozhibench/respond"],
            Draft::Judge => &["ruozhibench/judge", "ruozhibench/judge_normal"],
            Draft::Declared(draft) => &draft.templates,
        }
    }

    /// Reads a reply as answers to the step's ballot, with remarks under names that no ballot has.
    ///
    /// # Errors
    /// [`Unreadable`] in words that can be put to the model.
    pub fn read(self, reply: &str) -> Result<Values, Unreadable> {
        match self {
            Draft::Screen => screen::read(reply),
            Draft::Translation => translation::read(reply),
            Draft::Irrationality => irrationality::read(reply),
            Draft::Category => category::read(reply),
            Draft::Pair => pair::read(reply),
            Draft::Type => kind::read(reply),
            Draft::Explanation => explanation::read(reply),
            Draft::Wrong => wrong::read(reply),
            Draft::Opponent => opponent::read(reply),
            Draft::PuzzleKind => puzzle::kind(reply),
            Draft::Premises => puzzle::premises(reply),
            Draft::Distractors | Draft::Again | Draft::ContextDistractors | Draft::ContextAgain => {
                puzzle::distractors(reply)
            }
            Draft::Semantic => puzzle::semantic(reply),
            Draft::Context => puzzle::context(reply),
            Draft::Topic => puzzle::topic(reply),
            Draft::Respond => respond::read(reply),
            Draft::Judge => judge::read(reply),
            Draft::Declared(draft) => declared::read(draft, reply),
        }
    }

    /// The answer that a ledger shows.
    fn shown(self, values: &Values) -> String {
        let declared: Vec<&str>;
        let fields: &[&str] = match self {
            Draft::Declared(draft) => {
                declared = draft.fields().collect();
                &declared
            }
            Draft::Screen => &["screen"],
            Draft::Translation => &["question_en"],
            Draft::Irrationality => &["irrationality"],
            Draft::Category => &["categories"],
            Draft::Pair => &["pair"],
            Draft::Type => &["type"],
            Draft::Explanation | Draft::Opponent => &["explanation"],
            Draft::Wrong => &["wrong_1", "wrong_2", "wrong_3"],
            Draft::PuzzleKind => &["kind"],
            Draft::Premises => &["premises"],
            Draft::Distractors | Draft::Again | Draft::ContextDistractors | Draft::ContextAgain => {
                &DISTRACTORS
            }
            Draft::Semantic => &["question"],
            Draft::Context => &["question", "answer", "premises"],
            Draft::Topic => &["topic"],
            Draft::Respond => &["text"],
            Draft::Judge => &["rating"],
        };
        let shown: Vec<String> =
            fields.iter().filter_map(|field| values.get(field)).map(ToString::to_string).collect();
        if shown.is_empty() { "none".into() } else { shown.join("; ") }
    }
}

/// The self-checks, by step.
pub(super) mod check {
    pub(in crate::stages) use super::category::check as category;
    pub(in crate::stages) use super::irrationality::check as irrationality;
    pub(in crate::stages) use super::opponent::check as opponent;
    pub(in crate::stages) use super::pair::check as pair;
    pub(in crate::stages) use super::translation::check as translation;
    pub(in crate::stages) use super::unusable::unusable;
    pub(in crate::stages) use super::wrong::check as wrong;
}
