//! The published questions of a puzzle's group.

use super::index::with_values;
use super::{Published, PublishedRow};
use crate::stages::native::ROLES;
use riddlemill_text::record::{Outcome, Puzzle, Row, Variant};

/// The questions that the rows of a puzzle's group are. Where people decided otherwise on the puzzle, a question follows
/// that and keeps the order of its options.
pub fn group(published: &Published, step: &str, puzzle: &Row, earlier: &[&str]) -> Outcome<Variant> {
    let untouched = earlier.iter().fold(puzzle.clone(), |puzzle, step| published.with(&puzzle, step));
    let (puzzle, untouched): (&Puzzle, Puzzle) = (&puzzle.typed(), untouched.typed());
    let rows: Vec<&PublishedRow> = published.of_record(&puzzle.id).collect();
    let mut variants = Vec::with_capacity(rows.len());
    for row in rows {
        let role = ROLES.iter().map(|(role, _)| *role).find(|role| *role == row.role).unwrap_or("original");
        let bare = Variant {
            id: row.id.clone(),
            group: puzzle.id.clone(),
            role: role.into(),
            kind: puzzle.kind.clone().unwrap_or_default(),
            source: puzzle.source.clone(),
            file: row.file.clone(),
            position: row.position,
            licence: puzzle.licence.clone(),
            ..Variant::default()
        };
        let mut variant = with_values(&bare, &published.values_of_row(row, step), step);
        let (now, then) = (of_role(puzzle, role), of_role(&untouched, role));
        if now.0 != then.0 {
            variant.question = now.0.clone().unwrap_or_default();
        }
        if now.1 != then.1 {
            variant.answer = now.1.clone().unwrap_or_default();
        }
        if now.2 != then.2 {
            variant.distractors = now.2.clone();
        }
        if puzzle.kind != untouched.kind {
            variant.kind = puzzle.kind.clone().unwrap_or_default();
        }
        variants.push((variant, role));
    }
    Outcome::Expanded(variants)
}

/// Question, answer and distractors of a question of the group.
fn of_role(puzzle: &Puzzle, role: &str) -> (Option<String>, Option<String>, Vec<String>) {
    let (question, answer) = (Some(puzzle.question.clone()), Some(puzzle.answer.clone()));
    match role {
        "semantic" => (puzzle.semantic_question.clone(), answer, puzzle.distractors.clone()),
        "context" => (
            puzzle.context_question.clone(),
            puzzle.context_answer.clone(),
            puzzle.context_distractors.clone(),
        ),
        _ => (question, answer, puzzle.distractors.clone()),
    }
}
