//! What each review has and waits for: its items by state, the progress of annotators, and how they agree.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::config::{Config, sections};
use crate::pipeline::{RunError, Tasks, review_items};
use crate::recipe::Recipe;
use crate::shortcuts::Shortcuts;
use crate::stages::review::Votes;
use crate::store::Workspace;
use riddlemill_review::agreement::{self, Bootstrap, Estimate, FieldAgreement};
use riddlemill_review::ballot::Ballot;
use riddlemill_review::voted::{Trialled, measure_guessing};
use riddlemill_review::{Item, Status, Vote, Voted, count_outcomes, resolve_all};

/// The reviews of some recipes.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct ReviewReport {
    pub reviews: Vec<ReviewStatus>,
    /// Votes that cannot be read, each with what is wrong.
    #[serde(skip)]
    pub damaged: Vec<String>,
    /// Whose votes count although nobody has their name.
    #[serde(skip)]
    pub missing_people: Vec<String>,
}

/// The state of a review.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewStatus {
    pub recipe: &'static str,
    pub step: &'static str,
    items: usize,
    confirmed: usize,
    synthetic: usize,
    published: usize,
    provisional: usize,
    /// Items that wait for votes, by round.
    waiting: BTreeMap<&'static str, usize>,
    disputed: usize,
    stale: usize,
    /// Votes that a manager set aside.
    pub set_aside: usize,
    /// The share of drafts that were rewritten.
    rewritten: Option<f64>,
    /// The share of what was reviewed again that was changed.
    modified: Option<f64>,
    settled: usize,
    trial: Option<Trialled>,
    /// How well answers can be guessed from the options that were picked so far.
    pub guessed: Option<Shortcuts>,
    annotators: Vec<AnnotatorRow>,
    pub agreement: Vec<AgreementRow>,
    /// All of its figures.
    #[serde(skip)]
    pub status: Status,
    /// The summary of its votes, without agreement by field.
    #[serde(skip)]
    pub voted: Voted,
}

/// The progress of an annotator.
#[derive(Clone, Debug, Serialize)]
pub struct AnnotatorRow {
    name: String,
    assigned: usize,
    done: usize,
    votes: usize,
    stale: usize,
}

/// Agreement in one field, each figure with the ends of its interval.
#[derive(Clone, Debug, Serialize)]
pub struct AgreementRow {
    field: String,
    items: usize,
    votes: u64,
    #[serde(serialize_with = "with_interval")]
    percent: Option<Estimate>,
    #[serde(serialize_with = "with_interval")]
    alpha: Option<Estimate>,
    #[serde(serialize_with = "with_interval")]
    fleiss: Option<Estimate>,
    #[serde(serialize_with = "with_interval")]
    ac1: Option<Estimate>,
    edit_rate: Option<f64>,
    /// Whether these are the votes of a sample, because no person voted.
    pub sample: bool,
    cohen: Vec<CohenRow>,
    /// All of its figures.
    #[serde(skip)]
    pub of: FieldAgreement,
}

/// Agreement of two annotators.
#[derive(Clone, Debug, Serialize)]
struct CohenRow {
    names: [String; 2],
    items: u64,
    kappa: Option<f64>,
}

fn with_interval<S: Serializer>(estimate: &Option<Estimate>, serializer: S) -> Result<S::Ok, S::Error> {
    estimate.as_ref().map(|e| [e.value, e.low, e.high]).serialize(serializer)
}

impl AgreementRow {
    fn new(of: FieldAgreement, sample: bool) -> AgreementRow {
        let cohen = of.pairs.iter().map(|pair| CohenRow {
            names: pair.names.clone(),
            items: pair.items,
            kappa: pair.kappa,
        });
        AgreementRow {
            field: of.field.clone(),
            items: of.items,
            votes: of.votes,
            percent: of.percent,
            alpha: of.alpha,
            fleiss: of.fleiss,
            ac1: of.ac1,
            edit_rate: of.drafts.rate(),
            sample,
            cohen: cohen.collect(),
            of,
        }
    }
}

