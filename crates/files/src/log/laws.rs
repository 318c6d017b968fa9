//! Laws of the logs: a writer that is stopped at any byte costs nothing that was acknowledged, and no name in
//! somebody's heads leads out of raw/ or to a file that is no log.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::chain::Walk;
use super::heads::HEADS;

use super::*;

/// One of the two kinds of log, written and read alike.
enum Either {
    File(Log),
    Folder(Segments),
}

impl Either {
    fn at(raw: &Path, is_folder: bool, seal_bytes: u64) -> Either {
        match is_folder {
            true => Either::Folder(Segments::in_folder(raw.join("votes")).sealing_at(seal_bytes)),
            false => Either::File(Log::in_file(raw.join("releases/flub/registry.jsonl"))),
        }
    }

    fn append(&self, lines: &[u8]) -> Result<(), LogError> {
        match self {
            Either::File(log) => log.append_lines(lines),
            Either::Folder(segments) => segments.open_writer()?.append_blocks(&[lines]).map(drop),
        }
    }

    fn read(&self) -> Result<Vec<u8>, LogError> {
        match self {
            Either::File(log) => log.read_lines(),
            Either::Folder(segments) => {
                Ok(segments.read_lines()?.into_iter().flat_map(|(_, lines)| lines).collect())
            }
        }
    }

    /// The file that the next line goes to.
    fn open_file(&self) -> Option<PathBuf> {
        match self {
            Either::File(log) => Some(log.path().to_owned()),
            Either::Folder(segments) => match segments.list_segments().unwrap().pop() {
                Some(SegmentFile { path, is_sealed: false, .. }) => Some(path),
                _ => None,
            },
        }
    }
}

