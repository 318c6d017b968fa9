//! A post as the rules see it: its narration in sentences, its quotations separately.

use std::borrow::Cow;
use std::ops::Range;

use super::operator::{self, Operator};
use super::scope::Scope;
use super::words::clause_after;
use super::words::{EMPTY_TAILS, PUZZLED, is_letter, is_sentence_break, starts_with_any};
use super::{QuestionKind, government, quotation};

/// A post, parsed. All offsets are bytes into `text`.
pub(super) struct Post<'a> {
    /// The post without the whitespace and quotation marks around it.
    pub(super) text: &'a str,
    /// The same with quotations overwritten; equally long.
    pub(super) masked: Cow<'a, str>,
    /// Quotation spans, delimiters included.
    pub(super) quotes: Vec<Range<usize>>,
    /// Sentences of the narration with content: no placeholders, none that are entirely quotation.
    pub(super) sentences: Vec<Sentence>,
}

/// The mark that ends a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentenceMark {
    /// A line break, `。`, or nothing.
    Plain,
    /// `！`.
    Exclamation,
    /// `？`, alone or among others.
    Question,
}

/// A sentence of the narration.
#[derive(Debug)]
pub(super) struct Sentence {
    /// Byte range, without its end mark.
    pub(super) span: Range<usize>,
    /// The mark that ends it.
    pub(super) mark: SentenceMark,
    /// The operators in it, in order.
    pub(super) operators: Vec<Operator>,
    /// Whether the text after it is spoken by somebody in the post.
    opens_speech: bool,
}

impl Sentence {
    /// Whether the sentence by itself asks: a mark, or an open operator.
    pub(super) fn is_asking(&self) -> bool {
        self.mark == SentenceMark::Question || self.operators.iter().any(Operator::is_open)
    }
}

impl<'a> Post<'a> {
    /// Parses a post.
    pub(super) fn parse_text(text: &'a str) -> Post<'a> {
        let quotes = quotation::find_quotations(text);
        let masked = quotation::mask_spans(text, &quotes);
        let sentences = split_sentences(&masked);
        Post { text, masked, quotes, sentences }
    }

    /// A sentence's own words, with quotations overwritten.
    pub(super) fn narration_of(&self, sentence: &Sentence) -> &str {
        &self.masked[sentence.span.clone()]
    }

    /// Every operator of the narration, in order.
    pub(super) fn operators(&self) -> impl Iterator<Item = &Operator> {
        self.sentences.iter().flat_map(|sentence| &sentence.operators)
    }

    /// The clause with an open operator of a strong kind, anywhere in the narration.
    pub(super) fn open_from(&self, kind: QuestionKind) -> Option<Range<usize>> {
        let sentence =
            self.sentences.iter().find(|s| s.operators.iter().any(|op| op.kind == kind && op.is_open()))?;
        Some(sentence.span.clone())
    }

    /// The sentence with an open operator of a weak kind in the last clause of the narration. A lament that
    /// ends in an exclamation mark does not count.
    pub(super) fn open_last(&self, wanted: impl Fn(QuestionKind) -> bool) -> Option<Range<usize>> {
        let last = self.sentences.last()?;
        let open = last.operators.iter().any(|op| {
            let clause_end = op.span.end + clause_after(&self.masked[op.span.end..last.span.end]).len();
            wanted(op.kind)
                && op.is_open()
                && !(matches!(op.kind, QuestionKind::How | QuestionKind::What)
                    && last.mark == SentenceMark::Exclamation)
                && !self.continues_after(clause_end)
        });
        open.then(|| last.span.clone())
    }

    /// Whether the last sentence ends in a full stop and there is no question mark anywhere: such a post
    /// states.
    pub(super) fn is_narrated(&self) -> bool {
        self.text.ends_with('。') && !self.text.contains(['?', '？'])
    }

    /// The narration after `at`.
    pub(super) fn narration_after(&self, at: usize) -> &str {
        self.masked[at..].trim_matches(|c: char| !is_letter(c))
    }

    /// Whether the narration continues after `at` with letters that are not a placeholder.
    pub(super) fn continues_after(&self, at: usize) -> bool {
        let rest = self.narration_after(at);
        rest.chars().any(is_letter) && !is_empty_tail(rest) && !starts_with_any(rest, PUZZLED)
    }
}

/// Whether a sentence has no content: a placeholder, a plea, or no letter at all.
fn is_empty_tail(sentence: &str) -> bool {
    sentence
        .split(|c: char| !is_letter(c))
        .filter(|word| !word.is_empty())
        .all(|word| EMPTY_TAILS.contains(&word))
}

fn split_sentences(masked: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = masked.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !ends_sentence(masked, at, c) {
            continue;
        }
        let mut mark = SentenceMark::Plain.combined_with(c);
        let mut end = at + c.len_utf8();
        while let Some((next, c)) = chars.next_if(|(_, c)| is_sentence_break(*c) || *c == '.' || *c == ' ') {
            mark = mark.combined_with(c);
            end = next + c.len_utf8();
        }
        push_sentence(&mut sentences, masked, start..at, mark);
        start = end;
    }
    push_sentence(&mut sentences, masked, start..masked.len(), SentenceMark::Plain);
    sentences
}

fn ends_sentence(masked: &str, at: usize, c: char) -> bool {
    let next = || masked[at + c.len_utf8()..].chars().next();
    match c {
        // In `tieba.baidu.com/f?kz=1` and `63.3?1.6` the mark does not ask.
        '?' => !next().is_some_and(|next| next.is_ascii_alphanumeric()),
        // `......` is an ellipsis, `3.14` is not.
        '.' => next() == Some('.'),
        _ => is_sentence_break(c),
    }
}

fn push_sentence(sentences: &mut Vec<Sentence>, masked: &str, span: Range<usize>, mark: SentenceMark) {
    let text = &masked[span.clone()];
    if text.trim_start().starts_with("http")
        || !text.chars().any(is_letter)
        || (mark != SentenceMark::Question && is_empty_tail(text))
    {
        // `……？` on a line of its own asks with the sentence before it.
        if mark == SentenceMark::Question
            && let Some(last) = sentences.last_mut()
            && masked[last.span.end..span.start].contains('\n')
            && text.trim().is_empty()
        {
            last.mark = SentenceMark::Question;
        }
        return;
    }
    let mut operators = operator::scan_operators(text, span.start);
    // `他大喝道：……` without quotation marks: the speech lasts to the end of the post.
    if sentences.last().is_some_and(|last: &Sentence| last.opens_speech) {
        operators.iter_mut().filter(|op| op.is_open()).for_each(|op| op.scope = Scope::Embedded);
    }
    let opens_speech =
        sentences.last().is_some_and(|last| last.opens_speech) || government::opens_speech(text);
    sentences.push(Sentence { operators, span, mark, opens_speech });
}

impl SentenceMark {
    /// The mark for a run of end marks: a question mark among them wins.
    fn combined_with(self, c: char) -> SentenceMark {
        match (self, c) {
            (SentenceMark::Question, _) | (_, '?' | '？') => SentenceMark::Question,
            (SentenceMark::Exclamation, _) | (_, '!' | '！') => SentenceMark::Exclamation,
            _ => SentenceMark::Plain,
        }
    }
}
