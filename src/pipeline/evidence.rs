//! What decides a step besides its code: settings, inputs, and what it takes from raw/.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::config::{Config, sections};
use crate::recipe::{Recipe, Step};
use crate::record::{Reason, State};
use crate::stages::import::{Dump, files};
use crate::stages::review::Votes;
use crate::stages::{Stage, StageError, draft, salt};
use crate::store::{self, InputRef, Manifest, Workspace};

use super::plan::{Freshness, freshness};
use super::{RunError, rows};

/// A recipe with what is read once for all of its steps.
pub(super) struct Known<'a> {
    pub config: &'a Config,
    pub recipe: &'static Recipe,
    pub dumps: Vec<Dump>,
    votes: OnceCell<Votes>,
}

impl<'a> Known<'a> {
    pub(super) fn new(config: &'a Config, recipe: &'static Recipe) -> Result<Known<'a>, RunError> {
        Ok(Known { config, recipe, dumps: files(config, recipe.name)?, votes: OnceCell::new() })
    }

    /// All votes; read when a step first asks for them.
    pub(super) fn votes(&self) -> Result<&Votes, StageError> {
        if let Some(votes) = self.votes.get() {
            return Ok(votes);
        }
        let votes = Votes::load(self.config, self.recipe.name)?;
        Ok(self.votes.get_or_init(|| votes))
    }

    /// The manifest that a step's output would begin with today.
    pub(super) fn opening(&self, step: &Step, made: &BTreeMap<&str, Manifest>) -> Result<Manifest, RunError> {
        let inputs = step.inputs.iter().map(|input| InputRef {
            recipe: self.recipe.name.into(),
            stage: input.to_string(),
            rows: made
                .get(input)
                .and_then(|m| m.tables.get("rows"))
                .map(|t| t.hash.clone())
                .unwrap_or_default(),
        });
        Ok(store::opening(
            self.recipe.name,
            step.name,
            step.stage.version(),
            self.settings(step),
            inputs.collect(),
            self.evidence(step)?,
        ))
    }

    /// The settings that can change a step's rows: of drafts and reviews only what concerns the step.
    fn settings(&self, step: &Step) -> BTreeMap<String, Value> {
        let recipe = Some(self.recipe.name);
        let review = || self.config.typed::<sections::Review>(recipe, "review");
        let named = |steps: &[String], name: &str| Value::from(steps.iter().any(|step| step == name));
        match step.stage {
            Stage::Draft(draft) => {
                let reasks = self.config.typed::<sections::Draft>(recipe, "draft").max_reasks;
                let optional = named(&review().optional, draft.name());
                BTreeMap::from([("max_reasks".into(), reasks.into()), ("optional".into(), optional)])
            }
            Stage::Review(kind) => {
                let (review, name) = (review(), kind.place().1);
                let ahead = named(&review.draft_ahead, name);
                BTreeMap::from([
                    ("draft_ahead".into(), ahead),
                    ("optional".into(), named(&review.optional, name)),
                ])
            }
            _ => self.config.stage(recipe, step.stage.section()),
        }
    }

    /// What a step takes from raw/: name and hash.
    fn evidence(&self, step: &Step) -> Result<BTreeMap<String, String>, RunError> {
        let mut evidence = BTreeMap::new();
        match step.stage {
            Stage::Import => {
                evidence.extend(self.dumps.iter().map(Dump::evidence));
                // Looking draws no salt; `run` draws it before it asks.
                let salt = salt::standing(&Workspace::new(&self.config.root))?;
                evidence.extend(salt.map(|salt| ("salt".to_string(), salt::fingerprint(&salt))));
            }
            Stage::Anonymise => {
                let settings = self.config.typed(Some(self.recipe.name), "anonymise");
                evidence.extend(crate::stages::policy_lists(&self.config.root, &settings)?.evidence());
            }
            Stage::Draft(kind) => {
                let workspace = Workspace::new(&self.config.root);
                let questions = || {
                    let inputs =
                        step.inputs.iter().map(|input| rows::questions_of(&workspace, self.recipe, input));
                    Ok(inputs.collect::<Result<Vec<_>, StageError>>()?.concat())
                };
                evidence.extend(draft::evidence(kind, self.config, self.recipe.name, questions)?);
            }
            Stage::Review(kind) => {
                let (recipe, ballot) = kind.place();
                evidence.insert("votes".into(), self.votes()?.evidence(recipe, ballot));
            }
            Stage::Clean | Stage::Filter | Stage::Dedup => {}
        }
        Ok(evidence)
    }

    /// Compares what stands in a step's place with what a run would make. A draft stage that lacks
    /// replies is asked again wherever somebody may answer.
    pub(super) fn freshness(
        &self,
        step: &Step,
        place: &Path,
        opening: &Manifest,
        offline: bool,
    ) -> Result<Freshness, RunError> {
        let found = freshness(place, opening);
        let (Stage::Draft(kind), false, Freshness::Fresh(manifest)) = (step.stage, offline, &found) else {
            return Ok(found);
        };
        let missing = missing(manifest);
        let endpoint = draft::endpoint(kind, self.config, self.recipe.name)?;
        if missing == 0 || !endpoint.is_some_and(|endpoint| draft::sends(&endpoint)) {
            return Ok(found);
        }
        let verb = if missing == 1 { "reply is" } else { "replies are" };
        Ok(Freshness::Stale(manifest.clone(), vec![format!("{missing} {verb} missing")]))
    }
}

/// Records without a reply that another run may get.
fn missing(manifest: &Manifest) -> u64 {
    let failed = format!("{}/{}", State::Failed.code(), Reason::RequestFailed.code());
    let optional = format!("{}/{}", State::Changed.code(), Reason::NotDrafted.code());
    let further = [failed, optional].iter().filter_map(|key| manifest.counts.reasons.get(key)).sum::<u64>();
    manifest.counts.state(State::Held) + further
}
