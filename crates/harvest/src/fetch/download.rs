//! Downloads one file over HTTP, resumable, never mixed from two versions.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, LAST_MODIFIED, RANGE, RETRY_AFTER,
};
use reqwest::{Client, Response, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use super::error::FetchError;
use riddlemill_files::durable;

/// How long a download is attempted.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Attempts in a row without a new byte.
    pub attempts: u32,
    /// The wait after the first of them; each further wait doubles.
    pub first_wait: Duration,
    /// The longest wait, whatever a server asks for.
    pub longest_wait: Duration,
    /// How long a connection may be silent before it is closed.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            attempts: 6,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(120),
            silence: Duration::from_secs(30),
        }
    }
}

/// Receives the progress of a download.
pub trait Meter: Send + Sync {
    /// `bytes` are there, of `total` if the server states it.
    fn report_bytes(&self, bytes: u64, total: Option<u64>);
    /// An attempt failed; the next comes after a wait.
    fn report_retry(&self, why: &str, wait: Duration);
}

/// Ignores progress.
pub struct Silent;

impl Meter for Silent {
    fn report_bytes(&self, _: u64, _: Option<u64>) {}
    fn report_retry(&self, _: &str, _: Duration) {}
}

/// The version of a partial download.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Version {
    url: String,
    /// A strong ETag, or a date.
    validator: Option<String>,
    total: Option<u64>,
}

/// The paths of a file's partial download, and of the note about it.
pub(super) fn partial_paths(file: &Path) -> (PathBuf, PathBuf) {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    (file.with_file_name(format!("{name}.part")), file.with_file_name(format!("{name}.part.json")))
}

/// Why an attempt ended without the whole file.
enum Cut {
    /// Another attempt may succeed; the server may have stated when.
    Retry(String, Option<Duration>),
    /// Another attempt would not succeed.
    Fail(FetchError),
}

/// Completes a partial download; returns whether it took more than one answer.
pub(super) async fn complete_download(
    client: &Client,
    url: &str,
    file: &Path,
    patience: Patience,
    meter: &dyn Meter,
) -> Result<bool, FetchError> {
    let (part, note) = partial_paths(file);
    let (mut fruitless, mut mixed) = (0, false);
    // The farthest byte that any attempt reached: restarting is not progress.
    let mut farthest = byte_length(&part);
    loop {
        let known = read_version(&note, url);
        let have = match &known {
            // Without a validator nothing shows whether the rest belongs to it.
            Some(Version { validator: Some(_), .. }) => byte_length(&part),
            _ => 0,
        };
        match attempt_request(client, url, (&part, &note), known.filter(|_| have > 0), have, patience, meter)
            .await
        {
            Ok(resumed) => return Ok(mixed || resumed),
            Err(Cut::Fail(error)) => return Err(error),
            Err(Cut::Retry(why, asked)) => {
                let more = byte_length(&part) > farthest;
                farthest = farthest.max(byte_length(&part));
                mixed |= have > 0;
                fruitless = if more { 1 } else { fruitless + 1 };
                if fruitless >= patience.attempts {
                    return Err(FetchError::GaveUp { url: url.into(), attempts: fruitless, why });
                }
                let wait =
                    asked.unwrap_or(patience.first_wait.saturating_mul(2u32.saturating_pow(fruitless - 1)));
                let wait = wait.min(patience.longest_wait);
                meter.report_retry(&why, wait);
                tokio::time::sleep(wait).await;
            }
        }
    }
}

/// One request. Returns true if its answer continued the existing part.
async fn attempt_request(
    client: &Client,
    url: &str,
    (part, note): (&Path, &Path),
    known: Option<Version>,
    have: u64,
    patience: Patience,
    meter: &dyn Meter,
) -> Result<bool, Cut> {
    // A dump is hashed as it is on the server, so nothing may compress it in transit.
    let mut request = client.get(url).header(ACCEPT_ENCODING, "identity");
    if let Some(validator) = known.as_ref().and_then(|v| v.validator.as_ref()) {
        request = request.header(RANGE, format!("bytes={have}-")).header(IF_RANGE, validator);
    }
    let response = request.send().await.map_err(|e| cut_by_error(url, &e))?;
    let status = response.status();
    let (from, total) = match status {
        StatusCode::OK => (0, response.content_length()),
        StatusCode::PARTIAL_CONTENT => {
            let range = parse_range(response.headers());
            let same = known.as_ref().is_some_and(|known| {
                let validator = range_validator(response.headers());
                let total = range.and_then(|(_, total)| total);
                (validator.is_none() || validator == known.validator)
                    && (total.is_none() || known.total.is_none() || total == known.total)
            });
            match range {
                Some((start, total)) if start == have && same => (have, total),
                // A server that ignores If-Range would make us join two versions.
                _ => return Err(discard_part(part, note, "the file changed while it was fetched")),
            }
        }
        StatusCode::RANGE_NOT_SATISFIABLE => {
            return Err(discard_part(part, note, "what was fetched is longer than the file"));
        }
        _ => return Err(cut_by_answer(url, &response)),
    };
    let now = Version { url: url.into(), validator: range_validator(response.headers()), total };
    let result = append_body(response, part, note, now, from, patience, meter).await;
    result.map(|()| from > 0)
}

