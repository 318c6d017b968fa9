//! A fake server of batches for every provider, which can end the processes that ask it at any point.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::Call;
use crate::fault::Fault;
use crate::http::{FileRequest, Received, Transport};
use crate::settings::Provider;

/// How often a batch is polled before it ends.
const LOOKS: u32 = 1;

/// The server's state, shared by all clients.
#[derive(Default)]
pub(super) struct Kept {
    files: BTreeMap<String, String>,
    pub(super) batches: Vec<Batch>,
    /// How often each request was worked on.
    pub(super) worked: BTreeMap<String, u32>,
    pub(super) requests: usize,
    /// It has forgotten everything.
    pub(super) forgot: bool,
}

/// A batch at the server.
pub(super) struct Batch {
    id: String,
    /// Our name for it, if the interface has one.
    name: Value,
    /// Keys and texts of the requests.
    pub(super) asked: Vec<(String, String)>,
    looks: u32,
    cancelled: bool,
}

/// A connection that ends the process at a request: before it is sent, or before its answer arrives.
pub(super) struct Kills {
    pub(super) kept: Arc<Mutex<Kept>>,
    pub(super) provider: Provider,
    pub(super) at: Option<(usize, bool)>,
    /// Requests that contain this fail.
    pub(super) fails: &'static str,
}

impl Transport for Kills {
    fn send_call<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Received, Fault>> {
        panic!("asked one by one: {}", call.body)
    }

    fn send_file_request(&self, request: FileRequest) -> BoxFuture<'_, Result<Received, Fault>> {
        Box::pin(async move {
            let count = {
                let mut kept = self.kept.lock().unwrap();
                kept.requests += 1;
                kept.requests
            };
            if self.at == Some((count, false)) {
                std::future::pending::<()>().await;
            }
            let body = {
                let mut kept = self.kept.lock().unwrap();
                match kept.forgot {
                    true => None,
                    false => Some(kept.answer_request(self.provider, &request, self.fails)),
                }
            };
            if self.at == Some((count, true)) {
                std::future::pending::<()>().await;
            }
            let (status, body) =
                body.map_or((404, r#"{"error": {"message": "no such batch"}}"#.into()), |b| (200, b));
            Ok(Received { status, body, ..Received::default() })
        })
    }
}

impl Kept {
    fn answer_request(&mut self, provider: Provider, request: &FileRequest, fails: &str) -> String {
        let path = match request {
            FileRequest::Get(path)
            | FileRequest::Download(path)
            | FileRequest::Post(path, _)
            | FileRequest::Upload(path, _) => path,
        };
        let path = ["openai/", "v1/messages/", "v1/", "v1beta/"]
            .iter()
            .fold(path.as_str(), |path, version| path.trim_start_matches(version));
        match (request, provider) {
            (FileRequest::Upload(_, lines), _) => {
                let id = format!("file-{}", self.files.len());
                self.files.insert(id.clone(), lines.clone());
                json!({"id": id}).to_string()
            }
            (FileRequest::Post(_, body), _) if body.is_empty() => {
                let id = path
                    .trim_end_matches("/cancel")
                    .trim_end_matches(":cancel")
                    .trim_start_matches("batches/");
                self.batches.iter_mut().find(|batch| batch.id == id).unwrap().cancelled = true;
                "{}".into()
            }
            (FileRequest::Post(_, body), _) => {
                let body: Value = serde_json::from_str(body).unwrap();
                let text = |body: &Value| {
                    let places = ["/messages/0/content", "/contents/0/parts/0/text"];
                    places.iter().find_map(|place| Some(body.pointer(place)?.as_str()?.to_owned())).unwrap()
                };
                let one = |key: &Value, body: &Value| (key.as_str().unwrap().to_owned(), text(body));
                let (name, asked) = match provider {
                    Provider::Anthropic => {
                        let all = body["requests"].as_array().unwrap();
                        (Value::Null, all.iter().map(|r| one(&r["custom_id"], &r["params"])).collect())
                    }
                    Provider::Gemini => {
                        let all =
                            body.pointer("/batch/inputConfig/requests/requests").unwrap().as_array().unwrap();
                        let all = all.iter().map(|r| one(&r["metadata"]["key"], &r["request"]));
                        (body["batch"]["displayName"].clone(), all.collect())
                    }
                    _ => {
                        let lines = &self.files[body["input_file_id"].as_str().unwrap()];
                        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                        let all = lines.map(|r| one(&r["custom_id"], &r["body"]));
                        (body["metadata"]["riddlemill"].clone(), all.collect())
                    }
                };
                let id = format!("batch-{}", self.batches.len());
                self.batches.insert(0, Batch { id, name, asked, looks: 0, cancelled: false });
                for (key, _) in &self.batches[0].asked {
                    *self.worked.entry(key.clone()).or_default() += 1;
                }
                self.batches[0].state_json(provider).to_string()
            }
            (FileRequest::Get(_), _) if path.starts_with("batches?") => {
                self.batches.iter_mut().for_each(|batch| batch.looks += 1);
                let all: Vec<Value> = self.batches.iter().map(|batch| batch.state_json(provider)).collect();
                json!({"data": all, "operations": all}).to_string()
            }
            (FileRequest::Get(_), _) => {
                let id = path.strip_prefix("batches/").unwrap();
                let batch = self.batches.iter_mut().find(|batch| batch.id == id).unwrap();
                batch.looks += 1;
                let mut state = batch.state_json(provider);
                if provider == Provider::Gemini && state["done"] == true {
                    let lines: Vec<Value> = batch.answer_lines(provider, fails);
                    state["metadata"]["output"] = json!({"inlinedResponses": {"inlinedResponses": lines}});
                }
                state.to_string()
            }
            (FileRequest::Download(_), _) => {
                let id = path.trim_start_matches("batches/").trim_start_matches("files/out-");
                let id = id.split('/').next().unwrap();
                let batch = self.batches.iter().find(|batch| batch.id == id).unwrap();
                batch.answer_lines(provider, fails).iter().map(|line| format!("{line}\n")).collect()
            }
        }
    }
}

impl Batch {
    /// It has ended once it was polled before.
    fn has_ended(&self) -> bool {
        self.looks > LOOKS || self.cancelled
    }

