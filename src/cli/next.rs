//! What to do next: the causes that keep records back, and the one command that helps most records.

use serde_json::{Value, json};

use super::exit::Failure;
use super::output::count;
use super::terminal::{HANG, Tone, tint};
use crate::config::{Config, sections};
use crate::pipeline::{Cause, CauseState, Planned, Remedy, causes};
use crate::recipe::Recipe;
use crate::release::{self, Candidate, ReleaseError};
use crate::store::{Manifest, Workspace};

/// The state of a recipe.
pub(super) struct RecipeState {
    pub recipe: &'static Recipe,
    /// Number of stages that a run would make.
    pub due: usize,
    pub causes: Vec<Cause>,
}

/// A command, and the reason.
pub(super) struct Next {
    command: String,
    why: String,
}

impl RecipeState {
    /// The state after a run that made these stages.
    pub(super) fn after(
        config: &Config,
        recipe: &'static Recipe,
        made: &[Manifest],
    ) -> Result<RecipeState, Failure> {
        let due = recipe.steps().len() - made.len();
        Ok(RecipeState { recipe, due, causes: causes(config, recipe, made)? })
    }

    /// The planned state.
    pub(super) fn planned(
        config: &Config,
        recipe: &'static Recipe,
        planned: &[Planned],
    ) -> Result<RecipeState, Failure> {
        let made: Vec<Manifest> = planned.iter().filter_map(|step| step.manifest().cloned()).collect();
        let due = planned.iter().filter(|step| step.is_due()).count();
        Ok(RecipeState { recipe, due, causes: causes(config, recipe, &made)? })
    }

    /// The causes of one stage.
    pub(super) fn causes<'a>(&'a self, stage: &'a str) -> impl Iterator<Item = &'a Cause> {
        self.causes.iter().filter(move |cause| cause.stage == stage)
    }
}

/// The one command that helps most records; `only` is the selection of recipes. `None` if nothing is left to
/// do.
pub(super) fn next(
    config: &Config,
    standings: &[RecipeState],
    only: &[String],
) -> Result<Option<Next>, Failure> {
    let run: String = std::iter::once("riddlemill run".into())
        .chain(only.iter().map(|name| format!(" --recipe {name}")))
        .collect();
    let due: usize = standings.iter().map(|standing| standing.due).sum();
    if due > 0 {
        return Ok(Some(Next { command: run, why: format!("{} to make", count(due as u64, "stage")) }));
    }
    if is_first_sight(config) && standings.iter().all(|standing| standing.causes.iter().all(|c| !c.failed)) {
        return Ok(Some(Next { command: "riddlemill serve".into(), why: SAMPLE.into() }));
    }
    let of_cause = |standing: &RecipeState, cause: &Cause| {
        let command = match &cause.remedy {
            Remedy::Nothing => return None,
            Remedy::Run => run.clone(),
            Remedy::First(what) => format!("{what}; then {run}"),
            Remedy::Command(command) => command.clone(),
        };
        // Without the remedy, which is the command itself.
        let short = Cause { remedy: Remedy::Nothing, ..cause.clone() };
        Some(Next { command, why: format!("{} {}: {short}", standing.recipe.name, cause.stage) })
    };
    let all =
        || standings.iter().flat_map(|standing| standing.causes.iter().map(move |cause| (standing, cause)));
    // Of several with equally many records the first: what it unblocks passes through the others.
    let blocking = most(all().filter(|(_, cause)| cause.blocks));
    if let Some(next) = blocking.and_then(|(standing, cause)| of_cause(standing, cause)) {
        return Ok(Some(next));
    }
    for standing in standings {
        let name = standing.recipe.name;
        if release::due(config, standing.recipe)? {
            let why = format!("{name} is complete, and its candidate is not released");
            if let Some(ReleaseError::Unlicensed { .. }) = release::unlicensed(config, standing.recipe) {
                let command =
                    format!("set `licence` under [release] in pipeline.toml, an SPDX identifier; then {run}");
                return Ok(Some(Next {
                    command,
                    why: format!("{why}: no licence is set for it as a whole"),
                }));
            }
            // What has to be mended first was printed in full above.
            if let Some(refused) = release::refusals(config, standing.recipe).first() {
                let refused = refused.lines().next().unwrap_or_default();
                let why = format!("{name} is complete, but a release would be refused: {refused}");
                return Ok(Some(Next { command: format!("riddlemill status --recipe {name}"), why }));
            }
            let partial = release::is_partial(config, standing.recipe);
            let (flag, why) = match partial {
                true => (" --partial", format!("{why}; less than release.whole_share of its items is in it")),
                false => ("", why),
            };
            return Ok(Some(Next { command: format!("riddlemill release {name}{flag}"), why }));
        }
    }
    // If a set has rows, the records kept back may be left.
    let empty = |standing: &RecipeState| {
        let candidate = Workspace::new(&config.root).candidate(standing.recipe.name);
        Candidate::read(&candidate).ok().flatten().is_none_or(|candidate| candidate.rows == 0)
    };
    let commands = all().filter(|(_, cause)| matches!(cause.remedy, Remedy::Command(_)));
    let other = most(commands.filter(|(standing, _)| empty(standing)));
    Ok(other.and_then(|(standing, cause)| of_cause(standing, cause)))
}

