//! Whether an object with a list of records in it is a record itself, or what is around the records of a file: a server's page,
//! the head of an export.
//!
//! What: it is a record where it has the columns of its source and its lists do not; it is around them where it is the other way.
//! Where both have them nobody can know, and the settings say it with `at`.
//!
//! Why not the more of two: an archive has a title and an id like the posts in it, and read as one post it loses all of them.

use serde_json::{Map, Value};

use super::files::Dump;
use super::scanner::Scanner;
use super::wanted::{Held, held_columns};
use crate::config::SourceKind;
use riddlemill_text::notation;

/// Lists in records of sites that have whole records in them, which are not those of the file.
const NESTED: [&str; 1] = ["/crosspost_parent_list"];

/// The value of `at` that stands for the objects themselves.
pub(super) const ITSELF: &str = "/";

/// What the objects of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileJudgement {
    /// Records.
    Records,
    /// What is around the only list of records in them.
    Around(String),
    /// Around several lists, of which one has the records.
    Several(Vec<String>),
    /// Records, or around these lists.
    Open(Vec<String>),
}

/// An object at the head of a file.
pub(super) struct HeadObject<'h> {
    pub(super) scanned: Scanner,
    pub(super) bytes: &'h [u8],
}

impl<'h> HeadObject<'h> {
    pub(super) fn scan_bytes(bytes: &'h [u8]) -> HeadObject<'h> {
        let mut scanned = Scanner::default();
        let end = scanned.feed_piece(bytes).map_or(bytes.len(), |end| end as usize);
        HeadObject { scanned, bytes: &bytes[..end] }
    }
}

/// Of several objects that follow one another: a post may hold a list of its tags or its comments, so it is only asked where the
/// list has as much of what is wanted as the object, and more text.
pub(super) fn judge_several(dump: &Dump, objects: &[HeadObject<'_>]) -> FileJudgement {
    if is_told_by_ids(dump.kind) {
        return FileJudgement::Records;
    }
    let mut around: Vec<String> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut records = 0;
    for HeadObject { scanned, bytes } in objects {
        let own = held_columns(dump, &scanned.members);
        records += usize::from(own.texts);
        for (pointer, inner) in lists_with_texts(dump, scanned) {
            let add_to = if !own.texts {
                &mut around
            } else if inner.columns > own.columns
                || inner.columns == own.columns && has_more_text(dump, bytes, &pointer)
            {
                &mut open
            } else {
                continue;
            };
            if !add_to.contains(&pointer) {
                add_to.push(pointer);
            }
        }
    }
    match (open.is_empty(), around.len()) {
        (false, _) => FileJudgement::Open(open),
        // Where some objects are records, one without its text is a record that lacks it.
        (true, 1) if records == 0 => FileJudgement::Around(around.remove(0)),
        (true, 2..) if records == 0 => FileJudgement::Several(around),
        _ => FileJudgement::Records,
    }
}

/// Of the only object of a file.
pub(super) fn judge_single(dump: &Dump, scanned: &Scanner, bytes: &[u8]) -> FileJudgement {
    let own = held_columns(dump, &scanned.members);
    let lists = lists_with_texts(dump, scanned);
    if own.texts && is_told_by_ids(dump.kind) {
        return FileJudgement::Records;
    }
    if own.texts {
        let asked = |(pointer, inner): &(String, Held)| {
            inner.columns >= own.columns || has_more_text(dump, bytes, pointer)
        };
        let open: Vec<String> = lists.into_iter().filter(asked).map(|(pointer, _)| pointer).collect();
        return if open.is_empty() { FileJudgement::Records } else { FileJudgement::Open(open) };
    }
    match &scanned.lists[..] {
        [] => FileJudgement::Records,
        [list] => FileJudgement::Around(list.pointer.clone()),
        lists => FileJudgement::Several(lists.iter().map(|list| list.pointer.clone()).collect()),
    }
}

/// Posts of these have the ids of a thread and of a post, and their comments have them, too.
fn is_told_by_ids(kind: SourceKind) -> bool {
    matches!(kind, SourceKind::ThreadDump | SourceKind::Aiotieba)
}

/// The lists whose records have texts, with what else they have of what is wanted.
fn lists_with_texts(dump: &Dump, scanned: &Scanner) -> Vec<(String, Held)> {
    let of_list = |list: &super::scanner::List| {
        let inner = held_columns(dump, &list.columns);
        (inner.texts && !NESTED.contains(&list.pointer.as_str())).then(|| (list.pointer.clone(), inner))
    };
    scanned.lists.iter().filter_map(of_list).collect()
}

/// Whether the records of a list have more text than the object around it. An object that is cut off has a long list.
fn has_more_text(dump: &Dump, bytes: &[u8], pointer: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(object) = notation::from_str::<Value>(&text) else { return true };
    let columns = super::wanted::text_columns(dump);
    let length = |value: &Value| -> usize {
        let texts = columns.iter().filter_map(|column| {
            value.pointer(&format!("/{}", column.replace('.', "/"))).and_then(Value::as_str)
        });
        texts.map(|text| text.chars().count()).sum()
    };
    let records = object.pointer(pointer).and_then(Value::as_array);
    records.is_none_or(|records| records.iter().map(length).sum::<usize>() > length(&object))
}

/// Keys under which servers say what went wrong.
const FAULTS: [&str; 11] = [
    "error",
    "errors",
    "errmsg",
    "error_msg",
    "error_message",
    "error_description",
    "errcode",
    "error_code",
    "errno",
    "exception",
    "fault",
];
/// Keys of a sentence, and of a number or a state beside it.
const SENTENCES: [&str; 5] = ["message", "msg", "detail", "reason", "info"];
const STATES: [&str; 8] =
    ["code", "status", "statusCode", "status_code", "success", "ok", "documentation_url", "request_id"];
/// A reply about an error has no more members.
const FEW: usize = 8;

/// Whether an object is what a server replies where it gives no posts.
pub(super) fn is_error_reply(object: &Map<String, Value>) -> bool {
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.trim(), "" | "0" | "ok" | "OK" | "success" | "none"),
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(true) => true,
    };
    let has = |keys: &[&str]| keys.iter().any(|key| object.get(*key).is_some_and(says));
    let has_sentence = SENTENCES.iter().any(|key| object.get(*key).is_some_and(Value::is_string));
    let has_state = STATES.iter().any(|key| object.get(*key).is_some_and(|value| !value.is_object()));
    object.len() <= FEW && (has(&FAULTS) || has_sentence && has_state)
}

