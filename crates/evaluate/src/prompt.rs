//! The values of a prompt: the item, and solved examples drawn for it.

use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::task::{self as declared, PackKey};
use serde_json::{Map, Value as Json};

use super::item::Item;
use super::task::{Setting, Task};
use crate::llm::prompt::{PromptError, Rendered};
use crate::llm::{Ask, Prompts};
use crate::options::{DrawStream, LETTERS};
use crate::record::derive_id;

/// The form of a choice in the paper's own wording (BrainTeaser A.2): the one that the model was trained on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A chat model's instruction.
    #[default]
    Chat,
    /// FlanT5: the template of the AI2 Reasoning Challenge.
    Arc,
    /// T0: the template of CommonsenseQA.
    CommonsenseQa,
}

impl Form {
    /// The form that a model is known to have been trained on, by its name.
    pub fn of_model(model: &str) -> Form {
        let model = model.to_lowercase();
        let parts: Vec<&str> = model.split(|c: char| !c.is_alphanumeric()).collect();
        if model.contains("flan") && model.contains("t5") {
            Form::Arc
        } else if parts.iter().any(|word| matches!(*word, "t0" | "t0p" | "t0pp")) {
            Form::CommonsenseQa
        } else {
            Form::Chat
        }
    }

    /// Its name in benchmark folders; the chat form has none.
    fn name(self) -> &'static str {
        match self {
            Form::Chat => "",
            Form::Arc => "arc",
            Form::CommonsenseQa => "commonsenseqa",
        }
    }
}

/// The request for one item. `form` only matters for the paper's own wording.
///
/// # Errors
/// [`PromptError`] if a workspace's own prompt uses an unknown value.
pub fn build_ask(
    prompts: &Prompts,
    item: &Item,
    task: Task,
    setting: Setting,
    shots: &[&Item],
    form: Form,
) -> Result<Ask, PromptError> {
    ask_with(prompts, item, task, setting, shots, form, &[])
}

/// The same with further values.
pub(super) fn ask_with(
    prompts: &Prompts,
    item: &Item,
    task: Task,
    setting: Setting,
    shots: &[&Item],
    form: Form,
    more: &[(&str, Json)],
) -> Result<Ask, PromptError> {
    let form = if item.paper { form } else { Form::Chat };
    let form = task.task_declaration().find_form(form.name());
    let declared = task.prompt_template(setting);
    let trouble = |trouble: ExpressionError| PromptError::Values {
        name: form.map_or(declared.default_prompt(), |form| form.template).to_owned(),
        what: trouble.to_string(),
    };
    let template = match form {
        Some(form) => form.template,
        None => declared.prompt_of_row(|| item.column_values()).map_err(trouble)?,
    };
    let mut values = prompt_values(item, task, shots, form).map_err(trouble)?;
    values.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let rendered: Rendered = prompts.render_prompt(template, values)?;
    Ok(Ask::new(record_of_request(item, task, setting), rendered, 0))
}

/// The key of the reply in a sample pack. A question and its normal one are two records, as for responses; so
/// are the two orders of a pair and each number of examples.
pub fn record_of_request(item: &Item, task: Task, setting: Setting) -> String {
    let record = match task.task_declaration().found {
        PackKey::Role(role) => derive_id(role, &[&item.record]),
        PackKey::Task => format!("{} {task}", item.record),
        PackKey::Record => item.record.clone(),
    };
    match setting.shots {
        0 => record,
        shots => format!("{record} {}", Setting::with_shots(shots)),
    }
}

/// Solved examples for an item: other items of the set, drawn by the seed and the item, so that the first two
/// of five are the two of two (FLUB 3.3: "randomly selected"). None is of the item's own group, which would
/// reveal its answer.
pub fn draw_shots(items: &[Item], at: usize, task: Task, shots: u8, seed: u64) -> Vec<&Item> {
    let others = items.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, other)| other);
    draw_comparable_items(others, &items[at], task, shots, seed)
}

