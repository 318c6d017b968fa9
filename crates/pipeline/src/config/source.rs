//! `[[source]]`: the dumps of posts.

use std::collections::BTreeMap;

use serde::Serialize;

use riddlemill_schema::{Key, Kind, Section, Setting};

use super::licence::LICENCE as SPDX;
use riddlemill_harvest::pages::Profile;
use riddlemill_record::Language;

/// A dump, or several of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Its name: provenance in every record, not identity.
    pub name: String,
    /// Its format.
    pub kind: SourceKind,
    /// A path or glob, relative to pipeline.toml.
    pub path: String,
    /// The address for `fetch`.
    pub url: Option<String>,
    /// The required SHA-256 of the file.
    pub sha256: Option<String>,
    /// The licence of its texts.
    pub licence: Option<String>,
    /// The recipes that use it; empty means all that can.
    pub recipes: Vec<String>,
    /// The language of its posts, where it is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Which posts of a thread are taken.
    pub take: Take,
    /// For a published file: the benchmark whose form it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<&'static str>,
    /// For a table: the column, or a template of columns in braces, of each field of a post, and of each
    /// further column for declared records, prefixed with [`TABLE`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Columns of a table that a file may lack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub optional: Vec<String>,
    /// In files that are one JSON object: the pointer to the list of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The name of the profile of its pages.
    #[serde(rename = "profile", skip_serializing_if = "Option::is_none")]
    pub profile_name: Option<String>,
    /// The `[[crawl]]` that fetched these pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl: Option<String>,
    /// The profile itself, for a source of that kind.
    #[serde(skip)]
    pub profile: Option<Profile>,
    /// The line of its table in pipeline.toml.
    #[serde(skip)]
    pub line: usize,
}

impl Source {
    /// Whether a recipe of riddles or of posts reads it. A table may contain either: it is
    /// read as riddles by the recipes that it names.
    pub fn is_for_recipe(&self, recipe: &str, riddles: bool) -> bool {
        if let Some(benchmark) = self.published {
            return riddlemill_benchmarks::find_benchmark(benchmark)
                .is_some_and(|found| found.find_origin().name == recipe);
        }
        let named = self.recipes.iter().any(|name| name == recipe);
        match self.holds_riddles() == riddles {
            true => named || self.recipes.is_empty(),
            false => named && matches!(self.kind, SourceKind::Table | SourceKind::Profile),
        }
    }

    /// Whether it contains riddles and their answers instead of posts.
    fn holds_riddles(&self) -> bool {
        self.kind == SourceKind::Puzzles || self.profile.as_ref().is_some_and(Profile::holds_riddles)
    }
}

/// The formats of dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A JSON array of threads: title, abstract, link, author, number of replies.
    LeymoreTitles,
    /// A JSON array of posts of annual threads.
    LeymoreAnnual,
    /// Whole threads, one post per line.
    ThreadDump,
    /// aiotieba's Thread, Post and Comment converted with `asdict`, one per line.
    Aiotieba,
    /// Submissions or comments as Pushshift and Arctic Shift archive them.
    Reddit,
    /// COIG-CQIA: instruction, input, output.
    Cqia,
    /// JSON, JSONL, CSV, a workbook or Parquet with the columns named in `fields`.
    Table,
    /// Archived pages of the forum.
    Warc,
    /// Pages of any site, saved or archived, that a profile describes.
    Profile,
    /// Puzzles, one per line: id, question, answer.
    Puzzles,
    /// A published set with its annotations: `[[published]]`.
    Published,
}

/// Prefix of a table's further columns among its fields, and in expressions.
pub const TABLE: &str = "table.";

/// The formats of tables, which are no kinds of sources.
pub(super) const TABLE_FORMATS: &[&str] = &["csv", "tsv", "json", "jsonl", "ndjson", "parquet"];

/// The fields of a post that a table can provide.
pub const FIELDS: &[&str] = &["id", "title", "content", "author", "time", "score"];

impl SourceKind {
    /// The names in pipeline.toml.
    pub const NAMES: &[&str] = &[
        "leymore-titles",
        "leymore-annual",
        "thread-dump",
        "aiotieba",
        "reddit",
        "cqia",
        "table",
        "warc",
        "profile",
        "riddles-com",
        "rd",
        "puzzles",
    ];

    /// The names of those with posts: riddles are last.
    pub const OF_POSTS: &[&str] = Self::NAMES.split_at(Self::NAMES.len() - 3).0;

