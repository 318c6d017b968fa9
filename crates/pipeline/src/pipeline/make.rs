//! Making one stage: its function over its input, part by part.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use crate::config::sections;
use crate::recipe::Step;
use crate::stages::Rated;
use crate::stages::draft::LlmContext;
use crate::stages::embed::Embedded;
use crate::stages::import::{Secrets, add_names, import, no_names};
use crate::stages::published::{self, Published, settled};
use crate::stages::respond::Made;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{
    self, Annotatable, Draft, Embeds, Pulse, PuzzleStage, Review, Rows, Stage, StageError, Stop, of_subjects,
    puzzle, salt,
};
use riddlemill_files::par_map::{SPLIT, par_map_ordered};
use riddlemill_llm::Run;
use riddlemill_review::decisions::StageDecisions;
use riddlemill_tables::{Batch, ColumnAccess, Manifest, Part, StageReader, StageWriter, Workspace};
use riddlemill_text::record::{CunningText, Declared, Outcome, Post, Puzzle, Record, is_published};

use super::evidence::RunContext;
use super::{RunError, rows};

/// What a stage is made from.
pub(super) struct StageRunner<'a> {
    pub known: &'a RunContext<'a>,
    pub place: &'a Path,
    pub inputs: Vec<StageReader>,
    pub made: &'a BTreeMap<&'a str, Manifest>,
    pub run: &'a Run,
    pub offline: bool,
    pub retry_failed: bool,
    pub stop: &'a Stop,
    pub pulse: &'a dyn Pulse,
}

