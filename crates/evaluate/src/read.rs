//! Parses the choice of an answer. Nothing is guessed: an answer that names no option, or two, is a format
//! error.

use super::item::Item;
use super::task::{Setting, Task};
use crate::llm::parse::{self, Unreadable};
use crate::options::LETTERS;
use crate::puzzle::words::word_key;
use riddlemill_benchmarks::task::AnswerParsing;

/// The option that an answer names, in the form of the gold answer; `None` for a task whose answers are
/// judged.
///
/// # Errors
/// [`Unreadable`]: what is wrong with the form of the answer.
pub fn parse_choice(
    item: &Item,
    task: Task,
    setting: Setting,
    text: &str,
) -> Result<Option<String>, Unreadable> {
    if let AnswerParsing::Words { blank } = task.task_declaration().wants {
        // If giving no answer counts as an answer, it needs no judge.
        return match blank {
            Some(what) if !text.contains(char::is_alphanumeric) => Err(Unreadable::new(what)),
            _ if text.trim().is_empty() => Err(Unreadable::new("the answer is empty")),
            _ => Ok(None),
        };
    }
    let none = || Unreadable::new("the task does not apply to the item");
    let options = &item.question_of_task(task).ok_or_else(none)?.options;
    answer_in(item, task, setting, options, text).map(Some)
}

/// The index of the option that an answer names, of those that were shown in this order.
///
/// # Errors
/// As [`parse_choice`].
pub fn place_among(
    item: &Item,
    task: Task,
    setting: Setting,
    shown: &[String],
    text: &str,
) -> Result<usize, Unreadable> {
    let named = answer_in(item, task, setting, shown, text)?;
    let place = names_of_choices(task, shown.len()).iter().position(|name| *name == named);
    place.ok_or_else(|| Unreadable::new(format!("{named} is none of the options that were shown")))
}

/// Parses an answer in the format that its task declares.
fn answer_in(
    item: &Item,
    task: Task,
    setting: Setting,
    options: &[String],
    text: &str,
) -> Result<String, Unreadable> {
    let none = || Unreadable::new("the task does not apply to the item");
    match &task.task_declaration().wants {
        AnswerParsing::Choice { words, .. } => parse_option(options, text, *words),
        // Replies to the paper's own wording are parsed as its authors do.
        AnswerParsing::Tag { names, .. } if item.paper => {
            parse::choice_within(text, names).map(str::to_string)
        }
        AnswerParsing::Tag { names, .. } => parse::parse_choice(text, names).map(str::to_string),
        AnswerParsing::Labels { codes, others, many: false, behind, .. } => {
            // Only a reply that reasons first has its answer behind a label.
            let labelled = parse::text_after_label(text, behind).filter(|_| setting.cot);
            parse_label(codes, others, labelled.unwrap_or(text))
        }
        AnswerParsing::Labels { codes, many: true, .. } => parse_labels(codes, text),
        AnswerParsing::Rating { min, max, .. } => parse_rating(*min, *max, text),
        AnswerParsing::Words { .. } => Err(none()),
    }
}

/// A whole number on a scale.
fn parse_rating(min: i64, max: i64, text: &str) -> Result<String, Unreadable> {
    let number = parse::parse_plain_number(text);
    let number = number.or_else(|| parse::parse_bracketed_rating(text, 0..=u32::MAX).ok().map(i64::from));
    let what = || Unreadable::new(format!("the answer must be one whole number from {min} to {max}"));
    number.filter(|number| (min..=max).contains(number)).map(|n| n.to_string()).ok_or_else(what)
}

/// Several labels.
fn parse_labels(codes: &[&str], text: &str) -> Result<String, Unreadable> {
    let named = labels_named(codes, text);
    let what = || Unreadable::new(format!("the answer must name some of {}", codes.join(", ")));
    if named.is_empty() { Err(what()) } else { Ok(named.join("; ")) }
}

/// The labels that a reply names as words of their own and does not deny, in their declared order.
fn labels_named<'c>(codes: &[&'c str], text: &str) -> Vec<&'c str> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let codes = codes.iter().copied().filter(|code| words.contains(code));
    codes.filter(|code| parse::has_name(&lower, code)).collect()
}

/// The option at an index in the release's order, for outputs that give an index only. If options are shown
/// in both orders, the task states which was first.
///
/// # Errors
/// [`Unreadable`] where there is no such place.
pub fn at_place(item: &Item, task: Task, place: usize) -> Result<Option<String>, Unreadable> {
    let none = || Unreadable::new(format!("there is no option {place}"));
    let options = item.question_of_task(task).map_or(0, |posed| posed.options.len());
    names_of_choices(task, options).get(place).map(|name| Some(name.to_string())).ok_or_else(none)
}

/// The answers that a task lets choose from, in the form of the gold answer, in order.
pub(super) fn names_of_choices(task: Task, options: usize) -> Vec<&'static str> {
    match &task.task_declaration().wants {
        AnswerParsing::Tag { names, .. } => names.clone(),
        AnswerParsing::Labels { codes, .. } => codes.clone(),
        AnswerParsing::Choice { .. } => LETTERS.iter().take(options).copied().collect(),
        AnswerParsing::Rating { .. } | AnswerParsing::Words { .. } => Vec::new(),
    }
}

