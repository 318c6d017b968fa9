//! Declarations on evaluation: small benchmarks, one per feature.

use minijinja::value::{Serde, Value};
use serde_json::json;

use crate::benchmark::{self, Benchmark};
use crate::reader::{Problems, leak_text};
use crate::table::{Layout, Measures};
use crate::task::{Asks, PackKey};

const BEGIN: &str = r#"about = "jokes"
steps = ["import"]
[data]
about = "A joke."
parts = ["'long' if text | length > 9 else 'short'"]
group = "id | before('_')"
columns = [
  { name = "id", type = "text", is = "id", about = "The id." },
  { name = "text", type = "text", is = "text", about = "The joke." },
  { name = "why", type = "text?", is = "text", about = "Why it is funny." },
  { name = "both", type = "list of text", is = "[text]", about = "Two explanations." },
  { name = "right", type = "integer", is = "0", about = "The place of the right one." },
  { name = "kind", type = "text?", is = "text", about = "Its kind." },
]
"#;

const LISTS: &str = r#"[[list.kinds]]
code = "pun"
label = { en = "Pun", zh = "双关" }
means = { en = "Two meanings.", zh = "两个意思。" }
[[list.kinds]]
code = "none"
label = { en = "None", zh = "无" }
means = { en = "No kind.", zh = "没有类别。" }
"#;

fn load_benchmark(more: &str) -> Result<Benchmark, Problems> {
    let files = vec![
        ("benchmark.toml", leak_text(&format!("{BEGIN}{more}"))),
        ("ballots.toml", LISTS),
        ("prompts/ask.jinja", "{{ text }}"),
        ("prompts/judge.jinja", "{{ text }}"),
    ];
    Ok(benchmark::load_benchmarks(&[("jokes", files)], true)?.into_iter().next().unwrap())
}

const TASKS: &str = r#"
[[task]]
name = "explain"
called = "say-why"
prompt = "ask"
role = "asked"
when = "why is not none"
with = { text = "text" }
words = { blank = "no answer" }
[task.judge]
prompt = "judge"
with = { text = "text", said = "said" }
scale = [1, 7]
[task.shots]
like = "kind"
shows = { text = "text", why = "why" }
[task.people]
sheet = "marks"
shows = { text = "text" }
scale = [1, 5]

[[task]]
name = "kind"
prompt = "ask"
with = { text = "text" }
label = { list = "kinds", without = ["none"], in = "zh", gold = "kind" }

[[task]]
name = "first"
prompt = "ask"
with = { text = "text" }
tag = { names = ["X", "Y"], options = "both", gold = "X" }

[[task]]
name = "second"
other_order_of = "first"
prompt = "ask"
with = { text = "text" }
tag = { names = ["X", "Y"], options = "both | reverse | list", gold = "Y" }
"#;

fn make_row(more: serde_json::Value) -> Value {
    let mut row = json!({ "id": "a_1", "text": "A joke.", "both": ["One.", "Two."], "right": 0 });
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Value::from(Serde(row))
}

