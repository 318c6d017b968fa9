//! Dedup: one record per joke. A record is merged only into one that is itself kept and directly similar, so
//! a chain of similar records never merges a joke into one that it does not resemble.
//!
//! Which record of a pair is kept does not depend on the order of the input: records are ranked by the keeper
//! policy, then by id. In that order each one is merged into the kept record that it resembles most, or is
//! kept itself.
//!
//! [`similar_pairs()`] finds similar records, [`rank_records`] orders them for keeping, [`find_keepers`] chooses the
//! targets of merges, and [`dedup_posts`] does all of it; [`similar_pairs_on_disk()`] and [`gone_on_disk`] do it for more
//! than fits in memory; [`similar_across`] finds the pairs between two sets of records;
//! [`parted`] does the same in parts, for rows that are spread over many machines.

mod against;
mod on_disk;
mod pair_file;
pub mod parted;
mod ranks;
mod similar_pairs;
mod whole;

pub use against::{Across, Resemblance, find_resemblances, similar_across, similar_across_on_disk};
pub use on_disk::{gone_on_disk, same_rows_on_disk, similar_pairs_on_disk};
pub use pair_file::{PairsOnDisk, Sorted};
pub use ranks::{Keeper, Standing, find_keepers, first_by_rank, rank_records};
pub use similar_pairs::{
    SimilarPair, decimal_threshold, join_query, metric_name, row_pairs, similar_pairs, tagged_text,
};
pub use whole::{
    Found, Gone, dedup_posts, heads_of_groups, measure_witness, merged_post, merged_text, standing_of_post,
};
