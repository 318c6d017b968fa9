//! What stands in a file of votes and is read by nothing, so that it can be named.

use indexmap::IndexMap;
use serde_json::Value as Json;

use riddlemill_files::reading::workbook::column_letters;

use crate::ballot::{Field, RESERVED};

use super::problem::VoteProblem;

/// How like a name of a field another one is that may mean it.
const NEAR: f64 = 0.85;

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// A column of a table.
    Column,
    /// A column of a table that has no header, by its letters.
    Nameless,
    /// A key of a line or task.
    Key,
    /// An answer of a line.
    Answer,
    /// A control of a labelling interface.
    Control,
}

/// What stands in a file beside the columns of a ballot.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread {
    /// The rows that have something there; and whether it is an answer, whatever it is called.
    parts: IndexMap<(Part, String), (usize, bool)>,
    /// Every key of a line, in the order in which the file has them.
    names: IndexMap<String, ()>,
}

impl Unread {
    /// The columns of a table, whichever of them a ballot has: what it has is taken out by [`Unread::into_problems`].
    /// `filled`: the column of each cell that is not empty.
    pub(super) fn of_table(columns: &[String], filled: impl Iterator<Item = usize>) -> Unread {
        let mut unread = Unread::default();
        for at in filled.filter(|at| columns.get(*at).is_none_or(|name| !is_own(name))) {
            match columns.get(at).map(|name| name.trim()).filter(|name| !name.is_empty()) {
                Some(name) => unread.count_part(Part::Column, name, false),
                None => unread.count_part(Part::Nameless, &column_letters(at), false),
            }
        }
        unread
    }

    /// Notes a key that is read.
    pub(super) fn note_name(&mut self, key: &str) {
        if !self.names.contains_key(key) {
            self.names.insert(key.to_owned(), ());
        }
    }

    /// Notes something that is not read, unless it is empty.
    pub(super) fn note_part(&mut self, part: Part, name: &str, value: &Json) {
        if part == Part::Key {
            self.note_name(name);
        }
        if !is_empty(value) {
            self.count_part(part, name, false);
        }
    }

    /// Notes an answer that is not read, unless it is empty.
    pub(super) fn note_lost(&mut self, part: Part, name: &str, value: &Json) {
        self.note_name(name);
        if !is_empty(value) {
            self.count_part(part, name, true);
        }
    }

    fn count_part(&mut self, part: Part, name: &str, is_answer: bool) {
        let (count, lost) = self.parts.entry((part, name.to_owned())).or_default();
        *count += 1;
        *lost |= is_answer;
    }

    /// Whether a line has the key.
    pub(super) fn has_name(&self, key: &str) -> bool {
        self.names.contains_key(key)
    }

    /// The keys of the lines.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    /// One problem for each part that no question of the `form` reads. It is an answer that was lost if it is called
    /// nearly as a question, or if a question has no column: `lacks` says that one has none.
    pub(super) fn into_problems(self, form: &[Field], lacks: bool) -> Vec<VoteProblem> {
        let asked: Vec<&'static str> = form.iter().map(|field| field.name).collect();
        let is_near = |name: &str| {
            let name = name.trim().to_lowercase();
            let mut known = asked.iter().copied().chain(["answers"]);
            known.any(|known| strsim::jaro_winkler(&name, known) > NEAR)
        };
        let unread = self.parts.into_iter().filter(|((part, name), _)| {
            *part != Part::Column || !asked.iter().any(|known| known.eq_ignore_ascii_case(name))
        });
        let problem = |((part, name), (count, is_answer)): ((Part, String), (usize, bool))| {
            let lost = is_answer || is_near(&name) || (part == Part::Column && lacks);
            let part = match part {
                Part::Column => format!("the column `{name}`"),
                Part::Nameless => format!("column {name}, which has no header,"),
                Part::Key => format!("the key `{name}`"),
                Part::Answer => format!("the answer `{name}`"),
                Part::Control => format!("the control `{name}`"),
            };
            VoteProblem::Unread { part, count, asked: if lost { asked.clone() } else { Vec::new() } }
        };
        unread.map(problem).collect()
    }
}

/// Whether every ballot has such a column.
fn is_own(header: &str) -> bool {
    let header = header.trim().to_ascii_lowercase();
    RESERVED.contains(&header.as_str())
        || header == "seconds"
        || header.starts_with("see.")
        || header.starts_with("draft.")
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(list) => list.iter().all(is_empty),
        Json::Object(object) => object.values().all(is_empty),
        Json::Bool(_) | Json::Number(_) => false,
    }
}