#[test]
fn a_task_is_asked_as_its_folder_says() {
    let read = load_benchmark(TASKS).unwrap();
    let [explain, kind, first, second] = &read.tasks[..] else { panic!("{:?}", read.tasks) };
    assert_eq!((explain.name, kind.name), ("say-why", "jokes/kind"));
    assert_eq!((explain.template.default_prompt(), explain.found), ("jokes/ask", PackKey::Role("asked")));
    let judged = explain.judged.as_ref().unwrap();
    assert!(matches!(judged.asks, Asks::Rating { json: false, .. }) && judged.rating_scale() == Some([1, 7]));
    assert_eq!(second.other_order_of, Some("jokes/first"));
    // Without an explanation there is nothing to explain, without a kind none to name.
    let bare = make_row(json!({ "why": null, "kind": null }));
    assert!(explain.pose_question(&bare).unwrap().is_none() && kind.pose_question(&bare).unwrap().is_none());
    let whole = make_row(json!({ "why": "So.", "kind": "双关" }));
    let posed = explain.pose_question(&whole).unwrap().unwrap();
    assert_eq!((posed.gold, posed.like.as_deref()), (None, Some("双关")));
    assert_eq!(posed.values, [("text", json!("A joke."))]);
    assert_eq!(kind.pose_question(&whole).unwrap().unwrap().gold.as_deref(), Some("双关"));
    assert!(
        kind.pose_question(&make_row(json!({ "kind": "无" }))).unwrap().is_none(),
        "not among the offered labels"
    );
    let unknown = kind.pose_question(&make_row(json!({ "kind": "谐音" }))).unwrap_err();
    assert!(unknown.what.contains("unknown label \"谐音\""), "{unknown}");
    let turned = second.pose_question(&whole).unwrap().unwrap();
    assert_eq!((turned.options, turned.gold.as_deref()), (vec!["Two.".into(), "One.".into()], Some("Y")));
    let three = first.pose_question(&make_row(json!({ "both": ["One.", "Two.", "Three."] }))).unwrap_err();
    assert!(three.what.contains("3 options, expected 2") && three.place.contains("benchmark.toml:"));
    let columns: Vec<&str> = explain.used_columns().collect();
    assert!(columns.contains(&"why") && !columns.contains(&"both"), "{columns:?}");
}

const SCRIPT: &str = r#"
[[task.outputs]]
file = '^turned(_(?<shots>\d+)shot)?_(?<model>.+)$'
has = ["text"]
question = "text"
id = "'J-' ~ number if number is integer"
reply = "response"
letter = "found"
options = "both"
"#;

#[test]
fn outputs_of_a_script_are_recognised_as_declared() {
    let read = load_benchmark(&format!("{TASKS}{SCRIPT}")).unwrap();
    let [script] = &read.tasks[3].outputs[..] else { panic!("{:?}", read.tasks) };
    let line = json!({ "text": "A joke.", "number": 7, "found": "A" });
    assert!(script.has_written(&line) && script.has_written(&json!({ "text": "A joke.", "response": null })));
    assert!(
        !script.has_written(&json!({ "text": "A joke." }))
            && !script.has_written(&json!({ "response": "A" }))
    );
    assert_eq!(script.question_and_id(&line).unwrap(), ("A joke.".into(), Some("J-7".into())));
    assert_eq!(script.question_and_id(&json!({ "text": "A joke.", "number": "7" })).unwrap().1, None);
    let named = |stem: &str| script.file_name(stem).map(|file| (file.model, file.shots));
    assert_eq!(named("turned_5shot_some-model_4"), Some((Some("some-model_4".into()), 5)));
    assert_eq!(named("turned_m"), Some((Some("m".into()), 0)));
    assert_eq!((named("turned_999shot_m"), named("straight_m")), (None, None));
}

#[test]
fn mistakes_in_outputs_of_a_script_have_their_places() {
    let wrong = SCRIPT
        .replace("<model>", "<modle>")
        .replace("question", "qestion")
        .replace("'J-' ~", "'J-' ~ ~")
        .replace("options = \"both\"\n", "rating = \"stars\"\n");
    let error = load_benchmark(&format!("{TASKS}{wrong}")).unwrap_err().to_string();
    for what in [
        "unknown group \"modle\"\n  hint: did you mean \"model\"?",
        "`question` is missing",
        "unknown key \"qestion\"\n  hint: did you mean \"question\"?",
        "`options` is missing",
        "`rating` goes with a `judge` that rates on a `scale`",
        "unexpected `~`",
    ] {
        assert!(error.contains(what), "{what}\n{error}");
    }
    let error = load_benchmark(&format!("{TASKS}{}", SCRIPT.replace("+)$", "+$"))).unwrap_err();
    assert!(error.to_string().contains("unclosed group"), "{error}");
}

