//! Dumps in pieces: what import makes of each, with the census of all, is what it makes of the whole.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use riddlemill::config::{SourceKind, Take, sections};
use riddlemill::pages::Profile;
use riddlemill::stages::import::{
    Cut, Dump, PartCensus, Piece, Secrets, find_cut, ledger_records, part_census,
};
use riddlemill::stages::withdrawal::Withdrawals;
use riddlemill::text::anonymise::NameList;
use riddlemill::warc::{Header, write_record};
use serde_json::{Value, json};

use crate::harness::{Workspace, source};

const SALT: [u8; 32] = [7; 32];

fn settings() -> sections::Import {
    sections::Import { max_line_mib: 1, annual_posts: 2, common_words: Vec::new() }
}

fn dump(kind: SourceKind, path: &Path) -> Dump {
    let fields = [("id", "made:{id}"), ("content", "text"), ("author", "author")];
    let table = |_: &&(&str, &str)| kind == SourceKind::Table;
    Dump {
        source: "s".into(),
        kind,
        language: None,
        take: Take::Jokes,
        published: None,
        fields: fields.iter().filter(table).map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        optional: Vec::new(),
        at: None,
        profile: (kind == SourceKind::Profile).then(profile),
        licence: None,
        file: "dump".into(),
        path: path.to_path_buf(),
        named: "dump".into(),
        sha256: String::new(),
        bytes: 0,
        piece: Piece::default(),
    }
}

fn profile() -> Profile {
    let result = json!({ "item": "div", "id": { "from": "@id", "match": "(.)(.*)" }, "title": "s", "author": "u", "floor": "i",
        "body": "b", "thread": "h1", "jokes": "numbered" });
    Profile::from_json(&result).unwrap()
}

/// The ledger records of a dump, a line each.
fn records(dump: &Dump, names: &NameList, census: Option<PartCensus>) -> Vec<String> {
    let known = census.map(|census| census.into_threads(&settings()).unwrap());
    let secrets = Secrets { salt: &SALT, names };
    let mut lines = Vec::new();
    ledger_records(dump, &settings(), &secrets, &Withdrawals::default(), known.as_ref(), true, |records| {
        lines.extend(records.iter().map(|record| serde_json::to_string(record).unwrap()));
        Ok::<_, ()>(())
    })
    .unwrap();
    lines
}

fn read_census(bytes: &[u8]) -> PartCensus {
    PartCensus::read_parts(bytes, &SALT).unwrap()
}

/// What the whole dump gives, and what its pieces do; `None` where they turn out to be none.
fn both(kind: SourceKind, bytes: &[u8], cuts: &BTreeSet<usize>) -> (Vec<String>, Option<Vec<String>>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump");
    fs::write(&path, bytes).unwrap();
    let mut whole = dump(kind, &path);
    let mut names = NameList::new(&SALT);
    part_census(&whole, &settings(), &mut names, &SALT);
    let expected = records(&whole, &names, None);
    let starts: Vec<usize> = std::iter::once(0).chain(cuts.iter().copied()).collect();
    let ends = cuts.iter().copied().chain([bytes.len()]);
    let (mut lines, mut pieces, mut before) = (Vec::new(), Vec::new(), 0);
    let mut own = NameList::new(&SALT);
    for (start, end) in starts.into_iter().zip(ends) {
        let path = folder.path().join(format!("piece-{start}"));
        fs::write(&path, &bytes[start..end]).unwrap();
        let mut piece = dump(kind, &path);
        piece.piece = Piece { byte: start as u64, lines: before, ..Piece::default() };
        let at = lines.len();
        part_census(&piece, &settings(), &mut own, &SALT).write_lines(&mut lines).unwrap();
        let head = lines[at..].split(|byte| *byte == b'\n').next().unwrap();
        let head: Value = serde_json::from_slice(head).unwrap();
        before += head["piece"][1]["lines"].as_u64().unwrap();
        pieces.push(piece);
    }
    let Ok(merged) = read_census(&lines).merge_parts() else { return (expected, None) };
    let mut lines = Vec::new();
    merged.write_lines(&mut lines).unwrap();
    assert_eq!(own.to_file(), names.to_file());
    let found = pieces.iter().flat_map(|piece| records(piece, &names, Some(read_census(&lines)))).collect();
    // With a census the whole is the same, too.
    whole.file = "dump".into();
    assert_eq!(records(&whole, &names, Some(read_census(&lines))), expected);
    (expected, Some(found))
}

