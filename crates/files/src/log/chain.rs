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
    pub(super) fn start_chain(name: &str) -> Chain {
        Chain::hash_parts(&[b"riddlemill chain v1", name.as_bytes()])
    }

    /// The chain after one more line, given without its member.
    pub(super) fn after_line(self, line: &[u8]) -> Chain {
        Chain::hash_parts(&[&self.0, line])
    }

    fn hash_parts(parts: &[&[u8]]) -> Chain {
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
pub(super) fn split_chain(line: &[u8]) -> (Cow<'_, [u8]>, Option<Chain>) {
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
    pub(super) fn start_walk(name: &str) -> Walk {
        Walk { chain: Chain::start_chain(name), chained: false }
    }

    /// Verifies the next line, given without its line end. Returns it without its `chain`, or what is wrong.
    pub(super) fn verify_line<'l>(&mut self, line: &'l [u8]) -> Result<Cow<'l, [u8]>, &'static str> {
        // An empty line is never valid.
        if line.is_empty() {
            return Ok(Cow::Borrowed(line));
        }
        let (bare, stated) = split_chain(line);
        let after = self.chain.after_line(&bare);
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
    pub(super) fn append_chained(&mut self, line: &[u8], buffer: &mut Vec<u8>) {
        *self = Walk { chain: self.chain.after_line(line), chained: true };
        let open = line.strip_suffix(b"}").unwrap_or(line);
        buffer.extend_from_slice(open);
        buffer.extend_from_slice(MEMBER);
        buffer.extend_from_slice(self.chain.to_string().as_bytes());
        buffer.extend_from_slice(b"\"}\n");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_hangs_on_the_name_and_on_every_line() {
        let start = Chain::start_chain("votes/000001");
        assert_ne!(start, Chain::start_chain("votes/000002"));
        assert_ne!(start.after_line(b"{}"), start);
        assert_ne!(start.after_line(b"{\"n\":1}"), start.after_line(b"{\"n\":2}"));
        let [one, two] = [&b"{\"n\":1}"[..], b"{\"n\":2}"];
        assert_ne!(start.after_line(one).after_line(two), start.after_line(two).after_line(one));
        let text = start.to_string();
        assert!(text.len() == DIGITS && text.parse::<Chain>() == Ok(start), "{text}");
        assert_eq!(format!("{start:?}"), text);
        // One spelling, of one length.
        for other in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), "x".repeat(DIGITS)] {
            assert!(other.parse::<Chain>().is_err() || other == text, "{other}");
        }
        assert!("ABCDEFABCDEFABCDEFABCDEFABCDEFAB".parse::<Chain>().is_err());
        assert_eq!(serde_json::from_str::<Chain>(&serde_json::to_string(&start).unwrap()).unwrap(), start);
        assert!(serde_json::from_str::<Chain>("\"short\"").is_err());
    }

    #[test]
    fn a_line_is_split_into_what_was_written_and_its_chain() {
        let mut lines = Vec::new();
        let mut walk = Walk::start_walk("a");
        assert!(!walk.is_chained());
        walk.append_chained(b"{\"n\":1}", &mut lines);
        assert!(walk.is_chained());
        let line = lines.strip_suffix(b"\n").unwrap();
        let (bare, chain) = split_chain(line);
        assert_eq!((&*bare, chain), (&b"{\"n\":1}"[..], Some(walk.chain)));
        for unchained in [&b""[..], b"{}", b"{\"n\":1}", &line[1..LONGER], &line[..line.len() - 1]] {
            assert_eq!(split_chain(unchained), (Cow::Borrowed(unchained), None));
        }
        // A chain that is no hash matches no line, and is one.
        let bad =
            String::from_utf8(line.to_vec()).unwrap().replace(&walk.chain.to_string(), &"z".repeat(DIGITS));
        assert_eq!(split_chain(bad.as_bytes()).1, Some(Chain([0; 16])));
    }

    #[test]
    fn a_line_without_a_chain_may_stand_before_the_first_one_that_has_one_only() {
        let mut walk = Walk::start_walk("a");
        assert_eq!(walk.verify_line(b"{\"n\":1}").as_deref(), Ok(&b"{\"n\":1}"[..]));
        assert!(!walk.is_chained());
        let mut lines = Vec::new();
        let mut copy = walk;
        copy.append_chained(b"{\"n\":2}", &mut lines);
        let line = lines.strip_suffix(b"\n").unwrap();
        let mut elsewhere = Walk::start_walk("b");
        assert!(elsewhere.verify_line(line).is_err(), "of another file");
        assert_eq!(walk.verify_line(line).as_deref(), Ok(&b"{\"n\":2}"[..]));
        assert!(walk.is_chained());
        assert!(walk.verify_line(line).is_err(), "twice");
        let chain = walk.chain;
        assert_eq!(walk.verify_line(b"").as_deref(), Ok(&b""[..]), "an empty line is left to others");
        assert!(walk.is_chained() && walk.chain == chain);
        assert!(walk.verify_line(b"{\"n\":3}").is_err());
    }
}
