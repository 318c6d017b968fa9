//! Content that was written only because the forum demands some.
//!
//! What: punctuation, symbols or emoji alone; one letter or digit (`J`, `6`); an emoticon (`o_O`, `T.T`);
//! `如题`, `RT` and the like; a bare claim of the first floor (`一楼`, `占楼`). Links, images and client signatures
//! have been removed before this rule.
//!
//! Why: a third of the threads have such content; joined to the title it would spoil the text.
//!
//! Known problems: one Chinese character counts as content only after a title that fills the forum's field,
//! where it may be the sentence's last; an interjection meant seriously (`哼`) after a short title is lost.

use super::title;
use crate::text::is_letter;

/// Words that mean "read the title", compared after folding case and dropping non-letters.
const SEE_TITLE: [&str; 22] = [
    "如题",
    "题如",
    "如題",
    "如我题",
    "如标题",
    "见标题",
    "同标题",
    "看标题",
    "如题如题",
    "题目",
    "标题",
    "同题",
    "rt",
    "rtrt",
    "如题所示",
    "如题目",
    "内容同标题",
    "内容如题",
    "标题党",
    "正如标题",
    "就是标题",
    "如题啊",
];

/// Words that only claim a floor.
const CLAIM: [&str; 16] = [
    "一楼",
    "1楼",
    "1l",
    "占楼",
    "占坑",
    "镇楼",
    "度娘",
    "一楼度娘",
    "一楼喂度娘",
    "一楼给度娘",
    "喂度娘",
    "防吞",
    "凑字数",
    "内容不能为空",
    "字数",
    "水贴专用",
];

/// Interjections that fill the field if they are the whole content.
const FILLERS: &str = "啊哦嗯呃额噢喔呀哎诶欸顶";

/// Whether content says nothing beyond the title above it (`""` if there is none).
///
/// ```
/// # use riddlemill_text::text::clean::placeholder::is_placeholder;
/// for content in ["。", "⊙.⊙", "J", "RT", "如题", "o_O", "－ －", "😂😂"] {
///     assert!(is_placeholder("云会恐高吗？", content), "{content}");
/// }
/// assert!(!is_placeholder("云会恐高吗？", "不会"));
/// ```
pub fn is_placeholder(title: &str, content: &str) -> bool {
    // Longer than any listed word with decoration: compare letters only.
    let mut letters = content.chars().filter(|c| is_letter(*c));
    let Some(first) = letters.next() else { return true };
    let Some(second) = letters.next() else { return is_lone_placeholder(title, first) };
    if content.len() > 48 {
        return false;
    }
    let bare: String = content.chars().filter(|c| is_letter(*c)).flat_map(char::to_lowercase).collect();
    if SEE_TITLE.contains(&bare.as_str()) || CLAIM.contains(&bare.as_str()) {
        return true;
    }
    letters.next().is_none() && is_emoticon(content, first, second)
}

fn is_lone_placeholder(title: &str, letter: char) -> bool {
    // After an equals sign a single character is the result.
    if title.ends_with(['=', '＝']) {
        return false;
    }
    let han = ('\u{3400}'..='\u{9fff}').contains(&letter);
    !han || FILLERS.contains(letter) || title.contains(letter) || !title::fills_field(title)
}

/// Two equal eyes around a mouth: `o_O`, `T.T`, `0.0`.
fn is_emoticon(content: &str, left: char, right: char) -> bool {
    let inner = content.trim();
    let eyes = "oO0tTqQxXuUvVmM口〇〒";
    let mut between = inner.chars().skip(1);
    inner.starts_with(left)
        && inner.ends_with(right)
        && eyes.contains(left)
        && left.eq_ignore_ascii_case(&right)
        && between.next().is_some_and(|mouth| !mouth.is_alphanumeric() && !mouth.is_whitespace())
}

/// Whether a title says nothing (`...`), so that the content alone is the text. Remarks of the poster on the
/// post (`（重发）`, `[转帖]`) are kept, as inside a title or at the end of a content: they are not debris of the
/// forum.
///
/// ```
/// # use riddlemill_text::text::clean::placeholder::is_empty_title;
/// assert!(is_empty_title("..."));
/// assert!(!is_empty_title("（重发）") && !is_empty_title("日记"));
/// ```
pub fn is_empty_title(title: &str) -> bool {
    !title.chars().any(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_placeholders() {
        for content in [
            ".",
            "。",
            "．",
            "J",
            "，",
            "…",
            "……",
            "RT",
            "！",
            "·",
            "如题",
            "题如",
            "－－",
            "o_O",
            "？？？？",
            ":",
            "6",
            "1",
            "`啊",
            "T_T",
            "0.0",
            "(*^ 3^*)",
            "如题。",
            "一楼",
            "[1]",
            "￣▽￣",
            "♥",
        ] {
            assert!(is_placeholder("太阳会不会中暑", content), "{content}");
        }
    }

    #[test]
    fn short_answers_are_content() {
        for content in ["怎么办", "tmd", "谢谢", "是益虫", "好爽", "ok", "3.5", "42", "啊？什么", "同意？"]
        {
            assert!(!is_placeholder("太阳会不会中暑", content), "{content}");
        }
        let full = "我把太阳借给月亮用了一个晚上结果第二天早上它说什么也不肯回家";
        assert!(!is_placeholder(full, "去"), "the last character of a cut sentence");
        assert!(!is_placeholder("一加一=", "3"));
    }
}
