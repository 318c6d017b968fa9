//! Assembles a streamed answer as the server would have sent it whole, which is what is stored.

use serde_json::{Map, Value, json};

/// The whole answer of a stream of server-sent events; `None` if the stream ended early. An error that the
/// server sends within the stream becomes the whole answer.
pub(super) fn assemble_stream(stream: &str) -> Option<String> {
    let mut whole = json!({"object": "chat.completion", "choices": []});
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
    let (mut finish, mut done) = (Value::Null, false);
    for data in stream.lines().filter_map(|line| line.strip_prefix("data:")) {
        let data = data.trim();
        if data == "[DONE]" {
            done = true;
            break;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Some(event.to_string());
        }
        for name in ["id", "created", "model", "usage", "provider"] {
            if let Some(value) = event.get(name).filter(|value| !value.is_null()) {
                whole[name] = value.clone();
            }
        }
        let Some(choice) = event.pointer("/choices/0") else { continue };
        if let Some(reason) = choice.get("finish_reason").filter(|reason| !reason.is_null()) {
            finish = reason.clone();
        }
        for (name, piece) in choice.get("delta").and_then(Value::as_object).into_iter().flatten() {
            append_piece(&mut message, name, piece);
        }
    }
    if !done && finish.is_null() {
        return None;
    }
    whole["choices"] = json!([{"index": 0, "message": message, "finish_reason": finish}]);
    Some(whole.to_string())
}

/// Texts and lists are appended to; other values are replaced.
fn append_piece(message: &mut Map<String, Value>, name: &str, piece: &Value) {
    match (message.get_mut(name), piece) {
        _ if name == "role" || piece.is_null() => {}
        (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
        _ => {
            message.insert(name.to_owned(), piece.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(events: &[Value]) -> String {
        events.iter().map(|event| format!("data: {event}\n\n")).collect()
    }

    #[test]
    fn pieces_become_the_answer_that_would_have_come_whole() {
        let delta =
            |delta: Value| json!({"id": "a", "model": "m", "choices": [{"index": 0, "delta": delta}]});
        let mut text = stream(&[
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"reasoning_content": "1 "})),
            delta(json!({"reasoning_content": "2?"})),
            delta(json!({"content": "5 "})),
            delta(json!({"content": "2 3"})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        ]);
        text.insert_str(0, ": a comment\n\n");
        text.push_str("data: [DONE]\n\n");
        let whole: Value = serde_json::from_str(&assemble_stream(&text).unwrap()).unwrap();
        assert_eq!(
            whole,
            json!({"object": "chat.completion", "id": "a", "model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 4},
                "choices": [{"index": 0, "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "5 2 3", "reasoning_content": "1 2?"}}]})
        );
    }

    #[test]
    fn a_stream_that_ends_early_is_no_answer_and_an_error_within_is_one() {
        let cut = stream(&[json!({"choices": [{"delta": {"content": "5"}}]})]);
        assert_eq!(assemble_stream(&cut), None);
        assert_eq!(assemble_stream(""), None);
        let error = stream(&[json!({"choices": []}), json!({"error": {"code": 503}})]);
        assert_eq!(assemble_stream(&error).as_deref(), Some("{\"error\":{\"code\":503}}"));
    }
}
