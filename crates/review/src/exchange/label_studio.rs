//! Ballots as Label Studio tasks, and its JSON export back.
//!
//! Formats: `data`, `predictions` and `annotations` of its task format; tags Text, Header, Choices,
//! TextArea and Number of its labelling configuration. Control tags are named as the fields, and
//! choices carry their code as `alias`, which is what the export holds.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use crate::assign::Annotator;
use crate::ballot::{AnswerKind, Field, RESERVED};
use crate::value::Value;

use super::csv::decode_text;
use super::entries::{Entries, Entry, Places, RowCells};
use super::find_author;
use super::jsonl::value_of_json;
use super::problem::{Problem, VoteProblem};
use super::sheet::{ExportError, Sheet, readable_value};
use super::unread::{Part, Unread};

/// One task per item. Drafts are exported as predictions if annotators may see them.
pub(super) fn write_tasks(sheet: &Sheet<'_>) -> Result<Vec<u8>, ExportError> {
    let ballot = &sheet.ballot;
    let mut tasks = Vec::new();
    for (item, own) in &sheet.rows {
        let own = own.filter(|vote| vote.content_hash == item.content_hash);
        let mut data = Map::new();
        data.insert("item".into(), json!(item.id));
        for key in &sheet.sees {
            let shown = item.content.get(*key).map(readable_value).unwrap_or_default();
            data.insert(variable_name(key), json!(shown));
        }
        data.insert("annotator".into(), json!(ballot.annotator));
        data.insert("round".into(), json!(ballot.round));
        data.insert("recipe".into(), json!(ballot.step.recipe));
        data.insert("step".into(), json!(ballot.step.name));
        data.insert("vote".into(), json!(own.map(|vote| item.sheet_vote(vote.id))));
        data.insert("content_hash".into(), json!(item.sheet_hash()));
        let mut task = Map::new();
        task.insert("data".into(), Json::Object(data));
        let drafted = sheet.form.iter().filter(|field| sheet.drafts.contains(&field.name));
        let result: Vec<Json> =
            drafted.filter_map(|field| Some(region_of(field, item.draft.get(field.name)?))).collect();
        if !result.is_empty() {
            task.insert("predictions".into(), json!([{ "model_version": "draft", "result": result }]));
        }
        tasks.push(Json::Object(task));
    }
    Ok(serde_json::to_vec_pretty(&tasks)?)
}

