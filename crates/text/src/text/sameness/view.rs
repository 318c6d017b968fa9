//! Views: the representations of a text that are compared. Pure functions of the text.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use pinyin::ToPinyin;
use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{signs, symbols};
use crate::text::normalise::simplify_char;

/// Forms of one symbol, which are marks that combine.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// The letters, digits and ideographs of a text in one spelling.
///
/// Folds compatibility forms (NFKC), case, traditional characters, and the third person (`她`, `它` become
/// `他`); drops punctuation, symbols, emoji, spaces and spacers, but for the [signs](super::signs) of numbers and of single letters and
/// the [symbols](super::symbols) in the place of a word; cuts a run of three or more equal characters other than digits to two. Empty if nothing remains.
///
/// ```
/// # use riddlemill_text::text::sameness::view::fold;
/// assert_eq!(fold("導盲犬 说：ＯＫ！！她笑哈哈哈哈哈"), "导盲犬说ok他笑哈哈");
/// ```
pub fn fold(text: &str) -> String {
    fold_plain(&plain_spelling(text))
}

/// [`fold`] of a text that is already [`plain_spelling`].
pub(super) fn fold_plain(plain: &str) -> String {
    let mut folded = String::with_capacity(plain.len());
    let (mut last, mut run) = ('\0', 0);
    for c in plain.chars() {
        let is_letter = c.is_alphanumeric() || is_combining_mark(c) && !is_selector(c);
        if !(is_letter || symbols::is_symbol(c)) || symbols::is_spacer(c) {
            continue;
        }
        run = if c == last { run + 1 } else { 1 };
        last = c;
        // Of symbols alike in a row one.
        let most = if is_letter { 2 } else { 1 };
        if run <= most || c.is_numeric() {
            folded.push(c);
        }
    }
    folded
}

/// The text in one spelling, with its punctuation and spaces.
pub(super) fn plain_spelling(text: &str) -> String {
    let raised = if text.contains(is_raised) { Cow::Owned(mark_raised(text)) } else { Cow::Borrowed(text) };
    let plain: String = raised.nfkc().flat_map(char::to_lowercase).nfkc().map(one_form).collect();
    let plain = if plain.contains(|c| signs::letter_of_sign(c).is_some()) {
        signs::mark_signs(&plain)
    } else {
        plain
    };
    if plain.contains(symbols::is_symbol) { symbols::keep_words(&plain) } else { plain }
}

/// Raised digits, which the compatibility forms put on the line: `2²` is not `22`.
fn is_raised(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹')
}

fn mark_raised(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        if is_raised(c) && marked.ends_with(|last: char| last.is_ascii_alphanumeric()) {
            marked.push('^');
        }
        marked.push(c);
    }
    marked
}

/// What any two copies share: the folded text or, if that is empty (a post of emoji, a lone `？`), all its
/// characters except spaces. Empty only for a blank text.
pub fn copy_key(text: &str) -> String {
    let folded = fold(text);
    if folded.is_empty() { strip_spaces(text) } else { folded }
}

/// The characters of a text except spaces.
pub(super) fn strip_spaces(text: &str) -> String {
    text.nfkc().filter(|c| !c.is_whitespace()).collect()
}

/// The sounds of a text: its folded characters, each ideograph replaced by a private-use character for its
/// toneless syllable. As long as the folded text.
///
/// ```
/// # use riddlemill_text::text::sameness::view::sound;
/// assert_eq!(sound("蒻智"), sound("弱智"));
/// assert_ne!(sound("弱智"), sound("理智"));
/// ```
pub fn sound(text: &str) -> String {
    sound_of(&fold(text))
}

/// [`sound`] of a text that is folded already.
pub fn sound_of(folded: &str) -> String {
    folded.chars().map(char_of_syllable).collect()
}

/// The private-use character for the sound of an ideograph; any other character itself.
pub(super) fn char_of_syllable(c: char) -> char {
    if !is_ideograph(c) {
        return c;
    }
    c.to_pinyin().and_then(|p| SYLLABLES.get(p.plain()).copied()).unwrap_or(c)
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

fn one_form(c: char) -> char {
    match c {
        '她' | '它' | '牠' | '祂' => '他',
        '妳' => '你',
        // Without context, so that a copy cut in the middle folds as the whole does.
        c => simplify_char(c),
    }
}

/// Every toneless syllable of Mandarin, numbered in alphabetical order from U+E000.
static SYLLABLES: LazyLock<FxHashMap<&'static str, char>> = LazyLock::new(|| {
    let all: BTreeSet<_> =
        ('\u{3400}'..='\u{9fff}').filter_map(|c| c.to_pinyin()).map(|p| p.plain()).collect();
    all.into_iter().zip('\u{e000}'..='\u{f8ff}').collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_meet() {
        assert_eq!(fold("弱丨智"), fold("弱 智"));
        assert_eq!(fold("頭髮亂了"), "头发乱了");
        assert_eq!(fold("Ｑ１２"), "q12");
        assert_eq!(fold("🐟…？！"), "");
    }

    #[test]
    fn runs_are_cut_but_not_in_numbers() {
        assert_eq!(fold("哈哈哈哈哈哈"), "哈哈");
        assert_eq!(fold("11111"), "11111");
    }

    #[test]
    fn a_post_of_emoji_has_a_key() {
        assert_eq!(copy_key("🐟 🐟"), "🐟🐟");
        assert_eq!(copy_key(" \n"), "");
    }

    #[test]
    fn a_sound_is_one_character() {
        assert_eq!(sound("他吃鱼ok").chars().count(), 5);
        assert!(SYLLABLES.len() > 350, "{} syllables", SYLLABLES.len());
    }
}
