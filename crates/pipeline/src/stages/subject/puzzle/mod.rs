//! The puzzles of BrainTeaser (Jiang et al., 3.2 to 3.5).

mod side;

use super::{Annotatable, Decision, Drafted, Prompt, discard, only, text};
use crate::stages::Review;
use crate::stages::draft::{DISTRACTORS, Draft, PREMISES, Slot};
use riddlemill_review::ballot::Step;
use riddlemill_review::item::Content;
use riddlemill_review::{Item, Value, Values};
use riddlemill_text::puzzle::reconstruction;
use riddlemill_text::puzzle::spelling::{Correction, corrected};
use riddlemill_text::record::{Post, Puzzle, Reason, Standing, flags_of, set_flags};
use side::Side;

/// The verdict on distractors none of which is sensible: others are asked for.
const NONE_SENSIBLE: &str = "none";

impl Annotatable for Puzzle {
    /// A riddle becomes a puzzle in a stage of its own, which may hold it.
    fn of_post(_: Post) -> Option<Puzzle> {
        None
    }

    fn prompt(&self, draft: Draft, _: &Slot) -> Option<Prompt> {
        let (puzzle, answer) = (("puzzle", self.question.as_str()), ("answer", self.answer.as_str()));
        let distractors = self.distractors.join("\n");
        if let Some((side, again)) = Side::of_draft(draft) {
            return side.prompt(self, again);
        }
        Some(match draft {
            Draft::PuzzleKind => Prompt::new("brainteaser/kind", [puzzle, answer]),
            // A person or a file listed them.
            Draft::Premises if !self.premises_draft.is_empty() => return None,
            Draft::Premises if !self.is_word() => Prompt::new("brainteaser/premises", [puzzle, answer]),
            Draft::Semantic => {
                Prompt::new("brainteaser/semantic", [puzzle, answer, ("distractors", &distractors)])
            }
            Draft::Context if self.is_word() => Prompt::new("brainteaser/context_word", [puzzle, answer]),
            Draft::Context => {
                let premises = self.premises.join("\n");
                Prompt::new("brainteaser/context", [puzzle, answer, ("premises", &premises)])
            }
            _ => return None,
        })
    }

    fn about(&self, draft: Draft) -> String {
        let (context, again) = match Side::of_draft(draft) {
            Some((side, again)) => (side == Side::Context, again),
            None => (false, false),
        };
        format!("{}{}{}", self.id, if context { "_CR" } else { "" }, if again { " again" } else { "" })
    }

