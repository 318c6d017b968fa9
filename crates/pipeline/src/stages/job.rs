//! What a stage is made with, and the driver of all stages: how their inputs are read part by part, who decides about a record
//! before the rule does, what is told meanwhile, and where the rows go.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use riddlemill_files::par_map::{SPLIT, par_map_ordered};
use riddlemill_record::{Outcome, Post, Record, Row};
use riddlemill_review::decisions::{DecisionLog, StageDecisions};
use riddlemill_tables::{Batch, ColumnAccess, Part, StageReader, StageWriter, Workspace};
use rustc_hash::FxHashMap;

use super::context::{About, LlmContext, NewRows, Pulse, StageError, StageRows, Stop};
use super::import::Dump;
use super::published::Published;
use super::review::Votes;
use super::rule::{Above, Rule};
use super::seconds::{Seconds, set_aside};
use super::subject::read_subjects;
use crate::config::{Config, sections};

/// The votes and decisions of a workspace about a recipe's records, read on first use.
pub struct PeopleLogs<'a> {
    config: &'a Config,
    recipe: &'static str,
    votes: OnceCell<Votes>,
    decisions: OnceCell<DecisionLog>,
}

impl<'a> PeopleLogs<'a> {
    /// Of a recipe. Nothing is read yet.
    pub fn new(config: &'a Config, recipe: &'static str) -> PeopleLogs<'a> {
        PeopleLogs { config, recipe, votes: OnceCell::new(), decisions: OnceCell::new() }
    }

    /// All votes.
    pub fn load_votes(&self) -> Result<&Votes, StageError> {
        if let Some(votes) = self.votes.get() {
            return Ok(votes);
        }
        let votes = Votes::load(self.config, self.recipe)?;
        Ok(self.votes.get_or_init(|| votes))
    }

    /// All decisions.
    pub fn load_decisions(&self) -> Result<&DecisionLog, StageError> {
        if let Some(decisions) = self.decisions.get() {
            return Ok(decisions);
        }
        let decisions = DecisionLog::read_folder(&Workspace::new(&self.config.root).decisions_folder())?;
        Ok(self.decisions.get_or_init(|| decisions))
    }
}

/// A stage that a step reads.
pub struct StageInput {
    /// The step that writes it, as the recipe names it.
    pub name: &'static str,
    /// What its rows are.
    pub rows: StageRows,
    /// Where it is, if it was made.
    pub place: PathBuf,
}

/// A step of a recipe, with what it may look at.
pub struct StepContext<'a> {
    /// The workspace's settings.
    pub config: &'a Config,
    /// The recipe's name.
    pub recipe: &'static str,
    /// The step's name.
    pub step: &'static str,
    /// What its stage is called and leaves.
    pub about: About,
    /// Whether people may overrule the stage.
    pub overruled: bool,
    /// Where its rows are, or will be.
    pub place: PathBuf,
    /// The stages that it reads.
    pub inputs: Vec<StageInput>,
    /// The dumps of a step that imports.
    pub dumps: &'a [Dump],
    /// What people said.
    pub logs: &'a PeopleLogs<'a>,
}

impl StepContext<'_> {
    /// The settings of a table of pipeline.toml.
    pub fn section_settings<T: serde::de::DeserializeOwned>(&self, section: &str) -> T {
        self.config.typed_settings(Some(self.recipe), section)
    }

    /// The workspace.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(&self.config.root)
    }

    /// The records of its inputs, as far as those were made.
    pub fn read_records(&self, of: StageRows) -> Result<Vec<Row>, StageError> {
        let mut records = Vec::new();
        for input in &self.inputs {
            if let Some(reader) = StageReader::open(&input.place)? {
                records.append(&mut read_subjects(&reader, input.rows, of)?);
            }
        }
        Ok(records)
    }

    /// Its inputs; `None` if one was not made.
    pub fn open_inputs(&self) -> Result<Option<Vec<StageReader>>, StageError> {
        Ok(self.inputs.iter().map(|input| StageReader::open(&input.place)).collect::<Result<_, _>>()?)
    }

    /// What people decided about its records; nothing where it takes no decisions.
    pub fn read_decisions(&self) -> Result<StageDecisions, StageError> {
        match self.overruled {
            true => Ok(self.logs.load_decisions()?.of_stage(self.recipe, self.step)),
            false => Ok(StageDecisions::default()),
        }
    }
}

/// A step that is made.
pub struct Job<'a> {
    /// What is made, and what it may look at.
    pub step: &'a StepContext<'a>,
    /// The stages that it reads.
    pub inputs: &'a [StageReader],
    /// The settings, the run, and whom to tell.
    pub asking: LlmContext<'a>,
}

/// A record of a later input whose id a record of an earlier one has.
type RepeatedRecord = (String, Outcome<Row>);

