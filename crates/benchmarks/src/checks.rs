//! The named functions that expressions of every benchmark may call, for checking drafts. Their results are
//! tested where they are implemented; here are their names, and their handling of missing values.

use minijinja::Environment;
use minijinja::value::{Value, ValueKind};
use riddlemill_text::options::find_repetitions;
use riddlemill_text::puzzle::{distractors, reconstruction};
use riddlemill_text::replies;
use riddlemill_text::text::{count_sentences, count_words};

use crate::value::{text_of_value, texts_of_value};

pub(crate) const NAMES: [&str; 14] = [
    "unusable",
    "repetitions",
    "lost_in_translation",
    "words",
    "characters",
    "edits",
    "sentences",
    "opening",
    "likeness",
    "option_faults",
    "premise_faults",
    "rephrasing_faults",
    "situation_faults",
    "means",
];

/// Adds them to a language.
pub(crate) fn add(language: &mut Environment<'static>) {
    language.add_function("unusable", explain_unusable);
    language.add_function("repetitions", |right: Value, wrong: Value, called: Option<String>| {
        let called = called.as_deref().unwrap_or("the right answer");
        find_repetitions(called, &plain_text(&right), &texts_of_value(&wrong))
    });
    language.add_function("lost_in_translation", |chinese: Value, english: Value| {
        text_of_value(&english)
            .map(|english| replies::list_losses(&plain_text(&chinese), &english))
            .unwrap_or_default()
    });
    language.add_function("words", |of: Value| count_words(&plain_text(&of)));
    language.add_function("characters", |of: Value| plain_text(&of).chars().count());
    language
        .add_function("edits", |a: Value, b: Value| strsim::levenshtein(&plain_text(&a), &plain_text(&b)));
    language.add_function("sentences", |of: Value| count_sentences(&plain_text(&of)));
    language.add_function("opening", find_opening);
    language.add_function("likeness", |a: Value, b: Value| {
        strsim::normalized_levenshtein(&plain_text(&a).to_lowercase(), &plain_text(&b).to_lowercase())
    });
    language.add_function("option_faults", |question: Value, answer: Value, wrong: Value, letters: bool| {
        distractors::find_faults(
            &plain_text(&question),
            &plain_text(&answer),
            &texts_of_value(&wrong),
            letters,
        )
    });
    language.add_function("premise_faults", premise_faults);
    language.add_function("rephrasing_faults", |question: Value, answer: Value, new: Value, wrong: Value| {
        reconstruction::check_rephrasing(
            &plain_text(&question),
            &plain_text(&answer),
            &plain_text(&new),
            &texts_of_value(&wrong),
        )
    });
    language.add_function("situation_faults", |question: Value, answer: Value, new: Value, its: Value| {
        reconstruction::check_new_situation(
            &plain_text(&question),
            &plain_text(&answer),
            &plain_text(&new),
            &plain_text(&its),
        )
    });
}

/// A text, empty if missing.
fn plain_text(value: &Value) -> String {
    text_of_value(value).unwrap_or_default()
}

/// Why an answer cannot be used as a draft; null if it can, or is missing. For a list the item's number is
/// prepended: `number 2 refuses to answer`.
fn explain_unusable(asked: Value, answer: Value) -> Value {
    let asked = plain_text(&asked);
    match answer.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let found = |(answer, number): (&String, usize)| {
                Some(format!("number {number} {}", replies::why_unusable(&asked, answer)?))
            };
            Value::from_iter(texts_of_value(&answer).iter().zip(1..).filter_map(found))
        }
        _ => {
            let found = text_of_value(&answer).and_then(|answer| replies::why_unusable(&asked, &answer));
            found.map_or(Value::from(()), Value::from)
        }
    }
}

/// The first of these prefixes, in lower case, with which a text begins, ignoring case.
fn find_opening(text: Value, leads: Vec<String>) -> Option<String> {
    let lower = plain_text(&text).trim_start().to_lowercase();
    leads.into_iter().find(|lead| lower.starts_with(lead))
}

/// Faults of distractors that overturn the same premise as the answer, or none. `overturned` is the index of
/// each one's premise, from 0; `stumper` the answer's.
fn premise_faults(
    distractors: Vec<String>,
    overturned: Value,
    premises: Vec<String>,
    stumper: Option<usize>,
) -> Vec<String> {
    let mut findings = Vec::new();
    for (distractor, at) in
        distractors.iter().zip(texts_of_value(&overturned).iter().filter_map(|n| n.parse().ok()))
    {
        if Some(at) == stumper {
            findings.push(format!("{distractor:?} overturns the premise that the answer overturns"));
        } else if at >= premises.len() {
            findings.push(format!("{distractor:?} overturns no premise of the list"));
        }
    }
    findings
}
