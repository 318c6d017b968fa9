//! What a profile finds on one page, field by field, and what it does not find.

use serde::Serialize;

use crate::crawl::ReceivedPage;
use crate::pages::Class;
use crate::pages::profile::{FoundValue, Inspected, Inspection, Missing};

/// What a profile finds on a page.
#[derive(Clone, Debug, Serialize)]
pub struct PageFinding<'p> {
    url: &'p str,
    status: u16,
    encoding: &'p str,
    class: &'static str,
    profile: &'p str,
    list: bool,
    thread: bool,
    links: Vec<LinkFinding<'p>>,
    next: Option<&'p str>,
    posts: Vec<PostFinding<'p>>,
    missing: Vec<MissingKey<'p>>,
}

/// A link to a page of posts, with the mark that shows new posts.
#[derive(Clone, Debug, Serialize)]
struct LinkFinding<'p> {
    link: &'p str,
    changed: Option<&'p str>,
}

/// A post with the rule of each of its fields.
#[derive(Clone, Debug, Serialize)]
struct PostFinding<'p> {
    id: Option<&'p str>,
    thread: Option<&'p str>,
    floor: Option<u64>,
    first: bool,
    joke: Option<bool>,
    title: Option<&'p str>,
    body: Option<&'p str>,
    answer: Option<&'p str>,
    author: Option<&'p str>,
    time: Option<&'p str>,
    time_raw: Option<&'p str>,
    score: Option<f64>,
    images: u64,
    links: &'p [String],
    gone: Option<&'p str>,
    seen: &'p [FoundValue],
}

/// A key that found nothing.
#[derive(Clone, Debug, Serialize)]
struct MissingKey<'p> {
    key: &'p str,
    description: &'p str,
    /// How many posts lack it.
    posts: Option<usize>,
    /// The longest part of the selector that finds something.
    part: Option<&'p str>,
    strangers: &'p [String],
}

impl<'p> PageFinding<'p> {
    /// What the `profile` of this name finds on a page in an `encoding`.
    pub fn new(
        page: &'p ReceivedPage,
        class: Class,
        encoding: &'p str,
        profile: &'p str,
        seen: &'p Inspection,
    ) -> PageFinding<'p> {
        let link =
            |(link, mark): &'p (String, Option<String>)| LinkFinding { link, changed: mark.as_deref() };
        PageFinding {
            url: &page.url,
            status: page.status,
            encoding,
            class: class.code(),
            profile,
            list: seen.list,
            thread: seen.thread,
            links: seen.links.iter().map(link).collect(),
            next: seen.next.as_deref(),
            posts: seen.items.iter().map(PostFinding::from).collect(),
            missing: seen.missing.iter().map(MissingKey::from).collect(),
        }
    }
}

impl<'p> From<&'p Inspected> for PostFinding<'p> {
    fn from(item: &'p Inspected) -> PostFinding<'p> {
        let entry = &item.entry;
        PostFinding {
            id: entry.id.as_deref(),
            thread: entry.thread.as_deref(),
            floor: entry.floor,
            first: entry.first,
            joke: item.joke,
            title: entry.title.as_deref(),
            body: entry.body.as_deref(),
            answer: entry.answer.as_deref(),
            author: entry.author.as_deref(),
            time: entry.time.as_deref(),
            time_raw: entry.time_raw.as_deref(),
            score: entry.score,
            images: entry.images,
            links: &entry.links,
            gone: entry.removed.as_deref(),
            seen: &item.seen,
        }
    }
}

impl<'p> From<&'p Missing> for MissingKey<'p> {
    fn from(missing: &'p Missing) -> MissingKey<'p> {
        MissingKey {
            key: missing.key,
            description: &missing.description,
            posts: missing.posts.map(|(lacking, _)| lacking),
            part: missing.part.as_ref().map(|(part, _)| part.as_str()),
            strangers: &missing.strangers,
        }
    }
}
