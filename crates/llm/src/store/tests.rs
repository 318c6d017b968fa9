use std::fs;
use std::path::PathBuf;

use super::*;
use crate::request::{Input, Request};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }
    fn replies(&self) -> PathBuf {
        self.dir.path().join("raw/replies")
    }
    fn index(&self) -> PathBuf {
        self.dir.path().join("index/replies.sqlite")
    }
    fn open(&self) -> Store {
        Store::open(&self.replies(), &self.index()).unwrap()
    }
}

fn request(text: &str) -> Request {
    let input = Input::Embedding { text: text.into(), dimensions: None };
    Request { identity: "id".into(), model: "m".into(), input, sample: 0 }
}

fn reply(id: Option<String>, text: &str, cost: i64) -> SegmentLine {
    let request = request(text);
    SegmentLine::Reply(StoredReply {
        key: request.key(),
        id,
        template: "t".into(),
        request,
        raw: format!("raw of {text}"),
        usage: Some(Usage { prompt_tokens: 2, completion_tokens: 3, ..Usage::default() }),
        cut: false,
        charged_picousd: Usd::from_pico(cost),
        attempts: 1,
        at_ms: 5,
        elapsed_ms: 6,
    })
}

fn failure(id: String, text: &str, charged: i64, last: bool) -> SegmentLine {
    SegmentLine::Failure(Failure {
        id,
        key: request(text).key(),
        error: "cut".into(),
        status: None,
        raw: String::new(),
        charged_picousd: Usd::from_pico(charged),
        usage: None,
        at_ms: 5,
        elapsed_ms: 6,
        lasting: false,
        request: last.then(|| request(text)),
    })
}

fn begin(text: &str, reserved: i64, cap: Option<i64>) -> Begin {
    Begin {
        key: request(text).key(),
        reserved: Usd::from_pico(reserved),
        caps: vec![("endpoint:e".into(), cap.map(Usd::from_pico))],
        lease_ms: 60_000,
        room: 1 << 16,
        outlives: false,
    }
}

async fn go(store: &Store, text: &str, reserved: i64, cap: Option<i64>) -> String {
    match store.begin(begin(text, reserved, cap)).await.unwrap() {
        BeginReply::Go { id } => id,
        other => panic!("{other:?}"),
    }
}

async fn append(store: &Store, line: SegmentLine) {
    store.settle(line).unwrap().synced().await.unwrap();
}

fn spent(store: &Store) -> (i64, u64) {
    let (usd, attempts) = store.spent("endpoint:e").unwrap();
    (usd.in_picodollars(), attempts)
}

#[tokio::test]
async fn a_reply_is_found_while_open_after_sealing_and_after_the_index_is_deleted() {
    let place = Place::new();
    let store = place.open();
    let id = go(&store, "a", 100, None).await;
    append(&store, reply(Some(id), "a", 40)).await;
    let key = request("a").key();
    assert_eq!(store.get(&key).unwrap().unwrap().raw, "raw of a");
    assert_eq!(store.get(&request("b").key()).unwrap(), None);
    store.close();
    assert!(place.replies().join("000001.jsonl.zst").exists());
    assert!(place.replies().join("000001.jsonl.zst.sha256").exists());
    assert!(!place.replies().join("000001.jsonl").exists());
    assert_eq!(place.open().get(&key).unwrap().unwrap().raw, "raw of a");
    fs::remove_file(place.index()).unwrap();
    let store = place.open();
    assert_eq!(store.get(&key).unwrap().unwrap().raw, "raw of a");
    assert_eq!(spent(&store), (40, 1));
    assert_eq!(store.verify_segments().unwrap().findings, []);
}

#[tokio::test]
async fn an_index_that_is_no_database_is_replaced() {
    let place = Place::new();
    let store = place.open();
    append(&store, reply(None, "a", 0)).await;
    store.close();
    fs::write(place.index(), "garbage ".repeat(1000)).unwrap();
    assert!(place.open().get(&request("a").key()).unwrap().is_some());
}

#[tokio::test]
async fn a_failure_is_kept_and_never_found() {
    let place = Place::new();
    let store = place.open();
    let id = go(&store, "a", 100, None).await;
    append(&store, failure(id, "a", 0, true)).await;
    assert_eq!(store.get(&request("a").key()).unwrap(), None);
    assert_eq!(store.compute_stats().unwrap().failed_attempts, 1);
    assert_eq!(spent(&store), (0, 1));
    let id = go(&store, "a", 100, None).await;
    assert_eq!(id, "000001#2");
}

