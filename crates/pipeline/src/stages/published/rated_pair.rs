//! A published good and bad answer to a question: two responses that no model is asked for, and the item that they form.

use super::Published;
use super::index::with_values;
use crate::stages::respond::Answer;
use riddlemill_text::options::order;
use riddlemill_text::record::{Choice, Question, Standing, is_published};

/// The good and the bad answer that a published row gives to a question, of the models that it names; none where no row
/// does.
pub fn answers(published: &Published, benchmark: &str, question: &str) -> Vec<Answer> {
    let bare = Question { id: question.to_owned(), ..Question::default() };
    let Some((row, made)) = of(published, benchmark, &bare) else { return Vec::new() };
    let answer = |model: String, text: String| {
        let values = [("text", text.as_str())].into_iter().collect();
        Answer { model, values, basis: row.clone(), ..Answer::default() }
    };
    vec![answer(made.good_model, made.good), answer(made.bad_model, made.bad)]
}

/// The item that a published row makes of a question; `None` where no row does. The order of the two is drawn as that of
/// any other item: a published row has none.
pub fn choice(
    published: &Published,
    benchmark: &str,
    question: &Question,
    seed: u64,
    purpose: &str,
) -> Option<Choice> {
    let (_, made) = of(published, benchmark, question)?;
    Some(Choice {
        good_first: order(seed, purpose, &question.id, 2) == [0, 1],
        standing: Standing::Published.code().into(),
        ..made
    })
}

/// What a published row says about a question, and what rests on it.
fn of(published: &Published, benchmark: &str, question: &Question) -> Option<(String, Choice)> {
    if !is_published(&question.id) {
        return None;
    }
    let row = published.of_record(&question.id).find(|row| row.benchmark == benchmark)?;
    let bare = Choice {
        id: question.id.clone(),
        text: question.text.clone(),
        question_en: question.question_en.clone().unwrap_or_default(),
        irrationality: question.irrationality.clone().unwrap_or_default(),
        pair: question.pair.clone(),
        categories: question.categories.clone(),
        ..Choice::default()
    };
    Some((row.basis(), with_values(&bare, &published.values_of_row(row, "options"), "options")))
}
