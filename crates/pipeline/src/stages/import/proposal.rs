//! What `[[source]]` would read a file, by its first rows: a proposal, for a person to look at.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};
use toml_edit::{Document, Item};

use super::column_proposal::{Chosen, choose_columns};
use super::files::Dump;
use super::judgement::ITSELF;
use super::rows::RowFormat;
use super::site_proposal::{self, ReadPages};
use super::{findings, rows, shape};
use crate::config::{Profiles, SourceKind};
use riddlemill_files::reading::{Form, HEAD, open_unpacked, sniff_form};
use riddlemill_text::notation;
use riddlemill_text::text::language::{Language, detect};

/// Rows that are looked at.
const LOOKED_AT: usize = 200;
/// Bytes of a row; a longer one is passed over.
const LONGEST: u64 = 1 << 20;
/// Of a hundred texts so many have to be in one language for it to be stated.
const CLEARLY: usize = 90;

/// A `[[source]]` for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProposal {
    /// The value of `kind`.
    pub kind: &'static str,
    /// For a table: columns by the fields of a post.
    pub fields: BTreeMap<&'static str, String>,
    /// Of these: columns that some rows lack.
    pub optional: Vec<String>,
    /// In JSON with lists in its objects: the pointer to the list of records, or `/` for the objects themselves.
    pub at: Option<String>,
    /// Further lists of records in its objects, of which `at` reads one.
    pub other_lists: Vec<String>,
    /// Columns that it does not read.
    pub unused: Vec<String>,
    /// Of these: columns that look like people, whose names nothing would find in texts.
    pub people: Vec<String>,
    /// Of a table with a column of ids: each with its text, to see which other files have them.
    pub posts: Vec<(String, String)>,
    /// The file that has other posts with its ids, if one does.
    pub numbered_as: Option<String>,
    /// For pages of a site: the name of the profile that reads them.
    pub profile: Option<String>,
    /// Whether its posts have ids that need a `namespace`: the file does not say of which site they are.
    pub bare: bool,
    /// The language of its texts, if nearly all are in one: `zh` or `en`.
    pub language: Option<&'static str>,
    /// How many rows were looked at, or posts found on pages.
    pub rows: usize,
    /// The text of the first row, as it would be read.
    pub example: String,
}

impl SourceProposal {
    /// Puts the name of the source before the ids of a table that numbers its own rows, as the file `other` does, too.
    pub fn number_apart(&mut self, source: &str, other: &Path) {
        let Some(id) = self.fields.get_mut("id") else { return };
        // These are of sites, whose posts have the same id in every file.
        let is_of_site = ["tieba", "reddit", "riddle", "table"].contains(&source);
        *id = format!("{source}{}:{{{id}}}", if is_of_site { "-file" } else { "" });
        self.numbered_as = Some(other.display().to_string());
    }
}

/// What to do with pages that nothing reads.
const UNREAD: &str = "none of the profiles (`riddlemill profiles list`) finds posts on them; `riddlemill profiles copy articles --as mysite` begins one, and `riddlemill crawl --try FILE --profile mysite` shows what it finds on a saved page";

/// What a file is that no source reads, and what makes it readable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSource {
    #[error("it is empty")]
    Empty,
    /// Of a form that is not read.
    #[error("it is {what}; {remedy}")]
    Foreign { what: String, remedy: String },
    /// Pages without a post that a profile finds; what they are.
    #[error("{0}, and {UNREAD}")]
    Pages(&'static str),
    #[error("no row was found in it: a dump has one object or one row per post")]
    NoRows,
    /// The columns.
    #[error(
        "none of its columns ({0}) has texts: sentences, or words under a name such as `title` or `content`\n  hint: [[source]] with kind = \"table\" and fields = {{ content = \"COLUMN\" }} reads any of them"
    )]
    NoTexts(String),
    /// What import would say of the file as a whole.
    #[error("{0}")]
    Finding(String),
    /// The source that is there.
    #[error("[[source]] {0} reads it already")]
    Read(String),
}

