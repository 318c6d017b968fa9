//! Pages of whole archives to rows: parsed on all cores, returned in the archive's order.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;
use url::Url;

use super::charset;
use super::classify::Class;
use super::parse::{FloorComments, Parsed, Site, parse_page};
use super::profile::FoundPost;
use super::row::{Post, PostKind};
use super::tieba::Address;
use crate::warc::{Archive, ArchiveError, ArchivedPage, RecordLimits, Totals};

/// Most pages parsed at a time.
const BATCH: usize = 64;
/// Most bytes of bodies parsed at a time, or one page. A tree of tiny elements is fifty times its page.
const BATCH_BYTES: usize = 16 << 20;

/// The contents of a set of archives. A post on several pages is one row.
#[derive(Debug, Default)]
pub struct Imported {
    /// Posts by kind, thread and post. A later capture overwrites an earlier one, but fields that it lacks
    /// keep their earlier values.
    pub posts: Vec<Post>,
    /// Entries of pages that a profile describes, with the address of the page, in the archive's order; of a
    /// page captured twice, from the last capture.
    pub entries: Vec<(String, FoundPost)>,
    /// The kind of each page, by address: its last capture.
    pub pages: BTreeMap<String, PageNote>,
    /// Pages of threads that are declared but missing or empty: thread and page.
    pub holes: Vec<(u64, u64)>,
    /// Floors with fewer nested replies than the server counts.
    pub comments: Vec<FloorComments>,
    /// Damaged records.
    pub errors: Vec<ArchiveError>,
}

/// One page of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageNote {
    /// Its kind.
    pub class: Class,
    pub date: String,
    /// Whether its body is truncated; then it was not parsed.
    pub truncated: bool,
    /// The file (an index into those given) and the record's location.
    pub at: (usize, u64),
}

/// Reads every page of the archives, from any tool.
pub fn import_archives(files: Vec<PathBuf>, site: &Site, limits: RecordLimits) -> Imported {
    let mut found = Imported::default();
    let mut merge = Merge::default();
    for_each_page(files, site, limits, |page| match page {
        Ok((page, parsed)) => merge.add_page(page, parsed),
        Err(error) => found.errors.push(error),
    });
    merge.finish_import(found)
}

/// Calls back with each page and its parsed contents, in the archive's order. Redirects are skipped, unless
/// they lead to a challenge. Returns the totals of the archive.
pub fn for_each_page(
    files: Vec<PathBuf>,
    site: &Site,
    limits: RecordLimits,
    mut take: impl FnMut(Result<(ArchivedPage, Parsed), ArchiveError>),
) -> Totals {
    let mut pages = Archive::new(files, limits).pages();
    loop {
        let mut bytes = 0;
        let mut batch = Vec::new();
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some(page) = pages.next() else { break };
            bytes += page.as_ref().map_or(0, |page| page.body.len());
            batch.push(page);
        }
        if batch.is_empty() {
            return pages.totals_so_far();
        }
        let parsed: Vec<_> =
            batch.into_par_iter().map(|page| page.map(|page| read_page(site, page))).collect();
        for item in parsed {
            match item {
                Ok((page, parsed)) if is_redirect(&page) && parsed.class != Class::Blocked => {}
                other => take(other),
            }
        }
    }
}

fn is_redirect(page: &ArchivedPage) -> bool {
    (300..400).contains(&page.status)
}

/// Parses one page.
pub fn read_page(site: &Site, page: ArchivedPage) -> (ArchivedPage, Parsed) {
    if page.truncated.is_some() {
        return (page, Class::Unparsed.into());
    }
    let target = page
        .redirect
        .as_deref()
        .filter(|_| is_redirect(&page))
        .and_then(|to| Url::parse(&page.url).ok()?.join(to).ok());
    let url = target.map_or_else(|| page.url.clone(), String::from);
    let text = charset::decode_page(&page.body, page.content_type.as_deref(), site).text;
    let parsed = parse_page(site, &url, page.status, &text, Some(&page.date));
    (page, parsed)
}

type PostKey = (PostKind, Option<u64>, Option<u64>, Option<String>);

