//! A ballot as a table of columns, independent of the format.

use std::collections::BTreeMap;

use crate::answers;
use crate::ballot::{Ballot, Field, Round};
use crate::item::Item;
use crate::value::{Value, Values};
use crate::votes::Vote;
use riddlemill_text::options::DrawStream;

/// What one annotator receives.
#[derive(Clone, Copy, Debug)]
pub struct BallotSheet<'b> {
    pub step: &'b Ballot,
    pub round: Round,
    /// The annotator; empty for a Label Studio project of several, who are identified by their accounts.
    pub annotator: &'b str,
    /// The items with the annotator's own latest vote on each. In the second rounds the items are those of
    /// [`review_item`](crate::review_item) and [`dispute_item`](crate::dispute_item).
    pub rows: &'b [(&'b Item, Option<&'b Vote>)],
    /// The recipe's seed; orders the rows, differently for every annotator.
    pub seed: u64,
    /// Answers that are prefilled for annotators who have not voted yet, by item.
    pub proposed: Option<&'b BTreeMap<String, Values>>,
}

/// Why a ballot cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A text is longer than a workbook's cell may be, or there are more rows than a sheet has.
    #[error("cannot write a workbook: {0}; try csv or jsonl")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// The CSV writer failed.
    #[error("cannot write csv: {0}")]
    Csv(#[from] ::csv::Error),
    /// The JSON writer failed.
    #[error("cannot write json: {0}")]
    Json(#[from] serde_json::Error),
}

/// A ballot's rows in order, its columns, and its questions.
pub(super) struct Sheet<'b> {
    pub(super) ballot: BallotSheet<'b>,
    pub(super) form: Vec<Field>,
    /// Content keys in the order of the step, then of the items.
    pub(super) sees: Vec<&'b str>,
    /// Fields with a draft to show.
    pub(super) drafts: Vec<&'static str>,
    pub(super) rows: Vec<(&'b Item, Option<&'b Vote>)>,
}

impl<'b> Sheet<'b> {
    pub(super) fn new(ballot: &BallotSheet<'b>) -> Sheet<'b> {
        let BallotSheet { step, round, annotator, seed, .. } = *ballot;
        let form = step.questions_of_round(round);
        let mut rows = ballot.rows.to_vec();
        // Equal draws then have a fixed order, too, in whatever order the rows came.
        rows.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
        let place =
            |item: &Item| DrawStream::new(seed, &format!("review rows {annotator}"), &item.id).next_bits();
        rows.sort_by_cached_key(|(item, _)| place(item));

        let mut sees: Vec<&str> = step.shows.iter().map(|(key, _)| *key).collect();
        sees.retain(|key| rows.iter().any(|(item, _)| item.content.contains_key(*key)));
        for (item, _) in &rows {
            for key in item.content.keys() {
                if !sees.contains(&key.as_str()) {
                    sees.push(key);
                }
            }
        }
        let drafted = |name: &str| rows.iter().any(|(item, _)| item.draft.get(name).is_some());
        let names = form.iter().map(|field| field.name);
        let drafts = names.filter(|name| step.shows_drafts(round) && drafted(name)).collect();
        Sheet { ballot: *ballot, form, sees, drafts, rows }
    }

    /// The label above a content key.
    pub(super) fn see_label(&self, key: &str) -> String {
        let shown = self.ballot.step.shows.iter().find(|(other, _)| *other == key);
        shown.map_or_else(|| key.to_owned(), |(_, label)| format!("{} {}", label.zh, label.en))
    }

    pub(super) fn headers(&self) -> Vec<String> {
        let sees = self.sees.iter().map(|key| format!("see.{key}"));
        let drafts = self.drafts.iter().map(|field| format!("draft.{field}"));
        let fields = self.form.iter().map(|field| field.name.to_owned());
        let last = ["annotator", "round", "recipe", "step", "vote", "content_hash"].map(str::to_owned);
        ["item".to_owned()].into_iter().chain(sees).chain(drafts).chain(fields).chain(last).collect()
    }

    /// The cells of a row, in the order of the headers.
    pub(super) fn row_cells(&self, item: &Item, own: Option<&Vote>) -> Vec<String> {
        let BallotSheet { step, round, annotator, .. } = self.ballot;
        let own = own.filter(|vote| vote.content_hash == item.content_hash);
        let mut cells = vec![item.id.clone()];
        cells.extend(
            self.sees.iter().map(|key| item.content.get(*key).map(readable_value).unwrap_or_default()),
        );
        cells.extend(self.drafts.iter().map(|field| self.readable_draft(item, field)));
        let proposed =
            self.ballot.proposed.and_then(|proposed| proposed.get(&item.id)).filter(|_| own.is_none());
        let proposed = |field: &Field| Some(answers::write_answer(field, item, proposed?.get(field.name)?));
        let given = |field: &Field| proposed(field).unwrap_or_else(|| own_answer(field, item, own));
        cells.extend(self.form.iter().map(given));
        cells.extend([annotator, round.name(), step.recipe, step.name].map(str::to_owned));
        cells.push(own.map(|vote| item.sheet_vote(vote.id)).unwrap_or_default());
        cells.push(item.sheet_hash());
        cells
    }
}

impl Sheet<'_> {
    /// A draft for reading: drafted codes with their names and meanings, in drafted order.
    fn readable_draft(&self, item: &Item, name: &str) -> String {
        let Some(value) = item.drafted_answer(name) else { return String::new() };
        let options =
            self.form.iter().find(|field| field.name == name).map(Field::options).unwrap_or_default();
        let named = |code: &String| {
            let option = options.iter().find(|option| option.code == code);
            option.map_or_else(|| code.clone(), answers::explain_option)
        };
        match value {
            Value::List(codes) if !options.is_empty() => {
                readable_value(&Value::List(codes.iter().map(named).collect()))
            }
            value => readable_value(&value),
        }
    }
}

/// A list numbered from 1, one entry per line; other values unchanged.
pub(super) fn readable_value(value: &Value) -> String {
    match value {
        Value::List(list) => {
            let lines: Vec<String> =
                list.iter().enumerate().map(|(at, text)| format!("{}. {text}", at + 1)).collect();
            lines.join("\n")
        }
        other => other.to_string(),
    }
}

/// The annotator's own earlier answer. A text that equals the draft is left empty, as it was given.
fn own_answer(field: &Field, item: &Item, own: Option<&Vote>) -> String {
    let Some(value) = own.and_then(|vote| vote.values.get(field.name)) else { return String::new() };
    let from_draft = field.when.is_some_and(|when| {
        let verdict = own.and_then(|vote| vote.values.text_of(when.field));
        verdict.is_some_and(|verdict| when.draft.contains(&verdict))
    });
    if from_draft { String::new() } else { answers::write_answer(field, item, value) }
}
