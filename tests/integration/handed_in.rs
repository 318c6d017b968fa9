//! Files in the forms in which people hand them in: read, or one finding a file that says what to do.

use std::io::{Cursor, Write};

use encoding_rs::GB18030;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use riddlemill::store::{StageReader, json_parts};

use crate::harness::{CallResult, Workspace};

const POSTS: [&str; 2] = ["把月亮关掉，海水会不会失业？", "影子欠了光的钱，会不会被拉长？"];

/// A workspace whose only source has these lines and this file.
fn source(kind: &str, name: &str, bytes: impl AsRef<[u8]>, more: &str) -> Workspace {
    let ws = Workspace::with(&format!(
        "[[source]]\nname = \"d\"\nkind = \"{kind}\"\npath = \"raw/dumps/{name}\"\nlicence = \"CC0-1.0\"\n{more}\n"
    ));
    ws.write(&format!("raw/dumps/{name}"), bytes);
    ws
}

const FIELDS: &str =
    "fields = { id = \"tieba:{tid}\", title = \"subject\", content = \"body\" }\noptional = [\"body\"]";

fn table(name: &str, bytes: impl AsRef<[u8]>) -> Workspace {
    source("table", name, bytes, FIELDS)
}

fn import(ws: &Workspace) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--to", "import"])
}

fn imported(ws: &Workspace) -> Vec<serde_json::Value> {
    let stage = StageReader::open(&ws.path("staged/flub/01_import")).unwrap().unwrap();
    json_parts(&stage, "rows", &[]).flat_map(|part| part.unwrap()).map(serde_json::Value::Object).collect()
}

#[track_caller]
fn texts(ws: &Workspace) -> Vec<String> {
    imported(ws)
        .iter()
        .map(|row| row["title"].as_str().or(row["text"].as_str()).unwrap().to_owned())
        .collect()
}

/// Both posts, without a word.
#[track_caller]
fn both(ws: &Workspace) {
    let result = import(ws).expect(0);
    assert_eq!(texts(ws), POSTS, "{}", result.err);
    ws.audit_clean();
}

/// One failed entry, of this reason, whose cause on the screen says all of this.
#[track_caller]
fn finding(ws: &Workspace, reason: &str, says: &[&str]) {
    let result = import(ws).expect(3);
    let reasons = ws.reasons("flub");
    assert_eq!(reasons.get(&format!("failed/{reason}")), Some(&1), "{reasons:?} {}", result.err);
    for part in says {
        assert!(result.err.contains(part), "{part:?} is not in\n{}", result.err);
    }
    assert!(!result.err.contains("check `kind`"), "{}", result.err);
    ws.audit_clean();
}