/// Proposes a source for a file. Pages are read by the profile that finds the most posts on them.
///
/// # Errors
/// [`NoSource`] if no row with a text and no post is found in it.
pub fn propose_source(path: &Path, profiles: &Profiles) -> Result<SourceProposal, NoSource> {
    let form = sniff_form(path);
    if let Some((what, remedy)) = findings::unread_packing(path, path).filter(|_| form == Form::Warc) {
        return Err(NoSource::Foreign { what, remedy });
    }
    if matches!(form, Form::Json | Form::Text)
        && let Some((what, remedy)) = findings::unread_encoding(path, path)
    {
        return Err(NoSource::Foreign { what: format!("in an encoding that is not read: {what}"), remedy });
    }
    let pages = || site_proposal::read_by(path, &form, profiles).map(of_pages);
    match &form {
        Form::Empty => Err(NoSource::Empty),
        Form::Foreign(foreign) => {
            Err(NoSource::Foreign { what: foreign.what.to_string(), remedy: foreign.remedy.to_string() })
        }
        Form::Html | Form::Mhtml | Form::Xml => {
            pages().ok_or_else(|| match form == Form::Html && has_table(path) {
                true => NoSource::Foreign { what: "a table in HTML".into(), remedy: HTML_TABLE.into() },
                false => NoSource::Pages("it has pages"),
            })
        }
        Form::Warc | Form::Wacz => pages().ok_or(NoSource::Pages("it is a web archive of pages")),
        Form::Json => match of_file(path) {
            Ok(rows) if rows.kind != "table" => Ok(rows),
            // A listing of a site's interface is a table of sorts, and its profile knows more of it.
            rows => pages().map_or(rows, Ok),
        },
        Form::Text | Form::Workbook | Form::Parquet | Form::Numpy => of_file(path),
    }
}

/// What makes a table in HTML readable.
const HTML_TABLE: &str = "with pandas, `pandas.read_html(FILE)[0].to_json(\"posts.jsonl\", orient=\"records\", lines=True, force_ascii=False)` writes the first table a row a line; then name that file";

