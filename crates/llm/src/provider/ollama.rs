//! Ollama's own interface. `sampling.extra` goes into the model's options, except for keys that belong next
//! to them.

use serde_json::{Map, Value, json};

use super::{AnswerParts, Names, sampling_parameters};
use crate::provider::Call;
use crate::request::{Input, Request};
use crate::settings::{Endpoint, Format};

/// Keys of a request that are not options of the model.
const BESIDE: [&str; 6] = ["think", "keep_alive", "truncate", "shift", "logprobs", "top_logprobs"];

pub(super) fn call(endpoint: &Endpoint, requests: &[&Request]) -> Call {
    let request = requests[0];
    match &request.input {
        Input::Chat { messages, sampling, format } => {
            let names =
                Names { limit: "num_predict", top_p: "top_p", seed: Some("seed"), stop: Some("stop") };
            let mut options = sampling_parameters(sampling, request.sample, &names);
            let mut body = Map::from_iter([
                ("model".to_owned(), json!(request.model)),
                ("messages".to_owned(), json!(messages)),
                ("stream".to_owned(), json!(endpoint.stream)),
                ("tools".to_owned(), json!([])),
                // Otherwise a prompt that is longer than the context is cut at its beginning, in silence.
                ("truncate".to_owned(), json!(false)),
                ("shift".to_owned(), json!(false)),
            ]);
            let format = match format {
                Format::Text => None,
                Format::JsonObject => Some(json!("json")),
                Format::JsonSchema { schema, .. } => Some(schema.clone()),
            };
            body.extend(format.map(|format| ("format".to_owned(), format)));
            for (name, value) in &sampling.extra {
                let into = if BESIDE.contains(&name.as_str()) { &mut body } else { &mut options };
                into.insert(name.clone(), value.clone());
            }
            body.insert("options".into(), options.into());
            Call { path: "api/chat".into(), body: Value::Object(body).to_string() }
        }
        Input::Embedding { text, dimensions } => {
            let input = match requests {
                [_] => json!(text),
                _ => requests.iter().flat_map(|request| request.message_texts()).collect(),
            };
            let mut body = json!({"model": request.model, "input": input});
            if let Some(dimensions) = dimensions {
                body["dimensions"] = json!(dimensions);
            }
            Call { path: "api/embed".into(), body: body.to_string() }
        }
        Input::Translation { .. } => super::openai::call(endpoint, requests),
    }
}

pub(super) fn as_openai(body: &Value) -> Option<Value> {
    let count = |name: &str| body.get(name).and_then(Value::as_u64);
    if let Some(vectors) = body.get("embeddings").and_then(Value::as_array) {
        let one = |(index, vector): (usize, &Value)| json!({"index": index, "embedding": vector});
        let data: Vec<Value> = vectors.iter().enumerate().map(one).collect();
        let prompt = count("prompt_eval_count");
        return Some(json!({"data": data, "usage": super::usage_json(prompt, prompt.map(|_| 0), 0, 0)}));
    }
    let message = body.get("message").filter(|_| body["done"].is_boolean())?;
    let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let finish = if body["done_reason"] == "length" { "length" } else { "stop" };
    let usage = super::usage_json(count("prompt_eval_count"), count("eval_count"), 0, 0);
    Some(AnswerParts { text: text("content"), reasoning: text("thinking"), finish, usage }.into_openai())
}

/// Each line is a piece in JSON; the last one is marked done and has the counts.
pub(super) fn assemble_stream(stream: &str) -> Option<String> {
    let (mut content, mut thinking) = (String::new(), String::new());
    for line in stream.lines() {
        let Ok(mut piece) = serde_json::from_str::<Value>(line.trim()) else { continue };
        if piece.get("error").is_some() {
            return Some(piece.to_string());
        }
        content.push_str(piece["message"]["content"].as_str().unwrap_or_default());
        thinking.push_str(piece["message"]["thinking"].as_str().unwrap_or_default());
        if piece["done"] == true {
            piece["message"] = json!({"role": "assistant", "content": content});
            if !thinking.is_empty() {
                piece["message"]["thinking"] = thinking.into();
            }
            return Some(piece.to_string());
        }
    }
    None
}
