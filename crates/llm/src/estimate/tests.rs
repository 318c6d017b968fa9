//! Whatever a server answers, the upper bound of an estimate holds as long as it bills what its limits allow.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::*;
use crate::request::Input;
use crate::settings::Format;
use crate::{Call, Fault, Limits, Message, Output, Received, RequestContent, Role, Transport, ask_parsed};

/// Randomly cuts answers off, thinks, caches prompts, answers unreadably, and longer than it was asked to; counts
/// prompts correctly, every byte as a token.
struct Moody(Mutex<fastrand::Rng>);

impl Transport for Moody {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        let body: Value = serde_json::from_str(&call.body).unwrap();
        let mut dice = self.0.lock().unwrap();
        let limit = body["max_tokens"].as_u64().unwrap();
        let texts = body["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap().len());
        let schema = body.get("response_format").map_or(0, |schema| schema.to_string().len());
        let prompt = (texts.sum::<usize>() + schema) as u64;
        let (text, finish, completion) = match dice.u8(0..7) {
            0 => (String::new(), "length", limit),
            1 => ("x".repeat(limit as usize), "length", limit),
            2 | 3 => ("not what was asked".into(), "stop", dice.u64(18..=limit)),
            // It keeps to no limit, and bills what it was allowed, or so much that it cannot be counted.
            4 => ("为什么".repeat(limit as usize * dice.usize(1..40)), "stop", limit),
            5 => {
                ("y".repeat(limit as usize * dice.usize(1..17)), ["length", "stop"][dice.usize(0..2)], limit)
            }
            _ => ("fine".into(), "stop", dice.u64(4..=limit)),
        };
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": completion,
            "prompt_tokens_details": {"cached_tokens": dice.u64(0..=prompt)},
            "completion_tokens_details": {"reasoning_tokens": dice.u64(0..=completion)}});
        let body =
            json!({"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage});
        Box::pin(std::future::ready(Ok(Received {
            status: 200,
            body: body.to_string(),
            ..Received::default()
        })))
    }
}

fn ask(n: u64) -> Ask {
    let messages =
        vec![Message::new(Role::User, format!("question {n} {}", "为什么".repeat(n as usize % 7)))];
    let what = RequestContent::Chat {
        messages,
        output: if n.is_multiple_of(2) { Output::Json } else { Output::Text },
    };
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}});
    Ask {
        template: "t".into(),
        what,
        schema: Some(Arc::new(schema)),
        ..Ask::for_embedding(n.to_string(), "")
    }
}

fn read(_: &Ask, reply: &str) -> Result<(), Unreadable> {
    if reply == "fine" { Ok(()) } else { Err(Unreadable::new("it is not fine")) }
}

#[tokio::test]
async fn no_answer_within_its_limits_costs_more_than_the_upper_end() {
    let mut totals = Vec::new();
    for seed in 0..40 {
        let mut dice = fastrand::Rng::with_seed(seed);
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
        let store = Arc::new(store);
        let mut endpoint = Endpoint::new("e", "", "m");
        (endpoint.usd_per_million_in, endpoint.usd_per_million_out) = (Some(1.0), Some(2.0));
        // Cached tokens may cost more than plain ones: some servers charge for writing into a cache.
        endpoint.usd_per_million_cached = Some([0.1, 1.25][dice.usize(0..2)]);
        endpoint.usd_per_million_reasoning = Some([0.5, 2.0, 8.0][dice.usize(0..3)]);
        endpoint.sampling.max_tokens = dice.u32(20..200);
        endpoint.max_tokens_ceiling = [None, Some(10), Some(900)][dice.usize(0..3)];
        endpoint.structured = dice.bool();
        let reasks = dice.u32(0..4);
        for _ in 0..3 {
            let asks: Vec<Ask> = (0..dice.u64(5..25)).map(ask).collect();
            let reading = Reading { read: &read, max_reasks: reasks };
            let before = store.spent("endpoint:e").unwrap().0;
            let most =
                estimate_stage(&store, &endpoint, "s", &asks, Some(&reading)).unwrap().max_usd.unwrap();
            let moody = Box::new(Moody(Mutex::new(dice.fork())));
            let engine = Engine::with_transport(store.clone(), endpoint.clone(), Limits::default(), moody);
            ask_parsed(&engine, asks, read, reasks, |_| {}).await;
            let paid = store.spent("endpoint:e").unwrap().0 - before;
            assert!(paid <= most, "seed {seed}: {paid} of {most} with {endpoint:?}");
            totals.push(paid.in_dollars() / most.in_dollars().max(1e-9));
        }
    }
    // The bound is not trivially high.
    assert!(totals.iter().any(|share| *share > 0.2), "{totals:?}");
}

