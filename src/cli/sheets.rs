//! `review export` and `review import`: ballots as files, one or a whole set of them, and votes from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::args::{FormatArg, Global, RecipeArgs, ReviewArgs, RoundArg, SomePlace};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::review_session::{ReviewSession, io_failure, usage_failure};
use super::{proposals, trials};
use crate::config::Config;
use crate::decisions::missing_column;
use crate::pipeline::current_time;
use crate::report::BallotReceipt;
use crate::review::ballot::Round;
use crate::review::exchange::{BallotPlace, SheetRow, read_contents};
use crate::review::{
    Annotator, BallotSheet, Format, ImportSettings, Item, ItemIndex, Task, Vote, VoteTable, export_ballot,
    import_tables,
};
use crate::store::{self, Error, durable};

/// Writes one annotator's ballot of a step.
pub(super) fn write_ballot(
    room: &ReviewSession<'_>,
    annotator: &str,
    format: FormatArg,
    out: &Path,
    gold: Option<&Path>,
    proposing: bool,
    global: &Global,
) -> Result<Exit, Failure> {
    let known = |name: &str| room.config.annotators.iter().any(|person| person.name == name);
    if !annotator.is_empty() && !known(annotator) {
        return Err(usage_failure(output::unknown_annotator(room.config, annotator)));
    }
    let mine: Vec<&str> = room
        .tasks
        .current_tasks(room.round)
        .into_iter()
        .filter(|task| task.annotator == annotator)
        .map(|task| task.item.as_str())
        .collect();
    if let Some(told) = room.stopped_people()?.get(annotator).filter(|_| gold.is_none()) {
        return Err(usage_failure(told));
    }
    let mut gold = gold.map(|file| trials::read_gold_file(room, file)).transpose()?;
    if let Some(gold) = &mut gold {
        // A second trial on the same items would ask for what was learned from the first.
        let tried = trials::tried_items(room, annotator)?;
        let fresh = gold.iter().filter(|gold| !tried.contains(&gold.item.id)).count();
        if fresh >= crate::review::qualify::FEWEST {
            gold.retain(|gold| !tried.contains(&gold.item.id));
        } else if fresh < gold.len() {
            eprintln!(
                "note: {} of these {} {annotator} has answered in an earlier trial; {} known answers that are new to them make a new trial",
                gold.len() - fresh,
                count(gold.len() as u64, "item"),
                crate::review::qualify::FEWEST
            );
        }
    }
    let seen = room.seen_items();
    let wanted = |(item, open): &&(Item, bool)| match &gold {
        Some(gold) => gold.iter().any(|gold| gold.item.id == item.id),
        // Without assignments the annotator gets every open item.
        None if mine.is_empty() => *open,
        None => mine.contains(&item.id.as_str()),
    };
    let votes = room.by_item();
    let rows: Vec<(&Item, Option<&Vote>)> =
        seen.iter().filter(wanted).map(|(item, _)| (item, own_vote(room, &votes, item, annotator))).collect();
    let proposed = if proposing { Some(proposals::propose_picks(room)?) } else { None };
    let ballot = BallotSheet {
        step: &room.step,
        round: room.round,
        annotator,
        rows: &rows,
        seed: 0,
        proposed: proposed.as_ref(),
    };
    durable::create_folder(out)?;
    let mut written = Vec::new();
    for file in export_ballot(&ballot, as_format(format)).map_err(io_failure)? {
        let path = store::path_inside(out, &file.name)?;
        durable::replace_file(&path, &file.bytes)?;
        output::print_text(&format!("{}\n", path.display()))?;
        written.push(path.display().to_string());
    }
    if global.json {
        output::print_json(&serde_json::json!({ "files": written, "items": rows.len() }))?;
        return Ok(Exit::Done);
    }
    eprintln!("{}", count(rows.len() as u64, "item"));
    Ok(Exit::Done)
}

/// The annotator's own vote on an item.
fn own_vote<'v>(
    room: &ReviewSession<'_>,
    votes: &FxHashMap<&str, Vec<&'v Vote>>,
    item: &Item,
    annotator: &str,
) -> Option<&'v Vote> {
    let votes = votes.get(item.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    // A sample's vote in the sheet would look like an answer of the annotator.
    let people: Vec<&Vote> = votes.iter().copied().filter(|vote| !vote.synthetic).collect();
    let mut heads = crate::review::votes::current_votes(&people).into_iter();
    heads.find(|vote| vote.annotator == annotator && vote.round == room.round)
}

fn as_format(format: FormatArg) -> Format {
    match format {
        FormatArg::Csv => Format::Csv,
        FormatArg::Xlsx => Format::Xlsx,
        FormatArg::Jsonl => Format::Jsonl,
        FormatArg::LabelStudio => Format::LabelStudio,
    }
}

