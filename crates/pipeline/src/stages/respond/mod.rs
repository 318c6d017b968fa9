//! Responses: what models answer to every question and every paired normal question (RuozhiBench 3.1).
//!
//! A question becomes its responses: those that the settings' endpoints give, those made elsewhere, and those of a published
//! row.

mod made;

use std::collections::BTreeMap;

use crate::config::sections;
use crate::stages::StageError;
use crate::stages::draft::{Draft, DraftOutcome, LlmContext, Replied, draft_outcome, replies};
use crate::stages::published::{Published, answers};
use riddlemill_tables::StageWriter;
use riddlemill_text::record::{Outcome, Question, Reason, Response};

pub use made::{Made, Refused};

/// Asks for the responses of all questions, adds those made elsewhere, and sets aside what of these is no
/// response to any of the questions.
///
/// # Errors
/// [`StageError::Stopped`] after a Ctrl-C; else where prompts, endpoints, store or files cannot be used.
pub fn respond(
    questions: Vec<Question>,
    made: Made,
    published: &Published,
    asking: &LlmContext<'_>,
    writer: &mut StageWriter<Response>,
) -> Result<(), StageError> {
    let settings: sections::Respond = asking.config.typed(Some(asking.recipe), "respond");
    let replies = match settings.endpoints.is_empty() {
        true => questions.iter().map(|_| Vec::new()).collect(),
        false => replies(Draft::Respond, &questions, asking)?,
    };
    let (mut made, refused) = made.for_questions(&questions);
    for (question, replies) in questions.iter().zip(replies) {
        let elsewhere = made.remove(&question.id).unwrap_or_default();
        let id = question.id.clone();
        let of_row = answers(published, asking.recipe, question);
        // Two answers are what a published row has.
        let settings = match of_row.is_empty() {
            true => settings.clone(),
            false => sections::Respond { min_models: 0, ..settings.clone() },
        };
        let elsewhere = of_row.into_iter().chain(elsewhere).collect();
        writer.append(&id, &outcome(question, replies, elsewhere, &settings));
    }
    let mut table = writer.table::<Refused>("refused")?;
    refused.iter().for_each(|line| table.append(line));
    Ok(writer.keep(table)?)
}

fn outcome(
    question: &Question,
    replies: Vec<Replied>,
    elsewhere: Vec<Response>,
    settings: &sections::Respond,
) -> Outcome<Response> {
    let mut responses: BTreeMap<String, Response> = BTreeMap::new();
    let mut missing: Option<(Reason, String, bool)> = None;
    for Replied { slot, prompt, parsed } in replies {
        match draft_outcome(parsed, &prompt) {
            DraftOutcome::Drafted { values, basis, .. } => {
                let text = values.text("text").unwrap_or_default().to_owned();
                let response =
                    response(question, slot.to_pair, &slot.model, u64::from(slot.sample), text, basis);
                responses.insert(response.id.clone(), response);
            }
            DraftOutcome::Missing { reason, words, held } => {
                missing.get_or_insert((reason, words, held));
            }
        }
    }
    // What was asked here goes before what was made elsewhere in its name.
    for response in elsewhere {
        responses.entry(response.id.clone()).or_insert(response);
    }
    let mut models: Vec<&str> = responses
        .values()
        .filter(|response| !response.normal)
        .map(|response| response.model.as_str())
        .collect();
    models.sort_unstable();
    models.dedup();
    let enough = settings.min_models > 0 && models.len() as u64 >= settings.min_models;
    match missing {
        Some((reason, evidence, true)) if !enough => return Outcome::Held { reason, evidence },
        Some((reason, evidence, false)) if !enough => return Outcome::Failed { reason, evidence },
        _ => {}
    }
    if (models.len() as u64) < settings.min_models.max(1) {
        let evidence = match models.len() {
            0 => "no model has answered it".to_owned(),
            n => format!(
                "{n} of at least {} models have answered it: {}",
                settings.min_models,
                models.join(", ")
            ),
        };
        return Outcome::Held { reason: Reason::ResponsesMissing, evidence };
    }
    let roles = responses.into_values().map(|response| {
        let role = Response::role(response.normal);
        (response, role)
    });
    Outcome::Expanded(roles.collect())
}

/// A response to a question or its pair.
fn response(
    question: &Question,
    normal: bool,
    model: &str,
    sample: u64,
    text: String,
    basis: String,
) -> Response {
    let asked = if normal { &question.pair } else { &question.question_en };
    Response {
        id: Response::id_of(&question.id, normal, model, sample),
        question: question.id.clone(),
        normal,
        asked: asked.clone().unwrap_or_default(),
        irrationality: question.irrationality.clone().filter(|_| !normal),
        model: model.into(),
        sample,
        text,
        basis: vec![basis],
        ..Response::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            id: "q".into(),
            question_en: Some("Why?".into()),
            irrationality: Some("No reason.".into()),
            pair: Some("When?".into()),
            ..Question::default()
        }
    }

    fn made(normal: bool, model: &str) -> Response {
        response(&question(), normal, model, 0, "Because.".into(), "made:f:1".into())
    }

    #[test]
    fn a_question_becomes_its_responses() {
        let settings = sections::Respond { min_models: 0, ..sections::Respond::default() };
        let elsewhere = vec![made(false, "m"), made(true, "m"), made(false, "n")];
        let Outcome::Expanded(rows) = outcome(&question(), Vec::new(), elsewhere, &settings) else {
            panic!()
        };
        assert_eq!(rows.len(), 3);
        let pair = rows.iter().find(|(row, _)| row.normal).unwrap();
        assert_eq!(
            (pair.1, pair.0.asked.as_str(), &pair.0.irrationality),
            ("response to the pair", "When?", &None)
        );
        let nobody = outcome(&question(), Vec::new(), vec![made(true, "m")], &settings);
        assert!(matches!(nobody, Outcome::Held { reason: Reason::ResponsesMissing, .. }), "{nobody:?}");
        let three = sections::Respond { min_models: 3, ..sections::Respond::default() };
        let two = outcome(&question(), Vec::new(), vec![made(false, "m"), made(false, "n")], &three);
        let Outcome::Held { evidence, .. } = two else { panic!("{two:?}") };
        assert_eq!(evidence, "2 of at least 3 models have answered it: m, n");
    }
}
