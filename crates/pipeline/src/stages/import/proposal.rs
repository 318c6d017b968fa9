//! What `[[source]]` would read a file, by its first rows: a proposal, for a person to look at.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use toml_edit::{Document, Item};

use super::files::Dump;
use super::rows;
use super::site_proposal::{self, ReadPages};
use crate::config::Profiles;
use riddlemill_files::reading::{Form, sniff};
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

/// Columns that show that rows are of a kind: all of the first list, and one of the second unless it is empty.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("thread-dump", &["pid", "tid", "text"], &["is_comment", "floor"]),
    ("aiotieba", &["tid", "contents"], &[]),
    ("leymore-titles", &["title", "href"], &["abs", "lz"]),
    ("leymore-annual", &["author", "content", "ctime"], &[]),
    ("reddit", &["subreddit"], &["selftext", "body"]),
    ("cqia", &["instruction", "output"], &[]),
    ("puzzles", &["id", "question", "answer"], &[]),
];

/// Names of columns by the field of a post that they are, the likelier before; without what joins words, in small letters.
const COLUMNS: &[(&str, &[&str])] = &[
    (
        "id",
        &[
            "id",
            "pid",
            "postid",
            "tid",
            "threadid",
            "noteid",
            "messageid",
            "msgid",
            "commentid",
            "topicid",
            "statusid",
            "tweetid",
            "mid",
            "uid",
            "编号",
            "帖子id",
            "序号",
        ],
    ),
    ("title", &["title", "subject", "headline", "标题", "题目", "主题"]),
    (
        "content",
        &[
            "content",
            "text",
            "fulltext",
            "body",
            "selftext",
            "message",
            "post",
            "joke",
            "sentence",
            "question",
            "desc",
            "description",
            "caption",
            "comment",
            "posttext",
            "rawtext",
            "textraw",
            "contenttext",
            "内容",
            "正文",
            "文本",
            "帖子内容",
            "段子",
            "问题",
        ],
    ),
    (
        "author",
        &[
            "author",
            "authorname",
            "username",
            "user",
            "usernickname",
            "nickname",
            "nick",
            "screenname",
            "sender",
            "poster",
            "from",
            "member",
            "作者",
            "楼主",
            "用户名",
            "昵称",
            "发布者",
        ],
    ),
    (
        "time",
        &[
            "time",
            "createdat",
            "createdutc",
            "createtime",
            "created",
            "publishtime",
            "publishedat",
            "published",
            "postedat",
            "posttime",
            "pubdate",
            "date",
            "datetime",
            "timestamp",
            "时间",
            "发布时间",
            "日期",
        ],
    ),
    (
        "score",
        &[
            "score",
            "likes",
            "likecount",
            "likedcount",
            "upvotes",
            "ups",
            "votes",
            "agree",
            "points",
            "favoritecount",
            "点赞",
            "点赞数",
            "赞",
        ],
    ),
];

/// Keys of a name in an object that is a user.
const NAMES: [&str; 6] = ["name", "username", "user_name", "screen_name", "nickname", "login"];

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
    #[error("no row was found in it: a dump has an object or a row a post")]
    NoRows,
    /// The columns.
    #[error("none of its columns ({0}) has texts")]
    NoTexts(String),
    /// The source that is there.
    #[error("[[source]] {0} reads it already")]
    Read(String),
}

/// Proposes a source for a file. Pages are read by the profile that finds the most posts on them.
///
/// # Errors
/// [`NoSource`] if no row with a text and no post is found in it.
pub fn propose(path: &Path, profiles: &Profiles) -> Result<SourceProposal, NoSource> {
    let form = sniff(path);
    let pages = || site_proposal::read_by(path, &form, profiles).map(of_pages);
    match &form {
        Form::Empty => Err(NoSource::Empty),
        Form::Foreign(foreign) => {
            Err(NoSource::Foreign { what: foreign.what.to_string(), remedy: foreign.remedy.to_string() })
        }
        Form::Html | Form::Mhtml | Form::Xml => pages().ok_or(NoSource::Pages("it has pages")),
        Form::Warc | Form::Wacz => pages().ok_or(NoSource::Pages("it is a web archive of pages")),
        Form::Json => match of_rows(&first_rows(path)) {
            Ok(rows) if rows.kind != "table" => Ok(rows),
            // A listing of a site's interface is a table of sorts, and its profile knows more of it.
            rows => pages().map_or(rows, Ok),
        },
        Form::Text | Form::Workbook | Form::Parquet | Form::Numpy => of_rows(&first_rows(path)),
    }
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
        profile: pages.profile,
        bare: pages.bare,
        language: language(&pages.texts),
        rows: pages.texts.len(),
        example: pages.texts.into_iter().next().unwrap_or_default(),
    }
}

/// The first rows that are objects.
fn first_rows(path: &Path) -> Vec<Map<String, Value>> {
    let dump = Dump::looked_at(path);
    let mut found = Vec::new();
    for items in rows::batches(&dump, LONGEST) {
        for item in (0..items.len()).filter_map(|n| items.get(n)) {
            let row: Option<Map<String, Value>> =
                item.bytes.ok().and_then(|bytes| serde_json::from_slice(bytes).ok());
            found.extend(row);
            if found.len() == LOOKED_AT {
                return found;
            }
        }
    }
    found
}

