//! The ballots of the five recipes, one file a benchmark, after the papers.
//!
//! Codes, field names and step names stand in votes: they never change. Labels, guidelines and
//! definitions are this project's words and may be improved. Where a paper does not say how many
//! vote or how they agree, the file says what is chosen instead. RuozhiBench-MC has no ballot: its
//! paper has no person look at the options (section 4.1).

mod brainteaser;
mod chumor;
mod flub;
mod ruozhibench;

use super::ballot::{Choice, Field, Kind, Label, Step, choice, label};

/// The six categories by number, from 1 (RuozhiBench 2.4, figure 11).
pub const CATEGORIES: [&str; 6] = [
    "Logical Error",
    "Commonsense Misunderstanding",
    "Erroneous Assumption",
    "Scientific Misconception",
    "Absurd Imagination",
    "Others",
];

/// The review steps of a recipe, in the order its paper takes them; none of an unknown recipe.
pub fn steps(recipe: &str) -> Vec<Step> {
    match recipe {
        "ruozhibench-gen" => ruozhibench::steps(),
        "flub" => flub::steps(),
        "chumor" => chumor::steps(),
        "brainteaser" => brainteaser::steps(),
        _ => Vec::new(),
    }
}

/// FLUB's types in the order of figure 2, the last of them Undefined.
pub fn flub_types() -> Vec<Choice> {
    flub::types()
}

/// One review step.
pub fn step(recipe: &str, name: &str) -> Option<Step> {
    steps(recipe).into_iter().find(|step| step.name == name)
}

/// The note that a thread's owner put under a joke, where there is one.
fn note() -> (&'static str, Label) {
    ("note", label("Note by the thread's owner", "楼主注"))
}

/// Yes or no.
fn yes_no(yes: &'static str, yes_zh: &'static str, no: &'static str, no_zh: &'static str) -> Vec<Choice> {
    vec![
        choice("yes", label("yes", "是"), label(yes, yes_zh)),
        choice("no", label("no", "否"), label(no, no_zh)),
    ]
}

/// Whether a draft is right as it stands. Goes with a text that is written after `rewrite`.
fn verdict() -> Field {
    let accept = choice(
        "accept",
        label("accept", "接受"),
        label("The draft needs no change at all.", "草稿无需任何修改。"),
    );
    let rewrite = choice(
        "rewrite",
        label("rewrite", "改写"),
        label(
            "The draft needs a change, however small; write the whole new text.",
            "草稿需要修改（哪怕很小）；请写出完整的新文本。",
        ),
    );
    Field::new("verdict", label("Is the draft right?", "草稿正确吗？"), Kind::Choice(vec![accept, rewrite]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPES: [&str; 5] = ["ruozhibench-gen", "ruozhibench-mc", "flub", "chumor", "brainteaser"];

    #[test]
    fn every_ballot_is_well_formed() {
        for step in RECIPES.into_iter().flat_map(steps) {
            assert_eq!(step.faults(), Vec::<String>::new());
        }
    }

    #[test]
    fn codes_fit_in_a_cell_and_labels_are_bilingual() {
        let code = |code: &str| {
            code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
        for step in RECIPES.into_iter().flat_map(steps) {
            assert!(chinese(step.guideline.zh) && chinese(step.title.zh), "{}", step.name);
            for field in step.form(super::super::Round::Adjudication) {
                assert!(code(field.name) && chinese(field.label.zh), "{}", field.name);
                for option in field.options() {
                    assert!(code(option.code) && chinese(option.label.zh), "{}", option.code);
                    assert!(
                        !option.definition.en.is_empty() && chinese(option.definition.zh),
                        "{}",
                        option.code
                    );
                }
            }
        }
    }

    /// Votes are kept for good, so a code that votes hold may never vanish.
    #[test]
    fn codes_are_stable() {
        let mut lines = Vec::new();
        for step in RECIPES.into_iter().flat_map(steps) {
            for round in super::super::Round::ALL {
                for field in step.form(round) {
                    let codes: Vec<&str> = field.options().iter().map(|option| option.code).collect();
                    lines.push(format!(
                        "{}/{} {} {}: {}",
                        step.recipe,
                        step.name,
                        round.name(),
                        field.name,
                        codes.join(" ")
                    ));
                }
            }
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
