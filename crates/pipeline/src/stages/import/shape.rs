//! The shape of a file of JSON: a record a line, one list, one object around a list, objects over several lines, or pages with a
//! list each.

use std::io::{self, Read};

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::files::Dump;
use super::judgement::{self, FileJudgement, HeadObject, ITSELF};
use super::scanner::Scanner;
pub(super) use super::split::RecordForm as Shape;
use super::split::{RECORD_MARK, Splitter};
use super::wanted;
use crate::config::{SourceKind, toml_string};
use riddlemill_files::reading::{Packing, open_unpacked, text_of};
use riddlemill_files::{shell_path, shell_word};
use riddlemill_text::notation;

/// Bytes that show the shape. An object that is longer holds a list.
const HEAD: usize = 1 << 20;
/// Most members of an object that a message names.
const NAMED: usize = 20;
/// Objects at the head of a file that are looked at.
const OBJECTS: usize = 20;
/// Fewer of them say too little without the one that the head cuts.
const FEW: usize = 4;

/// Why no records can be found in a file, and what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoRecords(pub(super) String);

impl NoRecords {
    fn fail_because<T>(what: String) -> Result<T, NoRecords> {
        Err(NoRecords(what))
    }
}

/// The lists of records in the objects of a file: in one object, or in the first of several.
pub(super) fn lists_of(dump: &Dump) -> Vec<String> {
    let Ok(head) = read_head(dump) else { return Vec::new() };
    let Ok((_, objects)) = Outline::of_head(dump, &head) else { return Vec::new() };
    let mut pointers: Vec<String> = Vec::new();
    for list in objects.seen.iter().flat_map(|seen| &seen.scanned.lists) {
        if !pointers.contains(&list.pointer) {
            pointers.push(list.pointer.clone());
        }
    }
    pointers
}

/// Whether a file is one object.
pub(super) fn is_single(dump: &Dump) -> bool {
    read_head(dump)
        .is_ok_and(|head| Outline::of_head(dump, &head).is_ok_and(|(_, objects)| objects.is_single))
}

/// The shape of a file, or why no records can be found in it.
pub(super) fn of_dump(dump: &Dump) -> Result<Shape, NoRecords> {
    // What cannot be read is reported by the reader of lines.
    let Ok(head) = read_head(dump) else { return Ok(Shape::Lines) };
    let (shape, objects) = Outline::of_head(dump, &head)?;
    match objects.is_single {
        true => of_object(dump, objects, shape),
        false => of_objects(dump, &objects.seen, shape),
    }
}

fn open_text(dump: &Dump) -> io::Result<Box<dyn Read + Send>> {
    text_of(open_unpacked(&dump.path)?).map(|decoded| decoded.reader)
}

fn read_head(dump: &Dump) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = open_text(dump).and_then(|reader| reader.take(HEAD as u64).read_to_end(&mut head));
    // In a sequence of texts the marks part them as blanks do.
    if head.first() == Some(&RECORD_MARK) {
        head.iter_mut().filter(|byte| **byte == RECORD_MARK).for_each(|mark| *mark = b' ');
    }
    if head.is_empty() { read.map(|_| head) } else { Ok(head) }
}

/// The objects at the head of a file.
struct Outline<'h> {
    seen: Vec<HeadObject<'h>>,
    /// Whether the file is the one object.
    is_single: bool,
}

