//! Help.
//!
//! What: `怎么办`, `咋整`, `怎么回事` that no verb governs.
//! Why: the poster is at a loss and says so; a mark is often left out.
//! Known problems: a plan told as `怎么办就怎么办` is excluded only by the repetition.

use std::ops::Range;

use super::Page;
use crate::text::interrogative::kind::Kind;
use crate::text::interrogative::post::Post;

pub(super) const PAGE: Page = Page {
    code: "help",
    definition: "The poster is at a loss: `…怎么办`.",
    example: "冰箱把我的外卖冻成了化石怎么办",
};

pub(super) fn find(post: &Post<'_>) -> Option<Range<usize>> {
    post.open_from(Kind::Help)
}
