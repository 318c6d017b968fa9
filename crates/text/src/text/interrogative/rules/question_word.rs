//! Question word.
//!
//! What: an open `谁`, `什么`, `哪`, `怎么`, `多少` … in the last sentence, without a full stop after it.
//! Why: with nothing after it the question is left to the reader; a full stop marks a statement.
//! Known problems: a lament in the last clause (`怎么又下雨了`) counts, unless it ends in `！`.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "question-word",
    definition: "The last thing said has a question word that asks.",
    example: "剃了光头的蒲公英要怎么许愿",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    if post.is_narrated() {
        return None;
    }
    post.open_last(|kind| matches!(kind, Kind::How | Kind::What | Kind::Which))
}
