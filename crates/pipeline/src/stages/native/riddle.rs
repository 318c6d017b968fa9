//! `riddle`: from a riddle as its page has it to its question and answer: entities decoded, lines joined, promotion taken
//! off. They stand in the columns of a puzzle, or in the step's group of a declared record.

use super::reread::goes_on;
use super::{Commit, Job, Native, Operation, Records, Reread, Signature, Written};
use crate::config::Config;
use crate::stages::overrule::{by_rule, edit_parts, edits, overruled};
use crate::stages::published::settled;
use crate::stages::stage::{Rows, StageError};
use crate::stages::subject::declared::{Groups, of_post};
use riddlemill_review::decisions::{StageDecisions, Verdict, seen_text};
use riddlemill_text::puzzle::promotion;
use riddlemill_text::record::{Declared, Outcome, Post, Puzzle, Reason};
use serde_json::json;

pub(super) struct Riddle;

static SIGNATURE: Signature = Signature {
    name: "riddle",
    // 2 takes promotion off behind a letter; 3 lets a riddle without an answer go on to the ballot on its text.
    version: 3,
    section: "puzzles",
    records: Records::Made { of: &[Rows::Posts], into: &[Rows::Puzzles, Rows::Declared] },
    inputs: &[],
    gives: &["question", "answer"],
    settings: &[],
};

