//! `riddle`: turns the text of a riddle's page into question and answer: entities decoded, lines joined, promotion
//! removed. They go into the columns of a puzzle, or into the step's group of a declared record.
//!
//! `anonymise_riddle`: marks personal data in both texts of a puzzle. Texts of declared records are marked by `anonymise` with
//! `texts`.

use std::collections::BTreeMap;

use riddlemill_record::{Outcome, OwnedCell, Post, Reason, Row};
use riddlemill_review::decisions::{Ruling, Verdict};
use riddlemill_text::offline::Anonymise;
use riddlemill_text::puzzle::riddle;
use riddlemill_text::text::clean::debris;
use serde_json::{Value, json};

use super::rewrite::full_text;
use super::{
    About, Declared, Job, NewRows, Operation, RecordShape, Records, Rewrite, Stage, StepContext,
    WrittenRecord, continued_row, rows_of, show_riddle,
};
use crate::config::{Config, sections};
use crate::stages::context::{StageError, StageRows};
use crate::stages::overrule::{by_rule, describe_ruling, edit_parts, overrule_outcome};
use crate::stages::rule::{Overrulable, Rule};
use crate::stages::subject;
use crate::stages::subject::declared::RecordGroups;
use crate::stages::texts::{anonymise_stage, policy_lists};

