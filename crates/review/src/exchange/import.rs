//! Reads votes.

use std::borrow::Cow;

use std::sync::OnceLock;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::answers::{self, Answers};
use crate::assign::{Annotator, Task};
use crate::ballot::{Ballot, Field, RESERVED, Round};
use crate::item::{Content, HandedHash, Item};
use crate::value::Values;
use crate::votes::Vote;
use riddlemill_files::digest::Digest;
use riddlemill_files::par_map::{map_ahead, split_batches};

use super::entries::{Entries, Entry, Places};
use super::problem::{Problem, VoteProblem};
use super::seats::Seats;
use super::{Format, csv, find_author, jsonl, label_studio, xlsx};

/// The context of a file of votes.
#[derive(Clone, Copy, Debug)]
pub struct ImportSettings<'s> {
    /// The step whose votes are expected.
    pub step: &'s Ballot,
    pub round: Round,
    /// Everybody who may have voted.
    pub people: &'s [Annotator],
    /// What was assigned, to detect deleted rows; may be empty.
    pub assigned: &'s [Task],
    /// The time of import, RFC 3339.
    pub at: &'s str,
    /// Whether they were written for a sample.
    pub synthetic: bool,
}

/// The items of a step, by their ids.
pub type ItemIndex<'i> = FxHashMap<&'i str, &'i Item>;

/// A file of votes, or one sheet of it.
#[derive(Clone, Debug)]
pub struct VoteTable {
    /// Its name, by which the format is known, and which problems have.
    pub file: String,
    pub bytes: Vec<u8>,
    /// The worksheet, in a workbook; `None` is the sheet of the step's name, or the only one.
    pub sheet: Option<String>,
}

/// The contents of a file of votes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// Votes to be stored with [`VoteLog::append_votes`](crate::VoteLog::append_votes), in file order.
    pub votes: Vec<Vote>,
    /// All problems, in file order.
    pub problems: Vec<Problem>,
    /// Rows of a ballot, filled in or not.
    pub rows: usize,
    /// Rows not filled in.
    pub blank: usize,
    /// Those of the votes that are on an earlier text, and will not count.
    pub outdated: Vec<Digest>,
    /// Rows with the hash of another item, whose votes would not count and are not among these.
    pub misplaced: usize,
}

/// Most columns that a message names.
const NAMED: usize = 30;

/// Rows that are read together, on all cores.
const BATCH: usize = 1 << 14;

/// Reads the votes in `bytes`. The format is known by the name `file`, which also appears in problems.
///
/// Nothing is stored: pass the votes to a [`VoteLog`](crate::VoteLog), which knows which of them it has.
pub fn import_votes(
    file: &str,
    bytes: &[u8],
    items: &ItemIndex<'_>,
    settings: &ImportSettings<'_>,
) -> Import {
    let table = VoteTable { file: file.to_owned(), bytes: bytes.to_vec(), sheet: None };
    import_tables(vec![table], items, settings).swap_remove(0)
}

/// The same for several tables, in their order. Different answers of one person on one item are stored from none of
/// them: nobody knows which is meant.
pub fn import_tables(
    tables: Vec<VoteTable>,
    items: &ItemIndex<'_>,
    settings: &ImportSettings<'_>,
) -> Vec<Import> {
    let mut seats = Seats::default();
    let mut imports: Vec<Import> = Vec::new();
    for table in tables {
        let import = read_table(&table, items, settings, &mut seats);
        imports.push(import);
    }
    for (table, vote) in seats.take_votes() {
        imports[table].votes.push(vote);
    }
    imports
}

