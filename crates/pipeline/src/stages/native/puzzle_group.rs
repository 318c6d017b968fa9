//! `puzzle_group`: from a puzzle to the three questions of its group, each with its options (BrainTeaser 3.3 and 3.4).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Commit, Job, Operation, Records, Shape, Signature};
use crate::config::{Config, sections};
use crate::stages::published;
use crate::stages::stage::StageError;
use riddlemill_text::puzzle::options::{self, Options, OptionsError};
use riddlemill_text::record::{Outcome, Puzzle, Reason, Row, Standing, Variant, is_published};

pub(super) struct PuzzleGroup;

static SIGNATURE: Signature = Signature {
    name: "puzzle_group",
    // 2 takes the distractors of a new situation from their own ballot.
    version: 2,
    section: "puzzles",
    records: Records::Made {
        of: &[Shape::Columns(&[
            "question",
            "answer",
            "kind",
            "distractors",
            "semantic_question",
            "context_question",
            "context_answer",
            "context_distractors",
        ])],
        into: &[Shape::Columns(&[
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
};

impl Operation for PuzzleGroup {
    fn signature(&self) -> &'static Signature {
        &SIGNATURE
    }

    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        let mut decide = config.stage(Some(recipe), SIGNATURE.section);
        decide.retain(|key, _| ["none_share", "train_share"].contains(&key.as_str()));
        decide.extend(config.stage(Some(recipe), "options"));
        decide
    }

    fn children(&self) -> u64 {
        ROLES.len() as u64
    }

    fn of_declared(&self) -> &'static str {
        "`records = \"puzzles\"` in front of `steps` and `records = \"reconstructions\"` in this step's table name the built-in kinds; \
         `[columns.NAME]` declares one of your own"
    }

    fn make(&self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError> {
        let (settings, seed) = job.puzzles();
        let benchmark = riddlemill_benchmarks::find(job.asking.recipe);
        let steps: Vec<&str> =
            benchmark.iter().flat_map(|benchmark| &benchmark.steps).map(|step| step.name).collect();
        let mut writer = job.writer()?;
        let into = job.native.rows().columns();
        job.each(&mut writer, |row| {
            let puzzle: Puzzle = row.typed();
            let outcome = match is_published(&puzzle.id) {
                true => published::group(&job.published, job.step(), &row, &steps),
                false => group(puzzle, &settings, seed),
            };
            outcome.map(|variant| Row::of(into, &variant))
        })?;
        Ok(Box::new(writer))
    }
}

/// The roles of a group with what is behind their ids.
pub const ROLES: [(&str, &str); 3] = [("original", ""), ("semantic", "_SR"), ("context", "_CR")];

/// Why a puzzle is no group of three questions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{role}: {lack}")]
struct Incomplete {
    /// Of the question that cannot be made.
    role: &'static str,
    lack: Lack,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Lack {
    #[error("it has no {0}")]
    Part(&'static str),
    #[error("it has {0} distractors, not 3")]
    Distractors(usize),
    #[error(transparent)]
    Options(#[from] OptionsError),
}

/// Three questions, or none: a group that lacks one, or has options that read the same, is held.
fn group(puzzle: Puzzle, settings: &sections::Puzzles, seed: u64) -> Outcome<Variant> {
    let variant =
        |(role, mark)| variant(&puzzle, role, mark, settings, seed).map_err(|lack| Incomplete { role, lack });
    let variants: Result<Vec<Variant>, Incomplete> = ROLES.into_iter().map(variant).collect();
    match variants {
        Ok(variants) => Outcome::Expanded(variants.into_iter().zip(ROLES.map(|(role, _)| role)).collect()),
        Err(incomplete) => {
            Outcome::Held { reason: Reason::GroupIncomplete, evidence: incomplete.to_string() }
        }
    }
}

fn variant(
    puzzle: &Puzzle,
    role: &str,
    mark: &str,
    settings: &sections::Puzzles,
    seed: u64,
) -> Result<Variant, Lack> {
    let kind = puzzle.kind.clone().ok_or(Lack::Part("kind"))?;
    let own = (Some(&puzzle.question), Some(&puzzle.answer), &puzzle.distractors);
    let (question, answer, distractors) = match role {
        "semantic" => (puzzle.semantic_question.as_ref(), own.1, own.2),
        "context" => {
            (puzzle.context_question.as_ref(), puzzle.context_answer.as_ref(), &puzzle.context_distractors)
        }
        _ => own,
    };
    let question = question.filter(|text| !text.trim().is_empty()).ok_or(Lack::Part("question"))?;
    let answer = answer.ok_or(Lack::Part("answer"))?;
    let [first, second, third] = distractors.as_slice() else {
        return Err(Lack::Distractors(distractors.len()));
    };
    let id = format!("{}{mark}", puzzle.id);
    let replaced = options::replaced(seed, &puzzle.id, settings.none_share);
    let Options { answer, distractors, original_answer, order } =
        options::options(answer, [first, second, third], replaced, seed, &id)?;
    let split = (settings.train_share > 0.0).then(|| {
        let train = options::trains(seed, &puzzle.id, settings.train_share);
        if train { "train" } else { "test" }.to_owned()
    });
    Ok(Variant {
        group: puzzle.id.clone(),
        kind,
        role: role.into(),
        question: question.clone(),
        answer,
        distractors: distractors.into(),
        order: order.map(|place| place.to_string()).into(),
        original_answer,
        split,
        standing: standing(puzzle, role).code().into(),
        source: puzzle.source.clone(),
        file: puzzle.file.clone(),
        position: puzzle.position,
        licence: puzzle.licence.clone(),
        id,
        ..Variant::default()
    })
}

/// As sure as the least sure of what a variant is made of. Where nothing was proposed, nobody had to look.
fn standing(puzzle: &Puzzle, role: &str) -> Standing {
    let mut statuses = vec![puzzle.kind_status.as_deref()];
    // The new situation has distractors of its own.
    if role != "context" {
        statuses.push(puzzle.distractors_status.as_deref());
    }
    // Few texts are written anew.
    if puzzle.text_status.is_some() {
        statuses.push(puzzle.text_status.as_deref());
    }
    if !puzzle.corrections.is_empty() {
        statuses.push(puzzle.spelling_status.as_deref());
    }
    if !puzzle.is_word() {
        statuses.push(puzzle.premises_status.as_deref());
    }
    match role {
        "semantic" => statuses.push(puzzle.semantic_status.as_deref()),
        "context" => {
            statuses.push(puzzle.context_status.as_deref());
            statuses.push(puzzle.context_distractors_status.as_deref());
        }
        _ => {}
    }
    // A sound group is asked for of a part of the set only (3.5).
    if puzzle.validity_status.is_some() {
        statuses.push(puzzle.validity_status.as_deref());
    }
    Standing::least(statuses)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    fn puzzle(id: &str) -> Puzzle {
        let three = |a: &str, b: &str, c: &str| vec![a.to_owned(), b.to_owned(), c.to_owned()];
        let confirmed = Some("confirmed".to_owned());
        Puzzle {
            id: id.into(),
            question: "Which bird goes down?".into(),
            answer: "A swallow.".into(),
            kind: Some("word".into()),
            distractors: three("A duck.", "A robin.", "A heron."),
            semantic_question: Some("A bird goes down. Which?".into()),
            context_question: Some("Which bird lifts loads?".into()),
            context_answer: Some("A crane.".into()),
            context_distractors: three("An eagle.", "A heron.", "A stork."),
            kind_status: confirmed.clone(),
            distractors_status: confirmed.clone(),
            semantic_status: confirmed.clone(),
            context_status: confirmed.clone(),
            context_distractors_status: confirmed,
            ..Puzzle::default()
        }
    }

    fn three(puzzle: Puzzle, settings: &sections::Puzzles) -> Option<Vec<Variant>> {
        match group(puzzle, settings, 1) {
            Outcome::Expanded(rows) => Some(rows.into_iter().map(|(row, _)| row).collect()),
            Outcome::Held { reason: Reason::GroupIncomplete, .. } => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_group_shares_what_a_group_shares() {
        for share in [0.0, 1.0] {
            let rows = three(puzzle("riddle:7"), &settings(share, 0.0)).unwrap();
            let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
            assert_eq!(ids, ["riddle:7", "riddle:7_SR", "riddle:7_CR"]);
            assert_eq!((&rows[0].answer, &rows[0].distractors), (&rows[1].answer, &rows[1].distractors));
            assert!(rows.iter().all(|row| (row.answer == options::NONE) == (share > 0.5)));
            assert!(rows.iter().all(|row| row.original_answer.is_some() == (share > 0.5)));
            assert!(rows.iter().all(|row| row.standing == "confirmed" && row.split.is_none()));
        }
        let provisional = Puzzle { semantic_status: Some("provisional".into()), ..puzzle("x") };
        let standings: Vec<String> =
            three(provisional, &settings(0.0, 0.0)).unwrap().into_iter().map(|row| row.standing).collect();
        assert_eq!(standings, ["confirmed", "provisional", "confirmed"]);
    }

    #[test]
    fn a_split_keeps_groups_together() {
        let settings = settings(0.06, 0.8);
        let mut train = 0;
        for n in 0..500 {
            let rows = three(puzzle(&format!("riddle:{n}")), &settings).unwrap();
            assert!(rows.iter().all(|row| row.split == rows[0].split));
            train += usize::from(rows[0].split.as_deref() == Some("train"));
        }
        assert!((350..450).contains(&train), "{train} of 500");
    }

    proptest! {
        #[test]
        fn three_rows_or_none(lacking in 0..7usize, id in "[a-z]{1,6}") {
            let mut puzzle = puzzle(&id);
            match lacking {
                0 => puzzle.semantic_question = None,
                1 => puzzle.context_question = Some(" ".into()),
                2 => puzzle.context_answer = None,
                3 => puzzle.distractors.truncate(2),
                4 => puzzle.context_distractors[1] = "an eagle".into(),
                5 => puzzle.kind = None,
                _ => {}
            }
            let rows = three(puzzle, &settings(0.06, 0.0));
            prop_assert_eq!(rows.map(|rows| rows.len()), (lacking == 6).then_some(3));
        }
    }
}
