//! A model's reasoning before its answer, and the marks around its turn. They are kept in the raw reply and
//! never read as the answer.

use riddlemill_text::text::clean::debris;

use super::settings::ReplyMarks;

/// Marks around reasoning, as models write them into their answers, in lower case.
const MARKS: [(&str, &str); 25] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<antthinking>", "</antthinking>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("◁think▷", "◁/think▷"),
    // Magistral.
    ("[think]", "[/think]"),
    ("[thinking]", "[/thinking]"),
    ("[reasoning]", "[/reasoning]"),
    // Gemma and MedGemma.
    ("<unused94>", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
    // Command A.
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|begin_of_thinking|>", "<|end_of_thinking|>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<|think|>", "<|/think|>"),
    ("<|think_start|>", "<|think_end|>"),
    ("<|thought|>", "<|/thought|>"),
    ("<|reasoning|>", "<|/reasoning|>"),
    ("【思考】", "【/思考】"),
];

/// Sentences before reasoning and before the answer, at the start of a reply, in lower case (Granite).
const SENTENCES: [([&str; 2], [&str; 2]); 1] = [(
    ["here is my thought process:", "here's my thought process:"],
    ["here is my response:", "here's my response:"],
)];

/// Marks around an answer that follows reasoning.
const WRAPS: [(&str, &str); 4] = [
    ("<answer>", "</answer>"),
    ("<response>", "</response>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<|start_response|>", "<|end_response|>"),
];

/// Marks that begin a model's turn: not part of its answer if a server leaves them at its start.
const BEGINS: [&str; 6] = [
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<start_of_turn>model",
    "<|start|>assistant",
    "<|assistant|>",
    "<bos>",
];

/// Marks that end a model's turn: what a model writes behind one is no part of its answer.
const TURNS: [&str; 16] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end_of_turn_token|>",
    "<|end_of_turn|>",
    "<|eot|>",
    "<|eom|>",
    "<|eos|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
    "<turn|>",
    "[|endofturn|]",
    "<｜end▁of▁sentence｜>",
];

/// Ends that are marks at the very end only, because texts may be about them.
const ENDINGS: [&str; 5] = ["</s>", "<eos>", "[eos]", "<eoa>", "[/inst]"];

/// Most bytes of an unknown special token, `<|…|>`, at the end of an answer.
const TOKEN: usize = 40;

/// The start of the answer if channels are named (gpt-oss), and the end of a channel.
const FINAL: &str = "<|channel|>final<|message|>";
const CHANNEL: &str = "<|channel|>";
const ENDS: [&str; 3] = ["<|return|>", "<|end|>", "<|start|>"];
/// The same where a server removed the marks and left the names.
const BARE: (&str, &str) = ("analysis", "assistantfinal");

/// The marks by which reasoning and turns are told from answers, by what they are for: programs beside this one read by the same.
pub fn reasoning_marks() -> Vec<(&'static str, Vec<Vec<&'static str>>)> {
    let pairs = |marks: &[(&'static str, &'static str)]| -> Vec<Vec<&'static str>> {
        marks.iter().map(|(open, close)| vec![*open, *close]).collect()
    };
    let [(opens, closes)] = SENTENCES;
    vec![
        ("reasoning", pairs(&MARKS)),
        ("wraps", pairs(&WRAPS)),
        ("sentences", vec![opens.to_vec(), closes.to_vec()]),
        ("channels", vec![vec![FINAL, CHANNEL], ENDS.to_vec(), vec![BARE.0, BARE.1]]),
        ("turns", vec![BEGINS.to_vec(), TURNS.to_vec(), ENDINGS.to_vec()]),
    ]
}

/// An answer, separated from its reasoning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parted {
    /// The answer without reasoning.
    pub answer: String,
    /// The reasoning; empty if there is none.
    pub reasoning: String,
}

