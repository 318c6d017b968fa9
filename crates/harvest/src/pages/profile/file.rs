//! Profiles in TOML: every mistake has its place in the file.

use std::ops::Range;

use riddlemill_schema::hint::unknown_key;
use riddlemill_schema::json::item_json;
use riddlemill_schema::problem::Problem;
use riddlemill_schema::{Reader, path_span};
use serde_json::{Map, Value};
use toml_edit::TableLike;

use super::{Fault, Profile};

/// Parses the text of a profile. `place` is the file's name in problems.
///
/// # Errors
/// All errors, in the order of lines.
pub fn read_profile(place: &str, text: &str) -> Result<Profile, Vec<Problem>> {
    let text = text.trim_start_matches('\u{feff}');
    let reader = Reader::new(place, text);
    let read = reader.read_document(|table| of_table(table));
    let profile = read.and_then(|read| {
        read.map_err(|mistakes| {
            mistakes.into_iter().for_each(|(span, what)| reader.report_problem(span, what))
        })
        .ok()
    });
    profile.ok_or_else(|| reader.in_order())
}

/// An error and its place.
pub type Mistake = (Option<Range<usize>>, String);

/// Parses a profile that is a table of a file.
///
/// # Errors
/// All errors.
pub fn of_table(table: &dyn TableLike) -> Result<Profile, Vec<Mistake>> {
    let (mut fields, mut mistakes) = (Map::new(), Vec::new());
    for (name, item) in table.iter() {
        match item_json(item) {
            Some(value) => {
                fields.insert(name.to_owned(), value);
            }
            None => {
                mistakes.push((item.span(), format!("{name}: expected a plain value, no date and no nan")))
            }
        }
    }
    match Profile::from_json(&Value::Object(fields)) {
        Ok(profile) if mistakes.is_empty() => Ok(profile),
        Ok(_) => Err(mistakes),
        Err(faults) => {
            mistakes
                .extend(faults.iter().map(|fault| (path_span(table, &fault.path), describe_fault(fault))));
            Err(mistakes)
        }
    }
}

/// A fault in words. The message names the key if the place alone is not enough.
fn describe_fault(fault: &Fault) -> String {
    match fault.path.as_slice() {
        [] => fault.what.clone(),
        [.., name] if fault.what.starts_with("unknown key") => {
            let all = || "`riddlemill profiles keys` lists all".to_owned();
            unknown_key(name, fault.known.iter().copied(), (fault.path.len() == 1).then(all))
        }
        [key, .., name] if fault.what.starts_with("expected") && name.parse::<usize>().is_err() => {
            format!("{key}.{name}: {}", fault.what)
        }
        [key, ..] => {
            let near = fault
                .path
                .last()
                .and_then(|written| riddlemill_schema::hint::near_miss(written, fault.known.iter().copied()));
            let hint = near.map(|near| format!("\n  hint: did you mean {near:?}?")).unwrap_or_default();
            format!("{key}: {}{hint}", fault.what)
        }
    }
}
