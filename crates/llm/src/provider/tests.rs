//! Requests equal those that each provider's own package sent for the same question
//! (`tests/providers/record.py`), and answers are read in each provider's form, whole and in pieces.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::http::{FileRequest, Http, Transport};
use crate::request::Input;
use crate::settings::{Api, LimitField};
use crate::wire;

const KEY: &str = "key-of-the-recorder";

/// A provider with one of its interfaces: the API for chats, and the version in the settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interface(pub Provider, pub Api, pub Option<&'static str>);

impl Interface {
    pub(crate) fn set(self, endpoint: Endpoint) -> Endpoint {
        Endpoint { api: self.1, api_version: self.2.map(str::to_owned), ..endpoint }
    }
}

const DATED: Option<&str> = Some("2024-10-21");
/// What is recorded, in addition to LibreTranslate's translation.
pub(crate) const INTERFACES: [Interface; 9] = [
    Interface(Provider::Openai, Api::Chat, None),
    Interface(Provider::Openai, Api::Responses, None),
    Interface(Provider::Azure, Api::Chat, None),
    Interface(Provider::Azure, Api::Chat, DATED),
    Interface(Provider::Azure, Api::Responses, DATED),
    Interface(Provider::Vllm, Api::Chat, None),
    Interface(Provider::Anthropic, Api::Chat, None),
    Interface(Provider::Gemini, Api::Chat, None),
    Interface(Provider::Ollama, Api::Chat, None),
];

pub(crate) fn recorded(Interface(provider, api, version): Interface) -> Value {
    let text = match provider {
        Provider::Openai if api == Api::Responses => include_str!("../../tests/providers/responses.json"),
        Provider::Openai => include_str!("../../tests/providers/openai.json"),
        Provider::Azure if version.is_none() => include_str!("../../tests/providers/azure_v1.json"),
        Provider::Azure if api == Api::Responses => {
            include_str!("../../tests/providers/azure_responses.json")
        }
        Provider::Azure => include_str!("../../tests/providers/azure.json"),
        Provider::Vllm => include_str!("../../tests/providers/vllm.json"),
        Provider::Anthropic => include_str!("../../tests/providers/anthropic.json"),
        Provider::Gemini => include_str!("../../tests/providers/gemini.json"),
        Provider::Ollama => include_str!("../../tests/providers/ollama.json"),
        Provider::Libretranslate => include_str!("../../tests/providers/libretranslate.json"),
        Provider::Made | Provider::Sample => "{}",
    };
    serde_json::from_str(text).unwrap()
}

/// A server that takes one request, answers it with `answer`, and returns what it received.
async fn recorder(answer: &'static str) -> (String, tokio::task::JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    (here, tokio::spawn(async move { taken(&listener, answer).await }))
}

/// A server that answers one request after the other with success and these bodies, and returns the last that
/// it received; further ones are refused.
pub(crate) async fn recorder_after(bodies: Vec<Value>) -> (String, tokio::task::JoinHandle<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    let seen = tokio::spawn(async move {
        for body in bodies.iter().map(Value::to_string) {
            let head =
                format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            taken(&listener, &(head + &body)).await;
        }
        taken(&listener, REFUSED).await
    });
    (here, seen)
}

async fn taken(listener: &TcpListener, answer: &str) -> Value {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    let (head, body) = loop {
        stream.read_buf(&mut bytes).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            break (head.to_owned(), body.to_owned());
        }
    };
    stream.write_all(answer.as_bytes()).await.unwrap();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap().split(' ');
    let left_out = ["host", "content-length", "accept-encoding", "user-agent"];
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<&str, &str> = headers.filter(|(name, _)| !left_out.contains(name)).collect();
    json!({"method": first.next(), "path": first.next(), "headers": headers,
            "body": serde_json::from_str::<Value>(&body).unwrap_or_default(), "text": body})
}

pub(crate) fn endpoint(provider: Provider, here: &str) -> Endpoint {
    let path = if matches!(provider, Provider::Openai | Provider::Vllm) { "/v1" } else { "" };
    Endpoint {
        provider,
        key_env: (provider != Provider::Ollama).then(|| "KEY".to_owned()),
        api_version: (provider == Provider::Azure).then(|| "2024-10-21".to_owned()),
        ..Endpoint::new("e", &format!("{here}{path}"), "m-1")
    }
}