impl Operation for Riddle {
    fn signature(&self) -> &'static Signature {
        &SIGNATURE
    }

    // Nothing goes on from there without a question and an answer: who has the answer says it.
    fn takes(&self, verdict: Verdict) -> bool {
        !verdict.is_of_pair() && verdict != Verdict::Keep
    }

    fn is_of_riddles(&self) -> bool {
        true
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn reread(&self, native: Native, _: &Config, _recipe: &str) -> Result<Option<Reread>, StageError> {
        let none = StageDecisions::default();
        Ok(Some(Box::new(move |written| match written {
            Written::Post(post) if native.rows() == Rows::Declared => {
                goes_on(declared(post, native.declared.name, &none)).map(Written::Declared)
            }
            Written::Post(post) => goes_on(strip(post)).map(Written::from),
            other => Some(other),
        })))
    }

    fn make(&self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError> {
        let (step, people, published) = (job.step(), &job.people, &job.published);
        if job.native.rows() == Rows::Declared {
            let mut writer = job.writer()?;
            job.each(&mut writer, |post: Post| {
                let outcome = declared(post.clone(), step, people);
                settled(published, step, &post, outcome, || Some(declared_as_published(&post, step)))
            })?;
            return Ok(Box::new(writer));
        }
        let mut writer = job.writer()?;
        job.each(&mut writer, |post: Post| {
            let outcome = decided(post.clone(), people);
            settled(published, step, &post, outcome, || Some(as_published(&post)))
        })?;
        Ok(Box::new(writer))
    }
}

/// Makes a puzzle of a riddle. One without an answer goes on to the ballot on its text, where somebody who knows it says it.
fn strip(post: Post) -> Outcome<Puzzle> {
    let (asked, answered) =
        (post.title.clone().unwrap_or_default(), post.content.clone().unwrap_or_default());
    let (asked, answered) = (tidy(&asked), tidy(&answered));
    let (question, mut gone) = promotion::strip(&asked, &post.links);
    let (answer, more) = promotion::strip(&answered, &post.links);
    gone.extend(more);
    if !question.contains(char::is_alphanumeric) {
        return Outcome::Dropped { reason: Reason::Empty, evidence: asked.clone() };
    }
    let answer = if answer.contains(char::is_alphanumeric) { answer } else { "" };
    let puzzle = Puzzle {
        id: post.id,
        question: question.to_owned(),
        answer: answer.to_owned(),
        source: post.source,
        file: post.file,
        position: post.position,
        licence: post.licence,
        ..Puzzle::default()
    };
    let after = shown(&puzzle.question, &puzzle.answer);
    if !gone.is_empty() {
        let evidence = gone.join(" / ");
        return Outcome::Changed {
            row: puzzle,
            rule: Reason::Promotion.code(),
            evidence,
            before: post.text,
            after,
        };
    }
    if after == post.text {
        return Outcome::Kept(puzzle);
    }
    let evidence = "entities, line breaks or spaces".to_owned();
    Outcome::Changed { row: puzzle, rule: Reason::Tidied.code(), evidence, before: post.text, after }
}

/// A published riddle as a puzzle, to the letter.
fn as_published(post: &Post) -> Puzzle {
    Puzzle {
        id: post.id.clone(),
        question: post.title.clone().unwrap_or_default(),
        answer: post.content.clone().unwrap_or_default(),
        source: post.source.clone(),
        file: post.file.clone(),
        position: post.position,
        licence: post.licence.clone(),
        ..Puzzle::default()
    }
}

/// Question and answer as a ledger shows them.
pub fn shown(question: &str, answer: &str) -> String {
    if answer.is_empty() { question.to_owned() } else { format!("{question}\n{answer}") }
}

/// One line without runs of spaces, entities decoded.
fn tidy(text: &str) -> String {
    let decoded =
        if text.contains('&') { riddlemill_harvest::pages::entities(text) } else { text.to_owned() };
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// From a riddle to a puzzle, with how people decided that it reads: its text or title is what is asked, its
/// content the answer.
fn decided(mut post: Post, decisions: &StageDecisions) -> Outcome<Puzzle> {
    let Some(ruling) = decisions.ruling(&post.id, || seen_text(&post.text)) else {
        return strip(post);
    };
    let edits = edits(&ruling);
    let before = post.text.clone();
    edit_parts(&mut post, &ruling);
    if let Some(text) = ruling.text.and_then(|decision| decision.text.clone()) {
        post.title = Some(text);
    }
    post.text = Post::written(post.title.as_deref(), post.content.as_deref());
    let outcome = strip(post);
    let by_rule = by_rule(&outcome);
    let outcome = match outcome {
        Outcome::Kept(row) | Outcome::Changed { row, .. } if !edits.is_empty() => {
            let after = shown(&row.question, &row.answer);
            let evidence = format!("{edits}; {by_rule}");
            Outcome::Changed { row, rule: Reason::DecidedText.code(), evidence, before, after }
        }
        outcome => outcome,
    };
    // Nothing goes on without a question and an answer.
    overruled(outcome, &ruling, || None)
}

/// A riddle's question and answer, as the group of the step, and what people decided about it.
fn declared(post: Post, step: &str, people: &StageDecisions) -> Outcome<Declared> {
    let kept = Declared { title: None, content: None, ..of_post(post.clone()) };
    let outcome = decided(post, people);
    let grouped = |puzzle: Puzzle| {
        let mut record = kept;
        let mut groups = Groups::split(&record);
        let fields = groups.of_step(step);
        record.text = shown(&puzzle.question, &puzzle.answer);
        fields.insert("question".into(), json!(puzzle.question));
        fields.insert("answer".into(), json!(puzzle.answer));
        groups.write_into(&mut record);
        record
    };
    match outcome {
        // No ballot before the first draft could give it one.
        Outcome::Kept(row) | Outcome::Changed { row, .. } if row.answer.is_empty() => {
            Outcome::Held { reason: Reason::AnswerMissing, evidence: row.question }
        }
        Outcome::Kept(puzzle) => Outcome::Kept(grouped(puzzle)),
        Outcome::Changed { row, rule, evidence, before, after } => {
            Outcome::Changed { row: grouped(row), rule, evidence, before, after }
        }
        Outcome::Dropped { reason, evidence } => Outcome::Dropped { reason, evidence },
        Outcome::Held { reason, evidence } => Outcome::Held { reason, evidence },
        Outcome::Failed { reason, evidence } => Outcome::Failed { reason, evidence },
        Outcome::Merged { .. } | Outcome::Expanded(_) | Outcome::Joined { .. } => {
            unreachable!("a riddle is looked at alone")
        }
    }
}

/// A published riddle as the group of the step, to the letter.
fn declared_as_published(post: &Post, step: &str) -> Declared {
    let mut record = Declared { title: None, content: None, ..of_post(post.clone()) };
    let mut groups = Groups::split(&record);
    let fields = groups.of_step(step);
    fields.insert("question".into(), json!(post.title));
    fields.insert("answer".into(), json!(post.content));
    groups.write_into(&mut record);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    fn riddle(question: &str, answer: Option<&str>) -> Outcome<Puzzle> {
        let parts = [Some(question), answer].into_iter().flatten().collect::<Vec<_>>();
        strip(Post {
            id: "riddle:1".into(),
            text: parts.join("\n"),
            title: Some(question.into()),
            content: answer.map(Into::into),
            ..Post::default()
        })
    }

    #[test]
    fn a_riddle_without_an_answer_goes_on_without_one() {
        for answer in [None, Some(""), Some(" … ")] {
            let outcome = riddle("What is it?", answer);
            let (Outcome::Kept(row) | Outcome::Changed { row, .. }) = outcome else { panic!("{outcome:?}") };
            assert_eq!((row.question.as_str(), row.answer.as_str()), ("What is it?", ""));
        }
        assert!(matches!(riddle(" ?! ", Some("A clock.")), Outcome::Dropped { reason: Reason::Empty, .. }));
    }

    #[test]
    fn entities_and_promotion_go_with_evidence() {
        let outcome = riddle(
            "A man &amp; his\n dog: 3 < 4 &quot;feet&quot;?",
            Some("The dog&#39;s feet. Next, try these riddles."),
        );
        let Outcome::Changed { row, rule, evidence, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (row.question.as_str(), row.answer.as_str()),
            ("A man & his dog: 3 < 4 \"feet\"?", "The dog's feet.")
        );
        assert_eq!((rule, evidence.as_str()), ("promotion", "Next, try these riddles."));
    }

    #[test]
    fn an_answer_may_be_longer_than_its_question() {
        let long = "Because it is a clock, which has two hands and a face, and stands in the hall all day.";
        let outcome = riddle("Why?", Some(long));
        let Outcome::Kept(puzzle) = outcome else { panic!("{outcome:?}") };
        assert_eq!((puzzle.question.as_str(), puzzle.answer.as_str()), ("Why?", long));
    }
}
