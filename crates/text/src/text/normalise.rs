//! Folding for comparison keys: two spellings of the same words become one string.
//!
//! What: compatibility forms (full and half width, ligatures, circled digits), case, traditional characters,
//! emoji presentation, punctuation and whitespace, each if the options ask for it.
//!
//! Why: copies of a joke differ by keyboard and region long before they differ by a word.
//!
//! Traditional characters are folded one by one, by OpenCC's tables, so that a key never depends on the
//! context of a character. Known problem of that: `乾` becomes `干` in `乾隆` too. Keys are for comparison, never
//! for display.

use std::sync::LazyLock;

use ferrous_opencc::{OpenCC, config::BuiltinConfig};
use unicode_normalization::UnicodeNormalization;

/// Differences that a key ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fold {
    /// Fold width and other compatibility forms (NFKC).
    pub width: bool,
    /// Fold case.
    pub case: bool,
    /// Fold traditional characters to simplified ones.
    pub script: bool,
    /// Drop whitespace.
    pub whitespace: bool,
    /// Drop punctuation and symbols, emoji among them.
    pub punctuation: bool,
    /// Drop variation selectors, joiners and skin tones, so that one emoji has one form.
    pub variants: bool,
}

impl Fold {
    /// Everything is folded: the key by which copies are found.
    pub const KEY: Fold =
        Fold { width: true, case: true, script: true, whitespace: true, punctuation: true, variants: true };

    /// Spelling is folded, words stay separate: for rules about people's words.
    pub const WORDS: Fold = Fold { whitespace: false, punctuation: false, ..Fold::KEY };

    /// Nothing is folded.
    pub const NONE: Fold = Fold {
        width: false,
        case: false,
        script: false,
        whitespace: false,
        punctuation: false,
        variants: false,
    };
}

/// The characters whose simplified forms are looked up.
const HAN: std::ops::RangeInclusive<char> = '\u{3400}'..='\u{9fff}';

/// The simplified form of each of [`HAN`], after repeated folding; empty if the tables cannot be read. An
/// array by character, because nothing is looked up more often.
static SIMPLIFIED: LazyLock<Vec<char>> = LazyLock::new(|| {
    let Ok(opencc) = OpenCC::from_config(BuiltinConfig::T2s) else { return Vec::new() };
    let simplify = |c: char| {
        let mut buffer = [0; 4];
        let mut done = opencc.convert(c.encode_utf8(&mut buffer)).chars().collect::<Vec<_>>();
        if done.len() == 1 { done.pop() } else { None }
    };
    let fold = |c: char| {
        let mut simple = c;
        // A form can fold twice; no chain of OpenCC's is longer.
        for _ in 0..4 {
            match simplify(simple) {
                Some(next) if next != simple => simple = next,
                _ => break,
            }
        }
        simple
    };
    HAN.map(fold).collect()
});

/// The simplified form of a character, or the character.
pub fn simplify_char(c: char) -> char {
    let place = (c as usize).wrapping_sub(*HAN.start() as usize);
    SIMPLIFIED.get(place).copied().unwrap_or(c)
}

fn is_variant(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Folds a text. Idempotent: folding a folded text changes nothing.
///
/// ```
/// # use riddlemill_text::text::normalise::{fold, Fold};
/// assert_eq!(fold("ＡＢＣ：雲會 恐高嗎？☁\u{fe0f}", Fold::KEY), "abc云会恐高吗");
/// assert_eq!(fold("雲，會恐高", Fold { script: true, ..Fold::NONE }), "云，会恐高");
/// ```
pub fn fold(text: &str, fold: Fold) -> String {
    let mut folded = fold_once(text, fold);
    // Lower case and compatibility forms can enable each other (`㎅`, `ϓ`); two rounds suffice for nearly
    // everything, and each round shortens or settles the rest.
    for _ in 0..4 {
        let again = fold_once(&folded, fold);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

/// Characters that are letters of their own: no form of them is another one's, and nothing composes with them, so that what
/// stands before and behind them is normalised by itself. Nearly all of a Chinese text is folded by one look-up each.
const IDEOGRAPHS: std::ops::RangeInclusive<char> = '\u{4e00}'..='\u{9fff}';

fn fold_once(text: &str, fold: Fold) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| IDEOGRAPHS.contains(c)) {
        fold_into(&text[from..at], fold, &mut out);
        out.push(if fold.script { simplify_char(c) } else { c });
        from = at + c.len_utf8();
    }
    fold_into(&text[from..], fold, &mut out);
    out
}

/// [`fold_once`], for characters of any kind.
fn fold_into(text: &str, fold: Fold, out: &mut String) {
    if text.is_empty() {
        return;
    }
    let mut push = |c: char| {
        let c = if fold.script { simplify_char(c) } else { c };
        let dropped = fold.variants && is_variant(c)
            || fold.whitespace && c.is_whitespace()
            || fold.punctuation && !c.is_alphanumeric() && !c.is_whitespace() && !is_mark(c);
        if dropped {
            return;
        }
        match c {
            c if fold.case && (c.is_uppercase() || !c.is_ascii()) => out.extend(c.to_lowercase()),
            c => out.push(c),
        }
    };
    if fold.width { text.nfkc().for_each(&mut push) } else { text.chars().for_each(&mut push) }
}

/// Whether it is a combining mark, which belongs to its letter and is not punctuation.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_option_folds_its_own() {
        let only = |set: fn(&mut Fold)| {
            let mut fold = Fold::NONE;
            set(&mut fold);
            fold
        };
        assert_eq!(fold("Ｑ１２３①", only(|f| f.width = true)), "Q1231");
        assert_eq!(fold("QqΣ", only(|f| f.case = true)), "qqσ");
        assert_eq!(fold("請問國語", only(|f| f.script = true)), "请问国语");
        assert_eq!(fold("云 会\u{3000}\n飞", only(|f| f.whitespace = true)), "云会飞");
        assert_eq!(fold("“云”，会…飞！😂", only(|f| f.punctuation = true)), "云会飞");
        assert_eq!(fold("👍🏽❤\u{fe0f}", only(|f| f.variants = true)), "👍❤");
        assert_eq!(fold("原 樣Ａ！", Fold::NONE), "原 樣Ａ！");
    }

    #[test]
    fn each_ideograph_is_a_letter_that_no_form_changes() {
        for c in IDEOGRAPHS {
            let text = c.to_string();
            for options in [Fold::KEY, Fold::NONE, Fold { script: false, ..Fold::KEY }] {
                let mut whole = String::new();
                fold_into(&text, options, &mut whole);
                assert_eq!(fold_once(&text, options), whole, "{c}");
            }
        }
    }

    fn any_fold() -> impl Strategy<Value = Fold> {
        any::<[bool; 6]>().prop_map(|[width, case, script, whitespace, punctuation, variants]| Fold {
            width,
            case,
            script,
            whitespace,
            punctuation,
            variants,
        })
    }

    proptest! {
        #[test]
        fn ideographs_are_folded_as_among_any_characters(
            text in "(\\PC|[云雲會乾\u{9fff}\u{4e00}\u{308}\u{301}\u{3099}かﾊﾞ가ᄀ１，！ ]){0,24}",
            options in any_fold(),
        ) {
            let mut whole = String::new();
            fold_into(&text, options, &mut whole);
            prop_assert_eq!(fold_once(&text, options), whole);
        }

        #[test]
        fn folding_is_idempotent(text in "\\PC{0,24}", options in any_fold()) {
            let once = fold(&text, options);
            prop_assert_eq!(fold(&once, options), once);
        }
    }
}
