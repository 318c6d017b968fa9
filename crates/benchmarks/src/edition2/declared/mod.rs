//! The keys of a folder's files, declared once: what is read, what is told of a key or value that does not fit, and the
//! schemas with which editors complete and check the files.

mod ballots;
mod benchmark;
mod kinds;
mod report;
mod steps;
mod tasks;

use riddlemill_schema::{Key, Kind, json_schema};
use serde_json::Value;

use kinds::SIDES;

pub use ballots::BALLOTS;
pub use benchmark::BENCHMARK;
pub use report::REPORT;

/// A file of a folder: its name, what editors call it, and its keys.
pub const FILES: [(&str, &str, &[Key]); 3] = [
    ("benchmark", "benchmark.toml of a riddlemill benchmark", BENCHMARK),
    ("ballots", "ballots.toml of a riddlemill benchmark", BALLOTS),
    ("report", "report.toml of a riddlemill benchmark", REPORT),
];

/// A file as JSON Schema, with which editors complete and check it; `None` if folders have no such file.
pub fn json_schema(file: &str) -> Option<Value> {
    let (_, title, keys) = FILES.into_iter().find(|(name, ..)| *name == file)?;
    Some(json_schema::file(title, keys))
}

/// The tables of a file that have keys of their own, with their names: `[step.NAME]`, `[step.NAME.reply]`.
pub fn tables(keys: &'static [Key]) -> Vec<(String, &'static [Key])> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_description_and_every_default_fits() {
        for (file, _, keys) in FILES {
            let tables = tables(keys);
            assert!(tables.len() > 2, "{file}: {}", tables.len());
            for (table, keys) in tables {
                for key in keys {
                    assert!(key.doc.ends_with('.'), "{file} [{table}] {}", key.name);
                    let default = key.value().map(|value| key.kind.faults(&value));
                    assert_eq!(default.unwrap_or_default(), [], "{file} [{table}] {}", key.name);
                }
            }
        }
        assert_eq!(json_schema("steps"), None);
    }
}