/// Separates reasoning from an answer. Reasoning starts at the beginning of a line, so that a joke about
/// `<think>` stays whole; it may come in several blocks, without its end if the text was cut off, and without
/// its start if the server has put that into the prompt. Marks of the turn's start and end are left out.
/// `more` are marks of this endpoint's model.
pub(super) fn separate_reasoning(text: &str, more: &ReplyMarks) -> Parted {
    let mut parted = Parted::default();
    // Lower-casing ASCII letters keeps their length.
    let lower = text.to_ascii_lowercase();
    let start = lower.len() - lower.trim_start().len();
    let said = find_between_sentences(&lower, start);
    // Most replies have no mark, and 70 searches for one are a third of what a reply from the store costs.
    if said.is_none() && !may_have_marks(text, more) {
        return Parted { answer: text.to_owned(), reasoning: String::new() };
    }
    let mut rest = match (text.rfind(FINAL), said) {
        (Some(at), _) => {
            parted.reasoning.push_str(text[..at].trim());
            let answer = &text[at + FINAL.len()..];
            &answer[..ENDS.iter().filter_map(|end| answer.find(end)).min().unwrap_or(answer.len())]
        }
        (None, Some((reasoning, answer))) => {
            parted.reasoning.push_str(text[reasoning].trim());
            &text[answer..]
        }
        (None, None) if text.trim_start().starts_with(CHANNEL) => {
            parted.reasoning.push_str(text.trim());
            ""
        }
        (None, None) => text,
    };
    let mut lower = rest.to_ascii_lowercase();
    while let Some((before, reasoning, after)) = next_block(&lower, more) {
        if !parted.reasoning.is_empty() {
            parted.reasoning.push_str("\n\n");
        }
        parted.reasoning.push_str(rest[reasoning].trim());
        parted.answer.push_str(&rest[..before]);
        rest = &rest[after..];
        lower = lower[after..].to_owned();
    }
    parted.answer.push_str(rest);
    if !parted.reasoning.is_empty() {
        parted.answer = unwrap_answer(parted.answer.trim()).to_owned();
    }
    if let Some(turn) = of_turn(&parted.answer, more) {
        parted.answer = turn.to_owned();
    }
    parted
}

/// Whether a text has a character that begins a mark. An endpoint's own marks may begin with any.
fn may_have_marks(text: &str, more: &ReplyMarks) -> bool {
    text.contains(['<', '[', '◁', '【']) || !more.reasoning.is_empty() || !more.end.is_empty()
}

/// Reasoning between sentences: the range of its text, and where the answer begins.
fn find_between_sentences(lower: &str, start: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let (bare, answer) = BARE;
    if lower[start..].starts_with(bare)
        && let Some(at) = lower.find(answer)
    {
        return Some((start + bare.len()..at, at + answer.len()));
    }
    SENTENCES.iter().find_map(|(opens, closes)| {
        let open = opens
            .iter()
            .find(|open| lower[start..].trim_start_matches(['*', '#', ' ']).starts_with(**open))?;
        let begin = start + lower[start..].find(open)? + open.len();
        let close =
            closes.iter().filter_map(|close| Some((begin + lower[begin..].find(close)?, close.len())));
        Some(match close.min() {
            Some((at, length)) => (begin..at, at + length),
            // Without its answer, as if cut off.
            None => (begin..lower.len(), lower.len()),
        })
    })
}

/// An answer without the marks around it.
fn unwrap_answer(answer: &str) -> &str {
    let lower = answer.to_ascii_lowercase();
    let wrap = WRAPS.iter().find(|(open, _)| lower.starts_with(open));
    let Some((open, close)) = wrap else { return answer };
    let end = lower.rfind(close).unwrap_or(lower.len());
    // Words behind the answer are part of what it says.
    if lower[end..].len() > close.len() { answer } else { answer[open.len()..end.max(open.len())].trim() }
}

