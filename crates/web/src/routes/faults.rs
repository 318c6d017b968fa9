//! Describes errors in answers, in the page's language and with the labels on the ballot.

use crate::form::Form;
use crate::i18n::{Language, fill_text, text_of_key};
use crate::review::answers::{self, Fault};
use crate::review::ballot::{AnswerKind, Choice, Field, KEEP, Label};
use crate::review::{Ballot, Item, UndecidedReason, Value, Vote};

/// The fault of a field, for the page.
pub(super) fn describe_fault(language: Language, form: &[Field], field: &str, fault: &Fault) -> String {
    let field = form.iter().find(|known| known.name == field);
    let name =
        |code: &str| field.map_or_else(|| code.to_string(), |field| answer_label(language, field, code));
    // The answer that accepts a draft belongs to an earlier field.
    let earlier = |code: &str| {
        let asked = field.and_then(|field| field.when).map(|when| when.field);
        let other = form.iter().find(|other| Some(other.name) == asked);
        other.map_or_else(|| code.to_string(), |other| answer_label(language, other, code))
    };
    let (key, given) = match fault {
        Fault::Missing => ("fault_missing", Vec::new()),
        Fault::UnknownChoice { given, allowed, .. } => {
            let allowed: Vec<String> = allowed.split(", ").map(name).collect();
            let comma = text_of_key(language, "comma").unwrap_or(", ");
            ("fault_unknown", vec![given.clone(), allowed.join(comma)])
        }
        Fault::Count { given, min, max } if min == max => {
            ("fault_count_exactly", vec![given.to_string(), max.to_string()])
        }
        Fault::Count { given, min, max } => {
            ("fault_count", vec![given.to_string(), min.to_string(), max.to_string()])
        }
        Fault::OffScale { given, min, max } => {
            ("fault_scale", vec![given.clone(), min.to_string(), max.to_string()])
        }
        Fault::Contradiction { verdict } => ("fault_contradiction", vec![earlier(verdict)]),
        Fault::NoDraft { verdict } => ("fault_no_draft", vec![earlier(verdict)]),
        Fault::NotAsked { asked, allowed, .. } => {
            let other = form.iter().find(|known| known.name == *asked);
            let label = other.map_or(*asked, |known| label_in(language, known.label));
            let codes = allowed.iter();
            let labels = codes
                .map(|code| other.map_or_else(|| (*code).to_owned(), |f| answer_label(language, f, code)));
            ("fault_not_asked", vec![label.to_owned(), labels.collect::<Vec<_>>().join(" / ")])
        }
        Fault::Repeats { other } => {
            let label =
                form.iter().find(|known| known.name == *other).map(|known| label_in(language, known.label));
            ("fault_repeats", vec![label.unwrap_or(other).to_string()])
        }
        Fault::Right => ("fault_right", Vec::new()),
        // In the folder's own words.
        Fault::Unmet { says } => return label_in(language, *says).to_owned(),
    };
    fill_text(language, key, &given.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The name of what agreement was measured on: a field, or one of its answers (`categories:1`).
pub(super) fn field_name(language: Language, ballot: &Ballot, measured: &str) -> String {
    let (name, option) = measured.split_once(':').unwrap_or((measured, ""));
    let Some(field) = ballot.fields.iter().find(|known| known.name == name) else {
        return measured.to_string();
    };
    match option {
        "" => label_in(language, field.label).to_string(),
        option => format!("{} · {}", label_in(language, field.label), answer_label(language, field, option)),
    }
}

/// The messages of each field, joined in one line.
pub(super) fn join_messages(messages: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for (field, message) in messages {
        match fields.iter_mut().find(|(known, _)| *known == field) {
            Some((_, all)) => *all = format!("{all}; {message}"),
            None => fields.push((field, message)),
        }
    }
    fields
}

/// What is wrong with which fields, by the labels on the ballot, in one line.
pub(super) fn name_faults(language: Language, form: &[Field], faults: &[(String, String)]) -> String {
    let text = |key: &str| text_of_key(language, key).unwrap_or_default();
    let told = |(name, message): &(String, String)| {
        let label = form.iter().find(|field| field.name == *name);
        let label = label.map_or(name.as_str(), |field| label_in(language, field.label));
        format!("{}{}{message}", label.trim_end_matches(['?', '？']), text("colon"))
    };
    faults.iter().map(told).collect::<Vec<_>>().join(text("comma"))
}

/// The value of a field in the form.
pub(super) fn sent_value(fields: &[Field], form: &Form, name: &str) -> Option<Value> {
    let field = fields.iter().find(|field| field.name == name)?;
    let key = format!("f.{name}");
    let mut several: Vec<String> = form.values_of(&key).map(str::to_string).collect();
    match (&field.kind, several.len()) {
        (_, 0) => None,
        (AnswerKind::Keep { .. }, 1) if several[0] == KEEP => several.pop().map(Value::Text),
        (AnswerKind::Choices { .. } | AnswerKind::Keep { .. } | AnswerKind::Pick { .. }, _) => {
            Some(Value::List(several))
        }
        _ => several.pop().map(Value::Text),
    }
}

/// The label of a field's answer; its code if it has none.
pub(crate) fn answer_label(language: Language, field: &Field, code: &str) -> String {
    let options: &[Choice] = match &field.kind {
        AnswerKind::Choice(options)
        | AnswerKind::Choices { options, .. }
        | AnswerKind::Keep { reasons: options } => options,
        AnswerKind::Preference { tie, .. } => std::slice::from_ref(tie),
        _ => &[],
    };
    let known =
        options.iter().find(|option| option.code == code).map(|option| label_in(language, option.label));
    let keep = matches!(field.kind, AnswerKind::Keep { .. }) && code == KEEP;
    known.or_else(|| text_of_key(language, "keep_it").filter(|_| keep)).unwrap_or(code).to_string()
}

/// Why the votes do not decide, with the labels on the ballot.
pub(super) fn explain_undecided(language: Language, form: &[Field], why: &UndecidedReason) -> String {
    let field_of = |name: &str| form.iter().find(|field| field.name == name);
    let label = |name: &str| {
        let label = field_of(name).map_or(name, |field| label_in(language, field.label));
        label.trim_end_matches(['?', '？']).to_string()
    };
    // `3; 5 ×1`: codes, and how many chose them.
    let names = |field: &str, answer: &str| match field_of(field).filter(|field| !field.options().is_empty())
    {
        Some(field) => {
            let (codes, times) = answer.rsplit_once(" ×").unwrap_or((answer, ""));
            let names: Vec<String> =
                codes.split("; ").map(|code| answer_label(language, field, code)).collect();
            let times = if times.is_empty() { String::new() } else { format!(" ×{times}") };
            names.join(text_of_key(language, "comma").unwrap_or("; ")) + &times
        }
        None => answer.to_string(),
    };
    match why {
        UndecidedReason::Differ { field, answers } => {
            let answers: Vec<String> = answers.iter().map(|answer| names(field, answer)).collect();
            fill_text(language, "differ", &[&label(field), &answers.join(" / ")])
        }
        UndecidedReason::Twice { round, answers } => {
            // Each answer is `field: value, field: value`, but texts may contain the same characters: shown
            // unchanged.
            fill_text(language, &format!("twice_{}", round.name()), &[&answers.join(" / ")])
        }
        UndecidedReason::Asked { field, answer } => {
            fill_text(language, "asked_for", &[&label(field), &names(field, answer)])
        }
    }
}

/// A vote's answers, in the page's language.
pub(super) fn list_answers(
    language: Language,
    form: &[Field],
    item: &Item,
    vote: &Vote,
) -> Vec<(&'static str, String)> {
    let comma = text_of_key(language, "comma").unwrap_or("; ");
    let answer = |field: &Field| {
        let value = vote.values.get(field.name)?;
        let value_text = match (&field.kind, value) {
            (AnswerKind::Text | AnswerKind::Edited { .. } | AnswerKind::Score { .. }, value) => {
                value.to_string()
            }
            (AnswerKind::Pick { from, .. }, Value::List(numbers)) => {
                let candidates = item.content.get(*from).and_then(Value::as_list).unwrap_or_default();
                let text = |number: &String| {
                    let shown = number.parse::<usize>().ok().map(|stored| item.shown_number(from, stored));
                    let at = shown.and_then(|number| number.checked_sub(1));
                    at.and_then(|at| candidates.get(at)).cloned().unwrap_or_else(|| number.clone())
                };
                numbers.iter().map(text).collect::<Vec<_>>().join(comma)
            }
            (_, Value::List(codes)) => {
                let names: Vec<String> =
                    codes.iter().map(|code| answer_label(language, field, code)).collect();
                names.join(comma)
            }
            (_, value) => match answers::write_answer(field, item, value).as_str() {
                "1" if matches!(field.kind, AnswerKind::Preference { .. }) => {
                    text_of_key(language, "side_1")?.to_string()
                }
                "2" if matches!(field.kind, AnswerKind::Preference { .. }) => {
                    text_of_key(language, "side_2")?.to_string()
                }
                code => answer_label(language, field, code),
            },
        };
        Some((label_in(language, field.label), value_text))
    };
    form.iter().filter_map(answer).collect()
}

/// A label in the page's language.
pub(crate) fn label_in(language: Language, label: Label) -> &'static str {
    match language {
        Language::En => label.en,
        Language::Zh => label.zh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::ballot::Round;
    use crate::review::ballots;

    #[test]
    fn a_dispute_is_reported_in_names() {
        let form = ballots::find_step("ruozhibench-gen", "category")
            .unwrap()
            .questions_of_round(Round::Adjudication);
        let differ =
            UndecidedReason::Differ { field: "categories", answers: vec!["3; 5 ×1".into(), "2 ×2".into()] };
        let explanation = explain_undecided(Language::Zh, &form, &differ);
        let name = |code: &str| answer_label(Language::Zh, &form[0], code);
        assert!(
            name("3") != "3"
                && explanation.contains(&format!("{}；{} ×1 / {} ×2", name("3"), name("5"), name("2")))
        );
        assert!(explanation.contains("投票不一致"), "{explanation}");
        let form = ballots::find_step("flub", "type").unwrap().questions_of_round(Round::Review);
        let asked = UndecidedReason::Asked { field: "main_type", answer: "discuss" };
        assert_eq!(
            explain_undecided(Language::En, &form, &asked),
            "Is the main type plain: somebody answered “to be discussed”"
        );
    }

    #[test]
    fn faults_are_reported_in_the_language_and_the_words_of_the_page() {
        let form =
            ballots::find_step("ruozhibench-gen", "translation").unwrap().questions_of_round(Round::Vote);
        let fault = Fault::NoDraft { verdict: "accept".to_string() };
        let description_in = |language| describe_fault(language, &form, "question_en", &fault);
        assert_eq!(description_in(Language::En), "“accept” accepts the draft, but there is none.");
        assert_eq!(description_in(Language::Zh), "选了“接受”就是采用草稿，但并没有草稿。");
        let form = ballots::find_step("ruozhibench-gen", "screen").unwrap().questions_of_round(Round::Vote);
        // Typed text is not a pattern of ours.
        let fault =
            Fault::UnknownChoice { given: "{}".into(), allowed: "keep, harmful".into(), near_to: None };
        assert_eq!(describe_fault(Language::Zh, &form, "screen", &fault), "“{}”不是可选的答案：保留；有害。");
        let fault = Fault::Count { given: 2, min: 3, max: 3 };
        assert_eq!(describe_fault(Language::Zh, &form, "screen", &fault), "已选 2 项，应选 3 项。");
    }
}
