//! Nested replies: the JSON of a whole page, and the HTML of one floor.

use scraper::Html;
use serde_json::Value;

use super::super::dom::{self, TooDeep, first_match, selectors};
use super::super::row::{Post, PostKind};
use super::super::text::text_of;
use super::super::time;
use super::{HIDDEN, field};

selectors! {
    COMMENT = "li.lzl_single_post";
    PAGER = "li.lzl_li_pager";
    TEXT = ".lzl_content_main";
    TIME = ".lzl_time";
    USER = "a.j_user_card";
    IMAGE = "img";
}

/// The nested replies in one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comments {
    /// Replies in the answer's order.
    pub posts: Vec<Post>,
    /// For each floor, the server's count of replies and the number in this answer.
    pub floors: Vec<(u64, u64, u64)>,
    /// Pages of replies the pager declares (`/p/comment` only).
    pub pages: Option<u64>,
    /// Replies the pager declares.
    pub total: Option<u64>,
    /// Whether the answer has the expected structure, even if it is empty.
    pub recognised: bool,
}

/// Why an answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CommentsError {
    /// A floor's HTML nests too deeply.
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    /// The server reports a failure.
    #[error("the server answered error {0}")]
    Server(i64),
}

/// Parses `/p/totalComment` (JSON) or `/p/comment` (HTML), whichever the body is.
///
/// # Errors
/// [`CommentsError`].
pub fn parse_comments(body: &str) -> Result<Comments, CommentsError> {
    match serde_json::from_str::<Value>(body.trim_start_matches('\u{feff}')) {
        Ok(json) if json.is_object() => parse_total(&json),
        _ => Ok(read_tree(&dom::parse_fragment(body)?)),
    }
}

fn parse_total(json: &Value) -> Result<Comments, CommentsError> {
    match json.get("errno").and_then(Value::as_i64) {
        None | Some(0) => {}
        Some(code) => return Err(CommentsError::Server(code)),
    }
    let list = json.get("data").and_then(|data| data.get("comment_list"));
    let mut found = Comments { recognised: list.is_some(), ..Comments::default() };
    // PHP writes an empty map as `[]`.
    for (pid, floor) in list.and_then(Value::as_object).into_iter().flatten() {
        let Ok(parent) = pid.trim().parse::<u64>() else { continue };
        let infos = floor.get("comment_info").and_then(Value::as_array);
        let before = found.posts.len();
        for info in infos.into_iter().flatten() {
            found.posts.extend(parse_comment(info, parent)?);
        }
        let got = (found.posts.len() - before) as u64;
        found.floors.push((parent, field::parse_number(floor.get("comment_num")).unwrap_or(got), got));
    }
    // The members of a JSON object come in no fixed order.
    found.floors.sort_unstable();
    Ok(found)
}

fn parse_comment(info: &Value, parent: u64) -> Result<Option<Post>, TooDeep> {
    let Some(pid) = field::parse_number(info.get("comment_id")).filter(|&id| id > 0) else { return Ok(None) };
    let content = info.get("content").and_then(Value::as_str).unwrap_or_default();
    let html = dom::parse_fragment(content)?;
    let seconds =
        field::parse_number(info.get("now_time")).and_then(|s| i64::try_from(s).ok()).filter(|&s| s > 0);
    Ok(Some(Post {
        tid: field::parse_number(info.get("thread_id")),
        pid: Some(pid),
        parent_pid: Some(parent),
        text: Some(text_of(html.root_element(), HIDDEN)),
        author: field::non_empty_string(info.get("username")),
        author_id: field::parse_number(info.get("user_id")).filter(|&id| id > 0),
        time_raw: seconds.map(|s| s.to_string()),
        time: seconds.and_then(time::from_unix),
        images: image_urls(html.root_element()),
        ..Post::new(PostKind::Comment)
    }))
}

fn read_tree(html: &Html) -> Comments {
    let pager = html.select(&PAGER).next();
    let data =
        pager.and_then(|li| li.value().attr("data-field")).and_then(field::parse_field).unwrap_or_default();
    let mut found = Comments {
        pages: field::parse_number(data.get("total_page")),
        total: field::parse_number(data.get("total_num")),
        recognised: pager.is_some(),
        ..Comments::default()
    };
    for item in html.select(&COMMENT) {
        let data = item.value().attr("data-field").and_then(field::parse_field).unwrap_or_default();
        let Some(pid) =
            field::parse_number(data.get("spid")).or_else(|| field::parse_number(data.get("pid")))
        else {
            continue;
        };
        let time_raw = first_match(item, &TIME).map(|span| text_of(span, &[])).filter(|t| !t.is_empty());
        let user =
            first_match(item, &USER).and_then(|a| a.value().attr("data-field")).and_then(field::parse_field);
        let body = first_match(item, &TEXT);
        found.posts.push(Post {
            pid: Some(pid),
            text: body.map(|b| text_of(b, HIDDEN)),
            author: field::non_empty_string(data.get("user_name"))
                .or_else(|| field::non_empty_string(user.as_ref().and_then(|u| u.get("un")))),
            time: time_raw.as_deref().and_then(|raw| time::parse_time(raw, None)),
            time_raw,
            images: body.map(image_urls).unwrap_or_default(),
            ..Post::new(PostKind::Comment)
        });
    }
    found.recognised |= !found.posts.is_empty();
    found
}

fn image_urls(body: scraper::ElementRef<'_>) -> Vec<String> {
    let real = |img: &scraper::ElementRef<'_>| !img.value().classes().any(|c| c == "BDE_Smiley");
    body.select(&IMAGE).filter(real).filter_map(|img| img.value().attr("src").map(str::to_string)).collect()
}
