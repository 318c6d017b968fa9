//! `puzzle_group`: from a puzzle to the three questions of its group, each with its options (BrainTeaser 3.3 and 3.4).

use std::collections::BTreeMap;

use serde_json::Value;

use super::roles::{ROLES, bare_variant, of_role};
use super::{
    About, Declared, Job, NewRows, Operation, RecordShape, Records, Stage, StepContext, puzzle_settings,
};
use crate::config::{Config, sections};
use crate::stages::context::{StageError, StageRows};
use crate::stages::published;
use riddlemill_record::{Column, Outcome, Reason, Record, Row, Standing, is_published};
use riddlemill_tables::Manifest;
use riddlemill_text::puzzle::options::{self, Options, OptionsError};

#[derive(Debug)]
struct PuzzleGroup(&'static Declared);

pub(super) static OPERATION: Operation = Operation {
    name: "puzzle_group",
    // 2 takes the distractors of a new situation from their own ballot.
    version: 2,
    section: "puzzles",
    records: Records::Made {
        of: &[RecordShape::Columns(&[
            "question",
            "answer",
            "kind",
            "distractors",
            "semantic_question",
            "context_question",
            "context_answer",
            "context_distractors",
        ])],
        into: &[RecordShape::Columns(&[
            "group",
            "kind",
            "role",
            "question",
            "answer",
            "distractors",
            "order",
            "original_answer",
            "standing",
        ])],
    },
    inputs: &[],
    gives: &[],
    settings: &[],
    of_declared: "`records = \"puzzles\"` in front of `steps` and `records = \"reconstructions\"` in this step's table name the built-in kinds; \
         `[columns.NAME]` declares one of your own",
    stage: |step| Box::new(PuzzleGroup(step)),
};

impl Stage for PuzzleGroup {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let mut decide = config.stage_settings(Some(recipe), OPERATION.section);
        // The table's other settings, such as the place of WordNet, do not change these rows.
        decide.retain(|key, _| ["none_share", "train_share"].contains(&key.as_str()));
        decide.extend(config.stage_settings(Some(recipe), "options"));
        decide
    }

    fn count_children(&self, _: &StepContext<'_>, _: &Manifest) -> Result<u64, StageError> {
        Ok(ROLES.len() as u64)
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let (settings, seed) = puzzle_settings(job.step.config, job.step.recipe);
        let benchmark = riddlemill_benchmarks::find_benchmark(job.step.recipe);
        let steps: Vec<&str> =
            benchmark.iter().flat_map(|benchmark| &benchmark.steps).map(|step| step.name).collect();
        let (mut writer, published, step) = (job.create_row_writer()?, job.load_published()?, job.step.step);
        let into = self.rows().columns();
        job.each_of(StageRows::columns, &mut writer, |puzzle: Row| match is_published(puzzle.id()) {
            true => published::published_group(&published, step, &puzzle, &steps, into),
            false => make_group(&puzzle, into, &settings, seed),
        })?;
        Ok(writer.into())
    }
}

