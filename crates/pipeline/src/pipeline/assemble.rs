//! Assembles a stage from partitions made on other machines: the folder equals the one that `run` would
//! write.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::evidence::RunContext;
use super::{RunError, open_input};
use crate::config::{Config, sections};
use crate::recipe::{Recipe, Step};
use crate::stages::embed::refuse_in_parts;
use crate::stages::import::{
    Dump, FileRow, Tally, add_names, append_names, append_published, no_names, open_dump,
};
use crate::stages::parted::{PairLine, near_pair};
use crate::stages::published::Published;
use crate::stages::same_joke;
use crate::stages::withdrawal::Withdrawals;
use crate::stages::{NearPair, StageRows, salt};
use riddlemill_record::Post;
use riddlemill_tables::{
    self as store, Batch, CommitError, LedgerRecord, LedgerRecordError, Lock, Manifest, StageWriter,
    Workspace, durable,
};
use riddlemill_text::text::anonymise::NamesError;
use riddlemill_text::text::count_with_noun;

/// Bytes of lines read at a time.
const BATCH: u64 = 1 << 23;

/// Lines that one task reads.
const TASK: usize = 1 << 10;

/// Why a stage could not be assembled. An earlier one in its place is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The recipe, its settings, or a stage before this one.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A line is not a ledger record.
    #[error("{file}:{line}: {source}\n  hint: it is the output of `apply … --ledger`, one line per record", file = file.display())]
    Line {
        /// The partition.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The error.
        source: LedgerRecordError,
    },
    /// A line is not a pair, or pairs are not sorted by their ids.
    #[error("{file}:{line}: {what}", file = file.display())]
    Pair {
        /// The partition.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The error.
        what: String,
    },
    /// The list of names cannot be used.
    #[error("{file}: {source}", file = file.display())]
    Names {
        file: PathBuf,
        /// The error.
        source: NamesError,
    },
    /// An item that is in no dump.
    #[error("{0:?} is not an item of a dump in the settings")]
    Stranger(String),
    /// More or fewer records than the output of the stage before.
    #[error(
        "{} left {input}, but the ledger has {found}\n  hint: a partition is missing, or was given twice",
        count_with_noun(*expected, "row")
    )]
    Incomplete {
        /// The stage before.
        input: &'static str,
        /// Its rows.
        expected: u64,
        /// Entries in the partitions.
        found: u64,
    },
    /// There are decisions about records of the stage, which other machines do not know.
    #[error(
        "{stage}: raw/decisions has {count} about it, which partitions of other machines do not know\n  hint: `riddlemill run --recipe {recipe} --only {stage}` makes it here, from the previous stage"
    )]
    Decided {
        stage: &'static str,
        recipe: &'static str,
        /// How many, as text.
        count: String,
    },
    /// Published rows pass through this stage, which other machines do not know.
    #[error(
        "{stage}: [[published]] sets pass through it unchanged, which partitions of other machines do not know\n  hint: `riddlemill run --recipe {recipe} --only {stage}` makes it here, from the previous stage"
    )]
    Published { stage: &'static str, recipe: &'static str },
    /// A stage that is not of posts.
    #[error(
        "{stage} cannot be assembled from partitions; `run` makes it from the previous stages\n  hint: import, clean, anonymise, filter and dedup can be"
    )]
    Stage {
        /// Its name.
        stage: String,
    },
}

impl From<store::Error> for AssembleError {
    fn from(e: store::Error) -> AssembleError {
        RunError::from(e).into()
    }
}

impl From<CommitError> for AssembleError {
    fn from(e: CommitError) -> AssembleError {
        RunError::from(e).into()
    }
}

