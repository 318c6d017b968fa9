//! Batches of each provider by the real command: sent by one run, shown by `status`, fetched by another,
//! abandoned.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::generate::{GEN, reply_to};
use crate::harness::{CallResult, Workspace};

const PROVIDERS: [&str; 4] = ["openai", "azure", "anthropic", "gemini"];

/// A batch server with the interface of one provider. A batch ends when the test says so.
pub struct Batches {
    pub port: u16,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    provider: &'static str,
    files: Vec<String>,
    /// Name, and keys with prompts.
    batches: Vec<(Value, Vec<(String, String)>)>,
    ended: bool,
    /// Requests outside of batches.
    alone: u32,
    /// Prompts that were processed.
    worked: Vec<String>,
    /// Why batches fail as a whole; empty if they do not.
    fails: &'static str,
}

impl Batches {
    pub fn start(provider: &'static str) -> Batches {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let kept = Arc::new(Mutex::new(Kept { provider, ..Kept::default() }));
        let shared = kept.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &mut shared.lock().unwrap());
            }
        });
        Batches { port, kept }
    }

    pub fn workspace(&self) -> Workspace {
        let (provider, port) = (self.kept.lock().unwrap().provider, self.port);
        let more = match provider {
            "openai" => format!("base_url = \"http://127.0.0.1:{port}/v1\"\n"),
            "azure" => {
                format!("base_url = \"http://127.0.0.1:{port}\"\napi_version = \"2024-10-21\"\n")
            }
            _ => format!("base_url = \"http://127.0.0.1:{port}\"\n"),
        };
        let settings = format!(
            "\n[llm.slow]\nprovider = \"{provider}\"\n{more}model = \"m\"\nbatch = true\nusd_per_million_in = 1.0\n\
             usd_per_million_out = 2.0\nmax_usd = 50.0\nsampling = {{ max_tokens = 100 }}\nretries = {{ max_attempts = 1 }}\n"
        );
        let ws = Workspace::sample();
        ws.write("pipeline.toml", ws.read("pipeline.toml") + &settings);
        ws.write("raw/sample/votes.jsonl", "");
        ws
    }

    pub fn end(&self) {
        self.kept.lock().unwrap().ended = true;
    }

    /// From now on batches fail as a whole for this reason, or not if it is empty.
    pub fn fail(&self, why: &'static str) {
        self.kept.lock().unwrap().fails = why;
    }

    /// The number of batches that were sent.
    pub fn sent(&self) -> usize {
        self.kept.lock().unwrap().batches.len()
    }
}

fn answer(mut stream: TcpStream, kept: &mut Kept) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    let (head, body) = loop {
        let n = stream.read(&mut buffer).unwrap_or(0);
        if n == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..n]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.to_ascii_lowercase();
        let length =
            length.split("content-length:").nth(1).and_then(|l| l.lines().next()?.trim().parse().ok());
        if bytes.len() >= end + 4 + length.unwrap_or(0) {
            break (head, String::from_utf8_lossy(&bytes[end + 4..]).into_owned());
        }
    };
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let text = kept.respond(method, path, &body);
    let (status, text) = if text.is_empty() { ("404 Not Found", "{}".into()) } else { ("200 OK", text) };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
}