/// The answer without marks of its turn; `None` if it has none.
fn of_turn<'a>(answer: &'a str, more: &ReplyMarks) -> Option<&'a str> {
    // Every mark has one of these.
    if !answer.contains(['<', '[']) && more.end.is_empty() {
        return None;
    }
    let lower = answer.to_ascii_lowercase();
    let begun = lower.trim_start();
    let mut from = lower.len() - begun.len();
    if let Some(begin) = BEGINS.iter().find(|begin| begun.starts_with(**begin)) {
        from += begin.len();
    } else {
        from = 0;
    }
    let ends =
        TURNS.iter().copied().map(str::to_owned).chain(more.end.iter().map(|end| end.to_ascii_lowercase()));
    let end = ends.filter(|end| !end.is_empty()).filter_map(|end| lower[from..].find(&end)).min();
    let mut to = end.map_or(lower.len(), |at| from + at);
    loop {
        let kept = lower[from..to].trim_end();
        let ending = ENDINGS.iter().find(|ending| kept.ends_with(**ending)).map(|ending| ending.len());
        match ending.or_else(|| special_token(kept)) {
            Some(length) => to = from + kept.len() - length,
            None => break,
        }
    }
    (from > 0 || to < lower.len()).then(|| answer[from..to].trim())
}

/// The length of a special token, `<|…|>` or `<｜…｜>`, at the end of a text.
fn special_token(text: &str) -> Option<usize> {
    let (open, close) =
        [("<|", "|>"), ("<｜", "｜>")].into_iter().find(|(_, close)| text.ends_with(close))?;
    let inner = &text[..text.len() - close.len()];
    let at = inner.rfind(open)?;
    let name = &inner[at + open.len()..];
    let is_name = !name.is_empty() && name.len() <= TOKEN && !name.contains(char::is_whitespace);
    is_name.then(|| text.len() - at)
}

/// A model's text without its reasoning, and without characters that nobody sees.
pub fn without_reasoning(text: &str) -> String {
    debris::without_noise(&separate_reasoning(text, &ReplyMarks::default()).answer).into_owned()
}

/// The next block: where the text before it ends, the block's own text, and where the text after it begins.
fn next_block(text: &str, more: &ReplyMarks) -> Option<(usize, std::ops::Range<usize>, usize)> {
    let block = |(open, close): (&str, &str)| {
        let opened = text.match_indices(open).map(|(at, _)| at).find(|&at| begins_a_line(&text[..at]));
        let closed = text.find(close);
        match (opened, closed) {
            (opened, Some(end)) if opened.is_none_or(|at| end < at) && !text[..end].contains(open) => {
                Some((0, 0..end, end + close.len()))
            }
            (Some(at), _) => {
                let start = at + open.len();
                let end = text[start..].find(close).map(|end| start + end);
                // A word in brackets may begin any sentence.
                if end.is_none() && !open.starts_with(['<', '◁']) && open != "[think]" {
                    return None;
                }
                Some((at, start..end.unwrap_or(text.len()), end.map_or(text.len(), |end| end + close.len())))
            }
            _ => None,
        }
    };
    let own: Vec<[String; 2]> = more
        .reasoning
        .iter()
        .map(|(open, close)| [open, close].map(|mark| mark.to_ascii_lowercase()))
        .collect();
    let own = own.iter().filter(|[open, close]| !open.is_empty() && !close.is_empty());
    let own = own.map(|[open, close]| (open.as_str(), close.as_str()));
    MARKS.into_iter().chain(own).filter_map(block).min_by_key(|(before, ..)| *before)
}

