//! What to do next: the causes that keep records back, and the one command that helps most records.

use std::path::Path;

use serde::Serialize;

use super::{count, format_count};
use crate::config::{Config, sections};
use crate::pipeline::{Cause, CauseState, Planned, Remedy, RunError, list_causes};
use crate::recipe::Recipe;
use crate::store::{Manifest, Workspace};
use riddlemill_release::{CandidateManifest, CurrentRows, ReleaseError};

/// The state of a recipe.
pub struct RecipeState {
    pub recipe: &'static Recipe,
    /// Number of stages that a run would make.
    pub due: usize,
    pub causes: Vec<Cause>,
    /// Its rows, for whatever asks about them.
    pub rows: CurrentRows,
}

/// A command, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Next {
    /// What no command does and a person has to do before it, such as an edit of pipeline.toml.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// As a shell runs it.
    pub command: String,
    pub why: String,
    /// The recipe and the stage whose records it helps, if it is about a stage: pages have a place for that.
    #[serde(skip)]
    pub at: Option<(&'static str, &'static str)>,
}

/// A cause, as it is written for machines.
#[derive(Clone, Debug, Serialize)]
pub struct CauseRow {
    stage: &'static str,
    records: u64,
    /// What keeps them back.
    what: String,
    /// All of it as a sentence.
    words: String,
    /// The command or the setting that helps.
    mend: Option<String>,
    failed: bool,
}

/// What waits or failed for one cause, wherever it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBack {
    /// Recipes and stages.
    pub place: String,
    /// The cause with its remedy.
    pub words: String,
    pub failed: bool,
}

impl CauseRow {
    /// Completes the commands that it proposes.
    pub fn complete_commands(&mut self, complete: impl Fn(&str) -> String) {
        self.words = complete(&self.words);
        self.what = complete(&self.what);
        self.mend = self.mend.as_deref().map(complete);
    }
}

impl From<&Cause> for CauseRow {
    fn from(cause: &Cause) -> CauseRow {
        CauseRow {
            stage: cause.stage,
            records: cause.records,
            what: cause.what.in_english(),
            words: cause.to_string(),
            mend: cause.remedy.english_text(),
            failed: cause.failed,
        }
    }
}

impl RecipeState {
    /// The state of a recipe with as many stages to make, and these causes.
    pub fn new(
        workspace: &Workspace,
        recipe: &'static Recipe,
        due: usize,
        causes: Vec<Cause>,
    ) -> RecipeState {
        RecipeState { recipe, due, causes, rows: CurrentRows::of_recipe(workspace, recipe) }
    }

    /// The state after a run that made these stages.
    ///
    /// # Errors
    /// [`RunError`] if a ledger, votes or tasks cannot be read.
    pub fn after_run(
        config: &Config,
        recipe: &'static Recipe,
        made: &[Manifest],
    ) -> Result<RecipeState, RunError> {
        let due = recipe.steps().len() - made.len();
        Ok(RecipeState::new(&Workspace::new(&config.root), recipe, due, list_causes(config, recipe, made)?))
    }

    /// The planned state.
    ///
    /// # Errors
    /// [`RunError`] if a ledger, votes or tasks cannot be read.
    pub fn from_plan(
        config: &Config,
        recipe: &'static Recipe,
        planned: &[Planned],
    ) -> Result<RecipeState, RunError> {
        let made: Vec<Manifest> =
            planned.iter().filter_map(|step| step.existing_manifest().cloned()).collect();
        let due = planned.iter().filter(|step| step.is_due()).count();
        Ok(RecipeState::new(&Workspace::new(&config.root), recipe, due, list_causes(config, recipe, &made)?))
    }

    /// The causes as they are written for machines.
    pub fn cause_rows(&self) -> Vec<CauseRow> {
        self.causes.iter().map(CauseRow::from).collect()
    }
}

