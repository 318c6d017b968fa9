//! Versions of a release: `MAJOR.MINOR.PATCH`, with `-draft.N` while a human step is missing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A version of a release. Drafts of a version come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version {
    /// Increased when a row is edited, removed or moved.
    pub major: u64,
    /// Increased when rows are added and the old ones are unchanged.
    pub minor: u64,
    /// Increased when the same rows are repackaged.
    pub patch: u64,
    /// The number of a draft, from 1; `None` for a stable version.
    pub draft: Option<u64>,
}

/// How much a release differs from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    /// The same rows in the same order.
    Patch,
    /// Rows were added; every old one is unchanged, and in the old order.
    Minor,
    /// A row was edited, removed or moved.
    Major,
}

/// A text that is not a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version\n  hint: write MAJOR.MINOR.PATCH, such as 1.2.0 or 1.2.0-draft.3")]
pub struct NoVersion(String);

impl Version {
    /// The first version of every set.
    pub const FIRST: Version = Version { major: 1, minor: 0, patch: 0, draft: None };

    /// The stable version of a draft; a stable one is its own.
    pub fn to_stable(self) -> Version {
        Version { draft: None, ..self }
    }

    /// The next stable version.
    pub fn next_stable(self, bump: Bump) -> Version {
        let Version { major, minor, patch, .. } = self;
        match bump {
            Bump::Patch => Version { major, minor, patch: patch + 1, draft: None },
            Bump::Minor => Version { major, minor: minor + 1, patch: 0, draft: None },
            Bump::Major => Version { major: major + 1, minor: 0, patch: 0, draft: None },
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> std::cmp::Ordering {
        let key = |v: &Version| (v.major, v.minor, v.patch, v.draft.unwrap_or(u64::MAX));
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        self.draft.map_or(Ok(()), |n| write!(f, "-draft.{n}"))
    }
}

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Version, NoVersion> {
        let no = || NoVersion(text.to_string());
        let (stable, draft) = match text.split_once("-draft.") {
            Some((stable, n)) => (stable, Some(parse_number(n).filter(|n| *n > 0).ok_or_else(no)?)),
            None => (text, None),
        };
        let parts: Vec<u64> = stable.split('.').map(parse_number).collect::<Option<_>>().ok_or_else(no)?;
        let [major, minor, patch] = parts[..] else { return Err(no()) };
        Ok(Version { major, minor, patch, draft })
    }
}

/// Digits without a leading zero.
fn parse_number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = NoVersion;

    fn try_from(text: String) -> Result<Version, NoVersion> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        for text in ["1.0.0", "0.12.3", "2.0.0-draft.11"] {
            assert_eq!(v(text).to_string(), text);
        }
        for text in
            ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-draft.0", "1.0.0-rc.1", "1.0.x", "+1.0.0", "v1.0.0"]
        {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn drafts_come_before_their_version() {
        let sorted = ["1.0.0-draft.2", "1.0.0-draft.10", "1.0.0", "1.0.1", "1.1.0-draft.1", "2.0.0"].map(v);
        assert!(sorted.is_sorted());
    }

    #[test]
    fn a_bump_starts_the_smaller_numbers_over() {
        assert_eq!(v("1.2.3").next_stable(Bump::Patch), v("1.2.4"));
        assert_eq!(v("1.2.3").next_stable(Bump::Minor), v("1.3.0"));
        assert_eq!(v("1.2.3").next_stable(Bump::Major), v("2.0.0"));
    }
}
