//! A pack of replies written beforehand, found by (template, record, sample number) and not by the request,
//! so that editing a prompt keeps them valid.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use riddlemill_record::{Cause, Evidence, Reason};

use super::answer::{Answer, Ask, Held, Reply, ReplyOrigin};
use super::money::Usd;
use super::parse::make_strict_json;
use super::reasoning::without_reasoning;
use super::request::Key;

/// A loaded reply pack, with one JSONL line per reply:
/// `{"template": "ruozhibench/irrationality", "record": "tieba:1:2", "sample": 0, "reply": "…"}`.
/// `sample` and `reask` default to 0; a line with a `model` answers for that model only; a `reply` that is
/// not a string is returned as JSON, a list of numbers as an embedding.
#[derive(Clone, Debug, Default)]
pub struct Pack {
    replies: FxHashMap<SampleKey, String>,
    /// Whether a model or people wrote these replies elsewhere.
    made: bool,
}

/// Model (empty for any), template, record, sample, re-ask.
type SampleKey = (String, String, String, u32, u32);

/// Errors in a pack.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The file could not be read.
    #[error("{}: {source}{}", path.display(), riddlemill_files::hint_for(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is not a reply, or one of two for the same question.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleLine {
    #[serde(default)]
    model: String,
    template: String,
    record: String,
    #[serde(default)]
    sample: u32,
    #[serde(default)]
    reask: u32,
    reply: Value,
}

impl Pack {
    /// Reads a pack.
    pub fn load_pack(path: &Path) -> Result<Pack, PackError> {
        let io = |source| PackError::Io { path: path.to_owned(), source };
        let mut pack = Pack::default();
        for (at, line) in BufReader::new(File::open(path).map_err(io)?).lines().enumerate() {
            let line = line.map_err(io)?;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |what: String| PackError::Line { path: path.to_owned(), line: at + 1, what };
            let read = riddlemill_text::notation::from_str(&line)
                .or_else(|error| serde_json::from_str(&make_strict_json(&line).ok_or(error)?));
            let line: SampleLine = read.map_err(|error| wrong(error.to_string()))?;
            let reply = match line.reply {
                Value::String(text) => text,
                other => other.to_string(),
            };
            if pack
                .replies
                .insert((line.model, line.template, line.record, line.sample, line.reask), reply)
                .is_some()
            {
                return Err(wrong("a second reply to the same template, record and sample".into()));
            }
        }
        Ok(pack)
    }

    /// How many replies it holds.
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// Whether it contains none.
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Marks the pack's replies as made elsewhere, so that they do not count as synthetic.
    pub fn made_elsewhere(self) -> Pack {
        Pack { made: true, ..self }
    }

    /// The pack's answer for a model, with its origin.
    pub fn answer_from_pack(&self, ask: &Ask, model: &str) -> Answer {
        let place =
            |model: &str| (model.to_owned(), ask.template.clone(), ask.record.clone(), ask.sample, ask.reask);
        let own = place(model);
        let found = self.replies.get_key_value(&own).or_else(|| self.replies.get_key_value(&place("")));
        let Some((place, text)) = found else {
            let kind = if self.made { "pack" } else { "sample pack" };
            let what = format!("the {kind} has no reply to {} for {}", ask.template, ask.record);
            let what = Evidence::with_cause(what, Cause::NotInPack { made: self.made });
            return Answer::Held(Held { reason: Reason::ReplyMissing, what });
        };
        // Separators without lengths would let two different places share a key.
        let kind = if self.made { "made" } else { "sample" };
        let request = match place.0.as_str() {
            "" => serde_json::json!([kind, place.1, place.2, place.3, place.4, text]),
            model => serde_json::json!([kind, model, place.1, place.2, place.3, place.4, text]),
        };
        let key = Key::hash(request.to_string().as_bytes());
        let vector = serde_json::from_str::<Vec<f32>>(text)
            .ok()
            .filter(|_| matches!(ask.what, super::RequestContent::Embedding { .. }));
        let marks = ReplyOrigin { sample: !self.made, made: self.made, ..ReplyOrigin::default() };
        Answer::Reply(Reply {
            key,
            // What a model wrote elsewhere comes with its marks.
            text: if self.made { without_reasoning(text) } else { text.clone() },
            whole: text.clone(),
            vector,
            usage: None,
            charged: Usd::ZERO,
            marks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Pack, PackError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pack.jsonl");
        std::fs::write(&path, text).unwrap();
        Pack::load_pack(&path)
    }

    fn ask(record: &str, text: &str) -> Ask {
        let mut ask = Ask::for_embedding(record, text);
        ask.template = "t".into();
        ask
    }

    #[test]
    fn answers_do_not_depend_on_the_prompt_and_are_marked() {
        let pack = load(r#"{"template":"t","record":"r","reply":{"rating":[2]}}"#).unwrap();
        let (one, two) = (
            pack.answer_from_pack(&ask("r", "one prompt"), "m"),
            pack.answer_from_pack(&ask("r", "another"), "m"),
        );
        assert_eq!(one, two);
        assert_eq!(one.reply().unwrap().text, r#"{"rating":[2]}"#);
        assert!(one.reply().unwrap().marks.sample);
        let made = pack.clone().made_elsewhere().answer_from_pack(&ask("r", "one prompt"), "m");
        let (one, made) = (one.reply().unwrap(), made.reply().unwrap());
        assert_eq!(
            (made.marks.sample, made.marks.basis_prefix(), one.marks.basis_prefix()),
            (false, "made", "sample")
        );
        assert_ne!(made.key, one.key);
        assert!(matches!(
            pack.answer_from_pack(&ask("s", ""), "m"),
            Answer::Held(Held { reason: Reason::ReplyMissing, .. })
        ));
    }

    #[test]
    fn a_models_own_line_goes_before_anybodys() {
        let pack = load(
            "{\"template\":\"t\",\"record\":\"r\",\"reply\":\"any\"}\n{\"model\":\"m\",\"template\":\"t\",\"record\":\"r\",\"reply\":\"own\"}",
        )
        .unwrap();
        let text = |model| pack.answer_from_pack(&ask("r", ""), model).reply().unwrap().text.clone();
        assert_eq!((text("m"), text("n")), ("own".into(), "any".into()));
    }

    #[test]
    fn another_reply_is_other_evidence() {
        let key = |reply| {
            load(&format!(r#"{{"template":"t","record":"r","reply":"{reply}"}}"#))
                .unwrap()
                .answer_from_pack(&ask("r", ""), "m")
        };
        assert_ne!(key("a").reply().unwrap().key, key("b").reply().unwrap().key);
    }

    #[test]
    fn errors_name_the_line() {
        let twice = "{\"template\":\"t\",\"record\":\"r\",\"reply\":\"a\"}\n".repeat(2);
        assert!(load(&twice).unwrap_err().to_string().contains("pack.jsonl:2: a second reply"));
        assert!(load("\n{\"template\":1}").unwrap_err().to_string().contains("pack.jsonl:2: "));
        assert!(load(r#"{"template":"t","record":"r","reply":"a","prompt":"x"}"#).is_err());
    }
}
