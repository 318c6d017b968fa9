//! One page: robots.txt, the host's turn, retries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use url::Url;

use super::fetch::{Fetcher, PageFetchError, ReceivedAnswer, Validators, retry_after};
use super::gate::Gates;
use super::guard::Refusal;
use super::robots::{MAX_BYTES, Robots};
use super::settings::Politeness;
use crate::pages::Class;
use crate::warc::Truncated;
use riddlemill_text::text::count_with_noun;

const AGENT: &str = "riddlemill";
// RFC 9309, 2.4: a stored file should not be used for more than 24 hours.
const ROBOTS_FRESH: Duration = Duration::from_secs(24 * 3600);
// RFC 9309, 2.3.1.2: at least five redirects in a row should be followed.
const ROBOTS_REDIRECTS: usize = 5;

/// Events during a crawl.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A page is done.
    Done {
        /// Its address.
        url: String,
        /// What kind of page it was.
        class: Class,
        /// HTTP status.
        status: u16,
        /// Bytes as sent.
        bytes: u64,
        /// Pages done in this pass.
        done: u64,
        /// Pending pages.
        pending: u64,
    },
    /// A request is repeated after a wait.
    Waiting {
        /// Its address.
        url: String,
        /// Why.
        why: String,
        /// For how long.
        wait_secs: f64,
    },
    /// A page is skipped in this run.
    Skipped {
        /// Its address.
        url: String,
        /// Why.
        why: String,
    },
    /// A host is left alone in this run.
    Halted {
        /// Its name.
        host: String,
        /// Why.
        why: String,
    },
}

/// How a visit ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// With an answer, including redirects, error pages and truncated ones.
    Answer(Box<ReceivedAnswer>),
    /// robots.txt forbids the page.
    Disallowed,
    /// The host cannot be found, or its robots.txt is not available: nothing is requested from it in this
    /// run.
    Deferred(String),
    /// The guard refuses it.
    Refused(Refusal),
    /// No usable answer after all attempts.
    Failed(String),
    /// An answer cut off by a time limit: the part is kept and marked, and the page stays pending.
    Cut(Box<ReceivedAnswer>, String),
    /// The host still answers 429 after all retries.
    Throttled(String),
}

/// A host's load: its 429 answers slow all requests to it, and good answers reduce that again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostLoad {
    level: u32,
    good: u32,
}

/// How many good answers in a row cancel one refusal.
const EASE: u32 = 10;

/// State shared by all visits.
pub(super) struct Visitor {
    pub fetcher: Fetcher,
    pub gates: Gates,
    pub politeness: Politeness,
    pub events: UnboundedSender<Event>,
    /// By host.
    pub strain: Mutex<HashMap<String, HostLoad>>,
    /// By origin: when it was read, and the result.
    pub robots: Mutex<HashMap<String, (Instant, Verdict)>>,
}

/// The result of an origin's robots.txt.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Rules(Arc<Robots>),
    Unreachable(String),
    /// The guard forbids the origin itself.
    Refused(Refusal),
}

impl Visitor {
    /// Visits a page. The second part is the answers to requests for robots.txt.
    pub async fn visit(&self, url: &Url, validators: &Validators) -> (Outcome, Vec<ReceivedAnswer>) {
        if let Err(refusal) = self.fetcher.in_scope(url) {
            return (Outcome::Refused(refusal), Vec::new());
        }
        let (verdict, answers) = self.verdict_on_robots(url).await;
        let robots = match verdict {
            Verdict::Refused(refusal) => return (Outcome::Refused(refusal), answers),
            Verdict::Unreachable(why) => return (Outcome::Deferred(why), answers),
            Verdict::Rules(robots) => robots,
        };
        let query = url.query().map(|q| format!("?{q}")).unwrap_or_default();
        if !robots.is_allowed(&format!("{}{query}", url.path())) {
            return (Outcome::Disallowed, answers);
        }
        let delay = self.delay_between(robots.crawl_delay);
        (self.request_with_retries(url, validators, delay).await, answers)
    }

