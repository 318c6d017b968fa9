//! Overhead of the engine against a server on loopback that takes 50 ms: wall time, CPU per request, store
//! hits per second. `cargo bench --bench llm`; CPU is read from /proc and thus only on Linux.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

#[path = "../tests/support/llm_server.rs"]
mod llm_server;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use riddlemill::llm::prompt::{Output, Rendered};
use riddlemill::llm::{Ask, Endpoint, Engine, Limits, Message, Role, Store};

const REQUESTS: u64 = 2_000;
const HITS: u64 = 20_000;
const IN_FLIGHT: usize = 64;
const SERVER_MS: u64 = 50;
const FIRST_STORED: u64 = 1_000_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if std::env::args().any(|argument| argument == "--server") {
        runtime.block_on(async {
            let manner = llm_server::Manner { delay: Duration::from_millis(SERVER_MS), faults_percent: 0 };
            let (port, _seen) = llm_server::serve(manner).await;
            println!("{port}");
            std::io::stdout().flush().unwrap();
            std::future::pending::<()>().await;
        });
    }
    // In a process of its own, so that its CPU is not counted here.
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("--server")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();

    let dir = tempfile::tempdir().unwrap();
    let open =
        || Arc::new(Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap());
    let mut endpoint = Endpoint::new("bench", &format!("http://127.0.0.1:{}/v1", port.trim()), "m");
    endpoint.usd_per_million_in = Some(0.15);
    endpoint.usd_per_million_out = Some(0.6);
    endpoint.max_usd = Some(1_000.0);
    endpoint.concurrency = IN_FLIGHT;

    let store = open();
    let engine = Engine::new(store.clone(), endpoint.clone(), Limits::default()).unwrap();
    runtime.block_on(engine.ask_all(asks(0..64), |_| {}));
    let (wall, cpu) = (Instant::now(), cpu());
    let answers = runtime.block_on(engine.ask_all(asks(64..64 + REQUESTS), |_| {}));
    let (wall, cpu) = (wall.elapsed(), self::cpu() - cpu);
    assert!(answers.iter().all(|answer| answer.reply().is_some()));
    let ideal = REQUESTS as f64 / IN_FLIGHT as f64 * SERVER_MS as f64 / 1e3;
    println!(
        "{REQUESTS} requests, {SERVER_MS} ms server, {IN_FLIGHT} in flight: {:.3} s, {:.2} of the ideal {ideal:.2} s; {:.3} ms of CPU a request",
        wall.as_secs_f64(),
        wall.as_secs_f64() / ideal,
        cpu.as_secs_f64() * 1e3 / REQUESTS as f64
    );

    let imported = store.import_replies(replies(&endpoint).as_slice()).unwrap();
    assert_eq!(imported.added, HITS);
    hits("in an open segment", &runtime, &engine);
    drop((engine, store));
    hits("in a sealed one", &runtime, &Engine::new(open(), endpoint, Limits::default()).unwrap());
    server.kill().unwrap();
    server.wait().unwrap();
}

fn hits(place: &str, runtime: &tokio::runtime::Runtime, engine: &Engine) {
    let mut asks = asks(FIRST_STORED..FIRST_STORED + HITS);
    fastrand::Rng::with_seed(7).shuffle(&mut asks);
    let wall = Instant::now();
    let answers = runtime.block_on(engine.ask_all(asks, |_| {}));
    let wall = wall.elapsed();
    assert!(answers.iter().all(|answer| answer.reply().is_some()));
    println!("{HITS} store hits {place}, in random order: {:.0} a second", HITS as f64 / wall.as_secs_f64());
}

/// Lines of another store with a reply to each of the items, about as long as real ones.
fn replies(endpoint: &Endpoint) -> Vec<u8> {
    let mut lines = Vec::new();
    for ask in asks(FIRST_STORED..FIRST_STORED + HITS) {
        let request = Engine::request_of_ask(endpoint, &ask);
        let content = "The fan is not muted by a key that mutes the loudspeakers. ".repeat(8);
        let raw = serde_json::json!({"choices": [{"message": {"role": "assistant", "content": content}}]})
            .to_string();
        let line = serde_json::json!({"reply": {"key": request.key(), "template": ask.template, "request": request, "raw": raw,
            "charged_picousd": 0, "attempts": 1, "at_ms": 0, "elapsed_ms": 0}});
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    lines
}

fn asks(items: std::ops::Range<u64>) -> Vec<Ask> {
    let filler = "Say in one sentence what is irrational about the question between the tags. ".repeat(10);
    let ask = |item: u64| {
        let messages = vec![Message::new(Role::User, format!("{filler}number {item}"))];
        let prompt = Rendered { template: "t".into(), hash: String::new(), messages, output: Output::Text };
        Ask::new(item.to_string(), prompt, 0)
    };
    items.map(ask).collect()
}

/// User and system time of this process, in the kernel's hundredths of a second.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}
