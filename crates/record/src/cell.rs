//! Typed rows without a table library: a record lists its columns and hands out its cells, and the
//! store turns them into Parquet and back.

/// The type of a column. Every column may hold null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// UTF-8 text.
    Text,
    /// A count or a position.
    Count,
    /// A score.
    Real,
    /// Yes or no.
    Flag,
    /// A list of texts.
    Texts,
}

/// A column of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name in Parquet and JSON.
    pub name: &'static str,
    /// Its type.
    pub kind: CellKind,
    /// Whether a row without a value has the empty one: an empty text, 0, no. A list is never null.
    pub filled: bool,
    /// Description, for the reference.
    pub about: &'static str,
}

impl Column {
    /// The value of a row that has none.
    pub fn empty_cell(&self) -> OwnedCell {
        match (self.kind, self.filled) {
            (CellKind::Texts, _) => OwnedCell::Texts(Vec::new()),
            (_, false) => OwnedCell::Null,
            (CellKind::Text, true) => OwnedCell::Text(String::new()),
            (CellKind::Count, true) => OwnedCell::Count(0),
            (CellKind::Real, true) => OwnedCell::Real(0.0),
            (CellKind::Flag, true) => OwnedCell::Flag(false),
        }
    }
}

/// One value of a row, borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// UTF-8 text.
    Text(&'a str),
    /// A count or a position.
    Count(u64),
    /// A score.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A list of texts.
    Texts(&'a [String]),
}

/// An owned [`Cell`].
#[derive(Clone, Debug, PartialEq)]
pub enum OwnedCell {
    /// No value.
    Null,
    /// UTF-8 text.
    Text(String),
    /// A count or a position.
    Count(u64),
    /// A score.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A list of texts.
    Texts(Vec<String>),
}

impl OwnedCell {
    /// The value, borrowed.
    pub fn as_cell(&self) -> Cell<'_> {
        match self {
            OwnedCell::Null => Cell::Null,
            OwnedCell::Text(text) => Cell::Text(text),
            OwnedCell::Count(n) => Cell::Count(*n),
            OwnedCell::Real(x) => Cell::Real(*x),
            OwnedCell::Flag(flag) => Cell::Flag(*flag),
            OwnedCell::Texts(list) => Cell::Texts(list),
        }
    }
}

impl From<Cell<'_>> for OwnedCell {
    fn from(cell: Cell<'_>) -> OwnedCell {
        match cell {
            Cell::Null => OwnedCell::Null,
            Cell::Text(text) => OwnedCell::Text(text.to_owned()),
            Cell::Count(n) => OwnedCell::Count(n),
            Cell::Real(x) => OwnedCell::Real(x),
            Cell::Flag(flag) => OwnedCell::Flag(flag),
            Cell::Texts(list) => OwnedCell::Texts(list.to_vec()),
        }
    }
}

/// Receives the cells of a row, in the order of its columns.
pub trait Cells {
    /// Takes the next cell.
    fn append(&mut self, cell: Cell<'_>);
}

/// Gives the values of a stored row, in the order of the record's columns. A value of another type than the
/// column's is treated as absent: the store checks types once for a whole part.
pub trait Values {
    /// The next value as text.
    fn text(&mut self) -> Option<String>;
    /// The next value as a count.
    fn count(&mut self) -> Option<u64>;
    /// The next value as a real number.
    fn real(&mut self) -> Option<f64>;
    /// The next value as a flag.
    fn flag(&mut self) -> Option<bool>;
    /// The next value as a list of texts.
    fn texts(&mut self) -> Option<Vec<String>>;
}

/// A Rust type that can be in a column.
pub trait Field: Sized {
    /// The column type it maps to.
    const KIND: CellKind;
    /// Whether it has no null.
    const FILLED: bool;
    /// The value as a cell.
    fn cell(&self) -> Cell<'_>;
    /// The value read back.
    fn take(values: &mut dyn Values) -> Self;
}

/// A row: what stages read and write. Its columns are those of its type ([`Typed`]), or come with it
/// ([`super::Row`]).
pub trait Record: Sized + Send + Sync + 'static {
    /// The source of the columns if the type alone does not define them.
    type Columns: Copy + Send + Sync + 'static;
    /// The columns, in stored order.
    fn described(columns: Self::Columns) -> &'static [Column];
    /// The source of the columns of this one.
    fn columns(&self) -> Self::Columns;
    /// The record's identity, unique in its table.
    fn id(&self) -> &str;
    /// Hands out every cell, in the order of its columns.
    fn append_to(&self, cells: &mut dyn Cells);
    /// Builds a row from stored values, in the order of its columns.
    fn take(columns: Self::Columns, values: &mut dyn Values) -> Self;
}

