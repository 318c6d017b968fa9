//! Downloads from a local server that cuts connections, misstates lengths, ignores ranges and changes its
//! file.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// What the server writes on a connection, given the connection's number from 0 and the request's head. The
/// connection is closed afterwards.
type Answer = dyn Fn(usize, &str) -> Vec<u8> + Send + Sync;

/// Plain sockets: a web framework would not send wrong lengths.
struct Server {
    url: String,
    asked: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(answer: impl Fn(usize, &str) -> Vec<u8> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/dump.json", listener.local_addr().unwrap());
        let (asked, heads) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let server = Server { url, asked: Arc::clone(&asked), heads: Arc::clone(&heads) };
        let answer: Arc<Answer> = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut head = Vec::new();
                let mut buffer = [0; 1024];
                while !head.ends_with(b"\r\n\r\n") {
                    match socket.read(&mut buffer).await {
                        Ok(n) if n > 0 => head.extend_from_slice(&buffer[..n]),
                        _ => break,
                    }
                }
                let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
                let bytes = answer(asked.fetch_add(1, Ordering::SeqCst), &head);
                heads.lock().unwrap().push(head);
                let _ = socket.write_all(&bytes).await;
                let _ = socket.shutdown().await;
            }
        });
        server
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn wanted(&self, sha256: Option<&str>) -> Wanted {
        Wanted {
            url: self.url.clone(),
            file: "raw/dumps/dump.json".into(),
            sha256: sha256.map(str::to_string),
        }
    }
}

fn body() -> Vec<u8> {
    (0..50_000u32).flat_map(|n| n.to_le_bytes()).collect()
}

fn sha(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn whole(body: &[u8], etag: &str) -> Vec<u8> {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\netag: \"{etag}\"\r\n\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn rest(body: &[u8], from: usize, etag: &str) -> Vec<u8> {
    let (length, last, all) = (body.len() - from, body.len() - 1, body.len());
    let head = format!(
        "HTTP/1.1 206 Partial Content\r\ncontent-length: {length}\r\ncontent-range: bytes {from}-{last}/{all}\r\netag: \"{etag}\"\r\n\r\n"
    );
    let mut answer = head.into_bytes();
    answer.extend_from_slice(&body[from..]);
    answer
}

fn asked_from(head: &str) -> Option<usize> {
    head.split("range: bytes=").nth(1)?.split('-').next()?.parse().ok()
}

fn patience() -> Patience {
    let short = Duration::from_millis(2);
    Patience { attempts: 4, first_wait: short, longest_wait: short, silence: Duration::from_secs(5) }
}

async fn run(root: &Path, wanted: &Wanted, update: bool) -> Result<Fetched, FetchError> {
    let mut pins = FilePins::read_pins(root).unwrap();
    fetch_file(root, wanted, &mut pins, update, patience(), &Silent).await
}

fn file(root: &Path) -> Vec<u8> {
    std::fs::read(root.join("raw/dumps/dump.json")).unwrap()
}

#[tokio::test]
async fn a_cut_download_goes_on_where_it_was_cut() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|_, head| {
        let from = asked_from(head).unwrap_or(0);
        let mut answer = if from == 0 { whole(&body(), "a") } else { rest(&body(), from, "a") };
        answer.truncate(60_000);
        answer
    })
    .await;
    let done = run(root.path(), &server.wanted(Some(&sha(&body()))), false).await.unwrap();
    assert!(matches!(done, Fetched::New(_)));
    assert_eq!(file(root.path()), body());
    assert!(server.asked() >= 4);
    let heads = server.heads.lock().unwrap();
    assert!(heads[1..].iter().all(|head| head.contains("if-range: \"a\"")), "{heads:?}");
    let names: Vec<_> =
        std::fs::read_dir(root.path().join("raw/dumps")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["dump.json"], "nothing is left beside it");
}

#[tokio::test]
async fn what_another_call_began_is_finished() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|n, head| match (n, asked_from(head)) {
        (0..4, from) => {
            let mut answer = from.map_or_else(|| whole(&body(), "a"), |from| rest(&body(), from, "a"));
            answer.truncate(if n == 0 { 90_000 } else { 40 });
            answer
        }
        (_, Some(from)) => rest(&body(), from, "a"),
        (_, None) => panic!("began anew"),
    })
    .await;
    let wanted = server.wanted(None);
    let error = run(root.path(), &wanted, false).await.unwrap_err();
    assert!(matches!(error, FetchError::GaveUp { .. }), "{error}");
    run(root.path(), &wanted, false).await.unwrap();
    assert_eq!(file(root.path()), body());
}

#[tokio::test]
async fn a_server_that_ignores_ranges_is_read_from_the_start() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|n, _| {
        let mut answer = whole(&body(), "a");
        if n == 0 {
            answer.truncate(70_000);
        }
        answer
    })
    .await;
    run(root.path(), &server.wanted(None), false).await.unwrap();
    assert_eq!(file(root.path()), body());
}

#[tokio::test]
async fn a_file_that_changes_midway_is_never_two_versions() {
    // One server honours If-Range and sends the whole new file, one ignores it and sends the rest of the new
    // one.
    for honest in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let mut new = body();
        new.iter_mut().for_each(|b| *b ^= 0x55);
        let served = new.clone();
        let server = Server::start(move |n, head| match (n, asked_from(head)) {
            (0, _) => {
                let mut answer = whole(&body(), "a");
                answer.truncate(80_000);
                answer
            }
            (_, Some(from)) if !honest => rest(&served, from, "b"),
            _ => whole(&served, "b"),
        })
        .await;
        run(root.path(), &server.wanted(None), false).await.unwrap();
        assert!(file(root.path()) == new, "honest: {honest}");
    }
}

