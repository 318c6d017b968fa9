//! The output of `asdict` for aiotieba's Thread, Post and Comment, one object per line.
//!
//! Versions differ: `text` is a property and may be absent, `contents` is an object with the fragments in
//! `texts` or `objs`, or the list itself; an author is a `user` object, an `author_id`, or both.

use serde::Deserialize;
use serde_json::Value;

use super::thread::ThreadPost;
use super::{Parsed, loose};
use riddlemill_record::Reason;

#[derive(Deserialize)]
struct AiotiebaObject {
    #[serde(default, deserialize_with = "loose::id")]
    tid: Option<String>,
    #[serde(default, deserialize_with = "loose::id")]
    pid: Option<String>,
    /// For a comment: the post that it belongs to.
    #[serde(default, deserialize_with = "loose::id")]
    ppid: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    title: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    text: Option<String>,
    #[serde(default)]
    contents: Value,
    #[serde(default, deserialize_with = "loose::text")]
    floor: Option<String>,
    #[serde(default)]
    user: Value,
    #[serde(default, deserialize_with = "loose::text")]
    author_id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    create_time: Option<String>,
    #[serde(default, deserialize_with = "loose::real")]
    agree: Option<f64>,
}

/// A Thread, Post or Comment. An item with the number 0 is not a post but an addition by the forum.
pub(super) fn parse_row(line: &str) -> Result<ThreadPost, Parsed> {
    let object: AiotiebaObject = super::object(line)?;
    if object.pid.as_deref() == Some("0") {
        return Err(Parsed::Out(Reason::NoNumber, String::new()));
    }
    // aiotieba writes 0 for an id that it does not have.
    let is_comment = object.ppid.as_deref().is_some_and(|p| p != "0");
    let is_thread = object.title.is_some() && object.floor.is_none() && !is_comment;
    let title = object.title.filter(|t| is_thread && !t.is_empty());
    let text = text_of_fragments(&object.contents).or_else(|| {
        // A thread's `text` begins with its title.
        let text = object.text?;
        let rest = title
            .as_ref()
            .and_then(|t| text.strip_prefix(t.as_str()))
            .map(|rest| rest.trim_start_matches('\n'));
        Some(rest.map(str::to_string).unwrap_or(text))
    });
    let of_user =
        |key: &str| object.user.get(key).and_then(loose::plain_text).filter(|v| v != "0" && !v.is_empty());
    Ok(ThreadPost {
        tid: object.tid,
        pid: object.pid,
        user_name: of_user("user_name").or_else(|| of_user("nick_name_new")).or_else(|| of_user("nick_name")),
        user_id: of_user("user_id").or(object.author_id.filter(|id| id != "0")),
        title,
        text,
        time: object.create_time,
        image_links: count_images(&object.contents),
        is_comment,
        floor: if is_thread { Some("1".into()) } else { object.floor },
        id: None,
        score: object.agree,
    })
}

/// The text of the fragments, in order; `None` where the object has no fragments at all.
fn text_of_fragments(contents: &Value) -> Option<String> {
    let list = match contents {
        Value::Array(list) => list,
        Value::Object(fields) => match (fields.get("objs"), fields.get("texts")) {
            // `objs` holds every fragment in its place, `texts` only those that say something.
            (Some(Value::Array(list)), _) if !list.is_empty() => list,
            (_, Some(Value::Array(list))) => list,
            (Some(Value::Array(list)), _) => list,
            _ => return fields.get("text")?.as_str().map(str::to_string),
        },
        _ => return None,
    };
    Some(list.iter().filter_map(|fragment| fragment.get("text")?.as_str()).collect())
}

fn count_images(contents: &Value) -> u64 {
    let count = |name: &str| contents.get(name).and_then(Value::as_array).map_or(0, |list| list.len() as u64);
    count("imgs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Take;
    use crate::stages::import::thread;

    #[test]
    fn text_is_rebuilt_from_fragments() {
        let line = r#"{"contents": {"objs": [{"text": "月亮"}, {"src": "x.png"}, {"text": "会迟到吗"}], "imgs": [{}]}, "title": "请问",
            "tid": 42, "pid": "43", "user": {"user_id": 7, "user_name": "示例"}, "agree": 5, "create_time": 1600000000}"#;
        let row = parse_row(line).unwrap();
        assert_eq!((row.text.as_deref(), row.image_links, row.score), (Some("月亮会迟到吗"), 1, Some(5.0)));
        let Parsed::Post(draft) = thread::judge_post(row, None, Take::Jokes) else { panic!("no post") };
        assert_eq!((draft.id.as_deref(), draft.title.as_deref()), (Some("tieba:42"), Some("请问")));
        assert_eq!(draft.author.as_deref(), Some("7"));
    }

    #[test]
    fn a_text_that_repeats_the_title_says_it_once() {
        let line = r#"{"text": "请问\n月亮会迟到吗", "title": "请问", "tid": 42, "pid": 43}"#;
        assert_eq!(parse_row(line).unwrap().text.as_deref(), Some("月亮会迟到吗"));
    }

    #[test]
    fn posts_and_comments_are_distinguished() {
        let post = parse_row(r#"{"contents": [{"text": "甲"}], "tid": 1, "pid": 2, "floor": 3}"#).unwrap();
        assert!(!post.is_comment && post.floor.as_deref() == Some("3"));
        let comment = parse_row(
            r#"{"contents": {"texts": [{"text": "乙"}]}, "tid": 1, "pid": 4, "ppid": 2, "floor": 3}"#,
        )
        .unwrap();
        assert!(comment.is_comment);
        let absent = parse_row(r#"{"pid": 0, "tid": 1, "text": "广告"}"#).unwrap_err();
        assert_eq!(absent, Parsed::Out(Reason::NoNumber, String::new()));
    }
}
