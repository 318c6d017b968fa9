//! The state of decisions: which of them count, and where.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::look::Stages;
use crate::config::Config;
use crate::pipeline::RunError;
use crate::recipe::{self, Recipe};
use riddlemill_record::Entry;
use riddlemill_review::decisions::{Decision, DecisionLog, seen_pair, seen_text};
use riddlemill_tables::{Filter, select_rows};

/// The state of a decision in a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The stage's ledger names it.
    Applied,
    /// The next run applies it.
    WaitsForRun,
    /// It counts but overrules nothing: the rule decides the same, or a later decision contradicts it.
    NoEffect,
    /// The record has changed since.
    Outdated,
    /// The record does not reach the stage.
    Absent,
    /// A later decision on the same question counts.
    Overruled,
    /// It was withdrawn.
    TakenBack,
    /// It was made elsewhere and contradicts one made here: the next decision settles this.
    Disputed,
}

impl State {
    /// As lists print it.
    pub fn label(self) -> &'static str {
        match self {
            State::Applied => "applied",
            State::WaitsForRun => "waits for a run",
            State::NoEffect => "nothing to overrule",
            State::Outdated => "outdated: the text has changed",
            State::Absent => "the record does not reach this stage",
            State::Overruled => "overruled by a later decision",
            State::TakenBack => "taken back",
            State::Disputed => {
                "made in another workspace, and contradicts a decision of this one: decide again"
            }
        }
    }
}

/// A decision in a recipe.
#[derive(Clone, Debug, Serialize)]
pub struct RecipeDecision {
    pub recipe: &'static str,
    pub decision: Decision,
    /// Its state there.
    pub state: State,
}

/// Every decision with its state in each recipe that it is for, in the order they were made. Only decisions
/// for which `wanted` is true are looked up.
///
/// # Errors
/// [`RunError`] if a stage cannot be read.
pub fn states_of_decisions(
    config: &Config,
    log: &DecisionLog,
    wanted: impl Fn(&Decision) -> bool,
) -> Result<Vec<RecipeDecision>, RunError> {
    let mut found = Vec::new();
    for recipe in recipe::used_recipes(config) {
        let stages = Stages::open(config, recipe)?;
        for step in recipe.steps() {
            let here = |d: &&Decision| d.stage == step.name && d.is_for(recipe.name) && wanted(d);
            let decisions: Vec<&Decision> = log.all_decisions().iter().filter(here).collect();
            if !decisions.is_empty() {
                of_step(log, recipe, step, &stages, &decisions, &mut found)?;
            }
        }
    }
    let order: FxHashMap<_, usize> =
        log.all_decisions().iter().enumerate().map(|(at, d)| (d.id, at)).collect();
    found.sort_by_key(|found| order.get(&found.decision.id).copied());
    Ok(found)
}

fn of_step(
    log: &DecisionLog,
    recipe: &'static Recipe,
    step: &recipe::Step,
    stages: &Stages<'_>,
    decisions: &[&Decision],
    found: &mut Vec<RecipeDecision>,
) -> Result<(), RunError> {
    let ids: BTreeSet<&str> =
        decisions.iter().flat_map(|d| std::iter::once(d.record.as_str()).chain(d.other.as_deref())).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let texts: BTreeMap<String, String> = stages.texts_at_step(step, &ids)?.into_iter().collect();
    let made = stages.stage_reader(step.name);
    let named: String = match made {
        Some(stage) => select_rows::<Entry>(stage, "ledger", &Filter::any_of("id", ids.iter().copied()))?
            .into_iter()
            .filter_map(|entry| entry.evidence)
            .collect::<Vec<_>>()
            .join("\n"),
        None => String::new(),
    };
    let evidence = made.and_then(|stage| stage.manifest().evidence.get("decisions").cloned());
    // Equal evidence means that the stage was made with these decisions, and a run would change nothing.
    let is_made = made.is_some() && evidence == log.of_stage(recipe.name, step.name).evidence();
    for decision in decisions {
        let seen = match (&decision.other, step.stage.declared_review()) {
            (Some(other), _) => texts
                .get(&decision.record)
                .zip(texts.get(other))
                .map(|(a, b)| seen_pair((&decision.record, a), (other, b))),
            (None, Some(_)) => stages.digest_of_seen(step, &decision.record, None)?.ok(),
            (None, None) => texts.get(&decision.record).map(|text| seen_text(text)),
        };
        // The log comes before the ledger, which still names decisions taken back since the stage was made.
        let state = if log.undo_of(decision.id).is_some() {
            State::TakenBack
        } else if log.overruling_decision(decision, recipe.name).is_some() {
            State::Overruled
        } else if log.is_disputed(decision.id) {
            State::Disputed
        } else if seen.is_none() {
            State::Absent
        } else if seen != Some(decision.seen) {
            State::Outdated
        } else if named.contains(&format!("decision:{}", decision.id)) {
            State::Applied
        } else if is_made {
            State::NoEffect
        } else {
            State::WaitsForRun
        };
        found.push(RecipeDecision { recipe: recipe.name, decision: (*decision).clone(), state });
    }
    Ok(())
}
