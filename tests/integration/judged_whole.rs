//! A reply is judged whole: what was cut, refused or wrapped in marks of the model is no answer, of whichever
//! step; refusals that last stop, with advice that mends them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::batches::Batches;
use crate::generate::{AHEAD, GEN};
use crate::harness::{CallResult, Workspace, source, title};

const QUESTIONS: [&str; 3] = ["为什么鱼不会口渴？", "雨伞会不会淋湿？", "云会恐高吗？"];
const SCREENED: &str = r#"{"culture_bound": false, "culture_bound_reason": "It works anywhere.", "harmful": false, "harmful_reason": "Nothing harmful.", "trap_survives": true, "trap_survives_reason": "The false premise stays."}"#;
const ENGLISH: &str = "Would a mosquito lie awake?";

/// Status, further header lines, and body.
type Answer = (u16, String, String);

/// A server of chats that answers as a function of the request's body says.
struct Chats {
    port: u16,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Chats {
    fn start(answer: impl Fn(&Value) -> Answer + Send + Sync + 'static) -> Chats {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (seen, answer) = (asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (seen.clone(), answer.clone());
                std::thread::spawn(move || respond(stream, &seen, &*answer));
            }
        });
        Chats { port, asked }
    }

    /// One that says the same to everybody.
    fn saying(choice: Value) -> Chats {
        Chats::start(move |_| said(&choice))
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn settings(&self, more: &str) -> String {
        format!(
            "\n[llm.mine]\nbase_url = \"http://127.0.0.1:{}/v1\"\nmodel = \"m\"\nfree = true\nretries = {{ max_attempts = 1 }}\n{more}\n",
            self.port
        )
    }

    /// Three questions without votes.
    fn few(&self, more: &str) -> Workspace {
        let draft = "\n[draft]\nendpoint = \"mine\"\n";
        let settings = source("own", "leymore-titles", "raw/dumps/own.json") + draft + &self.settings(more);
        let ws = Workspace::with(&settings);
        let rows: Vec<String> = (1..).zip(QUESTIONS).map(|(tid, text)| title(tid, text)).collect();
        ws.write("raw/dumps/own.json", format!("[{}]", rows.join(",\n")));
        ws
    }

    /// The questions of the sample, without votes.
    fn many(&self, more: &str) -> Workspace {
        let ws = Workspace::sample();
        ws.write("pipeline.toml", ws.read("pipeline.toml") + &self.settings(more));
        ws.write("raw/sample/votes.jsonl", "");
        ws
    }
}

fn respond(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Value>>,
    answer: &(dyn Fn(&Value) -> Answer + Send + Sync),
) {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 14]);
    let body: Value = loop {
        let n = stream.read(&mut buffer).unwrap_or(0);
        if n == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..n]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        if head.starts_with("get ") {
            let _ =
                stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            return;
        }
        let length: Option<usize> =
            head.split("content-length:").nth(1).and_then(|l| l.lines().next()?.trim().parse().ok());
        let Some(length) = length else { return };
        if bytes.len() >= end + 4 + length {
            break serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap();
        }
    };
    seen.lock().unwrap().push(body.clone());
    let (status, headers, text) = answer(&body);
    let _ = write!(
        stream,
        "HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
}

fn said(choice: &Value) -> Answer {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 50});
    (200, JSON.into(), json!({"choices": [choice], "usage": usage}).to_string())
}

const JSON: &str = "content-type: application/json\r\n";

fn refused(status: u16, says: &str) -> Answer {
    (status, JSON.into(), json!({"error": {"message": says}}).to_string())
}

fn whole(text: &str) -> Value {
    json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"})
}

fn cut(text: &str) -> Value {
    json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "length"})
}

fn prompt(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().filter_map(|message| message["content"].as_str()).collect()
}

fn screen(ws: &Workspace, more: &[&str]) -> CallResult {
    let base = ["run", "--recipe", GEN, "--to", "screen", "--set", "draft.endpoint=mine"];
    ws.call(base.iter().chain(more))
}

fn translate(ws: &Workspace) -> CallResult {
    ws.call(["run", "--recipe", GEN, "--to", "translate", "--set", AHEAD])
}

