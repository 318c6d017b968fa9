//! Writes a stage: outcomes become parts, and are counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::edit::{Edited, edit_part};
use super::part;
use super::{
    Batch, ColumnAccess, Error, InputRef, MANIFEST, Manifest, Part, StageReader, Table, TableWriter, durable,
};
use riddlemill_files::par_map::par_map_ordered;
use riddlemill_record::{Caused, Counts, Entry, Link, Outcome, Record, Typed, Unbalanced};

/// The table of the [`Cause`](riddlemill_record::Cause)s of a stage's records.
pub const CAUSES: &str = "causes";

/// A stage being written. Nothing of it is visible before [`StageWriter::commit`]; if it is dropped before,
/// the incomplete folder is removed.
pub struct StageWriter<R: Record> {
    place: PathBuf,
    making: PathBuf,
    columns: R::Columns,
    batch: Batch<R>,
    records_out: u64,
    joins: u64,
    rows: TableWriter<R>,
    ledger: TableWriter<Entry>,
    links: TableWriter<Link>,
    /// Causes that are not handed to their table yet.
    causes: Vec<Caused>,
    /// Only where there is a cause: most stages have none.
    caused: Option<TableWriter<Caused>>,
    tables: BTreeMap<String, Table>,
    committed: bool,
}

/// Why a stage could not be committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] Error),
    /// The accounting does not close, and nothing was written.
    #[error("{place}: {source}")]
    Unbalanced {
        /// The stage folder.
        place: String,
        /// Which side is off.
        source: Unbalanced,
    },
}

impl<R: Record> StageWriter<R> {
    /// Starts a stage that will be at `place`.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder next to it cannot be created.
    pub fn create(folder: &Path) -> Result<StageWriter<R>, Error>
    where
        R: Typed,
    {
        StageWriter::create_of((), folder)
    }

    /// Starts a stage with rows of these columns.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder next to it cannot be created.
    pub fn create_of(columns: R::Columns, folder: &Path) -> Result<StageWriter<R>, Error> {
        let temp_dir = durable::name_while_making(folder);
        // A killed run may have left its folder.
        durable::remove_folder(&temp_dir)?;
        durable::create_folder(&temp_dir)?;
        Ok(StageWriter {
            rows: TableWriter::create(columns, &temp_dir, "rows")?,
            ledger: TableWriter::create((), &temp_dir, "ledger")?,
            links: TableWriter::create((), &temp_dir, "links")?,
            causes: Vec::new(),
            caused: None,
            place: folder.to_path_buf(),
            making: temp_dir,
            batch: Batch::with_room(columns, 0),
            columns,
            records_out: 0,
            joins: 0,
            tables: BTreeMap::new(),
            committed: false,
        })
    }

    /// Adds the outcome of one record that entered under `id`.
    pub fn append(&mut self, id: &str, outcome: &Outcome<R>) {
        self.batch.append(id, outcome);
    }

    /// What says the columns of its rows.
    pub fn columns(&self) -> R::Columns {
        self.columns
    }

    /// Adds the outcomes of a batch.
    pub fn append_batch(&mut self, mut batch: Batch<R>) {
        self.hand_over();
        self.batch.count_as(&mut batch);
        self.enqueue_batch(batch);
    }

    /// Adds a record that several others were joined into, with each parent and its role.
    pub fn append_joined(&mut self, row: R, parents: impl IntoIterator<Item = (String, &'static str)>) {
        self.joins += 1;
        for (parent, role) in parents {
            self.batch.links.push(Link { child: row.id().into(), parent, role: role.into() });
        }
        self.batch.rows.append(&row);
    }

    /// Adds a link of a record out to a record of another input.
    pub fn append_link(&mut self, child: &str, parent: &str, role: &str) {
        self.batch.links.push(Link { child: child.into(), parent: parent.into(), role: role.into() });
    }

    /// Writes the full parts, on all cores.
    ///
    /// # Errors
    /// [`Error::Io`] if a part cannot be written completely.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.hand_over();
        let (rows, ledger) = (&mut self.rows, &mut self.ledger);
        let (a, b) = rayon::join(|| rows.flush(), || ledger.flush());
        a?;
        b?;
        self.links.flush()?;
        self.write_causes()
    }

    /// Ends the current parts, however few rows they have.
    ///
    /// # Errors
    /// [`Error::Io`] if a part cannot be written completely.
    pub fn end_parts(&mut self) -> Result<(), Error> {
        self.hand_over();
        let (rows, ledger) = (&mut self.rows, &mut self.ledger);
        let (a, b) = rayon::join(|| rows.write_remaining(), || ledger.write_remaining());
        a?;
        b
    }

