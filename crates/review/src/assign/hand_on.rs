//! Gives the items of one annotator to others: of somebody who left, or whose votes no longer count.

use std::collections::BTreeSet;

use riddlemill_text::hint::unknown;

use super::{Annotator, AssignError, AssignSettings, Loads, Task, able_voters, draw_items, named_voters};
use crate::ballot::Ballot;

/// Gives the open tasks of `leaving` to others, and returns the new tasks, sorted. `is_open` returns whether a
/// task has no vote yet. No other tasks change; if nobody else may take an item, its task is left out.
///
/// # Errors
/// [`AssignError`] if nobody in the settings or with a task is called `leaving`, or one who is to get their tasks is unknown
/// or may not vote.
pub fn reassign_tasks(
    ballot: &Ballot,
    leaving: &str,
    people: &[Annotator],
    tasks: &[Task],
    is_open: impl Fn(&Task) -> bool,
    settings: &AssignSettings<'_>,
) -> Result<Vec<Task>, AssignError> {
    let round = settings.round;
    // Somebody who left may have left the settings, too.
    let known = people.iter().map(|person| &person.name).chain(tasks.iter().map(|task| &task.annotator));
    let known: BTreeSet<&str> = known.map(String::as_str).collect();
    if !known.contains(leaving) {
        return Err(AssignError::Unknown(unknown("annotator", leaving, known)));
    }
    let named = named_voters(ballot, people, settings)?;
    let able: Vec<&str> = named.into_iter().filter(|name| *name != leaving).collect();
    let mut loads = Loads::count_tasks(&able, tasks, round);
    loads.keep_off(settings.written_by);
    // Tasks stay in the list after they are moved, and must not be moved again.
    let moved: BTreeSet<&str> = tasks
        .iter()
        .filter(|task| task.instead_of.as_deref() == Some(leaving))
        .map(|task| task.item.as_str())
        .collect();
    let open = tasks.iter().filter(|task| {
        task.annotator == leaving
            && task.round == round
            && !task.gold
            && is_open(task)
            && !moved.contains(task.item.as_str())
    });
    let mut new = Vec::new();
    for item in draw_items(open.map(|task| task.item.as_str()), settings.seed) {
        if let Some(annotator) = loads.assign_item(item, settings.seed) {
            let instead_of = Some(leaving.to_owned());
            new.push(Task { item: item.to_owned(), annotator, round, instead_of, ..Task::default() });
        }
    }
    new.sort();
    Ok(new)
}

/// Gives items whose votes of `from` no longer count to others, each only if fewer others are on it than it needs, and
/// returns the new tasks, sorted. `tasks` include everybody's votes without a task.
pub fn hand_on(
    ballot: &Ballot,
    from: &str,
    items: &[&str],
    people: &[Annotator],
    tasks: &[Task],
    settings: &AssignSettings<'_>,
) -> Vec<Task> {
    let round = settings.round;
    let able: Vec<&str> =
        able_voters(ballot, people, settings).into_iter().filter(|name| *name != from).collect();
    let mut loads = Loads::count_tasks(&able, tasks, round);
    loads.keep_off(settings.written_by);
    let mut new = Vec::new();
    for item in draw_items(items.iter().copied(), settings.seed) {
        let others = loads.count_on_item(item) - usize::from(loads.is_on_item(item, from));
        if others >= ballot.votes_in(round) {
            continue;
        }
        if let Some(annotator) = loads.assign_item(item, settings.seed) {
            let instead_of = Some(from.to_owned());
            new.push(Task { item: item.to_owned(), annotator, round, instead_of, ..Task::default() });
        }
    }
    new.sort();
    new
}
