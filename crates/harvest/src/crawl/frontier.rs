//! Finished and pending pages: a state that `kill -9` cannot damage.
//!
//! The archive is authoritative: a page is done when its group of records is complete and synced. The journal
//! next to it repeats the groups' metadata so that a resumed crawl reads a small file instead of the archive;
//! a journal that is behind, torn or lost is completed from the archive.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use url::Url;

use super::done::{Done, FrontierError, Role, canonical_url};
use super::fetch::{ReceivedAnswer, Validators};
use super::journal::{Dirs, Line, Replayed, append_line, replay_journal};
use super::segment::{self, Segments};
use super::settings::{Refresh, Resolved, Scope, Source};
use super::since::EarlierPasses;
use super::walk::{CrawlWalk, Item};
use crate::pages::{Class, Facts, Site};
use crate::warc::{block_digest, record_id};
use riddlemill_files::fence;

/// The state of one source's crawl.
pub(super) struct Frontier {
    site: Site,
    scope: Scope,
    redirects: u32,
    walk: CrawlWalk,
    queues: BTreeMap<String, VecDeque<Item>>,
    /// Every address that was ever queued in this pass.
    known: HashSet<String>,
    finished: HashSet<String>,
    /// The last capture of each page; only kept if changes are requested.
    earlier: HashMap<String, Done>,
    pass: u32,
    /// Whether the pass asks only for new pages.
    since: bool,
    /// How many refusals in a row count as a block.
    refusals: u32,
    /// By host, the pages refused since the last success.
    refused: HashMap<String, Vec<Item>>,
    /// Pages that were refused in a block and are requested once more.
    again: HashSet<String>,
    turned_away: bool,
    writer: Option<Writer>,
}

struct Writer {
    segments: Segments,
    journal: File,
    journal_path: PathBuf,
    _lock: File,
}

impl Frontier {
    /// Opens the state for a crawl: takes the lock, repairs torn tails and replays what is done.
    ///
    /// # Errors
    /// [`FrontierError`].
    pub(super) fn open(source: &Source, resolved: &Resolved, dirs: &Dirs) -> Result<Self, FrontierError> {
        let journal_path = dirs.journal_path(&source.name);
        let lock_path = journal_path.with_extension("lock");
        let wrap = |error| FrontierError::from_io(&journal_path, error);
        fence::create_folder(&dirs.state).map_err(wrap)?;
        let lock =
            fence::open_with(&lock_path, OpenOptions::new().create(true).append(true)).map_err(wrap)?;
        // Before anything is repaired: the end that seems torn may be one that another crawl is writing.
        if lock.try_lock().is_err() {
            return Err(FrontierError::Busy { path: lock_path });
        }
        let replayed = replay_journal(source, dirs, true)?;
        let folder = dirs.archive_folder(&source.name);
        let segments = Segments::open(&folder, source.limits.segment_bytes, &resolved.user_agent)
            .map_err(|error| FrontierError::from_io(&folder, error))?;
        let mut journal =
            fence::open_with(&journal_path, OpenOptions::new().create(true).append(true)).map_err(wrap)?;
        // The process before was stopped after it wrote the archive and before it wrote the journal.
        for entry in &replayed.adopted {
            append_line(&mut journal, &Line::from(entry.clone())).map_err(wrap)?;
        }
        let writer = Writer { segments, journal, journal_path, _lock: lock };
        Ok(Frontier::build(source, resolved, replayed, Some(writer)))
    }

    /// The same state without a lock and without touching a file.
    ///
    /// # Errors
    /// [`FrontierError`].
    pub(super) fn peek(source: &Source, resolved: &Resolved, dirs: &Dirs) -> Result<Self, FrontierError> {
        Ok(Frontier::build(source, resolved, replay_journal(source, dirs, false)?, None))
    }

