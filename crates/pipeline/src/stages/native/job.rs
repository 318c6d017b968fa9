//! What a run passes to an operation: its input, the destination of its rows, people's decisions, and published sets.

use std::path::Path;

use super::Native;
use crate::config::sections;
use crate::stages::draft::LlmContext;
use crate::stages::each::{all, each};
use crate::stages::published::{Published, settled};
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
        let of_input =
            |(rows, input): &(Rows, &StageReader)| each(rows.columns(), input, writer, stop, pulse, &decide);
        self.inputs.iter().try_for_each(of_input)
    }

    /// [`Job::each`] of posts.
    pub(super) fn each_post(
        &self,
        writer: &mut StageWriter<Row>,
        decide: impl Fn(Post) -> Outcome<Row> + Sync,
    ) -> Result<(), StageError> {
        let (stop, pulse) = (self.asking.stop, self.asking.pulse);
        self.inputs.iter().try_for_each(|(_, input)| each((), input, writer, stop, pulse, &decide))
    }

    /// [`Job::each`] of records that drafts and reviews fill in; posts are records without drafts and votes.
    pub(super) fn each_subject(
        &self,
        writer: &mut StageWriter<Row>,
        decide: impl Fn(Row) -> Outcome<Row> + Sync,
    ) -> Result<(), StageError> {
        for (rows, input) in &self.inputs {
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

    /// All records, for an operation that decides over the whole.
    pub(super) fn subjects(&self) -> Result<Vec<Row>, StageError> {
        let mut records = Vec::new();
        for (rows, input) in &self.inputs {
            match rows {
                Rows::Posts => records.append(&mut subjects(input, *rows, self.native.subjects())?),
                _ => all(rows.columns(), input, self.asking.stop, &mut records)?,
            }
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
