//! Submissions and comments of Reddit, as Pushshift and Arctic Shift archive them.

use serde::Deserialize;
use serde_json::Value;

use super::native_id::{as_meant, describe_damage};
use super::{Parsed, RawPost, loose};
use crate::config::Take;
use riddlemill_record::{PostKind, Reason};

#[derive(Deserialize)]
struct RedditObject {
    #[serde(default, deserialize_with = "loose::id")]
    id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    title: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    selftext: Option<String>,
    /// For a comment: its text.
    #[serde(default, deserialize_with = "loose::text")]
    body: Option<String>,
    /// For a comment: `t3_` and the submission's id.
    #[serde(default, deserialize_with = "loose::id")]
    link_id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    author: Option<String>,
    #[serde(default, deserialize_with = "loose::seconds")]
    created_utc: Option<String>,
    #[serde(default, deserialize_with = "loose::real")]
    score: Option<f64>,
    #[serde(default)]
    removed_by_category: Value,
    #[serde(default)]
    is_gallery: Value,
    #[serde(default, deserialize_with = "loose::text")]
    post_hint: Option<String>,
}

/// `reddit:<id>` of a submission, `reddit:<submission>:<id>` of a comment, which is a candidate only where `take` asks for
/// more than the first posts.
pub(super) fn parse_post(line: &str, take: Take) -> Parsed {
    let object: RedditObject = match super::object(line) {
        Ok(object) => object,
        Err(bad) => return bad,
    };
    // The API writes the kind of a thing before its id, archives do not.
    let id = object.id.map(|id| match id.strip_prefix("t3_").or(id.strip_prefix("t1_")) {
        Some(bare) => bare.to_owned(),
        None => id,
    });
    // `nan` has the form of an id.
    if let Some(damaged) = id.as_deref().filter(|id| as_meant(id).is_err()) {
        return Parsed::Bad(describe_damage(damaged));
    }
    let Some(id) = id.filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric())) else {
        return Parsed::Bad("`id` is not an id of Reddit".into());
    };
    let texts = [&object.title, &object.selftext, &object.body];
    if let Some(mark) = texts.into_iter().flatten().find(|text| taken_away(text)) {
        return Parsed::Out(Reason::TakenAway, mark.trim().into());
    }
    if let Some(by) = object.removed_by_category.as_str().filter(|by| !by.is_empty()) {
        return Parsed::Out(Reason::TakenAway, format!("removed_by_category: {by}"));
    }
    if object.title.is_none() && object.body.is_some() && take == Take::Jokes {
        return Parsed::Out(Reason::Chatter, "a comment; take = \"main\" takes comments, too".into());
    }
    let (id, content) = match (&object.title, object.body) {
        (None, Some(body)) => {
            let submission = object.link_id.as_deref().map(|link| link.trim_start_matches("t3_"));
            (submission.map_or(format!("reddit:{id}"), |link| format!("reddit:{link}:{id}")), Some(body))
        }
        // A post without text of its own has an empty one.
        _ => (format!("reddit:{id}"), object.selftext.filter(|text| !text.is_empty())),
    };
    if object.title.is_none() && content.is_none() {
        return Parsed::Bad("neither `title`, `selftext` nor `body` is a string".into());
    }
    // Reddit names the author of a deleted account `[deleted]`.
    let author = object.author.filter(|name| !taken_away(name));
    let mentions =
        author.iter().filter(|name| super::mentioned(name, [&object.title, &content])).cloned().collect();
    let pictured = object.is_gallery == Value::Bool(true) || object.post_hint.as_deref() == Some("image");
    Parsed::Post(Box::new(RawPost {
        damaged_id: None,
        id: Some(id),
        kind: if object.title.is_some() { PostKind::Thread } else { PostKind::Plain },
        title: object.title,
        content,
        author,
        mentions,
        time: object.created_utc,
        score: object.score,
        note: None,
        links: Vec::new(),
        images: pictured.into(),
        noted: String::new(),
    }))
}

/// What Reddit writes in place of a text that its author or a moderator took away.
fn taken_away(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[')
        && text.ends_with(']')
        && ["[deleted]", "[removed]", "[deleted by user]", "[removed by reddit]", "[ removed by reddit ]"]
            .iter()
            .any(|mark| text.eq_ignore_ascii_case(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(line: &str) -> RawPost {
        match parse_post(line, Take::Main) {
            Parsed::Post(draft) => *draft,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn times_are_numbers_or_strings() {
        for time in ["1546300800", "\"1546300800\"", "1546300800.0", "\"1546300800.0\""] {
            let draft = draft(&format!(
                r#"{{"id": "ab12", "title": "Why?", "selftext": "", "created_utc": {time}, "score": -3}}"#
            ));
            assert_eq!(draft.time.as_deref(), Some("1546300800"), "{time}");
            assert_eq!((draft.content, draft.score), (None, Some(-3.0)));
        }
    }

    #[test]
    fn what_was_taken_away_is_set_aside_with_its_mark() {
        let gone = [
            r#"{"id": "a", "title": "t", "selftext": "[deleted]"}"#,
            r#"{"id": "a", "title": "t", "selftext": "[removed]"}"#,
            r#"{"id": "a", "title": "[deleted by user]", "selftext": ""}"#,
            r#"{"id": "a", "title": "t", "selftext": "x", "removed_by_category": "moderator"}"#,
            r#"{"id": "a", "body": "[removed]", "link_id": "t3_b"}"#,
        ];
        for line in gone {
            assert!(matches!(parse_post(line, Take::Main), Parsed::Out(Reason::TakenAway, _)), "{line}");
        }
        let kept = draft(
            r#"{"id": "a", "title": "[removed] is a word", "removed_by_category": null, "author": "[deleted]"}"#,
        );
        assert_eq!(kept.author, None);
    }

    #[test]
    fn a_comment_hangs_under_its_submission() {
        let line = r#"{"id": "c1", "link_id": "t3_s1", "body": "A towel."}"#;
        assert!(matches!(parse_post(line, Take::Jokes), Parsed::Out(Reason::Chatter, _)));
        let comment = draft(line);
        assert_eq!((comment.id.as_deref(), comment.kind), (Some("reddit:s1:c1"), PostKind::Plain));
        assert!(matches!(parse_post(r#"{"title": "no id"}"#, Take::Main), Parsed::Bad(_)));
    }
}
