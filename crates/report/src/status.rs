//! The state of a workspace: fresh and stale stages with reasons, how many records each kept and why the others are out, what is
//! waited for, and what comes next.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use riddlemill_release::{AlikePair, CandidateManifest, LeftOut, Link, ReleaseError, Since};
use serde::{Serialize, Serializer};

use super::count;
use super::next::{CauseRow, Next, RecipeState, next};
use crate::audit::{Funnel, Report, Shown, draw_examples, read_funnel, tables};
use crate::config::Config;
use crate::crawl::{self, Dirs};
use crate::llm::store::Origin;
use crate::pages::time::unix_seconds;
use crate::pipeline::{self, Freshness, Outdated, Planned, RunError, find_outdated, plan_recipe};
use crate::recipe::Recipe;
use crate::record::State;
use crate::stages::{StageError, draft};
use crate::store::{Manifest, Workspace};

/// The state of a workspace. Written as a list: each stage, what is to be said of its recipe, endpoints, crawls, and the
/// command that comes next.
pub struct Status {
    pub recipes: Vec<RecipeStatus>,
    /// What the recipes wait for.
    pub states: Vec<RecipeState>,
    pub endpoints: Vec<EndpointOrigins>,
    pub crawls: Vec<CrawlAge>,
    pub next: Option<Next>,
}

/// The state of a recipe with its stages.
#[derive(Clone, Debug)]
pub struct RecipeStatus {
    pub recipe: &'static Recipe,
    pub stages: Vec<StageStatus>,
    /// Records that reached its end and are no rows of its candidate.
    pub rowless: Vec<LeftOut>,
    /// Why a release of its candidate would be refused.
    pub refused: Vec<String>,
    /// Rows that are alike since people rewrote their texts.
    pub alike: Vec<AlikePair>,
    /// Its released versions, and which of their rows would no longer be released unchanged.
    pub released: Vec<Since>,
}

/// The state of a stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageStatus {
    pub recipe: &'static str,
    pub stage: &'static str,
    /// `fresh`, `depends`, `stale`, `missing`, `older`, `newer` or `damaged`.
    pub state: &'static str,
    pub why: String,
    /// Records that wait.
    pub held: u64,
    pub causes: Vec<CauseRow>,
    /// What a run would make outdated, if it is this stage's rule that changed.
    pub outdates: Option<Outdated>,
    /// What it needs outside of the workspace, and what is not there.
    pub lacks: Option<String>,
    /// How it was made, if it was.
    #[serde(skip)]
    pub made: Option<Manifest>,
}

/// An endpoint whose model changed behind the same name.
#[derive(Clone, Debug, Serialize)]
pub struct EndpointOrigins {
    pub endpoint: String,
    /// The name of the model that is asked for.
    #[serde(skip)]
    pub model: String,
    /// What answered, the latest last.
    pub origins: Vec<OriginSince>,
}

/// A model or a configuration that answered.
#[derive(Clone, Debug, Serialize)]
pub struct OriginSince {
    #[serde(flatten)]
    pub origin: Origin,
    pub replies: u64,
    /// When it answered first, in milliseconds since 1970.
    pub since_ms: u64,
}

/// The age of crawled pages.
#[derive(Clone, Debug, Serialize)]
pub struct CrawlAge {
    pub crawl: String,
    /// When its last page was fetched.
    pub last: String,
    /// How long ago that is, in days; `None` if the time cannot be read.
    pub days: Option<i64>,
    pub pass: u32,
    /// Whether that pass is over.
    pub ended: bool,
    pub pages: u64,
}

/// A candidate that a run built, or found unchanged.
#[derive(Clone, Debug, Serialize)]
pub struct BuiltCandidate<'r> {
    recipe: &'r str,
    rows: u64,
    written: bool,
    stages: &'r [Link],
    refused: &'r [String],
    left_out: &'r [LeftOut],
    causes: Vec<CauseRow>,
    next: Option<&'r Next>,
}

