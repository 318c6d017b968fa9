//! Second and third pass: distinct texts and their statistics; then records in the order of size.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::DiskError;
use super::sorter::{Sorter, Writer};
use super::spread::{Part, PartWriter, rows};
use crate::join::Metric;
use crate::join::stats::{Order, Stats};

/// Rows that read alike, by the first of them; rows without a copy are not in it.
pub(super) type Copies = FxHashMap<u32, Vec<u32>>;

/// Parts of distinct texts, the copies, and the statistics of the distinct texts.
pub(super) fn distinct(parts: Vec<Part>, metric: Metric) -> Result<(Vec<Part>, Copies, Stats), DiskError> {
    let done: Vec<(Part, Copies, Stats)> =
        parts.into_par_iter().map(|part| distinct_part(part, metric)).collect::<Result<_, _>>()?;
    let (mut parts, mut copies, mut stats) = (Vec::new(), Copies::default(), Stats::new(metric));
    for (part, more, counted) in done {
        parts.push(part);
        copies.extend(more);
        stats = stats.merge(counted);
    }
    Ok((parts, copies, stats))
}

fn distinct_part(part: Part, metric: Metric) -> Result<(Part, Copies, Stats), DiskError> {
    let bytes = part.read()?;
    let mut first: FxHashMap<&str, u32> = FxHashMap::default();
    let (mut copies, mut stats) = (Copies::default(), Stats::new(metric));
    let mut out = PartWriter::create(part.path().with_extension("distinct"))?;
    for (n, text) in rows(&bytes) {
        match first.get(text) {
            Some(&first) => copies.entry(first).or_insert_with(|| vec![first]).push(n),
            None => {
                first.insert(text, n);
                stats.add(text);
                out.put(n, text)?;
            }
        }
    }
    let out = out.finish()?;
    drop(first);
    part.remove()?;
    Ok((out, copies, stats))
}

/// A file of records in rising order of size, each as its size, its row and its symbols.
pub(super) fn records(
    parts: Vec<Part>,
    order: &Order,
    folder: &Path,
    sort: usize,
) -> Result<PathBuf, DiskError> {
    let mut sorter = Sorter::new(folder, "spelled", sort);
    let (mut scratch, mut symbols, mut record) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        for (n, text) in rows(&part.read()?) {
            symbols.clear();
            order.spell(text, &mut scratch, &mut symbols);
            record.clear();
            record.extend([order.size(&symbols), n]);
            record.extend_from_slice(&symbols);
            sorter.push(&record)?;
        }
        part.remove()?;
    }
    let runs = sorter.finish()?;
    let path = folder.join("records");
    let mut out = Writer::create(&path)?;
    let mut merge = runs.read()?;
    while merge.next(&mut record)? {
        out.put(&record)?;
    }
    out.finish()?;
    runs.remove()?;
    Ok(path)
}
