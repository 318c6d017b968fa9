//! Places: where in a dump a record is.

use std::fmt;
use std::str::FromStr;

/// The place of a record: a dump, a position in it, and on a page the number of a post.
///
/// In ledgers the dump is `source/file`. People may leave out the file: `recommended:17` is that position in every
/// file of the source. A place looks like some ids, so only the dumps of a workspace tell which of the two is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Locator {
    dump: String,
    position: u64,
    /// Whether it is the damage behind that position.
    damaged: bool,
    part: Option<Part>,
}

/// A record that shares its position with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    /// The post of a page with this number, from 1.
    Post(u64),
    /// A post of a page, counted from 1 among those that an earlier item had already.
    Again(u64),
}

impl Locator {
    /// A position in a dump, `source/file`.
    pub fn new(dump: impl Into<String>, position: u64) -> Locator {
        Locator { dump: dump.into(), position, damaged: false, part: None }
    }

    /// The post with this number on a page, from 1.
    pub fn post_on_page(self, number: u64) -> Locator {
        Locator { part: Some(Part::Post(number)), ..self }
    }

    /// The dump as it was named: `source/file`, or the source alone.
    pub fn dump(&self) -> &str {
        &self.dump
    }

    /// The position in the dump.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether it is one post of a page.
    pub fn is_of_page(&self) -> bool {
        self.part.is_some()
    }

    /// Its page, or itself if it is on none.
    pub fn page_locator(&self) -> Locator {
        Locator { part: None, ..self.clone() }
    }

    /// Whether its dump is this file of this source, by both or by the source alone.
    pub fn is_in_file(&self, source: &str, file: &str) -> bool {
        let rest = self.dump.strip_prefix(source);
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('/') == Some(file))
    }

    /// The same position in a dump, `source/file`.
    pub fn with_dump(&self, dump: impl Into<String>) -> Locator {
        Locator { dump: dump.into(), ..self.clone() }
    }

    /// Whether a record at this place is meant by the other one: it is the same, or the page that this one is on.
    pub fn is_at(&self, other: &Locator) -> bool {
        self == other || other.part.is_none() && self.page_locator() == *other
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.dump, self.position)?;
        if self.damaged {
            f.write_str("+")?;
        }
        match self.part {
            None => Ok(()),
            Some(Part::Post(number)) => write!(f, "#{number}"),
            Some(Part::Again(number)) => write!(f, "#again{number}"),
        }
    }
}

/// A text is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a place is SOURCE:LINE or SOURCE/FILE:LINE, for a post of a page with #NUMBER behind it")]
pub struct NoLocator;

impl FromStr for Locator {
    type Err = NoLocator;

    fn from_str(text: &str) -> Result<Locator, NoLocator> {
        // The name of a file may contain colons; a position contains none.
        let (dump, rest) = text.rsplit_once(':').filter(|(dump, _)| !dump.is_empty()).ok_or(NoLocator)?;
        let (position, part) = rest.split_once('#').map_or((rest, None), |(at, part)| (at, Some(part)));
        let digits = position.strip_suffix('+').unwrap_or(position);
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| plain).ok_or(NoLocator)
        };
        let part = match part {
            None => None,
            Some(part) => Some(match part.strip_prefix("again") {
                Some(again) => Part::Again(number(again)?),
                None => Part::Post(number(part)?),
            }),
        };
        Ok(Locator { dump: dump.into(), position: number(digits)?, damaged: digits != position, part })
    }
}

impl serde::Serialize for Locator {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_place_comes_back_from_its_text(
            dump in "[a-z:#/.+\u{4e00}-\u{4e10}]{1,12}", position in any::<u64>(), post in proptest::option::of(any::<u64>()),
        ) {
            let mut place = Locator::new(dump, position);
            if let Some(number) = post {
                place = place.post_on_page(number);
            }
            prop_assert_eq!(place.to_string().parse(), Ok(place));
        }
    }

    #[test]
    fn what_the_ledger_of_import_calls_a_place_is_read() {
        for text in
            ["a/b.jsonl:17", "a/b.warc.gz:1200+", "a/b:3#2", "a/b:3#again1", "贴吧:5", "a/2020:x.json:4"]
        {
            assert_eq!(text.parse::<Locator>().map(|place| place.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "a", ":5", "a:", "a:x", "a:5#", "a:5#x", "a:+5", "a:５", "a:5#2#3"] {
            assert_eq!(text.parse::<Locator>(), Err(NoLocator), "{text}");
        }
    }

    #[test]
    fn a_dump_is_named_by_its_source_alone_or_with_its_file() {
        let place = |text: &str| text.parse::<Locator>().unwrap();
        assert!(place("a:5").is_in_file("a", "x.json") && place("a/x.json:5").is_in_file("a", "x.json"));
        assert!(!place("a/y.json:5").is_in_file("a", "x.json") && !place("ab:5").is_in_file("a", "x.json"));
        assert!(place("a/x:5#2").is_at(&place("a/x:5")) && !place("a/x:5#2").is_at(&place("a/x:5#1")));
        assert!(!place("a/x:5").is_at(&place("a/x:5#1")));
    }
}
