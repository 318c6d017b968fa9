//! A server that fails in every way, a client that is killed repeatedly: nothing paid for is lost, no cap is
//! exceeded, every item ends with a reply or a reason, and the key is stored nowhere.
//!
//! `RIDDLEMILL_FAULT_REQUESTS` sets the number of items (400; the figures of the README are for 10,000 in release).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

#[path = "support/llm_server.rs"]
mod llm_server;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use llm_server::{CUT, Manner, PRICE, serve, usage_of};
use riddlemill::llm::prompt::{Output, Rendered};
use riddlemill::llm::settings::{Retries, Sampling, Timeouts};
use riddlemill::llm::store::SegmentLine;
use riddlemill::llm::{Answer, Ask, Endpoint, Engine, Limits, Message, Role, Store, Usd};
use riddlemill::trust::Trust;

const WORKER: &str = "RIDDLEMILL_FAULT_WORKER";
/// Set if the worker sends requests that are never answered.
const WAITS: &str = "RIDDLEMILL_FAULT_WAITS";
/// One item in this many is sent in batches, and one requires a certain form of answer.
const BATCHED: u64 = 4;
const STRUCTURED: u64 = 5;
const KEY_ENV: &str = "RIDDLEMILL_FAULT_KEY";
const KEY: &str = "sk-never-to-be-seen-8d1f";
const CONCURRENCY: usize = 64;

