//! Endpoints as their makers document them: the API that a model has, settings for one call, proxies,
//! certificates.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::generate::{GEN, reply_to};
use crate::harness::{CallResult, Workspace};

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The target: a path, or the whole address if the server is used as a proxy.
    pub target: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

impl Seen {
    /// The texts of a chat or of a response's input.
    pub fn prompt(&self) -> String {
        let list = self.body.get("messages").or_else(|| self.body.get("input"));
        let texts = list.and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
    }
}

type Answers = dyn Fn(&Seen) -> (u16, Value) + Send + Sync;

/// A server that answers as a function says.
pub struct Fake {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    pub fn start(answers: impl Fn(&Seen) -> (u16, Value) + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, answers): (Arc<Mutex<Vec<Seen>>>, Arc<Answers>) = (Arc::default(), Arc::new(answers));
        let all = seen.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answers) = (seen.clone(), answers.clone());
                std::thread::spawn(move || serve(stream, &seen, answers.as_ref()));
            }
        });
        Fake { port, seen: all }
    }

    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Seen>>, answers: &Answers) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut part = [0; 65536];
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(read) => bytes.extend_from_slice(&part[..read]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            break (head.to_owned(), body.to_owned());
        }
    };
    let mut lines = head.lines();
    let target = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers =
        lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_lowercase(), v.to_owned()));
    let one =
        Seen { target, headers: headers.collect(), body: serde_json::from_str(&body).unwrap_or_default() };
    let (status, answer) = answers(&one);
    seen.lock().unwrap().push(one);
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all((head + &answer).as_bytes());
}

/// A chat's answer.
pub fn chat(text: &str) -> Value {
    json!({"id": "c-1", "object": "chat.completion", "model": "m-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340}})
}

fn response(text: &str) -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m-2026",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
        "usage": {"input_tokens": 300, "output_tokens": 40, "total_tokens": 340}})
}

/// A workspace whose drafts ask this endpoint.
pub fn asking(settings: &str) -> Workspace {
    let ws = Workspace::sample();
    let table =
        format!("\n[llm.mine]\nmodel = \"m\"\nfree = true\nretries = {{ max_attempts = 1 }}\n{settings}\n");
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &table);
    ws.write("raw/sample/votes.jsonl", "");
    ws
}

/// `run` to the first draft, with further arguments.
pub fn screen(ws: &Workspace, more: &[&str]) -> CallResult {
    let args = ["run", "--recipe", GEN, "--to", "screen", "--yes", "--set", "draft.endpoint=mine"];
    ws.call(args.iter().chain(more))
}

#[test]
fn a_model_of_the_other_api_is_asked_there_and_the_setting_is_named() {
    let only = "This model is only supported in v1/responses and not in v1/chat/completions.";
    let server = Fake::start(move |seen| match seen.target.as_str() {
        "/v1/responses" => (200, response(&reply_to(&seen.prompt()).1)),
        "/v1/chat/completions" => {
            let error =
                json!({"message": only, "type": "invalid_request_error", "param": "model", "code": null});
            (404, json!({"error": error}))
        }
        _ => (404, json!({})),
    });
    let settings = format!(
        "base_url = \"{}\"\nsampling = {{ max_tokens = 300, seed = 5, extra = {{ reasoning_effort = \"low\" }} }}",
        server.url()
    );
    let ws = asking(&settings);
    let result = screen(&ws, &[]).expect(0);
    let said = "warning: llm.mine: m is served by the Responses API alone and was asked there; sampling.seed is not sent there; set api = \"responses\"";
    assert!(result.err.contains(said), "{}", result.err);
    let seen = server.take();
    let of = |path: &str| seen.iter().filter(|seen| seen.target == path).count();
    assert_eq!(of("/v1/responses"), 91);
    assert!((1..=20).contains(&of("/v1/chat/completions")), "{}", of("/v1/chat/completions"));
    let asked = seen.iter().find(|seen| seen.target == "/v1/responses").unwrap();
    assert_eq!(asked.body["reasoning"], json!({"effort": "low"}));
    assert_eq!((&asked.body["max_output_tokens"], &asked.body["store"]), (&json!(300), &json!(false)));
    // What is stored is found by either setting.
    let advice = screen(&ws, &["--set", "llm.mine.api=responses", "--offline"]).expect(0);
    assert!(advice.err.contains("sampling.seed") || !advice.err.contains("alone"), "{}", advice.err);
    ws.remove_derived();
    assert_eq!(screen(&ws, &["--offline"]).expect(0).code, 0);
    assert!(server.take().is_empty());
    // By hand nothing is refused, and a setting that is not sent is said.
    let by_hand = screen(&asking(&settings), &["--set", "llm.mine.api=responses"]).expect(0);
    assert!(
        by_hand.err.contains("warning: llm.mine: sampling.seed is not sent: the Responses API"),
        "{}",
        by_hand.err
    );
    assert!(server.take().iter().all(|seen| seen.target == "/v1/responses"));
}