/// A valid name after `$` in the configuration.
fn variable_name(key: &str) -> String {
    format!("see_{}", key.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}

fn region_of(field: &Field, value: &Value) -> Json {
    let codes = || match value {
        Value::List(codes) => codes.clone(),
        other => vec![other.to_string()],
    };
    let (kind, value) = match field.kind {
        AnswerKind::Text | AnswerKind::Edited { .. } => ("textarea", json!({ "text": [value.to_string()] })),
        AnswerKind::Score { .. } => ("number", json!({ "number": value.as_number() })),
        _ => ("choices", json!({ "choices": codes() })),
    };
    json!({ "from_name": field.name, "to_name": SHOWN, "type": kind, "value": value })
}

/// The object tag that every control belongs to.
const SHOWN: &str = "item";

/// The labelling interface.
pub(super) fn write_config(sheet: &Sheet<'_>) -> String {
    let step = sheet.ballot.step;
    let mut xml = String::from("<View>\n");
    let mut line = |indent: usize, text: String| {
        xml.push_str(&"  ".repeat(indent));
        xml.push_str(&text);
        xml.push('\n');
    };
    line(1, format!("<Header value=\"{} {}\"/>", escape_xml(step.title.zh), escape_xml(step.title.en)));
    line(
        1,
        format!(
            "<Header size=\"5\" value=\"{} {}\"/>",
            escape_xml(step.guideline.zh),
            escape_xml(step.guideline.en)
        ),
    );
    line(1, format!("<Text name=\"{SHOWN}\" value=\"$item\"/>"));
    for key in &sheet.sees {
        let name = variable_name(key);
        line(1, format!("<Header size=\"4\" value=\"{}\"/>", escape_xml(&sheet.see_label(key))));
        line(1, format!("<Text name=\"{name}\" value=\"${name}\"/>"));
    }
    for field in &sheet.form {
        let visible = field.when.map(|when| {
            // The condition uses the displayed value.
            let shown = |code: &&str| {
                let other = sheet.form.iter().find(|other| other.name == when.field)?;
                let option = other.options().iter().find(|option| option.code == *code)?;
                Some(escape_xml(&display_text(option)))
            };
            let values: Vec<String> = when.write.iter().filter_map(shown).collect();
            format!(
                " visibleWhen=\"choice-selected\" whenTagName=\"{}\" whenChoiceValue=\"{}\"",
                when.field,
                values.join(",")
            )
        });
        line(1, format!("<View{}>", visible.unwrap_or_default()));
        line(
            2,
            format!(
                "<Header size=\"4\" value=\"{} {}\"/>",
                escape_xml(field.label.zh),
                escape_xml(field.label.en)
            ),
        );
        let name = format!("name=\"{}\" toName=\"{SHOWN}\"", field.name);
        let required = if field.required && field.when.is_none() { " required=\"true\"" } else { "" };
        match &field.kind {
            AnswerKind::Text | AnswerKind::Edited { .. } => {
                line(
                    2,
                    format!("<TextArea {name} rows=\"3\" maxSubmissions=\"1\" editable=\"true\"{required}/>"),
                );
            }
            AnswerKind::Score { min, max } => {
                line(2, format!("<Number {name} min=\"{min}\" max=\"{max}\"{required}/>"))
            }
            kind => {
                let several = matches!(
                    kind,
                    AnswerKind::Choices { .. }
                        | AnswerKind::Keep { .. }
                        | AnswerKind::Pick { k: 2.., .. }
                        | AnswerKind::Pick { any: true, .. }
                );
                let choice = if several { "multiple" } else { "single" };
                line(2, format!("<Choices {name} choice=\"{choice}\"{required}>"));
                for (code, shown, hint) in choices_of(field, sheet) {
                    line(
                        3,
                        format!(
                            "<Choice alias=\"{}\" value=\"{}\"{hint}/>",
                            escape_xml(&code),
                            escape_xml(&shown)
                        ),
                    );
                }
                line(2, "</Choices>".to_owned());
            }
        }
        line(1, "</View>".to_owned());
    }
    xml.push_str("</View>\n");
    xml
}

fn display_text(option: &crate::ballot::Choice) -> String {
    // A comma would split the list of values in a condition.
    format!("{} {}", option.label.zh, option.label.en).replace(',', " ")
}

/// Code, displayed text, and hint attribute of each choice.
fn choices_of(field: &Field, sheet: &Sheet<'_>) -> Vec<(String, String, String)> {
    let option = |option: &crate::ballot::Choice| {
        let hint =
            format!(" hint=\"{} {}\"", escape_xml(option.definition.zh), escape_xml(option.definition.en));
        (option.code.to_owned(), display_text(option), hint)
    };
    let plain = |code: String| (code.clone(), code, String::new());
    match &field.kind {
        AnswerKind::Pick { from, .. } => {
            let most = sheet.rows.iter().map(|(item, _)| item.candidates_in(from).len()).max().unwrap_or(0);
            (1..=most).map(|number| plain(number.to_string())).collect()
        }
        AnswerKind::Preference { .. } => {
            let numbers = ["1", "2"].map(|number| plain(number.to_owned()));
            numbers.into_iter().chain(field.options().iter().map(option)).collect()
        }
        AnswerKind::Keep { .. } => {
            let keep = ("keep".to_owned(), "保留 keep".to_owned(), String::new());
            std::iter::once(keep).chain(field.options().iter().map(option)).collect()
        }
        _ => field.options().iter().map(option).collect(),
    }
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // In an attribute, XML turns a bare line break into a space.
            '\n' => escaped.push_str("&#10;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Reads an export as JSON or JSON_MIN: one row for every submitted annotation. Its author is found by the
/// account (number or address) in the settings of the annotators; one without an account is nobody's.
pub(super) fn read_export(
    bytes: &[u8],
    people: &[Annotator],
    form: &[Field],
) -> Result<(Entries, Vec<VoteProblem>, Vec<Problem>), VoteProblem> {
    let (text, notes) = decode_text(bytes)?;
    let tasks: Vec<Json> =
        riddlemill_text::notation::from_str(&text).map_err(|error| VoteProblem::Unreadable {
            what: format!("not a Label Studio export: {error}"),
            hint: error.is_eof().then_some("was the file saved to its end?"),
        })?;
    let mut columns: Vec<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
    let kept = columns.len();
    columns.extend(form.iter().map(|field| field.name.to_owned()));
    columns.push("seconds".to_owned());
    let mut rows = Vec::new();
    let mut cancelled = false;
    let mut unread = Unread::default();
    for (at, task) in tasks.iter().enumerate() {
        for key in ASIDE {
            unread.note_part(Part::Key, key, &task[key]);
        }
        for Annotation { data, by, given, lead_time, comments } in annotations_of(at + 1, task)? {
            unread.note_part(Part::Key, COMMENTS, comments);
            let Some(given) = given else {
                cancelled = true;
                continue;
            };
            let mut cells: Vec<Option<Value>> =
                columns[..kept].iter().map(|name| value_of_json(&data[name])).collect();
            // Whoever the task was exported for, its author is whose account it was answered with.
            let signed = signatures_of(by);
            if let Some(column) = columns.iter().position(|name| name == "annotator") {
                let signatures: Vec<&str> = signed.iter().map(String::as_str).collect();
                // An account that nobody has stays, and becomes the problem of its row.
                let name = signed.first().map(|first| {
                    find_author(people, &signatures).map_or(first, |person| &person.name).clone()
                });
                cells[column] = name.map(Value::Text);
            }
            given.note_unread(form, &mut unread);
            for field in form {
                let given = given.answer_to(field);
                let answer = given.as_ref().and_then(|given| answer_of(given, field));
                if let (Some(given), None) = (&given, &answer) {
                    unread.note_lost(Part::Control, field.name, given);
                }
                cells.push(answer);
            }
            cells.push(value_of_json(lead_time));
            rows.push(Entry { number: at + 1, cells: RowCells::Values(cells), merged: Vec::new() });
        }
    }
    if rows.is_empty() && !cancelled && !tasks.is_empty() {
        return Err(VoteProblem::Unreadable {
            what: format!("none of its {} tasks has an annotation", tasks.len()),
            hint: Some("this is the file for import into Label Studio; export JSON or JSON-MIN from there"),
        });
    }
    Ok((Entries { sheet: None, columns, rows, places: Places::Tasks, unread }, notes, Vec::new()))
}

/// What annotators write to each other.
const COMMENTS: &str = "comments";

/// Keys of a task under which people write what is no submitted annotation.
const ASIDE: [&str; 2] = [COMMENTS, "drafts"];

/// Keys of JSON-MIN that Label Studio fills in itself.
const OWN: [&str; 9] = [
    "id",
    "annotation_id",
    "annotator",
    "lead_time",
    "created_at",
    "updated_at",
    "agreement",
    "project",
    "inner_id",
];

/// An annotation in either format.
struct Annotation<'t> {
    /// The task's own fields.
    data: &'t Json,
    /// Its author.
    by: &'t Json,
    /// The answers; `None` if it was cancelled.
    given: Option<LabelStudioAnswers<'t>>,
    /// Seconds.
    lead_time: &'t Json,
    /// Those on the annotation itself.
    comments: &'t Json,
}

/// Answers, in JSON and in JSON_MIN.
enum LabelStudioAnswers<'t> {
    Regions(&'t [Json]),
    Plain(&'t Json),
}

impl<'t> LabelStudioAnswers<'t> {
    /// The value of the last region of the field's control.
    fn answer_to(&self, field: &Field) -> Option<Cow<'t, Json>> {
        match self {
            LabelStudioAnswers::Regions(regions) => {
                let region = regions.iter().rev().find(|region| region["from_name"] == field.name)?;
                Some(Cow::Borrowed(&region["value"]))
            }
            LabelStudioAnswers::Plain(record) => wrap_plain(&record[field.name]),
        }
    }

    /// Notes what was answered to no field.
    fn note_unread(&self, form: &[Field], unread: &mut Unread) {
        let asked = |name: &str| form.iter().any(|field| field.name == name);
        match self {
            LabelStudioAnswers::Regions(regions) => {
                for region in *regions {
                    let name = region["from_name"].as_str().unwrap_or_default();
                    if !asked(name) {
                        unread.note_part(Part::Control, name, &region["value"]);
                    }
                }
            }
            // Its other keys are the task's own: of the ballot, or what was shown.
            LabelStudioAnswers::Plain(record) => {
                for (name, value) in record.as_object().into_iter().flatten() {
                    let known = RESERVED.iter().chain(&OWN).chain(&ASIDE).any(|known| known == name);
                    if !known && !asked(name) && !name.starts_with("see_") {
                        unread.note_part(Part::Control, name, value);
                    }
                }
            }
        }
    }
}

/// JSON_MIN writes a single choice or text without its region, and several regions as a list.
fn wrap_plain(answer: &Json) -> Option<Cow<'_, Json>> {
    match answer {
        Json::String(_) => Some(Cow::Owned(json!({ "choices": [answer] }))),
        Json::Number(_) => Some(Cow::Owned(json!({ "number": answer }))),
        Json::Array(several) => wrap_plain(several.last()?),
        Json::Object(_) => Some(Cow::Borrowed(answer)),
        _ => None,
    }
}

/// The annotations of one element of an export.
fn annotations_of(number: usize, task: &Json) -> Result<Vec<Annotation<'_>>, VoteProblem> {
    match (&task["annotations"], &task["data"]) {
        (Json::Array(annotations), data) => {
            Ok(annotations.iter().map(|own| Annotation::parse_annotation(data, own)).collect())
        }
        (_, Json::Object(_)) => Ok(Vec::new()),
        _ if task["item"].is_string() && task["annotation_id"] != Json::Null => Ok(vec![Annotation {
            data: task,
            by: &task["annotator"],
            given: Some(LabelStudioAnswers::Plain(task)),
            lead_time: &task["lead_time"],
            comments: &Json::Null,
        }]),
        _ => Err(VoteProblem::Unreadable {
            what: format!("task {number} is not in a known export format of Label Studio"),
            hint: Some("export JSON or JSON-MIN"),
        }),
    }
}

