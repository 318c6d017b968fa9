//! An index of a few bytes per record: its outcome, and where its text is.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use polars::prelude::{Column, DataFrame, PolarsResult};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::small_cache::{TEXT, texts_of_frame};
use super::{Names, hash_id};
use crate::{Error, StageReader, part_columns};

/// No such row.
pub(super) const NONE: u32 = u32::MAX;

/// The index of a stage's ledger.
pub(super) struct Index {
    /// Every pair of state and reason that occurs.
    pub(super) kinds: Vec<(String, Option<String>)>,
    /// The pair of each record, as an index into `kinds`.
    pub(super) kind: Vec<u16>,
    /// Each record's row among the inputs, concatenated.
    pub(super) entered: Vec<u32>,
    /// Each record's row among the outputs.
    pub(super) left: Vec<u32>,
    /// The names of the records.
    pub(super) names: Arc<Names>,
    /// Characters of each record's text, as it entered if it did; computed on first use.
    pub(super) chars: OnceLock<Arc<Vec<u32>>>,
    /// The score of each record; read on first use.
    pub(super) scores: OnceLock<Arc<Vec<f32>>>,
    /// The records into which others were merged, with those, largest first; computed on first use.
    pub(super) clusters: OnceLock<Arc<Clusters>>,
}

/// Indices of keepers with those of the records merged into them.
pub(super) type Clusters = Vec<(u32, Vec<u32>)>;

/// The state and reason of each record.
struct Kinds {
    known: BTreeMap<(String, Option<String>), u16>,
    of: Vec<u16>,
}

impl Index {
    pub(super) fn build(
        stage: &StageReader,
        inputs: &[StageReader],
        names: Arc<Names>,
    ) -> Result<Index, Error> {
        let (kinds, rows) = rayon::join(
            || read_kinds(stage),
            || {
                let before: Result<Vec<_>, Error> =
                    inputs.iter().map(|input| hash_ids(input, "rows")).collect();
                Ok::<_, Error>((before?.concat(), hash_ids(stage, "rows")?))
            },
        );
        let (Kinds { known, of }, (before, after)) = (kinds?, rows?);
        let mut kinds = vec![(String::new(), None); known.len()];
        for (kind, at) in known {
            kinds[usize::from(at)] = kind;
        }
        // A record that is kept under another id has it in `into`.
        let goes_on: Vec<bool> =
            kinds.iter().map(|(state, _)| state == "kept" || state == "changed").collect();
        let goes_on = |at: usize| goes_on[usize::from(of[at])];
        let mut out: Vec<u64> =
            names.ids.iter().enumerate().map(|(at, id)| if goes_on(at) { *id } else { 0 }).collect();
        for (at, into) in &names.into {
            // Merged records have `into`, too, but no row of their own.
            if goes_on(*at as usize) {
                out[*at as usize] = *into;
            }
        }
        Ok(Index {
            entered: align_ids(&names.ids, &before),
            left: align_ids(&out, &after),
            kinds,
            kind: of,
            names,
            chars: OnceLock::new(),
            scores: OnceLock::new(),
            clusters: OnceLock::new(),
        })
    }

    /// Approximate size in bytes, without its names.
    pub(super) fn estimate_bytes(&self) -> usize {
        self.kind.len() * (2 + 4 + 4 + 4 + 4)
    }

    /// The indices of the records in a state.
    pub(super) fn in_state(&self, state: &str) -> impl Iterator<Item = u32> {
        let fits: Vec<bool> = self.kinds.iter().map(|(known, _)| known == state).collect();
        (0..).zip(&self.kind).filter(move |(_, kind)| fits[usize::from(**kind)]).map(|(at, _)| at)
    }

    /// Which records were merged into which, largest cluster first; of equal size, in the order of the
    /// ledger.
    pub(super) fn clusters(&self) -> Arc<Clusters> {
        let gather = || {
            let merged: Vec<bool> = self.kinds.iter().map(|(state, _)| state == "merged").collect();
            let mut by_keeper: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
            for (at, into) in &self.names.into {
                if merged[usize::from(self.kind[*at as usize])] {
                    by_keeper.entry(*into).or_default().push(*at);
                }
            }
            let keepers = (0..).zip(&self.names.ids);
            let mut clusters: Clusters =
                keepers.filter_map(|(at, id)| Some((at, by_keeper.remove(id)?))).collect();
            clusters.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
            Arc::new(clusters)
        };
        self.clusters.get_or_init(gather).clone()
    }
}