#[test]
fn a_missing_path_is_named_with_its_version() {
    let server = Fake::start(|_| (405, json!({"detail": "Method Not Allowed"})));
    let ws = asking(&format!("provider = \"gemini\"\nbase_url = \"http://127.0.0.1:{}\"", server.port));
    let result = screen(&ws, &[]).expect(3);
    let place = "asked at /v1beta/models/m:generateContent, api_version = \"v1beta\"";
    let state = ws.call(["explain", "--recipe", GEN, "--json", "sample:1"]);
    let ledger = ws.shell("cat staged/*/*screen*/ledger* 2>/dev/null | strings | grep -c 'asked at'");
    assert!(result.err.contains(place), "{} {} {}", result.err, state.out, ledger.out);
}

#[test]
fn what_an_api_has_no_parameter_for_is_not_sent_and_said() {
    let answer = |text: &str| {
        json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 300, "output_tokens": 40}})
    };
    let server = Fake::start(move |seen| {
        match seen.body.get("temperature").is_some() && &seen.headers["anthropic-version"][..] > "2026" {
            true => (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "temperature: Extra inputs are not permitted"}}),
            ),
            false => (200, answer(&reply_to(&seen.prompt()).1)),
        }
    });
    let settings = format!(
        "provider = \"anthropic\"\nbase_url = \"http://127.0.0.1:{}\"\nsampling = {{ max_tokens = 300, temperature = 0.7 }}",
        server.port
    );
    let ws = asking(&settings);
    let result = screen(&ws, &[]).expect(0);
    let said = "warning: llm.mine: sampling.temperature is not sent: Anthropic's API has no such parameter since version 2026-10-21; remove it, or set api_version = \"2023-06-01\"";
    assert!(result.err.contains(said), "{}", result.err);
    assert!(server.take().iter().all(|seen| seen.body.get("temperature").is_none()));
    // The advice is followed.
    let older = screen(&asking(&settings), &["--set", "llm.mine.api_version=2023-06-01"]).expect(0);
    assert!(!older.err.contains("is not sent"), "{}", older.err);
    assert!(server.take().iter().all(|seen| seen.body["temperature"] == json!(0.7)));
}

