//! Answers that a set's rows hold already, with people's votes on them.

use serde_json::Value as Json;

use super::answer::{Answer, Rating, RawAnswer};
use super::item::Item;
use super::set::Set;
use super::task::{Setting, Task};

/// Adds the models' answers and people's votes in a release such as Chumor's: the paper's own figures. A new
/// answer with the same text gets the votes too.
pub(super) fn add_released_answers(set: &Set, tasks: &[Task], answers: &mut Vec<Answer>) {
    for task in Task::of_config(&set.config) {
        let Some(of) = task.task_declaration().released else { continue };
        if !tasks.is_empty() && !tasks.contains(&task) {
            continue;
        }
        for item in &set.items {
            let texts = |column: &str| -> Vec<String> {
                item.list_of_column(column)
                    .iter()
                    .filter_map(|text| text.as_str().map(str::to_owned))
                    .collect()
            };
            let votes =
                of.votes.map(|column| item.list_of_column(column).iter().filter_map(Json::as_u64).collect());
            let opponents = texts(of.models).into_iter().zip(texts(of.answers)).enumerate();
            for (at, (model, text)) in opponents {
                let votes = votes.each_ref().map(|counts: &Vec<u64>| counts.get(at).copied().unwrap_or(0));
                take_released(item, task, &model, &text, votes, answers);
            }
        }
    }
}

fn take_released(
    item: &Item,
    task: Task,
    model: &str,
    text: &str,
    votes: [u64; 3],
    answers: &mut Vec<Answer>,
) {
    let of_model = |answer: &&mut Answer| answer.item == item.id && answer.model == model;
    let at = match answers.iter_mut().find(of_model) {
        Some(answer) if answer.text.trim() != text.trim() => return,
        Some(answer) => answer,
        None => {
            let (model, text, basis) = (model.to_owned(), text.to_owned(), "release".into());
            let (setting, sample) = (Setting::default(), 0);
            let given = RawAnswer { task, setting, model, person: false, sample, basis, text };
            answers.push(Answer::parse_raw(item, given));
            let Some(answer) = answers.last_mut() else { return };
            answer
        }
    };
    let verdicts = ["human", "llm", "equal"].into_iter().zip(votes);
    let votes = verdicts.flat_map(|(verdict, n)| (0..n).map(move |_| verdict));
    at.ratings.extend(votes.enumerate().map(|(number, verdict)| Rating {
        judge: format!("vote {}", number + 1),
        person: true,
        value: verdict.into(),
        basis: "release".into(),
    }));
}
