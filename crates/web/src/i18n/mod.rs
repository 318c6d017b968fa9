//! Texts of the pages, in English and Chinese.

mod ballot;
mod causes;
mod manage;
mod persons;
mod site;
mod table;
mod viewer;

use crate::audit::chinese;
use crate::text::interrogative::Rule;
use crate::text::sameness::Predicate;
pub(super) use causes::{explain_cause, explain_stale, fill_text, pipeline_sentence};
use riddlemill_pipeline::stages::define_code as defined;

/// A sentence of the libraries, translated. One without a translation is unchanged; names, figures, settings
/// and commands are never translated.
pub(super) fn translate_sentence(language: Language, text: &str) -> String {
    let zh = match language {
        Language::En => None,
        Language::Zh => chinese::translate_sentence(text),
    };
    zh.unwrap_or_else(|| text.to_string())
}

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    En,
    Zh,
}

impl Language {
    pub(super) fn code(self) -> &'static str {
        match self {
            Language::En => "en",
            Language::Zh => "zh",
        }
    }

    pub(super) fn from_code(code: &str) -> Option<Language> {
        [Language::En, Language::Zh].into_iter().find(|language| language.code() == code)
    }

    pub(super) fn pick_text<'w>(self, en: &'w str, zh: &'w str) -> &'w str {
        match self {
            Language::En => en,
            Language::Zh => zh,
        }
    }
}

/// All texts: key, English, Chinese.
fn text_entries() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    [table::WORDS, ballot::WORDS, manage::WORDS, persons::WORDS, site::WORDS, viewer::WORDS]
        .into_iter()
        .flatten()
}

/// A text by its key; the template fills in `{}`.
pub(super) fn text_of_key(language: Language, key: &str) -> Option<&'static str> {
    text_entries().find(|(known, ..)| *known == key).map(|(_, en, zh)| language.pick_text(en, zh))
}

/// The name of a stage for people.
pub(super) fn stage_name(language: Language, name: &str) -> String {
    let review = name.strip_prefix("review:");
    let known = chinese::stage_names(review.unwrap_or(name));
    let name = known.map_or(review.unwrap_or(name), |(en, zh)| language.pick_text(en, zh));
    match (review, language) {
        (None, _) => name.to_string(),
        (Some(_), Language::En) => format!("Review: {name}"),
        (Some(_), Language::Zh) => format!("评审：{name}"),
    }
}

/// A reason's short name: its code as words.
pub(super) fn reason_name(language: Language, code: &str) -> String {
    match (language, chinese::describe_reason(code)) {
        (Language::Zh, Some((short, _))) => short.to_string(),
        _ => code.replace('_', " "),
    }
}

/// The meaning of a reason; empty for one of another version.
pub(super) fn reason_definition(language: Language, code: &str) -> &'static str {
    match (language, chinese::describe_reason(code)) {
        (Language::Zh, Some((_, definition))) => definition,
        (Language::Zh, None) => {
            let own = riddlemill_benchmarks::find_reason(code).map(|own| own.definition_zh);
            own.or_else(|| defined(code)).unwrap_or_default()
        }
        (Language::En, _) => defined(code).unwrap_or_default(),
    }
}

/// The meaning of the rule of evidence, if it is one that distinguishes questions from statements, or by which two texts are
/// one.
pub(super) fn rule_meaning(language: Language, evidence: &str) -> Option<&'static str> {
    if let Some(predicate) = Predicate::of_evidence(evidence) {
        return match language {
            Language::En => Some(predicate.definition()),
            Language::Zh => chinese::rule_sentence(predicate.name()),
        };
    }
    let (rule, _) = Rule::of_evidence(evidence)?;
    match language {
        Language::En => Some(rule.definition()),
        Language::Zh => chinese::rule_sentence(rule.code()),
    }
}

/// A place in a paper.
pub(super) fn translate_citation(language: Language, text: &str) -> String {
    match language {
        Language::En => text.to_owned(),
        Language::Zh => chinese::translate_citation(text),
    }
}

/// The languages that somebody reads, `zh, en`, by their names; in English by their codes.
pub(super) fn language_names(language: Language, codes: &str) -> String {
    let name = |code: &str| match code {
        "zh" => "中文".to_owned(),
        "en" => "英文".to_owned(),
        code => code.to_owned(),
    };
    match language {
        Language::En => codes.to_owned(),
        Language::Zh => codes.split(", ").map(name).collect::<Vec<_>>().join("、"),
    }
}

