//! Clients of each provider's batch interface; the shapes are those of `tests/providers`.

mod anthropic;
mod gemini;
mod openai;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::log::BatchLogEntry;
use crate::fault::{Fault, Kind};
use crate::http::{FileRequest, Received, Transport};
use crate::provider;
use crate::request::Request;
use crate::settings::{Endpoint, Provider};

/// Pages that are searched in a list of batches.
const PAGES: usize = 50;
const PAGE: usize = 100;

/// Whether the provider has a batch interface.
pub(crate) fn takes_batches(provider: Provider) -> bool {
    matches!(provider, Provider::Openai | Provider::Azure | Provider::Anthropic | Provider::Gemini)
}

/// A server and the connection to it.
pub(in crate::batch) struct Server<'s> {
    pub transport: &'s dyn Transport,
    pub endpoint: &'s Endpoint,
}

/// Where a batch is whose name at the server was not logged.
#[derive(Debug, PartialEq)]
pub(in crate::batch) enum FoundBatch {
    /// At the server, under this name.
    Batch(String),
    Nowhere,
    /// An unanswered batch of the server may be it: some servers do not list the requests before.
    Perhaps,
}

/// The state of a batch.
#[derive(Debug)]
pub(in crate::batch) enum State {
    /// In progress; with its progress.
    OnItsWay(String),
    /// Ended like this, with these answers.
    Ended { how: String, lines: Vec<BatchResult> },
    /// Failed as a whole, before any of its requests was worked on.
    Refused { why: String },
}

/// The result of one request of a batch.
#[derive(Debug)]
pub(in crate::batch) struct BatchResult {
    /// Its key; some servers answer in the order of the requests, without keys.
    pub key: Option<String>,
    /// Its answer, or why there is none.
    pub came: Result<Received, Unanswered>,
}

/// A request of a batch without an answer, with the server's reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.as_deref().unwrap_or("no answer"))]
pub(in crate::batch) struct Unanswered(Option<String>);

impl Unanswered {
    fn because(reason: Option<&str>) -> Unanswered {
        Unanswered(reason.map(str::to_owned))
    }
}

impl Server<'_> {
    /// Finds the batch with our name or our requests; `known` are other batches of ours.
    pub(in crate::batch) async fn find(
        &self,
        entry: &BatchLogEntry,
        known: &[String],
    ) -> Result<FoundBatch, Fault> {
        match self.endpoint.provider {
            Provider::Anthropic => self.anthropic_find(entry, known).await,
            Provider::Gemini => self.gemini_find(entry).await,
            _ => self.openai_find(entry).await,
        }
    }

    /// Sends the requests as a batch; the server's name for it.
    pub(in crate::batch) async fn send(&self, entry: &BatchLogEntry) -> Result<String, Fault> {
        match self.endpoint.provider {
            Provider::Anthropic => self.anthropic_send(entry).await,
            Provider::Gemini => self.gemini_send(entry).await,
            _ => self.openai_send(entry).await,
        }
    }

    /// The state of a batch, with its answers once it has ended.
    pub(in crate::batch) async fn state(&self, id: &str) -> Result<State, Fault> {
        match self.endpoint.provider {
            Provider::Anthropic => self.anthropic_state(id).await,
            Provider::Gemini => self.gemini_state(id).await,
            _ => self.openai_state(id).await,
        }
    }

    /// Cancels a batch.
    pub(in crate::batch) async fn cancel(&self, id: &str) -> Result<(), Fault> {
        let path = match self.endpoint.provider {
            Provider::Anthropic => anthropic::cancel_path(id),
            Provider::Gemini => self.gemini_cancel(id),
            _ => self.openai_cancel(id),
        };
        whole(self.transport.send_file_request(FileRequest::Post(path, String::new())).await?).map(drop)
    }

    /// The body of a request sent alone, without streaming.
    fn body(&self, request: &Request) -> Value {
        let whole = Endpoint { stream: false, ..self.endpoint.clone() };
        serde_json::from_str(&provider::call(&whole, &[request]).body).unwrap_or_default()
    }

    async fn get(&self, path: String) -> Result<Value, Fault> {
        self.json(FileRequest::Get(path)).await
    }

    async fn post(&self, path: String, body: &Value) -> Result<Value, Fault> {
        self.json(FileRequest::Post(path, body.to_string())).await
    }

    async fn json(&self, file_request: FileRequest) -> Result<Value, Fault> {
        let received = whole(self.transport.send_file_request(file_request).await?)?;
        riddlemill_text::notation::from_str(&received.body)
            .map_err(|error| garbage_fault(&error.to_string(), &received.body))
    }

    /// The JSON lines of a downloaded file; other lines are skipped.
    async fn lines(&self, path: String) -> Result<Vec<Value>, Fault> {
        let received = whole(self.transport.send_file_request(FileRequest::Download(path)).await?)?;
        let body = received.body.trim_start_matches('\u{feff}');
        Ok(body.lines().filter_map(|line| riddlemill_text::notation::from_str(line).ok()).collect())
    }
}

/// An answer to one request as if it had been sent alone.
fn answered(status: u16, body: &Value) -> Received {
    Received { status, body: body.to_string(), ..Received::default() }
}

/// The server's name for what was just sent.
fn named(batch: &Value, field: &str) -> Result<String, Fault> {
    let name = batch[field].as_str().filter(|name| is_name(name));
    name.map(str::to_owned).ok_or_else(|| garbage_fault("a batch without a name", batch))
}

/// Whether it is safe in a path.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
    !name.is_empty() && name.chars().all(fits) && !name.contains("..")
}

/// `in_progress, 12 of 200 answered`.
fn so_far(state: &str, answered: Option<u64>, all: Option<u64>) -> String {
    match (answered, all) {
        (Some(answered), Some(all)) if all > 0 => format!("{state}, {answered} of {all} answered"),
        _ => state.to_owned(),
    }
}

fn whole(received: Received) -> Result<Received, Fault> {
    if (200..300).contains(&received.status) {
        return Ok(received);
    }
    let refusal = crate::retry::parse_refusal(received.status, &received.body);
    Err(Fault { raw: received.body, ..Fault::new(refusal.kind) })
}

fn garbage_fault(why: &str, body: &impl ToString) -> Fault {
    Fault { raw: body.to_string(), ..Fault::new(Kind::Garbage(why.to_owned())) }
}
