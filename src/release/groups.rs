//! The numbers that groups of puzzles bear: `SP-0`, `SP-0_SR`, `SP-0_CR`.

use super::layout::Puzzle;
use super::registry::Ordinals;
use super::row::Row;
use crate::record::Variant;

/// A variant as the row of a release; `None` where it is no question with four options.
pub(super) fn variant_row(variant: Variant, numbers: &Ordinals) -> Option<Row> {
    let series = series(&variant);
    let number = numbers.find(series, &variant.group)?;
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

/// Sentence or word puzzles.
pub(super) fn series(variant: &Variant) -> &'static str {
    if variant.kind == "word" { "WP" } else { "SP" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_groups_rows_share_its_number() {
        let mut numbers = Ordinals::default();
        numbers.know("WP", "riddle:7", 3);
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
