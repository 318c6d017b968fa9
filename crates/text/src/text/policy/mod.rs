//! Offensive and sensitive content by word lists that a user edits.
//!
//! A hit never drops a post: it is held for a person, who sees the list and the term. The shipped lists are
//! small and precise, because a forum of jokes about death, hospitals and bodies should not be held for
//! these.
//!
//! A list is a text: one term per line, `#` starts a comment, `!term` names a longer harmless word that
//! shields the terms inside it (`!曼德拉` over a term `德拉`). Terms and texts are compared after folding width,
//! case and traditional characters. The end of one word and the start of the next do not form a term: `房东突然`
//! does not contain `东突`.
//!
//! Known problems: a term split by spaces or bars is not found; run the cleaning rules first.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::normalise;
use super::openings::WordOpenings;
use super::segment::falls_between_words;

/// The shipped lists: name and text.
pub const SHIPPED: [(&str, &str); 4] = [
    ("slurs", include_str!("lists/slurs.txt")),
    ("sexual", include_str!("lists/sexual.txt")),
    ("politics", include_str!("lists/politics.txt")),
    ("harm", include_str!("lists/harm.txt")),
];

/// A list that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// A line has no term after its mark.
    #[error("list {list}, line {line}: no term after `!` (write the harmless word that shields a term)")]
    EmptyShield {
        /// The list's name.
        list: String,
        /// The line, from 1.
        line: usize,
    },
    /// The terms of all lists are too many for one automaton.
    #[error("the word lists cannot be compiled: {0}")]
    TooLarge(#[from] aho_corasick::BuildError),
}

/// A term of a list in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermHit {
    /// The list's name.
    pub list: String,
    /// The term as in the list, folded.
    pub term: String,
    /// Where it starts, in characters.
    pub start_char: usize,
}

/// The lists, compiled.
#[derive(Debug)]
pub struct Policy {
    finder: AhoCorasick,
    openings: WordOpenings,
    /// For each pattern: the list it is a term of, or `None` if it shields.
    lists: Vec<Option<String>>,
    patterns: Vec<String>,
}

impl Policy {
    /// The lists that ship with the program.
    pub fn with_shipped_lists() -> Result<Policy, ListError> {
        Policy::new(SHIPPED)
    }

    /// Compiles lists, given as name and text.
    ///
    /// # Errors
    /// If a line shields nothing, or the terms need too much memory.
    pub fn new<'a>(lists: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Policy, ListError> {
        let (mut owners, mut patterns) = (Vec::new(), Vec::new());
        for (list, text) in lists {
            for (index, line) in text.lines().enumerate() {
                let line = line.split('#').next().unwrap_or_default().trim();
                let (term, owner) = match line.strip_prefix('!') {
                    Some(shield) => (fold_chars(shield.trim()), None),
                    None => (fold_chars(line), Some(list.to_owned())),
                };
                match (term.is_empty(), &owner) {
                    (true, None) => {
                        return Err(ListError::EmptyShield { list: list.to_owned(), line: index + 1 });
                    }
                    (true, Some(_)) => {}
                    (false, _) => {
                        patterns.push(term);
                        owners.push(owner);
                    }
                }
            }
        }
        // All matches are needed, including overlapping ones: a shield has to be seen around its term.
        let finder = AhoCorasick::builder()
            .kind(Some(match patterns.len() {
                // A DFA is three times as fast and fits a cache; with thousands of terms it would not.
                0..=2000 => AhoCorasickKind::DFA,
                _ => AhoCorasickKind::ContiguousNFA,
            }))
            .match_kind(MatchKind::Standard)
            .build(&patterns)?;
        let spellings = spellings_by_fold();
        let spelled = |c| spellings.get(&c).into_iter().flatten().copied().chain([c]).collect();
        let openings = WordOpenings::with_spellings(patterns.iter().map(String::as_str), spelled);
        Ok(Policy { finder, openings, lists: owners, patterns })
    }

    /// The terms in a text that nothing shields, in order of their start.
    ///
    /// ```
    /// # use riddlemill_text::text::policy::Policy;
    /// let policy = Policy::new([("mine", "胡萝卜 # no vegetables\n!胡萝卜素")]).unwrap();
    /// let hits = policy.check("兔子把胡萝卜叫作红宝石");
    /// assert_eq!((hits[0].list.as_str(), hits[0].start_char), ("mine", 3));
    /// assert!(policy.check("胡萝卜素对眼睛好").is_empty());
    /// ```
    pub fn check(&self, text: &str) -> Vec<TermHit> {
        if !self.openings.may_match(text.chars()) {
            return Vec::new();
        }
        let folded = fold_chars(text);
        let found: Vec<_> = self.finder.find_overlapping_iter(&folded).collect();
        let shields: Vec<_> = found.iter().filter(|m| self.lists[m.pattern()].is_none()).collect();
        let mut hits: Vec<TermHit> = found
            .iter()
            .filter(|m| !shields.iter().any(|s| s.start() <= m.start() && m.end() <= s.end()))
            .filter(|m| is_whole_word(&folded, m.start(), m.end()))
            .filter(|m| !falls_between_words(&folded, m.range()))
            .filter_map(|m| {
                Some(TermHit {
                    list: self.lists[m.pattern()].clone()?,
                    term: self.patterns[m.pattern()].clone(),
                    start_char: folded[..m.start()].chars().count(),
                })
            })
            .collect();
        hits.sort_by(|a, b| (a.start_char, &a.list, &a.term).cmp(&(b.start_char, &b.list, &b.term)));
        hits.dedup();
        hits
    }
}

