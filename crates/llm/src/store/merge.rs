//! A store that grew apart from this one: its attempts, replies and tombstones, taken over once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use riddlemill_files::{Unpacked, unpack};
use rustc_hash::{FxHashMap, FxHashSet};

use super::line::{Attempt, Failure, Forgotten, Line, StoredReply};
use super::segment::Number;
use super::{RUN, SEGMENT_BYTES, Store, StoreError, registry, salvage};
use crate::money::Usd;
use crate::request::Key;

/// What was new in another store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedReplies {
    /// Replies to what nobody had answered here, by the model that answered and the template.
    pub replies: BTreeMap<(String, String), u64>,
    /// Replies to what was answered here, too. They are kept and charged, and the reply of here stays the answer.
    pub second: u64,
    /// Attempts, with or without a reply.
    pub attempts: u64,
    /// What those were charged, by budget: it counts against the caps here, too.
    pub charged: BTreeMap<String, Usd>,
    /// Replies that were forgotten there, and are here now.
    pub forgotten: u64,
}

impl MergedReplies {
    /// Whether nothing was new.
    pub fn is_empty(&self) -> bool {
        *self == MergedReplies::default()
    }
}

impl Store {
    /// Takes over into the store in the folder `here` what the one in `other` has and it has not: each attempt, reply
    /// and tombstone once, however often and in whatever direction stores are put together. `only_look` writes nothing,
    /// and makes no folder. What is written is found by whoever opens the store next.
    ///
    /// # Errors
    /// [`StoreError`] where one of them is damaged or cannot be read, or this one cannot be written.
    pub fn merge(here: &Path, other: &Path, only_look: bool) -> Result<MergedReplies, StoreError> {
        let mut known = Known::default();
        for place in [here, other].into_iter().filter(|place| place.is_dir()) {
            Store::refuse_damage_at(place)?;
        }
        if !other.is_dir() {
            return Ok(MergedReplies::default());
        }
        if here.is_dir() {
            each_line(here, |_, line| {
                known.adds(&line);
            })?;
        }
        let answered = known.answered.clone();
        let mut merged = MergedReplies::default();
        let (mut lines, mut places, mut attempts) =
            (vec![Vec::new()], FxHashMap::default(), FxHashMap::default());
        each_line(other, |place, line| {
            if let Line::Reply(reply) = &line {
                places.insert(place, reply.identity());
            }
            let Some(line) = known.takes(line, &places) else { return };
            merged.counts(&line, &answered, &mut attempts);
            if lines.last().is_some_and(|lines: &Vec<u8>| lines.len() as u64 > SEGMENT_BYTES) {
                lines.push(Vec::new());
            }
            if let Some(lines) = lines.last_mut() {
                lines.extend(line.bytes());
            }
        })?;
        for (scopes, charged) in attempts.into_values() {
            for scope in scopes.into_iter().filter(|scope: &String| !scope.starts_with(RUN)) {
                *merged.charged.entry(scope).or_default() += charged;
            }
        }
        if !only_look {
            fs::create_dir_all(here).map_err(|source| StoreError::io(here, source))?;
            for lines in lines.iter().filter(|lines| !lines.is_empty()) {
                salvage::write(here, lines)?;
            }
        }
        Ok(merged)
    }
}

impl MergedReplies {
    /// `attempts` notes of each new one what it is charged, as far as the lines have said.
    fn counts(
        &mut self,
        line: &Line,
        answered: &FxHashSet<Key>,
        attempts: &mut FxHashMap<String, (Vec<String>, Usd)>,
    ) {
        let mut settle = |id: &str, charged| {
            if let Some(attempt) = attempts.get_mut(id) {
                attempt.1 = charged;
            }
        };
        match line {
            Line::Attempt(attempt) => {
                self.attempts += 1;
                attempts.insert(attempt.id.clone(), (attempt.scopes.clone(), attempt.reserved_picousd));
            }
            Line::Failure(failure) => settle(&failure.id, failure.charged_picousd),
            Line::Reply(reply) => {
                if let Some(id) = &reply.id {
                    settle(id, reply.charged_picousd);
                }
                if answered.contains(&reply.key) {
                    self.second += 1;
                } else {
                    let of = (reply.request.model.clone(), reply.template.clone());
                    *self.replies.entry(of).or_default() += 1;
                }
            }
            Line::Forgotten(_) => self.forgotten += 1,
        }
    }
}