fn begins_a_line(before: &str) -> bool {
    before.trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|last| last == '\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reasoning_is_parted_wherever_it_comes() {
        for (text, answer, reasoning) in [
            ("<think>It could be 1 2 3…</think>5 2 3", "5 2 3", "It could be 1 2 3…"),
            ("\n<think>\na\n</think>\n\nTen.", "Ten.", "a"),
            ("<THINK>a</think>b", "b", "a"),
            ("<think></think>\n\nb", "\n\nb", ""),
            ("<think>a</think><think>b</think>c", "c", "a\n\nb"),
            ("<think>a</think>c\n<think>b</think>d", "c\nd", "a\n\nb"),
            ("<think>cut", "", "cut"),
            ("begun in the prompt</think>b", "b", "begun in the prompt"),
            ("<think>a<think>b</think>c</think>d", "d", "a<think>b\n\nc"),
            ("◁think▷嗯◁/think▷好", "好", "嗯"),
            ("<thinking>a</thinking>\nb", "b", "a"),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                "b",
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant",
            ),
            ("<|channel|>analysis<|message|>a", "", "<|channel|>analysis<|message|>a"),
            ("A browser that reads <think> stops.", "A browser that reads <think> stops.", ""),
            ("Why does <think>ing</think> hurt?", "Why does <think>ing</think> hurt?", ""),
            ("plain ", "plain ", ""),
            ("[THINK]Maybe A. Hmm, B.[/THINK]C", "C", "Maybe A. Hmm, B."),
            ("<unused94>thought\nKeep it.<unused95>Ten.", "Ten.", "thought\nKeep it."),
            ("<|channel>thought\na<channel|>b", "b", "a"),
            ("Here is my thought process:\na\n\nHere is my response:\nb", "b", "a"),
            ("Here's my thought process: a Here's my response: b", "b", "a"),
            ("Here is my thought process: cut", "", "cut"),
            ("analysisWe need a letter.assistantfinalC", "C", "We need a letter."),
            ("<think>a</think>\n<answer>\nb\n</answer>", "b", "a"),
            ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b", "a"),
            ("Ten.<|im_end|>", "Ten.", ""),
            ("Ten.<|im_end|>\n<|im_start|>user\nAnd now?", "Ten.", ""),
            ("<|im_start|>assistant\nTen.<|im_end|>\n", "Ten.", ""),
            ("Ten.<end_of_turn>\n", "Ten.", ""),
            ("Ten.</s>", "Ten.", ""),
            ("Ten.<｜end▁of▁sentence｜>", "Ten.", ""),
            ("Ten.<|some_token|>", "Ten.", ""),
            ("Why does <s>this</s> cross itself out?", "Why does <s>this</s> cross itself out?", ""),
            ("[Thinking] of you, I fell asleep.", "[Thinking] of you, I fell asleep.", ""),
        ] {
            let parted = separate_reasoning(text, &ReplyMarks::default());
            assert_eq!((parted.answer.as_str(), parted.reasoning.as_str()), (answer, reasoning), "{text}");
        }
    }

    #[test]
    fn settings_add_marks() {
        let marks = ReplyMarks {
            reasoning: [("<Plan>", "</Plan>"), ("", "")].map(|(a, b)| (a.into(), b.into())).into(),
            end: vec!["~END~".into()],
        };
        let parted = separate_reasoning("<plan>a</plan>b ~end~ c", &marks);
        assert_eq!((parted.answer.as_str(), parted.reasoning.as_str()), ("b", "a"));
        assert_eq!(separate_reasoning("<plan>a</plan>b", &ReplyMarks::default()).answer, "<plan>a</plan>b");
    }

    #[test]
    fn every_mark_begins_with_a_character_that_is_looked_for() {
        let pairs = MARKS.iter().chain(&WRAPS).flat_map(|(open, close)| [*open, *close]);
        let marks = pairs.chain(TURNS).chain(BEGINS).chain(ENDINGS).chain(ENDS).chain([FINAL, CHANNEL]);
        for mark in marks {
            assert!(may_have_marks(mark, &ReplyMarks::default()), "{mark}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_panics(text in "(<think>|</think>|<thinking>|\n|[a鱼◁ ]){0,12}") {
            let parted = separate_reasoning(&text, &ReplyMarks::default());
            let chars = |text: &str| text.chars().filter(|c| *c == '鱼').count();
            prop_assert_eq!(chars(&text), chars(&parted.answer) + chars(&parted.reasoning));
        }
    }
}
