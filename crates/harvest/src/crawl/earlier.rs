//! Turns what earlier passes fetched into the state for another pass.

use url::Url;

use super::done::{Done, Role, canonical_url};
use super::settings::Scope;
use super::since::EarlierPasses;
use super::walk::CrawlWalk;
use crate::pages::tieba::Address;
use crate::pages::{Class, Facts, Site};

impl EarlierPasses {
    /// Reads what earlier passes fetched, in order.
    pub fn from_entries<'d>(
        site: &Site,
        scope: &Scope,
        entries: impl Iterator<Item = &'d Done>,
    ) -> EarlierPasses {
        let (mut since, mut walk) = (EarlierPasses::default(), CrawlWalk::default());
        for done in entries {
            let (Some(role), Ok(url)) = (done.role, Url::parse(&done.url)) else { continue };
            if done.class == Class::Blocked || done.undone || done.redirect.is_some() {
                continue;
            }
            since.done.insert(done.url.clone());
            if done.class == Class::Forbidden {
                continue;
            }
            for (thread, mark) in linked_threads(site, &url, &done.facts) {
                since.marks.insert(thread.into(), mark);
            }
            if role == Role::Sitemap {
                continue;
            }
            walk.follow_page(site, scope, &url, done.class, &done.facts);
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
}

/// The threads that a page links to, each with a number for the state in its row.
fn linked_threads(site: &Site, url: &Url, facts: &Facts) -> Vec<(Url, u64)> {
    let mark = |at: usize| facts.marks.get(at).copied().unwrap_or(0);
    match (site, Address::parse_address(url)) {
        (Site::Tieba, Some(Address::List { .. })) => {
            let of = |(at, tid): (usize, &u64)| {
                Some((Address::Thread { tid: *tid, page: 1 }.url_on_base(url)?, mark(at)))
            };
            facts.ids.iter().enumerate().filter_map(of).collect()
        }
        _ => {
            let of =
                |(at, href): (usize, &String)| Some((canonical_url(site, url.join(href).ok()?), mark(at)));
            facts.links.iter().enumerate().filter_map(of).collect()
        }
    }
}

fn is_list(site: &Site, url: &Url, facts: &Facts) -> bool {
    match site {
        Site::Tieba => matches!(Address::parse_address(url), Some(Address::List { .. })),
        Site::Profile(profile) => !facts.links.is_empty() || profile.is_list(url),
        Site::Plain => !facts.links.is_empty(),
    }
}

/// The page number of a Tieba address within its thread; 0 for others.
fn page_of(url: &str) -> u64 {
    match Url::parse(url).ok().and_then(|url| Address::parse_address(&url)) {
        Some(Address::Thread { page, .. }) => page,
        _ => 0,
    }
}