/// Writes everybody's ballots of every step: one folder per person, one file per step.
pub(super) fn write_all(
    config: &Config,
    place: &SomePlace,
    format: FormatArg,
    folder: &Path,
    global: &Global,
) -> Result<Exit, Failure> {
    let only = RecipeArgs { recipes: place.recipe.clone().into_iter().collect() };
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut totals: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for recipe in output::select_recipes(config, &only)? {
        for review in recipe.review_steps() {
            let step = review.benchmark_and_ballot().1.to_owned();
            let here = ReviewArgs { step, recipe: Some(recipe.name.to_owned()), round: place.round };
            let room = match ReviewSession::open(config, &here) {
                Ok(room) => room,
                // Items exist only once the stages before the review were made.
                Err(failure) => {
                    eprintln!("note: {} {}: no sheets: {}", recipe.name, here.step, failure.message);
                    continue;
                }
            };
            let (seen, votes) = (room.seen_items(), room.by_item());
            let stopped = room.stopped_people()?;
            stopped.values().for_each(|told| eprintln!("note: {told}"));
            for person in config.annotators.iter().filter(|person| !stopped.contains_key(&person.name)) {
                let rows = rows_of(&room, &seen, &votes, person);
                if rows.is_empty() {
                    continue;
                }
                let ballot = BallotSheet {
                    step: &room.step,
                    round: room.round,
                    annotator: &person.name,
                    rows: &rows,
                    seed: 0,
                    proposed: None,
                };
                let own = store::path_inside(folder, &person.name)?;
                for file in export_ballot(&ballot, as_format(format)).map_err(io_failure)? {
                    files.push((store::path_inside(&own, &file.name)?, file.bytes));
                }
                let total = totals.entry(&person.name).or_default();
                *total = (total.0 + 1, total.1 + rows.len() as u64);
            }
        }
    }
    // A sheet that somebody may have filled in is never written over.
    let others: Vec<String> = files
        .iter()
        .filter(|(path, bytes)| fs::read(path).is_ok_and(|there| there != *bytes))
        .map(|(path, _)| path.display().to_string())
        .collect();
    if let Some(first) = others.first() {
        return Err(usage_failure(format!(
            "{} would be written over, the first is {first}\n  hint: `riddlemill review import {}` stores what was filled in; then name another folder",
            count(others.len() as u64, "other file"),
            folder.display()
        )));
    }
    for (path, bytes) in &files {
        durable::create_folder(path.parent().unwrap_or(folder))?;
        durable::replace_file(path, bytes)?;
    }
    for (name, (sheets, items)) in &totals {
        output::print_text(&format!(
            "{}: {}, {}\n",
            folder.join(name).display(),
            count(*sheets, "sheet"),
            count(*items, "item")
        ))?;
    }
    if global.json {
        let person = |(name, (sheets, items)): (&&str, &(u64, u64))| serde_json::json!({ "annotator": name, "folder": folder.join(name).display().to_string(), "sheets": sheets, "items": items });
        output::print_json(&totals.iter().map(person).collect::<Vec<_>>())?;
    }
    if totals.is_empty() {
        eprintln!("note: nothing waits for anybody in this round, so no sheet was written");
    }
    Ok(Exit::Done)
}

/// What waits for a person in a step: their tasks, or everything open if nothing was assigned to anybody.
fn rows_of<'s>(
    room: &ReviewSession<'_>,
    seen: &'s [(Item, bool)],
    votes: &FxHashMap<&str, Vec<&'s Vote>>,
    person: &Annotator,
) -> Vec<(&'s Item, Option<&'s Vote>)> {
    if !person.may_vote(&room.step, room.round) {
        return Vec::new();
    }
    let tasks = room.tasks.current_tasks(room.round);
    let mine: BTreeSet<&str> =
        tasks.iter().filter(|task| task.annotator == person.name).map(|task| task.item.as_str()).collect();
    let everything = tasks.is_empty() && person.unread_languages(&room.step).is_empty();
    seen.iter()
        .filter(|(item, open)| mine.contains(item.id.as_str()) || (everything && *open))
        // Nobody votes on what they wrote themselves, or do not read.
        .filter(|(item, _)| !person.is_kept_from(item))
        .map(|(item, _)| (item, own_vote(room, votes, item, &person.name)))
        .collect()
}

/// One table of a file of votes.
struct Table {
    path: PathBuf,
    /// The worksheet, where the file has several.
    sheet: Option<String>,
}

