//! One record a puzzle (section 3.2): near questions whose answers agree.

use crate::config::sections;
use crate::stages::dedup::{decide_where, unmerged};
use crate::stages::{Pulse, StageError, Stop, Waiting};
use riddlemill_review::decisions::StageDecisions;
use riddlemill_tables::StageWriter;
use riddlemill_text::puzzle::sameness::answers_agree;
use riddlemill_text::record::{Outcome, Post, Puzzle};

/// Removes duplicates among puzzles. Questions are joined as the settings of dedup say, and `similar` adds pairs that
/// are near by other evidence, by number, with their likeness; of a pair that is near, the answers decide. Equal questions are one puzzle whatever their answers, which the ledger tells.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, or the user stopped.
pub fn dedup(
    puzzles: Vec<Puzzle>,
    settings: &sections::Dedup,
    decisions: &StageDecisions,
    similar: &[(usize, usize, f64)],
    writer: &mut StageWriter<Puzzle>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let questions: Vec<Post> = puzzles
        .iter()
        .map(|puzzle| Post { id: puzzle.id.clone(), text: puzzle.question.clone(), ..Post::default() })
        .collect();
    let agree = |a: usize, b: usize| answers_agree(&puzzles[a].answer, &puzzles[b].answer).0;
    let waiting = Waiting::new(stop, pulse, puzzles.len() as u64);
    let (outcomes, pairs) = decide_where(&questions, settings, decisions, similar, &waiting, agree)?;
    stop.check()?;
    let mut table = writer.table("pairs")?;
    pairs.iter().for_each(|pair| table.append(pair));
    writer.keep(table)?;
    let answers: std::collections::BTreeMap<String, String> =
        puzzles.iter().map(|puzzle| (puzzle.id.clone(), puzzle.answer.clone())).collect();
    for (puzzle, outcome) in puzzles.into_iter().zip(outcomes) {
        let id = puzzle.id.clone();
        let outcome = match outcome {
            Some(Outcome::Merged { into, reason, score, evidence }) => {
                let other = answers.get(&into).map(String::as_str).unwrap_or_default();
                let (_, share) = answers_agree(&puzzle.answer, other);
                let evidence = format!("{evidence}; answers share {share:.2}");
                Outcome::Merged { into, reason, score, evidence }
            }
            Some(Outcome::Changed { rule, evidence, before, after, .. }) => {
                Outcome::Changed { row: puzzle.clone(), rule, evidence, before, after }
            }
            _ => Outcome::Kept(puzzle.clone()),
        };
        let outcome = unmerged(&puzzle, outcome, Puzzle::clone);
        writer.append(&id, &outcome);
    }
    Ok(writer.flush()?)
}
