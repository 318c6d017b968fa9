//! `given_premises`: files that replace BrainTeaser's sources (section 3.3): listed premises, what
//! COMET infers from a question, the entries of a Wikipedia category that contains an answer.
//!
//! A line is a JSON object of one of three kinds. `question` (or `head`, as COMET calls it) or `id` identifies the puzzle,
//! `word` the answer:
//! - `{"question": …, "premises": ["…", …], "overturned": 1}`: premises, and from 0 the one that the answer overturns;
//! - `{"head": …, "relation": "HinderedBy", "tails": ["…", …]}`: what may follow, hinder, cause;
//! - `{"word": "edam", "category": "semi-hard cheeses", "members": ["cheddar", …]}`: words of one category.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fs;

use serde::Deserialize;
use serde_json::Value;

use super::fill::{OperationResult, Taken, fill_records};
use super::{
    About, Declared, Job, NewRows, Operation, OperationInput, Records, Stage, StepContext, puzzle_settings,
};
use crate::config::places::list_matching_files;
use crate::config::{Config, sections};
use crate::stages::draft::PREMISES as COUNT;
use crate::stages::line_error::LineError;
use crate::stages::{StageError, Unusable};
use riddlemill_files::reading::decode_text;
use riddlemill_record::Reason;
use riddlemill_review::Values;
use riddlemill_text::puzzle::distractors::strip_article;
use riddlemill_text::puzzle::words::word_key;

#[derive(Debug)]
struct GivenPremises(&'static Declared);

const QUESTION: &str = "question";
const PREMISES: &str = "premises";
const OVERTURNED: &str = "overturned";
const INFERENCES: &str = "inferences";

pub(super) static OPERATION: Operation = Operation {
    name: "given_premises",
    version: 1,
    section: "puzzles",
    records: Records::AsTheyCome,
    // The premises that are there already: none are taken from a file then.
    inputs: &[
        OperationInput { name: QUESTION, needed: true },
        OperationInput { name: PREMISES, needed: false },
    ],
    gives: &[PREMISES, OVERTURNED, INFERENCES],
    settings: &[],
    of_declared: "",
    stage: |step| Box::new(GivenPremises(step)),
};

impl Stage for GivenPremises {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    fn row_settings(&self, _: &Config, _recipe: &str) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Ok(SuppliedFacts::open(step.config, &puzzle_settings(step.config, step.recipe).0)?
            .manifest_evidence())
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let facts =
            SuppliedFacts::open(job.step.config, &puzzle_settings(job.step.config, job.step.recipe).0)?;
        job.report_refused(&facts.refused);
        fill_records(job, self.0, |taken| Ok::<_, Infallible>(find_given_premises(taken, &facts)))
    }
}

