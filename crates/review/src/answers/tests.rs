//! Forms as people return them, and their faults.

use super::*;
use crate::ballot::{Ballot, Round};
use crate::ballots;
use crate::item::Content;

fn item(ballot: &Ballot, draft: &[(&str, &str)]) -> Item {
    let content = Content::from([("text".to_owned(), Value::from("x"))]);
    Item::new(ballot, "i", content, draft.iter().copied().collect())
}

fn answers(ballot: &Ballot, item: &Item, cells: &[(&str, &str)]) -> Answers {
    read_answers(&ballot.questions_of_round(Round::Vote), item, |name| {
        cells.iter().find(|(field, _)| *field == name).map(|(_, text)| Value::from(*text))
    })
}

#[test]
fn codes_labels_and_dropdown_entries_mean_the_same() {
    let step = ballots::find_step("flub", "type").unwrap();
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
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
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

/// Text shown by a sheet may be copied into its cell: with the numbers of a list, and with `keep` next to a
/// reason against.
#[test]
fn a_cell_is_taken_as_it_is_shown() {
    let step = ballots::find_step("ruozhibench-gen", "screen").unwrap();
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
    let message = faults[0].1.to_string();
    assert!(message.starts_with("unknown choice `funny`; one of keep, culture_bound"), "{message}");
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let cells = [("categories", "1. 2\n2. 5\n3. 4"), ("sure", "yes")];
    let Answers::Given(values) = answers(&step, &item, &cells) else { panic!() };
    assert_eq!(values.get("categories").unwrap().to_string(), "2; 4; 5");
}

#[test]
fn accepting_takes_the_draft_and_contradicting_it_is_named() {
    let step = ballots::find_step("ruozhibench-gen", "translation").unwrap();
    let with = item(&step, &[("question_en", "Why?")]);
    let Answers::Given(values) = answers(&step, &with, &[("verdict", "accept")]) else { panic!() };
    assert_eq!(values.text_of("question_en"), Some("Why?"));
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
    let step = ballots::find_step("ruozhibench-gen", "translation").unwrap();
    let with = item(&step, &[("question_en", "Why?")]);
    let given = |text: &str| answers(&step, &with, &[("verdict", "rewrite"), ("question_en", text)]);
    assert_eq!(given("Why? "), answers(&step, &with, &[("verdict", "accept")]));
    let Answers::Given(values) = given("Why not?") else { panic!() };
    assert_eq!(values.text_of("verdict"), Some("rewrite"));
    // Without a draft there is nothing to accept.
    let Answers::Given(values) =
        answers(&step, &item(&step, &[]), &[("verdict", "rewrite"), ("question_en", "Why?")])
    else {
        panic!()
    };
    assert_eq!(values.text_of("verdict"), Some("rewrite"));
    // Of several texts, all must be as drafted.
    let step = ballots::find_step("brainteaser", "distractors").unwrap();
    let item = item(&step, &[("distractor_1", "a"), ("distractor_2", "b"), ("distractor_3", "c")]);
    let verdict = |text: &str| match answers(&step, &item, &[("verdict", "rewrite"), ("distractor_2", text)])
    {
        Answers::Given(values) => values.text_of("verdict").unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!((verdict("b").as_str(), verdict("B").as_str()), ("accept", "rewrite"));
}

#[test]
fn of_several_texts_those_left_empty_stay_as_drafted() {
    let step = ballots::find_step("brainteaser", "distractors").unwrap();
    let item = item(&step, &[("distractor_1", "a"), ("distractor_2", "b"), ("distractor_3", "c")]);
    let given = answers(&step, &item, &[("verdict", "rewrite"), ("distractor_2", "B")]);
    let Answers::Given(values) = given else { panic!("{given:?}") };
    assert_eq!(
        ["distractor_1", "distractor_2", "distractor_3"].map(|name| values.text_of(name).unwrap()),
        ["a", "B", "c"]
    );
}

#[test]
fn a_preference_is_read_through_the_order_shown() {
    let step = ballots::find_step("chumor", "preference").unwrap();
    let sides = [("human", "h".to_owned()), ("llm", "l".to_owned())];
    let item = Item::from_sides(&step, "j", Content::new(), "explanation", sides, 3);
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
    let step = ballots::find_step("chumor", "screen").unwrap();
    let item = item(&step, &[]);
    let given = |cell: &str| answers(&step, &item, &[("screen", cell)]);
    assert_eq!(given("保留"), Answers::Given([("screen", KEEP)].into_iter().collect()));
    let reasons = Value::List(vec!["not_funny".into(), "offensive".into()]);
    assert_eq!(given("offensive, 不好笑"), Answers::Given([("screen", reasons)].into_iter().collect()));
    assert!(matches!(given("reject"), Answers::Faulty(_)));
}

#[test]
fn wrong_answers_differ_from_each_other_and_from_the_right_one() {
    let step = ballots::find_step("flub", "wrong-candidates").unwrap();
    let mut item = item(&step, &[]);
    item.apart = vec!["鱼不会口渴。".into()];
    let read = |three: [&str; 3]| {
        let given: Values = ["wrong_1", "wrong_2", "wrong_3"].into_iter().zip(three).collect();
        read_answers(&step.questions_of_round(Round::Vote), &item, |field| given.get(field).cloned())
    };
    assert!(matches!(read(["会。", "不知道。", "要看鱼。"]), Answers::Given(_)));
    let repeated = read(["会。", "不知道。", " 会 "]);
    assert_eq!(repeated, Answers::Faulty(vec![("wrong_3", Fault::Repeats { other: "wrong_1" })]));
    let right = read(["会。", "鱼不会口渴", "要看鱼。"]);
    assert_eq!(right, Answers::Faulty(vec![("wrong_2", Fault::Right)]));
}

#[test]
fn a_text_that_is_there_to_be_edited_is_an_answer_once_it_is() {
    let step = ballots::find_step("ruozhibench-gen", "screen").unwrap();
    let content = Content::from([("question_zh".to_owned(), Value::from("鱼会口渴麻？"))]);
    let item = Item::new(&step, "q", content, Values::new());
    let read = |text: &str| {
        let given: Values = [("screen", "keep"), ("question_zh", text)].into_iter().collect();
        match read_answers(&step.questions_of_round(Round::Vote), &item, |field| given.get(field).cloned()) {
            Answers::Given(values) => values.text_of("question_zh").map(str::to_owned),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((read("鱼会口渴麻？ "), read("")), (None, None));
    assert_eq!(read("鱼会口渴吗？").as_deref(), Some("鱼会口渴吗？"));
}

#[test]
fn a_draft_is_shown_with_its_names_and_copied_back_unchanged() {
    let step = ballots::find_step("ruozhibench-gen", "category").unwrap();
    let field = &step.fields[0];
    let lines: Vec<String> = [1, 4, 0].iter().map(|&at| explain_option(&field.options()[at])).collect();
    let shown = format!("1. {}\n2. {}\n3. {}", lines[0], lines[1], lines[2]);
    assert!(shown.starts_with("1. 2 · 常识误解 · Commonsense Misunderstanding · 误解了"), "{shown}");
    let item = item(&step, &[]);
    let given: Values = [("categories", shown.as_str()), ("sure", "yes")].into_iter().collect();
    let Answers::Given(values) =
        read_answers(&step.questions_of_round(Round::Vote), &item, |field| given.get(field).cloned())
    else {
        panic!("{shown}")
    };
    assert_eq!(values.get("categories").unwrap().to_string(), "1; 2; 5");
}

#[test]
fn a_pick_that_gives_the_right_option_away_is_taken_and_reported() {
    let step = ballots::find_step("flub", "wrong").unwrap();
    let long = "“意思”在前后不是一个意思。前一处说的是含义，后一处说的是心意。".to_owned();
    let candidates =
        ["太贵。", "太小气。", "太远。", "“意思”都是价钱的意思。所以送得越贵越有面子，客人越高兴。"];
    let content = Content::from([
        ("text".to_owned(), Value::from("这是什么意思？")),
        ("explanation".to_owned(), Value::Text(long)),
        ("candidates".to_owned(), Value::List(candidates.map(str::to_owned).to_vec())),
    ]);
    let item = Item::new(&step, "t", content, Values::new());
    let form = step.questions_of_round(Round::Vote);
    let cautioned = |picked: &str| {
        let Answers::Given(values) = read_answers(&form, &item, |_| Some(Value::from(picked))) else {
            panic!()
        };
        find_cautions(&form, &item, &values)
    };
    assert_eq!(cautioned("1;2;3").len(), 3, "its length, its quotes, its sentences");
    assert_eq!(cautioned("1;2;4"), []);
}

/// It was dropped without a word.
#[test]
fn an_answer_that_another_one_leaves_out_is_a_fault() {
    let step = ballots::find_step("ruozhibench-gen", "translation").unwrap();
    let with = item(&step, &[("question_en", "Why?")]);
    let mut form = step.questions_of_round(Round::Vote);
    // Whoever accepts is asked for nothing more.
    form.iter_mut().filter_map(|field| field.when.as_mut()).for_each(|when| when.draft = &[]);
    let given = |text: &str| {
        read_answers(&form, &with, |name| match name {
            "verdict" => Some(Value::from("accept")),
            "question_en" => Some(Value::from(text)),
            _ => None,
        })
    };
    let Answers::Faulty(faults) = given("Why not?") else { panic!("{:?}", given("Why not?")) };
    assert_eq!(
        faults[0].1.to_string(),
        "is asked only where `verdict` is rewrite, and here it is accept; leave it blank, or answer `verdict` otherwise"
    );
    // What a form sends back as it was shown is no answer.
    for text in ["Why?", " ", ""] {
        assert!(matches!(given(text), Answers::Given(_)), "{text}: {:?}", given(text));
    }
}