/// Imports votes: files of a step, or files and folders whose sheets say which step they are of.
pub(super) fn import_sheets(
    config: &Config,
    place: &ReviewArgs,
    files: &[PathBuf],
    global: &Global,
) -> Result<Exit, Failure> {
    let first = PathBuf::from(&place.step);
    let is_step = output::select_recipes(config, &RecipeArgs::default())?.iter().any(|recipe| {
        recipe.find_review(place.step.strip_prefix("review:").unwrap_or(&place.step)).is_some()
    });
    let mut machine = Vec::new();
    let mut troubled = false;
    if first.exists() && (files.is_empty() || !is_step) {
        if let Some(recipe) = &place.recipe {
            return Err(usage_failure(format!(
                "every sheet says which recipe it is of, so --recipe {recipe} is not for a folder\n  hint: leave it out, or name the step before the file"
            )));
        }
        let named: Vec<PathBuf> = std::iter::once(first).chain(files.iter().cloned()).collect();
        for (place, tables) in sort_tables(&named, &mut troubled)? {
            let Some((recipe, step, round)) = place_arguments(&place) else {
                let (recipe, step, round) = &place;
                for table in &tables {
                    eprintln!("{}: `{round}` is not a round of {recipe} {step}", table.path.display());
                }
                troubled = true;
                continue;
            };
            let place = ReviewArgs { step, recipe: Some(recipe), round };
            match ReviewSession::open(config, &place) {
                Ok(room) => troubled |= take_votes(&room, &tables, global, &mut machine)?,
                Err(failure) => {
                    for table in &tables {
                        eprintln!("{}: not imported: {}", table.path.display(), failure.message);
                    }
                    troubled = true;
                }
            }
        }
    } else if files.is_empty() {
        return Err(usage_failure(format!(
            "{} is neither a file nor a folder, and no file is named\n  hint: `riddlemill review import {} FILE` imports a ballot of the step; `riddlemill review import DIR` imports a folder of sheets",
            place.step, place.step
        )));
    } else {
        let room = ReviewSession::open(config, place)?;
        let tables: Vec<Table> =
            all_files(files)?.into_iter().map(|path| Table { path, sheet: None }).collect();
        troubled = take_votes(&room, &tables, global, &mut machine)?;
    }
    if global.json {
        output::print_json(&machine)?;
    }
    Ok(if troubled { Exit::Partial } else { Exit::Done })
}

/// A place as the command line names it.
fn place_arguments((recipe, step, round): &BallotPlace) -> Option<(String, String, RoundArg)> {
    let round = match Round::from_name(round)? {
        Round::Vote => RoundArg::Vote,
        Round::Review => RoundArg::Review,
        Round::Adjudication => RoundArg::Adjudication,
    };
    Some((recipe.clone(), step.clone(), round))
}

/// The tables of files and folders by what they are ballots of; whatever is none is reported.
fn sort_tables(named: &[PathBuf], troubled: &mut bool) -> Result<BTreeMap<BallotPlace, Vec<Table>>, Failure> {
    let mut tables: BTreeMap<BallotPlace, Vec<Table>> = BTreeMap::new();
    for path in all_files(named)? {
        let name = path.display();
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        let found = match read_contents(&path.to_string_lossy(), &bytes) {
            Ok(found) => found,
            Err(trouble) => {
                eprintln!("{name}: {trouble}");
                *troubled = true;
                continue;
            }
        };
        if found.is_empty() {
            eprintln!("{name}: no vote was read: it has no table");
            *troubled = true;
        }
        for table in found {
            let at = table.sheet.as_ref().map(|sheet| format!(": sheet {sheet}")).unwrap_or_default();
            let mut places = table.places.into_iter();
            match (places.next(), places.next()) {
                (Some(place), None) => {
                    let table = Table { path: path.clone(), sheet: table.sheet };
                    tables.entry(place).or_default().push(table);
                }
                (None, _) => {
                    eprintln!("{name}{at}: no vote was read: no row names its recipe, step and round");
                    *troubled = true;
                }
                (Some(one), Some(other)) => {
                    eprintln!(
                        "{name}{at}: not imported: its rows are of {} {} {} and of {} {} {}; put each into a file or sheet of its own",
                        one.0, one.1, one.2, other.0, other.1, other.2
                    );
                    *troubled = true;
                }
            }
        }
    }
    Ok(tables)
}

/// The files, and those in the folders, in order; without what programs keep beside a sheet.
fn all_files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(Error::io("list", path))? {
            inside.push(entry.map_err(Error::io("list", path))?.path());
        }
        inside.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Locks of open workbooks, hidden files, and the labelling interface beside Label Studio's tasks.
            !name.starts_with("~$") && !name.starts_with('.') && !name.ends_with(".config.xml")
        });
        inside.sort();
        files.extend(all_files(&inside)?);
    }
    Ok(files)
}

