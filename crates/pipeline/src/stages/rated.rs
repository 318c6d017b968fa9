//! Ratings made elsewhere: raw/ratings/*.jsonl.
//!
//! A line is `{"item": "tieba:1", "model": "some-model", "judge": "some-judge", "rating": 3, "explanation": "…", "for":
//! "question", "sample": 0}`: what a judge gave a model's answer, from 0 to 4. `for` is `question` or `pair`; it, `sample`
//! and `explanation` may be left out. What is asked here goes before what was rated elsewhere in the same judge's name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::StageError;
use super::line_error::LineError;
use super::respond::Refused;
use crate::config::Config;
use riddlemill_tables::{Error, Workspace};
use riddlemill_text::record::Response;

/// The scale of RuozhiBench's figures 12 and 13.
const SCALE: std::ops::RangeInclusive<u64> = 0..=4;

/// The files, read.
#[derive(Clone, Debug, Default)]
pub struct Rated {
    /// Relative to the workspace, and what they say.
    files: Vec<(String, String)>,
}

/// A rating of one response.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Elsewhere {
    pub(super) judge: String,
    pub(super) rating: u64,
    pub(super) explanation: String,
    /// `made:<file>:<line>`.
    pub(super) basis: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    item: String,
    model: String,
    judge: String,
    rating: u64,
    #[serde(default)]
    explanation: String,
    #[serde(default, rename = "for")]
    to: To,
    #[serde(default)]
    sample: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum To {
    #[default]
    Question,
    Pair,
}

impl Rated {
    /// Reads what lies in raw/ratings.
    ///
    /// # Errors
    /// [`StageError::Store`] where a file cannot be read.
    pub fn load(config: &Config) -> Result<Rated, StageError> {
        let folder = Workspace::new(&config.root).raw().join("ratings");
        let mut paths: Vec<PathBuf> = Vec::new();
        if folder.exists() {
            for entry in fs::read_dir(&folder).map_err(Error::io("read", &folder))? {
                let path = entry.map_err(Error::io("read", &folder))?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    paths.push(path);
                }
            }
            paths.sort();
        }
        let read = |path: PathBuf| {
            let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
            let name = path.strip_prefix(&config.root).unwrap_or(&path).display().to_string();
            Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
        };
        Ok(Rated { files: paths.into_iter().map(read).collect::<Result<_, Error>>()? })
    }

    /// What a manifest records of them: name and hash.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_string();
        self.files.iter().map(|(name, text)| (format!("ratings {name}"), hash(text))).collect()
    }

    /// The ratings by the id of the response, and the lines that are none. Of two in the same judge's name the first
    /// counts.
    pub(super) fn of(&self, responses: &[Response]) -> (HashMap<String, Vec<Elsewhere>>, Vec<Refused>) {
        let known: HashSet<&str> = responses.iter().map(|response| response.id.as_str()).collect();
        let mut rated: HashMap<String, Vec<Elsewhere>> = HashMap::new();
        let mut refused = Vec::new();
        for (name, text) in &self.files {
            for (line, at) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
                let place = format!("{name}:{at}");
                match read(line, &known) {
                    Ok((response, line)) => {
                        let of_response = rated.entry(response).or_default();
                        match of_response.iter().find(|other| other.judge == line.judge) {
                            Some(first) => {
                                let first = first.basis.trim_start_matches("made:");
                                let error = LineError::SameRating { first: first.to_owned() };
                                refused.push(Refused::line(place, &error));
                            }
                            None => {
                                let Line { judge, rating, explanation, .. } = line;
                                let basis = format!("made:{place}");
                                of_response.push(Elsewhere { judge, rating, explanation, basis });
                            }
                        }
                    }
                    Err(error) => refused.push(Refused::line(place, &error)),
                }
            }
        }
        (rated, refused)
    }
}

/// A line and the response that it rates, or what is wrong with it.
fn read(line: &str, known: &HashSet<&str>) -> Result<(String, Line), LineError> {
    let line: Line = serde_json::from_str(line).map_err(LineError::NoRating)?;
    if !SCALE.contains(&line.rating) {
        return Err(LineError::OffScale(line.rating));
    }
    if line.judge.trim().is_empty() {
        return Err(LineError::NoJudge);
    }
    let response = Response::id_of(&line.item, line.to == To::Pair, &line.model, line.sample);
    if !known.contains(response.as_str()) {
        return Err(LineError::NotRated { model: line.model, item: line.item });
    }
    Ok((response, line))
}
