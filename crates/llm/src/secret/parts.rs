//! Parts of a key, as providers quote it with its middle masked, and its base64, in one pass over a text.

use rustc_hash::FxHashMap;

use super::{SHORTEST, STRUCK, is_letter, written_forms};

/// Characters of base64 that give away as much of a key as [`SHORTEST`] of its characters.
const SHORTEST_BASE64: usize = 10;
/// Bytes by which a part is looked up.
const SPAN: usize = 8;
/// Slots of the filter before the table: most places of a text are settled by it.
const FILTER: usize = 1 << 12;
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is removed of a key: each part in each form, by its first bytes.
pub(super) struct KeyParts {
    filter: Vec<bool>,
    /// The further bytes of each part.
    parts: FxHashMap<u64, Vec<Vec<u8>>>,
}

impl KeyParts {
    pub(super) fn of_key(key: &str) -> KeyParts {
        let mut parts = KeyParts { filter: vec![false; FILTER], parts: FxHashMap::default() };
        // No header takes another key, and a part of it has no certain length in bytes.
        if !key.is_ascii() {
            return parts;
        }
        for at in 0..(key.len() + 1).saturating_sub(SHORTEST) {
            let part = &key[at..at + SHORTEST];
            // The word before a key, as `Bearer`, is no part of it.
            if !part.contains(' ') {
                written_forms(part).iter().for_each(|form| parts.add_part(form.as_bytes()));
            }
        }
        let secret = key.rsplit(' ').next().unwrap_or(key);
        for before in 0..3 {
            for alphabet in [STANDARD, URL_SAFE] {
                let certain = certain_base64(secret.as_bytes(), before, alphabet);
                certain.windows(SHORTEST_BASE64).for_each(|part| parts.add_part(part));
            }
        }
        parts
    }

    fn add_part(&mut self, part: &[u8]) {
        let Some((first, more)) = part.split_first_chunk::<SPAN>() else { return };
        let first = u64::from_be_bytes(*first);
        self.filter[slot_of(first)] = true;
        let known = self.parts.entry(first).or_default();
        if !known.iter().any(|other| other == more) {
            known.push(more.to_vec());
        }
    }

    /// How long the part is that begins at `at`, whose bytes from there are `first`.
    fn part_at(&self, bytes: &[u8], at: usize, first: u64) -> Option<usize> {
        if !self.filter[slot_of(first)] {
            return None;
        }
        let rest = &bytes[at + SPAN..];
        let found = self.parts.get(&first)?.iter().filter(|more| rest.starts_with(more));
        found.map(|more| SPAN + more.len()).max()
    }

