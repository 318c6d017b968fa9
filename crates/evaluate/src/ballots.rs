//! Ballots for people's answers and ratings: exported as sheets, imported as CSV or JSON Lines.
//!
//! People who choose among the options of a set are a human baseline, scored like a model. The task declares
//! how people judge answers without a choice: by a rating on a scale, or by choosing the better of two texts,
//! a person's and the model's, in a drawn order. Ballots show neither the right answer nor the model: their
//! id represents these. Ids of answers are made with the workspace's secret, because anybody could hash the
//! names of the models that come into question. The order is drawn with the secret, too, and readable with it
//! from a seal after the id. Older sheets have ids that can be computed, or no seal and the order of the
//! evaluation's seed; they are still read.

use std::collections::BTreeMap;
use std::fs;

use riddlemill_benchmarks::Expression;
use riddlemill_benchmarks::scope::text_of_value;
use riddlemill_benchmarks::task::{AnswerJudging, AnswerParsing, Asks, People};
use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{Answer, Rating, RawAnswer};
use super::error::{EvaluateError, SetAside};
use super::item::Item;
use super::outputs::File;
use super::pair_order::{person_first, preferred_author};
use super::prompt::letter_options;
use super::set::Set;
use super::task::{Setting, Task};
use crate::llm::parse::{self, Unreadable};
use crate::options::{DrawStream, LETTERS};
use crate::review::Blinding;
use crate::review::exchange::{ExportError, table_rows};
use crate::store::Error;
use riddlemill_files::reading::decode_text;
use sheets::{SheetHead, Sheets};

mod sheets;

pub use sheets::Sheet;

/// The subject of a ballot.
#[derive(Clone, Debug, PartialEq)]
enum BallotSubject {
    /// A task with a right answer: the item, and if options have two orders the drawn one.
    Choice(usize, Task),
    /// A task answered in free text, by people too.
    Open(usize, Task),
    /// The index of an answer to judge.
    Answer(usize),
}

/// Every ballot of a set and its answers, by id.
fn list_ballots(set: &Set, answers: &[Answer], seed: u64) -> Vec<(String, BallotSubject)> {
    let mut ballots = Vec::new();
    let tasks = Task::of_config(&set.config);
    for (at, item) in set.items.iter().enumerate() {
        let chosen = |task: &Task| task.is_choice() && task.conversation().is_none() && item.has_task(*task);
        for &task in tasks.iter().filter(|task| chosen(task)) {
            // The two tasks with both orders of the same options make one ballot.
            if task == draw_order(item, seed, task) {
                let kind = task.option_orders().map_or(task, |[first, _]| first);
                ballots
                    .push((ballot_id(&["choice", kind.name(), &item.id]), BallotSubject::Choice(at, task)));
            }
        }
    }
    for (at, item) in set.items.iter().enumerate() {
        for &task in tasks.iter().filter(|task| item.has_task(**task) && is_written_by_people(**task)) {
            ballots.push((ballot_id(&["write", task.name(), &item.id]), BallotSubject::Open(at, task)));
        }
    }
    let rated = |answer: &Answer| {
        let people = answer.task.task_declaration().people.as_ref();
        people.is_some_and(|people| people.is_rating() && (people.write || !answer.person))
    };
    for (at, answer) in answers.iter().enumerate().filter(|(_, answer)| rated(answer)) {
        if answer.format_error.is_none() {
            let (setting, sample) = (answer.setting.to_string(), answer.sample.to_string());
            let mut parts = vec!["answer", answer.task.name(), &setting, &answer.item, &answer.model];
            parts.extend((answer.sample > 0).then_some(sample.as_str()));
            ballots.push((ballot_id(&parts), BallotSubject::Answer(at)));
        }
    }
    ballots
}