#[test]
fn a_setting_of_an_endpoint_holds_for_one_call() {
    let server = Fake::start(|seen| (200, chat(&reply_to(&seen.prompt()).1)));
    let settings = format!("base_url = \"{}\"", server.url());
    let set = |pairs: &[&str]| {
        // A workspace of its own: what was asked before is not asked again.
        let ws = asking(&settings);
        let more: Vec<&str> = pairs.iter().flat_map(|pair| ["--set", pair]).collect();
        screen(&ws, &more)
    };
    set(&[
        "llm.mine.sampling.max_tokens=321",
        "llm.mine.sampling.extra.top_k=5",
        "llm.mine.model=other",
        "llm.mine.limit_field=max_completion_tokens",
    ])
    .expect(0);
    let body = server.take().pop().unwrap().body;
    assert_eq!(
        (&body["max_completion_tokens"], &body["top_k"], &body["model"]),
        (&json!(321), &json!(5), &json!("other"))
    );
    set(&["llm.mine.sampling.extra={ top_k = 6, reasoning_effort = \"low\" }"]).expect(0);
    let body = server.take().pop().unwrap().body;
    assert_eq!(
        (&body["top_k"], &body["reasoning_effort"], &body["max_tokens"]),
        (&json!(6), &json!("low"), &json!(1024))
    );
    for (pair, problem) in [
        ("llm.mine.sampling.max_token=1", "did you mean \"llm.mine.sampling.max_tokens\"?"),
        ("llm.mine.sampling.max_tokens=many", "a whole number from 1 to 4294967295"),
        ("llm.mine.sampling.max_tokens=0", "a whole number from 1 to 4294967295"),
        ("llm.mime.model=x", "did you mean \"mine\"?"),
        ("llm.mine.provider=opneai", "opneai"),
        ("llm.mine", "llm.<name>.<key>"),
    ] {
        let pair = if pair.contains('=') { pair.to_owned() } else { format!("{pair}=1") };
        let refused = set(&[&pair]).expect(2);
        assert!(
            refused.err.contains(problem) && refused.err.contains("--set llm.m"),
            "{pair}: {}",
            refused.err
        );
    }
    let ws = asking(&settings);
    let args = ["run", "--recipe", GEN, "--to", "screen", "--yes", "--set", "draft.endpoint=mine"];
    let mut command = ws.command(args);
    command.env("RIDDLEMILL_LLM__MINE__SAMPLING__MAX_TOKENS", "123");
    assert_eq!(command.output().unwrap().status.code(), Some(0));
    assert_eq!(server.take().pop().unwrap().body["max_tokens"], json!(123));
}

#[test]
fn a_proxy_of_the_environment_is_used_but_for_the_hosts_that_it_is_not_for() {
    let direct = Fake::start(|seen| (200, chat(&reply_to(&seen.prompt()).1)));
    let proxy = Fake::start(|seen| (200, chat(&reply_to(&seen.prompt()).1)));
    let settings = format!("base_url = \"{}\"", direct.url());
    let through = |no_proxy: &str| {
        let ws = asking(&settings);
        let args = ["run", "--recipe", GEN, "--to", "screen", "--yes", "--set", "draft.endpoint=mine"];
        let mut command = ws.command(args);
        command.env("HTTP_PROXY", format!("http://127.0.0.1:{}", proxy.port)).env("NO_PROXY", no_proxy);
        let out = command.output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        (direct.take(), proxy.take())
    };
    let (direct_seen, proxy_seen) = through("");
    assert_eq!((direct_seen.len(), proxy_seen.len()), (0, 91));
    assert_eq!(proxy_seen[0].target, format!("{}/chat/completions", direct.url()));
    let (direct_seen, proxy_seen) = through("localhost,127.0.0.1");
    assert_eq!((direct_seen.len(), proxy_seen.len()), (91, 0));
}

#[test]
fn a_machine_without_certificates_reaches_its_own_models_and_is_told_what_lacks() {
    let server = Fake::start(|seen| (200, chat(&reply_to(&seen.prompt()).1)));
    let settings = format!("base_url = \"{}\"", server.url());
    let without = |more: &[&str]| {
        let ws = asking(&settings);
        let args = ["run", "--recipe", GEN, "--to", "screen", "--yes", "--set", "draft.endpoint=mine"];
        let mut command = ws.command(args.iter().chain(more));
        command.env("SSL_CERT_FILE", "/nowhere.pem").env("SSL_CERT_DIR", "/nowhere");
        command.output().unwrap()
    };
    let plain = without(&[]);
    assert_eq!(plain.status.code(), Some(0), "{}", String::from_utf8_lossy(&plain.stderr));
    assert_eq!(server.take().len(), 91);
    let https = without(&["--set", "llm.mine.base_url=https://api.example.org/v1"]);
    let said = String::from_utf8_lossy(&https.stderr).into_owned();
    assert!(
        said.contains("llm.mine: no certificates of authorities are on this machine")
            && said.contains("SSL_CERT_FILE"),
        "{said}"
    );
    assert_eq!(https.status.code(), Some(2), "{said}");
}