/// One of the list as which a [`Status`] is written.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'s> {
    Stage(&'s StageStatus),
    Rowless { recipe: &'static str, rowless: &'s [LeftOut] },
    Refused { recipe: &'static str, refused: &'s [String] },
    Alike { recipe: &'static str, alike: &'s [AlikePair] },
    Released { recipe: &'static str, released: &'s Since },
    Endpoint(&'s EndpointOrigins),
    Crawl(&'s CrawlAge),
    Next { next: &'s Next },
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let recipes = self.recipes.iter().flat_map(RecipeStatus::status_lines);
        let below = self.endpoints.iter().map(Line::Endpoint).chain(self.crawls.iter().map(Line::Crawl));
        let next = self.next.iter().map(|next| Line::Next { next });
        serializer.collect_seq(recipes.chain(below).chain(next))
    }
}

impl RecipeStatus {
    fn status_lines(&self) -> impl Iterator<Item = Line<'_>> {
        let RecipeStatus { recipe, stages, rowless, refused, alike, released } = self;
        let recipe = recipe.name;
        let rowless = (!rowless.is_empty()).then_some(Line::Rowless { recipe, rowless });
        let refused = (!refused.is_empty()).then_some(Line::Refused { recipe, refused });
        let alike = (!alike.is_empty()).then_some(Line::Alike { recipe, alike });
        let released = released.iter().map(move |released| Line::Released { recipe, released });
        stages.iter().map(Line::Stage).chain(rowless).chain(refused).chain(alike).chain(released)
    }

    fn of_recipe(
        config: &Config,
        recipe: &'static Recipe,
    ) -> Result<(RecipeStatus, RecipeState), ReleaseError> {
        let workspace = Workspace::new(&config.root);
        let planned = plan_recipe(config, recipe)?;
        let lacking = pipeline::list_lacking(config, recipe)?;
        let state = RecipeState::from_plan(config, recipe, &planned)?;
        let outdates = find_outdated(config, recipe, &planned)?.filter(|found| found.posts > 0);
        let stage = |step: &Planned| {
            let (standing, why) = describe_step(step);
            let causes = state.causes.iter().filter(|cause| cause.stage == step.step);
            StageStatus {
                recipe: recipe.name,
                stage: step.step,
                state: standing,
                why,
                held: step.existing_manifest().map_or(0, |made| made.counts.records_in_state(State::Held)),
                causes: causes.map(CauseRow::from).collect(),
                outdates: outdates.filter(|found| found.step == step.step),
                lacks: lacking.iter().find(|one| one.step == step.step).map(|one| one.what.clone()),
                made: step.existing_manifest().cloned(),
            }
        };
        let status = RecipeStatus {
            recipe,
            stages: planned.iter().map(stage).collect(),
            rowless: riddlemill_release::list_rowless_records(config, recipe),
            refused: riddlemill_release::list_refusals(config, recipe),
            alike: riddlemill_release::alike_pairs(&workspace, recipe)?,
            released: riddlemill_release::compare_releases(&state.rows).map_err(RunError::from)?,
        };
        Ok((status, state))
    }
}

impl<'r> BuiltCandidate<'r> {
    /// A candidate, whether it was written, what its recipe waits for, and what comes next.
    pub fn new(
        candidate: &'r CandidateManifest,
        written: bool,
        states: &[RecipeState],
        next: Option<&'r Next>,
    ) -> BuiltCandidate<'r> {
        let state = states.iter().find(|state| state.recipe.name == candidate.recipe);
        BuiltCandidate {
            recipe: &candidate.recipe,
            rows: candidate.rows,
            written,
            stages: &candidate.stages,
            refused: &candidate.refused,
            left_out: &candidate.left_out,
            causes: state.map(RecipeState::cause_rows).unwrap_or_default(),
            next,
        }
    }

    /// What waits or failed in it.
    pub fn causes_mut(&mut self) -> &mut [CauseRow] {
        &mut self.causes
    }
}