/// Writes a stage from its ledger records, in the order of these files, and dedup's pairs, which are sorted
/// by their ids. The stages before it must exist. `names` is the list of all users' names, if it is known: otherwise
/// the dumps are read for it. Memory is needed for one batch only.
///
/// # Errors
/// [`AssembleError`].
pub fn assemble_stage(
    config: &Config,
    recipe: &'static Recipe,
    stage: &str,
    ledgers: &[PathBuf],
    pairs: &[PathBuf],
    names: Option<&Path>,
) -> Result<Manifest, AssembleError> {
    let workspace = Workspace::new(&config.root);
    let (number, step) = recipe
        .find_step(stage)
        .filter(|(_, step)| step.stage.rows() == StageRows::Posts)
        .ok_or_else(|| AssembleError::Stage { stage: stage.into() })?;
    if step.stage.has_reply_evidence() || step.stage.merges_posts() {
        refuse_in_parts(config, Some(recipe.name)).map_err(RunError::from)?;
        same_joke::refuse_in_parts(config, Some(recipe.name)).map_err(RunError::from)?;
    }
    let context = RunContext::new(config, recipe);
    let _lock = Lock::take_lock(&workspace.recipe_folder(recipe.name))?;
    // Under the lock nobody else writes, so unfinished folders are what a killed process left.
    durable::sweep_folder(&workspace.recipe_folder(recipe.name))?;
    // The salt is part of the evidence of import, which is collected below.
    salt::read_or_draw(&workspace).map_err(RunError::from)?;
    let mut made: BTreeMap<&str, Manifest> = BTreeMap::new();
    for step in recipe.steps().iter().take_while(|before| before.name != step.name) {
        made.insert(step.name, open_input(&workspace, recipe, step.name)?.manifest().clone());
    }
    let expected = context.expected_manifest(step, &made)?;
    let people = context.logs.load_decisions().map_err(RunError::from)?.of_stage(recipe.name, step.name);
    if !people.is_empty() {
        let count = count_with_noun(people.len() as u64, "decision");
        return Err(AssembleError::Decided { stage: step.name, recipe: recipe.name, count });
    }
    // Import adds the published rows itself, at its end.
    if !step.stage.is_import() && Published::manifest_evidence(&workspace, recipe.name)?.is_some() {
        return Err(AssembleError::Published { stage: step.name, recipe: recipe.name });
    }
    let mut writer = StageWriter::<Post>::create(&workspace.stage_folder(recipe.name, number, step.name))?;
    // Later stages depend on the rows of import, and on no dump.
    let dumps = if step.stage.is_import() { context.read_dumps()? } else { &[] };
    let mut items = DumpEntries::new(dumps);
    let mut ends = Ends::from_inputs(step, &made);
    let mut entries = 0;
    for file in ledgers {
        each_batch(file, |first, lines| {
            let lines: Vec<(u64, &[u8])> =
                (first..).zip(lines.iter().copied()).filter(|(_, line)| !is_blank(line)).collect();
            let tasks: Vec<(Vec<RecordPortion>, bool)> = ends
                .split_tasks(&lines)
                .into_par_iter()
                .map(|(lines, ends)| {
                    let mut portions: Vec<RecordPortion> = Vec::new();
                    for (number, line) in lines {
                        let wrong =
                            |source| AssembleError::Line { file: file.clone(), line: *number, source };
                        let record = LedgerRecord::parse_line(line).map_err(wrong)?;
                        let of = portions.last().and_then(|portion| portion.of);
                        let of = match step.stage.is_import() {
                            true => Some(items.dump_of_item(&record.entry.id, of)?),
                            false => None,
                        };
                        match portions.last_mut().filter(|portion| portion.of == of) {
                            Some(portion) => portion.add_record(record),
                            None => {
                                let mut portion = RecordPortion::new(of, lines.len());
                                portion.add_record(record);
                                portions.push(portion);
                            }
                        }
                    }
                    Ok((portions, ends))
                })
                .collect::<Result<_, AssembleError>>()?;
            for (portions, ends) in tasks {
                for portion in portions {
                    entries += portion.batch.count_entries() as u64;
                    items.count_portion(&portion, &mut writer);
                    writer.append_batch(portion.batch);
                }
                // Parts end where those of the input do, or the folder would differ from that of `run`.
                if ends {
                    writer.end_parts()?;
                }
            }
            Ok(writer.flush()?)
        })?;
    }
    check_complete(step, &made, entries)?;
    if step.stage.is_import() {
        items.end_sources(dumps.len(), &mut writer);
        items.write_file_rows(&mut writer)?;
        let settings: sections::Import = config.typed_settings(Some(recipe.name), "import");
        let salt = salt::read_or_draw(&workspace).map_err(RunError::from)?;
        let mut list = no_names(&config.root, &settings, &salt).map_err(RunError::from)?;
        match names {
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(store::Error::io("read", file))?;
                let wrong = |source| AssembleError::Names { file: file.to_path_buf(), source };
                list.add_file(&text).map_err(wrong)?;
            }
            None => dumps.iter().for_each(|dump| add_names(&mut list, dump, &settings)),
        }
        let withdrawn = Withdrawals::load(&workspace)?;
        append_published(dumps, &settings, &withdrawn, &mut writer)?;
        append_names(&list, &mut writer)?;
    }
    if step.stage.merges_posts() {
        near_pairs(&mut writer, pairs)?;
    }
    Ok(writer.commit(expected)?)
}