#[test]
fn a_row_of_another_type_is_reported() {
    let read = load_benchmark(TASKS).unwrap();
    let data = read.data.as_ref().unwrap();
    let lacking = |row: serde_json::Value, column: &str| {
        data.find_column_error(row.as_object().unwrap(), [column].into_iter()).map(|error| error.to_string())
    };
    assert_eq!(lacking(json!({ "why": null }), "why"), None, "it may be missing");
    assert_eq!(lacking(json!({}), "text").as_deref(), Some("text: missing"));
    assert_eq!(lacking(json!({ "both": [1] }), "both").as_deref(), Some("both: [1] is not a list of texts"));
    assert_eq!(lacking(json!({}), "said"), None, "no column is called so");
}

#[test]
fn any_benchmark_names_the_kinds_of_tables() {
    let tables = r#"
[[table]]
name = "scores"
title = { en = "Scores", zh = "得分" }
about = { en = "The mean.", zh = "均值。" }
kind = "scores-by-part"
tasks = ["explain"]
parts = "kinds"
columns = ["All"]

[[table]]
name = "groups"
title = "Groups"
rows = "settings"
part = "short"
part_key = "length"
columns = [
  { title = "Kind", f1 = "kind", over = "set" },
  { title = "Why", score = "explain" },
  { title = "Both", geometric = ["Kind", "Why"] },
  { title = "All", groups = "kind", all_of = ["long", "short"] },
]
"#;
    let read = load_benchmark(&format!("{TASKS}{tables}")).unwrap();
    let Some(Measures::Native(native)) = read.evaluation[0].of_answers() else { panic!() };
    assert_eq!(
        (native.kind, &native.tasks[..], &native.parts[..]),
        (Layout::ScoresByPart, &["say-why"][..], &["Pun", "None"][..])
    );
    assert!(read.evaluation[0].words.contains(&("The mean.{}", "均值。{}")));
    assert!(read.evaluation[0].drawn.is_empty() && read.evaluation[1].drawn.len() == 1);
}

#[test]
fn mistakes_are_reported_with_their_places() {
    let wrong = TASKS
        .replace("prompt = \"judge\"", "prompt = \"juge\"")
        .replace("scale = [1, 7]", "scale = [7, 1]")
        .replace("without = [\"none\"]", "without = [\"nune\"]")
        .replace("other_order_of = \"first\"", "other_order_of = \"frist\"")
        .replace("gold = \"Y\"", "gold = \"Z\"")
        .replace("like = \"kind\"", "like = \"knd\"");
    let table = r#"
[[table]]
name = "wins"
title = "Wins"
kind = "wins"
tasks = ["explain"]

[[table]]
name = "two"
title = "Two"
kind = "two-scores"
tasks = ["explain"]
columns = ["A"]

[[table]]
name = "kinds"
title = "Kinds"
columns = [{ title = "A", score = "kind" }, { title = "B", groups = "kind" }]
"#;
    let error = load_benchmark(&wrong).unwrap_err().to_string();
    for what in [
        "did you mean \"judge\"?",
        "`scale` is the lowest and the highest",
        "unknown code \"nune\"\n  hint: did you mean \"none\"?",
        "did you mean \"first\"?",
        "unknown name \"Z\"",
        "did you mean \"kind\"?",
    ] {
        assert!(error.contains(what), "{what}\n{error}");
    }
    assert!(!error.contains("unknown key"), "what follows a mistake is none: {error}");
    let error = load_benchmark(&format!("{TASKS}{table}")).unwrap_err().to_string();
    for what in [
        "the answers to \"explain\" are not of the kind that this table measures",
        "`tasks` names 2 for a table of this kind",
        "`columns` has 3 headings",
        "`score` measures tasks with a `judge` that rates",
        "`all_of` names the parts of a group",
    ] {
        assert!(error.contains(what), "{what}\n{error}");
    }
    assert!(error.lines().filter(|line| line.starts_with("jokes/benchmark.toml:")).count() >= 5, "{error}");
}
