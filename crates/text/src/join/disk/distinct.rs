//! Second and third pass: distinct texts and their statistics; then records in the order of size.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::DiskError;
use super::sorter::{Sorter, Writer};
use super::spread::{PartWriter, RowPart, rows_of_part};
use crate::join::Metric;
use crate::join::stats::{Order, Stats};
use crate::join::watch;

/// Rows that read alike, by the first of them; rows without a copy are not in it.
pub(super) type Copies = FxHashMap<u32, Vec<u32>>;

/// Parts of distinct texts, the copies, and the statistics of the rows.
pub(super) fn separate_copies(
    parts: Vec<RowPart>,
    metric: Metric,
    waiting: watch::WorkPart<'_>,
) -> Result<(Vec<RowPart>, Copies, Stats), DiskError> {
    let items = waiting.over_items(parts.len());
    let nothing = || (Vec::new(), Copies::default(), Stats::new(metric));
    // Merged as they come: statistics of all parts at once would take as much memory as a block.
    parts
        .into_par_iter()
        .map(|part| {
            if !items.begin_items(1) {
                return Err(DiskError::Stopped);
            }
            let (part, copies, stats) = distinct_part(part, metric)?;
            Ok((vec![part], copies, stats))
        })
        .try_reduce(nothing, |(mut parts, mut copies, stats), (more, further, counted)| {
            parts.extend(more);
            copies.extend(further);
            Ok((parts, copies, stats.merge(counted)))
        })
}

fn distinct_part(part: RowPart, metric: Metric) -> Result<(RowPart, Copies, Stats), DiskError> {
    let bytes = part.read_bytes()?;
    let mut first: FxHashMap<&str, u32> = FxHashMap::default();
    let (mut copies, mut stats) = (Copies::default(), Stats::new(metric));
    let mut out = PartWriter::create(part.path().with_extension("distinct"))?;
    for (n, text) in rows_of_part(&bytes) {
        // Copies are counted, too: how many rows hold a token is a question about rows.
        stats.add(text);
        match first.get(text) {
            Some(&first) => copies.entry(first).or_insert_with(|| vec![first]).push(n),
            None => {
                first.insert(text, n);
                out.push(n, text)?;
            }
        }
    }
    let out = out.finish()?;
    drop(first);
    part.remove_file()?;
    Ok((out, copies, stats))
}

/// Rows that are spelled at once.
const CHUNK: usize = 1 << 14;

/// A file of records in rising order of size, each as its size, its row and its symbols; and how many there are.
pub(super) fn write_records(
    parts: Vec<RowPart>,
    order: &Order,
    folder: &Path,
    sort: usize,
    waiting: watch::WorkPart<'_>,
) -> Result<(PathBuf, usize), DiskError> {
    let mut sorter = Sorter::new(folder, "spelled", sort);
    let (items, mut count) = (waiting.over_items(parts.len()), 0);
    for part in parts {
        if !items.begin_items(1) {
            return Err(DiskError::Stopped);
        }
        let bytes = part.read_bytes()?;
        let rows: Vec<(u32, &str)> = rows_of_part(&bytes).collect();
        for chunk in rows.chunks(CHUNK) {
            let spelled: Vec<Vec<u32>> = chunk
                .par_iter()
                .map_init(Vec::new, |scratch, (n, text)| {
                    let mut record = vec![0, *n];
                    order.spell_text(text, scratch, &mut record);
                    record[0] = order.size_of_symbols(&record[2..]);
                    record
                })
                .collect();
            spelled.iter().try_for_each(|record| sorter.push(record))?;
        }
        count += rows.len();
        part.remove_file()?;
    }
    let runs = sorter.finish()?;
    let path = folder.join("records");
    let (mut out, mut record) = (Writer::create(&path)?, Vec::new());
    let mut merge = runs.merge_runs()?;
    for n in 0.. {
        if !merge.next(&mut record)? {
            break;
        }
        if n % CHUNK == 0 {
            DiskError::unless_stopped(waiting)?;
        }
        out.push(&record)?;
    }
    out.finish()?;
    runs.remove_files()?;
    Ok((path, count))
}