/// The one command that helps most records; `only` is the selection of recipes. `None` if nothing is left to
/// do.
///
/// # Errors
/// [`ReleaseError`] if a candidate or a registry cannot be read.
pub fn next(
    config: &Config,
    standings: &[RecipeState],
    only: &[String],
) -> Result<Option<Next>, ReleaseError> {
    let run: String = std::iter::once("riddlemill run".into())
        .chain(only.iter().map(|name| format!(" --recipe {name}")))
        .collect();
    let due: usize = standings.iter().map(|standing| standing.due).sum();
    if due > 0 {
        let why = format!("{} to make", count(due as u64, "stage"));
        return Ok(Some(Next { first: None, command: run, why, at: None }));
    }
    if is_first_sight(config) && standings.iter().all(|standing| standing.causes.iter().all(|c| !c.failed)) {
        return Ok(Some(Next {
            first: None,
            command: "riddlemill serve".into(),
            why: SAMPLE.into(),
            at: None,
        }));
    }
    let groups = group_causes(standings);
    let of_cause = |standing: &RecipeState, cause: &Cause| {
        let (first, command) = match &cause.remedy {
            Remedy::Nothing => return None,
            Remedy::Run => (None, run.clone()),
            Remedy::First(what) => (Some(what.in_english()), run.clone()),
            Remedy::Command(command) => (None, command.clone()),
        };
        let group = groups.iter().find(|group| group.iter().any(|(_, one)| std::ptr::eq(*one, cause)));
        // Without the remedy, which is the command itself.
        let (place, words) = group.map(|group| describe_group(group, false)).unwrap_or_default();
        let at = Some((standing.recipe.name, cause.stage));
        Some(Next { first, command, why: format!("{place}: {words}"), at })
    };
    let all =
        || standings.iter().flat_map(|standing| standing.causes.iter().map(move |cause| (standing, cause)));
    // Of several with equally many records the first: what it unblocks passes through the others.
    let blocking = largest_cause(all().filter(|(_, cause)| cause.blocks));
    if let Some(next) = blocking.and_then(|(standing, cause)| of_cause(standing, cause)) {
        return Ok(Some(next));
    }
    for standing in standings {
        let name = standing.recipe.name;
        if riddlemill_release::is_release_due(config, &standing.rows)? {
            let why = format!("{name} is complete, and its candidate is not released");
            if let Some(error) = riddlemill_release::find_licence_problem(config, standing.recipe)
                && let Some(set) = error.licence_to_set()
            {
                let told = match &error {
                    ReleaseError::Unlicensed { .. } => "no licence is set for it as a whole".to_owned(),
                    error => error.to_string().lines().next().unwrap_or_default().to_owned(),
                };
                let why = format!("{why}: {told}");
                return Ok(Some(Next { first: Some(set), command: run, why, at: None }));
            }
            // What has to be mended first was printed in full above.
            if let Some(refused) = riddlemill_release::list_refusals(config, standing.recipe).first() {
                let refused = refused.lines().next().unwrap_or_default();
                let why = format!("{name} is complete, but a release would be refused: {refused}");
                let command = format!("riddlemill status --recipe {name}");
                return Ok(Some(Next { first: None, command, why, at: None }));
            }
            let partial = riddlemill_release::is_partial(config, standing.recipe);
            let (flag, why) = match partial {
                true => (" --partial", format!("{why}; less than release.whole_share of its items is in it")),
                false => ("", why),
            };
            let command = format!("riddlemill release {name}{flag}");
            return Ok(Some(Next { first: None, command, why, at: None }));
        }
    }
    // If a set has rows, the records kept back may be left.
    let empty = |standing: &RecipeState| {
        let candidate = Workspace::new(&config.root).candidate_folder(standing.recipe.name);
        CandidateManifest::read_manifest(&candidate)
            .ok()
            .flatten()
            .is_none_or(|candidate| candidate.rows == 0)
    };
    let commands = all().filter(|(_, cause)| matches!(cause.remedy, Remedy::Command(_)));
    let other = largest_cause(commands.filter(|(standing, _)| empty(standing)));
    Ok(other.and_then(|(standing, cause)| of_cause(standing, cause)))
}

/// What a newcomer does with the sample.
const SAMPLE: &str = "this is the sample, with made-up votes: the pages show each post and why it was kept or left out, and riddlemill explain tieba:9900002233 tells it of one here";

/// Whether the workspace has the sample's posts, drafts and votes and nothing else: then nobody has work to do.
fn is_first_sight(config: &Config) -> bool {
    let draft: sections::Draft = config.typed_settings(None, "draft");
    let votes = Workspace::new(&config.root).raw_folder().join("votes");
    !config.sources.is_empty()
        && config.sources.iter().all(|source| source.path.starts_with("raw/sample/"))
        && draft.endpoint == "sample"
        && !holds_lines(&votes)
}

/// Whether somebody's work is in a folder of logs: its lock is there before the first line is.
fn holds_lines(folder: &Path) -> bool {
    let is_written = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => holds_lines(&entry.path()),
        Ok(meta) => meta.len() > 0 && entry.file_name() != "lock",
        Err(_) => false,
    };
    std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_written))
}

/// The first of those with the most records.
fn largest_cause<'a>(
    causes: impl Iterator<Item = (&'a RecipeState, &'a Cause)>,
) -> Option<(&'a RecipeState, &'a Cause)> {
    causes.reduce(|most, other| if other.1.records > most.1.records { other } else { most })
}

/// One cause wherever it is found: the recipes, and what it keeps back there.
type Group<'a> = Vec<(&'static str, &'a Cause)>;

