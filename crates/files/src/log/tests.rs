//! Property tests of the logs: damage is detected or harmless, stopped writers cost nothing, old files open
//! unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::chain::Chain;
use super::heads::{Head, Home};
use super::*;

/// A raw/ folder with a log of three lines in one file, and one of five lines, possibly with sealed segments.
fn bench(seal_bytes: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let log = Log::in_file(dir.path().join("raw/releases/flub/registry.jsonl"));
    for n in 1..=3 {
        log.append_lines(format!("{{\"n\":{n},\"text\":\"云会恐高\"}}\n").as_bytes()).unwrap();
    }
    let segments = Segments::in_folder(dir.path().join("raw/votes")).sealing_at(seal_bytes);
    for n in 1..=5 {
        segments.open_writer().unwrap().append_blocks(&[format!("{{\"n\":{n}}}\n")]).unwrap();
    }
    dir
}

/// All lines of both logs, or what is wrong.
fn read(dir: &Path) -> Result<(String, String), LogError> {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let file = text(Log::in_file(dir.join("raw/releases/flub/registry.jsonl")).read_lines()?);
    let chunks = Segments::in_folder(dir.join("raw/votes")).read_lines()?;
    Ok((file, chunks.into_iter().map(|(_, lines)| text(lines)).collect()))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.extend(Some(path).filter(|path| path.file_name().unwrap() != "lock")),
        }
    }
    found.sort();
    found
}

#[test]
fn every_flipped_byte_every_cut_and_every_doubled_line_is_seen_or_harmless() {
    for seal_bytes in [1 << 20, 100] {
        let dir = bench(seal_bytes);
        let whole = read(dir.path()).unwrap();
        assert_eq!(whole.1, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n");
        let (mut seen, mut harmless) = (0, 0);
        for path in files(dir.path()) {
            let bytes = fs::read(&path).unwrap();
            let mut try_out = |what: &str, damaged: Option<&[u8]>| {
                match damaged {
                    Some(damaged) => fs::write(&path, damaged).unwrap(),
                    None => fs::remove_file(&path).unwrap(),
                }
                match read(dir.path()) {
                    Err(LogError::Damaged { .. }) => seen += 1,
                    Err(other) => panic!("{what} in {}: {other}", path.display()),
                    Ok(lines) => {
                        assert_eq!(lines, whole, "{what} in {}", path.display());
                        harmless += 1;
                    }
                }
                fs::write(&path, &bytes).unwrap();
            };
            for at in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                try_out("a flipped bit", Some(&flipped));
                try_out("a cut", Some(&bytes[..at]));
            }
            try_out("no file", None);
            let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            for at in 0..lines.len() {
                let (before, after) = lines.split_at(at);
                try_out("a doubled line", Some(&[before, &lines[at..=at], after].concat().concat()));
                try_out("a line less", Some(&[before, &after[1..]].concat().concat()));
                try_out("a blank line", Some(&[before, &[&b"\n"[..]], after].concat().concat()));
                let foreign = &b"{\"n\":9}\n"[..];
                try_out("a line more", Some(&[before, &[foreign], after].concat().concat()));
            }
            try_out("a line behind", Some(&[&bytes[..], b"{\"n\":9}\n"].concat()));
        }
        assert_eq!(read(dir.path()).unwrap(), whole);
        assert!(seen > 2 * harmless && harmless > 0, "{seen} seen, {harmless} harmless");
    }
}