/// Solved examples for an item from a split of their own, drawn as [`draw_shots`].
pub fn draw_examples<'i>(
    of_split: &'i [Item],
    item: &Item,
    task: Task,
    shots: u8,
    seed: u64,
) -> Vec<&'i Item> {
    draw_comparable_items(of_split.iter(), item, task, shots, seed)
}

fn draw_comparable_items<'i>(
    items: impl Iterator<Item = &'i Item>,
    item: &Item,
    task: Task,
    shots: u8,
    seed: u64,
) -> Vec<&'i Item> {
    let mut draw = DrawStream::new(seed, &format!("shots {task}"), &item.id);
    // An example of the item's own group would reveal its answer.
    let comparable = |one: &Item, other: &Item| {
        let kind = |item: &Item| item.question_of_task(task).and_then(|posed| posed.like.clone());
        one.group != other.group && kind(one) == kind(other)
    };
    let mut others: Vec<&Item> =
        items.filter(|other| other.has_task(task) && comparable(other, item)).collect();
    let wanted = usize::from(shots).min(others.len());
    let mut drawn = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        drawn.push(others.swap_remove(draw.draw_below(others.len())));
    }
    drawn
}

/// What is found about how the items of tasks are asked, such as that no prompt is in their language: each finding once, with
/// the number of its items.
///
/// # Errors
/// [`ExpressionError`] if a check of a task cannot be computed.
pub(super) fn list_findings(
    items: &[Item],
    tasks: &[(Task, Setting)],
) -> Result<Vec<String>, ExpressionError> {
    let mut counted: Vec<(Task, String, usize)> = Vec::new();
    let mut seen: Vec<Task> = Vec::new();
    for &(task, _) in tasks.iter().filter(|(task, _)| !task.task_declaration().checks.is_empty()) {
        if seen.contains(&task) {
            continue;
        }
        seen.push(task);
        for item in items.iter().filter(|item| item.has_task(task)) {
            for finding in task.task_declaration().compute_findings(&item.column_values())? {
                match counted.iter_mut().find(|(of, known, _)| (*of, known) == (task, &finding)) {
                    Some((.., count)) => *count += 1,
                    None => counted.push((task, finding, 1)),
                }
            }
        }
    }
    let line = |(task, finding, count): (Task, String, usize)| match count {
        1 => format!("1 item of {task}: {finding}"),
        _ => format!("{count} items of {task}: {finding}"),
    };
    Ok(counted.into_iter().map(line).collect())
}

/// Options with letters, as shown.
pub fn letter_options(options: &[String]) -> String {
    let lines: Vec<String> =
        options.iter().zip(LETTERS).map(|(option, letter)| format!("{letter}. {option}")).collect();
    lines.join("\n")
}

