//! How a thread's title and its content relate.
//!
//! What: the content repeats the title; it begins with the title and goes on, because the forum cut the
//! title at 20 to 31 characters; it begins with the title but for a few slips (a mended typo, a masked
//! word); it is already in the title; or it says something else and is joined to it.
//!
//! Why: 700 of 2,600 threads repeat themselves and 150 have a cut title; joined blindly, every such joke
//! would be repeated.
//!
//! Comparison: whitespace and punctuation are skipped, because the page folds line breaks and spaces in
//! titles; case and width count.
//!
//! Known problems: a content that repeats the title with one word changed *as the joke* is taken for a
//! corrected copy if the change is small; digits must agree, which prevents most such cases.

use crate::text::is_letter;

/// How content relates to its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal, ignoring whitespace and punctuation.
    Repeats,
    /// The content begins with the title and goes on.
    Extends,
    /// The content begins with the title, apart from a few characters.
    Mends,
    /// The content is already in the title.
    Within,
    /// Two different things.
    Differs,
}

/// Most characters in the forum's field; older pages cut one or two earlier.
const FIELD: usize = 28;

/// Whether a title is so long that the forum may have cut it.
pub fn fills_field(title: &str) -> bool {
    title.chars().filter(|c| !c.is_whitespace()).nth(FIELD - 1).is_some()
}

fn key_chars(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| is_letter(*c))
}

/// Compares a title with the content under it.
///
/// ```
/// # use riddlemill_text::text::clean::title::{relation, Relation};
/// assert_eq!(relation("云会恐高吗", "云会恐高吗？"), Relation::Repeats);
/// assert_eq!(relation("“云会恐高吗？”我问风，风说", "“云会恐高吗？” 我问风，风说它只会恐低"), Relation::Extends);
/// assert_eq!(relation("云会恐高吗", "风说它只会恐低"), Relation::Differs);
/// ```
pub fn relation(title: &str, content: &str) -> Relation {
    if title == content {
        return Relation::Repeats;
    }
    let (mut t, mut c) = (key_chars(title), key_chars(content));
    let mut matched = 0;
    loop {
        match (t.next(), c.next()) {
            // Two texts of punctuation alone repeat nothing.
            (None, None) if matched > 0 => return Relation::Repeats,
            (None, Some(_)) if matched > 1 => return Relation::Extends,
            (Some(a), Some(b)) if a == b => matched += 1,
            // The title continues where the content ends: a shortened copy.
            (Some(_), None) if matched > 1 => return Relation::Within,
            _ => break,
        }
    }
    // Only texts that begin alike can differ by a slip: a joke that answers its title seldom does.
    if matched >= 3 && mends_title(title, content) {
        return Relation::Mends;
    }
    if is_within(title, content) { Relation::Within } else { Relation::Differs }
}

fn is_within(title: &str, content: &str) -> bool {
    if content.len() > title.len() * 2 {
        return false;
    }
    let content: String = key_chars(content).collect();
    content.chars().nth(1).is_some() && key_chars(title).collect::<String>().contains(&content)
}

/// Whether the content begins with the title, apart from one character in eight.
fn mends_title(title: &str, content: &str) -> bool {
    let title: Vec<char> = key_chars(title).collect();
    if title.len() < 10 {
        return false;
    }
    let slips = (title.len() / 8).max(1);
    let content: Vec<char> = key_chars(content).take(title.len() + slips).collect();
    if content.len() + slips < title.len() {
        return false;
    }
    let digits = |text: &[char]| text.iter().filter(|c| c.is_numeric()).copied().collect::<String>();
    let shortest = title.len() - slips;
    (shortest..=content.len()).any(|end| {
        let start = &content[..end];
        strsim::generic_levenshtein(&Chars(&title), &Chars(start)) <= slips && digits(&title) == digits(start)
    })
}

/// A slice of characters that strsim can walk.
struct Chars<'a>(&'a [char]);

impl<'b> IntoIterator for &Chars<'b> {
    type Item = &'b char;
    type IntoIter = std::slice::Iter<'b, char>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_and_punctuation_are_passed_over() {
        assert_eq!(relation("玩家：“你好？”店家：“不", "玩家：“你好？”\n店家：“不好。”"), Relation::Extends);
        assert_eq!(relation("太阳下山了！", "太阳下山了"), Relation::Repeats);
    }

    #[test]
    fn slips_are_mended_and_numbers_are_not() {
        let title = "王叔叔把冰箱搬到沙漠里卖却发现骆驼都自带空掉";
        assert_eq!(relation(title, "王叔叔把冰箱搬到沙漠里卖却发现骆驼都自带空调"), Relation::Mends);
        assert_eq!(
            relation("昨天有3只猫在我家门口开会讨论鱼价", "昨天有4只猫在我家门口开会讨论鱼价"),
            Relation::Differs
        );
    }

    #[test]
    fn what_the_title_contains_is_not_repeated() {
        assert_eq!(relation("我有心事昨天我的影子没有回家", "昨天我的影子没有回家 "), Relation::Within);
        assert_eq!(relation("今天的风很大", "帽子先走了"), Relation::Differs);
    }
}
