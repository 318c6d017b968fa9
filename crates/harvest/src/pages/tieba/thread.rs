//! A page of a thread.

use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

use super::super::dom::{self, TooDeep, selectors};
use super::super::row::{Post, PostKind};
use super::super::text::text_of;
use super::super::time;
use super::{HIDDEN, field, parse_pagelets, thread_id};

selectors! {
    POST = "div.l_post";
    LIST = "#j_p_postlist, #j_core_title_wrap, .core_title_txt";
    TITLE = ".core_title_txt, h1.core_title_txt";
    COUNTS = "li.l_reply_num span.red, li.l_reply_num > span";
    MAX_PAGE = "input[max-page]";
    CURRENT = "li.l_pager span.tP, .l_pager .tP";
    BODY = ".d_post_content";
    TAIL = "span.tail-info, ul.p_tail li span, .p_tail_txt";
    FORUM = "a.card_title_fname, a.plat_title_h3";
    CANONICAL = "link[rel=canonical]";
    IMAGE = "img";
    SCRIPT = "script";
}

/// The contents of a thread's page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadPage {
    /// Thread id, from the posts, else from the page's canonical address.
    pub tid: Option<u64>,
    /// The forum's number, which the address of nested replies needs.
    pub fid: Option<u64>,
    /// The forum's name.
    pub forum: Option<String>,
    /// Whole title.
    pub title: Option<String>,
    /// Replies the page declares.
    pub replies: Option<u64>,
    /// The largest number of pages declared anywhere on it.
    pub pages: Option<u64>,
    /// The page number stated by the server, which serves the last page after the end.
    pub page: Option<u64>,
    /// Floors in the page's order, without advertisements, each post once.
    pub floors: Vec<Post>,
    /// Whether the page has a thread's structure, even if it is empty.
    pub recognised: bool,
}

/// Parses a thread.
///
/// # Errors
/// [`TooDeep`].
pub fn parse_thread(html: &str) -> Result<ThreadPage, TooDeep> {
    read_thread_page(&dom::parse_document(html)?)
}

pub(in crate::pages) fn read_thread_page(page: &Html) -> Result<ThreadPage, TooDeep> {
    let pagelets = parse_pagelets(page, &["l_post", "core_title_txt"])?;
    let mut found = ThreadPage::default();
    for part in std::iter::once(page).chain(&pagelets) {
        read_head(part, &mut found);
        for element in part.select(&POST) {
            let data = element.value().attr("data-field").and_then(field::parse_field).unwrap_or_default();
            let content = data.get("content");
            let number = |key: &str| field::parse_number(content.and_then(|c| c.get(key))).filter(|&n| n > 0);
            found.tid = found.tid.or_else(|| number("thread_id"));
            found.fid = found.fid.or_else(|| number("forum_id"));
            if let Some(post) =
                post_of_floor(element, &data).filter(|post| found.floors.iter().all(|p| p.pid != post.pid))
            {
                found.floors.push(post);
            }
        }
    }
    found.tid = found.tid.or_else(|| canonical_tid(page)).or_else(|| script_number(page, "thread_id"));
    found.fid = found.fid.or_else(|| script_number(page, "forum_id"));
    for post in &mut found.floors {
        post.tid = post.tid.or(found.tid);
        post.title = found.title.clone().filter(|_| post.floor == Some(1));
    }
    found.recognised |= !found.floors.is_empty();
    Ok(found)
}

fn read_head(part: &Html, found: &mut ThreadPage) {
    let text = |css: &Selector| part.select(css).next().map(|e| text_of(e, &[])).filter(|t| !t.is_empty());
    found.recognised |= part.select(&LIST).next().is_some();
    if found.title.is_none() {
        let heading = part.select(&TITLE).next();
        let whole = heading.and_then(|e| e.value().attr("title")).map(str::trim).filter(|t| !t.is_empty());
        found.title = whole.map(str::to_string).or_else(|| text(&TITLE));
    }
    found.forum = found.forum.take().or_else(|| text(&FORUM)).map(|name| name.trim().to_string());
    let counts: Vec<u64> = part.select(&COUNTS).filter_map(|e| text_of(e, &[]).parse().ok()).collect();
    // The element occurs twice on a page: replies, pages, replies, pages.
    if let [replies, pages, ..] = counts.as_slice() {
        found.replies = found.replies.max(Some(*replies));
        found.pages = found.pages.max(Some(*pages));
    }
    let declared = part.select(&MAX_PAGE).filter_map(|e| e.value().attr("max-page")?.trim().parse().ok());
    found.pages = found.pages.max(declared.max());
    found.page = found.page.or_else(|| text(&CURRENT)?.parse().ok());
}

