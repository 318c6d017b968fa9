//! The puzzles of BrainTeaser (Jiang et al., 3.2 to 3.5).

use super::{Decision, Drafted, Prompt, Subject, discard, list, only, text};
use crate::stages::Review;
use crate::stages::draft::{DISTRACTORS, Draft, OVERTURNED, Slot};
use riddlemill_review::ballot::Step;
use riddlemill_review::item::Content;
use riddlemill_review::{Item, Value, Values};
use riddlemill_text::puzzle::words::key;
use riddlemill_text::puzzle::{distractors, reconstruction};
use riddlemill_text::record::{Post, Puzzle, Standing, flags_of};

impl Subject for Puzzle {
    /// A riddle becomes a puzzle in a stage of its own, which may hold it.
    fn of_post(_: Post) -> Option<Puzzle> {
        None
    }

    fn prompt(&self, draft: Draft, _: &Slot) -> Option<Prompt> {
        let (puzzle, answer) = (("puzzle", self.question.as_str()), ("answer", self.answer.as_str()));
        let distractors = self.distractors.join("\n");
        Some(match draft {
            Draft::PuzzleKind => Prompt::new("brainteaser/kind", [puzzle, answer]),
            Draft::Premises if !self.is_word() => Prompt::new("brainteaser/premises", [puzzle, answer]),
            // WordNet had them.
            Draft::Distractors if !self.distractors_draft.is_empty() => return None,
            Draft::Distractors if self.is_word() => {
                Prompt::new("brainteaser/distractors_word", [puzzle, answer])
            }
            Draft::Distractors => {
                let numbered: Vec<String> = self
                    .premises
                    .iter()
                    .enumerate()
                    .map(|(at, premise)| format!("{at}. {premise}"))
                    .collect();
                let overturned = overturned(self).unwrap_or_default().to_string();
                let premises = ("premises", numbered.join("\n"));
                Prompt::new(
                    "brainteaser/distractors_sentence",
                    [puzzle, answer, (premises.0, &premises.1), ("overturned", &overturned)],
                )
            }
            Draft::Semantic => {
                Prompt::new("brainteaser/semantic", [puzzle, answer, ("distractors", &distractors)])
            }
            Draft::Context => {
                let premises = self.premises.join("\n");
                let more = [("premises", premises.as_str()), ("distractors", &distractors)];
                Prompt::new("brainteaser/context", [puzzle, answer, more[0], more[1]])
            }
            _ => return None,
        })
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        let [Drafted { values, basis, .. }] = drafts else { return Vec::new() };
        let basis = vec![basis.clone()];
        match draft {
            Draft::PuzzleKind => {
                self.kind_draft = text(values, "kind");
                self.kind_basis = basis;
                Vec::new()
            }
            Draft::Premises => {
                self.premises_draft = lines(values, "premises");
                self.stumper_draft = text(values, "stumper");
                self.premises_basis = basis;
                Vec::new()
            }
            Draft::Distractors => {
                self.distractors_draft = three(values);
                self.distractors_basis = basis;
                let overturned = overturned(self);
                let numbers: Vec<usize> =
                    list(values, OVERTURNED).iter().filter_map(|number| number.parse().ok()).collect();
                let premise = |at: &usize| self.premises.get(*at).cloned().unwrap_or_default();
                self.distractors_from = numbers.iter().map(premise).collect();
                let mut findings = faults(self, &self.distractors_draft);
                for (distractor, at) in self.distractors_draft.iter().zip(&numbers) {
                    if Some(*at) == overturned {
                        findings
                            .push(format!("{distractor:?} overturns the premise that the answer overturns"));
                    } else if *at >= self.premises.len() {
                        findings.push(format!("{distractor:?} overturns no premise of the list"));
                    }
                }
                findings
            }
            Draft::Semantic => {
                self.semantic_draft = text(values, "question");
                self.semantic_basis = basis;
                if let Some(unusable) = discard(&mut self.semantic_draft, "") {
                    return vec![unusable];
                }
                let rephrased = self.semantic_draft.as_deref().unwrap_or_default();
                reconstruction::semantic(&self.question, &self.answer, rephrased, &self.distractors)
            }
            Draft::Context => {
                let parts = [text(values, "question"), text(values, "answer")];
                self.context_draft = parts.into_iter().flatten().chain(three(values)).collect();
                self.context_basis = basis;
                let [question, answer, wrong @ ..] = self.context_draft.as_slice() else { return Vec::new() };
                let mut findings = reconstruction::context(&self.question, &self.answer, question, answer);
                findings.extend(distractors::faults(question, answer, wrong, self.is_word()));
                findings
            }
            _ => Vec::new(),
        }
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }

