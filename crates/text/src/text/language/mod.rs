//! The language of a record, which selects the rules of clean, anonymise, filter and sameness.
//!
//! A source may state it, and so may `text.language`. Otherwise [`detect`] decides by script and words. What is neither
//! Chinese nor English, and what is too little to tell, is [`Language::Und`]: only rules that hold in any language apply.
//!
//! In reading order: [`detect`] counts letters by script, and words by lists and by a dictionary; [`tag_language`] makes the language part of
//! a text, for joins that see texts alone.
//!
//! Posts are short: half a line, often without a verb. Han characters without kana are Chinese, unless they are
//! [Japanese or too few](han). Letters of the Latin alphabet
//! are English if its frequent words and the bundled dictionary know more of the words than the frequent words and accented
//! letters of other languages speak for those. docs/quality.md compares this with the detectors of two crates.
//!
//! A text with its language, as one string.
//!
//! Joins take texts, in memory, on disk and on other machines. So that they know the language of each, a text that is not
//! Chinese begins with Unicode's own language tag: U+E0001, the letters of the code as tag characters, and U+E007F. Such tags
//! are deprecated and invisible, and no rule counts them as letters; one that a post itself begins with is removed.

pub(crate) mod dictionary;
mod han;

pub use riddlemill_record::Language;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashSet;

use han::{Written, language_of_ideographs};

/// The language of a text, and how certain it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detected {
    /// What the text is written in; `und` where neither is sure.
    pub language: Language,
    /// From 0 to 1, in steps of a hundredth: the share of what was counted that speaks for it, less where little was.
    pub certainty: f64,
}

/// Detects the language of a text. Linear in its length.
///
/// ```
/// # use riddlemill_text::text::language::{Language, detect};
/// assert_eq!(detect("云会恐高吗？").language, Language::Zh);
/// assert_eq!(detect("Are clouds afraid of heights?").language, Language::En);
/// assert_eq!(detect("Les nuages ont-ils le vertige ?").language, Language::Und);
/// assert_eq!(detect("666").language, Language::Und);
/// ```
pub fn detect(text: &str) -> Detected {
    // Links, users' names and marks of forums are in no language.
    if text.contains(['@', '＠', '[']) || text.contains("://") || text.contains("www.") {
        let bare = APART.as_ref().map(|apart| apart.replace_all(text, " "));
        return detect_words(bare.as_deref().unwrap_or(text));
    }
    detect_words(text)
}

static APART: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(?:https?://|www\.)[\x21-\x5a\x5c\x5e-\x7e]+|[@＠][\w-]+|\[/?[a-z]{1,8}(?:=[^\]\n]{0,200})?\]",
    )
    .ok()
});

fn detect_words(text: &str) -> Detected {
    let counts = Scripts::count_scripts(text);
    let (latin, english) =
        if counts.latin_letters > 0 { latin_words(text) } else { (0, EnglishShare::default()) };
    // A word has two Chinese characters on average, as many as two of these.
    let all = counts.han + counts.kana + counts.hangul + 2 * latin + counts.other;
    if all == 0 {
        return Detected { language: Language::Und, certainty: 0.0 };
    }
    // A single `の` is a joke of Chinese forums; Japanese has about one kana for each character and more.
    let japanese = 2 * counts.kana > counts.han;
    if counts.han * 2 >= all && !japanese {
        let certainty = certainty_of(counts.han, all, 1);
        // One kana is a joke of Chinese forums, and with none the ideographs decide.
        return match if counts.kana > 0 { Written::Chinese } else { language_of_ideographs(text) } {
            Written::Chinese => Detected { language: Language::Zh, certainty },
            Written::Probably => {
                Detected { language: Language::Zh, certainty: certainty_of(counts.han, 2 * all, 1) }
            }
            Written::Unknown => Detected { language: Language::Und, certainty: certainty_of(1, 2, 1) },
        };
    }
    if 4 * latin >= all && english.favourable >= 2 && 5 * english.favourable >= 3 * english.total_of_both() {
        let share = english.favourable * 2 * latin;
        return Detected {
            language: Language::En,
            certainty: certainty_of(share, english.total_of_both() * all, all),
        };
    }
    Detected { language: Language::Und, certainty: certainty_of(1, 2, 1) }
}

/// `part` of `all`, less where only few units were counted.
fn certainty_of(part: usize, all: usize, unit: usize) -> f64 {
    let (part, all, unit) = (part as f64, all as f64, unit as f64);
    (100.0 * part / (all + unit)).round() / 100.0
}

/// Letters by script.
#[derive(Default)]
struct Scripts {
    han: usize,
    kana: usize,
    hangul: usize,
    latin_letters: usize,
    other: usize,
}

impl Scripts {
    fn count_scripts(text: &str) -> Scripts {
        let mut counts = Scripts::default();
        for c in text.chars() {
            match c {
                '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{323af}' | '々' => {
                    counts.han += 1;
                }
                'a'..='z' | 'A'..='Z' => counts.latin_letters += 1,
                // The long mark and the middle dot stand in Chinese texts, too.
                '\u{3041}'..='\u{30fa}' => counts.kana += 1,
                '\u{ac00}'..='\u{d7af}' | '\u{1100}'..='\u{11ff}' => counts.hangul += 1,
                '\u{00c0}'..='\u{024f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}' => {
                    counts.latin_letters += usize::from(c.is_alphabetic());
                }
                c => counts.other += usize::from(!c.is_ascii() && c.is_alphabetic()),
            }
        }
        counts
    }
}

