//! What an answer chooses. Nothing is guessed: an answer that names no option, or two, is a format error.

use super::item::{ANSWERS, Body, Item, types};
use super::task::{Setting, Task};
use crate::llm::parse::{self, Unreadable};
use crate::options::LETTERS;
use crate::puzzle::words::key;
use crate::review::ballots;
use riddlemill_benchmarks::task::Wants;

/// Which option an answer names, as the gold is written; `None` of a task that somebody has to judge.
///
/// # Errors
/// What is wrong with the form of the answer.
pub fn read(item: &Item, task: Task, setting: Setting, text: &str) -> Result<Option<String>, String> {
    let said = match task {
        Task::GoodFirst | Task::BadFirst if item.paper => {
            parse::choice_within(text, &ANSWERS).map(str::to_string)
        }
        Task::GoodFirst | Task::BadFirst => parse::choice(text, &ANSWERS).map(str::to_string),
        Task::Select => parse::letter(text, &['A', 'B', 'C', 'D']).map(String::from),
        Task::Classify => kind(text, setting.cot),
        Task::Solve => option(item, text),
        Task::Declared(_) => {
            return declared(item, task, text).map(Some).map_err(|unreadable| unreadable.to_string());
        }
        // "Also, no answer is acceptable!": it scores 0, and nobody is asked about it.
        Task::SolveOpen if !text.contains(char::is_alphanumeric) => return Err("no answer".into()),
        Task::Answer | Task::AnswerNormal | Task::Explain | Task::ExplainJoke | Task::SolveOpen => {
            let empty = text.trim().is_empty();
            return if empty { Err("the answer is empty".into()) } else { Ok(None) };
        }
    };
    said.map(Some).map_err(|unreadable| unreadable.to_string())
}

/// What an answer says, in the form that its task declares.
fn declared(item: &Item, task: Task, text: &str) -> Result<String, Unreadable> {
    let none = || Unreadable::new("the task asks nothing of the item");
    let wants = &task.declared().ok_or_else(none)?.wants;
    let Body::Declared { posed, .. } = &item.body else { return Err(none()) };
    let posed = posed.get(task.name()).ok_or_else(none)?;
    match wants {
        Wants::Choice { .. } => {
            let letters: Vec<char> =
                LETTERS.iter().take(posed.options.len()).flat_map(|l| l.chars()).collect();
            parse::letter(text, &letters).map(String::from)
        }
        Wants::Labels { codes, many: false, .. } => parse::one_of(text, codes).map(str::to_owned),
        Wants::Labels { codes, many: true, .. } => {
            let words: Vec<String> = text
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .map(str::to_lowercase)
                .filter(|word| !word.is_empty())
                .collect();
            let named: Vec<&str> =
                codes.iter().copied().filter(|code| words.iter().any(|word| word == code)).collect();
            let what = || Unreadable::new(format!("the answer must name some of {}", codes.join(", ")));
            if named.is_empty() { Err(what()) } else { Ok(named.join("; ")) }
        }
        Wants::Rating { min, max, .. } => {
            let number = text.trim().trim_end_matches('.').parse::<i64>().ok();
            let number = number.or_else(|| parse::bracketed(text, 0..=u32::MAX).ok().map(i64::from));
            let what = || Unreadable::new(format!("the answer must be one whole number from {min} to {max}"));
            number.filter(|number| (min..=max).contains(&number)).map(|n| n.to_string()).ok_or_else(what)
        }
    }
}