#[test]
fn a_cut_reply_is_asked_once_more_and_held_with_its_setting() {
    let half = format!("A first draft would be {SCREENED} but wait, harmful should be");
    for text in [half.clone(), SCREENED.trim_end_matches('}').to_owned(), "Okay, let me".into()] {
        let server = Chats::saying(cut(&text));
        let ws = server.few("sampling = { max_tokens = 100 }");
        let result = screen(&ws, &[]).expect(0);
        let asked: Vec<u64> = server.take().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
        assert_eq!(asked.iter().filter(|limit| **limit == 100).count(), 3, "{asked:?}");
        assert_eq!(asked.iter().filter(|limit| **limit == 400).count(), 3, "{asked:?}");
        assert_eq!(ws.reasons(GEN).get("held/answer_cut"), Some(&3), "{:?}", ws.reasons(GEN));
        assert!(result.err.contains("the answer was cut at 400 tokens"), "{}", result.err);
        assert!(result.err.contains("raise max_tokens_ceiling under [llm.mine]"), "{}", result.err);
        // The advice mends it, and nothing is bought twice.
        screen(&ws, &[]).expect(0);
        assert_eq!(server.count(), 0);
        ws.write("pipeline.toml", ws.read("pipeline.toml") + "max_tokens_ceiling = 900\n");
        screen(&ws, &[]).expect(0);
        assert_eq!(server.take().iter().filter(|body| body["max_tokens"] == 900).count(), 3);
    }
    // At the larger limit it is whole.
    let server = Chats::start(move |body| match body["max_tokens"].as_u64() {
        Some(100) => said(&cut(&half)),
        _ => said(&whole(SCREENED)),
    });
    let ws = server.few("sampling = { max_tokens = 100 }");
    screen(&ws, &[]).expect(0);
    assert_eq!(ws.reasons(GEN).get("changed/drafted"), Some(&3), "{:?}", ws.reasons(GEN));
    ws.remove_derived();
    screen(&ws, &["--offline"]).expect(0);
    assert_eq!(ws.reasons(GEN).get("changed/drafted"), Some(&3), "{:?}", ws.reasons(GEN));
    // What is closed at its end is whole, though its limit was reached.
    let server = Chats::saying(cut(SCREENED));
    let ws = server.few("");
    screen(&ws, &[]).expect(0);
    assert_eq!((server.count(), ws.reasons(GEN).get("changed/drafted")), (3, Some(&3)));
    assert_eq!(ws.call(["replies", "cut"]).expect(0).out, "no reply that is used was cut or refused\n");
}

#[test]
fn a_translation_is_the_answer_alone_and_never_half_of_one() {
    let drafted = |choice: Value| {
        let server = Chats::start(move |body| match prompt(body).contains("culture_bound") {
            true => said(&whole(SCREENED)),
            false => said(&choice),
        });
        let ws = server.few("marks = { reasoning = { \"<plan>\" = \"</plan>\" }, end = [\"~fin~\"] }");
        translate(&ws);
        let rows = ws.call(["show", "translate", "--recipe", GEN, "--json"]).expect(0).out;
        (rows, ws.reasons(GEN))
    };
    for text in [
        format!("[THINK]The user wants a translation.[/THINK]{ENGLISH}"),
        format!("Here is my thought process:\nKeep the trap.\n\nHere is my response:\n{ENGLISH}"),
        format!("<unused94>thought\nKeep it.<unused95>{ENGLISH}"),
        format!("{ENGLISH}<|im_end|>"),
        format!("<plan>Keep it.</plan>{ENGLISH}~fin~ and more"),
        format!("{ENGLISH}\u{200b}\u{7}"),
    ] {
        let (rows, reasons) = drafted(whole(&text));
        assert!(rows.contains(&format!("\"{ENGLISH}\"")), "{text}: {rows} {reasons:?}");
        for mark in ["THINK", "thought process", "unused94", "im_end", "plan>", "~fin~", "200b", "u0007"] {
            assert!(!rows.contains(mark), "{text}: {rows}");
        }
    }
    let refusal = json!({"index": 0, "message": {"role": "assistant", "content": null, "refusal": "I can't help with that."}, "finish_reason": "stop"});
    for (choice, reason) in [
        (cut("Why is the mut"), "held/answer_cut"),
        (refusal, "failed/request_refused"),
        (
            json!({"message": {"content": "Half an ans"}, "finish_reason": "content_filter"}),
            "failed/request_refused",
        ),
    ] {
        let (rows, reasons) = drafted(choice.clone());
        assert_eq!(reasons.get(reason), Some(&3), "{choice}: {reasons:?}");
        assert!(!rows.contains("\"Why is the mut\"") && !rows.contains("\"Half an ans\""), "{rows}");
    }
}

