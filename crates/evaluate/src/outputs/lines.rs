//! Plain lines: `{"item": …, "model": …, "task": …, "text": …}`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::OutputError;
use super::{ItemKey, Output, Response};
use crate::llm::without_reasoning;
use crate::task::Setting;

/// The key of the reply.
pub(super) const TEXT: &str = "text";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    item: String,
    #[serde(default)]
    model: Option<String>,
    /// The reply; null, as an empty cell of a table, is one without a word.
    #[serde(deserialize_with = "Option::deserialize")]
    text: Option<String>,
    #[serde(default)]
    task: Option<String>,
    #[serde(default)]
    setting: Setting,
    /// As in raw/responses: `question` or `pair`.
    #[serde(default, rename = "for")]
    to: Option<To>,
    /// As in raw/responses: which of the model's answers, from 0.
    #[serde(default)]
    sample: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum To {
    Question,
    Pair,
}

pub(super) fn parse_output(line: &str) -> Result<Output, OutputError> {
    let line: Line = serde_json::from_str(line).map_err(OutputError::NoForm)?;
    let of_response = line.to.map(|to| match to {
        To::Question => "answer",
        To::Pair => "answer-normal",
    });
    let task = line.task.or(of_response.map(str::to_owned));
    Ok(Output {
        which: ItemKey::Named(line.item),
        task,
        setting: line.setting,
        sample: line.sample,
        model: line.model,
        response: Response::Words(without_reasoning(&line.text.unwrap_or_default())),
        no_answer: None,
        ratings: Vec::new(),
    })
}

/// The name that a packed file has when it is unpacked.
pub(super) fn unpacked_name(path: &Path) -> PathBuf {
    let packed = ["gz", "zst", "bz2", "xz", "lz4", "zip"];
    match path.extension().and_then(|end| end.to_str()) {
        Some(end) if packed.contains(&end) => path.with_extension(""),
        _ => path.to_owned(),
    }
}