/// Appends an answer's body to the part, from an offset on.
async fn append_body(
    response: Response,
    part: &Path,
    note: &Path,
    now: Version,
    from: u64,
    patience: Patience,
    meter: &dyn Meter,
) -> Result<(), Cut> {
    let io = |e: std::io::Error| Cut::Fail(FetchError::Store(riddlemill_files::Error::io("write", part)(e)));
    let store = |e: riddlemill_files::Error| Cut::Fail(FetchError::Store(e));
    let mut file = tokio::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(part)
        .await
        .map_err(io)?;
    // An answer that starts at the first byte must not be followed by the rest of another version.
    file.set_len(from).await.map_err(io)?;
    // The note is written before the bytes, so that a part is never attributed to another version.
    durable::replace_file(note, serde_json::to_string(&now).unwrap_or_default().as_bytes()).map_err(store)?;
    tokio::io::AsyncSeekExt::seek(&mut file, std::io::SeekFrom::Start(from)).await.map_err(io)?;
    let mut body = response.bytes_stream();
    let mut at = from;
    meter.report_bytes(at, now.total);
    let end = loop {
        match tokio::time::timeout(patience.silence, body.next()).await {
            Err(_) => break Err(Cut::Retry("the server stopped sending".into(), None)),
            Ok(None) => break Ok(()),
            Ok(Some(Err(e))) => break Err(Cut::Retry(describe_error(&e), None)),
            Ok(Some(Ok(bytes))) => {
                file.write_all(&bytes).await.map_err(io)?;
                at += bytes.len() as u64;
                meter.report_bytes(at, now.total);
            }
        }
    };
    file.flush().await.map_err(io)?;
    // Also after an interruption, because the next attempt continues after these bytes.
    file.sync_data().await.map_err(io)?;
    end?;
    match now.total {
        Some(total) if at < total => Err(Cut::Retry(format!("{at} of {total} bytes came"), None)),
        Some(total) if at > total => {
            Err(discard_part(part, note, "the server sent more bytes than it had stated"))
        }
        _ => Ok(()),
    }
}

/// Discards the part: the next attempt starts at the first byte.
fn discard_part(part: &Path, note: &Path, why: &str) -> Cut {
    // The note first: a part without a note is never continued.
    let _ = std::fs::remove_file(note);
    let _ = std::fs::remove_file(part);
    Cut::Retry(why.into(), None)
}

fn cut_by_answer(url: &str, response: &Response) -> Cut {
    let status = response.status();
    let passing = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if passing {
        return Cut::Retry(format!("the server answered {status}"), retry_after(response.headers()));
    }
    Cut::Fail(FetchError::Status { url: url.into(), status: status.as_u16() })
}

fn cut_by_error(url: &str, error: &reqwest::Error) -> Cut {
    if error.is_builder() || error.is_redirect() {
        return Cut::Fail(FetchError::Address { url: url.into(), why: describe_error(error) });
    }
    Cut::Retry(describe_error(error), None)
}

/// An error with its causes: reqwest's own message stops at "error sending request".
fn describe_error(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(e) = cause {
        text = e.to_string();
        cause = e.source();
    }
    text
}

/// The value for If-Range: a strong ETag, else the date.
fn range_validator(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_string);
    // A weak ETag may be the same for different bytes, and a part can be continued only with equal ones.
    text(ETAG).filter(|tag| !tag.starts_with("W/")).or_else(|| text(LAST_MODIFIED))
}

/// Start and total length from `bytes 100-199/200`.
fn parse_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (span, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    Some((span.split_once('-')?.0.trim().parse().ok()?, total.trim().parse().ok()))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn read_version(note: &Path, url: &str) -> Option<Version> {
    let bytes = std::fs::read(note).ok()?;
    serde_json::from_slice::<Version>(&bytes).ok().filter(|version| version.url == url)
}

fn byte_length(part: &Path) -> u64 {
    std::fs::metadata(part).map_or(0, |m| m.len())
}
