//! People's answers and ratings: ballots out as sheets, and back in as CSV or JSON Lines.
//!
//! Four kinds. Whoever chooses among the options of a set is a human baseline, scored as a model is. Explanations
//! of FLUB are rated from 1 to 5 (appendix C); the tables take them times two. Free answers to puzzles, people's among
//! them, are scored from 0 to 5 (BrainTeaser A.5). Explanations of Chumor are compared
//! with a person's, in a drawn order (section 3). No ballot says what is right or which model it is about: its id
//! stands for that. Which of two is first is drawn with the workspace's secret; a seal behind the id says it to
//! whoever has that. A sheet from before has no seal, and the order of the evaluation's seed.

use std::collections::BTreeMap;
use std::fs;

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{Answer, Rating, RawAnswer};
use super::error::EvaluateError;
use super::item::{Body, Item, types};
use super::judge::PUZZLE_SCALE;
use super::outputs::File;
use super::pair_order::{person_first, preferred};
use super::prompt::lettered;
use super::set::Set;
use super::skipped::SetAside;
use super::task::{Setting, Task};
use crate::llm::parse;
use crate::options::Draw;
use crate::review::Blinding;
use crate::review::exchange::{ExportError, sheet, sheet_rows};
use crate::store::Error;

/// A sheet, or the words that go with the sheets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Its file name.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What people are told; the points of the scale are FLUB's appendix C in our words.
const GUIDELINES: &str = include_str!("templates/ballots.md");

/// What a ballot is about.
#[derive(Clone, Debug, PartialEq)]
enum About {
    /// A task with options: the item, and of RuozhiBench-MC the drawn order.
    Choice(usize, Task),
    /// A puzzle that is answered freely.
    Open(usize),
    /// An answer's place.
    Answer(usize),
}

/// Every ballot of a set and its answers, by id.
fn ballots(set: &Set, answers: &[Answer], seed: u64) -> Vec<(String, About)> {
    let mut ballots = Vec::new();
    for (at, item) in set.items.iter().enumerate() {
        for task in
            Task::of_config(&set.config).into_iter().filter(|task| task.is_choice() && item.takes(*task))
        {
            if task == order(item, seed, task) {
                let kind = if task == Task::BadFirst { Task::GoodFirst } else { task };
                ballots.push((id(&["choice", kind.name(), &item.id]), About::Choice(at, task)));
            }
        }
    }
    for (at, item) in set.items.iter().enumerate().filter(|(_, item)| item.takes(Task::SolveOpen)) {
        ballots.push((id(&["write", Task::SolveOpen.name(), &item.id]), About::Open(at)));
    }
    let rated = |answer: &Answer| match answer.task {
        Task::SolveOpen => true,
        Task::Explain | Task::ExplainJoke => !answer.person,
        _ => false,
    };
    for (at, answer) in answers.iter().enumerate().filter(|(_, answer)| rated(answer)) {
        if answer.format_error.is_none() {
            let parts =
                ["answer", answer.task.name(), &answer.setting.to_string(), &answer.item, &answer.model];
            ballots.push((id(&parts), About::Answer(at)));
        }
    }
    ballots
}

/// Of RuozhiBench-MC people see one order, drawn for the item; on sheets without a seal, this.
fn order(item: &Item, seed: u64, task: Task) -> Task {
    match task {
        Task::GoodFirst | Task::BadFirst => {
            let drawn = Draw::new(seed, "evaluation ballot order", &item.id).below(2);
            [Task::GoodFirst, Task::BadFirst][drawn]
        }
        other => other,
    }
}

fn id(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("riddlemill evaluation ballot v1");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_string()
}

/// An id with the seal of its order, and whether that is turned: the wrong answer, or the model's explanation, first.
fn sealed(blinding: &Blinding, id: &str) -> (String, bool) {
    let turned = blinding.turns(&["evaluation", id]);
    (format!("{id}.{}", blinding.seal(&["evaluation", id], turned)), turned)
}

/// The task whose order stands so; other tasks have one order.
fn turned_to(task: Task, turned: bool) -> Task {
    match task {
        Task::GoodFirst | Task::BadFirst if turned => Task::BadFirst,
        Task::GoodFirst | Task::BadFirst => Task::GoodFirst,
        other => other,
    }
}

