//! Which source would read the pages of a file: the profile that finds the most posts on the first of them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::BufReader;
use std::path::Path;

use riddlemill_files::reading::Form;
use riddlemill_harvest::pages::profile::{Format, FoundPost};
use riddlemill_harvest::pages::{self, Profile, Site};
use riddlemill_harvest::warc::{Archive, ArchivedPage, RecordLimits};

use super::files::Dump;
use super::page::PagePost;
use super::{dump, page, profile};
use crate::config::Profiles;

/// Pages of an archive, or items of a file, that are looked at.
const LOOKED_AT: usize = 100;
/// Bytes of an archive's pages, at most and one page more.
const ARCHIVED: usize = 64 << 20;
/// Bytes of a page or an item that is looked at.
const LONGEST: u64 = 16 << 20;

/// The profile that reads any list of articles, so that another one knows more about the pages that it reads.
const GENERIC: &str = "articles";
/// The profile of the forum whose archives have a kind of their own.
const FORUM: &str = "tieba";

/// Pages and what reads them.
pub(super) struct ReadPages {
    /// The value of `kind`.
    pub kind: &'static str,
    /// The name of the profile, which the kind `warc` needs none of.
    pub profile: Option<String>,
    /// Whether the pages have ids and do not say of which site they are.
    pub bare: bool,
    /// The texts of the posts.
    pub texts: Vec<String>,
}

/// What reads the pages of a file of this form; `None` if no profile finds a post.
pub(super) fn read_by(path: &Path, form: &Form, profiles: &Profiles) -> Option<ReadPages> {
    let archived = match form {
        Form::Warc | Form::Wacz => first_pages(path),
        _ => Vec::new(),
    };
    let of_forum: Vec<String> = archived
        .iter()
        .flat_map(|page| pages::read_page(&Site::Tieba, page.clone()).1.posts)
        .map(|post| join_parts([post.title, post.text]))
        .filter(|text| !text.is_empty())
        .collect();
    let mut found = vec![ReadPages { kind: "warc", profile: None, bare: false, texts: of_forum }];
    for name in profiles.profile_names() {
        // Of archives the kind `warc` reads more: replies, and what is missing of a thread.
        if !archived.is_empty() && name == FORUM && !profiles.is_own(&name) {
            continue;
        }
        let Ok(Some(profile)) = profiles.load_profile(&name) else { continue };
        let entries = find_entries(path, form, &archived, &profile);
        let text = |entry: &FoundPost| join_parts([entry.title.clone(), entry.body.clone()]);
        found.push(ReadPages {
            kind: "profile",
            bare: entries.iter().any(|entry| entry.native.is_some() && entry.id.is_none()),
            texts: entries.iter().map(text).collect(),
            profile: Some(name),
        });
    }
    found.retain(|read| !read.texts.is_empty());
    found.into_iter().min_by_key(|read| {
        let name = read.profile.as_deref().unwrap_or_default();
        (name == GENERIC, Reverse(read.texts.len()), !profiles.is_own(name))
    })
}

/// The parts of a text that are there.
fn join_parts(parts: [Option<String>; 2]) -> String {
    let parts = parts.iter().flatten().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// The posts that a profile finds in the first pages of a file.
fn find_entries(path: &Path, form: &Form, archived: &[ArchivedPage], profile: &Profile) -> Vec<FoundPost> {
    let fits = match form {
        Form::Warc | Form::Wacz => true,
        Form::Json => profile.format() == Format::Json,
        Form::Xml => profile.format() != Format::Json,
        _ => profile.format() == Format::Html,
    };
    let mut entries = match form {
        _ if !fits => Vec::new(),
        Form::Warc | Form::Wacz => {
            let site = Site::Profile(profile.clone());
            archived.iter().flat_map(|page| pages::read_page(&site, page.clone()).1.entries).collect()
        }
        _ if profile.format() == Format::Xml => find_items(path, profile),
        _ => {
            let pages = profile::read_saved_pages(&Dump::looked_at(path), profile, LONGEST);
            let described = |post| match post {
                PagePost::Described(entry) => Some(entry),
                PagePost::Forum(_) => None,
            };
            pages.into_iter().flat_map(page::Page::into_posts).filter_map(described).collect()
        }
    };
    entries.retain(|entry| {
        // Any JSON may have a list of things with a title: the site's own ids are what shows whose it is.
        entry.removed.is_none()
            && (entry.title.is_some() || entry.body.is_some())
            && (*form != Form::Json || entry.native.is_some())
    });
    entries
}

/// The first items of an XML file, without the answers that are items of their own: those may be far behind.
fn find_items(path: &Path, profile: &Profile) -> Vec<FoundPost> {
    let Ok(file) = dump::open_unpacked(path) else { return Vec::new() };
    let (mut entries, no_answers) = (Vec::new(), HashMap::new());
    profile.each_item(BufReader::new(file), LONGEST, false, |_, item| {
        entries.extend(item.iter().flat_map(|item| profile.read_item(item, &no_answers)));
        entries.len() < LOOKED_AT
    });
    entries
}

/// The first pages of an archive.
fn first_pages(path: &Path) -> Vec<ArchivedPage> {
    let mut bytes = 0;
    let pages = Archive::new(vec![path.to_owned()], RecordLimits::default()).pages();
    let has_room = |page: &ArchivedPage| {
        let has_room = bytes < ARCHIVED;
        bytes += page.body.len();
        has_room
    };
    pages.filter_map(Result::ok).take(LOOKED_AT).take_while(has_room).collect()
}
