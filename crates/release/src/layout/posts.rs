//! Candidate posts: a recipe's rows before people and models work on them.

use super::{Column, Kind, Layout, column, maybe, one_of};
use crate::record::{Post, PostKind};
use crate::row::Row;

const COLUMNS: &[Column] = &[
    column("id", Kind::Text, "The record's id, from its source or from its text."),
    column("text", Kind::Text, "Its text, after the stages of the card."),
    one_of(
        "kind",
        &["thread", "numbered", "plain", "riddle"],
        "A thread, a numbered post of one, a plain text, or a text with its answer.",
    ),
    maybe("score", Kind::Real, "The score its readers gave it, on the source's own scale."),
    maybe("number", Kind::Count, "Its number in its thread."),
    maybe("time", Kind::Text, "When it was written, as the source says."),
    column("source", Kind::Text, "The source's name."),
    column("file", Kind::Text, "The file of the source."),
    column("position", Kind::Count, "The line in that file, or the item of its array, from 1."),
    maybe("licence", Kind::Text, "The licence its source states."),
];

/// The config is renamed to the recipe.
pub(super) const LAYOUT: Layout = Layout {
    config: "posts",
    about: "A record that is a candidate for the benchmark; no person has looked at it yet.",
    columns: COLUMNS,
    compat: &[],
    task: None,
    labels: &["kind"],
    standing: None,
    sometimes: &[],
    declared: None,
};

/// A post as a released row.
pub fn post_row(post: Post) -> Row {
    let kind = match post.kind {
        PostKind::Thread => "thread",
        PostKind::Numbered => "numbered",
        PostKind::Plain => "plain",
        PostKind::Riddle => "riddle",
    };
    Row(vec![
        post.id.into(),
        post.text.into(),
        kind.to_string().into(),
        post.score.into(),
        post.number.into(),
        post.time.into(),
        post.source.into(),
        post.file.into(),
        post.position.into(),
        post.licence.into(),
    ])
}
