//! Failures of one attempt: whether another attempt is worthwhile, and whether it may have cost something.
//! How long to wait is decided elsewhere.

use std::fmt;
use std::time::Duration;

use super::store::Usage;

/// Words of refusals because of what a text is about, in lower case.
const WITHHELD: [&str; 20] = [
    "content_filter",
    "content filter",
    "content management policy",
    "content policy",
    "content_policy",
    "usage policies",
    "responsibleaipolicy",
    "moderation",
    "flagged",
    "inappropriate",
    "data_inspection",
    "datainspection",
    "content exists risk",
    "sensitive",
    "safety",
    "unsafe",
    "prohibited_content",
    "敏感",
    "违规",
    "内容安全",
];
/// Words of refusals because of a text's length, in lower case.
const TOO_LONG: [&str; 14] = [
    "too long",
    "context length",
    "context_length",
    "context window",
    "context size",
    "context_size",
    "maximum context",
    "too many tokens",
    "too many input tokens",
    "string_above_max_length",
    "reduce the length",
    "request too large",
    "input tokens exceed",
    "过长",
];
/// Words of refusals because of a parameter, a role or the model, in lower case.
const OF_SETTINGS: [&str; 22] = [
    "unsupported",
    "not support",
    "n't support",
    "unrecognized",
    "unknown parameter",
    "unknown argument",
    "unknown field",
    "unexpected keyword",
    "unexpected argument",
    "not permitted",
    "not enabled",
    "not allowed with this model",
    "model_not_found",
    "model not found",
    "no such model",
    "unknown model",
    "invalid model",
    "no healthy deployment",
    "no deployments available",
    "max_tokens is too large",
    "max_tokens must be",
    "不支持",
];
/// The descriptions of replies that hold no answer, by which stored ones are known again.
const BLOCKED: &str = "its content filter blocked it";
const REFUSED: &str = "the model refused";
const EMPTY: &str = "an empty answer from ";
const REASONING: &str = " that is all reasoning";

/// Why a reply that came holds no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// The model refused, or a content filter withheld the answer.
    Refused,
    /// It is empty, or nothing but reasoning.
    Unread,
}

/// One failed attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What happened.
    pub kind: Kind,
    /// The server's response, as far as it was received.
    pub raw: String,
    /// How long the server asked to wait.
    pub asked_wait: Option<Duration>,
    /// Tokens, if the server counted any nevertheless.
    pub usage: Option<Usage>,
    /// Where a redirect points, without its query.
    pub location: Option<String>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No connection was established: nothing was sent.
    Connect(String),
    /// The command that prints the key printed none: nothing was sent.
    NoKey(String),
    /// The answer did not arrive completely in time.
    Timeout,
    /// The connection ended before the answer did.
    Cut(String),
    /// A complete answer with an error status.
    Status(u16),
    /// The account has no money or quota left; waiting does not help.
    QuotaExhausted(u16),
    /// Success, but not in the interface's format.
    Garbage(String),
    /// Success, but of this type and no JSON: another server answers there.
    NotJson(String),
    /// Success, but without text.
    Empty,
    /// Success, but with nothing except reasoning.
    OnlyReasoning,
    /// Success, but the server withheld the answer because of its content or the question's.
    Blocked,
    /// Success, but the model refused, in a field of its own; with its words.
    Refused(String),
    /// The answer is longer than this many bytes.
    TooLarge(usize),
}

impl Fault {
    pub(super) fn new(kind: Kind) -> Fault {
        Fault { kind, raw: String::new(), asked_wait: None, usage: None, location: None }
    }

    /// Whether the same request may succeed later. A refusal of the request itself is permanent.
    pub fn is_retriable(&self) -> bool {
        match self.kind {
            Kind::Connect(_) | Kind::NoKey(_) | Kind::Timeout | Kind::Cut(_) => true,
            Kind::Garbage(_) | Kind::NotJson(_) | Kind::Empty => true,
            // All tokens went into reasoning and were paid for: asking again would buy the same.
            Kind::OnlyReasoning | Kind::Blocked | Kind::Refused(_) => false,
            Kind::Status(status) => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            Kind::QuotaExhausted(_) | Kind::TooLarge(_) => false,
        }
    }

