//! Items with known answers: for trials, and mixed into queues to monitor annotators.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::answers::{self, Answers, Fault};
use super::ballot::{Ballot, Field, Round};
use super::exchange::json_value;
use super::item::Item;
use super::value::Values;

/// An item and its correct answers; undecided fields are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Gold<'i> {
    pub item: &'i Item,
    pub answers: Values,
}

/// A line of a gold file that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct GoldProblem {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub what: GoldTrouble,
}

/// Kinds of problems in a line of a gold file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GoldTrouble {
    /// Not an object with an item and answers.
    #[error(
        "{0}\n  hint: a line is {{\"item\": ID, \"answers\": {{FIELD: ANSWER}}}}, as in a ballot of JSON lines"
    )]
    Shape(String),
    /// Not among the step's items.
    #[error("no item {0:?}")]
    UnknownItem(String),
    /// The item is on two lines.
    #[error("item {0:?} is also on an earlier line")]
    Twice(String),
    /// Not a field of the voters' ballot.
    #[error("no field {field:?}; there are {known}")]
    UnknownField {
        /// The name found.
        field: String,
        /// The fields.
        known: String,
    },
    /// No field is answered.
    #[error("item {0:?} has no answer")]
    Blank(String),
    /// An answer is invalid.
    #[error("{0}: {1}")]
    Answer(&'static str, Fault),
}

#[derive(Deserialize)]
struct GoldLine {
    item: String,
    answers: Map<String, Json>,
}

/// Reads a gold file: JSON lines in the form of a ballot, of which only `item` and `answers` are used.
/// Answers are read like annotators', so a label or a full-width digit is accepted.
///
/// # Errors
/// Every line that cannot be used: a trial on half of its gold items would be a different trial.
pub fn read_gold<'i>(
    text: &str,
    ballot: &Ballot,
    item: impl Fn(&str) -> Option<&'i Item>,
) -> Result<Vec<Gold<'i>>, Vec<GoldProblem>> {
    let form: Vec<Field> =
        ballot.questions_of_round(Round::Vote).into_iter().map(Field::make_optional).collect();
    let (mut gold, mut problems) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        match read_line(line, &form, &item, &mut seen) {
            Ok(one) => gold.push(one),
            Err(troubles) => {
                problems.extend(troubles.into_iter().map(|what| GoldProblem { line: at + 1, what }));
            }
        }
    }
    if problems.is_empty() { Ok(gold) } else { Err(problems) }
}

fn read_line<'i>(
    line: &str,
    form: &[Field],
    item: &impl Fn(&str) -> Option<&'i Item>,
    seen: &mut BTreeSet<String>,
) -> Result<Gold<'i>, Vec<GoldTrouble>> {
    let line: GoldLine =
        riddlemill_text::notation::from_str(line).map_err(|e| vec![GoldTrouble::Shape(e.to_string())])?;
    let Some(item) = item(&line.item) else { return Err(vec![GoldTrouble::UnknownItem(line.item)]) };
    if !seen.insert(line.item.clone()) {
        return Err(vec![GoldTrouble::Twice(line.item)]);
    }
    let unknown = line.answers.keys().find(|key| !form.iter().any(|field| field.name == key.as_str()));
    if let Some(field) = unknown {
        let known: Vec<&str> = form.iter().map(|field| field.name).collect();
        return Err(vec![GoldTrouble::UnknownField { field: field.clone(), known: known.join(", ") }]);
    }
    match answers::read_answers(form, item, |field| line.answers.get(field).and_then(json_value)) {
        Answers::Given(answers) => Ok(Gold { item, answers }),
        Answers::Blank => Err(vec![GoldTrouble::Blank(line.item)]),
        Answers::Faulty(faults) => {
            Err(faults.into_iter().map(|(field, fault)| GoldTrouble::Answer(field, fault)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballots;
    use crate::item::Content;
    use crate::value::Value;

    fn items(ballot: &Ballot) -> Vec<Item> {
        let item = |at: usize| {
            let content = Content::from([("text".to_owned(), Value::Text(format!("text {at}")))]);
            Item::new(ballot, format!("i{at}"), content, Values::new())
        };
        (0..3).map(item).collect()
    }

    #[test]
    fn a_gold_file_is_a_ballot_that_is_filled_in() {
        let step = ballots::find_step("flub", "type").unwrap();
        let items = items(&step);
        let find = |id: &str| items.iter().find(|item| item.id == id);
        let field = step.fields[0].name;
        let code = step.fields[0].options()[0].code;
        let text = format!(
            "\u{feff}{{\"item\": \"i0\", \"answers\": {{{field:?}: {code:?}}}, \"annotator\": \"x\"}}\n\n{{\"item\": \"i2\", \"answers\": {{{field:?}: \" {code}  \"}}}}\n"
        );
        let gold = read_gold(&text, &step, find).unwrap();
        assert_eq!(gold.iter().map(|gold| gold.item.id.as_str()).collect::<Vec<_>>(), ["i0", "i2"]);
        assert!(gold.iter().all(|gold| gold.answers.text_of(field) == Some(code)));
    }

    #[test]
    fn every_line_that_cannot_be_used_is_named() {
        let step = ballots::find_step("flub", "type").unwrap();
        let items = items(&step);
        let find = |id: &str| items.iter().find(|item| item.id == id);
        let text = "{\"item\": \"i0\"}\n{\"item\": \"i9\", \"answers\": {}}\n{\"item\": \"i1\", \"answers\": {}}\n\
                    {\"item\": \"i1\", \"answers\": {\"type\": 1}}\n{\"item\": \"i2\", \"answers\": {\"tpye\": 1}}\n\
                    {\"item\": \"i0\", \"answers\": {\"type\": \"no such type\"}}\n";
        let problems = read_gold(text, &step, find).unwrap_err();
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        for (line, expected) in [
            (1, "missing field `answers`"),
            (2, "no item \"i9\""),
            (3, "item \"i1\" has no answer"),
            (4, "is also on an earlier line"),
            (5, "no field \"tpye\"; there are type"),
            (6, "type: unknown choice `no such type`"),
        ] {
            let found =
                messages.iter().find(|message| message.starts_with(&format!("line {line}: "))).unwrap();
            assert!(found.contains(expected), "{found}");
        }
    }
}