#[test]
fn half_replies_that_an_earlier_version_used_are_listed_and_kept() {
    let server = Chats::saying(cut(&format!("At first {SCREENED} but wait, harmful should be")));
    let ws = server.few("");
    screen(&ws, &[]).expect(0);
    // An earlier version stored the same replies, without noting that they are no answers.
    let exported = ws.call(["replies", "export"]).expect(0).out;
    let before: String = exported
        .lines()
        .filter_map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            let first = line["reply"]["request"]["input"]["chat"]["sampling"]["max_tokens"] == 1024;
            assert!(line["reply"].as_object_mut().unwrap().remove("cut").is_some());
            first.then(|| format!("{line}\n"))
        })
        .collect();
    let old = server.few("");
    old.write("before.jsonl", before);
    old.call(["replies", "import", "before.jsonl"]).expect(0);
    server.take();
    let result = screen(&old, &[]).expect(0);
    assert_eq!(server.count(), 0, "nothing is asked anew unasked");
    assert_eq!(old.reasons(GEN).get("changed/drafted_from_cut"), Some(&3), "{:?}", old.reasons(GEN));
    assert!(result.err.contains("3 continued on half a reply"), "{}", result.err);
    assert!(result.err.contains("riddlemill replies cut"), "{}", result.err);
    let status = old.call(["status", "--recipe", GEN]).expect(0).out;
    assert!(status.contains("continued on half a reply"), "{status}");
    let listed = old.call(["replies", "cut"]).expect(0).out;
    assert_eq!(listed.matches("cut at 1024").count(), 3, "{listed}");
    assert!(listed.contains("riddlemill replies cut --forget"), "{listed}");
    // On request they are asked anew, and once more at the ceiling.
    old.call(["replies", "cut", "--forget"]).expect(0);
    screen(&old, &[]).expect(0);
    assert_eq!(server.count(), 6);
    assert_eq!(old.reasons(GEN).get("held/answer_cut"), Some(&3), "{:?}", old.reasons(GEN));
}

fn candidate(recipe: &str, settings: &str) -> Workspace {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "--recipe", recipe]).expect(0);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + settings);
    ws
}

fn evaluation(ws: &Workspace, recipe: &str) -> Value {
    serde_json::from_str(&ws.read(&format!("output/{recipe}/evaluation/candidate/evaluation.json"))).unwrap()
}

/// A cell's value and its n.
fn cell(evaluation: &Value, table: &str, row: &str, column: &str) -> (f64, u64) {
    let tables = evaluation["tables"].as_array().unwrap();
    let table = tables.iter().find(|of| of["name"] == table).unwrap_or_else(|| panic!("no table {table}"));
    let at = table["columns"].as_array().unwrap().iter().position(|name| name == column);
    let at = at.unwrap_or_else(|| panic!("no column {column}: {}", table["columns"]));
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|of| of["name"] == row).unwrap_or_else(|| panic!("no row {row}: {rows:?}"));
    let cell = &row["cells"][at];
    (cell["value"].as_f64().unwrap(), cell["n"].as_u64().unwrap())
}

#[test]
fn cut_refused_and_unread_answers_are_columns_beside_format() {
    let refusal =
        json!({"message": {"content": null, "refusal": "I can't help with that."}, "finish_reason": "stop"});
    let cases = [
        ("Cut", cut("Let me think. Option A might be right, but on the other hand option"), 0.0),
        ("Refused", refusal, 0.0),
        ("Unread", whole("A or C"), 0.0),
        ("Format", whole("[THINK]Maybe A. No, B.[/THINK]C"), 100.0),
    ];
    for (column, choice, format) in cases {
        let server = Chats::saying(choice);
        let ws = candidate("flub", &server.settings(""));
        let result = ws.call(["evaluate", "flub", "--model", "mine", "--task", "select"]).expect(0);
        let found = evaluation(&ws, "flub");
        let n = ws.candidates("flub").len() as u64;
        for other in ["Format", "Cut", "Refused", "Unread"] {
            let expected = match other {
                "Format" => format,
                _ if other == column => 100.0,
                _ => 0.0,
            };
            let of_table = cell(&found, "tasks", "mine", &format!("{other}, selection"));
            assert_eq!(of_table, (expected, n), "{column}: {other}");
            assert_eq!(cell(&found, "replies", "mine, select", other), (expected, n), "{column}: {other}");
        }
        assert_eq!(cell(&found, "tasks", "mine", "Selection accuracy").1, n, "wrong, and not left out");
        if column == "Cut" {
            assert!(result.err.contains("cut, and counted as wrong"), "{}", result.err);
            assert!(result.err.contains("raise max_tokens_ceiling"), "{}", result.err);
            assert_eq!(server.count() as u64, 2 * n, "once more at the ceiling");
            assert_eq!((&found["cut"], &found["refused"]), (&json!(n), &json!(0)));
            assert!(ws.read("output/flub/evaluation/candidate/report.md").contains(&format!("{n} cut")));
            // A second call asks nothing, also without a network.
            let before = found;
            ws.call(["evaluate", "flub", "--model", "mine", "--task", "select"]).expect(0);
            ws.call(["evaluate", "flub", "--model", "mine", "--task", "select", "--offline"]).expect(0);
            assert_eq!(server.count() as u64, 2 * n);
            assert_eq!(evaluation(&ws, "flub")["cut"], before["cut"]);
        }
    }
}