    /// Whether the server cannot have charged for it: it was never reached, or refused before it began. Any
    /// other failure without a token count is charged at its reservation.
    pub fn is_unbilled(&self) -> bool {
        match self.kind {
            Kind::Connect(_) | Kind::NoKey(_) | Kind::QuotaExhausted(_) => true,
            Kind::Status(status) => matches!(status, 300..=407 | 409..=499),
            _ => false,
        }
    }

    /// Whether every other request would fail in the same way until somebody fixes it: the key, the address,
    /// the account, a setting, the server itself.
    pub fn of_endpoint(&self) -> bool {
        let surely = matches!(
            self.kind,
            Kind::Connect(_)
                | Kind::NoKey(_)
                | Kind::QuotaExhausted(_)
                | Kind::NotJson(_)
                | Kind::Status(300..=399 | 401..=407 | 410 | 411 | 414 | 415 | 421 | 426 | 431)
        );
        !self.is_of_text() && (surely || self.is_about_settings())
    }

    /// Whether it may be a fault of the endpoint: other records' requests refused in the same way, with no
    /// answer between, show that it is.
    pub fn may_be_of_endpoint(&self) -> bool {
        let refused = matches!(self.kind, Kind::Status(400..=499)) && !self.is_retriable();
        self.of_endpoint() || refused && !self.is_of_text()
    }

    /// Whether one text is refused, for what it is about or for its length: others may be answered.
    fn is_of_text(&self) -> bool {
        refuses_text(&self.kind, &self.raw)
    }

    /// Whether the same request would always fail in the same way: refused for its content, or answered with
    /// nothing or too much however often it was sent.
    pub fn is_lasting(&self) -> bool {
        let lasts = matches!(
            self.kind,
            Kind::Empty
                | Kind::OnlyReasoning
                | Kind::Blocked
                | Kind::Refused(_)
                | Kind::TooLarge(_)
                | Kind::Status(400 | 413 | 422 | 451)
        );
        lasts && !self.of_endpoint() || matches!(self.kind, Kind::Status(403)) && self.is_of_text()
    }

    /// Whether a parameter, a role or the model is refused: these come from settings that apply to all
    /// requests, and the name of a limit's parameter is not even part of the key.
    fn is_about_settings(&self) -> bool {
        if !matches!(self.kind, Kind::Status(400 | 422)) {
            return false;
        }
        let message = self.raw.to_lowercase();
        refuses_system(400, &self.raw) || OF_SETTINGS.iter().any(|word| message.contains(word))
    }

    /// Whether the server may not know the model.
    pub(super) fn is_about_model(&self) -> bool {
        let names_model =
            || error_message(&self.raw).is_some_and(|message| message.to_ascii_lowercase().contains("model"));
        matches!(self.kind, Kind::Status(404 | 405))
            || matches!(self.kind, Kind::Status(400 | 403)) && names_model()
    }

    /// Whether one of several texts may be one that the server cannot take.
    pub fn refuses_content(&self) -> bool {
        matches!(self.kind, Kind::Status(400 | 413 | 422) | Kind::TooLarge(_))
    }

    /// Description for a ledger, with the endpoint: `401 from mine (invalid api key)`.
    pub fn describe_for_ledger(&self, endpoint: &str) -> String {
        let description = match &self.kind {
            Kind::Connect(why) | Kind::NoKey(why) => format!("no connection to {endpoint}: {why}"),
            Kind::Timeout => format!("no whole answer from {endpoint} in time"),
            Kind::Cut(why) => format!("the connection to {endpoint} was cut: {why}"),
            Kind::Status(status) => format!("{status} from {endpoint}"),
            Kind::QuotaExhausted(status) => {
                format!("{status} from {endpoint}: the account's quota is exhausted")
            }
            Kind::Garbage(why) => format!("not an answer of this interface from {endpoint}: {why}"),
            Kind::NotJson(kind) => {
                format!("not an answer of this interface from {endpoint}: {kind}, not JSON")
            }
            Kind::Empty => format!("{EMPTY}{endpoint}"),
            Kind::OnlyReasoning => format!("an answer from {endpoint}{REASONING}"),
            Kind::Blocked => format!("no answer from {endpoint}: {BLOCKED}"),
            Kind::Refused(words) => match one_line(words) {
                Some(words) => format!("no answer from {endpoint}: {REFUSED} ({words})"),
                None => format!("no answer from {endpoint}: {REFUSED}"),
            },
            Kind::TooLarge(most) => format!(
                "an answer from {endpoint} of more than {} MiB; if it should be so long, raise max_reply_mib under \
                 [llm.{endpoint}] and give --retry-failed",
                most.div_ceil(1 << 20)
            ),
        };
        if let Some(location) = &self.location {
            return format!("{description}: it points to {location}");
        }
        match self.refusal_message() {
            Some(message) => format!("{description} ({message})"),
            None => description,
        }
    }

