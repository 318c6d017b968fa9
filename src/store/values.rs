//! The values of a column, one behind the other.

use std::ops::Range;

use polars::prelude::*;
use polars_arrow::array::{Array, BinaryArray, BooleanArray, ListArray, PrimitiveArray};
use polars_arrow::bitmap::MutableBitmap;

use crate::record::{Cell, CellKind};

/// A cell by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum One {
    Null,
    Text(String),
    Count(u64),
    /// The bits of a number: what is written again is what was there.
    Real(u64),
    Flag(bool),
    Texts(Vec<String>),
}

impl One {
    /// Of a column of this kind; a cell of another is null.
    pub(super) fn of(cell: Cell<'_>, kind: CellKind) -> One {
        match (kind, cell) {
            (CellKind::Text, Cell::Text(text)) => One::Text(text.into()),
            (CellKind::Count, Cell::Count(n)) => One::Count(n),
            (CellKind::Real, Cell::Real(x)) => One::Real(x.to_bits()),
            (CellKind::Flag, Cell::Flag(flag)) => One::Flag(flag),
            (CellKind::Texts, Cell::Texts(texts)) => One::Texts(texts.to_vec()),
            _ => One::Null,
        }
    }

    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            One::Null => Cell::Null,
            One::Text(text) => Cell::Text(text),
            One::Count(n) => Cell::Count(*n),
            One::Real(bits) => Cell::Real(f64::from_bits(*bits)),
            One::Flag(flag) => Cell::Flag(*flag),
            One::Texts(texts) => Cell::Texts(texts),
        }
    }

    pub(super) fn is(&self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (One::Null, Cell::Null) => true,
            (One::Text(one), Cell::Text(text)) => one == text,
            (One::Count(one), Cell::Count(n)) => *one == n,
            (One::Real(one), Cell::Real(x)) => *one == x.to_bits(),
            (One::Flag(one), Cell::Flag(flag)) => *one == flag,
            (One::Texts(one), Cell::Texts(texts)) => one == texts,
            _ => false,
        }
    }
}

/// Cells that differ.
#[derive(Clone, Debug)]
pub(super) struct Each {
    values: Values,
    /// Which are none; nothing where all are one. A value stands for each of those, too.
    valid: Option<MutableBitmap>,
}

/// The first, where all are equal to it.
fn first<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[derive(Clone, Debug)]
enum Values {
    Text(Strings),
    Count(Vec<u64>),
    Real(Vec<f64>),
    Flag(MutableBitmap),
    /// Where each list ends among the texts of all.
    Texts(Vec<i64>, Strings),
}

/// Texts one behind the other.
#[derive(Clone, Debug)]
struct Strings {
    text: String,
    /// Where the first begins, and where each ends.
    ends: Vec<i64>,
    /// How many may come.
    room: usize,
}

/// Texts by whose length memory is taken for those to come.
const FIRST: usize = 64;
/// Bytes that are taken for them at most.
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
        // The first tell how long the others are, within an eighth.
        if self.ends.len() == FIRST && self.room > FIRST {
            let rest = (self.text.len() / FIRST).saturating_mul(self.room - FIRST);
            self.text.reserve(rest.saturating_add(rest / 8).min(MOST));
        }
    }

    fn between(&self, range: &Range<usize>) -> &str {
        &self.text[self.ends[range.start] as usize..self.ends[range.end] as usize]
    }

    fn extend(&mut self, more: &Strings, range: Range<usize>) {
        let shift = self.text.len() as i64 - more.ends[range.start];
        self.text.push_str(more.between(&range));
        self.ends.extend(more.ends[range.start + 1..=range.end].iter().map(|end| end + shift));
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.ends.windows(2).map(|at| &self.text[at[0] as usize..at[1] as usize])
    }

    fn array(self) -> PolarsResult<BinaryArray<i64>> {
        let values = self.text.into_bytes().into();
        BinaryArray::try_new(ArrowDataType::LargeBinary, self.ends.try_into()?, values, None)
    }
}

impl Each {
    /// None yet, and memory for so many.
    pub(super) fn with_room(kind: CellKind, rows: usize) -> Each {
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
        Each { values, valid: None }
    }

