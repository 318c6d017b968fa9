//! One HTTP exchange: a body out, a whole answer or a fault back.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::time::timeout;

use super::events::assemble;
use super::fault::{Fault, Kind};
use super::retry::{exhausted_for, retry_after, seconds};
use super::secret::ApiKey;
use super::settings::Timeouts;

/// No answer of a chat or an embedding comes near this.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// The longest pause taken from rate-limit headers alone; some servers give the reset of the day's quota there.
const MAX_HEADER_PAUSE: Duration = Duration::from_secs(60);

/// Where LibreTranslate is asked. It takes its key in the body, and none in a header.
pub(super) const TRANSLATE: &str = "translate";

/// A request as it goes out.
#[derive(Clone, Debug)]
pub struct Call {
    /// `chat/completions`, `embeddings` or `translate`.
    pub path: &'static str,
    /// The JSON body.
    pub body: String,
}

/// A whole answer of whatever status.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// The body, with the endpoint's key struck out.
    pub body: String,
    /// How long this request was asked to wait.
    pub asked_wait: Option<Duration>,
    /// How long the whole endpoint has nothing left.
    pub pause: Option<Duration>,
    /// What it cost, where a header says so.
    pub cost_usd: Option<f64>,
}

/// What carries requests: HTTP, or a test's script.
pub trait Transport: Send + Sync {
    /// Sends once. No implementation tries again by itself: every sending is journalled.
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>>;
}

/// An OpenAI-compatible server.
pub(super) struct Http {
    client: reqwest::Client,
    base_url: String,
    authorization: Option<HeaderValue>,
    key: Option<ApiKey>,
    first_byte: Duration,
    idle: Duration,
}

impl Http {
    /// Fails where the address is none, or holds a user name or password: those would stand in errors and logs.
    pub(super) fn new(base_url: &str, key: Option<ApiKey>, timeouts: &Timeouts) -> Result<Http, String> {
        let url =
            reqwest::Url::parse(base_url).map_err(|error| format!("base_url is no address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("base_url must start with http:// or https://, not {}:", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "base_url holds a user name or password; name an environment variable in key_env".to_owned()
            );
        }
        let authorization = match &key {
            Some(key) => Some(key.bearer().ok_or("the key holds characters that no header may")?),
            None => None,
        };
        let client = riddlemill_http::client()
            .connect_timeout(seconds(timeouts.connect_secs))
            .timeout(seconds(timeouts.total_secs))
            // A redirect would carry the key to another server, a hidden retry would pass the journal by.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(concat!("riddlemill/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| error.without_url().to_string())?;
        Ok(Http {
            client,
            base_url: base_url.trim_end_matches('/').to_owned(),
            authorization,
            key,
            first_byte: seconds(timeouts.first_byte_secs),
            idle: seconds(timeouts.idle_secs),
        })
    }

    async fn exchange(&self, call: &Call) -> Result<Received, Fault> {
        let body = match (&self.key, call.path) {
            (Some(key), TRANSLATE) => key.within(&call.body),
            _ => call.body.clone(),
        };
        let mut request = self
            .client
            .post(format!("{}/{}", self.base_url, call.path))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(authorization) = self.authorization.as_ref().filter(|_| call.path != TRANSLATE) {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let sent = timeout(self.first_byte, request.send()).await;
        let mut response = sent.map_err(|_| Fault::new(Kind::Timeout))?.map_err(|error| fault(error, &[]))?;
        let status = response.status().as_u16();
        let (asked_wait, pause) = waits(response.headers());
        let cost_usd = stated_cost(response.headers());
        let streamed = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let mut body = Vec::new();
        loop {
            let Ok(chunk) = timeout(self.idle, response.chunk()).await else {
                let raw = String::from_utf8_lossy(&body).into_owned();
                return Err(Fault { raw, ..Fault::new(Kind::Timeout) });
            };
            match chunk {
                Ok(Some(chunk)) if body.len() + chunk.len() > MAX_BODY => {
                    return Err(Fault::new(Kind::TooLarge));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                // A refusal is a refusal, even where its explanation is cut.
                Err(_) if status >= 400 => break,
                Err(error) => return Err(fault(error, &body)),
            }
        }
        if status < 300 && streamed {
            let stream = String::from_utf8_lossy(&body);
            return match assemble(&stream) {
                Some(body) => Ok(Received { status, body, asked_wait, pause, cost_usd }),
                None => {
                    let kind = Kind::Cut("the stream ended before the answer did".to_owned());
                    Err(Fault { raw: stream.into_owned(), ..Fault::new(kind) })
                }
            };
        }
        Ok(Received {
            status,
            body: String::from_utf8_lossy(&body).into_owned(),
            asked_wait,
            pause,
            cost_usd,
        })
    }
}

impl Transport for Http {
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        Box::pin(async move {
            let strike = |text: String| match &self.key {
                Some(key) => key.strike(&text).into_owned(),
                None => text,
            };
            match self.exchange(call).await {
                Ok(received) => Ok(Received { body: strike(received.body), ..received }),
                Err(fault) => Err(Fault { raw: strike(fault.raw), ..fault }),
            }
        })
    }
}

fn waits(headers: &HeaderMap) -> (Option<Duration>, Option<Duration>) {
    (retry_after(headers, SystemTime::now()), exhausted_for(headers).map(|pause| pause.min(MAX_HEADER_PAUSE)))
}

/// What proxies say an answer cost, in dollars.
fn stated_cost(headers: &HeaderMap) -> Option<f64> {
    const NAMES: [&str; 2] = ["x-litellm-response-cost", "x-response-cost"];
    NAMES.iter().find_map(|name| headers.get(*name)?.to_str().ok()?.trim().parse().ok())
}

fn fault(error: reqwest::Error, body: &[u8]) -> Fault {
    let error = error.without_url();
    let kind = if error.is_timeout() && !error.is_connect() {
        Kind::Timeout
    } else if error.is_connect() {
        Kind::Connect(innermost(&error))
    } else {
        Kind::Cut(innermost(&error))
    };
    Fault { raw: String::from_utf8_lossy(body).into_owned(), ..Fault::new(kind) }
}

/// The cause at the end of the chain says what happened; the ones before it say that something did.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_before_anything_is_sent() {
        let new = |url| Http::new(url, None, &Timeouts::default()).err();
        assert_eq!(new("http://127.0.0.1:1/v1/"), None);
        assert!(new("127.0.0.1").is_some());
        assert!(new("ftp://host").is_some());
        let refused = new("https://me:secret@host/v1").unwrap();
        assert!(refused.contains("key_env") && !refused.contains("secret"));
    }
}
