//! Malformed dumps: the bad line is reported, the rest is imported.

use std::io::Write;

use encoding_rs::GB18030;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::harness::{Workspace, source, title};

const TITLES: [&str; 3] = ["冰块怕热还是怕化？", "雨伞自己会不会淋湿？", "门铃半夜睡不睡觉？"];

fn lines(end: &str) -> String {
    TITLES.iter().enumerate().map(|(i, text)| title(i as u64 + 1, text) + end).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A workspace with one dump of list pages.
fn dump(bytes: impl AsRef<[u8]>) -> Workspace {
    Workspace::with_dump("leymore-titles", bytes)
}

/// A run that reads all three.
#[track_caller]
fn whole(ws: &Workspace) {
    ws.call(["run", "--recipe", "flub"]).expect(0);
    assert_eq!(texts(ws), TITLES);
}

/// A run that continues after a bad record, with the output of `explain` about it.
#[track_caller]
fn partial(ws: &Workspace, at: &str) -> (String, String) {
    let result = ws.call(["run", "--recipe", "flub"]).expect(3);
    assert!(result.err.contains("flub import: ") && result.err.contains(" failed: "), "{}", result.err);
    ws.audit_clean();
    let actual = ws.explain("flub", at);
    assert_eq!(actual["ends"], "failed", "{actual}");
    let passage = &actual["way"][0];
    (passage["reason"].as_str().unwrap().into(), passage["evidence"].as_str().unwrap().into())
}

fn texts(ws: &Workspace) -> Vec<String> {
    let mut rows: Vec<(u64, String)> = ws
        .posts("flub")
        .iter()
        .map(|row| (row["position"].as_u64().unwrap(), row["text"].as_str().unwrap().to_string()))
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn formats_are_seen_from_the_content() {
    whole(&dump(lines("\n")));
    whole(&dump(lines("\r\n")));
    whole(&dump(lines("\n").trim_end()));
    whole(&dump(format!("\u{feff}{}", lines("\n"))));
    whole(&dump(format!("\n\n{}", lines("\n\n"))));
    whole(&dump(format!("[\n{}]\n", lines(",\n").trim_end_matches(",\n"))));
    whole(&dump(format!("\u{feff}[{}]", lines(",").trim_end_matches(','))));
    whole(&dump(gzip(lines("\n").as_bytes())));
    whole(&dump(zstd::encode_all(lines("\n").as_bytes(), 3).unwrap()));
}

#[test]
fn several_gzip_members_are_one_file() {
    let text = lines("\n");
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    whole(&dump([gzip(first), gzip(second)].concat()));
}

#[test]
fn a_zstd_window_of_the_archives_is_read() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(lines("\n").as_bytes()).unwrap();
    whole(&dump(encoder.finish().unwrap()));
}

#[test]
fn an_empty_dump_is_said_and_closes_the_books() {
    for bytes in ["", "\n", "[]", "[ \n ]\n"] {
        let ws = dump(bytes);
        ws.call(["run", "--recipe", "flub"]).expect(3);
        assert_eq!(ws.posts("flub").len(), 0);
        assert_eq!(ws.reasons("flub").get("failed/nothing_read"), Some(&1));
        ws.audit_clean();
    }
}

#[test]
fn a_broken_line_costs_itself() {
    let text = lines("\n");
    let (first, rest) = text.split_once('\n').unwrap();
    let ws = dump(format!("{first}\n{{\"title\": \"半句\n{rest}"));
    let (reason, evidence) = partial(&ws, "dump:2");
    assert_eq!(reason, "unreadable");
    // Where the error is, and not the text, which may be a person's name.
    assert!(evidence.contains("EOF while parsing a string") && !evidence.contains("半句"), "{evidence}");
    assert_eq!(texts(&ws), TITLES);

    // In an array, and with a value of another kind.
    let ws = dump(format!("[{first},\n{{\"title\": \"半句\n,{}]", rest.trim_end().replace('\n', ",")));
    partial(&ws, "dump:2");
    let ws = dump(format!("{first}\n17\n{rest}"));
    assert_eq!(partial(&ws, "dump/dump:2").0, "unreadable");
    assert_eq!(texts(&ws), TITLES);
}

#[test]
fn other_encodings_are_named() {
    let (gbk, _, _) = GB18030.encode(TITLES[0]);
    let mut bytes = b"{\"title\": \"".to_vec();
    bytes.extend_from_slice(&gbk);
    bytes.extend_from_slice(b"\"}\n");
    bytes.extend_from_slice(lines("\n").as_bytes());
    let ws = dump(bytes);
    let (reason, evidence) = partial(&ws, "dump:1");
    assert_eq!(reason, "encoding");
    assert!(evidence.contains("GBK") && evidence.contains("iconv -f GB18030"), "{evidence}");
    assert_eq!(texts(&ws), TITLES);

    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(lines("\n").encode_utf16()).flat_map(u16::to_le_bytes).collect();
    whole(&dump(utf16));
    // A file that is in another encoding from its first to its last line is read in that.
    whole(&dump(&*GB18030.encode(&lines("\n")).0));
}

#[test]
fn a_line_of_200_mb_is_set_aside() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let text = lines("\n");
    let (first, rest) = text.split_once('\n').unwrap();
    writeln!(encoder, "{first}").unwrap();
    let megabyte = vec![b'x'; 1_000_000];
    (0..200).for_each(|_| encoder.write_all(&megabyte).unwrap());
    write!(encoder, "\n{rest}").unwrap();
    let ws = dump(encoder.finish().unwrap());
    let (reason, evidence) = partial(&ws, "dump:2");
    assert_eq!(
        (reason.as_str(), evidence.as_str()),
        ("oversize", "200000000 bytes, over the limit of import.max_line_mib")
    );
    assert_eq!(texts(&ws), TITLES);
}