/// Whether a page has a table with names above its columns.
fn has_table(path: &Path) -> bool {
    let mut head = Vec::new();
    // The bytes before damage decide.
    let _ = open_unpacked(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    head.contains("<table")
        && (head.contains("<th>") || head.contains("<th ") || head.trim_start().starts_with("<table"))
}

/// The name of the `[[source]]` with this path in the text of a pipeline.toml.
pub fn source_of(settings: &str, path: &str) -> Option<String> {
    // Whoever reads the settings reports what is wrong with them.
    let settings = Document::parse(settings).ok()?;
    let sources = settings.as_table().get("source")?.as_array_of_tables()?;
    let found = sources.iter().find(|source| source.get("path").and_then(Item::as_str) == Some(path))?;
    found.get("name")?.as_str().map(str::to_owned)
}

fn of_pages(pages: ReadPages) -> SourceProposal {
    SourceProposal {
        kind: pages.kind,
        fields: BTreeMap::new(),
        optional: Vec::new(),
        at: None,
        other_lists: Vec::new(),
        unused: Vec::new(),
        people: Vec::new(),
        posts: Vec::new(),
        numbered_as: None,
        profile: pages.profile,
        bare: pages.bare,
        language: common_language(&pages.texts),
        rows: pages.texts.len(),
        example: pages.texts.into_iter().next().unwrap_or_default(),
    }
}

/// A source for a file of rows. Import reads it as it is proposed: what it would say of the file is said here.
fn of_file(path: &Path) -> Result<SourceProposal, NoSource> {
    let dump = Dump::looked_at(path);
    let lists = match rows::detect_format(&dump) {
        RowFormat::Json => shape::lists_of(&dump),
        _ => Vec::new(),
    };
    // Of several lists one is proposed below.
    if lists.len() < 2 {
        finding_of(&dump)?;
    }
    let of_place = |at: Option<&str>| {
        let dump = Dump { at: at.map(str::to_owned), ..dump.clone() };
        first_rows(&dump).and_then(|rows| of_rows(&rows)).map(|found| SourceProposal { at: dump.at, ..found })
    };
    let found = match lists.is_empty() {
        true => of_place(None)?,
        false => {
            let own = of_place(Some(ITSELF));
            let within = choose_list(lists.iter().filter_map(|at| of_place(Some(at)).ok()).collect());
            let is_single = shape::is_single(&dump);
            match (own, within) {
                (own, None) => own?,
                (Err(_), Some(within)) => within,
                // The only object of a file is rarely its only post.
                (Ok(own), Some(within))
                    if rank_proposal(&own) > rank_proposal(&within)
                        || !is_single && rank_proposal(&own) == rank_proposal(&within) =>
                {
                    own
                }
                (_, Some(within)) => within,
            }
        }
    };
    // The objects are what is read where nothing is stated, unless that is a question.
    let plain = SourceProposal { at: None, ..found.clone() };
    let found = match found.at.as_deref() == Some(ITSELF) && finding_of(&source_dump(path, &plain)).is_ok() {
        true => plain,
        false => found,
    };
    finding_of(&source_dump(path, &found))?;
    let unread = rows::unread_columns(&dump).into_iter().map(|(name, holds)| {
        format!(
            "{name} ({holds}; with pandas, `df[{name:?}] = df[{name:?}].astype(str)` writes them as texts)"
        )
    });
    Ok(SourceProposal { unused: found.unused.iter().cloned().chain(unread).collect(), ..found })
}

/// Of the lists of a file the one that is most surely posts, and of equals the one with the most; it names the others.
fn choose_list(lists: Vec<SourceProposal>) -> Option<SourceProposal> {
    let rank = |list: &SourceProposal| {
        let (kind, is_named, fields) = rank_proposal(list);
        (kind, is_named, list.rows, fields)
    };
    // The first of equals, which `max_by_key` would not give.
    let best = lists.iter().rev().max_by_key(|list| rank(list))?.clone();
    let others = lists.into_iter().filter_map(|list| list.at).filter(|at| Some(at) != best.at.as_ref());
    Some(SourceProposal { other_lists: others.collect(), ..best })
}

/// How sure it is that rows are posts: by their kind, by a column of texts, by how many fields they have.
fn rank_proposal(proposal: &SourceProposal) -> (bool, bool, usize) {
    let is_named = proposal.fields.contains_key("title") || proposal.fields.contains_key("content");
    (proposal.kind != "table", is_named, proposal.fields.len())
}

/// The file as a dump of the proposed source.
fn source_dump(path: &Path, proposal: &SourceProposal) -> Dump {
    Dump {
        kind: SourceKind::from_name(proposal.kind).unwrap_or(SourceKind::Table),
        fields: proposal.fields.iter().map(|(field, column)| ((*field).to_owned(), column.clone())).collect(),
        optional: proposal.optional.clone(),
        at: proposal.at.clone(),
        ..Dump::looked_at(path)
    }
}

/// What import would say of a file of which it would read nothing.
fn finding_of(dump: &Dump) -> Result<(), NoSource> {
    match findings::of_file(dump, LONGEST, None) {
        Some(found) if !found.is_read => Err(NoSource::Finding(found.evidence)),
        _ => Ok(()),
    }
}

/// The first rows that are objects, or why there are none.
fn first_rows(dump: &Dump) -> Result<Vec<Map<String, Value>>, NoSource> {
    let (mut found, mut fault) = (Vec::new(), None);
    for items in rows::read_batches(dump, LONGEST) {
        for item in (0..items.len()).filter_map(|n| items.get(n)) {
            match item.bytes {
                Ok(bytes) => {
                    let row: Option<Map<String, Value>> =
                        notation::from_str(&String::from_utf8_lossy(bytes)).ok();
                    found.extend(row);
                }
                Err(unread) => fault = fault.or(Some((item.position, unread))),
            }
            if found.len() == LOOKED_AT {
                return Ok(found);
            }
        }
    }
    match fault.filter(|_| found.is_empty()) {
        Some((position, unread)) => Err(NoSource::Finding(format!(
            "none of its rows can be read; the first, at {position}: {unread}"
        ))),
        None => Ok(found),
    }
}

fn of_rows(rows: &[Map<String, Value>]) -> Result<SourceProposal, NoSource> {
    if rows.is_empty() {
        return Err(NoSource::NoRows);
    }
    let Chosen { kind, fields, optional, unused, people, texts, posts } =
        choose_columns(rows).map_err(|columns| NoSource::NoTexts(columns.join(", ")))?;
    Ok(SourceProposal {
        kind,
        fields,
        optional,
        at: None,
        other_lists: Vec::new(),
        unused,
        people,
        posts,
        numbered_as: None,
        profile: None,
        bare: false,
        language: common_language(&texts),
        rows: rows.len(),
        example: texts.into_iter().next().unwrap_or_default(),
    })
}

/// The language that nearly all texts are in whose language is known.
fn common_language(texts: &[String]) -> Option<&'static str> {
    let found: Vec<Language> = texts.iter().map(|text| detect(text).language).collect();
    let share = |language: Language| 100 * found.iter().filter(|found| **found == language).count();
    [(Language::Zh, "zh"), (Language::En, "en")]
        .into_iter()
        .find(|(language, _)| !found.is_empty() && share(*language) >= CLEARLY * found.len())
        .map(|(_, code)| code)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn of(content: &str) -> Result<SourceProposal, NoSource> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), content).unwrap();
        propose_source(file.path(), &Profiles::default())
    }

    #[test]
    fn kinds_are_told_by_their_columns() {
        for (content, kind) in [
            (r#"[{"title": "云会恐高吗？", "abs": null, "href": "/p/1", "lz": "a"}]"#, "leymore-titles"),
            (
                r#"{"id": "a1", "subreddit": "dadjokes", "title": "Do clouds fear heights?", "selftext": ""}"#,
                "reddit",
            ),
            (r#"{"instruction": "为什么鱼不会口渴？", "input": "", "output": "它在水里"}"#, "cqia"),
            (r#"{"pid": 1, "tid": 2, "text": "云会恐高吗？", "floor": 1}"#, "thread-dump"),
        ] {
            assert_eq!(of(content).unwrap().kind, kind, "{content}");
        }
    }

    #[test]
    fn a_strangers_table_has_its_columns_and_its_language() {
        let found = of("编号,标题,楼主,点赞数\n1,为什么鱼不会口渴？,甲,3\n2,云会恐高吗？,乙,4\n").unwrap();
        let fields: Vec<(&str, &str)> = found.fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
        assert_eq!(fields, [("author", "楼主"), ("id", "编号"), ("score", "点赞数"), ("title", "标题")]);
        assert_eq!((found.kind, found.language, found.rows), ("table", Some("zh"), 2));
        assert_eq!(found.example, "为什么鱼不会口渴？");
    }

    #[test]
    fn a_column_of_another_name_is_found_by_its_texts_and_one_that_rows_lack_is_optional() {
        let found =
            of("{\"n\": 1, \"was\": \"Why do fish never get thirsty in the sea?\"}\n{\"n\": 2}\n").unwrap();
        assert_eq!(found.fields.get("content").map(String::as_str), Some("was"));
        assert_eq!(found.optional, ["was"]);
    }

    #[test]
    fn of_several_lists_the_one_with_the_most_texts_is_proposed_and_the_others_are_named() {
        let list = |texts: &[&str]| {
            let row = |(id, text): (usize, &&str)| serde_json::json!({ "id": id, "text": text });
            texts.iter().enumerate().map(row).collect::<Vec<_>>()
        };
        let (long, short) =
            (list(&["云会恐高吗？", "鱼会口渴吗？", "月亮会失业吗？"]), list(&["不会的，放心吧"]));
        for (first, last) in [("posts", "zreplies"), ("zposts", "replies")] {
            let found = of(&serde_json::json!({ first: long, last: short }).to_string()).unwrap();
            assert_eq!((found.at, found.other_lists), (Some(format!("/{first}")), vec![format!("/{last}")]));
        }
    }

    #[test]
    fn exports_of_messengers_and_crawlers_are_proposed_with_their_own_names() {
        let found = |content: &str| {
            let fields = of(content).unwrap().fields;
            fields.into_iter().map(|(field, column)| format!("{field} = {column}")).collect::<Vec<_>>()
        };
        let chat = r#"{"name": "chat", "id": 7, "messages": [{"id": 1, "type": "service", "title": "chat", "text": ""},
            {"id": 2, "from": "kim", "date": "2024-01-02", "text": "Why is a cloud never thirsty?"},
            {"id": 3, "from": "lee", "date": "2024-01-03", "text": ["see ", {"type": "link", "text": "x.org"}]}]}"#;
        assert_eq!(found(chat), ["author = from", "content = text", "id = id", "time = date"]);
        let channel = r#"{"guild": {"id": "1"}, "messages": [{"id": "9", "content": "Why do locks exist?",
            "timestamp": "2024", "author": {"id": "7", "name": "kim"}}]}"#;
        assert_eq!(
            found(channel),
            ["author = author.name", "content = content", "id = id", "time = timestamp"]
        );
        let table = "note_id,title,desc,publish_time,user_nickname,liked_count\n1,云会恐高吗？,它很高,2024-05-01,甲,3\n";
        let all = [
            "author = user_nickname",
            "content = desc",
            "id = note_id",
            "score = liked_count",
            "time = publish_time",
            "title = title",
        ];
        assert_eq!(found(table), all);
    }

    #[test]
    fn a_path_has_the_source_that_reads_it() {
        let settings =
            "[run]\n[[source]]\nname = \"a\"\npath = \"raw/dumps/a.csv\"\n[[source]]\npath = 'x'\n";
        assert_eq!(source_of(settings, "raw/dumps/a.csv").as_deref(), Some("a"));
        assert_eq!(source_of(settings, "raw/dumps/b.csv"), None);
        assert_eq!(source_of("[[source", "raw/dumps/a.csv"), None);
    }

    #[test]
    fn pages_have_the_profile_that_finds_the_most_posts() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
        for (page, profile, bare) in [
            ("sites/discuz/thread.html", "discuz", false),
            ("sites/nga/thread.html", "nga", false),
            ("sites/articles/blog.html", "articles", false),
            ("sites/reddit/listing.json", "reddit", false),
            ("sites/stack-exchange/questions.json", "stack-exchange", false),
            ("sites/stack-exchange-dump/Posts.xml", "stack-exchange-dump", true),
            ("pages/thread-p1.html", "tieba", false),
            ("pages/riddles-list.html", "riddles-com", false),
            ("pages/rd-article.html", "rd", false),
        ] {
            let found = propose_source(&fixtures.join(page), &Profiles::default()).unwrap();
            assert_eq!((found.kind, found.profile.as_deref()), ("profile", Some(profile)), "{page}");
            assert_eq!((found.bare, found.example.is_empty()), (bare, false), "{page}: {}", found.example);
        }
    }

    #[test]
    fn archives_of_the_forum_have_a_kind_of_their_own() {
        let page = fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/pages/thread-p1.html"),
        );
        let http =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{}", page.unwrap());
        let archive = |url: &str| {
            of(&format!(
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
                http.len()
            ))
        };
        let found = archive("https://tieba.baidu.com/p/7700000001").unwrap();
        assert_eq!((found.kind, found.profile.as_deref()), ("warc", None));
        assert!(found.rows > 1 && !found.example.is_empty(), "{found:?}");
        // Of another site it is an archive that nothing reads.
        let why = archive("https://forum.example/about").unwrap_err().to_string();
        assert!(why.contains("riddlemill profiles copy articles"), "{why}");
    }

    #[test]
    fn what_has_no_rows_is_refused_with_a_remedy() {
        assert!(of("SQLite format 3\0").unwrap_err().to_string().contains("sqlite3"));
        assert!(of("<!DOCTYPE html><p>x").unwrap_err().to_string().contains("riddlemill profiles list"));
        assert_eq!(of("").unwrap_err(), NoSource::Empty);
        assert!(of("{\"a\": 1, \"b\": 2}\n").unwrap_err().to_string().contains("(a, b)"));
    }
}
