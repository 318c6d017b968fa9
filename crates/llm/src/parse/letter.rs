//! The option that a reply chooses: by its letter, or by its own text. What a reply states last is its answer; an article, a part of
//! a word, and a list of all letters are no choice.

use serde_json::Value;

use super::denied::{is_denied, is_denied_first, speaks_of_exceptions};
use super::{Unreadable, narrow_forms, strip_fence};

/// What begins a line with the answer, before a colon.
pub(super) const LABELS: [&str; 20] = [
    "答案",
    "选项",
    "正确答案",
    "最终答案",
    "我的答案",
    "answer",
    "option",
    "choice",
    "final answer",
    "the answer",
    "the final answer",
    "the correct answer",
    "the right answer",
    "the best answer",
    "correct answer",
    "best answer",
    "my answer",
    "my final answer",
    "my choice",
    "final choice",
];

/// What stands before the answer in a sentence.
pub(super) const PHRASES: [&str; 14] = [
    "answer is",
    "answer's",
    "answer would be",
    "answer should be",
    "answer must be",
    "choice is",
    "choice would be",
    "option is",
    "option would be",
    "答案是",
    "答案为",
    "答案选",
    "答案应该是",
    "选项是",
];

/// Words of a clause that make what it says of the answer no statement.
pub(super) const DOUBTS: [&str; 9] =
    ["if", "whether", "suppose", "don't", "doubt", "如果", "假如", "是否", "不认为"];

/// What a reply says that gives no answer: a letter in it is none.
pub(super) const REFUSALS: [&str; 17] = [
    "refuse to",
    "refusing to",
    "decline to",
    "won't answer",
    "will not answer",
    "cannot answer",
    "can't answer",
    "can not answer",
    "unable to answer",
    "not able to answer",
    "not comfortable",
    "拒绝回答",
    "无法回答",
    "不能回答",
    "不便回答",
    "不会回答",
    "不想回答",
];

/// Words behind a letter that is no article: "A is right", "A because …".
pub(super) const BEHIND_LETTERS: [&str; 20] = [
    "or", "and", "nor", "but", "is", "isn't", "was", "wasn't", "are", "because", "since", "as", "would",
    "seems", "fits", "makes", "must", "has", "cannot", "can't",
];

/// Words between what states an answer and the letter.
pub(super) const BEFORE_LETTERS: [&str; 7] =
    ["option", "choice", "letter", "the letter", "选项", "选择", "选"];

/// The keys of an object that holds the answer.
pub(super) const KEYS: [&str; 5] = ["answer", "choice", "option", "答案", "选项"];

/// The one letter of a reply to "answer with A, B, C or D only" (FLUB, task 1): alone, or with brackets, a
/// full stop, a label such as `答案：`, or followed by its option's text.
///
/// # Errors
/// If there is no letter of `letters` that the reply does not deny, or it does not open with one and names several.
pub fn parse_letter(reply: &str, letters: &[char]) -> Result<char, Unreadable> {
    parse_option(reply, letters, &[])
}

/// The letter of the option that a reply chooses: also by the text of the option, which is looked for before a letter.
///
/// # Errors
/// As [`parse_letter`].
pub fn parse_option(reply: &str, letters: &[char], options: &[String]) -> Result<char, Unreadable> {
    let reply = narrow_forms(strip_fence(reply));
    let given = answer_in_object(&reply);
    let text = given.as_deref().unwrap_or(&reply).trim();
    let keys = options.iter().map(|option| bare(&narrow_forms(option))).collect();
    let shown = Shown { letters, options: keys };
    let found = shown.whole_answer(text).or_else(|| match shown.last_statement(text) {
        Some(stated) => stated,
        None => shown.opening_option(text).or_else(|| shown.opening_letter(text)).or_else(|| {
            let is_refused = REFUSALS.iter().any(|refusal| straight(text).contains(refusal));
            (!is_refused).then(|| only_letter(text, letters)).flatten()
        }),
    });
    let letters: Vec<String> = letters.iter().map(char::to_string).collect();
    let what = || Unreadable::new(format!("the answer must be exactly one of {}", letters.join(", ")));
    found.ok_or_else(what)
}

/// The answer in a JSON object, if the reply is one.
fn answer_in_object(reply: &str) -> Option<String> {
    let object: Value = serde_json::from_str(reply.trim()).ok()?;
    KEYS.iter().find_map(|key| Some(object.get(*key)?.as_str()?.to_owned()))
}

