//! The published questions of a puzzle's group.

use super::index::with_values;
use super::{Published, PublishedRow};
use crate::stages::native::{ROLES, bare_variant, of_role};
use riddlemill_record::{Column, Outcome, OwnedCell, Record, Row};

/// The questions of the rows of a puzzle's group. If people decided differently on the puzzle, a question follows
/// that and keeps the order of its options.
pub fn published_group(
    published: &Published,
    step: &str,
    puzzle: &Row,
    earlier: &[&str],
    into: &'static [Column],
) -> Outcome<Row> {
    let untouched =
        earlier.iter().fold(puzzle.clone(), |puzzle, step| published.apply_to_record(&puzzle, step));
    let rows: Vec<&PublishedRow> = published.of_record(puzzle.id()).collect();
    let mut variants = Vec::with_capacity(rows.len());
    for row in rows {
        let role = ROLES.iter().map(|(role, _)| *role).find(|role| *role == row.role).unwrap_or("original");
        let mut bare = bare_variant(puzzle, into, role, &row.id);
        bare.set_text("file", row.file.as_str());
        bare.set("position", OwnedCell::Count(row.position));
        let mut variant = with_values(&bare, &published.values_of_row(row, step), step);
        let (now, then) = (of_role(puzzle, role), of_role(&untouched, role));
        if now.0 != then.0 {
            variant.set_text("question", now.0.unwrap_or_default());
        }
        if now.1 != then.1 {
            variant.set_text("answer", now.1.unwrap_or_default());
        }
        if now.2 != then.2 {
            variant.set_list("distractors", now.2.to_vec());
        }
        if puzzle.text("kind") != untouched.text("kind") {
            variant.set_text("kind", puzzle.text("kind").unwrap_or_default());
        }
        variants.push((variant, role));
    }
    Outcome::Expanded(variants)
}
