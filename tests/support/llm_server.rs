//! A chat-completions server on loopback that can misbehave in every way a real one does, and counts its
//! actions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How the server answers.
#[derive(Clone, Copy)]
pub struct Manner {
    /// Delay before a good answer.
    pub delay: Duration,
    /// Percentage of requests that fail.
    pub faults_percent: u8,
}

/// What the server saw and did.
#[derive(Default)]
pub struct Seen {
    /// Requests that arrived.
    pub requests: u64,
    /// Prompt and completion tokens it would bill, for good and failed answers alike.
    pub billed: (u64, u64),
    /// Picodollars that it would bill beyond its tokens, as stated with its answers.
    pub beyond: i64,
    /// Items that got a complete good answer, and the client that asked.
    pub answered: BTreeMap<u64, u64>,
    /// Which client is asking, counted by the test that starts them.
    pub client: u64,
    /// By client, the items that it got a complete good answer to and that a later client asked again.
    pub resent: BTreeMap<u64, BTreeSet<u64>>,
    /// How often each fault was played.
    pub faults: BTreeMap<&'static str, u64>,
    /// Items that were requested individually, once per request.
    pub asked: Vec<u64>,
    /// Items answered in a batch, and how often one of them was requested again.
    pub batched: BTreeSet<u64>,
    pub batched_again: u64,
    files: Vec<String>,
    batches: Vec<Value>,
}

pub type Shared = Arc<Mutex<Seen>>;

/// Serves on a free port until the runtime ends.
pub async fn serve(manner: Manner) -> (u16, Shared) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Shared::default();
    let shared = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(connection(stream, manner, shared.clone()));
        }
    });
    (port, seen)
}

/// Picodollars per token of a prompt and of an answer, for a server that states costs: set by the test.
pub const PRICE: (u64, u64) = (150_000_000, 600_000_000);
/// Such a server's own fee.
pub const FEE: i64 = 2_000_000_000;
/// The number of tokens after which an answer is cut.
pub const CUT: u64 = 20;

/// The number of tokens in an honest usage for an item.
pub fn usage_of(item: u64) -> (u64, u64) {
    (12 + item % 5, 5 + item % 11)
}

async fn connection(mut stream: TcpStream, manner: Manner, seen: Shared) {
    let mut bytes = Vec::new();
    while let Some((head, body)) = request(&mut stream, &mut bytes).await {
        let path = head.split_whitespace().nth(1).unwrap_or_default();
        if path.starts_with("/v1/files") || path.starts_with("/v1/batches") {
            if file_request(&mut stream, manner, &seen, path, &body).await.is_none() {
                return;
            }
        } else if answer(&mut stream, manner, &seen, &head, &body).await.is_none() {
            return;
        }
    }
}

