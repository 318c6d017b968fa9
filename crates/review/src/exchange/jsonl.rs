//! Ballots as JSON lines.

use serde_json::{Map, Value as Json, json};

use crate::value::Value;

use super::csv::decode_text;
use super::entries::{Entries, Entry, Places, RowCells};
use super::problem::{Problem, VoteProblem};
use super::sheet::{ExportError, Sheet};

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
    let mut known = std::collections::BTreeSet::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let object: Map<String, Json> = match riddlemill_text::notation::from_str(line) {
            Ok(object) => object,
            Err(error) => {
                let what = format!("not a JSON object: {error}");
                let hint = error.is_eof().then_some("was the file saved to its end?");
                problems.push(Problem {
                    file: file.to_owned(),
                    place: format!("line {}", at + 1),
                    trouble: VoteProblem::Unreadable { what, hint },
                });
                continue;
            }
        };
        known.extend(
            columns[..kept]
                .iter()
                .enumerate()
                .filter(|(_, name)| object.contains_key(*name))
                .map(|(at, _)| at),
        );
        let answers = object.get("answers").and_then(Json::as_object);
        let cells = columns.iter().enumerate().map(|(at, name)| match at {
            _ if at < kept || at == seconds => object.get(name),
            _ => answers.and_then(|answers| answers.get(name)),
        });
        let cells = cells.map(|json| json.and_then(value_of_json)).collect();
        rows.push(Entry { number: at + 1, cells: RowCells::Values(cells), merged: Vec::new() });
    }
    // A key that no line has is a column that is missing.
    if !rows.is_empty() {
        (0..kept).filter(|at| !known.contains(at)).for_each(|at| columns[at].clear());
    }
    Ok((Entries { sheet: None, columns, rows, places: Places::Lines }, notes, problems))
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
