//! The differences between providers: address, headers, body, pieces of a stream, and form of an answer.
//! Everything else reads OpenAI's forms. Answers are stored as received and converted when they are read, by
//! their own form: a stored reply does not name its provider.
//!
//! `tests/providers` contains what each provider's own package sends for the same requests.

mod address;
mod anthropic;
mod gemini;
mod ollama;
mod openai;
mod responses;

pub(super) use address::{Address, is_azure_v1};
pub(super) use gemini::{api_version as gemini_version, model_path as gemini_model};
pub(super) use responses::is_only_there as is_only_in_responses;

#[cfg(test)]
pub(super) use tests::{INTERFACES, asked, endpoint, http, recorded, recorder_after};

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::request::{Message, Request, Role};
use super::secret::{ApiKey, percent_encoded};
use super::settings::{Api, Endpoint, EndpointError, Format, Provider, Sampling};

/// A request as sent.
#[derive(Clone, Debug)]
pub struct Call {
    /// The path after the endpoint's address, such as `chat/completions`.
    pub path: String,
    /// The JSON body.
    pub body: String,
}

/// A text escaped for a path or a query.
pub(super) fn percent_encode(text: &str) -> String {
    text.bytes().map(percent_encoded).collect()
}

/// LibreTranslate's path. It takes its key in the body instead of a header.
pub(super) const TRANSLATE: &str = "translate";

/// The HTTP form of a chat, or of texts to embed together.
pub(super) fn call(endpoint: &Endpoint, requests: &[&Request]) -> Call {
    match endpoint.provider {
        Provider::Anthropic => anthropic::call(endpoint, requests),
        Provider::Gemini => gemini::call(endpoint, requests),
        Provider::Ollama => ollama::call(endpoint, requests),
        provider if provider.has_responses() && endpoint.api == Api::Responses => {
            responses::call(endpoint, requests)
        }
        Provider::Openai
        | Provider::Azure
        | Provider::Vllm
        | Provider::Libretranslate
        | Provider::Made
        | Provider::Sample => openai::call(endpoint, requests),
    }
}

/// The path of the list of models, if there is one.
pub(super) fn models_path(endpoint: &Endpoint) -> Option<String> {
    match endpoint.provider {
        Provider::Openai | Provider::Vllm => Some("models".into()),
        Provider::Azure if is_azure_v1(endpoint) => Some("models".into()),
        Provider::Azure => Some("openai/models".into()),
        Provider::Anthropic => Some("v1/models".into()),
        Provider::Gemini => Some(format!("{}/models", gemini::api_version(endpoint))),
        Provider::Ollama => Some("api/tags".into()),
        Provider::Libretranslate | Provider::Made | Provider::Sample => None,
    }
}

/// The version of the interface that is part of a request's address, if there is one.
pub(super) fn version_in_path(endpoint: &Endpoint) -> Option<&str> {
    match endpoint.provider {
        Provider::Gemini => Some(gemini::api_version(endpoint)),
        Provider::Azure => endpoint.api_version.as_deref(),
        _ => None,
    }
}

