//! Dedup of loose rows that do not fit in memory: the lines wait in a temporary folder, the join is the one
//! on disk, and what is held of each row is a few dozen bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use positioned_io::ReadAt;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::config::sections;
use crate::stages::apply::{Row, deduped, id_of, loose_post, row_of, unreadable};
use riddlemill_text::join::{DiskError, DiskJoined, Likeness, LineSorter, Pair, Working, disk_join, resolve};
use riddlemill_text::offline::dedup::{Keeper, Standing, decimal, merged, name, query, ranks, standing};
use riddlemill_text::text::normalise::{Fold, fold};

/// Rows that are parsed or decided together.
const BATCH: usize = 1 << 13;

/// Bytes of pairs that are sorted at once.
const SORTED: usize = 256 << 20;

/// Why dedup on disk ended.
#[derive(Debug, thiserror::Error)]
pub enum OnDiskError {
    /// The default similarity is a union of joins.
    #[error("the default similarity is joined in memory; name a metric: --metric indel --threshold 0.8")]
    NoMetric,
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

/// What goes out.
pub trait Output {
    /// A pair at or over the threshold: the ids as given, the earlier row's first.
    ///
    /// # Errors
    /// What the system says.
    fn pair(&mut self, a: &Value, b: &Value, score: f64) -> io::Result<()>;

    /// A row with its decision, in the order of the input.
    ///
    /// # Errors
    /// What the system says.
    fn row(&mut self, row: &Row) -> io::Result<()>;
}

/// Removes duplicates among the rows of these lines, each with its number, as
/// [`apply_dedup`](crate::stages::apply::apply_dedup) does, with its working files in a new folder under
/// `folder`. Whether pairs are wanted is the caller's to say: they are made one by one. Returns how many
/// lines are no rows.
///
/// # Errors
/// [`OnDiskError`] where a file cannot be written or read, or the settings name no metric.
pub fn apply_on_disk(
    lines: impl Iterator<Item = (u64, Vec<u8>)>,
    settings: &sections::Dedup,
    folder: &Path,
    memory: usize,
    pairs: bool,
    out: &mut impl Output,
) -> Result<usize, OnDiskError> {
    let query = query(settings).ok_or(OnDiskError::NoMetric)?;
    let temporary = Working::new(folder, ".rows-")?;
    let path = temporary.path().join("lines");
    let failed = |e| OnDiskError::Lines(path.display().to_string(), e);
    let mut kept = Keeping::create(&path).map_err(failed)?;
    let mut error = None;
    let mut lines = lines.fuse();
    let texts = std::iter::from_fn(|| {
        let batch: Vec<(u64, Vec<u8>)> = lines.by_ref().take(BATCH).collect();
        let kept = kept.keep(&batch, settings.normalize);
        let texts = kept.map_err(|e| error = Some(e)).ok()?;
        Some(texts).filter(|texts| !texts.is_empty())
    });
    let joined = disk_join(texts.flatten(), &query, folder, memory)?;
    if let Some(error) = error {
        return Err(failed(error));
    }
    let (rows, standings) = kept.finish().map_err(failed)?;
    let ranks = ranks(&standings, &settings.keep, |row| row);
    drop(standings);
    let gone = Gone::decide(&joined, &ranks, settings, folder)?;
    drop(ranks);
    let each = rows.count();
    for start in (0..each).step_by(BATCH) {
        let batch: Vec<u32> = (start..each.min(start + BATCH as u32)).collect();
        let decided: Vec<io::Result<Row>> =
            batch.into_par_iter().map(|row| decided(&rows, &gone, row, name(query.metric))).collect();
        for row in decided {
            out.row(&row.map_err(failed)?).map_err(OnDiskError::Put)?;
        }
    }
    if pairs {
        let mut joined = joined.pairs()?;
        loop {
            let batch = joined.by_ref().take(BATCH).collect::<Result<Vec<Pair>, _>>()?;
            if batch.is_empty() {
                break;
            }
            let of_rows = batch.par_chunk_by(|x, y| x.a == y.a).map(|pairs| named(&rows, pairs));
            for of_row in of_rows.collect::<Vec<_>>() {
                for (a, b, score) in of_row.map_err(failed)? {
                    out.pair(&a, &b, score).map_err(OnDiskError::Put)?;
                }
            }
        }
    }
    Ok(rows.bad.len())
}

/// Pairs of one row, with the ids that were given.
fn named(rows: &Kept, pairs: &[Pair]) -> io::Result<Vec<(Value, Value, f64)>> {
    let Some(Pair { a, .. }) = pairs.first() else { return Ok(Vec::new()) };
    let a = rows.id(*a)?;
    pairs.iter().map(|pair| Ok((a.clone(), rows.id(pair.b)?, pair.score.value()))).collect()
}

fn decided(rows: &Kept, gone: &Gone, row: u32, predicate: &'static str) -> io::Result<Row> {
    let (number, found) = rows.line(row)?;
    let own = match row_of(&found) {
        Ok(own) => own,
        Err(error) => return Ok(unreadable(number, &error.to_string())),
    };
    let place = rows.place(row);
    let id = id_of(&own, place);
    let Some(&(into, score)) = gone.rows.get(&row) else { return Ok(deduped(own, id, None)) };
    let (other, into_place) = (rows.row(into)?, rows.place(into));
    let keeper = score.map(|score| Keeper { into, score, predicate });
    let outcome = merged(&loose_post(&own, place), &loose_post(&other, into_place), keeper);
    Ok(deduped(own, id, Some((id_of(&other, into_place), outcome))))
}

/// Rows that go, with the row they go into and how like it is; without a score it reads the same.
struct Gone {
    rows: FxHashMap<u32, (u32, Option<f64>)>,
}

impl Gone {
    fn decide(
        joined: &DiskJoined,
        ranks: &[u32],
        settings: &sections::Dedup,
        folder: &Path,
    ) -> Result<Gone, OnDiskError> {
        let rank = |row: u32| ranks[row as usize];
        // Of rows that read alike, the one that would be kept.
        let heads: FxHashMap<u32, u32> = joined
            .copies()
            .iter()
            .map(|(&first, rows)| (first, rows.iter().copied().min_by_key(|row| rank(*row)).unwrap_or(first)))
            .collect();
        let head = |first: u32| heads.get(&first).copied().unwrap_or(first);
        let same = decimal(settings.threshold);
        let mut similar_pairs = LineSorter::new(folder, "likes", SORTED)?;
        for pair in joined.distinct_pairs()? {
            let pair = pair?;
            if same.admits(pair.score) {
                let (x, y) =
                    if rank(head(pair.a)) < rank(head(pair.b)) { (pair.a, pair.b) } else { (pair.b, pair.a) };
                let (into, from) = (rank(head(x)), rank(head(y)));
                similar_pairs.push(&packed(Likeness {
                    into,
                    from,
                    score: pair.score.value(),
                    with: (y, head(x)),
                }))?;
            }
        }
        let (mut sorted, mut error) = (similar_pairs.finish()?, None);
        let similar_pairs =
            std::iter::from_fn(|| sorted.next().map_err(|e| error = Some(e)).ok()?.and_then(unpacked));
        let mut rows = FxHashMap::default();
        for Likeness { score, with: (first, into), .. } in resolve(similar_pairs) {
            let alone = [first];
            let copies = joined.copies().get(&first).map_or(&alone[..], Vec::as_slice);
            rows.extend(copies.iter().map(|&row| (row, (into, Some(score)))));
        }
        for (&first, copies) in joined.copies() {
            let into = head(first);
            for &row in copies.iter().filter(|row| **row != into) {
                rows.entry(row).or_insert((into, None));
            }
        }
        error.map_or(Ok(Gone { rows }), |error| Err(error.into()))
    }
}

/// A pair by rank, its score, and of the row that goes the first of its text, of the other its head.
type Ranked = Likeness<(u32, u32)>;

/// A pair as bytes that sort by `from`, then `into`. The last is no 0.
fn packed(like: Ranked) -> [u8; 25] {
    let mut bytes = [1; 25];
    bytes[..4].copy_from_slice(&like.from.to_be_bytes());
    bytes[4..8].copy_from_slice(&like.into.to_be_bytes());
    bytes[8..16].copy_from_slice(&like.score.to_bits().to_be_bytes());
    bytes[16..20].copy_from_slice(&like.with.0.to_be_bytes());
    bytes[20..24].copy_from_slice(&like.with.1.to_be_bytes());
    bytes
}

fn unpacked(bytes: Vec<u8>) -> Option<Ranked> {
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let score = f64::from_bits(u64::from(word(8)?) << 32 | u64::from(word(12)?));
    Some(Likeness { from: word(0)?, into: word(4)?, score, with: (word(16)?, word(20)?) })
}

/// Lines on their way to the file.
struct Keeping {
    out: BufWriter<File>,
    /// Where each line begins, and the next one.
    offsets: Vec<u64>,
    standings: Vec<Standing>,
    bad: Vec<u32>,
}

impl Keeping {
    fn create(path: &Path) -> io::Result<Keeping> {
        let file = File::options().create_new(true).read(true).write(true).open(path)?;
        let out = BufWriter::with_capacity(1 << 20, file);
        Ok(Keeping { out, offsets: vec![0], standings: Vec::new(), bad: Vec::new() })
    }

