//! Tables as they are declared, read and described.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::{Kind, Reader, Section, Table, default_table, json_schema};

crate::choice! {
    /// What becomes of a word.
    #[derive(Default)]
    pub enum Action {
        /// It is replaced.
        #[default]
        Mark = "mark",
        /// It goes.
        Drop = "drop",
    }
}

crate::table! {
    /// How long something may take.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Waits in "waits": "How long something may take." {
        first: f64 = 0.50, "Seconds before the first.";
        attempts: u32 [Whole(1, i64::MAX)] = 6, "How often.";
    }
}

crate::table! {
    /// A list of words.
    #[derive(Clone, Debug, PartialEq)]
    pub struct List in "list": "A list of words." {
        path: String = required, "Its file.";
        within: Waits, "How long reading it may take.";
    }
}

crate::table! {
    /// Where words come from.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Origins in "origins": "Where words come from." {
        title: String = "", "What they are called.";
        list: List, "A list.";
    }
}

crate::table! {
    /// How words are treated.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Words in "words": "How words are treated." {
        name: String = required, "What they are called, as in [words.<name>].";
        names: Action = "mark", "Names of users.";
        most: u32 [Whole(1, 10)] = 3, "The most words of a text.";
        share: f64 [SHARE] = 0.10, "Of all.";
        rpm: Option<u32> [Whole(1, i64::MAX)], "The most in a minute.";
        lists: Vec<String> = ["builtin"], "Files.";
        headers: BTreeMap<String, String> = {}, "More.";
        waits: Waits, "How long.";
        pair: Option<(u8, u8)> [form "a list of two numbers"], "Two.";
    }
    beside {
        /// Not in the file.
        language: Option<String>;
    }
    unread {
        /// From elsewhere.
        found: Vec<u8>;
    }
}

const WORDS: Section = Words::SECTION;

/// What the reader makes of a file that is one table.
fn read(text: &str) -> (Option<Words>, Vec<String>) {
    let reader = Reader::new("a.toml", text);
    let elsewhere = |name: &str| (name == "elsewhere").then(|| "it is one of [there]".to_owned());
    let values =
        reader.read_document(|table| reader.valid_values("[words]", WORDS.keys, table, None, &elsewhere));
    let problems = reader.in_order();
    let words = values.filter(|_| problems.is_empty());
    let words = words.map(|values| serde_json::from_value(Value::Object(values)).unwrap());
    (words, problems.into_iter().map(|Problem { place, what }| format!("{place}: {what}")).collect())
}

#[test]
fn defaults_are_as_they_are_written() {
    let (words, problems) = read("name = \"w\"\n");
    assert_eq!(problems, [""; 0]);
    let words = words.unwrap();
    assert_eq!((words.names, words.most, words.share, words.rpm), (Action::Mark, 3, 0.1, None));
    assert_eq!((words.lists, words.headers.len()), (vec!["builtin".to_owned()], 0));
    assert_eq!((words.waits.clone(), words.pair, words.language), (default_table(), None, None));
    assert_eq!((words.waits.first, words.waits.attempts), (0.5, 6));
    let written: Vec<&str> = WORDS.keys.iter().map(|key| key.default).collect();
    assert_eq!(Action::ALL.iter().map(|action| action.name()).collect::<Vec<_>>(), Action::NAMES);
    assert_eq!(written, ["", "\"mark\"", "3", "0.10", "", "[\"builtin\"]", "{}", "", ""]);
}

#[test]
fn bounds_are_those_of_the_type_and_of_the_key() {
    let kind = |name: &str| WORDS.find_key(name).unwrap().kind;
    assert_eq!(kind("rpm"), Kind::Whole(1, u32::MAX.into()));
    assert_eq!(kind("most"), Kind::Whole(1, 10));
    assert_eq!(kind("share"), Kind::Number(0.0, 1.0));
    assert_eq!(kind("names"), Kind::Choice(&["mark", "drop"]));
    let dotted: Vec<String> = WORDS.dotted_keys().into_iter().map(|(name, _)| name).collect();
    assert!(
        dotted.contains(&"waits.attempts".to_owned()) && !dotted.contains(&"waits".to_owned()),
        "{dotted:?}"
    );
}

#[test]
fn every_problem_is_reported_with_its_place_and_key() {
    let text = "names = \"marc\"\nrpm = 5000000000\nsahre = 0.5\ncolour = 1\nelsewhere = 1\nwaits = { attempts = 0, secs = 1 }\npair = [1]\nshare = nan\n";
    let (words, problems) = read(text);
    assert_eq!(words, None);
    assert_eq!(
        problems,
        [
            "a.toml:1:1: [words] lacks `name`",
            "a.toml:1:9: names: expected one of mark, drop; did you mean \"mark\"?",
            "a.toml:2:7: rpm: expected a whole number from 1 to 4294967295",
            "a.toml:3:1: unknown key \"sahre\"\n  hint: did you mean \"share\"?",
            "a.toml:4:1: unknown key \"colour\"\n  hint: valid here: headers, lists, most, name, names, pair, rpm, share, waits",
            "a.toml:5:1: unknown key \"elsewhere\"\n  hint: it is one of [there]",
            "a.toml:6:22: waits.attempts: expected a whole number from 1 to 4294967295",
            "a.toml:6:25: unknown key \"secs\"\n  hint: valid here: attempts, first",
            "a.toml:7:8: pair: expected a list of two numbers; invalid length 1, expected a tuple of size 2",
            "a.toml:8:9: share: expected a number from 0 to 1",
        ]
    );
    assert_eq!(read("name = \"a\"\nname = \"b\"\n").1, ["a.toml:2:1: `name` is set already, at line 1"]);
    assert_eq!(read("name = \n").1.len(), 1);
    assert_eq!(read("most = 99999999999999999999\n").1, ["a.toml:1:8: most: integer number overflowed"]);
    let inside = read("waits = { attempts = 99999999999999999999 }\n").1;
    assert_eq!(inside, ["a.toml:1:22: attempts: integer number overflowed"]);
}

