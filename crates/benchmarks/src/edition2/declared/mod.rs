//! The keys of a folder's files, declared once: what is read, what is told of a key or value that does not fit, and the
//! schemas with which editors complete and check the files.

mod ballots;
mod benchmark;
mod report;
mod steps;
mod tasks;

pub use ballots::BALLOTS;
pub use benchmark::BENCHMARK;
pub use report::REPORT;

use riddlemill_schema::{Key, Kind, json_schema};
use serde_json::Value;

/// A file of a folder: its name, what editors call it, and its keys.
pub const FILES: [(&str, &str, &[Key]); 3] = [
    ("benchmark", "benchmark.toml of a riddlemill benchmark", BENCHMARK),
    ("ballots", "ballots.toml of a riddlemill benchmark", BALLOTS),
    ("report", "report.toml of a riddlemill benchmark", REPORT),
];

/// A file as JSON Schema, with which editors complete and check it; `None` if folders have no such file.
pub fn json_schema(file: &str) -> Option<Value> {
    let (_, title, keys) = FILES.into_iter().find(|(name, ..)| *name == file)?;
    Some(json_schema::file_schema(title, keys))
}

/// The tables of a file that have keys of their own, with their names: `[step.NAME]`, `[step.NAME.reply]`.
pub fn list_tables(keys: &'static [Key]) -> Vec<(String, &'static [Key])> {
    let mut found = vec![(String::new(), keys)];
    tables_below("", keys, &mut found);
    found
}

fn tables_below(above: &str, keys: &'static [Key], found: &mut Vec<(String, &'static [Key])>) {
    for key in keys {
        let name = if above.is_empty() { key.name.to_owned() } else { format!("{above}.{}", key.name) };
        tables_of(&name, key.kind, found);
    }
}

fn tables_of(name: &str, kind: Kind, found: &mut Vec<(String, &'static [Key])>) {
    match kind {
        // A text in both languages is no table that anybody looks up.
        Kind::Table(keys) | Kind::Like(keys)
            if keys != SIDES && found.iter().all(|(_, known)| *known != keys) =>
        {
            found.push((name.to_owned(), keys));
            tables_below(name, keys, found);
        }
        Kind::Each(kind) => tables_of(&format!("{name}.NAME"), *kind, found),
        Kind::List(kind) => tables_of(name, *kind, found),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| tables_of(name, *kind, found)),
        _ => {}
    }
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key::new(name, kind, doc)
}

const TEXT: Kind = Kind::Text;

const FLAG: Kind = Kind::Flag;

const COUNT: Kind = Kind::Whole(0, i64::MAX);

const WHOLE: Kind = Kind::Whole(i64::MIN, i64::MAX);

const NUMBER: Kind = Kind::Number(f64::MIN, f64::MAX);

const TEXTS: Kind = Kind::List(&Kind::Text);

const TEXT_OR_TEXTS: Kind = Kind::Either(&[TEXT, TEXTS]);

/// NAME = expression.
const NAMED: Kind = Kind::Each(&Kind::Text);

const SIDES: &[Key] = &[Key::required("en", TEXT, "In English."), key("zh", TEXT, "In Chinese.")];

/// A text for people, in one language or in both.
const LABEL: Kind = Kind::Either(&[TEXT, Kind::Table(SIDES)]);

/// A text for people, or several that belong together: a label and its meaning.
const PARTS: Kind = Kind::Either(&[TEXT, Kind::Table(SIDES), Kind::List(&LABEL)]);

/// Conditions, each with a sentence.
const SENTENCES: Kind = Kind::List(&Kind::List(&LABEL));

const ROLES: Kind = Kind::List(&ROLE);

const ROLE: Kind = Kind::Choice(&["annotator", "junior", "senior", "meta"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_description_and_every_default_fits() {
        for (file, _, keys) in FILES {
            let tables = list_tables(keys);
            assert!(tables.len() > 2, "{file}: {}", tables.len());
            for (table, keys) in tables {
                for key in keys {
                    assert!(key.doc.ends_with('.'), "{file} [{table}] {}", key.name);
                    let default = key.default_value().map(|value| key.kind.find_faults(&value));
                    assert_eq!(default.unwrap_or_default(), [], "{file} [{table}] {}", key.name);
                }
            }
        }
        assert_eq!(json_schema("steps"), None);
    }
}