fn read_table(
    table: &VoteTable,
    items: &ItemIndex<'_>,
    settings: &ImportSettings<'_>,
    seats: &mut Seats,
) -> Import {
    let (file, bytes) = (table.file.as_str(), table.bytes.as_slice());
    let form = settings.step.questions_of_round(settings.round);
    let whole = |trouble| Problem { file: file.to_owned(), place: String::new(), trouble };
    let mut import = Import::default();
    let names: Vec<&'static str> = form.iter().map(|field| field.name).collect();
    let sheet = table.sheet.as_deref().unwrap_or(settings.step.name);
    let read = match Format::from_name(file) {
        Some(Format::Csv) => csv::read_csv(bytes).map(|(entries, notes)| (entries, notes, Vec::new())),
        Some(Format::Xlsx) => {
            xlsx::read_xlsx(bytes, sheet).map(|(entries, notes)| (entries, notes, Vec::new()))
        }
        Some(Format::Jsonl) => jsonl::read_jsonl(file, bytes, &names),
        Some(Format::LabelStudio) => label_studio::read_export(bytes, settings.people, &form),
        None => Err(VoteProblem::unknown_format()),
    };
    seats.begin_table(file);
    let (mut entries, notes, problems) = match read {
        Ok(read) => read,
        Err(trouble) => {
            import.problems.push(whole(trouble));
            return import;
        }
    };
    import.problems.extend(notes.into_iter().map(whole));
    import.problems.extend(problems);
    let columns = BallotColumns::find_columns(&entries, &names);
    import.problems.extend(columns.find_faults(file, &entries, &form));
    // Every row would otherwise repeat the problem that was just reported.
    if columns.item.is_none() || columns.annotator.is_none() || columns.content_hash.is_none() {
        return import;
    }
    let lacks = columns.fields.contains(&None);
    let unread = std::mem::take(&mut entries.unread).into_problems(&form, lacks);
    let place = entries.sheet.as_ref().map(|sheet| format!("sheet {sheet}")).unwrap_or_default();
    import
        .problems
        .extend(unread.into_iter().map(|trouble| Problem { place: place.clone(), ..whole(trouble) }));

    // Taken out, so that each batch of rows is freed after it was read; `entries` is still needed for places.
    let rows = std::mem::take(&mut entries.rows);
    let hashes = OnceLock::new();
    let reader =
        RowReader { file, entries: &entries, columns: &columns, form: &form, settings, items, hashes };
    let mut present: Vec<(String, String)> = Vec::new();
    let read = |batch: Vec<Entry>| -> Vec<(usize, Row)> {
        batch.into_par_iter().map(|entry| (entry.number, reader.read_row(&entry))).collect()
    };
    map_ahead(split_batches(rows, BATCH), read, |rows| {
        for (number, row) in rows {
            import.problems.extend(row.problems);
            import.rows += usize::from(row.named.is_some());
            import.blank += usize::from(row.blank);
            import.misplaced += usize::from(row.misplaced);
            if !settings.assigned.is_empty() {
                present.extend(row.named);
            }
            let Some((vote, seat)) = row.vote else { continue };
            if row.outdated {
                import.outdated.push(vote.id);
            }
            let place = || entries.name_place(number, columns.item);
            import.problems.extend(seats.add_vote(vote, seat, place));
        }
    });
    import.problems.extend(missing_rows(settings, present).into_iter().map(whole));
    import
}

/// Assigned rows that are missing from this file.
fn missing_rows(settings: &ImportSettings<'_>, mut present: Vec<(String, String)>) -> Vec<VoteProblem> {
    present.sort();
    present.dedup();
    let mut people: Vec<&str> = present.iter().map(|(annotator, _)| annotator.as_str()).collect();
    people.dedup();
    let mut troubles = Vec::new();
    for annotator in people {
        let here = |item: &str| {
            present.binary_search_by(|(a, i)| (a.as_str(), i.as_str()).cmp(&(annotator, item))).is_ok()
        };
        let mine = settings
            .assigned
            .iter()
            .filter(|task| task.annotator == annotator && task.round == settings.round);
        let mut absent: Vec<&str> = mine.map(|task| task.item.as_str()).filter(|item| !here(item)).collect();
        absent.sort_unstable();
        if let Some(first) = absent.first() {
            troubles.push(VoteProblem::RowsMissing {
                annotator: annotator.to_owned(),
                count: absent.len(),
                first: (*first).to_owned(),
            });
        }
    }
    troubles
}

