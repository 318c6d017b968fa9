//! Where the names in a ledger occur: eight bytes per record, and twelve for each that was merged or renamed.

use std::hash::{Hash, Hasher};

use polars::prelude::{Column, DataFrame};
use rayon::prelude::*;
use rustc_hash::{FxHashSet, FxHasher};

use crate::{Error, StageReader, part_columns};

/// The hashes of a ledger's names. Collisions are resolved by reading the entry.
pub(super) struct Names {
    /// Each record's id, in the ledger's order.
    pub(super) ids: Vec<u64>,
    /// The indices of records that became or were merged into another one, with that one's id, ascending.
    pub(super) into: Vec<(u32, u64)>,
}

impl Names {
    pub(super) fn read(stage: &StageReader) -> Result<Names, Error> {
        let parts = stage.table("ledger").parts.len();
        let read = |part| Names::new(&part_columns(stage, "ledger", part, &["id", "into"])?, stage);
        let read: Vec<Result<Names, Error>> = (0..parts).into_par_iter().map(read).collect();
        let rows = stage.table("ledger").rows as usize;
        let mut whole = Names { ids: Vec::with_capacity(rows), into: Vec::new() };
        for part in read {
            whole.append(part?);
        }
        Ok(whole)
    }

    /// The names of one part, with indices from 0.
    pub(super) fn new(frame: &DataFrame, stage: &StageReader) -> Result<Names, Error> {
        let column = |name: &str| {
            let column = frame.column(name).and_then(Column::str);
            column.map_err(|e| Error::stale_file(&stage.place().join("ledger"), e))
        };
        let ids = column("id")?.iter().map(|id| id.map_or(0, named)).collect();
        let into =
            column("into")?.iter().zip(0..).filter_map(|(into, at)| Some((at, named(into?)))).collect();
        Ok(Names { ids, into })
    }

    /// Appends the names of another part.
    pub(super) fn append(&mut self, part: Names) {
        let from = self.ids.len() as u32;
        self.ids.extend(part.ids);
        self.into.extend(part.into.into_iter().map(|(at, into)| (from + at, into)));
    }

    /// The indices of these ids and of records that became or were merged into one of `into`, in the ledger's
    /// order.
    pub(super) fn places(&self, ids: &[&str], into: &[&str]) -> Vec<u32> {
        let hashes = |names: &[&str]| names.iter().map(|name| named(name)).collect::<FxHashSet<u64>>();
        let (ids, into) = (hashes(ids), hashes(into));
        // Nearly always one id: a comparison per record, at the speed of memory.
        let mut places: Vec<u32> = match ids.iter().copied().collect::<Vec<_>>().as_slice() {
            [] => Vec::new(),
            [one] => (0..).zip(&self.ids).filter(|(_, id)| *id == one).map(|(at, _)| at).collect(),
            _ => (0..).zip(&self.ids).filter(|(_, id)| ids.contains(id)).map(|(at, _)| at).collect(),
        };
        places.extend(self.into.iter().filter(|(_, id)| into.contains(id)).map(|(at, _)| *at));
        places.sort_unstable();
        places.dedup();
        places
    }

    pub(super) fn bytes(&self) -> usize {
        self.ids.len() * 8 + self.into.len() * 16
    }
}

/// Never 0, which means none.
pub(super) fn named(id: &str) -> u64 {
    let mut hasher = FxHasher::default();
    id.hash(&mut hasher);
    hasher.finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_hash_and_never_none() {
        assert_eq!(named("tieba:1"), named("tieba:1"));
        assert_ne!(named("tieba:1"), named("tieba:2"));
    }

    #[test]
    fn names_are_found_where_they_are_over_all_parts() {
        let part = |ids: &[&str], into: &[(u32, &str)]| Names {
            ids: ids.iter().map(|id| named(id)).collect(),
            into: into.iter().map(|(at, id)| (*at, named(id))).collect(),
        };
        let mut names = part(&["a", "b"], &[(1, "a")]);
        names.append(part(&["c", "d"], &[(0, "a"), (1, "c")]));
        assert_eq!(names.places(&["c"], &[]), [2]);
        assert_eq!(names.places(&["a"], &["a"]), [0, 1, 2]);
        assert_eq!(names.places(&["b", "d"], &["c"]), [1, 3]);
        assert!(names.places(&["x"], &["x"]).is_empty());
    }
}
