//! Which pages follow from a page. A pure function of the finished pages, in order: replaying the archive
//! leads to the same state.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use url::Url;

use super::done::{Role, canonical_url};
use super::settings::Scope;
use super::since::EarlierPasses;
use crate::pages::tieba::Address;
use crate::pages::{Class, Facts, FloorComments, Site, number_of};

/// A page to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Canonical.
    pub url: Url,
    pub role: Role,
    /// Number of redirects before it.
    pub hops: u32,
}

/// What was seen of lists and threads so far.
#[derive(Debug, Default)]
pub(super) struct CrawlWalk {
    lists: BTreeMap<String, List>,
    threads: BTreeMap<String, Thread>,
    /// Floors whose nested replies a thread's page declares, by that page's `totalComment`.
    declared: BTreeMap<String, Vec<FloorComments>>,
    /// The first page of the list or thread to which a page belongs.
    first: HashMap<String, String>,
    /// Lists that a limit ended.
    ended: BTreeSet<String>,
    /// In a pass that requests only what is new: the knowledge from before.
    since: Option<EarlierPasses>,
}

#[derive(Debug, Default)]
struct List {
    tids: BTreeSet<u64>,
    pages: u64,
}

#[derive(Debug, Default)]
struct Thread {
    pages: u64,
    seen: Vec<Vec<u64>>,
}

impl CrawlWalk {
    /// The walk of a pass that requests only what is new.
    pub fn only_new(since: EarlierPasses) -> CrawlWalk {
        CrawlWalk { first: since.first_pages().collect(), since: Some(since), ..CrawlWalk::default() }
    }

    /// Where a pass starts instead of an address.
    pub fn start_url(&self, url: Url) -> Url {
        match &self.since {
            Some(since) => since.last_of(url),
            None => url,
        }
    }

    /// The first page of the list or thread to which a page belongs.
    pub fn first_of(&self, site: &Site, url: &Url) -> String {
        if let (Site::Tieba, Some(Address::Thread { tid, .. })) = (site, Address::parse_address(url)) {
            return Address::Thread { tid, page: 1 }.url_on_base(url).map(String::from).unwrap_or_default();
        }
        self.first.get(url.as_str()).cloned().unwrap_or_else(|| url.to_string())
    }

    /// The first pages of all later ones.
    pub fn into_firsts(self) -> BTreeMap<String, String> {
        self.first.into_iter().collect()
    }

    /// The pages to request for the threads that a page links to: all, or in a pass for new pages only the
    /// changed ones.
    pub fn due_pages(&self, url: &Url, facts: &Facts, same: bool, threads: Vec<(Url, u64)>) -> Vec<Url> {
        let Some(since) = &self.since else { return threads.into_iter().map(|(thread, _)| thread).collect() };
        let unchanged = since.is_unchanged(url, facts, same);
        threads.into_iter().filter_map(|(thread, mark)| since.due_page(thread, mark, unchanged)).collect()
    }

    /// Whether a list has ended because a page of it shows nothing new.
    fn is_list_ended(&self, due: &[Url]) -> bool {
        self.since.is_some() && due.is_empty()
    }

    /// The pages that follow from one that is done, in the order they should be fetched.
    pub fn follow_page(
        &mut self,
        site: &Site,
        scope: &Scope,
        url: &Url,
        class: Class,
        facts: &Facts,
    ) -> Vec<Url> {
        self.follow_changed(site, scope, url, class, facts, false)
    }

    /// [`CrawlWalk::follow_page`]; `same`: the page's bytes equal those of an earlier pass.
    pub fn follow_changed(
        &mut self,
        site: &Site,
        scope: &Scope,
        url: &Url,
        class: Class,
        facts: &Facts,
        same: bool,
    ) -> Vec<Url> {
        if class == Class::Blocked {
            return Vec::new();
        }
        match (site, Address::parse_address(url)) {
            (Site::Tieba, Some(Address::List { .. })) => self.follow_list(scope, url, facts, same),
            (Site::Tieba, Some(Address::Thread { tid, page })) => {
                self.follow_thread(scope, url, class, facts, tid, page)
            }
            (Site::Tieba, Some(Address::TotalComment { tid, .. })) => {
                self.comment_pages(url, class, facts, tid)
            }
            (Site::Tieba, Some(Address::Comment { tid, pid, page })) => {
                // An empty page ends the replies, however many pages it states.
                let more = !facts.ids.is_empty() && facts.pages.is_some_and(|pages| page < pages);
                let next = Address::Comment { tid, pid, page: page + 1 };
                more.then(|| next.url_on_base(url)).flatten().into_iter().collect()
            }
            _ => self.follow_links(site, scope, url, facts, same),
        }
    }

    /// What can continue although a page is not available: the rest of its thread, and the floors its
    /// `totalComment` would have listed.
    pub fn follow_failed(&mut self, site: &Site, url: &Url) -> Vec<Url> {
        match (site, Address::parse_address(url)) {
            (Site::Tieba, Some(Address::Thread { tid, page })) => self.next_of_thread(url, tid, page),
            (Site::Tieba, Some(Address::TotalComment { tid, .. })) => {
                self.comment_pages(url, Class::Unparsed, &Facts::default(), tid)
            }
            _ => Vec::new(),
        }
    }

