//! Builds a column: its values concatenated, or one value while all rows have the same.

use std::ops::Range;

use blake3::Hash;
use polars::prelude::*;
use polars_arrow::array::Array;
use polars_arrow::bitmap::{Bitmap, MutableBitmap};

use super::values::{ColumnBuffer, Scalar, append_plain_text};
use riddlemill_record::{Cell, CellKind, ColumnDigest};

/// The cells of a column. In a part of a stage most columns have a single value.
#[derive(Clone, Debug)]
pub(super) struct ColumnBuilder {
    kind: CellKind,
    /// Expected number of rows.
    room: usize,
    rows: usize,
    contents: Contents,
}

#[derive(Clone, Debug)]
enum Contents {
    Constant(Scalar),
    Varying(ColumnBuffer),
}

impl ColumnBuilder {
    /// A column without rows; memory for `room` rows is allocated when the first value differs.
    pub(super) fn with_room(kind: CellKind, room: usize) -> ColumnBuilder {
        ColumnBuilder { kind, room, rows: 0, contents: Contents::Constant(Scalar::Null) }
    }

    /// One value in `rows` rows.
    pub(super) fn repeat_value(kind: CellKind, value: Scalar, rows: usize) -> ColumnBuilder {
        ColumnBuilder { kind, room: 0, rows, contents: Contents::Constant(value) }
    }

    /// Appends a cell; one of another kind becomes null.
    pub(super) fn append(&mut self, cell: Cell<'_>) {
        match &mut self.contents {
            Contents::Varying(each) => each.append(cell),
            // Before the first row the value is only a placeholder.
            Contents::Constant(one) if one.is_equal_to(cell) && self.rows > 0 => {}
            Contents::Constant(_) => self.append_if_different(cell),
        }
        self.rows += 1;
    }

    /// Appends a cell `times` times.
    pub(super) fn append_repeated(&mut self, cell: Cell<'_>, times: usize) {
        let Some(more) = times.checked_sub(1) else { return };
        self.append(cell);
        if let Contents::Varying(each) = &mut self.contents {
            (0..more).for_each(|_| each.append(cell));
        }
        self.rows += more;
    }

    /// Appends the first cell, or the first one that differs.
    fn append_if_different(&mut self, cell: Cell<'_>) {
        match &mut self.contents {
            Contents::Constant(one) if self.rows == 0 => *one = Scalar::new(cell, self.kind),
            Contents::Constant(one) => {
                let mut each = ColumnBuffer::with_room(self.kind, self.room);
                (0..self.rows).for_each(|_| each.append(one.as_cell()));
                each.append(cell);
                self.contents = Contents::Varying(each);
            }
            Contents::Varying(each) => each.append(cell),
        }
    }

