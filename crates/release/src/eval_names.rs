//! The names of tasks and files under eval/, and what these do not do as `evaluate` does, in sentences for the files and the card.

use std::collections::BTreeMap;

use serde::Serialize;

use super::layout::Layout;

/// The folder of the items.
pub(super) const ITEMS: &str = "eval/items";

/// How the sealed file of a task's items begins and ends; between stands the task's name.
const SEALED: [&str; 2] = ["items-", ".jsonl.zst"];

/// The name under which a file of items is sealed; `None` if it is none.
pub(super) fn sealed_name(path: &str) -> Option<String> {
    let name = path.strip_prefix(ITEMS)?.strip_prefix('/')?.strip_suffix(".jsonl")?;
    Some(SEALED.join(name))
}

/// The file of items that is sealed under a name; `None` if it is another file.
pub(super) fn path_of_sealed(sealed: &str) -> Option<String> {
    let name = sealed.strip_prefix(SEALED[0])?.strip_suffix(SEALED[1])?;
    Some(format!("{ITEMS}/{name}.jsonl"))
}

/// The file of a task's items of one file of rows: `flub_select.jsonl`, and `NAME.SPLIT.jsonl` of a set that is divided.
pub(super) fn item_file(layout: &Layout, task: &str, split: &str) -> String {
    match layout.declared_splits() {
        None => format!("{task}.jsonl"),
        Some(_) => format!("{task}.{split}.jsonl"),
    }
}

/// The splits of a set that is divided, as the files of eval/ use them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ItemSplits {
    /// Those with items, in order; empty if the set is not divided.
    pub with_items: Vec<String>,
    /// The one that is evaluated.
    pub evaluated: Option<String>,
    /// The one that solved examples are taken from.
    pub fewshot: Option<String>,
}

impl ItemSplits {
    /// Notes that a split has items.
    pub(super) fn note_split(&mut self, layout: &Layout, split: &str) {
        let Some(splits) = layout.declared_splits() else { return };
        self.with_items.push(split.to_owned());
        let names: Vec<&str> = self.with_items.iter().map(String::as_str).collect();
        let evaluated = splits.evaluated_split(&names).map(str::to_owned);
        self.fewshot = splits.fewshot.filter(|name| names.contains(name)).map(str::to_owned);
        self.evaluated = evaluated;
    }
}

/// A name in letters, digits and underscores, which does not begin with a digit.
pub(super) fn python_name(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("set_{name}") } else { name }
}

/// The sentences of a task of a set: how many answers `evaluate` takes to an item, whether an answer states a confidence, and
/// what was found about how many items.
pub(super) fn describe_task_notes(
    findings: &BTreeMap<String, u64>,
    set: &str,
    samples: u32,
    confidence: bool,
) -> Vec<String> {
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
    let found = findings.iter().map(|(finding, items)| match items {
        1 => format!("1 item: {finding}."),
        _ => format!("{items} items: {finding}."),
    });
    several.into_iter().chain(confidence).chain(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_in_python() {
        for (name, python) in [
            ("ruozhibench-mc_good-first", "ruozhibench_mc_good_first"),
            ("2-traps_ask", "set_2_traps_ask"),
            ("brainteaser_solve", "brainteaser_solve"),
        ] {
            assert_eq!(python_name(name), python);
        }
    }

    #[test]
    fn a_sealed_file_of_items_is_found_again() {
        let path = "eval/items/flub_select.jsonl";
        let sealed = sealed_name(path).unwrap();
        assert_eq!(
            (sealed.as_str(), path_of_sealed(&sealed)),
            ("items-flub_select.jsonl.zst", Some(path.into()))
        );
        assert_eq!((sealed_name("eval/scoring.py"), path_of_sealed("rows-flub.jsonl.zst")), (None, None));
    }

    #[test]
    fn a_task_that_is_asked_once_needs_no_words() {
        assert!(describe_task_notes(&BTreeMap::new(), "traps", 1, false).is_empty());
        let found = BTreeMap::from([("no prompt is in its language".to_owned(), 2)]);
        let [several, confidence, found] = &describe_task_notes(&found, "traps", 3, true)[..] else {
            panic!()
        };
        assert!(several.contains("takes 3 answers") && several.contains("`inspect eval --epochs 3`"));
        assert!(confidence.contains("computes the calibration"));
        assert_eq!(found, "2 items: no prompt is in its language.");
    }
}
