//! Forms as people send them back, and what is wrong with them.

use super::*;
use crate::ballot::{Round, Step};
use crate::ballots;
use crate::item::Content;

fn item(step: &Step, draft: &[(&str, &str)]) -> Item {
    let content = Content::from([("text".to_owned(), Value::from("x"))]);
    Item::new(step, "i", content, draft.iter().copied().collect())
}

fn answers(step: &Step, item: &Item, cells: &[(&str, &str)]) -> Answers {
    read(&step.form(Round::Vote), item, |name| {
        cells.iter().find(|(field, _)| *field == name).map(|(_, text)| Value::from(*text))
    })
}

#[test]
fn codes_labels_and_dropdown_entries_mean_the_same() {
    let step = ballots::step("flub", "type").unwrap();
    let item = item(&step, &[]);
    for cell in ["paradox", " Paradox ", "悖论", "paradox · 悖论 · Paradox"] {
        assert_eq!(
            answers(&step, &item, &[("type", cell)]),
            Answers::Given([("type", "paradox")].into_iter().collect())
        );
    }
    let Answers::Faulty(faults) = answers(&step, &item, &[("type", "paradocks")]) else { panic!() };
    assert!(faults[0].1.to_string().ends_with("(did you mean `paradox`?)"), "{}", faults[0].1);
    assert_eq!(answers(&step, &item, &[("type", " ")]), Answers::Blank);
}

#[test]
fn sets_are_cut_at_any_separator_and_sorted() {
    let step = ballots::step("ruozhibench-gen", "category").unwrap();
    let item = item(&step, &[]);
    for cell in ["2 6 3", "6;3；2", "３、2, 6", "Others, 2 3", "常识误解|3|6|6"] {
        let Answers::Given(values) = answers(&step, &item, &[("categories", cell), ("sure", "是")]) else {
            panic!("{cell}")
        };
        assert_eq!(values.get("categories").unwrap().as_list().unwrap(), ["2", "3", "6"], "{cell}");
    }
    let faulty = answers(&step, &item, &[("categories", "2 7"), ("sure", "yes")]);
    assert!(matches!(&faulty, Answers::Faulty(faults) if faults.len() == 1), "{faulty:?}");
}

/// What a sheet shows may be copied into its cell: with the numbers of a list, and with `keep` beside what speaks against.
#[test]
fn a_cell_is_taken_as_it_is_shown() {
    let step = ballots::step("ruozhibench-gen", "screen").unwrap();
    let item = item(&step, &[]);
    let screened = |cell: &str| match answers(&step, &item, &[("screen", cell)]) {
        Answers::Given(values) => values.get("screen").unwrap().to_string(),
        other => panic!("{cell}: {other:?}"),
    };
    for (cell, meant) in [
        ("1. culture_bound", "culture_bound"),
        ("1. culture_bound\n2. harmful", "culture_bound; harmful"),
        ("1) harmful；2) no_trap", "harmful; no_trap"),
        ("keep; harmful", "harmful"),
        ("保留，有害", "harmful"),
        ("1. keep", "keep"),
        ("keep · 保留 · keep", "keep"),
    ] {
        assert_eq!(screened(cell), meant, "{cell}");
    }
    let Answers::Faulty(faults) = answers(&step, &item, &[("screen", "keep; funny")]) else { panic!() };
    let told = faults[0].1.to_string();
    assert!(told.starts_with("unknown choice `funny`; one of keep, culture_bound"), "{told}");
    let step = ballots::step("ruozhibench-gen", "category").unwrap();
    let cells = [("categories", "1. 2\n2. 5\n3. 4"), ("sure", "yes")];
    let Answers::Given(values) = answers(&step, &item, &cells) else { panic!() };
    assert_eq!(values.get("categories").unwrap().to_string(), "2; 4; 5");
}