impl<'t> Annotation<'t> {
    fn parse_annotation(data: &'t Json, own: &'t Json) -> Annotation<'t> {
        let regions = own["result"].as_array().map(Vec::as_slice).unwrap_or_default();
        Annotation {
            data,
            by: &own["completed_by"],
            given: (own["was_cancelled"] != true).then_some(LabelStudioAnswers::Regions(regions)),
            lead_time: &own["lead_time"],
            comments: &own[COMMENTS],
        }
    }
}

/// The signatures of an annotation: an account's number, or the address and number of an object; none if nobody
/// signed.
fn signatures_of(by: &Json) -> Vec<String> {
    let parts: Vec<&Json> = match by {
        Json::Object(object) => {
            ["email", "username", "id"].iter().filter_map(|key| object.get(*key)).collect()
        }
        other => vec![other],
    };
    let text = |part: &Json| part.as_str().map_or_else(|| part.to_string(), |text| text.trim().to_owned());
    parts.into_iter().filter(|part| !part.is_null()).map(text).filter(|text| !text.is_empty()).collect()
}

/// The answer in a region's value. A displayed label is accepted in place of an alias.
fn answer_of(answer: &Json, field: &Field) -> Option<Value> {
    let found = ["choices", "text", "number", "rating"].into_iter().find_map(|key| answer.get(key))?;
    let single = |list: &Vec<Json>| list.iter().filter_map(Json::as_str).collect::<Vec<_>>().join("\n");
    match (&field.kind, found) {
        (AnswerKind::Text | AnswerKind::Edited { .. }, Json::Array(list)) => Some(Value::Text(single(list))),
        (AnswerKind::Choices { .. } | AnswerKind::Keep { .. } | AnswerKind::Pick { .. }, list) => {
            value_of_json(list).map(|value| to_codes(field, value))
        }
        (_, Json::Array(list)) => Some(to_codes(field, Value::Text(single(list)))),
        (_, other) => value_of_json(other),
    }
}

fn to_codes(field: &Field, value: Value) -> Value {
    let code = |shown: &str| {
        let option = field.options().iter().find(|option| display_text(option) == shown);
        option.map_or_else(|| shown.to_owned(), |option| option.code.to_owned())
    };
    match value {
        Value::Text(text) => Value::Text(if text == "保留 keep" { "keep".to_owned() } else { code(&text) }),
        Value::List(list) => Value::List(list.iter().map(|text| code(text)).collect()),
        number => number,
    }
}
