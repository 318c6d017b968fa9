//! A server of batches that is asked by processes which end at every point.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::*;
use crate::http::Errand;
use crate::{Ask, Call, Endpoint, Limits, Message, Output, Role, What};

/// What the server has, whoever asks.
#[derive(Default)]
struct Kept {
    files: BTreeMap<String, String>,
    batches: Vec<Value>,
    /// How often each request was worked for.
    worked: BTreeMap<String, u32>,
    errands: usize,
}

/// A connection to it, which ends the process at an errand: before it, or before its answer comes back.
struct Kills {
    kept: Arc<Mutex<Kept>>,
    at: Option<(usize, bool)>,
    /// Requests that hold this fail.
    fails: &'static str,
}

impl Transport for Kills {
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        panic!("asked one by one: {}", call.body)
    }

    fn run(&self, errand: Errand) -> BoxFuture<'_, Result<Received, Fault>> {
        Box::pin(async move {
            let count = {
                let mut kept = self.kept.lock().unwrap();
                kept.errands += 1;
                kept.errands
            };
            if self.at == Some((count, false)) {
                std::future::pending::<()>().await;
            }
            let body = self.kept.lock().unwrap().answer(&errand, self.fails);
            if self.at == Some((count, true)) {
                std::future::pending::<()>().await;
            }
            Ok(Received { status: 200, body, ..Received::default() })
        })
    }
}

impl Kept {
    fn answer(&mut self, errand: &Errand, fails: &str) -> String {
        match errand {
            Errand::Upload(_, lines) => {
                let id = format!("file-{}", self.files.len());
                self.files.insert(id.clone(), lines.clone());
                json!({"id": id}).to_string()
            }
            Errand::Post(_, body) => {
                let asked: Value = serde_json::from_str(body).unwrap();
                let lines = self.files[asked["input_file_id"].as_str().unwrap()].clone();
                let id = format!("batch-{}", self.batches.len());
                let mut out = String::new();
                for line in lines.lines() {
                    let line: Value = serde_json::from_str(line).unwrap();
                    let key = line["custom_id"].as_str().unwrap();
                    let text = line["body"]["messages"][0]["content"].as_str().unwrap();
                    let answer = json!({"choices": [{"message": {"content": format!("re: {text}")}}],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 20}});
                    let response = match text.contains(fails) && !fails.is_empty() {
                        true => json!({"status_code": 400, "body": {"error": {"message": "no"}}}),
                        false => json!({"status_code": 200, "body": answer}),
                    };
                    *self.worked.entry(key.to_owned()).or_default() += 1;
                    out.push_str(&format!("{}\n", json!({"custom_id": key, "response": response})));
                }
                self.files.insert(format!("out-{id}"), out);
                self.batches
                    .insert(0, json!({"id": id, "status": "in_progress", "metadata": asked["metadata"]}));
                self.batches[0].to_string()
            }
            Errand::Get(path) if path.starts_with("batches?") => json!({"data": self.batches}).to_string(),
            Errand::Get(path) if path.starts_with("batches/") => {
                let id = path.strip_prefix("batches/").unwrap();
                let batch = self.batches.iter_mut().find(|batch| batch["id"] == id).unwrap();
                let now = batch.to_string();
                // It has ended when it is looked at the next time.
                batch["status"] = json!("completed");
                batch["output_file_id"] = json!(format!("out-{id}"));
                now
            }
            Errand::Get(path) => self.files[path.split('/').nth(1).unwrap()].clone(),
        }
    }
}

/// 10 prompt tokens at $1 and 20 completion tokens at $2 a million.
const COST: i64 = 10 * 1_000_000 + 20 * 2_000_000;

struct Bench {
    dir: tempfile::TempDir,
    kept: Arc<Mutex<Kept>>,
    endpoint: Endpoint,
    fails: &'static str,
}

impl Bench {
    fn new() -> Bench {
        let mut endpoint = Endpoint::new("e", "", "m");
        (endpoint.usd_per_million_in, endpoint.usd_per_million_out) = (Some(1.0), Some(2.0));
        endpoint.batch = true;
        Bench { dir: tempfile::tempdir().unwrap(), kept: Arc::default(), endpoint, fails: "" }
    }

    fn store(&self) -> Arc<Store> {
        let replies = self.dir.path().join("raw/replies");
        Arc::new(Store::open(&replies, &self.dir.path().join("index.sqlite")).unwrap())
    }

    /// One run; `None` where it ended at an errand.
    async fn run(&self, at: Option<(usize, bool)>) -> Option<Vec<Answer>> {
        let transport = Box::new(Kills { kept: self.kept.clone(), at, fails: self.fails });
        let engine =
            Engine::with_transport(self.store(), self.endpoint.clone(), Limits::default(), transport);
        let run = engine.ask_all(["a", "b", "c", "b"].map(ask).into(), |_| {});
        tokio::time::timeout(Duration::from_millis(400), run).await.ok()
    }

    /// Asks for what is nowhere yet.
    async fn endpoint_asks_more(&self) {
        let transport = Box::new(Kills { kept: self.kept.clone(), at: None, fails: "" });
        let engine =
            Engine::with_transport(self.store(), self.endpoint.clone(), Limits::default(), transport);
        engine.ask_all(vec![ask("more")], |_| {}).await;
    }

    fn errands(&self) -> usize {
        self.kept.lock().unwrap().errands
    }

    fn spent(&self) -> (i64, u64) {
        let (spent, attempts) = self.store().spent("endpoint:e").unwrap();
        (spent.pico(), attempts)
    }
}