fn items() -> u64 {
    std::env::var("RIDDLEMILL_FAULT_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

fn endpoint(port: u16) -> Endpoint {
    let mut endpoint = Endpoint::new("faulty", &format!("http://127.0.0.1:{port}/v1"), "m");
    endpoint.key_env = Some(KEY_ENV.into());
    endpoint.usd_per_million_in = Some(PRICE.0 as f64 / 1e6);
    endpoint.usd_per_million_out = Some(PRICE.1 as f64 / 1e6);
    endpoint.max_usd = Some(cap().in_dollars());
    endpoint.concurrency = CONCURRENCY;
    endpoint.sampling = Sampling { max_tokens: CUT as u32, ..Sampling::default() };
    endpoint.max_tokens_ceiling = Some(2 * CUT as u32);
    endpoint.structured = true;
    // Not part of a key: replies received by streaming are found without it, too.
    endpoint.stream = std::process::id().is_multiple_of(2);
    endpoint.timeouts =
        Timeouts { connect_secs: 5.0, idle_secs: 5.0, total_secs: 2.0, ..Timeouts::default() };
    endpoint.retries =
        Retries { max_attempts: 8, first_wait_secs: 0.02, max_wait_secs: 0.2, ..Retries::default() };
    endpoint
}

/// About the cost of the items with a third of the attempts failing, plus what eight kills lose in flight:
/// reached in some runs, exceeded in none.
fn cap() -> Usd {
    Usd::from_dollars(items() as f64 * 0.012 + 16.0)
}

fn asks() -> Vec<Ask> {
    let schema = serde_json::json!({"type": "object", "properties": {"answer": {"type": "string"}},
        "required": ["answer"], "additionalProperties": false});
    let schema = Arc::new(schema);
    let ask = |item: u64| {
        let messages = vec![Message::new(Role::User, format!("say something about number {item}"))];
        let output = if item.is_multiple_of(STRUCTURED) { Output::Json } else { Output::Text };
        let prompt = Rendered { template: "t".into(), hash: String::new(), messages, output };
        Ask { schema: Some(schema.clone()), ..Ask::new(item.to_string(), prompt, 0) }
    };
    (0..items()).map(ask).collect()
}

fn open(workspace: &Path) -> Arc<Store> {
    Arc::new(Store::open(&workspace.join("raw/replies"), &workspace.join("index/replies.sqlite")).unwrap())
}

/// The process that is killed: does nothing unless started by the other test.
#[test]
fn worker() {
    let Ok(job) = std::env::var(WORKER) else { return };
    let (port, workspace) = job.split_once(' ').unwrap();
    let workspace = PathBuf::from(workspace);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let answers = runtime.block_on(async {
        let (store, endpoint) = (open(&workspace), endpoint(port.parse().unwrap()));
        if std::env::var_os(WAITS).is_some() {
            let timeouts = Timeouts { first_byte_secs: 600.0, total_secs: 600.0, ..endpoint.timeouts };
            let limits = limits(&workspace, &endpoint);
            let engine = Engine::new(store, Endpoint { timeouts, ..endpoint }, limits).unwrap();
            return engine.ask_all(asks(), |_| {}).await;
        }
        let batches = Endpoint { batch: true, ..endpoint.clone() };
        let limits = limits(&workspace, &endpoint);
        let alone = Engine::new(store.clone(), endpoint, limits.clone()).unwrap();
        let batches = Engine::new(store, batches, limits).unwrap();
        let (together, others) = asks()
            .into_iter()
            .partition(|ask: &Ask| ask.record.parse::<u64>().unwrap().is_multiple_of(BATCHED));
        let (mut answers, batched) =
            tokio::join!(alone.ask_all(others, |_| {}), in_batches(&batches, together));
        answers.extend(batched);
        answers
    });
    let lines: Vec<String> = answers.iter().map(|answer| format!("{answer:?}\n")).collect();
    fs::write(workspace.join("answers.txt"), lines.concat()).unwrap();
    let count = |test: fn(&Answer) -> bool| answers.iter().filter(|answer| test(answer)).count();
    let replies = count(|answer| matches!(answer, Answer::Reply(_)));
    let failed = count(|answer| matches!(answer, Answer::Failed(failed) if !failed.error.is_empty()));
    let held = count(|answer| matches!(answer, Answer::Held(_)));
    let counts = format!("{replies} {failed} {held}");
    fs::write(workspace.join(format!("counts-{}.txt", std::process::id())), &counts).unwrap();
    fs::write(workspace.join("counts.txt"), counts).unwrap();
}

/// Somebody agreed that the key goes to the server.
fn limits(workspace: &Path, endpoint: &Endpoint) -> Limits {
    let word = endpoint.needed_wish().map(|wish| wish.trust_word());
    Limits { trust: Trust::for_workspace(workspace, word), ..Limits::default() }
}

/// Asks until nothing is pending.
async fn in_batches(engine: &Engine, asks: Vec<Ask>) -> Vec<Answer> {
    loop {
        let answers = engine.ask_all(asks.clone(), |_| {}).await;
        let waits =
            |answer: &Answer| matches!(answer, Answer::Held(held) if held.what.starts_with("in a batch"));
        if !answers.iter().any(waits) {
            return answers;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn start(port: u16, workspace: &Path) -> std::process::Child {
    start_with(port, workspace, &[])
}

fn start_with(port: u16, workspace: &Path, more: &[(&str, &str)]) -> std::process::Child {
    let log = fs::File::options().create(true).append(true).open(workspace.join("worker.log")).unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["worker", "--exact", "--nocapture"])
        .env(WORKER, format!("{port} {}", workspace.display()))
        .env(KEY_ENV, KEY)
        .envs(more.iter().copied())
        .stdout(Stdio::from(log.try_clone().unwrap()))
        .stderr(Stdio::from(log))
        .spawn()
        .unwrap()
}

fn counts(workspace: &Path) -> [u64; 3] {
    counts_in(&workspace.join("counts.txt"))
}

fn counts_in(path: &Path) -> [u64; 3] {
    let text = fs::read_to_string(path).unwrap();
    let counts: Vec<u64> = text.split(' ').map(|n| n.parse().unwrap()).collect();
    counts.try_into().unwrap()
}

#[test]
fn kills_and_faults_lose_nothing_and_pass_no_cap() {
    if std::env::var(WORKER).is_ok() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let workspace = dir.path();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let manner = Manner { delay: Duration::from_millis(20), faults_percent: 30 };
    let (port, seen) = runtime.block_on(serve(manner));

    let mut kills = 0;
    let begun = Instant::now();
    loop {
        let requests_before = {
            let mut seen = seen.lock().unwrap();
            seen.client = kills;
            seen.requests
        };
        let mut worker = start(port, workspace);
        // Killed after some share of the items was asked, until that share is no longer reached.
        let share = items() / 10 + fastrand::u64(0..items() / 8);
        let ended = loop {
            if let Some(status) = worker.try_wait().unwrap() {
                assert!(status.success(), "{}", fs::read_to_string(workspace.join("worker.log")).unwrap());
                break true;
            }
            if seen.lock().unwrap().requests - requests_before > share && kills < 8 {
                worker.kill().unwrap();
                worker.wait().unwrap();
                break false;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        if ended {
            break;
        }
        kills += 1;
    }
    let worst_resends = seen.lock().unwrap().resent.values().map(BTreeSet::len).max().unwrap_or_default();
    let [replies, failed, held] = counts(workspace);
    let store = open(workspace);
    let (ours, attempts) = store.spent("endpoint:faulty").unwrap();
    let price = endpoint(port).token_price().unwrap();
    let (requests, server_bill, faults) = {
        let seen = seen.lock().unwrap();
        let bill = price.cost_of_tokens(seen.billed.0, seen.billed.1) + Usd::from_pico(seen.beyond);
        (seen.requests, bill, seen.faults.clone())
    };
    eprintln!(
        "{} items: {replies} replies, {failed} failed, {held} held; {kills} kills, {requests} requests, {attempts} attempts, at most {worst_resends} answered items asked again after a kill; server {server_bill}, ours {ours}, cap {}; {:?}; {faults:?}",
        items(),
        cap(),
        begun.elapsed()
    );
    assert!(kills > 2, "the run must be killed to say anything");
    assert_eq!(replies + failed + held, items(), "every item ends with a reply or a reason");
    // What a batch reserves is out of reach until its answers are fetched, and no request waits a day for that. A
    // request may cost 5 cents.
    let reserved = Usd::from_dollars(0.05 * (1 + items() / BATCHED) as f64);
    let answers = fs::read_to_string(workspace.join("answers.txt")).unwrap();
    let other =
        answers.lines().find(|line| line.starts_with("Held") && !line.contains("reason: BudgetReached"));
    assert_eq!(other, None, "nothing is held for another reason than money");
    assert!(held == 0 || ours + reserved > cap(), "nothing is held while there is money");
    assert!(requests <= attempts, "nothing is sent that is not journalled");
    let again = seen.lock().unwrap().batched_again;
    assert_eq!(again, 0, "items that a batch had answered were asked again");
    assert!(server_bill <= ours && ours <= cap(), "server {server_bill}, ours {ours}, cap {}", cap());
    assert!(worst_resends <= CONCURRENCY, "{worst_resends} answered items were asked again after one kill");
    assert_eq!(store.verify_segments().unwrap().findings, []);

    let mut exported = Vec::new();
    store.export_replies(&mut exported).unwrap();
    let (mut kept, mut cut) = (0, 0);
    for line in String::from_utf8(exported).unwrap().lines() {
        let Ok(SegmentLine::Reply(reply)) = serde_json::from_str(line) else { panic!("{line}") };
        let text = reply.request.message_texts().next().unwrap().to_owned();
        let item: u64 = text.split_whitespace().last().unwrap().parse().unwrap();
        let raw: serde_json::Value = serde_json::from_str(&reply.raw).unwrap();
        let is_cut = raw["choices"][0]["finish_reason"] == "length";
        if let Some(usage) = reply.usage {
            let (prompt, completion) = usage_of(item);
            let completion = if is_cut { CUT } else { completion };
            assert_eq!((usage.prompt_tokens, usage.completion_tokens), (prompt, completion));
            let stated = raw["usage"]["cost"].as_f64().map_or(Usd::ZERO, Usd::from_dollars);
            let cost = price.cost_of_tokens(usage.prompt_tokens, usage.completion_tokens).max(stated);
            assert_eq!(reply.charged_picousd, cost);
        }
        if is_cut {
            // Kept, and requested once more with a larger limit, under its own key.
            cut += 1;
            continue;
        }
        assert!(reply.raw.contains(&format!("answer {item}")));
        kept += 1;
    }
    assert_eq!(kept, replies);
    let cuts = ["cut", "cut in a batch"].iter().filter_map(|fault| faults.get(fault)).sum::<u64>();
    assert!(cut > 0 && cut <= cuts, "{cut} of {faults:?}");
    drop(store);

    // Again: stored replies are not requested, only failed or held ones.
    let before = seen.lock().unwrap().requests;
    assert!(start(port, workspace).wait().unwrap().success());
    let asked = seen.lock().unwrap().requests - before;
    assert!(asked <= (failed + held) * 8, "{asked} requests for {failed} failed and {held} held items");
    assert!(counts(workspace)[0] >= replies);

    no_key_in(workspace);
}

/// Two processes use one store at once: each gets every reply, and none is paid twice.
#[test]
fn two_at_once_pay_for_no_reply_twice() {
    if std::env::var(WORKER).is_ok() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let workspace = dir.path();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let manner = Manner { delay: Duration::from_millis(20), faults_percent: 0 };
    let (port, seen) = runtime.block_on(serve(manner));
    let workers = [start(port, workspace), start(port, workspace)];
    for mut worker in workers {
        let status = worker.wait().unwrap();
        assert!(status.success(), "{}", fs::read_to_string(workspace.join("worker.log")).unwrap());
        let counts = counts_in(&workspace.join(format!("counts-{}.txt", worker.id())));
        assert_eq!(counts, [items(), 0, 0], "each process has every reply");
    }
    let store = open(workspace);
    let (ours, attempts) = store.spent("endpoint:faulty").unwrap();
    let (requests, billed) = {
        let seen = seen.lock().unwrap();
        (seen.requests, seen.billed)
    };
    let mut times: BTreeMap<u64, u32> = BTreeMap::new();
    seen.lock().unwrap().asked.iter().for_each(|item| *times.entry(*item).or_default() += 1);
    let more: Vec<(u64, u32)> = times.into_iter().filter(|(_, times)| *times > 1).collect();
    assert_eq!((requests, attempts), (items(), items()), "one request an item: {more:?}");
    assert_eq!(ours, endpoint(port).token_price().unwrap().cost_of_tokens(billed.0, billed.1));
    assert_eq!(store.verify_segments().unwrap().findings, []);
}

/// A killed process has journalled attempts ahead of the slots that they wait for: the requests that the
/// server received are charged, to the item, and nothing else.
#[test]
fn what_a_killed_process_had_not_sent_is_not_charged() {
    if std::env::var(WORKER).is_ok() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let workspace = dir.path().join("killed");
    fs::create_dir(&workspace).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let manner = Manner { delay: Duration::from_secs(3600), faults_percent: 0 };
    let (port, seen) = runtime.block_on(serve(manner));
    let mut worker = start_with(port, &workspace, &[(WAITS, "1")]);
    let begun = Instant::now();
    while seen.lock().unwrap().requests < CONCURRENCY as u64 {
        assert!(begun.elapsed() < Duration::from_secs(60) && worker.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    // Attempts that wait for a slot are journalled meanwhile.
    std::thread::sleep(Duration::from_millis(500));
    worker.kill().unwrap();
    worker.wait().unwrap();

    let journal = fs::read_to_string(workspace.join("raw/replies/000001.jsonl")).unwrap();
    let reserved: BTreeMap<String, Usd> = journal
        .lines()
        .map_while(|line| match serde_json::from_str(line) {
            Ok(SegmentLine::Attempt(attempt)) => Some((attempt.key.to_string(), attempt.reserved_picousd)),
            _ => None,
        })
        .collect();
    let key = |ask: &Ask| Engine::request_of_ask(&endpoint(port), ask).key().to_string();
    let keys: Vec<String> = asks().iter().map(key).collect();
    let asked: Vec<u64> = seen.lock().unwrap().asked.clone();
    let charged: Usd = asked.iter().map(|&item| reserved[&keys[item as usize]]).sum();
    assert_eq!(asked.len(), CONCURRENCY);
    assert!(reserved.len() > CONCURRENCY, "{} attempts were journalled ahead", reserved.len());

    // Without the marks, or with those of another boot of the machine, it is unknown: all of it is charged.
    let marks = "index/replies.000001.sent";
    let all: Usd = reserved.values().copied().sum();
    for other in [None, Some("another start of the machine")] {
        let copy = dir.path().join("copy");
        copy_dir(&workspace, &copy);
        match other {
            None => fs::remove_file(copy.join(marks)).unwrap(),
            Some(other) => {
                let mut bytes = fs::read(copy.join(marks)).unwrap();
                bytes[..other.len()].copy_from_slice(other.as_bytes());
                fs::write(copy.join(marks), bytes).unwrap();
            }
        }
        assert_eq!(open(&copy).spent("endpoint:faulty").unwrap(), (all, reserved.len() as u64));
        fs::remove_dir_all(copy).unwrap();
    }

    let store = open(&workspace);
    assert_eq!(store.spent("endpoint:faulty").unwrap(), (charged, reserved.len() as u64));
    let stats = store.compute_stats().unwrap();
    let unsent = (reserved.len() - CONCURRENCY) as u64;
    assert_eq!((stats.open_attempts, stats.failed_attempts), (CONCURRENCY as u64, unsent));
    assert_eq!(store.verify_segments().unwrap().findings, []);
    assert!(!workspace.join(marks).exists());
    drop(store);
    // From the segments alone the result is the same.
    fs::remove_dir_all(workspace.join("index")).unwrap();
    assert_eq!(open(&workspace).spent("endpoint:faulty").unwrap(), (charged, reserved.len() as u64));
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy_dir(&entry.path(), &to.join(entry.file_name())),
            false => _ = fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

/// No file contains the key, in any encoding.
fn no_key_in(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_key_in(&path);
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "zst") {
            bytes = zstd::decode_all(bytes.as_slice()).unwrap();
        }
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "the key stands in {}", path.display());
    }
}