/// The label in an answer, in either language.
fn parse_label(codes: &[&str], others: &[&str], text: &str) -> Result<String, Unreadable> {
    let unreadable = match parse::one_of(text, codes) {
        Ok(name) => return Ok(name.to_string()),
        Err(unreadable) => unreadable,
    };
    let Ok(name) = parse::one_of(text, others) else { return Err(unreadable) };
    let place = others.iter().position(|known| *known == name);
    place.map(|at| codes[at].to_string()).ok_or(unreadable)
}

/// A letter, or the text of one option (BrainTeaser A.2: "only provide the choice"), with `words` also within a sentence. A single
/// letter is the label of an option, because options are shown with labels, even if they are about letters.
fn parse_option(options: &[String], text: &str, words: bool) -> Result<String, Unreadable> {
    let letters: Vec<char> = LETTERS.iter().take(options.len()).filter_map(|l| l.chars().next()).collect();
    let named = parse::parse_option(text, &letters, options);
    if named.is_ok() || !words {
        return named.map(String::from);
    }
    // Whole words: the option `C.` does not occur in every text with a c.
    let padded = |text: &str| format!(" {} ", word_key(text));
    let whole = padded(text);
    // A denial reaches to the end of its clause: "A dog? No. A cat." denies no cat.
    let clauses: Vec<String> = text.split(['.', ',', ';', '!', '?', '\n']).map(padded).collect();
    let is_named = |option: &str| {
        let option = padded(option);
        let within = || clauses.iter().filter(|clause| clause.contains(&option));
        whole.contains(&option)
            && (within().next().is_none() || within().any(|clause| parse::has_name(clause, &option)))
    };
    let mut contained = options.iter().enumerate().filter(|(_, option)| is_named(option));
    match (contained.next(), contained.next()) {
        (Some((at, _)), None) => Ok(LETTERS[at].into()),
        _ => named.map(String::from),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{puzzle_item, task_of_name};
    use super::*;

    fn chosen(options: [&str; 4], reply: &str) -> Option<String> {
        let item = puzzle_item("WP-0", options, 0);
        parse_choice(&item, task_of_name("solve"), Setting::default(), reply).ok().flatten()
    }

    /// Replies with what they are read as, of which `scoring.py` of a release makes the same.
    #[derive(serde::Deserialize)]
    struct Replies {
        form: serde_json::Value,
        #[serde(default)]
        choices: Vec<String>,
        #[serde(default)]
        options: Vec<String>,
        replies: Vec<(String, Option<String>)>,
    }

    #[test]
    fn every_reply_of_the_table_is_read_as_it_says() {
        let table: Vec<Replies> =
            serde_json::from_str(include_str!("../../../tests/fixtures/replies.json")).unwrap();
        let mut read = 0;
        for Replies { form, choices, options, replies } in &table {
            let texts = |key: &str| -> Vec<&str> {
                form[key].as_array().into_iter().flatten().filter_map(|text| text.as_str()).collect()
            };
            let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
            for (reply, expected) in replies {
                let text = &crate::llm::without_reasoning(reply);
                let found = match form["kind"].as_str().unwrap() {
                    "letter" => parse_option(options, text, form["words"] == true),
                    "label" => parse_label(&choices, &texts("others"), text),
                    "labels" => parse_labels(&texts("codes"), text),
                    "rating" => parse_rating(1, 5, text),
                    "tag" => parse::parse_choice(text, &choices).map(str::to_owned),
                    other => panic!("{other}"),
                };
                assert_eq!(&found.ok(), expected, "{reply:?} in {form}");
                read += 1;
            }
        }
        assert!(read > 100, "{read}");
    }

    #[test]
    fn a_label_is_no_option_that_is_a_letter() {
        let options = ["Cooie.", "C.", "Coo", "None of above."];
        for (reply, letter) in [
            ("C", "C"),
            ("C.", "C"),
            ("(B)", "B"),
            ("B. C.", "B"),
            ("Cooie", "A"),
            ("It is cooie, I think", "A"),
            ("none of above", "D"),
            ("It is not cooie but coo", "C"),
        ] {
            assert_eq!(chosen(options, reply).as_deref(), Some(letter), "{reply}");
        }
        let letters = ["The letter 'e'.", "'i'", "'a'", "None of above."];
        assert_eq!(chosen(letters, "the letter 'e'").as_deref(), Some("A"));
        assert_eq!(chosen(letters, "i").as_deref(), Some("B"));
        assert_eq!(chosen(letters, "nothing of the kind"), None);
        assert_eq!(chosen(options, "It isn't cooie."), None);
    }

    #[test]
    fn labels_that_a_reply_denies_are_not_named() {
        let codes = ["pun", "absurd", "not_a_joke"];
        for (reply, named) in [
            ("pun, absurd", vec!["pun", "absurd"]),
            ("Absurd", vec!["absurd"]),
            ("pun, not absurd", vec!["pun"]),
            ("It isn't a pun; absurd", vec!["absurd"]),
            ("not_a_joke", vec!["not_a_joke"]),
            ("a punning text", vec![]),
            ("neither pun nor absurd", vec![]),
        ] {
            assert_eq!(labels_named(&codes, reply), named, "{reply}");
        }
    }
}
