//! Steps whose replies become records of their own (`kind = "respond"`): what models answer to each record, in one or
//! several cases (RuozhiBench 3.1: to every question and to its paired normal question).
//!
//! A record becomes its answers: those that the settings' endpoints give, those made elsewhere, and those of a published
//! row.

mod answer;
mod made;

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use riddlemill_benchmarks::draft::Draft as Declaration;
use riddlemill_benchmarks::scope::layer_variables;
use serde_json::json;

use crate::stages::StageError;
use crate::stages::context::NewRows;
use crate::stages::draft::{
    DraftOutcome, DraftStep, LlmContext, ReplyOutcome, ask_for_replies, draft_outcome, number_of_setting,
    whom_to_ask,
};
use crate::stages::job::Job;
use crate::stages::published::{Published, published_answers};
use crate::stages::subject::{self, fill_kept_columns, replied, with_names};
use crate::stages::written::WrittenRules;
use riddlemill_record::{Evidence, Outcome, Reason, Record, Row, with_fields};
use riddlemill_tables::StageWriter;

pub use answer::Answer;
pub(in crate::stages) use answer::id_of;
use answer::role_of_case;
pub(in crate::stages) use made::find_case;
pub use made::{Made, Refused};

/// The record that an answer to another becomes: of a kind, whose columns the step fills, or in groups.
fn record_of_answer(record: &Row, draft: &Declaration, answer: &Answer) -> Row {
    let id = answer.answer_id(draft, record.id());
    let Some(kind) = draft.leaves else {
        return subject::child_record(record, id, draft.name, group_of_answer(record, draft, answer));
    };
    let mut made = Row::new(kind.columns, id);
    let over = with_names(
        draft.benchmark,
        &layer_variables(names_of_answer(record, draft, answer), &subject::names_of_record(record)),
    );
    let (mut cells, troubles) = fill_kept_columns(kind.columns, &draft.keeps, &over);
    cells.remove("id");
    made.add_flags(troubles.into_iter().map(|trouble| format!("{}: {trouble}", draft.name)));
    with_fields(&made, |column| cells.remove(column))
}

/// An answer as a group.
fn group_of_answer(
    record: &Row,
    draft: &Declaration,
    answer: &Answer,
) -> serde_json::Map<String, serde_json::Value> {
    let mut group: serde_json::Map<String, serde_json::Value> =
        answer.values.iter().map(|(field, value)| (field.to_owned(), json!(value))).collect();
    group.insert("of".into(), json!(record.id()));
    group.insert("ask".into(), json!(draft.responds.get(answer.ask).map(|asked| asked.name)));
    group.insert("model".into(), json!(answer.model));
    group.insert("sample".into(), json!(answer.sample));
    group.insert("basis".into(), json!([answer.basis]));
    group
}

/// What expressions may name of an answer.
fn names_of_answer(
    record: &Row,
    draft: &Declaration,
    answer: &Answer,
) -> BTreeMap<&'static str, TemplateValue> {
    BTreeMap::from([
        ("of", TemplateValue::from(record.id())),
        ("ask", TemplateValue::from(draft.responds.get(answer.ask).map(|asked| asked.name))),
        ("model", TemplateValue::from(answer.model.as_str())),
        ("sample", TemplateValue::from(answer.sample)),
        ("said", replied(&answer.values)),
        ("basis", TemplateValue::from(vec![answer.basis.clone()])),
    ])
}

/// Asks for the answers to all records, adds those made elsewhere, and sets aside what of these answers none of the
/// records. With the records come those that are set aside because another one has their id.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C; else where prompts, endpoints, store or files cannot be used.
pub fn respond_to_records(
    draft: DraftStep,
    (records, again): (Vec<Row>, Vec<(String, Outcome<Row>)>),
    published: &Published,
    job: &Job<'_>,
) -> Result<NewRows, StageError> {
    let mut writer = job.create_row_writer()?;
    write_answers(draft, &records, published, &job.asking, &mut writer)?;
    again.into_iter().for_each(|(id, outcome)| writer.append(&id, &outcome));
    Ok(writer.into())
}

fn write_answers(
    draft: DraftStep,
    records: &[Row],
    published: &Published,
    asking: &LlmContext<'_>,
    writer: &mut StageWriter<Row>,
) -> Result<(), StageError> {
    let declared = draft.draft_declaration();
    let least = declared.at_least.map_or(0, |key| number_of_setting(asking.config, asking.recipe, key));
    let replies = match whom_to_ask(draft, asking.config, asking.recipe).names.is_empty() {
        true => records.iter().map(|_| Vec::new()).collect(),
        false => ask_for_replies(draft, records, asking)?,
    };
    let made = Made::load(draft, asking.config, asking.recipe)?;
    let (mut made, refused) = made.to_records(declared, records);
    let written = WrittenRules::by_settings(asking.config, asking.recipe)?;
    for (record, replies) in records.iter().zip(replies) {
        let mut elsewhere = made.remove(record.id()).unwrap_or_default();
        elsewhere.iter_mut().for_each(|answer| drop(written.mark_answers(&mut answer.values)));
        let of_row = published_answers(published, asking.recipe, record.id());
        // Two answers are what a published row has.
        let least = if of_row.is_empty() { least } else { 0 };
        let elsewhere = of_row.into_iter().chain(elsewhere).collect();
        writer.append(record.id(), &outcome_of_record(record, declared, replies, elsewhere, least));
    }
    let mut table = writer.start_table::<Refused>("refused")?;
    refused.iter().for_each(|line| table.append(line));
    Ok(writer.add_table(table)?)
}

