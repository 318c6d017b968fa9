//! Clean: extracts the post's own words, without placeholders, numbering and other debris.

use super::language_of;
use super::settings::{self, Join, Language};
use crate::text::clean::{self as rules, CleanVerdict, DraftKind, PostText};
use riddlemill_record::{Outcome, Post, PostKind, Reason};

/// Cleans a post. Title and content are combined into `text` and then removed.
pub fn clean_post(mut post: Post, settings: &settings::Clean) -> Outcome<Post> {
    let kind = match post.kind {
        PostKind::Thread => DraftKind::Thread,
        PostKind::Numbered => DraftKind::NumberedPost,
        PostKind::Plain | PostKind::Riddle => DraftKind::Plain,
    };
    let (title, content) = (post.title.take(), post.content.take());
    let (title, content) = (title.as_deref(), content.as_deref());
    let written = || Post::join_title_and_content(title, content);
    if language_of(&post, settings.language, written) != Language::Zh {
        return other_than_chinese(post, title, content);
    }
    let cleaned = rules::clean(&PostText { kind, title: title.unwrap_or_default(), content });
    if let CleanVerdict::Drop(reason, evidence) = cleaned.verdict {
        return Outcome::Dropped { reason, evidence };
    }
    let text = match (settings.join, &cleaned.content) {
        (Join::Title, Some(_)) if !cleaned.title.is_empty() => cleaned.title,
        (Join::Content, Some(content)) => content.clone(),
        _ => cleaned.text,
    };
    post.score = cleaned.score.or(post.score);
    post.number = cleaned.number.map(u64::from).or(post.number);
    post.text = text;
    let Some(first) = cleaned.hits.first() else { return Outcome::Kept(post) };
    let before = Post::join_title_and_content(title, content);
    // Rules that leave the text as it was are no change.
    if before == post.text {
        return Outcome::Kept(post);
    }
    Outcome::Changed {
        rule: first.rule.code(),
        evidence: rules_of(cleaned.hits.iter().map(|h| h.rule.code())).into(),
        before,
        after: post.text.clone(),
        row: post,
    }
}

/// Cleans a post of a forum in English or another language.
fn other_than_chinese(mut post: Post, title: Option<&str>, content: Option<&str>) -> Outcome<Post> {
    let (text, rule) = crate::text::english::clean_post(title.unwrap_or_default(), content);
    if !text.chars().any(char::is_alphanumeric) {
        return Outcome::Dropped {
            reason: Reason::Empty,
            evidence: Post::join_title_and_content(title, content),
        };
    }
    let before = Post::join_title_and_content(title, content);
    post.text = text;
    if before == post.text {
        return Outcome::Kept(post);
    }
    let rule = rule.unwrap_or(rules::Rule::Debris.code());
    let after = post.text.clone();
    Outcome::Changed { row: post, rule, evidence: rule.into(), before, after }
}

/// The rules that were applied, each once, in order.
pub fn rules_of<'a>(codes: impl Iterator<Item = &'a str>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for code in codes {
        if !seen.contains(&code) {
            seen.push(code);
        }
    }
    seen.join(",")
}