/// What a run would make, and why; what is waited for; and what to do next. `only` is the selection of recipes.
///
/// # Errors
/// [`ReleaseError`] if the sources, a stage, votes, replies, a candidate or a registry cannot be read.
pub fn report_status(
    config: &Config,
    recipes: &[&'static Recipe],
    only: &[String],
) -> Result<Status, ReleaseError> {
    draft::refuse_lost_replies(config).map_err(RunError::from)?;
    let (mut statuses, mut states) = (Vec::new(), Vec::new());
    for recipe in recipes {
        let (status, state) = RecipeStatus::of_recipe(config, recipe)?;
        statuses.push(status);
        states.push(state);
    }
    let endpoints = changed_origins(config).map_err(RunError::from)?;
    let next = next(config, &states, only)?;
    Ok(Status { recipes: statuses, states, endpoints, crawls: crawl_ages(config), next })
}

/// The endpoints with replies from more than one model or configuration. Does not create a store.
fn changed_origins(config: &Config) -> Result<Vec<EndpointOrigins>, StageError> {
    if !Workspace::new(&config.root).raw_folder().join("replies").exists() {
        return Ok(Vec::new());
    }
    let store = draft::open_store(config)?;
    let mut changed = Vec::new();
    for endpoint in config.endpoints.iter().filter(|endpoint| draft::may_answer_later(endpoint)) {
        let found = store.origins(endpoint.identity(), &endpoint.model)?;
        if found.len() > 1 {
            let since = |(origin, replies, since_ms)| OriginSince { origin, replies, since_ms };
            changed.push(EndpointOrigins {
                endpoint: endpoint.name.clone(),
                model: endpoint.model.clone(),
                origins: found.into_iter().map(since).collect(),
            });
        }
    }
    Ok(changed)
}

/// The age of crawled pages.
fn crawl_ages(config: &Config) -> Vec<CrawlAge> {
    let dirs = crawl_dirs(config);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let age = |source: &crawl::settings::Source| {
        // The crawl and `fsck` report an unreadable archive.
        let age = crawl::age_of_crawl(source, &dirs).ok().flatten()?;
        Some(CrawlAge {
            crawl: source.name.clone(),
            // The clock of the machine that crawled may be ahead.
            days: unix_seconds(&age.last).map(|then| (now - then).max(0) / 86_400),
            last: age.last,
            pass: age.pass,
            ended: age.ended,
            pages: age.pages,
        })
    };
    config.crawls.iter().filter_map(age).collect()
}

/// The folders of crawls.
pub fn crawl_dirs(config: &Config) -> Dirs {
    let workspace = Workspace::new(&config.root);
    Dirs { warc: workspace.raw_folder().join("warc"), state: config.root.join("staged").join(".crawl") }
}

fn describe_step(step: &Planned) -> (&'static str, String) {
    match (&step.freshness, step.after) {
        (Freshness::Fresh(manifest), None) => ("fresh", count(manifest.counts.records_out, "record")),
        (Freshness::Fresh(_), Some(after)) => {
            ("depends", format!("fresh if the result of {after} does not change"))
        }
        (Freshness::Stale(_, why), _) => ("stale", pipeline::describe_changes(why)),
        (Freshness::Missing, _) => ("missing", "not made yet".into()),
        (Freshness::Layout(layout), _) => Freshness::of_layout(*layout),
        // A step has one line here; an error may have several.
        (Freshness::Damaged(what), _) => ("damaged", what.lines().next().unwrap_or_default().into()),
    }
}

/// Examples by stage, then by `state/reason`.
pub type Examples = BTreeMap<String, BTreeMap<String, Vec<Shown>>>;

/// What `report` tells of a recipe.
#[derive(Clone, Debug, Serialize)]
pub struct RecipeReport {
    #[serde(flatten)]
    pub funnel: Funnel,
    /// What the conditions of `[data]` stopped of the records at the end.
    #[serde(rename = "conditions", skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<LeftOut>,
    /// The figures that the benchmark's folder declares.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "figures")]
    pub tables: Option<Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
}

fn figures<S: Serializer>(tables: &Option<Report>, serializer: S) -> Result<S::Ok, S::Error> {
    tables.as_ref().map(|tables| &tables.figures).serialize(serializer)
}

/// The report of a recipe, with at most `size` examples of each reason, and without any if it is 0.
///
/// # Errors
/// [`RunError`] if a stage, votes or the candidate cannot be read.
pub fn recipe_report(
    config: &Config,
    recipe: &'static Recipe,
    size: usize,
) -> Result<RecipeReport, RunError> {
    let workspace = Workspace::new(&config.root);
    let funnel = read_funnel(&workspace, recipe)?;
    let mut all = Examples::new();
    for step in recipe.steps().iter().filter(|_| size > 0) {
        all.insert(step.name.into(), draw_examples(&workspace, recipe, step, size)?);
    }
    let tables = tables(config, recipe)?;
    let candidate = CandidateManifest::read_manifest(&workspace.candidate_folder(recipe.name))?;
    let stopped = candidate.iter().flat_map(CandidateManifest::stopped_by_conditions).cloned().collect();
    Ok(RecipeReport { funnel, stopped, tables, examples: (size > 0).then_some(all) })
}
