//! Whole dumps of every kind through import, with the store behind it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::config::Take;
use riddlemill_harvest::warc::{Header, write_record};
use riddlemill_record::Entry as LedgerEntry;
use riddlemill_tables::{StageReader, expected_manifest};

struct NoPulse;

impl Pulse for NoPulse {
    fn report_done(&self, _: u64) {}
}

fn settings() -> sections::Import {
    sections::Import { max_line_mib: 1, annual_posts: 20, common_words: Vec::new() }
}

fn dump(folder: &Path, source: &str, kind: SourceKind, bytes: &[u8]) -> Dump {
    let path = folder.join(source);
    std::fs::write(&path, bytes).unwrap();
    let fields = [("id", "id"), ("title", "title"), ("content", "body"), ("author", "who"), ("score", "up")];
    Dump {
        source: source.into(),
        kind,
        language: None,
        take: Take::Jokes,
        published: None,
        fields: fields
            .iter()
            .filter(|_| kind == SourceKind::Table)
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect(),
        optional: fields.iter().map(|(_, column)| (*column).to_string()).collect(),
        at: None,
        profile: None,
        licence: None,
        file: source.into(),
        named: source.into(),
        path,
        sha256: String::new(),
        bytes: bytes.len() as u64,
        piece: Piece::default(),
    }
}

/// Imports dumps and reads back rows and ledger. The commit proves that the accounting closes.
fn imported(dumps: &[(&str, SourceKind, Vec<u8>)]) -> (Vec<Post>, Vec<LedgerEntry>) {
    let folder = tempfile::tempdir().unwrap();
    let dumps: Vec<Dump> =
        dumps.iter().map(|(name, kind, bytes)| dump(folder.path(), name, *kind, bytes)).collect();
    let place = folder.path().join("01_import");
    let mut writer = StageWriter::create(&place).unwrap();
    let names = no_names(folder.path(), &settings(), &[7; 32]).unwrap();
    let secrets = Secrets { salt: &[7; 32], names: &names };
    let none = Withdrawals::default();
    import(&dumps, &settings(), &secrets, &none, &mut writer, &Stop::default(), &NoPulse).unwrap();
    writer.commit(expected_manifest("r", "import", 1, BTreeMap::new(), Vec::new(), BTreeMap::new())).unwrap();
    let stage = StageReader::open(&place).unwrap().unwrap();
    (stage.read_table("rows").unwrap(), stage.read_table("ledger").unwrap())
}

fn ids(posts: &[Post]) -> Vec<&str> {
    posts.iter().map(|p| p.id.as_str()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    member.write_all(bytes).unwrap();
    member.finish().unwrap()
}

const TWO: &str = "{\"id\": \"a1\", \"title\": \"Why is a door\", \"selftext\": \"\"}\n{\"id\": \"b2\", \"title\": \"not a jar\", \"selftext\": \"Or is it?\"}\n";

#[test]
fn gzip_of_several_members_is_one_file() {
    let (first, second) = TWO.split_at(30);
    let bytes = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    let (posts, _) = imported(&[("dump", SourceKind::Reddit, bytes)]);
    assert_eq!(ids(&posts), ["reddit:a1", "reddit:b2"]);
}

#[test]
fn a_packed_table_that_is_cut_or_damaged_is_no_whole_one() {
    let row = |n: u32| format!("{n},把第{}朵云关掉，海水会不会失业？\n", n * 7919);
    let table = |rows: u32| format!("id,title\n{}", (1..=rows).map(row).collect::<String>());
    let read = |bytes: &[u8]| {
        let (posts, ledger) = imported(&[("a", SourceKind::Table, bytes.to_vec())]);
        let ends = ledger.iter().filter(|entry| entry.reason.as_deref() == Some("truncated")).count();
        (posts, ends)
    };
    let long = gzip(table(3000).as_bytes());
    for cut in [40, 300, 3000, 9000, 15_000, long.len() - 4] {
        let (posts, ends) = read(&long[..cut.min(long.len() - 1)]);
        assert_eq!(ends, 1, "{cut}");
        // The row in which it ends is none.
        assert!(posts.iter().all(|post| post.text.ends_with('？')), "{cut}");
    }
    let mut wrong = gzip(table(300).as_bytes());
    let check = wrong.len() - 6;
    wrong[check] ^= 1;
    assert_eq!(read(&wrong).1, 1);
    assert_eq!(read(&gzip(table(300).as_bytes())).1, 0);
}

#[test]
fn what_stands_where_nobody_has_a_name_is_marked_in_no_text() {
    let row = |id: u32, who: &str, title: &str| {
        serde_json::json!({ "id": id, "title": title, "who": who }).to_string()
    };
    let rows = [
        row(1, "human", "Why is a human never a cloud?"),
        row(2, "匿名用户", "匿名用户为什么要有名字？"),
        row(3, "云中白鹤生", "云中白鹤生会恐高吗？"),
    ];
    let (posts, _) = imported(&[("a", SourceKind::Table, rows.join("\n").into_bytes())]);
    let mentions: Vec<&[String]> = posts.iter().map(|post| &*post.mentions).collect();
    assert_eq!(mentions, [&[][..], &[], &["云中白鹤生".to_owned()]]);
}

#[test]
fn zstd_with_a_window_of_256_mib_is_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(TWO.as_bytes()).unwrap();
    let (posts, _) = imported(&[("dump", SourceKind::Reddit, encoder.finish().unwrap())]);
    assert_eq!(ids(&posts), ["reddit:a1", "reddit:b2"]);
}

