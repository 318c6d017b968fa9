//! A thousand changed folders of both editions: each is read, or what is wrong is told with its place and its key.

use riddlemill_schema::hint::split_hint;
use riddlemill_schema::mutate::make_mutant;
use serde_json::Value;

use super::declared;
use super::tests::{Owned, folders, with_prompts};
use super::tree::{FILES, parse_table};
use crate::benchmark::load_benchmarks;
use crate::reader::{Problem, leak_text};

/// Of each edition.
const SEEDS: u64 = 500;

fn load_problems(name: &str, files: &Owned) -> Vec<Problem> {
    load_benchmarks(&[(leak_text(name), files.clone())], false)
        .err()
        .map(|problems| problems.0)
        .unwrap_or_default()
}

/// The folders that can be read without another one: name and files, of one edition.
fn standalone_folders(is_first: bool) -> Vec<(String, Owned)> {
    let folders = folders().into_iter().map(|(name, first, second)| {
        let files = with_prompts(&name, if is_first { &first } else { &second });
        (name, files)
    });
    folders.filter(|(name, files)| load_problems(name, files).is_empty()).collect()
}

/// Whether a problem has a line, and says the key that stands there.
fn names_its_key(problem: &Problem, name: &str, files: &Owned) -> bool {
    let key = || {
        let at = problem.place.strip_prefix(&format!("{name}/"))?;
        let mut parts = at.rsplitn(3, ':');
        let (column, line, path) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        let (_, text) = files.iter().find(|(known, _)| *known == path)?;
        Some(riddlemill_schema::key_at(text, line, column).unwrap_or_default())
    };
    let is_of_table = ["`", "[", "unknown key"].iter().any(|about| problem.what.starts_with(about));
    key().is_some_and(|key| is_of_table || problem.what.contains(&key))
}

/// Whether the schema of a file has room for a text.
fn is_valid_by_schema(file: &str, text: &str) -> bool {
    let Ok(table) = text.parse::<toml_edit::DocumentMut>() else { return false };
    let Some(value) = riddlemill_schema::json::item_json(table.as_item()) else { return false };
    let keys = declared::FILES.into_iter().find(|(name, ..)| file.strip_suffix(".toml") == Some(*name));
    keys.is_none_or(|(_, _, keys)| riddlemill_schema::Kind::Table(keys).find_faults(&value).is_empty())
}

fn of_edition(is_first: bool) {
    let folders = standalone_folders(is_first);
    assert!(folders.len() > 3, "{}", folders.len());
    let (mut refused, mut accepted, mut wrong) = (0, 0, Vec::new());
    for seed in 0..SEEDS {
        let (name, files) = &folders[seed as usize % folders.len()];
        let at = (seed / 7) as usize % 3;
        let Some(text) = files.iter().find(|(path, _)| *path == FILES[at]).map(|(_, text)| *text) else {
            continue;
        };
        let Some(mutant) = make_mutant(text, seed) else { continue };
        let mut changed = files.clone();
        for (path, text) in changed.iter_mut().filter(|(path, _)| *path == FILES[at]) {
            (*path, *text) = (FILES[at], leak_text(&mutant.text));
        }
        let found = load_problems(name, &changed);
        if found.is_empty() {
            accepted += 1;
            if !is_first && !is_valid_by_schema(FILES[at], &mutant.text) {
                wrong.push(format!("editors refuse {name}/{}: {}", FILES[at], mutant.changed));
            }
            continue;
        }
        refused += 1;
        let here = format!("{name}/{}:{}:", FILES[at], mutant.line);
        let is_placed = |problem: &Problem| problem.place.starts_with(&format!("{name}/"));
        let names = |what: &str| what.contains(&mutant.key) || mutant.is_lookalike && what.contains('＝');
        let is_told = found.iter().any(|problem| problem.place.starts_with(&here) && names(&problem.what));
        // What does not go with a change stands elsewhere: it is told there, with its key.
        let is_told = is_told || found.iter().all(|problem| names_its_key(problem, name, &changed));
        let has_hint = |problem: &Problem| {
            !problem.what.starts_with("unknown key") || split_hint(&problem.what).1.is_some()
        };
        if !is_told || !found.iter().all(is_placed) || !found.iter().all(has_hint) {
            wrong.push(format!("{here} {}\n    {found:?}", mutant.changed));
        }
    }
    assert_eq!(wrong.len(), 0, "{} of {refused}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 200 && accepted > 25, "{refused} refused, {accepted} accepted");
}

#[test]
fn changed_folders_of_the_first_edition_are_refused_with_place_and_key_or_read() {
    of_edition(true);
}

#[test]
fn changed_folders_of_the_second_edition_are_refused_with_place_and_key_or_read() {
    of_edition(false);
}

#[test]
fn editors_are_told_what_is_read() {
    for (name, _, second) in folders() {
        for (path, text) in
            with_prompts(&name, &second).into_iter().filter(|(path, _)| FILES[..3].contains(path))
        {
            assert!(is_valid_by_schema(path, text), "{name}/{path}: {:?}", schema_faults(path, text));
            assert!(parse_table(0, "", text).is_ok());
        }
    }
    let ballots = declared::json_schema("ballots").unwrap();
    let ballot = &ballots["properties"]["ballot"]["additionalProperties"]["properties"];
    assert_eq!(ballot["votes"]["anyOf"][0]["minimum"], Value::from(0));
    assert_eq!(ballots["$schema"], riddlemill_schema::json_schema::DIALECT);
}

fn schema_faults(path: &str, text: &str) -> Vec<riddlemill_schema::Fault> {
    let table = text.parse::<toml_edit::DocumentMut>().unwrap();
    let value = riddlemill_schema::json::item_json(table.as_item()).unwrap();
    let file = declared::FILES.into_iter().find(|(name, ..)| path.strip_suffix(".toml") == Some(*name));
    file.map(|(_, _, keys)| riddlemill_schema::Kind::Table(keys).find_faults(&value)).unwrap_or_default()
}
