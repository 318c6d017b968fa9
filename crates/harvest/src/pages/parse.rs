//! One page to its rows, and to the facts that a crawler needs.

use scraper::Html;
use serde::{Deserialize, Serialize};
use url::Url;

use super::classify::{Class, by_answer, classify_refused, server_error, without_structure};
use super::dom;
use super::profile::{Format, FoundPost, Profile, Reading};
use super::row::Post;
use super::text::number_of;
use super::tieba::{self, Address};

/// The site, which selects the parser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// tieba.baidu.com and its archives.
    Tieba,
    /// A site described by a user.
    Profile(Profile),
    /// Pages that are archived but not parsed.
    #[default]
    Plain,
}

/// Replies under one floor: how many exist, and how many are in this answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorComments {
    /// The floor's post.
    pub pid: u64,
    /// The server's count.
    pub expected: u64,
    /// In this answer.
    pub got: u64,
}

/// What a page states about other pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Ids on it: threads of a list, posts of a thread, replies of a floor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<u64>,
    /// The declared number of pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// The page's stated number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// The forum's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fid: Option<u64>,
    /// Nested replies by floor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<FloorComments>,
    /// Link to the next page, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Links to pages of posts, as written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// For a list, one number per thread that changes when the thread has new posts; 0 if unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<u64>,
}

/// A page's class, rows and facts. There are rows only if the class is [`Class::Ok`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The page's kind.
    pub class: Class,
    /// Posts of forums.
    pub posts: Vec<Post>,
    /// Posts or riddles of sites that a profile describes.
    pub entries: Vec<FoundPost>,
    /// For the crawler, and for finding holes.
    pub facts: Facts,
    /// Why a page that is [`Class::Unparsed`] has no posts, in words.
    pub why: Option<String>,
}

impl Parsed {
    fn unparsed_because(why: impl Into<String>) -> Parsed {
        Parsed { why: Some(why.into()), ..Class::Unparsed.into() }
    }
}

impl From<Class> for Parsed {
    fn from(class: Class) -> Self {
        let (posts, entries) = Default::default();
        Parsed { class, posts, entries, facts: Facts::default(), why: None }
    }
}

/// Classifies a page by its final address, status, title and structure. Body text alone decides nothing: a
/// thread about captchas is a thread.
///
/// `final_url` is where the redirects ended, even if that was not fetched.
pub fn classify_page(site: &Site, final_url: &str, status: u16, body: &str) -> Class {
    parse_page(site, final_url, status, body, None).class
}

/// Classifies and parses a page. `url` is the final address, `captured` the page's date (`WARC-Date`), for
/// dates without a year.
///
/// A page that nests too deeply is [`Class::Unparsed`].
pub fn parse_page(site: &Site, url: &str, status: u16, body: &str, captured: Option<&str>) -> Parsed {
    if let Some(class) = by_answer(url, status) {
        return class.into();
    }
    if matches!(status, 401 | 403) {
        return classify_refused(body).into();
    }
    if status >= 500 || (300..400).contains(&status) {
        return Parsed::unparsed_because(format!("the server answered with status {status}"));
    }
    let address = Url::parse(url).ok().and_then(|url| Address::parse_address(&url));
    if let (Site::Tieba, Some(Address::TotalComment { tid, .. })) = (site, &address)
        // Instead of JSON this address may answer with a challenge page, which is classified below.
        && body.trim_start_matches('\u{feff}').trim_start().starts_with('{')
    {
        return total_comments(body, *tid);
    }
    if let Site::Profile(profile) = site
        && profile.format() != Format::Html
        // A site of JSON or XML answers some requests in HTML, such as challenges, which continue below.
        && let Some(reading) = profile.read_text(body, url, captured)
    {
        return of_profile(reading).unwrap_or_else(|| Class::Empty.into());
    }
    let page = match dom::parse_document(body) {
        Ok(page) => page,
        Err(error) => return Parsed::unparsed_because(error.to_string()),
    };
    let read = match site {
        Site::Tieba => address.as_ref().and_then(|address| of_tieba(&page, body, address, captured)),
        Site::Profile(profile) => of_profile(profile.read_html(&page, url, captured)),
        Site::Plain if status == 200 => Some(Class::Ok.into()),
        Site::Plain => None,
    };
    read.unwrap_or_else(|| match without_structure(&page, status) {
        Class::Unparsed => Parsed::unparsed_because(match server_error(&page) {
            Some(error) => format!("it is a server's error ({error}), to be fetched again"),
            None => describe_lacks(site, status, body),
        }),
        class => class.into(),
    })
}

