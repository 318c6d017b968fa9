//! Voting: the votes in memory and on disk, the items of every step, and what is open for whom.
//!
//! One thread writes. Casting a vote waits until it is on disk; votes that arrive while one batch is being
//! synced form the next batch, so that fifty people at once need a few syncs instead of fifty. The same
//! thread checks, right before writing, that a vote follows its annotator's latest one, so that two tabs
//! cannot overwrite each other.

mod assignments;
mod leases;
mod queue;
mod vote_index;

pub(super) use assignments::{Assignments, Skip, record_skip};
pub(super) use leases::Leases;
pub(super) use queue::{
    BallotRound, ShownItem, count_lacking_votes, is_waiting_for, own_vote, person_progress, shown_item,
    takes_more, visible_votes,
};
pub(super) use vote_index::{CastResult, VoteIndex, VoteService};

pub(super) use crate::review::guidance::{BallotGuideline, Note, latest_notes};

use std::sync::Arc;

use riddlemill_pipeline::stages::withdrawal::Withdrawals;
use rustc_hash::FxHashMap;

use crate::config::{Config, sections};
use crate::file_cache::CachedValues;
use crate::pipeline::{RunError, shown_items};
use crate::recipe::Recipe;
use crate::review::{Ballot, Item};
use crate::store::{Manifest, Workspace};

/// A step's ballot with its items.
pub(crate) struct BallotItems {
    pub(crate) step: Ballot,
    pub(crate) items: Vec<Item>,
    places: FxHashMap<String, usize>,
}

impl BallotItems {
    /// The item of an id.
    pub(crate) fn find_item(&self, id: &str) -> Option<&Item> {
        self.places.get(id).map(|at| &self.items[*at])
    }
}

/// Open ballots, by recipe and step.
#[derive(Default)]
pub(crate) struct Ballots(CachedValues<(&'static str, String), String, BallotItems>);

impl Ballots {
    /// How many records a step has, without reading any; `None` as in [`Ballots::open_ballot`].
    pub(crate) fn count_records(
        &self,
        config: &Config,
        recipe: &'static Recipe,
        name: &str,
    ) -> Result<Option<u64>, RunError> {
        let Some(before) = recipe.find_review(name) else { return Ok(None) };
        let made = before.read_input_manifests(&Workspace::new(&config.root))?;
        Ok(made.map(|made| made.iter().map(|manifest| manifest.counts.records_out).sum()))
    }

    /// A step's ballot; `None` if the recipe has no such step, or the stage before it was not made.
    pub(crate) fn open_ballot(
        &self,
        config: &Config,
        recipe: &'static Recipe,
        name: &str,
    ) -> Result<Option<Arc<BallotItems>>, RunError> {
        let Some(before) = recipe.find_review(name) else { return Ok(None) };
        let Some(made) = before.read_input_manifests(&Workspace::new(&config.root))? else { return Ok(None) };
        let settings: sections::Review = config.typed_settings(Some(recipe.name), "review");
        let rows = |manifest: &Manifest| manifest.tables.get("rows").map(|rows| rows.hash.clone());
        let rows: Vec<String> = made.iter().filter_map(rows).collect();
        let withdrawn = Withdrawals::log_length(&Workspace::new(&config.root));
        // Settings and withdrawals change the items although the rows of the stage stay the same.
        let key = format!("{} {} {withdrawn}", rows.join(" "), settings.draft_ahead.join(","));
        let make = || match shown_items(config, recipe, name) {
            Ok(Some((step, items))) => {
                let places = items.iter().enumerate().map(|(at, item)| (item.id.clone(), at)).collect();
                Ok(BallotItems { step, items, places })
            }
            // A missing step is passed as an error, because errors are not cached.
            Ok(None) => Err(None),
            Err(error) => Err(Some(error)),
        };
        match self.0.get((recipe.name, name.to_string()), key, make) {
            Ok(ballot) => Ok(Some(ballot)),
            Err(error) => error.map_or(Ok(None), Err),
        }
    }
}