    fn build(source: &Source, resolved: &Resolved, replayed: Replayed, writer: Option<Writer>) -> Self {
        let entries: Vec<Done> =
            replayed.entries.into_iter().chain(replayed.adopted).map(|e| e.done).collect();
        let last = entries.iter().map(|done| done.pass).max().unwrap_or(1).max(replayed.pass_end);
        let since = entries.iter().any(|done| done.pass == last && done.since);
        let mut frontier = Frontier::of_pass(source, resolved, &entries, last, since);
        let ended = replayed.pass_end == last || frontier.count_undone() == 0;
        // There is no refresh before the first pass has fetched something.
        if source.refresh != Refresh::No && ended && !entries.is_empty() {
            let since = source.refresh == Refresh::Changed;
            frontier = Frontier::of_pass(source, resolved, &entries, last + 1, since);
        }
        frontier.writer = writer;
        // Replaying the refusals of earlier runs must not halt a host in this run.
        frontier.turned_away = false;
        frontier
    }

    fn of_pass(source: &Source, resolved: &Resolved, entries: &[Done], pass: u32, since: bool) -> Self {
        let mut frontier = Frontier {
            site: source.site.clone(),
            scope: source.scope.clone(),
            redirects: source.limits.redirects,
            walk: match since {
                true => CrawlWalk::only_new(EarlierPasses::from_entries(
                    &source.site,
                    &source.scope,
                    entries.iter().filter(|done| done.pass < pass),
                )),
                false => CrawlWalk::default(),
            },
            queues: BTreeMap::new(),
            known: HashSet::new(),
            finished: HashSet::new(),
            earlier: HashMap::new(),
            pass,
            since,
            refusals: source.politeness.refusals,
            refused: HashMap::new(),
            again: HashSet::new(),
            turned_away: false,
            writer: None,
        };
        for start in &resolved.starts {
            let role = if start.sitemap { Role::Sitemap } else { Role::Page };
            let url = frontier.walk.start_url(canonical_url(&frontier.site, start.url.clone()));
            frontier.queue_item(Item { url, role, hops: 0 });
        }
        for done in entries {
            if done.pass == pass {
                frontier.apply_entry(done);
            }
            // A 304 refers to a page that is there already.
            if done.pass < pass && done.status == 200 && !done.undone && done.class != Class::Blocked {
                frontier.earlier.insert(done.url.clone(), done.clone());
            }
        }
        frontier
    }

    /// Queues an address that a page links to.
    fn follow_link(&mut self, item: Item) {
        if self.scope.is_in_scope(&item.url) {
            self.queue_item(item);
        }
    }

    /// Queues an address unless it was queued before in this pass.
    fn queue_item(&mut self, item: Item) {
        if self.known.insert(item.url.to_string()) {
            let host = item.url.host_str().unwrap_or_default().to_string();
            self.queues.entry(host).or_default().push_back(item);
        }
    }

    /// Hosts with pending pages.
    pub fn pending_hosts(&self) -> Vec<String> {
        let waiting =
            |queue: &VecDeque<Item>| queue.iter().any(|item| !self.finished.contains(item.url.as_str()));
        self.queues.iter().filter(|(_, queue)| waiting(queue)).map(|(host, _)| host.clone()).collect()
    }

    /// Takes a host's next page.
    pub(super) fn next(&mut self, host: &str) -> Option<Item> {
        let queue = self.queues.get_mut(host)?;
        while let Some(item) = queue.pop_front() {
            if !self.finished.contains(item.url.as_str()) {
                return Some(item);
            }
        }
        None
    }

    /// Puts back a page that was taken but not fetched.
    pub(super) fn put_back(&mut self, item: Item) {
        let host = item.url.host_str().unwrap_or_default().to_string();
        self.queues.entry(host).or_default().push_front(item);
    }

    /// The number of pending pages of each host.
    pub(super) fn queue_lengths(&self) -> impl Iterator<Item = usize> {
        let waiting = |item: &&Item| !self.finished.contains(item.url.as_str());
        self.queues.values().map(move |queue| queue.iter().filter(waiting).count())
    }

    /// Pages done in this pass.
    pub fn count_done(&self) -> u64 {
        self.finished.len() as u64
    }

