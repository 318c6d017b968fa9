//! A crawl's settings.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use crate::pages::tieba::Address;
use crate::pages::{Site, pattern};
use riddlemill_files::inside;

const TIEBA: &str = "https://tieba.baidu.com";

/// One source to crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Source {
    /// The name of its archive's folder.
    pub name: String,
    /// The site, which determines how pages are parsed.
    pub site: Site,
    /// Scheme and host of `forum` and `thread` seeds; Tieba's own by default.
    pub base: Option<String>,
    /// The starting points.
    pub seeds: Vec<Seed>,
    /// The extent of the crawl.
    pub scope: Scope,
    /// Delays and retries.
    pub politeness: Politeness,
    /// Limits on one answer.
    pub limits: Limits,
    /// An e-mail address or web page where the site's owner can reach the crawl's operator. Sent with every
    /// request; there is no default.
    pub contact: String,
    /// Whether a finished crawl begins another pass, and what that requests.
    pub refresh: Refresh,
    /// For tests: `host:port` pairs that may resolve to private addresses.
    pub private_hosts: Vec<String>,
}

/// What another pass over a finished crawl requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refresh {
    /// There is no other pass.
    #[default]
    No,
    /// Lists as long as they show changes, and for threads with new posts the last page and what follows.
    Changed,
    /// Every page, and whether it changed.
    All,
}

impl Serialize for Refresh {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Refresh::No => to.serialize_bool(false),
            Refresh::Changed => to.serialize_str("changed"),
            Refresh::All => to.serialize_str("all"),
        }
    }
}

impl<'de> Deserialize<'de> for Refresh {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Refresh, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Setting {
            Flag(bool),
            Word(String),
        }
        match Setting::deserialize(from)? {
            Setting::Flag(false) => Ok(Refresh::No),
            Setting::Flag(true) => Ok(Refresh::All),
            Setting::Word(word) if word == "changed" => Ok(Refresh::Changed),
            Setting::Word(word) if word == "all" => Ok(Refresh::All),
            Setting::Word(word) => Err(serde::de::Error::custom(format!(
                "refresh: expected false, \"changed\" or \"all\", not {word:?}"
            ))),
        }
    }
}

/// A starting point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seed {
    /// A forum's whole list, by name.
    Forum(String),
    /// A forum's recommended threads.
    GoodForum(String),
    Thread(u64),
    /// Any page.
    Url(String),
    /// A sitemap or an index of sitemaps.
    Sitemap(String),
    /// A file with one address per line; `#` starts a comment.
    UrlFile(PathBuf),
}

/// The extent of a crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// Hosts in addition to those of the seeds: `host`, or `host:port` for ports other than 80 and 443.
    pub hosts: Vec<String>,
    /// Of linked pages, only those whose address matches one; all, if empty. `*` is any run and `$` the end,
    /// of path and query, or of the whole address if it begins with `http`.
    pub include: Vec<String>,
    /// No linked page whose address matches one. Seeds are always requested.
    pub exclude: Vec<String>,
    /// Most pages that a pass fetches.
    pub max_pages: u64,
    /// The most pages of one list.
    pub max_list_pages: Option<u64>,
    /// Whether nested replies are fetched.
    pub comments: bool,
}

impl Default for Scope {
    fn default() -> Self {
        Scope {
            hosts: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            max_pages: 100_000,
            max_list_pages: None,
            comments: true,
        }
    }
}

impl Scope {
    /// Whether a linked page is requested.
    pub(super) fn takes(&self, url: &Url) -> bool {
        (self.include.is_empty() || pattern::any(&self.include, url)) && !pattern::any(&self.exclude, url)
    }
}

/// Delays and retries for a host. A longer `Crawl-delay` in robots.txt is respected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Politeness {
    /// From the end of one answer to the next request.
    pub delay_secs: f64,
    /// Further attempts after 429, 503 or a timeout.
    pub retries: u32,
    /// Wait before the first of them; it doubles, with up to half of it added at random.
    pub backoff_secs: f64,
    /// Longest wait a `Retry-After` can impose.
    pub retry_after_cap_secs: u64,
    /// How many pages in a row refused with 403 count as a block.
    pub refusals: u32,
}

