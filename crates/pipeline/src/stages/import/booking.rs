//! The books of a task's items: made where they are parsed, mended where a post turns out to come again.

use super::Read;
use super::dump::BATCH;
use super::same_id::{Again, Print, settle_again};
use crate::stages::StageError;
use riddlemill_tables::Batch;
use riddlemill_text::record::Post;

/// Items that one task parsed, booked as if no post of them came before.
pub(super) struct Booking {
    batch: Batch<Post>,
    /// Of every post, in order.
    pub(super) prints: Vec<Print>,
}

impl Default for Booking {
    fn default() -> Booking {
        // A core's share is cut in two, and further where another core has nothing to do.
        let room = BATCH / rayon::current_num_threads().max(1) / 2;
        Booking { batch: Batch::with_room(room), prints: Vec::with_capacity(room) }
    }
}

impl Booking {
    pub(super) fn put(&mut self, read: &Read) {
        self.batch.put(&read.locator, &read.outcome);
        self.prints.extend(&read.prints);
    }

    /// The batch among all that were read, once [`super::same_id::Seen`] met its posts.
    ///
    /// # Errors
    /// [`StageError`]; equal lengths rule it out.
    pub(super) fn settled(self) -> Result<Batch<Post>, StageError> {
        if self.prints.iter().all(|print| print.again.is_none()) {
            return Ok(self.batch);
        }
        let mut prints = self.prints.iter();
        let mut settled = Batch::with_room(self.batch.entries());
        for booked in self.batch.booked()? {
            let known = prints.by_ref().take(booked.rows.len()).enumerate();
            let again: Vec<Again> =
                known.filter_map(|(row, print)| Some(Again { row, same: print.again? })).collect();
            settle_again(booked, &again).into_iter().for_each(|booked| settled.take(booked));
        }
        Ok(settled)
    }
}
