//! Logs at the margins: the last line, what cannot be read, and readers beside a seal.

use std::fs;
use std::path::{Path, PathBuf};

use super::chain::{Chain, Walk};
use super::disk::{folder_entries, last_line};
use super::frames::read_pieces;
use super::heads::{HEADS, Head, Home};
use super::*;
use crate::Digest;

pub(super) fn line(n: usize) -> String {
    format!("{{\"n\":{n}}}\n")
}

pub(super) fn text(chunks: Vec<(PathBuf, Vec<u8>)>) -> String {
    chunks.into_iter().map(|(_, lines)| String::from_utf8(lines).unwrap()).collect()
}

pub(super) fn append(segments: &Segments, n: usize) -> Position {
    segments.open_writer().unwrap().append_blocks(&[line(n)]).unwrap()
}

fn is_damaged<T>(read: &Result<T, LogError>) -> bool {
    matches!(read, Err(LogError::Damaged { .. }))
}

#[test]
fn a_file_without_a_whole_line_has_no_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lines");
    for (bytes, end, last) in
        [("", 0, None), ("torn", 0, None), ("\n", 1, None), ("\n\n", 2, Some("")), ("a\n", 2, Some("a"))]
    {
        fs::write(&path, bytes).unwrap();
        let mut file = fs::File::options().read(true).write(true).open(&path).unwrap();
        let last = last.map(|last| last.as_bytes().to_vec());
        assert_eq!(last_line(&mut file).unwrap(), (end, last), "{bytes:?}");
    }
}

#[test]
fn what_is_missing_is_nothing_and_what_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let [file, gone, folder] = ["file", "gone", "folder"].map(|name| dir.path().join(name));
    fs::write(&file, "x").unwrap();
    fs::create_dir_all(folder.join("below")).unwrap();
    assert!(folder_entries(&gone).unwrap().is_empty() && folder_entries(&file).is_err());
    let names: Vec<_> = folder_entries(dir.path()).unwrap().iter().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["file", "folder"]);

    assert!(!move_aside(&gone, &dir.path().join("damaged/001/gone")).unwrap());
    assert!(move_aside(&file, &folder).is_err(), "a folder is in its place");
    assert!(move_aside(&file, &dir.path().join("damaged/001/file")).unwrap());
    assert!(!file.exists() && fs::read(dir.path().join("damaged/001/file")).unwrap() == b"x");
    assert_eq!(free_folder(dir.path(), Path::new("file")), dir.path().join("damaged/002"));
    assert_eq!(free_folder(dir.path(), Path::new("other")), dir.path().join("damaged/001"));

    // A folder in the place of a file is no file without lines.
    let raw = dir.path().join("raw");
    fs::create_dir_all(raw.join("tasks.jsonl")).unwrap();
    assert!(Log::in_file(raw.join("tasks.jsonl")).read_lines().is_err());
    assert!(Log::in_file(raw.join("others.jsonl")).read_lines().unwrap().is_empty());
    fs::create_dir_all(raw.join(HEADS)).unwrap();
    let home = Home(raw.clone());
    assert!(home.read_heads().is_err() && home.last_head("others.jsonl").is_err());
    fs::remove_dir(raw.join(HEADS)).unwrap();
    assert!(home.read_heads().unwrap().is_empty() && home.last_head("others.jsonl").unwrap().is_none());
}

#[test]
fn the_last_head_of_a_file_is_found_however_many_follow() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home(dir.path().join("raw"));
    fs::create_dir_all(&home.0).unwrap();
    let head = |name: &str, bytes| Head::new(name.to_owned(), bytes, Chain::start_chain(name));
    home.append_heads(&[head("a.jsonl", 1), head("b.jsonl", 2), head("a.jsonl", 3)]).unwrap();
    for count in [0, 20, 1000] {
        let others: Vec<Head> = (0..count).map(|n| head("b.jsonl", n)).collect();
        home.append_heads(&others).unwrap();
        assert_eq!(home.last_head("a.jsonl").unwrap(), Some(head("a.jsonl", 3)), "{count}");
        assert_eq!(home.last_head("c.jsonl").unwrap(), None);
        assert_eq!(home.read_heads().unwrap()["a.jsonl"], head("a.jsonl", 3));
    }
    assert!(fs::metadata(home.0.join(HEADS)).unwrap().len() > 1 << 16);
}

