//! OpenAI's files and batches, and Azure's, which differ only in the path.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    BatchResult, FoundBatch, PAGE, PAGES, Server, State, Unanswered, answered, is_name, named, so_far,
};
use crate::batch::log::BatchLogEntry;
use crate::fault::Fault;
use crate::http::FileRequest;
use crate::provider::is_azure_v1;
use crate::settings::{Api, Endpoint, Provider};

/// The metadata key of our name for a batch.
const NAME: &str = "riddlemill";
/// Azure processes a file for a while before it can be used in a batch.
const TAKEN_IN: [u64; 6] = [1, 2, 4, 8, 15, 30];

impl Server<'_> {
    pub(super) async fn openai_find(&self, entry: &BatchLogEntry) -> Result<FoundBatch, Fault> {
        let mut after = String::new();
        for _ in 0..PAGES {
            let page = self.get(self.interface_path(&format!("batches?{after}limit={PAGE}"))).await?;
            let batches = page["data"].as_array().map_or(&[][..], Vec::as_slice);
            if let Some(found) = batches.iter().find(|batch| batch["metadata"][NAME] == entry.batch.as_str())
            {
                return named(found, "id").map(FoundBatch::Batch);
            }
            match batches.last().and_then(|last| last["id"].as_str()) {
                // It becomes a part of the next address, so only a plain name is used.
                Some(last) if page["has_more"] == true && is_name(last) => after = format!("after={last}&"),
                _ => break,
            }
        }
        Ok(FoundBatch::Nowhere)
    }

    pub(super) async fn openai_send(&self, entry: &BatchLogEntry) -> Result<String, Fault> {
        let url = request_url(self.endpoint);
        let mut lines = String::new();
        for item in &entry.items {
            let body = self.body(&item.request);
            let line = json!({"custom_id": item.key, "method": "POST", "url": url, "body": body});
            lines.push_str(&format!("{line}\n"));
        }
        let file = self.json(FileRequest::Upload(self.interface_path("files"), lines)).await?;
        let id = named(&file, "id")?;
        self.taken_in(&id, file).await?;
        let asked = json!({"input_file_id": id, "endpoint": url, "completion_window": "24h",
            "metadata": {NAME: entry.batch}});
        named(&self.post(self.interface_path("batches"), &asked).await?, "id")
    }

    /// Waits a little for a file that is not ready yet; the batch is created in any case, and reports it if
    /// the file is not.
    async fn taken_in(&self, id: &str, mut file: Value) -> Result<(), Fault> {
        for secs in TAKEN_IN {
            if !matches!(file["status"].as_str(), Some("pending" | "running" | "notRunning")) {
                break;
            }
            tokio::time::sleep(Duration::from_secs(secs)).await;
            file = self.get(self.interface_path(&format!("files/{id}"))).await?;
        }
        Ok(())
    }

    pub(super) async fn openai_state(&self, id: &str) -> Result<State, Fault> {
        let batch = self.get(self.interface_path(&format!("batches/{id}"))).await?;
        let status = batch["status"].as_str().unwrap_or_default();
        if !["completed", "failed", "expired", "cancelled"].contains(&status) {
            let count = |name: &str| batch["request_counts"][name].as_u64();
            let done = count("completed").map(|done| done + count("failed").unwrap_or(0));
            return Ok(State::OnItsWay(so_far(status, done, count("total"))));
        }
        let mut lines = Vec::new();
        // Requests that failed are in a file of their own.
        for name in ["output_file_id", "error_file_id"] {
            if let Some(file) = batch[name].as_str().filter(|file| is_name(file)) {
                let file = self.lines(self.interface_path(&format!("files/{file}/content"))).await?;
                lines.extend(file.iter().filter_map(parse_line));
            }
        }
        let why = refusals_of(&batch);
        if status == "failed" && lines.is_empty() {
            return Ok(State::Refused { why: why.unwrap_or_else(|| "it failed".to_owned()) });
        }
        let how = why.map_or(status.to_owned(), |why| format!("{status} ({why})"));
        Ok(State::Ended { how, lines })
    }

    pub(super) fn openai_cancel(&self, id: &str) -> String {
        self.interface_path(&format!("batches/{id}/cancel"))
    }

    fn interface_path(&self, path: &str) -> String {
        let dated = self.endpoint.provider == Provider::Azure && !is_azure_v1(self.endpoint);
        let before = if dated { "openai/" } else { "" };
        format!("{before}{path}")
    }
}

/// The URL of a batch's requests, as the server expects it: Azure's dated interface wants no version there, others the one in
/// their address.
pub(super) fn request_url(endpoint: &Endpoint) -> String {
    let path = match endpoint.api {
        Api::Chat => "chat/completions",
        Api::Responses => "responses",
    };
    if endpoint.provider == Provider::Azure && !is_azure_v1(endpoint) {
        return format!("/{path}");
    }
    let base = endpoint.base_url.split('?').next().unwrap_or_default().trim_end_matches('/');
    let last = base
        .trim_end_matches("/chat/completions")
        .trim_end_matches("/responses")
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let is_version = last.strip_prefix('v').is_some_and(|n| n.parse::<u8>().is_ok());
    format!("/{}/{path}", if is_version { last } else { "v1" })
}

/// Why a batch failed: `line 1: This line is not parseable as valid JSON`, with how many more reasons.
fn refusals_of(batch: &Value) -> Option<String> {
    let all = batch.pointer("/errors/data").or_else(|| batch.get("errors")).and_then(Value::as_array)?;
    let told = |error: &Value| {
        let message = error["message"].as_str().or_else(|| error["code"].as_str())?;
        let message = message.trim().trim_end_matches('.');
        Some(error["line"].as_u64().map_or(message.to_owned(), |line| format!("line {line}: {message}")))
    };
    let first = all.iter().find_map(told)?;
    Some(if all.len() > 1 { format!("{first}, and {} more", all.len() - 1) } else { first })
}

fn parse_line(line: &Value) -> Option<BatchResult> {
    let key = Some(line["custom_id"].as_str()?.to_owned());
    let status = line["response"]["status_code"].as_u64().and_then(|status| u16::try_from(status).ok());
    let came = match status {
        Some(status) => Ok(answered(status, &line["response"]["body"])),
        None => {
            let why = ["message", "code"].iter().find_map(|name| line["error"][name].as_str());
            Err(Unanswered::because(why))
        }
    };
    Some(BatchResult { key, came })
}
