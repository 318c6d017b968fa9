//! Joins the results of other evaluations of the same rows, also of other workspaces: their `answers.jsonl`.
//! An answer is read as it was scored there, and only if its item has the same gold answer here.

use std::fs;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::answer::{Answer, Rating};
use super::error::{EvaluateError, SetAside};
use super::item::Item;
use super::outputs::File;
use super::set::Set;
use super::task::{Setting, Task};
use crate::store::Error;

/// What evaluation.json says about its set.
#[derive(Deserialize)]
struct EvaluationHead {
    set: String,
    /// Results of earlier versions have none.
    #[serde(default)]
    rows_hash: Option<String>,
}

impl EvaluationHead {
    fn read_head(folder: &Path) -> Result<EvaluationHead, EvaluateError> {
        let path = folder.join("evaluation.json");
        let form = |what: String| EvaluateError::Form {
            path: path.clone(),
            what,
            hint: "name a results folder of `riddlemill evaluate`, such as output/flub/evaluation/1.0.0"
                .into(),
        };
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(form("not there".into()));
            }
            read => read.map_err(Error::io("read", &path))?,
        };
        serde_json::from_slice(&bytes).map_err(|error| form(error.to_string()))
    }

    fn config_name(&self) -> &str {
        self.set.split_once('@').map_or(self.set.as_str(), |(config, _)| config)
    }
}

/// Checks before anything is asked that each folder has results on the rows of one of these sets.
///
/// # Errors
/// [`EvaluateError::Form`] if a folder has no results, or on other rows.
pub fn check_folders(sets: &[&Set], folders: &[File]) -> Result<(), EvaluateError> {
    for folder in folders {
        let head = EvaluationHead::read_head(&folder.path)?;
        let form = |what: String, hint: String| EvaluateError::Form { path: folder.path.clone(), what, hint };
        let of_config = || sets.iter().filter(|set| set.config == head.config_name());
        let names = |sets: Vec<String>| sets.join(", ");
        if of_config().next().is_none() {
            let named = names(sets.iter().map(|set| set.name()).collect());
            let what = format!("its results are on {}, and this evaluates {named}", head.set);
            return Err(form(what, format!("name {} too, or leave this folder out", head.set)));
        }
        let is_of = |set: &&&Set| match &head.rows_hash {
            Some(hash) => *hash == set.rows_hash,
            None => head.set == set.name(),
        };
        if !of_config().any(|set| is_of(&set)) {
            let named = names(of_config().map(|set| set.name()).collect());
            let what = format!("its results are on {}, whose rows are not those of {named} here", head.set);
            let hint = "evaluate one release in both workspaces: its folder, or its test.jsonl".into();
            return Err(form(what, hint));
        }
    }
    Ok(())
}

/// Why a line of results is not joined.
#[derive(Debug, thiserror::Error)]
enum JoinError {
    #[error(transparent)]
    NoAnswer(#[from] serde_json::Error),
    #[error("no item {item:?} in {set}: it may be withdrawn here")]
    NoItem { item: String, set: String },
    #[error("{task} is not asked about {item} of {set}")]
    NotAsked { task: Task, item: String, set: String },
    #[error("the gold answer of {item} is {there:?} there and {here:?} here")]
    OtherGold { item: String, there: String, here: String },
    #[error(
        "{model} has another answer to {task} of {item} already, which counts\n  hint: NAME=FOLDER puts a name before \
         the models of these results, and compares the two"
    )]
    OtherAnswer { model: String, task: Task, item: String },
    #[error("{0} rated this answer otherwise elsewhere, and that counts")]
    OtherRating(String),
}

/// An answer's item, task, setting, author and number.
type AnswerKey = (String, Task, Setting, String, bool, u32);

fn key_of_answer(answer: &Answer) -> AnswerKey {
    let Answer { item, task, setting, model, person, sample, .. } = answer;
    (item.clone(), *task, *setting, model.clone(), *person, *sample)
}