/// The blank sheets of a set, and what people are told.
///
/// # Errors
/// [`ExportError`] where a sheet cannot be put together.
pub fn blank(
    set: &Set,
    answers: &[Answer],
    seed: u64,
    blinding: &Blinding,
) -> Result<Vec<Sheet>, ExportError> {
    let (mut choose, mut classify, mut rate, mut prefer) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut write, mut score) = (Vec::new(), Vec::new());
    let owned = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<String>>();
    for (id, about) in ballots(set, answers, seed) {
        match about {
            About::Choice(at, Task::Classify) => {
                if let Body::Text { text, .. } = &set.items[at].body {
                    classify.push(owned(&[&id, text, &types().join("\n"), "", ""]));
                }
            }
            About::Choice(at, task) => {
                let (id, turned) = match task {
                    Task::GoodFirst | Task::BadFirst => sealed(blinding, &id),
                    _ => (id, false),
                };
                let (question, options) = shown(&set.items[at], turned_to(task, turned));
                choose.push(owned(&[&id, &question, &lettered(&options), "", ""]));
            }
            About::Open(at) => {
                if let Body::Puzzle { question, .. } = &set.items[at].body {
                    write.push(owned(&[&id, question, "", ""]));
                }
            }
            About::Answer(at) => {
                let answer = &answers[at];
                let places = set.places();
                let Some(item) = places.get(answer.item.as_str()).map(|&at| &set.items[at]) else { continue };
                match &item.body {
                    Body::Text { text, explanation, .. } => {
                        rate.push(owned(&[&id, text, explanation, &answer.text, "", ""]));
                    }
                    Body::Joke { joke, explanation, .. } => {
                        let (id, turned) = sealed(blinding, &id);
                        let (first, second) = match turned {
                            false => (explanation, &answer.text),
                            true => (&answer.text, explanation),
                        };
                        prefer.push(owned(&[&id, joke, first, second, "", ""]));
                    }
                    Body::Puzzle { question, options, answer: right, .. } => {
                        score.push(owned(&[&id, question, &options[*right], &answer.text, "", ""]));
                    }
                    _ => {}
                }
            }
        }
    }
    // Answers of one item side by side would tell models apart.
    for (rows, name) in [(&mut rate, "rate"), (&mut prefer, "prefer"), (&mut score, "score")] {
        rows.sort_by_key(|row| (Draw::new(seed, name, &row[0]).bits(), row[0].clone()));
    }
    let mut sheets = vec![Sheet { name: "guidelines.md", bytes: GUIDELINES.into() }];
    let mut add = |name, headers: &[&str], rows: Vec<Vec<String>>| -> Result<(), ExportError> {
        if !rows.is_empty() {
            sheets.push(Sheet { name, bytes: sheet(headers, &["ballot", "answer", "annotator"], &rows)? });
        }
        Ok(())
    };
    add("choose.csv", &["ballot", "question", "options", "answer", "annotator"], choose)?;
    add("classify.csv", &["ballot", "text", "types", "answer", "annotator"], classify)?;
    add("rate.csv", &["ballot", "text", "reference", "response", "answer", "annotator"], rate)?;
    add("write.csv", &["ballot", "puzzle", "answer", "annotator"], write)?;
    add("score.csv", &["ballot", "puzzle", "reference", "response", "answer", "annotator"], score)?;
    add("prefer.csv", &["ballot", "joke", "explanation_1", "explanation_2", "answer", "annotator"], prefer)?;
    Ok(sheets)
}

/// The question and its options, as a person sees them.
fn shown(item: &Item, task: Task) -> (String, Vec<String>) {
    match &item.body {
        Body::Pair { question, good, bad, .. } => {
            let mut options = vec![good.clone(), bad.clone()];
            if task == Task::BadFirst {
                options.reverse();
            }
            (question.clone(), options)
        }
        Body::Text { text, options, .. } => (text.clone(), options.clone()),
        Body::Puzzle { question, options, .. } => (question.clone(), options.clone()),
        _ => (String::new(), Vec::new()),
    }
}

