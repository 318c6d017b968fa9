//! The verdict on one post and the rule that decided it.

use std::ops::Range;

use super::post::{Mark, Post, Sentence};
use super::quotation::unwrap;
use super::rules::Rule;
use super::words::has_cue;

/// How much of a post is read, in characters. The rules look left and right of every cue in its sentence, so
/// their time grows faster than the text; a question that begins later is not found.
pub const READ_CHARS: usize = 2_000;
/// The longest evidence, in characters.
const EVIDENCE_CHARS: usize = 40;

/// Definitions of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Notion {
    /// By meaning: the poster wants the reader to answer, with a question mark or without. Used by the filter
    /// of questions.
    #[default]
    Sense,
    /// By form: the text ends in a question mark, rhetorical or not, or sets a task. FLUB's `is_question`.
    Form,
}

impl Notion {
    /// The stable name in `apply` output and reports.
    pub fn code(self) -> &'static str {
        match self {
            Notion::Sense => "sense",
            Notion::Form => "form",
        }
    }
}

/// Whether a post asks, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the poster asks the reader something.
    pub is_question: bool,
    /// The rule that decided; by form, possibly one that asks only by meaning.
    pub rule: Rule,
    /// The fragment of the post that decided, at most 40 characters; empty if nothing in the post suggests a
    /// question.
    pub evidence: String,
}

/// Decides whether `text` asks a question by sense. See [`judge_by`].
pub fn judge(text: &str) -> Judgement {
    judge_by(text, Notion::Sense)
}

/// Decides whether `text` is a question by the given definition.
///
/// Total: any string has a verdict. Whitespace around the text never changes it. Of a longer text the first
/// [`READ_CHARS`] characters are read.
///
/// ```
/// # use riddlemill_text::text::interrogative::{Notion, judge_by};
/// let asks = |text| [Notion::Sense, Notion::Form].map(|notion| judge_by(text, notion).is_question);
/// assert_eq!(asks("雨伞能报工伤吗？"), [true, true]);
/// assert_eq!(asks("剃了光头的蒲公英要怎么许愿"), [true, false]);
/// assert_eq!(asks("误入理发店的蒲公英问这里能许愿吗？"), [false, true]);
/// ```
pub fn judge_by(text: &str, notion: Notion) -> Judgement {
    let text = text.trim();
    let text = text.char_indices().nth(READ_CHARS).map_or(text, |(end, _)| &text[..end]);
    if !has_cue(text) {
        return Judgement { is_question: false, rule: Rule::NoCue, evidence: String::new() };
    }
    let post = Post::parse(unwrap(text.trim_end()));
    let (rule, span, is_question) = match notion {
        Notion::Sense => {
            let (rule, span) = Rule::first_match(&post);
            (rule, span, rule.asks())
        }
        Notion::Form => by_form(&post),
    };
    let evidence = post.text[span].trim().chars().take(EVIDENCE_CHARS).collect();
    Judgement { is_question, rule, evidence }
}

/// A mark at the end of the narration decides, whoever asks and whether or not an answer is wanted; without a
/// mark only a task asks.
fn by_form(post: &Post<'_>) -> (Rule, Range<usize>, bool) {
    let marked = |sentence: &Sentence| sentence.mark == Mark::Question;
    if let Some(last) = post.sentences.last().filter(|last| marked(last)) {
        return (Rule::FinalMark, last.span.clone(), true);
    }
    let (rule, span) = Rule::first_match(post);
    let formed = rule == Rule::Request || post.sentences.iter().any(marked);
    (rule, span, rule.asks() && formed)
}

/// Whether `text` asks a question by sense: the verdict of [`judge`] alone.
pub fn is_question(text: &str) -> bool {
    judge(text).is_question
}
