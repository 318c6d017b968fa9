//! What became of texts that are in no row of a set: every decision on the way, through merges, edits and votes.

use std::collections::BTreeMap;

use super::current_rows::CurrentRows;
use super::stopped::{Stopped, list_rowless};
use crate::audit::{Ending, RecordEnding, follow_fates as walk};
use crate::config::Config;
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::record::Entry;
use crate::search::{DumpRecord, Search};
use crate::store::Filter;
use crate::store::{Error, StageReader, Workspace, select_parts};
use crate::text::normalise::{Fold, fold};

/// The whole fate of each text in a recipe, in one line; `None` for one that is in no dump and no stage. Dumps and ledgers
/// are read once for all of them.
///
/// # Errors
/// [`RunError`] if a dump, a stage or an index of a dump cannot be read.
pub fn fates_of_texts(
    config: &Config,
    recipe: &'static Recipe,
    texts: &[&str],
) -> Result<Vec<Option<String>>, RunError> {
    let workspace = Workspace::new(&config.root);
    let mut found = Search::open(config)?.of_texts(texts)?;
    add_rewritten_records(&workspace, recipe, texts, &mut found)?;
    let records: Vec<DumpRecord> = found.iter().flatten().cloned().collect();
    let mut ways: Vec<Vec<String>> = records.iter().map(|_| Vec::new()).collect();
    let mut passed = |at: usize, stage: &str, entry: &Entry| ways[at].push(describe_entry(stage, entry));
    let ended = walk(&workspace, recipe, &records, &mut passed)?;
    let without_row = without_row(&workspace, recipe)?;
    let mut fates = Vec::new();
    let mut at = 0;
    for (text, of_text) in texts.iter().zip(&found) {
        let here = at..at + of_text.len();
        at = here.end;
        // Of several copies, the one that came furthest says what became of the text.
        let best = here.filter(|at| ended[*at].is_some()).min_by_key(|at| {
            (rank_ending(ended[*at].as_ref()), records[*at].verbatim.trim() != text.trim(), *at)
        });
        fates.push(match best {
            Some(at) => {
                ended[at].as_ref().map(|ended| describe_fate(&records[at], ended, &ways[at], &without_row))
            }
            None => of_text.first().map(|record| {
                format!("{}: no run of {} has read it: `riddlemill run`", record_name(record), recipe.name)
            }),
        });
    }
    Ok(fates)
}

/// In before waiting before out.
fn rank_ending(ended: Option<&RecordEnding>) -> u8 {
    match ended.map(|ended| ended.ending) {
        Some(Ending::In) => 0,
        Some(Ending::Waiting) => 1,
        _ => 2,
    }
}

fn record_name(record: &DumpRecord) -> String {
    match record.ids.first() {
        Some(id) => format!("{id} ({})", record.locator),
        None => record.locator.to_string(),
    }
}

/// `tieba:5 (titles/a.json:3): dedup merged near_duplicate into tieba:8: …; review:screen dropped rejected: …`.
fn describe_fate(
    record: &DumpRecord,
    ended: &RecordEnding,
    passages: &[String],
    without_row: &BTreeMap<String, String>,
) -> String {
    let mut way = passages.to_vec();
    match ended.ending {
        Ending::Out => {}
        Ending::Waiting if ended.outcome.is_some() => {}
        Ending::Waiting => way.push(format!("waits for {}, which has not been run", ended.stage)),
        Ending::In if without_row.contains_key(&ended.id) => way.push(without_row[&ended.id].clone()),
        Ending::In if way.is_empty() => way.push("kept, with another text in the set".into()),
        Ending::In => way.push("kept to the end".into()),
    }
    format!("{}: {}", record_name(record), way.join("; "))
}

/// `dedup merged near_duplicate into tieba:8: indel 0.91`.
pub(super) fn describe_entry(stage: &str, entry: &Entry) -> String {
    let mut text = format!("{stage} {}", entry.outcome);
    for (word, more) in [(" ", &entry.reason), (" into ", &entry.into), (": ", &entry.evidence)] {
        if let Some(more) = more.as_deref().filter(|more| *more != entry.id) {
            text.push_str(word);
            text.push_str(more);
            // A reason of the program is in the documentation, one of a folder is nowhere else.
            if word == " "
                && let Some(own) = riddlemill_benchmarks::find_reason(more)
            {
                text.push_str(&format!(" ({})", own.definition));
            }
        }
    }
    text
}

/// Adds the records of texts that are in no dump, but that a stage made of a record.
fn add_rewritten_records(
    workspace: &Workspace,
    recipe: &'static Recipe,
    texts: &[&str],
    found: &mut [Vec<DumpRecord>],
) -> Result<(), Error> {
    let mut wanted: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate().filter(|(at, _)| found[*at].is_empty()) {
        wanted.entry(fold(text, Fold::KEY)).or_default().push(at);
    }
    wanted.remove("");
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for step in recipe.steps_made(workspace)? {
        let Some(stage) = StageReader::open(&workspace.stage_folder(recipe.name, step.number, step.name))?
        else {
            break;
        };
        for part in select_parts::<Entry>(&stage, "ledger", Some(Filter::Present("after"))) {
            for entry in part? {
                let text = fold(entry.after.as_deref().unwrap_or_default(), Fold::KEY);
                let of_text = wanted.get(&text).into_iter().flatten();
                places.entry(entry.id).or_default().extend(of_text);
            }
        }
    }
    places.retain(|_, texts| !texts.is_empty());
    if places.is_empty() {
        return Ok(());
    }
    // Where the posts are that became these records.
    let Some(first) = recipe.steps().first() else { return Ok(()) };
    let Some(import) = StageReader::open(&workspace.stage_folder(recipe.name, 1, first.name))? else {
        return Ok(());
    };
    let ids = Filter::any_of("into", places.keys().map(String::as_str));
    for part in select_parts::<Entry>(&import, "ledger", Some(ids)) {
        for entry in part? {
            let Some((id, locator)) = entry.into.zip(entry.id.parse().ok()) else { continue };
            for at in places.get(&id).into_iter().flatten() {
                let record = DumpRecord {
                    locator: Clone::clone(&locator),
                    ids: vec![id.clone()],
                    text: String::new(),
                    verbatim: String::new(),
                };
                found[*at].push(record);
            }
        }
    }
    Ok(())
}

/// What is told of the records that reached the end of the recipe without becoming rows.
fn without_row(workspace: &Workspace, recipe: &'static Recipe) -> Result<BTreeMap<String, String>, Error> {
    let rows = CurrentRows::of_recipe(workspace, recipe);
    let Some(last) = rows.open_last_stage()? else { return Ok(BTreeMap::new()) };
    let words = |at: Stopped| match &at.says {
        Some(says) => format!("{} {} {}: {says}", at.stage, at.state, at.reason),
        None => format!("reached the end and is no row: {}", at.reason),
    };
    Ok(list_rowless(rows.end, &last, rows.row_numbers(&last)?)?
        .into_iter()
        .map(|(id, at)| (id, words(at)))
        .collect())
}
