//! Passing remark.
//!
//! What: an open question word or alternative without a mark, and the post goes on past it.
//! Why: `怎么还不下班，我的影子都回家了`: the word laments or sets the scene; what counts comes after.
//! Known problems: a real question without mark that is explained in the next clause is missed.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "passing-remark",
    definition: "A question word without a mark, and the post goes on past it.",
    example: "楼下的路灯怎么还不下班，看来它也没有双休",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.operators().find(|op| op.is_open()).map(|op| op.span.clone())
}
