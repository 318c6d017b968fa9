//! `rated_pair`: the options of RuozhiBench-MC: a good and a bad answer to every question (Zhai et al., 4.2).

use std::collections::HashMap;

use serde_json::Value;

use super::{
    About, Declared, Job, NewRows, Operation, RecordShape, Records, SettingForm, Stage, subjects_of,
};
use crate::stages::context::{StageError, Unusable};
use crate::stages::published::{self, Published};
use riddlemill_record::{Cause, Column, Evidence, Outcome, OwnedCell, Reason, Record, Row, Standing};
use riddlemill_tables::StageWriter;
use riddlemill_text::options::{Mean, gap_pair, order};

#[derive(Debug)]
struct RatedPair(&'static Declared);

/// How far the means of two answers have to be apart (4.2), by default.
const GAP: u32 = 2;
/// What the order of the two is drawn for, by default: another purpose gives another order.
const PURPOSE: &str = "mc options";

/// Rated answers.
const RESPONSES: RecordShape =
    RecordShape::Columns(&["question", "normal", "model", "sample", "text", "judges", "ratings"]);
/// What they answer.
const QUESTIONS: RecordShape = RecordShape::Columns(&["question_en", "irrationality"]);

pub(super) static OPERATION: Operation = Operation {
    name: "rated_pair",
    // 2 takes no optional review without an answer for a doubt, 3 says of answers that they wait with their question.
    version: 3,
    section: "options",
    records: Records::Made {
        of: &[RESPONSES, QUESTIONS],
        into: &[RecordShape::Columns(&[
            "question_en",
            "irrationality",
            "good",
            "good_model",
            "bad",
            "bad_model",
            "gap",
            "pairs",
            "good_first",
            "standing",
        ])],
    },
    inputs: &[],
    gives: &[],
    settings: &[("gap", SettingForm::Count(0, 4)), ("purpose", SettingForm::Text)],
    of_declared: "`records` names a kind with columns: the built-in `questions`, `responses` and `multiple choices`, or one of your own, which \
         `[columns.NAME]` declares",
    stage: |step| Box::new(RatedPair(step)),
};

impl Stage for RatedPair {
    fn describe_stage(&self) -> About {
        OPERATION.describe_stage(self.0)
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let has = |wanted: RecordShape| job.has_input(|rows| wanted.is_of(rows));
        if !has(RESPONSES) || !has(QUESTIONS) {
            let lacks = "it reads the rated answers and the questions that they belong to";
            return Err(Unusable::at_place(job.step.step, lacks).into());
        }
        let seconds = job.find_repeated_records()?;
        let of =
            |wanted: RecordShape| job.of_inputs(&seconds, subjects_of(self.0), |rows| wanted.is_of(rows));
        let setting = |key: &str| {
            self.0.settings.iter().find(|setting| setting.key == key).map(|setting| &setting.value)
        };
        let draw = PairDraw {
            gap: setting("gap").and_then(Value::as_u64).map_or(GAP, |gap| gap as u32),
            purpose: setting("purpose").and_then(Value::as_str).unwrap_or(PURPOSE),
            seed: job.seed(),
        };
        let mut writer = job.create_row_writer()?;
        let published = job.load_published()?;
        let of_rows = (&published, job.step.recipe);
        seconds.set_all_aside(&mut writer);
        join_pairs(of(QUESTIONS)?, of(RESPONSES)?, draw, of_rows, &mut writer);
        Ok(writer.into())
    }
}

/// How the evidence of a record begins that waits only because the one that it belongs to does: lists of what waits count
/// items, and not their answers.
const BESIDE: &str = "with its question: ";

/// A text, empty where there is none.
fn text_of_column<'r>(row: &'r Row, column: &str) -> &'r str {
    row.text(column).unwrap_or_default()
}

/// What a pair is drawn with.
#[derive(Clone, Copy)]
struct PairDraw {
    /// How far apart the two have to be rated.
    gap: u32,
    /// What their order is drawn for.
    purpose: &'static str,
    seed: u64,
}

