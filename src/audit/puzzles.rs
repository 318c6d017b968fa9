//! `report`: the tables of BrainTeaser's paper, from the questions at the recipe's end.

use serde::Serialize;

use crate::puzzle::options::{NONE, choices};
use crate::puzzle::reconstruction::overlap;
use crate::puzzle::statistics::{Figures, Row, Topic, figures, topics};
use crate::recipe::Recipe;
use crate::record::Variant;
use crate::stages::Rows;
use crate::store::{Error, StageReader, Workspace};

/// Topics that table 6 names.
const TOPICS: usize = 10;

/// Tables 3 and 6, a column a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PuzzleTables {
    /// Sentence puzzles, then word puzzles.
    pub kinds: Vec<Kind>,
}

/// The figures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kind {
    /// `sentence` or `word`.
    pub kind: &'static str,
    /// Groups of three.
    pub groups: usize,
    /// Of them, those in which `None of above.` is right.
    pub none: usize,
    /// Table 3.
    pub figures: Option<Figures>,
    /// The share of the original's content words that a rephrasing keeps, on average.
    pub kept_in_semantic: Option<f64>,
    /// The share of the original's content words that a new situation keeps, on average.
    pub kept_in_context: Option<f64>,
    /// Table 6, as far as topics were drafted.
    pub topics: Vec<Topic>,
}

/// The tables of what stands at a recipe's end; `None` where it makes no puzzles or did not get there.
///
/// # Errors
/// [`Error`] where a stage cannot be read.
pub fn puzzle_tables(workspace: &Workspace, recipe: &'static Recipe) -> Result<Option<PuzzleTables>, Error> {
    let Some(last) = recipe.steps.last().filter(|_| recipe.rows() == Rows::Variants) else {
        return Ok(None);
    };
    let place = workspace.stage(recipe.name, recipe.steps.len(), last.name);
    let Some(reader) = StageReader::open(&place)? else { return Ok(None) };
    let rows: Vec<Variant> = reader.all("rows")?;
    Ok(Some(PuzzleTables { kinds: ["sentence", "word"].map(|kind| of(kind, &rows)).into() }))
}

fn of(kind: &'static str, rows: &[Variant]) -> Kind {
    let rows: Vec<&Variant> = rows.iter().filter(|row| row.kind == kind).collect();
    let shown: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let parts: Option<([String; 3], [u64; 4])> =
                row.distractors.clone().try_into().ok().zip(row.places());
            parts.map(|(wrong, places)| choices(&row.answer, &wrong, &places).to_vec()).unwrap_or_default()
        })
        .collect();
    let lines = rows.iter().zip(&shown).map(|(row, shown)| Row {
        question: &row.question,
        answer: &row.answer,
        choices: shown,
    });
    let originals: Vec<&&Variant> = rows.iter().filter(|row| row.role == "original").collect();
    let kept = |role: &str| {
        let shares: Vec<f64> = originals
            .iter()
            .filter_map(|original| {
                let variant = rows.iter().find(|row| row.group == original.group && row.role == role)?;
                Some(overlap(&original.question, &variant.question).kept)
            })
            .collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    Kind {
        kind,
        groups: originals.len(),
        none: originals.iter().filter(|row| row.answer == NONE).count(),
        figures: figures(lines),
        kept_in_semantic: kept("semantic"),
        kept_in_context: kept("context"),
        topics: topics(rows.iter().filter_map(|row| row.topic.as_deref()), TOPICS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_apart() {
        let row = |kind: &str, role: &str, question: &str, topic: Option<&str>| Variant {
            group: "g".into(),
            kind: kind.into(),
            role: role.into(),
            question: question.into(),
            answer: NONE.into(),
            distractors: ["One.", "Two words.", "Three."].map(String::from).into(),
            order: ["2", "1", "3", "0"].map(String::from).into(),
            topic: topic.map(Into::into),
            ..Variant::default()
        };
        let rows = [
            row("word", "original", "Which red bird sings?", Some("Animals")),
            row("word", "semantic", "A red bird sings. Which?", Some("Animals")),
            row("word", "context", "Which blue fish sings?", None),
        ];
        let word = of("word", &rows);
        assert_eq!((word.groups, word.none, word.figures.unwrap().puzzles), (1, 1, 3));
        assert_eq!(
            (word.kept_in_semantic, word.kept_in_context.map(|x| (x * 3.0).round())),
            (Some(1.0), Some(1.0))
        );
        assert_eq!(word.topics, [Topic { topic: "Animals".into(), frequency: 2 }]);
        assert_eq!((of("sentence", &rows).groups, of("sentence", &rows).figures), (0, None));
    }
}
