//! Two versions: how many rows each has, what left and why, what came, and what changed, side by side.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::causes::translate_passages;
use super::columns::cell_text;
use super::releases::{ReleaseVersion, find_version_folder, list_versions};
use crate::app::{App, find_recipe, read_blocking};
use crate::audit::StageEntry;
use crate::error::PageError;
use crate::i18n::{self, Language};
use crate::left::Left;
use crate::pipeline::Withheld;
use crate::recipe::Recipe;
use crate::release::diff::{
    CauseOf, Changed, ChangedField, ConfigDiff, Moves, OneSidedRow, WITHDRAWN, diff_folders,
};
use crate::release::{Causes, CurrentRows, DifferenceCause, LeftOut, last_stops};
use crate::view;
use crate::visitor::Visitor;

/// Most differences listed of each kind.
const SHOWN: usize = 100;
/// Most rows for which the decision that differs is looked up, because each reads through the ledgers.
const EXPLAINED: usize = 20;

/// Query parameters of a comparison.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VersionsQuery {
    before: String,
    after: String,
}

#[derive(Serialize)]
struct VersionComparison {
    recipe: &'static str,
    before: String,
    after: String,
    versions: Vec<ReleaseVersion>,
    configs: Vec<Config>,
    /// Most entries shown of each kind.
    shown: usize,
    /// Items that each of the two lacks because they wait or failed.
    left_out: [Vec<LeftOut>; 2],
}

#[derive(Serialize)]
struct Config {
    config: String,
    rows: (u64, u64),
    left: usize,
    came: usize,
    changed: usize,
    moved: bool,
    columns_added: Vec<String>,
    columns_removed: Vec<String>,
    /// How often a label became another, by column.
    labels: Vec<(String, Vec<Move>)>,
    /// Why rows left, most frequent first.
    reasons: Vec<LeavingReason>,
    gone: Vec<SingleVersionRow>,
    new: Vec<SingleVersionRow>,
    edits: Vec<Edit>,
}

/// A label before and after, and the number of rows.
type Move = (String, String, u64);

/// A reason for which rows left, as the ledgers say it now.
#[derive(Serialize)]
struct LeavingReason {
    stage: String,
    outcome: String,
    reason: Option<String>,
    rows: usize,
}

/// A row of one version only.
#[derive(Serialize)]
struct SingleVersionRow {
    id: String,
    /// The record from which it was made.
    record: String,
    text: String,
    /// Whether it was withdrawn: then nothing of it is shown.
    withdrawn: bool,
    /// Where its record stopped, for a row that left.
    why: Option<Left>,
    /// Decisions in which the versions differ, where no stage took it out.
    cause: Option<String>,
    /// Whether the decision was looked up.
    looked: bool,
}

/// A row of both with other values.
#[derive(Serialize)]
struct Edit {
    id: String,
    /// The record from which it was made.
    record: String,
    fields: Vec<Sides>,
    cause: Option<String>,
    /// Whether the decision was looked up.
    looked: bool,
}

/// A column before and after.
#[derive(Serialize)]
struct Sides {
    name: String,
    /// Its value, or those of a list in order; none where it is null or the list is shorter.
    pairs: Vec<(Option<String>, Option<String>)>,
}

/// Two versions.
pub(crate) async fn show_difference(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(name): Path<String>,
    Query(two): Query<VersionsQuery>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let language = visitor.language;
    let found = read_blocking(move || compare_versions(&app, recipe, two, language)).await?;
    view::render_page(&visitor, "diff.html", found)
}

