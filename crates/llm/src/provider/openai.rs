//! The OpenAI-compatible interface, Azure's and vLLM's variants of it, and LibreTranslate's.

use serde_json::{Value, json};

use super::{Names, is_azure_v1, sampling_parameters};
use crate::provider::Call;
use crate::request::{Input, Request};
use crate::secret::percent_encoded;
use crate::settings::{Endpoint, Format, LimitField, Provider};

pub(super) fn call(endpoint: &Endpoint, requests: &[&Request]) -> Call {
    let request = requests[0];
    match &request.input {
        Input::Chat { messages, sampling, format } => {
            let limit = match endpoint.limit_field {
                LimitField::MaxTokens => "max_tokens",
                LimitField::MaxCompletionTokens => "max_completion_tokens",
            };
            let names = Names { limit, top_p: "top_p", seed: Some("seed"), stop: Some("stop") };
            let mut body = sampling_parameters(sampling, request.sample, &names);
            body.insert("model".into(), json!(request.model));
            body.insert("messages".into(), json!(messages));
            body.extend(response_format(format).map(|value| ("response_format".into(), value)));
            if endpoint.stream {
                // Without the option a stream does not report its tokens.
                body.insert("stream".into(), json!(true));
                body.insert("stream_options".into(), json!({"include_usage": true}));
            }
            // Last, so that a field of the settings replaces one of the same name.
            body.extend(sampling.extra.iter().map(|(name, value)| (name.clone(), value.clone())));
            Call {
                path: request_path(endpoint, request, "chat/completions"),
                body: Value::Object(body).to_string(),
            }
        }
        Input::Embedding { text, dimensions } => {
            // Servers that take no list take a single text.
            let input = match requests {
                [_] => json!(text),
                _ => requests.iter().flat_map(|request| request.message_texts()).collect(),
            };
            let mut body = json!({"model": request.model, "input": input, "encoding_format": "float"});
            if let Some(dimensions) = dimensions {
                body["dimensions"] = json!(dimensions);
            }
            Call { path: request_path(endpoint, request, "embeddings"), body: body.to_string() }
        }
        Input::Translation { text, source, target } => {
            let body = json!({"q": text, "source": source, "target": target, "format": "text"});
            Call { path: super::TRANSLATE.into(), body: body.to_string() }
        }
    }
}

/// In Azure's dated interface a model is a deployment, which is part of the path.
fn request_path(endpoint: &Endpoint, request: &Request, path: &str) -> String {
    match endpoint.provider {
        Provider::Azure if !is_azure_v1(endpoint) => {
            let deployment: String = request.model.bytes().map(percent_encoded).collect();
            format!("openai/deployments/{deployment}/{path}")
        }
        _ => path.to_owned(),
    }
}

fn response_format(format: &Format) -> Option<Value> {
    match format {
        Format::Text => None,
        Format::JsonObject => Some(json!({"type": "json_object"})),
        Format::JsonSchema { name, schema } => Some(
            json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": true}}),
        ),
    }
}
