//! BrainTeaser: the key statistics of table 3, the topics of table 6, agreement on validity (3.5), and what may be guessed.

use serde::Serialize;

use super::{Agreement, Reviewed};
use crate::puzzle::options::{NONE, choices};
use crate::puzzle::reconstruction::overlap;
use crate::puzzle::statistics::{Figures, Row, Topic, figures, topics};
use crate::record::Variant;
use crate::shortcuts::{Item, Shortcuts, measure};

/// Topics that table 6 names.
const TOPICS: usize = 10;

/// Tables 3 and 6, a column a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PuzzleTables {
    /// Sentence puzzles, then word puzzles.
    pub kinds: Vec<PuzzleKind>,
    /// How far experts agree on what is sound in a group (3.5), question by question.
    pub validity: Vec<(&'static str, Agreement)>,
    /// What they rate sound, and how far they agree on all three questions together.
    pub rated: Option<Rated>,
    /// What became of the drafts, a review a row.
    pub reviews: Vec<Reviewed>,
}

/// The validation of section 3.5: 99, 100 and 97 % valid, and a kappa of 0.948 in the paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rated {
    /// Groups with two votes or more.
    pub groups: usize,
    /// Each question with the share rated valid, 0 to 1, on average over the experts.
    pub shares: Vec<(&'static str, f64)>,
    /// Fleiss' kappa over all three questions, with the ends of its 95 % interval.
    pub kappa: Option<[f64; 3]>,
    /// Whether it takes a sample's votes to say so: no person voted.
    pub sample: bool,
}

impl Rated {
    /// The sentence of reports and cards.
    pub fn describe(&self) -> String {
        let names = [
            ("original", "originals"),
            ("semantic", "semantic reconstructions"),
            ("context", "context reconstructions"),
        ];
        let name = |field: &str| {
            names
                .iter()
                .find(|(known, _)| *known == field)
                .map_or(field.to_owned(), |(_, name)| (*name).to_owned())
        };
        let shares: Vec<String> = self
            .shares
            .iter()
            .map(|(field, share)| format!("{:.0} % of {}", share * 100.0, name(field)))
            .collect();
        let kappa = self.kappa.map_or_else(
            || "not defined".into(),
            |[kappa, low, high]| format!("{kappa:.3} [{low:.3}, {high:.3}]"),
        );
        format!(
            "rated valid: {} ({} groups); Fleiss' kappa of the three questions together {kappa}",
            shares.join(", "),
            self.groups
        )
    }
}

/// The figures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PuzzleKind {
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
    /// What may be guessed from the options.
    pub shortcuts: Option<Shortcuts>,
}

pub(super) fn tables(
    rows: &[Variant],
    validity: Vec<(&'static str, Agreement)>,
    rated: Option<Rated>,
    reviews: Vec<Reviewed>,
    seed: u64,
) -> PuzzleTables {
    let kinds = ["sentence", "word"].map(|kind| of_kind(kind, rows, seed));
    PuzzleTables { kinds: kinds.into(), validity, rated, reviews }
}

fn of_kind(kind: &'static str, rows: &[Variant], seed: u64) -> PuzzleKind {
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
    let items: Vec<Item<'_>> = rows
        .iter()
        .zip(&shown)
        .filter_map(|(row, options)| {
            let gold = options.iter().position(|option| *option == row.answer)?;
            Some(Item { id: &row.id, group: &row.group, question: &row.question, options, gold })
        })
        .collect();
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
    PuzzleKind {
        kind,
        groups: originals.len(),
        none: originals.iter().filter(|row| row.answer == NONE).count(),
        figures: figures(lines),
        kept_in_semantic: kept("semantic"),
        kept_in_context: kept("context"),
        topics: topics(rows.iter().filter_map(|row| row.topic.as_deref()), TOPICS),
        shortcuts: measure(&items, &[NONE], seed),
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
        let word = of_kind("word", &rows, 1);
        assert_eq!((word.groups, word.none, word.figures.unwrap().puzzles), (1, 1, 3));
        assert_eq!(
            (word.kept_in_semantic, word.kept_in_context.map(|x| (x * 3.0).round())),
            (Some(1.0), Some(1.0))
        );
        assert_eq!(word.topics, [Topic { topic: "Animals".into(), frequency: 2 }]);
        assert_eq!((of_kind("sentence", &rows, 1).groups, of_kind("sentence", &rows, 1).figures), (0, None));
    }
}
