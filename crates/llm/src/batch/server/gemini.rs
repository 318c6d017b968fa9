//! Gemini's batch mode, with the requests in the batch itself.

use serde_json::{Value, json};

use super::{
    BatchResult, FoundBatch, PAGE, PAGES, Server, State, Unanswered, answered, is_name, named, so_far,
};
use crate::batch::log::{BatchItem, BatchLogEntry};
use crate::fault::Fault;
use crate::provider;

impl Server<'_> {
    pub(super) async fn gemini_find(&self, entry: &BatchLogEntry) -> Result<FoundBatch, Fault> {
        let mut token = String::new();
        for _ in 0..PAGES {
            let page = self.get(self.versioned_path(&format!("batches?pageSize={PAGE}{token}"))).await?;
            let batches = page["operations"].as_array().map_or(&[][..], Vec::as_slice);
            let is_ours = |batch: &&Value| batch["metadata"]["displayName"] == entry.batch.as_str();
            if let Some(found) = batches.iter().find(is_ours) {
                return named(found, "name").map(FoundBatch::Batch);
            }
            match page["nextPageToken"].as_str().filter(|token| !token.is_empty()) {
                Some(next) => token = format!("&pageToken={}", provider::percent_encode(next)),
                None => break,
            }
        }
        Ok(FoundBatch::Nowhere)
    }

    pub(super) async fn gemini_send(&self, entry: &BatchLogEntry) -> Result<String, Fault> {
        let one =
            |item: &BatchItem| json!({"request": self.body(&item.request), "metadata": {"key": item.key}});
        let requests: Vec<Value> = entry.items.iter().map(one).collect();
        let batch = json!({"batch": {"displayName": entry.batch,
            "inputConfig": {"requests": {"requests": requests}}}});
        let model = entry.items.first().map_or(self.endpoint.model.as_str(), |item| &item.request.model);
        let path = format!("{}:batchGenerateContent", provider::gemini_model(model));
        named(&self.post(self.versioned_path(&path), &batch).await?, "name")
    }

    pub(super) async fn gemini_state(&self, id: &str) -> Result<State, Fault> {
        let batch = self.get(self.versioned_path(id)).await?;
        let state = batch["metadata"]["state"].as_str().unwrap_or_default();
        let state =
            ["BATCH_STATE_", "JOB_STATE_"].iter().find_map(|p| state.strip_prefix(p)).unwrap_or(state);
        let ended = ["SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"];
        if batch["done"] != true && !ended.contains(&state) {
            let stats = &batch["metadata"]["batchStats"];
            // 64-bit integers come as strings.
            let count = |name: &str| {
                let number = &stats[name];
                number.as_u64().or_else(|| number.as_str()?.parse().ok())
            };
            let done =
                count("successfulRequestCount").unwrap_or(0) + count("failedRequestCount").unwrap_or(0);
            let all = count("requestCount");
            return Ok(State::OnItsWay(so_far(&state.to_lowercase(), Some(done), all)));
        }
        let places = ["/metadata/output", "/response", "/response/output"];
        let of = |field: &str| places.iter().find_map(|place| batch.pointer(place)?.get(field));
        let file = of("responsesFile").and_then(Value::as_str).filter(|file| is_name(file));
        let lines: Vec<BatchResult> =
            match (of("inlinedResponses").and_then(|all| all["inlinedResponses"].as_array()), file) {
                (Some(all), _) => all.iter().map(parse_line).collect(),
                (None, Some(file)) => {
                    let path = self.versioned_path(&format!("{file}:download?alt=media"));
                    self.lines(path).await?.iter().map(parse_line).collect()
                }
                (None, None) => Vec::new(),
            };
        let why = batch.pointer("/error/message").and_then(Value::as_str);
        let how = state.to_lowercase();
        // An operation that ended with an error has no state of its own.
        if lines.is_empty() && (state == "FAILED" || state.is_empty() && why.is_some()) {
            return Ok(State::Refused { why: why.unwrap_or("it failed").trim_end_matches('.').to_owned() });
        }
        Ok(State::Ended { how: why.map_or(how.clone(), |why| format!("{how} ({why})")), lines })
    }

    pub(super) fn gemini_cancel(&self, id: &str) -> String {
        self.versioned_path(&format!("{id}:cancel"))
    }

    fn versioned_path(&self, path: &str) -> String {
        format!("{}/{path}", provider::gemini_version(self.endpoint))
    }
}

fn parse_line(line: &Value) -> BatchResult {
    let key = line.pointer("/metadata/key").or_else(|| line.get("key")).and_then(Value::as_str);
    let came = match (line.get("response").filter(|response| response.is_object()), line.get("error")) {
        (Some(response), _) => Ok(answered(200, response)),
        (None, Some(error)) => match status_of(error["code"].as_u64()) {
            Some(status) => Ok(answered(status, &json!({"error": error}))),
            None => Err(Unanswered::because(error["message"].as_str())),
        },
        (None, None) => Err(Unanswered::default()),
    };
    BatchResult { key: key.map(str::to_owned), came }
}

/// The HTTP status for one of Google's codes; `None` if the request was cancelled or timed out without an
/// answer.
fn status_of(code: Option<u64>) -> Option<u16> {
    match code {
        Some(1 | 4) => None,
        Some(3 | 9 | 11) => Some(400),
        Some(16) => Some(401),
        Some(7) => Some(403),
        Some(5) => Some(404),
        Some(8) => Some(429),
        Some(14) => Some(503),
        Some(code @ 400..600) => u16::try_from(code).ok(),
        _ => Some(500),
    }
}
