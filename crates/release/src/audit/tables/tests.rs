//! Reports by declaration: small benchmarks, their records, and what is shown of them.

use riddlemill_benchmarks::{Benchmark, benchmark};
use serde_json::{Map, Value as Json, json};

use super::source::Source;
use super::{Report, report};
use crate::config::Config;

/// Rated answers stand behind its second step, as in the recipe that lends its steps.
const BENCHMARK: &str = r#"about = "jokes"
steps = ["respond", "judge", "options"]
[step.respond]
kind = "draft"
[step.judge]
kind = "draft"
[step.options]
kind = "options"
[fields]
shown = "[right] + wrong"
[data]
about = "A joke."
labels = ["kind"]
columns = [
  { name = "id", type = "text", is = "id", about = "The id." },
  { name = "kind", type = "text", is = "kind", values = ["pun", "none"], about = "Its kind." },
  { name = "text", type = "text", is = "text", about = "The joke." },
  { name = "score", type = "number", is = "score", about = "Its score." },
]
"#;

const BALLOTS: &str = r#"[[list.kinds]]
code = "pun"
label = { en = "Pun", zh = "双关" }
means = { en = "Two meanings.", zh = "两个意思。" }
[[list.kinds]]
code = "none"
label = { en = "None", zh = "无" }
means = { en = "No kind.", zh = "没有类别。" }
"#;