fn csv(delimiter: char) -> String {
    let row = |cells: [&str; 3]| cells.join(&delimiter.to_string()) + "\n";
    row(["tid", "subject", "body"])
        + &row(["9300000001", POSTS[0], "\"a, b; c\""])
        + &row(["9300000002", POSTS[1], ""])
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_table_is_read_in_every_dialect_and_encoding() {
    for delimiter in [',', ';', '\t', '|'] {
        let text = csv(delimiter);
        both(&table("t.csv", &text));
        both(&table("t.csv", text.replace('\n', "\r\n")));
        both(&table("t.csv", text.replace('\n', "\r")));
        both(&table("t.csv", format!("\u{feff}sep={delimiter}\r\n{text}")));
        both(&table("t.csv", &*GB18030.encode(&text).0));
        for mark in [true, false] {
            let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
            both(&table("t.txt", units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()));
        }
    }
    both(&table("t.zip", zip(&[("posts.csv", csv(';').as_bytes())])));
    both(&table("t", bzip2(csv(';').as_bytes())));
    // A header that nobody sees.
    both(&table("t.csv", csv(',').replace("subject", " subject ")));
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_workbook_is_a_table() {
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    for (column, name) in ["tid", "subject", "body"].into_iter().enumerate() {
        sheet.write_string(0, column as u16, name).unwrap();
    }
    for (row, text) in POSTS.iter().enumerate() {
        sheet.write_number(row as u32 + 1, 0, 9_300_000_001.0 + row as f64).unwrap();
        sheet.write_string(row as u32 + 1, 1, *text).unwrap();
    }
    let bytes = book.save_to_buffer().unwrap();
    let ws = table("t.xlsx", &bytes);
    both(&ws);
    assert_eq!(imported(&ws)[0]["id"], "tieba:9300000001");
    // A second sheet with other columns is not read, and that is said.
    let more = book.add_worksheet();
    more.write_string(0, 0, "who").unwrap();
    more.write_string(1, 0, "x").unwrap();
    let ws = table("t.xlsx", book.save_to_buffer().unwrap());
    finding(&ws, "foreign_file", &["sheet Sheet2", "who"]);
    assert_eq!(texts(&ws), POSTS);
    // Any kind of lines is read from a workbook or a table.
    let lines = format!("title,href\n{},/p/1\n{},/p/2\n", POSTS[0], POSTS[1]);
    both(&source("leymore-titles", "t.csv", lines, ""));
}

#[test]
fn what_a_workbook_shows_is_read_or_told() {
    let mut book = rust_xlsxwriter::Workbook::new();
    let notes = book.add_worksheet().set_name("about").unwrap();
    notes.write_string(0, 0, "who made it").unwrap();
    notes.write_string(1, 0, "x").unwrap();
    let sheet = book.add_worksheet().set_name("posts").unwrap();
    for (column, name) in ["tid", "subject", "body"].into_iter().enumerate() {
        sheet.write_string(0, column as u16, name).unwrap();
    }
    for (row, text) in POSTS.iter().enumerate() {
        sheet.write_number(row as u32 + 1, 0, 9_300_000_001.0 + row as f64).unwrap();
        sheet.write_string(row as u32 + 1, 1, *text).unwrap();
    }
    // One cell for both rows, and a value beyond the names.
    sheet.merge_range(1, 2, 2, 2, "一样", &rust_xlsxwriter::Format::new()).unwrap();
    sheet.write_number(3, 0, 9_300_000_009.0).unwrap();
    sheet.write_string(3, 4, "lost").unwrap();
    let ws = table("t.xlsx", book.save_to_buffer().unwrap());
    finding(&ws, "foreign_file", &["sheet about"]);
    finding(&ws, "unreadable", &["cell 5 is filled"]);
    let shown = imported(&ws);
    for text in POSTS {
        assert!(
            shown
                .iter()
                .any(|row| row["text"].as_str().is_some_and(|t| t.contains(text) && t.contains("一样"))),
            "{shown:?}"
        );
    }
}

#[test]
fn json_is_read_as_programs_write_it() {
    let rows = format!(
        "{{\"tid\": 1, \"subject\": \"{}\", \"body\": NaN}},\n{{\"tid\": 2, \"subject\": \"{}\", \"body\": \"x\"}}",
        POSTS[0], POSTS[1]
    );
    let lines = rows.replace("},\n", "}\n");
    both(&table("a.jsonl", &lines));
    both(&table("a.jsonl", format!("\u{feff}{lines}")));
    both(&table("a.jsonl", lines.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>()));
    both(&table("a.jsonl", &*GB18030.encode(&lines).0));
    both(&table("a.json", format!("[{rows}]")));
    both(&table("a.json", format!("{{\"data\": [{rows}], \"page\": {{\"more\": 0}}}}")));
    both(&table(
        "a.json",
        format!("{{\n  \"ok\": true,\n  \"data\": {{\n    \"posts\": [\n{rows}\n]\n  }}\n}}\n"),
    ));
    both(&table("a.json", lines.replace(", \"", ",\n  \"").replace("{\"", "{\n  \"")));
    both(&table("a.json", lines.replace(", \"", ",\n  \"").replace("{\"", "{\n  \"").replace("}\n{", "}{")));

    let half = table("a.jsonl", format!("{{\"tid\": 1, \"subject\": \"{}\\ud83d\"}}\n", POSTS[0]));
    import(&half).expect(0);
    assert_eq!(texts(&half), [POSTS[0]]);
    let passage = half.explain("flub", "tieba:1")["way"][0].to_string();
    assert!(passage.contains("surrogates") && passage.contains("mended"), "{passage}");
    half.audit_clean();
}

#[test]
fn an_object_around_several_lists_asks_which_one() {
    let json = format!(
        "{{\"users\": [{{\"name\": \"a\"}}], \"data\": {{\"posts\": [{{\"tid\": 1, \"subject\": \"{}\"}}, {{\"tid\": 2, \"subject\": \"{}\"}}]}}}}",
        POSTS[0], POSTS[1]
    );
    finding(
        &table("a.json", &json),
        "foreign_file",
        &["2 lists of records", "at = \"/users\" or at = \"/data/posts\""],
    );
    // What the hint says helps.
    both(&source("table", "a.json", &json, &format!("{FIELDS}\nat = \"/data/posts\"")));
    finding(
        &source("table", "a.json", &json, &format!("{FIELDS}\nat = \"/posts\"")),
        "foreign_file",
        &["/posts", "/data/posts"],
    );
    let columns = "{\"tid\": {\"0\": 1, \"1\": 2}, \"subject\": {\"0\": \"a\", \"1\": \"b\"}}";
    finding(&table("a.json", columns), "foreign_file", &["orient=\"records\""]);
}

#[test]
fn what_cannot_be_read_is_one_finding_with_what_to_do() {
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, says) in [
        (b"SQLite format 3\0and more".to_vec(), &["an SQLite database", "sqlite3 -json"][..]),
        (b"7z\xbc\xaf\x27\x1c\0\x04".to_vec(), &["a 7-Zip archive", "7z x"]),
        (tar, &["a tar archive", "tar xf"]),
        (b"\x80\x04\x95\x10\0\0".to_vec(), &["a Python pickle", "to_json"]),
        (zip(&[("a.csv", b"x"), ("b.csv", b"y")]), &["a zip of 2 files", "unzip it"]),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n".to_vec(),
            &["Git LFS", "git lfs pull"],
        ),
        (b"<!DOCTYPE html><title>404</title>\n<p>not found</p>".to_vec(), &["a page", "kind = \"profile\""]),
        (b"-- MySQL dump 10.13\nCREATE TABLE `a` (b int);\n".to_vec(), &["in SQL", "export the table"]),
    ] {
        finding(&table("a", &bytes), "foreign_file", says);
    }
}

