//! The values of a column, concatenated.

use std::ops::Range;

use polars::prelude::*;
use polars_arrow::array::{Array, BinaryArray, BooleanArray, ListArray, PrimitiveArray};
use polars_arrow::bitmap::MutableBitmap;

use riddlemill_record::{Cell, CellKind, ColumnDigest};

/// A single cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar {
    Null,
    Text(String),
    Count(u64),
    /// The bits of a number, so that it is written back exactly.
    Real(u64),
    Flag(bool),
    Texts(Vec<String>),
}

impl Scalar {
    /// A cell of a column of this kind; one of another kind becomes null.
    pub(super) fn new(cell: Cell<'_>, kind: CellKind) -> Scalar {
        match (kind, cell) {
            (CellKind::Text, Cell::Text(_))
            | (CellKind::Count, Cell::Count(_))
            | (CellKind::Real, Cell::Real(_))
            | (CellKind::Flag, Cell::Flag(_))
            | (CellKind::Texts, Cell::Texts(_)) => Scalar::from_cell(cell),
            _ => Scalar::Null,
        }
    }

    fn from_cell(cell: Cell<'_>) -> Scalar {
        match cell {
            Cell::Null => Scalar::Null,
            Cell::Text(text) => Scalar::Text(text.into()),
            Cell::Count(n) => Scalar::Count(n),
            Cell::Real(x) => Scalar::Real(x.to_bits()),
            Cell::Flag(flag) => Scalar::Flag(flag),
            Cell::Texts(texts) => Scalar::Texts(texts.to_vec()),
        }
    }

    pub(super) fn as_cell(&self) -> Cell<'_> {
        match self {
            Scalar::Null => Cell::Null,
            Scalar::Text(text) => Cell::Text(text),
            Scalar::Count(n) => Cell::Count(*n),
            Scalar::Real(bits) => Cell::Real(f64::from_bits(*bits)),
            Scalar::Flag(flag) => Cell::Flag(*flag),
            Scalar::Texts(texts) => Cell::Texts(texts),
        }
    }

    pub(super) fn is_equal_to(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Scalar::Null, Cell::Null) => true,
            (Scalar::Text(one), Cell::Text(text)) => one == text,
            (Scalar::Count(one), Cell::Count(n)) => *one == n,
            (Scalar::Real(one), Cell::Real(x)) => *one == x.to_bits(),
            (Scalar::Flag(one), Cell::Flag(flag)) => *one == flag,
            (Scalar::Texts(one), Cell::Texts(texts)) => one == texts,
            _ => false,
        }
    }
}

/// Cells that differ.
#[derive(Clone, Debug)]
pub(super) struct ColumnBuffer {
    values: Values,
    /// Validity of the cells; `None` if all are valid. Nulls have a placeholder value too.
    valid: Option<MutableBitmap>,
}

/// Appends a text in the form of a page.
pub(super) fn append_plain_text(text: &str, page: &mut Vec<u8>) {
    // No part is near four gigabytes, and its pages are a megabyte or one row.
    page.extend_from_slice(&(text.len() as u32).to_le_bytes());
    page.extend_from_slice(text.as_bytes());
}

#[derive(Clone, Debug)]
enum Values {
    Text(Strings),
    Count(Vec<u64>),
    Real(Vec<f64>),
    Flag(MutableBitmap),
    /// Where each list ends among all texts.
    Texts(Vec<i64>, Strings),
}

/// Concatenated texts.
#[derive(Clone, Debug)]
struct Strings {
    text: String,
    /// Where the first begins, and where each ends.
    ends: Vec<i64>,
    /// Expected number of texts.
    room: usize,
}

/// Number of texts whose length determines how much memory is allocated for the rest.
const FIRST: usize = 64;
/// Most bytes allocated for them.
const MOST: usize = 16 << 20;

impl Strings {
    fn with_room(room: usize) -> Strings {
        let mut ends = Vec::with_capacity(room + 1);
        ends.push(0);
        Strings { text: String::new(), ends, room }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as i64);
        // Estimates the size from the first texts, with an eighth added.
        if self.ends.len() == FIRST && self.room > FIRST {
            let rest = (self.text.len() / FIRST).saturating_mul(self.room - FIRST);
            self.text.reserve(rest.saturating_add(rest / 8).min(MOST));
        }
    }

    fn text_between(&self, range: &Range<usize>) -> &str {
        &self.text[self.ends[range.start] as usize..self.ends[range.end] as usize]
    }

    fn extend(&mut self, more: &Strings, range: Range<usize>) {
        let shift = self.text.len() as i64 - more.ends[range.start];
        self.text.push_str(more.text_between(&range));
        self.ends.extend(more.ends[range.start + 1..=range.end].iter().map(|end| end + shift));
    }

    fn get(&self, row: usize) -> &str {
        &self.text[self.ends[row] as usize..self.ends[row + 1] as usize]
    }

    fn iter(&self, range: &Range<usize>) -> impl Iterator<Item = &str> {
        self.ends[range.start..=range.end].windows(2).map(|at| &self.text[at[0] as usize..at[1] as usize])
    }

    fn into_arrow_array(self) -> PolarsResult<BinaryArray<i64>> {
        let values = self.text.into_bytes().into();
        BinaryArray::try_new(ArrowDataType::LargeBinary, self.ends.try_into()?, values, None)
    }
}

