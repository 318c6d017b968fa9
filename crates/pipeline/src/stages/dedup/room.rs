//! The resources that dedup needs: memory if everything fits there, and otherwise disk space.

use super::DiskSpill;
use crate::config::sections;
use crate::stages::StageError;
use riddlemill_record::Post;
use riddlemill_tables::StageReader;
use riddlemill_text::offline::dedup::PairsOnDisk;
use riddlemill_text::text::count_with_noun;

/// Bytes that the join holds for a post in addition to those that grow with its text, and for a byte of text. Measured at a million
/// posts of 84 bytes, where the join of the default similarity takes most.
const OF_POST: u64 = 700;
const OF_TEXT: u64 = 20;

/// Bytes of working files for a post and for a byte of its text: readings and texts once, and what one join spells and
/// sorts of them, twice; and for a post some 80 bytes of each of three pairs, as many as a million posts have each.
const FILED_OF_POST: u64 = 350;
const FILED_OF_TEXT: u64 = 12;

/// Bytes of a pair while the pairs are sorted.
const SORTED_OF_PAIR: u64 = 32;

/// How many posts there are, and how long they are together.
pub(super) struct PostTotals {
    posts: u64,
    text: u64,
}

impl PostTotals {
    /// An estimate for the posts that earlier stages kept, from the lengths in the first part.
    pub fn estimate_needs(inputs: &[StageReader]) -> Result<Self, StageError> {
        let posts = inputs.iter().map(|input| input.table("rows").rows).sum();
        let first = inputs.iter().find_map(|input| input.read_parts::<Post>("rows").next()).transpose()?;
        let sample = first.unwrap_or_default();
        let read: u64 = sample.iter().map(|post| post.text.len() as u64).sum();
        Ok(Self { posts, text: posts.saturating_mul(read) / (sample.len() as u64).max(1) })
    }

    /// Bytes that it takes in memory.
    pub fn memory_bytes(&self) -> u64 {
        self.posts.saturating_mul(OF_POST).saturating_add(self.text.saturating_mul(OF_TEXT))
    }

    /// Bytes of its working files.
    fn file_bytes(&self) -> u64 {
        self.posts.saturating_mul(FILED_OF_POST).saturating_add(self.text.saturating_mul(FILED_OF_TEXT))
    }

    /// Refuses a disk that has no room for it; one that cannot be asked is found out when it is full.
    pub fn check_room(&self, on_disk: DiskSpill<'_>) -> Result<(), StageError> {
        let hint = format!(
            "let it hold all in memory: `--set dedup.memory_mib={}`",
            self.memory_bytes().div_ceil(1 << 20)
        );
        refuse_over(
            on_disk,
            self.file_bytes(),
            &format!("dedup of {}", count_with_noun(self.posts, "post")),
            &hint,
        )
    }

    /// The message to the user.
    pub fn describe_needs(&self, settings: &sections::Dedup) -> String {
        format!(
            "dedup: {} would take {} of memory, and dedup.memory_mib allows {} MiB: it works on \
             disk, with the same result",
            count_with_noun(self.posts, "post"),
            format_bytes(self.memory_bytes()),
            settings.memory_mib
        )
    }
}

/// Refuses a disk that has no room for these pairs being sorted, once it is known how many there are.
pub(super) fn room_of_pairs(pairs: &PairsOnDisk, on_disk: DiskSpill<'_>) -> Result<(), StageError> {
    let files = (pairs.len() as u64).saturating_mul(SORTED_OF_PAIR);
    let hint = "compare fewer posts, or under a higher `dedup.threshold`";
    refuse_over(
        on_disk,
        files,
        &format!("sorting {} of near duplicates", count_with_noun(pairs.len() as u64, "pair")),
        hint,
    )
}

fn refuse_over(on_disk: DiskSpill<'_>, bytes: u64, what: &str, hint: &str) -> Result<(), StageError> {
    let Ok(free) = fs4::available_space(on_disk.folder) else { return Ok(()) };
    if !on_disk.check || bytes <= free {
        return Ok(());
    }
    Err(StageError::NoRoom(format!(
        "{what} needs about {} for working files, and the disk of staged/ has {} free\n  hint: make room, \
         or {hint}; \
         `--set run.disk_check=false` runs anyway",
        format_bytes(bytes),
        format_bytes(free),
    )))
}

fn format_bytes(bytes: u64) -> String {
    match bytes {
        ..100_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
