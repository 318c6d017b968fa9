//! Turns people's wishes into decisions that stages look up, and reports the state of decisions.
//!
//! A person names a record and a verdict. The stage to overrule and the text that the person saw follow from
//! the stages: a stopped record continues where it was stopped, one is removed before models are asked, a text
//! is replaced where texts are put together, and pairs are decided where duplicates are searched.

mod look;
mod open;
mod state;

use std::collections::BTreeMap;

pub use look::CurrentState;
use look::{Absent, Stages};
pub use open::{Listed, Open, open_records};
pub use state::{RecipeDecision, State as DecisionState, states_of_decisions};

use super::RunError;
use crate::config::Config;
use crate::recipe::{self, Recipe, Step};
use crate::stages::StageError;
use riddlemill_record::Reason;
use riddlemill_review::decisions::{Decision, DecisionLog, Verdict};
use riddlemill_review::{Digest, Role};
use riddlemill_tables as store;

/// A person's wish about a record.
#[derive(Clone, Debug)]
pub struct DecisionRequest {
    pub verdict: Verdict,
    /// The record's id.
    pub record: String,
    /// The other record of a pair.
    pub other: Option<String>,
    /// The new text, for verdicts that have one.
    pub text: Option<String>,
    /// For one recipe, or for all.
    pub recipe: Option<String>,
    /// The stage to overrule, if it does not follow from the verdict.
    pub stage: Option<String>,
    /// The hash of what the person saw, if that was elsewhere and earlier.
    pub seen: Option<Digest>,
}

/// Who decides, and why.
#[derive(Clone, Copy, Debug)]
pub struct Act<'a> {
    /// Who.
    pub by: &'a str,
    /// Why.
    pub why: &'a str,
    /// When, RFC 3339.
    pub at: &'a str,
    /// The verb, page or file.
    pub source: &'a str,
}

/// Why a wish cannot be decided.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// A stage cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// No reason was given.
    #[error("a decision needs a reason\n  hint: --why \"…\"")]
    NoReason,
    /// No annotator has this name, or they may not decide.
    #[error("{name:?} may not decide: {why}\n  hint: an [[annotator]] whose role is senior or meta may")]
    NotEntitled {
        name: String,
        /// The missing entitlement.
        why: &'static str,
    },
    /// An edit without a text.
    #[error("{0} needs the new text, which must not be empty")]
    NoText(Verdict),
    /// A text for a verdict that stores none.
    #[error(
        "{0} stores no text, and a new text was given\n  hint: decide text to replace the text, or leave it as it is"
    )]
    UnusedText(Verdict),
    /// A pair of one record.
    #[error("{0} is about two different records")]
    NoPair(Verdict),
    /// No such recipe.
    #[error("unknown recipe {0:?}")]
    NoRecipe(String),
    /// No recipe has been run, or none has the record.
    #[error("no stage has the record {record:?}{hint}")]
    NoRecord { record: String, hint: &'static str },
    /// Import set the record aside, where decisions do not apply.
    #[error("{record}: {recipe} set it aside at import: {why}\n  hint: {hint}")]
    AtImport {
        record: String,
        recipe: &'static str,
        /// The reason and its meaning.
        why: String,
        hint: String,
    },
    /// The record was not stopped.
    #[error("{0} is neither held nor dropped\n  hint: `riddlemill explain {0}` shows its history")]
    NotStopped(String),
    /// It was not stopped yet: a decision that the next run applies does it.
    #[error(
        "{record} is neither held nor dropped yet: {by} decided {verdict}, which the next run applies\n  hint: `riddlemill decide undo {id} --by NAME --why TEXT` takes that back"
    )]
    Pending {
        record: String,
        by: String,
        verdict: Verdict,
        /// The decision.
        id: Digest,
    },
    /// It was merged into another one.
    #[error(
        "{record} was merged into {into}\n  hint: `riddlemill decide different {record} {into}` if they are two jokes"
    )]
    Merged {
        record: String,
        /// The other record.
        into: String,
    },
    /// The stage cannot be overruled by this verdict.
    #[error("{recipe}: {stage} cannot be overruled with {verdict}\n  hint: {hint}")]
    NotThere { recipe: &'static str, stage: String, verdict: Verdict, hint: String },
    /// The record does not reach the stage.
    #[error(
        "{record} does not reach {stage} in {recipe}: it ended at {ended}\n  hint: decide about {ended} first"
    )]
    NotReached {
        record: String,
        stage: String,
        recipe: &'static str,
        /// The stage where it ended.
        ended: String,
    },
    /// The text has changed since the person saw it.
    #[error("the text of {record} has changed since it was shown\n  hint: look at it again")]
    Outdated { record: String },
}