/// A text in lower case, with straight apostrophes.
fn straight(text: &str) -> String {
    text.replace('’', "'").to_lowercase()
}

/// Words in lower case, without the signs around them.
fn bare(text: &str) -> String {
    straight(text.trim_matches(is_sign))
}

fn is_sign(c: char) -> bool {
    c.is_whitespace() || "()[]{}【】「」“”‘’\"'*`.,:;?!。、_".contains(c)
}

/// Whether a character may be part of a word, so that a letter beside it is none.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '\'' || c == '’'
}

/// Whether a letter is a word of a sentence, by what stands behind it: "A 503 error", "A question like this", "b careful".
fn is_word(letter: char, behind: &str) -> bool {
    let Some(rest) = behind.strip_prefix(' ') else { return false };
    let may_be = matches!(letter, 'A' | 'I') || letter.is_ascii_lowercase();
    let next = rest.split(|c: char| !is_of_word(c)).next().unwrap_or_default().replace('’', "'");
    may_be
        && next.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && !BEHIND_LETTERS.contains(&next.as_str())
}

/// What a model was shown.
struct Shown<'l> {
    letters: &'l [char],
    /// Their texts as they are compared; empty if they are not known.
    options: Vec<String>,
}

impl Shown<'_> {
    /// The choice of a text that is nothing but a letter or an option.
    fn whole_answer(&self, text: &str) -> Option<char> {
        let text = bare(text);
        if text.is_empty() {
            return None;
        }
        let letter = self.letters.iter().find(|letter| text == letter.to_ascii_lowercase().to_string());
        let at = || self.options.iter().position(|option| *option == text);
        letter.or_else(|| self.letters.get(at()?)).copied()
    }

    /// The option with whose text a text begins, if that is a sentence or clause of its own.
    fn opening_option(&self, text: &str) -> Option<char> {
        let text = straight(text.trim_start_matches(is_sign));
        let begins = |line: &str, option: &str| {
            let behind = line.strip_prefix(option).filter(|_| option.chars().nth(1).is_some())?;
            let ends = behind.trim_start_matches(' ').starts_with(['(', '-', '–', '—'])
                || behind.chars().next().is_none_or(|next| is_sign(next) && next != ' ');
            ends.then_some(behind.len())
        };
        let begun = |line: &str| {
            let line = line.trim_start_matches(is_sign);
            let found =
                self.options.iter().enumerate().filter_map(|(at, option)| Some((at, begins(line, option)?)));
            found.min_by_key(|(_, behind)| *behind)
        };
        let (at, behind) = begun(&text)?;
        let behind = &text[text.len() - behind..];
        let listed = text.lines().filter_map(begun).map(|(at, _)| at);
        let gap = behind.len() - behind.trim_start_matches(|c: char| is_sign(c) || c == '/').len();
        let next = &behind[gap..];
        let next = next.strip_prefix("or ").or_else(|| next.strip_prefix("and ")).unwrap_or(next);
        let is_joined = !behind[..gap].contains(['.', '!', '。', '！', '\n'])
            && self.options.iter().any(|option| !option.is_empty() && next.starts_with(option.as_str()));
        let opens = !is_joined && !is_denied_first(behind) && !listed.eq(0..self.options.len());
        opens.then(|| self.letters.get(at)).flatten().copied()
    }

    /// The letter with which a text opens.
    fn opening_letter(&self, text: &str) -> Option<char> {
        let head = text.trim_start_matches(|c: char| c.is_whitespace() || "([{【「\"'*".contains(c));
        let first = head.chars().next()?;
        let letter = self.letters.iter().find(|letter| first.eq_ignore_ascii_case(letter))?;
        let behind = &head[first.len_utf8()..];
        let opens = !behind.starts_with(is_of_word)
            && !is_word(first, behind)
            && !is_denied_first(behind)
            // "A or B" and "A、B" choose nothing; an explanation that names another letter later is harmless.
            && !joined_to_another(behind, self.letters)
            && !self.are_listed(text);
        opens.then_some(*letter)
    }

    /// Whether lines begin with one letter after the other: the options, said again.
    fn are_listed(&self, text: &str) -> bool {
        let heads = text.lines().filter_map(|line| {
            let line = line.trim_start_matches(|c: char| c.is_whitespace() || "([{*-".contains(c));
            let first = line.chars().next()?;
            let is_alone = !line[first.len_utf8()..].starts_with(is_of_word);
            (is_alone && self.letters.contains(&first)).then_some(first)
        });
        self.letters.len() > 1 && heads.eq(self.letters.iter().copied())
    }

    /// What the last statement of the answer says; `None` without a statement, and `Some(None)` if it names none or several.
    fn last_statement(&self, text: &str) -> Option<Option<char>> {
        let mut last = None;
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let labelled = label_end(line).map(|rest| match rest.trim_matches(is_sign) {
                "" => lines[at + 1..].iter().find(|line| !line.trim_matches(is_sign).is_empty()).copied(),
                _ => Some(rest),
            });
            if let Some(Some(rest)) = labelled {
                last = Some(self.stated_choice(rest));
            }
            let lower = line.to_ascii_lowercase();
            let ends = |phrase: &str, rest: &str| !(phrase.is_ascii() && rest.starts_with(is_of_word));
            let mut places: Vec<(usize, usize)> = PHRASES
                .iter()
                .flat_map(|phrase| lower.match_indices(phrase).map(|(at, found)| (at, at + found.len())))
                .filter(|(from, to)| ends(&lower[*from..*to], &line[*to..]))
                .collect();
            places.sort_unstable();
            for (from, to) in places {
                let rest = &line[to..];
                let before = lower[..from].rsplit(['.', ',', ';', '!', '?', '，', '。', '；']).next();
                let before = straight(before.unwrap_or_default());
                let has_doubt = DOUBTS.iter().any(|doubt| before.contains(doubt));
                let end = rest.find(". ").map_or(rest.len(), |end| end + 1);
                let choice = self.stated_choice(&rest[..end]).or_else(|| self.stated_choice(rest));
                if !has_doubt && choice.is_some() {
                    last = Some(choice);
                }
            }
        }
        last
    }

    /// The choice in what follows a label or a phrase.
    fn stated_choice(&self, rest: &str) -> Option<char> {
        let mut rest = rest.trim_start_matches(is_sign);
        while let Some(word) = BEFORE_LETTERS.iter().find(|word| {
            let head = rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
            head && !(word.is_ascii() && rest[word.len()..].starts_with(is_of_word))
        }) {
            rest = rest[word.len()..].trim_start_matches(is_sign);
        }
        let found = self.whole_answer(rest).or_else(|| self.opening_option(rest));
        found.or_else(|| self.opening_letter(rest)).or_else(|| only_letter(rest, self.letters))
    }
}

