//! The key statistics of table 3, and topics as table 6 writes them.

use serde::Serialize;

use super::options::NONE;

/// A question with more tokens than this is long (table 3).
pub const LONG: usize = 30;

/// One question, as the statistics use it.
#[derive(Clone, Copy, Debug)]
pub struct QuestionRow<'a> {
    pub question: &'a str,
    /// The right answer.
    pub answer: &'a str,
    /// The options as they are shown.
    pub choices: &'a [String],
}

/// A column of table 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How many questions.
    pub puzzles: usize,
    /// Their average length in tokens.
    pub question_tokens: f64,
    /// The share of long ones, 0 to 1.
    pub long_questions: f64,
    /// The average length of the answers in tokens.
    pub answer_tokens: f64,
    /// The standard deviation of the lengths of one question's options, without `None of above.`, on average.
    pub choice_tokens_std: f64,
}

/// Tokens as table 3 counts them: Python's `text.split(" ")`, by which a double space is one more. Of the ways to count, this
/// one gives the published averages on the published puzzles. No text has none.
fn count_tokens(text: &str) -> usize {
    if text.is_empty() { 0 } else { text.split(' ').count() }
}

/// Counts a column of table 3; `None` where there is no question.
pub fn count_figures<'a>(rows: impl IntoIterator<Item = QuestionRow<'a>>) -> Option<Figures> {
    let mut figures = Figures::default();
    for row in rows {
        let length = count_tokens(row.question);
        figures.puzzles += 1;
        figures.question_tokens += length as f64;
        figures.long_questions += f64::from(u8::from(length > LONG));
        figures.answer_tokens += count_tokens(row.answer) as f64;
        let lengths: Vec<f64> = row
            .choices
            .iter()
            .filter(|choice| *choice != NONE)
            .map(|choice| count_tokens(choice) as f64)
            .collect();
        figures.choice_tokens_std += standard_deviation(&lengths);
    }
    let n = figures.puzzles as f64;
    (figures.puzzles > 0).then(|| Figures {
        puzzles: figures.puzzles,
        question_tokens: figures.question_tokens / n,
        long_questions: figures.long_questions / n,
        answer_tokens: figures.answer_tokens / n,
        choice_tokens_std: figures.choice_tokens_std / n,
    })
}

fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// A topic as the table writes it: the first one listed, without full stop, capitalised.
pub fn format_topic(reply: &str) -> String {
    let first = reply.split(['\n', ',', ';', '/']).next().unwrap_or_default();
    let bare = first.trim().trim_end_matches('.').trim();
    super::spelling::capitalise_word(&bare.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_counted() {
        let choices = ["One two.", "One two three four.", "One two three.", NONE].map(String::from);
        let row = QuestionRow { question: "What is it?", answer: "One two.", choices: &choices };
        let long = "w ".repeat(31);
        let figures = count_figures([row, QuestionRow { question: &long, ..row }]).unwrap();
        assert_eq!((figures.puzzles, figures.question_tokens, figures.long_questions), (2, 17.5, 0.5));
        assert_eq!((figures.answer_tokens, (figures.choice_tokens_std * 1000.0).round()), (2.0, 816.0));
        assert_eq!(super::count_figures([]), None);
        assert_eq!(["", "a b", "a  b", " a"].map(count_tokens), [0, 2, 3, 2], "as Python splits at a space");
    }

    #[test]
    fn a_topic_is_the_first_of_several() {
        assert_eq!(
            (format_topic("mathematics, numbers."), format_topic("Physics.")),
            ("Mathematics".into(), "Physics".into())
        );
    }
}
