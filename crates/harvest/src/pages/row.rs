//! The rows that pages become.

use serde::{Deserialize, Serialize};

/// Where on a page a post stood.
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

/// One post of a forum. Author name and id are as the page has them: the import hashes them
/// before anything leaves the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Where it stood.
    pub kind: PostKind,
    /// Thread id.
    pub tid: Option<u64>,
    /// Post id; of a list row, the thread's first post where the page says it.
    pub pid: Option<u64>,
    /// Of a comment, the post it hangs under.
    pub parent_pid: Option<u64>,
    /// Floor as the page numbers it. Gaps are normal and are kept.
    pub floor: Option<u32>,
    /// Title of the thread, whole where the page has it whole.
    pub title: Option<String>,
    /// The text with its line breaks. `None` where the page has no body at all (a pinned row),
    /// empty where the body holds no text (a smiley).
    pub text: Option<String>,
    /// User name.
    pub author: Option<String>,
    /// User id.
    pub author_id: Option<u64>,
    /// The time exactly as the page shows it.
    pub time_raw: Option<String>,
    /// The same in ISO 8601 at the precision the page gives, UTC+8.
    pub time: Option<String>,
    /// Addresses of pictures, without smileys.
    pub images: Vec<String>,
    /// Replies (of a list row) or comments (of a floor) the page declares.
    pub replies: Option<u64>,
    /// Pinned to the top of the list.
    pub pinned: bool,
    /// Marked as recommended.
    pub good: bool,
    /// Address of the post, where a profile finds one.
    pub link: Option<String>,
}

impl Post {
    /// A post of which nothing is known but where it stood.
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

/// One riddle of a riddle page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Riddle {
    /// The site's number for it, where the page links to it.
    pub id: Option<u64>,
    /// Heading.
    pub title: Option<String>,
    /// The question as it is, promotion included.
    pub question: String,
    /// The answer as it is; `None` where the page has none.
    pub answer: Option<String>,
    /// Texts of the links inside question and answer: what is glued on is usually one of them.
    pub anchors: Vec<String>,
    /// The page is about another riddle and lists this one beside it.
    pub related: bool,
}