/// Reads ballots that came back: choices are added to `answers`, ratings to those they are about. A row without an
/// answer was not voted on; what is no ballot is set aside. Of two votes of one person on a ballot the first counts.
///
/// # Errors
/// [`EvaluateError`] where a file cannot be read or is no sheet.
pub fn read(
    set: &Set,
    files: &[File],
    answers: &mut Vec<Answer>,
    seed: u64,
    blinding: &Blinding,
) -> Result<Vec<SetAside>, EvaluateError> {
    let mut voted: FxHashSet<(String, String)> = FxHashSet::default();
    let mut aside = Vec::new();
    for file in files {
        // What people wrote in one file others score in the next.
        let known: FxHashMap<String, About> = ballots(set, answers, seed).into_iter().collect();
        for (place, row) in rows(file)? {
            let Some(said) = row.get("answer").filter(|said| !said.is_empty()) else { continue };
            let ballot = row.get("ballot").map(String::as_str).unwrap_or_default();
            let (ballot, seal) = ballot.split_once('.').map_or((ballot, None), |(id, seal)| (id, Some(seal)));
            let turned = match seal.map(|seal| blinding.sealed(&["evaluation", ballot], seal)) {
                Some(None) => {
                    let what = "the ballot was written with another raw/blinding, so nobody knows which side stood first";
                    aside.push(SetAside { place, what: what.into() });
                    continue;
                }
                known => known.flatten(),
            };
            let vote = Vote {
                ballot: ballot.to_owned(),
                turned,
                annotator: file.model.clone().or_else(|| row.get("annotator").cloned()).unwrap_or_default(),
                said: said.clone(),
                basis: format!("ballot:{place}"),
            };
            let taken = match voted.contains(&(vote.ballot.clone(), vote.annotator.clone())) {
                true => Err(format!("{} has voted on this ballot before", vote.annotator)),
                false => take(set, &known, answers, seed, &vote),
            };
            match taken {
                Ok(()) => _ = voted.insert((vote.ballot, vote.annotator)),
                Err(what) => aside.push(SetAside { place, what }),
            }
        }
    }
    Ok(aside)
}

struct Vote {
    ballot: String,
    /// What the ballot's seal says about the order; nothing where it has none.
    turned: Option<bool>,
    annotator: String,
    said: String,
    basis: String,
}

fn take(
    set: &Set,
    known: &FxHashMap<String, About>,
    answers: &mut Vec<Answer>,
    seed: u64,
    vote: &Vote,
) -> Result<(), String> {
    if vote.annotator.is_empty() {
        return Err(
            "no annotator is named\n  hint: --ballots NAME=FILE names the person who filled in the whole file".into()
        );
    }
    let about = known.get(&vote.ballot).ok_or_else(|| {
        format!("no ballot {:?} of these items and answers\n  hint: name the same outputs and models as when it was written", vote.ballot)
    })?;
    match about {
        About::Choice(at, task) => {
            let item = &set.items[*at];
            let (model, basis) = (vote.annotator.clone(), vote.basis.clone());
            let task = vote.turned.map_or(*task, |turned| turned_to(*task, turned));
            let (setting, text) = (Setting::default(), vote.said.clone());
            let given = RawAnswer { task, setting, model, person: true, basis, text };
            let answer = match task {
                Task::Classify => Answer::read(item, given),
                _ => {
                    let letters = ['A', 'B', 'C', 'D'];
                    let options = shown(item, task).1.len().min(letters.len());
                    let letter = parse::letter(&vote.said, &letters[..options]).map_err(|e| e.to_string())?;
                    let place = letters.iter().position(|known| *known == letter).unwrap_or_default();
                    Answer::chosen(item, given, place)
                }
            };
            match answer.format_error {
                Some(what) => Err(what),
                None => {
                    answers.push(answer);
                    Ok(())
                }
            }
        }
        About::Open(at) => {
            let (model, basis) = (vote.annotator.clone(), vote.basis.clone());
            let (task, setting, text) = (Task::SolveOpen, Setting::default(), vote.said.clone());
            let given = RawAnswer { task, setting, model, person: true, basis, text };
            answers.push(Answer::read(&set.items[*at], given));
            Ok(())
        }
        About::Answer(at) => {
            let answer = &mut answers[*at];
            let value = match answer.task {
                Task::SolveOpen => match vote.said.trim().parse::<u32>() {
                    Ok(score) if PUZZLE_SCALE.contains(&score) => score.to_string(),
                    _ => return Err(format!("{:?} is not a whole number from 0 to 5", vote.said)),
                },
                Task::ExplainJoke => {
                    let said = vote.said.trim().to_lowercase();
                    match said.as_str() {
                        "1" | "2" | "tie" => {
                            let of_seed = || person_first(seed, &answer.item, &answer.model);
                            preferred(&said, vote.turned.map_or_else(of_seed, |turned| !turned)).to_owned()
                        }
                        other => return Err(format!("{other:?} is none of 1, 2 and tie")),
                    }
                }
                _ => match vote.said.trim().parse::<u32>() {
                    Ok(rating @ 1..=5) => rating.to_string(),
                    _ => return Err(format!("{:?} is not a whole number from 1 to 5", vote.said)),
                },
            };
            let (judge, basis) = (vote.annotator.clone(), vote.basis.clone());
            answer.ratings.push(Rating { judge, person: true, value, basis });
            Ok(())
        }
    }
}

