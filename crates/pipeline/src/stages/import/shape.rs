//! The shape of a file of JSON: a record a line, one list, one object around a list, or objects over several lines.

use std::io::{self, Read};

use serde::de::IgnoredAny;

use super::files::Dump;
use super::wanted;
use riddlemill_files::reading::{open, text_of};
use riddlemill_text::notation;

/// Bytes that show the shape. An object that is longer holds a list.
const HEAD: usize = 1 << 20;
/// Most members of an object that a message names.
const NAMED: usize = 20;

/// How records follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Lines,
    Array,
    /// Objects, each over several lines, as `jq` writes them.
    Values,
    /// The list that begins behind so many bytes.
    Within(u64),
}

/// Why no records can be found in a file, and what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoRecords(pub(super) String);

impl NoRecords {
    fn because<T>(what: String) -> Result<T, NoRecords> {
        Err(NoRecords(what))
    }
}

/// The shape of a file, or why no records can be found in it.
pub(super) fn of_dump(dump: &Dump) -> Result<Shape, NoRecords> {
    let mut head = Vec::new();
    let text = || text_of(open(&dump.path)?).map(|decoded| decoded.reader);
    let read = text().and_then(|reader| reader.take(HEAD as u64).read_to_end(&mut head));
    // What cannot be read is reported by the reader of lines.
    if read.is_err() && head.is_empty() {
        return Ok(Shape::Lines);
    }
    let start = head.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    match head.get(start) {
        Some(b'[') => return Ok(Shape::Array),
        Some(b'{') => {}
        _ => return Ok(Shape::Lines),
    }
    let whole = head.len() < HEAD;
    let mut scanner = Scanner::default();
    let end = scanner.feed(&head);
    let object = &head[start..end.map_or(head.len(), |end| end as usize)];
    let line = object.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let over_lines = line.len() < object.len();
    if over_lines && in_string(line) {
        // A line that breaks off is that line's fault.
        return Ok(Shape::Lines);
    }
    match end {
        Some(end) => {
            let rest = head[end as usize..].trim_ascii_start();
            let alone = rest.is_empty() && whole;
            let valid = || {
                let text = String::from_utf8_lossy(object);
                notation::from_str::<IgnoredAny>(&text).is_ok()
            };
            match (over_lines, alone) {
                (false, false) => return Ok(Shape::Lines),
                (true, _) if !valid() => return Ok(Shape::Lines),
                (true, false) => return Ok(Shape::Values),
                (_, true) => {}
            }
        }
        None if whole || !over_lines => return Ok(Shape::Lines),
        None => {}
    }
    let lists = match end {
        Some(_) => scanner,
        None => text().and_then(scanned).unwrap_or(scanner),
    };
    let single = if over_lines { Shape::Values } else { Shape::Lines };
    let known = dump.at.is_none() && wanted::any_of(dump, &lists.members);
    of_object(dump, &lists, known, single)
}

/// The shape of a file that is one object; `known` if the object has columns of the source's records itself.
fn of_object(dump: &Dump, object: &Scanner, known: bool, single: Shape) -> Result<Shape, NoRecords> {
    let by_index = object.by_index > 0 && object.by_index == object.members.len();
    let pointers: Vec<&str> = object.lists.iter().map(|(pointer, _)| pointer.as_str()).collect();
    if let Some(at) = &dump.at {
        let wanted = if at.starts_with('/') { at.clone() } else { format!("/{at}") };
        return match object.lists.iter().find(|(pointer, _)| *pointer == wanted) {
            Some((_, offset)) => Ok(Shape::Within(offset + 1)),
            None if pointers.is_empty() => NoRecords::because(format!(
                "there is no list of records at {wanted}, and no other in the file"
            )),
            None => NoRecords::because(format!(
                "there is no list of records at {wanted}\n  hint: at = {}",
                pointers.iter().map(|at| format!("{at:?}")).collect::<Vec<_>>().join(" or ")
            )),
        };
    }
    match object.lists[..] {
        _ if by_index => NoRecords::because(format!(
            "the file is one object of columns ({}), as pandas writes it without `orient`\n  hint: df.to_json(FILE, orient=\"records\", lines=True, force_ascii=False)",
            named(&object.members)
        )),
        _ if known => Ok(single),
        [] if object.objects > 1 && object.objects == object.members.len() => NoRecords::because(format!(
            "the file is one object whose {} members are objects themselves, and no list of records\n  hint: `jq -c '.[]' FILE > posts.jsonl` writes a member a line",
            object.members.len()
        )),
        [] => Ok(single),
        [(_, offset)] => Ok(Shape::Within(offset + 1)),
        _ => NoRecords::because(format!(
            "the file is one object with {} lists of records\n  hint: name the one of the posts: at = {}",
            pointers.len(),
            pointers.iter().map(|at| format!("{at:?}")).collect::<Vec<_>>().join(" or ")
        )),
    }
}