    /// Visits every cell, in order.
    pub(super) fn each(&self, mut look: impl FnMut(Cell<'_>)) {
        match &self.contents {
            Contents::Constant(one) => (0..self.rows).for_each(|_| look(one.as_cell())),
            Contents::Varying(each) => each.each(&(0..self.rows), look),
        }
    }

    /// The column as Polars has it.
    pub(super) fn to_polars_column(&self, name: &'static str) -> Column {
        macro_rules! built {
            ($builder:expr, |$b:ident, $value:ident| $append:expr, $cell:path) => {{
                let mut $b = $builder;
                self.each(|cell| if let $cell($value) = cell { $append } else { $b.append_null() });
                $b.finish().into_column()
            }};
        }
        let (rows, name) = (self.rows, PlSmallStr::from_static(name));
        if let Contents::Constant(Scalar::Null) = self.contents {
            return Series::full_null(name, rows, &data_type_of(self.kind)).into_column();
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

/// Ranges of rows of several columns of one kind, which are concatenated.
#[derive(Clone, Debug)]
pub(super) struct ColumnSlices<'a> {
    kind: CellKind,
    spans: Vec<(&'a ColumnBuilder, Range<usize>)>,
}

impl<'a> ColumnSlices<'a> {
    /// Slices of columns of this kind.
    pub(super) fn new(
        kind: CellKind,
        spans: impl IntoIterator<Item = (&'a ColumnBuilder, Range<usize>)>,
    ) -> ColumnSlices<'a> {
        ColumnSlices { kind, spans: spans.into_iter().filter(|(_, range)| !range.is_empty()).collect() }
    }

    /// All rows of one column.
    pub(super) fn from_column(column: &'a ColumnBuilder) -> ColumnSlices<'a> {
        ColumnSlices::new(column.kind, [(column, 0..column.rows)])
    }

    pub(super) fn kind(&self) -> CellKind {
        self.kind
    }

    pub(super) fn count_rows(&self) -> usize {
        self.spans.iter().map(|(_, range)| range.len()).sum()
    }

    /// A range of its rows.
    pub(super) fn slice_rows(&self, rows: Range<usize>) -> ColumnSlices<'a> {
        let mut before = 0;
        let span = |(column, range): &(&'a ColumnBuilder, Range<usize>)| {
            let first = rows.start.saturating_sub(before).min(range.len());
            let last = rows.end.saturating_sub(before).min(range.len());
            before += range.len();
            (*column, range.start + first..range.start + last)
        };
        ColumnSlices::new(self.kind, self.spans.iter().map(span))
    }

    /// The single value of all rows, if there is one.
    pub(super) fn single_value(&self) -> Option<Scalar> {
        let mut values = self.spans.iter().map(|(column, range)| match &column.contents {
            Contents::Constant(one) => Some(one.clone()),
            Contents::Varying(each) => each.single_value(range),
        });
        let Some(first) = values.next() else { return Some(Scalar::Null) };
        values.all(|other| other == first).then_some(first).flatten()
    }

    /// Approximate size of its pages before compression, in bytes.
    pub(super) fn estimate_bytes(&self) -> usize {
        let bytes = |(column, range): &(&ColumnBuilder, Range<usize>)| match &column.contents {
            Contents::Constant(Scalar::Text(text)) => text.len() * range.len(),
            Contents::Constant(_) => 0,
            Contents::Varying(each) => each.text_bytes(range),
        };
        self.spans.iter().map(bytes).sum::<usize>() + 9 * self.count_rows()
    }

    /// Whether others have the same cells. If they are cut differently, returns false.
    pub(super) fn has_same_cells(&self, others: &ColumnSlices<'_>) -> bool {
        let alike = |((a, rows), (b, others)): (&(&ColumnBuilder, _), &(&ColumnBuilder, _))| {
            let same = match (&a.contents, &b.contents) {
                (Contents::Constant(one), Contents::Constant(other)) => one == other,
                (Contents::Varying(each), Contents::Varying(other)) => each.says_as(rows, other, others),
                _ => false,
            };
            same && rows.len() == others.len()
        };
        self.kind == others.kind
            && self.spans.len() == others.spans.len()
            && self.spans.iter().zip(&others.spans).all(alike)
    }

    /// The digest of the cells.
    pub(super) fn compute_digest(&self) -> Hash {
        let mut digest = ColumnDigest::default();
        for (column, range) in &self.spans {
            match &column.contents {
                Contents::Constant(one) => range.clone().for_each(|_| digest.append(one.as_cell())),
                Contents::Varying(each) => each.update_digest(range, &mut digest),
            }
        }
        digest.finish()
    }

    /// The validity of its rows; `None` if all are valid.
    pub(super) fn validity_bitmap(&self) -> Option<Bitmap> {
        let mut all = MutableBitmap::new();
        for (column, range) in &self.spans {
            match &column.contents {
                Contents::Constant(one) => all.extend_constant(range.len(), *one != Scalar::Null),
                Contents::Varying(each) => each.append_validity(range, &mut all),
            }
        }
        (all.unset_bits() > 0).then(|| all.freeze())
    }

    /// Appends the texts in the form of a page: each after its length, nothing for nulls.
    pub(super) fn append_plain_texts(&self, page: &mut Vec<u8>) {
        for (column, range) in &self.spans {
            match &column.contents {
                Contents::Constant(Scalar::Text(text)) => {
                    range.clone().for_each(|_| append_plain_text(text, page))
                }
                Contents::Constant(_) => {}
                Contents::Varying(each) => each.append_plain_texts(range, page),
            }
        }
    }

    /// The cells concatenated in one column.
    fn join_cells(&self) -> ColumnBuffer {
        let mut each = ColumnBuffer::with_room(self.kind, self.count_rows());
        for (column, range) in &self.spans {
            match &column.contents {
                Contents::Constant(one) => range.clone().for_each(|_| each.append(one.as_cell())),
                Contents::Varying(more) => each.extend(more, range.clone()),
            }
        }
        each.drop_full_validity()
    }

    /// The cells as an Arrow array, texts as bytes.
    ///
    /// # Errors
    /// If Polars refuses them, which cannot happen because the lengths are right.
    pub(super) fn to_arrow_array(&self) -> PolarsResult<Box<dyn Array>> {
        self.join_cells().into_arrow_array()
    }
}

/// The type of a column in a frame.
pub(super) fn data_type_of(kind: CellKind) -> DataType {
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

    /// A cell of a kind, or null. Few values, so that columns sometimes have a single one.
    fn one() -> impl Strategy<Value = Option<u8>> {
        prop_oneof![3 => Just(Some(1)), 1 => Just(None), 1 => (0u8..4).prop_map(Some)]
    }

    fn cell(kind: CellKind, n: Option<u8>) -> Scalar {
        let Some(n) = n else { return Scalar::Null };
        match kind {
            CellKind::Text => Scalar::Text("云".repeat(n.into())),
            CellKind::Count => Scalar::Count(n.into()),
            CellKind::Real => Scalar::Real(f64::from(n).to_bits()),
            CellKind::Flag => Scalar::Flag(n % 2 == 0),
            CellKind::Texts => Scalar::Texts((0..n).map(|n| "鱼".repeat(n.into())).collect()),
        }
    }

    fn column(kind: CellKind, cells: &[Scalar]) -> ColumnBuilder {
        let mut column = ColumnBuilder::with_room(kind, 0);
        cells.iter().for_each(|one| column.append(one.as_cell()));
        column
    }

    fn cells(column: &ColumnBuilder) -> Vec<Scalar> {
        let mut cells = Vec::new();
        column.each(|cell| cells.push(Scalar::new(cell, column.kind)));
        cells
    }

    /// Checks the properties of cells, however they are cut.
    fn everything(spans: &ColumnSlices<'_>) -> (Option<Scalar>, Hash, Option<Bitmap>, Vec<u8>, Vec<Scalar>) {
        let (mut page, mut cells) = (Vec::new(), Vec::new());
        spans.append_plain_texts(&mut page);
        spans.join_cells().each(&(0..spans.count_rows()), |cell| cells.push(Scalar::new(cell, spans.kind)));
        (spans.single_value(), spans.compute_digest(), spans.validity_bitmap(), page, cells)
    }

    proptest! {
        #[test]
        fn a_column_gives_back_its_cells_however_it_was_cut(
            numbers in prop::collection::vec(one(), 0..24),
            cuts in prop::collection::vec(0usize..24, 0..4),
            some in (0usize..24, 0usize..24),
        ) {
            for kind in KINDS {
                let all: Vec<Scalar> = numbers.iter().map(|n| cell(kind, *n)).collect();
                let whole = column(kind, &all);
                prop_assert_eq!(&cells(&whole), &all);
                let mut repeated = whole.clone();
                repeated.append_repeated(Scalar::Null.as_cell(), some.0 % 3);
                prop_assert_eq!(cells(&repeated), [&all[..], &vec![Scalar::Null; some.0 % 3]].concat());
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.min(&all.len())).chain([0, all.len()]).collect();
                cuts.sort_unstable();
                let columns: Vec<ColumnBuilder> = cuts.windows(2).map(|at| column(kind, &all[at[0]..at[1]])).collect();
                let again = ColumnSlices::new(kind, columns.iter().map(|column| (column, 0..column.rows)));
                let whole = ColumnSlices::from_column(&whole);
                prop_assert_eq!(everything(&again), everything(&whole));
                prop_assert!(kind != CellKind::Text || all.contains(&Scalar::Null) || again.has_same_cells(&again));
                let mut digest = ColumnDigest::default();
                all.iter().for_each(|one| digest.append(one.as_cell()));
                prop_assert_eq!(digest.finish(), whole.compute_digest());
                let (from, to) = (some.0.min(some.1).min(all.len()), some.0.max(some.1).min(all.len()));
                let (a, b) = (whole.slice_rows(from..to), again.slice_rows(from..to));
                prop_assert_eq!(everything(&a), everything(&b));
                prop_assert_eq!(everything(&a), everything(&ColumnSlices::from_column(&column(kind, &all[from..to]))));
                prop_assert!(!a.has_same_cells(&whole) || all[from..to] == all);
                let one = all[from..to].iter().all(|cell| *cell == all[from]);
                prop_assert_eq!(a.single_value().is_some(), one);
                prop_assert_eq!(b.count_rows(), to - from);
            }
        }
    }

    #[test]
    fn a_cell_of_another_kind_is_null() {
        for kind in KINDS {
            let mut column = ColumnBuilder::with_room(kind, 0);
            [Cell::Count(1), Cell::Text("云"), Cell::Null].into_iter().for_each(|cell| column.append(cell));
            let nulls = cells(&column).iter().filter(|cell| **cell == Scalar::Null).count();
            assert_eq!(
                nulls,
                if matches!(kind, CellKind::Count | CellKind::Text) { 2 } else { 3 },
                "{kind:?}"
            );
        }
    }
}
