//! Answers made elsewhere: the files of raw/responses, and a sample's.
//!
//! A row (a line of JSON Lines, an element of a list, a row of a table) is `{"item": "tieba:1", "model": "some-model", "text": "…", "for": "question", "sample": 0}`; `for` is the name of
//! one of the step's cases (the first one by default), and `sample` is optional.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use riddlemill_benchmarks::draft::Draft as Declaration;
use serde::Deserialize;

use super::Answer;
use crate::config::{Config, unknown};
use crate::stages::StageError;
use crate::stages::draft::DraftStep;
use crate::stages::import::{as_lines, files_as_lines};
use crate::stages::line_error::LineError;
use crate::stages::subject::in_scope;
use riddlemill_llm::without_reasoning;
use riddlemill_record::{Record, Row, record};
use riddlemill_tables::Workspace;

record! {
    /// A line that is not a response to any record.
    pub struct Refused {
        /// File and line.
        id: String,
        /// What is wrong with it, and what would help.
        evidence: String,
    }
}

impl Refused {
    /// A line that cannot be used.
    pub(in crate::stages) fn of_line(place: String, error: &LineError) -> Refused {
        Refused { id: place, evidence: error.to_string() }
    }
}

/// The files, read.
#[derive(Clone, Debug, Default)]
pub struct Made {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    /// Relative to the workspace.
    name: String,
    text: String,
    sample: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseLine {
    item: String,
    model: String,
    text: String,
    #[serde(rename = "for")]
    to: Option<String>,
    #[serde(default)]
    sample: u64,
}

/// Which case a line is for, by the name in it.
///
/// # Errors
/// [`LineError::NoCase`] where there is none of that name.
pub(in crate::stages) fn find_case(draft: &Declaration, name: Option<&str>) -> Result<usize, LineError> {
    let Some(name) = name else { return Ok(0) };
    let place = draft.responds.iter().position(|asked| asked.name == name);
    place.ok_or_else(|| {
        LineError::NoCase(unknown("value of \"for\"", name, draft.responds.iter().map(|asked| asked.name)))
    })
}

impl Made {
    /// Reads raw/responses and the sample named in the settings; empty if the step uses no responses.
    ///
    /// # Errors
    /// [`StageError::Store`] where a file cannot be read.
    pub fn load(draft: DraftStep, config: &Config, recipe: &str) -> Result<Made, StageError> {
        let declared = draft.draft_declaration();
        let mut files = Vec::new();
        if declared.made == Some("responses") {
            files = files_as_lines(&Workspace::new(&config.root).raw_folder().join("responses"))?;
        }
        let mut files: Vec<(PathBuf, String, bool)> =
            files.into_iter().map(|(path, text)| (path, text, false)).collect();
        let sample =
            declared.sample.and_then(|(section, key)| config.setting_value(recipe, section, key)?.as_str());
        if let Some(sample) = sample.filter(|sample| !sample.is_empty())
            && config.root.join(sample).exists()
        {
            let path = config.root.join(sample);
            let text = as_lines(&path)?;
            files.push((path, text, true));
        }
        let named = |(path, text, sample): (PathBuf, String, bool)| File {
            name: path.strip_prefix(&config.root).unwrap_or(&path).display().to_string(),
            text,
            sample,
        };
        Ok(Made { files: files.into_iter().map(named).collect() })
    }

    /// What a manifest records of them: name and hash.
    pub fn manifest_evidence(&self) -> BTreeMap<String, String> {
        let hash = |file: &File| blake3::hash(file.text.as_bytes()).to_hex()[..16].to_string();
        self.files.iter().map(|file| (format!("responses {}", file.name), hash(file))).collect()
    }

