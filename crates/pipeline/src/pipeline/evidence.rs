//! What determines a step in addition to its code: settings, inputs, and data from raw/.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::config::{Config, sections};
use crate::recipe::{Recipe, Step};
use crate::stages::import::{Dump, files};
use crate::stages::published::Published;
use crate::stages::respond::Made;
use crate::stages::review::Votes;
use crate::stages::same_joke;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{Embeds, NEAR, Rows, Stage, StageError, draft, salt};
use riddlemill_review::decisions::{DecisionLog, Verdict};
use riddlemill_tables::{self as store, InputRef, Manifest, Workspace};
use riddlemill_text::record::{Reason, State};

use super::freshness::{Change, Freshness, freshness};
use super::{RunError, rows};

/// A recipe with the data needed by all its steps.
pub(super) struct RunContext<'a> {
    pub config: &'a Config,
    pub recipe: &'static Recipe,
    dumps: OnceCell<Vec<Dump>>,
    votes: OnceCell<Votes>,
    decisions: OnceCell<DecisionLog>,
}

impl<'a> RunContext<'a> {
    pub(super) fn new(config: &'a Config, recipe: &'static Recipe) -> RunContext<'a> {
        let (dumps, votes, decisions) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        RunContext { config, recipe, dumps, votes, decisions }
    }

    /// The files that it imports, none for a recipe without that step; read whole and hashed on first use.
    pub(super) fn dumps(&self) -> Result<&[Dump], RunError> {
        if let Some(dumps) = self.dumps.get() {
            return Ok(dumps);
        }
        let imports = self.recipe.steps().iter().any(|step| step.stage == Stage::Import);
        let riddles = self.recipe.is_of_riddles();
        let dumps = if imports { files(self.config, self.recipe.name, riddles)? } else { Vec::new() };
        Ok(self.dumps.get_or_init(|| dumps))
    }

    /// All votes; read on first use.
    pub(super) fn votes(&self) -> Result<&Votes, StageError> {
        if let Some(votes) = self.votes.get() {
            return Ok(votes);
        }
        let votes = Votes::load(self.config, self.recipe.name)?;
        Ok(self.votes.get_or_init(|| votes))
    }

    /// All decisions; read on first use.
    pub(super) fn decisions(&self) -> Result<&DecisionLog, StageError> {
        if let Some(decisions) = self.decisions.get() {
            return Ok(decisions);
        }
        let decisions = DecisionLog::read(&Workspace::new(&self.config.root).decisions())?;
        Ok(self.decisions.get_or_init(|| decisions))
    }

    /// The manifest with which a step's output would start today.
    pub(super) fn opening(&self, step: &Step, made: &BTreeMap<&str, Manifest>) -> Result<Manifest, RunError> {
        let place = |input: &str| match self.recipe.input(input) {
            Some((recipe, _, step)) => (recipe.name.to_owned(), step.name.to_owned()),
            None => (self.recipe.name.to_owned(), input.to_owned()),
        };
        let inputs = step.inputs.iter().map(|input| InputRef {
            recipe: place(input).0,
            stage: place(input).1,
            rows: made
                .get(input)
                .and_then(|m| m.tables.get("rows"))
                .map(|t| t.hash.clone())
                .unwrap_or_default(),
        });
        let mut evidence = self.evidence(step)?;
        if matches!(step.stage, Stage::SameJoke | Stage::Dedup) {
            // Inputs are compared by their rows, and pairs are not rows.
            let near = step.inputs.iter().find_map(|input| made.get(input)?.tables.get(NEAR));
            evidence.extend(near.map(|near| ("embeddings".to_owned(), near.hash.clone())));
            let judged = step.inputs.iter().find_map(|input| made.get(input)?.tables.get(same_joke::JUDGED));
            evidence.extend(judged.map(|judged| ("judged".to_owned(), judged.hash.clone())));
        }
        Ok(store::opening(
            self.recipe.name,
            step.name,
            step.stage.version(),
            self.with_own(step, self.settings(step)),
            inputs.collect(),
            evidence,
        ))
    }

    /// Adds the benchmark's own settings that the step's expressions use.
    fn with_own(&self, step: &Step, mut decide: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        let Some(benchmark) = riddlemill_benchmarks::find(self.recipe.name) else { return decide };
        let values = self.config.own(benchmark.name);
        for own in benchmark
            .steps
            .iter()
            .filter(|declared| declared.name == step.name)
            .flat_map(|declared| benchmark.own_settings(declared))
        {
            let value = values.get(&(own.section, own.key.name)).unwrap_or(&own.default);
            decide.insert(format!("{}.{}", own.section, own.key.name), value.clone());
        }
        decide
    }

    /// The settings that affect a step's rows: for drafts and reviews only those of the step.
    fn settings(&self, step: &Step) -> BTreeMap<String, Value> {
        let recipe = Some(self.recipe.name);
        let review = || self.config.typed::<sections::Review>(recipe, "review");
        let named = |steps: &[String], name: &str| Value::from(steps.iter().any(|step| step == name));
        match step.stage {
            Stage::Draft(kind) => {
                let settings = self.config.typed::<sections::Draft>(recipe, "draft");
                let optional = draft::optional(kind, self.config, self.recipe.name);
                let mut decide = BTreeMap::from([
                    ("max_reasks".into(), settings.max_reasks.into()),
                    ("optional".into(), optional.into()),
                ]);
                // Only included if set, so that stages from before these settings stay fresh.
                if draft::is_skipped(kind, self.config, self.recipe.name) {
                    decide.insert("skip".into(), true.into());
                }
                let endpoints = draft::endpoints(kind, self.config, self.recipe.name);
                if draft::wants_unseen(kind, self.config, self.recipe.name)
                    && endpoints.is_ok_and(|endpoints| endpoints.iter().any(draft::sends))
                {
                    decide.insert("unseen".into(), true.into());
                }
                let (declared, asks) = (kind.declared(), draft::asks(kind, self.config, self.recipe.name));
                if asks.several {
                    decide.insert(declared.asks.1.into(), asks.names.into());
                }
                for (section, key) in declared.settings() {
                    let value = self.config.value(self.recipe.name, section, key);
                    decide.extend(value.map(|value| (key.to_owned(), value.clone())));
                }
                decide
            }
            Stage::Review(kind) => {
                let (review, name) = (review(), kind.place().1);
                let ahead = named(&review.draft_ahead, name);
                let mut decide = BTreeMap::from([
                    ("draft_ahead".into(), ahead),
                    ("optional".into(), named(&review.optional, name)),
                ]);
                // Only included if set, so that stages from before previews stay fresh.
                if review.preview {
                    decide.insert("preview".into(), true.into());
                }
                let ballot = kind.ballot(&review);
                for (key, holds) in
                    [("wanted", named(&review.wanted, name)), ("blind", named(&review.blind, name))]
                {
                    if holds.as_bool() == Some(true) {
                        decide.insert(key.into(), holds);
                    }
                }
                if ballot.is_drawn() {
                    decide.extend(self.config.stage(recipe, "options"));
                }
                decide
            }
            Stage::Native(native) => native.settings(self.config, self.recipe.name),
            Stage::Embed => Embeds::Posts.near_settings(self.config, self.recipe.name),
            Stage::SameJoke => same_joke::settings(self.config, self.recipe.name),
            Stage::Dedup => Embeds::Posts.comparison(self.config, self.recipe.name),
            _ => self.config.stage(recipe, step.stage.section()),
        }
    }

    /// A step's data from raw/: name and hash.
    fn evidence(&self, step: &Step) -> Result<BTreeMap<String, String>, RunError> {
        let mut evidence = BTreeMap::new();
        match step.stage {
            Stage::Import => {
                evidence.extend(self.dumps()?.iter().map(Dump::evidence));
                // Does not draw a salt; `run` draws it before.
                let salt = salt::standing(&Workspace::new(&self.config.root))?;
                let withdrawn = Withdrawals::load(&Workspace::new(&self.config.root))?;
                evidence.extend(withdrawn.evidence().map(|withdrawn| ("withdrawn".to_string(), withdrawn)));
                evidence.extend(salt.map(|salt| ("salt".to_string(), salt::fingerprint(&salt))));
                let settings = self.config.typed(Some(self.recipe.name), "import");
                evidence.extend(crate::stages::import::words_evidence(&self.config.root, &settings)?);
            }
            Stage::Anonymise | Stage::Mark(_) => {
                let settings = self.config.typed(Some(self.recipe.name), "anonymise");
                evidence.extend(crate::stages::policy_lists(&self.config.root, &settings)?.evidence());
            }
            Stage::Draft(kind) => {
                let workspace = Workspace::new(&self.config.root);
                evidence.extend(Made::load(kind, self.config, self.recipe.name)?.evidence());
                evidence.extend(draft::Ratings::load(kind, self.config)?.evidence());
                let records = || {
                    let inputs = step
                        .inputs
                        .iter()
                        .map(|input| rows::subjects_of(&workspace, self.recipe, input, kind.subjects()));
                    Ok(inputs.collect::<Result<Vec<_>, StageError>>()?.concat())
                };
                evidence.extend(draft::evidence(kind, self.config, self.recipe.name, records)?);
            }
            Stage::Review(kind) => {
                let (recipe, ballot) = kind.place();
                evidence.insert("votes".into(), self.votes()?.evidence(recipe, ballot));
            }
            Stage::Native(native) => evidence.extend(native.evidence(self.config, self.recipe.name)?),
            Stage::SameJoke => {
                let workspace = Workspace::new(&self.config.root);
                let place = workspace.stage(self.recipe.name, step.number, step.name);
                evidence.extend(same_joke::evidence(self.config, self.recipe.name, &place)?);
            }
            Stage::Clean
            | Stage::Filter
            | Stage::Embed
            | Stage::Dedup
            | Stage::Options(_)
            | Stage::Choose(_)
            | Stage::Select(_)
            | Stage::Elements(_) => {}
        }
        if let Some(embeds) = Embeds::in_stage(step.stage) {
            let texts = || rows::embedded(&Workspace::new(&self.config.root), self.recipe, step, embeds);
            let stored = embeds.evidence(self.config, self.recipe.name, texts)?;
            evidence.extend(stored.map(|stored| ("embeddings".to_string(), stored)));
        }
        if step.stage.rows() != Rows::Posts {
            evidence.extend(self.declared(step));
        }
        // Posts pass unchanged; other data of a published row concerns later steps.
        if step.stage != Stage::Import {
            let published = Published::evidence(&Workspace::new(&self.config.root), self.recipe.name)?;
            evidence.extend(published.map(|published| ("published".to_string(), published)));
        }
        if Verdict::ALL.into_iter().any(|verdict| step.stage.takes(verdict)) {
            let people = self.decisions()?.of_stage(self.recipe.name, step.name);
            evidence.extend(people.evidence().map(|people| ("decisions".to_string(), people)));
        }
        Ok(evidence)
    }

    /// The declarations in the benchmark's folder that determine the step's rows: place and hash.
    fn declared(&self, step: &Step) -> BTreeMap<String, String> {
        let benchmark = riddlemill_benchmarks::find(self.recipe.name);
        let declared = |benchmark: &riddlemill_benchmarks::Benchmark| {
            benchmark.steps.iter().find(|s| s.name == step.name).map(|step| benchmark.declares(step))
        };
        benchmark.and_then(declared).unwrap_or_default()
    }

    /// Compares an existing stage with what a run would make. A draft stage that lacks replies is remade if
    /// somebody may answer.
    pub(super) fn freshness(
        &self,
        step: &Step,
        place: &Path,
        opening: &Manifest,
        offline: bool,
    ) -> Result<Freshness, RunError> {
        let found = freshness(place, opening);
        if let (Some(embeds), false, Freshness::Fresh(manifest)) =
            (Embeds::in_stage(step.stage), offline, &found)
            && embeds.asks(self.config, self.recipe.name)?
        {
            let missing = not_embedded(embeds, manifest);
            let why = Change::Missing { key: "embeddings".to_owned(), count: missing };
            return Ok(if missing > 0 { Freshness::Stale(manifest.clone(), vec![why]) } else { found });
        }
        if let (Stage::SameJoke, false, Freshness::Fresh(manifest)) = (step.stage, offline, &found)
            && same_joke::asks(self.config, self.recipe.name)?
        {
            let missing = same_joke::missing(place)?;
            let why = Change::Missing { key: "replies".to_owned(), count: missing };
            return Ok(if missing > 0 { Freshness::Stale(manifest.clone(), vec![why]) } else { found });
        }
        let (Stage::Draft(kind), false, Freshness::Fresh(manifest)) = (step.stage, offline, &found) else {
            return Ok(found);
        };
        let missing = missing(manifest);
        let endpoints = draft::endpoints(kind, self.config, self.recipe.name)?;
        if missing == 0 || !endpoints.iter().any(draft::sends) {
            return Ok(found);
        }
        let why = Change::Missing { key: "replies".to_owned(), count: missing };
        Ok(Freshness::Stale(manifest.clone(), vec![why]))
    }
}

