//! The profile language: its keys, the fields of a post, and errors.

use riddlemill_schema::{Key, Kind, Setting};

use super::pick::{Place, ReadAs};

riddlemill_schema::choice! {
    /// The format of a page.
    #[derive(Default)]
    pub enum Format {
        /// HTML, with CSS selectors.
        #[default]
        Html = "html",
        /// JSON, with pointers.
        Json = "json",
        /// XML, read as JSON, with pointers.
        Xml = "xml",
    }
}

riddlemill_schema::choice! {
    /// Which posts of a page are jokes.
    #[derive(Default)]
    pub enum Jokes {
        /// All of them.
        #[default]
        All = "all",
        /// The first of each thread.
        First = "first",
        /// The numbered ones in a thread whose owner numbers jokes; in others the first.
        Numbered = "numbered",
    }
}

riddlemill_schema::choice! {
    /// Where a value is looked for, if not in its usual place.
    pub(super) enum Within {
        /// In the post.
        Item = "item",
        /// On the page.
        Page = "page",
        /// In the address of the page.
        Address = "address",
    }
}

/// A field of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The site's own number or name for it.
    Id,
    Thread,
    /// Its page in the thread.
    Page,
    /// Its position in the thread.
    Floor,
    /// Title.
    Title,
    /// Text.
    Body,
    Author,
    Time,
    /// The answer of a riddle.
    Answer,
    /// The readers' score.
    Score,
    /// Pictures in it; every match counts.
    Images,
    /// Links in it, whose texts are taken; every match counts.
    Links,
}

impl Field {
    /// In the order of reports.
    pub const ALL: [Field; 12] = [
        Field::Id,
        Field::Thread,
        Field::Page,
        Field::Floor,
        Field::Title,
        Field::Body,
        Field::Answer,
        Field::Author,
        Field::Time,
        Field::Score,
        Field::Images,
        Field::Links,
    ];

    /// Its key.
    pub fn name(self) -> &'static str {
        match self {
            Field::Id => "id",
            Field::Thread => "thread",
            Field::Page => "page",
            Field::Floor => "floor",
            Field::Title => "title",
            Field::Body => "body",
            Field::Author => "author",
            Field::Time => "time",
            Field::Answer => "answer",
            Field::Score => "score",
            Field::Images => "images",
            Field::Links => "links",
        }
    }

    pub(super) fn default_place(self) -> Place {
        if matches!(self, Field::Thread | Field::Page) { Place::Page } else { Place::Item }
    }
}

/// One text, or several.
const TEXTS: Kind = Kind::Either(&[Kind::Text, Kind::List(&Kind::Text)]);
/// The words before the parts of a post.
const LABELS: Kind = Kind::Table(&[
    Key::new("body", TEXTS, "Before the text: a word, or several."),
    Key::new("answer", TEXTS, "Before the answer: a word, or several."),
]);
/// One way to find a value.
const WAY: Kind = Kind::Either(&[Kind::Text, Kind::Table(PICK_KEYS)]);
/// A value of a page.
const PICK: Kind = Kind::Either(&[Kind::Text, Kind::Table(PICK_KEYS), Kind::List(&WAY)]);