    fn state_json(&self, provider: Provider) -> Value {
        let (ended, id) = (self.has_ended(), &self.id);
        match provider {
            Provider::Anthropic => {
                let left = if ended { 0 } else { self.asked.len() };
                json!({"id": id, "processing_status": if ended { "ended" } else { "in_progress" },
                    "created_at": jiff::Timestamp::now().to_string(),
                    "request_counts": {"processing": left, "succeeded": self.asked.len() - left, "errored": 0}})
            }
            Provider::Gemini => json!({"name": format!("batches/{id}"), "done": ended, "metadata": {
                "displayName": self.name, "state": if ended { "BATCH_STATE_SUCCEEDED" } else { "BATCH_STATE_RUNNING" },
                "batchStats": {"requestCount": self.asked.len().to_string(), "successfulRequestCount": "0"}}}),
            _ => {
                let status = match (ended, self.cancelled) {
                    (_, true) => "cancelled",
                    (true, false) => "completed",
                    (false, false) => "in_progress",
                };
                json!({"id": id, "status": status, "metadata": {"riddlemill": self.name},
                    "output_file_id": ended.then(|| format!("out-{id}")),
                    "request_counts": {"total": self.asked.len(), "completed": 0, "failed": 0}})
            }
        }
    }

    /// Answers, the last request first: with keys, they come in any order.
    fn answer_lines(&self, provider: Provider, fails: &str) -> Vec<Value> {
        let one = |(key, text): &(String, String)| {
            let fails = !fails.is_empty() && text.contains(fails);
            // A cancelled batch was answered in part.
            let left_out = self.cancelled && text.contains('c') || text.contains("late");
            let reply = format!("re: {text}");
            match provider {
                Provider::Anthropic => {
                    let result = match (fails, left_out) {
                        (true, _) => json!({"type": "errored", "error": {"type": "error",
                            "error": {"type": "invalid_request_error", "message": "no"}}}),
                        (_, true) => json!({"type": if self.cancelled { "canceled" } else { "expired" }}),
                        _ => json!({"type": "succeeded", "message": {"type": "message", "role": "assistant",
                            "content": [{"type": "text", "text": reply}], "stop_reason": "end_turn",
                            "usage": {"input_tokens": 10, "output_tokens": 20}}}),
                    };
                    json!({"custom_id": key, "result": result})
                }
                Provider::Gemini => match (fails, left_out) {
                    (true, _) => json!({"metadata": {"key": key}, "error": {"code": 3, "message": "no"}}),
                    (_, true) => {
                        json!({"metadata": {"key": key}, "error": {"code": 4, "message": "expired"}})
                    }
                    _ => json!({"metadata": {"key": key}, "response": {
                        "candidates": [{"content": {"parts": [{"text": reply}]}, "finishReason": "STOP"}],
                        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30}}}),
                },
                _ => match (fails, left_out) {
                    (true, _) => json!({"custom_id": key,
                        "response": {"status_code": 400, "body": {"error": {"message": "no"}}}}),
                    (_, true) => json!({"custom_id": key, "response": null,
                        "error": {"code": "batch_expired", "message": "expired"}}),
                    _ => json!({"custom_id": key, "response": {"status_code": 200, "body": {
                        "choices": [{"message": {"content": reply}}],
                        "usage": {"prompt_tokens": 10, "completion_tokens": 20}}}}),
                },
            }
        };
        self.asked.iter().rev().map(one).collect()
    }
}
