//! The numbers that groups of puzzles bear: `SP-0`, `SP-0_SR`, `SP-0_CR`.

use std::collections::BTreeMap;

use super::end::End;
use super::layout::Puzzle;
use super::registry::Registry;
use super::row::Row;
use crate::record::Variant;
use crate::stages::Rows;
use crate::store::{Error, StageReader, Workspace};

/// Numbers by series and group: those that a release allotted stand for good, groups that are new get the next ones in
/// the order of the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    of: BTreeMap<(String, String), u64>,
    /// What the next release allots: series, group, number.
    pub new: Vec<(String, String, u64)>,
}

/// The numbers of the groups at a recipe's end; none where its rows are not in groups.
///
/// # Errors
/// [`Error`] where the registry or a part cannot be read.
pub(super) fn numbers(workspace: &Workspace, end: End, last: &StageReader) -> Result<Numbers, Error> {
    if end.rows() != Rows::Variants {
        return Ok(Numbers::default());
    }
    let mut ordinals = Registry::open(workspace, end.recipe().name)?.ordinals();
    let mut of = BTreeMap::new();
    for part in last.parts::<Variant>("rows") {
        for variant in part? {
            let series = series(&variant);
            let number = ordinals.of(series, &variant.group);
            of.insert((series.to_owned(), variant.group), number);
        }
    }
    Ok(Numbers { of, new: ordinals.allotted() })
}

/// A variant as the row of a release; `None` where it is no question with four options.
pub(super) fn variant_row(variant: Variant, numbers: &Numbers) -> Option<Row> {
    let series = series(&variant);
    let number = numbers.of.get(&(series.to_owned(), variant.group.clone()))?;
    let mark = match variant.role.as_str() {
        "semantic" => "_SR",
        "context" => "_CR",
        _ => "",
    };
    let order = variant.places()?;
    let puzzle = Puzzle {
        id: format!("{series}-{number}{mark}"),
        question: variant.question,
        answer: variant.answer,
        distractors: variant.distractors.try_into().ok()?,
        order,
        original_answer: variant.original_answer,
        split: variant.split,
        source_id: variant.group,
        standing: variant.standing,
    };
    Some(puzzle.row())
}

fn series(variant: &Variant) -> &'static str {
    if variant.kind == "word" { "WP" } else { "SP" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_groups_rows_share_its_number() {
        let numbers =
            Numbers { of: BTreeMap::from([(("WP".into(), "riddle:7".into()), 3)]), new: Vec::new() };
        let variant = |role: &str| Variant {
            group: "riddle:7".into(),
            kind: "word".into(),
            role: role.into(),
            distractors: vec!["b".into(), "c".into(), "None of above.".into()],
            order: ["1", "0", "2", "3"].map(String::from).into(),
            ..Variant::default()
        };
        let id = |variant| variant_row(variant, &numbers).map(|row| row.id().to_owned());
        let ids = ["original", "semantic", "context"].map(|role| id(variant(role)).unwrap());
        assert_eq!(ids, ["WP-3", "WP-3_SR", "WP-3_CR"]);
        assert_eq!(id(Variant { kind: "sentence".into(), ..variant("original") }), None);
    }
}
