//! Filter: keeps posts of the kind that the recipe asks for.

use super::language_of;
use super::settings::{self, Language};
use crate::text::filter::{Context, Settings, filter as rules};
use crate::text::{english, interrogative, marks};
use riddlemill_record::{Outcome, Post, Reason};

/// Keeps a post or drops it with the rule it fails.
pub fn filter(post: Post, settings: &settings::Filter) -> Outcome<Post> {
    let language = language_of(&post, settings.language, || post.text.clone());
    let rules_on = Settings {
        min_chars: settings.min_chars,
        max_chars: settings.max_chars,
        // The patterns of forum management are Chinese.
        management: settings.forum && language == Language::Zh,
        ..Settings::default()
    };
    let context = Context { images: post.images as usize };
    if let Some((reason, evidence)) = rules(&post.text, &rules_on, context) {
        return Outcome::Dropped { reason, evidence };
    }
    if settings.questions
        && let Some(evidence) = no_question(&post.text, language)
    {
        return Outcome::Dropped { reason: Reason::NotAQuestion, evidence };
    }
    Outcome::Kept(post)
}

/// Whether a text asks by the rules of its language, with the rule and what decided.
pub fn asks_in(text: &str, language: Language) -> (bool, &'static str, String) {
    match language {
        Language::Zh => {
            let judged = interrogative::judge(text);
            (judged.is_question, judged.rule.code(), judged.evidence)
        }
        Language::En => english::asks(text),
        Language::Und => marks::asks(text),
    }
}

/// The rule by which a text does not ask, with what decided; `None` for a question.
fn no_question(text: &str, language: Language) -> Option<String> {
    let (asks, rule, fragment) = asks_in(text, language);
    match fragment.as_str() {
        _ if asks => None,
        "" => Some(rule.to_owned()),
        fragment => Some(format!("{rule}: {fragment}")),
    }
}
