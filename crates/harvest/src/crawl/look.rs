//! Requests one page once, under all the rules of a crawl, without storing it.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::sync::Mutex;
use std::time::SystemTime;

use tokio::sync::mpsc::unbounded_channel;
use url::Url;

use super::done::FrontierError;
use super::fetch::{Fetcher, Validators};
use super::gate::Gates;
use super::guard::{Guard, SystemLookup};
use super::journal::Dirs;
use super::run::CrawlError;
use super::settings::{Source, host_and_port};
use super::visit::{Outcome, Visitor};
use crate::pages::time;
use riddlemill_files::fence;

/// A page as received.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedPage {
    /// Its address after redirects.
    pub url: String,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// Its bytes, content-encoding undone.
    pub body: Vec<u8>,
    /// The time of the request, in the archive's format.
    pub date: String,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The site's robots.txt forbids it.
    #[error("robots.txt forbids {0}")]
    Forbidden(Url),
    /// It was not requested, or there was no answer.
    #[error("{url}: {why}")]
    Unanswered {
        /// Its address after redirects.
        url: Url,
        /// The crawl's rule, or the connection's error.
        why: String,
    },
    /// The answer is not a complete page.
    #[error("{0}: the answer is longer than `limits`, or in an unknown encoding")]
    NotWhole(Url),
    /// There are too many redirects.
    #[error("{0}: more redirects than `limits.redirects`")]
    Redirects(Url),
}

/// Whether a crawl may ask the host of an address.
pub fn may_ask(source: &Source, url: &Url) -> bool {
    source
        .resolve_settings()
        .is_ok_and(|resolved| host_and_port(url).is_some_and(|host| resolved.hosts.contains(&host)))
}

/// Requests a page once: robots.txt, hosts, delays and limits are those of the crawl, and while the crawl is
/// running nothing is requested.
///
/// # Errors
/// Wrong settings, or the crawl is running; the inner error if there is no page.
pub async fn request_once(
    source: &Source,
    dirs: &Dirs,
    url: &Url,
) -> Result<Result<ReceivedPage, LookError>, CrawlError> {
    let resolved = source.resolve_settings()?;
    let lock = dirs.journal_path(&source.name).with_extension("lock");
    let wrap = |error| FrontierError::from_io(&lock, error);
    fence::create_folder(&dirs.state).map_err(wrap)?;
    let lock_file = fence::open_with(&lock, OpenOptions::new().create(true).append(true)).map_err(wrap)?;
    if lock_file.try_lock().is_err() {
        return Err(FrontierError::Busy { path: lock }.into());
    }
    let private = source.private_hosts.iter().map(|pair| pair.to_ascii_lowercase()).collect();
    let guard = Guard::new(resolved.hosts, private, std::sync::Arc::new(SystemLookup));
    let fetcher = Fetcher::new(guard, &resolved.user_agent, &source.limits).map_err(CrawlError::Client)?;
    let (events, _heard) = unbounded_channel();
    let visitor = Visitor {
        fetcher,
        gates: Gates::default(),
        politeness: source.politeness.clone(),
        events,
        strain: Mutex::new(HashMap::new()),
        robots: Mutex::new(HashMap::new()),
    };
    let mut at = url.clone();
    for _ in 0..=source.limits.redirects {
        let answer = match visitor.visit(&at, &Validators::default()).await.0 {
            Outcome::Answer(answer) => answer,
            Outcome::Disallowed => return Ok(Err(LookError::Forbidden(at))),
            Outcome::Refused(refusal) => {
                return Ok(Err(LookError::Unanswered { url: at, why: refusal.to_string() }));
            }
            Outcome::Deferred(why)
            | Outcome::Failed(why)
            | Outcome::Throttled(why)
            | Outcome::Cut(_, why) => {
                return Ok(Err(LookError::Unanswered { url: at, why }));
            }
        };
        let status = answer.head.status;
        let target = answer.head.get("location").and_then(|to| at.join(to).ok());
        if let Some(target) = target.filter(|_| (300..400).contains(&status)) {
            at = target;
            continue;
        }
        let body = visitor.fetcher.decode_answer(&answer);
        if body.truncated.is_some() {
            return Ok(Err(LookError::NotWhole(at)));
        }
        return Ok(Ok(ReceivedPage {
            url: at.into(),
            status,
            content_type: answer.head.get("content-type").map(str::to_owned),
            body: body.bytes,
            date: time::utc_micros(SystemTime::max(answer.began, SystemTime::UNIX_EPOCH)),
        }));
    }
    Ok(Err(LookError::Redirects(url.clone())))
}
