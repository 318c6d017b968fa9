//! RuozhiBench-Gen from drafts to candidates: existing, missing and edited drafts.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Workspace;

pub const GEN: &str = "ruozhibench-gen";
pub const AHEAD: &str =
    "review.draft_ahead=[\"screen\", \"translation\", \"irrationality\", \"category\", \"pair\"]";

pub fn run(ws: &Workspace, more: &[&str]) -> crate::harness::CallResult {
    ws.call(["run", "--recipe", GEN].iter().chain(more))
}

fn status(ws: &Workspace, stage: &str, more: &[&str]) -> Value {
    let result = ws.call(["status", "--recipe", GEN, "--json"].iter().chain(more)).expect(0);
    let rows: Vec<Value> = serde_json::from_str(&result.out).unwrap();
    rows.into_iter().find(|row| row["stage"] == stage).unwrap()
}

#[test]
fn the_sample_goes_through_everything() {
    let ws = Workspace::sample();
    run(&ws, &["--offline"]).expect(0);
    ws.audit_clean();
    let rows = ws.candidates(GEN);
    assert!(rows.len() >= 40, "{} questions", rows.len());
    for row in &rows {
        for field in
            ["screen_status", "translation_status", "irrationality_status", "category_status", "pair_status"]
        {
            assert_eq!(row[field], "synthetic", "{row}");
        }
        assert!(row["question_en"].is_string() && row["irrationality"].is_string(), "{row}");
        assert!(!row["categories"].as_array().unwrap().is_empty(), "{row}");
    }
    let compat = ws.read(&format!("output/{GEN}/candidate/compat/ruozhibench_gen.jsonl"));
    assert_eq!(compat.lines().count(), rows.len());
    assert!(compat.starts_with("{\"question_zh\":"), "{compat}");

    let report = ws.call(["report", "--recipe", GEN]).expect(0).out;
    assert!(report.contains("table 1") && report.contains("Absurd Imagination"), "{report}");
    let translated = report.lines().rfind(|line| line.contains("review:translation")).unwrap();
    assert!(translated.contains("% rewritten"), "{translated}");

    let before = ws.derived();
    run(&ws, &["--offline"]).expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "a second run");
    ws.remove_derived();
    run(&ws, &["--offline"]).expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "rebuilt from raw/");
}

#[test]
fn a_finished_question_shows_prompts_replies_and_votes() {
    let ws = Workspace::sample();
    run(&ws, &["--offline"]).expect(0);
    let id = ws.candidates(GEN)[0]["source_id"].as_str().unwrap().to_string();
    let actual = ws.explain(GEN, &id);
    assert_eq!(actual["ends"], "in");
    let pieces = |stage: &str| -> Vec<String> {
        let way = actual["way"].as_array().unwrap();
        let passage = way.iter().find(|passage| passage["stage"] == stage).unwrap();
        let details = passage["details"].as_array().unwrap();
        details.iter().map(|d| d["what"].as_str().unwrap().to_string()).collect()
    };
    for stage in ["screen", "translate", "irrationality", "category", "pair"] {
        assert_eq!(pieces(stage), ["prompt", "reply"], "{stage}");
    }
    for stage in
        ["review:screen", "review:translation", "review:irrationality", "review:category", "review:pair"]
    {
        let pieces = pieces(stage);
        assert!(!pieces.is_empty() && pieces.iter().all(|piece| piece == "vote"), "{stage}: {pieces:?}");
    }
}

#[test]
fn what_lacks_votes_waits_and_the_rest_goes_on() {
    let ws = Workspace::sample();
    let all = ws.read("raw/sample/votes.jsonl");
    let half: String = all
        .lines()
        .filter(|line| {
            let vote: Value = serde_json::from_str(line).unwrap();
            vote["item"].as_str().unwrap().bytes().map(u64::from).sum::<u64>() % 2 == 0
        })
        .map(|line| format!("{line}\n"))
        .collect();
    ws.write("raw/sample/votes.jsonl", &half);
    run(&ws, &["--offline"]).expect(0);
    ws.audit_clean();
    let some = ws.candidates(GEN).len();
    assert!(some > 10, "{some}");
    assert!(ws.reasons(GEN)["held/votes_missing"] > 10);

    ws.write("raw/sample/votes.jsonl", &all);
    let review = status(&ws, "review:screen", &[]);
    assert_eq!(review["state"], "stale");
    assert!(review["why"].as_str().unwrap().ends_with("new votes"), "{review}");
    run(&ws, &["--offline"]).expect(0);
    assert!(ws.candidates(GEN).len() > some);
}