/// The index of each column of a ballot, by its header.
struct BallotColumns {
    item: Option<usize>,
    annotator: Option<usize>,
    content_hash: Option<usize>,
    recipe: Option<usize>,
    step: Option<usize>,
    round: Option<usize>,
    vote: Option<usize>,
    seconds: Option<usize>,
    fields: Vec<Option<usize>>,
    doubled: Vec<usize>,
    names: Vec<&'static str>,
}

impl BallotColumns {
    fn find_columns(entries: &Entries, names: &[&'static str]) -> BallotColumns {
        let same = |header: &str, name: &str| header.trim().eq_ignore_ascii_case(name);
        let find = |name: &str| entries.columns.iter().position(|header| same(header, name));
        let doubled = entries.columns.iter().enumerate().filter(|(at, header)| {
            let known = RESERVED.iter().chain(names).any(|name| same(header, name));
            known && find(header).is_some_and(|first| first < *at)
        });
        BallotColumns {
            item: find("item"),
            annotator: find("annotator"),
            content_hash: find("content_hash"),
            recipe: find("recipe"),
            step: find("step"),
            round: find("round"),
            vote: find("vote"),
            seconds: find("seconds"),
            fields: names.iter().map(|name| find(name)).collect(),
            doubled: doubled.map(|(at, _)| at).collect(),
            names: names.to_vec(),
        }
    }

    fn find_faults(&self, file: &str, entries: &Entries, form: &[Field]) -> Vec<Problem> {
        let problem = |place, trouble| Problem { file: file.to_owned(), place, trouble };
        let doubled = self.doubled.iter().map(|&at| {
            problem(entries.name_place(1, Some(at)), VoteProblem::DoubledHeader(entries.columns[at].clone()))
        });
        let needed =
            [("item", self.item), ("annotator", self.annotator), ("content_hash", self.content_hash)];
        // An older ballot has no column for a later optional question; nothing is missing then.
        let asked = self.names.iter().zip(&self.fields).zip(form);
        let fields = asked.filter(|(_, field)| field.required).map(|((name, at), _)| (*name, *at));
        let sheet = entries.sheet.as_ref().map(|sheet| format!("sheet {sheet}")).unwrap_or_default();
        let absent = needed.into_iter().chain(fields).filter(|(_, at)| at.is_none());
        // Of lines these are the ballot's, whatever stands in the file.
        let own = match entries.places {
            Places::Lines => entries.unread.names(),
            _ => entries.columns.clone(),
        };
        let columns = || own.iter().filter(|name| !name.is_empty()).take(NAMED).cloned().collect();
        let lacking = |name| problem(sheet.clone(), VoteProblem::NoColumn { name, columns: columns() });
        doubled.chain(absent.map(|(name, _)| lacking(name))).collect()
    }
}

/// The result of one row.
#[derive(Default)]
struct Row {
    /// The vote and its seat.
    vote: Option<(Vote, Digest)>,
    problems: Vec<Problem>,
    /// Annotator and item, if the row names both.
    named: Option<(String, String)>,
    blank: bool,
    /// Whether the vote is on an earlier text.
    outdated: bool,
    /// Whether the hash is another item's.
    misplaced: bool,
}

struct RowReader<'r> {
    file: &'r str,
    entries: &'r Entries,
    columns: &'r BallotColumns,
    form: &'r [Field],
    settings: &'r ImportSettings<'r>,
    items: &'r ItemIndex<'r>,
    /// Whose hash each is, once it is asked for.
    hashes: OnceLock<FxHashMap<String, &'r str>>,
}