fn check_complete(step: &Step, made: &BTreeMap<&str, Manifest>, entries: u64) -> Result<(), AssembleError> {
    for &input in step.inputs {
        let expected = made.get(input).map_or(0, |m| m.counts.records_out);
        if expected != entries {
            return Err(AssembleError::Incomplete { input, expected, found: entries });
        }
    }
    Ok(())
}

/// The ends of parts: if a stage decides row by row, each part of the input becomes one part.
struct Ends {
    /// Remaining entries of each part.
    left: VecDeque<usize>,
}

impl Ends {
    fn from_inputs(step: &Step, made: &BTreeMap<&str, Manifest>) -> Ends {
        let inputs = step.inputs.iter().filter(|_| step.stage.touched_columns().is_some());
        let tables = inputs.filter_map(|input| made.get(input)?.tables.get("rows"));
        Ends { left: tables.flat_map(|table| &table.parts).map(|part| part.rows as usize).collect() }
    }

    /// Splits lines, one per entry, into tasks, with whether a part ends after each.
    fn split_tasks<'l, L>(&mut self, mut lines: &'l [L]) -> Vec<(&'l [L], bool)> {
        let mut tasks = Vec::new();
        while !lines.is_empty() {
            let size = TASK.min(lines.len());
            let size = self.left.front().map_or(size, |left| size.min(*left));
            let (task, rest) = lines.split_at(size);
            let ends = self.left.front_mut().is_some_and(|left| {
                *left -= size;
                *left == 0
            });
            if ends {
                self.left.pop_front();
            }
            tasks.push((task, ends));
            lines = rest;
        }
        tasks
    }
}

/// Records of one dump that follow each other.
struct RecordPortion {
    /// The dump, of records of import.
    of: Option<usize>,
    batch: Batch<Post>,
    tally: Tally,
}

impl RecordPortion {
    fn new(of: Option<usize>, room: usize) -> RecordPortion {
        RecordPortion { of, batch: Batch::with_room((), room), tally: Tally::default() }
    }

    fn add_record(&mut self, record: LedgerRecord<Post>) {
        if self.of.is_some() {
            self.tally.count_record(&record);
        }
        self.batch.append_ledger_record(record);
    }
}

/// Entries by dump.
struct DumpEntries<'a> {
    dumps: &'a [Dump],
    /// Prefixes of the ids of a dump's items.
    prefixes: Vec<String>,
    counts: Vec<u64>,
    /// The first dump of the source whose records come now, and what became of them.
    source: usize,
    tally: Tally,
}

