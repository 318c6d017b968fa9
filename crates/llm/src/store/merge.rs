//! Merges a store that diverged from this one: its attempts, replies and tombstones, each once.

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill_files::fence;
use rustc_hash::{FxHashMap, FxHashSet};

use super::line::{self, Attempt, Failure, Forgotten, SegmentLine, StoredReply};
use super::segment::{self, Number};
use super::{RUN, SEGMENT_BYTES, Store, StoreError, registry, salvage};
use crate::money::Usd;
use crate::request::Key;

/// What was new in another store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedReplies {
    /// Replies to questions without a reply here, by model and template.
    pub replies: BTreeMap<(String, String), u64>,
    /// Replies to questions that have one here. They are kept and charged, but the reply here stays in use.
    pub second: u64,
    /// Attempts, with or without a reply.
    pub attempts: u64,
    /// Their charges, by budget, which count against the caps here too.
    pub charged: BTreeMap<String, Usd>,
    /// Replies that were forgotten there, and now here too.
    pub forgotten: u64,
}

impl MergedReplies {
    /// Whether nothing was new.
    pub fn is_empty(&self) -> bool {
        *self == MergedReplies::default()
    }
}

impl Store {
    /// Copies into the store in the folder `here` what only the one in `other` has: each attempt, reply and
    /// tombstone once, however often and in whatever direction stores are merged. `only_look` writes nothing
    /// and creates no folder. New lines are indexed when the store is next opened.
    ///
    /// # Errors
    /// [`StoreError`] if one of them is damaged or cannot be read, or this one cannot be written.
    pub fn merge_stores(here: &Path, other: &Path, only_look: bool) -> Result<MergedReplies, StoreError> {
        let mut known = StoreContents::default();
        for place in [here, other].into_iter().filter(|place| place.is_dir()) {
            Store::refuse_damage_at(place)?;
        }
        if !other.is_dir() {
            return Ok(MergedReplies::default());
        }
        if here.is_dir() {
            each_line(here, |_, line| {
                known.add_line(&line);
            })?;
        }
        let answered = known.answered.clone();
        let mut merged = MergedReplies::default();
        let (mut lines, mut places, mut attempts) =
            (vec![Vec::new()], FxHashMap::default(), FxHashMap::default());
        each_line(other, |place, line| {
            if let SegmentLine::Reply(reply) = &line {
                places.insert(place, reply.reply_identity());
            }
            let Some(line) = known.convert_line(line, &places) else { return };
            merged.count_line(&line, &answered, &mut attempts);
            if lines.last().is_some_and(|lines: &Vec<u8>| lines.len() as u64 > SEGMENT_BYTES) {
                lines.push(Vec::new());
            }
            if let Some(lines) = lines.last_mut() {
                lines.extend(line.to_json_line());
            }
        })?;
        for (scopes, charged) in attempts.into_values() {
            for scope in scopes.into_iter().filter(|scope: &String| !scope.starts_with(RUN)) {
                *merged.charged.entry(scope).or_default() += charged;
            }
        }
        if !only_look {
            fence::create_folder(here).map_err(|source| StoreError::io(here, source))?;
            for lines in lines.iter().filter(|lines| !lines.is_empty()) {
                salvage::write_segment(here, lines)?;
            }
        }
        Ok(merged)
    }
}

