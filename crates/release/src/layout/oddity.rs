//! Deviations of a published row from what its columns give: stored with the row, by the file's own keys and
//! notation, so that the published form can be reproduced exactly.
//!
//! `{"type": NaN}` replaces the value of a key. `[["text"], ["type", NaN], ["anwser", "A"]]` is used if the
//! keys differ from the usual ones: each in its place, with its value if the columns do not give it.

use riddlemill_benchmarks::notation;
use serde_json::{Map, Value as Json};
use unicode_normalization::is_nfc;

/// The deviations of a published row; `None` if its columns give everything. `computed` is its published form
/// from the columns, `untouched` the same without any decisions made here: a value that people changed is
/// theirs.
pub fn find_deviations(
    members: &[(String, &str)],
    computed: &Map<String, Json>,
    untouched: &Map<String, Json>,
) -> Option<String> {
    let usual = members.iter().map(|(key, _)| key).eq(computed.keys());
    // Skips keys that people changed, and values that the columns give. Values are compared as text, because
    // objects are equal whatever the order of their keys.
    let given = |key: &str, text: &str| {
        let Some(value) = computed.get(key) else { return false };
        let written = || {
            let (own, computed) = (notation::parse_value(text).map(|own| own.to_string()), value.to_string());
            own.is_some_and(|own| own == computed)
        };
        untouched.get(key) != Some(value) || notation::is_json(text) && written()
    };
    let kept: Vec<String> = members
        .iter()
        .filter_map(|(key, text)| match (given(key, text), usual) {
            (true, true) => None,
            (false, true) => Some(format!("{}: {}", quote_key(key), escape_text(text))),
            (true, false) => Some(format!("[{}]", quote_key(key))),
            (false, false) => Some(format!("[{}, {}]", quote_key(key), escape_text(text))),
        })
        .collect();
    match (usual, kept.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("{{{}}}", kept.join(", "))),
        (false, _) => Some(format!("[{}]", kept.join(", "))),
    }
}

/// The published line: computed from the columns, with the deviations applied.
pub fn apply_deviations(computed: &Map<String, Json>, deviations: &str) -> String {
    let members: Vec<(String, Option<&str>)> = match notation::split_members(deviations) {
        Ok(kept) => {
            let text = |key: &String| kept.iter().find(|(known, _)| known == key).map(|(_, text)| *text);
            computed.keys().map(|key| (key.clone(), text(key))).collect()
        }
        Err(_) => parse_places(deviations),
    };
    let member = |(key, text): (String, Option<&str>)| {
        let value =
            text.map_or_else(|| computed.get(&key).map(Json::to_string).unwrap_or_default(), str::to_owned);
        format!("{}:{value}", quote_key(&key))
    };
    format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
}

/// The keys of deviations, with stored values.
pub fn deviating_keys(deviations: &str) -> Vec<String> {
    match notation::split_members(deviations) {
        Ok(kept) => kept.into_iter().map(|(key, _)| key).collect(),
        Err(_) => parse_places(deviations)
            .into_iter()
            .filter(|(_, text)| text.is_some())
            .map(|(key, _)| key)
            .collect(),
    }
}

fn parse_places(deviations: &str) -> Vec<(String, Option<&str>)> {
    fn parse_place(text: &str) -> Option<(String, Option<&str>)> {
        let parts = notation::split_elements(text).ok()?;
        Some((serde_json::from_str(parts.first()?).ok()?, parts.get(1).copied()))
    }
    notation::split_elements(deviations).unwrap_or_default().into_iter().filter_map(parse_place).collect()
}

/// A value's text in NFC and on one line, like rows: other characters become equivalent escapes.
fn escape_text(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    if is_nfc(&text) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
    escaped
}

fn quote_key(key: &str) -> String {
    Json::from(key).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Map<String, Json> {
        serde_json::from_str(text).unwrap()
    }

    /// The line reproduced for a row if the columns give `computed`.
    fn back(row: &str, computed: &str) -> (Option<String>, String) {
        let computed = object(computed);
        let kept = find_deviations(&notation::split_members(row).unwrap(), &computed, &computed);
        let line = match &kept {
            Some(kept) => apply_deviations(&computed, kept),
            None => Json::Object(computed).to_string(),
        };
        (kept, line)
    }

    #[test]
    fn every_row_comes_back_key_by_key() {
        let computed = r#"{"id":"a","type":null,"n":1}"#;
        for (row, kept) in [
            (r#"{"id":"a","type":null,"n":1}"#, None),
            (r#"{"id":"a","type":NaN,"n":1}"#, Some(r#"{"type": NaN}"#)),
            (r#"{"id":"b","type":null,"n":1.0}"#, Some(r#"{"id": "b", "n": 1.0}"#)),
            (r#"{"id":"a","n":1}"#, Some(r#"[["id"], ["n"]]"#)),
            (
                r#"{"n":1,"id":"a","typ":[NaN],"type":null}"#,
                Some(r#"[["n"], ["id"], ["typ", [NaN]], ["type"]]"#),
            ),
        ] {
            let (found, line) = back(row, computed);
            assert_eq!((found.as_deref(), line.as_str()), (kept, row));
        }
        // Keys within a value, in the file's own order.
        let within = r#"{"id":"a","options":{"B":1,"A":2}}"#;
        assert_eq!(back(within, r#"{"id":"a","options":{"A":2,"B":1}}"#).1, within);
        // Not in NFC, and on several lines.
        let (kept, line) = back("{\"id\": \"e\u{301}\",\n\"type\": [\n1], \"n\": 1}", computed);
        assert!(is_nfc(&kept.unwrap()) && object(&line)["id"] == "e\u{301}" && object(&line)["type"][0] == 1);
    }

    #[test]
    fn what_people_changed_is_theirs() {
        let members = notation::split_members(r#"{"id": "b", "type": NaN}"#).unwrap();
        let untouched = object(r#"{"id": "a", "type": null}"#);
        let changed = object(r#"{"id": "a", "type": "x"}"#);
        let kept = find_deviations(&members, &changed, &untouched).unwrap();
        assert_eq!(deviating_keys(&kept), ["id"]);
        assert_eq!(apply_deviations(&changed, &kept), r#"{"id":"b","type":"x"}"#);
    }
}
