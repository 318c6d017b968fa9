//! A few bytes a record: what became of it, and where its text stands.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use polars::prelude::{Column, DataFrame};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::frames::{Frames, TEXT, texts};
use crate::store::{Error, StageReader, part_columns};

/// No such row.
pub(super) const NONE: u32 = u32::MAX;

/// What is kept of a stage's ledger.
pub(super) struct Index {
    /// Every pair of state and reason that occurs.
    pub(super) kinds: Vec<(String, Option<String>)>,
    /// The pair of each record, as a place in `kinds`.
    pub(super) kind: Vec<u16>,
    /// Each record's row among those that entered, all inputs one after the other.
    pub(super) entered: Vec<u32>,
    /// Each record's row among those that left.
    pub(super) left: Vec<u32>,
    /// Characters of each record's text, as it entered if it did; counted when somebody first asks.
    pub(super) chars: OnceLock<Arc<Vec<u32>>>,
    /// The score of each record; read when somebody first asks.
    pub(super) scores: OnceLock<Arc<Vec<f32>>>,
    /// The hash of each record's id with its place, sorted; made when somebody first asks.
    pub(super) by_id: OnceLock<Arc<Vec<(u64, u32)>>>,
}

struct Ledger {
    kinds: BTreeMap<(String, Option<String>), u16>,
    kind: Vec<u16>,
    ids: Vec<u64>,
    out: Vec<u64>,
}

impl Index {
    pub(super) fn build(stage: &StageReader, inputs: &[StageReader]) -> Result<Index, Error> {
        let ledger = ledger(stage)?;
        let mut before = Vec::new();
        for input in inputs {
            before.append(&mut ids(input, "rows")?);
        }
        let after = ids(stage, "rows")?;
        let mut kinds = vec![(String::new(), None); ledger.kinds.len()];
        for (kind, at) in ledger.kinds {
            kinds[usize::from(at)] = kind;
        }
        Ok(Index {
            kinds,
            kind: ledger.kind,
            entered: align(&ledger.ids, &before),
            left: align(&ledger.out, &after),
            chars: OnceLock::new(),
            scores: OnceLock::new(),
            by_id: OnceLock::new(),
        })
    }

    /// How many bytes it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.kind.len() * (2 + 4 + 4 + 4 + 4 + 16)
    }
}

fn ledger(stage: &StageReader) -> Result<Ledger, Error> {
    let parts = stage.table("ledger").parts.len();
    let frames: Vec<Result<_, Error>> = (0..parts)
        .into_par_iter()
        .map(|part| {
            read_ledger(&part_columns(stage, "ledger", part, &["id", "outcome", "reason", "into"])?, stage)
        })
        .collect();
    let mut whole = Ledger { kinds: BTreeMap::new(), kind: Vec::new(), ids: Vec::new(), out: Vec::new() };
    for part in frames {
        let mut part = part?;
        let mut places = vec![0; part.kinds.len()];
        for (kind, at) in part.kinds {
            let next = whole.kinds.len() as u16;
            places[usize::from(at)] = *whole.kinds.entry(kind).or_insert(next);
        }
        whole.kind.extend(part.kind.iter().map(|at| places[usize::from(*at)]));
        whole.ids.append(&mut part.ids);
        whole.out.append(&mut part.out);
    }
    Ok(whole)
}

fn read_ledger(frame: &DataFrame, stage: &StageReader) -> Result<Ledger, Error> {
    let damaged = |e: polars::prelude::PolarsError| Error::stale_file(&stage.place().join("ledger"), e);
    let column = |name: &str| frame.column(name).and_then(Column::str).map_err(damaged);
    let (id, outcome, reason, into) = (column("id")?, column("outcome")?, column("reason")?, column("into")?);
    let mut kinds: FxHashMap<(&str, Option<&str>), u16> = FxHashMap::default();
    let mut ledger = Ledger { kinds: BTreeMap::new(), kind: Vec::new(), ids: Vec::new(), out: Vec::new() };
    for row in 0..frame.height() {
        let (outcome, id) = (outcome.get(row).unwrap_or_default(), id.get(row).unwrap_or_default());
        let next = kinds.len() as u16;
        ledger.kind.push(*kinds.entry((outcome, reason.get(row))).or_insert(next));
        ledger.ids.push(named(id));
        ledger.out.push(match outcome {
            "kept" | "changed" => named(into.get(row).unwrap_or(id)),
            _ => 0,
        });
    }
    ledger.kinds =
        kinds.into_iter().map(|((o, r), at)| ((o.to_string(), r.map(str::to_string)), at)).collect();
    Ok(ledger)
}

/// The hashes of a table's ids, in order. The stage's files are read once and not kept.
pub(super) fn ids(stage: &StageReader, table: &str) -> Result<Vec<u64>, Error> {
    let parts = stage.table(table).parts.len();
    let hashes: Vec<Result<Vec<u64>, Error>> = (0..parts)
        .into_par_iter()
        .map(|part| {
            let frame = part_columns(stage, table, part, &["id"])?;
            let ids = frame.column("id").and_then(Column::str);
            let ids = ids.map_err(|e| Error::stale_file(&stage.place().join(table), e))?;
            Ok(ids.iter().map(|id| id.map_or(0, named)).collect())
        })
        .collect();
    Ok(hashes.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// Never 0, which stands for none.
pub(super) fn named(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Where each wanted id stands among `rows`. Stages keep the order of what they read, so that the next
/// wanted one is nearly always the next row; where it is not, a table is made.
fn align(wanted: &[u64], rows: &[u64]) -> Vec<u32> {
    let mut table: Option<FxHashMap<u64, u32>> = None;
    let mut next = 0;
    let place = |&id: &u64| {
        if id == 0 {
            return NONE;
        }
        if rows.get(next) == Some(&id) {
            next += 1;
            return next as u32 - 1;
        }
        let table = table.get_or_insert_with(|| rows.iter().copied().zip(0..).collect());
        table.get(&id).copied().unwrap_or(NONE)
    };
    wanted.iter().map(place).collect()
}

/// Characters of every text of a table, in order.
pub(super) fn chars(frames: &Frames, stage: &StageReader) -> Result<Vec<u32>, Error> {
    let parts = stage.table("rows").parts.len();
    let counts: Vec<Result<Vec<u32>, Error>> = (0..parts)
        .into_par_iter()
        .map(|part| {
            let frame = frames.get(stage, "rows", part, TEXT)?;
            let texts = texts(&frame).map_err(|e| Error::stale_file(&stage.place().join("rows"), e))?;
            Ok(texts.iter().map(|t| t.map_or(0, |t| t.chars().count() as u32)).collect())
        })
        .collect();
    Ok(counts.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_order_and_out_of_it() {
        assert_eq!(align(&[5, 6, 0, 7], &[5, 6, 7]), [0, 1, NONE, 2]);
        assert_eq!(align(&[7, 9, 5], &[5, 6, 7]), [2, NONE, 0]);
    }

    #[test]
    fn an_id_has_one_hash_and_never_none() {
        assert_eq!(named("tieba:1"), named("tieba:1"));
        assert_ne!(named("tieba:1"), named("tieba:2"));
    }
}
