//! `report`: the tables and figures of the papers, from the rows at a recipe's end, and what people made
//! of the drafts. One file a benchmark.

mod choices;
mod declared;
mod jokes;
mod puzzles;
mod questions;
mod texts;

use serde::Serialize;

use crate::config::{Config, sections};
use crate::pipeline::{RunError, review_items};
use crate::recipe::Recipe;
use crate::record::{Choice, CunningText, Joke, Question, Reason, State, Variant};
use crate::review::agreement::{Bootstrap, FieldAgreement, agreed, pooled};
use crate::review::{Resolution, Voted, ballots, resolve_all};
use crate::stages::import::kinds;
use crate::stages::review::Votes;
use crate::stages::{Rows, Stage};
use crate::store::{Manifest, StageReader, Workspace};

pub use choices::{ChoiceTables, Drawn, GapBar};
pub use declared::{Counted, DeclaredTables, Figure};
pub use jokes::{ErrorShare, JokeTables, Opponent};
pub use puzzles::{PuzzleKind, PuzzleTables, Rated};
pub use questions::{Category, Length, QuestionTables};
pub use texts::{TextTables, TypeCount};

/// What a paper says about a finished set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Tables {
    /// RuozhiBench-Gen.
    Questions(QuestionTables),
    /// RuozhiBench-MC.
    Choices(Box<ChoiceTables>),
    /// FLUB.
    Texts(Box<TextTables>),
    /// Chumor.
    Jokes(JokeTables),
    /// BrainTeaser.
    Puzzles(Box<PuzzleTables>),
    /// What the benchmark's folder declares.
    Declared(Box<DeclaredTables>),
}

/// What people, or a sample in their place, made of a step's drafts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reviewed {
    /// The stage.
    pub stage: String,
    /// Taken as drafted, or decided without a draft, by people.
    pub confirmed: u64,
    /// Written anew by people.
    pub rewritten: u64,
    /// Taken as drafted by a sample's votes.
    pub sample_confirmed: u64,
    /// Written anew by a sample's votes.
    pub sample_rewritten: u64,
    /// On the draft for the time being.
    pub provisional: u64,
    /// Rejected.
    pub rejected: u64,
    /// Waiting for votes or a decision.
    pub held: u64,
    /// What the votes come to: agreement, disputes, trials.
    pub voted: Voted,
}

/// How far voters agree in one field of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Agreement {
    /// Items with two votes or more.
    pub items: usize,
    /// Percent of agreeing pairs of votes.
    pub percent: Option<f64>,
    /// Fleiss' kappa, with the ends of its 95 % interval.
    pub fleiss: Option<[f64; 3]>,
    /// Whether it takes a sample's votes to say so: no person voted.
    pub sample: bool,
}

impl Reviewed {
    /// The share that was written anew, people's and the sample's together; 319 of 677 translations in
    /// RuozhiBench.
    pub fn share_rewritten(&self) -> Option<f64> {
        let rewritten = self.rewritten + self.sample_rewritten;
        let all = rewritten + self.confirmed + self.sample_confirmed;
        (all > 0).then(|| rewritten as f64 / all as f64)
    }

    fn new(manifest: &Manifest) -> Reviewed {
        let counts = &manifest.counts;
        let so_many = |state: State, reason: Reason| {
            counts.reasons.get(&format!("{}/{}", state.code(), reason.code())).copied().unwrap_or(0)
        };
        Reviewed {
            stage: manifest.stage.clone(),
            confirmed: so_many(State::Changed, Reason::Confirmed),
            rewritten: so_many(State::Changed, Reason::Rewritten),
            sample_confirmed: so_many(State::Changed, Reason::SampleConfirmed),
            sample_rewritten: so_many(State::Changed, Reason::SampleRewritten),
            provisional: so_many(State::Changed, Reason::Provisional),
            rejected: so_many(State::Dropped, Reason::Rejected),
            held: counts.state(State::Held),
            voted: Voted::default(),
        }
    }
}