#[tokio::test]
async fn nothing_goes_that_could_pass_the_cap() {
    let place = Place::new();
    let store = place.open();
    let first = go(&store, "a", 60, Some(100)).await;
    let refused = store.begin(begin("b", 60, Some(100))).await.unwrap();
    let (spent_so_far, cap) = (Usd::from_pico(60), Usd::from_pico(100));
    assert_eq!(
        refused,
        BeginReply::Refused { scope: "endpoint:e".into(), spent: spent_so_far, cap, unsettled: 1 }
    );
    append(&store, reply(Some(first), "a", 10)).await;
    go(&store, "b", 90, Some(100)).await;
    assert_eq!(spent(&store), (100, 2));
    // Nothing more can be paid for, but free requests may be sent.
    go(&store, "c", 0, Some(100)).await;
}

#[tokio::test]
async fn what_never_came_back_stays_charged() {
    let place = Place::new();
    let store = place.open();
    go(&store, "a", 70, None).await;
    let id = go(&store, "b", 70, None).await;
    append(&store, failure(id, "b", 70, false)).await;
    store.close();
    let store = place.open();
    assert_eq!(spent(&store), (140, 2));
    assert_eq!(store.compute_stats().unwrap().open_attempts, 1);
}

#[tokio::test]
async fn a_torn_tail_is_cut_and_the_rest_kept() {
    let place = Place::new();
    let store = place.open();
    let id = go(&store, "a", 100, None).await;
    append(&store, reply(Some(id), "a", 40)).await;
    let whole = fs::read(place.replies().join("000001.jsonl")).unwrap();
    drop(store);
    // A kill in the middle of a write, at every possible place.
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for cut in [0, 1, first - 1, first, first + 1, whole.len() - 1, whole.len()] {
        let place = Place::new();
        fs::create_dir_all(place.replies()).unwrap();
        fs::write(place.replies().join("000007.jsonl"), &whole[..cut]).unwrap();
        let store = place.open();
        assert_eq!(store.get(&request("a").key()).unwrap().is_some(), cut == whole.len(), "cut at {cut}");
        let charged = if cut < first {
            0
        } else if cut < whole.len() {
            100
        } else {
            40
        };
        assert_eq!(spent(&store).0, charged, "cut at {cut}");
        assert_eq!(store.verify_segments().unwrap().findings, []);
        assert_eq!(go(&store, "z", 1, None).await, "000008#1");
    }
}

#[tokio::test]
async fn two_stores_share_a_folder() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    let id = go(&one, "a", 60, Some(100)).await;
    assert_eq!(two.begin(begin("a", 60, None)).await.unwrap(), BeginReply::Busy);
    assert!(matches!(two.begin(begin("b", 60, Some(100))).await.unwrap(), BeginReply::Refused { .. }));
    append(&one, reply(Some(id), "a", 10)).await;
    assert_eq!(two.begin(begin("a", 60, None)).await.unwrap(), BeginReply::Stored);
    assert_eq!(two.get(&request("a").key()).unwrap().unwrap().raw, "raw of a");
    assert_eq!(go(&two, "b", 60, Some(100)).await, "000002#1");
}

#[tokio::test]
async fn a_lease_ends_with_its_owner_or_its_time() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    go(&one, "a", 1, None).await;
    assert_eq!(two.begin(begin("a", 1, None)).await.unwrap(), BeginReply::Busy);
    one.close();
    go(&two, "a", 1, None).await;

    let three = place.open();
    let short = Begin { lease_ms: 0, ..begin("b", 1, None) };
    assert!(matches!(three.begin(short).await.unwrap(), BeginReply::Go { .. }));
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    go(&two, "b", 1, None).await;
}

#[tokio::test]
async fn full_segments_are_sealed_and_read() {
    let place = Place::new();
    let store = Store::open_with(&place.replies(), &place.index(), 2_000).unwrap();
    for n in 0..40 {
        append(&store, reply(None, &format!("text {n}"), 0)).await;
    }
    let keys: Vec<Key> = (0..40).rev().map(|n| request(&format!("text {n}")).key()).collect();
    let all = |store: &Store| store.get_many(&keys).unwrap().into_iter().flatten().count();
    assert_eq!(all(&store), 40);
    store.close();
    let store = place.open();
    assert_eq!(all(&store), 40);
    assert!(store.compute_stats().unwrap().segments > 3);
    assert_eq!(store.get_many(&keys).unwrap()[0].as_ref().unwrap().raw, "raw of text 39");
    assert_eq!(store.verify_segments().unwrap().replies, 40);
    assert_eq!(store.verify_segments().unwrap().findings, []);
}

