//! The rows parsed from pages.

use serde::{Deserialize, Serialize};

/// Where a post is on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostKind {
    /// A row of a forum's list: title and the start of the text.
    Thread,
    /// A post of a thread.
    Floor,
    /// A reply under a post.
    Comment,
}

/// One post of a forum. Author name and id are as on the page: the import hashes them before anything leaves
/// the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Where it is.
    pub kind: PostKind,
    /// Thread id.
    pub tid: Option<u64>,
    /// Post id; for a list row, the thread's first post if the page states it.
    pub pid: Option<u64>,
    /// For a comment, the post it belongs to.
    pub parent_pid: Option<u64>,
    /// Floor number on the page. Gaps are normal and are kept.
    pub floor: Option<u32>,
    /// Title of the thread, complete if the page has it.
    pub title: Option<String>,
    /// The text with its line breaks. `None` if the page has no body at all (a pinned row), empty if the body
    /// has no text (a smiley).
    pub text: Option<String>,
    /// User name.
    pub author: Option<String>,
    /// User id.
    pub author_id: Option<u64>,
    /// The time exactly as shown on the page.
    pub time_raw: Option<String>,
    /// The time in ISO 8601 at the page's precision, UTC+8.
    pub time: Option<String>,
    /// Addresses of pictures, without smileys.
    pub images: Vec<String>,
    /// The page's count of replies (for a list row) or comments (for a floor).
    pub replies: Option<u64>,
    /// Pinned to the top of the list.
    pub pinned: bool,
    /// Marked as recommended.
    pub good: bool,
    /// Address of the post, if a profile finds one.
    pub link: Option<String>,
}

impl Post {
    /// A post of which only its place is known.
    pub fn new(kind: PostKind) -> Self {
        Post {
            kind,
            tid: None,
            pid: None,
            parent_pid: None,
            floor: None,
            title: None,
            text: None,
            author: None,
            author_id: None,
            time_raw: None,
            time: None,
            images: Vec::new(),
            replies: None,
            pinned: false,
            good: false,
            link: None,
        }
    }
}
