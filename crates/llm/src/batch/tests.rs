//! Batches at every provider, with processes that end at every point.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::fake::{Kept, Kills};
use super::*;
use crate::http::Received;
use crate::settings::Provider;
use crate::wire;
use crate::{Ask, Endpoint, Limits, Message, Output, RequestContent, Role, cancel_lost, open_batches};

const PROVIDERS: [Provider; 4] = [Provider::Openai, Provider::Azure, Provider::Anthropic, Provider::Gemini];

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
        Bench::with(Provider::Openai)
    }

    fn with(provider: Provider) -> Bench {
        let mut endpoint = Endpoint { provider, ..Endpoint::new("e", "", "m") };
        (endpoint.usd_per_million_in, endpoint.usd_per_million_out) = (Some(1.0), Some(2.0));
        endpoint.batch = true;
        Bench { dir: tempfile::tempdir().unwrap(), kept: Arc::default(), endpoint, fails: "" }
    }

    fn store(&self) -> Arc<Store> {
        let replies = self.dir.path().join("raw/replies");
        Arc::new(Store::open(&replies, &self.dir.path().join("index.sqlite")).unwrap())
    }

    /// One run; `None` if it ended at a request.
    async fn run(&self, at: Option<(usize, bool)>) -> Option<Vec<Answer>> {
        let engine = self.engine(at);
        let run = engine.ask_all(["a", "b", "c", "b"].map(ask).into(), |_| {});
        tokio::time::timeout(Duration::from_millis(400), run).await.ok()
    }

    fn engine(&self, at: Option<(usize, bool)>) -> Engine {
        let (kept, provider) = (self.kept.clone(), self.endpoint.provider);
        let transport = Box::new(Kills { kept, provider, at, fails: self.fails });
        Engine::with_transport(self.store(), self.endpoint.clone(), Limits::default(), transport)
    }

    /// Asks new questions.
    async fn asks(&self, texts: &[&str]) -> Vec<Answer> {
        self.engine(None).ask_all(texts.iter().map(|text| ask(text)).collect(), |_| {}).await
    }

    fn open(&self) -> Vec<OpenBatch> {
        open_batches(self.store().dir()).unwrap()
    }

    fn requests(&self) -> usize {
        self.kept.lock().unwrap().requests
    }

    fn spent(&self) -> (i64, u64) {
        let (spent, attempts) = self.store().spent("endpoint:e").unwrap();
        (spent.in_picodollars(), attempts)
    }
}

fn ask(text: &str) -> Ask {
    let messages = vec![Message::new(Role::User, text)];
    let what = RequestContent::Chat { messages, output: Output::Text };
    Ask { template: "t".into(), what, ..Ask::for_embedding(text, "") }
}

fn texts(answers: &[Answer]) -> Vec<&str> {
    answers.iter().filter_map(|answer| Some(answer.reply()?.text.as_str())).collect()
}

fn held_reasons(answers: &[Answer]) -> Vec<&str> {
    let reasons = answers.iter().filter_map(|answer| match answer {
        Answer::Held(held) => Some(held.what.as_str()),
        _ => None,
    });
    reasons.collect()
}

#[tokio::test]
async fn a_batch_is_sent_by_one_run_and_fetched_by_another() {
    for provider in PROVIDERS {
        let bench = Bench::with(provider);
        let first = bench.run(None).await.unwrap();
        assert_eq!(held_reasons(&first).len(), 4, "{provider:?} {first:?}");
        assert!(
            held_reasons(&first)[0].starts_with("in a batch of llm.e since "),
            "{:?}",
            held_reasons(&first)
        );
        let far = held_reasons(&first)[0].to_owned();
        assert!(far.contains("0 of 3 answered); run again"), "{provider:?} {far}");
        assert!(bench.spent().0 > 3 * COST, "all of it is reserved");
        assert_eq!(bench.open()[0].requests, 3);
        let second = bench.run(None).await.unwrap();
        assert_eq!(texts(&second), ["re: a", "re: b", "re: c", "re: b"], "{provider:?}");
        assert_eq!(bench.spent(), (3 * COST, 3), "{provider:?}");
        let requests = bench.requests();
        assert_eq!(texts(&bench.run(None).await.unwrap()).len(), 4);
        assert_eq!(bench.requests(), requests, "what is stored is not looked for");
        assert_eq!(bench.open(), []);
        // Without batches nothing is asked again, and the store has everything.
        let offline = Bench { endpoint: Endpoint { batch: false, ..bench.endpoint.clone() }, ..bench };
        assert_eq!(texts(&offline.run(None).await.unwrap()).len(), 4);
        assert_eq!(offline.store().verify_segments().unwrap().findings, []);
    }
}