#[test]
fn an_edited_prompt_is_a_reason() {
    let ws = Workspace::sample();
    run(&ws, &["--offline"]).expect(0);
    let shown = ws.call(["prompts", "show", "ruozhibench/pair"]).expect(0).out;
    ws.write("prompts/ruozhibench/pair.jinja", shown.replace("Turn it into", "Make of it"));
    assert!(ws.call(["prompts", "diff"]).expect(0).out.contains("+The question below"));
    assert_eq!(status(&ws, "pair", &[])["why"], "prompt ruozhibench/pair changed");
    assert_eq!(status(&ws, "category", &[])["state"], "fresh");
}

/// The status and text with which a request is refused, by its headers with its prompt, and the number of
/// earlier ones.
pub type Guard = Arc<dyn Fn(&str, u32) -> Option<(u16, &'static str)> + Send + Sync>;

/// A chat-completions server that responds according to the prompt.
pub struct Server {
    pub port: u16,
    /// Requests by purpose.
    seen: Arc<Mutex<BTreeMap<&'static str, u32>>>,
    /// The model name in its responses.
    pub model: Arc<Mutex<&'static str>>,
}

impl Server {
    /// Responds 500 to prompts that contain this text.
    pub fn start(fails_at: Option<&'static str>) -> Server {
        Server::slow(fails_at, Duration::ZERO)
    }

    /// The same, with each response delayed.
    pub fn slow(fails_at: Option<&'static str>, delay: Duration) -> Server {
        Server::replying(reply_to, fails_at, delay)
    }

    /// Responds as the function says, which maps a purpose to a reply.
    pub fn replying(
        reply: fn(&str) -> (&'static str, String),
        fails_at: Option<&'static str>,
        delay: Duration,
    ) -> Server {
        Server::guarded(reply, fails_at, delay, Arc::new(|_, _| None))
    }

    /// The same, unless the guard refuses: it gets a request's head and the number of earlier requests.
    pub fn guarded(
        reply: fn(&str) -> (&'static str, String),
        fails_at: Option<&'static str>,
        delay: Duration,
        guard: Guard,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<BTreeMap<&'static str, u32>>> = Arc::default();
        let model = Arc::new(Mutex::new("m"));
        let (counts, says) = (seen.clone(), model.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counts, guard, says) = (counts.clone(), guard.clone(), *says.lock().unwrap());
                std::thread::spawn(move || answer(stream, reply, fails_at, delay, &counts, &guard, says));
            }
        });
        Server { port, seen, model }
    }

    pub fn settings(&self) -> String {
        format!(
            "\n[llm.loop]\nbase_url = \"http://127.0.0.1:{}/v1\"\nmodel = \"m\"\nfree = true\nretries = {{ max_attempts = 1 }}\n",
            self.port
        )
    }

    /// The number of requests.
    pub fn count(&self) -> u32 {
        self.seen.lock().unwrap().values().sum()
    }

    pub fn take(&self) -> BTreeMap<&'static str, u32> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn answer(
    mut stream: TcpStream,
    reply: fn(&str) -> (&'static str, String),
    fails_at: Option<&str>,
    delay: Duration,
    counts: &Mutex<BTreeMap<&'static str, u32>>,
    guard: &Guard,
    model: &str,
) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let (head, body) = loop {
        let n = stream.read(&mut buffer).unwrap_or(0);
        if n == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..n]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length: Option<usize> =
            head.split("content-length:").nth(1).and_then(|l| l.lines().next()?.trim().parse().ok());
        let Some(length) = length else { return };
        if bytes.len() >= end + 4 + length {
            break (head, serde_json::from_slice::<Value>(&bytes[end + 4..end + 4 + length]).unwrap());
        }
    };
    if let Some(text) = body["q"].as_str() {
        return translated(stream, text, &body, counts);
    }
    // One text is sent as it is, several as a list.
    match &body["input"] {
        Value::Array(texts) => return crate::embeddings::embedded(stream, texts, counts, delay),
        text @ Value::String(_) => {
            return crate::embeddings::embedded(stream, std::slice::from_ref(text), counts, delay);
        }
        _ => {}
    }
    let messages = body["messages"].as_array().unwrap();
    let prompt: String = messages.iter().filter_map(|m| m["content"].as_str()).collect();
    let (what, reply) = reply(&prompt);
    let before = {
        let mut counts = counts.lock().unwrap();
        let before = counts.values().sum();
        *counts.entry(what).or_default() += 1;
        before
    };
    std::thread::sleep(delay);
    let failed = fails_at.is_some_and(|text| prompt.contains(text)).then_some((500, "down"));
    let (code, body) = match guard(&format!("{head}{prompt}"), before).or(failed) {
        Some((status, says)) => (format!("{status} Refused"), json!({ "error": { "message": says } })),
        None => (
            "200 OK".into(),
            json!({
                "id": "1", "object": "chat.completion", "model": model,
                "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": reply } }],
                "usage": { "prompt_tokens": prompt.len() / 4, "completion_tokens": reply.len() / 4 + 1 },
            }),
        ),
    };
    let body = body.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 {code}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// LibreTranslate's response.