pub(crate) fn http(endpoint: &Endpoint) -> Http {
    Http::with_variables(endpoint, &|name| ApiKey::new(if name == "KEY" { KEY } else { "value-of-a-header" }))
        .unwrap()
}

/// The question of each recording, in addition to the messages.
pub(crate) fn asked(provider: Provider, what: &str) -> (Endpoint, Request) {
    let mut endpoint = endpoint(provider, "http://127.0.0.1:1");
    let mut sampling = Sampling { max_tokens: 400, ..Sampling::default() };
    let mut format = Format::Text;
    match what {
        "plain" => sampling.temperature = Some(0.7),
        "streamed" => endpoint.stream = true,
        "reasoning" => {
            let (name, value) = match provider {
                Provider::Anthropic => {
                    sampling.max_tokens = 4000;
                    ("thinking", json!({"type": "enabled", "budget_tokens": 1024}))
                }
                Provider::Gemini => ("thinkingConfig", json!({"thinking_budget": 1024})),
                Provider::Ollama => ("think", json!(true)),
                _ => {
                    endpoint.limit_field = LimitField::MaxCompletionTokens;
                    ("reasoning_effort", json!("low"))
                }
            };
            sampling.extra.insert(name.into(), value);
        }
        "structured" => {
            let schema = json!({"type": "object", "properties": {"explanation": {"type": "string"}},
                "required": ["explanation"], "additionalProperties": false});
            format = Format::JsonSchema { name: "answer".into(), schema };
        }
        _ => {}
    }
    let text = "为什么静音键这么响？";
    let input = match what {
        "embedding" => Input::Embedding { text: text.into(), dimensions: Some(256) },
        _ => {
            let messages =
                vec![Message::new(Role::System, "You explain jokes."), Message::new(Role::User, text)];
            Input::Chat { messages, sampling, format }
        }
    };
    let model = if what == "embedding" { "e-1" } else { "m-1" };
    (endpoint, Request { identity: "i".into(), model: model.into(), input, sample: 0 })
}

const REFUSED: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}";

#[tokio::test]
async fn what_goes_out_is_what_the_official_packages_send() {
    let mut compared = 0;
    for interface in INTERFACES {
        let provider = interface.0;
        let recorded = recorded(interface);
        let alone = |(what, _): &(&String, &Value)| !what.starts_with("batch_");
        for (what, expected) in recorded.as_object().unwrap().iter().filter(alone) {
            let (here, seen) = recorder(REFUSED).await;
            let (asks, request) = asked(provider, what);
            let asks = interface.set(Endpoint { base_url: endpoint(provider, &here).base_url, ..asks });
            match what.as_str() {
                "models" => drop(http(&asks).list_models().await),
                _ => drop(http(&asks).send_call(&call(&asks, &[&request])).await.unwrap()),
            }
            let mut expected = expected.clone();
            if what == "models" {
                // Some packages send the type of an empty body.
                expected["headers"].as_object_mut().unwrap().remove("content-type");
            }
            if provider == Provider::Ollama && expected["body"].get("options").is_some() {
                // The package leaves it to the server to cut a prompt that is too long.
                expected["body"]["truncate"] = json!(false);
                expected["body"]["shift"] = json!(false);
            }
            let mut seen = seen.await.unwrap();
            seen.as_object_mut().unwrap().remove("text");
            assert_eq!(seen, expected, "{interface:?} {what}");
            compared += 1;
        }
    }
    assert_eq!(compared, 7 * 6 - 1 + 2 * 4, "a recording lacks");
}