/// Joins questions and their rated responses into items. Answers to normal questions end here. What a published row of the
/// benchmark says about a question is its item.
fn join_pairs(
    questions: Vec<Row>,
    responses: Vec<Row>,
    draw: PairDraw,
    (rows, benchmark): (&Published, &str),
    writer: &mut StageWriter<Row>,
) {
    let mut answers: HashMap<String, Vec<Row>> = HashMap::with_capacity(questions.len());
    let mut normal = Vec::new();
    for response in responses {
        if response.flag("normal").unwrap_or_default() {
            normal.push(response.id().to_owned());
        } else {
            answers.entry(text_of_column(&response, "question").to_owned()).or_default().push(response);
        }
    }
    let into = writer.columns();
    for question in questions {
        let id = question.id().to_owned();
        let mut answers = answers.remove(&id).unwrap_or_default();
        // An order of their own, whatever order they came in.
        answers.sort_by(|a, b| {
            (text_of_column(a, "model"), sample_number(a))
                .cmp(&(text_of_column(b, "model"), sample_number(b)))
        });
        let bare = item_without_answers(&question, into, draw);
        let made = match published::published_item(rows, benchmark, &bare) {
            Some(made) => Ok(with_ratings(made, &answers)),
            None => choose_answers(&question, bare, &answers, draw),
        };
        match made {
            Ok(choice) => {
                let into = choice.id().to_owned();
                let parents: Vec<(String, &'static str)> = std::iter::once((id.clone(), "question"))
                    .chain(
                        answers
                            .iter()
                            .map(|answer| (answer.id().to_owned(), role_of_answer(answer, &choice))),
                    )
                    .collect();
                writer.append(&id, &Outcome::Joined { into: into.clone() });
                for answer in answers {
                    writer.append(answer.id(), &Outcome::Joined { into: into.clone() });
                }
                writer.append_joined(choice, parents);
            }
            Err(error) => {
                let evidence = error.to_string();
                let held = |evidence| Outcome::Held { reason: Reason::OptionsMissing, evidence };
                let beside = Evidence::with_cause(format!("{BESIDE}{evidence}"), Cause::Beside);
                writer.append(&id, &held(evidence.into()));
                for answer in answers {
                    writer.append(answer.id(), &held(beside.clone()));
                }
            }
        }
    }
    for id in normal {
        let evidence = String::new();
        writer.append(&id, &Outcome::Dropped { reason: Reason::ToNormalQuestion, evidence });
    }
    // Responses to questions that are gone since. Sorted: a map has no order of its own.
    let mut lost: Vec<Row> = answers.into_values().flatten().collect();
    lost.sort_by(|a, b| a.id().cmp(b.id()));
    for response in lost {
        let evidence = format!("no question {}", text_of_column(&response, "question")).into();
        writer.append(response.id(), &Outcome::Held { reason: Reason::OptionsMissing, evidence });
    }
}

/// What an answer is to the item.
fn role_of_answer(answer: &Row, choice: &Row) -> &'static str {
    match answer_name(answer) {
        name if name == text_of_column(choice, "good_model") => "good",
        name if name == text_of_column(choice, "bad_model") => "bad",
        _ => "rated",
    }
}

/// Which of a model's answers to its question it is, from 0.
fn sample_number(answer: &Row) -> u64 {
    answer.count("sample").unwrap_or_default()
}

/// The model of an answer, with a number from its second answer on.
fn answer_name(answer: &Row) -> String {
    let model = text_of_column(answer, "model");
    match sample_number(answer) {
        0 => model.to_owned(),
        n => format!("{model}#{}", n + 1),
    }
}

/// The item of a question before its answers are chosen: with the order in which they are shown.
fn item_without_answers(question: &Row, into: &'static [Column], draw: PairDraw) -> Row {
    let mut made = Row::new(into, question.id());
    for column in ["text", "question_en", "irrationality"] {
        made.set_text(column, text_of_column(question, column));
    }
    if let Some(pair) = question.text("pair") {
        made.set_text("pair", pair);
    }
    made.set_list("categories", question.list("categories").to_vec());
    let good_first = order(draw.seed, draw.purpose, question.id(), 2) == [0, 1];
    made.set("good_first", OwnedCell::Flag(good_first));
    made
}

/// Why a question becomes no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NoItem {
    /// Only this many of its answers are rated.
    #[error("{0} rated answers, but two are needed")]
    TooFewRated(usize),
    /// No two of this many answers are rated far enough apart.
    #[error("all {0} answers are rated alike")]
    RatedAlike(usize),
    #[error("its English or its analysis is missing")]
    Unfinished,
    #[error("the two answers drawn are the same, word for word")]
    SameWords,
}

/// The item of a question. `answers` are in the order of their names.
fn choose_answers(question: &Row, bare: Row, answers: &[Row], draw: PairDraw) -> Result<Row, NoItem> {
    let numbers = |answer: &Row| -> Vec<u32> {
        answer.list("ratings").iter().filter_map(|rating| rating.parse().ok()).collect()
    };
    let means: Vec<Mean> = answers.iter().map(|answer| Mean::new(numbers(answer))).collect();
    let Some(pair) = gap_pair(&means, draw.gap, draw.seed, question.id()) else {
        let rated = means.iter().filter(|mean| mean.count > 0).count();
        return Err(match rated {
            0 | 1 => NoItem::TooFewRated(rated),
            n => NoItem::RatedAlike(n),
        });
    };
    if question.text("question_en").is_none() || question.text("irrationality").is_none() {
        return Err(NoItem::Unfinished);
    }
    let (good, bad) = (&answers[pair.good], &answers[pair.bad]);
    if text_of_column(good, "text") == text_of_column(bad, "text") {
        return Err(NoItem::SameWords);
    }
    let mut made = bare;
    made.set_text("good", text_of_column(good, "text"));
    made.set_text("good_model", answer_name(good));
    made.set_text("bad", text_of_column(bad, "text"));
    made.set_text("bad_model", answer_name(bad));
    made.set("gap", OwnedCell::Real(means[pair.good].value() - means[pair.bad].value()));
    made.set("pairs", OwnedCell::Count(pair.of as u64));
    made.set_text("standing", standing_of_item(question, answers).code());
    Ok(with_ratings(made, answers))
}

