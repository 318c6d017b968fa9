//! Finds names of a forum's users in texts of others, from a list of keyed hashes: names leave the folder
//! they came in only as hashes.
//!
//! What: names of at least three characters, wherever they are words of their own.
//!
//! Why not every name: users are called `为什么` and `哈哈哈`. A name that is a dictionary word, or excepted by
//! people, counts only in its owner's posts. If a name begins or ends inside a word (`线希望` in `热线希望`), the
//! text means something else.
//!
//! Known problems: a user name that is a phrase but not a word (`病死鸡`) marks that phrase until somebody
//! excepts it; names of Latin letters alone count only from eight letters on, because shorter ones are mostly
//! words.

use std::fmt::Write;
use std::hash::Hasher;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::text::segment::{self, shared_jieba};

/// Fewest characters of a name that is searched.
const SHORTEST: usize = 3;
/// Most characters.
const LONGEST: usize = 30;
/// Fewest letters of a name of Latin letters alone.
const LATIN: usize = 8;
/// The first line of a file of names.
const HEAD: &str = "# riddlemill names v1";

/// Whether an author's name is what is written where nobody has one: `匿名用户`, `[deleted]`, `admin`. In texts it is a word, whoever
/// wrote them.
pub fn names_nobody(name: &str) -> bool {
    static NOBODY: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
        let lines = include_str!("nobody.txt").lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    });
    NOBODY.contains(name.trim().to_lowercase().as_str())
}

/// What names are hashed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameKey(u64, u64);

impl NameKey {
    /// The key that belongs to a salt.
    pub fn new(salt: &[u8; 32]) -> NameKey {
        let key = blake3::derive_key("riddlemill names v1", salt);
        let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| key[at + i]));
        NameKey(half(0), half(8))
    }

    /// The hash of a name.
    #[expect(deprecated, reason = "SipHash 2-4 with a key of one's own has no other name in std")]
    pub fn hash(self, name: &str) -> u64 {
        let mut hasher = std::hash::SipHasher::new_with_keys(self.0, self.1);
        hasher.write(name.as_bytes());
        hasher.finish()
    }

    /// Distinguishes files of hashes of different salts.
    pub fn salt_mark(self) -> String {
        format!("{:016x}", self.hash("riddlemill"))
    }
}

/// Names to find, as keyed hashes.
#[derive(Clone, Debug)]
pub struct NameList {
    key: NameKey,
    /// The hash of every whole name, with that of its first characters and its length in characters.
    names: FxHashMap<u64, (u64, u8)>,
    /// A hash of the first characters of names, with one bit for each length of the names that begin so.
    begins: FxHashMap<u64, u32>,
    /// Possible first characters, checked before hashing with the key; `None` if the names came as hashes.
    may_begin: Option<NameOpenings>,
    /// Names that are never searched, in clear: they are words.
    excepted: FxHashSet<String>,
}

/// A file that is not a list of names, or has another key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    /// The line with this number is not a line of such a file.
    #[error("line {0} is not a line of a list of names")]
    Line(usize),
    /// Its hashes were made with another salt.
    #[error(
        "the list of names was made with another salt\n  hint: use raw/salt of the workspace that the list comes from"
    )]
    OtherSalt,
}

impl NameList {
    /// An empty list; hashes are made with this salt.
    pub fn new(salt: &[u8; 32]) -> NameList {
        NameList {
            key: NameKey::new(salt),
            names: FxHashMap::default(),
            begins: FxHashMap::default(),
            may_begin: Some(NameOpenings::default()),
            excepted: FxHashSet::default(),
        }
    }

    /// Excepts words: they may be user names, but in texts they are mostly words.
    pub fn except_words(&mut self, words: impl IntoIterator<Item = String>) {
        self.excepted.extend(words);
    }

    /// Adds a name, unless it is one that is not searched.
    pub fn add(&mut self, name: &str) {
        if let Some(name) = self.hash_name(name) {
            self.add_hashed(name);
        }
    }

    /// Hashes a name for [`NameList::add_hashed`], which allows hashing on many cores; `None` if it is not
    /// searched, or already in the list.
    pub fn hash_name(&self, name: &str) -> Option<HashedName> {
        let name = name.trim();
        let chars = name.chars().count();
        if !(SHORTEST..=LONGEST).contains(&chars) || names_nobody(name) {
            return None;
        }
        let whole = self.hash(name);
        if self.names.contains_key(&whole) || !is_distinctive(name) {
            return None;
        }
        let opening = opening_of(name);
        Some(HashedName {
            whole,
            begins: self.hash(opening),
            chars: chars as u8,
            bit: NameOpenings::bit_of_opening(opening),
        })
    }

