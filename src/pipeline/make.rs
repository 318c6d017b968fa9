//! Making one stage: its function over its input, a wave of parts at a time.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use crate::config::sections;
use crate::llm::Run;
use crate::recipe::Step;
use crate::record::{Outcome, Post, Question, Record};
use crate::stages::draft::Asking;
use crate::stages::import::import;
use crate::stages::{self, Draft, Pulse, Review, Rows, Stage, StageError, Stop, salt};
use crate::store::{Batch, Manifest, StageReader, StageWriter, Workspace};

use super::evidence::Known;
use super::{RunError, rows};

/// Fewer records than this are not worth a core of their own.
const SPLIT: usize = 1024;

/// What a stage is made from.
pub(super) struct Making<'a> {
    pub known: &'a Known<'a>,
    pub place: &'a Path,
    pub inputs: Vec<StageReader>,
    pub made: &'a BTreeMap<&'a str, Manifest>,
    pub run: &'a Run,
    pub offline: bool,
    pub stop: &'a Stop,
    pub pulse: &'a dyn Pulse,
}

impl Making<'_> {
    /// Calls the stage and commits what it says.
    pub(super) fn make(&self, step: &Step, opening: Manifest) -> Result<Manifest, RunError> {
        let root = &self.known.config.root;
        match step.stage {
            Stage::Draft(draft) => return self.draft(step, draft),
            Stage::Review(review) => return self.review(step, review, opening),
            _ => {}
        }
        let mut writer = StageWriter::create(self.place)?;
        match step.stage {
            Stage::Import => {
                let settings: sections::Import = self.settings(step);
                let salt = salt::of(&Workspace::new(root))?;
                import(&self.known.dumps, &settings, &salt, &mut writer, self.stop, self.pulse)?;
            }
            Stage::Clean => {
                let settings: sections::Clean = self.settings(step);
                self.each(&mut writer, |post| stages::clean(post, &settings))?;
            }
            Stage::Anonymise => {
                let settings: sections::Anonymise = self.settings(step);
                let lists = stages::policy_lists(root, &settings)?;
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
            Stage::Draft(_) | Stage::Review(_) => {}
        }
        Ok(writer.commit(opening)?)
    }

    fn settings<T: serde::de::DeserializeOwned>(&self, step: &Step) -> T {
        self.known.config.typed(Some(self.known.recipe.name), step.stage.section())
    }

    /// A draft stage. The replies that it bought are part of its evidence.
    fn draft(&self, step: &Step, draft: Draft) -> Result<Manifest, RunError> {
        let Making { known, run, offline, stop, pulse, .. } = *self;
        let mut writer = StageWriter::create(self.place)?;
        let asking = Asking { config: known.config, recipe: known.recipe.name, run, offline, stop, pulse };
        stages::draft::draft(draft, self.questions(step)?, &asking, &mut writer)?;
        Ok(writer.commit(known.opening(step, self.made)?)?)
    }

    fn review(&self, step: &Step, review: Review, opening: Manifest) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::create(self.place)?;
        let settings: sections::Review = self.settings(step);
        let questions = self.questions(step)?;
        let records = questions.len() as u64;
        stages::review::review(review, questions, &settings, self.known.votes()?, &mut writer);
        self.pulse.advance(records);
        Ok(writer.commit(opening)?)
    }

    /// The rows of all inputs as questions.
    fn questions(&self, step: &Step) -> Result<Vec<Question>, StageError> {
        let mut questions = Vec::new();
        for (input, reader) in step.inputs.iter().zip(&self.inputs) {
            let rows = self.known.recipe.step(input).map_or(Rows::Posts, |(_, step)| step.stage.rows());
            questions.append(&mut rows::questions(reader, rows)?);
        }
        Ok(questions)
    }

    /// A stage whose decision on a record depends on that record alone. Parts are read, decided and booked on
    /// all cores, a wave at a time, so memory does not grow with the input.
    fn each<R: Record>(
        &self,
        writer: &mut StageWriter<R>,
        decide: impl Fn(R) -> Outcome<R> + Sync,
    ) -> Result<(), StageError> {
        let book = |mut batch: Batch<R>, row: R| {
            batch.put(row.id().to_string(), decide(row));
            batch
        };
        // A part is split further where there are fewer parts than cores.
        let decided = |rows: Vec<R>| -> Vec<Batch<R>> {
            rows.into_par_iter().with_min_len(SPLIT).fold(Batch::default, book).collect()
        };
        let wave = rayon::current_num_threads().max(1);
        for input in &self.inputs {
            for parts in input.table("rows").parts.chunks(wave) {
                self.stop.check()?;
                let batches: Vec<Vec<Batch<R>>> =
                    parts.par_iter().map(|part| input.part(part).map(decided)).collect::<Result<_, _>>()?;
                batches.into_iter().flatten().for_each(|batch| writer.append(batch));
                self.pulse.advance(parts.iter().map(|part| part.rows).sum());
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
