//! The setting that mends a refusal. What is refused, only the words of the server say.

use riddlemill_llm::Endpoint;
use riddlemill_record::Request;

use super::voting::Remedy;
use super::words::{Said, Word};
use crate::config::toml_string;

/// The paths behind an address in the settings.
const ENDINGS: [&str; 6] =
    ["/chat/completions", "/embeddings", "/v1/messages", "/api/chat", "/api/embed", "/translate"];

/// The setting behind a refusal that names an unsupported parameter.
pub(super) fn parameter(endpoint: &Endpoint, request: &Request) -> Option<Remedy> {
    let name = endpoint.name.as_str();
    let first = |word, setting: &str| Some(Remedy::First(Said::of(word, [setting, name])));
    if let Some(near) = &request.near {
        return first(Word::Set, &format!("model = {}", toml_string(near)));
    }
    // Servers word it differently, and only the beginning of their messages is kept.
    let message = request.server.as_ref()?.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let limit = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    if says(&limit) && says(&["too large", "too high", "at most", "must be", "maximum value"]) {
        return Some(Remedy::First(Said::of(Word::LowerTokens, [name])));
    }
    if !says(&[
        "unsupported",
        "not support",
        "n't support",
        "unrecognized",
        "unexpected",
        "unknown",
        "not permitted",
        "not allowed",
        "not enabled",
        "must alternate",
        "deprecated",
        "不支持",
    ]) {
        return None;
    }
    let own = endpoint.sampling.extra.keys().find(|key| message.contains(&key.to_lowercase()));
    if let Some(own) = own {
        return first(Word::TakeOut, &format!("sampling.extra.{own}"));
    }
    if says(&limit) {
        return first(Word::Set, "limit_field = \"max_completion_tokens\"");
    }
    if says(&["system role", "system message", "system prompt", "developer instruction", "must alternate"]) {
        return first(Word::Set, "system = \"user\"");
    }
    if says(&["response_format", "json_schema", "json_object"]) {
        let setting = if endpoint.structured { "structured = false" } else { "format = \"text\"" };
        return first(Word::Set, setting);
    }
    if endpoint.stream && says(&["stream"]) {
        return first(Word::Set, "stream = false");
    }
    let drawn = ["temperature", "top_p", "seed", "stop"].into_iter().find(|word| message.contains(word))?;
    first(Word::TakeOut, &format!("sampling.{drawn}"))
}

/// The address to set where a server redirects.
pub(super) fn moved(name: &str, to: Option<&str>) -> Remedy {
    Remedy::First(match to {
        Some(to) => {
            let base = ENDINGS.iter().find_map(|end| to.strip_suffix(end)).unwrap_or(to);
            Said::of(Word::Set, [&format!("base_url = {}", toml_string(base)), name])
        }
        None => Said::of(Word::CheckUrl, [name]),
    })
}