/// Imports tables of one step, and returns whether anything in them was not.
fn take_votes(
    room: &ReviewSession<'_>,
    tables: &[Table],
    global: &Global,
    machine: &mut Vec<BallotReceipt>,
) -> Result<bool, Failure> {
    let seen = room.seen_items();
    let items: ItemIndex<'_> = seen.iter().map(|(item, _)| (item.id.as_str(), item)).collect();
    let assigned: Vec<Task> = room.tasks.current_tasks(room.round).into_iter().cloned().collect();
    let at = current_time();
    let settings = ImportSettings {
        step: &room.step,
        round: room.round,
        people: &room.config.annotators,
        assigned: &assigned,
        at: &at,
        synthetic: false,
    };
    let mut log = room.open_vote_log()?;
    let mut troubled = false;
    let paths: Vec<PathBuf> = tables.iter().map(|table| table.path.clone()).collect();
    let mut named: Vec<VoteTable> = Vec::with_capacity(tables.len());
    for Table { path, sheet } in tables {
        let bytes = fs::read(path).map_err(Error::io("read", path))?;
        named.push(VoteTable { file: output::short_name(path, &paths), bytes, sheet: sheet.clone() });
    }
    let names: Vec<String> = named.iter().map(|table| table.file.clone()).collect();
    let votes = room.by_item();
    for ((table, name), mut found) in tables.iter().zip(names).zip(import_tables(named, &items, &settings)) {
        let file = &table.path;
        troubled |= found.problems.iter().any(|problem| !problem.trouble.is_note());
        // A vote on an earlier text would take the place of one that counts.
        let mut beaten = Vec::new();
        let outdated: BTreeSet<_> = found.outdated.iter().copied().collect();
        found.votes.retain(|vote| {
            let item = items.get(vote.item.as_str()).filter(|_| outdated.contains(&vote.id));
            let counts = |item: &&&Item| {
                let head = own_vote(room, &votes, item, &vote.annotator);
                head.is_some_and(|head| head.content_hash == item.content_hash)
            };
            let is_beaten = item.filter(counts).is_some();
            beaten.extend(is_beaten.then(|| vote.item.clone()));
            !is_beaten
        });
        // Not `append`: a sheet older than the annotator's current vote would undo that vote.
        let mut receipt = log.append_sheet(found.votes).map_err(io_failure)?;
        receipt.late.extend(beaten);
        // Stored, but it will not count.
        let added = receipt.added.iter().filter(|id| !outdated.contains(id)).count();
        let outdated = receipt.outdated.len() + receipt.added.len() - added + found.misplaced;
        let changed = receipt.changed.min(added);
        troubled |= !receipt.late.is_empty();
        if !receipt.late.is_empty() {
            let rows = count(receipt.late.len() as u64, "row");
            let shown: Vec<&str> = receipt.late.iter().take(20).map(String::as_str).collect();
            eprintln!(
                "warning: {name}: {rows} not imported, because their annotator has voted since: {}\n  \
                 hint: `riddlemill review \
                 export` writes a ballot with the current votes; changes made there are imported",
                shown.join(", ")
            );
        }
        if !receipt.aside.is_empty() {
            troubled = true;
            let rows = count(receipt.aside.len() as u64, "row");
            eprintln!(
                "warning: {name}: {rows} not imported, because these votes were set aside\n  \
                 hint: `riddlemill review set-aside` lists the decisions and undoes them; on the pages the items can be voted on again"
            );
        }
        let mut problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        let refused = receipt.late.len() + receipt.aside.len();
        let given = added + receipt.known + outdated + refused;
        if given == 0 && found.rows == 0 && found.problems.iter().all(|problem| problem.trouble.is_note()) {
            problems.push(format!("{name}: no vote was read: there is no row of a ballot in it"));
            troubled = true;
        }
        problems.iter().for_each(|problem| eprintln!("{problem}"));
        if !global.json {
            output::print_text(&format!(
                "{name}: {}, {} added ({} changed), {} known, {} outdated, {} blank\n",
                count(found.rows as u64, "row"),
                added,
                changed,
                receipt.known,
                outdated,
                found.blank
            ))?;
        }
        machine.push(BallotReceipt {
            file: file.clone(),
            rows: found.rows,
            blank: found.blank,
            added,
            changed,
            known: receipt.known,
            outdated,
            late: receipt.late,
            set_aside: receipt.aside,
            problems,
        });
    }
    Ok(troubled)
}

/// What a table lacks to be one of these columns; `None` if nothing.
pub(super) fn no_table(
    name: &str,
    bytes: &[u8],
    rows: &[SheetRow],
    needed: &[&'static str],
) -> Result<Option<String>, Failure> {
    if let Some((column, columns)) = missing_column(name, bytes, rows, needed)? {
        // A file of JSON lines without a line has no keys.
        let there = match columns.is_empty() {
            true => "it has no rows".to_owned(),
            false => format!("its columns are {}", columns.join(", ")),
        };
        return Ok(Some(format!("{name}: no column `{column}`; {there}")));
    }
    Ok(rows.is_empty().then(|| format!("{name}: there is no row below the names of the columns")))
}
