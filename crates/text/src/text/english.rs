//! English rules of the text stages: the debris of English forums, and which posts ask.

use std::borrow::Cow;

use super::clean::client::strip_client_line;
use super::clean::{Rule, debris};

/// What a forum puts in place of a removed text.
const GONE: [&str; 4] = ["[removed]", "[deleted]", "[removed by moderator]", "[ removed by reddit ]"];

/// Title and text of a post as one: without placeholders of removed texts, without a repeated title, without invisible
/// characters, and without runs of spaces. Also returns the rule that changed something, if one did.
pub fn clean_post(title: &str, content: Option<&str>) -> (String, Option<&'static str>) {
    let title = tidy_lines(title);
    let content = content.map(tidy_lines).filter(|content| !content.is_empty());
    let Some(signed) = content else {
        let bare = strip_client_line(&title);
        return (bare.to_owned(), (bare != title).then_some(Rule::Signature.code()));
    };
    let content = strip_client_line(&signed);
    if content.is_empty() {
        return (title, Some(Rule::Signature.code()));
    }
    if GONE.iter().any(|placeholder| content.eq_ignore_ascii_case(placeholder)) {
        return (title, Some("placeholder"));
    }
    let bare = |text: &str| text.trim_end_matches(['.', '…', '?', '!']).to_lowercase();
    if title.is_empty() || bare(content).starts_with(&bare(&title)) {
        return (content.to_owned(), (!title.is_empty()).then_some("repeated"));
    }
    (format!("{title}\n{content}"), Some("joined"))
}

