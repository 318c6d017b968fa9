//! A text with its language, as one string.
//!
//! Joins take texts, in memory, on disk and on other machines. So that they know the language of each, a text that is not
//! Chinese begins with Unicode's own language tag: U+E0001, the letters of the code as tag characters, and U+E007F. Such tags
//! are deprecated and invisible, and no rule counts them as letters; one that a post itself begins with is removed.

use std::borrow::Cow;

use super::Language;

/// What a language tag begins with.
const BEGIN: char = '\u{e0001}';

/// What it ends with.
const END: char = '\u{e007f}';

/// The tag character of an ASCII letter.
const fn tag_of(letter: char) -> u32 {
    0xe_0000 + letter as u32
}

/// Whether it is part of a language tag.
fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

/// The text with a mark of its language, for [`untagged`].
pub fn tagged(text: &str, language: Language) -> Cow<'_, str> {
    let bare = without_tags(text);
    if language == Language::Zh {
        return Cow::Borrowed(bare);
    }
    let code = language.code().chars().filter_map(|letter| char::from_u32(tag_of(letter)));
    Cow::Owned(std::iter::once(BEGIN).chain(code).chain([END]).chain(bare.chars()).collect())
}

/// The language of a text from [`tagged`], and the text. Without a tag it is Chinese.
pub fn untagged(text: &str) -> (Language, &str) {
    let Some(rest) = text.strip_prefix(BEGIN) else { return (Language::Zh, text) };
    let Some((code, bare)) = rest.split_once(END) else { return (Language::Und, without_tags(text)) };
    let code: String =
        code.chars().filter_map(|c| char::from_u32((c as u32).checked_sub(0xe_0000)?)).collect();
    (Language::from_code(&code).unwrap_or_default(), bare)
}

fn without_tags(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix(BEGIN) {
        text = rest.trim_start_matches(is_tag);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_tag_is_read_back(text in "[a云\u{e0001}\u{e0065}\u{e006e} ]{0,12}", language in 0usize..3) {
            let language = [Language::Zh, Language::En, Language::Und][language];
            let tagged = tagged(&text, language).into_owned();
            let (read, bare) = untagged(&tagged);
            prop_assert_eq!(read, language);
            prop_assert_eq!(bare, without_tags(&text));
            prop_assert!(!bare.starts_with(BEGIN));
        }
    }

    #[test]
    fn a_chinese_text_is_itself() {
        assert!(matches!(tagged("云会恐高吗", Language::Zh), Cow::Borrowed("云会恐高吗")));
        assert_eq!(untagged("云会恐高吗"), (Language::Zh, "云会恐高吗"));
    }
}