/// Whether a match is a whole word, as a Latin term must be: `nmd` is part of many long words.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let word = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_alphanumeric);
    let latin = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_alphanumeric);
    !(latin(start) && word(start.checked_sub(1)) || latin(end - 1) && word(Some(end)))
}

/// Folds character by character, so that positions in the folded text are positions in the text.
fn fold_chars(text: &str) -> String {
    text.chars().map(fold_char).collect()
}

/// The characters that fold to another one, by that one. All are within the first 65,536.
fn spellings_by_fold() -> HashMap<char, Vec<char>> {
    let mut spellings: HashMap<char, Vec<char>> = HashMap::new();
    for c in ('\0'..='\u{ffff}').filter(|c| fold_char(*c) != *c) {
        spellings.entry(fold_char(c)).or_default().push(c);
    }
    spellings
}

fn fold_char(c: char) -> char {
    let narrow = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    };
    normalise::simplify_char(narrow.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_lists_compile_and_hold_no_ordinary_joke() {
        let policy = Policy::with_shipped_lists().unwrap();
        for text in [
            "病人死后第二天就出院了",
            "王警官从尸体口袋里翻出一张饭卡",
            "他自杀未遂，决定自习",
            "火葬场第二具半价吗",
            "我把弱智写在脸上",
            "黑人牙膏为什么是白的",
            "太监为什么不能请假",
            "鬼子进村先要登记吗",
        ] {
            assert_eq!(policy.check(text), [], "{text}");
        }
    }

    #[test]
    fn two_words_make_no_term() {
        let policy = Policy::new([("a", "东突\n强奸\n绿教")]).unwrap();
        assert_eq!(policy.check("房东突然涨了价"), []);
        for text in ["他支持东突", "强奸犯跑了", "信绿教会变傻"] {
            assert_eq!(policy.check(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn width_case_and_script_are_folded_and_words_are_whole() {
        let policy = Policy::new([("a", "abc\n国王")]).unwrap();
        assert_eq!(policy.check("看ＡＢＣ").len(), 1);
        assert_eq!(policy.check("看abcd").len(), 0);
        assert_eq!(policy.check("國王睡了")[0].start_char, 0);
    }

    #[test]
    fn no_spelling_is_missed() {
        assert!(('\u{10000}'..=char::MAX).all(|c| fold_char(c) == c));
        let policy = Policy::new([("a", "国王\nab")]).unwrap();
        for text in ["国王", "國王", "ab", "aB", "Ａｂ", "ａＢ"] {
            assert_eq!(policy.check(&format!("看{text}")).len(), 1, "{text}");
        }
    }

    #[test]
    fn an_empty_shield_is_an_error_with_its_line() {
        let error = Policy::new([("a", "云\n!  # nothing")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "list a, line 2: no term after `!` (write the harmless word that shields a term)"
        );
    }

    #[test]
    fn few_real_posts_are_held() {
        let Some(root) = std::env::var_os("RIDDLEMILL_REFERENCE").map(std::path::PathBuf::from) else {
            eprintln!("skipped: RIDDLEMILL_REFERENCE is unset");
            return;
        };
        let policy = Policy::with_shipped_lists().unwrap();
        let read = |name: &str| -> Vec<serde_json::Value> {
            serde_json::from_str(&std::fs::read_to_string(root.join("data/raw/leymore").join(name)).unwrap())
                .unwrap()
        };
        let mut texts: Vec<String> = Vec::new();
        for row in read("ruozhiba-title-good.json") {
            texts.push(format!(
                "{}\n{}",
                row["title"].as_str().unwrap(),
                row["abs"].as_str().unwrap_or_default()
            ));
        }
        for row in read("ruozhiba-post-annual.json") {
            texts.push(row["content"].as_str().unwrap().to_owned());
        }
        let hits: Vec<_> = texts.iter().filter_map(|text| policy.check(text).into_iter().next()).collect();
        let share = hits.len() as f64 / texts.len() as f64;
        let terms: Vec<_> = hits.iter().map(|hit| hit.term.as_str()).collect();
        eprintln!(
            "policy: {} of {} real posts held ({:.2} %): {terms:?}",
            hits.len(),
            texts.len(),
            share * 100.0
        );
        assert!(share < 0.01);
    }
}
