//! Pages and archives as other tools save them, and tables of votes and decisions of another shape.

use std::io::{Cursor, Write};

use riddlemill::store::{StageReader, json_parts};
use riddlemill::warc::{Header, write_record};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::harness::{CallResult, Workspace};

const URL: &str = "https://forum.example/thread-1000-1-1.html";

/// A thread in the structure of Discuz, with text of our own and without its address.
fn page() -> String {
    "<body id=\"nv_forum\" class=\"pg_viewthread\"><div id=\"postlist\" class=\"pl bm\"><h1 class=\"ts\"><span \
     id=\"thread_subject\">把月亮关掉，海水会不会失业？</span></h1><div id=\"post_10001\"><table id=\"pid10001\" \
     class=\"plhin\"><tr><td class=\"pls\"><div class=\"authi\"><a href=\"space-uid-1.html\" class=\"xw1\">user-a</a></div>\
     </td><td class=\"plc\"><div class=\"pi\"><strong><a href=\"#\" id=\"postnum10001\"><em>楼主</em></a></strong></div><div \
     class=\"pct\"><table><tr><td class=\"t_f\" id=\"postmessage_10001\">正文</td></tr></table></div></td></tr></table></div>\
     </div></body></html>"
        .into()
}

fn html() -> String {
    format!("<!DOCTYPE html><html><head><meta charset=\"utf-8\"><title>x</title></head>{}", page())
}

fn discuz(name: &str, bytes: impl AsRef<[u8]>) -> Workspace {
    let ws = Workspace::with(&format!(
        "[[source]]\nname = \"d\"\nkind = \"profile\"\nprofile = \"discuz\"\npath = \"raw/dumps/{name}\"\nlicence = \"CC0-1.0\"\n"
    ));
    ws.write(&format!("raw/dumps/{name}"), bytes);
    ws
}

fn import(ws: &Workspace) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--to", "import"])
}

#[track_caller]
fn ids(ws: &Workspace) -> Vec<String> {
    let result = import(ws);
    let result = result.expect(0);
    let stage = StageReader::open(&ws.path("staged/flub/01_import")).unwrap().unwrap();
    let rows = json_parts(&stage, "rows", &[]).flat_map(|part| part.unwrap());
    let ids: Vec<String> = rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert!(!ids.is_empty(), "{}", result.err);
    ids
}

#[test]
fn the_address_that_a_program_wrote_into_a_page_counts() {
    for (before, head) in [
        (format!("<!DOCTYPE html><html><!--\n Page saved with SingleFile \n url: {URL} \n saved date: Wed May 01 2024\n-->"), ""),
        (format!("<!-- saved from url=({:04}){URL} -->\n<!DOCTYPE html><html>", URL.len()), ""),
        (format!("<!-- Saved from {URL} at 2024-05-01T00:00:00Z using monolith v2.8.1 -->\n<!DOCTYPE html><html>"), ""),
        ("<!DOCTYPE html><html><!-- Mirrored from forum.example/thread-1000-1-1.html by HTTrack Website Copier/3.x [XR&CO'2014] -->".into(), ""),
        ("<!DOCTYPE html><html>".into(), "<meta name=\"savepage-url\" content=\"https://forum.example/thread-1000-1-1.html\">"),
        (format!("<!DOCTYPE html><html data-scrapbook-source=\"{URL}\">"), ""),
        ("<!DOCTYPE html><html>".into(), "<link rel=\"canonical\" href=\"https://forum.example/thread-1000-1-1.html\">"),
    ] {
        let saved = format!("{before}<head><meta charset=\"utf-8\">{head}<title>x</title></head>{}", page());
        assert_eq!(ids(&discuz("a.html", saved)), ["forum.example:10001"], "{before}{head}");
    }
}

#[test]
fn a_page_saved_as_mhtml_is_that_page() {
    let quoted: String = html().bytes().map(|byte| format!("={byte:02X}")).collect();
    let mhtml = format!(
        "From: <Saved by Blink>\r\nSnapshot-Content-Location: {URL}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\tboundary=\"----b----\"\r\n\r\n\r\n------b----\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: {URL}\r\n\r\n{quoted}\r\n------b------\r\n"
    );
    assert_eq!(ids(&discuz("a.mhtml", mhtml)), ["forum.example:10001"]);
}

fn archive(encoding: &str, body: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let header = Header::new("response")
        .with_field("WARC-Target-URI", URL)
        .with_field("WARC-Date", "2024-05-01T00:00:00Z");
    let coded = if encoding.is_empty() { String::new() } else { format!("Content-Encoding: {encoding}\r\n") };
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{coded}\r\n{body}");
    write_record(&mut bytes, &header, block.as_bytes()).unwrap();
    bytes
}