/// Adds the answers in folders of results. Equal answers are one, with the ratings of both; of different ones
/// of one model the first counts. Answers to items outside of a sample, and to tasks that are not asked for,
/// are left out.
///
/// # Errors
/// [`EvaluateError`] if a file cannot be read.
pub fn join_answers(
    set: &Set,
    folders: &[File],
    tasks: &[Task],
    answers: &mut Vec<Answer>,
) -> Result<Vec<SetAside>, EvaluateError> {
    let mut seen: FxHashMap<AnswerKey, usize> =
        answers.iter().enumerate().map(|(at, answer)| (key_of_answer(answer), at)).collect();
    let items: FxHashMap<&str, &Item> = set.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut skipped = Vec::new();
    for folder in folders {
        if EvaluationHead::read_head(&folder.path)?.config_name() != set.config {
            continue;
        }
        let path = folder.path.join("answers.jsonl");
        let text = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let place = format!("{}:{number}", path.display());
            let read = serde_json::from_str::<Answer>(line).map_err(JoinError::from);
            let answer = match read.and_then(|answer| fit_answer(set, &items, tasks, folder, answer)) {
                Ok(Some(answer)) => answer,
                Ok(None) => continue,
                Err(error) => {
                    skipped.push(SetAside { place, what: error.to_string() });
                    continue;
                }
            };
            match seen.get(&key_of_answer(&answer)) {
                None => {
                    seen.insert(key_of_answer(&answer), answers.len());
                    answers.push(answer);
                }
                Some(&at) => {
                    if let Err(error) = merge_ratings(&mut answers[at], answer) {
                        skipped.push(SetAside { place, what: error.to_string() });
                    }
                }
            }
        }
        let path = folder.path.join("missing.jsonl");
        let missing = fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        match missing.lines().filter(|line| !line.trim().is_empty()).count() {
            0 => {}
            count => {
                let noun = if count == 1 { "reply was" } else { "replies were" };
                let what = format!(
                    "{count} {noun} missing in these results\n  hint: the same `riddlemill evaluate` there asks for \
                     what is missing alone"
                );
                skipped.push(SetAside { place: path.display().to_string(), what });
            }
        }
    }
    Ok(skipped)
}

/// The answer with its item's parts and its model's name here; `None` if it is not asked for.
fn fit_answer(
    set: &Set,
    items: &FxHashMap<&str, &Item>,
    tasks: &[Task],
    folder: &File,
    mut answer: Answer,
) -> Result<Option<Answer>, JoinError> {
    if !tasks.is_empty() && !tasks.contains(&answer.task) {
        return Ok(None);
    }
    let Some(&item) = items.get(answer.item.as_str()) else {
        return match &set.sample {
            Some(_) => Ok(None),
            None => Err(JoinError::NoItem { item: answer.item, set: set.name() }),
        };
    };
    if !item.has_task(answer.task) {
        return Err(JoinError::NotAsked { task: answer.task, item: answer.item, set: set.name() });
    }
    let gold = item.gold_answer(answer.task);
    if gold != answer.gold {
        let [there, here] = [answer.gold, gold].map(|gold| gold.unwrap_or_else(|| "none".to_owned()));
        return Err(JoinError::OtherGold { item: answer.item, there, here });
    }
    if let (Some(name), false) = (&folder.model, answer.person) {
        answer.model = format!("{name}/{}", answer.model);
    }
    answer.parts.clone_from(&item.parts);
    Ok(Some(answer))
}

/// Adds the ratings of an equal answer.
fn merge_ratings(kept: &mut Answer, duplicate: Answer) -> Result<(), JoinError> {
    if kept.text.trim() != duplicate.text.trim() || kept.chosen != duplicate.chosen {
        return Err(JoinError::OtherAnswer {
            model: duplicate.model,
            task: duplicate.task,
            item: duplicate.item,
        });
    }
    let mut more = Vec::new();
    for rating in &duplicate.ratings {
        let before = values_of_judge(kept, rating);
        if before.is_empty() {
            more.push(rating.clone());
        } else if before != values_of_judge(&duplicate, rating) {
            return Err(JoinError::OtherRating(rating.judge.clone()));
        }
    }
    kept.ratings.extend(more);
    Ok(())
}