#[test]
fn one_native_id_in_two_sources_is_one_record_and_the_conflict_is_kept() {
    let titles = r#"[{"title": "冰箱会感冒吗", "abs": null, "href": "/p/42", "lz": "甲"}]"#;
    let thread = r#"{"tid": 42, "pid": 43, "title": "冰箱会感冒吗", "contents": [{"text": "它总是打喷嚏"}]}"#;
    let (posts, ledger) = imported(&[
        ("a", SourceKind::LeymoreTitles, titles.into()),
        ("b", SourceKind::Aiotieba, thread.into()),
    ]);
    assert_eq!(ids(&posts), ["tieba:42"]);
    assert_eq!((posts[0].source.as_str(), ledger.len()), ("a", 2));
    let conflict = &ledger[1];
    assert_eq!((conflict.id.as_str(), conflict.outcome.as_str()), ("b/b:1", "merged"));
    assert_eq!(conflict.into.as_deref(), Some("tieba:42"));
    assert!(conflict.evidence.as_deref().unwrap().contains("它总是打喷嚏"));
}

#[test]
fn a_table_is_the_same_in_json_and_csv() {
    let json = "[{\"id\": \"t:1\", \"title\": \"问\", \"body\": \"多行\\n的\", \"up\": 4}, {\"id\": \"t:2\", \"body\": \"a \\\"b\\\"\"}]";
    let csv = "\u{feff}id,title,body,up\r\nt:1,问,\"多行\n的\",4\r\nt:2,,\"a \"\"b\"\"\",\r\n";
    let read = |bytes: &str| imported(&[("t", SourceKind::Table, bytes.into())]).0;
    let strip = |posts: Vec<Post>| posts.into_iter().map(|p| Post { position: 0, ..p }).collect::<Vec<_>>();
    assert_eq!(read(csv).iter().map(|p| p.position).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(strip(read(json)), strip(read(csv)));
    assert_eq!(read(json)[0].score, Some(4.0));
}

#[test]
fn a_parquet_file_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let entry =
        LedgerEntry {
            id: "t:1".into(), evidence: Some("冰箱会感冒吗".into()), ..LedgerEntry::default()
        };
    riddlemill_tables::write_parquet(&path, std::iter::once(Ok(vec![entry]))).unwrap();
    let mut dump = dump(folder.path(), "t", SourceKind::Table, &std::fs::read(&path).unwrap());
    dump.optional = Vec::new();
    dump.fields = [("id", "id"), ("content", "evidence")].map(|(k, v)| (k.to_string(), v.to_string())).into();
    assert_eq!(survey(&dump, &settings()), (1, 0));
}

fn archive(pages: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (url, body) in pages {
        let header = Header::new("response")
            .with_field("WARC-Target-URI", *url)
            .with_field("WARC-Date", "2024-05-01T00:00:00Z");
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}");
        write_record(&mut bytes, &header, block.as_bytes()).unwrap();
    }
    bytes
}

