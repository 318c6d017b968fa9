//! Cutting a dump into its items without understanding them: lines, or the elements of one array.
//!
//! An invalid byte affects only its item, not the file: a string that runs over the end of its
//! line is broken JSON, and reading continues with the next line.

use std::ops::Range;

use rayon::prelude::*;

use riddlemill_files::reading::{RowFault, is_mostly_utf8, likely_encodings};
use riddlemill_record::Reason;

/// How records follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordForm {
    Lines,
    Array,
    /// Objects, each over several lines, as `jq` writes them.
    Values,
    /// The list that begins behind so many bytes.
    Within(u64),
    /// Pages, of which each has a list of records.
    Pages {
        /// How the pages follow one another: as lines, elements of a list, or over several lines.
        of: Box<RecordForm>,
        /// The pointer to the list in each of them; empty where a page is the list.
        at: String,
    },
}

/// What stands before each text in a sequence of JSON texts (RFC 7464).
pub(super) const RECORD_MARK: u8 = 0x1e;

/// A line or an array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// The line's number, or the element's, from 1.
    pub(super) position: u64,
    /// Its bytes, or why they were not read.
    pub(super) bytes: Result<&'a [u8], Unread>,
}

/// Items that are handed on together, their bytes one behind the other.
#[derive(Debug, Default)]
pub(super) struct SplitItems {
    bytes: Vec<u8>,
    items: Vec<(u64, Result<Range<usize>, Unread>)>,
    /// Where in the stream each item begins; empty where its reader does not count bytes.
    starts: Vec<u64>,
    /// Where the last one ends.
    end: u64,
}

impl SplitItems {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn push(&mut self, position: u64, bytes: Result<&[u8], Unread>) {
        let bytes = bytes.map(|bytes| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(bytes);
            start..self.bytes.len()
        });
        self.items.push((position, bytes));
    }

    /// Where in the stream an item begins, from 0; 0 where its reader does not count bytes.
    pub(super) fn start_of_item(&self, item: usize) -> u64 {
        self.starts.get(item).copied().unwrap_or(0)
    }

    /// Where in the stream an item ends: where the next one begins.
    pub(super) fn end_of_item(&self, item: usize) -> u64 {
        self.starts.get(item + 1).copied().unwrap_or(self.end)
    }

    /// One of them.
    pub(super) fn get(&self, item: usize) -> Option<Item<'_>> {
        let (position, bytes) = self.items.get(item)?;
        let bytes = bytes.as_ref().map(|range| &self.bytes[range.clone()]).map_err(|unread| *unread);
        Some(Item { position: *position, bytes })
    }

    /// Each of them, in order.
    pub(super) fn par_iter(&self) -> impl IndexedParallelIterator<Item = Item<'_>> {
        let item = |(position, bytes): &(u64, Result<Range<usize>, Unread>)| Item {
            position: *position,
            bytes: bytes.as_ref().map(|range| &self.bytes[range.clone()]).map_err(|unread| *unread),
        };
        self.items.par_iter().map(item)
    }
}

/// Why an item was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Over the limit.
    #[error("{0} bytes, over the limit of import.max_line_mib")]
    Oversize(u64),
    /// Not UTF-8.
    #[error("not UTF-8 at byte {at}: {cause}")]
    Encoding {
        /// The offset of the first wrong byte in the item.
        at: usize,
        /// What it is instead.
        cause: WrongByte,
    },
    /// The file is in another encoding, in which a character is wrong.
    #[error(
        "character {0} is none of the file's encoding: a byte is damaged there, or the file was cut\n  hint: take the record from a whole copy of the file, or save the file again, as UTF-8"
    )]
    Undecoded(usize),
    /// The file ends here although it should not.
    #[error("the file ends in the middle: {0}")]
    Truncated(&'static str),
    /// A row of a table that cannot be put under its columns.
    #[error(transparent)]
    Row(#[from] RowFault),
    /// The file holds something else than its first bytes promise.
    #[error("{0}")]
    Foreign(&'static str),
}

/// Why bytes are no UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongByte {
    /// They are valid GB18030.
    #[error(
        "it reads as GBK\n  hint: this line is in another encoding than the file: write it as UTF-8 again, or set aside the part that is GBK (`iconv -f GB18030 -t UTF-8`)"
    )]
    Gbk,
    /// They are in another encoding, perhaps this one.
    #[error(
        "it reads as {0}\n  hint: where that is how the file was written, `iconv -f {0} -t UTF-8 FILE > NEW` writes it as UTF-8; then name the new file as `path`"
    )]
    Other(&'static str),
    /// They are in another encoding, of which several may be meant.
    #[error(
        "it is in another encoding, which may be {of}\n  hint: `iconv -f ENCODING -t UTF-8 FILE > NEW` writes the file as UTF-8, with the one in which its texts are what was written; then name the new file as `path`",
        of = .0.join(", ")
    )]
    Several(&'static [&'static str]),
    /// They end within a character.
    #[error(
        "it ends within a character\n  hint: the file or the text was cut there; take it from a whole copy"
    )]
    Cut,
    /// They are damaged, or in an encoding that is not known.
    #[error(
        "the byte is damaged, or of another encoding\n  hint: take the record from a whole copy of the file, or write it as UTF-8 again"
    )]
    Damaged,
}

