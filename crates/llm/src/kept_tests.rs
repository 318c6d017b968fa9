//! Stored replies are found again: `tests/kept/replies.jsonl` is a segment in the format of the day it was
//! made, with keys computed independently of this program, and is never rewritten. A change that fails here
//! would buy every stored reply a second time.

use serde_json::{Value, json};

use crate::engine::from_store;
use crate::parse::Unreadable;
use crate::reask::quote_reply;
use crate::{Answer, Ask, Endpoint, Engine, Message, Output, Request, RequestContent, Role, Store};

const KEPT: &str = include_str!("../tests/kept/replies.jsonl");

/// An endpoint from a table `[llm.e]`.
fn endpoint(table: Value) -> Endpoint {
    serde_json::from_value(table).unwrap()
}

fn chat(messages: Vec<Message>, output: Output) -> Ask {
    let what = RequestContent::Chat { messages, output };
    Ask {
        record: "r".into(),
        template: "t.jinja".into(),
        what,
        sample: 0,
        reask: 0,
        text: None,
        schema: None,
    }
}

fn question() -> Vec<Message> {
    vec![Message::new(Role::User, "为什么静音键这么响？")]
}

/// The text of each stored reply, and the requests that settings and items produce today.
fn requests() -> Vec<(&'static str, Vec<Request>)> {
    let plain = json!({"model": "m-1"});
    // How an answer is transferred, waited for and paid for is not part of its key.
    let carried = json!({
        "name": "e", "base_url": "https://api.example.org/v1", "model": "m-1", "key_env": "SOME_KEY", "stream": true,
        "limit_field": "max_completion_tokens", "max_tokens_ceiling": 9000, "concurrency": 3, "rpm": 60, "tpm": 9000,
        "timeouts": {"total_secs": 5.0}, "retries": {"max_attempts": 2}, "usd_per_million_in": 1.0,
        "usd_per_million_out": 2.0, "usd_per_million_cached": 0.5, "max_usd": 1.0, "size_b": 7.0
    });
    let every = json!({
        "model": "org/m-2:free", "identity": "judge", "sampling": {"temperature": 0.7, "top_p": 0.95, "max_tokens": 400,
        "seed": 7, "stop": ["\n\n", "END"],
        "extra": {"top_k": 5, "reasoning_effort": "low", "provider": {"order": ["a", "b"]}}}
    });
    let schema = json!({"type": "object", "required": ["explanation"], "properties": {"explanation": {"type": "string"}}});
    let object = json!({"model": "m-1", "format": "json_object"});
    let schema = json!({"model": "m-1", "format": {"json_schema": {"name": "answer", "schema": schema}}});
    let at = |table: &Value, ask: &Ask| Engine::request_of_ask(&endpoint(table.clone()), ask);

    let mut instructed = vec![Message::new(Role::System, "You explain jokes.")];
    instructed.extend(question());
    let instructed = chat(instructed, Output::Text);
    let text = chat(question(), Output::Text);
    let output = chat(question(), Output::Json);
    let again = quote_reply(text.clone(), "well", &Unreadable::new("no number"));
    let larger = Engine::with_larger_limit(&endpoint(plain.clone()), &at(&object, &text)).unwrap();
    let vector = Ask::for_embedding("r", "静音键");
    let mut short = vector.clone();
    short.what = RequestContent::Embedding { text: "静音键".into(), dimensions: Some(256) };
    let bare = Ask { text: Some("静音键".into()), ..text.clone() };
    let embeds = json!({"model": "e-1", "embedding_batch": 2});
    let translates = json!({"identity": "lt", "provider": "libretranslate"});
    vec![
        // A format is requested only for prompts whose reply is nothing but JSON.
        ("plain", [&plain, &carried, &object, &schema].map(|table| at(table, &instructed)).to_vec()),
        ("every parameter", vec![at(&every, &Ask { sample: 2, ..text.clone() })]),
        ("json object", vec![at(&object, &output)]),
        ("json schema", vec![at(&schema, &output)]),
        ("larger", vec![larger]),
        ("asked again", vec![at(&plain, &again), at(&carried, &again)]),
        ("", vec![at(&embeds, &vector)]),
        ("", vec![at(&embeds, &short)]),
        ("translation", vec![at(&translates, &bare)]),
    ]
}

#[test]
fn replies_stored_before_are_found_again() {
    let place = tempfile::tempdir().unwrap();
    let replies = place.path().join("raw/replies");
    std::fs::create_dir_all(&replies).unwrap();
    std::fs::write(replies.join("000001.jsonl"), KEPT).unwrap();
    let store = Store::open(&replies, &place.path().join("index.sqlite")).unwrap();
    let expected = requests();
    let mut spent = 0;
    for (n, (text, requests)) in expected.iter().enumerate() {
        for request in requests {
            let reply = store.get(&request.key()).unwrap();
            let reply = reply.unwrap_or_else(|| {
                panic!("{text} ({n}) would be bought again: {}", request.canonical_json())
            });
            assert_eq!(&reply.request, request);
            let Answer::Reply(reply) = from_store(reply, &Default::default()) else {
                panic!("{text} ({n}) is no answer")
            };
            assert_eq!((reply.text.as_str(), reply.charged.in_picodollars()), (*text, 100 + n as i64));
            assert_eq!(reply.vector.is_some(), text.is_empty());
        }
        spent += 100 + n as i64;
    }
    let (spent_by_endpoint, attempts) = store.spent("endpoint:e").unwrap();
    assert_eq!((spent_by_endpoint.in_picodollars(), attempts as usize), (spent, expected.len()));
}