#[derive(Debug)]
struct Riddle(&'static Declared);

pub(super) static OPERATION: Operation = Operation {
    name: "riddle",
    // 2 takes promotion off behind a letter; 3 lets a riddle without an answer go on to the ballot on its text.
    // 4 removes invisible characters.
    version: 4,
    section: "puzzles",
    records: Records::Made {
        of: &[RecordShape::Posts],
        into: &[RecordShape::Columns(&[QUESTION, ANSWER]), RecordShape::Groups],
    },
    inputs: &[],
    gives: &["question", "answer"],
    settings: &[],
    of_declared: "",
    stage: |step| Box::new(Riddle(step)),
};

impl Stage for Riddle {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    fn row_settings(&self, _: &Config, _recipe: &str) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    // No record continues from there without a question and an answer: whoever knows the answer adds it.
    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        !verdict.is_of_pair() && verdict != Verdict::Keep
    }

    fn is_of_riddles(&self) -> bool {
        true
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn text_rereader(&self, _: &Config, _recipe: &str) -> Result<Option<Rewrite>, StageError> {
        let rule = Riddle(self.0);
        Ok(Some(Box::new(move |written| match written {
            WrittenRecord::Post(post) => continued_row(rule.outcome_by_rule(*post)).map(WrittenRecord::Row),
            made => Some(made),
        })))
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        job.each_row(|_| (), self)
    }
}

impl Rule<Post, Row> for Riddle {
    fn outcome_by_rule(&self, post: Post) -> Outcome<Row> {
        let from = post.clone();
        record_of_riddle(&from, self.0, split_riddle(post))
    }

    fn published_record(&self, post: &Post) -> Option<Row> {
        Some(as_published(post, self.0))
    }

    fn text_for_people(&self, post: &Post) -> String {
        post.text.clone()
    }

    fn outcome_by_ruling(&self, post: Post, ruling: &Ruling<'_>) -> Outcome<Row> {
        let from = post.clone();
        record_of_riddle(&from, self.0, split_by_ruling(post, ruling))
    }
}

const QUESTION: &str = "question";

const ANSWER: &str = "answer";

/// A riddle without the other texts on its page.
#[derive(Debug)]
struct Stripped {
    question: String,
    /// Empty if it is unknown.
    answer: String,
}

/// Question and answer of a riddle. One without an answer continues to the ballot on its text, where somebody who knows the answer adds it.
fn split_riddle(post: Post) -> Outcome<Stripped> {
    let (asked, answered) =
        (post.title.clone().unwrap_or_default(), post.content.clone().unwrap_or_default());
    let (asked, answered) = (tidy_line(&asked), tidy_line(&answered));
    let (question, mut gone) = riddle::strip_promotion(&asked, &post.links);
    let (answer, more) = riddle::strip_promotion(&answered, &post.links);
    gone.extend(more);
    if !question.contains(char::is_alphanumeric) {
        return Outcome::Dropped { reason: Reason::Empty, evidence: asked.clone() };
    }
    let answer = if answer.contains(char::is_alphanumeric) { answer } else { "" };
    let puzzle = Stripped { question: question.to_owned(), answer: answer.to_owned() };
    let after = show_riddle(&puzzle.question, &puzzle.answer);
    if !gone.is_empty() {
        let evidence = gone.join(" / ").into();
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
    let evidence = "entities, invisible characters, line breaks or spaces".into();
    Outcome::Changed { row: puzzle, rule: Reason::Tidied.code(), evidence, before: post.text, after }
}

/// One line without runs of spaces and invisible characters, entities decoded.
fn tidy_line(text: &str) -> String {
    let decoded = riddlemill_harvest::pages::decode_entities(text);
    debris::tidy(&decoded).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A riddle's question and answer, with how people decided that it reads: its text or title is what is asked, its content the
/// answer.
fn split_by_ruling(mut post: Post, ruling: &Ruling<'_>) -> Outcome<Stripped> {
    let edits = describe_ruling(ruling);
    let before = post.text.clone();
    edit_parts(&mut post, ruling);
    if let Some(text) = ruling.text.and_then(|decision| decision.text.clone()) {
        post.title = Some(text);
    }
    post.text = Post::join_title_and_content(post.title.as_deref(), post.content.as_deref());
    let outcome = split_riddle(post);
    let by_rule = by_rule(&outcome);
    let outcome = match outcome {
        Outcome::Kept(row) | Outcome::Changed { row, .. } if !edits.is_empty() => {
            let after = show_riddle(&row.question, &row.answer);
            let evidence = format!("{edits}; {by_rule}").into();
            Outcome::Changed { row, rule: Reason::DecidedText.code(), evidence, before, after }
        }
        outcome => outcome,
    };
    // No record continues without a question and an answer.
    overrule_outcome(outcome, ruling, || None)
}

/// A riddle as a record.
fn record_of_riddle(post: &Post, step: &Declared, stripped: Outcome<Stripped>) -> Outcome<Row> {
    match stripped {
        // No ballot before the first draft could give it one.
        Outcome::Kept(row) | Outcome::Changed { row, .. }
            if rows_of(step) == StageRows::Groups && row.answer.is_empty() =>
        {
            Outcome::Held { reason: Reason::AnswerMissing, evidence: row.question.into() }
        }
        outcome => outcome.map(|stripped| fill_columns(post, step, &stripped)),
    }
}

/// A published riddle, unchanged.
fn as_published(post: &Post, step: &Declared) -> Row {
    if rows_of(step) == StageRows::Groups {
        let mut record =
            subject::of_post(StageRows::Groups, Post { title: None, content: None, ..post.clone() });
        let mut groups = RecordGroups::parse_groups(&record);
        let fields = groups.of_step(step.name);
        fields.insert(QUESTION.into(), json!(post.title));
        fields.insert(ANSWER.into(), json!(post.content));
        groups.write_into(&mut record);
        return record;
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    fill_columns(post, step, &Stripped { question: text(&post.title), answer: text(&post.content) })
}

/// Question and answer in the columns of their names, or as the group of the step.
fn fill_columns(post: &Post, step: &Declared, stripped: &Stripped) -> Row {
    // Question and answer have places of their own, and would be in the record twice.
    let post = Post { title: None, content: None, ..post.clone() };
    let mut record = subject::of_post(rows_of(step), post);
    if rows_of(step) == StageRows::Groups {
        let mut groups = RecordGroups::parse_groups(&record);
        let fields = groups.of_step(step.name);
        record.set_text("text", show_riddle(&stripped.question, &stripped.answer));
        fields.insert(QUESTION.into(), json!(stripped.question));
        fields.insert(ANSWER.into(), json!(stripped.answer));
        groups.write_into(&mut record);
        return record;
    }
    // The kind of a post is not a kind of puzzle.
    record.set("kind", OwnedCell::Null);
    record.set_text("text", show_riddle(&stripped.question, &stripped.answer));
    record.set_text(QUESTION, stripped.question.as_str());
    record.set_text(ANSWER, stripped.answer.as_str());
    record
}

#[derive(Debug)]
struct AnonymiseRiddle(&'static Declared);

/// The columns that are marked.
const TEXTS: [&str; 2] = ["question", "answer"];

pub(super) static ANONYMISE: Operation = Operation {
    name: "anonymise_riddle",
    version: 2,
    section: "anonymise",
    records: Records::Made { of: &[RecordShape::Columns(&TEXTS)], into: &[RecordShape::Columns(&TEXTS)] },
    inputs: &[],
    gives: &[],
    settings: &[],
    of_declared: "a table `[step.anonymise]` with `texts = [\"riddle.question\", \"riddle.answer\"]` marks the fields of declared records",
    stage: |step| Box::new(AnonymiseRiddle(step)),
};

impl Stage for AnonymiseRiddle {
    fn describe_stage(&self) -> About {
        ANONYMISE.describe_stage(self.0)
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Keep | Verdict::Drop | Verdict::Hold)
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        Ok(policy_lists(&step.config.root, &step.section_settings(ANONYMISE.section))?.evidence())
    }

    fn writes_texts(&self) -> bool {
        true
    }

    fn text_rereader(&self, config: &Config, recipe: &str) -> Result<Option<Rewrite>, StageError> {
        let stage = english_anonymiser(config, recipe)?;
        Ok(Some(Box::new(move |written| match written {
            WrittenRecord::Row(row) => {
                continued_row(stage.anonymise_columns(row, &TEXTS)).map(WrittenRecord::Row)
            }
            other => Some(other),
        })))
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let stage = english_anonymiser(job.asking.config, job.asking.recipe)?;
        let rule = Overrulable {
            rule: |row| stage.anonymise_columns(row, &TEXTS),
            seen: full_text,
            passing: |row| stage.marked_columns(row, &TEXTS),
        };
        job.each_row(StageRows::columns, &rule)
    }
}

/// Puzzles are in English, whatever the language of a workspace's posts is.
fn english_anonymiser(config: &Config, recipe: &str) -> Result<Anonymise, StageError> {
    let settings: sections::Anonymise = config.typed_settings(Some(recipe), ANONYMISE.section);
    anonymise_stage(&config.root, &sections::Anonymise { language: Some(sections::Language::En), ..settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn riddle(question: &str, answer: Option<&str>) -> Outcome<Stripped> {
        let parts = [Some(question), answer].into_iter().flatten().collect::<Vec<_>>();
        split_riddle(Post {
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
