//! How long to wait between attempts: exponential, capped, with full jitter, unless the server's refusal says how long, to what
//! it refers, and whether it is permanent.

use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::fault::Kind;
use super::settings::Retries;

/// The waits of one item.
pub(super) struct Waits(ExponentialBackoff);

impl Waits {
    pub(super) fn new(retries: &Retries) -> Waits {
        let builder = ExponentialBuilder::new()
            .with_min_delay(clamp_seconds(retries.first_wait_secs))
            .with_max_delay(clamp_seconds(retries.max_wait_secs))
            // `max_attempts` limits the number of attempts, not this.
            .without_max_times();
        Waits(builder.build())
    }

    /// The bound of the next wait.
    fn next_bound(&mut self) -> Duration {
        self.0.next().unwrap_or_default()
    }

    /// The next wait: uniform between zero and its bound, so that requests refused together come back apart.
    pub(super) fn next(&mut self) -> Duration {
        self.next_bound().mul_f64(fastrand::f64())
    }
}

/// A duration from a setting; a negative or absurd one is clamped, not refused.
pub(super) fn clamp_seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::from_secs(u64::from(u32::MAX)))
}

/// How long `Retry-After` asks to wait, in either of its forms or in milliseconds.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    // First, because it is the more precise one if a server sends both.
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Some(clamp_seconds(millis / 1000.0));
    }
    riddlemill_http::asked_wait(text(RETRY_AFTER.as_str())?, now)
}

/// How long the rate-limit headers say that no requests or tokens are left.
pub(super) fn exhausted_for(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: String| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    ["requests", "tokens"]
        .into_iter()
        .filter(|what| text(format!("x-ratelimit-remaining-{what}")).is_some_and(|left| left == "0"))
        .filter_map(|what| {
            text(format!("x-ratelimit-reset-{what}")).and_then(|reset| parse_duration(reset, now))
        })
        // Both limits have to be free again.
        .max()
}

/// `6m0s`, `1h2m3.5s`, `20ms`, plain seconds, or a time.
fn parse_duration(text: &str, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = riddlemill_http::asked_wait(text, now) {
        return Some(wait);
    }
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = rest[..digits].parse().ok()?;
        let unit_len = rest[digits..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - digits);
        total += value
            * match &rest[digits..digits + unit_len] {
                "d" => 86_400.0,
                "h" => 3_600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                // Too short to wait for.
                "us" | "ns" => 0.0,
                _ => return None,
            };
        rest = &rest[digits + unit_len..];
    }
    Some(clamp_seconds(total))
}

/// The meaning of an error status with its body.
pub(super) struct Refusal {
    pub kind: Kind,
    /// How long to wait, if the body states it.
    pub asked_wait: Option<Duration>,
}

/// Reads a refusal.
pub(super) fn parse_refusal(status: u16, body: &str) -> Refusal {
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
    Refusal { kind, asked_wait: wait.map(clamp_seconds) }
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
pub(super) fn kind_of_wrapped_error(body: &str, otherwise: Kind) -> Kind {
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
    use proptest::prelude::*;
    use reqwest::header::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap())
            })
            .collect()
    }

    #[test]
    fn bounds_double_up_to_the_cap() {
        let mut waits =
            Waits::new(&Retries { first_wait_secs: 0.5, max_wait_secs: 3.0, ..Retries::default() });
        let bounds: Vec<f64> = (0..6).map(|_| waits.next_bound().as_secs_f64()).collect();
        assert_eq!(bounds, [0.5, 1.0, 2.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn jitter_is_full() {
        let retries = Retries { first_wait_secs: 1.0, max_wait_secs: 1.0, ..Retries::default() };
        let waits: Vec<f64> = (0..400).map(|_| Waits::new(&retries).next().as_secs_f64()).collect();
        assert!(waits.iter().all(|wait| (0.0..=1.0).contains(wait)));
        assert!(waits.iter().any(|&wait| wait < 0.1) && waits.iter().any(|&wait| wait > 0.9));
    }

    #[test]
    fn both_forms_of_retry_after_are_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let date = httpdate::fmt_http_date(now + Duration::from_secs(90));
        let past = httpdate::fmt_http_date(now - Duration::from_secs(90));
        for (value, secs) in [
            ("7", Some(7.0)),
            ("0.5", Some(0.5)),
            (&date, Some(90.0)),
            (&past, Some(0.0)),
            ("soon", None),
            // Times since 1970, in seconds and in milliseconds.
            ("1700000002", Some(2.0)),
            ("1700000002500", Some(2.5)),
            ("1600000000", Some(0.0)),
            ("-5", Some(0.0)),
            ("86400", Some(86_400.0)),
        ] {
            let wait = retry_after(&headers(&[("retry-after", value)]), now);
            assert_eq!(wait.map(|wait| wait.as_secs_f64()), secs, "{value}");
        }
        let both = headers(&[("retry-after", "9"), ("retry-after-ms", "250")]);
        assert_eq!(retry_after(&both, now), Some(Duration::from_millis(250)));
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn rate_limit_headers_count_when_nothing_is_left() {
        let left = |left, reset| {
            exhausted_for(
                &headers(&[("x-ratelimit-remaining-tokens", left), ("x-ratelimit-reset-tokens", reset)]),
                SystemTime::UNIX_EPOCH,
            )
        };
        assert_eq!(left("0", "6m0s"), Some(Duration::from_secs(360)));
        assert_eq!(left("0", "1h2m3s"), Some(Duration::from_secs(3723)));
        assert_eq!(left("0", "20ms"), Some(Duration::from_millis(20)));
        assert_eq!(left("0", "1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(left("12", "6m0s"), None);
        assert_eq!(left("0", "later"), None);
    }

    proptest! {
        #[test]
        fn no_header_panics(value in "[ -~]{0,20}") {
            let headers = headers(&[("retry-after", &value), ("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", &value)]);
            let _ = (retry_after(&headers, SystemTime::UNIX_EPOCH), exhausted_for(&headers, SystemTime::UNIX_EPOCH));
        }
    }

    #[test]
    fn refusals_are_read_in_every_providers_words() {
        let kind = |status, body: Value| parse_refusal(status, &body.to_string()).kind;
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
        let limited = parse_refusal(429, &gemini("RESOURCE_EXHAUSTED", retry).to_string());
        assert_eq!(
            (limited.kind, limited.asked_wait),
            (Kind::Status(429), Some(Duration::from_millis(34_500)))
        );
        assert_eq!(kind(404, json!({"error": "model 'm' not found"})), Kind::Status(404));
        assert_eq!(kind(402, json!("")), Kind::QuotaExhausted(402));
        assert_eq!(parse_refusal(502, "<html>").kind, Kind::Status(502));
    }
}