impl ColumnBuffer {
    /// Empty, with capacity for `rows` rows.
    pub(super) fn with_room(kind: CellKind, rows: usize) -> ColumnBuffer {
        let values = match kind {
            CellKind::Text => Values::Text(Strings::with_room(rows)),
            CellKind::Count => Values::Count(Vec::with_capacity(rows)),
            CellKind::Real => Values::Real(Vec::with_capacity(rows)),
            CellKind::Flag => Values::Flag(MutableBitmap::with_capacity(rows)),
            CellKind::Texts => {
                let mut ends = Vec::with_capacity(rows + 1);
                ends.push(0);
                Values::Texts(ends, Strings::with_room(0))
            }
        };
        ColumnBuffer { values, valid: None }
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Text(texts) => texts.ends.len() - 1,
            Values::Count(counts) => counts.len(),
            Values::Real(reals) => reals.len(),
            Values::Flag(flags) => flags.len(),
            Values::Texts(ends, _) => ends.len() - 1,
        }
    }

    /// Bytes of the texts of some rows; 0 for other kinds.
    pub(super) fn text_bytes(&self, range: &Range<usize>) -> usize {
        match &self.values {
            Values::Text(texts) => texts.text_between(range).len(),
            Values::Texts(ends, texts) => {
                texts.text_between(&(ends[range.start] as usize..ends[range.end] as usize)).len()
            }
            _ => 0,
        }
    }

    /// Drops the validity if all cells are valid, so that the result does not depend on how they were cut.
    pub(super) fn drop_full_validity(mut self) -> ColumnBuffer {
        self.valid = self.valid.filter(|valid| valid.unset_bits() > 0);
        self
    }

    /// The single value of some rows, if there is one. Most differ in the second row.
    pub(super) fn single_value(&self, range: &Range<usize>) -> Option<Scalar> {
        let mut rows = range.clone();
        let first = self.with_cell(rows.next()?, Scalar::from_cell);
        rows.all(|row| self.with_cell(row, |cell| first.is_equal_to(cell))).then_some(first)
    }

    /// Whether some rows equal some rows of another column.
    pub(super) fn says_as(&self, rows: &Range<usize>, other: &ColumnBuffer, others: &Range<usize>) -> bool {
        let all = |each: &ColumnBuffer| each.valid.is_none();
        match (&self.values, &other.values) {
            (Values::Text(a), Values::Text(b)) if all(self) && all(other) => {
                let lengths = |texts: &Strings, rows: &Range<usize>| -> Vec<i64> {
                    texts.ends[rows.start..=rows.end].windows(2).map(|at| at[1] - at[0]).collect()
                };
                // Equal bytes may be cut into different texts.
                a.text_between(rows) == b.text_between(others) && lengths(a, rows) == lengths(b, others)
            }
            _ => false,
        }
    }

    /// Appends the validity of some rows.
    pub(super) fn append_validity(&self, range: &Range<usize>, bitmap: &mut MutableBitmap) {
        match &self.valid {
            Some(valid) => bitmap.extend_from_slice(valid.as_slice(), range.start, range.len()),
            None => bitmap.extend_constant(range.len(), true),
        }
    }

    /// Appends texts in the form of a page.
    pub(super) fn append_plain_texts(&self, range: &Range<usize>, page: &mut Vec<u8>) {
        let Values::Text(texts) = &self.values else { return };
        match &self.valid {
            Some(valid) => {
                range
                    .clone()
                    .filter(|row| valid.get(*row))
                    .for_each(|row| append_plain_text(texts.get(row), page));
            }
            None => texts.iter(range).for_each(|text| append_plain_text(text, page)),
        }
    }

    /// Appends a cell; one of another kind becomes null.
    pub(super) fn append(&mut self, cell: Cell<'_>) {
        let value = match (&mut self.values, cell) {
            (Values::Text(texts), Cell::Text(text)) => {
                texts.push(text);
                true
            }
            (Values::Count(counts), Cell::Count(n)) => {
                counts.push(n);
                true
            }
            (Values::Real(reals), Cell::Real(x)) => {
                reals.push(x);
                true
            }
            (Values::Flag(flags), Cell::Flag(flag)) => {
                flags.push(flag);
                true
            }
            (Values::Texts(ends, texts), Cell::Texts(list)) => {
                list.iter().for_each(|text| texts.push(text));
                ends.push(texts.ends.len() as i64 - 1);
                true
            }
            (values, _) => {
                match values {
                    Values::Text(texts) => texts.push(""),
                    Values::Count(counts) => counts.push(0),
                    Values::Real(reals) => reals.push(0.0),
                    Values::Flag(flags) => flags.push(false),
                    Values::Texts(ends, texts) => ends.push(texts.ends.len() as i64 - 1),
                }
                false
            }
        };
        match &mut self.valid {
            Some(valid) => valid.push(value),
            None if value => {}
            None => {
                // Every cell before this one was valid; this one is counted already.
                let mut valid = MutableBitmap::from_len_set(self.len() - 1);
                valid.push(false);
                self.valid = Some(valid);
            }
        }
    }

    /// Appends some rows of another column of the same kind.
    pub(super) fn extend(&mut self, more: &ColumnBuffer, range: Range<usize>) {
        let (before, count) = (self.len(), range.len());
        if self.valid.is_some() || more.valid.is_some() {
            let valid = self.valid.get_or_insert_with(|| MutableBitmap::from_len_set(before));
            match &more.valid {
                Some(more) => valid.extend_from_slice(more.as_slice(), range.start, count),
                None => valid.extend_constant(count, true),
            }
        }
        match (&mut self.values, &more.values) {
            (Values::Text(texts), Values::Text(more)) => texts.extend(more, range),
            (Values::Count(counts), Values::Count(more)) => counts.extend_from_slice(&more[range]),
            (Values::Real(reals), Values::Real(more)) => reals.extend_from_slice(&more[range]),
            (Values::Flag(flags), Values::Flag(more)) => {
                flags.extend_from_slice(more.as_slice(), range.start, count);
            }
            (Values::Texts(ends, texts), Values::Texts(others, more)) => {
                let shift = texts.ends.len() as i64 - 1 - others[range.start];
                texts.extend(more, others[range.start] as usize..others[range.end] as usize);
                ends.extend(others[range.start + 1..=range.end].iter().map(|end| end + shift));
            }
            // Columns of one kind have values of one kind.
            _ => {}
        }
    }

    /// Visits some cells, in order.
    pub(super) fn each(&self, range: &Range<usize>, mut look: impl FnMut(Cell<'_>)) {
        range.clone().for_each(|row| self.with_cell(row, &mut look));
    }

    fn with_cell<T>(&self, row: usize, look: impl FnOnce(Cell<'_>) -> T) -> T {
        if self.valid.as_ref().is_some_and(|valid| !valid.get(row)) {
            return look(Cell::Null);
        }
        let list: Vec<String>;
        look(match &self.values {
            Values::Text(texts) => Cell::Text(texts.get(row)),
            Values::Count(counts) => Cell::Count(counts[row]),
            Values::Real(reals) => Cell::Real(reals[row]),
            Values::Flag(flags) => Cell::Flag(flags.get(row)),
            Values::Texts(ends, texts) => {
                let places = ends[row] as usize..ends[row + 1] as usize;
                list = places.map(|at| texts.get(at).to_string()).collect();
                Cell::Texts(&list)
            }
        })
    }

    /// Adds some cells to the column's digest.
    pub(super) fn update_digest(&self, range: &Range<usize>, digest: &mut ColumnDigest) {
        match (&self.values, &self.valid) {
            (Values::Text(texts), None) => {
                digest.append_texts(&texts.text, &texts.ends[range.start..=range.end])
            }
            _ => self.each(range, |cell| digest.append(cell)),
        }
    }

    /// Its buffers as an Arrow array, texts as bytes.
    ///
    /// # Errors
    /// If Polars refuses them, which cannot happen because the lengths are right.
    pub(super) fn into_arrow_array(self) -> PolarsResult<Box<dyn Array>> {
        let valid = self.valid.map(MutableBitmap::freeze);
        Ok(match self.values {
            Values::Text(texts) => texts.into_arrow_array()?.with_validity(valid).boxed(),
            Values::Count(counts) => {
                PrimitiveArray::try_new(ArrowDataType::UInt64, counts.into(), valid)?.boxed()
            }
            Values::Real(reals) => {
                PrimitiveArray::try_new(ArrowDataType::Float64, reals.into(), valid)?.boxed()
            }
            Values::Flag(flags) => {
                BooleanArray::try_new(ArrowDataType::Boolean, flags.freeze(), valid)?.boxed()
            }
            Values::Texts(ends, texts) => {
                let item = ArrowField::new("item".into(), ArrowDataType::LargeBinary, true);
                let list = ArrowDataType::LargeList(Box::new(item));
                ListArray::try_new(list, ends.try_into()?, texts.into_arrow_array()?.boxed(), valid)?.boxed()
            }
        })
    }
}
