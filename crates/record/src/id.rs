//! Identity: a record's permanent id, independent of its source.

/// The id of a post without a native one: `text:` and 16 hex digits of the text's hash. Two posts
/// with the same text and no id of their own are one record.
pub fn text_id(text: &str) -> String {
    short("text", blake3::hash(text.as_bytes()))
}

/// Prefix of the ids of records from a published set: `published:flub:<id of its row>`.
const PUBLISHED: &str = "published:";

/// The id of a record from a published set, by the id it has there.
pub fn published_id(set: &str, name: &str) -> String {
    format!("{PUBLISHED}{set}:{name}")
}

/// Whether a record comes from a published set, with its annotations.
pub fn is_published(id: &str) -> bool {
    id.starts_with(PUBLISHED)
}

/// The id of a record made from others: a hash of its parents and its role. Lengths separate the parts, so that
/// no two lists of parents share an id.
pub fn derived(role: &str, parents: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in std::iter::once(&role).chain(parents) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    short(role, hasher.finalize())
}

/// A person's name or id as it may leave raw/: the same person gets the same mark in one workspace, and
/// it cannot be reversed without the salt.
pub fn pseudonym(salt: &[u8; 32], name: &str) -> String {
    short("u", blake3::keyed_hash(salt, name.as_bytes()))
}

fn short(kind: &str, hash: blake3::Hash) -> String {
    [kind, ":", &hash.to_hex()[..16]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids stand in votes, ledgers and releases: they never change.
    #[test]
    fn the_same_text_has_the_same_id_in_every_version() {
        assert_eq!(text_id("云会恐高吗"), "text:e1e7a0a3cc85fff7");
        assert_eq!(derived("pair", &["tieba:1", "tieba:2"]), "pair:c359bc541eb1f957");
        assert_eq!(pseudonym(&[1; 32], "张三"), "u:dca5296f8b366bf6");
        let published = published_id("flub", "7");
        assert_eq!(published, "published:flub:7");
        assert!(is_published(&published) && !is_published("tieba:published:1") && !is_published(""));
    }

    #[test]
    fn parents_are_not_run_together() {
        assert_ne!(derived("pair", &["a", "bc"]), derived("pair", &["ab", "c"]));
        assert_ne!(derived("pair", &["a"]), derived("a", &["pair"]));
    }

    #[test]
    fn a_pseudonym_needs_its_salt() {
        assert_ne!(pseudonym(&[1; 32], "x"), pseudonym(&[2; 32], "x"));
        assert_eq!(pseudonym(&[1; 32], "x").len(), 18);
    }
}