impl Kept {
    fn respond(&mut self, method: &str, path: &str, body: &str) -> String {
        let path = path.split('?').next().unwrap().trim_start_matches("/openai");
        let path = path.trim_start_matches("/v1beta").trim_start_matches("/v1");
        let path = path.trim_start_matches("/messages");
        let json = || serde_json::from_str::<Value>(body).unwrap_or_default();
        match (method, path) {
            ("POST", "/files") => {
                let file = body.split("application/jsonl\r\n\r\n").nth(1).unwrap();
                self.files.push(file.split("\r\n--").next().unwrap().to_owned());
                json!({"id": format!("file-{}", self.files.len() - 1), "status": "processed"}).to_string()
            }
            ("POST", _) if path.ends_with("cancel") => {
                self.ended = true;
                "{}".to_owned()
            }
            ("POST", "/batches") if self.provider == "anthropic" => {
                let all = json()["requests"].as_array().unwrap().clone();
                self.batch(Value::Null, all.iter().map(|r| (&r["custom_id"], &r["params"])))
            }
            ("POST", "/batches") => {
                let asked = json();
                let file: usize = asked["input_file_id"].as_str().unwrap()[5..].parse().unwrap();
                let lines: Vec<Value> =
                    self.files[file].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                self.batch(
                    asked["metadata"]["riddlemill"].clone(),
                    lines.iter().map(|r| (&r["custom_id"], &r["body"])),
                )
            }
            ("POST", "/models/m:batchGenerateContent") => {
                let asked = json();
                let all = asked.pointer("/batch/inputConfig/requests/requests").unwrap().as_array().unwrap();
                self.batch(
                    asked["batch"]["displayName"].clone(),
                    all.iter().map(|r| (&r["metadata"]["key"], &r["request"])),
                )
            }
            ("POST", _) => {
                self.alone += 1;
                let body = json();
                self.whole(&prompt(&body)).to_string()
            }
            ("GET", "/batches") => {
                let all: Vec<Value> = (0..self.batches.len()).map(|at| self.state(at)).collect();
                json!({"data": all, "operations": all}).to_string()
            }
            ("GET", _) => {
                let Some(id) = path.split('/').find_map(|part| part.split('-').nth(1)) else {
                    return String::new();
                };
                let at: usize = id.parse().unwrap();
                if at >= self.batches.len() {
                    return String::new();
                }
                match path.ends_with("/content") || path.ends_with("/results") {
                    true => self.lines(at).iter().map(|line| format!("{line}\n")).collect(),
                    false => self.state(at).to_string(),
                }
            }
            _ => String::new(),
        }
    }

    fn batch<'r>(&mut self, name: Value, all: impl Iterator<Item = (&'r Value, &'r Value)>) -> String {
        let all: Vec<(String, String)> =
            all.map(|(key, body)| (key.as_str().unwrap().to_owned(), prompt(body))).collect();
        self.worked.extend(all.iter().map(|(_, prompt)| prompt.clone()));
        self.batches.push((name, all));
        self.state(self.batches.len() - 1).to_string()
    }

    fn state(&self, at: usize) -> Value {
        let ((name, all), ended) = (&self.batches[at], self.ended);
        match self.provider {
            "anthropic" => json!({"id": format!("b-{at}"), "created_at": "2100-01-01T00:00:00Z",
                "processing_status": if ended { "ended" } else { "in_progress" },
                "request_counts": {"processing": if ended { 0 } else { all.len() }, "succeeded": if ended { all.len() } else { 0 }}}),
            "gemini" => {
                let mut state = json!({"name": format!("batches/b-{at}"), "done": ended, "metadata": {"displayName": name,
                    "state": if ended { "BATCH_STATE_SUCCEEDED" } else { "BATCH_STATE_RUNNING" },
                    "batchStats": {"requestCount": all.len().to_string()}}});
                if ended {
                    state["response"] = json!({"inlinedResponses": {"inlinedResponses": self.lines(at)}});
                }
                state
            }
            _ if !self.fails.is_empty() => json!({"id": format!("b-{at}"), "status": "failed",
                "metadata": {"riddlemill": name}, "output_file_id": null, "error_file_id": null,
                "errors": {"data": [{"code": "invalid_json_line", "line": 1, "message": self.fails}]}}),
            _ => json!({"id": format!("b-{at}"), "status": if ended { "completed" } else { "in_progress" },
                "metadata": {"riddlemill": name}, "output_file_id": ended.then(|| format!("out-{at}")),
                "request_counts": {"total": all.len(), "completed": 0, "failed": 0}}),
        }
    }

    fn lines(&self, at: usize) -> Vec<Value> {
        let one = |(key, prompt): &(String, String)| {
            let whole = self.whole(prompt);
            match self.provider {
                "anthropic" => json!({"custom_id": key, "result": {"type": "succeeded", "message": whole}}),
                "gemini" => json!({"response": whole, "metadata": {"key": key}}),
                _ => json!({"custom_id": key, "response": {"status_code": 200, "body": whole}}),
            }
        };
        self.batches[at].1.iter().map(one).collect()
    }

    fn whole(&self, prompt: &str) -> Value {
        let text = reply_to(prompt).1;
        let (tokens_in, tokens_out) = (prompt.len() / 4, text.len() / 4 + 1);
        match self.provider {
            "anthropic" => {
                json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn", "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out}})
            }
            "gemini" => {
                json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": tokens_in, "candidatesTokenCount": tokens_out,
                    "totalTokenCount": tokens_in + tokens_out}})
            }
            _ => json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}}),
        }
    }
}

