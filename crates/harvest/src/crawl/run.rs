//! Drives a crawl: one visit per host at a time, with one place that makes all answers durable.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;
use url::Url;

use super::done::{FrontierError, Role};
use super::fetch::{Fetcher, ReceivedAnswer};
use super::frontier::{Frontier, Read};
use super::gate::Gates;
use super::guard::{Guard, Lookup, SystemLookup};
use super::journal::Dirs;
use super::settings::{SettingsError, Source};
use super::sitemap;
use super::visit::{Event, Outcome, Visitor};
use super::walk::Item;
use crate::pages::{Class, Facts, charset, classify_page, parse_page};
use riddlemill_text::text::count_with_noun;

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The pass: 1, plus one for each refresh.
    pub pass: u32,
    /// Pages done in this pass, by this run and those before.
    pub done: u64,
    /// Pending pages for another run.
    pub pending: u64,
    /// Pages this run fetched, by class.
    pub classes: BTreeMap<Class, u64>,
    /// Hosts that demanded a captcha or turned us away, and how. A run with one must exit non-zero.
    pub blocked: BTreeMap<String, String>,
    /// Hosts that could not be found or whose robots.txt was not available, and why.
    pub deferred: BTreeMap<String, String>,
    /// Pages without a usable answer, and why. They are tried again in the next run.
    pub failed: BTreeMap<String, String>,
    /// Addresses the guard refused, and why.
    pub refused: BTreeMap<String, String>,
    /// Pages that are not open to visitors. They are set aside, and are not an error.
    pub forbidden: BTreeSet<String>,
    /// Limits in the settings that ended the crawl, or a list.
    pub ended_by: BTreeSet<String>,
    /// Pages forbidden by robots.txt.
    pub disallowed: BTreeSet<String>,
    /// The run was stopped from outside.
    pub cancelled: bool,
}

impl Summary {
    /// Whether everything requested was fetched: the meaning of exit status zero.
    pub fn is_complete(&self) -> bool {
        self.blocked.is_empty() && self.deferred.is_empty() && self.failed.is_empty() && !self.cancelled
    }
}

/// Why a crawl cannot run.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The archive or its journal cannot be used.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The HTTP client cannot be built.
    #[error("cannot set up HTTP: {0}")]
    Client(reqwest::Error),
}

/// Crawls a source until nothing is pending or `cancel` is ready. Another run continues where it stopped,
/// however it stopped.
///
/// # Errors
/// [`CrawlError`]. A site's answer is never an error; see the [`Summary`].
pub async fn run_crawl(
    source: &Source,
    dirs: &Dirs,
    events: impl FnMut(Event),
    cancel: impl Future<Output = ()>,
) -> Result<Summary, CrawlError> {
    run_with(source, dirs, events, cancel, Arc::new(SystemLookup)).await
}

/// [`run_crawl`] with a resolver of the caller's.
///
/// # Errors
/// Those of [`run_crawl`].
pub async fn run_with(
    source: &Source,
    dirs: &Dirs,
    mut events: impl FnMut(Event),
    cancel: impl Future<Output = ()>,
    lookup: Arc<dyn Lookup>,
) -> Result<Summary, CrawlError> {
    let resolved = source.resolve_settings()?;
    let private = source.private_hosts.iter().map(|pair| pair.to_ascii_lowercase()).collect();
    let guard = Guard::new(resolved.hosts.clone(), private, lookup);
    let fetcher = Fetcher::new(guard, &resolved.user_agent, &source.limits).map_err(CrawlError::Client)?;
    let frontier = Frontier::open(source, &resolved, dirs)?;
    // Unbounded, so that no visit waits until its events are shown.
    let (sender, mut heard) = unbounded_channel();
    let visitor = Arc::new(Visitor {
        fetcher,
        gates: Gates::default(),
        politeness: source.politeness.clone(),
        events: sender,
        strain: Mutex::new(HashMap::new()),
        robots: Mutex::new(HashMap::new()),
    });
    let mut crawl = Crawl {
        source,
        frontier,
        visitor,
        halted: BTreeSet::new(),
        throttled: BTreeSet::new(),
        summary: Summary::default(),
    };

    let mut visits = JoinSet::new();
    let mut active = BTreeSet::new();
    let mut cancel = std::pin::pin!(cancel);
    loop {
        crawl.start_visits(&mut visits, &mut active);
        if active.is_empty() {
            break;
        }
        tokio::select! {
            Some(joined) = visits.join_next() => {
                let (host, item, outcome, robots) = match joined {
                    Ok(visit) => visit,
                    // Nothing aborts a visit while the loop runs.
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                };
                active.remove(&host);
                crawl.settle_outcome(&host, &item, outcome, robots, &mut events)?;
            }
            Some(event) = heard.recv() => events(event),
            () = &mut cancel => {
                // Visits in flight were not recorded; the next run fetches them.
                crawl.summary.cancelled = true;
                break;
            }
        }
    }
    visits.shutdown().await;
    crawl.end_crawl()
}