/// A new index and a damaged one, each opened by several at the same moment.
#[test]
fn whoever_opens_at_once_gets_the_one_index() {
    for round in 0..40 {
        let place = Place::new();
        if round % 2 == 1 {
            fs::create_dir_all(place.index().parent().unwrap()).unwrap();
            fs::write(place.index(), "no database".repeat(500)).unwrap();
        }
        let together = std::sync::Barrier::new(4);
        let open = || {
            together.wait();
            Store::open(&place.replies(), &place.index())
        };
        let stores: Vec<Store> = std::thread::scope(|scope| {
            let opening = [(); 4].map(|()| scope.spawn(open));
            opening.map(|store| store.join().unwrap().unwrap()).into()
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (at, store) in stores.iter().enumerate() {
            runtime.block_on(go(store, &at.to_string(), 1, None));
        }
        // Each sees what the others journalled.
        stores.iter().for_each(|store| assert_eq!(spent(store), (4, 4)));
    }
}

#[tokio::test]
async fn verify_names_what_was_tampered_with() {
    let place = Place::new();
    let store = place.open();
    append(&store, reply(None, "a", 0)).await;
    store.close();
    let sealed = place.replies().join("000001.jsonl.zst");
    let raw = String::from_utf8(zstd::decode_all(fs::File::open(&sealed).unwrap()).unwrap()).unwrap();
    fs::write(
        &sealed,
        zstd::encode_all(raw.replace("\"text\":\"a\"", "\"text\":\"b\"").as_bytes(), 3).unwrap(),
    )
    .unwrap();
    let findings = place.open().verify_segments().unwrap().findings;
    assert!(findings.iter().any(|finding| finding.what.contains(".sha256")), "{findings:?}");
    assert!(findings.iter().any(|finding| finding.what.contains("does not hash")), "{findings:?}");
}

#[test]
fn replies_travel_between_stores() {
    let (from, to) = (Place::new(), Place::new());
    let store = from.open();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let id = go(&store, "a", 100, None).await;
        append(&store, reply(Some(id), "a", 40)).await;
        append(&store, reply(None, "b", 0)).await;
    });
    let mut lines = Vec::new();
    assert_eq!(store.export_replies(&mut lines).unwrap().replies, 2);
    let other = to.open();
    lines.extend_from_slice(b"no json\n\n");
    let text = String::from_utf8(lines).unwrap();
    let forged = text.lines().next().unwrap().replace("\"text\":\"a\"", "\"text\":\"forged\"");
    let imported = other.import_replies(format!("{text}{forged}\n").as_bytes()).unwrap();
    assert_eq!((imported.added, imported.known, imported.refused.len()), (2, 0, 2));
    assert_eq!(imported.refused[0].0, 3);
    assert_eq!(other.import_replies(text.as_bytes()).unwrap().known, 2);
    assert_eq!(other.get(&request("a").key()).unwrap().unwrap().raw, "raw of a");
    assert_eq!(spent(&other), (0, 0));
    assert_eq!(other.verify_segments().unwrap().findings, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_reply_answers_nothing_and_is_paid_for_all_the_same() {
    let place = Place::new();
    let key = request("a").key();
    let store = place.open();
    let id = go(&store, "a", 100, None).await;
    append(&store, reply(Some(id), "a", 40)).await;
    append(&store, reply(None, "b", 1)).await;
    assert_eq!(store.keys_with_prefix(&key.to_string()[..12]).unwrap(), [key]);
    let (store, forgotten) = tokio::task::spawn_blocking(move || {
        let forgotten = store.forget_reply(&key, "it answers another question").unwrap();
        let again = store.forget_reply(&key, "once more").unwrap();
        (store, (forgotten, again))
    })
    .await
    .unwrap();
    assert_eq!(forgotten, (true, false));
    assert_eq!(store.get(&key).unwrap(), None);
    assert_eq!(store.spent("endpoint:e").unwrap().0, Usd::from_pico(40));
    store.close();

    // Another process, one that lost its index, and one that asks again.
    for _ in 0..2 {
        let store = place.open();
        assert_eq!((store.get(&key).unwrap(), store.keys_with_prefix("").unwrap().len()), (None, 1));
        assert_eq!(store.verify_segments().unwrap().findings, []);
        store.close();
        for name in ["replies.sqlite", "replies.sqlite-wal", "replies.sqlite-shm"] {
            let _ = fs::remove_file(place.dir.path().join("index").join(name));
        }
    }
    let store = place.open();
    let id = go(&store, "a", 100, None).await;
    append(&store, reply(Some(id), "a", 7)).await;
    assert_eq!(store.get(&key).unwrap().unwrap().charged_picousd, Usd::from_pico(7));
    store.close();
    for name in ["replies.sqlite", "replies.sqlite-wal", "replies.sqlite-shm"] {
        let _ = fs::remove_file(place.dir.path().join("index").join(name));
    }
    let store = place.open();
    assert_eq!(store.get(&key).unwrap().unwrap().charged_picousd, Usd::from_pico(7));
}

/// A sealed segment may come from anywhere: its unpacked size is bounded before memory is allocated.
#[test]
fn a_segment_of_kilobytes_gives_no_gigabytes() {
    let place = Place::new();
    fs::create_dir_all(place.replies()).unwrap();
    let path = place.replies().join("000001.jsonl.zst");
    let zeros = std::io::Read::take(std::io::repeat(b'\n'), 300 << 20);
    zstd::stream::copy_encode(zeros, fs::File::create(&path).unwrap(), 1).unwrap();
    let error = super::segment::read_frames(&path).unwrap_err().to_string();
    assert!(error.contains("more than 256 MiB"), "{error}");
    let opened = place.open();
    assert!(opened.damage()[0].what.contains("more than 256 MiB"), "{:?}", opened.damage());
}

#[tokio::test]
async fn amounts_that_no_request_can_cost_leave_a_store_that_can_be_read() {
    let place = Place::new();
    let store = place.open();
    // Lines as a server's `x-litellm-response-cost: 1e300` made them, and one that would take money back.
    for text in ["a", "b"] {
        let id = go(&store, text, 100, None).await;
        append(&store, reply(Some(id), text, i64::MAX)).await;
    }
    let id = go(&store, "c", 100, None).await;
    append(&store, failure(id, "c", i64::MIN, true)).await;
    let id = go(&store, "e", 100, None).await;
    append(&store, reply(Some(id), "e", 70)).await;
    let whole = |store: &Store| {
        assert_eq!(spent(store), (370, 4), "each counts as what was reserved for it");
        let stats = store.compute_stats().unwrap();
        assert_eq!(stats.models.iter().map(|model| model.charged.in_picodollars()).sum::<i64>(), 270);
        let verified = store.verify_segments().unwrap();
        assert_eq!(verified.findings, []);
        let noted: Vec<&str> = verified.notes.iter().map(|note| note.what.as_str()).collect();
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert!(noted[0].starts_with("3 of its lines state an amount that no request can cost"), "{noted:?}");
        assert!(store.get(&request("a").key()).unwrap().is_some());
    };
    whole(&store);
    store.close();
    whole(&place.open());
    // An index that an earlier version made of them has sums that are no integers.
    let db = rusqlite::Connection::open(place.index()).unwrap();
    db.execute_batch("UPDATE spend SET charged = 1.8e19; PRAGMA user_version = 4;").unwrap();
    drop(db);
    whole(&place.open());
    fs::remove_file(place.index()).unwrap();
    whole(&place.open());
    // What fits a budget is sent, too.
    let store = place.open();
    go(&store, "f", 100, Some(1000)).await;
}

/// As on a read-only disk: everything is found, and nothing is written.
#[tokio::test]
async fn a_store_that_cannot_be_written_is_read() {
    let place = Place::new();
    let store = place.open();
    let id = go(&store, "a", 100, None).await;
    append(&store, reply(Some(id), "a", 40)).await;
    store.close();
    // A second segment was being written when its process was killed.
    let line = serde_json::to_string(&reply(None, "b", 0)).unwrap();
    fs::write(place.replies().join("000002.jsonl"), format!("{line}\n{{\"rep")).unwrap();
    registry::record_begun(&place.replies(), 2).unwrap();
    let listed = || -> Vec<(PathBuf, Vec<u8>)> {
        let paths = fs::read_dir(place.replies()).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> = paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        all.sort();
        all
    };
    let before = listed();
    fs::remove_dir_all(place.index().parent().unwrap()).unwrap();
    let store = Store::open_to_read(&place.replies(), &place.index(), SEGMENT_BYTES).unwrap();
    assert_eq!(store.damage(), []);
    assert_eq!(store.get(&request("a").key()).unwrap().unwrap().raw, "raw of a");
    assert_eq!(store.get(&request("b").key()).unwrap().unwrap().raw, "raw of b");
    assert_eq!(spent(&store), (40, 1));
    assert_eq!(store.verify_segments().unwrap().findings, []);
    drop(store);
    assert_eq!(before, listed());
    assert!(!place.index().exists());
    // So is one on a full disk, which fails SQLite in more than one way.
    for code in [rusqlite::ffi::SQLITE_FULL, rusqlite::ffi::SQLITE_IOERR_SHMSIZE] {
        let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        let error = StoreError::Index(error);
        assert!(error.is_of_a_closed_place() && error.to_string().contains("make room"), "{error}");
    }
    // A store that was never made has no replies.
    let none = Place::new();
    let store = Store::open_to_read(&none.replies(), &none.index(), SEGMENT_BYTES).unwrap();
    assert_eq!(store.get(&request("a").key()).unwrap(), None);
    assert!(!none.replies().exists());
}