fn ask(text: &str) -> Ask {
    let messages = vec![Message::new(Role::User, text)];
    let what = What::Chat { messages, output: Output::Text };
    Ask { template: "t".into(), what, ..Ask::embedding(text, "") }
}

fn texts(answers: &[Answer]) -> Vec<&str> {
    answers.iter().filter_map(|answer| Some(answer.reply()?.text.as_str())).collect()
}

#[tokio::test]
async fn a_batch_is_sent_by_one_run_and_fetched_by_another() {
    let bench = Bench::new();
    let first = bench.run(None).await.unwrap();
    for answer in &first {
        let Answer::Held(held) = answer else { panic!("{answer:?}") };
        assert!(held.what.starts_with("in a batch of llm.e since "), "{}", held.what);
    }
    assert!(bench.spent().0 > 3 * COST, "all of it is reserved");
    let second = bench.run(None).await.unwrap();
    assert_eq!(texts(&second), ["re: a", "re: b", "re: c", "re: b"]);
    assert_eq!(bench.spent(), (3 * COST, 3));
    let errands = bench.errands();
    assert_eq!(texts(&bench.run(None).await.unwrap()).len(), 4);
    assert_eq!(bench.errands(), errands, "what is stored is not looked for");
    // Without batches nothing of it is asked again, and the store has it all.
    let offline = Bench { endpoint: Endpoint { batch: false, ..bench.endpoint.clone() }, ..bench };
    assert_eq!(texts(&offline.run(None).await.unwrap()).len(), 4);
    assert_eq!(offline.store().verify().unwrap().findings, []);
}

#[tokio::test]
async fn whatever_it_is_killed_at_nothing_is_asked_or_paid_twice() {
    // So many errands has a batch from its beginning to its end: a run after them ends of itself.
    for errand in 1..=6 {
        for after in [false, true] {
            let bench = Bench::new();
            let mut killed = 0;
            let mut answers = Vec::new();
            for _ in 0..6 {
                match bench.run(Some((errand, after))).await {
                    Some(given) => answers = given,
                    None => killed += 1,
                }
                if texts(&answers).len() == 4 {
                    break;
                }
            }
            let told = format!("killed at errand {errand}, after it: {after}");
            assert_eq!(killed, 1, "{told}");
            assert_eq!(texts(&answers), ["re: a", "re: b", "re: c", "re: b"], "{told}");
            assert_eq!(bench.spent(), (3 * COST, 3), "{told}");
            let kept = bench.kept.lock().unwrap();
            assert_eq!(kept.batches.len(), 1, "{told}");
            assert!(kept.worked.len() == 3 && kept.worked.values().all(|times| *times == 1), "{told}");
        }
    }
}

#[tokio::test]
async fn what_is_booked_is_not_booked_again() {
    let bench = Bench { fails: "b", ..Bench::new() };
    bench.run(None).await.unwrap();
    let log = log::of(bench.store().dir());
    let [sent] = log::open(&log).unwrap().try_into().unwrap();
    bench.run(None).await.unwrap();
    // As if the process had ended before it wrote down that the batch is over.
    log::add(&log, &Entry { batch: "again".into(), ..sent }).unwrap();
    bench.kept.lock().unwrap().errands = 0;
    bench.endpoint_asks_more().await;
    assert!(bench.errands() > 0 && log::open(&log).unwrap().iter().all(|entry| entry.batch != "again"));
    assert_eq!(bench.spent().1, 3 + 1);
    assert_eq!(bench.store().stats().unwrap().models.iter().map(|model| model.replies).sum::<u64>(), 2);
}

#[tokio::test]
async fn an_estimate_leaves_out_what_is_on_its_way() {
    let bench = Bench::new();
    let asks = ["a", "d"].map(ask);
    let requests = || crate::estimate(&bench.store(), &bench.endpoint, "s", &asks, None).unwrap().requests;
    assert_eq!(requests(), 2);
    bench.run(None).await.unwrap();
    assert_eq!(requests(), 1);
}

#[tokio::test]
async fn what_is_on_its_way_is_not_asked_without_a_batch() {
    let mut bench = Bench::new();
    bench.run(None).await.unwrap();
    bench.endpoint.batch = false;
    assert_eq!(texts(&bench.run(None).await.unwrap()).len(), 4);
    assert_eq!(bench.kept.lock().unwrap().batches.len(), 1);
}

#[tokio::test]
async fn a_refusal_within_a_batch_is_a_refusal_and_is_not_charged() {
    let bench = Bench { fails: "b", ..Bench::new() };
    bench.run(None).await.unwrap();
    let answers = bench.run(None).await.unwrap();
    assert_eq!(texts(&answers), ["re: a", "re: c"]);
    let Answer::Failed(failed) = &answers[1] else { panic!("{answers:?}") };
    assert_eq!((failed.reason, failed.error.as_str()), (Reason::RequestRefused, "400 from e (no)"));
    assert_eq!(bench.spent(), (2 * COST, 3));
}

#[tokio::test]
async fn a_cap_holds_for_batches() {
    let mut bench = Bench::new();
    bench.endpoint.max_usd = Some(0.0022);
    let answers = bench.run(None).await.unwrap();
    let held = |reason| {
        let is = |answer: &&Answer| matches!(answer, Answer::Held(held) if held.reason == reason);
        answers.iter().filter(is).count()
    };
    assert_eq!((held(Reason::ReplyMissing), held(Reason::BudgetReached)), (1, 3), "{answers:?}");
}