fn of_rows(rows: &[Map<String, Value>]) -> Result<SourceProposal, NoSource> {
    if rows.is_empty() {
        return Err(NoSource::NoRows);
    }
    let has = |name: &&str| rows.iter().any(|row| row.contains_key(*name));
    let kind =
        KINDS.iter().find(|(_, all, some)| all.iter().all(has) && (some.is_empty() || some.iter().any(has)));
    let (kind, fields) = match kind {
        Some((kind, _, _)) => (*kind, BTreeMap::new()),
        None => ("table", fields(rows)),
    };
    let column = |field: &str| fields.get(field).map(String::as_str);
    let text_of = |row: &Map<String, Value>| -> String {
        let own = ["title", "text", "content", "contents", "body", "selftext", "instruction", "question"];
        let columns: Vec<&str> = match kind {
            "table" => ["title", "content"].into_iter().filter_map(column).collect(),
            _ => own.to_vec(),
        };
        let texts = columns.into_iter().filter_map(|column| row.get(column)?.as_str());
        texts.map(str::trim).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    };
    if kind == "table" && column("title").or(column("content")).is_none() {
        let names: Vec<&str> = rows[0].keys().map(String::as_str).collect();
        return Err(NoSource::NoTexts(names.join(", ")));
    }
    let texts: Vec<String> = rows.iter().map(text_of).filter(|text| !text.is_empty()).collect();
    let is_there = |row: &Map<String, Value>, column: &str| match column.split_once('.') {
        Some((object, name)) if !row.contains_key(column) => {
            row.get(object).is_some_and(|o| o.get(name).is_some())
        }
        _ => row.contains_key(column),
    };
    let lacking = |column: &&String| rows.iter().any(|row| !is_there(row, column));
    Ok(SourceProposal {
        kind,
        optional: fields.values().filter(lacking).cloned().collect(),
        profile: None,
        bare: false,
        language: language(&texts),
        rows: rows.len(),
        example: texts.into_iter().next().unwrap_or_default(),
        fields,
    })
}

/// The column of each field: by its name, and the content else by the longest texts.
fn fields(rows: &[Map<String, Value>]) -> BTreeMap<&'static str, String> {
    let mut columns: Vec<&String> = Vec::new();
    for name in rows.iter().flat_map(Map::keys) {
        // Braces would make a template of it.
        if !columns.contains(&name) && !name.trim().is_empty() && !name.contains(['{', '}']) {
            columns.push(name);
        }
    }
    let mut fields: BTreeMap<&'static str, String> = BTreeMap::new();
    for (field, names) in COLUMNS {
        let of_name = |name: &&str| columns.iter().find(|column| joined(column) == **name);
        let free = |column: &&&String| !fields.values().any(|taken| taken == **column);
        let known = names.iter().filter_map(of_name).filter(free);
        let found = known.filter_map(|column| path_of(field, column, rows)).next();
        fields.extend(found.map(|column| (*field, column)));
    }
    // What only some rows have is of other things than posts: a chat tells its new title.
    let having = |column: &String| rows.iter().filter(|row| row.contains_key(column)).count();
    if fields.contains_key("content")
        && fields.get("title").is_some_and(|title| 2 * having(title) < rows.len())
    {
        fields.remove("title");
    }
    if !fields.contains_key("title") && !fields.contains_key("content") {
        let length = |column: &String| -> usize {
            let texts = rows.iter().filter_map(|row| row.get(column)?.as_str());
            texts.filter(|text| text.chars().any(char::is_alphabetic)).map(|text| text.chars().count()).sum()
        };
        let free = columns.iter().filter(|column| !fields.values().any(|taken| taken == **column));
        let longest = free.map(|column| (length(column), *column)).max_by_key(|(length, _)| *length);
        let longest = longest.filter(|(length, _)| *length > 0).map(|(_, column)| column.clone());
        fields.extend(longest.map(|column| ("content", column)));
    }
    fields
}

/// A column's name in small letters, without what joins its words.
fn joined(column: &str) -> String {
    column.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

/// A column as its field's value, or the name in it where it is an object; `None` where it has neither.
fn path_of(field: &str, column: &str, rows: &[Map<String, Value>]) -> Option<String> {
    let values = || rows.iter().filter_map(|row| row.get(column)).filter(|value| !value.is_null());
    // What wraps a value that JSON has no type for (`$date`) is read as that value.
    if !values().any(Value::is_object)
        || values().any(|value| value.as_object().is_some_and(|o| o.keys().any(|key| key.starts_with('$'))))
    {
        return Some(column.to_owned());
    }
    let has = |name: &&&str| values().any(|value| value.get(**name).is_some_and(Value::is_string));
    let name = NAMES.iter().find(has).filter(|_| field == "author")?;
    Some(format!("{column}.{name}"))
}

/// The language that nearly all texts are in whose language is known.
fn language(texts: &[String]) -> Option<&'static str> {
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
        propose(file.path(), &Profiles::default())
    }

    #[test]
    fn kinds_are_told_by_their_columns() {
        for (content, kind) in [
            (r#"[{"title": "云会恐高吗？", "abs": null, "href": "/p/1", "lz": "a"}]"#, "leymore-titles"),
            (r#"{"subreddit": "dadjokes", "title": "Do clouds fear heights?", "selftext": ""}"#, "reddit"),
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
            let found = propose(&fixtures.join(page), &Profiles::default()).unwrap();
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
