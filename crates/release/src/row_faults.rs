//! What is wrong with the rows of a set, found while they are written: a release refuses such a set, and `run` says so
//! before anybody tries.

use std::collections::hash_map::Entry;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::layout::Layout;
use super::row::Row;
use crate::recipe::Recipe;

/// Most faults that are named; further ones are only counted.
const NAMED: usize = 20;

/// Most characters of a text in a fault.
const QUOTED: usize = 40;

/// The faults of a set's rows.
#[derive(Debug)]
pub(super) struct RowFaults {
    recipe: &'static Recipe,
    /// The record that the first row of each id was made from.
    made_from: FxHashMap<[u8; 32], String>,
    named: Vec<String>,
    count: usize,
}

impl RowFaults {
    /// No faults yet of a recipe's rows.
    pub(super) fn new(recipe: &'static Recipe) -> RowFaults {
        RowFaults { recipe, made_from: FxHashMap::default(), named: Vec::new(), count: 0 }
    }

    /// Checks rows, in order: the checks of the benchmark's folder, and that no id was seen before.
    pub(super) fn look_at(&mut self, layout: &Layout, rows: &[Row]) {
        let failed: Vec<Option<String>> =
            rows.par_iter().map(|row| layout.check_row(row).err().map(|error| error.to_string())).collect();
        for (row, failed) in rows.iter().zip(failed) {
            let record = record_of(layout, row);
            if let Some(what) = failed {
                self.add(format!(
                    "{}: {what}; `riddlemill explain {record} --recipe {}` shows who decided it",
                    row.id(),
                    self.recipe.name
                ));
            }
            let key = blake3::hash(format!("{}\u{1f}{}", layout.config, row.id()).as_bytes());
            let other = match self.made_from.entry(*key.as_bytes()) {
                Entry::Vacant(place) => {
                    place.insert(record);
                    continue;
                }
                Entry::Occupied(first) => first.get().clone(),
            };
            let remedy = match self.recipe.steps().iter().any(|step| step.stage.is_kind_filter()) {
                true => format!(
                    "`riddlemill decide drop {record} --recipe {} --by NAME --why TEXT` leaves one",
                    self.recipe.name
                ),
                // Only the step of rules takes a person's word that a post goes.
                false => "a vote that rejects one of them leaves the other, or a step `dedup` in the benchmark's folder".to_owned(),
            };
            self.add(format!(
                "{other} and {record} became one row{}: both have the id {}; {remedy}",
                quote_question(layout, row),
                row.id()
            ));
        }
    }

    fn add(&mut self, fault: String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(fault);
        }
    }

    /// The faults as text; of many the first, and how many there are further.
    pub(super) fn into_texts(self) -> Vec<String> {
        let more = self.count - self.named.len();
        let rest = (more > 0).then(|| format!("and {more} more like these"));
        self.named.into_iter().chain(rest).collect()
    }
}

/// The record that a row was made from, if a column names it; else the row's own id.
pub(super) fn record_of(layout: &Layout, row: &Row) -> String {
    let named = layout
        .place_of_column("source_id")
        .map(|place| row.text_of_column(place))
        .filter(|id| !id.is_empty());
    named.unwrap_or_else(|| row.id()).to_owned()
}

/// The beginning of the text that a row asks about, if the set has one.
fn quote_question(layout: &Layout, row: &Row) -> String {
    let text = layout
        .task
        .and_then(|task| layout.place_of_column(task.question))
        .map(|place| row.text_of_column(place));
    match text.filter(|text| !text.is_empty()) {
        Some(text) if text.chars().count() > QUOTED => {
            format!(" (\"{}…\")", text.chars().take(QUOTED).collect::<String>())
        }
        Some(text) => format!(" (\"{text}\")"),
        None => String::new(),
    }
}
