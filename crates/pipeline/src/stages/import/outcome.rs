//! What becomes of an item: a post, what remains of a withdrawn one, or the reason why it is set aside.

use super::{Parsed, native_id};
use crate::stages::withdrawal::Tombstone;
use riddlemill_text::record::{Outcome, Post, Reason};

/// A post is kept as it is; if its source made something else of its id, that is said.
pub(super) fn imported(post: Post, damaged_id: Option<String>) -> Outcome<Post> {
    let Some(written) = damaged_id else { return Outcome::Kept(post) };
    Outcome::Changed {
        rule: Reason::DamagedId.code(),
        evidence: native_id::damage(&written),
        before: String::new(),
        after: post.text.clone(),
        row: post,
    }
}

/// What remains of a withdrawn post: the day, but no text.
pub(super) fn buried(tombstone: &Tombstone) -> Outcome<Post> {
    let day = tombstone.at.get(..10).unwrap_or_default();
    Outcome::Dropped { reason: Reason::Withdrawn, evidence: format!("withdrawn on {day}") }
}

/// What could not be read is a failure; what a rule of the source leaves out is not.
pub(super) fn set_aside(parsed: Parsed) -> Outcome<Post> {
    use Reason::{Encoding, Oversize, PageUnparsed, Truncated, Unreadable};
    match parsed {
        Parsed::Out(reason @ (Encoding | Oversize | PageUnparsed | Truncated | Unreadable), evidence) => {
            Outcome::Failed { reason, evidence }
        }
        Parsed::Out(reason, evidence) => Outcome::Dropped { reason, evidence },
        Parsed::Bad(evidence) => Outcome::Failed { reason: Unreadable, evidence },
        Parsed::Part(into) => {
            let evidence = "a question of the same group".to_owned();
            Outcome::Merged { into, reason: Reason::GroupMember, score: 1.0, evidence }
        }
        Parsed::Post(_) | Parsed::Page(_) => {
            Outcome::Failed { reason: Unreadable, evidence: "a page inside a page".into() }
        }
    }
}
