//! Responses made elsewhere: raw/responses/*.jsonl, and a sample's.
//!
//! A line is `{"item": "tieba:1", "model": "some-model", "text": "…", "for": "question", "sample": 0}`; `for`
//! is `question` or `pair`, it and `sample` may be left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::response;
use crate::config::{Config, sections};
use crate::stages::StageError;
use crate::stages::line_error::LineError;
use riddlemill_llm::without_reasoning;
use riddlemill_tables::{Error, Workspace};
use riddlemill_text::record::{Question, Response, record};

record! {
    /// A line that is no response to any question.
    pub struct Refused {
        /// File and line.
        id: String,
        /// What is wrong with it, and what would help.
        evidence: String,
    }
}

impl Refused {
    /// A line that cannot be used.
    pub(in crate::stages) fn line(place: String, error: &LineError) -> Refused {
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
struct Line {
    item: String,
    model: String,
    text: String,
    #[serde(default, rename = "for")]
    to: To,
    #[serde(default)]
    sample: u64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum To {
    #[default]
    Question,
    Pair,
}

impl Made {
    /// Reads what lies in raw/responses, and the sample that the settings name.
    ///
    /// # Errors
    /// [`StageError::Store`] where a file cannot be read.
    pub fn load(config: &Config, recipe: &str) -> Result<Made, StageError> {
        let folder = Workspace::new(&config.root).raw().join("responses");
        let mut paths: Vec<(PathBuf, bool)> = Vec::new();
        if folder.exists() {
            let entries = fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
            for entry in entries {
                let path = entry.map_err(Error::io("read", &folder))?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    paths.push((path, false));
                }
            }
            paths.sort();
        }
        let settings: sections::Respond = config.typed(Some(recipe), "respond");
        if !settings.sample.is_empty() && config.root.join(&settings.sample).exists() {
            paths.push((config.root.join(&settings.sample), true));
        }
        let read = |(path, sample): (PathBuf, bool)| {
            let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
            let name = path.strip_prefix(&config.root).unwrap_or(&path).display().to_string();
            Ok(File { name, text: String::from_utf8_lossy(&bytes).into_owned(), sample })
        };
        Ok(Made { files: paths.into_iter().map(read).collect::<Result<_, Error>>()? })
    }

    /// What a manifest records of them: name and hash.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        let hash = |file: &File| blake3::hash(file.text.as_bytes()).to_hex()[..16].to_string();
        self.files.iter().map(|file| (format!("responses {}", file.name), hash(file))).collect()
    }

    /// The responses by question, and the lines that are none. Of two in the same name the first counts.
    pub(super) fn for_questions(
        &self,
        questions: &[Question],
    ) -> (HashMap<String, Vec<Response>>, Vec<Refused>) {
        let known: HashMap<&str, &Question> = questions.iter().map(|q| (q.id.as_str(), q)).collect();
        let mut made: HashMap<String, Vec<Response>> = HashMap::new();
        let mut seen: HashMap<String, String> = HashMap::new();
        let mut texts: HashSet<(String, bool, String, String)> = HashSet::new();
        let mut refused = Vec::new();
        for file in &self.files {
            for (at, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let place = format!("{}:{}", file.name, at + 1);
                match read(line, &known) {
                    Ok((question, line)) => {
                        let normal = matches!(line.to, To::Pair);
                        let origin = if file.sample { "sample" } else { "made" };
                        let text = without_reasoning(&line.text).trim().to_owned();
                        let basis = format!("{origin}:{place}");
                        let response = response(question, normal, &line.model, line.sample, text, basis);
                        let words = (question.id.clone(), normal, line.model.clone(), response.text.clone());
                        if let Some(first) = seen.get(&response.id) {
                            let error = LineError::SameResponse { first: first.clone() };
                            refused.push(Refused::line(place, &error));
                        } else if !texts.insert(words) {
                            refused.push(Refused::line(place, &LineError::SameWords));
                        } else {
                            seen.insert(response.id.clone(), place);
                            made.entry(question.id.clone()).or_default().push(response);
                        }
                    }
                    // A sample speaks of the sample's questions, and a workspace of its own has others.
                    Err(_) if file.sample && is_of_another(line, &known) => {}
                    Err(error) => refused.push(Refused::line(place, &error)),
                }
            }
        }
        (made, refused)
    }
}

/// Whether a line is a response, to a question that is not there.
fn is_of_another(line: &str, known: &HashMap<&str, &Question>) -> bool {
    serde_json::from_str::<Line>(line).is_ok_and(|line| !known.contains_key(line.item.as_str()))
}

/// A line and its question, or what is wrong with it.
fn read<'q>(line: &str, known: &HashMap<&str, &'q Question>) -> Result<(&'q Question, Line), LineError> {
    let line: Line = serde_json::from_str(line).map_err(LineError::NoResponse)?;
    let Some(question) = known.get(line.item.as_str()).copied() else {
        return Err(LineError::NoQuestion(line.item));
    };
    if line.model.trim().is_empty() || line.text.trim().is_empty() {
        return Err(LineError::EmptyResponse);
    }
    if matches!(line.to, To::Pair) && question.pair.is_none() {
        return Err(LineError::NoPair(line.item));
    }
    Ok((question, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_checked_and_counted_once() {
        let question = Question { id: "q".into(), question_en: Some("Why?".into()), ..Question::default() };
        let lines = [
            r#"{"item": "q", "model": "m", "text": "So."}"#,
            r#"{"item": "q", "model": "m", "text": "Otherwise."}"#,
            r#"{"item": "q", "model": "m", "text": "So.", "sample": 1}"#,
            r#"{"item": "q", "model": "m", "text": "Thus.", "sample": 2}"#,
            r#"{"item": "r", "model": "m", "text": "So."}"#,
            r#"{"item": "q", "model": "m", "text": " "}"#,
            r#"{"item": "q", "model": "m", "text": "So.", "for": "pair"}"#,
            r#"{"item": "q""#,
        ];
        let file = File { name: "f".into(), text: lines.join("\n"), sample: false };
        let (made, refused) = Made { files: vec![file] }.for_questions(&[question]);
        let kept: Vec<(u64, &str)> = made["q"].iter().map(|r| (r.sample, r.basis[0].as_str())).collect();
        assert_eq!(kept, [(0, "made:f:1"), (2, "made:f:4")]);
        let places: Vec<&str> = refused.iter().map(|line| line.id.as_str()).collect();
        assert_eq!(places, ["f:2", "f:3", "f:5", "f:6", "f:7", "f:8"]);
        let sample = |line: &str| File { name: "s".into(), text: line.into(), sample: true };
        let files = vec![sample(lines[4]), sample(lines[7])];
        let (_, refused_of_sample) =
            Made { files }.for_questions(&[Question { id: "q".into(), ..Question::default() }]);
        assert_eq!(refused_of_sample.len(), 1, "a sample's questions may be others: {refused_of_sample:?}");
        assert!(refused[0].evidence.contains("as f:1") && refused[2].evidence.contains("explain r"));
    }
}
