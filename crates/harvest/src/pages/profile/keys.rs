//! The profile language: its keys, the fields of a post, and errors.

use super::pick::Place;

/// The format of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// HTML, with CSS selectors.
    #[default]
    Html,
    /// JSON, with pointers.
    Json,
    /// XML, read as JSON, with pointers.
    Xml,
}

/// Which posts of a page are jokes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jokes {
    /// All of them.
    #[default]
    All,
    /// The first of each thread.
    First,
    /// The numbered ones in a thread whose owner numbers jokes; in others the first.
    Numbered,
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

    pub(super) fn place(self) -> Place {
        if matches!(self, Field::Thread | Field::Page) { Place::Page } else { Place::Item }
    }
}

/// The keys of a profile, with descriptions.
pub const KEYS: &[(&str, &str)] = &[
    ("about", "What it is for, in one line; `profiles list` shows it."),
    (
        "format",
        "\"html\" (CSS selectors), \"json\" (pointers, /data/items/*/title) or \"xml\" (pointers, an attribute is /@name).",
    ),
    (
        "encoding",
        "The encoding of pages that declare none and are not UTF-8: \"gb18030\", \"windows-1252\", …; default: detected from the bytes.",
    ),
    ("zone", "The time zone of times without one: \"+08:00\" (the default), \"UTC\", \"-05:00\"."),
    (
        "time_formats",
        "Forms of times in addition to the usual ones: \"%d.%m.%Y %H:%M\", \"unix\", \"unix_ms\".",
    ),
    ("namespace", "The prefix of the ids, <namespace>:<id>; default: the host of the page."),
    (
        "lists",
        "Addresses of lists: \"/forum-*\". Without this key, pages with links that `list` finds are lists.",
    ),
    (
        "threads",
        "Addresses of pages of posts: \"/thread-*\". Without this key, pages with an `item` are pages of posts.",
    ),
    (
        "pages",
        "Addresses of pages that must have posts: of others, those without a post are left out as pages of another kind.",
    ),
    ("list_has", "Something that every list has, for pages whose address does not show what they are."),
    (
        "thread_has",
        "Something that every page of posts has, for pages whose address does not show what they are.",
    ),
    ("unwrap", "Elements with markup in comments, which a script of the page would insert."),
    ("row", "One thread in a list; `list` and `changed` are looked up in it."),
    ("list", "Links from a list to pages of posts."),
    (
        "changed",
        "In a row: a value that changes when the thread has new posts (the number of replies, the last time).",
    ),
    ("next", "The link to the next page, in lists and threads."),
    ("item", "One post."),
    (
        "each",
        "A pattern with named groups ((?<body>…), (?<answer>…)): each match in the text of an item is a post.",
    ),
    (
        "labels",
        "Words before the parts of a post, { body = \"Riddle\", answer = \"Answer\" }, where no `item` is found: bold, each with the text behind it. With `answer` alone: words that start a line, and the paragraphs before them.",
    ),
    ("asks", "With `labels` that have no `body`: what a paragraph has that is answered; default: \"[?？]\"."),
    ("id", "The site's own id of a post; two groups of a pattern are joined by `:`."),
    (
        "own_id",
        "The id of the post that the page is about, on the page or in its address: that of its first post, unless another one has it.",
    ),
    ("thread", "The id of the thread, on the page."),
    ("page", "The number of the page, on the page."),
    ("floor", "The number of the post in its thread."),
    ("first_floor", "The floor of the first post: 1, or 0 on some sites."),
    ("title", "The title, in the item or otherwise on the page, where it is the title of the first post."),
    ("body", "The text; default: the text of the whole item."),
    ("author", "The author; hashed at import."),
    ("time", "The time of the post."),
    (
        "answer",
        "The answer of a riddle. A profile with this key describes riddles, a profile without it posts.",
    ),
    ("score", "The score that readers gave it."),
    ("images", "Pictures in it."),
    (
        "links",
        "Links in it, whose texts may be glued to its own and are no part of it; of posts by `labels`, all.",
    ),
    ("strip", "Elements that are removed from every text: quotations, edit notes, signatures."),
    ("strip_text", "Patterns that are removed from texts: \"(?s)\\\\[quote\\\\].*?\\\\[/quote\\\\]\"."),
    ("gone", "Patterns of texts that replace a removed post: \"^\\\\[removed\\\\]$\"."),
    (
        "jokes",
        "\"all\" posts, the \"first\" of each thread, or \"numbered\": those numbered by the thread's owner, or otherwise the first.",
    ),
];

/// The keys of a pick that is a table.
pub const PICK_KEYS: &[&str] = &["from", "match", "in", "as", "template", "param", "while", "of"];

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