    /// Pages that are known and not done.
    pub(super) fn count_undone(&self) -> u64 {
        (self.known.len() - self.finished.len()) as u64
    }

    /// Whether a page is known and not done.
    pub(super) fn is_undone(&self, url: &str) -> bool {
        self.known.contains(url) && !self.finished.contains(url)
    }

    /// Whether the page just finished completed a block of refusals.
    pub(super) fn turned_away(&mut self) -> bool {
        std::mem::take(&mut self.turned_away)
    }

    /// The limits that ended lists.
    pub(super) fn ended_lists(&self) -> impl Iterator<Item = String> {
        let most = self.scope.max_list_pages.unwrap_or_default();
        self.walk.ended_lists().map(move |list| format!("scope.max_list_pages = {most} ({list})"))
    }

    /// The pass: 1, plus one for each refresh.
    pub fn pass(&self) -> u32 {
        self.pass
    }

    /// Pending pages.
    pub fn pending_urls(&self) -> impl Iterator<Item = &Url> {
        let waiting = |item: &&Item| !self.finished.contains(item.url.as_str());
        self.queues.values().flatten().filter(waiting).map(|item| &item.url)
    }

    /// Validators for requesting a page that was fetched in an earlier pass.
    pub(super) fn validators_of(&self, url: &Url) -> Validators {
        match self.earlier.get(url.as_str()) {
            Some(done) => Validators { etag: done.etag.clone(), last_modified: done.last_modified.clone() },
            None => Validators::default(),
        }
    }

    /// What an earlier pass found at an address.
    pub(super) fn find_earlier(&self, url: &Url) -> Option<&Done> {
        self.earlier.get(url.as_str())
    }

    /// Makes a page durable and queues what follows from it.
    ///
    /// A blocked page is archived and stays pending: it does not contain what was asked for.
    pub(super) fn finish_page(
        &mut self,
        item: &Item,
        answer: &ReceivedAnswer,
        read: Read,
    ) -> Result<Done, FrontierError> {
        let date = segment::warc_date(answer.began);
        let url = item.url.to_string();
        let done = Done {
            pass: self.pass,
            role: (!read.robots).then_some(item.role),
            hops: item.hops,
            class: read.class,
            status: answer.head.status,
            redirect: read.redirect,
            facts: read.facts,
            sitemaps: read.sitemaps,
            undone: read.undone,
            since: self.since,
            etag: answer.head.get("etag").map(str::to_string),
            last_modified: answer.head.get("last-modified").map(str::to_string),
            digest: block_digest(&answer.wire),
            record: record_id(&["response", answer.url.as_str(), &date]),
            date,
            url,
        };
        let earlier = self.earlier.get(&done.url).filter(|_| answer.head.status == 304);
        if let Some(writer) = &mut self.writer {
            // Archive before journal: the journal can be completed from the archive, but not the archive from
            // it.
            let group = segment::encode_group(answer, &done, earlier);
            let group = group.map_err(|error| FrontierError::from_io(&writer.journal_path, error))?;
            let (file, end) = writer
                .segments
                .append_group(&group)
                .map_err(|error| FrontierError::from_io(&writer.journal_path, error))?;
            let line = Line::Done { file, end, done: Box::new(done.clone()) };
            append_line(&mut writer.journal, &line)
                .map_err(|error| FrontierError::from_io(&writer.journal_path, error))?;
        }
        self.apply_entry(&done);
        Ok(done)
    }

    /// Continues after a page that is not available in this run. It is tried again in the next.
    pub(super) fn skip_failed(&mut self, item: &Item) {
        for url in self.walk.follow_failed(&self.site, &item.url) {
            self.follow_link(Item { url, role: Role::Page, hops: 0 });
        }
    }

    /// Records that a pass is complete.
    pub(super) fn end_pass(&mut self) -> Result<(), FrontierError> {
        let pass_end = self.pass;
        match &mut self.writer {
            Some(writer) => append_line(&mut writer.journal, &Line::PassEnd { pass_end })
                .map_err(|error| FrontierError::from_io(&writer.journal_path, error)),
            None => Ok(()),
        }
    }