fn post_of_floor(element: ElementRef<'_>, data: &Value) -> Option<Post> {
    let (author, content) = (data.get("author"), data.get("content"));
    let of = |value: Option<&Value>, key: &str| value.and_then(|v| v.get(key)).cloned();
    let number = |value: Option<&Value>, key: &str| field::parse_number(of(value, key).as_ref());
    // An advertisement's `data-field` is `{}`: it has neither author nor content.
    content?;
    let pid = number(content, "post_id")
        .or_else(|| number(content, "id"))
        .or_else(|| element.value().attr("data-pid")?.trim().parse().ok())
        .filter(|&pid| pid > 0)?;
    let body = body_of_post(element, pid);
    let tail: Vec<String> = element.select(&TAIL).map(|span| text_of(span, &[])).collect();
    let shown_floor = || tail.iter().find_map(|t| t.strip_suffix('楼')?.trim().parse().ok());
    let time_raw = field::non_empty_string(of(content, "date").as_ref()).or_else(|| tail_time(&tail));
    Some(Post {
        tid: number(content, "thread_id").filter(|&tid| tid > 0),
        pid: Some(pid),
        floor: number(content, "post_no").and_then(|n| u32::try_from(n).ok()).or_else(shown_floor),
        text: body.map(|b| text_of(b, HIDDEN)),
        author: field::non_empty_string(of(author, "user_name").as_ref()),
        author_id: number(author, "user_id").filter(|&id| id > 0),
        time: time_raw.as_deref().and_then(|raw| time::parse_time(raw, None)),
        time_raw,
        images: body.map(image_urls).unwrap_or_default(),
        replies: number(content, "comment_num"),
        ..Post::new(PostKind::Floor)
    })
}

/// The one entry that is a date; client and location are skipped, never kept.
fn tail_time(tail: &[String]) -> Option<String> {
    tail.iter().find(|t| time::parse_time(t, None).is_some()).cloned()
}

/// The element of this post: a quoted post inside it has a body too.
fn body_of_post(element: ElementRef<'_>, pid: u64) -> Option<ElementRef<'_>> {
    let id = format!("post_content_{pid}");
    let mut bodies = element.select(&BODY);
    element.select(&BODY).find(|b| b.value().id() == Some(&id)).or_else(|| bodies.next())
}

fn image_urls(body: ElementRef<'_>) -> Vec<String> {
    let real =
        |img: &ElementRef<'_>| !img.value().classes().any(|c| c == "BDE_Smiley" || c == "nicknameEmoji");
    let source = |img: ElementRef<'_>| {
        img.value().attr("data-original").or(img.value().attr("src")).map(str::to_string)
    };
    body.select(&IMAGE).filter(real).filter_map(source).filter(|src| !src.is_empty()).collect()
}

fn canonical_tid(page: &Html) -> Option<u64> {
    thread_id(page.select(&CANONICAL).next()?.value().attr("href")?)
}

/// `thread_id: 123` in the page's own script, for pages whose posts lack it.
fn script_number(page: &Html, name: &str) -> Option<u64> {
    page.select(&SCRIPT).find_map(|script| {
        let text: String = script.text().collect();
        text.match_indices(name).find_map(|(at, _)| {
            let rest = text[at + name.len()..].trim_start_matches(['"', '\'', ' ']);
            let rest = rest.strip_prefix([':', '='])?.trim_start_matches([' ', '"', '\'']);
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok().filter(|&n| n > 0)
        })
    })
}
