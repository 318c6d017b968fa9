//! A crawl's settings.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use crate::pages::tieba::Address;
use crate::pages::{Site, pattern};
use riddlemill_files::path_inside;
use riddlemill_schema::{Form, Kind, Setting, ValueHint, default_table, table};

const TIEBA: &str = "https://tieba.baidu.com";

table! {
    /// One source to crawl.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Source in "crawl": "[[crawl]]: pages that `crawl` fetches into raw/warc. name, seeds and contact suffice." {
        name: String = "", "The name of its archive folder, and the argument of `crawl`.";
        site: Site = "plain", "The kind of site: one of these, a name from `riddlemill profiles list`, or { profile = { … } }; plain pages are stored but not parsed.";
        base: Option<String>, "Scheme and host of `forum` and `thread` seeds; default: Tieba's.";
        seeds: Vec<Seed> [form "a list of tables, [{ url = \"…\" }]"] = [], "Where to start: [{ forum = \"…\" }, { good_forum = \"…\" }, { thread = 1 }, { url = \"…\" }, { sitemap = \"…\" }, { url_file = \"…\" }].";
        // There is no default: the site's owner must be able to reach whoever crawls.
        contact: String = "", "Your e-mail address or web page; it is sent with every request.";
        scope: Scope, "The extent of the crawl.";
        politeness: Politeness, "Delays and retries.";
        limits: Limits, "Limits on one answer.";
        refresh: Refresh = false, "Start another pass over a finished crawl: \"changed\" fetches lists and threads with new posts, the last page first, \"all\" requests every page again; like `crawl --refresh`.";
        private_hosts: Vec<String> = [], "For tests: host:port pairs that may be private addresses.";
    }
}

impl Default for Source {
    fn default() -> Source {
        default_table()
    }
}

impl Setting for Site {
    const KIND: Kind = Kind::Form(&Form {
        expected: "one of tieba, riddles, rd, plain, the name of a profile, or { profile = { … } }",
        // Names are looked up in the workspace.
        check: |value| match value.is_string() || value.get("profile").is_some() {
            true => Ok(()),
            false => Err(ValueHint::Nothing),
        },
        is_text: false,
    });
}

impl Setting for Refresh {
    const KIND: Kind = Kind::Form(&Form {
        expected: "false, \"changed\" or \"all\"",
        check: |value| Refresh::deserialize(value).map(drop).map_err(|_| ValueHint::Nothing),
        is_text: false,
    });
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
        enum Written {
            Flag(bool),
            Word(String),
        }
        match Written::deserialize(from)? {
            Written::Flag(false) => Ok(Refresh::No),
            Written::Flag(true) => Ok(Refresh::All),
            Written::Word(word) if word == "changed" => Ok(Refresh::Changed),
            Written::Word(word) if word == "all" => Ok(Refresh::All),
            Written::Word(word) => Err(serde::de::Error::custom(format!("not {word:?}"))),
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

table! {
    /// The extent of a crawl.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Scope in "scope": "The extent of the crawl." {
        // `host`, or `host:port` for ports other than 80 and 443.
        hosts: Vec<String> = [], "Hosts besides those of the seeds.";
        // `*` is any run and `$` the end, of path and query, or of the whole address if it begins with `http`.
        include: Vec<String> = [], "Patterns; only linked pages that match one are fetched: \"/thread-*\", \"*.html$\", \"https://…\".";
        exclude: Vec<String> = [], "Patterns; linked pages that match one are not fetched. Seeds always are.";
        max_pages: u64 [Whole(1, i64::MAX)] = 100000, "The most pages of a pass.";
        max_list_pages: Option<u64> [Whole(1, i64::MAX)], "The most pages of one list.";
        comments: bool = true, "Whether nested replies are fetched.";
    }
}

impl Default for Scope {
    fn default() -> Scope {
        default_table()
    }
}

impl Scope {
    /// Whether a linked page is requested.
    pub(super) fn is_in_scope(&self, url: &Url) -> bool {
        (self.include.is_empty() || pattern::is_any_match(&self.include, url))
            && !pattern::is_any_match(&self.exclude, url)
    }
}

table! {
    /// Delays and retries for a host. A longer `Crawl-delay` in robots.txt is respected.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Politeness in "politeness": "Delays and retries." {
        delay_secs: f64 = 2.0, "The pause from the end of an answer to the next request.";
        retries: u32 = 3, "Further attempts after 429, 503 or a timeout.";
        // Up to half of it is added at random.
        backoff_secs: f64 = 5.0, "The wait before the first retry; it doubles.";
        retry_after_cap_secs: u64 = 900, "The longest wait of a Retry-After.";
        refusals: u32 [Whole(1, i64::MAX)] = 5, "How many pages in a row refused with 403 count as a block.";
    }
}

