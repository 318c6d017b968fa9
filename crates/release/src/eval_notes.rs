//! What the files of eval/ do not do as `evaluate` does, in sentences for the files and the card.

use std::collections::BTreeMap;

/// The sentences of a task of a set: how many answers `evaluate` takes to an item, whether an answer states a confidence, and
/// what was found about how many items.
pub(super) fn notes(found: &BTreeMap<String, u64>, set: &str, samples: u32, confidence: bool) -> Vec<String> {
    let several = (samples > 1).then(|| {
        format!(
            "`riddlemill evaluate` takes {samples} answers to each item, and computes their mean, pass@k and majority. The files of \
             eval/ ask once: `inspect eval --epochs {samples}` asks as often, and `riddlemill evaluate {set} --outputs LOG` computes \
             these figures from its log."
        )
    });
    let confidence = confidence.then(|| {
        format!("An answer states a confidence, which is left out here: `riddlemill evaluate {set}` computes the calibration.")
    });
    let found = found.iter().map(|(finding, items)| match items {
        1 => format!("1 item: {finding}."),
        _ => format!("{items} items: {finding}."),
    });
    several.into_iter().chain(confidence).chain(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_asked_once_needs_no_words() {
        assert!(notes(&BTreeMap::new(), "traps", 1, false).is_empty());
        let found = BTreeMap::from([("no prompt is in its language".to_owned(), 2)]);
        let [several, confidence, found] = &notes(&found, "traps", 3, true)[..] else { panic!() };
        assert!(several.contains("takes 3 answers") && several.contains("`inspect eval --epochs 3`"));
        assert!(confidence.contains("computes the calibration"));
        assert_eq!(found, "2 items: no prompt is in its language.");
    }
}
