//! English rules of the text stages: the debris of English forums, and which posts ask.

use std::borrow::Cow;

/// What a forum puts in place of a removed text.
const GONE: [&str; 4] = ["[removed]", "[deleted]", "[removed by moderator]", "[ removed by reddit ]"];

/// Title and text of a post as one: without placeholders of removed texts, without a repeated title, and
/// without runs of spaces. Also returns the rule that changed something, if one did.
pub fn clean(title: &str, content: Option<&str>) -> (String, Option<&'static str>) {
    let title = tidy(title);
    let Some(content) = content.map(tidy).filter(|content| !content.is_empty()) else {
        return (title, None);
    };
    if GONE.iter().any(|placeholder| content.eq_ignore_ascii_case(placeholder)) {
        return (title, Some("placeholder"));
    }
    let bare = |text: &str| text.trim_end_matches(['.', '…', '?', '!']).to_lowercase();
    if title.is_empty() || bare(&content).starts_with(&bare(&title)) {
        return (content, (!title.is_empty()).then_some("repeated"));
    }
    (format!("{title}\n{content}"), Some("joined"))
}

fn tidy(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Auxiliaries and forms of `be` that open a question without a question word.
const AUXILIARIES: [&str; 28] = [
    "am", "are", "is", "was", "were", "do", "does", "did", "have", "has", "had", "can", "could", "shall",
    "should", "will", "would", "may", "might", "must", "aren't", "isn't", "don't", "doesn't", "didn't",
    "can't", "won't", "wouldn't",
];
/// Question words.
const WORDS: [&str; 11] =
    ["what", "who", "whom", "whose", "which", "when", "where", "why", "how", "what's", "why's"];
/// Subjects that follow an auxiliary in a question.
const SUBJECTS: [&str; 22] = [
    "i", "you", "he", "she", "it", "we", "they", "there", "this", "that", "these", "those", "the", "a", "an",
    "my", "your", "our", "their", "anyone", "anybody", "people",
];
/// Words that follow a question word in a question without an auxiliary.
const AFTER: [&str; 5] = ["if", "about", "come", "else", "to"];

/// Whether a post in English asks, with the rule and the sentence that decided: a sentence outside of
/// quotation marks ends in a question mark, or opens like a question. A question that the next sentence
/// answers does not count.
pub fn asks(text: &str) -> (bool, &'static str, String) {
    let narration = unquoted(text);
    let sentences = sentences(&narration);
    let asking = |(at, (sentence, marked)): (usize, &(&str, bool))| {
        (*marked || opens_as_question(sentence)).then(|| (at, *marked, (*sentence).to_owned()))
    };
    let Some((at, marked, sentence)) = sentences.iter().enumerate().rev().find_map(asking) else {
        let quoted = text.contains('?');
        return (false, if quoted { "quoted-question" } else { "no-cue" }, String::new());
    };
    let shown = sentence.chars().take(40).collect();
    let next = sentences.get(at + 1).map(|(next, _)| first_words(next));
    if let Some([first, _]) = next
        && ["because", "answer:", "answer", "a:"].contains(&first.as_str())
    {
        return (false, "self-answer", shown);
    }
    let last = at + 1 == sentences.len();
    (
        true,
        if !marked {
            "question-word"
        } else if last {
            "final-mark"
        } else {
            "mark-within"
        },
        shown,
    )
}

/// The text without quotations; an apostrophe does not open one.
fn unquoted(text: &str) -> Cow<'_, str> {
    if !text.contains(['"', '“']) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut within = false;
    for c in text.chars() {
        match c {
            '“' => within = true,
            '”' => within = false,
            '"' => within = !within,
            _ if within => {}
            c => kept.push(c),
        }
    }
    // A mark that is never closed quotes nothing.
    if within { Cow::Borrowed(text) } else { Cow::Owned(kept) }
}

/// Sentences that contain a word, and whether each ends in a question mark.
fn sentences(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    for piece in text.split_inclusive(['.', '?', '!', '\n']) {
        let sentence = piece.trim_end_matches(['.', '?', '!', '\n', ' ']).trim();
        if sentence.chars().any(char::is_alphanumeric) {
            found.push((sentence, piece.trim_end().ends_with('?')));
        } else if piece.contains('?')
            && let Some(last) = found.last_mut()
        {
            // `Really!?`
            last.1 = true;
        }
    }
    found
}

fn first_words(sentence: &str) -> [String; 2] {
    let mut words = sentence.split_whitespace().map(|word| word.trim_matches(',').to_lowercase());
    [words.next().unwrap_or_default(), words.next().unwrap_or_default()]
}

fn opens_as_question(sentence: &str) -> bool {
    let [first, second] = first_words(sentence);
    let (first, second) = (first.as_str(), second.as_str());
    let asks_by_order = AUXILIARIES.contains(&first) && SUBJECTS.contains(&second);
    let asks_by_word = WORDS.contains(&first) && (AUXILIARIES.contains(&second) || AFTER.contains(&second));
    asks_by_order || asks_by_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_one_text() {
        assert_eq!(clean("Why  is it so?", Some("[removed]")), ("Why is it so?".into(), Some("placeholder")));
        assert_eq!(clean("Why is it", Some("Why is it so?")), ("Why is it so?".into(), Some("repeated")));
        assert_eq!(clean("A cat.", Some("It sleeps.\n\n")), ("A cat.\nIt sleeps.".into(), Some("joined")));
        assert_eq!(clean("A cat.", None), ("A cat.".into(), None));
    }

    #[test]
    fn marks_orders_and_words_ask() {
        for (text, wanted) in [
            ("If a cat sleeps all day, who feeds it?", true),
            ("how come nobody feeds the cat", true),
            ("What if the cat feeds us", true),
            ("Do you feed the cat", true),
            ("Can the cat swim? Mine does.", true),
            ("Why do cats sleep? Because they can.", false),
            ("\"Are you a cat?\" asked the dog.", false),
            ("What a cat.", false),
            ("How cats sleep is a riddle.", false),
            ("I know who feeds the cat.", false),
            ("Do not feed the cat.", false),
            ("It's a \"cat", false),
        ] {
            assert_eq!(asks(text).0, wanted, "{text}");
        }
    }
}
