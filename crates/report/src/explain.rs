//! Why a post was kept or left out, and which posts a name means.

mod loose;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::audit::{
    Explained, NamedRecord, OtherReading, Reading, RecordEnding, Resolution, Resolver, evidence_details,
    explain_record, fill_texts,
};
use crate::config::Config;
use crate::pipeline::{RunError, Withheld};
use crate::recipe::Recipe;
use crate::record::Locator;
use crate::search::{self, ChangedDump};
use crate::store::{Error, Workspace};
use riddlemill_release::{CurrentRows, stop_without_row};

/// More records than this are listed instead of explained.
const MAX_EXPLAINED: usize = 3;
/// Most records searched.
const MOST: usize = 200;

/// What a name means, and what happened to it.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    pub explained: Vec<Explained>,
    /// Records that the name means, too, and that are not explained.
    pub also: Vec<OtherRecord>,
    /// Dumps that changed since they were imported, if dumps were searched.
    pub changed: Vec<ChangedDump>,
    pub withdrawn: Vec<WithdrawnRecord>,
    /// How the name was read; `None` if nothing has it.
    pub read_as: Option<Reading>,
    pub other_readings: Vec<OtherReading>,
    /// Records whose texts match only without blanks, case and punctuation, each with the words that do.
    #[serde(skip)]
    pub loosely: Vec<(String, String)>,
    /// Whether there are so few records that each is explained; what is listed is in no recipe then.
    #[serde(skip)]
    pub few: bool,
    /// Whether there are more records than were looked for.
    #[serde(skip)]
    pub more: bool,
}

/// A record that is listed.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum OtherRecord {
    /// One of many that a recipe has.
    OfRecipe { recipe: &'static str, id: String },
    /// One that was found in a dump.
    OfDump {
        place: Locator,
        id: Option<String>,
        text: String,
        /// Where it ended in each recipe that has read it.
        #[serde(serialize_with = "by_recipe")]
        recipes: Vec<RecordEnding>,
    },
}

/// A withdrawn record.
#[derive(Clone, Debug, Serialize)]
pub struct WithdrawnRecord {
    pub id: String,
    /// When, RFC 3339, UTC.
    pub at: String,
    pub reason: String,
}

fn by_recipe<S: Serializer>(ended: &[RecordEnding], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(ended.iter().map(|ended| (ended.recipe, ended)).collect::<BTreeMap<_, _>>())
}

/// Explains what a name means in these recipes; of many records it lists them.
///
/// # Errors
/// [`RunError`] if withdrawals, stages, releases, dumps, replies or votes cannot be read.
pub fn explain_name(
    config: &Config,
    recipes: &[&'static Recipe],
    name: &str,
) -> Result<Explanation, RunError> {
    let workspace = Workspace::new(&config.root);
    let resolver = Resolver::open(config, recipes)?;
    let mut found = resolver.resolve_name(name, MOST)?;
    let text_of = |record: &NamedRecord| record.recalled.as_ref().map(|recalled| recalled.text.clone());
    let mut loosely = Vec::new();
    if found.reading == Some(Reading::Text) {
        found.records.sort_by_cached_key(|record| {
            !text_of(record).is_some_and(|text| loose::holds_whole_words(&text, name))
        });
        let matched =
            |record: &NamedRecord| Some((record.name(), loose::find_loose_match(&text_of(record)?, name)?));
        loosely.extend(found.records.iter().filter_map(matched));
    }
    let few = found.records.len() <= MAX_EXPLAINED && !found.more;
    let (mut explained, mut also) = (Vec::new(), Vec::new());
    for recipe in recipes {
        let mut ids: Vec<&String> = Vec::new();
        let at = found
            .records
            .iter()
            .filter(|record| few || record.recalled.is_none())
            .flat_map(|record| &record.at);
        for at in at.filter(|at| at.recipe.name == recipe.name) {
            // A record that was read twice continues as one.
            if !ids.contains(&&at.id) {
                ids.push(&at.id);
            }
        }
        if ids.len() > MAX_EXPLAINED {
            also.extend(
                ids.into_iter().map(|id| OtherRecord::OfRecipe { recipe: recipe.name, id: id.clone() }),
            );
            continue;
        }
        let rows = CurrentRows::of_recipe(&workspace, recipe);
        for id in ids {
            let mut one = explain_record(&workspace, recipe, id)?;
            complete_explanation(config, &rows, &mut one, resolver.withheld_in_recipe(recipe))?;
            explained.push(one);
        }
    }
    also.extend(of_dumps(&found, few));
    let Resolution { reading, withdrawn, others, more, changed, .. } = found;
    let withdrawn = withdrawn.into_iter().map(|(id, tombstone)| WithdrawnRecord {
        id,
        at: tombstone.at,
        reason: tombstone.reason,
    });
    Ok(Explanation {
        explained,
        also,
        changed,
        withdrawn: withdrawn.collect(),
        read_as: reading,
        other_readings: others,
        loosely,
        few,
        more,
    })
}

/// Fills in texts, prompts, replies and votes of a record's path, and where it stopped at the end. The texts of records that
/// were withdrawn since are left out.
///
/// # Errors
/// [`RunError`] if stages, dumps, replies or votes cannot be read.
pub fn complete_explanation(
    config: &Config,
    rows: &CurrentRows,
    explained: &mut Explained,
    withheld: Option<&Withheld>,
) -> Result<(), RunError> {
    let (workspace, recipe) = (Workspace::new(&config.root), rows.recipe());
    fill_texts(&workspace, recipe, explained)?;
    // After `compare`, which fills in the texts that may have to go.
    if let Some(withheld) = withheld {
        hide_withdrawn(explained, withheld)?;
    }
    // A record that import set aside has its text only in the dump.
    if explained.text.is_none() {
        explained.text = search::at_place(config, &explained.id)?.map(|record| record.text);
    }
    for passage in &mut explained.way {
        passage.details = evidence_details(config, recipe, &passage.stage, &passage.id)?;
    }
    Ok(stop_without_row(rows, explained)?)
}

/// Removes the texts of withdrawn records merged with this one, if no run has done so yet.
fn hide_withdrawn(explained: &mut Explained, withheld: &Withheld) -> Result<(), Error> {
    let ids = explained.absorbed.iter().map(|passage| passage.id.as_str());
    let into = explained.way.iter().filter_map(|passage| passage.into.as_deref());
    let withdrawn: BTreeSet<String> =
        withheld.withdrawn_among(ids.chain(into))?.into_iter().map(str::to_owned).collect();
    explained.absorbed.retain(|passage| !withdrawn.contains(&passage.id));
    for passage in &mut explained.way {
        if passage.into.as_ref().is_some_and(|into| withdrawn.contains(into)) {
            passage.into_text = None;
        }
    }
    Ok(())
}

/// The records of dumps to list: all if there are many, else those that no recipe has read.
fn of_dumps(found: &Resolution, few: bool) -> impl Iterator<Item = OtherRecord> {
    let rows = found.records.iter().filter_map(|record| Some((record.recalled.as_ref()?, &record.ended)));
    rows.filter(move |(_, ended)| !few || ended.is_empty()).map(|(record, ended)| OtherRecord::OfDump {
        place: record.locator.clone(),
        id: record.ids.first().cloned(),
        text: record.text.clone(),
        recipes: ended.clone(),
    })
}
