//! Graded trials: raw/votes/trials/<recipe>.<step>.jsonl, append-only, one entry per line.
//!
//! A line contains answers that wait to be graded, or a grade. The last grade of an annotator on a step
//! counts; `qualified` in the settings applies only to annotators without one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::assign::{Annotator, LastTrial};
use super::ballot::{Ballot, Qualification};
use super::guidance::read_entries;
use super::item::Item;
use super::qualify::{Trial, TrialLevel, judge_trials};
use super::value::Values;
use super::votes::Vote;
use riddlemill_files::digest::Digest;
use riddlemill_files::fence;
use riddlemill_files::log::{Log, LogError};

/// The folder of the trials in a workspace's raw/.
pub fn folder_of_trials(raw: &Path) -> PathBuf {
    raw.join("votes/trials")
}

/// The file of a step's trials.
pub fn path_of_trials(raw: &Path, recipe: &str, step: &str) -> PathBuf {
    folder_of_trials(raw).join(format!("{recipe}.{step}.jsonl"))
}

/// A line of a step's trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialLine {
    /// Answers to gold items that a senior has to grade.
    Answers(TrialAnswer),
    Grade(Grade),
}

/// Somebody's answer to a gold item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialAnswer {
    /// An anonymous name of the entry for sheets.
    pub entry: Digest,
    pub annotator: String,
    pub item: String,
    /// The answers.
    pub values: Values,
}

impl TrialAnswer {
    /// An answer with its name.
    pub fn new(annotator: &str, item: &str, values: Values) -> TrialAnswer {
        let answers = serde_json::to_string(&values).unwrap_or_default();
        let parts = [annotator, item, &answers].map(str::as_bytes);
        let entry = Digest::of_parts("riddlemill trial answer v1", parts);
        TrialAnswer { entry, annotator: annotator.to_owned(), item: item.to_owned(), values }
    }
}

/// An annotator's grade.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    pub annotator: String,
    /// Gold items answered correctly.
    pub right: usize,
    /// Gold items answered.
    pub of: usize,
    /// The fewest answers that a trial is judged by.
    pub fewest: usize,
    /// The shares that voters and seniors have to exceed.
    pub shares: [f64; 2],
    /// What it qualifies for.
    pub level: TrialLevel,
    /// The senior who graded; `None` if answers were compared with known ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When, RFC 3339.
    pub at: String,
    /// The answers, each with whether it is correct.
    pub answers: Vec<(TrialAnswer, bool)>,
}

impl Grade {
    /// The grade of a trial.
    pub fn new(
        trial: &Trial,
        fewest: usize,
        shares: Qualification,
        at: &str,
        by: Option<&str>,
        answers: Vec<(TrialAnswer, bool)>,
    ) -> Grade {
        Grade {
            annotator: trial.annotator.clone(),
            right: trial.right,
            of: trial.of,
            fewest,
            shares: [shares.formal, shares.senior],
            level: trial.level,
            by: by.map(str::to_owned),
            at: at.to_owned(),
            answers,
        }
    }

    /// Whether the other grade is equal, ignoring the time.
    fn same_content(&self, other: &Grade) -> bool {
        let timeless = |grade: &Grade| Grade { at: String::new(), ..grade.clone() };
        timeless(self) == timeless(other)
    }
}

/// The lines of a step, in the order they were written. Those that are no JSON are ignored.
///
/// # Errors
/// Those of [`read_entries`].
pub fn read_trials(raw: &Path, recipe: &str, step: &str) -> Result<Vec<TrialLine>, LogError> {
    read_entries(path_of_trials(raw, recipe, step))
}

/// Appends the new ones of these lines and returns their number, when they are on disk.
///
/// # Errors
/// [`LogError`] if the file cannot be written, or was changed.
pub fn append_trials(raw: &Path, recipe: &str, step: &str, lines: &[TrialLine]) -> Result<usize, LogError> {
    let there = read_trials(raw, recipe, step)?;
    let known = |line: &TrialLine| match line {
        TrialLine::Answers(given) => there.contains(&TrialLine::Answers(given.clone())),
        TrialLine::Grade(grade) => {
            let last = there.iter().rev().find_map(|line| match line {
                TrialLine::Grade(other) if other.annotator == grade.annotator => Some(other),
                _ => None,
            });
            last.is_some_and(|last| last.same_content(grade))
        }
    };
    let new: Vec<&TrialLine> = lines.iter().filter(|line| !known(line)).collect();
    Log::in_file(path_of_trials(raw, recipe, step)).add(new.iter().copied())?;
    Ok(new.len())
}

/// Everybody's graded trials on a step, in the order they were made.
///
/// # Errors
/// [`LogError`] if the file was changed.
pub fn read_attempts(raw: &Path, recipe: &str, step: &str) -> Result<BTreeMap<String, Vec<Grade>>, LogError> {
    let mut made: BTreeMap<String, Vec<Grade>> = BTreeMap::new();
    for line in read_trials(raw, recipe, step)? {
        if let TrialLine::Grade(grade) = line {
            made.entry(grade.annotator.clone()).or_default().push(grade);
        }
    }
    Ok(made)
}

/// How many items of somebody's last trial they had answered in an earlier one.
pub fn seen_before(grades: &[Grade]) -> usize {
    let Some((last, earlier)) = grades.split_last() else { return 0 };
    let known: BTreeSet<&str> =
        earlier.iter().flat_map(|grade| &grade.answers).map(|(answer, _)| answer.item.as_str()).collect();
    last.answers.iter().filter(|(answer, _)| known.contains(answer.item.as_str())).count()
}

