//! The decision over all posts at once: which are similar, which are kept, and what the others are merged
//! into.

use std::borrow::Cow;

use rayon::prelude::*;

use super::ranks::{Keeper, Standing, find_keepers, first_by_rank, rank_records};
use super::similar_pairs::{SimilarPair, row_pairs, similar_pairs, tagged_text};
use crate::join::Watch;
use crate::offline::settings;
use crate::text::sameness::Predicate;
use crate::text::time;
use riddlemill_record::{Outcome, Post, Reason, Witness};

/// The outcome of each post, in order: a merge, or `None` if it is kept. `each_pair` is called with every
/// pair of similar posts, by index.
pub fn dedup_posts(
    posts: &[Post],
    settings: &settings::Dedup,
    watch: &dyn Watch,
    mut each_pair: impl FnMut(u32, u32, Option<&SimilarPair>),
) -> Vec<Option<Outcome<Post>>> {
    let found = Found::among_posts(posts, settings, watch);
    row_pairs(&found.groups, &found.similar_pairs).for_each(|(a, b, like)| each_pair(a, b, like));
    found.decide_outcomes(posts)
}

/// Groups of equal texts, their similar pairs, and which of them are kept.
#[derive(Debug)]
pub struct Found {
    /// Rows that count as equal.
    pub groups: Vec<Vec<u32>>,
    /// Similar pairs of groups.
    pub similar_pairs: Vec<SimilarPair>,
    /// The rank of each row in the keeper policy.
    pub ranks: Vec<u32>,
    /// The row of each group that ranks first.
    pub heads: Vec<usize>,
}

impl Found {
    /// Joins the posts by their texts.
    pub fn among_posts(posts: &[Post], settings: &settings::Dedup, watch: &dyn Watch) -> Found {
        let tagged: Vec<Cow<'_, str>> =
            posts.par_iter().map(|post| tagged_text(post, settings.language)).collect();
        let texts: Vec<&str> = tagged.iter().map(AsRef::as_ref).collect();
        let (groups, similar_pairs) = similar_pairs(&texts, settings, watch);
        let standings: Vec<Standing> = posts.par_iter().map(standing_of_post).collect();
        let ranks = rank_records(&standings, settings.keep, |row| posts[row as usize].id.as_str());
        Found::from_join(groups, similar_pairs, ranks)
    }

    /// Combines the result of a join with the ranks of its rows.
    pub fn from_join(groups: Vec<Vec<u32>>, similar_pairs: Vec<SimilarPair>, ranks: Vec<u32>) -> Found {
        let heads = heads_of_groups(&groups, &ranks);
        Found { groups, similar_pairs, ranks, heads }
    }

    /// The outcome of each post, in order: a merge, or `None` if it is kept.
    pub fn decide_outcomes(&self, posts: &[Post]) -> Vec<Option<Outcome<Post>>> {
        let gone = posts.iter().zip(self.merged_rows());
        gone.map(|(post, gone)| gone.map(|(into, keeper)| merged_post(post, &posts[into], keeper))).collect()
    }

    /// For each row that is merged: its target row and, unless the two texts count as equal, the keeper.
    pub fn merged_rows(&self) -> Vec<Gone> {
        let keepers = find_keepers(&self.heads, &self.similar_pairs, &self.ranks);
        merged_rows(&self.groups, &self.heads, &keepers, self.ranks.len())
    }
}

/// What a row is merged into, if anything: its target row and, unless the two texts count as equal, the keeper.
pub type Gone = Option<(usize, Option<Keeper>)>;

/// [`Found::merged_rows`], of so many rows.
pub(super) fn merged_rows(
    groups: &[Vec<u32>],
    heads: &[usize],
    keepers: &[Option<Keeper>],
    rows: usize,
) -> Vec<Gone> {
    let mut gone = vec![None; rows];
    for ((group, rows), &keeper) in groups.iter().enumerate().zip(keepers) {
        let into = keeper.map_or(heads[group], |k| heads[k.into as usize]);
        for &row in rows.iter().filter(|row| **row as usize != into) {
            gone[row as usize] = Some((into, keeper));
        }
    }
    gone
}

