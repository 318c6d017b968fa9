//! The two formats of github.com/Leymore/ruozhiba.

use serde::Deserialize;

use super::{Draft, Parsed, loose};
use crate::pages::tieba::thread_id;
use crate::record::PostKind;

#[derive(Deserialize)]
struct Title {
    #[serde(default, deserialize_with = "loose::text")]
    title: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    abs: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    href: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    lz: Option<String>,
}

/// A thread of a list page: `title, abs, href "/p/<tid>?fr=good", lz, n_reply`. Titles are cut at
/// 20 to 31 characters; `abs` is the beginning of the first floor, or null.
pub(super) fn title(line: &str) -> Parsed {
    let row: Title = match super::object(line) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    if row.title.is_none() && row.abs.is_none() {
        return Parsed::Bad("neither `title` nor `abs` is a text".into());
    }
    let mentions =
        row.lz.iter().filter(|name| super::mentioned(name, [&row.title, &row.abs])).cloned().collect();
    Parsed::Post(Box::new(Draft {
        id: row.href.as_deref().and_then(thread_id).map(|tid| ["tieba:", &tid.to_string()].concat()),
        kind: PostKind::Thread,
        title: row.title,
        content: row.abs,
        author: row.lz,
        mentions,
        ..Draft::default()
    }))
}

#[derive(Deserialize)]
struct Annual {
    #[serde(default, deserialize_with = "loose::text")]
    author: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    content: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    ctime: Option<String>,
}

/// A post of an annual thread: `author, content, l_num, ctime`, the content beginning with its rank.
pub(super) fn annual(line: &str) -> Parsed {
    let row: Annual = match super::object(line) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    let Some(content) = row.content else {
        return Parsed::Bad("`content` is no text".into());
    };
    let mentions =
        row.author.iter().filter(|name| content.contains(name.as_str()) && name.chars().count() > 1);
    Parsed::Post(Box::new(Draft {
        id: None,
        kind: PostKind::Numbered,
        mentions: mentions.cloned().collect(),
        content: Some(content),
        author: row.author,
        time: row.ctime,
        ..Draft::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(parsed: Parsed) -> Draft {
        match parsed {
            Parsed::Post(draft) => *draft,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_thread_is_known_by_its_number() {
        let line =
            r#"{"title": "<云>会恐高吗", "abs": null, "href": "/p/123456?fr=good", "lz": 7, "n_reply": "3"}"#;
        let draft = post(title(line));
        assert_eq!(draft.id.as_deref(), Some("tieba:123456"));
        assert_eq!((draft.title.as_deref(), draft.content), (Some("<云>会恐高吗"), None));
        assert_eq!(draft.author.as_deref(), Some("7"));
    }

    #[test]
    fn what_is_missing_is_said() {
        assert!(matches!(title(r#"{"abs": 3.5, "href": null}"#), Parsed::Post(_)));
        assert!(matches!(title(r#"{"title": null}"#), Parsed::Bad(_)));
        assert!(matches!(annual(r#"{"author": "x"}"#), Parsed::Bad(_)));
        assert!(matches!(title("[1,2]"), Parsed::Bad(_)));
    }
}