impl<'h> Outline<'h> {
    /// How the values of a file follow one another, and the first objects among them.
    fn of_head(dump: &Dump, head: &'h [u8]) -> Result<(Shape, Outline<'h>), NoRecords> {
        let several = |shape: Shape, objects: &'h [u8]| {
            let seen = first_objects(&shape, objects);
            Ok((shape, Outline { seen, is_single: false }))
        };
        let start = head.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match head.get(start) {
            Some(b'[') => return Outline::of_list(head, start),
            Some(b'{') => {}
            _ => return several(Shape::Lines, head),
        }
        let whole = head.len() < HEAD;
        let mut scanner = Scanner::default();
        let end = scanner.feed_piece(head);
        let object = &head[start..end.map_or(head.len(), |end| end as usize)];
        let line = object.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let over_lines = line.len() < object.len();
        if over_lines && in_string(line) {
            // A line that breaks off is that line's fault.
            return several(Shape::Lines, head);
        }
        if let Some(end) = end {
            let rest = head[end as usize..].trim_ascii_start();
            let alone = rest.is_empty() && whole;
            let valid = || notation::from_str::<IgnoredAny>(&String::from_utf8_lossy(object)).is_ok();
            match (over_lines, alone) {
                (false, false) => return several(Shape::Lines, head),
                (true, _) if !valid() => return several(Shape::Lines, head),
                (true, false) => return several(Shape::Values, head),
                (_, true) => {}
            }
        } else if whole {
            return several(Shape::Lines, head);
        }
        // An object that is longer than the head may be the first line of several.
        let (scanned, is_followed) = match end {
            Some(_) => (scanner, false),
            None => open_text(dump).map_or((scanner, false), Scanner::scan_stream),
        };
        let shape = if over_lines { Shape::Values } else { Shape::Lines };
        let seen = vec![HeadObject { scanned, bytes: object }];
        Ok((shape, Outline { seen, is_single: over_lines || !is_followed }))
    }

    /// Of a file that begins with a list: of objects, or of lists, or several lists one behind the other.
    fn of_list(head: &'h [u8], start: usize) -> Result<(Shape, Outline<'h>), NoRecords> {
        let inner = head[start + 1..].trim_ascii_start();
        match (inner.first(), inner.get(1..).map(<[u8]>::trim_ascii_start).and_then(|rest| rest.first())) {
            (Some(b'"'), _) if follows_another(&head[start..]) => {
                return NoRecords::fail_because(
                    "every line is a list and no object: its columns have no names\n  hint: where the first line has the names, `jq -c -s '.[0] as $names | .[1:][] | [$names, .] | transpose | map({(.[0]): .[1]}) | add' FILE > posts.jsonl` writes an object a line".into(),
                );
            }
            (Some(b'"'), _) => {
                return NoRecords::fail_because(
                    "the file is a list of texts and not of objects\n  hint: `jq -c '.[] | {content: .}' FILE > posts.jsonl` makes an object of each, for fields.content = \"content\"".into(),
                );
            }
            (Some(b'['), Some(b'{')) => {
                return NoRecords::fail_because(
                    "the file is a list of lists of objects\n  hint: `jq -c '.[][]' FILE > posts.jsonl` writes an object a line".into(),
                );
            }
            (Some(b'['), _) if ends_with_object(inner) => {
                return NoRecords::fail_because(
                    "the file is a list of lists, each with an object at its end, as downloaders write it\n  hint: `jq -c '.[] | .[-1] | objects' FILE > posts.jsonl` writes the objects, one a line".into(),
                );
            }
            (Some(b'['), _) => {
                return NoRecords::fail_because(
                    "the file is a list of lists and not of objects: its columns have no names\n  hint: where the first of them has the names, `jq -c '.[0] as $names | .[1:][] | [$names, .] | transpose | map({(.[0]): .[1]}) | add' FILE > posts.jsonl` writes an object a line".into(),
                );
            }
            _ => {}
        }
        let shape = match follows_another(&head[start..]) {
            true => Shape::Pages { of: Box::new(Shape::Values), at: String::new() },
            false => Shape::Array,
        };
        let seen = if shape == Shape::Array { first_objects(&shape, head) } else { Vec::new() };
        Ok((shape, Outline { seen, is_single: false }))
    }
}

/// Whether the list with which the bytes begin has an object as its last element.
fn ends_with_object(bytes: &[u8]) -> bool {
    let first = serde_json::Deserializer::from_slice(bytes).into_iter::<Vec<Value>>().next();
    first.and_then(Result::ok).is_some_and(|list| list.last().is_some_and(Value::is_object))
}

/// The first objects of a head, without the last one, which may be cut off.
fn first_objects<'h>(shape: &Shape, head: &'h [u8]) -> Vec<HeadObject<'h>> {
    let mut splitter = Splitter::for_shape(shape, u64::MAX);
    splitter.feed_piece(head);
    let whole = head.len() < HEAD;
    // What an export says of itself may come first, and its one list of records be longer than the head.
    if whole || splitter.count_ready().0 < FEW {
        splitter.finish(None);
    }
    let items = splitter.take_items();
    let seen = (0..items.len().min(OBJECTS)).filter_map(|at| {
        let (from, to) = (items.start_of_item(at) as usize, (items.end_of_item(at) as usize).min(head.len()));
        let bytes = head.get(from..to)?.trim_ascii();
        bytes.starts_with(b"{").then(|| HeadObject::scan_bytes(bytes))
    });
    seen.collect()
}