fn objects(rows: Json) -> Vec<Map<String, Json>> {
    serde_json::from_value(rows).unwrap()
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// The report of these records at the end, and of these rated answers.
fn report_of(declared: &str, records: Json, answers: Json) -> Report {
    report_over(BENCHMARK, declared, records.clone(), answers, records)
}

/// The same of a benchmark with these items.
fn report_over(benchmark: &str, declared: &str, records: Json, answers: Json, items: Json) -> Report {
    let benchmark = leaked(benchmark);
    let files =
        vec![("benchmark.toml", benchmark), ("ballots.toml", BALLOTS), ("report.toml", leaked(declared))];
    let read = benchmark::load_benchmarks(&[("jokes", files)], false).unwrap();
    let benchmark: &'static Benchmark = Box::leak(Box::new(read.into_iter().next().unwrap()));
    let recipe = crate::recipe::find_recipe("ruozhibench-mc").unwrap();
    let (config, items) = (Config::defaults(), objects(items));
    let steps = vec![(2, objects(answers)), (3, objects(records))];
    report(&Source::from_records(&config, recipe, benchmark, steps, items)).unwrap()
}

fn shown(report: &Report) -> String {
    format!("{}\n{}", report.text, serde_json::to_string_pretty(&report.figures).unwrap())
}

fn jokes() -> Json {
    json!([
        { "id": "a", "kind": "pun", "text": "A joke.", "marks": ["x", "y"], "score": 1.0, "asks": true,
          "tally": { "1": 0, "2": 3 }, "right": "Yes.", "wrong": ["No.", "Perhaps."] },
        { "id": "b", "kind": "pun", "text": "Another joke.", "marks": ["y"], "score": 2.5, "asks": false,
          "tally": { "1": 1, "2": 2 }, "right": "So.", "wrong": ["Not so.", "Hardly."] },
        { "id": "c", "kind": "other", "text": "", "marks": [], "score": null, "asks": null,
          "tally": null, "right": "There.", "wrong": ["Here.", "Nowhere at all."] },
    ])
}

#[test]
fn numbers_are_in_headings_or_in_lines() {
    let report = report_of(
        r#"[[figure]]
kind = "numbers"
title = "{{ jokes }} jokes, {{ scored | fixed(1) }} the mean score{% if longest %}, at most {{ longest.max }} characters{% endif %}"
line = ""
numbers = [
  { name = "jokes", count = "true" },
  { name = "scored", mean = "score" },
  { name = "longest", lengths = "text | length" },
]
[[figure]]
kind = "numbers"
numbers = [
  { name = "questions", label = "that ask", share = "asks" },
  { name = "none", mean = "nothing" },
  { name = "texts", label = "length", lengths = "text | length if text" },
  { name = "nothing", lengths = "nothing" },
]
[[figure]]
kind = "numbers"
among = "kind == 'pun'"
line = "{% if value > 1 %}{{ label }}: {{ value }}{% endif %}"
numbers = [{ name = "puns", count = "true" }, { name = "asked", count = "asks" }]
"#,
        jokes(),
        json!([]),
    );
    insta::assert_snapshot!(shown(&report));
}

#[test]
fn values_are_counted_by_option_by_column_or_by_frequency() {
    let report = report_of(
        r#"[[figure]] # what is in no list is not counted
name = "kinds"
kind = "counts"
by = "kind"
list = "kinds"
keys = { name = "label_zh", jokes = "count" }
[[figure]]
name = "marks"
kind = "counts"
title = ""
by = "marks"
[[figure]]
name = "most"
kind = "counts"
by = "marks + [kind]"
most = 1
[[figure]]
name = "sides"
kind = "counts"
by = { good = "right", bad = "wrong" }
among = "id == 'a'"
line = "{{ value | left(10) }}{{ good | right(3) }}{{ bad | right(3) }}"
[[figure]]
name = "scores"
kind = "bars"
of = "score"
from = 0
to = 3
wide = 1
[[figure]]
name = "votes"
kind = "votes"
of = "tally"
"#,
        jokes(),
        json!([]),
    );
    insta::assert_snapshot!(shown(&report));
}

#[test]
fn a_figure_of_parts_has_a_column_or_a_table_for_each() {
    let report = report_of(
        r#"[part.kinds]
key = "kind"
of = "kind"
values = ["pun", "other"]
[[figure]]
part = "kinds"
kind = "numbers"
title = "by kind"
numbers = [{ name = "jokes", count = "true" }, { name = "score", mean = "score" }]
[[figure]]
part = "kinds"
name = "statistics"
kind = "puzzle-statistics"
question = "text"
answer = "right"
options = "shown"
[[figure]]
part = "kinds"
name = "kept"
kind = "words-kept"
label = "words kept"
text = "text"
group = "kind"
from = "id == 'a'"
to = "id == 'b'"
[[figure]]
part = "kinds"
name = "marks"
kind = "counts"
title = "{% if value %}marks of {{ kind }}{% endif %}"
by = "marks"
"#,
        jokes(),
        json!([]),
    );
    insta::assert_snapshot!(shown(&report));
}

#[test]
fn rates_are_of_what_was_voted_on() {
    let joke = |votes: &str, verdict: &str, errors: &str| json!({ "opponents": ["m"], "votes": [votes], "verdicts": [verdict], "errors": [errors] });
    let report = report_of(
        r#"[[figure]]
name = "opponents"
kind = "wins"
opponents = "opponents"
verdicts = "verdicts"
votes = "votes"
marks = "errors"
shares = { human = "human", llm = "llm", ties = "equal", undecided = "undecided" }
[[figure]]
kind = "lines"
of = "opponents | selectattr('marked') | list"
title = "{% if value %}marks{% endif %}"
line = "{{ opponent }}: {{ marks | map(attribute='code') | join(', ') }}"
"#,
        json!([
            joke("human human human", "human", "pun context"),
            joke("human human equal", "human", "none"),
            joke("human llm equal", "undecided", ""),
            joke("llm llm equal", "llm", ""),
            joke("", "", ""),
        ]),
        json!([]),
    );
    let one = &report.figures["opponents"][0];
    // (1 + 1/3 + 0 + 1/3) / 4.
    assert!((one["agreement"].as_f64().unwrap() - 41.666_666).abs() < 1e-3);
    insta::assert_snapshot!(shown(&report));
}

#[test]
fn ratings_are_read_from_another_step() {
    let answer = |id: &str, question: &str, normal: bool, model: &str, ratings: [&str; 3]| {
        json!({ "id": id, "question": question, "normal": normal, "model": model,
                "judges": ["a", "b", "a"], "ratings": ratings })
    };
    let report = report_of(
        r#"[[figure]]
kind = "numbers"
step = "judge"
numbers = [{ name = "answers", count = "not normal" }]
[[figure]] # later ratings of a judge are repeats
name = "judges"
kind = "judge-pairs"
step = "judge"
among = "not normal"
[[figure]]
name = "ratings"
kind = "ratings"
step = "judge"
[[figure]]
name = "means"
kind = "scores-by-part"
step = "judge"
among = "not normal"
parts = "marks"
"#,
        jokes(),
        json!([
            answer("1", "a", false, "m", ["1", "2", "3"]),
            answer("2", "b", false, "m", ["0", "4", "none"]),
            answer("3", "a", false, "n", ["4", "4", "4"]),
            answer("4", "a", true, "n", ["4", "4", "4"]),
        ]),
    );
    insta::assert_snapshot!(shown(&report));
}

/// A question that did not become an item counts in no score, as in an evaluation of the set.
#[test]
fn scores_are_of_the_questions_that_are_items() {
    let column = "{ name = \"source_id\", type = \"text\", is = \"id\", about = \"The record.\" },\n";
    let last = "about = \"Its score.\" },\n";
    let benchmark = BENCHMARK.replace(last, &format!("{last}  {column}"));
    let rated = |id: &str, question: &str, rating: &str| json!({ "id": id, "question": question, "normal": false, "model": "m", "judges": ["a"], "ratings": [rating] });
    let report = report_over(
        &benchmark,
        r#"[[figure]]
name = "means"
kind = "scores-by-part"
step = "judge"
parts = "marks"
"#,
        jokes(),
        json!([rated("1", "a", "4"), rated("2", "b", "0"), rated("3", "c", "3")]),
        json!([{ "id": "i-1", "source_id": "a" }, { "id": "i-3", "source_id": "c" }]),
    );
    // The second has parts and is no item, the third is one without parts.
    let of = |category: Option<&str>, questions: u32, score: f64| json!({ "model": "m", "category": category, "questions": questions, "score": score });
    let expected = json!([of(None, 2, 87.5), of(Some("x"), 1, 100.0), of(Some("y"), 1, 100.0)]);
    assert_eq!(report.figures["means"], expected);
}

#[test]
fn what_may_be_guessed_is_measured_of_records_that_are_choices() {
    let report = report_of(
        r#"[[figure]]
name = "shortcuts"
kind = "shortcuts"
question = "text"
options = "shown"
gold = "0 if text else none"
[[figure]] # nothing is posed
name = "of_items"
kind = "shortcuts"
"#,
        jokes(),
        json!([]),
    );
    assert_eq!(report.figures["shortcuts"]["items"], 2, "one of the three has no right answer");
    assert_eq!(report.figures["shortcuts"]["positions"]["counts"], json!([2, 0, 0]));
    assert!(report.text.starts_with("  what can be guessed of 2 items"), "{}", report.text);
    assert_eq!(report.figures["of_items"], Json::Null);
}

#[test]
fn columns_of_the_items_are_counted_without_labels() {
    let report = report_of(
        r#"[[figure]]
kind = "numbers"
title = "{{ records }} records, {{ items }} items"
line = ""
numbers = [{ name = "records", count = "true" }, { name = "items", items = true }]
[[figure]]
name = "labels"
kind = "labels"
[[figure]]
name = "figures"
kind = "columns"
"#,
        jokes(),
        json!([]),
    );
    insta::assert_snapshot!(shown(&report));
}