fn translated(mut stream: TcpStream, text: &str, body: &Value, counts: &Mutex<BTreeMap<&'static str, u32>>) {
    let asked = (&body["source"], &body["target"], &body["format"]);
    assert_eq!(asked, (&json!("zh"), &json!("en"), &json!("text")));
    *counts.lock().unwrap().entry("libretranslate").or_default() += 1;
    let mark: usize = text.chars().map(|c| c as usize).sum();
    let body = json!({ "translatedText": format!("Is it {mark}?") }).to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

pub fn reply_to(prompt: &str) -> (&'static str, String) {
    // Derived from the question, so that no two drafts are equal.
    let mark = prompt.len() + prompt.chars().map(|c| c as usize).sum::<usize>() % 9973;
    if prompt.contains("culture_bound") {
        let good = json!({
            "culture_bound": false, "culture_bound_reason": "No.", "harmful": false, "harmful_reason": "No.",
            "trap_survives": true, "trap_survives_reason": "Yes.",
        });
        ("screen", good.to_string())
    } else if prompt.contains("three categories") {
        ("category", "2 3 5".into())
    } else if prompt.contains("Turn it into a normal question") {
        ("pair", json!({ "pair": format!("Is it {mark} normal?") }).to_string())
    } else if prompt.contains("natural English") {
        ("translate", format!("Why is it {mark}?"))
    } else {
        ("irrationality", format!("It is not {mark}."))
    }
}

/// The sample's dumps with an endpoint on loopback and no votes.
pub fn served(server: &Server) -> Workspace {
    let ws = Workspace::sample();
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &server.settings());
    ws.write("raw/sample/votes.jsonl", "");
    ws
}

pub const LOOP: [&str; 4] = ["--set", "draft.endpoint=loop", "--set", AHEAD];

#[test]
fn an_edited_translation_is_analysed_again_and_nothing_else_is() {
    let server = Server::start(None);
    let ws = served(&server);
    run(&ws, &LOOP).expect(0);
    ws.audit_clean_with(&LOOP);
    let first = server.take();
    let questions = ws.candidates(GEN);
    let all = u32::try_from(questions.len()).unwrap();
    assert!(all > 50, "{all}");
    assert_eq!(first.values().copied().collect::<Vec<_>>(), [all; 5], "{first:?}");
    assert!(questions.iter().all(|row| row["pair_status"] == "provisional"));
    run(&ws, &LOOP).expect(0);
    assert_eq!(server.take(), BTreeMap::new(), "a second run asks nothing");

    let args = [
        "review",
        "export",
        "translation",
        "--annotator",
        "annotator-1",
        "--format",
        "csv",
        "--out",
        "ballots",
    ];
    let file = ws.call(args).expect(0).out.trim().to_string();
    let ballot = ws.read(&file);
    let mut reader = csv::Reader::from_reader(ballot.trim_start_matches('\u{feff}').as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let mut record: Vec<String> = reader.records().next().unwrap().unwrap().iter().map(Into::into).collect();
    record[column("verdict")] = "rewrite".into();
    record[column("question_en")] = "Is it quite another thing?".into();
    let edited = record[column("item")].clone();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).unwrap();
    writer.write_record(&record).unwrap();
    ws.write("votes.csv", writer.into_inner().unwrap());
    let result = ws.call(["review", "import", "translation", "votes.csv"]).expect(0);
    assert!(result.out.contains("1 added"), "{}", result.out);

    assert_eq!(status(&ws, "review:translation", &LOOP)["why"], "1 new vote");
    run(&ws, &LOOP).expect(0);
    let again = server.take();
    assert_eq!(again, BTreeMap::from([("category", 1), ("irrationality", 1), ("pair", 1)]));
    let rows = ws.candidates(GEN);
    let row = rows.iter().find(|row| row["source_id"] == edited.as_str()).unwrap();
    assert_eq!(row["question_en"], "Is it quite another thing?");
    assert_eq!(
        (&row["translation_status"], &row["irrationality_status"]),
        (&json!("confirmed"), &json!("provisional"))
    );
    let unchanged = |row: &&Value| questions.contains(row);
    assert_eq!(rows.iter().filter(unchanged).count(), rows.len() - 1);
}

