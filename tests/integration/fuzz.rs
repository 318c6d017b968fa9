//! Every importer on damaged dumps: seeds of each kind, mutated bytewise many times.
//!
//! A stable compiler gives no coverage feedback; to compensate, the seeds are whole dumps of each kind and
//! half of the mutations insert tokens of the formats. `RIDDLEMILL_FUZZ_SECS` sets the seconds per kind;
//! without it each kind gets a few hundred cases. A failure names the seed and the case, which are the same
//! on every machine.

use std::path::Path;
use std::time::{Duration, Instant};

use riddlemill::config::SourceKind;
use riddlemill::log::{Log, LogName, Logs, Segments};
use riddlemill::warc::{Header, write_record};

use crate::log_damages::chained;

#[path = "../../fuzz/src/lib.rs"]
#[expect(dead_code, reason = "libFuzzer's own entry is not called here")]
mod shared;

/// Cases of each kind if no time is set.
const CASES: u64 = 300;

/// A splitmix64 generator.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Tokens of the formats, and bytes that have caused bugs before.
const WORDS: &[&[u8]] = &[
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"0.1e-400",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xb0\xa1\xc8",
    b"\xf0\x9f\x98\x80",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"PAR1",
    b"\"pid\":",
    b"\"tid\":",
    b"\"text\":",
    b"\"contents\":",
    b"\"title\":",
    b"\"id\":",
    b"\"content\":",
    b"\"floor\":",
    b"[deleted]",
    b"/p/1?",
    b"WARC/1.0\r\n",
    b"Content-Length: 99999999999\r\n",
    b"Content-Length: -1\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: br\r\n",
    b"WARC-Type: revisit\r\n",
    b"HTTP/1.1 200\r\n\r\n",
    b"ffffffffffffffff\r\n",
    b"<div class=l_post data-field='{&quot;",
    b"<!--",
    b"-->",
    b"</code>",
    b"&#x110000;",
    b"&quot;",
];

/// One random mutation at a random place.
fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], draw: &mut Draw) {
    let at = draw.below(bytes.len() + 1);
    let end = (at + 1 + draw.below(64)).min(bytes.len());
    match draw.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
        1 if at < bytes.len() => bytes[at] = draw.next() as u8,
        2 => drop(bytes.drain(at.min(end)..end)),
        3 => {
            let piece = bytes[at.min(end)..end].to_vec();
            let times = 1 + draw.below(5);
            let to = draw.below(bytes.len() + 1);
            bytes.splice(to..to, piece.repeat(times));
        }
        4 if draw.below(4) == 0 => bytes.truncate(at),
        5 => {
            let other = &others[draw.below(others.len())];
            let from = draw.below(other.len() + 1);
            let piece = &other[from..(from + draw.below(400)).min(other.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        _ => {
            let word = WORDS[draw.below(WORDS.len())];
            bytes.splice(at..at, word.iter().copied());
        }
    }
}

/// The case with this number: a mutated seed, sometimes compressed and mutated again.
fn case(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut draw = Draw(number ^ 0x51ed_270b);
    let mut bytes = seeds[draw.below(seeds.len())].clone();
    for _ in 0..1 + draw.below(8) {
        change(&mut bytes, seeds, &mut draw);
    }
    match draw.below(12) {
        0 => {
            bytes = zstd::encode_all(&bytes[..], 1).unwrap();
            (0..draw.below(3)).for_each(|_| change(&mut bytes, seeds, &mut draw));
        }
        1 => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut gzip, &bytes).unwrap();
            bytes = gzip.finish().unwrap();
            (0..draw.below(3)).for_each(|_| change(&mut bytes, seeds, &mut draw));
        }
        _ => {}
    }
    bytes
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample/dumps").join(name);
    // A few records of a seed suffice, and are faster to read.
    let mut bytes = std::fs::read(path).unwrap();
    bytes.truncate(3000);
    bytes
}

fn riddles(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/sample/puzzles").join(name)).unwrap()
}

/// Archived pages of every kind that the parsers support.
fn archive(version: &str, gzip: bool) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pages");
    let mut bytes = Vec::new();
    for (url, name) in [
        ("https://tieba.baidu.com/f?kw=x", "list-2020.html"),
        ("https://tieba.baidu.com/p/7700000001", "thread-p1.html"),
        ("https://tieba.baidu.com/p/7700000003", "thread-old.html"),
        ("https://tieba.baidu.com/p/totalComment?tid=1&fid=1&pn=1", "total-comment.json"),
        ("https://tieba.baidu.com/p/comment?tid=1&pid=2&pn=1", "comment-1.html"),
    ] {
        let body = std::fs::read(folder.join(name)).unwrap();
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
        let block = [&head[..], &body[..]].concat();
        let mut header = Header::new("response")
            .with_field("WARC-Target-URI", url)
            .with_field("WARC-Date", "2024-05-01T00:00:00Z");
        header.version = version.into();
        if gzip {
            write_record(&mut bytes, &header, &block).unwrap();
        } else {
            bytes.extend(format!("{version}\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-05-01T00:00:00Z\r\nContent-Length: {}\r\n\r\n", block.len()).bytes());
            bytes.extend(block);
            bytes.extend(b"\r\n\r\n");
        }
    }
    bytes
}

