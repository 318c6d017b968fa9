//! Tieba: lists, threads and nested replies, in the layouts of the desktop site since about 2012.
//!
//! [`address`] maps addresses to pages, ignoring decorations.

pub mod address;
mod comments;
mod field;
mod list;
mod thread;

pub use address::{Address, thread_id};
pub use comments::{Comments, CommentsError, parse_comments};
pub(super) use list::read_list_page;
pub use list::{ListPage, parse_list};
pub(super) use thread::read_thread_page;
pub use thread::{ThreadPage, parse_thread};

use scraper::Html;

use super::dom::{self, TooDeep};

/// Classes of elements that Tieba hides in a post's body: the warning of a folded post, the handle of a
/// folded picture.
const HIDDEN: &[&str] = &["p_forbidden_tip", "replace_tip"];

/// The parts that Tieba ships inside HTML comments (`code.pagelet_html`), which a script inserts, if they
/// contain one of `marks`.
fn parse_pagelets(page: &Html, marks: &[&str]) -> Result<Vec<Html>, TooDeep> {
    dom::selectors! { PAGELET = "code.pagelet_html"; }
    let mut parts = Vec::new();
    for code in page.select(&PAGELET) {
        for comment in code.children().filter_map(|node| node.value().as_comment()) {
            if marks.iter().any(|mark| comment.contains(mark)) {
                parts.push(dom::parse_fragment(comment)?);
            }
        }
    }
    Ok(parts)
}
