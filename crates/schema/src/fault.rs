//! What is wrong inside a value: every mistake, with the path of keys that leads to it.

use serde_json::{Map, Value};

use crate::kind::{Key, Kind, Mismatch, ValueHint};

/// A mistake in a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The keys that lead to it, and the places in lists, from 0: `["time", "1", "match"]`.
    pub path: Vec<String>,
    /// What it is.
    pub what: FaultKind,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// The last key of the path is none of these.
    Unknown(&'static [Key]),
    /// The value does not fit.
    Misfit(Mismatch),
    /// The table lacks this key.
    Lacks(&'static str),
}

impl Kind {
    /// Everything that is wrong with a value, also in the tables and lists that it has.
    pub fn find_faults(self, value: &Value) -> Vec<Fault> {
        let mut found = Vec::new();
        self.faults_below(value, &mut Vec::new(), &mut found);
        found
    }

    fn faults_below(self, value: &Value, path: &mut Vec<String>, found: &mut Vec<Fault>) {
        match (self, value) {
            (Kind::Table(keys), Value::Object(map)) => check_table(keys, false, map, path, found),
            (Kind::Like(keys), Value::Object(map)) => check_table(keys, true, map, path, found),
            (Kind::Each(kind), Value::Object(map)) => {
                for (name, value) in map {
                    with_path_part(name, path, |path| kind.faults_below(value, path, found));
                }
            }
            (Kind::List(kind), Value::Array(list)) => {
                for (at, value) in list.iter().enumerate() {
                    with_path_part(&at.to_string(), path, |path| kind.faults_below(value, path, found));
                }
            }
            (Kind::Either(kinds), value) => found.extend(self.of_the_nearest(kinds, value, path)),
            (kind, value) => {
                if let Err(mismatch) = kind.check_value(value) {
                    found.push(Fault { path: path.clone(), what: FaultKind::Misfit(mismatch) });
                }
            }
        }
    }

    /// What is wrong by the alternative that is meant: of those of the value's form, the one with the fewest mistakes.
    fn of_the_nearest(self, kinds: &[Kind], value: &Value, path: &[String]) -> Vec<Fault> {
        let mut nearest: Option<Vec<Fault>> = None;
        let mut hint = ValueHint::Nothing;
        for kind in kinds {
            let mut found = Vec::new();
            kind.faults_below(value, &mut path.to_vec(), &mut found);
            if found.is_empty() {
                return found;
            }
            if let [Fault { path: at, what: FaultKind::Misfit(mismatch) }] = &found[..]
                && at.len() == path.len()
            {
                if mismatch.hint != ValueHint::Nothing {
                    hint.clone_from(&mismatch.hint);
                }
            } else if nearest.as_ref().is_none_or(|nearest| found.len() < nearest.len()) {
                nearest = Some(found);
            }
        }
        nearest.unwrap_or_else(|| {
            let mismatch = Mismatch { expected: self.describe_expected(), hint };
            vec![Fault { path: path.to_vec(), what: FaultKind::Misfit(mismatch) }]
        })
    }
}

fn check_table(
    keys: &'static [Key],
    is_like: bool,
    map: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<Fault>,
) {
    let is_alone = !is_like || !map.contains_key("like");
    for key in keys.iter().filter(|key| is_alone && key.is_required && !map.contains_key(key.name)) {
        found.push(Fault { path: path.clone(), what: FaultKind::Lacks(key.name) });
    }
    for (name, value) in map {
        with_path_part(name, path, |path| match keys.iter().find(|key| key.name == name) {
            None => found.push(Fault { path: path.clone(), what: FaultKind::Unknown(keys) }),
            Some(_) if is_like && value.as_str().is_some_and(str::is_empty) => {}
            Some(key) => key.kind.faults_below(value, path, found),
        });
    }
}

fn with_path_part(name: &str, path: &mut Vec<String>, check: impl FnOnce(&mut Vec<String>)) {
    path.push(name.to_owned());
    check(path);
    path.pop();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SIDES: Kind = Kind::Table(&[Key::required("en", Kind::Text, ""), Key::new("zh", Kind::Text, "")]);
    const FIELD: &[Key] = &[
        Key::new("label", Kind::Either(&[Kind::Text, SIDES]), ""),
        Key::new("score", Kind::List(&Kind::Whole(0, 10)), ""),
        Key::new("rule", Kind::Either(&[Kind::Choice(&["mean", "union"]), Kind::Flag]), ""),
    ];
    const BALLOT: Kind = Kind::Like(&[
        Key::required("title", Kind::Text, ""),
        Key::new("like", Kind::Text, ""),
        Key::new("fields", Kind::Each(&Kind::Either(&[Kind::Text, SIDES, Kind::Table(FIELD)])), ""),
    ]);

    fn said(value: Value) -> Vec<String> {
        let fault = |fault: Fault| match fault.what {
            FaultKind::Unknown(keys) => format!("{}: of {}", fault.path.join("."), keys.len()),
            FaultKind::Misfit(mismatch) => format!("{}: {mismatch}", fault.path.join(".")),
            FaultKind::Lacks(name) => format!("{} lacks {name}", fault.path.join(".")),
        };
        BALLOT.find_faults(&value).into_iter().map(fault).collect()
    }

    #[test]
    fn every_mistake_has_its_path_and_the_alternative_that_is_meant() {
        assert_eq!(said(json!({ "title": "t", "fields": { "a": "A", "b": { "en": "B" } } })), [""; 0]);
        assert_eq!(said(json!({ "like": "x", "title": "", "fields": "" })), [""; 0]);
        assert_eq!(
            said(json!({ "fields": {
                "a": 5,
                "b": { "en": "B", "zn": "B" },
                "c": { "lable": "C", "score": [1, "2"] },
                "d": { "rule": "unon" },
            } })),
            [
                " lacks title",
                "fields.a: expected a text in quotes, or a table with some of en, zh, or a table with some of label, score, rule",
                "fields.b.zn: of 2",
                "fields.c.lable: of 3",
                "fields.c.score.1: expected a whole number from 0 to 10",
                "fields.d.rule: expected one of mean, union, or true or false; did you mean \"union\"?",
            ]
        );
        assert_eq!(said(json!(5)), [": expected a table"]);
        assert_eq!(Kind::Any.find_faults(&json!(null)), []);
    }

    #[test]
    fn what_is_told_of_a_value_is_told_to_editors() {
        let schema = crate::json_schema::kind_schema(BALLOT);
        assert_eq!(schema["properties"]["title"]["anyOf"][1], json!({ "const": "" }));
        assert_eq!(schema.get("required"), None, "what it is like may have it");
        let fields = &schema["properties"]["fields"]["anyOf"][0]["additionalProperties"]["anyOf"];
        assert_eq!(fields[1]["required"], json!(["en"]));
        assert_eq!(fields[2]["properties"]["score"]["items"]["maximum"], json!(10));
    }
}