#[test]
fn a_torn_head_is_cut_even_if_it_is_longer_than_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home(dir.path().to_owned());
    home.append_heads(&[Head::of_empty_file("a.jsonl".into())]).unwrap();
    let path = dir.path().join(HEADS);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &b"x".repeat(900)].concat()).unwrap();
    home.append_heads(&[Head::of_empty_file("b.jsonl".into())]).unwrap();
    assert_eq!(home.read_heads().unwrap().len(), 2);
    assert_eq!(fs::metadata(&path).unwrap().len(), 2 * whole.len() as u64);
    // The number of a line that does not follow.
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    fs::write(&path, [lines[0], lines[0]].concat()).unwrap();
    let error = home.read_heads().unwrap_err().to_string();
    assert!(error.contains("is damaged: line 2: it does not follow"), "{error}");
    // One that only a newer program knows.
    let (mut walk, mut lines) = (Walk::start_walk(HEADS), Vec::new());
    walk.append_chained(&serde_json::to_vec(&Head::of_empty_file("a.jsonl".into())).unwrap(), &mut lines);
    walk.append_chained(b"{\"file\":3}", &mut lines);
    fs::write(&path, lines).unwrap();
    let error = home.read_heads().unwrap_err();
    assert!(matches!(&error, LogError::Newer { what, .. } if what.starts_with("line 2: ")), "{error}");
}

#[cfg(unix)]
#[test]
fn heads_that_cannot_be_opened_are_not_none() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(HEADS, dir.path().join(HEADS)).unwrap();
    let home = Home(dir.path().to_owned());
    assert!(home.read_heads().is_err() && home.last_head("a.jsonl").is_err());
}

#[test]
fn only_a_file_that_had_lines_is_missed() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let (home, log) = (Home(raw.clone()), Log::in_file(raw.join("a.jsonl")));
    fs::create_dir_all(&raw).unwrap();
    let head = |bytes, sealed: Option<&str>, gone| Head {
        bytes,
        gone,
        sealed: sealed.map(str::to_owned),
        ..Head::of_empty_file("a.jsonl".into())
    };
    for (head, is_needed) in [
        (head(0, None, false), false),
        (head(1, None, false), true),
        (head(0, Some("00"), false), true),
        (head(1, None, true), false),
    ] {
        assert_eq!(head.needs_file(), is_needed, "{head:?}");
        home.append_heads(std::slice::from_ref(&head)).unwrap();
        assert_eq!(is_damaged(&log.read_lines()), is_needed, "{head:?}");
    }
}

#[test]
fn a_torn_line_is_cut_even_if_it_is_longer_than_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::in_file(dir.path().join("raw/a.jsonl"));
    log.append_lines(line(1).as_bytes()).unwrap();
    let whole = fs::read(log.path()).unwrap();
    fs::write(log.path(), [&whole[..], &b"x".repeat(900)].concat()).unwrap();
    log.append_lines(line(2).as_bytes()).unwrap();
    assert_eq!(log.read_lines().unwrap(), [line(1), line(2)].concat().as_bytes());
    assert_eq!(fs::metadata(log.path()).unwrap().len(), 2 * whole.len() as u64);
}

/// The newline is written last, and a head counts it.
#[test]
fn a_line_that_lacks_its_newline_alone_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let (log, segments) = (Log::in_file(raw.join("a.jsonl")), Segments::in_folder(raw.join("votes")));
    log.append_lines(line(1).as_bytes()).unwrap();
    append(&segments, 1);
    for path in [log.path().to_owned(), raw.join("votes/000001.jsonl")] {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, bytes.strip_suffix(b"\n").unwrap()).unwrap();
    }
    assert_eq!(
        (log.read_lines().unwrap(), text(segments.read_lines().unwrap())),
        (line(1).into_bytes(), line(1))
    );
    log.append_lines(line(2).as_bytes()).unwrap();
    append(&segments, 2);
    let both = [line(1), line(2)].concat();
    assert_eq!(
        (log.read_lines().unwrap(), text(segments.read_lines().unwrap())),
        (both.clone().into_bytes(), both)
    );
    // One byte less, and something else has cut the file.
    for path in [log.path().to_owned(), raw.join("votes/000001.jsonl")] {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 2]).unwrap();
    }
    assert!(is_damaged(&log.read_lines()) && is_damaged(&segments.read_lines()));
    assert!(
        is_damaged(&log.append_lines(line(3).as_bytes())) && is_damaged(&segments.open_writer().map(drop))
    );
}