/// What a newcomer does with the sample.
const SAMPLE: &str = "this is the sample, with made-up votes: the pages show each post and why it was kept or left out, and riddlemill explain tieba:9900002233 tells it of one here";

/// Whether the workspace has the sample's posts, drafts and votes and nothing else: then nobody has work to do.
fn is_first_sight(config: &Config) -> bool {
    let draft: sections::Draft = config.typed(None, "draft");
    let votes = Workspace::new(&config.root).raw().join("votes");
    let nobody_voted = std::fs::read_dir(votes).map_or(true, |mut files| files.next().is_none());
    !config.sources.is_empty()
        && config.sources.iter().all(|source| source.path.starts_with("raw/sample/"))
        && draft.endpoint == "sample"
        && nobody_voted
}

/// The first of those with the most records.
fn most<'a>(
    causes: impl Iterator<Item = (&'a RecipeState, &'a Cause)>,
) -> Option<(&'a RecipeState, &'a Cause)> {
    causes.reduce(|most, other| if other.1.records > most.1.records { other } else { most })
}

impl Next {
    /// `next: riddlemill release flub  (flub is complete …)`.
    pub(super) fn line(&self) -> String {
        format!("{} {HANG}{}  ({})", tint(Tone::Head, "next:"), self.command, self.why)
    }

    pub(super) fn json(&self) -> Value {
        json!({ "command": self.command, "why": self.why })
    }
}

/// A cause for machines.
pub(super) fn row(cause: &Cause) -> Value {
    json!({
        "stage": cause.stage, "records": cause.records, "what": cause.what, "words": cause.to_string(),
        "mend": cause.remedy.text(), "failed": cause.failed,
    })
}

/// What waits or failed, a line a cause, under a heading; recipes with the same cause share a line.
pub(super) fn kept_back(standings: &[RecipeState]) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, &Cause)> = Vec::new();
    for standing in standings {
        for cause in &standing.causes {
            match groups.iter_mut().find(|(_, first)| same(first, cause)) {
                Some((recipes, _)) => recipes.push(standing.recipe.name),
                None => groups.push((vec![standing.recipe.name], cause)),
            }
        }
    }
    let line = |(recipes, cause): &(Vec<&str>, &Cause)| {
        let tone = if cause.failed { Tone::Bad } else { Tone::Waits };
        let each = if recipes.len() > 1 { "in each, " } else { "" };
        let place = tint(tone, &format!("{} {}", recipes.join(", "), cause.stage));
        format!("  {place}: {HANG}{each}{cause}")
    };
    let heading = (!groups.is_empty()).then(|| tint(Tone::Head, KEPT_BACK));
    heading.into_iter().chain(groups.iter().map(line)).collect()
}

/// The heading of what waits or failed.
const KEPT_BACK: &str = "what waits or failed:";

/// Whether one remedy mends both. Decisions of people hold in every recipe that has the stage.
fn same(a: &Cause, b: &Cause) -> bool {
    (a.stage, a.records, &a.what, a.failed) == (b.stage, b.records, &b.what, b.failed)
        && a.state == b.state
        && (a.state == CauseState::Person || a.remedy.text() == b.remedy.text())
}