/// Answers and bills many times what it was asked for, and counts what it was sent.
struct Greedy(std::sync::atomic::AtomicUsize);

impl Transport for Greedy {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let prompt = call.body.len() as u64;
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": 50_000});
        let body = json!({"choices": [{"message": {"content": "x".repeat(50_000)}, "finish_reason": "stop"}], "usage": usage});
        let received = Received { status: 200, body: body.to_string(), ..Received::default() };
        Box::pin(async move {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            Ok(received)
        })
    }
}

#[tokio::test]
async fn a_server_that_bills_more_than_was_reserved_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
    let store = Arc::new(store);
    let mut endpoint = Endpoint::new("e", "", "m");
    (endpoint.usd_per_million_in, endpoint.usd_per_million_out) = (Some(1.0), Some(2.0));
    (endpoint.sampling.max_tokens, endpoint.concurrency) = (50, 4);
    let greedy = Arc::new(Greedy(std::sync::atomic::AtomicUsize::new(0)));
    struct Of(Arc<Greedy>);
    impl Transport for Of {
        fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
            self.0.send_call(call)
        }
    }
    let limits = Limits::default();
    let run = limits.run.clone();
    let engine = Engine::with_transport(store.clone(), endpoint, limits, Box::new(Of(greedy.clone())));
    let asks: Vec<Ask> = (0..60).map(ask).collect();
    let parsed = ask_parsed(&engine, asks, read, 2, |_| {}).await;
    let sent = greedy.0.load(std::sync::atomic::Ordering::SeqCst);
    // Those that were on their way when the first bill came, and nothing after it.
    assert!(sent <= 4, "{sent} requests");
    let how = run.failure_of_endpoint("e").unwrap();
    assert!(how.contains("50000 tokens of an answer where 50 were allowed"), "{how}");
    let held =
        parsed.iter().filter(|one| matches!(one, crate::Parsed::Held(held) if held.what == how)).count();
    assert!(held >= 56, "{held} of 60 wait");
    // What it billed counts.
    let paid = store.spent("endpoint:e").unwrap().0;
    assert!(paid >= Price::per_million(1.0, 2.0).cost_of_tokens(0, 50_000 * sent as u64), "{paid}");
}

#[test]
fn a_cut_answer_and_a_schema_are_part_of_what_it_may_cost() {
    let price = Price::per_million(1.0, 2.0);
    let plain = at_most(price, 100, 50, None, 0);
    assert_eq!(plain, price.highest_cost(100, 50));
    assert_eq!(at_most(price, 100, 50, Some(200), 0), plain + price.highest_cost(100, 200));
    let again = price.highest_cost(100 + 200 + REASK, 50) + price.highest_cost(100 + 200 + REASK, 200);
    assert_eq!(at_most(price, 100, 50, Some(200), 1), plain + price.highest_cost(100, 200) + again);
    let request = |structured| {
        let endpoint = Endpoint { structured, ..Endpoint::new("e", "", "m") };
        Engine::request_of_ask(&endpoint, &ask(0))
    };
    let Input::Chat { format: Format::JsonSchema { schema, .. }, .. } = request(true).input else {
        panic!("no schema")
    };
    assert!(
        tokens::bound_prompt_tokens(&request(true))
            > tokens::bound_prompt_tokens(&request(false)) + schema.to_string().len() as u64
    );
}

