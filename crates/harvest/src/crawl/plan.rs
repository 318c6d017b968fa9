//! What a crawl would do, without doing it.

use serde::Serialize;

use super::frontier::Frontier;
use super::journal::Dirs;
use super::run::CrawlError;
use super::settings::Source;

/// A crawl before its first request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The source's name.
    pub source: String,
    /// Sent with every request.
    pub user_agent: String,
    /// Addresses it starts from.
    pub starts: Vec<String>,
    /// Hosts it may ask; a request anywhere else is refused.
    pub hosts: Vec<String>,
    /// Shortest time between two requests to a host; robots.txt may demand more.
    pub delay_secs: f64,
    /// Most pages that a pass fetches.
    pub max_pages: u64,
    pub pass: u32,
    /// Pages that earlier runs of this pass finished.
    pub done: u64,
    /// Known pending pages. More follow from them.
    pub pending: u64,
    /// The first of those.
    pub next: Vec<String>,
    /// The shortest time that the known pages take, from the delay alone.
    pub least_secs: f64,
}

/// Reports what [`run`](super::run) would do. Nothing is contacted, locked or written.
///
/// # Errors
/// Wrong settings, or an archive that cannot be read.
pub fn plan_crawl(source: &Source, dirs: &Dirs) -> Result<Plan, CrawlError> {
    let resolved = source.resolve_settings()?;
    let frontier = Frontier::peek(source, &resolved, dirs)?;
    let pending = frontier.pending_urls().count() as u64;
    let longest = frontier.queue_lengths().max().unwrap_or(0);
    Ok(Plan {
        source: source.name.clone(),
        user_agent: resolved.user_agent,
        starts: resolved.starts.iter().map(|start| start.url.to_string()).collect(),
        hosts: resolved.hosts.into_iter().collect(),
        delay_secs: source.politeness.delay_secs,
        max_pages: source.scope.max_pages,
        pass: frontier.pass(),
        done: frontier.count_done(),
        pending,
        next: frontier.pending_urls().take(10).map(|url| url.to_string()).collect(),
        least_secs: longest as f64 * source.politeness.delay_secs,
    })
}