/// The causes of all recipes; those that one remedy mends are one group.
fn group_causes(standings: &[RecipeState]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for standing in standings {
        for cause in &standing.causes {
            match groups
                .iter_mut()
                .find(|group| group.first().is_some_and(|(_, first)| has_same_remedy(first, cause)))
            {
                Some(group) => group.push((standing.recipe.name, cause)),
                None => groups.push(vec![(standing.recipe.name, cause)]),
            }
        }
    }
    groups
}

/// Where a cause is found, all recipes and stages, and what it is.
fn describe_group(group: &[(&'static str, &Cause)], with_remedy: bool) -> (String, String) {
    let Some((_, first)) = group.first() else { return Default::default() };
    let joined = |places: Vec<String>| places.join(", ");
    let alike = group.iter().all(|(_, one)| (one.stage, one.records) == (first.stage, first.records));
    let (place, records, each) = match group {
        [(recipe, one)] => (format!("{recipe} {}", one.stage), one.records, ""),
        _ if alike => {
            let recipes = joined(group.iter().map(|(recipe, _)| (*recipe).to_owned()).collect());
            (format!("{recipes} {}", first.stage), first.records, "in each, ")
        }
        _ => {
            let place = |(recipe, one): &(&str, &Cause)| {
                format!("{recipe} {} ({})", one.stage, format_count(one.records))
            };
            let places = joined(group.iter().map(place).collect());
            (places, group.iter().map(|(_, one)| one.records).sum(), "together, ")
        }
    };
    let remedy = if with_remedy { first.remedy.clone() } else { Remedy::Nothing };
    let words = Cause { records, remedy, ..(*first).clone() };
    (place, format!("{each}{words}"))
}

/// What waits or failed; recipes and stages with the same cause are told together.
pub fn kept_back(standings: &[RecipeState]) -> Vec<KeptBack> {
    let kept_back = |group: &Group<'_>| {
        let (place, words) = describe_group(group, true);
        KeptBack { place, words, failed: group.first().is_some_and(|(_, first)| first.failed) }
    };
    group_causes(standings).iter().map(kept_back).collect()
}

/// Whether one remedy mends both. Decisions of people hold in every recipe that has the stage; a key that is not set, or a
/// server that does not answer, keeps back whatever would be sent to it.
fn has_same_remedy(a: &Cause, b: &Cause) -> bool {
    let alike = (a.state, &a.what, a.failed) == (b.state, &b.what, b.failed);
    match a.state {
        CauseState::Person => alike && (a.stage, a.records) == (b.stage, b.records),
        _ => alike && !a.what.is_empty() && a.remedy.english_text() == b.remedy.english_text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::KeyedSentence;

    fn standing(recipe: &str, causes: Vec<Cause>) -> RecipeState {
        RecipeState::new(&Workspace::new(""), crate::recipe::find_recipe(recipe).unwrap(), 0, causes)
    }

    fn cause(stage: &'static str, state: CauseState, records: u64, what: &str, remedy: &str) -> Cause {
        Cause {
            stage,
            state,
            records,
            what: KeyedSentence::verbatim(what),
            remedy: Remedy::First(KeyedSentence::verbatim(remedy)),
            failed: false,
            blocks: true,
        }
    }

    #[test]
    fn one_cause_names_every_recipe_and_stage_that_it_keeps_back() {
        let key = |stage, records| cause(stage, CauseState::Model, records, "KEY is not set", "export KEY=…");
        let listed = |remedy: &str| cause("anonymise", CauseState::Person, 1, "a listed term", remedy);
        let standings = [
            standing("ruozhibench-gen", vec![listed("decide in gen"), key("screen", 91)]),
            standing("flub", vec![listed("decide in flub"), key("type", 1028)]),
            standing(
                "chumor",
                vec![cause("opponents", CauseState::Model, 5, "OTHER is not set", "export OTHER=…")],
            ),
        ];
        let lines: Vec<String> =
            kept_back(&standings).iter().map(|kept| format!("{}: {}", kept.place, kept.words)).collect();
        assert_eq!(
            lines,
            [
                "ruozhibench-gen, flub anonymise: in each, 1 waits for a person: a listed term; decide in gen",
                "ruozhibench-gen screen (91), flub type (1,028): together, 1,119 wait for a model: KEY is not set; export KEY=…",
                "chumor opponents: 5 wait for a model: OTHER is not set; export OTHER=…",
            ]
        );
        let (place, words) = describe_group(&group_causes(&standings)[1], false);
        assert_eq!(place, "ruozhibench-gen screen (91), flub type (1,028)");
        assert_eq!(words, "together, 1,119 wait for a model: KEY is not set");
    }
}
