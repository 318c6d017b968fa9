//! What determines a step in addition to its code: settings, inputs, and data from raw/.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::config::Config;
use crate::recipe::{Recipe, Step};
use crate::stages::import::{Dump, find_source_files};
use crate::stages::published::Published;
use crate::stages::same_joke;
use crate::stages::{NEAR, PeopleLogs, StageInput, StageRows, StepContext};
use riddlemill_record::{Reason, State};
use riddlemill_review::decisions::Verdict;
use riddlemill_tables::{self as store, InputRef, Manifest, Workspace};

use super::RunError;
use super::freshness::{Change, Freshness, freshness_of_stage};

/// A recipe with the data needed by all its steps.
pub(super) struct RunContext<'a> {
    pub config: &'a Config,
    pub recipe: &'static Recipe,
    dumps: OnceCell<Vec<Dump>>,
    /// What people said about its records.
    pub logs: PeopleLogs<'a>,
}

impl<'a> RunContext<'a> {
    pub(super) fn new(config: &'a Config, recipe: &'static Recipe) -> RunContext<'a> {
        RunContext { config, recipe, dumps: OnceCell::new(), logs: PeopleLogs::new(config, recipe.name) }
    }

    /// The files that it imports, none for a recipe without that step; read whole and hashed on first use.
    pub(super) fn read_dumps(&self) -> Result<&[Dump], RunError> {
        if let Some(dumps) = self.dumps.get() {
            return Ok(dumps);
        }
        let imports = self.recipe.steps().iter().any(|step| step.stage.is_import());
        let riddles = self.recipe.is_of_riddles();
        let dumps =
            if imports { find_source_files(self.config, self.recipe.name, riddles)? } else { Vec::new() };
        Ok(self.dumps.get_or_init(|| dumps))
    }

    /// A step with what it may look at; the dumps only if they were read.
    pub(super) fn step_context(&self, step: &Step) -> StepContext<'_> {
        let workspace = Workspace::new(&self.config.root);
        let input = |name: &&'static str| {
            let (recipe, number, before) = self.recipe.find_input(name)?;
            let place = workspace.stage_folder(recipe.name, number, before.name);
            Some(StageInput { name, rows: before.stage.rows(), place })
        };
        StepContext {
            config: self.config,
            recipe: self.recipe.name,
            step: step.name,
            about: step.stage.describe_stage(),
            overruled: Verdict::ALL.into_iter().any(|verdict| step.stage.may_be_overruled(verdict)),
            place: workspace.stage_folder(self.recipe.name, step.number, step.name),
            inputs: step.inputs.iter().filter_map(input).collect(),
            dumps: self.dumps.get().map_or(&[], Vec::as_slice),
            logs: &self.logs,
        }
    }

    /// The manifest with which a step's output would start today.
    pub(super) fn expected_manifest(
        &self,
        step: &Step,
        made: &BTreeMap<&str, Manifest>,
    ) -> Result<Manifest, RunError> {
        let place = |input: &str| match self.recipe.find_input(input) {
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
        let mut evidence = self.step_evidence(step)?;
        if step.stage.is_pair_judge() || step.stage.merges_posts() {
            // Inputs are compared by their rows, and pairs are not rows.
            let near = step.inputs.iter().find_map(|input| made.get(input)?.tables.get(NEAR));
            evidence.extend(near.map(|near| ("embeddings".to_owned(), near.hash.clone())));
            let judged = step.inputs.iter().find_map(|input| made.get(input)?.tables.get(same_joke::JUDGED));
            evidence.extend(judged.map(|judged| ("judged".to_owned(), judged.hash.clone())));
        }
        Ok(store::expected_manifest(
            self.recipe.name,
            step.name,
            step.stage.version(),
            self.with_own(step, step.stage.row_settings(self.config, self.recipe.name)),
            inputs.collect(),
            evidence,
        ))
    }

    /// Adds the benchmark's own settings that the step's expressions use.
    fn with_own(&self, step: &Step, mut decide: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        let Some(benchmark) = riddlemill_benchmarks::find_benchmark(self.recipe.name) else { return decide };
        let values = self.config.own_settings(benchmark.name);
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

    /// A step's data from raw/: name and hash.
    fn step_evidence(&self, step: &Step) -> Result<BTreeMap<String, String>, RunError> {
        if step.stage.is_import() {
            self.read_dumps()?;
        }
        let context = self.step_context(step);
        let mut evidence = step.stage.collect_evidence(&context)?;
        if let Some(embeds) = step.stage.embedding_task() {
            let texts = || step.stage.texts_to_embed(&context);
            evidence.extend(embeds.collect_evidence(self.config, self.recipe.name, texts)?);
        }
        if step.stage.rows() != StageRows::Posts {
            evidence.extend(self.declarations_of_step(step));
        }
        // Posts pass unchanged; other data of a published row concerns later steps.
        if !step.stage.is_import() {
            let published = Published::manifest_evidence(&context.workspace(), self.recipe.name)?;
            evidence.extend(published.map(|published| ("published".to_string(), published)));
        }
        let people = context.read_decisions()?.evidence();
        evidence.extend(people.map(|people| ("decisions".to_string(), people)));
        Ok(evidence)
    }

    /// The declarations in the benchmark's folder that determine the step's rows: place and hash.
    fn declarations_of_step(&self, step: &Step) -> BTreeMap<String, String> {
        let benchmark = riddlemill_benchmarks::find_benchmark(self.recipe.name);
        let declared = |benchmark: &riddlemill_benchmarks::Benchmark| {
            benchmark
                .steps
                .iter()
                .find(|s| s.name == step.name)
                .map(|step| benchmark.declarations_of_step(step))
        };
        benchmark.and_then(declared).unwrap_or_default()
    }

    /// Compares an existing stage with what a run would make. One that lacks what it asks for is remade if somebody may
    /// answer.
    pub(super) fn freshness_of_step(
        &self,
        step: &Step,
        folder: &Path,
        expected: &Manifest,
        offline: bool,
    ) -> Result<Freshness, RunError> {
        let found = freshness_of_stage(folder, expected);
        let (Freshness::Fresh(manifest), false) = (&found, offline) else { return Ok(found) };
        match step.stage.count_missing(&self.step_context(step), manifest)? {
            Some((key, count)) if count > 0 => {
                let why = Change::Missing { key: key.to_owned(), count };
                Ok(Freshness::Stale(manifest.clone(), vec![why]))
            }
            _ => Ok(found),
        }
    }
}

/// Posts in pairs without a judgement that another run may get.
pub(super) fn not_judged(manifest: &Manifest) -> u64 {
    let key = format!("{}/{}", State::Changed.code(), Reason::NotJudged.code());
    manifest.counts.reasons.get(&key).copied().unwrap_or(0)
}
