//! A column in the making: its values one behind the other, or once where all of its rows say the same.

use std::ops::Range;

use blake3::Hash;
use polars::prelude::*;
use polars_arrow::array::Array;

use super::values::{Each, One};
use crate::record::{Cell, CellKind, ColumnDigest};

/// The cells of a column. In a part of a stage most columns say the same from top to bottom.
#[derive(Clone, Debug)]
pub(super) struct Growing {
    kind: CellKind,
    /// How many rows may come.
    room: usize,
    rows: usize,
    said: Said,
}

#[derive(Clone, Debug)]
enum Said {
    Same(One),
    Each(Each),
}

impl Growing {
    /// A column without rows; memory for so many is taken when the first differ.
    pub(super) fn with_room(kind: CellKind, room: usize) -> Growing {
        Growing { kind, room, rows: 0, said: Said::Same(One::Null) }
    }

    /// The same in so many rows.
    pub(super) fn repeated(kind: CellKind, one: One, rows: usize) -> Growing {
        Growing { kind, room: 0, rows, said: Said::Same(one) }
    }

    pub(super) fn kind(&self) -> CellKind {
        self.kind
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// About how many bytes its pages have before they are compressed.
    pub(super) fn bytes(&self) -> usize {
        self.text_bytes(&(0..self.rows)) + 9 * self.rows
    }

    fn text_bytes(&self, range: &Range<usize>) -> usize {
        match &self.said {
            Said::Same(One::Text(text)) => text.len() * range.len(),
            Said::Same(_) => 0,
            Said::Each(each) => each.text_bytes(range),
        }
    }

    /// What all rows say, where they say the same.
    pub(super) fn same(&self) -> Option<&One> {
        if let Said::Same(one) = &self.said { Some(one) } else { None }
    }

    /// Takes the next cell; one of another kind is null.
    pub(super) fn put(&mut self, cell: Cell<'_>) {
        match &mut self.said {
            Said::Each(each) => each.put(cell),
            Said::Same(one) if one.is(cell) && self.rows > 0 => {}
            Said::Same(_) => self.differ(cell),
        }
        self.rows += 1;
    }

    /// Takes the first cell, or the first that differs.
    fn differ(&mut self, cell: Cell<'_>) {
        match &mut self.said {
            Said::Same(one) if self.rows == 0 => *one = One::of(cell, self.kind),
            Said::Same(one) => {
                let mut each = Each::with_room(self.kind, self.room);
                (0..self.rows).for_each(|_| each.put(one.cell()));
                each.put(cell);
                self.said = Said::Each(each);
            }
            Said::Each(each) => each.put(cell),
        }
    }

    /// Some rows of each of these columns of one kind, one behind the other.
    pub(super) fn of(kind: CellKind, pieces: &[(&Growing, Range<usize>)]) -> Growing {
        let rows = pieces.iter().map(|(_, range)| range.len()).sum();
        let said: Vec<_> = pieces.iter().filter(|(_, range)| !range.is_empty()).collect();
        let Some((first, _)) = said.first() else { return Growing::with_room(kind, 0) };
        if let Some(one) = first.same()
            && said.iter().all(|(column, _)| column.same() == Some(one))
        {
            return Growing::repeated(kind, one.clone(), rows);
        }
        let mut each = Each::with_room(kind, rows);
        each.reserve(said.iter().map(|(column, range)| column.text_bytes(range)).sum());
        for (column, range) in said {
            match &column.said {
                Said::Same(one) => range.clone().for_each(|_| each.put(one.cell())),
                Said::Each(more) => each.extend(more, range.clone()),
            }
        }
        // A piece of a column whose rows differ: the pages of a file do not tell how it was cut.
        let said = each.one().map_or(Said::Each(each), Said::Same);
        Growing { kind, room: 0, rows, said }
    }

    /// Shows every cell, in order.
    pub(super) fn each(&self, mut look: impl FnMut(Cell<'_>)) {
        match &self.said {
            Said::Same(one) => (0..self.rows).for_each(|_| look(one.cell())),
            Said::Each(each) => each.each(look),
        }
    }

    /// The digest of its cells.
    pub(super) fn digest(&self) -> Hash {
        let mut digest = ColumnDigest::default();
        self.each(|cell| digest.put(cell));
        digest.finish()
    }

    /// The column of a frame.
    pub(super) fn column(&self, name: &'static str) -> Column {
        macro_rules! built {
            ($builder:expr, |$b:ident, $value:ident| $append:expr, $cell:path) => {{
                let mut $b = $builder;
                self.each(|cell| if let $cell($value) = cell { $append } else { $b.append_null() });
                $b.finish().into_column()
            }};
        }
        let (rows, name) = (self.rows, PlSmallStr::from_static(name));
        if let Said::Same(One::Null) = self.said {
            return Series::full_null(name, rows, &dtype(self.kind)).into_column();
        }
        match self.kind {
            CellKind::Text => {
                built!(StringChunkedBuilder::new(name, rows), |b, v| b.append_value(v), Cell::Text)
            }
            CellKind::Count => {
                built!(
                    PrimitiveChunkedBuilder::<UInt64Type>::new(name, rows),
                    |b, v| b.append_value(v),
                    Cell::Count
                )
            }
            CellKind::Real => {
                built!(
                    PrimitiveChunkedBuilder::<Float64Type>::new(name, rows),
                    |b, v| b.append_value(v),
                    Cell::Real
                )
            }
            CellKind::Flag => {
                built!(BooleanChunkedBuilder::new(name, rows), |b, v| b.append_value(v), Cell::Flag)
            }
            CellKind::Texts => {
                built!(
                    ListStringChunkedBuilder::new(name, rows, 0),
                    |b, v| b.append_values_iter(v.iter().map(String::as_str)),
                    Cell::Texts
                )
            }
        }
    }

    /// Its buffers as Arrow has them, texts as bytes.
    ///
    /// # Errors
    /// Where Polars refuses them, which their lengths rule out.
    pub(super) fn array(self) -> PolarsResult<Box<dyn Array>> {
        match self.said {
            Said::Each(each) => each.array(),
            Said::Same(one) => Each::repeated(self.kind, &one, self.rows).array(),
        }
    }
}

/// The type of a column in a frame.
pub(super) fn dtype(kind: CellKind) -> DataType {
    match kind {
        CellKind::Text => DataType::String,
        CellKind::Count => DataType::UInt64,
        CellKind::Real => DataType::Float64,
        CellKind::Flag => DataType::Boolean,
        CellKind::Texts => DataType::List(Box::new(DataType::String)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [CellKind; 5] =
        [CellKind::Text, CellKind::Count, CellKind::Real, CellKind::Flag, CellKind::Texts];

    /// A cell of a kind, or none. Few values, so that columns say the same now and then.
    fn one() -> impl Strategy<Value = Option<u8>> {
        prop_oneof![3 => Just(Some(1)), 1 => Just(None), 1 => (0u8..4).prop_map(Some)]
    }

    fn cell(kind: CellKind, n: Option<u8>) -> One {
        let Some(n) = n else { return One::Null };
        match kind {
            CellKind::Text => One::Text("云".repeat(n.into())),
            CellKind::Count => One::Count(n.into()),
            CellKind::Real => One::Real(f64::from(n).to_bits()),
            CellKind::Flag => One::Flag(n % 2 == 0),
            CellKind::Texts => One::Texts((0..n).map(|n| "鱼".repeat(n.into())).collect()),
        }
    }

    fn column(kind: CellKind, cells: &[One]) -> Growing {
        let mut column = Growing::with_room(kind, 0);
        cells.iter().for_each(|one| column.put(one.cell()));
        column
    }

    fn cells(column: &Growing) -> Vec<One> {
        let mut cells = Vec::new();
        column.each(|cell| cells.push(One::of(cell, column.kind)));
        cells
    }

    proptest! {
        #[test]
        fn a_column_says_what_was_put_however_it_was_cut(
            said in prop::collection::vec(one(), 0..24),
            cuts in prop::collection::vec(0usize..24, 0..4),
            some in (0usize..24, 0usize..24),
        ) {
            for kind in KINDS {
                let all: Vec<One> = said.iter().map(|n| cell(kind, *n)).collect();
                let whole = column(kind, &all);
                prop_assert_eq!(&cells(&whole), &all);
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.min(&all.len())).chain([0, all.len()]).collect();
                cuts.sort_unstable();
                let pieces: Vec<Growing> = cuts.windows(2).map(|at| column(kind, &all[at[0]..at[1]])).collect();
                let pieces: Vec<_> = pieces.iter().map(|piece| (piece, 0..piece.rows())).collect();
                let again = Growing::of(kind, &pieces);
                prop_assert_eq!((cells(&again), again.digest()), (all.clone(), whole.digest()));
                let (from, to) = (some.0.min(some.1).min(all.len()), some.0.max(some.1).min(all.len()));
                let part = Growing::of(kind, &[(&whole, from..to), (&again, from..to)]);
                let one = all[from..to].iter().all(|cell| *cell == all[from]);
                prop_assert_eq!(part.same().is_some(), one);
                prop_assert_eq!(cells(&part), [&all[from..to], &all[from..to]].concat());
                prop_assert_eq!(part.rows(), 2 * (to - from));
            }
        }
    }

    #[test]
    fn a_cell_of_another_kind_is_null() {
        for kind in KINDS {
            let mut column = Growing::with_room(kind, 0);
            [Cell::Count(1), Cell::Text("云"), Cell::Null].into_iter().for_each(|cell| column.put(cell));
            let nulls = cells(&column).iter().filter(|cell| **cell == One::Null).count();
            assert_eq!(
                nulls,
                if matches!(kind, CellKind::Count | CellKind::Text) { 2 } else { 3 },
                "{kind:?}"
            );
        }
    }
}
