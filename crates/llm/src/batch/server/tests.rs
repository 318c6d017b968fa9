//! Requests for a batch equal those that each provider's own package sent (`tests/providers/record.py`).

use serde_json::{Value, json};

use super::*;
use crate::batch::log::BatchItem;
use crate::provider::{INTERFACES, asked, endpoint, http, recorded, recorder_after};
use crate::request::Key;

/// The batch of the recordings: two requests, whose keys are replaced by ours.
fn entry(provider: Provider) -> BatchLogEntry {
    let mut request = asked(provider, "plain").1;
    let items = (0..2).map(|sample| {
        request.sample = sample;
        let (key, attempt) = (request.key(), format!("000001#{sample}"));
        BatchItem { key, attempt, request: request.clone(), template: String::new() }
    });
    BatchLogEntry {
        batch: "1-2-0".into(),
        items: items.collect(),
        at_ms: 1_700_000_000_000,
        ..BatchLogEntry::default()
    }
}

/// The server's answers before the request under test.
fn before(provider: Provider, what: &str) -> Vec<Value> {
    match (what, provider) {
        ("batch_create", Provider::Openai | Provider::Azure) => {
            vec![json!({"id": "f-1", "status": "processed"})]
        }
        ("batch_list_on", Provider::Gemini) => vec![json!({"operations": [], "nextPageToken": "b-0"})],
        ("batch_list_on", _) => {
            let other = json!({"id": "b-0", "metadata": {"riddlemill": "another"}, "request_counts": {"processing": 7}});
            vec![json!({"data": [other], "has_more": true, "last_id": "b-0"})]
        }
        ("batch_answers", Provider::Gemini) => {
            vec![json!({"name": "batches/b-1", "done": true, "response": {"responsesFile": "files/f-2"}})]
        }
        ("batch_answers", Provider::Anthropic) => vec![json!({"id": "b-1", "processing_status": "ended"})],
        ("batch_answers", _) => vec![json!({"id": "b-1", "status": "completed", "output_file_id": "f-2"})],
        _ => Vec::new(),
    }
}

/// Removes from a form or JSON what differs from call to call.
fn read(seen: &mut Value) {
    let text = seen["text"].as_str().unwrap().to_owned();
    let kind = seen["headers"]["content-type"].as_str().unwrap_or_default().to_owned();
    if let Some((kind, boundary)) = kind.split_once("; boundary=") {
        let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
        let parts = parts[1..parts.len() - 1].iter().map(|part| {
            let (head, text) = part.trim_matches(['\r', '\n']).split_once("\r\n\r\n").unwrap();
            json!({"head": head, "text": text})
        });
        seen["body"] = parts.collect();
        seen["headers"]["content-type"] = kind.into();
    }
    let path = seen["path"].as_str().unwrap().to_owned();
    if let Some((address, query)) = path.split_once('?') {
        let mut query: Vec<&str> = query.split('&').collect();
        query.sort_unstable();
        seen["path"] = format!("{address}?{}", query.join("&")).into();
    }
    seen.as_object_mut().unwrap().remove("text");
}

/// Lines of a file as JSON, with the recording's keys replaced by ours.
fn same_keys(body: &mut Value, keys: &[Key]) {
    if let Some(text) = body.pointer("/1/text").and_then(Value::as_str) {
        body[1]["text"] = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    }
    let text = ["k-1", "k-2"].iter().zip(keys).fold(body.to_string(), |text, (named, key)| {
        text.replace(&format!("\"{named}\""), &format!("\"{key}\""))
    });
    *body = serde_json::from_str(&text).unwrap();
}

#[tokio::test]
async fn what_goes_out_for_a_batch_is_what_the_official_packages_send() {
    let mut compared = 0;
    for interface in INTERFACES {
        let provider = interface.0;
        let recorded = recorded(interface);
        for (what, expected) in
            recorded.as_object().unwrap().iter().filter(|(what, _)| what.starts_with("batch_"))
        {
            let (here, seen) = recorder_after(before(provider, what)).await;
            let settings = interface.set(endpoint(provider, &here));
            let http = http(&settings);
            let server = Server { transport: &http, endpoint: &settings };
            let entry = entry(provider);
            let id = if provider == Provider::Gemini { "batches/b-1" } else { "b-1" };
            let failed = match what.as_str() {
                "batch_upload" | "batch_create" => server.send(&entry).await.is_err(),
                "batch_list" | "batch_list_on" => server.find(&entry, &[]).await.is_err(),
                "batch_state" | "batch_answers" => server.state(id).await.is_err(),
                "batch_cancel" => server.cancel(id).await.is_err(),
                other => panic!("{other}"),
            };
            assert!(failed, "{interface:?} {what}: the recorder refuses");
            let mut expected = expected.clone();
            if expected["method"] == "GET" {
                // Some packages send the type of an empty body.
                expected["headers"].as_object_mut().unwrap().remove("content-type");
            }
            let keys: Vec<Key> = entry.items.iter().map(|item| item.key).collect();
            let mut seen = seen.await.unwrap();
            read(&mut seen);
            same_keys(&mut seen["body"], &keys);
            same_keys(&mut expected["body"], &keys);
            assert_eq!(seen, expected, "{interface:?} {what}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 7 + 6 + 6, "a recording lacks");
}

#[test]
fn the_path_of_requests_is_the_servers_own() {
    let of =
        |provider, base: &str| openai::request_url(&Endpoint { provider, ..Endpoint::new("e", base, "m") });
    assert_eq!(of(Provider::Openai, "https://api.openai.com/v1"), "/v1/chat/completions");
    assert_eq!(of(Provider::Openai, "https://h/api/paas/v4/"), "/v4/chat/completions");
    assert_eq!(of(Provider::Openai, "https://h/api?x=1"), "/v1/chat/completions");
    assert_eq!(of(Provider::Azure, "https://h/openai?api-version=2024-10-21"), "/chat/completions");
    assert_eq!(of(Provider::Azure, "https://h/openai/v1"), "/v1/chat/completions");
}

#[test]
fn a_name_that_is_none_goes_into_no_path() {
    assert!(is_name("batch_67-a") && is_name("batches/x1") && is_name("files/abc.jsonl"));
    for name in ["", "a b", "../x", "a?b", "a#b", "a:cancel"] {
        assert!(!is_name(name), "{name:?}");
    }
}
