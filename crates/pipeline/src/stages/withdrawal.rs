//! Withdrawals: posts and dumps that are removed because somebody asked for it.
//!
//! `raw/withdrawn.jsonl` holds a tombstone for each: when, why, and hashes keyed with the workspace's salt, so that
//! the file reveals no post without the salt. Import leaves out what a tombstone covers, in present and later dumps;
//! a tombstone also explains why bytes are missing from raw/dumps.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{StageError, Unusable, salt};
use riddlemill_files::log::Log;
use riddlemill_tables::{Error, Workspace};
use riddlemill_text::text::normalise::{Fold, fold};

/// Texts of fewer characters, folded, are many people's.
const TEXT_CHARS: usize = 4;

/// The digests of the salts of a log's withdrawals, and how many lines state none.
///
/// # Errors
/// [`Error`] where the file is damaged.
pub fn salt_digests(workspace: &Workspace) -> Result<(BTreeSet<String>, usize), Error> {
    let all = read_tombstones(&log_path(workspace))?;
    let without = all.iter().filter(|tombstone| tombstone.salt.is_none()).count();
    Ok((all.into_iter().filter_map(|tombstone| tombstone.salt).collect(), without))
}

/// One withdrawal, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// When, RFC 3339, UTC.
    pub at: String,
    /// The reason given by the person who withdrew it.
    pub reason: String,
    /// The digest of the salt that its hashes are keyed with; one from before digests counts as of the present one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// What.
    #[serde(flatten)]
    pub what: TombstoneSubject,
}

/// What a tombstone is for. Hashes are keyed, 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum TombstoneSubject {
    Post {
        /// Of its id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Of its text, folded: copies of other sources go too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// SHA-256 of the dumps that hold it: their bytes may be gone or others from now on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dumps: Vec<String>,
    },
    Dump {
        /// `source/file`.
        file: String,
        /// Its SHA-256.
        sha256: String,
        /// A hash of the ids of its posts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        posts: Vec<String>,
    },
    /// No withdrawal: one of before does not count any longer.
    Undone {
        /// A hash of the post's id or text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        post: Option<String>,
        /// SHA-256 of the dump.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dump: Option<String>,
    },
}

/// All withdrawals of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Withdrawals {
    salt: [u8; 32],
    all: Vec<Tombstone>,
    /// Places in `all` by the hash of an id, of a text, of a dump.
    ids: HashMap<String, usize>,
    texts: HashMap<String, usize>,
    dumps: HashMap<String, usize>,
    /// By the hash of an id in a withdrawn dump: the post may still be in another one.
    of_dumps: HashMap<String, usize>,
    /// By the SHA-256 of a dump that holds withdrawn posts.
    holding: HashMap<String, usize>,
    /// Lines of the log.
    lines: usize,
    /// Withdrawals of posts under a salt that the present one replaces on purpose: they name no post any longer.
    unknown: usize,
}

impl Withdrawals {
    /// Reads a workspace's tombstones.
    ///
    /// # Errors
    /// [`Error`] where the file is damaged, or the salt of its hashes is gone or another one.
    pub fn load(workspace: &Workspace) -> Result<Withdrawals, Error> {
        let all = read_tombstones(&log_path(workspace))?;
        if all.is_empty() {
            return Ok(Withdrawals::default());
        }
        let salt = salt::read_salt(workspace)?.ok_or_else(|| Error::Damaged {
            path: workspace.raw_folder().join("salt"),
            what: "missing, and tombstones of withdrawn posts depend on it".into(),
            hint: "restore it from a backup: without it withdrawn posts would return".into(),
        })?;
        let mut replaced = HashSet::new();
        let digests: BTreeSet<&String> = all.iter().filter_map(|tombstone| tombstone.salt.as_ref()).collect();
        for digest in digests {
            if !salt::is_made_with_salt(workspace, digest, "raw/withdrawn.jsonl")? {
                replaced.insert(digest.clone());
            }
        }
        Ok(Withdrawals::new(salt, all, &replaced))
    }