/// Compares everybody's votes with known answers: their trials, and the grades of those with enough answers. With too
/// few nobody has passed or failed yet, so that there is no grade.
pub fn grade_against(
    ballot: &Ballot,
    gold: &[(&Item, &Values)],
    votes: &[&Vote],
    fewest: usize,
    at: &str,
) -> (Vec<Trial>, Vec<Grade>) {
    let shares = ballot.qualification.unwrap_or(Qualification::USUAL);
    let graded = judge_trials(ballot, gold, votes, shares, fewest);
    let mut grades = Vec::new();
    for trial in graded.iter().filter(|trial| trial.level != TrialLevel::TooFew) {
        let own = votes.iter().filter(|vote| vote.annotator == trial.annotator);
        let mut answers: Vec<(TrialAnswer, bool)> = Vec::new();
        for vote in own {
            let one = judge_trials(ballot, gold, &[vote], shares, 1);
            let right = one.first().is_some_and(|one| one.right > 0);
            answers.push((TrialAnswer::new(&vote.annotator, &vote.item, vote.values.clone()), right));
        }
        answers.sort_by(|(a, _), (b, _)| (&a.item, a.entry).cmp(&(&b.item, b.entry)));
        grades.push(Grade::new(trial, fewest, shares, at, None, answers));
    }
    (graded, grades)
}

/// Sets every annotator's trial results. What cannot be read is skipped here and reported by `fsck`.
pub fn fill_trials(raw: &Path, people: &mut [Annotator]) {
    let Ok(entries) = fence::list(folder_of_trials(raw)) else { return };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    for name in names {
        let Some((recipe, step)) = name.strip_suffix(".jsonl").and_then(|name| name.split_once('.')) else {
            continue;
        };
        let Ok(lines) = read_trials(raw, recipe, step) else { continue };
        let mut last: BTreeMap<String, Grade> = BTreeMap::new();
        for line in lines {
            if let TrialLine::Grade(grade) = line {
                last.insert(grade.annotator.clone(), grade);
            }
        }
        for person in people.iter_mut() {
            person.trials.extend(last.remove(&person.name).map(|grade| LastTrial {
                recipe: recipe.to_owned(),
                step: step.to_owned(),
                right: grade.right,
                of: grade.of,
                fewest: grade.fewest,
                level: grade.level,
            }));
        }
    }
}

/// A value that changes whenever a trial is graded, for callers that cache the result of [`fill_trials`].
pub fn trials_state(raw: &Path) -> u64 {
    let entries = fence::list(folder_of_trials(raw)).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::{Role, Round};
    use crate::{ballots, testing};

    fn grade(annotator: &str, right: usize, of: usize, level: TrialLevel) -> TrialLine {
        TrialLine::Grade(Grade {
            annotator: annotator.into(),
            right,
            of,
            fewest: 20,
            shares: [0.8, 0.95],
            level,
            by: None,
            at: "2026-01-01T00:00:00Z".into(),
            answers: vec![(TrialAnswer::new(annotator, "i", testing::one_answer("type", "paradox")), true)],
        })
    }

    fn person(name: &str, role: Role, qualified: bool) -> Annotator {
        Annotator { qualified, ..Annotator::new(name, role) }
    }

    #[test]
    fn a_grade_binds_and_other_steps_go_by_it() {
        let dir = tempfile::tempdir().unwrap();
        let raw = dir.path();
        let people = || {
            vec![
                person("good", Role::Junior, false),
                person("bad", Role::Junior, true),
                person("fair", Role::Senior, true),
                person("best", Role::Senior, false),
                person("hand", Role::Junior, true),
                person("none", Role::Junior, false),
            ]
        };
        let grades = [
            grade("good", 17, 20, TrialLevel::Formal),
            grade("bad", 3, 20, TrialLevel::Failed),
            grade("fair", 18, 20, TrialLevel::Formal),
            grade("best", 20, 20, TrialLevel::Senior),
        ];
        assert_eq!(append_trials(raw, "flub", "type", &grades).unwrap(), 4);
        assert_eq!(append_trials(raw, "flub", "type", &grades).unwrap(), 0, "the same grade is stored once");
        let mut graded = people();
        fill_trials(raw, &mut graded);
        let may = |step: &str, round: Round| -> Vec<&str> {
            let step = ballots::find_step("flub", step).unwrap();
            let may = graded.iter().filter(|person| person.may_vote(&step, round));
            may.map(|person| person.name.as_str()).collect()
        };
        assert_eq!(may("type", Round::Vote), ["good", "hand"]);
        assert_eq!(may("type", Round::Review), ["best"], "a senior passes 95 %");
        assert_eq!(may("explanation", Round::Vote), ["good", "hand"]);
        assert_eq!(may("wrong", Round::Vote), ["best"]);
        // A step's own grade takes precedence over those of other steps, and a later grade over earlier ones.
        append_trials(raw, "flub", "explanation", &[grade("good", 2, 20, TrialLevel::Failed)]).unwrap();
        append_trials(raw, "flub", "type", &[grade("bad", 19, 20, TrialLevel::Formal)]).unwrap();
        let mut graded = people();
        fill_trials(raw, &mut graded);
        let step = ballots::find_step("flub", "explanation").unwrap();
        let may: Vec<&str> = graded
            .iter()
            .filter(|person| person.may_vote(&step, Round::Vote))
            .map(|person| person.name.as_str())
            .collect();
        assert_eq!(may, ["bad", "hand"]);
    }
}