    /// What a step looks at; nothing where it has nothing to look at: a puzzle without corrections, the premises of a
    /// word puzzle.
    fn items(&self, review: Review, step: &Step, _: u64) -> Vec<Item> {
        let nothing = match review {
            Review::Spelling => self.corrections.is_empty(),
            Review::Premises => self.is_word(),
            _ => false,
        };
        if nothing {
            return Vec::new();
        }
        let mut content = Content::new();
        let mut show = |key: &str, text: &str| content.insert(key.to_owned(), Value::from(text));
        show("question", &self.question);
        show("answer", &self.answer);
        if review == Review::Validity {
            show("semantic_question", self.semantic_question.as_deref().unwrap_or_default());
            show("context_question", self.context_question.as_deref().unwrap_or_default());
            show("context_answer", self.context_answer.as_deref().unwrap_or_default());
        }
        let mut list = |key: &str, list: Vec<String>| {
            if !list.is_empty() {
                content.insert(key.to_owned(), Value::List(list));
            }
        };
        match review {
            Review::Spelling => list("corrections", self.corrections.clone()),
            Review::Distractors => list("premises", self.premises.clone()),
            Review::Semantic | Review::Context => {
                list("premises", self.premises.clone());
                list("distractors", self.distractors.clone());
            }
            _ => {}
        }
        list("flags", flags_of(&self.flags, step.name));
        vec![Item::new(step, &self.id, content, draft(self, review))]
    }

    fn decided(
        &mut self,
        review: Review,
        decisions: &[Option<Decision>],
        standing: Standing,
        votes: Vec<String>,
    ) {
        let Some(Decision { values, .. }) = only(decisions) else { return };
        let (stands, basis) = match review {
            Review::Spelling => {
                self.question = text(values, "question").unwrap_or_else(|| self.question.clone());
                self.answer = text(values, "answer").unwrap_or_else(|| self.answer.clone());
                (&mut self.spelling_status, &mut self.spelling_basis)
            }
            Review::PuzzleKind => {
                self.kind = text(values, "kind");
                (&mut self.kind_status, &mut self.kind_basis)
            }
            Review::Premises => {
                self.premises = lines(values, "premises");
                self.stumper = text(values, "stumper");
                // Whoever rewrites may name it in other words.
                if let Some(stumper) = self.stumper.clone().filter(|_| overturned(self).is_none()) {
                    self.premises.push(stumper);
                }
                (&mut self.premises_status, &mut self.premises_basis)
            }
            Review::Distractors => {
                self.distractors = three(values);
                (&mut self.distractors_status, &mut self.distractors_basis)
            }
            Review::Semantic => {
                self.semantic_question = text(values, "question");
                (&mut self.semantic_status, &mut self.semantic_basis)
            }
            Review::Context => {
                self.context_question = text(values, "question");
                self.context_answer = text(values, "answer");
                self.context_distractors = three(values);
                (&mut self.context_status, &mut self.context_basis)
            }
            Review::Validity => (&mut self.validity_status, &mut self.validity_basis),
            _ => return,
        };
        *stands = Some(standing.code().to_owned());
        basis.extend(votes);
    }

    fn before(&self, review: Review) -> String {
        match review {
            Review::Spelling => format!("{}\n{}", self.question, self.answer),
            Review::PuzzleKind => self.kind_draft.clone().unwrap_or_default(),
            Review::Premises => self.premises_draft.join("\n"),
            Review::Distractors => self.distractors_draft.join("\n"),
            Review::Semantic => self.semantic_draft.clone().unwrap_or_default(),
            Review::Context => self.context_draft.join("\n"),
            _ => String::new(),
        }
    }

    fn after(&self, review: Review) -> String {
        match review {
            Review::Spelling => format!("{}\n{}", self.question, self.answer),
            Review::PuzzleKind => self.kind.clone().unwrap_or_default(),
            Review::Premises => self.premises.join("\n"),
            Review::Distractors => self.distractors.join("\n"),
            Review::Semantic => self.semantic_question.clone().unwrap_or_default(),
            Review::Context => {
                let parts = [&self.context_question, &self.context_answer].into_iter().flatten();
                parts.chain(&self.context_distractors).cloned().collect::<Vec<_>>().join("\n")
            }
            _ => "sound".into(),
        }
    }
}

