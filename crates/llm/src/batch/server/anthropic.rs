//! Anthropic's batches of messages. A batch does not hold our name, and does not list its requests before it
//! has ended: one whose name was not logged is searched by its time and its size, and identified by its
//! answers.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    BatchResult, FoundBatch, PAGE, PAGES, Server, State, Unanswered, answered, is_name, named, so_far,
};
use crate::batch::log::{BatchItem, BatchLogEntry};
use crate::fault::Fault;

/// Largest difference between a server's clock and ours, in milliseconds.
const CLOCKS: u64 = 3_600_000;

impl Server<'_> {
    pub(super) async fn anthropic_find(
        &self,
        entry: &BatchLogEntry,
        known: &[String],
    ) -> Result<FoundBatch, Fault> {
        let ours: Vec<String> = entry.items.iter().map(|item| item.key.to_string()).collect();
        let since = i64::try_from(entry.at_ms.saturating_sub(CLOCKS)).unwrap_or_default();
        let is_older = |batch: &Value| {
            let at = batch["created_at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
            at.is_some_and(|at| at.as_millisecond() < since)
        };
        let mut after = String::new();
        let mut found = FoundBatch::Nowhere;
        for _ in 0..PAGES {
            let page = self.get(format!("v1/messages/batches?{after}limit={PAGE}")).await?;
            let batches = page["data"].as_array().map_or(&[][..], Vec::as_slice);
            for batch in batches {
                let Some(id) = batch["id"].as_str().filter(|id| is_name(id)) else { continue };
                let is_known = known.iter().any(|known| known == id);
                if is_known || is_older(batch) || count_requests(batch) != ours.len() as u64 {
                    continue;
                }
                if batch["processing_status"] != "ended" {
                    found = FoundBatch::Perhaps;
                    continue;
                }
                let lines = self.anthropic_lines(id).await?;
                if lines.iter().any(|line| line.key.as_ref().is_some_and(|key| ours.contains(key))) {
                    return Ok(FoundBatch::Batch(id.to_owned()));
                }
            }
            // Newest first.
            match page["last_id"].as_str() {
                Some(last) if page["has_more"] == true && is_name(last) && !batches.iter().any(is_older) => {
                    after = format!("after_id={last}&");
                }
                _ => break,
            }
        }
        Ok(found)
    }

    pub(super) async fn anthropic_send(&self, entry: &BatchLogEntry) -> Result<String, Fault> {
        let one = |item: &BatchItem| json!({"custom_id": item.key, "params": self.body(&item.request)});
        let requests: Vec<Value> = entry.items.iter().map(one).collect();
        named(&self.post("v1/messages/batches".into(), &json!({"requests": requests})).await?, "id")
    }

    pub(super) async fn anthropic_state(&self, id: &str) -> Result<State, Fault> {
        let batch = self.get(format!("v1/messages/batches/{id}")).await?;
        let status = batch["processing_status"].as_str().unwrap_or_default();
        if status != "ended" {
            let left = batch["request_counts"]["processing"].as_u64();
            let all = count_requests(&batch);
            return Ok(State::OnItsWay(so_far(status, left.map(|left| all.saturating_sub(left)), Some(all))));
        }
        Ok(State::Ended { how: "ended".into(), lines: self.anthropic_lines(id).await? })
    }

    /// The address in the batch has the same path, but possibly another host, to which no key may be sent.
    async fn anthropic_lines(&self, id: &str) -> Result<Vec<BatchResult>, Fault> {
        let lines = self.lines(format!("v1/messages/batches/{id}/results")).await?;
        Ok(lines.iter().filter_map(parse_line).collect())
    }
}

pub(super) fn cancel_path(id: &str) -> String {
    format!("v1/messages/batches/{id}/cancel")
}

/// How many requests a batch holds.
fn count_requests(batch: &Value) -> u64 {
    batch["request_counts"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum()
}

fn parse_line(line: &Value) -> Option<BatchResult> {
    let key = Some(line["custom_id"].as_str()?.to_owned());
    let result = &line["result"];
    let came = match result["type"].as_str() {
        Some("succeeded") => Ok(answered(200, &result["message"])),
        Some("errored") => Ok(answered(status_of(&result["error"]), &result["error"])),
        other => Err(Unanswered::because(other)),
    };
    Some(BatchResult { key, came })
}

/// The status of such an error if a request is sent alone.
fn status_of(error: &Value) -> u16 {
    match error.pointer("/error/type").and_then(Value::as_str) {
        Some("invalid_request_error" | "invalid_request") => 400,
        Some("authentication_error") => 401,
        Some("billing_error") => 402,
        Some("permission_error") => 403,
        Some("not_found_error") => 404,
        Some("request_too_large") => 413,
        Some("rate_limit_error") => 429,
        Some("timeout_error") => 504,
        Some("overloaded_error") => 529,
        _ => 500,
    }
}