#[test]
fn entries_are_of_lines_that_say_something_and_faults_are_numbered() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::in_file(dir.path().join("raw/a.jsonl"));
    fs::create_dir_all(dir.path().join("raw")).unwrap();
    fs::write(log.path(), "{\"n\":1}\n  \n{\"n\":2}\n").unwrap();
    let read = log.read_entries::<std::collections::BTreeMap<String, usize>>().unwrap();
    assert_eq!(read.iter().map(|entry| entry["n"]).collect::<Vec<_>>(), [1, 2]);
    fs::write(log.path(), "{\"n\":1}\n{\"n\":\"x\"}\n").unwrap();
    let error = log.read_entries::<std::collections::BTreeMap<String, usize>>().unwrap_err();
    assert!(matches!(&error, LogError::Newer { what, .. } if what.starts_with("line 2: ")), "{error}");
    fs::write(log.path(), "{\"n\":1}\n{\"n\"\n").unwrap();
    assert!(is_damaged(&log.read_entries::<std::collections::BTreeMap<String, usize>>()));
    let [one, other] = ["a", "b"].map(|of| Digest::of_parts("x", [of.as_bytes()]));
    assert!(LineError::refuse_edited(one, one).is_ok() && LineError::refuse_edited(one, other).is_err());
}

#[test]
fn values_are_added_as_lines_and_what_cannot_be_read_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::in_file(dir.path().join("raw/a.jsonl"));
    let value = |n: usize| std::collections::BTreeMap::from([("n".to_owned(), n)]);
    log.add(&[] as &[usize]).unwrap();
    assert!(!log.path().exists(), "nothing to add, nothing touched");
    log.add([&value(1), &value(2)]).unwrap();
    assert_eq!(log.read_lines().unwrap(), [line(1), line(2)].concat().as_bytes());
    let why = |line: &str| LineError::from(serde_json::from_str::<usize>(line).unwrap_err()).to_string();
    assert!(why("{}").starts_with("a newer riddlemill wrote it ("), "{}", why("{}"));
    assert!(why("x").starts_with("expected value at"), "{}", why("x"));
}

#[cfg(unix)]
#[test]
fn a_private_log_is_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let log = Log::in_file(dir.path().join("raw/access.jsonl")).owner_only();
    log.append_lines(line(1).as_bytes()).unwrap();
    assert_eq!(fs::metadata(log.path()).unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn a_reader_is_given_what_is_new_whatever_was_sealed_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::in_folder(dir.path().join("raw/votes")).sealing_at(150);
    let (mut eager, mut all, mut readers) = (Position::default(), String::new(), Vec::new());
    for n in 0..10 {
        let own = append(&segments, n);
        all += &line(n);
        assert_eq!(text(segments.read_after(&mut eager).unwrap()), line(n));
        assert_eq!(text(segments.read_after(&mut eager).unwrap()), "");
        readers.extend([(all.len(), own), (all.len(), eager)]);
    }
    for (read, mut position) in readers {
        assert_eq!(text(segments.read_after(&mut position).unwrap()), all[read..], "after {read}");
        assert_eq!(text(segments.read_after(&mut position).unwrap()), "");
    }
    let listed = segments.list_segments().unwrap();
    let sealed = listed.iter().filter(|segment| segment.is_sealed).count();
    assert!(listed.iter().map(|segment| segment.number).eq(1..=4) && sealed == 3, "{}", listed.len());
}

#[test]
fn a_segment_is_sealed_once_it_is_longer_than_its_bound() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str, bound| {
        let segments = Segments::in_folder(dir.path().join(name).join("raw/votes")).sealing_at(bound);
        append(&segments, 1);
        segments
    };
    let open = at("open", u64::MAX).dir.join("000001.jsonl");
    let length = fs::metadata(open).unwrap().len();
    for (name, bound, is_open) in [("less", length - 1, false), ("exact", length, true)] {
        assert_eq!(at(name, bound).dir.join("000001.jsonl").exists(), is_open, "{name}");
    }
    // Its head has the hash in its name.
    let sealed = at("sealed", 1);
    let [SegmentFile { number: 1, hash: Some(hash), .. }] = &sealed.list_segments().unwrap()[..] else {
        panic!("sealed")
    };
    let head = sealed.home.last_head("votes/000001").unwrap().unwrap();
    assert_eq!((head.sealed, head.bytes), (Some(hash.to_string()), length));
}

