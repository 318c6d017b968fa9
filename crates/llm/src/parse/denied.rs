//! What a reply denies: "not A", "A 不对", "A, B and D are wrong" name letters that are no answer.

/// Ends of the text before a choice that deny it, in lower case.
pub(super) const BEFORE: [&str; 32] = [
    "not",
    "cannot",
    "n't",
    "never",
    "neither",
    "nor",
    "no",
    "instead of",
    "rather than",
    "unlike",
    "rule out",
    "rules out",
    "ruled out",
    "ruling out",
    "eliminate",
    "eliminated",
    "eliminating",
    "exclude",
    "excluded",
    "excluding",
    "reject",
    "dismiss",
    "不选",
    "不选择",
    "不是",
    "不会是",
    "不属于",
    "不算",
    "并非",
    "而非",
    "排除",
    "别选",
];

/// Starts of the text behind a choice that deny it.
pub(super) const BEHIND: [&str; 47] = [
    "is not",
    "isn't",
    "is wrong",
    "is incorrect",
    "is false",
    "is out",
    "is ruled out",
    "is also wrong",
    "was wrong",
    "are not",
    "aren't",
    "are wrong",
    "are incorrect",
    "are false",
    "are out",
    "are all wrong",
    "are both wrong",
    "can be ruled out",
    "can be excluded",
    "can be eliminated",
    "does not",
    "doesn't",
    "do not",
    "don't",
    "cannot",
    "can't",
    "不是",
    "不对",
    "不会",
    "不合",
    "不能",
    "不符",
    "不行",
    "不够",
    "不成立",
    "不正确",
    "不准确",
    "不恰当",
    "都不",
    "均不",
    "也不",
    "并不",
    "错",
    "都错",
    "是错",
    "有误",
    "排除",
];

/// The same behind a letter that opens the reply, where the text of its option may follow: "A 不是鸡蛋" answers A.
pub(super) const BEHIND_FIRST: [&str; 20] = [
    "is not",
    "isn't",
    "is wrong",
    "is incorrect",
    "is false",
    "is out",
    "is ruled out",
    "can be ruled out",
    "can be excluded",
    "can be eliminated",
    "cannot",
    "can't",
    "doesn't",
    "不对",
    "不正确",
    "不选",
    "不合适",
    "是错",
    "错了",
    "有误",
];

/// What stands between a denial and the choice, or between the choice and a denial, and changes nothing.
pub(super) const FILLERS: [&str; 10] =
    ["be", "the", "option", "options", "answer", "choice", "letter", "选项", "答案", "选"];

/// Words that turn a denial of all others into a choice, or the other way round: nothing is read beside them.
pub(super) const TURNS: [&str; 7] =
    ["除了", "除非", "anything but", "everything but", "except", "unless", "none other than"];

/// Whether a reply speaks of an exception, so that which choice it denies cannot be told from the words beside it.
pub(super) fn speaks_of_exceptions(reply: &str) -> bool {
    let lower = reply.to_lowercase();
    TURNS.iter().any(|turn| lower.contains(turn))
}

/// Whether the choice between these places of a text is denied.
pub(super) fn is_denied(text: &str, from: usize, to: usize) -> bool {
    // "Not a pun" denies a name; in "not A" the article is a letter.
    let articles: &[&str] = if text[from..to].chars().nth(1).is_some() { &["a", "an"] } else { &[] };
    denies_before(&text[..from], articles) || denies_behind(&text[to..], &BEHIND)
}

/// Whether the letter that opens a reply is denied or doubted at once: "A 不对", "A - no", "A? No, B".
pub(super) fn is_denied_first(behind: &str) -> bool {
    let behind = behind.trim_start_matches([')', ']', '*', '"', '\'']);
    denies_behind(behind, &BEHIND_FIRST)
}

fn denies_before(text: &str, articles: &[&str]) -> bool {
    let mut rest = text.replace('’', "'").to_lowercase();
    loop {
        let kept = rest.trim_end_matches(|c: char| c.is_whitespace() || "([{【「“\"*'".contains(c)).len();
        rest.truncate(kept);
        if BEFORE.iter().any(|denial| ends_with_word(&rest, denial)) {
            return true;
        }
        match FILLERS.iter().chain(articles).find(|filler| ends_with_word(&rest, filler)) {
            Some(filler) => rest.truncate(rest.len() - filler.len()),
            None => return false,
        }
    }
}

fn denies_behind(text: &str, denials: &[&str]) -> bool {
    let head: String = text.chars().take(48).collect::<String>().replace('’', "'").to_lowercase();
    let words = head.trim_start_matches(|c: char| c.is_whitespace() || ")]}】」”\"*'".contains(c));
    let words = words.strip_prefix("选项").unwrap_or(words);
    // What is asked is not said.
    if words.starts_with('?') || denials.iter().any(|denial| starts_with_word(words, denial)) {
        return true;
    }
    // "A - no", "A: wrong", with nothing behind it: the text of an option may begin with such a word.
    let said = words.trim_start_matches(|c: char| c.is_whitespace() || "-–—:".contains(c));
    let ends = |rest: &str| !rest.trim_start().starts_with(char::is_alphanumeric);
    said.len() < words.len()
        && ["no", "wrong", "incorrect", "false", "不对", "不正确", "错", "错误", "✗", "×", "❌"]
            .iter()
            .any(|denial| said.strip_prefix(denial).is_some_and(ends))
}

/// Whether a text ends with a word or, in Chinese, with characters. "n't" is the end of a word.
fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(before) = text.strip_suffix(word) else { return false };
    !word.is_ascii() || word == "n't" || !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '\'')
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let Some(behind) = text.strip_prefix(word) else { return false };
    !word.is_ascii() || !behind.starts_with(|c: char| c.is_ascii_alphanumeric())
}