/// A row whose type defines its columns.
pub trait Typed: Record<Columns = ()> {
    /// The columns, in stored order.
    const COLUMNS: &'static [Column];
}

macro_rules! field {
    ($type:ty, $kind:ident, |$value:ident| $cell:expr, $take:ident, $default:expr) => {
        impl Field for $type {
            const KIND: CellKind = CellKind::$kind;
            const FILLED: bool = true;
            fn cell(&self) -> Cell<'_> {
                let $value = self;
                $cell
            }
            fn take(values: &mut dyn Values) -> Self {
                values.$take().unwrap_or($default)
            }
        }
        impl Field for Option<$type> {
            const KIND: CellKind = CellKind::$kind;
            const FILLED: bool = false;
            fn cell(&self) -> Cell<'_> {
                self.as_ref().map_or(Cell::Null, Field::cell)
            }
            fn take(values: &mut dyn Values) -> Self {
                values.$take()
            }
        }
    };
}

field!(String, Text, |v| Cell::Text(v), text, String::new());
field!(u64, Count, |v| Cell::Count(*v), count, 0);
field!(f64, Real, |v| Cell::Real(*v), real, 0.0);
field!(bool, Flag, |v| Cell::Flag(*v), flag, false);
field!(Vec<String>, Texts, |v| Cell::Texts(v), texts, Vec::new());