/// Why a puzzle does not give a group of three questions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{role}: {lack}")]
struct Incomplete {
    /// The question that is missing.
    role: &'static str,
    lack: PuzzleLack,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PuzzleLack {
    #[error("it has no {0}")]
    Part(&'static str),
    #[error("it has {0} distractors, not 3")]
    Distractors(usize),
    #[error(transparent)]
    Options(#[from] OptionsError),
}

/// Three questions, or none: a group that lacks one, or has two equal options, is held.
fn make_group(
    puzzle: &Row,
    into: &'static [Column],
    settings: &sections::Puzzles,
    seed: u64,
) -> Outcome<Row> {
    let variant = |(role, mark)| {
        let bare = bare_variant(puzzle, into, role, &format!("{}{mark}", puzzle.id()));
        make_variant(puzzle, bare, settings, seed).map_err(|lack| Incomplete { role, lack })
    };
    let variants: Result<Vec<Row>, Incomplete> = ROLES.into_iter().map(variant).collect();
    match variants {
        Ok(variants) => Outcome::Expanded(variants.into_iter().zip(ROLES.map(|(role, _)| role)).collect()),
        Err(incomplete) => {
            Outcome::Held { reason: Reason::GroupIncomplete, evidence: incomplete.to_string().into() }
        }
    }
}

fn make_variant(puzzle: &Row, bare: Row, settings: &sections::Puzzles, seed: u64) -> Result<Row, PuzzleLack> {
    let mut variant = bare;
    let role = variant.text("role").unwrap_or_default().to_owned();
    puzzle.text("kind").ok_or(PuzzleLack::Part("kind"))?;
    let (question, answer, distractors) = of_role(puzzle, &role);
    let question = question.filter(|text| !text.trim().is_empty()).ok_or(PuzzleLack::Part("question"))?;
    let answer = answer.ok_or(PuzzleLack::Part("answer"))?;
    let [first, second, third] = distractors else {
        return Err(PuzzleLack::Distractors(distractors.len()));
    };
    let replaced = options::is_replaced_group(seed, puzzle.id(), settings.none_share);
    let Options { answer, distractors, original_answer, order } =
        options::build_options(answer, [first, second, third], replaced, seed, variant.id())?;
    variant.set_text("question", question);
    variant.set_text("answer", answer);
    variant.set_list("distractors", distractors.into());
    variant.set_list("order", order.map(|place| place.to_string()).into());
    if let Some(original) = original_answer {
        variant.set_text("original_answer", original);
    }
    if settings.train_share > 0.0 {
        let train = options::is_training_group(seed, puzzle.id(), settings.train_share);
        variant.set_text("split", if train { "train" } else { "test" });
    }
    variant.set_text("standing", standing_of_variant(puzzle, &role).code());
    Ok(variant)
}

/// The standing of a variant is the lowest of its parts. Parts for which nothing was proposed needed no vote.
fn standing_of_variant(puzzle: &Row, role: &str) -> Standing {
    let mut of = vec!["kind_status"];
    // The new situation has distractors of its own.
    if role != "context" {
        of.push("distractors_status");
    }
    // Few texts are written anew.
    if puzzle.text("text_status").is_some() {
        of.push("text_status");
    }
    if !puzzle.list("corrections").is_empty() {
        of.push("spelling_status");
    }
    if puzzle.text("kind") != Some("word") {
        of.push("premises_status");
    }
    match role {
        "semantic" => of.push("semantic_status"),
        "context" => of.extend(["context_status", "context_distractors_status"]),
        _ => {}
    }
    // A sound group is asked for of a part of the set only (3.5).
    if puzzle.text("validity_status").is_some() {
        of.push("validity_status");
    }
    Standing::least_sure(of.into_iter().map(|column| puzzle.text(column)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stages::subject::rows::{columns_of_kind, make_row};
    use riddlemill_record::OwnedCell;
    use serde_json::json;

    fn settings(none_share: f64, train_share: f64) -> sections::Puzzles {
        sections::Puzzles {
            wordnet: String::new(),
            premises: String::new(),
            endpoint: String::new(),
            embeddings: String::new(),
            cosine: 0.92,
            none_share,
            train_share,
        }
    }

    fn puzzle(id: &str) -> Row {
        make_row(
            "puzzles",
            json!({
                "id": id,
                "question": "Which bird goes down?",
                "answer": "A swallow.",
                "kind": "word",
                "distractors": ["A duck.", "A robin.", "A heron."],
                "semantic_question": "A bird goes down. Which?",
                "context_question": "Which bird lifts loads?",
                "context_answer": "A crane.",
                "context_distractors": ["An eagle.", "A heron.", "A stork."],
                "kind_status": "confirmed",
                "distractors_status": "confirmed",
                "semantic_status": "confirmed",
                "context_status": "confirmed",
                "context_distractors_status": "confirmed",
            }),
        )
    }

    fn three(puzzle: &Row, settings: &sections::Puzzles) -> Option<Vec<Row>> {
        match make_group(puzzle, columns_of_kind("reconstructions"), settings, 1) {
            Outcome::Expanded(rows) => Some(rows.into_iter().map(|(row, _)| row).collect()),
            Outcome::Held { reason: Reason::GroupIncomplete, .. } => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_group_shares_what_a_group_shares() {
        for share in [0.0, 1.0] {
            let rows = three(&puzzle("riddle:7"), &settings(share, 0.0)).unwrap();
            let ids: Vec<&str> = rows.iter().map(Row::id).collect();
            assert_eq!(ids, ["riddle:7", "riddle:7_SR", "riddle:7_CR"]);
            let shared =
                |row: &Row| (row.cell("answer").map(OwnedCell::from), row.list("distractors").to_vec());
            assert_eq!(shared(&rows[0]), shared(&rows[1]));
            assert!(rows.iter().all(|row| (row.text("answer") == Some(options::NONE)) == (share > 0.5)));
            assert!(rows.iter().all(|row| row.text("original_answer").is_some() == (share > 0.5)));
            assert!(rows.iter().all(|row| row.text("standing") == Some("confirmed")));
            assert!(rows.iter().all(|row| row.text("split").is_none()));
        }
        let mut provisional = puzzle("x");
        provisional.set_text("semantic_status", "provisional");
        let rows = three(&provisional, &settings(0.0, 0.0)).unwrap();
        let standings: Vec<_> = rows.iter().map(|row| row.text("standing").unwrap()).collect();
        assert_eq!(standings, ["confirmed", "provisional", "confirmed"]);
    }

    #[test]
    fn a_split_keeps_groups_together() {
        let settings = settings(0.06, 0.8);
        let mut train = 0;
        for n in 0..500 {
            let rows = three(&puzzle(&format!("riddle:{n}")), &settings).unwrap();
            assert!(rows.iter().all(|row| row.text("split") == rows[0].text("split")));
            train += usize::from(rows[0].text("split") == Some("train"));
        }
        assert!((350..450).contains(&train), "{train} of 500");
    }

    proptest! {
        #[test]
        fn three_rows_or_none(lacking in 0..7usize, id in "[a-z]{1,6}") {
            let mut puzzle = puzzle(&id);
            match lacking {
                0 => puzzle.set("semantic_question", OwnedCell::Null),
                1 => puzzle.set_text("context_question", " "),
                2 => puzzle.set("context_answer", OwnedCell::Null),
                3 => puzzle.set_list("distractors", ["A duck.", "A robin."].map(String::from).into()),
                4 => {
                    let same = ["An eagle.", "an eagle", "A stork."];
                    puzzle.set_list("context_distractors", same.map(String::from).into());
                }
                5 => puzzle.set("kind", OwnedCell::Null),
                _ => {}
            }
            let rows = three(&puzzle, &settings(0.06, 0.0));
            prop_assert_eq!(rows.map(|rows| rows.len()), (lacking == 6).then_some(3));
        }
    }
}