/// Texts without an embedding that another run may get.
pub(super) fn not_embedded(embeds: Embeds, manifest: &Manifest) -> u64 {
    match embeds {
        Embeds::Posts => {
            let key = format!("{}/{}", State::Changed.code(), Reason::NotEmbedded.code());
            manifest.counts.reasons.get(&key).copied().unwrap_or(0)
        }
        Embeds::Questions => {
            let stored = manifest.evidence.get("embeddings").and_then(|e| e.split(' ').next()?.parse().ok());
            manifest.counts.records_in.saturating_sub(stored.unwrap_or(0))
        }
    }
}

/// Posts in pairs without a judgement that another run may get.
pub(super) fn not_judged(manifest: &Manifest) -> u64 {
    let key = format!("{}/{}", State::Changed.code(), Reason::NotJudged.code());
    manifest.counts.reasons.get(&key).copied().unwrap_or(0)
}

/// Records without a reply that another run may get.
fn missing(manifest: &Manifest) -> u64 {
    let failed = format!("{}/{}", State::Failed.code(), Reason::RequestFailed.code());
    let optional = format!("{}/{}", State::Changed.code(), Reason::NotDrafted.code());
    let further = [failed, optional].iter().filter_map(|key| manifest.counts.reasons.get(key)).sum::<u64>();
    manifest.counts.state(State::Held) + further
}
