//! `rated_pair`: the options of RuozhiBench-MC: a good and a bad answer to every question (Zhai et al., 4.2).

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::{Commit, Form, Job, Operation, Records, Shape, Signature};
use crate::config::{Config, sections};
use crate::stages::published::{self, Published};
use crate::stages::stage::{Rows, StageError};
use crate::stages::unusable::Unusable;
use riddlemill_tables::{StageReader, StageWriter};
use riddlemill_text::options::{Mean, gap_pair, order};
use riddlemill_text::record::{Choice, Outcome, Question, Reason, Response, Row, Standing, Typed};

pub(super) struct RatedPair;

/// How far the means of two answers have to be apart (4.2), where the step says nothing else.
const GAP: u32 = 2;
/// What the order of the two is drawn for, where the step says nothing else: another word, another order.
const PURPOSE: &str = "mc options";

/// Rated answers.
const RESPONSES: Shape =
    Shape::Columns(&["question", "normal", "model", "sample", "text", "judges", "ratings"]);
/// What they answer.
const QUESTIONS: Shape = Shape::Columns(&["question_en", "irrationality"]);

static SIGNATURE: Signature = Signature {
    name: "rated_pair",
    // 2 takes no optional review without an answer for a doubt.
    version: 2,
    section: "options",
    records: Records::Made {
        of: &[RESPONSES, QUESTIONS],
        into: &[Shape::Columns(&[
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
    settings: &[("gap", Form::Count(0, 4)), ("purpose", Form::Text)],
};

impl Operation for RatedPair {
    fn signature(&self) -> &'static Signature {
        &SIGNATURE
    }

    fn settings(&self, config: &Config, recipe: &str) -> BTreeMap<String, Value> {
        config.stage(Some(recipe), SIGNATURE.section)
    }

    fn of_declared(&self) -> &'static str {
        "`records` names a kind with columns: the built-in `questions`, `responses` and `multiple choices`, or one of your own, which \
         `[columns.NAME]` declares"
    }

    fn make(&self, job: &Job<'_>) -> Result<Box<dyn Commit>, StageError> {
        let of = |wanted: Shape| job.inputs.iter().find(|(rows, _)| wanted.is_of(*rows));
        let (Some(responses), Some(questions)) = (of(RESPONSES), of(QUESTIONS)) else {
            let lacks = "it reads the rated answers and the questions that they belong to";
            return Err(Unusable::at(job.step(), lacks).into());
        };
        let draw = Draw {
            gap: job.native.setting("gap").and_then(Value::as_u64).map_or(GAP, |gap| gap as u32),
            purpose: job.native.setting("purpose").and_then(Value::as_str).unwrap_or(PURPOSE),
            seed: job.settings::<sections::Options>(SIGNATURE.section).seed,
        };
        let mut writer = job.writer()?;
        let of_rows = (&job.published, job.asking.recipe);
        pairs(typed(questions)?, typed(responses)?, draw, of_rows, &mut writer);
        Ok(Box::new(writer))
    }
}

/// The rows of an input, of which the columns are taken that the operation names.
fn typed<T: Typed>((rows, input): &(Rows, &StageReader)) -> Result<Vec<T>, StageError> {
    let rows: Vec<Row> = input.all_of(rows.columns(), "rows")?;
    Ok(rows.iter().map(Row::typed).collect())
}

/// What a pair is drawn with.
#[derive(Clone, Copy)]
struct Draw {
    /// How far apart the two have to be rated.
    gap: u32,
    /// What their order is drawn for.
    purpose: &'static str,
    seed: u64,
}

/// Joins questions and their rated responses into items. Answers to normal questions end here. What a published row of the
/// benchmark says about a question is its item.
fn pairs(
    questions: Vec<Question>,
    responses: Vec<Response>,
    draw: Draw,
    (rows, benchmark): (&Published, &str),
    writer: &mut StageWriter<Row>,
) {
    let mut answers: HashMap<String, Vec<Response>> = HashMap::with_capacity(questions.len());
    let mut normal = Vec::new();
    for response in responses {
        if response.normal {
            normal.push(response.id);
        } else {
            answers.entry(response.question.clone()).or_default().push(response);
        }
    }
    for question in questions {
        let mut answers = answers.remove(&question.id).unwrap_or_default();
        // An order of their own, whatever order they came in.
        answers.sort_by(|a, b| (&a.model, a.sample).cmp(&(&b.model, b.sample)));
        let id = question.id.clone();
        let of_row = published::choice(rows, benchmark, &question, draw.seed, draw.purpose);
        let made = match of_row {
            Some(made) => Ok(with_ratings(made, &answers)),
            None => choice(question, &answers, draw),
        };
        match made {
            Ok(choice) => {
                let into = choice.id.clone();
                let parents: Vec<(String, &'static str)> = std::iter::once((id.clone(), "question"))
                    .chain(answers.iter().map(|answer| (answer.id.clone(), role(answer, &choice))))
                    .collect();
                writer.append(&id, &Outcome::Joined { into: into.clone() });
                for answer in answers {
                    writer.append(&answer.id, &Outcome::Joined { into: into.clone() });
                }
                let made = Row::of(writer.columns(), &choice);
                writer.join(made, parents);
            }
            Err(error) => {
                let evidence = error.to_string();
                let held = |evidence: &str| Outcome::Held {
                    reason: Reason::OptionsMissing,
                    evidence: evidence.into(),
                };
                writer.append(&id, &held(&evidence));
                for answer in answers {
                    writer.append(&answer.id, &held(&format!("with its question: {evidence}")));
                }
            }
        }
    }
    for id in normal {
        let evidence = String::new();
        writer.append(&id, &Outcome::Dropped { reason: Reason::ToNormalQuestion, evidence });
    }
    // Responses to questions that are gone since. Sorted: a map has no order of its own.
    let mut lost: Vec<Response> = answers.into_values().flatten().collect();
    lost.sort_by(|a, b| a.id.cmp(&b.id));
    for response in lost {
        let evidence = format!("no question {}", response.question);
        writer.append(&response.id, &Outcome::Held { reason: Reason::OptionsMissing, evidence });
    }
}

/// What an answer is to the item.
fn role(answer: &Response, choice: &Choice) -> &'static str {
    match answer {
        a if a.name() == choice.good_model => "good",
        a if a.name() == choice.bad_model => "bad",
        _ => "rated",
    }
}

/// Why a question becomes no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NoItem {
    /// Of its answers only so many are rated.
    #[error("{0} rated answers, and two are needed")]
    TooFewRated(usize),
    /// No two of so many answers are rated far enough apart.
    #[error("all {0} answers are rated alike")]
    RatedAlike(usize),
    #[error("its English or its analysis is missing")]
    Unfinished,
    #[error("the two answers drawn are the same, word for word")]
    SameWords,
}

/// The item of a question. `answers` are in the order of their names.
fn choice(question: Question, answers: &[Response], draw: Draw) -> Result<Choice, NoItem> {
    let means: Vec<Mean> = answers.iter().map(|answer| Mean::new(answer.numbers())).collect();
    let Some(pair) = gap_pair(&means, draw.gap, draw.seed, &question.id) else {
        let rated = means.iter().filter(|mean| mean.count > 0).count();
        return Err(match rated {
            0 | 1 => NoItem::TooFewRated(rated),
            n => NoItem::RatedAlike(n),
        });
    };
    let (Some(question_en), Some(irrationality)) =
        (question.question_en.clone(), question.irrationality.clone())
    else {
        return Err(NoItem::Unfinished);
    };
    let (good, bad) = (&answers[pair.good], &answers[pair.bad]);
    if good.text == bad.text {
        return Err(NoItem::SameWords);
    }
    let made = Choice {
        question_en,
        irrationality,
        good: good.text.clone(),
        good_model: good.name(),
        bad: bad.text.clone(),
        bad_model: bad.name(),
        gap: means[pair.good].value() - means[pair.bad].value(),
        pairs: pair.of as u64,
        good_first: order(draw.seed, draw.purpose, &question.id, 2) == [0, 1],
        standing: standing(&question, answers).code().into(),
        id: question.id,
        text: question.text,
        pair: question.pair,
        categories: question.categories,
        ..Choice::default()
    };
    Ok(with_ratings(made, answers))
}

/// An item with every judge's rating of the answers to its question.
fn with_ratings(made: Choice, answers: &[Response]) -> Choice {
    let ratings = || {
        answers.iter().flat_map(|answer| answer.judges.iter().zip(&answer.ratings).map(move |r| (answer, r)))
    };
    Choice {
        rating_models: ratings().map(|(answer, _)| answer.name()).collect(),
        rating_judges: ratings().map(|(_, (judge, _))| judge.clone()).collect(),
        ratings: ratings().map(|(_, (_, rating))| rating.clone()).collect(),
        ..made
    }
}

/// As sure as the question; synthetic where a sample answered or judged. What is still without a status at the end of
/// the questions' reviews is what an optional one left undecided, and no reason to doubt the rest.
fn standing(question: &Question, answers: &[Response]) -> Standing {
    let fields = [
        question.screen_status.as_deref(),
        question.translation_status.as_deref(),
        question.irrationality_status.as_deref(),
        question.category_status.as_deref(),
    ];
    let sample = answers
        .iter()
        .flat_map(|answer| answer.basis.iter().chain(&answer.rating_basis))
        .any(|basis| basis.starts_with("sample:"));
    let asked = if sample { Standing::Synthetic } else { Standing::Confirmed };
    Standing::least(fields.into_iter().flatten().map(Some)).min(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw { gap: GAP, purpose: PURPOSE, seed: 7 };

    fn question(id: &str) -> Question {
        Question {
            id: id.into(),
            question_en: Some("Why?".into()),
            irrationality: Some("No reason.".into()),
            ..Question::default()
        }
    }

    fn answer(model: &str, ratings: &[u32]) -> Response {
        Response {
            id: Response::id_of("q", false, model, 0),
            question: "q".into(),
            model: model.into(),
            text: format!("says {model}"),
            judges: (0..ratings.len()).map(|n| format!("judge {n}")).collect(),
            ratings: ratings.iter().map(ToString::to_string).collect(),
            ..Response::default()
        }
    }

    #[test]
    fn the_higher_one_is_good() {
        let answers = [answer("a", &[0, 1, 0]), answer("b", &[4, 4, 3]), answer("c", &[])];
        let made = choice(question("q"), &answers, DRAW).unwrap();
        assert_eq!((made.good_model.as_str(), made.bad_model.as_str(), made.pairs), ("b", "a", 1));
        assert!((made.gap - 10.0 / 3.0).abs() < 1e-12);
        assert_eq!(made.ratings, ["0", "1", "0", "4", "4", "3"]);
        let standing = |status: Option<&str>| {
            let question = Question {
                screen_status: Some("confirmed".into()),
                category_status: status.map(str::to_owned),
                ..question("q")
            };
            choice(question, &answers, DRAW).unwrap().standing
        };
        assert_eq!(standing(Some("provisional")), "provisional");
        assert_eq!(standing(Some("synthetic")), "synthetic");
        assert_eq!(standing(None), "confirmed", "an optional review without an answer");
    }

    #[test]
    fn two_rated_answers_are_needed_and_they_must_differ() {
        let why = |answers: &[Response]| choice(question("q"), answers, DRAW).unwrap_err();
        assert_eq!(why(&[answer("a", &[1])]).to_string(), "1 rated answers, and two are needed");
        let alike = why(&[answer("a", &[1]), answer("b", &[1, 1])]);
        assert_eq!(alike.to_string(), "all 2 answers are rated alike");
        let same = Response { text: "says a".into(), ..answer("b", &[4]) };
        assert_eq!(why(&[answer("a", &[1]), same]), NoItem::SameWords);
    }
}
