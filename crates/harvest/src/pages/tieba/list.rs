//! A page of a forum's list.

use scraper::{ElementRef, Html};

use super::super::dom::{self, TooDeep, first_match, selectors};
use super::super::row::{Post, PostKind};
use super::super::text::text_of;
use super::super::time;
use super::{field, parse_pagelets, thread_id};

selectors! {
    ROW = "li.j_thread_list, #thread_top_list li";
    LIST = "#thread_list, #thread_top_list, ul.threadlist_bright";
    TITLE = "a.j_th_tit";
    EXCERPT = ".threadlist_abs";
    TOPIC = ".topic-tag";
    AUTHOR = ".tb_icon_author";
    CREATED = ".is_show_create_time";
    NEXT = "a.next.pagination-item, #frs_list_pager a.next";
    IMAGE = ".threadlist_media img, .vpic_wrap img";
}

/// The contents of a list's page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPage {
    /// Threads in the page's order, pinned ones first if the page has them so; each once.
    pub threads: Vec<Post>,
    /// `href` of the link to the next page, as written (protocol-relative).
    pub next: Option<String>,
    /// Whether the page has a list's structure, even if it is empty.
    pub recognised: bool,
}

/// Parses a list. `captured` is the day of the capture, for dates without a year.
///
/// # Errors
/// [`TooDeep`], for the page or for a part in a comment.
pub fn parse_list(html: &str, captured: Option<&str>) -> Result<ListPage, TooDeep> {
    read_list_page(&dom::parse_document(html)?, captured)
}

pub(in crate::pages) fn read_list_page(page: &Html, captured: Option<&str>) -> Result<ListPage, TooDeep> {
    let pagelets =
        parse_pagelets(page, &["j_thread_list", "thread_top_list", "thread_list", "pagination-item"])?;
    let mut found = ListPage::default();
    for part in std::iter::once(page).chain(&pagelets) {
        found.recognised |= part.select(&LIST).next().is_some();
        for item in part.select(&ROW) {
            let Some(thread) = parse_row(item, captured) else { continue };
            match found.threads.iter_mut().find(|other| other.tid == thread.tid) {
                // A pinned row is a stub of the thread's own row if both are on the page.
                Some(other) if other.text.is_none() => {
                    *other = Post { pinned: other.pinned || thread.pinned, ..thread }
                }
                Some(_) => {}
                None => found.threads.push(thread),
            }
        }
        let next = part.select(&NEXT).next().and_then(|link| link.value().attr("href"));
        found.next = found.next.or(next.map(str::to_string));
    }
    found.recognised |= !found.threads.is_empty();
    Ok(found)
}

fn parse_row(item: ElementRef<'_>, captured: Option<&str>) -> Option<Post> {
    let data = item.value().attr("data-field").and_then(field::parse_field).unwrap_or_default();
    let link = first_match(item, &TITLE)?;
    let from_link = || thread_id(link.value().attr("href")?);
    // 1 is a pseudo-thread that promotes something.
    let tid = field::parse_number(data.get("id")).or_else(from_link).filter(|&id| id > 1)?;
    let shown = text_of(link, &[]);
    let title =
        link.value().attr("title").map(str::trim).filter(|t| !t.is_empty()).map_or(shown, str::to_string);
    let author = first_match(item, &AUTHOR);
    let author_field = author.and_then(|span| span.value().attr("data-field")).and_then(field::parse_field);
    let text = first_match(item, &EXCERPT).map(excerpt_of_row);
    let time_raw = first_match(item, &CREATED).map(|span| text_of(span, &[])).filter(|t| !t.is_empty());
    let pinned = field::is_flag_set(data.get("is_top"))
        || inside_top(item)
        || item.value().classes().any(|c| c == "thread_top");
    Some(Post {
        tid: Some(tid),
        pid: field::parse_number(data.get("first_post_id")).filter(|&pid| pid > 0),
        title: Some(title),
        text,
        author: field::non_empty_string(data.get("author_name")),
        author_id: author_field
            .and_then(|data| field::parse_number(data.get("user_id")))
            .filter(|&id| id > 0),
        time: time_raw.as_deref().and_then(|raw| time::parse_time(raw, captured)),
        time_raw,
        images: image_urls(item),
        replies: field::parse_number(data.get("reply_num")),
        pinned,
        good: field::is_flag_set(data.get("is_good")),
        ..Post::new(PostKind::Thread)
    })
}

/// The abstract without the topic tags that are in it.
fn excerpt_of_row(element: ElementRef<'_>) -> String {
    if first_match(element, &TOPIC).is_none() {
        return text_of(element, &[]);
    }
    text_of(element, &["topic-tag"])
}

fn inside_top(item: ElementRef<'_>) -> bool {
    item.ancestors().filter_map(|node| node.value().as_element()).any(|e| e.id() == Some("thread_top_list"))
}

fn image_urls(item: ElementRef<'_>) -> Vec<String> {
    let source = |img: ElementRef<'_>| {
        ["bpic", "data-original", "src"].iter().find_map(|a| img.value().attr(a).map(str::to_string))
    };
    item.select(&IMAGE).filter_map(source).filter(|url| !url.is_empty()).collect()
}
