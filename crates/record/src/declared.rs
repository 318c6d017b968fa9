//! A record of a benchmark that its folder declares alone.

use super::cell::record;
use super::{Post, PostKind};

record! {
    /// The steps of its benchmark declare the fields of a record in addition to its post: each makes a group with its name.
    pub struct Declared {
        /// The post's id.
        id: String,
        /// The text of the post.
        text: String,
        /// What part of a forum it was.
        kind: PostKind,
        /// The post's title, where no step has cleaned it.
        title: Option<String>,
        /// What is below the title, where no step has cleaned it.
        content: Option<String>,
        /// The score its readers gave it.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// What the thread's owner notes under it.
        note: Option<String>,
        /// When it was written, according to the source.
        time: Option<String>,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// The line or item in it.
        position: u64,
        /// The licence the source states.
        licence: Option<String>,
        /// What its steps left, as a JSON object: a key for each step that has made something, in their order.
        groups: String,
        /// What the self-checks of the drafts found, `step: finding`.
        flags: Vec<String>,
    }
}

impl From<Post> for Declared {
    fn from(post: Post) -> Declared {
        Declared {
            id: post.id,
            text: post.text,
            kind: post.kind,
            score: post.score,
            number: post.number,
            note: post.note,
            time: post.time,
            source: post.source,
            file: post.file,
            position: post.position,
            licence: post.licence,
            ..Declared::default()
        }
    }
}
