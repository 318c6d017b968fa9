//! Threads with all their posts, from any crawler: which posts are candidates.
//!
//! In an annual thread the owner's numbered main posts are the jokes and the rest is chatter. Whether
//! a thread is annual, who owns it and who takes part is known only from the whole file, which is
//! therefore read twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use super::columns::FileColumns;
use super::files::Dump;
use super::hashed_names::{HashedNames, is_telling};
use super::native_id::{as_meant, describe_damage};
use super::{Parsed, RawPost, loose};
use crate::config::{Take, sections};
use riddlemill_record::{PostKind, Reason};
use riddlemill_text::text::clean::annual::{Position, joke, note};

/// A post of a thread, with the fields that every format of whole threads has. The field names are those of a
/// thread dump: `pid, tid, user_name, user_id, text, time, image_links, is_comment, floor`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ThreadPost {
    #[serde(default, deserialize_with = "loose::id")]
    pub pid: Option<String>,
    #[serde(default, deserialize_with = "loose::id")]
    pub tid: Option<String>,
    #[serde(default, alias = "username", deserialize_with = "loose::text")]
    pub user_name: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub user_id: Option<String>,
    /// The thread's title; only the first floor has one, and a thread dump has none.
    #[serde(skip)]
    pub title: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub text: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    pub time: Option<String>,
    #[serde(default, deserialize_with = "loose::length")]
    pub image_links: u64,
    #[serde(default, deserialize_with = "loose::flag")]
    pub is_comment: bool,
    #[serde(default, deserialize_with = "loose::text")]
    pub floor: Option<String>,
    #[serde(skip)]
    pub score: Option<f64>,
    /// What the post is called everywhere, where it is none of Tieba's.
    #[serde(skip)]
    pub id: Option<String>,
}

impl Threads {
    /// The names of users that are in a text.
    pub(super) fn named_in(&self, text: &str) -> Vec<String> {
        match &self.hashed {
            None => self.names.in_text(text),
            Some(names) => names.in_text(text),
        }
    }

    /// With what a census says of the columns and of the size of its file.
    pub(super) fn of_file(self, names: Vec<String>, bytes: u64) -> Threads {
        Threads { columns: FileColumns { names, is_header: false }, bytes, ..self }
    }

    pub(super) fn columns(&self) -> &FileColumns {
        &self.columns
    }

    /// Whether the census is of more than this dump, which is a piece of the file then.
    pub(super) fn is_of_more_than(&self, dump: &Dump) -> bool {
        std::fs::metadata(&dump.path).is_ok_and(|meta| meta.len() < self.bytes)
    }

    /// From a census, in which people are hashes.
    pub(super) fn of_hashes(census: Census, names: HashedNames, settings: &sections::Import) -> Threads {
        Threads { hashed: Some(names), ..census.finish(settings) }
    }

    fn is_by_owner(&self, thread: &Thread, row: &ThreadPost) -> bool {
        let (Some(owner), Some(person)) = (thread.owner.as_deref(), row.person_name()) else { return false };
        match &self.hashed {
            None => owner == person,
            Some(names) => owner == names.hash_person(person),
        }
    }
}

impl ThreadPost {
    /// Who wrote it: the id where there is one, else the name.
    fn person_name(&self) -> Option<&str> {
        self.user_id.as_deref().or(self.user_name.as_deref())
    }

    pub(super) fn first_floor(&self) -> bool {
        // `1楼`, `1F`, `#1` are the first floor, too.
        let number = |floor: &str| floor.trim_matches(|c: char| !c.is_ascii_digit()) == "1";
        !self.is_comment && self.floor.as_deref().is_some_and(number)
    }
}

/// The threads of a file.
#[derive(Debug, Default)]
pub struct Threads {
    threads: HashMap<String, Thread>,
    names: Names,
    /// In place of names in clear, where they came as hashes: then owners are hashes, too.
    hashed: Option<HashedNames>,
    notes: ThreadNotes,
    /// Of the file that the census is of.
    columns: FileColumns,
    /// Its bytes; 0 where they are not known.
    bytes: u64,
}

