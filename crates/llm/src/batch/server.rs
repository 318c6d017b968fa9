//! OpenAI's files and batches.

use serde_json::{Value, json};

use super::log::Entry;
use crate::fault::{Fault, Kind};
use crate::http::{Errand, Received, Transport};
use crate::provider;
use crate::settings::Endpoint;

/// Under which word of its metadata a batch holds our name for it.
const NAME: &str = "riddlemill";
/// Pages of a list of batches that are looked through.
const PAGES: usize = 50;

pub(super) struct Server<'s> {
    pub transport: &'s dyn Transport,
    pub endpoint: &'s Endpoint,
}

/// How far a batch is.
pub(super) enum State {
    OnItsWay,
    /// It ended so, and these files hold its answers.
    Ended {
        how: String,
        files: Vec<String>,
    },
}

/// The answer to one request of a batch.
pub(super) struct Line {
    pub key: String,
    pub received: Received,
}

impl Server<'_> {
    /// The batch that holds our name, where there is one.
    pub(super) async fn find(&self, name: &str) -> Result<Option<String>, Fault> {
        let mut after = String::new();
        for _ in 0..PAGES {
            let page = self.json(Errand::Get(format!("batches?limit=100{after}"))).await?;
            let batches = page["data"].as_array().map_or(&[][..], Vec::as_slice);
            if let Some(found) = batches.iter().find(|batch| batch["metadata"][NAME] == name) {
                return Ok(found["id"].as_str().map(str::to_owned));
            }
            match batches.last().and_then(|last| last["id"].as_str()) {
                Some(last) if page["has_more"] == true => after = format!("&after={last}"),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Uploads the requests and makes a batch of them; the server's name for it.
    pub(super) async fn send(&self, entry: &Entry) -> Result<String, Fault> {
        let whole = Endpoint { stream: false, ..self.endpoint.clone() };
        let mut lines = String::new();
        for item in &entry.items {
            let body: Value =
                serde_json::from_str(&provider::call(&whole, &[&item.request]).body).unwrap_or_default();
            let line =
                json!({"custom_id": item.key, "method": "POST", "url": "/v1/chat/completions", "body": body});
            lines.push_str(&format!("{line}\n"));
        }
        let file = self.json(Errand::Upload("files".into(), lines)).await?;
        let asked = json!({"input_file_id": file["id"], "endpoint": "/v1/chat/completions",
            "completion_window": "24h", "metadata": {NAME: entry.batch}});
        let batch = self.json(Errand::Post("batches".into(), asked.to_string())).await?;
        batch["id"].as_str().map(str::to_owned).ok_or_else(|| garbage("a batch without an id", &batch))
    }

    pub(super) async fn state(&self, id: &str) -> Result<State, Fault> {
        let batch = self.json(Errand::Get(format!("batches/{id}"))).await?;
        let status = batch["status"].as_str().unwrap_or_default();
        if !["completed", "failed", "expired", "cancelled"].contains(&status) {
            return Ok(State::OnItsWay);
        }
        let file = |name: &str| batch[name].as_str().map(str::to_owned);
        let files = ["output_file_id", "error_file_id"].into_iter().filter_map(file).collect();
        let why = batch.pointer("/errors/data/0/message").and_then(Value::as_str);
        let how = why.map_or(status.to_owned(), |why| format!("{status} ({why})"));
        Ok(State::Ended { how, files })
    }

    pub(super) async fn answers(&self, file: &str) -> Result<Vec<Line>, Fault> {
        let received = self.transport.run(Errand::Get(format!("files/{file}/content"))).await?;
        let received = whole(received)?;
        let line = |line: &str| {
            let line: Value = serde_json::from_str(line).ok()?;
            let key = line["custom_id"].as_str()?.to_owned();
            let status =
                line["response"]["status_code"].as_u64().and_then(|status| u16::try_from(status).ok())?;
            let body = line["response"]["body"].to_string();
            Some(Line { key, received: Received { status, body, ..Received::default() } })
        };
        // A line without a response was not answered.
        Ok(received.body.lines().filter_map(line).collect())
    }

    async fn json(&self, errand: Errand) -> Result<Value, Fault> {
        let received = whole(self.transport.run(errand).await?)?;
        serde_json::from_str(&received.body).map_err(|error| garbage(&error.to_string(), &received.body))
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