#[test]
fn a_run_takes_at_least_what_both_rates_allow() {
    let secs = |rpm, tpm| at_least(&Endpoint { rpm, tpm, ..Endpoint::new("e", "", "m") }, 7, 1000);
    assert_eq!((secs(None, None), secs(Some(0), Some(0))), (None, None));
    assert_eq!((secs(Some(2), None), secs(None, Some(900))), (Some(210), Some(67)));
    assert_eq!((secs(Some(2), Some(900)), secs(Some(60), Some(900))), (Some(210), Some(67)));
}

/// Says the last word of a question, and is cut off where that is `cut`.
struct Echo;

impl Transport for Echo {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        let body: Value = serde_json::from_str(&call.body).unwrap();
        let asked = body["messages"][0]["content"].as_str().unwrap();
        let word = asked.rsplit(' ').next().unwrap();
        let finish = if word == "cut" { "length" } else { "stop" };
        let usage = json!({"prompt_tokens": 9, "completion_tokens": 5});
        let choices = json!([{"message": {"content": word}, "finish_reason": finish}]);
        let body = json!({"choices": choices, "usage": usage}).to_string();
        Box::pin(std::future::ready(Ok(Received { status: 200, body, ..Received::default() })))
    }
}

fn saying(words: &str) -> Ask {
    let messages = vec![Message::new(Role::User, format!("say {words}"))];
    let what = RequestContent::Chat { messages, output: Output::Text };
    Ask { template: "t".into(), what, ..Ask::for_embedding(words.to_owned(), "") }
}

#[tokio::test]
async fn what_is_estimated_is_what_would_be_asked_next() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("replies"), &dir.path().join("index.sqlite")).unwrap();
    let store = Arc::new(store);
    let mut endpoint = Endpoint::new("e", "", "m");
    (endpoint.usd_per_million_in, endpoint.usd_per_million_out) = (Some(1.0), Some(2.0));
    (endpoint.sampling.max_tokens, endpoint.tpm) = (50, Some(60));
    let fine: Vec<Ask> = (0..12).map(|n| saying(&format!("{n} fine"))).collect();
    let odd = [saying("other"), saying("cut")];
    let of = |endpoint: &Endpoint, asks: &[Ask], max_reasks: u32| {
        estimate_stage(&store, endpoint, "s", asks, Some(&Reading { read: &read, max_reasks })).unwrap()
    };
    let before = of(&endpoint, &fine, 0);
    assert_eq!((before.items, before.stored, before.requests), (12, 0, 12));
    assert_eq!(before.max_completion_tokens, 12 * 50);
    assert_eq!(before.at_least_secs, Some(before.prompt_tokens + 12 * 50));

    let engine = {
        // The rate is of the estimate; nobody waits for it here.
        let endpoint = Endpoint { tpm: None, ..endpoint.clone() };
        Engine::with_transport(store.clone(), endpoint, Limits::default(), Box::new(Echo))
    };
    ask_parsed(&engine, fine.iter().chain(&odd).cloned().collect(), read, 0, |_| {}).await;
    let after = of(&endpoint, &fine, 0);
    assert_eq!((after.stored, after.requests, after.learned, after.likely_usd), (12, 0, None, None));
    // What cannot be read is asked again where that is allowed, with what was answered.
    let unread = |max_reasks| of(&endpoint, &odd[..1], max_reasks);
    assert_eq!((unread(0).stored, unread(0).requests), (1, 0));
    assert_eq!((unread(1).stored, unread(1).requests), (0, 1));
    assert!(unread(1).prompt_tokens > before.prompt_tokens / 12);
    // What was cut off is asked again with more room, if there is more.
    assert_eq!(of(&endpoint, &odd[1..], 0).requests, 0);
    let ample = Endpoint { max_tokens_ceiling: Some(900), ..endpoint.clone() };
    let cut = of(&ample, &odd[1..], 0);
    assert_eq!((cut.stored, cut.requests, cut.max_completion_tokens), (0, 1, 900));
}