    fn drafted(&mut self, draft: Draft, drafts: &[Drafted]) -> Vec<String> {
        let [drafted @ Drafted { values, basis, .. }] = drafts else { return Vec::new() };
        if let Some((side, _)) = Side::of_draft(draft) {
            return side.drafted(self, drafted);
        }
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
                self.context_draft = parts.into_iter().flatten().collect();
                self.context_premises_draft = lines(values, "premises");
                self.context_stumper_draft = text(values, "stumper");
                self.context_basis = basis;
                let [question, answer] = self.context_draft.as_slice() else { return Vec::new() };
                reconstruction::context(&self.question, &self.answer, question, answer)
            }
            _ => Vec::new(),
        }
    }

    /// A puzzle goes on whether or not somebody looked at its text, unless it has no answer.
    fn may_pass(&self, review: Review) -> bool {
        review == Review::Text
    }

    fn lacks(&self, review: Review) -> Option<Reason> {
        (review == Review::Text && self.answer.is_empty()).then_some(Reason::AnswerMissing)
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }

    /// What a step looks at; nothing where it has nothing to look at: a puzzle without corrections, the premises of a
    /// word puzzle, distractors that nobody rejected.
    fn items(&self, review: Review, step: &Step, _: u64) -> Vec<Item> {
        let side = Side::of_review(review);
        let nothing = match (review, side) {
            (Review::Spelling, _) => self.corrections.is_empty(),
            (Review::Premises, _) => self.is_word(),
            (_, Some((side, again))) => side.about(self).is_none_or(|about| again && !about.is_rejected()),
            _ => false,
        };
        if nothing {
            return Vec::new();
        }
        let mut content = Content::new();
        let about = side.and_then(|(side, _)| side.about(self));
        let (question, answer) = about
            .map_or((self.question.as_str(), self.answer.as_str()), |about| (about.question, about.answer));
        let mut show = |key: &str, text: &str| content.insert(key.to_owned(), Value::from(text));
        show("question", question);
        if !answer.is_empty() {
            show("answer", answer);
        }
        if review == Review::Validity {
            show("semantic_question", self.semantic_question.as_deref().unwrap_or_default());
            show("context_question", self.context_question.as_deref().unwrap_or_default());
            show("context_answer", self.context_answer.as_deref().unwrap_or_default());
        }
        if let Some((side, again)) = side {
            side.show(self, again, &mut content);
        }
        let mut list = |key: &str, list: Vec<String>| {
            if !list.is_empty() {
                content.insert(key.to_owned(), Value::List(list));
            }
        };
        match review {
            Review::Spelling => list("corrections", self.corrections.clone()),
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
        if let Some((side, _)) = Side::of_review(review) {
            return side.decided(self, values, standing, votes);
        }
        let few = |premises: &[String]| {
            let (count, fewest) = (premises.len(), *PREMISES.start());
            (count < fewest).then(|| format!("{count} premises, where three distractors need {fewest}"))
        };
        let (stands, basis) = match review {
            Review::Text => {
                self.question = text(values, "question").unwrap_or_else(|| self.question.clone());
                self.answer = text(values, "answer").unwrap_or_else(|| self.answer.clone());
                self.premises_draft = lines(values, "premises");
                let wrong = lines(values, "distractors");
                match wrong.len() {
                    0 => {}
                    3 => {
                        self.distractors_draft = wrong;
                        self.distractors_basis.clone_from(&votes);
                    }
                    n => set_flags(&mut self.flags, "text", [format!("{n} distractors, not 3: left out")]),
                }
                (&mut self.text_status, &mut self.text_basis)
            }
            Review::Spelling => {
                let (question, answer) = match values.text("verdict") {
                    Some("some") => self.with_corrections(values),
                    _ => (text(values, "question"), text(values, "answer")),
                };
                self.question = question.unwrap_or_else(|| self.question.clone());
                self.answer = answer.unwrap_or_else(|| self.answer.clone());
                (&mut self.spelling_status, &mut self.spelling_basis)
            }
            Review::PuzzleKind => {
                self.kind = text(values, "kind");
                (&mut self.kind_status, &mut self.kind_basis)
            }
            Review::Premises => {
                (self.premises, self.stumper) = side::premises(values);
                self.flags.extend(few(&self.premises).map(|found| format!("premises: {found}")));
                (&mut self.premises_status, &mut self.premises_basis)
            }
            Review::Semantic => {
                self.semantic_question = text(values, "question");
                (&mut self.semantic_status, &mut self.semantic_basis)
            }
            Review::Context => {
                self.context_question = text(values, "question");
                self.context_answer = text(values, "answer");
                if !self.is_word() {
                    (self.context_premises, self.context_stumper) = side::premises(values);
                    self.flags.extend(few(&self.context_premises).map(|found| format!("context: {found}")));
                }
                // Whoever knows all three writes them here; nothing else drafts any then.
                let wrong = three(values);
                if wrong.len() == DISTRACTORS.len() {
                    self.context_distractors_draft = wrong;
                    self.context_distractors_basis.clone_from(&votes);
                }
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
            Review::Text | Review::Spelling => crate::stages::puzzle::shown(&self.question, &self.answer),
            Review::PuzzleKind => self.kind_draft.clone().unwrap_or_default(),
            Review::Premises => self.premises_draft.join("\n"),
            Review::Semantic => self.semantic_draft.clone().unwrap_or_default(),
            Review::Context => self
                .context_draft
                .iter()
                .chain(&self.context_premises_draft)
                .cloned()
                .collect::<Vec<_>>()
                .join("\n"),
            _ => of_side(self, review, |about| about.drafted),
        }
    }

    fn after(&self, review: Review) -> String {
        match review {
            Review::Text | Review::Spelling => crate::stages::puzzle::shown(&self.question, &self.answer),
            Review::PuzzleKind => self.kind.clone().unwrap_or_default(),
            Review::Premises => self.premises.join("\n"),
            Review::Semantic => self.semantic_question.clone().unwrap_or_default(),
            Review::Context => {
                let parts = [&self.context_question, &self.context_answer].into_iter().flatten();
                parts.chain(&self.context_premises).cloned().collect::<Vec<_>>().join("\n")
            }
            Review::Validity => "sound".into(),
            _ => of_side(self, review, |about| about.decided),
        }
    }
}

/// Distractors of the puzzle that a ballot is about, as a ledger shows them.
fn of_side(puzzle: &Puzzle, review: Review, which: fn(side::About<'_>) -> &[String]) -> String {
    let about = Side::of_review(review).and_then(|(side, _)| side.about(puzzle));
    about.map(|about| which(about).join("\n")).unwrap_or_default()
}

/// What a person makes of proposed corrections.
trait Corrected {
    /// Question and answer with the corrections that are accepted, by their numbers from 1.
    fn with_corrections(&self, values: &Values) -> (Option<String>, Option<String>);
}

impl Corrected for Puzzle {
    fn with_corrections(&self, values: &Values) -> (Option<String>, Option<String>) {
        let number = |number: &String| number.parse::<usize>().ok()?.checked_sub(1);
        let taken = values.get("accepted").and_then(Value::as_list).unwrap_or_default();
        let proposed = taken.iter().filter_map(number).filter_map(|at| self.corrections.get(at));
        let accepted: Vec<Correction> = proposed.filter_map(|line| Correction::parse(line)).collect();
        (Some(corrected(&self.question, &accepted)), Some(corrected(&self.answer, &accepted)))
    }
}

/// The drafted answers; empty where nothing was drafted.
fn draft(puzzle: &Puzzle, review: Review) -> Values {
    if let Some((side, _)) = Side::of_review(review) {
        return side::draft(side.about(puzzle).map_or(&[][..], |about| about.drafted));
    }
    let mut values = Values::new();
    let mut text = |field: &str, text: Option<&str>| {
        if let Some(text) = text {
            values.set(field, text);
        }
    };
    match review {
        Review::Text => {
            text("question", Some(&puzzle.question));
            text("answer", Some(puzzle.answer.as_str()).filter(|answer| !answer.is_empty()));
        }
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
            if !puzzle.context_premises_draft.is_empty() {
                text("premises", Some(&puzzle.context_premises_draft.join("\n")));
                text("stumper", puzzle.context_stumper_draft.as_deref());
            }
        }
        _ => {}
    }
    values
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
    use crate::stages::draft::OVERTURNED;

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
        assert_eq!(
            (puzzle.premises.len(), Side::Original.about(&puzzle).unwrap().overturned()),
            (3, Some(2))
        );
        assert_eq!(puzzle.premises_status.as_deref(), Some("confirmed"));
    }

    fn decision<const N: usize>(answers: [(&str, Value); N]) -> [Option<Decision>; 1] {
        let mut values = Values::new();
        answers.into_iter().for_each(|(field, value)| values.set(field, value));
        [Some(Decision { values, given: Vec::new() })]
    }

    #[test]
    fn where_none_is_sensible_a_model_is_asked_again() {
        let wrong = ["A duck.", "A hen.", "A crow."].map(String::from).to_vec();
        let mut puzzle = Puzzle {
            question: "Which bird goes down?".into(),
            answer: "A swallow.".into(),
            kind: Some("word".into()),
            distractors_draft: wrong.clone(),
            ..Puzzle::default()
        };
        assert!(puzzle.prompt(Draft::Again, &slot()).is_none(), "nobody rejected them");
        let none = decision([("verdict", NONE_SENSIBLE.into())]);
        puzzle.decided(Review::Distractors, &none, Standing::Confirmed, vec!["vote:1".into()]);
        assert_eq!((&puzzle.distractors_rejected, &puzzle.distractors_status), (&wrong, &None));
        let prompt = puzzle.prompt(Draft::Again, &slot()).unwrap();
        assert_eq!(prompt.template, "brainteaser/distractors_word");
        assert_eq!(prompt.values["rejected"], "A duck.\nA hen.\nA crow.");
        let values: Values = DISTRACTORS.into_iter().zip(["A robin.", "A heron.", "A stork."]).collect();
        let drafts = [Drafted { slot: slot(), values: values.clone(), basis: "reply:2".into() }];
        assert!(puzzle.drafted(Draft::Again, &drafts).is_empty());
        let decided = [Some(Decision { values, given: Vec::new() })];
        puzzle.decided(Review::Again, &decided, Standing::Confirmed, vec!["vote:2".into()]);
        assert_eq!(puzzle.distractors, ["A robin.", "A heron.", "A stork."]);
        assert_eq!(puzzle.distractors_status.as_deref(), Some("confirmed"));
        assert!(puzzle.prompt(Draft::Again, &slot()).is_none());
    }

    #[test]
    fn a_new_situation_has_distractors_by_the_same_process() {
        let mut puzzle = Puzzle {
            context_question: Some("A boy climbs a volcano. How?".into()),
            context_answer: Some("It is a climbing frame.".into()),
            context_premises: ["It is hot.", "He climbs.", "It is a mountain.", "It is day."]
                .map(String::from)
                .into(),
            context_stumper: Some("It is a mountain.".into()),
            ..sentence()
        };
        let prompt = puzzle.prompt(Draft::ContextDistractors, &slot()).unwrap();
        assert_eq!(
            (prompt.template, prompt.values["overturned"].as_str()),
            ("brainteaser/distractors_sentence", "2")
        );
        let mut values: Values =
            DISTRACTORS.into_iter().zip(["It is cold.", "It is a frame to climb.", "It is night."]).collect();
        values.set(OVERTURNED, ["0", "2", "3"].map(String::from).to_vec());
        let drafts = [Drafted { slot: slot(), values, basis: "reply:1".into() }];
        let findings = puzzle.drafted(Draft::ContextDistractors, &drafts);
        assert_eq!(findings, ["\"It is a frame to climb.\" overturns the premise that the answer overturns"]);
        assert_eq!(puzzle.context_distractors_from, ["It is hot.", "It is a mountain.", "It is day."]);
    }

    #[test]
    fn people_write_the_text_and_take_corrections_word_by_word() {
        let mut puzzle = Puzzle { question: "Wat is it?".into(), ..Puzzle::default() };
        assert_eq!(puzzle.lacks(Review::Text), Some(Reason::AnswerMissing));
        let written = decision([
            ("verdict", "rewrite".into()),
            ("question", "Wich is teh clock?".into()),
            ("answer", "The one taht ticks.".into()),
            ("premises", "One.\n2. Two.".into()),
            ("distractors", "A.\nB.\nC.".into()),
        ]);
        puzzle.decided(Review::Text, &written, Standing::Confirmed, vec!["vote:1".into()]);
        assert_eq!((puzzle.lacks(Review::Text), puzzle.premises_draft.len()), (None, 2));
        assert_eq!(puzzle.distractors_draft, ["A.", "B.", "C."]);
        assert!(
            puzzle.prompt(Draft::Premises, &slot()).is_none()
                && puzzle.prompt(Draft::Distractors, &slot()).is_none()
        );
        puzzle.corrections = ["wich -> which", "teh -> the", "taht -> that"].map(String::from).into();
        let some =
            decision([("verdict", "some".into()), ("accepted", Value::List(vec!["1".into(), "3".into()]))]);
        puzzle.decided(Review::Spelling, &some, Standing::Confirmed, vec!["vote:2".into()]);
        assert_eq!(
            (puzzle.question.as_str(), puzzle.answer.as_str()),
            ("Which is teh clock?", "The one that ticks.")
        );
    }
}
