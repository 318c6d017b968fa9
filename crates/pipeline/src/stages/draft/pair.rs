//! The normal question next to a tricky one (figure 3).

use riddlemill_llm::parse::{Unreadable, object, optional_text};
use riddlemill_review::Values;
use riddlemill_text::text::normalise::{Fold, fold};

pub(super) fn read(reply: &str) -> Result<Values, Unreadable> {
    let map = object(reply, &["pair"])?;
    Ok(match optional_text(&map, "pair")? {
        Some(pair) => [("pairing", "accept"), ("pair", pair)].into_iter().collect(),
        None => [("pairing", "none")].into_iter().collect(),
    })
}

/// A pair that changes nothing, or everything.
pub(in crate::stages) fn check(question: &str, pair: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if fold(question, Fold::KEY) == fold(pair, Fold::KEY) {
        findings.push("equals its question".into());
    } else if strsim::normalized_levenshtein(&question.to_lowercase(), &pair.to_lowercase()) < MIN_LIKENESS {
        findings.push("is another question altogether".into());
    }
    if question.contains('?') != pair.contains('?') {
        findings.push("has another form than its question".into());
    }
    findings
}

/// Under this a pair is hardly a minimal edit. Of the 158 published pairs of a reference split 139 lie over it.
const MIN_LIKENESS: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_fits_is_an_answer() {
        let read = |reply| read(reply).unwrap();
        assert_eq!(read(r#"{"pair": null}"#).text("pairing"), Some("none"));
        assert_eq!(read(r#"{"pair": "none fits"}"#).text("pair"), None);
        assert_eq!(read(r#"{"pair": "Why do cats sleep?"}"#).text("pair"), Some("Why do cats sleep?"));
    }

    #[test]
    fn a_pair_differs_a_little() {
        let question = "Why do cats never sleep on the moon?";
        assert_eq!(check(question, "Why do cats sleep on the sofa?"), Vec::<String>::new());
        assert_eq!(
            check(question, "why do cats never sleep on the moon"),
            ["equals its question", "has another form than its question"]
        );
        assert!(check(question, "Q?")[0].contains("altogether"));
    }
}