/// The drafted answers; empty where nothing was drafted.
fn draft(puzzle: &Puzzle, review: Review) -> Values {
    let mut values = Values::new();
    let mut text = |field: &str, text: Option<&str>| {
        if let Some(text) = text {
            values.set(field, text);
        }
    };
    let mut wrong = &puzzle.distractors_draft[..];
    match review {
        Review::Spelling => {
            text("question", puzzle.question_draft.as_deref());
            text("answer", puzzle.answer_draft.as_deref());
        }
        Review::PuzzleKind => text("kind", puzzle.kind_draft.as_deref()),
        Review::Premises if !puzzle.premises_draft.is_empty() => {
            text("premises", Some(&puzzle.premises_draft.join("\n")));
            text("stumper", puzzle.stumper_draft.as_deref());
        }
        Review::Semantic => text("question", puzzle.semantic_draft.as_deref()),
        Review::Context => {
            text("question", puzzle.context_draft.first().map(String::as_str));
            text("answer", puzzle.context_draft.get(1).map(String::as_str));
            wrong = puzzle.context_draft.get(2..).unwrap_or_default();
        }
        _ => {}
    }
    if matches!(review, Review::Distractors | Review::Context) {
        DISTRACTORS.into_iter().zip(wrong).for_each(|(field, distractor)| text(field, Some(distractor)));
    }
    values
}

/// The number of the premise that the answer overturns, from 0.
fn overturned(puzzle: &Puzzle) -> Option<usize> {
    let stumper = key(puzzle.stumper.as_deref()?);
    puzzle.premises.iter().position(|premise| key(premise) == stumper)
}

fn faults(puzzle: &Puzzle, wrong: &[String]) -> Vec<String> {
    distractors::faults(&puzzle.question, &puzzle.answer, wrong, puzzle.is_word())
}

/// The lines of a text among answers, without bullets and numbers.
fn lines(values: &Values, field: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(['-', '*', '•']).trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let listed = number.len() < line.len() && number.starts_with(['.', ')']);
        if listed { number[1..].trim_start() } else { line }.to_owned()
    };
    let text = values.text(field).unwrap_or_default();
    text.lines().map(bare).filter(|line| !line.is_empty()).collect()
}

fn three(values: &Values) -> Vec<String> {
    DISTRACTORS.iter().filter_map(|field| text(values, field)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        Slot { model: "m".into(), ..Slot::default() }
    }

    fn sentence() -> Puzzle {
        Puzzle {
            id: "riddle:1".into(),
            question: "A man shaves all day and keeps his beard. How?".into(),
            answer: "He is a barber.".into(),
            kind: Some("sentence".into()),
            premises: ["He shaves himself.", "A razor cuts.", "It is one day."].map(String::from).into(),
            stumper: Some("he shaves himself".into()),
            ..Puzzle::default()
        }
    }

    #[test]
    fn what_is_asked_depends_on_the_kind() {
        let word = Puzzle { kind: Some("word".into()), ..sentence() };
        let template = |puzzle: &Puzzle, draft| puzzle.prompt(draft, &slot()).map(|prompt| prompt.template);
        assert_eq!(template(&word, Draft::Premises), None);
        assert_eq!(template(&word, Draft::Distractors), Some("brainteaser/distractors_word"));
        let listed = Puzzle { distractors_draft: vec!["a".into()], ..word };
        assert_eq!(template(&listed, Draft::Distractors), None);
        let prompt = sentence().prompt(Draft::Distractors, &slot()).unwrap();
        assert_eq!(
            (prompt.template, prompt.values["overturned"].as_str()),
            ("brainteaser/distractors_sentence", "0")
        );
        assert!(prompt.values["premises"].starts_with("0. He shaves himself.\n1. "));
    }

    #[test]
    fn a_distractor_must_leave_the_stumper_alone() {
        let mut puzzle = sentence();
        let mut values: Values =
            DISTRACTORS.into_iter().zip(["His razor is blunt.", "He is a barber!", "He rests."]).collect();
        values.set(OVERTURNED, ["1", "0", "7"].map(String::from).to_vec());
        let drafts = [Drafted { slot: slot(), values, basis: "sample:x".into() }];
        let findings = puzzle.drafted(Draft::Distractors, &drafts);
        assert_eq!(findings.len(), 3, "{findings:?}");
        assert_eq!(puzzle.distractors_from, ["A razor cuts.", "He shaves himself.", ""]);
    }

    #[test]
    fn premises_are_read_as_people_write_them() {
        let values: Values =
            [("premises", "1. One.\n- Two.\n\n  3) Three.\n40 winks.")].into_iter().collect();
        assert_eq!(lines(&values, "premises"), ["One.", "Two.", "Three.", "40 winks."]);
        let mut puzzle = sentence();
        let values: Values = [("premises", "One.\nTwo."), ("stumper", "Another.")].into_iter().collect();
        let decision = Decision { values, given: Vec::new() };
        puzzle.decided(Review::Premises, &[Some(decision)], Standing::Confirmed, vec!["vote:1".into()]);
        assert_eq!((puzzle.premises.len(), overturned(&puzzle)), (3, Some(2)));
        assert_eq!(puzzle.premises_status.as_deref(), Some("confirmed"));
    }
}