fn line(text: &str, n: usize) -> Vec<u8> {
    (serde_json::json!({ "n": n, "text": text }).to_string() + "\n").into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// What is read back after a kill at any byte of the last write is a prefix of what was handed in, and holds
    /// all that was acknowledged; the log then goes on.
    #[test]
    fn a_kill_at_any_byte_costs_nothing_that_was_acknowledged(
        texts in prop::collection::vec("[a-z弱智\"{}\\\\]{0,20}", 1..6),
        last in prop::collection::vec("[a-z弱智\"{}\\\\]{0,20}", 1..3),
        is_folder in any::<bool>(),
        seal_bytes in prop_oneof![Just(150u64), Just(1u64 << 20)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let raw = dir.path().join("raw");
        let log = Either::at(&raw, is_folder, seal_bytes);
        let mut acknowledged = Vec::new();
        for (n, text) in texts.iter().enumerate() {
            log.append(&line(text, n)).unwrap();
            acknowledged.extend(line(text, n));
        }
        prop_assert_eq!(&log.read().unwrap(), &acknowledged);
        // Without a seal in between, the last write is the tail of one file.
        let log = Either::at(&raw, is_folder, u64::MAX);
        let before = log.open_file().map_or(0, |path| fs::metadata(path).unwrap().len());
        let heads = fs::read(raw.join(HEADS)).unwrap();
        let mut handed_in = acknowledged.clone();
        let block: Vec<u8> = last.iter().enumerate().flat_map(|(n, text)| line(text, 100 + n)).collect();
        handed_in.extend(&block);
        log.append(&block).unwrap();
        let (path, heads_after) = (log.open_file().unwrap(), fs::read(raw.join(HEADS)).unwrap());
        let whole = fs::read(&path).unwrap();
        for cut in (before as usize)..=whole.len() {
            // The head comes after its lines: with them it may be there, or in part, or not.
            let written = heads_after.len() - heads.len();
            let kept = match cut == whole.len() {
                true => vec![0, written / 2, written],
                false => vec![0],
            };
            for kept in kept {
                // A first head is on disk before the first line.
                let of_heads = if before == 0 { heads_after.len() } else { heads.len() + kept };
                if before == 0 && cut < whole.len() {
                    // The head of the complete append would promise too much; the first one states nothing.
                    let first = heads_after.split_inclusive(|&b| b == b'\n').rev().skip(1);
                    let first: usize = first.map(<[u8]>::len).sum();
                    fs::write(raw.join(HEADS), &heads_after[..first]).unwrap();
                } else {
                    fs::write(raw.join(HEADS), &heads_after[..of_heads]).unwrap();
                }
                fs::write(&path, &whole[..cut]).unwrap();
                let found = log.read().unwrap();
                prop_assert!(handed_in.starts_with(&found), "cut at {}", cut);
                prop_assert!(found.starts_with(&acknowledged), "cut at {}", cut);
                prop_assert!(found.is_empty() || found.ends_with(b"\n"));
                prop_assert!(cut < whole.len() || found == handed_in);
                // Zero bytes, as some file systems leave after a power cut, are cut off like a torn line.
                fs::write(&path, [&whole[..cut], &[0; 7]].concat()).unwrap();
                let with_zeros = log.read();
                prop_assert!(with_zeros.is_ok_and(|read| found.starts_with(&read) && read.starts_with(&acknowledged)));
                fs::write(&path, &whole[..cut]).unwrap();
                log.append(&line("next", 7)).unwrap();
                prop_assert_eq!(log.read().unwrap(), [&found[..], &line("next", 7)[..]].concat());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Heads with any name, chained as riddlemill chains them.
    #[test]
    fn no_name_in_heads_leads_out_of_raw_or_to_what_is_no_log(
        parts in prop::collection::vec(prop_oneof![
            Just("..".to_owned()), Just(".".to_owned()), Just(String::new()), Just("votes".to_owned()),
            Just("salt".to_owned()), Just("dumps".to_owned()), Just("notes.jsonl".to_owned()),
            Just("000001".to_owned()), Just("CON".to_owned()), Just("C:".to_owned()), "[a-z\\\\\u{0}云]{1,6}",
        ], 1..5),
        absolute in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let raw = dir.path().join("ws/raw");
        let start = if absolute { dir.path().display().to_string() + "/" } else { String::new() };
        let name = start + &parts.join("/");
        // What a salvage could reach, outside and inside.
        let mut victims = vec![dir.path().join("notes.jsonl"), dir.path().join("ws/notes.jsonl")];
        victims.extend(["salt", "dumps/notes.jsonl", "notes.jsonl", "dumps/000001.jsonl"].map(|name| raw.join(name)));
        for victim in &victims {
            fs::create_dir_all(victim.parent().unwrap()).unwrap();
            fs::write(victim, "{\"a\":1}\nno JSON\n").unwrap();
        }
        let head = serde_json::json!({ "file": name, "bytes": 100, "at": "0".repeat(32) }).to_string();
        let mut heads = Vec::new();
        Walk::start_walk(HEADS).append_chained(head.as_bytes(), &mut heads);
        fs::write(raw.join(HEADS), heads).unwrap();
        // With an error or without.
        let _ = check_logs(&raw);
        let _ = salvage_logs(&raw);
        for victim in &victims {
            prop_assert_eq!(fs::read(victim).unwrap(), b"{\"a\":1}\nno JSON\n", "{:?} {}", name, victim.display());
        }
        let outside = fs::read_dir(dir.path()).unwrap().count();
        prop_assert_eq!(outside, 2, "{:?}", name);
    }
}

/// The two logs of the tests, and what a newer program may have added.
#[test]
fn a_log_that_nobody_registered_is_told_and_left() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let log = Log::in_file(raw.join("newer.jsonl"));
    log.append_lines(b"{\"n\":1}\n{\"n\":2}\n").unwrap();
    assert_eq!(check_logs(&raw).unwrap(), [], "whole logs are sound, whoever wrote them");
    let mut bytes = fs::read(log.path()).unwrap();
    bytes[5] ^= 1;
    fs::write(log.path(), &bytes).unwrap();
    let found = check_logs(&raw).unwrap();
    assert!(found[0].0 == "newer.jsonl" && found[0].1.contains("a newer one may"), "{found:?}");
    assert_eq!(salvage_logs(&raw).unwrap(), []);
    assert_eq!(fs::read(log.path()).unwrap(), bytes);
}

/// Heads that were lost are made anew for every registered log, also for those beside foreign segments.
#[test]
fn heads_that_were_lost_are_made_anew_for_every_registered_log() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let replies = Log::in_file(raw.join("replies/segments.jsonl"));
    replies.append_lines(b"{\"segment\":1}\n").unwrap();
    let votes = Segments::in_folder(raw.join("votes")).sealing_at(10);
    for n in 0..3 {
        votes.open_writer().unwrap().append_blocks(&[line("云会恐高", n)]).unwrap();
    }
    let mut heads = fs::read(raw.join(HEADS)).unwrap();
    heads[30] ^= 1;
    fs::write(raw.join(HEADS), heads).unwrap();
    assert!(replies.read_lines().is_err());
    salvage_logs(&raw).unwrap();
    assert_eq!(check_logs(&raw).unwrap(), []);
    assert_eq!(replies.read_lines().unwrap(), b"{\"segment\":1}\n");
    let expected: Vec<u8> = (0..3).flat_map(|n| line("云会恐高", n)).collect();
    let found: Vec<u8> = votes.read_lines().unwrap().into_iter().flat_map(|(_, lines)| lines).collect();
    assert_eq!(found, expected);
    replies.append_lines(b"{\"segment\":2}\n").unwrap();
}

/// A frame that is damaged costs its own lines, and not those after it.
#[test]
fn frames_after_a_damaged_one_are_salvaged() {
    let dir = tempfile::tempdir().unwrap();
    let raw = dir.path().join("raw");
    let votes = Segments::in_folder(raw.join("votes"));
    votes.open_writer().unwrap().append_blocks(&[line("open", 0)]).unwrap();
    // As a seal writes it, with smaller frames.
    let lines: Vec<Vec<u8>> = (1..=600).map(|n| line("为什么云会恐高", n)).collect();
    let all = lines.concat();
    let frames: Vec<Vec<u8>> = all.chunks(9_000).map(|part| zstd::encode_all(part, 3).unwrap()).collect();
    assert!(frames.len() > 2);
    let hash = crate::Digest::of_parts("riddlemill segment v1", [&all[..]]);
    let mut packed = frames[0].clone();
    packed.extend(&frames[1][..frames[1].len() / 2]);
    packed.extend(frames[2..].concat());
    fs::write(raw.join(format!("votes/000002.{hash}.jsonl.zst")), packed).unwrap();
    let salvaged = salvage_logs(&raw).unwrap();
    assert_eq!(salvaged.len(), 1);
    let found: Vec<u8> = votes.read_lines().unwrap().into_iter().flat_map(|(_, lines)| lines).collect();
    assert!(found.ends_with(&lines[599]) && found.starts_with(&line("open", 0)));
    let strange: Vec<&[u8]> =
        super::filled_lines(&found).filter(|line| !all.windows(line.len()).any(|w| w == *line)).collect();
    assert_eq!(strange, [line("open", 0).trim_ascii_end()]);
    assert!(salvaged[0].kept < 601 && salvaged[0].kept > 300, "{salvaged:?}");
}