#[tokio::test]
async fn whatever_it_is_killed_at_nothing_is_asked_or_paid_twice() {
    for provider in PROVIDERS {
        // The number of requests of a whole batch: a run with more ends by itself.
        let whole = Bench::with(provider);
        whole.run(None).await.unwrap();
        whole.run(None).await.unwrap();
        for request in 1..=whole.requests() {
            for after in [false, true] {
                let bench = Bench::with(provider);
                let mut killed = 0;
                let mut answers = Vec::new();
                for _ in 0..6 {
                    match bench.run(Some((request, after))).await {
                        Some(given) => answers = given,
                        None => killed += 1,
                    }
                    if texts(&answers).len() == 4 {
                        break;
                    }
                }
                let case = format!("{provider:?} killed at request {request}, after it: {after}");
                assert_eq!(killed, 1, "{case}");
                assert_eq!(texts(&answers), ["re: a", "re: b", "re: c", "re: b"], "{case}");
                assert_eq!(bench.spent(), (3 * COST, 3), "{case}");
                let kept = bench.kept.lock().unwrap();
                assert_eq!(kept.batches.len(), 1, "{case}");
                assert!(kept.worked.len() == 3 && kept.worked.values().all(|times| *times == 1), "{case}");
            }
        }
    }
}

#[tokio::test]
async fn what_expires_in_a_batch_costs_nothing_and_is_asked_again() {
    for provider in PROVIDERS {
        let bench = Bench::with(provider);
        bench.asks(&["a", "late"]).await;
        let answers = bench.asks(&["a", "late"]).await;
        assert_eq!(texts(&answers), ["re: a"], "{provider:?}");
        assert!(held_reasons(&answers)[0].starts_with("in a batch"), "{provider:?} {answers:?}");
        assert_eq!((bench.open().len(), bench.open()[0].requests), (1, 1), "in a new one");
        let store = bench.store();
        assert_eq!(store.compute_stats().unwrap().failed_attempts, 1);
        assert_eq!(bench.spent().1, 3);
    }
}

#[tokio::test]
async fn a_batch_that_is_given_up_keeps_what_was_answered() {
    for provider in PROVIDERS {
        let bench = Bench::with(provider);
        bench.run(None).await.unwrap();
        let name = bench.open()[0].batch.clone();
        assert!(
            bench
                .engine(None)
                .cancel_batch("nothing")
                .await
                .unwrap_err()
                .to_string()
                .contains("replies batches")
        );
        let given_up = bench.engine(None).cancel_batch(&name).await.unwrap();
        assert_eq!(given_up, Cancelled::Over { answered: 2 }, "{provider:?}");
        assert_eq!((bench.spent(), bench.open()), ((2 * COST, 3), Vec::new()), "{provider:?}");
        assert_eq!(bench.kept.lock().unwrap().batches.len(), 1);
    }
}

#[tokio::test]
async fn a_batch_that_was_never_sent_is_given_up_for_nothing() {
    for provider in PROVIDERS {
        let bench = Bench::with(provider);
        // Killed before anything was sent.
        assert!(bench.run(Some((1, false))).await.is_none());
        let name = bench.open()[0].batch.clone();
        assert_eq!(
            bench.engine(None).cancel_batch(&name).await.unwrap(),
            Cancelled::NeverSent,
            "{provider:?}"
        );
        assert_eq!((bench.spent().0, bench.open()), (0, Vec::new()));
        // Or by switching batches off, which asks one by one: the connection without batches shows it.
        let mut bench = Bench::with(provider);
        assert!(bench.run(Some((1, false))).await.is_none());
        bench.endpoint.batch = false;
        let asked = tokio::spawn(async move { bench.run(None).await });
        assert!(asked.await.unwrap_err().is_panic(), "{provider:?}");
    }
}

#[tokio::test]
async fn a_batch_that_the_server_knows_no_more_waits_until_somebody_books_it() {
    for provider in PROVIDERS {
        let bench = Bench::with(provider);
        bench.run(None).await.unwrap();
        bench.kept.lock().unwrap().forgot = true;
        let (before, answers) = (bench.spent(), bench.run(None).await.unwrap());
        let name = bench.open()[0].batch.clone();
        let hint = format!(
            "which it no longer has (404 from e (no such batch)); riddlemill replies cancel {name} --lost"
        );
        assert!(held_reasons(&answers)[0].ends_with(&hint), "{:?}", held_reasons(&answers));
        assert!(bench.engine(None).cancel_batch(&name).await.unwrap_err().to_string().contains("--lost"));
        cancel_lost(&bench.store(), &name).await.unwrap();
        assert_eq!((bench.spent(), bench.open()), (before, Vec::new()), "it stays spent");
        bench.kept.lock().unwrap().forgot = false;
        bench.run(None).await.unwrap();
        assert_eq!((bench.open().len(), bench.kept.lock().unwrap().batches.len()), (1, 2), "{provider:?}");
    }
}