    /// The server's explanation of its refusal.
    pub(super) fn refusal_message(&self) -> Option<String> {
        self.http_status().and_then(|_| error_message(&self.raw))
    }

    /// The HTTP status, if one decided.
    pub fn http_status(&self) -> Option<u16> {
        match self.kind {
            Kind::Status(status) | Kind::QuotaExhausted(status) => Some(status),
            _ => None,
        }
    }
}

/// Whether a status refuses one text for what it is about, in the server's words.
pub(super) fn is_content_refusal(status: u16, raw: &str) -> bool {
    let message = raw.to_lowercase();
    matches!(status, 400 | 403 | 422 | 451) && WITHHELD.iter().any(|word| message.contains(word))
}

/// Whether a text was refused, for its content or its length: another model may take it.
pub(super) fn refuses_text(kind: &Kind, raw: &str) -> bool {
    match kind {
        Kind::Blocked | Kind::Refused(_) | Kind::Status(413 | 451) => true,
        Kind::Status(400 | 403 | 422) => {
            let message = raw.to_lowercase();
            WITHHELD.iter().chain(&TOO_LONG).any(|word| message.contains(word))
        }
        _ => false,
    }
}

/// Why a reply that came holds no answer, by the description that a log of an earlier version keeps of it.
pub(super) fn no_answer(error: &str) -> Option<NoAnswer> {
    if error.contains(BLOCKED) || error.contains(REFUSED) {
        return Some(NoAnswer::Refused);
    }
    (error.starts_with(EMPTY) || error.contains(REASONING)).then_some(NoAnswer::Unread)
}

/// Whether a request was refused because of its schema, in the words of any server.
pub(super) fn refuses_schema(status: u16, raw: &str) -> bool {
    const WORDS: [&str; 7] = ["schema", "response_format", "structured", "guided", "tool", "mime", "format"];
    let message = raw.to_ascii_lowercase();
    matches!(status, 400 | 422) && WORDS.iter().any(|word| message.contains(word))
}

/// Whether a request was refused because it has a system's message, in the words of any server.
pub(super) fn refuses_system(status: u16, raw: &str) -> bool {
    const ROLES: [&str; 8] = [
        "system role",
        "system message",
        "system prompt",
        "system instruction",
        "developer instruction",
        "role 'system'",
        "role: system",
        "\\\"system\\\"",
    ];
    const REFUSED: [&str; 8] = [
        "not support",
        "n't support",
        "unsupported",
        "not enabled",
        "not allowed",
        "not available",
        "must alternate",
        "invalid role",
    ];
    let message = raw.to_ascii_lowercase();
    // Chat templates of models without such a role want user and assistant in turn.
    let alternate = message.contains("roles must alternate user/assistant");
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    (400..=500).contains(&status) && status != 429 && (alternate || has(&ROLES) && has(&REFUSED))
}

/// A server's explanation of its refusal; its beginning, on one line.
pub(super) fn error_message(raw: &str) -> Option<String> {
    const PLACES: [&str; 11] = [
        "/error/message",
        "/error/msg",
        "/error",
        "/message",
        "/msg",
        "/detail",
        "/detail/0/msg",
        "/errors/0/message",
        "/0/error/message",
        "/error_description",
        "/title",
    ];
    match serde_json::from_str::<serde_json::Value>(raw) {
        Ok(serde_json::Value::String(text)) => one_line(&text),
        Ok(body) => one_line(PLACES.iter().find_map(|place| body.pointer(place)?.as_str())?),
        // Some servers answer in plain words, and proxies with a page.
        Err(_) if !raw.trim_start().starts_with(['<', '{', '[']) => one_line(raw),
        Err(_) => None,
    }
}

