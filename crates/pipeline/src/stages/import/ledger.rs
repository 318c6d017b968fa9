//! The ledger records of a task's items: made where they are parsed, corrected where a post turns out to be a repetition.

use super::Read;
use super::dump::BATCH;
use super::findings::Tally;
use super::same_id::{Again, Fingerprint, settle_again};
use crate::stages::StageError;
use riddlemill_tables::Batch;
use riddlemill_text::record::Post;

/// Items that one task parsed, recorded as if none of their posts had occurred before.
pub(super) struct ItemLedger {
    batch: Batch<Post>,
    /// Of every post, in order.
    pub(super) fingerprints: Vec<Fingerprint>,
    /// What became of the items.
    pub(super) tally: Tally,
}

impl Default for ItemLedger {
    fn default() -> ItemLedger {
        // A core's share is cut in two, and further where another core has nothing to do.
        let room = BATCH / rayon::current_num_threads().max(1) / 2;
        let tally = Tally::default();
        ItemLedger { batch: Batch::with_room((), room), fingerprints: Vec::with_capacity(room), tally }
    }
}

impl ItemLedger {
    pub(super) fn append(&mut self, read: &Read) {
        self.batch.append(&read.locator, &read.outcome);
        self.tally.count(read);
        self.fingerprints.extend(&read.fingerprints);
    }

    /// The batch as part of all items, once [`super::same_id::Seen`] has looked up its posts.
    ///
    /// # Errors
    /// [`StageError`]; equal lengths rule it out.
    pub(super) fn settled(self) -> Result<Batch<Post>, StageError> {
        // Without a repetition the batch need not be taken apart.
        if self.fingerprints.iter().all(|fingerprint| fingerprint.again.is_none()) {
            return Ok(self.batch);
        }
        let mut fingerprints = self.fingerprints.iter();
        let mut settled = Batch::with_room((), self.batch.entries());
        for record in self.batch.records()? {
            let known = fingerprints.by_ref().take(record.rows.len()).enumerate();
            let again: Vec<Again> = known
                .filter_map(|(row, fingerprint)| Some(Again { row, same: fingerprint.again? }))
                .collect();
            settle_again(record, &again).into_iter().for_each(|record| settled.take(record));
        }
        Ok(settled)
    }
}
