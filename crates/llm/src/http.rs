//! One HTTP exchange: sends a body, returns a whole answer or a fault.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use tokio::time::timeout;

use super::fault::{Fault, Kind};
use super::key_command::{KeyCommand, Printed};
use super::provider::{self, Address, Call};
use super::retry::{clamp_seconds, exhausted_for, retry_after};
use super::secret::ApiKey;
use super::settings::{Endpoint, EndpointError, Provider};

/// A list of models may be long, and is only a hint.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// All answers of a batch come in one file.
const MAX_FILE: usize = 512 * 1024 * 1024;
/// Separator of a form's parts.
const BOUNDARY: &str = "riddlemill-batch-of-requests";
/// A list of models is only a hint, so the wait for it is short.
const MODELS_WAIT: Duration = Duration::from_secs(10);
/// The longest pause taken from rate-limit headers alone; some servers put the reset of the day's quota
/// there.
const MAX_HEADER_PAUSE: Duration = Duration::from_secs(60);

/// Requests other than questions: files and batches of them.
#[derive(Clone, Debug)]
pub enum FileRequest {
    /// Fetches JSON from a path.
    Get(String),
    /// Downloads a file from a path.
    Download(String),
    /// Posts JSON, or nothing, to a path.
    Post(String, String),
    /// Uploads lines of JSON to a path, as a file for a batch.
    Upload(String, String),
}

/// A whole answer with any status.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// The body, with the endpoint's key removed.
    pub body: String,
    /// How long the server asked this request to wait.
    pub asked_wait: Option<Duration>,
    /// How long the whole endpoint has to pause.
    pub pause: Option<Duration>,
    /// The cost, if a header states it.
    pub cost_usd: Option<f64>,
    /// The type of the body, if a header states it.
    pub content_type: Option<String>,
    /// Where a redirect points, without its query.
    pub location: Option<String>,
}

/// Sends requests: HTTP, or a test's script.
pub trait Transport: Send + Sync {
    /// Sends once. Implementations must not retry: every sending is journalled.
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>>;