#[test]
fn a_file_that_nobody_wrote_is_seen() {
    let dir = bench(1 << 20);
    let votes = dir.path().join("raw/votes");
    let whole = read(dir.path()).unwrap();
    for (name, bytes) in [
        ("1.jsonl", &b"{\"n\":9}\n"[..]),
        ("000002.jsonl", b"{\"n\":9}\n"),
        ("000002.jsonl", b""),
        ("000000.jsonl", b"{\"n\":9}\n"),
    ] {
        fs::write(votes.join(name), bytes).unwrap();
        assert!(matches!(read(dir.path()), Err(LogError::Damaged { .. })), "{name}");
        fs::remove_file(votes.join(name)).unwrap();
    }
    // One of another workspace, with a valid chain.
    let other = bench(100);
    let sealed = files(&other.path().join("raw/votes")).remove(0);
    let here = votes.join(sealed.file_name().unwrap());
    fs::copy(&sealed, &here).unwrap();
    assert!(matches!(read(dir.path()), Err(LogError::Damaged { .. })));
    fs::remove_file(here).unwrap();
    fs::write(votes.join("notes.txt"), "of a person").unwrap();
    assert_eq!(read(dir.path()).unwrap(), whole);
    fs::remove_dir_all(votes).unwrap();
    assert!(matches!(read(dir.path()), Err(LogError::Damaged { .. })), "all of it");
}