    /// The profile that a name of a kind means: these are kinds of their own in name only.
    pub fn profile_of(name: &str) -> Option<&'static str> {
        ["riddles-com", "rd"].into_iter().find(|kind| *kind == name)
    }

    /// The language of its posts where nobody states it: these are dumps of one forum, which is Chinese.
    pub fn language(self) -> Option<Language> {
        match self {
            SourceKind::LeymoreTitles
            | SourceKind::LeymoreAnnual
            | SourceKind::ThreadDump
            | SourceKind::Aiotieba
            | SourceKind::Cqia
            | SourceKind::Warc => Some(Language::Zh),
            SourceKind::Reddit
            | SourceKind::Table
            | SourceKind::Profile
            | SourceKind::Puzzles
            | SourceKind::Published => None,
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<SourceKind> {
        Some(match name {
            "leymore-titles" => SourceKind::LeymoreTitles,
            "leymore-annual" => SourceKind::LeymoreAnnual,
            "thread-dump" => SourceKind::ThreadDump,
            "aiotieba" => SourceKind::Aiotieba,
            "reddit" => SourceKind::Reddit,
            "cqia" => SourceKind::Cqia,
            "table" => SourceKind::Table,
            "warc" => SourceKind::Warc,
            "profile" => SourceKind::Profile,
            name if SourceKind::profile_of(name).is_some() => SourceKind::Profile,
            "puzzles" => SourceKind::Puzzles,
            // Has a table of its own, [[published]].
            "published" => SourceKind::Published,
            _ => return None,
        })
    }
}

const URL: Key = Key::new("url", Kind::Text, "The address for `fetch`; `path` is then optional.");
const SHA256: Key = Key::new("sha256", Kind::Text, "The required SHA-256 of the file.");
const LICENCE: Key = Key::new("licence", Kind::Form(&SPDX), "The licence of its texts, an SPDX identifier.");

/// The keys of a `[[published]]` table.
pub const PUBLISHED: Section = Section {
    name: "published",
    doc: "A published set, as its authors released it: texts with finished annotations, which have the standing `published` and are not votes.",
    keys: &[
        Key::required("benchmark", Kind::Text, "The benchmark whose published format the file has."),
        Key::new(
            "path",
            Kind::Text,
            "JSON, JSONL, CSV, Parquet or a numpy array: a file or glob, absolute or relative to this file.",
        ),
        Key::new(
            "name",
            Kind::Text,
            "Its name in every record's provenance; default: `published-` and the benchmark.",
        ),
        URL,
        SHA256,
        LICENCE,
    ],
};

riddlemill_schema::choice! {
    /// Which posts of a thread dump are candidates.
    #[derive(Default)]
    pub enum Take {
        /// In annual threads the owner's numbered main posts, else the first floor.
        #[default]
        Jokes = "jokes",
        /// Every main post.
        Main = "main",
    }
}

/// The keys of a `[[source]]` table.
pub const SOURCE: Section = Section {
    name: "source",
    doc: "Where posts come from. name, kind and path suffice; format and compression are recognised by the content.",
    keys: &[
        Key::required("name", Kind::Text, "Its name in every record's provenance."),
        Key::required("kind", Kind::Choice(SourceKind::NAMES), "Its format."),
        Key::new(
            "path",
            Kind::Text,
            "A file, a folder with all files below it, or a glob (`*.html`, `**/*.html`), absolute or relative to this file.",
        ),
        URL,
        SHA256,
        LICENCE,
        Key::new("recipes", Kind::Texts, "The recipes that use it; default: all that can.").or("[]"),
        Key::new(
            "language",
            Kind::Choice(Language::CODES),
            "The language of its posts: \"zh\", \"en\", or \"und\" for any other. Default: text.language, else Chinese for dumps of Tieba, else as detected in each post.",
        ),
        Key::new(
            "take",
            <Take as Setting>::KIND,
            "reddit: submissions, or comments too (\"main\"); thread-dump, aiotieba, warc: the numbered posts of annual threads, or every main post; profile: the posts selected by its `jokes`, or every post.",
        )
        .or("\"jokes\""),
        Key::new(
            "fields",
            Kind::Map(FIELDS),
            "table: the column of each field, or a template, as in { id = \"tieba:{tid}\", content = \"body\" }.",
        )
        .or("{}"),
        Key::new(
            "optional",
            Kind::Texts,
            "table: columns of `fields` and `columns` that a file may lack; any other column that no row of a file has is an error.",
        )
        .or("[]"),
        Key::new(
            "at",
            Kind::Text,
            "JSON whose objects hold a list: the pointer to the list of records, as in \"/data/items\", or \"/\" for the objects themselves. Default: the only list of objects, if the objects are no records.",
        ),
        Key::new(
            "columns",
            Kind::Names,
            "table: further columns, or templates, that declared benchmarks use as `table.NAME`, as in { system = \"System\" }.",
        )
        .or("{}"),
        Key::new("profile", Kind::Text, "profile: a name from profiles/ or `riddlemill profiles list`."),
        Key::new(
            "crawl",
            Kind::Text,
            "profile: the [[crawl]] whose pages these are; `path` and `profile` are then optional.",
        ),
        Key::new(
            "namespace",
            Kind::Text,
            "profile: prefix of the ids of its posts; default: the host of their page.",
        ),
    ],
};
