//! The engine against a scripted transport, on paused time where time matters.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::time::Instant;

use super::parse::{self, Unreadable};
use super::settings::{Provider, Retries, Sampling};
use super::*;
use riddlemill_record::Reason;

/// The scripted reactions to a question that contains `word`; the last step repeats.
type Script = Vec<(&'static str, VecDeque<Step>)>;

#[derive(Clone)]
enum Step {
    Say(&'static str),
    Status(u16, Option<u64>),
    Fault(Kind),
    Raw(&'static str),
}

#[derive(Default)]
struct Scripted {
    script: Mutex<Script>,
    log: Arc<Mutex<Vec<(Duration, String)>>>,
    started: Option<Instant>,
    takes: Duration,
}

impl Transport for Scripted {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        Box::pin(async move {
            let at = self.started.map_or(Duration::ZERO, |started| started.elapsed());
            self.log.lock().unwrap().push((at, call.body.clone()));
            tokio::time::sleep(self.takes).await;
            let step = {
                let mut script = self.script.lock().unwrap();
                let steps =
                    script.iter_mut().find(|(word, _)| call.body.contains(word)).map(|(_, steps)| steps);
                steps.and_then(
                    |steps| if steps.len() > 1 { steps.pop_front() } else { steps.front().cloned() },
                )
            };
            let body = |text: &str| {
                json!({"choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 10, "completion_tokens": 20}}).to_string()
            };
            let received = |status, body, secs: Option<u64>| {
                Ok(Received {
                    status,
                    body,
                    asked_wait: secs.map(Duration::from_secs),
                    ..Received::default()
                })
            };
            match step.unwrap_or(Step::Say("fine")) {
                Step::Say(text) => received(200, body(text), None),
                Step::Status(status, secs) => received(status, "{\"error\": {}}".into(), secs),
                Step::Fault(kind) => Err(Fault::new(kind)),
                Step::Raw(raw) => received(200, raw.into(), None),
            }
        })
    }
}

struct Bench {
    _dir: tempfile::TempDir,
    store: Arc<Store>,
    endpoint: Endpoint,
    limits: Limits,
    log: Arc<Mutex<Vec<(Duration, String)>>>,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
        let mut endpoint = Endpoint::new("e", "http://127.0.0.1:1/v1", "m");
        endpoint.usd_per_million_in = Some(1.0);
        endpoint.usd_per_million_out = Some(2.0);
        endpoint.sampling = Sampling { max_tokens: 50, ..Sampling::default() };
        Bench { _dir: dir, store: Arc::new(store), endpoint, limits: Limits::default(), log: Arc::default() }
    }

    fn engine(&self, script: Vec<(&'static str, Vec<Step>)>) -> Engine {
        self.slow_engine(script, Duration::ZERO)
    }

    fn slow_engine(&self, script: Vec<(&'static str, Vec<Step>)>, takes: Duration) -> Engine {
        let script = script.into_iter().map(|(word, steps)| (word, steps.into())).collect();
        let transport = Scripted {
            script: Mutex::new(script),
            log: self.log.clone(),
            started: Some(Instant::now()),
            takes,
        };
        Engine::with_transport(
            self.store.clone(),
            self.endpoint.clone(),
            self.limits.clone(),
            Box::new(transport),
        )
    }

    fn sent(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    fn times(&self) -> Vec<f64> {
        self.log.lock().unwrap().iter().map(|(at, _)| at.as_secs_f64()).collect()
    }

    fn spent(&self) -> i64 {
        self.store.spent("endpoint:e").unwrap().0.in_picodollars()
    }
}

/// 10 prompt tokens at $1 and 20 completion tokens at $2 a million.
const COST: i64 = 10 * 1_000_000 + 20 * 2_000_000;

fn ask(text: &str) -> Ask {
    let messages = vec![Message::new(Role::User, text)];
    let what = RequestContent::Chat { messages, output: Output::Text };
    Ask { record: text.to_owned(), template: "t".into(), what, sample: 0, reask: 0, text: None, schema: None }
}

fn asks(texts: &[&str]) -> Vec<Ask> {
    texts.iter().map(|text| ask(text)).collect()
}

async fn all(engine: &Engine, texts: &[&str]) -> Vec<Answer> {
    engine.ask_all(asks(texts), |_| {}).await
}

fn reason(answer: &Answer) -> Option<Reason> {
    match answer {
        Answer::Reply(_) => None,
        Answer::Held(held) => Some(held.reason),
        Answer::Failed(failed) => Some(failed.reason),
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_is_never_asked_again() {
    let bench = Bench::new();
    let first = all(&bench.engine(vec![]), &["a", "b", "a"]).await;
    assert_eq!(bench.sent(), 2);
    assert_eq!(first[0], first[2]);
    assert_eq!(bench.spent(), 2 * COST);
    let second = all(&bench.engine(vec![]), &["a", "b", "a"]).await;
    assert_eq!((bench.sent(), &second), (2, &first));
    all(&bench.engine(vec![]), &["a", "another b"]).await;
    assert_eq!(bench.sent(), 3);
    assert_eq!(bench.store.verify_segments().unwrap().findings, []);
}

#[tokio::test(start_paused = true)]
async fn another_model_behind_the_same_url_is_asked_anew_and_a_moved_one_is_not() {
    let mut bench = Bench::new();
    bench.endpoint.identity = Some("judge-1".into());
    all(&bench.engine(vec![]), &["a"]).await;
    bench.endpoint.base_url = "http://elsewhere/v1".into();
    all(&bench.engine(vec![]), &["a"]).await;
    assert_eq!(bench.sent(), 1);
    bench.endpoint.identity = Some("judge-2".into());
    all(&bench.engine(vec![]), &["a"]).await;
    assert_eq!(bench.sent(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_failure_touches_no_other_item_and_is_asked_again_where_that_may_help() {
    let mut bench = Bench::new();
    let script = || vec![("bad", vec![Step::Status(400, None)]), ("dead", vec![Step::Status(500, None)])];
    let answers = all(&bench.engine(script()), &["a", "bad", "dead", "b"]).await;
    let reasons: Vec<_> = answers.iter().map(reason).collect();
    assert_eq!(reasons, [None, Some(Reason::RequestRefused), Some(Reason::RequestFailed), None]);
    // 400 once, 500 as often as allowed.
    assert_eq!(bench.sent(), 2 + 1 + 6);
    // The refusal cost nothing; whether the server worked for a 500 is unknown.
    let reserved = bench.store.compute_stats().unwrap().budgets[0].1.in_picodollars() - 2 * COST;
    assert!(reserved > 0 && reserved % 6 == 0, "{reserved}");
    // A refusal of the content is remembered, with its message, and asked again on demand.
    let later = all(&bench.engine(script()), &["a", "bad"]).await;
    assert_eq!((bench.sent(), &later[1]), (9, &answers[1]));
    all(&bench.engine(script()), &["dead"]).await;
    assert_eq!(bench.sent(), 9 + 6);
    bench.limits.retry_failed = true;
    all(&bench.engine(script()), &["a", "bad"]).await;
    assert_eq!(bench.sent(), 9 + 6 + 1);
}

#[tokio::test(start_paused = true)]
async fn waits_grow_and_are_bounded() {
    let mut bench = Bench::new();
    bench.endpoint.retries =
        Retries { max_attempts: 5, first_wait_secs: 1.0, max_wait_secs: 4.0, ..Retries::default() };
    all(&bench.engine(vec![("a", vec![Step::Fault(Kind::Timeout)])]), &["a"]).await;
    let times = bench.times();
    assert_eq!(times.len(), 5);
    for (pair, bound) in times.windows(2).zip([1.0, 2.0, 4.0, 4.0]) {
        assert!(pair[1] - pair[0] <= bound + 0.01, "{times:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_to_wait_is_obeyed_by_all() {
    let mut bench = Bench::new();
    bench.endpoint.concurrency = 1;
    let engine = bench.engine(vec![("busy", vec![Step::Status(429, Some(30)), Step::Say("now")])]);
    let answers = all(&engine, &["busy", "b", "c"]).await;
    assert!(answers.iter().all(|answer| answer.reply().is_some()));
    let times = bench.times();
    assert!(times[0] < 1.0 && times[1..].iter().all(|at| (30.0..31.0).contains(at)), "{times:?}");
    // A refusal because of the rate is free: three replies are charged.
    assert_eq!(bench.spent(), 3 * COST);
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_patience_fails_and_says_so() {
    let bench = Bench::new();
    let answers = all(&bench.engine(vec![("a", vec![Step::Status(429, Some(86_400))])]), &["a"]).await;
    let Answer::Failed(failed) = &answers[0] else { panic!("{answers:?}") };
    assert!(failed.error.contains("429") && failed.error.contains("86400 s"), "{}", failed.error);
    assert_eq!(bench.sent(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_exhausted_quota_is_not_tried_again() {
    let bench = Bench::new();
    let raw = r#"{"error": {"code": 402}}"#;
    let engine =
        bench.engine(vec![("a", vec![Step::Raw(raw)]), ("b", vec![Step::Fault(Kind::QuotaExhausted(429))])]);
    let answers = all(&engine, &["a", "b"]).await;
    assert!(answers.iter().all(|answer| reason(answer) == Some(Reason::RequestFailed)));
    assert_eq!((bench.sent(), bench.spent()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn what_a_server_holds_back_is_bought_once() {
    let bench = Bench::new();
    let raw = r#"{"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}], "usage": {"prompt_tokens": 10, "completion_tokens": 0}}"#;
    let answers = all(&bench.engine(vec![("a", vec![Step::Raw(raw)])]), &["a"]).await;
    assert_eq!(
        (reason(&answers[0]), bench.sent(), bench.spent()),
        (Some(Reason::RequestRefused), 1, 10_000_000)
    );
}

#[tokio::test(start_paused = true)]
async fn every_fault_that_may_pass_is_outlived() {
    let bench = Bench::new();
    let faults = vec![
        Step::Fault(Kind::Connect("refused".into())),
        Step::Fault(Kind::Cut("reset".into())),
        Step::Raw("<html>gateway</html>"),
        Step::Raw(r#"{"choices": [{"message": {"content": ""}}]}"#),
        Step::Status(503, None),
        Step::Say("at last"),
    ];
    let answers = all(&bench.engine(vec![("a", faults)]), &["a"]).await;
    assert_eq!(answers[0].reply().unwrap().text, "at last");
    assert_eq!(bench.store.compute_stats().unwrap().failed_attempts, 5);
    let kept = bench.store.get(&answers[0].reply().unwrap().key).unwrap().unwrap();
    assert_eq!(kept.attempts, 6);
}

#[tokio::test(start_paused = true)]
async fn no_cap_is_passed_and_what_no_longer_fits_is_held() {
    for level in ["endpoint", "recipe", "run"] {
        let mut bench = Bench::new();
        let cap = Usd::from_pico(5 * COST);
        match level {
            "endpoint" => bench.endpoint.max_usd = Some(cap.in_dollars()),
            "recipe" => bench.limits.recipe = Some(("flub".into(), Some(cap))),
            _ => bench.limits.run = Run::new(Some(cap)),
        }
        let texts: Vec<String> = (0..20).map(|n| format!("text {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let answers = all(&bench.slow_engine(vec![], Duration::from_millis(5)), &texts).await;
        let bought = answers.iter().filter(|answer| answer.reply().is_some()).count();
        let over_budget: Vec<&Answer> =
            answers.iter().filter(|answer| reason(answer) == Some(Reason::BudgetReached)).collect();
        assert_eq!(bought + over_budget.len(), 20, "{level}");
        // Reservations are several times the actual cost; the money released is used.
        assert!((2..=4).contains(&bought), "{level}: {bought}");
        assert_eq!(bench.sent(), bought, "{level}");
        assert!(bench.spent() <= cap.in_picodollars(), "{level}");
        let Answer::Held(held) = over_budget[0] else { unreachable!() };
        assert!(held.what.starts_with(level), "{}", held.what);
    }
}

/// Each stage of a run reopens the store, and a second endpoint has a budget of its own.
#[tokio::test(start_paused = true)]
async fn a_run_is_one_budget_over_stages_and_endpoints() {
    let mut bench = Bench::new();
    let dir = tempfile::tempdir().unwrap();
    let open =
        || Arc::new(Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap());
    let cap = Usd::from_pico(5 * COST);
    bench.limits.run = Run::new(Some(cap));
    let mut bought = 0;
    for stage in 0..6 {
        bench.store = open();
        bench.endpoint.name = format!("e{}", stage % 2);
        let answers = all(&bench.engine(vec![]), &[&format!("text {stage}")]).await;
        match &answers[0] {
            Answer::Reply(_) => bought += 1,
            Answer::Held(held) => assert!(held.what.starts_with("run: "), "{}", held.what),
            Answer::Failed(failed) => panic!("{failed:?}"),
        }
    }
    assert!((2..=4).contains(&bought), "{bought}");
    assert_eq!(bench.sent(), bought);
    // Another run has its own budget.
    bench.limits.run = Run::new(Some(cap));
    bench.store = open();
    assert!(all(&bench.engine(vec![]), &["text 5"]).await[0].reply().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_usage_that_cannot_be_is_charged_as_reserved() {
    let bench = Bench::new();
    let raw = r#"{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 999999999, "completion_tokens": 1}}"#;
    let answers = all(&bench.engine(vec![("a", vec![Step::Raw(raw)])]), &["a"]).await;
    let reply = answers[0].reply().unwrap();
    assert_eq!(reply.usage, None);
    let request = Engine::request_of_ask(&bench.endpoint, &ask("a"));
    let reserved =
        bench.endpoint.token_price().unwrap().cost_of_tokens(tokens::bound_prompt_tokens(&request), 50);
    assert_eq!((reply.charged, bench.spent()), (reserved, reserved.in_picodollars()));
}

/// The answer of a model that reasons until its limit.
const CUT: &str = r#"{"choices": [{"message": {"content": "<think>1 2"}, "finish_reason": "length"}], "usage": {"prompt_tokens": 10, "completion_tokens": 50}}"#;

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_cut_before_it_began_is_asked_once_more_with_a_larger_limit() {
    let mut bench = Bench::new();
    let (first, larger) = ("\"max_tokens\":50", "\"max_tokens\":200");
    let reply = vec![Step::Say("<think>3?</think>5 2 3")];
    let answers = all(&bench.engine(vec![(first, vec![Step::Raw(CUT)]), (larger, reply)]), &["a"]).await;
    assert_eq!(answers[0].reply().unwrap().text, "5 2 3");
    assert_eq!(bench.sent(), 2);
    // Both are stored: neither is bought again, offline or not.
    assert_eq!(all(&bench.engine(vec![]), &["a"]).await[0].reply().unwrap().text, "5 2 3");
    bench.limits.offline = true;
    assert_eq!(all(&bench.engine(vec![]), &["a"]).await[0].reply().unwrap().text, "5 2 3");
    bench.limits.offline = false;
    assert_eq!(bench.sent(), 2);

    // Cut off twice, it waits for a setting and is not sent again.
    for _ in 0..2 {
        let answers = all(&bench.engine(vec![("b", vec![Step::Raw(CUT)])]), &["b"]).await;
        let Answer::Held(held) = &answers[0] else { panic!("{answers:?}") };
        assert_eq!(held.reason, Reason::AnswerCut);
        assert!(
            held.what.contains("200 tokens") && held.what.contains("max_tokens_ceiling"),
            "{}",
            held.what
        );
        assert_eq!(bench.sent(), 4);
    }
    bench.endpoint.max_tokens_ceiling = Some(50);
    let answers = all(&bench.engine(vec![("c", vec![Step::Raw(CUT)])]), &["c"]).await;
    assert_eq!((reason(&answers[0]), bench.sent()), (Some(Reason::AnswerCut), 5));
}

#[tokio::test(start_paused = true)]
async fn a_reply_with_reasoning_that_was_quoted_whole_is_not_bought_again() {
    let bench = Bench::new();
    let read = |_: &Ask, reply: &str| match reply.trim() {
        "yes" => Ok(true),
        other => Err(Unreadable::new(format!("{} characters", other.chars().count()))),
    };
    // The re-ask of an earlier version, which read reasoning as part of the answer.
    let whole = "<think>hm</think>perhaps";
    let mut before = ask("a");
    before.reask = 1;
    if let RequestContent::Chat { messages, .. } = &mut before.what {
        messages.push(Message::new(Role::Assistant, whole));
        messages.push(Message::new(Role::User, "Your reply could not be read: 24 characters. Answer the first message again, in exactly the form it asks for, and write nothing else."));
    }
    bench.engine(vec![("a", vec![Step::Say("yes")])]).ask_all(vec![before], |_| {}).await;
    let parsed =
        ask_parsed(&bench.engine(vec![("a", vec![Step::Say(whole)])]), asks(&["a"]), read, 1, |_| {}).await;
    assert!(matches!(&parsed[0], Parsed::Value { value: true, reasks: 1, .. }), "{parsed:?}");
    assert_eq!(bench.sent(), 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_offline_without_a_price_or_without_a_key() {
    let mut bench = Bench::new();
    all(&bench.engine(vec![]), &["stored"]).await;
    bench.limits.offline = true;
    let answers = all(&bench.engine(vec![]), &["stored", "new"]).await;
    assert_eq!((reason(&answers[0]), reason(&answers[1])), (None, Some(Reason::ReplyMissing)));
    bench.limits.offline = false;

    let engine =
        |endpoint: &Endpoint| Engine::new(bench.store.clone(), endpoint.clone(), Limits::default()).unwrap();
    let mut endpoint = bench.endpoint.clone();
    endpoint.usd_per_million_out = None;
    let answers = all(&engine(&endpoint), &["stored", "new"]).await;
    assert_eq!((reason(&answers[0]), reason(&answers[1])), (None, Some(Reason::NoPrice)));

    let mut endpoint = bench.endpoint.clone();
    endpoint.key_env = Some("RIDDLEMILL_TEST_NO_SUCH_KEY".into());
    let answers = all(&engine(&endpoint), &["stored", "new"]).await;
    assert_eq!((reason(&answers[0]), reason(&answers[1])), (None, Some(Reason::KeyMissing)));
    let Answer::Held(held) = &answers[1] else { unreachable!() };
    assert!(held.what.contains("RIDDLEMILL_TEST_NO_SUCH_KEY"));
    assert_eq!(bench.sent(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_keeps_what_is_in_flight_and_sends_no_more() {
    let mut bench = Bench::new();
    bench.endpoint.concurrency = 2;
    let cancel = bench.limits.cancel.clone();
    let engine = bench.slow_engine(vec![], Duration::from_secs(10));
    let texts: Vec<String> = (0..10).map(|n| format!("text {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let interrupt = async {
        // No sleep here: paused time would run while the store writes.
        while bench.sent() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (answers, ()) = tokio::join!(all(&engine, &texts), interrupt);
    assert_eq!(answers.iter().filter(|answer| answer.reply().is_some()).count(), 2);
    assert_eq!(answers.iter().filter(|answer| reason(answer) == Some(Reason::Interrupted)).count(), 8);
    // What was reserved ahead and never sent is released.
    assert_eq!((bench.sent(), bench.spent()), (2, 2 * COST));
    bench.limits.cancel = CancellationToken::new();
    all(&bench.engine(vec![]), &texts).await;
    assert_eq!(bench.sent(), 10);
}

#[tokio::test(start_paused = true)]
async fn requests_and_tokens_a_minute_are_kept() {
    let mut bench = Bench::new();
    bench.endpoint.rpm = Some(60);
    let texts: Vec<String> = (0..30).map(|n| format!("text {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    all(&bench.engine(vec![]), &texts).await;
    let times = bench.times();
    assert!((28.0..=31.0).contains(&times[29]), "{times:?}");

    let mut bench = Bench::new();
    bench.endpoint.tpm = Some(600);
    all(&bench.engine(vec![]), &texts[..10]).await;
    // 50 tokens of answer and about a dozen of prompt each, at 10 per second.
    assert!((50.0..=70.0).contains(&bench.times()[9]), "{:?}", bench.times());
}

#[tokio::test(start_paused = true)]
async fn progress_adds_up() {
    let bench = Bench::new();
    let engine = bench.engine(vec![("bad", vec![Step::Status(404, None)])]);
    all(&engine, &["a"]).await;
    let last = Mutex::new(Progress::default());
    engine.ask_all(asks(&["a", "b", "bad"]), |now| *last.lock().unwrap() = *now).await;
    let last = *last.lock().unwrap();
    assert_eq!(
        (last.total, last.stored, last.done, last.failed, last.waiting, last.in_flight, last.sent),
        (3, 1, 1, 1, 0, 0, 2)
    );
    assert_eq!((last.prompt_tokens, last.completion_tokens, last.charged.in_picodollars()), (10, 20, COST));
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_reply_is_quoted_back_a_bounded_number_of_times() {
    let bench = Bench::new();
    let script = || {
        vec![
            ("hopeless", vec![Step::Say("no idea")]),
            ("slow", vec![Step::Say("two six three"), Step::Say("2 6 3")]),
        ]
    };
    let read = |_: &Ask, text: &str| parse::parse_numbers(text, 3, 1..=6, "2 6 3");
    let engine = bench.engine(script());
    let parsed = ask_parsed(&engine, asks(&["slow", "hopeless"]), read, 2, |_| {}).await;
    let Parsed::Value { value, reasks, .. } = &parsed[0] else { panic!("{parsed:?}") };
    assert_eq!((value.as_slice(), *reasks), ([2, 6, 3].as_slice(), 1));
    let Parsed::Failed(failed) = &parsed[1] else { panic!("{parsed:?}") };
    assert_eq!((failed.reason, failed.raw.as_str()), (Reason::ReplyUnparseable, "no idea"));
    assert!(failed.error.contains("three different numbers"));
    assert_eq!(bench.sent(), 2 + 3);
    assert!(
        bench.log.lock().unwrap()[2]
            .1
            .contains("could not be read: the output must be three different numbers")
    );
    // The same again, and with another parser: nothing is asked.
    ask_parsed(&engine, asks(&["slow", "hopeless"]), read, 2, |_| {}).await;
    let lenient =
        |_: &Ask, text: &str| if text.is_empty() { Err(Unreadable::new("empty")) } else { Ok(text.len()) };
    let parsed = ask_parsed(&engine, asks(&["slow", "hopeless"]), lenient, 2, |_| {}).await;
    assert!(parsed.iter().all(|item| matches!(item, Parsed::Value { reasks: 0, .. })));
    assert_eq!(bench.sent(), 5);
}

/// Answers requests for embeddings with the length of each text, and refuses those with a bad one.
#[derive(Default)]
struct Embedder(Arc<Mutex<Vec<usize>>>);

impl Transport for Embedder {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        Box::pin(async move {
            let body: serde_json::Value = serde_json::from_str(&call.body).unwrap();
            let texts: Vec<&str> = match &body["input"] {
                serde_json::Value::String(text) => vec![text],
                list => list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect(),
            };
            self.0.lock().unwrap().push(texts.len());
            if texts.iter().any(|text| text.contains("bad")) {
                return Ok(Received { status: 400, body: "too long".into(), ..Received::default() });
            }
            let vector = |(at, text): (usize, &&str)| json!({"index": at, "embedding": [text.len()]});
            let data: Vec<_> = texts.iter().enumerate().map(vector).collect();
            let tokens = texts.len() * 3;
            let body = json!({"data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}});
            Ok(Received { status: 200, body: body.to_string(), ..Received::default() })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn texts_are_embedded_in_batches_and_kept_one_by_one() {
    let mut bench = Bench::new();
    bench.endpoint.embedding_batch = 4;
    bench.endpoint.concurrency = 1;
    let log: Arc<Mutex<Vec<usize>>> = Arc::default();
    let engine = |bench: &Bench| {
        let transport = Box::new(Embedder(log.clone()));
        Engine::with_transport(bench.store.clone(), bench.endpoint.clone(), bench.limits.clone(), transport)
    };
    let embed =
        |texts: &[String]| texts.iter().map(|text| Ask::for_embedding(text, text)).collect::<Vec<_>>();
    let texts: Vec<String> = (0..10).map(|n| format!("text {}", "x".repeat(n))).collect();
    let answers = engine(&bench).ask_all(embed(&texts), |_| {}).await;
    let lengths: Vec<f32> =
        answers.iter().map(|answer| answer.reply().unwrap().vector.as_ref().unwrap()[0]).collect();
    assert_eq!(lengths, texts.iter().map(|text| text.len() as f32).collect::<Vec<_>>());
    assert_eq!(std::mem::take(&mut *log.lock().unwrap()), [4, 4, 2]);
    // Ten texts of three tokens each at a dollar a million.
    assert_eq!(bench.spent(), 30 * 1_000_000);
    assert_eq!(bench.store.verify_segments().unwrap().findings, []);

    // Another grouping of the same texts asks only for new ones; a refused text does not affect its
    // neighbours.
    let more: Vec<String> = ["text", "new 1", "bad", "new 2"].map(Into::into).into();
    let again: Vec<String> = texts[3..].iter().chain(&more).cloned().collect();
    let answers = engine(&bench).ask_all(embed(&again), |_| {}).await;
    let failed: Vec<usize> = (0..again.len()).filter(|&at| answers[at].reply().is_none()).collect();
    assert_eq!(failed, [again.len() - 2]);
    assert_eq!(reason(&answers[failed[0]]), Some(Reason::RequestRefused));
    assert_eq!(std::mem::take(&mut *log.lock().unwrap()), [4, 1, 1, 1, 1]);
    assert_eq!(bench.spent(), (30 + 9) * 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_batch_sends_what_its_budget_allows() {
    let mut bench = Bench::new();
    bench.endpoint.concurrency = 1;
    let texts: Vec<String> = (0..6).map(|n| format!("a text of some length, number {n}")).collect();
    let asks: Vec<Ask> = texts.iter().map(|text| Ask::for_embedding(text, text)).collect();
    let reserved = |ask: &Ask| {
        let request = Engine::request_of_ask(&bench.endpoint, ask);
        bench.endpoint.token_price().unwrap().cost_of_tokens(tokens::bound_prompt_tokens(&request), 0)
    };
    // Room for two reservations at a time, and for three texts in all.
    let cap = reserved(&asks[0]) + reserved(&asks[1]) + Usd::from_pico(3_000_000);
    bench.endpoint.max_usd = Some(cap.in_dollars());
    let log: Arc<Mutex<Vec<usize>>> = Arc::default();
    let transport = Box::new(Embedder(log.clone()));
    let engine =
        Engine::with_transport(bench.store.clone(), bench.endpoint.clone(), bench.limits.clone(), transport);
    let answers = engine.ask_all(asks, |_| {}).await;
    let bought = answers.iter().filter(|answer| answer.reply().is_some()).count();
    let over_budget = answers.iter().filter(|answer| reason(answer) == Some(Reason::BudgetReached)).count();
    assert!(bought >= 2 && bought + over_budget == 6, "{bought} bought, {over_budget} held");
    assert!(bench.spent() <= cap.in_picodollars());
    assert!(log.lock().unwrap().iter().all(|&texts| texts <= 2), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn an_estimate_subtracts_what_is_stored() {
    let mut bench = Bench::new();
    all(&bench.engine(vec![]), &["a"]).await;
    let texts = asks(&["a", "b", "b", "c"]);
    let estimated = estimate_stage(&bench.store, &bench.endpoint, "judge", &texts, None).unwrap();
    assert_eq!((estimated.items, estimated.stored, estimated.requests), (4, 1, 2));
    assert_eq!(estimated.max_completion_tokens, 100);
    let price = bench.endpoint.token_price().unwrap();
    // The upper bound is computed from the byte bound on tokens, the lower one from the count alone.
    assert!(estimated.max_usd > Some(price.cost_of_tokens(estimated.prompt_tokens, 100)), "{estimated:?}");
    assert_eq!(estimated.min_usd, Some(price.cost_of_tokens(estimated.prompt_tokens, 0)));
    bench.endpoint.usd_per_million_in = None;
    assert_eq!(estimate_stage(&bench.store, &bench.endpoint, "judge", &texts, None).unwrap().max_usd, None);
}

#[tokio::test]
async fn a_sample_pack_answers_without_a_server() {
    let bench = Bench::new();
    let pack = bench._dir.path().join("pack.jsonl");
    std::fs::write(&pack, r#"{"template": "t", "record": "a", "reply": "from the pack"}"#).unwrap();
    let mut endpoint = Endpoint::new("sample", "", "");
    endpoint.provider = Provider::Sample;
    endpoint.pack = Some(pack);
    let limits = Limits { offline: true, ..Limits::default() };
    let engine = Engine::new(bench.store.clone(), endpoint, limits).unwrap();
    let answers = all(&engine, &["a", "b"]).await;
    assert_eq!(answers[0].reply().unwrap().text, "from the pack");
    assert!(answers[0].reply().unwrap().marks.sample);
    assert_eq!(reason(&answers[1]), Some(Reason::ReplyMissing));
    let wrong =
        Endpoint { pack: Some("/nowhere".into()), provider: Provider::Sample, ..Endpoint::new("s", "", "") };
    assert!(Engine::new(bench.store.clone(), wrong, Limits::default()).is_err());
}

#[tokio::test(start_paused = true)]
async fn one_word_of_one_prompt_changes_that_prompts_requests_only() {
    let bench = Bench::new();
    let asks = |prompts: &Prompts| -> Vec<Ask> {
        (0..10)
            .flat_map(|n| {
                let values = json!({"question": format!("question {n}"), "text": format!("text {n}")});
                ["ruozhibench/irrationality", "flub/explanation"]
                    .map(|name| Ask::new(format!("r{n}"), prompts.render_prompt(name, &values).unwrap(), 0))
            })
            .collect()
    };
    let prompts = Prompts::load_prompts(None).unwrap();
    let engine = bench.engine(vec![]);
    engine.ask_all(asks(&prompts), |_| {}).await;
    engine.ask_all(asks(&prompts), |_| {}).await;
    assert_eq!(bench.sent(), 20);
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("flub")).unwrap();
    let changed = prompts.prompt_source("flub/explanation").unwrap().replace("详细", "简短");
    std::fs::write(dir.path().join("flub/explanation.jinja"), changed).unwrap();
    engine.ask_all(asks(&Prompts::load_prompts(Some(dir.path())).unwrap()), |_| {}).await;
    assert_eq!(bench.sent(), 30);
    assert!(bench.log.lock().unwrap()[20..].iter().all(|(_, body)| body.contains("简短")));
}
