use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::request::{Input, Request};

fn request(text: &str) -> Request {
    let input = Input::Embedding { text: text.into(), dimensions: None };
    Request { identity: "id".into(), model: "m".into(), input, sample: 0 }
}

fn begin(text: &str) -> Begin {
    Begin {
        key: request(text).key(),
        reserved: Usd::from_pico(100),
        caps: vec![("endpoint:e".into(), None)],
        lease_ms: 60_000,
        room: 1 << 16,
        outlives: false,
    }
}

async fn buy_reply(store: &Store, text: &str) {
    let BeginReply::Go { id } = store.begin(begin(text)).await.unwrap() else { panic!("refused") };
    let line = SegmentLine::Reply(StoredReply {
        key: request(text).key(),
        id: Some(id),
        template: "t".into(),
        request: request(text),
        raw: format!("raw of {text} {}", "a long reply ".repeat(600)),
        usage: None,
        cut: false,
        charged_picousd: Usd::from_pico(40),
        attempts: 1,
        at_ms: 5,
        elapsed_ms: 6,
    });
    store.settle(line).unwrap().synced().await.unwrap();
}

fn open(root: &Path) -> Store {
    Store::open(&root.join("raw/replies"), &root.join("index/replies.sqlite")).unwrap()
}

fn sealed(root: &Path, number: u32) -> PathBuf {
    root.join(format!("raw/replies/{number:06}.jsonl.zst"))
}

fn count_stored(store: &Store, texts: std::ops::Range<u32>) -> usize {
    texts.filter(|n| store.get(&request(&n.to_string()).key()).unwrap().is_some()).count()
}

/// Two segments of twenty replies each, in several frames.
async fn two_bought_segments() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for texts in [0..20, 20..40] {
        let store = open(root.path());
        for n in texts {
            buy_reply(&store, &n.to_string()).await;
        }
    }
    root
}

fn flip_byte(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    let at = at.min(bytes.len() - 1);
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_flipped_segment_and_a_lost_index_leave_the_others_and_ask_nothing_again() {
    let root = two_bought_segments().await;
    flip_byte(&sealed(root.path(), 1), 500);
    for with_index in [true, false] {
        if !with_index {
            fs::remove_dir_all(root.path().join("index")).unwrap();
        }
        let store = open(root.path());
        let damage = store.damage();
        assert_eq!((damage.len(), damage[0].segment, damage[0].replies), (1, 1, Some(20)));
        assert_eq!(damage[0].most, Usd::from_pico(2_000));
        assert_eq!((count_stored(&store, 0..20), count_stored(&store, 20..40)), (0, 20));
        let refused = store.begin(begin("3")).await.unwrap_err().to_string();
        assert!(refused.contains("20 replies") && refused.contains("000001.jsonl.zst"), "{refused}");
    }
}

#[tokio::test]
async fn what_is_whole_of_a_flipped_segment_is_salvaged() {
    let root = two_bought_segments().await;
    let path = sealed(root.path(), 1);
    let frames = segment::read_frames(&path).unwrap();
    assert!(frames.len() > 1);
    flip_byte(&path, (frames[1].start + frames[1].len / 2) as usize);
    let salvaged = open(root.path()).salvage_segments().unwrap();
    assert_eq!(salvaged.len(), 1);
    let (kept, lost) = (salvaged[0].kept, salvaged[0].lost.unwrap());
    assert!(kept > 0 && lost > 0 && kept + lost == 20, "{salvaged:?}");
    assert_eq!(salvaged[0].torn, [frames[1].raw_start]);
    assert!(salvaged[0].moved_to.as_ref().unwrap().exists());
    for _ in 0..2 {
        let store = open(root.path());
        assert_eq!(store.damage(), []);
        assert_eq!((count_stored(&store, 0..20) as u64, count_stored(&store, 20..40)), (kept, 20));
        assert_eq!(store.verify_segments().unwrap().findings, []);
    }
}

#[tokio::test]
async fn a_segment_that_is_deleted_is_missed_until_somebody_accepts_it() {
    let root = two_bought_segments().await;
    fs::remove_file(sealed(root.path(), 2)).unwrap();
    let store = open(root.path());
    assert_eq!((store.damage()[0].what.as_str(), store.damage()[0].replies), ("it is missing", Some(20)));
    assert_eq!(store.verify_segments().unwrap().findings.len(), 1);
    assert!(store.begin(begin("30")).await.is_err());
    store.accept_losses().unwrap();
    drop(store);
    let store = open(root.path());
    assert_eq!(store.damage(), []);
    // The number of the missing segment is not reused.
    let BeginReply::Go { id } = store.begin(begin("30")).await.unwrap() else { panic!("refused") };
    assert_eq!(id, "000003#1");
}

#[tokio::test]
async fn a_file_that_is_brought_back_counts_again() {
    let root = two_bought_segments().await;
    let (path, moved) = (sealed(root.path(), 1), root.path().join("backup"));
    fs::rename(&path, &moved).unwrap();
    assert_eq!(count_stored(&open(root.path()), 0..20), 0);
    fs::rename(&moved, &path).unwrap();
    let store = open(root.path());
    assert_eq!((store.damage(), count_stored(&store, 0..40)), (&[][..], 40));
    assert_eq!(store.spent("endpoint:e").unwrap(), (Usd::from_pico(1_600), 40));
}

/// Flips each byte of a store's files, cuts them at each place: this is detected, or harmless.
#[tokio::test]
async fn damage_to_any_file_is_seen_or_harmless() {
    let root = two_bought_segments().await;
    drop(open(root.path()));
    let names = ["000001.jsonl.zst", "000001.jsonl.zst.sha256", "segments.jsonl"];
    for name in names {
        let path = root.path().join("raw/replies").join(name);
        let whole = fs::read(&path).unwrap();
        let step = (whole.len() / 40).max(1);
        for at in (0..whole.len()).step_by(step) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            for bytes in [flipped, whole[..at].to_vec(), [&whole[..], &whole[at..]].concat()] {
                fs::write(&path, bytes).unwrap();
                let store = open(root.path());
                let is_seen = !store.damage().is_empty();
                assert!(is_seen || count_stored(&store, 0..40) == 40, "{name} at {at}");
                assert!(is_seen || name != names[0], "{name} at {at}");
                drop(store);
                fs::write(&path, &whole).unwrap();
            }
        }
        let store = open(root.path());
        assert_eq!((store.damage(), count_stored(&store, 0..40)), (&[][..], 40), "{name}");
    }
    fs::remove_file(root.path().join("raw/replies/segments.jsonl")).unwrap();
    assert_eq!(open(root.path()).damage()[0].segment, 0);
}