    /// Threads first, then the next page, as long as a page shows a thread that no earlier page of this list
    /// showed.
    fn follow_list(&mut self, scope: &Scope, url: &Url, facts: &Facts, same: bool) -> Vec<Url> {
        let Some(Address::List { forum, good, cid, .. }) = Address::parse_address(url) else {
            return Vec::new();
        };
        let key = Address::List { forum, good, cid, offset: 0 }
            .url_on_base(url)
            .map(String::from)
            .unwrap_or_default();
        let list = self.lists.entry(key.clone()).or_default();
        list.pages += 1;
        let mark = |at: usize| facts.marks.get(at).copied().unwrap_or(0);
        let new: Vec<(u64, u64)> = facts
            .ids
            .iter()
            .enumerate()
            .filter(|(_, tid)| list.tids.insert(**tid))
            .map(|(at, tid)| (*tid, mark(at)))
            .collect();
        let within = scope.max_list_pages.is_none_or(|most| list.pages < most);
        let on = |&(tid, mark): &(u64, u64)| Some((Address::Thread { tid, page: 1 }.url_on_base(url)?, mark));
        let mut urls = self.due_pages(url, facts, same, new.iter().filter_map(on).collect());
        let goes_on = !new.is_empty() && !self.is_list_ended(&urls);
        let next = facts.next.as_deref().filter(|_| goes_on).and_then(|href| url.join(href).ok());
        if next.is_some() && !within {
            self.ended.insert(key);
            return urls;
        }
        urls.extend(next.map(|next| canonical_url(&Site::Tieba, next)));
        urls
    }

    fn follow_thread(
        &mut self,
        scope: &Scope,
        url: &Url,
        class: Class,
        facts: &Facts,
        tid: u64,
        page: u64,
    ) -> Vec<Url> {
        if matches!(class, Class::Deleted | Class::Hidden | Class::Merged) {
            return Vec::new();
        }
        let thread = self.threads.entry(thread_key(url, tid)).or_default();
        thread.pages = thread.pages.max(facts.pages.unwrap_or(0));
        // After its end a thread serves its last page again.
        let past_end = facts.page.is_some_and(|shown| shown != page)
            || (!facts.ids.is_empty() && thread.seen.contains(&facts.ids));
        if past_end {
            return Vec::new();
        }
        if !facts.ids.is_empty() {
            thread.seen.push(facts.ids.clone());
        }
        let mut urls = Vec::new();
        let fid = facts.fid.filter(|_| scope.comments && !facts.comments.is_empty());
        if let Some(total) = fid.and_then(|fid| Address::TotalComment { tid, fid, page }.url_on_base(url)) {
            self.declared.insert(total.to_string(), facts.comments.clone());
            urls.push(total);
        }
        urls.extend(self.next_of_thread(url, tid, page));
        urls
    }

    fn next_of_thread(&self, url: &Url, tid: u64, page: u64) -> Vec<Url> {
        let declared = self.threads.get(&thread_key(url, tid)).map_or(0, |thread| thread.pages);
        let next = (page < declared).then(|| Address::Thread { tid, page: page + 1 }.url_on_base(url));
        next.flatten().into_iter().collect()
    }

    /// The floors with fewer replies in `totalComment` than they have, by its own count or by the thread's
    /// page, whichever is more.
    fn comment_pages(&mut self, url: &Url, class: Class, facts: &Facts, tid: u64) -> Vec<Url> {
        let declared = self.declared.get(url.as_str()).cloned().unwrap_or_default();
        let listed: &[FloorComments] = if class == Class::Ok { &facts.comments } else { &[] };
        let mut floors: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for floor in declared.iter().chain(listed) {
            let known = floors.entry(floor.pid).or_default();
            *known = (known.0.max(floor.expected), known.1.max(floor.got));
        }
        let short = floors.into_iter().filter(|(_, (expected, got))| got < expected);
        short.filter_map(|(pid, _)| Address::Comment { tid, pid, page: 1 }.url_on_base(url)).collect()
    }

    /// The pages a page links to, and the next page as long as this list or thread shows something new: some
    /// sites serve their first page for every number, with a link to a next one.
    fn follow_links(&mut self, site: &Site, scope: &Scope, url: &Url, facts: &Facts, same: bool) -> Vec<Url> {
        let join = |href: &String| Some(canonical_url(site, url.join(href).ok()?));
        let mark = |at: usize| facts.marks.get(at).copied().unwrap_or(0);
        let links: Vec<(Url, u64)> =
            facts.links.iter().enumerate().filter_map(|(at, href)| Some((join(href)?, mark(at)))).collect();
        let key = self.first.get(url.as_str()).cloned().unwrap_or_else(|| url.to_string());
        let list = self.lists.entry(key.clone()).or_default();
        list.pages += 1;
        let shown = links.iter().map(|(to, _)| number_of(to.as_str())).chain(facts.ids.iter().copied());
        let new = shown.filter(|&id| list.tids.insert(id)).count();
        let pages = list.pages;
        let mut urls = self.due_pages(url, facts, same, links);
        let goes_on = new > 0 && (facts.links.is_empty() || !self.is_list_ended(&urls));
        let Some(next) = facts.next.as_ref().and_then(join).filter(|_| goes_on) else { return urls };
        // A list may hold its posts, and link to none.
        let holds = matches!(site, Site::Profile(profile) if profile.is_list(url));
        let is_list = !facts.links.is_empty() || holds;
        if is_list && scope.max_list_pages.is_some_and(|most| pages >= most) {
            self.ended.insert(key);
            return urls;
        }
        self.first.entry(next.to_string()).or_insert(key);
        urls.push(next);
        urls
    }