#[test]
fn a_judge_that_was_cut_gives_no_rating() {
    let judge = Chats::saying(cut(
        "Let me rate. I would start with {\"rating\": 4, \"explanation\": \"good\"} but on reflection the answer misses the trap, so the rating",
    ));
    let model = Chats::saying(whole("The premise is false."));
    let as_judge = judge.settings("").replace("llm.mine", "llm.judge").replace("\"m\"", "\"j\"");
    let ws = candidate(GEN, &(model.settings("") + &as_judge));
    ws.call(["evaluate", GEN, "--model", "mine", "--judge", "judge", "--task", "answer"]).expect(0);
    let found = evaluation(&ws, GEN);
    let tables = found["tables"].as_array().unwrap();
    assert!(
        tables.iter().all(|table| table["name"] != "scores"),
        "no figure of ratings that were taken back"
    );
    let n = ws.candidates(GEN).len() as u64;
    for (column, share) in [("Format", 0.0), ("Cut", 100.0), ("Refused", 0.0), ("Unread", 0.0)] {
        assert_eq!(cell(&found, "replies", "judge, ratings of answer", column), (share, n), "{column}");
    }
    assert_eq!(cell(&found, "replies", "mine, answer", "Format"), (100.0, n));
    let missing = ws.read(&format!("output/{GEN}/evaluation/candidate/missing.jsonl"));
    assert_eq!(missing.matches("\"no_answer\":\"cut\"").count() as u64, n, "{missing}");
}

#[test]
fn refusals_that_last_stop_with_advice_that_mends_them() {
    let no_system = "System role not supported";
    let reasoning = "Model m doesn't support `reasoning.effort`";
    let deployments =
        "litellm.BadRequestError: There are no healthy deployments for this model. Request id: 83fa1";
    for (status, says, more, hint, mended) in [
        (
            400,
            reasoning,
            "sampling = { extra = { reasoning = { effort = \"low\" } } }",
            "take sampling.extra.reasoning out under [llm.mine]",
            "sampling = {}",
        ),
        (400, deployments, "", "change what the server names, under [llm.mine]", ""),
        (405, "Method Not Allowed", "", "check base_url of [llm.mine]", ""),
    ] {
        let is_mended = Arc::new(Mutex::new(false));
        let asks = is_mended.clone();
        let server = Chats::start(move |body| {
            let id = body.to_string().len();
            match *asks.lock().unwrap() || status == 400 && says == reasoning && body["reasoning"].is_null() {
                true => said(&whole(SCREENED)),
                false => refused(status, &says.replace("83fa1", &format!("83fa{id}"))),
            }
        });
        let ws = server.many(more);
        let result = screen(&ws, &[]).expect(3);
        assert!((5..20).contains(&server.count()), "{says}: {}", server.count());
        assert!(!result.err.contains("--retry-failed"), "{says}: {}", result.err);
        assert!(result.err.contains(hint), "{says}: {}", result.err);
        let sentence = says.split(". Request").next().unwrap();
        assert!(result.err.contains(sentence), "{says}: {}", result.err);
        // As advised, and run again.
        *is_mended.lock().unwrap() = says != reasoning;
        if !more.is_empty() {
            ws.write("pipeline.toml", ws.read("pipeline.toml").replace(more, mended));
        }
        screen(&ws, &[]).expect(0);
        assert!(!ws.reasons(GEN).keys().any(|reason| reason.starts_with("failed/")), "{:?}", ws.reasons(GEN));
    }
    // A model without a system's message is asked without one, by the server's refusal or by the setting.
    let server = Chats::start(move |body| {
        let roles: Vec<&str> =
            body["messages"].as_array().unwrap().iter().filter_map(|m| m["role"].as_str()).collect();
        match roles.contains(&"system") {
            true => refused(400, no_system),
            false => said(&whole(SCREENED)),
        }
    });
    let ws = server.many("");
    screen(&ws, &[]).expect(0);
    let refused_first = server.take().len() - 91;
    assert!(refused_first < 20, "{refused_first}");
    ws.remove_derived();
    screen(&ws, &["--offline"]).expect(0);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + "system = \"user\"\n");
    screen(&ws, &[]).expect(0);
    assert_eq!(server.count(), 0, "what was answered is known by the setting, too");
    assert_eq!(ws.reasons(GEN).get("changed/drafted"), Some(&91), "{:?}", ws.reasons(GEN));
}