#[test]
fn archived_pages_expand_into_posts_and_the_others_are_set_aside() {
    let fixture = |name: &str| {
        std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/pages").join(name),
        )
        .unwrap()
    };
    let (list, challenge) = (fixture("list-2024.html"), fixture("block-challenge.html"));
    let bytes = archive(&[
        ("https://tieba.baidu.com/f?kw=x&ie=utf-8", &list),
        ("https://tieba.baidu.com/p/77", &challenge),
        ("https://tieba.baidu.com/robots.txt", "User-agent: *"),
        ("https://tieba.baidu.com/f?kw=x&ie=utf-8", &list),
    ]);
    let (posts, ledger) = imported(&[("w", SourceKind::Warc, bytes)]);
    assert!(posts.len() > 1 && posts.iter().all(|p| p.id.starts_with("tieba:")));
    let entries = |outcome: &str, reason: Option<&str>| {
        ledger.iter().filter(|e| e.outcome == outcome && e.reason.as_deref() == reason).count()
    };
    assert_eq!(entries("expanded", None), 2);
    assert_eq!(entries("dropped", Some("page_blocked")), 1);
    assert_eq!(entries("dropped", Some("page_other")), 1);
    assert_eq!(entries("merged", Some("same_id")), posts.len(), "a page read twice adds nothing");
    let page = ledger.iter().find(|e| e.outcome == "expanded").unwrap();
    assert_eq!(page.id, format!("w/w:{}", posts[0].position), "a post's raw record is its page");
}

/// The same five pages through `wget --warc-file` (1.0, addresses in angle brackets, chunked), through warcio (gzip bodies,
/// a revisit) and through our own writer.
#[test]
fn archives_of_other_tools_are_read_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let page = |name: &str| std::fs::read_to_string(folder.join("pages").join(name)).unwrap();
    let kw = "%E8%84%91%E7%AD%8B%E6%89%93%E7%BB%93";
    let site = "http://tieba.baidu.com";
    let pages = [
        (format!("{site}/f?kw={kw}&ie=utf-8"), page("list-2020.html")),
        (format!("{site}/p/7700000001"), page("thread-p1.html")),
        (format!("{site}/p/7700000001?pn=3"), page("thread-p3.html")),
        (format!("{site}/p/7700000009"), page("gone-deleted.html")),
        (format!("{site}/p/totalComment?tid=7700000001&fid=55001"), page("total-comment.json")),
    ];
    let pages: Vec<(&str, &str)> = pages.iter().map(|(url, body)| (url.as_str(), body.as_str())).collect();
    let read = |bytes: Vec<u8>| {
        let (posts, ledger) = imported(&[("w", SourceKind::Warc, bytes)]);
        let mut reasons: Vec<String> = ledger.into_iter().filter_map(|entry| entry.reason).collect();
        reasons.retain(|reason| reason != "same_id" && reason != "page_other");
        reasons.sort();
        reasons.dedup();
        (posts.into_iter().map(|post| Post { position: 0, ..post }).collect::<Vec<_>>(), reasons)
    };
    let own = read(archive(&pages));
    assert!(own.0.len() > 3 && own.1.contains(&"page_deleted".to_string()), "{own:?}");
    for tool in ["wget", "warcio"] {
        let bytes = std::fs::read(folder.join("archives").join(format!("{tool}.warc.gz"))).unwrap();
        assert_eq!(read(bytes), own, "{tool}");
    }
}

#[test]
fn names_and_numbers_of_people_stay_behind() {
    let reddit = r#"{"id": "a1", "title": "Why?", "author": "secretname", "author_fullname": "t2_secret"}"#;
    let thread = r#"{"tid": 1, "pid": 2, "title": "问", "contents": [], "user": {"user_id": 777888, "user_name": "secretname", "portrait": "secretface"}}"#;
    let (posts, _) =
        imported(&[("a", SourceKind::Reddit, reddit.into()), ("b", SourceKind::Aiotieba, thread.into())]);
    let written = serde_json::to_string(&posts).unwrap();
    assert!(!written.contains("secret") && !written.contains("777888"), "{written}");
    assert!(posts.iter().all(|p| p.author.as_deref().is_some_and(|a| a.starts_with("u:"))));
}

const KINDS: [SourceKind; 8] = [
    SourceKind::LeymoreTitles,
    SourceKind::LeymoreAnnual,
    SourceKind::ThreadDump,
    SourceKind::Aiotieba,
    SourceKind::Reddit,
    SourceKind::Cqia,
    SourceKind::Table,
    SourceKind::Warc,
];

