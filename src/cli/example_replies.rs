//! Example replies of `benchmark try`: a pack, of which every line is used or told.

use std::path::Path;

use serde_json::Value as Json;

use super::exit::Failure;
use crate::llm::{Ask, Pack};
use crate::record::{Entry, Record, Row, State};
use crate::stages::draft::Request;
use crate::store::Error;
use riddlemill_text::hint::unknown;

/// A line of a pack.
struct PackLine {
    number: usize,
    template: String,
    record: String,
    sample: u64,
    /// Whether it answers a prompt that was asked again.
    again: bool,
}

/// The lines of a pack.
#[derive(Default)]
pub(super) struct Replies {
    file: String,
    lines: Vec<PackLine>,
}

impl Replies {
    /// Reads a pack; nothing without one.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be read, or a line is no reply.
    pub(super) fn read_pack(file: Option<&Path>) -> Result<Replies, Failure> {
        let Some(path) = file else { return Ok(Replies::default()) };
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        // The reader of packs says what is no reply, with its line.
        Pack::load_pack(path).map_err(|error| {
            let hint = "a line is {\"template\": \"NAME/PROMPT\", \"record\": \"tried:1\", \"reply\": …}";
            Failure::usage(format!("--replies: {error}\n  hint: {hint}"))
        })?;
        let line = |(at, text): (usize, &str)| {
            let line: Json = riddlemill_text::notation::from_str(text).ok()?;
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            Some(PackLine {
                number: at + 1,
                template: text("template"),
                record: text("record"),
                sample: line["sample"].as_u64().unwrap_or(0),
                again: line["reask"].as_u64().unwrap_or(0) > 0,
            })
        };
        let lines = text.lines().enumerate().filter_map(line).collect();
        Ok(Replies { file: path.display().to_string(), lines })
    }

    /// The replies to a step that it could not use, each with the step's sentence.
    pub(super) fn list_failures(
        &self,
        records: &[Row],
        requests: &[Request],
        entries: &[Entry],
    ) -> Vec<String> {
        let mut told: Vec<(usize, String)> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.outcome == State::Failed.code()) {
            let of_record = requests
                .iter()
                .filter(|request| records.get(request.record).is_some_and(|record| record.id() == entry.id));
            for request in of_record {
                for line in self.lines.iter().filter(|line| line.is_answer_to(&request.ask)) {
                    let why = entry.evidence.as_deref().unwrap_or("the reply cannot be used");
                    let what = format!(
                        "{}:{}: {} about {}: {why}\n  hint: mend the reply, or what the step takes, under `reply` and `requires`",
                        self.file, line.number, line.template, line.record
                    );
                    if told.iter().all(|(known, _)| *known != line.number) {
                        told.push((line.number, what));
                    }
                }
            }
        }
        told.sort();
        told.into_iter().map(|(_, what)| what).collect()
    }

    /// The lines that answer nothing that was asked, each with what was. `templates`: all prompts of the recipe.
    pub(super) fn unused_lines(&self, templates: &[&str], asked: &[Ask]) -> Vec<String> {
        let of = |line: &PackLine| {
            if asked
                .iter()
                .any(|ask| line.is_answer_to(ask) && (line.again || line.sample == u64::from(ask.sample)))
            {
                return None;
            }
            let place = format!("{}:{}", self.file, line.number);
            if !templates.contains(&line.template.as_str()) {
                return Some(format!(
                    "{place}: {}",
                    unknown("prompt", &line.template, templates.iter().copied())
                ));
            }
            let mut records: Vec<&str> = asked
                .iter()
                .filter(|ask| ask.template == line.template)
                .map(|ask| ask.record.as_str())
                .collect();
            records.dedup();
            Some(match records[..] {
                [] => format!(
                    "{place}: {} was not asked\n  hint: a step before it waits or left the post out, or its condition is false: \
                     see above",
                    line.template
                ),
                _ if records.contains(&line.record.as_str()) => format!(
                    "{place}: {} is asked for fewer replies about {} than sample {}\n  hint: `samples` of its step says how many",
                    line.template, line.record, line.sample
                ),
                _ => format!(
                    "{place}: {}\n  hint: {} is asked about {}; --id gives the post another name",
                    unknown("record", &line.record, records.iter().copied())
                        .lines()
                        .next()
                        .unwrap_or_default(),
                    line.template,
                    records.join(", ")
                ),
            })
        };
        self.lines.iter().filter_map(of).collect()
    }
}

impl PackLine {
    fn is_answer_to(&self, ask: &Ask) -> bool {
        self.template == ask.template && self.record == ask.record
    }
}