impl Unread {
    /// The reason in the ledger.
    pub fn reason(self) -> Reason {
        match self {
            Unread::Oversize(_) => Reason::Oversize,
            Unread::Encoding { .. } | Unread::Undecoded(_) => Reason::Encoding,
            Unread::Truncated(_) => Reason::Truncated,
            Unread::Row(_) | Unread::Foreign(_) => Reason::Unreadable,
        }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Unread {
        let error = std::str::from_utf8(bytes).err();
        let at = error.map_or(0, |error| error.valid_up_to());
        let cause = match is_mostly_utf8(bytes) {
            true if error.is_some_and(|error| error.error_len().is_none()) => WrongByte::Cut,
            true => WrongByte::Damaged,
            false => match likely_encodings(bytes) {
                ["GB18030"] => WrongByte::Gbk,
                [name] => WrongByte::Other(name),
                names => WrongByte::Several(names),
            },
        };
        Unread::Encoding { at, cause }
    }
}

/// Cuts a stream of bytes, fed in any pieces, into items.
#[derive(Debug)]
pub(super) struct Splitter {
    shape: SplitShape,
    limit: u64,
    position: u64,
    /// The complete items; after them, from `start` on, the bytes of the current item.
    items: SplitItems,
    start: usize,
    /// Bytes of the current item, also those not kept because it is over the limit.
    length: u64,
    /// Bytes of the stream before the current item.
    consumed: u64,
    /// Bytes before the list that are still passed over; what follows the list is passed over, too.
    before: Option<u64>,
}

#[derive(Debug)]
enum SplitShape {
    /// Nothing but whitespace came so far.
    Unknown,
    Lines,
    Array(Array),
    /// Objects over several lines.
    Values(Array),
}

#[derive(Debug, Default)]
struct Array {
    depth: u32,
    string: bool,
    escaped: bool,
    /// After the closing bracket.
    closed: bool,
    /// After a broken element, until the line ends.
    broken: bool,
}

impl Splitter {
    pub(super) fn new(limit: u64) -> Splitter {
        Splitter {
            shape: SplitShape::Unknown,
            limit,
            position: 0,
            items: SplitItems::default(),
            start: 0,
            length: 0,
            consumed: 0,
            before: None,
        }
    }

    /// For a stream of this shape.
    pub(super) fn for_shape(shape: &RecordForm, limit: u64) -> Splitter {
        let array = || SplitShape::Array(Array { depth: 1, ..Array::default() });
        let splitter = Splitter::new(limit);
        match shape {
            // Blanks before the first item are counted there.
            RecordForm::Lines | RecordForm::Array => splitter,
            RecordForm::Values => Splitter { shape: SplitShape::Values(Array::default()), ..splitter },
            RecordForm::Within(before) => Splitter { shape: array(), before: Some(*before), ..splitter },
            // Pages are taken apart once they are whole.
            RecordForm::Pages { of, .. } => Splitter::for_shape(of, limit),
        }
    }

    /// Goes on at the item of this position, in a stream that was cut into items before.
    pub(super) fn resume_at(limit: u64, shape: &RecordForm, position: u64) -> Splitter {
        let shape = match shape {
            RecordForm::Lines | RecordForm::Pages { .. } => SplitShape::Lines,
            RecordForm::Values => SplitShape::Values(Array::default()),
            RecordForm::Array | RecordForm::Within(_) => {
                SplitShape::Array(Array { depth: 1, ..Array::default() })
            }
        };
        Splitter { shape, position: position.saturating_sub(1), ..Splitter::new(limit) }
    }

    /// How many items are complete, and their bytes.
    pub(super) fn count_ready(&self) -> (usize, usize) {
        (self.items.len(), self.start)
    }

    /// Hands out the items that are complete.
    pub(super) fn take_items(&mut self) -> SplitItems {
        // The next will be about as large as these.
        let mut at_hand = Vec::with_capacity(self.items.bytes.len());
        at_hand.extend_from_slice(&self.items.bytes[self.start..]);
        self.items.bytes.truncate(self.start);
        self.start = 0;
        let items = Vec::with_capacity(self.items.len());
        let starts = Vec::with_capacity(self.items.len());
        self.items.end = self.consumed;
        std::mem::replace(&mut self.items, SplitItems { bytes: at_hand, items, starts, end: 0 })
    }