impl<'r> RowReader<'r> {
    /// The item whose hash a cell is.
    fn owner_of_hash(&self, cell: &str) -> Option<&'r str> {
        let without_seal = |hash: &str| hash.split('.').next().unwrap_or_default().trim().to_owned();
        let hashes = self.hashes.get_or_init(|| {
            let of_item = |item: &&'r Item| {
                [item.content_hash.to_string(), item.sheet_hash()].map(|hash| (hash, item.id.as_str()))
            };
            let all = self.items.values().flat_map(of_item);
            all.map(|(hash, id)| (without_seal(&hash), id)).collect()
        });
        hashes.get(&without_seal(cell)).copied()
    }

    fn read_row(&self, entry: &Entry) -> Row {
        let mut row = Row::default();
        let problem = |column: Option<usize>, trouble: VoteProblem| Problem {
            file: self.file.to_owned(),
            place: self.entries.name_place(entry.number, column),
            trouble,
        };
        let text = |column: Option<usize>| entry.cells.text_at(column?);
        let answer = |name: &str| {
            let at = self.form.iter().position(|field| field.name == name)?;
            let value = entry.cells.value_at(self.columns.fields[at]?)?.into_owned();
            // JSON delimits texts exactly; in a cell, surrounding spaces are typing slips.
            Some(if matches!(self.entries.places, Places::Lines) { value } else { value.trim_text() })
        };
        let merged: Vec<&(usize, String)> =
            entry.merged.iter().filter(|(column, _)| self.columns.fields.contains(&Some(*column))).collect();
        let filled = self.form.iter().any(|field| answer(field.name).is_some_and(|value| !value.is_blank()));
        if let [first, ..] = merged[..] {
            row.problems.push(problem(Some(first.0), VoteProblem::Merged(first.1.clone())));
            return row;
        }
        let (given, wanted) = (entry.cells.len(), self.entries.columns.len());
        if given < wanted {
            row.problems.push(problem(None, VoteProblem::Short { given, wanted }));
            return row;
        }
        let Some(id) = text(self.columns.item).map(Cow::into_owned) else {
            if filled {
                row.problems.push(problem(self.columns.item, VoteProblem::NoItem));
            }
            return row;
        };
        let Some(signed) = text(self.columns.annotator).map(Cow::into_owned) else {
            match filled {
                true => row.problems.push(problem(
                    self.columns.annotator,
                    match self.entries.places {
                        Places::Tasks => VoteProblem::NoAccount,
                        _ => VoteProblem::NoAnnotator,
                    },
                )),
                false => row.blank = true,
            }
            return row;
        };
        let known = find_author(self.settings.people, &[&signed]);
        let name = known.as_ref().map_or_else(|_| signed.clone(), |person| person.name.clone());
        row.named = Some((name.clone(), id.clone()));
        // Before the checks below, because an empty row of another ballot or version is no problem.
        if !filled {
            row.blank = true;
            return row;
        }
        let step = self.settings.step;
        let round = self.settings.round;
        let elsewhere = [
            ("recipe", self.columns.recipe, step.recipe),
            ("step", self.columns.step, step.name),
            ("round", self.columns.round, round.name()),
        ];
        for (what, column, wanted) in elsewhere {
            if let Some(found) = text(column).filter(|found| found != wanted) {
                let (found, wanted) = (found.into_owned(), wanted.to_owned());
                row.problems.push(problem(column, VoteProblem::Elsewhere { what, found, wanted }));
                return row;
            }
        }
        let Some(item) = self.items.get(id.as_str()).copied() else {
            row.problems
                .push(problem(self.columns.item, VoteProblem::UnknownItem(answers::shorten_cell(&id))));
            return row;
        };
        let annotator = match known {
            Ok(annotator) => annotator,
            Err(trouble) => {
                row.problems.push(problem(self.columns.annotator, trouble));
                return row;
            }
        };
        if !annotator.may_vote(step, round) {
            let roles = step.roles_of_round(round);
            let unqualified = roles.contains(&annotator.role);
            let entitled = self.settings.people.iter().filter(|person| person.may_vote(step, round));
            let people = entitled.map(|person| person.name.clone()).collect();
            let trouble = VoteProblem::NotEntitled { name, role: annotator.role, unqualified, roles, people };
            row.problems.push(problem(self.columns.annotator, trouble));
            return row;
        }
        if item.written_by.contains(&name) {
            row.problems.push(problem(self.columns.annotator, VoteProblem::OwnText { name }));
            return row;
        }
        if let Some(language) = item.language.clone().filter(|_| annotator.cannot_read(item)) {
            row.problems.push(problem(self.columns.annotator, VoteProblem::NotRead { name, language }));
            return row;
        }
        let base = match text(self.columns.vote).map(|base| item.handed_vote(&base).ok_or(base)) {
            None => None,
            Some(Ok(base)) => Some(base),
            Some(Err(given)) => {
                row.problems
                    .push(problem(self.columns.vote, VoteProblem::NoHash(answers::shorten_cell(&given))));
                return row;
            }
        };
        let hash_cell = text(self.columns.content_hash).unwrap_or_default();
        let handed = item.read_handed(&hash_cell);
        if !matches!(handed, HandedHash::Today(_))
            && let Some(other) = self.owner_of_hash(&hash_cell)
        {
            row.misplaced = true;
            let trouble = VoteProblem::OtherItem { item: id, other: other.to_owned() };
            row.problems.push(problem(self.columns.content_hash, trouble));
            return row;
        }
        let (stale, item) = match handed {
            HandedHash::Today(item) => (false, *item),
            // Today's drafts, candidates and orders do not apply to an older ballot.
            HandedHash::Earlier(hash) => {
                (true, Cow::Owned(Item::with_content(id.clone(), Content::new(), Values::new(), hash)))
            }
            HandedHash::OtherSecret => {
                row.problems.push(problem(self.columns.content_hash, VoteProblem::OtherOrder(id)));
                return row;
            }
            HandedHash::NoHash => {
                row.problems.push(problem(
                    self.columns.content_hash,
                    VoteProblem::NoHash(answers::shorten_cell(&hash_cell)),
                ));
                return row;
            }
        };
        let (item, content_hash) = (item.as_ref(), item.content_hash);
        let values = match answers::read_answers(self.form, item, answer) {
            Answers::Given(values) => values,
            Answers::Blank => {
                row.blank = true;
                return row;
            }
            Answers::Faulty(_) if stale => {
                row.problems.push(problem(self.columns.content_hash, VoteProblem::StaleUnread(id)));
                return row;
            }
            Answers::Faulty(faults) => {
                for (name, fault) in faults {
                    let at = self.form.iter().position(|field| field.name == name);
                    let column = at.and_then(|at| self.columns.fields[at]);
                    row.problems.push(problem(column.or(self.columns.item), VoteProblem::Answer(fault)));
                }
                return row;
            }
        };
        row.outdated = stale;
        if stale {
            row.problems.push(problem(self.columns.content_hash, VoteProblem::Stale(id.clone())));
        }
        for (name, tell) in answers::find_cautions(self.form, item, &values) {
            let at = self.form.iter().position(|field| field.name == name);
            let column = at.and_then(|at| self.columns.fields[at]);
            row.problems.push(problem(column, VoteProblem::GivesAway(tell.descriptions().0)));
        }
        let seconds = text(self.columns.seconds).and_then(|text| text.parse::<f64>().ok());
        let vote = Vote {
            content_hash,
            annotator: name,
            role: annotator.role,
            round,
            values,
            at: self.settings.at.to_owned(),
            source: self.file.to_owned(),
            synthetic: self.settings.synthetic,
            order: item.shown_order(),
            // An impossible duration must not cost the vote.
            seconds: seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0),
            base,
            ..Vote::on_item(step, item)
        };
        let vote = vote.with_id();
        let seat = vote.seat_digest();
        row.vote = Some((vote, seat));
        row
    }
}
