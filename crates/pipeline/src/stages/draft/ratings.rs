//! Ratings made elsewhere: the files of raw/ratings.
//!
//! A row (a line of JSON Lines, an element of a list, a row of a table) is `{"item": "tieba:1", "model": "some-model", "judge": "some-judge", "rating": 3, "explanation": "…", "for":
//! "question", "sample": 0}`: what a judge gave a model's answer. `for` is the name of a case of the responding step; it,
//! `sample` and `explanation` may be left out, and where the benchmark has no such step `item` is the record itself and there
//! is no `model`. Ratings that are asked for here take precedence over ratings made elsewhere under the same judge's name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use serde::Deserialize;

use super::DraftStep;
use crate::config::Config;
use crate::stages::StageError;
use crate::stages::import::files_as_lines;
use crate::stages::line_error::LineError;
use crate::stages::respond::{Refused, find_case, id_of};
use riddlemill_benchmarks::draft::Draft as Declaration;
use riddlemill_record::Record;
use riddlemill_review::{Value, Values};
use riddlemill_tables::Workspace;

/// The files, read.
#[derive(Clone, Debug, Default)]
pub struct Ratings {
    /// The files, relative to the workspace, and their content.
    files: Vec<(String, String)>,
}

/// A rating of one record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Elsewhere {
    pub(super) judge: String,
    /// `rating` and `explanation`, as a reply gives them.
    pub(super) values: Values,
    /// `made:<file>:<line>`.
    pub(super) basis: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatingLine {
    item: String,
    #[serde(default)]
    model: String,
    judge: String,
    rating: u64,
    #[serde(default)]
    explanation: String,
    #[serde(rename = "for")]
    to: Option<String>,
    #[serde(default)]
    sample: u64,
}

impl Ratings {
    /// Reads raw/ratings; empty if the step uses no ratings.
    ///
    /// # Errors
    /// [`StageError::Store`] where a file cannot be read.
    pub fn load(draft: DraftStep, config: &Config) -> Result<Ratings, StageError> {
        if draft.draft_declaration().made != Some("ratings") {
            return Ok(Ratings::default());
        }
        let folder = Workspace::new(&config.root).raw_folder().join("ratings");
        // The first of two ratings counts, so the order must not be the one of the file system.
        let named = |(path, text): (PathBuf, String)| {
            (path.strip_prefix(&config.root).unwrap_or(&path).display().to_string(), text)
        };
        Ok(Ratings { files: files_as_lines(&folder)?.into_iter().map(named).collect() })
    }

    /// What a manifest records of them: name and hash.
    pub fn manifest_evidence(&self) -> BTreeMap<String, String> {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_string();
        self.files.iter().map(|(name, text)| (format!("ratings {name}"), hash(text))).collect()
    }

    /// The ratings by record id, and the invalid lines. Of two ratings by the same judge the first counts.
    pub(super) fn by_record<R: Record>(
        &self,
        draft: &Declaration,
        records: &[R],
    ) -> (HashMap<String, Vec<Elsewhere>>, Vec<Refused>) {
        let known: HashSet<&str> = records.iter().map(Record::id).collect();
        let benchmark = riddlemill_benchmarks::find_benchmark(draft.benchmark);
        let responding =
            benchmark.and_then(|benchmark| benchmark.drafts.iter().find(|draft| !draft.responds.is_empty()));
        let scale = draft.rating_scale().unwrap_or((0, u32::MAX));
        let mut rated: HashMap<String, Vec<Elsewhere>> = HashMap::new();
        let mut refused = Vec::new();
        for (name, text) in &self.files {
            for (line, at) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
                let place = format!("{name}:{at}");
                match parse_rating(line, responding, scale, &known) {
                    Ok((record, line)) => {
                        let of_record = rated.entry(record).or_default();
                        match of_record.iter().find(|other| other.judge == line.judge) {
                            Some(first) => {
                                let first = first.basis.trim_start_matches("made:");
                                let error = LineError::SameRating { first: first.to_owned() };
                                refused.push(Refused::of_line(place, &error));
                            }
                            None => {
                                let mut values = Values::new();
                                values.set("rating", Value::Number(line.rating as f64));
                                values.set("explanation", line.explanation.as_str());
                                let basis = format!("made:{place}");
                                of_record.push(Elsewhere { judge: line.judge, values, basis });
                            }
                        }
                    }
                    Err(error) => refused.push(Refused::of_line(place, &error)),
                }
            }
        }
        (rated, refused)
    }
}

/// A line and the record that it rates, or what is wrong with it.
fn parse_rating(
    line: &str,
    responding: Option<&Declaration>,
    (from, to): (u32, u32),
    known: &HashSet<&str>,
) -> Result<(String, RatingLine), LineError> {
    let line: RatingLine = riddlemill_text::notation::from_str(line).map_err(LineError::NoRating)?;
    if !(u64::from(from)..=u64::from(to)).contains(&line.rating) {
        return Err(LineError::OffScale { rating: line.rating, from, to });
    }
    if line.judge.trim().is_empty() {
        return Err(LineError::NoJudge);
    }
    let record = match responding {
        Some(draft) => {
            let ask = find_case(draft, line.to.as_deref())?;
            id_of(draft, ask, &line.item, &line.model, line.sample)
        }
        None => line.item.clone(),
    };
    if !known.contains(record.as_str()) {
        return Err(LineError::NotRated { model: line.model, item: line.item });
    }
    Ok((record, line))
}
