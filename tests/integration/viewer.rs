//! A release in the browser: filtered by clicks, searched, shared and downloaded as found; its card; two versions side by
//! side.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;

use polars_io::SerReader;
use polars_io::prelude::ParquetReader;
use serde_json::Value;

use crate::browser::{Browser, Server, coded};
use crate::harness::Workspace;
use crate::reviewed::{GEN, Reviewed, item};
use crate::site::{FLUB, released, unescaped};

const ROWS: &str = "/flub/release/1.0.0-draft.1/rows";

/// The status, head and bytes of a file.
pub fn fetched(server: &Server, path: &str) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let host = format!("127.0.0.1:{}", server.port());
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, bytes.split_off(end + 4))
}

fn rows_of(ws: &Workspace) -> Vec<Value> {
    let text = ws.read(&format!("{FLUB}/data/flub/test.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The address of every bar of a page, with the rows that it says.
fn bars(page: &str) -> Vec<(String, usize)> {
    let bar = regex::Regex::new(
        r##"href="\?([^"#]*)#rows"(?: aria-current="true")?><span dir="auto">.*?</span><span class="num">(\d+)</span>|<a href="\?([^"#]*)#rows" aria-label="[^"]*: (\d+)""##,
    )
    .unwrap();
    let found = bar.captures_iter(page).map(|found| {
        let part = |at: usize| found.get(at).map(|part| part.as_str());
        (part(1).or(part(3)).unwrap().to_owned(), part(2).or(part(4)).unwrap().parse().unwrap())
    });
    found.collect()
}

#[test]
fn every_bar_leads_to_as_many_rows_as_it_says_and_null_is_one() {
    let ws = released("flub");
    let server = Server::start(&ws, &[]);
    let all = rows_of(&ws);
    let page = unescaped(&server.get(ROWS).body);
    // What matters first, and the right option is marked.
    let heads: Vec<usize> = ["text", "options", "answer", "type"]
        .map(|column| page.find(&format!("sort={column}\"")).unwrap())
        .into();
    assert!(heads[0] < heads[1] && heads[1] < heads[2], "{heads:?}");
    assert!(page.contains("<li class=\"right\">") && page.contains("28 of 28 rows"), "{page}");
    for start in [String::new(), format!("is.answer=B&q={}", coded("的"))] {
        let page = unescaped(&server.get(&format!("{ROWS}?{start}")).body);
        let bars = bars(&page);
        assert!(bars.len() > 12, "{bars:?}");
        for (address, n) in bars {
            // A bar that is chosen leads back: it says how many rows there are now.
            if start.contains("is.answer=B") && !address.contains("is.answer=") {
                continue;
            }
            let found = unescaped(&server.get(&format!("{ROWS}?{address}")).body);
            assert!(found.contains(&format!(">{n} of 28 rows")), "{address}: {n}");
        }
    }
    // Null is a value like others.
    let null = all.iter().filter(|row| row["type"].is_null()).count();
    assert_eq!(null, 1);
    let page = unescaped(&server.get(&format!("{ROWS}?is.type={}", coded("∅"))).body);
    assert!(page.contains(">1 of 28 rows") && page.contains("<i class=\"soft\">null</i>"), "{page}");
    // In words of the page's language, and back by one click.
    let mut chinese = Browser { cookies: vec![("lang".into(), "zh".into())] };
    let page = unescaped(&chinese.get(&server, &format!("{ROWS}?is.answer=B")).body);
    assert!(page.contains("/ 28 行") && page.contains("取消此筛选"), "{page}");
}

#[test]
fn a_search_is_marked_and_a_view_has_an_address_of_its_own() {
    let ws = released("flub");
    let server = Server::start(&ws, &[]);
    let right = rows_of(&ws)[0]["explanation"].as_str().unwrap().chars().take(4).collect::<String>();
    // Marked in the options, and said of a column that is not shown.
    let page = unescaped(&server.get(&format!("{ROWS}?q={}&col=text&col=options", coded(&right))).body);
    assert!(page.contains(&format!("<mark>{right}</mark>")), "{page}");
    assert!(page.contains("found in explanation"), "{page}");
    // As a form sends it, with empty fields and all that is so anyway.
    let form = format!("{ROWS}?config=flub&q=&is.answer=B&is.type=&page=1&col=id&col=text");
    let page = unescaped(&server.get(&form).body);
    let share = format!("data-copy value=\"{ROWS}?config=flub&is.answer=B&col=id&col=text\"");
    assert!(page.contains(&share), "{page}");
    let again = unescaped(&server.get(&format!("{ROWS}?config=flub&is.answer=B&col=id&col=text")).body);
    let rows =
        |page: &str| page.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap().to_owned();
    assert_eq!(rows(&page), rows(&again));
    // A column that is not there filters nothing, which is said.
    let page = unescaped(&server.get(&format!("{ROWS}?is.nothing=1")).body);
    assert!(page.contains("28 of 28 rows") && page.contains("No column here is called nothing"), "{page}");
    assert_eq!(server.get(&format!("{ROWS}/csv?is.nothing=1")).status, 400);
}

#[test]
fn what_was_found_is_downloaded_in_three_forms() {
    let ws = released("flub");
    let server = Server::start(&ws, &[]);
    let mut want: Vec<Value> = rows_of(&ws).into_iter().filter(|row| row["answer"] == "B").collect();
    want.sort_by_key(|row| row["text"].as_str().unwrap().to_owned());
    assert!(want.len() > 1);
    let asked = "is.answer=B&sort=text";
    let page = unescaped(&server.get(&format!("{ROWS}?{asked}")).body);
    for form in ["csv", "jsonl", "parquet"] {
        assert!(page.contains(&format!("href=\"{ROWS}/{form}?{asked}\" download")), "{form}: {page}");
    }
    let file = |form: &str| {
        let (status, head, bytes) = fetched(&server, &format!("{ROWS}/{form}?{asked}"));
        assert_eq!(status, 200, "{head}");
        let name = format!("filename=\"flub-1.0.0-draft.1-flub-{}-of-28.{form}\"", want.len());
        assert!(head.contains(&name), "{head}");
        bytes
    };
    // The lines are those of the release.
    let lines = String::from_utf8(file("jsonl")).unwrap();
    let released = ws.read(&format!("{FLUB}/data/flub/test.jsonl"));
    assert!(lines.lines().all(|line| released.lines().any(|known| known == line)));
    let read: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, want);
    let table = String::from_utf8(file("csv")).unwrap();
    let mut table = csv::Reader::from_reader(table.strip_prefix('\u{feff}').unwrap().as_bytes());
    let columns: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(columns, want[0].as_object().unwrap().keys().cloned().collect::<Vec<_>>());
    for (record, row) in table.records().map(|record| record.unwrap()).zip(&want) {
        assert_eq!((&record[0], &record[1]), (row["id"].as_str().unwrap(), row["text"].as_str().unwrap()));
    }
    ws.write("part.parquet", file("parquet"));
    let frame = ParquetReader::new(File::open(ws.path("part.parquet")).unwrap()).finish().unwrap();
    assert_eq!((frame.height(), frame.width()), (want.len(), columns.len()));
    let whole = ws.path(&format!("{FLUB}/data/flub/test.parquet"));
    let whole = ParquetReader::new(File::open(whole).unwrap()).finish().unwrap();
    assert_eq!(frame.schema(), whole.schema(), "the types are those of the release");
    let texts = frame.column("text").unwrap().str().unwrap();
    let texts: Vec<&str> = (0..frame.height()).map(|at| texts.get(at).unwrap()).collect();
    assert_eq!(texts, want.iter().map(|row| row["text"].as_str().unwrap()).collect::<Vec<_>>());
    // Of nothing found: a table without rows, not an error and not all rows.
    let (status, _, bytes) = fetched(&server, &format!("{ROWS}/csv?q=nothing-like-this"));
    assert_eq!((status, String::from_utf8(bytes).unwrap().lines().count()), (200, 1));
    let (status, ..) = fetched(&server, &format!("{ROWS}/toml"));
    assert_eq!(status, 404);
}

#[test]
fn a_formula_is_text_in_a_download_and_a_withdrawn_row_is_in_none() {
    let mut people = Reviewed::new();
    let formula = "=HYPERLINK(\"http://a.example\";\"x\") it has no fears";
    let two = "2(Commonsense Misunderstanding)";
    people.add(&[
        item("雨伞会不会怕水？", "Is an umbrella afraid of water?", formula, None, two),
        item("镜子会不会看腻我？", "Is the mirror tired of me?", "A mirror sees nothing.", None, two),
    ]);
    let ws = &people.ws;
    let rows = format!("/{GEN}/release/candidate/rows");
    let server = Server::start(ws, &[]);
    let (status, _, table) = fetched(&server, &format!("{rows}/csv"));
    let table = String::from_utf8(table).unwrap();
    assert!(status == 200 && table.contains("\"'=HYPERLINK(\"\"http://a.example"), "{table}");
    // Withdrawn after it was made: gone from the table, the figures, the card and every download at once.
    let all = ws.candidates(GEN);
    let [text, other] = [0, 1].map(|at| all[at]["question_zh"].as_str().unwrap());
    assert!(server.get(&format!("/{GEN}/release/candidate/card")).body.contains(text));
    ws.call(["withdraw", all[0]["source_id"].as_str().unwrap(), "--reason", "its author asked"]).expect(0);
    for form in ["csv", "jsonl"] {
        let (status, _, bytes) = fetched(&server, &format!("{rows}/{form}"));
        let held = String::from_utf8(bytes).unwrap();
        assert!(status == 200 && !held.contains(text) && held.contains(other), "{form}: {held}");
    }
    let (_, _, bytes) = fetched(&server, &format!("{rows}/parquet"));
    ws.write("part.parquet", &bytes);
    let frame = ParquetReader::new(File::open(ws.path("part.parquet")).unwrap()).finish().unwrap();
    assert_eq!(frame.height(), 1);
    assert_eq!(frame.column("question_zh").unwrap().str().unwrap().get(0), Some(other));
    for page in ["", "/rows", "/card"] {
        let answer = server.get(&format!("/{GEN}/release/candidate{page}"));
        assert!(answer.status == 200 && !unescaped(&answer.body).contains(text), "{page}");
    }
    assert_eq!(server.get(&format!("/{GEN}/release/candidate/file/README.md")).status, 410);
}

#[test]
fn a_card_has_its_picture_its_details_and_its_contents() {
    let ws = released("flub");
    let server = Server::start(&ws, &[]);
    let card = server.get("/flub/release/1.0.0-draft.1/card").body;
    let picture = "/flub/release/1.0.0-draft.1/file/funnel.svg";
    assert!(card.contains(&format!("<img src=\"{picture}\" alt=\"The funnel\"")), "{card}");
    assert!(card.contains("<details><summary>What the reasons mean</summary>"), "{card}");
    assert!(card.contains("href=\"#in-sources\"") && card.contains("id=\"in-sources\""), "{card}");
    // Digits are right-aligned on one line, without an inline style.
    assert!(card.contains("<td class=\"num\">227</td>") && !card.contains("style="), "{card}");
    let (status, head, bytes) = fetched(&server, picture);
    assert_eq!((status, bytes), (200, ws.bytes(&format!("{FLUB}/funnel.svg"))));
    for line in ["content-type: image/svg+xml", "content-disposition: attachment", "default-src 'none'"] {
        assert!(head.contains(line), "{line}: {head}");
    }
    // Another picture of the release is a file like others.
    let (_, head, _) = fetched(&server, "/flub/release/1.0.0-draft.1/file/MANIFEST.json");
    assert!(head.contains("content-type: application/octet-stream"), "{head}");
    // What a curator writes on the card opens nothing and runs nothing.
    let path = format!("{FLUB}/README.md");
    let hostile = "\n<details>\n\n- <details>\n\n<svg onload=alert(1)>\n\n![x](../../x.svg) ![y](https://a.example/y.png)\n";
    ws.write(&path, ws.read(&path) + hostile);
    let card = server.get("/flub/release/1.0.0-draft.1/card").body;
    assert_eq!(card.matches("<details>").count(), card.matches("</details>").count());
    assert!(!card.contains("<svg onload") && card.matches("<img ").count() == 2, "{card}");
}

#[test]
fn two_versions_answer_first_and_stand_side_by_side() {
    let ws = released("flub");
    let run = ["run", "--offline", "-q", "--recipe", "flub"];
    let otherwise = ["--set", "filter.min_chars=20", "--set", "options.seed=2"];
    ws.call(run.iter().chain(&otherwise)).expect(0);
    let server = Server::start(&ws, &[]);
    let answer = server.get("/flub/diff");
    let page = unescaped(&answer.body);
    assert_eq!(answer.status, 200, "{page}");
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what:?} in {page}"));
    // How many, then what left and why, then what changed.
    let order = [
        place("28 → 24"),
        place("(−4)"),
        place("<form class=\"filters\""),
        place("id=\"left-1\""),
        place("id=\"changed-1\""),
    ];
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(page.matches("<code>too_short</code>").count(), 4);
    assert!(page.contains("<b>4</b> ") && page.contains("of at least 20 characters"), "{page}");
    let kept = ws.candidates("flub");
    let left: Vec<Value> =
        rows_of(&ws).into_iter().filter(|row| kept.iter().all(|kept| kept["id"] != row["id"])).collect();
    assert_eq!(left.len(), 4);
    for row in left {
        assert!(page.contains(row["text"].as_str().unwrap()), "{row}");
    }
    let sides = &page[place("<table class=\"compared\"")..];
    assert!(sides.contains("<del>") && sides.contains("<ins>"), "{sides}");
    let order = sides.find("1.0.0-draft.1").unwrap() < sides.find("candidate").unwrap();
    assert!(order, "before stands left of after");
    // Each row leads to its record.
    let record = page.split("href=\"/flub/record/").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(server.get(&format!("/flub/record/{record}")).status, 200, "{record}");
    let same = server.get("/flub/diff?before=candidate&after=candidate").body;
    assert!(same.contains("Nothing differs"), "{same}");
    let chinese = Browser { cookies: vec![("lang".into(), "zh".into())] }.get(&server, "/flub/diff");
    let chinese = unescaped(&chinese.body);
    assert!(chinese.contains("移除及原因") && chinese.contains("改动对照"), "{chinese}");
    // Why a row left, and which decisions differ where one changed.
    for told in ["字，至少须 20 字", "筛选：min_chars 4 → 20；选项：seed 1 → 2"] {
        assert!(chinese.contains(told) && !chinese.contains("-> 20"), "{told}: {chinese}");
    }
    // Of a row that was withdrawn there is neither the text nor a link to its record.
    let gone = left_of(&ws);
    ws.call(["withdraw", gone["source_id"].as_str().unwrap(), "--reason", "its author asked"]).expect(0);
    let page = unescaped(&server.get("/flub/diff").body);
    let id = gone["id"].as_str().unwrap();
    assert!(page.contains(&format!("withdrawn</span><span class=\"id\">{id}</span>")), "{page}");
    assert!(!page.contains(gone["text"].as_str().unwrap()), "{page}");
}

/// The first row of the release that the candidate does not have.
fn left_of(ws: &Workspace) -> Value {
    let kept = ws.candidates("flub");
    rows_of(ws).into_iter().find(|row| kept.iter().all(|kept| kept["id"] != row["id"])).unwrap()
}