impl StageRunner<'_> {
    /// Calls the stage and commits what it says.
    pub(super) fn make(&self, step: &Step, opening: Manifest) -> Result<Manifest, RunError> {
        let root = &self.known.config.root;
        match step.stage {
            Stage::Draft(Draft::Respond) => return self.respond(step),
            Stage::Draft(Draft::Judge) => return self.judge(step),
            Stage::Draft(draft) => {
                return of_subjects!(draft.subjects(), S => self.draft::<S>(step, draft));
            }
            Stage::Review(review) => {
                return of_subjects!(review.subjects(), S => self.review::<S>(step, review, opening));
            }
            Stage::Options => {
                let settings: sections::Options = self.settings(step);
                let mut writer = StageWriter::create(self.place)?;
                let published = self.published()?;
                self.each(&mut writer, |text: CunningText| {
                    let outcome = stages::options(text.clone(), &settings);
                    settled(&published, step.name, &text, outcome, || Some(text.clone()))
                })?;
                return Ok(writer.commit(opening)?);
            }
            Stage::Puzzle(kind) => return self.puzzle(kind, step, opening),
            Stage::Riddle => {
                let mut writer = StageWriter::create(self.place)?;
                let people = self.decisions(step)?;
                let published = self.published()?;
                self.each(&mut writer, |post: Post| {
                    let outcome = stages::riddle(post.clone(), step.name, &people);
                    settled(&published, step.name, &post, outcome, || {
                        Some(stages::published_riddle(&post, step.name))
                    })
                })?;
                return Ok(writer.commit(opening)?);
            }
            Stage::Mark(marked) => {
                let mut settings: sections::Anonymise = self.settings(step);
                match marked.english {
                    Some(true) => settings.language = sections::Language::En,
                    Some(false) => settings.language = sections::Language::Zh,
                    None => {}
                }
                let anonymise = stages::anonymise_stage(root, &settings)?;
                let mut writer = StageWriter::<Declared>::create(self.place)?;
                let published = self.published()?;
                // Posts become records here where no step before has made any.
                for record in self.subjects::<Declared>(step)? {
                    let outcome = stages::mark(record.clone(), marked, &anonymise);
                    let passing = || Some(record.clone());
                    writer.append(&record.id, &settled(&published, step.name, &record, outcome, passing));
                }
                return Ok(writer.commit(opening)?);
            }
            Stage::Choose(options) => {
                let settings: sections::Options = self.settings(step);
                let mut writer = StageWriter::<Declared>::create(self.place)?;
                let published = self.published()?;
                for record in self.subjects::<Declared>(step)? {
                    let outcome = stages::choose(record.clone(), options, &settings);
                    let passing = || Some(record.clone());
                    writer.append(&record.id, &settled(&published, step.name, &record, outcome, passing));
                }
                return Ok(writer.commit(opening)?);
            }
            Stage::Pairs => {
                let settings: sections::Options = self.settings(step);
                let mut writer = StageWriter::create(self.place)?;
                let [responses, questions] = self.inputs.as_slice() else { return Ok(opening) };
                let (questions, responses) = (questions.all("rows")?, responses.all("rows")?);
                let published = self.published()?;
                let of_rows = (&published, self.known.recipe.name);
                stages::pairs(questions, responses, &settings, of_rows, &mut writer);
                return Ok(writer.commit(opening)?);
            }
            _ => {}
        }
        let mut writer = StageWriter::create(self.place)?;
        match step.stage {
            Stage::Import => {
                let settings: sections::Import = self.settings(step);
                let salt = salt::read_or_draw(&Workspace::new(root))?;
                let withdrawn = Withdrawals::load(&Workspace::new(root))?;
                let mut names = no_names(root, &settings, &salt)?;
                self.known.dumps.iter().for_each(|dump| add_names(&mut names, dump, &settings));
                let secrets = Secrets { salt: &salt, names: &names };
                import(
                    &self.known.dumps,
                    &settings,
                    &secrets,
                    &withdrawn,
                    &mut writer,
                    self.stop,
                    self.pulse,
                )?;
            }
            Stage::Clean => {
                let settings: sections::Clean = self.settings(step);
                let people = self.decisions(step)?;
                let published = self.published()?;
                match people.is_empty() && published.is_empty() {
                    true => self.edit(step, &mut writer, |post| stages::clean(post, &settings))?,
                    false => {
                        let decide = |post: Post| {
                            let passing = as_published(&post);
                            let outcome = stages::clean_decided(post, &settings, &people);
                            match passing {
                                None => outcome,
                                Some(row) => {
                                    settled(&published, step.name, &row, outcome, || Some(row.clone()))
                                }
                            }
                        };
                        self.edit_by_id(step, &mut writer, decide)?;
                    }
                }
            }
            Stage::Anonymise => {
                let settings: sections::Anonymise = self.settings(step);
                let anonymise = stages::anonymise_stage(root, &settings)?;
                let people = self.decisions(step)?;
                let published = self.published()?;
                match people.is_empty() && published.is_empty() {
                    true => self.edit(step, &mut writer, |post| anonymise.post(post))?,
                    false => {
                        let decide = |post: Post| {
                            let passing = as_published(&post);
                            let outcome = stages::anonymise_decided(post, &anonymise, &people);
                            match passing {
                                None => outcome,
                                Some(row) => {
                                    settled(&published, step.name, &row, outcome, || Some(row.clone()))
                                }
                            }
                        };
                        self.edit_by_id(step, &mut writer, decide)?;
                    }
                }
            }
            Stage::Filter => {
                let settings: sections::Filter = self.settings(step);
                let people = self.decisions(step)?;
                let published = self.published()?;
                match people.is_empty() && published.is_empty() {
                    true => self.edit(step, &mut writer, |post| stages::filter(post, &settings))?,
                    false => {
                        let decide = |post: Post| {
                            let passing = as_published(&post);
                            let outcome = stages::filter_decided(post, &settings, &people);
                            match passing {
                                None => outcome,
                                Some(row) => {
                                    settled(&published, step.name, &row, outcome, || Some(row.clone()))
                                }
                            }
                        };
                        self.edit_by_id(step, &mut writer, decide)?;
                    }
                }
            }
            Stage::Dedup => {
                let settings: sections::Dedup = self.settings(step);
                let people = self.decisions(step)?;
                let run: sections::Run = self.known.config.typed(None, "run");
                let folder = self.place.parent().unwrap_or(self.place);
                let on_disk = stages::OnDisk { folder, check: run.disk_check };
                stages::dedup(&self.inputs, &settings, &people, on_disk, &mut writer, &self.asking())?;
                if Embeds::Posts.cosine(self.known.config, self.known.recipe.name).is_some() {
                    // The embeddings that it bought are part of its evidence.
                    return Ok(writer.commit(self.known.opening(step, self.made)?)?);
                }
            }
            Stage::Draft(_)
            | Stage::Review(_)
            | Stage::Options
            | Stage::Pairs
            | Stage::Puzzle(_)
            | Stage::Riddle
            | Stage::Mark(_)
            | Stage::Choose(_) => {}
        }
        Ok(writer.commit(opening)?)
    }

    /// A stage of puzzles.
    fn puzzle(&self, kind: PuzzleStage, step: &Step, opening: Manifest) -> Result<Manifest, RunError> {
        let published = self.published()?;
        if kind == PuzzleStage::Group {
            let (settings, seed) = self.known.puzzles();
            let mut writer = StageWriter::create(self.place)?;
            let earlier: Vec<&str> = self.known.recipe.steps.iter().map(|step| step.name).collect();
            self.each(&mut writer, |row: Puzzle| match is_published(&row.id) {
                true => published::group(&published, step.name, &row, &earlier),
                false => puzzle::group(row, &settings, seed),
            })?;
            return Ok(writer.commit(opening)?);
        }
        let mut writer = StageWriter::create(self.place)?;
        let people = self.decisions(step)?;
        let through =
            |row: &Puzzle, outcome| settled(&published, step.name, row, outcome, || Some(row.clone()));
        match kind {
            PuzzleStage::Strip => self.each(&mut writer, |post: Post| {
                let outcome = stages::strip_decided(post.clone(), &people);
                settled(&published, step.name, &post, outcome, || Some(puzzle::as_published(&post)))
            })?,
            PuzzleStage::Anonymise => {
                let settings =
                    sections::Anonymise { language: sections::Language::En, ..self.settings(step) };
                let anonymise = stages::anonymise_stage(&self.known.config.root, &settings)?;
                let decide = |puzzle: Puzzle| {
                    let outcome = stages::anonymise_puzzle_decided(puzzle.clone(), &anonymise, &people);
                    through(&puzzle, outcome)
                };
                self.each(&mut writer, decide)?;
            }
            PuzzleStage::Spelling => {
                self.each(&mut writer, |row: Puzzle| through(&row, puzzle::spelling(row.clone())))?;
            }
            PuzzleStage::Dedup => {
                let settings: sections::Dedup = self.settings(step);
                let puzzles = self.all()?;
                let questions: Vec<Embedded> = puzzles.iter().map(Embedded::from).collect();
                let near = Embeds::Puzzles.similar(&questions, &self.asking())?;
                puzzle::dedup(puzzles, &settings, &people, &near, &mut writer, self.stop, self.pulse)?;
                // The embeddings that it bought are part of its evidence.
                return Ok(writer.commit(self.known.opening(step, self.made)?)?);
            }
            PuzzleStage::Given => {
                let given = puzzle::SuppliedFacts::open(&self.known.config.root, &self.known.puzzles().0)?;
                self.tell_refused(&given.refused);
                self.each(&mut writer, |row: Puzzle| through(&row, puzzle::given(row.clone(), &given)))?;
            }
            PuzzleStage::Near | PuzzleStage::ContextNear => {
                let (settings, seed) = self.known.puzzles();
                let near = puzzle::Near::open(&self.known.config.root, &settings, seed)?;
                self.tell_refused(near.refused());
                let beside = match kind {
                    PuzzleStage::ContextNear => puzzle::Beside::ContextAnswer,
                    _ => puzzle::Beside::Answer,
                };
                let decide = |row: Puzzle| through(&row, puzzle::near(row.clone(), &near, beside));
                self.each(&mut writer, decide)?;
            }
            PuzzleStage::Group => {}
        }
        Ok(writer.commit(opening)?)
    }

    /// Lines of a person's file that cannot be used are said, and the others count.
    fn tell_refused(&self, refused: &[(String, String)]) {
        refused.iter().for_each(|(place, why)| self.pulse.tell(&format!("{place}: left out: {why}")));
    }

    fn settings<T: serde::de::DeserializeOwned>(&self, step: &Step) -> T {
        self.known.config.typed(Some(self.known.recipe.name), step.stage.section())
    }

    /// The rows of published sets that its records come from.
    fn published(&self) -> Result<Published, StageError> {
        Ok(Published::load(&Workspace::new(&self.known.config.root), self.known.recipe.name)?)
    }

    /// What people decided about the step's records.
    fn decisions(&self, step: &Step) -> Result<StageDecisions, StageError> {
        Ok(self.known.decisions()?.of_stage(self.known.recipe.name, step.name))
    }

    /// A draft stage. The replies that it bought are part of its evidence.
    fn draft<S: Annotatable>(&self, step: &Step, draft: Draft) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::<S>::create(self.place)?;
        stages::draft::draft(draft, self.subjects(step)?, &self.asking(), &mut writer)?;
        Ok(writer.commit(self.known.opening(step, self.made)?)?)
    }

    /// Questions to responses.
    fn respond(&self, step: &Step) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::create(self.place)?;
        let made = Made::load(self.known.config, self.known.recipe.name)?;
        let published = self.published()?;
        stages::respond::respond(self.subjects(step)?, made, &published, &self.asking(), &mut writer)?;
        Ok(writer.commit(self.known.opening(step, self.made)?)?)
    }

    /// Responses to rated ones.
    fn judge(&self, step: &Step) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::create(self.place)?;
        let rated = Rated::load(self.known.config)?;
        stages::judge(self.subjects(step)?, &rated, &self.asking(), &mut writer)?;
        Ok(writer.commit(self.known.opening(step, self.made)?)?)
    }

    fn asking(&self) -> LlmContext<'_> {
        let StageRunner { known, run, offline, retry_failed, stop, pulse, .. } = *self;
        let (config, recipe) = (known.config, known.recipe.name);
        LlmContext { config, recipe, run, offline, retry_failed, stop, pulse }
    }

    fn review<S: Annotatable>(
        &self,
        step: &Step,
        review: Review,
        opening: Manifest,
    ) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::<S>::create(self.place)?;
        let settings: sections::Review = self.settings(step);
        let seed = self.known.config.typed::<sections::Options>(Some(self.known.recipe.name), "options").seed;
        let records = self.subjects(step)?;
        let count = records.len() as u64;
        let people = self.decisions(step)?;
        let votes = self.known.votes()?;
        let published = self.published()?;
        let evidence = stages::review::Evidence { votes, people: &people, published: &published };
        stages::review::review(review, records, &settings, seed, &evidence, &mut writer);
        self.pulse.advance(count);
        Ok(writer.commit(opening)?)
    }

    /// The rows of all inputs as records of a type.
    fn subjects<S: Annotatable>(&self, step: &Step) -> Result<Vec<S>, StageError> {
        let mut records = Vec::new();
        for (input, reader) in step.inputs.iter().zip(&self.inputs) {
            let rows = self.known.recipe.input(input).map_or(Rows::Posts, |(.., step)| step.stage.rows());
            records.append(&mut rows::subjects(reader, rows)?);
        }
        Ok(records)
    }

    /// A stage whose decision on a record depends on that record alone. Parts are read, decided and recorded on
    /// all cores while those before them are written, so memory does not grow with the input.
    fn each<R: Record, T: Record>(
        &self,
        writer: &mut StageWriter<T>,
        decide: impl Fn(R) -> Outcome<T> + Sync,
    ) -> Result<(), StageError> {
        let append = |mut batch: Batch<T>, row: R| {
            let id = row.id().to_string();
            batch.append(&id, &decide(row));
            batch
        };
        // A part is split further where there are fewer parts than cores.
        let decided = |rows: Vec<R>| -> Vec<Batch<T>> {
            rows.into_par_iter().with_min_len(SPLIT).fold(|| Batch::with_room(SPLIT), append).collect()
        };
        for input in &self.inputs {
            let decide = |part: &Part| -> Result<_, StageError> {
                let batches = decided(input.part(part)?);
                self.pulse.advance(part.rows);
                Ok(batches)
            };
            par_map_ordered(input.table("rows").parts.iter(), decide, |batches| {
                self.stop.check()?;
                batches.into_iter().for_each(|batch| writer.append_batch(batch));
                Ok(writer.flush()?)
            })?;
        }
        Ok(())
    }

    /// A stage of [`StageRunner::each`]'s kind of which it is known what it touches.
    fn edit(
        &self,
        step: &Step,
        writer: &mut StageWriter<Post>,
        decide: impl Fn(Post) -> Outcome<Post> + Sync,
    ) -> Result<(), StageError> {
        self.edit_columns(stages::touched(step.stage), writer, decide)
    }

    /// [`StageRunner::edit`] of a stage that people decided about: records are found by their ids.
    fn edit_by_id(
        &self,
        step: &Step,
        writer: &mut StageWriter<Post>,
        decide: impl Fn(Post) -> Outcome<Post> + Sync,
    ) -> Result<(), StageError> {
        self.edit_columns(stages::touched_by_id(step.stage), writer, decide)
    }

    fn edit_columns(
        &self,
        touched: Option<ColumnAccess>,
        writer: &mut StageWriter<Post>,
        decide: impl Fn(Post) -> Outcome<Post> + Sync,
    ) -> Result<(), StageError> {
        let Some(touched) = touched else { return self.each(writer, decide) };
        self.inputs.iter().try_for_each(|input| {
            writer.edit(input, touched, &decide, |rows| {
                self.pulse.advance(rows);
                self.stop.check()
            })
        })
    }

    /// All rows of all inputs, for a stage that decides over the whole.
    fn all<R: Record>(&self) -> Result<Vec<R>, StageError> {
        let mut records = Vec::new();
        for input in &self.inputs {
            for part in input.parts("rows") {
                self.stop.check()?;
                records.append(&mut part?);
            }
        }
        Ok(records)
    }
}

/// A published post as it goes on whatever a stage of texts would do with it; `None` of any other.
fn as_published(post: &Post) -> Option<Post> {
    if !is_published(&post.id) {
        return None;
    }
    let mut post = post.clone();
    if post.title.is_some() || post.content.is_some() {
        post.text = Post::written(post.title.take().as_deref(), post.content.take().as_deref());
    }
    // Names that import found are for a stage that marks them; nothing of a published text is marked.
    post.mentions.clear();
    Some(post)
}
