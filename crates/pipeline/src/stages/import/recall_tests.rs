//! Every kind of dump read back.

use super::super::files::Piece;
use super::*;
use crate::config::Take;

fn dump(folder: &std::path::Path, kind: SourceKind, bytes: &[u8]) -> Dump {
    let path = folder.join("dump");
    std::fs::write(&path, bytes).unwrap();
    let fields = [("content", "body")].map(|(k, v)| (k.to_string(), v.to_string())).into();
    let (source, file) = ("s".to_string(), "dump".to_string());
    let (take, licence, sha256) = (Take::Jokes, None, String::new());
    let (profile, bytes) = (None, bytes.len() as u64);
    let piece = Piece::default();
    let (optional, at) = (Vec::new(), None);
    Dump {
        source,
        kind,
        language: None,
        take,
        published: None,
        fields,
        optional,
        at,
        profile,
        licence,
        file,
        named: "dump".into(),
        path,
        sha256,
        bytes,
        piece,
    }
}

/// All records of a dump, and the same read back block by block, the last one first.
fn twice(kind: SourceKind, bytes: &[u8]) -> (Vec<DumpRecord>, Vec<DumpRecord>) {
    let folder = tempfile::tempdir().unwrap();
    let dump = dump(folder.path(), kind, bytes);
    let (mut all, mut places) = (Vec::new(), Vec::new());
    read_blocks(
        &dump,
        1 << 20,
        &RecallFilter::default(),
        |records| records,
        |block, records| {
            all.extend(records);
            places.push(block);
        },
    );
    // Several blocks at once are what they are one by one.
    let some: Vec<Block> = places.iter().step_by(2).copied().collect();
    let together = read_back(&dump, 1 << 20, &some, &RecallFilter::default()).unwrap();
    for (block, records) in some.iter().zip(together) {
        assert_eq!(records, read_back(&dump, 1 << 20, &[*block], &RecallFilter::default()).unwrap().concat());
    }
    let mut again = Vec::new();
    for block in places.iter().rev() {
        let read = read_back(&dump, 1 << 20, &[*block], &RecallFilter::default()).unwrap().concat();
        again.splice(0..0, read);
    }
    (all, again)
}

fn texts(records: &[DumpRecord]) -> Vec<&str> {
    records.iter().map(|record| record.text.as_str()).collect()
}

#[test]
fn records_are_read_back_from_every_kind_of_file() {
    let line = |n: usize| {
        format!("{{\"tid\": 7, \"pid\": {n}, \"user_name\": \"云中鹤\", \"text\": \"第{n}朵云会恐高吗\"}}")
    };
    let lines: Vec<String> = (1..=200).map(line).collect();
    let plain = format!("\u{feff}\n{}\r\n", lines.join("\r\n\n"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    io::Write::write_all(&mut gzip, plain.as_bytes()).unwrap();
    let array = format!("[{}]", lines.join(",\n"));
    let bytes = [plain.into_bytes(), gzip.finish().unwrap(), array.into_bytes()];
    for bytes in bytes {
        let (all, again) = twice(SourceKind::ThreadDump, &bytes);
        assert_eq!(all.len(), 200);
        assert_eq!(all, again);
        assert_eq!(
            (all[199].text.as_str(), all[199].ids.as_slice()),
            ("第200朵云会恐高吗", &["tieba:7:200".to_string()][..])
        );
    }
    let rows: Vec<String> = (1..=200).map(|n| format!("{n},\"云\n会恐高吗{n}\"")).collect();
    let (all, again) = twice(SourceKind::Table, format!("id,body\n{}\n", rows.join("\n")).as_bytes());
    assert_eq!((all.len(), texts(&all)[1]), (200, "云\n会恐高吗2"));
    assert_eq!(all, again);
}

#[test]
fn what_cannot_be_parsed_says_its_text_and_not_its_author() {
    let broken = r#"{"pid": 1, "user_name": "云中鹤", "user_id": 99887766, "ip": "重庆", "text": "云会\"恐高\"吗", "floor": "#;
    let (all, again) = twice(SourceKind::ThreadDump, broken.as_bytes());
    assert_eq!(texts(&all), ["云会\"恐高\"吗"]);
    assert_eq!(all, again);
    let gbk = encoding_rs::GB18030.encode(r#"{"title": "云会恐高吗", "lz": "云中鹤"}"#).0.into_owned();
    assert_eq!(texts(&twice(SourceKind::LeymoreTitles, &gbk).0), ["云会恐高吗"]);
}

#[test]
fn an_author_is_marked_in_their_own_text() {
    let line = r#"{"tid": 7, "pid": 8, "user_name": "云中鹤", "text": "我是云中鹤，电话13800138000"}"#;
    let (all, _) = twice(SourceKind::ThreadDump, line.as_bytes());
    assert_eq!(texts(&all), ["我是[人名]，电话[电话]"]);
}