/// The text of a request, in any provider's format.
fn prompt(body: &Value) -> String {
    let texts = |list: &Value, place: &str| -> String {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|one| Some(one.pointer(place)?.as_str()?.to_owned())).collect()
    };
    let system = [&body["system"], &body["systemInstruction"]["parts"][0]["text"]];
    let system: String = system.iter().filter_map(|text| text.as_str()).collect();
    system + &texts(&body["messages"], "/content") + &texts(&body["contents"], "/parts/0/text")
}

fn run(ws: &Workspace, more: &[&str]) -> CallResult {
    let base = ["run", "--recipe", GEN, "--to", "screen", "--set", "draft.endpoint=slow"];
    ws.call(base.iter().chain(more))
}

#[test]
fn a_batch_is_sent_announced_and_fetched_in_every_providers_format() {
    for provider in PROVIDERS {
        let server = Batches::start(provider);
        let ws = server.workspace();
        run(&ws, &[]).expect(0);
        let status = ws.call(["status", "--recipe", GEN, "--set", "draft.endpoint=slow"]).expect(0).out;
        let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(status.contains("91 wait for a model: in a batch of llm.slow since "), "{provider} {status}");
        assert!(status.contains("0 of 91 answered)"), "{provider} {status}");
        let listed = ws.call(["replies", "batches"]).expect(0).out;
        assert!(
            listed.contains("llm.slow  91 requests since ") && listed.contains("b-0"),
            "{provider} {listed}"
        );
        // While it is pending, nothing of it is requested again in any way.
        run(&ws, &[]).expect(0);
        ws.write("pipeline.toml", ws.read("pipeline.toml").replace("batch = true", "batch = false"));
        run(&ws, &[]).expect(0);
        {
            let kept = server.kept.lock().unwrap();
            assert_eq!((kept.batches.len(), kept.worked.len(), kept.alone), (1, 91, 0), "{provider}");
        }
        server.end();
        run(&ws, &[]).expect(0);
        assert_eq!(ws.call(["replies", "batches"]).expect(0).out, "no batch is open\n");
        let stats: Value =
            serde_json::from_str(&ws.call(["replies", "stats", "--json"]).expect(0).out).unwrap();
        assert_eq!(
            (&stats["replies"], &stats["open_attempts"]),
            (&json!(91), &json!(0)),
            "{provider} {stats}"
        );
        assert!(!ws.reasons(GEN).contains_key("held/reply_missing"), "{provider} {:?}", ws.reasons(GEN));
        assert_eq!(server.kept.lock().unwrap().alone, 0);
    }
}

#[test]
fn a_batch_is_given_up_by_name_and_what_it_answered_is_kept() {
    let server = Batches::start("openai");
    let ws = server.workspace();
    run(&ws, &[]).expect(0);
    assert!(ws.call(["replies", "cancel", "other"]).expect(1).err.contains("riddlemill replies batches"));
    let batches: Value =
        serde_json::from_str(&ws.call(["replies", "batches", "--json"]).expect(0).out).unwrap();
    let name = batches[0]["batch"].as_str().unwrap();
    let text = ws.call(["replies", "cancel", name]).expect(0).err;
    assert!(text.contains("ended: all of its 91 requests are answered and paid for"), "{text}");
    assert!(ws.call(["replies", "cancel", name]).expect(1).err.contains("no open batch is named"));
    run(&ws, &[]).expect(0);
    assert_eq!(server.kept.lock().unwrap().batches.len(), 1, "what was answered is not asked again");
}

#[test]
fn a_batch_that_its_server_lost_is_named_with_the_way_out() {
    let server = Batches::start("anthropic");
    let ws = server.workspace();
    run(&ws, &[]).expect(0);
    let gone = Batches::start("anthropic");
    let address = |port: u16| format!("http://127.0.0.1:{port}");
    let settings = ws.read("pipeline.toml").replace(&address(server.port), &address(gone.port));
    ws.write("pipeline.toml", settings);
    let text = run(&ws, &[]).expect(0).err;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("which it no longer has (404 from slow)"), "{text}");
    let command = text.split("; riddlemill ").find(|command| command.starts_with("replies cancel ")).unwrap();
    let args: Vec<&str> = command.split(' ').take(4).collect();
    assert_eq!(args[3], "--lost", "{text}");
    let actual = ws.call(&args).expect(0).err;
    assert!(actual.contains("91 requests counted as spent, and asked again"), "{actual}");
    let stats: Value = serde_json::from_str(&ws.call(["replies", "stats", "--json"]).expect(0).out).unwrap();
    assert!(stats["budgets"][0]["usd"].as_f64().unwrap() > 0.0, "{stats}");
}
