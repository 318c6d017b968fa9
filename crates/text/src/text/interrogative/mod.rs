//! Whether a post asks a question.
//!
//! The benchmarks separate questions from statements, and question marks are not enough for that: half of the
//! posts that ask have none, and many that have one quote somebody else's question, answer themselves, or use
//! it as an exclamation. [`judge_text`] therefore reads a post in steps, one file each:
//!
//! 1. `quotation` finds what the poster quotes. Quotations are spoken by somebody in the post, not by the
//!    poster, and are masked.
//! 2. `post` splits the rest, the narration, at punctuation.
//! 3. `operator` finds words that can make a sentence a question (`吗`, `是不是`, `为什么`, `谁` …), `scope` decides
//!    whether they do so in their context (`谁都可以` asks nothing), and `government` whether a verb or reported
//!    speech governs them (`我忘了谁来过`).
//! 4. `rules` are tried in order; the first that matches decides. Each states what it looks for, why, its
//!    known problems and an example that is a test.
//!
//! There are two definitions of a question, [`Notion::Sense`] and [`Notion::Form`]: the poster wants an
//! answer, or the text ends in a question mark.
//!
//! Everything works on characters and short word lists. Posts without any cue, most of them, are decided
//! after one pass over their characters. jieba is used where a list would have to enumerate other words:
//! whether a question word is part of another word (`哪吒`, `认为何方`), and whether the text after a question
//! opens with a verb or an adverb.

mod government;
mod operator;
mod post;
mod quotation;
mod rules;
mod scope;
mod words;

pub use rules::{Example, Rule};

use std::ops::Range;

use post::{Post, Sentence, SentenceMark};
use quotation::unwrap_quotation;
use words::has_cue;

/// How a sentence asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuestionKind {
    /// `吗`, `么` at the end of a clause, `难道`.
    Polar,
    /// `是不是`, `有没有`, `能否`, `…了没`.
    ANotA,
    /// `A还是B`.
    Alternative,
    /// `为什么`, `凭什么`, `为何`.
    Why,
    /// `怎么办`, `怎么回事`, `如何是好`: the poster is at a loss.
    Help,
    /// `怎么`, `如何`, `咋`.
    How,
    /// `什么`, `啥`, `干嘛`.
    What,
    /// `谁`, `哪`, `何时`, `多少`, `第几`.
    Which,
}

impl QuestionKind {
    /// Whether an operator of this kind has to be a separate word, not part of another.
    fn is_word(self) -> bool {
        !matches!(self, QuestionKind::ANotA | QuestionKind::Alternative)
    }

    /// Whether the answer to an operator of this kind is a phrase: `谁？小明。` `怎么` asks for a reason as often as
    /// for a way and is excluded.
    fn wants_phrase(self, word: &str) -> bool {
        match self {
            QuestionKind::What | QuestionKind::Which | QuestionKind::Help => true,
            QuestionKind::How => matches!(word, "如何" | "怎样" | "怎么样"),
            _ => false,
        }
    }
}

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
pub fn judge_text(text: &str) -> Judgement {
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
    let post = Post::parse_text(unwrap_quotation(text.trim_end()));
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
    let marked = |sentence: &Sentence| sentence.mark == SentenceMark::Question;
    if let Some(last) = post.sentences.last().filter(|last| marked(last)) {
        return (Rule::FinalMark, last.span.clone(), true);
    }
    let (rule, span) = Rule::first_match(post);
    let formed = rule == Rule::Request || post.sentences.iter().any(marked);
    (rule, span, rule.asks() && formed)
}

/// Whether `text` asks a question by sense: the verdict of [`judge_text`] alone.
pub fn is_question(text: &str) -> bool {
    judge_text(text).is_question
}

/// Question marks of any script: Latin and Chinese, Arabic, Armenian, Ethiopic and two of the past.
const QUESTION_MARKS: [char; 7] = ['?', '？', '؟', '՞', '፧', '⁇', '\u{2e2e}'];

/// Whether a text asks, with the rule and the sentence that decided: one of its sentences ends in a question mark. The
/// Spanish mark before a sentence is not needed, and the Greek one is also a semicolon.
///
/// Which texts ask in a language that no other rules know: by their question marks alone.
pub fn asks_by_mark(text: &str) -> (bool, &'static str, String) {
    let Some(at) = text.rfind(QUESTION_MARKS) else { return (false, "no-cue", String::new()) };
    let before = text[..at].trim_end_matches(QUESTION_MARKS);
    let start = before.rfind(['.', '!', '。', '！', '\n']).map_or(0, |end| end + 1);
    let sentence = text[start..at].trim_matches(|c: char| !c.is_alphanumeric());
    if sentence.is_empty() {
        return (false, "no-cue", String::new());
    }
    let rule = if text[at..].chars().any(char::is_alphanumeric) { "mark-within" } else { "final-mark" };
    (true, rule, sentence.chars().take(40).collect())
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod mark_tests {
    use super::asks_by_mark;

    #[test]
    fn marks_of_any_script_ask() {
        assert_eq!(asks_by_mark("Warum schlafen Katzen?").1, "final-mark");
        assert_eq!(asks_by_mark("لماذا لا ينام الليل؟").1, "final-mark");
        assert_eq!(asks_by_mark("¿Por qué? No lo sé.").1, "mark-within");
        for text in ["Katzen schlafen.", "?", "…？！", ""] {
            assert!(!asks_by_mark(text).0, "{text}");
        }
    }
}