#[test]
fn accepting_takes_the_draft_and_contradicting_it_is_named() {
    let step = ballots::step("ruozhibench-gen", "translation").unwrap();
    let with = item(&step, &[("question_en", "Why?")]);
    let Answers::Given(values) = answers(&step, &with, &[("verdict", "accept")]) else { panic!() };
    assert_eq!(values.text("question_en"), Some("Why?"));
    let both = answers(&step, &with, &[("verdict", "accept"), ("question_en", "Why not?")]);
    assert_eq!(
        both,
        Answers::Faulty(vec![("question_en", Fault::Contradiction { verdict: "accept".into() })])
    );
    let none = answers(&step, &item(&step, &[]), &[("verdict", "accept")]);
    assert_eq!(none, Answers::Faulty(vec![("question_en", Fault::NoDraft { verdict: "accept".into() })]));
    let empty = answers(&step, &with, &[("verdict", "rewrite")]);
    assert_eq!(empty, Answers::Faulty(vec![("question_en", Fault::Missing)]));
}

#[test]
fn a_rewrite_that_changes_nothing_accepts() {
    let step = ballots::step("ruozhibench-gen", "translation").unwrap();
    let with = item(&step, &[("question_en", "Why?")]);
    let given = |text: &str| answers(&step, &with, &[("verdict", "rewrite"), ("question_en", text)]);
    assert_eq!(given("Why? "), answers(&step, &with, &[("verdict", "accept")]));
    let Answers::Given(values) = given("Why not?") else { panic!() };
    assert_eq!(values.text("verdict"), Some("rewrite"));
    // Where nothing was drafted there is nothing to accept.
    let Answers::Given(values) =
        answers(&step, &item(&step, &[]), &[("verdict", "rewrite"), ("question_en", "Why?")])
    else {
        panic!()
    };
    assert_eq!(values.text("verdict"), Some("rewrite"));
    // Of several texts all must be as drafted.
    let step = ballots::step("brainteaser", "distractors").unwrap();
    let item = item(&step, &[("distractor_1", "a"), ("distractor_2", "b"), ("distractor_3", "c")]);
    let verdict = |text: &str| match answers(&step, &item, &[("verdict", "rewrite"), ("distractor_2", text)])
    {
        Answers::Given(values) => values.text("verdict").unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!((verdict("b").as_str(), verdict("B").as_str()), ("accept", "rewrite"));
}

#[test]
fn of_several_texts_those_left_empty_stay_as_drafted() {
    let step = ballots::step("brainteaser", "distractors").unwrap();
    let item = item(&step, &[("distractor_1", "a"), ("distractor_2", "b"), ("distractor_3", "c")]);
    let given = answers(&step, &item, &[("verdict", "rewrite"), ("distractor_2", "B")]);
    let Answers::Given(values) = given else { panic!("{given:?}") };
    assert_eq!(
        ["distractor_1", "distractor_2", "distractor_3"].map(|name| values.text(name).unwrap()),
        ["a", "B", "c"]
    );
}

#[test]
fn a_preference_is_read_through_the_order_shown() {
    let step = ballots::step("chumor", "preference").unwrap();
    let sides = [("human", "h".to_owned()), ("llm", "l".to_owned())];
    let item = Item::paired(&step, "j", Content::new(), "explanation", sides, 3);
    let [first, second] = [&*item.order[0], &*item.order[1]];
    for (cell, code) in
        [("1", first), ("２", second), ("一样好", "equal"), ("3", "equal"), ("human", "human")]
    {
        let read = answers(&step, &item, &[("preference", cell)]);
        assert_eq!(read, Answers::Given([("preference", code)].into_iter().collect()), "{cell}");
    }
}

#[test]
fn rejections_need_reasons_that_exist() {
    let step = ballots::step("chumor", "screen").unwrap();
    let item = item(&step, &[]);
    let given = |cell: &str| answers(&step, &item, &[("screen", cell)]);
    assert_eq!(given("保留"), Answers::Given([("screen", KEEP)].into_iter().collect()));
    let reasons = Value::List(vec!["not_funny".into(), "offensive".into()]);
    assert_eq!(given("offensive, 不好笑"), Answers::Given([("screen", reasons)].into_iter().collect()));
    assert!(matches!(given("reject"), Answers::Faulty(_)));
}