type Visit = (String, Item, Outcome, Vec<ReceivedAnswer>);

struct Crawl<'a> {
    source: &'a Source,
    frontier: Frontier,
    visitor: Arc<Visitor>,
    /// Hosts that are not contacted again in this run.
    halted: BTreeSet<String>,
    /// Hosts whose last page ended in 429.
    throttled: BTreeSet<String>,
    summary: Summary,
}

impl Crawl<'_> {
    fn start_visits(&mut self, visits: &mut JoinSet<Visit>, active: &mut BTreeSet<String>) {
        for host in self.frontier.pending_hosts() {
            if active.contains(&host) || self.halted.contains(&host) {
                continue;
            }
            let most = self.source.scope.max_pages;
            // Visits in flight count, too, because each of them may finish a page.
            if self.frontier.count_done() + active.len() as u64 >= most {
                if self.frontier.count_done() >= most {
                    self.summary.ended_by.insert(format!("scope.max_pages = {most}"));
                }
                return;
            }
            let Some(item) = self.frontier.next(&host) else { continue };
            active.insert(host.clone());
            let visitor = self.visitor.clone();
            let validators = self.frontier.validators_of(&item.url);
            visits.spawn(async move {
                let (outcome, robots) = visitor.visit(&item.url, &validators).await;
                (host, item, outcome, robots)
            });
        }
    }

    fn settle_outcome(
        &mut self,
        host: &str,
        item: &Item,
        outcome: Outcome,
        robots: Vec<ReceivedAnswer>,
        events: &mut impl FnMut(Event),
    ) -> Result<(), CrawlError> {
        for answer in &robots {
            let robots = Item { url: answer.url.clone(), role: Role::Page, hops: 0 };
            let read = Read { robots: true, ..Read::without_facts(Class::Ok) };
            self.frontier.finish_page(&robots, answer, read)?;
        }
        let url = item.url.to_string();
        match outcome {
            Outcome::Answer(answer) => return self.keep_answer(host, item, &answer, events),
            Outcome::Disallowed => {
                events(Event::Skipped { url: url.clone(), why: "robots.txt forbids it".into() });
                self.summary.disallowed.insert(url);
            }
            Outcome::Refused(refusal) => {
                events(Event::Skipped { url: url.clone(), why: refusal.to_string() });
                self.summary.refused.insert(url, refusal.to_string());
            }
            Outcome::Deferred(why) => {
                events(Event::Halted { host: host.into(), why: why.clone() });
                self.frontier.put_back(item.clone());
                self.halted.insert(host.into());
                self.summary.deferred.insert(host.into(), why);
            }
            Outcome::Cut(answer, why) => {
                self.frontier.finish_page(
                    item,
                    &answer,
                    Read { undone: true, ..Read::without_facts(Class::Unparsed) },
                )?;
                self.record_failure(item, why, events);
            }
            // Two pages in a row that end in 429: the host refuses the crawler, not the page.
            Outcome::Throttled(why) if !self.throttled.insert(host.into()) => {
                self.halt_host(host, format!("{url}: {why}, as for the page before"), events);
                self.frontier.put_back(item.clone());
            }
            Outcome::Failed(why) | Outcome::Throttled(why) => self.record_failure(item, why, events),
        }
        Ok(())
    }

    fn record_failure(&mut self, item: &Item, why: String, events: &mut impl FnMut(Event)) {
        let url = item.url.to_string();
        events(Event::Skipped { url: url.clone(), why: why.clone() });
        self.summary.failed.insert(url, why);
        self.frontier.skip_failed(item);
    }

    fn halt_host(&mut self, host: &str, why: String, events: &mut impl FnMut(Event)) {
        events(Event::Halted { host: host.into(), why: why.clone() });
        self.halted.insert(host.into());
        self.summary.blocked.insert(host.into(), why);
    }

    fn keep_answer(
        &mut self,
        host: &str,
        item: &Item,
        answer: &ReceivedAnswer,
        events: &mut impl FnMut(Event),
    ) -> Result<(), CrawlError> {
        self.throttled.remove(host);
        let read = self.classify_answer(item, answer);
        let done = self.frontier.finish_page(item, answer, read)?;
        *self.summary.classes.entry(done.class).or_default() += 1;
        events(Event::Done {
            url: done.url.clone(),
            class: done.class,
            status: done.status,
            bytes: answer.wire.len() as u64,
            done: self.frontier.count_done(),
            pending: self.frontier.count_undone(),
        });
        let turned_away = self.frontier.turned_away();
        if done.class == Class::Blocked {
            self.halt_host(host, format!("{} asks for proof that the visitor is a person", done.url), events);
            self.frontier.put_back(item.clone());
        } else if turned_away {
            let refusals = self.source.politeness.refusals;
            let why = format!(
                "{} in a row refused, the last {}",
                count_with_noun(u64::from(refusals), "page"),
                done.url
            );
            // Pages of a block are requested once more, so they are not set aside yet.
            self.summary.forbidden.retain(|url| !self.frontier.is_undone(url));
            self.halt_host(host, why, events);
        }
        if done.class == Class::Forbidden && !self.frontier.is_undone(&done.url) {
            self.summary.forbidden.insert(done.url);
        }
        Ok(())
    }

    /// Classifies before anything else is parsed.
    fn classify_answer(&self, item: &Item, answer: &ReceivedAnswer) -> Read {
        let status = answer.head.status;
        if status == 304 {
            // Only requested if there is an earlier capture.
            return match self.frontier.find_earlier(&item.url) {
                Some(done) => Read {
                    facts: done.facts.clone(),
                    sitemaps: done.sitemaps.clone(),
                    ..Read::without_facts(done.class)
                },
                None => Read::without_facts(Class::Unparsed),
            };
        }
        let site = &self.source.site;
        if (300..400).contains(&status) {
            let target = answer.head.get("location").and_then(|to| item.url.join(to).ok());
            let class = target.as_ref().map(|to| classify_page(site, to.as_str(), status, ""));
            let redirect = target.map(|to: Url| to.to_string());
            return Read { redirect, ..Read::without_facts(class.unwrap_or(Class::Unparsed)) };
        }
        let body = self.visitor.fetcher.decode_answer(answer);
        if body.truncated.is_some() {
            return Read::without_facts(Class::Unparsed);
        }
        if item.role == Role::Sitemap && status == 200 {
            let limit = self.source.limits.decoded_bytes;
            let map = sitemap::read_sitemap(&body.bytes, limit);
            let facts = Facts { links: map.pages, marks: map.marks, ..Facts::default() };
            return Read { facts, sitemaps: map.sitemaps, ..Read::without_facts(Class::Ok) };
        }
        // A large host of other sites marks its challenges like this, whatever the page says.
        if answer.head.get("cf-mitigated").is_some_and(|what| what.trim() == "challenge") {
            return Read::without_facts(Class::Blocked);
        }
        let text = charset::decode_page(&body.bytes, answer.head.get("content-type"), site).text;
        let parsed = parse_page(site, item.url.as_str(), status, &text, None);
        Read { facts: parsed.facts, ..Read::without_facts(parsed.class) }
    }

    fn end_crawl(mut self) -> Result<Summary, CrawlError> {
        let summary = &mut self.summary;
        summary.pass = self.frontier.pass();
        summary.done = self.frontier.count_done();
        summary.pending = self.frontier.pending_urls().count() as u64 + summary.failed.len() as u64;
        summary.ended_by.extend(self.frontier.ended_lists());
        // Failed pages are requested again by the next pass, or by the next run if there is none.
        let halted = !summary.blocked.is_empty() || !summary.deferred.is_empty() || summary.cancelled;
        if !halted && self.frontier.pending_urls().next().is_none() {
            self.frontier.end_pass()?;
        }
        Ok(self.summary)
    }
}

impl Read {
    fn without_facts(class: Class) -> Self {
        Read {
            class,
            facts: Facts::default(),
            sitemaps: Vec::new(),
            redirect: None,
            robots: false,
            undone: false,
        }
    }
}