/// The names in such a list, as settings write them.
pub(super) fn parse_model_names(body: &str) -> Vec<String> {
    let Ok(body) = serde_json::from_str::<Value>(body) else { return Vec::new() };
    let list = ["data", "models"].iter().find_map(|name| body.get(*name)?.as_array());
    let name = |model: &Value| {
        let name = ["id", "name", "model"].iter().find_map(|name| model.get(*name)?.as_str())?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    list.into_iter().flatten().filter_map(name).collect()
}

/// The headers of every request, including keys: one that a command `printed`, or else the value of a variable.
pub(super) fn request_headers(
    endpoint: &Endpoint,
    printed: Option<&ApiKey>,
    value: &dyn Fn(&str) -> Option<ApiKey>,
) -> Result<HeaderMap, EndpointError> {
    let unsendable = |name: &str| EndpointError::HeaderValue(name.to_owned());
    let variable = endpoint.key_env.as_deref();
    let key = printed.cloned().or_else(|| variable.and_then(value));
    let accept = if endpoint.provider == Provider::Gemini { "*/*" } else { "application/json" };
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
    let name = match endpoint.provider {
        Provider::Azure if !is_azure_v1(endpoint) => Some(HeaderName::from_static("api-key")),
        // The header of the versions before.
        Provider::Anthropic if anthropic::takes_sampling(endpoint) => {
            Some(HeaderName::from_static("x-api-key"))
        }
        Provider::Gemini => Some(HeaderName::from_static("x-goog-api-key")),
        Provider::Libretranslate | Provider::Made | Provider::Sample => None,
        Provider::Openai | Provider::Azure | Provider::Vllm | Provider::Anthropic | Provider::Ollama => {
            Some(AUTHORIZATION)
        }
    };
    // Tokens that expire are sent like this everywhere.
    let name = name.map(|name| if printed.is_some() { AUTHORIZATION } else { name });
    if let (Some(name), Some(key)) = (name, key) {
        let key = key.header_value(if name == AUTHORIZATION { "Bearer " } else { "" });
        headers.insert(name, key.ok_or_else(|| unsendable(variable.unwrap_or("key_command")))?);
    }
    if endpoint.provider == Provider::Anthropic {
        let version =
            HeaderValue::from_str(anthropic::api_version(endpoint)).map_err(|_| unsendable("api_version"))?;
        headers.insert("anthropic-version", version);
    }
    for (name, variable) in &endpoint.headers {
        let header =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| EndpointError::HeaderName(name.clone()))?;
        if let Some(value) = value(variable) {
            headers.insert(header, value.header_value("").ok_or_else(|| unsendable(variable))?);
        }
    }
    Ok(headers)
}

/// The whole answer of a stream, as the server would have sent it whole; `None` if the stream ended early.
pub(super) fn assemble_stream(provider: Provider, stream: &str) -> Option<String> {
    match provider {
        Provider::Anthropic => anthropic::assemble_stream(stream),
        Provider::Gemini => gemini::assemble_stream(stream),
        Provider::Ollama => ollama::assemble_stream(stream),
        _ => responses::assemble_stream(stream).unwrap_or_else(|| super::events::assemble_stream(stream)),
    }
}

/// Whether answers of this content type are streams.
pub(super) fn is_stream(content_type: &[u8]) -> bool {
    content_type.starts_with(b"text/event-stream") || content_type.starts_with(b"application/x-ndjson")
}

/// Another provider's answer in OpenAI's form; `None` if it is not one.
pub(super) fn as_openai(raw: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(raw).ok()?;
    responses::as_openai(&body)
        .or_else(|| anthropic::as_openai(&body))
        .or_else(|| gemini::as_openai(&body))
        .or_else(|| ollama::as_openai(&body))
}

/// Parts of an answer that OpenAI's form has in one piece.
struct AnswerParts {
    text: String,
    reasoning: String,
    finish: &'static str,
    usage: Value,
}

impl AnswerParts {
    fn into_openai(self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.reasoning.is_empty() {
            message["reasoning"] = self.reasoning.into();
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish});
        json!({"choices": [choice], "usage": self.usage})
    }
}

/// Tokens in OpenAI's form; null if a required count is missing.
fn usage_json(prompt: Option<u64>, completion: Option<u64>, cached: u64, reasoning: u64) -> Value {
    let (Some(prompt), Some(completion)) = (prompt, completion) else { return Value::Null };
    json!({"prompt_tokens": prompt, "completion_tokens": completion,
        "prompt_tokens_details": {"cached_tokens": cached}, "completion_tokens_details": {"reasoning_tokens": reasoning}})
}

/// The instructions of a conversation in one text, and the rest of it.
fn part_instructions(messages: &[Message]) -> (Option<String>, impl Iterator<Item = &Message>) {
    let of = |system: bool| messages.iter().filter(move |message| (message.role == Role::System) == system);
    let system: Vec<&str> = of(true).map(|message| message.content.as_str()).collect();
    ((!system.is_empty()).then(|| system.join("\n\n")), of(false))
}

/// A provider's names of sampling parameters.
struct Names {
    limit: &'static str,
    top_p: &'static str,
    seed: Option<&'static str>,
    stop: Option<&'static str>,
}

