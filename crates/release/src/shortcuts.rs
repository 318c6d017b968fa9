//! How well answers of a set with options can be guessed, for its card and its draft.

use serde::Serialize;
use serde_json::Value as Json;

use super::layout::{self, AnswerForm, Layout};
use super::numbered::released_rows;
use super::read_rows::JsonRow;
use super::registry::Ordinals;
use super::row::{Row, Value};
use super::source::CandidateSource;
use crate::config::{Config, sections};
use crate::recipe::Recipe;
use crate::store::{Error, StageReader};
use riddlemill_text::shortcuts::{Finding, GuessLimits, Item, Shortcuts, list_findings, measure_shortcuts};

/// An option that is in every item, and does not count as reused (BrainTeaser, table 1).
const APART: [&str; 1] = ["None of above."];

/// Number of items named in a reason, to keep the line readable.
const FIRST: usize = 3;

/// The figures of one config, and those that exceed their limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guessed {
    pub config: &'static str,
    pub figures: Shortcuts,
    /// Figures that exceed a limit.
    pub findings: Vec<Finding>,
    /// Whether the settings' profile prevents such a set from being stable.
    pub strict: bool,
}

/// Measures the multiple-choice configs.
///
/// # Errors
/// [`Error`] if a part cannot be read.
pub(super) fn measure_release(
    config: &Config,
    recipe: &'static Recipe,
    end: CandidateSource,
    last: &StageReader,
    numbers: &Ordinals,
) -> Result<Vec<Guessed>, Error> {
    let mut guessed = Vec::new();
    for layout in end.published_layouts(last)? {
        let Some(AnswerForm::Choice { options, gold }) = layout.task.map(|task| task.answer) else {
            continue;
        };
        let mut all = Vec::new();
        for batch in released_rows(end, last, numbers) {
            all.extend(batch?);
        }
        let items: Vec<Item<'_>> =
            all.iter().filter_map(|row| item_of_row(row, &layout, options, gold)).collect();
        guessed.extend(judge_shortcuts(config, recipe, layout.config, &items));
    }
    Ok(guessed)
}

/// Measures rows in the form of the files of a release or candidate, by today's limits; `None` if the config
/// is not multiple-choice.
pub fn of_rows(config: &Config, recipe: &'static Recipe, name: &str, rows: &[JsonRow]) -> Option<Guessed> {
    let layout = layout::find_layout(name)?;
    let task = layout.task?;
    let AnswerForm::Choice { options, gold } = task.answer else { return None };
    let text = |row: &JsonRow, column: &str| Some(row.get(column)?.as_str()?.to_string());
    let texts = |row: &JsonRow| -> Option<Vec<String>> {
        row.get(options)?.as_array()?.iter().map(|option| Some(option.as_str()?.to_string())).collect()
    };
    let place = |row: &JsonRow| right_option(row, gold);
    let complete: Vec<(String, String, Vec<String>, usize)> = rows
        .iter()
        .filter_map(|row| Some((text(row, "id")?, text(row, task.question)?, texts(row)?, place(row)?)))
        .collect();
    let items: Vec<Item<'_>> = complete
        .iter()
        .map(|(id, question, options, gold)| Item {
            id,
            group: group_of_id(id),
            question,
            options,
            gold: *gold,
        })
        .collect();
    judge_shortcuts(config, recipe, layout.config, &items)
}

/// The figures, with those that exceed the limits in the recipe's settings.
fn judge_shortcuts(
    config: &Config,
    recipe: &'static Recipe,
    name: &'static str,
    items: &[Item<'_>],
) -> Option<Guessed> {
    let settings: sections::Release = config.typed_settings(Some(recipe.name), "release");
    let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
    let limits = GuessLimits {
        above_chance: settings.above_chance,
        position_p: settings.position_p,
        near_equal: settings.near_equal,
        reused: settings.reused,
    };
    let figures = measure_shortcuts(items, &APART, seed)?;
    let findings = list_findings(&figures, &limits);
    Some(Guessed {
        config: name,
        figures,
        findings,
        strict: settings.profile == sections::ReleaseProfile::Strict,
    })
}

/// A row as a multiple-choice item. The gold answer is a letter or a number from 0.
fn item_of_row<'r>(row: &'r Row, layout: &Layout, options: &str, gold: &str) -> Option<Item<'r>> {
    let Value::Texts(options) = row.0.get(layout.place_of_column(options)?)? else { return None };
    let gold = match row.0.get(layout.place_of_column(gold)?)? {
        Value::Count(place) => usize::try_from(*place).ok()?,
        Value::Text(letter) => place_of_letter(letter)?,
        _ => return None,
    };
    let question = layout.task.and_then(|task| layout.place_of_column(task.question))?;
    Some(Item {
        id: row.id(),
        group: group_of_id(row.id()),
        question: row.text_of_column(question),
        options,
        gold,
    })
}

/// `SP-0`, `SP-0_SR` and `SP-0_CR` are one group.
fn group_of_id(id: &str) -> &str {
    id.split('_').next().unwrap_or_default()
}

/// The place, from 0, of a row's right option. `gold` is the column with its letter, or its number from 0.
pub fn right_option(row: &JsonRow, gold: &str) -> Option<usize> {
    match row.get(gold)? {
        Json::String(letter) => place_of_letter(letter),
        number => usize::try_from(number.as_u64()?).ok(),
    }
}

/// The place of an option that is named by a letter from A on; `None` of anything else.
pub fn place_of_letter(letter: &str) -> Option<usize> {
    crate::options::LETTERS.iter().position(|other| *other == letter)
}

impl Guessed {
    /// Why a set with the strict profile cannot be stable: the rule, its figure and limit, and the first
    /// items. All of them are in the manifest.
    pub(super) fn draft_reasons(&self) -> impl Iterator<Item = String> + '_ {
        self.findings.iter().filter(|_| self.strict).map(|finding| {
            let items = match finding.items.as_slice() {
                [] => String::new(),
                items if items.len() > FIRST => {
                    format!(": {} and {} more", items[..FIRST].join(", "), items.len() - FIRST)
                }
                items => format!(": {}", items.join(", ")),
            };
            format!("{}: {}: {}; {}{items}", self.config, finding.figure, finding.what, finding.fix)
        })
    }
}