/// The option at a place of the release's own order, for outputs that name a place and no words. Of
/// RuozhiBench-MC the task says which answer stood first.
///
/// # Errors
/// Where there is no such place.
pub fn at_place(item: &Item, task: Task, place: usize) -> Result<Option<String>, String> {
    let none = || format!("there is no option {place}");
    let names: Vec<&str> = match task {
        Task::GoodFirst | Task::BadFirst => ANSWERS.to_vec(),
        Task::Classify => types(),
        Task::Select | Task::Solve => {
            let options = item.options().map_or(0, |(options, _)| options.len());
            LETTERS.iter().take(options).copied().collect()
        }
        Task::Declared(name) => match (&item.body, task.declared().map(|task| &task.wants)) {
            (_, Some(Wants::Labels { codes, .. })) => codes.clone(),
            (Body::Declared { posed, .. }, _) => {
                let options = posed.get(name).map_or(0, |posed| posed.options.len());
                LETTERS.iter().take(options).copied().collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    names.get(place).map(|name| Some(name.to_string())).ok_or_else(none)
}

/// The Chinese name of the type that an answer gives in either language; after chain of thought, of what follows
/// the last label (figure 5).
fn kind(text: &str, cot: bool) -> Result<String, Unreadable> {
    let labelled = parse::labelled(text, &["分类", "类别", "type"]);
    let text = if cot { labelled.unwrap_or(text) } else { text };
    let all = ballots::options("flub", "types");
    let zh: Vec<&str> = all.iter().map(|kind| kind.label.zh).collect();
    let en: Vec<&str> = all.iter().map(|kind| kind.label.en).collect();
    let unreadable = match parse::one_of(text, &zh) {
        Ok(name) => return Ok(name.to_string()),
        Err(unreadable) => unreadable,
    };
    let Ok(name) = parse::one_of(text, &en) else { return Err(unreadable) };
    let place = en.iter().position(|known| *known == name);
    place.map(|at| zh[at].to_string()).ok_or(unreadable)
}

/// A letter, or the words of one option (BrainTeaser A.2: "only provide the choice"). A letter alone is the label before
/// an option: so the options are shown, whatever letters they are about.
fn option(item: &Item, text: &str) -> Result<String, Unreadable> {
    let Body::Puzzle { options, .. } = &item.body else { return Err(Unreadable::new("no puzzle")) };
    let letters: Vec<char> = LETTERS.iter().take(options.len()).filter_map(|l| l.chars().next()).collect();
    let words = bare(text);
    let label = words.trim_matches(['(', ')', '[', ']', ':']);
    if let Some(at) =
        letters.iter().position(|letter| label.eq_ignore_ascii_case(letter.encode_utf8(&mut [0; 4])))
    {
        return Ok(LETTERS[at].into());
    }
    if let Some(at) = options.iter().position(|option| bare(option) == words) {
        return Ok(LETTERS[at].into());
    }
    let named = parse::letter(text, &letters);
    if named.is_ok() {
        return named.map(String::from);
    }
    // Whole words: the option `C.` is not in every text with a c.
    let words = format!(" {} ", key(text));
    let mut held =
        options.iter().enumerate().filter(|(_, option)| words.contains(&format!(" {} ", key(option))));
    match (held.next(), held.next()) {
        (Some((at, _)), None) => Ok(LETTERS[at].into()),
        _ => named.map(String::from),
    }
}

/// Words without case, and without marks at their ends.
fn bare(text: &str) -> String {
    let trimmed = text.trim().trim_matches(|c: char| c.is_whitespace() || ".\"'*`".contains(c));
    trimmed.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::item::Variant;
    use super::*;

    fn chosen(options: [&str; 4], said: &str) -> Option<String> {
        let body = Body::Puzzle {
            question: "Which letter?".into(),
            options: options.map(str::to_string).into(),
            answer: 0,
            group: "WP-0".into(),
            variant: Variant::Original,
            word: true,
        };
        let item = Item { id: "WP-0".into(), record: "WP-0".into(), body, paper: false };
        read(&item, Task::Solve, Setting::default(), said).ok().flatten()
    }

    #[test]
    fn a_label_is_no_option_that_is_a_letter() {
        let options = ["Cooie.", "C.", "Coo", "None of above."];
        for (said, letter) in [
            ("C", "C"),
            ("C.", "C"),
            ("(B)", "B"),
            ("B. C.", "B"),
            ("Cooie", "A"),
            ("It is cooie, I think", "A"),
            ("none of above", "D"),
        ] {
            assert_eq!(chosen(options, said).as_deref(), Some(letter), "{said}");
        }
        let letters = ["The letter 'e'.", "'i'", "'a'", "None of above."];
        assert_eq!(chosen(letters, "the letter 'e'").as_deref(), Some("A"));
        assert_eq!(chosen(letters, "i").as_deref(), Some("B"));
        assert_eq!(chosen(letters, "nothing of the kind"), None);
    }
}
