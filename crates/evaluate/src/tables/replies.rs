//! What became of the replies that came: of models to each task, and of judges to what they rated.

use std::collections::BTreeMap;

use super::scores::ScoreBook;
use crate::answer::{NoAnswer, OF_A_REPLY};
use crate::ask::Missing;
use crate::figures::{Figure, Keys, Table, figure_row};
use crate::measures::percent;
use crate::task::{Setting, Task};

/// The columns beside a column of format errors, with what each counts.
pub const BESIDE: [(&str, NoAnswer); 3] =
    [("Cut", NoAnswer::Cut), ("Refused", NoAnswer::Refused), ("Unread", NoAnswer::Unread)];

/// Names of the columns beside `Format`, or beside `Format, selection`.
pub fn columns_beside_format(format: &str) -> impl Iterator<Item = String> + '_ {
    let of = format.strip_prefix("Format").unwrap_or_default();
    BESIDE.iter().map(move |(name, _)| format!("{name}{of}"))
}

/// The cells of those columns; `None` for what is no reply of an endpoint.
pub fn cells_beside(
    book: &ScoreBook<'_>,
    who: usize,
    tasks: &[Task],
    setting: Setting,
) -> impl Iterator<Item = Option<Figure>> {
    BESIDE.map(|(_, which)| book.without_answer(who, tasks, setting, which)).into_iter()
}

/// The table of replies; `None` if no endpoint was asked.
pub fn replies_table(book: &ScoreBook<'_>, missing: &[Missing]) -> Option<Table> {
    let mut rows = Vec::new();
    let tasks = Task::of_config(&book.set.config);
    for (who, task) in (0..book.who.len()).flat_map(|who| tasks.iter().map(move |task| (who, *task))) {
        let settings = book.settings_of_task(task);
        for &setting in &settings {
            let beside: Vec<Option<Figure>> = cells_beside(book, who, &[task], setting).collect();
            if beside.iter().all(Option::is_none) {
                continue;
            }
            let name = match settings.len() {
                1 => format!("{}, {task}", book.who[who].name),
                _ => format!("{}, {task}, {setting}", book.who[who].name),
            };
            rows.push(figure_row(name, [book.format_share(who, &[task], setting)].into_iter().chain(beside)));
        }
    }
    for ((judge, task), Counts { read, without }) in count_judge_replies(book, missing) {
        let n = read + without.iter().sum::<usize>();
        let keys = Keys::from([("judge", judge.clone()), ("task", task.to_string())]);
        let share = |count: usize| Some(Figure::without_interval(percent(count, n), n, keys.clone()));
        let cells = [read].into_iter().chain(without).map(share);
        rows.push(figure_row(format!("{judge}, ratings of {task}"), cells));
    }
    let columns = ["Format".to_owned()].into_iter().chain(columns_beside_format("Format"));
    (!rows.is_empty()).then(|| Table {
        name: "replies".into(),
        title: "Replies, percent".into(),
        about: "Of the replies that came: read, cut at the limit of tokens, refused by the model or a filter, and not \
                in the form that was asked for. They add up to 100."
            .into(),
        ..Table::of_figures("Model and task", columns, rows)
    })
}

/// Replies of one judge about one task.
#[derive(Default)]
struct Counts {
    read: usize,
    /// In the order of [`BESIDE`].
    without: [usize; 3],
}

fn count_judge_replies(book: &ScoreBook<'_>, missing: &[Missing]) -> BTreeMap<(String, Task), Counts> {
    let mut judges: BTreeMap<(String, Task), Counts> = BTreeMap::new();
    for answer in book.all_answers() {
        for rating in answer.ratings.iter().filter(|rating| rating.basis.starts_with(OF_A_REPLY)) {
            judges.entry((rating.judge.clone(), answer.task)).or_default().read += 1;
        }
    }
    for one in missing {
        let (Some(judge), Some(which)) = (&one.judge, one.no_answer) else { continue };
        let place = BESIDE.iter().position(|(_, known)| *known == which);
        let counts = judges.entry((judge.clone(), one.task)).or_default();
        place.into_iter().for_each(|place| counts.without[place] += 1);
    }
    judges
}
