//! Finds the lists of records in an object of JSON, and what the object and the first records of each list are made of, without
//! keeping it.

use std::io::{self, Read};

/// Most lists that are kept: a message names no more.
const LISTS: usize = 20;
/// Most names of members that are kept: a record has fewer, a map of ids has any number.
const MEMBERS: usize = 400;
/// Records of a list whose columns are looked at: the first may lack some.
const ELEMENTS: u32 = 8;

/// A list of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    /// Where it is in the object.
    pub(super) pointer: String,
    /// The offset of its bracket.
    pub(super) begins: u64,
    /// The columns of its first records.
    pub(super) columns: Vec<String>,
}

/// The lists in an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanner {
    at: u64,
    string: bool,
    escaped: bool,
    /// The keys of the members that are open, from the outermost object.
    keys: Vec<String>,
    key: Vec<u8>,
    expects_key: bool,
    /// Open brackets of the list that is passed over.
    list: u32,
    /// A list whose first element has not come yet, and where it begins.
    begun: bool,
    begins: u64,
    /// Elements of the open list that have begun, if it is one of objects.
    elements: Option<u32>,
    /// Whether a key of an element may come next.
    expects_column: bool,
    /// Whether a member's object has just begun.
    inner: bool,
    /// Lists of objects, in the order in which they begin.
    pub(super) lists: Vec<List>,
    /// The names of the outermost members.
    pub(super) members: Vec<String>,
    /// How many members there are, how many of these are objects, and how many of those begin with the key 0.
    pub(super) count: usize,
    pub(super) objects: usize,
    pub(super) by_index: usize,
}

impl Scanner {
    /// Takes a piece; where the object ends in it, the offset behind.
    pub(super) fn feed_piece(&mut self, piece: &[u8]) -> Option<u64> {
        for byte in piece {
            self.at += 1;
            if self.is_ended_by(*byte) {
                return Some(self.at);
            }
        }
        None
    }

    /// Takes a stream until the object ends, and tells whether anything follows it. What comes before damage counts.
    pub(super) fn scan_stream(mut reader: Box<dyn Read + Send>) -> (Scanner, bool) {
        let mut scanner = Scanner::default();
        let mut buffer = vec![0; 1 << 18];
        let (mut passed, mut is_over) = (0, false);
        loop {
            let piece = match reader.read(&mut buffer) {
                Ok(0) => return (scanner, false),
                Ok(read) => &buffer[..read],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return (scanner, false),
            };
            let behind = match is_over {
                true => piece,
                false => match scanner.feed_piece(piece) {
                    Some(end) => {
                        is_over = true;
                        &piece[(end - passed) as usize..]
                    }
                    None => &[],
                },
            };
            passed += piece.len() as u64;
            if !behind.trim_ascii().is_empty() {
                return (scanner, true);
            }
        }
    }

    /// Whether the byte ends the object.
    fn is_ended_by(&mut self, byte: u8) -> bool {
        if self.string {
            self.step_in_string(byte);
            return false;
        }
        if byte.is_ascii_whitespace() {
            return false;
        }
        if std::mem::take(&mut self.begun) && byte == b'{' && self.lists.len() < LISTS {
            let pointer: String = self.keys.iter().map(|key| format!("/{key}")).collect();
            self.lists.push(List { pointer, begins: self.begins, columns: Vec::new() });
            self.elements = Some(0);
        }
        match byte {
            b'"' => {
                self.string = true;
                self.key.clear();
            }
            b'[' | b'{' if self.list > 0 => {
                self.list += 1;
                if self.list == 2
                    && let Some(begun) = &mut self.elements
                {
                    *begun += 1;
                    self.expects_column = byte == b'{' && *begun <= ELEMENTS;
                }
            }
            b']' | b'}' if self.list > 0 => {
                self.list -= 1;
                if self.list == 0 {
                    self.elements = None;
                }
                self.expects_column = false;
            }
            b',' if self.list == 2 => {
                self.expects_column = self.elements.is_some_and(|begun| begun <= ELEMENTS);
            }
            b':' if self.list == 2 => self.expects_column = false,
            _ if self.list > 0 => {}
            b'[' => {
                (self.list, self.begun) = (1, true);
                self.begins = self.at - 1;
            }
            b'{' => {
                self.objects += usize::from(self.keys.len() == 1);
                self.inner = self.keys.len() == 1;
                self.keys.push(String::new());
                self.expects_key = true;
            }
            b'}' => {
                self.keys.pop();
                self.expects_key = false;
                return self.keys.is_empty();
            }
            b':' => self.expects_key = false,
            b',' => self.expects_key = true,
            _ => {}
        }
        false
    }

    fn step_in_string(&mut self, byte: u8) {
        let names_member = self.list == 0 && self.expects_key;
        let names_column = self.list == 2 && self.expects_column;
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => {
                self.string = false;
                if names_member {
                    self.close_key();
                } else if names_column {
                    self.close_column();
                }
                return;
            }
            _ => {}
        }
        if (names_member || names_column) && self.key.len() < 256 {
            self.key.push(byte);
        }
    }

    fn close_key(&mut self) {
        let key = String::from_utf8_lossy(&self.key).into_owned();
        if self.keys.len() == 1 {
            self.count += 1;
            if self.members.len() < MEMBERS {
                self.members.push(key.clone());
            }
        }
        if self.keys.len() == 2 && std::mem::take(&mut self.inner) {
            self.by_index += usize::from(key == "0");
        }
        if let Some(open) = self.keys.last_mut() {
            *open = key;
        }
    }

    fn close_column(&mut self) {
        let column = String::from_utf8_lossy(&self.key).into_owned();
        if let Some(list) = self.lists.last_mut()
            && !list.columns.contains(&column)
        {
            list.columns.push(column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Scanner {
        let mut scanner = Scanner::default();
        for piece in text.as_bytes().chunks(3) {
            if scanner.feed_piece(piece).is_some() {
                break;
            }
        }
        scanner
    }

    #[test]
    fn lists_of_records_are_found_at_any_depth() {
        let found = scan(
            r#"{"a": "[{", "data": {"n": [1], "children": [ {"x": [{}]}, {}]}, "rows": [{"y": 1}], "e": []}"#,
        );
        let pointers: Vec<&str> = found.lists.iter().map(|list| list.pointer.as_str()).collect();
        assert_eq!(pointers, ["/data/children", "/rows"]);
        assert_eq!(found.members, ["a", "data", "rows", "e"]);
        let text = r#"{"t": {"0": 1, "1": 2}, "s": {"0": "x"}}"#;
        assert_eq!((scan(text).by_index, scan(text).members.len()), (2, 2));
    }

    #[test]
    fn the_columns_of_a_lists_first_records_are_known_and_no_deeper_ones() {
        let found = scan(
            r#"{"t": "x", "d": [{"id": 1, "u": {"name": "k"}, "l": [{"z": 1}], "t": "a,\"b\":"}, {"more": [1, "n"]}], "m": 1}"#,
        );
        assert_eq!(found.lists[0].columns, ["id", "u", "l", "t", "more"]);
        assert_eq!((found.lists.len(), found.members.len()), (1, 3));
    }
}
