//! The decisions of the offline stages on posts, by their settings: the rules of [`crate::text`] and the
//! joins of [`crate::join`] combined as in a run. No files and no tables: the program's stages, its line
//! filters and the Python package all call these.
//!
//! In the order of the stages: [`clean_post`], [`Anonymise`], [`filter_post`], [`dedup`]; [`settings`] configures
//! them.

mod anonymise;
mod clean;
pub mod dedup;
pub mod settings;

pub use anonymise::{Anonymise, Lists, MARKED};
pub use clean::{clean_post, rules_of};

use crate::text::filter::{Context, FilterSettings, filter as rules};
use crate::text::language::detect;
use crate::text::{english, interrogative};
use riddlemill_record::{Language, Outcome, Post, PostKind, Reason};

/// The language of a post: its own, else the one that the settings state, else that of its text.
fn language_of(post: &Post, stated: Option<Language>, text: impl FnOnce() -> String) -> Language {
    post.language.or(stated).unwrap_or_else(|| detect(&text()).language)
}

/// A stage's decision on one row, and the row if it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOutcome<T> {
    /// The kept row; `None` if it was dropped.
    pub row: Option<T>,
    /// The outcome's name in the ledger.
    pub outcome: &'static str,
    /// The code of the rule or reason.
    pub reason: Option<&'static str>,
    /// The evidence; never empty.
    pub evidence: Option<String>,
}

impl<T> From<Outcome<T>> for RowOutcome<T> {
    fn from(outcome: Outcome<T>) -> RowOutcome<T> {
        let (row, outcome, reason, evidence) = match outcome {
            Outcome::Kept(row) => (Some(row), "kept", None, None),
            Outcome::Changed { row, rule, evidence, .. } => {
                (Some(row), "changed", Some(rule), Some(evidence.into_text()))
            }
            Outcome::Dropped { reason, evidence } => (None, "dropped", Some(reason.code()), Some(evidence)),
            Outcome::Held { reason, evidence } => {
                (None, "held", Some(reason.code()), Some(evidence.into_text()))
            }
            Outcome::Failed { reason, evidence } => {
                (None, "failed", Some(reason.code()), Some(evidence.into_text()))
            }
            Outcome::Merged { reason, evidence, .. } => (None, "merged", Some(reason.code()), Some(evidence)),
            // Stages that take single rows neither split nor join them.
            Outcome::Expanded(_) | Outcome::Joined { .. } => (None, "failed", None, None),
        };
        RowOutcome { row, outcome, reason, evidence: evidence.filter(|evidence| !evidence.is_empty()) }
    }
}

/// How title and content of a single text are combined: by `kind` if given, else as a thread if it has a
/// title.
pub fn kind_of(kind: Option<&str>, titled: bool) -> PostKind {
    match (kind, titled) {
        (Some("numbered"), _) => PostKind::Numbered,
        (Some("thread"), _) | (None, true) => PostKind::Thread,
        _ => PostKind::Plain,
    }
}

/// Keeps a post or drops it with the rule it fails.
pub fn filter_post(post: Post, settings: &settings::Filter) -> Outcome<Post> {
    let language = language_of(&post, settings.language, || post.text.clone());
    let rules_on = FilterSettings {
        min_chars: settings.min_chars,
        max_chars: settings.max_chars,
        // The patterns of forum management are Chinese.
        management: settings.forum && language == Language::Zh,
        ..FilterSettings::default()
    };
    let context = Context { images: post.images as usize };
    if let Some((reason, evidence)) = rules(&post.text, &rules_on, context) {
        return Outcome::Dropped { reason, evidence };
    }
    if settings.questions
        && let Some(evidence) = no_question(&post.text, language)
    {
        return Outcome::Dropped { reason: Reason::NotAQuestion, evidence };
    }
    Outcome::Kept(post)
}

/// Whether a text asks by the rules of its language, with the rule and what decided.
pub fn asks_in(text: &str, language: Language) -> (bool, &'static str, String) {
    match language {
        Language::Zh => {
            let judged = interrogative::judge_text(text);
            (judged.is_question, judged.rule.code(), judged.evidence)
        }
        Language::En => english::find_question(text),
        Language::Und => interrogative::asks_by_mark(text),
    }
}

/// The rule by which a text does not ask, with what decided; `None` for a question.
fn no_question(text: &str, language: Language) -> Option<String> {
    let (asks, rule, fragment) = asks_in(text, language);
    match fragment.as_str() {
        _ if asks => None,
        "" => Some(rule.to_owned()),
        fragment => Some(format!("{rule}: {fragment}")),
    }
}

#[cfg(test)]
mod english_set;
