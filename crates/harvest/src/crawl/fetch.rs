//! One request and its answer, within limits.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderValue};
use riddlemill_http::Built;
use url::Url;

use super::guard::{Guard, Refusal};
use super::settings::Limits;
use crate::warc::{Decoded, Head, Truncated, decode_body};

/// Validators of an earlier answer for a conditional request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// An answer as received.
#[derive(Clone, Debug)]
pub(super) struct ReceivedAnswer {
    pub url: Url,
    pub head: Head,
    /// `OK`, in words.
    pub reason: &'static str,
    pub version: &'static str,
    /// Request fields as sent.
    pub sent: Vec<(String, String)>,
    /// The body as sent: transfer coding undone, content-encoding not.
    pub wire: Vec<u8>,
    pub truncated: Option<Truncated>,
    pub ip: IpAddr,
    /// When the request was sent.
    pub began: SystemTime,
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum PageFetchError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("no answer in time")]
    Timeout,
    #[error("the connection failed: {0}")]
    Connection(String),
}

/// Sends requests that passed the guard, to the addresses the guard pinned.
pub(super) struct Fetcher {
    client: Built,
    guard: Guard,
    user_agent: String,
    limits: Limits,
}

impl Fetcher {
    pub fn new(guard: Guard, user_agent: &str, limits: &Limits) -> Result<Fetcher, reqwest::Error> {
        // No redirects, proxy, cookies, decoding or referer: every hop is a separate request that is checked
        // anew, and the archive contains the bytes received.
        let client = riddlemill_http::build(|client| {
            client
                .dns_resolver(guard.pins())
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .no_gzip()
                .no_brotli()
                .no_zstd()
                .no_deflate()
                .http1_only()
                .referer(false)
                // With zero, no connection would ever be made in time.
                .connect_timeout(Duration::from_secs_f64(limits.idle_secs.max(0.001)))
        })?;
        Ok(Fetcher { client, guard, user_agent: user_agent.into(), limits: limits.clone() })
    }

    /// Whether a link may be followed, as far as can be decided without a resolver.
    pub fn in_scope(&self, url: &Url) -> Result<(), Refusal> {
        self.guard.in_scope(url)
    }

    /// One request. Redirects are returned as answers.
    pub async fn request_page(
        &self,
        url: &Url,
        validators: &Validators,
    ) -> Result<ReceivedAnswer, PageFetchError> {
        self.client.reaches(url.as_str()).map_err(|none| PageFetchError::Connection(none.to_string()))?;
        // Before every request, because a name may lead to other addresses by now.
        let ip = self.guard.check_url(url).await?;
        let deadline = tokio::time::Instant::now() + Duration::from_secs_f64(self.limits.total_secs);
        let headers = self.request_headers(validators);
        let host = super::settings::host_and_port(url).unwrap_or_default();
        // The client adds this field by itself; the archive needs it, too.
        let mut sent = vec![("Host".to_string(), host)];
        sent.extend(headers.iter().map(|(name, value)| (name.to_string(), text_of_value(value))));
        let began = SystemTime::now();
        let request = self.client.client.get(url.clone()).headers(headers).send();
        let response = match tokio::time::timeout_at(deadline, request).await {
            Err(_) => return Err(PageFetchError::Timeout),
            Ok(Err(error)) if error.is_timeout() => return Err(PageFetchError::Timeout),
            Ok(Err(error)) => return Err(PageFetchError::Connection(chain_causes(&error))),
            Ok(Ok(response)) => response,
        };
        let head = Head {
            status: response.status().as_u16(),
            fields: response
                .headers()
                .iter()
                .map(|(name, value)| (name.to_string(), text_of_value(value)))
                .collect(),
        };
        let reason = response.status().canonical_reason().unwrap_or_default();
        let version = if response.version() == reqwest::Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" };
        let (wire, truncated) = self.read_body(response, deadline).await;
        Ok(ReceivedAnswer { url: url.clone(), head, reason, version, sent, wire, truncated, ip, began })
    }

    /// Reads until the end, a limit or an error; what was received by then is kept.
    async fn read_body(
        &self,
        mut response: reqwest::Response,
        deadline: tokio::time::Instant,
    ) -> (Vec<u8>, Option<Truncated>) {
        let idle = Duration::from_secs_f64(self.limits.idle_secs);
        let limit = self.limits.wire_bytes as usize;
        let mut wire = Vec::new();
        loop {
            let until = deadline.min(tokio::time::Instant::now() + idle);
            match tokio::time::timeout_at(until, response.chunk()).await {
                Err(_) => return (wire, Some(Truncated::Time)),
                Ok(Err(error)) if error.is_timeout() => return (wire, Some(Truncated::Time)),
                Ok(Err(_)) => return (wire, Some(Truncated::Disconnect)),
                Ok(Ok(None)) => return (wire, None),
                Ok(Ok(Some(chunk))) => {
                    let room = limit - wire.len();
                    wire.extend_from_slice(&chunk[..chunk.len().min(room)]);
                    if chunk.len() > room {
                        return (wire, Some(Truncated::Length));
                    }
                }
            }
        }
    }

    /// The body with its content-encoding undone, within the limit.
    pub fn decode_answer(&self, answer: &ReceivedAnswer) -> Decoded {
        // hyper has undone the transfer coding; the field about it would mislead.
        let mut head = answer.head.clone();
        head.fields.retain(|(name, _)| !name.eq_ignore_ascii_case("transfer-encoding"));
        let decoded = decode_body(&head, &answer.wire, self.limits.decoded_bytes);
        Decoded { truncated: answer.truncated.or(decoded.truncated), ..decoded }
    }

    fn request_headers(&self, validators: &Validators) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name, value: &str| {
            // Validators come from servers and may have characters that cannot be sent; the page is then
            // requested anew.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        set(header::USER_AGENT, &self.user_agent);
        set(header::ACCEPT, "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8");
        // The client undoes no encoding, so only those that `decode_body` can undo may be asked for.
        set(header::ACCEPT_ENCODING, "gzip, br");
        set(header::ACCEPT_LANGUAGE, "zh-CN,zh;q=0.9,en;q=0.8");
        if let Some(etag) = &validators.etag {
            set(header::IF_NONE_MATCH, etag);
        }
        if let Some(date) = &validators.last_modified {
            set(header::IF_MODIFIED_SINCE, date);
        }
        headers
    }
}

/// A field's value; bytes outside of UTF-8 are replaced.
fn text_of_value(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn chain_causes(error: &dyn std::error::Error) -> String {
    let mut text = String::new();
    let mut source = error.source();
    while let Some(inner) = source {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    if text.is_empty() { error.to_string() } else { text }
}

/// How long `Retry-After` asks to wait.
pub(super) fn retry_after(head: &Head, now: SystemTime) -> Option<Duration> {
    riddlemill_http::asked_wait(head.get("retry-after")?, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let head = |value: &str| Head { status: 429, fields: vec![("Retry-After".into(), value.into())] };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(retry_after(&head("120"), now), Some(Duration::from_secs(120)));
        let date = httpdate::fmt_http_date(now + Duration::from_secs(30));
        assert_eq!(retry_after(&head(&date), now), Some(Duration::from_secs(30)));
        let past = httpdate::fmt_http_date(now - Duration::from_secs(30));
        assert_eq!(retry_after(&head(&past), now), Some(Duration::ZERO));
        assert_eq!(retry_after(&head("soon"), now), None);
        assert_eq!(retry_after(&head("1700000002"), now), Some(Duration::from_secs(2)), "a time since 1970");
    }
}