/// Bytes that look a little like a dump, so that more than the first check sees them.
fn dumplike() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\n",
        "\r\n",
        "\"",
        "\\",
        "\"id\"",
        "\"tid\"",
        "\"pid\"",
        "\"title\"",
        "\"text\"",
        "\"body\"",
        "\"contents\"",
        "\"instruction\"",
        "\"href\"",
        "\"floor\"",
        "\"/p/1\"",
        "1",
        "0",
        "-1e999",
        "null",
        "true",
        "笑话",
        "PAR1",
        "\u{feff}",
        "\t",
        "WARC/1.0\r\n",
        "Content-Length: 5\r\n\r\n",
        "WARC-Type: response\r\n",
        "{\"tid\":1,\"pid\":2,\"text\":\"a\"}\n",
        "{\"id\":\"a\",\"title\":\"b\",\"body\":\"c\"}\n",
    ]);
    let pieced = prop::collection::vec(pieces, 0..60).prop_map(|p| p.concat().into_bytes());
    let raw = prop::collection::vec(any::<u8>(), 0..300);
    let gzipped = pieced.clone().prop_map(|bytes| gzip(&bytes));
    prop_oneof![4 => pieced, 2 => raw, 1 => gzipped]
}

/// What a survey of these bytes counts; the store is left out, since it syncs every file.
fn surveyed(kind: SourceKind, bytes: &[u8]) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    survey(&dump(folder.path(), "any", kind, bytes), &settings())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_bytes_are_read_to_their_end_and_twice_alike(bytes in dumplike()) {
        for kind in KINDS {
            prop_assert_eq!(surveyed(kind, &bytes), surveyed(kind, &bytes), "{:?}", kind);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    #[test]
    fn the_books_close_on_any_bytes(bytes in dumplike()) {
        for kind in KINDS {
            let (_, ledger) = imported(&[("any", kind, bytes.clone())]);
            let places: std::collections::BTreeSet<&str> = ledger.iter().map(|e| e.id.as_str()).collect();
            prop_assert_eq!(places.len(), ledger.len(), "every entry has a place of its own");
        }
    }
}

/// What import, recall and the names see of a dump is the same, be it of pages or of lines.
#[test]
fn one_walk_reads_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let profile =
        serde_json::json!({ "item": "div", "id": "@id", "author": "u", "body": "b", "namespace": "m" });
    let profile = riddlemill_harvest::pages::Profile::from_json(&profile).unwrap();
    let page = "<div id=1><u>xq17_kk</u><b>one door</b></div><div id=2><u>yw23_zz</u><b>two doors</b></div><div id=3>";
    let lines = "{\"id\": \"m:1\", \"body\": \"one door\", \"who\": \"xq17_kk\"}\n{\"id\": \"m:2\", \"body\": \"two doors\", \"who\": \"yw23_zz\"}\n";
    let pages =
        Dump { profile: Some(profile), ..dump(folder.path(), "pages", SourceKind::Profile, page.as_bytes()) };
    let lines = dump(folder.path(), "lines", SourceKind::Table, lines.as_bytes());
    for dump in [pages, lines] {
        let mut names = no_names(folder.path(), &settings(), &[7; 32]).unwrap();
        add_names(&mut names, &dump, &settings());
        assert_eq!(names.to_file().lines().count(), 3, "{}", dump.source);
        let mut recalled = Vec::new();
        let sift = RecallFilter::default();
        read_blocks(&dump, 1 << 20, &sift, |records| records, |_, records| recalled.extend(records));
        let recalled: Vec<(String, String)> = recalled
            .into_iter()
            .filter(|record| !record.verbatim.trim().is_empty())
            .map(|mut record| (record.ids.remove(0), record.verbatim))
            .collect();
        let secrets = Secrets { salt: &[7; 32], names: &names };
        let mut posts = Vec::new();
        ledger_records(&dump, &settings(), &secrets, &Withdrawals::default(), None, true, |records| {
            posts.extend(records.into_iter().flat_map(|record| record.rows));
            Ok::<_, ()>(())
        })
        .unwrap();
        let posts: Vec<(String, String)> = posts.into_iter().map(|post| (post.id, post.text)).collect();
        assert_eq!(posts, recalled, "{}", dump.source);
        assert_eq!(posts.len(), 2);
    }
}