/// The reviews of recipes whose items exist. Agreement is measured where people voted, and `with_agreement` also among the
/// voters of a sample.
///
/// # Errors
/// [`RunError`] if items, votes or tasks cannot be read.
pub fn report_reviews(
    config: &Config,
    recipes: &[&'static Recipe],
    with_agreement: bool,
) -> Result<ReviewReport, RunError> {
    let mut report = ReviewReport::default();
    for recipe in recipes {
        let votes = Votes::load(config, recipe.name)?;
        report.damaged.extend_from_slice(votes.damaged_lines());
        report.missing_people.extend(votes.missing_people(config, recipe.name));
        for review in recipe.review_steps() {
            let name = review.benchmark_and_ballot().1;
            let (step, items) = match review_items(config, recipe, name) {
                Ok(Some(found)) => found,
                // Items exist only once the stages before the review were made.
                Ok(None) | Err(RunError::Missing { .. }) => continue,
                Err(e) => return Err(e),
            };
            let tasks = Tasks::open(&Workspace::new(&config.root), recipe.name, name)?;
            let found = (&step, &items[..]);
            report.reviews.push(ReviewStatus::of_ballot(
                config,
                recipe,
                found,
                &votes,
                &tasks,
                with_agreement,
            ));
        }
    }
    Ok(report)
}

impl ReviewStatus {
    fn of_ballot(
        config: &Config,
        recipe: &'static Recipe,
        (step, items): (&Ballot, &[Item]),
        votes: &Votes,
        tasks: &Tasks,
        with_agreement: bool,
    ) -> ReviewStatus {
        let on = votes.by_item(step.recipe, step.name);
        let resolved = resolve_all(step, items, &on);
        let status = count_outcomes(items, &resolved, &on, tasks.all_tasks());
        // No intervals are shown here, so nothing is resampled; agreement by field has its intervals below.
        let voted = Voted::summarise_step(step, items, &resolved, &on, &config.annotators, Bootstrap::NONE);
        let voted = Voted { fields: Vec::new(), ..voted };
        let seed = config.typed_settings::<sections::Options>(Some(recipe.name), "options").seed;
        // A sample's votes are nobody's: their agreement is shown to whoever asks for it.
        let of_people = on.values().flatten().any(|vote| !vote.synthetic);
        let agreement =
            if with_agreement || of_people { agreement_rows(step, items, &on) } else { Vec::new() };
        let annotators = status.annotators.iter().map(|(name, progress)| AnnotatorRow {
            name: name.clone(),
            assigned: progress.assigned,
            done: progress.done,
            votes: progress.votes,
            stale: progress.stale,
        });
        ReviewStatus {
            recipe: recipe.name,
            step: step.name,
            items: status.items,
            confirmed: status.confirmed,
            synthetic: status.synthetic,
            published: status.published,
            provisional: status.provisional,
            waiting: status.waiting.iter().map(|(round, (items, _))| (round.name(), *items)).collect(),
            disputed: status.disputed,
            stale: status.stale,
            set_aside: votes.set_aside(step.recipe, step.name).count(),
            rewritten: status.edited.rate(),
            modified: status.modified.rate(),
            settled: voted.settled,
            trial: voted.trial,
            guessed: measure_guessing(step, items, &resolved, seed),
            annotators: annotators.collect(),
            agreement,
            status,
            voted,
        }
    }
}

/// Agreement among people; if no person voted, among a sample's voters.
fn agreement_rows(ballot: &Ballot, items: &[Item], votes: &FxHashMap<&str, Vec<&Vote>>) -> Vec<AgreementRow> {
    let found = agreement::step_agreement(ballot, items, votes, Bootstrap::AGREEMENT);
    let sample = found.sample;
    found.fields.into_iter().map(|field| AgreementRow::new(field, sample)).collect()
}
