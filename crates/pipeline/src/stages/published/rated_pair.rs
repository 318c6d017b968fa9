//! A published good and bad answer to a question: two responses that no model is asked for, and the item that they form.

use super::index::{text_of, with_values};
use super::{Published, PublishedRow};
use crate::stages::respond::Answer;
use riddlemill_record::{OwnedCell, Record, Row, Standing, is_published};

/// The step at which rows have these values.
const STEP: &str = "options";

/// The good and the bad answer that a published row gives to a question, of the models that it names; none where no row
/// does.
pub fn published_answers(published: &Published, benchmark: &str, question: &str) -> Vec<Answer> {
    let Some(row) = row_of(published, benchmark, question) else { return Vec::new() };
    let values_of_row = published.values_of_row(row, STEP);
    let answer = |model: &str, text: &str| {
        let text = text_of(&values_of_row, text);
        let values = [("text", text.as_str())].into_iter().collect();
        Answer {
            model: text_of(&values_of_row, model),
            values,
            basis: row.basis_of_row(),
            ..Answer::default()
        }
    };
    vec![answer("good_model", "good"), answer("bad_model", "bad")]
}

/// The item that a published row gives for a question; `bare` is the part that comes from the question. `None` if no row has it.
pub fn published_item(published: &Published, benchmark: &str, bare: &Row) -> Option<Row> {
    let row = row_of(published, benchmark, bare.id())?;
    let mut made = with_values(bare, &published.values_of_row(row, STEP), STEP);
    // The order of the two is drawn as that of any other item: a published row has none.
    made.set("good_first", OwnedCell::Flag(bare.flag("good_first").unwrap_or_default()));
    made.set_text("standing", Standing::Published.code());
    Some(made)
}

/// The row of a benchmark about a question.
fn row_of<'p>(published: &'p Published, benchmark: &str, question: &str) -> Option<&'p PublishedRow> {
    if !is_published(question) {
        return None;
    }
    published.of_record(question).find(|row| row.benchmark == benchmark)
}
