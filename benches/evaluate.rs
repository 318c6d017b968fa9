//! Twenty thousand replies read, scored and reported, with 1,000 resamples for each interval: FLUB's 834
//! texts in three tasks by eight models, RuozhiBench-Gen's 677 questions by 17 models and three judges,
//! RuozhiBench-MC's in both orders by 15, BrainTeaser's 1,100 puzzles by 18.

use std::collections::BTreeMap;

use divan::{Bencher, black_box};
use riddlemill::evaluate::tables::{ScoreBook, Scores, compute_report};
use riddlemill::evaluate::{Answer, Item, Rating, RawAnswer, Set, Setting, Task};
use riddlemill::options::{DrawStream, LETTERS};
use riddlemill::review::agreement::Bootstrap;
use riddlemill::review::ballots;
use serde_json::{Value as Json, json};

fn main() {
    divan::main();
}

type Reply = (usize, RawAnswer, Vec<Rating>);

fn set(config: &str, rows: impl Iterator<Item = Json>) -> Set {
    let item = |row: Json| Some(Item::of_row(config, row.as_object()?).ok()?.0);
    let items = rows.filter_map(item).collect();
    let (draft, rows_hash) = (Vec::new(), String::new());
    Set {
        config: config.into(),
        version: "bench".into(),
        items,
        examples: Vec::new(),
        draft,
        withdrawn: 0,
        rows_hash,
        sample: None,
    }
}

fn categories(at: usize) -> Vec<String> {
    let names = ballots::option_names("ruozhibench-gen", "categories");
    vec![names[at % 6].to_string(), names[(at / 6 + 1) % 6].to_string()]
}

/// FLUB's types by their Chinese names, without Undefined.
fn types() -> Vec<&'static str> {
    let all = ballots::options_of_list("flub", "types");
    all.iter().filter(|kind| kind.code != "undefined").map(|kind| kind.label.zh).collect()
}

/// Replies of models to every task of a set: a line of reasoning, and a random choice.
fn replies(set: &Set, models: usize) -> Vec<Reply> {
    let mut replies = Vec::new();
    for model in 0..models {
        for task in Task::of_config(&set.config) {
            for (at, item) in set.items.iter().enumerate().filter(|(_, item)| item.has_task(task)) {
                let mut draw = DrawStream::new(model as u64, task.name(), &item.id);
                let text = match task.name() {
                    "good-first" | "bad-first" => {
                        format!("Let me think.\n<choice>Answer{}</choice>", LETTERS[draw.draw_below(2)])
                    }
                    "classify" => types()[draw.draw_below(8)].to_string(),
                    "select" | "solve" => format!("{}.", LETTERS[draw.draw_below(4)]),
                    _ => "There is a false premise in it.".into(),
                };
                let scale = if task.name() == "explain" { 10 } else { 5 };
                let judges = if task.is_choice() { 0 } else { 3 };
                let rating = |judge: usize, draw: &mut DrawStream| Rating {
                    judge: format!("judge {judge}"),
                    person: false,
                    value: draw.draw_below(scale).to_string(),
                    basis: "bench".into(),
                };
                let ratings = (0..judges).map(|judge| rating(judge, &mut draw)).collect();
                let (model, basis) = (format!("model {model}"), "bench".into());
                let setting = Setting::default();
                replies.push((
                    at,
                    RawAnswer { task, setting, model, person: false, sample: 0, basis, text },
                    ratings,
                ));
            }
        }
    }
    replies
}

fn run(bencher: Bencher<'_, '_>, set: &Set, models: usize) {
    let replies = replies(set, models);
    assert!(replies.len() >= 20_000, "{} replies", replies.len());
    bencher.bench_local(|| {
        let read = |(at, given, ratings): &Reply| {
            let mut answer = Answer::parse_raw(&set.items[*at], given.clone());
            answer.ratings.clone_from(ratings);
            answer
        };
        let answers: Vec<Answer> = replies.iter().map(read).collect();
        let bootstrap = Bootstrap { resamples: 1000, seed: 1, level: 0.95 };
        let book = ScoreBook::new(set, &answers, &[], BTreeMap::new(), bootstrap);
        black_box(compute_report(&book, &Scores::new()))
    });
}

#[divan::bench(sample_count = 3)]
fn flub(bencher: Bencher<'_, '_>) {
    let text = |at: usize| {
        json!({
            "id": format!("t{at}"),
            "text": format!("第{at}句"),
            "is_question": at.is_multiple_of(2),
            "type": types()[at * at % 8],
            "explanation": "双关。",
            "options": LETTERS[..4],
            "answer": LETTERS[at % 4],
        })
    };
    run(bencher, &set("flub", (0..834).map(text)), 8);
}

#[divan::bench(sample_count = 3)]
fn ruozhibench_gen(bencher: Bencher<'_, '_>) {
    let question = |at: usize| {
        json!({
            "id": format!("RB-{at}"),
            "question_en": "Why?",
            "irrationality": "No reason.",
            "pair": (at < 510).then_some("When?"),
            "category_names": categories(at),
        })
    };
    run(bencher, &set("ruozhibench-gen", (0..677).map(question)), 17);
}

#[divan::bench(sample_count = 3)]
fn ruozhibench_mc(bencher: Bencher<'_, '_>) {
    let pair = |at: usize| {
        json!({
            "id": format!("RB-{at}"),
            "question_en": "Why?",
            "options": ["It is not so.", "Because."],
            "answer": at % 2,
            "category_names": categories(at),
        })
    };
    run(bencher, &set("ruozhibench-mc", (0..677).map(pair)), 15);
}

#[divan::bench(sample_count = 3)]
fn brainteaser(bencher: Bencher<'_, '_>) {
    let puzzle = |at: usize| {
        let group = format!("{}-{}", if at < 600 { "SP" } else { "WP" }, at / 3);
        json!({
            "id": format!("{group}{}", ["", "_SR", "_CR"][at % 3]),
            "question": "How?",
            "choice_list": ["A boat.", "A bridge.", "Ice.", "None of above."],
            "label": at % 4,
        })
    };
    run(bencher, &set("brainteaser", (0..1119).map(puzzle)), 18);
}
