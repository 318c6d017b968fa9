//! Making one stage: its function over its input, a wave of parts at a time.

use std::path::Path;

use rayon::prelude::*;

use crate::config::{Config, sections};
use crate::recipe::{Recipe, Step};
use crate::record::{Outcome, Post, Record};
use crate::stages::import::{Dump, import};
use crate::stages::{self, Pulse, Stage, StageError, Stop, salt};
use crate::store::{Manifest, StageReader, StageWriter, Workspace};

use super::RunError;

/// What a stage is made from.
pub(super) struct Making<'a> {
    pub config: &'a Config,
    pub recipe: &'static Recipe,
    pub place: &'a Path,
    pub inputs: Vec<StageReader>,
    pub dumps: &'a [Dump],
    pub stop: &'a Stop,
    pub pulse: &'a dyn Pulse,
}

impl Making<'_> {
    /// Calls the stage and commits what it says.
    pub(super) fn make(&self, step: &Step, opening: Manifest) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::create(self.place)?;
        match step.stage {
            Stage::Import => {
                let settings: sections::Import = self.settings(step);
                let salt = salt::of(&Workspace::new(&self.config.root))?;
                import(self.dumps, &settings, &salt, &mut writer, self.stop, self.pulse)?;
            }
            Stage::Clean => {
                let settings: sections::Clean = self.settings(step);
                self.each(&mut writer, |post| stages::clean(post, &settings))?;
            }
            Stage::Anonymise => {
                let settings: sections::Anonymise = self.settings(step);
                let lists = stages::policy_lists(&self.config.root, &settings)?;
                let anonymise = stages::Anonymise::new(&settings, &lists)?;
                self.each(&mut writer, |post| anonymise.post(post))?;
            }
            Stage::Filter => {
                let settings: sections::Filter = self.settings(step);
                self.each(&mut writer, |post| stages::filter(post, &settings))?;
            }
            Stage::Dedup => {
                let settings: sections::Dedup = self.settings(step);
                let posts = self.all()?;
                stages::dedup(posts, &settings, &mut writer, self.stop, self.pulse)?;
            }
        }
        Ok(writer.commit(opening)?)
    }

    fn settings<T: serde::de::DeserializeOwned>(&self, step: &Step) -> T {
        self.config.typed(Some(self.recipe.name), step.stage.section())
    }

    /// A stage whose decision on a record depends on that record alone. Parts are read and decided
    /// on all cores, a wave at a time, so memory does not grow with the input.
    fn each<R: Record>(
        &self,
        writer: &mut StageWriter<R>,
        decide: impl Fn(R) -> Outcome<R> + Sync,
    ) -> Result<(), StageError> {
        let wave = rayon::current_num_threads().max(1);
        for input in &self.inputs {
            let mut parts = input.parts::<R>("rows");
            loop {
                self.stop.check()?;
                let parts: Vec<_> = parts.by_ref().take(wave).collect::<Result<_, _>>()?;
                if parts.is_empty() {
                    break;
                }
                for part in parts {
                    let records = part.len() as u64;
                    let outcomes: Vec<(String, Outcome<R>)> =
                        part.into_par_iter().map(|row| (row.id().to_string(), decide(row))).collect();
                    for (id, outcome) in outcomes {
                        writer.put(id, outcome);
                    }
                    self.pulse.advance(records);
                }
                writer.flush()?;
            }
        }
        Ok(())
    }

    /// All rows of all inputs, for a stage that decides over the whole.
    fn all(&self) -> Result<Vec<Post>, StageError> {
        let mut posts = Vec::new();
        for input in &self.inputs {
            posts.append(&mut input.all::<Post>("rows")?);
        }
        Ok(posts)
    }
}