impl From<store::Error> for DecideError {
    fn from(e: store::Error) -> DecideError {
        RunError::from(e).into()
    }
}

/// Whether a person of pipeline.toml may decide.
///
/// # Errors
/// [`DecideError::NotEntitled`].
pub fn check_entitled(config: &Config, name: &str) -> Result<(), DecideError> {
    let refuse = |why| Err(DecideError::NotEntitled { name: name.to_owned(), why });
    match config.annotators.iter().find(|person| person.name == name) {
        None => refuse("no [[annotator]] has this name"),
        Some(person) if person.role < Role::Senior => {
            refuse("that is for people who look over others' votes")
        }
        Some(_) => Ok(()),
    }
}

/// The decisions for a wish, one or more; not yet stored.
///
/// # Errors
/// [`DecideError`] if it cannot be decided.
pub fn make_decisions(
    config: &Config,
    wish: &DecisionRequest,
    act: Act<'_>,
) -> Result<Vec<Decision>, DecideError> {
    if act.why.trim().is_empty() {
        return Err(DecideError::NoReason);
    }
    let verdict = wish.verdict;
    let text = wish.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    match (verdict.is_edit(), text) {
        (true, None) => return Err(DecideError::NoText(verdict)),
        (false, Some(_)) => return Err(DecideError::UnusedText(verdict)),
        _ => {}
    }
    if verdict.is_of_pair() != wish.other.as_ref().is_some_and(|other| *other != wish.record) {
        return Err(DecideError::NoPair(verdict));
    }
    let recipes: Vec<&'static Recipe> = match &wish.recipe {
        Some(name) => vec![recipe::find_recipe(name).ok_or_else(|| DecideError::NoRecipe(name.clone()))?],
        None => recipe::used_recipes(config).collect(),
    };
    let mut found: Vec<(&'static Recipe, &'static str, Digest)> = Vec::new();
    let mut refused = None;
    for recipe in recipes {
        let stages = Stages::open(config, recipe)?;
        match find_overruled_stage(&stages, wish) {
            Ok((step, seen)) => found.push((recipe, step.name, seen)),
            Err(e @ (DecideError::Run(_) | DecideError::NotThere { .. })) if wish.recipe.is_some() => {
                return Err(e);
            }
            // One recipe may refuse what another has; the most informative reason is reported.
            Err(e) => {
                let keeps =
                    matches!(&refused, Some(before) if !matches!(before, DecideError::NoRecord { .. }));
                refused = if keeps { refused } else { Some(e) };
            }
        }
    }
    if found.is_empty() {
        let refused = refused.unwrap_or_else(|| no_record(&wish.record));
        return Err(match refused {
            DecideError::NotStopped(record) => find_pending(config, record)?,
            refused => refused,
        });
    }
    if let Some(seen) = wish.seen {
        // The person decided about the text that they saw, not about another recipe's.
        found.retain(|(_, _, today)| *today == seen);
        if found.is_empty() {
            return Err(DecideError::Outdated { record: wish.record.clone() });
        }
    }
    let mut places: BTreeMap<&'static str, Vec<(&'static Recipe, Digest)>> = BTreeMap::new();
    for (recipe, stage, seen) in found {
        places.entry(stage).or_default().push((recipe, seen));
    }
    let decision = |stage: &str, recipe: Option<String>, seen: Digest| {
        Decision {
            // A placeholder: `sealed` replaces it by the hash of the other fields.
            id: seen,
            recipe,
            stage: stage.to_owned(),
            record: wish.record.clone(),
            other: wish.other.clone(),
            verdict,
            text: text.map(str::to_owned),
            seen,
            by: act.by.to_owned(),
            why: act.why.trim().to_owned(),
            at: act.at.to_owned(),
            source: act.source.to_owned(),
            base: None,
        }
        .with_id()
    };
    let mut decisions = Vec::new();
    for (stage, recipes) in places {
        let first = recipes[0].1;
        match &wish.recipe {
            None if recipes.iter().all(|(_, seen)| *seen == first) => {
                decisions.push(decision(stage, None, first));
            }
            // A record with another text in another recipe is decided there separately.
            _ => decisions.extend(
                recipes.iter().map(|(recipe, seen)| decision(stage, Some(recipe.name.to_owned()), *seen)),
            ),
        }
    }
    Ok(decisions)
}