/// The tasks of a set that people get no sheet of, each with the reason.
pub fn tasks_without_sheet(set: &Set) -> Vec<(Task, String)> {
    let why = |task: &Task| match (task.conversation(), &task.task_declaration().people) {
        (Some(_), _) => {
            Some("it is a conversation, and on a sheet nobody replies to what a person asks".to_owned())
        }
        (None, None) if !task.is_choice() => Some(format!(
            "its answers are free texts, and [task.{}] has no `people` that says on which sheet people rate or write them",
            task.task_declaration().title
        )),
        _ => None,
    };
    Task::of_config(&set.config).into_iter().filter_map(|task| Some((task, why(&task)?))).collect()
}

/// Whether people answer it in their own words.
fn is_written_by_people(task: Task) -> bool {
    task.task_declaration().people.as_ref().is_some_and(|people| people.write)
}

/// The drawn one of a task's two orders, for sheets without a seal.
fn draw_order(item: &Item, seed: u64, task: Task) -> Task {
    match task.option_orders() {
        Some(orders) => orders[DrawStream::new(seed, "evaluation ballot order", &item.id).draw_below(2)],
        None => task,
    }
}

fn ballot_id(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("riddlemill evaluation ballot v1");
    for part in parts {
        // With their lengths, because parts that are split elsewhere must not have the same id.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_string()
}

/// The id of a ballot on an answer as it is handed out: its own can be computed from the model's name.
fn ballot_alias(blinding: &Blinding, id: &str) -> String {
    format!("k{}", blinding.make_alias(&["evaluation", id]))
}

/// An id with the seal of its order, and whether the order is reversed: the wrong answer, or the model's
/// explanation, first.
fn seal_ballot_id(blinding: &Blinding, id: &str) -> (String, bool) {
    let turned = blinding.is_turned(&["evaluation", id]);
    (format!("{id}.{}", blinding.seal_order(&["evaluation", id], turned)), turned)
}

/// The task with this order; other tasks have only one.
fn turned_to(task: Task, turned: bool) -> Task {
    task.option_orders().map_or(task, |orders| orders[usize::from(turned)])
}

/// The blank sheets of a set, and the instructions for these and no others.
///
/// # Errors
/// [`ExportError`] if a sheet cannot be created.
pub fn create_blank_sheets(
    set: &Set,
    answers: &[Answer],
    seed: u64,
    blinding: &Blinding,
) -> Result<Vec<Sheet>, ExportError> {
    let mut sheets = Sheets::default();
    let places = set.index_by_id();
    for (id, about) in list_ballots(set, answers, seed) {
        match about {
            BallotSubject::Choice(at, task) => {
                let item = &set.items[at];
                let (id, turned) =
                    if task.option_orders().is_some() { seal_ballot_id(blinding, &id) } else { (id, false) };
                let (head, heads, options) = match &task.task_declaration().wants {
                    AnswerParsing::Labels { codes, many, .. } => {
                        (SheetHead::labels_head(task, *many), ["ballot", "text", "types"], codes.join("\n"))
                    }
                    AnswerParsing::Rating { min, max, .. } => {
                        let numbers: Vec<String> = (*min..=*max).map(|number| number.to_string()).collect();
                        (
                            SheetHead::of_rating(task, *min, *max),
                            ["ballot", "question", "scale"],
                            numbers.join("\n"),
                        )
                    }
                    _ => {
                        let options = options_for_person(item, turned_to(task, turned));
                        (
                            SheetHead::choice_head(task),
                            ["ballot", "question", "options"],
                            letter_options(options),
                        )
                    }
                };
                let row = vec![id, question_for_person(item, task), options, String::new(), String::new()];
                sheets.append_row(head, &[&heads[..], &["answer", "annotator"]].concat(), row);
            }
            BallotSubject::Open(at, task) => {
                let Some(people) = &task.task_declaration().people else { continue };
                let first = sheet_context(people, &set.items[at]).into_iter().next();
                let (head, text) =
                    first.unwrap_or_else(|| ("question", question_for_person(&set.items[at], task)));
                let row = vec![id, text, String::new(), String::new()];
                sheets.append_row(
                    SheetHead::own_words_head(task),
                    &["ballot", head, "answer", "annotator"],
                    row,
                );
            }
            BallotSubject::Answer(at) => {
                let answer = &answers[at];
                let Some(item) = places.get(answer.item.as_str()).map(|&at| &set.items[at]) else { continue };
                let task = answer.task.task_declaration();
                let Some(people) = &task.people else { continue };
                let id = ballot_alias(blinding, &id);
                let (mut heads, shown): (Vec<&str>, Vec<String>) =
                    sheet_context(people, item).into_iter().unzip();
                heads.insert(0, "ballot");
                let mut row = shown;
                match &task.judged {
                    Some(AnswerJudging { asks: Asks::Better { person, sides }, .. }) => {
                        let (id, turned) = seal_ballot_id(blinding, &id);
                        let person = person
                            .compute_value(&item.column_values())
                            .ok()
                            .and_then(|person| text_of_value(&person));
                        let mut both = [person.unwrap_or_default(), answer.text.clone()];
                        if turned {
                            both.reverse();
                        }
                        row.insert(0, id);
                        row.extend(both);
                        heads.extend(sides);
                    }
                    _ => {
                        row.insert(0, id);
                        row.push(answer.text.clone());
                        heads.push("response");
                    }
                }
                heads.extend(["answer", "annotator"]);
                row.extend([String::new(), String::new()]);
                sheets.append_row(SheetHead::of_people(answer.task, people), &heads, row);
            }
        }
    }
    sheets.finish(seed)
}

/// What a sheet shows before the answer; values that cannot be computed for an item are empty.
fn sheet_context(people: &People, item: &Item) -> Vec<(&'static str, String)> {
    let columns = item.column_values();
    let text =
        |value: &Expression| value.compute_value(&columns).ok().and_then(|value| text_of_value(&value));
    people.shows.iter().map(|(name, value)| (*name, text(value).unwrap_or_default())).collect()
}

/// The question for a person: the item's, or the values of the prompt if the benchmark does not declare a
/// question column.
fn question_for_person(item: &Item, task: Task) -> String {
    if !item.question.is_empty() {
        return item.question.clone();
    }
    let values = item.question_of_task(task).into_iter().flat_map(|posed| &posed.values);
    values.filter_map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// The options, as a person sees them.
fn options_for_person(item: &Item, task: Task) -> &[String] {
    item.question_of_task(task).map(|posed| posed.options.as_slice()).unwrap_or_default()
}

/// Reads filled-in ballots: choices are added to `answers`, ratings to the answers they are on. A row without
/// an answer is not a vote; invalid rows are set aside. Of several votes of one person on a ballot the first
/// counts.
///
/// # Errors
/// [`EvaluateError`] if a file cannot be read or is not a sheet.
pub fn read_ballots(
    set: &Set,
    files: &[File],
    answers: &mut Vec<Answer>,
    seed: u64,
    blinding: &Blinding,
) -> Result<Vec<SetAside>, EvaluateError> {
    let mut voted: FxHashSet<(String, String)> = FxHashSet::default();
    let mut skipped = Vec::new();
    for file in files {
        // Answers written by people in one file can be scored in the next.
        let known = list_ballots(set, answers, seed);
        let aliases: FxHashMap<String, String> = known
            .iter()
            .filter(|(_, about)| matches!(about, BallotSubject::Answer(_)))
            .map(|(id, _)| (ballot_alias(blinding, id), id.clone()))
            .collect();
        let known: FxHashMap<String, BallotSubject> = known.into_iter().collect();
        let (rows, unread) = read_sheet_rows(file)?;
        skipped.extend(unread);
        for (place, row) in rows {
            let Some(answer) = row.get("answer").filter(|said| !said.is_empty()) else { continue };
            let ballot = row.get("ballot").map(String::as_str).unwrap_or_default();
            let (ballot, seal) = ballot.split_once('.').map_or((ballot, None), |(id, seal)| (id, Some(seal)));
            let turned = match seal.map(|seal| blinding.read_seal(&["evaluation", ballot], seal)) {
                Some(None) => {
                    let what = "the ballot was written with another raw/blinding, so the order of the \
                                sides is unknown";
                    skipped.push(SetAside { place, what: what.into() });
                    continue;
                }
                known => known.flatten(),
            };
            let annotator = file.model.clone().or_else(|| row.get("annotator").cloned()).unwrap_or_default();
            let vote = Vote {
                // One person's vote on a ballot counts once, whichever of its names a sheet has.
                ballot: aliases.get(ballot).map_or(ballot, String::as_str).to_owned(),
                turned,
                annotator: name_person(blinding, &annotator),
                answer: answer.clone(),
                basis: format!("ballot:{place}"),
            };
            let taken = match voted.contains(&(vote.ballot.clone(), vote.annotator.clone())) {
                true => Err(VoteError::Again(vote.annotator.clone())),
                false => apply_vote(set, &known, answers, seed, &vote),
            };
            match taken {
                Ok(()) => _ = voted.insert((vote.ballot, vote.annotator)),
                Err(error) => skipped.push(SetAside { place, what: error.to_string() }),
            }
        }
    }
    Ok(skipped)
}

/// Why a row is not a vote.
#[derive(Debug, thiserror::Error)]
enum VoteError {
    #[error(
        "no annotator is named\n  hint: --ballots NAME=FILE names the person who filled in the whole file"
    )]
    NoAnnotator,
    #[error(
        "no ballot {0:?} of these items and answers\n  hint: name the same outputs and models as when it was written"
    )]
    NoBallot(String),
    #[error("{0} has voted on this ballot before")]
    Again(String),
    /// None of the options.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The answer does not have the form that its task wants.
    #[error("{0}")]
    Answer(String),
    #[error("{answer:?} is not a whole number from {min} to {max}")]
    OffScale { answer: String, min: u32, max: u32 },
    #[error("{0:?} is not 1, 2 or tie")]
    NoChoice(String),
}