    /// Writes lines away and gives their texts back, empty for those that are no rows.
    fn keep(&mut self, lines: &[(u64, Vec<u8>)], normalize: bool) -> io::Result<Vec<String>> {
        let read: Vec<Option<(String, Standing)>> = lines
            .par_iter()
            .map(|(_, line)| {
                let post = loose_post(&row_of(line).ok()?, 0);
                let standing = standing(&post);
                Some((if normalize { fold(&post.text, Fold::KEY) } else { post.text }, standing))
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
            let (text, standing) = read.unwrap_or((
                String::new(),
                Standing { published: false, shouts: false, chars: 0, score: None, time: None },
            ));
            texts.push(text);
            self.standings.push(standing);
        }
        Ok(texts)
    }

    fn finish(self) -> io::Result<(Kept, Vec<Standing>)> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((Kept { file, offsets: self.offsets, bad: self.bad }, self.standings))
    }
}

/// Lines by row.
struct Kept {
    file: File,
    /// Where each line begins and the last one ends.
    offsets: Vec<u64>,
    /// Lines that are no rows, ascending.
    bad: Vec<u32>,
}

impl Kept {
    /// A row's place among the rows, without lines that are none.
    fn place(&self, row: u32) -> usize {
        row as usize - self.bad.partition_point(|bad| *bad < row)
    }

    fn count(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// A line and its number in the input.
    fn line(&self, row: u32) -> io::Result<(u64, Vec<u8>)> {
        let (start, end) = (self.offsets[row as usize], self.offsets[row as usize + 1]);
        let mut number = [0; 8];
        let mut line = vec![0; (end - start) as usize];
        self.file.read_exact_at(start, &mut line)?;
        number.copy_from_slice(&line[..8]);
        line.drain(..8);
        Ok((u64::from_le_bytes(number), line))
    }

    fn row(&self, row: u32) -> io::Result<Row> {
        row_of(&self.line(row)?.1).map_err(io::Error::other)
    }

    fn id(&self, row: u32) -> io::Result<Value> {
        Ok(id_of(&self.row(row)?, self.place(row)))
    }
}