    /// Adds a name that was hashed with this list's key.
    pub fn add_hashed(&mut self, name: HashedName) {
        let HashedName { whole, begins, chars, bit } = name;
        self.names.insert(whole, (begins, chars));
        *self.begins.entry(begins).or_default() |= 1 << chars;
        if let Some(openings) = &mut self.may_begin {
            openings.set_bit(bit);
        }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names in a text, each once, in order of occurrence.
    pub fn find_names<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut found: Vec<&str> = Vec::new();
        if self.names.is_empty() {
            return found;
        }
        let mut resume = 0;
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).skip(SHORTEST - 1);
        for ((at, _), end) in text.char_indices().zip(ends) {
            let opening = &text[at..end];
            if at < resume || self.may_begin.as_ref().is_some_and(|openings| !openings.has_opening(opening)) {
                continue;
            }
            let Some(&lengths) = self.begins.get(&self.hash(opening)) else { continue };
            // Longest first: of several names at one place the longest is meant.
            let longest_first = (SHORTEST..=LONGEST).rev().filter(|chars| lengths & (1 << chars) != 0);
            let mut names = longest_first.filter_map(|chars| prefix_of(&text[at..], chars));
            let name =
                names.find(|name| self.names.contains_key(&self.hash(name)) && self.is_meant(text, at, name));
            if let Some(name) = name {
                resume = at + name.len();
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found
    }

    /// Whether the name at `at` means the user: it is not a word, nor made of parts of words.
    fn is_meant(&self, text: &str, at: usize, name: &str) -> bool {
        if self.excepted.contains(name) || shared_jieba().has_word(name) {
            return false;
        }
        // After an at-sign it is a name, even where a word goes on.
        text[..at].ends_with(['@', '＠']) || !cuts_a_word(text, at, at + name.len())
    }

    /// The list as a file: one name per line, sorted, as hashes. Useless without the salt.
    pub fn to_file(&self) -> String {
        let mut names: Vec<(u64, u64, u8)> =
            self.names.iter().map(|(whole, (begins, chars))| (*begins, *whole, *chars)).collect();
        names.sort_unstable();
        let mut lines = String::with_capacity(names.len() * 38);
        for (begins, whole, chars) in names {
            // Writing to a string never fails.
            let _ = writeln!(lines, "{begins:016x} {whole:016x} {chars}");
        }
        format!("{HEAD} {}\n{lines}", self.key.salt_mark())
    }

    /// Adds the names of a file.
    ///
    /// # Errors
    /// [`NamesError`] if it is not one, or was made with another salt.
    pub fn add_file(&mut self, text: &str) -> Result<(), NamesError> {
        let mut lines = text.lines().enumerate();
        let head = lines.next().map(|(_, head)| head).unwrap_or_default();
        let mark = head.strip_prefix(HEAD).ok_or(NamesError::Line(1))?.trim();
        if mark != self.key.salt_mark() {
            return Err(NamesError::OtherSalt);
        }
        for (at, line) in lines {
            let parts: Vec<&str> = line.split(' ').collect();
            let hash = |at: usize| u64::from_str_radix(parts.get(at)?, 16).ok();
            let chars = parts.get(2).and_then(|chars| chars.parse().ok());
            let (Some(begins), Some(whole), Some(chars @ SHORTEST..=LONGEST), 3) =
                (hash(0), hash(1), chars, parts.len())
            else {
                return Err(NamesError::Line(at + 1));
            };
            // The first characters of hashed names are unknown, so no text can be ruled out by them.
            self.may_begin = None;
            self.names.insert(whole, (begins, chars as u8));
            *self.begins.entry(begins).or_default() |= 1 << chars;
        }
        Ok(())
    }

    fn hash(&self, text: &str) -> u64 {
        self.key.hash(text)
    }
}

/// A name hashed with a list's key.
#[derive(Clone, Copy, Debug)]
pub struct HashedName {
    whole: u64,
    begins: u64,
    chars: u8,
    /// Bit of its first characters.
    bit: usize,
}

/// A Bloom filter of the first characters of names: false positives only.
#[derive(Clone, Debug)]
struct NameOpenings(Vec<u64>);

impl Default for NameOpenings {
    fn default() -> NameOpenings {
        NameOpenings(vec![0; (1 << NameOpenings::BITS) / 64])
    }
}

impl NameOpenings {
    const BITS: u32 = 20;

    fn bit_of_opening(opening: &str) -> usize {
        let mut hasher = FxHasher::default();
        hasher.write(opening.as_bytes());
        (hasher.finish() >> (64 - NameOpenings::BITS)) as usize
    }

