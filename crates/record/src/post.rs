//! A forum post, from which questions and jokes are made.

use super::Language;
use super::cell::{Cell, CellKind, Field, Values, record};

/// The part of a forum that a post is, which determines how its text is composed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PostKind {
    /// A thread: a title and what its first floor says.
    Thread,
    /// A numbered post of an annual thread: its whole text is in `content`.
    Numbered,
    /// A riddle: the title asks, the content is its answer where it has one.
    Riddle,
    /// A text without further structure.
    #[default]
    Plain,
}

impl PostKind {
    /// The value in rows.
    pub fn code(self) -> &'static str {
        match self {
            PostKind::Thread => "thread",
            PostKind::Numbered => "numbered",
            PostKind::Riddle => "riddle",
            PostKind::Plain => "plain",
        }
    }
}

impl Field for PostKind {
    const KIND: CellKind = CellKind::Text;
    const FILLED: bool = true;
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.code())
    }
    fn take(values: &mut dyn Values) -> Self {
        match values.text().as_deref() {
            Some("thread") => PostKind::Thread,
            Some("numbered") => PostKind::Numbered,
            Some("riddle") => PostKind::Riddle,
            _ => PostKind::Plain,
        }
    }
}

record! {
    /// A post. Import keeps the text verbatim in `title` and `content`; clean puts what the post
    /// says into `text` and leaves the two behind.
    pub struct Post {
        /// `tieba:<tid>`, `tieba:<tid>:<pid>`, `reddit:…`, `riddle:…`, or `text:<hash>`.
        id: String,
        /// How title and content make up the text.
        kind: PostKind,
        /// The text of the post. Before clean: title and content, one line break between.
        text: String,
        /// The thread's title, verbatim; null after clean.
        title: Option<String>,
        /// The first floor's or the post's text, verbatim; null after clean.
        content: Option<String>,
        /// The author as a salted hash.
        author: Option<String>,
        /// User names of its file that are in its own text, for anonymise; empty after it.
        mentions: Vec<String>,
        /// Texts of the links inside a riddle: what a site glues on is usually one of them.
        links: Vec<String>,
        /// When it was written, according to the source.
        time: Option<String>,
        /// The score its readers gave it, on the source's own scale.
        score: Option<f64>,
        /// Its number in an annual thread.
        number: Option<u64>,
        /// What the thread's owner notes under it, for readers who have forgotten the news.
        note: Option<String>,
        /// How many images it shows.
        images: u64,
        /// Its name of source in pipeline.toml. Provenance, not identity.
        source: String,
        /// The file's name.
        file: String,
        /// The line in the file, or the item of a JSON array, from 1.
        position: u64,
        /// The licence its source states.
        licence: Option<String>,
        /// Its language: `zh`, `en`, or `und` for what is neither or too little to tell.
        language: Option<Language>,
        /// How certain the language is, 0 to 1; 1 where its source or a setting states it.
        language_certainty: Option<f64>,
    }
}

impl Post {
    /// Title and content as written, with one line break between.
    pub fn join_title_and_content(title: Option<&str>, content: Option<&str>) -> String {
        match (title, content) {
            (Some(title), Some(content)) => [title, "\n", content].concat(),
            (Some(one), None) | (None, Some(one)) => one.into(),
            (None, None) => String::new(),
        }
    }
}
