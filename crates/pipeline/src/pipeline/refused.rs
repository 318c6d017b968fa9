//! The setting that mends a refusal, by the words of the server.

use riddlemill_llm::Endpoint;

use super::voting::Remedy;

/// The paths behind an address in the settings.
const ENDINGS: [&str; 6] =
    ["/chat/completions", "/embeddings", "/v1/messages", "/api/chat", "/api/embed", "/translate"];

/// The suggested model, if an endpoint's list has a close one.
fn near_model(evidence: &str) -> Option<&str> {
    evidence.split_once("did you mean \"")?.1.split('"').next()
}

/// The setting behind a refusal that names an unsupported parameter.
pub(super) fn parameter(endpoint: &Endpoint, evidence: &str) -> Option<Remedy> {
    let name = &endpoint.name;
    let under = format!("under [llm.{name}] in pipeline.toml");
    if let Some(near) = near_model(evidence) {
        return Some(Remedy::First(format!("set model = {near:?} {under}")));
    }
    // Servers word it differently, and only the beginning of their messages is kept.
    let evidence = evidence.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| evidence.contains(word));
    let limit = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    if says(&limit) && says(&["too large", "too high", "at most", "must be", "maximum value"]) {
        return Some(Remedy::First(format!("lower sampling.max_tokens {under}")));
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
    let own = endpoint.sampling.extra.keys().find(|key| evidence.contains(&key.to_lowercase()));
    if let Some(own) = own {
        return Some(Remedy::First(format!("take sampling.extra.{own} out {under}")));
    }
    if says(&limit) {
        return Some(Remedy::First(format!("set limit_field = \"max_completion_tokens\" {under}")));
    }
    if says(&["system role", "system message", "system prompt", "developer instruction", "must alternate"]) {
        return Some(Remedy::First(format!("set system = \"user\" {under}")));
    }
    if says(&["response_format", "json_schema", "json_object"]) {
        let setting = if endpoint.structured { "structured = false" } else { "format = \"text\"" };
        return Some(Remedy::First(format!("set {setting} {under}")));
    }
    if endpoint.stream && says(&["stream"]) {
        return Some(Remedy::First(format!("set stream = false {under}")));
    }
    let drawn = ["temperature", "top_p", "seed", "stop"].into_iter().find(|word| evidence.contains(word));
    drawn.map(|word| Remedy::First(format!("take sampling.{word} out {under}")))
}

/// The address to set where a server redirects.
pub(super) fn moved(name: &str, evidence: &str) -> Remedy {
    match evidence.split_once(": it points to ") {
        Some((_, to)) => {
            let to = to.split([' ', ';']).next().unwrap_or(to);
            let base = ENDINGS.iter().find_map(|end| to.strip_suffix(end)).unwrap_or(to);
            Remedy::First(format!("set base_url = {base:?} under [llm.{name}] in pipeline.toml"))
        }
        None => Remedy::First(format!("check base_url of [llm.{name}] in pipeline.toml")),
    }
}

/// What went wrong with a request, without the server's message and the number of attempts.
pub(super) fn fault(evidence: &str) -> &str {
    let ends = [" (", ", asking to wait", "; ", ": it points to "];
    let end = ends.iter().filter_map(|end| evidence.find(end)).min().unwrap_or(evidence.len());
    &evidence[..end]
}

/// Whether a model or a filter refused what a text says, and not how it was asked.
pub(super) fn is_of_text(evidence: &str) -> bool {
    ["the model refused", "content filter"].iter().any(|words| fault(evidence).contains(words))
}
