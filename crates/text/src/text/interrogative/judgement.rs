//! The verdict on one post and the rule that gave it.

use super::post::Post;
use super::quotation::unwrap;
use super::rules::Rule;
use super::words::has_cue;

/// How much of a post is read, in characters. The rules look left and right of every cue in its sentence, so that
/// what they take grows faster than the text; a question that begins later is not found.
pub const READ_CHARS: usize = 2_000;
/// The longest evidence, in characters.
const EVIDENCE_CHARS: usize = 40;

/// Whether a post asks, and why that was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the poster asks the reader something.
    pub is_question: bool,
    /// The rule that decided.
    pub rule: Rule,
    /// The fragment of the post that decided, at most 40 characters; empty where nothing in the
    /// post suggests a question.
    pub evidence: String,
}

/// Decides whether `text` asks a question.
///
/// Total: any string has a verdict. Whitespace around the text never changes it. Of a longer text the first
/// [`READ_CHARS`] characters are read.
pub fn judge(text: &str) -> Judgement {
    let text = text.trim();
    let text = text.char_indices().nth(READ_CHARS).map_or(text, |(end, _)| &text[..end]);
    if !has_cue(text) {
        return Judgement { is_question: false, rule: Rule::NoCue, evidence: String::new() };
    }
    let post = Post::parse(unwrap(text.trim_end()));
    let (rule, span) = Rule::first_match(&post);
    let evidence = post.text[span].trim().chars().take(EVIDENCE_CHARS).collect();
    Judgement { is_question: rule.asks(), rule, evidence }
}

/// Whether `text` asks a question: the verdict of [`judge`] alone.
pub fn is_question(text: &str) -> bool {
    judge(text).is_question
}