/// Why a record cannot be kept that no stage has stopped: a decision of which that waits for a run, if there is one.
fn find_pending(config: &Config, record: String) -> Result<DecideError, DecideError> {
    let folder = store::Workspace::new(&config.root).decisions_folder();
    let log = DecisionLog::read_folder(&folder).map_err(|e| RunError::from(StageError::from(e)))?;
    let stops = |d: &Decision| d.record == record && matches!(d.verdict, Verdict::Drop | Verdict::Hold);
    let waits = states_of_decisions(config, &log, stops)?;
    let pending = waits.into_iter().rfind(|found| found.state == DecisionState::WaitsForRun);
    Ok(match pending {
        Some(RecipeDecision { decision: Decision { by, verdict, id, .. }, .. }) => {
            DecideError::Pending { record, by, verdict, id }
        }
        None => DecideError::NotStopped(record),
    })
}

/// The possible decisions about one record in one recipe: the verdict, the stage that it overrules, and the
/// hash of the record as it enters that stage.
///
/// # Errors
/// [`DecideError::Run`] if a stage cannot be read.
pub fn possible_decisions(
    config: &Config,
    recipe: &'static Recipe,
    record: &str,
) -> Result<Vec<(Verdict, &'static str, Digest)>, DecideError> {
    let stages = Stages::open(config, recipe)?;
    let mut choices = Vec::new();
    for verdict in Verdict::ALL.into_iter().filter(|verdict| !verdict.is_of_pair()) {
        let (record, recipe) = (record.to_owned(), Some(recipe.name.to_owned()));
        let wish =
            DecisionRequest { verdict, record, other: None, text: None, recipe, stage: None, seen: None };
        match find_overruled_stage(&stages, &wish) {
            Ok((step, seen)) => choices.push((verdict, step.name, seen)),
            Err(e @ DecideError::Run(_)) => return Err(e),
            // Impossible decisions are not offered.
            Err(_) => {}
        }
    }
    Ok(choices)
}

/// Why import set a record aside, and how to include it. Decisions are about texts, and what import sets
/// aside is not a candidate: another post's text, a second copy, an answer, or something unreadable.
fn at_import(recipe: &'static Recipe, record: &str, ended: CurrentState) -> DecideError {
    let code = ended.reason.unwrap_or(ended.outcome);
    let reason = Reason::from_code(&code);
    let why = reason.map_or_else(|| code.clone(), |reason| format!("{code}. {}", reason.definition()));
    let of = ended.evidence.unwrap_or_default();
    let hint = match reason {
        Some(Reason::SameId) => {
            format!(
                "it was merged into {}, the first record with its id: decide about that one",
                ended.into.unwrap_or_default()
            )
        }
        Some(Reason::Withdrawn) => "`riddlemill withdraw --undo` takes a withdrawal back".to_owned(),
        Some(Reason::Note) => format!("it is shown with its joke: decide about {of}"),
        Some(Reason::Unreadable | Reason::Oversize | Reason::Encoding | Reason::Truncated) => {
            "put a repaired copy of the record into a separate dump, and add that as a [[source]]".to_owned()
        }
        Some(Reason::Chatter | Reason::NotOwner) => {
            "`take = \"main\"` in its [[source]] reads every main post; to read only this one, add it as a \
             row of a `table` source"
                .to_owned()
        }
        _ => "add its text as a row of a `table` source of your own".to_owned(),
    };
    DecideError::AtImport { record: record.to_owned(), recipe: recipe.name, why, hint }
}

