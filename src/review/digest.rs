//! 128 bits of BLAKE3, written as 32 hex digits: names of votes and of what an annotator saw.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first 16 bytes of a BLAKE3 hash. 128 bits keep a million votes apart with a chance of error
/// below 10^-26, and fit in a spreadsheet's cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest of `parts`, each counted in with its length, so that no two lists of parts agree by
    /// moving a character over a border.
    pub fn of<'a>(context: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let mut digester = Digester::new(context);
        for part in parts {
            digester.part(part);
        }
        digester.finish()
    }
}

/// Builds a digest part by part.
pub(crate) struct Digester(blake3::Hasher);

impl Digester {
    pub(crate) fn new(context: &str) -> Digester {
        let mut digester = Digester(blake3::Hasher::new());
        digester.part(context.as_bytes());
        digester
    }

    pub(crate) fn part(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub(crate) fn finish(self) -> Digest {
        let mut bytes = [0; 16];
        self.0.finalize_xof().fill(&mut bytes);
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let digits: String = self
            .0
            .iter()
            .flat_map(|byte| [HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]])
            .map(char::from)
            .collect();
        f.write_str(&digits)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Not 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a hash of 32 hex digits")]
pub struct NotADigest(String);

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Digest, NotADigest> {
        let digits = text.as_bytes();
        let refuse = || NotADigest(text.chars().take(40).collect());
        if digits.len() != 32 {
            return Err(refuse());
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or_else(refuse);
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Ok(Digest(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        struct Hex;
        impl serde::de::Visitor<'_> for Hex {
            type Value = Digest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 hex digits")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Hex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(Digest::of("t", [&b"ab"[..], b"c"]), Digest::of("t", [&b"a"[..], b"bc"]));
    }

    #[test]
    fn hex_goes_there_and_back() {
        let digest = Digest::of("t", [&b"x"[..]]);
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("abc".parse::<Digest>().is_err());
        assert!("é".repeat(16).parse::<Digest>().is_err());
    }
}
