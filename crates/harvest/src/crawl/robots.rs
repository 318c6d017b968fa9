//! robots.txt by RFC 9309, with `Crawl-delay`.
//!
//! Own code, because the maintained parsers either lack `Crawl-delay` or compile rules to regular
//! expressions, whose cost a hostile file controls.

use std::time::Duration;

use crate::pages::pattern::{is_match, normalise_octets};

/// Bytes that are read; the RFC requires at least this many.
pub const MAX_BYTES: usize = 500 << 10;

/// A file's rules for one crawler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    /// Time to leave between requests.
    pub crawl_delay: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    pattern: Vec<u8>,
}

impl Robots {
    /// Reads a file for the crawler whose product token is `agent`.
    ///
    /// Groups that name it are joined; without one, those of `*` apply. Bytes beyond [`MAX_BYTES`] and the
    /// line they cut are ignored.
    pub fn parse(bytes: &[u8], agent: &str) -> Robots {
        // A byte order mark would hide the name of the first field.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let bytes = match bytes.get(..MAX_BYTES) {
            Some(head) => &head[..head.iter().rposition(|b| matches!(b, b'\n' | b'\r')).unwrap_or(0)],
            None => bytes,
        };
        let (mut named, mut general) = (Robots::default(), Robots::default());
        let mut found = false;
        // Which of the two the current group applies to.
        let (mut for_named, mut for_general) = (false, false);
        let mut in_agents = false;
        for line in bytes.split(|b| matches!(b, b'\n' | b'\r')) {
            let line = line.split(|&b| b == b'#').next().unwrap_or_default();
            let Some(colon) = line.iter().position(|&b| b == b':') else { continue };
            let key = line[..colon].trim_ascii().to_ascii_lowercase();
            let value = line[colon + 1..].trim_ascii();
            match key.as_slice() {
                b"user-agent" => {
                    // Several `User-agent` in a row share a group; one after a rule begins another.
                    if !in_agents {
                        (for_named, for_general) = (false, false);
                    }
                    in_agents = true;
                    let ours = product_token(value).eq_ignore_ascii_case(agent.as_bytes());
                    found |= ours;
                    for_named |= ours;
                    for_general |= value.starts_with(b"*");
                }
                b"allow" | b"disallow" | b"crawl-delay" => {
                    in_agents = false;
                    for (wanted, robots) in [(for_named, &mut named), (for_general, &mut general)] {
                        if wanted {
                            robots.add(&key, value);
                        }
                    }
                }
                // Sitemap and other fields belong to no group and do not end one.
                _ => {}
            }
        }
        if found { named } else { general }
    }

    fn add(&mut self, key: &[u8], value: &[u8]) {
        if key == b"crawl-delay" {
            let secs = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
            // A negative number would panic, and more than a day is a mistake of the file.
            let delay = secs.filter(|s| (0.0..=86_400.0).contains(s)).map(Duration::from_secs_f64);
            self.crawl_delay = self.crawl_delay.max(delay);
        } else if !value.is_empty() {
            // An empty value is left out, because an empty `Disallow` forbids nothing.
            self.rules.push(Rule { allow: key == b"allow", pattern: normalise_octets(value) });
        }
    }

    /// Whether a path with its query may be fetched: the longest pattern that matches decides,
    /// `Allow` among equals. robots.txt itself always may.
    pub fn is_allowed(&self, path_and_query: &str) -> bool {
        if path_and_query == "/robots.txt" {
            return true;
        }
        let path = normalise_octets(path_and_query.as_bytes());
        let matching = self.rules.iter().filter(|rule| is_match(&rule.pattern, &path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allow)).is_none_or(|rule| rule.allow)
    }
}

/// The product token: `riddlemill` of `riddlemill/1.0 (x)`.
fn product_token(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|b| !(b.is_ascii_alphabetic() || matches!(b, b'_' | b'-')));
    &value[..end.unwrap_or(value.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(text: &str, path: &str) -> bool {
        Robots::parse(text.as_bytes(), "riddlemill").is_allowed(path)
    }

    #[test]
    fn the_own_group_replaces_the_general_one_and_groups_are_joined() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-Agent: RiddleMill/2.0\nDisallow: /a\n\nuser-agent: riddlemill\nDisallow: /b\nCrawl-delay: 2.5";
        assert!(allows(text, "/"));
        assert!(!allows(text, "/a/x"));
        assert!(!allows(text, "/b"));
        assert_eq!(
            Robots::parse(text.as_bytes(), "riddlemill").crawl_delay,
            Some(Duration::from_millis(2500))
        );
        assert!(!Robots::parse(text.as_bytes(), "third").is_allowed("/c"));
        // A longer name is another crawler.
        assert!(allows("User-agent: riddlemillion\nDisallow: /", "/"));
    }

    #[test]
    fn the_longest_match_wins_and_allow_among_equals() {
        let text = "User-agent: *\nDisallow: /p\nAllow: /p/1\nAllow: /q\nDisallow: /q\nDisallow: /*?fr=\nDisallow: *.gif$\nDisallow:";
        for (path, want) in [
            ("/p", false),
            ("/p/2", false),
            ("/p/1", true),
            ("/p/11", true),
            ("/q", true),
            ("/x?fr=1", false),
            ("/x", true),
            ("/i.gif", false),
            ("/i.gif?x", true),
            ("/robots.txt", true),
        ] {
            assert_eq!(allows(text, path), want, "{path}");
        }
    }

    #[test]
    fn octets_have_one_spelling() {
        let text =
            "User-agent: *\nDisallow: /f?kw=%e5%bc%b1\nDisallow: /%7Ejoe\nDisallow: /弱\nDisallow: /a%2Fb";
        for path in ["/f?kw=%E5%BC%B1%E6", "/~joe/", "/%E5%BC%B1", "/a%2fb"] {
            assert!(!allows(text, path), "{path}");
        }
        assert!(allows(text, "/a/b"));
    }

    #[test]
    fn marks_line_ends_comments_and_sitemaps_do_not_confuse() {
        let text =
            "\u{feff}User-agent: * # all\r\nSitemap: http://x/s.xml\rDisallow: /a # not this\r\nnonsense\n";
        assert!(!allows(text, "/a"));
        assert!(allows(text, "/b"));
        assert!(allows("", "/"));
        assert!(allows("<html>not found</html>", "/"));
    }

    #[test]
    fn only_the_first_500_kib_count_and_a_cut_line_does_not() {
        let filler = "# comment comment comment comment\n".repeat(MAX_BYTES / 34 + 1);
        let cut = filler.len() - MAX_BYTES;
        let text = format!("User-agent: *\nDisallow: /early\n{}Disallow: /late\n", &filler[..]);
        assert!(cut < 40);
        assert!(!allows(&text, "/early"));
        assert!(allows(&text, "/late"));
    }

    #[test]
    fn hostile_patterns_cost_little() {
        let pattern = "/".to_string() + &"*a".repeat(2000) + "$";
        let path = "/".to_string() + &"a".repeat(4000) + "b";
        assert!(allows(&format!("User-agent: *\nDisallow: {pattern}"), &path));
    }
}