impl MergedReplies {
    /// Records in `attempts` the charge of each new one, as far as the lines state it.
    fn count_line(
        &mut self,
        line: &SegmentLine,
        answered: &FxHashSet<Key>,
        attempts: &mut FxHashMap<String, (Vec<String>, Usd)>,
    ) {
        let mut settle = |id: &str, charged| {
            if let Some(attempt) = attempts.get_mut(id) {
                attempt.1 = charged;
            }
        };
        match line {
            SegmentLine::Attempt(attempt) => {
                self.attempts += 1;
                attempts.insert(attempt.id.clone(), (attempt.scopes.clone(), attempt.reserved_picousd));
            }
            SegmentLine::Failure(failure) => settle(&failure.id, failure.charged_picousd),
            SegmentLine::Reply(reply) => {
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
            SegmentLine::Forgotten(_) => self.forgotten += 1,
        }
    }
}

/// The contents of a store by identity, independent of place.
#[derive(Default)]
struct StoreContents {
    /// The id of each attempt in this store.
    attempts: FxHashMap<Key, String>,
    /// The attempt of each id in the other store.
    ids: FxHashMap<String, Key>,
    outcomes: FxHashSet<Key>,
    forgotten: FxHashSet<Key>,
    /// Requests with a reply.
    answered: FxHashSet<Key>,
}

impl StoreContents {
    /// Adds a line of this store; false if it was there already.
    fn add_line(&mut self, line: &SegmentLine) -> bool {
        match line {
            SegmentLine::Attempt(attempt) => {
                self.attempts.insert(of_attempt(attempt), attempt.id.clone()).is_none()
            }
            SegmentLine::Failure(failure) => self.outcomes.insert(of_failure(failure)),
            SegmentLine::Reply(reply) => {
                self.answered.insert(reply.key);
                self.outcomes.insert(reply.reply_identity())
            }
            // A tombstone by place is recognised by its reply, if that is known.
            SegmentLine::Forgotten(forgotten) => {
                forgotten.reply.is_none_or(|reply| self.forgotten.insert(reply))
            }
        }
    }

    /// Converts a line of another store for this one; `None` if this one has it. Attempts get new ids: the
    /// numbers of segments are each store's own.
    fn convert_line(
        &mut self,
        line: SegmentLine,
        places: &FxHashMap<(Number, u64), Key>,
    ) -> Option<SegmentLine> {
        let line = match line {
            SegmentLine::Attempt(attempt) => {
                let identity = of_attempt(&attempt);
                self.ids.insert(attempt.id.clone(), identity);
                if self.attempts.contains_key(&identity) {
                    return None;
                }
                SegmentLine::Attempt(Attempt { id: rename_attempt(&attempt.id, identity), ..attempt })
            }
            SegmentLine::Failure(failure) => SegmentLine::Failure(Failure {
                id: self.id_here(&failure.id, of_failure(&failure)),
                ..failure
            }),
            SegmentLine::Reply(reply) => {
                let id = reply.id.as_deref().map(|id| self.id_here(id, reply.reply_identity()));
                SegmentLine::Reply(StoredReply { id, ..reply })
            }
            SegmentLine::Forgotten(forgotten) => {
                let there = || places.get(&(forgotten.segment, forgotten.start)).copied();
                let reply = Some(forgotten.reply.or_else(there)?);
                SegmentLine::Forgotten(Forgotten { reply, ..forgotten })
            }
        };
        self.add_line(&line).then_some(line)
    }

    /// The id here of an attempt of the other store; made from its `outcome` if its own line is lost.
    fn id_here(&self, id: &str, outcome: Key) -> String {
        let here = self.ids.get(id).and_then(|identity| self.attempts.get(identity));
        here.map_or_else(|| rename_attempt(id, outcome), String::clone)
    }
}

fn rename_attempt(id: &str, after: Key) -> String {
    format!("{}@{}", bare_id(id), &after.to_string()[..12])
}

/// An attempt's id as given by the store that made it.
fn bare_id(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}

fn of_attempt(attempt: &Attempt) -> Key {
    let numbers = [attempt.at_ms, attempt.reserved_picousd.in_picodollars() as u64];
    line::hash_identity(&attempt.key, &numbers, &[bare_id(&attempt.id)])
}

fn of_failure(failure: &Failure) -> Key {
    let numbers = [failure.at_ms, failure.elapsed_ms, failure.charged_picousd.in_picodollars() as u64];
    line::hash_identity(&failure.key, &numbers, &[bare_id(&failure.id), &failure.error])
}

/// Passes each whole line of the sound segments in a folder on, with its segment and offset, in order.
fn each_line(dir: &Path, mut take: impl FnMut((Number, u64), SegmentLine)) -> Result<(), StoreError> {
    let ((listed, _), _) = registry::examine_segments(dir)?;
    for (number, is_sealed) in listed {
        let raw = segment::read_lines(dir, number, is_sealed)?;
        for (start, bytes, line) in line::parse_lines(&raw) {
            // `verify` reports lines that cannot be read.
            if let (Ok(line), true) = (line, bytes.ends_with(b"\n")) {
                take((number, start), line);
            }
        }
    }
    Ok(())
}