/// What is wrong with a file that is a table of origins.
fn problems_of_origins(text: &str) -> Vec<String> {
    let reader = Reader::new("a.toml", text);
    let keys = Origins::SECTION.keys;
    reader.read_document(|table| reader.valid_values("[origins]", keys, table, None, &|_| None)).unwrap();
    let said = |Problem { place, what }| format!("{place}: {what}");
    reader.in_order().into_iter().map(said).collect()
}

#[test]
fn a_key_of_a_table_nearby_is_told_its_place() {
    assert_eq!(
        read("name = \"w\"\nattempts = 3\nwaits = { most = 3 }\n").1,
        [
            "a.toml:2:1: unknown key \"attempts\"\n  hint: it is a key of `waits`",
            "a.toml:3:11: unknown key \"most\"\n  hint: it belongs to the table above",
        ]
    );
    assert_eq!(
        problems_of_origins("[list]\npath = \"a\"\nfirst = 1\n[list.within]\npath = \"b\"\n"),
        [
            "a.toml:3:1: unknown key \"first\"\n  hint: it is a key of `list.within`",
            "a.toml:5:1: unknown key \"path\"\n  hint: it belongs to the table above",
        ]
    );
}

#[test]
fn a_subtable_is_read_to_its_depth() {
    assert_eq!(
        problems_of_origins("list = { within = { attempts = 0 } }\n"),
        [
            "a.toml:1:8: list lacks `path`",
            "a.toml:1:32: list.within.attempts: expected a whole number from 1 to 4294967295",
        ]
    );
    let dotted: Vec<String> = Origins::SECTION.dotted_keys().into_iter().map(|(name, _)| name).collect();
    assert_eq!(dotted, ["title", "list.path", "list.within.first", "list.within.attempts"]);
}

#[test]
fn closer_bounds_keep_those_of_the_type() {
    assert_eq!(Kind::Whole(0, 10).narrowed(Kind::Whole(-5, 7)), Kind::Whole(0, 7));
    assert_eq!(Kind::AMOUNT.narrowed(Kind::Number(-1.0, 0.5)), Kind::Number(0.0, 0.5));
    let apart = || Kind::Number(0.0, 1.0).narrowed(Kind::Number(2.0, 3.0));
    assert!(std::panic::catch_unwind(apart).is_err());
}

#[test]
fn what_is_read_without_a_file_is_checked_too() {
    let error = |value: Value| serde_json::from_value::<Words>(value).unwrap_err().to_string();
    assert_eq!(error(json!({})), "missing field `name`");
    assert_eq!(error(json!({ "name": "w", "most": 11 })), "most: expected a whole number from 1 to 10");
    assert_eq!(
        error(json!({ "name": "w", "waits": { "attempts": 0 } })),
        "waits: attempts: expected a whole number from 1 to 4294967295"
    );
    assert!(error(json!({ "name": "w", "nmae": 1 })).contains("did you mean \"name\"?"));
    let words: Words = serde_json::from_value(json!({ "name": "w", "rpm": null, "language": "zh" })).unwrap();
    assert_eq!((words.rpm, words.language.as_deref()), (None, Some("zh")));
}

#[test]
fn an_editor_is_told_what_the_reader_accepts() {
    let schema = json_schema::table_schema(WORDS.doc, WORDS.keys);
    let property = |name: &str| &schema["properties"][name];
    assert_eq!(schema["required"], json!(["name"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(
        (&property("rpm")["minimum"], &property("rpm")["maximum"]),
        (&json!(1), &json!(4294967295u32))
    );
    assert_eq!(
        (&property("names")["enum"], &property("names")["default"]),
        (&json!(["mark", "drop"]), &json!("mark"))
    );
    assert_eq!(property("waits")["properties"]["first"]["default"], json!(0.5));
    assert_eq!(property("lists")["default"], json!(["builtin"]));
}

proptest! {
    /// Whatever a number is, it is accepted if and only if it is in the bounds that the message names.
    #[test]
    fn no_number_out_of_bounds_is_accepted(most in any::<i64>(), rpm in any::<i64>(), share in -2.0..2.0f64) {
        let (words, problems) = read(&format!("name = \"w\"\nmost = {most}\nrpm = {rpm}\nshare = {share:?}\n"));
        let wrong = [
            ("most:", !(1..=10).contains(&most)),
            ("rpm:", !(1..=i64::from(u32::MAX)).contains(&rpm)),
            ("share:", !(0.0..=1.0).contains(&share)),
        ];
        for (key, is_wrong) in wrong {
            prop_assert_eq!(problems.iter().any(|problem| problem.contains(key)), is_wrong);
        }
        prop_assert_eq!(words.is_some(), problems.is_empty());
    }
}