    fn apply_entry(&mut self, done: &Done) {
        let (Some(role), Ok(url)) = (done.role, Url::parse(&done.url)) else { return };
        if done.class == Class::Blocked || done.undone {
            return;
        }
        self.known.insert(done.url.clone());
        self.finished.insert(done.url.clone());
        let host = url.host_str().unwrap_or_default();
        if done.class != Class::Forbidden {
            // Refusals count only in a row.
            self.refused.remove(host);
        } else {
            return self.defer_refused(Item { url, role, hops: done.hops });
        }
        if let Some(target) = &done.redirect {
            if let Ok(target) = Url::parse(target)
                && done.hops < self.redirects
            {
                self.follow_link(Item { url: canonical_url(&self.site, target), role, hops: done.hops + 1 });
            }
            return;
        }
        if role == Role::Sitemap {
            let sitemaps = done.sitemaps.iter().map(|link| (Role::Sitemap, link));
            for link in sitemaps.filter_map(|(_, link)| url.join(link).ok()) {
                self.queue_item(Item { url: canonical_url(&self.site, link), role: Role::Sitemap, hops: 0 });
            }
            let mark = |at: usize| done.facts.marks.get(at).copied().unwrap_or(0);
            let pages = done.facts.links.iter().enumerate();
            let pages = pages
                .filter_map(|(at, link)| Some((canonical_url(&self.site, url.join(link).ok()?), mark(at))))
                .collect();
            for url in self.walk.due_pages(&url, &done.facts, false, pages) {
                self.follow_link(Item { url, role: Role::Page, hops: 0 });
            }
            return;
        }
        let same = done.status == 304
            || self.earlier.get(&done.url).is_some_and(|before| before.digest == done.digest);
        let (site, scope) = (&self.site, &self.scope);
        for next in self.walk.follow_changed(site, scope, &url, done.class, &done.facts, same) {
            self.follow_link(Item { url: next, role: Role::Page, hops: 0 });
        }
    }

    /// A refused page is set aside. `refusals` in a row are a block: pages refused in it are queued after all
    /// others and requested once more, but only once, because otherwise a members-only part of a site would
    /// end every run.
    fn defer_refused(&mut self, item: Item) {
        let host = item.url.host_str().unwrap_or_default().to_string();
        let row = self.refused.entry(host.clone()).or_default();
        row.push(item);
        if row.len() < self.refusals as usize {
            return;
        }
        self.turned_away = true;
        for item in std::mem::take(row) {
            if self.again.insert(item.url.to_string()) {
                self.finished.remove(item.url.as_str());
                self.queues.entry(host.clone()).or_default().push_back(item);
            }
        }
    }
}

/// The progress and age of a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Age {
    /// When its last page was fetched, as in the archive.
    pub last: String,
    /// The pass of that page.
    pub pass: u32,
    /// Whether that pass is over.
    pub ended: bool,
    /// Number of pages in that pass.
    pub pages: u64,
}

/// The age of a crawl; `None` if it has no page yet.
///
/// # Errors
/// [`FrontierError`].
pub fn age_of_crawl(source: &Source, dirs: &Dirs) -> Result<Option<Age>, FrontierError> {
    let replayed = replay_journal(source, dirs, false)?;
    let pages = replayed.entries.iter().chain(&replayed.adopted).map(|entry| &entry.done);
    let pages: Vec<&Done> = pages.filter(|done| done.role.is_some() && !done.undone).collect();
    let Some(last) = pages.iter().map(|done| &done.date).max() else { return Ok(None) };
    let pass = pages.iter().map(|done| done.pass).max().unwrap_or(1);
    Ok(Some(Age {
        last: last.clone(),
        pass,
        ended: replayed.pass_end >= pass,
        pages: pages.iter().filter(|done| done.pass == pass).count() as u64,
    }))
}

/// The result of reading an answer.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub class: Class,
    pub facts: Facts,
    pub sitemaps: Vec<String>,
    pub redirect: Option<String>,
    pub robots: bool,
    pub undone: bool,
}
