//! `drop_if`, `hold_if`, `record_for_each` and `requires` of a folder: what is wrong with one is told at once, with its place.

use crate::harness::Workspace;
use crate::own::example;

const NAME: &str = "traps";
const TOML: &str = "benchmarks/traps/benchmark.toml";

/// What `benchmark check` says of the example with a change.
fn told(changes: &[(&str, &str)]) -> String {
    let ws = example(NAME);
    let mut text = ws.read(TOML);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    ws.write(TOML, text);
    let result = ws.call(["benchmark", "check", NAME]);
    format!("{}{}", result.out, result.err)
}

#[test]
fn every_mistake_in_the_new_words_is_told_with_its_place() {
    let names = told(&[
        ("for_each = \"tries.drafts", "for_each = \"tries.draft"),
        ("record_for_each = \"changes.edited\"", "record_for_each = \"changes.edits\""),
        ("edits(text, drafted.edited[0])", "edits(text, draftd.edited[0])"),
    ]);
    assert!(names.contains("unknown field of tries \"draft\""), "{names}");
    assert!(names.contains("did you mean \"drafts\"?"), "{names}");
    assert!(names.contains("unknown field of changes \"edits\""), "{names}");
    assert!(names.contains("unknown name \"draftd\"") && names.contains("benchmark.toml:"), "{names}");
    let all = told(&[
        ("reason = [\"long_trap\"", "reason = [\"too_long\""),
        ("\"The first edit changes more", "3, \"The first edit changes more"),
    ]);
    assert!(all.contains("the code \"too_long\" is taken"), "{all}");
    assert!(all.contains("requires: expected [[\"condition\", \"sentence\"], …]"), "{all}");
    let near = told(&[("drop_if = \"noticing", "drop_iff = \"noticing")]);
    assert!(
        near.contains("unknown key \"drop_iff\"") && near.contains("did you mean \"drop_if\"?"),
        "{near}"
    );
    let two = told(&[("hold_if = \"char", "drop_if = \"true\"\nhold_if = \"char")]);
    assert!(two.contains("give the other condition a step of its own"), "{two}");
    let none =
        told(&[("reason = [\"too_easy\", \"Several of the models that were asked notice the trap.\"]", "")]);
    assert!(none.contains("`reason` is missing"), "{none}");
    let field = told(&[("when = \"fair.tempting >= 3\"\n", "")]);
    assert!(field.contains("there is no `when`"), "{field}");
}

#[test]
fn a_list_that_is_none_or_empty_is_accounted_for() {
    let ws = example(NAME);
    let text = ws.read(TOML).replacen(
        "record_for_each = \"changes.edited\"",
        "record_for_each = \"[] if 'round' in text else 7 if '闹钟' in text else changes.edited\"",
        1,
    );
    ws.write(TOML, text);
    ws.call(["run", "--offline"]);
    let reasons = ws.reasons(NAME);
    assert_eq!(reasons["dropped/no_elements"], 1, "{reasons:?}");
    assert_eq!(reasons["failed/not_a_list"], 1, "{reasons:?}");
    ws.audit_clean();
}

/// A folder whose condition no record has yet is read; a record of which it cannot be computed fails and is named.
#[test]
fn a_condition_that_cannot_be_computed_fails_the_record() {
    let ws: Workspace = example(NAME);
    let text =
        ws.read(TOML).replacen("hold_if = \"characters(text) > 90\"", "hold_if = \"text - 1 > 90\"", 1);
    ws.write(TOML, text);
    ws.call(["run", "--offline"]);
    let reasons = ws.reasons(NAME);
    assert_eq!(reasons["failed/not_computed"], 5, "{reasons:?}");
    ws.audit_clean();
}
