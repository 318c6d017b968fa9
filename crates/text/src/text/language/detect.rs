//! Which language a text is in, by its script and its words.
//!
//! Posts are short: half a line, often without a verb. Han characters without kana are Chinese. Letters of the Latin alphabet
//! are English if its frequent words and the bundled dictionary know more of the words than the frequent words and accented
//! letters of other languages speak for those. docs/quality.md compares this with the detectors of two crates.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::{Language, dictionary, words};

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
    let counts = Scripts::count(text);
    let (latin, english) = if counts.latin_letters > 0 { latin_words(text) } else { (0, Share::default()) };
    // A word has two Chinese characters on average, as many as two of these.
    let all = counts.han + counts.kana + counts.hangul + 2 * latin + counts.other;
    if all == 0 {
        return Detected { language: Language::Und, certainty: 0.0 };
    }
    // A single `の` is a joke of Chinese forums; Japanese has about one kana for each character and more.
    let japanese = 2 * counts.kana > counts.han;
    if counts.han * 2 >= all && !japanese {
        return Detected { language: Language::Zh, certainty: certainty(counts.han, all, 1) };
    }
    if 4 * latin >= all && english.favourable >= 2 && 5 * english.favourable >= 3 * english.all() {
        let share = english.favourable * 2 * latin;
        return Detected { language: Language::En, certainty: certainty(share, english.all() * all, all) };
    }
    Detected { language: Language::Und, certainty: certainty(1, 2, 1) }
}

/// `part` of `all`, less where only few units were counted.
fn certainty(part: usize, all: usize, unit: usize) -> f64 {
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
    fn count(text: &str) -> Scripts {
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
struct Share {
    favourable: usize,
    against: usize,
}

impl Share {
    fn all(self) -> usize {
        self.favourable + self.against
    }
}

/// Frequent words of English, those of them that other languages have, and frequent words of other languages.
struct Lists {
    english: FxHashSet<&'static str>,
    shared: FxHashSet<&'static str>,
    foreign: FxHashSet<&'static str>,
}

static LISTS: LazyLock<Lists> = LazyLock::new(|| {
    let set = |words: &'static str| words.split_whitespace().collect();
    Lists { english: set(words::ENGLISH), shared: set(words::SHARED), foreign: set(words::FOREIGN) }
});

/// The words in Latin letters, and how many points they give for and against English.
fn latin_words(text: &str) -> (usize, Share) {
    let (mut count, mut share) = (0, Share::default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_words_decide() {
        for (text, language) in [
            ("云会恐高吗？", Language::Zh),
            ("雲會恐高嗎", Language::Zh),
            ("我的iPhone为什么不会游泳", Language::Zh),
            ("我の猫", Language::Zh),
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
}
