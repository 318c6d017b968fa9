//! 128-bit BLAKE3 hashes, written as 32 hex digits: ids of votes and of what an annotator saw.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The first 16 bytes of a BLAKE3 hash. 128 bits distinguish a million votes with an error probability below
/// 10^-26, and fit in a spreadsheet's cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 16]);

impl Digest {
    /// The digest of `parts`, each hashed with its length, so that moving a character over a border between
    /// parts changes the digest.
    pub fn of_parts<'a>(context: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let mut digester = Digester::new(context);
        for part in parts {
            digester.hash_part(part);
        }
        digester.finish()
    }

    /// The 16 bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The digest with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Digest {
        Digest(bytes)
    }
}

/// Builds a digest part by part. Short parts are gathered first: hashing a vote's parts in one go takes a
/// third of the time of hashing them one by one.
pub struct Digester {
    gathered: Vec<u8>,
    // The hasher is large and most digests never need it: it is made only for a long part.
    hasher: Option<Box<blake3::Hasher>>,
}

/// Parts of at least this many bytes are not gathered.
const LONG: usize = 4096;

impl Digester {
    /// Starts with the kind of digest.
    pub fn new(context: &str) -> Digester {
        let mut digester = Digester { gathered: Vec::with_capacity(256), hasher: None };
        digester.hash_part(context.as_bytes());
        digester
    }

    /// Hashes a part with its length.
    pub fn hash_part(&mut self, part: &[u8]) {
        self.begin_part(part.len() as u64);
        self.hash_piece(part);
    }

    /// Begins a part of `len` bytes, which comes in pieces.
    pub fn begin_part(&mut self, len: u64) {
        self.gathered.extend_from_slice(&len.to_le_bytes());
    }

    /// Hashes a piece of the current part.
    pub fn hash_piece(&mut self, piece: &[u8]) {
        if piece.len() < LONG {
            self.gathered.extend_from_slice(piece);
        } else {
            let hasher = self.hasher.get_or_insert_default();
            hasher.update(&self.gathered).update(piece);
            self.gathered.clear();
        }
    }

    /// The digest of the parts so far.
    pub fn finish(self) -> Digest {
        let hash = match self.hasher {
            None => blake3::hash(&self.gathered),
            Some(mut hasher) => hasher.update(&self.gathered).finalize(),
        };
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.as_bytes()[..16]);
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 32];
        // Sixteen bytes are thirty-two digits, and digits are text.
        let _ = hex::encode_to_slice(self.0, &mut digits);
        f.write_str(std::str::from_utf8(&digits).unwrap_or_default())
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
        let mut bytes = [0; 16];
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) => Ok(Digest(bytes)),
            // The text can be anything, of any length, and is shown in an error.
            Err(_) => Err(NotADigest(text.chars().take(40).collect())),
        }
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
    fn long_parts_and_short_ones_are_hashed_alike() {
        for lengths in [[3, 5, 7], [5000, 3, 4096], [4095, 4097, 0]] {
            let parts = lengths.map(|length| vec![b'x'; length]);
            let mut whole = blake3::Hasher::new();
            for part in [&b"t"[..]].into_iter().chain(parts.iter().map(Vec::as_slice)) {
                whole.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
            let digest = Digest::of_parts("t", parts.iter().map(Vec::as_slice));
            assert_eq!(digest.to_string(), whole.finalize().to_hex()[..32]);
            assert_eq!(digest.to_string().parse(), Ok(digest));
            let mut pieces = Digester::new("t");
            for part in &parts {
                pieces.begin_part(part.len() as u64);
                part.chunks(1000).for_each(|piece| pieces.hash_piece(piece));
            }
            assert_eq!(pieces.finish(), digest);
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(Digest::of_parts("t", [&b"ab"[..], b"c"]), Digest::of_parts("t", [&b"a"[..], b"bc"]));
    }

    #[test]
    fn hex_goes_there_and_back() {
        let digest = Digest::of_parts("t", [&b"x"[..]]);
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("abc".parse::<Digest>().is_err());
        assert!("é".repeat(16).parse::<Digest>().is_err());
    }
}