/// What a store holds, by what it is and not where it stands.
#[derive(Default)]
struct Known {
    /// The id of each attempt in the store at hand.
    attempts: FxHashMap<Key, String>,
    /// Which attempt an id of the other store is.
    ids: FxHashMap<String, Key>,
    outcomes: FxHashSet<Key>,
    forgotten: FxHashSet<Key>,
    /// What has a reply.
    answered: FxHashSet<Key>,
}

impl Known {
    /// Takes a line as it is in this store up; false where it stood before.
    fn adds(&mut self, line: &Line) -> bool {
        match line {
            Line::Attempt(attempt) => self.attempts.insert(of_attempt(attempt), attempt.id.clone()).is_none(),
            Line::Failure(failure) => self.outcomes.insert(of_failure(failure)),
            Line::Reply(reply) => {
                self.answered.insert(reply.key);
                self.outcomes.insert(reply.identity())
            }
            // One that names a place alone is known by its reply where it is told of.
            Line::Forgotten(forgotten) => forgotten.reply.is_none_or(|reply| self.forgotten.insert(reply)),
        }
    }

    /// A line of another store as it is to be in this one; `None` where this one has it. An attempt is called
    /// otherwise here: the numbers of segments are each store's own.
    fn takes(&mut self, line: Line, places: &FxHashMap<(Number, u64), Key>) -> Option<Line> {
        let line = match line {
            Line::Attempt(attempt) => {
                let identity = of_attempt(&attempt);
                self.ids.insert(attempt.id.clone(), identity);
                if self.attempts.contains_key(&identity) {
                    return None;
                }
                Line::Attempt(Attempt { id: renamed(&attempt.id, identity), ..attempt })
            }
            Line::Failure(failure) => {
                Line::Failure(Failure { id: self.id_here(&failure.id, of_failure(&failure)), ..failure })
            }
            Line::Reply(reply) => {
                let id = reply.id.as_deref().map(|id| self.id_here(id, reply.identity()));
                Line::Reply(StoredReply { id, ..reply })
            }
            Line::Forgotten(forgotten) => {
                let there = || places.get(&(forgotten.segment, forgotten.start)).copied();
                let reply = Some(forgotten.reply.or_else(there)?);
                Line::Forgotten(Forgotten { reply, ..forgotten })
            }
        };
        self.adds(&line).then_some(line)
    }

    /// What an attempt of the other store is called here; after its `outcome` where its own line is lost.
    fn id_here(&self, id: &str, outcome: Key) -> String {
        let here = self.ids.get(id).and_then(|identity| self.attempts.get(identity));
        here.map_or_else(|| renamed(id, outcome), String::clone)
    }
}

fn renamed(id: &str, after: Key) -> String {
    format!("{}@{}", bare(id), &after.to_string()[..12])
}

/// An attempt's id as the store gave it that made it.
fn bare(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}

fn of_attempt(attempt: &Attempt) -> Key {
    let mut parts = attempt.key.0.to_vec();
    parts.extend_from_slice(&attempt.at_ms.to_le_bytes());
    parts.extend_from_slice(&attempt.reserved_picousd.pico().to_le_bytes());
    parts.extend_from_slice(bare(&attempt.id).as_bytes());
    Key::hash(&parts)
}

fn of_failure(failure: &Failure) -> Key {
    let mut parts = failure.key.0.to_vec();
    for number in [failure.at_ms, failure.elapsed_ms, failure.charged_picousd.pico() as u64] {
        parts.extend_from_slice(&number.to_le_bytes());
    }
    parts.extend_from_slice(bare(&failure.id).as_bytes());
    parts.extend_from_slice(failure.error.as_bytes());
    Key::hash(&parts)
}

/// Hands over each whole line of the sound segments in a folder with its segment and where it begins there, in order.
fn each_line(dir: &Path, mut take: impl FnMut((Number, u64), Line)) -> Result<(), StoreError> {
    let ((listed, _), _) = registry::look(dir)?;
    for (number, is_sealed) in listed {
        let path = registry::path(dir, number, is_sealed);
        let read = if is_sealed { unpack(&path).and_then(Unpacked::all) } else { fs::read(&path) };
        let raw = read.map_err(|source| StoreError::io(&path, source))?;
        let mut start = 0;
        for bytes in raw.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            // A line that cannot be read is named by `verify`.
            if let Ok(line) = serde_json::from_slice::<Line>(bytes) {
                take((number, start), line);
            }
            start += bytes.len() as u64;
        }
    }
    Ok(())
}
