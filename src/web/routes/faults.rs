//! What is wrong with an answer, in the language of the page and in the words that its reader chose from.

use super::ballot::said;
use crate::review::answers::Fault;
use crate::review::ballot::{Choice, Field, KEEP, Kind};
use crate::web::words::{Language, word};

/// The fault of a field, as the page says it.
pub(super) fn told(language: Language, form: &[Field], field: &str, fault: &Fault) -> String {
    let field = form.iter().find(|known| known.name == field);
    let name = |code: &str| field.map_or_else(|| code.to_string(), |field| named(language, field, code));
    // An answer that takes the draft is one of an earlier field.
    let earlier = |code: &str| {
        let asked = field.and_then(|field| field.when).map(|when| when.field);
        let other = form.iter().find(|other| Some(other.name) == asked);
        other.map_or_else(|| code.to_string(), |other| named(language, other, code))
    };
    let (key, given) = match fault {
        Fault::Missing => ("fault_missing", Vec::new()),
        Fault::UnknownChoice { given, allowed, .. } => {
            let allowed: Vec<String> = allowed.split(", ").map(name).collect();
            let comma = word(language, "comma").unwrap_or(", ");
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
    };
    let mut pieces = word(language, key).unwrap_or_default().split("{}");
    let mut text = pieces.next().unwrap_or_default().to_string();
    for (given, piece) in given.iter().zip(pieces) {
        text.push_str(given);
        text.push_str(piece);
    }
    text
}

/// What an answer of the field is called; its code where it has no name.
pub(super) fn named(language: Language, field: &Field, code: &str) -> String {
    let options: &[Choice] = match &field.kind {
        Kind::Choice(options) | Kind::Choices { options, .. } | Kind::Keep { reasons: options } => options,
        Kind::Preference { tie, .. } => std::slice::from_ref(tie),
        _ => &[],
    };
    let known = options.iter().find(|option| option.code == code).map(|option| said(language, option.label));
    let keep = matches!(field.kind, Kind::Keep { .. }) && code == KEEP;
    known.or_else(|| word(language, "keep_it").filter(|_| keep)).unwrap_or(code).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::ballot::Round;
    use crate::review::ballots;

    #[test]
    fn faults_are_told_in_the_language_and_the_words_of_the_page() {
        let form = ballots::step("ruozhibench-gen", "translation").unwrap().form(Round::Vote);
        let fault = Fault::NoDraft { verdict: "accept".to_string() };
        let said = |language| told(language, &form, "question_en", &fault);
        assert_eq!(said(Language::En), "“accept” takes the draft, but there is none.");
        assert_eq!(said(Language::Zh), "“接受”采用草稿，但没有草稿。");
        let form = ballots::step("ruozhibench-gen", "screen").unwrap().form(Round::Vote);
        // What somebody typed is no pattern of ours.
        let fault =
            Fault::UnknownChoice { given: "{}".into(), allowed: "keep, harmful".into(), near_to: None };
        assert_eq!(told(Language::Zh, &form, "screen", &fault), "“{}”不是可选的答案：保留；有害。");
        let fault = Fault::Count { given: 2, min: 3, max: 3 };
        assert_eq!(told(Language::Zh, &form, "screen", &fault), "已选 2 项，应选 3 项。");
    }
}