/// An item with every judge's rating of the answers to its question.
fn with_ratings(mut made: Row, answers: &[Row]) -> Row {
    let ratings = || {
        answers.iter().flat_map(|answer| {
            answer.list("judges").iter().zip(answer.list("ratings")).map(move |rating| (answer, rating))
        })
    };
    made.set_list("rating_models", ratings().map(|(answer, _)| answer_name(answer)).collect());
    made.set_list("rating_judges", ratings().map(|(_, (judge, _))| judge.clone()).collect());
    made.set_list("ratings", ratings().map(|(_, (_, rating))| rating.clone()).collect());
    made
}

/// As sure as the question; synthetic where a sample answered or judged. What is still without a status at the end of
/// the questions' reviews is what an optional one left undecided, and no reason to doubt the rest.
fn standing_of_item(question: &Row, answers: &[Row]) -> Standing {
    let fields = ["screen_status", "translation_status", "irrationality_status", "category_status"];
    let sample = answers
        .iter()
        .flat_map(|answer| answer.list("basis").iter().chain(answer.list("rating_basis")))
        .any(|basis| basis.starts_with("sample:"));
    let asked = if sample { Standing::Synthetic } else { Standing::Confirmed };
    Standing::least_sure(fields.into_iter().filter_map(|field| question.text(field)).map(Some)).min(asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::subject::rows::{columns_of_kind, make_row};
    use riddlemill_record::Cell;
    use serde_json::json;

    const DRAW: PairDraw = PairDraw { gap: GAP, purpose: PURPOSE, seed: 7 };

    fn question() -> Row {
        make_row("questions", json!({ "id": "q", "question_en": "Why?", "irrationality": "No reason." }))
    }

    fn answer(model: &str, ratings: &[u32]) -> Row {
        let judges: Vec<String> = (0..ratings.len()).map(|n| format!("judge {n}")).collect();
        let ratings: Vec<String> = ratings.iter().map(ToString::to_string).collect();
        let text = format!("says {model}");
        let id = format!("of {model}");
        make_row(
            "responses",
            json!({ "id": id, "question": "q", "model": model, "text": text, "judges": judges, "ratings": ratings }),
        )
    }

    fn made(question: &Row, answers: &[Row]) -> Result<Row, NoItem> {
        choose_answers(
            question,
            item_without_answers(question, columns_of_kind("multiple choices"), DRAW),
            answers,
            DRAW,
        )
    }

    #[test]
    fn the_higher_one_is_good() {
        let answers = [answer("a", &[0, 1, 0]), answer("b", &[4, 4, 3]), answer("c", &[])];
        let item = made(&question(), &answers).unwrap();
        assert_eq!((item.text("good_model"), item.text("bad_model")), (Some("b"), Some("a")));
        let Some(Cell::Real(gap)) = item.cell("gap") else { panic!("{item:?}") };
        assert!((gap - 10.0 / 3.0).abs() < 1e-12);
        assert_eq!((item.count("pairs"), item.list("ratings").join(" ").as_str()), (Some(1), "0 1 0 4 4 3"));
        let standing = |status: Option<&str>| {
            let mut question = question();
            question.set_text("screen_status", "confirmed");
            status.into_iter().for_each(|status| question.set_text("category_status", status));
            made(&question, &answers).unwrap().text("standing").unwrap().to_owned()
        };
        assert_eq!(standing(Some("provisional")), "provisional");
        assert_eq!(standing(Some("synthetic")), "synthetic");
        assert_eq!(standing(None), "confirmed", "an optional review without an answer");
    }

    #[test]
    fn two_rated_answers_are_needed_and_they_must_differ() {
        let why = |answers: &[Row]| made(&question(), answers).unwrap_err();
        assert_eq!(why(&[answer("a", &[1])]).to_string(), "1 rated answers, but two are needed");
        let alike = why(&[answer("a", &[1]), answer("b", &[1, 1])]);
        assert_eq!(alike.to_string(), "all 2 answers are rated alike");
        let mut same = answer("b", &[4]);
        same.set_text("text", "says a");
        assert_eq!(why(&[answer("a", &[1]), same]), NoItem::SameWords);
    }
}