fn outcome_of_record(
    record: &Row,
    draft: &Declaration,
    replies: Vec<ReplyOutcome>,
    elsewhere: Vec<Answer>,
    least: u64,
) -> Outcome<Row> {
    let mut answers: BTreeMap<String, Answer> = BTreeMap::new();
    let mut missing: Option<(Reason, Evidence, bool)> = None;
    for ReplyOutcome { slot, prompt, parsed, .. } in replies {
        match draft_outcome(parsed, &prompt) {
            DraftOutcome::Drafted { values, basis, .. } => {
                let (ask, sample) = (slot.ask.unwrap_or_default(), u64::from(slot.sample));
                let answer = Answer { ask, model: slot.model, sample, values, basis };
                answers.insert(answer.answer_id(draft, record.id()), answer);
            }
            DraftOutcome::Missing { reason, words, held } => {
                missing.get_or_insert((reason, words, held));
            }
        }
    }
    // Replies of this workspace take precedence over responses made elsewhere with the same name.
    for answer in elsewhere {
        answers.entry(answer.answer_id(draft, record.id())).or_insert(answer);
    }
    let mut models: Vec<&str> =
        answers.values().filter(|answer| answer.ask == 0).map(|answer| answer.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let enough = least > 0 && models.len() as u64 >= least;
    match missing {
        Some((reason, evidence, true)) if !enough => return Outcome::Held { reason, evidence },
        Some((reason, evidence, false)) if !enough => return Outcome::Failed { reason, evidence },
        _ => {}
    }
    if (models.len() as u64) < least.max(1) {
        let evidence = match models.len() {
            0 => "no model has answered".to_owned(),
            n => format!("{n} of at least {least} models have answered: {}", models.join(", ")),
        };
        let evidence = evidence.into();
        return Outcome::Held { reason: Reason::ResponsesMissing, evidence };
    }
    let made = answers
        .values()
        .map(|answer| (record_of_answer(record, draft, answer), role_of_case(draft, answer.ask)));
    Outcome::Expanded(made.collect())
}

#[cfg(test)]
pub(in crate::stages) mod tests {
    use super::*;
    use crate::stages::subject::rows::make_row;
    use riddlemill_record::{Declared, derive_id};

    /// The responding step of RuozhiBench-MC.
    pub(in crate::stages) fn responding() -> &'static Declaration {
        let drafts = &riddlemill_benchmarks::find_benchmark("ruozhibench-mc").unwrap().drafts;
        drafts.iter().find(|draft| draft.name == "respond").unwrap()
    }

    fn question() -> Row {
        let values =
            json!({ "id": "q", "question_en": "Why?", "irrationality": "No reason.", "pair": "When?" });
        make_row("questions", values)
    }

    fn made(ask: usize, model: &str) -> Answer {
        let values = [("text", "Because.")].into_iter().collect();
        Answer { ask, model: model.into(), values, basis: "made:f:1".into(), sample: 0 }
    }

    #[test]
    fn a_question_becomes_its_responses() {
        let outcome = |elsewhere, least| {
            super::outcome_of_record(&question(), responding(), Vec::new(), elsewhere, least)
        };
        let Outcome::Expanded(rows) = outcome(vec![made(0, "m"), made(1, "m"), made(0, "n")], 0) else {
            panic!()
        };
        assert_eq!(rows.len(), 3);
        let normal = |row: &Row| row.flag("normal").unwrap();
        let pair = rows.iter().find(|(row, _)| normal(row)).unwrap();
        assert_eq!(
            (pair.1, pair.0.text("asked"), pair.0.text("irrationality")),
            ("response to the pair", Some("When?"), None)
        );
        let own = &rows.iter().find(|(row, _)| !normal(row) && row.text("model") == Some("n")).unwrap().0;
        let id = derive_id("response", &["q", "n", "0"]);
        assert_eq!((own.id(), own.text("text")), (id.as_str(), Some("Because.")));
        assert_eq!((own.text("asked"), own.text("irrationality")), (Some("Why?"), Some("No reason.")));
        assert_eq!((own.text("question"), own.list("basis")), (Some("q"), &["made:f:1".to_owned()][..]));
        let nobody = outcome(vec![made(1, "m")], 0);
        assert!(matches!(nobody, Outcome::Held { reason: Reason::ResponsesMissing, .. }), "{nobody:?}");
        let two = outcome(vec![made(0, "m"), made(0, "n")], 3);
        let Outcome::Held { evidence, .. } = two else { panic!("{two:?}") };
        assert_eq!(evidence, "2 of at least 3 models have answered: m, n");
    }

    #[test]
    fn an_answer_to_a_declared_record_keeps_its_groups() {
        let record = Declared {
            id: "r".into(),
            groups: r#"{"riddle":{"question":"Why?"}}"#.into(),
            ..Declared::default()
        };
        let step = responding();
        let made = made(0, "m");
        let made = subject::child_record(
            &Row::from(record.clone()),
            made.answer_id(step, "r"),
            "respond",
            group_of_answer(&record.into(), step, &made),
        );
        let groups: serde_json::Value = serde_json::from_str(made.text("groups").unwrap()).unwrap();
        assert_eq!(groups["riddle"]["question"], "Why?");
        let wanted = json!({ "of": "r", "ask": "question", "model": "m", "sample": 0, "text": "Because.", "basis": ["made:f:1"] });
        assert_eq!(
            (&groups["respond"], made.id().len()),
            (&wanted, derive_id("response", &["r", "m", "0"]).len())
        );
    }
}
