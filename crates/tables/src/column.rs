//! A column in the making: its values one behind the other, or once where all of its rows say the same.

use std::ops::Range;

use blake3::Hash;
use polars::prelude::*;
use polars_arrow::array::Array;
use polars_arrow::bitmap::{Bitmap, MutableBitmap};

use super::values::{Each, One, plain};
use riddlemill_text::record::{Cell, CellKind, ColumnDigest};

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

    /// Takes the next cell; one of another kind is null.
    pub(super) fn put(&mut self, cell: Cell<'_>) {
        match &mut self.said {
            Said::Each(each) => each.put(cell),
            Said::Same(one) if one.is(cell) && self.rows > 0 => {}
            Said::Same(_) => self.differ(cell),
        }
        self.rows += 1;
    }

    /// Takes a cell so many times.
    pub(super) fn repeat(&mut self, cell: Cell<'_>, times: usize) {
        let Some(more) = times.checked_sub(1) else { return };
        self.put(cell);
        if let Said::Each(each) = &mut self.said {
            (0..more).for_each(|_| each.put(cell));
        }
        self.rows += more;
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

    /// Shows every cell, in order.
    pub(super) fn each(&self, mut look: impl FnMut(Cell<'_>)) {
        match &self.said {
            Said::Same(one) => (0..self.rows).for_each(|_| look(one.cell())),
            Said::Each(each) => each.each(&(0..self.rows), look),
        }
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
}

/// Some rows of columns of one kind, one behind the other: where they stand.
#[derive(Clone, Debug)]
pub(super) struct Spans<'a> {
    kind: CellKind,
    spans: Vec<(&'a Growing, Range<usize>)>,
}

impl<'a> Spans<'a> {
    /// Of columns of this kind.
    pub(super) fn of(
        kind: CellKind,
        spans: impl IntoIterator<Item = (&'a Growing, Range<usize>)>,
    ) -> Spans<'a> {
        Spans { kind, spans: spans.into_iter().filter(|(_, range)| !range.is_empty()).collect() }
    }

    /// All rows of one column.
    pub(super) fn all(column: &'a Growing) -> Spans<'a> {
        Spans::of(column.kind, [(column, 0..column.rows)])
    }

    pub(super) fn kind(&self) -> CellKind {
        self.kind
    }

    pub(super) fn rows(&self) -> usize {
        self.spans.iter().map(|(_, range)| range.len()).sum()
    }

    /// Some of its rows.
    pub(super) fn part(&self, rows: Range<usize>) -> Spans<'a> {
        let mut before = 0;
        let span = |(column, range): &(&'a Growing, Range<usize>)| {
            let first = rows.start.saturating_sub(before).min(range.len());
            let last = rows.end.saturating_sub(before).min(range.len());
            before += range.len();
            (*column, range.start + first..range.start + last)
        };
        Spans::of(self.kind, self.spans.iter().map(span))
    }

    /// What all rows say, where they say the same.
    pub(super) fn same(&self) -> Option<One> {
        let mut said = self.spans.iter().map(|(column, range)| match &column.said {
            Said::Same(one) => Some(one.clone()),
            Said::Each(each) => each.one(range),
        });
        let Some(first) = said.next() else { return Some(One::Null) };
        said.all(|other| other == first).then_some(first).flatten()
    }

    /// About how many bytes its pages have before they are compressed.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |(column, range): &(&Growing, Range<usize>)| match &column.said {
            Said::Same(One::Text(text)) => text.len() * range.len(),
            Said::Same(_) => 0,
            Said::Each(each) => each.text_bytes(range),
        };
        self.spans.iter().map(bytes).sum::<usize>() + 9 * self.rows()
    }

    /// Whether others say the same. Where they are cut elsewhere it says no.
    pub(super) fn say_as(&self, others: &Spans<'_>) -> bool {
        let alike = |((a, rows), (b, others)): (&(&Growing, _), &(&Growing, _))| {
            let same = match (&a.said, &b.said) {
                (Said::Same(one), Said::Same(other)) => one == other,
                (Said::Each(each), Said::Each(other)) => each.says_as(rows, other, others),
                _ => false,
            };
            same && rows.len() == others.len()
        };
        self.kind == others.kind
            && self.spans.len() == others.spans.len()
            && self.spans.iter().zip(&others.spans).all(alike)
    }

    /// The digest of the cells.
    pub(super) fn digest(&self) -> Hash {
        let mut digest = ColumnDigest::default();
        for (column, range) in &self.spans {
            match &column.said {
                Said::Same(one) => range.clone().for_each(|_| digest.put(one.cell())),
                Said::Each(each) => each.digest(range, &mut digest),
            }
        }
        digest.finish()
    }

    /// Which rows are one; nothing where all are.
    pub(super) fn valid(&self) -> Option<Bitmap> {
        let mut all = MutableBitmap::new();
        for (column, range) in &self.spans {
            match &column.said {
                Said::Same(one) => all.extend_constant(range.len(), *one != One::Null),
                Said::Each(each) => each.valid(range, &mut all),
            }
        }
        (all.unset_bits() > 0).then(|| all.freeze())
    }

    /// Appends the texts as they stand in a page: each after its length, and nothing for none.
    pub(super) fn plain(&self, page: &mut Vec<u8>) {
        for (column, range) in &self.spans {
            match &column.said {
                Said::Same(One::Text(text)) => range.clone().for_each(|_| plain(text, page)),
                Said::Same(_) => {}
                Said::Each(each) => each.plain(range, page),
            }
        }
    }

    /// The cells in one column.
    fn joined(&self) -> Each {
        let mut each = Each::with_room(self.kind, self.rows());
        for (column, range) in &self.spans {
            match &column.said {
                Said::Same(one) => range.clone().for_each(|_| each.put(one.cell())),
                Said::Each(more) => each.extend(more, range.clone()),
            }
        }
        each.settled()
    }

    /// The cells as Arrow has them, texts as bytes.
    ///
    /// # Errors
    /// Where Polars refuses them, which their lengths rule out.
    pub(super) fn array(&self) -> PolarsResult<Box<dyn Array>> {
        self.joined().array()
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

    /// All that is said of cells, however they are cut.
    fn told(spans: &Spans<'_>) -> (Option<One>, Hash, Option<Bitmap>, Vec<u8>, Vec<One>) {
        let (mut page, mut cells) = (Vec::new(), Vec::new());
        spans.plain(&mut page);
        spans.joined().each(&(0..spans.rows()), |cell| cells.push(One::of(cell, spans.kind)));
        (spans.same(), spans.digest(), spans.valid(), page, cells)
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
                let mut repeated = whole.clone();
                repeated.repeat(One::Null.cell(), some.0 % 3);
                prop_assert_eq!(cells(&repeated), [&all[..], &vec![One::Null; some.0 % 3]].concat());
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.min(&all.len())).chain([0, all.len()]).collect();
                cuts.sort_unstable();
                let columns: Vec<Growing> = cuts.windows(2).map(|at| column(kind, &all[at[0]..at[1]])).collect();
                let again = Spans::of(kind, columns.iter().map(|column| (column, 0..column.rows)));
                let whole = Spans::all(&whole);
                prop_assert_eq!(told(&again), told(&whole));
                prop_assert!(kind != CellKind::Text || all.contains(&One::Null) || again.say_as(&again));
                let mut digest = ColumnDigest::default();
                all.iter().for_each(|one| digest.put(one.cell()));
                prop_assert_eq!(digest.finish(), whole.digest());
                let (from, to) = (some.0.min(some.1).min(all.len()), some.0.max(some.1).min(all.len()));
                let (a, b) = (whole.part(from..to), again.part(from..to));
                prop_assert_eq!(told(&a), told(&b));
                prop_assert_eq!(told(&a), told(&Spans::all(&column(kind, &all[from..to]))));
                prop_assert!(!a.say_as(&whole) || all[from..to] == all);
                let one = all[from..to].iter().all(|cell| *cell == all[from]);
                prop_assert_eq!(a.same().is_some(), one);
                prop_assert_eq!(b.rows(), to - from);
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
