//! The key statistics of table 3 and the topics of table 6.

use std::collections::BTreeMap;

use serde::Serialize;

use super::options::NONE;
use super::words::tokens;

/// A question with more tokens than this is long (table 3).
pub const LONG: usize = 30;

/// One question, as the statistics use it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The question.
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

/// Counts a column of table 3; `None` where there is no question.
pub fn figures<'a>(rows: impl IntoIterator<Item = Row<'a>>) -> Option<Figures> {
    let mut figures = Figures::default();
    for row in rows {
        let length = tokens(row.question);
        figures.puzzles += 1;
        figures.question_tokens += length as f64;
        figures.long_questions += f64::from(u8::from(length > LONG));
        figures.answer_tokens += tokens(row.answer) as f64;
        let lengths: Vec<f64> =
            row.choices.iter().filter(|choice| *choice != NONE).map(|choice| tokens(choice) as f64).collect();
        figures.choice_tokens_std += deviation(&lengths);
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

fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// A line of table 6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Topic {
    /// The topic; `Others` in the last line.
    pub topic: String,
    /// How many questions have it.
    pub frequency: usize,
}

/// The most frequent topics, at most `top`, and `Others` for the rest. Ties are sorted by name.
pub fn topics<'a>(all: impl IntoIterator<Item = &'a str>, top: usize) -> Vec<Topic> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    all.into_iter().for_each(|topic| *counts.entry(topic).or_default() += 1);
    let mut lines: Vec<Topic> =
        counts.into_iter().map(|(topic, frequency)| Topic { topic: topic.into(), frequency }).collect();
    lines.sort_by(|a, b| b.frequency.cmp(&a.frequency).then_with(|| a.topic.cmp(&b.topic)));
    let others: usize = lines.iter().skip(top).map(|line| line.frequency).sum();
    lines.truncate(top);
    if others > 0 {
        lines.push(Topic { topic: "Others".into(), frequency: others });
    }
    lines
}

/// A topic as the table writes it: the first one listed, without full stop, capitalised.
pub fn topic(reply: &str) -> String {
    let first = reply.split(['\n', ',', ';', '/']).next().unwrap_or_default();
    let bare = first.trim().trim_end_matches('.').trim();
    super::spelling::capital(&bare.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_counted() {
        let choices = ["One two.", "One two three four.", "One two three.", NONE].map(String::from);
        let row = Row { question: "What is it?", answer: "One two.", choices: &choices };
        let long = "w ".repeat(31);
        let figures = figures([row, Row { question: &long, ..row }]).unwrap();
        assert_eq!((figures.puzzles, figures.question_tokens, figures.long_questions), (2, 17.0, 0.5));
        assert_eq!((figures.answer_tokens, (figures.choice_tokens_std * 1000.0).round()), (2.0, 816.0));
        assert_eq!(super::figures([]), None);
    }

    #[test]
    fn topics_are_ranked_and_the_tail_is_others() {
        let all = ["Food", "Time", "Food", "Law", "Time", "Food", "Art"];
        let lines: Vec<(String, usize)> =
            topics(all, 2).into_iter().map(|t| (t.topic, t.frequency)).collect();
        assert_eq!(lines, [("Food".into(), 3), ("Time".into(), 2), ("Others".into(), 2)]);
        assert_eq!(
            (topic("mathematics, numbers."), topic("Physics.")),
            ("Mathematics".into(), "Physics".into())
        );
    }
}