type Cells = BTreeMap<String, String>;

/// The rows of a sheet, or of JSON Lines with the sheet's columns as keys.
fn rows(file: &File) -> Result<Vec<(String, Cells)>, EvaluateError> {
    let bytes = fs::read(&file.path).map_err(Error::io("read", &file.path))?;
    let form = |what: String| EvaluateError::Form {
        path: file.path.clone(),
        what,
        hint: "expected a sheet of --write-ballots, or JSON Lines with its columns".into(),
    };
    let place = |number: usize| format!("{}:{number}", file.path.display());
    if bytes.trim_ascii_start().starts_with(b"{") {
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let mut rows = Vec::new();
        for (at, line) in lines {
            let json: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(line).map_err(|e| form(format!("line {}: {e}", at + 1)))?;
            let cell = |(key, value): (String, serde_json::Value)| match value {
                serde_json::Value::String(text) => (key, text),
                other => (key, other.to_string()),
            };
            rows.push((place(at + 1), json.into_iter().filter(|(_, v)| !v.is_null()).map(cell).collect()));
        }
        return Ok(rows);
    }
    let rows = sheet_rows(&bytes).map_err(|trouble| form(trouble.to_string()))?;
    Ok(rows.into_iter().map(|(number, cells)| (place(number), cells)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::testing::{answer, group, joke, pair, set, text};

    fn blinding() -> Blinding {
        Blinding::new([5; 32])
    }

    /// A sheet's rows, and what filling in `answer` makes of it.
    fn fill(sheet: &Sheet, answer: impl Fn(&Cells) -> String) -> String {
        let rows = sheet_rows(&sheet.bytes).unwrap();
        let line = |(_, cells): &(usize, Cells)| {
            let filled = serde_json::json!({ "ballot": cells["ballot"], "answer": answer(cells) });
            filled.to_string()
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn vote(set: &Set, answers: &mut Vec<Answer>, content: &str) -> Vec<SetAside> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("b.jsonl");
        std::fs::write(&path, content).unwrap();
        read(set, &[File { path, model: Some("reader".into()) }], answers, 1, &blinding()).unwrap()
    }

    fn sheet<'a>(sheets: &'a [Sheet], name: &str) -> &'a Sheet {
        sheets.iter().find(|sheet| sheet.name == name).unwrap()
    }

    #[test]
    fn people_choose_as_models_do() {
        let set = set("brainteaser", group(0, false, 1));
        let mut answers = Vec::new();
        let sheets = blank(&set, &answers, 1, &blinding()).unwrap();
        let aside = vote(&set, &mut answers, &fill(sheet(&sheets, "choose.csv"), |_| "b".to_uppercase()));
        assert!(aside.is_empty(), "{aside:?}");
        assert!(answers.len() == 3 && answers.iter().all(|a| a.person && a.correct == Some(true)));
    }

    #[test]
    fn a_pair_is_shown_in_one_order_and_the_ballot_does_not_tell_which() {
        let set = set("ruozhibench-mc", (0..40).map(|at| pair(at, &[])).collect());
        let sheets = blank(&set, &[], 1, &blinding()).unwrap();
        let choose = sheet(&sheets, "choose.csv");
        let text = String::from_utf8(choose.bytes.clone()).unwrap();
        assert!(!text.contains("good") && !text.contains("first"));
        let mut answers = Vec::new();
        let knows = |cells: &Cells| {
            if cells["options"].starts_with("A. Nobody knows.") { "A" } else { "B" }.to_string()
        };
        assert!(vote(&set, &mut answers, &fill(choose, knows)).is_empty());
        assert_eq!(answers.iter().filter(|a| a.correct == Some(true)).count(), 40);
        let first = answers.iter().filter(|a| a.task == Task::GoodFirst).count();
        assert!((8..=32).contains(&first), "{first} of 40");
    }

    #[test]
    fn explanations_are_rated_and_compared_blindly() {
        let texts = set("flub", vec![text(0, true, None, 0)]);
        let mut answers = vec![answer(&texts.items[0], Task::Explain, "secret-model", "因为。")];
        let sheets = blank(&texts, &answers, 1, &blinding()).unwrap();
        let rate = sheet(&sheets, "rate.csv");
        assert!(!String::from_utf8_lossy(&rate.bytes).contains("secret"));
        let filled = fill(rate, |_| "4".into());
        let twice = format!("{filled}\n{filled}\n{}", filled.replace("\"4\"", "\"9\""));
        let aside = vote(&texts, &mut answers, &twice);
        assert_eq!((answers[0].ratings[0].value.as_str(), aside.len()), ("4", 2));
        let jokes = set("chumor", (0..20).map(|at| joke(at, [0; 3])).collect());
        let mut answers: Vec<Answer> =
            jokes.items.iter().map(|item| answer(item, Task::ExplainJoke, "m", "太长。")).collect();
        let sheets = blank(&jokes, &answers, 1, &blinding()).unwrap();
        let person = |cells: &Cells| if cells["explanation_1"] == "双关。" { "1" } else { "2" }.to_string();
        assert!(vote(&jokes, &mut answers, &fill(sheet(&sheets, "prefer.csv"), person)).is_empty());
        assert!(answers.iter().all(|answer| answer.ratings[0].value == "human"));
    }

    /// Appendix A.5: people write, experts score people and models alike, and who gives no answer scores 0.
    #[test]
    fn puzzles_are_answered_freely_and_scored_blindly() {
        let set =
            set("brainteaser", (0..4).flat_map(|at| group(at, false, usize::from(at == 3) * 3)).collect());
        let context: Vec<&Item> = set.items.iter().filter(|item| item.takes(Task::SolveOpen)).collect();
        assert_eq!(context.len(), 3, "one is answered by none of above");
        let mut answers = vec![answer(context[0], Task::SolveOpen, "secret-model", "Over the ice.")];
        answers.push(answer(context[1], Task::SolveOpen, "secret-model", " - "));
        let sheets = blank(&set, &answers, 1, &blinding()).unwrap();
        assert!(
            vote(&set, &mut answers, &fill(sheet(&sheets, "write.csv"), |_| "He swam.".into())).is_empty()
        );
        assert_eq!(answers.iter().filter(|answer| answer.person).count(), 3);
        let sheets = blank(&set, &answers, 1, &blinding()).unwrap();
        let score = sheet(&sheets, "score.csv");
        let shown = String::from_utf8_lossy(&score.bytes);
        assert!(!shown.contains("secret") && !shown.contains("reader"));
        let scored = |cells: &Cells| if cells["response"] == "He swam." { "2" } else { "5" }.to_string();
        assert!(vote(&set, &mut answers, &fill(score, scored)).is_empty());
        assert_eq!(answers[0].ratings[0].value, "5");
        assert!(answers[1].ratings.is_empty() && answers[1].format_error.is_some());
        assert!(answers[2..].iter().all(|answer| answer.ratings[0].value == "2"));
        let wrong = fill(score, |_| "6".into()).replace("reader", "other");
        assert_eq!(vote(&set, &mut answers, &wrong).len(), 4);
    }

    #[test]
    fn what_is_no_vote_is_set_aside() {
        let set = set("flub", vec![text(0, true, None, 0)]);
        let mut answers = Vec::new();
        let aside = vote(
            &set,
            &mut answers,
            "{\"ballot\": \"x\", \"answer\": \"A\"}\n{\"ballot\": \"y\", \"answer\": null}",
        );
        assert_eq!((aside.len(), answers.len()), (1, 0), "an empty answer is no vote");
    }
}
