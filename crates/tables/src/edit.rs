//! Parts of stages that decide row by row: rows stay, change in a few columns, or are removed. An unchanged
//! column is neither decoded nor encoded.

use blake3::Hash;
use polars::prelude::*;
use rayon::prelude::*;

use super::batch::Tally;
use super::chunk_cache;
use super::chunks::{Chunk, Chunks};
use super::column::{ColumnBuilder, ColumnSlices};
use super::frame::{FrameColumns, RowChunks, Rows, pick_rows};
use super::ledger_record::{LedgerEntry, ledger_entry};
use super::part::Encoded;
use super::values::Scalar;
use riddlemill_files::par_map::SPLIT;
use riddlemill_record::{Column as Described, Entry, Outcome, Record, Typed};

/// The columns that a stage's function reads and those that it may change. The id never changes.
#[derive(Clone, Copy, Debug)]
pub struct ColumnAccess {
    /// Columns it reads; the others are empty in the rows that it gets.
    pub reads: &'static [&'static str],
    /// Columns it writes; the others are unchanged.
    pub writes: &'static [&'static str],
}

/// A part after the decisions, as two files: no rows if all are removed.
pub(super) struct Edited {
    pub(super) rows: Option<Encoded>,
    pub(super) ledger: Encoded,
    pub(super) tally: Tally,
    /// Number of records out of expanded ones: these have no place here, and the accounting does not close.
    pub(super) children: u64,
}

/// Decides on the rows of a part, whose file is given.
///
/// # Errors
/// [`PolarsError`] if the file is not of this layout.
pub(super) fn edit_part<R: Record>(
    columns: R::Columns,
    file: Vec<u8>,
    touched: ColumnAccess,
    decide: &(impl Fn(R) -> Outcome<R> + Sync),
) -> PolarsResult<Edited> {
    let before = Chunks::parse_file(file)?;
    let digests = before.stated_digests().filter(|stated| stated.len() == R::described(columns).len());
    let digests = digests.ok_or_else(|| polars_err!(ComputeError: "it states no digests of its columns"))?;
    let read =
        before.decode_columns(wanted_names(R::described(columns), |name| touched.reads.contains(&name)))?;
    let DecidedRows { keep, rows, ledger, tally, children } = decide_rows(columns, &read, touched, decide)?;
    let from = Before { chunks: &before, digests: &digests, read: &read };
    let (rows, ledger) =
        rayon::join(|| from.encode_rows(touched, &keep, &rows), || from.encode_ledger(&ledger));
    Ok(Edited { rows: rows?, ledger: ledger?, tally, children })
}

/// The decisions on some rows.
struct DecidedRows<R: Record> {
    /// For each row whether it is kept.
    keep: Vec<bool>,
    /// The columns that may have changed, of the kept rows.
    rows: RowChunks<R>,
    /// The ledger without the ids.
    ledger: RowChunks<Entry>,
    tally: Tally,
    children: u64,
}

