//! The items of every step, made once for each state of the stage before it.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::config::{Config, sections};
use crate::pipeline::{RunError, review_items};
use crate::recipe::Recipe;
use crate::review::{Item, Step};
use crate::store::{Manifest, Workspace};

/// A step's ballot with its items.
pub(in crate::web) struct Ballot {
    pub(in crate::web) step: Step,
    pub(in crate::web) items: Vec<Item>,
    places: FxHashMap<String, usize>,
}

impl Ballot {
    /// The item of an id.
    pub(in crate::web) fn item(&self, id: &str) -> Option<&Item> {
        self.places.get(id).map(|at| &self.items[*at])
    }
}

/// What a ballot was made from, and the ballot. Held while it is made, so that of many who ask at once one
/// makes it.
type Slot = Mutex<Option<(String, Arc<Ballot>)>>;

/// By recipe and step.
type Held = FxHashMap<(&'static str, String), Arc<Slot>>;

/// Ballots that were opened.
#[derive(Default)]
pub(in crate::web) struct Ballots {
    held: Mutex<Held>,
}

impl Ballots {
    /// A step's ballot; `None` where the recipe has no such step, or the stage before it was not made.
    pub(in crate::web) fn open(
        &self,
        config: &Config,
        recipe: &'static Recipe,
        name: &str,
    ) -> Result<Option<Arc<Ballot>>, RunError> {
        let Some((_, before)) = recipe.review(name) else { return Ok(None) };
        let number = recipe.step(before.name).map_or(0, |(number, _)| number);
        let place = Workspace::new(&config.root).stage(recipe.name, number, before.name);
        let Some(manifest) = Manifest::read(&place)? else { return Ok(None) };
        let settings: sections::Review = config.typed(Some(recipe.name), "review");
        let rows = manifest.tables.get("rows").map(|rows| rows.hash.as_str()).unwrap_or_default();
        let key = format!("{rows} {}", settings.draft_ahead.join(","));
        let slot = {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.entry((recipe.name, name.to_string())).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, ballot)) = slot.as_ref().filter(|(made_from, _)| *made_from == key) {
            return Ok(Some(ballot.clone()));
        }
        let Some((step, items)) = review_items(config, recipe, name)? else { return Ok(None) };
        let places = items.iter().enumerate().map(|(at, item)| (item.id.clone(), at)).collect();
        let ballot = Arc::new(Ballot { step, items, places });
        *slot = Some((key, ballot.clone()));
        Ok(Some(ballot))
    }
}