fn tidy_lines(text: &str) -> String {
    let text = debris::tidy(text);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Auxiliaries and forms of `be` that open a question without a question word.
const AUXILIARIES: [&str; 28] = [
    "am", "are", "is", "was", "were", "do", "does", "did", "have", "has", "had", "can", "could", "shall",
    "should", "will", "would", "may", "might", "must", "aren't", "isn't", "don't", "doesn't", "didn't",
    "can't", "won't", "wouldn't",
];
/// Auxiliaries that open a question before any subject; the others also open commands and wishes (`Have a nice day`).
const OPENING: [&str; 20] = [
    "do", "does", "did", "can", "could", "would", "should", "will", "is", "are", "was", "were", "has",
    "isn't", "aren't", "don't", "doesn't", "didn't", "can't", "won't",
];
/// Words that are no subject: `Do not …`, `Is what it is`.
const NO_SUBJECTS: [&str; 14] = [
    "not", "nothing", "do", "what", "be", "yourself", "me", "so", "no", "it's", "is", "are", "was", "contain",
];
/// Question words.
const WORDS: [&str; 11] =
    ["what", "who", "whom", "whose", "which", "when", "where", "why", "how", "what's", "why's"];
/// Question words with their verb.
const SHORT: [&str; 6] = ["what's", "who's", "where's", "how's", "why's", "when's"];
/// Subjects that follow an auxiliary in a question.
const SUBJECTS: [&str; 22] = [
    "i", "you", "he", "she", "it", "we", "they", "there", "this", "that", "these", "those", "the", "a", "an",
    "my", "your", "our", "their", "anyone", "anybody", "people",
];
/// Words with which a sentence goes on about somebody, after `who` and at the beginning of what is no answer.
const PRONOUNS: [&str; 19] = [
    "i", "you", "he", "she", "it", "we", "they", "the", "a", "an", "my", "your", "our", "his", "her",
    "their", "this", "that", "there",
];
/// Words that follow a question word in a question without an auxiliary.
const AFTER: [&str; 5] = ["if", "about", "come", "else", "to"];
/// What one asks for with `how`.
const MEASURES: [&str; 15] = [
    "long", "much", "many", "far", "old", "often", "heavy", "big", "fast", "hard", "tall", "deep", "high",
    "late", "early",
];
/// Prepositions before a question word.
const PREPOSITIONS: [&str; 13] =
    ["in", "at", "for", "to", "from", "of", "since", "with", "on", "by", "under", "up", "until"];
/// Words before a question or a task that are not part of it.
const LEADING: [&str; 17] = [
    "so",
    "but",
    "and",
    "well",
    "ok",
    "okay",
    "then",
    "or",
    "please",
    "anyway",
    "hey",
    "serious",
    "question",
    "seriously",
    "also",
    "now",
    "honestly",
];
/// Verbs that set a task.
const TASKS: [&str; 35] = [
    "name",
    "explain",
    "describe",
    "list",
    "prove",
    "write",
    "complete",
    "translate",
    "compare",
    "calculate",
    "find",
    "define",
    "suggest",
    "state",
    "rewrite",
    "choose",
    "guess",
    "summarise",
    "summarize",
    "convince",
    "divide",
    "draw",
    "solve",
    "show",
    "identify",
    "predict",
    "rank",
    "invent",
    "design",
    "count",
    "spell",
    "pick",
    "estimate",
    "justify",
    "answer",
];
/// Words with which the object of a task begins.
const OBJECTS: [&str; 37] = [
    "a", "an", "the", "this", "these", "my", "your", "our", "us", "why", "how", "what", "who", "which",
    "where", "when", "whether", "if", "all", "every", "any", "some", "as", "one", "two", "three", "four",
    "five", "six", "seven", "eight", "nine", "ten", "of", "without", "between", "me",
];
/// With these a question is answered, or was never meant.
const ANSWERS: [&str; 9] = ["because", "answer:", "answer", "a:", "yes", "no", "nope", "none", "nobody"];
/// Openings of jokes that ask nothing.
const ANNOUNCEMENTS: [&str; 4] =
    ["did you hear about", "have you heard about", "do you want to", "you want to hear"];
/// Beginnings of what a poster adds to a question that is meant.
const ADDITIONS: [&str; 8] = ["serious", "please", "asking", "thanks", "mine", "is", "any", "so"];
/// The most words of an answer that is the point of a joke.
const ANSWER_WORDS: usize = 6;

/// Whether a post in English asks, with the rule and the sentence that decided: a sentence outside of
/// quotation marks ends in a question mark, opens like a question, or sets a task. A question that the next sentence
/// answers does not count.
pub fn find_question(text: &str) -> (bool, &'static str, String) {
    let narration = remove_quotations(text);
    let sentences = split_sentences(&narration);
    let asking = |(at, (sentence, marked)): (usize, &(&str, bool))| {
        let rule = if *marked { Some("mark") } else { opening_rule(sentence) }?;
        Some((at, rule, (*sentence).to_owned()))
    };
    let Some((at, rule, sentence)) = sentences.iter().enumerate().rev().find_map(asking) else {
        let quoted = text.contains('?');
        return (false, if quoted { "quoted-question" } else { "no-cue" }, String::new());
    };
    let shown = sentence.chars().take(40).collect();
    let rest: Vec<&str> = sentences[at + 1..].iter().map(|(sentence, _)| *sentence).collect();
    if is_answered(&sentence, rule == "mark", &rest) {
        return (false, "self-answer", shown);
    }
    let rule = match rule {
        "mark" if rest.is_empty() => "final-mark",
        "mark" => "mark-within",
        rule => rule,
    };
    (true, rule, shown)
}

/// Whether what follows a question answers it: a word that answers, or, as in a joke, one short sentence that is about nobody.
fn is_answered(question: &str, marked: bool, rest: &[&str]) -> bool {
    let Some(next) = rest.first().map(|next| split_words(next)) else { return false };
    let Some(first) = next.first().map(String::as_str) else { return false };
    if !marked {
        return ANSWERS[..4].contains(&first);
    }
    let question = split_words(question);
    let beginning = question.iter().take(4).map(String::as_str).collect::<Vec<_>>().join(" ");
    let by_word = question.first().is_some_and(|word| WORDS.contains(&&**word) || SHORT.contains(&&**word));
    let goes_on =
        PRONOUNS.contains(&first) && !["the", "a", "an"].contains(&first) || ADDITIONS.contains(&first);
    ANSWERS.contains(&first)
        || ANNOUNCEMENTS.contains(&&*beginning)
        || by_word && rest.len() == 1 && next.len() <= ANSWER_WORDS && !goes_on
}

/// The text without quotations; an apostrophe does not open one.
fn remove_quotations(text: &str) -> Cow<'_, str> {
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
fn split_sentences(text: &str) -> Vec<(&str, bool)> {
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

/// The words of a sentence in small letters, without marks around them.
fn split_words(sentence: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches([',', ';', ':', '(', ')']).to_lowercase();
    let answer = |word: &str| if word.eq_ignore_ascii_case("a:") { "a:".to_owned() } else { bare(word) };
    sentence.split_whitespace().map(answer).filter(|word| !word.is_empty()).collect()
}

/// The rule by which a sentence without a mark asks; `None` for a statement.
fn opening_rule(sentence: &str) -> Option<&'static str> {
    let all = split_words(sentence);
    let words: Vec<&str> = all.iter().map(String::as_str).skip_while(|word| LEADING.contains(word)).collect();
    if sets_task(&words) {
        return Some("task");
    }
    // `Will, my brother, …` is no question.
    let names =
        words.len() == all.len() && sentence.split_whitespace().next().is_some_and(|w| w.ends_with(','));
    let asks = !names && opens_as_question(&words) || ends_as_question(sentence, &words);
    asks.then_some("question-word")
}

fn sets_task(words: &[&str]) -> bool {
    match words {
        ["give" | "tell" | "show", "me" | "us", object, ..] => words.len() > 3 && *object != "about",
        ["think", "of", _, ..] => true,
        ["imagine", object, _, ..] => ["you", "that", "a", "the"].contains(object),
        [verb, object, _, ..] => TASKS.contains(verb) && OBJECTS.contains(object),
        _ => false,
    }
}

fn opens_as_question(words: &[&str]) -> bool {
    let (first, second, third) = match words {
        [first, second, rest @ ..] => (*first, *second, rest.first().copied().unwrap_or_default()),
        _ => return false,
    };
    let soon = || words[2..].iter().take(3).any(|word| AUXILIARIES.contains(word));
    match first {
        // `Have a nice day.`
        "have" if ["a", "an", "the"].contains(&second) => false,
        _ if AUXILIARIES.contains(&first) && SUBJECTS.contains(&second) => true,
        _ if WORDS.contains(&first) && (AUXILIARIES.contains(&second) || AFTER.contains(&second)) => true,
        _ if OPENING.contains(&first) => !NO_SUBJECTS.contains(&second) && words.len() >= 4,
        _ if SHORT.contains(&first) => true,
        "how" => MEASURES.contains(&second) && soon(),
        "who" => !PRONOUNS.contains(&second) && words.len() >= 3,
        "which" | "what" => AUXILIARIES.contains(&third) || ["came", "comes", "one"].contains(&second),
        "anyone" | "anybody" => ["know", "else", "here"].contains(&second),
        _ => PREPOSITIONS.contains(&first) && ["which", "what", "whom"].contains(&second) && soon(),
    }
}

/// Whether a sentence ends in a question: a clause of it opens as one, or a question follows the premise of an `if`.
fn ends_as_question(sentence: &str, whole: &[&str]) -> bool {
    let later = sentence.split([',', ';', ':']).skip(1).any(|clause| {
        let all = split_words(clause);
        let words: Vec<&str> =
            all.iter().map(String::as_str).skip_while(|word| LEADING.contains(word)).collect();
        let [first, second, third, ..] = words.as_slice() else { return false };
        WORDS.contains(first) && AUXILIARIES.contains(second)
            || ["which", "what"].contains(first) && AUXILIARIES.contains(third)
            || AUXILIARIES.contains(first) && !["may", "have"].contains(first) && SUBJECTS.contains(second)
    });
    let asks_at = |at: usize| {
        let (before, word, next) = (whole[at - 1], whole[at], whole[at + 1]);
        let subject = ["i", "you", "we", "he", "she", "they", "it"].contains(&next);
        WORDS.contains(&word) && AUXILIARIES.contains(&next)
            || AUXILIARIES.contains(&word) && subject && !PRONOUNS.contains(&before)
    };
    later || whole.first() == Some(&"if") && (3..whole.len().saturating_sub(1)).any(asks_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_one_text() {
        assert_eq!(
            clean_post("Why  is it so?", Some("[removed]")),
            ("Why is it so?".into(), Some("placeholder"))
        );
        assert_eq!(
            clean_post("Why is it", Some("Why is it so?")),
            ("Why is it so?".into(), Some("repeated"))
        );
        assert_eq!(
            clean_post("A cat.", Some("It sleeps.\n\n")),
            ("A cat.\nIt sleeps.".into(), Some("joined"))
        );
        assert_eq!(clean_post("A cat.", None), ("A cat.".into(), None));
        assert_eq!(clean_post("A cat.", Some("Sent from my iPhone")), ("A cat.".into(), Some("signature")));
        assert_eq!(clean_post("A cat.\nSent from my iPad", None), ("A cat.".into(), Some("signature")));
        assert_eq!(clean_post("A cat.", Some("It sleeps.\nSent from my iPad")).0, "A cat.\nIt sleeps.");
    }

    #[test]
    fn invisible_characters_go() {
        let title = "\u{feff}Why does the\u{200b} bell\u{7}  ring \u{202e}twice\u{202c}?\0";
        assert_eq!(
            clean_post(title, Some("\u{2066}So.\u{2069}\u{ad}")).0,
            "Why does the bell ring twice?\nSo."
        );
        assert_eq!(clean_post("\u{200b}Why?", Some("Why?\u{200b}")).0, "Why?");
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
            ("Name a fruit that is never lonely.", true),
            ("do penguins have knees", true),
            ("how long is a short cut", true),
            ("If nobody is perfect, who am I", true),
            ("Have a nice day.", false),
            ("Name tags are how I remember my name.", false),
            ("What do you call a fake noodle? An impasta.", false),
            ("Did you hear about the restaurant on the moon? Great food, no atmosphere.", false),
            ("It's a \"cat", false),
        ] {
            assert_eq!(find_question(text).0, wanted, "{text}");
        }
    }
}