    /// The text without parts of the key; `None` if there is none.
    pub(super) fn strike_parts(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let (mut out, mut done) = (String::new(), 0);
        // The stretch that parts cover, which overlap if more than one part of the key stands there.
        let mut covered: Option<(usize, usize)> = None;
        let mut strike = |(from, to): (usize, usize)| {
            if is_in_a_word(text, from, to) {
                return;
            }
            if from >= done {
                out.push_str(&text[done..from]);
                out.push_str(STRUCK);
            }
            // What goes on after a part is the rest of another key that begins alike.
            let rest = bytes[to..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            done = done.max(to + rest);
        };
        let mut first = bytes.iter().take(SPAN - 1).fold(0, |first, byte| (first << 8) | u64::from(*byte));
        for at in 0..(bytes.len() + 1).saturating_sub(SPAN) {
            first = (first << 8) | u64::from(bytes[at + SPAN - 1]);
            let Some(length) = self.part_at(bytes, at, first) else { continue };
            covered = match covered {
                Some((from, to)) if at <= to => Some((from, to.max(at + length))),
                Some(stretch) => {
                    strike(stretch);
                    Some((at, at + length))
                }
                None => Some((at, at + length)),
            };
        }
        covered.into_iter().for_each(&mut strike);
        (done > 0).then(|| out + &text[done..])
    }
}

/// Whether a stretch could be an ordinary word or number, and is inside of a longer one: removing that would change what
/// is no key.
fn is_in_a_word(text: &str, from: usize, to: usize) -> bool {
    let part = &text.as_bytes()[from..to];
    let is_plain = part.iter().all(u8::is_ascii_lowercase) || part.iter().all(u8::is_ascii_digit);
    is_plain && (is_letter(text[..from].chars().next_back()) || is_letter(text[to..].chars().next()))
}

fn slot_of(first: u64) -> usize {
    (first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
}

/// The characters of base64 that follow from `secret` alone, if this many bytes are before it in its group of three.
fn certain_base64(secret: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |at: usize| (secret[at / 8] >> (7 - at % 8)) & 1;
    // The bits of the first group that are not the secret's are left out with the character that they begin.
    let first = (6 - before * 8 % 6) % 6;
    let code = |at: usize| (0..6).fold(0, |code, more| (code << 1) | bit(at + more));
    let starts = (first..).step_by(6).take_while(|at| at + 6 <= secret.len() * 8);
    starts.map(|at| alphabet[usize::from(code(at))]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::secret::ApiKey;

    fn base64(bytes: &[u8], alphabet: &[u8; 64], is_padded: bool) -> String {
        let mut text = String::new();
        for group in bytes.chunks(3) {
            let mut three = [0; 3];
            three[..group.len()].copy_from_slice(group);
            let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            for at in 0..=group.len() {
                text.push(char::from(alphabet[((bits >> (18 - 6 * at)) & 63) as usize]));
            }
            if is_padded {
                text.push_str(&"=".repeat(3 - group.len()));
            }
        }
        text
    }

    #[test]
    fn a_key_with_its_middle_masked_is_removed() {
        let key = ApiKey::new("sk-SECRETKEYabcdefmnop1234").unwrap();
        for (told, struck) in [
            (
                "Incorrect API key provided: sk-SECRETK...mnop1234.",
                "Incorrect API key provided: [key]...[key].",
            ),
            ("sk-SECRE***************1234", "[key]***************1234"),
            ("xxSECRETKEYyy, sk-SECRETKzzSECRETKEY.", "xx[key], [key]."),
            // Seven characters are not enough of it.
            ("sk-SECR...op1234", "sk-SECR...op1234"),
        ] {
            assert_eq!(key.strike_key(told), struck);
        }
        let header = ApiKey::new("Bearer sk-SECRETKEYabcdef").unwrap();
        assert_eq!(
            header.strike_key("the Bearer scheme: Bearer sk-SECRETK"),
            "the Bearer scheme: Bearer [key]"
        );
    }

    #[test]
    fn what_is_no_key_stays_as_it_is() {
        let key = ApiKey::new("sk-password-1234567890").unwrap();
        for text in [r#"{"created":1712345678901}"#, "the passwords", "密码密码密码密码密码"] {
            assert_eq!(key.strike_key(text), text);
        }
        let long = "a reply of a model that quotes nothing, 云. ".repeat(20_000);
        assert!(matches!(key.strike_key(&long), std::borrow::Cow::Borrowed(_)));
    }

    proptest! {
        /// No part of a key of eight characters is left, wherever it stands and however it is written.
        #[test]
        fn no_part_of_a_key_is_left(
            key in "(sk-|)[A-Z][A-Za-z0-9+/_.%&-]{14,60}[A-Z]",
            ends in (0usize..70, 8usize..70),
            (before, after) in ("[ a-z:云\"]{0,6}", "[ a-z*.云\"]{0,6}"),
            user in "[a-z]{0,7}:?",
            is_padded: bool,
        ) {
            let secret = ApiKey::new(&key).unwrap();
            let from = ends.0.min(key.len() - 8);
            let part = &key[from..(from + ends.1).min(key.len())];
            let is_plain = |part: &str| {
                part.bytes().all(|b| b.is_ascii_lowercase()) || part.bytes().all(|b| b.is_ascii_digit())
            };
            prop_assume!(!is_plain(part));
            let basic = format!("{user}{key}");
            let coded = [STANDARD, URL_SAFE].map(|alphabet| base64(basic.as_bytes(), alphabet, is_padded));
            let mut texts = vec![format!("{before}{part}{after}")];
            texts.extend(coded.iter().map(|coded| format!("{before}{coded}{after}")));
            texts.push(serde_json::to_string(&texts[0]).unwrap());
            for text in &texts {
                let struck = secret.strike_key(text);
                prop_assert!(struck.contains(STRUCK), "{} in {}", part, text);
                for at in 0..=key.len() - 8 {
                    let left = &key[at..at + 8];
                    prop_assert!(is_plain(left) || !struck.contains(left), "{} in {}", left, struck);
                }
                for coded in &coded {
                    for part in coded.as_bytes()[user.len().div_ceil(3) * 4..].windows(12) {
                        prop_assert!(!struck.contains(std::str::from_utf8(part).unwrap()), "{}", struck);
                    }
                }
            }
        }
    }
}