/// The value of a category of a benchmark, as a chart shows it.
pub(super) fn category_name(language: Language, benchmark: &str, value: &str) -> String {
    let zh = match language {
        Language::En => None,
        Language::Zh => chinese::translate_category(benchmark, value),
    };
    zh.unwrap_or_else(|| value.to_owned())
}

/// Evidence of a ledger; in Chinese all of it that is not a post's own words, a name, a code or a figure.
pub(super) fn translate_evidence(language: Language, text: &str) -> String {
    match language {
        Language::En => text.to_owned(),
        Language::Zh => chinese::translate_evidence(text),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::recipe::RECIPES;
    use crate::record::{Reason, State};
    use crate::review::ballot::Role;
    use crate::text::clean;

    #[test]
    fn every_text_occurs_once_and_in_both_languages() {
        let keys: BTreeSet<&str> = text_entries().map(|(key, ..)| *key).collect();
        assert_eq!(keys.len(), text_entries().count(), "a key occurs twice");
        for (key, en, zh) in text_entries() {
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{key}");
            assert!(!en.is_empty() && !zh.is_empty(), "{key}");
        }
    }

    #[test]
    fn evidence_of_a_rule_is_put_into_words() {
        assert_eq!(rule_meaning(Language::En, "no-cue"), Some("Nothing in the post suggests a question."));
        assert_eq!(
            rule_meaning(Language::En, "opening; levenshtein 0.5926"),
            Some("One text is the opening of the other.")
        );
        assert_eq!(
            rule_meaning(Language::Zh, "opening; levenshtein 0.5926"),
            Some("一条文本是另一条的开头。")
        );
        assert_eq!(
            rule_meaning(Language::Zh, "embedded: 我知道他为什么来"),
            Some("问句是某个动词的宾语：“我知道他为什么来”。")
        );
        assert_eq!(rule_meaning(Language::Zh, "levenshtein 0.9"), None);
    }

    #[test]
    fn states_have_chinese_names_and_so_have_reasons() {
        for state in State::ALL {
            assert_eq!(
                text_of_key(Language::Zh, &format!("state_{}", state.code())),
                chinese::state_name(state.code())
            );
            assert!(
                text_of_key(Language::Zh, &format!("state_{}", state.code())).is_some(),
                "{}",
                state.code()
            );
        }
        let codes: BTreeSet<&str> =
            Reason::ALL.iter().map(|r| r.code()).chain(clean::Rule::ALL.iter().map(|r| r.code())).collect();
        let nameless: Vec<_> = codes.iter().filter(|code| chinese::describe_reason(code).is_none()).collect();
        assert!(nameless.is_empty(), "without a Chinese name: {nameless:?}");
        assert_eq!(reason_name(Language::Zh, "of_another_version"), "of another version");
        for role in [Role::Annotator, Role::Junior, Role::Senior, Role::Meta] {
            assert!(text_of_key(Language::Zh, &format!("role_{}", role.name())).is_some(), "{role:?}");
        }
        for step in RECIPES.iter().flat_map(|recipe| recipe.steps()) {
            let name = step.name.strip_prefix("review:").unwrap_or(step.name);
            assert!(chinese::stage_names(name).is_some(), "{name} has no name for people");
        }
    }

    #[test]
    fn what_a_form_is_refused_for_is_said_in_chinese_too() {
        let said = regex::Regex::new(r#"bad_request\(\s*(?:format!\(\s*)?"((?:[^"\\]|\\.|\\\n)*)""#).unwrap();
        let (line_end, value) =
            (regex::Regex::new(r"\\\n\s*").unwrap(), regex::Regex::new(r"\{[^}]*\}").unwrap());
        let mut count = 0;
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/routes")).unwrap() {
            let path = file.unwrap().path();
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            for found in said.captures_iter(&source) {
                let english = value.replace_all(&line_end.replace_all(&found[1], ""), "x").into_owned();
                let is_value = english == "x";
                let chinese = translate_sentence(Language::Zh, &english);
                assert!(is_value || chinese != english, "{}: {english}", path.display());
                count += 1;
            }
        }
        assert!(count > 10, "{count}");
    }
}