/// The keys of a profile.
pub const KEYS: &[Key] = &[
    Key::new("about", Kind::Text, "What it is for, in one line; `profiles list` shows it."),
    Key::new(
        "format",
        <Format as Setting>::KIND,
        "\"html\" (CSS selectors), \"json\" (pointers, /data/items/*/title) or \"xml\" (pointers, an attribute is /@name).",
    )
    .or("\"html\""),
    Key::new(
        "encoding",
        Kind::Text,
        "The encoding of pages that declare none and are not UTF-8: \"gb18030\", \"windows-1252\", …; default: detected from the bytes.",
    ),
    Key::new(
        "zone",
        Kind::Text,
        "The time zone of times without one: \"+08:00\" (the default), \"UTC\", \"-05:00\".",
    )
    .or("\"+08:00\""),
    Key::new(
        "time_formats",
        TEXTS,
        "Forms of times in addition to the usual ones: \"%d.%m.%Y %H:%M\", \"unix\", \"unix_ms\".",
    ),
    Key::new(
        "namespace",
        Kind::Text,
        "The prefix of the ids, <namespace>:<id>; default: the host of the page.",
    ),
    Key::new(
        "lists",
        TEXTS,
        "Addresses of lists: \"/forum-*\". Without this key, pages with links that `list` finds are lists.",
    ),
    Key::new(
        "threads",
        TEXTS,
        "Addresses of pages of posts: \"/thread-*\". Without this key, pages with an `item` are pages of posts.",
    ),
    Key::new(
        "pages",
        TEXTS,
        "Addresses of pages that must have posts: of others, those without a post are left out as pages of another kind.",
    ),
    Key::new(
        "list_has",
        Kind::Text,
        "Something that every list has, for pages whose address does not show what they are.",
    ),
    Key::new(
        "thread_has",
        Kind::Text,
        "Something that every page of posts has, for pages whose address does not show what they are.",
    ),
    Key::new(
        "unwrap",
        Kind::Text,
        "Elements with markup in comments, which a script of the page would insert.",
    ),
    Key::new("row", Kind::Text, "One thread in a list; `list` and `changed` are looked up in it."),
    Key::new("list", PICK, "Links from a list to pages of posts."),
    Key::new(
        "changed",
        PICK,
        "In a row: a value that changes when the thread has new posts (the number of replies, the last time).",
    ),
    Key::new("next", PICK, "The link to the next page, in lists and threads."),
    Key::new("item", Kind::Text, "One post."),
    Key::new(
        "each",
        Kind::Text,
        "A pattern with named groups ((?<body>…), (?<answer>…)): each match in the text of an item is a post.",
    ),
    Key::new(
        "labels",
        LABELS,
        "Words before the parts of a post, { body = \"Riddle\", answer = \"Answer\" }, where no `item` is found: bold, each with the text behind it. With `answer` alone: words that start a line, and the paragraphs before them.",
    ),
    Key::new(
        "asks",
        Kind::Text,
        "With `labels` that have no `body`: what a paragraph has that is answered; default: \"[?？]\".",
    )
    .or("'[?？]'"),
    Key::new("id", PICK, "The site's own id of a post; two groups of a pattern are joined by `:`."),
    Key::new(
        "own_id",
        PICK,
        "The id of the post that the page is about, on the page or in its address: that of its first post, unless another one has it.",
    ),
    Key::new("thread", PICK, "The id of the thread, on the page."),
    Key::new("page", PICK, "The number of the page, on the page."),
    Key::new("floor", PICK, "The number of the post in its thread."),
    Key::new(
        "first_floor",
        Kind::Whole(0, i64::MAX),
        "The floor of the first post: 1, or 0 on some sites.",
    )
    .or("1"),
    Key::new(
        "title",
        PICK,
        "The title, in the item or otherwise on the page, where it is the title of the first post.",
    ),
    Key::new("body", PICK, "The text; default: the text of the whole item."),
    Key::new("author", PICK, "The author; hashed at import."),
    Key::new("time", PICK, "The time of the post."),
    Key::new(
        "answer",
        PICK,
        "The answer of a riddle. A profile with this key describes riddles, a profile without it posts.",
    ),
    Key::new("score", PICK, "The score that readers gave it."),
    Key::new("images", PICK, "Pictures in it."),
    Key::new(
        "links",
        PICK,
        "Links in it, whose texts may be glued to its own and are no part of it; of posts by `labels`, all.",
    ),
    Key::new(
        "strip",
        TEXTS,
        "Elements that are removed from every text: quotations, edit notes, signatures.",
    ),
    Key::new(
        "strip_text",
        TEXTS,
        "Patterns that are removed from texts: \"(?s)\\\\[quote\\\\].*?\\\\[/quote\\\\]\".",
    ),
    Key::new("gone", TEXTS, "Patterns of texts that replace a removed post: \"^\\\\[removed\\\\]$\"."),
    Key::new(
        "jokes",
        <Jokes as Setting>::KIND,
        "\"all\" posts, the \"first\" of each thread, or \"numbered\": those numbered by the thread's owner, or otherwise the first.",
    )
    .or("\"all\""),
];

/// The keys of a value that is a table.
pub(super) const PICK_KEYS: &[Key] = &[
    Key::new("from", Kind::Text, "Where to look: a selector or a pointer."),
    Key::new("match", Kind::Text, "A pattern; its groups are taken."),
    Key::new(
        "in",
        <Within as Setting>::KIND,
        "Where to look for it: in the post, on the page, or in its address.",
    ),
    Key::new("as", <ReadAs as Setting>::KIND, "What it is read as.").or("\"text\""),
    Key::new(
        "template",
        Kind::Text,
        "What is made of it: \"{}\" is the value, \"{1} {2}\" are groups of the pattern.",
    ),
    Key::new("param", Kind::Text, "Of `next`: the parameter of the address that counts the pages."),
    Key::new("while", Kind::Text, "Of `next`: what a page has that is not the last one."),
    Key::new("of", Kind::Text, "Of an answer: where the id of the post is that it answers."),
];

/// A profile as JSON Schema, with which editors complete and check it.
pub fn json_schema() -> serde_json::Value {
    riddlemill_schema::json_schema::file_schema("Profile of a site for riddlemill", KEYS)
}

/// A mistake in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path of keys: `["time", "match"]`, `["title", "1"]`.
    pub path: Vec<String>,
    /// What is wrong.
    pub what: String,
    /// For an unknown word, the known ones.
    pub known: Vec<&'static str>,
}
