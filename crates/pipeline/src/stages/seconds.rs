//! Records that reached a step from several of its inputs. One id is one record: that of the first input is worked on, and
//! those of later ones are set aside, in the ledger.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::context::{StageError, StageRows};
use riddlemill_record::{Outcome, Reason, Record};
use riddlemill_tables::{StageReader, StageWriter, json_parts};

/// The records of later inputs whose ids earlier inputs have.
#[derive(Default)]
pub struct Seconds {
    /// For each input, such ids with the number of the first input that has them.
    of: Vec<BTreeMap<String, usize>>,
    /// What the inputs are called: `recipe/stage`.
    names: Vec<String>,
}

impl Seconds {
    /// Those among these inputs. Of one input nothing is read. Records of two kinds are never one, whatever their ids.
    ///
    /// # Errors
    /// [`StageError`] if an input cannot be read.
    pub fn find_in_inputs(inputs: &[(StageRows, &StageReader)]) -> Result<Seconds, StageError> {
        if inputs.len() < 2 {
            return Ok(Seconds::default());
        }
        let mut seconds = Seconds::default();
        let mut known: Vec<(StageRows, FxHashMap<String, usize>)> = Vec::new();
        for (at, (rows, input)) in inputs.iter().enumerate() {
            let place = known.iter().position(|(of, _)| is_one_kind(*of, *rows)).unwrap_or_else(|| {
                known.push((*rows, FxHashMap::default()));
                known.len() - 1
            });
            let firsts = &mut known[place].1;
            let mut again = BTreeMap::new();
            for part in json_parts(input, "rows", &["id"]) {
                for row in part? {
                    let Some(id) = row.get("id").and_then(|id| id.as_str()) else { continue };
                    match firsts.get(id) {
                        // Within one input an id is unique.
                        Some(first) if *first < at => {
                            again.insert(id.to_owned(), *first);
                        }
                        Some(_) => {}
                        None => {
                            firsts.insert(id.to_owned(), at);
                        }
                    }
                }
            }
            seconds.of.push(again);
            let manifest = input.manifest();
            seconds.names.push(format!("{}/{}", manifest.recipe, manifest.stage));
        }
        Ok(seconds)
    }

    /// Whether an earlier input has a record of this one.
    pub fn has_earlier(&self, input: usize, id: &str) -> bool {
        self.of.get(input).is_some_and(|again| again.contains_key(id))
    }

    /// What becomes of a record of this input; `None` if it is the first of its id.
    pub fn outcome_of_repeat<T>(&self, input: usize, id: &str) -> Option<Outcome<T>> {
        let first = self.of.get(input)?.get(id)?;
        Some(set_aside(&self.names[*first], &self.names[input], true))
    }

    /// Sets all of them aside, for a step that decides over the whole.
    pub fn set_all_aside<T: Record>(&self, writer: &mut StageWriter<T>) {
        for (input, again) in self.of.iter().enumerate() {
            for id in again.keys() {
                if let Some(outcome) = self.outcome_of_repeat(input, id) {
                    writer.append(id, &outcome);
                }
            }
        }
    }
}

/// Whether records of these kinds may be one: posts become records in groups where a step needs them.
fn is_one_kind(one: StageRows, other: StageRows) -> bool {
    match (one, other) {
        (StageRows::Kind(one), StageRows::Kind(other)) => one == other,
        (StageRows::Kind(_), _) | (_, StageRows::Kind(_)) => false,
        _ => true,
    }
}

/// What becomes of a record of a later input whose id a record of an earlier one has.
pub fn set_aside<T>(first: &str, later: &str, same: bool) -> Outcome<T> {
    let other = if same { "" } else { ", where it has other fields" };
    Outcome::Dropped {
        reason: Reason::SameId,
        evidence: format!("it came from {first}, and {later} has it, too{other}"),
    }
}