    /// Sends a file request once.
    fn send_file_request(&self, file_request: FileRequest) -> BoxFuture<'_, Result<Received, Fault>> {
        let fault = Fault::new(Kind::Connect(format!("this transport does not support {file_request:?}")));
        Box::pin(std::future::ready(Err(fault)))
    }

    /// The names of the server's models, if it lists them.
    fn list_models(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// A server of any provider.
pub(super) struct Http {
    client: reqwest::Client,
    provider: Provider,
    address: Address,
    models: Option<String>,
    headers: HeaderMap,
    key: Option<ApiKey>,
    command: Option<KeyCommand>,
    /// The settings that a header with a printed key is made from.
    endpoint: Endpoint,
    /// Everything that is removed from the server's responses.
    secrets: Vec<ApiKey>,
    first_byte: Duration,
    idle: Duration,
    /// The longest response to a chat, and to texts to embed.
    longest: [usize; 2],
}

impl Http {
    /// Fails if the address is invalid, or a header cannot be sent.
    pub(super) fn new(endpoint: &Endpoint) -> Result<Http, EndpointError> {
        Http::with_variables(endpoint, &ApiKey::from_env)
    }

    /// Like [`Http::new`], with values of variables from elsewhere than the environment.
    pub(super) fn with_variables(
        endpoint: &Endpoint,
        value: &dyn Fn(&str) -> Option<ApiKey>,
    ) -> Result<Http, EndpointError> {
        let address = Address::new(endpoint)?;
        let key = endpoint.key_env.as_deref().and_then(value);
        let headers = provider::request_headers(endpoint, None, value)?;
        let secrets = endpoint.environment_variables().filter_map(value);
        let secrets = secrets.flat_map(|secret| [secret.without_scheme(), secret]).collect();
        let timeouts = &endpoint.timeouts;
        let built = riddlemill_http::build(|client| {
            client
                .connect_timeout(clamp_seconds(timeouts.connect_secs))
                // Also ends an answer whose small pieces keep coming, which the idle time alone would not.
                .timeout(clamp_seconds(timeouts.total_secs))
                // A redirect would carry the key to another server, a hidden retry would bypass the journal.
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .user_agent(concat!("riddlemill/", env!("CARGO_PKG_VERSION")))
        })
        .map_err(|error| EndpointError::Client(innermost_cause(&error)))?;
        built.reaches(&endpoint.base_url)?;
        let client = built.client;
        Ok(Http {
            client,
            provider: endpoint.provider,
            address,
            models: provider::models_path(endpoint),
            headers,
            key,
            command: KeyCommand::new(&endpoint.key_command),
            endpoint: endpoint.clone(),
            secrets,
            first_byte: clamp_seconds(timeouts.first_byte_secs),
            idle: clamp_seconds(timeouts.idle_secs),
            longest: [endpoint.longest_body(false), endpoint.longest_body(true)],
        })
    }

    /// The response with every secret removed.
    fn strike_secrets(&self, received: Result<Received, Fault>) -> Result<Received, Fault> {
        let printed = self.command.as_ref().map(KeyCommand::printed_keys).unwrap_or_default();
        let strike = |text: String| {
            self.secrets.iter().chain(&printed).fold(text, |text, secret| match secret.strike_key(&text) {
                Cow::Owned(struck) => struck,
                Cow::Borrowed(_) => text,
            })
        };
        match received {
            Ok(received) => {
                let location = received.location.map(strike);
                Ok(Received { body: strike(received.body), location, ..received })
            }
            Err(fault) => Err(Fault { raw: strike(fault.raw), ..fault }),
        }
    }

    async fn post_call(&self, call: &Call) -> Result<Received, Fault> {
        let request = |headers: HeaderMap, printed: Option<&ApiKey>| {
            let body = match printed.or(self.key.as_ref()) {
                Some(key) if call.path == provider::TRANSLATE => key.insert_into_object(&call.body),
                _ => call.body.clone(),
            };
            let request = self.client.post(self.address.join_path(&call.path)).headers(headers);
            request.header(CONTENT_TYPE, "application/json").body(body)
        };
        let embeds = call.path.to_ascii_lowercase().contains("embed");
        self.with_key(request, self.longest[usize::from(embeds)]).await
    }

    /// Sends a request with the key, and once more with a new one if a server refuses one that was printed: it
    /// may have expired. A refused key costs nothing.
    async fn with_key(
        &self,
        request: impl Fn(HeaderMap, Option<&ApiKey>) -> reqwest::RequestBuilder,
        most: usize,
    ) -> Result<Received, Fault> {
        let Some(command) = &self.command else {
            return self.send_and_read(request(self.headers.clone(), None), most).await;
        };
        let printed = command.current_key(None).await.map_err(no_key)?;
        let received =
            self.send_and_read(request(self.headers_with(&printed)?, Some(&printed.key)), most).await?;
        if received.status != 401 {
            return Ok(received);
        }
        let printed = command.current_key(Some(&printed)).await.map_err(no_key)?;
        self.send_and_read(request(self.headers_with(&printed)?, Some(&printed.key)), most).await
    }

    /// The headers with a printed key, over those whose values are known.
    fn headers_with(&self, printed: &Printed) -> Result<HeaderMap, Fault> {
        let with =
            provider::request_headers(&self.endpoint, Some(&printed.key), &|_| None).map_err(no_key)?;
        let mut headers = self.headers.clone();
        for (name, value) in &with {
            // A header of the settings replaces the key's own.
            if !self.endpoint.headers.keys().any(|own| own.eq_ignore_ascii_case(name.as_str())) {
                headers.insert(name.clone(), value.clone());
            }
        }
        Ok(headers)
    }

    /// Sends a request and reads its answer, of at most `most` bytes.
    async fn send_and_read(&self, request: reqwest::RequestBuilder, most: usize) -> Result<Received, Fault> {
        let sent = timeout(self.first_byte, request.send()).await;
        let mut response =
            sent.map_err(|_| Fault::new(Kind::Timeout))?.map_err(|error| fault_of(error, &[]))?;
        let status = response.status().as_u16();
        let (asked_wait, pause) = parse_waits(response.headers());
        let cost_usd = stated_cost(response.headers());
        let content_type = text_of(response.headers(), CONTENT_TYPE);
        let location =
            text_of(response.headers(), LOCATION).and_then(|to| redirect_address(response.url(), &to));
        let streamed =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| provider::is_stream(kind.as_bytes()));
        // What a server announces need not be read to be refused.
        if response.content_length().is_some_and(|length| length > most as u64) {
            return Err(Fault::new(Kind::TooLarge(most)));
        }
        let mut body = Vec::new();
        loop {
            let Ok(chunk) = timeout(self.idle, response.chunk()).await else {
                let raw = String::from_utf8_lossy(&body).into_owned();
                return Err(Fault { raw, ..Fault::new(Kind::Timeout) });
            };
            match chunk {
                // Before it is added, so that an endless answer cannot fill the memory.
                Ok(Some(chunk)) if body.len() + chunk.len() > most => {
                    return Err(Fault::new(Kind::TooLarge(most)));
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                // A refusal is a refusal, even if its explanation is cut off.
                Err(_) if status >= 400 => break,
                Err(error) => return Err(fault_of(error, &body)),
            }
        }
        if status < 300 && streamed {
            let stream = String::from_utf8_lossy(&body);
            return match provider::assemble_stream(self.provider, &stream) {
                Some(body) => {
                    Ok(Received { status, body, asked_wait, pause, cost_usd, content_type, location })
                }
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
            content_type,
            location,
        })
    }
}

impl Transport for Http {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        Box::pin(async move {
            let received = self.post_call(call).await;
            self.strike_secrets(received)
        })
    }

    fn send_file_request(&self, file_request: FileRequest) -> BoxFuture<'_, Result<Received, Fault>> {
        Box::pin(async move {
            let to = |path: &str| self.address.join_path(path);
            let request = |mut headers: HeaderMap, _: Option<&ApiKey>| {
                let request = match &file_request {
                    FileRequest::Get(path) => self.client.get(to(path)),
                    FileRequest::Download(path) => {
                        if self.provider != Provider::Gemini {
                            headers.insert(ACCEPT, HeaderValue::from_static("application/binary"));
                        }
                        self.client.get(to(path))
                    }
                    FileRequest::Post(path, body) => {
                        self.client.post(to(path)).header(CONTENT_TYPE, "application/json").body(body.clone())
                    }
                    FileRequest::Upload(path, lines) => {
                        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
                        self.client.post(to(path)).header(CONTENT_TYPE, kind).body(multipart_form(lines))
                    }
                };
                request.headers(headers)
            };
            let received = self.with_key(request, MAX_FILE).await;
            self.strike_secrets(received)
        })
    }

    fn list_models(&self) -> BoxFuture<'_, Vec<String>> {
        let ask = async move {
            let path = self.models.as_ref()?;
            let request =
                |headers, _: Option<&ApiKey>| self.client.get(self.address.join_path(path)).headers(headers);
            let received = self.with_key(request, MAX_BODY).await.ok()?;
            (received.status == 200).then(|| provider::parse_model_names(&received.body))
        };
        Box::pin(async move { timeout(MODELS_WAIT, ask).await.ok().flatten().unwrap_or_default() })
    }
}