#[tokio::test]
async fn a_store_from_before_segments_were_named_opens() {
    let root = two_bought_segments().await;
    fs::remove_file(root.path().join("raw/replies/segments.jsonl")).unwrap();
    fs::remove_file(root.path().join("raw/heads.jsonl")).unwrap();
    let store = open(root.path());
    assert_eq!((store.damage(), count_stored(&store, 0..40)), (&[][..], 40));
    drop(store);
    fs::copy(sealed(root.path(), 1), sealed(root.path(), 9)).unwrap();
    assert!(open(root.path()).damage()[0].what.contains("riddlemill did not write it"));
    fs::remove_file(sealed(root.path(), 9)).unwrap();
    fs::remove_file(sealed(root.path(), 1)).unwrap();
    assert_eq!(open(root.path()).damage()[0].replies, Some(20));
}

fn charged(store: &Store) -> (i64, u64) {
    let (charged, attempts) = store.spent("endpoint:e").unwrap();
    (charged.in_picodollars(), attempts)
}

async fn forget(root: &Path, text: &str) {
    let (store, key) = (open(root), request(text).key());
    tokio::task::spawn_blocking(move || assert!(store.forget_reply(&key, "wrong").unwrap())).await.unwrap();
}

/// As written before tombstones named the reply.
async fn forget_by_place(root: &Path, text: &str) {
    let store = open(root);
    let key = request(text).key();
    let place = index::place_of_reply(store.reader().db(), &key).unwrap().unwrap();
    let (segment, start, why) = (place.number, place.start, "wrong".into());
    let line = SegmentLine::Forgotten(Forgotten { key, reply: None, segment, start, why, at_ms: 9 });
    assert!(!String::from_utf8(line.to_json_line()).unwrap().contains("reply"));
    store.settle(line).unwrap().synced().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_stays_so_after_a_salvage() {
    let root = two_bought_segments().await;
    for at in ["0", "2"] {
        forget(root.path(), at).await;
    }
    for at in ["1", "3"] {
        forget_by_place(root.path(), at).await;
    }
    assert_eq!(count_stored(&open(root.path()), 0..20), 16);
    let path = sealed(root.path(), 1);
    let frames = segment::read_frames(&path).unwrap();
    let last = frames.last().unwrap();
    flip_byte(&path, (last.start + last.len / 2) as usize);
    let kept = open(root.path()).salvage_segments().unwrap()[0].kept;
    assert!((5..20).contains(&kept), "{kept}");
    for with_index in [true, false] {
        if !with_index {
            fs::remove_dir_all(root.path().join("index")).unwrap();
        }
        let store = open(root.path());
        assert_eq!((count_stored(&store, 0..4), count_stored(&store, 0..20) as u64), (0, kept - 4));
        assert_eq!(store.verify_segments().unwrap().findings, []);
    }
    // Nor does it answer if the tombstone's own segment is lost.
    fs::remove_file(sealed(root.path(), 3)).unwrap();
    open(root.path()).accept_losses().unwrap();
    let store = open(root.path());
    assert_eq!((store.damage(), count_stored(&store, 0..1)), (&[][..], 0));
    assert_eq!(store.verify_segments().unwrap().findings, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_reply_is_not_brought_back_by_an_import() {
    let root = two_bought_segments().await;
    let store = open(root.path());
    let mut exported = Vec::new();
    store.export_replies(&mut exported).unwrap();
    drop(store);
    forget(root.path(), "7").await;
    let store = open(root.path());
    let (store, done) = tokio::task::spawn_blocking(move || {
        let done = store.import_replies(&exported[..]).unwrap();
        (store, done)
    })
    .await
    .unwrap();
    assert_eq!((done.added, done.known, done.forgotten), (0, 39, 1));
    assert_eq!(count_stored(&store, 0..40), 39);
}

#[tokio::test]
async fn a_salvage_that_was_stopped_is_finished_and_charges_nothing_twice() {
    for copies in 0..4 {
        let root = two_bought_segments().await;
        assert_eq!(charged(&open(root.path())), (1_600, 40));
        let path = sealed(root.path(), 1);
        let frames = segment::read_frames(&path).unwrap();
        let last = frames.last().unwrap();
        flip_byte(&path, (last.start + last.len / 2) as usize);
        let (lines, _) = salvage::whole_lines(&path);
        let half = lines[..lines.len() / 2].rsplit(|&byte| byte == b'\n').next().unwrap().len();
        for copy in 0..copies {
            // Stopped before the loss was accepted, the first time in the middle of writing.
            let lines = if copy == 1 { &lines[..lines.len() / 2 - half] } else { &lines[..] };
            salvage::write_segment(&root.path().join("raw/replies"), lines).unwrap();
            let store = open(root.path());
            assert_eq!(store.damage().len(), 1);
            assert!(charged(&store) >= (1_600, 40));
        }
        let salvaged = open(root.path()).salvage_segments().unwrap();
        let store = open(root.path());
        assert_eq!((store.damage(), charged(&store)), (&[][..], (1_600, 40)), "{copies}");
        assert_eq!(count_stored(&store, 0..20) as u64, salvaged[0].kept);
        assert_eq!(store.verify_segments().unwrap().findings, []);
        assert_eq!(open(root.path()).salvage_segments().unwrap(), []);
        drop(store);
        let segments = fs::read_dir(root.path().join("raw/replies")).unwrap();
        let segments = segments
            .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".jsonl.zst"));
        assert_eq!(segments.count(), 1 + copies.max(1), "{copies}");
    }
}

#[tokio::test]
async fn what_lost_segments_were_charged_counts_against_the_caps() {
    let root = two_bought_segments().await;
    fs::remove_file(sealed(root.path(), 1)).unwrap();
    assert_eq!(charged(&open(root.path())), (1_600, 40));
    open(root.path()).accept_losses().unwrap();
    for with_index in [true, false] {
        if !with_index {
            fs::remove_dir_all(root.path().join("index")).unwrap();
        }
        let store = open(root.path());
        assert_eq!((store.damage(), charged(&store)), (&[][..], (1_600, 40)));
        let capped =
            |cap| Begin { caps: vec![("endpoint:e".into(), Some(Usd::from_pico(cap)))], ..begin("3") };
        let refused = store.begin(capped(1_650)).await.unwrap();
        assert!(matches!(refused, BeginReply::Refused { spent, .. } if spent == Usd::from_pico(1_600)));
        let budgets = store.compute_stats().unwrap().budgets;
        assert_eq!(budgets, [("endpoint:e".into(), Usd::from_pico(1_600), 40)]);
        assert_eq!(store.verify_segments().unwrap().findings, []);
    }
}