/// LibreTranslate's package sends a form. Its server takes JSON as well, as its own page shows: the address,
/// the fields and the key are the package's; that the text is not HTML is sent explicitly, because the
/// package leaves it to the server.
#[tokio::test]
async fn a_translation_has_the_address_and_the_fields_of_the_official_package() {
    let mut expected = recorded(Interface(Provider::Libretranslate, Api::Chat, None))["translation"].clone();
    let (here, seen) = recorder(REFUSED).await;
    let settings = endpoint(Provider::Libretranslate, &here);
    let text = expected["body"]["q"].as_str().unwrap().to_owned();
    let input = Input::Translation { text, source: "zh".into(), target: "en".into() };
    let request = Request { input, ..asked(Provider::Libretranslate, "plain").1 };
    http(&settings).send_call(&call(&settings, &[&request])).await.unwrap();
    let mut seen = seen.await.unwrap();
    seen.as_object_mut().unwrap().remove("text");
    expected["headers"] = json!({"accept": "application/json", "content-type": "application/json"});
    expected["body"]["format"] = json!("text");
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn headers_come_from_variables_and_are_struck_out_like_keys() {
    const QUOTES: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 48\r\n\r\n{\"error\": \"value-of-a-header key-of-the-recorder\"}";
    let (here, seen) = recorder(QUOTES).await;
    let mut settings = endpoint(Provider::Anthropic, &here);
    settings.headers =
        BTreeMap::from([("x-team".into(), "TEAM".into()), ("authorization".into(), "OTHER".into())]);
    let (_, request) = asked(Provider::Anthropic, "plain");
    let received = http(&settings).send_call(&call(&settings, &[&request])).await.unwrap();
    assert!(!received.body.contains("value-of") && !received.body.contains("recorder"), "{}", received.body);
    let seen = seen.await.unwrap();
    assert_eq!(seen["headers"]["x-team"], "value-of-a-header");
    assert_eq!(seen["headers"]["authorization"], "value-of-a-header");
    let wrong = Endpoint { headers: BTreeMap::from([("x team".into(), "T".into())]), ..settings };
    assert!(Http::with_variables(&wrong, &|_| None).err().unwrap().to_string().contains("x team"));
}

#[tokio::test]
async fn errands_go_to_the_address_with_the_key_and_files_as_forms() {
    let (here, seen) = recorder(REFUSED).await;
    let settings = endpoint(Provider::Openai, &here);
    http(&settings).send_file_request(FileRequest::Get("batches?limit=100".into())).await.unwrap();
    let seen = seen.await.unwrap();
    assert_eq!((&seen["method"], &seen["path"]), (&json!("GET"), &json!("/v1/batches?limit=100")));
    assert_eq!(seen["headers"]["authorization"], format!("Bearer {KEY}"));
    let (here, seen) = recorder(REFUSED).await;
    let settings = endpoint(Provider::Openai, &here);
    http(&settings)
        .send_file_request(FileRequest::Upload("files".into(), "{\"a\": 1}\n{\"b\": 2}\n".into()))
        .await
        .unwrap();
    let seen = seen.await.unwrap();
    let boundary = seen["headers"]["content-type"].as_str().unwrap();
    let boundary = boundary.strip_prefix("multipart/form-data; boundary=").unwrap();
    let form = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
         --{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"batch.jsonl\"\r\n\
         content-type: application/jsonl\r\n\r\n{{\"a\": 1}}\n{{\"b\": 2}}\n\r\n--{boundary}--\r\n"
    );
    assert_eq!(seen["text"], form);
}

#[test]
fn lists_of_models_are_read() {
    assert_eq!(
        parse_model_names(r#"{"object": "list", "data": [{"id": "m-1", "object": "model"}]}"#),
        ["m-1"]
    );
    assert_eq!(
        parse_model_names(r#"{"data": [{"type": "model", "id": "c-1", "display_name": "C"}]}"#),
        ["c-1"]
    );
    assert_eq!(parse_model_names(r#"{"models": [{"name": "models/g-1", "version": "1"}]}"#), ["g-1"]);
    assert_eq!(parse_model_names(r#"{"models": [{"name": "l:8b", "model": "l:8b"}]}"#), ["l:8b"]);
    assert!(parse_model_names("<html>").is_empty() && parse_model_names("[]").is_empty());
}

#[tokio::test]
async fn an_older_version_of_anthropics_interface_gets_its_own_header_and_parameters() {
    let (here, seen) = recorder(REFUSED).await;
    let (mut settings, mut request) = asked(Provider::Anthropic, "plain");
    settings.base_url = here;
    settings.api_version = Some("2023-06-01".into());
    if let Input::Chat { sampling, .. } = &mut request.input {
        sampling.extra.insert("top_k".into(), json!(5));
    }
    http(&settings).send_call(&call(&settings, &[&request])).await.unwrap();
    let seen = seen.await.unwrap();
    assert_eq!((&seen["body"]["temperature"], &seen["body"]["top_k"]), (&json!(0.7), &json!(5)));
    assert_eq!(seen["headers"]["x-api-key"], KEY);
    assert!(seen["headers"].get("authorization").is_none());
    let newer = Endpoint { api_version: Some("2027-01-01".into()), ..settings };
    let body: Value = serde_json::from_str(&call(&newer, &[&request]).body).unwrap();
    assert!(["temperature", "top_p", "top_k"].iter().all(|name| body.get(*name).is_none()), "{body}");
}

pub(super) fn chat() -> Request {
    asked(Provider::Openai, "plain").1
}

/// Each provider's whole answer `b` after the reasoning `a`, with 30 tokens in (4 of them cached) and 9 out.
fn answers() -> [(Provider, Value); 3] {
    [
        (
            Provider::Anthropic,
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
                "content": [{"type": "thinking", "thinking": "a", "signature": "s"}, {"type": "text", "text": "b"}],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 26, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0, "output_tokens": 9}}),
        ),
        (
            Provider::Gemini,
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "a", "thought": true}, {"text": "b"}]},
                    "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 30, "cachedContentTokenCount": 4, "candidatesTokenCount": 2,
                    "thoughtsTokenCount": 7, "totalTokenCount": 39}, "modelVersion": "m-1"}),
        ),
        (
            Provider::Ollama,
            json!({"model": "m-1", "created_at": "2026-01-01T00:00:00Z", "done": true, "done_reason": "stop",
                "message": {"role": "assistant", "content": "b", "thinking": "a"},
                "prompt_eval_count": 30, "eval_count": 9}),
        ),
    ]
}

