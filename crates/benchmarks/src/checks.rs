//! The named checks and measures that expressions of every benchmark may call: what is suspicious about a drafted text.
//! What each finds is tested where it is written; here is what it is called, and how it takes what is not there.

use minijinja::Environment;
use minijinja::value::{Value, ValueKind};
use riddlemill_text::options::repetitions;
use riddlemill_text::puzzle::{distractors, reconstruction};
use riddlemill_text::replies;
use riddlemill_text::text::counts;

use crate::value::{text, texts};

/// The names that are called.
pub(crate) const NAMES: [&str; 12] = [
    "unusable",
    "repetitions",
    "lost_in_translation",
    "words",
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
    language.add_function("unusable", unusable);
    language.add_function("repetitions", |right: Value, wrong: Value, called: Option<String>| {
        let called = called.as_deref().unwrap_or("the right answer");
        repetitions(called, &said(&right), &texts(&wrong))
    });
    language.add_function("lost_in_translation", |chinese: Value, english: Value| {
        text(&english).map(|english| replies::lost(&said(&chinese), &english)).unwrap_or_default()
    });
    language.add_function("words", |of: Value| counts::words(&said(&of)));
    language.add_function("sentences", |of: Value| counts::sentences(&said(&of)));
    language.add_function("opening", opening);
    language.add_function("likeness", |a: Value, b: Value| {
        strsim::normalized_levenshtein(&said(&a).to_lowercase(), &said(&b).to_lowercase())
    });
    language.add_function("option_faults", |question: Value, answer: Value, wrong: Value, letters: bool| {
        distractors::faults(&said(&question), &said(&answer), &texts(&wrong), letters)
    });
    language.add_function("premise_faults", premise_faults);
    language.add_function("rephrasing_faults", |question: Value, answer: Value, new: Value, wrong: Value| {
        reconstruction::semantic(&said(&question), &said(&answer), &said(&new), &texts(&wrong))
    });
    language.add_function("situation_faults", |question: Value, answer: Value, new: Value, its: Value| {
        reconstruction::context(&said(&question), &said(&answer), &said(&new), &said(&its))
    });
}

/// A text that may not be there.
fn said(value: &Value) -> String {
    text(value).unwrap_or_default()
}

/// Why an answer cannot be taken as a draft; null where it can, or there is none. Of a list each has its number in
/// front: `number 2 refuses to answer`.
fn unusable(asked: Value, answer: Value) -> Value {
    let asked = said(&asked);
    match answer.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let found = |(answer, number): (&String, usize)| {
                Some(format!("number {number} {}", replies::unusable(&asked, answer)?))
            };
            Value::from_iter(texts(&answer).iter().zip(1..).filter_map(found))
        }
        _ => {
            let found = text(&answer).and_then(|answer| replies::unusable(&asked, &answer));
            found.map_or(Value::from(()), Value::from)
        }
    }
}

/// The first of these beginnings, in lower case, with which a text begins, whatever its case.
fn opening(of: Value, leads: Vec<String>) -> Option<String> {
    let lower = said(&of).trim_start().to_lowercase();
    leads.into_iter().find(|lead| lower.starts_with(lead))
}

/// Distractors that overturn the premise that the answer overturns, or none. `overturned` has the number of the premise
/// of each, from 0; `stumper` the answer's, from 0.
fn premise_faults(
    distractors: Vec<String>,
    overturned: Value,
    premises: Vec<String>,
    stumper: Option<usize>,
) -> Vec<String> {
    let mut findings = Vec::new();
    for (distractor, at) in distractors.iter().zip(texts(&overturned).iter().filter_map(|n| n.parse().ok())) {
        if Some(at) == stumper {
            findings.push(format!("{distractor:?} overturns the premise that the answer overturns"));
        } else if at >= premises.len() {
            findings.push(format!("{distractor:?} overturns no premise of the list"));
        }
    }
    findings
}