/// A workspace with a paid endpoint, tried with these arguments.
fn trying(ws: &Workspace, more: &[&str]) -> CallResult {
    let mut command = ws.command(["endpoint", "try", "paid"].iter().chain(more));
    command.env("PAID_KEY", "sk-a-key-of-the-tests-0001").env("RIDDLEMILL_TRUST", "127.0.0.1");
    CallResult::from(&mut command)
}

fn paid(server: &Fake) -> Workspace {
    let ws = Workspace::sample();
    let table = format!(
        "\n[llm.paid]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"PAID_KEY\"\nusd_per_million_in = 1.0\nusd_per_million_out = 2.0\n",
        server.url()
    );
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &table);
    ws
}

#[test]
fn one_request_shows_what_an_endpoint_does() {
    let reply = r#"{"answer": "neither", "why": "both weigh a pound"}"#;
    let server = Fake::start(move |_| (200, chat(reply)));
    let ws = paid(&server);
    let refused = trying(&ws, &[]).expect(2);
    assert!(refused.err.contains("there is no terminal to ask on"), "{}", refused.err);
    assert!(server.take().is_empty(), "nothing is sent before somebody agreed");
    let said = trying(&ws, &["--yes"]).expect(0).out;
    for part in [
        &format!("reply      {reply}"),
        "model      m-2026, as the server names it; m was asked for",
        "structured not asked for; --set llm.paid.structured=true tries it",
        "tokens     300 in (0 cached), 40 out (0 reasoning)",
        // 300 tokens at $1 and 40 at $2 a million.
        "cost       $0.0004, of at most $",
        "time       ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // It is sent whether or not there is a reply, and costs what is charged.
    let again = trying(&ws, &["--yes", "--json", "--set", "llm.paid.structured=true"]).expect(0);
    let json: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(
        (&json["model"], &json["schema"], &json["usage"]["completion_tokens"]),
        (&json!("m-2026"), &json!(true), &json!(40))
    );
    assert!(
        trying(&ws, &["--yes", "--set", "llm.paid.structured=true"])
            .expect(0)
            .out
            .contains("the schema was sent, and the reply has its fields")
    );
    let seen = server.take();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[1].body["response_format"]["json_schema"]["name"], "try");
    let stats = ws.call(["replies", "stats", "--json"]).expect(0).out;
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["replies"], json!(3), "{stats}");
    // A cap holds.
    let capped = trying(&ws, &["--max-usd", "0.000001"]).expect(2);
    assert!(
        capped.out.contains("no reply") && capped.out.contains("next       give a higher --max-usd"),
        "{} {}",
        capped.out,
        capped.err
    );
    assert!(server.take().is_empty());
    let unknown = ws.call(["endpoint", "try", "payd"]).expect(2);
    assert!(unknown.err.contains("did you mean \"paid\"?"), "{}", unknown.err);
}

