//! Records of one id: the first in the order of the dumps is kept, a later one goes into it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;
use serde::Deserialize;

use super::{Read, short_digest};
use crate::record::{Outcome, Post, Reason, State};
use crate::store::Booked;

/// A post of a booked item whose id an earlier item had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Again {
    /// Its place among the item's rows, from 0.
    pub row: usize,
    /// Whether its text is that of the first post of the id.
    pub same: bool,
}

/// Which ids were read, each with a digest of its text: 32 bytes a record, so that a hundred
/// million fit in memory.
#[derive(Default)]
pub(super) struct Seen(HashMap<u128, u128, FxBuildHasher>);

impl Seen {
    /// Puts an entry and returns how many it became.
    pub(super) fn settle(&mut self, read: Read, put: impl FnMut(String, Outcome<Post>)) -> u64 {
        let Read { locator, outcome, digests } = read;
        let known = |row: usize, post: &Post| {
            let digest = digests.get(row).copied().unwrap_or_default();
            match self.0.entry(short_digest(&post.id)) {
                Entry::Vacant(place) => {
                    place.insert(digest);
                    None
                }
                Entry::Occupied(first) => Some(*first.get() == digest),
            }
        };
        settle(locator, outcome, known, put)
    }
}

/// An item that was booked by itself, where some of its posts are known to come `again`: what it is among
/// all items.
pub fn settle_again(booked: Booked<Post>, again: &[Again]) -> Vec<Booked<Post>> {
    let outcome = match State::from_code(&booked.entry.outcome) {
        Some(State::Kept) => booked.rows.into_iter().next().map(Outcome::Kept),
        Some(State::Expanded) => {
            Some(Outcome::Expanded(booked.rows.into_iter().map(|row| (row, PAGE)).collect()))
        }
        _ => return vec![booked],
    };
    let mut settled = Vec::new();
    if let Some(outcome) = outcome {
        let known = |row, _: &Post| again.iter().find(|known| known.row == row).map(|known| known.same);
        settle(booked.entry.id, outcome, known, |id, outcome| settled.push(Booked::of(id, outcome)));
    }
    settled
}

/// What a page is to the posts on it.
pub(super) const PAGE: &str = "post";

/// The first record of an id stays; a later one goes into it, and what it says otherwise is kept in the
/// ledger. A page's later posts get entries of their own. `known` says of a post whether its id came before,
/// and if so, whether with the same text.
fn settle(
    locator: String,
    outcome: Outcome<Post>,
    mut known: impl FnMut(usize, &Post) -> Option<bool>,
    mut put: impl FnMut(String, Outcome<Post>),
) -> u64 {
    match outcome {
        Outcome::Kept(post) => {
            let outcome = match known(0, &post) {
                None => Outcome::Kept(post),
                Some(same) => merged(post, same),
            };
            put(locator, outcome);
            1
        }
        Outcome::Expanded(rows) => {
            let (mut new, mut again) = (Vec::new(), Vec::new());
            for (at, (post, role)) in rows.into_iter().enumerate() {
                match known(at, &post) {
                    None => new.push((post, role)),
                    Some(same) => again.push(merged(post, same)),
                }
            }
            let entries = 1 + again.len() as u64;
            put(locator.clone(), Outcome::Expanded(new));
            for (i, merged) in again.into_iter().enumerate() {
                put(format!("{locator}#again{}", i + 1), merged);
            }
            entries
        }
        other => {
            put(locator, other);
            1
        }
    }
}

fn merged(post: Post, same: bool) -> Outcome<Post> {
    let evidence = match same {
        true => "same text".to_string(),
        false => format!("other text: {}", post.text),
    };
    Outcome::Merged { into: post.id, reason: Reason::SameId, score: 1.0, evidence }
}