/// A column is missing where no row of the whole file has it: the first piece says so, and no piece is read without it. Where
/// one row has it, in whatever piece, all are.
#[test]
fn a_column_is_missing_of_the_file_and_not_of_a_piece() {
    let row = |n: usize, more: &str| format!("{{\"id\": \"{n}\", \"text\": \"云会恐高吗{n}\"{more}}}\n");
    for (last, failed) in [("", 1), (", \"author\": \"云中白鹤生\"", 0)] {
        let rows: Vec<String> = (0..9).map(|n| row(n, if n == 8 { last } else { "" })).collect();
        let starts: Vec<usize> = rows
            .iter()
            .scan(0, |at, row| {
                *at += row.len();
                Some(*at)
            })
            .collect();
        let cuts = BTreeSet::from([starts[2], starts[5]]);
        let (whole, pieces) = both(SourceKind::Table, rows.concat().as_bytes(), &cuts);
        let missing = whole.iter().filter(|record| record.contains("column_missing")).count();
        assert_eq!((missing, whole.len()), (failed, if failed == 1 { 1 } else { 9 }), "{whole:?}");
        assert_eq!(pieces, Some(whole));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A line of a dump, by number: posts in three threads of four people, with ranked jokes and notes on them, names of
/// others in texts, ids that come again; and what is none.
fn line(kind: SourceKind, number: u32) -> Vec<u8> {
    let (thread, person) = (number % 3, number / 3 % 4);
    let name = ["云中白鹤生", "甲乙", "雨神17号", "为什么"][person as usize];
    let text = match number / 12 % 6 {
        0 => format!("{}、云会恐高吗 4.5", number % 9 + 1),
        1 => "注：当年的新闻，云中白鹤生说的".to_owned(),
        2 => "问甲乙和雨神17号，鱼会口渴吗".to_owned(),
        3 => format!("{}. 冰箱里的灯还亮吗，云中白鹤生甲乙？", number % 5),
        4 => "前排".to_owned(),
        _ => "@为什么 你说呢".to_owned(),
    };
    let (pid, floor) = (number % 40, if number.is_multiple_of(7) { 1 } else { number % 9 + 1 });
    let row = match kind {
        SourceKind::ThreadDump => {
            json!({ "tid": thread, "pid": pid, "user_name": name, "floor": floor, "text": text,
                "user_id": (number.is_multiple_of(2)).then_some(person + 70), "is_comment": number.is_multiple_of(11) })
        }
        SourceKind::Aiotieba => {
            json!({ "tid": thread, "pid": pid, "floor": floor, "contents": [{ "text": text }],
            "user": { "user_name": name, "user_id": person + 70 }, "title": (floor == 1).then_some("题目") })
        }
        SourceKind::LeymoreTitles => {
            json!({ "title": text, "abs": null, "href": format!("/p/{pid}?fr=good"), "lz": name })
        }
        SourceKind::Reddit => {
            json!({ "id": format!("p{pid}"), "title": text, "selftext": "", "author": name })
        }
        SourceKind::Cqia => json!({ "instruction": text, "input": "", "output": "x" }),
        SourceKind::Puzzles => json!({ "id": pid, "question": text, "answer": name }),
        _ => json!({ "id": pid, "text": text, "author": name }),
    };
    match number % 29 {
        17 => Vec::new(),
        18 => b" \t ".to_vec(),
        19 => "{\"text\": \"半句".into(),
        20 => b"\x00\xff\xfe".to_vec(),
        21 => "[1, 2]".into(),
        22 => "\u{feff}{}".into(),
        23 => "{\"text\": \"\u{c9fa}".bytes().chain([0xc9, 0xfa]).collect(),
        24 => b"WARC/1.0\r".to_vec(),
        _ => row.to_string().into_bytes(),
    }
}

const LINES: [SourceKind; 7] = [
    SourceKind::ThreadDump,
    SourceKind::Aiotieba,
    SourceKind::LeymoreTitles,
    SourceKind::Reddit,
    SourceKind::Cqia,
    SourceKind::Puzzles,
    SourceKind::Table,
];

/// A page of an archive: posts of a thread, as a profile or as nobody reads them.
fn page(number: u32) -> (String, String) {
    let post = |n: u32| {
        let person = ["云中白鹤生", "甲乙", "雨神17号", "为什么"][((number + n) % 4) as usize];
        format!(
            "<div id=p{}><u>{person}</u><i>{}</i><b>{}、云会恐高吗，甲乙？</b></div>",
            number * 3 + n,
            n + 1,
            n
        )
    };
    let posts: String = (0..number % 4).map(post).collect();
    (
        format!("http://a.example/t/{}", number % 3),
        format!("<html><body><h1>t{}</h1>{posts}</body></html>", number % 3),
    )
}

/// A record of an archive; `None` of the numbers is the same as another.
fn archived(number: u32, packed: bool) -> Vec<u8> {
    let (url, body) = page(number);
    let (url, body) = match number % 13 {
        5 => ("http://a.example/robots.txt".to_owned(), "no".to_owned()),
        6 => (url, "WARC/1.0\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n\r\n".to_owned()),
        7 => ("dns:a.example".to_owned(), "x".to_owned()),
        _ => (url, body),
    };
    let head = match number % 13 {
        8 => "no answer",
        9 => "HTTP/1.1 302 Found\r\nLocation: /t/9\r\n\r\n",
        10 => "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n",
        _ => "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n",
    };
    let block = format!("{head}{body}");
    if packed {
        let mut bytes = Vec::new();
        let header = Header::new("response")
            .with_field("WARC-Target-URI", url)
            .with_field("WARC-Date", "2024-05-01T00:00:00Z");
        write_record(&mut bytes, &header, block.as_bytes()).unwrap();
        return bytes;
    }
    let length = block.len();
    format!("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n")
        .into_bytes()
}

/// The bytes of units, and where each but the first begins.
fn joined(units: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
    let mut starts = Vec::new();
    let mut bytes = Vec::new();
    for unit in units {
        starts.push(bytes.len());
        bytes.extend(unit);
    }
    (bytes, starts.split_off(1.min(starts.len())))
}

fn lines_of(kind: SourceKind, numbers: &[u32], end: &str) -> Vec<Vec<u8>> {
    numbers.iter().map(|number| [line(kind, *number), end.into()].concat()).collect()
}

fn chosen(starts: &[usize], which: &[prop::sample::Index]) -> BTreeSet<usize> {
    which.iter().filter(|_| !starts.is_empty()).map(|which| *which.get(starts)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn lines_in_pieces_are_the_whole(
        kind in prop::sample::select(LINES.to_vec()),
        numbers in prop::collection::vec(0u32..2000, 1..40),
        which in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        end in prop::sample::select(vec!["\n", "\r\n", "\n\n"]),
        (bom, torn, long) in (any::<bool>(), any::<bool>(), 0u8..12),
        members in prop::option::of(1usize..6),
    ) {
        let mut units = lines_of(kind, &numbers, end);
        if long == 0 {
            units[numbers.len() / 2] = [vec![b'x'; (1 << 20) + 7], end.into()].concat();
        }
        // What begins with a line, and not with something else.
        let first = line(kind, 1);
        units.insert(0, [if bom { "\u{feff}".as_bytes() } else { b"\n" }, &first, end.as_bytes()].concat());
        if torn {
            let last = units.last_mut().unwrap();
            last.truncate(last.len() / 2);
        }
        if let Some(members) = members {
            units = units.chunks(members).map(|lines| gzip(&lines.concat())).collect();
        }
        let (bytes, starts) = joined(&units);
        let (whole, pieces) = both(kind, &bytes, &chosen(&starts, &which));
        // A line that is torn to nothing has no end that a piece could begin behind, and no piece does.
        prop_assert_eq!(Some(whole), pieces);
    }

    #[test]
    fn archives_in_pieces_are_the_whole(
        kind in prop::sample::select(vec![SourceKind::Warc, SourceKind::Profile]),
        numbers in prop::collection::vec(0u32..2000, 1..12),
        which in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        packed: bool,
        torn in 0usize..40,
    ) {
        let mut units: Vec<Vec<u8>> = numbers.iter().map(|number| archived(*number, packed)).collect();
        units.insert(0, archived(1, packed));
        let last = units.last_mut().unwrap();
        last.truncate(last.len() - torn);
        let (bytes, starts) = joined(&units);
        let (whole, pieces) = both(kind, &bytes, &chosen(&starts, &which));
        prop_assert_eq!(Some(whole), pieces);
    }

    /// Wherever a dump is cut and whatever is damaged: pieces are refused, or they are the whole.
    #[test]
    fn pieces_that_are_none_are_refused(
        kind in prop::sample::select(vec![SourceKind::ThreadDump, SourceKind::Table, SourceKind::Warc, SourceKind::Profile]),
        numbers in prop::collection::vec(0u32..2000, 2..10),
        packed: bool,
        damage in prop::option::of((any::<prop::sample::Index>(), 1u8..255)),
        anywhere in prop::collection::vec(any::<prop::sample::Index>(), 0..2),
        which in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        end in prop::sample::select(vec!["\n", ""]),
    ) {
        let pages = matches!(kind, SourceKind::Warc | SourceKind::Profile);
        let mut units: Vec<Vec<u8>> = match (pages, packed) {
            (true, _) => numbers.iter().map(|number| archived(*number, packed)).collect(),
            (false, false) => lines_of(kind, &numbers, end),
            (false, true) => lines_of(kind, &numbers, end).iter().map(|line| gzip(line)).collect(),
        };
        if !pages && !packed {
            units.insert(0, [line(kind, 1), b"\n".to_vec()].concat());
        }
        let (mut bytes, starts) = joined(&units);
        let mut cuts = chosen(&starts, &which);
        if let Some((at, with)) = damage {
            let at = at.index(bytes.len());
            bytes[at] ^= with;
        }
        cuts.extend(anywhere.iter().map(|at| at.index(bytes.len())).filter(|at| *at > 0));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        fs::write(&path, &bytes).unwrap();
        if find_cut(&dump(kind, &path)).is_some() {
            let (whole, pieces) = both(kind, &bytes, &cuts);
            if let Some(pieces) = pieces { prop_assert_eq!(pieces, whole); }
        }
    }
}

/// A piece that does not begin as its file does: with a damaged mark of its compression, or with the file's byte order
/// mark behind members that are unpacked to nothing.
#[test]
fn pieces_that_begin_in_another_way_are_refused() {
    let lines = [1596, 618, 495].map(|number| [line(SourceKind::Table, number), b"\n".to_vec()].concat());
    let (mut bytes, starts) = joined(&lines.map(|line| gzip(&line)));
    let cuts = BTreeSet::from([starts[1]]);
    let (whole, pieces) = both(SourceKind::Table, &bytes, &cuts);
    assert_eq!(Some(whole), pieces);
    bytes[starts[1]] ^= 1;
    assert_eq!(both(SourceKind::Table, &bytes, &cuts).1, None);

    let (bytes, starts) = joined(&[gzip(b""), gzip("\u{feff}{}\n".as_bytes())]);
    assert_eq!(both(SourceKind::Table, &bytes, &BTreeSet::from([starts[0]])).1, None);
}

#[test]
fn a_dump_says_what_it_may_be_cut_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump");
    let found = |kind, bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        find_cut(&dump(kind, &path))
    };
    let numbers: Vec<u32> = (1..9).collect();
    for kind in LINES {
        let lines = lines_of(kind, &numbers, "\n").concat();
        assert_eq!(found(kind, &lines), Some(Cut::Line), "{kind:?}");
        assert_eq!(found(kind, &gzip(&lines)), Some(Cut::Member));
        assert_eq!(found(kind, &zstd::encode_all(&lines[..], 1).unwrap()), None);
        assert_eq!(found(kind, &[b"\xef\xbb\xbf\n ", &lines[..]].concat()), Some(Cut::Line));
        let array = [b" [", &line(kind, 1)[..], b"]"].concat();
        assert_eq!((found(kind, &array), found(kind, &gzip(&array))), (None, None));
        let wide: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!((found(kind, &wide), found(kind, b""), found(kind, b"\n\n\n\n\n")), (None, None, None));
    }
    assert_eq!(found(SourceKind::Table, b"id,text\n1,\"a\nb\"\n"), None);
    assert_eq!(found(SourceKind::Published, b"{\"id\": 1}\n"), None);
    assert_eq!(found(SourceKind::LeymoreAnnual, b"{\"content\": \"x\"}\n"), None);
    for kind in [SourceKind::Warc, SourceKind::Profile] {
        assert_eq!(found(kind, &archived(1, false)), Some(Cut::Record));
        assert_eq!(found(kind, &archived(1, true)), Some(Cut::Member));
        assert_eq!(found(kind, page(1).1.as_bytes()), None);
    }
}

/// A record that refers to another for its body can be read only with it.
#[test]
fn an_archive_with_revisits_is_read_as_one() {
    let mut revisit = Vec::new();
    let header = Header::new("revisit")
        .with_field("WARC-Target-URI", "http://a.example/t/1")
        .with_field("WARC-Refers-To-Target-URI", "http://a.example/t/1")
        .with_field("WARC-Refers-To-Date", "2024-05-01T00:00:00Z");
    write_record(&mut revisit, &header, b"HTTP/1.1 304 Not Modified\r\n\r\n").unwrap();
    let (bytes, starts) = joined(&[archived(1, true), archived(2, true), revisit]);
    for at in starts {
        let (whole, pieces) = both(SourceKind::Warc, &bytes, &[at].into());
        assert!(pieces.is_none() && whole.len() == 3);
    }
}

/// The command, as whoever has many machines calls it.
#[test]
fn pieces_of_a_dump_are_imported_apart() {
    let ws = Workspace::with(&source("s", "thread-dump", "raw/dump"));
    let numbers: Vec<u32> = (1..200).collect();
    let (bytes, starts) = joined(&lines_of(SourceKind::ThreadDump, &numbers, "\n"));
    ws.write("raw/dump", &bytes);
    let listed = ws.call(["apply", "import", "--list", "--recipe", "flub"]).expect(0);
    assert_eq!(serde_json::from_str::<Value>(&listed.out).unwrap()["cut"], "line");
    ws.call(["apply", "import", "--recipe", "flub", "--write-names", "names"]).expect(0);
    let import = "\"$0\" apply import --recipe flub --source s --unsettled --names names";
    let whole = ws.shell(&format!("{import} --file dump raw/dump")).expect(3).out;
    let census = "\"$0\" apply census --recipe flub --source s";
    let mut pieces = Vec::new();
    let cuts = [0, starts[40], starts[41], starts[150], bytes.len()];
    let mut result = String::new();
    for (n, ends) in cuts.windows(2).enumerate() {
        ws.write(&format!("piece-{n}"), &bytes[ends[0]..ends[1]]);
        let from = ends[0];
        let one =
            ws.shell(&format!("{census} --offset {from} --write-names names-{n} < piece-{n}")).expect(0).out;
        let head: Value = serde_json::from_str(one.lines().next().unwrap()).unwrap();
        pieces.push((from, head["piece"][1]["lines"].as_u64().unwrap()));
        result += &one;
    }
    ws.write("parts", &result);
    for name in ["云中白鹤生", "甲乙", "雨神17号"] {
        assert!(
            String::from_utf8_lossy(&bytes).contains(name)
                && !result.replace("云中白鹤生说的", "").contains(name),
            "{name}"
        );
    }
    ws.shell(&format!("{census} --merge < parts > census")).expect(0);
    let names: BTreeSet<String> = (0..4)
        .flat_map(|n| ws.read(&format!("names-{n}")).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(names, ws.read("names").lines().map(str::to_owned).collect());
    let (mut found, mut before) = (String::new(), 0);
    for (n, (from, lines)) in pieces.iter().enumerate() {
        let place = format!("--file dump --offset {from} --lines {before} --census census");
        let result = ws.shell(&format!("{import} {place} < piece-{n}"));
        assert!(matches!(result.code, 0 | 3), "{}", result.err);
        found += &result.out;
        before += lines;
    }
    assert_eq!(found, whole);

    let result = ws.shell(&format!("{import} --offset 7 < piece-1")).expect(2);
    assert!(result.err.contains("a piece needs --census FILE"), "{}", result.err);
    let result = ws.shell("\"$0\" apply census --kind leymore-annual --offset 7 < piece-1").expect(2);
    assert!(result.err.contains("cannot be read in pieces"), "{}", result.err);
    // Without the second piece, and cut in the middle of a line.
    let result =
        ws.shell(&format!("grep -v 'piece.*\"byte\":{},' parts | {census} --merge", cuts[1])).expect(1);
    assert!(result.err.contains("take the census of the whole file"), "{}", result.err);
    ws.write("half", &bytes[..starts[40] - 3]);
    let result = ws.shell(&format!(
        "({census} < half; {census} --offset {} < piece-1) | {census} --merge",
        starts[40] - 3
    ));
    assert!(result.expect(1).err.contains("take the census of the whole file"));
    let result = ws.shell(&format!("echo no census | {census} --merge")).expect(2);
    assert!(result.err.contains("line 1 is not a line of a census"), "{}", result.err);
    let result = ws.shell(&format!("{import} --census parts --offset {} < piece-1", cuts[1]));
    assert!(matches!(result.code, 0 | 3), "unmerged is as good: {}", result.err);
}