#[test]
fn a_cut_stream_keeps_what_came_before() {
    let many: String = (1..4000).map(|i| title(i, &format!("第{i}盏灯为什么不睡？")) + "\n").collect();
    for bytes in [gzip(many.as_bytes()), zstd::encode_all(many.as_bytes(), 1).unwrap()] {
        let ws = dump(&bytes[..bytes.len() / 2]);
        ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(3);
        let reasons = ws.reasons("flub");
        assert_eq!(reasons.get("failed/truncated"), Some(&1), "{reasons:?}");
        let manifest: serde_json::Value =
            serde_json::from_str(&ws.read("staged/flub/01_import/manifest.json")).unwrap();
        let came = manifest["counts"]["records_out"].as_u64().unwrap();
        assert!(came > 500, "{came} posts before the cut");
        ws.audit_clean();
    }
    let ws = dump(format!("[{},", lines(",").trim_end_matches(',')));
    ws.call(["run", "--recipe", "flub"]).expect(3);
    assert_eq!(texts(&ws), TITLES);
}

#[test]
fn one_id_is_one_record_and_conflicts_are_kept() {
    let settings =
        source("a", "leymore-titles", "raw/dumps/a") + &source("b", "leymore-titles", "raw/dumps/b");
    let ws = Workspace::with(&settings);
    ws.write("raw/dumps/a", lines("\n") + &title(1, TITLES[0]) + "\n");
    ws.write("raw/dumps/b", title(2, "雨伞自己淋湿了吗？") + "\n" + &title(3, TITLES[2]));
    whole(&ws);
    assert_eq!(ws.reasons("flub")["merged/same_id"], 3);
    let actual = ws.explain("flub", "tieba:2")["way"].to_string();
    assert!(actual.contains("other text: 雨伞自己淋湿了吗？"), "{actual}");
    let actual = ws.explain("flub", "tieba:3")["way"].to_string();
    assert!(actual.contains("same text"), "{actual}");
}

#[test]
fn a_source_without_a_file_is_a_setting_that_cannot_be_used() {
    let settings =
        source("a", "leymore-titles", "raw/dumps/none-*.json") + &source("b", "thread-dump", "raw/b.jsonl");
    let result = Workspace::with(&settings).call(["run"]).expect(2);
    assert!(result.err.contains("(source \"a\")") && result.err.contains("(source \"b\")"), "{}", result.err);
}

#[test]
fn a_dump_that_is_another_one_is_refused() {
    let ws = Workspace::with(
        &(source("dump", "leymore-titles", "raw/d") + &format!("sha256 = \"{}\"\n", "0".repeat(64))),
    );
    ws.write("raw/d", lines("\n"));
    let result = ws.call(["run"]).expect(2);
    assert!(
        result.err.contains("has the SHA-256") && result.err.contains("the settings state"),
        "{}",
        result.err
    );
}