/// Whether an object is a map of texts by their ids: all that it has are texts under names that are none of columns.
pub(super) fn is_map_of_texts(object: &Map<String, Value>) -> bool {
    let is_id = |key: &String| key.bytes().any(|byte| byte.is_ascii_digit());
    object.len() > 1 && object.values().all(Value::is_string) && object.keys().all(is_id)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn table(fields: &[(&str, &str)]) -> Dump {
        let fields = fields.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Dump { fields, ..Dump::looked_at(Path::new("none")) }
    }

    fn single(dump: &Dump, text: &str) -> FileJudgement {
        let seen = HeadObject::scan_bytes(text.as_bytes());
        judge_single(dump, &seen.scanned, seen.bytes)
    }

    fn several(dump: &Dump, text: &str) -> FileJudgement {
        let objects: Vec<HeadObject<'_>> =
            text.lines().map(|line| HeadObject::scan_bytes(line.as_bytes())).collect();
        judge_several(dump, &objects)
    }

    #[test]
    fn an_object_beside_a_list_of_records_is_asked_about_where_both_have_the_texts() {
        let dump = table(&[("id", "id"), ("title", "title"), ("content", "body")]);
        let open = |at: &str| FileJudgement::Open(vec![at.to_owned()]);
        let archive =
            r#"{"title": "archive", "id": 5, "data": [{"id": 1, "title": "Why is a cloud high?"}]}"#;
        assert_eq!(single(&dump, archive), open("/data"));
        assert_eq!(
            single(&dump, r#"{"page": 1, "data": [{"id": 1, "title": "x"}]}"#),
            FileJudgement::Around("/data".into())
        );
        let tagged = r#"{"title": "Why is a cloud high?", "id": 5, "tags": [{"id": 1, "name": "sky"}]}"#;
        assert_eq!(single(&dump, tagged), FileJudgement::Records);
        let pages = r#"{"page": 1, "title": "p", "data": {"items": [{"id": 1, "title": "x", "body": "y"}]}}"#;
        assert_eq!(several(&dump, &format!("{pages}\n{pages}")), open("/data/items"));
        assert_eq!(
            several(&dump, &pages.replace("\"title\": \"p\", ", "")),
            FileJudgement::Around("/data/items".into())
        );
        // Comments and marked segments are parts of a post.
        let post =
            r#"{"id": 1, "title": "x", "body": "y", "comments": [{"id": 2, "body": "long and longer"}]}"#;
        assert_eq!(several(&dump, post), FileJudgement::Records);
        let chat = table(&[("content", "text")]);
        let marked = r#"{"text": "see x", "text_entities": [{"type": "plain", "text": "see x"}]}"#;
        assert_eq!(several(&chat, marked), FileJudgement::Records);
    }

    #[test]
    fn replies_about_errors_and_maps_are_told() {
        let object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        for (text, is_error, is_map) in [
            (r#"{"error": {"code": 403, "message": "no"}}"#, true, false),
            (r#"{"message": "Not Found", "status": "404"}"#, true, false),
            (r#"{"errors": [{"message": "Rate limit", "code": 88}]}"#, true, false),
            (r#"{"errno": 0, "error": "", "data": {}}"#, false, false),
            (r#"{"t3_1": "Why is a cloud high?", "t3_2": "Do fish drown?"}"#, false, true),
            (r#"{"title": "x", "body": "y"}"#, false, false),
        ] {
            assert_eq!(
                (is_error_reply(&object(text)), is_map_of_texts(&object(text))),
                (is_error, is_map),
                "{text}"
            );
        }
    }
}
