//! Conversations: how many end in the solution, and after how many questions.

use super::scores::ScoreBook;
use crate::answer::Answer;
use crate::figures::{Figure, Keys, Table, figure_row};
use crate::task::Task;

/// A table of each task that is a conversation.
pub fn conversation_tables(book: &ScoreBook<'_>) -> Vec<Table> {
    let tasks = Task::of_config(&book.set.config).into_iter();
    tasks.filter_map(|task| conversations_of(book, task, task.conversation()?.turns)).collect()
}

fn conversations_of(book: &ScoreBook<'_>, task: Task, most: u32) -> Option<Table> {
    let mut rows = Vec::new();
    let settings = book.settings_of_task(task);
    for who in book.authors_of_tasks(&[task]) {
        for &setting in &settings {
            let Some(column) = book.answers_of_author(who, task, setting) else { continue };
            let turns = |counts: &dyn Fn(&Answer) -> bool| {
                let value = |answer: &Answer| answer.turns.filter(|_| counts(answer)).map(f64::from);
                let (units, n) = book.sum_by_unit(column, |_| true, value);
                let range = [0.0, f64::from(most)];
                Some(Figure::new(
                    book.resamples.estimate_ratio(&units, range)?,
                    1.0,
                    n,
                    book.keys_of_answers(who, task, setting),
                ))
            };
            let name = match settings.len() {
                1 => book.who[who].name.clone(),
                _ => format!("{}, {setting}", book.who[who].name),
            };
            let cells = vec![
                book.accuracy_of_author(who, task, setting, |_| true, Keys::new()),
                turns(&|answer| answer.correct == Some(true)),
                turns(&|_| true),
            ];
            rows.push(figure_row(name, cells));
        }
    }
    (!rows.is_empty()).then(|| Table {
        name: "conversations".into(),
        title: format!("Conversations, {task}"),
        paper: "none".into(),
        about: format!(
            "The share that is solved within {most} questions, in percent; the mean number of questions of the solved ones, and \
             of all."
        ),
        ..Table::of_figures("Model", ["Solved", "Questions until solved", "Questions"], rows)
    })
}