/// The next request of a connection: its head and its body.
async fn request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.split("content-length:").nth(1).and_then(|rest| rest.split("\r\n").next());
            let length: usize = length.map_or(Some(0), |length| length.trim().parse().ok())?;
            if bytes.len() >= end + 4 + length {
                let body = bytes[end + 4..end + 4 + length].to_vec();
                let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                bytes.drain(..end + 4 + length);
                return Some((head, body));
            }
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Answers once; `None` if that breaks the connection.
async fn answer(
    stream: &mut TcpStream,
    manner: Manner,
    seen: &Shared,
    head: &str,
    body: &[u8],
) -> Option<()> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let result = body["messages"][0]["content"].as_str().unwrap();
    let item: u64 = result.split_whitespace().last().unwrap().parse().unwrap();
    let (fault, client) = {
        let mut seen = seen.lock().unwrap();
        seen.requests += 1;
        seen.asked.push(item);
        seen.batched_again += u64::from(seen.batched.contains(&item));
        let client = seen.client;
        // The same client asks twice if it had no answer in time.
        if let Some(first) = seen.answered.get(&item).copied().filter(|&first| first != client) {
            seen.resent.entry(first).or_default().insert(item);
        }
        let mut fault =
            (fastrand::u8(0..100) < manner.faults_percent).then(|| *fastrand::choice(FAULTS).unwrap());
        // An unsupported schema is refused permanently.
        if body["response_format"]["type"] == "json_schema" && fault == Some("400") {
            fault = Some("refuses a schema");
        }
        // With a larger limit it is complete.
        if body["max_tokens"].as_u64().is_none_or(|limit| limit > CUT) {
            fault = fault.filter(|fault| *fault != "cut");
        }
        if let Some(fault) = fault {
            *seen.faults.entry(fault).or_default() += 1;
        }
        if !matches!(fault, Some("429 seconds" | "429 date" | "500" | "400" | "refuses a schema")) {
            let (prompt, completion) = usage_of(item);
            seen.billed.0 += prompt;
            seen.billed.1 += match fault {
                Some("cut") => CUT,
                Some("held back") => 0,
                _ => completion,
            };
            seen.beyond += if fault == Some("states its cost") { FEE } else { 0 };
        }
        (fault, client)
    };
    tokio::time::sleep(manner.delay).await;
    let (prompt, completion) = usage_of(item);
    let mut usage = json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion});
    // A server that quotes the received key, as some do in their errors.
    let key =
        head.lines().find(|line| line.to_ascii_lowercase().starts_with("authorization")).unwrap_or_default();
    let error = json!({"error": {"message": format!("refused: {key}")}}).to_string();
    let mut text = format!("answer {item}");
    match fault {
        Some("429 seconds") => return write(stream, "429 Too Many Requests\r\nretry-after: 0", &error).await,
        Some("429 date") => {
            let date = httpdate::fmt_http_date(SystemTime::now());
            return write(stream, &format!("429 Too Many Requests\r\nretry-after: {date}"), &error).await;
        }
        Some("500") => return write(stream, "500 Internal Server Error", &error).await,
        Some("400") => return write(stream, "400 Bad Request", &error).await,
        Some("refuses a schema") => {
            let error = json!({"error": {"message": "response_format of this type is not available"}});
            return write(stream, "400 Bad Request", &error.to_string()).await;
        }
        Some("garbage") => return write(stream, "200 OK", &format!("<html>{key}</html>")).await,
        Some("half") => {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\": [{\"mess")
                .await;
            return None;
        }
        Some("drip") => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            return None;
        }
        Some("reset") => {
            #[expect(
                deprecated,
                reason = "a reset is what is wanted; lingering for zero seconds does not block"
            )]
            let _ = stream.set_linger(Some(Duration::ZERO));
            return None;
        }
        Some("wrong usage") => {
            usage = fastrand::choice([
                json!({"prompt_tokens": -3, "completion_tokens": 1}),
                json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
                json!({"prompt_tokens": 10_u64.pow(12), "completion_tokens": 10_u64.pow(12)}),
                json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 1}),
                json!("many"),
                json!(null),
            ])
            .unwrap();
        }
        Some("cut") => {
            usage = json!({"prompt_tokens": prompt, "completion_tokens": CUT,
                "completion_tokens_details": {"reasoning_tokens": CUT}});
            let message =
                json!({"role": "assistant", "content": "", "reasoning_content": "let me think, answer"});
            return whole(stream, &body, &message, "length", &usage).await;
        }
        Some("held back") => {
            usage = json!({"prompt_tokens": prompt, "completion_tokens": 0});
            return whole(
                stream,
                &body,
                &json!({"role": "assistant", "content": ""}),
                "content_filter",
                &usage,
            )
            .await;
        }
        Some("states its cost") => {
            let pico = (prompt * PRICE.0 + completion * PRICE.1) as i64 + FEE;
            usage["cost"] = json!(pico as f64 / 1e12);
        }
        Some("thinks") => {
            usage["prompt_tokens_details"] = json!({"cached_tokens": prompt / 2});
            usage["completion_tokens_details"] = json!({"reasoning_tokens": completion / 2});
            text = format!("<think>answer {}?</think>{text}", item + 1);
        }
        _ => {}
    }
    whole(stream, &body, &json!({"role": "assistant", "content": text}), "stop", &usage).await?;
    seen.lock().unwrap().answered.insert(item, client);
    Some(())
}

/// Files and batches of them. A batch is processed at once, and has ended at the second look; a fault happens
/// before anything is done, or after all of it.
async fn file_request(
    stream: &mut TcpStream,
    manner: Manner,
    seen: &Shared,
    path: &str,
    body: &[u8],
) -> Option<()> {
    let fault = (fastrand::u8(0..100) < manner.faults_percent).then(|| fastrand::u8(0..3));
    if let Some(name) = fault.map(|fault| {
        ["500 to a file request", "429 to a file request", "a file request cut"][usize::from(fault)]
    }) {
        *seen.lock().unwrap().faults.entry(name).or_default() += 1;
    }
    match fault {
        Some(0) => return write(stream, "500 Internal Server Error", "{}").await,
        Some(1) => return write(stream, "429 Too Many Requests\r\nretry-after: 0", "{}").await,
        _ => {}
    }
    let result = {
        let mut seen = seen.lock().unwrap();
        let id = path.split('/').nth(3).unwrap_or_default().to_owned();
        if path == "/v1/files" {
            let text = String::from_utf8_lossy(body).into_owned();
            let file =
                text.split("application/jsonl\r\n\r\n").nth(1).unwrap().split("\r\n--").next().unwrap();
            seen.files.push(file.to_owned());
            json!({"id": format!("file-{}", seen.files.len() - 1)}).to_string()
        } else if path == "/v1/batches" {
            let asked: Value = serde_json::from_slice(body).unwrap();
            let file: usize = asked["input_file_id"].as_str().unwrap()[5..].parse().unwrap();
            let rows = seen.files[file].clone();
            let out: String = rows.lines().filter_map(|row| row_of(&mut seen, manner, row)).collect();
            seen.files.push(out);
            let (id, out) =
                (format!("batch-{}", seen.batches.len()), format!("file-{}", seen.files.len() - 1));
            let batch = json!({"id": id, "status": "in_progress", "metadata": asked["metadata"], "output_file_id": out});
            seen.batches.push(batch.clone());
            batch.to_string()
        } else if path.starts_with("/v1/batches?") {
            json!({"data": seen.batches}).to_string()
        } else if path.starts_with("/v1/files/") {
            seen.files[id[5..].parse::<usize>().unwrap()].clone()
        } else {
            let batch = seen.batches.iter_mut().find(|batch| batch["id"] == id).unwrap();
            let now = batch.to_string();
            batch["status"] = "completed".into();
            now
        }
    };
    if fault == Some(2) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{").await;
        return None;
    }
    write(stream, "200 OK\r\ncontent-type: application/json", &result).await
}

