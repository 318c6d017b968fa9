//! What earlier passes know, so that a further one asks for what is new: which threads of a list have new posts, and
//! which page of a thread was its last.

use std::collections::{BTreeMap, HashMap, HashSet};

use url::Url;

use super::frontier::Done;
use super::settings::Scope;
use super::walk::{Role, Walk, canonical};
use crate::pages::tieba::Address;
use crate::pages::{Class, Facts, Site};

/// The state that earlier passes left.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Pages that were had.
    done: HashSet<String>,
    /// By thread, what its row said last.
    marks: HashMap<String, u64>,
    /// By the first page of a thread, the last that was had.
    last: HashMap<String, String>,
    /// By list page, what it held when it was had last.
    lists: HashMap<String, Facts>,
    /// The first page of the thread that a page goes on with.
    first: BTreeMap<String, String>,
}

impl Since {
    /// Reads what earlier passes did, in their order.
    pub fn of<'d>(site: &Site, scope: &Scope, entries: impl Iterator<Item = &'d Done>) -> Since {
        let (mut since, mut walk) = (Since::default(), Walk::default());
        for done in entries {
            let (Some(role), Ok(url)) = (done.role, Url::parse(&done.url)) else { continue };
            if done.class == Class::Blocked || done.undone || done.redirect.is_some() {
                continue;
            }
            since.done.insert(done.url.clone());
            if done.class == Class::Forbidden {
                continue;
            }
            for (thread, mark) in threads(site, &url, &done.facts) {
                since.marks.insert(thread.into(), mark);
            }
            if role == Role::Sitemap {
                continue;
            }
            walk.follow(site, scope, &url, done.class, &done.facts);
            let first = walk.first_of(site, &url);
            match is_list(site, &url, &done.facts) {
                true => drop(since.lists.insert(done.url.clone(), done.facts.clone())),
                false if done.class == Class::Ok && *site != Site::Plain => {
                    let known = since.last.get(&first).is_some_and(|last| page_of(last) > page_of(&done.url));
                    if !known {
                        since.last.insert(first, done.url.clone());
                    }
                }
                false => {}
            }
        }
        since.first = walk.into_firsts();
        since
    }

    /// Whether a list page shows what it showed before. Without marks an unchanged page is one whose bytes are: that is
    /// what `same` says.
    pub fn unchanged(&self, url: &Url, facts: &Facts, same: bool) -> bool {
        let Some(before) = self.lists.get(url.as_str()) else { return false };
        let told = facts.marks.iter().any(|mark| *mark != 0);
        same || told
            && (&before.links, &before.ids, &before.marks) == (&facts.links, &facts.ids, &facts.marks)
    }

    /// Of the threads of a list, the pages that are to be asked for: a new thread's first, the last that was had of one
    /// with new posts.
    pub fn due(&self, thread: Url, mark: u64, unchanged: bool) -> Option<Url> {
        if !self.done.contains(thread.as_str()) {
            return Some(thread);
        }
        let known = match mark {
            0 => unchanged,
            mark => self.marks.get(thread.as_str()) == Some(&mark),
        };
        if known { None } else { Some(self.last_of(thread)) }
    }

    /// The last page that was had of what begins at an address.
    pub fn last_of(&self, url: Url) -> Url {
        self.last.get(url.as_str()).and_then(|last| Url::parse(last).ok()).unwrap_or(url)
    }

    /// The first page of each thread's pages, for the walk of this pass.
    pub fn firsts(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.first.iter().map(|(page, first)| (page.clone(), first.clone()))
    }
}

/// The threads that a page leads to, each with what its row says.
fn threads(site: &Site, url: &Url, facts: &Facts) -> Vec<(Url, u64)> {
    let mark = |at: usize| facts.marks.get(at).copied().unwrap_or(0);
    match (site, Address::of(url)) {
        (Site::Tieba, Some(Address::List { .. })) => {
            let of =
                |(at, tid): (usize, &u64)| Some((Address::Thread { tid: *tid, page: 1 }.on(url)?, mark(at)));
            facts.ids.iter().enumerate().filter_map(of).collect()
        }
        _ => {
            let of = |(at, href): (usize, &String)| Some((canonical(site, url.join(href).ok()?), mark(at)));
            facts.links.iter().enumerate().filter_map(of).collect()
        }
    }
}

fn is_list(site: &Site, url: &Url, facts: &Facts) -> bool {
    match site {
        Site::Tieba => matches!(Address::of(url), Some(Address::List { .. })),
        Site::Riddles | Site::Rd => true,
        Site::Profile(_) | Site::Plain => !facts.links.is_empty(),
    }
}

/// Of an address of Tieba's, which page of its thread it is; of others none is before another.
fn page_of(url: &str) -> u64 {
    match Url::parse(url).ok().and_then(|url| Address::of(&url)) {
        Some(Address::Thread { page, .. }) => page,
        _ => 0,
    }
}