    /// The same so many times.
    pub(super) fn repeated(kind: CellKind, one: &One, rows: usize) -> Each {
        if let One::Text(text) = one {
            let ends = (0..=rows).map(|row| (row * text.len()) as i64).collect();
            let texts = Strings { text: text.repeat(rows), ends, room: rows };
            return Each { values: Values::Text(texts), valid: None };
        }
        let mut each = Each::with_room(kind, rows);
        (0..rows).for_each(|_| each.put(one.cell()));
        each
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

    /// How many bytes the texts of some rows have; none where it has no texts.
    pub(super) fn text_bytes(&self, range: &Range<usize>) -> usize {
        match &self.values {
            Values::Text(texts) => texts.between(range).len(),
            Values::Texts(ends, texts) => {
                texts.between(&(ends[range.start] as usize..ends[range.end] as usize)).len()
            }
            _ => 0,
        }
    }

    /// Makes room for texts of so many bytes.
    pub(super) fn reserve(&mut self, bytes: usize) {
        if let Values::Text(texts) | Values::Texts(_, texts) = &mut self.values {
            texts.text.reserve(bytes);
        }
    }

    /// What all of them say, where they say one thing. Most differ in the second row.
    pub(super) fn one(&self) -> Option<One> {
        let nulls = self.valid.as_ref().map_or(0, MutableBitmap::unset_bits);
        if nulls > 0 {
            return (nulls == self.len()).then_some(One::Null);
        }
        match &self.values {
            Values::Text(texts) => first(texts.iter()).map(|text| One::Text(text.into())),
            Values::Count(counts) => first(counts.iter()).map(|n| One::Count(*n)),
            Values::Real(reals) => first(reals.iter().map(|x| x.to_bits())).map(One::Real),
            Values::Flag(flags) => first(flags.iter()).map(One::Flag),
            Values::Texts(ends, texts) => {
                let list = |at: &[i64]| (at[0] as usize..at[1] as usize).map(|i| texts.between(&(i..i + 1)));
                let texts = first(ends.windows(2).map(|at| list(at).collect::<Vec<_>>()));
                texts.map(|texts| One::Texts(texts.into_iter().map(str::to_string).collect()))
            }
        }
    }

    /// Takes the next cell; one of another kind is null.
    pub(super) fn put(&mut self, cell: Cell<'_>) {
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
                let mut valid = MutableBitmap::from_len_set(self.len() - 1);
                valid.push(false);
                self.valid = Some(valid);
            }
        }
    }

    /// Takes some rows of others of the kind.
    pub(super) fn extend(&mut self, more: &Each, range: Range<usize>) {
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

    /// Shows every cell, in order.
    pub(super) fn each(&self, mut look: impl FnMut(Cell<'_>)) {
        let valid = |row| self.valid.as_ref().is_none_or(|valid| valid.get(row));
        let mut show = |row, cell: Cell<'_>| look(if valid(row) { cell } else { Cell::Null });
        match &self.values {
            Values::Text(texts) => {
                texts.iter().enumerate().for_each(|(row, text)| show(row, Cell::Text(text)));
            }
            Values::Count(counts) => {
                counts.iter().enumerate().for_each(|(row, n)| show(row, Cell::Count(*n)));
            }
            Values::Real(reals) => reals.iter().enumerate().for_each(|(row, x)| show(row, Cell::Real(*x))),
            Values::Flag(flags) => {
                flags.iter().enumerate().for_each(|(row, flag)| show(row, Cell::Flag(flag)));
            }
            Values::Texts(ends, texts) => {
                let mut texts = texts.iter();
                for (row, at) in ends.windows(2).enumerate() {
                    let list = texts.by_ref().take((at[1] - at[0]) as usize);
                    let list: Vec<String> = list.map(str::to_string).collect();
                    show(row, Cell::Texts(&list));
                }
            }
        }
    }

    /// Its buffers as Arrow has them, texts as bytes.
    ///
    /// # Errors
    /// Where Polars refuses them, which their lengths rule out.
    pub(super) fn array(self) -> PolarsResult<Box<dyn Array>> {
        let valid = self.valid.map(MutableBitmap::freeze);
        Ok(match self.values {
            Values::Text(texts) => texts.array()?.with_validity(valid).boxed(),
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
                ListArray::try_new(list, ends.try_into()?, texts.array()?.boxed(), valid)?.boxed()
            }
        })
    }
}