/// The line that answers one request of a batch; some get none.
fn row_of(seen: &mut Seen, manner: Manner, row: &str) -> Option<String> {
    let row: Value = serde_json::from_str(row).unwrap();
    let result = row["body"]["messages"][0]["content"].as_str().unwrap();
    let item: u64 = result.split_whitespace().last().unwrap().parse().unwrap();
    seen.requests += 1;
    seen.batched_again += u64::from(seen.batched.contains(&item));
    let faults = [
        "expired",
        "400 in a batch",
        "500 in a batch",
        "cut in a batch",
        "wrong usage in a batch",
        "states its cost in a batch",
        "thinks in a batch",
    ];
    let mut fault =
        (fastrand::u8(0..100) < manner.faults_percent).then(|| *fastrand::choice(&faults).unwrap());
    if row["body"]["max_tokens"].as_u64().is_none_or(|limit| limit > CUT) {
        fault = fault.filter(|fault| *fault != "cut in a batch");
    }
    if let Some(fault) = fault {
        *seen.faults.entry(fault).or_default() += 1;
    }
    let line = |response: Value| {
        let error = response.is_null().then(|| json!({"code": "batch_expired", "message": "expired"}));
        Some(format!("{}\n", json!({"custom_id": row["custom_id"], "response": response, "error": error})))
    };
    match fault {
        Some("expired") => return fastrand::bool().then(|| line(Value::Null))?,
        Some("400 in a batch") => {
            return line(json!({"status_code": 400, "body": {"error": {"message": "no"}}}));
        }
        Some("500 in a batch") => {
            return line(json!({"status_code": 500, "body": {"error": {"message": "down"}}}));
        }
        _ => {}
    }
    let (prompt, mut completion) = usage_of(item);
    let (mut text, mut finish) = (format!("answer {item}"), "stop");
    if fault == Some("cut in a batch") {
        (completion, text, finish) = (CUT, String::new(), "length");
    } else {
        seen.batched.insert(item);
    }
    seen.billed.0 += prompt;
    seen.billed.1 += completion;
    let mut usage = json!({"prompt_tokens": prompt, "completion_tokens": completion});
    match fault {
        Some("wrong usage in a batch") => usage = json!("many"),
        Some("states its cost in a batch") => {
            seen.beyond += FEE;
            usage["cost"] = json!(((prompt * PRICE.0 + completion * PRICE.1) as i64 + FEE) as f64 / 1e12);
        }
        Some("thinks in a batch") => text = format!("<think>answer {}?</think>{text}", item + 1),
        _ => {}
    }
    let choice =
        json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish});
    line(json!({"status_code": 200, "body": {"choices": [choice], "usage": usage}}))
}

/// A complete answer, in chunks if streaming is requested.
async fn whole(
    stream: &mut TcpStream,
    asked: &Value,
    message: &Value,
    finish: &str,
    usage: &Value,
) -> Option<()> {
    let answer =
        |choice: Value| json!({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage});
    if asked["stream"] != true {
        let good = answer(json!({"index": 0, "message": message, "finish_reason": finish}));
        return write(stream, "200 OK\r\ncontent-type: application/json", &good.to_string()).await;
    }
    let first = answer(json!({"index": 0, "delta": message}));
    let last = answer(json!({"index": 0, "delta": {}, "finish_reason": finish}));
    let events = format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    write(stream, "200 OK\r\ncontent-type: text/event-stream", &events).await
}

const FAULTS: &[&str] = &[
    "429 seconds",
    "429 date",
    "500",
    "400",
    "garbage",
    "half",
    "drip",
    "reset",
    "wrong usage",
    "wrong usage",
    "cut",
    "held back",
    "states its cost",
    "thinks",
];

async fn write(stream: &mut TcpStream, status: &str, body: &str) -> Option<()> {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.ok()
}