#[test]
fn sealed_lines_are_missed_without_their_heads_too() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let segments = Segments::in_folder(raw.join("votes")).sealing_at(1);
    for n in 1..=2 {
        append(&segments, n);
    }
    assert!(segments.list_segments().unwrap().iter().all(|segment| segment.is_sealed));
    fs::remove_file(raw.join(HEADS)).unwrap();
    assert!(is_damaged(&segments.read_lines()));
}

/// A seal that was stopped leaves both files.
#[test]
fn the_open_copy_of_a_sealed_segment_goes_once_the_sealed_one_is_proved() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::in_folder(dir.path().join("raw/votes"));
    append(&segments, 1);
    let open = segments.dir.join("000001.jsonl");
    let bytes = fs::read(&open).unwrap();
    let segments = segments.sealing_at(1);
    append(&segments, 2);
    let [SegmentFile { number: 1, path: sealed, is_sealed: true, .. }] =
        &segments.list_segments().unwrap()[..]
    else {
        panic!("sealed")
    };
    let packed = fs::read(sealed).unwrap();
    for is_sound in [false, true] {
        fs::write(&open, &bytes).unwrap();
        fs::write(sealed, if is_sound { &packed[..] } else { &packed[..packed.len() / 2] }).unwrap();
        assert_eq!((segments.open_writer().is_ok(), open.exists()), (is_sound, !is_sound));
    }
    assert_eq!(text(segments.read_lines().unwrap()), [line(1), line(2)].concat());
}

#[test]
fn damage_is_told_with_its_line_counted_from_where_reading_began() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::in_folder(dir.path().join("raw/votes"));
    append(&segments, 1);
    let mut position = append(&segments, 2);
    let path = segments.dir.join("000001.jsonl");
    let (read, skip) = (fs::read(&path).unwrap(), position.bytes);
    append(&segments, 3);
    append(&segments, 4);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - 60;
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = segments.read_after(&mut position).unwrap_err().to_string();
    assert!(error.contains(&format!("is damaged: line 1 after byte {skip}: it ")), "{error}");
    let error = segments.read_lines().unwrap_err().to_string();
    assert!(error.contains("is damaged: line 3: it "), "{error}");
    // Less than the head states.
    fs::write(&path, &read).unwrap();
    let error = segments.read_lines().unwrap_err().to_string();
    let left = format!("it was cut: {} of at least {} bytes are left", read.len(), bytes.len());
    assert!(error.contains(&left), "{error}");
}

#[test]
fn open_lines_are_missed_without_their_heads_too() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::in_folder(dir.path().join("raw/votes"));
    append(&segments, 1);
    fs::remove_file(dir.path().join("raw").join(HEADS)).unwrap();
    assert!(is_damaged(&segments.read_lines()));
}

#[test]
fn frames_are_found_at_their_places() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("000001.jsonl.zst");
    let texts = ["云会恐高\n".repeat(40), "b\n".repeat(90), "c\n".to_owned()];
    let packed = texts.each_ref().map(|text| zstd::encode_all(text.as_bytes(), 1).unwrap());
    fs::write(&path, packed.concat()).unwrap();
    let found = read_frames(&path).unwrap();
    let (mut raw_start, mut start, mut file) = (0, 0, fs::File::open(&path).unwrap());
    for ((frame, text), packed) in found.iter().zip(&texts).zip(&packed) {
        let [raw_len, len] = [text.len() as u64, packed.len() as u64];
        assert_eq!(*frame, Frame { raw_start, raw_len, start, len });
        assert_eq!(read_frame(&mut file, *frame).unwrap(), text.as_bytes());
        (raw_start, start) = (raw_start + raw_len, start + len);
    }
    assert_eq!(found.len(), 3);
    // Offsets in what is salvaged are those of intact frames.
    let damaged = [&packed[0][..], &packed[1][..packed[1].len() / 2], &packed[2], b"junk"].concat();
    let places: Vec<(u64, bool)> =
        read_pieces(&damaged).iter().map(|piece| (piece.at, piece.is_whole)).collect();
    let after = |count: usize| texts[..count].iter().map(String::len).sum::<usize>() as u64;
    let last = after(1) + texts[2].len() as u64;
    assert_eq!(places, [(0, true), (after(1), false), (after(1), true), (last, false)]);
    fs::write(&path, &damaged).unwrap();
    assert!(read_frames(&path).is_err());
    fs::write(&path, b"").unwrap();
    assert!(read_frames(&path).unwrap().is_empty() && read_pieces(b"").is_empty());
}