    async fn request_with_retries(&self, url: &Url, validators: &Validators, delay: Duration) -> Outcome {
        let host = url.host_str().unwrap_or_default();
        let mut attempt = 0;
        loop {
            let turn = self.gates.await_turn(host).await;
            let result = self.fetcher.request_page(url, validators).await;
            let throttled = matches!(&result, Ok(answer) if answer.head.status == 429);
            let (why, asked) = match &result {
                Ok(answer) if throttled || answer.head.status == 503 => {
                    (format!("status {}", answer.head.status), retry_after(&answer.head, SystemTime::now()))
                }
                Ok(answer) if answer.truncated == Some(Truncated::Time) => {
                    ("the answer came too slowly".into(), None)
                }
                Err(PageFetchError::Timeout) => ("no answer in time".to_string(), None),
                _ => {
                    turn.end_turn(delay.max(self.ease_host(host)));
                    return outcome_of_result(result);
                }
            };
            // Refusals of a host are counted over all its pages: after refusals on several pages, the next
            // page does not get all its retries.
            let refusals = if throttled { self.count_refusal(host) } else { attempt + 1 };
            let last = refusals > self.politeness.retries || attempt >= self.politeness.retries;
            let wait = self.retry_wait(url, refusals - 1, asked);
            // The gate keeps the wait, so that the other pages of the host wait as well.
            turn.end_turn(delay.max(wait));
            if last {
                let attempts = if attempt == 0 {
                    String::new()
                } else {
                    format!(", {}", count_with_noun(u64::from(attempt) + 1, "attempt"))
                };
                let why = format!("{why}{attempts}");
                return match result {
                    _ if throttled => Outcome::Throttled(why),
                    // Part of a slow answer is kept and marked; a refusal is not.
                    Ok(answer) if answer.truncated.is_some() => Outcome::Cut(Box::new(answer), why),
                    _ => Outcome::Failed(why),
                };
            }
            let wait_secs = delay.max(wait).as_secs_f64();
            // If nobody receives, the run is over.
            let _ = self.events.send(Event::Waiting { url: url.to_string(), why, wait_secs });
            attempt += 1;
        }
    }

    /// The wait that the server asked for, up to the cap, or else the back-off: doubling, with up to half of
    /// it added by a draw from the address and the attempt.
    fn retry_wait(&self, url: &Url, attempt: u32, asked: Option<Duration>) -> Duration {
        let cap = Duration::from_secs(self.politeness.retry_after_cap_secs);
        if let Some(asked) = asked {
            return asked.min(cap);
        }
        let hash = blake3::hash(format!("back-off {url} {attempt}").as_bytes());
        let draw = f64::from(hash.as_bytes()[0]) / 255.0;
        let base = self.politeness.backoff_secs * f64::from(2u32.saturating_pow(attempt.min(16)));
        Duration::from_secs_f64(base * (1.0 + draw / 2.0)).min(cap)
    }

    /// Counts a 429 of a host and returns the current number.
    fn count_refusal(&self, host: &str) -> u32 {
        let mut hosts = self.strain.lock().unwrap_or_else(PoisonError::into_inner);
        let strain = hosts.entry(host.into()).or_default();
        // The bound keeps the power of two in `eased` from overflowing.
        *strain = HostLoad { level: strain.level.saturating_add(1).min(16), good: 0 };
        strain.level
    }

    /// Counts a good answer of a host and returns the delay that remains from earlier refusals.
    fn ease_host(&self, host: &str) -> Duration {
        let mut hosts = self.strain.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(strain) = hosts.get_mut(host) else { return Duration::ZERO };
        strain.good += 1;
        if strain.good >= EASE {
            *strain = HostLoad { level: strain.level.saturating_sub(1), good: 0 };
        }
        if strain.level == 0 {
            return Duration::ZERO;
        }
        let pace = self.politeness.backoff_secs * f64::from(2u32.pow(strain.level - 1));
        Duration::from_secs_f64(pace).min(Duration::from_secs(self.politeness.retry_after_cap_secs))
    }

    fn delay_between(&self, crawl_delay: Option<Duration>) -> Duration {
        Duration::from_secs_f64(self.politeness.delay_secs).max(crawl_delay.unwrap_or_default())
    }