#[test]
fn refusals_of_one_text_never_leave_an_endpoint() {
    for says in [
        "The response was filtered due to the content management policy",
        "This model's maximum context length is 9 tokens",
    ] {
        let server = Chats::start(move |_| refused(400, says));
        let ws = server.many("");
        screen(&ws, &[]).expect(3);
        assert_eq!(server.count(), 91, "{says}");
        assert_eq!(ws.reasons(GEN).get("failed/request_refused"), Some(&91), "{:?}", ws.reasons(GEN));
        screen(&ws, &[]).expect(3);
        assert_eq!(server.count(), 91, "{says}");
    }
}

#[test]
fn what_is_served_otherwise_is_named() {
    let moved =
        Chats::start(|_| (308, "Location: /v2/chat/completions?key=secret\r\n".into(), String::new()));
    let ws = moved.few("");
    let result = screen(&ws, &[]).expect(3);
    let base = format!("set base_url = \"http://127.0.0.1:{}/v2\" under [llm.mine]", moved.port);
    assert!(result.err.contains(&base) && !result.err.contains("secret"), "{}", result.err);
    assert!(result.err.contains("308 from mine: it points to http://127.0.0.1"), "{}", result.err);
    let page = Chats::start(|_| (200, "content-type: text/html\r\n".into(), "<html>Login</html>".into()));
    let ws = page.few("");
    let result = screen(&ws, &[]).expect(3);
    assert!(result.err.contains("text/html, not JSON"), "{}", result.err);
    assert!(result.err.contains("check base_url of [llm.mine]"), "{}", result.err);
    // A time since 1970 is waited for.
    let first = Mutex::new(true);
    let busy = Chats::start(move |_| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        match std::mem::replace(&mut *first.lock().unwrap(), false) {
            true => (429, format!("Retry-After: {}\r\n", now + 2), "{}".into()),
            false => said(&whole(SCREENED)),
        }
    });
    let ws = busy.few("");
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace("max_attempts = 1", "max_attempts = 2"));
    screen(&ws, &[]).expect(0);
    assert_eq!((busy.count(), ws.reasons(GEN).get("changed/drafted")), (4, Some(&3)));
}

#[test]
fn a_batch_that_failed_as_a_whole_is_a_failure_of_its_requests() {
    let server = Batches::start("openai");
    server.fail("This line is not parseable as valid JSON.");
    let ws = server.workspace();
    let run = |more: &[&str]| {
        let base = ["run", "--recipe", GEN, "--to", "screen", "--set", "draft.endpoint=slow"];
        ws.call(base.iter().chain(more))
    };
    for sent in [1, 1] {
        let result = run(&[]).expect(3);
        let text = result.err.split_whitespace().collect::<Vec<_>>().join(" ");
        let cause = "the batch was refused by slow: line 1: This line is not parseable as valid JSON";
        assert!(text.contains("91 failed") && text.contains(cause), "{text}");
        assert!(text.contains("--retry-failed") && !text.contains("in a batch"), "{text}");
        assert_eq!(server.sent(), sent);
        assert_eq!(ws.call(["replies", "batches"]).expect(0).out, "no batch is open\n");
    }
    server.fail("");
    run(&["--retry-failed"]).expect(0);
    assert_eq!(server.sent(), 2);
    server.end();
    run(&[]).expect(0);
    assert_eq!(ws.reasons(GEN).get("changed/drafted"), Some(&91), "{:?}", ws.reasons(GEN));
}