impl Default for Politeness {
    fn default() -> Politeness {
        default_table()
    }
}

table! {
    /// Limits on one answer.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Limits in "limits": "Limits on one answer." {
        wire_bytes: u64 [Whole(1, i64::MAX)] = 16777216, "The most bytes of an answer as sent.";
        decoded_bytes: u64 [Whole(1, i64::MAX)] = 33554432, "The most bytes of an answer once decoded.";
        redirects: u32 = 5, "The most redirects in a row.";
        total_secs: f64 = 60.0, "Time limit from the request to the end of the answer.";
        idle_secs: f64 = 20.0, "Time limit without a byte.";
        segment_bytes: u64 [Whole(1, i64::MAX)] = 1073741824, "The most bytes of one archive file.";
    }
}

impl Default for Limits {
    fn default() -> Limits {
        default_table()
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
    pub fn with_root(mut self, root: &Path) -> Source {
        for seed in &mut self.seeds {
            if let Seed::UrlFile(path) = seed {
                *path = root.join(&*path);
            }
        }
        self
    }

    /// Checks everything and reads URL files.
    pub(super) fn resolve_settings(&self) -> Result<Resolved, SettingsError> {
        let mut problems = Vec::new();
        // Whether the name can be that of a folder and a file.
        let plain = path_inside(Path::new("raw/warc"), &self.name).is_ok();
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
            match self.starts_of_seed(seed) {
                Ok(mut found) => starts.append(&mut found),
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        if self.seeds.is_empty() {
            problems.push("`seeds` is empty".into());
        }
        let own = starts.iter().filter_map(|start| host_and_port(&start.url));
        let hosts = self.scope.hosts.iter().map(|host| host.to_ascii_lowercase()).chain(own).collect();
        if !problems.is_empty() {
            return Err(SettingsError { name: self.name.clone(), problems });
        }
        let user_agent = format!("riddlemill/{} (+{contact})", env!("CARGO_PKG_VERSION"));
        Ok(Resolved { starts, hosts, user_agent })
    }

    fn starts_of_seed(&self, seed: &Seed) -> Result<Vec<Start>, SeedError> {
        let base = || {
            let base = self.base.as_deref().unwrap_or(TIEBA);
            Url::parse(base).map_err(SeedError::Base)
        };
        let on_base = |address: Address| {
            let base = base()?;
            address.url_on_base(&base).ok_or(SeedError::NoPaths(base))
        };
        let list =
            |forum: &str, good| on_base(Address::List { forum: forum.into(), good, cid: None, offset: 0 });
        let page = |url| Start { url, sitemap: false };
        Ok(match seed {
            Seed::Forum(forum) => vec![page(list(forum, false)?)],
            Seed::GoodForum(forum) => vec![page(list(forum, true)?)],
            Seed::Thread(tid) => vec![page(on_base(Address::Thread { tid: *tid, page: 1 })?)],
            Seed::Url(url) => vec![page(parse_url(url)?)],
            Seed::Sitemap(url) => vec![Start { url: parse_url(url)?, sitemap: true }],
            Seed::UrlFile(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|source| SeedError::File { path: path.clone(), source })?;
                let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
                let lines = lines
                    .map(|(n, line)| (n + 1, line.trim()))
                    .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
                let read = |(number, line)| match parse_url(line) {
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

fn parse_url(url: &str) -> Result<Url, SeedError> {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.host_str().is_some() => {
            Ok(parsed)
        }
        Ok(_) => Err(SeedError::Scheme(url.to_owned())),
        Err(source) => Err(SeedError::Address { url: url.to_owned(), source }),
    }
}

/// `host`, or `host:port` if the port is not the scheme's default.
pub(super) fn host_and_port(url: &Url) -> Option<String> {
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
        let problems = source.resolve_settings().unwrap_err().problems;
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
        let resolved = source.resolve_settings().unwrap();
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
