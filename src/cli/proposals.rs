//! For reviews: the program's proposed picks, how well answers can be guessed so far, and items without
//! enough voters.

use std::collections::BTreeMap;

use super::exit::Failure;
use super::output::count;
use super::review_session::{ReviewSession, usage_failure};
use crate::config::sections;
use crate::review::ballot::AnswerKind;
use crate::review::{Annotator, Item, Task, Values, kept_off};
use crate::shortcuts::{Open, RuleShare, Shortcuts, propose_options};

/// The proposed picks, over all items of the step together, so that the right option cannot be guessed.
pub(super) fn propose_picks(room: &ReviewSession<'_>) -> Result<BTreeMap<String, Values>, Failure> {
    let picks = room.step.questions_of_round(room.round).into_iter().find_map(|field| match field.kind {
        AnswerKind::Pick { k, from, right_answer: Some(right_answer), .. } => {
            Some((field.name, k, from, right_answer))
        }
        _ => None,
    });
    let Some((name, k, from, beside)) = picks else {
        return Err(usage_failure(format!(
            "{} has no field whose picks become options next to the right one",
            room.step.name
        )));
    };
    let recipe = Some(room.step.recipe);
    let seed = room.config.typed_settings::<sections::Options>(recipe, "options").seed;
    let limit = room.config.typed_settings::<sections::Release>(recipe, "release").above_chance;
    let asked = room.step.shows.first().map(|(key, _)| *key).unwrap_or_default();
    let text = |item: &Item, key: &str| item.content.get(key).map(ToString::to_string).unwrap_or_default();
    let answered: Vec<(&Item, String, String, &[String])> = room
        .items
        .iter()
        .filter_map(|item| {
            Some((item, text(item, asked), text(item, beside), item.content.get(from)?.as_list()?))
        })
        .collect();
    let open: Vec<Open<'_>> = answered
        .iter()
        .map(|(item, question, right, candidates)| Open { id: &item.id, question, right, candidates })
        .collect();
    let mut proposed = BTreeMap::new();
    for ((item, ..), places) in answered.iter().zip(propose_options(&open, k, limit, seed)) {
        let mut numbers: Vec<usize> =
            places.iter().map(|place| item.stored_number(from, place + 1)).collect();
        numbers.sort_unstable();
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        proposed.insert(item.id.clone(), [(name, numbers)].into_iter().collect());
    }
    Ok(proposed)
}

/// How well answers can be guessed in the sets made so far, in one line.
pub(super) fn describe_shortcuts(figures: &Shortcuts) -> String {
    let percent = |share: RuleShare| {
        format!("{:.1} % [{:.1}, {:.1}]", 100.0 * share.value, 100.0 * share.low, 100.0 * share.high)
    };
    let classifier = figures.baseline.as_ref().map_or_else(
        || "too few for a classifier".to_owned(),
        |baseline| format!("a classifier of the options alone {}", percent(baseline.accuracy)),
    );
    format!(
        "{} so far: the right option is guessed (chance {:.0} %) as the longest {}, as the shortest {}, by {classifier}",
        count(figures.items as u64, "set"),
        100.0 * figures.lengths.longest.chance,
        percent(figures.lengths.longest),
        percent(figures.lengths.shortest)
    )
}

/// Open items that have fewer tasks than they need, by what keeps possible voters off.
#[derive(Default)]
pub(super) struct TaskShortage {
    /// Those whose authors may not vote on them.
    pub(super) by_authors: u64,
    /// Those that nobody is left to read, by language.
    pub(super) by_language: BTreeMap<String, u64>,
}

/// What lacks voters after these new tasks, among these people.
pub(super) fn lacking_voters(room: &ReviewSession<'_>, people: &[Annotator], new: &[Task]) -> TaskShortage {
    let cast = room.cast_tasks();
    let mut on: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let given = room.tasks.current_tasks(room.round).into_iter().chain(new).chain(&cast);
    given.for_each(|task| on.entry(&task.item).or_default().push(&task.annotator));
    let needed = room.step.votes_in(room.round);
    let off = kept_off(&room.items, &room.config.annotators);
    let mut lacking = TaskShortage::default();
    for (item, _) in room.seen_items().iter().filter(|(item, open)| *open && off.contains_key(&item.id)) {
        let voters = on.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        if voters.len() >= needed {
            continue;
        }
        // Somebody who is not named now may be left: then nothing is missing.
        let is_left = |person: &Annotator| {
            let may = person.may_vote(&room.step, room.round) && !person.is_kept_from(item);
            may && !voters.contains(&person.name.as_str())
        };
        match &item.language {
            _ if !item.written_by.is_empty() => lacking.by_authors += 1,
            Some(language) if !people.iter().any(is_left) => {
                *lacking.by_language.entry(language.clone()).or_default() += 1;
            }
            _ => {}
        }
    }
    lacking
}