    fn set_bit(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn has_opening(&self, opening: &str) -> bool {
        let bit = NameOpenings::bit_of_opening(opening);
        self.0[bit / 64] & (1 << (bit % 64)) != 0
    }
}

/// Whether a name is more than a number, a mark, or a word in Latin letters.
fn is_distinctive(name: &str) -> bool {
    let letters = || name.chars().filter(|c| c.is_alphabetic());
    if letters().count() < 2 {
        return false;
    }
    let latin = name.chars().all(|c| c.is_ascii_alphabetic());
    (!latin || name.len() >= LATIN) && !shared_jieba().has_word(name)
}

fn opening_of(name: &str) -> &str {
    prefix_of(name, SHORTEST).unwrap_or(name)
}

/// The first `chars` characters; `None` if there are fewer.
fn prefix_of(text: &str, chars: usize) -> Option<&str> {
    let mut ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.nth(chars - 1).map(|end| &text[..end])
}

/// Whether a word of the text crosses one of the borders of `start..end`.
fn cuts_a_word(text: &str, start: usize, end: usize) -> bool {
    let latin = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let name = &text[start..end];
    if latin(name.chars().next()) && latin(text[..start].chars().next_back())
        || latin(name.chars().next_back()) && latin(text[end..].chars().next())
    {
        return true;
    }
    segment::cuts_a_word(text, start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> NameList {
        let mut list = NameList::new(&[7; 32]);
        names.iter().for_each(|name| list.add(name));
        list
    }

    #[test]
    fn a_name_is_found_in_anybodys_text() {
        let list = list(&["云中白鹤生", "云中白", "bw丶ZHY", "longusername", "雨神17"]);
        assert_eq!(list.len(), 5);
        assert_eq!(list.find_names("“干掉了。”云中白鹤生看着掉了的防盗门说"), ["云中白鹤生"]);
        assert_eq!(
            list.find_names("问bw丶ZHY，再问longusername和雨神17"),
            ["bw丶ZHY", "longusername", "雨神17"]
        );
        assert_eq!(list.find_names("longusernames 不是"), [""; 0]);
        assert_eq!(list.find_names("@云中白 和云中白，云中白"), ["云中白"]);
    }

    #[test]
    fn a_word_is_no_name_and_parts_of_words_are_none() {
        let mut names = list(&["为什么", "线希望", "孙悟空", "hello", "12345", "白云苍"]);
        assert_eq!(names.find_names("打了热线希望有人接，为什么孙悟空说hello 12345"), [""; 0]);
        assert_eq!(names.find_names("我问线希望去哪"), ["线希望"]);
        names.except_words(["线希望".to_owned()]);
        assert_eq!(names.find_names("我问线希望去哪"), [""; 0]);
    }

    #[test]
    fn what_is_written_where_nobody_has_a_name_is_none() {
        for nobody in ["匿名用户", "[deleted]", " Anonymous ", "账号已注销", "assistant", "游客"] {
            assert!(names_nobody(nobody) && list(&[nobody]).is_empty(), "{nobody}");
        }
        assert!(!names_nobody("匿名用户_7") && !names_nobody("kim"));
    }

    /// Forums give users without a name generated ones that all begin alike.
    #[test]
    fn of_many_names_that_begin_alike_the_longest_is_found() {
        let names: Vec<String> = (0..20_000).map(|n| format!("贴吧用户_{n:05X}")).collect();
        let mut list = list(&names.iter().map(String::as_str).collect::<Vec<_>>());
        list.add("贴吧用户_00001号");
        assert_eq!(list.len(), 20_001);
        assert_eq!(list.find_names("问贴吧用户_00001号去"), ["贴吧用户_00001号"]);
        assert_eq!(list.find_names("问贴吧用户_04E1F，贴吧用户_04E20"), ["贴吧用户_04E1F"]);
    }

    #[test]
    fn a_file_says_hashes_alone_and_finds_the_same() {
        let names = ["云中白鹤生", "卖瓜子星人", "longusername"];
        let own = list(&names);
        let file = own.to_file();
        assert!(names.iter().all(|name| !file.contains(name)));
        let mut read = NameList::new(&[7; 32]);
        read.add_file(&file).unwrap();
        assert_eq!(read.to_file(), file);
        assert_eq!(read.find_names("卖瓜子星人不卖瓜"), ["卖瓜子星人"]);
        assert_eq!(NameList::new(&[8; 32]).add_file(&file), Err(NamesError::OtherSalt));
        assert_eq!(read.add_file(&(file + "x y\n")), Err(NamesError::Line(5)));
        assert_eq!(read.add_file("云中白鹤生"), Err(NamesError::Line(1)));
    }
}
