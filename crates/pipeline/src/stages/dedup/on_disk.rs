//! Dedup of loose rows that do not fit in memory: the lines are stored in a temporary folder, the join
//! works on disk, and only a few dozen bytes of each row are in memory.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use positioned_io::ReadAt;
use rayon::prelude::*;
use serde_json::Value;

use crate::config::sections;
use crate::stages::apply::{RowObject, id_of, loose_post, row_after_dedup, row_of, unreadable_row};
use riddlemill_record::Language;
use riddlemill_text::join::{DiskError, Spill, Unwatched, Working};
use riddlemill_text::offline::dedup::{
    Gone, Standing, gone_on_disk, heads_of_groups, merged_post, rank_records, same_rows_on_disk,
    similar_pairs_on_disk, standing_of_post, tagged_text,
};

/// Rows that are parsed or decided together.
const BATCH: usize = 1 << 13;

/// Why dedup on disk ended.
#[derive(Debug, thiserror::Error)]
pub enum OnDiskError {
    /// The join's files.
    #[error(transparent)]
    Join(#[from] DiskError),
    /// The file that lines wait in.
    #[error("cannot keep rows in `{0}`: {1}")]
    Lines(String, io::Error),
    /// Whoever takes the rows or pairs.
    #[error("cannot write a row: {0}")]
    Put(io::Error),
}

/// The rows written.
pub trait Output {
    /// A pair at or over the threshold: the ids as given, the earlier row's first.
    ///
    /// # Errors
    /// The system's error.
    fn write_pair(&mut self, a: &Value, b: &Value, score: f64) -> io::Result<()>;

    /// A row with its decision, in the order of the input.
    ///
    /// # Errors
    /// The system's error.
    fn write_row(&mut self, row: &RowObject) -> io::Result<()>;
}

/// Removes duplicates among the rows of these lines, each with its number, as
/// [`apply_dedup`](crate::stages::apply::apply_dedup) does, with its working files in a new folder under
/// `folder`. The caller decides whether pairs are needed: they are produced one by one. Returns how many
/// lines are not rows.
///
/// # Errors
/// [`OnDiskError`] where a file cannot be written or read.
pub fn apply_on_disk(
    lines: impl Iterator<Item = (u64, Vec<u8>)>,
    settings: &sections::Dedup,
    folder: &Path,
    memory: usize,
    pairs: bool,
    out: &mut impl Output,
) -> Result<usize, OnDiskError> {
    let temporary = Working::new(folder, ".rows-")?;
    let path = temporary.path().join("lines");
    let failed = |e| OnDiskError::Lines(path.display().to_string(), e);
    let mut kept = Keeping::create(&path, settings.language).map_err(failed)?;
    let mut error = None;
    // After a short last batch the iterator is asked once more.
    let mut lines = lines.fuse();
    let texts = std::iter::from_fn(|| {
        let batch: Vec<(u64, Vec<u8>)> = lines.by_ref().take(BATCH).collect();
        let texts = kept.store_lines(&batch).map_err(|e| error = Some(e)).ok()?;
        Some(texts).filter(|texts| !texts.is_empty())
    });
    let spill = Spill { folder, memory, texts: 0 };
    let found = similar_pairs_on_disk(texts.flatten(), settings, spill, &Unwatched);
    // A failed write ends the texts early, which the join takes for their end: its result is incomplete.
    if let Some(error) = error {
        return Err(failed(error));
    }
    let (groups, similar_pairs) = found?;
    let (rows, standings) = kept.finish().map_err(failed)?;
    let ranks = rank_records(&standings, settings.keep, |row| row);
    // Only a few dozen bytes of each row may stay in memory, so this is freed before the next step.
    drop(standings);
    let gone = gone_on_disk(&groups, &heads_of_groups(&groups, &ranks), &ranks, &similar_pairs, &Unwatched)?;
    drop(ranks);
    let each = rows.count_rows();
    for start in (0..each).step_by(BATCH) {
        let batch: Vec<u32> = (start..each.min(start + BATCH as u32)).collect();
        let decided: Vec<io::Result<RowObject>> =
            batch.into_par_iter().map(|row| decide_row(&rows, row, gone[row as usize])).collect();
        for row in decided {
            out.write_row(&row.map_err(failed)?).map_err(OnDiskError::Put)?;
        }
    }
    if pairs {
        drop(gone);
        let mut alike = same_rows_on_disk(&groups, &similar_pairs, &Unwatched)?;
        loop {
            let batch: Vec<RowPair> = alike.by_ref().take(BATCH).collect::<Result<_, _>>()?;
            if batch.is_empty() {
                break;
            }
            // The first id of all pairs of a row is read from the disk once.
            let of_rows = batch.par_chunk_by(|x, y| x.0 == y.0).map(|pairs| name_pairs(&rows, pairs));
            for of_row in of_rows.collect::<Vec<_>>() {
                for (a, b, score) in of_row.map_err(failed)? {
                    out.write_pair(&a, &b, score).map_err(OnDiskError::Put)?;
                }
            }
        }
    }
    Ok(rows.bad.len())
}

/// Two rows by number, and how like they are.
type RowPair = (u32, u32, f64);

/// Pairs of one row, with the ids that were given.
fn name_pairs(rows: &SpooledRows, pairs: &[RowPair]) -> io::Result<Vec<(Value, Value, f64)>> {
    let Some((a, ..)) = pairs.first() else { return Ok(Vec::new()) };
    let a = rows.read_id(*a)?;
    pairs.iter().map(|(_, b, score)| Ok((a.clone(), rows.read_id(*b)?, *score))).collect()
}

fn decide_row(rows: &SpooledRows, row: u32, goes: Gone) -> io::Result<RowObject> {
    let (number, found) = rows.read_line(row)?;
    let own = match row_of(&found) {
        Ok(own) => own,
        Err(error) => return Ok(unreadable_row(number, &error.to_string())),
    };
    let place = rows.place_of_row(row);
    let id = id_of(&own, place);
    let Some((into, keeper)) = goes else { return Ok(row_after_dedup(own, id, None)) };
    let (other, into_place) = (rows.read_row(into as u32)?, rows.place_of_row(into as u32));
    let outcome = merged_post(&loose_post(&own, place), &loose_post(&other, into_place), keeper);
    Ok(row_after_dedup(own, id, Some((id_of(&other, into_place), outcome))))
}

/// Lines on their way to the file.
struct Keeping {
    out: BufWriter<File>,
    /// Where each line begins, and the next one.
    offsets: Vec<u64>,
    standings: Vec<Standing>,
    bad: Vec<u32>,
    /// The language of rows that state none.
    stated: Option<Language>,
}

impl Keeping {
    fn create(path: &Path, stated: Option<Language>) -> io::Result<Keeping> {
        let file = File::options().create_new(true).read(true).write(true).open(path)?;
        let out = BufWriter::with_capacity(1 << 20, file);
        Ok(Keeping { out, offsets: vec![0], standings: Vec::new(), bad: Vec::new(), stated })
    }