/// The beginning of a text, on one line.
fn one_line(text: &str) -> Option<String> {
    const CHARS: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(CHARS).collect();
    let more = if line.chars().count() > CHARS { "…" } else { "" };
    (!line.is_empty()).then(|| format!("{}{more}", short.trim_end_matches('.')))
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Connect(why) | Kind::NoKey(why) => write!(f, "no connection: {why}"),
            Kind::Timeout => f.write_str("no whole answer in time"),
            Kind::Cut(why) => write!(f, "the connection was cut: {why}"),
            Kind::Status(status) => write!(f, "the server answered {status}"),
            Kind::QuotaExhausted(status) => {
                write!(f, "the server answered {status}: the account's quota is exhausted")
            }
            Kind::Garbage(why) => write!(f, "not an answer of this interface: {why}"),
            Kind::NotJson(kind) => write!(f, "not an answer of this interface: {kind}, not JSON"),
            Kind::Empty => f.write_str("an empty answer"),
            Kind::OnlyReasoning => f.write_str("an answer that is all reasoning"),
            Kind::Blocked => f.write_str("blocked by the server's content filter"),
            Kind::Refused(_) => f.write_str("the model refused"),
            Kind::TooLarge(most) => write!(f, "an answer of more than {most} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(Fault::new(Kind::Status(status)).is_retriable(), "{status}");
        }
        for status in [301, 400, 401, 402, 403, 404, 413, 422] {
            assert!(!Fault::new(Kind::Status(status)).is_retriable(), "{status}");
        }
        assert!(!Fault::new(Kind::QuotaExhausted(429)).is_retriable());
        assert!(Fault::new(Kind::Cut(String::new())).is_retriable());
    }

    #[test]
    fn a_fault_says_whose_it_is_and_what_the_server_says() {
        let describe =
            |kind, raw: &str| Fault { raw: raw.into(), ..Fault::new(kind) }.describe_for_ledger("mine");
        let refused = r#"{"error": {"message": "invalid\napi key.", "code": 1}}"#;
        assert_eq!(describe(Kind::Status(401), refused), "401 from mine (invalid api key)");
        assert_eq!(describe(Kind::Status(404), r#"{"detail": "Not Found"}"#), "404 from mine (Not Found)");
        assert_eq!(describe(Kind::Status(502), "<html>"), "502 from mine");
        assert_eq!(describe(Kind::Connect("refused".into()), ""), "no connection to mine: refused");
    }

    #[test]
    fn what_lasts_is_no_fault_of_the_endpoint() {
        for kind in
            [Kind::Status(401), Kind::Status(404), Kind::Connect(String::new()), Kind::QuotaExhausted(429)]
        {
            let fault = Fault::new(kind);
            assert!(fault.of_endpoint() && !fault.is_lasting(), "{fault}");
        }
        for kind in [Kind::Status(400), Kind::Status(422), Kind::Empty, Kind::TooLarge(1)] {
            let fault = Fault::new(kind);
            assert!(!fault.of_endpoint() && fault.is_lasting(), "{fault}");
        }
        for kind in [Kind::Status(500), Kind::Status(429), Kind::Timeout] {
            let fault = Fault::new(kind);
            assert!(!fault.of_endpoint() && !fault.is_lasting(), "{fault}");
        }
    }

    #[test]
    fn a_refused_parameter_is_a_fault_of_the_settings() {
        let flags = |raw: &str| {
            let fault = Fault { raw: raw.into(), ..Fault::new(Kind::Status(400)) };
            (fault.of_endpoint(), fault.is_lasting())
        };
        let parameter =
            r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported", "code": null}}"#;
        assert_eq!(flags(parameter), (true, false));
        assert_eq!(flags(r#"{"error": {"message": "no", "code": "unsupported_value"}}"#), (true, false));
        let long = r#"{"error": {"message": "This model's maximum context length is 9 tokens", "code": "context_length_exceeded"}}"#;
        assert_eq!(flags(long), (false, true));
    }

    #[test]
    fn only_a_refusal_is_surely_free() {
        for kind in [Kind::Status(429), Kind::Status(401), Kind::Connect(String::new())] {
            assert!(Fault::new(kind.clone()).is_unbilled(), "{kind:?}");
        }
        for kind in
            [Kind::Status(500), Kind::Status(408), Kind::Timeout, Kind::Cut(String::new()), Kind::Empty]
        {
            assert!(!Fault::new(kind.clone()).is_unbilled(), "{kind:?}");
        }
    }
}