fn compare_versions(
    app: &App,
    recipe: &'static Recipe,
    two: VersionsQuery,
    language: Language,
) -> Result<VersionComparison, PageError> {
    let here: Vec<ReleaseVersion> =
        list_versions(app, recipe)?.into_iter().filter(|version| version.here).collect();
    let name = |at: usize| here.get(at).map(|version| version.version.clone()).unwrap_or_default();
    let after = if two.after.is_empty() { name(0) } else { two.after };
    let before = if two.before.is_empty() { name(1.min(here.len().saturating_sub(1))) } else { two.before };
    let mut compared = VersionComparison {
        recipe: recipe.name,
        before,
        after,
        versions: here,
        configs: Vec::new(),
        shown: SHOWN,
        left_out: Default::default(),
    };
    if compared.versions.is_empty() {
        return Ok(compared);
    }
    let (old, new) = (
        find_version_folder(app, recipe, &compared.before)?,
        find_version_folder(app, recipe, &compared.after)?,
    );
    let withheld = Withheld::open(&app.workspace, recipe)?;
    // Nothing is explained yet: which records are meant is noted, in the order of the differences.
    let asked: RefCell<[Vec<String>; 3]> = RefCell::default();
    let note = |of: CauseOf<'_>| -> Option<String> {
        let (kind, record) = match of {
            CauseOf::Removed(record) => (0, record),
            CauseOf::Changed(record, _) => (1, record),
            CauseOf::Added(record) => (2, record),
        };
        asked.borrow_mut()[kind].push(record.to_owned());
        None
    };
    let found = diff_folders(&old, &new, Some(&withheld), &note)?;
    let [removed, changed, added] = asked.take();
    let ids: BTreeSet<&str> = removed.iter().map(String::as_str).collect();
    let mut last = last_stops(&CurrentRows::of_recipe(&app.workspace, recipe), &ids)?;
    translate_passages(app, recipe, language, last.values_mut())?;
    let causes = Causes::between_folders(&app.workspace, &old, &new)?;
    let mut told = Told {
        language,
        last,
        causes,
        removed: removed.into_iter(),
        changed: changed.into_iter(),
        added: added.into_iter(),
        explained: 0,
    };
    compared.left_out = [found.left_out_before, found.left_out];
    compared.configs = found.configs.into_iter().map(|config| told.describe_config(config)).collect();
    Ok(compared)
}

/// What is known of the records behind the differences, which follow one another in the same order.
struct Told {
    language: Language,
    last: BTreeMap<String, StageEntry>,
    causes: Option<Causes>,
    removed: std::vec::IntoIter<String>,
    /// One for each field that changed.
    changed: std::vec::IntoIter<String>,
    added: std::vec::IntoIter<String>,
    explained: usize,
}

impl Told {
    fn describe_config(&mut self, config: ConfigDiff) -> Config {
        let (left, came, changed) = (config.removed.len(), config.added.len(), config.changed.len());
        let mut gone: Vec<SingleVersionRow> =
            config.removed.into_iter().map(|side| self.describe_removed(side)).collect();
        let mut reasons: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
        for why in gone.iter().filter_map(|row| row.why.as_ref()) {
            *reasons.entry((why.stage.as_str(), why.outcome.as_str(), why.reason.as_deref())).or_default() +=
                1;
        }
        let reason = |((stage, outcome, reason), rows): ((&str, &str, Option<&str>), usize)| LeavingReason {
            stage: stage.to_owned(),
            outcome: outcome.to_owned(),
            reason: reason.map(str::to_owned),
            rows,
        };
        let mut reasons: Vec<LeavingReason> = reasons.into_iter().map(reason).collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.rows));
        gone.truncate(SHOWN);
        let mut new: Vec<SingleVersionRow> =
            config.added.into_iter().map(|side| self.new_row(side)).collect();
        new.truncate(SHOWN);
        let mut edits: Vec<Edit> = config.changed.into_iter().map(|row| self.describe_edit(row)).collect();
        edits.truncate(SHOWN);
        Config {
            config: config.config,
            rows: config.rows,
            left,
            came,
            changed,
            moved: config.moved,
            columns_added: config.columns_added,
            columns_removed: config.columns_removed,
            labels: config.labels.iter().map(|(column, moves)| (column.clone(), sort_moves(moves))).collect(),
            reasons,
            gone,
            new,
            edits,
        }
    }

    fn new_row(&mut self, side: OneSidedRow) -> SingleVersionRow {
        let record = self.added.next().unwrap_or_default();
        let withdrawn = side.text == WITHDRAWN;
        SingleVersionRow {
            id: side.id,
            record,
            text: side.text,
            withdrawn,
            why: None,
            cause: None,
            looked: false,
        }
    }

    fn describe_removed(&mut self, side: OneSidedRow) -> SingleVersionRow {
        let record = self.removed.next().unwrap_or_default();
        let withdrawn = side.text == WITHDRAWN;
        let why = self.last.get(&record).filter(|_| !withdrawn).and_then(Left::from_passage);
        let (cause, looked) = match why {
            None if !withdrawn => self.find_cause(CauseOf::Removed(&record)),
            _ => (None, false),
        };
        SingleVersionRow { id: side.id, record, text: side.text, withdrawn, why, cause, looked }
    }

    fn describe_edit(&mut self, row: Changed) -> Edit {
        // One for each of its fields, all of the same row.
        let record = self.changed.by_ref().take(row.fields.len()).last().unwrap_or_default();
        let first = row.fields.first();
        let asked = first.map(|field| self.find_cause(CauseOf::Changed(&record, &field.column)));
        let (cause, looked) = asked.unwrap_or_default();
        Edit { id: row.id, record, fields: row.fields.into_iter().map(field_sides).collect(), cause, looked }
    }

    /// The decision behind a difference, and whether it was looked up.
    fn find_cause(&mut self, of: CauseOf<'_>) -> (Option<String>, bool) {
        self.explained += 1;
        match self.causes.as_ref().filter(|_| self.explained <= EXPLAINED) {
            Some(causes) => (causes.find_decision(of).map(|behind| in_words(self.language, &behind)), true),
            None => (None, false),
        }
    }
}