    /// Stores lines and returns their texts with their languages, empty for those that are not rows.
    fn store_lines(&mut self, lines: &[(u64, Vec<u8>)]) -> io::Result<Vec<String>> {
        let read: Vec<Option<(String, Standing)>> = lines
            .par_iter()
            .map(|(_, line)| {
                let post = loose_post(&row_of(line).ok()?, 0);
                let standing = standing_of_post(&post);
                Some((tagged_text(&post, self.stated).into_owned(), standing))
            })
            .collect();
        let mut texts = Vec::with_capacity(read.len());
        for ((number, line), read) in lines.iter().zip(read) {
            self.out.write_all(&number.to_le_bytes())?;
            self.out.write_all(line)?;
            let start = self.offsets.last().copied().unwrap_or_default();
            self.offsets.push(start + (size_of_val(number) + line.len()) as u64);
            if read.is_none() {
                self.bad.push(self.standings.len() as u32);
            }
            // A line that is not a row keeps its place, so that numbers of lines and of rows agree.
            let (text, standing) = read.unwrap_or((
                String::new(),
                Standing { published: false, shouts: false, chars: 0, score: None, time: None },
            ));
            texts.push(text);
            self.standings.push(standing);
        }
        Ok(texts)
    }

    fn finish(self) -> io::Result<(SpooledRows, Vec<Standing>)> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((SpooledRows { file, offsets: self.offsets, bad: self.bad }, self.standings))
    }
}

/// Lines by row.
struct SpooledRows {
    file: File,
    /// Where each line begins and the last one ends.
    offsets: Vec<u64>,
    /// Lines that are not rows, ascending.
    bad: Vec<u32>,
}

impl SpooledRows {
    /// A row's place among the rows, without lines that are none.
    fn place_of_row(&self, row: u32) -> usize {
        row as usize - self.bad.partition_point(|bad| *bad < row)
    }

    fn count_rows(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// A line and its number in the input.
    fn read_line(&self, row: u32) -> io::Result<(u64, Vec<u8>)> {
        let (start, end) = (self.offsets[row as usize], self.offsets[row as usize + 1]);
        let mut number = [0; 8];
        let mut line = vec![0; (end - start) as usize];
        self.file.read_exact_at(start, &mut line)?;
        number.copy_from_slice(&line[..8]);
        line.drain(..8);
        Ok((u64::from_le_bytes(number), line))
    }

    fn read_row(&self, row: u32) -> io::Result<RowObject> {
        row_of(&self.read_line(row)?.1).map_err(io::Error::other)
    }

    fn read_id(&self, row: u32) -> io::Result<Value> {
        Ok(id_of(&self.read_row(row)?, self.place_of_row(row)))
    }
}
