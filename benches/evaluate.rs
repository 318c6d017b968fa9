//! Twenty thousand replies read, scored and told, with 1,000 resamples behind each interval: FLUB's 834 texts in three
//! tasks by eight models, RuozhiBench-Gen's 677 questions by 17 models and three judges, RuozhiBench-MC's in both orders
//! by 15, BrainTeaser's 1,100 puzzles by 18.

use std::collections::BTreeMap;

use divan::{Bencher, black_box};
use riddlemill::evaluate::tables::{Book, report};
use riddlemill::evaluate::{Answer, Body, Item, Rating, RawAnswer, Set, Setting, Task, Variant, types};
use riddlemill::options::{Draw, LETTERS};
use riddlemill::release;
use riddlemill::review::agreement::Bootstrap;

fn main() {
    divan::main();
}

type Reply = (usize, RawAnswer, Vec<Rating>);

fn set(config: &str, bodies: impl Iterator<Item = (String, Body)>) -> Set {
    let items = bodies.map(|(id, body)| Item { record: id.clone(), id, body, paper: false }).collect();
    Set { config: config.into(), version: "bench".into(), items, draft: Vec::new(), withdrawn: 0 }
}

fn categories(at: usize) -> Vec<String> {
    let names = release::categories();
    vec![names[at % 6].to_string(), names[(at / 6 + 1) % 6].to_string()]
}

/// What models say about every task of a set: a line of reasoning, and a drawn choice.
fn replies(set: &Set, models: usize) -> Vec<Reply> {
    let mut replies = Vec::new();
    for model in 0..models {
        for task in Task::of_config(&set.config) {
            for (at, item) in set.items.iter().enumerate().filter(|(_, item)| item.takes(task)) {
                let mut draw = Draw::new(model as u64, task.name(), &item.id);
                let text = match task {
                    Task::GoodFirst | Task::BadFirst => {
                        format!("Let me think.\n<choice>Answer{}</choice>", LETTERS[draw.below(2)])
                    }
                    Task::Classify => types()[draw.below(8)].to_string(),
                    Task::Select | Task::Solve => format!("{}.", LETTERS[draw.below(4)]),
                    _ => "There is a false premise in it.".into(),
                };
                let scale = if task == Task::Explain { 10 } else { 5 };
                let judges = if task.is_choice() { 0 } else { 3 };
                let rating = |judge: usize, draw: &mut Draw| Rating {
                    judge: format!("judge {judge}"),
                    person: false,
                    value: draw.below(scale).to_string(),
                    basis: "bench".into(),
                };
                let ratings = (0..judges).map(|judge| rating(judge, &mut draw)).collect();
                let (model, basis) = (format!("model {model}"), "bench".into());
                let setting = Setting::default();
                replies.push((at, RawAnswer { task, setting, model, person: false, basis, text }, ratings));
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
            let mut answer = Answer::read(&set.items[*at], given.clone());
            answer.ratings.clone_from(ratings);
            answer
        };
        let answers: Vec<Answer> = replies.iter().map(read).collect();
        let bootstrap = Bootstrap { resamples: 1000, seed: 1, level: 0.95 };
        let book = Book::new(set, &answers, &[], BTreeMap::new(), bootstrap);
        black_box(report(&book, &BTreeMap::new()))
    });
}

#[divan::bench(sample_count = 3)]
fn flub(bencher: Bencher<'_, '_>) {
    let text = |at: usize| Body::Text {
        text: format!("第{at}句"),
        is_question: at.is_multiple_of(2),
        kind: Some(types()[at * at % 8].into()),
        explanation: "双关。".into(),
        options: LETTERS[..4].iter().map(ToString::to_string).collect(),
        answer: at % 4,
    };
    run(bencher, &set("flub", (0..834).map(|at| (format!("t{at}"), text(at)))), 8);
}

#[divan::bench(sample_count = 3)]
fn ruozhibench_gen(bencher: Bencher<'_, '_>) {
    let question = |at: usize| Body::Question {
        question: "Why?".into(),
        irrationality: "No reason.".into(),
        pair: (at < 510).then(|| "When?".into()),
        categories: categories(at),
    };
    run(bencher, &set("ruozhibench-gen", (0..677).map(|at| (format!("RB-{at}"), question(at)))), 17);
}

#[divan::bench(sample_count = 3)]
fn ruozhibench_mc(bencher: Bencher<'_, '_>) {
    let pair = |at: usize| Body::Pair {
        question: "Why?".into(),
        good: "It is not so.".into(),
        bad: "Because.".into(),
        good_first: at.is_multiple_of(2),
        categories: categories(at),
        rated: Vec::new(),
    };
    run(bencher, &set("ruozhibench-mc", (0..677).map(|at| (format!("RB-{at}"), pair(at)))), 15);
}

#[divan::bench(sample_count = 3)]
fn brainteaser(bencher: Bencher<'_, '_>) {
    let puzzle = |at: usize| {
        let group = format!("{}-{}", if at < 600 { "SP" } else { "WP" }, at / 3);
        let body = Body::Puzzle {
            question: "How?".into(),
            options: ["A boat.", "A bridge.", "Ice.", "None of above."].map(str::to_string).into(),
            answer: at % 4,
            group: group.clone(),
            variant: Variant::ALL[at % 3],
            word: at >= 600,
        };
        (format!("{group}{}", ["", "_SR", "_CR"][at % 3]), body)
    };
    run(bencher, &set("brainteaser", (0..1119).map(puzzle)), 18);
}
