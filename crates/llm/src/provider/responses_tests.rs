//! The Responses API: what goes there, and what comes back.

use serde_json::{Value, json};

use super::tests::{asked, chat, stream};
use super::{assemble_stream, call, is_only_in_responses};
use crate::fault::Kind;
use crate::request::Input;
use crate::settings::{Api, Endpoint, Provider};
use crate::wire;

#[test]
fn what_the_settings_add_to_a_table_stays_beside_the_schema() {
    let body = |provider, api, extra: Value| -> Value {
        let (endpoint, mut request) = asked(provider, "structured");
        let endpoint = Endpoint { api, ..endpoint };
        if let Input::Chat { sampling, .. } = &mut request.input {
            sampling.extra = serde_json::from_value(extra).unwrap();
        }
        serde_json::from_str(&call(&endpoint, &[&request]).body).unwrap()
    };
    let claude = body(Provider::Anthropic, Api::Chat, json!({"output_config": {"effort": "low"}}));
    assert_eq!(claude["output_config"]["effort"], "low");
    assert_eq!(claude["output_config"]["format"]["type"], "json_schema");
    // Names of the other API are understood, because a refusal may have changed the API.
    let extra = json!({"reasoning_effort": "low", "reasoning": {"summary": "auto"}, "verbosity": "low", "text": {"x": 1}});
    let responses = body(Provider::Openai, Api::Responses, extra);
    assert_eq!(responses["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!((&responses["text"]["verbosity"], &responses["text"]["x"]), (&json!("low"), &json!(1)));
    assert_eq!(responses["text"]["format"]["type"], "json_schema");
    assert!(responses.get("reasoning_effort").is_none());
}

fn response() -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m-1", "error": null,
        "incomplete_details": null, "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}]},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "b", "annotations": []}]}],
        "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 7}, "total_tokens": 39}})
}

#[test]
fn a_response_is_read_whole_in_pieces_cut_refused_and_failed() {
    let content = |body: &Value| wire::parse_content(&chat(), &body.to_string(), &Default::default());
    let whole = content(&response()).unwrap();
    assert_eq!((whole.text.as_str(), whole.reasoning.as_str()), ("b", "a"));
    let usage = whole.usage.unwrap();
    assert_eq!((usage.prompt_tokens, usage.cached_tokens), (30, 4));
    assert_eq!((usage.completion_tokens, usage.reasoning_tokens), (9, 7));
    let with = |place: &str, value: Value| {
        let mut body = response();
        *body.pointer_mut(place).unwrap() = value;
        body
    };
    let open = with("/output/0/summary", json!([]));
    let mut open = open;
    open["output"][0]["content"] = json!([{"type": "reasoning_text", "text": "c"}]);
    assert_eq!(content(&open).unwrap().reasoning, "c");
    let mut cut = with("/incomplete_details", json!({"reason": "max_output_tokens"}));
    cut["status"] = json!("incomplete");
    assert!(content(&cut).unwrap().truncated);
    assert!(content(&with("/incomplete_details", json!({"reason": "content_filter"}))).unwrap().blocked);
    let refused = with("/output/1/content", json!([{"type": "refusal", "refusal": "I would rather not"}]));
    let refused = content(&refused).unwrap();
    assert!(refused.blocked && refused.text.is_empty());
    let mut failed = with("/error", json!({"code": "server_error", "message": "m"}));
    failed["status"] = json!("failed");
    assert!(content(&failed).is_err());

    let event = |kind: &str, more: Value| {
        let mut event = json!({"type": kind});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let mut started = response();
    started["output"] = json!([]);
    let mut events = vec![
        event("response.created", json!({"response": started})),
        event("response.output_text.delta", json!({"delta": "b"})),
        event("response.output_item.done", json!({"item": response()["output"][0]})),
        event("response.output_item.done", json!({"item": response()["output"][1]})),
    ];
    assert_eq!(assemble_stream(Provider::Openai, &stream(&events)), None);
    // Some proxies end with a response that lacks what came before.
    for last in [response(), started.clone()] {
        let mut events = events.clone();
        events.push(event("response.completed", json!({"response": last})));
        let whole: Value =
            serde_json::from_str(&assemble_stream(Provider::Vllm, &stream(&events)).unwrap()).unwrap();
        assert_eq!(whole, response());
    }
    let error = event("error", json!({"code": "server_error", "message": "m"}));
    events.push(error.clone());
    assert_eq!(assemble_stream(Provider::Openai, &stream(&events)), Some(error.to_string()));
}

#[test]
fn a_refusal_that_names_the_only_api_is_recognised() {
    let only = |status, message: &str| {
        let raw = json!({"error": {"message": message, "type": "invalid_request_error", "param": "model", "code": null}});
        is_only_in_responses(&Kind::Status(status), &raw.to_string())
    };
    assert!(only(404, "This model is only supported in v1/responses and not in v1/chat/completions."));
    assert!(only(
        404,
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?"
    ));
    assert!(only(
        400,
        "Unsupported legacy protocol: /v1/chat/completions is not supported. Please use /v1/responses."
    ));
    assert!(only(
        400,
        "The requested model 'o1-pro' cannot be used with the Chat Completions API. Use the Responses API instead."
    ));
    for other in [
        "The model `m-1` does not exist",
        "The requested model 'm-1' is not supported with the Responses API.",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Not Found",
    ] {
        assert!(!only(404, other), "{other}");
    }
    assert!(!only(500, "This model is only supported in v1/responses"));
}