impl<'a> DumpEntries<'a> {
    fn new(dumps: &'a [Dump]) -> DumpEntries<'a> {
        let prefixes = dumps.iter().map(|dump| dump.locator_of_item("")).collect();
        DumpEntries { dumps, prefixes, counts: vec![0; dumps.len()], source: 0, tally: Tally::default() }
    }

    /// The dump of an item. Items of one dump follow each other, so that of the item before is tried first.
    fn dump_of_item(&self, id: &str, before: Option<usize>) -> Result<usize, AssembleError> {
        let of = |prefix: &String| id.starts_with(prefix);
        before
            .filter(|before| self.prefixes.get(*before).is_some_and(of))
            .or_else(|| self.prefixes.iter().position(of))
            .ok_or_else(|| AssembleError::Stranger(id.into()))
    }

    fn count_portion(&mut self, portion: &RecordPortion, writer: &mut StageWriter<Post>) {
        let Some(dump) = portion.of else { return };
        self.end_sources(dump, writer);
        self.counts[dump] += portion.batch.count_entries() as u64;
        self.tally.add(&portion.tally);
    }

    /// Ends the sources before that of a dump: one that gave nothing has an entry that says so, as from `run`.
    fn end_sources(&mut self, dump: usize, writer: &mut StageWriter<Post>) {
        let next = self.dumps.get(dump).map(|dump| &dump.source);
        while let Some(first) = self.dumps.get(self.source).filter(|first| Some(&first.source) != next) {
            let own: Vec<&Dump> =
                self.dumps[self.source..].iter().take_while(|dump| dump.source == first.source).collect();
            let last = self.source + own.len() - 1;
            if let Some((locator, outcome)) = std::mem::take(&mut self.tally).entry_of_empty_source(&own) {
                let mut batch = Batch::with_room((), 1);
                batch.append(&locator, &outcome);
                self.counts[last] += 1;
                writer.append_batch(batch);
            }
            self.source = last + 1;
        }
    }

    fn write_file_rows(self, writer: &mut StageWriter<Post>) -> Result<(), AssembleError> {
        let mut table = writer.start_table::<FileRow>("files")?;
        self.dumps.iter().zip(self.counts).for_each(|(dump, items)| table.append(&dump.file_row(items)));
        Ok(writer.add_table(table)?)
    }
}

fn near_pairs(writer: &mut StageWriter<Post>, files: &[PathBuf]) -> Result<(), AssembleError> {
    let mut table = writer.start_table::<NearPair>("pairs")?;
    let mut last = (String::new(), String::new());
    for file in files {
        each_batch(file, |first, lines| {
            for (line, number) in lines.iter().zip(first..).filter(|(line, _)| !is_blank(line)) {
                let wrong = |what: String| AssembleError::Pair { file: file.clone(), line: number, what };
                let pair: PairLine =
                    serde_json::from_slice(line).map_err(|e| wrong(format!("no pair: {e}")))?;
                let pair = near_pair(pair);
                let here = (pair.a.clone(), pair.b.clone());
                // The table of `run` is sorted and has each pair once.
                if here <= last {
                    return Err(wrong(format!("the pair of {} and {} is out of order", pair.a, pair.b)));
                }
                last = here;
                table.append(&pair);
            }
            Ok(table.flush()?)
        })?;
    }
    Ok(writer.add_table(table)?)
}

/// The lines of a file in batches, each with the number of its first line.
fn each_batch(
    file: &Path,
    mut take: impl FnMut(u64, &[&[u8]]) -> Result<(), AssembleError>,
) -> Result<(), AssembleError> {
    let failed = |e| AssembleError::from(store::Error::io("read", file)(e));
    let mut reader = open_dump(file).map_err(failed)?;
    let (mut bytes, mut first) = (Vec::new(), 1);
    loop {
        let read = reader.by_ref().take(BATCH).read_to_end(&mut bytes).map_err(failed)?;
        // After the last line feed is the beginning of a line, or the last line.
        let last = bytes.iter().rposition(|byte| *byte == b'\n');
        let end = if read == 0 { bytes.len() } else { last.map_or(0, |at| at + 1) };
        let lines: Vec<&[u8]> = bytes[..end].split_inclusive(|byte| *byte == b'\n').collect();
        take(first, &lines)?;
        first += lines.len() as u64;
        bytes.drain(..end);
        if read == 0 {
            return Ok(());
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}
