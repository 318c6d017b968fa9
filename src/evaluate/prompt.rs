//! What a prompt is made of: the item, and solved examples drawn for it.

use serde_json::{Map, Value as Json, json};

use super::item::{Body, Item, types};
use super::task::{Setting, Task};
use crate::llm::prompt::{PromptError, Rendered};
use crate::llm::{Ask, Prompts};
use crate::options::{Draw, LETTERS};
use crate::record::derived;

/// The request for one item.
///
/// # Errors
/// [`PromptError`] where a workspace's own prompt asks for something else.
pub fn ask(
    prompts: &Prompts,
    item: &Item,
    task: Task,
    setting: Setting,
    shots: &[&Item],
) -> Result<Ask, PromptError> {
    let rendered: Rendered = prompts.render(task.template(setting), values(item, task, shots))?;
    Ok(Ask::new(about(item, task, setting), rendered, 0))
}

/// What a sample pack finds the reply by. A question and its normal one are two records, as when responses are
/// asked for; so are the two orders of a pair and each number of examples.
pub fn about(item: &Item, task: Task, setting: Setting) -> String {
    let record = match task {
        Task::AnswerNormal => derived("pair", &[&item.record]),
        Task::GoodFirst | Task::BadFirst | Task::Declared(_) => format!("{} {task}", item.record),
        _ => item.record.clone(),
    };
    match setting.shots {
        0 => record,
        shots => format!("{record} {}", Setting::shots(shots)),
    }
}

/// Solved examples for an item: others of the set, drawn by the seed and the item, so that the first two of five
/// are the two of two (FLUB 3.3: "randomly selected").
pub fn shots(items: &[Item], at: usize, task: Task, shots: u8, seed: u64) -> Vec<&Item> {
    let mut draw = Draw::new(seed, &format!("shots {task}"), &items[at].id);
    let like = |i: &usize| *i != at && items[*i].takes(task) && of_its_kind(task, &items[*i], &items[at]);
    let mut others: Vec<usize> = (0..items.len()).filter(like).collect();
    let wanted = usize::from(shots).min(others.len());
    let mut drawn = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        drawn.push(&items[others.swap_remove(draw.below(others.len()))]);
    }
    drawn
}

/// Whether one item may be an example for another: an explanation answers a question or explains a statement, and so do its
/// examples.
fn of_its_kind(task: Task, one: &Item, other: &Item) -> bool {
    match (task, &one.body, &other.body) {
        (Task::Explain, Body::Text { is_question: one, .. }, Body::Text { is_question: other, .. }) => {
            one == other
        }
        _ => true,
    }
}

/// Options as they are shown, a letter each.
pub fn lettered(options: &[String]) -> String {
    let lines: Vec<String> =
        options.iter().zip(LETTERS).map(|(option, letter)| format!("{letter}. {option}")).collect();
    lines.join("\n")
}

fn values(item: &Item, task: Task, shots: &[&Item]) -> Map<String, Json> {
    let mut values = Map::new();
    let mut put = |name: &str, value: Json| _ = values.insert(name.into(), value);
    match &item.body {
        Body::Question { question, pair, .. } => match (task, pair) {
            (Task::AnswerNormal, Some(pair)) => put("question", json!(pair)),
            _ => put("question", json!(question)),
        },
        Body::Pair { question, good, bad, .. } => {
            let (a, b) = if task == Task::GoodFirst { (good, bad) } else { (bad, good) };
            put("question", json!(question));
            put("answer_a", json!(a));
            put("answer_b", json!(b));
        }
        Body::Text { text, is_question, options, .. } => {
            put("text", json!(text));
            put("is_question", json!(is_question));
            put("options", json!(lettered(options)));
            put("candidates", json!(types().join("\n")));
            put("shots", shots.iter().filter_map(|shot| solved(shot)).collect());
        }
        Body::Joke { joke, .. } => put("joke", json!(joke)),
        Body::Declared { posed } => {
            let values = posed.get(task.name()).into_iter().flat_map(|posed| &posed.values);
            values.for_each(|(name, value)| put(name, json!(value)));
        }
        Body::Puzzle { question, options, .. } => {
            put("puzzle", json!(question));
            put("options", json!(lettered(options)));
        }
    }
    values
}

/// A solved example of FLUB's three tasks, as their prompts show it.
fn solved(item: &Item) -> Option<Json> {
    let Body::Text { text, options, answer, explanation, kind, .. } = &item.body else { return None };
    Some(json!({
        "text": text,
        "options": lettered(options),
        "answer": LETTERS[*answer],
        "analysis": explanation,
        "explanation": explanation,
        "reason": explanation,
        "type": kind.as_deref().unwrap_or_default(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::text;
    use super::*;

    /// A question is answered after questions, a statement explained after statements; where the paper's prompts do not
    /// part the two, examples are drawn from both.
    #[test]
    fn examples_are_of_the_kind_of_what_is_asked() {
        let items: Vec<Item> = (0..40).map(|at| text(at, at % 2 == 0, Some(types()[0]), 0)).collect();
        let asks = |item: &Item| item.parts()[0] == "question";
        let mut mixed = 0;
        for (at, item) in items.iter().enumerate() {
            let drawn = shots(&items, at, Task::Explain, 5, 1);
            assert_eq!(drawn.len(), 5);
            assert!(drawn.iter().all(|shot| shot.id != item.id && asks(shot) == asks(item)), "{}", item.id);
            let two = shots(&items, at, Task::Explain, 2, 1);
            assert_eq!(two, drawn[..2], "the first two of five are the two of two");
            mixed += usize::from(
                shots(&items, at, Task::Select, 5, 1).iter().any(|shot| asks(shot) != asks(item)),
            );
        }
        assert!(mixed > 30, "{mixed}");
    }
}