#[derive(Default)]
struct Merge {
    posts: BTreeMap<PostKey, (String, Post)>,
    entries: Vec<(String, Vec<FoundPost>)>,
    pages: BTreeMap<String, PageNote>,
    /// By thread: the largest declared number of pages, and the pages seen with posts.
    threads: BTreeMap<u64, (u64, Vec<u64>)>,
    comments: BTreeMap<u64, u64>,
}

impl Merge {
    fn add_page(&mut self, page: ArchivedPage, parsed: Parsed) {
        let address = Url::parse(&page.url).ok().and_then(|url| Address::parse_address(&url));
        if let Some(Address::Thread { tid, page: number }) = address {
            let thread = self.threads.entry(tid).or_default();
            thread.0 = thread.0.max(parsed.facts.pages.unwrap_or(0));
            if parsed.class == Class::Ok {
                // After its end a thread serves its last page again, so the number on the page counts.
                thread.1.push(parsed.facts.page.unwrap_or(number));
            }
        }
        for floor in &parsed.facts.comments {
            let expected = self.comments.entry(floor.pid).or_default();
            *expected = floor.expected.max(*expected);
        }
        for (place, post) in parsed.posts.into_iter().enumerate() {
            self.upsert_post(&page, place, post);
        }
        if !parsed.entries.is_empty() {
            self.entries.retain(|(url, _)| *url != page.url);
            self.entries.push((page.url.clone(), parsed.entries));
        }
        let note = PageNote {
            class: parsed.class,
            truncated: page.truncated.is_some(),
            at: (page.file, page.at.member),
            date: page.date,
        };
        self.pages.insert(page.url, note);
    }

    fn upsert_post(&mut self, page: &ArchivedPage, place: usize, post: Post) {
        let native = if post.kind == PostKind::Thread { None } else { post.pid };
        // A post without numbers is known by its place; padded, so that the keys sort in the page's order.
        let place = post.tid.or(native).is_none().then(|| format!("{}#{place:06}", page.url));
        let key = (post.kind, post.tid, native, place);
        match self.posts.get_mut(&key) {
            None => {
                self.posts.insert(key, (page.date.clone(), post));
            }
            Some((date, known)) if *date <= page.date => {
                *known = merge_captures(std::mem::replace(known, Post::new(post.kind)), post);
                date.clone_from(&page.date);
            }
            Some((_, known)) => {
                *known = merge_captures(post, std::mem::replace(known, Post::new(PostKind::Floor)))
            }
        }
    }

    fn finish_import(self, found: Imported) -> Imported {
        let posts: Vec<Post> = self.posts.into_values().map(|(_, post)| post).collect();
        let mut got: BTreeMap<u64, u64> = BTreeMap::new();
        // Counted over all pages, because each has only some of a floor's replies.
        for parent in posts.iter().filter_map(|post| post.parent_pid) {
            *got.entry(parent).or_default() += 1;
        }
        let comments = self
            .comments
            .into_iter()
            .map(|(pid, expected)| FloorComments { pid, expected, got: got.get(&pid).copied().unwrap_or(0) })
            .filter(|floor| floor.got < floor.expected)
            .collect();
        let hole = |(tid, (declared, seen)): (u64, (u64, Vec<u64>))| {
            (1..=declared).filter(move |page| !seen.contains(page)).map(move |page| (tid, page))
        };
        Imported {
            posts,
            entries: self
                .entries
                .into_iter()
                .flat_map(|(url, entries)| entries.into_iter().map(move |entry| (url.clone(), entry)))
                .collect(),
            pages: self.pages,
            holes: self.threads.into_iter().flat_map(hole).collect(),
            comments,
            ..found
        }
    }
}

/// The newer capture, with missing fields filled from the older one.
fn merge_captures(old: Post, new: Post) -> Post {
    Post {
        pid: new.pid.or(old.pid),
        parent_pid: new.parent_pid.or(old.parent_pid),
        floor: new.floor.or(old.floor),
        title: new.title.or(old.title),
        text: new.text.or(old.text),
        author: new.author.or(old.author),
        author_id: new.author_id.or(old.author_id),
        time_raw: new.time_raw.or(old.time_raw),
        time: new.time.or(old.time),
        images: if new.images.is_empty() { old.images } else { new.images },
        replies: new.replies.or(old.replies),
        link: new.link.or(old.link),
        ..new
    }
}
