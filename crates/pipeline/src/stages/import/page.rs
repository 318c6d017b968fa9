//! Pages of archives and files as they are read, before anything is decided about their posts.

use super::thread::ThreadPost;
use riddlemill_harvest::pages::profile::FoundPost;
use riddlemill_harvest::pages::{self, Class};
use riddlemill_record::Reason;

/// A page, an item of a file with a profile, or a damaged place of an archive.
pub(super) struct Page {
    /// Its place in the file: the record of an archive (the offset of its compressed member, plus its offset therein), the
    /// line of a file, the number of an item.
    pub at: u64,
    /// What the ledger calls that.
    pub name: String,
    /// What was read, or why nothing was.
    pub read: PageResult,
}

/// The contents of a page, or why it has none: the reason, and the evidence.
pub(super) type PageResult = Result<Contents, (Reason, String)>;

/// What is on a page.
pub(super) struct Contents {
    pub class: Class,
    pub url: String,
    /// In its order.
    pub posts: Vec<PagePost>,
    /// Why it has no posts, in words.
    pub why: Option<String>,
    /// A content-encoding that is not known, so that the page was read as it is.
    pub unknown_encoding: Option<String>,
}

impl Contents {
    /// What was parsed from a page.
    pub fn new(url: String, parsed: pages::Parsed) -> Contents {
        let posts = PagePost::from_parsed(parsed.posts, parsed.entries);
        Contents { class: parsed.class, url, posts, why: parsed.why, unknown_encoding: None }
    }
}

impl Page {
    /// Its posts, whatever becomes of them.
    pub fn into_posts(self) -> Vec<PagePost> {
        self.read.map(|read| read.posts).unwrap_or_default()
    }
}

/// A post as its page has it, with its author in clear.
pub(super) enum PagePost {
    /// Of the forum.
    Forum(pages::Post),
    /// Of a site that a profile describes.
    Described(FoundPost),
}

impl PagePost {
    /// The posts of a parsed page.
    pub fn from_parsed(posts: Vec<pages::Post>, entries: Vec<FoundPost>) -> Vec<PagePost> {
        posts.into_iter().map(PagePost::Forum).chain(entries.into_iter().map(PagePost::Described)).collect()
    }

    /// Whoever wrote it, by name.
    pub fn author(&self) -> Option<&str> {
        match self {
            PagePost::Forum(post) => post.author.as_deref(),
            PagePost::Described(entry) => entry.author.as_deref(),
        }
    }

    /// Whether it is a row of a list, and not in its thread.
    pub fn is_listed(&self) -> bool {
        matches!(self, PagePost::Forum(post) if post.kind == pages::PostKind::Thread)
    }

    /// The post as one of a thread.
    pub fn into_row(self) -> ThreadPost {
        match self {
            PagePost::Forum(post) => of_forum(post),
            PagePost::Described(entry) => of_profile(entry),
        }
    }
}

/// A post of the forum as one of a thread.
pub(super) fn of_forum(post: pages::Post) -> ThreadPost {
    let text = |n: Option<u64>| n.map(|n| n.to_string());
    ThreadPost {
        pid: text(post.pid),
        tid: text(post.tid),
        user_name: post.author,
        user_id: text(post.author_id),
        title: post.title,
        text: post.text,
        time: post.time.or(post.time_raw),
        image_links: post.images.len() as u64,
        is_comment: post.kind == pages::PostKind::Comment,
        floor: post.floor.map(|n| n.to_string()),
        score: None,
        id: None,
    }
}

/// A post of a described site as one of a thread.
pub(super) fn of_profile(entry: FoundPost) -> ThreadPost {
    ThreadPost {
        pid: entry.native,
        tid: entry.thread.or(Some(String::new())),
        id: entry.id,
        user_name: entry.author,
        user_id: None,
        title: entry.title,
        text: entry.body,
        time: entry.time.or(entry.time_raw),
        image_links: entry.images,
        is_comment: false,
        floor: if entry.first { Some("1".into()) } else { entry.floor.map(|floor| floor.to_string()) },
        score: entry.score,
    }
}