fn named(members: &[String]) -> String {
    members.join(", ")
}

/// Whether a line of JSON ends inside of a string.
fn in_string(line: &[u8]) -> bool {
    let (mut string, mut escaped) = (false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if string => escaped = true,
            b'"' => string = !string,
            _ => {}
        }
    }
    string
}

fn scanned(mut reader: Box<dyn Read + Send>) -> io::Result<Scanner> {
    let mut scanner = Scanner::default();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(scanner),
            Ok(read) => {
                if scanner.feed(&buffer[..read]).is_some() {
                    return Ok(scanner);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // What comes before damage counts.
            Err(_) => return Ok(scanner),
        }
    }
}

/// Finds the lists in an object, without keeping it.
#[derive(Debug, Default)]
struct Scanner {
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
    /// Whether a member's object has just begun.
    inner: bool,
    /// Pointers to the lists of objects, and where they begin.
    lists: Vec<(String, u64)>,
    /// The names of the outermost members.
    members: Vec<String>,
    /// How many of these are objects, and how many of those begin with the key 0.
    objects: usize,
    by_index: usize,
}

impl Scanner {
    /// Takes a piece; where the object ends in it, the offset behind.
    fn feed(&mut self, piece: &[u8]) -> Option<u64> {
        for byte in piece {
            self.at += 1;
            if self.step(*byte) {
                return Some(self.at);
            }
        }
        None
    }

    /// Whether the byte ends the object.
    fn step(&mut self, byte: u8) -> bool {
        if self.string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.string = false;
                    if self.list == 0 && self.expects_key {
                        self.close_key();
                    }
                    return false;
                }
                _ => {}
            }
            if self.list == 0 && self.expects_key && self.key.len() < 256 {
                self.key.push(byte);
            }
            return false;
        }
        if byte.is_ascii_whitespace() {
            return false;
        }
        if std::mem::take(&mut self.begun) && byte == b'{' {
            let pointer: String = self.keys.iter().map(|key| format!("/{key}")).collect();
            if self.lists.len() < NAMED {
                self.lists.push((pointer, self.begins));
            }
        }
        match byte {
            b'"' => {
                self.string = true;
                self.key.clear();
            }
            b'[' | b'{' if self.list > 0 => self.list += 1,
            b']' | b'}' if self.list > 0 => self.list -= 1,
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

    fn close_key(&mut self) {
        let key = String::from_utf8_lossy(&self.key).into_owned();
        if self.keys.len() == 1 && self.members.len() < NAMED {
            self.members.push(key.clone());
        }
        if self.keys.len() == 2 && std::mem::take(&mut self.inner) {
            self.by_index += usize::from(key == "0");
        }
        if let Some(open) = self.keys.last_mut() {
            *open = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Scanner {
        let mut scanner = Scanner::default();
        for piece in text.as_bytes().chunks(3) {
            if scanner.feed(piece).is_some() {
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
        let pointers: Vec<&str> = found.lists.iter().map(|(at, _)| at.as_str()).collect();
        assert_eq!(pointers, ["/data/children", "/rows"]);
        assert_eq!(found.members, ["a", "data", "rows", "e"]);
        let text = r#"{"t": {"0": 1, "1": 2}, "s": {"0": "x"}}"#;
        assert_eq!((scan(text).by_index, scan(text).members.len()), (2, 2));
    }
}
