//! A server's refusals: what they refer to, for how long, and whether permanently.

use std::time::Duration;

use serde_json::Value;

use super::fault::Kind;
use super::retry::seconds;

/// The meaning of an error status with its body.
pub(super) struct Refusal {
    pub kind: Kind,
    /// How long to wait, if the body states it.
    pub asked_wait: Option<Duration>,
}

/// Reads a refusal.
pub(super) fn read(status: u16, body: &str) -> Refusal {
    let parsed = serde_json::from_str::<Value>(body).ok();
    let error = parsed.as_ref().map(|body| body.get("error").unwrap_or(body));
    // Gemini's errors carry what other servers put into a status or a header.
    let details = || error.and_then(|error| error.get("details")?.as_array()).into_iter().flatten();
    let bad_key = details().any(|detail| detail["reason"] == "API_KEY_INVALID");
    let wait = details().find_map(|detail| detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok());
    let kind = match error {
        _ if status == 402 => Kind::QuotaExhausted(status),
        Some(error) if quota_exhausted(error) => Kind::QuotaExhausted(status),
        _ if bad_key => Kind::Status(401),
        _ => Kind::Status(status),
    };
    Refusal { kind, asked_wait: wait.map(seconds) }
}

/// Some servers answer 429, 403 or 400 permanently: the account is empty.
fn quota_exhausted(error: &Value) -> bool {
    const CODES: [&str; 6] = [
        "insufficient_quota",
        "billing_hard_limit_reached",
        "insufficient_balance",
        "quota_exceeded",
        "billing_not_active",
        "billing_error",
    ];
    let is_code =
        |name: &str| error.get(name).and_then(Value::as_str).is_some_and(|code| CODES.contains(&code));
    // Anthropic has no code for it.
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    is_code("code") || is_code("type") || message.contains("credit balance is too low")
}

/// Some proxies wrap the error of the server behind them in a success.
pub(super) fn within(body: &str, otherwise: Kind) -> Kind {
    let body = serde_json::from_str::<Value>(body).ok();
    let error = body.as_ref().and_then(|body| body.get("error"));
    let code = error
        .and_then(|error| error.get("code")?.as_u64())
        .and_then(|code| u16::try_from(code).ok())
        .filter(|code| (400..600).contains(code));
    match code {
        // The refusal came from a server behind this one: whether anything was billed is unknown.
        Some(code) if code >= 500 || code == 408 || code == 429 => {
            Kind::Garbage(format!("an error {code} inside a success"))
        }
        Some(code) => Kind::Status(code),
        None => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_are_read_in_every_providers_words() {
        let kind = |status, body: Value| read(status, &body.to_string()).kind;
        let openai =
            |code: &str| json!({"error": {"message": "m", "type": "t", "param": null, "code": code}});
        assert_eq!(kind(429, openai("rate_limit_exceeded")), Kind::Status(429));
        assert_eq!(kind(429, openai("insufficient_quota")), Kind::QuotaExhausted(429));
        let anthropic =
            |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
        assert_eq!(kind(529, anthropic("overloaded_error", "Overloaded")), Kind::Status(529));
        assert_eq!(kind(403, anthropic("billing_error", "pay")), Kind::QuotaExhausted(403));
        let empty = "Your credit balance is too low to access the API.";
        assert_eq!(kind(400, anthropic("invalid_request_error", empty)), Kind::QuotaExhausted(400));
        let gemini = |status: &str, details: Value| json!({"error": {"code": 0, "message": "m", "status": status, "details": details}});
        let key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
        assert_eq!(kind(400, gemini("INVALID_ARGUMENT", key)), Kind::Status(401));
        let retry = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]);
        let limited = read(429, &gemini("RESOURCE_EXHAUSTED", retry).to_string());
        assert_eq!(
            (limited.kind, limited.asked_wait),
            (Kind::Status(429), Some(Duration::from_millis(34_500)))
        );
        assert_eq!(kind(404, json!({"error": "model 'm' not found"})), Kind::Status(404));
        assert_eq!(kind(402, json!("")), Kind::QuotaExhausted(402));
        assert_eq!(read(502, "<html>").kind, Kind::Status(502));
    }
}