/// The owners' notes of a file, by `tid:pid` of the jokes and of the notes.
#[derive(Debug, Default)]
struct ThreadNotes {
    /// What is noted under a joke.
    under: HashMap<String, String>,
    /// The id of the joke that a post is a note on.
    of: HashMap<String, String>,
}

impl ThreadNotes {
    /// Sorts out what one person wrote in a thread: a note is on the last ranked joke before it.
    fn gather_notes(&mut self, tid: &str, mut posts: Vec<(u64, Option<String>)>) {
        // The numbers of posts grow with time, whatever the order of the dump.
        posts.sort();
        let mut joke = None;
        for (pid, note) in posts {
            let key = format!("{tid}:{pid}");
            match (note, &joke) {
                (None, _) => joke = Some(key),
                (Some(note), Some(joke)) => {
                    self.of.insert(key, format!("tieba:{joke}"));
                    let noted = self.under.entry(String::clone(joke)).or_default();
                    if !noted.is_empty() {
                        noted.push('\n');
                    }
                    noted.push_str(&note);
                }
                // Nothing is above it.
                (Some(_), None) => {}
            }
        }
    }
}

#[derive(Debug, Default)]
struct Thread {
    owner: Option<String>,
    annual: bool,
}

/// The number of a ranked joke, or of a note with its text.
pub(super) type RankedNote = (u64, Option<String>);

/// Collects the threads of a file, one post at a time.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// For each thread, the author of its first floor.
    pub(super) owners: HashMap<String, String>,
    /// How many posts of each author in each thread may be jokes.
    pub(super) ranked: HashMap<(String, String), u64>,
    /// What each author wrote in each thread.
    pub(super) wrote: HashMap<(String, String), Vec<RankedNote>>,
    pub(super) names: BTreeSet<String>,
}

impl Census {
    pub(super) fn add_row(&mut self, row: ThreadPost) {
        let (Some(tid), Some(person)) = (row.tid.clone(), row.person_name().map(str::to_string)) else {
            return;
        };
        if row.first_floor() {
            self.owners.entry(tid.clone()).or_insert_with(|| person.clone());
        }
        let standing = Position { by_owner: true, is_comment: row.is_comment };
        let text = row.text.as_deref().unwrap_or_default();
        let noted = note(text).filter(|_| !row.is_comment);
        let pid = row.pid.as_deref().and_then(|pid| pid.parse().ok());
        if let Some(pid) =
            pid.filter(|_| noted.is_some() || joke(text, standing).is_ok_and(|j| j.number.is_some()))
        {
            let wrote = self.wrote.entry((tid.clone(), person.clone())).or_default();
            wrote.push((pid, noted.map(str::to_string)));
        }
        if noted.is_none() && joke(text, standing).is_ok() {
            *self.ranked.entry((tid, person)).or_default() += 1;
        }
        self.names.extend(row.user_name);
    }

    pub(super) fn finish(mut self, settings: &sections::Import) -> Threads {
        let mut notes = ThreadNotes::default();
        let owners = std::mem::take(&mut self.owners);
        let threads = owners.into_iter().map(|(tid, owner)| {
            let key = (tid, owner);
            let annual = self.ranked.get(&key).is_some_and(|n| *n >= settings.annual_posts);
            if let Some(wrote) = self.wrote.remove(&key).filter(|_| annual) {
                notes.gather_notes(&key.0, wrote);
            }
            (key.0, Thread { owner: Some(key.1), annual })
        });
        let threads = threads.collect::<HashMap<_, _>>();
        Threads {
            threads,
            names: Names::new(self.names),
            hashed: None,
            notes,
            columns: FileColumns::default(),
            bytes: 0,
        }
    }
}

/// A line of a thread dump.
pub(super) fn parse_row(line: &str) -> Result<ThreadPost, Parsed> {
    super::object(line)
}