struct Vote {
    ballot: String,
    /// The order by the ballot's seal; `None` without a seal.
    turned: Option<bool>,
    annotator: String,
    answer: String,
    basis: String,
}

fn apply_vote(
    set: &Set,
    ballots_by_id: &FxHashMap<String, BallotSubject>,
    answers: &mut Vec<Answer>,
    seed: u64,
    vote: &Vote,
) -> Result<(), VoteError> {
    if vote.annotator.is_empty() {
        return Err(VoteError::NoAnnotator);
    }
    let about = ballots_by_id.get(&vote.ballot).ok_or_else(|| VoteError::NoBallot(vote.ballot.clone()))?;
    match about {
        BallotSubject::Choice(at, task) => {
            let item = &set.items[*at];
            let (model, basis) = (vote.annotator.clone(), vote.basis.clone());
            let task = vote.turned.map_or(*task, |turned| turned_to(*task, turned));
            let (setting, text) = (Setting::default(), vote.answer.clone());
            let given = RawAnswer { task, setting, model, person: true, sample: 0, basis, text };
            let answer = match task.task_declaration().wants {
                AnswerParsing::Labels { .. } | AnswerParsing::Rating { .. } => Answer::parse_raw(item, given),
                _ => {
                    let letters: Vec<char> = LETTERS.iter().flat_map(|letter| letter.chars()).collect();
                    let options = options_for_person(item, task);
                    let shown = &letters[..options.len().min(letters.len())];
                    let letter = parse::parse_option(&vote.answer, shown, options)?;
                    let place = letters.iter().position(|known| *known == letter).unwrap_or_default();
                    Answer::from_option_index(item, given, place)
                }
            };
            match answer.format_error {
                Some(what) => Err(VoteError::Answer(what)),
                None => {
                    answers.push(answer);
                    Ok(())
                }
            }
        }
        BallotSubject::Open(at, task) => {
            let (model, basis) = (vote.annotator.clone(), vote.basis.clone());
            let (task, setting, text) = (*task, Setting::default(), vote.answer.clone());
            let given = RawAnswer { task, setting, model, person: true, sample: 0, basis, text };
            answers.push(Answer::parse_raw(&set.items[*at], given));
            Ok(())
        }
        BallotSubject::Answer(at) => {
            let answer = &mut answers[*at];
            let scale = answer.task.task_declaration().people.as_ref().and_then(|people| people.scale);
            let value = match scale {
                Some([min, max]) => match vote.answer.trim().parse::<u32>() {
                    Ok(rating) if (min..=max).contains(&rating) => rating.to_string(),
                    _ => return Err(VoteError::OffScale { answer: vote.answer.clone(), min, max }),
                },
                None => {
                    let choice = vote.answer.trim().to_lowercase();
                    match choice.as_str() {
                        "1" | "2" | "tie" => {
                            let of_seed = || person_first(seed, &answer.item, &answer.model);
                            preferred_author(&choice, vote.turned.map_or_else(of_seed, |turned| !turned))
                                .to_owned()
                        }
                        other => return Err(VoteError::NoChoice(other.to_owned())),
                    }
                }
            };
            let (judge, basis) = (vote.annotator.clone(), vote.basis.clone());
            answer.ratings.push(Rating { judge, person: true, value, basis });
            Ok(())
        }
    }
}

