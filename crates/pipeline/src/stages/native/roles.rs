//! The questions of a puzzle's group, by their roles.

use riddlemill_record::{Column, OwnedCell, Record, Row};

/// The roles of a group with what is behind their ids.
pub const ROLES: [(&str, &str); 3] = [("original", ""), ("semantic", "_SR"), ("context", "_CR")];

/// A question of a puzzle's group with its role and where it is from, before it has a text.
pub(in crate::stages) fn bare_variant(puzzle: &Row, into: &'static [Column], role: &str, id: &str) -> Row {
    let mut variant = Row::new(into, id);
    variant.set_text("group", puzzle.id());
    variant.set_text("role", role);
    for column in ["source", "file"] {
        variant.set_text(column, puzzle.text(column).unwrap_or_default());
    }
    variant.set("position", OwnedCell::Count(puzzle.count("position").unwrap_or_default()));
    for column in ["kind", "licence"] {
        if let Some(text) = puzzle.text(column) {
            variant.set_text(column, text);
        }
    }
    variant
}

/// Question, answer and distractors of a puzzle in a role.
pub(in crate::stages) fn of_role<'p>(
    puzzle: &'p Row,
    role: &str,
) -> (Option<&'p str>, Option<&'p str>, &'p [String]) {
    // A puzzle has a question and an answer, if only empty ones; its reconstructions may lack them.
    let own = |column| Some(puzzle.text(column).unwrap_or_default());
    match role {
        "semantic" => (puzzle.text("semantic_question"), own("answer"), puzzle.list("distractors")),
        "context" => (
            puzzle.text("context_question"),
            puzzle.text("context_answer"),
            puzzle.list("context_distractors"),
        ),
        _ => (own("question"), own("answer"), puzzle.list("distractors")),
    }
}