fn decide_rows<R: Record>(
    columns: R::Columns,
    read: &DataFrame,
    touched: ColumnAccess,
    decide: &(impl Fn(R) -> Outcome<R> + Sync),
) -> PolarsResult<DecidedRows<R>> {
    let height = read.height();
    let size = height.div_ceil(rayon::current_num_threads().max(1)).max(SPLIT);
    let row_range = |first: usize| {
        let last = height.min(first + size);
        let mut records = Rows::<R>::new(columns, read)?;
        let writes = !touched.writes.is_empty();
        let mut rows = FrameColumns::<R>::with_wanted_columns(columns, last - first, |name| {
            touched.writes.contains(&name)
        });
        let mut ledger = FrameColumns::<Entry>::with_wanted_columns((), last - first, |name| {
            name != Entry::COLUMNS[0].name
        });
        let (mut keep, mut tally, mut children) = (Vec::with_capacity(last - first), Tally::default(), 0);
        let mut record = |recorded: &LedgerEntry<'_>, times| {
            if times > 0 {
                tally.add_records(recorded.state, recorded.reason, times as u64);
                ledger.append_cells(&recorded.cells, times);
            }
        };
        // Most rows pass unchanged: for consecutive ones the ledger repeats the same values.
        let mut kept_run = 0;
        for at in first..last {
            let outcome = decide(records.get(at));
            let row = match &outcome {
                Outcome::Kept(row) | Outcome::Changed { row, .. } => Some(row),
                Outcome::Expanded(several) => {
                    children += several.len() as u64;
                    None
                }
                _ => None,
            };
            keep.push(row.is_some());
            // A filter writes no column, so its rows need not be collected.
            row.iter().filter(|_| writes).for_each(|row| rows.append(row));
            if let Outcome::Kept(_) = outcome {
                kept_run += 1;
            } else {
                record(&LedgerEntry::KEPT, std::mem::take(&mut kept_run));
                // The ids are copied from the rows; giving the row's own id marks it as not renamed.
                record(&ledger_entry(row.map_or("", Record::id), &outcome), 1);
            }
        }
        record(&LedgerEntry::KEPT, kept_run);
        Ok(DecidedRows {
            keep,
            rows: RowChunks::from_block(rows),
            ledger: RowChunks::from_block(ledger),
            tally,
            children,
        })
    };
    let stretches: Vec<usize> = (0..height).step_by(size).collect();
    let stretches: Vec<_> = stretches.into_par_iter().map(row_range).collect::<PolarsResult<_>>()?;
    let mut stretches = stretches.into_iter();
    let Some(mut whole) = stretches.next() else { polars_bail!(ComputeError: "it has no rows") };
    for stretch in stretches {
        whole.keep.extend(stretch.keep);
        whole.rows.blocks.extend(stretch.rows.blocks);
        whole.ledger.blocks.extend(stretch.ledger.blocks);
        whole.tally.add(stretch.tally);
        whole.children += stretch.children;
    }
    Ok(whole)
}

/// A part before the decisions.
struct Before<'a> {
    chunks: &'a Chunks,
    digests: &'a [Hash],
    /// Its decoded columns.
    read: &'a DataFrame,
}

impl Before<'_> {
    fn encode_rows<R: Record>(
        &self,
        touched: ColumnAccess,
        keep: &[bool],
        written: &RowChunks<R>,
    ) -> PolarsResult<Option<Encoded>> {
        let described = R::described(written.of);
        let rows = keep.iter().filter(|keep| **keep).count();
        if rows == 0 {
            return Ok(None);
        }
        let all = rows == keep.len();
        let writes = |name: &str| touched.writes.contains(&name);
        // For a cached digest the single value of the column is known without decoding it.
        let same: Vec<Option<Scalar>> = self.digests.iter().map(chunk_cache::constant_of_digest).collect();
        let rest = match all {
            true => DataFrame::default(),
            false => {
                let named = described.iter().zip(&same);
                let rest = named.filter(|(c, same)| same.is_none() && !writes(c.name));
                let rest = rest.filter(|(c, _)| self.read.column(c.name).is_err());
                self.chunks.decode_columns(rest.map(|(c, _)| c.name.to_string()).collect())?
            }
        };
        let chunk = |(place, before): (usize, &Hash)| {
            let column = &described[place];
            let copied = || self.chunks.find_chunk(column.name, *before);
            let made;
            let new = match &same[place] {
                _ if writes(column.name) => written.column_at(place),
                _ if all => return copied(),
                Some(one) => {
                    made = ColumnBuilder::repeat_value(column.kind, one.clone(), rows);
                    ColumnSlices::from_column(&made)
                }
                None => {
                    let old = self.read.column(column.name).or_else(|_| rest.column(column.name))?;
                    made = pick_rows(old, column.kind, keep)?;
                    ColumnSlices::from_column(&made)
                }
            };
            // An unchanged column need not be encoded again.
            Chunk::encode_unless_known(column, &new, |digest| (all && digest == *before).then(copied))
        };
        let columns: Vec<(usize, &Hash)> = self.digests.iter().enumerate().collect();
        let columns = columns.into_par_iter().map(chunk);
        Encoded::new(described, rows, columns.collect::<PolarsResult<_>>()?).map(Some)
    }

    /// The ledger's ids are those of the rows.
    fn encode_ledger(&self, recorded: &RowChunks<Entry>) -> PolarsResult<Encoded> {
        let chunk = |place: usize| match place {
            0 => self.chunks.find_chunk(Entry::COLUMNS[0].name, self.digests[0]),
            _ => Chunk::cached_or_encoded(&Entry::COLUMNS[place], &recorded.column_at(place)),
        };
        let columns = (0..Entry::COLUMNS.len()).into_par_iter().map(chunk);
        Encoded::new(Entry::COLUMNS, recorded.count_rows(), columns.collect::<PolarsResult<_>>()?)
    }
}