fn seeds(kind: &str) -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    match kind {
        "leymore-titles" => vec![
            sample("titles.json"),
            text(
                "{\"title\": \"云会恐高吗\", \"abs\": null, \"href\": \"/p/7?fr=good\", \"lz\": \"某人\", \"n_reply\": \"2\"}\n",
            ),
        ],
        "leymore-annual" => vec![sample("annual.json")],
        "thread-dump" => vec![sample("thread.jsonl")],
        "aiotieba" => vec![
            text(
                "{\"tid\": 42, \"pid\": 43, \"title\": \"请问\", \"contents\": {\"objs\": [{\"text\": \"月亮\"}, {\"src\": \"x.png\"}], \"imgs\": [{}]}, \"floor\": 1, \"user\": {\"user_id\": 9, \"user_name\": \"某人\"}, \"create_time\": 1600000000}\n",
            ),
            text(
                "[{\"tid\": 1, \"pid\": 2, \"title\": \"问\", \"contents\": [{\"text\": \"甲\"}], \"floor\": 1},\n {\"contents\": {\"texts\": [{\"text\": \"1.乙\"}]}, \"tid\": \"1\", \"pid\": 4, \"ppid\": 2, \"floor\": 3},\n {\"pid\": 0, \"tid\": 1, \"text\": \"广告\"}]",
            ),
        ],
        "reddit" => vec![text(
            "{\"id\": \"ab12\", \"title\": \"Why?\", \"selftext\": \"Because.\", \"created_utc\": \"1600000000.0\", \"score\": -3, \"author\": \"x\"}\n{\"id\": \"c1\", \"link_id\": \"t3_s1\", \"body\": \"A towel.\", \"created_utc\": 1.6e9}\n",
        )],
        "cqia" => vec![text(
            "{\"instruction\": \"为什么雨伞怕淋雨\", \"input\": \"\", \"output\": \"雨伞不怕\"}\n{\"instruction\": \"接下句\", \"input\": \"床前\"}\n",
        )],
        "table" => vec![
            text(
                "id,title,body,author,score\r\n1,冰块怕热吗,\"多行\n的\",某人,4\r\n2,,\"a \"\"b\"\"\",,\r\n",
            ),
            text("id\ttitle\tbody\n1\t冰块怕热吗\tx\n"),
            text(
                "[{\"id\": 1, \"title\": \"问\", \"body\": \"多行\\n的\", \"score\": 4}, {\"id\": \"2\", \"body\": \"b\"}]",
            ),
        ],
        "warc" => vec![archive("WARC/1.1", true), archive("WARC/1.0", false)],
        "profile" => vec![
            text(
                "<html><h1>题</h1><table><tr><td>1<a href=/t/1>x</a></table><div id=p7 data-x='{\"a\": \"某人\"}'><u>楼主</u><i>2024-03-05 12:30</i><b>冰块怕热吗</b><s>quoted</s></div><p id=p8>二</p><a href=/2>n</a>",
            ),
            archive("WARC/1.1", true),
        ],
        "riddles-com" => vec![riddles("list.html"), riddles("single-900106.html")],
        "rd" => vec![riddles("rd-article.html")],
        "published" => {
            let fixture = |name: &str| {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/published");
                std::fs::read(folder.join(name)).unwrap()
            };
            vec![
                fixture("sentence_puzzle.npy"),
                fixture("protocol2.npy"),
                fixture("sentence_puzzle.json"),
                text(
                    "{\"id\": \"SP-1\", \"question\": \"Why?\", \"answer\": NaN, \"choice_list\": [NaN, -Infinity]}\n",
                ),
            ]
        }
        "puzzles" => vec![text(
            "{\"id\": \"riddle:1\", \"question\": \"Which hat melts?\", \"answer\": \"A hat of snow.\"}\n{\"id\": 2, \"question\": \"Which key sings?\"}\n",
        )],
        other => panic!("there are no seeds of {other}"),
    }
}

fn fuzz_kind(name: &str) {
    let seeds = seeds(name);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump");
    for (at, seed) in seeds.iter().enumerate() {
        assert!(shared::import(name, seed, &path).0 > 0, "{name}: seed {at} holds no post");
    }
    let mut posts = 0;
    each_case(name, &seeds, |number, bytes| {
        let read = std::panic::catch_unwind(|| shared::import(name, bytes, &path));
        let read = read.unwrap_or_else(|_| panic!("{name}: case {number} panics"));
        // The result does not depend on which thread read what, and when.
        if number % 16 == 0 {
            assert_eq!(read, shared::import(name, bytes, &path), "{name}: case {number}");
        }
        posts += read.0;
    });
    eprintln!("{name}: {posts} posts read");
}