/// The row of each group that ranks first.
pub fn heads_of_groups(groups: &[Vec<u32>], ranks: &[u32]) -> Vec<usize> {
    groups.iter().map(|rows| first_by_rank(rows, ranks)).collect()
}

/// Whether a text in a script with letter case has no lower-case letter: true for `WHY DON'T FISH DROWN?`,
/// false for `VIP是什么`.
fn is_shouted(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = text.chars().filter(|c| c.is_uppercase()).count();
    // An abbreviation alone is not shouting.
    letters > 3 && capitals == letters
}

/// The properties that the keeper policy compares.
pub fn standing_of_post(post: &Post) -> Standing {
    Standing {
        published: riddlemill_record::is_published(&post.id),
        shouts: is_shouted(&post.text),
        chars: post.text.chars().count() as u32,
        score: post.score,
        time: post.time.as_deref().and_then(time::unix_seconds),
    }
}

/// The outcome of a post that is merged into another.
pub fn merged_post(post: &Post, into: &Post, keeper: Option<Keeper>) -> Outcome<Post> {
    merged_text(&post.text, (&into.id, &into.text), keeper)
}

/// The outcome of a record with this text that is merged into the record with this id and text.
pub fn merged_text<R>(text: &str, into: (&str, &str), keeper: Option<Keeper>) -> Outcome<R> {
    let Witness { levenshtein, jaro_winkler, sorensen_dice } = measure_witness(text, into.1);
    let of = if is_figured_whole(text) && is_figured_whole(into.1) {
        String::new()
    } else {
        format!(" of the first {MOST_FIGURED} characters")
    };
    let figures =
        format!("levenshtein {levenshtein:.4}, jaro-winkler {jaro_winkler:.4}, dice {sorensen_dice:.4}{of}");
    let (reason, score, predicate) = match keeper {
        None => (Reason::ExactDuplicate, 1.0, Predicate::Identical.name()),
        Some(k) if k.predicate == Predicate::Identical.name() => {
            (Reason::ExactDuplicate, k.score, k.predicate)
        }
        Some(k) => (Reason::NearDuplicate, k.score, k.predicate),
    };
    Outcome::Merged { into: into.0.into(), reason, score, evidence: format!("{predicate}; {figures}") }
}

/// Characters of a text of which [`measure_witness`] tells: each figure takes time with the product of two lengths.
const MOST_FIGURED: usize = 4_000;

fn is_figured_whole(text: &str) -> bool {
    text.char_indices().nth(MOST_FIGURED).is_none()
}

/// Similarity figures of a merge that any string library gives for the same two texts; of longer ones, for their first 4,000
/// characters.
pub fn measure_witness(a: &str, b: &str) -> Witness {
    if a == b {
        // The values of equal texts, computed directly because long texts would take minutes.
        return Witness { levenshtein: 1.0, jaro_winkler: 1.0, sorensen_dice: 1.0 };
    }
    let first = |text: &str| text.char_indices().nth(MOST_FIGURED).map_or(text.len(), |(end, _)| end);
    let (a, b) = (&a[..first(a)], &b[..first(b)]);
    Witness {
        levenshtein: strsim::normalized_levenshtein(a, b),
        jaro_winkler: strsim::jaro_winkler(a, b),
        sorensen_dice: strsim::sorensen_dice(a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_long_texts_are_of_their_beginning_and_say_so() {
        let long = "鱼会淹死吗".repeat(40_000);
        let Outcome::Merged { evidence, .. } = merged_text::<Post>(&format!("{long}。"), ("p", &long), None)
        else {
            panic!("it is merged");
        };
        assert_eq!(
            evidence,
            "identical; levenshtein 1.0000, jaro-winkler 1.0000, dice 1.0000 of the first 4000 characters"
        );
        let Outcome::Merged { evidence, .. } = merged_text::<Post>("鱼会淹死吗。", ("p", "鱼会淹死吗"), None)
        else {
            panic!("it is merged");
        };
        assert!(!evidence.contains("of the first"), "{evidence}");
    }
}