/// What speaks for English, and what against it.
#[derive(Clone, Copy, Default)]
struct EnglishShare {
    favourable: usize,
    against: usize,
}

impl EnglishShare {
    fn total_of_both(self) -> usize {
        self.favourable + self.against
    }
}

/// Frequent words of English, those of them that other languages have, and frequent words of other languages.
struct FrequentWords {
    english: FxHashSet<&'static str>,
    shared: FxHashSet<&'static str>,
    foreign: FxHashSet<&'static str>,
}

static LISTS: LazyLock<FrequentWords> = LazyLock::new(|| {
    let set = |words: &'static str| words.split_whitespace().collect();
    FrequentWords {
        english: set(dictionary::ENGLISH),
        shared: set(dictionary::SHARED),
        foreign: set(dictionary::FOREIGN),
    }
});

/// The words in Latin letters, and how many points they give for and against English.
fn latin_words(text: &str) -> (usize, EnglishShare) {
    let (mut count, mut share) = (0, EnglishShare::default());
    let is_part = |c: char| c.is_alphabetic() && !is_wide(c) || matches!(c, '\'' | '’');
    for word in text.split(|c: char| !is_part(c)) {
        let word = word.trim_matches(['\'', '’']);
        if word.is_empty() {
            continue;
        }
        count += 1;
        let lower = word.to_lowercase().replace('’', "'");
        let (foreign, shared) = (LISTS.foreign.contains(&*lower), LISTS.shared.contains(&*lower));
        if !lower.is_ascii() {
            // `café` and `naïve` are English, a sentence of such words is not.
            share.against += if dictionary::contains(&lower) { 0 } else { 3 };
        } else if shared || LISTS.english.contains(&*lower) {
            share.favourable += if foreign || shared { 1 } else { 3 };
        } else if foreign {
            share.against += 3;
        } else if lower.len() > 2 && dictionary::contains(&lower) {
            share.favourable += 1;
        } else if !word.starts_with(char::is_uppercase) && lower.len() > 2 {
            // A name speaks for no language.
            share.against += 1;
        }
    }
    (count, share)
}

/// Letters that are no part of a word in Latin letters, though alphabetic.
fn is_wide(c: char) -> bool {
    c as u32 >= 0x0370 && !matches!(c, '\u{1e00}'..='\u{1eff}')
}

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

/// The text with a mark of its language, for [`split_tag`].
pub fn tag_language(text: &str, language: Language) -> Cow<'_, str> {
    let bare = without_tags(text);
    if language == Language::Zh {
        return Cow::Borrowed(bare);
    }
    let code = language.code().chars().filter_map(|letter| char::from_u32(tag_of(letter)));
    Cow::Owned(std::iter::once(BEGIN).chain(code).chain([END]).chain(bare.chars()).collect())
}

/// The language of a text from [`tag_language`], and the text. Without a tag it is Chinese.
pub fn split_tag(text: &str) -> (Language, &str) {
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

    #[test]
    fn scripts_and_words_decide() {
        for (text, language) in [
            ("云会恐高吗？", Language::Zh),
            ("雲會恐高嗎", Language::Zh),
            ("我的iPhone为什么不会游泳", Language::Zh),
            ("我の猫", Language::Zh),
            ("東京駅発車時刻表", Language::Und),
            ("天気予報", Language::Und),
            ("這個世界很奇怪", Language::Zh),
            ("Why do cats sleep?", Language::En),
            ("Name a fruit that is never lonely.", Language::En),
            ("POOR PEOPLE ARE LAZY", Language::En),
            ("猫はなぜ寝るの？", Language::Und),
            ("고양이는 왜 자나요?", Language::Und),
            ("لماذا لا ينام الليل؟", Language::Und),
            ("ทำไมแมวไม่พูด?", Language::Und),
            ("Почему кошки спят?", Language::Und),
            ("Warum schlafen Katzen so viel?", Language::Und),
            ("¿Por qué duermen los gatos?", Language::Und),
            ("Perché i gatti dormono?", Language::Und),
            ("Waarom slapen katten in de zon?", Language::Und),
            ("666", Language::Und),
            ("？？？", Language::Und),
            ("", Language::Und),
        ] {
            let found = detect(text);
            assert_eq!(found.language, language, "{text}: {found:?}");
            assert!((0.0..=1.0).contains(&found.certainty), "{text}: {found:?}");
        }
    }

    #[test]
    fn more_of_a_language_is_more_certain() {
        assert!(detect("云会恐高吗，我想问问").certainty > detect("云？").certainty);
        assert!(detect("云会恐高吗，我想问问").certainty > detect("云会abc def吗").certainty);
    }

    proptest! {
        #[test]
        fn a_tag_is_read_back(text in "[a云\u{e0001}\u{e0065}\u{e006e} ]{0,12}", language in 0usize..3) {
            let language = [Language::Zh, Language::En, Language::Und][language];
            let tagged = tag_language(&text, language).into_owned();
            let (read, bare) = split_tag(&tagged);
            prop_assert_eq!(read, language);
            prop_assert_eq!(bare, without_tags(&text));
            prop_assert!(!bare.starts_with(BEGIN));
        }
    }

    #[test]
    fn a_chinese_text_is_itself() {
        assert!(matches!(tag_language("云会恐高吗", Language::Zh), Cow::Borrowed("云会恐高吗")));
        assert_eq!(split_tag("云会恐高吗"), (Language::Zh, "云会恐高吗"));
    }
}