/// The values of the prompt. A form replaces some of the task's.
fn prompt_values(
    item: &Item,
    task: Task,
    shots: &[&Item],
    form: Option<&declared::PromptForm>,
) -> Result<Map<String, Json>, ExpressionError> {
    let mut values = Map::new();
    let posed = item.question_of_task(task).into_iter().flat_map(|posed| &posed.values);
    values.extend(posed.map(|(name, value)| ((*name).to_owned(), value.clone())));
    if let Some(form) = form {
        let own = declared::compute_values(&form.with, &item.column_values())?;
        values.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    if let Some(examples) = &task.task_declaration().shots {
        let mut solved = Vec::with_capacity(shots.len());
        for shot in shots {
            let columns = shot.column_values();
            let mut shown: Map<String, Json> = Map::new();
            for with in [Some(&examples.shows), form.map(|form| &form.shows)].into_iter().flatten() {
                let values = declared::compute_values(with, &columns)?;
                shown.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
            }
            solved.push(Json::Object(shown));
        }
        values.insert("shots".to_owned(), solved.into());
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{flub_type_names, puzzle_group, task_of_name, text_item};
    use super::*;

    /// Table 8: examples are of the same kind, and never of the same group.
    #[test]
    fn no_example_reveals_the_answer_of_its_own_group() {
        let items: Vec<Item> = (0..12).flat_map(|at| puzzle_group(at, at % 2 == 0, at % 4)).collect();
        let group_and_kind = |item: &Item| (item.group.clone(), item.is_of("word"));
        for (at, item) in items.iter().enumerate() {
            let drawn = draw_shots(&items, at, task_of_name("solve"), 8, 1);
            assert_eq!(drawn.len(), 8);
            assert!(drawn.iter().all(|shot| group_and_kind(shot).0 != group_and_kind(item).0
                && group_and_kind(shot).1 == group_and_kind(item).1));
            assert_eq!(draw_shots(&items, at, task_of_name("solve"), 4, 1), drawn[..4]);
        }
    }

    #[test]
    fn the_papers_own_wording_is_that_of_the_model() {
        let prompts = Prompts::load_prompts(None).unwrap().as_printed(true);
        let mut item = puzzle_group(0, false, 0).remove(0);
        item.paper = true;
        let prompt_text = |ask: Ask| match ask.what {
            crate::llm::RequestContent::Chat { messages, .. } => {
                messages.iter().map(|message| message.content.clone()).collect::<Vec<_>>().join("\n")
            }
            other => panic!("{other:?}"),
        };
        let sent = |model: &str, item: &Item| {
            let ask = build_ask(
                &prompts,
                item,
                task_of_name("solve"),
                Setting::default(),
                &[],
                Form::of_model(model),
            );
            prompt_text(ask.unwrap())
        };
        let flan = sent("google/flan-t5-xxl", &item);
        assert!(flan.starts_with("Question: How did he cross?\nWhat is the correct answer"), "{flan}");
        assert!(
            flan.ends_with("(A) A frozen river.\n(B) A boat.\n(C) A bridge.\n(D) None of above."),
            "{flan}"
        );
        let t0 = sent("bigscience/T0pp", &item);
        assert!(
            t0.starts_with("How did he cross?\nChoose the most suitable option")
                && t0.contains("\nA. A frozen")
        );
        let chat = sent("gpt-3.5-turbo", &item);
        assert!(chat.starts_with("Please pick the best choice for the brain teaser."), "{chat}");
        item.paper = false;
        let own = Prompts::load_prompts(None).unwrap();
        let asked =
            build_ask(&own, &item, task_of_name("solve"), Setting::default(), &[], Form::Arc).unwrap();
        assert!(
            prompt_text(asked).contains("What stands between tags"),
            "our own prompt_text are one for all"
        );
    }

    /// Examples for a question are questions, for a statement statements; if the paper's prompts do not
    /// distinguish them, examples are drawn from both.
    #[test]
    fn examples_are_of_the_kind_of_what_is_asked() {
        let items: Vec<Item> =
            (0..40).map(|at| text_item(at, at % 2 == 0, Some(flub_type_names()[0]), 0)).collect();
        let asks = |item: &Item| item.parts[0] == "question";
        let mut mixed = 0;
        for (at, item) in items.iter().enumerate() {
            let drawn = draw_shots(&items, at, task_of_name("explain"), 5, 1);
            assert_eq!(drawn.len(), 5);
            assert!(drawn.iter().all(|shot| shot.id != item.id && asks(shot) == asks(item)), "{}", item.id);
            let two = draw_shots(&items, at, task_of_name("explain"), 2, 1);
            assert_eq!(two, drawn[..2], "the first two of five are the two of two");
            mixed += usize::from(
                draw_shots(&items, at, task_of_name("select"), 5, 1)
                    .iter()
                    .any(|shot| asks(shot) != asks(item)),
            );
        }
        assert!(mixed > 30, "{mixed}");
    }
}
