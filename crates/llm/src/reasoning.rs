//! A model's reasoning before its answer. It is kept in the raw reply and never read as the answer.

/// Marks around reasoning, as models write them into their answers.
const MARKS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
];

/// The start of the answer if channels are named (gpt-oss), and the end of a channel.
const FINAL: &str = "<|channel|>final<|message|>";
const CHANNEL: &str = "<|channel|>";
const ENDS: [&str; 3] = ["<|return|>", "<|end|>", "<|start|>"];

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
/// its start if the server has put that into the prompt.
pub(super) fn part(text: &str) -> Parted {
    let mut parted = Parted::default();
    let mut rest = match text.rfind(FINAL) {
        Some(at) => {
            parted.reasoning.push_str(text[..at].trim());
            let answer = &text[at + FINAL.len()..];
            &answer[..ENDS.iter().filter_map(|end| answer.find(end)).min().unwrap_or(answer.len())]
        }
        None if text.trim_start().starts_with(CHANNEL) => {
            parted.reasoning.push_str(text.trim());
            ""
        }
        None => text,
    };
    // Lower-casing ASCII letters keeps their length.
    let mut lower = rest.to_ascii_lowercase();
    while let Some((before, reasoning, after)) = next(&lower) {
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
        parted.answer = parted.answer.trim().to_owned();
    }
    parted
}

/// A model's text without its reasoning.
pub fn without_reasoning(text: &str) -> String {
    part(text).answer
}

/// The next block: where the text before it ends, the block's own text, and where the text after it begins.
fn next(text: &str) -> Option<(usize, std::ops::Range<usize>, usize)> {
    let block = |&(open, close): &(&str, &str)| {
        let opened = text.match_indices(open).map(|(at, _)| at).find(|&at| begins_a_line(&text[..at]));
        let closed = text.find(close);
        match (opened, closed) {
            (opened, Some(end)) if opened.is_none_or(|at| end < at) && !text[..end].contains(open) => {
                Some((0, 0..end, end + close.len()))
            }
            (Some(at), _) => {
                let start = at + open.len();
                let end = text[start..].find(close).map(|end| start + end);
                Some((at, start..end.unwrap_or(text.len()), end.map_or(text.len(), |end| end + close.len())))
            }
            _ => None,
        }
    };
    MARKS.iter().filter_map(block).min_by_key(|(before, ..)| *before)
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
        ] {
            let parted = part(text);
            assert_eq!((parted.answer.as_str(), parted.reasoning.as_str()), (answer, reasoning), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_panics(text in "(<think>|</think>|<thinking>|\n|[a鱼◁ ]){0,12}") {
            let parted = part(&text);
            let chars = |text: &str| text.chars().filter(|c| *c == '鱼').count();
            prop_assert_eq!(chars(&text), chars(&parted.answer) + chars(&parted.reasoning));
        }
    }
}