/// What follows the label and the colon with which a line begins.
fn label_end(line: &str) -> Option<&str> {
    super::text_after_label(line, &LABELS)
}

/// Whether a text begins with a conjunction or separator and another letter.
fn joined_to_another(text: &str, letters: &[char]) -> bool {
    let text = text.trim_start();
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || "、,/&和或".contains(c));
    let rest = rest.strip_prefix("or ").or_else(|| rest.strip_prefix("and ")).unwrap_or(rest);
    let mut chars = rest.chars();
    rest.len() < text.len()
        && chars.next().is_some_and(|c| letters.contains(&c) && !is_word(c, chars.as_str()))
        && chars.next().is_none_or(|next| !next.is_ascii_alphanumeric())
}

/// The one letter that a text names and does not deny.
fn only_letter(text: &str, letters: &[char]) -> Option<char> {
    if speaks_of_exceptions(text) {
        return None;
    }
    let named = lone_letters(text, letters);
    let mut kept = Vec::new();
    // "A, B and D are wrong": letters that stand together are denied together.
    for group in named.chunk_by(|(before, _), (after, _)| is_list(&text[before + 1..*after])) {
        let (first, last) = (group.first()?.0, group.last()?.0);
        if !is_denied(text, first, last + 1) {
            kept.extend(group.iter().map(|(_, letter)| *letter));
        }
    }
    kept.dedup();
    match kept[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Whether a text between two letters only lists them.
fn is_list(between: &str) -> bool {
    let words = between.split(|c: char| c.is_whitespace() || "、,/&".contains(c));
    words
        .filter(|word| !word.is_empty())
        .all(|word| matches!(word, "or" | "and" | "nor" | "和" | "或" | "与" | "及"))
}

/// The letters of `letters` that are separate upper-case words in `text`, with their places.
fn lone_letters(text: &str, letters: &[char]) -> Vec<(usize, char)> {
    let alone = |at: usize, c: char| {
        let before = text[..at].chars().next_back();
        let after = &text[at + c.len_utf8()..];
        !before.is_some_and(is_of_word) && !after.starts_with(is_of_word) && !is_word(c, after)
    };
    text.char_indices().filter(|&(at, c)| letters.contains(&c) && alone(at, c)).collect()
}