fn no_record(record: &str) -> DecideError {
    let hint = "\n  hint: an id such as tieba:8370518555, after `riddlemill run`";
    DecideError::NoRecord { record: record.to_owned(), hint }
}

/// The stage that a wish overrules in a recipe, and the hash of the record as it enters that stage today.
fn find_overruled_stage(
    stages: &Stages<'_>,
    wish: &DecisionRequest,
) -> Result<(&'static Step, Digest), DecideError> {
    let recipe = stages.recipe;
    let verdict = wish.verdict;
    let ended = stages.find_end(&wish.record)?;
    let Some(ended) = ended else { return Err(no_record(&wish.record)) };
    if ended.is_at_import() {
        return Err(at_import(recipe, &wish.record, ended));
    }
    let not_there = |stage: &str, hint: String| DecideError::NotThere {
        recipe: recipe.name,
        stage: stage.to_owned(),
        verdict,
        hint,
    };
    let step = match &wish.stage {
        Some(name) => {
            let named = recipe.find_step(name).map(|(_, step)| step);
            let takes = named.filter(|step| step.stage.may_be_overruled(verdict));
            takes.ok_or_else(|| not_there(name, hint_at_stages(recipe, verdict)))?
        }
        None if verdict == Verdict::Keep => {
            let stopped = ended.step.filter(|_| ended.is_stopped());
            let Some(step) = stopped else {
                return Err(match ended.into {
                    Some(into) if ended.outcome == "merged" => {
                        DecideError::Merged { record: wish.record.clone(), into }
                    }
                    _ => DecideError::NotStopped(wish.record.clone()),
                });
            };
            step
        }
        None => {
            let takes = || recipe.steps().iter().filter(|step| step.stage.may_be_overruled(verdict));
            let here = ended.step.filter(|step| ended.is_stopped() && step.stage.may_be_overruled(verdict));
            let step = match verdict {
                // The last stage before duplicates are searched and models are asked; a step that selects may come after them.
                Verdict::Drop | Verdict::Hold => {
                    let of_texts = || takes().rfind(|step| !step.stage.has_selection());
                    here.or_else(of_texts).or_else(|| takes().next())
                }
                _ => takes().next(),
            };
            step.ok_or_else(|| not_there(recipe.name, origin_hint(recipe)))?
        }
    };
    if !step.stage.may_be_overruled(verdict) {
        let hint = match verdict == Verdict::Keep && step.stage.may_be_overruled(Verdict::Answer) {
            true => format!("add its answer: `riddlemill decide answer {} \"…\"`", wish.record),
            false => hint_at_stages(recipe, verdict),
        };
        return Err(not_there(step.name, hint));
    }
    let not_reached = |record: &str, ended: Option<&'static Step>| DecideError::NotReached {
        record: record.to_owned(),
        stage: step.name.to_owned(),
        recipe: recipe.name,
        ended: ended.map_or("its end", |step| step.name).to_owned(),
    };
    if verdict == Verdict::Keep && !stages.can_pass(step, &wish.record)? {
        let hint = format!("`riddlemill review adjudicate` and votes decide about {}", step.name);
        return Err(not_there(step.name, hint));
    }
    match stages.digest_of_seen(step, &wish.record, wish.other.as_deref())? {
        Ok(seen) => Ok((step, seen)),
        Err(Absent(missing)) => {
            let ended = stages.find_end(&missing)?;
            match ended {
                Some(ended) => Err(not_reached(&missing, ended.step)),
                None => Err(no_record(&missing)),
            }
        }
    }
}

/// The stages of a recipe that a verdict can overrule.
fn hint_at_stages(recipe: &Recipe, verdict: Verdict) -> String {
    let takes = recipe.steps().iter().filter(|step| step.stage.may_be_overruled(verdict));
    let names: Vec<&str> = takes.map(|step| step.name).collect();
    match names.is_empty() {
        true => origin_hint(recipe),
        false => format!("it can overrule {}", names.join(", ")),
    }
}

fn origin_hint(recipe: &Recipe) -> String {
    let first = recipe.steps().first().and_then(|step| step.inputs.first());
    match first.and_then(|input| input.split_once('/')) {
        Some((origin, _)) => format!("its records are those of {origin}: decide there"),
        None => "the recipe has no such stage".into(),
    }
}