/// The names of the wanted columns of a record.
fn wanted_names(columns: &[Described], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    columns.iter().filter(|c| wanted(c.name)).map(|c| c.name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::expected_manifest;
    use crate::{CommitError, Error, Manifest, StageReader, StageWriter};
    use riddlemill_record::{Post, Reason};
    use std::collections::BTreeMap;
    use std::path::Path;

    fn manifest(stage: &str) -> Manifest {
        expected_manifest("test", stage, 1, BTreeMap::new(), Vec::new(), BTreeMap::new())
    }

    fn posts() -> Vec<Post> {
        let post = |n: u64| Post {
            id: format!("t:{n}"),
            text: "云会恐高吗".repeat(n as usize % 3 + 1),
            mentions: n.is_multiple_of(2).then(|| "某人".to_string()).into_iter().collect(),
            score: n.is_multiple_of(5).then_some(n as f64),
            position: n,
            ..Post::default()
        };
        (0..3000).map(post).collect()
    }

    /// A stage of these posts, and the stage that `decide` makes from it by columns.
    fn edited(
        folder: &Path,
        touched: ColumnAccess,
        decide: impl Fn(Post) -> Outcome<Post> + Sync,
    ) -> Result<StageReader, CommitError> {
        let mut writer = StageWriter::create(&folder.join("before")).unwrap();
        posts().into_iter().for_each(|post| writer.append(&post.id.clone(), &Outcome::Kept(post)));
        writer.commit(manifest("before")).unwrap();
        let before = StageReader::open(&folder.join("before")).unwrap().unwrap();
        let mut writer = StageWriter::create(&folder.join("after")).unwrap();
        writer.edit_rows(&before, touched, decide, |_| Ok::<(), Error>(())).unwrap();
        writer.commit(manifest("after"))?;
        Ok(StageReader::open(&folder.join("after")).unwrap().unwrap())
    }

    const TEXT: ColumnAccess = ColumnAccess { reads: &["id", "text"], writes: &["text"] };

    /// Written and copied columns may be equal: every title and every author is null.
    const TITLED: ColumnAccess = ColumnAccess { reads: &["id", "text", "title"], writes: &["text", "title"] };

    #[test]
    fn what_is_not_touched_passes_and_the_bytes_are_those_of_whole_rows() {
        let shorten = |mut post: Post| {
            let before = post.text.clone();
            if post.id.ends_with('7') {
                return Outcome::Dropped { reason: Reason::TooShort, evidence: "7".into() };
            }
            post.text.truncate("云会恐高吗".len());
            if post.text == before {
                return Outcome::Kept(post);
            }
            let after = post.text.clone();
            Outcome::Changed { row: post, rule: "bar", evidence: "bar".into(), before, after }
        };
        for (touched, decide) in [
            (TEXT, &shorten as &(dyn Fn(Post) -> Outcome<Post> + Sync)),
            (TEXT, &Outcome::Kept),
            (TITLED, &shorten),
            (TITLED, &Outcome::Kept),
            (ColumnAccess { reads: &[], writes: &[] }, &Outcome::Kept),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let by_columns = edited(folder.path(), touched, decide).unwrap();
            let mut writer = StageWriter::create(&folder.path().join("rows")).unwrap();
            posts().into_iter().for_each(|post| writer.append(&post.id.clone(), &decide(post)));
            let by_rows = writer.commit(manifest("after")).unwrap();
            assert_eq!(by_columns.manifest(), &by_rows);
            let rows: Vec<Post> = by_columns.read_table("rows").unwrap();
            assert!(rows.iter().all(|row| row.position.to_string() == row.id[2..]));
        }
    }

    #[test]
    fn a_part_of_which_nothing_is_left_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let gone = |_| Outcome::Dropped { reason: Reason::TooShort, evidence: String::new() };
        let after = edited(folder.path(), TEXT, gone).unwrap();
        assert_eq!((after.table("rows").parts.len(), after.table("ledger").rows), (0, 3000));
        assert_eq!(after.manifest().counts.states["dropped"], 3000);
    }

    #[test]
    fn a_record_that_becomes_several_does_not_pass() {
        let folder = tempfile::tempdir().unwrap();
        let twice = |post: Post| Outcome::Expanded(vec![(post.clone(), "post"), (post, "post")]);
        assert!(matches!(edited(folder.path(), TEXT, twice), Err(CommitError::Unbalanced { .. })));
    }
}
