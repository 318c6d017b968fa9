//! The ledger records of a task's items: made where they are parsed, corrected where a post turns out to be a repetition.

use std::collections::BTreeMap;

use super::ReadItem;
use super::dump::BATCH;
use super::files::Dump;
use super::findings::Tally;
use super::same_id::{Fingerprint, Repeat, RepeatedPost, settle_again};
use super::table::LOSSES;
use crate::config::{SourceKind, toml_string};
use crate::stages::StageError;
use riddlemill_record::{Outcome, Post, Reason};
use riddlemill_tables::Batch;
use riddlemill_text::text::count_with_noun;

/// Items that one task parsed, recorded as if none of their posts had occurred before.
pub(super) struct ItemLedger {
    batch: Batch<Post>,
    /// Of every post, in order.
    pub(super) fingerprints: Vec<Fingerprint>,
    /// What became of the items.
    pub(super) tally: Tally,
    /// How many of its posts had a damaged id.
    damaged: u64,
    /// How many of its rows had each of [`LOSSES`].
    losses: [u64; LOSSES.len()],
    /// How many of its pages had each content-encoding that is not known.
    encodings: BTreeMap<String, u64>,
}

/// What is wrong with the ids and the values of a file.
#[derive(Default)]
pub(super) struct FileFaults {
    damaged: u64,
    apart: u64,
    edited: u64,
    losses: [u64; LOSSES.len()],
    encodings: BTreeMap<String, u64>,
}

impl FileFaults {
    /// Takes the posts of a task, once their ids were looked up.
    pub(super) fn count_faults(&mut self, ledger: &ItemLedger) {
        self.damaged += ledger.damaged;
        let repeats = ledger.fingerprints.iter().filter_map(|fingerprint| fingerprint.again);
        for repeat in repeats.filter(|repeat| !repeat.same) {
            match repeat.apart {
                true => self.apart += 1,
                false => self.edited += 1,
            }
        }
        self.losses.iter_mut().zip(ledger.losses).for_each(|(sum, count)| *sum += count);
        for (name, count) in &ledger.encodings {
            *self.encodings.entry(name.clone()).or_default() += count;
        }
    }

    /// What the user has to know.
    pub(super) fn describe_faults(&self, dump: &Dump) -> Vec<String> {
        let file = format!("{}/{}", dump.source, dump.file);
        let mut words = Vec::new();
        if self.damaged > 0 {
            words.push(format!(
                "{file}: {} with an id that names no post, because a spreadsheet or a program rounded or replaced it; kept with an id \
                 made from the text, which no other source shares\n  hint: save the column of ids as text, and import the file \
                 again; `riddlemill show import --reason {}` lists them",
                count_with_noun(self.damaged, "post"),
                Reason::DamagedId.code()
            ));
        }
        if self.apart > 0 {
            words.push(format!(
                "{file}: {} with the id of an earlier post, but an unlike text, kept apart\n  hint: {}; `riddlemill show import --reason \
                 {}` lists them",
                count_with_noun(self.apart, "post"),
                id_remedy(dump),
                Reason::IdTaken.code()
            ));
        }
        // An id of a site is that of one post, whatever file it is in; a bare number may be that of a row.
        let is_bare =
            dump.kind == SourceKind::Table && dump.fields.get("id").is_some_and(|id| !id.contains(':'));
        if self.edited > 0 && is_bare {
            words.push(format!(
                "{file}: {} with the id of an earlier post and a text that is near, taken for an edit of it and merged\n  hint: {}; \
                 `riddlemill show import --reason {}` lists them",
                count_with_noun(self.edited, "post"),
                id_remedy(dump),
                Reason::SameId.code()
            ));
        }
        for (count, (_, what, remedy)) in self.losses.iter().zip(LOSSES).filter(|(count, _)| **count > 0) {
            words.push(format!(
                "{file}: {} {what}\n  hint: {remedy}; `riddlemill show import --reason {}` lists them",
                count_with_noun(*count, "post"),
                Reason::Mended.code()
            ));
        }
        for (name, count) in &self.encodings {
            words.push(format!(
                "{file}: {} with a content-encoding that is not known ({name:?}), read as they are\n  hint: look whether their texts \
                 are whole; where they are packed, unpack the bodies of the archive",
                count_with_noun(*count, "page"),
            ));
        }
        words
    }
}

/// What mends ids that two posts have: which of the causes it is, only their owner knows.
fn id_remedy(dump: &Dump) -> String {
    let rounded = "where a spreadsheet rounded the ids, save their column as text";
    let stem = dump.file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    match (dump.kind, dump.fields.get("id")) {
        (SourceKind::Table, Some(column)) => {
            let column = if column.contains('{') { column.clone() } else { format!("{{{column}}}") };
            let id = toml_string(&format!("{stem}:{column}"));
            format!(
                "where each file numbers its own rows, give this one a [[source]] of its own, with `id = {id}` in its `fields`; \
                 {rounded}"
            )
        }
        (SourceKind::Profile, _) => {
            let name = toml_string(stem);
            format!(
                "where it is of another site than the earlier post, give it a [[source]] of its own, with `namespace = {name}`"
            )
        }
        _ => rounded.to_owned(),
    }
}

impl Default for ItemLedger {
    fn default() -> ItemLedger {
        // A core's share is cut in two, and further where another core has nothing to do.
        let room = BATCH / rayon::current_num_threads().max(1) / 2;
        let tally = Tally::default();
        let fingerprints = Vec::with_capacity(room);
        ItemLedger {
            batch: Batch::with_room((), room),
            fingerprints,
            tally,
            damaged: 0,
            losses: [0; LOSSES.len()],
            encodings: BTreeMap::new(),
        }
    }
}

impl ItemLedger {
    pub(super) fn append_outcome(&mut self, read: &ReadItem) {
        self.batch.append(&read.locator, &read.outcome);
        self.tally.count_outcome(read);
        self.fingerprints.extend(&read.fingerprints);
        if let Some(name) = &read.unknown_encoding {
            *self.encodings.entry(name.clone()).or_default() += 1;
        }
        if let Outcome::Changed { rule, evidence, .. } = &read.outcome {
            self.damaged += u64::from(*rule == Reason::DamagedId.code());
            for (count, (noted, ..)) in self.losses.iter_mut().zip(LOSSES) {
                *count += u64::from(evidence.contains(noted));
            }
        }
    }

    /// The batch as part of all items, once [`super::same_id::SeenIds`] has looked up its posts.
    ///
    /// # Errors
    /// [`StageError`]; equal lengths rule it out.
    pub(super) fn settle_batch(self) -> Result<Batch<Post>, StageError> {
        // Without a repetition the batch need not be taken apart.
        if self.fingerprints.iter().all(|fingerprint| fingerprint.again.is_none()) {
            return Ok(self.batch);
        }
        let mut fingerprints = self.fingerprints.iter();
        let mut settled = Batch::with_room((), self.batch.count_entries());
        for record in self.batch.into_records()? {
            let known = fingerprints.by_ref().take(record.rows.len()).enumerate();
            let again: Vec<RepeatedPost> = known
                .filter_map(|(row, fingerprint)| {
                    let Repeat { same, apart } = fingerprint.again?;
                    Some(RepeatedPost { row, same, apart })
                })
                .collect();
            settle_again(record, &again).into_iter().for_each(|record| settled.append_ledger_record(record));
        }
        Ok(settled)
    }
}
