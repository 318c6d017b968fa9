//! Filter: keeps posts of the kind that the recipe asks for.

use super::settings::{self, Language};
use crate::record::{Outcome, Post, Reason};
use crate::text::filter::{Context, Settings, filter as rules};
use crate::text::{english, interrogative};

/// Keeps a post or drops it with the rule it fails.
pub fn filter(post: Post, settings: &settings::Filter) -> Outcome<Post> {
    let rules_on = Settings {
        min_chars: settings.min_chars,
        max_chars: settings.max_chars,
        // The patterns of forum management are Chinese.
        management: settings.forum && settings.language == Language::Zh,
        ..Settings::default()
    };
    let context = Context { images: post.images as usize };
    if let Some((reason, evidence)) = rules(&post.text, &rules_on, context) {
        return Outcome::Dropped { reason, evidence };
    }
    if settings.questions && settings.language == Language::En {
        let (asks, rule, fragment) = english::asks(&post.text);
        if !asks {
            let evidence = if fragment.is_empty() { rule.to_owned() } else { format!("{rule}: {fragment}") };
            return Outcome::Dropped { reason: Reason::NotAQuestion, evidence };
        }
    } else if settings.questions {
        let judgement = interrogative::judge(&post.text);
        if !judgement.is_question {
            let evidence = match judgement.evidence.as_str() {
                "" => judgement.rule.code().to_string(),
                fragment => format!("{}: {fragment}", judgement.rule.code()),
            };
            return Outcome::Dropped { reason: Reason::NotAQuestion, evidence };
        }
    }
    Outcome::Kept(post)
}