#[test]
fn answers_and_counts_are_read_in_every_providers_form() {
    for (provider, body) in answers() {
        let content = wire::parse_content(&chat(), &body.to_string(), &Default::default()).unwrap();
        assert_eq!((content.text.as_str(), content.reasoning.as_str()), ("b", "a"), "{provider:?}");
        let usage = content.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (30, 9), "{provider:?}");
        assert_eq!(usage.cached_tokens, if provider == Provider::Ollama { 0 } else { 4 }, "{provider:?}");
        assert_eq!(usage.reasoning_tokens, if provider == Provider::Gemini { 7 } else { 0 }, "{provider:?}");
        assert!(!content.truncated && !content.blocked);
    }
}

#[test]
fn cuts_refusals_and_tools_are_read_in_every_providers_form() {
    let [(_, anthropic), (_, gemini), (_, ollama)] = answers();
    let with = |body: &Value, place: &str, value: Value| {
        let mut body = body.clone();
        *body.pointer_mut(place).unwrap() = value;
        wire::parse_content(&chat(), &body.to_string(), &Default::default()).unwrap()
    };
    assert!(with(&anthropic, "/stop_reason", json!("max_tokens")).truncated);
    assert!(with(&anthropic, "/stop_reason", json!("refusal")).blocked);
    assert!(with(&gemini, "/candidates/0/finishReason", json!("MAX_TOKENS")).truncated);
    assert!(with(&gemini, "/candidates/0/finishReason", json!("SAFETY")).blocked);
    assert!(with(&ollama, "/done_reason", json!("length")).truncated);
    let tool = json!([{"type": "tool_use", "id": "t", "name": "answer", "input": {"explanation": "e"}}]);
    assert_eq!(with(&anthropic, "/content", tool).text, r#"{"explanation":"e"}"#);
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 30, "totalTokenCount": 30}});
    let content = wire::parse_content(&chat(), &blocked.to_string(), &Default::default()).unwrap();
    assert!(content.blocked && content.text.is_empty());
    assert_eq!(content.usage.unwrap().completion_tokens, 0);
}

#[test]
fn vectors_are_read_in_every_providers_form() {
    let request = asked(Provider::Openai, "embedding").1;
    for body in [
        json!({"embeddings": [{"values": [0.5, -1.0]}]}),
        json!({"model": "e-1", "embeddings": [[0.5, -1.0]], "total_duration": 1, "prompt_eval_count": 8}),
    ] {
        let content = wire::parse_content(&request, &body.to_string(), &Default::default()).unwrap();
        assert_eq!(content.vector, Some(vec![0.5, -1.0]), "{body}");
    }
}

pub(super) fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: e\ndata: {event}\n\n")).collect()
}