/// Nothing was sent, because there is no key to send.
fn no_key(error: impl std::fmt::Display) -> Fault {
    Fault::new(Kind::NoKey(error.to_string()))
}

/// A file of a batch as a form. JSON cannot contain a line that ends a part: its strings have no bare line
/// breaks.
fn multipart_form(lines: &str) -> String {
    let part = |head: &str, body: &str| {
        format!("--{BOUNDARY}\r\ncontent-disposition: form-data; {head}\r\n\r\n{body}\r\n")
    };
    let file = "name=\"file\"; filename=\"batch.jsonl\"\r\ncontent-type: application/jsonl";
    part("name=\"purpose\"", "batch") + &part(file, lines) + &format!("--{BOUNDARY}--\r\n")
}

fn parse_waits(headers: &HeaderMap) -> (Option<Duration>, Option<Duration>) {
    let now = SystemTime::now();
    (retry_after(headers, now), exhausted_for(headers, now).map(|pause| pause.min(MAX_HEADER_PAUSE)))
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// The whole address of a redirect, without its query, which may hold a key.
fn redirect_address(from: &reqwest::Url, to: &str) -> Option<String> {
    let mut to = from.join(to).ok()?;
    to.set_query(None);
    to.set_fragment(None);
    Some(to.to_string())
}

/// An answer's cost in dollars, as proxies state it.
fn stated_cost(headers: &HeaderMap) -> Option<f64> {
    const NAMES: [&str; 2] = ["x-litellm-response-cost", "x-response-cost"];
    NAMES.iter().find_map(|name| headers.get(*name)?.to_str().ok()?.trim().parse().ok())
}

fn fault_of(error: reqwest::Error, body: &[u8]) -> Fault {
    // An address in the settings may have a key in its query.
    let error = error.without_url();
    // A connection that was not established in time is no timeout: nothing was sent, and nothing is charged.
    let kind = if error.is_timeout() && !error.is_connect() {
        Kind::Timeout
    } else if error.is_connect() {
        Kind::Connect(innermost_cause(&error))
    } else {
        Kind::Cut(innermost_cause(&error))
    };
    Fault { raw: String::from_utf8_lossy(body).into_owned(), ..Fault::new(kind) }
}

/// The last cause of the chain says what happened; those before it only that something did.
fn innermost_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