/// The values that the judge of a rating gave to an answer.
fn values_of_judge(answer: &Answer, like: &Rating) -> Vec<String> {
    let of_judge = |rating: &&Rating| rating.judge == like.judge && rating.person == like.person;
    answer.ratings.iter().filter(of_judge).map(|rating| rating.value.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parsed_answer, set_of_items, task_of_name, text_item};

    fn folder(dir: &Path, set: &Set, answers: &[Answer]) -> File {
        let head = serde_json::json!({ "set": set.name(), "rows_hash": set.rows_hash });
        fs::write(dir.join("evaluation.json"), head.to_string()).unwrap();
        let lines: String = answers.iter().map(|one| serde_json::to_string(one).unwrap() + "\n").collect();
        fs::write(dir.join("answers.jsonl"), lines).unwrap();
        fs::write(dir.join("missing.jsonl"), "").unwrap();
        File { path: dir.to_path_buf(), model: None }
    }

    fn choice(set: &Set, at: usize, model: &str, text: &str) -> Answer {
        parsed_answer(&set.items[at], task_of_name("select"), model, text)
    }

    #[test]
    fn equal_answers_are_one_and_other_ones_need_a_name() {
        let set = set_of_items("flub", (0..3).map(|at| text_item(at, true, None, 0)).collect());
        let dir = tempfile::tempdir().unwrap();
        let there: Vec<Answer> = (0..3).map(|at| choice(&set, at, "m", "A")).collect();
        let from = folder(dir.path(), &set, &there);
        let mut here = vec![choice(&set, 0, "m", "A"), choice(&set, 1, "m", "B")];
        let skipped = join_answers(&set, std::slice::from_ref(&from), &[], &mut here).unwrap();
        assert_eq!((here.len(), skipped.len()), (3, 1), "{skipped:?}");
        assert!(skipped[0].what.contains("NAME=FOLDER") && skipped[0].place.ends_with("answers.jsonl:2"));
        let named = File { model: Some("other".into()), ..from };
        assert!(join_answers(&set, &[named], &[], &mut here).unwrap().is_empty());
        assert_eq!(here.iter().filter(|answer| answer.model == "other/m").count(), 3);
    }

    #[test]
    fn results_on_other_rows_are_refused_before_anything_is_asked() {
        let set = set_of_items("flub", vec![text_item(0, true, None, 0)]);
        let dir = tempfile::tempdir().unwrap();
        let from = folder(dir.path(), &set, &[]);
        check_folders(&[&set], std::slice::from_ref(&from)).unwrap();
        let other = Set { rows_hash: "other".into(), ..set.clone() };
        assert!(
            check_folders(&[&other], std::slice::from_ref(&from))
                .unwrap_err()
                .to_string()
                .contains("whose rows are not")
        );
        let jokes = Set { config: "chumor".into(), ..set };
        assert!(
            check_folders(&[&jokes], &[from]).unwrap_err().to_string().contains("this evaluates chumor@test")
        );
    }

    #[test]
    fn another_gold_answer_is_set_aside() {
        let [here, there] = [0, 1].map(|gold| set_of_items("flub", vec![text_item(0, true, None, gold)]));
        let dir = tempfile::tempdir().unwrap();
        let from = folder(dir.path(), &there, &[choice(&there, 0, "m", "A")]);
        let mut answers = Vec::new();
        let skipped = join_answers(&here, &[from], &[], &mut answers).unwrap();
        assert!(answers.is_empty() && skipped[0].what.contains("there and"), "{skipped:?}");
    }
}