#[test]
fn pieces_become_the_answer_that_would_have_come_whole() {
    let [(_, anthropic), (_, gemini), (_, ollama)] = answers();
    let block = |at: u64, start: Value, deltas: &[Value]| {
        let mut events = vec![json!({"type": "content_block_start", "index": at, "content_block": start})];
        events.extend(
            deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": at, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": at}));
        events
    };
    let mut start = anthropic.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": start}), json!({"type": "ping"})];
    let thinks = [
        json!({"type": "thinking_delta", "thinking": "a"}),
        json!({"type": "signature_delta", "signature": "s"}),
    ];
    events.extend(block(0, json!({"type": "thinking", "thinking": ""}), &thinks));
    events.extend(block(
        1,
        json!({"type": "text", "text": ""}),
        &[json!({"type": "text_delta", "text": "b"})],
    ));
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}),
    );
    let cut = stream(&events[..events.len() - 1]);
    events.push(json!({"type": "message_stop"}));
    let whole = |provider, stream: &str| -> Value {
        serde_json::from_str(&assemble_stream(provider, stream).unwrap()).unwrap()
    };
    assert_eq!(whole(Provider::Anthropic, &stream(&events)), anthropic);
    assert_eq!(assemble_stream(Provider::Anthropic, &cut), None);

    let piece = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "m-1"});
    let mut last = gemini.clone();
    last["candidates"][0]["content"]["parts"] = json!([{"text": "b"}]);
    let first = piece(json!([{"text": "a", "thought": true}]));
    assert_eq!(whole(Provider::Gemini, &stream(&[first.clone(), last])), gemini);
    assert_eq!(assemble_stream(Provider::Gemini, &stream(&[first])), None);

    let line = |field: &str, text: &str| {
        format!("{}\n", json!({"model": "m-1", "message": {"role": "assistant", field: text}, "done": false}))
    };
    let mut end = ollama.clone();
    end["message"] = json!({"role": "assistant", "content": ""});
    let pieces = line("thinking", "a") + &line("content", "b");
    assert_eq!(whole(Provider::Ollama, &format!("{pieces}{end}\n")), ollama);
    assert_eq!(assemble_stream(Provider::Ollama, &pieces), None);

    // An input of a tool comes in pieces of its text.
    let pieces = ["{\"expl", "anation\": \"e\"}"]
        .map(|text| json!({"type": "input_json_delta", "partial_json": text}));
    let mut events = vec![json!({"type": "message_start", "message": {"type": "message", "usage": {}}})];
    events.extend(block(0, json!({"type": "tool_use", "name": "answer", "input": {}}), &pieces));
    events.push(json!({"type": "message_stop"}));
    assert_eq!(
        whole(Provider::Anthropic, &stream(&events))["content"][0]["input"],
        json!({"explanation": "e"})
    );
}

#[test]
fn an_error_on_the_way_is_the_answer() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for provider in [Provider::Anthropic, Provider::Gemini] {
        assert_eq!(assemble_stream(provider, &stream(std::slice::from_ref(&error))), Some(error.to_string()));
    }
    assert_eq!(
        assemble_stream(Provider::Ollama, "{\"error\":\"gone\"}\n").as_deref(),
        Some("{\"error\":\"gone\"}")
    );
}

proptest! {
    #[test]
    fn no_stream_and_no_body_panics(lines in proptest::collection::vec(0..12usize, 0..12)) {
        const PIECES: [&str; 12] = [
            "data: {\"type\": \"message_start\", \"message\": 5}",
            "data: {\"type\": \"message_start\", \"message\": {\"usage\": 5, \"content\": 1}}",
            "data: {\"type\": \"content_block_start\", \"content_block\": [1]}",
            "data: {\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {\"text\": \"a\", \"partial_json\": \"{\"}}",
            "data: {\"type\": \"message_delta\", \"delta\": {\"stop_reason\": \"x\"}, \"usage\": 3}",
            "data: {\"candidates\": [5]}",
            "data: {\"candidates\": [{\"finishReason\": \"STOP\", \"content\": 1}], \"usageMetadata\": 3}",
            "data: [1]",
            "{\"done\": true, \"message\": 5}",
            "{\"message\": {\"content\": 5}}",
            "{\"embeddings\": [5]}",
            "5",
        ];
        let text = lines.iter().map(|at| format!("{}\n", PIECES[*at])).collect::<String>();
        for provider in [Provider::Anthropic, Provider::Gemini, Provider::Ollama] {
            if let Some(whole) = assemble_stream(provider, &text) {
                let _ = wire::parse_content(&chat(), &whole, &Default::default());
            }
        }
        for line in text.lines() {
            let _ = wire::parse_content(&chat(), line.trim_start_matches("data: "), &Default::default());
        }
    }
}
