//! A thousand changed profiles: each can be used, or what is wrong is told with its place and its key.

use riddlemill_schema::hint::split_hint;
use riddlemill_schema::json::item_json;
use riddlemill_schema::mutate::make_mutant;
use riddlemill_schema::problem::Problem;
use riddlemill_schema::{Kind, path_span};

use super::{KEYS, Profile, keys, read_profile};

const SEEDS: u64 = 1000;

/// Every key is in one of them.
const PROFILES: [&str; 3] = [
    r##"about = "A forum."
format = "html"
encoding = "gb18030"
zone = "+08:00"
time_formats = ["%d.%m.%Y %H:%M", "unix"]
namespace = "forum"
lists = "/forum-*"
threads = ["/thread-*"]
pages = "/thread-*"
list_has = "#list"
thread_has = "#thread"
unwrap = "code"
row = "tr"
list = "a.title"
changed = ".replies"
item = ".post"
id = { from = "@id", match = "p([0-9]+)" }
own_id = "h1@id"
page = [".pager b", { from = ".pager", in = "page" }]
floor = ".no"
first_floor = 1
title = "h1"
body = ".text"
author = ".author"
score = ".score"
images = "img"
links = "a"
strip = [".quote", ".edit"]
strip_text = "(?s)\\[quote\\].*?\\[/quote\\]"
gone = "^removed$"
jokes = "numbered"
[next]
from = ".next"
param = "page"
while = ".more"
[thread]
match = "t=([0-9]+)"
in = "address"
[time]
from = "time@title"
match = "[0-9].*"
template = "{}"
as = "text"
"##,
    r##"labels = { answer = ["Answer", "Solution"] }
asks = "[?]"
each = "(?<body>[^?]*[?]) (?<answer>.*)"
"##,
    r##"format = "xml"
item = "/posts/row[@T=1]"
id = "/@Id"
namespace = "se"
[answer]
from = "/@Body"
of = "/@Ok"
as = "html"
"##,
];

/// What is wrong with a text.
fn find_problems(text: &str) -> Vec<Problem> {
    read_profile("mine.toml", text).err().unwrap_or_default()
}

#[test]
fn changed_profiles_are_refused_with_place_and_key_or_can_be_used() {
    for text in PROFILES {
        assert_eq!(find_problems(text), [], "{text}");
    }
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..SEEDS {
        let text = PROFILES[if seed % 10 < 8 { 0 } else { 1 + seed as usize % 2 }];
        let Some(mutant) = make_mutant(text, seed) else { continue };
        let found = find_problems(&mutant.text);
        if found.is_empty() {
            accepted += 1;
            let json = item_json(mutant.text.parse::<toml_edit::DocumentMut>().unwrap().as_item()).unwrap();
            assert_eq!(Kind::Table(KEYS).find_faults(&json), [], "editors refuse {}", mutant.changed);
            continue;
        }
        refused += 1;
        let here = format!("mine.toml:{}:", mutant.line);
        let names = |what: &str| what.contains(&mutant.key) || mutant.is_lookalike && what.contains('＝');
        // What the file says elsewhere may not go with the change: it is told there, and with its key.
        let other = |problem: &Problem| {
            let said = KEYS.iter().chain(keys::PICK_KEYS).any(|key| problem.what.contains(key.name));
            said && problem.place.split(':').count() == 3
        };
        assert!(
            found.iter().any(|problem| problem.place.starts_with(&here) && names(&problem.what))
                || found.iter().all(other),
            "{}: {found:?}",
            mutant.changed
        );
        let bare = found.iter().find(|problem| problem.what.starts_with("unknown key"));
        assert!(bare.is_none_or(|problem| split_hint(&problem.what).1.is_some()), "{found:?}");
    }
    assert!(refused > 500 && accepted > 50, "{refused} refused, {accepted} accepted");
}

#[test]
fn editors_are_told_what_is_read() {
    let schema = super::json_schema();
    assert_eq!(schema["properties"]["jokes"]["enum"], serde_json::json!(["all", "first", "numbered"]));
    assert_eq!(schema["additionalProperties"], false);
    let pick = &schema["properties"]["time"]["anyOf"];
    assert_eq!(pick[1]["properties"]["in"]["enum"][2], "address");
    let text = "item = \"p\"\ntime = [\"i\", { from = \"b\", mach = \"x\" }]\nid = { from = 5 }\n";
    let said: Vec<String> = find_problems(text)
        .into_iter()
        .map(|problem| format!("{}: {}", problem.place, problem.what))
        .collect();
    assert_eq!(
        said,
        [
            "mine.toml:2:28: unknown key \"mach\"\n  hint: did you mean \"match\"?",
            "mine.toml:3:8: id.from: expected a text in quotes",
        ]
    );
    let table = text.parse::<toml_edit::DocumentMut>().unwrap();
    assert_eq!(path_span(table.as_table(), &["body".to_owned()]), None);
    let defaults = KEYS.iter().filter_map(|key| Some((key, key.default_value()?)));
    for (key, value) in defaults {
        assert_eq!(key.kind.find_faults(&value), [], "{}", key.name);
    }
    assert!(Profile::from_json(&serde_json::json!({ "item": "p" })).is_ok());
}
