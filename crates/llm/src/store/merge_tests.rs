//! Stores that diverged from one copy.

use std::fs;
use std::path::Path;

use super::*;
use crate::request::{Input, Request};

fn request(text: &str) -> Request {
    let input = Input::Embedding { text: text.into(), dimensions: None };
    Request { identity: "id".into(), model: "m".into(), input, sample: 0 }
}

/// Buys the reply to `text` at a time, for 40 of 100 reserved.
async fn buy_reply(store: &Store, text: &str, at_ms: u64) {
    let begin = Begin {
        key: request(text).key(),
        reserved: Usd::from_pico(100),
        caps: vec![("endpoint:e".into(), None)],
        lease_ms: 60_000,
        room: 1 << 16,
        outlives: false,
    };
    let BeginReply::Go { id } = store.begin(begin).await.unwrap() else { panic!("asked") };
    let line = SegmentLine::Reply(StoredReply {
        key: request(text).key(),
        id: Some(id),
        template: "t".into(),
        request: request(text),
        raw: format!("raw of {text} at {at_ms}"),
        usage: None,
        cut: false,
        charged_picousd: Usd::from_pico(40),
        attempts: 1,
        at_ms,
        elapsed_ms: 6,
    });
    store.settle(line).unwrap().synced().await.unwrap();
}

fn open(root: &Path) -> Store {
    Store::open(&root.join("replies"), &root.join("index/replies.sqlite")).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn merge(here: &Path, there: &Path, only_look: bool) -> Result<MergedReplies, StoreError> {
    Store::merge_stores(&here.join("replies"), &there.join("replies"), only_look)
}

fn forget(store: &Store, text: &str) {
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(store.forget_reply(&request(text).key(), "wrong").unwrap())).join().unwrap();
    });
}

fn raw(store: &Store, text: &str) -> Option<String> {
    store.get(&request(text).key()).unwrap().map(|reply| reply.raw)
}

/// A shared beginning of two replies; then `b` here, `b` and `c` there, and `shared-2` forgotten there.
async fn two_stores_apart() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| root.path().join(name));
    let store = open(&here);
    buy_reply(&store, "shared-1", 1).await;
    buy_reply(&store, "shared-2", 1).await;
    store.close();
    copy(&here.join("replies"), &there.join("replies"));
    let store = open(&here);
    buy_reply(&store, "b", 2).await;
    store.close();
    let store = open(&there);
    buy_reply(&store, "b", 3).await;
    buy_reply(&store, "c", 3).await;
    forget(&store, "shared-2");
    store.close();
    root
}

#[tokio::test]
async fn what_grew_apart_is_put_together_once_and_charged_once() {
    let root = two_stores_apart().await;
    let [here, there] = ["here", "there"].map(|name| root.path().join(name));
    let look = merge(&here, &there, true).unwrap();
    assert_eq!(raw(&open(&here), "c"), None, "a look stores nothing");
    let merged = merge(&here, &there, false).unwrap();
    assert_eq!(look, merged);
    let new: Vec<_> =
        merged.replies.iter().map(|((model, template), n)| (&**model, &**template, *n)).collect();
    assert_eq!((new, merged.second, merged.attempts, merged.forgotten), (vec![("m", "t", 1)], 1, 2, 1));
    assert_eq!(merged.charged["endpoint:e"], Usd::from_pico(80));
    for with_index in [true, false] {
        if !with_index {
            fs::remove_dir_all(here.join("index")).unwrap();
        }
        let store = open(&here);
        assert_eq!(raw(&store, "b").unwrap(), "raw of b at 2", "the reply of here stays the answer");
        assert_eq!(raw(&store, "c").unwrap(), "raw of c at 3");
        assert_eq!(raw(&store, "shared-2"), None, "forgotten there is forgotten here");
        assert_eq!(store.spent("endpoint:e").unwrap(), (Usd::from_pico(200), 5));
        assert_eq!(store.verify_segments().unwrap().findings, []);
        assert!(merge(&here, &there, false).unwrap().is_empty(), "once");
    }
}

#[tokio::test]
async fn both_ways_lead_to_the_same_sum_and_what_is_bought_later_has_a_name_of_its_own() {
    let root = two_stores_apart().await;
    let [here, there] = ["here", "there"].map(|name| root.path().join(name));
    merge(&here, &there, false).unwrap();
    let back = merge(&there, &here, false).unwrap();
    assert_eq!((back.attempts, back.second, back.forgotten), (1, 1, 0));
    assert!(merge(&here, &there, false).unwrap().is_empty(), "nothing comes round again");
    // Both sides begin segments of the same numbers.
    for (place, at) in [(&here, 5), (&there, 6)] {
        buy_reply(&open(place), &format!("late at {at}"), at).await;
    }
    assert_eq!(merge(&here, &there, false).unwrap().attempts, 1);
    assert_eq!(merge(&there, &here, false).unwrap().attempts, 1);
    let sums = [&here, &there].map(|place| open(place).spent("endpoint:e").unwrap());
    assert_eq!(sums, [(Usd::from_pico(280), 7); 2]);
}

#[tokio::test]
async fn a_damaged_store_is_taken_over_by_nobody() {
    let root = two_stores_apart().await;
    let [here, there] = ["here", "there"].map(|name| root.path().join(name));
    let path = there.join("replies/000002.jsonl.zst");
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = merge(&here, &there, false).unwrap_err();
    assert!(matches!(error, StoreError::Lost(_)), "{error}");
    assert_eq!(raw(&open(&here), "c"), None);
}
