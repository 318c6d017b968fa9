//! `same_riddle`: one record per riddle (BrainTeaser 3.2); duplicates are similar questions whose answers agree.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fill::Taken;
use super::{
    About, Declared, Job, NewRows, Operation, OperationInput, Records, Stage, StepContext, subjects_of,
};
use crate::config::{Config, sections};
use crate::stages::context::{JoinProgress, StageError};
use crate::stages::dedup::{decide_where, keep_published, of_over_length};
use crate::stages::embed::{Embedded, Embeds};
use riddlemill_record::{Outcome, Post, Record, Row};
use riddlemill_review::decisions::Verdict;
use riddlemill_text::offline::dedup::tagged_text;
use riddlemill_text::puzzle::riddle::answers_agree;
use riddlemill_text::text::sameness::is_over_length;

#[derive(Debug)]
struct SameRiddle(&'static Declared);

/// What is compared.
const QUESTION: &str = "question";
/// What has to agree, where the step names it.
const ANSWER: &str = "answer";

pub(super) static OPERATION: Operation = Operation {
    name: "same_riddle",
    // 2 distinguishes letters from their order. 3 compares texts over 4,000 units as copies and beginnings alone. 4 sees symbols in the
    // place of a word, and words that take each other's place.
    version: 4,
    section: "dedup",
    records: Records::AsTheyCome,
    inputs: &[
        OperationInput { name: QUESTION, needed: true },
        OperationInput { name: ANSWER, needed: false },
    ],
    gives: &[],
    settings: &[],
    of_declared: "",
    stage: |step| Box::new(SameRiddle(step)),
};

impl Stage for SameRiddle {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    fn may_be_overruled(&self, verdict: Verdict) -> bool {
        verdict.is_of_pair()
    }

    fn row_settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        Embeds::Questions.comparison_settings(config, recipe)
    }

    fn compares_pairs(&self) -> bool {
        true
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        remove_duplicates(job, self.0)
    }

    fn text_of_record(&self, record: &Row) -> String {
        text_for_pages(self.0, record)
    }

    fn embedding_task(&self) -> Option<Embeds> {
        Some(Embeds::Questions)
    }

    fn texts_to_embed(&self, step: &StepContext<'_>) -> Result<Vec<Embedded>, StageError> {
        let text = |record: &Row| Embedded { id: record.id().into(), text: compared_text(self.0, record) };
        Ok(step.read_records(subjects_of(self.0))?.iter().map(text).collect())
    }
}

/// The text of a record that is compared; empty if the step names none, or it cannot be computed.
fn compared_text(step: &'static Declared, record: &Row) -> String {
    Taken::from_record(step, record).text_of_input(QUESTION).unwrap_or_default()
}

/// What pages show of a record next to others that it is compared with: its text, or what is compared.
fn text_for_pages(step: &'static Declared, record: &Row) -> String {
    record.text("text").map_or_else(|| compared_text(step, record), str::to_owned)
}

/// Removes duplicates. Questions are compared by the settings of dedup, and embeddings, where an endpoint for them is set,
/// add pairs that are near by these; of a pair that is near, the answers decide. Equal questions are one riddle whatever
/// their answers, which are in the ledger.
fn remove_duplicates(job: &Job<'_>, step: &'static Declared) -> Result<NewRows, StageError> {
    let settings: sections::Dedup = job.step_settings();
    let (seconds, people) = (job.find_repeated_records()?, job.step.read_decisions()?);
    let records: Vec<Row> = job.of_inputs(&seconds, subjects_of(step), |_| true)?;
    let (mut questions, mut answers) = (Vec::new(), Vec::new());
    for record in &records {
        let taken = Taken::from_record(step, record);
        let text = taken.text_of_input(QUESTION).unwrap_or_default();
        questions.push(Post { id: record.id().into(), text, ..Post::default() });
        answers.push(taken.text_of_input(ANSWER).unwrap_or_default());
    }
    let long = |post: &&Post| is_over_length(&tagged_text(post, settings.language));
    if let Some(words) = of_over_length(&settings, questions.iter().filter(long).count(), questions.len()) {
        job.asking.pulse.notify_user(&format!("{}: {words}", OPERATION.name));
    }
    let texts: Vec<Embedded> = questions.iter().map(Embedded::from).collect();
    let near = Embeds::Questions.find_near_pairs(&texts, &job.asking)?;
    let has_answers = step.find_input(ANSWER).is_some();
    let agree = |a: usize, b: usize| !has_answers || answers_agree(&answers[a], &answers[b]).0;
    let waiting = JoinProgress::new(job.asking.stop, job.asking.pulse, records.len() as u64);
    // People decided about the records as pages show them.
    let at: BTreeMap<&str, usize> = records.iter().enumerate().map(|(at, r)| (r.id(), at)).collect();
    let shown: Vec<String> = records.iter().map(|record| text_for_pages(step, record)).collect();
    let shown = |id: &str| at.get(id).map(|at| shown[*at].as_str());
    let people = people.restate_pairs(shown, |id| at.get(id).map(|at| questions[*at].text.as_str()));
    let (outcomes, pairs) = decide_where(&questions, &settings, &people, &near, &waiting, agree)?;
    job.asking.stop.fail_if_stopped()?;
    let mut writer = job.create_row_writer()?;
    let mut table = writer.start_table("pairs")?;
    pairs.iter().for_each(|pair| table.append(pair));
    writer.add_table(table)?;
    seconds.set_all_aside(&mut writer);
    for (place, (record, outcome)) in records.iter().zip(outcomes).enumerate() {
        let outcome = match outcome {
            Some(Outcome::Merged { into, reason, score, evidence }) if has_answers => {
                let other = at.get(into.as_str()).map(|at| answers[*at].as_str()).unwrap_or_default();
                let (_, share) = answers_agree(&answers[place], other);
                let evidence = format!("{evidence}; answers share {share:.2}");
                Outcome::Merged { into, reason, score, evidence }
            }
            Some(Outcome::Merged { into, reason, score, evidence }) => {
                Outcome::Merged { into, reason, score, evidence }
            }
            Some(Outcome::Changed { rule, evidence, before, after, .. }) => {
                Outcome::Changed { row: record.clone(), rule, evidence, before, after }
            }
            _ => Outcome::Kept(record.clone()),
        };
        let outcome = keep_published(record, outcome, Row::clone);
        writer.append(record.id(), &outcome);
    }
    writer.flush()?;
    Ok(writer.into())
}
