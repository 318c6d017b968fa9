//! Word lists and the small string tests that all steps share.

use super::quotation::is_filler;

/// Whether anything in `text` could make it a question. One pass, no allocation; most posts have no cue and
/// are statements.
pub(super) fn has_cue(text: &str) -> bool {
    let (mut two_back, mut back) = ('\0', '\0');
    for c in text.chars() {
        let cue = match c {
            '?' | '？' | '吗' | '谁' | '哪' | '几' | '何' | '咋' | '啥' | '怎' | '岂' | '述' | '呢'
            | '请' => true,
            '么' => !matches!(back, '这' | '那' | '多' | '要'),
            '少' => back == '多',
            '大' | '高' | '长' | '久' | '远' | '深' | '宽' | '厚' | '快' => back == '多',
            '否' => matches!(back, '是' | '能' | '可' | '会'),
            '是' => back == '还',
            '道' => back == '难',
            '问' | '教' => back == '请' || back == '求',
            '解' | '助' => back == '求' || back == '请',
            '没' => back == '了' || back == '过',
            '论' => back == '试',
            '析' => back == '分' || back == '简',
            '证' => back == '论',
            '讨' => back == '探',
            '算' => back == '计',
            '释' => back == '解',
            '出' => matches!(back, '列' | '给'),
            '底' => back == '到',
            '价' => back == '评',
            '导' => back == '推',
            '明' => matches!(back, '证' | '说'),
            '举' => back == '列',
            '猜' => matches!(back, '猜' | '你' | '们' | '家'),
            '说' | '谈' => matches!(back, '说' | '谈' | '们' | '家'),
            _ => false,
        };
        let a_not_a = c == two_back && matches!(back, '不' | '没') && is_letter(c);
        if cue || a_not_a {
            return true;
        }
        (two_back, back) = (back, c);
    }
    false
}

/// A character that carries content: a letter, digit or ideograph.
pub(super) fn is_letter(c: char) -> bool {
    // Nearly every character checked is a common ideograph; the tables are for the rest.
    ('\u{4e00}'..='\u{9fff}').contains(&c) || (c.is_alphanumeric() && !is_filler(c))
}

/// Ends a clause, or a sentence.
pub(super) fn is_break(c: char) -> bool {
    is_clause_break(c) || is_sentence_break(c)
}

/// Ends a clause inside a sentence.
pub(super) fn is_clause_break(c: char) -> bool {
    matches!(c, '，' | ',' | '、' | '：' | ':' | '…' | ' ' | '\u{3000}' | '\t' | '（' | '(' | '—' | '|')
}

/// Ends a sentence.
pub(super) fn is_sentence_break(c: char) -> bool {
    matches!(c, '。' | '！' | '!' | '？' | '?' | '；' | ';' | '\n' | '\r' | '~' | '～')
}

/// The last place in `text` where one of `words` occurs, and the longest one there.
///
/// The clauses searched are a few characters long and the lists are not, so this and its kin walk
/// the text once and try the words at each place; a searcher per word costs several times as much.
pub(super) fn rfind_any<'w>(text: &str, words: &[&'w str]) -> Option<(usize, &'w str)> {
    text.char_indices().rev().find_map(|(at, _)| {
        let here = words.iter().filter(|word| is_at(text, at, word));
        here.max_by_key(|word| word.len()).map(|word| (at, *word))
    })
}

/// The first word of `words` found in `text`, if any.
pub(super) fn contains_any<'w>(text: &str, words: &[&'w str]) -> Option<&'w str> {
    text.char_indices().find_map(|(at, _)| words.iter().find(|word| is_at(text, at, word)).copied())
}

/// Whether `word` is at byte `at` of `text`. Han characters of one block share their first bytes, so the
/// third is compared before the whole word.
fn is_at(text: &str, at: usize, word: &str) -> bool {
    let (text, word) = (&text.as_bytes()[at..], word.as_bytes());
    let probe = word.len().min(3).saturating_sub(1);
    text.len() >= word.len() && text.get(probe) == word.get(probe) && text.starts_with(word)
}

/// Whether `text` begins with one of `words`.
pub(super) fn starts_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Whether `text` ends with one of `words`.
pub(super) fn ends_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.ends_with(word))
}

/// What forum users write where a body is required, and the endings of a plea for help. They have no content,
/// so a question before them is still the last sentence.
pub(super) const EMPTY_TAILS: &[&str] = &[
    "如题",
    "题如",
    "RT",
    "rt",
    "Rt",
    "J",
    "急",
    "挺急的",
    "很急",
    "急急急",
    "在线等",
    "在线等挺急的",
    "急在线等",
    "求解",
    "求助",
    "谢谢",
    "谢谢大家",
    "谢谢了",
    "跪求",
    "求解答",
    "救命",
    "求指教",
    "同问",
    "笑",
];

/// Phrases by which a poster says that the question before is open.
pub(super) const PUZZLED: &[&str] = &[
    "搞不懂",
    "真搞不懂",
    "真的搞不懂",
    "想不通",
    "真想不通",
    "实在想不通",
    "想不明白",
    "我想不通",
    "我想不明白",
    "我很好奇",
    "好奇",
    "我很疑惑",
    "百思不得其解",
    "哪位",
    "有没有人",
    "有人知道",
    "谁知道",
    "跪求",
    "请教",
    "有懂的",
];

/// The clause that ends where `before` ends.
pub(super) fn clause_before(before: &str) -> &str {
    before.rfind(is_break).map_or(before, |at| before[at..].trim_start_matches(is_break))
}

/// The clause that begins where `after` begins. A space between Latin words ends no clause.
pub(super) fn clause_after(after: &str) -> &str {
    let joins = |at: usize| {
        let ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        after[at..].starts_with(' ')
            && ascii(after[..at].chars().next_back())
            && ascii(after[at + 1..].chars().next())
    };
    let end = after.match_indices(is_break).map(|(at, _)| at).find(|at| !joins(*at));
    end.map_or(after, |at| &after[..at])
}