fn read_kinds(stage: &StageReader) -> Result<Kinds, Error> {
    let parts = stage.table("ledger").parts.len();
    let read = |part| part_kinds(&part_columns(stage, "ledger", part, &["outcome", "reason"])?, stage);
    let read: Vec<Result<Kinds, Error>> = (0..parts).into_par_iter().map(read).collect();
    let mut whole = Kinds { known: BTreeMap::new(), of: Vec::new() };
    for part in read {
        let part = part?;
        let mut places = vec![0; part.known.len()];
        for (kind, at) in part.known {
            let next = whole.known.len() as u16;
            places[usize::from(at)] = *whole.known.entry(kind).or_insert(next);
        }
        whole.of.extend(part.of.iter().map(|at| places[usize::from(*at)]));
    }
    Ok(whole)
}

fn part_kinds(frame: &DataFrame, stage: &StageReader) -> Result<Kinds, Error> {
    let column = |name: &str| {
        let column = frame.column(name).and_then(Column::str);
        column.map_err(|e| Error::stale_file(&stage.folder().join("ledger"), e))
    };
    let mut kinds: FxHashMap<(&str, Option<&str>), u16> = FxHashMap::default();
    let mut of = Vec::with_capacity(frame.height());
    let mut last = None;
    for (outcome, reason) in column("outcome")?.iter().zip(column("reason")?.iter()) {
        let kind = (outcome.unwrap_or_default(), reason);
        // Most records end as the one before.
        if let Some((same, at)) = last
            && same == kind
        {
            of.push(at);
            continue;
        }
        let next = kinds.len() as u16;
        let at = *kinds.entry(kind).or_insert(next);
        of.push(at);
        last = Some((kind, at));
    }
    let known = kinds.into_iter().map(|((o, r), at)| ((o.to_string(), r.map(str::to_string)), at)).collect();
    Ok(Kinds { known, of })
}

/// The hashes of a table's ids, in order.
pub(super) fn hash_ids(stage: &StageReader, table: &str) -> Result<Vec<u64>, Error> {
    each_row(stage, table, &["id"], |frame| {
        Ok(frame.column("id").and_then(Column::str)?.iter().map(|id| id.map_or(0, hash_id)).collect())
    })
}

/// Applies a function to every row of a table, in order, part by part. Parts are freed after reading: new
/// memory costs more than reading a part again.
pub(super) fn each_row<T: Send>(
    stage: &StageReader,
    table: &str,
    columns: &[&str],
    make: impl Fn(&DataFrame) -> PolarsResult<Vec<T>> + Sync,
) -> Result<Vec<T>, Error> {
    let known = stage.table(table);
    let read = |part| {
        let frame = part_columns(stage, table, part, columns)?;
        make(&frame).map_err(|e| Error::stale_file(&stage.folder().join(table), e))
    };
    let parts: Vec<Result<Vec<T>, Error>> = (0..known.parts.len()).into_par_iter().map(read).collect();
    let mut rows = Vec::with_capacity(known.rows as usize);
    for part in parts {
        rows.append(&mut part?);
    }
    Ok(rows)
}

/// The index of each wanted id in `rows`. Stages keep the order of their input, so the next wanted one is
/// nearly always the next row; otherwise a hash table is built.
fn align_ids(wanted: &[u64], rows: &[u64]) -> Vec<u32> {
    let mut table: Option<FxHashMap<u64, u32>> = None;
    let mut next = 0;
    let place = |&id: &u64| {
        // No hash is 0: this record has no row.
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
pub(super) fn count_chars(stage: &StageReader) -> Result<Vec<u32>, Error> {
    each_row(stage, "rows", TEXT, |frame| {
        Ok(texts_of_frame(frame)?
            .iter()
            .map(|text| text.map_or(0, |text| text.chars().count() as u32))
            .collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_order_and_out_of_it() {
        assert_eq!(align_ids(&[5, 6, 0, 7], &[5, 6, 7]), [0, 1, NONE, 2]);
        assert_eq!(align_ids(&[7, 9, 5], &[5, 6, 7]), [2, NONE, 0]);
    }
}