/// Answers that were cut off go into another batch, with the larger limit, at the price of batches.
#[tokio::test]
async fn what_was_cut_goes_into_another_batch() {
    for half in ["<think>so", "Half an ans"] {
        cut_goes_into_another_batch(half).await;
    }
}

async fn cut_goes_into_another_batch(half: &str) {
    let bench = Bench::new();
    let request = |limit: u32| {
        let mut request = Engine::request_of_ask(&bench.endpoint, &ask("a"));
        if let Input::Chat { sampling, .. } = &mut request.input {
            sampling.max_tokens = limit;
        }
        request
    };
    let cut = json!({"choices": [{"message": {"content": half}, "finish_reason": "length"}]}).to_string();
    let line = json!({"reply": {"key": request(1024).key(), "request": request(1024), "raw": cut,
        "charged_picousd": 0, "attempts": 1, "at_ms": 0, "elapsed_ms": 0}});
    let store = bench.store();
    tokio::task::spawn_blocking(move || store.import_replies(line.to_string().as_bytes()).unwrap())
        .await
        .unwrap();
    assert!(held_reasons(&bench.asks(&["a"]).await)[0].starts_with("in a batch"));
    assert_eq!(bench.kept.lock().unwrap().batches[0].asked[0].0, request(4096).key().to_string());
    let estimated = crate::estimate_stage(&bench.store(), &bench.endpoint, "s", &[ask("a")], None).unwrap();
    assert_eq!(estimated.requests, 0, "it is on its way");
    assert_eq!(texts(&bench.asks(&["a"]).await), ["re: a"]);
}

#[test]
fn batches_have_no_more_requests_and_bytes_than_are_taken() {
    let mut endpoint = Endpoint::new("e", "", "m");
    endpoint.sampling.max_tokens = 100;
    let of = |endpoint: &Endpoint, text: &str| {
        let request = Engine::request_of_ask(endpoint, &ask(text));
        let (output, template) = (Output::Text, String::new());
        Question { key: request.key(), request, output, accept_before: false, template }
    };
    let question = |text: &str| of(&endpoint, text);
    let sizes = |questions: &[Question]| -> Vec<usize> {
        let places: Vec<usize> = (0..questions.len()).collect();
        chunks(questions, &places).iter().map(|chunk| chunk.len()).collect()
    };
    let short: Vec<Question> = (0..ITEMS + 5).map(|_| question("a")).collect();
    assert_eq!(sizes(&short), [ITEMS, 5]);
    let half = "x".repeat(BYTES / 2);
    assert_eq!(sizes(&[question(&half), question(&half), question("a")]), [1, 2]);
    // A request that is too large alone is sent alone, and refused alone.
    assert_eq!(sizes(&[question("a"), question(&"x".repeat(BYTES * 2)), question("a")]), [1, 1, 1]);
    assert_eq!(sizes(&[]), [0; 0]);
    // Long answers need more batches.
    let mut thinks = endpoint.clone();
    thinks.sampling.max_tokens = 1 << 20;
    assert_eq!(sizes(&(0..70).map(|_| of(&thinks, "a")).collect::<Vec<_>>()), [31, 31, 8]);
}

