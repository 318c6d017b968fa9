//! Rows of BrainTeaser's stages, as tests read them.

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill::puzzle::options::{NONE, ordered_options, place_of_right};
use riddlemill::recipe;
use riddlemill::record::Row;
use riddlemill::store::{StageReader, Workspace as Place};

use crate::harness::Workspace;

pub const BRAIN: &str = "brainteaser";

/// The rows of a step.
pub fn rows(ws: &Path, step: &str) -> Vec<Row> {
    let (number, step) = recipe::find_recipe(BRAIN).unwrap().find_step(step).unwrap();
    let place = Place::new(ws).stage_folder(BRAIN, number, step.name);
    StageReader::open(&place).unwrap().unwrap().all_of(step.stage.rows().columns(), "rows").unwrap()
}

/// Whether a puzzle's answer looks at letters instead of meaning.
pub fn is_word(puzzle: &Row) -> bool {
    puzzle.text("kind") == Some("word")
}

/// Variants by group; every group has its three, and every row is consistent with its parts.
pub fn groups(ws: &Workspace) -> BTreeMap<String, Vec<Row>> {
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows(ws.root(), "topic") {
        let places: Vec<u64> = row.list("order").iter().map(|place| place.parse().unwrap()).collect();
        let places: [u64; 4] = places.try_into().unwrap();
        let distractors: [String; 3] = row.list("distractors").to_vec().try_into().unwrap();
        let answer = row.text("answer").unwrap();
        let shown = ordered_options(answer, &distractors, &places);
        assert_eq!(shown[place_of_right(&places) as usize], answer, "{row:?}");
        let replaced = row.text("original_answer").is_some();
        assert_eq!((shown[3].as_str(), replaced), (NONE, answer == NONE), "{row:?}");
        groups.entry(row.text("group").unwrap().to_owned()).or_default().push(row);
    }
    for (group, rows) in &groups {
        let roles: Vec<&str> = rows.iter().map(|row| row.text("role").unwrap()).collect();
        assert_eq!(roles, ["original", "semantic", "context"], "{group}");
    }
    groups
}