/// The decision behind a difference in the language of the page.
fn in_words(language: Language, behind: &DifferenceCause) -> String {
    match (language, behind) {
        (Language::En, behind) => behind.to_string(),
        (Language::Zh, DifferenceCause::Stop(why)) => i18n::translate_sentence(language, why),
        (Language::Zh, DifferenceCause::Stages(differ)) => {
            let line = |(stage, why): &(String, Vec<_>)| {
                format!("{}：{}", i18n::stage_name(language, stage), i18n::explain_stale(language, why))
            };
            differ.iter().map(line).collect::<Vec<_>>().join("；")
        }
        (Language::Zh, DifferenceCause::Passage(last)) => {
            let state =
                i18n::text_of_key(language, &format!("state_{}", last.outcome)).unwrap_or(&last.outcome);
            let reason = last.reason.as_deref().map(|code| i18n::reason_name(language, code));
            let into = last.into.as_ref().filter(|into| **into != last.id);
            let evidence = last.evidence.as_deref().map(|text| i18n::translate_evidence(language, text));
            let mut text = format!("{}：{state}", i18n::stage_name(language, &last.stage));
            for (word, more) in [("，", reason.as_ref()), ("，归入 ", into), ("，", evidence.as_ref())] {
                if let Some(more) = more {
                    text.push_str(word);
                    text.push_str(more);
                }
            }
            text
        }
    }
}

/// The moves of a label that are one, most frequent first.
fn sort_moves(moves: &Moves) -> Vec<Move> {
    let mut moved: Vec<Move> = Vec::new();
    for (before, counts) in moves.values.iter().zip(&moves.counts) {
        for (after, n) in moves.values.iter().zip(counts) {
            if before != after && *n > 0 {
                moved.push((before.clone(), after.clone(), *n));
            }
        }
    }
    moved.sort_by_key(|(.., n)| std::cmp::Reverse(*n));
    moved
}

fn field_sides(field: ChangedField) -> Sides {
    let texts = |value: &Value| -> Vec<String> {
        match value {
            Value::Null => Vec::new(),
            Value::Array(list) => list.iter().map(cell_text).collect(),
            one => vec![cell_text(one)],
        }
    };
    let (before, after) = (texts(&field.before), texts(&field.after));
    let pair = |at: usize| (before.get(at).cloned(), after.get(at).cloned());
    Sides { name: field.column, pairs: (0..before.len().max(after.len()).max(1)).map(pair).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pipeline::Change;

    #[test]
    fn lists_stand_side_by_side_item_by_item() {
        let field = ChangedField {
            column: "options".into(),
            before: json!(["a", "b"]),
            after: json!(["b", "c", "d"]),
            cause: None,
        };
        let some = |text: &str| Some(text.to_owned());
        let want = vec![(some("a"), some("b")), (some("b"), some("c")), (None, some("d"))];
        assert_eq!(field_sides(field).pairs, want);
        let field =
            ChangedField { column: "type".into(), before: json!(null), after: json!("pun"), cause: None };
        assert_eq!(field_sides(field).pairs, [(None, some("pun"))]);
    }

    #[test]
    fn the_decision_behind_a_difference_is_told_in_either_language() {
        let change = Change::Setting { key: "threshold".into(), before: "0.8".into(), now: "0.9".into() };
        let stages = DifferenceCause::Stages(vec![("dedup".into(), vec![change])]);
        assert_eq!(in_words(Language::Zh, &stages), "去重：threshold 0.8 → 0.9");
        assert!(in_words(Language::En, &stages).starts_with("dedup: threshold 0.8"));
    }

    #[test]
    fn moves_of_labels_are_listed_once_each() {
        let moves = Moves {
            values: vec!["a".into(), "b".into(), "c".into()],
            counts: vec![vec![9, 1, 0], vec![0; 3], vec![3, 0, 0]],
        };
        assert_eq!(sort_moves(&moves), [("c".into(), "a".into(), 3), ("a".into(), "b".into(), 1)]);
    }
}