    /// Takes the next piece of the stream.
    pub(super) fn feed_piece(&mut self, mut piece: &[u8]) {
        if let Some(before) = &mut self.before {
            let passed = (*before).min(piece.len() as u64);
            *before -= passed;
            self.consumed += passed;
            piece = &piece[passed as usize..];
        }
        if matches!(self.shape, SplitShape::Unknown) {
            // Blank lines before the first item count as lines, in case this is a file of lines.
            while let Some((&first, rest)) = piece.split_first() {
                self.consumed += 1;
                match first {
                    b'\n' => self.position += 1,
                    b' ' | b'\t' | b'\r' | RECORD_MARK => {}
                    b'[' => {
                        self.shape = SplitShape::Array(Array { depth: 1, ..Array::default() });
                        self.position = 0;
                        piece = rest;
                        break;
                    }
                    _ => {
                        self.consumed -= 1;
                        self.shape = SplitShape::Lines;
                        break;
                    }
                }
                piece = rest;
            }
        }
        match self.shape {
            SplitShape::Unknown => {}
            SplitShape::Lines => self.split_lines(piece),
            SplitShape::Array(_) | SplitShape::Values(_) => self.split_array(piece),
        }
    }

    /// The stream has ended: what is left is complete. `cut`: whether it ended with an error.
    pub(super) fn finish(&mut self, cut: Option<&'static str>) {
        match &self.shape {
            SplitShape::Lines => self.end_line(),
            SplitShape::Array(array) if !array.closed && cut.is_none() => {
                self.end_element();
                self.position += 1;
                self.items.push(self.position, Err(Unread::Truncated("the array is not closed")));
            }
            SplitShape::Array(_) | SplitShape::Values(_) => self.end_element(),
            SplitShape::Unknown => {}
        }
        if let Some(why) = cut {
            self.position += 1;
            self.items.push(self.position, Err(Unread::Truncated(why)));
        }
    }

    fn extend_item(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        if self.length <= self.limit {
            self.items.bytes.extend_from_slice(bytes);
        } else {
            // The bytes of an item over the limit are only counted, so that they do not fill the memory.
            self.items.bytes.truncate(self.start);
        }
    }

    fn split_lines(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.extend_item(&piece[..end]);
            self.end_line();
            piece = &piece[end + 1..];
        }
        self.extend_item(piece);
    }

    /// Blank lines are not items.
    fn end_line(&mut self) {
        self.position += 1;
        self.item_done();
    }

    fn end_element(&mut self) {
        if self.length > self.limit || !self.at_hand().is_empty() {
            self.position += 1;
        }
        self.item_done();
    }

    /// The current item, without the whitespace around it.
    fn at_hand(&self) -> &[u8] {
        let bytes = self.items.bytes[self.start..].trim_ascii();
        if bytes == [RECORD_MARK] { &[] } else { bytes }
    }

    fn item_done(&mut self) {
        let length = std::mem::take(&mut self.length);
        let begins = self.consumed;
        // The byte that ended it belongs to it.
        self.consumed += length + 1;
        if length > self.limit {
            self.items.items.push((self.position, Err(Unread::Oversize(length))));
            self.items.starts.push(begins);
        } else if !self.at_hand().is_empty() {
            // Files from Windows end their lines with CRLF.
            if self.items.bytes.last() == Some(&b'\r') {
                self.items.bytes.pop();
            }
            let marks =
                self.items.bytes[self.start..].iter().take_while(|byte| **byte == RECORD_MARK).count();
            let start = std::mem::replace(&mut self.start, self.items.bytes.len()) + marks;
            self.items.items.push((self.position, Ok(start..self.start)));
            self.items.starts.push(begins);
        }
        self.items.bytes.truncate(self.start);
    }

    fn split_array(&mut self, piece: &[u8]) {
        let mut start = 0;
        let within = self.before.is_some();
        for (i, &byte) in piece.iter().enumerate() {
            let ends = match &mut self.shape {
                SplitShape::Array(array) if within && array.closed => return,
                SplitShape::Array(array) => array.is_ended_by(byte),
                SplitShape::Values(array) => {
                    let behind = std::mem::take(&mut array.closed);
                    let ends = array.step_of_values(byte);
                    if behind {
                        // The byte may be the first one of the next object.
                        self.extend_item(&piece[start..i]);
                        self.end_element();
                        self.consumed -= 1;
                        start = i;
                    }
                    ends
                }
                _ => return,
            };
            if ends {
                self.extend_item(&piece[start..i]);
                self.end_element();
                start = i + 1;
            }
        }
        self.extend_item(&piece[start..]);
    }
}

impl Array {
    /// Takes a byte of objects that follow one another; true where a line breaks off.
    fn step_of_values(&mut self, byte: u8) -> bool {
        if self.string && byte == b'\n' {
            *self = Array::default();
            return true;
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.string => self.escaped = true,
            b'"' => self.string = !self.string,
            _ if self.string => {}
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.closed = self.depth == 0;
            }
            _ => {}
        }
        false
    }

    /// Takes a byte; true where it ends the element (and is not part of it).
    fn is_ended_by(&mut self, byte: u8) -> bool {
        if self.broken {
            // The rest of a broken line belongs to the broken element.
            self.broken = byte != b'\n';
            return byte == b'\n';
        }
        if self.string {
            match byte {
                // A line cannot end inside a string: the element is broken, the next line is not.
                b'\n' => {
                    *self = Array { depth: 1, ..Array::default() };
                    return true;
                }
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 1 => self.depth -= 1,
            b']' => {
                self.closed = true;
                return true;
            }
            b'}' => self.broken = true,
            b',' if self.depth == 1 => return true,
            _ => {}
        }
        false
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
