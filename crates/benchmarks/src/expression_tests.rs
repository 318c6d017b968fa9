//! Tests of `expression`.

use super::*;
use minijinja::value::Serde;

fn value(source: &'static str, over: Value) -> Value {
    let read = Expression::parse(build_language(Lists::new(), &Arc::default()), "here".into(), source);
    read.unwrap().compute_value(&over).unwrap()
}

#[test]
fn lists_are_read_as_people_write_them() {
    let over = Value::from(Serde(serde_json::json!({
        "said": { "premises": "1. One.\n- Two.\n\n  3) Three.\n40 winks.", "stumper": "Another." },
    })));
    assert_eq!(
        texts_of_value(&value("said.premises | listed", over.clone())),
        ["One.", "Two.", "Three.", "40 winks."]
    );
    let included = value("said.premises | listed | including(said.stumper) | length", over.clone());
    assert_eq!(included.as_usize(), Some(5));
    assert_eq!(value("['Another'] | including(said.stumper) | length", over).as_usize(), Some(1));
    assert_eq!(value("said.nothing | listed", Value::from(())).len(), Some(0));
}

#[test]
fn answers_are_gathered_by_their_fields() {
    let over = Value::from(Serde(serde_json::json!({
        "given": [{ "a": "x", "b": "y" }, { "a": "z" }, { "codes": ["p", "q"] }], "list": ["one", "two"],
    })));
    assert_eq!(texts_of_value(&value("given | fields('a', 'b')", over.clone())), ["x", "y", "z"]);
    assert_eq!(value("given | codes('a')", over.clone()).as_str(), Some("x z"));
    assert_eq!(value("given[2] | codes('codes')", over.clone()).as_str(), Some("p q"));
    assert_eq!(texts_of_value(&value("['2', '9', 'x'] | picked(list)", over)), ["two"]);
    let taken = value("'teh taht' | corrected(['teh -> the', 'taht -> that'], ['2'])", Value::from(()));
    assert_eq!(taken.as_str(), Some("teh that"));
}
