//! `review carry`: votes on texts that have changed, and carrying them over.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::args::Global;
use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::review_session::{ReviewSession, io_failure, usage_failure};
use super::sheets::no_table;
use super::show::both_sides;
use super::terminal::{HANG, visible_line};
use crate::decisions::{CellsByColumn, DecisionColumns, read_table, write_table};
use crate::pipeline::{current_time, decide::check_entitled};
use crate::report::{CarryReport, TableReceipt};
use crate::review::Vote;
use crate::review::carry::{
    CarryError, Carryable, Outdated, SeenLog, carry_votes, find_carryable, take_back,
};
use crate::review::votes::Carried;
use crate::store::{Error, Workspace, durable};

/// The table of votes to carry over: a row for each item and text.
const COLUMNS: DecisionColumns = DecisionColumns {
    sheet: "carry",
    names: &["item", "see.old", "see.new", "see.votes", "carry", "why", "old", "new"],
    asked: &["carry", "why"],
    texts: &["see.old", "see.new", "see.votes"],
    choice: ("carry", &["yes", "no"]),
};

/// Who confirms that the answers still apply, and why.
pub(super) struct CarryConfirmation<'a> {
    pub(super) by: &'a str,
    pub(super) why: &'a str,
}

impl CarryConfirmation<'_> {
    /// The confirmation for the votes, if the person is entitled.
    fn confirm_entitled(&self, room: &ReviewSession<'_>, why: &str) -> Result<Carried, Failure> {
        check_entitled(room.config, self.by)?;
        match why.trim() {
            "" => Err(usage_failure("carrying votes over needs a reason\n  hint: --why \"…\"")),
            why => Ok(Carried { by: self.by.to_owned(), why: why.to_owned() }),
        }
    }
}

fn open_seen_log(room: &ReviewSession<'_>) -> Result<SeenLog, Failure> {
    let seen = SeenLog::read_folder(&Workspace::new(&room.config.root).raw_folder().join("seen"))?;
    seen.damaged().iter().for_each(|damaged| eprintln!("{damaged}; it is not used"));
    Ok(seen)
}

pub(super) fn list_carryable(room: &ReviewSession<'_>, global: &Global) -> Result<Exit, Failure> {
    let (seen, votes) = (open_seen_log(room)?, room.by_item());
    let found = find_carryable(&room.step, &room.items, &votes, &seen);
    if global.json {
        output::print_json(&CarryReport::from(&found))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for one in &found.items {
        text.push_str(&format!("{}\n", one.item.id));
        for (key, old, new) in one.changed_fields() {
            text.push_str(&both_sides(&format!("{key}, old"), &old, &format!("{key}, new"), &new));
        }
        for line in one.vote_lines() {
            text.push_str(&format!("  {HANG}{}\n", visible_line(&line)));
        }
    }
    text.push_str(&summarise_carryable(&found));
    output::print_text(&text)?;
    Ok(Exit::Done)
}

fn summarise_carryable(found: &Carryable<'_>) -> String {
    let votes: usize = found.items.iter().map(|one| one.votes.len()).sum();
    let items = count(found.items.len() as u64, "item");
    let mut text = format!("{items} with {}\n", count(votes as u64, "outdated vote"));
    if found.unknown > 0 {
        text.push_str(&format!(
            "{} on a text that was not stored: have them voted on again\n",
            count(found.unknown as u64, "more vote")
        ));
    }
    text
}

pub(super) fn confirm_votes(
    room: &ReviewSession<'_>,
    items: &[String],
    act: &CarryConfirmation<'_>,
) -> Result<Exit, Failure> {
    let (seen, votes) = (open_seen_log(room)?, room.by_item());
    let by = act.confirm_entitled(room, act.why)?;
    let found = find_carryable(&room.step, &room.items, &votes, &seen);
    let mut new = Vec::new();
    for id in items {
        let of_item: Vec<&Outdated<'_>> = found.items.iter().filter(|one| one.item.id == *id).collect();
        if of_item.is_empty() {
            return Err(usage_failure(format!(
                "{id} has no outdated vote in {}\n  hint: `riddlemill review carry {}` lists them",
                room.step.name, room.step.name
            )));
        }
        for one in of_item {
            new.extend(
                carry_votes(&room.step, one, votes_on(&votes, id), &by, &current_time(), "command line")
                    .map_err(usage_failure)?,
            );
        }
    }
    let added = room.open_vote_log()?.append_votes(new).map_err(io_failure)?.added.len();
    output::print_text(&format!("{} carried over by {}\n", count(added as u64, "vote"), by.by))?;
    Ok(Exit::Done)
}

pub(super) fn undo_carry(
    room: &ReviewSession<'_>,
    items: &[String],
    act: &CarryConfirmation<'_>,
) -> Result<Exit, Failure> {
    let votes = room.by_item();
    let by = act.confirm_entitled(room, act.why)?;
    let mut new = Vec::new();
    for id in items {
        let item = room.items.iter().find(|item| item.id == *id);
        let back = item.map(|item| {
            take_back(&room.step, item, votes_on(&votes, id), &by, &current_time(), "command line")
        });
        match back.filter(|back| !back.is_empty()) {
            Some(back) => new.extend(back),
            None => {
                return Err(usage_failure(format!("no vote on {id} was carried over to the current text")));
            }
        }
    }
    let added = room.open_vote_log()?.append_votes(new).map_err(io_failure)?.added.len();
    output::print_text(&format!("{} undone by {}\n", count(added as u64, "vote"), by.by))?;
    Ok(Exit::Done)
}

fn votes_on<'v, 'a>(votes: &'v FxHashMap<&str, Vec<&'a Vote>>, item: &str) -> &'v [&'a Vote] {
    votes.get(item).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn export_carryable(room: &ReviewSession<'_>, out: &Path) -> Result<Exit, Failure> {
    let (seen, votes) = (open_seen_log(room)?, room.by_item());
    let found = find_carryable(&room.step, &room.items, &votes, &seen);
    let row = |one: &Outdated<'_>| -> CellsByColumn {
        let (old, new): (Vec<String>, Vec<String>) = one
            .changed_fields()
            .into_iter()
            .map(|(key, old, new)| (format!("{key}: {old}"), format!("{key}: {new}")))
            .unzip();
        let cells = [
            ("item", one.item.id.clone()),
            ("see.old", old.join("\n")),
            ("see.new", new.join("\n")),
            ("see.votes", one.vote_lines().join("\n")),
            ("old", one.shown_votes().to_string()),
            ("new", one.item.content_hash.to_string()),
        ];
        cells.into_iter().map(|(column, cell)| (column.to_owned(), cell)).collect()
    };
    let rows: Vec<CellsByColumn> = found.items.iter().map(row).collect();
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let bytes = write_table(&COLUMNS, &name, &rows)?;
    // A bare file name has an empty parent, which cannot be created.
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        durable::create_folder(folder)?;
    }
    durable::replace_file(out, &bytes)?;
    output::print_text(&format!("{}\n", out.display()))?;
    eprint!("{}", summarise_carryable(&found));
    Ok(Exit::Done)
}