/// Whether another list comes behind the one with which the bytes begin.
fn follows_another(bytes: &[u8]) -> bool {
    let (mut depth, mut string, mut escaped) = (0_u32, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if string => escaped = true,
            b'"' => string = !string,
            // A string that does not end in its line is a fault of that element.
            b'\n' if string => return false,
            _ if string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return bytes[at + 1..].trim_ascii_start().starts_with(b"[");
                }
            }
            _ => {}
        }
    }
    false
}

/// The shape of a file of several objects that follow one another as `shape` has it.
fn of_objects(dump: &Dump, objects: &[HeadObject<'_>], shape: Shape) -> Result<Shape, NoRecords> {
    if matches!(shape, Shape::Pages { .. }) {
        return Ok(shape);
    }
    let pages = |at: String| Ok(Shape::Pages { of: Box::new(shape.clone()), at });
    if let Some(at) = &dump.at {
        let pointers =
            || objects.iter().flat_map(|seen| &seen.scanned.lists).map(|list| list.pointer.as_str());
        return match stated_pointer(at) {
            at if at == ITSELF => Ok(shape),
            at if pointers().any(|pointer| pointer == at) => pages(at),
            at => {
                let mut known: Vec<&str> = Vec::new();
                pointers().for_each(|pointer| {
                    if !known.contains(&pointer) {
                        known.push(pointer);
                    }
                });
                not_at(dump, &at, &known)
            }
        };
    }
    match judgement::judge_several(dump, objects) {
        FileJudgement::Records => Ok(shape),
        FileJudgement::Around(at) => pages(at),
        FileJudgement::Open(lists) => {
            NoRecords::fail_because(ask_for_list(dump, "its records are objects that have", &lists))
        }
        FileJudgement::Several(lists) => NoRecords::fail_because(format!(
            "its records are objects with {} lists of records\n  hint: {}",
            lists.len(),
            chosen_list(dump, &lists)
        )),
    }
}

/// A pointer as it is stated, with the slash before it.
fn stated_pointer(at: &str) -> String {
    if at.starts_with('/') { at.to_owned() } else { format!("/{at}") }
}

fn not_at(dump: &Dump, at: &str, known: &[&str]) -> Result<Shape, NoRecords> {
    NoRecords::fail_because(match known {
        [] => format!(
            "there is no list of records at {at}, and no other in the file\n  hint: without `at` the objects themselves are read"
        ),
        known => format!("there is no list of records at {at}\n  hint: {}", chosen_list(dump, known)),
    })
}

/// The question whether objects are records or what is around them.
fn ask_for_list(dump: &Dump, what: &str, lists: &[String]) -> String {
    let texts =
        wanted::text_columns(dump).iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    let settings: Vec<String> = lists.iter().map(|at| toml_string(at)).collect();
    format!(
        "{what} {texts} and a list of records that have it, too ({})\n  hint: at = {} reads the records of the list, at = \"/\" the objects around it",
        lists.join(", "),
        settings.join(" or ")
    )
}

/// The shape of a file that is one object.
fn of_object(dump: &Dump, objects: Outline<'_>, single: Shape) -> Result<Shape, NoRecords> {
    let Some(HeadObject { scanned: object, bytes }) = objects.seen.into_iter().next() else {
        return Ok(single);
    };
    let by_index = object.by_index > 0 && object.by_index == object.count;
    let pointers: Vec<&str> = object.lists.iter().map(|list| list.pointer.as_str()).collect();
    let within = |at: &str| {
        let found = object.lists.iter().find(|list| list.pointer == at);
        found.map(|list| Shape::Within(list.begins + 1))
    };
    if let Some(at) = &dump.at {
        let at = stated_pointer(at);
        return match within(&at) {
            _ if at == ITSELF => Ok(single),
            Some(shape) => Ok(shape),
            None => not_at(dump, &at, &pointers),
        };
    }
    let members: Option<Map<String, Value>> = match bytes.len() < HEAD {
        true => notation::from_str(&String::from_utf8_lossy(bytes)).ok(),
        false => None,
    };
    let has_lists = pointers.iter().any(|at| !matches!(*at, "/errors" | "/error/errors" | "/error/details"));
    let own = wanted::held_columns(dump, &object.members);
    let states_error = |members: &Map<String, Value>| judgement::is_error_reply(members);
    if !has_lists && !own.texts && members.as_ref().is_some_and(states_error) {
        return NoRecords::fail_because(format!(
            "the file is a server's reply about an error ({}) and no posts\n  hint: download it again, or leave it out of `path`",
            list_members(&object.members)
        ));
    }
    if !own.texts && members.as_ref().is_some_and(judgement::is_map_of_texts) {
        return NoRecords::fail_because(
            "the file is one object of texts by their ids\n  hint: `jq -c 'to_entries[] | {id: .key, content: .value}' FILE > posts.jsonl` writes a text a line, for fields = { id = \"id\", content = \"content\" }".into(),
        );
    }
    let is_split = ["columns", "data"].iter().all(|name| object.members.iter().any(|member| member == name));
    if is_split && pointers.is_empty() && !own.texts {
        return NoRecords::fail_because(
            "the file is one object of `columns` and `data`, as pandas writes it with orient=\"split\"\n  hint: df.to_json(FILE, orient=\"records\", lines=True, force_ascii=False)".into(),
        );
    }
    if by_index {
        return NoRecords::fail_because(format!(
            "the file is one object of columns ({}), as pandas writes it without `orient`\n  hint: df.to_json(FILE, orient=\"records\", lines=True, force_ascii=False)",
            list_members(&object.members)
        ));
    }
    match judgement::judge_single(dump, &object, bytes) {
        FileJudgement::Around(at) => Ok(within(&at).unwrap_or(single)),
        FileJudgement::Open(lists) => {
            NoRecords::fail_because(ask_for_list(dump, "the file is one object that has", &lists))
        }
        FileJudgement::Several(lists) => NoRecords::fail_because(format!(
            "the file is one object with {} lists of records\n  hint: {}",
            lists.len(),
            chosen_list(dump, &lists)
        )),
        FileJudgement::Records if object.objects > 1 && object.objects == object.count && !own.texts => {
            NoRecords::fail_because(format!(
                "the file is one object whose {} members are objects themselves, and no list of records\n  hint: `{}` writes a member a line",
                object.count,
                unwrap_by_jq(dump, "")
            ))
        }
        FileJudgement::Records => Ok(single),
    }
}

/// How one of several lists is chosen: by the key of a source, which a published set does not have.
fn chosen_list<T: AsRef<str>>(dump: &Dump, pointers: &[T]) -> String {
    match dump.kind {
        SourceKind::Published => {
            let commands = pointers.iter().map(|at| format!("`{}`", unwrap_by_jq(dump, at.as_ref())));
            format!(
                "{} writes the records a line; then name that file",
                commands.collect::<Vec<_>>().join(" or ")
            )
        }
        _ => {
            let settings = pointers.iter().map(|at| format!("at = {}", toml_string(at.as_ref())));
            format!("name the one of the posts: {}", settings.collect::<Vec<_>>().join(" or "))
        }
    }
}

/// The command that writes the records of lists at this pointer a line each, into a file beside the dump.
fn unwrap_by_jq(dump: &Dump, pointer: &str) -> String {
    let is_plain = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let path: String = pointer
        .split('/')
        .filter(|key| !key.is_empty())
        .map(|key| match is_plain(key) {
            true => format!(".{key}"),
            false => format!(".[{}]", serde_json::json!(key)),
        })
        .collect();
    let filter = if path.is_empty() { ".[]".to_owned() } else { format!("{path}[]") };
    let name = dump.named.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let to = dump.named.with_file_name(format!("{stem}-records.jsonl"));
    let (read, from) = Packing::of_file(&dump.path).feed_command(&dump.named);
    format!("{read}jq -c {}{from} > {}", shell_word(&filter), shell_path(&to))
}

fn list_members(members: &[String]) -> String {
    let more = if members.len() > NAMED { ", …" } else { "" };
    members[..members.len().min(NAMED)].join(", ") + more
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