#[tokio::test]
async fn a_change_without_a_new_etag_is_found_by_the_hash() {
    let root = tempfile::tempdir().unwrap();
    let mut new = body();
    new.iter_mut().for_each(|b| *b ^= 0x55);
    let (served, hash) = (new.clone(), sha(&new));
    let server = Server::start(move |n, head| match (n, asked_from(head)) {
        (0, _) => {
            let mut answer = whole(&body(), "a");
            answer.truncate(80_000);
            answer
        }
        (_, Some(from)) => rest(&served, from, "a"),
        _ => whole(&served, "a"),
    })
    .await;
    run(root.path(), &server.wanted(Some(&hash)), false).await.unwrap();
    assert_eq!(sha(&file(root.path())), hash);
    assert_eq!(server.asked(), 3);
}

#[tokio::test]
async fn a_length_that_is_a_lie_ends_in_an_error_and_no_file() {
    let root = tempfile::tempdir().unwrap();
    let short =
        Server::start(|_, _| b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nnot nine hundred".to_vec())
            .await;
    let error = run(root.path(), &short.wanted(None), false).await.unwrap_err();
    assert!(matches!(error, FetchError::GaveUp { .. }), "{error}");
    assert!(!root.path().join("raw/dumps/dump.json").exists());

    let long =
        Server::start(|_, _| b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nmore than three".to_vec()).await;
    let error = run(root.path(), &long.wanted(Some(&sha(b"more than three"))), false).await.unwrap_err();
    assert!(matches!(error, FetchError::Other { .. }), "{error}");
    assert!(!root.path().join("raw/dumps/dump.json").exists());
}

#[tokio::test]
async fn a_busy_server_is_asked_again_and_a_missing_file_is_not() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|n, _| match n {
        0 => b"HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n".to_vec(),
        1 => b"HTTP/1.1 429 Slow\r\nretry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\ncontent-length: 0\r\n\r\n"
            .to_vec(),
        _ => whole(b"[]", "a"),
    })
    .await;
    run(root.path(), &server.wanted(None), false).await.unwrap();
    assert_eq!(server.asked(), 3);

    let gone = Server::start(|_, _| b"HTTP/1.1 404 Gone\r\ncontent-length: 0\r\n\r\n".to_vec()).await;
    let wanted = Wanted { file: "raw/dumps/other.json".into(), ..gone.wanted(None) };
    let error = run(root.path(), &wanted, false).await.unwrap_err();
    assert!(matches!(error, FetchError::Status { status: 404, .. }), "{error}");
    assert_eq!(gone.asked(), 1);
}

#[tokio::test]
async fn a_pinned_file_is_overwritten_by_an_update_only() {
    let root = tempfile::tempdir().unwrap();
    let server = Server::start(|n, _| if n == 0 { whole(b"[1]", "a") } else { whole(b"[2]", "b") }).await;
    let wanted = server.wanted(None);
    assert!(matches!(run(root.path(), &wanted, false).await.unwrap(), Fetched::New(_)));
    assert!(matches!(run(root.path(), &wanted, false).await.unwrap(), Fetched::There(_)));
    assert_eq!(server.asked(), 1);

    // The file is missing, and its url now serves another one: only an update accepts that.
    std::fs::remove_file(root.path().join("raw/dumps/dump.json")).unwrap();
    assert!(matches!(run(root.path(), &wanted, false).await.unwrap_err(), FetchError::Other { .. }));
    assert!(matches!(run(root.path(), &wanted, true).await.unwrap(), Fetched::New(_)));
    assert_eq!(file(root.path()), b"[2]");

    std::fs::write(root.path().join("raw/dumps/dump.json"), b"[edited]").unwrap();
    assert!(matches!(run(root.path(), &wanted, false).await.unwrap_err(), FetchError::Edited { .. }));
    assert_eq!(file(root.path()), b"[edited]");
    assert!(matches!(run(root.path(), &wanted, true).await.unwrap(), Fetched::Updated(..)));
    assert_eq!(file(root.path()), b"[2]");
}

#[tokio::test]
async fn settings_of_somebody_elses_bring_nothing_outside_the_workspace() {
    let root = tempfile::tempdir().unwrap();
    for file in ["../out.json", "/nowhere/out.json", "raw/../../out.json"] {
        let wanted = Wanted { url: "http://127.0.0.1:9/x".into(), file: file.into(), sha256: None };
        let got = run(root.path(), &wanted, false).await;
        assert!(matches!(got, Err(FetchError::Store(_))), "{file}: {got:?}");
    }
}

#[test]
fn the_lock_file_is_read_back() {
    let root = tempfile::tempdir().unwrap();
    let mut pins = FilePins::default();
    let pin =
        |file: &str| Pin { url: "http://a/\"b\"".into(), sha256: "0f".into(), bytes: 7, file: file.into() };
    pins.set_pin(pin("raw/dumps/b"));
    pins.set_pin(pin("raw/dumps/a"));
    pins.set_pin(pin("raw/dumps/b"));
    pins.write_pins(root.path()).unwrap();
    assert_eq!(FilePins::read_pins(root.path()).unwrap(), pins);
    std::fs::write(root.path().join(LOCK), "[[file]]\nurl = 3\n").unwrap();
    assert!(FilePins::read_pins(root.path()).unwrap_err().to_string().contains("damaged"));
}