    /// Decides on the rows of a stage one by one, on all cores, while the parts before them are written:
    /// memory does not grow with the input. Each part of the input becomes one part. `done` is called with
    /// the number of rows.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read or written; those of `done`.
    pub fn edit_rows<E: From<Error> + Send>(
        &mut self,
        input: &StageReader,
        touched: ColumnAccess,
        decide: impl Fn(R) -> Outcome<R> + Sync,
        mut done: impl FnMut(u64) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        // Edited parts are whole parts, so rows that still wait have to end theirs first.
        self.end_parts()?;
        let table = input.table("rows");
        let decide = |part: &Part| -> Result<Edited, E> {
            let bytes = part::read_part_bytes(input.folder(), part)?;
            Ok(edit_part(self.columns, bytes, touched, &decide)
                .map_err(|e| Error::stale_file(&input.folder().join(&part.file), e))?)
        };
        par_map_ordered(table.parts.iter(), decide, |edited| {
            let Edited { rows, ledger, tally, children } = edited;
            self.batch.add(tally);
            self.batch.children += children;
            let decided = ledger.count;
            if let Some(rows) = rows {
                self.records_out += rows.count;
                self.rows.write_part(rows)?;
            }
            self.ledger.write_part(ledger)?;
            done(decided)
        })
    }

    /// Passes the collected rows on to the tables; the counts stay.
    fn hand_over(&mut self) {
        let mut batch = std::mem::replace(&mut self.batch, Batch::with_room(self.columns, 0));
        self.batch.count_as(&mut batch);
        self.enqueue_batch(batch);
    }

    fn enqueue_batch(&mut self, batch: Batch<R>) {
        let Batch { rows, ledger, links, causes, .. } = batch;
        self.causes.extend(causes);
        self.records_out += rows.count_rows() as u64;
        self.rows.waiting.push(rows);
        self.ledger.waiting.push(ledger);
        links.iter().for_each(|link| self.links.waiting.append(link));
    }

    /// Hands the causes to their table.
    fn write_causes(&mut self) -> Result<(), Error> {
        if self.causes.is_empty() {
            return Ok(());
        }
        let mut table = match self.caused.take() {
            Some(table) => table,
            None => TableWriter::create((), &self.making, CAUSES)?,
        };
        self.causes.drain(..).for_each(|caused| table.append(&caused));
        let written = table.flush();
        self.caused = Some(table);
        written
    }

    /// Starts a further table of the stage; return it with [`StageWriter::add_table`].
    ///
    /// # Errors
    /// [`Error::Io`] if its folder cannot be created.
    pub fn start_table<T: Typed>(&self, name: &str) -> Result<TableWriter<T>, Error> {
        TableWriter::create((), &self.making, name)
    }

    /// Takes a finished further table.
    ///
    /// # Errors
    /// [`Error::Io`] if its last part cannot be written.
    pub fn add_table<T: Record>(&mut self, table: TableWriter<T>) -> Result<(), Error> {
        let (name, table) = table.finish()?;
        self.tables.insert(name, table);
        Ok(())
    }

    /// Checks the accounting, writes the manifest and moves the stage to its place.
    ///
    /// # Errors
    /// [`CommitError::Unbalanced`] if a record is not accounted for; the old stage is then unchanged.
    pub fn commit(mut self, mut manifest: Manifest) -> Result<Manifest, CommitError> {
        self.hand_over();
        let counts = Counts { records_out: self.records_out, ..self.batch.counts() };
        counts
            .check_balance(self.batch.children, self.joins)
            .map_err(|source| CommitError::Unbalanced { place: self.place.display().to_string(), source })?;
        let (rows, ledger, links) = (&mut self.rows, &mut self.ledger, &mut self.links);
        let (a, b) = rayon::join(
            || rows.write_remaining(),
            || ledger.write_remaining().and_then(|()| links.write_remaining()),
        );
        a?;
        b?;
        for (name, table) in [self.rows.sum()?, self.ledger.sum()?, self.links.sum()?] {
            self.tables.insert(name, table);
        }
        self.write_causes()?;
        if let Some(table) = self.caused.take() {
            self.add_table(table)?;
        }
        manifest.counts = counts;
        manifest.tables = std::mem::take(&mut self.tables);
        // Last, after `sum` has waited for all parts: a manifest never names a file that is not on the disk.
        durable::write_synced(&self.making.join(MANIFEST), &manifest.to_bytes())?;
        durable::swap_folder(&self.making, &self.place)?;
        self.committed = true;
        Ok(manifest)
    }
}

impl<R: Record> Drop for StageWriter<R> {
    fn drop(&mut self) {
        if !self.committed {
            // Writers that still run would create files in the folder while it is removed.
            for disk in [&mut self.rows.disk, &mut self.ledger.disk, &mut self.links.disk] {
                drop(std::mem::take(disk));
            }
            drop(self.caused.take());
            // If it stays, the next run removes it.
            let _ = durable::remove_folder(&self.making);
        }
    }
}

/// The manifest of a stage before it is made: what determines it, without its results.
pub fn expected_manifest(
    recipe: &str,
    stage: &str,
    stage_version: u32,
    settings: BTreeMap<String, serde_json::Value>,
    inputs: Vec<InputRef>,
    evidence: BTreeMap<String, String>,
) -> Manifest {
    let mut manifest = Manifest {
        format: super::FORMAT,
        recipe: recipe.into(),
        stage: stage.into(),
        stage_version,
        settings,
        inputs,
        evidence,
        fingerprint: String::new(),
        counts: Counts::default(),
        tables: BTreeMap::new(),
    };
    manifest.fingerprint = manifest.fingerprint_of();
    manifest
}