    fn new(salt: [u8; 32], all: Vec<Tombstone>, replaced: &HashSet<String>) -> Withdrawals {
        let mut found = Withdrawals { salt, lines: all.len(), ..Withdrawals::default() };
        for (place, tombstone) in all.iter().enumerate() {
            let is_unknown = tombstone.salt.as_ref().is_some_and(|digest| replaced.contains(digest));
            match &tombstone.what {
                TombstoneSubject::Post { dumps, .. } if is_unknown => {
                    found.unknown += 1;
                    found.holding.extend(dumps.iter().map(|dump| (dump.clone(), place)));
                }
                TombstoneSubject::Post { id, text, dumps } => {
                    found.ids.extend(id.iter().map(|id| (id.clone(), place)));
                    found.texts.extend(text.iter().map(|text| (text.clone(), place)));
                    found.holding.extend(dumps.iter().map(|dump| (dump.clone(), place)));
                }
                TombstoneSubject::Dump { sha256, posts, .. } => {
                    found.dumps.insert(sha256.clone(), place);
                    found.of_dumps.extend(posts.iter().map(|id| (id.clone(), place)));
                }
                TombstoneSubject::Undone { post, dump } => {
                    let mut withdrawn: HashSet<usize> = post
                        .iter()
                        .flat_map(|hash| [found.ids.get(hash), found.texts.get(hash)])
                        .chain(dump.iter().map(|sha256| found.dumps.get(sha256)))
                        .flatten()
                        .copied()
                        .collect();
                    // Its copies have the same text, and were withdrawn with it.
                    let text_of = |place: usize| match &all[place].what {
                        TombstoneSubject::Post { text, .. } => text.as_deref(),
                        _ => None,
                    };
                    let texts: HashSet<&str> = withdrawn.iter().filter_map(|place| text_of(*place)).collect();
                    withdrawn.extend(
                        (0..place).filter(|place| text_of(*place).is_some_and(|text| texts.contains(text))),
                    );
                    // `holding` is left out: bytes that were replaced stay so after a withdrawal ends.
                    let tables = [&mut found.ids, &mut found.texts, &mut found.dumps, &mut found.of_dumps];
                    tables.into_iter().for_each(|table| table.retain(|_, place| !withdrawn.contains(place)));
                }
            }
        }
        found.all = all;
        found
    }

    /// Says whether anything was withdrawn since this was asked before: the length of the log.
    pub fn log_length(workspace: &Workspace) -> u64 {
        log_path(workspace).metadata().map_or(0, |meta| meta.len())
    }

    /// How many withdrawals were made under a salt that the present one replaces: they name no post any longer.
    pub fn count_unknown(&self) -> usize {
        self.unknown
    }