/// Whether a post is a candidate. A first floor with its title is the thread itself, `tieba:<tid>`.
pub(super) fn judge_post(row: ThreadPost, threads: Option<&Threads>, take: Take) -> Parsed {
    let number =
        |field: &Option<String>| field.as_deref().filter(|f| f.parse::<u64>().is_ok()).map(str::to_string);
    let (tid, pid) = match &row.id {
        None => (number(&row.tid), number(&row.pid)),
        Some(_) => (row.tid.clone(), row.pid.clone()),
    };
    let (Some(tid), Some(pid)) = (tid, pid) else {
        let numbers = [&row.tid, &row.pid].into_iter().flatten();
        return Parsed::Bad(match numbers.into_iter().find(|id| as_meant(id).is_err()) {
            Some(damaged) => describe_damage(damaged),
            None => "`tid` or `pid` is not a number".into(),
        });
    };
    let text = row.text.clone().unwrap_or_default();
    let thread = threads.and_then(|t| t.threads.get(&tid));
    let by_owner = threads.zip(thread).is_some_and(|(threads, thread)| threads.is_by_owner(thread, &row));
    let annual = thread.is_some_and(|t| t.annual);
    if row.is_comment {
        return Parsed::Out(Reason::Chatter, "an answer to another post".into());
    }
    let key = format!("{tid}:{pid}");
    if let Some(joke) = threads.and_then(|t| t.notes.of.get(&key)).filter(|_| by_owner) {
        let of = match (&row.id, joke.rsplit_once(':')) {
            (Some(own), Some((_, pid))) => own.rsplit_once(':').map(|(space, _)| format!("{space}:{pid}")),
            _ => None,
        };
        return Parsed::Out(Reason::Note, of.unwrap_or_else(|| joke.clone()));
    }
    if annual && by_owner && note(&text).is_some() && !row.is_comment {
        return Parsed::Out(Reason::Chatter, "a note with no joke above it".into());
    }
    let note = threads.and_then(|t| t.notes.under.get(&key)).filter(|_| by_owner).cloned();
    let kind = match take {
        Take::Main => PostKind::Plain,
        Take::Jokes if annual => match joke(&text, Position { by_owner, is_comment: row.is_comment }) {
            Ok(_) => PostKind::Numbered,
            Err(reason) => return Parsed::Out(reason, String::new()),
        },
        Take::Jokes if row.first_floor() => PostKind::Plain,
        Take::Jokes => {
            return Parsed::Out(Reason::Chatter, "a reply in a thread that is no annual one".into());
        }
    };
    let whole = row.first_floor() && row.title.is_some() && kind == PostKind::Plain;
    let title = row.title.clone().filter(|_| whole);
    let mut named = title.as_ref().map_or_else(|| text.clone(), |title| format!("{title}\n{text}"));
    if let Some(note) = &note {
        named.push('\n');
        named.push_str(note);
    }
    let mentions = threads.map(|t| t.named_in(&named)).unwrap_or_default();
    Parsed::Post(Box::new(RawPost {
        damaged_id: None,
        id: row
            .id
            .clone()
            .or_else(|| Some(if whole { format!("tieba:{tid}") } else { format!("tieba:{tid}:{pid}") })),
        kind: if whole { PostKind::Thread } else { kind },
        title,
        author: row.person_name().map(str::to_string),
        mentions,
        content: if whole { row.text } else { Some(text) },
        time: row.time,
        score: row.score,
        note,
        links: Vec::new(),
        images: row.image_links,
        noted: String::new(),
    }))
}

/// The user names of a file, to be found in its texts.
#[derive(Debug, Default)]
struct Names(Option<AhoCorasick>);

impl Names {
    fn new(names: BTreeSet<String>) -> Names {
        let names: Vec<String> = names.into_iter().filter(|name| is_telling(name)).collect();
        Names(AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(names).ok())
    }

    fn in_text(&self, text: &str) -> Vec<String> {
        let Some(names) = &self.0 else { return Vec::new() };
        let mut found = BTreeMap::new();
        for hit in names.find_iter(text) {
            found.entry(&text[hit.range()]).or_insert(());
        }
        found.into_keys().map(str::to_string).collect()
    }
}
