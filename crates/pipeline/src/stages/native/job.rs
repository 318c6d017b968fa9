//! What a run passes to an operation: its input, the destination of its rows, people's decisions, and published sets.

use std::path::Path;

use super::Native;
use crate::config::sections;
use crate::stages::draft::LlmContext;
use crate::stages::each::{all, each};
use crate::stages::published::{Published, settled};
use crate::stages::seconds::Seconds;
use crate::stages::stage::{Rows, StageError};
use crate::stages::subject::subjects;
use riddlemill_review::decisions::StageDecisions;
use riddlemill_tables::{StageReader, StageWriter};
use riddlemill_text::record::{Outcome, Post, Record, Row};

/// A step that is made.
pub struct Job<'a> {
    /// The step.
    pub native: Native,
    /// Where its rows go.
    pub place: &'a Path,
    /// The stages that it reads, with what their rows are.
    pub inputs: Vec<(Rows, &'a StageReader)>,
    /// The records that reached several of them.
    pub seconds: Seconds,
    /// What people decided about its records.
    pub people: StageDecisions,
    /// The rows of published sets that its records come from.
    pub published: Published,
    /// The settings, the run, and whom to tell.
    pub asking: LlmContext<'a>,
}

impl Job<'_> {
    /// The step's name.
    pub fn step(&self) -> &'static str {
        self.native.declared.name
    }

    /// A writer for its rows.
    pub(super) fn writer(&self) -> Result<StageWriter<Row>, StageError> {
        Ok(StageWriter::create_of(self.native.rows().columns(), self.place)?)
    }

    /// The settings of a table of pipeline.toml.
    pub(super) fn settings<T: serde::de::DeserializeOwned>(&self, section: &str) -> T {
        self.asking.config.typed(Some(self.asking.recipe), section)
    }

    /// The settings of puzzles, and the seed of what is drawn for them.
    pub(super) fn puzzles(&self) -> (sections::Puzzles, u64) {
        super::puzzles(self.asking.config, self.asking.recipe)
    }

    /// The outcome of a published record: it is kept unchanged.
    pub(super) fn through<R: Record + Clone>(&self, row: &R, outcome: Outcome<R>) -> Outcome<R> {
        settled(&self.published, self.step(), row, outcome, || Some(row.clone()))
    }

    /// Decides record by record, as [`each`].
    pub(super) fn each(
        &self,
        writer: &mut StageWriter<Row>,
        decide: impl Fn(Row) -> Outcome<Row> + Sync,
    ) -> Result<(), StageError> {
        let (stop, pulse) = (self.asking.stop, self.asking.pulse);
        for (at, (rows, input)) in self.inputs.iter().enumerate() {
            each(rows.columns(), input, writer, stop, pulse, &|row: Row| match self
                .seconds
                .outcome(at, row.id())
            {
                Some(again) => again,
                None => decide(row),
            })?;
        }
        Ok(())
    }

    /// [`Job::each`] of posts.
    pub(super) fn each_post(
        &self,
        writer: &mut StageWriter<Row>,
        decide: impl Fn(Post) -> Outcome<Row> + Sync,
    ) -> Result<(), StageError> {
        let (stop, pulse) = (self.asking.stop, self.asking.pulse);
        for (at, (_, input)) in self.inputs.iter().enumerate() {
            each((), input, writer, stop, pulse, &|post: Post| match self.seconds.outcome(at, &post.id) {
                Some(again) => again,
                None => decide(post),
            })?;
        }
        Ok(())
    }

    /// [`Job::each`] of records that drafts and reviews fill in; posts are records without drafts and votes.
    pub(super) fn each_subject(
        &self,
        writer: &mut StageWriter<Row>,
        decide: impl Fn(Row) -> Outcome<Row> + Sync,
    ) -> Result<(), StageError> {
        for (at, (rows, input)) in self.inputs.iter().enumerate() {
            let decide = |record: Row| match self.seconds.outcome(at, record.id()) {
                Some(again) => again,
                None => decide(record),
            };
            match rows {
                Rows::Posts => {
                    for record in subjects(input, *rows, self.native.subjects())? {
                        self.asking.stop.check()?;
                        let id = record.id().to_owned();
                        writer.append(&id, &decide(record));
                        self.asking.pulse.advance(1);
                    }
                }
                _ => each(rows.columns(), input, writer, self.asking.stop, self.asking.pulse, &decide)?,
            }
        }
        Ok(())
    }

    /// All records, for an operation that decides over the whole and then writes [`Job::seconds`].
    pub(super) fn subjects(&self) -> Result<Vec<Row>, StageError> {
        self.of_inputs(|_| true)
    }

    /// The records of those inputs whose rows are wanted.
    pub(super) fn of_inputs(&self, wanted: impl Fn(Rows) -> bool) -> Result<Vec<Row>, StageError> {
        let mut records = Vec::new();
        for (at, (rows, input)) in self.inputs.iter().enumerate().filter(|(_, (rows, _))| wanted(*rows)) {
            let mut of_input = Vec::new();
            match rows {
                Rows::Posts => of_input.append(&mut subjects(input, *rows, self.native.subjects())?),
                _ => all(rows.columns(), input, self.asking.stop, &mut of_input)?,
            }
            records.extend(of_input.into_iter().filter(|record: &Row| !self.seconds.has(at, record.id())));
        }
        Ok(records)
    }

    /// Unusable lines of a person's file are reported, and the others count.
    pub(super) fn report_refused(&self, refused: &[(String, String)]) {
        refused
            .iter()
            .for_each(|(place, why)| self.asking.pulse.notify(&format!("{place}: left out: {why}")));
    }
}