    /// Whether there are no withdrawals.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.texts.is_empty() && self.dumps.is_empty()
    }

    /// What a manifest records of them: how many, and a hash; `None` if nothing was ever withdrawn.
    pub fn manifest_evidence(&self) -> Option<String> {
        let mut hashes: Vec<&str> = [&self.ids, &self.texts, &self.dumps]
            .iter()
            .flat_map(|table| table.keys().map(String::as_str))
            .collect();
        // A hash map has another order in each run, and the evidence must not change with it.
        hashes.sort_unstable();
        let hash = blake3::hash(hashes.join(" ").as_bytes()).to_hex();
        (self.lines > 0).then(|| format!("{} {}", self.lines, &hash[..16]))
    }

    /// Those that count, in the order they were made.
    pub fn current_tombstones(&self) -> impl Iterator<Item = &Tombstone> {
        let places: HashSet<usize> =
            [&self.ids, &self.texts, &self.dumps].iter().flat_map(|table| table.values().copied()).collect();
        self.all.iter().enumerate().filter(move |(place, _)| places.contains(place)).map(|(_, found)| found)
    }

    /// The tombstone of a post.
    pub fn of_post(&self, id: &str, text: &str) -> Option<&Tombstone> {
        self.of_id(id).or_else(|| self.of_text(text))
    }

    /// The tombstone of a post by its id alone.
    pub fn of_id(&self, id: &str) -> Option<&Tombstone> {
        // This is asked for every post, and without withdrawals no id has to be hashed.
        if self.ids.is_empty() {
            return None;
        }
        self.ids.get(&id_hash(&self.salt, id)).map(|place| &self.all[*place])
    }

    /// The tombstone of a post by its text, ignoring width, script, spaces and punctuation.
    pub fn of_text(&self, text: &str) -> Option<&Tombstone> {
        if self.texts.is_empty() {
            return None;
        }
        self.texts.get(&text_hash(&self.salt, text)?).map(|place| &self.all[*place])
    }

    /// The tombstone of a dump that a post was in; it may be in another one, too.
    pub fn of_dump_with(&self, id: &str) -> Option<&Tombstone> {
        if self.of_dumps.is_empty() {
            return None;
        }
        self.of_dumps.get(&id_hash(&self.salt, id)).map(|place| &self.all[*place])
    }

    /// The tombstone of a whole dump, by its SHA-256.
    pub fn of_dump(&self, sha256: &str) -> Option<&Tombstone> {
        self.dumps.get(sha256).map(|place| &self.all[*place])
    }

    /// The tombstone of a dump by its name, `source/file`.
    pub fn of_file(&self, file: &str) -> Option<&Tombstone> {
        let named = |tombstone: &&Tombstone| matches!(&tombstone.what, TombstoneSubject::Dump { file: own, .. } if own == file);
        self.dumps.values().map(|place| &self.all[*place]).find(named)
    }

    /// Whether a source lost a dump to a withdrawal: then it may have no file left.
    pub fn touches_source(&self, source: &str) -> bool {
        let of_source = |place: &usize| match &self.all[*place].what {
            TombstoneSubject::Dump { file, .. } => file.split_once('/').is_some_and(|(own, _)| own == source),
            _ => false,
        };
        self.dumps.values().any(of_source)
    }

    /// Why the bytes of a dump that was in raw/dumps, by their SHA-256, may be gone or replaced: the dump was
    /// withdrawn, or a post in it. `None` if nothing was withdrawn, so that it really is lost.
    pub fn explains_missing_dump(&self, sha256: &str) -> Option<&Tombstone> {
        self.of_dump(sha256).or_else(|| self.holding.get(sha256).map(|place| &self.all[*place]))
    }
}

/// What is to be withdrawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withdraw {
    /// A post by its id, its text or both, and the SHA-256 of the dumps that hold it.
    Post {
        id: Option<String>,
        /// Its imported text.
        text: Option<String>,
        dumps: Vec<String>,
    },
    /// A dump with the ids of its posts.
    Dump {
        /// `source/file`.
        file: String,
        /// Its SHA-256.
        sha256: String,
        /// The ids.
        posts: Vec<String>,
    },
    /// A withdrawn post by its id or text is no longer withdrawn.
    UndoPost(String),
    /// A withdrawn dump by its SHA-256 is no longer withdrawn.
    UndoDump(String),
}

/// Appends tombstones. They are on the disk when this returns.
///
/// # Errors
/// [`StageError`] where raw/ cannot be written, or a text is so short that it is many people's.
pub fn append_withdrawals(
    workspace: &Workspace,
    wanted: &[Withdraw],
    reason: &str,
    at: &str,
) -> Result<(), StageError> {
    // Before anything is drawn: the salt of the withdrawals that are there must be the present one.
    Withdrawals::load(workspace)?;
    let salt = salt::read_or_draw(workspace)?;
    let mut tombstones = Vec::new();
    for one in wanted {
        let digest = Some(salt::fingerprint_salt(&salt));
        tombstones.push(Tombstone {
            at: at.into(),
            reason: reason.into(),
            salt: digest,
            what: hash_withdrawal(&salt, one)?,
        });
    }
    Ok(append_tombstones(&log_path(workspace), &tombstones)?)
}

