//! Filter: posts of the recipe's kind.

use crate::config::sections;
use riddlemill_text::record::{Outcome, Post, Reason};
use riddlemill_text::text::filter::{Context, Settings, filter as rules};
use riddlemill_text::text::interrogative;

/// Keeps a post or says which rule it fails.
pub fn filter(post: Post, settings: &sections::Filter) -> Outcome<Post> {
    let rules_on = Settings {
        min_chars: settings.min_chars,
        max_chars: settings.max_chars,
        management: settings.forum,
        ..Settings::default()
    };
    let context = Context { images: post.images as usize };
    if let Some((reason, evidence)) = rules(&post.text, &rules_on, context) {
        return Outcome::Dropped { reason, evidence };
    }
    if settings.questions {
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