    async fn verdict_on_robots(&self, url: &Url) -> (Verdict, Vec<ReceivedAnswer>) {
        let origin = url.origin().ascii_serialization();
        if let Some((read, verdict)) = self.robots.lock().unwrap_or_else(PoisonError::into_inner).get(&origin)
            && read.elapsed() < ROBOTS_FRESH
        {
            return (verdict.clone(), Vec::new());
        }
        let mut answers = Vec::new();
        let verdict = self.read_robots(url, &mut answers).await;
        let entry = (Instant::now(), verdict.clone());
        self.robots.lock().unwrap_or_else(PoisonError::into_inner).insert(origin, entry);
        (verdict, answers)
    }

    /// RFC 9309, 2.3.1: a missing file allows everything, an unreachable one forbids everything.
    async fn read_robots(&self, url: &Url, answers: &mut Vec<ReceivedAnswer>) -> Verdict {
        let unreachable = |why: &str| Verdict::Unreachable(format!("robots.txt: {why}"));
        let Ok(mut at) = url.join("/robots.txt") else { return unreachable("no address") };
        for _ in 0..=ROBOTS_REDIRECTS {
            let turn = self.gates.await_turn(at.host_str().unwrap_or_default()).await;
            let result = self.fetcher.request_page(&at, &Validators::default()).await;
            turn.end_turn(self.delay_between(None));
            let answer = match result {
                Ok(answer) => answer,
                Err(PageFetchError::Refused(refusal @ Refusal::Unresolved(..))) => {
                    return Verdict::Unreachable(refusal.to_string());
                }
                // Only if the origin itself is refused; after a redirect it is the file that is not
                // available.
                Err(PageFetchError::Refused(refusal)) if answers.is_empty() => {
                    return Verdict::Refused(refusal);
                }
                Err(error) => return unreachable(&error.to_string()),
            };
            answers.push(answer.clone());
            match answer.head.status {
                200..=299 => return self.parse_rules(&answer),
                300..=399 => {
                    let target = answer.head.get("location").and_then(|to| at.join(to).ok());
                    let Some(target) = target else { return unreachable("a redirect without a target") };
                    at = target;
                }
                // Not a missing file like the other 4xx: the host asks for fewer requests.
                429 => return unreachable("status 429"),
                400..=499 => return Verdict::Rules(Arc::default()),
                status => return unreachable(&format!("status {status}")),
            }
        }
        unreachable("too many redirects")
    }

    fn parse_rules(&self, answer: &ReceivedAnswer) -> Verdict {
        // A file over the limit is read up to it; a truncated one could lack a rule.
        let body = self.fetcher.decode_answer(answer);
        // Rules that cannot be read must not be taken for none.
        if body.unknown.is_some() && std::str::from_utf8(&body.bytes).is_err() {
            return Verdict::Unreachable("robots.txt: unknown content-encoding".into());
        }
        match matches!(body.truncated, None | Some(Truncated::Length)) || body.bytes.len() >= MAX_BYTES {
            true => Verdict::Rules(Arc::new(Robots::parse(&body.bytes, AGENT))),
            false => Verdict::Unreachable("robots.txt: broken off".into()),
        }
    }
}

fn outcome_of_result(result: Result<ReceivedAnswer, PageFetchError>) -> Outcome {
    match result {
        // Not the page's fault, and possibly temporary: nothing else of the host is available now either.
        Err(PageFetchError::Refused(refusal @ Refusal::Unresolved(..))) => {
            Outcome::Deferred(refusal.to_string())
        }
        Err(PageFetchError::Refused(refusal)) => Outcome::Refused(refusal),
        Err(error) => Outcome::Failed(error.to_string()),
        Ok(answer) if answer.head.status >= 500 => Outcome::Failed(format!("status {}", answer.head.status)),
        Ok(answer) if answer.truncated == Some(Truncated::Disconnect) => {
            Outcome::Failed("the connection broke off".into())
        }
        Ok(answer) => Outcome::Answer(Box::new(answer)),
    }
}
