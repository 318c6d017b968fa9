//! Laws of the store: a kill at any byte costs no reply that was acknowledged, what a newer program wrote is named
//! and kept, and nothing is written through a link.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::request::{Input, Request};

fn request(text: &str) -> Request {
    let input = Input::Embedding { text: text.into(), dimensions: None };
    Request { identity: "id".into(), model: "m".into(), input, sample: 0 }
}

fn reply(text: &str) -> SegmentLine {
    SegmentLine::Reply(StoredReply {
        key: request(text).key(),
        id: None,
        template: "t".into(),
        request: request(text),
        raw: format!("raw of {text} 云会恐高"),
        usage: None,
        cut: false,
        charged_picousd: Usd::ZERO,
        attempts: 1,
        at_ms: 5,
        elapsed_ms: 6,
    })
}

fn open(root: &Path) -> Store {
    Store::open(&root.join("raw/replies"), &root.join("index/replies.sqlite")).unwrap()
}

fn replies(root: &Path) -> PathBuf {
    root.join("raw/replies")
}

fn is_there(store: &Store, text: &str) -> bool {
    store.get(&request(text).key()).unwrap().is_some()
}

/// A segment as a killed writer leaves it: in the list, and open.
fn left_open(root: &Path, bytes: &[u8]) {
    fs::create_dir_all(replies(root)).unwrap();
    registry::record_begun(&replies(root), 1).unwrap();
    fs::write(replies(root).join("000001.jsonl"), bytes).unwrap();
}

#[tokio::test]
async fn a_kill_at_any_byte_costs_no_reply_that_was_acknowledged() {
    let lines: Vec<Vec<u8>> = ["a", "b", "c"].iter().map(|text| reply(text).to_json_line()).collect();
    let (whole, acknowledged) = (lines.concat(), lines[0].len() + lines[1].len());
    for cut in (acknowledged..=whole.len()).rev() {
        // Blocks that were allocated and not written read as zero after a power cut.
        for tail in [&b""[..], &[0; 5]] {
            let root = tempfile::tempdir().unwrap();
            left_open(root.path(), &[&whole[..cut], tail].concat());
            let store = open(root.path());
            assert_eq!(store.damage(), [], "{cut}");
            assert!(is_there(&store, "a") && is_there(&store, "b"), "{cut}");
            assert_eq!(is_there(&store, "c"), cut == whole.len(), "{cut}");
            assert_eq!(store.verify_segments().unwrap().findings, [], "{cut}");
            store.settle(reply("d")).unwrap().synced().await.unwrap();
            store.close();
            let store = open(root.path());
            assert!(is_there(&store, "a") && is_there(&store, "d"), "{cut}");
            if cut % 16 != 0 {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_line_of_a_newer_program_is_named_and_survives_a_salvage() {
    let root = tempfile::tempdir().unwrap();
    let newer = b"{\"judgement\":{\"key\":\"0\"}}\n";
    left_open(
        root.path(),
        &[&reply("a").to_json_line()[..], &newer[..], &reply("b").to_json_line()[..]].concat(),
    );
    let named = |store: &Store| {
        let findings = store.verify_segments().unwrap().findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].what.contains("newer riddlemill"), "{findings:?}");
    };
    let store = open(root.path());
    named(&store);
    assert!(is_there(&store, "a") && is_there(&store, "b"));
    store.close();
    // Something else damages the file: bytes behind its last frame.
    let path = replies(root.path()).join("000001.jsonl.zst");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([0; 9]);
    fs::write(&path, bytes).unwrap();
    let store = open(root.path());
    assert_eq!(store.damage().len(), 1);
    assert_eq!(store.salvage_segments().unwrap()[0].kept, 2);
    drop(store);
    let store = open(root.path());
    named(&store);
    assert!(is_there(&store, "a") && is_there(&store, "b"));
    let kept = segment::read_lines(&replies(root.path()), 2, true).unwrap();
    assert!(kept.windows(newer.len()).any(|line| line == newer));
}

#[tokio::test]
async fn a_hash_that_was_changed_is_told_from_a_changed_segment() {
    let root = tempfile::tempdir().unwrap();
    left_open(root.path(), &reply("a").to_json_line());
    drop(open(root.path()));
    let path = replies(root.path()).join("000001.jsonl.zst.sha256");
    let whole = fs::read_to_string(&path).unwrap();
    let first = if whole.starts_with('0') { "1" } else { "0" };
    let flipped = format!("{first}{}", &whole[1..]);
    for changed in [flipped, whole.replace('\n', "\r\n"), whole.repeat(2), String::new()] {
        fs::write(&path, &changed).unwrap();
        let store = open(root.path());
        assert_eq!(store.damage(), [], "the log of segments has its hash too");
        let findings = store.verify_segments().unwrap().findings;
        assert!(findings.len() == 1 && findings[0].what.contains("sha256sum"), "{changed:?} {findings:?}");
    }
    fs::write(&path, whole).unwrap();
    assert_eq!(open(root.path()).verify_segments().unwrap().findings, []);
}

/// Somebody else's workspace may hold a link in the place of a hash.
#[cfg(unix)]
#[tokio::test]
async fn a_seal_writes_through_no_link() {
    let root = tempfile::tempdir().unwrap();
    let victim = root.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let workspace = root.path().join("ws");
    left_open(&workspace, &reply("a").to_json_line());
    std::os::unix::fs::symlink(&victim, replies(&workspace).join("000001.jsonl.zst.sha256")).unwrap();
    let opened = Store::open(&replies(&workspace), &workspace.join("index/replies.sqlite"));
    // The error of one segment is not that of the store.
    assert!(opened.is_err() || !opened.unwrap().damage().is_empty());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
}