/// The content of the files named in the settings.
#[derive(Debug, Default)]
pub(super) struct SuppliedFacts {
    /// Premises by puzzle, with the overturned one and the line they are in.
    premises: HashMap<String, (Vec<String>, String, String)>,
    /// `relation: tail` by puzzle.
    inferences: HashMap<String, Vec<String>>,
    /// Entries of a category by the answer's words, with the category and the line.
    members: HashMap<String, (Vec<String>, String, String)>,
    /// Name and hash of each file.
    files: Vec<(String, String)>,
    /// Lines that cannot be used: where, and why.
    pub(super) refused: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PremiseLine {
    id: Option<String>,
    #[serde(alias = "head")]
    question: Option<String>,
    premises: Option<Vec<String>>,
    overturned: Option<usize>,
    relation: Option<String>,
    tails: Option<Vec<String>>,
    word: Option<String>,
    category: Option<String>,
    members: Option<Vec<String>>,
}

impl SuppliedFacts {
    /// Reads the files. A line that cannot be used is [refused](SuppliedFacts::refused), and the rest counts.
    ///
    /// # Errors
    /// [`StageError::Settings`] where the pattern is none or a file cannot be read.
    pub(super) fn open(config: &Config, settings: &sections::Puzzles) -> Result<SuppliedFacts, StageError> {
        let mut given = SuppliedFacts::default();
        if settings.premises.is_empty() {
            return Ok(given);
        }
        let wrong = |what: String| StageError::from(Unusable::at_place("puzzles.premises", what));
        let found = list_matching_files(&config.root, &config.trust, &settings.premises);
        let found = found.map_err(|e| wrong(e.to_string()))?.into_iter();
        let mut paths =
            found.map(|path| path.map_err(|e| wrong(e.to_string()))).collect::<Result<Vec<_>, _>>()?;
        // The first line about a puzzle counts, so the order must not depend on the file system.
        paths.sort();
        for path in paths {
            let bytes = fs::read(&path).map_err(|e| wrong(format!("{}: {e}", path.display())))?;
            let name = path.strip_prefix(&config.root).unwrap_or(&path).display().to_string();
            given.files.push((name.clone(), blake3::hash(&bytes).to_hex()[..16].to_string()));
            let text = decode_text(&bytes).map_err(|e| wrong(format!("{name}: {e}")))?;
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let place = format!("{name}:{}", at + 1);
                if let Err(why) = given.add_line(line, &place) {
                    given.refused.push((place, why.to_string()));
                }
            }
        }
        Ok(given)
    }

    /// What a manifest records: name and hash of each file.
    pub(super) fn manifest_evidence(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(name, hash)| (format!("premises {name}"), hash.clone())).collect()
    }

    fn add_line(&mut self, line: &str, place: &str) -> Result<(), LineError> {
        let line: PremiseLine = riddlemill_text::notation::from_str(line)?;
        let texts = |list: Vec<String>| -> Vec<String> {
            let list = list.into_iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
            list.filter(|text| !text.is_empty()).collect()
        };
        if let (Some(word), Some(members)) = (&line.word, line.members) {
            let category = line.category.unwrap_or_else(|| "a category".into());
            let entry = (texts(members), category, place.to_owned());
            self.members.entry(word_key(word)).or_insert(entry);
            return Ok(());
        }
        let whose = line.id.or(line.question.as_deref().map(word_key)).ok_or(LineError::AboutNothing)?;
        match (line.premises, line.tails) {
            (Some(premises), None) => {
                let premises = texts(premises);
                if !COUNT.contains(&premises.len()) {
                    return Err(LineError::Premises { found: premises.len(), wanted: COUNT });
                }
                let overturned = line.overturned.and_then(|at| premises.get(at).cloned());
                let overturned = overturned.ok_or(LineError::Overturned)?;
                self.premises.entry(whose).or_insert((premises, overturned, place.to_owned()));
            }
            (None, Some(tails)) => {
                let relation = line.relation.unwrap_or_else(|| "follows".into());
                // Files of inferences write `none` where nothing follows.
                let tails = texts(tails).into_iter().filter(|tail| !tail.eq_ignore_ascii_case("none"));
                let lines = tails.map(|tail| format!("{relation}: {tail}"));
                self.inferences.entry(whose).or_default().extend(lines);
            }
            _ => return Err(LineError::NotOneKind),
        }
        Ok(())
    }

    /// The other entries of a category that contains an answer, with the category and its place in the file.
    pub(super) fn members_of_category(&self, answer: &str) -> Option<(&[String], &str, &str)> {
        let (members, category, place) = self.members.get(&word_key(strip_article(answer)))?;
        Some((members, category, place))
    }
}

