//! A stage from the partitions that another machine made of it: the same folder that `run` would write.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::evidence::Known;
use super::{RunError, open};
use crate::config::Config;
use crate::recipe::{Recipe, Step};
use crate::record::Post;
use crate::stages::import::{Dump, FileRow, open_dump};
use crate::stages::parted::{PairLine, near_pair};
use crate::stages::{NearPair, Rows, Stage, salt};
use crate::store::{
    self, Batch, Booked, BookedError, CommitError, Lock, Manifest, StageWriter, Workspace, durable,
};

/// Lines that are read together.
const BATCH: usize = 1 << 14;

/// Why a stage could not be assembled. What stood in its place still does.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The recipe, its settings, or a stage before this one.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A line is no books.
    #[error("{file}:{line}: {source}\n  hint: it is the output of `apply … --books`, one line a record", file = file.display())]
    Line {
        /// The partition.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What it is.
        source: BookedError,
    },
    /// A line is no pair, or pairs are in another order than that of their ids.
    #[error("{file}:{line}: {what}", file = file.display())]
    Pair {
        /// The partition.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What does not fit.
        what: String,
    },
    /// An item of no dump.
    #[error("{0:?} is an item of no dump that the settings name")]
    Stranger(String),
    /// More or fewer records than the stage before let through.
    #[error(
        "{expected} rows came out of {input}, and {found} are booked\n  hint: a partition is missing, or stands twice"
    )]
    Incomplete {
        /// The stage before.
        input: &'static str,
        /// Its rows.
        expected: u64,
        /// Entries in the partitions.
        found: u64,
    },
    /// A stage that is not made of posts.
    #[error(
        "{stage} is not made from partitions; `run` makes it from the stages before\n  hint: import, clean, anonymise, filter and dedup are"
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

/// Writes a stage from its books, in the order of these files, and dedup's pairs, which are sorted by their
/// ids. The stages before it must stand. Memory is for one batch.
///
/// # Errors
/// [`AssembleError`].
pub fn assemble(
    config: &Config,
    recipe: &'static Recipe,
    stage: &str,
    books: &[PathBuf],
    pairs: &[PathBuf],
) -> Result<Manifest, AssembleError> {
    let workspace = Workspace::new(&config.root);
    let (number, step) = recipe
        .step(stage)
        .filter(|(_, step)| step.stage.rows() == Rows::Posts)
        .ok_or_else(|| AssembleError::Stage { stage: stage.into() })?;
    let known = Known::new(config, recipe)?;
    let _lock = Lock::take(&workspace.recipe(recipe.name))?;
    durable::sweep(&workspace.recipe(recipe.name))?;
    salt::of(&workspace).map_err(RunError::from)?;
    let mut made: BTreeMap<&str, Manifest> = BTreeMap::new();
    for step in &recipe.steps[..number - 1] {
        made.insert(step.name, open(&workspace, recipe, step.name)?.manifest().clone());
    }
    let opening = known.opening(step, &made)?;
    let mut writer = StageWriter::<Post>::create(&workspace.stage(recipe.name, number, step.name))?;
    let mut items = Items { dumps: &known.dumps, counts: vec![0; known.dumps.len()], at: 0 };
    let mut entries = 0;
    for file in books {
        each_batch(file, |first, lines| {
            let read: Vec<Booked<Post>> = lines
                .par_iter()
                .enumerate()
                .map(|(i, line)| {
                    let line_number = first + i as u64;
                    Booked::read(line).map_err(|source| AssembleError::Line {
                        file: file.clone(),
                        line: line_number,
                        source,
                    })
                })
                .collect::<Result<_, _>>()?;
            entries += read.len() as u64;
            let mut batch = Batch::default();
            for booked in read {
                if step.stage == Stage::Import {
                    items.count(&booked.entry.id)?;
                }
                batch.take(booked);
            }
            writer.append(batch);
            Ok(writer.flush()?)
        })?;
    }
    complete(step, &made, entries)?;
    match step.stage {
        Stage::Import => items.write(&mut writer)?,
        Stage::Dedup => near_pairs(&mut writer, pairs)?,
        _ => {}
    }
    Ok(writer.commit(opening)?)
}

fn complete(step: &Step, made: &BTreeMap<&str, Manifest>, found: u64) -> Result<(), AssembleError> {
    for &input in step.inputs {
        let expected = made.get(input).map_or(0, |m| m.counts.records_out);
        if expected != found {
            return Err(AssembleError::Incomplete { input, expected, found });
        }
    }
    Ok(())
}

/// Entries by dump.
struct Items<'a> {
    dumps: &'a [Dump],
    counts: Vec<u64>,
    at: usize,
}

impl Items<'_> {
    fn count(&mut self, id: &str) -> Result<(), AssembleError> {
        let of = |dump: &Dump| id.starts_with(&dump.locator(""));
        if !self.dumps.get(self.at).is_some_and(of) {
            self.at = self.dumps.iter().position(of).ok_or_else(|| AssembleError::Stranger(id.into()))?;
        }
        self.counts[self.at] += 1;
        Ok(())
    }

    fn write(self, writer: &mut StageWriter<Post>) -> Result<(), AssembleError> {
        let mut table = writer.table::<FileRow>("files")?;
        self.dumps.iter().zip(self.counts).for_each(|(dump, items)| table.put(dump.row(items)));
        Ok(writer.keep(table)?)
    }
}

fn near_pairs(writer: &mut StageWriter<Post>, files: &[PathBuf]) -> Result<(), AssembleError> {
    let mut table = writer.table::<NearPair>("pairs")?;
    let mut last = (String::new(), String::new());
    for file in files {
        each_batch(file, |first, lines| {
            for (line, number) in lines.iter().zip(first..) {
                let wrong = |what: String| AssembleError::Pair { file: file.clone(), line: number, what };
                let pair: PairLine =
                    serde_json::from_slice(line).map_err(|e| wrong(format!("no pair: {e}")))?;
                let pair = near_pair(pair);
                let here = (pair.a.clone(), pair.b.clone());
                if here <= last {
                    return Err(wrong(format!("the pair of {} and {} is out of order", pair.a, pair.b)));
                }
                last = here;
                table.put(pair);
            }
            Ok(table.flush()?)
        })?;
    }
    Ok(writer.keep(table)?)
}

/// The lines of a file in batches, each with the number of its first line; blank ones are none.
fn each_batch(
    file: &Path,
    mut take: impl FnMut(u64, &[Vec<u8>]) -> Result<(), AssembleError>,
) -> Result<(), AssembleError> {
    let failed = |e| AssembleError::from(store::Error::io("read", file)(e));
    let mut reader = BufReader::with_capacity(1 << 20, open_dump(file).map_err(failed)?);
    let (mut batch, mut number) = (Vec::new(), 0u64);
    loop {
        let mut line = Vec::new();
        let read = reader.read_until(b'\n', &mut line).map_err(failed)?;
        if read > 0 {
            number += 1;
            batch.push(line);
        }
        if batch.len() == BATCH || (read == 0 && !batch.is_empty()) {
            take(number + 1 - batch.len() as u64, &batch)?;
            batch.clear();
        }
        if read == 0 {
            return Ok(());
        }
    }
}