fn sampling_parameters(sampling: &Sampling, sample: u32, names: &Names) -> Map<String, Value> {
    let seed = sampling.seed.map(|seed| Value::from(seed.wrapping_add(sample.into())));
    let all = [
        (Some(names.limit), Some(json!(sampling.max_tokens))),
        (Some("temperature"), sampling.temperature.map(Value::from)),
        (Some(names.top_p), sampling.top_p.map(Value::from)),
        (names.seed, seed),
        (names.stop, (!sampling.stop.is_empty()).then(|| json!(sampling.stop))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name?.to_owned(), value?))).collect()
}

/// The schema of an answer, with its name.
fn schema_of_format(format: &Format) -> Option<(&str, &Value)> {
    match format {
        Format::JsonSchema { name, schema } => Some((name, schema)),
        Format::Text | Format::JsonObject => None,
    }
}

/// Adds a field of a table that the settings may have given other fields.
fn insert_into(body: &mut Map<String, Value>, table: &str, field: &str, value: Value) {
    let table = body.entry(table).or_insert_with(|| json!({}));
    if let Some(table) = table.as_object_mut() {
        table.insert(field.to_owned(), value);
    }
}

/// The data of a stream's events.
fn stream_events(stream: &str) -> impl Iterator<Item = Value> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str(data.trim()).ok())
}

/// A setting that is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The setting, as in pipeline.toml below the endpoint's table: `sampling.temperature`.
    pub setting: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// The settings of an endpoint that are not sent, because its API has no such parameters.
pub fn unsent_settings(endpoint: &Endpoint) -> Vec<Unsent> {
    let sampling = &endpoint.sampling;
    let set = |name: &str| match name {
        "temperature" => sampling.temperature.is_some(),
        "top_p" => sampling.top_p.is_some(),
        "seed" => sampling.seed.is_some(),
        "stop" => !sampling.stop.is_empty(),
        _ => false,
    };
    let of = |names: &[&str], why: &str| -> Vec<Unsent> {
        let own = names.iter().filter(|name| set(name)).map(|name| format!("sampling.{name}"));
        own.map(|setting| Unsent { setting, why: why.to_owned() }).collect()
    };
    match endpoint.provider {
        Provider::Anthropic => {
            let mut all = of(&["seed"], "Anthropic's API has no such parameter; remove it");
            if !anthropic::takes_sampling(endpoint) {
                let why = format!(
                    "Anthropic's API has no such parameter since version {}; remove it, or set api_version = \"{}\"",
                    anthropic::WITHOUT_SAMPLING,
                    anthropic::WITH_SAMPLING
                );
                all.extend(of(&anthropic::SAMPLING, &why));
                let extra = anthropic::SAMPLING.iter().filter(|name| sampling.extra.contains_key(**name));
                all.extend(
                    extra.map(|name| Unsent { setting: format!("sampling.extra.{name}"), why: why.clone() }),
                );
            }
            all
        }
        provider if provider.has_responses() && endpoint.api == Api::Responses => {
            of(&["seed", "stop"], "the Responses API has no such parameter; remove it, or set api = \"chat\"")
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod responses_tests;
#[cfg(test)]
mod tests;

#[cfg(test)]
mod unsent_tests {
    use super::*;
    use crate::settings::Sampling;
    use serde_json::json;

    #[test]
    fn what_an_api_has_no_parameter_for_is_named() {
        let sampling = Sampling {
            temperature: Some(0.7),
            seed: Some(1),
            stop: vec!["x".into()],
            extra: [("top_k".to_owned(), json!(5))].into(),
            ..Sampling::default()
        };
        let named = |provider, api, api_version: Option<&str>| -> Vec<String> {
            let endpoint = Endpoint {
                provider,
                api,
                api_version: api_version.map(str::to_owned),
                sampling: sampling.clone(),
                ..Endpoint::new("e", "https://h/v1", "m")
            };
            unsent_settings(&endpoint).into_iter().map(|unsent| unsent.setting).collect()
        };
        let now = ["sampling.seed", "sampling.temperature", "sampling.extra.top_k"];
        assert_eq!(named(Provider::Anthropic, Api::Chat, None), now);
        assert_eq!(named(Provider::Anthropic, Api::Chat, Some("2023-06-01")), now[..1]);
        assert_eq!(named(Provider::Openai, Api::Responses, None), ["sampling.seed", "sampling.stop"]);
        assert!(named(Provider::Openai, Api::Chat, None).is_empty());
        assert!(named(Provider::Gemini, Api::Responses, None).is_empty());
    }
}