#[test]
fn a_wacz_is_its_archives_and_what_is_no_page_is_no_failure() {
    let picture = Header::new("response").with_field("WARC-Target-URI", "https://forum.example/a.png");
    let mut rest = Vec::new();
    write_record(&mut rest, &picture, b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG").unwrap();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in [
        ("archive/a.warc.gz", &archive("", &html())),
        ("archive/b.warc.gz", &rest),
        ("datapackage.json", &b"{}".to_vec()),
    ] {
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let ws = discuz("a.wacz", zip.finish().unwrap().into_inner());
    assert_eq!(ids(&ws), ["forum.example:10001"]);
    ws.audit_clean();
}

#[test]
fn an_encoding_that_does_not_exist_costs_no_page() {
    for none in ["none", "utf-8", "binary", "UTF8", "identity, none"] {
        assert_eq!(ids(&discuz("a.warc.gz", archive(none, &html()))), ["forum.example:10001"], "{none}");
    }
}

#[test]
fn a_page_without_a_post_says_why_in_words() {
    let odd = format!(
        "<!DOCTYPE html><html><head><title>x</title></head><body><p>{}</p></body></html>",
        "别的版式。".repeat(60)
    );
    for (name, bytes, says) in [
        ("a.html", odd.clone().into_bytes(), "finds nothing on it"),
        ("a.html", b"no element at all, only text".to_vec(), "there is no element in it"),
        ("a.warc.gz", archive("", &odd), "finds nothing on it"),
    ] {
        let ws = discuz(name, bytes);
        let result = import(&ws).expect(3);
        assert!(
            result.err.contains("page_unparsed, first in d/a.") && result.err.contains(says),
            "{}",
            result.err
        );
        assert!(!result.err.contains(": ;") && !result.err.contains("check `kind`"), "{}", result.err);
    }
}

const VOTING: &str = "[[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\nlanguages = [\"zh\"]\n\n[[source]]\nname = \"d\"\nkind = \"leymore-titles\"\npath = \"raw/dumps/d\"\nlicence = \"CC0-1.0\"\n";

#[test]
fn tables_of_another_shape_are_no_success() {
    let ws = Workspace::with(VOTING);
    ws.write("raw/dumps/d", "{\"title\": \"把月亮关掉，海水会不会失业？\", \"href\": \"/p/1\"}\n");
    ws.call(["run", "--recipe", "flub"]);
    for (name, bytes, says) in [
        ("foreign.csv", "id,data\n1,x\n", "no column `record`; its columns are id, data"),
        ("foreign.tsv", "id\tdata\n1\tx\n", "no column `record`"),
        ("empty.csv", "record,verdict,why\n", "no row below"),
        ("foreign.jsonl", "{\"id\": \"1\"}\n", "no column `record`"),
        ("empty.jsonl", "", "no column `record`"),
    ] {
        ws.write(name, bytes);
        let file = ws.path(name);
        let result = ws.call(["decide", "import", file.to_str().unwrap(), "--by", "meta-1"]).expect(3);
        assert!(result.err.contains(says), "{name}: {}", result.err);
    }
    // `sep=` and semicolons, as a spreadsheet in Europe writes them.
    ws.write("d.csv", "\u{feff}sep=;\r\nrecord;verdict;why\r\ntieba:1;drop;\"a; b\"\r\n");
    let file = ws.path("d.csv");
    let result = ws.call(["decide", "import", file.to_str().unwrap(), "--by", "meta-1"]).expect(0);
    assert!(result.out.contains("1 decision added"), "{}", result.out);
}

#[test]
fn a_source_for_other_recipes_is_named_and_no_fault() {
    let ws = Workspace::with(
        "[[source]]\nname = \"r\"\nkind = \"puzzles\"\npath = \"raw/dumps/r\"\nlicence = \"CC0-1.0\"\n",
    );
    ws.write("raw/dumps/r", "{\"question\": \"What is heavy and light?\", \"answer\": \"Nothing.\"}\n");
    let result = ws.call(["run", "--recipe", "flub", "--to", "import"]).expect(0);
    assert!(result.err.contains("flub reads none of [[source]] r: it is for brainteaser"), "{}", result.err);
}

#[test]
fn a_mark_of_byte_order_on_stdin_costs_no_line() {
    let ws = Workspace::with("");
    let mut child = ws
        .command(["apply", "clean"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines =
        "\u{feff}{\"id\": \"a\", \"text\": \"云\\ud83d\"}\n{\"id\": \"b\", \"text\": \"雨\", \"n\": NaN}\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), out.lines().count()), (Some(0), 2), "{out}");
    assert!(!out.contains("unreadable"), "{out}");
}
