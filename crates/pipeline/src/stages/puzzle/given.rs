//! What files say in place of the paper's sources (section 3.3): premises that somebody listed, what COMET infers
//! from a question, the entries of a Wikipedia category beside an answer.
//!
//! A line is a JSON object of one of three kinds. `question` (or `head`, as COMET calls it) or `id` says which puzzle,
//! `word` which answer:
//! - `{"question": …, "premises": ["…", …], "overturned": 1}`: premises, and from 0 the one that the answer overturns;
//! - `{"head": …, "relation": "HinderedBy", "tails": ["…", …]}`: what may follow, hinder, cause;
//! - `{"word": "edam", "category": "semi-hard cheeses", "members": ["cheddar", …]}`: words of one category.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::config::sections;
use crate::stages::draft::PREMISES;
use crate::stages::line_error::LineError;
use crate::stages::{StageError, Unusable};
use riddlemill_text::puzzle::distractors::core;
use riddlemill_text::puzzle::words::key;
use riddlemill_text::record::{Outcome, Puzzle, Reason};

/// What the files that the settings name say.
#[derive(Debug, Default)]
pub struct SuppliedFacts {
    /// Premises by puzzle, with the overturned one and the line they are in.
    premises: HashMap<String, (Vec<String>, String, String)>,
    /// `relation: tail` by puzzle.
    inferences: HashMap<String, Vec<String>>,
    /// Entries of a category by the answer's words, with the category and the line.
    members: HashMap<String, (Vec<String>, String, String)>,
    /// Name and hash of each file.
    files: Vec<(String, String)>,
    /// Lines that say nothing that can be used: where, and why.
    pub refused: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
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
    pub fn open(root: &Path, settings: &sections::Puzzles) -> Result<SuppliedFacts, StageError> {
        let mut given = SuppliedFacts::default();
        if settings.premises.is_empty() {
            return Ok(given);
        }
        let wrong = |what: String| StageError::from(Unusable::at("puzzles.premises", what));
        let pattern = format!("{}/{}", glob::Pattern::escape(&root.display().to_string()), settings.premises);
        let mut paths = Vec::new();
        for path in glob::glob(&pattern).map_err(|e| wrong(e.to_string()))? {
            paths.push(path.map_err(|e| wrong(e.to_string()))?);
        }
        paths.sort();
        for path in paths {
            let bytes = fs::read(&path).map_err(|e| wrong(format!("{}: {e}", path.display())))?;
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            given.files.push((name.clone(), blake3::hash(&bytes).to_hex()[..16].to_string()));
            let text = String::from_utf8_lossy(&bytes);
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let place = format!("{name}:{}", at + 1);
                if let Err(why) = given.take(line, &place) {
                    given.refused.push((place, why.to_string()));
                }
            }
        }
        Ok(given)
    }

    /// What a manifest records: name and hash of each file.
    pub fn evidence(&self) -> BTreeMap<String, String> {
        self.files.iter().map(|(name, hash)| (format!("premises {name}"), hash.clone())).collect()
    }

    fn take(&mut self, line: &str, place: &str) -> Result<(), LineError> {
        let line: Line = serde_json::from_str(line)?;
        let texts = |list: Vec<String>| -> Vec<String> {
            let list = list.into_iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
            list.filter(|text| !text.is_empty()).collect()
        };
        if let (Some(word), Some(members)) = (&line.word, line.members) {
            let category = line.category.unwrap_or_else(|| "a category".into());
            let entry = (texts(members), category, place.to_owned());
            self.members.entry(key(word)).or_insert(entry);
            return Ok(());
        }
        let whose = line.id.or(line.question.as_deref().map(key)).ok_or(LineError::AboutNothing)?;
        match (line.premises, line.tails) {
            (Some(premises), None) => {
                let premises = texts(premises);
                if !PREMISES.contains(&premises.len()) {
                    return Err(LineError::Premises { found: premises.len(), wanted: PREMISES });
                }
                let overturned = line.overturned.and_then(|at| premises.get(at).cloned());
                let overturned = overturned.ok_or(LineError::Overturned)?;
                self.premises.entry(whose).or_insert((premises, overturned, place.to_owned()));
            }
            (None, Some(tails)) => {
                let relation = line.relation.unwrap_or_else(|| "follows".into());
                let tails = texts(tails).into_iter().filter(|tail| !tail.eq_ignore_ascii_case("none"));
                let lines = tails.map(|tail| format!("{relation}: {tail}"));
                self.inferences.entry(whose).or_default().extend(lines);
            }
            _ => return Err(LineError::NotOneKind),
        }
        Ok(())
    }

    /// The entries of a category beside an answer, with the category and where it stands.
    pub(super) fn members(&self, answer: &str) -> Option<(&[String], &str, &str)> {
        let (members, category, place) = self.members.get(&key(core(answer)))?;
        Some((members, category, place))
    }
}

/// Takes premises and inferences of a sentence puzzle from the files; a model is asked for what they do not say.
pub fn given(mut puzzle: Puzzle, given: &SuppliedFacts) -> Outcome<Puzzle> {
    let asked = key(&puzzle.question);
    let mut evidence = Vec::new();
    if puzzle.is_word() {
        return Outcome::Kept(puzzle);
    }
    let premises = given.premises.get(&puzzle.id).or_else(|| given.premises.get(&asked));
    if let Some((premises, overturned, place)) = premises.filter(|_| puzzle.premises_draft.is_empty()) {
        puzzle.premises_draft.clone_from(premises);
        puzzle.stumper_draft = Some(overturned.clone());
        puzzle.premises_basis = vec![format!("file:{place}")];
        evidence.push(format!("premises of {place}"));
    }
    let inferences = given.inferences.get(&puzzle.id).or_else(|| given.inferences.get(&asked));
    if let Some(inferences) = inferences.filter(|inferences| !inferences.is_empty()) {
        puzzle.inferences.clone_from(inferences);
        evidence.push(format!("{} inferences", inferences.len()));
    }
    if evidence.is_empty() {
        return Outcome::Kept(puzzle);
    }
    Outcome::Changed {
        rule: Reason::PremisesGiven.code(),
        evidence: evidence.join("; "),
        before: String::new(),
        after: puzzle.premises_draft.iter().chain(&puzzle.inferences).cloned().collect::<Vec<_>>().join("\n"),
        row: puzzle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            lines.iter().enumerate().filter(|(at, line)| all.take(line, &format!("f:{at}")).is_err());
        assert_eq!(refused.count(), 5);
        let sentence =
            Puzzle { question: "Why is it so?".into(), answer: "Edam.".into(), ..Puzzle::default() };
        let Outcome::Changed { row, evidence, .. } = given(sentence.clone(), &all) else { panic!() };
        assert_eq!((row.premises_draft.len(), row.stumper_draft.as_deref()), (4, Some("c")));
        assert_eq!(
            (row.inferences.as_slice(), evidence.as_str()),
            (&["HinderedBy: it rains".to_owned()][..], "premises of f:1; 1 inferences")
        );
        assert_eq!(all.members("Edam.").unwrap().1, "cheeses");
        let other = Puzzle { question: "Another?".into(), ..sentence };
        assert!(matches!(given(other, &all), Outcome::Kept(_)));
    }
}