#[test]
fn a_writer_that_is_stopped_at_any_byte_costs_no_line_that_was_confirmed() {
    let dir = bench(1 << 20);
    let votes = dir.path().join("raw/votes");
    let registry = dir.path().join("raw/releases/flub/registry.jsonl");
    let heads = dir.path().join("raw/heads.jsonl");
    let to_votes = |line: &str| {
        Segments::in_folder(&votes).open_writer().unwrap().append_blocks(&[line]).unwrap();
    };
    let to_registry = |line: &str| Log::in_file(&registry).append_lines(line.as_bytes()).unwrap();
    let of_votes = || read(dir.path()).unwrap().1;
    let of_registry = || read(dir.path()).unwrap().0;
    type Case<'a> = (PathBuf, &'a dyn Fn(&str), &'a dyn Fn() -> String);
    let cases: [Case<'_>; 2] =
        [(votes.join("000001.jsonl"), &to_votes, &of_votes), (registry.clone(), &to_registry, &of_registry)];
    for (path, append, lines) in cases {
        let old = lines();
        let [before, heads_before] = [&path, &heads].map(|path| fs::read(path).unwrap());
        append("{\"n\":6}\n");
        let [after, heads_after] = [&path, &heads].map(|path| fs::read(path).unwrap());
        let new = lines();
        assert_eq!(new, format!("{old}{{\"n\":6}}\n"));
        // First the line, then its head.
        let lines_torn = (before.len()..after.len()).map(|cut| (cut, heads_before.len()));
        let heads_torn = (heads_before.len()..=heads_after.len()).map(|cut| (after.len(), cut));
        for (cut, heads_cut) in lines_torn.chain(heads_torn) {
            fs::write(&path, &after[..cut]).unwrap();
            fs::write(&heads, &heads_after[..heads_cut]).unwrap();
            let found = lines();
            assert!(found == new || (cut < after.len() && found == old), "{cut} {heads_cut}: {found}");
            append("{\"n\":7}\n");
            assert_eq!(lines(), format!("{found}{{\"n\":7}}\n"), "{cut} {heads_cut}");
        }
    }
}

#[test]
fn files_from_before_there_was_a_chain_open_unchanged_and_are_covered_from_the_first_line_on() {
    let dir = tempfile::tempdir().unwrap();
    let (votes, tasks) = (dir.path().join("raw/votes"), dir.path().join("raw/votes/assigned/r.s.jsonl"));
    fs::create_dir_all(tasks.parent().unwrap()).unwrap();
    let old = "{\"n\":1}\n{\"n\":2}\n";
    let hash = crate::Digest::of_parts("riddlemill segment v1", [old.as_bytes()]);
    let sealed = votes.join(format!("000001.{hash}.jsonl.zst"));
    fs::write(&sealed, zstd::encode_all(old.as_bytes(), 1).unwrap()).unwrap();
    fs::write(votes.join("000002.jsonl"), "{\"n\":3}\n{\"torn").unwrap();
    fs::write(&tasks, "{\"n\":1}\n{\"n\":2}").unwrap();
    let (log, segments) = (Log::in_file(&tasks), Segments::in_folder(&votes));
    let of_votes =
        || segments.read_lines().unwrap().into_iter().flat_map(|(_, lines)| lines).collect::<Vec<u8>>();
    assert_eq!(of_votes(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    assert_eq!(log.read_lines().unwrap(), old.as_bytes(), "a line that lost its newline alone");
    assert!(!dir.path().join("raw/heads.jsonl").exists(), "looking writes nothing");

    segments.open_writer().unwrap().append_blocks(&["{\"n\":4}\n"]).unwrap();
    log.append_lines(b"{\"n\":3}\n").unwrap();
    assert_eq!(of_votes(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n");
    assert_eq!(log.read_lines().unwrap(), b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    for path in [&tasks, &votes.join("000002.jsonl")] {
        let bytes = fs::read(path).unwrap();
        let mut flipped = bytes.clone();
        flipped[5] ^= 1;
        fs::write(path, flipped).unwrap();
        let read = if *path == tasks { log.read_lines().map(drop) } else { segments.read_lines().map(drop) };
        assert!(matches!(read, Err(LogError::Damaged { .. })), "{}", path.display());
        fs::write(path, bytes).unwrap();
    }
    let other = votes.join(format!("000001.{}.jsonl.zst", hash.to_string().replace('a', "b")));
    fs::rename(&sealed, &other).unwrap();
    assert!(segments.read_lines().is_err(), "sealed under another hash");
    fs::rename(&other, &sealed).unwrap();
    assert!(segments.read_lines().is_ok());
}

#[test]
fn a_log_without_its_heads_is_seen_and_salvaged() {
    let dir = bench(1 << 20);
    let whole = read(dir.path()).unwrap();
    let raw = dir.path().join("raw");
    assert!(check_logs(&raw).unwrap().is_empty() && salvage_logs(&raw).unwrap().is_empty());
    for damage in [None, Some(40)] {
        let heads = fs::read(raw.join("heads.jsonl")).unwrap();
        match damage {
            None => fs::remove_file(raw.join("heads.jsonl")).unwrap(),
            Some(at) => {
                let mut flipped = heads.clone();
                flipped[at] ^= 1;
                fs::write(raw.join("heads.jsonl"), flipped).unwrap();
            }
        }
        assert!(matches!(read(dir.path()), Err(LogError::Damaged { .. })));
        assert!(!check_logs(&raw).unwrap().is_empty());
        salvage_logs(&raw).unwrap();
        assert_eq!(check_logs(&raw).unwrap(), []);
        assert_eq!(read(dir.path()).unwrap(), whole, "{damage:?}");
    }
}

#[test]
fn many_who_append_at_once_lose_no_line() {
    for _ in 0..10 {
        let raw = tempfile::tempdir().unwrap();
        let path = raw.path().join("skips.jsonl");
        let start = std::sync::Barrier::new(24);
        std::thread::scope(|scope| {
            for who in 0..24 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    for line in 0..3 {
                        Log::in_file(path)
                            .append_lines(format!("{{\"who\":{who},\"line\":{line}}}\n").as_bytes())
                            .unwrap();
                    }
                });
            }
        });
        let lines = Log::in_file(&path).read_lines().unwrap();
        let text = String::from_utf8(lines).unwrap();
        assert_eq!(text.lines().count(), 72);
        for who in 0..24 {
            let own: Vec<_> = text.lines().filter(|line| line.contains(&format!("\"who\":{who},"))).collect();
            assert!(own.len() == 3 && own.is_sorted(), "{own:?}");
        }
    }
}

/// Killed after the damaged files were moved away and the heads updated: no file is missing any more.
#[test]
fn a_salvage_that_was_stopped_is_seen_and_finished() {
    let dir = bench(u64::MAX);
    let raw = dir.path().join("raw");
    let whole = read(dir.path()).unwrap();
    let home = Home(raw.clone());
    let removed = |file: &str| Head { gone: true, ..Head::new(file.into(), 0, Chain::start_chain(file)) };
    for (log, salvage_file, lines, file) in [
        ("votes/000001.jsonl", "votes/lines.salvage", &whole.1, "votes/000001"),
        (
            "releases/flub/registry.jsonl",
            "releases/flub/registry.salvage",
            &whole.0,
            "releases/flub/registry.jsonl",
        ),
    ] {
        fs::write(raw.join(salvage_file), lines).unwrap();
        fs::remove_file(raw.join(log)).unwrap();
        home.append_synced(&[removed(file)]).unwrap();
        assert!(read(dir.path()).unwrap_err().to_string().contains("was stopped"), "{log}");
        let salvaged = salvage_logs(&raw).unwrap();
        assert_eq!((salvaged.len(), salvaged[0].kept), (1, lines.lines().count()));
        assert_eq!(check_logs(&raw).unwrap(), []);
        assert_eq!(read(dir.path()).unwrap(), whole);
    }
}

/// A sealed segment may come from anywhere: its unpacked size is bounded before memory is allocated.
#[test]
fn a_segment_of_kilobytes_gives_no_gigabytes() {
    let dir = tempfile::tempdir().unwrap();
    let sealed = dir.path().join(format!("raw/votes/000001.{}.jsonl.zst", "0".repeat(32)));
    fs::create_dir_all(sealed.parent().unwrap()).unwrap();
    let zeros = std::io::Read::take(std::io::repeat(b'\n'), 300 << 20);
    zstd::stream::copy_encode(zeros, fs::File::create(&sealed).unwrap(), 1).unwrap();
    let error = Segments::in_folder(sealed.parent().unwrap()).read_lines().unwrap_err().to_string();
    assert!(error.contains("more than 256 MiB"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// What is salvaged is intact, was written, and lacks no more than what was damaged.
    #[test]
    fn what_is_salvaged_is_what_was_written(file in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), kind in 0..4) {
        let dir = bench(100);
        let raw = dir.path().join("raw");
        let whole = read(dir.path()).unwrap();
        let files = files(&raw);
        let path = &files[file.index(files.len())];
        let bytes = fs::read(path).unwrap();
        let at = at.index(bytes.len());
        let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        match kind {
            0 => fs::remove_file(path).unwrap(),
            1 => fs::write(path, &bytes[..at]).unwrap(),
            2 => fs::write(path, [&lines[..at % lines.len()], &lines[..]].concat().concat()).unwrap(),
            _ => {
                let mut flipped = bytes.clone();
                flipped[at] ^= 0x55;
                fs::write(path, flipped).unwrap();
            }
        }
        let found = check_logs(&raw).unwrap();
        let salvaged = salvage_logs(&raw).unwrap();
        prop_assert!(found.is_empty() == salvaged.is_empty(), "{:?}", found);
        prop_assert_eq!(check_logs(&raw).unwrap(), []);
        let now = read(dir.path()).unwrap();
        // If the name of the first line's chain member was damaged, the line looks like one from before there
        // were chains.
        let strange = now.0.lines().filter(|line| whole.0.lines().all(|other| other != *line)).count();
        prop_assert!(strange == 0 || (strange == 1 && kind == 3 && path.ends_with("registry.jsonl")), "{}", now.0);
        prop_assert!(now.1.lines().all(|line| kind == 3 || whole.1.lines().any(|other| other == line)), "{}", now.1);
        if !path.ends_with("registry.jsonl") {
            prop_assert_eq!(&now.0, &whole.0);
        }
        if !path.starts_with(raw.join("votes")) {
            prop_assert_eq!(&now.1, &whole.1);
        }
        // The damaged file still exists, and the logs can be appended to.
        let still_there = salvaged.iter().any(|log| log.moved_to.exists()) || kind == 0 || salvaged.is_empty();
        prop_assert!(still_there);
        Log::in_file(raw.join("releases/flub/registry.jsonl")).append_lines(b"{\"n\":8}\n").unwrap();
        Segments::in_folder(raw.join("votes")).open_writer().unwrap().append_blocks(&["{\"n\":8}\n"]).unwrap();
        prop_assert_eq!(check_logs(&raw).unwrap(), []);
    }
}
