//! What a server of batches is asked, in each provider's own words: the shapes are those of `tests/providers`.

mod anthropic;
mod gemini;
mod openai;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::log::Entry;
use crate::fault::{Fault, Kind};
use crate::http::{Errand, Received, Transport};
use crate::provider;
use crate::request::Request;
use crate::settings::{Endpoint, Provider};

/// Pages of a list of batches that are looked through, of so many batches each.
const PAGES: usize = 50;
const PAGE: usize = 100;

/// Whether there is anything to send batches to.
pub(crate) fn takes_batches(provider: Provider) -> bool {
    matches!(provider, Provider::Openai | Provider::Azure | Provider::Anthropic | Provider::Gemini)
}

/// A server, and how it is spoken to.
pub(in crate::batch) struct Server<'s> {
    pub transport: &'s dyn Transport,
    pub endpoint: &'s Endpoint,
}

/// Where a batch is whose name at the server nobody wrote down.
#[derive(Debug, PartialEq)]
pub(in crate::batch) enum Found {
    /// It is there, under this name.
    Batch(String),
    Nowhere,
    /// One of those that are not answered yet may be it: some servers do not say what a batch holds before.
    Perhaps,
}

/// How far a batch is.
#[derive(Debug)]
pub(in crate::batch) enum State {
    /// It is worked on, and so far.
    OnItsWay(String),
    /// It ended so, with these answers.
    Ended { how: String, lines: Vec<Line> },
}

/// What became of one request of a batch.
#[derive(Debug)]
pub(in crate::batch) struct Line {
    /// Its key; some servers give their answers in the order of the requests, and no key.
    pub key: Option<String>,
    /// Its answer, or why there is none.
    pub came: Result<Received, Unanswered>,
}

/// A request of a batch that was not answered, with what the server says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.as_deref().unwrap_or("no answer"))]
pub(in crate::batch) struct Unanswered(Option<String>);

impl Unanswered {
    fn because(said: Option<&str>) -> Unanswered {
        Unanswered(said.map(str::to_owned))
    }
}

impl Server<'_> {
    /// The batch that holds our name or our requests; `known` are those of the server that are others of ours.
    pub(in crate::batch) async fn find(&self, entry: &Entry, known: &[String]) -> Result<Found, Fault> {
        match self.endpoint.provider {
            Provider::Anthropic => self.anthropic_find(entry, known).await,
            Provider::Gemini => self.gemini_find(entry).await,
            _ => self.openai_find(entry).await,
        }
    }

    /// Sends the requests as a batch; the server's name for it.
    pub(in crate::batch) async fn send(&self, entry: &Entry) -> Result<String, Fault> {
        match self.endpoint.provider {
            Provider::Anthropic => self.anthropic_send(entry).await,
            Provider::Gemini => self.gemini_send(entry).await,
            _ => self.openai_send(entry).await,
        }
    }

    /// How far it is, with its answers once it has ended.
    pub(in crate::batch) async fn state(&self, id: &str) -> Result<State, Fault> {
        match self.endpoint.provider {
            Provider::Anthropic => self.anthropic_state(id).await,
            Provider::Gemini => self.gemini_state(id).await,
            _ => self.openai_state(id).await,
        }
    }

    /// Asks for no more of it to be worked on.
    pub(in crate::batch) async fn cancel(&self, id: &str) -> Result<(), Fault> {
        let path = match self.endpoint.provider {
            Provider::Anthropic => anthropic::cancel(id),
            Provider::Gemini => self.gemini_cancel(id),
            _ => self.openai_cancel(id),
        };
        whole(self.transport.run(Errand::Post(path, String::new())).await?).map(drop)
    }

    /// The body that a request has when it is sent alone and answered whole.
    fn body(&self, request: &Request) -> Value {
        let whole = Endpoint { stream: false, ..self.endpoint.clone() };
        serde_json::from_str(&provider::call(&whole, &[request]).body).unwrap_or_default()
    }

    async fn get(&self, path: String) -> Result<Value, Fault> {
        self.json(Errand::Get(path)).await
    }

    async fn post(&self, path: String, body: &Value) -> Result<Value, Fault> {
        self.json(Errand::Post(path, body.to_string())).await
    }

    async fn json(&self, errand: Errand) -> Result<Value, Fault> {
        let received = whole(self.transport.run(errand).await?)?;
        serde_json::from_str(&received.body).map_err(|error| garbage(&error.to_string(), &received.body))
    }

    /// The lines of a file that is fetched, those that are none left out.
    async fn lines(&self, path: String) -> Result<Vec<Value>, Fault> {
        let received = whole(self.transport.run(Errand::Download(path)).await?)?;
        Ok(received.body.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }
}

/// An answer to one request as it would have come alone.
fn answered(status: u16, body: &Value) -> Received {
    Received { status, body: body.to_string(), ..Received::default() }
}

/// The name under which the server knows what it has just been sent.
fn named(batch: &Value, field: &str) -> Result<String, Fault> {
    let name = batch[field].as_str().filter(|name| is_name(name));
    name.map(str::to_owned).ok_or_else(|| garbage("a batch without a name", batch))
}

/// Whether it can be in a path: it goes into one.
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
    let refusal = crate::refusal::read(received.status, &received.body);
    Err(Fault { raw: received.body, ..Fault::new(refusal.kind) })
}

fn garbage(why: &str, body: &impl ToString) -> Fault {
    Fault { raw: body.to_string(), ..Fault::new(Kind::Garbage(why.to_owned())) }
}
