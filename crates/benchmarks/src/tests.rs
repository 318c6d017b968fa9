use std::sync::Arc;

use minijinja::Value;

use super::*;
use crate::ballot::{Ballot, Round};

fn ballots() -> impl Iterator<Item = &'static Ballot> {
    all_benchmarks().iter().flat_map(|benchmark| &benchmark.ballots.steps)
}

#[test]
fn the_built_in_folders_have_no_problem() {
    let read = benchmark::load_benchmarks(&built_in_folders(), true);
    assert_eq!(read.map(|all| all.len()).map_err(|problems| problems.to_string()), Ok(5));
}

#[test]
fn codes_fit_in_a_cell_and_labels_are_bilingual() {
    let code = |code: &str| {
        code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
    assert!(all_benchmarks().iter().all(|benchmark| chinese(benchmark.about.zh)));
    for step in ballots() {
        assert!(step.examples.iter().all(|example| chinese(example.zh)), "{}", step.name);
        assert!(chinese(step.guideline.zh) && chinese(step.title.zh), "{}", step.name);
        for field in step.questions_of_round(Round::Adjudication) {
            assert!(code(field.name) && chinese(field.label.zh), "{}", field.name);
            for option in field.options() {
                assert!(code(option.code) && chinese(option.label.zh), "{}", option.code);
                assert!(!option.definition.en.is_empty() && chinese(option.definition.zh), "{}", option.code);
            }
        }
    }
}

/// Votes are permanent, so codes in votes must never be removed.
#[test]
fn codes_are_stable() {
    let mut lines = Vec::new();
    for step in ballots() {
        for round in Round::ALL {
            for field in step.questions_of_round(round) {
                let codes: Vec<&str> = field.options().iter().map(|option| option.code).collect();
                let (recipe, name, round) = (step.recipe, step.name, round.name());
                lines.push(format!("{recipe}/{name} {round} {}: {}", field.name, codes.join(" ")));
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

/// A small benchmark with many mistakes.
#[test]
fn every_problem_is_reported_at_once_with_its_place() {
    let benchmark = r#"about = "jokes"
steps = ["import", "clean", "clean", "review:scren", "draw", "explanation"]
promts = ["explanation"]
prompts = ["explain"]

[step.explanation]
kind = "draft"
for = "explanations"
from = ["filter"]

[step.draught]
kind = "drafts"

[data]
labels = ["kind"]
rests_on = ["screen"]
rests_when = { sceren = "id" }
columns = [
  { name = "joke", type = "txt", is = "text" },
  { name = "length", type = "integer", is = "text | lenght", about = "How long it is." },
  { name = "half", type = "number", is = "(length / 2", about = "Half of it." },
]
checks = [{ hold = "length > 0", says = "length: nothing" }]

[[compat]]
file = "jokes.json"
like = "joke.json"
[compat.back]
jokes = "text"
[compat.labels.jokes]
pun = 1

[paper]
set = "Jokes"
title = "Jokes"
authors = "A."
year = "2024"
url = "https://example.org"
key = "a2024"
biases = "Some."
"#;
    let ballots = r#"[every]
votes = -1
[[list.kinds]]
code = "pun"
label = { en = "pun", zh = "双关" }
means = { en = "Two meanings.", zh = "两个意思。" }

[ballot.screen]
title = { en = "Keep it?", zh = "保留吗？" }
guideline = { en = "Keep it.", ch = "保留。" }
paper = "none"
voters = ["junior", "seniors"]
drop = { when = "knd == 'none'", becuse = "'none'" }
[[ballot.screen.fields]]
name = "kind"
label = { en = "Kind", zh = "类型" }
kind = "choice"
options = "kind"
rule = "union"
else = "none"
[[ballot.screen.fields]]
name = "kind"
label = { en = "Kind", zh = "类型" }
kind = "chioce"
[[ballot.screen.fields]]
name = "why"
label = { en = "Why", zh = "理由" }
kind = "text"
when = { field = "verdict", write = ["no"] }
"#;
    let problems_of = |files: Vec<(&'static str, &'static str)>| match benchmark::load_benchmarks(
        &[("jokes", files)],
        true,
    ) {
        Ok(_) => "no problem".to_owned(),
        Err(problems) => problems.to_string(),
    };
    let leak = |text: &str| reader::leak_text(text);
    insta::assert_snapshot!(
        "ballots",
        problems_of(vec![
            ("benchmark.toml", leak("about = \"jokes\"\nsteps = [\"import\"]\n[paper]\nlike = \"joke\"\n")),
            ("ballots.toml", leak(ballots)),
        ])
    );
    insta::assert_snapshot!(
        "benchmark",
        problems_of(vec![
            ("benchmark.toml", leak(benchmark)),
            ("ballots.toml", ""),
            ("prompts/explanation.jinja", "{{ text }}"),
        ])
    );
    insta::assert_snapshot!("no_toml", problems_of(vec![("benchmark.toml", "about = \n")]));
    insta::assert_snapshot!("nothing", problems_of(vec![]));
}

#[test]
fn a_ballot_names_the_columns_that_its_records_have() {
    let benchmark = "about = \"jokes\"\nrecords = \"jokes\"\nsteps = [\"import\", \"review:explanation\"]\n";
    let ballots = r#"[ballot.explanation]
title = "Why is it funny?"
guideline = "Say why."
shows = [{ key = "joke", is = "txt", label = "Joke" }]
keeps = { explanaton = "said.explanation", votes = "given | codes('explanation') if opponent" }
passes = { when = "text", lacks = "no_answer" }
[[ballot.explanation.fields]]
name = "explanation"
label = "Why"
kind = "text"
"#;
    let problems_of = |benchmark: &str, ballots: &str| {
        let files = vec![
            ("benchmark.toml", reader::leak_text(benchmark)),
            ("ballots.toml", reader::leak_text(ballots)),
        ];
        benchmark::load_benchmarks(&[("jokes", files)], true)
            .map(|_| ())
            .map_err(|problems| problems.to_string())
    };
    let reason = problems_of(benchmark, ballots).unwrap_err();
    assert!(reason.contains("jokes/ballots.toml:6:") && reason.contains("\"no_answer\""), "{reason}");
    let known = ballots.replace("no_answer", "answer_missing");
    let columns = problems_of(benchmark, &known).unwrap_err();
    for (place, hint) in [
        ("jokes/ballots.toml:4:", "unknown column \"txt\"\n  hint: did you mean \"text\"?"),
        ("jokes/ballots.toml:5:", "unknown column \"explanaton\"\n  hint: did you mean \"explanation\"?"),
        ("jokes/ballots.toml:5:", "unknown column \"opponent\"\n  hint: did you mean \"opponents\"?"),
    ] {
        let line = columns.split("jokes/").find(|line| line.contains(hint)).unwrap_or(&columns);
        assert!(format!("jokes/{line}").starts_with(place), "{place} {columns}");
    }
    let right = known.replace("\"txt\"", "\"text\"").replace("explanaton", "explanation");
    assert_eq!(problems_of(benchmark, &right.replace(" if opponent\"", "\"")), Ok(()));
    let kind = problems_of(&benchmark.replace("\"jokes\"\nsteps", "\"joke\"\nsteps"), &right).unwrap_err();
    assert!(kind.contains("unknown kind of records \"joke\"\n  hint: did you mean \"jokes\"?"), "{kind}");
}

/// The value of an expression without variables.
fn computed(source: &'static str) -> Value {
    let read = Expression::parse(
        expression::build_language(choice::Lists::new(), &Arc::default()),
        "here".into(),
        source,
    );
    read.unwrap().compute_value(&Value::from(())).unwrap()
}

#[test]
fn what_is_no_draft_is_reported_alone_and_by_number() {
    assert_eq!(computed("unusable('云会恐高吗？', '……')").as_str(), Some("says nothing"));
    assert!(computed("unusable('云会恐高吗？', 'Are clouds afraid?')").is_none());
    assert!(computed("unusable('云会恐高吗？', none)").is_none());
    assert_eq!(value::texts_of_value(&computed("unusable('云', ['甲', '……'])")), ["number 2 says nothing"]);
}

#[test]
fn measures_take_what_is_not_there_for_nothing() {
    assert_eq!(computed("words(none) + sentences('先说一句。再说一句。')").as_usize(), Some(2));
    assert_eq!(computed("opening(' Yes, it is.', ['no,', 'yes,'])").as_str(), Some("yes,"));
    assert!(computed("opening('Perhaps.', ['no,', 'yes,'])").is_none());
    assert!(computed("likeness('Why?', 'WHY?') == 1 and likeness(none, 'Why?') == 0").is_true());
    assert!(value::texts_of_value(&computed("lost_in_translation('3个人', none)")).is_empty());
    assert_eq!(
        value::texts_of_value(&computed("lost_in_translation('3个人', 'People')")),
        ["the number 3 is lost"]
    );
}

#[test]
fn repetitions_are_found() {
    assert_eq!(
        value::texts_of_value(&computed(
            "repetitions('对。', ['甲', '乙', '甲！', '对'], 'the explanation')"
        )),
        ["number 3 says the same as number 1", "number 4 is the explanation"]
    );
}

#[test]
fn a_distractor_overturns_another_premise_than_the_answer() {
    assert_eq!(
        value::texts_of_value(&computed(
            "premise_faults(['A.', 'B.', 'C.'], ['1', '0', '7'], ['p', 'q'], 0)"
        )),
        ["\"B.\" overturns the premise that the answer overturns", "\"C.\" overturns no premise of the list"]
    );
    assert!(value::texts_of_value(&computed("premise_faults(['A.'], none, [], none)")).is_empty());
}

/// What decided about a column that changed is found by what it is made of, not by its name.
#[test]
fn the_steps_of_a_column_follow_from_the_declarations() {
    let steps = |benchmark: &str, column: &str| find_benchmark(benchmark).unwrap().steps_of_column(column);
    assert_eq!(steps("ruozhibench-gen", "question_en"), ["review:translation"]);
    assert_eq!(steps("ruozhibench-gen", "translation_status"), ["review:translation"]);
    assert_eq!(steps("ruozhibench-gen", "category_names"), ["review:category"]);
    assert_eq!(steps("flub", "type"), ["review:type", "review:final"]);
    assert_eq!(steps("flub", "wrong_from"), ["review:wrong-candidates"]);
    assert!(steps("flub", "nothing").is_empty());
}