/// The premises and inferences of a puzzle in the files; a model is asked for the missing ones.
fn find_given_premises(taken: &Taken<'_>, facts: &SuppliedFacts) -> Option<OperationResult> {
    let asked = word_key(&taken.text_of_input(QUESTION)?);
    let mut listed = taken.texts_of_input(PREMISES);
    let (mut values, mut basis, mut evidence) = (Values::new(), Vec::new(), Vec::new());
    let premises = facts.premises.get(taken.id).or_else(|| facts.premises.get(&asked));
    if let Some((premises, overturned, place)) = premises.filter(|_| listed.is_empty()) {
        listed.clone_from(premises);
        values.set(PREMISES, premises.clone());
        values.set(OVERTURNED, overturned.as_str());
        basis.push(format!("file:{place}"));
        evidence.push(format!("premises of {place}"));
    }
    let inferences = facts.inferences.get(taken.id).or_else(|| facts.inferences.get(&asked));
    let inferences = inferences.filter(|inferences| !inferences.is_empty());
    if let Some(inferences) = inferences {
        values.set(INFERENCES, inferences.clone());
        evidence.push(format!("{} inferences", inferences.len()));
    }
    if evidence.is_empty() {
        return None;
    }
    let after = listed.iter().chain(inferences.into_iter().flatten()).cloned().collect::<Vec<_>>().join("\n");
    let (evidence, before) = (evidence.join("; "), String::new());
    Some(OperationResult { values, basis, rule: Reason::PremisesGiven, evidence, before, after })
}

#[cfg(test)]
mod tests {
    use super::super::fill::fill_record;
    use super::super::tests::step;
    use super::*;
    use crate::stages::subject::rows::{make_row, row_with_values};
    use riddlemill_record::{Outcome, Row};
    use serde_json::json;

    #[test]
    fn files_give_premises_inferences_and_members() {
        let mut all = SuppliedFacts::default();
        let lines = [
            r#"{"head": "Why is it SO?", "relation": "HinderedBy", "tails": ["it  rains", "none", ""]}"#,
            r#"{"question": "why is it so", "premises": ["a", "b", "c", "d"], "overturned": 2}"#,
            r#"{"word": "edam", "category": "cheeses", "members": ["cheddar", "gouda", "brie"]}"#,
            r#"{"question": "x", "premises": ["a"], "overturned": 0}"#,
            r#"{"question": "x", "premises": ["a", "b", "c", "d"]}"#,
            r#"{"tails": ["x"]}"#,
            r#"{"question": "x", "tale": ["x"]}"#,
            "no json",
        ];
        let refused =
            lines.iter().enumerate().filter(|(at, line)| all.add_line(line, &format!("f:{at}")).is_err());
        assert_eq!(refused.count(), 5);
        let sentence = make_row("puzzles", json!({ "question": "Why is it so?", "answer": "Edam." }));
        let given = |puzzle: Row| {
            fill_record(puzzle, step("brainteaser", "from-files"), &|taken| {
                Ok::<_, Infallible>(find_given_premises(taken, &all))
            })
        };
        let Outcome::Changed { row, evidence, .. } = given(sentence.clone()) else { panic!() };
        assert_eq!((row.list("premises_draft").len(), row.text("stumper_draft")), (4, Some("c")));
        assert_eq!(
            (row.list("inferences"), evidence.as_str()),
            (&["HinderedBy: it rains".to_owned()][..], "premises of f:1; 1 inferences")
        );
        assert_eq!(all.members_of_category("Edam.").unwrap().1, "cheeses");
        let other = row_with_values(&sentence, json!({ "question": "Another?" }));
        assert!(matches!(given(other), Outcome::Kept(_)));
        // What a person listed stays; a word puzzle has no premises.
        let own = row_with_values(&sentence, json!({ "premises_draft": ["Mine."] }));
        let Outcome::Changed { row, evidence, after, .. } = given(own) else { panic!() };
        assert_eq!(
            (row.list("premises_draft"), evidence.as_str()),
            (&["Mine.".to_owned()][..], "1 inferences")
        );
        assert!(row.list("premises_basis").is_empty());
        assert_eq!(after, "Mine.\nHinderedBy: it rains");
        assert!(matches!(given(row_with_values(&sentence, json!({ "kind": "word" }))), Outcome::Kept(_)));
    }
}
