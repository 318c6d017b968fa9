//! Makes one stage: applies its function to its input, part by part.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::sections;
use crate::recipe::Step;
use crate::stages::draft::LlmContext;
use crate::stages::import::{Secrets, add_names, import, no_names};
use crate::stages::native::Job;
use crate::stages::published::{Published, settled};
use crate::stages::same_joke;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{
    self, Draft, Embeds, Native, Pulse, Review, Rows, Seconds, Stage, StageError, Stop, salt, set_aside,
};
use riddlemill_llm::Run;
use riddlemill_review::decisions::StageDecisions;
use riddlemill_tables::{ColumnAccess, Manifest, StageReader, StageWriter, Workspace};
use riddlemill_text::record::{Outcome, Post, Record, Row, is_published};
use rustc_hash::FxHashMap;

use super::RunError;
use super::evidence::RunContext;

/// The inputs for making a stage.
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
    /// Runs the stage and commits its output.
    pub(super) fn make(&self, step: &Step, opening: Manifest) -> Result<Manifest, RunError> {
        let root = &self.known.config.root;
        match step.stage {
            Stage::Draft(draft) if draft.responds() => {
                return self.respond(step, draft);
            }
            Stage::Draft(draft) => {
                return self.draft(step, draft);
            }
            Stage::Review(review) => {
                return self.review(step, review, opening);
            }
            Stage::Options(rows) => {
                let settings: sections::Options = self.settings(step);
                let mut writer = StageWriter::create_of(rows.columns(), self.place)?;
                let published = self.published()?;
                let decide = |text: Row| {
                    let outcome = stages::options(text.clone(), &settings);
                    settled(&published, step.name, &text, outcome, || Some(text.clone()))
                };
                self.each(rows.columns(), &mut writer, decide)?;
                return Ok(writer.commit(opening)?);
            }
            Stage::Native(native) => return self.native(native, step, opening),
            Stage::Mark(marked) => {
                let mut settings: sections::Anonymise = self.settings(step);
                match marked.english {
                    Some(true) => settings.language = Some(sections::Language::En),
                    Some(false) => settings.language = Some(sections::Language::Zh),
                    None => {}
                }
                let anonymise = stages::anonymise_stage(root, &settings)?;
                let mut writer = StageWriter::create_of(Rows::Groups.columns(), self.place)?;
                let published = self.published()?;
                // Posts become records here if no earlier step has done so.
                let (records, again) = self.subjects(step, Rows::Groups)?;
                for record in records {
                    let outcome = stages::mark(record.clone(), marked, &anonymise);
                    let passing = || Some(record.clone());
                    writer.append(record.id(), &settled(&published, step.name, &record, outcome, passing));
                }
                again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
                return Ok(writer.commit(opening)?);
            }
            Stage::Choose(options) => {
                let settings: sections::Options = self.settings(step);
                return self.each_subject(step, opening, |record| stages::choose(record, options, &settings));
            }
            Stage::Select(select) => {
                let people = self.decisions(step)?;
                return self.each_subject(step, opening, |record| stages::select(record, select, &people));
            }
            Stage::Elements(elements) => {
                return self.each_subject(step, opening, |record| stages::elements(record, elements));
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
                let dumps = self.known.dumps()?;
                dumps.iter().for_each(|dump| add_names(&mut names, dump, &settings));
                let secrets = Secrets { salt: &salt, names: &names };
                import(dumps, &settings, &secrets, &withdrawn, &mut writer, self.stop, self.pulse)?;
            }
            Stage::Clean => {
                let settings: sections::Clean = self.settings(step);
                let people = self.decisions(step)?;
                let published = self.published()?;
                // Only decisions and published rows are looked up by id; without them ids are not read.
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
            Stage::Embed => {
                stages::embed_posts(&self.inputs, &self.seconds()?, &mut writer, &self.asking())?;
                // The embeddings it asked for are part of its evidence.
                return Ok(writer.commit(self.known.opening(step, self.made)?)?);
            }
            Stage::SameJoke => {
                let (seconds, asking) = (self.seconds()?, self.asking());
                let judged = same_joke::judge_pairs(&self.inputs, &seconds, &mut writer, &asking)?;
                // The replies that it asked for are part of its evidence.
                let mut opening = self.known.opening(step, self.made)?;
                let evidence = same_joke::evidence_of(self.known.config, self.known.recipe.name, &judged)?;
                opening.evidence.extend(evidence);
                opening.fingerprint = opening.fingerprint_of();
                return Ok(writer.commit(opening)?);
            }
            Stage::Dedup => {
                let settings: sections::Dedup = self.settings(step);
                let people = self.decisions(step)?;
                let run: sections::Run = self.known.config.typed(None, "run");
                let folder = self.place.parent().unwrap_or(self.place);
                let on_disk = stages::OnDisk { folder, check: run.disk_check };
                let watched = (self.stop, self.pulse);
                let inputs = (&self.inputs[..], &self.seconds()?);
                stages::dedup(inputs, &settings, &people, on_disk, &mut writer, watched)?;
            }
            Stage::Draft(_)
            | Stage::Review(_)
            | Stage::Options(_)
            | Stage::Native(_)
            | Stage::Mark(_)
            | Stage::Choose(_)
            | Stage::Select(_)
            | Stage::Elements(_) => {}
        }
        Ok(writer.commit(opening)?)
    }

    /// A stage of records, which posts become here if no earlier step has done so, each decided by itself. A published one
    /// passes as it was published.
    fn each_subject(
        &self,
        step: &Step,
        opening: Manifest,
        decide: impl Fn(Row) -> Outcome<Row>,
    ) -> Result<Manifest, RunError> {
        let rows = step.stage.rows();
        let mut writer = StageWriter::create_of(rows.columns(), self.place)?;
        let published = self.published()?;
        let (records, again) = self.subjects(step, rows)?;
        for record in records {
            let outcome = decide(record.clone());
            let passing = || Some(record.clone());
            writer.append(record.id(), &settled(&published, step.name, &record, outcome, passing));
        }
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        Ok(writer.commit(opening)?)
    }

    /// A named operation.
    fn native(&self, native: Native, step: &Step, opening: Manifest) -> Result<Manifest, RunError> {
        let rows =
            |input: &str| self.known.recipe.input(input).map_or(Rows::Posts, |(.., step)| step.stage.rows());
        let inputs: Vec<_> = step.inputs.iter().map(|input| rows(input)).zip(&self.inputs).collect();
        let job = Job {
            native,
            place: self.place,
            seconds: Seconds::find(&inputs)?,
            inputs,
            people: self.decisions(step)?,
            published: self.published()?,
            asking: self.asking(),
        };
        let written = native.make(&job)?;
        let opening = match Embeds::in_stage(step.stage) {
            // The embeddings it asked for are part of its evidence.
            Some(_) => self.known.opening(step, self.made)?,
            None => opening,
        };
        Ok(written.commit(opening)?)
    }

    fn settings<T: serde::de::DeserializeOwned>(&self, step: &Step) -> T {
        self.known.config.typed(Some(self.known.recipe.name), step.stage.section())
    }

    /// The rows of published sets from which its records come.
    fn published(&self) -> Result<Published, StageError> {
        Ok(Published::load(&Workspace::new(&self.known.config.root), self.known.recipe.name)?)
    }

    /// The decisions about the step's records.
    fn decisions(&self, step: &Step) -> Result<StageDecisions, StageError> {
        Ok(self.known.decisions()?.of_stage(self.known.recipe.name, step.name))
    }

    /// A draft stage. The replies it asked for are part of its evidence.
    fn draft(&self, step: &Step, draft: Draft) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::create_of(draft.subjects().columns(), self.place)?;
        let (records, again) = self.subjects(step, draft.subjects())?;
        stages::draft::draft(draft, records, &self.asking(), &mut writer)?;
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        Ok(writer.commit(self.known.opening(step, self.made)?)?)
    }

    /// Records to what models answer to them.
    fn respond(&self, step: &Step, draft: Draft) -> Result<Manifest, RunError> {
        let subjects = self.subjects(step, draft.subjects())?;
        let written =
            stages::respond::respond(draft, subjects, &self.published()?, &self.asking(), self.place)?;
        Ok(written.commit(self.known.opening(step, self.made)?)?)
    }

    fn asking(&self) -> LlmContext<'_> {
        let StageRunner { known, run, offline, retry_failed, stop, pulse, .. } = *self;
        let (config, recipe) = (known.config, known.recipe.name);
        LlmContext { config, recipe, run, offline, retry_failed, accept_before: true, stop, pulse }
    }

    fn review(&self, step: &Step, review: Review, opening: Manifest) -> Result<Manifest, RunError> {
        let mut writer = StageWriter::create_of(review.subjects().columns(), self.place)?;
        let settings: sections::Review = self.settings(step);
        let seed = self.known.config.typed::<sections::Options>(Some(self.known.recipe.name), "options").seed;
        let (records, again) = self.subjects(step, review.subjects())?;
        let count = (records.len() + again.len()) as u64;
        let people = self.decisions(step)?;
        let votes = self.known.votes()?;
        let published = self.published()?;
        let evidence = stages::review::Evidence { votes, people: &people, published: &published };
        stages::review::review(review, records, &settings, seed, &evidence, &mut writer);
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        self.pulse.advance(count);
        Ok(writer.commit(opening)?)
    }

    /// The rows of all inputs as the records that the step works on. A record that reached several inputs has one id
    /// and is one record: the first is worked on, and the others are set aside.
    fn subjects(&self, step: &Step, records_of: Rows) -> Result<(Vec<Row>, Vec<Again>), StageError> {
        let (mut records, mut again): (Vec<Row>, Vec<Again>) = (Vec::new(), Vec::new());
        let mut first: FxHashMap<String, (usize, usize)> = FxHashMap::default();
        for (at, (input, reader)) in step.inputs.iter().zip(&self.inputs).enumerate() {
            let rows = self.known.recipe.input(input).map_or(Rows::Posts, |(.., step)| step.stage.rows());
            for record in stages::subjects(reader, rows, records_of)? {
                // Within one input an id is unique.
                let known = first.get(record.id()).filter(|(of, _)| *of < at);
                match known {
                    Some((of, place)) => {
                        let same = records[*place] == record;
                        again.push((record.id().to_owned(), set_aside(step.inputs[*of], input, same)));
                    }
                    None => {
                        first.insert(record.id().to_owned(), (at, records.len()));
                        records.push(record);
                    }
                }
            }
        }
        Ok((records, again))
    }

    /// A stage that decides every record independently. A record of several inputs is decided once.
    fn each<R: Record, T: Record>(
        &self,
        columns: R::Columns,
        writer: &mut StageWriter<T>,
        decide: impl Fn(R) -> Outcome<T> + Sync,
    ) -> Result<(), StageError> {
        let seconds = self.seconds()?;
        for (at, input) in self.inputs.iter().enumerate() {
            stages::each(columns, input, writer, self.stop, self.pulse, &|record: R| match seconds
                .outcome(at, record.id())
            {
                Some(again) => again,
                None => decide(record),
            })?;
        }
        Ok(())
    }

    /// The records of a step of posts, or of one kind of records, that reached several of its inputs.
    fn seconds(&self) -> Result<Seconds, StageError> {
        Seconds::find(&self.inputs.iter().map(|input| (Rows::Posts, input)).collect::<Vec<_>>())
    }

    /// A stage like [`StageRunner::each`]'s with known column access.
    fn edit(
        &self,
        step: &Step,
        writer: &mut StageWriter<Post>,
        decide: impl Fn(Post) -> Outcome<Post> + Sync,
    ) -> Result<(), StageError> {
        self.edit_columns(stages::touched(step.stage), writer, decide)
    }

    /// [`StageRunner::edit`] for a stage with decisions: records are looked up by id.
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
        let Some(touched) = touched.filter(|_| self.inputs.len() == 1) else {
            return self.each((), writer, decide);
        };
        self.inputs.iter().try_for_each(|input| {
            writer.edit(input, touched, &decide, |rows| {
                self.pulse.advance(rows);
                self.stop.check()
            })
        })
    }
}

/// A record of a later input whose id a record of an earlier one has.
type Again = (String, Outcome<Row>);

/// A published post, which passes any stage of texts; `None` for other posts.
fn as_published(post: &Post) -> Option<Post> {
    if !is_published(&post.id) {
        return None;
    }
    let mut post = post.clone();
    if post.title.is_some() || post.content.is_some() {
        post.text = Post::written(post.title.take().as_deref(), post.content.take().as_deref());
    }
    // Names found by import are for marking; nothing in a published text is marked.
    post.mentions.clear();
    Some(post)
}