/// Declares a record type: a struct whose fields are columns. The first field is its id. Doc comments of
/// fields become [`Column::about`].
#[doc(hidden)]
#[macro_export]
macro_rules! declare_record {
    ($(#[$meta:meta])* pub struct $name:ident {
        $(#[doc = $id_about:literal])+ $id:ident: String,
        $($(#[doc = $about:literal])+ $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $name {
            $(#[doc = $id_about])+ pub $id: String,
            $($(#[doc = $about])+ pub $field: $type,)*
        }

        impl $crate::Typed for $name {
            const COLUMNS: &'static [$crate::Column] = &[
                $crate::Column {
                    name: stringify!($id), kind: $crate::CellKind::Text,
                    filled: true, about: concat!($($id_about),+).trim_ascii(),
                },
                $($crate::Column {
                    name: stringify!($field), kind: <$type as $crate::Field>::KIND,
                    filled: <$type as $crate::Field>::FILLED,
                    about: concat!($($about),+).trim_ascii(),
                },)*
            ];
        }

        impl $crate::Record for $name {
            type Columns = ();
            fn described((): ()) -> &'static [$crate::Column] {
                <$name as $crate::Typed>::COLUMNS
            }
            fn columns(&self) {}
            fn id(&self) -> &str { &self.$id }
            fn append_to(&self, cells: &mut dyn $crate::Cells) {
                use $crate::Field as _;
                cells.append(self.$id.cell());
                $(cells.append(self.$field.cell());)*
            }
            fn take((): (), values: &mut dyn $crate::Values) -> Self {
                use $crate::Field;
                Self {
                    $id: Field::take(values),
                    $($field: Field::take(values),)*
                }
            }
        }
    };
}
#[doc(inline)]
pub use declare_record as record;

/// The logical hash of rows, combined from the digests of their columns; independent of the file format.
pub fn row_digest<'a, R: Record>(columns: R::Columns, rows: impl IntoIterator<Item = &'a R>) -> blake3::Hash {
    let columns = R::described(columns).iter().map(|_| ColumnDigest::default()).collect();
    let mut sink = Digests { columns, next: 0 };
    for row in rows {
        sink.next = 0;
        row.append_to(&mut sink);
    }
    digest_of(sink.columns.into_iter().map(ColumnDigest::finish))
}

/// The logical hash of rows whose columns have these digests.
pub fn digest_of(columns: impl IntoIterator<Item = blake3::Hash>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for column in columns {
        hasher.update(column.as_bytes());
    }
    hasher.finalize()
}

struct Digests {
    columns: Vec<ColumnDigest>,
    next: usize,
}

impl Cells for Digests {
    fn append(&mut self, cell: Cell<'_>) {
        self.columns[self.next].append(cell);
        self.next += 1;
    }
}

/// The hash of a column, built cell by cell: its type, a number for each cell in order, which of them are
/// null, and the texts concatenated. The number of a text is its length, and so is that of a list, followed
/// by those of its texts.
#[derive(Default)]
pub struct ColumnDigest {
    kind: u8,
    rows: u64,
    nulls: Stream,
    numbers: Stream,
    texts: Stream,
}

impl ColumnDigest {
    /// Takes the next cell.
    // For a column of one kind the compiler keeps only one of these branches.
    #[inline(always)]
    pub fn append(&mut self, cell: Cell<'_>) {
        let (kind, number) = match cell {
            Cell::Null => {
                self.nulls.append(&self.rows.to_le_bytes());
                (self.kind, 0)
            }
            Cell::Text(text) => (1, text.len() as u64),
            Cell::Count(n) => (2, n),
            Cell::Real(x) => (3, x.to_bits()),
            Cell::Flag(flag) => (4, flag.into()),
            Cell::Texts(list) => (5, list.len() as u64),
        };
        (self.kind, self.rows) = (kind, self.rows + 1);
        self.numbers.append(&number.to_le_bytes());
        match cell {
            Cell::Text(text) => self.texts.append(text.as_bytes()),
            Cell::Texts(list) => {
                for text in list {
                    self.numbers.append(&(text.len() as u64).to_le_bytes());
                    self.texts.append(text.as_bytes());
                }
            }
            _ => {}
        }
    }

    /// Takes concatenated texts: the start of the first, and the end of each.
    pub fn append_texts(&mut self, text: &str, ends: &[i64]) {
        for at in ends.windows(2) {
            self.numbers.append(&(at[1] - at[0]).to_le_bytes());
        }
        if let ([first, .., last], rows) = (ends, ends.len().saturating_sub(1)) {
            (self.kind, self.rows) = (1, self.rows + rows as u64);
            self.texts.append(&text.as_bytes()[*first as usize..*last as usize]);
        }
    }

    /// The hash of all cells.
    pub fn finish(self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[self.kind]);
        for stream in [self.nulls, self.numbers, self.texts] {
            hasher.update(stream.finish().as_bytes());
        }
        hasher.finalize()
    }
}

/// Buffers bytes so that they are hashed in large blocks, while they are in the cache.
#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    hasher: Option<Box<blake3::Hasher>>,
}

const TOGETHER: usize = 48 << 10;

impl Stream {
    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > TOGETHER {
            self.hash_bytes(bytes);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn hash_bytes(&mut self, bytes: &[u8]) {
        let hasher = self.hasher.get_or_insert_default();
        hasher.update(&self.bytes).update(bytes);
        self.bytes.clear();
    }

    fn finish(mut self) -> blake3::Hash {
        match &mut self.hasher {
            Some(hasher) => hasher.update(&self.bytes).finalize(),
            None => blake3::hash(&self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        /// Two texts.
        pub struct Pair {
            /// Id.
            id: String,
            /// May be absent.
            text: Option<String>,
        }
    }

    fn pair(id: &str, text: Option<&str>) -> Pair {
        Pair { id: id.into(), text: text.map(Into::into) }
    }

    #[test]
    fn digests_of_null_and_empty_and_of_fields_differ() {
        let rows = [
            vec![pair("ab", Some("c"))],
            vec![pair("a", Some("bc"))],
            vec![pair("ab", None)],
            vec![pair("ab", Some(""))],
            vec![pair("ab", Some("c")), pair("ab", Some("c"))],
        ];
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                assert_eq!(i == j, row_digest((), a) == row_digest((), b), "{i} {j}");
            }
        }
    }
}
