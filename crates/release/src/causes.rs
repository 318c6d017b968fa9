//! Why a row was added, removed or changed: the current ledger entries of its record, and the decisions in
//! which the stages of two folders differ.

use std::fmt;
use std::path::Path;

use super::current_rows::CurrentRows;
use super::diff::CauseOf;
use super::manifest::{CandidateManifest, Link};
use super::stopped::stop_without_row;
use crate::audit::{Explained, StageEntry, explain_record};
use crate::pipeline::{Change, list_changes};
use crate::recipe::{self, Recipe};
use crate::record::State;
use crate::store::{Error, StageReader, Workspace};

/// The decisions that differ between two folders.
pub struct Causes {
    rows: CurrentRows,
    /// Stages with different decisions, and the reasons.
    differ: Vec<(String, Vec<Change>)>,
}

/// The decision behind a difference.
#[derive(Clone, Debug)]
pub enum DifferenceCause {
    /// Where the record stopped behind the last stage, in words.
    Stop(String),
    /// What happened to it at a stage.
    Passage(Box<StageEntry>),
    /// The stages that decide differently, each with the differences.
    Stages(Vec<(String, Vec<Change>)>),
}

impl fmt::Display for DifferenceCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DifferenceCause::Stop(why) => f.write_str(why),
            DifferenceCause::Passage(last) => f.write_str(&describe_passage(last)),
            DifferenceCause::Stages(differ) => {
                let why = |why: &[Change]| why.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                let all = differ.iter().map(|(stage, changes)| format!("{stage}: {}", why(changes)));
                f.write_str(&all.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

impl Causes {
    /// The causes of differences between two folders of one recipe; `None` if they are not of a known one.
    ///
    /// # Errors
    /// [`Error`] if a manifest cannot be read.
    pub fn between_folders(
        workspace: &Workspace,
        before: &Path,
        after: &Path,
    ) -> Result<Option<Causes>, Error> {
        let (Some((of, old)), Some((name, new))) = (read_chain(before)?, read_chain(after)?) else {
            return Ok(None);
        };
        let Some(recipe) = recipe::find_recipe(&name).filter(|_| of == name) else { return Ok(None) };
        let differ = new.iter().filter_map(|link| {
            let before = old.iter().find(|before| before.stage == link.stage)?;
            let decided = |link: &Link| (link.stage_version, link.settings.clone(), link.evidence.clone());
            let why = list_changes(&before.expected_manifest(&name), &link.expected_manifest(&name));
            // Changes of an input are reported for the stage that made it.
            let own = why.iter().filter(|why| !matches!(why, Change::Input { .. }));
            let own = own.cloned().collect();
            (decided(before) != decided(link)).then(|| (link.stage.clone(), own))
        });
        let rows = CurrentRows::of_recipe(workspace, recipe);
        Ok(Some(Causes { rows, differ: differ.collect() }))
    }

    /// The causes of differences from the workspace's current stages.
    pub fn of_workspace(workspace: &Workspace, recipe: &'static Recipe) -> Causes {
        Causes { rows: CurrentRows::of_recipe(workspace, recipe), differ: Vec::new() }
    }

    /// The decision behind one difference, as text.
    pub fn explain_difference(&self, difference: CauseOf<'_>) -> Option<String> {
        Some(self.find_decision(difference)?.to_string())
    }

    /// The decision behind one difference.
    pub fn find_decision(&self, difference: CauseOf<'_>) -> Option<DifferenceCause> {
        let of_passage = |passage: &StageEntry| DifferenceCause::Passage(Box::new(passage.clone()));
        match difference {
            CauseOf::Added(id) => self.differing_decisions(&self.explain_id(id)?),
            CauseOf::Removed(id) => {
                let mut way = self.explain_id(id)?;
                if way.way.is_empty() {
                    return self.cause_of_parent(id).or_else(|| self.differing_decisions(&way));
                }
                // What cannot be read is no cause.
                let _ = stop_without_row(&self.rows, &mut way);
                if let Some(why) = way.left_out.take() {
                    return Some(DifferenceCause::Stop(why));
                }
                let left = Some(&way).filter(|way| way.ends != "in").and_then(|way| way.way.last());
                left.map(of_passage).or_else(|| self.differing_decisions(&way))
            }
            CauseOf::Changed(id, column) => {
                let way = self.explain_id(id)?;
                let steps = riddlemill_benchmarks::find_benchmark(self.rows.recipe().name)
                    .map_or_else(Vec::new, |benchmark| benchmark.steps_of_column(column));
                let of_column = |p: &&StageEntry| steps.contains(&p.stage.as_str());
                let changed = |p: &&StageEntry| p.outcome == State::Changed.code();
                let decided = way.way.iter().rfind(|p| of_column(p) && changed(p));
                let wrote = || way.way.iter().rfind(|p| changed(p) && !p.stage.contains(':'));
                let wrote = decided.or_else(|| wrote().filter(|_| column == "text"));
                let cause = wrote.or_else(|| way.way.iter().rfind(of_column)).map(of_passage);
                cause.or_else(|| self.differing_decisions(&way))
            }
        }
    }

    /// Why a record is no longer made: what happened to the one that it was an element of, or to the one that that was of.
    fn cause_of_parent(&self, id: &str) -> Option<DifferenceCause> {
        let (parent, _) = id.rsplit_once('/')?;
        let mut way = self.explain_id(parent)?;
        if way.way.is_empty() {
            return self.cause_of_parent(parent);
        }
        // What became of its other elements is of no account. Import expands pages, not records.
        let expanded = |passage: &StageEntry| passage.outcome == State::Expanded.code();
        if let Some(place) = way.way.iter().skip(1).position(expanded) {
            way.way.truncate(place + 2);
            let differing = self.differing_decisions(&way);
            return differing.or_else(|| Some(DifferenceCause::Passage(Box::new(way.way.pop()?))));
        }
        let left = way.way.last().filter(|_| way.ends != "in").cloned();
        let left = left.map(|passage| DifferenceCause::Passage(Box::new(passage)));
        left.or_else(|| self.differing_decisions(&way))
    }

    fn explain_id(&self, id: &str) -> Option<Explained> {
        explain_record(&self.rows.workspace, self.rows.recipe(), id).ok()
    }

    /// The differing decisions of the stages that a record went through.
    fn differing_decisions(&self, way: &Explained) -> Option<DifferenceCause> {
        let passed = |stage: &str| way.way.is_empty() || way.way.iter().any(|p| p.stage == stage);
        let differ: Vec<_> = self.differ.iter().filter(|(stage, _)| passed(stage)).cloned().collect();
        (!differ.is_empty()).then_some(DifferenceCause::Stages(differ))
    }
}

/// `dedup merged near_duplicate into tieba:8: indel 0.91`.
pub(super) fn describe_passage(passage: &StageEntry) -> String {
    let mut text = format!("{} {}", passage.stage, passage.outcome);
    for (word, more) in [(" ", &passage.reason), (" into ", &passage.into), (": ", &passage.evidence)] {
        if let Some(more) = more.as_deref().filter(|more| *more != passage.id) {
            text.push_str(word);
            text.push_str(more);
        }
    }
    text
}

/// The recipe and stages of a release, a candidate or a stage folder.
fn read_chain(folder: &Path) -> Result<Option<(String, Vec<Link>)>, Error> {
    if let Some(candidate) = CandidateManifest::read_manifest(folder)? {
        return Ok(Some((candidate.recipe, candidate.stages)));
    }
    let stage = StageReader::open(folder)?;
    Ok(stage.map(|stage| (stage.manifest().recipe.clone(), vec![Link::from_manifest(stage.manifest())])))
}