#[test]
fn a_trial_that_fails_names_the_cause_and_what_mends_it() {
    let server = Fake::start(|seen| match seen.body["model"].as_str() {
        Some("refused") => (401, json!({"error": {"message": "invalid api key"}})),
        Some("gone") => (404, json!({"error": {"message": "model not found"}})),
        _ => (200, json!({"object": "list", "data": [{"id": "m"}]})),
    });
    let ws = paid(&server);
    let said = trying(&ws, &["--yes", "--set", "llm.paid.model=refused"]).expect(3);
    assert!(
        said.out.contains("no reply   401 from paid (invalid api key)")
            && said.out.contains("next       check the key in PAID_KEY"),
        "{}",
        said.out
    );
    assert_eq!(server.take().len(), 1, "one request");
    let said = trying(&ws, &["--yes", "--set", "llm.paid.model=gone"]).expect(3);
    assert!(said.out.contains("no model \"gone\", but m"), "{}", said.out);
    let without = ws.call(["endpoint", "try", "paid", "--yes"]).expect(2);
    assert!(
        without.out.contains("PAID_KEY is not set") && without.out.contains("next       export PAID_KEY=…"),
        "{} {}",
        without.out,
        without.err
    );
    let free = trying(&ws, &["--yes", "--set", "llm.paid.base_url=http://127.0.0.1:9/v1"]).expect(3);
    assert!(
        free.out.contains("no connection to paid") && free.out.contains("http://127.0.0.1:9/v1 answers"),
        "{}",
        free.out
    );
}

const TOKEN: &str = "rotating-token-of-the-tests";

#[cfg(unix)]
#[test]
fn a_command_prints_the_key_after_somebody_agreed_and_nothing_shows_it() {
    // The first token has expired; the refusal quotes it.
    let server = Fake::start(|seen| match seen.headers.get("authorization").map(String::as_str) {
        Some(key) if key == format!("Bearer {TOKEN}-2") => (200, chat(&reply_to(&seen.prompt()).1)),
        other => (401, json!({"error": {"message": format!("expired: {}", other.unwrap_or("no key"))}})),
    });
    let ws = asking(&format!("base_url = \"{}\"\nkey_command = [\"./token\", \"two words\"]", server.url()));
    let script = format!(
        "#!/bin/sh\necho x >> runs\necho noise-{TOKEN} >&2\necho {TOKEN}-$(wc -l < runs | tr -d ' ')\n"
    );
    ws.write("token", script);
    ws.shell("chmod +x token").expect(0);
    // A host that is trusted and --yes do not cover a command.
    let refused = screen(&ws, &[]).expect(2);
    let asked = "llm.mine would run the command \"./token 'two words'\"";
    assert!(refused.err.contains(asked) && refused.err.contains("riddlemill trust add"), "{}", refused.err);
    assert!(server.take().is_empty() && !ws.exists("runs"));
    let held = ws.call(["endpoint", "try", "mine", "--yes"]).expect(2);
    assert!(held.err.contains(asked), "{}", held.err);
    ws.call(["trust", "add", "./token 'two words'"]).expect(0);
    let result = screen(&ws, &[]).expect(0);
    assert_eq!(ws.read("runs").lines().count(), 2, "once, and again after the refusal");
    let seen = server.take();
    assert!((92..=110).contains(&seen.len()), "{}", seen.len());
    // Neither in what is printed nor in any file but the script.
    assert!(!format!("{}{}", result.out, result.err).contains(TOKEN));
    let found = ws.shell(&format!("grep -rla {TOKEN} . | sort")).out;
    assert_eq!(found.trim(), "./token", "{found}");
    let both = ws.call(["endpoint", "try", "mine", "--yes", "--set", "llm.mine.key_env=PATH"]).expect(2);
    assert!(both.err.contains("key_env and key_command are both set"), "{}", both.err);
    // A command that fails says so, not what it printed.
    ws.write("token", format!("#!/bin/sh\necho {TOKEN}-9; echo {TOKEN} >&2; exit 7\n"));
    let failed = ws.call(["endpoint", "try", "mine", "--yes"]).expect(3);
    assert!(
        failed.out.contains("key_command \"./token\" failed (exit status: 7)"),
        "{} {}",
        failed.out,
        failed.err
    );
    assert!(
        failed.out.contains("next       run the key_command of [llm.mine] by hand")
            && !failed.out.contains(TOKEN),
        "{}",
        failed.out
    );
}