#[test]
fn what_looks_like_a_segment_and_is_none_is_a_stray() {
    let raw = tempfile::tempdir().unwrap();
    let votes = raw.path().join("votes");
    fs::create_dir_all(&votes).unwrap();
    let hash = "0123456789abcdef".repeat(2);
    let own = [format!("000001.{hash}.jsonl.zst"), "lines.salvage".into(), "000002.tmp".into()];
    let strays = [
        "000003.abc.jsonl.zst".to_owned(),
        format!("000004.{}.jsonl.zst", "z".repeat(32)),
        format!("5.{hash}.jsonl.zst"),
        "6.tmp".into(),
        "segments.jsonl".into(),
    ];
    for name in own.iter().chain(&strays) {
        fs::write(votes.join(name), "").unwrap();
    }
    // A hash beside what is there: of an open segment, and of one that has its hash in its name.
    let replies = raw.path().join("replies");
    fs::create_dir_all(&replies).unwrap();
    for name in
        ["7.jsonl", "000007.jsonl", "000007.jsonl.sha256", "000008.jsonl.zst", "000008.jsonl.zst.sha256"]
    {
        fs::write(replies.join(name), "").unwrap();
    }
    for name in ["000009.jsonl.zst", "000009.jsonl.zst.sha256"] {
        fs::write(votes.join(name), "").unwrap();
    }
    let names = [LogName::Segments("votes"), LogName::File("tasks.jsonl"), LogName::Foreign("replies", &[])];
    let mut expected: Vec<PathBuf> = strays.iter().map(|name| votes.join(name)).collect();
    expected.push(votes.join("000009.jsonl.zst.sha256"));
    expected.extend(["7.jsonl", "000007.jsonl.sha256"].map(|name| replies.join(name)));
    expected.sort();
    assert_eq!(Logs::new(raw.path(), &names).find_strays().unwrap(), expected);
}

/// Outside of any raw/, heads are among the segments; in a folder of raw/ they have no place.
#[test]
fn heads_are_no_segment_of_a_log_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let own = Segments::in_folder(dir.path().join("own"));
    for n in 1..=2 {
        append(&own, n);
    }
    assert!(own.dir.join(HEADS).exists());
    assert_eq!(text(own.read_lines().unwrap()), [line(1), line(2)].concat());
    fs::write(own.dir.join("other.jsonl"), "").unwrap();
    assert!(is_damaged(&own.read_lines()));
    let below = Segments::in_folder(dir.path().join("raw/votes"));
    append(&below, 1);
    fs::write(below.dir.join(HEADS), "").unwrap();
    assert!(is_damaged(&below.read_lines()));
}

/// Sealed lines from before there were chains are proved by their hash alone.
#[test]
fn another_sealed_segment_in_the_place_of_one_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let segments = Segments::in_folder(dir.path().join("raw/votes"));
    fs::create_dir_all(&segments.dir).unwrap();
    let seal = |lines: &str| {
        let hash = Digest::of_parts("riddlemill segment v1", [lines.as_bytes()]);
        let path = segments.dir.join(format!("000001.{hash}.jsonl.zst"));
        fs::write(&path, zstd::encode_all(lines.as_bytes(), 1).unwrap()).unwrap();
        path
    };
    let sealed = seal(&line(1));
    append(&segments, 2);
    assert_eq!(text(segments.read_lines().unwrap()), [line(1), line(2)].concat());
    // What was there, what is begun, and where it ends.
    assert_eq!(filled_lines(&fs::read(dir.path().join("raw").join(HEADS)).unwrap()).count(), 3);
    fs::remove_file(sealed).unwrap();
    seal(&line(9));
    let error = segments.read_lines().unwrap_err().to_string();
    assert!(error.contains("what was sealed has the hash "), "{error}");
}
