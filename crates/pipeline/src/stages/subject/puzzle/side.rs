//! The two puzzles of a record that have distractors of their own: the original and its context reconstruction, which are
//! made and looked at by the same process (section 3.4: "following the same process as in Section 3.3").

use super::{NONE_SENSIBLE, lines, three};
use crate::stages::Review;
use crate::stages::draft::{DISTRACTORS, Draft, OVERTURNED};
use crate::stages::subject::{Drafted, Prompt, list, text};
use riddlemill_review::item::Content;
use riddlemill_review::{Value, Values};
use riddlemill_text::puzzle::distractors;
use riddlemill_text::puzzle::words::key;
use riddlemill_text::record::{Puzzle, Standing};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Original,
    Context,
}

/// What stands in the record of one of them, to be filled in.
pub(super) struct Parts<'a> {
    pub drafted: &'a mut Vec<String>,
    pub from: &'a mut Vec<String>,
    pub rejected: &'a mut Vec<String>,
    pub decided: &'a mut Vec<String>,
    pub status: &'a mut Option<String>,
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

    /// Whose distractors a ballot decides on, and whether it is the second one.
    pub(super) fn of_review(review: Review) -> Option<(Side, bool)> {
        Some(match review {
            Review::Distractors => (Side::Original, false),
            Review::Again => (Side::Original, true),
            Review::ContextDistractors => (Side::Context, false),
            Review::ContextAgain => (Side::Context, true),
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
                rejected: &mut puzzle.distractors_rejected,
                decided: &mut puzzle.distractors,
                status: &mut puzzle.distractors_status,
                basis: &mut puzzle.distractors_basis,
            },
            Side::Context => Parts {
                drafted: &mut puzzle.context_distractors_draft,
                from: &mut puzzle.context_distractors_from,
                rejected: &mut puzzle.context_distractors_rejected,
                decided: &mut puzzle.context_distractors,
                status: &mut puzzle.context_distractors_status,
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
        let Parts { drafted: into, from, basis, .. } = self.parts(puzzle);
        *from = numbers.iter().map(|at| premises.get(*at).cloned().unwrap_or_default()).collect();
        *into = wrong;
        *basis = vec![drafted.basis.clone()];
        findings
    }

    /// What a ballot shows beside question and answer.
    pub(super) fn show(self, puzzle: &Puzzle, again: bool, content: &mut Content) {
        let Some(about) = self.about(puzzle) else { return };
        let mut list = |key: &str, list: &[String]| {
            if !list.is_empty() {
                content.insert(key.to_owned(), Value::List(list.to_vec()));
            }
        };
        list("premises", about.premises);
        if self == Side::Original && !again {
            list("inferences", &puzzle.inferences);
        }
        if again {
            list("rejected", about.rejected);
        }
    }

    /// Takes what people decided: distractors, or that none of those drafted is sensible.
    pub(super) fn decided(
        self,
        puzzle: &mut Puzzle,
        values: &Values,
        standing: Standing,
        votes: Vec<String>,
    ) {
        let Parts { drafted, from, rejected, decided, status, basis } = self.parts(puzzle);
        basis.extend(votes);
        if values.text("verdict") == Some(NONE_SENSIBLE) {
            *rejected = std::mem::take(drafted);
            from.clear();
            return;
        }
        *decided = three(values);
        *status = Some(standing.code().to_owned());
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

/// The premises that people list, and the one of them that the answer overturns: whoever writes may name it in other
/// words.
pub(super) fn premises(values: &Values) -> (Vec<String>, Option<String>) {
    let (mut premises, stumper) = (lines(values, "premises"), text(values, "stumper"));
    if let Some(stumper) = stumper.clone().filter(|stumper| overturned(&premises, Some(stumper)).is_none()) {
        premises.push(stumper);
    }
    (premises, stumper)
}

fn numbers(values: &Values) -> Vec<usize> {
    list(values, OVERTURNED).iter().filter_map(|number| number.parse().ok()).collect()
}

/// Drafted distractors as the answers of a ballot.
pub(super) fn draft(wrong: &[String]) -> Values {
    let mut values = Values::new();
    DISTRACTORS.into_iter().zip(wrong).for_each(|(field, distractor)| values.set(field, distractor.as_str()));
    values
}