#[test]
fn columns_that_do_not_exist_are_errors_with_those_that_do() {
    let lines =
        "{\"id\": 11, \"data\": \"a\", \"label\": [\"q\"]}\n{\"id\": 12, \"data\": \"b\", \"label\": []}\n";
    let ws = source("table", "a.jsonl", lines, "fields = { id = \"id\", content = \"text\" }");
    finding(
        &ws,
        "column_missing",
        &["`text` (fields.content)", "the columns are id, data, label", "fields.content = \"data\""],
    );
    // What the hint says helps.
    let ws = source("table", "a.jsonl", lines, "fields = { id = \"id\", content = \"data\" }");
    import(&ws).expect(0);
    assert_eq!(imported(&ws).len(), 2);

    let csv = "body,who\nx,a\n";
    let fields = "fields = { content = \"body\", author = \"author\" }";
    finding(
        &source("table", "a.csv", csv, fields),
        "column_missing",
        &[
            "`author` (fields.author)",
            "fields.author = \"who\", in a [[source]] of its own",
            "optional = [\"author\"]",
        ],
    );
    import(&source("table", "a.csv", csv, &format!("{fields}\noptional = [\"author\"]"))).expect(0);
    let typo = source("table", "a.csv", csv, &format!("{fields}\noptional = [\"autor\"]"));
    let result = import(&typo).expect(2);
    assert!(result.err.contains("did you mean \"author\""), "{}", result.err);
    // One row has it: then it exists.
    let some = "{\"body\": \"a\"}\n{\"body\": \"b\", \"author\": \"x\"}\n";
    import(&source("table", "a.jsonl", some, fields)).expect(0);
    finding(&source("cqia", "a.jsonl", lines, ""), "column_missing", &["`instruction`", "kind = \"table\""]);
}

/// JSON leaves out keys that have no value: titles alone are posts, and it is said that no row has a content. A table that has
/// another column instead is not read.
#[test]
fn rows_whose_json_has_one_text_of_two_are_read_and_named() {
    let fields = "fields = { id = \"tieba:{tid}\", title = \"subject\", content = \"body\" }";
    let lines = format!(
        "{{\"tid\": 1, \"subject\": \"{}\"}}\n{{\"tid\": 2, \"subject\": \"{}\"}}\n",
        POSTS[0], POSTS[1]
    );
    let ws = source("table", "a.jsonl", &lines, fields);
    let result = import(&ws).expect(3);
    assert_eq!(texts(&ws), POSTS);
    for word in ["`body` (fields.content)", "the rows are read without it", "optional = [\"body\"]"] {
        assert!(result.err.contains(word), "{word}: {}", result.err);
    }
    ws.audit_clean();
    import(&source("table", "a.jsonl", &lines, &format!("{fields}\noptional = [\"body\"]"))).expect(0);
    // A column that may have been meant, or a table, whose columns are all that it has.
    let meant = source("table", "a.jsonl", lines.replace("}", ", \"text\": \"x\"}"), fields);
    finding(&meant, "column_missing", &["fields.content = \"text\""]);
    finding(&source("table", "a.csv", "tid,subject\n1,x\n", fields), "column_missing", &["`body`"]);
}

#[test]
fn a_source_that_gives_nothing_is_no_success() {
    for (bytes, says) in
        [("", "is empty"), ("[]", "has no record in it"), ("tid,subject,body\n", "has no rows below")]
    {
        finding(&table("a", bytes), "nothing_read", &[says]);
    }
    let wet = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a/\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n";
    finding(&source("warc", "a.warc.wet", wet, ""), "nothing_read", &["1 of type conversion", "WARC files"]);
    let comment = "{\"id\": \"a\", \"link_id\": \"t3_b\", \"body\": \"x\"}\n";
    finding(&source("reddit", "a.jsonl", comment, ""), "nothing_read", &["1 chatter"]);
    import(&source("reddit", "a.jsonl", comment, "take = \"main\"")).expect(0);
}

