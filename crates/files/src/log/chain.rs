//! The hash chain of a file's lines.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A hash of all lines so far: 128 bits of BLAKE3, as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain([u8; 16]);

/// What precedes the hash in a line.
const MEMBER: &[u8] = b",\"chain\":\"";
/// Hex digits of a hash.
const DIGITS: usize = 32;
/// Length of the member in a line: `,"chain":"…"`.
const LONGER: usize = MEMBER.len() + DIGITS + 1;

impl Chain {
    /// The chain of a file without lines, seeded with its name in raw/, so that lines cannot be moved to
    /// another file.
    pub(super) fn start(name: &str) -> Chain {
        Chain::link(&[b"riddlemill chain v1", name.as_bytes()])
    }

    /// The chain after one more line, given without its member.
    pub(super) fn after(self, line: &[u8]) -> Chain {
        Chain::link(&[&self.0, line])
    }

    fn link(parts: &[&[u8]]) -> Chain {
        let mut hasher = blake3::Hasher::new();
        // Lengths need not be hashed: the first part always has the same length, so the border is known.
        parts.iter().for_each(|part| {
            hasher.update(part);
        });
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Chain(bytes)
    }
}

/// Splits a line into the line without its `chain`, and the chain.
pub(super) fn split(line: &[u8]) -> (Cow<'_, [u8]>, Option<Chain>) {
    // For a shorter line this wraps around to an offset at which `get` finds nothing.
    let at = line.len().wrapping_sub(LONGER + 1);
    let member = line.get(at..).and_then(|end| end.strip_prefix(MEMBER)?.strip_suffix(b"\"}"));
    let Some(hex) = member else { return (Cow::Borrowed(line), None) };
    // An invalid chain matches nothing.
    let chain = std::str::from_utf8(hex).ok().and_then(|hex| hex.parse().ok()).unwrap_or(Chain([0; 16]));
    (Cow::Owned([&line[..at], b"}"].concat()), Some(chain))
}

/// Verifies a file's lines one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// The chain of the lines so far.
    pub(super) chain: Chain,
    /// Whether the last line had one.
    chained: bool,
}

impl Walk {
    pub(super) fn start(name: &str) -> Walk {
        Walk { chain: Chain::start(name), chained: false }
    }

    /// Verifies the next line, given without its line end. Returns it without its `chain`, or what is wrong.
    pub(super) fn step<'l>(&mut self, line: &'l [u8]) -> Result<Cow<'l, [u8]>, &'static str> {
        // An empty line is never valid.
        if line.is_empty() {
            return Ok(Cow::Borrowed(line));
        }
        let (bare, stated) = split(line);
        let after = self.chain.after(&bare);
        match stated {
            Some(stated) if stated != after => return Err("it does not follow from the lines before it"),
            // Otherwise anybody could insert lines without a chain.
            None if self.chained => return Err("it has no chain, and the lines before it do"),
            _ => {}
        }
        *self = Walk { chain: after, chained: self.chained || stated.is_some() };
        Ok(bare)
    }

    /// Whether any line had a chain.
    pub(super) fn is_chained(self) -> bool {
        self.chained
    }

    /// Appends a JSON object to `to` as a line with its chain and line end.
    pub(super) fn write(&mut self, line: &[u8], to: &mut Vec<u8>) {
        *self = Walk { chain: self.chain.after(line), chained: true };
        let open = line.strip_suffix(b"}").unwrap_or(line);
        to.extend_from_slice(open);
        to.extend_from_slice(MEMBER);
        to.extend_from_slice(self.chain.to_string().as_bytes());
        to.extend_from_slice(b"\"}\n");
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Chain {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Chain, Self::Err> {
        let mut bytes = [0; 16];
        // Only lower case, so that there is only one spelling.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err("no chain");
        }
        hex::decode_to_slice(text, &mut bytes).map_err(|_| "no chain")?;
        Ok(Chain(bytes))
    }
}

impl Serialize for Chain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Chain, D::Error> {
        <Cow<'de, str>>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