/// What a page without structure lacks.
fn describe_lacks(site: &Site, status: u16, body: &str) -> String {
    let lacking = match site {
        _ if body.trim().is_empty() => "it is empty".to_owned(),
        _ if status != 200 => format!("the server answered with status {status}"),
        Site::Tieba => "it has neither threads nor posts in any layout of the forum".to_owned(),
        Site::Profile(profile) => profile.lacking(body),
        Site::Plain => "it is not archived as a page".to_owned(),
    };
    match body.find('<') {
        None if status == 200 && !body.trim().is_empty() => {
            format!("it is no page: there is no element in it; {lacking}")
        }
        _ => lacking,
    }
}

/// `None` for a page that has neither posts nor links to them, nor the frame of all such pages.
fn of_profile(reading: Reading) -> Option<Parsed> {
    let something = !reading.entries.is_empty() || !reading.links.is_empty();
    let shown = |entry: &FoundPost| match &entry.id {
        Some(id) => number_of(id),
        None => number_of(&format!("{:?} {:?} {:?}", entry.author, entry.time_raw, entry.body)),
    };
    let ids = reading.entries.iter().map(shown).collect();
    let Reading { entries, links, marks, next, framed, .. } = reading;
    let facts = Facts { ids, links, marks, next, ..Facts::default() };
    match something {
        true => Some(Parsed { entries, facts, ..Class::Ok.into() }),
        false => framed.then(|| Class::Empty.into()),
    }
}

/// `None` if the page lacks the structure of its address.
fn of_tieba(page: &Html, body: &str, address: &Address, captured: Option<&str>) -> Option<Parsed> {
    let (posts, facts) = match *address {
        Address::List { .. } => {
            let found = tieba::read_list_page(page, captured).ok().filter(|found| found.recognised)?;
            let threads = found.threads.iter().filter(|post| post.tid.is_some());
            let ids = threads.clone().filter_map(|post| post.tid).collect();
            // 0 means unknown, so the mark of a thread without replies has to be 1.
            let marks = threads.map(|post| post.replies.map_or(0, |n| n + 1)).collect();
            (found.threads, Facts { ids, marks, next: found.next, ..Facts::default() })
        }
        Address::Thread { tid, .. } => {
            let mut found = tieba::read_thread_page(page).ok().filter(|found| found.recognised)?;
            for post in &mut found.floors {
                post.tid = post.tid.or(Some(tid));
            }
            let ids = found.floors.iter().filter_map(|post| post.pid).collect();
            let declared = |post: &Post| {
                let expected = post.replies.filter(|&n| n > 0)?;
                // The replies themselves are on other pages.
                Some(FloorComments { pid: post.pid?, expected, got: 0 })
            };
            let comments = found.floors.iter().filter_map(declared).collect();
            let facts = Facts {
                ids,
                pages: found.pages,
                page: found.page,
                fid: found.fid,
                comments,
                ..Facts::default()
            };
            (found.floors, facts)
        }
        Address::Comment { tid, pid, .. } => {
            let mut found = tieba::parse_comments(body).ok().filter(|found| found.recognised)?;
            for post in &mut found.posts {
                post.tid = post.tid.or(Some(tid));
                post.parent_pid = post.parent_pid.or(Some(pid));
            }
            let got = found.posts.len() as u64;
            let ids = found.posts.iter().filter_map(|post| post.pid).collect();
            let comments =
                found.total.map(|expected| FloorComments { pid, expected, got }).into_iter().collect();
            (found.posts, Facts { ids, pages: found.pages, comments, ..Facts::default() })
        }
        Address::TotalComment { .. } => return None,
    };
    let class = if posts.is_empty() { Class::Empty } else { Class::Ok };
    Some(Parsed { posts, facts, ..class.into() })
}

fn total_comments(body: &str, tid: u64) -> Parsed {
    let Ok(mut found) = tieba::parse_comments(body) else {
        return Parsed::unparsed_because("its replies are not JSON");
    };
    for post in &mut found.posts {
        post.tid = post.tid.or(Some(tid));
    }
    let ids = found.posts.iter().filter_map(|post| post.pid).collect();
    let comments =
        found.floors.iter().map(|&(pid, expected, got)| FloorComments { pid, expected, got }).collect();
    let class = match (found.recognised, found.posts.is_empty()) {
        (false, _) => Class::Unparsed,
        (true, true) => Class::Empty,
        (true, false) => Class::Ok,
    };
    Parsed { posts: found.posts, facts: Facts { ids, comments, ..Facts::default() }, ..class.into() }
}