/// Tries each case until the time is over, or there were enough.
fn each_case(name: &str, seeds: &[Vec<u8>], mut try_case: impl FnMut(u64, &[u8])) {
    let secs: Option<u64> = std::env::var("RIDDLEMILL_FUZZ_SECS").ok().and_then(|secs| secs.parse().ok());
    let started = Instant::now();
    for number in 0.. {
        match secs {
            Some(secs) if started.elapsed() >= Duration::from_secs(secs) => {
                eprintln!("{name}: {number} cases");
                return;
            }
            None if number == CASES => return,
            _ => try_case(number, &case(seeds, number)),
        }
    }
}

/// Anybody can write raw/heads.jsonl: whatever it names, nothing outside of raw/ is read, moved or rewritten. Half of
/// the cases have right chains, so that what they name is reached.
#[test]
fn fuzz_heads() {
    const NAMES: &[LogName] = &[LogName::Segments("votes"), LogName::Files("votes/notes")];
    let folder = tempfile::tempdir().unwrap();
    let victims = ["victim.jsonl", "000001.jsonl", "000001", "salt"].map(|name| folder.path().join(name));
    let raw = folder.path().join("workspace/raw");
    let line = b"{\"item\":\"1\"}\n";
    let fill = || {
        if raw.exists() {
            std::fs::remove_dir_all(&raw).unwrap();
        }
        Log::in_file(raw.join("votes/notes/a.jsonl")).append_lines(line).unwrap();
        Segments::in_folder(raw.join("votes")).open_writer().unwrap().append_blocks(&[line]).unwrap();
    };
    victims.iter().for_each(|victim| std::fs::write(victim, "{\"a\":1}\nno JSON\n").unwrap());
    fill();
    let whole = std::fs::read(raw.join("heads.jsonl")).unwrap();
    let hostile: Vec<String> =
        ["../../victim.jsonl", "../../000001", "votes/../../../000001", "../../salt", "notes\\u0000.jsonl"]
            .map(str::to_owned)
            .into_iter()
            .chain(victims.iter().map(|victim| victim.display().to_string()))
            .map(|name| format!("{{\"file\":\"{name}\",\"bytes\":99,\"at\":\"{}\"}}", "0".repeat(32)))
            .collect();
    let seeds = [whole, chained("heads.jsonl", &hostile).into_bytes()];
    each_case("heads", &seeds, |number, bytes| {
        fill();
        let lines = String::from_utf8_lossy(bytes);
        let bare = lines.lines().filter_map(|line| Some(line.split_once(",\"chain\"")?.0.to_owned() + "}"));
        let bare: Vec<String> = bare.collect();
        match number % 2 {
            0 => std::fs::write(raw.join("heads.jsonl"), bytes).unwrap(),
            _ => std::fs::write(raw.join("heads.jsonl"), chained("heads.jsonl", &bare)).unwrap(),
        }
        let logs = Logs::new(&raw, NAMES);
        let tried = std::panic::catch_unwind(|| (logs.check_logs().is_ok(), logs.salvage_logs().is_ok()));
        assert!(tried.is_ok(), "case {number} panics: {lines}");
        for victim in &victims {
            let text = std::fs::read_to_string(victim).unwrap();
            assert_eq!(text, "{\"a\":1}\nno JSON\n", "case {number}: {lines}");
        }
        let there = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(there, victims.len() + 1, "case {number}: {lines}");
    });
}

macro_rules! kinds {
    ($($test:ident = $name:literal,)*) => {
        $(#[test] fn $test() { fuzz_kind($name); })*
        #[test]
        fn every_kind_is_fuzzed() {
            // Published files have their own table in pipeline.toml.
            let kinds: Vec<&str> = SourceKind::NAMES.iter().copied().chain(["published"]).collect();
            assert_eq!([$($name),*].to_vec(), kinds);
        }
    };
}

kinds! {
    fuzz_leymore_titles = "leymore-titles",
    fuzz_leymore_annual = "leymore-annual",
    fuzz_thread_dump = "thread-dump",
    fuzz_aiotieba = "aiotieba",
    fuzz_reddit = "reddit",
    fuzz_cqia = "cqia",
    fuzz_table = "table",
    fuzz_warc = "warc",
    fuzz_profile = "profile",
    fuzz_riddles_com = "riddles-com",
    fuzz_rd = "rd",
    fuzz_puzzles = "puzzles",
    fuzz_published = "published",
}
