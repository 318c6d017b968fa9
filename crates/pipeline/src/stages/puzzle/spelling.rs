//! Typing errors, as proposals for a person (section 3.2).

use super::strip::shown;
use riddlemill_text::puzzle::spelling::{Speller, corrected};
use riddlemill_text::record::{Outcome, Puzzle, Reason};

/// Puts the corrections that a dictionary proposes beside the text, which stays as it is until people say so.
pub fn spelling(mut puzzle: Puzzle) -> Outcome<Puzzle> {
    let corrections = Speller::bundled().corrections(&puzzle.question, &puzzle.answer);
    if corrections.is_empty() {
        return Outcome::Kept(puzzle);
    }
    puzzle.corrections = corrections.iter().map(ToString::to_string).collect();
    let (question, answer) =
        (corrected(&puzzle.question, &corrections), corrected(&puzzle.answer, &corrections));
    let (before, after) = (shown(&puzzle.question, &puzzle.answer), shown(&question, &answer));
    (puzzle.question_draft, puzzle.answer_draft) = (Some(question), Some(answer));
    let evidence = puzzle.corrections.join(", ");
    Outcome::Changed { row: puzzle, rule: Reason::Misspelt.code(), evidence, before, after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_waits_for_people() {
        let puzzle = |question: &str| Puzzle {
            question: question.into(),
            answer: "A clock.".into(),
            ..Puzzle::default()
        };
        let outcome = spelling(puzzle("Which mornign never ends?"));
        let Outcome::Changed { row, evidence, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (row.question.as_str(), evidence.as_str()),
            ("Which mornign never ends?", "mornign -> morning")
        );
        assert_eq!(row.question_draft.as_deref(), Some("Which morning never ends?"));
        assert!(matches!(spelling(puzzle("Which morning never ends?")), Outcome::Kept(_)));
    }
}
