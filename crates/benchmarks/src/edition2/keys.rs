//! Checks a folder's files by their declared keys. A key that is not known is reported with the nearest, or with all of
//! them, and left out; a value that does not fit is reported where it stands.

use riddlemill_schema::hint::unknown_key;
use riddlemill_schema::json::toml_value;
use riddlemill_schema::{Fault, FaultKind, Key, Kind};
use serde_json::{Map, Value};

use super::declared::FILES;
use super::tree::{Node, NodeValue, Table, ValuePlace};

/// Words of the first edition, and what they are called now.
const RENAMED: &[(&str, &str)] = &[
    ("every", "ballots"),
    ("prompts_of", "replies_as"),
    ("asks", "endpoint"),
    ("known_as", "pack_id"),
    ("made", "also_from"),
    ("native", "reader"),
    ("labels", "counted"),
    ("poses", "harness"),
    ("called", "named_by"),
    ("found", "pack_key"),
    ("usual", "exported_when"),
    ("over", "for_each"),
    ("apart", "distinct_from"),
    ("standing", "fills"),
    ("finds", "warns"),
    ("asked_by", "adjudicate"),
    ("passes", "optional_when"),
    ("beside", "compared_with"),
    ("k", "count"),
    ("any", "count"),
    ("role", "id_role"),
    ("words", "free_text"),
    ("is", "expression"),
];

type KeyFindings = Vec<(ValuePlace, String)>;

/// Takes unknown keys out of benchmark.toml, ballots.toml and report.toml, and reports them and the values that do not fit.
pub(super) fn check_files(files: [&mut Table; 3], found: &mut KeyFindings) {
    for ((name, _, keys), table) in FILES.into_iter().zip(files) {
        // What a table lacks is told by who reads it: it may be that of another step or ballot.
        let faults = Kind::Table(keys).find_faults(&json_of(table));
        let (empty, rest): (Vec<Fault>, Vec<Fault>) =
            faults.into_iter().partition(|fault| fault.what == FaultKind::Lacks("en"));
        for fault in rest {
            match fault.what {
                FaultKind::Lacks(_) => {}
                // `sentences` tells what they are.
                FaultKind::Misfit(_) if fault.path.iter().any(|key| key == "requires") => {}
                FaultKind::Unknown(keys) => found.extend(
                    remove_key(table, &fault.path).map(|at| (at, describe_unknown_key(&fault.path, keys))),
                ),
                FaultKind::Misfit(mismatch) => {
                    let key = fault.path.iter().rev().find(|key| key.parse::<usize>().is_err());
                    let what = format!("{}: {mismatch}", key.map(String::as_str).unwrap_or_default());
                    found.extend(find_place(table, &fault.path).map(|at| (at, what)));
                }
            }
        }
        for Fault { path, .. } in empty {
            let key = path.last().map(String::as_str).unwrap_or_default();
            found.extend(empty_value(table, &path).map(|at| (at, format!("{key}: `en` is missing"))));
        }
        if name == "ballots" {
            check_tables(table, "ballot", check_fields, found);
        }
    }
}

/// What is told of an unknown key.
fn describe_unknown_key(path: &[String], keys: &[Key]) -> String {
    let key = path.last().map(String::as_str).unwrap_or_default();
    let known = || keys.iter().map(|key| key.name);
    let renamed = RENAMED.iter().find(|(old, now)| *old == key && known().any(|known| known == *now));
    match renamed {
        // What it is called now is no matter of spelling.
        Some((_, now)) => unknown_key(key, [], Some(format!("it is called {now:?} in the second edition"))),
        None => unknown_key(key, known(), None),
    }
}

fn json_of(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, node)| (key.to_owned(), node_to_json(node))).collect::<Map<_, _>>())
}

/// A value as JSON; null for what JSON has not, which fits nowhere.
fn node_to_json(node: &Node) -> Value {
    match &node.what {
        NodeValue::Text(text) => text.as_str().into(),
        NodeValue::Flag(flag) => (*flag).into(),
        NodeValue::Raw(raw) => toml_value(raw).unwrap_or(Value::Null),
        NodeValue::List(list) => list.iter().map(node_to_json).collect(),
        NodeValue::Table(table) => json_of(table),
    }
}

/// The place of a value.
fn find_place(table: &Table, path: &[String]) -> Option<ValuePlace> {
    let (key, below) = path.split_first()?;
    place_in(table.get(key)?, below)
}

fn place_in(node: &Node, path: &[String]) -> Option<ValuePlace> {
    let Some((key, below)) = path.split_first() else { return Some(node.at) };
    match &node.what {
        NodeValue::Table(table) => find_place(table, path),
        NodeValue::List(list) => place_in(key.parse::<usize>().ok().and_then(|at| list.get(at))?, below),
        _ => Some(node.at),
    }
}

/// Makes a text of a value that is none in English, and says where it stands: nothing else is told of it.
fn empty_value(table: &mut Table, path: &[String]) -> Option<ValuePlace> {
    let at = find_place(table, path)?;
    let mut node = table.get_mut(path.first()?)?;
    for key in path.get(1..)? {
        node = match &mut node.what {
            NodeValue::Table(table) => table.get_mut(key)?,
            NodeValue::List(list) => list.get_mut(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    node.what = NodeValue::Text(String::new());
    Some(at)
}

/// Removes a key, and says where it stood.
fn remove_key(table: &mut Table, path: &[String]) -> Option<ValuePlace> {
    let (key, below) = path.split_first()?;
    if below.is_empty() {
        let at = table.iter_with_places().find(|(known, ..)| known == key).map(|(_, at, _)| at);
        table.take_node(key);
        return at;
    }
    take_in(table.get_mut(key)?, below)
}

fn take_in(node: &mut Node, path: &[String]) -> Option<ValuePlace> {
    match &mut node.what {
        NodeValue::Table(table) => remove_key(table, path),
        NodeValue::List(list) => {
            let (at, below) = path.split_first()?;
            take_in(list.get_mut(at.parse::<usize>().ok()?)?, below)
        }
        _ => None,
    }
}

/// What the fields of a ballot have besides their types.
fn check_fields(ballot: &mut Table, found: &mut KeyFindings) {
    check_tables(ballot, "fields", check_field, found);
    if let Some(NodeValue::Table(second)) = ballot.get_mut("second").map(|second| &mut second.what) {
        check_tables(second, "fields", check_field, found);
    }
}

fn check_field(field: &mut Table, found: &mut KeyFindings) {
    let score = field.get("score").filter(|score| !matches!(score.as_list(), Some([_, _])));
    if let Some(at) = score.map(|score| score.at) {
        report_value(at, "score: expected [least, most]", found);
        field.take_node("score");
    }
    let when = field.get("if").filter(|when| when.as_table().and_then(Table::single_entry).is_none());
    if let Some(at) = when.map(|when| when.at) {
        report_value(at, "if: expected one field and its answers, as { verdict = \"reject\" }", found);
        field.take_node("if");
    }
}

/// Reports a value, unless its type is reported.
fn report_value(at: ValuePlace, message: &str, found: &mut KeyFindings) {
    if !found.iter().any(|(told, _)| *told == at) {
        found.push((at, message.to_owned()));
    }
}

fn check_tables(
    table: &mut Table,
    key: &str,
    check: impl Fn(&mut Table, &mut KeyFindings),
    found: &mut KeyFindings,
) {
    let Some(NodeValue::Table(tables)) = table.get_mut(key).map(|node| &mut node.what) else { return };
    for (_, node) in tables.iter_mut() {
        if let NodeValue::Table(table) = &mut node.what {
            check(table, found);
        }
    }
}