    /// The answers by record, and the invalid lines. Of two with the same name the first counts.
    pub(super) fn to_records(
        &self,
        draft: &Declaration,
        records: &[Row],
    ) -> (HashMap<String, Vec<Answer>>, Vec<Refused>) {
        let known: HashMap<&str, &Row> = records.iter().map(|record| (record.id(), record)).collect();
        let mut made: HashMap<String, Vec<Answer>> = HashMap::new();
        let mut seen: HashMap<String, String> = HashMap::new();
        let mut texts: HashSet<(String, usize, String, String)> = HashSet::new();
        let mut refused = Vec::new();
        for file in &self.files {
            for (at, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let place = format!("{}:{}", file.name, at + 1);
                match parse_response(line, draft, &known) {
                    Ok((ask, line)) => {
                        let origin = if file.sample { "sample" } else { "made" };
                        let text = without_reasoning(&line.text).trim().to_owned();
                        let basis = format!("{origin}:{place}");
                        let values = [("text", text.as_str())].into_iter().collect();
                        let answer = Answer { ask, model: line.model, sample: line.sample, values, basis };
                        let content = (line.item.clone(), ask, answer.model.clone(), text);
                        let id = answer.answer_id(draft, &line.item);
                        if let Some(first) = seen.get(&id) {
                            let error = LineError::SameResponse { first: first.clone() };
                            refused.push(Refused::of_line(place, &error));
                        } else if !texts.insert(content) {
                            refused.push(Refused::of_line(place, &LineError::SameWords));
                        } else {
                            seen.insert(id, place);
                            made.entry(line.item).or_default().push(answer);
                        }
                    }
                    // A sample speaks of the sample's records, and a workspace of its own has others.
                    Err(_) if file.sample && is_of_another(line, &known) => {}
                    Err(error) => refused.push(Refused::of_line(place, &error)),
                }
            }
        }
        (made, refused)
    }
}

/// Whether a line is an answer, to a record that is not there.
fn is_of_another(line: &str, records: &HashMap<&str, &Row>) -> bool {
    riddlemill_text::notation::from_str::<ResponseLine>(line)
        .is_ok_and(|line| !records.contains_key(line.item.as_str()))
}

/// A line and the case that it is for, or what is wrong with it.
fn parse_response(
    line: &str,
    draft: &Declaration,
    records: &HashMap<&str, &Row>,
) -> Result<(usize, ResponseLine), LineError> {
    let line: ResponseLine = riddlemill_text::notation::from_str(line).map_err(LineError::NoResponse)?;
    let ask = find_case(draft, line.to.as_deref())?;
    let Some(record) = records.get(line.item.as_str()).copied() else {
        return Err(LineError::NoQuestion(line.item));
    };
    if line.model.trim().is_empty() || line.text.trim().is_empty() {
        return Err(LineError::EmptyResponse);
    }
    // To the first case there is an answer whether it could be asked here or not.
    let when = draft.cases.get(ask).and_then(|case| case.when.as_ref());
    if ask > 0 && !in_scope(record, draft.benchmark).is_true(when).unwrap_or(true) {
        let name = draft.responds.get(ask).map(|asked| asked.name).unwrap_or_default();
        return Err(LineError::NotAsked { item: line.item, name });
    }
    Ok((ask, line))
}

#[cfg(test)]
mod tests {
    use super::super::tests::responding;
    use super::*;
    use crate::stages::subject::rows::make_row;
    use serde_json::json;

    #[test]
    fn lines_are_checked_and_counted_once() {
        let question = make_row("questions", json!({ "id": "q", "question_en": "Why?" }));
        let lines = [
            r#"{"item": "q", "model": "m", "text": "So."}"#,
            r#"{"item": "q", "model": "m", "text": "Otherwise."}"#,
            r#"{"item": "q", "model": "m", "text": "So.", "sample": 1}"#,
            r#"{"item": "q", "model": "m", "text": "Thus.", "sample": 2}"#,
            r#"{"item": "r", "model": "m", "text": "So."}"#,
            r#"{"item": "q", "model": "m", "text": " "}"#,
            r#"{"item": "q", "model": "m", "text": "So.", "for": "pair"}"#,
            r#"{"item": "q""#,
            r#"{"item": "q", "model": "m", "text": "So.", "for": "pairs"}"#,
        ];
        let file = File { name: "f".into(), text: lines.join("\n"), sample: false };
        let (made, refused) = Made { files: vec![file] }.to_records(responding(), &[question]);
        let kept: Vec<(u64, &str)> = made["q"].iter().map(|r| (r.sample, r.basis.as_str())).collect();
        assert_eq!(kept, [(0, "made:f:1"), (2, "made:f:4")]);
        let places: Vec<&str> = refused.iter().map(|line| line.id.as_str()).collect();
        assert_eq!(places, ["f:2", "f:3", "f:5", "f:6", "f:7", "f:8", "f:9"]);
        let sample = |line: &str| File { name: "s".into(), text: line.into(), sample: true };
        let files = vec![sample(lines[4]), sample(lines[7])];
        let unasked = make_row("questions", json!({ "id": "q" }));
        let (_, refused_of_sample) = Made { files }.to_records(responding(), &[unasked]);
        assert_eq!(refused_of_sample.len(), 1, "a sample's questions may be others: {refused_of_sample:?}");
        assert!(refused[0].evidence.contains("as f:1") && refused[2].evidence.contains("explain r"));
        assert!(refused[4].evidence.contains("\"pair\" is not asked"), "{}", refused[4].evidence);
        assert!(refused[6].evidence.contains("did you mean \"pair\"?"), "{}", refused[6].evidence);
    }
}