fn hash_withdrawal(salt: &[u8; 32], wanted: &Withdraw) -> Result<TombstoneSubject, StageError> {
    Ok(match wanted {
        Withdraw::Post { id, text, dumps } => {
            let text = text.as_ref().and_then(|text| text_hash(salt, text));
            if id.is_none() && text.is_none() {
                let why = format!("a text of fewer than {TEXT_CHARS} characters may be by many people");
                return Err(Unusable::of_request(why).with_hint("name the post by its id").into());
            }
            TombstoneSubject::Post { id: id.as_ref().map(|id| id_hash(salt, id)), text, dumps: dumps.clone() }
        }
        Withdraw::Dump { file, sha256, posts } => TombstoneSubject::Dump {
            file: file.clone(),
            sha256: sha256.clone(),
            posts: posts.iter().map(|id| id_hash(salt, id)).collect(),
        },
        Withdraw::UndoPost(name) => {
            // Ids are ASCII and have a colon, which a Chinese text may have, too.
            let is_id = name.contains(':') && name.is_ascii();
            let post = if is_id { Some(id_hash(salt, name)) } else { text_hash(salt, name) };
            TombstoneSubject::Undone { post, dump: None }
        }
        Withdraw::UndoDump(sha256) => TombstoneSubject::Undone { post: None, dump: Some(sha256.clone()) },
    })
}

fn log_path(workspace: &Workspace) -> PathBuf {
    workspace.raw_folder().join("withdrawn.jsonl")
}

fn read_tombstones(path: &Path) -> Result<Vec<Tombstone>, Error> {
    Ok(Log::in_file(path).read_entries()?)
}

fn append_tombstones(path: &Path, tombstones: &[Tombstone]) -> Result<(), Error> {
    Ok(Log::in_file(path).add(tombstones)?)
}

fn id_hash(salt: &[u8; 32], id: &str) -> String {
    keyed_hash(salt, "post", id)
}

/// What two texts have in common that are withdrawn together; `None` where a text is too short to be anybody's own.
pub fn text_key(text: &str) -> Option<String> {
    let folded = fold(text, Fold::KEY);
    (folded.chars().count() >= TEXT_CHARS).then_some(folded)
}

fn text_hash(salt: &[u8; 32], text: &str) -> Option<String> {
    text_key(text).map(|key| keyed_hash(salt, "text", &key))
}

