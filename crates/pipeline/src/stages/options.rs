//! Options: the explanation and the wrong answers of a text in the order drawn for it (FLUB 2.1).

use super::context::{About, NewRows, StageError, StageRows};
use super::job::Job;
use super::rule::Plain;
use super::stage::Stage;
use crate::config::sections;
use riddlemill_record::{Outcome, OwnedCell, Reason, Record, Row};
use riddlemill_text::options::{LETTERS, draw_choices};

/// What an order is drawn for. It decides the order: changing it reshuffles every set.
const PURPOSE: &str = "flub options";
/// The number of wrong answers.
const WRONG: usize = 3;

/// The options of a multiple choice of records with columns.
#[derive(Debug)]
pub struct Ordering(pub StageRows);

impl Stage for Ordering {
    fn describe_stage(&self) -> About {
        About { name: "options", version: 1, section: "options", rows: self.0, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let settings: sections::Options = job.step_settings();
        job.each_row(|_| self.0.columns(), &Plain(|text: Row| order_options(text, &settings)))
    }
}

/// Orders a text's options, or returns what is missing for that.
fn order_options(mut text: Row, settings: &sections::Options) -> Outcome<Row> {
    let hold = |evidence: String| Outcome::Held { reason: Reason::OptionsMissing, evidence: evidence.into() };
    let Some(explanation) = text.text("explanation").filter(|e| !e.trim().is_empty()) else {
        return hold("it has no explanation".into());
    };
    let wrong = text.list("wrong");
    if wrong.len() != WRONG {
        return hold(format!("it has {} wrong answers, not {WRONG}", wrong.len()));
    }
    match draw_choices(explanation, wrong, settings.seed, PURPOSE, text.id()) {
        Err(alike) => hold(alike.to_string()),
        Ok(made) => {
            let after = made.options.join("\n");
            text.set("answer", OwnedCell::Count(made.answer as u64));
            text.set_list("options", made.options);
            Outcome::Changed {
                rule: Reason::Ordered.code(),
                evidence: format!("the explanation is {}", LETTERS[made.answer]).into(),
                before: String::new(),
                after,
                row: text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(wrong: &[&str]) -> Row {
        let mut text = Row::new(StageRows::of_benchmark("flub").columns(), "tieba:1");
        text.set_text("explanation", "对");
        text.set_list("wrong", wrong.iter().map(ToString::to_string).collect());
        text
    }

    #[test]
    fn four_different_options_or_none() {
        let settings = sections::Options { seed: 1 };
        let Outcome::Changed { row, .. } = order_options(text(&["甲", "乙", "丙"]), &settings) else {
            panic!()
        };
        assert_eq!(row.list("options").len(), 4);
        assert_eq!(row.list("options")[row.count("answer").unwrap() as usize], "对");
        for lacking in [&["甲", "乙"][..], &["甲", "乙", "对。"], &["甲", "乙", "乙"]] {
            let outcome = order_options(text(lacking), &settings);
            assert!(matches!(outcome, Outcome::Held { reason: Reason::OptionsMissing, .. }), "{outcome:?}");
        }
        let empty = Row::new(StageRows::of_benchmark("flub").columns(), "tieba:1");
        assert!(matches!(order_options(empty, &settings), Outcome::Held { .. }));
    }
}