/// The tables of what is at a recipe's end; `None` where it makes posts or did not get there.
///
/// # Errors
/// [`RunError`] where a stage or the votes cannot be read.
pub fn tables(config: &Config, recipe: &'static Recipe) -> Result<Option<Tables>, RunError> {
    let workspace = Workspace::new(&config.root);
    let Some(last) = recipe.steps.last() else { return Ok(None) };
    let Some(reader) = StageReader::open(&workspace.stage(recipe.name, recipe.steps.len(), last.name))?
    else {
        return Ok(None);
    };
    let mut reviews = Vec::new();
    for (i, step) in recipe.steps.iter().enumerate() {
        if matches!(step.stage, Stage::Review(_))
            && let Some(manifest) = Manifest::read(&workspace.stage(recipe.name, i + 1, step.name))?
        {
            let Stage::Review(review) = step.stage else { continue };
            let voted = voted(config, recipe, review.place().1)?;
            reviews.push(Reviewed { voted, ..Reviewed::new(&manifest) });
        }
    }
    let seed = config.typed::<sections::Options>(Some(recipe.name), "options").seed;
    Ok(Some(match recipe.rows() {
        Rows::Posts | Rows::Responses | Rows::Puzzles => return Ok(None),
        Rows::Declared => {
            let data = riddlemill_benchmarks::find(recipe.name).and_then(|found| found.data.as_ref());
            let rows = match data {
                Some(_) => crate::release::rows_json(&workspace, recipe)?,
                None => Vec::new(),
            };
            let records = reader.manifest().counts.records_out as usize;
            Tables::Declared(Box::new(declared::of(data, records, &rows, reviews, seed)))
        }
        Rows::Questions => {
            let names = ballots::names(recipe.name, "categories");
            Tables::Questions(questions::tables(&reader.all::<Question>("rows")?, &names, reviews))
        }
        Rows::Texts => {
            let (types, resolved) = votes_on(config, recipe, "type", "type")?;
            let rows = reader.all::<CunningText>("rows")?;
            let listed = ballots::options(recipe.name, "types");
            Tables::Texts(Box::new(texts::tables(&rows, listed, types, &resolved, reviews, seed)))
        }
        Rows::Variants => {
            let mut validity = Vec::new();
            for field in ["original", "semantic", "context"] {
                let (agreement, _) = votes_on(config, recipe, "validity", field)?;
                validity.extend(agreement.map(|agreement| (field, agreement)));
            }
            let rows = reader.all::<Variant>("rows")?;
            Tables::Puzzles(Box::new(puzzles::tables(&rows, validity, rated(config, recipe)?, reviews, seed)))
        }
        Rows::Jokes => {
            let (preference, _) = votes_on(config, recipe, "preference", "preference")?;
            let import = StageReader::open(&workspace.stage(recipe.name, 1, recipe.steps[0].name))?;
            let kinds = import.as_ref().map(kinds).transpose()?.unwrap_or_default();
            Tables::Jokes(jokes::tables(&reader.all::<Joke>("rows")?, &kinds, preference, reviews))
        }
        Rows::Choices => {
            let rows = reader.all::<Choice>("rows")?;
            let judged = match recipe.step("judge") {
                Some((number, step)) => StageReader::open(&workspace.stage(recipe.name, number, step.name))?,
                None => None,
            };
            let responses = judged.map(|judged| judged.all("rows")).transpose()?.unwrap_or_default();
            Tables::Choices(Box::new(choices::tables(&rows, &responses, seed)))
        }
    }))
}

/// What experts rate valid (BrainTeaser 3.5); none where nobody voted.
///
/// # Errors
/// As of [`tables`].
pub fn rated(config: &Config, recipe: &'static Recipe) -> Result<Option<Rated>, RunError> {
    let (step, items) = match review_items(config, recipe, "validity") {
        Ok(Some(found)) => found,
        Ok(None) | Err(RunError::Missing { .. }) => return Ok(None),
        Err(e) => return Err(e),
    };
    let votes = Votes::load(config, recipe.name)?;
    let found = pooled(&step, &items, &votes.by_item(step.recipe, step.name), Bootstrap::AGREEMENT);
    Ok(found.map(|found| Rated {
        groups: found.items,
        shares: found.shares,
        kappa: found.fleiss.map(|e| [e.value, e.low, e.high]),
        sample: found.sample,
    }))
}

/// What the votes on a ballot come to; nothing where its items are not there.
fn voted(config: &Config, recipe: &'static Recipe, ballot: &str) -> Result<Voted, RunError> {
    let (step, items) = match review_items(config, recipe, ballot) {
        Ok(Some(found)) => found,
        Ok(None) | Err(RunError::Missing { .. }) => return Ok(Voted::default()),
        Err(e) => return Err(e),
    };
    let votes = Votes::load(config, recipe.name)?;
    let on = votes.by_item(step.recipe, step.name);
    let resolved = resolve_all(&step, &items, &on);
    Ok(Voted::count(&step, &items, &resolved, &on, &config.annotators, Bootstrap::NONE))
}

/// How far the voters of a step agree in a field, and where its items stand.
fn votes_on(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &str,
    field: &str,
) -> Result<(Option<Agreement>, Vec<Resolution>), RunError> {
    let (step, items) = match review_items(config, recipe, ballot) {
        Ok(Some(found)) => found,
        Ok(None) | Err(RunError::Missing { .. }) => return Ok((None, Vec::new())),
        Err(e) => return Err(e),
    };
    let votes = Votes::load(config, recipe.name)?;
    let on = votes.by_item(step.recipe, step.name);
    let resolved = resolve_all(&step, &items, &on);
    let told = agreed(&step, &items, &on, Bootstrap::AGREEMENT);
    let found = told.fields.into_iter().find(|found| found.field == field);
    let shown = |found: FieldAgreement| Agreement {
        items: found.items,
        percent: found.percent.map(|e| e.value * 100.0),
        fleiss: found.fleiss.map(|e| [e.value, e.low, e.high]),
        sample: told.sample,
    };
    Ok((found.filter(|found| found.items > 0).map(shown), resolved))
}
