//! Everybody's progress: one table of the benchmarks' ballots, and one of people on ballots.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

use super::curate::{BallotPerson, Section, ballot_section};
use super::open_items::FEW;
use crate::app::{App, read_blocking};
use crate::config::Config;
use crate::error::PageError;
use crate::recipe;
use crate::view;
use crate::visitor::Visitor;

/// Time for computing ballots with the page; the rest is loaded afterwards.
const AT_ONCE: Duration = Duration::from_millis(600);

/// Recipe and step of a ballot.
type BallotPlace = (&'static str, String);

/// People on ballots.
#[derive(Serialize)]
struct BallotPeople {
    /// Those with tasks or votes.
    ballots: Vec<BallotPlace>,
    people: Vec<ProgressRow>,
}

#[derive(Serialize)]
struct ProgressRow {
    name: String,
    /// Whether they have a page.
    known: bool,
    /// By ballot.
    cells: Vec<Option<BallotPerson>>,
}

/// Every ballot, and everybody on them.
pub(crate) async fn show_progress(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let who = visitor.clone();
    let found = read_blocking(move || {
        let (config, _) = app.current_config();
        let begun = Instant::now();
        let mut steps: Vec<Section> = Vec::new();
        for recipe in recipe::used_recipes(&config) {
            for review in recipe.review_steps() {
                let name = review.benchmark_and_ballot().1;
                let Some(records) = app.ballots.count_records(&config, recipe, name)? else { continue };
                let at_once = records <= FEW && begun.elapsed() < AT_ONCE;
                steps.extend(ballot_section(&app, &config, recipe, name, &who, at_once)?);
            }
        }
        let folk = collect_people(&config, &steps);
        let place = |section: &Section| -> BallotPlace { (section.recipe, section.step.clone()) };
        let later: Vec<BallotPlace> = steps.iter().filter(|step| step.looked.is_none()).map(place).collect();
        // A row without items says nothing.
        let (empty, steps): (Vec<Section>, Vec<Section>) = steps
            .into_iter()
            .partition(|section| section.looked.as_ref().is_some_and(|looked| looked.items == 0));
        let empty: Vec<BallotPlace> = empty.iter().map(place).collect();
        Ok(json!({ "steps": steps, "empty": empty, "folk": folk, "later": later }))
    })
    .await?;
    view::render_page(&visitor, "progress.html", found)
}

/// Everybody with tasks or votes, by name, on the ballots that were counted.
fn collect_people(config: &Config, sections: &[Section]) -> BallotPeople {
    let counted: Vec<(BallotPlace, &[BallotPerson])> = sections
        .iter()
        .filter_map(|section| {
            let people = section.looked.as_ref()?.people.as_slice();
            (!people.is_empty()).then(|| ((section.recipe, section.step.clone()), people))
        })
        .collect();
    let mut rows: BTreeMap<&str, Vec<Option<BallotPerson>>> = BTreeMap::new();
    for (at, (_, people)) in counted.iter().enumerate() {
        for person in *people {
            let cells = rows.entry(&person.name).or_insert_with(|| vec![None; counted.len()]);
            cells[at] = Some(person.clone());
        }
    }
    let known = |name: &str, cells: &[Option<BallotPerson>]| {
        config.annotators.iter().any(|person| person.name == name)
            || cells.iter().flatten().any(|person| person.votes > 0)
    };
    let people = rows.into_iter().map(|(name, cells)| ProgressRow {
        name: name.to_owned(),
        known: known(name, &cells),
        cells,
    });
    BallotPeople {
        people: people.collect(),
        ballots: counted.iter().map(|(place, _)| place.clone()).collect(),
    }
}