impl Default for Politeness {
    fn default() -> Self {
        Politeness { delay_secs: 2.0, retries: 3, backoff_secs: 5.0, retry_after_cap_secs: 900, refusals: 5 }
    }
}

/// Limits on one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a body as sent.
    pub wire_bytes: u64,
    /// Bytes of a body after its content-encoding is undone.
    pub decoded_bytes: u64,
    /// Redirects in a row.
    pub redirects: u32,
    /// From the request to the end of the answer.
    pub total_secs: f64,
    /// Without a byte.
    pub idle_secs: f64,
    /// Bytes of one archive file before the next is begun.
    pub segment_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            wire_bytes: 16 << 20,
            decoded_bytes: 32 << 20,
            redirects: 5,
            total_secs: 60.0,
            idle_secs: 20.0,
            segment_bytes: 1 << 30,
        }
    }
}

/// Errors in the settings, all at once.
#[derive(Debug, thiserror::Error)]
#[error("crawl source `{name}`: {}", problems.join("; "))]
pub struct SettingsError {
    /// The source.
    pub name: String,
    /// Each with a hint.
    pub problems: Vec<String>,
}

/// Why a seed has no address to begin at.
#[derive(Debug, thiserror::Error)]
enum SeedError {
    /// The site's own address is none.
    #[error("`base` is not an address: {0}")]
    Base(url::ParseError),
    /// Forums and threads are paths below the site's address.
    #[error("`base` cannot hold paths: {0}")]
    NoPaths(Url),
    /// The file of addresses cannot be read.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A line of that file has no address.
    #[error("{}:{number}: {source}", path.display())]
    Line { path: PathBuf, number: usize, source: Box<SeedError> },
    /// Not on the web.
    #[error("`{0}` is not an http or https address")]
    Scheme(String),
    /// Not an address at all.
    #[error("`{url}` is not an address: {source}")]
    Address { url: String, source: url::ParseError },
}

/// A starting point's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub url: Url,
    pub sitemap: bool,
}

/// Validated settings.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub starts: Vec<Start>,
    /// `host` or `host:port`, in lower case.
    pub hosts: BTreeSet<String>,
    pub user_agent: String,
}

impl Source {
    /// The same source with the paths of its URL files relative to `root`.
    pub fn at(mut self, root: &Path) -> Source {
        for seed in &mut self.seeds {
            if let Seed::UrlFile(path) = seed {
                *path = root.join(&*path);
            }
        }
        self
    }