    /// Lists that a limit ended.
    pub fn ended_lists(&self) -> impl Iterator<Item = &String> {
        self.ended.iter()
    }
}

fn thread_key(url: &Url, tid: u64) -> String {
    format!("{}/{tid}", url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(walk: &mut CrawlWalk, url: &str, class: Class, facts: Facts) -> Vec<String> {
        let url = Url::parse(url).unwrap();
        let next = walk.follow_page(&Site::Tieba, &Scope::default(), &url, class, &facts);
        next.iter().map(|u| u.as_str().trim_start_matches("http://t").to_string()).collect()
    }

    #[test]
    fn a_list_goes_on_while_it_shows_new_threads() {
        let mut walk = CrawlWalk::default();
        let page =
            |ids: &[u64], next: &str| Facts { ids: ids.into(), next: Some(next.into()), ..Facts::default() };
        let first = follow(
            &mut walk,
            "http://t/f?kw=x&ie=utf-8",
            Class::Ok,
            page(&[9, 1], "//t/f?kw=x&ie=utf-8&pn=50"),
        );
        assert_eq!(first, ["/p/9", "/p/1", "/f?kw=x&ie=utf-8&pn=50"]);
        // A pinned thread and one that moved: only what is new follows.
        let second = follow(
            &mut walk,
            "http://t/f?kw=x&ie=utf-8&pn=50",
            Class::Ok,
            page(&[9, 1, 2], "/f?kw=x&pn=100"),
        );
        assert_eq!(second, ["/p/2", "/f?kw=x&ie=utf-8&pn=100"]);
        let third =
            follow(&mut walk, "http://t/f?kw=x&ie=utf-8&pn=100", Class::Ok, page(&[9, 2], "/f?kw=x&pn=150"));
        assert!(third.is_empty());
    }

    #[test]
    fn a_thread_runs_to_the_largest_page_declared_over_holes_and_stops_where_it_repeats() {
        let mut walk = CrawlWalk::default();
        let page = |ids: &[u64], pages| Facts { ids: ids.into(), pages: Some(pages), ..Facts::default() };
        assert_eq!(follow(&mut walk, "http://t/p/5", Class::Ok, page(&[1, 2], 3)), ["/p/5?pn=2"]);
        assert_eq!(follow(&mut walk, "http://t/p/5?pn=2", Class::Empty, page(&[], 0)), ["/p/5?pn=3"]);
        assert_eq!(follow(&mut walk, "http://t/p/5?pn=3", Class::Ok, page(&[3], 5)), ["/p/5?pn=4"]);
        assert!(follow(&mut walk, "http://t/p/5?pn=4", Class::Ok, page(&[3], 5)).is_empty());
        let past = Facts { page: Some(3), ..page(&[8], 9) };
        assert!(follow(&mut walk, "http://t/p/5?pn=7", Class::Ok, past).is_empty());
        assert!(follow(&mut walk, "http://t/p/6", Class::Deleted, page(&[], 4)).is_empty());
        assert!(follow(&mut walk, "http://t/p/7", Class::Blocked, page(&[1], 4)).is_empty());
    }

    #[test]
    fn nested_replies_are_followed_where_there_are_fewer_than_declared() {
        let mut walk = CrawlWalk::default();
        let floor = |pid, expected, got| FloorComments { pid, expected, got };
        let facts = Facts {
            ids: vec![1],
            fid: Some(7),
            comments: vec![floor(1, 3, 0), floor(2, 16, 0), floor(3, 1, 0)],
            ..Facts::default()
        };
        assert_eq!(follow(&mut walk, "http://t/p/5", Class::Ok, facts), ["/p/totalComment?tid=5&fid=7"]);
        let total = Facts { comments: vec![floor(1, 3, 3), floor(2, 16, 10)], ..Facts::default() };
        let next = follow(&mut walk, "http://t/p/totalComment?tid=5&fid=7", Class::Ok, total);
        assert_eq!(next, ["/p/comment?tid=5&pid=2", "/p/comment?tid=5&pid=3"]);
        let page = Facts { ids: vec![11], pages: Some(2), ..Facts::default() };
        assert_eq!(
            follow(&mut walk, "http://t/p/comment?tid=5&pid=2", Class::Ok, page.clone()),
            ["/p/comment?tid=5&pid=2&pn=2"]
        );
        assert!(follow(&mut walk, "http://t/p/comment?tid=5&pid=2&pn=2", Class::Ok, page).is_empty());
    }
}