/// The name of a person in results, which leave the workspace: the same for the same person, and found from it by nobody who has
/// not the workspace's secret. Empty if nobody is named.
fn name_person(blinding: &Blinding, annotator: &str) -> String {
    match annotator.trim() {
        "" => String::new(),
        name => format!("person-{}", &blinding.make_alias(&["evaluation person", name])[..8]),
    }
}

type Cells = BTreeMap<String, String>;
/// Rows, each with its place.
type PlacedRows = Vec<(String, Cells)>;

/// The rows of a sheet, or of JSON Lines with the sheet's columns as keys, and those that cannot be read.
fn read_sheet_rows(file: &File) -> Result<(PlacedRows, Vec<SetAside>), EvaluateError> {
    let bytes = fs::read(&file.path).map_err(Error::io("read", &file.path))?;
    let form = |what: String| EvaluateError::Form {
        path: file.path.clone(),
        what,
        hint: "expected a sheet of --write-ballots, or JSON Lines with its columns".into(),
    };
    let place = |number: usize| format!("{}:{number}", file.path.display());
    let unmarked = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if unmarked.trim_ascii_start().starts_with(b"{") {
        let text = decode_text(&bytes).map_err(|e| form(e.to_string()))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let mut rows = Vec::new();
        for (at, line) in lines {
            let json: serde_json::Map<String, serde_json::Value> =
                crate::notation::from_str(line).map_err(|e| form(format!("line {}: {e}", at + 1)))?;
            let cell = |(key, value): (String, serde_json::Value)| match value {
                serde_json::Value::String(text) => (key, text),
                other => (key, other.to_string()),
            };
            rows.push((place(at + 1), json.into_iter().filter(|(_, v)| !v.is_null()).map(cell).collect()));
        }
        return Ok((rows, Vec::new()));
    }
    let table = table_rows(&bytes).map_err(|trouble| form(trouble.to_string()))?;
    let unread = table.unread.into_iter().map(|(line, fault)| SetAside {
        place: format!("{}:line {line}", file.path.display()),
        what: fault.to_string(),
    });
    let rows = table.rows.into_iter().map(|(number, cells)| (place(number), cells));
    Ok((rows.collect(), unread.collect()))
}

#[cfg(test)]
mod tests;