    /// Checks everything and reads URL files.
    pub(super) fn resolve(&self) -> Result<Resolved, SettingsError> {
        let mut problems = Vec::new();
        // Whether the name can be that of a folder and a file.
        let plain = inside(Path::new("raw/warc"), &self.name).is_ok();
        if !plain || self.name.contains('/') || self.name.starts_with('.') {
            problems.push("`name` must be a plain folder name".into());
        }
        let contact = self.contact.trim();
        let reachable =
            contact.contains('@') || contact.starts_with("http://") || contact.starts_with("https://");
        if !reachable || contact.chars().any(|c| c.is_control() || !c.is_ascii()) {
            problems.push("`contact` must be an e-mail address or a web page (ASCII) where the site's owner reaches you".into());
        }
        let numbers = [
            self.politeness.delay_secs,
            self.politeness.backoff_secs,
            self.limits.total_secs,
            self.limits.idle_secs,
        ];
        if numbers.iter().any(|n| !(0.0..=1e6).contains(n)) {
            problems.push("times must lie between 0 and 1000000 seconds".into());
        }
        for pattern in self.scope.include.iter().chain(&self.scope.exclude) {
            if !["/", "*", "http://", "https://"].iter().any(|start| pattern.starts_with(start)) {
                problems.push(format!(
                    "the pattern `{pattern}` of `scope` matches no address; it begins with `/`, `*` or `http`"
                ));
            }
        }
        let mut starts = Vec::new();
        for seed in &self.seeds {
            match self.start(seed) {
                Ok(mut found) => starts.append(&mut found),
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        if self.seeds.is_empty() {
            problems.push("`seeds` is empty".into());
        }
        let own = starts.iter().filter_map(|start| authority(&start.url));
        let hosts = self.scope.hosts.iter().map(|host| host.to_ascii_lowercase()).chain(own).collect();
        if !problems.is_empty() {
            return Err(SettingsError { name: self.name.clone(), problems });
        }
        let user_agent = format!("riddlemill/{} (+{contact})", env!("CARGO_PKG_VERSION"));
        Ok(Resolved { starts, hosts, user_agent })
    }

    fn start(&self, seed: &Seed) -> Result<Vec<Start>, SeedError> {
        let base = || {
            let base = self.base.as_deref().unwrap_or(TIEBA);
            Url::parse(base).map_err(SeedError::Base)
        };
        let on_base = |address: Address| {
            let base = base()?;
            address.on(&base).ok_or(SeedError::NoPaths(base))
        };
        let list =
            |forum: &str, good| on_base(Address::List { forum: forum.into(), good, cid: None, offset: 0 });
        let page = |url| Start { url, sitemap: false };
        Ok(match seed {
            Seed::Forum(forum) => vec![page(list(forum, false)?)],
            Seed::GoodForum(forum) => vec![page(list(forum, true)?)],
            Seed::Thread(tid) => vec![page(on_base(Address::Thread { tid: *tid, page: 1 })?)],
            Seed::Url(url) => vec![page(parse(url)?)],
            Seed::Sitemap(url) => vec![Start { url: parse(url)?, sitemap: true }],
            Seed::UrlFile(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| SeedError::File { path: path.clone(), source })?;
                let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
                let lines = lines
                    .map(|(n, line)| (n + 1, line.trim()))
                    .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
                let read = |(number, line)| match parse(line) {
                    Ok(url) => Ok(page(url)),
                    Err(source) => {
                        Err(SeedError::Line { path: path.clone(), number, source: Box::new(source) })
                    }
                };
                lines.map(read).collect::<Result<_, _>>()?
            }
        })
    }
}

fn parse(url: &str) -> Result<Url, SeedError> {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.host_str().is_some() => {
            Ok(parsed)
        }
        Ok(_) => Err(SeedError::Scheme(url.to_owned())),
        Err(source) => Err(SeedError::Address { url: url.to_owned(), source }),
    }
}

/// `host`, or `host:port` if the port is not the scheme's default.
pub(super) fn authority(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_named_at_once() {
        let source = Source {
            name: "../x".into(),
            seeds: vec![Seed::Url("file:///etc/passwd".into()), Seed::Thread(1)],
            ..Source::default()
        };
        let problems = source.resolve().unwrap_err().problems;
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn seeds_become_addresses_and_their_hosts_are_in_scope() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("urls.txt");
        std::fs::write(&list, "\u{feff}# mine\r\nhttps://a.example/1\r\n\r\nhttp://b.example:8080/2")
            .unwrap();
        let source = Source {
            name: "x".into(),
            contact: "me@example.org".into(),
            seeds: vec![Seed::GoodForum("弱智".into()), Seed::UrlFile(list)],
            ..Source::default()
        };
        let resolved = source.resolve().unwrap();
        assert_eq!(resolved.starts[0].url.path(), "/f");
        let hosts: Vec<&str> = resolved.hosts.iter().map(String::as_str).collect();
        assert_eq!(hosts, ["a.example", "b.example:8080", "tieba.baidu.com"]);
        assert!(resolved.user_agent.ends_with("(+me@example.org)"));
    }

    #[test]
    fn settings_read_as_people_write_them() {
        let text = r#"{"name":"t","site":"tieba","contact":"a@b","seeds":[{"thread":5},{"forum":"x"}],"scope":{"comments":false}}"#;
        let source: Source = serde_json::from_str(text).unwrap();
        assert_eq!(source.seeds, [Seed::Thread(5), Seed::Forum("x".into())]);
        assert!(serde_json::from_str::<Source>(r#"{"nmae":"t"}"#).is_err());
    }
}
