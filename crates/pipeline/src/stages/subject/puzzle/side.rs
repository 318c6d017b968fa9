//! The two puzzles of a record that have distractors of their own: the original and its context reconstruction, which are
//! made and looked at by the same process (section 3.4: "following the same process as in Section 3.3").

use super::three;
use crate::stages::draft::{Draft, OVERTURNED};
use crate::stages::subject::{Drafted, Prompt, list};
use riddlemill_review::Values;
use riddlemill_text::puzzle::distractors;
use riddlemill_text::puzzle::words::key;
use riddlemill_text::record::Puzzle;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Original,
    Context,
}

/// What is in the record of one of them, to be filled in.
pub(super) struct Parts<'a> {
    pub drafted: &'a mut Vec<String>,
    pub from: &'a mut Vec<String>,
    pub basis: &'a mut Vec<String>,
}

/// What distractors of one of them are about.
pub(super) struct About<'a> {
    pub question: &'a str,
    pub answer: &'a str,
    pub premises: &'a [String],
    pub stumper: Option<&'a str>,
    pub drafted: &'a [String],
    pub rejected: &'a [String],
    pub decided: &'a [String],
    word: bool,
}

impl Side {
    /// Whose distractors a draft writes, and whether it is asked again because people found none sensible.
    pub(super) fn of_draft(draft: Draft) -> Option<(Side, bool)> {
        Some(match draft {
            Draft::Distractors => (Side::Original, false),
            Draft::Again => (Side::Original, true),
            Draft::ContextDistractors => (Side::Context, false),
            Draft::ContextAgain => (Side::Context, true),
            _ => return None,
        })
    }

    /// What distractors are about; `None` where there is no such puzzle, as where an optional ballot decided nothing.
    pub(super) fn about(self, puzzle: &Puzzle) -> Option<About<'_>> {
        let word = puzzle.is_word();
        Some(match self {
            Side::Original => About {
                question: &puzzle.question,
                answer: &puzzle.answer,
                premises: &puzzle.premises,
                stumper: puzzle.stumper.as_deref(),
                drafted: &puzzle.distractors_draft,
                rejected: &puzzle.distractors_rejected,
                decided: &puzzle.distractors,
                word,
            },
            Side::Context => About {
                question: puzzle.context_question.as_deref()?,
                answer: puzzle.context_answer.as_deref()?,
                premises: &puzzle.context_premises,
                stumper: puzzle.context_stumper.as_deref(),
                drafted: &puzzle.context_distractors_draft,
                rejected: &puzzle.context_distractors_rejected,
                decided: &puzzle.context_distractors,
                word,
            },
        })
    }

    pub(super) fn parts(self, puzzle: &mut Puzzle) -> Parts<'_> {
        match self {
            Side::Original => Parts {
                drafted: &mut puzzle.distractors_draft,
                from: &mut puzzle.distractors_from,
                basis: &mut puzzle.distractors_basis,
            },
            Side::Context => Parts {
                drafted: &mut puzzle.context_distractors_draft,
                from: &mut puzzle.context_distractors_from,
                basis: &mut puzzle.context_distractors_basis,
            },
        }
    }

    /// What a model is asked: the first time where nothing else gave distractors, again where people found none of them
    /// sensible.
    pub(super) fn prompt(self, puzzle: &Puzzle, again: bool) -> Option<Prompt> {
        let about = self.about(puzzle)?;
        let wanted = match again {
            false => about.drafted.is_empty(),
            true => about.is_rejected(),
        };
        if !wanted {
            return None;
        }
        let mut prompt = match about.word {
            true => Prompt::new(
                "brainteaser/distractors_word",
                [("puzzle", about.question), ("answer", about.answer)],
            ),
            false => {
                let numbered: Vec<String> = about
                    .premises
                    .iter()
                    .enumerate()
                    .map(|(at, premise)| format!("{at}. {premise}"))
                    .collect();
                let (premises, overturned) =
                    (numbered.join("\n"), about.overturned().unwrap_or_default().to_string());
                Prompt::new(
                    "brainteaser/distractors_sentence",
                    [
                        ("puzzle", about.question),
                        ("answer", about.answer),
                        ("premises", &premises),
                        ("overturned", &overturned),
                    ],
                )
            }
        };
        if self == Side::Original && !about.word && !puzzle.inferences.is_empty() {
            prompt.values.insert("inferences", puzzle.inferences.join("\n"));
        }
        if again {
            prompt.values.insert("rejected", about.rejected.join("\n"));
        }
        Some(prompt)
    }

    /// Takes a model's distractors. Returns what is suspicious about them.
    pub(super) fn drafted(self, puzzle: &mut Puzzle, drafted: &Drafted) -> Vec<String> {
        let (wrong, numbers) = (three(&drafted.values), numbers(&drafted.values));
        let Some(about) = self.about(puzzle) else { return Vec::new() };
        let (premises, overturned) = (about.premises.to_vec(), about.overturned());
        let mut findings = distractors::faults(about.question, about.answer, &wrong, about.word);
        for (distractor, at) in wrong.iter().zip(&numbers) {
            if Some(*at) == overturned {
                findings.push(format!("{distractor:?} overturns the premise that the answer overturns"));
            } else if *at >= premises.len() {
                findings.push(format!("{distractor:?} overturns no premise of the list"));
            }
        }
        let Parts { drafted: into, from, basis } = self.parts(puzzle);
        *from = numbers.iter().map(|at| premises.get(*at).cloned().unwrap_or_default()).collect();
        *into = wrong;
        *basis = vec![drafted.basis.clone()];
        findings
    }
}

impl About<'_> {
    /// The number of the premise that the answer overturns, from 0.
    pub(super) fn overturned(&self) -> Option<usize> {
        overturned(self.premises, self.stumper)
    }

    /// Whether people found none of the drafted ones sensible, and there are no others yet.
    pub(super) fn is_rejected(&self) -> bool {
        !self.rejected.is_empty() && self.decided.is_empty()
    }
}

/// The number of a stumper among premises.
pub(super) fn overturned(premises: &[String], stumper: Option<&str>) -> Option<usize> {
    let stumper = key(stumper?);
    premises.iter().position(|premise| key(premise) == stumper)
}

fn numbers(values: &Values) -> Vec<usize> {
    list(values, OVERTURNED).iter().filter_map(|number| number.parse().ok()).collect()
}