impl Job<'_> {
    /// A writer for its rows, which are no posts.
    pub fn create_row_writer(&self) -> Result<StageWriter<Row>, StageError> {
        self.writer_of(self.step.about.rows)
    }

    /// A writer for records of a kind.
    pub fn writer_of(&self, rows: StageRows) -> Result<StageWriter<Row>, StageError> {
        Ok(StageWriter::create_of(rows.columns(), &self.step.place)?)
    }

    /// A writer for posts.
    pub fn create_post_writer(&self) -> Result<StageWriter<Post>, StageError> {
        Ok(StageWriter::create(&self.step.place)?)
    }

    /// The settings of its table of pipeline.toml.
    pub fn step_settings<T: serde::de::DeserializeOwned>(&self) -> T {
        self.step.section_settings(self.step.about.section)
    }

    /// The seed of what is drawn.
    pub fn seed(&self) -> u64 {
        self.step.section_settings::<sections::Options>("options").seed
    }

    /// The rows of published sets that its records come from.
    pub fn load_published(&self) -> Result<Published, StageError> {
        Ok(Published::load(&self.step.workspace(), self.step.recipe)?)
    }

    fn load_overrides(&self) -> Result<Above, StageError> {
        Ok(Above {
            step: self.step.step,
            people: self.step.read_decisions()?,
            published: self.load_published()?,
        })
    }

    /// The records that reached several of its inputs.
    pub fn find_repeated_records(&self) -> Result<Seconds, StageError> {
        Seconds::find_in_inputs(&self.inputs_with_rows().collect::<Vec<_>>())
    }

    /// Its inputs with what their rows are.
    fn inputs_with_rows(&self) -> impl Iterator<Item = (StageRows, &StageReader)> {
        self.step.inputs.iter().map(|input| input.rows).zip(self.inputs)
    }

    /// Whether an input has rows that are so.
    pub fn has_input(&self, wanted: impl Fn(StageRows) -> bool) -> bool {
        self.step.inputs.iter().any(|input| wanted(input.rows))
    }

    /// A stage of texts: posts, each decided by itself. It touches these columns, the id first.
    pub fn decide_each_post(
        &self,
        touches: ColumnAccess,
        rule: &impl Rule<Post>,
    ) -> Result<NewRows, StageError> {
        let mut writer = self.create_post_writer()?;
        let above = self.load_overrides()?;
        let decide = |post: Post| match above.is_empty() {
            true => rule.outcome_by_rule(post),
            false => above.decide_record(rule, post),
        };
        match self.inputs {
            [input] => {
                // Only decisions and published rows are looked up by id; without them ids are not read.
                let reads = if above.is_empty() { &touches.reads[1..] } else { touches.reads };
                let (stop, pulse) = (self.asking.stop, self.asking.pulse);
                writer.edit_rows(input, ColumnAccess { reads, ..touches }, decide, |rows| {
                    pulse.report_done(rows);
                    stop.fail_if_stopped()
                })?;
            }
            _ => self.each_of(|_| (), &mut writer, decide)?,
        }
        Ok(writer.into())
    }

    /// Records, each decided by itself; `columns` says as what the rows of an input are read.
    pub fn each_row<R: Record + Clone>(
        &self,
        columns: impl Fn(StageRows) -> R::Columns,
        rule: &impl Rule<R, Row>,
    ) -> Result<NewRows, StageError> {
        let mut writer = self.create_row_writer()?;
        let above = self.load_overrides()?;
        self.each_of(columns, &mut writer, |record: R| above.decide_record(rule, record))?;
        Ok(writer.into())
    }

    /// Decides record by record, as [`decide_each_row`]. A record of several inputs is decided once.
    pub fn each_of<R: Record, T: Record>(
        &self,
        columns: impl Fn(StageRows) -> R::Columns,
        writer: &mut StageWriter<T>,
        decide: impl Fn(R) -> Outcome<T> + Sync,
    ) -> Result<(), StageError> {
        let seconds = &self.find_repeated_records()?;
        for (at, (rows, input)) in self.inputs_with_rows().enumerate() {
            let decide = |record: R| match seconds.outcome_of_repeat(at, record.id()) {
                Some(again) => again,
                None => decide(record),
            };
            decide_each_row(columns(rows), input, writer, self.asking.stop, self.asking.pulse, &decide)?;
        }
        Ok(())
    }

    /// Records that drafts and reviews fill in, each decided by itself; posts are records without drafts and votes.
    pub fn each_subject(&self, of: StageRows, rule: &impl Rule<Row>) -> Result<NewRows, StageError> {
        let mut writer = self.create_row_writer()?;
        let above = self.load_overrides()?;
        let seconds = &self.find_repeated_records()?;
        let (stop, pulse) = (self.asking.stop, self.asking.pulse);
        for (at, (rows, input)) in self.inputs_with_rows().enumerate() {
            let decide = |record: Row| match seconds.outcome_of_repeat(at, record.id()) {
                Some(again) => again,
                None => above.decide_record(rule, record),
            };
            if rows != StageRows::Posts {
                decide_each_row(rows.columns(), input, &mut writer, stop, pulse, &decide)?;
                continue;
            }
            for record in read_subjects(input, rows, of)? {
                stop.fail_if_stopped()?;
                let id = record.id().to_owned();
                writer.append(&id, &decide(record));
                pulse.report_done(1);
            }
        }
        Ok(writer.into())
    }

    /// Records that the step leaves, each decided by itself; posts become records here if no earlier step has done so.
    pub fn each_in_memory(&self, rule: &impl Rule<Row>) -> Result<NewRows, StageError> {
        let mut writer = self.create_row_writer()?;
        let above = self.load_overrides()?;
        let (records, again) = self.read_subjects(self.step.about.rows)?;
        for record in records {
            let id = record.id().to_owned();
            writer.append(&id, &above.decide_record(rule, record));
        }
        again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
        Ok(writer.into())
    }

    /// The rows of all inputs as the records that the step works on. A record that reached several inputs has one id
    /// and is one record: the first is worked on, and the others are set aside.
    pub fn read_subjects(&self, of: StageRows) -> Result<(Vec<Row>, Vec<RepeatedRecord>), StageError> {
        let (mut records, mut again): (Vec<Row>, Vec<RepeatedRecord>) = (Vec::new(), Vec::new());
        let mut first: FxHashMap<String, (usize, usize)> = FxHashMap::default();
        for (at, (rows, reader)) in self.inputs_with_rows().enumerate() {
            for record in read_subjects(reader, rows, of)? {
                // Within one input an id is unique.
                let known = first.get(record.id()).filter(|(of, _)| *of < at);
                match known {
                    Some((of, place)) => {
                        let same = records[*place] == record;
                        let name = |at: usize| self.step.inputs[at].name;
                        again.push((record.id().to_owned(), set_aside(name(*of), name(at), same)));
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

    /// The records of those inputs whose rows are wanted, but for [`Job::find_repeated_records`], for a stage that decides over the whole and
    /// then writes those.
    pub fn of_inputs(
        &self,
        seconds: &Seconds,
        of: StageRows,
        wanted: impl Fn(StageRows) -> bool,
    ) -> Result<Vec<Row>, StageError> {
        let mut records = Vec::new();
        for (at, (rows, input)) in self.inputs_with_rows().enumerate().filter(|(_, (rows, _))| wanted(*rows))
        {
            let mut of_input = Vec::new();
            match rows {
                StageRows::Posts => of_input.append(&mut read_subjects(input, rows, of)?),
                _ => read_all_rows(rows.columns(), input, self.asking.stop, &mut of_input)?,
            }
            records.extend(of_input.into_iter().filter(|record: &Row| !seconds.has_earlier(at, record.id())));
        }
        Ok(records)
    }

    /// Unusable lines of a person's file are reported, and the others count.
    pub fn report_refused(&self, refused: &[(String, String)]) {
        refused
            .iter()
            .for_each(|(place, why)| self.asking.pulse.notify_user(&format!("{place}: left out: {why}")));
    }

    /// A folder for what does not fit in memory.
    pub fn working_folder(&self) -> &Path {
        self.step.place.parent().unwrap_or(&self.step.place)
    }
}

/// A stage whose decision on a record depends on that record alone. Parts are read, decided and recorded on
/// all cores while those before them are written, so memory does not grow with the input.
///
/// # Errors
/// [`StageError`] where a part cannot be read or written, or the user stopped.
pub fn decide_each_row<R: Record, T: Record>(
    columns: R::Columns,
    input: &StageReader,
    writer: &mut StageWriter<T>,
    stop: &Stop,
    pulse: &dyn Pulse,
    decide: &(impl Fn(R) -> Outcome<T> + Sync),
) -> Result<(), StageError> {
    let append = |mut batch: Batch<T>, row: R| {
        let id = row.id().to_string();
        batch.append(&id, &decide(row));
        batch
    };
    let made = writer.columns();
    // A part is split further where there are fewer parts than cores.
    let decided = |rows: Vec<R>| -> Vec<Batch<T>> {
        rows.into_par_iter().with_min_len(SPLIT).fold(|| Batch::with_room(made, SPLIT), append).collect()
    };
    let decide = |part: &Part| -> Result<_, StageError> {
        let batches = decided(input.read_part(columns, part)?);
        pulse.report_done(part.rows);
        Ok(batches)
    };
    par_map_ordered(input.table("rows").parts.iter(), decide, |batches| {
        stop.fail_if_stopped()?;
        batches.into_iter().for_each(|batch| writer.append_batch(batch));
        Ok(writer.flush()?)
    })
}

/// All rows of an input, for a stage that decides over the whole.
///
/// # Errors
/// As of [`decide_each_row`].
pub fn read_all_rows<R: Record>(
    columns: R::Columns,
    input: &StageReader,
    stop: &Stop,
    records: &mut Vec<R>,
) -> Result<(), StageError> {
    for part in input.parts_of(columns, "rows") {
        stop.fail_if_stopped()?;
        records.append(&mut part?);
    }
    Ok(())
}
