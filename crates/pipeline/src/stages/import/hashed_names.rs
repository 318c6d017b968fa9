//! The names of the users of one file, searched in the texts of that file, as keyed hashes.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use riddlemill_text::text::anonymise::{NameKey, names_nobody};
use riddlemill_text::text::segment::shared_jieba;

/// A name of one character, or one that is a word of the language, would be found everywhere; only
/// an @ before it makes it a name, which anonymise sees by itself.
pub(super) fn is_telling(name: &str) -> bool {
    name.chars().count() > 1 && !names_nobody(name) && !shared_jieba().has_word(name)
}

/// A hash in its written form.
pub(super) fn format_hash(hash: u64) -> String {
    format!("{hash:016x}")
}

/// A name as hashes: of its first two characters, of the whole; and its characters.
pub(super) type HashedName = (u64, u64, usize);

/// The hashes of a name that is searched.
pub(super) fn hash_name(key: NameKey, name: &str) -> Option<HashedName> {
    let opening = name_opening(name).filter(|_| is_telling(name))?;
    Some((key.hash(opening), key.hash(name), name.chars().count()))
}

/// The first two characters of a name; `None` if it has fewer.
fn name_opening(name: &str) -> Option<&str> {
    let (end, c) = name.char_indices().nth(1)?;
    Some(&name[..end + c.len_utf8()])
}

/// The user names of a file as hashes, found in texts as those in clear are: leftmost first, and of those the longest.
#[derive(Debug)]
pub(super) struct HashedNames {
    key: NameKey,
    whole: FxHashSet<u64>,
    /// Of the hash of two characters, the lengths of the names that begin with them, the longest first.
    lengths: FxHashMap<u64, Vec<usize>>,
}

impl HashedNames {
    pub(super) fn new(key: NameKey, names: BTreeSet<HashedName>) -> HashedNames {
        let mut found = HashedNames { key, whole: FxHashSet::default(), lengths: FxHashMap::default() };
        for (begins, whole, chars) in names {
            found.whole.insert(whole);
            found.lengths.entry(begins).or_default().push(chars);
        }
        for lengths in found.lengths.values_mut() {
            lengths.sort_unstable_by(|a, b| b.cmp(a));
            lengths.dedup();
        }
        found
    }

    /// What somebody is called in the census.
    pub(super) fn hash_person(&self, person: &str) -> String {
        format_hash(self.key.hash(person))
    }

    /// The names in a text, sorted.
    pub(super) fn in_text(&self, text: &str) -> Vec<String> {
        if self.whole.is_empty() {
            return Vec::new();
        }
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut found = BTreeSet::new();
        let mut at = 0;
        while at + 2 < ends.len() {
            let lengths = self.lengths.get(&self.key.hash(&text[ends[at]..ends[at + 2]]));
            let name = lengths.into_iter().flatten().find(|chars| {
                let end = ends.get(at + **chars);
                end.is_some_and(|end| self.whole.contains(&self.key.hash(&text[ends[at]..*end])))
            });
            match name {
                Some(chars) => {
                    found.insert(&text[ends[at]..ends[at + chars]]);
                    at += chars;
                }
                None => at += 1,
            }
        }
        found.into_iter().map(str::to_owned).collect()
    }
}