#[test]
fn a_content_encoding_that_is_not_known_is_noted_of_pages_that_are_read() {
    let page = include_str!("../fixtures/pages/thread-p1.html");
    let archive = |coding: &str| {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{coding}\r\n{page}");
        let head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://tieba.baidu.com/p/7700000001\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\n";
        format!("{head}Content-Length: {}\r\n\r\n{body}\r\n\r\n", body.len())
    };
    let plain = source("warc", "a.warc", archive(""), "");
    let told = import(&plain).expect(0);
    assert!(!told.err.contains("content-encoding"), "{}", told.err);
    let coded = source("warc", "a.warc", archive("Content-Encoding: none\r\n"), "");
    let told = import(&coded).expect(0);
    assert!(
        told.err.contains("d/a.warc: 1 page with a content-encoding that is not known (\"none\")"),
        "{}",
        told.err
    );
    assert_eq!(imported(&coded), imported(&plain));
    assert!(!imported(&coded).is_empty());
}

/// Dumps as the documentation of three public tools shows their output, each imported with what a user would write at first,
/// and with what the program then says: at most one wrong turn.
#[test]
fn dumps_of_three_tools_take_one_wrong_turn_at_most() {
    let imports = |kind: &str, name: &str, bytes: &str, turns: &[(&str, &str)]| {
        for (at, (settings, says)) in turns.iter().enumerate() {
            let ws = source(kind, name, bytes, settings);
            let result = import(&ws);
            if at + 1 < turns.len() {
                assert_eq!(result.code, 3, "{}", result.err);
                assert!(result.err.contains(says), "{says} is not in {}", result.err);
                continue;
            }
            result.expect(0);
            let ids: Vec<String> =
                imported(&ws).iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
            assert_eq!(ids.join(" "), *says, "{name}");
        }
    };
    // mongoexport, extended JSON.
    let mongo = "{\"_id\":{\"$oid\":\"65a0c0ffee\"},\"tid\":{\"$numberLong\":\"9300000001\"},\"subject\":\"冰箱会感冒吗\",\"created\":{\"$date\":\"2024-01-01T00:00:00Z\"}}\n";
    imports(
        "table",
        "m.json",
        mongo,
        &[(
            "fields = { id = \"tieba:{tid}\", content = \"subject\", time = \"created\" }",
            "tieba:9300000001",
        )],
    );
    // mysql --batch: tabs, NULL; the column of texts is guessed wrong.
    let mysql = "tid\tsubject\tscore\n7\t冰箱会感冒吗\tNULL\n8\t雨伞会淋湿吗\t1,204\n";
    imports(
        "table",
        "m.txt",
        mysql,
        &[
            (
                "fields = { id = \"tieba:{tid}\", content = \"text\", score = \"score\" }",
                "the columns are tid, subject, score",
            ),
            (
                "fields = { id = \"tieba:{tid}\", content = \"subject\", score = \"score\" }",
                "tieba:7 tieba:8",
            ),
        ],
    );
    // snscrape --jsonl reddit-subreddit.
    let snscrape = "{\"_type\": \"snscrape.modules.reddit.Submission\", \"author\": \"a\", \"created\": \"2024-01-01T00:00:00+00:00\", \"id\": \"t3_abc12\", \"link\": null, \"selftext\": \"\", \"subreddit\": \"x\", \"title\": \"冰箱会感冒吗\", \"url\": \"https://www.reddit.com/r/x/comments/abc12/\"}\n";
    imports("reddit", "s.jsonl", snscrape, &[("", "reddit:abc12")]);
}

#[test]
fn a_folder_is_its_files_and_patterns_are_as_expected() {
    let row = |n: usize| format!("{{\"tid\": {n}, \"subject\": \"{}\", \"body\": null}}\n", POSTS[n - 1]);
    for (path, count) in
        [("raw/dumps", 2), ("raw/dumps/", 2), ("raw/dumps/*.jsonl", 1), ("raw/dumps/**/*.jsonl", 2)]
    {
        let ws = Workspace::with(&format!(
            "[[source]]\nname = \"d\"\nkind = \"table\"\npath = \"{path}\"\nlicence = \"CC0-1.0\"\n{FIELDS}\n"
        ));
        ws.write("raw/dumps/a.jsonl", row(1));
        ws.write("raw/dumps/2024/b.jsonl", row(2));
        ws.write("raw/dumps/.hidden.jsonl", "not JSON");
        import(&ws).expect(0);
        assert_eq!(texts(&ws).len(), count, "{path}");
    }
}
