//! Chinese translations of the libraries' English sentences, from `sentences.toml`. Other sentences are unchanged; names,
//! figures, settings and commands are never translated.

use std::sync::LazyLock;

use crate::pipeline::sentence_pairs;

/// English with `{}` for values of the workspace, and the Chinese, with as many in the same order, as translators edit them.
const FILE: &str = include_str!("sentences.toml");

static PAIRS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| sentence_pairs(FILE));

static SENTENCES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| PAIRS.iter().map(|(en, zh)| (en.as_str(), zh.as_str())).collect());

/// A sentence of the libraries in Chinese; `None` without a translation.
pub fn sentence(text: &str) -> Option<String> {
    translated(&SENTENCES, text)
}

/// Translates a text by a list of patterns, English and Chinese, with `{}` for values that are translated
/// themselves.
pub fn translated(known: &[(&str, &str)], text: &str) -> Option<String> {
    let (zh, given) = known.iter().find_map(|(en, zh)| Some((*zh, holes(en, text)?)))?;
    Some(fill(zh, &given))
}

/// The values in a pattern's `{}`; `None` if the text is another sentence.
fn holes<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut pieces = pattern.split("{}");
    let mut rest = text.strip_prefix(pieces.next()?)?;
    let mut found = Vec::new();
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        // The last piece has to end the text, because the value before it may contain the same words.
        let end =
            if pieces.peek().is_some() { rest.find(piece)? } else { rest.len().checked_sub(piece.len())? };
        if rest.get(end..end + piece.len())? != piece {
            return None;
        }
        found.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    rest.is_empty().then_some(found)
}

/// A text with its placeholders filled in.
pub fn fill(text: &str, given: &[&str]) -> String {
    let mut pieces = text.split("{}");
    let mut text = pieces.next().unwrap_or_default().to_string();
    for (given, piece) in given.iter().zip(pieces) {
        text.push_str(given);
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;

    #[test]
    fn sentences_keep_their_names_and_figures() {
        let zh = |text: &str| sentence(text).unwrap_or_else(|| text.to_string());
        assert_eq!(zh("no item has two votes"), "没有一条有两票");
        assert_eq!(
            zh("24 rows of flub are synthetic: people still have to confirm them"),
            "24 行（flub）来自合成投票，尚待人工确认"
        );
        assert_eq!(zh("500 from mine"), "500 from mine");
        assert_eq!(
            zh(
                "d:1 and d:2 became one row (\"x\"): both have the id ab; `riddlemill decide drop d:2 --recipe flub --by NAME --why \
                 TEXT` leaves one"
            ),
            "d:1 与 d:2 成为同一行 (\"x\")：编号同为 ab；`riddlemill decide drop d:2 --recipe flub --by NAME --why TEXT` 可只留其一"
        );
    }

    #[test]
    fn the_columns_of_every_set_are_described_in_chinese() {
        for layout in layout::all().copied().chain([layout::posts("flub")]) {
            let columns = layout.columns.iter().map(|column| column.about);
            let english: Vec<&str> =
                columns.chain([layout.about]).filter(|about| sentence(about).is_none()).collect();
            assert!(english.is_empty(), "{}: {english:?}", layout.config);
        }
    }

    #[test]
    fn every_sentence_has_as_many_holes_in_both_languages() {
        assert!(SENTENCES.len() > 50, "{} sentences", SENTENCES.len());
        for (en, zh) in SENTENCES.iter() {
            assert!(!en.is_empty() && !zh.is_empty(), "{en} {zh}");
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{en}");
            let filled = en.replace("{}", "x1");
            assert_eq!(sentence(&filled), Some(zh.replace("{}", "x1")), "{en}: another one takes it");
        }
    }
}