pub(super) fn import_carried(
    room: &ReviewSession<'_>,
    files: &[PathBuf],
    act: &CarryConfirmation<'_>,
    global: &Global,
) -> Result<Exit, Failure> {
    let (seen, votes) = (open_seen_log(room)?, room.by_item());
    let found = find_carryable(&room.step, &room.items, &votes, &seen);
    // Here, too, because a wrong name would otherwise be reported for every row.
    check_entitled(room.config, act.by)?;
    let mut log = room.open_vote_log()?;
    let (mut machine, mut troubled) = (Vec::new(), false);
    for file in files {
        let bytes = fs::read(file).map_err(Error::io("read", file))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (mut new, mut problems, mut blank) = (Vec::new(), Vec::new(), 0);
        let rows = read_table(&name, &bytes)?;
        problems.extend(no_table(&name, &bytes, &rows, &["item", "carry"])?);
        let table = problems.is_empty();
        for (row, cells) in rows.into_iter().filter(|_| table) {
            match of_row(room, &found, &votes, &cells, act, &name) {
                Ok(Some(carried)) => new.extend(carried),
                Ok(None) => blank += 1,
                Err(error) => problems.push(format!("{name}: row {row}: {error}")),
            }
        }
        let receipt = log.append_votes(new).map_err(io_failure)?;
        troubled |= !problems.is_empty();
        problems.iter().for_each(|problem| eprintln!("{problem}"));
        if !global.json {
            let added = count(receipt.added.len() as u64, "vote");
            output::print_text(&format!("{name}: {added} carried over, {blank} blank\n"))?;
        }
        let (added, known) = (receipt.added.len(), receipt.known);
        machine.push(TableReceipt { file, added, known, blank, overruled: Vec::new(), problems });
    }
    if global.json {
        output::print_json(&machine)?;
    }
    Ok(if troubled { Exit::Partial } else { Exit::Done })
}

/// Why a row carries nothing over.
#[derive(Debug, thiserror::Error)]
enum CarryRowError {
    /// The column `carry` is neither.
    #[error("`carry` must be yes or no, not {0:?}")]
    NoAnswer(String),
    #[error("`yes` in a row without an item")]
    NoItem,
    /// What the row shows is not what is there now.
    #[error("{0}: its text or its votes have changed since; export it again")]
    Changed(String),
    /// Nobody confirms it, or somebody who may not.
    #[error("{}", .0.message)]
    NotEntitled(Failure),
    #[error(transparent)]
    Unfit(#[from] CarryError),
}

/// The votes that a row carries over; `None` if it is empty or says no.
fn of_row(
    room: &ReviewSession<'_>,
    found: &Carryable<'_>,
    votes: &FxHashMap<&str, Vec<&Vote>>,
    cells: &CellsByColumn,
    act: &CarryConfirmation<'_>,
    file: &str,
) -> Result<Option<Vec<Vote>>, CarryRowError> {
    let cell = |column: &str| cells.get(column).map(String::as_str).map(str::trim).filter(|c| !c.is_empty());
    match cell("carry").map(str::to_lowercase).as_deref() {
        None | Some("no") => return Ok(None),
        Some("yes") => {}
        Some(other) => return Err(CarryRowError::NoAnswer(other.to_owned())),
    }
    let item = cell("item").ok_or(CarryRowError::NoItem)?;
    let shown = |one: &&Outdated<'_>| {
        one.item.id == item
            && cell("old") == Some(&one.shown_votes().to_string())
            && cell("new") == Some(&one.item.content_hash.to_string())
    };
    let one = found.items.iter().find(shown);
    let one = one.ok_or_else(|| CarryRowError::Changed(item.to_owned()))?;
    let why = cell("why").unwrap_or(act.why);
    let by = act.confirm_entitled(room, why).map_err(CarryRowError::NotEntitled)?;
    Ok(Some(carry_votes(&room.step, one, votes_on(votes, item), &by, &current_time(), file)?))
}
