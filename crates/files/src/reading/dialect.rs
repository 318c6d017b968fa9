//! How a table of text is written: what parts its columns, and where it begins.

use std::cmp::Reverse;
use std::io::Read;

use csv::{Reader, ReaderBuilder};

use super::quoting::quoting_of;

/// Bytes of a file that show what it is.
pub const HEAD: usize = 64 << 10;

/// What may part columns; of equally good ones the first is meant.
const DELIMITERS: [u8; 4] = *b",\t;|";

/// Rows that are looked at.
const ROWS: usize = 32;

/// Rows above the names of columns, at most.
pub const ABOVE: usize = 20;

/// The form of a table of text, which is in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// What parts the columns.
    pub delimiter: u8,
    /// Bytes of the line `sep=;` that spreadsheets put above the table.
    pub skip: usize,
    /// Whether a quotation mark at the start of a cell may be none of its text.
    pub has_quotes: bool,
    /// Whether it is a fault where such a mark is not closed, and no text.
    pub is_strict: bool,
}

impl Dialect {
    /// The form of a table that begins so: that which gives the most columns, and gives as many in other rows.
    pub fn guess_dialect(head: &[u8]) -> Dialect {
        if let Some(found) = stated_dialect(head) {
            return found;
        }
        let whole = head.len() < HEAD;
        let mut best = (Dialect::with_delimiter(b',', 0), (false, false, Reverse(0), 0, 0));
        for delimiter in DELIMITERS {
            let dialect = Dialect::with_delimiter(delimiter, 0);
            let rows = dialect.count_cells(head);
            // A title of the table, and remarks above its columns, are not parted.
            let above = rows.iter().take(ABOVE).position(|cells| *cells > 1).unwrap_or(0);
            let Some((&columns, others)) = rows[above..].split_first() else { continue };
            let alike = others.iter().filter(|cells| **cells == columns).count();
            let agrees = columns > 1 && alike * 2 >= others.len() && (above == 0 || alike > 0);
            let score = (agrees, columns > 1, Reverse(above), columns, alike);
            if score > best.1 {
                best = (dialect, score);
            }
        }
        match best.0 {
            dialect if dialect.delimiter == b'\t' => {
                let (has_quotes, is_strict) = quoting_of(head, b'\t', whole);
                Dialect { has_quotes, is_strict, ..dialect }
            }
            dialect => dialect,
        }
    }

    fn with_delimiter(delimiter: u8, skip: usize) -> Dialect {
        Dialect { delimiter, skip, has_quotes: true, is_strict: true }
    }

    /// The cells of each of the first rows.
    fn count_cells(&self, head: &[u8]) -> Vec<usize> {
        let mut reader = self.open_reader(head);
        let rows = reader.byte_records().take(ROWS);
        let mut rows: Vec<usize> = rows.filter_map(|row| Some(row.ok()?.len())).collect();
        // The last row may be cut off.
        if head.len() >= HEAD && rows.len() > 1 && rows.len() < ROWS {
            rows.pop();
        }
        rows
    }

    /// How many cells nearly every row of a table that begins so has beyond its columns: some programs end each row with what parts
    /// columns.
    pub fn count_spare_cells(&self, head: &[u8], columns: usize) -> usize {
        let rows = self.count_cells(&head[self.skip.min(head.len())..]);
        let most = rows.iter().copied().max().unwrap_or(0);
        // The first one has the names.
        let below = rows.len().saturating_sub(1);
        let count = |cells: usize| rows.iter().filter(|row| **row == cells).count();
        let is_usual = |cells: &usize| count(*cells) > 1 && count(*cells) * 4 >= below * 3;
        (columns + 1..=most).rev().find(is_usual).map_or(0, |cells| cells - columns)
    }

    /// Reads the rows, the header among them. `text` is what is behind `skip`.
    pub fn open_reader<R: Read>(&self, text: R) -> Reader<R> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            // A row with too few cells is reported with its place, and does not spoil the others.
            .flexible(true)
            .from_reader(text)
    }
}

/// `sep=;` on a line of its own, in quotes or not.
fn stated_dialect(head: &[u8]) -> Option<Dialect> {
    let end = head.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let line =
        head[..end].strip_prefix(b"\"").map_or(&head[..end], |line| line.strip_suffix(b"\"").unwrap_or(line));
    let [delimiter] = *line.get(..4).filter(|key| key.eq_ignore_ascii_case(b"sep=")).map(|_| &line[4..])?
    else {
        return None;
    };
    let skip = end + if head[end..].starts_with(b"\r\n") { 2 } else { 1 };
    Some(Dialect::with_delimiter(delimiter, skip))
}

/// A column's name as it is looked up: without blanks around it, and without a mark of byte order.
pub fn column_name(header: &str) -> String {
    header.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let dialect = Dialect::guess_dialect(text.as_bytes());
        let mut reader = dialect.open_reader(&text.as_bytes()[dialect.skip..]);
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
        rows.collect()
    }

    #[test]
    fn a_table_is_parted_by_what_parts_its_rows() {
        let want = [["a", "b; c"], ["1", "x, y | z"]];
        for text in [
            "a,b; c\n1,\"x, y | z\"\n",
            "a;\"b; c\"\n1;x, y | z\n",
            "a\tb; c\n1\tx, y | z",
            "a|b; c\n1|\"x, y | z\"\n",
            "a\tb; c\r1\tx, y | z\r",
            "sep=;\r\na;\"b; c\"\r\n1;x, y | z\r\n",
            "\"sep=\t\"\na\tb; c\n1\tx, y | z\n",
            "sep=#\na#b; c\n1#x, y | z\n",
        ] {
            assert_eq!(rows(text), want, "{text:?}");
        }
        // One column, and texts with commas in it.
        assert_eq!(rows("content\n为什么,鱼不会溺水\n雨伞自己会不会淋湿\n")[0], ["content"]);
        assert_eq!(Dialect::guess_dialect(b"id,title,body\n1,\"a;b\n").delimiter, b',');
        assert_eq!(Dialect::guess_dialect(b"").delimiter, b',');
        // What stands above the columns parts nothing.
        let text = "exported\ntime,2024-01-02\nfrom,here\nid,title,who\n1,one,a\n2,two,b\n";
        assert_eq!(Dialect::guess_dialect(text.as_bytes()).delimiter, b',');
        for title in ["the best\n", "the best, by month\n", "# exported, by hand\n\n2024\n"] {
            let table = "id\tbody\twho\n1\tone, two\ta\n2\tthree, four\tb\n3\tfive\tc\n4\tsix\td\n";
            assert_eq!(
                Dialect::guess_dialect(format!("{title}{table}").as_bytes()).delimiter,
                b'\t',
                "{title}"
            );
        }
    }
}
