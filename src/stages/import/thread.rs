//! Whole threads, a post a line: `pid, tid, user_name, user_id, text, time, image_links, is_comment,
//! parent_pid, floor`.
//!
//! In an annual thread the owner's numbered main posts are the jokes and the rest is chatter. Whether
//! a thread is annual, who owns it and who takes part is known only from the whole file, which is
//! therefore read twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Deserialize;

use super::files::Dump;
use super::{Draft, Parsed, dump, loose};
use crate::config::{Take, sections};
use crate::record::{PostKind, Reason};
use crate::text::clean::annual::{Standing, joke};
use crate::text::segment::jieba;

#[derive(Deserialize)]
struct Row {
    #[serde(default, deserialize_with = "loose::text")]
    pid: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    tid: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    user_name: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    user_id: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    text: Option<String>,
    #[serde(default, deserialize_with = "loose::text")]
    time: Option<String>,
    #[serde(default, deserialize_with = "loose::length")]
    image_links: u64,
    #[serde(default, deserialize_with = "loose::flag")]
    is_comment: bool,
    #[serde(default, deserialize_with = "loose::text")]
    floor: Option<String>,
}

impl Row {
    /// Who wrote it: the id where there is one, else the name.
    fn person(&self) -> Option<&str> {
        self.user_id.as_deref().or(self.user_name.as_deref())
    }

    fn first_floor(&self) -> bool {
        !self.is_comment && self.floor.as_deref() == Some("1")
    }
}

/// What a file says of its threads.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    threads: HashMap<String, Thread>,
    names: Names,
}

#[derive(Debug, Default)]
struct Thread {
    owner: Option<String>,
    annual: bool,
}

impl Threads {
    /// Reads a file through once. Lines that cannot be read are reported on the second reading.
    pub(super) fn of(file: &Dump, settings: &sections::Import) -> Threads {
        let mut owners: HashMap<String, String> = HashMap::new();
        let mut ranked: HashMap<(String, String), u64> = HashMap::new();
        let mut names = BTreeSet::new();
        for batch in dump::batches(file, settings.max_line_mib << 20) {
            for item in batch {
                let Ok(bytes) = item.bytes else { continue };
                let Ok(row) = serde_json::from_slice::<Row>(&bytes) else { continue };
                let (Some(tid), Some(person)) = (row.tid.clone(), row.person().map(str::to_string)) else {
                    continue;
                };
                if row.first_floor() {
                    owners.entry(tid.clone()).or_insert_with(|| person.clone());
                }
                let standing = Standing { by_owner: true, is_comment: row.is_comment };
                if row.text.as_deref().is_some_and(|text| joke(text, standing).is_ok()) {
                    *ranked.entry((tid, person)).or_default() += 1;
                }
                names.extend(row.user_name);
            }
        }
        let threads = owners.into_iter().map(|(tid, owner)| {
            let key = (tid, owner);
            let annual = ranked.get(&key).is_some_and(|n| *n >= settings.annual_posts);
            (key.0, Thread { owner: Some(key.1), annual })
        });
        Threads { threads: threads.collect(), names: Names::new(names) }
    }
}

/// A line of a thread dump.
pub(super) fn post(line: &str, threads: Option<&Threads>, take: Take) -> Parsed {
    let row: Row = match super::object(line) {
        Ok(row) => row,
        Err(bad) => return bad,
    };
    let number =
        |field: &Option<String>| field.as_deref().filter(|f| f.parse::<u64>().is_ok()).map(str::to_string);
    let (Some(tid), Some(pid)) = (number(&row.tid), number(&row.pid)) else {
        return Parsed::Bad("`tid` or `pid` is no number".into());
    };
    let text = row.text.clone().unwrap_or_default();
    let thread = threads.and_then(|t| t.threads.get(&tid));
    let owner = thread.and_then(|t| t.owner.as_deref());
    let by_owner = owner.is_some() && owner == row.person();
    let annual = thread.is_some_and(|t| t.annual);
    if row.is_comment {
        return Parsed::Out(Reason::Chatter, "an answer to another post".into());
    }
    let kind = match take {
        Take::Main => PostKind::Plain,
        Take::Jokes if annual => match joke(&text, Standing { by_owner, is_comment: row.is_comment }) {
            Ok(_) => PostKind::Numbered,
            Err(reason) => return Parsed::Out(reason, String::new()),
        },
        Take::Jokes if row.first_floor() => PostKind::Plain,
        Take::Jokes => {
            return Parsed::Out(Reason::Chatter, "a reply in a thread that is no annual one".into());
        }
    };
    let mentions = threads.map(|t| t.names.in_text(&text)).unwrap_or_default();
    Parsed::Post(Box::new(Draft {
        id: Some(format!("tieba:{tid}:{pid}")),
        kind,
        title: None,
        author: row.person().map(str::to_string),
        mentions,
        content: Some(text),
        time: row.time,
        images: row.image_links,
    }))
}

/// The user names of a file, to be found in its texts.
#[derive(Debug, Default)]
struct Names(Option<AhoCorasick>);

impl Names {
    /// A name of one character, or one that is a word of the language, would be found everywhere; only
    /// an @ before it makes it a name, which anonymise sees by itself.
    fn new(names: BTreeSet<String>) -> Names {
        let names: Vec<String> =
            names.into_iter().filter(|n| n.chars().count() > 1 && !jieba().has_word(n)).collect();
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