/// Gemini may return its answers without keys, in the order of the requests.
#[tokio::test]
async fn answers_without_keys_are_those_of_the_requests_in_their_order() {
    let bench = Bench::new();
    bench.asks(&["a", "b"]).await;
    let [entry] = log::read_log(&log::open_log(bench.store().dir())).unwrap().open.try_into().unwrap();
    let line = |text: &str| {
        let body = json!({"choices": [{"message": {"content": text}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 20}});
        server::BatchResult {
            key: None,
            came: Ok(Received { status: 200, body: body.to_string(), ..Received::default() }),
        }
    };
    let engine = bench.engine(None);
    engine.record_answers(&entry, vec![line("one")], "too few to tell which").await.unwrap();
    assert_eq!(engine.store.compute_stats().unwrap().replies, 0);
    engine.record_answers(&entry, vec![line("one"), line("two")], "ended").await.unwrap();
    let text = |at: usize| {
        let raw = engine.store.get(&entry.items[at].key).unwrap().unwrap().raw;
        wire::parse_content(&entry.items[at].request, &raw, &Default::default()).unwrap().text
    };
    assert_eq!((text(0), text(1)), ("one".to_owned(), "two".to_owned()));
}

#[tokio::test]
async fn what_is_booked_is_not_booked_again() {
    let bench = Bench { fails: "b", ..Bench::new() };
    bench.run(None).await.unwrap();
    let log = log::open_log(bench.store().dir());
    let [sent] = log::read_log(&log).unwrap().open.try_into().unwrap();
    bench.run(None).await.unwrap();
    // As if the process had ended before it logged the end of the batch.
    log::add(&log, &BatchLogEntry { batch: "again".into(), ..sent }).unwrap();
    bench.kept.lock().unwrap().requests = 0;
    bench.asks(&["more"]).await;
    let open = log::read_log(&log).unwrap().open;
    assert!(bench.requests() > 0 && open.iter().all(|entry| entry.batch != "again"));
    assert_eq!(bench.spent().1, 3 + 1);
    assert_eq!(
        bench.store().compute_stats().unwrap().models.iter().map(|model| model.replies).sum::<u64>(),
        2
    );
}

#[tokio::test]
async fn an_estimate_leaves_out_what_is_on_its_way() {
    let bench = Bench::new();
    let asks = ["a", "d"].map(ask);
    let requests =
        || crate::estimate_stage(&bench.store(), &bench.endpoint, "s", &asks, None).unwrap().requests;
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
    for provider in PROVIDERS {
        let bench = Bench { fails: "b", ..Bench::with(provider) };
        bench.run(None).await.unwrap();
        let answers = bench.run(None).await.unwrap();
        assert_eq!(texts(&answers), ["re: a", "re: c"], "{provider:?}");
        let Answer::Failed(failed) = &answers[1] else { panic!("{answers:?}") };
        assert_eq!((failed.reason, failed.error.as_str()), (Reason::RequestRefused, "400 from e (no)"));
        assert_eq!(bench.spent(), (2 * COST, 3));
    }
}

/// What a setting mends is a failure with its cause, and is sent again by the next run.
#[tokio::test]
async fn a_refusal_of_a_parameter_within_a_batch_is_a_failure_with_its_cause() {
    let bench = Bench::new();
    bench.asks(&["a"]).await;
    let [entry] = log::read_log(&log::open_log(bench.store().dir())).unwrap().open.try_into().unwrap();
    let body = json!({"error": {"message": "max_tokens is too large", "param": "max_tokens"}});
    let key = Some(entry.items[0].key.to_string());
    let came = Ok(Received { status: 400, body: body.to_string(), ..Received::default() });
    let engine = bench.engine(None);
    let refused =
        engine.record_answers(&entry, vec![server::BatchResult { key, came }], "ended").await.unwrap();
    let [(key, failed)] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!((*key, failed.reason), (entry.items[0].key, Reason::RequestFailed));
    assert_eq!(failed.error, "400 from e (max_tokens is too large)");
    assert!(!engine.store.failed_for_good(key).unwrap());
}

/// Somebody else's workspace may hold a link in the place of the lock, which would be created where it leads.
#[cfg(unix)]
#[tokio::test]
async fn no_lock_is_taken_through_a_link() {
    let bench = Bench::new();
    let (replies, victim) = (bench.store().dir().to_owned(), bench.dir.path().join("victim"));
    std::os::unix::fs::symlink(&victim, replies.join("batches.lock")).unwrap();
    let error = cancel_lost(&bench.store(), "b").await.unwrap_err().to_string();
    assert!(error.contains("leads out of the workspace"), "{error}");
    assert!(texts(&bench.run(None).await.unwrap()).is_empty());
    assert!(!victim.exists() && bench.kept.lock().unwrap().batches.is_empty());
}

#[tokio::test]
async fn a_cap_holds_for_batches() {
    let mut bench = Bench::new();
    bench.endpoint.max_usd = Some(0.0022);
    let answers = bench.run(None).await.unwrap();
    let held_for = |reason| {
        let is = |answer: &&Answer| matches!(answer, Answer::Held(held_for) if held_for.reason == reason);
        answers.iter().filter(is).count()
    };
    assert_eq!((held_for(Reason::ReplyMissing), held_for(Reason::BudgetReached)), (1, 3), "{answers:?}");
}
