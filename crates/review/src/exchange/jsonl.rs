//! Ballots as JSON lines.

use riddlemill_benchmarks::notation::split_members;
use riddlemill_text::notation::strip_byte_mark;
use serde_json::{Map, Value as Json, json};

use crate::value::Value;

use super::csv::decode_text;
use super::entries::{Entries, Entry, Places, RowCells};
use super::problem::{Problem, VoteProblem};
use super::sheet::{ExportError, Sheet};
use super::unread::{Part, Unread};

/// The key of a line's answers.
const ANSWERS: &str = "answers";

pub(super) fn write_jsonl(sheet: &Sheet<'_>) -> Result<Vec<u8>, ExportError> {
    let mut lines = Vec::new();
    let ballot = &sheet.ballot;
    for (item, own) in &sheet.rows {
        let own = own.filter(|vote| vote.content_hash == item.content_hash);
        let mut line = Map::new();
        line.insert("item".into(), json!(item.id));
        line.insert("see".into(), json!(item.content));
        if !sheet.drafts.is_empty() {
            line.insert("draft".into(), json!(item.draft));
        }
        let cells = sheet.headers().into_iter().zip(sheet.row_cells(item, own));
        let asked = |name: &str| sheet.form.iter().any(|field| field.name == name);
        let answers: Map<String, Json> =
            cells.filter(|(name, _)| asked(name)).map(|(name, cell)| (name, json!(cell))).collect();
        line.insert("answers".into(), Json::Object(answers));
        line.insert("annotator".into(), json!(ballot.annotator));
        line.insert("round".into(), json!(ballot.round));
        line.insert("recipe".into(), json!(ballot.step.recipe));
        line.insert("step".into(), json!(ballot.step.name));
        line.insert("vote".into(), json!(own.map(|vote| item.sheet_vote(vote.id))));
        line.insert("content_hash".into(), json!(item.sheet_hash()));
        serde_json::to_writer(&mut lines, &line)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Reads ballots, one per line: the bookkeeping keys, and the answers under `answers` as text, list or
/// number.
pub(super) fn read_jsonl(
    file: &str,
    bytes: &[u8],
    fields: &[&'static str],
) -> Result<(Entries, Vec<VoteProblem>, Vec<Problem>), VoteProblem> {
    let (text, notes) = decode_text(bytes)?;
    let mut columns: Vec<String> = crate::ballot::RESERVED.iter().map(|name| (*name).to_owned()).collect();
    let kept = columns.len();
    columns.extend(fields.iter().map(|name| (*name).to_owned()));
    let seconds = columns.len();
    columns.push("seconds".to_owned());
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let mut unread = Unread::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut refuse = |trouble| {
            problems.push(Problem { file: file.to_owned(), place: format!("line {}", at + 1), trouble });
        };
        let object: Map<String, Json> = match riddlemill_text::notation::from_str(line) {
            Ok(object) => object,
            Err(error) => {
                let what = format!("not a JSON object: {error}");
                let hint = error.is_eof().then_some("was the file saved to its end?");
                refuse(VoteProblem::Unreadable { what, hint });
                continue;
            }
        };
        if let Some(key) = repeated_key(line) {
            refuse(VoteProblem::RepeatedKey(key));
            continue;
        }
        let answers = object.get(ANSWERS).and_then(Json::as_object);
        for (key, value) in &object {
            match (key.as_str(), value) {
                (ANSWERS, Json::Object(_) | Json::Null) => unread.note_name(key),
                (ANSWERS, _) => unread.note_lost(Part::Key, key, value),
                ("see" | "draft" | "seconds", _) => unread.note_name(key),
                (known, _) if crate::ballot::RESERVED.contains(&known) => unread.note_name(key),
                _ => unread.note_part(Part::Key, key, value),
            }
        }
        for (key, value) in answers.into_iter().flatten() {
            if !fields.contains(&key.as_str()) || value.is_object() {
                unread.note_lost(Part::Answer, key, value);
            }
        }
        let cells = columns.iter().enumerate().map(|(at, name)| match at {
            _ if at < kept || at == seconds => object.get(name),
            _ => answers.and_then(|answers| answers.get(name)),
        });
        let cells = cells.map(|json| json.and_then(value_of_json)).collect();
        rows.push(Entry { number: at + 1, cells: RowCells::Values(cells), merged: Vec::new() });
    }
    // A key that no line has is a column that is missing.
    if !rows.is_empty() {
        columns[..kept].iter_mut().filter(|name| !unread.has_name(name)).for_each(String::clear);
        if !unread.has_name(ANSWERS) {
            let trouble = VoteProblem::NoColumn { name: ANSWERS, columns: unread.names() };
            problems.push(Problem { file: file.to_owned(), place: String::new(), trouble });
        }
    }
    Ok((Entries { sheet: None, columns, rows, places: Places::Lines, unread }, notes, problems))
}

/// A key that the line or its answers give two different values: nobody knows which is meant.
fn repeated_key(line: &str) -> Option<String> {
    let twice = |members: &[(String, &str)]| {
        let mut keys = members.iter().enumerate();
        let key = keys.find(|(at, (key, value))| {
            members[..*at].iter().any(|(other, before)| other == key && before.trim() != value.trim())
        })?;
        Some(key.1.0.clone())
    };
    let members = split_members(strip_byte_mark(line)).ok()?;
    let answers = members.iter().filter(|(key, _)| key == ANSWERS);
    twice(&members).or_else(|| answers.filter_map(|(_, text)| twice(&split_members(text).ok()?)).next())
}

/// A JSON scalar or list of scalars as an answer.
pub(crate) fn value_of_json(json: &Json) -> Option<Value> {
    match json {
        Json::Null | Json::Object(_) => None,
        Json::Array(list) => {
            let text = |json: &Json| json.as_str().map_or_else(|| json.to_string(), str::to_owned);
            Some(Value::List(list.iter().map(text).collect()))
        }
        Json::Number(number) => number.as_f64().map(Value::Number),
        Json::Bool(bool) => Some(Value::Text(if *bool { "yes" } else { "no" }.to_owned())),
        Json::String(text) => (!text.is_empty()).then(|| Value::Text(text.clone())),
    }
}