#[test]
fn a_failing_endpoint_holds_up_what_it_fails_on_alone() {
    let server = Server::start(Some("冰箱"));
    let ws = served(&server);
    let result = run(&ws, &["--offline", "--set", "draft.endpoint=loop"]).expect(0);
    assert!(result.err.contains("held"), "{}", result.err);
    assert_eq!(server.take(), BTreeMap::new(), "offline sends nothing");
    let waiting = status(&ws, "screen", &LOOP);
    assert!(waiting["why"].as_str().unwrap().ends_with("replies are missing"), "{waiting}");

    run(&ws, &LOOP).expect(3);
    ws.audit_clean_with(&LOOP);
    let reasons = ws.reasons(GEN);
    let failed = reasons["failed/request_failed"];
    assert!((1..10).contains(&failed), "{reasons:?}");
    assert!(ws.candidates(GEN).len() > 50);
    // The next run retries what failed, and nothing else.
    server.take();
    run(&ws, &LOOP).expect(3);
    assert_eq!(server.take(), BTreeMap::from([("screen", u32::try_from(failed).unwrap())]));

    let stats = ws.call(["replies", "stats", "--json"]).expect(0).out;
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["failed_attempts"], failed * 2);
    ws.call(["replies", "verify"]).expect(0);
    let estimate =
        ws.call(["estimate", "--recipe", GEN, "--json", "--set", "draft.endpoint=loop"]).expect(0).out;
    let stages: Vec<Value> = serde_json::from_str(&estimate).unwrap();
    assert_eq!((&stages[0]["stage"], &stages[0]["requests"]), (&json!("screen"), &json!(failed)));
}

#[test]
fn tasks_are_spread_ballots_written_and_disputes_settled() {
    let ws = Workspace::sample();
    run(&ws, &["--offline"]).expect(0);
    let result = ws.call(["review", "assign", "category"]).expect(0);
    assert!(result.out.contains("annotator-1"), "{}", result.out);
    assert!(ws.call(["review", "assign", "category"]).expect(0).out.starts_with("0 new tasks"));
    for format in ["xlsx", "jsonl", "label-studio", "csv"] {
        let args =
            ["review", "export", "category", "--annotator", "annotator-2", "--format", format, "--out", "b"];
        let written = ws.call(args).expect(0).out;
        assert!(written.lines().all(|path| ws.exists(path)), "{written}");
    }
    let result = ws.call(["review", "status", "--recipe", GEN, "--agreement"]).expect(0).out;
    assert!(result.contains("by the sample alone") && result.contains("alpha"), "{result}");

    // Two people disagree, and the adjudicator decides.
    let mut item = String::new();
    for (who, code) in [("annotator-1", "1"), ("annotator-2", "2")] {
        let args = ["review", "export", "category", "--annotator", who, "--format", "csv", "--out", "b"];
        let file = ws.call(args).expect(0).out.trim().to_string();
        let ballot = ws.read(&file);
        let mut reader = csv::Reader::from_reader(ballot.trim_start_matches('\u{feff}').as_bytes());
        let headers = reader.headers().unwrap().clone();
        let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
        let mut rows = reader.records().map(|row| row.unwrap());
        let row = if item.is_empty() {
            let other = ws.call([
                "review",
                "export",
                "category",
                "--annotator",
                "annotator-2",
                "--format",
                "jsonl",
                "--out",
                "b",
            ]);
            let theirs = ws.read(other.expect(0).out.trim());
            rows.find(|row| theirs.contains(&format!("\"{}\"", &row[column("item")]))).unwrap()
        } else {
            rows.find(|row| row[column("item")] == item).unwrap()
        };
        let mut row: Vec<String> = row.iter().map(Into::into).collect();
        item.clone_from(&row[column("item")]);
        row[column("categories")] = code.into();
        row[column("sure")] = "yes".into();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&headers).unwrap();
        writer.write_record(&row).unwrap();
        ws.write("votes.csv", writer.into_inner().unwrap());
        let result = ws.call(["review", "import", "category", "votes.csv"]).expect(0);
        assert!(result.out.contains("1 added"), "{} {}", result.out, result.err);
    }
    run(&ws, &["--offline"]).expect(0);
    assert_eq!(ws.reasons(GEN)["held/disputed"], 1);
    let listed = ws.call(["review", "adjudicate", "category"]).expect(0).out;
    assert!(listed.contains(&item) && listed.ends_with("1 dispute\n"), "{listed}");
    let args = [
        "review",
        "adjudicate",
        "category",
        "--item",
        &item,
        "--by",
        "meta-1",
        "--answer",
        "categories=1; 2",
    ];
    ws.call(args).expect(2);
    ws.call(args.iter().chain(&["--answer", "reason=both hold"])).expect(0);
    run(&ws, &["--offline"]).expect(0);
    // The pair was not asked about again: its ballot shows no category.
    let rows = ws.candidates(GEN);
    let row = rows.iter().find(|row| row["source_id"] == item.as_str()).unwrap();
    assert_eq!((&row["categories"], &row["category_status"]), (&json!([1, 2]), &json!("confirmed")));
}