fn keyed_hash(salt: &[u8; 32], kind: &str, content: &str) -> String {
    let mut hasher = blake3::Hasher::new_keyed(salt);
    // The kind and a separator keep the hash of an id from being that of an equal text.
    hasher.update(kind.as_bytes()).update(b"\0").update(content.as_bytes());
    hasher.finalize().to_hex()[..32].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(id: &str, text: &str) -> Withdraw {
        Withdraw::Post { id: Some(id.into()), text: Some(text.into()), dumps: vec!["aa".into()] }
    }

    #[test]
    fn a_post_is_covered_by_its_id_and_by_its_text_and_named_by_neither() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        assert!(Withdrawals::load(&workspace).unwrap().manifest_evidence().is_none());
        append_withdrawals(&workspace, &[post("tieba:1", "云会恐高吗？")], "asked", "2026-01-02T00:00:00Z")
            .unwrap();
        let found = Withdrawals::load(&workspace).unwrap();
        assert!(found.of_id("tieba:1").is_some() && found.of_id("tieba:2").is_none());
        assert_eq!(found.of_post("text:9", "云会 恐高吗").map(|t| t.reason.as_str()), Some("asked"));
        assert!(found.explains_missing_dump("aa").is_some() && found.explains_missing_dump("bb").is_none());
        assert!(found.of_dump("aa").is_none(), "the dump itself stays");
        let file = std::fs::read_to_string(dir.path().join("raw/withdrawn.jsonl")).unwrap();
        assert!(!file.contains("tieba:1") && !file.contains("恐高"), "{file}");

        append_withdrawals(
            &workspace,
            &[Withdraw::UndoPost("tieba:1".into())],
            "a mistake",
            "2026-01-03T00:00:00Z",
        )
        .unwrap();
        let undone = Withdrawals::load(&workspace).unwrap();
        assert!(undone.is_empty() && undone.current_tombstones().next().is_none());
        assert!(
            undone.manifest_evidence() != found.manifest_evidence() && undone.manifest_evidence().is_some()
        );
    }

    #[test]
    fn a_dump_takes_its_posts_along() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let dump = Withdraw::Dump {
            file: "titles/a.json".into(),
            sha256: "cc".into(),
            posts: vec!["tieba:7".into()],
        };
        append_withdrawals(&workspace, &[dump], "licence", "2026-01-02T00:00:00Z").unwrap();
        let found = Withdrawals::load(&workspace).unwrap();
        assert!(found.of_dump("cc").is_some() && found.of_file("titles/a.json").is_some());
        assert!(found.touches_source("titles") && !found.touches_source("title"));
        assert!(found.of_dump_with("tieba:7").is_some());
        assert!(found.of_id("tieba:7").is_none(), "another dump may hold it");
    }

    #[test]
    fn what_is_undone_returns_with_its_copies_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path());
        let at = "2026-01-02T00:00:00Z";
        let posts = [("tieba:1", "云会恐高吗？"), ("zhihu:2", "云会恐高吗"), ("tieba:3", "鱼会淹死吗？")];
        append_withdrawals(&workspace, &posts.map(|(id, text)| post(id, text)), "asked", at).unwrap();
        let undo = |one| append_withdrawals(&workspace, &[one], "a mistake", at).unwrap();
        let load = || Withdrawals::load(&workspace).unwrap();
        let covered = || posts.map(|(id, _)| load().of_id(id).is_some());
        assert_eq!(covered(), [true; 3]);
        undo(Withdraw::UndoPost("云会 恐高吗".into()));
        assert_eq!(covered(), [false, false, true]);
        let found = load();
        assert!(found.of_text("云会恐高吗").is_none() && found.of_text("鱼会淹死吗").is_some());
        assert_eq!((found.is_empty(), found.current_tombstones().count()), (false, 1));
        assert!(found.explains_missing_dump("aa").is_some(), "bytes that were replaced stay so");
        append_withdrawals(&workspace, &[post("tieba:1", "云会恐高吗？")], "asked again", at).unwrap();
        assert_eq!(covered(), [true, false, true]);

        let (file, sha256) = ("titles/a.json".to_owned(), "cc".to_owned());
        let dump = Withdraw::Dump { file, sha256, posts: vec!["tieba:7".into()] };
        append_withdrawals(&workspace, &[dump], "licence", at).unwrap();
        undo(Withdraw::UndoDump("cc".into()));
        let found = load();
        assert!(found.of_dump("cc").is_none() && found.of_dump_with("tieba:7").is_none());
        assert!(found.of_file("titles/a.json").is_none() && !found.touches_source("titles"));
        assert!(found.explains_missing_dump("cc").is_none());
        assert_eq!(covered(), [true, false, true]);
    }

    /// Tombstones stand in raw/: what they name never changes.
    #[test]
    fn a_tombstone_names_the_same_in_every_version() {
        assert_eq!(id_hash(&[1; 32], "tieba:1"), "e59438e91ac541fc6d53cbbdba2c226d");
        assert_ne!(keyed_hash(&[1; 32], "text", "tieba:1"), keyed_hash(&[1; 32], "post", "tieba:1"));
        assert!(text_key("云会恐高").is_some() && text_key("云会恐？").is_none(), "three characters");
    }

    #[test]
    fn a_text_of_many_people_is_nobodys() {
        let dir = tempfile::tempdir().unwrap();
        let short = Withdraw::Post { id: None, text: Some("如题".into()), dumps: Vec::new() };
        assert!(append_withdrawals(&Workspace::new(dir.path()), &[short], "", "").is_err());
    }
}
